"""What `compare` found, as tables that paste into a paper."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from steadyrank.present.cells import name, number, percent, pvalue
from steadyrank.present.json import to_json
from steadyrank.present.table import Cell, Table, render
from steadyrank.stats.pairs.letters import ALPHABET
from steadyrank.studies.compare.audit import AuditResult
from steadyrank.studies.compare.power import DiscriminativePower
from steadyrank.studies.compare.result import CompareResult
from steadyrank.studies.compare.share_tables import share_tables

MOST_PAIRS = 45
"""Pairs that a terminal, LaTeX or Markdown table lists; more make only the leaderboard."""


def compare_json(result: CompareResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    return {
        "measure": result.measure,
        "test": result.test,
        "correction": result.correction,
        "alpha": result.alpha,
        "n_topics": result.n_topics,
        "significant_share": result.significant_share,
        "pairs": result.rows(),
        "mode": result.mode,
        "baseline": result.baseline,
        "family": result.family,
        "method": result.method,
        "interval_kind": result.interval_kind,
        "n_dropped": result.n_dropped,
        "n_samples": result.n_samples,
        "seed": result.seed,
        "comparison_alpha": result.comparison_alpha,
        "n_missing": result.n_missing,
        "runs": result.run_rows(),
    }


def compare_text(result: CompareResult, form: str, *, digits: int = 4, **looks: Any) -> str:
    """The result in one of the output formats; CSV holds the pairs."""
    if form == "json":
        return to_json(compare_json(result))
    if form == "csv":
        return result.to_frame().to_csv(index=False, lineterminator="\n")
    return "\n".join(render(table, form, **looks) for table in _tables(result, form, digits))


def _tables(result: CompareResult, form: str, digits: int) -> list[Table]:
    of_shares = share_tables(result, digits) if len(result.pairs) <= MOST_PAIRS else []
    if result.baseline is not None:
        return [_baseline_table(result, digits), *of_shares]
    is_paper = form in ("latex", "markdown") and len(result.runs) <= len(ALPHABET)
    leaderboard = (_paper_table if is_paper else _leaderboard)(result, digits)
    if len(result.pairs) > MOST_PAIRS:
        return [leaderboard]
    return [leaderboard, _pairs_table(result, digits), *of_shares]


def _leaderboard(result: CompareResult, digits: int) -> Table:
    """Runs by mean, with the ranks they may have and the groups that are indistinguishable."""
    different = result.n_different
    rows = []
    for i in result.order:
        low, high = result.rank_set[i]
        rows.append(
            [
                name(result.runs[i]),
                _mean(result, i, digits),
                Cell(f"{result.rank[i]} [{low}–{high}]", int(result.rank[i])),
                number(different[i], "d"),
                *map(name, result.letters[i : i + 1]),
            ]
        )
    share = f"{result.significant_share:.1%} of the pairs differ significantly."
    letters = (
        " Runs that share a letter are statistically indistinguishable." if result.letters else ""
    )
    caption = (
        f"{result.caption()} {share} Ranks in brackets: the ranks that a run may have, "
        f"{result.rank_words()}.{letters}{_detectable(result, digits)}"
    )
    header = ["run", result.measure, "rank", "differs from", *["group"][: len(result.letters)]]
    return Table(header=header, rows=rows, best=frozenset({(0, 1)}), caption=caption)


def _mean(result: CompareResult, run: int, digits: int, mark: str = "") -> Cell:
    return Cell(f"{result.mean[run]:.{digits}f}{mark}", float(result.mean[run]))


def _detectable(result: CompareResult, digits: int) -> str:
    smallest = float(np.nanmedian(result.smallest_difference)) if len(result.pairs) else np.nan
    if not np.isfinite(smallest):
        return ""
    corrected = "" if len(result.pairs) == 1 else f" among {len(result.pairs):,} comparisons"
    return (
        f" The median pair's smallest difference that a t test detects with power 0.8{corrected} "
        f"is {smallest:.{digits}f}."
    )


def _paper_table(result: CompareResult, digits: int) -> Table:
    """Runs by mean under letters, each mean raised with the runs that it beats significantly."""
    order = result.order
    label = {run: ALPHABET[place] for place, run in enumerate(order)}
    beaten: dict[int, list[str]] = {run: [] for run in order}
    for (a, b), differs, gap in zip(
        result.pairs.tolist(), result.significant, result.difference, strict=True
    ):
        if differs:
            winner, loser = (a, b) if gap > 0 else (b, a)
            beaten[winner].append(label[loser])
    rows = [[name(label[i]), name(result.runs[i]), _mean(result, i, digits)] for i in order]
    marks = {(place, 2): "".join(sorted(beaten[run])) for place, run in enumerate(order)}
    caption = f"{result.caption()} Raised letters: runs that are significantly worse."
    return Table(
        header=["", "run", result.measure],
        rows=rows,
        best=frozenset({(0, 2)}),
        marks=marks,
        caption=caption,
        n_names=2,
    )


def _pairs_table(result: CompareResult, digits: int) -> Table:
    rows = [
        [name(row["a"]), name(row["b"]), *_figures(row, digits)]
        for row in sorted(result.rows(), key=lambda row: row["pvalue_adjusted"])
    ]
    header = [
        "a",
        "b",
        "a − b",
        f"{1 - result.alpha:.0%} interval",
        "p",
        "p adjusted",
        "d",
        "W/T/L",
    ]
    return Table(header=header, rows=rows, n_names=2, caption=_pairs_caption(result))


def _pairs_caption(result: CompareResult) -> str:
    return (
        f"* significant. Intervals: {result.interval_kind}. d: mean difference over its standard "
        "deviation. W/T/L: topics that a wins, ties, loses."
    )


def _figures(row: dict[str, Any], digits: int) -> list[Cell]:
    low, high = row["interval"]
    mark = "*" if row["significant"] else ""
    return [
        Cell(f"{row['difference']:+.{digits}f}{mark}", row["difference"]),
        Cell(f"[{low:+.{digits}f}, {high:+.{digits}f}]"),
        pvalue(row["pvalue"]),
        pvalue(row["pvalue_adjusted"]),
        Cell(f"{row['effect_size']:+.2f}", row["effect_size"]),
        Cell(f"{row['wins']}/{row['ties']}/{row['losses']}"),
    ]


def _baseline_table(result: CompareResult, digits: int) -> Table:
    """Every run against the baseline, marked where it differs significantly."""
    by_run = {row["a"]: row for row in result.rows()}
    rows = []
    for i in result.order:
        run = result.runs[i]
        if run == result.baseline:
            mean = _mean(result, i, digits)
            rows.append([name(f"{run} (baseline)"), mean, *[Cell("")] * 6])
        else:
            marks = {(True, True): "†", (True, False): "‡"}
            row = by_run[run]
            mark = marks.get((row["significant"], row["difference"] > 0), "")
            mean = _mean(result, i, digits, mark)
            rows.append([name(run), mean, *_figures({**row, "significant": False}, digits)])
    header = [
        "run",
        result.measure,
        "difference",
        f"{1 - result.alpha:.0%} interval",
        "p",
        "p adjusted",
        "d",
        "W/T/L",
    ]
    caption = (
        f"{result.caption()} † significantly better, ‡ significantly worse than "
        f"{result.baseline}. Intervals: {result.interval_kind}."
    )
    return Table(header=header, rows=rows, best=frozenset({(0, 1)}), caption=caption)


def power_text(powers: list[DiscriminativePower], form: str, **looks: Any) -> str:
    """Measures by how many pairs they tell apart."""
    test, alpha = powers[0].test, powers[0].alpha
    if form == "json":
        keys = ("measure", "share", "needed_difference", "pvalues", "seed")
        rows_by_key = [{key: getattr(power, key) for key in keys} for power in powers]
        return to_json({"test": test, "alpha": alpha, "discriminative_power": rows_by_key})
    rows = [
        [name(power.measure), percent(power.share), number(power.needed_difference)]
        for power in sorted(powers, key=lambda power: -power.share)
    ]
    caption = (
        f"Discriminative power: share of pairs with p < {alpha:g} by the {test} test, uncorrected, "
        "and the mean difference above which every pair was significant."
    )
    table = Table(
        header=["measure", "pairs told apart", "difference needed"], rows=rows, caption=caption
    )
    return render(table, form, **looks)


_OBSERVED_POWER = (
    "The power is observed power: it resamples the topics that the differences were estimated "
    "from. It overstates the power for small true differences, understates it for large ones, and "
    "says nothing that the p-values do not. Not for planning: use `steadyrank plan`."
)


def audit_text(result: AuditResult, form: str, **looks: Any) -> str:
    """Each test's rejection rates with their Monte Carlo errors."""
    if form == "json":
        return to_json({**asdict(result), "notes": [_OBSERVED_POWER]})
    rows = [
        [
            name(row.test),
            *(
                Cell(f"{rate:.3f} ± {error:.3f}", rate)
                for rate, error in (row.exchangeable, row.equal_means, row.power)
            ),
        ]
        for row in result.tests
    ]
    caption = (
        f"{result.measure}: share of {result.n_trials} trials with p < {result.alpha:g}, ± its "
        f"Monte Carlo error, at {result.n_topics} topics drawn from yours. Type I error where runs "
        "are exchangeable within topics, and where means are equal; power for pairs as they are. "
        f"{_OBSERVED_POWER} Seed {result.seed}."
    )
    header = ["test", "type I, exchangeable", "type I, equal means", "observed power"]
    return render(Table(header=header, rows=rows, caption=caption), form, **looks)
