"""Trials of `judges`: judges with known errors on a simulated track, people on some topics.

A judge draws its grade of each document from a row of a confusion matrix, whoever retrieved it; a
partial one also raises, now and then, what half of the runs have among their first ten. The scores
of both, topic by topic, and the counts of their grades are the population that trials draw from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

import steadyrank as sr
from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of
from steadyrank.stats.judges.agreement import (
    COEFFICIENTS,
    agreement_over_topics,
    bias_of_runs,
    confusion_counts,
    favours_kin,
    kappa_of_counts,
    worth_of,
)
from steadyrank.stats.judges.corrected import (
    CorrectedParts,
    JudgedScores,
    RunRanking,
    Weight,
    corrected_parts,
    difference_uncertainty,
    mean_uncertainty,
    rank_runs,
    shared_weight,
)
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.ranks.correlation import bootstrap_tau_interval, pairwise_tau_and_tau_ap

MEASURE = "nDCG@10"
SAMPLES = 299
N_RUNS = 20
RAISED = 0.25
"""Probability that a partial judge raises a favoured document by one grade."""

CONFUSION = np.array([[0.80, 0.14, 0.06], [0.25, 0.50, 0.25], [0.05, 0.30, 0.65]])
"""Probabilities [people's grade, judge's grade]."""


@dataclass(frozen=True, eq=False)
class Population:
    """Scores [run, topic] by people and by a judge, and counts of their grades per topic."""

    human: np.ndarray
    judge: np.ndarray
    counts: np.ndarray


@cache
def population(kind: str, full: bool) -> Population:
    """Return the runs judged by an "even" judge, or one "partial" to their first half."""
    n_topics = 600 if full else 150
    track = sr.simulated_track(
        n_teams=N_RUNS, runs_per_team=1, n_topics=n_topics, depth=50, pool_depth=50, rng=20
    )
    rng = np.random.default_rng(31)
    people: dict[str, dict[str, int]] = {}
    judged: dict[str, dict[str, int]] = {}
    counts = []
    # Runs are as deep as the pool: all that they retrieved is judged, relevant or not.
    for topic in track.qrels.topics:
        grades = track.qrels.judgments(topic)
        documents, mine = list(grades), np.minimum([*grades.values()], len(CONFUSION) - 1)
        theirs = (rng.random(len(mine))[:, None] > CONFUSION[mine].cumsum(axis=1)).sum(axis=1)
        theirs = np.minimum(theirs, len(CONFUSION) - 1)
        if kind == "partial":
            liked = _liked(track.runs[: N_RUNS // 2], topic)
            raised = np.isin(documents, liked) & (rng.random(len(mine)) < RAISED)
            theirs = np.minimum(theirs + raised, len(CONFUSION) - 1)
        people[topic] = dict(zip(documents, mine.tolist(), strict=True))
        judged[topic] = dict(zip(documents, theirs.tolist(), strict=True))
        counts.append(confusion_counts(mine, theirs, np.arange(len(CONFUSION))))
    scored = [
        sr.evaluate(track.runs, sr.qrels_from_dict(by), MEASURE).values[0]
        for by in (people, judged)
    ]
    return Population(scored[0], scored[1], np.stack(counts))


def _liked(runs: tuple[sr.Run, ...], topic: str) -> list[str]:
    ranked = (list(dict(run.ranking(topic)))[:10] for run in runs if topic in run.topics)
    return list({document for documents in ranked for document in documents})


def _drawn(
    world: Population, setting: Setting, rng: np.random.Generator
) -> tuple[JudgedScores, np.ndarray]:
    """Return topics drawn with replacement, people's first, and their indices."""
    n, n_more = setting.topics, int(setting.more.split()[0])
    topics = rng.integers(world.human.shape[1], size=n + n_more)
    scores = JudgedScores(
        human=world.human[:, topics[:n]],
        judge=world.judge[:, topics[:n]],
        more=world.judge[:, topics[n:]],
    )
    return scores, topics[:n]


def _plain(scores: np.ndarray) -> CorrectedParts:
    return CorrectedParts(
        residual=scores, followed=scores[:, :0], weight=Weight(value=0.0, is_estimated=False)
    )


def one_at_a_time(setting: Setting, full: bool) -> Trial:
    world = population(setting.world, full)
    pairs = all_pairs(N_RUNS)
    true = world.human.mean(axis=1)
    bias = world.judge.mean(axis=1) - true
    correlation = worth_of(world.human, world.judge).correlation
    kin, others = np.arange(N_RUNS // 2), np.arange(N_RUNS // 2, N_RUNS)

    def trial(rng: np.random.Generator) -> Ends:
        scores, topics = _drawn(world, setting, rng)
        run, pair = rng.integers(N_RUNS), rng.integers(len(pairs))
        ends: dict[str, tuple[object, object, object]] = {}
        for name, parts in (
            ("corrected", corrected_parts(scores, shared_weight(scores))),
            ("people", _plain(scores.human)),
            ("alone", _plain(scores.everything)),
        ):
            mean, (a, b) = parts.mean, pairs[pair]
            half = mean_uncertainty(parts).half_width(0.95)[run]
            ends[f"mean {name}"] = (mean[run] - half, mean[run] + half, true[run])
            half = difference_uncertainty(parts, pairs[[pair]]).half_width(0.95)[0]
            gap = mean[a] - mean[b]
            ends[f"difference {name}"] = (gap - half, gap + half, true[a] - true[b])
        off = bias_of_runs(scores.human, scores.judge)
        ends["bias"] = (*off.interval[run], bias[run])
        worth = worth_of(scores.human, scores.judge)
        ends["correlation"] = (*worth.interval, correlation)
        test = favours_kin(scores.human, scores.judge, kin, others)
        ends["kin"] = (*test.interval, bias[kin].mean() - bias[others].mean())
        counts = world.counts[topics]
        for name, coefficient in COEFFICIENTS.items():
            truth = float(coefficient(world.counts.sum(axis=0)))
            ends[name] = (*agreement_over_topics(counts, coefficient).interval, truth)
        relevant = agreement_over_topics(_relevant(counts), kappa_of_counts)
        truth = float(kappa_of_counts(_relevant(world.counts).sum(axis=0)))
        ends["kappa_relevant"] = (*relevant.interval, truth)
        return ends

    return trial


def _relevant(counts: np.ndarray) -> np.ndarray:
    """Return counts [topic, 2, 2] of relevant or not, from counts of grades."""
    halves = [counts[:, :1], counts[:, 1:]]
    cells = [[half[:, :, :1], half[:, :, 1:]] for half in halves]
    return np.stack(
        [np.stack([cell.sum(axis=(1, 2)) for cell in row], axis=1) for row in cells], axis=1
    )


def at_once(setting: Setting, full: bool) -> Trial:
    world = population(setting.world, full)
    true = world.human.mean(axis=1)
    pairs = all_pairs(N_RUNS)
    best = 1 + (true > true[:, None]).sum(axis=1)
    worst = N_RUNS - (true < true[:, None]).sum(axis=1)
    gaps = true[pairs[:, 0]] - true[pairs[:, 1]]

    def held(ranking: RunRanking, name: str, run: int) -> Ends:
        low, high = ranking.rank_set.T
        below, above = ranking.interval.T
        right = low[run] <= best[run] and worst[run] <= high[run]
        inside = ((below <= gaps) & (gaps <= above)).all()
        ends = {f"ranks {name}": _statement(float((high - low).mean()), bool(right))}
        # Five topics have too few sign patterns for any limit.
        if np.isfinite(ranking.interval).all():
            width = float(np.median(above - below))
            ends[f"differences {name}"] = _statement(width, bool(inside))
        return ends

    def trial(rng: np.random.Generator) -> Ends:
        scores, _ = _drawn(world, setting, rng)
        parts = {
            "corrected": corrected_parts(scores, shared_weight(scores)),
            "people": _plain(scores.human),
            "alone": _plain(scores.everything),
        }
        seed, ends = seed_of(rng), {}
        for name, part in parts.items():
            n_topics = part.residual.shape[1] + part.followed.shape[1]
            ranking = rank_runs(
                part, places=np.arange(n_topics), alpha=0.05, n_samples=SAMPLES, seed=seed, jobs=1
            )
            ends |= held(ranking, name, seed % N_RUNS)
        return ends

    return trial


def _statement(width: float, is_right: bool) -> tuple[float, float, float]:
    """Return a simultaneous statement as an interval of this width around 0."""
    return -width / 2, width / 2, 0.0 if is_right else np.inf


def taus(setting: Setting, full: bool) -> Trial:
    world = population(setting.world, full)

    def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        topics = rng.integers(world.human.shape[1], size=setting.topics)
        return world.judge[:, topics], world.human[:, topics]

    many = np.random.default_rng(8)
    means = np.stack(
        [[rows.mean(axis=1) for rows in drawn(many)] for _ in range(20_000 if full else 4000)]
    )
    pairwise = pairwise_tau_and_tau_ap(means)
    truth = {"tau": pairwise.tau.mean(), "tau_ap": pairwise.tau_ap_first.mean()}

    def trial(rng: np.random.Generator) -> Ends:
        both, seed = drawn(rng), seed_of(rng)
        ends = {}
        for name in ("tau", "tau_ap"):
            found = bootstrap_tau_interval(
                *both, coefficient=name, n_samples=300, seed=seed, jobs=1
            )
            ends[name] = (found.low, found.high, truth[name])
        return ends

    return trial


def _claim(interval: str, truth: str, *fields: str) -> Claim:
    return Claim(
        interval=interval,
        study="judges",
        truth=truth,
        fields=tuple(f"judges judges {field}" for field in fields),
    )


OVER_ALL = "over all topics, by people"
ALONE = "judge alone, taken for people"
SINGLE = {
    "mean corrected": _claim("a mean, corrected", f"a run's mean {OVER_ALL}", "runs interval"),
    "difference corrected": _claim(
        "a difference, corrected", f"two runs' difference {OVER_ALL}; one at a time"
    ),
    "mean people": _claim(
        "a mean, people alone", f"a run's mean {OVER_ALL}", "runs human_interval"
    ),
    "difference people": _claim("a difference, people alone", f"two runs' difference {OVER_ALL}"),
    "mean alone": _claim(f"a mean, {ALONE}", f"a run's mean {OVER_ALL}", "runs judge_interval"),
    "difference alone": _claim(f"a difference, {ALONE}", f"two runs' difference {OVER_ALL}"),
    "bias": _claim(
        "bias of a run", "judge's mean less people's over all topics", "runs bias_interval"
    ),
    "correlation": _claim(
        "correlation of differences",
        "that of all topics, pooled over pairs of runs; the factor follows it",
        "correlation_interval",
        "topics_factor_interval",
    ),
    "kin": _claim(
        "bias for kin less others", "the difference of the biases over all topics", "kin interval"
    ),
    "kappa": _claim("Cohen's kappa", "kappa of all topics' documents", "kappa_interval"),
    "kappa_weighted": _claim(
        "Cohen's kappa, quadratic weights", "that of all topics", "kappa_weighted_interval"
    ),
    "ac1": _claim("Gwet's AC1", "that of all topics", "ac1_interval"),
    "kappa_relevant": _claim(
        "Cohen's kappa, relevant or not", "that of all topics", "kappa_relevant_interval"
    ),
}
TOGETHER = {
    "ranks corrected": _claim(
        "a run's ranks, corrected", f"the rank of a run {OVER_ALL}", "runs rank_set"
    ),
    "differences corrected": _claim(
        "all differences at once, corrected", f"all differences {OVER_ALL}", "pairs interval"
    ),
    "ranks people": _claim(
        "a run's ranks, people alone", f"the rank of a run {OVER_ALL}", "runs human_rank_set"
    ),
    "differences people": _claim(
        "all differences at once, people alone", f"all differences {OVER_ALL}"
    ),
    "ranks alone": _claim(
        f"a run's ranks, {ALONE}", f"the rank of a run {OVER_ALL}", "runs judge_rank_set"
    ),
    "differences alone": _claim(f"all differences at once, {ALONE}", f"all differences {OVER_ALL}"),
}
TAUS = {
    "tau": _claim(
        "tau of judge and people",
        "the mean tau of topic sets of this size",
        "tau_interval",
        "tau_top_interval",
        "taus tau_interval",
    ),
    "tau_ap": _claim(
        "tau_AP of judge and people",
        "the mean tau_AP of topic sets of this size",
        "taus tau_ap_interval",
    ),
}


def _settings(sizes: tuple[int, ...], further: tuple[int, ...]) -> tuple[Setting, ...]:
    return tuple(
        Setting(world=kind, systems=N_RUNS, topics=n, more=f"{n_more} more by the judge")
        for kind, n, n_more in product(("even", "partial"), sizes, further)
    )


EXPERIMENTS: dict[str, Experiment] = {
    "judges, one at a time": Experiment(
        prepare=one_at_a_time,
        settings=_settings((5, 10, 15, 25, 40), (25, 100, 400)),
        claims=SINGLE,
    ),
    "judges, at once": Experiment(
        prepare=at_once, settings=_settings((5, 15, 40), (25, 400)), share=0.5, claims=TOGETHER
    ),
    "judges, tau": Experiment(
        prepare=taus, settings=_settings((10, 25), (0,)), share=0.5, claims=TAUS
    ),
}
