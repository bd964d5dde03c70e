"""Sentences, tables and the section of `topics`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from steadyrank.present import cells
from steadyrank.present.json import picked
from steadyrank.present.page import Tile
from steadyrank.present.pair_panel import PairPanel, forecast_texts, values_at
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, FigureSpec, Finding, Row, TableSpec, View, Words
from steadyrank.stats.instances.mixed_tests import has_instances
from steadyrank.stats.planning.needed_topics import MOST_SHOWN
from steadyrank.stats.planning.reversal import share_of
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.studies.topics.levels import TopicLevel
from steadyrank.studies.topics.study import ASSURED, TopicsResult, needed_figure, topics
from steadyrank.words import MISSING, counted, roughly, swap_words

MOST_PAIRS = 45
"""Most pairs that a table lists."""

TARGET = 0.05
"""Pairs with a higher probability of being reversed are counted."""


def findings(result: TopicsResult) -> list[Finding]:
    """Return findings about the two best runs, then all pairs."""
    said = result.of_pair()
    known = result.expected_reversal[~np.isnan(result.expected_reversal)]
    if len(known) > 1:
        n = int((known > TARGET).sum())
        text = (
            f"{n:,} of {len(known):,} pairs would be reversed with probability above {TARGET:.0%}."
        )
        values = {"reversed": n, "pairs": len(known), "target": TARGET}
        said.append(Finding("topics.pairs", text, values))
    return said


def _caption(result: TopicsResult) -> str:
    return (
        f"{result.caption()} Topics needed: for {result.test_words()}, with {ASSURED}, if the "
        "difference is as observed."
    )


def _needed_cell(row: Mapping[str, Any]) -> Cell:
    if "topics_assured" not in row:
        return Cell(MISSING)
    return Cell(needed_figure(row), 0 if row["significant"] else row["topics_assured"])


def _rate(key: str) -> Callable[[Row], Cell]:
    return lambda row: _share(row.get(key))


def _share(rate: float | None) -> Cell:
    if rate is None:
        return Cell(MISSING)
    return Cell("< 0.1%", rate) if 0.0 < rate < 0.001 else cells.percent(rate)


def _forecast(row: Row) -> Cell:
    rate = row.get("expected_reversal")
    if rate is None or not 0.0 < rate < 0.005:
        return Cell(MISSING) if rate is None else cells.number(rate, ".0%")
    return Cell("< 1%", rate)


REVERSED = Col(
    "expected_reversal",
    "reversed",
    _forecast,
    about="approximate probability that a replication on as many other topics reverses the order, "
    "calibrated on all pairs of the table; a little higher for the first two runs",
)
NEEDED = Col("topics_needed", "topics needed", _needed_cell)
ERROR_RATE = Col(
    "error_rate",
    "error rate",
    _rate("error_rate"),
    about="how often two experiments contradict each other if the observed difference were the "
    "true one",
)
THEORY = (
    REVERSED,
    ERROR_RATE,
    Col(
        "error_rate_independent",
        "independent",
        _rate("error_rate_independent"),
        about="the error rate if each run had different topics",
    ),
    Col("approximation", "approximate", _rate("approximation"), about="the error rate by eq. 13"),
    NEEDED,
)


def _neighbour_rows(result: TopicsResult) -> list[dict[str, Any]]:
    """Return runs by mean, each with its lead over the next."""
    rows = [{"run": result.runs[run], "mean": float(result.mean[run])} for run in result.order]
    for row, (run, following) in zip(rows, itertools.pairwise(result.order), strict=False):
        (pair,) = result.told([result.pair(run, following)])
        sign = 1.0 if pair["a"] == row["run"] else -1.0
        row |= pair | {"next": result.runs[following], "lead": sign * pair["difference"]}
    return rows


NEIGHBOURS = TableSpec(
    id="topic-neighbours",
    rows=_neighbour_rows,
    columns=(
        Col("run", form="name"),
        Col("next", form="name"),
        Col("mean", "{measure}"),
        Col("lead"),
        REVERSED,
        ERROR_RATE,
        NEEDED,
    ),
    caption=_caption,
    best="mean",
)
PAIRS = TableSpec(
    id="topic-every-pair",
    rows=TopicsResult.rows,
    shown=lambda result, rows: sorted(
        result.told(), key=lambda row: -np.nan_to_num(row["expected_reversal"], nan=2.0)
    ),
    when=lambda result: len(result.pairs) <= MOST_PAIRS,
    columns=(
        Col("a", form="name"),
        Col("b", form="name"),
        Col("difference", "a − b", "change"),
        *THEORY,
    ),
    caption="Every pair, the least certain first. Quote reversed, not the error rate, of an "
    "observed difference (docs/topics.md).",
)


def last_split(result: TopicsResult) -> int:
    """Return the place of the largest size that has splits, or of the largest size."""
    places = range(len(result.sizes))
    measured = [s for s in places if any(level.count[s] for level in result.levels)]
    return measured[-1] if measured else places[-1]


def _largest_splits(result: TopicsResult, rows: Sequence[Row]) -> list[Row]:
    """Return levels with a pair or a reversal, at the largest size that has splits."""
    last = last_split(result)
    return [
        {**row, **_of_level(level)}
        for level, row in zip(result.levels, rows[last :: len(result.sizes)], strict=True)
        if level.pairs or level.reversed[last]
    ]


def _of_level(level: TopicLevel) -> dict[str, Any]:
    fit = level.fit
    fitted = {} if fit is None else {"b1": fit.b1, "b2": fit.b2}
    rates = [] if fit is None else fit.rate[:2].tolist()
    return {
        "name": level.name,
        "variance": 1e4 * level.variance,
        "variance_independent": 1e4 * level.variance_independent,
        **fitted,
        **{f"fit_{place}": rate for place, rate in enumerate(rates)},
    }


def _empirical(row: Row) -> Cell:
    """Return the cell of an empirical rate with its Monte Carlo error."""
    rate, error = row["empirical"], row["empirical_error"]
    shown = _share(rate)
    if math.isnan(rate) or math.isnan(error) or error == 0.0:
        return shown
    return Cell(f"{shown.text} ± {error:.1%}", rate)


def _level_columns(result: TopicsResult) -> tuple[Col, ...]:
    size = result.sizes[last_split(result)]
    fits = [
        Col(f"fit_{place}", f"fit at {n}", _rate(f"fit_{place}"), "known")
        for place, n in enumerate(result.further_sizes[:2])
    ]
    return (
        Col("name", "difference", "name"),
        Col("pairs", form="count"),
        Col(
            "variance",
            "variance ×1e4",
            ".2f",
            "known",
            "of the mean difference over all topics, mean over the pairs",
        ),
        Col("variance_independent", "independent", ".2f", about="if each run had other topics"),
        Col("error_rate", f"error rate at {size}", _rate("error_rate"), "known"),
        Col("predictive", f"reversed at {size}", _rate("predictive"), "known"),
        Col("empirical", f"empirical at {size}", _empirical, "known", "± its Monte Carlo error"),
        Col("b1", form=".3f", when="known"),
        Col("b2", when="known", about="b1 exp(-b2 n) is an extrapolation, usually too low"),
        *fits,
    )


LEVELS = TableSpec(
    id="topic-levels",
    rows=TopicsResult.curves,
    shown=_largest_splits,
    columns=_level_columns,
    caption=lambda result: (
        "By the difference of two means: theory, and empirical rates of two disjoint sets of "
        f"{result.sizes[last_split(result)]} topics in {counted(result.n_trials, 'split')}, with "
        "their fit (docs/topics.md)."
    ),
)


def fields(result: TopicsResult) -> dict[str, Any]:
    """Return the keys of the JSON output."""
    return {
        "n_topics": result.n_topics,
        "pairs": result.told(),
        "levels": [_level_json(result, level) for level in result.levels],
        **picked(result, "measure n_complete n_dropped n_clusters weighted=is_weighted"),
        **picked(result, "trials=n_trials binning alpha beta comparisons comparison_alpha"),
        **picked(result, "seed leaders"),
        "answer": [finding.text for finding in findings(result)],
        "runs": [
            {"run": run, "mean": mean}
            for run, mean in zip(result.runs, result.mean.tolist(), strict=True)
        ],
    }


def _level_json(result: TopicsResult, level: TopicLevel) -> dict[str, Any]:
    keys, fit = ("b1", "b2", "method", "residuals"), level.fit
    return {
        **picked(level, "low high pairs variance variance_independent"),
        "sizes": result.sizes,
        **level.curves,
        "fit": {key: getattr(fit, key, None) for key in keys},
        "extrapolation": {"sizes": result.further_sizes, "rate": fit.rate if fit else None},
    }


VIEW = View(
    words=Words(
        title="Other topics",
        question="Would other topics change the table?",
        means=(
            "The approximate probability that a replication, on as many other topics from the same "
            "population, reverses the order of two runs. It is calibrated on all pairs of the "
            "table; the best of many runs are partly the luckiest, and swap a little more often."
        ),
        means_not="This section does not apply to other documents or judgments.",
    ),
    findings=findings,
    tables=(NEIGHBOURS, PAIRS, LEVELS),
    csv="topic-every-pair",
    fields=fields,
    figure=FigureSpec(
        id="topic-errors",
        caption="Reversals against the number of topics, by the size of the difference.",
        kind="error_rate",
    ),
)


def _run(job: Job) -> TopicsResult:
    return topics(
        job.material.compared,
        measure=job.material.measure,
        n_trials=job.n_samples,
        alpha=job.material.settings.alpha,
        decided=job.decided,
        progress=job.machine.progress("splits of topics"),
        **job.common,
    )


def _front(result: TopicsResult, findings: Findings) -> Front:
    share = share_of(result.expected_reversal, result.variances.difference)
    turned = swap_words(share, len(result.runs), said=roughly)
    text = f"On {result.n_topics:,} other topics {turned}."
    # If systems have several runs, the page does not compare the first two runs; with several
    # judges, topics alone may not separate them.
    material = findings.material
    is_more = has_instances(material.scores) or material.n_levels("judge") > 1
    tiles = [] if is_more else _needed_tile(result, findings.material.settings.baseline)
    return Front(swap=Finding("topics.swap", text, {"share": share}), tiles=tuple(tiles))


def _needed_tile(result: TopicsResult, baseline: str | None) -> list[Tile]:
    """Return the tile of the first two runs, or of the best run and the baseline."""
    first, second = result.leaders
    second = second if baseline in (None, first, second) else str(baseline)
    (row,) = result.told([result.pair(*map(result.runs.index, (first, second)))])
    if row["significant"] or not (row["topics_assured"] or MOST_SHOWN) < MOST_SHOWN:
        return []
    keys = "a b topics_needed topics_needed_interval topics_assured"
    names = "first from second" if baseline is None else f"{first} from {second}"
    return [
        Tile(
            id="topics.needed",
            figure=needed_figure(row),
            text=f"topics to separate {names} ({ASSURED}); there are {result.n_topics:,}",
            values={key: row[key] for key in keys.split()},
        )
    ]


REPLICATED = "a replication on as many other topics reverses it with probability {reversed}"
NO_ORDER = "the means are equal: there is no order to reverse"


def _of_two(panel: PairPanel, result: TopicsResult, findings: Findings) -> None:
    place, _ = panel.aligned(result.runs, result.pairs)
    rows = result.told()
    equal = [p >= 0 and abs(rows[p]["difference"]) <= SAME_MEAN for p in place.tolist()]
    panel.add(
        "On other topics",
        "{repeated}",
        repeated=[NO_ORDER if same else REPLICATED for same in equal],
        reversed=forecast_texts(values_at(result.expected_reversal, place)),
    )
    panel.add(
        "Topics needed",
        "{needed}",
        needed=[MISSING if p < 0 else _needed(result, rows[p]) for p in place.tolist()],
    )


def _needed(result: TopicsResult, row: Mapping[str, Any]) -> str:
    if row["significant"]:
        return "none: these topics show the difference"
    return f"{needed_figure(row)} for {result.test_words()}; there are {result.n_topics:,}"


PART = part_of(
    VIEW,
    run=_run,
    samples=Samples(noun="splits", fast=1000, full=10_000),
    front=_front,
    varies="Other topics",
    of_two=_of_two,
)
