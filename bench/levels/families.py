"""Any false claim among all pairs where differences are asymmetric: a table of docs/levels.md.

    python -m bench.levels.families [--experiments 400] [--scores NAME=FILE.csv …]

Worlds with a known truth (all means are equal): normal scores; half of the runs normal, the others
exponential; half with rare large gains. And score matrices of your own, runs in rows, made null:
runs are centred, 25 of them and the topics are drawn for each experiment. Counted are experiments
with any claim by max-t with Student's t, with the corrected t, and by Holm's correction; and how
often one given run, which is as good as all others, is left out of the runs that could be first.
Then all runs of each matrix at once, made null, and what is claimed about them as they are.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from steadyrank.stats.pairs.decisions import adjust, own_claims, own_decisions
from steadyrank.stats.pairs.max_t import MaxT, max_t, max_t_pvalues
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.run_means import best_first

ALPHA = 0.05
N_RUNS = 25
SIZES = (5, 6, 10, 25, 50)
SAMPLES = 499
RARE, GAIN = 0.05, 0.5

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""Returns scores [run, topic] with equal means from a stream and a number of topics."""


def normal(stream: np.random.Generator, n_topics: int) -> np.ndarray:
    return stream.normal(size=(N_RUNS, n_topics))


def half_exponential(stream: np.random.Generator, n_topics: int) -> np.ndarray:
    scores = normal(stream, n_topics)
    scores[::2] = stream.standard_exponential(scores[::2].shape) - 1.0
    return scores


def rare_gains(stream: np.random.Generator, n_topics: int) -> np.ndarray:
    """Return runs of which half gain much on one topic in twenty and lose it on the others."""
    scores = stream.normal(0.0, 0.1, (N_RUNS, n_topics))
    gains = stream.random(scores[::2].shape) < RARE
    scores[::2] += GAIN * (gains - RARE)
    return scores


def centred(matrix: np.ndarray) -> Draw:
    """Return runs and topics of a score matrix with equal means."""
    null = matrix - matrix.mean(axis=1, keepdims=True)

    def draw(stream: np.random.Generator, n_topics: int) -> np.ndarray:
        runs = stream.choice(len(null), min(N_RUNS, len(null)), replace=False)
        return null[runs][:, stream.integers(0, null.shape[1], n_topics)]

    return draw


WORLDS: dict[str, Draw] = {
    "normal": normal,
    "half exponential": half_exponential,
    "rare large gains": rare_gains,
}


def experiment(scores: np.ndarray, seed: int) -> list[bool]:
    """Return any claim by flips of Student's t, the corrected t, and Holm; whether the first run is
    left out of those that could be first, by its own comparisons."""
    pairs = all_pairs(len(scores))
    plain, careful = (
        max_t(scores, pairs, n_samples=SAMPLES, seed=seed, jobs=1, careful=care)
        for care in (False, True)
    )
    holm = adjust(paired_t(scores, pairs).pvalue, "holm")
    return [
        bool((plain.pvalue <= ALPHA).any()),
        bool((careful.pvalue <= ALPHA).any()),
        bool((holm <= ALPHA).any()),
        is_left_out(scores, plain),
        is_left_out(scores, careful),
    ]


def is_left_out(scores: np.ndarray, found: MaxT) -> bool:
    """Return whether the first run's own pairs show another to be better."""
    pairs = all_pairs(len(scores))
    with_first = pairs[:, 0] == 0
    behind = scores[0].mean() < scores[pairs[with_first, 1]].mean(axis=1)
    return bool((behind & (found.own[with_first, 0] <= ALPHA)).any())


def rates(draw: Draw, n_topics: int, n_experiments: int, seed: int = 0) -> np.ndarray:
    """Return shares of the experiments, in the order of `experiment`."""
    stream = np.random.default_rng([seed, n_topics])
    found = [experiment(draw(stream, n_topics), k) for k in range(n_experiments)]
    return np.mean(found, axis=0)


def whole_rates(matrix: np.ndarray, n_experiments: int, seed: int = 0) -> np.ndarray:
    """Return any claim about all runs of a matrix with equal means, by both t."""
    stream = np.random.default_rng([seed, matrix.shape[1]])
    null, pairs = matrix - matrix.mean(axis=1, keepdims=True), all_pairs(len(matrix))
    found = []
    for k in range(n_experiments):
        drawn = np.ascontiguousarray(null[:, stream.integers(0, null.shape[1], null.shape[1])])
        found.append(
            [
                bool(
                    (
                        max_t_pvalues(drawn, pairs, careful=care, n_samples=199, seed=k) <= ALPHA
                    ).any()
                )
                for care in (False, True)
            ]
        )
    return np.mean(found, axis=0)


def as_they_are(matrix: np.ndarray) -> str:
    """Return the significant pairs by both t, the firsts, and the leader's ranks."""
    pairs, means = all_pairs(len(matrix)), matrix.mean(axis=1)
    plain, found = (max_t(matrix, pairs, careful=care) for care in (False, True))
    lead = np.sign(means[pairs[:, 0]] - means[pairs[:, 1]])
    claimed = own_claims(lead, pairs, found.own, means, ALPHA)
    own = own_decisions(pairs, claimed, means, best_first(means).tolist())
    low, high = own.rank_set[int(np.argmax(means))]
    shares = [(one.pvalue <= ALPHA).mean() for one in (plain, found)]
    firsts = f"{int(own.could_be_first.sum())} of {len(matrix)}"
    return f"{shares[0]:.1%} | {shares[1]:.1%} | {firsts} | {low}–{high}"


def read(path: str) -> np.ndarray:
    """Return a wide CSV with runs in rows, without topics that some run lacks."""
    import pandas as pd

    matrix = pd.read_csv(path, index_col=0).to_numpy(float)
    return np.asarray(matrix[:, ~np.isnan(matrix).any(axis=0)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experiments", type=int, default=400)
    parser.add_argument("--scores", action="append", default=[], metavar="NAME=FILE")
    options = parser.parse_args()
    named = (given.partition("=") for given in options.scores)
    matrices = {name: read(path) for name, _, path in named}
    worlds = WORLDS | {name: centred(matrix) for name, matrix in matrices.items()}
    print("| scores | topics | maxt with t | maxt | t, holm | best left out, t | best left out |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, draw in worlds.items():
        for n_topics in SIZES:
            cells = [
                f"{rate:.3f}".lstrip("0") for rate in rates(draw, n_topics, options.experiments)
            ]
            print(f"| {name} | {n_topics} | {' | '.join(cells)} |", flush=True)
    print("\n| all runs | any claim, t | any claim | pairs, t | pairs | firsts | leader's ranks |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, matrix in matrices.items():
        any_claim = whole_rates(matrix, options.experiments)
        cells = [f"{rate:.3f}".lstrip("0") for rate in any_claim]
        size, counts = f"{len(matrix)} × {matrix.shape[1]}", " | ".join(cells)
        print(f"| {name} {size} | {counts} | {as_they_are(matrix)} |", flush=True)


if __name__ == "__main__":
    main()
