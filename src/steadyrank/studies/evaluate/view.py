"""How `evaluate` is shown: means, every topic, a report's leaderboard and hardest topics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from steadyrank.data.read.score_files import long_csv, wide_csv
from steadyrank.data.read.topic_info import topic_weights
from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.present.cells import MOST_CELLS, drilldown, name, number
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Cell, Table, render
from steadyrank.present.view import (
    Col,
    FigureSpec,
    Finding,
    Row,
    TableSpec,
    View,
    Words,
    literal,
    make_table,
)
from steadyrank.words import counted, weighted_words

MOST_TOPICS = 300
"""Topics that the table of the hardest lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """Scores, and what is to be shown of them."""

    scores: Scores
    digits: int = 4
    comparison: Any = None
    """What `compare` found, for the leaderboard of a page."""

    @property
    def measure(self) -> str:
        """The first, by which runs are ranked."""
        return self.scores.measures[0]

    @property
    def matrix(self) -> np.ndarray:
        """[run, topic]: its scores."""
        return self.scores.matrix(self.measure)

    @property
    def sizes(self) -> dict[str, int]:
        """Runs of each system, where these are shown in their place."""
        sizes: dict[str, int] = self.scores.meta.get("n_instances", {})
        return sizes


def scores_text(
    scores: Scores,
    form: str,
    *,
    per_topic: bool = False,
    wide: bool = False,
    digits: int = 4,
    **looks: Any,
) -> str:
    """Means, or with `per_topic` every score, and how far ties could move them.

    CSV has a line per score or, if `wide`, one per topic.
    """
    if form == "csv":
        return wide_csv(scores) if wide else long_csv(scores)
    if form == "json":
        return to_json(VIEW.fields(Evaluated(scores=scores)))
    table = scores_table(scores, per_topic=per_topic, digits=digits)
    caption = f"{table.caption} {ties_sentence(scores, digits=digits)}".strip()
    return render(replace(table, caption=caption), form, **looks)


def scores_table(scores: Scores, *, per_topic: bool = False, digits: int = 4) -> Table:
    """The table of means, or of every topic."""
    spec = TOPICS if per_topic else MEANS
    return make_table(spec, Evaluated(scores=scores, digits=digits), digits=digits)


def ties_sentence(scores: Scores, *, digits: int = 4) -> str:
    """How far the order of tied documents could move a mean, where `evaluate` found out."""
    spans = [
        (high - low, measure, run, low, high)
        for measure, runs in scores.meta.get("tie_bounds", {}).items()
        for run, (low, high) in runs.items()
        if high > low
    ]
    if not spans:
        return ""
    _, measure, run, low, high = max(spans)
    if round(high - low, digits) == 0:
        return f"Ties could change no mean by {10.0**-digits:.{digits}f}."
    return (
        f"The order of tied documents could change means, most of all {measure} of {run}: "
        f"{low:.{digits}f} to {high:.{digits}f}."
    )


def _by_place(values: Sequence[float]) -> dict[str, float]:
    """Figures of measures under their places: a measure may be named like another column."""
    return {str(place): value for place, value in enumerate(values)}


def _mean_rows(subject: Evaluated) -> list[dict[str, Any]]:
    """Best first by the first measure."""
    scores, means = subject.scores, subject.scores.mean().T
    order = np.lexsort((np.arange(len(means)), -np.nan_to_num(means[:, 0], nan=-np.inf)))
    return [{"run": scores.runs[i], **_by_place(means[i].tolist())} for i in order]


def _mean_columns(subject: Evaluated) -> tuple[Col, ...]:
    return (
        Col("run", "system" if subject.sizes else "run", partial(_run_cell, subject)),
        *(
            Col(str(place), literal(measure), partial(_mean_cell, subject, place))
            for place, measure in enumerate(subject.scores.measures)
        ),
    )


def _run_cell(subject: Evaluated, row: Row) -> Cell:
    """A run; or a system, with the number of its runs where systems differ in it."""
    run, sizes = row["run"], subject.sizes
    return name(f"{run} ({counted(sizes[run], 'run')})" if len(set(sizes.values())) > 1 else run)


def _mean_cell(subject: Evaluated, place: int, row: Row) -> Cell:
    """A mean; of a system with several runs, ± the standard deviation of theirs."""
    scores, form = subject.scores, f".{subject.digits}f"
    cell = number(row[str(place)], form)
    spreads = scores.meta.get("instance_sd", {}).get(scores.measures[place], {})
    spread = spreads.get(row["run"], math.nan)
    return cell if math.isnan(spread) else Cell(f"{cell.text} ± {spread:{form}}", cell.value)


def _means_caption(subject: Evaluated) -> str:
    words = f"Means over {counted(len(subject.scores.topics), 'topic')}"
    weights = topic_weights(subject.scores)
    if weights is not None:
        from steadyrank.stats.pairs.clustered import effective_topics  # SciPy: only where used

        words += weighted_words(effective_topics(weights))
    sizes = sorted(set(subject.sizes.values()))
    if not sizes:
        return f"{words}."
    several = f"{sizes[0]} to {sizes[-1]} instances"
    each = counted(sizes[0], "instance") if len(sizes) == 1 else several
    return f"{words} and {each} per system, ± standard deviation of the instances' means."


def _topic_rows(subject: Evaluated) -> list[dict[str, Any]]:
    """Every score, and the means at the end."""
    scores = subject.scores
    figures = np.column_stack(
        [scores.values.reshape(-1, len(scores.topics)), scores.mean().ravel()]
    ).T
    return [
        {"topic": topic, **_by_place(row)}
        for topic, row in zip([*scores.topics, "mean"], figures.tolist(), strict=True)
    ]


def _topic_columns(subject: Evaluated) -> tuple[Col, ...]:
    scores, form = subject.scores, f".{subject.digits}f"
    several = len(scores.measures) > 1
    titles = [
        f"{run} {measure}" if several else run for measure in scores.measures for run in scores.runs
    ]
    figures = (Col(str(place), literal(title), form) for place, title in enumerate(titles))
    return Col("topic", form="name"), *figures


def _topics_caption(subject: Evaluated) -> str:
    what = "Scores" if len(subject.scores.measures) > 1 else subject.measure
    weighted = " The mean is weighted." if "weight" in subject.scores.topic_info else ""
    return f"{what} by topic.{weighted}"


MEANS = TableSpec(
    id="means",
    rows=_mean_rows,
    columns=_mean_columns,
    caption=_means_caption,
    best=lambda subject: [*_by_place(subject.scores.measures)] * (len(subject.scores.runs) > 1),
)
TOPICS = TableSpec(id="topics", rows=_topic_rows, columns=_topic_columns, caption=_topics_caption)


def _leaderboard_rows(subject: Evaluated) -> list[dict[str, Any]]:
    """All runs by their mean, with intervals, the ranks that they may have, and groups."""
    from steadyrank.stats.run_means import adjusted_means, ranks_of
    from steadyrank.stats.selection import expected_means, intervals_as_picked

    scores, result = subject.scores, subject.comparison
    means = np.stack([adjusted_means(values) for values in scores.values])
    ranks, known = ranks_of(means[0]), expected_means(subject.matrix)
    intervals = intervals_as_picked(subject.matrix, 1 - result.alpha, known)
    teams = scores.run_info.get("team", [""] * len(scores.runs))
    compared = {run: i for i, run in enumerate(result.runs)}
    return [
        {
            "rank": ranks[run],
            "run": scores.runs[run],
            "team": str(teams[run]),
            **_by_place(means[:, run].tolist()),
            "interval": tuple(intervals[run].tolist()),
            "expected": known.mean[run],
            **_decided(result, compared.get(scores.runs[run])),
        }
        for run in np.argsort(ranks, kind="stable").tolist()
    ]


def _decided(result: Any, run: int | None) -> dict[str, Any]:
    """What the tests of all pairs decided about a run; nothing of one that was not compared."""
    if run is None:
        return {}
    against = result.n_different[run]
    if result.baseline is not None:
        against = "baseline"
        # The baseline is the second of each pair, and the first of none.
        for pair in np.flatnonzero(result.pairs[:, 0] == run):
            ahead = "better" if result.difference[pair] > 0 else "worse"
            against = ahead if result.significant[pair] else "not different"
    low, high = result.rank_set[run].tolist()
    group = result.letters[run] if result.letters else None
    return {"ranks": f"{low} to {high}", "against": against, "group": group}


def _leaderboard_columns(subject: Evaluated) -> tuple[Col, ...]:
    first, *others = map(literal, subject.scores.measures)
    against = Col("against", "differs from", "count")
    if subject.comparison.baseline is not None:
        against = Col("against", "against the baseline", "name")
    return (
        Col("rank", "", "count"),
        Col("run", form="name"),
        Col("team", form="name", when=_has_teams),
        Col("0", first, ".4f"),
        Col("interval", f"{1 - subject.comparison.alpha:.0%} interval", ".4f"),
        Col("expected", form=".4f"),
        Col("ranks", form="name"),
        against,
        Col("group", form="name", when=lambda subject: bool(subject.comparison.letters)),
        *(Col(str(place), title, ".4f") for place, title in enumerate(others, start=1)),
    )


def _has_teams(subject: Evaluated) -> bool:
    return any(map(str, subject.scores.run_info.get("team", [])))


def _leaderboard_caption(subject: Evaluated) -> str:
    result, n_topics = subject.comparison, len(subject.scores.topics)
    against = "Differs from: how many of the other runs differ significantly."
    if result.baseline is not None:
        than = f"significantly better or worse than {result.baseline}"
        against = f"Against the baseline: whether a run is {than}."
    caption = (
        f"Runs by mean {subject.measure} over {counted(n_topics, 'topic', form=',')}. The "
        "interval is for one run at a time. Expected: the mean to expect on new topics, since "
        "the best of many runs is partly the luckiest; the interval is corrected for that. "
        f"Ranks: those that the run may have, {result.rank_words()}. {against} "
    )
    if result.letters:
        caption += "Group: runs that share a letter are statistically indistinguishable."
    if len(result.runs) < len(subject.scores.runs):
        caption += f" Compared pair by pair: the best {len(result.runs):,}."
    return caption.strip()


LEADERBOARD = TableSpec(
    id="leaderboard",
    rows=_leaderboard_rows,
    columns=_leaderboard_columns,
    caption=_leaderboard_caption,
    when=lambda subject: subject.comparison is not None,
    finished=lambda subject, table: replace(
        table, picks=1, filter_by=2 if _has_teams(subject) else None
    ),
)


def fields(subject: Evaluated) -> dict[str, Any]:
    """The cube and its means, keyed by measure and run."""
    scores, means = subject.scores, subject.scores.mean().tolist()
    return {
        **picked(scores, "measures runs topics values"),
        "mean": {
            measure: dict(zip(scores.runs, row, strict=True))
            for measure, row in zip(scores.measures, means, strict=True)
        },
        **picked(scores, "run_info topic_info meta"),
    }


VIEW = View(
    words=Words(
        title="Leaderboard",
        question="Who leads, and who might?",
        means=(
            "Runs are ordered by their mean over topics. Every two runs, or every run and the "
            "baseline, are compared by a paired test, corrected for all comparisons together; "
            "letters, marks, intervals of differences and ranks all express these decisions. A "
            "run could be first if no run is significantly better."
        ),
        means_not=(
            "Intervals of two means that overlap do not make two runs equal: topics are hard or "
            "easy for all runs together, which the paired tests take into account and the "
            "intervals do not. Sharing a letter does not prove equality. The leader was selected "
            "by the very scores from which its mean is computed, so less is expected of it on new "
            "topics."
        ),
    ),
    findings=lambda subject: (),
    tables=(MEANS, TOPICS, LEADERBOARD),
    fields=fields,
    figures=(
        FigureSpec(
            id="means",
            caption="Means with intervals over topics, for one run at a time.",
            kind="means",
            of=lambda subject: subject.scores.select(runs=subject.comparison.runs),
        ),
        FigureSpec(
            id="scores",
            caption="Every run on every topic.",
            kind="heatmap",
            of=lambda subject: subject.scores,
            when=lambda subject: subject.scores.values[0].size <= MOST_CELLS,
        ),
    ),
)


def _hardest(subject: Evaluated) -> np.ndarray:
    """Places of the topics, the hardest first; of many, the hardest."""
    by_topic = mean_of_present(subject.matrix.T)
    return np.argsort(np.nan_to_num(by_topic, nan=np.inf), kind="stable")[:MOST_TOPICS]


def _hardest_rows(subject: Evaluated) -> list[dict[str, Any]]:
    return [_hard_topic(subject, int(topic)) for topic in _hardest(subject)]


def _hard_topic(subject: Evaluated, topic: int) -> dict[str, Any]:
    scores, column = subject.scores, subject.matrix[:, topic]
    known = column[~np.isnan(column)]
    if not len(known):
        return {"topic": scores.topics[topic]}
    ties = int((known == known.max()).sum()) - 1
    return {
        "topic": scores.topics[topic],
        "mean": float(known.mean()),
        "sd": float(known.std(ddof=1)) if len(known) > 1 else None,
        "lowest": float(known.min()),
        "highest": float(known.max()),
        "best": scores.runs[int(np.nanargmax(column))] + (f" and {ties} more" if ties else ""),
        "at_zero": int((known == 0.0).sum()),
    }


def _with_runs(subject: Evaluated, table: Table) -> Table:
    """The table whose rows open to the runs on a topic, the best runs first."""
    from steadyrank.stats.run_means import adjusted_means, best_first

    scores, matrix, order = subject.scores, subject.matrix, _hardest(subject)
    runs = best_first(adjusted_means(matrix))
    names = [scores.runs[run] for run in runs]
    behind, hidden = drilldown(names, matrix[np.ix_(runs, order)].T, "Runs on topic {row}")
    caption = table.caption
    if len(order) < matrix.shape[1]:
        caption += f" The {len(order):,} hardest of {matrix.shape[1]:,} topics."
    if hidden:
        caption += f" Of the runs, the best {len(behind.names):,}; {hidden:,} are omitted."
    return replace(table, caption=caption, drilldown=behind)


def _hardest_findings(subject: Evaluated) -> list[Finding]:
    scores, matrix = subject.scores, subject.matrix
    by_topic = mean_of_present(matrix.T)
    if np.isnan(by_topic).all():
        return []
    low, high = int(np.nanargmin(by_topic)), int(np.nanargmax(by_topic))
    text = (
        f"The hardest topic is {scores.topics[low]} (mean {by_topic[low]:.3f}), the easiest "
        f"{scores.topics[high]} ({by_topic[high]:.3f})."
    )
    values = {"hardest": scores.topics[low], "easiest": scores.topics[high]}
    said = [Finding("evaluate.hardest", text, values)]
    dead = int((np.nan_to_num(matrix, nan=0.0) == 0.0).all(axis=0).sum())
    if dead:
        text = (
            f"On {counted(dead, 'topic', form=',')} every run scores 0: "
            f"{'it separates' if dead == 1 else 'they separate'} nothing."
        )
        said.append(Finding("evaluate.all_zero", text, {"n_topics": dead}))
    return said


HARDEST = View(
    words=Words(
        title="Topic by topic",
        question="Which topics are hard, and which separate the runs?",
        means=(
            "A topic with a low mean is hard for all runs; one with a large spread decides the "
            "order. Open a row to see every run on the topic."
        ),
        means_not=(
            "A hard topic is not a bad one. A topic on which all runs score 0 may have no "
            "relevant document among the judged ones."
        ),
    ),
    findings=_hardest_findings,
    tables=(
        TableSpec(
            id="hardest-topics",
            rows=_hardest_rows,
            columns=(
                Col("topic", form="name"),
                Col("mean", form=".4f"),
                Col("sd", "sd over runs", ".4f"),
                Col("lowest", form=".4f"),
                Col("highest", form=".4f"),
                Col("best", "best run", "name"),
                Col("at_zero", "runs at 0", "count"),
            ),
            caption="{measure} by topic, hardest first; open a row to see its runs.",
            opened=15,
            finished=_with_runs,
        ),
    ),
    fields=lambda subject: {},
)
"""The section of a report about single topics."""
