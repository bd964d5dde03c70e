"""Whole studies on mutated inputs: judges, holes, leaderboards, weights of topics.

Whatever a reader accepts, a study must compute with, or refuse in one line: its text as JSON has
neither NaN nor a traceback behind it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import steadyrank as sr
from fuzz.line_targets import MORSELS
from fuzz.mutants import Target
from fuzz.reader_targets import CSV
from fuzz.table_targets import BOARD, BY_TOPIC, TURNED, TYPES, WIDE_BOARD
from steadyrank.data.read.run_info import describe_topics
from steadyrank.studies.compare.view import compare_text
from steadyrank.studies.datasets.view import VIEW as DATASETS
from steadyrank.studies.holes.view import VIEW as HOLES
from steadyrank.studies.judges.view import VIEW as JUDGES

TOPICS = tuple(str(topic) for topic in range(301, 309))
PEOPLE = "".join(f"{t} 0 d{d} {(int(t) + d) % 3}\n" for t in TOPICS[:6] for d in range(6)).encode()
JUDGE = "".join(f"{t} 0 d{d} {(int(t) * d) % 3}\n" for t in TOPICS for d in range(6)).encode()
MORE = "".join(f"{t} 0 d{d} {d % 2}\n" for t in TOPICS[:6] for d in (6, 7)).encode()
INFO = b"topic,cluster,weight\n" + b"".join(
    b"%s,%s,%d\n" % (t.encode(), b"ab"[i % 2 :][:1], i + 1) for i, t in enumerate(TOPICS)
)


@cache
def runs() -> list[Any]:
    rng = np.random.default_rng(7)
    return [
        sr.run_from_dict(
            {t: {f"d{d}": float(rng.random()) for d in range(8)} for t in TOPICS}, name=f"run{r}"
        )
        for r in range(3)
    ]


@cache
def scores() -> sr.Scores:
    values = np.random.default_rng(3).random((1, 3, len(TOPICS)))
    return sr.Scores(measures=["AP"], runs=["a", "b", "c"], topics=TOPICS, values=values)


def never(constant: str) -> None:
    raise AssertionError(f"{constant} in JSON")


def check_text(text: str) -> None:
    json.loads(text, parse_constant=never)


def people() -> Any:
    judged = {t: {f"d{d}": (int(t) + d) % 3 for d in range(6)} for t in TOPICS[:6]}
    return sr.qrels_from_dict(judged)


def check_judge(path: Path) -> None:
    result = sr.judges(runs(), people(), {"j": path}, measure="nDCG@5", n_samples=20, jobs=1, rng=1)
    check_text(JUDGES.text(result, "json"))


def check_holes(path: Path) -> None:
    result = sr.holes(runs(), path, measure="nDCG@5", n_samples=10, ask=3, jobs=1, rng=1)
    check_text(HOLES.text(result, "json"))


def check_more(path: Path) -> None:
    result = sr.holes(
        runs(), people(), more=path, measure="nDCG@5", n_samples=10, ask=3, jobs=1, rng=1
    )
    check_text(HOLES.text(result, "json"))


def check_datasets(path: Path) -> None:
    result = sr.datasets(path, gaps="pairwise", n_samples=20, jobs=1, rng=1)
    check_text(DATASETS.text(result, "json"))


def check_types(path: Path) -> None:
    board = {"a": [0.5, 0.25, 0.125], "b": [0.5, 0.75, 0.25], "c": [0.1, 0.2, 0.3]}
    table = sr.Leaderboard(runs=("x", "y", "z"), datasets=tuple(board), values=[*board.values()])
    result = sr.datasets(table, types=path, aggregate="mean-of-types", n_samples=20, jobs=1, rng=1)
    check_text(DATASETS.text(result, "json"))


def check_weights(path: Path) -> None:
    weighted = describe_topics(scores(), topic_info=path)
    check_text(compare_text(sr.compare(weighted, n_samples=20, jobs=1, rng=1), "json"))


LINES = {"morsels": (*MORSELS, b"0", b"1", b"2"), "separators": b"\n ", "share": 0.05}
CELLS = {**CSV, "share": 0.05}

TARGETS = {
    target.name: target
    for target in (
        Target(name="study-judges", seeds=(JUDGE,), check=check_judge, **LINES),
        Target(name="study-holes", seeds=(PEOPLE, JUDGE), check=check_holes, **LINES),
        Target(name="study-holes-more", seeds=(MORE,), check=check_more, **LINES),
        Target(
            name="study-datasets",
            seeds=(BOARD, BY_TOPIC, WIDE_BOARD, TURNED),
            check=check_datasets,
            **CELLS,
        ),
        Target(name="study-types", seeds=(TYPES,), check=check_types, **CELLS),
        Target(name="study-weights", seeds=(INFO,), check=check_weights, **CELLS),
    )
}
