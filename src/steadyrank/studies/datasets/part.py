"""How a report runs `datasets`."""

from __future__ import annotations

from steadyrank.errors import InputError
from steadyrank.stats.pairs.max_t import USUAL, patterns_of
from steadyrank.studies.datasets.result import DatasetsResult
from steadyrank.studies.datasets.study import datasets
from steadyrank.studies.datasets.view import VIEW
from steadyrank.studies.material import Material
from steadyrank.studies.part import Cost, Job, Shape, part_of


def _run(job: Job) -> DatasetsResult:
    leaderboard = job.material.leaderboard
    if leaderboard is None:
        raise InputError(_why_not(job.material))
    progress = job.machine.progress("blocks of sign patterns")
    return datasets(leaderboard, alpha=job.material.settings.alpha, progress=progress, **job.common)


def _why_not(material: Material) -> str:
    if material.leaderboard is None:
        return "scores on one collection: give a table of scores on several with --datasets"
    return ""


def _cost(shape: Shape) -> Cost:
    pairs = shape.n_runs * (shape.n_runs - 1) / 2
    _, n_patterns = patterns_of(shape.n_topics, USUAL, int(pairs))
    return Cost(fixed=1e-9 * n_patterns * 2.0 * pairs + 2e-6 * pairs, is_free=True)


PART = part_of(VIEW, run=_run, cost=_cost, why_not=_why_not, works_on="datasets")
