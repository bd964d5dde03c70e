"""Figures 6 to 11 of Jayasinghe et al. (IP&M 2015) on the systems at hand.

What single instances say, how p-values depend on the number of instances, and whether the tests
agree. `jayasinghe2015_margins` asks which setting is good enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from steadyrank.papers.jayasinghe2015.agreement import (
    METHODS,
    MethodPvalues,
    method_pvalues,
    pool_pvalues,
)
from steadyrank.papers.jayasinghe2015.data import pools
from steadyrank.papers.jayasinghe2015.simulated import OMISSION, agreement_claim, agreement_table
from steadyrank.papers.jayasinghe2015.single_instances import contradictions
from steadyrank.papers.model import Claim, Exhibit
from steadyrank.papers.parts import claim, increases, listed, page_table, result_figure
from steadyrank.present.page import PageFigure
from steadyrank.studies.instances.result import InstancesResult, InstancesTable

FIGURE_7 = {"worse, 0.05": 3, "worse, 0.1": 8, "better, 0.1": 2, "not significant": 90}
"""Of 100 instances on GOV2 at a rate of 0.5%: direction and level (section 5)."""

Tables = Mapping[str, InstancesTable]
"""Each measure's comparisons with the deterministic system."""


def rises(table: InstancesTable, values: list[float]) -> bool | None:
    """Whether values rise with the setting; unknown where settings have no order."""
    return increases(values) if table.sweep else None


def figure_6(table: InstancesTable) -> Exhibit:
    """Means of instances by setting."""
    means = {name: comparison.pair.a.instance_means for name, comparison in named(table)}
    deviations = [float(values.std(ddof=1)) for values in means.values()]
    rows: list[tuple[Any, ...]] = [
        (name, len(values), float(values.mean()), sd, float(values.min()), float(values.max()))
        for (name, values), sd in zip(means.items(), deviations, strict=True)
    ]
    header = (table.sweep or "system", "instances", "mean", "sd", "least", "largest")
    single = table.comparisons[0].pair.b
    rows.append((single.name, 1, single.mean, None, None, None))
    return Exhibit(
        id="figure-6",
        title="Mean effectiveness of instances",
        figures=(result_figure("figure-6", f"Mean {table.measure}", table, "means"),),
        tables=(page_table("figure-6-data", f"Mean {table.measure} of instances", header, rows),),
        claims=(
            claim(
                "Instances of one system differ in mean effectiveness.",
                min(deviations) > 0,
                f"standard deviations {listed(deviations, 4)}",
            ),
            claim(
                "They differ less the larger the sampling rate.",
                rises(table, [-deviation for deviation in deviations]),
                listed(deviations, 4),
            ),
            claim(
                "Effectiveness rises with the sampling rate.",
                rises(table, [row[2] for row in rows[:-1]]),
                listed([row[2] for row in rows[:-1]]),
            ),
        ),
    )


def named(table: InstancesTable) -> list[tuple[str, InstancesResult]]:
    """Each setting, or system, and its comparison with the baseline."""
    names = table.settings or (comparison.a for comparison in table.comparisons)
    return list(zip(names, table.comparisons, strict=True))


def figure_7(table: InstancesTable) -> Exhibit:
    """Each instance alone against the deterministic system."""
    first = table.comparisons[0].pair
    same = [entry for entry in named(table) if entry[1].pair.topics == first.topics]
    counts = contradictions(
        {name: comparison.pair.a.scores for name, comparison in same}, first.b.scores[0]
    )
    level = counts.alphas[0]
    rows = [
        (name, whole, *np.stack([worse, better], axis=1).ravel(), apart)
        for name, whole, worse, better, apart in zip(
            counts.systems,
            counts.n_instances,
            counts.worse,
            counts.better,
            counts.disagreement[:, 0],
            strict=True,
        )
    ]
    header = (
        table.sweep or "system",
        "instances",
        *(f"{what}, {at:g}" for at in counts.alphas for what in ("worse", "better")),
        "chance that two disagree",
    )
    shares_worse = (counts.worse[:, 0] / counts.n_instances).tolist()
    shares_better = (counts.better[:, 0] / counts.n_instances).tolist()
    split = int((counts.disagreement[:, 0] > 0).sum())
    caption = f"Significant instances, {table.measure}"
    return Exhibit(
        id="figure-7",
        title="Instances that differ significantly from the deterministic system",
        figures=tuple(
            result_figure(
                f"figure-7-{place}", f"{caption}, level {at:g}", counts, "directions", level=at
            )
            for place, at in enumerate(counts.alphas)
        ),
        tables=(page_table("figure-7-data", caption, header, rows, digits=2),),
        claims=(
            claim(
                "Some instances contradict others of the same system.",
                split > 0,
                f"at {level:g}, in {split} of {len(rows)}",
            ),
            claim(
                "The smaller the rate, the more instances are significantly worse.",
                rises(table, [-share for share in shares_worse]),
                listed(shares_worse, 2),
            ),
            claim(
                "The larger the rate, the more instances are significantly better.",
                rises(table, shares_better),
                listed(shares_better, 2),
            ),
            printed_counts(),
        ),
        explanation="Each test is about its own instance: the outcome depends on which it is.",
    )


def printed_counts() -> Claim:
    """The percentages that the text gives for one rate."""
    stricter, *parts = FIGURE_7.values()
    return claim(
        "The text's shares for GOV2 at 0.5% add up: worse, better and neither at 0.1; and 0.05 "
        "finds no more than 0.1.",
        sum(parts) == 100 and stricter <= parts[0],
        f"{' + '.join(map(str, parts))} = {sum(parts)}; {stricter} of the {parts[0]} at 0.05",
    )


def figure_8(table: InstancesTable) -> Exhibit:
    """How much instances differ from topic to topic."""
    place = len(table.comparisons) // 2
    comparison = table.comparisons[place]
    scores = comparison.pair.a.scores
    ranges = np.nanmax(scores, axis=0) - np.nanmin(scores, axis=0)
    order = np.argsort(-ranges, kind="stable")
    known = np.ma.masked_invalid(scores)
    deviations = known.std(axis=0, ddof=1).filled(np.nan)
    header = ("topic", "median", "range", "sd")
    rows = [
        (comparison.pair.topics[n], float(np.nanmedian(scores[:, n])), ranges[n], deviations[n])
        for n in order
    ]
    caption = f"{table.measure} of {len(scores)} instances of {comparison.a}"
    return Exhibit(
        id="figure-8",
        title="Effectiveness topic by topic over instances",
        figures=(result_figure("figure-8", caption, table, "topics", system=comparison.a),),
        tables=(page_table("figure-8-data", caption, header, rows),),
        claims=(
            claim(
                "On some topics instances hardly differ, on others much: the widest range is five "
                "times the narrowest or more.",
                ranges.max() > 5 * ranges.min(),
                f"ranges from {ranges.min():.3f} to {ranges.max():.3f}",
            ),
        ),
    )


def figure_9(
    table: InstancesTable, *, sizes: tuple[int, ...], number: int, seed: int, jobs: int | None
) -> Exhibit:
    """p-values against the number of instances."""
    chosen = sorted({round(k) for k in np.linspace(0, len(table.comparisons) - 1, 4)})
    figures, rows, widths = [], [], []
    for k in chosen:
        name, comparison = named(table)[k]
        result = pool_pvalues(
            comparison.pair.a.scores,
            comparison.pair.b.scores[0],
            sizes=sizes,
            n_pools=number,
            rng=seed,
            jobs=jobs,
        )
        figures.append(
            result_figure(
                f"figure-9-{k}", f"p of pools, {name}", result, "pools", method="mixed_paper"
            )
        )
        spread = result.spread()
        rows += [
            (name, method.replace("_", " "), *width)
            for method, width in zip(result.methods, spread, strict=True)
        ]
        widths.append(spread[0])
    narrower = [width[-1] <= width[0] + 1e-12 for width in widths]
    header = (table.sweep or "system", "test", *(f"{size} instances" for size in sizes))
    caption = f"Width of the interval that holds 90% of the p-values of {number} pools"
    return Exhibit(
        id="figure-9",
        title="p-values against the number of instances",
        figures=tuple(figures),
        tables=(page_table("figure-9-data", caption, header, rows, digits=3),),
        claims=(
            claim(
                "More instances make p-values scatter less.",
                all(narrower),
                "; ".join(f"{width[0]:.3f} to {width[-1]:.3f}" for width in widths),
            ),
        ),
        explanation="Pools are drawn with replacement from the instances, as in the paper; their "
        "sizes are not given there. That p-values settle does not make them right: they settle on "
        "those of all instances at hand.",
    )


def pool_tests(
    tables: Tables, *, sizes: tuple[int, ...], number: int, seed: int, jobs: int | None
) -> dict[str, MethodPvalues]:
    """Every test on pools of every setting, by measure."""
    return {
        measure: method_pvalues(
            pools(table, sizes=sizes, number=number, seed=seed), rng=seed, jobs=jobs
        )
        for measure, table in tables.items()
    }


def figure_10(pvalues: Mapping[str, MethodPvalues]) -> Exhibit:
    """p-values of each test from the largest down."""
    shares = {
        measure: {method: float((tested.of(method) < 0.05).mean()) for method in tested.methods}
        for measure, tested in pvalues.items()
    }
    single = [max(by_test["t_single"], by_test["bootstrap_single"]) for by_test in shares.values()]
    paper = [(by_test["mixed_paper"], by_test["bootstrap"]) for by_test in shares.values()]
    # Where nothing differs, all that tests find are errors.
    some = max(share for by_test in shares.values() for share in by_test.values()) > 0.05
    rows = [(measure, *by_test.values()) for measure, by_test in shares.items()]
    header = ("", *(method.replace("_", " ") for method in METHODS))
    return Exhibit(
        id="figure-10",
        title="p-values from the largest down",
        figures=_drawn("figure-10", pvalues, "descending"),
        tables=(
            page_table(
                "figure-10-data", "Share of comparisons with p < 0.05", header, rows, digits=3
            ),
        ),
        claims=(
            claim(
                "Both tests of the paper find more than a test of a single instance does.",
                all(min(pair) >= one for pair, one in zip(paper, single, strict=True))
                if some
                else None,
                "; ".join(
                    f"{listed(pair)} against {one:.3f}"
                    for pair, one in zip(paper, single, strict=True)
                ),
            ),
            claim(
                "The mixed model finds no less than the bootstrap.",
                all(model >= resampled for model, resampled in paper) if some else None,
                "; ".join(map(listed, paper)),
            ),
        ),
        explanation="Low curves are power only for tests that keep their level. " + OMISSION,
    )


def figure_11(pvalues: Mapping[str, MethodPvalues]) -> Exhibit:
    """p-values of the paper's two tests against each other."""
    return Exhibit(
        id="figure-11",
        title="p-values of the bootstrap and of the mixed model, on these systems",
        figures=_drawn("figure-11", pvalues, "agreement", first="mixed_paper", second="bootstrap"),
        tables=(agreement_table("figure-11-data", pvalues),),
        claims=tuple(
            agreement_claim(tested, f" ({measure})", least=0.95)
            for measure, tested in pvalues.items()
        ),
        explanation=OMISSION,
    )


def _drawn(
    name: str, pvalues: Mapping[str, MethodPvalues], kind: str, **options: str
) -> tuple[PageFigure, ...]:
    return tuple(
        result_figure(
            f"{name}-{k}",
            f"{measure}, {tested.pvalues.shape[1]} comparisons",
            tested,
            kind,
            **options,
        )
        for k, (measure, tested) in enumerate(pvalues.items())
    )
