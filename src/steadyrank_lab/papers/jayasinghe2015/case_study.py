"""The case study of Jayasinghe et al. (IP&M 2015), Figures 6 to 13, on built-in instances.

Selective search, at several sampling rates and with many instances of each, against exhaustive
search. The figures show what single instances say, how p-values depend on their number, whether the
tests agree, and which setting is good enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np
import pandas as pd

from steadyrank.compute.random import block_stream
from steadyrank.data.scores import Scores
from steadyrank.present import plot_style as style
from steadyrank.present.table import Table
from steadyrank.studies.instances.result import InstancesResult, InstancesTable
from steadyrank.studies.instances.study import instances
from steadyrank_lab.papers.data import quietly
from steadyrank_lab.papers.jayasinghe2015.experiments import (
    METHODS,
    contradictions,
    instance_spread,
    method_pvalues,
    pool_pvalues,
    resampled_pools,
    topic_spread,
)
from steadyrank_lab.papers.jayasinghe2015.plots import (
    agreement_on,
    contradictions_on,
    descending_on,
    pools_on,
)
from steadyrank_lab.papers.model import (
    Claim,
    Part,
    Sheet,
    above,
    frame_figure,
    increases,
    listed,
    page_table,
    result_figure,
    simulated,
)

SHEET = Sheet("jayasinghe2015")

FIGURE_7: dict[str, int] = SHEET.words["figure-7"]["shares"]
"""Instances of 100 on GOV2 at a rate of 0.5%, by direction and level (section 5)."""

ALPHAS = (0.1, 0.05)
"""Levels of Figure 7."""

EFFECTS: dict[str, tuple[float, str]] = SHEET.words["equation-8"]["printed"]
"""Effect sizes on ClueWeb09B at a rate of 0.1%, and the paper's words for them."""

SMALLEST: dict[str, str] = SHEET.words["figure-12"]["smallest"]
"""The smallest rate that is not worse by 0.01, nDCG@10 (Figure 12)."""

WORDS = ((0.8, "large"), (0.5, "medium"), (0.2, "small"), (0.0, "negligible"))

OMISSION: str = SHEET.words["omission"]

SIMILAR = 0.01
"""A mean distance of p-values that is small compared with every level in use."""

Tables = Mapping[str, InstancesTable]
"""Comparisons with the deterministic system by measure."""

SWEEP = "rate"
"""The column of run information that orders settings, as `shard` writes it."""

BASELINE, VARIED = "exhaustive", "topical"
"""The deterministic system, and the one with settings and instances."""


@quietly()  # of instances that share draws: the exhibits say that
def against(scores: Scores, baseline: str, measure: str, **options: Any) -> InstancesTable:
    """Every setting of the system that varies against a system or setting."""
    chosen: Any = {"a": VARIED, "b": baseline, "measure": measure, "sweep": SWEEP}
    return cast(InstancesTable, instances(scores, **chosen, **options))


@quietly()
def halves_of(
    scores: Scores, runs: tuple[str, ...], measure: str, **options: Any
) -> InstancesResult:
    """Every other run of a setting against the rest."""
    names = ("first half", "second half")
    chosen = scores.select(runs=runs)
    chosen = chosen.with_run_info(system=[names[place % 2] for place in range(len(runs))])
    result = instances(chosen, a=names[0], b=names[1], measure=measure, **options)
    return cast(InstancesResult, result)


def _trend(
    id: str, values: list[float], *, digits: int = 4, falls: bool = False, **names: str
) -> Claim:
    """Return a claim that values rise or fall with the setting."""
    along = increases([-value for value in values] if falls else values)
    return SHEET.claim(id, along, listed(values, digits), **names)


def _named(table: InstancesTable) -> list[tuple[str, InstancesResult]]:
    """Each setting, and its comparison with the baseline."""
    return list(zip(table.settings or (), table.comparisons, strict=True))


@SHEET.exhibit("figure-6")
def figure_6(table: InstancesTable) -> Iterator[Part]:
    """Means of instances by setting."""
    systems = {name: comparison.pair.a.scores for name, comparison in _named(table)}
    means = instance_spread(systems)
    deviations = means["sd"].tolist()
    single = table.comparisons[0].pair.b
    rows = [*means.itertuples(index=False), (single.name, 1, single.mean, None, None, None)]
    header = (SWEEP, *means.columns[1:])
    yield result_figure("figure-6", f"Mean {table.measure}", table, "means")
    yield page_table("figure-6-data", f"Mean {table.measure} of instances", header, rows)
    told = f"standard deviations {listed(deviations, 4)}"
    yield SHEET.claim("figure-6.differ", min(deviations) > 0, told)
    yield _trend("figure-6.less", deviations, falls=True)
    yield _trend("figure-6.rises", means["mean"].tolist(), digits=3)


@SHEET.exhibit("figure-7")
def figure_7(table: InstancesTable) -> Iterator[Part]:
    """Each instance alone against the deterministic system."""
    first = table.comparisons[0].pair
    samples = {name: comparison.pair.a.scores for name, comparison in _named(table)}
    counts = contradictions(samples, first.b.scores[0], alphas=ALPHAS)
    caption = f"Significant instances, {table.measure}"
    for place, at in enumerate(ALPHAS):
        shown = counts[counts["alpha"] == at]
        size = 6.0, style.rows_height(len(shown), least=1.6, each=0.32)
        name = f"figure-7-{place}"
        yield frame_figure(name, f"{caption}, level {at:g}", contradictions_on, shown, size)
    loose = counts[counts["alpha"] == ALPHAS[0]]
    both = counts[["worse", "better"]].to_numpy().reshape(len(samples), -1)
    columns = (loose[name] for name in ("system", "instances", "disagreement"))
    rows = [
        (name, whole, *found, apart)
        for found, name, whole, apart in zip(both, *columns, strict=True)
    ]
    levels = (f"{what}, {at:g}" for at in ALPHAS for what in ("worse", "better"))
    header = (SWEEP, "instances", *levels, "chance that two disagree")
    yield page_table("figure-7-data", caption, header, rows, digits=2)
    worse, better = ((loose[way] / loose["instances"]).tolist() for way in ("worse", "better"))
    split = int((loose["disagreement"] > 0).sum())
    told = f"at {ALPHAS[0]:g}, in {split} of {len(rows)}"
    yield SHEET.claim("figure-7.contradict", split > 0, told)
    yield _trend("figure-7.worse", worse, digits=2, falls=True)
    yield _trend("figure-7.better", better, digits=2)
    yield printed_counts()


def printed_counts() -> Claim:
    """Return the percentages that the text gives for one rate."""
    stricter, *parts = FIGURE_7.values()
    told = f"{' + '.join(map(str, parts))} = {sum(parts)}; {stricter} of the {parts[0]} at 0.05"
    return SHEET.claim("figure-7.shares", sum(parts) == 100 and stricter <= parts[0], told)


@SHEET.exhibit("figure-8")
def figure_8(table: InstancesTable) -> Iterator[Part]:
    """Yield how much instances differ from topic to topic."""
    comparison = table.comparisons[len(table.comparisons) // 2]
    scores = comparison.pair.a.scores
    spread = topic_spread(scores)
    ranges = spread["largest"] - spread["least"]
    rows = [
        (comparison.pair.topics[n], spread["median"][n], ranges[n], spread["sd"][n])
        for n in np.argsort(-ranges, kind="stable")
    ]
    caption = f"{table.measure} of {len(scores)} instances of {comparison.a}"
    yield result_figure("figure-8", caption, table, "topics", system=comparison.a)
    yield page_table("figure-8-data", caption, ("topic", "median", "range", "sd"), rows)
    told = f"ranges from {ranges.min():.3f} to {ranges.max():.3f}"
    yield SHEET.claim("figure-8.ranges", ranges.max() > 5 * ranges.min(), told)


@SHEET.exhibit("figure-9")
def figure_9(
    table: InstancesTable, *, sizes: tuple[int, ...], number: int, seed: int, jobs: int | None
) -> Iterator[Part]:
    """p-values against the number of instances."""
    rows, widths = [], []
    for k in sorted({round(k) for k in np.linspace(0, len(table.comparisons) - 1, 4)}):
        name, comparison = _named(table)[k]
        pair = (comparison.pair.a.scores, comparison.pair.b.scores[0])
        found = pool_pvalues(*pair, sizes=sizes, n_pools=number, seed=seed, jobs=jobs)
        caption = f"p of pools, {name}"
        yield frame_figure(f"figure-9-{k}", caption, pools_on, found, test="mixed_paper")
        spread = found.groupby("instances").agg(_middle_width)
        widths.append(spread["mixed_paper"].to_numpy())
        rows += [(name, str(test).replace("_", " "), *width) for test, width in spread.items()]
    header = (SWEEP, "test", *(f"{size} instances" for size in sizes))
    caption = f"Width of the interval that holds 90% of the p-values of {number} pools"
    yield page_table("figure-9-data", caption, header, rows, digits=3)
    less = all(width[-1] <= width[0] + 1e-12 for width in widths)
    told = "; ".join(f"{width[0]:.3f} to {width[-1]:.3f}" for width in widths)
    yield SHEET.claim("figure-9.scatter", less, told)


def _middle_width(pvalues: pd.Series) -> float:
    low, high = np.quantile(pvalues, 0.5 + np.array([-0.45, 0.45]))
    return float(high - low)


def pool_tests(
    tables: Tables, *, sizes: tuple[int, ...], number: int, seed: int, jobs: int | None
) -> dict[str, pd.DataFrame]:
    """Every test on pools of every setting, by measure."""
    return {
        measure: method_pvalues(
            resampled_pools(
                [(one.pair.a.scores, one.pair.b.scores[0]) for one in table.comparisons],
                sizes=sizes,
                n_pools=number,
                seed=seed,
            ),
            seed=seed,
            jobs=jobs,
        )
        for measure, table in tables.items()
    }


@SHEET.exhibit("figure-10")
def figure_10(pvalues: Mapping[str, pd.DataFrame]) -> Iterator[Part]:
    """p-values of each test from the largest down."""
    shares = pd.DataFrame({name: (tested < 0.05).mean() for name, tested in pvalues.items()}).T
    for k, (measure, tested) in enumerate(pvalues.items()):
        caption = f"{measure}, {len(tested)} comparisons"
        yield frame_figure(f"figure-10-{k}", caption, descending_on, tested)
    header = ("", *(method.replace("_", " ") for method in METHODS))
    caption = "Share of comparisons with p < 0.05"
    yield page_table("figure-10-data", caption, header, shares.itertuples(), digits=3)
    paper = shares[["mixed_paper", "bootstrap"]].to_numpy().tolist()
    single = shares[["t_single", "bootstrap_single"]].max(axis=1)
    both = list(zip(paper, single, strict=True))
    # Where nothing differs, all that tests find are errors.
    some = shares.to_numpy().max() > 0.05
    more = all(min(pair) >= one for pair, one in both)
    told = "; ".join(f"{listed(pair)} against {one:.3f}" for pair, one in both)
    yield SHEET.claim("figure-10.more", more if some else None, told)
    no_less = all(model >= resampled for model, resampled in paper)
    yield SHEET.claim("figure-10.model", no_less if some else None, "; ".join(map(listed, paper)))
    if {"nDCG@10", "P@10"} <= set(pvalues):
        graded, binary = shares["mixed_paper"].reindex(["nDCG@10", "P@10"]).tolist()
        yield SHEET.claim("figure-10.graded", graded > binary, listed([graded, binary]))
    yield OMISSION


@SHEET.exhibit("figure-11")
def figure_11(pvalues: Mapping[str, pd.DataFrame]) -> Iterator[Part]:
    """p-values of the paper's two tests against each other."""
    yield from agreement("figure-11", dict(enumerate(pvalues)), pvalues)


def agreement(
    id: str, marks: Mapping[Any, str], pvalues: Mapping[str, pd.DataFrame]
) -> Iterator[Part]:
    """Compare the paper's two tests with each other and with the sound one, in a figure per mark.

    Comparisons are resampled for the intervals of correlations; mean distances have theirs by the
    normal law.
    """
    rows = []
    for mark, name in marks.items():
        tested = pvalues[name]
        caption = f"{len(tested):,} comparisons, {name}"
        yield frame_figure(f"{id}-{mark}", caption, agreement_on, tested, (4.6, 4.4))
        for second in ("bootstrap", "mixed"):
            pair = tested[["mixed_paper", second]].to_numpy()
            same = float(((pair < 0.05)[:, 0] == (pair < 0.05)[:, 1]).mean())
            apart = np.abs(pair[:, 0] - pair[:, 1])
            distance, error = float(apart.mean()), float(apart.std(ddof=1)) / np.sqrt(len(pair))
            correlation = float(np.corrcoef(pair.T)[0, 1])
            rows.append((name, second, correlation, distance, same))
            if second == "bootstrap":
                told = (
                    f"mean distance {simulated(distance, error)}, correlation {correlation:.4f} "
                    f"{_correlation_interval(pair)}, same decision at 0.05 in {same:.3f}"
                )
                yield SHEET.claim(
                    f"{id}.similar", above(SIMILAR, distance, error), told, where=name
                )
    header = ("", "mixed paper and", "correlation", "mean distance", "same decision at 0.05")
    yield page_table(f"{id}-data", "Agreement of p-values", header, rows)
    yield OMISSION


def _correlation_interval(pair: np.ndarray, n_samples: int = 400) -> str:
    """Return the 95% interval of a correlation over resampled rows."""
    stream = block_stream(0, "correlation of p-values", 0)
    drawn = stream.integers(len(pair), size=(n_samples, len(pair)))
    with np.errstate(invalid="ignore"):
        found = [np.corrcoef(pair[rows].T)[0, 1] for rows in drawn]
    return f"[{listed(np.nanquantile(found, [0.025, 0.975]), 4)}]"


def _interval_table(name: str, table: InstancesTable) -> Table:
    rows = [
        (
            label,
            comparison.difference,
            comparison.hpd or comparison.interval,
            comparison.hpd_verdict,
            comparison.pvalue["mixed"],
            comparison.pvalue["mixed_paper"],
        )
        for label, comparison in _named(table)
    ]
    ends = ("by the interval", "p, mixed", "p, as in the paper")
    caption = f"{table.measure}, difference to {table.baseline}; margin {table.delta:g}"
    return page_table(name, caption, (SWEEP, "difference", "interval (HPD)", *ends), rows)


@SHEET.exhibit("figure-12")
def figure_12(tables: Tables) -> Iterator[Part]:
    """Intervals of the difference to the deterministic system, with the margin."""
    for k, (measure, table) in enumerate(tables.items()):
        yield result_figure(f"figure-12-{k}", f"{measure}, 95% HPD intervals", table, "margin")
        yield _interval_table(f"figure-12-{k}-data", table)
        lows = [(comparison.hpd or comparison.interval)[0] for comparison in table.comparisons]
        yield _trend("figure-12.rises", lows, measure=measure)
    main = next(iter(tables.values()))
    rows = [("here", main.measure, main.smallest_non_inferior)]
    rows += [(f"{name}, printed", "nDCG@10", rate) for name, rate in SMALLEST.items()]
    caption = "Smallest setting that is not worse by the margin"
    yield page_table("figure-12-smallest", caption, ("", "measure", "setting"), rows)
    verdicts = [comparison.hpd_verdict for comparison in main.comparisons]
    good, told = {"better", "not worse"} & set(verdicts), ", ".join(map(str, verdicts))
    smallest = verdicts[0] == "worse" and good
    yield SHEET.claim("figure-12.smallest", smallest, told)
    yield SHEET.claim("figure-12.better", "better" in verdicts, told)
    if "AP" in tables:
        deep = [comparison.hpd_verdict for comparison in tables["AP"].comparisons]
        none = not {"better", "not worse"} & set(deep)
        yield SHEET.claim("figure-12.deep", none, ", ".join(map(str, deep)))


@SHEET.exhibit("equation-8")
def equation_8(tables: Tables) -> Iterator[Part]:
    """Two effect sizes that the paper calls by one name."""
    rows: list[tuple[Any, ...]] = []
    for measure, table in tables.items():
        for name, comparison in _named(table):
            both = (comparison.effect_size_paired, comparison.effect_size)
            rows.append((measure, name, *both, *map(size_word, both)))
    columns = ("eq. (8): over sd(z)", "over the residual sd", "in words", "in words, residual")
    header = ("measure", "setting", *columns)
    yield page_table("equation-8", "Effect sizes", header, rows, digits=3)
    apart = max(abs(row[2] - row[3]) for row in rows)
    others = sum(row[4] != row[5] for row in rows)
    told = f"up to {apart:.2f} apart; {others} of {len(rows)} have another word"
    yield SHEET.claim("equation-8.one", apart < 0.05, told)
    words = all(size_word(value) == word for value, word in EFFECTS.values())
    told = "; ".join(f"{name} {value:g}, {word}" for name, (value, word) in EFFECTS.items())
    yield SHEET.claim("equation-8.words", words, told)


def size_word(effect: float) -> str:
    """Return the paper's word for an effect size.

    >>> size_word(-0.52), size_word(0.41)
    ('medium', 'small')
    """
    return next((word for least, word in WORDS if abs(effect) >= least), "unknown")


@SHEET.exhibit("figure-13")
def figure_13(reference: str, table: InstancesTable, halves: InstancesResult) -> Iterator[Part]:
    """Intervals of the difference to another non-deterministic system."""
    caption = f"{table.measure}, difference to {reference}"
    yield result_figure("figure-13", caption, table, "margin")
    yield _interval_table("figure-13-data", table)
    gaps = [abs(comparison.difference) for comparison in table.comparisons]
    yield _trend("figure-13.shrinks", gaps, falls=True)
    low, high = table.comparisons[-1].hpd or table.comparisons[-1].interval
    yield SHEET.claim("figure-13.zero", low <= 0 <= high, f"[{low:.4f}, {high:.4f}]")
    told = f"{reference}: difference {halves.difference:+.4f}, p {halves.headline_pvalue:.3f}"
    yield SHEET.claim("figure-13.halves", not halves.significant, told)
