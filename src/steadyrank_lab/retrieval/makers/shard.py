"""`shard`: instances of a selective search system, which answers differently each time it is built.

For anyone who compares systems that are not deterministic (Jayasinghe et al., IP&M 2015,
doi:10.1016/j.ipm.2015.06.005, section 5): a collection is cut into topical shards, a central
sample of them is searched first, and ReDDE (Si & Callan, SIGIR 2003, doi:10.1145/860435.860490)
picks the few shards that are searched for each topic. Cluster samples x partitions x central
samples make instances; exhaustive search is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from itertools import product
from typing import Any, Unpack

import numpy as np
from scipy import sparse

from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.sources import PathLike
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.measures.evaluate import DEFAULT_MEASURES, Missing, NoRelevant
from steadyrank.measures.names import Measure
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
    choose_shards,
    judge,
    make_engine,
    make_shards,
    merged,
)
from steadyrank_lab.retrieval.engine.shards import (
    Partition,
    Selection,
    ShardDesign,
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
    top_shards: int
    csi_depth: int
    selection: Selection
    decay: float
    first_exponent: int
    random_shards: bool
    model: str | Model
    stop_list: str
    lexical: str
    rng: Rng


def shard(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None = None,
    *,
    qrels: Any = None,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    missing: Missing = "zero",
    no_relevant: NoRelevant = "zero",
    out: PathLike | None = None,
    **options: Unpack[ShardOptions],
) -> Scores:
    """Scores of many instances of selective search, and of exhaustive search.

    `run_info` says of each run its system ("topical", "random" or "exhaustive"), rate, sample,
    partition and csi, as `instances` needs them.

    Parameters
    ----------
    corpus, topics, qrels, measures, missing, no_relevant, out : optional
        As in `grid`.
    **options
        `shards` of the collection are made `cluster_samples` x `partitions` times, by k-means on a
        `cluster_share` of the documents, or at random (`random_shards`). For each, `csi` central
        samples hold a `sample_rate` (one, or several) of every shard. By the `csi_depth` best
        documents of the central sample, `selection` "redde" or "rank-s" (whose votes fall by the
        factor `decay` with each rank, the best one's by `decay` to the power of `first_exponent`, 0
        or 1) chooses `top_shards`. Their documents are merged by score, `depth` a topic. `model`,
        `stop_list` and `lexical` rank the documents. `jobs`, `scheduler`, `executor` and `progress`
        as in `grid`; `rng` is the seed.

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
    system, design, making = _prepare(corpus, topics, **options)
    return score_made_runs(
        making,
        corpus=corpus,
        qrels=qrels,
        measures=measures,
        missing=missing,
        no_relevant=no_relevant,
        out=out,
        shard={**asdict(design), **system, "depth": making.depth},
    )


def write_shards(
    corpus: Any,
    topics: PathLike | Mapping[str, str] | None = None,
    *,
    out: PathLike,
    **options: Unpack[ShardOptions],
) -> WrittenRuns:
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
    WrittenRuns
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
    system, _, making = _prepare(corpus, topics, **options)
    return write_runs(making, out, seed=system["seed"])


def _prepare(
    corpus: Any,
    topics: Any,
    *,
    model: str | Model = "BM25",
    stop_list: str = "lucene",
    lexical: str = "porter",
    rng: Rng = 0,
    **options: Any,
) -> tuple[dict[str, Any], ShardDesign, Making]:
    """Return what searches, with the seed, the design, and the runs to make."""
    common = {key: options.pop(key) for key in MakingOptions.__optional_keys__ & options.keys()}
    design = ShardDesign(**options)
    system: dict[str, Any] = {
        "model": spelled_model(parse_model(model)),
        "stop_list": stop_list,
        "lexical": lexical,
        "seed": seed_from(rng),
    }
    tasks, info = _tasks(design)
    stopped = {"stop_list": sorted(stop_words(stop_list))}
    making = lay_out_runs(
        corpus,
        topics,
        prepare=partial(_open, system, design),
        make=partial(_make, system["seed"], design),
        tasks=tasks,
        info=info,
        settings={"makes": "selective search", **system, **asdict(design), **stopped},
        **common,
    )
    check_sample(len(making.counts.documents), design)
    return system, design, making


def _tasks(design: ShardDesign) -> tuple[tuple[Task, ...], tuple[Info, ...]]:
    """Return exhaustive search, then a task per partition, with what is known of their runs."""
    tasks = [Task((EXHAUSTIVE,), None)]
    columns = ("system", "rate", "sample", "partition", "csi")
    info: list[Info] = [dict.fromkeys(columns, "") | {"system": EXHAUSTIVE}]
    for sample, partition in product(range(design.cluster_samples), range(design.partitions)):
        rows = [design.info(sample, partition, *instance) for instance in design.instances]
        runs = tuple("{system}_r{rate}_s{sample}_p{partition}_c{csi}".format(**row) for row in rows)
        tasks.append(Task(runs, {"sample": sample, "partition": partition}))
        info += rows
    return tuple(tasks), tuple(info)


def _open(
    system: Mapping[str, Any], design: ShardDesign, sources: Sources
) -> tuple[Engine, sparse.csr_matrix | None]:
    """Search the whole collection, and make vectors of the documents unless shards are random."""
    stop_list, model = system["stop_list"], system["model"]
    index = build_index(
        sources.counts,
        sources.topics,
        stop_list=stop_list,
        unit=system["lexical"],
        positions=needs_positions([model]),
    )
    vectors = None
    if not design.random_shards:
        vectors = make_vectors(sources.counts, without=stop_words(stop_list))
    return make_engine(index, sources.order, model, wanted=sources.wanted), vectors


def _make(
    seed: int,
    design: ShardDesign,
    sources: Sources,
    prepared: tuple[Engine, sparse.csr_matrix | None],
    task: Task,
) -> Iterator[MadeRun]:
    """Make all instances of one partition; or exhaustive search, of one shard that is chosen."""
    engine, vectors = prepared
    if task.what is None:
        everything = np.zeros(len(engine.order), np.int32)
        shards = make_shards(engine, Partition(shard_of=everything, n_shards=1))
        choices = [np.ones((len(sources.topics), 1), np.bool_)]
    else:
        numbers = {"seed": seed, **task.what}
        if vectors is None:
            partition = random_shards(len(engine.order), n_shards=design.shards, **numbers)
        else:
            share = design.cluster_share
            partition = topical_shards(
                vectors, n_shards=design.shards, sample_share=share, **numbers
            )
        shards = make_shards(engine, partition)
        choices = [
            choose_shards(
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
