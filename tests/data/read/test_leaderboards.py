"""Tables of scores by dataset, as people write them: long, wide, with gaps and averages."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steadyrank as sr
from steadyrank.data.leaderboard import Leaderboard, leaderboard_from_collections
from steadyrank.data.read.leaderboards import read_types

LONG = "model,task,type,score\na,x,R,0.5\na,y,S,0.25\nb,x,R,0.75\nb,y,S,\n"


def read(tmp_path, text, name="t.csv", **options):
    (tmp_path / name).write_text(text)
    return sr.read_leaderboard(tmp_path / name, **options)


def cells(table):
    return {
        (run, name): table.values[i, k]
        for i, run in enumerate(table.runs)
        for k, name in enumerate(table.datasets)
    }


def test_long_wide_parquet_and_frames_are_one_table(tmp_path):
    long = read(tmp_path, LONG)
    assert (long.runs, long.datasets, long.types) == (("a", "b"), ("x", "y"), ("R", "S"))
    np.testing.assert_array_equal(long.values, [[0.5, 0.25], [0.75, np.nan]])
    frame = pd.read_csv(tmp_path / "t.csv")
    frame.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(LONG.encode()))
    wide = frame.pivot(index="model", columns="task", values="score")
    wide.to_csv(tmp_path / "wide.csv")
    for source in (
        frame,
        tmp_path / "t.parquet",
        tmp_path / "t.csv.gz",
        wide,
        wide.T,
        tmp_path / "wide.csv",
    ):
        np.testing.assert_equal(cells(sr.read_leaderboard(source)), cells(long))


def test_averages_are_left_out_of_a_wide_table(tmp_path):
    with pytest.warns(sr.SteadyrankWarning, match="2 datasets are summaries.*Avg and Mean"):
        table = read(tmp_path, "model,nq,Avg,fiqa,Mean (Task)\na,.5,.4,.3,.4\nb,.6,.5,.4,.5\n")
    assert table.datasets == ("nq", "fiqa")


def test_topics_inside_datasets_are_kept():
    rows = [
        (run, data, f"t{t}", float(t + (run == "b")))
        for run in "ab"
        for data, n in (("x", 3), ("y", 2))
        for t in range(n)
    ]
    table = sr.read_leaderboard(pd.DataFrame(rows, columns=["run", "dataset", "topic", "value"]))
    assert table.has_topics
    assert table.values.tolist() == [[1.0, 0.5], [2.0, 1.5]]
    assert table.topic_scores["x"].tolist() == [[0.0, 1.0, 2.0], [1.0, 2.0, 3.0]]


def test_types_come_from_a_file(tmp_path):
    (tmp_path / "types.csv").write_text("dataset,type,domain\nx,R,web\ny,S,web\nz,S,web\n")
    table = read(tmp_path, "run,x,y\na,1,0\nb,0,1\n", types=tmp_path / "types.csv")
    assert table.types == ("R", "S")
    with pytest.raises(sr.InputError, match="no type is given for dataset 'w'"):
        read(tmp_path, "run,x,w\na,1,0\nb,0,1\n", types=tmp_path / "types.csv")
    (tmp_path / "bad.csv").write_text("name,kind\nx,R\n")
    with pytest.raises(sr.FormatError, match="expected a column 'dataset', got name, kind"):
        read(tmp_path, "run,x,y\na,1,0\nb,0,1\n", types=tmp_path / "bad.csv")


def test_types_of_datasets_whose_names_a_spreadsheet_would_compute(tmp_path):
    (tmp_path / "types.csv").write_text("dataset,type\n'=x,'+R\ny,S\n")
    assert read_types(tmp_path / "types.csv") == {"=x": "+R", "y": "S"}


def test_parquet_whose_names_are_no_text_is_refused(tmp_path):
    names = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    pq.write_table(pa.table({"model": names, "task": ["x"], "score": [0.5]}), tmp_path / "t")
    with pytest.raises(sr.FormatError, match="broken Parquet data"):
        sr.read_leaderboard(tmp_path / "t")


def test_rows_that_repeat_are_counted_and_rows_that_disagree_refused(tmp_path):
    with pytest.warns(sr.SteadyrankWarning, match="1 row repeats an earlier one"):
        table = read(tmp_path, LONG + "a,x,R,0.5\n")
    assert table.values[0, 0] == 0.5
    with pytest.raises(sr.FormatError, match=r"t\.csv:6: a second value for a / x: keep one"):
        read(tmp_path, LONG + "a,x,R,0.6\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run,dataset,value\na,x,high\n", "t.csv:2: expected a score, got 'high'"),
        ("run,size,x\na,7B,.1\n", "t.csv:2: expected a score in column 'size', got '7B'"),
        ("run,dataset,value\na,x,inf\n", "expected a score, got 'inf'"),
        ("run,dataset,value\na,x,1_0\n", "expected a score, got '1_0'"),
        ("run,dataset,value\na,x,nan%\n", "expected a score, got 'nan%'"),
        ("run,dataset,value\n,x,1\n", "expected the name of a run, got an empty cell"),
        ("run,dataset,value\na,x\n", "t.csv:2: expected 3 columns, got 2"),
        ("run,dataset,value\n", "empty: no scores"),
        ("run,dataset,value,score\na,x,1,2\na,y,1,z\n", "'value' and 'score' name one thing"),
        ("run,dataset,type,value\na,x,R,1\nb,x,S,1\n", "has two types, 'R' and 'S'"),
        ("model\na\n", "expected a column of runs and columns of datasets"),
        ("run,x,x\na,1,2\nb,1,2\n", "two datasets are named 'x'"),
        ("run,x,y\na,1,2\na,1,2\n", "two runs are named 'a'"),
        ("run,x,y\na,,\nb,,\n", "the table holds no scores"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, text, message):
    with pytest.raises(sr.InputError) as raised:
        read(tmp_path, text)
    assert message in str(raised.value)


def test_percent_is_a_scale_and_two_scales_are_warned_of(tmp_path):
    assert read(tmp_path, "run,x,y\na,51.5%,20\nb,40,30\n").values[0, 0] == 51.5
    with pytest.warns(sr.SteadyrankWarning, match="scores of y are up to 30, those of other"):
        read(tmp_path, "run,x,y,z\na,.5,20,.1\nb,.4,30,.2\n")


def test_runs_and_datasets_without_any_score_are_left_out(tmp_path):
    with pytest.warns(sr.SteadyrankWarning, match="omitted for lack of any score"):
        table = read(tmp_path, "run,x,y,z\na,.5,,.1\nb,.4,-,.2\nc,,n/a,\n")
    assert (table.runs, table.datasets) == (("a", "b"), ("x", "z"))


def test_several_tables_are_joined(tmp_path):
    (tmp_path / "one.csv").write_text("run,x,y\na,1,0\nb,0,1\n")
    (tmp_path / "two.csv").write_text("run,y,z\nb,1,0.5\nc,0,1\n")
    table = sr.read_leaderboard([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert (table.runs, table.datasets) == (("a", "b", "c"), ("x", "y", "z"))
    assert int(np.isnan(table.values).sum()) == 2
    (tmp_path / "two.csv").write_text("run,y,z\nb,0.9,0.5\n")
    with pytest.raises(sr.InputError, match="disagree about score / b / y"):
        sr.read_leaderboard([tmp_path / "one.csv", tmp_path / "two.csv"])


def scores(runs, n_topics, seed, **info):
    values = np.random.default_rng(seed).random((1, len(runs), n_topics))
    return sr.Scores(
        measures=["AP"], runs=runs, topics=range(n_topics), values=values, run_info=info
    )


def test_collections_are_matched_by_run_or_system():
    one, two = scores(["bm25", "dense"], 4, 1), scores(["dense", "colbert"], 6, 2)
    table = sr.read_leaderboard({"dl19": one, "dl20": two})
    assert (table.runs, table.datasets) == (("bm25", "dense", "colbert"), ("dl19", "dl20"))
    assert table.values[1].tolist() == [one.mean()[0, 1], two.mean()[0, 0]]
    assert np.isnan(table.values[0, 1])
    named = scores(["bm25-20", "dense-20"], 5, 3, system=["bm25", "dense"])
    assert leaderboard_from_collections({"dl19": one, "dl20": named}).runs == ("bm25", "dense")
    twice = scores(["a1", "a2"], 5, 3, system=["a", "a"])
    with pytest.raises(sr.InputError, match="two runs of dl20 are system 'a'"):
        leaderboard_from_collections({"dl19": one, "dl20": twice})


def test_order_in_the_file_is_no_order():
    values = np.arange(6.0).reshape(2, 3)
    table = Leaderboard(runs=("r10", "r9"), datasets=("c", "a", "b"), values=values).in_order()
    assert (table.runs, table.datasets) == (("r9", "r10"), ("a", "b", "c"))
    assert table.values.tolist() == [[4.0, 5.0, 3.0], [1.0, 2.0, 0.0]]
