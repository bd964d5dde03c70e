"""Jayasinghe et al. (IP&M 2015) again: how to compare systems that answer differently every time?

The paper's simulations (`jayasinghe2015_simulated`), those it lacks (`jayasinghe2015_levels`), and
its case study on the systems at hand (`jayasinghe2015_observed`, `jayasinghe2015_margins`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from steadyrank.papers.data import PaperData
from steadyrank.papers.jayasinghe2015 import level_figures as levels
from steadyrank.papers.jayasinghe2015 import margins, observed, simulated
from steadyrank.papers.jayasinghe2015.data import InstanceData, instance_data
from steadyrank.papers.model import Exhibit, Reproduction, Work

REFERENCE = (
    "Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper: Statistical comparisons of "
    "non-deterministic IR systems using two dimensional variance. Information Processing & "
    "Management, 2015. doi:10.1016/j.ipm.2015.06.005"
)

DELTA = 0.01
"""The paper's margin."""

EXHIBITS = 17


class Effort(NamedTuple):
    """How much of everything."""

    repetitions: int
    step: int
    """Of the grid of Figure 2."""
    comparisons: int
    replications: int
    """Of each row of a table of levels."""
    fits: int
    samples: int
    """For each size in Table 1."""
    sizes: tuple[int, ...]
    pools: int
    resamples: int
    draws: int
    """Of the posterior."""


SMALL = Effort(10, 2, 60, 600, 40, 2000, (2, 5, 10), 6, 300, 1000)
FULL = Effort(100, 1, 5000, 2000, 200, 20_000, (2, 5, 10, 20, 50, 100), 20, 10_000, 4000)


def jayasinghe2015(data: PaperData, work: Work) -> Reproduction:
    """Every figure and table of the paper that shows results.

    Figures 2 to 4 and Table 1 are simulated, as in the paper. Figures 6 to 13 need systems with
    several instances: the user's, or built-in ones. A number as `budget` is that of the simulated
    comparisons of Figure 4.
    """
    comparisons = work.number(small=SMALL.comparisons, full=FULL.comparisons)
    effort = (FULL if comparisons >= 1000 else SMALL)._replace(comparisons=comparisons)
    chosen = instance_data(data, jobs=work.jobs)
    seeded = (effort, work.seed, work.jobs)
    exhibits: list[Exhibit] = []
    for exhibit in chain(_simulated(*seeded), _observed(chosen, *seeded)):
        exhibits.append(exhibit)
        if work.progress is not None:
            work.progress(len(exhibits), EXHIBITS)
    return Reproduction(
        paper="jayasinghe2015",
        reference=REFERENCE,
        data=_words(chosen),
        exhibits=tuple(exhibits),
        settings={"measures": chosen.scores.measures, "delta": DELTA, **effort._asdict()},
    )


def _words(chosen: InstanceData) -> str:
    if not chosen.stand_in:
        return f"{chosen.words}; deterministic: {chosen.baseline}"
    return (
        f"{chosen.words}; none is deterministic, so one run of {chosen.stand_in}, the one in the "
        f"middle by its mean, stands in for one ({chosen.baseline})"
    )


def _simulated(effort: Effort, seed: int, jobs: int | None) -> Iterator[Exhibit]:
    """What the paper simulates, and what it should have."""
    yield simulated.figure_2(repetitions=effort.repetitions, step=effort.step, seed=seed, jobs=jobs)
    yield levels.equation_6(seed=seed)
    yield simulated.table_1(samples=effort.samples, seed=seed, delta=DELTA)
    yield simulated.figure_3(seed=seed, delta=DELTA)
    yield simulated.figure_4(comparisons=effort.comparisons, seed=seed, jobs=jobs)
    yield levels.algorithm_2(replications=effort.replications, seed=seed, jobs=jobs)
    yield levels.equation_9(fits=effort.fits, seed=seed)
    yield levels.section_3_2(replications=effort.replications, seed=seed, jobs=jobs)


def _observed(
    chosen: InstanceData, effort: Effort, seed: int, jobs: int | None
) -> Iterator[Exhibit]:
    """The case study, on the systems at hand."""
    options: dict[str, Any] = {
        "delta": DELTA,
        "n_samples": effort.resamples,
        "n_draws": effort.draws,
        "jobs": jobs,
        "samples_per_instance": max(100, effort.resamples // 10),
        "rng": seed,
    }
    tables = {
        measure: chosen.against(chosen.baseline, measure, **options)
        for measure in chosen.scores.measures
    }
    main = tables[chosen.measure]
    sizes = _up_to(
        min(len(comparison.pair.a.runs) for comparison in main.comparisons), effort.sizes
    )
    drawing: dict[str, Any] = {"sizes": sizes, "number": effort.pools, "seed": seed, "jobs": jobs}
    yield observed.figure_6(main)
    yield observed.figure_7(main)
    yield observed.figure_8(main)
    yield observed.figure_9(main, **drawing)
    tested = observed.pool_tests(tables, **drawing)
    yield observed.figure_10(tested)
    yield observed.figure_11(tested)
    yield margins.figure_12(tables)
    yield margins.equation_8(tables)
    reference = max(main.comparisons, key=lambda comparison: comparison.pair.a.mean)
    if chosen.sweep:
        reference = main.comparisons[-1]
    others = None
    if len(main.comparisons) > 1:
        others = chosen.against(reference.a, chosen.measure, **options)
    halves = chosen.halves(reference.pair.a.runs, chosen.measure, **options)
    yield margins.figure_13(chosen, reference.a, others, halves)


def _up_to(instances: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Sizes of pools that so many instances allow, that many among them.

    >>> _up_to(20, (2, 5, 50)), _up_to(2, (2, 5))
    ((2, 5, 20), (2,))
    """
    return (*(size for size in sizes if size < instances), instances)
