"""The tables and figures of `compare` for every output, and its part of a report.

`paper_table` makes the table of a paper, with runs down and measures across.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from steadyrank.present.json import json_pieces, picked
from steadyrank.present.table import Cell, with_words
from steadyrank.present.view import (
    MOST_FINDINGS,
    Col,
    FigureSpec,
    Finding,
    Row,
    TableSpec,
    View,
    Words,
    literal,
)
from steadyrank.stats.pairs.family import FalseClaims
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.studies.compare.audit import AuditResult
from steadyrank.studies.compare.findings import Results, describe, findings, results_of, segments
from steadyrank.studies.compare.paper_table import BETTER, WORSE, paper_caption, paper_table
from steadyrank.studies.compare.result import CompareResult, CompareTable
from steadyrank.studies.compare.testing import Segments
from steadyrank.studies.compare.wording import (
    CORRECTIONS,
    correction_words,
    few_words,
    row_name,
    test_words,
)
from steadyrank.studies.part import better_first
from steadyrank.words import MISSING, enough_digits, some

LEVELS = "Rank, first, tier: own comparisons."
"""Says which columns follow from each run's own comparisons; the others are about all pairs."""

SEE = "See docs/compare.md."

MOST_PRINTED = 45
"""Largest number of pairs that a command lists; otherwise it shows the leaderboard alone, or the
two best in each segment."""

MOST_PAIRS, TOP = 100, 10
"""Largest number of pairs that a page lists; otherwise it lists those among the best `TOP` runs,
and those of the best run."""


SWAPPED = {"mean_a": "mean_b", "wins": "losses", "lower_cut": "upper_cut"}
"""Columns of a pair that exchange their values with its runs."""


def _known(row: dict[str, Any]) -> dict[str, Any]:
    """Return a pair's row, without figures where it has too few topics."""
    return row if row["flag"] != TOO_FEW else row | {"difference": None, "interval": None}


def _ordered(
    result: CompareResult, whole: CompareResult, places: np.ndarray | None = None
) -> list[dict[str, Any]]:
    """Return pairs in the order of a leaderboard, better run first; with a baseline as tested."""
    rows, order = result.each_row(places), [whole.runs[run] for run in whole.order]
    if whole.baseline is not None:
        return sorted(rows, key=lambda row: order.index(row["a"]))
    return better_first(order, rows, signed=("difference", "effect_size"), swapped=SWAPPED)


def _run_rows(results: Results) -> list[dict[str, Any]]:
    """Return the leaderboard; with a baseline, each run with its pair."""
    result = results[0]
    rows, better = result.run_rows(), result.n_better.tolist()
    pairs: dict[str, Any] = {} if result.baseline is None else {r["a"]: r for r in result.rows()}
    made = []
    for i in result.order:
        pair = pairs.get(result.runs[i])
        figures = {"interval": None} if pair is None else _known(pair)
        own = {"run": row_name(result, i), "n_better": better[i]}
        made.append({**rows[i], **figures, **own})
    return made


def _pair_rows(results: Results) -> Iterator[dict[str, Any]]:
    """Return all pairs and those of segments; by measure where there are several."""
    if len(results) == 1:
        return results[0].frame_rows()
    return CompareTable(results=tuple(results)).frame_rows()


def _listed(result: CompareResult) -> np.ndarray:
    """Return the pairs that a table lists: all, or those of the best runs."""
    rank = np.argsort(result.order)
    low, high = np.sort(rank[result.pairs], axis=1).T
    if len(low) <= MOST_PAIRS:
        return np.arange(len(low))
    listed = np.flatnonzero((high < TOP) | (low == 0))
    return listed[np.lexsort((high[listed], low[listed]))]


def _pairs_caption(results: Results) -> str:
    result = results[0]
    listed = _listed(result)
    left = len(result.pairs) - len(listed)
    omitted = (
        f"Pairs among the best {TOP} runs and all pairs of the best run; steadyrank compare lists "
        f"the other {left:,}."
    )
    marks = "*" if result.significant[listed].any() else ""
    return _words_of_figures(result, marks, omitted if left else "")


def _against_caption(results: Results) -> str:
    result = results[0]
    ahead = result.gain[result.significant] > 0
    marks = f"{BETTER if ahead.any() else ''}{WORSE if not ahead.all() else ''}"
    return f"{result.caption()} {_words_of_figures(result, marks)}"


def _words_of_figures(result: CompareResult, marks: str, omitted: str = "") -> str:
    sentences = [
        f"{marks} significant." if marks else "",
        # Intervals of max-t follow from the correction, which the caption names.
        "" if result.is_corrected_t else f"Intervals: {result.interval_kind}.",
        few_words(result),
        omitted,
    ]
    return " ".join(filter(None, sentences))


def _dagger(results: Results, row: Row) -> str:
    if not row.get("significant"):
        return ""
    is_higher = row["difference"] > 0
    return BETTER if is_higher != results[0].lower_is_better else WORSE


def _best(results: Results) -> str:
    return "-mean" if results[0].lower_is_better else "mean"


RUN = Col("run", "{row_word}", "name")
MEAN = Col("mean", "{measure}{lower_words}")
SD = Col("sd", "sd of instances", when="known")
INTERVAL = Col("interval", "{sure} interval", "change")
PVALUE = Col("pvalue", "p", "pvalue", about=lambda results: test_words(results[0]))
ADJUSTED = Col(
    "pvalue_adjusted",
    "p adjusted",
    "pvalue",
    when=lambda results: results[0].is_corrected,
    about=lambda results: correction_words(results[0]),
)
FIGURES = (
    Col("difference", form="change"),
    INTERVAL,
    Col("standard_error", "s.e.", ".4f", "known", "topics and judges random"),
    Col("standard_error_fixed", "s.e. fixed", ".4f", "known", "over topics, these judges"),
    PVALUE,
    ADJUSTED,
    Col("effect_size", "d", "+z.2f", about="mean difference over its standard deviation"),
    Col(
        "wins",
        "W/T/L",
        lambda row: Cell("{wins}/{ties}/{losses}".format(**row) if "wins" in row else MISSING),
        about="topics won, tied and lost",
    ),
    Col("fragility", "carried by", "count", about="topics without which the lead is gone"),
)
"""Columns of a pair."""

RANKS = (
    RUN,
    MEAN,
    SD,
    Col(
        "rank",
        "rank ({sure})",
        lambda row: Cell("{} [{}–{}]".format(row["rank"], *row["rank_set"]), row["rank"]),
    ),
    Col("could_be_first", form="yes", when="varies"),
    Col("tier", form="count", when="varies"),
    Col("n_better", "better than", "count", "varies", "by the comparisons of all pairs"),
    Col("group", "group", "name", "varies", "by the comparisons of all pairs"),
)
RUNS = TableSpec(
    id="compare-runs",
    rows=_run_rows,
    when=lambda results: results[0].baseline is None,
    columns=RANKS,
    best=_best,
    caption=lambda results: " ".join(
        [results[0].caption(), *([LEVELS] if len(results[0].runs) > 2 else []), SEE]
    ),
)
SIMULTANEOUS_RANKS = Col(
    "rank_set_simultaneous",
    "simultaneous ranks",
    lambda row: Cell(
        "{}–{}".format(*row["rank_set_simultaneous"]), row["rank_set_simultaneous"][0]
    ),
)

PAIRS = TableSpec(
    id="pairs",
    rows=_pair_rows,
    shown=lambda results, rows: map(_known, _ordered(results[0], results[0], _listed(results[0]))),
    when=lambda results: results[0].baseline is None,
    columns=(
        Col("a", "better", "name", about=lambda results: f"the {results[0].best_words}"),
        Col("b", "other", "name"),
        *FIGURES,
    ),
    marks=lambda results, row: "*" if row["significant"] else "",
    marked="difference",
    n_names=2,
    printed=lambda results: None if len(results[0].pairs) <= MOST_PRINTED else 0,
    caption=_pairs_caption,
)
AGAINST = TableSpec(
    id="against-baseline",
    rows=_run_rows,
    when=lambda results: results[0].baseline is not None,
    columns=(RUN, MEAN, SD, *FIGURES),
    marks=_dagger,
    marked="mean",
    best=_best,
    caption=_against_caption,
)


def _segment_pairs(results: Results) -> list[dict[str, Any]]:
    """Return every pair in every segment or, of many, the two best on all topics; better first."""
    result = results[0]
    rows = [
        {"segment": own.segment or "", "n_topics": own.n_topics, **_known(row)}
        for own in _parts(result)
        for row in _ordered(own, result)
    ]
    if len(rows) <= MOST_PRINTED:
        return rows
    return [row for row in rows if (row["a"], row["b"]) == (rows[0]["a"], rows[0]["b"])]


def _parts(result: CompareResult) -> tuple[CompareResult, ...]:
    return () if result.segments is None else result.segments.results


def _segments_caption(results: Results) -> str:
    """Return the test in each segment and the family of its correction."""
    result, parts = results[0], _parts(results[0])
    # All segments share one family; the one with most comparisons names it in full.
    largest = max(parts, key=lambda own: own.n_comparisons)
    few = [own.segment or "" for own in parts if (own.flag == TOO_FEW).all()]
    total = sum(len(own.pairs) for own in parts)
    sentences = [
        f"{result.measure}: {test_words(largest)}, {correction_words(largest)}.",
        "* significant." if any(own.significant.any() for own in parts) else "",
        f"Intervals: {largest.interval_kind}.",
        f"CSV and JSON list all {total:,} comparisons." if total > MOST_PRINTED else "",
        f"Not tested, with fewer than two {result.units}: {some(few, 2)}." if few else "",
    ]
    return " ".join(filter(None, sentences))


SEGMENT_PAIRS = TableSpec(
    id="segment-pairs",
    rows=_segment_pairs,
    when=lambda results: results[0].segments is not None,
    columns=lambda results: (
        Col("segment", literal(getattr(results[0].segments, "by", "")), "name"),
        Col("a", form="name"),
        Col("b", form="name"),
        Col("n_topics", "topics", "count"),
        Col("difference", "a − b", "change"),
        INTERVAL,
        replace(PVALUE, about=""),
        replace(ADJUSTED, when="always", about=""),
    ),
    marks=lambda results, row: "*" if row["significant"] else "",
    marked="difference",
    n_names=3,
    caption=_segments_caption,
)


def fields(results: Results) -> dict[str, Any]:
    """Return the JSON fields; for several measures an object for each, and the common fields."""
    result = results[0]
    if len(results) > 1:
        return {
            "measures": [VIEW.json([one]) for one in results],
            "family": "measure",
            **picked(result, "n_comparisons test correction alpha baseline"),
            "caption": paper_caption(results),
        }
    return {
        **picked(result, "measure test correction alpha n_topics significant_share"),
        "pairs": _pairs_json(result),
        "method": {
            "test": result.test,
            "statistic": test_words(result),
            **picked(result, "correction family mode"),
        },
        **picked(
            result,
            "lower_is_better mode baseline family interval_kind n_dropped n_samples seed "
            "comparison_alpha n_missing n_clusters design_effect effective_topics",
        ),
        **({"judges": result.judges, "judges_fixed": result.judges_fixed} if result.judges else {}),
        "runs": result.run_rows(),
        **_segment_fields(result.segments),
    }


def _pairs_json(result: CompareResult) -> Iterator[dict[str, Any]]:
    """Yield the rows of pairs, with the topics that carry each lead."""
    for pair, row in enumerate(result.each_row()):
        n = row["fragility"]
        topics = None if n is None else {"n": n, "topics": result.carrying_topics(pair)}
        yield row | {"fragility": topics}


def _segment_fields(segments: Segments | None) -> dict[str, Any]:
    if segments is None:
        return {"by": None, "segments": [], "interaction": None}
    test = segments.interaction
    keys = "segment n_topics n_clusters correction family interval_kind significant_share"
    return {
        "by": segments.by,
        "segments": [
            {**picked(own, keys), "pairs": list(_pairs_json(own)), "runs": own.run_rows()}
            for own in segments.results
        ],
        "interaction": {
            "pvalue": test.pvalue_of_any,
            "segments": segments.tested,
            "n_topics": test.n_topics,
            "n_samples": test.n_patterns,
            "exact": test.exact,
            "runs": segments.interaction_rows(),
        },
    }


def _figure(results: Results) -> FigureSpec | None:
    """Return the figure of all runs and the best; None with two runs or a baseline."""
    if len(results[0].runs) < 3 or results[0].baseline is not None:
        return None
    return FigureSpec(
        id="against-best",
        caption="Every run against the best.",
        kind="intervals",
        of=lambda results: results[0],
    )


VIEW = View(
    words=Words(
        title="Pairs of runs",
        question="Who beats whom, how surely, by how much?",
        means=(
            "A significant difference would be unusual if two runs were equally good on topics "
            "like these. The adjusted p-value accounts for the number of pairs compared. The "
            "effect size is the mean difference in standard deviations of the topics' "
            "differences."
        ),
        means_not=(
            "It says nothing about other documents, other judgments or other random instances of "
            "the runs, and a small p-value does not make a difference large. A measure by which "
            "more pairs differ significantly is more sensitive, not more valid."
        ),
    ),
    findings=findings,
    describe=describe,
    tables=(RUNS, PAIRS, AGAINST, SEGMENT_PAIRS),
    csv="pairs",
    fields=fields,
    figure=_figure,
)


def pairs_text(
    result: CompareResult | CompareTable, form: str, *, describe: bool = False
) -> Iterator[str]:
    """Yield all pairs as JSON or CSV in pieces of text, as there may be millions of pairs."""
    return VIEW.pieces(results_of(result), form, describe=describe)


def compare_text(
    result: CompareResult | CompareTable,
    form: str,
    *,
    digits: int | None = None,
    paper: bool | None = None,
    describe: bool = False,
    simultaneous: bool = False,
    **looks: Any,
) -> str:
    """Return the result in one of the output formats.

    `paper` chooses the table of a paper; by default all outputs but a terminal's with one measure.
    """
    results = results_of(result)
    if form in ("json", "csv"):
        return "".join(pairs_text(result, form, describe=describe))
    if paper is None:
        paper = form != "table" or len(results) > 1
    if not paper:
        view = VIEW
        if simultaneous:
            runs = replace(RUNS, columns=(*RANKS[:5], SIMULTANEOUS_RANKS, *RANKS[5:]))
            view = replace(VIEW, tables=(runs, *VIEW.tables[1:]))
        return view.text(results, form, digits=digits, describe=describe, **looks)
    said = findings(results)[:MOST_FINDINGS] if form == "table" else []
    if digits is None:
        digits = max(enough_digits(one.mean) for one in results)
    tables = [paper_table(results, digits=digits)]
    for one in results:
        found = segments(one)
        more = "" if found is None or found in said else f" {found.text}"
        for table in VIEW.made([one], digits=digits, only=["segment-pairs"]):
            tables.append(replace(table, caption=f"{table.caption}{more}", label="tab:segments"))
    text = with_words([finding.text for finding in said], tables, [], form, **looks)
    return VIEW.described(text, results, form) if describe else text


def _audit_findings(result: AuditResult) -> Iterator[Finding]:
    """Yield how often the family of t tests makes a false claim, under each truth."""
    for name, truth in TRUTHS.items():
        found: FalseClaims | None = getattr(result.family, name)
        if found is not None:
            share = f"{found.share:.1%} ± {found.standard_error:.1%} of experiments"
            text = truth.format(share) + f" (nominal {result.family.nominal:.0%})."
            yield Finding(f"audit.{name}", text, asdict(found))


TRUTHS = {
    "observed": "Means as observed: {} have a claim in the wrong direction",
    "tiers_equal": "Equal means within tiers: {} have a claim within a tier",
    "all_equal": "All means equal: {} have any claim",
}
EQUAL = "any_claim=share n_experiments"
"""Names of false claims of equal runs in JSON, and their fields."""

WORLDS = {"type I, exchangeable": "exchangeable", "type I, equal means": "equal_means"}


def _audit_rows(result: AuditResult) -> list[dict[str, str]]:
    return [
        {"test": row.test}
        | {title: "{:.3f} ± {:.3f}".format(*getattr(row, key)) for title, key in WORLDS.items()}
        for row in result.tests
    ]


AUDIT = View(
    findings=lambda result: list(_audit_findings(result)),
    tables=(
        TableSpec(
            id="audit",
            rows=_audit_rows,
            columns=(Col("test", form="name"), *(Col(title, form="name") for title in WORLDS)),
            caption=lambda result: (
                f"{result.measure}: share of {result.n_trials:,} trials with p < {result.alpha:g}, "
                f"{result.n_topics} topics drawn from yours; seed {result.seed}. Claims: t tests, "
                f"{CORRECTIONS[result.correction]}. {SEE}"
            ),
        ),
    ),
    fields=lambda result: {
        **asdict(result),
        "audit": asdict(result)
        | asdict(result.family)
        | {"family": asdict(result.family) | picked(result.family.all_equal, EQUAL)},
    },
)
"""`--audit`: rejection rates of each test and of the family, with Monte Carlo errors."""


def audit_text(
    result: AuditResult, form: str, *, compared: CompareResult | None = None, **looks: Any
) -> str:
    """Return the audit; in JSON together with the comparison, which has most of the keys."""
    if form != "json" or compared is None:
        return AUDIT.text(result, form, **looks)
    audit, own = AUDIT.json(result), VIEW.json([compared])
    return "".join(json_pieces({**audit, **own, "findings": audit["findings"] + own["findings"]}))
