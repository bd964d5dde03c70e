"""The answer of a report, in words: who leads, how surely, and what would settle it.

Each function takes results and returns sentences, or nothing where a study is missing. A chance
always says of what it is one: a second document collection, or a second experiment on other
topics. Numbers are rounded to what they are known to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.measures.check import CheckResult
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.run_means import SAME_MEAN, adjusted_means, other_first
from steadyrank.studies.compare.result import CORRECTIONS, SIMULTANEOUS, TESTS, CompareResult
from steadyrank.studies.holes.result import HolesResult
from steadyrank.studies.simulate.result import documents_share
from steadyrank.studies.simulate.study import SimulateResult
from steadyrank.studies.topics.result import TopicsResult, needed_words
from steadyrank.words import MOST_NAMES, chance, counted, listed, number_word, some

NOTICEABLE = 0.05
"""Share of an interval's width by which a mean must be too high for a sentence to say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Who leads, and who is not significantly worse than the leader."""

    order: tuple[str, ...]
    """Runs with a mean, best first."""
    reference: str
    """With whom others are held up: the leader, or the baseline where there is one."""
    group: tuple[str, ...]
    """The reference and those that do not differ from it significantly, best first."""
    is_tie: bool
    """Whether the group is the top of the table and no two in it differ significantly."""

    @property
    def leader(self) -> str:
        """The best mean."""
        return self.order[0]

    @property
    def runner_up(self) -> str:
        """The second best mean."""
        return self.order[1]

    @property
    def rivals(self) -> tuple[str, ...]:
        """Who does not differ significantly from the reference."""
        return tuple(run for run in self.group if run != self.reference)

    @property
    def nearest(self) -> str:
        """The best of the others."""
        return next(run for run in self.order if run != self.reference)


def standing(result: CompareResult) -> Standing:
    """Who leads by the corrected tests of all pairs, or of all runs with a baseline."""
    order = [run for run in result.order if not math.isnan(result.mean[run])]
    apart = {frozenset(pair) for pair in result.pairs[result.significant].tolist()}
    first = order[0] if result.baseline is None else result.runs.index(result.baseline)
    group = [run for run in order if run == first or frozenset((run, first)) not in apart]
    inside = any(frozenset((a, b)) in apart for i, a in enumerate(group) for b in group[:i])
    return Standing(
        order=tuple(result.runs[run] for run in order),
        reference=result.runs[first],
        group=tuple(result.runs[run] for run in group),
        is_tie=group == order[: len(group)] and not inside,
    )


def verdict_words(result: CompareResult, n_runs: int = 0) -> str:
    """Who leads, how many of the others are significantly worse, and by which tests.

    `n_runs`: how many there are, where only the best were compared.
    """
    ranks = standing(result)
    if result.baseline is not None:
        return f"{baseline_words(result)} ({_test_words(result)})."
    sentence = _standing_words(result, ranks)
    if len(best_means(result, ranks)) == len(ranks.order):
        return f"{sentence}."
    details = [_test_words(result)]
    if n_runs > len(result.runs):
        details.append(f"among the best {len(result.runs)} of {n_runs:,} runs")
    return f"{sentence} ({', '.join(details)})."


def baseline_words(result: CompareResult) -> str:
    """How many runs are significantly better than the baseline, and how many worse."""
    ahead = result.difference[result.significant] > 0
    better, worse, others = int(ahead.sum()), int((~ahead).sum()), len(result.runs) - 1
    by, whom = f"by mean {result.measure}", str(result.baseline)
    if others == 1:
        return f"{standing(result).nearest} {_decided_words(better, worse)} {whom} {by}"
    among = f"of the {number_word(others)} other runs"
    if not better + worse:
        return f"None {among} is significantly different from {whom} {by}"
    start = f"{number_word(better) if better else 'none'} {among}".capitalize()
    below = f"{number_word(worse) if worse else 'none'} {_are(worse)} significantly worse"
    return f"{start} {_are(better)} significantly better than {whom} {by}, and {below}"


def _are(number: int) -> str:
    return "are" if number > 1 else "is"


def _decided_words(better: int, worse: int) -> str:
    if better + worse:
        return f"is significantly {'better' if better else 'worse'} than"
    return "is not significantly different from"


def best_means(result: CompareResult, ranks: Standing) -> list[str]:
    """The runs that share the best mean."""
    means = dict(zip(result.runs, result.mean.tolist(), strict=True))
    return [run for run in ranks.order if means[ranks.leader] - means[run] <= SAME_MEAN]


def _standing_words(result: CompareResult, ranks: Standing) -> str:
    means = dict(zip(result.runs, result.mean.tolist(), strict=True))
    leader, others, first = ranks.leader, len(ranks.order) - 1, best_means(result, ranks)
    best, by = f"({means[leader]:.4f}{_expected_words(result, leader)})", f"mean {result.measure}"
    if len(first) == others + 1:
        return f"{some(first)} have the same {by} {best}"
    if len(first) > 1:
        return f"{some(first)} share the best {by} {best}; {below_words(result, first)}"
    lead = f"{leader} leads by {by} {best}"
    if others == 1:
        second = f"{ranks.runner_up} ({means[ranks.runner_up]:.4f})"
        if len(ranks.group) == 1:
            return f"{leader} {best} is significantly better than {second} by {by}"
        return f"{lead}, but is not significantly better than {second}"
    if len(ranks.group) == 1:
        return f"{lead} and is significantly better than all {number_word(others)} others"
    return f"{lead}, but {_group_words(ranks, others)}"


def n_below(result: CompareResult, first: Sequence[str]) -> tuple[int, int]:
    """How many of how many others are significantly worse than every run in the first place."""
    places = {result.runs.index(run) for run in first}
    beaten: dict[int, int] = {}
    for pair in result.pairs[result.significant].tolist():
        for run, other in (pair, pair[::-1]):
            if other in places and run not in places:
                beaten[run] = beaten.get(run, 0) + 1
    worse = sum(count == len(first) for count in beaten.values())
    return worse, len(standing(result).order) - len(first)


def below_words(result: CompareResult, first: Sequence[str]) -> str:
    """The same in words."""
    worse, others = n_below(result, first)
    whom = "both" if len(first) == 2 else "all of them"
    if others == 1:
        return f"the remaining one is {'' if worse else 'not '}significantly worse than {whom}"
    if worse == others:
        return f"the {number_word(others)} others are significantly worse than {whom}"
    verb = "are" if worse > 1 else "is"
    start = f"{number_word(worse)} of the" if worse else "none of the"
    return f"{start} {number_word(others)} others {verb} significantly worse than {whom}"


def _expected_words(result: CompareResult, run: str) -> str:
    """What to expect of a run that was picked as the best, where that is noticeably less."""
    place = result.runs.index(run)
    expected, (low, high) = float(result.expected_mean[place]), result.mean_interval[place]
    if not result.mean[place] - expected > NOTICEABLE * (high - low):
        return ""
    return f"; about {expected:.3f} to be expected on new topics"


def _group_words(ranks: Standing, others: int) -> str:
    """Who is not significantly worse than the leader, and how many are left."""
    beaten = others + 1 - len(ranks.group)
    if not beaten:
        return f"is not significantly better than any of the {number_word(others)} others"
    rest = "the remaining one" if beaten == 1 else f"the other {number_word(beaten)}"
    whom = f"is not significantly better than {some(ranks.group[1:])}; it is"
    if ranks.is_tie:
        top = f"the top {number_word(len(ranks.group))} ({some(ranks.group)})"
        whom = f"{top} are statistically indistinguishable; {ranks.leader} is"
    return f"{whom} significantly better than {rest}"


def _test_words(result: CompareResult) -> str:
    several = len(result.pairs) > 1
    comparisons = f"over {counted(len(result.pairs), 'comparison')}"
    corrected = f", {CORRECTIONS[result.correction]} {comparisons}" if several else ""
    if result.test in SIMULTANEOUS:
        corrected = f" {comparisons}"
    test = f"paired t test{'s' if several else ''}" if result.test == "t" else TESTS[result.test]
    return f"{test}{corrected}, alpha {result.alpha:g}"


def leaderboard_sentences(result: CompareResult, n_runs: int) -> tuple[str, ...]:
    """Who leads, who is in the leader's group where that is large, and who could be first."""
    ranks = standing(result)
    than = "worse than" if result.baseline is None else "different from"
    group = (
        [f"Not significantly {than} {ranks.reference}: {some(ranks.rivals, 10)}."]
        if len(ranks.group) > MOST_NAMES + 2
        else []
    )
    return (verdict_words(result, n_runs), *group, result.first_words(10))


def topics_share(result: TopicsResult, a: str, b: str) -> float | None:
    """Chance that a is above b in a second experiment on as many other topics.

    Allowing for how the two were picked.
    """
    if a not in result.runs or b not in result.runs:
        return None
    place = result.pair(result.runs.index(a), result.runs.index(b))
    first = int(result.pairs[place, 0])
    ahead = result.variances.difference[place] * (1.0 if result.runs[first] == a else -1.0)
    reversed_in = float(result.expected_reversal[place])
    if math.isnan(reversed_in):
        return None
    return 1.0 - reversed_in if ahead >= 0.0 else reversed_in


def reversal_words(
    result: CompareResult, simulated: SimulateResult | None, topics: TopicsResult | None
) -> str:
    """How likely the runner-up comes out above the leader on other documents and other topics.

    With a baseline, of the baseline and the best other run, whichever is ahead. Documents are left
    out where they are judged by another measure.
    """
    ranks = standing(result)
    both = {ranks.reference, ranks.nearest}
    a, b = (run for run in ranks.order if run in both)
    if result.mean[result.runs.index(a)] - result.mean[result.runs.index(b)] <= SAME_MEAN:
        return ""  # there is no order to keep
    parts = []
    if simulated is not None and simulated.measure == result.measure:
        share = documents_share(simulated, a, b)
        if share is not None:
            likely = chance(1.0 - share, simulated.n_samples)
            parts.append(f"with probability {likely} in a second document collection")
    if topics is not None and (share := topics_share(topics, a, b)) is not None:
        picked = "" if len(ranks.order) == 2 else ", after correction for how the two were selected"
        parts.append(
            f"with probability {chance(1.0 - share)} in a second experiment on "
            f"{counted(topics.n_topics, 'other topic', form=',')}{picked}"
        )
    if not parts:
        return ""
    is_second = len(ranks.order) > 2 and b == ranks.runner_up
    who = f"{b}, the second," if is_second else b
    return f"{who} comes out above {a} {' and '.join(parts)}."


def topics_to_settle(result: TopicsResult, a: str, b: str) -> dict[str, Any]:
    """The row of two runs, with the topics that show their difference: one number for a page.

    The test's level is that of `topics`: alpha over all comparisons.
    """
    (row,) = result.rows([result.pair(result.runs.index(a), result.runs.index(b))])
    return row


def settle_words(result: CompareResult, topics: TopicsResult | None) -> str:
    """What it takes to separate the leader, or the baseline, from those that do not differ."""
    ranks = standing(result)
    rivals = [run for run in ranks.rivals if topics is not None and run in topics.runs]
    if topics is None or not rivals:
        return ""
    rows = {run: topics_to_settle(topics, ranks.reference, run) for run in rivals}
    first = rivals[0]
    if rows[first]["topics_needed_interval"][0] is None:
        why = "their means are equal"
        if rows[first]["flag"] == TOO_FEW:
            why = "they share too few to say anything"
        return f"No number of topics separates {ranks.reference} from {first}: {why}."
    start = (
        f"To separate {ranks.reference} from {first}, {topics.test_words()} requires "
        f"{needed_words(rows[first])}; there are {topics.n_topics:,}"
    )
    hardest = max(rivals, key=lambda run: _most_topics(rows[run]))
    if hardest == first or rows[hardest]["topics_needed_interval"][0] is None:
        return f"{start}."
    return f"{start}. To separate it from {hardest}, {needed_words(rows[hardest])}."


def _most_topics(row: Mapping[str, Any]) -> tuple[float, float]:
    """By the upper end, then by the lower one."""
    low, high = (math.inf if end is None else end for end in row["topics_needed_interval"])
    return high, low


def measures_words(scores: Scores) -> str:
    """Whether all measures put the same run first."""
    if len(scores.measures) < 2:
        return ""
    means = [adjusted_means(scores.matrix(measure)) for measure in scores.measures]
    firsts = [np.flatnonzero(np.nanmax(row) - row <= SAME_MEAN) for row in means]
    shared = sorted(set.intersection(*(set(runs.tolist()) for runs in firsts)))
    if shared:
        all_of = "both" if len(means) == 2 else f"all {number_word(len(means))}"
        verb = "is" if len(shared) == 1 else "are"
        return f"{some([scores.runs[run] for run in shared])} {verb} first by {all_of} measures."
    measures_of: dict[tuple[str, ...], list[str]] = {}
    for measure, runs in zip(scores.measures, firsts, strict=True):
        measures_of.setdefault(tuple(scores.runs[run] for run in runs), []).append(measure)
    parts = [f"{some(names)} by {listed(by)}" for names, by in measures_of.items()]
    leaders = next(iter(measures_of))
    parts[0] = f"{some(leaders)} {_are(len(leaders))} first by {listed(measures_of[leaders])}"
    return f"The measures disagree about the first place: {', '.join(parts)}."


def other_first_words(results: Mapping[str, Any]) -> str:
    """Who is first by simulated means or imputed scores, where that is not the leader."""
    measure, parts = results["compare"][0].measure, []
    simulated: SimulateResult | None = results.get("simulate")
    if simulated is not None and simulated.measure == measure and simulated.other_first:
        parts.append(f"{simulated.other_first} is first by simulated means")
    holes: HolesResult | None = results.get("holes")
    if holes is not None and holes.measure == measure and holes.n_samples:
        scores = np.array([(row.score, row.imputed) for row in holes.runs], float)
        run = other_first(*scores.T)
        if run is not None:
            parts.append(f"{holes.runs[run].run} is first with imputed judgments")
    return f"{listed(parts)}." if parts else ""


def files_words(result: CheckResult | None) -> str:
    """That something about the files would make results wrong."""
    findings = () if result is None else result.findings
    wrong = [finding for finding in findings if finding.level == "wrong"]
    if not wrong:
        return ""
    more = "" if len(wrong) == 1 else f" (and {number_word(len(wrong) - 1)} more)"
    return (
        f"Check the files first, as results may be wrong: {wrong[0].where}: {wrong[0].what}{more}."
    )


def settling_words(results: Mapping[str, Any]) -> str:
    """`settle_words` of a report, unless the two best are instances of one system."""
    if are_one_system(results):
        return ""
    return settle_words(results["compare"][0], results.get("topics"))


def are_one_system(results: Mapping[str, Any]) -> bool:
    """Whether the leader and the runner-up are instances of one system: no two to compare."""
    scores: Scores = results["evaluate"]
    if "instances" not in results:
        return False
    ranks = standing(results["compare"][0])
    of_run = dict(zip(scores.runs, scores.run_info.get("system", scores.runs), strict=True))
    return of_run[ranks.leader] == of_run[ranks.runner_up] != ""
