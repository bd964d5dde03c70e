"""`shard`: instances of a selective search system, which answers differently each time it is built.

For anyone who compares systems that are not deterministic (Jayasinghe et al., IP&M 2015,
doi:10.1016/j.ipm.2015.06.005, section 5): a collection is cut into topical shards, a central
sample of them is searched first, and ReDDE (Si & Callan, SIGIR 2003, doi:10.1145/860435.860490)
picks the few shards that are searched for each topic. Cluster samples x partitions x central
samples make instances; exhaustive search is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, check_choice
from steadyrank.measures.evaluate import DEFAULT_MEASURES, Missing, NoRelevant
from steadyrank.measures.names import Measure, parse_measure
from steadyrank.words import counted
from steadyrank_lab.retrieval.engine.index import build_index
from steadyrank_lab.retrieval.engine.models import (
    Model,
    needs_positions,
    parse_model,
    spelled_model,
)
from steadyrank_lab.retrieval.engine.shard_search import (
    Engine,
    Shards,
    all_shards,
    choose_shards,
    judge,
    make_engine,
    make_shards,
    merged,
)
from steadyrank_lab.retrieval.engine.shards import (
    Distance,
    Partition,
    Selection,
    ShardDesign,
    Statistics,
    Vectors,
    central_sample,
    check_sample,
    make_vectors,
    random_shards,
    topical_shards,
)
from steadyrank_lab.retrieval.engine.tokens import stop_words
from steadyrank_lab.retrieval.makers.runs import (
    Info,
    MadeRun,
    Making,
    MakingOptions,
    Sources,
    Task,
    WrittenRuns,
    lay_out_runs,
    score_made_runs,
    write_runs,
)

EXHAUSTIVE = "exhaustive"


class ShardOptions(MakingOptions, total=False):
    """What `shard` and `write_shards` take by name in addition to judgments and folders."""

    shards: int
    sample_rate: float | Iterable[float]
    cluster_samples: int
    partitions: int
    csi: int
    cluster_share: float
    top_shards: int | Mapping[str, int]
    csi_depth: int
    selection: Selection
    decay: float
    first_exponent: int
    distance: Distance
    random_shards: bool
    statistics: Statistics
    model: str | Model
    stop_list: str
    lexical: str
    rng: Rng


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ShardResult(WrittenRuns):
    """The runs that `write_shards` made: one of exhaustive search, and one per instance.

    Examples
    --------
    >>> import tempfile
    >>> import steadyrank as sr
    >>> result = sr.write_shards(
    ...     {f"d{i}": f"river banks {i}" for i in range(40)}, {"1": "banks"},
    ...     out=tempfile.mkdtemp(), shards=2, top_shards=1, cluster_share=0.5, sample_rate=[0.5],
    ...     cluster_samples=1, partitions=1, csi=1,
    ... )
    >>> result.runs, result.n_documents
    (('exhaustive', 'topical_r0.5_s1_p1_c1'), 40)
    """

    design: ShardDesign
    model: str
    stop_list: str
    lexical: str
    seed: int

    def caption(self) -> str:
        """Return how many instances were made, of what, and where they are."""
        return (
            f"{counted(len(self.runs) - 1, 'instance')} of "
            f"{counted(self.design.shards, f'{self.design.system} shard')} in {self.folder}"
        )


def shard(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None = None,
    *,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    out: PathLike | None = None,
    store: PathLike | None = None,
    **options: Unpack[ShardOptions],
) -> Scores:
    """Scores of many instances of selective search, and of exhaustive search.

    `run_info` says of each run its system ("topical", "random" or "exhaustive"), rate, sample,
    partition and csi, as `instances` needs them.

    Parameters
    ----------
    corpus, topics, qrels, measures, missing, no_relevant, out, store : optional
        As in `grid`.
    **options
        `shards` of the collection are made `cluster_samples` x `partitions` times, by k-means on a
        `cluster_share` of the documents (`distance` "cosine", or "kl" as Kulkarni & Callan), or at
        random (`random_shards`). For each, `csi` central samples hold a `sample_rate` (one, or
        several) of every shard. By the `csi_depth` best documents of the central sample,
        `selection` "redde" or "rank-s" (whose votes fall by the factor `decay` with each rank, the
        best one's by `decay` to the power of `first_exponent`, 0 or 1) chooses `top_shards`: a
        number or, for scores, one for each measure: {"AP": 10, "": 5}, "" being any other. Their
        documents are merged by score, `depth` a topic. `statistics`: "global", or "shard" for each
        shard's and central sample's own. `model`, `stop_list` and `lexical`
        rank the documents. `cache`, `jobs`, `scheduler`, `executor`, `reading` and `progress` as in
        `grid`; `rng` is the seed.

    Returns
    -------
    Scores
        With system, rate, sample, partition and csi of each run in `run_info`.

    Notes
    -----
    What is random in an instance depends only on `rng` and its numbers (sample, partition, csi):
    other rates, `jobs`, or a `scheduler` change nothing. A topic for which the central sample has
    no document gets none.

    References
    ----------
    - Kulkarni & Callan (2010). Document allocation policies for selective searching of distributed
      indexes. CIKM. doi:10.1145/1871437.1871497
    - Si & Callan (2003). Relevant document distribution estimation method for resource selection.
      SIGIR. doi:10.1145/860435.860490
    - Kulkarni, Tigelaar, Hiemstra & Callan (2012). Shard ranking and cutoff estimation for
      topically partitioned collections. CIKM. doi:10.1145/2396761.2396833

    Examples
    --------
    >>> import steadyrank as sr
    >>> corpus = {f"d{i}": f"word{i % 7} word{i % 5} river" for i in range(200)}
    >>> scores = sr.shard(
    ...     corpus, {"1": "word3 river"}, qrels={"1": {"d3": 1, "d38": 1}}, shards=5, csi=2,
    ...     cluster_share=0.2, sample_rate=[0.1, 0.2], top_shards=2, measures="P@10",
    ... )
    >>> scores.values.shape, scores.run_info["system"][:2], scores.run_info["rate"][-1]
    ((1, 41, 1), ('exhaustive', 'topical'), '0.2')
    """
    given: Any = {"qrels": qrels, "missing": missing, "no_relevant": no_relevant}
    numbers = options.get("top_shards", 5)
    if isinstance(numbers, Mapping):
        if out is not None:
            raise InputError(_ONE_NUMBER)
        return _shards_by_measure(
            corpus, topics, measures=measures, numbers=numbers, store=store, **given, **options
        )
    system, making = _prepare(corpus, topics, **options)
    return score_made_runs(
        making,
        corpus=corpus,
        measures=measures,
        **given,
        out=out,
        store=store,
        shard={**asdict(system.design), **system.about, "depth": making.depth},
    )


_ONE_NUMBER = "runs are of one number of shards, not one per measure: write a folder for each"


def _shards_by_measure(
    corpus: Any,
    topics: Any,
    *,
    measures: Any,
    numbers: Mapping[str, int],
    store: Any,
    **options: Any,
) -> Scores:
    """Each measure with its own number of shards, the same instances otherwise."""
    wanted = [measures] if isinstance(measures, (str, Measure)) else list(measures)
    names = [str(parse_measure(measure)) for measure in wanted]
    own = {str(parse_measure(name)): number for name, number in numbers.items() if name}
    for name in own:
        check_choice("measure of top_shards", name, names)
    by_number: dict[int, list[str]] = {}
    for name in names:
        by_number.setdefault(own.get(name, numbers.get("", 5)), []).append(name)
    options["rng"] = seed_from(options.get("rng", 0))  # the same for all, also where it is drawn
    parts = []
    for number, some in by_number.items():
        kept = None if store is None else Path(store) / f"top-{number}"
        options |= {"top_shards": number, "store": kept}
        parts.append(shard(corpus, topics, measures=some, **options))
    places = {name: (part, k) for part in parts for k, name in enumerate(part.measures)}
    values = np.stack([places[name][0].values[places[name][1]] for name in names])
    about = {**parts[0].meta["shard"], "top_shards": dict(numbers)}
    meta = {**parts[0].meta, "shard": about}
    return replace(parts[0], measures=tuple(names), values=values, meta=meta)


def write_shards(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None = None,
    *,
    out: PathLike,
    **options: Unpack[ShardOptions],
) -> ShardResult:
    """Write the runs of many instances of selective search, and of exhaustive search.

    Files and folders are those of `write_grid`.

    Parameters
    ----------
    corpus, topics, out : object
        As in `write_grid`.
    **options
        As in `shard`.

    Returns
    -------
    ShardResult
        The runs, where they are, and how many were made now.

    Examples
    --------
    >>> import tempfile
    >>> import steadyrank as sr
    >>> documents = {f"d{i}": f"river banks {i}" for i in range(40)}
    >>> result = sr.write_shards(
    ...     documents, {"1": "banks"}, out=tempfile.mkdtemp(), shards=2, top_shards=1,
    ...     cluster_share=0.5, sample_rate=[0.5], cluster_samples=1, partitions=1, csi=1,
    ... )
    >>> result.runs
    ('exhaustive', 'topical_r0.5_s1_p1_c1')
    """
    system, making = _prepare(corpus, topics, **options)
    return ShardResult(**system._asdict(), **write_runs(making, out))


class _System(NamedTuple):
    """A design, and what searches."""

    design: ShardDesign
    model: str
    stop_list: str
    lexical: str
    seed: int

    @property
    def about(self) -> dict[str, Any]:
        """What searches, and the seed."""
        known = self._asdict()
        del known["design"]
        return known


def _prepare(
    corpus: Any,
    topics: Any,
    *,
    model: str | Model = "BM25",
    stop_list: str = "lucene",
    lexical: str = "porter",
    rng: Rng = 0,
    **options: Any,
) -> tuple[_System, Making]:
    seed = seed_from(rng)
    if isinstance(options.get("top_shards"), Mapping):
        raise InputError(_ONE_NUMBER)
    common = {key: options.pop(key) for key in MakingOptions.__optional_keys__ & options.keys()}
    design = ShardDesign(**options)
    system = _System(design, spelled_model(parse_model(model)), stop_list, lexical, seed)
    tasks, info = _tasks(design)
    settings = {
        "makes": "selective search",
        **system.about,
        **asdict(design),
        "stop_list": sorted(stop_words(stop_list)),
    }
    making = lay_out_runs(
        corpus,
        topics,
        prepare=partial(_open, system),
        make=partial(_make, system),
        tasks=tasks,
        info=info,
        settings=settings,
        **common,
    )
    check_sample(len(making.counts.documents), design)
    return system, making


def _tasks(design: ShardDesign) -> tuple[tuple[Task, ...], tuple[Info, ...]]:
    """Return exhaustive search, then a task per partition, with what is known of their runs."""
    tasks = [Task(name=EXHAUSTIVE, runs=(EXHAUSTIVE,), what=None)]
    columns = ("system", "rate", "sample", "partition", "csi")
    info: list[Info] = [dict.fromkeys(columns, "") | {"system": EXHAUSTIVE}]
    for sample, partition in product(range(design.cluster_samples), range(design.partitions)):
        rows = [design.info(sample, partition, *instance) for instance in design.instances]
        name = f"sample-{sample + 1}-partition-{partition + 1}"
        what = {"sample": sample, "partition": partition}
        runs = tuple("{system}_r{rate}_s{sample}_p{partition}_c{csi}".format(**row) for row in rows)
        tasks.append(Task(name=name, runs=runs, what=what))
        info += rows
    return tuple(tasks), tuple(info)


def _open(system: _System, sources: Sources) -> tuple[Engine, Vectors | None]:
    """Search the whole collection, and make vectors of the documents unless shards are random."""
    index = build_index(
        sources.counts,
        sources.topics,
        stop_list=system.stop_list,
        unit=system.lexical,
        positions=needs_positions([system.model]),
    )
    design, vectors = system.design, None
    if not design.random_shards:
        stopped = stop_words(system.stop_list)
        vectors = make_vectors(sources.counts, distance=design.distance, without=stopped)
    searching: Any = {"statistics": design.statistics, "wanted": sources.wanted}
    return make_engine(index, sources.order, system.model, **searching), vectors


def _make(
    system: _System, sources: Sources, prepared: tuple[Engine, Vectors | None], task: Task
) -> Iterator[MadeRun]:
    """Make all instances of one partition; or exhaustive search, of one shard that is chosen."""
    (engine, vectors), design = prepared, system.design
    if task.what is None:
        everything = np.zeros(len(engine.order), np.int32)
        shards = make_shards(engine, Partition(shard_of=everything, n_shards=1))
        choices = [all_shards(shards)]
    else:
        numbers = {"n_shards": design.shards, "seed": system.seed, **task.what}
        if vectors is None:
            partition = random_shards(len(engine.order), **numbers)
        else:
            partition = topical_shards(vectors, sample_share=design.cluster_share, **numbers)
        shards = make_shards(engine, partition)
        del numbers["n_shards"]
        choices = [
            choose_shards(
                engine,
                shards,
                central_sample(shards.partition, rate=rate, csi=csi, **numbers),
                csi_depth=design.csi_depth,
                top_shards=design.top_shards,
                decay=design.decay if design.selection == "rank-s" else None,
                first_exponent=design.first_exponent,
            )
            for rate, csi in design.instances
        ]
    for name, chosen in zip(task.runs, choices, strict=True):
        run = partial(_run, shards, chosen, sources.depth, name)
        yield MadeRun(name, run, partial(judge, shards, chosen, depth=sources.depth))


def _run(shards: Shards, chosen: np.ndarray, depth: int, name: str) -> Run:
    return merged(shards, chosen, depth=depth).to_run(name)
