"""Every study as a case: small data, the call, and its results.

`CASES` are the studies of the public names, each with the data that it takes, the ways to compute
it in parts that it has, and the constants that cut its work; `NO_STUDY` says of every other public
function why it is none.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

import steadyrank as sr
from bench.invariances.differences import Json
from steadyrank.present.json import to_json
from steadyrank.studies.agree.view import VIEW as AGREE
from steadyrank.studies.compare.view import fields as compare_fields
from steadyrank.studies.components.view import VIEW as COMPONENTS
from steadyrank.studies.datasets.view import VIEW as DATASETS
from steadyrank.studies.evaluate.view import fields as scores_json
from steadyrank.studies.gate.view import VIEW as GATE
from steadyrank.studies.holes.view import VIEW as HOLES
from steadyrank.studies.instances.view import VIEW as INSTANCES
from steadyrank.studies.judges.view import VIEW as JUDGES
from steadyrank.studies.plan.view import VIEW as PLAN
from steadyrank.studies.pools.view import VIEW as POOLS
from steadyrank.studies.simulate.view import VIEW as SIMULATE
from steadyrank.studies.stability.facets_view import VIEW as FACETS
from steadyrank.studies.stability.view import VIEW as STABILITY
from steadyrank.studies.topics.view import VIEW as TOPICS


@dataclass(frozen=True)
class Data:
    """Return a small track with runs, judgments, scores and documents."""

    runs: tuple[sr.Run, ...]
    qrels: sr.Qrels
    scores: sr.Scores
    """Return two measures with factors of the runs and some missing cells."""
    documents: Mapping[str, str]
    queries: Mapping[str, str]
    searched: sr.Qrels


@functools.cache
def small_data() -> Data:
    track = sr.simulated_track(n_teams=4, runs_per_team=2, n_topics=19, depth=30, pool_depth=10)
    scores = sr.evaluate(track.runs, track.complete, ["AP", "nDCG@10"])
    values = scores.values.copy()
    # As runs lack topics, tests of two of them leave out different topics.
    values[:, 1, 4] = values[:, 6, 4] = values[:, 2, 9] = np.nan
    about = {
        "team": [run.partition("-")[0] for run in scores.runs],
        "system": ["x", "x", "x", "y", "y", "y", "z", "z"],
        "first": list("aabbaabb"),
        "second": list("cdcdcdcd"),
        "assessor": list("uvuvuvuv"),
    }
    rng = np.random.default_rng(2)
    words = [f"word{i}" for i in range(30)]
    documents = {f"d{i:02d}": " ".join(rng.choice(words, 12)) for i in range(60)}
    queries = {f"{t}": f"word{t} word{t + 1} word{t + 2}" for t in range(8, 12)}
    judged = {t: dict.fromkeys(map(str, rng.choice([*documents], 9, False)), 1) for t in queries}
    return Data(
        runs=track.runs,
        qrels=track.qrels,
        scores=dataclasses.replace(scores, values=values).with_run_info(**about),
        documents=documents,
        queries=queries,
        searched=sr.qrels_from_dict(judged),
    )


def topics_shuffled(data: Data, seed: int) -> Data:
    """Return the data with topics and documents in another order."""
    rng = np.random.default_rng(seed)

    def mixed(names: Sequence[str]) -> list[str]:
        return [names[place] for place in rng.permutation(len(names))]

    def judgments(qrels: sr.Qrels) -> sr.Qrels:
        by_topic = {topic: qrels.judgments(topic) for topic in mixed(qrels.topics)}
        return sr.qrels_from_dict(
            {t: {d: by[d] for d in mixed([*by])} for t, by in by_topic.items()}
        )

    def run(one: sr.Run) -> sr.Run:
        by_topic = {topic: dict(one.ranking(topic)) for topic in mixed(one.topics)}
        rankings = {topic: {doc: by[doc] for doc in mixed([*by])} for topic, by in by_topic.items()}
        return dataclasses.replace(sr.run_from_dict(rankings, name=one.name), info=one.info)

    return Data(
        runs=tuple(run(one) for one in data.runs),
        qrels=judgments(data.qrels),
        scores=data.scores.select(topics=mixed(data.scores.topics)),
        documents=data.documents,
        queries={t: data.queries[t] for t in mixed([*data.queries])},
        searched=judgments(data.searched),
    )


def runs_shuffled(data: Data, seed: int) -> Data:
    """Return the data with runs in another order."""
    order = np.random.default_rng(seed).permutation(len(data.runs))
    return dataclasses.replace(
        data,
        runs=tuple(data.runs[place] for place in order),
        scores=data.scores.select(runs=[data.scores.runs[place] for place in order]),
    )


def with_ties(data: Data) -> Data:
    """Return coarse scores with tied means and copies of runs."""
    values = np.round(data.scores.values * 5) / 10
    values[:, 3], values[:, 0] = values[:, 5], values[:, 7]
    return dataclasses.replace(data, scores=dataclasses.replace(data.scores, values=values))


@dataclass(frozen=True)
class Case:
    """A call of a study."""

    study: str
    """Public name of the study."""
    call: Callable[..., Any]
    """Returns the result from data and options."""
    told: Callable[[Any], Json]
    """Returns the result as the command's JSON."""
    jobs: bool = True
    executor: bool = False
    cuts: Mapping[str, int] = field(default_factory=dict)
    """{Module.CONSTANT: another block size}; empty without blocks."""
    rounded: float = 0.0
    """Largest relative change with other blocks; 0 requires the same bytes."""
    listed: bool = True
    """Whether its JSON lists runs or pairs in input order."""


def _by_judges(scores: sr.Scores) -> sr.Scores:
    """Return scores whose runs are grades of systems by assessors."""
    systems = [run[:5] for run in scores.runs]
    return scores.with_run_info(system=systems, judge=scores.run_info["assessor"])


def told_fields(result: Any) -> Json:
    """Return all fields of a result, recursively."""
    if dataclasses.is_dataclass(result):
        return {
            each.name: told_fields(getattr(result, each.name))
            for each in dataclasses.fields(result)
        }
    if isinstance(result, pd.DataFrame):
        return {"settings": told_fields(result.attrs), "rows": result.to_dict("split")["data"]}
    if isinstance(result, Mapping):
        return {str(key): told_fields(value) for key, value in result.items()}
    if isinstance(result, (list, tuple)):
        return [told_fields(value) for value in result]
    return result if isinstance(result, (str, int, float, np.ndarray, np.generic)) else str(result)


def as_json(value: Json) -> Json:
    return json.loads(to_json(value))


def complete(scores: sr.Scores) -> sr.Scores:
    """Return the data without topics that some run lacks."""
    there = ~np.isnan(scores.values).any(axis=(0, 1))
    return scores.select(topics=[t for t, keep in zip(scores.topics, there, strict=True) if keep])


def some_topics(qrels: sr.Qrels) -> sr.Qrels:
    """Return judgments of every second topic, as people's."""
    topics = [topic for topic in qrels.topics if int(topic) % 2]
    return sr.qrels_from_dict({topic: qrels.judgments(topic) for topic in topics})


# Calls, each with what keeps it small.


def _compare(data: Data, **options: Any) -> Any:
    common = {"measure": "AP", "by": "run", "n_samples": 600, "rng": 3}
    return sr.compare(data.scores, **{**common, **options})


def _clustered(scores: sr.Scores) -> sr.Scores:
    """Return shared topics in clusters of up to three, with weights and two kinds."""
    whole = complete(scores)
    numbers = [int(topic) for topic in whole.topics]
    return whole.with_topic_info(
        cluster=[number // 3 for number in numbers],
        weight=[1 + number % 4 for number in numbers],
        kind=["odd" if number % 2 else "even" for number in numbers],
    )


def _compare_clustered(data: Data, **options: Any) -> Any:
    return _compare(dataclasses.replace(data, scores=_clustered(data.scores)), **options)


def _leaderboard(scores: sr.Scores) -> sr.Leaderboard:
    """Return a leaderboard whose datasets are topics of seven types."""
    return sr.Leaderboard(
        runs=scores.runs,
        datasets=scores.topics,
        values=scores.matrix("AP"),
        types=[str(int(topic) % 7) for topic in scores.topics],
    )


def _collections(scores: sr.Scores) -> dict[str, sr.Scores]:
    """Return the topics as three collections."""
    groups: dict[str, list[str]] = {}
    for topic in scores.topics:
        groups.setdefault(f"c{int(topic) % 3}", []).append(topic)
    plain = dataclasses.replace(scores, run_info={})
    return {name: plain.select(topics=topics) for name, topics in groups.items()}


def _report(data: Data, **options: Any) -> Any:
    few = [run for run in data.scores.runs if run.endswith("s1")]
    scores = dataclasses.replace(data.scores.select(runs=few, measures="AP"), run_info={})
    with tempfile.TemporaryDirectory() as folder, undrawn():
        out = Path(folder) / "report.html"
        result = sr.report(scores=scores, out=out, n_samples=2, command="again", **options)
    return dataclasses.replace(result, path=Path(out.name))


GATED = ("team1-s1", "team2-s1")
"""Return baseline and candidate."""


@contextlib.contextmanager
def undrawn() -> Iterator[None]:
    """Make reports without figures, which take most of the time."""
    with mock.patch("steadyrank.reporting.page.figure", return_value=[]):
        yield


def _report_json(result: Any) -> Json:
    return {
        "findings": result.sentences,
        "studies": list(result.results),
        "left_out": result.left_out,
        "n_samples": result.n_samples,
    }


def _shard(data: Data, **options: Any) -> Any:
    return sr.shard(
        data.documents,
        data.queries,
        qrels=data.searched,
        measures="AP",
        shards=3,
        sample_rate=0.3,
        cluster_samples=1,
        partitions=2,
        csi=2,
        cluster_share=0.5,
        top_shards=2,
        rng=3,
        **options,
    )


def _grid(data: Data, **options: Any) -> Any:
    return sr.grid(
        data.documents,
        data.queries,
        qrels=data.searched,
        measures="AP",
        stop_lists=["none", "lucene"],
        lexical=["none", "4grams"],
        models=["BM25", "PL2"],
        **options,
    )


PAIRS = {"stats.pairs.tests.CHUNK": 30}
"""Pairs of runs that are compared."""

RESAMPLED = ("randomization", "bootstrap", "randomized-tukey")


def _compare_json(result: sr.CompareResult) -> Json:
    return compare_fields([result]) | {"pairs": result.rows()}


_case = functools.partial(Case, study="compare", told=_compare_json)
COMPARISONS = {
    f"compare, {test}": _case(
        call=functools.partial(_compare, test=test),
        cuts={**PAIRS, **cuts},
        jobs=test in RESAMPLED,
        rounded=1e-12 if test == "bootstrap" else 0.0,
    )
    for test, cuts in {
        "t": {"stats.pairs.max_t.VALUES_AT_ONCE": 50},
        "wilcoxon": {},
        "sign": {},
        "tukey": {},
        "randomization": {"stats.pairs.tests.TASKS": 2},
        "bootstrap": {"stats.pairs.resampled.WIDTH": 3, "stats.pairs.resampled.PAIRS_AT_ONCE": 2},
        "randomized-tukey": {"stats.pairs.tukey.WORDS_AT_ONCE": 900},
    }.items()
}
for test in ("t", "randomization", "bootstrap"):
    COMPARISONS[f"compare, clusters, {test}"] = _case(
        call=functools.partial(_compare_clustered, test=test),
        cuts={**PAIRS, "stats.pairs.resampled.WIDTH": 3},
        rounded=1e-12,
    )
COMPARISONS["compare, segments"] = _case(
    call=functools.partial(_compare_clustered, by="kind"),
    cuts={**PAIRS, "stats.segments.VALUES_AT_ONCE": 50},
    rounded=1e-12,
)

CASES: dict[str, Case] = {
    **COMPARISONS,
    "compare, baseline": _case(
        call=functools.partial(_compare, baseline="team3-s1", test="bootstrap"), cuts=PAIRS
    ),
    "compare, several measures": Case(
        study="compare",
        told=lambda table: {result.measure: _compare_json(result) for result in table.results},
        call=functools.partial(_compare, measure=None),
        cuts=PAIRS,
    ),
    "compare, systems": _case(
        call=functools.partial(_compare, by="system", correction="holm"), jobs=False, rounded=1e-9
    ),
    **{
        f"datasets, {what}": Case(
            study="datasets",
            told=DATASETS.json,
            listed=False,
            cuts={
                **PAIRS,
                "stats.pairs.max_t.VALUES_AT_ONCE": 50,
                "stats.pairs.max_t.PAIRS_AT_ONCE": 3,
            },
            call=functools.partial(
                lambda data, made, settings, **options: sr.datasets(
                    made(data.scores), n_samples=600, rng=3, **settings, **options
                ),
                made=made,
                settings=settings,
            ),
        )
        for what, made, settings in (
            ("gaps", _leaderboard, {"gaps": "pairwise"}),
            ("types", _leaderboard, {"drawn": "types"}),
            ("mean of types", _leaderboard, {"aggregate": "mean-of-types", "gaps": "zero"}),
            ("Borda", _leaderboard, {"aggregate": "borda", "gaps": "zero"}),
            ("topics", _collections, {"drawn": "topics", "measure": "AP"}),
        )
    },
    "audit_tests": Case(
        study="audit_tests",
        told=told_fields,
        jobs=False,
        cuts=PAIRS,
        listed=False,
        call=lambda data: sr.audit_tests(data.scores, measure="AP", n_trials=40, rng=3),
    ),
    "evaluate": Case(
        study="evaluate",
        told=scores_json,
        executor=True,
        call=lambda data, **options: sr.evaluate(
            data.runs, data.qrels, ["AP", "nDCG@10", "Twist"], **options
        ),
    ),
    "evaluate, mean over ties": Case(
        study="evaluate",
        told=scores_json,
        executor=True,
        call=lambda data, **options: sr.evaluate(
            data.runs, data.qrels, ["AP", "P@10"], ties="average", **options
        ),
    ),
    "check": Case(
        study="check",
        told=told_fields,
        executor=True,
        call=lambda data, **options: sr.check(data.runs, data.qrels, **options),
    ),
    **{
        f"simulate, {words}": Case(
            study="simulate",
            told=SIMULATE.json,
            executor=True,
            call=functools.partial(
                lambda data, drawn, **options: sr.simulate(
                    data.runs, data.qrels, n_samples=600, rng=3, **drawn, **options
                ),
                drawn=drawn,
            ),
            cuts={
                "studies.simulate.blocks.LARGEST_BLOCK": 64,
                "studies.simulate.blocks.TASKS": 5,
                "studies.simulate.blocks.REPLICATES": 7,
                "studies.simulate.blocks.IN_MEMORY": 1,
                "studies.simulate.statistics.PAIRS_A_TASK": 3,
            },
            rounded=1e-12,
        )
        for words, drawn in (
            ("shared documents", {}),
            ("bootstrap", {"documents": "independent"}),
            ("kde", {"model": "kde"}),
        )
    },
    "topics": Case(
        study="topics",
        told=TOPICS.fields,
        cuts=PAIRS,
        call=lambda data, **options: sr.topics(
            data.scores, measure="AP", n_trials=70, rng=3, **options
        ),
    ),
    "topics, clusters": Case(
        study="topics",
        told=TOPICS.fields,
        cuts=PAIRS,
        rounded=1e-12,
        call=lambda data, **options: sr.topics(
            _clustered(data.scores), measure="AP", n_trials=70, rng=3, **options
        ),
    ),
    "agree": Case(
        study="agree",
        told=AGREE.json,
        executor=True,
        listed=False,
        cuts={"studies.agree.correlations.SAMPLES": 3},
        rounded=1e-12,
        call=lambda data, **options: sr.agree(
            data.scores, topic_sizes=[4, 8], system_sizes=[4, 7], n_samples=10, rng=3, **options
        ),
    ),
    "components": Case(
        study="components",
        told=lambda result: COMPONENTS.json([result]),
        jobs=False,
        rounded=1e-12,
        call=lambda data: sr.components(data.scores, measure="AP", factors=["first", "second"]),
    ),
    **{
        f"stability, {what}": Case(
            study="stability",
            told=lambda result: STABILITY.json([result]),
            jobs=False,
            listed=False,
            call=functools.partial(
                lambda data, runs: sr.stability(
                    data.scores.with_run_info(system=[run[:5] for run in data.scores.runs])
                    if runs
                    else data.scores,
                    measure="AP",
                    n_topics=[50],
                    rng=3,
                ),
                runs=runs,
            ),
        )
        for what, runs in (("two facets", False), ("instances", True))
    },
    "stability, judges": Case(
        study="stability",
        told=lambda result: FACETS.json([result]),
        listed=False,
        rounded=1e-9,
        call=lambda data, **how: sr.stability(_by_judges(data.scores), measure="AP", rng=3, **how),
    ),
    "compare, judges": Case(
        study="compare",
        told=lambda result: compare_fields([result]) | {"pairs": result.rows()},
        rounded=1e-9,
        call=lambda data, **how: sr.compare(
            _by_judges(data.scores), measure="AP", fixed="judge", n_samples=300, rng=3, **how
        ),
    ),
    "plan": Case(
        study="plan",
        told=PLAN.fields,
        jobs=False,
        listed=False,
        call=lambda data: sr.plan(data.scores, minimum_difference=0.1, systems=3),
        rounded=1e-12,
    ),
    "plan, paired": Case(
        study="plan",
        told=PLAN.fields,
        jobs=False,
        listed=False,
        call=lambda data: sr.plan(
            data.scores,
            minimum_difference=0.1,
            method="ttest",
            paired=True,
            difference_variance="pilot",
        ),
    ),
    **{
        f"holes, {measure}": Case(
            study="holes",
            told=HOLES.json,
            executor=True,
            call=functools.partial(
                lambda data, measure, **options: sr.holes(
                    data.runs, data.qrels, measure=measure, n_samples=50, ask=9, rng=3, **options
                ),
                measure=measure,
            ),
            cuts={"measures.holes.bounds.PAIRS_A_TASK": 3},
            rounded=1e-9,
        )
        for measure in ("nDCG@20", "RBP")
    },
    "pools": Case(
        study="pools",
        told=POOLS.json,
        executor=True,
        call=lambda data, **options: sr.pools(
            data.runs,
            data.qrels,
            measures=["AP", "nDCG@10"],
            n_trials=3,
            pilot_topics=[12, 6],
            minimum_difference=0.2,
            systems=3,
            rng=3,
            **options,
        ),
        cuts={"studies.pools.trials.BLOCK": 2, "stats.ranks.correlation.CELLS": 20},
    ),
    "judges": Case(
        study="judges",
        told=JUDGES.json,
        listed=False,
        call=lambda data, **options: sr.judges(
            data.runs,
            some_topics(data.qrels),
            {"all": data.qrels},
            measure="AP",
            n_samples=600,
            kin="team1",
            rng=3,
            **options,
        ),
        cuts={"stats.pairs.max_t.VALUES_AT_ONCE": 50},
    ),
    "judges, scores": Case(
        study="judges",
        told=JUDGES.json,
        listed=False,
        call=lambda data, **options: sr.judges(
            data.scores.select(topics=[t for t in data.scores.topics if int(t) % 2]),
            {"all": data.scores.select(measures="AP")},
            measure="AP",
            n_samples=600,
            rng=3,
            **options,
        ),
        cuts={"stats.pairs.max_t.VALUES_AT_ONCE": 50},
    ),
    "instances": Case(
        study="instances",
        told=lambda result: INSTANCES.json([result]),
        call=lambda data, **options: sr.instances(
            complete(data.scores),
            measure="AP",
            a="x",
            b="y",
            n_samples=150,
            samples_per_instance=40,
            n_draws=400,
            rng=3,
            **options,
        ),
        cuts={"stats.instances.bootstrap.CHUNK": 64},
        listed=False,
    ),
    "instances, a baseline": Case(
        study="instances",
        told=lambda result: INSTANCES.json([result]),
        call=lambda data, **options: sr.instances(
            complete(data.scores.with_run_info(system=data.scores.run_info["team"])),
            measure="AP",
            b="team3",
            n_samples=150,
            samples_per_instance=40,
            posterior=False,
            rng=3,
            **options,
        ),
        cuts={"stats.instances.bootstrap.CHUNK": 64},
    ),
    "instances, a single run": Case(
        study="instances",
        told=lambda result: INSTANCES.json([result]),
        listed=False,
        call=lambda data, **options: sr.instances(
            data.scores.with_run_info(
                system=["one" if run == "team4-s2" else "x" for run in data.scores.runs]
            ),
            measure="AP",
            a="x",
            b="one",
            n_samples=150,
            samples_per_instance=40,
            posterior=False,
            rng=3,
            **options,
        ),
        cuts={"stats.instances.bootstrap.CHUNK": 64},
    ),
    "gate": Case(
        study="gate",
        told=GATE.json,
        call=lambda data, **options: sr.gate(
            *(run for name in GATED for run in data.runs if run.name == name),
            data.qrels,
            measures={"nDCG@10": 0.01, "P@5": 0.02, "AP": 0.1},
            cluster_from="(.)$",
            **options,
        ),
        listed=False,
    ),
    "gate, every look": Case(
        study="gate",
        told=GATE.json,
        call=lambda data, **options: sr.gate(
            *(run for name in GATED for run in data.runs if run.name == name),
            data.qrels,
            measures={"nDCG@10": 0.01, "AP": 0.1},
            sequential=True,
            rng=3,
            **options,
        ),
        listed=False,
    ),
    "report": Case(study="report", told=_report_json, call=_report),
    "grid": Case(study="grid", told=scores_json, call=_grid, executor=True, listed=False),
    "shard": Case(study="shard", told=scores_json, call=_shard, executor=True, listed=False),
}

NO_STUDY = {
    **dict.fromkeys(
        (
            "as_qrels",
            "as_run",
            "as_scores",
            "join_scores",
            "qrels_from_dict",
            "read",
            "read_leaderboard",
            "read_qrels",
            "read_run",
            "read_runs",
            "read_scores",
            "read_topics",
            "run_from_dict",
            "run_from_frame",
        ),
        "brings data in as they are; a study puts them in order",
    ),
    **dict.fromkeys(
        ("write_grid", "write_qrels", "write_run", "write_scores", "write_shards"),
        "writes what it is given",
    ),
    **dict.fromkeys(
        ("cohen_kappa", "correlations", "kendall_tau", "symmetric_tau_ap", "tau_ap"),
        "of two rankings, without random numbers or parts",
    ),
    **dict.fromkeys(
        ("simulated_battles", "simulated_facets", "simulated_track"), "draws its data itself"
    ),
    **dict.fromkeys(
        ("builtin_collection", "builtin_instances", "builtin_runs"), "comes with the package"
    ),
    **dict.fromkeys(("parse_measure", "register_measure"), "has no topics or runs"),
    "battles": "takes battles, which have no runs by topics; its tests permute rows and sides",
    "max_input": "sets a limit of the process",
    "plot": "draws a result",
    "reproduce": "calls the other studies on a paper's data",
}


def told_of(case: Case, data: Data, **options: Any) -> tuple[Json, Json]:
    """Return the JSON of a case, and all fields of its result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = case.call(data, **options)
    return as_json(case.told(result)), as_json(told_fields(result))
