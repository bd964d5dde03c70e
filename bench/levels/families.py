"""Any false claim among all pairs where differences are asymmetric: a table of docs/levels.md.

    python -m bench.levels.families [--experiments 400] [--scores NAME=FILE.csv …]

Worlds with a known truth (all means are equal): normal scores; half of the runs normal, the others
exponential; half with rare large gains. And score matrices of your own, runs in rows, made null:
runs are centred, 25 of them and the topics are drawn for each experiment. Counted are experiments
with any claim by max-t with t itself, with the corrected t, and by Holm's correction; and how
often one given run, which is as good as all others, is left out of the runs that could be first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import MaxT, max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t

ALPHA = 0.05
N_RUNS = 25
SIZES = (10, 25, 50)
SAMPLES = 499
RARE, GAIN = 0.05, 0.5

Draw = Callable[[np.random.Generator, int], np.ndarray]
"""(stream, topics) to scores [run, topic] whose means are equal."""


def normal(stream: np.random.Generator, n_topics: int) -> np.ndarray:
    return stream.normal(size=(N_RUNS, n_topics))


def half_exponential(stream: np.random.Generator, n_topics: int) -> np.ndarray:
    scores = normal(stream, n_topics)
    scores[::2] = stream.standard_exponential(scores[::2].shape) - 1.0
    return scores


def rare_gains(stream: np.random.Generator, n_topics: int) -> np.ndarray:
    """Half of the runs gain much on one topic in twenty, and lose that on the others."""
    scores = stream.normal(0.0, 0.1, (N_RUNS, n_topics))
    gains = stream.random(scores[::2].shape) < RARE
    scores[::2] += GAIN * (gains - RARE)
    return scores


def centred(matrix: np.ndarray) -> Draw:
    """Runs and topics of a score matrix, its runs given equal means."""
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
    """Any claim by t, by the corrected t, by Holm; and whether the first run is left out."""
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
        is_left_out(plain, scores, pairs),
        is_left_out(careful, scores, pairs),
    ]


def is_left_out(together: MaxT, scores: np.ndarray, pairs: np.ndarray) -> bool:
    """Whether the first run's own comparisons say that another is better."""
    own = pairs[:, 0] == 0
    means = scores.mean(axis=1)
    return bool((own & (together.own[:, 0] <= ALPHA) & (means[pairs[:, 1]] > means[0])).any())


def rates(draw: Draw, n_topics: int, n_experiments: int, seed: int = 0) -> np.ndarray:
    """Shares of the experiments, in the order of `experiment`."""
    stream = np.random.default_rng([seed, n_topics])
    found = [experiment(draw(stream, n_topics), k) for k in range(n_experiments)]
    return np.mean(found, axis=0)


def read(path: str) -> np.ndarray:
    """A wide CSV with the runs in rows; topics that some run lacks are left out."""
    import pandas as pd

    matrix = pd.read_csv(path, index_col=0).to_numpy(float)
    return np.asarray(matrix[:, ~np.isnan(matrix).any(axis=0)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experiments", type=int, default=400)
    parser.add_argument("--scores", action="append", default=[], metavar="NAME=FILE")
    options = parser.parse_args()
    worlds = dict(WORLDS)
    for given in options.scores:
        name, _, path = given.partition("=")
        worlds[name] = centred(read(path))
    print("| scores | topics | maxt with t | maxt | t, holm | best left out, t | best left out |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, draw in worlds.items():
        for n_topics in SIZES:
            cells = [
                f"{rate:.3f}".lstrip("0") for rate in rates(draw, n_topics, options.experiments)
            ]
            print(f"| {name} | {n_topics} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
