"""How a report runs `components`: on the columns about runs that make a full grid."""

from __future__ import annotations

from itertools import combinations

from steadyrank.data.scores import Scores
from steadyrank.studies.components.study import ComponentsResult, components, n_replicates_of
from steadyrank.studies.components.view import VIEW
from steadyrank.studies.material import Material, named_systems
from steadyrank.studies.part import Findings, Job, part_of
from steadyrank.words import by_number, counted, listed

MOST_FACTORS = 4
"""Columns that can be the components of one grid."""

NOT_COMPONENTS = ("team", "system", "topic")


def _why_not(material: Material) -> str:
    scores = material.scores
    if _grid(material)[1]:
        return ""
    candidates = [name for name in scores.run_info if _is_component(scores, name)]
    if candidates:
        return (
            f"the columns {', '.join(candidates)} do not make a full grid: every combination "
            "must occur equally often"
        )
    return (
        "the components of the runs are not known: give --run-info with columns such as "
        "stemmer and model"
    )


def _grid(material: Material) -> tuple[Scores, tuple[str, ...]]:
    """The runs that make a full grid, and the columns: all runs, or those that one column is of."""
    scores = material.scores
    factors = material.settings.factors or grid_factors(scores)
    if factors:
        return scores, factors
    for column in scores.run_info.values():
        made = [run for run, value in zip(scores.runs, column, strict=True) if value]
        if 4 <= len(made) < len(scores.runs):
            some = scores.select(runs=made)
            factors = grid_factors(some)
            if factors:
                return some, factors
    return scores, ()


def grid_factors(scores: Scores) -> tuple[str, ...]:
    """The columns about runs that make the largest full grid of components; none if there is none.

    Columns that vary among the instances of a system say how instances came about, not of what
    systems are made.
    """
    columns = [name for name in scores.run_info if _is_component(scores, name)]
    if not columns:
        return ()
    # A single column out of several would be mixed up with those that are left out.
    for size in range(min(len(columns), MOST_FACTORS), min(len(columns), 2) - 1, -1):
        for chosen in combinations(columns, size):
            if n_replicates_of([scores.run_info[name] for name in chosen]):
                return chosen
    return ()


def _is_component(scores: Scores, name: str) -> bool:
    column = scores.run_info[name]
    if name in NOT_COMPONENTS or "" in column or not 2 <= len(set(column)) < len(column):
        return False
    groups = named_systems(scores).values()
    return all(len({column[place] for place in places}) == 1 for places in groups)


def _run(job: Job) -> ComponentsResult:
    scores, factors = _grid(job.material)
    return components(scores, factors=factors, measure=job.material.measure)


def _others_note(result: ComponentsResult, findings: Findings) -> list[str]:
    others = len(findings.material.scores.runs) - result.n_runs
    if not others:
        return []
    lacking = f"{counted(others, 'run')} of which the run information gives no"
    return [f"{lacking} {listed(result.factors)} {by_number(others, 'is', 'are')} left out."]


PART = part_of(
    VIEW, run=_run, why_not=_why_not, subject_of=lambda result: [result], notes=_others_note
)
