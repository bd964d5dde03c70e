"""Do the tests of Jayasinghe et al. (IP&M 2015) keep their level? The simulations they lack.

Algorithm 2 and the mixed model against a deterministic system, the nested model of two systems
that vary, what eq. (9) makes of the instances' variance, and the statistic under eq. (6).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steadyrank.compute.random import block_stream
from steadyrank.papers.jayasinghe2015.levels import ErrorRates, error_rates
from steadyrank.papers.jayasinghe2015.simulated import OMISSION
from steadyrank.papers.model import Exhibit
from steadyrank.papers.parts import claim, listed, page_table
from steadyrank.present.table import Table
from steadyrank.stats.instances.power import Design
from steadyrank.stats.mixed.fit import fit
from steadyrank.stats.mixed.model import MixedModel
from steadyrank.stats.mixed.two_way import two_way_difference

Rows = tuple[tuple[int, int, float], ...]

SPREADS = {"system_topic": 0.08, "residual": 0.06}
"""Standard deviations behind the simulated levels, beside that of the instances."""

CROSSED: Rows = ((3, 50, 0.0), (3, 50, 0.02), (10, 50, 0.02), (10, 150, 0.02), (100, 50, 0.02))
NESTED: Rows = ((3, 50, 0.02), (10, 50, 0.02), (10, 150, 0.02), (30, 50, 0.02))
"""Instances, topics, and the standard deviation between instances."""


def _levels(rows: Rows, design: Design, tests: tuple[str, ...], **options: Any) -> list[ErrorRates]:
    """Of comparisons without a difference, the share that each test calls significant."""
    variances = {name: spread**2 for name, spread in SPREADS.items()}
    if design == "nested":  # so that the difference of both systems has the variance above
        variances["system_topic"] /= 2
    return [
        error_rates(
            m, n, components={"instance": s**2, **variances}, design=design, tests=tests, **options
        )
        for m, n, s in rows
    ]


def _level_table(name: str, rows: Rows, results: list[ErrorRates]) -> Table:
    tests = results[0].tests
    header = ("instances", "topics", "s_a", *(test.replace("_", " ") for test in tests))
    tabled = [(*row, *result.rate) for row, result in zip(rows, results, strict=True)]
    caption = (
        f"How often each test rejects at 0.05 without a difference, {results[0].n_replications} "
        "simulated comparisons"
    )
    return page_table(name, caption, header, tabled, digits=3)


def algorithm_2(*, replications: int, seed: int, jobs: int | None) -> Exhibit:
    """Whether the paper's tests against a deterministic system keep their level."""
    tests = ("t_single", "mixed_paper", "bootstrap", "mixed")
    results = _levels(CROSSED, "crossed", tests, n_replications=replications, rng=seed, jobs=jobs)
    by_row = dict(zip(CROSSED, results, strict=True))
    worst, plain = by_row[10, 150, 0.02], by_row[3, 50, 0.0]
    noise = 3 * np.sqrt(0.05 * 0.95 / replications)
    sound = [result.of("mixed") for result in results]
    return Exhibit(
        id="algorithm-2",
        title="Does Algorithm 2 keep its level?",
        tables=(_level_table("algorithm-2", CROSSED, results),),
        claims=(
            claim(
                "Algorithm 2 rejects in 5% of comparisons without a difference where instances do "
                "not differ (up to three standard errors).",
                abs(plain.of("bootstrap") - 0.05) < noise + 0.01,
                f"{plain.of('bootstrap'):.3f}",
            ),
            claim(
                "It does so where instances differ too (10 instances, 150 topics, s_a 0.02).",
                worst.of("bootstrap") < 0.05 + noise,
                f"{worst.of('bootstrap'):.3f}; the mixed model {worst.of('mixed_paper'):.3f}",
            ),
            claim(
                "Two-way random effects keep the level throughout (up to three standard errors "
                "and 0.01).",
                all(rate < 0.06 + noise for rate in sound),
                listed(sound),
            ),
        ),
        explanation="The listing of Algorithm 2 lacks the line that counts; the text gives it "
        "(two-sided). Algorithm 1's listing is one-sided, its hypotheses are not. " + OMISSION,
    )


def section_3_2(*, replications: int, seed: int, jobs: int | None) -> Exhibit:
    """Whether the nested model of two non-deterministic systems keeps its level."""
    tests = ("t_on_means", "mixed_paper", "mixed", "welch")
    results = _levels(NESTED, "nested", tests, n_replications=replications, rng=seed, jobs=jobs)
    noise = 3 * np.sqrt(0.05 * 0.95 / replications)
    rates = {test: [result.of(test) for result in results] for test in tests}
    return Exhibit(
        id="section-3.2",
        title="Does the nested model keep its level?",
        tables=(_level_table("section-3-2", NESTED, results),),
        claims=(
            claim(
                "Nested in systems, instances count in the standard error: the paper's model stays "
                "near its level (below 0.1, up to three standard errors).",
                all(rate < 0.1 + noise for rate in rates["mixed_paper"]),
                listed(rates["mixed_paper"]),
            ),
            claim(
                "On Satterthwaite's degrees of freedom it is at its level (up to three standard "
                "errors and 0.01).",
                all(rate < 0.06 + noise for rate in rates["mixed"]),
                listed(rates["mixed"]),
            ),
            claim(
                "Averaging instances first would not do: it exceeds its level.",
                any(rate > 0.06 + noise for rate in rates["t_on_means"]),
                listed(rates["t_on_means"]),
            ),
            claim(
                "Nor would comparing the instances' means over topics (Welch).",
                any(rate > 0.06 + noise for rate in rates["welch"]),
                listed(rates["welch"]),
            ),
        ),
        explanation="The paper has no simulation of two non-deterministic systems. Its degrees of "
        "freedom, observations less one, make the test a z-test: with few instances somewhat "
        "liberal. Welch's test takes these topics for all there are.",
    )


def equation_9(*, fits: int, seed: int) -> Exhibit:
    """What the crossed model of eq. (9) makes of the instances' variance."""
    m, n, s_a = 20, 50, 0.05
    ratios = []
    for place in range(fits):
        stream = block_stream(seed, "crossed model", place)
        d = s_a * stream.normal(size=(m, 1)) + SPREADS["system_topic"] * stream.normal(size=n)
        d = d + SPREADS["residual"] * stream.normal(size=(m, n))
        ratios.append(_crossed(d, stream.normal(0.4, 0.2, size=n)))
    paper, sound, error, whole = np.mean(ratios, axis=0)
    paper, sound = paper / s_a**2, sound / s_a**2
    furthest = max(abs(ratio[2] - 1.0) for ratio in ratios)
    rows = [
        ("instance variance of eq. (9), over s_a²", paper),
        ("instance variance of two-way random effects, over s_a²", sound),
        ("standard error of eq. (9), over that of the t test on topic means", error),
        ("standard error of two-way random effects, over the same", whole),
    ]
    return Exhibit(
        id="equation-9",
        title="The instances' variance in the crossed model",
        tables=(
            page_table(
                "equation-9",
                f"Means of {fits} simulated comparisons, {m} instances × {n} topics",
                ("", "ratio"),
                rows,
                digits=3,
            ),
        ),
        claims=(
            claim(
                "The crossed model's test is the paired t test on instance-averaged topic scores.",
                furthest < 1e-6,
                f"ratio of standard errors 1 to within {furthest:.0e}",
            ),
            claim(
                "The crossed model estimates the variance between instances.",
                abs(paper - 1.0) < 0.3,
                f"at {paper:.2f} of its value",
            ),
            claim(
                "It estimates a quarter of it (within 0.06).",
                abs(paper - 0.25) < 0.06,
                f"{paper:.3f}",
            ),
        ),
        explanation="The deterministic system has no instances; its scores are repeated for each "
        "instance of the other, and both systems share the instance's effect. Of an instance that "
        "is better by a the model sees a/2 in common, and counts the other half as residual: the "
        "variance is quartered, and its effect on the difference cancels.",
    )


def _crossed(d: np.ndarray, baseline: np.ndarray) -> tuple[float, float, float, float]:
    """Instance variances of eq. (9) and of two-way effects; both errors over that of t on means."""
    y = np.stack([baseline + d, np.broadcast_to(baseline, d.shape)])
    terms = {"instance": "instance", "topic": "topic", "system_topic": ("system", "topic")}
    crossed = fit(MixedModel(y, axes=("system", "instance", "topic"), random=terms, fixed="system"))
    two_way = two_way_difference(d)
    error = float(d.mean(axis=0).std(ddof=1)) / np.sqrt(d.shape[1])
    return (
        crossed.variances["instance"],
        two_way.variances["instance"],
        float(crossed.standard_errors[-1]) / error,
        two_way.standard_error / error,
    )


def equation_6(*, seed: int) -> Exhibit:
    """The statistic of the linear model of two deterministic systems, as printed."""
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
    return Exhibit(
        id="equation-6",
        title="The t statistic of the linear model",
        tables=(page_table("equation-6", "One simulated comparison, 50 topics", ("", "t"), rows),),
        claims=(
            claim(
                "The statistic as printed is the paired t test's.",
                abs(printed - paired) < 1e-9,
                f"{printed:.4f} and {paired:.4f}: larger by the root of 2",
            ),
            claim("With 2 s²/N it is.", abs(doubled - paired) < 1e-9, f"{doubled:.4f}"),
        ),
        explanation="The residual variance is that of a score, and a difference has two of them.",
    )
