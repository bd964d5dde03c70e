"""Reproduction of Sakai & Shang (EVIA 2016).

How many teams and topics does a pilot need to know the variance that plans a collection?

Tables 2 and 3 are arithmetic on printed figures, which is checked, and the same computations on the
given scores. Figures 1 and 2 leave teams out, which takes runs, judgments and teams.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from steadyrank.data.scores import Scores
from steadyrank.measures.evaluate import evaluate
from steadyrank.present.table import Table
from steadyrank.stats.planning.demands import Demands, check_demands
from steadyrank.stats.ranks.correlation import TauInterval, bootstrap_tau_interval, kendall_interval
from steadyrank.studies.pools.study import PoolsResult, pools
from steadyrank.studies.pools.trials import draw_trials, pilot_subsets, variance_or_nan
from steadyrank.words import counted, listed
from steadyrank_lab.papers.data import PaperData
from steadyrank_lab.papers.model import (
    Claim,
    Exhibit,
    Part,
    Reproduction,
    Sheet,
    Work,
    above,
    increases,
    page_table,
    result_figure,
    simulated,
)

SHEET = Sheet("sakai2016")

MEASURES = ("nG@1", "P+", "nERR@10", "nDCG@10", "Q@10")
ONE_ANSWER, MANY_ANSWERS = MEASURES[:3], MEASURES[3:]
"""Official measures, which look for one good document, and those added for comparison."""

PILOTS: list[int] = SHEET.words["table-3"]["pilots"]
PRINTED_PLANS: dict[str, Sequence[tuple[float, int]]] = SHEET.words["table-3"]["printed"]
"""Table 3: variance and topics by measure, a pair for each number of pilot topics."""

PRINTED_MISSES: dict[str, int] = SHEET.words["figure"]["misses"]
"""Section 5.1, on Figure 1: the first k whose interval misses the variance by all teams."""

NEAR, ROUGHLY = 0.10, 0.25
"""How far, relatively, variances may be apart that a pilot should tell alike."""

SPELLED = ("nG{}@1", "Pplus{}@10", "nERR@10", "nDCG{}@10", "Q{}@10")
GAINS = "(gains=(0,1,3))"
"""The task's gains of its grades 1 and 2; other grades gain what they are."""

RUNS, POOL_DEPTH, TRIALS = 44, 10, 10

PRINTED_TAU = {(a, b): (tau, *ends) for a, b, tau, *ends in SHEET.words["table-2"]["printed"]}
"""Table 2: Kendall's tau and its 95% interval."""

HALF = 0.0005
"""Half of the last printed digit."""


def sakai2016(data: PaperData, work: Work) -> Reproduction:
    """Tables 2 and 3, Figures 1 and 2."""
    trials = work.number(small=4, full=TRIALS)
    spelled = [name.format(GAINS) for name in SPELLED]
    scores = replace(evaluate(data.runs, data.qrels, spelled, **work.threads), measures=MEASURES)
    sizes = [len(scores.topics), *(n for n in PILOTS if n < len(scores.topics))]
    pooled = pools(
        data.runs,
        data.qrels,
        measures=spelled,
        pool_depth=POOL_DEPTH,
        n_trials=trials,
        pilot_topics=[sizes[0], sizes[-1]],
        mode="paper",
        rng=work.seed,
        **work.threads,
    )
    pooled = _renamed(pooled, MEASURES)
    n_draws = work.number(small=20, full=200)
    draws = _draw_variances(scores, sizes, n_draws, work.seed)
    exhibits = (
        _table_2(scores, work.seed, work.jobs),
        _pool_figure(pooled, 1, sizes[0]),
        _table_3(draws),
        _pool_figure(pooled, 2, sizes[-1]),
    )
    settings = {"trials for each k": trials, "draws of pilot topics": n_draws}
    return SHEET.reproduction(
        data.words, exhibits, measures=spelled, **{"pool depth": POOL_DEPTH, **settings}
    )


def _renamed(result: PoolsResult, names: Sequence[str]) -> PoolsResult:
    short = dict(zip(result.measures, names, strict=True))
    return replace(
        result,
        measures=tuple(names),
        references=tuple(replace(row, measure=short[row.measure]) for row in result.references),
        leave_out=tuple(replace(row, measure=short[row.measure]) for row in result.leave_out),
    )


@SHEET.exhibit("table-2")
def _table_2(scores: Scores, seed: int, jobs: int | None) -> Iterator[Part]:
    pairs = [
        (a, b, bootstrap_tau_interval(scores.matrix(a), scores.matrix(b), seed=seed, jobs=jobs))
        for a, b in combinations(scores.measures, 2)
    ]
    caption = f"Kendall's tau of the rankings of {len(scores.runs)} runs, with 95% intervals"
    here = ("tau", "interval as printed", "interval over topics")
    header = ("measures", *here, "tau printed", "interval printed")
    rows = [_tau_row(a, b, over_topics) for a, b, over_topics in pairs]
    yield page_table("table-2", caption, header, rows, digits=3)
    yield from tau_claims()
    yield from _own_tau_claims(pairs)


def _tau_row(a: str, b: str, over_topics: TauInterval) -> tuple[object, ...]:
    normal = kendall_interval(over_topics.tau, over_topics.n)
    tau, *printed = PRINTED_TAU[a, b]
    return (
        f"{a} – {b}",
        over_topics.tau,
        (normal.low, normal.high),
        (over_topics.low, over_topics.high),
        tau,
        tuple(printed),
    )


def tau_claims() -> Iterator[Claim]:
    """Yield what must agree within the printed Table 2."""
    agrees = []
    for tau, low, high in PRINTED_TAU.values():
        interval = kendall_interval(tau, RUNS)
        # The printed tau is rounded as well.
        agrees.append(max(abs(interval.low - low), abs(interval.high - high)) <= 2 * HALF)
    yield SHEET.share_claim("table-2.formula", agrees, of="intervals")
    above = sum(high > 1.0 for _, _, high in PRINTED_TAU.values())
    told = f"{above} of {len(PRINTED_TAU)} reach above 1, the largest tau there is"
    yield SHEET.claim("table-2.meaning", False, told)


def _own_tau_claims(pairs: Sequence[tuple[str, str, TauInterval]]) -> Iterator[Claim]:
    known = {(a, b): tau for a, b, tau in pairs}
    best = sorted(known, key=lambda pair: -known[pair].tau)[:2]
    alike = set(best) == {("P+", "nERR@10"), ("nDCG@10", "Q@10")}
    told = " and ".join(f"{a} with {b} {known[a, b].tau:.3f}" for a, b in best)
    yield SHEET.claim("table-2.alike", alike, told)
    width = np.mean([tau.high - tau.low for tau in known.values()])
    normal = np.mean([2.0 * kendall_interval(0.0, tau.n).high for tau in known.values()])
    told = f"mean widths {width:.3f} and {normal:.3f}"
    yield SHEET.claim("table-2.narrower", width < normal, told)


def _draw_variances(scores: Scores, sizes: Sequence[int], n_draws: int, seed: int) -> pd.DataFrame:
    """V_E by nested random subsets of the topics, one row per draw, measure and size.

    `ratio` is to V_E of all topics.
    """
    trials = draw_trials(1, len(scores.topics), (), n_draws, sizes=[1], seed=seed)
    rows = [
        (draw, name, size, variance_or_nan(np.ascontiguousarray(matrix[:, topics])))
        for draw, trial in enumerate(trials)
        for name, matrix in zip(scores.measures, scores.values, strict=True)
        for size, topics in zip(sizes, pilot_subsets(matrix, trial.topic_order, sizes), strict=True)
    ]
    draws = pd.DataFrame(rows, columns=["draw", "measure", "topics", "variance"])
    whole = draws.drop_duplicates("measure").set_index("measure")["variance"]
    return draws.assign(ratio=draws["variance"] / draws["measure"].map(whole))


def _demands(formula: str = "nagata") -> Demands:
    return check_demands(
        formula=formula, alpha=0.05, beta=0.20, minimum_difference=0.15, systems=10
    )


@SHEET.exhibit("table-3")
def _table_3(draws: pd.DataFrame) -> Iterator[Part]:
    yield _draw_table(draws)
    yield _spread_table(draws)
    yield _plan_table()
    yield from plan_claims()
    yield from _own_plan_claims(draws)


def _draw_table(draws: pd.DataFrame) -> Table:
    """Return the first draw, as the paper shows one."""
    demands = _demands()
    header = ["measure"]
    for size in draws["topics"].unique():
        header += [f"{size} topics", "requires"]
    rows = [
        [name, *(value for v in by_size for value in (v, demands.topics(v) if v > 0.0 else None))]
        for name, by_size in draws[draws["draw"] == 0].groupby("measure", sort=False)["variance"]
    ]
    caption = "One draw of pilot topics, all teams: variance, and topics for a new collection"
    return page_table("table-3", caption, header, rows)


def _spread_table(draws: pd.DataFrame) -> Table:
    rows = [
        (name, size, np.mean(values), *np.quantile(values, [0.025, 0.975]))
        for (name, size), values in draws.groupby(["measure", "topics"], sort=False)["variance"]
        if values.notna().all()
    ]
    caption = f"Variances over {draws['draw'].nunique()} draws: mean and middle 95%"
    header = ("measure", "topics", "mean variance", "2.5%", "97.5%")
    return page_table("table-3-spread", caption, header, rows)


def _plan_table() -> Table:
    """Return the printed numbers and those that the formulas give."""
    nagata, exact = _demands(), _demands("exact")
    rows = [
        (
            name,
            size,
            variance,
            topics,
            nagata.topics(variance),
            exact.topics(variance),
            exact.power(variance, topics),
        )
        for name, plans in PRINTED_PLANS.items()
        for size, (variance, topics) in zip(PILOTS, plans, strict=True)
    ]
    given = ("measure", "pilot topics", "variance printed", "n printed")
    header = (*given, "n approximate", "n exact", "power of printed n")
    caption = "The printed variances, and the topics that they require"
    return page_table("table-3-printed", caption, header, rows, digits=3)


def plan_claims() -> Iterator[Claim]:
    """Yield what must agree within the printed Table 3."""
    nagata, exact = _demands(), _demands("exact")
    printed = [plan for plans in PRINTED_PLANS.values() for plan in plans]
    direct = sum(nagata.topics(variance) == topics for variance, topics in printed)
    within = [
        nagata.topics(variance - HALF) <= topics <= nagata.topics(variance + HALF)
        for variance, topics in printed
    ]
    told = f"{direct} from the rounded variance itself"
    yield SHEET.share_claim("table-3.follow", within, told, of="numbers")
    powers = [exact.power(variance, topics) for variance, topics in printed]
    told = f"exactly, between {min(powers):.3f} and {max(powers):.3f}"
    yield SHEET.claim("table-3.power", min(powers) >= 0.8, told)
    more = [exact.topics(variance) - nagata.topics(variance) for variance, _ in printed]
    told = f"{min(more)} to {max(more)} topics short"
    yield SHEET.claim("table-3.short", min(more) >= 0 and max(more) <= 2, told)


def _own_plan_claims(draws: pd.DataFrame) -> Iterator[Claim]:
    _, *fewer = draws["topics"].unique().tolist()
    quarter = min(fewer, key=lambda size: abs(size - 25))
    one = draws[(draws["draw"] == 0) & (draws["topics"] == quarter)]
    near = (one["ratio"] - 1.0).abs() <= NEAR
    told = _ratios(dict(zip(one["measure"], one["ratio"], strict=True)))
    yield SHEET.share_claim("table-3.quarter", near, told, of="measures", topics=quarter)
    gaps = (draws["ratio"] - 1.0).abs().groupby(draws["topics"], sort=False).mean()
    told = "mean distances " + ", ".join(f"{n}: {gap:.1%}" for n, gap in gaps.items())
    yield SHEET.claim("table-3.fewer", increases(gaps[fewer].tolist()), told)
    few = draws[(draws["topics"] == fewer[-1]) & draws["measure"].isin(MANY_ANSWERS)]
    ratios = few.groupby("measure", sort=False)["ratio"].agg(["mean", "sem"])
    larger = [above(mean, 1.0, error) for mean, error in ratios.to_numpy()]
    holds = None if None in larger and False not in larger else all(larger)
    told = "; ".join(
        f"{row.Index} × {simulated(row.mean, row.sem, 3)}" for row in ratios.itertuples()
    )
    yield SHEET.claim("table-3.over", holds, told, topics=fewer[-1])


def _pool_figure(pools: PoolsResult, number: int, size: int) -> Exhibit:
    """Variances against the number of teams left out: Figure 1 or 2."""
    made = SHEET.made("figure", _pool_parts(pools, number, size), topics=size)
    claims = (replace(one, id=one.id.replace("figure", f"figure-{number}")) for one in made.claims)
    return replace(made, id=f"figure-{number}", claims=tuple(claims))


def _pool_parts(pools: PoolsResult, number: int, size: int) -> Iterator[Part]:
    yield _misses_table(pools, number, size)
    yield _cells_table(pools, number, size)
    caption = (
        f"Variance by the remaining teams, mean and 95% interval over {pools.n_trials} trials; "
        "dashed, by all teams and topics"
    )
    shown = replace(pools, pilot_topics=(size,))
    yield result_figure(f"figure-{number}", caption, shown, "variance")
    yield from _pool_claims(pools, size) if number == 1 else _few_topics_claims(pools, size)
    yield {"pools": pools}


def _misses_table(pools: PoolsResult, number: int, size: int) -> Table:
    rows = []
    for row in pools.references:
        printed = PRINTED_PLANS[row.measure][0][0]
        miss = PRINTED_MISSES.get(row.measure) if number == 1 else None
        rows.append((row.measure, row.variance, printed, row.first_miss.get(size), miss))
    caption = (
        f"Variance by all {len(pools.teams)} teams, and the first k whose interval misses it "
        "(printed: 16 teams)"
    )
    header = ("measure", "variance", "variance printed", "first k", "first k printed")
    return page_table(f"figure-{number}-first-miss", caption, header, rows)


def _cells_table(pools: PoolsResult, number: int, size: int) -> Table:
    rows = [
        (cell.measure, cell.k, cell.mean, cell.interval, len(cell.variances), min(cell.topics_left))
        for cell in pools.leave_out
        if cell.pilot_topics == size
    ]
    caption = "Variance with k teams left out: mean over trials and its 95% interval"
    header = ("measure", "k", "mean variance", "interval", "trials", "fewest topics")
    return page_table(f"figure-{number}-data", caption, header, rows)


def _widths(pools: PoolsResult, size: int) -> dict[str, list[float]]:
    widths: dict[str, list[float]] = {name: [] for name in pools.measures}
    for cell in pools.leave_out:
        if cell.pilot_topics == size and cell.k > 0:
            low, high = cell.interval or (math.nan, math.nan)
            widths[cell.measure].append(high - low)
    return widths


def _pool_claims(pools: PoolsResult, size: int) -> Iterator[Claim]:
    widths = _widths(pools, size)
    variance = {row.measure: row.variance for row in pools.references}
    of = {"of": "measures"}
    wider = [bool(increases(w)) for w in widths.values()]
    yield SHEET.share_claim("figure.widen", wider, **of)
    widest = [w[-1] == np.nanmax(w) for w in widths.values()]
    yield SHEET.share_claim("figure.widest", widest, **of)
    half = len(pools.teams) // 2
    means = {name: pools.cell(name, half, size).mean / variance[name] for name in pools.measures}
    yield _half_claim(pools, "figure.half", means, NEAR)
    last = max(pools.ks)
    alone = {name: pools.cell(name, last, size).mean / variance[name] for name in pools.measures}
    over = [ratio > 1.0 for ratio in alone.values()]
    left = counted(len(pools.teams) - last, "team")
    yield SHEET.share_claim("figure.over", over, _ratios(alone), left=left, **of)
    # Measures of one document against measures of many.
    width = {name: float(np.nanmean(w)) for name, w in widths.items()}
    for id, some, others, values in (
        ("vary", MANY_ANSWERS, ONE_ANSWER, variance),
        ("tight", MANY_ANSWERS, ONE_ANSWER, width),
        ("tighter", ("P+", "nERR@10"), ("nG@1",), width),
    ):
        told = f"from the least: {listed(sorted(values, key=values.__getitem__))}"
        less = max(values[a] for a in some) < min(values[b] for b in others)
        yield SHEET.claim(f"figure.{id}", less, told)


def _few_topics_claims(pools: PoolsResult, size: int) -> Iterator[Claim]:
    many, few = _widths(pools, max(pools.pilot_topics)), _widths(pools, size)
    wider = {name: float(np.nanmean(few[name]) / np.nanmean(many[name])) for name in few}
    told = "; ".join(f"{name} × {ratio:.1f}" for name, ratio in wider.items())
    less_stable = [ratio > 1.0 for ratio in wider.values()]
    yield SHEET.share_claim("figure.fewer", less_stable, told, of="measures", topics=size)
    half = len(pools.teams) // 2
    means = {
        name: pools.cell(name, half, size).mean / pools.cell(name, 0, size).mean
        for name in pools.measures
    }
    yield _half_claim(pools, "figure.roughly", means, ROUGHLY)


def _half_claim(
    pools: PoolsResult, id: str, ratios: Mapping[str, float], tolerance: float
) -> Claim:
    near = [abs(ratio - 1.0) <= tolerance for ratio in ratios.values()]
    names = {"half": len(pools.teams) // 2, "teams": len(pools.teams)}
    return SHEET.share_claim(id, near, _ratios(ratios), of="measures", **names)


def _ratios(ratios: Mapping[str, float]) -> str:
    return "; ".join(f"{name} {ratio - 1.0:+.1%}" for name, ratio in ratios.items())
