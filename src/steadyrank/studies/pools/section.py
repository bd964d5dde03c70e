"""The section of a report about other teams: would judgments and plan be the same without some?"""

from __future__ import annotations

import numpy as np

from steadyrank.data.scores import Scores
from steadyrank.present.cells import name, number, span, table, titled, whole
from steadyrank.present.table import Table
from steadyrank.studies.material import NO_RUNS, Material
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part, Shape
from steadyrank.studies.pools.result import PoolsResult
from steadyrank.studies.pools.study import MOST_TEAMS, pools
from steadyrank.studies.pools.tables import answer_sentences, pools_notes
from steadyrank.words import counted

LEAST_TEAMS = 3


def _why_not(material: Material) -> str:
    if material.runs is None:
        return NO_RUNS
    teams = teams_of(material.scores)
    if not teams:
        return (
            "it is not known which runs are of the same team: give --run-info with a column "
            "team, or --team-from"
        )
    if len(teams) < LEAST_TEAMS:
        few = counted(len(teams), "team")
        return f"{few} only: leaving teams out requires at least {LEAST_TEAMS}"
    return ""


def teams_of(scores: Scores) -> set[str]:
    """The teams that run information names."""
    return set(scores.run_info.get("team", ())) - {""}


def _cost(shape: Shape) -> Cost:
    n_teams = min(shape.n_teams, MOST_TEAMS)
    return Cost(
        fixed=0.2 + shape.reading,
        per_sample=1e-4 + 7e-7 * n_teams * shape.n_runs * shape.n_topics * shape.n_measures,
        least=5,
        most=100,
        noun="trials",
    )


def _run(job: Job) -> PoolsResult:
    material, machine, settings = job.material, job.machine, job.material.settings
    return pools(
        material.runs,
        material.qrels,
        measures=material.scores.measures,
        n_trials=job.n_samples,
        pool_depth=settings.pool_depth,
        missing=settings.missing,
        no_relevant=settings.no_relevant,
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("trials without teams"),
        **job.common,
    )


def _body(result: PoolsResult, findings: Findings) -> Body:
    measure = {"measure": result.measures[0]}
    owed = "What runs owe to documents that only their team found."
    return Body(
        answer=tuple(answer_sentences(result)),
        figures=(
            Drawing("pool-variance", "Variance with teams left out.", result, "variance", measure),
            Drawing("pool-bias", owed, result, "bias", measure),
        ),
        tables=(_leave_out_table(result), _bias_table(result)),
        notes=tuple(pools_notes(result)),
    )


def _leave_out_table(result: PoolsResult) -> Table:
    variances = {reference.measure: reference.variance for reference in result.references}
    rows = [
        {
            "measure": name(cell.measure),
            "teams left out": whole(cell.k),
            "trials": whole(len(cell.variances)),
            "variance": number(cell.mean),
            "range": span(cell.extent),
            "relative to all teams": span(
                cell.extent and [end / variances[cell.measure] for end in cell.extent], ".2f"
            ),
        }
        for cell in result.leave_out
    ]
    caption = (
        f"{result.caption()} Variance (V_E): mean and range of the trials, and the range "
        "relative to the variance with all teams, to which the topics to build are proportional."
    )
    return table("leave-teams-out", caption, *titled(rows), shown=16)


def _bias_table(result: PoolsResult) -> Table:
    rows = [
        {
            "run": name(row.run),
            "team": name(row.team),
            "measure": name(row.measure),
            "score": number(row.score),
            "change": number(row.change, "+.4f"),
            "unique documents": whole(row.unique),
            "relevant": whole(row.unique_relevant),
        }
        for row in sorted(result.bias, key=lambda row: -abs(np.nan_to_num(row.change)))
        if row.measure == result.measures[0]
    ]
    caption = (
        "Mean scores, and their change without the documents that only the run's team brought "
        "into the pool."
    )
    return table("pool-bias-runs", caption, *titled(rows))


PART = Part(
    title="Other teams",
    question="Would the judgments and the plan be the same without some teams?",
    means=(
        "Teams are left out together with the judged documents that only they brought in, and "
        "the variance on which plans are based is estimated again. Pool bias is what a run's "
        "score owes to documents of its own team."
    ),
    means_not=(
        "All runs are assumed to have been pooled to the given depth, which may not be how "
        "the judgments were made. The section says nothing about teams unlike these."
    ),
    body=_body,
    run=_run,
    why_not=_why_not,
    cost=_cost,
)
