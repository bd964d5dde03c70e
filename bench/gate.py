"""A gate on thousands of queries: seconds from files to the verdict, and of reading alone.

    python -m bench.gate

10,000 topics, a baseline and four candidates of 100 documents per topic each (a million lines per
run), 20 judged documents per topic: nDCG@10 and AP with bounds over unjudged documents, topics
in 4,000 clusters and eight segments. CPU seconds, medians of three; the peer is `evaluate` of the
same two files, without which no gate can do.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np

import steadyrank as sr
from bench._timing import seconds, taken

N_TOPICS, N_RUNS, DEPTH, N_JUDGED = 10_000, 5, 100, 20
MARGINS = {"nDCG@10": 0.01, "AP": 0.01}


def write_files(folder: Path) -> None:
    """Write judgments, runs and topic information."""
    rng = np.random.default_rng(0)
    topics = [f"s{t // 3}_{t}" for t in range(N_TOPICS)]
    grades = rng.integers(0, 3, (N_TOPICS, N_JUDGED))
    with open(folder / "qrels.txt", "w") as file:
        for topic, row in zip(topics, grades, strict=True):
            file.writelines(f"{topic} 0 d{d} {grade}\n" for d, grade in enumerate(row))
    for run in range(N_RUNS):
        with open(folder / f"run{run}.txt", "w") as file:
            for topic, row in zip(topics, grades, strict=True):
                noise = rng.normal(0, 1.5, DEPTH)
                noise[:N_JUDGED] += row
                order = np.argsort(-noise)
                file.writelines(
                    f"{topic} Q0 d{d} {rank} {DEPTH - rank} run{run}\n"
                    for rank, d in enumerate(order)
                )
    rows = [f"{topic},s{t * 4 // 10},k{t % 8}\n" for t, topic in enumerate(topics)]
    (folder / "topics.csv").write_text("topic,cluster,kind\n" + "".join(rows))


def main() -> None:
    warnings.simplefilter("ignore", sr.SteadyrankWarning)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        qrels, baseline = folder / "qrels.txt", folder / "run0.txt"
        options = {"measures": MARGINS, "topic_info": folder / "topics.csv", "by": "kind"}
        taken(lambda: sr.gate(baseline, folder / "run1.txt", qrels, **options))  # compiles
        for run in range(1, N_RUNS):
            candidate = folder / f"run{run}.txt"
            ours = seconds(lambda path=candidate: sr.gate(baseline, path, qrels, **options))
            both = [str(baseline), str(candidate)]
            alone = seconds(lambda paths=both: sr.evaluate(paths, qrels, list(MARGINS)))
            print(f"run{run}: gate {ours:.2f} s, evaluate alone {alone:.2f} s", flush=True)


if __name__ == "__main__":
    main()
