"""Trials of `compare`'s simultaneous statements about close and distant runs.

Neighbours in the true order differ by this number of standard errors of a difference: 0 is a tie of
all runs, 2 a leaderboard in which a single test separates neighbours about half the time.
"""

from __future__ import annotations

import numpy as np

from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of
from bench.coverage.worlds import flat_bank
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import OwnDecisions
from steadyrank.stats.pairs.max_t import MaxT, max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.run_means import best_first, intervals_as_picked

GAPS = (0.0, 0.1, 0.5, 2.0)
SAMPLES = 499


def own_decisions(means: np.ndarray, pairs: np.ndarray, together: MaxT) -> OwnDecisions:
    """Return the decisions of each run's own comparisons."""
    lead = np.sign(means[pairs[:, 0]] - means[pairs[:, 1]])
    claimed = decisions.own_claims(lead, pairs, together.own, means, 0.05)
    return decisions.own_decisions(pairs, claimed, means, best_first(means).tolist())


def _held(width: float, right: bool) -> tuple[float, float, float]:
    """Return a simultaneous statement as an interval of this width around 0."""
    return -width / 2, width / 2, 0.0 if right else np.inf


def said_of_all(scores: np.ndarray, true: np.ndarray, seed: int) -> Ends:
    """Return whether rank sets, all differences and candidates for first are correct."""
    pairs = all_pairs(len(scores))
    together = max_t(scores, pairs, n_samples=SAMPLES, seed=seed, jobs=1)
    tests = paired_t(scores, pairs)
    means = scores.mean(axis=1)
    claimed = decisions.claims(tests, pairs, together.pvalue, means, 0.05)
    low, high = decisions.rank_sets(decisions.beaten(len(scores), pairs, claimed)).T
    own = own_decisions(means, pairs, together).rank_set
    best = 1 + (true > true[:, None]).sum(axis=1)
    worst = len(true) - (true < true[:, None]).sum(axis=1)
    limits = tests.difference[:, None] + together.width * [-1.0, 1.0]
    below, above = decisions.agreeing_intervals(limits, claimed, np.inf).T
    truth = true[pairs[:, 0]] - true[pairs[:, 1]]
    leader, some = int(means.argmax()), seed % len(true)
    could = own[:, 0] == 1
    return {
        "ranks": _held(float((high - low).mean()), bool(((low <= best) & (worst <= high)).all())),
        "own": _held(
            float((own[:, 1] - own[:, 0]).mean()),
            bool(own[some, 0] <= best[some] and worst[some] <= own[some, 1]),
        ),
        "first": _held(float(could.sum()), bool(could[true.argmax()])),
        "differences": _held(
            float(np.nanmedian(above - below)), not ((truth < below) | (above < truth)).any()
        ),
        "leader": (*intervals_as_picked(scores, 0.95)[leader], true[leader]),
    }


def close_runs(setting: Setting, full: bool) -> Trial:
    gap = float(setting.more.split()[0])
    true = np.arange(setting.systems)[::-1] * gap * np.sqrt(2.0 / setting.topics)

    def trial(rng: np.random.Generator) -> Ends:
        scores = true[:, None] + rng.normal(size=(setting.systems, setting.topics))
        return said_of_all(scores, true, seed_of(rng))

    return trial


def runs_of_a_track(setting: Setting, full: bool) -> Trial:
    bank = flat_bank(setting.world, full)[0]

    def trial(rng: np.random.Generator) -> Ends:
        runs = rng.choice(len(bank), setting.systems, replace=False)
        topics = rng.integers(bank.shape[1], size=setting.topics)
        return said_of_all(bank[runs][:, topics], bank[runs].mean(axis=1), seed_of(rng))

    return trial


CLAIMS = {
    "ranks": Claim(
        interval="all rank sets at once",
        study="compare",
        truth="every run's true rank, all ranks of runs that are equal",
        fields=(
            "compare runs rank_set_simultaneous",
            "compare measures runs rank_set_simultaneous",
        ),
    ),
    "own": Claim(
        interval="a run's ranks, by its own comparisons",
        study="compare",
        truth="the true rank of a run that nobody picked, all of its ranks if runs are equal",
        fields=("compare runs rank_set", "compare measures runs rank_set"),
    ),
    "first": Claim(
        interval="runs that could be first",
        study="compare",
        truth="the best run, or a given one of those that share the first place; width: how many",
    ),
    "differences": Claim(
        interval="all differences at once, max-t",
        study="compare",
        truth="the true differences of all pairs",
        fields=("compare pairs interval", "compare measures pairs interval"),
    ),
    "leader": Claim(
        interval="the leader's mean, as picked",
        study="compare",
        truth="the true mean of the run with the best mean",
        fields=("compare runs interval", "compare measures runs interval"),
    ),
}

EXPERIMENTS: dict[str, Experiment] = {
    "close runs": Experiment(
        prepare=close_runs,
        settings=tuple(
            Setting(world="normal", systems=systems, topics=topics, more=f"{gap:g} s.e. apart")
            for gap in GAPS
            for systems in (10, 30, 100)
            for topics in (10, 25, 50, 250)
        ),
        share=0.2,
        claims=CLAIMS,
    ),
    "all runs of a track": Experiment(
        prepare=runs_of_a_track,
        settings=tuple(
            Setting(world="track", systems=systems, topics=topics)
            for systems, topics in ((5, 25), (20, 10), (20, 25), (20, 50))
        ),
        share=0.5,
        claims=CLAIMS,
    ),
}
