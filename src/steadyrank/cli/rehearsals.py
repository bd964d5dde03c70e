"""What other processes compile while a first command begins (`compute.ahead`), by command.

Nothing is imported here: the processes begin before the command imports what it works with, and
each imports what it rehearses. They go through a list in its order. First comes what is needed
soon, then what is needed last: the first process works towards them from the other end.
"""

from __future__ import annotations

from collections.abc import Sequence

from steadyrank.compute.ahead import Rehearsal

DEMO_MEASURES = ("nDCG@10", "AP", "P@10", "RR")
"""Those of the demo, which would have to be imported to say them."""

RANKING = Rehearsal(
    "steadyrank.data.read.rehearsal:rank_two_documents", frozenset({"steadyrank.data.order"})
)

RATING = Rehearsal(
    "steadyrank.studies.simulate.rehearsal:rate_two_runs",
    frozenset({"steadyrank.stats.pairs.difference_bins"}),
)

CORRELATING = Rehearsal(
    "steadyrank.studies.simulate.rehearsal:correlate_two_runs",
    frozenset({"steadyrank.stats.ranks.kernels"}),
)

AGREEING = Rehearsal(
    "steadyrank.studies.simulate.rehearsal:correlate_two_measures", CORRELATING.modules
)

LISTING = Rehearsal(
    "steadyrank.studies.simulate.rehearsal:list_two_topics",
    frozenset({"steadyrank.studies.simulate.list_kernels"}),
)

SPLITTING = Rehearsal(
    "steadyrank.studies.topics.rehearsal:split_two_topics",
    frozenset({"steadyrank.studies.topics.kernels"}),
)

INSTANCES = Rehearsal(
    "steadyrank.studies.instances.rehearsal:compare_two_systems",
    frozenset({"steadyrank.stats.instances.kernels", "steadyrank.stats.mixed.sampling"}),
)

FONTS = Rehearsal("steadyrank.present.figures:list_fonts", frozenset())
"""No kernels, but also made once; whoever draws first makes it."""


def scoring(*measures: str) -> Rehearsal:
    """Scoring by some measures, or by those that commands have unless told otherwise."""
    return Rehearsal(
        "steadyrank.measures.rehearsal:score_two_documents",
        frozenset({"steadyrank.data.qrels", "steadyrank.measures.scoring"}),
        measures,
    )


def sampling(measure: str) -> Rehearsal:
    """Simulated collections, scored by a measure."""
    names = ("shared_counts", "shared_kernels", "shared_sums", "shared_ties")
    return Rehearsal(
        "steadyrank.studies.simulate.rehearsal:sample_one_document",
        frozenset(f"steadyrank.studies.simulate.{name}" for name in names),
        (measure,),
    )


def bounding(measure: str) -> Rehearsal:
    """Bounds of a measure over unjudged documents."""
    names = ("bound_kernels", "few_kernels", "kernels", "share_kernels")
    return Rehearsal(
        "steadyrank.studies.holes.compile_rehearsal:bound_two_runs",
        frozenset(f"steadyrank.studies.holes.{name}" for name in names),
        (measure,),
    )


def of_evaluate(measures: Sequence[str] = ()) -> list[Rehearsal]:
    """For every command that reads runs and scores them."""
    return [RANKING, scoring(*measures)]


def of_simulate(measure: str) -> list[Rehearsal]:
    """For `simulate`."""
    return [RANKING, sampling(measure), RATING, CORRELATING]


def of_report(measures: Sequence[str]) -> list[Rehearsal]:
    """For `report`, by the measures that are given."""
    first, *more = measures or ("AP", "nDCG@10")
    orders = AGREEING if more else CORRELATING
    later = [bounding(first), orders, RATING, sampling(first), LISTING, SPLITTING, FONTS]
    return [scoring(*measures), *later]


def of_demo(measures: Sequence[str]) -> list[Rehearsal]:
    """For `demo`, which makes the runs first."""
    scores, bounds, orders, *later = of_report(measures or DEMO_MEASURES)
    return [scores, bounds, orders, INSTANCES, *later]
