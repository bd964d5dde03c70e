"""Tables of `evaluate`: means of the runs, or scores by topic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores, topic_weights
from steadyrank.data.write import long_csv, wide_csv
from steadyrank.measures.names import is_binary, parse_measure
from steadyrank.present.cells import DIGITS
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
    """Return means, or with `per_topic` every score, and the effect of ties.

    CSV has a line per score or, if `wide`, one per topic.
    """
    if form == "csv":
        return wide_csv(scores) if wide else long_csv(scores)
    if form == "json":
        return to_json(VIEW.fields(scores))
    table = scores_table(scores, per_topic=per_topic, digits=digits)
    caption = f"{table.caption} {ties_sentence(scores, digits=digits)}".strip()
    return render(replace(table, caption=caption), form, **looks)


def scores_table(scores: Scores, *, per_topic: bool = False, digits: int | None = None) -> Table:
    """Return the table of means, or of scores by topic."""
    return make_table(TOPICS if per_topic else MEANS, scores, digits=digits)


def ties_sentence(scores: Scores, *, digits: int | None = None) -> str:
    """Return how the order of tied documents could change a mean, if `evaluate` computed it."""
    spans = [
        (high - low, measure, run, low, high)
        for measure, runs in scores.meta.get("tie_bounds", {}).items()
        for run, (low, high) in runs.items()
        if high > low
    ]
    if not spans:
        return ""
    digits = DIGITS if digits is None else digits
    _, measure, run, low, high = max(spans)
    if round(high - low, digits) == 0:
        return f"Ties change no mean by as much as {10.0**-digits:.{digits}f}."
    return (
        f"The order of tied documents can change means, most {measure} of {run}: "
        f"{low:.{digits}f} to {high:.{digits}f}."
    )


def _instances(scores: Scores) -> dict[str, int]:
    """Return the number of runs of each system, if rows are systems."""
    sizes: dict[str, int] = scores.meta.get("n_instances", {})
    return sizes


def _columns(titles: Iterable[str]) -> list[Col]:
    """Return columns by place, since a measure may have the name of another column."""
    return [
        Col(str(place), literal(title), "plain", spread=f"{place} sd")
        for place, title in enumerate(titles)
    ]


def _is_lower(scores: Scores, place: int) -> bool:
    return scores.directions[scores.measures[place]] == "lower"


def _mean_rows(scores: Scores) -> list[dict[str, Any]]:
    """Return rows, the best by the first measure first; systems have the spread of their runs."""
    means, sizes = scores.mean().T, _instances(scores)
    first = -means[:, 0] if _is_lower(scores, 0) else means[:, 0]
    order = np.lexsort((np.arange(len(means)), -np.nan_to_num(first, nan=-np.inf)))
    spreads = scores.meta.get("instance_sd", {})
    rows, counts = [], _topics_of_runs(scores)
    for i in order:
        run, row = scores.runs[i], means[i].tolist()
        count = f" ({counted(sizes[run], 'run')})" if len(set(sizes.values())) > 1 else ""
        figures = {str(place): mean for place, mean in enumerate(row)}
        figures |= {
            f"{place} sd": spreads.get(measure, {}).get(run)
            for place, measure in enumerate(scores.measures)
        }
        rows.append({"run": f"{run}{count}", **figures})
        if counts is not None:
            rows[-1]["topics"] = int(counts[i])
    return rows


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
    levels = levels_of(scores)
    if len(levels) == 1:
        words += f"; relevant: grade {levels.pop()} and above"
    sizes = sorted(set(_instances(scores).values()))
    if not sizes:
        return f"{words}."
    several = f"{sizes[0]} to {sizes[-1]} instances"
    each = counted(sizes[0], "instance") if len(sizes) == 1 else several
    return f"{words} and {each} per system, ± standard deviation of the instances' means."


def levels_of(scores: Scores) -> set[Any]:
    """Return the lowest relevant grades of binary measures, if judgments have several grades."""
    if scores.meta.get("max_grade", 0) < 2:
        return set()
    measures = [measure for measure in map(parse_measure, scores.measures) if is_binary(measure)]
    return {measure.parameter("rel") for measure in measures if not measure.kind.is_count}


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


def _topics_caption(scores: Scores) -> str:
    what = "Scores" if len(scores.measures) > 1 else scores.measures[0]
    weighted = " The mean is weighted." if "weight" in scores.topic_info else ""
    return f"{what} by topic.{weighted}"


MEANS = TableSpec(
    id="means",
    rows=_mean_rows,
    columns=lambda scores: (
        Col("run", "system" if _instances(scores) else "run", "name"),
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
TOPICS = TableSpec(id="topics", rows=_topic_rows, columns=_topic_columns, caption=_topics_caption)


def fields(scores: Scores) -> dict[str, Any]:
    """Return the cube and its means by measure and run."""
    means = zip(scores.measures, scores.mean().tolist(), strict=True)
    return {
        **picked(scores, "measures runs topics values"),
        "mean": {measure: dict(zip(scores.runs, row, strict=True)) for measure, row in means},
        **picked(scores, "run_info topic_info meta"),
    }


VIEW = View(findings=lambda scores: (), tables=(MEANS, TOPICS), fields=fields)
