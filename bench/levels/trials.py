"""How often each test of steadyrank finds a difference that does not exist.

`python -m bench.levels` prints the whole table (docs/levels.md), the tests take a part of it. A
test is named as its command offers it; `offered` is what the completeness tests compare with
commands and results. Trials come in chunks whose data depend on seed, data and chunk alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from bench.levels import clusters, gates, graded, null_data
from bench.levels import pvalues as run
from steadyrank.compute.random import block_stream
from steadyrank.stats.pairs.resampled import randomization, studentized_bootstrap
from steadyrank.stats.pairs.tests import paired_t, sign_test, welch, wilcoxon

ALPHAS = (0.05, 0.01)
CONFIDENCE = 0.999
CHUNK = 250
"""Number of trials that are drawn together."""

N_RUNS, N_MANY, GRID, N_INSTANCES = 5, 20, (2, 3), (5, 10)
N_SYSTEMS = 8

SIZES = (10, 25, 50)
EXACT_SIZES = (7, *SIZES)
LARGE = 100
"""Smallest number of topics with a normal approximation of Wilcoxon's test."""

Draw = Callable[..., Any]
"""Returns the data of a section from (stream, trials, n_topics=)."""

Rejects = Callable[..., np.ndarray]
"""Returns rejections [level, trial] from (data, levels, seed)."""


@dataclass(frozen=True, kw_only=True)
class LevelTest:
    """A test, its null data, and the requirements on its level."""

    name: str
    offered: tuple[str, ...]
    """The `command --option value` or `Result.field` that is tested."""
    rejects: Rejects
    data: tuple[str, ...]
    sizes: tuple[int, ...] = SIZES
    cost: int = 1
    """Cost of a trial; the test has 1 / cost of the trials."""
    exact: tuple[str, ...] = ()
    """Data on which its rate must equal its level."""
    valid: tuple[str, ...] = ()
    """Data on which it must not exceed its level."""
    foreign: tuple[str, ...] = ()
    """Data that violate its null hypothesis: rejecting them is no error."""
    paper: bool = False
    """Whether this is a paper's mode, or has no correction."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Tests of the same data."""

    title: str
    draws: dict[str, Draw]
    tests: tuple[LevelTest, ...]


class Row(NamedTuple):
    """A test on one kind of data, at one level."""

    test: LevelTest
    data: str
    topics: int
    level: float
    rejected: int
    trials: int

    @property
    def rate(self) -> float:
        return self.rejected / self.trials

    @property
    def interval(self) -> tuple[float, float]:
        """Return the exact binomial interval (Clopper and Pearson)."""
        found = stats.binomtest(self.rejected, self.trials).proportion_ci(CONFIDENCE)
        return float(found.low), float(found.high)

    @property
    def verdict(self) -> str:
        low, high = self.interval
        verdict = "exceeds" if low > self.level else "below" if high < self.level else "holds"
        return f"{verdict} (not its null)" if self.data in self.test.foreign else verdict


def rows_of(
    section: Section,
    n_trials: int,
    *,
    seed: int = 0,
    sizes: Sequence[int] | None = None,
    only: Callable[[LevelTest, str], bool] = lambda test, data: True,
) -> Iterator[Row]:
    """Return the rows of a section, each test on its share of the trials."""
    wanted = sorted({s for test in section.tests for s in test.sizes}) if sizes is None else sizes
    for data, draw in section.draws.items():
        for size in wanted:
            tests = [
                test
                for test in section.tests
                if data in test.data and size in test.sizes and only(test, data)
            ]
            counts = _counts(tests, draw, size, n_trials, (seed, f"{section.title}/{data}/{size}"))
            for test, (rejected, trials) in zip(tests, counts, strict=True):
                for level, count in zip(ALPHAS, rejected.tolist(), strict=True):
                    yield Row(test, data, size, level, count, trials)


def _counts(
    tests: Sequence[LevelTest], draw: Draw, size: int, n_trials: int, key: tuple[int, str]
) -> list[tuple[np.ndarray, int]]:
    """Return the number of rejections of each test at each level, and of trials."""
    rejected = [np.zeros(len(ALPHAS), int) for _ in tests]
    trials = [max(1, n_trials // test.cost) for test in tests]
    for chunk, first in enumerate(range(0, max(trials, default=0), CHUNK)):
        data = draw(block_stream(key[0], key[1], chunk), CHUNK, n_topics=size)
        for test, found, most in zip(tests, rejected, trials, strict=True):
            n = min(CHUNK, most - first)
            if n > 0:
                some = _first(data, n)
                found += test.rejects(some, ALPHAS, 1000 * key[0] + chunk).sum(axis=1)
    return list(zip(rejected, trials, strict=True))


def _first(data: Any, n: int) -> Any:
    """Return the first n trials of one or several arrays."""
    return tuple(each[:n] for each in data) if isinstance(data, tuple) else data[:n]


def _runs(n_runs: int, *kinds: str) -> dict[str, Draw]:
    return {kind: partial(null_data.RUNS[kind], n_runs=n_runs) for kind in kinds}


EXCHANGEABLE = null_data.EXCHANGEABLE
UNEQUAL = ("AP, equal means", "exponential")
ALL_PAIRS = (*EXCHANGEABLE, *UNEQUAL)
SPREAD = "unequal spread"
FAMILIES = (*EXCHANGEABLE, SPREAD)

PAIRS = Section(
    title="Two runs",
    draws=_runs(2, *ALL_PAIRS),
    tests=(
        LevelTest(
            name="t",
            offered=(
                "compare --test t",
                "PairTests.pvalue",
                "Difference.pvalue",
                "HolesPair.pvalue",
            ),
            rejects=run.pairs(paired_t),
            data=ALL_PAIRS,
            exact=("normal",),
        ),
        LevelTest(
            name="t, over completions",
            offered=("HolesPair.pvalue_imputed",),
            rejects=run.over_completions,
            data=ALL_PAIRS,
            cost=4,
        ),
        LevelTest(
            name="wilcoxon",
            offered=("compare --test wilcoxon",),
            rejects=run.pairs(wilcoxon),
            data=ALL_PAIRS,
            sizes=(*EXACT_SIZES, LARGE),
            valid=EXCHANGEABLE,
            foreign=UNEQUAL,
        ),
        LevelTest(
            name="sign",
            offered=("compare --test sign",),
            rejects=run.pairs(sign_test),
            data=ALL_PAIRS,
            sizes=EXACT_SIZES,
            valid=EXCHANGEABLE,
            foreign=UNEQUAL,
        ),
        LevelTest(
            name="randomization",
            offered=("compare --test randomization", "compare --mode sound"),
            rejects=run.pairs(randomization, sampled=True),
            data=ALL_PAIRS,
            sizes=EXACT_SIZES,
            valid=EXCHANGEABLE,
            foreign=UNEQUAL,
        ),
        LevelTest(
            name="bootstrap",
            offered=("compare --test bootstrap",),
            rejects=run.pairs(studentized_bootstrap, sampled=True),
            data=ALL_PAIRS,
        ),
        LevelTest(
            name="bootstrap, greater",
            offered=("studentized_bootstrap, greater",),
            rejects=run.pairs(studentized_bootstrap, sampled=True, alternative="greater"),
            data=ALL_PAIRS,
            cost=4,
        ),
        LevelTest(
            name="randomization, mode paper",
            offered=("compare --mode paper",),
            cost=8,
            rejects=run.pairs(randomization, sampled=True, mode="paper"),
            data=EXCHANGEABLE,
            paper=True,
        ),
        LevelTest(
            name="bootstrap, mode paper",
            offered=("compare --mode paper",),
            cost=8,
            rejects=run.pairs(studentized_bootstrap, sampled=True, mode="paper"),
            data=EXCHANGEABLE,
            paper=True,
        ),
    ),
)

UNPAIRED = Section(
    title="Two runs on different topics, as many for each",
    draws={kind: partial(null_data.apart, kind=kind) for kind in (*EXCHANGEABLE, *UNEQUAL, SPREAD)},
    tests=(
        LevelTest(
            name="welch",
            offered=("compare --test welch",),
            rejects=run.pairs(welch),
            data=(*EXCHANGEABLE, *UNEQUAL, SPREAD),
        ),
    ),
)

FAMILY = Section(
    title=f"All pairs of {N_RUNS} runs: any false claim at all",
    draws=_runs(N_RUNS, *FAMILIES),
    tests=(
        LevelTest(
            name="t, none",
            offered=("compare --correction none",),
            cost=4,
            paper=True,
            rejects=run.family(paired_t, "none"),
            data=FAMILIES,
        ),
        LevelTest(
            name="t, holm",
            offered=(
                "compare --correction holm",
                "CompareResult.pvalue_adjusted",
                "FamilyMember.pvalue_adjusted",
            ),
            rejects=run.family(paired_t, "holm"),
            data=FAMILIES,
            valid=("normal", SPREAD),
        ),
        LevelTest(
            name="t, maxt",
            offered=("compare --correction maxt", "MaxT.pvalue"),
            cost=10,
            rejects=run.max_t_family,
            data=FAMILIES,
        ),
        LevelTest(
            name="t, bonferroni",
            offered=("compare --correction bonferroni",),
            cost=4,
            rejects=run.family(paired_t, "bonferroni"),
            data=FAMILIES,
            valid=("normal", SPREAD),
        ),
        LevelTest(
            name="t, bh",
            offered=("compare --correction bh",),
            cost=4,
            rejects=run.family(paired_t, "bh"),
            data=FAMILIES,
            valid=("normal", SPREAD),
        ),
        LevelTest(
            name="randomization, holm",
            offered=("CompareResult.pvalue_adjusted",),
            cost=4,
            rejects=run.family(randomization, "holm", sampled=True),
            data=FAMILIES,
            valid=EXCHANGEABLE,
        ),
        LevelTest(
            name="tukey",
            offered=("compare --test tukey",),
            rejects=run.tukey_range,
            data=FAMILIES,
            exact=("normal",),
        ),
        LevelTest(
            name="randomized-tukey",
            offered=("compare --test randomized-tukey",),
            cost=20,
            rejects=run.randomized_range,
            data=FAMILIES,
            valid=EXCHANGEABLE,
            foreign=(SPREAD,),
        ),
        LevelTest(
            name="F of runs, two-way",
            offered=("AnovaSource.pvalue",),
            rejects=run.run_f,
            data=FAMILIES,
            exact=("normal",),
        ),
        LevelTest(
            name="Friedman",
            offered=("Friedman.pvalue",),
            cost=20,
            rejects=run.friedman_of_runs,
            data=FAMILIES,
        ),
    ),
)

MANY = Section(
    title=f"All pairs of {N_MANY} runs, 1,000 samples: any false claim at all",
    draws=_runs(N_MANY, "normal"),
    tests=(
        LevelTest(
            name="randomization, holm",
            offered=("compare --mode sound",),
            cost=20,
            rejects=run.family(randomization, "holm", sampled=True),
            data=("normal",),
            sizes=(25, 50),
            valid=("normal",),
        ),
        LevelTest(
            name="randomization, holm, mode paper",
            offered=("compare --mode paper",),
            rejects=run.family(randomization, "holm", sampled=True, mode="paper"),
            cost=20,
            data=("normal",),
            sizes=(25, 50),
            paper=True,
        ),
    ),
)

PARTIAL = Section(
    title="All pairs of 10 runs, of which two are better than the others",
    draws={"normal": partial(null_data.some_better, n_runs=10)},
    tests=(
        LevelTest(
            name="t, holm: any false claim",
            offered=("compare --correction holm",),
            cost=4,
            rejects=run.no_false_claim,
            data=("normal",),
            valid=("normal",),
        ),
        LevelTest(
            name="t, maxt: any false claim",
            offered=("compare --correction maxt",),
            cost=10,
            rejects=run.max_t_false_claim,
            data=("normal",),
        ),
        LevelTest(
            name="t, bh: share of false claims",
            offered=("compare --correction bh",),
            cost=4,
            rejects=run.bh_false_share,
            data=("normal",),
            valid=("normal",),
        ),
    ),
)


GRIDS = ("normal", "interacting", "AP")
COMPONENTS = Section(
    title="Components: a grid of 2 × 3, topics as blocks",
    draws={kind: partial(null_data.grid, shape=GRID, kind=kind) for kind in GRIDS},
    tests=(
        LevelTest(
            name="F, strata topic",
            offered=("components --strata topic", "components --mode sound"),
            rejects=run.components_f("topic"),
            data=GRIDS,
            exact=("normal", "interacting"),
        ),
        LevelTest(
            name="F, strata none",
            offered=("components --strata none", "components --mode paper", "AnovaSource.pvalue"),
            rejects=run.components_f("none"),
            data=GRIDS,
            exact=("normal",),
            foreign=("interacting",),
        ),
        LevelTest(
            name="Tukey, strata topic",
            offered=("MainEffect.pvalue",),
            rejects=run.components_tukey("topic"),
            data=GRIDS,
            exact=("normal", "interacting"),
        ),
        LevelTest(
            name="Tukey, strata none",
            offered=("MainEffect.pvalue",),
            rejects=run.components_tukey("none"),
            data=GRIDS,
            exact=("normal",),
            foreign=("interacting",),
        ),
    ),
)

EXCHANGED, UNRELATED = "exchangeable measures", "unrelated measures"
AGREE = Section(
    title="Measures: 100 samples of one set of topics and systems",
    draws={
        EXCHANGED: partial(null_data.measures, related=True),
        UNRELATED: partial(null_data.measures, related=False),
    },
    tests=tuple(
        LevelTest(
            name=f"F of {effect}, strata {strata}",
            offered=(f"agree --strata {strata}", "agree --mode paper"),
            cost=40,
            rejects=run.agreement(effect, strata),
            data=data,
            sizes=(25,),
            paper=True,
        )
        for strata in ("subject", "sample", "none")
        for effect, data in (("measure_pair", (EXCHANGED, UNRELATED)), ("topic_size", (UNRELATED,)))
    ),
)


def _varying(nested: bool) -> dict[str, Draw]:
    return {
        f"{kind}, {m} instances": partial(
            null_data.instances, n_instances=m, kind=kind, nested=nested
        )
        for kind in ("normal", "AP", "exponential")
        for m in N_INSTANCES
    }


VARYING = tuple(_varying(nested=False))
ONE_KIND = tuple(name for name in VARYING if name.startswith("normal"))
CROSSED = Section(
    title="A system that varies, against one run",
    draws=_varying(nested=False),
    tests=(
        LevelTest(
            name="mixed",
            offered=("instances pvalue.mixed", "DifferenceTest.pvalue", "instances --mode sound"),
            rejects=run.mixed,
            data=VARYING,
            sizes=SIZES,
        ),
        LevelTest(
            name="mixed, cells missing",
            offered=("MixedFit.pvalue",),
            cost=20,
            rejects=run.missing_cells,
            data=ONE_KIND[:1],
            sizes=(25,),
        ),
        LevelTest(
            name="two_way_bootstrap",
            offered=("instances pvalue.two_way_bootstrap", "TwoWayBootstrap.pvalue"),
            cost=20,
            rejects=run.two_way,
            data=VARYING[:4],
            sizes=(10, 50),
        ),
        LevelTest(
            name="posterior",
            offered=("Posterior.pvalue",),
            cost=50,
            rejects=run.posterior_p,
            data=ONE_KIND,
            sizes=(25,),
        ),
        LevelTest(
            name="mixed_paper",
            offered=("instances pvalue.mixed_paper", "instances --mode paper"),
            rejects=run.mixed_paper,
            data=VARYING,
            paper=True,
        ),
        LevelTest(
            name="bootstrap (Algorithm 2)",
            offered=("instances pvalue.bootstrap", "InstanceBootstrap.pvalue"),
            cost=20,
            rejects=run.algorithm_two_p,
            data=VARYING,
            sizes=(10, 50),
            paper=True,
        ),
    ),
)

NESTED = Section(
    title="Two systems that vary",
    draws=_varying(nested=True),
    tests=(
        LevelTest(
            name="mixed",
            offered=("instances pvalue.mixed", "DifferenceTest.pvalue"),
            rejects=run.mixed,
            data=VARYING,
        ),
        LevelTest(
            name="two_way_bootstrap",
            offered=("instances pvalue.two_way_bootstrap",),
            cost=20,
            rejects=run.two_way,
            data=VARYING[:4],
            sizes=(10, 50),
        ),
        LevelTest(
            name="mixed_paper",
            offered=("instances pvalue.mixed_paper",),
            rejects=run.mixed_paper,
            data=VARYING,
            paper=True,
        ),
    ),
)

MARGINS = Section(
    title="Equivalence: the true difference is the margin",
    draws=_runs(2, *ALL_PAIRS),
    tests=(
        LevelTest(
            name="non-inferior, difference -delta",
            offered=("EquivalenceTest.pvalue_non_inferiority",),
            rejects=run.non_inferiority,
            data=ALL_PAIRS,
            exact=("normal",),
        ),
        LevelTest(
            name="equivalent, difference delta",
            offered=(
                "EquivalenceTest.pvalue_equivalence",
                "EquivalenceTest.pvalue_non_superiority",
            ),
            rejects=run.equivalence,
            data=ALL_PAIRS,
            exact=("normal",),
        ),
    ),
)

MARGIN_TABLE = Section(
    title=f"A table of {N_SYSTEMS} systems, each at the margin from a baseline: any claim",
    draws=_runs(N_SYSTEMS + 1, "normal"),
    tests=(
        LevelTest(
            name="not worse, holm",
            cost=4,
            data=("normal",),
            valid=("normal",),
            offered=("FamilyMember.pvalue_non_inferiority_adjusted",),
            rejects=run.margin_table("pvalue_non_inferiority"),
        ),
        LevelTest(
            name="within, holm",
            cost=4,
            data=("normal",),
            valid=("normal",),
            offered=("FamilyMember.pvalue_equivalence_adjusted",),
            rejects=run.margin_table("pvalue_equivalence"),
        ),
    ),
)

SWEEP = Section(
    title="A sweep over four settings, each worse by the margin: any that passes",
    draws=_runs(5, "normal"),
    tests=(
        LevelTest(
            name="smallest not worse",
            offered=("InstancesTable.smallest_non_inferior",),
            cost=4,
            rejects=run.sweep("sound"),
            data=("normal",),
            exact=("normal",),
        ),
        LevelTest(
            name="smallest not worse, mode paper",
            offered=("instances --mode paper",),
            cost=4,
            rejects=run.sweep("paper"),
            data=("normal",),
            paper=True,
        ),
    ),
)

JUDGED = ("normal", "AP", "unequal spread")
JUDGES = Section(
    title=f"Judges: {N_RUNS} equal runs, a judge of four times as many further topics",
    draws={kind: partial(null_data.judged, n_runs=N_RUNS, kind=kind) for kind in JUDGED},
    tests=(
        LevelTest(
            name="a pair, corrected",
            offered=("RunRanking.pvalue",),
            cost=20,
            rejects=run.corrected_pair,
            data=JUDGED,
            sizes=(10, 25),
        ),
        LevelTest(
            name="all pairs, corrected",
            offered=("RunRanking.pvalue_adjusted",),
            cost=20,
            rejects=run.corrected_family,
            data=JUDGED,
            sizes=(10, 25),
        ),
        LevelTest(
            name="kin, over topics",
            offered=("KinTest.pvalue",),
            cost=4,
            rejects=run.kin_over_topics,
            data=JUDGED,
            sizes=(10, 25),
        ),
        LevelTest(
            name="people's topics as a sample",
            offered=("JudgeResult.pvalue_of_sample",),
            cost=4,
            rejects=run.sample_of_topics,
            data=JUDGED,
            sizes=(10, 25),
        ),
    ),
)

GATE_SIZES, GATE_LARGE = (25, 100), (1000, 10_000)
SMOOTH, TAILED = ("normal", "AP"), ("losses", "gains")
GATED = {
    **{kind: partial(null_data.differences, kind=kind) for kind in (*SMOOTH, *TAILED)},
    **{
        f"clusters, {kind}": partial(null_data.differences, kind=kind, clustered=True)
        for kind in ("normal", *TAILED)
    },
}


def _gate_tests(name: str, field: str, pvalue: Callable[..., float]) -> tuple[LevelTest, ...]:
    """Return fewer trials for many topics."""
    return tuple(
        LevelTest(
            name=name,
            offered=(field,),
            cost=cost,
            rejects=run.gate(pvalue),
            data=tuple(GATED),
            sizes=sizes,
            valid=SMOOTH,
        )
        for sizes, cost in ((GATE_SIZES, 4), (GATE_LARGE, 20))
    )


GATE = Section(
    title="Gate: a candidate at the margin passes, or an equal one fails",
    draws=GATED,
    tests=(
        # The differences are those from the margin.
        *_gate_tests("pass", "GateRow.pvalue_pass", lambda fit: fit.pvalue_above(0.0)),
        *_gate_tests("fail", "GateRow.pvalue_fail", lambda fit: fit.pvalue_below(0.0)),
    ),
)

BOTH_WAYS = (("pass", gates.passes), ("fail", gates.fails))
GATE_FURTHER = (
    Section(
        title="Gate with one judged document per query",
        draws=gates.SPARSE,
        tests=tuple(
            LevelTest(
                name=name,
                offered=(f"GateRow.pvalue_{name}",),
                cost=cost,
                rejects=gates.plain(pvalue),
                data=tuple(gates.SPARSE),
                sizes=sizes,
                valid=("sparse, symmetric",),
            )
            for name, pvalue in BOTH_WAYS
            for sizes, cost in ((GATE_SIZES, 8), (GATE_LARGE, 20))
        ),
    ),
    Section(
        title="Gate with four segments of unequal size: any that passes, any that fails",
        draws=gates.SEGMENTED,
        tests=tuple(
            LevelTest(
                name=f"any {name}",
                offered=(f"GateRow.pvalue_{name}",),
                cost=20,
                rejects=gates.any_segment(pvalue),
                data=tuple(gates.SEGMENTED),
                sizes=(100, 1000),
                valid=("normal", "AP"),
            )
            for name, pvalue in BOTH_WAYS
        ),
    ),
    Section(
        title="Gate that is looked at after every topic",
        draws=gates.BOUNDED,
        tests=tuple(
            LevelTest(
                name=f"{name} at some look",
                offered=(f"GateRow.pvalue_{name}",),
                cost=20,
                rejects=gates.every_look(pvalue),
                data=tuple(gates.BOUNDED),
                sizes=(100, 1000, 10_000),
                valid=tuple(gates.BOUNDED),
            )
            for name, pvalue in BOTH_WAYS
        ),
    ),
    Section(
        title="Drift: a year of 365 gates without a change, an alarm in any night",
        draws=gates.YEARS,
        tests=(
            LevelTest(
                name="alarm, no margin",
                offered=("GateRow.pvalue_fail",),
                cost=50,
                rejects=gates.any_night,
                data=tuple(gates.YEARS),
                sizes=(50, 300),
                valid=("normal",),
            ),
        ),
    ),
)

CLUSTER_COUNTS = (5, 10, 20, 40)
EQUAL_CLUSTERS = ("equal clusters, normal",)
CLUSTERS = Section(
    title="Clustered topics: two runs, and all pairs of five; sizes count clusters",
    draws=clusters.CLUSTERED,
    tests=(
        *(
            LevelTest(
                name=name,
                offered=("CompareResult.pvalue",),
                cost=50,
                rejects=rejects,
                data=tuple(clusters.CLUSTERED),
                sizes=CLUSTER_COUNTS,
                exact=EQUAL_CLUSTERS if name == "t, clusters" else (),
                valid=EQUAL_CLUSTERS if name == "randomization, clusters" else (),
            )
            for name, rejects in clusters.TESTS_OF_A_PAIR.items()
        ),
        LevelTest(
            name="t, topics as if independent",
            offered=("CompareResult.pvalue",),
            cost=50,
            rejects=run.one_by_one(clusters.as_if_independent),
            data=tuple(clusters.CLUSTERED),
            sizes=CLUSTER_COUNTS,
            paper=True,
        ),
        LevelTest(
            name="maxt, clusters, all pairs",
            offered=("CompareResult.pvalue_adjusted",),
            cost=50,
            rejects=run.one_by_one(clusters.of_all_pairs),
            data=tuple(clusters.CLUSTERED),
            sizes=CLUSTER_COUNTS,
        ),
    ),
)

SEGMENTS = Section(
    title="Segments: five runs whose leads are the same in three segments",
    draws=clusters.SEGMENTED,
    tests=(
        LevelTest(
            name="segment × run",
            offered=("Interaction.pvalue",),
            cost=20,
            rejects=run.one_by_one(clusters.of_segments),
            data=tuple(clusters.SEGMENTED),
            sizes=(40, 80, 160),
        ),
    ),
)

GRADED_SIZES = (20, 100, 200)
GRADED = Section(
    title="Judges as a sample: two equal systems that each judge graded on each topic",
    draws=graded.DRAWS,
    tests=(
        LevelTest(
            name="mixed, judges random",
            offered=("Difference.pvalue",),
            rejects=graded.judges_random,
            data=tuple(graded.DRAWS),
            sizes=GRADED_SIZES,
        ),
        LevelTest(
            name="mixed, judges random, grades missing",
            offered=("Difference.pvalue",),
            cost=40,
            rejects=run.one_by_one(graded.with_gaps),
            data=("3 judges", "5 judges"),
            sizes=(20, 100),
        ),
        LevelTest(
            name="t, over topics alone",
            offered=("CompareResult.pvalue",),
            rejects=graded.over_topics,
            data=tuple(graded.DRAWS),
            sizes=GRADED_SIZES,
            paper=True,
        ),
    ),
)

GRADED_FAMILY = Section(
    title="Judges as a sample: all pairs of 8 equal systems, any false claim at all",
    draws=graded.FAMILIES,
    tests=(
        LevelTest(
            name="mixed, judges random, holm",
            offered=("CompareResult.pvalue_adjusted",),
            cost=40,
            rejects=run.one_by_one(graded.any_pair),
            data=tuple(graded.FAMILIES),
            sizes=(20, 100),
        ),
    ),
)

SECTIONS = (
    PAIRS,
    UNPAIRED,
    FAMILY,
    MANY,
    PARTIAL,
    COMPONENTS,
    AGREE,
    CROSSED,
    NESTED,
    MARGINS,
    MARGIN_TABLE,
    SWEEP,
    JUDGES,
    GRADED,
    GRADED_FAMILY,
    GATE,
    *GATE_FURTHER,
    CLUSTERS,
    SEGMENTS,
)
