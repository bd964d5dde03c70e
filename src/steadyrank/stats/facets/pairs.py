"""Pairs of systems whose answers several judges graded: tests about other topics and other judges.

The differences of a pair, topic by judge, are delta + u_topic + g_judge + e: a mean difference has
variance (MS_t + MS_g - MS_e) / (n L), with Satterthwaite's degrees of freedom, or Kenward and
Roger's with few judges; by restricted maximum likelihood where grades are missing. With judges
fixed it is the paired t test of the topics' means over judges. In a family of many pairs the judges
of some seem to agree by chance, the more so the fewer they are: decisions about all pairs take what
judges add by all systems together, where that is more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steadyrank.data.scores import mean_of_present
from steadyrank.stats.anova.parts import CROSSED, sums_of_squares
from steadyrank.stats.instances.equivalence import t_limits
from steadyrank.stats.mixed.fit import fit
from steadyrank.stats.mixed.model import MixedModel
from steadyrank.stats.mixed.two_way import (
    Difference,
    default_df_method,
    means_and_errors,
    two_way_difference,
)
from steadyrank.stats.pairs.result import TOO_FEW, PairTests, model_tests

FEWEST_JUDGES = 3
"""That count as a sample of judges unless told otherwise: with two, a 95 % interval covered .87 to
.91 in simulations."""

METHOD = "mixed model with random topics and judges"


def judge_tests(cells: np.ndarray, pairs: np.ndarray) -> tuple[PairTests, np.ndarray]:
    """Tests of pairs of rows of cells [system, topic, judge], topics and judges random.

    And the standard errors with judges fixed. NaN where fewer than two topics or judges are shared.
    """
    rows = [_tested(cells[a] - cells[b]) for a, b in pairs.tolist()]
    n, fixed = (np.array([row[place] for row in rows]) for place in (0, -1))
    judged, free = common_judges(cells)
    total = fixed**2 + judged
    with np.errstate(divide="ignore", invalid="ignore"):
        df = total**2 / (fixed**4 / (n - 1.0) + judged**2 / free)
    own = (row[:-1] for row in rows)
    return model_tests(own, METHOD, family_error=np.sqrt(total), family_df=df), fixed


def common_judges(cells: np.ndarray) -> tuple[float, float]:
    """What judges add to the variance of any difference, by all systems together, and its df.

    2 (MS_sg - MS_stg) / (n L), at least 0, with (m - 1)(L - 1) degrees of freedom. Missing grades
    count as the system's mean, the topic's and judge's own level taken out.
    """
    rest = cells - mean_of_present(np.moveaxis(cells, 0, -1))
    means = mean_of_present(rest.reshape(len(rest), -1))[:, None, None]
    rest = np.where(np.isnan(rest), means, rest)
    rest = rest - rest.mean(axis=0) - rest.mean(axis=(1, 2), keepdims=True)
    _, judge, error = (float(ss.sum()) for ss in sums_of_squares(rest, CROSSED))
    m, n, k = cells.shape
    if min(n, k) < 2:
        return 0.0, np.nan
    free = (m - 1.0) * (k - 1.0)
    return max(0.0, 2.0 * (judge - error / (n - 1.0)) / (free * n * k)), free


def judged_mean_intervals(cells: np.ndarray, level: float) -> np.ndarray:
    """Intervals [system, 2] of the means over topics and judges, for one system at a time."""
    limits = np.full((len(cells), 2), np.nan)
    for place, scores in enumerate(cells):
        test = random_judges(scores)
        if test is not None:
            limits[place] = t_limits(test.estimate, test.standard_error, test.df, level)
    return limits


def random_judges(scores: np.ndarray) -> Difference | None:
    """The mean of scores, or differences, [topic, judge], both random; None of fewer than two."""
    there = ~np.isnan(scores)
    scores = scores[there.any(axis=1)][:, there.any(axis=0)]
    if min(scores.shape) < 2:
        return None
    if not np.isnan(scores).any():
        return two_way_difference(scores.T)
    topic, judge = (index.ravel() for index in np.indices(scores.shape))
    model = MixedModel(scores.ravel(), random={"instance": judge, "topic": topic})
    fitted = fit(model, df_method=default_df_method(scores.shape[1]))
    return Difference(
        estimate=float(fitted.estimates[-1]),
        standard_error=float(fitted.standard_errors[-1]),
        df=float(fitted.df[-1]),
        statistic=float(fitted.statistic[-1]),
        pvalue=float(fitted.pvalue[-1]),
        variances=fitted.variances,
        flag=fitted.flag,
        df_method=fitted.df_method,
        method=fitted.method,
    )


def _tested(differences: np.ndarray) -> tuple[Any, ...]:
    """Topics, difference, standard error, df, t, p, flag, and the error with judges fixed."""
    means = mean_of_present(differences)
    means = means[~np.isnan(means)]
    fixed = float(means_and_errors(means)[1]) if len(means) > 1 else np.nan
    test = random_judges(differences)
    if test is None:
        return (len(means), *[np.nan] * 5, TOO_FEW, fixed)
    figures = (test.estimate, test.standard_error, test.df, test.statistic, test.pvalue)
    return (len(means), *figures, test.flag, fixed)
