"""What `compare` found, as tables that paste into a paper."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.data.read.csv_cells import frame_csv
from steadyrank.notebook import frame_of
from steadyrank.present.cells import name, number, percent, pvalue, signed, signed_interval
from steadyrank.present.json import PART, json_pieces, picked, to_json
from steadyrank.present.table import Cell, Table, render
from steadyrank.stats.pairs.binary import BinaryPairs
from steadyrank.stats.pairs.family_audit import FamilyAudit
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.studies.compare.audit import AuditResult
from steadyrank.studies.compare.pair_rows import better_first
from steadyrank.studies.compare.paper_table import BETTER, LABEL, WORSE, paper_caption, paper_table
from steadyrank.studies.compare.power import DiscriminativePower
from steadyrank.studies.compare.result import (
    CORRECTIONS,
    SIMULTANEOUS,
    TESTS,
    CompareResult,
    CompareTable,
)
from steadyrank.studies.compare.segment_tables import segment_tables, segments_json
from steadyrank.words import counted, figure

MOST_PAIRS = 45
"""Pairs that a terminal lists; of more it shows the leaderboard alone."""


def compare_json(result: CompareResult) -> dict[str, Any]:
    """The promised keys, and what else there is."""
    return _json_of(result, result.rows())


def _json_of(result: CompareResult, pairs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    return {
        **picked(result, "measure test correction alpha n_topics significant_share"),
        "pairs": pairs,
        **picked(
            result,
            "mode baseline family method interval_kind n_dropped n_samples seed "
            "comparison_alpha n_missing",
        ),
        **picked(result, "n_clusters design_effect effective_topics"),
        "runs": result.run_rows(),
        **segments_json(result),
    }


def table_json(table: CompareTable) -> dict[str, Any]:
    """One object per measure, and what they have in common."""
    return _table_json(table, [compare_json(result) for result in table.results])


def _table_json(table: CompareTable, measures: list[dict[str, Any]]) -> dict[str, Any]:
    first = table.results[0]
    return {
        "measures": measures,
        "family": table.family,
        **picked(first, "n_comparisons test correction alpha baseline"),
        "caption": paper_caption(table.results),
    }


def compare_text(
    result: CompareResult | CompareTable,
    form: str,
    *,
    digits: int = 4,
    show: Sequence[str] = (),
    underline_second: bool = False,
    label: str = LABEL,
    **looks: Any,
) -> str:
    """The result in one of the output formats; CSV holds the pairs.

    The table of a paper, but for one measure in a terminal, where there is room for more.
    """
    if form in ("json", "csv"):
        return "".join(pairs_text(result, form))
    is_plain = not show and not underline_second
    if form == "table" and is_plain and isinstance(result, CompareResult):
        return _terminal_text(result, digits, **looks)
    results = [result] if isinstance(result, CompareResult) else result.results
    table = paper_table(
        results, digits=digits, show=show, underline_second=underline_second, label=label
    )
    tables = [table, *(part for one in results for part in segment_tables(one, digits))]
    return "\n".join(render(part, form, **looks) for part in tables)


def pairs_text(
    result: CompareResult | CompareTable, form: str, *, progress: Progress | None = None
) -> Iterator[str]:
    """All pairs as JSON or CSV, some of the text at a time: there may be millions of them."""
    results = (result,) if isinstance(result, CompareResult) else result.results
    counts = [0, sum(len(one.pairs) for one in results)]
    watched = partial(_watched, progress=progress, counts=counts)
    if form == "csv":
        return _csv_pieces(watched(result.frame_rows()))
    objects = [_json_of(one, watched(one.each_row())) for one in results]
    if isinstance(result, CompareResult):
        return json_pieces(objects[0])
    return json_pieces(_table_json(result, objects))


def _watched(
    rows: Iterator[dict[str, Any]], *, progress: Progress | None, counts: list[int]
) -> Iterator[dict[str, Any]]:
    """The same rows; `counts` are how many have gone by, of how many."""
    for row in rows:
        counts[0] = min(counts[0] + 1, counts[1])
        if progress is not None and (counts[0] % PART == 0 or counts[0] == counts[1]):
            progress(counts[0], counts[1])
        yield row


def _csv_pieces(rows: Iterator[dict[str, Any]]) -> Iterator[str]:
    header = True
    while part := list(itertools.islice(rows, PART)):
        yield frame_csv(frame_of(part), header=header)
        header = False


def _terminal_text(result: CompareResult, digits: int, **looks: Any) -> str:
    """The leaderboard with its ranks, and the pairs where they are few."""
    tables = [*_tables(result, digits), *segment_tables(result, digits)]
    return "\n".join(render(table, "table", **looks) for table in tables)


def _tables(result: CompareResult, digits: int) -> list[Table]:
    of_shares = share_tables(result, digits) if len(result.pairs) <= MOST_PAIRS else []
    if result.baseline is not None:
        return [_baseline_table(result, digits), *of_shares]
    if len(result.pairs) > MOST_PAIRS:
        return [_leaderboard(result, digits)]
    return [_leaderboard(result, digits), _pairs_table(result, digits), *of_shares]


def _leaderboard(result: CompareResult, digits: int) -> Table:
    """Runs by mean, the ranks that each may have, and their groups."""
    order, different = result.order, result.n_different.tolist()
    has_groups, has_numbers = len(set(result.letters)) > 1, len(set(different)) > 1
    rows = []
    for run in order:
        low, high = result.rank_set[run]
        cells = [
            name(result.row_name(run)),
            _mean(result, run, digits),
            Cell(f"{result.rank[run]} [{low}–{high}]", int(result.rank[run])),
        ]
        cells += [Cell(str(different[run]), different[run])] if has_numbers else []
        cells += [name(result.letters[run])] if has_groups else []
        rows.append(cells)
    header = [
        result.row_word,
        result.measure,
        "rank",
        *(["differs from"] if has_numbers else []),
        *(["group"] if has_groups else []),
    ]
    caption = (
        f"{result.caption()} {_share_words(result)} {result.first_words()} Ranks in brackets: the "
        f"ranks that a {result.row_word} may have, {result.rank_words()}."
        f"{_letter_words(result, has_groups)}"
        f"{_detectable(result, digits)}"
    )
    return Table(header=header, rows=rows, best=frozenset({(0, 1)}), caption=caption)


def _share_words(result: CompareResult) -> str:
    one = result.row_word
    if not result.significant.any():
        return f"No two {one}s differ significantly."
    if len(result.pairs) == 1:
        return f"The two {one}s differ significantly."
    return f"{result.significant_share:.1%} of the pairs differ significantly."


def _letter_words(result: CompareResult, has_groups: bool) -> str:
    if not has_groups:
        return ""
    return (
        f" {result.row_word.capitalize()}s that share a letter are statistically indistinguishable."
    )


def _mean(result: CompareResult, run: int, digits: int) -> Cell:
    spread = result.instance_sd[run] if result.n_instances else np.nan
    behind = "" if np.isnan(spread) else f" ± {spread:.{digits}f}"
    value = float(result.mean[run])
    return Cell(f"{figure(value, f'z.{digits}f')}{behind}", value)


def _detectable(result: CompareResult, digits: int) -> str:
    known = result.smallest_difference[~np.isnan(result.smallest_difference)]
    smallest = float(np.median(known)) if len(known) else np.nan
    if not 0.0 < smallest < np.inf:  # 0 of runs whose difference never varies
        return ""
    size = result.n_comparisons
    corrected = "" if size == 1 else f" among {size:,} comparisons"
    which = "The" if len(result.pairs) == 1 else "The median pair's"
    return (
        f" {which} smallest difference that a t test detects with power 0.8{corrected} "
        f"is {smallest:.{digits}f}."
    )


def _pairs_table(result: CompareResult, digits: int) -> Table:
    pairs = better_first(result)
    return Table(
        header=["a", "b", *_figure_names(result, "a − b")],
        rows=[[name(row["a"]), name(row["b"]), *_figures(result, row, digits)] for row in pairs],
        marks={(i, 2): "*" for i, row in enumerate(pairs) if row["significant"]},
        n_names=2,
        caption=_pairs_caption(result),
    )


def _figure_names(result: CompareResult, difference: str) -> list[str]:
    """The header above `_figures`; p-values that nothing was corrected for stand once."""
    adjusted = ["p adjusted"] if result.is_corrected else []
    level = f"{1 - result.alpha:.0%} interval"
    return [difference, level, "p", *adjusted, "d", "W/T/L"]


def _pairs_caption(result: CompareResult) -> str:
    mark = "* significant. " if result.significant.any() else ""
    few = f" {result.few_words()}".rstrip()
    order = "" if len(result.pairs) == 1 else "Pairs in the order of the leaderboard: "
    return (
        f"{mark}{order}a has the higher mean. Intervals: {result.interval_kind}. d: mean "
        "difference over its standard deviation. W/T/L: topics that a wins, ties, loses."
        f"{few}"
    )


def _figures(result: CompareResult, row: dict[str, Any], digits: int) -> list[Cell]:
    known = row["flag"] != TOO_FEW
    wins = f"{row['wins']}/{row['ties']}/{row['losses']}"
    return [
        signed(row["difference"] if known else None, f"+z.{digits}f"),
        signed_interval(row["interval"] if known else None, f"+z.{digits}f"),
        pvalue(row["pvalue"]),
        *([pvalue(row["pvalue_adjusted"])] if result.is_corrected else []),
        signed(row["effect_size"], "+z.2f"),
        Cell(wins),
    ]


def _baseline_table(result: CompareResult, digits: int) -> Table:
    """Every run against the baseline, marked where it differs significantly."""
    by_run = {row["a"]: row for row in result.rows()}
    header = [result.row_word, result.measure, *_figure_names(result, "difference")]
    rows, marks = [], {}
    for place, i in enumerate(result.order):
        row = by_run.get(result.runs[i])
        figures = [Cell("")] * (len(header) - 2)
        if row is not None:
            figures = _figures(result, row, digits)
            if row["significant"]:
                marks[place, 1] = BETTER if row["difference"] > 0 else WORSE
        rows.append([name(result.row_name(i)), _mean(result, i, digits), *figures])
    few = f" {result.few_words()}".rstrip()
    caption = f"{result.caption()}{_dagger_words(result)} Intervals: {result.interval_kind}.{few}"
    best = frozenset({(0, 1)})
    return Table(header=header, rows=rows, marks=marks, best=best, caption=caption)


def _dagger_words(result: CompareResult) -> str:
    if not result.significant.any():
        return f" No {result.row_word} differs significantly from {result.baseline}."
    return f" {BETTER} significantly better, {WORSE} significantly worse than {result.baseline}."


def power_text(powers: list[DiscriminativePower], form: str, **looks: Any) -> str:
    """Measures by how many pairs differ significantly by them."""
    test, alpha = powers[0].test, powers[0].alpha
    if form == "json":
        keys = ("measure", "share", "needed_difference", "pvalues", "seed")
        rows_by_key = [{key: getattr(power, key) for key in keys} for power in powers]
        return to_json({"test": test, "alpha": alpha, "discriminative_power": rows_by_key})
    rows = [
        [name(power.measure), percent(power.share), number(power.needed_difference)]
        for power in sorted(powers, key=lambda power: -power.share)
    ]
    how = "simultaneous for all pairs of a measure" if test in SIMULTANEOUS else "uncorrected"
    caption = (
        f"Discriminative power: share of the {counted(len(powers[0].pvalues), 'pair', form=',')} "
        f"with p <= {alpha:g} by the {TESTS[test]}, {how}, and the mean difference above which "
        "every pair was significant."
    )
    header = ["measure", "significant pairs", "difference needed"]
    table = Table(header=header, rows=rows, caption=caption)
    return render(table, form, **looks)


_OBSERVED_POWER = (
    "The power is observed power: it resamples the topics that the differences were estimated "
    "from. It overstates the power for small true differences, understates it for large ones, and "
    "says nothing that the p-values do not. Not for planning: use `steadyrank plan`."
)


def audit_text(
    result: AuditResult, form: str, *, compared: CompareResult | None = None, **looks: Any
) -> str:
    """Each test's rejection rates with their Monte Carlo errors, and those of the family."""
    if form == "json":
        audit = asdict(result)
        # Beside the comparison, which has most of these keys itself.
        own = {} if compared is None else compare_json(compared)
        return to_json({**audit, **own, "audit": audit, "notes": [_OBSERVED_POWER]})
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
        f"{result.measure}: share of {result.n_trials:,} trials with p < {result.alpha:g}, ± its "
        f"Monte Carlo error, at {result.n_topics} topics drawn from yours. Type I error where runs "
        "are exchangeable within topics, and where means are equal; power for pairs as they are. "
        f"{_OBSERVED_POWER} Seed {result.seed}. {family_words(result.family, result.correction)}"
    )
    header = ["test", "type I, exchangeable", "type I, equal means", "observed power"]
    return render(Table(header=header, rows=rows, caption=caption), form, **looks)


def family_words(audit: FamilyAudit, correction: str) -> str:
    """In which share of experiments without any difference the family claims one."""
    return (
        f"With equal runs, all t tests together ({CORRECTIONS[correction]}) claim something in "
        f"{audit.any_claim:.1%} ± {audit.error:.1%} of {audit.n_experiments:,} experiments "
        f"(nominal {audit.nominal:.0%})."
    )


def share_tables(result: CompareResult, digits: int) -> list[Table]:
    """One row per run and one per pair; nothing where some score is neither 0 nor 1."""
    if result.binary is None:
        return []
    return [_run_table(result, result.binary, digits), _pair_table(result, result.binary, digits)]


def _run_table(result: CompareResult, binary: BinaryPairs, digits: int) -> Table:
    rows = [
        [
            name(result.runs[i]),
            Cell(f"{result.mean[i]:.{digits}f}", float(result.mean[i])),
            _interval(binary.run_interval[i].tolist(), f".{digits}f"),
        ]
        for i in result.order
    ]
    header = ["run", result.measure, f"{_level(result)} interval"]
    caption = (
        f"All scores of {result.measure} are 0 or 1: means are shares of topics. Intervals: "
        "Wilson's, for one run at a time."
    )
    return Table(header=header, rows=rows, caption=caption)


def _pair_table(result: CompareResult, binary: BinaryPairs, digits: int) -> Table:
    rows = [
        [
            name(result.runs[a]),
            name(result.runs[b]),
            Cell(str(binary.only_first[p]), int(binary.only_first[p])),
            Cell(str(binary.only_second[p]), int(binary.only_second[p])),
            Cell(f"{result.difference[p]:+.{digits}f}", float(result.difference[p])),
            _interval(binary.score_interval[p].tolist(), f"+.{digits}f"),
            pvalue(float(binary.pvalue[p])),
            *([pvalue(float(binary.pvalue_adjusted[p]))] if len(result.pairs) > 1 else []),
        ]
        for p, (a, b) in enumerate(result.pairs.tolist())
    ]
    header = ["a", "b", "a alone", "b alone", "a − b", f"{_level(result)} interval", "McNemar p"]
    header += ["p adjusted"][: len(result.pairs) - 1]
    return Table(header=header, rows=rows, n_names=2, caption=_caption(result, binary))


def _caption(result: CompareResult, binary: BinaryPairs) -> str:
    corrected = (
        f", with {CORRECTIONS[binary.correction]} over {result.family}"
        if len(result.pairs) > 1
        else ""
    )
    return (
        "McNemar's exact test of the topics on which one run alone scores 1, two-sided"
        f"{corrected}, beside the {result.test} test above, whose decisions it does not change. "
        "Intervals of differences: Tango's score intervals, for one pair at a time."
    )


def _interval(limits: list[float], form: str) -> Cell:
    low, high = limits
    return Cell(f"[{low:{form}}, {high:{form}}]")


def _level(result: CompareResult) -> str:
    return f"{1 - result.alpha:.0%}"
