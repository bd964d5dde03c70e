"""Trials of the intervals of imputed scores (`holes`) where complete judgments are known.

Of each team's three systems the first was pooled. The truth is a run's mean, for one run of those
that were not pooled, on the same topics, once all documents that some run ranks within the cutoff
are judged.
"""

from __future__ import annotations

import numpy as np

import steadyrank as sr
from bench.coverage.claims import Claim, Ends, Experiment, Setting, Trial, seed_of

SAMPLES = 200
CUTOFF = 10


def pool_judged(track: sr.SimulatedTrack) -> sr.Qrels:
    """The judgments once all that some run ranks within the cutoff is judged."""
    made = {}
    for topic in track.qrels.topics:
        ranked = {d for run in track.runs for d, _ in run.ranking(topic)[:CUTOFF]}
        grades = track.complete.judgments(topic)
        made[topic] = {d: grades.get(d, 0) for d in sorted(ranked)} | track.qrels.judgments(topic)
    return sr.qrels_from_dict(made)


def imputed_scores(setting: Setting, full: bool) -> Trial:
    """`setting.more` names the measure."""
    measure = setting.more

    def trial(rng: np.random.Generator) -> Ends:
        track = sr.simulated_track(
            n_teams=setting.systems // 3,
            runs_per_team=3,
            n_topics=setting.topics,
            depth=30,
            pool_depth=10,
            pooled_per_team=1,
            rng=rng,
        )
        found = sr.holes(
            track.runs, track.qrels, measure=measure, n_samples=SAMPLES, jobs=1, rng=seed_of(rng)
        )
        truth = sr.evaluate(track.runs, pool_judged(track), measure, jobs=1).mean()[0]
        unpooled = [i for i, run in enumerate(found.runs) if run.run not in track.pooled]
        place = unpooled[rng.integers(len(unpooled))]
        ends = found.runs[place].imputed_interval or (np.nan, np.nan)
        return {"imputed": (*ends, truth[place])}

    return trial


EXPERIMENTS = {
    "imputed scores": Experiment(
        prepare=imputed_scores,
        settings=tuple(
            Setting(world="track", topics=40, systems=24, more=measure)
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
        share=0.1,
    )
}
