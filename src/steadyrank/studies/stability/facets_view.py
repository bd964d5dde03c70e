"""How `stability` of graded answers is shown: what it says, its tables and figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from steadyrank.present.view import Col, FigureSpec, Finding, TableSpec, View, Words
from steadyrank.stats.facets.design import judges_to_halve
from steadyrank.studies.stability.facets import FacetsResult, size_words
from steadyrank.words import counted, interval, listed

Results = Sequence[FacetsResult]
"""One per measure, the one that ranks the runs first."""

FEW_JUDGES = 4
"""At most so many make the judges' variance hardly known."""

WHOSE = {"topics": "topics", "judges": "the judges", "answers": "the answers", "rest": "the rest"}


def findings(results: Results) -> list[Finding]:
    """What the measure that ranks the runs says."""
    result = results[0]
    return [
        _shares(result),
        *_bought(result),
        *_judges(result),
        *_confounded(result),
        *_negative(result),
    ]


def _shares(result: FacetsResult) -> Finding:
    """Whose share of a difference is largest, and what an interval over topics alone misses."""
    shares = result.difference_shares
    most = max(shares, key=shares.__getitem__)
    text = f"{shares[most]:.0%} of the variance of a difference of two systems is due to "
    if shares["judges"] > 0.0:
        most = "judges"
        text = f"{shares['judges']:.0%} of the variance of a difference is due to "
        short = f"; intervals over topics alone are {result.shortfall:.1f} times too short"
    else:
        short = ""
    return Finding("facets.shares", f"{text}{WHOSE[most]}{short}.", dict(shares))


def _bought(result: FacetsResult) -> Iterator[Finding]:
    """How a target is reached, or what no number of topics reaches."""
    g, plan = result.components, result.allocation
    with_these = listed(size_words(g.sizes, result.facets)[1:])
    if plan.target is None:
        judged = g.variance.get("system:judge", 0.0)
        if judged > 0.0:
            least = math.sqrt(2.0 * judged / g.sizes.judges)
            text = (
                f"With {counted(g.sizes.judges, 'judge', form='g')}, no number of topics brings "
                f"the standard error below {least:.3g} (now {result.standard_error:.3g})."
            )
            yield Finding("facets.limit", text, {"standard_error": least})
        return
    if plan.topics_needed is not None and math.isfinite(plan.topics_needed):
        needed = counted(plan.topics_needed, "topic", form=",")
        text = f"A standard error of {plan.target:g} requires {needed} with {with_these}."
    else:
        more = "" if plan.judges_needed is None else f": it takes {plan.judges_needed} judges"
        text = f"With {with_these} no number of topics reaches {plan.target:g}{more}."
    yield Finding("facets.target", text, {"target": plan.target, "topics": plan.topics_needed})
    best = plan.cheapest
    if best is not None:
        sizes = [counted(best.topics, "topic", form=",")]
        sizes += [counted(best.answers, "answer")] if "answer" in result.facets else []
        sizes += [counted(best.judges, "judge")] if "judge" in result.facets else []
        text = f"Cheapest for {plan.target:g}: {' × '.join(sizes)}, at a cost of {best.cost:,.4g}."
        yield Finding("facets.cheapest", text, asdict(best))
    elif plan.costs is not None:
        text = f"No numbers of topics, answers and judges that were tried reach {plan.target:g}."
        yield Finding("facets.cheapest", text)


def _judges(result: FacetsResult) -> Iterator[Finding]:
    """Who differs from all others, and how many independent judges they are worth."""
    n = len(result.judges)
    if n < 2:
        return
    odd = result.outlier
    if odd is not None:
        tau = f"{odd.tau.tau:.2f} {interval((odd.tau.low, odd.tau.high), '.2f')}"
        text = f"{odd.judge} orders the systems least like the other judges: tau {tau}."
        yield Finding("facets.outlier", text, {"judge": odd.judge, "tau": odd.tau.tau})
    if n > 2:
        text = f"The {n} judges are worth {result.effective_judges:.1f} independent ones."
        yield Finding("facets.effective", text, {"judges": result.effective_judges})
    if n <= FEW_JUDGES:
        more = judges_to_halve(n, result.confidence)
        text = f"{n} judges hardly show how judges vary: {more} would halve intervals over judges."
        yield Finding("facets.few_judges", text, {"judges": n, "halving": more})


def _confounded(result: FacetsResult) -> Iterator[Finding]:
    held = {name: parts for name, parts in result.components.confounded.items() if len(parts) > 1}
    asked = [f"{name} holds {listed(_others(name, parts))}" for name, parts in held.items()]
    if asked:
        text = f"Not separated: {'; '.join(asked)}."
        yield Finding(
            "facets.confounded", text, {name: list(parts) for name, parts in held.items()}
        )
    for name in result.components.unidentified:
        text = f"The gaps leave no estimate of {name}."
        yield Finding(f"facets.unidentified.{name}", text)


def _others(name: str, parts: Sequence[str]) -> list[str]:
    return [part for part in parts if part != name]


def _negative(result: FacetsResult) -> Iterator[Finding]:
    for name, value in result.components.raw.items():
        if value < 0.0:
            text = f"The {name} component came out as {value:.3g} and counts as 0: it is too small."
            yield Finding(f"facets.negative.{name}", text, {"variance": value})


def _component_rows(results: Results) -> list[dict[str, Any]]:
    rows = []
    for result in results:
        g = result.components
        weights = g.difference_weights(g.sizes)
        total = g.total(weights)
        for name, value in g.variance.items():
            part = weights.get(name, 0.0) * value
            rows.append(
                {
                    "measure": result.measure,
                    "component": name,
                    "variance": value,
                    "interval": g.intervals[name],
                    "difference_share": part / total if total > 0.0 and name in weights else None,
                }
            )
    return rows


def _rank_words(row: dict[str, Any]) -> str:
    low, high = row["rank_set"]
    return f"{row['rank']} [{low}–{high}]"


def judge_rows(result: FacetsResult) -> list[dict[str, Any]]:
    """One dictionary per judge, with the ranks it gives, as in JSON."""
    return [
        {
            "judge": own.judge,
            "mean": own.mean,
            "agreement": own.agreement,
            "tau": own.tau.tau,
            "tau_interval": [own.tau.low, own.tau.high],
            "outlier": own is result.outlier,
            "ranks": [
                {"run": run, "rank": int(rank), "rank_set": places.tolist()}
                for run, rank, places in zip(result.systems, own.rank, own.rank_set, strict=True)
            ],
        }
        for own in result.judges
    ]


def _judge_rows(results: Results) -> list[dict[str, Any]]:
    return [{"measure": one.measure, **row} for one in results for row in judge_rows(one)]


def _rank_rows(results: Results) -> list[dict[str, Any]]:
    """One row per system: its rank and rank set by each judge, best by the median rank first."""
    result = results[0]
    by_judge = {row["judge"]: row["ranks"] for row in judge_rows(result)}
    rows = [
        {
            "run": run,
            **{judge: _rank_words(ranks[place]) for judge, ranks in by_judge.items()},
            "median": sorted(ranks[place]["rank"] for ranks in by_judge.values())[
                len(by_judge) // 2
            ],
        }
        for place, run in enumerate(result.systems)
    ]
    return sorted(rows, key=lambda row: row["median"])


def _design_rows(results: Results) -> list[dict[str, Any]]:
    return [row for result in results for row in result.rows()]


MEASURE = Col("measure", form="name", when=lambda results: len(results) > 1)

COMPONENTS = TableSpec(
    id="facets-components",
    rows=_component_rows,
    columns=(
        MEASURE,
        Col("component", form="name"),
        Col("variance", form=".5f"),
        Col("interval", "{confidence:.0%} interval", ".5f"),
        Col("difference_share", "of a difference", "percent"),
    ),
    caption=lambda results: results[0].caption(),
)
DESIGNS = TableSpec(
    id="facets-d-study",
    rows=_design_rows,
    columns=(
        MEASURE,
        Col("topics", form="count"),
        Col("answers", form=".3g", when="varies"),
        Col("judges", form=".3g", when="varies"),
        Col("standard_error", "standard error", ".4f"),
        Col("standard_error_interval", "{confidence:.0%} interval", ".4f"),
        Col("e_rho2", "E rho²", ".3f"),
        Col("phi", "Phi", ".3f"),
    ),
    caption="D-study: standard error of a difference for these numbers (docs/stability.md).",
)
JUDGES = TableSpec(
    id="facets-judges",
    rows=_judge_rows,
    when=lambda results: bool(results[0].judges),
    columns=(
        MEASURE,
        Col("judge", form="name"),
        Col("mean", form=".3f"),
        Col("agreement", form=".3f", about="Lin's concordance with the others: quadratic kappa"),
        Col("tau", form=".3f", about="of the systems' means with those by all other judges"),
        Col("tau_interval", "{confidence:.0%} interval", ".3f"),
        Col("outlier", form="yes", when="varies"),
    ),
    caption="Judges one by one: agreement beyond chance, tau with all others over topics.",
)
RANKS = TableSpec(
    id="facets-ranks",
    rows=_rank_rows,
    when=lambda results: bool(results[0].judges) and len(results) == 1,
    columns=lambda results: (
        Col("run", "system", "name"),
        *(
            Col(own.judge, own.judge.replace("{", "{{").replace("}", "}}"), "name")
            for own in results[0].judges
        ),
    ),
    caption="Rank [rank set] of each system by each judge; sets are simultaneous for one judge.",
)


def fields(results: Results) -> dict[str, Any]:
    """The promised keys of one measure; of several, a list of such objects."""
    if len(results) > 1:
        return {"studies": [VIEW.json([result]) for result in results]}
    result = results[0]
    g = result.components
    return {
        "measure": result.measure,
        "facets": list(result.facets),
        "components": g.variance,
        "component_intervals": g.intervals,
        "components_raw": g.raw,
        "difference_shares": result.difference_shares,
        "standard_error": result.standard_error,
        "standard_error_interval": result.standard_error_interval,
        "standard_error_fixed": result.standard_error_fixed,
        "allocation": asdict(result.allocation),
        "confounded": {name: list(parts) for name, parts in g.confounded.items()},
        "unidentified": list(g.unidentified),
        "d_study": [row.row() for row in result.d_study],
        "judges": judge_rows(result),
        "effective_judges": result.effective_judges,
        "error_correlation": result.error_correlation,
        "swap_shares": result.swaps,
        "method": g.method,
        "n_systems": g.n_systems,
        "n_topics": g.sizes.topics,
        "n_answers": g.sizes.answers,
        "n_judges": g.sizes.judges,
        "n_draws": g.sizes.draws,
        "n_missing": g.n_missing,
        "confidence": result.confidence,
    }


def describe(results: Results) -> str:
    """The sentence for a paper."""
    result = results[0]
    g = result.components
    shares = {name: share for name, share in result.difference_shares.items() if share > 0.0}
    parts = listed([f"{WHOSE[name]} {share:.0%}" for name, share in shares.items()])
    sizes = " × ".join(size_words(g.sizes, result.facets))
    return (
        f"We scored {counted(g.n_systems, 'system')} on {sizes} ({result.measure}). Of the "
        f"variance of a difference of two systems, {parts}: the "
        f"standard error of a difference is {result.standard_error:.3g} over topics, answers and "
        f"judges, and {result.standard_error_fixed:.3g} over topics alone ({g.method})."
    )


VIEW = View(
    words=Words(
        title="Judges and answers",
        question="How much of a difference is due to the judges and to single answers?",
        means=(
            "Topics, answers and judges count as samples of those that could have been taken. The "
            "judges' share of a difference falls with more judges alone, not with more topics."
        ),
        means_not="Errors that all judges share are in no component: no other judge tells them.",
    ),
    findings=findings,
    tables=(COMPONENTS, DESIGNS, JUDGES, RANKS),
    csv="facets-d-study",
    fields=fields,
    describe=describe,
    figure=FigureSpec(
        id="facets-shares",
        caption="Shares of the variance of a difference of two systems.",
        kind="shares",
        of=lambda results: results[0],
    ),
)
