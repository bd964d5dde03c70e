"""Drift over a year of nightly gates: how often and after how many nights it is found.

    python -m bench.nights [--trials 200]

Each night's candidate is compared with the first baseline, at the level that the history spends on
that night. Scores of a topic wander from night to night (standard deviation .1, correlation .98);
the truth falls by a tenth of the loss every week, until it is twice the margin of .01 in week ten.
Monte Carlo errors of shares are at most .035 with 200 trials.
"""

from __future__ import annotations

import argparse

import numpy as np

from bench.levels.gates import NIGHTS, nights
from steadyrank.stats.pairs.topic_design import mean_difference
from steadyrank.studies.gate.history import spent_level

MARGIN, N_STEPS, EVERY, ALPHA = 0.01, 10, 7, 0.05
SIZES = (100, 300, 1000, 3000)


def truth(loss: float) -> np.ndarray:
    """Return the true difference from the first baseline after each night."""
    steps = np.minimum(np.arange(NIGHTS) // EVERY + 1, N_STEPS)
    return -loss * steps / N_STEPS


def first_alarm(d: np.ndarray, margin: float = MARGIN, alpha: float = ALPHA) -> int | None:
    """Return the first night of differences [night, topic] with an alarm."""
    means = d.mean(axis=1)
    for night in np.flatnonzero(means < -margin).tolist():
        if mean_difference(d[night]).interval(spent_level(alpha, night + 1)).high < 0.0:
            return night + 1
    return None


def alarms(n_topics: int, loss: float, n_trials: int, seed: int = 0) -> list[int | None]:
    """Return the first alarm of each year."""
    stream = np.random.default_rng([seed, n_topics])
    found = []
    for _ in range(n_trials):
        year = nights(stream, 1, n_topics, kind="normal")[0] + truth(loss)[:, None]
        found.append(first_alarm(year))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=200)
    n_trials = parser.parse_args().trials
    print(
        "| topics | no change: years with an alarm | loss .02: found | median night | 9 of 10 by |"
    )
    print("|---:|---:|---:|---:|---:|")
    for n_topics in SIZES:
        still = sum(night is not None for night in alarms(n_topics, 0.0, n_trials))
        found = alarms(n_topics, 2 * MARGIN, n_trials)
        ordered = sorted(night if night is not None else NIGHTS + 1 for night in found)
        by = [ordered[int(share * n_trials)] for share in (0.5, 0.9)]
        cells = ["never" if night > NIGHTS else str(night) for night in by]
        share = sum(night is not None for night in found) / n_trials
        print(f"| {n_topics:,} | {still / n_trials:.3f} | {share:.2f} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
