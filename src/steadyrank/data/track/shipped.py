"""The track that comes with steadyrank: runs on docstrings, two judges, and what is known of them.

`python -m steadyrank_lab.make_demo` packs the runs, which the laboratory's engine found in the
built-in collection; nothing is searched when they are read.
"""

from __future__ import annotations

import csv
import io
import lzma
from pathlib import Path

import numpy as np

from steadyrank.data.ids import make_ids
from steadyrank.data.run import Run

SHIPPED = Path(__file__).parent / "demo"
"""The folder of its files: judgments, information about runs and topics, and the packed runs."""

POOL_DEPTH = 10
"""How many documents of each run and topic were judged."""

PACKED = SHIPPED / "runs.npz.xz"
STEPS = 1000
"""Steps of a score per unit."""


def shipped_runs() -> list[Run]:
    """The eighteen runs that were pooled, and eight instances of selective search.

    The file has `names` of documents and `topics`, one per line; `sizes`, how many documents each
    run has for each topic; and for all of these, one after the other, the place of the `documents`
    among the names, and `steps`: the first score of a topic, then by how much each one is lower.
    """
    with np.load(io.BytesIO(lzma.decompress(PACKED.read_bytes())), allow_pickle=False) as packed:
        arrays = {name: packed[name] for name in packed.files}
    names, topics = (arrays[key].tobytes().decode().split("\n") for key in ("names", "topics"))
    sizes, steps = arrays["sizes"].astype(np.int64), arrays["steps"].astype(np.int64)
    steps = np.concatenate([[0], np.cumsum(steps)])
    blocks = np.concatenate([[0], np.cumsum(sizes)])
    scores = (steps[1:] - np.repeat(steps[blocks[:-1]], sizes.ravel())) / STEPS
    documents = make_ids(names).take(arrays["documents"].astype(np.int64))
    with open(SHIPPED / "run-info.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    runs = []
    for k, row in enumerate(rows):
        bounds = blocks[k * len(topics) : (k + 1) * len(topics) + 1]
        start, stop = bounds[0], bounds[-1]
        there = np.flatnonzero(sizes[k])
        runs.append(
            Run(
                name=row.pop("run"),
                topics=tuple(topics[t] for t in there),
                blocks=np.append(bounds[there], stop) - start,
                documents=documents.take(np.arange(start, stop)),
                scores=scores[start:stop],
                info=row,
            )
        )
    return runs
