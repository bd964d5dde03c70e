"""Jayasinghe et al. (IP&M 2015) again: how to compare systems that answer differently every time?

What the paper shows by simulation (Figures 2, 3 and 4, Table 1), and the simulations that it lacks:
whether its tests keep their level, what eq. (9) makes of the instances' variance, and the statistic
under eq. (6). Where the text leaves a simulation open, both readings are run; where it says what
comes out, the claims tell whether it does. `case_study` has the figures of the given systems.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy
from scipy import integrate, optimize, special

from steadyrank.compute.random import block_stream
from steadyrank.data.scores import Scores
from steadyrank.present.table import Table
from steadyrank.stats.mixed.fit import MixedModel, fit
from steadyrank.stats.mixed.two_way import two_way_difference
from steadyrank_lab.papers.data import PaperData
from steadyrank_lab.papers.jayasinghe2015 import case_study
from steadyrank_lab.papers.jayasinghe2015.case_study import OMISSION, SHEET, agreement
from steadyrank_lab.papers.jayasinghe2015.experiments import (
    GRID,
    SD,
    Design,
    Effects,
    equivalence_intervals,
    error_rates,
    method_pvalues,
    paper_comparison,
    single_instance_shares,
)
from steadyrank_lab.papers.jayasinghe2015.plots import intervals_on, shares_on
from steadyrank_lab.papers.model import (
    Claim,
    Exhibit,
    Part,
    Reproduction,
    Work,
    above,
    frame_figure,
    page_table,
    simulated,
)

DELTA = 0.01
"""The paper's margin."""

EXHIBITS = 17

READINGS: dict[Effects, str] = {
    "cell": "one draw for each instance and topic",
    "instance": "one draw for each instance",
}

EQUAL_MEAN, MEAN_AT_HALF = 0.4543, 0.5229
"""The effect at which the simulated system's mean score is .5, and its score at an effect of .5."""

SPREADS = {"system_topic": 0.08, "residual": 0.06}
"""Standard deviations behind the simulated levels, without that of the instances."""

Rows = tuple[tuple[int, int, float], ...]
CROSSED: Rows = ((3, 50, 0.0), (3, 50, 0.02), (10, 50, 0.02), (10, 150, 0.02), (100, 50, 0.02))
NESTED: Rows = ((3, 50, 0.02), (10, 50, 0.02), (10, 150, 0.02), (30, 50, 0.02))
"""Instances, topics, and the standard deviation between instances."""


class Effort(NamedTuple):
    """How much of everything."""

    repetitions: int
    step: int
    """Step of the grid of Figure 2."""
    comparisons: int
    replications: int
    """Simulated comparisons in each row of a table of levels."""
    fits: int
    samples: int
    """Samples for each size in Table 1."""
    sizes: tuple[int, ...]
    pools: int
    resamples: int
    draws: int
    """Draws from the posterior."""


SMALL = Effort(10, 2, 60, 600, 40, 2000, (2, 5, 10), 6, 300, 1000)
FULL = Effort(100, 1, 5000, 2000, 200, 20_000, (2, 5, 10, 20, 50, 100), 20, 10_000, 4000)


def jayasinghe2015(data: PaperData, work: Work) -> Reproduction:
    """Every figure and table of the paper that shows results.

    Figures 2 to 4 and Table 1 are simulated, as in the paper; Figures 6 to 13 are of instances. A
    number as `budget` is that of the simulated comparisons of Figure 4.
    """
    comparisons = work.number(small=SMALL.comparisons, full=FULL.comparisons)
    effort = (FULL if comparisons >= 1000 else SMALL)._replace(comparisons=comparisons)
    assert data.scores is not None
    seeded = (effort, work.seed, work.jobs)
    exhibits: list[Exhibit] = []
    for made in chain(_simulated(*seeded), _observed(data.scores, *seeded)):
        exhibits.append(made)
        if work.progress is not None:
            work.progress(len(exhibits), EXHIBITS)
    settings = {"measures": data.scores.measures, "delta": DELTA, **effort._asdict()}
    words = f"{data.words}; deterministic: {case_study.BASELINE}"
    return SHEET.reproduction(words, exhibits, **settings)


def _simulated(effort: Effort, seed: int, jobs: int | None) -> Iterator[Exhibit]:
    """Yield what the paper simulates, and what it should have."""
    yield figure_2(repetitions=effort.repetitions, step=effort.step, seed=seed, jobs=jobs)
    yield equation_6(seed)
    yield table_1(samples=effort.samples, seed=seed)
    yield figure_3(seed)
    yield figure_4(comparisons=effort.comparisons, seed=seed, jobs=jobs)
    yield algorithm_2(replications=effort.replications, seed=seed, jobs=jobs)
    yield equation_9(fits=effort.fits, seed=seed)
    yield section_3_2(replications=effort.replications, seed=seed, jobs=jobs)


def _observed(scores: Scores, effort: Effort, seed: int, jobs: int | None) -> Iterator[Exhibit]:
    options: dict[str, Any] = {
        "delta": DELTA,
        "n_samples": effort.resamples,
        "n_draws": effort.draws,
        "jobs": jobs,
        "samples_per_instance": max(100, effort.resamples // 10),
        "rng": seed,
    }
    tables = {
        measure: case_study.against(scores, case_study.BASELINE, measure, **options)
        for measure in scores.measures
    }
    first = scores.measures[0]
    main = tables[first]
    fewest = min(len(comparison.pair.a.runs) for comparison in main.comparisons)
    sizes = (*(size for size in effort.sizes if size < fewest), fewest)
    drawing: dict[str, Any] = {"sizes": sizes, "number": effort.pools, "seed": seed, "jobs": jobs}
    yield case_study.figure_6(main)
    yield case_study.figure_7(main)
    yield case_study.figure_8(main)
    yield case_study.figure_9(main, **drawing)
    tested = case_study.pool_tests(tables, **drawing)
    yield case_study.figure_10(tested)
    yield case_study.figure_11(tested)
    yield case_study.figure_12(tables)
    yield case_study.equation_8(tables)
    reference = main.comparisons[-1]
    others = case_study.against(scores, reference.a, first, **options)
    halves = case_study.halves_of(scores, reference.pair.a.runs, first, **options)
    yield case_study.figure_13(reference.a, others, halves)


@SHEET.exhibit("figure-2")
def figure_2(*, repetitions: int, step: int, seed: int, jobs: int | None) -> Iterator[Part]:
    """Instances tested one by one, under both readings of the simulation."""
    options: Any = {"means": GRID[::step], "spreads": GRID[::step], "n_trials": repetitions}
    grids = {}
    for effects, reading in READINGS.items():
        shares = single_instance_shares(**options, effects=effects, seed=seed, jobs=jobs)
        caption = f"Significant instances, {reading}"
        yield frame_figure(f"figure-2-{effects}", caption, shares_on, shares, (5.6, 4.4))
        grid = grids[effects] = shares.pivot(index="mean", columns="spread", values="share")
        yield _shares_table(effects, grid)
        wide = shares[shares["mean"].between(0, 0.5, "neither") & (shares["spread"] >= 0.5)]
        part = wide["share"]
        told = (
            f"{(part < 0.5).mean():.2f} of the cells with spreads of 0.5 and above are below one "
            f"half; their mean share is {part.mean():.2f}"
        )
        yield SHEET.claim("figure-2.wide", (part < 0.5).mean() > 0.9, told, reading=reading)
    yield from _grid_claims(grids["cell"])


def _shares_table(effects: Effects, grid: pd.DataFrame) -> Table:
    every = max(1, len(grid) // 5)
    some = grid.iloc[::every, ::every]
    header = ("mean \\ spread", *(f"{spread:g}" for spread in some))
    rows = [(f"{mean:g}", *row) for mean, row in zip(some.index, some.to_numpy(), strict=True)]
    caption = f"Share of significant instances, {READINGS[effects]}"
    return page_table(f"figure-2-{effects}-data", caption, header, rows, digits=2)


def _grid_claims(grid: pd.DataFrame) -> Iterator[Claim]:
    mixed = ((grid > 0.1) & (grid < 0.9)).to_numpy().mean()
    told = f"the share is between 0.1 and 0.9 in {mixed:.2f} of the cells"
    yield SHEET.claim("figure-2.mixed", mixed > 0.2, told)
    first, means = grid.iloc[:, 0].to_numpy(), grid.index
    near = int(np.argmin(np.abs(means - EQUAL_MEAN)))
    told = f"{first[near]:.2f} at {means[near]:g}, {first[-1]:.2f} at {means[-1]:g}"
    yield SHEET.claim("figure-2.ends", first[near] < 0.2 and first[-1] > 0.95, told)
    equal = optimize.brentq(lambda effect: expected_score(effect) - 0.5, 0.1, 0.9)
    told = f"{expected_score(0.5):.4f} without spread; 0.5 is reached at {equal:.4f}"
    yield SHEET.claim("figure-2.expected", abs(expected_score(0.5) - 0.5) < 0.005, told)


def expected_score(effect: float) -> float:
    """Mean score of a topic effect that is uniform on (0, 1) and a fixed instance effect.

    >>> round(expected_score(0.5), 4)
    0.5229
    """
    return float(integrate.quad(lambda t: np.sqrt(0.5 * (t**2 + effect**2)), 0.0, 1.0)[0])


@SHEET.exhibit("figure-3")
def figure_3(seed: int) -> Iterator[Part]:
    """Intervals of a difference that is 0, against the number of topics."""
    found = equivalence_intervals(delta=DELTA, seed=seed)
    sizes, inside = found["topics"].to_numpy(), found["inside"].to_numpy()
    widths = (found["high"] - found["low"]).to_numpy()
    caption = f"95% intervals and the margin ±{DELTA:g}"
    yield frame_figure("figure-3", caption, intervals_on, found, (5.6, 3.6), delta=DELTA)
    told = (
        f"mean width {widths[:10].mean():.3f} for {sizes[0]} to {sizes[9]} topics, "
        f"{widths[-10:].mean():.4f} for {sizes[-10]} to {sizes[-1]}"
    )
    yield SHEET.claim("figure-3.narrow", widths[-10:].mean() < 0.5 * widths[:10].mean(), told)
    needed = int(np.ceil((special.ndtri(0.975) * SD / DELTA) ** 2))
    told = f"first at {sizes[inside][0]} topics; the width alone allows it from {needed} on"
    fit = inside[-10:].any() and not inside[:20].any()
    yield SHEET.claim("figure-3.fit", fit, told if inside.any() else "none does")


@SHEET.exhibit("table-1")
def table_1(*, samples: int, seed: int) -> Iterator[Part]:
    """Two ways to claim that systems are alike, in numbers."""
    sizes, sd, apart = (10, 25, 50, 100, 250, 500, 1000, 2500), 0.1, 2 * DELTA
    rows = []
    for place, n in enumerate(sizes):
        stream = block_stream(seed, "claims of equivalence", place)
        noise = stream.normal(0.0, sd / np.sqrt(n), samples)
        error = sd * np.sqrt(stream.chisquare(n - 1, samples) / (n - 1) / n)
        half = special.stdtrit(n - 1.0, 0.975) * error
        shares = []
        for truth in (0.0, apart):
            mean = truth + noise
            shares += [np.mean(np.abs(mean) <= half), np.mean(np.abs(mean) + half < DELTA)]
        rows.append((n, *map(float, shares)))
    ways = ("not significant", "within the margin")
    header = ("topics", *(f"{who}: {way}" for who in ("equal", f"{apart:g} apart") for way in ways))
    caption = f"How often each way calls two systems alike (margin {DELTA:g}, sd {sd:g})"
    yield page_table("table-1", caption, header, rows, digits=3)
    _, equal_accept, equal_show, apart_accept, apart_show = np.array(rows).T
    told = (
        f"systems {apart:g} apart pass in {apart_accept[0]:.2f} of the samples of {sizes[0]} "
        f"topics, in {apart_accept[-1]:.2f} of those of {sizes[-1]}"
    )
    rewards = apart_accept[0] > 0.8 and all(b < a + 0.02 for a, b in pairwise(apart_accept))
    yield SHEET.claim("table-1.lack", rewards, told)
    told = (
        f"equal systems pass in {equal_show[0]:.2f} and {equal_show[-1]:.2f} of these; those apart "
        f"in at most {apart_show.max():.3f}"
    )
    rewards = equal_show[-1] > 0.9 and equal_show[0] < 0.05 and apart_show.max() < 0.05
    yield SHEET.claim("table-1.margin", rewards, told)
    told = f"{1 - equal_accept.mean():.3f} of the samples, of any size"
    yield SHEET.claim("table-1.equal", all(abs(s - 0.95) < 0.02 for s in equal_accept), told)


@SHEET.exhibit("figure-4")
def figure_4(*, comparisons: int, seed: int, jobs: int | None) -> Iterator[Part]:
    """Yield the paper's two tests on its own simulation."""
    tested = {}
    numbers: dict[Effects, int] = {"instance": comparisons, "cell": max(40, comparisons // 5)}
    for kind, number in numbers.items():
        drawn = (paper_comparison(seed, k, kind) for k in range(number))
        tested[READINGS[kind]] = method_pvalues(drawn, seed=seed, jobs=jobs)
    yield from agreement("figure-4", {kind: READINGS[kind] for kind in numbers}, tested)


def _levels(rows: Rows, design: Design, tests: tuple[str, ...], **options: Any) -> pd.DataFrame:
    """Return how often each test is significant in comparisons without a difference."""
    variances = {name: spread**2 for name, spread in SPREADS.items()}
    if design == "nested":  # so that the difference of both systems has the variance above
        variances["system_topic"] /= 2
    found = []
    for m, n, s in rows:
        components = {"instance": s**2, **variances}
        rates = error_rates(m, n, components=components, design=design, tests=tests, **options)
        found.append({"instances": m, "topics": n, "s_a": s, **rates["rate"]})
    return pd.DataFrame(found)


def _level_table(name: str, levels: pd.DataFrame, replications: int) -> Table:
    header = [column if column == "s_a" else str(column).replace("_", " ") for column in levels]
    caption = (
        f"How often each test rejects at 0.05 without a difference, {replications} simulated "
        "comparisons"
    )
    return page_table(name, caption, header, levels.itertuples(index=False), digits=3)


@SHEET.exhibit("algorithm-2")
def algorithm_2(*, replications: int, seed: int, jobs: int | None) -> Iterator[Part]:
    """Yield whether the paper's tests against a deterministic system keep their level."""
    tests = ("t_single", "mixed_paper", "bootstrap", "mixed")
    levels = _levels(CROSSED, "crossed", tests, n_replications=replications, seed=seed, jobs=jobs)
    yield _level_table("algorithm-2", levels, replications)
    worst, plain = (levels.iloc[[CROSSED.index(row)]] for row in ((10, 150, 0.02), (3, 50, 0.0)))
    yield _level_claim("algorithm-2.plain", plain["bootstrap"], replications)
    yield _level_claim("algorithm-2.differ", worst["bootstrap"], replications)
    yield _level_claim("algorithm-2.sound", levels["mixed"], replications)
    yield OMISSION


def _level_claim(id: str, rates: pd.Series[float], n: int, *, exceeds: bool = False) -> Claim:
    """Claim that the 95% intervals of the rates, simultaneously, reach the level."""
    level, counts = 1 - 0.05 / len(rates), (rates.to_numpy() * n).round().astype(int)
    ends = [scipy.stats.binomtest(k, n).proportion_ci(level, "wilson") for k in counts]
    kept = all(low <= 0.05 for low, _ in ends)
    told = "; ".join(f"{r:.3f} [{a:.3f}, {b:.3f}]" for r, (a, b) in zip(rates, ends, strict=True))
    return SHEET.claim(id, kept != exceeds, told)


@SHEET.exhibit("section-3.2")
def section_3_2(*, replications: int, seed: int, jobs: int | None) -> Iterator[Part]:
    """Yield whether the nested model of two non-deterministic systems keeps its level."""
    tests = ("t_on_means", "mixed_paper", "mixed", "welch")
    levels = _levels(NESTED, "nested", tests, n_replications=replications, seed=seed, jobs=jobs)
    yield _level_table("section-3-2", levels, replications)
    yield _level_claim("section-3.2.paper", levels["mixed_paper"], replications)
    yield _level_claim("section-3.2.sound", levels["mixed"], replications)
    for id, test in (("averaged", "t_on_means"), ("welch", "welch")):
        yield _level_claim(f"section-3.2.{id}", levels[test], replications, exceeds=True)


@SHEET.exhibit("equation-9")
def equation_9(*, fits: int, seed: int) -> Iterator[Part]:
    """Yield what the crossed model of eq. (9) makes of the instances' variance."""
    m, n, s_a = 20, 50, 0.05
    ratios = []
    for place in range(fits):
        stream = block_stream(seed, "crossed model", place)
        d = s_a * stream.normal(size=(m, 1)) + SPREADS["system_topic"] * stream.normal(size=n)
        d = d + SPREADS["residual"] * stream.normal(size=(m, n))
        ratios.append(_crossed(d, stream.normal(0.4, 0.2, size=n)))
    paper, sound, error, whole = np.mean(ratios, axis=0) / (s_a**2, s_a**2, 1.0, 1.0)
    off = float(np.std(ratios, axis=0, ddof=1)[0]) / s_a**2 / np.sqrt(fits)
    # What is below some roundings of 1 depends on the machine.
    furthest = max(1e-15, *(abs(ratio[2] - 1.0) for ratio in ratios))
    rows = [
        ("instance variance of eq. (9), over s_a²", paper),
        ("instance variance of two-way random effects, over s_a²", sound),
        ("standard error of eq. (9), over that of the t test on topic means", error),
        ("standard error of two-way random effects, over the same", whole),
    ]
    caption = f"Means of {fits} simulated comparisons, {m} instances × {n} topics"
    yield page_table("equation-9", caption, ("", "ratio"), rows, digits=3)
    told = f"ratio of standard errors 1 to within {furthest:.0e}"
    yield SHEET.claim("equation-9.t", furthest < 1e-6, told)
    told = f"at {simulated(paper, off, 3)} of its value"
    for id, share in (("variance", 1.0), ("quarter", 0.25)):
        yield SHEET.claim(f"equation-9.{id}", above(paper, share, off) is None, told)


def _crossed(d: np.ndarray, baseline: np.ndarray) -> tuple[float, float, float, float]:
    """Instance variances of eq. (9) and of two-way effects; both errors over that of t on means."""
    y = np.stack([baseline + d, np.broadcast_to(baseline, d.shape)])
    system, instance, topic = np.indices(y.shape).reshape(3, -1)
    terms: Any = {"instance": instance, "topic": topic, "system_topic": (system, topic)}
    crossed = fit(MixedModel(y.ravel(), random=terms, fixed=system == 0))
    two_way = two_way_difference(d)
    error = float(d.mean(axis=0).std(ddof=1)) / np.sqrt(d.shape[1])
    return (
        crossed.variances["instance"],
        two_way.variances["instance"],
        float(crossed.standard_errors[-1]) / error,
        two_way.standard_error / error,
    )


@SHEET.exhibit("equation-6")
def equation_6(seed: int) -> Iterator[Part]:
    """Yield the statistic of the linear model of two deterministic systems, as printed."""
    stream = block_stream(seed, "linear model", 0)
    y = stream.normal(0.4, 0.2, 50) + stream.normal(0.0, 0.1, (2, 50))
    y[0] += 0.03
    z = y[0] - y[1]
    residual = y - y.mean(axis=0) - y.mean(axis=1, keepdims=True) + y.mean()
    variance = float((residual**2).sum()) / (y.shape[1] - 1)
    paired = float(z.mean() / (z.std(ddof=1) / np.sqrt(len(z))))
    printed = float(z.mean() / np.sqrt(variance / len(z)))
    doubled = float(z.mean() / np.sqrt(2 * variance / len(z)))
    rows = [("paired t", paired), ("as printed, s²/N", printed), ("with 2 s²/N", doubled)]
    yield page_table("equation-6", "One simulated comparison, 50 topics", ("", "t"), rows)
    told = f"{printed:.4f} and {paired:.4f}: larger by the root of 2"
    yield SHEET.claim("equation-6.printed", abs(printed - paired) < 1e-9, told)
    yield SHEET.claim("equation-6.doubled", abs(doubled - paired) < 1e-9, f"{doubled:.4f}")
