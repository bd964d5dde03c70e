"""Time to read a run in each form, relative to TREC text.

    python -m bench.forms [--topics 200] [--depth 1000]

CSV and JSON lines may take 15 times as long, nested JSON 20 times.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np

import steadyrank as sr
from bench._timing import seconds

LARGEST = {"CSV": 15.0, "JSON lines": 15.0, "nested JSON": 20.0}
"""Largest time relative to TREC text."""


def texts(n_topics: int, depth: int) -> dict[str, str]:
    """Write a run with random scores in every form."""
    rng = np.random.default_rng(0)
    rows = [
        (str(300 + topic), f"doc-{rng.integers(10**6):06d}-{k:04d}", round(float(score), 4))
        for topic in range(n_topics)
        for k, score in enumerate(np.sort(rng.random(depth))[::-1])
    ]
    nested: dict[str, dict[str, float]] = {}
    for topic, document, score in rows:
        nested.setdefault(topic, {})[document] = score
    named = ({"qid": t, "docno": d, "score": s, "run": "bm25"} for t, d, s in rows)
    return {
        "TREC text": "".join(f"{t} Q0 {d} 1 {s} bm25\n" for t, d, s in rows),
        "three columns": "".join(f"{t}\t{d}\t{s}\n" for t, d, s in rows),
        "CSV": "qid,docno,score,run\n" + "".join(f"{t},{d},{s},bm25\n" for t, d, s in rows),
        "JSON lines": "".join(json.dumps(row) + "\n" for row in named),
        "nested JSON": json.dumps(nested),
    }


def measure(n_topics: int = 200, depth: int = 1000, repeat: int = 5) -> dict[str, float]:
    """Return CPU seconds of each form: the fastest of some turns."""
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        made = texts(n_topics, depth)
        for _ in range(repeat):
            for form, text in made.items():
                path.write_text(text)
                taken.setdefault(form, []).append(seconds(lambda: sr.read_run(path), 1))
    return {form: min(times) for form, times in taken.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--depth", type=int, default=1000)
    given = parser.parse_args()
    taken = measure(given.topics, given.depth)
    for form, own in taken.items():
        limit = f"  (at most {LARGEST[form]:g})" if form in LARGEST else ""
        print(f"{form:16} {own:8.3f} s  {own / taken['TREC text']:6.1f} x{limit}")


if __name__ == "__main__":
    main()
