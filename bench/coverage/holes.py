"""Trials of intervals of imputed scores (`holes`) with known complete judgments.

A track is judged as a pattern of holes says. The truth is a run's mean, for one run of those that
were not pooled, on the same topics, once all documents that some run ranks within the cutoff are
judged.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import steadyrank as sr
from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of

SAMPLES = 200
CUTOFF = 10
SPARSE = sr.TrackModel(relevant_median=8.0)


class Pattern(NamedTuple):
    """The runs that were pooled, the pool's depth, and the runs given to the study."""

    not_pooled: float
    """Share of the runs that were not pooled; 0 is one run."""
    pool_depth: int = CUTOFF
    given: int = 0
    """Number of runs that were not pooled and are given alone; 0 gives all runs."""


PATTERNS = {
    "one run not pooled": Pattern(0.0),
    "two thirds not pooled": Pattern(2 / 3),
    "pool of depth 6": Pattern(2 / 3, pool_depth=6),
    "five new runs alone": Pattern(2 / 3, given=5),
}


class HoledTrack(NamedTuple):
    """A track with holes, and its truth."""

    runs: list[sr.Run]
    qrels: sr.Qrels
    complete: sr.Qrels
    """Means after all documents within the cutoff are judged."""
    new: list[str]
    """Names of the runs that were not pooled."""


def holed_track(
    pattern: Pattern, *, systems: int, topics: int, sparse: bool, rng: np.random.Generator
) -> HoledTrack:
    """Return a track with the judgments of the pattern's pool."""
    track = sr.simulated_track(
        n_teams=systems // 3,
        runs_per_team=3,
        n_topics=topics,
        depth=30,
        pool_depth=CUTOFF,
        model=SPARSE if sparse else None,
        rng=rng,
    )
    names = [run.name for run in track.runs]
    n_new = max(1, round(pattern.not_pooled * len(names)))
    new = sorted(rng.permutation(names)[:n_new])[: pattern.given or None]
    pooled = [run for run in track.runs if run.name not in new]
    given = [run for run in track.runs if run.name in new] if pattern.given else list(track.runs)
    qrels = _judged(track, pooled, pattern.pool_depth, {})
    return HoledTrack(given, qrels, _judged(track, given, CUTOFF, qrels), new)


def _judged(
    track: sr.SimulatedTrack, runs: list[sr.Run], depth: int, known: sr.Qrels | dict[str, dict]
) -> sr.Qrels:
    """Return the true grades of documents within a depth, joined to the known ones."""
    made = {}
    for topic in track.qrels.topics:
        grades = track.complete.judgments(topic)
        ranked = {d for run in runs for d, _ in run.ranking(topic)[:depth]}
        before = known.judgments(topic) if isinstance(known, sr.Qrels) else {}
        made[topic] = {d: grades.get(d, 0) for d in sorted(ranked)} | before
    return sr.qrels_from_dict(made)


def imputed_scores(setting: Setting, full: bool) -> Trial:
    """Return one trial; `setting.more` names measure and pattern."""
    measure, pattern = setting.more.split(", ")

    def trial(rng: np.random.Generator) -> Ends:
        track = holed_track(
            PATTERNS[pattern],
            systems=setting.systems,
            topics=setting.topics,
            sparse=setting.world == "sparse track",
            rng=rng,
        )
        result = sr.holes(
            track.runs, track.qrels, measure=measure, n_samples=SAMPLES, jobs=1, rng=seed_of(rng)
        )
        truth = sr.evaluate(track.runs, track.complete, measure, jobs=1).mean()[0]
        new = [i for i, row in enumerate(result.runs) if row.run in track.new]
        place = new[rng.integers(len(new))]
        ends = result.runs[place].imputed_interval or (np.nan, np.nan)
        return {"imputed": (*ends, truth[place])}

    return trial


EXPERIMENTS = {
    "imputed scores": Experiment(
        prepare=imputed_scores,
        settings=tuple(
            Setting(world=world, topics=topics, systems=24, more=f"{measure}, {pattern}")
            for world, topics, pattern in (
                ("track", 50, "one run not pooled"),
                ("track", 50, "two thirds not pooled"),
                ("track", 10, "two thirds not pooled"),
                ("sparse track", 50, "two thirds not pooled"),
                ("track", 50, "pool of depth 6"),
                ("track", 50, "five new runs alone"),
            )
            for measure in ("P@10", "nDCG@10")
        ),
        claims={
            "imputed": Claim(
                interval="an imputed mean score",
                study="holes",
                truth="its mean with all documents within the cutoff judged, same topics",
                fields=("holes runs imputed_interval",),
            )
        },
        share=0.02,
    )
}
