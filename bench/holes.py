"""Bounds of all pairs and completions of the judgments: steadyrank against plain NumPy.

    python -m bench.holes [--runs 129]

129 runs × 50 topics × 1000 documents of a simulated track pooled to depth 100, nDCG@10 and AP: the
whole study with 1,000 completions, and the bounds of all pairs alone. NumPy bounds some of the
pairs as one would write it from the proofs in `measures/holes/bounds.py`, document by document and
pair by pair, every number must agree, and its time is scaled up to all pairs. Times are CPU
seconds, kernels having been compiled; the study's wall-clock seconds are printed as well.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

import steadyrank as sr
from bench._timing import report, taken
from steadyrank.data.read.run_files import judgments_of
from steadyrank.measures.holes.bounds import find_bounds
from steadyrank.measures.holes.lists import (
    HoledMeasure,
    Lists,
    by_document,
    make_rankings,
    parse_holed,
    read_lists,
)
from steadyrank.stats.pairs.result import all_pairs

MEASURES = ("nDCG@10", "AP")
N_SAMPLES = 1000
WITNESSED = 6
"""Number of pairs that NumPy bounds."""


def largest_ratio(
    judged: float,
    differences: np.ndarray,
    n_others: int,
    steps: np.ndarray,
    above: np.ndarray,
    sums: np.ndarray,
) -> float:
    """Return the largest (judged + gained) / normaliser by Dinkelbach's iteration."""
    best_first = np.sort(differences)[::-1]
    gains, losses = best_first[best_first > 0], best_first[best_first <= 0]
    parts = [gains, [0.0] if n_others else [], losses]
    sizes = [np.ones(len(gains)), [n_others] if n_others else [], np.ones(len(losses))]
    worth = np.concatenate([[0.0], np.cumsum(np.concatenate(parts))])
    counts = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(int)
    least = int(above[0] == 0)
    if least and len(worth) == 1:
        return 0.0

    def best_of(rate: float) -> float:
        value = top = bottom = np.zeros(len(worth))
        for g in range(len(steps) - 1, -1, -1):
            running = np.maximum.accumulate(value)
            at = np.maximum.accumulate(np.where(value >= running, np.arange(len(value)), 0))
            n = above[g] + counts
            ideal = steps[g] * (n if not len(sums) else sums[np.minimum(n, len(sums) - 1)])
            value = running + steps[g] * worth - rate * ideal
            top, bottom = top[at] + steps[g] * worth, bottom[at] + ideal
        best = least + int(np.argmax(value[least:]))
        return float((judged + top[best]) / bottom[best])

    rate, better = -np.inf, best_of(0.0)
    while better > rate + 1e-15:
        rate, better = better, best_of(better)
    return max(rate, 0.0) if least else rate


class Witness:
    """Return the measure's arrays per cell, for NumPy."""

    def __init__(self, lists: Lists, measure: HoledMeasure) -> None:
        self.lists, self.measure = lists, measure
        self.is_ap = measure.family == "AP"
        self.steps = np.diff(measure.gains)
        self.steps = self.steps[self.steps > 0]
        self.sums = measure.ideal_sums(10**5)

    def shares(self, run: int, topic: int) -> tuple[dict[int, float], ...]:
        """Return largest and smallest gains of each hole, and sums of judged documents."""
        lists, c = self.lists, run * self.lists.n_topics + topic
        holes = slice(lists.open.blocks[c], lists.open.blocks[c + 1])
        judged = slice(lists.judged.blocks[c], lists.judged.blocks[c + 1])
        ranks, rows = lists.open.ranks[holes], lists.open.rows[holes]
        grades = np.maximum(lists.qrels.grades[lists.judged.rows[judged]], 0)
        at = lists.judged.ranks[judged]
        stay = (grades > 0) & (at <= self.measure.depth)
        grades, at = grades[stay], at[stay]
        if not self.is_ap:
            weights = dict(zip(rows.tolist(), 1.0 / np.log2(ranks + 1.0), strict=True))
            own = float((self.measure.gains[grades] / np.log2(at + 1.0)).sum())
            return weights, weights, {0: own}, {0: own}
        known = (at[None, :] < ranks[:, None]).sum(axis=1)
        most = (known + np.arange(1, len(ranks) + 1)) / ranks
        least = (known + 1) / ranks
        own = np.arange(1, len(at) + 1)
        above = (ranks[None, :] < at[:, None]).sum(axis=1)
        return (
            dict(zip(rows.tolist(), most, strict=True)),
            dict(zip(rows.tolist(), least, strict=True)),
            {0: float(((own + above) / at).sum())},
            {0: float((own / at).sum())},
        )

    def largest(self, a: int, b: int, run_bounds: np.ndarray) -> float:
        """Return the mean over topics of the largest a - b."""
        lists, total = self.lists, 0.0
        for t in range(lists.n_topics):
            most, _, judged_most, _ = self.shares(a, t)
            _, least, _, judged_least = self.shares(b, t)
            documents = sorted(most.keys() | least.keys())
            differences = np.array([most.get(d, 0.0) - least.get(d, 0.0) for d in documents])
            grades = lists.qrels.grades[lists.qrels.blocks[t] : lists.qrels.blocks[t + 1]]
            levels = [1] if self.is_ap else range(1, self.measure.top_grade + 1)
            above = np.array([(grades >= level).sum() for level in levels])
            value = largest_ratio(
                judged_most[0] - judged_least[0],
                differences,
                int(lists.n_holes[t]) - len(documents),
                np.ones(1) if self.is_ap else self.steps,
                above,
                self.sums,
            )
            total += min(value, run_bounds[1, a, t] - run_bounds[0, b, t]) if self.is_ap else value
        return total / lists.n_topics


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=129)
    n_runs = parser.parse_args().runs
    warnings.simplefilter("ignore")
    track = sr.simulated_track(n_teams=n_runs // 3, pooled_per_team=2, rng=1)
    qrels = by_document(judgments_of(track.qrels))
    for name in MEASURES:
        measure = parse_holed(name, qrels.max_grade)
        lists = read_lists(track.runs, qrels, depth=measure.depth)
        rankings, pairs = make_rankings(lists, measure.top_grade), all_pairs(len(lists.runs))
        find_bounds(rankings, measure, pairs[:1])
        ours, bounds = taken(lambda m=measure, r=rankings, p=pairs: find_bounds(r, m, p))
        witness = Witness(lists, measure)
        chosen = np.random.default_rng(0).choice(len(pairs), WITNESSED, replace=False)
        theirs, largest = taken(
            lambda w=witness, b=bounds, p=pairs, c=chosen: [
                w.largest(*p[i], b.of_topics) for i in c
            ]
        )
        np.testing.assert_allclose(largest, bounds.pair_highest[chosen], atol=1e-10)
        scaled = theirs * 2 * len(pairs) / WITNESSED
        report(f"bounds of {len(pairs):,} pairs, {name}", ours, {"NumPy, pair by pair": scaled})
        started = time.perf_counter()
        cpu, result = taken(
            lambda m=name: sr.holes(track.runs, track.qrels, measure=m, n_samples=N_SAMPLES)
        )
        print(
            f"    whole study of {name}, {result.n_samples:,} completions: {cpu:.1f} s CPU, "
            f"{time.perf_counter() - started:.1f} s"
        )


if __name__ == "__main__":
    main()
