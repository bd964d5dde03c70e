"""Write the runs of `steadyrank demo`: python -m steadyrank_lab.make_demo

Eighteen runs and eight instances on the built-in collection, cut to the best 300 documents of each
topic, as `steadyrank.data.track.shipped` reads them. Scores are rounded so that no two become equal
or change places; judgments and topics are separate files.
"""

from __future__ import annotations

import io
import lzma
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from steadyrank.data.run import Run
from steadyrank.data.track.shipped import PACKED, SHIPPED, STEPS
from steadyrank.data.write import write_info
from steadyrank_lab.retrieval.builtin.collection import builtin_collection
from steadyrank_lab.retrieval.builtin.runs import builtin_instances, builtin_runs

DEPTH = 300


def main() -> None:
    """Write the runs, and what is known of runs and topics."""
    collection = builtin_collection()
    runs = (*builtin_runs(depth=DEPTH), *builtin_instances(depth=DEPTH))
    pack_runs(runs, tuple(collection.topics), PACKED)
    columns = dict.fromkeys(name for run in runs for name in run.info)
    info = {name: [run.info.get(name, "") for run in runs] for name in columns}
    write_info(SHIPPED / "run-info.csv", "run", [run.name for run in runs], info)
    write_info(SHIPPED / "topic-info.csv", "topic", collection.topics, collection.topic_info)


def pack_runs(runs: Sequence[Run], topics: Sequence[str], path: Path) -> None:
    """Write runs as `shipped_runs` reads them."""
    listed = [run.documents.to_list() for run in runs]
    names = sorted({name for documents in listed for name in documents})
    place = {name: i for i, name in enumerate(names)}
    sizes = np.zeros((len(runs), len(topics)), np.uint16)
    steps: list[int] = []
    for k, run in enumerate(runs):
        for t, topic in enumerate(run.topics):
            scores = run.scores[run.blocks[t] : run.blocks[t + 1]].tolist()
            sizes[k, topics.index(topic)] = len(scores)
            steps += steps_of(scores)
    kept = io.BytesIO()
    np.savez(
        kept,
        names=np.frombuffer("\n".join(names).encode(), np.uint8),
        topics=np.frombuffer("\n".join(topics).encode(), np.uint8),
        sizes=sizes,
        documents=np.array([place[name] for documents in listed for name in documents], np.uint16),
        steps=np.array(steps, np.int32),
    )
    # The columns hold numbers of two and four bytes: so that their bytes are aligned.
    packing = {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lp": 1}
    path.write_bytes(lzma.compress(kept.getvalue(), filters=[packing]))


def steps_of(scores: Sequence[float]) -> list[int]:
    """Return the first score, then what each is lower by, in steps: at least one where it is lower.

    >>> steps_of([2.0, 1.5, 1.4999, 1.4999, 1.0])
    [2000, -500, -1, 0, -499]
    """
    now = round(scores[0] * STEPS)
    steps = [now]
    for before, score in zip(scores, scores[1:], strict=False):
        lower = 0 if score == before else max(1, now - round(score * STEPS))
        steps.append(-lower)
        now -= lower
    return steps


if __name__ == "__main__":
    main()
