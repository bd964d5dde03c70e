"""What `simulate` found: the answer in words, a leaderboard with rank intervals, error rates.

Rates over simulated collections are named for what they count. The share of pairs that are
rarely significant is the paper's PCT (Yang, Zhang & Song 2018), whose text takes it for the
share of significant pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from steadyrank.errors import InputError
from steadyrank.present.cells import name, number, titled
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, exact_table, render, with_words
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.simulate.result import grades_words
from steadyrank.studies.simulate.study import SimulateResult
from steadyrank.words import chance, figure, percent

TOP = 3
"""The K of "probability of top K", where there are more runs than that."""

NAMING = (
    "A pair's rate is the share of simulated collections in which the t test rejects. The "
    "paper's PCT counts rarely significant pairs, although its text describes PCT as the "
    "share of pairs that differ."
)


def simulate_text(
    result: SimulateResult, form: str, *, top: int | None = None, digits: int = 4, **looks: Any
) -> str:
    """The result in one of the output formats; CSV holds one row a run."""
    tops = top_columns(top, len(result.runs))
    if form == "json":
        return to_json(simulate_json(result, top=top))
    if form == "csv":
        return render(_csv_table(result, tops), "csv")
    answer, notes = answer_sentences(result, digits), _notes(result, digits)
    tables = [_leaderboard(result, tops, digits)]
    if result.error_rate.count.any():
        tables.append(_error_table(result))
    # Without notes a blank line still ends the text.
    return with_words(answer, tables, notes or [""], form, **looks)


def top_columns(top: int | None, n_runs: int) -> list[int]:
    """The numbers K whose "probability of top K" is shown.

    >>> top_columns(None, 10), top_columns(None, 3), top_columns(5, 10)
    ([1, 3], [1], [1, 5])
    """
    if top is None:
        return [1, TOP] if n_runs > TOP else [1]
    if not 1 <= top <= n_runs:
        raise InputError(f"top must lie between 1 and {n_runs}, the number of runs, got {top}")
    return sorted({1, top})


def simulate_json(result: SimulateResult, *, top: int | None = None) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    rows = {row["run"]: row for row in result.rows()}
    order = result.graded_order
    tau, rates, errors = result.rank_correlation, result.significance, result.error_rate
    return {
        **picked(
            result,
            "model measure n_samples depth seed documents runs topics raw_mean simulated_mean",
        ),
        "prediction": _prediction(result),
        "rank_correlation": picked(tau, "mean interval mean_error sd quantiles"),
        "error_rate": _bins(result),
        "significance": {
            "alpha": rates.alpha,
            "raw_share": result.raw_significant_share,
            "rarely_significant_share": rates.rarely_share,
            "reliably_significant_share": rates.reliably_share,
            "mean_rate": float(rates.rate.mean()) if len(rates.rate) else None,
            "decision_agreement": result.decision_agreement,
        },
        "estimated_difference": rates.estimated_difference,
        "estimated_difference_recentred": rates.estimated_difference_recentred,
        "estimated_difference_quantiles": rates.difference_quantiles,
        "estimated_difference_recentred_quantiles": rates.recentred_quantiles,
        "overall_error_rate": errors.overall,
        "ties": errors.ties,
        "simulated_sd": [rows[run]["simulated_sd"] for run in result.runs],
        "rank": [rows[run]["rank"] for run in result.runs],
        "rank_interval": result.rank_interval,
        "top_probability": {
            str(k): result.top_probability(k) for k in top_columns(top, len(result.runs))
        },
        "per_topic": {
            "raw": result.raw,
            "simulated_mean": result.cell_mean,
            "simulated_sd": result.cell_sd,
        },
        "pairs": _pairs(result),
        "graded": None
        if order is None
        else {
            "measure": order.measure,
            "mean": result.graded_mean,
            "tau": order.tau,
            "reversed_pairs": order.n_reversed,
            "leader": order.leader,
            "same_leader": order.is_same_leader,
        },
        "bandwidth": result.bandwidth if result.model == "kde" else None,
        **picked(result, "mode denominator score_source device none_relevant"),
        **picked(result, "without_relevant plain truncated"),
    }


def _prediction(result: SimulateResult) -> dict[str, Any] | None:
    """Of a second collection; `first` and `rank_interval` in the order of the runs."""
    found = result.prediction
    if found is None:
        return None
    pairs = all_pairs(len(result.runs)).tolist()
    return {
        "tau": picked(found.tau, "mean interval"),
        **picked(found, "first rank_interval swap_share"),
        "pairs": [
            {"a": result.runs[a], "b": result.runs[b], "swap": swap}
            for (a, b), swap in zip(pairs, found.swap.tolist(), strict=True)
        ],
    }


def _bins(result: SimulateResult) -> list[dict[str, Any]]:
    keys = ("low", "high", "count", "errors", "rate", "rate_error")
    columns = [getattr(result.error_rate, key).tolist() for key in keys]
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


def _pairs(result: SimulateResult) -> list[dict[str, Any]]:
    raw, simulated, rates = result.raw_mean, result.simulated_mean, result.significance
    return [
        {
            "a": result.runs[a],
            "b": result.runs[b],
            "raw_difference": raw[a] - raw[b],
            "simulated_difference": simulated[a] - simulated[b],
            "rate": rates.rate[i],
            "rate_error": rates.rate_error[i],
            "raw_pvalue": result.raw_pvalue[i],
        }
        for i, (a, b) in enumerate(all_pairs(len(result.runs)).tolist())
    ]


def answer_sentences(result: SimulateResult, digits: int = 4) -> list[str]:
    """What the study says, for somebody who reads no further."""
    tau, start = result.tau, f"In {result.n_samples:,} simulated collections"
    if len(result.runs) < 2:
        row = result.rows()[0]
        mean, spread = (
            figure(row[key], f".{digits}f") for key in ("simulated_mean", "simulated_sd")
        )
        return [
            *grades_sentences(result),
            f"{start} the mean {result.measure} is {mean} ± {spread}; with one run there is "
            "nothing to rank.",
        ]
    if result.prediction is not None:
        start = "In a second collection"
    low, high = tau.interval
    kept = (
        f"{start} all runs score the same, or did so in the observed collection, so there is "
        "no ranking to compare."
        if np.isnan(tau.mean)
        else f"{start} the ranking by {result.measure} has a mean Kendall correlation of "
        f"{tau.mean:.2f} [{low:.2f}, {high:.2f}] with the observed one."
    )
    return [
        kept,
        *other_first_words(result),
        *grades_sentences(result),
        *_swap_sentences(result),
        _significance_sentence(result),
    ]


def other_first_words(result: SimulateResult) -> list[str]:
    """That simulated and observed means disagree about the first place, where they do."""
    other, leader = result.other_first, result.runs[int(np.argmax(result.raw_mean))]
    return [] if other is None else [f"By simulated means {other} is first, not {leader}."]


def _swap_sentences(result: SimulateResult) -> list[str]:
    """How likely a pair of runs is in the other order elsewhere."""
    if result.prediction is None:
        return [
            "The better of two runs in a simulated collection is the worse one in the observed "
            f"collection in {_share(result.error_rate.overall)} comparisons."
        ]
    share = result.prediction.swap_share
    if math.isnan(share):
        return []
    if len(result.runs) == 2:
        likely = chance(share, result.n_samples)
        return [f"The two runs change their order there with probability {likely}."]
    return [f"There, {percent(share)} of the pairs of runs change their order."]


def _share(share: float) -> str:
    return "none of the" if share == 0.0 else f"{share:.1%} of"


def _significance_sentence(result: SimulateResult) -> str:
    """How the t test decides here and there: of two runs in their own words."""
    rates, agreement = result.significance, f"{result.decision_agreement:.1%}"
    if len(result.runs) == 2:
        differ = "differ" if result.raw_significant_share else "do not differ"
        return (
            f"By the t test the two runs {differ} significantly in the observed collection; it "
            f"comes to the same decision in {agreement} of the simulated ones."
        )
    return (
        f"By the uncorrected t test, {result.raw_significant_share:.1%} of the pairs differ "
        f"significantly in the observed collection; {rates.reliably_share:.1%} are reliably "
        f"significant (in at least 95% of the simulated collections), {rates.rarely_share:.1%} "
        f"rarely (in fewer than 5%). Simulated and observed decisions agree in {agreement} of "
        "comparisons."
    )


def grades_sentences(result: SimulateResult) -> list[str]:
    """That a binary version was simulated, where it was."""
    words = grades_words(result)
    return [f"{words[0].upper()}{words[1:]}."] if words else []


def _notes(result: SimulateResult, digits: int) -> list[str]:
    """What a reader of the figures must know, and what the data did to them."""
    rates, notes = result.significance, []
    if len(result.runs) > 1:
        notes = [
            NAMING,
            f"Estimated difference: {rates.estimated_difference:.{digits}f} as printed in the "
            "paper, which is about the largest gap between any two means; "
            f"{rates.estimated_difference_recentred:.{digits}f} recentred.",
        ]
    n_cells = result.raw.size
    if result.none_relevant:
        notes.append(
            f"{result.none_relevant} of {n_cells} rankings contain no relevant document: they "
            "score 0 in every sample."
        )
    if result.without_relevant:
        topics = result.n_samples * len(result.topics)
        notes.append(
            f"{result.without_relevant / topics:.1%} of the simulated topics have no relevant "
            "document: all runs score 0 on them."
        )
    if result.model == "kde" and result.plain:
        notes.append(
            f"{result.plain} of {n_cells} rankings have too few distinct scores to be "
            "smoothed: they were bootstrapped."
        )
    if result.truncated:
        notes.append(
            f"{result.truncated:,} samples had more relevant documents than their ranking has "
            "places."
        )
    return notes


def _leaderboard(result: SimulateResult, tops: list[int], digits: int) -> Table:
    """Runs by the mean of their rankings as they are."""
    form = f".{digits}f"
    header, rows = titled(
        {
            "run": name(row["run"]),
            result.measure: number(row["raw_mean"], form),
            "simulated": number(row["simulated_mean"], form),
            "sd": number(row["simulated_sd"], form),
            "rank": number(row["rank"], "d"),
            "rank interval": Cell(f"{row['rank_low']}–{row['rank_high']}"),
            **{f"P(top {k})": number(share, ".3f") for k, share in chances.items()},
        }
        for row, chances in _rows_with_chances(result, tops)
    )
    best = frozenset({(0, 1)}) if len(rows) > 1 else frozenset()
    return Table(header=header, rows=rows, best=best, caption=ranks_caption(result))


def ranks_caption(result: SimulateResult) -> str:
    """The caption of a table with ranks: of which collections they are."""
    where = "the simulated collections" if result.prediction is None else "a second collection"
    return f"{result.caption()} Rank intervals (95%) and probabilities are for {where}."


def _error_table(result: SimulateResult) -> Table:
    """Error rates by the size of the simulated difference, bins without a pair left out."""
    header, rows = titled(
        {
            "difference": name(
                f"{row['low']:.2f}–{row['high']:.2f}"
                if np.isfinite(row["high"])
                else "0.20 or more"
            ),
            "comparisons": number(row["count"], "d"),
            "errors": number(row["errors"], "d"),
            "error rate": _rate(row),
        }
        for row in _bins(result)
        if row["count"]
    )
    caption = (
        "Error rate: how often the better run in a simulated collection is the worse one in "
        "the observed collection, by the size of the simulated difference, ± Monte Carlo "
        "error."
    )
    return Table(header=header, rows=rows, caption=caption)


def _rate(row: dict[str, Any]) -> Cell:
    # Without a single error, or with nothing else, the spread of the samples says nothing.
    if row["errors"] in (0, row["count"]):
        return number(row["rate"])
    if row["rate"] < 1e-4:
        return Cell("< 0.0001", row["rate"])
    return Cell(f"{row['rate']:.4f} ± {row['rate_error']:.4f}", row["rate"])


def _csv_table(result: SimulateResult, tops: list[int]) -> Table:
    keys = ("run", "raw_mean", "simulated_mean", "simulated_sd", "rank", "rank_low", "rank_high")
    return exact_table(
        [
            {key: row[key] for key in keys} | {f"top_{k}": share for k, share in chances.items()}
            for row, chances in _rows_with_chances(result, tops)
        ]
    )


def _rows_with_chances(
    result: SimulateResult, tops: list[int]
) -> Iterator[tuple[dict[str, Any], dict[int, float]]]:
    """The rows of the runs, each with its chances to be among the top K."""
    chances = {k: result.top_probability(k) for k in tops}
    for row in result.rows():
        r = result.runs.index(row["run"])
        yield row, {k: float(shares[r]) for k, shares in chances.items()}
