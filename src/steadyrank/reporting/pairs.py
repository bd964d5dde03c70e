"""What the studies of a report know of every two runs, for the panel in which two are picked.

Every text is made here from the results of the studies, in the words that their own tables have;
the page puts them together and computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.present.cells import most_columns
from steadyrank.present.latex import escape_latex
from steadyrank.present.pair_panel import PairPanel, PairRow
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.compare.result import CORRECTIONS, TESTS, CompareResult
from steadyrank.studies.holes.result import DECIDED, HolesPair, HolesResult
from steadyrank.studies.instances.result import InstancesTable
from steadyrank.studies.instances.view import difference_words
from steadyrank.studies.judges.result import JudgesResult
from steadyrank.studies.simulate.study import SimulateResult
from steadyrank.studies.topics.result import TopicsResult, needed_figure
from steadyrank.words import MISSING, chance, counted, figure, percent, pvalue_words, typeset

MOST_PICKED = 150
"""Runs of which two can be picked; of more, the best."""

DECISIONS = {
    "better": "{a} is significantly better than {b} by mean {measure}",
    "worse": "{b} is significantly better than {a} by mean {measure}",
    "open": "{a} is not significantly different from {b} by mean {measure}",
    "equal": "{a} and {b} have the same mean {measure}",
    "unknown": "{a} and {b} share too few topics to be compared by mean {measure}",
    "untested": "{a} and {b} were not compared with each other, only with the baseline",
}


@dataclass(slots=True)
class _Known:
    """Fields and rows as they are collected, study by study."""

    order: list[str]
    """Runs, best first."""
    fields: dict[str, list[str]] = field(default_factory=dict)
    rows: list[PairRow] = field(default_factory=list)

    def add(self, about: str, template: str, **texts: Sequence[str]) -> None:
        """A row with its fields."""
        self.fields |= {key: list(values) for key, values in texts.items()}
        self.rows.append(PairRow(about=about, template=template))

    def aligned(self, runs: Sequence[str], pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each pair of the panel its place among a result's pairs, or -1, and its direction."""
        return aligned_pairs(self.order, runs, pairs)


def aligned_pairs(
    order: Sequence[str], runs: Sequence[str], pairs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the pairs of runs in `order` stand among `pairs` of `runs`, and with which sign.

    >>> place, sign = aligned_pairs(["b", "a"], ["a", "b"], np.array([[0, 1]]))
    >>> place.tolist(), sign.tolist()
    ([0], [-1.0])
    """
    n = len(order)
    position = {run: i for i, run in enumerate(order)}
    where = np.array([position.get(run, -1) for run in runs])
    place, sign = np.full((n, n), -1), np.ones((n, n))
    first, second = where[np.asarray(pairs).reshape(-1, 2)].T
    known = np.flatnonzero((first >= 0) & (second >= 0))
    low, high = np.minimum(first, second)[known], np.maximum(first, second)[known]
    place[low, high] = known
    sign[low, high] = np.where(first[known] < second[known], 1.0, -1.0)
    upper = np.triu_indices(n, 1)
    return place[upper], sign[upper]


def make_pairs(results: Mapping[str, Any]) -> PairPanel:
    """The panel of a report about runs."""
    compared: tuple[CompareResult, ...] = results["compare"]
    main = compared[0]
    order, omitted = _picked(main, len(results["evaluate"].runs))
    known = _Known(order)
    _add_comparison(known, main)
    _add_measures(known, compared[1:])
    if "topics" in results:
        _add_topics(known, results["topics"])
    if "simulate" in results:
        _add_documents(known, results["simulate"])
    if "holes" in results:
        _add_holes(known, results["holes"])
    if "judges" in results:
        _add_judges(known, results["judges"])
    if "instances" in results:
        _add_systems(known, results["instances"], results["evaluate"])
    places = [main.runs.index(run) for run in order]
    sure, tested = f"{1 - main.alpha:.0%}", _tested_words(main)
    return PairPanel(
        names=tuple(order),
        measure=main.measure,
        topics=main.topics,
        scores=main.scores[places],
        fields=known.fields,
        rows=tuple(known.rows),
        sentence=(
            "{decision}: difference {difference}, "
            f"{sure} interval {{low}} to {{high}}, {{corrected}} ({tested}, {{n}} topics)."
        ),
        latex=(
            "{decision}: difference ${difference}$, "
            f"{escape_latex(sure)} interval $[{{low}}, {{high}}]$, "
            f"${{corrected}}$ ({tested}, {{n}} topics)."
        ),
        omitted=omitted,
    )


def _picked(result: CompareResult, n_runs: int) -> tuple[list[str], str]:
    """The runs that can be picked, best first, so few that the page stays light; who is omitted."""
    order = [result.runs[run] for run in result.order]
    n_best = min(MOST_PICKED, most_columns(len(result.topics)))
    rest = [run for run in order[n_best:] if run == result.baseline]
    picked = order[:n_best] + rest
    if len(picked) == n_runs:
        return picked, ""
    best = f"the best {n_best:,}{' and the baseline' if rest else ''}"
    return picked, f"Of {n_runs:,} runs, {best} can be picked."


def _tested_words(result: CompareResult) -> str:
    corrected = (
        f", {CORRECTIONS[result.correction]} over "
        f"{counted(result.n_comparisons, 'comparison', form=',')}"
        if result.is_corrected
        else ""
    )
    return f"{TESTS[result.test]}{corrected}"


def _add_comparison(known: _Known, result: CompareResult) -> None:
    place, sign = known.aligned(result.runs, result.pairs)
    ends = np.sort(sign[:, None] * _at(result.interval, place), axis=1)
    wins, losses = _swapped(result.effects.wins, result.effects.losses, place, sign)
    decisions = [_decision(result, p, s) for p, s in zip(place, sign, strict=True)]
    known.fields["measure"] = [result.measure] * len(place)
    known.fields["decision"] = [DECISIONS[decision] for decision in decisions]
    sure = f"{1 - result.alpha:.0%} interval"
    known.add(
        f"Difference in mean {result.measure}",
        f"{{difference}} ({sure} {{low}} to {{high}}: {result.interval_kind})",
        difference=_signed(sign * _at(result.difference, place)),
        low=_signed(ends[:, 0]),
        high=_signed(ends[:, 1]),
    )
    known.add(
        "Test",
        f"{{corrected}} ({_tested_words(result)}, alpha {result.alpha:g}); "
        "{uncorrected} for this pair alone",
        corrected=_pvalues(_at(result.pvalue_adjusted, place)),
        uncorrected=_pvalues(_at(result.pvalue, place)),
    )
    known.add(
        "Effect size",
        "d = {effect}: the mean difference in standard deviations of the topics’ differences",
        effect=_signed(sign * _at(result.effects.paired_d, place), "+.2f"),
    )
    known.add(
        "By topic",
        "{a} is better on {wins}, {b} on {losses}, equal on {ties} of {n} topics",
        wins=_counts(wins),
        losses=_counts(losses),
        ties=_counts(_at(result.effects.ties, place)),
        n=_counts(_at(result.n, place)),
    )


def _decision(result: CompareResult, place: int, sign: float) -> str:
    """Which sentence is true of a pair, its better run first."""
    if place < 0:
        return "untested"
    ahead = sign * result.difference[place]
    if result.flag[place] == TOO_FEW:
        return "unknown"
    if result.significant[place]:
        return "better" if ahead > 0 else "worse"
    return "equal" if abs(ahead) <= SAME_MEAN else "open"


def _add_measures(known: _Known, results: Sequence[CompareResult]) -> None:
    """The same by the other measures, each with its own family."""
    for i, result in enumerate(results, start=2):
        place, sign = known.aligned(result.runs, result.pairs)
        known.add(
            f"By {result.measure}",
            f"{{difference{i}}}, {{decided{i}}}",
            **{
                f"difference{i}": _signed(sign * _at(result.difference, place), "+.3f"),
                f"decided{i}": _decided(result.significant, result.pvalue_adjusted, place),
            },
        )


REVERSED = "a replication on as many other topics reverses it with probability {reversed}"
NO_ORDER = "the means are equal: there is no order to reverse"


def _add_topics(known: _Known, result: TopicsResult) -> None:
    place, _ = known.aligned(result.runs, result.pairs)
    rows = result.rows()
    equal = [p >= 0 and abs(rows[p]["difference"]) <= SAME_MEAN for p in place.tolist()]
    known.add(
        "On other topics",
        "{repeated}",
        repeated=[NO_ORDER if same else REVERSED for same in equal],
        reversed=_rates(_at(result.expected_reversal, place)),
    )
    known.add(
        "Topics needed",
        "{needed}",
        needed=[MISSING if p < 0 else _needed(result, rows[p]) for p in place.tolist()],
    )


def _needed(result: TopicsResult, row: Mapping[str, Any]) -> str:
    if row["significant"]:
        return "none: these topics show the difference"
    return f"{needed_figure(row)} for {result.test_words()}; there are {result.n_topics:,}"


def _add_documents(known: _Known, result: SimulateResult) -> None:
    upper = np.triu_indices(len(known.order), 1)
    known.add(
        f"In other documents (by {result.measure})",
        "{a} is above {b} with probability {kept} in a second document collection",
        kept=[
            MISSING if math.isnan(share) else chance(share, result.n_samples)
            for share in order_shares(result, known.order)[upper].tolist()
        ],
    )


def order_shares(result: SimulateResult, order: Sequence[str]) -> np.ndarray:
    """[run, run] in `order`: probability that one is above the other in a second collection.

    NaN for runs that were not simulated, or have equal means.
    """
    place = {run: i for i, run in enumerate(result.runs)}
    at = np.array([place.get(run, -1) for run in order])
    is_known = (at[:, None] >= 0) & (at >= 0)
    return np.where(is_known, result.above[at[:, None], at], np.nan)


def _add_holes(known: _Known, result: HolesResult) -> None:
    rows = {frozenset((pair.a, pair.b)): pair for pair in result.pairs}
    chosen = [rows.get(frozenset(pair)) for pair in _names(known.order)]
    first = [pair[0] for pair in _names(known.order)]
    ends = [
        (math.nan, math.nan)
        if pair is None
        else (pair.lowest, pair.highest)
        if pair.a == a
        else (-pair.highest, -pair.lowest)
        for pair, a in zip(chosen, first, strict=True)
    ]
    low, high = np.array(ends, float).reshape(-1, 2).T
    known.add(
        f"Missing judgments (by {result.measure})",
        "the difference lies between {least} and {most} over all completions: {turned}",
        least=_signed(low),
        most=_signed(high),
        turned=[MISSING if pair is None else _turned_words(pair) for pair in chosen],
    )


def _turned_words(pair: HolesPair) -> str:
    if max(abs(pair.lowest), abs(pair.highest)) <= DECIDED:
        return "no completion separates the two"
    return (
        "no completion changes the order"
        if pair.decided
        else "missing judgments could change the order"
    )


def _add_judges(known: _Known, result: JudgesResult) -> None:
    for i, judge in enumerate(result.judges, start=1):
        place, sign = known.aligned(result.runs, result.pairs)
        ranking = judge.corrected
        known.add(
            f"By judge {judge.judge}, corrected",
            f"{{judge{i}}}, {{judged{i}}}",
            **{
                f"judge{i}": _signed(sign * _at(ranking.difference, place), "+.3f"),
                f"judged{i}": _decided(ranking.significant, ranking.pvalue_adjusted, place),
            },
        )


def _add_systems(known: _Known, table: InstancesTable, scores: Scores) -> None:
    """What is known of the systems that the two are instances of."""
    system = dict(zip(scores.runs, scores.run_info.get("system", scores.runs), strict=True))
    words = {
        frozenset((found.a, found.b)): difference_words(found).replace("{", "(").replace("}", ")")
        for found in table.comparisons
    }
    known.add(
        "Systems",
        "{systems}",
        systems=[
            "both are instances of one system"
            if system[a] == system[b] != ""
            else words.get(frozenset((system[a], system[b])), MISSING)
            for a, b in _names(known.order)
        ],
    )


def _decided(significant: np.ndarray, pvalues: np.ndarray, place: np.ndarray) -> list[str]:
    """Whether a pair is significant, with its corrected p-value."""
    decided = np.where(_at(significant, place) == 1, "significant", "not significant")
    texts = _pvalues(_at(pvalues, place))
    return [f"{words} ({p})" for words, p in zip(decided.tolist(), texts, strict=True)]


def _names(order: Sequence[str]) -> list[tuple[str, str]]:
    return [(a, b) for i, a in enumerate(order) for b in order[i + 1 :]]


def _at(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The values of the panel's pairs; NaN of those that a study does not have."""
    chosen: np.ndarray = np.asarray(values, float)[np.maximum(place, 0)]
    chosen[place < 0] = np.nan
    return chosen


def _swapped(
    wins: np.ndarray, losses: np.ndarray, place: np.ndarray, sign: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    first, second = _at(wins, place), _at(losses, place)
    return np.where(sign > 0, first, second), np.where(sign > 0, second, first)


def _signed(values: np.ndarray, form: str = "+.4f") -> list[str]:
    return [_signed_text(value, form) for value in values.tolist()]


def _signed_text(value: float, form: str) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = figure(value, form)
    # What is rounded to nothing has no sign.
    return typeset(text if float(text) else text.replace("-", "+")) if text != MISSING else text


def _pvalues(values: np.ndarray) -> list[str]:
    return [f"p {MISSING}" if math.isnan(p) else pvalue_words(p) for p in values.tolist()]


def _rates(values: np.ndarray) -> list[str]:
    return [MISSING if math.isnan(rate) else percent(rate) for rate in values.tolist()]


def _counts(values: np.ndarray) -> list[str]:
    return [MISSING if math.isnan(count) else f"{count:,.0f}" for count in values.tolist()]
