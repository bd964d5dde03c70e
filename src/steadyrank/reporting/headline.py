"""The answer of a report, in words: who leads, how surely, and what would settle it.

Each function takes results and returns sentences, or nothing where a study is missing. A chance
always says of what it is one: simulated document collections, or a second experiment on other
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
from steadyrank.stats.run_means import SAME_MEAN, adjusted_means
from steadyrank.studies.compare.result import CORRECTIONS, CompareResult
from steadyrank.studies.datasets.sentences import answer as dataset_sentences
from steadyrank.studies.instances.section import systems_words
from steadyrank.studies.instances.study import InstancesTable
from steadyrank.studies.simulate.section import documents_share
from steadyrank.studies.simulate.study import SimulateResult
from steadyrank.studies.topics.result import TopicsResult
from steadyrank.studies.topics.sentences import needed_words
from steadyrank.words import MOST_NAMES, chance, counted, listed, number_word, some

NOTICEABLE = 0.05
"""Share of an interval's width by which a mean must be too high for a sentence to say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Who leads, and who is not significantly worse than the leader."""

    order: tuple[str, ...]
    """Runs with a mean, best first."""
    group: tuple[str, ...]
    """The leader and those that are not significantly worse, best first."""
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


def standing(result: CompareResult) -> Standing:
    """Who leads by the corrected tests of all pairs."""
    order = [run for run in result.order if not math.isnan(result.mean[run])]
    apart = {frozenset(pair) for pair in result.pairs[result.significant].tolist()}
    leader = order[0]
    group = [run for run in order if run == leader or frozenset((run, leader)) not in apart]
    inside = any(frozenset((a, b)) in apart for i, a in enumerate(group) for b in group[:i])
    return Standing(
        order=tuple(result.runs[run] for run in order),
        group=tuple(result.runs[run] for run in group),
        is_tie=group == order[: len(group)] and not inside,
    )


def verdict_words(result: CompareResult, n_runs: int = 0, *, tested: bool = True) -> str:
    """Who leads, and how many of the others are significantly worse.

    `n_runs`: how many there are, where only the best were compared. With `tested`, also by which
    tests.
    """
    ranks = standing(result)
    sentence = _standing_words(result, ranks)
    if len(_firsts(result, ranks)) == len(ranks.order):
        return f"{sentence}."
    details = [_test_words(result)] if tested else []
    if n_runs > len(result.runs):
        details.append(f"among the best {len(result.runs)} of {n_runs:,} runs")
    return f"{sentence} ({', '.join(details)})." if details else f"{sentence}."


def _firsts(result: CompareResult, ranks: Standing) -> list[str]:
    """The runs that share the best mean."""
    means = dict(zip(result.runs, result.mean.tolist(), strict=True))
    return [run for run in ranks.order if means[ranks.leader] - means[run] <= SAME_MEAN]


def _standing_words(result: CompareResult, ranks: Standing) -> str:
    means = dict(zip(result.runs, result.mean.tolist(), strict=True))
    leader, others, first = ranks.leader, len(ranks.order) - 1, _firsts(result, ranks)
    best, by = f"({means[leader]:.4f}{_expected_words(result, leader)})", f"mean {result.measure}"
    if len(first) == others + 1:
        return f"{some(first)} have the same {by} {best}"
    if len(first) > 1:
        return f"{some(first)} share the best {by} {best}; {_below_words(result, first)}"
    lead = f"{leader} leads by {by} {best}"
    if others == 1:
        second = f"{ranks.runner_up} ({means[ranks.runner_up]:.4f})"
        if len(ranks.group) == 1:
            return f"{leader} {best} is significantly better than {second} by {by}"
        return f"{lead}, but is not significantly better than {second}"
    if len(ranks.group) == 1:
        return f"{lead} and is significantly better than all {number_word(others)} others"
    return f"{lead}, but {_group_words(ranks, others)}"


def _below_words(result: CompareResult, first: Sequence[str]) -> str:
    """How many of the others are significantly worse than every run in the first place."""
    places = {result.runs.index(run) for run in first}
    beaten: dict[int, int] = {}
    for pair in result.pairs[result.significant].tolist():
        for run, other in (pair, pair[::-1]):
            if other in places and run not in places:
                beaten[run] = beaten.get(run, 0) + 1
    worse = sum(count == len(first) for count in beaten.values())
    others = len(standing(result).order) - len(first)
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
    comparisons = counted(len(result.pairs), "comparison")
    correction = CORRECTIONS[result.correction]
    corrected = "" if len(result.pairs) == 1 else f", {correction} over {comparisons}"
    return f"paired t test{'s' if len(result.pairs) > 1 else ''}{corrected}, alpha {result.alpha:g}"


def first_words(result: CompareResult) -> str:
    """Which runs could be the best, all claims taken together."""
    firsts = [result.runs[run] for run in result.order if result.could_be_first[run]]
    sure = f"With {1 - result.alpha:.0%} confidence" if result.is_familywise else "By these tests"
    if len(firsts) == len(result.runs):
        return f"{sure} nothing more can be said of the best run: any could be first."
    if len(firsts) == 1:
        return f"{sure} {firsts[0]} is the best of these runs."
    return f"{sure} the best run is one of {number_word(len(firsts))}: {some(firsts, 10)}."


def leaderboard_sentences(result: CompareResult, n_runs: int) -> tuple[str, ...]:
    """Who leads, who is in the leader's group where that is large, and who could be first."""
    ranks = standing(result)
    group = (
        [f"Not significantly worse than {ranks.leader}: {some(ranks.group[1:], 10)}."]
        if len(ranks.group) > MOST_NAMES + 2
        else []
    )
    return (verdict_words(result, n_runs), *group, first_words(result))


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


def steadiness_words(
    result: CompareResult, simulated: SimulateResult | None, topics: TopicsResult | None
) -> str:
    """How surely the leader stays above the runner-up, on other documents and on other topics.

    Simulated collections are left out where they are judged by another measure.
    """
    ranks = standing(result)
    a, b = ranks.leader, ranks.runner_up
    if result.mean[result.runs.index(a)] - result.mean[result.runs.index(b)] <= SAME_MEAN:
        return ""  # there is no order to keep
    parts = []
    if simulated is not None and simulated.measure == result.measure:
        share = documents_share(simulated, a, b)
        if share is not None:
            parts.append(
                f"in {chance(share)} of {simulated.n_samples:,} simulated document collections"
            )
    if topics is not None and (share := topics_share(topics, a, b)) is not None:
        picked = (
            "" if len(ranks.order) == 2 else ", allowing for its having been picked as the best"
        )
        parts.append(
            f"with probability {chance(share)} in a second experiment on "
            f"{counted(topics.n_topics, 'other topic', form=',')}{picked}"
        )
    if not parts:
        return ""
    who = b if len(ranks.order) == 2 else f"{b}, the second,"
    return f"{a} stays above {who} {' and '.join(parts)}."


def topics_to_settle(result: TopicsResult, a: str, b: str) -> dict[str, Any]:
    """The row of two runs, with the topics that show their difference: one number for a page.

    The test's level is that of `topics`: alpha over all comparisons.
    """
    (row,) = result.rows([result.pair(result.runs.index(a), result.runs.index(b))])
    return row


def settle_words(result: CompareResult, topics: TopicsResult | None) -> str:
    """What it takes to separate the leader from those that it is not told apart from."""
    ranks = standing(result)
    rivals = [run for run in ranks.group[1:] if topics is not None and run in topics.runs]
    if topics is None or not rivals:
        return ""
    rows = {run: topics_to_settle(topics, ranks.leader, run) for run in rivals}
    first = rivals[0]
    if rows[first]["topics_needed_interval"][0] is None:
        why = "their means are equal"
        if rows[first]["flag"] == TOO_FEW:
            why = "they share too few to say anything"
        return f"No number of topics separates {ranks.leader} from {first}: {why}."
    start = (
        f"To separate {ranks.leader} from {first}, {topics.test_words()} requires "
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
    best = [scores.runs[runs[0]] for runs in firsts]
    by_run: dict[str, list[str]] = {}
    for measure, run in zip(scores.measures, best, strict=True):
        by_run.setdefault(run, []).append(measure)
    others = [f"{run} by {listed(names)}" for run, names in by_run.items() if run != best[0]]
    verb = "is" if len(others) == 1 else "are"
    return (
        f"The measures disagree about the first place: {best[0]} has it by "
        f"{listed(by_run[best[0]])}, but first {verb} {listed(others)}."
    )


def files_words(result: CheckResult | None) -> str:
    """That something about the files would make results wrong."""
    findings = () if result is None else result.findings
    wrong = [finding for finding in findings if finding.level == "wrong"]
    if not wrong:
        return ""
    more = "" if len(wrong) == 1 else f" (and {number_word(len(wrong) - 1)} more)"
    return (
        f"Look at the files first, results may be wrong: {wrong[0].where}: {wrong[0].what}{more}."
    )


def lead_sentences(results: Mapping[str, Any]) -> tuple[str, ...]:
    """The answer of a report, the most important sentence first; systems before single runs."""
    if "datasets" in results:
        return tuple(dataset_sentences(results["datasets"]))
    main: CompareResult = results["compare"][0]
    scores: Scores = results["evaluate"]
    table: InstancesTable | None = results.get("instances")
    sentences = [files_words(results.get("check")), main.gaps()]
    if table is not None:
        sentences.append(systems_words(table))
    start = "" if table is None else "Of single runs, "
    sentences.append(start + verdict_words(main, len(scores.runs), tested=False))
    if not _are_one_system(results):
        sentences.append(steadiness_words(main, results.get("simulate"), results.get("topics")))
    sentences += [settling_words(results), measures_words(scores)]
    return tuple(sentence for sentence in sentences if sentence)


def settling_words(results: Mapping[str, Any]) -> str:
    """`settle_words` of a report, unless the two best are instances of one system."""
    if _are_one_system(results):
        return ""
    return settle_words(results["compare"][0], results.get("topics"))


def _are_one_system(results: Mapping[str, Any]) -> bool:
    """Whether the leader and the runner-up are instances of one system: no two to compare."""
    scores: Scores = results["evaluate"]
    if "instances" not in results:
        return False
    ranks = standing(results["compare"][0])
    of_run = dict(zip(scores.runs, scores.run_info.get("system", scores.runs), strict=True))
    return of_run[ranks.leader] == of_run[ranks.runner_up] != ""
