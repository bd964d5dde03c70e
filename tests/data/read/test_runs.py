"""`Runs`: read when needed, each file once per pass, in the way that was said once."""

from __future__ import annotations

import gzip
import hashlib
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from operator import attrgetter

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from steadyrank.data.read.run_info import run_called
from steadyrank.data.read.runs import Source, read_runs

LINES = "1 Q0 d1 1 3.0 {0}\n1 Q0 d2 2 2.0 {0}\n2 Q0 d1 1 1.0 {0}\n"


@pytest.fixture
def paths(tmp_path):
    """Two runs of TREC text, one packed, one as JSON lines and one as Parquet."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "a.run").write_text(LINES.format("x_a"))
    (folder / "b.run.gz").write_bytes(gzip.compress(LINES.format("x_b").encode()))
    rows = '{"query_id": "1", "doc_id": "d1", "score": 3, "run": "y_c"}\n'
    (folder / "c.jsonl").write_text(rows)
    frame = pd.DataFrame({"qid": ["1"], "docno": ["d2"], "score": [1.5], "run": ["y_d"]})
    frame.to_parquet(folder / "d.parquet")
    return sorted(folder.iterdir())


def counts(opened, paths):
    return [opened[str(path)] for path in paths]


def test_nothing_but_first_lines_is_read_before_it_is_needed(paths, opened_files):
    with opened_files() as opened:
        runs = sr.read_runs(paths[0].parent, team_from="^(.)")
        assert len(runs) == 4
        assert repr(runs) == "<Runs: 4 to read>"
        assert counts(opened, paths) == [1, 1, 1, 1]  # for the tags, which may be shared
        assert runs[1].name == "x_b"
        assert runs[1].info == {"team": "x"}
        assert counts(opened, paths) == [1, 3, 1, 1]  # two indices, two passes
        assert [run.name for run in runs[2:]] == ["y_c", "y_d"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_pass_opens_every_file_once_whatever_its_form(paths, jobs, opened_files, monkeypatch):
    monkeypatch.setattr("steadyrank.compute.executors.default_jobs", lambda: jobs)
    runs = sr.read_runs(paths)
    for _ in range(2):
        with opened_files() as opened:
            assert [run.name for run in runs] == ["x_a", "x_b", "y_c", "y_d"]
        assert counts(opened, paths) == [1, 1, 1, 1]
    with opened_files() as opened:
        sr.check(runs, {"1": {"d1": 1, "d2": 0}}, jobs=jobs)
    assert counts(opened, paths) == [1, 1, 1, 1]


def test_reading_goes_no_further_ahead_than_a_few_runs(tmp_path, monkeypatch, opened_files):
    for place in range(30):
        (tmp_path / f"{place:02d}.run").write_text(LINES.format(f"r{place}"))
    for jobs, ahead in ((1, 1), (2, 3)):
        monkeypatch.setattr("steadyrank.compute.executors.default_jobs", lambda jobs=jobs: jobs)
        runs = sr.read_runs(tmp_path)
        with opened_files() as opened:
            passing = iter(runs)
            assert next(passing).name == "r0"
            passing.close()
            assert 1 <= sum(opened.values()) <= ahead + 1


def test_kept_runs_are_read_once_for_all_passes(paths, opened_files):
    runs = sr.read_runs(paths).keeping()
    with opened_files() as opened:
        first, second = list(runs), list(runs)
        assert runs.at([3, 0]).map(lambda run: run.name) == ["y_d", "x_a"]
    assert counts(opened, paths) == [1, 1, 1, 1]
    for before, after in zip(first, second, strict=True):
        assert before.documents.to_list() == after.documents.to_list()
        assert np.array_equal(before.scores, after.scores)
    assert runs.digests == {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def test_beyond_their_memory_kept_runs_are_read_again(paths, opened_files):
    one_run = sum(
        column.nbytes
        for run in [sr.read_run(paths[0])]
        for column in (
            run.scores,
            run.blocks,
            run.documents.hashes,
            run.documents.offsets,
            run.documents.data,
        )
    )
    texts = paths[:2]
    for memory, expected in ((0, [3, 3]), (one_run, [1, 3]), (2 * one_run, [1, 1])):
        runs = sr.read_runs(texts).keeping(memory)
        with opened_files() as opened:
            for _ in range(3):
                assert [run.ranking("1")[0] for run in runs] == [("d1", 3.0), ("d1", 3.0)]
        assert counts(opened, texts) == expected


def test_objects_are_kept_too_and_runs_are_never_copied(monkeypatch):
    frame = pd.DataFrame({"qid": ["1"], "docno": ["d"], "score": [1.0]})
    here = sr.run_from_dict({"1": {"d": 1.0}}, name="here")
    runs = read_runs([frame, here]).keeping()
    converted = []
    from steadyrank.data.read import runs as module

    plain = module.converted_run
    monkeypatch.setattr(
        module, "converted_run", lambda given, **how: converted.append(given) or plain(given, **how)
    )
    for _ in range(2):
        assert [run.name for run in runs] == ["run", "here"]
    assert sum(given is frame for given in converted) == 1
    assert runs.map(lambda run: run is here) == [False, True]


def test_how_to_read_is_said_once(paths, tmp_path):
    info = tmp_path / "info.csv"
    info.write_text("run,team\na.run,T1\nb.run,T2\n")
    runs = sr.read_runs(paths[:2], name_from="file", run_info=info)
    qrels = {"1": {"d1": 0, "d2": 1}, "2": {"d1": 1}}
    scores = sr.evaluate(runs, qrels, "AP")
    assert scores.runs == ("a.run", "b.run")
    assert scores.run_info == {"team": ("T1", "T2")}
    assert [row.run for row in sr.check(runs, qrels).runs] == ["a.run", "b.run"]
    assert sr.simulate(runs, qrels, n_samples=5).runs == ("a.run", "b.run")
    assert sr.pools(runs, qrels, pool_depth=1).teams == ("T1", "T2")
    spelled = sr.evaluate(paths[:2], qrels, "AP", name_from="file", run_info=info)
    assert (spelled.runs, spelled.run_info) == (scores.runs, scores.run_info)
    assert sr.simulate(paths[:2], qrels, n_samples=5, name_from="file").runs == scores.runs


def test_what_is_said_later_takes_precedence(paths):
    runs = sr.read_runs(paths[:2], name_from="file", team_from="^(.)")
    assert read_runs(runs) is runs
    again = read_runs(runs, name_from="tag")
    assert [(run.name, run.info["team"]) for run in again] == [("x_a", "x"), ("x_b", "x")]
    assert [run.name for run in runs] == ["a.run", "b.run"]
    with pytest.raises(sr.UnknownNameError, match="source of run names"):
        read_runs(runs, name_from="tags")
    with pytest.raises(TypeError, match="name_form"):
        sr.evaluate(runs, {"1": {"d1": 1}}, "AP", name_form="file")


def test_names_must_differ(paths, tmp_path):
    (tmp_path / "again.run").write_text(LINES.format("x_a"))
    with pytest.warns(sr.SteadyrankWarning, match="'x_a', of a.run and again.run"):
        named = sr.read_runs([paths[0], tmp_path / "again.run"])
    assert [run.name for run in named] == ["a.run", "again.run"]
    assert sr.simulate(named, {"1": {"d1": 1}}, n_samples=2).runs == ("a.run", "again.run")
    here = sr.run_from_dict({"1": {"d": 1.0}}, name="a")
    with pytest.raises(sr.InputError, match="rename one, or give it as NAME=FILE, or runs as"):
        list(read_runs([here, here]))
    assert len(sr.read_runs([paths[0], paths[0].parent])) == 4


def test_run_information_that_lacks_runs(paths, tmp_path):
    info = tmp_path / "info.csv"
    info.write_text("run,team\nx_a,T1\n")
    with pytest.warns(sr.SteadyrankWarning, match=r"1 run has no row \(x_b\)"):
        runs = list(sr.read_runs(paths[:2], run_info=info))
    assert [run.info for run in runs] == [{"team": "T1"}, {}]
    with pytest.raises(sr.UnknownNameError, match="unknown run .* in .*info.csv"):
        list(sr.read_runs(paths[1:2], run_info=info))


def test_another_process_reads_for_itself(paths):
    runs = sr.read_runs(paths).keeping()
    list(runs)
    source = pickle.loads(pickle.dumps(runs.sources[0]))
    assert isinstance(source, Source)
    assert source.kept.runs == {}
    assert source.read().name == "x_a"
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        names = sr.read_runs(paths).map(attrgetter("name"), executor=processes)
    assert names == ["x_a", "x_b", "y_c", "y_d"]


def test_names_at_the_door(paths, tmp_path):
    """By a dictionary, by NAME=FILE, by read_run(name=), and by a table of names."""
    a, b = str(paths[0]), str(paths[1])
    for given in ({"one": a, "two": paths[1]}, [f"one={a}", f"two={b}"]):
        runs = sr.read_runs(given)
        assert [run.name for run in runs] == ["one", "two"]
        assert [run.name for run in sr.read_runs(runs, name_from="file")] == ["one", "two"]
        assert sr.evaluate(given, {"1": {"d1": 1}, "2": {"d1": 1}}, "AP").runs == ("one", "two")
    assert sr.read_run(a, name="one").name == sr.read_run(a).rename("one").name == "one"
    table = tmp_path / "names.csv"
    table.write_text(f"x_a,First\n{paths[1].name},Second\n")
    for names in (table, {"x_a": "First", b: "Second"}, {"a": "First", "b": "Second"}):
        assert [run.name for run in sr.read_runs([a, b], names=names)] == ["First", "Second"]
    assert [run.name for run in sr.read_runs([a, f"z={b}"], names={"x_a": "First"})] == [
        "First",
        "z",
    ]
    here = sr.run_from_dict({"1": {"d": 1.0}}, name="here")
    assert [run.name for run in sr.read_runs([here, a], names={"here": "x"})] == ["x", "x_a"]


def test_a_name_stands_for_one_run(paths, tmp_path):
    with pytest.raises(sr.InputError, match="x=.*: a name is for one run, got [2-9] files"):
        sr.read_runs(f"x={paths[0].parent}")
    with pytest.raises(sr.InputError, match="^nowhere.run: no such file"):
        sr.read_runs("x=nowhere.run")
    with pytest.raises(
        sr.UnknownNameError, match="unknown run 'x_aa' in names: did you mean 'x_a'"
    ):
        sr.read_runs(paths, names={"x_aa": "x"})
    with pytest.raises(sr.InputError, match="two runs would be shown as 'x_b'"):
        sr.read_runs(paths[:2], names={"x_a": "x_b"})


def test_a_file_may_have_an_equals_sign(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("k=3.run", "k=5.run"):
        (tmp_path / name).write_text(LINES.format(name))
    assert [run.name for run in sr.read_runs("k=3.run")] == ["k=3.run"]
    assert [run.name for run in sr.read_runs("k=*.run")] == ["k=3.run", "k=5.run"]
    assert [run.name for run in sr.read_runs("k=k=3.run")] == ["k"]


def test_a_baseline_may_be_named_by_its_file(paths):
    qrels = {"1": {"d1": 1}, "2": {"d1": 1}}
    scores = sr.evaluate([str(path) for path in paths[:2]], qrels, "AP")
    assert scores.runs[1] == "x_b"
    for name in ("x_b", paths[1].name, "b", str(paths[1])):
        assert run_called(name, scores) == "x_b"
    assert run_called("c", scores) == "c"
