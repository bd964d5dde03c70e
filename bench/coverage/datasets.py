"""Trials of `datasets`: rank sets of close runs, values, and pairs of runs.

All runs are equal in truth, which is the worst case of near ties: every set must hold all ranks.
Datasets of a type resemble each other where the world says so. Holm's correction of paired t tests
is the weaker witness.
"""

from __future__ import annotations

import numpy as np

from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of
from bench.coverage.close import own_decisions
from steadyrank.stats.datasets import (
    AggregateColumns,
    dataset_units,
    next_dataset,
    next_ranks,
    random_effects,
)
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.decisions import adjust
from steadyrank.stats.pairs.max_t import max_t, unit_max_t
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.run_means import ranks_of

SAMPLES = 499
WITHIN = 0.5
"""Correlation of two datasets of one type, in the world `types`."""

N_TYPES = 7
"""Datasets per type, as in MTEB(eng, v2)."""

TRUE_SPREAD = 0.5
"""Standard deviation of the true differences between datasets of a pair; that of topics is 1."""


def _type_of(n_datasets: int) -> np.ndarray:
    """Types of unequal sizes, 1 : 2 : … : 7, as leaderboards have them."""
    share = np.cumsum(np.arange(1, N_TYPES + 1)) / (N_TYPES * (N_TYPES + 1) / 2)
    return np.searchsorted(share, (np.arange(n_datasets) + 0.5) / n_datasets)


def _noise(world: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Return scores with mean 0 and variance 1 over runs and datasets, unless the world differs."""
    n_runs, n_datasets = shape
    if world == "skewed":
        return np.asarray(rng.exponential(size=shape) - 1.0)
    noise = rng.normal(size=shape)
    if world == "heteroscedastic":
        noise *= np.geomspace(0.25, 4.0, n_datasets) / np.sqrt(
            np.mean(np.geomspace(0.25, 4.0, n_datasets) ** 2)
        )
    if world == "types":
        shared = rng.normal(size=(n_runs, N_TYPES))[:, _type_of(n_datasets)]
        noise = np.sqrt(WITHIN) * shared + np.sqrt(1.0 - WITHIN) * noise
    return np.asarray(noise)


def _nothing_claimed(means: np.ndarray, pairs: np.ndarray, pvalue: np.ndarray) -> tuple:
    """Return whether each set contains all ranks, as an interval around 0."""
    lead = np.sign(means[pairs[:, 0]] - means[pairs[:, 1]])
    claimed = np.where(pvalue <= 0.05, lead, 0.0).astype(int)
    low, high = decisions.rank_sets(decisions.beaten(len(means), pairs, claimed)).T
    width = float((high - low).mean())
    return -width / 2, width / 2, np.inf if claimed.any() else 0.0


def leaderboards(setting: Setting, full: bool) -> Trial:
    world, by_types = setting.world, "resampled" in setting.more
    n_runs, n_datasets = setting.systems, setting.datasets
    pairs, weight = all_pairs(n_runs), np.full(n_datasets, 1.0 / n_datasets)
    groups = [str(kind) for kind in _type_of(n_datasets)] if by_types else []

    def trial(rng: np.random.Generator) -> Ends:
        scores = _noise(world, (n_runs, n_datasets), rng)
        units = dataset_units(AggregateColumns(values=scores, weight=weight), groups)
        flips = {"n_samples": SAMPLES, "seed": seed_of(rng), "jobs": 1}
        if by_types:
            together = unit_max_t(units, pairs, **flips)
        else:
            together = max_t(scores, pairs, **flips)
        low, high = own_decisions(units.value, pairs, together).rank_set[0]
        left_out = np.inf if (low, high) != (1, n_runs) else 0.0
        ends: dict[str, tuple[object, object, object]] = {
            "ranks": _nothing_claimed(units.value, pairs, together.pvalue),
            "own": ((low - high) / 2, (high - low) / 2, left_out),
            "value": (*units.intervals(0.95)[0], 0.0),
        }
        if not by_types and world != "types" and n_datasets >= ENOUGH:
            # One dataset more is the next one.
            more = np.column_stack([scores, _noise(world, (n_runs, 1), rng)])
            low, high = next_ranks(scores).limits[0]
            ends["next_rank"] = (low, high, float(ranks_of(more[:, -1])[0]))
        if not by_types:
            holm = adjust(paired_t(scores, pairs).pvalue, "holm")
            ends["holm"] = _nothing_claimed(units.value, pairs, holm)
        return ends

    return trial


def pairs_of_runs(setting: Setting, full: bool) -> Trial:
    """Return two runs on datasets with different topics, in unequal numbers."""
    n = setting.datasets

    def trial(rng: np.random.Generator) -> Ends:
        true = rng.normal(0.2, TRUE_SPREAD, n)
        sizes = np.geomspace(10, 200, n).astype(int)
        topics = [rng.normal(mean, 1.0, size) for mean, size in zip(true, sizes, strict=True)]
        d = np.array([gap.mean() for gap in topics])
        s = np.array([gap.std(ddof=1) / np.sqrt(len(gap)) for gap in topics])
        found = random_effects(d, s)
        next_true = rng.normal(0.2, TRUE_SPREAD)
        plain = rng.normal(0.2, TRUE_SPREAD, n + 1)
        needed = needed_topics(plain[:n].mean(), plain[:n].var(ddof=1), n)
        sure = needed_topics(0.2, TRUE_SPREAD**2, 10**6)
        return {
            "effect": (*found.interval, 0.2),
            "prediction": (*found.prediction, next_true),
            "next": (*next_dataset(plain[:n]), plain[n]),
            "needed": (needed.low, needed.high, sure.topics),
        }

    return trial


ENOUGH = 39
"""Smallest number of datasets with 95 % limits of the next rank."""

CLAIMS = {
    "next_rank": Claim(
        interval="rank on the next dataset",
        study="datasets",
        truth="the rank of one run on one more dataset drawn alike",
        fields=("datasets runs next_rank",),
    ),
    "ranks": Claim(
        interval="all rank sets at once",
        study="datasets",
        truth="all ranks of runs that are all equal",
        fields=("datasets runs rank_set_simultaneous",),
    ),
    "own": Claim(
        interval="a run's ranks, by its own comparisons",
        study="datasets",
        truth="all ranks of one run, where all runs are equal",
        fields=("datasets runs rank_set",),
    ),
    "holm": Claim(
        interval="all rank sets at once, Holm",
        study="datasets",
        truth="the same, by Holm's correction of paired t tests: no part of the study",
    ),
    "value": Claim(
        interval="value of one run",
        study="datasets",
        truth="the mean of one run over all datasets",
        fields=("datasets runs interval",),
    ),
}

PAIR_CLAIMS = {
    "effect": Claim(
        interval="mean difference, random effects",
        study="datasets",
        truth="the mean of the true differences over all datasets",
        fields=("datasets pair interval", "datasets pair leave_one_out interval"),
    ),
    "prediction": Claim(
        interval="true difference on the next dataset, random effects",
        study="datasets",
        truth="the true difference on one more dataset",
        fields=("datasets pair prediction_interval",),
    ),
    "next": Claim(
        interval="difference on the next dataset, without topics",
        study="datasets",
        truth="the difference observed on one more dataset",
    ),
    "needed": Claim(
        interval="datasets needed",
        study="datasets",
        truth="the number that the true difference and variance require",
        fields=("datasets pair datasets_needed_interval",),
    ),
}

SIZES = (
    (10, 10),
    (10, 15),
    (10, 41),
    (30, 10),
    (30, 15),
    (30, 41),
    (100, 10),
    (100, 15),
    (100, 41),
)

EXPERIMENTS: dict[str, Experiment] = {
    "leaderboards": Experiment(
        prepare=leaderboards,
        settings=(
            *(
                Setting(world=world, systems=systems, datasets=datasets)
                for world in ("normal", "skewed", "heteroscedastic")
                for systems, datasets in SIZES
            ),
            *(
                Setting(world="types", systems=systems, datasets=datasets, more=more)
                for more in ("whole types resampled", "datasets taken for independent")
                for systems, datasets in ((10, 15), (10, 41), (30, 41), (100, 41))
            ),
        ),
        share=0.2,
        claims=CLAIMS,
    ),
    "pairs of a leaderboard": Experiment(
        prepare=pairs_of_runs,
        settings=tuple(Setting(world="normal", datasets=datasets) for datasets in (5, 10, 15, 41)),
        share=0.5,
        claims=PAIR_CLAIMS,
    ),
}
