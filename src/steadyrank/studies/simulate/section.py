"""The section of a report about other documents: would they change the table?"""

from __future__ import annotations

import itertools
import math

import numpy as np

from steadyrank.data.runs import Runs
from steadyrank.errors import InputError
from steadyrank.present.cells import name, number, percent, table, titled, whole
from steadyrank.present.table import Cell, Table
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.material import NO_RUNS, Material
from steadyrank.studies.part import Body, Cost, Drawing, Findings, Job, Part, Shape
from steadyrank.studies.simulate.measures import parse_shared
from steadyrank.studies.simulate.study import SimulateResult, simulate
from steadyrank.studies.simulate.tables import answer_sentences, ranks_caption
from steadyrank.words import counted

MOST_ERRORS = 500_000_000
"""Standard errors of pairs that a simulation may keep at a time: two gigabytes."""

MOST_PAIRS = 200


def _why_not(material: Material) -> str:
    if material.runs is None:
        return "requires runs; a table of scores was given"
    if simulated_measure(material) is None:
        return (
            f"none of the measures ({', '.join(material.scores.measures)}) can be simulated: "
            "with -m, name AP, nDCG@10, P@10, RR, RBP or another measure that depends only on "
            "the ranks of relevant documents"
        )
    return "" if len(material.compared.runs) > 1 else "requires two runs to compare"


def simulated_measure(material: Material) -> str | None:
    """The measure that ranks the runs, or else the first that can be simulated."""
    measures = (material.measure, *material.scores.measures)
    return next((text for text in measures if _can_be_simulated(text)), None)


def _can_be_simulated(measure: str) -> bool:
    try:
        parse_shared(measure)
    except InputError:
        return False
    return True


def simulated_runs(material: Material) -> Runs:
    """The runs to simulate: those that are compared."""
    if material.runs is None:
        raise InputError(NO_RUNS)
    names = set(material.compared.runs)
    return material.runs.at([r for r, name in enumerate(material.scores.runs) if name in names])


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
    wrong_order = (
        "How often a simulated difference has the opposite sign to the observed one, by its size."
    )
    return Body(
        answer=tuple(_answer(result, findings.material.measure)),
        figures=(
            Drawing("document-ranks", "Ranks in a second collection.", result, "ranks"),
            Drawing("document-errors", wrong_order, result, "error_rate"),
            Drawing(
                "document-tau",
                "Rank correlation between the observed ranking and a second collection's.",
                result,
                "tau",
            ),
            Drawing(
                "document-topics",
                "Simulated scores of the best run on each topic.",
                result,
                "topics",
            ),
        ),
        tables=(_simulated_table(result), _kept_table(result)),
    )


def _answer(result: SimulateResult, measure: str) -> list[str]:
    """What was found; `measure` is the one that ranks the runs."""
    said = [
        *answer_sentences(result),
        counted(result.n_samples, "collection was", "collections were") + " simulated.",
    ]
    if measure != result.measure:
        # The first sentence says what was found, and stands alone where findings are listed.
        said.insert(1, f"By {result.measure}: {measure} cannot be simulated.")
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
            "probability of rank 1": percent(row["top_1"]),
            "of the top three": percent(row["top_3"]),
        }
        for row in result.rows()
    ]
    return table("simulated", ranks_caption(result), *titled(rows))


def _kept_table(result: SimulateResult) -> Table:
    """Neighbours in the table: how often they keep their order."""
    order, above = np.argsort(-result.raw_mean, kind="stable").tolist(), result.above
    place = {tuple(pair): p for p, pair in enumerate(all_pairs(len(order)).tolist())}
    rows = []
    for a, b in itertools.pairwise(order):
        p = place[min(a, b), max(a, b)]
        rows.append(
            {
                "better": name(result.runs[a]),
                "next": name(result.runs[b]),
                "difference": number(float(result.raw_mean[a] - result.raw_mean[b])),
                "same order": percent(float(above[a, b])),
                "significant": percent(float(result.significance.rate[p])),
            }
        )
    caption = (
        f"Neighbours in the observed ranking by {result.measure}: probability of the same order in "
        "a second collection (ties count half), and share of the simulated collections in which "
        "they differ significantly by a paired t test."
    )
    return table("documents-neighbours", caption, *titled(rows), most=MOST_PAIRS)


def documents_share(result: SimulateResult, a: str, b: str) -> float | None:
    """Probability that a is above b in a second collection; None where it is not known."""
    if a not in result.runs or b not in result.runs:
        return None
    share = float(result.above[result.runs.index(a), result.runs.index(b)])
    return None if math.isnan(share) else share


PART = Part(
    title="Other documents",
    question="Would another document collection change the table?",
    means=(
        "The documents of each topic are resampled with their grades, and all runs rank the "
        "same new collection. Ranks, probabilities and tau are for a second collection, which "
        "has an error of its own besides that of the collection at hand. The t tests in this "
        "section are not corrected for multiple comparisons."
    ),
    means_not=(
        "This section says nothing about other topics or other judges. Unjudged documents count "
        "as not relevant in the simulated collections, too, and a topic that has lost all its "
        "relevant documents in a simulated collection scores 0 there for every run."
    ),
    body=_body,
    run=_run,
    why_not=_why_not,
    cost=_cost,
)
