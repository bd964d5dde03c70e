"""How `gate` is shown: a verdict for people, programs, pull requests and test reports."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from steadyrank.present.json import picked
from steadyrank.present.view import Col, Finding, TableSpec, View
from steadyrank.stats.pairs.topic_design import unseen_share
from steadyrank.studies.gate.result import SPARSE, GateResult, GateRow, Unsure, row_json
from steadyrank.words import by_number, counted, level_words, listed, number_word, some

ENOUGH = 300
"""Topics from which on the output does not say what share of them may be broken unseen."""

SIGNS = {"pass": "✅", "fail": "❌", "cannot tell": "❔", "holes": "🕳️"}
"""Before the heading of a summary."""


def findings(result: GateResult) -> list[Finding]:
    """The verdict, what has added up, what would settle it, and what no topic shows."""
    rows = _deciding(result)
    said = [_verdict(result, rows), *_drift(result), *_unjudged(result)]
    if result.is_ranking_lost and result.unjudged != "not-relevant":
        text = "A ranking is not at hand: whether unjudged documents could change it is unknown."
        said.append(Finding("gate.ranking_lost", text))
    if result.verdict == "fail":
        said += _beyond(rows)
    if result.verdict == "cannot tell":
        said += _settled(rows)
    said += _carried(result, rows)
    if result.rare_breakage > unseen_share(ENOUGH, result.alpha):
        text = (
            f"If no topic here is broken, up to {result.rare_breakage:.1%} of all topics may be "
            f"({level_words(result.alpha)})"
        )
        text += "; the lower limits allow for it." if result.guards_breakage else "."
        values = {"share": result.rare_breakage, "guarded": result.guards_breakage}
        said.append(Finding("gate.breakage", text, values))
    return said


def _unjudged(result: GateResult) -> list[Finding]:
    """How documents without a grade were counted, where judgments are sparse or have holes."""
    if result.verdict == "holes":
        text = "Judge these documents, or count them as not relevant: --unjudged not-relevant."
        return [Finding("gate.unjudged", text)]
    sparse = [row for row in result.measures if _is_sparse(row)]
    if result.unjudged != "auto" or not sparse:
        return []
    names = "" if len(sparse) == len(result.measures) else f" ({some([r.measure for r in sparse])})"
    share = max(row.unjudged_share or 0.0 for row in sparse)
    text = (
        f"Unjudged documents count as not relevant{names}: {share:.0%} of the baseline's have no "
        "grade (--unjudged bounded: bounds)."
    )
    return [
        Finding("gate.unjudged", text, {"share": share, "measures": [r.measure for r in sparse]})
    ]


def _is_sparse(row: GateRow) -> bool:
    return row.unjudged == "not-relevant" and (row.unjudged_share or 0.0) > SPARSE


def _carried(result: GateResult, rows: list[GateRow]) -> list[Finding]:
    """On how few topics a pass or a fail rests."""
    found = rows[0].fragility
    if found is None or result.verdict not in ("pass", "fail"):
        return []
    units = "topics" if result.n_clusters is None else "clusters"
    side = "beyond" if result.verdict == "pass" else "within"
    without = by_number(found.n, f"{units[:-1]} ({some(found.topics, 3)})", units)
    text = f"Without {found.n:,} {without} the difference would be {side} the margin."
    return [Finding("gate.fragility", text, found._asdict())]


def _deciding(result: GateResult) -> list[GateRow]:
    """The rows with the verdict of the gate, the worst first; segments only where they count."""
    counts = result.verdict in ("fail", "holes")
    rows = (*result.measures, *(result.segments if counts else ()))
    return sorted(
        (row for row in rows if row.verdict == result.verdict),
        key=lambda row: (row.segment is not None, _slack(row)),
    )


def _slack(row: GateRow) -> float:
    """From the lower limit to the margin."""
    return math.inf if math.isnan(row.interval.low) else row.interval.low + row.margin


def _verdict(result: GateResult, rows: list[GateRow]) -> Finding:
    """One sentence that begins with the verdict, with the row that it rests on most."""
    row = rows[0]
    what = f"{row.name} {signed(row.difference)} (limits {_ends(row.interval)})"
    if result.verdict == "pass":
        clause = f"{what}: any loss is below the margin of {row.margin:g}"
    elif result.verdict == "fail":
        clause = f"{what}: significantly worse, beyond the margin of {row.margin:g}"
    elif result.verdict == "holes":
        clause = (
            "unjudged documents could change the verdict: "
            f"{row.name} {signed(row.difference)} may be "
            f"{_ends((row.lowest or 0.0, row.highest or 0.0))}"
        )
    elif row.n_clusters < 2:
        clause = f"{row.name} has too few topics for a verdict ({counted(row.n_topics, 'topic')})"
    elif row.difference < -row.margin:
        clause = f"{what}: beyond the margin of {row.margin:g}, but not significantly worse"
    else:
        clause = f"{what}: a loss beyond the margin of {row.margin:g} is not excluded"
    more = f"; so are {counted(len(rows) - 1, 'other row')}" if len(rows) > 1 else ""
    values = {
        **picked(row, "measure segment margin difference interval lowest highest"),
        "verdict": result.verdict,
        "n_rows": len(rows),
    }
    return Finding("gate.verdict", f"{result.verdict.upper()}: {clause}{more}.", values)


def signed(value: float) -> str:
    """A difference, with its sign.

    >>> signed(0.00213), signed(-0.031), signed(-1e-9)
    ('+0.0021', '−0.0310', '+0.0000')
    """
    return f"{value:+z.4f}".replace("-", "−")


def _ends(ends: Any) -> str:
    return f"{signed(ends[0])} to {signed(ends[1])}"


def _beyond(rows: list[GateRow]) -> list[Finding]:
    """What was tested is being worse at all: is a loss beyond the margin shown, or estimated?"""
    said = []
    for what, is_shown, words in (
        ("beyond", True, "By its limits it loses more than {}."),
        ("estimate", False, "That it loses more than {} is an estimate."),
    ):
        chosen = [row for row in rows if (row.interval.high < -row.margin) == is_shown]
        if chosen:
            margins = listed([f"{row.margin:g} on {row.name}" for row in chosen])
            values = {"rows": [row.name for row in chosen]}
            said.append(Finding(f"gate.{what}", words.format(margins), values))
    return said


def _settled(rows: list[GateRow]) -> list[Finding]:
    """Topics for the row that the verdict rests on most; those of others are in the table."""
    row = rows[0]
    if row.n_clusters < 2:
        return []
    truth = "0" if row.difference > 0.0 else "the one observed"
    number = "No number of" if row.topics_needed is None else f"About {row.topics_needed:,}"
    text = f"{number} topics would settle it (power 80% if the true difference is {truth})."
    return [Finding("gate.topics", text, picked(row, "measure topics_needed"))]


def _drift(result: GateResult) -> list[Finding]:
    """What the steps since the first baseline have added up to, where that is beyond the margin."""
    drifted = result.history.drifted() if result.history is not None else []
    if result.history is None or len(result.history.gates) < 2 or not drifted:
        return []
    since = result.history.gates[0]["date"][:10]
    amounts = [
        f"{row['measure']} {signed(row['total'])} ({_ends(row['total_interval'])}), margin "
        f"{row['margin']:g}"
        for row in drifted
    ]
    n_gates = counted(len(result.history.gates), "gate")
    text = f"Drift since {since}, over {n_gates}: {'; '.join(amounts)}."
    return [Finding("gate.drift", text, {"measures": drifted})]


def _caption(result: GateResult) -> str:
    clusters = "" if result.n_clusters is None else f" in {counted(result.n_clusters, 'cluster')}"
    said = (
        f"{result.candidate} (candidate) less {result.baseline} (baseline), "
        f"{counted(result.n_topics, 'topic', form=',')}{clusters}"
        f"{', weighted' if result.is_weighted else ''}; limits are one-sided, "
        f"{level_words(result.alpha)} each"
    )
    n_tests = len(result.measures) + len(result.segments)
    if result.segments:
        said += (
            f"; those by {result.by} are simultaneous over {counted(len(result.segments), 'row')}"
        )
    said += f"; fails by Holm over {number_word(n_tests)} tests" if n_tests > 1 else ""
    if _has_holes(result) and result.unjudged == "not-relevant":
        said += "; unjudged documents count as not relevant"
    return f"{said}."


def _has_holes(result: GateResult) -> bool:
    """Whether bounds are shown: not where judgments are sparse, as they are wide there."""
    hidden = result.unjudged == "auto"
    return any(row.n_unjudged and not (hidden and _is_sparse(row)) for row in result.measures)


ROWS = TableSpec(
    id="gate",
    rows=GateResult.rows,
    columns=(
        Col("measure", form="name"),
        Col("segment", form="name", when="known"),
        Col("margin", form="g"),
        Col("n_topics", "topics", "count"),
        Col("design_effect", form=".2f", when=lambda result: result.n_clusters is not None),
        Col("effective_topics", form=",.1f", when=lambda result: result.is_weighted),
        Col("baseline"),
        Col("candidate"),
        Col("difference", form="change"),
        Col("interval", "limits", "change"),
        Col("n_unjudged", "unjudged", "count", _has_holes),
        Col("lowest", form="change", when=_has_holes),
        Col("highest", form="change", when=_has_holes),
        Col("verdict", form="name"),
        Col("topics_needed", form="count", when="known"),
    ),
    caption=_caption,
)


def fields(result: GateResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    return {
        **picked(result, "verdict alpha"),
        "sentence": _verdict(result, _deciding(result)).text,
        **picked(result, "baseline candidate n_topics n_clusters unjudged weighted=is_weighted"),
        **picked(result, "rare_breakage guard_breakage=guards_breakage"),
        "measures": [row_json(row) for row in result.measures],
        "by": result.by,
        "segments": [row_json(row) for row in result.segments],
        "history": None if result.history is None else list(result.history.gates),
    }


VIEW = View(findings=findings, tables=(ROWS,), fields=fields)


def summary_markdown(result: GateResult) -> str:
    """A summary for a pull request."""
    heading = f"## {SIGNS[result.verdict]} Gate: {result.verdict}\n"
    return f"{heading}\n{VIEW.text(result, 'markdown')}"


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
        f"<system-out>{escape(_plain(VIEW.findings(result)[0].text))}</system-out>\n</testsuite>\n"
    )


def _case(row: GateRow, unsure: Unsure | None) -> str:
    text = _plain(
        f"{row.verdict}: difference {row.difference:+.6f}, limits {row.interval.low:+.6f} to "
        f"{row.interval.high:+.6f}, margin {row.margin:g}"
    )
    opening = f'<testcase classname="gate" name={quoteattr(_plain(row.name))}'
    if row.verdict == "pass":
        return f"{opening}/>\n"
    # A segment that cannot tell holds nothing up; holes in one do, as the exit code has it.
    holds_nothing_up = row.verdict == "cannot tell" and row.segment is not None
    if row.verdict != "fail" and (unsure == "pass" or holds_nothing_up):
        return f"{opening}><skipped message={quoteattr(text)}/></testcase>\n"
    kind = quoteattr(row.verdict)
    return f"{opening}><failure type={kind} message={quoteattr(text)}/></testcase>\n"


def _plain(text: str) -> str:
    """Without the characters that XML does not know."""
    return "".join(
        mark if mark in "\t\n" or (mark >= " " and not "\ud800" <= mark <= "\udfff") else "?"
        for mark in text
    )
