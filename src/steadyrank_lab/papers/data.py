"""What a paper's exhibits are made from: runs with judgments, or scores.

Every reproduction takes a `PaperData`. `paper_data` makes it from what the user gives, and
`builtin_data` where nothing is given: with the budget "full" systems search the built-in
collection of docstrings, whose topics are judged; with "small" everything is simulated in a moment.
The same versions of the packages give the same data, whatever the seed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, Unpack, get_args

import numpy as np

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import block_stream
from steadyrank.data.order import scores_in_order
from steadyrank.data.qrels import Qrels
from steadyrank.data.read.qrels import judgments_of
from steadyrank.data.read.run_info import describe_scores
from steadyrank.data.read.runs import ReadingOptions, make_reading, read_runs
from steadyrank.data.read.score_files import read_scores
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores, join_scores
from steadyrank.data.track.model import TrackModel
from steadyrank.data.track.simulated import simulated_track
from steadyrank.errors import InputError, SteadyrankWarning, check_choice
from steadyrank.measures.evaluate import evaluate

GRID_MEASURES = ("AP", "P@10", "Rprec", "RBP(p=0.8)", "nDCG", "nDCG@20", "ERR", "Twist")
"""Those of Ferro 2018."""


INSTANCE_MEASURES = ("nDCG@10", "P@10", "AP")
"""Those of Jayasinghe et al. 2015, the one that most figures are about first."""

SWEEP = "rate"
"""The column of run information that orders settings, as `shard` writes it."""

SIMULATED_RATES = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 4.0)
"""Of the simulated sweep, in percent."""

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PaperData:
    """Runs with judgments, or scores, and what they are in words."""

    words: str
    runs: tuple[Run, ...] | None = None
    qrels: Qrels | None = None
    given: Scores | None = None
    """Scores that came without runs."""
    measures: tuple[str, ...] = ()
    """Those that the user asked for; empty for the paper's."""
    scoring: Mapping[str, Any] = field(default_factory=dict)
    """How `evaluate` treats missing topics and ties."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else tells these data from others, to be kept with what is made of them."""

    @property
    def has_teams(self) -> bool:
        """Whether the runs are here and have teams."""
        return self.runs is not None and all(run.info.get("team") for run in self.runs)

    def scores(
        self, measures: Sequence[str], *, jobs: int | None = None, progress: Progress | None = None
    ) -> Scores:
        """The scores as they came, or of the runs by the user's measures, else by these."""
        if self.given is not None:
            return self.given
        chosen = self.measures or measures
        return evaluate(
            list(self.runs or ()), self.qrels, chosen, jobs=jobs, progress=progress, **self.scoring
        )


def paper_data(
    runs: Any = None,
    qrels: Any = None,
    *,
    scores: Scores | PathLike | Sequence[PathLike] | None = None,
    measures: Iterable[str] = (),
    scoring: Mapping[str, Any] = MappingProxyType({}),
    jobs: int | None = None,
    progress: Progress | None = None,
    **reading_options: Unpack[ReadingOptions],
) -> PaperData | None:
    """The user's data, or None where there are none."""
    if (runs is None) != (qrels is None):
        raise InputError("give runs and qrels together, or scores, or nothing for built-in data")
    if scores is not None:
        if runs is not None:
            raise InputError("give either runs and qrels or scores, not both")
        given = scores if isinstance(scores, Scores) else read_scores(scores)
        given = scores_in_order(describe_scores(given, **make_reading(reading_options).about))
        return with_measures(PaperData(words=_scores_words(given), given=given), measures)
    if runs is None:
        return None
    judged = judgments_of(qrels)
    loaded = tuple(read_runs(runs, jobs=jobs, progress=progress, **reading_options))
    return PaperData(
        words=f"{len(loaded)} runs on {len(judged.topics)} judged topics",
        runs=loaded,
        qrels=judged,
        measures=tuple(map(str, measures)),
        scoring=scoring,
    )


def with_measures(data: PaperData, measures: Iterable[str]) -> PaperData:
    """The same data by the measures asked for, if any are."""
    names = tuple(map(str, measures))
    if not names:
        return data
    given = data.given if data.given is None else data.given.select(measures=names)
    return replace(data, measures=names, given=given)


def _scores_words(scores: Scores) -> str:
    measures = ", ".join(scores.measures[:8]) + (", …" if len(scores.measures) > 8 else "")
    return f"scores of {len(scores.runs)} runs on {len(scores.topics)} topics ({measures})"


def without_empty(scores: Scores, measure: str) -> Scores:
    """One measure's scores, without the runs and topics that have none of it."""
    there = ~np.isnan(scores.matrix(measure))
    runs, topics = there.any(axis=1), there.any(axis=0)
    return scores.select(
        measures=measure,
        runs=[name for name, known in zip(scores.runs, runs, strict=True) if known],
        topics=[name for name, known in zip(scores.topics, topics, strict=True) if known],
    )


@contextmanager
def quietly() -> Iterator[None]:
    """Without the package's warnings: what they would say, the exhibits say in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SteadyrankWarning)
        yield


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
    from steadyrank_lab.retrieval.builtin.collection import builtin_collection

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
    from steadyrank_lab.retrieval.builtin.collection import builtin_qrels
    from steadyrank_lab.retrieval.builtin.runs import POOL_DEPTH, builtin_runs

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
    from steadyrank_lab.retrieval.builtin.collection import BUILTIN, builtin_topics
    from steadyrank_lab.retrieval.makers.grid import grid

    parts, chosen = [], {"stop_lists": "lucene", "lexical": UNITS, **options}
    for part in ("title", "description"):
        scores = grid(BUILTIN, builtin_topics([part]), measures="AP", **chosen)
        parts.append(_as_collection(scores, f"AP, {part}s", part))
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
    from steadyrank_lab.retrieval.builtin.collection import BUILTIN
    from steadyrank_lab.retrieval.makers.grid import grid

    scores = grid(BUILTIN, measures=GRID_MEASURES, **options)
    parts = {"stop_list": "stop lists", "lexical": "lexical units", "model": "models"}
    sizes = (f"{len(set(scores.run_info[key]))} {name}" for key, name in parts.items())
    words = f"all {len(scores.runs):,} systems of a grid of {' × '.join(sizes)}"
    return PaperData(words=words, given=scores)


def _selective_search(**options: Any) -> PaperData:
    """Instances of selective search by sampling rate, and exhaustive search: for Jayasinghe et al.

    As many of each rate as in the paper: 2 cluster samples × 5 partitions × 10 central samples.
    """
    from steadyrank_lab.retrieval.builtin.collection import BUILTIN
    from steadyrank_lab.retrieval.makers.shard import shard

    sizes: Any = {"shards": SHARDS, "sample_rate": RATES, "cluster_share": CLUSTERED}
    with quietly():  # that some instances find nothing is said in words
        scores = shard(BUILTIN, measures=INSTANCE_MEASURES, rng=SEED, **sizes, **options)
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
    sizes: dict[str, Any] = {"n_teams": 5, "runs_per_team": 3, "n_topics": 30}
    sizes |= {"depth": 100, "pool_depth": 50}
    parts = []
    for place, (name, spread) in enumerate({"first": 0.05, "second": 0.2}.items()):
        model = TrackModel(team_topic=spread, system_topic=spread)
        track = simulated_track(**sizes, model=model, rng=SEED + place)
        scores = evaluate(track.runs, track.qrels, "AP", rel=1)
        parts.append(_as_collection(scores, f"AP, {name} track", name))
    n_runs, n_topics = len(parts[0].runs), len(parts[0].topics)
    words = (
        f"two tracks of {n_runs} runs and {n_topics} topics, the second with twice the spread of "
        "systems from topic to topic"
    )
    return PaperData(words=words, given=join_scores(*parts))


def _simulated_grid() -> PaperData:
    """Many systems by eight measures."""
    sizes: Any = {"n_teams": 20, "runs_per_team": 2, "n_topics": 30, "depth": 50, "pool_depth": 20}
    track = simulated_track(**sizes, rng=SEED)
    scores = evaluate(track.runs, track.qrels, GRID_MEASURES, rel=1)
    words = f"a track of {len(scores.runs)} systems and {len(scores.topics)} topics"
    return PaperData(words=words, given=scores)


def _simulated_instances() -> PaperData:
    """Scores of a sampled system at three rates, and of a deterministic one."""
    rates, n_instances = SIMULATED_RATES[::3], 10
    scores = simulated_sweep(n_instances, rates)
    words = (
        f"scores at {len(rates)} sampling rates with {n_instances} instances each, and of a "
        f"deterministic system, on {len(scores.topics)} topics"
    )
    return PaperData(words=words, given=scores)


def simulated_sweep(n_instances: int, rates: tuple[float, ...] = SIMULATED_RATES) -> Scores:
    """Scores of a sampled system at several rates, and of a deterministic one.

    The larger the rate, the better the mean, the less instances differ, and the smaller the
    residual; on some topics nothing varies. Always the same scores.
    """
    n_topics = 50
    stream = block_stream(0, "selective search, simulated", 0)
    baseline = np.clip(stream.normal(0.45, 0.2, n_topics), 0.02, 0.98)
    own = stream.normal(0.0, 0.08, n_topics)
    susceptible = 1.5 * stream.beta(0.8, 1.2, n_topics)
    susceptible[stream.random(n_topics) < 0.1] = 0.0
    level = baseline + own * (susceptible > 0)
    rows, info = [baseline], [("exhaustive", "exhaustive", "")]
    least, most = SIMULATED_RATES[0], SIMULATED_RATES[-1]
    for rate in rates:
        share = np.log(rate / least) / np.log(most / least)
        draws = block_stream(0, "selective search, simulated", round(100 * rate))
        mean = 0.02 - 0.14 * (1.0 - share) ** 2
        mean = mean + 0.045 * (1.0 - 0.8 * share) * draws.normal(size=(n_instances, 1))
        noise = 0.12 * (1.0 - 0.6 * share) * draws.normal(size=(n_instances, n_topics))
        rows += list(np.clip(level + susceptible * (mean + noise), 0, 1))
        info += [(f"r{rate:g}-i{i}", "sampled", f"{rate:g}") for i in range(1, n_instances + 1)]
    names, systems, settings = zip(*info, strict=True)
    return Scores(
        measures=("score",),
        runs=names,
        topics=tuple(str(701 + n) for n in range(n_topics)),
        values=np.array(rows)[None],
        run_info={"system": systems, SWEEP: settings},
    )


_SIMULATED: Mapping[str, Callable[[], PaperData]] = {
    "runs": partial(_simulated_track, **DEEP),
    "teams": partial(_simulated_track, **SHALLOW),
    "scores": _simulated_scores,
    "grid": _simulated_grid,
    "instances": _simulated_instances,
}
