"""Sentences, tables and sections of `stability` for graded answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from steadyrank.data.facets import facets_of
from steadyrank.present.json import picked
from steadyrank.present.view import Col, FigureSpec, Finding, TableSpec, View, Words
from steadyrank.stats.facets import design
from steadyrank.stats.facets.pairs import CARRIED, CARRY_LITTLE, MORE_JUDGES
from steadyrank.studies.part import Front, Job, Part, part_of
from steadyrank.studies.stability.facets import FacetsResult, study_facets
from steadyrank.words import counted, interval, listed, number_word, swap_words

Results = Sequence[FacetsResult]
"""One result per measure; the first measure ranks the runs."""

LEVELS = (0.8, 0.9, 0.95)


def findings(results: Results) -> list[Finding]:
    """Return findings about the measure that ranks the runs."""
    result = results[0]
    parts = (_few, _bought, _judges, _unknown)
    return [_shares(result), *(finding for part in parts for finding in part(result))]


def _shares(result: FacetsResult) -> Finding:
    shares, fixed = result.difference_shares, result.standard_error_fixed
    if len(result.graders) == 1:
        text = (
            f"Topics and the view of {result.graders[0]} alone cannot be separated: {MORE_JUDGES}."
        )
        return Finding("stability.shares", text, dict(shares))
    most = "judges" if shares["judges"] > 0.0 else max(shares, key=shares.__getitem__)
    named = "single grades" if most == "rest" else most
    text = f"{shares[most]:.0%} of the variance of a difference is due to {named}"
    if most == "judges" and fixed > 0.0:
        short = result.standard_error / fixed
        text += f"; intervals over topics alone are {short:.1f} times too short"
    return Finding("stability.shares", f"{text}.", dict(shares))


def _few(result: FacetsResult) -> Iterator[Finding]:
    n = len(result.graders)
    if 1 < n < CARRY_LITTLE:
        half = 0.5 * result.standard_error
        enough = (k for k in range(n, design.MOST_JUDGES) if _error(result, k) <= half)
        text = f"{number_word(n).capitalize()} judges carry little: {CARRIED}."
        yield Finding("stability.few_judges", text, {"judges": n, "halving": next(enough, None)})


def _error(result: FacetsResult, n_judges: int) -> float:
    g = result.planned
    return design.standard_error(g, replace(g.sizes, judges=n_judges))


def _bought(result: FacetsResult) -> Iterator[Finding]:
    g, plan = result.components, result.allocation
    these = result.size_words(" and ", all_=False)
    least = result.planned.variance.get("system:judge", 0.0)
    if plan.target is None:
        if least > 0.0:
            least = math.sqrt(2.0 * least / g.sizes.judges)
            text = (
                f"With {counted(g.sizes.judges, 'judge', form='g')}, no number of topics brings "
                f"the standard error below {least:.3g} (now {result.standard_error:.3g})."
            )
            yield Finding("stability.least", text, {"standard_error": least})
        return
    if plan.topics_needed is not None and math.isfinite(plan.topics_needed):
        needed = counted(plan.topics_needed, "topic", form=",")
        text = f"A standard error of {plan.target:g} requires {needed} with {these}."
    else:
        more = "" if plan.judges_needed is None else f": this requires {plan.judges_needed} judges"
        text = f"With {these} no number of topics reaches {plan.target:g}{more}."
    yield Finding("stability.target", text, {"target": plan.target, "topics": plan.topics_needed})
    best = plan.cheapest
    if best is not None:
        sizes = [counted(getattr(best, f"{name}s"), name) for name in ("topic", *result.facets)]
        text = f"Cheapest for {plan.target:g}: {' × '.join(sizes)}, at a cost of {best.cost:,.4g}."
        yield Finding("stability.cheapest", text, asdict(best))


def _judges(result: FacetsResult) -> Iterator[Finding]:
    n, odd = len(result.graders), result.outlier
    if odd is not None:
        tau = f"{odd.tau.tau:.2f} {interval((odd.tau.low, odd.tau.high), '.2f')}"
        text = f"{odd.judge} orders the systems least like the other judges: tau {tau}."
        yield Finding("stability.outlier", text, {"judge": odd.judge, "tau": odd.tau.tau})
    if n > 2 and not math.isnan(result.effective_judges):
        text = f"The {n} judges are worth {result.effective_judges:.1f} independent ones."
        yield Finding("stability.effective", text, {"judges": result.effective_judges})
    if n > 1:
        more = _error(result, 2 * n) / result.standard_error
        text = f"{2 * n} judges would narrow intervals by {1.0 - more:.0%}."
        yield Finding("stability.more_judges", text, {"n_judges": 2 * n, "narrower": 1.0 - more})


def _unknown(result: FacetsResult) -> Iterator[Finding]:
    g = result.components
    held = {name: [part for part in own if part != name] for name, own in g.confounded.items()}
    if held:
        said = "; ".join(f"{name} includes {listed(parts)}" for name, parts in held.items())
        yield Finding("stability.confounded", f"Not separated: {said}.", held)
    for name in g.unidentified:
        text = f"Missing scores leave no estimate of {name}."
        yield Finding(f"stability.unidentified.{name}", text)
    for name, value in g.raw.items():
        if value < 0.0:
            text = f"The estimate of {name} is negative ({value:.3g}) and counts as 0."
            yield Finding(f"stability.below_zero.{name}", text, {"variance": value})


def _component_rows(results: Results) -> Iterator[dict[str, Any]]:
    for result in results:
        g, planned = result.components, result.planned.variance
        weights = g.difference_weights(g.sizes)
        total, spans = result.planned.total(weights) or 1.0, g.intervals
        for name, value in g.variance.items():
            share = weights[name] * planned[name] / total if name in weights else None
            row = {"measure": result.measure, "component": name, "variance": value}
            yield row | {"interval": spans[name], "difference_share": share}


def _judge_rows(results: Results) -> list[dict[str, Any]]:
    """Return one row per judge, as in JSON."""
    return [
        {
            "measure": result.measure,
            "judge": own.judge,
            "mean": own.mean,
            "agreement": own.agreement,
            "tau": own.tau.tau,
            "tau_interval": [own.tau.low, own.tau.high],
            "outlier": own is result.outlier,
        }
        for result in results
        for own in result.judges
    ]


MEASURE = Col("measure", form="name", when=lambda results: len(results) > 1)
SURE = "{confidence:.0%} interval"

COMPONENTS = TableSpec(
    id="facets-components",
    rows=_component_rows,
    columns=(
        MEASURE,
        Col("component", form="name"),
        Col("variance", form=".5f"),
        Col("interval", SURE, ".5f"),
        Col("difference_share", "of a difference", "percent"),
    ),
    caption=lambda results: results[0].caption(),
)
DESIGNS = TableSpec(
    id="facets-d-study",
    rows=lambda results: [row for result in results for row in result.rows()],
    columns=(
        MEASURE,
        Col("topics", form="count"),
        Col("answers", form=".3g", when="varies"),
        Col("judges", form=".3g", when="varies"),
        Col("standard_error", "standard error", ".4f"),
        Col("standard_error_interval", SURE, ".4f"),
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
        Col("tau_interval", SURE, ".3f"),
        Col("outlier", form="yes", when="varies"),
    ),
    caption="Judges one by one: agreement beyond chance, tau with all others over topics.",
)


def fields(results: Results) -> dict[str, Any]:
    """Return the keys of the JSON output; for several measures, a list of such objects."""
    if len(results) > 1:
        return {"studies": [VIEW.json([result]) for result in results]}
    result = results[0]
    g = result.components
    own = "measure facets difference_shares standard_error standard_error_interval "
    own += "standard_error_fixed d_study effective_judges error_correlation confidence seed"
    return {
        "variance": g.variance,
        **{key: result.d_study[0][key] for key in ("e_rho2", "phi")},
        "topics_needed": [
            {
                "level": level,
                "e_rho2": g.topics_for_e_rho2(level, g.sizes),
                "phi": g.topics_for_phi(level, g.sizes),
            }
            for level in LEVELS
        ],
        "components": g.variance,
        "component_intervals": g.intervals,
        "components_raw": g.raw,
        **picked(result, own),
        "allocation": asdict(result.allocation),
        "judges": _judge_rows(results),
        "swap_shares": result.swaps,
        **picked(g, "confounded unidentified method n_systems n_missing"),
        **{f"n_{name}": number for name, number in asdict(g.sizes).items()},
    }


def describe(results: Results) -> str:
    """Return the paragraph for a paper."""
    result = results[0]
    shares = [f"{share:.0%} to {name}" for name, share in result.difference_shares.items() if share]
    parts = listed(shares).replace("to rest", "to the rest")
    if len(result.graders) == 1:
        parts = f"to topics and the view of {result.graders[0]}, which one judge cannot separate"
    return (
        f"We scored {result.size_words()} by {result.measure}. The variance of a difference of two "
        f"systems is due {parts}; its standard error is {result.standard_error:.3g} over topics, "
        f"answers and judges, and {result.standard_error_fixed:.3g} over topics alone "
        f"({result.components.method})."
    )


VIEW = View(
    words=Words(
        title="Judges and answers",
        question="How much of a difference is due to the judges and to single answers?",
        means=(
            "Topics, answers and judges count as samples of those that could have been used. Only "
            "more judges reduce their share of a difference, more topics do not."
        ),
        means_not="Errors that all judges share are not in any component: no grade reveals them.",
    ),
    findings=findings,
    tables=(COMPONENTS, DESIGNS, JUDGES),
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


def _run(job: Job) -> Results:
    scores, settings = job.material.compared_graded, job.material.settings
    several = [name for name in facets_of(scores) if job.material.n_levels(name) > 1]
    how: Any = {"confidence": 1 - settings.alpha, "seed": settings.seed, "jobs": job.machine.jobs}
    return (study_facets(scores, job.material.measure, several, **how),)


def _part(view: View, facet: str) -> Part:
    """Return the part of a report about other judges, or answers."""

    def front(results: Results, findings: Any) -> Front:
        share = results[0].swaps.get(f"{facet}s")
        if share is None:
            return Front()
        swaps = swap_words(share, len(results[0].systems), "systems")
        text = f"With as many other {facet}s {swaps}."
        return Front(swap=Finding(f"stability.swap_{facet}s", text, {"share": share}))

    lacking = f"the scores have one {facet}: a long table may have a column {facet}"
    return part_of(
        view,
        run=_run,
        why_not=lambda material: "" if material.n_levels(facet) > 1 else lacking,
        front=front,
        varies=f"Other {facet}s",
    )


def _answers_share(results: Results) -> list[Finding]:
    share, n = results[0].difference_shares["answers"], results[0].components.sizes.answers
    text = f"{share:.0%} of the variance of a difference is due to single answers ({n:.3g} each)."
    return [Finding("stability.answers", text, {"share": share, "answers": n})]


ANSWERS_VIEW = View(
    words=Words(
        title="Answers",
        question="How much of a difference is due to single answers?",
        means="Answers of one system to one topic are a sample of those it could have given.",
        means_not="One answer per topic cannot show how answers vary: topics hold both.",
    ),
    findings=_answers_share,
    tables=(),
    fields=lambda results: {},
)

JUDGES_PART = _part(VIEW, "judge")
ANSWERS_PART = _part(ANSWERS_VIEW, "answer")
