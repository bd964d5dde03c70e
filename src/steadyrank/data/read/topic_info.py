"""What is known about topics: a CSV with a `topic` column and any of `cluster`, `weight`, segments,
or a part of their names.

Unlike a run without a team, a topic without a row is refused: no weight, cluster or segment can be
made up for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from steadyrank.data.read.run_info import first_group, info_columns, read_rows
from steadyrank.data.read.score_matrices import plain_value
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, unknown_column, unknown_name, warn
from steadyrank.words import by_number, counted, some

SMALLEST_SHARE = 1e-100
"""Of the largest weight: squares of smaller shares would be 0."""


def describe_topics(
    scores: Scores, *, topic_info: PathLike | None = None, cluster_from: str | None = None
) -> Scores:
    """The scores with what is known about their topics; a file takes precedence over names."""
    if topic_info is None and cluster_from is None:
        return scores
    columns = dict(scores.topic_info)
    if cluster_from is not None:
        columns["cluster"] = tuple(first_group(cluster_from, topic) for topic in scores.topics)
    if topic_info is not None:
        columns |= _columns_of_file(Path(topic_info), scores.topics)
    return replace(scores, topic_info=columns)


def _columns_of_file(path: Path, topics: Sequence[str]) -> dict[str, tuple[str, ...]]:
    rows = read_rows(path, "topic")
    missing = [topic for topic in topics if topic not in rows]
    if missing and len(missing) == len(topics):
        raise unknown_name("topic", missing[0], rows, where=f"in {path}")
    if missing:
        who = counted(len(missing), "topic has", "topics have")
        add = by_number(len(missing), "it", "them")
        raise InputError(f"{path}: {who} no row ({some(missing, 3)}): add {add}")
    return info_columns([rows[topic] for topic in topics])


def topic_column(scores: Scores, name: str) -> tuple[str, ...]:
    """A column about the topics, complete, or an error that says what to do."""
    if name not in scores.topic_info:
        if not scores.topic_info:
            raise InputError(
                f"{name!r} requires information about the topics: give a table with a column topic "
                "(topic_info=)"
            )
        raise unknown_column(name, "topic information", scores.topic_info)
    column = scores.topic_info[name]
    if "" in column:
        raise InputError(f"topic {scores.topics[column.index('')]!r} has no {name}: fill it in")
    return column


def cluster_codes(scores: Scores) -> np.ndarray | None:
    """The cluster of each topic as a number, 0, 1, …; None where topics have none.

    >>> scores = Scores(measures=["AP"], runs=["a"], topics=["1", "2"], values=[[[0.1, 0.2]]])
    >>> cluster_codes(scores.with_topic_info(cluster=["b", "a"])).tolist()
    [1, 0]
    """
    if "cluster" not in scores.topic_info:
        return None
    return np.unique(topic_column(scores, "cluster"), return_inverse=True)[1]


def topic_weights(scores: Scores) -> np.ndarray | None:
    """The weight of each topic; None where topics have none."""
    if "weight" not in scores.topic_info:
        return None
    texts = topic_column(scores, "weight")
    weights = np.array([_weight(text) for text in texts])
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(wrong):
        raise InputError(
            f"topic {scores.topics[wrong[0]]!r} has the weight {texts[wrong[0]]!r}: expected a "
            "number of at least 0"
        )
    if not weights.any():
        raise InputError("all topics have the weight 0: give some of them a positive weight")
    return _of_fair_size(weights, scores.topics)


def _of_fair_size(weights: np.ndarray, topics: Sequence[str]) -> np.ndarray:
    """Weights whose sums and squares are numbers: only their ratios count."""
    largest = weights.max()
    lost = np.flatnonzero((weights > 0.0) & (weights / largest < SMALLEST_SHARE))
    if len(lost):
        raise InputError(
            f"topic {topics[lost[0]]!r} has the weight {weights[lost[0]]:g} beside one of "
            f"{largest:g}: give it 0, or at least {SMALLEST_SHARE:g} of the largest"
        )
    is_fair = SMALLEST_SHARE < largest < 1.0 / SMALLEST_SHARE
    return weights if is_fair else weights / largest


def of_some_weight(scores: Scores) -> Scores:
    """The scores of the topics whose weight is above 0, with a warning about the others."""
    weights = topic_weights(scores)
    if weights is None or (weights > 0.0).all():
        return scores
    has, have = "topic has weight 0 and takes", "topics have weight 0 and take"
    without = counted(int((weights == 0.0).sum()), has, have)
    warn(f"{without} no part in the comparisons", stacklevel=5)
    kept = [topic for topic, weight in zip(scores.topics, weights, strict=True) if weight > 0.0]
    return scores.select(topics=kept)


def _weight(text: str) -> float:
    value = plain_value(text)
    return math.nan if value is None else value
