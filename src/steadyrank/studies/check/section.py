"""The section of a report about the files: what is wrong or odd with them."""

from __future__ import annotations

from steadyrank.measures.check import DEPTHS, CheckResult
from steadyrank.present.cells import name, percent, table, titled, whole
from steadyrank.present.table import Table
from steadyrank.studies.material import NO_RUNS
from steadyrank.studies.part import Body, Findings, Part
from steadyrank.words import by_number, counted, number_word


def _body(result: CheckResult, findings: Findings) -> Body:
    wrong = sum(finding.level == "wrong" for finding in result.findings)
    odd = len(result.findings) - wrong
    count = by_number(wrong, "thing", "things")
    bad = f"{number_word(wrong).capitalize()} {count}" if wrong else "Nothing"
    tail = counted(odd, "thing is odd", "things are odd") if odd else "nothing is odd"
    tables = []
    if result.findings:
        rows = [[name(f.level), name(f.where), name(f.what)] for f in result.findings]
        tables.append(table("findings", "What was found.", ["", "where", "what"], rows))
    tables.append(_runs_table(result))
    answer = f"{bad} would make results wrong; {tail}."
    return Body(answer=(answer,), tables=tuple(tables))


def _runs_table(result: CheckResult) -> Table:
    rows = [
        {
            "run": name(row.run),
            "topics": whole(row.topics),
            "missing": whole(row.missing),
            "not judged": whole(row.unknown),
            "fewest documents": whole(row.shallowest),
            "most": whole(row.deepest),
            **{
                f"judged@{depth}": percent(share)
                for depth, share in zip(DEPTHS, row.judged, strict=True)
            },
            "tied": percent(row.tied),
        }
        for row in result.runs
    ]
    caption = (
        f"{result.n_judgments:,} judgments of {counted(result.n_topics, 'topic', form=',')}. "
        "Judged: share of judged documents among the first. Tied: share of documents that "
        "share their score with another document of the topic."
    )
    return table("runs-checked", caption, *titled(rows), shown=10)


PART = Part(
    title="The files",
    question="What is wrong or odd with these files?",
    means=(
        "Findings marked wrong would make results wrong; odd ones deserve a look before "
        "conclusions are drawn."
    ),
    means_not="That nothing was found does not make judgments complete or runs comparable.",
    body=_body,
    why_not=lambda material: (
        "" if material.runs is not None else f"{NO_RUNS}: there are no files of runs to check"
    ),
)
