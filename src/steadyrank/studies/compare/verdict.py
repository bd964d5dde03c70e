"""Who leads, how many could be first, and by how much: the first lines of every output.

Rows are runs, or systems with several runs each. With a baseline the verdict is about it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steadyrank.present.cells import signed_interval
from steadyrank.present.view import Finding
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.compare.result import CompareResult
from steadyrank.words import enough_digits, listed, number_word, typeset

MOST_NAMES = 2
"""Runs that a verdict names."""


def ranked(result: CompareResult) -> list[int]:
    """Places of the rows that have a mean, best first."""
    return [run for run in result.order if not math.isnan(result.mean[run])]


def verdict(result: CompareResult, n_runs: int = 0, study: str = "compare") -> Finding:
    """Who leads, and how many could be first; with a baseline, how many differ from it."""
    if result.baseline is not None:
        found = significant(result)
        text = found.text.replace(f" by mean {result.measure}", "", 1)
        return replace(found, id=f"{study}.significant", text=text)
    order = ranked(result)
    best = [run for run in order if result.mean[order[0]] - result.mean[run] <= SAME_MEAN]
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
    names, by = [result.runs[run] for run in best], result.by_judges
    n, rows = len(order), f"{result.row_word}s"
    many = f"{n:,} {rows}"
    if n_runs > len(result.runs):
        many = f"best {len(result.runs):,} of {n_runs:,} {rows}"
    if len(best) == n:
        who = listed(names) if n <= MOST_NAMES else f"All {number_word(n)} {rows}"
        return f"{who} have the same mean {result.measure}"
    sure = f"with {1 - result.alpha:.0%} confidence" if result.is_familywise else "by these tests"
    of = "of the" if n_runs > len(result.runs) else "of"
    first = f"{n_first:,} {of} {many} could be first"
    if len(best) > 1:
        some = listed(names) if len(best) <= MOST_NAMES else number_word(len(best)).capitalize()
        some = some if len(best) <= MOST_NAMES else f"{some} {rows}"
        only = f"{sure} no other could be first"
        return f"{some} share the best mean; {first if n_first > len(best) else only}"
    if n == 2:
        rival = result.runs[order[1]]
        if result.significant[_pair(result, order[0], order[1])]:
            return f"{names[0]} is significantly better than {rival}{by}"
        return f"{names[0]} leads{by}, but is not significantly better than {rival}"
    if n_first == 1:
        return f"{names[0]} leads{by}; {sure} no other of the {many} could be first"
    any_of = f"any of the {many} could be first"
    return f"{names[0]} leads{by}, but {any_of if n_first == n else first}"


def _pair(result: CompareResult, a: int, b: int) -> int:
    return int(np.flatnonzero((np.sort(result.pairs, axis=1) == sorted((a, b))).all(axis=1))[0])


def lead(result: CompareResult, study: str = "compare") -> Finding | None:
    """The first two, or the baseline and the best other: means, difference and interval."""
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
        place = _pair(result, first, second)
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
    """How many pairs differ significantly; with a baseline, how many runs are better or worse."""
    n_pairs, n = len(result.pairs), int(result.significant.sum())
    alone = int((np.nan_to_num(result.pvalue, nan=1.0) <= result.alpha).sum())
    values = {"n_significant": n, "n_pairs": n_pairs, "n_uncorrected": alone}
    by, rows = f"significantly by mean {result.measure}{result.by_judges}", f"{result.row_word}s"
    if result.baseline is not None:
        better = int((result.difference[result.significant] > 0).sum())
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
    """How many rows are better than the baseline, and how many worse."""
    by, n = f"by mean {result.measure}{result.by_judges}", len(result.pairs)
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
