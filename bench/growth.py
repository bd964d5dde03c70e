"""How cost grows with each dimension: exponents fitted at four sizes, for docs/scale.md.

    pip install -e . && python -m bench.growth [--only simulate] [--turns 5]

Each study runs in this process on one thread at four sizes of one dimension, each twice the last,
the others held. Cost is processor seconds, the least of some turns, after a turn that compiles. The
exponent is the slope of log seconds on log size: 1 is linear, 2 quadratic, and below 1 something
fixed still counts. The local slope between the two largest sizes says where it is heading.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import steadyrank as sr
from bench._inputs import made_scores
from bench._timing import seconds

Work = Callable[[], object]
MEASURES = tuple(f"M{place}" for place in range(16))


@cache
def track(runs: int, topics: int, depth: int) -> sr.SimulatedTrack:
    return sr.simulated_track(
        n_teams=runs // 2, runs_per_team=2, n_topics=topics, depth=depth, pool_depth=depth // 10
    )


@cache
def scores_of(runs: int, topics: int, measures: int = 1) -> sr.Scores:
    return made_scores(runs, topics, MEASURES[:measures])


def evaluating(*, runs: int, topics: int, documents: int) -> Work:
    made = track(runs, topics, documents)
    return lambda: sr.evaluate(made.runs, made.qrels, ("AP", "nDCG@10", "P@10"), jobs=1)


def simulating(*, runs: int, topics: int, documents: int, collections: int) -> Work:
    made = track(runs, topics, documents)
    return lambda: sr.simulate(
        made.runs, made.qrels, documents="independent", n_samples=collections, jobs=1
    )


def pooling(*, runs: int, topics: int, documents: int) -> Work:
    made = track(runs, topics, documents)
    return lambda: sr.pools(
        made.runs, made.qrels, pool_depth=documents // 10, ks=(1, 2, 4), n_trials=10, jobs=1
    )


def comparing(*, runs: int, topics: int, samples: int = 0) -> Work:
    scores = scores_of(runs, topics)
    if not samples:
        return lambda: sr.compare(scores, jobs=1)
    return lambda: sr.compare(scores, test="randomized-tukey", n_samples=samples, jobs=1)


def splitting(*, runs: int, topics: int, splits: int) -> Work:
    scores = scores_of(runs, topics)
    sizes = (5, 10, topics // 2)
    return lambda: sr.topics(scores, sizes=sizes, n_trials=splits, jobs=1)


def agreeing(*, systems: int, topics: int, measures: int, samples: int) -> Work:
    scores = scores_of(systems, topics, measures)
    sizes: dict[str, Any] = {"topic_sizes": (topics // 2, topics), "system_sizes": (systems // 2,)}
    return lambda: sr.agree(scores, n_samples=samples, n_interval_samples=0, jobs=1, **sizes)


def analysing(*, systems: int, topics: int) -> Work:
    scores = scores_of(systems, topics)
    places = range(systems)
    grid = sr.Scores(
        values=scores.values,
        runs=scores.runs,
        topics=scores.topics,
        measures=scores.measures,
        run_info={
            "stop": [f"s{place % 4}" for place in places],
            "stem": [f"t{place // 4 % 10}" for place in places],
            "model": [f"m{place // 40}" for place in places],
        },
    )
    return lambda: sr.components(grid, factors=("stop", "stem", "model"))


def generalizing(*, runs: int, topics: int) -> Work:
    scores = scores_of(runs, topics)
    return lambda: sr.stability(scores)


def instancing(*, instances: int, topics: int) -> Work:
    made = made_scores(2 * instances, topics)
    scores = sr.Scores(
        values=made.values,
        runs=made.runs,
        topics=made.topics,
        measures=made.measures,
        run_info={"system": ["A"] * instances + ["B"] * instances},
    )
    return lambda: sr.instances(scores, a="A", b="B", jobs=1)


STUDIES: dict[str, tuple[Callable[..., Work], dict[str, int]]] = {
    "evaluate": (evaluating, {"runs": 16, "topics": 50, "documents": 250}),
    "simulate": (simulating, {"runs": 8, "topics": 50, "documents": 250, "collections": 2000}),
    "pools": (pooling, {"runs": 16, "topics": 25, "documents": 250}),
    "compare": (comparing, {"runs": 50, "topics": 500}),
    "compare, randomized Tukey": (comparing, {"runs": 20, "topics": 100, "samples": 2000}),
    "topics": (splitting, {"runs": 20, "topics": 50, "splits": 500}),
    "stability": (generalizing, {"runs": 100, "topics": 500}),
    "agree": (agreeing, {"systems": 200, "topics": 50, "measures": 2, "samples": 100}),
    "components": (analysing, {"systems": 400, "topics": 50}),
    "instances": (instancing, {"instances": 10, "topics": 50}),
}
"""Return each study with the smallest of its four sizes."""


def exponent(sizes: np.ndarray, costs: np.ndarray) -> tuple[float, float]:
    """Return the slope of log cost on log size, and its standard error."""
    x, y = np.log(sizes), np.log(costs)
    slope, intercept = np.polyfit(x, y, 1)
    rest = y - slope * x - intercept
    error = np.sqrt(np.square(rest).sum() / (len(x) - 2) / np.square(x - x.mean()).sum())
    return float(slope), float(error)


def grow(name: str, dimension: str, turns: int) -> None:
    make, base = STUDIES[name]
    sizes = base[dimension] * np.array([1, 2, 4, 8])
    costs = []
    for size in sizes.tolist():
        work = make(**{**base, dimension: size})
        work()
        costs.append(seconds(work, turns, of=np.min))
    slope, error = exponent(sizes, np.array(costs))
    last = np.log2(costs[-1] / costs[-2])
    held = ", ".join(f"{size:,} {what}" for what, size in base.items() if what != dimension)
    print(
        f"| `{name}` | {dimension} | {sizes[0]:,} to {sizes[-1]:,} | {held} "
        f"| {costs[0]:.2g} to {costs[-1]:.2g} s | {slope:.2f} ± {error:.2f} | {last:.2f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="studies whose names begin with this")
    parser.add_argument("--turns", type=int, default=5)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| study | dimension | sizes | held | cost | exponent | at the end |")
    print("|---|---|---:|---|---:|---:|---:|")
    for name in STUDIES:
        if name.startswith(given.only):
            for dimension in STUDIES[name][1]:
                grow(name, dimension, given.turns)


if __name__ == "__main__":
    main()
