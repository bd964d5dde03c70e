"""Sakai & Shang (EVIA 2016) made again: how many teams and topics does a pilot need to know the
variance by which a collection is planned?

Tables 2 and 3 are arithmetic on printed figures, which is checked, and the same computations on the
scores at hand. Figures 1 and 2 leave teams out, which takes runs, judgments and teams.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from steadyrank._version import __version__
from steadyrank.data.scores import Scores
from steadyrank.papers.data import PaperData
from steadyrank.papers.model import Claim, Exhibit, Reproduction, Work
from steadyrank.papers.parts import claim, increases, page_table, share_claim
from steadyrank.papers.sakai2016.figures import MEASURES, NEAR, PILOTS, PRINTED_PLANS, pool_figure
from steadyrank.present.table import Table
from steadyrank.stats.planning.demands import Demands, check_demands
from steadyrank.stats.ranks.correlation import TauInterval, bootstrap_tau_interval, kendall_interval
from steadyrank.studies.pools.result import PoolsResult
from steadyrank.studies.pools.study import pools
from steadyrank.studies.pools.trials import draw_trials, pilot_subsets, variance_or_nan

REFERENCE = (
    "T. Sakai and L. Shang: On estimating variances for topic set size design. EVIA 2016, a "
    "workshop of NTCIR-12."
)

SPELLED = ("nG{}@1", "Pplus{}@10", "nERR@10", "nDCG{}@10", "Q{}@10")
GAINS = "(gains=(0,1,3))"
"""The task's gains of its grades 1 and 2; other grades gain what they are."""

RUNS, POOL_DEPTH, TRIALS = 44, 10, 10

PRINTED_TAU = {
    ("nG@1", "P+"): (0.854, 0.649, 1.059),
    ("nG@1", "nERR@10"): (0.848, 0.643, 1.053),
    ("nG@1", "nDCG@10"): (0.782, 0.577, 0.987),
    ("nG@1", "Q@10"): (0.757, 0.552, 0.962),
    ("P+", "nERR@10"): (0.926, 0.721, 1.131),
    ("P+", "nDCG@10"): (0.784, 0.579, 0.989),
    ("P+", "Q@10"): (0.751, 0.546, 0.956),
    ("nERR@10", "nDCG@10"): (0.841, 0.636, 1.046),
    ("nERR@10", "Q@10"): (0.803, 0.598, 1.008),
    ("nDCG@10", "Q@10"): (0.945, 0.740, 1.150),
}
"""Table 2: Kendall's tau and its 95% interval."""

HALF = 0.0005
"""Half of the last printed digit."""


def sakai2016(data: PaperData, work: Work) -> Reproduction:
    """Tables 2 and 3, Figures 1 and 2."""
    trials = work.number(small=4, full=TRIALS)
    spelled, short_names = _measures(data)
    scores = data.scores(spelled, **work.threads)
    if data.given is None:
        scores = replace(scores, measures=short_names)
    sizes = [len(scores.topics), *(n for n in PILOTS if n < len(scores.topics))]
    pooled = None
    if data.has_teams and len({run.info["team"] for run in data.runs or ()}) > 1:
        pooled = _renamed(
            pools(
                data.runs,
                data.qrels,
                measures=spelled,
                pool_depth=POOL_DEPTH,
                n_trials=trials,
                pilot_topics=[sizes[0], sizes[-1]] if len(sizes) > 1 else sizes,
                mode="paper",
                rng=work.seed,
                **work.threads,
            ),
            short_names,
        )
    n_draws = work.number(small=20, full=200)
    draws = _draw_variances(scores, sizes, n_draws, work.seed)
    return Reproduction(
        paper="sakai2016",
        reference=REFERENCE,
        data=data.words,
        exhibits=(
            _table_2(scores, work.seed, work.jobs),
            pool_figure(pooled, 1, sizes[0]),
            _table_3(draws),
            pool_figure(pooled, 2, sizes[-1]),
        ),
        settings={
            "measures": list(spelled if data.given is None else scores.measures),
            "pool depth": POOL_DEPTH,
            "trials for each k": trials,
            "draws of pilot topics": n_draws,
            "steadyrank": __version__,
        },
    )


def _measures(data: PaperData) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The measures to compute, and what exhibits call them."""
    if data.measures or data.qrels is None:
        return data.measures, data.measures
    gains = GAINS if int(data.qrels.grades.max(initial=0)) == 2 else ""
    return tuple(name.format(gains) for name in SPELLED), MEASURES


def _renamed(result: PoolsResult, names: Sequence[str]) -> PoolsResult:
    """The same result with measures under their short names."""
    short = dict(zip(result.measures, names, strict=True))
    return replace(
        result,
        measures=tuple(names),
        references=tuple(replace(row, measure=short[row.measure]) for row in result.references),
        leave_out=tuple(replace(row, measure=short[row.measure]) for row in result.leave_out),
    )


def _table_2(scores: Scores, seed: int, jobs: int | None) -> Exhibit:
    pairs = [
        (a, b, bootstrap_tau_interval(scores.matrix(a), scores.matrix(b), seed=seed, jobs=jobs))
        for a, b in combinations(scores.measures, 2)
        if len(scores.runs) > 1
    ]
    header = (
        "measures",
        "tau",
        "interval as printed",
        "interval over topics",
        "tau printed",
        "interval printed",
    )
    table = page_table(
        "table-2",
        f"Kendall's tau of the rankings of {len(scores.runs)} runs, with 95% intervals",
        header,
        [_tau_row(a, b, over_topics) for a, b, over_topics in pairs],
        digits=3,
    )
    return Exhibit(
        id="table-2",
        title="Do the measures rank runs alike?",
        tables=(table,),
        claims=(*tau_claims(), *_own_tau_claims(pairs)),
        explanation=(
            "The printed intervals are tau ± 1.96 sqrt(2(2n + 5) / (9n(n − 1))), whose standard "
            "error is that of unrelated rankings: it says how far from 0 a tau must be, not how "
            "well this tau is known. So limits pass 1, and that a limit passes 1 does not make two "
            "rankings equivalent. The other interval resamples topics."
        ),
    )


def _tau_row(a: str, b: str, over_topics: TauInterval) -> tuple[object, ...]:
    known = not math.isnan(over_topics.tau)
    normal = kendall_interval(over_topics.tau, over_topics.n) if known else None
    tau, low, high = PRINTED_TAU.get((a, b), (math.nan,) * 3)
    return (
        f"{a} – {b}",
        over_topics.tau,
        (normal.low, normal.high) if normal else None,
        (over_topics.low, over_topics.high) if known else None,
        tau,
        (low, high) if tau == tau else None,
    )


def tau_claims() -> list[Claim]:
    """What must agree within the printed Table 2."""
    agrees = []
    for tau, low, high in PRINTED_TAU.values():
        interval = kendall_interval(tau, RUNS)
        # The printed tau is rounded, too.
        agrees.append(max(abs(interval.low - low), abs(interval.high - high)) <= 2 * HALF)
    above = sum(high > 1.0 for _, _, high in PRINTED_TAU.values())
    return [
        share_claim(
            "Printed intervals are tau ± 1.96 standard errors of unrelated rankings of 44 runs",
            agrees,
            of="intervals",
        ),
        claim(
            "Printed intervals say how well tau is known",
            False,
            f"{above} of {len(PRINTED_TAU)} reach above 1, the largest tau there is",
        ),
    ]


def _own_tau_claims(pairs: Sequence[tuple[str, str, TauInterval]]) -> list[Claim]:
    known = {(a, b): tau for a, b, tau in pairs if not math.isnan(tau.tau)}
    claims = []
    best = sorted(known, key=lambda pair: -known[pair].tau)[:2]
    comparable = set(PRINTED_TAU) <= set(known)
    claims.append(
        claim(
            "Most alike are P+ with nERR@10, and nDCG@10 with Q@10",
            set(best) == {("P+", "nERR@10"), ("nDCG@10", "Q@10")} if comparable else None,
            "here " + " and ".join(f"{a} with {b} {known[a, b].tau:.3f}" for a, b in best),
        )
    )
    widths = [tau.high - tau.low for tau in known.values() if not math.isnan(tau.low)]
    normal = [2.0 * (kendall_interval(0.0, tau.n).high) for tau in known.values()]
    claims.append(
        claim(
            "Resampling topics gives narrower intervals than the formula",
            np.mean(widths) < np.mean(normal) if widths else None,
            f"mean widths {np.mean(widths):.3f} and {np.mean(normal):.3f}" if widths else "",
        )
    )
    return claims


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Draws:
    """V_E by nested random subsets of the topics: [draw, measure, size]."""

    measures: tuple[str, ...]
    sizes: tuple[int, ...]
    variances: np.ndarray


def _draw_variances(scores: Scores, sizes: Sequence[int], n_draws: int, seed: int) -> _Draws:
    trials = draw_trials(1, len(scores.topics), (), n_draws, sizes=[1], seed=seed)
    variances = np.array(
        [
            [
                [
                    variance_or_nan(np.ascontiguousarray(matrix[:, topics]))
                    for topics in pilot_subsets(matrix, trial.topic_order, sizes)
                ]
                for matrix in scores.values
            ]
            for trial in trials
        ]
    )
    return _Draws(measures=scores.measures, sizes=tuple(sizes), variances=variances)


def _demands(formula: str = "nagata") -> Demands:
    return check_demands(
        formula=formula, alpha=0.05, beta=0.20, minimum_difference=0.15, systems=10
    )


def _table_3(draws: _Draws) -> Exhibit:
    return Exhibit(
        id="table-3",
        title="Variances by fewer pilot topics, and the topics they require",
        tables=(_draw_table(draws), _spread_table(draws), _plan_table()),
        claims=(*plan_claims(), *_own_plan_claims(draws)),
        explanation=(
            "Topics are those of the linear approximation of the noncentrality that the published "
            "tool uses, for alpha .05, beta .20, a difference of .15 and 10 systems. Two printed "
            "numbers (Q@10, variances .028 and .041) need the digits that the printed variances "
            "lack. Exact noncentral F requires up to two topics more, so the printed numbers keep "
            "their promise of power .80 only nearly. As printed, a table holds one draw of topics; "
            "how much draws differ is in the table after it."
        ),
    )


def _draw_table(draws: _Draws) -> Table:
    """The first draw, as the paper shows one."""
    demands = _demands()
    header = ["measure"]
    for size in draws.sizes:
        header += [f"{size} topics", "requires"]
    rows = [
        [name, *(value for v in draws.variances[0, m].tolist() for value in (v, _ask(demands, v)))]
        for m, name in enumerate(draws.measures)
    ]
    caption = "One draw of pilot topics, all teams: variance, and topics for a new collection"
    return page_table("table-3", caption, header, rows)


def _ask(demands: Demands, variance: float) -> int | None:
    return demands.topics(variance) if variance > 0.0 else None


def _spread_table(draws: _Draws) -> Table:
    rows = []
    for m, name in enumerate(draws.measures):
        for s, size in enumerate(draws.sizes):
            values = draws.variances[:, m, s]
            if np.isnan(values).any():
                continue
            rows.append((name, size, values.mean(), *np.quantile(values, [0.025, 0.975]).tolist()))
    return page_table(
        "table-3-spread",
        f"The same over {len(draws.variances)} draws: mean and middle 95%",
        ("measure", "topics", "mean variance", "2.5%", "97.5%"),
        rows,
    )


def _plan_table() -> Table:
    """The printed numbers beside those that the formulas give."""
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
    return page_table(
        "table-3-printed",
        "The printed variances, and the topics that they require",
        (
            "measure",
            "pilot topics",
            "variance printed",
            "n printed",
            "n approximate",
            "n exact",
            "power of printed n",
        ),
        rows,
        digits=3,
    )


def plan_claims() -> list[Claim]:
    """What must agree within the printed Table 3."""
    nagata, exact = _demands(), _demands("exact")
    printed = [plan for plans in PRINTED_PLANS.values() for plan in plans]
    direct = sum(nagata.topics(variance) == topics for variance, topics in printed)
    within = [
        nagata.topics(variance - HALF) <= topics <= nagata.topics(variance + HALF)
        for variance, topics in printed
    ]
    powers = [exact.power(variance, topics) for variance, topics in printed]
    more = [exact.topics(variance) - nagata.topics(variance) for variance, _ in printed]
    return [
        share_claim(
            "Printed topics follow from the printed variances, within their rounding",
            within,
            f"{direct} from the rounded variance itself",
            of="numbers",
        ),
        claim(
            "The printed topics have power .80",
            min(powers) >= 0.8,
            f"exactly, between {min(powers):.3f} and {max(powers):.3f}",
        ),
        claim(
            "The approximation is at most two topics short of the exact number",
            min(more) >= 0 and max(more) <= 2,
            f"{min(more)} to {max(more)} topics short",
        ),
    ]


def _own_plan_claims(draws: _Draws) -> list[Claim]:
    if len(draws.sizes) < 2:
        return [claim("A quarter of the topics gives nearly the same variance", None)]
    best = draws.variances[:1, :, :1]
    ratios = draws.variances / best
    gaps = np.abs(ratios - 1.0)
    by_size = np.nanmean(gaps, axis=(0, 1))
    quarter = min(range(1, len(draws.sizes)), key=lambda s: abs(draws.sizes[s] - 25))
    near = gaps[0, :, quarter] <= NEAR
    return [
        share_claim(
            f"{draws.sizes[quarter]} topics give nearly the same variance (within 10%), one draw",
            near.tolist(),
            "; ".join(
                f"{name} {ratio - 1.0:+.1%}"
                for name, ratio in zip(draws.measures, ratios[0, :, quarter], strict=True)
            ),
            of="measures",
        ),
        claim(
            "Fewer topics give less accurate variances",
            increases(by_size[1:].tolist()),
            "mean distances "
            + ", ".join(f"{n}: {gap:.1%}" for n, gap in zip(draws.sizes, by_size, strict=True)),
        ),
    ]
