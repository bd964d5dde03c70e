"""Systems, topics and judgments of an `Experiment`, and their result frames."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from steadyrank.data.interop.datasets import read_topics
from steadyrank.data.read.qrels import judgments_of
from steadyrank.errors import InputError


def systems_of(
    given: Sequence[Any] | Mapping[str, Any],
    names: Sequence[str] | None,
    baseline: int | str | None,
) -> tuple[list[Any], list[str], int | None]:
    """Systems, their names, and the place of the baseline."""
    if isinstance(given, Mapping):
        names, systems = [str(name) for name in given], list(given.values())
    elif isinstance(given, (list, tuple)):
        systems = list(given)
    else:
        raise InputError(f"expected a list or a dictionary of systems, got {type(given).__name__}")
    labels = [_name_of(system) for system in systems] if names is None else list(names)
    if not systems or len(labels) != len(systems):
        raise InputError(f"{len(systems)} systems and {len(labels)} names: give one name each")
    if isinstance(baseline, str):
        if baseline not in labels:
            raise InputError(f"baseline {baseline!r}: the systems are {', '.join(labels)}")
        return systems, labels, labels.index(baseline)
    if baseline is not None and not 0 <= baseline < len(systems):
        raise InputError(f"baseline {baseline}: systems have places 0 to {len(systems) - 1}")
    return systems, labels, baseline


def _name_of(system: Any) -> str:
    return f"frame of {len(system)} rows" if isinstance(system, pd.DataFrame) else str(system)


def topics_frame(topics: Any) -> pd.DataFrame:
    """Topics as a frame with ids that are text."""
    if not isinstance(topics, pd.DataFrame):
        texts = topics if isinstance(topics, Mapping) else read_topics(topics)
        topics = pd.DataFrame({"qid": list(texts), "query": list(texts.values())})
    if "qid" not in topics:
        raise InputError(f"topics require a column qid, got {', '.join(map(str, topics.columns))}")
    frame: pd.DataFrame = topics.assign(qid=topics["qid"].astype(str))
    return frame


def qrels_frame(qrels: Any) -> pd.DataFrame:
    """Judgments as a frame with topics' ids that are text."""
    if not isinstance(qrels, pd.DataFrame):
        qrels = judgments_of(qrels).to_frame(columns="pyterrier")
    lacking = [column for column in ("qid", "docno", "label") if column not in qrels]
    if lacking:
        raise InputError(f"qrels require a column {lacking[0]}, got {', '.join(map(str, qrels))}")
    frame: pd.DataFrame = qrels.assign(qid=qrels["qid"].astype(str))
    return frame


def filtered(
    topics: pd.DataFrame, qrels: pd.DataFrame, by_qrels: bool, by_topics: bool
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Topics that were judged, and judgments of these topics."""
    if by_qrels:
        topics = topics[topics["qid"].isin(set(qrels["qid"]))]
    if by_topics:
        qrels = qrels[qrels["qid"].isin(set(topics["qid"]))]
    if len(topics) == 0 or len(qrels) == 0:
        raise InputError("topics and qrels have no qid in common: do their ids match?")
    return topics, qrels


def is_time(metric: Any) -> bool:
    """Whether the mean response time is asked for, which is no measure."""
    return isinstance(metric, str) and metric == "mrt"


def run_systems(
    systems: Iterable[Any], topics: pd.DataFrame, batch_size: int | None
) -> tuple[list[pd.DataFrame], list[float]]:
    """Result frames, and milliseconds per topic."""
    frames, times = [], []
    for number, system in enumerate(systems):
        start = time.perf_counter()
        frame = system if isinstance(system, pd.DataFrame) else _results(system, topics, batch_size)
        spent = 0.0 if frame is system else time.perf_counter() - start
        if len(frame) == 0:
            raise InputError(f"system {number} returned nothing for {len(topics)} topics")
        frames.append(frame)
        times.append(1000.0 * spent / len(topics))
    return frames, times


def _results(system: Any, topics: pd.DataFrame, batch_size: int | None) -> pd.DataFrame:
    run = getattr(system, "transform", system)
    if not callable(run):
        raise InputError(
            f"a system is a frame, a transformer or a function of topics, got {system!r}"
        )
    size = batch_size or len(topics)
    parts: list[pd.DataFrame] = [
        run(topics.iloc[start : start + size]) for start in range(0, len(topics), size)
    ]
    return pd.concat(parts, ignore_index=True) if len(parts) > 1 else parts[0]
