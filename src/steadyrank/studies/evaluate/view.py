"""Tables of `evaluate`: means of the runs, or scores by topic."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores, topic_weights
from steadyrank.data.write import long_csv, wide_csv
from steadyrank.measures.names import is_binary, parse_measure
from steadyrank.present.json import picked, to_json
from steadyrank.present.table import Table, render
from steadyrank.present.view import Col, TableSpec, View, literal, make_table
from steadyrank.words import counted, weighted_words


def scores_text(
    scores: Scores,
    form: str,
    *,
    per_topic: bool = False,
    wide: bool = False,
    digits: int | None = None,
    **looks: Any,
) -> str:
    """Return means, or with `per_topic` every score."""
    if form == "csv":
        return wide_csv(scores) if wide else long_csv(scores)
    if form == "json":
        return to_json(VIEW.fields(scores))
    return render(scores_table(scores, per_topic=per_topic, digits=digits), form, **looks)


def scores_table(scores: Scores, *, per_topic: bool = False, digits: int | None = None) -> Table:
    """Return the table of means, or of scores by topic."""
    return make_table(TOPICS if per_topic else MEANS, scores, digits=digits)


def _columns(titles: Iterable[str]) -> list[Col]:
    """Return columns by place, since a measure may have the name of another column."""
    return [Col(str(place), literal(title), "plain") for place, title in enumerate(titles)]


def _is_lower(scores: Scores, place: int) -> bool:
    return scores.directions[scores.measures[place]] == "lower"


def _mean_rows(scores: Scores) -> list[dict[str, Any]]:
    """Return rows, the best by the first measure first."""
    means = scores.mean().T
    first = -means[:, 0] if _is_lower(scores, 0) else means[:, 0]
    order = np.lexsort((np.arange(len(means)), -np.nan_to_num(first, nan=-np.inf)))
    counts = _topics_of_runs(scores)
    return [
        {"run": scores.runs[i]}
        | {str(place): mean for place, mean in enumerate(means[i].tolist())}
        | ({} if counts is None else {"topics": int(counts[i])})
        for i in order
    ]


def _topics_of_runs(scores: Scores) -> np.ndarray | None:
    """Return [run], the topics with a score on some measure; None if all topics have one."""
    counts: np.ndarray = (~np.isnan(scores.values)).any(axis=0).sum(axis=1)
    return counts if len(counts) and counts.min() < len(scores.topics) else None


def _means_caption(scores: Scores) -> str:
    counts, weights = _topics_of_runs(scores), topic_weights(scores)
    words = f"Means over {counted(len(scores.topics), 'topic')}"
    if counts is not None:
        least, most = int(counts.min()), int(counts.max())
        some = f"{least}" if least == most else f"{least} to {most}"
        words = f"Means over the {some} of {counted(len(scores.topics), 'topic')} with a score"
    if weights is not None:
        from steadyrank.stats.pairs.topic_design import effective_topics  # SciPy: only where used

        words += weighted_words(effective_topics(weights))
    if scores.meta.get("max_grade", 0) > 1:  # of one grade there is nothing to say
        measures = [m for m in map(parse_measure, scores.measures) if is_binary(m)]
        levels = {m.parameter("rel") for m in measures if not m.kind.is_count}
        if len(levels) == 1:
            words += f"; relevant: grade {levels.pop()} and above"
    return f"{words}."


def _topic_rows(scores: Scores) -> list[dict[str, Any]]:
    columns = scores.values.reshape(-1, len(scores.topics))
    figures = np.column_stack([columns, scores.mean().ravel()]).T.tolist()
    return [
        {"topic": topic} | {str(place): score for place, score in enumerate(row)}
        for topic, row in zip([*scores.topics, "mean"], figures, strict=True)
    ]


def _topic_columns(scores: Scores) -> tuple[Col, ...]:
    several = len(scores.measures) > 1
    titles = [
        f"{run} {measure}" if several else run for measure in scores.measures for run in scores.runs
    ]
    return Col("topic", form="name"), *_columns(titles)


MEANS = TableSpec(
    id="means",
    rows=_mean_rows,
    columns=lambda scores: (
        Col("run", form="name"),
        *_columns(scores.measures),
        Col("topics", form="count", when="known"),
    ),
    caption=_means_caption,
    best=lambda scores: [
        f"-{place}" if _is_lower(scores, place) else str(place)
        for place in range(len(scores.measures))
        if len(scores.runs) > 1
    ],
)
TOPICS = TableSpec(
    id="topics",
    rows=_topic_rows,
    columns=_topic_columns,
    caption=lambda scores: (
        f"{'Scores' if len(scores.measures) > 1 else scores.measures[0]} by topic."
        + " The mean is weighted." * ("weight" in scores.topic_info)
    ),
)


def fields(scores: Scores) -> dict[str, Any]:
    """Return the cube and its means by measure and run."""
    means = zip(scores.measures, scores.mean().tolist(), strict=True)
    return {
        **picked(scores, "measures runs topics values"),
        "mean": {measure: dict(zip(scores.runs, row, strict=True)) for measure, row in means},
        **picked(scores, "run_info topic_info meta"),
    }


VIEW = View(findings=lambda scores: (), tables=(MEANS, TOPICS), fields=fields)
