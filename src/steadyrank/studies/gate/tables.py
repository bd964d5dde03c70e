"""A gate's verdict for people, programs, pull requests and test reports."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape, quoteattr

from steadyrank.present.cells import interval, name, number, whole
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Table, exact_table, render, with_words
from steadyrank.stats.pairs.clustered import unseen_share
from steadyrank.studies.gate.result import GateResult, GateRow, Unsure, row_json
from steadyrank.studies.gate.sentences import drift_sentences, verdict_sentence
from steadyrank.words import counted, level_words

ENOUGH = 300
"""Topics from which on the output does not say what share of them may be broken unseen."""

SIGNS = {"pass": "✅", "fail": "❌", "cannot tell": "❔", "holes": "🕳️"}
"""Before the heading of a summary."""


def gate_json(result: GateResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    return {
        **picked(result, "verdict alpha"),
        "sentence": verdict_sentence(result),
        **picked(result, "baseline candidate n_topics n_clusters unjudged"),
        "weighted": result.is_weighted,
        "rare_breakage": result.rare_breakage,
        "guard_breakage": result.guards_breakage,
        "measures": [row_json(row) for row in result.measures],
        "by": result.by,
        "segments": [row_json(row) for row in result.segments],
        "history": None if result.history is None else list(result.history.gates),
    }


def gate_text(result: GateResult, form: str, *, digits: int = 4, **looks: Any) -> str:
    """The result in one of the output formats; CSV holds every key of a row."""
    if form == "json":
        return to_json(gate_json(result))
    if form == "csv":
        return render(exact_table(result.rows()), "csv")
    tables = [_table(result, result.measures, digits, _caption(result))]
    if result.segments:
        tables.append(_table(result, result.segments, digits, _segments_caption(result)))
    answer = [verdict_sentence(result), *drift_sentences(result)]
    return with_words(answer, tables, gate_notes(result), form, **looks)


def _table(result: GateResult, rows: tuple[GateRow, ...], digits: int, caption: str) -> Table:
    form, signed = f".{digits}f", f"+z.{digits}f"
    segmented, bounded = rows[0].segment is not None, any(row.n_unjudged for row in result.measures)
    header = ["measure", *(["segment"] if segmented else []), "margin", "topics", "baseline"]
    header += ["candidate", "difference", "limits"]
    header += ["lowest", "highest"] if bounded else []
    header += ["verdict", "topics needed"]
    cells = [
        [
            name(row.measure),
            *([name(row.segment or "")] if segmented else []),
            number(row.margin, "g"),
            whole(row.n_topics),
            number(row.baseline, form),
            number(row.candidate, form),
            number(row.difference, signed),
            interval(row.interval, signed),
            *([number(row.lowest, signed), number(row.highest, signed)] if bounded else []),
            name(row.verdict),
            whole(row.topics_needed),
        ]
        for row in rows
    ]
    return Table(header=header, rows=cells, caption=caption, n_names=2 if segmented else 1)


def _caption(result: GateResult) -> str:
    clusters = "" if result.n_clusters is None else f" in {counted(result.n_clusters, 'cluster')}"
    weights = ", weighted" if result.is_weighted else ""
    return (
        f"{result.candidate} (candidate) less {result.baseline} (baseline), "
        f"{counted(result.n_topics, 'topic', form=',')}{clusters}{weights}; limits are one-sided, "
        f"{level_words(result.alpha)} each"
    )


def _segments_caption(result: GateResult) -> str:
    return (
        f"By {result.by}: limits are simultaneous, alpha {result.alpha:g} over "
        f"{counted(len(result.segments), 'row')}; verdicts by Holm"
    )


def gate_notes(result: GateResult) -> list[str]:
    """What the figures rest on."""
    notes = []
    rows = [row for row in result.measures if row.n_clusters >= 2]
    if rows and result.n_clusters is not None:
        effects = ", ".join(f"{row.design_effect:.2f} on {row.measure}" for row in rows)
        notes.append(f"Design effect of the clusters: {effects}.")
    if rows and result.is_weighted:
        notes.append(f"Weights: as many as {rows[0].effective_topics:,.1f} topics of equal weight.")
    if result.rare_breakage > unseen_share(ENOUGH, result.alpha):
        notes.append(
            f"If no topic here is broken, up to {result.rare_breakage:.1%} of all topics may be "
            f"({level_words(result.alpha)})"
            + ("; the lower limits allow for it." if result.guards_breakage else ".")
        )
    if result.is_ranking_lost and result.unjudged == "bounded":
        notes.append(
            "One of the two came as scores without its ranking: unjudged documents count as "
            "not relevant, and whether they could change the verdict is unknown."
        )
    open_rows = [row for row in result.measures if row.n_unjudged]
    if open_rows:
        counts = ", ".join(f"{row.n_unjudged:,} on {row.measure}" for row in open_rows)
        notes.append(
            f"Unjudged documents above the cutoff of either run: {counts}; lowest and highest "
            "are the extreme differences that their grades could produce"
            + ("." if result.unjudged == "bounded" else "; here they count as not relevant.")
        )
    return notes


def summary_markdown(result: GateResult) -> str:
    """A summary for a pull request."""
    heading = f"## {SIGNS[result.verdict]} Gate: {result.verdict}\n"
    return f"{heading}\n{gate_text(result, 'markdown')}"


def junit_xml(result: GateResult, unsure: Unsure | None = None) -> str:
    """A test report: one case per measure and segment, as continuous integration reads them."""
    rows = (*result.measures, *result.segments)
    cases = [_case(row, unsure) for row in rows]
    failed = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="steadyrank gate" tests="{len(cases)}" failures="{failed}" '
        f'errors="0" skipped="{skipped}">\n{"".join(cases)}'
        f"<system-out>{escape(_plain(verdict_sentence(result)))}</system-out>\n</testsuite>\n"
    )


def _case(row: GateRow, unsure: Unsure | None) -> str:
    text = _plain(
        f"{row.verdict}: difference {row.difference:+.6f}, limits {row.interval.low:+.6f} to "
        f"{row.interval.high:+.6f}, margin {row.margin:g}"
    )
    opening = f'<testcase classname="gate" name={quoteattr(_plain(row.name))}'
    # A segment that cannot tell holds nothing up.
    may_be_open = unsure == "pass" or row.segment is not None
    if row.verdict == "pass":
        return f"{opening}/>\n"
    if row.verdict != "fail" and may_be_open:
        return f"{opening}><skipped message={quoteattr(text)}/></testcase>\n"
    kind = quoteattr(row.verdict)
    return f"{opening}><failure type={kind} message={quoteattr(text)}/></testcase>\n"


def _plain(text: str) -> str:
    """Without the characters that XML does not know."""
    return "".join(
        mark if mark in "\t\n" or (mark >= " " and not "\ud800" <= mark <= "\udfff") else "?"
        for mark in text
    )
