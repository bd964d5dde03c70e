"""How a report runs `agree`."""

from __future__ import annotations

import numpy as np

from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.present.view import Finding
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.run_means import adjusted_means, share_turned
from steadyrank.studies.agree.correlations import SYSTEM_SIZES, TOPIC_SIZES
from steadyrank.studies.agree.result import AgreeResult
from steadyrank.studies.agree.study import agree
from steadyrank.studies.agree.view import VIEW
from steadyrank.studies.material import Material
from steadyrank.studies.part import Findings, Front, Job, Samples, part_of
from steadyrank.words import swap_words

LEAST_RANKED = 5
"""Runs from which on a correlation of rankings says something."""


def _why_not(material: Material) -> str:
    scores = material.scores
    if len(scores.measures) < 2:
        return "one measure only: name a second with -m"
    if len(scores.runs) < LEAST_RANKED:
        return (
            f"{len(scores.runs)} runs only: rankings of fewer than {LEAST_RANKED} runs hardly "
            "show whether two measures agree"
        )
    return ""


def _run(job: Job) -> AgreeResult:
    scores = job.material.scores
    complete = int((~np.isnan(scores.values).any(axis=(0, 1))).sum())
    return agree(
        scores,
        n_samples=job.n_samples,
        topic_sizes=_sizes(TOPIC_SIZES, complete, 1),
        system_sizes=_sizes(SYSTEM_SIZES, len(scores.runs), 2),
        progress=job.machine.progress("samples of topics and runs"),
        scheduler=job.machine.scheduler,
        **job.common,
    )


def _sizes(usual: tuple[int, ...], n: int, least: int) -> list[int]:
    """The usual sizes that leave something to draw from, or halves of what there is."""
    fitting = [size for size in usual if size < n]
    return fitting if len(fitting) > 1 else sorted({max(least, n // 2), max(least, 3 * n // 4)})


def _front(result: AgreeResult, findings: Findings) -> Front:
    scores = findings.material.scores
    share, n = swap_share(scores), len(scores.measures)
    by = f"Under another of the {n} measures" if n > 2 else f"By {scores.measures[-1]}"
    text = f"{by} {swap_words(share, len(scores.runs))}."
    return Front(swap=Finding("agree.swap", text, {"share": share}))


def swap_share(scores: Scores) -> float:
    """Pairs that another measure orders otherwise than the first, mean over the others."""
    first, *others = (_differences(scores, measure) for measure in scores.measures)
    return float(mean_of_present(np.array([share_turned(first, other) for other in others])))


def _differences(scores: Scores, measure: str) -> np.ndarray:
    means = adjusted_means(scores.matrix(measure))
    a, b = all_pairs(len(means)).T
    return np.asarray(means[a] - means[b])


def _examine(material: Material) -> str:
    return "-m twice" if len(material.scores.measures) < 2 else ""


PART = part_of(
    VIEW,
    run=_run,
    why_not=_why_not,
    samples=Samples(noun="samples of each size", fast=100, full=1000),
    front=_front,
    varies="Other measures",
    examine=_examine,
)
