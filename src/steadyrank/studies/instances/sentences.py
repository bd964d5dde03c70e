"""What a comparison of systems says, in plain words, where its figures could be misread.

Above all: "not significant" is not "equal". Whether two systems are equal to within a margin is a
question of its own, and where it is undecided, the words say what would settle it.
"""

from __future__ import annotations

import math

import numpy as np

from steadyrank.stats.instances.power import Claim
from steadyrank.stats.mixed.pooling import FEW_INSTANCES
from steadyrank.stats.pairs.result import NO_DIFFERENCE, ZERO_VARIANCE
from steadyrank.studies.instances.margins import Settling
from steadyrank.studies.instances.result import InstancesResult, InstancesTable
from steadyrank.words import counted, pvalue_words

PARTS = {"system_topic": "system × topic", "instance": "instances", "residual": "residual"}


def sentences(result: InstancesResult, digits: int = 4) -> list[str]:
    """A comparison in words: the difference, the margin, the variances, and what to beware of."""
    said = [
        difference_words(result, digits),
        equivalence_words(result),
        hpd_words(result, digits),
        variance_words(result),
        _average_words(result),
        scope_words(result),
    ]
    return [sentence for sentence in said if sentence]


def difference_words(result: InstancesResult, digits: int = 4) -> str:
    """Who is better, or that it was not shown, which is not the same as equal."""
    a, b = result.a, result.b
    if result.flag == NO_DIFFERENCE:
        return f"{a} and {b} have the same scores."
    if result.flag == ZERO_VARIANCE:
        return f"{a} − {b} is {result.difference:+.{digits}f} throughout."
    if math.isnan(result.headline_pvalue):
        return f"Whether {a} and {b} differ cannot be tested: there are too few scores."
    low, high = (f"{limit:+.{digits}f}" for limit in result.interval)
    of_several = _family(result)
    p = f"{'adjusted ' if of_several else ''}{pvalue_words(result.pvalue_adjusted)}{of_several}"
    if result.significant:
        kind = "better" if result.difference > 0.0 else "worse"
        interval = f"{1 - result.alpha:.0%} interval {low} to {high}, "
        if result.interval[0] <= 0.0 <= result.interval[1]:
            # Holm's steps went further than the interval that holds for all comparisons at once.
            interval = ""
        return f"{a} is {kind} than {b} by {abs(result.difference):.{digits}f} ({interval}{p})."
    not_shown = f"No difference between {a} and {b} was shown ({p})"
    if result.equivalence.equivalent:
        return f"{not_shown}."
    return (
        f"{not_shown}, but that does not make them equal: these data are compatible with any "
        f"difference from {low} to {high}."
    )


def _family(result: InstancesResult) -> str:
    """Of how many comparisons a statement holds at once."""
    if result.family is None or result.family.size == 1:
        return ""
    return f" over {result.family.size} comparisons"


def equivalence_words(result: InstancesResult) -> str:
    """What the one-sided tests say about the margin, or what would settle it."""
    test, a, b = result.equivalence, result.a, result.b
    sure = f"with {1 - test.alpha:.0%} confidence{_family(result)}"
    if math.isnan(test.pvalue_equivalence):
        return ""
    if test.equivalent:
        return f"{a} is within {test.delta:g} of {b} {sure}."
    if result.beyond_margin > 0:
        return f"{a} is better than {b} by {test.delta:g} or more {sure}."
    if result.beyond_margin < 0:
        return f"{a} is worse than {b} by more than {test.delta:g} {sure}."
    if test.non_inferior:
        more = f"whether it is within {test.delta:g} is undecided{_remedy(result, 'equivalent')}"
        return f"{a} is not worse than {b} by {test.delta:g} {sure}; {more}."
    asked = f"Whether {a} is worse than {b} by {test.delta:g}"
    return f"{asked} is undecided{_remedy(result, 'non_inferior')}."


def _remedy(result: InstancesResult, claim: Claim) -> str:
    """What would settle a claim, and under which assumption."""
    if claim not in result.settling:
        return ""
    settling = result.settling[claim]
    caveat = f"(with {settling.power:.0%} power, if difference and variances are as estimated)"
    return f": {settling_words(settling, result)} {caveat}"


def settling_words(settling: Settling, result: InstancesResult) -> str:
    """How many more topics or instances settle a claim."""
    topics = _count(settling.topics, "topic")
    if result.one_instance:
        return f"{topics or 'no number of topics'} would settle it for these two runs"
    factor = next(iter(result.factor_variance), None)
    noun = "instance" if factor is None else f"draw of {factor}"
    each = " of each" if result.design == "nested" else ""
    more = _count(settling.instances, noun, each)
    others = "more instances" if factor is None else f"more draws of {factor}"
    if topics and more:
        return f"{topics} would settle it, or {more}"
    if topics:
        return f"{topics} would settle it, {others} would not"
    if more:
        return f"{more} would settle it, more topics would not"
    both = "only more of both, as --plan finds them"
    return f"neither more topics nor {others} alone would settle it, {both}"


def _count(number: int | None, noun: str, each: str = "") -> str:
    if number is None:
        return ""
    first, *rest = noun.split(" ", 1)
    several = " ".join([f"{first}s", *rest])
    return counted(number, f"more {noun}", f"more {several}") + each


def hpd_words(result: InstancesResult, digits: int = 4) -> str:
    """What the shortest interval of the posterior says about the same margin."""
    if result.posterior is None or result.hpd is None or math.isnan(result.hpd[0]):
        return ""
    a, b, delta = result.a, result.b, result.equivalence.delta
    claim = {
        "better": f"{a} is better than {b}",
        "not worse": f"{a} is not worse than {b} by {delta:g}",
        "worse": f"{a} is worse than {b} by more than {delta:g}",
        "undecided": "the margin is not settled",
    }[result.hpd_verdict or "undecided"]
    low, high = result.hpd
    alone = " of this comparison alone" if _family(result) else ""
    return (
        f"By the posterior's shortest {result.posterior.confidence:.0%} interval{alone}, "
        f"{low:+.{digits}f} to {high:+.{digits}f}, {claim}."
    )


def variance_words(result: InstancesResult) -> str:
    """Which part of the variance of differences is due to what.

    The topics' own difficulty cancels from a difference, and is left out.
    """
    shares = result.variance_share
    parts = [
        f"{PARTS[key]} {_share(shares[key])}{_factors(result, key)}"
        for key in PARTS
        if key in shares
    ]
    if len(parts) < 2:
        return ""
    text = f"The differences vary by {', '.join(parts)}."
    span = result.variance_interval.get("instance")
    fewest = min(size for size in result.n_instances.values() if size > 1)
    if fewest < FEW_INSTANCES and span is not None:
        text += (
            f" {fewest} instances give little information on how much instances vary: their "
            f"standard deviation is between {_sd(span[0])} and {_sd(span[1])}."
        )
    return text


def _factors(result: InstancesResult, key: str) -> str:
    total = sum(value for k, value in result.variance.items() if k != "topic" and value > 0.0)
    if key != "instance" or not result.factor_variance or not total > 0.0:
        return ""
    shown = ", ".join(
        f"{name} {'unknown' if math.isnan(value) else _share(value / total)}"
        for name, value in result.factor_variance.items()
    )
    return f" ({shown})"


def _share(value: float) -> str:
    return "<1%" if 0.0 < value < 0.005 else f"{value:.0%}"


def _sd(variance: float) -> str:
    return "any number" if math.isinf(variance) else f"{math.sqrt(variance):.4f}"


def inflation_words(result: InstancesResult) -> str:
    """By how much tests that average instances understate the variance of the difference."""
    if result.inflation is None:
        return ""
    low, high = result.inflation.interval
    known = not math.isnan(low)
    span = f" ({1 - result.alpha:.0%} interval {low:.2f} to {high:.2f})" if known else ""
    return (
        f"the variance of {result.a} − {result.b} is {result.inflation.factor:.2f} times what it "
        f"is taken for{span}"
    )


def _average_words(result: InstancesResult) -> str:
    if result.design == "nested" or result.inflation is None:
        return ""
    return f"By mixed_paper and bootstrap, which average instances, {inflation_words(result)}."


def scope_words(result: InstancesResult) -> str:
    """Which topics and instances the test is about."""
    if result.one_instance:
        return (
            "Both systems have one run: this is the paired t test, which is about these two "
            "instances alone."
        )
    if result.design == "nested":
        return ""
    single = result.b if result.n_instances["b"] == 1 else result.a
    return f"{single} has one run and counts as deterministic."


def table_sentences(table: InstancesTable) -> list[str]:
    """Many comparisons in words: how many differ, and the smallest setting that will do."""
    equal = np.array([comparison.equivalence.equivalent for comparison in table.comparisons])
    said = [_decided_words(int(table.significant.sum()), int(equal.sum()), table)]
    if not (table.significant | equal).all():
        said.append(
            "The remaining comparisons are inconclusive: that no difference was shown does "
            "not mean that there is none."
        )
    if table.settings is not None:
        said.append(sweep_words(table))
    return said


def _decided_words(n_different: int, n_equal: int, table: InstancesTable) -> str:
    """How many pairs differ, and how many are shown to differ by less than the margin."""
    if len(table.comparisons) == 1:
        differ, within = "differ" if n_different else "do not differ", "" if n_equal else "not "
        return (
            f"The two systems {differ} significantly; they are {within}shown to be within "
            f"{table.delta:g}."
        )
    return (
        f"{n_different or 'None'} of {counted(len(table.comparisons), 'pair')} "
        f"{'differs' if n_different < 2 else 'differ'} significantly; {n_equal or 'none'} "
        f"{'is' if n_equal < 2 else 'are'} shown to be within {table.delta:g}."
    )


def sweep_words(table: InstancesTable) -> str:
    """The smallest setting of a sweep that is not worse than the baseline by the margin."""
    passing = [
        setting
        for setting, comparison in zip(table.settings or (), table.comparisons, strict=True)
        if comparison.equivalence.pvalue_non_inferiority < table.alpha
    ]
    claim = f"not worse than {table.baseline} by {table.delta:g}"
    smallest = table.smallest_non_inferior
    if smallest is None and not passing:
        return f"No {table.sweep} is shown to be {claim}."
    how = "each by itself" if table.mode == "paper" else "from the largest down"
    if smallest is None:
        text = f"Tested {how}, no {table.sweep} is shown to be {claim}"
    else:
        text = (
            f"The smallest {table.sweep} that is {claim} is {smallest} "
            f"({1 - table.alpha:.0%} confidence, tested {how})"
        )
    if passing[0] != smallest:
        text += f"; {passing[0]} passes by itself, but a larger one does not"
    return f"{text}."
