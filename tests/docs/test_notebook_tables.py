"""What a notebook shows: every result as a table, and no name as markup."""

from __future__ import annotations

import importlib
import pkgutil
import warnings

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.data.track.model import TrueMeans
from steadyrank.papers import error_rates

NASTY = "<script>alert('run')</script>"
FACTOR = f"{NASTY}model"

WITHOUT_TABLE = {"Qrels", "Run"}
"""Data, not results: a notebook shows them by their `repr`."""


def classes_with_frames() -> dict[str, type]:
    """Every class of the package that defines `to_frame`."""
    found = {}
    for module in pkgutil.walk_packages(sr.__path__, "steadyrank."):
        if module.name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and "to_frame" in vars(value):
                found[value.__name__] = value
    return {name: kind for name, kind in found.items() if kind.__module__.startswith("steadyrank.")}


@pytest.fixture(scope="module")
def scores():
    """Two systems of three instances each, a grid as well, all named as no run should be."""
    rng = np.random.default_rng(5)
    runs = [f"{NASTY}{i}" for i in range(6)]
    return sr.Scores(
        measures=["AP", f"{NASTY}measure"],
        runs=runs,
        topics=[f"{NASTY}{t}" for t in range(12)],
        values=rng.random((2, 6, 12)),
        run_info={
            "system": [f"{NASTY}a"] * 3 + ["b"] * 3,
            "stemmer": [f"{NASTY}x", "y"] * 3,
            FACTOR: ["1", "2", "2", "1", "3", "3"],
        },
    )


@pytest.fixture(scope="module")
def results(scores, tmp_path_factory):
    """One result of every class, by name."""
    runs = [
        sr.run_from_dict(
            {t: {f"d{d}": float(d * (r + int(t)) % 7) for d in range(8)} for t in "123"},
            name=f"{NASTY}{r}",
        )
        for r in range(4)
    ]
    qrels = sr.qrels_from_dict({t: {"d1": 1, "d2": 0, "d3": 1} for t in "123"})
    one, two = scores.run_info["system"][0], "b"
    plain = scores.with_run_info(system=[f"{NASTY}{i}" for i in range(6)])
    grid = sr.components(scores, factors=["stemmer", FACTOR], measure="AP")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        found = [
            scores,
            sr.compare(scores, measure="AP"),
            sr.simulate(runs, qrels, n_samples=20),
            sr.topics(scores, measure="AP", trials=20),
            sr.agree(scores, topic_sizes=[4, 6], system_sizes=[3, 5], n_samples=5),
            grid,
            grid.anova,
            sr.instances(scores, a=one, b=two, measure="AP", posterior=False, n_samples=50),
            sr.instances(plain, b=f"{NASTY}0", measure="AP", posterior=False, n_samples=50),
            sr.plan(scores, minimum_difference=0.2, systems=3),
            sr.pools(runs, qrels, measures="AP", trials=2, team_from="(.*)", pool_depth=3),
            sr.stability(scores, measure="AP"),
        ]
    made = sr.write_grid(
        {"d1": "river banks", "d2": "old banks"},
        {"1": "banks"},
        stop_lists=["none"],
        lexical=["none"],
        models=["BM25"],
        out=tmp_path_factory.mktemp("runs") / "made",
    )
    effects = {"instance": 0.0004, "system_topic": 0.0064, "residual": 0.0036}
    found += [
        sr.check(runs, qrels),
        found[9].curve("minimum_difference", [0.1, 0.2]),
        sr.plan_instances(effects, difference=0.05).table(topics=[20], instances=[5]),
        error_rates(5, 10, components=effects, tests=["mixed"], n_replications=20),
        TrueMeans(systems=(f"{NASTY}a", "b"), values=np.array([[0.1, 0.2], [0.3, 0.5]])),
    ]
    return {type(result).__name__: result for result in found} | {"WrittenRuns": made}


def test_every_result_with_a_frame_has_a_table_of_its_own(results):
    frames = classes_with_frames()
    without = {name for name, kind in frames.items() if not hasattr(kind, "_repr_html_")}
    assert without == WITHOUT_TABLE
    assert set(frames) - without == set(results)


def test_tables_hold_names_as_text(results):
    for name, result in results.items():
        shown = result._repr_html_()
        assert "<table" in shown, name
        assert "<script" not in shown, name
        if NASTY in result.to_frame().to_string():
            assert "&lt;script&gt;" in shown, name
