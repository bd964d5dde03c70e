"""The section of a report about other documents: would they change the table?"""

from __future__ import annotations

import itertools
import math
import warnings

import numpy as np

from steadyrank.data.runs import Runs
from steadyrank.errors import InputError, SteadyrankWarning
from steadyrank.present.cells import name, number, percent, table, titled, whole
from steadyrank.present.table import Cell, Table
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.material import NO_RUNS, Material
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part, Shape
from steadyrank.studies.simulate.measures import SimulatedMeasure, parse_simulated
from steadyrank.studies.simulate.result import grades_words
from steadyrank.studies.simulate.study import SimulateResult, simulate
from steadyrank.studies.simulate.tables import answer_sentences
from steadyrank.words import counted, some

MOST_ERRORS = 500_000_000
"""Standard errors of pairs that a simulation may keep at a time: two gigabytes."""

MOST_PAIRS = 200


def _why_not(material: Material) -> str:
    if material.runs is None:
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


def simulated_measure(material: Material) -> str | None:
    """The first measure that needs no grades, which simulated documents do not have.

    If all need them, the first whose binary version can be simulated.
    """
    possible = {text: _simulated(text) for text in material.scores.measures}
    measures = {text: measure for text, measure in possible.items() if measure is not None}
    for text, measure in measures.items():
        if material.qrels is not None and measure.is_itself(material.qrels):
            return text
    return next(iter(measures), None)


def _simulated(measure: str) -> SimulatedMeasure | None:
    try:
        return parse_simulated(measure)
    except InputError:
        return None


def simulated_runs(material: Material) -> Runs:
    """The runs to simulate: those that are compared and whose scores are not ranks in disguise."""
    if material.runs is None:
        raise InputError(NO_RUNS)
    names = set(material.compared.runs) - set(disguised_runs(material))
    return material.runs.at([r for r, name in enumerate(material.scores.runs) if name in names])


def disguised_runs(material: Material) -> list[str]:
    """Names of the compared runs whose scores are ranks in disguise."""
    looked_over = () if material.check is None else material.check.runs
    rank_like = {row.run for row in looked_over if row.rank_like}
    return [name for name in material.compared.runs if name in rank_like]


def _cost(shape: Shape) -> Cost:
    cells = shape.n_compared * shape.n_topics
    return Cost(
        fixed=0.1 + shape.reading,
        per_sample=2.5e-7 * cells + 8e-8 * shape.n_pairs,
        least=100,
        most=min(20_000, max(100, MOST_ERRORS // max(1, shape.n_pairs))),
        noun="collections",
        takes_rest=True,
    )


def _run(job: Job) -> SimulateResult:
    material, machine, settings = job.material, job.machine, job.material.settings
    names = disguised_runs(material)
    if names:
        warnings.warn(
            f"{counted(len(names), 'run is', 'runs are')} left out of the simulation: the "
            f"scores of {some(names)} are ranks in disguise, which say in what order documents "
            "stand and nothing else; steadyrank simulate --score-source rank takes ranks for "
            "scores",
            SteadyrankWarning,
            stacklevel=1,
        )
    return simulate(
        simulated_runs(material),
        material.qrels,
        measure=simulated_measure(material) or "AP",
        n_samples=job.n_samples,
        alpha=settings.alpha,
        no_relevant=settings.no_relevant,
        store=machine.store and machine.store / "simulate",
        scheduler=machine.scheduler,
        reading=machine.progress("runs read"),
        progress=machine.progress("simulated collections"),
        **job.common,
    )


def _body(result: SimulateResult, findings: Findings) -> Body:
    wrong_order = "How often a simulated difference is the wrong way round, by its size."
    return Body(
        answer=tuple(_answer(result, findings.material.measure)),
        figures=(
            Drawing("document-ranks", "Ranks in simulated collections.", result, "ranks"),
            Drawing("document-errors", wrong_order, result, "error_rate"),
            Drawing(
                "document-tau", "How alike simulated collections rank the runs.", result, "tau"
            ),
            Drawing("document-topics", "The best run on each topic, simulated.", result, "topics"),
        ),
        tables=(_simulated_table(result), _kept_table(result)),
        repeated=(grades_words(result),),
    )


def _answer(result: SimulateResult, measure: str) -> list[str]:
    """What was found; `measure` is the one that ranks the runs."""
    said = [
        *answer_sentences(result),
        counted(result.n_samples, "collection was", "collections were") + " simulated.",
    ]
    if measure not in (result.measure, result.graded_measure):
        possible = _simulated(measure) is not None
        why = "needs grades, which simulated documents do not have"
        # The first sentence says what was found, and stands alone where findings are listed.
        reason = f"{measure} {why if possible else 'cannot be simulated'}"
        said.insert(1, f"By {result.measure}: {reason}.")
    return said


def _simulated_table(result: SimulateResult) -> Table:
    rows = [
        {
            "": whole(row["rank"]),
            "run": name(row["run"]),
            result.measure: number(row["raw_mean"]),
            "simulated mean": number(row["simulated_mean"]),
            "simulated sd": number(row["simulated_sd"]),
            "rank interval": Cell(f"{row['rank_low']} to {row['rank_high']}"),
            "chance of first": percent(row["top_1"]),
            "of the top three": percent(row["top_3"]),
        }
        for row in result.rows()
    ]
    caption = f"{result.caption()} Rank interval: in 95% of the simulated collections."
    return table("simulated", caption, *titled(rows))


def _kept_table(result: SimulateResult) -> Table:
    """Neighbours in the table: how often they keep their order."""
    order = np.argsort(-result.raw_mean, kind="stable").tolist()
    place = {tuple(pair): p for p, pair in enumerate(all_pairs(len(order)).tolist())}
    rows = []
    for a, b in itertools.pairwise(order):
        share = documents_share(result, result.runs[a], result.runs[b])
        p = place[min(a, b), max(a, b)]
        rows.append(
            {
                "better": name(result.runs[a]),
                "next": name(result.runs[b]),
                "difference": number(float(result.raw_mean[a] - result.raw_mean[b])),
                "order kept": percent(math.nan if share is None else share),
                "told apart": percent(float(result.significance.rate[p])),
            }
        )
    caption = (
        f"Neighbours in the real ranking by {result.measure}: share of the simulated collections "
        "that keep their order (ties count half), and in which a paired t test tells them apart."
    )
    return table("documents-neighbours", caption, *titled(rows), most=MOST_PAIRS)


def documents_share(result: SimulateResult, a: str, b: str) -> float | None:
    """Share of simulated collections in which a is above b, ties counted half."""
    if a not in result.runs or b not in result.runs:
        return None
    one, other = (result.simulated[:, result.runs.index(name)] for name in (a, b))
    return float(np.mean((one > other) + 0.5 * (one == other)))


PART = Part(
    title="Other documents",
    question="Would another document collection change the table?",
    means=(
        "Each run's scores of relevant and of other documents are drawn anew, topic by topic. "
        "The share of simulated collections in which a run keeps its place says how far the "
        "table depends on the documents that happened to be in the collection. The t tests "
        "here are not corrected for their number."
    ),
    means_not=(
        "It says nothing about other topics. Runs are simulated independently of each other "
        "although they share documents, which overstates how much their differences vary. "
        "Simulated documents have no grades: a measure that needs them is simulated with "
        "documents that are relevant or not, which is another measure and is called binary."
    ),
    body=_body,
    run=_run,
    why_not=_why_not,
    cost=_cost,
)
