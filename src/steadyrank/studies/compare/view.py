"""How `compare` is shown: what it says, its tables and figures, for every output.

The table of a paper, runs down and measures across, is a function of its own (`paper_table`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.present.cells import signed, signed_interval
from steadyrank.present.json import picked
from steadyrank.present.table import Cell, Table, with_words
from steadyrank.present.view import (
    MOST_FINDINGS,
    Col,
    FigureSpec,
    Finding,
    Row,
    TableSpec,
    View,
    Words,
)
from steadyrank.stats.pairs.result import TOO_FEW, ZERO_VARIANCE
from steadyrank.stats.planning import design
from steadyrank.stats.run_means import best_first
from steadyrank.stats.segments import FEWEST
from steadyrank.studies.compare.assumptions import assumption
from steadyrank.studies.compare.paper_table import BETTER, LABEL, WORSE, paper_caption, paper_table
from steadyrank.studies.compare.result import CORRECTIONS, CompareResult, CompareTable, better_first
from steadyrank.studies.compare.testing import Segments
from steadyrank.studies.compare.verdict import lead, significant, verdict
from steadyrank.words import (
    MISSING,
    best_words,
    by_number,
    counted,
    enough_digits,
    listed,
    pvalue_words,
    some,
)

Results = Sequence[CompareResult]
"""One per measure, the one that ranks the runs first."""

MOST_NAMED = 2
"""Runs that a finding names."""

LEVELS = "Rank, first, tier: own comparisons."
"""Of which family a column is; the others are of all pairs."""

SEE = "See docs/compare.md."

MOST_PRINTED = 45
"""Pairs that a command lists; of more it shows the leaderboard alone, or one row per segment."""

MOST_PAIRS, TOP = 100, 10
"""Pairs that a page lists; of more those among the best runs, and the best run's with all."""

MANY_COMPARISONS = 10
"""From so many on, t tests of all pairs exceeded their level on real scores made equal."""


def findings(results: Results) -> list[Finding]:
    """What the measure that ranks the runs says."""
    result, rests_on = results[0], assumption(results)
    first_ones = (
        segments(result),
        verdict(result) if result.baseline is None else significant(result),
        lead(result),
        next(gaps(result), None),
        None if rests_on is None else rests_on.finding,
        significant(result) if result.baseline is None else None,
    )
    return [
        *filter(None, first_ones),
        *lead_of_all(result),
        *(one for one in cautions(result) if one.id != "compare.gaps"),
        *fragile(result),
        *_detectable(result),
    ]


CITED = {
    "maxt": "Romano and Wolf, 2005; Mogstad et al., 2024",
    "holm": "Holm, 1979",
    "bh": "Benjamini and Hochberg, 1995",
}
"""What a paper cites for a correction."""


def describe(results: Results | CompareResult | CompareTable) -> str:
    """The paragraph for a paper; what several measures have in common is said once."""
    if isinstance(results, (CompareResult, CompareTable)):
        results = results_of(results)
    result = results[0]
    cited = CITED.get(result.correction, "") if result.is_corrected else ""
    per_measure = " per measure" if len(results) > 1 and result.n_measures == 1 else ""
    method = ", ".join(filter(None, [result.test_words(), result.correction_words(per_measure)]))
    by = listed([one.measure for one in results])
    judges = result.by_judges or f" by {counted(len(result.judges), 'judge')}"
    graded = f", graded{judges}" if result.judges else ""
    said = (
        f"We compared {counted(len(result.runs), result.row_word)} by mean {by} on "
        f"{result.topics_words()}{graded}: {method}{f' ({cited})' if cited else ''}, "
        f"alpha {result.alpha:g}."
    )
    return " ".join([said, *map(_described, results)])


def _described(result: CompareResult) -> str:
    leader = result.order[0]
    found = [
        f"{result.runs[leader]} has the highest mean {result.measure} ({result.mean[leader]:.4f}).",
        "" if result.lead is None else _lead_words(result),
        "" if result.baseline is not None else first(result).text,
        significant(result).text,
    ]
    return " ".join(filter(None, found))


def _lead_words(result: CompareResult) -> str:
    """By how much the best run leads the next, in figures."""
    assert result.lead is not None
    second, pair = result.lead.second, result.lead.pair
    p, d = result.pvalue_adjusted[pair], abs(result.effects.paired_d[pair])
    ends = signed_interval(result.lead.interval.tolist(), "+z.4f").text
    sure = f"{1 - result.alpha:.0%} interval {ends}"
    adjusted = "adjusted " if result.is_corrected else ""
    return (
        f"It leads {result.runs[second]} ({result.mean[second]:.4f}) by "
        f"{result.lead.difference:.4f} ({sure}; {adjusted}{pvalue_words(p)}, d = {d:.2f})."
    )


def first(result: CompareResult, most: int = MOST_NAMED) -> Finding:
    """Which runs could be the best; at most so many are named."""
    sure = f"With {1 - result.alpha:.0%} confidence" if result.is_familywise else "By these tests"
    if result.by_judges:
        sure += f",{result.by_judges},"
    names = [result.runs[run] for run in result.order if result.could_be_first[run]]
    text = best_words(names, len(result.runs), sure, most=most, noun=result.row_word)
    return Finding("compare.first", text, {"runs": names})


def lead_of_all(result: CompareResult) -> Iterator[Finding]:
    """That all pairs together do not separate the best two, where the next's own pairs do."""
    lead = result.lead
    if lead is None or not lead.significant or result.significant[lead.pair]:
        return
    ahead, behind = result.runs[lead.first], result.runs[lead.second]
    among = counted(result.n_comparisons, "comparison", form=",")
    text = f"Among all {among} {ahead} and {behind} do not differ significantly."
    yield Finding("compare.lead_of_all", text, {"a": ahead, "b": behind})


def cautions(result: CompareResult) -> Iterator[Finding]:
    """What makes decisions worth less than they look."""
    yield from judged(result)
    yield from gaps(result)
    yield from _audited(result)
    if constant := int(((result.flag == ZERO_VARIANCE) & result.significant).sum()):
        differ = counted(constant, "pair differs", "pairs differ")
        text = f"{differ} by the same amount on every topic, which is significant however small."
        yield Finding("compare.constant", text, {"n_pairs": constant})
    if not result.is_familywise and result.baseline is None:
        yield Finding("compare.ranks", f"Rank sets hold {result.rank_words()}.")
    # Max-t guards against skewness, and tests against a baseline hold without a guard.
    is_holm = result.test == "t" and result.correction in ("holm", "bonferroni")
    if is_holm and result.baseline is None and result.n_comparisons >= MANY_COMPARISONS:
        text = "Skewed differences make t tests of many pairs exceed alpha: --audit counts it."
        yield Finding("compare.skewness", text, {"n_comparisons": result.n_comparisons})


def gaps(result: CompareResult) -> Iterator[Finding]:
    """That scores are missing, and what that means for ranks and tests."""
    if result.n_missing:
        yield Finding("compare.gaps", result.gaps(), {"n_missing": result.n_missing})


def _audited(result: CompareResult) -> Iterator[Finding]:
    """That such tests claim more on these scores than they promise, where they do."""
    audit = result.audit
    if audit is None:
        return
    wrong, tied = audit.observed, audit.tiers_equal
    if wrong.exceeds(result.alpha):
        text = (
            f"Of {counted(round(wrong.claims), 'claim', form=',')} like these, about "
            f"{wrong.false_claims:.2f} point the wrong way."
        )
        yield Finding("compare.audit", text, asdict(audit))
    elif tied is not None and tied.exceeds(result.alpha):
        text = (
            f"With equal runs in each tier such tests would still claim a difference within a tier "
            f"in {tied.share:.0%} of experiments."
        )
        yield Finding("compare.audit", text, asdict(audit))


def judged(result: CompareResult) -> Iterator[Finding]:
    """Which pairs are about fewer judges than all."""
    n = len(result.judges)
    alone = np.flatnonzero(result.n_judges == 1)
    if len(alone) and n > 1:
        a, b = (result.runs[run] for run in result.pairs[alone[0]])
        more = counted(len(alone) - 1, "other pair")
        text = f"{a} and {b} share one judge: their difference is by {result.judge_alone} alone"
        text += f" (so for {more})." if len(alone) > 1 else "."
        yield Finding("compare.one_judge", text, {"pairs": len(alone)})
    if result.judges_lacking:
        lacking = {name: None for own in result.judges_lacking.values() for name in own}
        who = f"{some(list(result.judges_lacking), 2)} lack grades by {some(list(lacking), 2)}"
        text = f"{who}: their pairs are by the judges that both share."
        yield Finding("compare.lacking_judges", text, dict(result.judges_lacking))


def fragile(result: CompareResult) -> Iterator[Finding]:
    """How few topics carry the first place."""
    found = result.leader_fragility()
    if found is not None:
        units = _units(result)
        total = result.n_topics if result.n_clusters is None else result.n_clusters
        text = (
            f"The first place rests on {found.n:,} of {total:,} {units}: without "
            f"{by_number(found.n, 'it', 'them')} {found.rival} catches up."
        )
        yield Finding("compare.fragility", text, found._asdict() | {"of": total})


def _detectable(result: CompareResult) -> Iterator[Finding]:
    """The difference that these topics can show, and the largest that they did not."""
    smallest, missed = detectable(result), _largest_missed(result)
    if 0.0 < smallest < math.inf:  # 0 of runs whose difference never varies
        which = ", mean pair" if len(result.pairs) > 1 else ""
        more = f"; largest not significant: {missed:.3f}" if missed > 0.0 else ""
        among = counted(result.n_comparisons, "comparison", form=",")
        text = f"Detectable difference (power 0.8, {among}{which}): {smallest:.3f}{more}."
        values = {"difference": smallest, "power": 0.8, "largest_missed": missed}
        yield Finding("compare.detectable", text, values)


def detectable(result: CompareResult) -> float:
    """The difference that the mean pair's test detects, as `plan` has it; NaN if none is known."""
    return design.detectable(result.smallest_difference)


def _largest_missed(result: CompareResult) -> float:
    missed = np.abs(result.difference[~result.significant])
    return float(np.nanmax(missed, initial=0.0))


def segments(result: CompareResult) -> Finding | None:
    """Whether the runs' leads depend on the segment, and which does most."""
    if result.segments is None:
        return None
    test, by, tested = result.segments.interaction, result.segments.by, result.segments.tested
    values = {"by": by, "pvalue": test.pvalue_of_any, "segments": list(tested)}
    how = f"(segment × run, {counted(len(tested), 'segment')}: {pvalue_words(test.pvalue_of_any)})"
    if math.isnan(test.pvalue_of_any):
        text = (
            f"Whether differences depend on {by} cannot be tested: fewer than two segments have "
            f"{FEWEST} {_units(result)}."
        )
    elif test.pvalue_of_any > result.alpha:
        text = f"No dependence of the differences on {by} is shown {how}."
    else:
        row = min(
            result.segments.interaction_rows(),
            key=lambda row: (row["pvalue_adjusted"], -abs(row["statistic"])),
        )
        values |= {key: row[key] for key in ("run", "segment", "deviation")}
        by_how_much = signed(row["deviation"], "+z.4f").text
        text = (
            f"The differences depend on {by} {how}: most for {row['run']} in {row['segment']}, "
            f"{by_how_much}."
        )
    return Finding("compare.segments", text, values)


def _units(result: CompareResult) -> str:
    return "topics" if result.n_clusters is None else "clusters"


def _known(row: dict[str, Any]) -> dict[str, Any]:
    """A pair's row; without figures where its topics are too few."""
    return row if row["flag"] != TOO_FEW else row | {"difference": None, "interval": None}


def _run_rows(results: Results) -> list[dict[str, Any]]:
    """The leaderboard; with a baseline, beside each run its pair."""
    result = results[0]
    rows, better = result.run_rows(), result.n_better.tolist()
    pairs: dict[str, Any] = {} if result.baseline is None else {r["a"]: r for r in result.rows()}
    made = []
    for i in result.order:
        pair = pairs.get(result.runs[i])
        figures = {"interval": None} if pair is None else _known(pair)
        own = {"run": result.row_name(i), "n_better": better[i]}
        made.append({**rows[i], **figures, **own})
    return made


def _pair_rows(results: Results) -> Iterator[dict[str, Any]]:
    """All pairs, and those of segments below; by measure where there are several."""
    if len(results) == 1:
        return results[0].frame_rows()
    return ({"measure": one.measure, **row} for one in results for row in one.frame_rows())


def _listed(result: CompareResult) -> np.ndarray:
    """The pairs that a table lists: all, or those of the best runs and of the best with all."""
    rank = np.argsort(best_first(result.mean))
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
        f"Pairs of the best {TOP} runs, and of the best with all; steadyrank compare lists the "
        f"{left:,} omitted."
    )
    marks = "*" if result.significant[listed].any() else ""
    return _words_of_figures(result, marks, omitted if left else "")


def _against_caption(results: Results) -> str:
    result = results[0]
    ahead = result.difference[result.significant] > 0
    marks = f"{BETTER if ahead.any() else ''}{WORSE if not ahead.all() else ''}"
    return f"{result.caption()} {_words_of_figures(result, marks)}"


def _words_of_figures(result: CompareResult, marks: str, omitted: str = "") -> str:
    sentences = [
        f"{marks} significant." if marks else "",
        # Those of max-t follow from the correction, which the caption names.
        "" if result.is_corrected_t else f"Intervals: {result.interval_kind}.",
        result.few_words(),
        _mcnemar_words(result),
        omitted,
    ]
    return " ".join(filter(None, sentences))


def _mcnemar_words(result: CompareResult) -> str:
    """How the p-values of McNemar's test are corrected, where all scores are 0 or 1."""
    if result.binary is None or len(result.pairs) == 1:
        return ""
    return f"McNemar's exact test: {CORRECTIONS[result.binary.correction]} over {result.family}."


def _dagger(results: Results, row: Row) -> str:
    if not row.get("significant"):
        return ""
    return BETTER if row["difference"] > 0 else WORSE


def _rank(row: Row) -> Cell:
    low, high = row["rank_set"]
    return Cell(f"{row['rank']} [{low}–{high}]", row["rank"])


def _set(row: Row) -> Cell:
    low, high = row["rank_set_simultaneous"]
    return Cell(f"{low}–{high}", low)


def _record(row: Row) -> Cell:
    return Cell("{wins}/{ties}/{losses}".format(**row) if "wins" in row else MISSING)


RUN = Col("run", "{row_word}", "name")
MEAN = Col("mean", "{measure}")
SD = Col("sd", "sd of instances", when="known")
WILSON = Col("wilson_interval", "Wilson interval", when="known")
INTERVAL = Col("interval", "{sure} interval", "change")
PVALUE = Col("pvalue", "p", "pvalue", about=lambda results: results[0].test_words())
ADJUSTED = Col(
    "pvalue_adjusted",
    "p adjusted",
    "pvalue",
    when=lambda results: results[0].is_corrected,
    about=lambda results: results[0].correction_words(),
)
FIGURES = (
    Col("difference", form="change"),
    INTERVAL,
    Col("standard_error", "s.e.", ".4f", "known", "topics and judges random"),
    Col("standard_error_fixed", "s.e. fixed", ".4f", "known", "over topics, these judges"),
    PVALUE,
    ADJUSTED,
    Col("effect_size", "d", "+z.2f", about="mean difference over its standard deviation"),
    Col("wins", "W/T/L", _record, about="topics won, tied and lost"),
    Col("fragility", "carried by", "count", about="topics without which the lead is gone"),
    Col("score_interval", "Tango interval", "change", "known", "for one pair at a time"),
    Col("mcnemar_pvalue", "McNemar p", "pvalue", "known", "for scores of 0 and 1"),
    Col(
        "mcnemar_pvalue_adjusted",
        "McNemar adjusted",
        "pvalue",
        when=lambda results: results[0].binary is not None and len(results[0].pairs) > 1,
    ),
)
"""Of a pair."""

RANKS = (
    RUN,
    MEAN,
    SD,
    WILSON,
    Col("rank", "rank ({sure})", _rank),
    Col("could_be_first", form="yes", when="varies"),
    Col("tier", form="count", when="varies"),
    Col("n_better", "better than", "count", "varies", "of all pairs together"),
    Col("group", "group", "name", "varies", "of all pairs together"),
)
RUNS = TableSpec(
    id="compare-runs",
    rows=_run_rows,
    when=lambda results: results[0].baseline is None,
    columns=RANKS,
    best="mean",
    caption=lambda results: " ".join(
        [results[0].caption(), *([LEVELS] if len(results[0].runs) > 2 else []), SEE]
    ),
)
ALL_AT_ONCE = Col("rank_set_simultaneous", "all ranks at once", _set)
"""Beside a run's own ranks, on request."""

PAIRS = TableSpec(
    id="pairs",
    rows=_pair_rows,
    shown=lambda results, rows: map(_known, better_first(results[0], places=_listed(results[0]))),
    when=lambda results: results[0].baseline is None,
    columns=(
        Col("a", "better", "name", about="the higher mean"),
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
    columns=(RUN, MEAN, SD, WILSON, *FIGURES),
    marks=_dagger,
    marked="mean",
    best="mean",
    caption=_against_caption,
)


def _segment_pairs(results: Results) -> list[dict[str, Any]]:
    """Every pair in every segment, in one direction: the better run of all topics first."""
    result = results[0]
    return [
        {"segment": own.segment or "", "n_topics": own.n_topics, **_known(row)}
        for own in _parts(result)
        for row in better_first(own, result)
    ]


def _segment_rows(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "segment": own.segment or "",
            "n_topics": own.n_topics,
            "best": own.runs[own.order[0]],
            "mean": float(own.mean[own.order[0]]),
            "could_be_first": int(own.could_be_first.sum()),
            "significant_share": own.significant_share,
        }
        for own in _parts(results[0])
    ]


def _parts(result: CompareResult) -> tuple[CompareResult, ...]:
    return () if result.segments is None else result.segments.results


def _n_parts(result: CompareResult) -> int:
    return sum(len(own.pairs) for own in _parts(result))


def _segment_column(results: Results) -> Col:
    by = "" if results[0].segments is None else results[0].segments.by
    # Braces of a name are no attributes of the subject.
    return Col("segment", by.replace("{", "{{").replace("}", "}}"), "name")


def _segments_caption(results: Results) -> str:
    """What was tested in each segment, corrected over which family."""
    result, parts = results[0], _parts(results[0])
    # All segments share one family; the one with most comparisons has it in full.
    largest = max(parts, key=lambda own: own.n_comparisons)
    few = [own.segment or "" for own in parts if (own.flag == TOO_FEW).all()]
    total = _n_parts(result)
    is_listed = total <= MOST_PRINTED
    sentences = [
        f"{result.measure}: {largest.test_words()}, {largest.correction_words()}.",
        "* significant." if is_listed and any(own.significant.any() for own in parts) else "",
        f"Intervals: {largest.interval_kind}."
        if is_listed
        else f"CSV and JSON list all {total:,} comparisons.",
        f"Not tested, with fewer than two {_units(result)}: {some(few, 2)}." if few else "",
    ]
    return " ".join(filter(None, sentences))


SEGMENT_PAIRS = TableSpec(
    id="segment-pairs",
    rows=_segment_pairs,
    when=lambda results: 0 < _n_parts(results[0]) <= MOST_PRINTED,
    columns=lambda results: (
        _segment_column(results),
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
SEGMENTS = TableSpec(
    id="segment-pairs",
    rows=_segment_rows,
    when=lambda results: _n_parts(results[0]) > MOST_PRINTED,
    columns=lambda results: (
        _segment_column(results),
        Col("n_topics", "topics", "count"),
        Col("best", "highest mean", "name"),
        MEAN,
        Col("could_be_first", form="count"),
        Col("significant_share", "significant pairs", "percent"),
    ),
    caption=_segments_caption,
)


def _power_rows(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "measure": one.measure,
            "share": one.significant_share,
            "uncorrected": float(np.mean(np.nan_to_num(one.pvalue, nan=1.0) <= one.alpha)),
            "missed": _largest_missed(one),
            "detectable": detectable(one),
        }
        for one in sorted(results, key=lambda one: -one.significant_share)
    ]


MEASURES = TableSpec(
    id="discriminative-power",
    rows=_power_rows,
    when=lambda results: len(results) > 1,
    columns=(
        Col("measure", form="name"),
        Col("share", "significant pairs", "percent", about="one family per measure"),
        Col("uncorrected", form="percent"),
        Col("missed", "largest difference missed", about="not significant"),
        Col("detectable", "detectable difference", about="by the mean pair's test, power 0.8"),
    ),
    caption="Discriminative power.",
)


def fields(results: Results) -> dict[str, Any]:
    """The promised keys; of several measures an object for each, and what they have in common."""
    result = results[0]
    if len(results) > 1:
        return {
            "measures": [VIEW.json([one]) for one in results],
            "family": "all" if result.n_measures > 1 else "measure",
            **picked(result, "n_comparisons test correction alpha baseline"),
            "caption": paper_caption(results),
        }
    return {
        **picked(result, "measure test correction alpha n_topics significant_share"),
        "pairs": _pairs_json(result),
        "method": result.method_fields,
        **picked(
            result,
            "mode baseline family interval_kind n_dropped n_samples seed "
            "comparison_alpha n_missing n_clusters design_effect effective_topics",
        ),
        **({"judges": result.judges, "judges_fixed": result.judges_fixed} if result.judges else {}),
        "runs": result.run_rows(),
        **_segment_fields(result.segments),
    }


def _pairs_json(result: CompareResult) -> Iterator[dict[str, Any]]:
    """The rows of pairs, with the topics that carry each lead."""
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
    """Segments where there are some; else every run against the best, of several."""
    result = results[0]
    figure = "against-best", "intervals", "Every run against the best."
    if result.segments is not None:
        figure = "segments", "segments", "The best run against the others, by segment."
    elif len(result.runs) < 3 or result.baseline is not None:
        return None
    name, kind, caption = figure
    return FigureSpec(id=name, caption=caption, kind=kind, of=lambda results: results[0])


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
    tables=(RUNS, PAIRS, AGAINST, SEGMENT_PAIRS, SEGMENTS, MEASURES),
    csv="pairs",
    fields=fields,
    figure=_figure,
)


def results_of(result: CompareResult | CompareTable) -> Results:
    """One per measure."""
    return (result,) if isinstance(result, CompareResult) else result.results


def pairs_text(
    result: CompareResult | CompareTable,
    form: str,
    *,
    progress: Progress | None = None,
    describe: bool = False,
) -> Iterator[str]:
    """All pairs as JSON or CSV, some of the text at a time: there may be millions of them."""
    results = results_of(result)
    total = sum(len(one.pairs) for one in results)
    return VIEW.pieces(results, form, progress=progress, total=total, describe=describe)


def compare_text(
    result: CompareResult | CompareTable,
    form: str,
    *,
    digits: int | None = None,
    show: Sequence[str] = (),
    underline_second: bool = False,
    label: str = LABEL,
    paper: bool | None = None,
    describe: bool = False,
    simultaneous: bool = False,
    **looks: Any,
) -> str:
    """The result in one of the output formats.

    `paper`: as the table of a paper; so is, unless given, all but one measure in a terminal.
    """
    results = results_of(result)
    if form in ("json", "csv"):
        return "".join(pairs_text(result, form, describe=describe))
    if paper is None:
        paper = form != "table" or bool(show) or underline_second or len(results) > 1
    if not paper:
        view = VIEW
        if simultaneous:
            runs = replace(RUNS, columns=(*RANKS[:5], ALL_AT_ONCE, *RANKS[5:]))
            view = replace(VIEW, tables=(runs, *VIEW.tables[1:]))
        return view.text(results, form, digits=digits, describe=describe, **looks)
    said = findings(results)[:MOST_FINDINGS] if form == "table" else []
    if digits is None:
        digits = max(enough_digits(one.mean) for one in results)
    table = paper_table(
        results, digits=digits, show=show, underline_second=underline_second, label=label
    )
    tables = [table, *(made for one in results for made in _paper_segments(one, digits, said))]
    text = with_words([finding.text for finding in said], tables, [], form, **looks)
    return VIEW.described(text, results, form) if describe else text


def _paper_segments(result: CompareResult, digits: int, said: Sequence[Finding]) -> Iterator[Table]:
    """Segments below the table of a paper; the test across them in their caption, unless said."""
    found = segments(result)
    more = "" if found is None or found in said else f" {found.text}"
    for table in VIEW.made([result], digits=digits, only=["segment-pairs"]):
        yield replace(table, caption=f"{table.caption}{more}", label="tab:segments")
