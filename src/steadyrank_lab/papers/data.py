"""What a paper's exhibits are made from: runs with judgments, or scores.

All are of the built-in collection, which systems search, and do not depend on the seed; with the
budget "small" they are fewer systems. Each exhibit names the command that does the same with data
of one's own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from steadyrank.compute.executors import Progress
from steadyrank.data.qrels import Qrels
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores, join_scores
from steadyrank.errors import SteadyrankWarning
from steadyrank_lab.retrieval.builtin.collection import (
    BUILTIN,
    builtin_collection,
    builtin_qrels,
    builtin_topics,
)
from steadyrank_lab.retrieval.builtin.runs import POOL_DEPTH, builtin_runs
from steadyrank_lab.retrieval.makers.grid import grid
from steadyrank_lab.retrieval.makers.shard import shard

GRID_MEASURES = ("AP", "P@10", "Rprec", "RBP(p=0.8)", "nDCG", "nDCG@20", "ERR", "Twist")
"""Measures of Ferro 2018."""

INSTANCE_MEASURES = ("nDCG@10", "P@10", "AP")
"""Measures of Jayasinghe et al. 2015; most figures are about the first."""

Kind = Literal["runs", "teams", "scores", "grid", "instances"]
"""Built-in data: deep runs; shallow runs of teams; one measure on two sets of topics; many systems;
instances of a system that is not deterministic."""

SEED = 0
"""The seed of built-in data, which are always the same."""

UNITS = ("none", "porter", "lovins", "4grams", "6grams")
"""Lexical units of the systems that search for titles and for descriptions."""

RATES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
"""Shares of a shard's documents that selective search samples: those of the paper, from a hundredth
of a percent on, are for millions of documents and would be none here."""

SHARDS, CLUSTERED = 20, 0.1
"""For so small a collection fewer shards, learnt from a larger share of the documents than in the
paper: a shard has some 600 documents, of which 60 are learnt from."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PaperData:
    """Runs with judgments, or scores, and what they are in words."""

    words: str
    runs: tuple[Run, ...] = ()
    qrels: Qrels | None = None
    scores: Scores | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else tells these data from others, to be kept with what is made of them."""


@contextmanager
def quietly() -> Iterator[None]:
    """Without the package's warnings: what they would say, the exhibits say in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteadyrankWarning)
        yield


def builtin_data(
    kind: Kind, *, budget: str = "full", jobs: int | None = None, progress: Progress | None = None
) -> PaperData:
    """Return built-in data of one kind, fewer of them if the budget is "small".

    >>> data = builtin_data("teams")
    >>> len(data.runs), data.runs[0].info["team"]
    (18, 'okapi')
    """
    data = _KINDS[kind](budget == "small", jobs=jobs, progress=progress)
    collection = builtin_collection()
    words = (
        f"the built-in collection ({len(collection.documents):,} docstrings, "
        f"{len(collection.topics)} topics, {len(collection.qrels):,} judgments): {data.words}"
    )
    versions = {**collection.manifest["versions"], "digest": collection.manifest["digest"]}
    return replace(data, words=words, settings={"built-in collection": versions})


def _deep_runs(is_small: bool, **options: Any) -> PaperData:
    """Return the runs of the pool in full, for Yang, Zhang & Song."""
    return _pooled(1000, **options)


def _team_runs(is_small: bool, **options: Any) -> PaperData:
    """Return the judged part of the runs of the pool, for Sakai & Shang."""
    return _pooled(POOL_DEPTH, **options)


def _pooled(depth: int, *, progress: Progress | None, **unused: Any) -> PaperData:
    runs = builtin_runs(depth=depth, progress=progress)
    judged = "all" if depth == POOL_DEPTH else f"the {POOL_DEPTH} best"
    words = (
        f"{len(runs)} runs of {len({run.info['team'] for run in runs})} teams, up to {depth:,} "
        f"documents a topic, {judged} of which are judged"
    )
    return PaperData(words=words, runs=runs, qrels=builtin_qrels())


def _titles_and_descriptions(is_small: bool, **options: Any) -> PaperData:
    """Return AP of the same systems on two sets of topics, for Lin & Hauptmann."""
    units = UNITS[:2] if is_small else UNITS
    parts = []
    for part in ("title", "description"):
        topics = builtin_topics([part])
        scores = grid(BUILTIN, topics, measures="AP", stop_lists="lucene", lexical=units, **options)
        names = tuple(f"{part} {topic}" for topic in scores.topics)
        parts.append(replace(scores, measures=(f"AP, {part}s",), topics=names))
    n_systems = len(parts[0].runs)
    words = (
        f"AP of {n_systems} systems ({len(units)} lexical units by {n_systems // len(units)} "
        "models), once on the topics' titles and once on their descriptions, which represent two "
        "collections"
    )
    return PaperData(words=words, scores=join_scores(*parts))


def _grid(is_small: bool, **options: Any) -> PaperData:
    """Return the grid of points by eight measures, for Ferro."""
    few: dict[str, Any] = {"stop_lists": ("none", "smart"), "lexical": UNITS} if is_small else {}
    scores = grid(BUILTIN, measures=GRID_MEASURES, **few, **options)
    parts = {"stop_list": "stop lists", "lexical": "lexical units", "model": "models"}
    sizes = (f"{len(set(scores.run_info[key]))} {name}" for key, name in parts.items())
    words = f"all {len(scores.runs):,} systems of a grid of {' × '.join(sizes)}"
    return PaperData(words=words, scores=scores)


def _selective_search(is_small: bool, **options: Any) -> PaperData:
    """Return instances of selective search by sampling rate, for Jayasinghe et al.

    There are as many of each rate as in the paper, 2 cluster samples × 5 partitions × 10 central
    samples, or one tenth of them.
    """
    design: dict[str, Any] = {"shards": SHARDS, "sample_rate": RATES, "cluster_share": CLUSTERED}
    design["model"] = "FDM"
    if is_small:
        design |= {"sample_rate": RATES[::3], "cluster_samples": 1, "partitions": 1}
    with quietly():  # that some instances find nothing is said in words
        scores = shard(BUILTIN, measures=INSTANCE_MEASURES, rng=SEED, **design, **options)
    made, n_rates = scores.meta["shard"], len(design["sample_rate"])
    words = (
        f"selective search of {made['top_shards']} of {made['shards']} topical shards at {n_rates} "
        f"sampling rates with {(len(scores.runs) - 1) // n_rates} instances each, in addition to "
        "exhaustive search, ranked by the full dependence model; an instance that finds nothing "
        "for a topic scores 0 there"
    )
    return PaperData(words=words, scores=scores)


_KINDS: Mapping[str, Callable[..., PaperData]] = {
    "runs": _deep_runs,
    "teams": _team_runs,
    "scores": _titles_and_descriptions,
    "grid": _grid,
    "instances": _selective_search,
}
