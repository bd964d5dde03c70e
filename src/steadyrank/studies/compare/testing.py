"""From scores to results: the tests of each measure, their correction, and what follows from both.

A family is a set of comparisons that are corrected together: the pairs of one measure, or those of
all segments of the topics. Runs are compared by paired tests; systems with several runs by a model
in which instances are random. A separate test says whether a run's lead depends on the segment: a
difference that is significant in one segment only does not show that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from steadyrank.data.facets import FacetCube, averaged_facets, facet_cube, facets_of
from steadyrank.data.order import order_by_name
from steadyrank.data.scores import (
    Scores,
    cluster_codes,
    mean_of_present,
    position,
    topic_column,
    topic_weights,
    weighted_mean,
)
from steadyrank.errors import InputError, warn
from steadyrank.measures.names import largest_difference
from steadyrank.stats import run_means
from steadyrank.stats.facets.pairs import FEWEST_JUDGES, judge_tests, level_intervals
from steadyrank.stats.instances import mixed_tests
from steadyrank.stats.instances.systems import Groups
from steadyrank.stats.pairs import decisions, resampled
from steadyrank.stats.pairs import tests as pair_tests
from steadyrank.stats.pairs.decisions import compact_letters
from steadyrank.stats.pairs.effects import NO_LEAD, effect_sizes, fragility, two_sample_effects
from steadyrank.stats.pairs.result import TOO_FEW, PairTests, all_pairs, pairs_with
from steadyrank.stats.pairs.topic_design import (
    TopicDesign,
    design_effect,
    linearised,
    mean_difference,
)
from steadyrank.stats.pairs.tukey import randomized_tukey, tukey_hsd
from steadyrank.stats.planning.design import smallest_difference
from steadyrank.stats.segments import Interaction, segment_interaction
from steadyrank.studies.compare.correcting import (
    CompareSettings,
    Corrected,
    Judged,
    Tested,
    corrected_family,
)
from steadyrank.studies.compare.result import CompareResult, JudgeFigures, Lead
from steadyrank.studies.compare.wording import SIMULTANEOUS
from steadyrank.words import counted

AGAINST_MEANS = "against_means"
"""Flag of a pair whose test favours the run with the lower mean, so that nothing is claimed."""


def topic_design(scores: Scores) -> TopicDesign:
    """Return the clusters and weights of the topics, as their information names them."""
    return TopicDesign(clusters=cluster_codes(scores), weights=topic_weights(scores))


def compared(
    scores: Scores, measures: Sequence[str], settings: CompareSettings, groups: Groups | None = None
) -> list[CompareResult]:
    """Return one result per measure, of runs or of systems with these `groups` of runs."""
    names, results = rows_of(scores, groups), []
    for measure in measures:
        has_score = ~np.isnan(scores.matrix(measure)).all(axis=0)
        own = scores
        if has_score.any() and not has_score.all():
            topics = [scores.topics[topic] for topic in np.flatnonzero(has_score)]
            own = scores.select(measures=measure, topics=topics)
        one = _tested(own, measure, names, settings, groups)
        results.append(_result(one, corrected_family([one], settings)[0], settings))
    return results


def rows_of(scores: Scores, groups: Groups | None) -> tuple[str, ...]:
    """Return the names of what is compared: systems with instances or judges, or runs."""
    if groups is not None:
        return tuple(groups)
    return averaged_facets(scores.select(measures=scores.measures[:1])).runs


def _tested(
    scores: Scores,
    measure: str,
    names: tuple[str, ...],
    settings: CompareSettings,
    groups: Groups | None,
) -> Tested:
    """Return the tests of all pairs, or of every other row (first) with the baseline (second)."""
    pairs = all_pairs(len(names))
    if settings.baseline is not None:
        pairs = pairs_with(len(names), position(settings.baseline, names, "run"))
    cube = facet_cube(scores, measure) if facets_of(scores) else None
    every = scores.matrix(measure) if cube is None else cube.matrix
    design, unpaired = topic_design(scores), settings.test == "welch"
    judged = None if cube is None else _judged(cube, pairs, settings)
    used, matrix = np.ones(every.shape[1], bool), every
    if judged is not None and judged.decides:
        tests = judged.tests.as_tests(every.shape[1])
        _warn_if_not_shared(judged, names)
    elif groups is None:
        if settings.test in SIMULTANEOUS:  # they require topics that every run has
            used = ~np.isnan(every).any(axis=0)
            matrix = np.ascontiguousarray(every[:, used]) if not used.all() else every
        tests = _run_test(matrix, pairs, names, design, settings)
    else:
        matrix = mixed_tests.averaged(every, groups)
        tests = mixed_tests.system_tests(scores, measure, groups, pairs)
    if unpaired and not np.isnan(matrix).any():
        warn(
            "all runs have the same topics, whose difficulty Welch's test counts as noise: a "
            "paired test (test t) has more power"
        )
    if not unpaired:
        _warn_if_unlinked(matrix, names)
    return Tested(
        measure=measure,
        rows=names,
        means=pair_tests.run_moments(matrix).mean
        if unpaired
        else run_means.adjusted_means(matrix, design.weights),
        baseline=settings.baseline,
        topics=tuple(topic for topic, keep in zip(scores.topics, used, strict=True) if keep),
        matrix=matrix,
        n_topics=len(used),
        n_dropped=int((~used).sum()),
        pairs=pairs,
        tests=tests,
        instances=None if groups is None else every,
        groups=groups,
        judges=() if cube is None else tuple(filter(None, cube.judges)),
        judged=judged,
        design=design,
    )


def _judged(cube: FacetCube, pairs: np.ndarray, settings: CompareSettings) -> Judged | None:
    """Return the grades of several judges and their tests; None where a single judge graded."""
    if len(cube.judges) < 2 and settings.test != "mixed":
        return None
    is_fixed = fixes_judges(len(cube.judges), settings)
    random = judge_tests(cube.levels, pairs)
    return Judged(
        judges=cube.judges,
        cells=cube.cells,
        shown=cube.shown,
        levels=cube.levels,
        is_fixed=is_fixed,
        decides=settings.test == "mixed",
        tests=judge_tests(cube.levels, pairs, is_fixed=True) if is_fixed else random,
        random=random,
        every=random
        if settings.baseline is None
        else judge_tests(cube.levels, all_pairs(len(cube.systems))),
    )


def _warn_if_not_shared(judged: Judged, names: Sequence[str]) -> None:
    """Warn of pairs that no judge has graded both of: they are not tested."""
    lacking = np.flatnonzero(judged.tests.n_judges == 0)
    if len(lacking):
        a, b = (names[place] for place in judged.tests.pairs[lacking[0]])
        warn(
            f"{counted(len(lacking), 'pair')} of systems share no judge and are not compared "
            f"(first {a} and {b}): have one judge grade both"
        )


def fixes_judges(n_judges: int, settings: CompareSettings) -> bool:
    """Whether tests are about these judges alone: as requested, or because they are too few."""
    return "judge" in settings.fixed or n_judges < FEWEST_JUDGES


def _warn_if_unlinked(matrix: np.ndarray, names: Sequence[str]) -> None:
    """Warn of runs that share no topic, not even through other runs: they have no order."""
    groups = run_means.connected_runs(matrix) if np.isnan(matrix).any() else []
    if len(groups) > 1:
        smallest, *_, largest = sorted(groups, key=len)
        warn(
            f"{names[smallest[0]]} shares no topic with {names[largest[0]]}, not "
            "even through other runs: the order of such runs reflects different topics, and "
            "nothing is claimed about them"
        )


def _run_test(
    matrix: np.ndarray,
    pairs: np.ndarray,
    names: Sequence[str],
    design: TopicDesign,
    settings: CompareSettings,
) -> PairTests:
    """Return the pairs' tests by the test of the settings."""
    level, options = 1 - settings.alpha, {"mode": settings.mode, **settings.resampling}
    match settings.test:
        case "t":
            return pair_tests.paired_t(matrix, pairs, design=design)
        case "welch" | "wilcoxon" | "sign" as test:
            plain = {"welch": pair_tests.welch, "wilcoxon": pair_tests.wilcoxon}
            return plain.get(test, pair_tests.sign_test)(matrix, pairs)
        case "randomization":
            return resampled.randomization(matrix, pairs, design=design, **options)
        case "bootstrap":
            return resampled.studentized_bootstrap(matrix, pairs, design=design, **options)
        case "tukey":
            return tukey_hsd(matrix, pairs, confidence=level)
        case _:  # randomized-tukey; what a permutation does must not depend on the runs' order
            order = order_by_name(names)
            by_name = np.argsort(order)[pairs]
            return randomized_tukey(matrix[order], by_name, confidence=level, **options)


def _result(one: Tested, corrected: Corrected, settings: CompareSettings) -> CompareResult:
    """Return the decisions, and all that follows from them."""
    matrix, pairs, tests, means = one.matrix, one.pairs, one.tests, one.means
    figures = (_unpaired if settings.test == "welch" else _paired)(one, corrected, settings)
    if one.design.clusters is not None:
        rows = matrix - mean_of_present(matrix.T)
        figures["design_effect"] = design_effect(rows, one.design.clusters, one.design.weights)
    claimed = decisions.claims(tests, pairs, corrected.adjusted, means, settings.alpha)
    direction = np.sign(tests.difference) if tests.direction is None else tests.direction
    own_claimed = decisions.own_claims(direction, pairs, corrected.own, means, settings.alpha)
    limits, kind = pair_intervals(one, corrected, claimed, settings)
    most = largest_difference(one.measure, matrix) if one.judged is None else one.judged.scale
    wins = decisions.beaten(len(means), pairs, claimed)
    order = run_means.in_order(means, one.rows)
    own = decisions.own_decisions(pairs, own_claimed, means, order)
    adjusted = np.nan_to_num(corrected.adjusted, nan=1.0)
    against_means = (adjusted <= settings.alpha) & (claimed == 0) & (tests.flag == "")
    given = matrix if one.instances is None else one.instances
    given = given if one.judged is None else one.judged.cells
    by_mean = np.argsort(-np.nan_to_num(means, nan=-np.inf), kind="stable")
    letters = compact_letters(wins | wins.T, by_mean) or ()
    return CompareResult(
        measure=one.measure,
        test=settings.test,
        correction=corrected.correction,
        alpha=settings.alpha,
        mode=settings.mode,
        baseline=settings.baseline,
        runs=one.rows,
        n_topics=one.n_topics,
        n_dropped=one.n_dropped,
        n_missing=int(np.isnan(given).sum()),
        exact=corrected.exact or "all sign patterns" in tests.method,
        n_samples=corrected.n_patterns or tests.n_samples,
        seed=settings.seed,
        pairs=pairs,
        n=tests.n,
        difference=tests.difference,
        interval=decisions.agreeing_intervals(limits, claimed, most),
        interval_kind=kind,
        comparison_alpha=corrected.level,
        statistic=tests.statistic,
        pvalue=tests.pvalue,
        pvalue_adjusted=corrected.adjusted,
        significant=claimed != 0,
        flag=np.where(against_means, AGAINST_MEANS, tests.flag),
        rank=run_means.ranks_of(means),
        order=[*order, *np.flatnonzero(np.isnan(means)).tolist()],
        own=None if settings.baseline is not None else own,
        lead=_lead(one, corrected, own_claimed, most, settings),
        rank_set_simultaneous=decisions.rank_sets(wins),
        letters=tuple(letters) if settings.baseline is None else (),
        design=one.design,
        n_comparisons=corrected.n_comparisons,
        segment=one.segment,
        n_segments=corrected.n_segments,
        topics=one.topics,
        scores=matrix,
        judging=_judge_figures(one),
        **figures,
    )


def _paired(one: Tested, corrected: Corrected, settings: CompareSettings) -> dict[str, Any]:
    """Return the figures of runs that share topics."""
    matrix, pairs, design, means = one.matrix, one.pairs, one.design, one.means
    judged = one.judged if one.judged is not None and one.judged.decides else None
    shown = matrix if judged is None else judged.shown
    effects = effect_sizes(shown, pairs, weights=design.weights)
    is_corrected = corrected.correction == "maxt" and settings.mode == "sound"
    return {
        "mean": means,
        "pair_means": _pair_means(matrix, pairs, design.weights)
        if judged is None
        else judged.tests.means,
        "effects": effects,
        "smallest_difference": _smallest(one, effects.sd, corrected.level, is_corrected),
        "fragility": fragility(matrix, pairs, design.weights, design.clusters),
        **_means(one, means, 1 - settings.alpha),
    }


def _unpaired(one: Tested, corrected: Corrected, settings: CompareSettings) -> dict[str, Any]:
    """Return the figures of runs measured on different topics: no lead on a topic, no model."""
    own, pairs = pair_tests.run_moments(one.matrix), one.pairs
    return {
        "mean": own.mean,
        "pair_means": own.mean[pairs],
        "effects": two_sample_effects(one.matrix, pairs),
        "smallest_difference": np.full(len(pairs), np.nan),
        "fragility": np.full(len(pairs), NO_LEAD),
        "mean_interval": own.intervals(1 - settings.alpha),
        "expected_mean": np.full(len(own.mean), np.nan),
    }


def _means(one: Tested, means: np.ndarray, level: float) -> dict[str, Any]:
    """Return intervals and expectations of the means, and the spread of systems' instances."""
    if not one.design.is_plain:
        return _robust_means(one, means, level)
    if one.judged is not None and one.judged.decides:
        limits = level_intervals(one.judged.levels, level, is_fixed=one.judged.is_fixed)
        lowest, highest = np.nanmin(one.judged.cells), np.nanmax(one.judged.cells)
        limits = np.clip(limits, lowest, highest)
        return {"mean_interval": limits, "expected_mean": np.full(len(one.rows), np.nan)}
    if one.groups is None or one.instances is None:
        expected = run_means.expected_means(one.matrix)
        return {
            "mean_interval": run_means.intervals_as_picked(one.matrix, level, expected),
            "expected_mean": expected.mean,
        }
    return {
        "mean_interval": mixed_tests.system_mean_intervals(one.instances, one.groups, level),
        "expected_mean": np.full(len(one.rows), np.nan),
        "n_instances": tuple(len(places) for places in one.groups.values()),
        "instance_sd": mixed_tests.instance_sds(one.instances, one.groups),
    }


def _judge_figures(one: Tested) -> JudgeFigures:
    """Return the judges, and standard errors of the differences with random and fixed judges."""
    judged = one.judged
    if judged is None:
        return JudgeFigures(names=one.judges, fixed=bool(one.judges))
    shared, by = judged.tests.n_judges, judged.levels.shared(judged.tests.pairs)
    alone = np.flatnonzero(shared == 1)
    lacking = judged.levels.additive.used & ~judged.levels.kept
    return JudgeFigures(
        names=judged.judges,
        fixed=judged.is_fixed,
        # By all pairs, whichever are compared: `stability` has these figures.
        ratio=judged.every.ratio,
        narrow=judged.every.narrower(2 * len(judged.judges)),
        lacking={
            one.rows[row]: [judged.judges[place] for place in np.flatnonzero(lacking[row])]
            for row in np.flatnonzero(lacking.any(axis=1)).tolist()
        },
        alone=judged.judges[int(np.argmax(by[alone[0]]))] if len(alone) else "",
        shared=shared,
        standard_error=judged.random.standard_error,
        standard_error_fixed=judged.random.standard_error_fixed,
    )


def _robust_means(one: Tested, means: np.ndarray, level: float) -> dict[str, Any]:
    """Return cluster-robust intervals and expectations of means, NaN where scores are missing."""
    clusters, weights, units = one.design.clusters, one.design.weights, one.units
    fits = [mean_difference(row, clusters=clusters, weights=weights) for row in one.matrix]
    limits = np.array([fit.student_interval(level) for fit in fits])
    # Where scores are missing, the interval is about the adjusted mean, not the mean of a run.
    limits += means[:, None] - np.array([[fit.mean] for fit in fits])
    expected = np.full(len(means), np.nan)
    if units is not None:
        expected = run_means.expected_means(linearised(units)).mean
        shift = expected - means
        limits += np.stack([np.minimum(shift, 0.0), np.maximum(shift, 0.0)], axis=1)
    return {"mean_interval": limits, "expected_mean": expected}


def _smallest(one: Tested, sd: np.ndarray, level: float, is_corrected: bool) -> np.ndarray:
    """Return the differences that paired t tests detect; NaN where a model made the tests."""
    if one.by_model:
        return np.full(len(sd), np.nan)
    if level <= 0.0:
        return np.full(len(sd), np.inf)
    n = one.tests.n
    if not one.design.is_plain and one.tests.standard_error is not None:
        # Clusters replace topics: sd / sqrt(n) is the standard error of both.
        sd = one.tests.standard_error * math.sqrt(one.n_units)
        n = np.full(len(sd), one.n_units)
    return smallest_difference(sd, n, alpha=level, corrected=is_corrected)


def _pair_means(matrix: np.ndarray, pairs: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return the means [pair, 2] of both runs over the topics that both have."""
    means = np.empty((len(pairs), 2))
    for part, z, _ in pair_tests.differences(matrix, pairs):
        for side in (0, 1):
            shared = np.where(np.isnan(z), np.nan, matrix[pairs[part, side]])
            means[part, side] = weighted_mean(shared, weights)
    return means


def _lead(
    one: Tested,
    corrected: Corrected,
    own_claimed: np.ndarray,
    most: float,
    settings: CompareSettings,
) -> Lead | None:
    """Return the best row against the next, by the next row's own comparisons."""
    if one.lead is None:
        return None
    first, second = one.lead
    (pair,) = np.flatnonzero((np.sort(one.pairs, axis=1) == sorted(one.lead)).all(axis=1))
    sign = 1 if one.pairs[pair, 0] == first else -1
    claimed = sign * int(own_claimed[pair, int(sign > 0)])
    difference = sign * float(one.tests.difference[pair])
    if corrected.lead_width is not None:
        limits = difference + corrected.lead_width * [-1.0, 1.0]
    else:
        limits = sign * _own_limits(one, corrected, second, int(pair), settings)[::sign]
    agreed = decisions.agreeing_intervals(limits[None], np.array([claimed]), most)[0]
    return Lead(first, second, difference, agreed, bool(claimed), int(pair))


def _own_limits(
    one: Tested, corrected: Corrected, row: int, pair: int, settings: CompareSettings
) -> np.ndarray:
    """Return the limits of a pair at the level of the step that decides it in a row's family."""
    members = np.flatnonzero((one.pairs == row).any(axis=1))
    if corrected.correction == "holm" and settings.test not in SIMULTANEOUS:
        pvalues = one.tests.pvalue[members]
        levels = decisions.step_levels(pvalues, "holm", settings.alpha)
        level = float(levels[members == pair][0])
    else:
        level = corrected.level
    limits, _ = _limits(one, np.array([pair]), level, settings)
    return np.asarray(limits[0])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segments:
    """The comparisons in each segment, and the test of segment × run."""

    by: str
    """The column of the topics' information."""
    names: tuple[str, ...]
    results: tuple[CompareResult, ...]
    """One per segment; all of their comparisons are corrected together."""
    interaction: Interaction

    @property
    def tested(self) -> tuple[str, ...]:
        """The segments with enough topics for the test of segment × run."""
        return tuple(self.names[place] for place in self.interaction.tested)

    def interaction_rows(self) -> list[dict[str, Any]]:
        """Return one dictionary per run and tested segment, as in JSON."""
        test = self.interaction
        return [
            {
                "run": run,
                "segment": segment,
                "deviation": float(test.deviation[r, s]),
                "statistic": float(test.statistic[r, s]),
                "pvalue_adjusted": float(test.pvalue[r, s]),
            }
            for s, segment in enumerate(self.tested)
            for r, run in enumerate(self.results[0].runs)
        ]


def with_segments(
    result: CompareResult, scores: Scores, by: str, settings: CompareSettings
) -> CompareResult:
    """Return the result with the comparisons in each segment of the topics, one family."""
    if settings.test in SIMULTANEOUS:
        raise InputError(
            f"test {settings.test} is simultaneous for the pairs of one segment: for a family "
            "of all segments use test t or randomization"
        )
    if settings.correction in (None, "maxt"):  # segments share no topic whose sign could be flipped
        settings = replace(settings, correction="holm")
    column, measure = np.array(topic_column(scores, by), object), result.measure
    found = sorted(set(column))
    names = [found[place] for place in order_by_name(found)]
    alone, family = scores.select(measures=measure), []
    for name in names:
        part = alone.select(topics=[scores.topics[t] for t in np.flatnonzero(column == name)])
        tested = _tested(part, measure, part.runs, settings, None)
        family.append(replace(tested, segment=name))
    corrected = corrected_family(family, settings)
    codes = np.array([names.index(name) for name in column])
    segments = Segments(
        by=by,
        names=tuple(names),
        results=tuple(_result(*each, settings) for each in zip(family, corrected, strict=True)),
        interaction=segment_interaction(
            alone.matrix(), codes, topic_design(scores), **settings.resampling
        ),
    )
    return replace(result, segments=segments)


def pair_intervals(
    one: Tested, corrected: Corrected, claimed: np.ndarray, settings: CompareSettings
) -> tuple[np.ndarray, str]:
    """Return simultaneous limits of the differences [pair, 2], and their kind in words."""
    difference = one.tests.difference
    if corrected.width is not None:
        limits = difference[:, None] + corrected.width * [-1.0, 1.0]
        limits[one.tests.flag == TOO_FEW] = np.nan
        alone = "" if corrected.n_comparisons > 1 else "corrected t"
        return limits, alone or "simultaneous, max-t"
    limits, words = _limits(one, np.arange(len(one.pairs)), corrected.level, settings)
    # Where Holm claims a difference at a later step, the limit nearer to 0 has that step's level.
    inner = np.where(claimed > 0, limits[:, 0], -limits[:, 1])
    late = (claimed != 0) & ~(inner > 0.0) & (corrected.step_level > corrected.level)
    for level in np.unique(corrected.step_level[late]):
        places = np.flatnonzero(late & (corrected.step_level == level))
        stepped, side = _limits(one, places, float(level), settings)[0], (claimed[places] < 0) * 1
        limits[places, side] = stepped[np.arange(len(places)), side]
    own_error, own_df = one.tests.own_error, one.tests.own_df
    if own_error is not None and own_df is not None:
        with np.errstate(invalid="ignore"):
            half_width = stdtrit(own_df, 1.0 - 0.5 * settings.alpha) * own_error
        limits[:, 0] = np.fmin(limits[:, 0], difference - half_width)
        limits[:, 1] = np.fmax(limits[:, 1], difference + half_width)
    held = {"none": ", one at a time", "bh": ", selected (false coverage rate)"}
    if corrected.n_comparisons > 1:
        words += held.get(corrected.correction, ", simultaneous")
    return limits, words


def _limits(
    one: Tested, places: np.ndarray, level: float, settings: CompareSettings
) -> tuple[np.ndarray, str]:
    """Return the limits of some pairs at a level per comparison, by inverting their test."""
    tests, matrix, pairs = one.tests, one.matrix, one.pairs[places]
    if tests.half_width is not None:
        sides = tests.half_width[places, None] * [-1.0, 1.0]
        return tests.difference[places, None] + sides, "simultaneous, Tukey"
    drawn: Any = {"alpha": level, "design": one.design, **settings.resampling}
    of_units, test = "" if one.design.is_plain else f" of {one.design.noun}", settings.test
    if not one.design.is_plain and one.n_units < 2:
        test = "t"
    match test:
        case "wilcoxon":
            limits = resampled.hodges_lehmann_limits(matrix, pairs, alpha=level)
            return limits, "Hodges–Lehmann, of the pseudomedian"
        case "sign":
            limits = resampled.median_limits(matrix, pairs, alpha=level)
            return limits, "of the median of the non-zero differences"
        case "randomization":
            limits = resampled.flip_limits(matrix, pairs, **drawn)
            return limits, f"inverted randomization test{of_units}"
        case "bootstrap":
            limits = resampled.bootstrap_t_limits(matrix, pairs, **drawn)
            return limits, f"studentized bootstrap{of_units}"
    words = {"welch": "Welch's", "mixed": "of the mixed model"}
    robust = ", robust standard errors" if of_units else ""
    return _model_limits(tests, places, level), words.get(test, f"Student's t{robust}")


def _model_limits(tests: PairTests, places: np.ndarray, level: float) -> np.ndarray:
    """Return difference ± t(df) standard errors."""
    assert tests.standard_error is not None  # t tests and those by a model have both
    assert tests.df is not None
    difference, error = tests.difference[places], tests.standard_error[places]
    with np.errstate(invalid="ignore"):
        half_width = stdtrit(tests.df[places], 1.0 - 0.5 * level) * error
    half_width = np.where(error == 0.0, 0.0, half_width)
    return np.stack([difference - half_width, difference + half_width], axis=1)
