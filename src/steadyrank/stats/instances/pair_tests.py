"""Many systems at once, each with one run or several: tests of pairs, means and their spread.

For tables whose rows are systems trained with several seeds. Topics and instances are both random,
so that a difference holds for other topics *and* other seeds (Jayasinghe et al. 2015,
doi:10.1016/j.ipm.2015.06.005); systems with one run each are compared by the paired t test.
"""

from __future__ import annotations

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.stats.instances.equivalence import t_limits
from steadyrank.stats.instances.mixed_tests import (
    INSTANCE,
    TOPIC,
    balanced_test,
    mixed_difference,
    mixed_model,
)
from steadyrank.stats.instances.systems import Groups, SystemPair, pair_of, systems_of
from steadyrank.stats.mixed.fit import fit
from steadyrank.stats.mixed.model import MixedModel
from steadyrank.stats.mixed.pooling import default_df_method
from steadyrank.stats.mixed.two_way import ONE_INSTANCE, two_way_difference
from steadyrank.stats.pairs.result import TOO_FEW, PairTests
from steadyrank.stats.run_means import mean_intervals

METHOD = "mixed model with random topics and instances"


def has_instances(scores: Scores) -> bool:
    """Whether run information names a system of which there are several runs."""
    systems = [system for system in scores.run_info.get("system", ()) if system]
    return len(set(systems)) < len(systems)


def averaged(matrix: np.ndarray, groups: Groups) -> np.ndarray:
    """Scores [system, topic]: means over the instances that have the topic."""
    return np.stack([mean_of_present(matrix[places].T) for places in groups.values()])


def instance_sds(matrix: np.ndarray, groups: Groups) -> np.ndarray:
    """Standard deviation of the instances' means over topics, one per system; NaN of one run."""
    means = [mean_of_present(matrix[places]) for places in groups.values()]
    return np.array([np.std(each, ddof=1) if len(each) > 1 else np.nan for each in means])


def scores_by_system(scores: Scores) -> Scores:
    """Scores of systems: by topic the means over their instances.

    `meta` says how many instances each system has (`n_instances`), and how far the means of
    these lie apart (`instance_sd`, by measure).
    """
    groups = systems_of(scores)
    names = tuple(groups)
    values = np.stack([averaged(scores.matrix(measure), groups) for measure in scores.measures])
    spread = {
        measure: dict(zip(names, instance_sds(scores.matrix(measure), groups), strict=True))
        for measure in scores.measures
    }
    # How far ties could move the mean of a run says little about that of several.
    meta = {key: value for key, value in scores.meta.items() if key != "tie_bounds"}
    sizes = {name: len(places) for name, places in groups.items()}
    return Scores(
        measures=scores.measures,
        runs=names,
        topics=scores.topics,
        values=values,
        run_info={"system": names},
        meta={**meta, "n_instances": sizes, "instance_sd": spread},
    )


def system_tests(scores: Scores, measure: str, groups: Groups, pairs: np.ndarray) -> PairTests:
    """The mixed model's test of each pair of systems."""
    names, matrix = list(groups), averaged(scores.matrix(measure), groups)
    rows = []
    for first, second in pairs.tolist():
        n = int((~np.isnan(matrix[first]) & ~np.isnan(matrix[second])).sum())
        if n < 2:
            rows.append((n, *[np.nan] * 5, TOO_FEW))
            continue
        a, b = ((names[place], groups[names[place]]) for place in (first, second))
        rows.append((n, *_tested(pair_of(scores, measure, a=a, b=b))))
    n_shared, difference, error, df, statistic, pvalue, flag = zip(*rows, strict=True)
    return PairTests(
        n=np.array(n_shared),
        difference=np.array(difference),
        statistic=np.array(statistic),
        pvalue=np.array(pvalue),
        flag=np.array(flag, dtype=object),
        method=METHOD,
        standard_error=np.array(error),
        df=np.array(df),
    )


def _tested(pair: SystemPair) -> tuple[float, float, float, float, float, str]:
    """Difference, standard error, degrees of freedom, t, p and flag of one pair."""
    test = balanced_test(pair) if pair.balanced else mixed_difference(pair, mixed_model(pair), ())
    # Two single runs are compared by the paired t test: nothing to flag in a table of runs.
    flag = "" if test.flag == ONE_INSTANCE else test.flag
    return test.estimate, test.standard_error, test.df, test.statistic, test.pvalue, flag


def system_mean_intervals(matrix: np.ndarray, groups: Groups, level: float) -> np.ndarray:
    """Intervals [system, 2] of the means over topics and instances, for one system at a time."""
    return np.array([_mean_interval(matrix[places], level) for places in groups.values()])


def _mean_interval(scores: np.ndarray, level: float) -> tuple[float, float]:
    """Of one system [instance, topic]: both random, as in its comparisons."""
    if len(scores) == 1:
        low, high = mean_intervals(scores, level)[0].tolist()
        return low, high
    if not np.isnan(scores).any():
        test = two_way_difference(scores)
        return t_limits(test.estimate, test.standard_error, test.df, level)
    instance, topic = (index.reshape(-1) for index in np.indices(scores.shape))
    model = MixedModel(scores.reshape(-1), random={INSTANCE: instance, TOPIC: topic})
    fitted = fit(model, df_method=default_df_method(len(scores)))
    estimate, error = float(fitted.estimates[-1]), float(fitted.standard_errors[-1])
    return t_limits(estimate, error, float(fitted.df[-1]), level)
