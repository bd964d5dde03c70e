"""What Jayasinghe et al. (IP&M 2015) show by simulation, made again: Figures 2, 3 and 4, Table 1.

Where the text leaves the simulation open, both readings are run; where it says what comes out, the
claims tell whether it does. `jayasinghe2015_levels` has the simulations that the paper lacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from scipy import integrate, optimize, special

from steadyrank.compute.random import block_stream
from steadyrank.papers.jayasinghe2015.agreement import (
    MethodPvalues,
    method_pvalues,
    paper_comparison,
    paper_comparisons,
)
from steadyrank.papers.jayasinghe2015.pitfalls import (
    GRID,
    Effects,
    SingleInstanceShares,
    equivalence_intervals,
    single_instance_shares,
)
from steadyrank.papers.model import Claim, Exhibit
from steadyrank.papers.parts import claim, page_table, result_figure
from steadyrank.present.table import Table

READINGS: dict[Effects, str] = {
    "cell": "one draw for each instance and topic",
    "instance": "one draw for each instance",
}

EQUAL_MEAN, MEAN_AT_HALF = 0.4543, 0.5229
"""Where the simulated system's mean score is .5, and its mean score at an effect of .5."""

OMISSION = (
    "Both tests of the paper divide the mean difference by its standard error over topics, the "
    "instances averaged. That leaves out s_a²/M, what M other instances would add, so both are "
    "about these instances alone: the variance is 1 + N s_a² / (M s_u² + s_e²) times what they "
    "assume, and more topics make it worse. They agree with each other because they share this "
    "statistic, which says nothing about their level."
)


def figure_2(*, repetitions: int, step: int, seed: int, jobs: int | None) -> Exhibit:
    """Instances tested one by one, under both readings of the simulation."""
    grid = GRID[::step]
    shares = {
        effects: single_instance_shares(
            means=grid, spreads=grid, n_trials=repetitions, effects=effects, rng=seed, jobs=jobs
        )
        for effects in READINGS
    }
    return Exhibit(
        id="figure-2",
        title="Share of single instances that differ significantly from a deterministic system",
        figures=tuple(
            result_figure(
                f"figure-2-{effects}",
                f"Significant instances, {READINGS[effects]}",
                result,
                "shares",
            )
            for effects, result in shares.items()
        ),
        tables=tuple(_shares_table(effects, result) for effects, result in shares.items()),
        claims=(
            *(_rarely_below_half(effects, result) for effects, result in shares.items()),
            _disagreement(shares["cell"]),
            _agreement_at_ends(shares["cell"]),
            _expected_score(),
        ),
        explanation="The text does not say whether an instance has one random effect or one on "
        "each topic. What it says about small means and large spreads holds only for one on each "
        "topic; and then instances have no mean of their own to differ in, so that the simulation "
        "cannot show what a test does with instances that do. The text also puts the expected "
        f"score at an effect of 0.5 at 0.5; it is {MEAN_AT_HALF}, and 0.5 is reached at "
        f"{EQUAL_MEAN}, where the shares are lowest. Baseline and system have topics of their own, "
        "so that the pairs of the paired test are unrelated. The grid of means and spreads is not "
        "given.",
    )


def _shares_table(effects: Effects, result: SingleInstanceShares) -> Table:
    some = slice(None, None, max(1, len(result.means) // 5))
    header = ("mean \\ spread", *(f"{spread:g}" for spread in result.spreads[some]))
    rows = [
        (f"{mean:g}", *row)
        for mean, row in zip(result.means[some], result.share[some, some], strict=True)
    ]
    caption = f"Share of significant instances, {READINGS[effects]}"
    return page_table(f"figure-2-{effects}-data", caption, header, rows, digits=2)


def _rarely_below_half(effects: Effects, result: SingleInstanceShares) -> Claim:
    low = (result.means > 0) & (result.means < 0.5)
    part = result.share[np.ix_(low, result.spreads >= 0.5)]
    return claim(
        f"With {READINGS[effects]}: at large spreads and means below 0.5 most comparisons are not "
        "significant, as the text has it.",
        (part < 0.5).mean() > 0.9,
        f"{(part < 0.5).mean():.2f} of the cells with spreads of 0.5 and above are below one half; "
        f"their mean share is {part.mean():.2f}",
    )


def _disagreement(result: SingleInstanceShares) -> Claim:
    mixed = (result.share > 0.1) & (result.share < 0.9)
    return claim(
        "Over much of the grid some instances are significant and others are not.",
        mixed.mean() > 0.2,
        f"the share is between 0.1 and 0.9 in {mixed.mean():.2f} of the cells",
    )


def _agreement_at_ends(result: SingleInstanceShares) -> Claim:
    first = result.share[:, 0]
    near = int(np.argmin(np.abs(result.means - EQUAL_MEAN)))
    return claim(
        "Without spread: few differences where means are equal, nearly all at the largest mean.",
        first[near] < 0.2 and first[-1] > 0.95,
        f"{first[near]:.2f} at {result.means[near]:g}, {first[-1]:.2f} at {result.means[-1]:g}",
    )


def expected_score(effect: float) -> float:
    """Mean score of a topic effect that is uniform on (0, 1) and a fixed instance effect.

    >>> round(expected_score(0.5), 4)
    0.5229
    """
    return float(integrate.quad(lambda t: np.sqrt(0.5 * (t**2 + effect**2)), 0.0, 1.0)[0])


def _expected_score() -> Claim:
    equal = optimize.brentq(lambda effect: expected_score(effect) - 0.5, 0.1, 0.9)
    return claim(
        "The expected score at a mean effect of 0.5 is 0.5, as the text has it.",
        abs(expected_score(0.5) - 0.5) < 0.005,
        f"{expected_score(0.5):.4f} without spread; 0.5 is reached at {equal:.4f}",
    )


def figure_3(*, seed: int, delta: float) -> Exhibit:
    """Intervals of a difference that is 0, against the number of topics."""
    intervals = equivalence_intervals(delta=delta, rng=seed)
    sizes, widths = intervals.sizes, intervals.high - intervals.low
    needed = special.ndtri(0.975) * intervals.sd / delta
    inside = sizes[intervals.inside]
    return Exhibit(
        id="figure-3",
        title="Intervals of a difference that is 0, against the number of topics",
        figures=(
            result_figure(
                "figure-3", f"95% intervals and the margin ±{delta:g}", intervals, "intervals"
            ),
        ),
        claims=(
            claim(
                "Intervals narrow as topics are added.",
                widths[-10:].mean() < 0.5 * widths[:10].mean(),
                f"mean width {widths[:10].mean():.3f} for {sizes[0]} to {sizes[9]} topics, "
                f"{widths[-10:].mean():.4f} for {sizes[-10]} to {sizes[-1]}",
            ),
            claim(
                "With many topics they fit within the margin, with few they do not.",
                intervals.inside[-10:].any() and not intervals.inside[:20].any(),
                f"first at {inside[0]} topics; the width alone allows it from "
                f"{int(np.ceil(needed**2))} on"
                if len(inside)
                else "none does",
            ),
        ),
        explanation=f"The paper does not give its standard deviation; here it is {intervals.sd:g}.",
    )


def table_1(*, samples: int, seed: int, delta: float) -> Exhibit:
    """Two ways to claim that systems are alike, in numbers."""
    sizes, sd = (10, 25, 50, 100, 250, 500, 1000, 2500), 0.1
    rows = []
    for place, n in enumerate(sizes):
        stream = block_stream(seed, "claims of equivalence", place)
        noise = stream.normal(0.0, sd / np.sqrt(n), samples)
        error = sd * np.sqrt(stream.chisquare(n - 1, samples) / (n - 1) / n)
        half = special.stdtrit(n - 1.0, 0.975) * error
        shares = []
        for truth in (0.0, 2 * delta):
            mean = truth + noise
            shares += [np.mean(np.abs(mean) <= half), np.mean(np.abs(mean) + half < delta)]
        rows.append((n, *map(float, shares)))
    _, equal_accept, equal_show, apart_accept, apart_show = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    header = (
        "topics",
        "equal: not significant",
        "equal: within the margin",
        f"{2 * delta:g} apart: not significant",
        f"{2 * delta:g} apart: within the margin",
    )
    return Exhibit(
        id="table-1",
        title="Two ways to test for equivalence",
        tables=(
            page_table(
                "table-1",
                f"How often each way calls two systems alike (margin {delta:g}, sd {sd:g})",
                header,
                rows,
                digits=3,
            ),
        ),
        claims=(
            claim(
                "Taking a lack of significance for equivalence rewards small samples.",
                apart_accept[0] > 0.8 and all(b < a + 0.02 for a, b in pairwise(apart_accept)),
                f"systems {2 * delta:g} apart pass in {apart_accept[0]:.2f} of the samples of "
                f"{sizes[0]} topics, in {apart_accept[-1]:.2f} of those of {sizes[-1]}",
            ),
            claim(
                "Testing against a margin rewards large samples, and is not fooled by small ones.",
                equal_show[-1] > 0.9 and equal_show[0] < 0.05 and apart_show.max() < 0.05,
                f"equal systems pass in {equal_show[0]:.2f} and {equal_show[-1]:.2f} of these; "
                f"those apart in at most {apart_show.max():.3f}",
            ),
            claim(
                "With more topics equal systems are called different no less often.",
                all(abs(share - 0.95) < 0.02 for share in equal_accept),
                f"{1 - equal_accept.mean():.3f} of the samples, of any size",
            ),
        ),
        explanation="The paper's table is in words; these are the numbers behind them. A 95% "
        "interval within the margin is a one-sided test at 0.025; two one-sided tests at 0.05 use "
        "the 90% interval.",
    )


def figure_4(*, comparisons: int, seed: int, jobs: int | None) -> Exhibit:
    """The paper's two tests on its own simulation."""
    pvalues: dict[Effects, MethodPvalues] = {
        "instance": method_pvalues(paper_comparisons(comparisons, rng=seed), rng=seed, jobs=jobs),
        "cell": method_pvalues(
            (paper_comparison(seed, k, "cell") for k in range(max(40, comparisons // 5))),
            rng=seed,
            jobs=jobs,
        ),
    }
    by_reading = {READINGS[kind]: result for kind, result in pvalues.items()}
    return Exhibit(
        id="figure-4",
        title="p-values of the bootstrap and of the mixed model, simulated",
        figures=tuple(
            result_figure(
                f"figure-4-{kind}",
                f"{result.pvalues.shape[1]:,} comparisons, {READINGS[kind]}",
                result,
                "agreement",
                first="mixed_paper",
                second="bootstrap",
            )
            for kind, result in pvalues.items()
        ),
        tables=(agreement_table("figure-4-data", by_reading),),
        claims=tuple(
            agreement_claim(result, f" ({READINGS[kind]})", least=0.99)
            for kind, result in pvalues.items()
        ),
        explanation=OMISSION,
    )


def agreement_table(name: str, pvalues: Mapping[str, MethodPvalues]) -> Table:
    """How far the paper's two tests, and the sound one, say the same."""
    rows = []
    for label, result in pvalues.items():
        for second in ("bootstrap", "mixed"):
            agreement = result.agreement("mixed_paper", second)
            rows.append(
                (
                    label,
                    second.replace("_", " "),
                    agreement.correlation,
                    agreement.mean_absolute_difference,
                    agreement.same_decision,
                )
            )
    header = ("", "mixed paper and", "correlation", "mean distance", "same decision at 0.05")
    return page_table(name, "Agreement of p-values", header, rows)


def agreement_claim(pvalues: MethodPvalues, where: str, *, least: float) -> Claim:
    """The paper's claim that its two tests agree."""
    tests = pvalues.agreement("mixed_paper", "bootstrap")
    return claim(
        f"The bootstrap and the mixed model give similar p-values{where}: their correlation is "
        f"above {least:g}, or their mean distance below {1 - least:.2g}.",
        tests.correlation > least or tests.mean_absolute_difference < 1 - least,
        f"correlation {tests.correlation:.4f}, mean distance {tests.mean_absolute_difference:.4f}, "
        f"same decision at 0.05 in {tests.same_decision:.3f}",
    )
