"""What each study needs, and in words why the data at hand do not do.

A report says of every study that it leaves out what would make it possible.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import prod
from pathlib import Path

from steadyrank.data.run import Run
from steadyrank.data.scores import Scores, mean_of_present
from steadyrank.errors import InputError
from steadyrank.reporting.budget import Shape
from steadyrank.reporting.inputs import Material
from steadyrank.stats.instances.systems import Groups, systems_of
from steadyrank.studies.simulate.measures import SimulatedMeasure, parse_simulated
from steadyrank.words import some

LEAST_RANKED = 5
"""Runs from which on a correlation of rankings says something."""

LEAST_TEAMS = 3

MOST_SYSTEMS = 5
"""Systems with instances that are compared pair by pair: the best."""

MOST_FACTORS = 4
"""Columns that can be the components of one grid."""

NOT_COMPONENTS = ("team", "system", "topic")

NO_RUNS = "needs the runs and the judgments; a table of scores was given"


def why_not(material: Material) -> dict[str, str]:
    """Of each study that the data do not support, what it lacks."""
    found = {
        "check": "" if material.runs else f"{NO_RUNS}: there are no files of runs to look at",
        "simulate": _no_simulation(material),
        "agree": _no_agreement(material.scores),
        "instances": _no_instances(material.scores),
        "components": _no_components(material),
        "pools": _no_pools(material),
    }
    return {study: reason for study, reason in found.items() if reason}


def shape_of(material: Material) -> Shape:
    """How large the data are."""
    scores = material.scores
    documents = material.check.runs if material.check else ()
    systems = compared_systems(scores) if not _no_instances(scores) else []
    return Shape(
        n_runs=len(scores.runs),
        n_topics=len(scores.topics),
        n_measures=len(scores.measures),
        n_documents=sum(run.topics * run.deepest for run in documents),
        n_teams=len(_teams(scores)),
        n_pairs_of_systems=math.comb(len(systems), 2),
    )


def simulated_measure(material: Material) -> str | None:
    """The first measure that needs no grades, which simulated documents do not have.

    If all need them, the first whose binary version can be simulated.
    """
    possible = {name: _simulated(name) for name in material.scores.measures}
    measures = {name: measure for name, measure in possible.items() if measure is not None}
    for name, measure in measures.items():
        if material.qrels is not None and measure.is_itself(material.qrels):
            return name
    return next(iter(measures), None)


def _simulated(name: str) -> SimulatedMeasure | None:
    try:
        return parse_simulated(name)
    except InputError:
        return None


def simulated_runs(material: Material) -> list[Run | Path]:
    """The runs to simulate: those that are compared and whose scores are not ranks in disguise."""
    disguised = set(disguised_runs(material))
    named = zip(material.compared.runs, material.compared_runs, strict=True)
    return [run for name, run in named if name not in disguised]


def disguised_runs(material: Material) -> list[str]:
    """Names of the compared runs whose scores are ranks in disguise."""
    looked_over = () if material.check is None else material.check.runs
    rank_like = {row.run for row in looked_over if row.rank_like}
    return [name for name in material.compared.runs if name in rank_like]


def _no_simulation(material: Material) -> str:
    if not material.runs:
        return "needs runs with scores; a table of scores was given"
    if simulated_measure(material) is None:
        return (
            f"none of the measures ({', '.join(material.scores.measures)}) can be simulated, as "
            "simulated documents have no grades: name AP, P@k, R@k, RR, nDCG, RBP or Success@k "
            "with -m"
        )
    if len(simulated_runs(material)) < 2:
        return (
            "fewer than two runs have scores to resample: the scores of "
            f"{some(disguised_runs(material))} are ranks in disguise"
        )
    return ""


def _no_agreement(scores: Scores) -> str:
    if len(scores.measures) < 2:
        return "one measure only: name a second with -m"
    if len(scores.runs) < LEAST_RANKED:
        return (
            f"{len(scores.runs)} runs only: rankings of fewer than {LEAST_RANKED} hardly say "
            "whether two measures agree"
        )
    return ""


def compared_systems(scores: Scores) -> list[str]:
    """The best systems by the mean of their runs, best first."""
    means, systems = scores.mean()[0], systems_of(scores)
    by_mean = {name: float(mean_of_present(means[places])) for name, places in systems.items()}
    known = [name for name in systems if not math.isnan(by_mean[name])]
    return sorted(known, key=lambda name: -by_mean[name])[:MOST_SYSTEMS]


def _groups(scores: Scores) -> Groups:
    return systems_of(scores) if "system" in scores.run_info else {}


def _no_instances(scores: Scores) -> str:
    systems = _groups(scores)
    if not systems:
        return (
            "nothing says which runs are instances of one system, such as seeds of a reranker: "
            "give --run-info with a column system, or --system-from"
        )
    if all(len(places) == 1 for places in systems.values()):
        return "every system has one run: instances are several runs of one system"
    if len(compared_systems(scores)) < 2:
        return "all runs are instances of one system: a comparison needs two systems"
    return ""


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
            if is_full_grid([scores.run_info[name] for name in chosen]):
                return chosen
    return ()


def _is_component(scores: Scores, name: str) -> bool:
    column = scores.run_info[name]
    if name in NOT_COMPONENTS or "" in column or not 2 <= len(set(column)) < len(column):
        return False
    groups = _groups(scores).values()
    return all(len({column[place] for place in places}) == 1 for places in groups)


def is_full_grid(columns: Sequence[Sequence[str]]) -> bool:
    """Whether every combination of levels is there, and equally often.

    >>> is_full_grid([["a", "a", "b", "b"], ["x", "y", "x", "y"]])
    True
    >>> is_full_grid([["a", "a", "b"], ["x", "y", "x"]])
    False
    """
    counts = Counter(zip(*columns, strict=True))
    full = prod(len(set(column)) for column in columns)
    return len(counts) == full and len(set(counts.values())) == 1


def _no_components(material: Material) -> str:
    scores = material.scores
    if material.settings.factors or grid_factors(scores):
        return ""
    candidates = [name for name in scores.run_info if _is_component(scores, name)]
    if candidates:
        return (
            f"the columns {', '.join(candidates)} do not make a full grid: every combination must "
            "be there equally often"
        )
    return (
        "nothing says of which components the runs are made: give --run-info with columns such as "
        "stemmer and model"
    )


def _teams(scores: Scores) -> set[str]:
    return set(scores.run_info.get("team", ())) - {""}


def _no_pools(material: Material) -> str:
    if not material.runs:
        return NO_RUNS
    teams = _teams(material.scores)
    if not teams:
        return (
            "nothing says which runs are of one team: give --run-info with a column team, or "
            "--team-from"
        )
    if len(teams) < LEAST_TEAMS:
        counted = f"{len(teams)} team{'s' if len(teams) > 1 else ''} only"
        return f"{counted}: leaving teams out needs at least {LEAST_TEAMS}"
    return ""
