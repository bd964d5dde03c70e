"""The verdict of a gate in one sentence, and what stands behind it."""

from __future__ import annotations

from steadyrank.studies.gate.result import GateResult, GateRow
from steadyrank.words import counted, listed, number_word


def verdict_sentence(result: GateResult) -> str:
    """What the gate says, in one sentence that begins with the verdict.

    Of several measures, those that decide are named.
    """
    rows = [
        row
        for row in (*result.measures, *result.segments)
        if row.verdict == result.verdict and (row.segment is None or result.verdict != "pass")
    ]
    return f"{result.verdict.upper()}: {_CLAUSES[result.verdict](result, rows)}."


def signed(value: float) -> str:
    """A difference, with its sign.

    >>> signed(0.00213), signed(-0.031), signed(-1e-9)
    ('+0.0021', '−0.0310', '+0.0000')
    """
    return f"{value:+z.4f}".replace("-", "−")


def _amount(row: GateRow) -> str:
    return f"{row.name} {signed(row.difference)} (limits {_ends(row)})"


def _ends(row: GateRow) -> str:
    return f"{signed(row.interval.low)} to {signed(row.interval.high)}"


def _passed(result: GateResult, rows: list[GateRow]) -> str:
    losses = listed([f"{row.margin:g} on {row.measure}" for row in rows])
    return (
        f"the candidate is worse than the baseline by less than {losses}, if at all "
        f"({listed([_amount(row) for row in rows])}; alpha {result.alpha:g}, "
        f"{counted(result.n_topics, 'topic', form=',')})"
    )


def _failed(result: GateResult, rows: list[GateRow]) -> str:
    several = len(result.measures) + len(result.segments)
    family = f" over {number_word(several)} tests, Holm" if several > 1 else ""
    return (
        f"the candidate is significantly worse than the baseline on "
        f"{listed([_amount(row) for row in rows])} at alpha {result.alpha:g}{family}"
        + _beyond("; by its limits it loses more than {}", rows, True)
        + _beyond("; that it loses more than {} is an estimate", rows, False)
    )


def _beyond(words: str, rows: list[GateRow], is_shown: bool) -> str:
    """The margins of those rows whose upper limit is, or is not, beyond them."""
    chosen = [row for row in rows if (row.interval.high < -row.margin) == is_shown]
    margins = [f"{row.margin:g} on {row.name}" for row in chosen]
    return words.format(listed(margins)) if margins else ""


def _open(result: GateResult, rows: list[GateRow]) -> str:
    return "; ".join(_open_row(row) for row in rows)


def _open_row(row: GateRow) -> str:
    if row.n_clusters < 2:
        return f"{row.name} has too few topics for a verdict ({counted(row.n_topics, 'topic')})"
    doubt = (
        f"is beyond the margin of {row.margin:g} but not significantly worse than the baseline"
        if row.difference < -row.margin
        else f"does not exclude a loss beyond the margin of {row.margin:g}"
    )
    truth = "0" if row.difference > 0.0 else "the one observed"
    settled = (
        f"no number of topics would settle it if the true difference is {truth}"
        if row.topics_needed is None
        else f"about {row.topics_needed:,} topics would settle it (power 80% if the true "
        f"difference is {truth})"
    )
    return f"{_amount(row)} {doubt}; {settled}"


def _holes(result: GateResult, rows: list[GateRow]) -> str:
    parts = [
        f"{row.name} {signed(row.difference)}, but from {signed(row.lowest or 0.0)} to "
        f"{signed(row.highest or 0.0)} over all grades of the unjudged documents"
        for row in rows
    ]
    return (
        f"unjudged documents could change the verdict ({listed(parts)}): judge them, or count "
        "them as not relevant"
    )


_CLAUSES = {"pass": _passed, "fail": _failed, "cannot tell": _open, "holes": _holes}


def drift_sentences(result: GateResult) -> list[str]:
    """What the steps since the first baseline have added up to, where that is beyond the margin."""
    if result.history is None or len(result.history.gates) < 2:
        return []
    since = result.history.gates[0]["date"]
    return [
        f"Drift: since the first baseline ({since}) {row['measure']} has changed by "
        f"{signed(row['total'])} ({signed(row['total_interval'][0])} to "
        f"{signed(row['total_interval'][1])}), a significant loss beyond the margin of "
        f"{row['margin']:g}, over {counted(len(result.history.gates), 'gate')}."
        for row in result.history.drifted()
    ]
