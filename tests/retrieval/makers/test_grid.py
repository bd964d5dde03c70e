"""Grids of runs: scores against files, taking up again, and the same bytes everywhere."""

from __future__ import annotations

import csv
from itertools import product

import numpy as np
import plain_search as plain
import pytest

import steadyrank as sr
from steadyrank.errors import InputError, SteadyrankWarning, UnknownNameError
from steadyrank_lab.retrieval.engine.lexical import UNITS
from steadyrank_lab.retrieval.engine.models import MODELS
from steadyrank_lab.retrieval.engine.tokens import STOP_LISTS
from steadyrank_lab.retrieval.makers import grid as grid_module

SMALL = {
    "stop_lists": ["none", "lucene"],
    "lexical": ["none", "porter", "4grams"],
    "models": ["BM25", "PL2", "BM25(b=0.3)", "DirichletLM", "DPH"],
}
NAMES = ["_".join(parts) for parts in product(*SMALL.values())]
_TEXT = """
    the and of a to in by an river rivers banks bank banking running run runs sea seas dark
    darkness cities city old older oldest bridge bridges
"""
WORDS = _TEXT.split()


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(5)
    return {f"d{i}": " ".join(rng.choice(WORDS, rng.integers(2, 30))) for i in range(80)}


@pytest.fixture(scope="module")
def topics():
    return {"1": "rivers and banks", "2": "old cities by the sea", "3": "unheard", "4": "the"}


@pytest.fixture(scope="module")
def qrels(corpus):
    rng = np.random.default_rng(6)
    judged = {t: {d: int(rng.integers(0, 3)) for d in [*corpus][::2]} for t in ("1", "2", "3")}
    return sr.qrels_from_dict({**judged, "9": {"d1": 2}})


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_scores_are_those_of_the_runs_in_files(tmp_path, corpus, topics, qrels):
    measures = ["AP", "nDCG@10", "P(rel=2)@5", "RBP(p=.8)"]
    with pytest.warns(SteadyrankWarning, match=r"30 runs find nothing .* lacks 2 of 4"):
        scores = sr.grid(corpus, topics, qrels=qrels, measures=measures, out=tmp_path, **SMALL)
    assert list(scores.runs) == NAMES
    with pytest.warns(SteadyrankWarning):
        again = sr.evaluate(
            tmp_path / "runs", qrels, measures, run_info=tmp_path / "run-info.csv"
        ).select(runs=NAMES)
    assert np.array_equal(scores.values, again.values)
    assert scores.run_info == again.run_info
    assert list(scores.run_info) == ["stop_list", "lexical", "model"]
    assert scores.values.std() > 0.05


def test_all_judged_documents_count_where_a_measure_asks_for_them(tmp_path, corpus, topics, qrels):
    sources = {"qrels": qrels, "measures": ["Judged@10", "AP"], "missing": "skip"}
    with pytest.warns(SteadyrankWarning):
        scores = sr.grid(corpus, topics, out=tmp_path, models="PL2", lexical="porter", **sources)
    with pytest.warns(SteadyrankWarning):
        again = sr.evaluate(tmp_path / "runs", qrels, ["Judged@10", "AP"], missing="skip")
    assert np.array_equal(scores.values, again.select(runs=scores.runs).values, equal_nan=True)
    assert np.isnan(scores.values).any()


def test_a_run_holds_what_plain_python_ranks(tmp_path, corpus, topics):
    result = sr.write_grid(
        corpus, topics, out=tmp_path, depth=7, stop_lists="none", lexical="none", models=["PL2"]
    )
    run = sr.read_run(tmp_path / "runs" / "none_none_PL2.run")
    assert run.name == "none_none_PL2"
    assert run.topics == ("1", "2", "4")
    for topic in run.topics:
        assert run.ranking(topic) == plain.rank(corpus, topics[topic], "PL2")[:7]
    assert (result.n_documents, result.n_topics, result.written) == (80, 4, 1)


def test_run_information_names_components(tmp_path, corpus, topics):
    stop_list = tmp_path / "my-list.txt"
    stop_list.write_text("the\nold\n")
    result = sr.write_grid(
        corpus,
        topics,
        out=tmp_path / "grid",
        stop_lists=["none", str(stop_list)],
        lexical="weakporter",
        models=["BM25(k1=0.9)", "LGD"],
    )
    with open(tmp_path / "grid" / "run-info.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows == result.rows() == result.to_frame().to_dict("records")
    assert [row["run"] for row in rows] == [
        "none_weakporter_BM25(k1=0.9)",
        "none_weakporter_LGD",
        "my-list_weakporter_BM25(k1=0.9)",
        "my-list_weakporter_LGD",
    ]
    assert rows[2]["stop_list"] == "my-list"
    written = {path.stem for path in (tmp_path / "grid" / "runs").iterdir()}
    assert written == {row["run"] for row in rows}
    assert "4 runs on 4 topics and 80 documents" in repr(result)
    with open(tmp_path / "grid" / "runs" / "my-list_weakporter_LGD.run") as stream:
        assert not any(line.startswith("4 ") for line in stream)  # topic 4 is "the"


@pytest.mark.parametrize("how", ["one", "two", "elsewhere"])
def test_the_same_bytes_everywhere(tmp_path, corpus, topics, how, elsewhere):
    options = {"one": {"jobs": 1}, "two": {"jobs": 2}, "elsewhere": {"executor": elsewhere}}
    sr.write_grid(corpus, topics, out=tmp_path / "a", **SMALL)
    result = sr.write_grid(corpus, topics, out=tmp_path / "b", **SMALL, **options[how])
    assert result.written == len(NAMES)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_finished_runs_are_kept(tmp_path, corpus, topics, monkeypatch):
    told = []
    sr.write_grid(corpus, topics, out=tmp_path, **SMALL)
    before = contents(tmp_path)
    for name in (NAMES[3], NAMES[-1]):
        (tmp_path / "runs" / f"{name}.run").unlink()
    (tmp_path / "run-info.csv").unlink()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "runs").iterdir()}
    asked = []
    searched = grid_module.search_all

    def noted(index, models, **rest):
        asked.append(list(models))
        return searched(index, asked[-1], **rest)

    monkeypatch.setattr(grid_module, "search_all", noted)
    result = sr.write_grid(
        corpus, topics, out=tmp_path, **SMALL, jobs=1, progress=lambda *at: told.append(at)
    )
    assert result.written == 2
    assert asked == [["DirichletLM(mu=2500.0)"], ["DPH"]]
    assert contents(tmp_path) == before
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    assert told == [(20, 30), (25, 30), (30, 30)]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"depth": 5}, "depth"),
        ({"models": ["BM25"]}, "models"),
        ({"lexical": ["none"]}, "lexical"),
        ({"stop_lists": ["smart"]}, "stop_lists"),
    ],
)
def test_a_folder_of_other_settings_is_refused(tmp_path, corpus, topics, change, named):
    sr.write_grid(corpus, topics, out=tmp_path, **SMALL)
    before = contents(tmp_path)
    with pytest.raises(InputError, match=f"made with different settings .{named}"):
        sr.write_grid(corpus, topics, out=tmp_path, **{**SMALL, **change})
    with pytest.raises(InputError, match="made with different settings .data"):
        sr.write_grid({**corpus, "new": "document"}, topics, out=tmp_path, **SMALL)
    with pytest.raises(InputError, match="made with different settings .data"):
        sr.write_grid(corpus, {**topics, "1": "banks"}, out=tmp_path, **SMALL)
    assert contents(tmp_path) == before


def test_by_default_everything_is_combined(corpus, topics, qrels):
    with pytest.warns(SteadyrankWarning, match="find nothing"):
        scores = sr.grid(corpus, topics, qrels=qrels, measures="AP", models="DPH", lexical=["none"])
    assert scores.run_info["stop_list"] == STOP_LISTS
    with pytest.warns(SteadyrankWarning, match="find nothing"):
        scores = sr.grid(corpus, topics, qrels=qrels, measures="AP", models="DPH", stop_lists="fox")
    assert scores.run_info["lexical"] == UNITS
    assert len(STOP_LISTS) * len(UNITS) * len(MODELS) == 1326


def test_a_folder_with_usual_names_is_a_collection(write, corpus):
    lines = [f'{{"id": "{name}", "text": "{text}"}}' for name, text in corpus.items()]
    folder = write("home/docs.jsonl", "\n".join(lines)).parent
    write("home/topics.tsv", "1\trivers\n")
    write("home/qrels.txt", "1 0 d3 1\n1 0 d4 0\n")
    options = {"stop_lists": "none", "lexical": "none", "models": "BM25", "measures": "AP"}
    here = sr.grid(folder, **options)
    named = sr.grid(folder / "docs.jsonl", {"1": "rivers"}, qrels={"1": {"d3": 1}}, **options)
    assert np.array_equal(here.values, named.values)
    with pytest.raises(InputError, match="name the topics .topics="):
        sr.grid(folder / "docs.jsonl", qrels={"1": {"d3": 1}}, **options)
    with pytest.raises(InputError, match="name the judgments .qrels="):
        sr.grid(folder / "docs.jsonl", {"1": "rivers"}, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"stop_lists": ["lucen"]}, UnknownNameError, "did you mean 'lucene'"),
        ({"lexical": ["portre"]}, UnknownNameError, "did you mean 'porter'"),
        ({"models": ["BM52"]}, UnknownNameError, "did you mean 'BM25'"),
        ({"models": ["BM25(k1=x)"]}, InputError, "k1 must be"),
        ({"models": []}, InputError, "name at least one model"),
        ({"lexical": []}, InputError, "name at least one lexical unit"),
        ({"models": ["BM25", "bm25"]}, InputError, "two systems would be named"),
        ({"depth": 0}, InputError, "depth must be"),
        ({"jobs": 0}, InputError, "jobs must be a whole number of at least 1"),
    ],
)
def test_bad_components_are_refused_before_anything_is_written(
    tmp_path, corpus, topics, options, error, message
):
    with pytest.raises(error, match=message):
        sr.write_grid(corpus, topics, out=tmp_path / "out", **{**SMALL, **options})
    assert not (tmp_path / "out").exists()


def test_bad_judgments_are_refused(tmp_path, corpus, topics, qrels):
    with pytest.raises(InputError, match="none of the topics is in the qrels"):
        sr.grid(corpus, {"x1": "river"}, qrels=qrels, **SMALL)
    with pytest.raises(UnknownNameError, match="unknown measure"):
        sr.grid(corpus, topics, qrels=qrels, measures="APP", **SMALL)
    with pytest.raises(InputError, match="30 runs find nothing for judged topics"):
        sr.grid(corpus, topics, qrels=qrels, missing="error", **SMALL)
    with pytest.raises(InputError, match="retrieves nothing for any topic"):
        sr.write_grid(corpus, {"1": "unheard"}, out=tmp_path, models="BM25", lexical="none")
    with pytest.warns(SteadyrankWarning, match="1 of 1 topic has no relevant document: it scores"):
        sr.grid(corpus, topics, qrels={"1": {"d1": 0}}, **SMALL)


def test_a_dask_cluster_gives_the_same_bytes(tmp_path, corpus, topics):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, dashboard_address=":0", n_workers=1) as client:
        sr.write_grid(corpus, topics, out=tmp_path / "a", **SMALL, executor=client.get_executor())
    sr.write_grid(corpus, topics, out=tmp_path / "b", **SMALL)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
