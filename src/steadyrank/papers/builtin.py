"""Built-in data for each paper: the built-in collection searched, or simulated for a quick look.

`builtin_data` is the one place that says which. With the budget "full" systems search the built-in
collection of docstrings, whose topics are judged; with "small" everything is simulated in a moment.
The same versions of the packages give the same data, whatever the seed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, get_args

from steadyrank.compute.executors import Progress
from steadyrank.data.scores import Scores, join_scores
from steadyrank.data.track.model import TrackModel
from steadyrank.data.track.simulated import simulated_track
from steadyrank.errors import SteadyrankWarning, check_choice
from steadyrank.measures.evaluate import evaluate
from steadyrank.papers.data import GRID_MEASURES, PaperData

Kind = Literal["runs", "teams", "scores", "grid", "instances"]
"""Built-in data: deep runs; shallow runs of teams; one measure on two sets of topics; many systems;
instances of a system that is not deterministic."""

SEED = 0
"""Of all that is random here: built-in data are always the same."""

UNITS = ("none", "porter", "lovins", "4grams", "6grams")
"""Lexical units of the systems that search for titles and for descriptions."""

RATES = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
"""Shares of a shard's documents that selective search samples: those of the paper, from a hundredth
of a percent on, are for millions of documents and would be none here."""

SHARDS, CLUSTERED = 20, 0.1
"""For so small a collection fewer shards, learnt from a larger share of the documents than in the
paper: a shard has some 600 documents, of which 60 are learnt from."""


def builtin_data(
    kind: Kind, *, budget: str = "full", jobs: int | None = None, progress: Progress | None = None
) -> PaperData:
    """Built-in data of one kind: of the built-in collection, or simulated if the budget is "small".

    >>> data = builtin_data("teams", budget="small")
    >>> len(data.runs), data.runs[0].info["team"]
    (18, 'team1')
    """
    check_choice("kind of built-in data", kind, get_args(Kind))
    if budget == "small":
        data = _SIMULATED[kind]()
        return replace(data, words=f"simulated data for a quick look, {data.words}")
    from steadyrank.retrieval.builtin.collection import builtin_collection

    data = _RETRIEVED[kind](jobs=jobs, progress=progress)
    collection = builtin_collection()
    words = (
        f"the built-in collection ({len(collection.documents):,} docstrings, "
        f"{len(collection.topics)} topics, {len(collection.qrels):,} judgments): {data.words}"
    )
    versions = {**collection.manifest["versions"], "digest": collection.manifest["digest"]}
    return replace(data, words=words, settings={"built-in collection": versions})


def _pooled(*, depth: int | None = None, progress: Progress | None, **unused: Any) -> PaperData:
    """The runs of the pool: in full for Yang, Zhang & Song, for Sakai & Shang what was judged."""
    from steadyrank.retrieval.builtin.collection import builtin_qrels
    from steadyrank.retrieval.builtin.runs import POOL_DEPTH, builtin_runs

    depth = depth or POOL_DEPTH
    runs = builtin_runs(depth=depth, progress=progress)
    judged = "all" if depth == POOL_DEPTH else f"the {POOL_DEPTH} best"
    words = (
        f"{len(runs)} runs of {len({run.info['team'] for run in runs})} teams, up to {depth:,} "
        f"documents a topic, {judged} of which are judged"
    )
    return PaperData(words=words, runs=runs, qrels=builtin_qrels())


def _titles_and_descriptions(**options: Any) -> PaperData:
    """AP of the same systems on two sets of topics: for Lin & Hauptmann."""
    from steadyrank.retrieval.builtin.collection import BUILTIN, builtin_topics
    from steadyrank.retrieval.makers.grid import grid

    parts = []
    for field in ("title", "description"):
        scores = grid(
            BUILTIN,
            builtin_topics([field]),
            measures="AP",
            stop_lists="lucene",
            lexical=UNITS,
            **options,
        )
        parts.append(_as_collection(scores, f"AP, {field}s", field))
    words = (
        f"AP of {len(parts[0].runs)} systems ({len(UNITS)} lexical units by "
        f"{len(parts[0].runs) // len(UNITS)} models), once on the topics' titles and once on their "
        "descriptions, which stand for two collections"
    )
    return PaperData(words=words, given=join_scores(*parts))


def _as_collection(scores: Scores, measure: str, mark: str) -> Scores:
    """Scores by one measure under another name, and with topics of their own."""
    topics = tuple(f"{mark} {topic}" for topic in scores.topics)
    return replace(scores, measures=(measure,), topics=topics)


def _whole_grid(**options: Any) -> PaperData:
    """The grid of points by eight measures: for Ferro."""
    from steadyrank.retrieval.builtin.collection import BUILTIN
    from steadyrank.retrieval.makers.grid import grid

    scores = grid(BUILTIN, measures=GRID_MEASURES, **options)
    parts = {"stop_list": "stop lists", "lexical": "lexical units", "model": "models"}
    sizes = (f"{len(set(scores.run_info[key]))} {name}" for key, name in parts.items())
    words = f"all {len(scores.runs):,} systems of a grid of {' × '.join(sizes)}"
    return PaperData(words=words, given=scores)


def _selective_search(**options: Any) -> PaperData:
    """Instances of selective search by sampling rate, and exhaustive search: for Jayasinghe et al.

    As many of each rate as in the paper: 2 cluster samples × 5 partitions × 10 central samples.
    """
    from steadyrank.papers.jayasinghe2015.data import MEASURES
    from steadyrank.retrieval.builtin.collection import BUILTIN
    from steadyrank.retrieval.makers.shard import shard

    with warnings.catch_warnings():
        # That some instances find nothing is said in words.
        warnings.simplefilter("ignore", SteadyrankWarning)
        scores = shard(
            BUILTIN,
            measures=MEASURES,
            shards=SHARDS,
            sample_rate=RATES,
            cluster_share=CLUSTERED,
            rng=SEED,
            **options,
        )
    design = scores.meta["shard"]
    words = (
        f"selective search of {design['top_shards']} of {design['shards']} topical shards at "
        f"{len(RATES)} sampling rates with {(len(scores.runs) - 1) // len(RATES)} instances each, "
        "beside exhaustive search; an instance that finds nothing for a topic scores 0 there"
    )
    return PaperData(words=words, given=scores)


_RETRIEVED: Mapping[str, Callable[..., PaperData]] = {
    "runs": partial(_pooled, depth=1000),
    "teams": _pooled,
    "scores": _titles_and_descriptions,
    "grid": _whole_grid,
    "instances": _selective_search,
}


DEEP = {"runs_per_team": 2, "n_topics": 20, "depth": 100, "pool_depth": 50}
SHALLOW = {"runs_per_team": 3, "n_topics": 30, "n_candidates": 200, "depth": 10, "pool_depth": 10}
"""Simulated runs, pooled to a depth; and such as are judged as a whole."""


def _simulated_track(**sizes: Any) -> PaperData:
    track = simulated_track(n_teams=6, rng=SEED, **sizes)
    words = (
        f"a track: {len(track.runs)} runs of {len(track.teams)} teams on "
        f"{len(track.qrels.topics)} topics, the {track.truth.design.pool_depth} best documents of "
        "each run judged"
    )
    return PaperData(words=words, runs=track.runs, qrels=track.qrels)


def _simulated_scores() -> PaperData:
    """AP on two collections; on the second systems differ more from topic to topic."""
    sizes: dict[str, Any] = {
        "n_teams": 5,
        "runs_per_team": 3,
        "n_topics": 30,
        "depth": 100,
        "pool_depth": 50,
    }
    parts = []
    for place, (name, spread) in enumerate({"first": 0.05, "second": 0.2}.items()):
        model = TrackModel(team_topic=spread, system_topic=spread)
        track = simulated_track(**sizes, model=model, rng=SEED + place)
        scores = evaluate(track.runs, track.qrels, "AP")
        parts.append(_as_collection(scores, f"AP, {name} track", name))
    n_runs, n_topics = len(parts[0].runs), len(parts[0].topics)
    words = (
        f"two tracks of {n_runs} runs and {n_topics} topics, the second with twice the spread of "
        "systems from topic to topic"
    )
    return PaperData(words=words, given=join_scores(*parts))


def _simulated_grid() -> PaperData:
    """Many systems by eight measures."""
    track = simulated_track(
        n_teams=20, runs_per_team=2, n_topics=30, depth=50, pool_depth=20, rng=SEED
    )
    scores = evaluate(track.runs, track.qrels, GRID_MEASURES)
    words = f"a track of {len(scores.runs)} systems and {len(scores.topics)} topics"
    return PaperData(words=words, given=scores)


def _simulated_instances() -> PaperData:
    """Scores of a sampled system at three rates, and of a deterministic one."""
    from steadyrank.papers.jayasinghe2015.data import SIMULATED_RATES, simulated_sweep

    rates, n_instances = SIMULATED_RATES[::3], 10
    scores = simulated_sweep(n_instances, rates)
    words = (
        f"scores at {len(rates)} sampling rates with {n_instances} instances each, and of a "
        f"deterministic system, on {len(scores.topics)} topics"
    )
    return PaperData(words=words, given=scores)


_SIMULATED: Mapping[str, Callable[[], PaperData]] = {
    "runs": partial(_simulated_track, **DEEP),
    "teams": partial(_simulated_track, **SHALLOW),
    "scores": _simulated_scores,
    "grid": _simulated_grid,
    "instances": _simulated_instances,
}
