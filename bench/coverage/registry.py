"""Every interval that steadyrank prints or returns, and ranges that are not intervals.

`interval_fields` looks for both in the JSON of a command, by their names and by their shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bench.coverage import (
    close,
    datasets,
    drivers,
    graded,
    holes,
    instances,
    judges,
    scores,
    variances,
)
from bench.coverage.claims import Claim, Experiment

EXPERIMENTS: dict[str, Experiment] = (
    scores.EXPERIMENTS
    | close.EXPERIMENTS
    | datasets.EXPERIMENTS
    | drivers.EXPERIMENTS
    | graded.EXPERIMENTS
    | holes.EXPERIMENTS
    | instances.EXPERIMENTS
    | judges.EXPERIMENTS
    | variances.EXPERIMENTS
)

NO_CLAIM: dict[str, str] = {
    "compare tests exchangeable": "a rate and its Monte Carlo error",
    "compare tests equal_means": "a rate and its Monte Carlo error",
    "compare audit tests": "rates and their Monte Carlo errors",
    "compare measures findings values interval": "that of a pair, as in `pairs`, which is measured",
    "datasets runs completion_ranks": "over all completions of missing scores: sure bounds",
    "evaluate meta max_grade": "the largest grade of the judgments",
    "simulate error_rate low": "where a bin of differences begins",
    "simulate error_rate high": "where a bin of differences ends",
    "simulate rank_correlation interval": "the middle 95 % of the simulated collections; a second "
    "one is in `prediction`",
    "simulate rank_correlation quantiles": "of the simulated collections; the outer two are "
    "`interval`",
    "simulate estimated_difference_quantiles": "of the pairs of runs",
    "simulate estimated_difference_recentred_quantiles": "of the pairs of runs",
    "topics levels low": "where a bin of differences begins",
    "topics levels high": "where a bin of differences ends",
    "topics levels extrapolation sizes": "numbers of topics",
    "topics levels extrapolation rate": "the curve at these numbers",
    "components main_effects levels interval": "made to be compared: two that do not overlap "
    "differ by Tukey's test; whether that holds is measured on the pairs",
    "instances equivalence hpd_verdict": "a word",
    "pools leave_out quantiles": "of the trials",
    "pools leave_out range": "the smallest and the largest of the trials",
    "pools leave_out topics_needed_range": "the fewest and the most by a trial",
    "stability leave_one_out e_rho2": "the smallest and the largest without one system",
    "stability leave_one_out phi": "the smallest and the largest without one system",
    "stability judges tau_interval": "as that of `judges`, which is measured",
    "topics pairs predictive_limit": "the predictive rate with infinitely many topics in the "
    "second experiment",
}
"""Fields of the JSON that look like an interval and claim no coverage, with the reason."""

NO_FIELDS: dict[str, str] = {
    "check": "counts and words",
    "battles": "limits of pairs, whose coverage is counted with the level of all pairs "
    "(docs/evidence/battles.csv)",
    "gate": "one-sided limits, whose levels are measured with its two tests (docs/levels.md); "
    "lowest and highest are sure bounds",
    "grid": "makes runs",
    "shard": "makes runs",
    "report": "a page of the other studies; its intervals of runs' means are measured",
    "demo": "as `report`",
    "reproduce": "other people's tables, made by the other studies",
    "doctor": "versions and paths",
}
"""Commands whose JSON is not searched, with the reason."""

_LISTS = ("studies", "comparisons")
_TELLING = re.compile(
    r"interval|hpd|band$|bound|limit|quantile|credib|percentile"
    r"|(^|_)(ci|low|high|lower|upper|min|max)(_|$)"
)


def claims() -> list[Claim]:
    """Return all claims, in the order of the experiments."""
    return [claim for each in EXPERIMENTS.values() for claim in each.claims.values()]


def interval_fields(command: str, shown: Any) -> set[str]:
    """Return the paths in a command's JSON whose values look like intervals.

    By name, or because it has two numbers. Keys that are numbers, or that list results of the
    same kind, are left out.
    """
    return {" ".join((command, *path)) for path in _paths(shown, ())}


def _paths(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            skipped = key in _LISTS or re.fullmatch(r"[\d.]+", key)
            yield from _paths(inner, path if skipped else (*path, key))
        return
    if isinstance(value, list):
        if len(value) == 2 and all(type(number) in (int, float) for number in value):
            yield path
        for inner in value:
            yield from _paths(inner, path)
    elif path and _TELLING.search(path[-1]) and not isinstance(value, (str, bool)):
        yield path
