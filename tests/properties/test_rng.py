"""`rng`, of every public function that takes it: a seed, a generator, None, and nothing else.

The functions are found among the public names, so that a new one without its case fails here.
"""

from __future__ import annotations

import functools
import inspect
import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import steadyrank as sr
from bench.invariances.cases import as_json, complete, small_data, told_fields, undrawn
from steadyrank.compute.random import seed_from
from steadyrank.reporting.demo import demo

pytestmark = pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")

Call = Callable[[Any, Path], Any]
"""From `rng` and a folder to write into, to the result."""


def names_taken(function: Any) -> set[str]:
    """Its parameters, and the names that its `**options` may have."""
    names = set(inspect.signature(function).parameters)
    for parameter in inspect.signature(function).parameters.values():
        unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(parameter.annotation))
        if unpacked:
            options = getattr(sys.modules[function.__module__], unpacked[1])
            names |= options.__optional_keys__ | options.__required_keys__
    return names


def functions_with(parameter: str) -> set[str]:
    """The public functions that take a parameter of this name."""
    named = {name: getattr(sr, name) for name in sr.__all__}
    functions = {name: value for name, value in named.items() if inspect.isfunction(value)}
    return {name for name, function in functions.items() if parameter in names_taken(function)}


def _on_scores(study: str, **options: Any) -> Call:
    return lambda rng, _: getattr(sr, study)(complete(small_data().scores), rng=rng, **options)


def _on_runs(study: str, **options: Any) -> Call:
    return lambda rng, _: getattr(sr, study)(
        small_data().runs, small_data().qrels, rng=rng, **options
    )


SHARDS = {
    "shards": 3,
    "sample_rate": 0.3,
    "cluster_samples": 1,
    "partitions": 1,
    "csi": 1,
    "cluster_share": 0.5,
    "top_shards": 2,
}


def _shard(rng: Any, _: Path) -> Any:
    data = small_data()
    return sr.shard(
        data.documents, data.queries, qrels=data.searched, measures="AP", rng=rng, **SHARDS
    )


def _write_shards(rng: Any, folder: Path) -> Any:
    data = small_data()
    out = folder / f"shards-{len(list(folder.iterdir()))}"
    result = sr.write_shards(data.documents, data.queries, out=out, rng=rng, **SHARDS)
    files = {path.name: path.read_text() for path in sorted((out / "runs").iterdir())}
    return {"seed": result.seed, "files": files}


def _report(rng: Any, folder: Path) -> Any:
    few = small_data().scores.select(runs=small_data().scores.runs[:3], measures="AP")
    with undrawn():
        return sr.report(
            scores=few, out=folder / "page.html", n_samples=5, command="again", rng=rng
        )


TRACK = {"n_teams": 2, "runs_per_team": 1, "n_topics": 3, "depth": 20, "pool_depth": 10}


def _track(rng: Any, _: Path) -> Any:
    track = sr.simulated_track(
        n_teams=2, runs_per_team=1, n_topics=3, depth=20, pool_depth=10, rng=rng
    )
    runs = [{topic: run.ranking(topic) for topic in run.topics} for run in track.runs]
    return {"seed": track.seed, "runs": runs}


@functools.cache
def _table() -> sr.Leaderboard:
    scores = complete(small_data().scores)
    return sr.Leaderboard(runs=scores.runs, datasets=scores.topics, values=scores.matrix("AP"))


def _battles(rng: Any, _: Path) -> Any:
    found = sr.simulated_battles(3, 4, rng=rng)
    return {"seed": found.meta["seed"], "outcome": found.outcome}


@functools.cache
def _sides() -> list[sr.Scores]:
    values = np.random.default_rng(0).uniform(0.2, 0.8, (2, 1, 1, 40))
    return [
        sr.Scores(measures=["AP"], runs=[name], topics=range(40), values=own)
        for name, own in zip(("old", "new"), values, strict=True)
    ]


CALLS: dict[str, Call] = {
    "agree": _on_scores("agree", topic_sizes=[4], system_sizes=[4], n_samples=4),
    "audit_tests": _on_scores("audit_tests", measure="AP", n_trials=10),
    "battles": lambda rng, _: sr.battles(sr.simulated_battles(3, 12, rng=5), n_samples=50, rng=rng),
    "compare": _on_scores("compare", measure="AP", by="run", test="randomization", n_samples=99),
    "datasets": lambda rng, _: sr.datasets(_table(), n_samples=200, rng=rng),
    "gate": lambda rng, _: sr.gate(*_sides(), margin=0.1, sequential=True, rng=rng),
    "instances": _on_scores(
        "instances",
        measure="AP",
        a="x",
        b="y",
        n_samples=50,
        samples_per_instance=20,
        posterior=False,
    ),
    "holes": _on_runs("holes", measure="P@20", n_samples=20),
    "judges": lambda rng, _: sr.judges(
        small_data().scores, {"same": small_data().scores}, measure="AP", n_samples=50, rng=rng
    ),
    "pools": _on_runs("pools", measures="AP", n_trials=2, ks=[1]),
    "report": _report,
    "reproduce": lambda rng, _: sr.reproduce("lin2005", budget="small", rng=rng),
    "shard": _shard,
    "simulate": _on_runs("simulate", n_samples=40),
    "simulated_battles": _battles,
    "simulated_facets": lambda rng, _: sr.simulated_facets(n_systems=3, n_topics=5, rng=rng),
    "simulated_track": _track,
    "stability": _on_scores("stability", measure="AP"),
    "topics": _on_scores("topics", measure="AP", n_trials=20),
    "write_shards": _write_shards,
}


def recorded_seed(result: Any) -> int:
    """The seed that a result says it was made with."""
    if isinstance(result, sr.Scores):
        return result.meta.get("shard", result.meta)["seed"]
    if isinstance(result, dict):
        return result["seed"]
    if isinstance(result, list):
        (seed,) = {part.seed for part in result}
        return seed
    return result.seed if hasattr(result, "seed") else result.settings["seed"]


def test_every_public_function_with_rng_has_its_case():
    assert functions_with("rng") == CALLS.keys()
    assert functions_with("seed") == set(), "results have a seed, functions take rng"


WRONG = [
    True,
    np.True_,
    1.0,
    np.float64(1),
    "1",
    math.nan,
    [1],
    np.array([1]),
    (1, 2),
    np.random.RandomState(1),
    np.random.SeedSequence(1),
    np.random.PCG64(1),
]


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_seed_and_no_generator_is_refused(name, tmp_path):
    for rng in WRONG:
        with pytest.raises(sr.InputError, match="rng must be an integer seed") as error:
            CALLS[name](rng, tmp_path)
        assert "rng=1" in str(error.value), "says what to do"


@pytest.mark.parametrize("name", CALLS)
def test_two_generators_give_two_seeds_and_the_recorded_seed_repeats_the_result(name, tmp_path):
    call, generator = CALLS[name], np.random.default_rng(1)
    result = call(generator, tmp_path)
    seed = recorded_seed(result)
    assert type(seed) is int
    assert 0 <= seed < 2**63
    again, moved_on = call(seed, tmp_path), call(generator, tmp_path)
    assert as_json(told_fields(again)) == as_json(told_fields(result))
    other = call(np.random.default_rng(2), tmp_path)
    assert len({seed, recorded_seed(moved_on), recorded_seed(other)}) == 3
    assert recorded_seed(call(np.int32(7), tmp_path)) == 7


@pytest.mark.parametrize("name", CALLS)
def test_none_is_a_fresh_seed_each_time(name, tmp_path):
    seeds = {recorded_seed(CALLS[name](None, tmp_path)) for _ in range(2)}
    assert len(seeds) == 2
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_generator_gives_63_bits():
    seeds = [seed_from(np.random.default_rng(start)) for start in range(200)]
    # The top bit of 63 is 0 in all of 200 with probability 2^-200.
    assert max(seeds) >= 2**62
    assert len(set(seeds)) == 200
    assert seed_from(np.random.Generator(np.random.Philox(3))) >= 0


def test_integers_are_the_seed_as_they_are():
    for seed in (0, 1, -5, 2**63, 2**100, np.int64(3), np.uint8(4)):
        assert seed_from(seed) == int(seed)
        assert type(seed_from(seed)) is int
    with pytest.raises(sr.InputError, match="a seed of at least 0"):
        sr.simulated_track(rng=-1)


def test_the_page_of_a_report_tells_the_seed_that_was_drawn(tmp_path):
    scores = small_data().scores.select(runs=small_data().scores.runs[:3], measures="AP")
    with undrawn():
        result = sr.report(scores=scores, out=tmp_path / "r.html", n_samples=5, rng=None)
    page = result.path.read_text()
    assert f"seed {result.seed}" in page
    assert result.results["compare"][0].seed == result.seed


def test_the_demo_names_the_seed_that_was_drawn(tmp_path, monkeypatch):
    small = functools.partial(sr.simulated_track, **TRACK | {"n_topics": 9})
    monkeypatch.setattr("steadyrank.reporting.demo.simulated_track", small)
    with undrawn():
        demo(out=tmp_path, data="simulated", budget="1s", measures=["AP"], rng=None)

    seed = json.loads((tmp_path / "truth.json").read_text())["seed"]
    assert f"--seed {seed}" in (tmp_path / "report.html").read_text()
