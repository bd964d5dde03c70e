"""What `compare` adds where all scores are 0 or 1: shares of topics with their own test."""

from __future__ import annotations

from steadyrank.present.cells import name, pvalue
from steadyrank.present.table import Cell, Table
from steadyrank.stats.pairs.binary import BinaryPairs
from steadyrank.studies.compare.result import CORRECTIONS, CompareResult


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
            *_adjusted(binary, p, len(result.pairs)),
        ]
        for p, (a, b) in enumerate(result.pairs.tolist())
    ]
    header = ["a", "b", "a alone", "b alone", "a − b", f"{_level(result)} interval", "McNemar p"]
    header += ["p adjusted"][: len(result.pairs) - 1]
    return Table(header=header, rows=rows, n_names=2, caption=_caption(result, binary))


def _adjusted(binary: BinaryPairs, pair: int, n_pairs: int) -> list[Cell]:
    return [pvalue(float(binary.pvalue_adjusted[pair]))] if n_pairs > 1 else []


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
