"""Sentences and tables of `gate`, for people, chats, programs, pull requests and test reports."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from steadyrank.data.facets import judges_words
from steadyrank.present.cells import name
from steadyrank.present.json import picked
from steadyrank.present.view import Col, Finding, TableSpec, View
from steadyrank.stats.pairs.topic_design import unseen_share
from steadyrank.studies.gate.result import (
    GateHistory,
    GateResult,
    GateRow,
    OnHoles,
    Outlook,
    Unsure,
    row_json,
)
from steadyrank.visible import escaped
from steadyrank.words import by_number, counted, level_words, listed, number_word, some

ENOUGH = 300
"""From this many topics on, the output omits the share of topics that could be broken."""

MANY_CANDIDATES = 100
"""Number of candidates after which topics should be replaced. The best of 100 equal candidates
looks 2.5 standard errors better than it is, and each may have been tuned to these topics."""

SIGNS = {"pass": "✅", "fail": "❌", "cannot tell": "❔", "holes": "🕳️"}
"""Marks in the heading of a summary."""


def findings(result: GateResult) -> list[Finding]:
    """Return the verdict, its conditions, and what would settle it."""
    rows = _deciding(result)
    said = [_verdict(result, rows), *_judges(result), *_outlier(result)]
    said += [*_drift(result), *_served(result), *_unjudged(result, rows), *_decided(result, rows)]
    if result.is_ranking_lost:
        text = (
            "A ranking is not available: whether unjudged documents could change the verdict is "
            "unknown."
        )
        said.append(Finding("gate.ranking_lost", text))
    if result.verdict == "cannot tell" and result.seed is None:
        said += _settled(rows)
    about_topics = result.seed is None and not result.is_rebuild
    if about_topics and result.rare_breakage > unseen_share(ENOUGH, result.alpha):
        text = (
            f"Even if none of these topics is broken, up to {result.rare_breakage:.1%} of all "
            f"topics could be ({level_words(result.alpha)})"
        )
        text += "; the lower limits allow for this." if result.guards_breakage else "."
        values = {"share": result.rare_breakage, "guarded": result.guards_breakage}
        said.append(Finding("gate.breakage", text, values))
    return said


def _unjudged(result: GateResult, rows: list[GateRow]) -> list[Finding]:
    said = []
    swept = [row for row in rows if row.sweep and row.n_unjudged]
    if swept and result.verdict == "holes":
        said.append(_turns(swept[0]))
    elif swept:
        row = min(swept, key=lambda row: row.sweep[-1].share)
        text = (
            f"This holds if up to {_share(row.sweep[-1])} of the {_n_documents(row)} are relevant."
        )
        said.append(Finding("gate.prior", text, {"share": row.sweep[-1].share}))
    if result.verdict == "holes":
        first = [ask for row in rows for ask in row.judge_first]
        names = ", ".join(f"{ask.document} (topic {ask.topic})" for ask in first[:3])
        text = "Judge these documents, or count them as not relevant."
        if first:
            text = f"Judge first: {names}. `steadyrank holes` with --ask 50 lists more."
        said.append(Finding("gate.unjudged", text, {"n": len(first)}))
    # Measures without bounds are left out: some ignore unjudged documents.
    plain = [
        row
        for row in result.measures
        if row.unjudged == "not-relevant" and row.is_certain is False and row.n_unjudged
    ]
    if plain:
        share = max(row.unjudged_share or 0.0 for row in plain)
        names = some([row.measure for row in plain])
        text = (
            f"{names}: {share:.0%} of the baseline's documents are unjudged and count as not "
            "relevant, since too few are judged to estimate their relevance."
        )
        values = {"share": share, "measures": [row.measure for row in plain]}
        said.append(Finding("gate.unjudged", text, values))
    return said


def _turns(row: GateRow) -> Finding:
    changes = [next(same) for _, same in itertools.groupby(row.sweep, lambda one: one.verdict)]
    words = ", ".join(f"{one.verdict} with {_share(one)}" for one in changes)
    text = f"It depends on how many are relevant: {words}."
    return Finding("gate.prior", text, {"sweep": [one._asdict() for one in row.sweep]})


def _share(one: Outlook) -> str:
    return f"{one.share:.1%}" if 0.0 < one.share < 0.1 else f"{one.share:.0%}"


def _n_documents(row: GateRow) -> str:
    return counted(row.n_unjudged or 0, "unjudged document", form=",")


def _outlier(result: GateResult) -> list[Finding]:
    found = [(row.outlier, row) for row in result.measures if row.outlier is not None]
    if not found:
        return []
    loss, row = max(found, key=lambda one: abs(one[0].difference))
    lost = f"{abs(loss.difference):.2f} {row.measure}"
    text = f"Topic {loss.topic} lost {lost}, far more than any other."
    return [Finding("gate.outlier", text, {"measure": row.measure, **loss._asdict()})]


def _deciding(result: GateResult) -> list[GateRow]:
    """Return the rows with the gate's verdict, the worst first; segments only if they count."""
    counts = result.verdict in ("fail", "holes")
    rows = (*result.measures, *(result.segments if counts else ()))

    def slack(row: GateRow) -> float:
        low = row.gain_limits.low
        return math.inf if math.isnan(low) else low + row.margin

    return sorted(
        (row for row in rows if row.verdict == result.verdict),
        key=lambda row: (row.segment is not None, slack(row)),
    )


def _verdict(result: GateResult, rows: list[GateRow]) -> Finding:
    """Return a sentence that begins with the verdict, about the decisive row."""
    row = rows[0]
    # Rows may have different documents, and the sentence is about all rows.
    is_certain = all(row.is_certain for row in rows) and row.n_unjudged
    whatever = f", whatever the grades of {_n_documents(row)}" if is_certain else ""
    found = f"{row.name} {signed(row.difference)}"
    what = f"{found} ({_limits(result, row)} {_ends(row.interval)})"
    if result.is_rebuild:
        where = "within" if result.verdict == "pass" else "beyond"
        builds = counted(result.n_runs[0], "build")
        clause = f"{found}: {where} ±{row.margin:.4f}, the tolerance of a further build ({builds})"
    elif result.verdict == "pass":
        loss = f"a loss of more than {row.margin:g}" if row.margin else "any loss"
        clause = f"{what}: {loss} is excluded{whatever}"
    elif result.verdict == "fail":
        # The test is for any loss.
        estimated = f"worse; a loss beyond {row.margin:g} is estimated, not shown"
        is_beyond = row.gain_limits.high < -row.margin
        worse = f"worse, by more than the margin of {row.margin:g}" if is_beyond else estimated
        clause = f"{what}: {worse}{whatever}"
    elif result.verdict == "holes":
        ends = _ends((row.lowest or 0.0, row.highest or 0.0), " and ")
        documents = _n_documents(row) if row.n_unjudged else "its unjudged documents"
        clause = f"{found}, but between {ends} once {documents} are judged"
    elif row.n_clusters < 2:
        clause = f"{row.name} has too few topics for a verdict ({counted(row.n_topics, 'topic')})"
    elif row.gain < -row.margin:
        clause = f"{what}: the loss exceeds {row.margin:g}, but may be due to chance"
    else:
        clause = f"{what}: a loss of more than {row.margin:g} is possible"
    others = len(rows) - 1
    also = {
        "pass": ("also passes", "also pass"),
        "fail": ("also fails", "also fail"),
        "cannot tell": ("is also open", "are also open"),
        "holes": ("also has holes", "also have holes"),
    }[result.verdict]
    more = f"; {counted(others, 'other row')} {by_number(others, *also)}" if others else ""
    values = picked(row, "measure segment margin difference interval lowest highest")
    values |= {"verdict": result.verdict, "n_rows": len(rows)}
    by = f" (by {result.judges[0]} alone)" if len(result.judges) == 1 else ""
    return Finding("gate.verdict", f"{result.verdict.upper()}: {clause}{more}{by}.", values)


def _judges(result: GateResult) -> list[Finding]:
    if not result.judges:
        return []
    text = f"This is {judges_words(result.judges)}."
    return [Finding("gate.judges", text, {"judges": list(result.judges)})]


def signed(value: float, digits: int = 4) -> str:
    """Return a difference with its sign.

    >>> signed(0.00213), signed(-0.031), signed(-1e-9)
    ('+0.0021', '−0.0310', '+0.0000')
    """
    return f"{value:+z.{digits}f}".replace("-", "−")


def _ends(ends: Any, between: str = " to ") -> str:
    return f"{signed(ends[0])}{between}{signed(ends[1])}"


def _limits(result: GateResult, row: GateRow) -> str:
    """Name the limits of a row with their level; each is one-sided."""
    simultaneous = "" if row.segment is None else "simultaneous "
    return f"{simultaneous}{100.0 * (1.0 - result.alpha):g}% limits"


def _settled(rows: list[GateRow]) -> list[Finding]:
    row = rows[0]
    if row.n_clusters < 2:
        return []
    if row.method == "mixed":
        return [Finding("gate.topics", "More topics, or more runs per side, would settle it.")]
    truth = "0" if row.gain > 0.0 else "as observed"
    number = "No number of" if row.topics_needed is None else f"About {row.topics_needed:,}"
    text = f"{number} topics would settle it (power 80% if the true difference is {truth})."
    return [Finding("gate.topics", text, picked(row, "measure topics_needed"))]


def _drift(result: GateResult) -> list[Finding]:
    gates = () if result.history is None else result.history.gates
    if result.history is None or len(gates) < 2 or not (drifted := result.history.drifted()):
        return []
    amounts = "; ".join(
        f"{row['measure']} {signed(row['total'])} ({_ends(row['total_interval'])}), margin "
        f"{row['margin']:g}"
        for row in drifted
    )
    n_gates = counted(len(gates), "gate")
    text = f"Drift since {gates[0]['date'][:10]}: {amounts}; the level is that of all {n_gates}."
    return [Finding("gate.drift", text, {"measures": drifted})]


def _served(result: GateResult) -> list[Finding]:
    history = result.history
    if history is None or history.n_candidates <= MANY_CANDIDATES:
        return []
    n = history.n_candidates
    text = (
        f"These topics have judged {n:,} candidates, which may be tuned to them: judge new topics."
    )
    return [Finding("gate.served", text, {"n_candidates": n, "n_gates": len(history.gates)})]


def _decided(result: GateResult, rows: list[GateRow]) -> list[Finding]:
    if result.seed is None:
        return []
    taken = decided_after(result)
    values = {"n": taken, "n_topics": result.n_topics, "seed": result.seed}
    if taken is None:
        text = "Undecided: judge more topics and look again; the limits hold at every look."
    else:
        every = counted(rows[0].n_topics, "topic")
        text = f"Decided after {taken:,} of {every}; limits hold at every look."
    return [Finding("gate.sequential", text, values)]


def decided_after(result: GateResult) -> int | None:
    """Return the number of topics after which all measures passed or one row failed."""
    taken = [row.decided_after for row in _deciding(result)]
    known = [n for n in taken if n is not None]
    if not known or result.verdict not in ("pass", "fail"):
        return None
    return max(known) if result.verdict == "pass" else min(known)


def _caption(result: GateResult) -> str:
    if result.is_rebuild:
        chance = f"{1.0 - result.alpha:.0%}"
        return (
            f"{result.candidate} minus the mean of {counted(result.n_runs[0], 'build')} of "
            f"{result.baseline}; {chance} of further builds are within the tolerances."
        )
    clusters = "" if result.n_clusters is None else f" in {counted(result.n_clusters, 'cluster')}"
    said = (
        f"{_as(result.candidate, '(candidate)')} minus {_as(result.baseline, '(baseline)')}, "
        f"{counted(result.n_topics, 'topic', form=',')}{clusters}"
        f"{', weighted' if result.is_weighted else ''}; limits are one-sided, "
        f"{level_words(result.alpha)} each"
    )
    if result.n_runs != (1, 1):
        said += "; topics and runs ({} and {}) are random".format(*reversed(result.n_runs))
    n_tests = len(result.measures) + len(result.segments)
    if result.segments:
        said += (
            f"; those by {result.by} are simultaneous over {counted(len(result.segments), 'row')}"
        )
    said += f"; fails by Holm over {number_word(n_tests)} tests" if n_tests > 1 else ""
    if lower := [row.measure for row in result.measures if row.lower_is_better]:
        said += f"; lower is better by {listed(lower)}"
    if result.history is not None:
        n_gates = counted(len(result.history.gates), "gate")
        said += f"; these topics have decided {n_gates}"
    return f"{said}."


def _as(name: str, role: str) -> str:
    """Return a run with its role, which the name already has if both names are equal."""
    return name if name.endswith(role) else f"{name} {role}"


def _has_holes(result: GateResult) -> bool:
    """Whether bounds are shown."""
    return any(row.n_unjudged for row in result.measures)


ROWS = TableSpec(
    id="gate",
    rows=GateResult.rows,
    columns=(
        Col("measure", form="name"),
        Col("segment", form="name", when="known"),
        Col("margin", form="g", when=lambda result: not result.is_rebuild),
        Col("margin", "tolerance", when=lambda result: result.is_rebuild),
        Col("n_topics", "topics", "count"),
        Col("design_effect", form=".2f", when=lambda result: result.n_clusters is not None),
        Col("effective_topics", form=",.1f", when=lambda result: result.is_weighted),
        Col("baseline"),
        Col("candidate"),
        Col("difference", form="change"),
        Col("interval", "{sure} limits", "change", lambda result: not result.is_rebuild),
        Col("n_unjudged", "unjudged", "count", _has_holes),
        Col("lowest", form="change", when=_has_holes),
        Col("highest", form="change", when=_has_holes),
        Col("verdict", form="name"),
        Col("topics_needed", form="count", when="known"),
    ),
    caption=_caption,
)


LOSSES = TableSpec(
    id="losses",
    rows=lambda result: [
        {"measure": row.measure, **loss._asdict()} for row in result.measures for loss in row.losses
    ],
    columns=(
        Col("measure", form="name", when="varies"),
        Col("topic", form="name"),
        Col("baseline"),
        Col("candidate"),
        Col("difference", form="change"),
    ),
    caption="The topics that lost most.",
)


def fields(result: GateResult) -> dict[str, Any]:
    """Return the keys of the JSON output."""
    return {
        **picked(result, "verdict alpha"),
        "sentence": _verdict(result, _deciding(result)).text,
        **picked(result, "baseline candidate n_topics n_clusters weighted=is_weighted"),
        **({"judges": list(result.judges)} if result.judges else {}),
        **picked(result, "rare_breakage guard_breakage=guards_breakage rebuild=is_rebuild seed"),
        "runs_per_side": list(result.n_runs),
        "sequential": result.seed is not None,
        "decided_after": decided_after(result),
        "measures": [row_json(row) for row in result.measures],
        "by": result.by,
        "segments": [row_json(row) for row in result.segments],
        "n_candidates": None if result.history is None else result.history.n_candidates,
        "history": None if result.history is None else list(result.history.gates),
    }


VIEW = View(findings=findings, tables=(ROWS,), fields=fields)


def gate_text(result: GateResult, form: str, **looks: Any) -> str:
    """Return the view in a format; Markdown adds the worst topics, "line" is for chats."""
    if form == "line":
        return chat_line(result)
    view = replace(VIEW, tables=(ROWS, LOSSES)) if form == "markdown" else VIEW
    return view.text(result, form, **looks)


LONGEST = 199
"""Most characters of a line for a chat."""


def chat_line(result: GateResult) -> str:
    """Return the verdict in one line, with up to three topics that lost most."""
    row = _deciding(result)[0]
    limits = f"{_limits(result, row)} {_ends(row.interval)}"
    limits = f"±{row.margin:.4f}" if result.is_rebuild else limits
    margin = "" if result.is_rebuild else f", margin {row.margin:g}"
    line = (
        f"{result.verdict.upper()} {_cut(row.name, 40)} {signed(row.difference)} {limits}{margin}, "
        f"{counted(row.n_topics, 'topic')}"
    )
    worst = [loss for loss in row.losses[:3] if abs(loss.difference) >= 0.005]
    lost = [f"{_cut(loss.topic, 24)} {signed(loss.difference, 2)}" for loss in worst]
    while lost and len(line) + len(f"; lost most: {', '.join(lost)}") > LONGEST:
        lost.pop()
    return f"{line}; lost most: {', '.join(lost)}\n" if lost else f"{line}\n"


def _cut(text: str, most: int) -> str:
    text = escaped(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def summary_markdown(result: GateResult) -> str:
    """Return a summary for a pull request."""
    heading = f"## {SIGNS[result.verdict]} Gate: {result.verdict}\n"
    return f"{heading}\n{gate_text(result, 'markdown')}"


def junit_xml(
    result: GateResult, unsure: Unsure | None = None, on_holes: OnHoles | None = None
) -> str:
    """Return a test report for continuous integration with one case per measure and segment."""
    rows = (*result.measures, *result.segments)
    cases = [_case(result, row, {"cannot tell": unsure, "holes": on_holes}) for row in rows]
    failed = sum("<failure" in case for case in cases)
    skipped = sum("<skipped" in case for case in cases)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="steadyrank gate" tests="{len(cases)}" failures="{failed}" '
        f'errors="0" skipped="{skipped}">\n{"".join(cases)}'
        f"<system-out>{escape(_plain(VIEW.findings(result)[0].text))}</system-out>\n</testsuite>\n"
    )


def _case(result: GateResult, row: GateRow, meant: Mapping[str, str | None]) -> str:
    low, high = row.interval
    text = _plain(
        f"{row.verdict}: difference {row.difference:+.6f}, {_limits(result, row)} {low:+.6f} to "
        f"{high:+.6f}, margin {row.margin:g}"
    )
    opening = f'<testcase classname="gate" name={quoteattr(_plain(row.name))}'
    if row.verdict == "pass":
        return f"{opening}/>\n"
    # As for the exit code, a segment that cannot tell is ignored, but not one with holes.
    is_ignored = row.verdict == "cannot tell" and row.segment is not None
    is_let_through = meant.get(row.verdict) == "pass" and not row.pvalue_fail < result.alpha
    if is_ignored or is_let_through:
        return f"{opening}><skipped message={quoteattr(text)}/></testcase>\n"
    lost = "".join(
        f"\n{loss.topic}: {loss.baseline:.4f} to {loss.candidate:.4f}" for loss in row.losses
    )
    failure = f"<failure type={quoteattr(row.verdict)} message={quoteattr(text)}>"
    return f"{opening}>{failure}{escape(_plain(lost))}</failure></testcase>\n"


def _plain(text: str) -> str:
    """Replace characters that XML does not allow."""
    return "".join(
        mark if mark in "\t\n" or (mark >= " " and not "\ud800" <= mark <= "\udfff") else "?"
        for mark in text
    )


def _history_findings(history: GateHistory) -> list[Finding]:
    gates, last = history.gates, history.gates[-1]
    n, ends = history.n_candidates, Counter(gate["verdict"] for gate in gates)
    drifted = [row["measure"] for row in history.drifted()]
    verdicts = ", ".join(f"{n} {verdict}" for verdict, n in ends.most_common())
    totals = [row for row in last["measures"] if row["total"] is not None]
    sums = "; ".join(f"{row['measure']} {signed(row['total'])}" for row in totals[:2])
    since = f"{counted(len(gates), 'gate')} since {gates[0]['date'][:10]}"
    text = f"{since} ({verdicts}): {sums}, {'' if drifted else 'no '}downward drift."
    values = {"n_gates": len(gates), "n_candidates": n, "verdicts": dict(ends), "drifted": drifted}
    advice = "; candidates may be tuned to them: judge new topics" if n > MANY_CANDIDATES else ""
    served = f"These topics have judged {counted(n, 'candidate')}{advice}."
    return [
        Finding("history.gates", text, values),
        Finding("history.served", served, {"n_candidates": n}),
    ]


def _history_rows(history: GateHistory) -> list[dict[str, Any]]:
    rows = history.rows()  # the verdict of a gate on several measures is shown once
    firsts = np.cumsum([0, *(len(gate["measures"]) for gate in history.gates)])[:-1]
    return [row if n in firsts else {**row, "gate": ""} for n, row in enumerate(rows)]


GATES = TableSpec(
    id="history",
    rows=_history_rows,
    columns=(
        Col("date", form=lambda row: name(row["date"][:16].replace("T", " "))),
        Col("candidate", form="name"),
        Col("measure", form="name", when="varies"),
        Col("margin", form="g"),
        Col("difference", form="change"),
        Col("total", "since the first", "change"),
        Col("total_interval", "limits", "change"),
        Col("verdict", form="name"),
        Col("gate", form="name", when=lambda history: len(history.gates[-1]["measures"]) > 1),
    ),
    caption=lambda history: (
        "Differences from the gate's baseline and from the first one; the "
        f"{100.0 * (1.0 - history.gates[-1]['alpha']):g}% limits of the latter hold for all gates "
        "together."
    ),
)

HISTORY = View(
    findings=_history_findings,
    tables=(GATES,),
    fields=lambda history: {
        **picked(history, "folder n_candidates"),
        "drifted": [row["measure"] for row in history.drifted()],
        "gates": list(history.gates),
    },
)


def history_text(history: GateHistory, form: str, **looks: Any) -> str:
    """Return the view of a history in one of the formats, or one line."""
    if form == "line":
        return f"{escaped(_history_findings(history)[0].text)}\n"
    return HISTORY.text(history, form, **looks)
