"""The scores of a run as bins: the cells that `sampler_kernels` draws.

For each run and topic the scores of relevant and other documents become bins from the top of the
ranking down (Yang, Zhang & Song 2018, section 3.1). They are exact for the bootstrap of scores and
close for kernel densities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.data.order import order_by_name, places_by_name
from steadyrank.data.qrels import JudgedRun, Qrels
from steadyrank.data.read.runs import header_of, read_runs
from steadyrank.data.run import Run
from steadyrank.errors import InputError, bad_value, check_choice
from steadyrank.measures.check import is_rank_like
from steadyrank.measures.scoring import Recipe, find_judged_documents, score_topics
from steadyrank.studies.simulate import profile_kernels
from steadyrank.studies.simulate.sampler_kernels import Cells

Model = Literal["bootstrap", "kde"]
KernelName = Literal["gaussian", "epanechnikov", "triangular", "uniform"]
Bandwidth = Literal["scott", "silverman", "robust"]
ScoreSource = Literal["score", "rank"]
Depth = Literal["retrieved"] | int

LARGEST_DEPTH = 10_000_000
MOST_BINS = 60_000
"""A place in a table has 16 bits."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunNotes:
    """The runs of a simulation, sorted by name, and what was unusual about them."""

    runs: tuple[Run, ...]
    """The runs without their documents."""
    given: np.ndarray
    """Places of the runs in the order in which they were given."""
    missing: np.ndarray
    """[run]: number of topics that a run lacks."""
    none_relevant: int
    """Number of cells that retrieved no relevant document: they score 0 in every sample."""
    constant: tuple[str, ...]
    """Runs that give all documents of every topic the same score."""
    rank_like: tuple[str, ...] = ()
    """Runs whose scores are a function of the rank."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreProfiles:
    """The cells of a simulation, [run, topic] row by row; runs are sorted by name."""

    cells: Cells
    notes: RunNotes
    ranks: tuple[np.ndarray, ...]
    """Ranks of the relevant documents of each run, topic after topic."""
    blocks: tuple[np.ndarray, ...]
    """Where each topic's ranks begin and end."""
    longest: int
    """Number of documents of the longest ranking."""
    graded: np.ndarray | None
    """[run, topic]: the graded measure of the observed rankings, if requested."""
    plain: int
    """Number of cells with a class too small or too constant to smooth: it is bootstrapped."""


def score_profiles(
    runs: Any,
    qrels: Qrels,
    *,
    topics: Sequence[str],
    level: int = 1,
    model: Model = "bootstrap",
    depth: Depth = "retrieved",
    bandwidth: Bandwidth | float = "scott",
    kernel: KernelName = "gaussian",
    score_source: ScoreSource = "score",
    graded: Recipe | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> ScoreProfiles:
    """Return the cells of every run on every topic of `topics`.

    A document is relevant if its grade is at least `level`; unjudged documents are not. Runs (as
    `read_runs` takes them) are read once, also for their values of `graded`.
    """
    check_drawing(model, depth, bandwidth, kernel, score_source)
    wanted = np.array([qrels.position[topic] for topic in topics], np.int64)
    rule, number = profile_kernels.NUMBER, 0.0
    if model == "kde" and isinstance(bandwidth, str):
        rule = profile_kernels.RULES[bandwidth]
    elif model == "kde":
        number = float(bandwidth)
    by_score = score_source == "score"

    def one(run: Run) -> _RunProfile:
        starts, stops = topic_rows(run, topics)
        judged = find_judged_documents(run, qrels, relevant_only=level >= 1)
        blocks, ranks, _ = relevant_ranks(judged, qrels, wanted, level)
        scores = run.scores if by_score else _negated_ranks(run)
        bins = profile_kernels.profile_run(
            scores, starts, stops, blocks, ranks, rule, number, kernel
        )
        return _RunProfile(
            header_of(run),
            stops - starts,
            np.diff(blocks),
            by_score and is_constant(run.scores, starts, stops),
            by_score and is_rank_like(run),
            blocks,
            ranks,
            None if graded is None else score_topics(judged, qrels, [graded])[0, wanted],
            *bins,
        )

    parts = read_runs(runs).map(one, jobs=jobs, progress=progress)
    owner = np.repeat(np.arange(len(qrels.topics)), np.diff(qrels.blocks))
    n_relevant = np.bincount(owner[qrels.grades >= level], minlength=len(qrels.topics))
    return _joined(n_relevant[wanted], depth, parts)


class _RunProfile(NamedTuple):
    run: Run
    lengths: np.ndarray
    n_relevant: np.ndarray
    constant: bool
    rank_like: bool
    blocks: np.ndarray
    ranks: np.ndarray
    graded: np.ndarray | None
    ends: np.ndarray
    relevant: np.ndarray
    others: np.ndarray
    mingled: np.ndarray
    tails: np.ndarray
    plain: np.ndarray


def topic_rows(run: Run, topics: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and last row of each topic in the run; no rows for a topic it lacks."""
    places = {topic: t for t, topic in enumerate(run.topics)}
    at = np.array([places.get(topic, -1) for topic in topics], np.int64)
    here = at >= 0
    return np.where(here, run.blocks[at], 0), np.where(here, run.blocks[at + 1], 0)


def relevant_ranks(
    judged: JudgedRun, qrels: Qrels, wanted: np.ndarray, level: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return blocks of the wanted topics, and ranks and grades of documents from `level` on."""
    grades = qrels.grades[judged.rows]
    owner = np.repeat(np.arange(len(qrels.topics)), np.diff(judged.blocks))
    place = np.full(len(qrels.topics), -1, np.int64)
    place[wanted] = np.arange(len(wanted))
    keep = (grades >= level) & (place[owner] >= 0)
    # The order of the wanted topics may differ from that of the judgments.
    slot = place[owner[keep]]
    counts = np.bincount(slot, minlength=len(wanted))
    blocks = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    order = np.argsort(slot, kind="stable")
    return blocks, judged.ranks[keep][order].astype(np.int64), grades[keep][order]


def _negated_ranks(run: Run) -> np.ndarray:
    """Return -1 for the first document of each topic, -2 for the second, and so on."""
    sizes = np.diff(run.blocks)
    first = np.repeat(run.blocks[:-1], sizes)
    return np.asarray(first - np.arange(len(run.scores)) - 1.0)


def is_constant(scores: np.ndarray, starts: np.ndarray, stops: np.ndarray) -> bool:
    """Whether all documents of each topic have the same score."""
    several = stops - starts > 1
    firsts, lasts = scores[starts[several]], scores[stops[several] - 1]
    return bool(several.any() and (firsts == lasts).all())


def in_order_of_names(given: Sequence[Any]) -> tuple[list[Any], RunNotes]:
    """Return the parts of all runs, sorted by name, and the notes on the runs.

    A part has `run`, [topic] `lengths` and `n_relevant`, `constant`, and may have `rank_like`.
    """
    names = [part.run.name for part in given]
    parts = [given[place] for place in order_by_name(names)]
    notes = RunNotes(
        runs=tuple(part.run for part in parts),
        given=places_by_name(names),
        missing=np.array([int((part.lengths == 0).sum()) for part in parts]),
        none_relevant=int(sum((part.n_relevant == 0).sum() for part in parts)),
        constant=tuple(part.run.name for part in parts if part.constant),
        rank_like=tuple(part.run.name for part in parts if getattr(part, "rank_like", False)),
    )
    return parts, notes


def _joined(judged: np.ndarray, depth: Depth, given: list[_RunProfile]) -> ScoreProfiles:
    parts, notes = in_order_of_names(given)
    lengths = np.concatenate([part.lengths for part in parts])
    offsets = np.concatenate([[0], np.cumsum([len(part.relevant) for part in parts])])
    ends = [part.ends + offset for part, offset in zip(parts, offsets[:-1], strict=True)]
    graded = [part.graded for part in parts if part.graded is not None]
    starts = np.concatenate([[0], *ends])
    if len(starts) > 1 and int(np.diff(starts).max()) > MOST_BINS:
        raise InputError(
            f"a topic has more than {MOST_BINS} relevant documents with different scores: cut "
            "the runs to fewer documents"
        )
    cells = Cells(
        starts=starts,
        relevant=np.concatenate([part.relevant for part in parts]),
        others=np.concatenate([part.others for part in parts]),
        mingled=np.concatenate([part.mingled for part in parts]),
        tail=np.concatenate([part.tails for part in parts]),
        n_relevant=np.concatenate([part.n_relevant for part in parts]),
        depth=lengths if depth == "retrieved" else np.full(len(lengths), depth),
        judged=np.tile(judged, len(parts)),
    )
    return ScoreProfiles(
        cells=cells,
        notes=notes,
        ranks=tuple(part.ranks for part in parts),
        blocks=tuple(part.blocks for part in parts),
        longest=int(lengths.max(initial=0)),
        graded=np.stack(graded) if graded else None,
        plain=int(sum(part.plain.sum() for part in parts)),
    )


def check_drawing(
    model: str, depth: str | int, bandwidth: str | float, kernel: str, score_source: str
) -> None:
    """Raise an error for invalid ways to draw scores."""
    check_choice("model", model, get_args(Model))
    check_choice("kernel", kernel, get_args(KernelName))
    if kernel != "gaussian" and model != "kde":
        raise InputError(f"kernel {kernel} belongs to model kde: choose that, or omit it")
    check_choice("score source", score_source, get_args(ScoreSource))
    if isinstance(bandwidth, str):
        check_choice("bandwidth", bandwidth, get_args(Bandwidth))
    elif not (np.isfinite(bandwidth) and bandwidth >= 0):
        raise InputError(f"a bandwidth must be a number of at least 0, got {bandwidth}")
    whole = isinstance(depth, int) and not isinstance(depth, bool)
    if depth != "retrieved" and not (whole and 1 <= int(depth) <= LARGEST_DEPTH):
        raise bad_value(
            "depth", f"be 'retrieved' or a whole number from 1 to {LARGEST_DEPTH}", depth
        )
