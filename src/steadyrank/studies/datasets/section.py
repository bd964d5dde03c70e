"""The section of a report about datasets: would others change the leaderboard?"""

from __future__ import annotations

from steadyrank.errors import InputError
from steadyrank.present.cells import name, number, span, table, whole
from steadyrank.present.table import Cell, Table
from steadyrank.stats.pairs.max_t import USUAL, patterns_of
from steadyrank.studies.datasets.result import AGGREGATES, DatasetsResult
from steadyrank.studies.datasets.sentences import answer
from steadyrank.studies.datasets.study import datasets
from steadyrank.studies.datasets.tables import gaps_table, influence_table, pair_table
from steadyrank.studies.material import Material
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part, Shape

NEMENYI = (
    "The critical difference of Nemenyi's test is shown because readers expect it. Average ranks "
    "depend on which other runs are in the table, and so does its verdict on two runs; it ignores "
    "by how much runs differ, and its correction is weaker than that of the rank sets."
)


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


def _body(result: DatasetsResult, findings: Findings) -> Body:
    figures = [Drawing("dataset-ranks", "Possible ranks of each run.", result, "ranks")]
    tables = [_leaderboard(result)]
    if result.gap_rows:
        tables.append(_paged("dataset-gaps", gaps_table(result)))
    if result.pair is not None:
        figures.append(Drawing("forest", "The two best, dataset by dataset.", result, "forest"))
        tables.append(_paged("dataset-pair", pair_table(result.pair, 4)))
    if result.influence:
        figures.append(
            Drawing("influence", "Which datasets carry the ranking.", result, "influence")
        )
        whole_table = influence_table(result, most=len(result.influence))
        tables.append(_paged("dataset-influence", whole_table))
    notes: tuple[str, ...] = ()
    if result.friedman is not None and len(result.runs) > 2:
        drawing = Drawing(
            "critical-difference", "Average ranks, Nemenyi's test.", result, "critical_difference"
        )
        figures.append(drawing)
        notes = (NEMENYI,)
    return Body(
        answer=tuple(answer(result)), figures=tuple(figures), tables=tuple(tables), notes=notes
    )


def _paged(id: str, made: Table) -> Table:
    return table(id, made.caption, made.header, made.rows)


def _leaderboard(result: DatasetsResult) -> Table:
    completed = result.completion_ranks
    rows = []
    for i in result.order:
        low, high = result.rank_set[i].tolist()
        ends = [] if completed is None else [_range(*completed[i].tolist())]
        rows.append(
            [
                whole(int(result.rank[i])),
                name(result.runs[i]),
                number(float(result.value[i])),
                span(result.interval[i].tolist()),
                _range(low, high),
                name("yes" if result.could_be_first[i] else "no"),
                whole(int(result.n_different[i])),
                *ends,
            ]
        )
    caption = (
        f"{result.caption()} Intervals are for one run at a time. Ranks: those that the run "
        f"may have, simultaneously with {1 - result.alpha:.0%} confidence. Differs from: how "
        "many of the other runs differ significantly."
    )
    if completed is not None:
        caption += (
            " Completed: ranks over all completions of the missing scores between the lowest and "
            "the highest score of their dataset, over all datasets of the table."
        )
    header = [
        "",
        "run",
        AGGREGATES[result.aggregate],
        f"{1 - result.alpha:.0%} interval",
        "ranks",
        "could be first",
        "differs from",
        *([] if completed is None else ["completed"]),
    ]
    return table("dataset-leaderboard", caption, header, rows)


def _range(low: int, high: int) -> Cell:
    return Cell(f"{low} to {high}", f"{low} to {high}")


def _cost(shape: Shape) -> Cost:
    pairs = shape.n_runs * (shape.n_runs - 1) / 2
    _, n_patterns = patterns_of(shape.n_topics, USUAL, int(pairs))
    return Cost(fixed=1e-9 * n_patterns * 2.0 * pairs + 2e-6 * pairs, is_free=True)


PART = Part(
    title="Other datasets",
    question="Would other datasets change it?",
    means=(
        "Every two runs are compared over the datasets, corrected for all pairs together; "
        "ranks, the runs that could be first and significant differences all follow these "
        "same decisions. They are about other datasets of this kind. A run could be first if "
        "no run is significantly better."
    ),
    means_not=(
        "Datasets that were chosen are not a random sample, and datasets of the same type "
        "resemble each other: resampling whole types is the more conservative reading. The "
        "section says nothing about other measures or training data, and a run that could be "
        "first need not be as good as the first."
    ),
    body=_body,
    run=_run,
    why_not=_why_not,
    cost=_cost,
    works_on="datasets",
)
