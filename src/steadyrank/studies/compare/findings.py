"""Sentences of `compare`: who leads, how many could be first, and what weakens the decisions.

Rows are runs, or systems with several runs each. With a baseline the verdict is about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from steadyrank.present.cells import signed, signed_interval
from steadyrank.present.view import Assumption, Finding, weakest
from steadyrank.stats.facets.pairs import CARRY_LITTLE, FEWEST_JUDGES, MORE_JUDGES
from steadyrank.stats.pairs.result import TOO_FEW, ZERO_VARIANCE
from steadyrank.stats.planning import design
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.stats.segments import FEWEST
from steadyrank.studies.compare.result import CompareResult, CompareTable
from steadyrank.studies.compare.wording import (
    by_judges,
    correction_words,
    gaps_words,
    rank_words,
    test_words,
    topics_words,
)
from steadyrank.words import (
    best_words,
    by_number,
    counted,
    enough_digits,
    listed,
    number_word,
    pvalue_words,
    some,
    typeset,
)

Results = Sequence[CompareResult]
"""One result per measure, beginning with the measure that ranks the runs."""

MOST_NAMED = 2
"""Number of runs that a finding names."""

MANY_COMPARISONS = 10
"""Smallest number of comparisons at which t tests of all pairs exceeded their level on real scores
with equal means."""


def findings(results: Results) -> list[Finding]:
    """Return the sentences about the measure that ranks the runs."""
    result, rests_on = results[0], assumption(results)
    first_ones = (
        segments(result),
        verdict(result) if result.baseline is None else significant(result),
        lead(result),
        next(gaps(result), None),
        None if rests_on is None else rests_on.finding,
        significant(result) if result.baseline is None else None,
    )
    return [
        *filter(None, first_ones),
        *lead_of_all(result),
        *(one for one in cautions(result) if one.id != "compare.gaps"),
        *fragile(result),
        *_detectable(result),
    ]


def ranked(result: CompareResult) -> list[int]:
    """Return the positions of the rows that have a mean, best first."""
    return [run for run in result.order if not math.isnan(result.mean[run])]


def verdict(result: CompareResult, n_runs: int = 0, study: str = "compare") -> Finding:
    """Say who leads and how many could be first; with a baseline, how many differ from it."""
    if result.baseline is not None:
        found = significant(result)
        text = found.text.replace(f" by mean {result.measure}", "", 1)
        return replace(found, id=f"{study}.significant", text=text)
    order = ranked(result)
    best = [run for run in order if abs(result.mean[order[0]] - result.mean[run]) <= SAME_MEAN]
    could = [run for run in order if result.could_be_first[run]]
    values = {
        "leaders": [result.runs[run] for run in best],
        "could_be_first": len(could),
        "runs": [result.runs[run] for run in could],
        "n_rows": len(order),
        "measure": result.measure,
    }
    text = _verdict_words(result, order, best, len(could), n_runs)
    return Finding(f"{study}.verdict", f"{text}.", values)


def _verdict_words(
    result: CompareResult, order: Sequence[int], best: Sequence[int], n_first: int, n_runs: int
) -> str:
    names, by = [result.runs[run] for run in best], by_judges(result)
    n, rows = len(order), f"{result.row_word}s"
    many = f"{n:,} {rows}"
    if n_runs > len(result.runs):
        many = f"best {len(result.runs):,} of {n_runs:,} {rows}"
    if len(best) == n:
        who = listed(names) if n <= MOST_NAMED else f"All {number_word(n)} {rows}"
        return f"{who} have the same mean {result.measure}"
    sure = f"with {1 - result.alpha:.0%} confidence" if result.is_familywise else "by these tests"
    of = "of the" if n_runs > len(result.runs) else "of"
    first = f"{n_first:,} {of} {many} could be first"
    if len(best) > 1:
        some = listed(names) if len(best) <= MOST_NAMED else number_word(len(best)).capitalize()
        some = some if len(best) <= MOST_NAMED else f"{some} {rows}"
        only = f"{sure} no other could be first"
        return f"{some} share the best mean; {first if n_first > len(best) else only}"
    if n == 2:
        rival = result.runs[order[1]]
        if result.significant[result.pair_of(order[0], order[1])]:
            return f"{names[0]} is significantly better than {rival}{by}"
        return f"{names[0]} leads{by}, but is not significantly better than {rival}"
    if n_first == 1:
        return f"{names[0]} leads{by}; {sure} no other of the {many} could be first"
    any_of = f"any of the {many} could be first"
    return f"{names[0]} leads{by}, but {any_of if n_first == n else first}"


def lead(result: CompareResult, study: str = "compare") -> Finding | None:
    """Return the means and the difference of the first two, or of the baseline and the best."""
    order = ranked(result)
    if len(order) < 2:
        return None
    if result.lead is not None:
        first, second, gap, limits, is_significant, place = result.lead
    else:
        first = result.runs.index(str(result.baseline))
        if first not in order:
            return None
        second = next(run for run in order if run != first)
        first, second = sorted((first, second), key=order.index)
        place = result.pair_of(first, second)
        sign = 1 if int(result.pairs[place, 0]) == first else -1
        gap = sign * float(result.difference[place])
        limits = sign * result.interval[place][::sign]
        is_significant = bool(result.significant[place])
    names = result.runs[first], result.runs[second]
    digits = enough_digits([result.mean[first], result.mean[second]], 3)
    form = f".{digits}f"
    means = f"{names[0]} {result.mean[first]:{form}}, {names[1]} {result.mean[second]:{form}}"
    values = {"a": names[0], "b": names[1], "difference": gap}
    if result.flag[place] == TOO_FEW:
        return Finding(f"{study}.lead", f"{means}; they share too few topics to compare.", values)
    # The tested difference is on the topics that both have; means may be of more.
    is_shared = abs(gap - (result.mean[first] - result.mean[second])) > SAME_MEAN
    on = f"; shared {'judges' if result.judges else 'topics'}" if is_shared else ":"
    ends = limits.tolist()
    by = typeset(f"{gap:+{form}}")
    text = f"{means}{on} {by} {signed_interval(ends, f'+{form}').text}."
    values |= {"interval": ends, "significant": is_significant}
    return Finding(f"{study}.lead", text, values)


def significant(result: CompareResult) -> Finding:
    """Say how many pairs differ significantly; with a baseline, how many are better or worse."""
    n_pairs, n = len(result.pairs), int(result.significant.sum())
    alone = int((np.nan_to_num(result.pvalue, nan=1.0) <= result.alpha).sum())
    values = {"n_significant": n, "n_pairs": n_pairs, "n_uncorrected": alone}
    by, rows = f"significantly by mean {result.measure}{by_judges(result)}", f"{result.row_word}s"
    if result.baseline is not None:
        better = int((result.gain[result.significant] > 0).sum())
        values |= {"n_better": better, "n_worse": n - better}
        text = _against_words(result, better, n - better)
    elif n_pairs == 1:
        text = f"The two {rows} {'differ' if n else 'do not differ'} {by}"
    elif not n:
        text = f"None of the {n_pairs:,} pairs differs {by}"
    else:
        verb = "differs" if n == 1 else "differ"
        text = f"{n:,} of {n_pairs:,} pairs ({result.significant_share:.0%}) {verb} {by}"
    more = f"; uncorrected, {alone:,}" if result.baseline is None and alone != n else ""
    return Finding("compare.significant", f"{text}{more}.", values)


def _against_words(result: CompareResult, better: int, worse: int) -> str:
    """Say how many rows are better than the baseline, and how many are worse."""
    by, n = f"by mean {result.measure}{by_judges(result)}", len(result.pairs)
    if n == 1:
        name = result.runs[result.pairs[0, 0]]
        decided = "is not significantly different from"
        if better + worse:
            decided = f"is significantly {'better' if better else 'worse'} than"
        return f"{name} {decided} {result.baseline} {by}"
    others = f"of {n:,} other {result.row_word}s"
    if not better + worse:
        return f"None {others} is significantly different from {result.baseline} {by}"
    ahead = f"{better:,}" if better else "None"
    behind = f"{worse:,} significantly worse" if worse else "none is significantly worse"
    are = "are" if better > 1 else "is"
    return f"{ahead} {others} {are} significantly better than {result.baseline} {by}, {behind}"


def first(result: CompareResult, most: int = MOST_NAMED) -> Finding:
    """Say which runs could be the best, with at most `most` names."""
    sure = f"With {1 - result.alpha:.0%} confidence" if result.is_familywise else "By these tests"
    if by_judges(result):
        sure += f",{by_judges(result)},"
    names = [result.runs[run] for run in result.order if result.could_be_first[run]]
    text = best_words(names, len(result.runs), sure, most=most, noun=result.row_word)
    return Finding("compare.first", text, {"runs": names})


def lead_of_all(result: CompareResult) -> Iterator[Finding]:
    """Say where the best two differ by the second's comparisons, but not among all pairs."""
    lead = result.lead
    if lead is None or not lead.significant or result.significant[lead.pair]:
        return
    ahead, behind = result.runs[lead.first], result.runs[lead.second]
    among = counted(result.n_comparisons, "comparison", form=",")
    text = f"Among all {among} {ahead} and {behind} do not differ significantly."
    yield Finding("compare.lead_of_all", text, {"a": ahead, "b": behind})


def cautions(result: CompareResult) -> Iterator[Finding]:
    """Return what weakens the decisions."""
    yield from judged(result)
    yield from gaps(result)
    yield from _audited(result)
    if constant := int(((result.flag == ZERO_VARIANCE) & result.significant).sum()):
        differ = counted(constant, "pair differs", "pairs differ")
        text = f"{differ} by the same amount on every topic, which is significant however small."
        yield Finding("compare.constant", text, {"n_pairs": constant})
    if not result.is_familywise and result.baseline is None:
        yield Finding("compare.ranks", f"Rank sets hold {rank_words(result)}.")
    # Max-t guards against skewness, and tests against a baseline hold without a guard.
    is_holm = result.test == "t" and result.correction in ("holm", "bonferroni")
    if is_holm and result.baseline is None and result.n_comparisons >= MANY_COMPARISONS:
        text = "Skewed differences make t tests of many pairs exceed alpha: see --audit."
        yield Finding("compare.skewness", text, {"n_comparisons": result.n_comparisons})


def gaps(result: CompareResult) -> Iterator[Finding]:
    """Say how many scores are missing, and how ranks and tests treat them."""
    if result.n_missing:
        yield Finding("compare.gaps", gaps_words(result), {"n_missing": result.n_missing})


def _audited(result: CompareResult) -> Iterator[Finding]:
    """Say how often such tests are wrong on these scores, where that is more often than alpha."""
    audit = result.audit
    if audit is None:
        return
    wrong, tied = audit.observed, audit.tiers_equal
    if wrong.exceeds(result.alpha):
        text = (
            f"Of {counted(round(wrong.claims), 'claim', form=',')} like these, about "
            f"{wrong.false_claims:.2f} point the wrong way."
        )
        yield Finding("compare.audit", text, asdict(audit))
    elif tied is not None and tied.exceeds(result.alpha):
        text = (
            "If each tier's runs were equally good, such tests would still report a difference in "
            f"{tied.share:.0%} of experiments."
        )
        yield Finding("compare.audit", text, asdict(audit))


def judged(result: CompareResult) -> Iterator[Finding]:
    """Say which pairs are compared by only some of the judges."""
    judging = result.judging
    alone = np.flatnonzero(judging.shared == 1)
    if len(alone) and len(judging.names) > 1:
        a, b = (result.runs[run] for run in result.pairs[alone[0]])
        more = counted(len(alone) - 1, "other pair")
        text = f"{a} and {b} share one judge: they are compared by {judging.alone} alone"
        text += f" (as are {more})." if len(alone) > 1 else "."
        yield Finding("compare.one_judge", text, {"pairs": len(alone)})
    if judging.lacking:
        lacking = {name: None for own in judging.lacking.values() for name in own}
        lacks = by_number(len(judging.lacking), "lacks", "lack")
        who = f"{some(list(judging.lacking), 2)} {lacks} grades by {some(list(lacking), 2)}"
        text = f"{who}: each pair is compared by the judges that graded both."
        yield Finding("compare.lacking_judges", text, dict(judging.lacking))


def fragile(result: CompareResult) -> Iterator[Finding]:
    """Say how few topics decide who is first."""
    found = result.leader_fragility()
    if found is not None:
        total = result.n_clusters or result.n_topics
        text = f"Without {found.n:,} of the {total:,} {result.units}, {found.rival} would catch up."
        yield Finding("compare.fragility", text, found._asdict() | {"of": total})


def _detectable(result: CompareResult) -> Iterator[Finding]:
    """Say which difference these topics can show, and the largest that is not significant."""
    smallest, missed = detectable(result), largest_missed(result)
    if 0.0 < smallest < math.inf:  # 0 of runs whose difference never varies
        which = ", mean pair" if len(result.pairs) > 1 else ""
        more = f"; largest not significant: {missed:.3f}" if missed > 0.0 else ""
        among = counted(result.n_comparisons, "comparison", form=",")
        text = f"Detectable difference (power 0.8, {among}{which}): {smallest:.3f}{more}."
        values = {"difference": smallest, "power": 0.8, "largest_missed": missed}
        yield Finding("compare.detectable", text, values)


def detectable(result: CompareResult) -> float:
    """Return the difference that the mean pair's test detects, as in `plan`; NaN if unknown."""
    return design.detectable(result.smallest_difference)


def largest_missed(result: CompareResult) -> float:
    """Return the largest difference that is not significant."""
    missed = np.abs(result.difference[~result.significant])
    return float(np.nanmax(missed, initial=0.0))


def segments(result: CompareResult) -> Finding | None:
    """Say whether the runs' leads depend on the segment, and where most."""
    if result.segments is None:
        return None
    test, by, tested = result.segments.interaction, result.segments.by, result.segments.tested
    values = {"by": by, "pvalue": test.pvalue_of_any, "segments": list(tested)}
    how = f"(segment × run, {counted(len(tested), 'segment')}: {pvalue_words(test.pvalue_of_any)})"
    if math.isnan(test.pvalue_of_any):
        text = (
            f"Whether differences depend on {by} cannot be tested: fewer than two segments have "
            f"{FEWEST} {result.units}."
        )
    elif test.pvalue_of_any > result.alpha:
        text = f"No dependence of the differences on {by} is shown {how}."
    else:
        row = min(
            result.segments.interaction_rows(),
            key=lambda row: (row["pvalue_adjusted"], -abs(row["statistic"])),
        )
        values |= {key: row[key] for key in ("run", "segment", "deviation")}
        by_how_much = signed(row["deviation"], "+z.4f").text
        text = (
            f"The differences depend on {by} {how}: most for {row['run']} in {row['segment']}, "
            f"{by_how_much}."
        )
    return Finding("compare.segments", text, values)


ANOTHER_LEADS, NOTHING_KNOWN, LEAST = 1.5, 3.0, 0.5
"""Weights of assumptions: another row would lead; other judges are unknown; the assumption changes
little."""

LARGER_ERROR = 1.2
"""Above this ratio of the error to the error over topics, judges dominate the interval's width."""


def _judges(results: Results) -> Assumption | None:
    """Say what is unknown about other judges, or what a sample of judges adds to the errors."""
    judging = results[0].judging
    names, ratio, n = judging.names, judging.ratio, len(judging.names)
    values: dict[str, Any] = {"judges": list(names), "fixed": judging.fixed, "ratio": ratio}
    weight = NOTHING_KNOWN
    if not n:
        return None
    if n == 1:
        text = f"Whether other judges agree with {names[0]} is unknown: {MORE_JUDGES}."
    elif judging.fixed:
        few = f": {FEWEST_JUDGES} or more count as a sample" if n < FEWEST_JUDGES else ""
        text = f"The verdict is about these {number_word(n)} judges, {some(names, 3)}{few}."
    else:
        text = f"The {n} judges count as a sample"
        if n < CARRY_LITTLE:
            text = f"{number_word(n).capitalize()} judges are a small sample"
        if not math.isnan(ratio):
            text += f": errors are {ratio:.1f} times those over topics"
        if ratio >= LARGER_ERROR:
            values |= {"n_judges": 2 * n, "narrower": 1.0 - judging.narrow}
            text += f"; {2 * n} would narrow intervals by {1.0 - judging.narrow:.0%}"
        text += "."
        weight = ratio if ratio >= LARGER_ERROR else LEAST
    return Assumption(Finding("compare.judges", text, values), weight)


def _one_measure(results: Results) -> Assumption | None:
    """Say by which other measure another row leads."""
    first, *others = results
    leader = first.runs[first.order[0]]
    for other in others:
        known = other.mean[other.runs.index(leader)] if leader in other.runs else -float("inf")
        best = other.order[0]
        if abs(other.mean[best] - known) > SAME_MEAN:
            name = other.runs[best]
            text = f"By mean {other.measure} {name} leads."
            values = {"measure": other.measure, "leader": name}
            return Assumption(Finding("compare.other_measure", text, values), ANOTHER_LEADS)
    return None


def assumption(results: Results) -> Assumption | None:
    """Return what would change the verdict most; with a baseline only the judges count."""
    if results[0].baseline is not None:
        return _judges(results)
    return weakest(entry(results) for entry in (_judges, _one_measure))


CITED = {
    "maxt": "Romano and Wolf, 2005; Mogstad et al., 2024",
    "holm": "Holm, 1979",
    "bh": "Benjamini and Hochberg, 1995",
}
"""References for the corrections, as a paper cites them."""


def results_of(result: CompareResult | CompareTable) -> Results:
    """Return one result per measure."""
    return (result,) if isinstance(result, CompareResult) else result.results


def describe(results: Results | CompareResult | CompareTable) -> str:
    """Return the paragraph for a paper."""
    if isinstance(results, (CompareResult, CompareTable)):
        results = results_of(results)
    result = results[0]
    cited = CITED.get(result.correction, "") if result.is_corrected else ""
    per_measure = " per measure" if len(results) > 1 else ""
    method = f"{test_words(result)}, {correction_words(result, per_measure)}"
    by = listed([one.measure for one in results])
    judges = by_judges(result) or f" by {counted(len(result.judges), 'judge')}"
    graded = f", graded{judges}" if result.judges else ""
    said = (
        f"We compared {counted(len(result.runs), result.row_word)} by mean {by} on "
        f"{topics_words(result)}{graded}: {method}{f' ({cited})' if cited else ''}, "
        f"alpha {result.alpha:g}."
    )
    return " ".join([said, *map(_described, results)])


def _described(result: CompareResult) -> str:
    leader = result.order[0]
    found = [
        f"{result.runs[leader]} has the {result.best_words} {result.measure} "
        f"({result.mean[leader]:.4f}).",
        "" if result.lead is None else _lead_words(result),
        "" if result.baseline is not None else first(result).text,
        significant(result).text,
    ]
    return " ".join(filter(None, found))


def _lead_words(result: CompareResult) -> str:
    """Return by how much the best run leads the next, with interval, p and effect size."""
    assert result.lead is not None
    second, pair = result.lead.second, result.lead.pair
    p, d = result.pvalue_adjusted[pair], abs(result.effects.paired_d[pair])
    ends = signed_interval(result.lead.interval.tolist(), "+z.4f").text
    sure = f"{1 - result.alpha:.0%} interval {ends}"
    adjusted = "adjusted " if result.is_corrected else ""
    lead = typeset(f"{result.lead.difference:.4f}")
    return (
        f"It leads {result.runs[second]} ({result.mean[second]:.4f}) by {lead} "
        f"({sure}; {adjusted}{pvalue_words(p)}, d = {d:.2f})."
    )
