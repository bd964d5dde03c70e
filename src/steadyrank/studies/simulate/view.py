"""Sentences, tables and the section of `simulate`.

The share of pairs that are rarely significant is the paper's PCT (Yang, Zhang & Song 2018), whose
text calls it the share of significant pairs.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.cells import name, number
from steadyrank.present.json import picked, rows_of
from steadyrank.present.pair_panel import PairPanel
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, FigureSpec, Finding, Row, TableSpec, View, Words
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.studies.simulate.measures import parse_shared
from steadyrank.studies.simulate.result import SimulatePart, SimulateResult
from steadyrank.studies.simulate.study import simulate
from steadyrank.words import MISSING, chance, counted, decimals_for, figure, percent

MOST_PAIRS = 10
"""Number of neighbours that a command prints; JSON has all pairs."""


def findings(result: SimulateResult) -> list[Finding]:
    """Return findings about a second collection if it is predicted, else about the samples."""
    if len(result.runs) < 2:
        return [_mean(result), *_special_cases(result)]
    said = [_tau(result), *_other_first(result), *_error_rate(result), _tests(result)]
    return said + _special_cases(result)


def _mean(result: SimulateResult) -> Finding:
    values = picked(result, "n_samples measure") | {
        key: float(getattr(result, key)[0]) for key in ("simulated_mean", "simulated_sd")
    }
    mean, spread = (figure(values[key], ".4f") for key in ("simulated_mean", "simulated_sd"))
    text = (
        f"In {result.n_samples:,} simulated collections the mean {result.measure} is {mean} ± "
        f"{spread}; with one run there is nothing to rank."
    )
    return Finding("simulate.mean", text, values)


def _tau(result: SimulateResult) -> Finding:
    tau, (low, high) = result.tau, result.tau.interval
    where = (
        f"In {result.n_samples:,} simulated collections"
        if result.prediction is None
        else "In a second collection"
    )
    text = (
        "There is no ranking to compare: all runs have equal means, observed or simulated."
        if math.isnan(tau.mean)
        else f"{where} the ranking by {result.measure} has a mean Kendall's tau of {tau.mean:.2f} "
        f"[{low:.2f}, {high:.2f}] with the observed one."
    )
    values = picked(tau, "mean interval") | {"is_predicted": result.prediction is not None}
    return Finding("simulate.tau", text, values | {"measure": result.measure})


def _other_first(result: SimulateResult) -> list[Finding]:
    other, leader = result.other_first, result.runs[int(np.argmax(result.raw_mean))]
    if other is None:
        return []
    values = {"simulated": other, "observed": leader}
    text = f"By simulated means {other} is first, not {leader}."
    return [Finding("simulate.other_first", text, values)]


def _error_rate(result: SimulateResult) -> list[Finding]:
    if result.prediction is None:
        rate = result.error_rate.overall
        often = "none of the" if rate == 0.0 else f"{rate:.1%} of"
        text = (
            f"In {often} comparisons the better run in a simulated collection is the worse one "
            "in the observed collection."
        )
        return [Finding("simulate.error_rate", text, {"rate": rate})]
    found = swap(result)
    return [] if found is None else [found]


def swap(result: SimulateResult) -> Finding | None:
    """Return the share of pairs of runs that swap in a second collection, if predicted."""
    share = math.nan if result.prediction is None else result.prediction.swap_share
    if math.isnan(share):
        return None
    text = f"In a second collection {percent(share)} of the pairs of runs change their order."
    if len(result.runs) == 2:
        likely = chance(share, result.n_samples)
        text = f"In a second collection the two runs change their order with probability {likely}."
    return Finding("simulate.swap", text, {"share": share})


def _tests(result: SimulateResult) -> Finding:
    agreement = f"{result.decision_agreement:.1%}"
    text = (
        f"Uncorrected t tests lead to the same decision in {agreement} of simulated comparisons "
        "as in the observed collection."
    )
    if len(result.runs) == 2:
        differ = "differ" if result.raw_significant_share else "do not differ"
        text = (
            f"By the t test the two runs {differ} significantly; it decides the same in "
            f"{agreement} of simulated collections."
        )
    return Finding("simulate.tests", text, _test_rows(result)[0])


def _neighbour_rows(result: SimulateResult) -> list[dict[str, Any]]:
    order = np.argsort(-result.raw_mean, kind="stable")
    a, b = order[:-1], order[1:]
    place = {pair: i for i, pair in enumerate(map(tuple, all_pairs(len(order)).tolist()))}
    at = [place[pair] for pair in zip(np.minimum(a, b), np.maximum(a, b), strict=True)]
    return rows_of(
        {
            "better": [result.runs[run] for run in a],
            "next": [result.runs[run] for run in b],
            "difference": result.raw_mean[a] - result.raw_mean[b],
            "same_order": result.above[a, b],
            "significant": result.significance.rate[at],
            "document_share": result.document_share[at],
        }
    )


def _is_shared(result: SimulateResult) -> bool:
    # Document noise is a share of the variance only if runs share documents.
    return result.documents == "shared"


def _bins(result: SimulateResult) -> list[dict[str, Any]]:
    return rows_of(picked(result.error_rate, "low high count errors rate rate_error"))


def _bin(row: Row) -> Cell:
    form = decimals_for(row["low"], row["high"])
    low, high = (f"{row[end]:{form}}" for end in ("low", "high"))
    return name(f"{low}–{high}" if math.isfinite(row["high"]) else f"{low} or more")


def _rate(row: Row) -> Cell:
    # With no errors, or only errors, the spread of the samples is 0.
    if row["errors"] in (0, row["count"]):
        return number(row["rate"])
    if row["rate"] < 1e-4:
        return Cell("< 0.0001", row["rate"])
    return Cell(f"{row['rate']:.4f} ± {row['rate_error']:.4f}", row["rate"])


def _test_rows(result: SimulateResult) -> list[dict[str, Any]]:
    row = {
        "alpha": result.significance.alpha,
        "significant": result.raw_significant_share,
        **picked(result.significance, "reliably_share rarely_share"),
        "agreement": result.decision_agreement,
        **picked(result.significance, "estimated_difference estimated_difference_recentred"),
    }
    return [row] if len(result.runs) > 1 else []


def _special_cases(result: SimulateResult) -> list[Finding]:
    """Return counts of what is odd among rankings and samples."""
    cases = {
        "none_relevant": "rankings have no relevant document and score 0",
        "without_relevant": "simulated topics have no relevant document: all runs score 0",
        "plain": "rankings have too few distinct scores to smooth",
        "truncated": "simulated rankings have more relevant documents than places",
    }
    counts = {key: getattr(result, key) for key in cases}
    return [
        Finding(f"simulate.{key}", f"{count:,} {cases[key]}.", {"count": count})
        for key, count in counts.items()
        if count
    ]


RUNS = TableSpec(
    id="simulated",
    rows=SimulateResult.rows,
    columns=lambda result: (
        Col("run", form="name"),
        Col("raw_mean", "{measure}"),
        Col("simulated_mean", "simulated", about="mean over simulated collections"),
        Col("simulated_sd", "sd", about="standard deviation over simulated collections"),
        Col("rank", form="d"),
        Col(("rank_low", "rank_high"), "rank interval", "d"),
        *(Col(f"top_{k}", f"P(top {k})", ".3f") for k in result.tops),
    ),
    caption=lambda result: (
        f"{result.caption()} Ranks (95%) and P(top K): "
        f"{'simulated collections' if result.prediction is None else 'a second collection'}."
    ),
    best="raw_mean",
)
NEIGHBOURS = TableSpec(
    id="documents-neighbours",
    rows=_neighbour_rows,
    printed=lambda result: MOST_PAIRS,
    columns=(
        Col("better", form="name"),
        Col("next", form="name"),
        Col("difference"),
        Col("same_order", form="percent", when="known", about="ties count half"),
        Col("significant", form="percent"),
        Col("document_share", "document noise", "percent", _is_shared),
    ),
    caption=lambda result: (
        f"Neighbours by {result.measure}: "
        + ("" if result.prediction is None else "same order in a second collection (probability), ")
        + "significant in simulated collections (share, t test)"
        + ("; document noise: its share of the variance over topics." * _is_shared(result) or ".")
    ),
)
ERRORS = TableSpec(
    id="simulate-errors",
    rows=_bins,
    shown=lambda result, rows: [row for row in rows if row["count"]],
    columns=(
        Col("low", "difference", _bin),
        Col("count", "comparisons", "count"),
        Col("errors", form="count"),
        Col("rate", "error rate", _rate),
    ),
    caption="Error rate: how often the better run in a simulated collection is the worse one in "
    "the observed collection, by the size of the simulated difference, ± Monte Carlo error.",
)
TESTS = TableSpec(
    id="simulate-tests",
    rows=_test_rows,
    columns=(
        Col("significant", "significant here", "percent"),
        Col("reliably_share", "reliably", "percent"),
        Col("rarely_share", "rarely", "percent"),
        Col("agreement", "same decision", "percent"),
        Col("estimated_difference", "estimated difference"),
        Col("estimated_difference_recentred", "recentred"),
    ),
    caption=lambda result: (
        f"Uncorrected t tests, alpha {result.significance.alpha:g}: pairs significant here, "
        "reliably (in at least 95% of simulated collections), rarely (below 5%); docs/simulate.md."
    ),
    n_names=0,
)


def fields(result: SimulateResult) -> dict[str, Any]:
    """Return the keys of the JSON output."""
    rank = {row["run"]: row["rank"] for row in result.rows()}
    rates, errors, found = result.significance, result.error_rate, result.prediction
    return {
        **picked(
            result,
            "model measure n_samples depth seed documents runs topics raw_mean simulated_mean",
        ),
        "prediction": found
        and {
            "tau": picked(found.tau, "mean interval"),
            **picked(found, "first rank_interval swap_share"),
            "pairs": rows_of({**_names(result), "swap": found.swap}),
        },
        "rank_correlation": picked(
            result.rank_correlation, "mean interval mean_error sd quantiles"
        ),
        "error_rate": _bins(result),
        "significance": {
            "alpha": rates.alpha,
            "raw_share": result.raw_significant_share,
            "rarely_significant_share": rates.rarely_share,
            "reliably_significant_share": rates.reliably_share,
            "mean_rate": float(rates.rate.mean()) if len(rates.rate) else None,
            "decision_agreement": result.decision_agreement,
        },
        **picked(rates, "estimated_difference estimated_difference_recentred"),
        "estimated_difference_error": rates.estimated_difference_error,
        "estimated_difference_quantiles": rates.difference_quantiles,
        "estimated_difference_recentred_quantiles": rates.recentred_quantiles,
        "overall_error_rate": errors.overall,
        "ties": errors.ties,
        "simulated_sd": result.simulated_sd,
        "rank": [rank[run] for run in result.runs],
        "rank_interval": result.rank_interval,
        "top_probability": {str(k): result.top_probability(k) for k in result.tops},
        "per_topic": {
            "raw": result.raw,
            "simulated_mean": result.cell_mean,
            "simulated_sd": result.cell_sd,
        },
        "pairs": _pairs(result),
        "bandwidth": result.bandwidth if result.model == "kde" else None,
        "kernel": result.kernel if result.model == "kde" else None,
        **picked(result, "mode denominator score_source none_relevant"),
        **picked(result, "without_relevant plain truncated"),
    }


def _names(result: SimulateResult) -> dict[str, list[str]]:
    first, second = all_pairs(len(result.runs)).T
    return {"a": [result.runs[a] for a in first], "b": [result.runs[b] for b in second]}


def _pairs(result: SimulateResult) -> list[dict[str, Any]]:
    first, second = all_pairs(len(result.runs)).T
    raw, simulated = result.raw_mean, result.simulated_mean
    return rows_of(
        {
            **_names(result),
            "raw_difference": raw[first] - raw[second],
            "simulated_difference": simulated[first] - simulated[second],
            **picked(result.significance, "rate rate_error"),
            **picked(result, "raw_pvalue document_share"),
        }
    )


VIEW = View(
    words=Words(
        title="Other documents",
        question="Would another document collection change the table?",
        means=(
            "The documents of each topic are resampled with their grades, and all runs rank the "
            "same new collection. Ranks, probabilities and tau are for a second collection, which "
            "has an error in addition to that of the observed collection. The t tests in this "
            "section are not corrected for multiple comparisons."
        ),
        means_not=(
            "This section does not apply to other topics or other judges. Unjudged documents also "
            "count as not relevant in the simulated collections, and a topic that has lost all "
            "its relevant documents in a simulated collection scores 0 there for every run."
        ),
    ),
    findings=findings,
    tables=(RUNS, NEIGHBOURS, ERRORS, TESTS),
    fields=fields,
    figure=FigureSpec(id="document-ranks", caption="Ranks in a second collection.", kind="ranks"),
)


def _part_findings(result: SimulatePart) -> list[Finding]:
    share = f"part {result.part:,} of {result.n_parts:,}"
    done = f"{counted(result.n_computed, 'block', form=',')} computed, {result.n_kept:,} kept"
    left = f"{result.n_left:,} of {counted(result.n_blocks, 'block', form=',')} left"
    if not result.n_left:
        left = "all blocks are there: the same command without a part shows the result"
    return [Finding("simulate.part", f"{share.capitalize()}: {done}; {left}.", asdict(result))]


PART_VIEW = View(
    findings=_part_findings,
    tables=(
        TableSpec(
            id="simulate-part",
            rows=SimulatePart.rows,
            columns=(
                Col("part", form="count"),
                Col("n_computed", "computed", "count"),
                Col("n_kept", "kept", "count"),
                Col("n_left", "left, of all parts", "count"),
            ),
            caption=lambda result: f"{result.caption().capitalize()}.",
        ),
    ),
    fields=asdict,
)


def _why_not(material: Material) -> str:
    if material.runs is None:
        return "requires runs; a table of scores was given"
    if _measure(material) is None:
        return (
            f"none of the measures ({', '.join(material.scores.measures)}) can be simulated: "
            "with -m, name AP, nDCG@10, P@10, RR, RBP or another measure that depends only on "
            "the ranks of relevant documents"
        )
    return "" if len(material.compared.runs) > 1 else "requires two runs to compare"


def _measure(material: Material) -> str | None:
    """Return the measure that ranks the runs, or else the first that can be simulated."""
    measures = (material.measure, *material.scores.measures)
    return next((text for text in measures if _can_be_simulated(text)), None)


def _can_be_simulated(measure: str) -> bool:
    try:
        parse_shared(measure)
    except InputError:
        return False
    return True


def _run(job: Job) -> SimulateResult:
    material, machine, settings = job.material, job.machine, job.material.settings
    result: SimulateResult = simulate(
        material.compared_runs,
        material.qrels,
        measure=_measure(material) or "AP",
        n_samples=job.n_samples,
        alpha=settings.alpha,
        no_relevant=settings.no_relevant,
        store=machine.store and machine.store / "simulate",
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("simulated collections"),
        **job.common,
    )
    return result


def _beside(result: SimulateResult, findings: Findings) -> list[Finding]:
    """Say whether the first two runs swap, or that the ranking measure cannot be simulated."""
    ranking = findings.material.measure
    if ranking != result.measure:
        text = f"By {result.measure}: {ranking} cannot be simulated."
        values = {"measure": result.measure, "ranking": ranking}
        return [Finding("simulate.measure", text, values)]
    a, b = np.argsort(-result.raw_mean, kind="stable")[:2].tolist()
    share = float(result.above[a, b])
    if math.isnan(share) or len(result.runs) == 2:
        return []
    first, second = result.runs[a], result.runs[b]
    likely = chance(1.0 - share, result.n_samples)
    text = f"In a second collection, {second} is above {first} with probability {likely}."
    return [Finding("simulate.reversal", text, {"a": first, "b": second, "share": 1.0 - share})]


def _of_two(panel: PairPanel, result: SimulateResult, findings: Findings) -> None:
    place = {run: i for i, run in enumerate(result.runs)}
    shares = [
        float(result.above[place[a], place[b]]) if a in place and b in place else math.nan
        for a, b in panel.pairs
    ]
    panel.add(
        f"In other documents (by {result.measure})",
        "{a} is above {b} with probability {kept} in a second document collection",
        kept=[MISSING if math.isnan(one) else chance(one, result.n_samples) for one in shares],
    )


PART = part_of(
    VIEW,
    run=_run,
    samples=Samples(noun="collections", fast=1000, full=10_000),
    why_not=_why_not,
    beside=_beside,
    front=lambda result, findings: Front(swap=swap(result)),
    varies="Other documents",
    examine=lambda material: "" if material.runs else "runs instead of scores",
    of_two=_of_two,
)
