"""The section of a report about the files: what is wrong or odd with them."""

from __future__ import annotations

from steadyrank.measures.check import DEPTHS, CheckResult, RunCheck
from steadyrank.present.cells import name, percent, table, whole
from steadyrank.present.table import Cell, Table
from steadyrank.studies.material import NO_RUNS, Material
from steadyrank.studies.part import Body, Findings, Part
from steadyrank.words import counted, number_word


def _body(result: CheckResult, findings: Findings) -> Body:
    """What is wrong or odd with the files."""
    wrong = sum(finding.level == "wrong" for finding in result.findings)
    odd = len(result.findings) - wrong
    said = (
        f"{number_word(wrong).capitalize()} thing{'' if wrong == 1 else 's'} would make results "
        if wrong
        else "Nothing would make results "
    )
    tail = counted(odd, "thing is odd", "things are odd", form=",") if odd else "nothing is odd"
    said += f"wrong; {tail}."
    tables = []
    if result.findings:
        rows = [[name(f.level), name(f.where), name(f.what)] for f in result.findings]
        tables.append(table("findings", "What was found.", ["", "where", "what"], rows))
    tables.append(_runs_table(result))
    return Body(answer=(said,), tables=tuple(tables))


def _runs_table(result: CheckResult) -> Table:
    rows = [_check_row(row) for row in result.runs]
    caption = (
        f"{result.n_judgments:,} judgments of {counted(result.n_topics, 'topic', form=',')}. "
        "Judged: share of judged documents among the first. Tied: share of documents whose score "
        "another document of the topic has too."
    )
    header = [
        "run",
        "topics",
        "missing",
        "not judged",
        "fewest documents",
        "most",
        *(f"judged@{depth}" for depth in DEPTHS),
        "tied",
    ]
    return table("runs-checked", caption, header, rows, shown=10)


def _check_row(row: RunCheck) -> list[Cell]:
    counts = (row.topics, row.missing, row.unknown, row.shallowest, row.deepest)
    return [
        name(row.run),
        *(whole(count) for count in counts),
        *(percent(share) for share in row.judged),
        percent(row.tied),
    ]


def _why_not(material: Material) -> str:
    return "" if material.runs is not None else f"{NO_RUNS}: there are no files of runs to look at"


PART = Part(
    title="The files",
    question="What is wrong or odd with these files?",
    means=(
        "What is marked wrong would make results wrong; what is odd is worth a look before "
        "anything is concluded."
    ),
    means_not="That nothing was found does not make judgments complete or runs comparable.",
    body=_body,
    why_not=_why_not,
)
