"""The cube of scores: selecting, joining, and every layout in and out."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steadyrank as sr


def cube(**changes):
    values = np.arange(12, dtype=float).reshape(2, 3, 2) / 7
    parts = {
        "measures": ("AP", "RR"),
        "runs": ("a", "b", "c"),
        "topics": ("1", "2"),
        "values": values,
        "run_info": {"team": ("X", "X", "Y")},
        "meta": {"seed": 5},
    }
    return sr.Scores(**{**parts, **changes})


def same(a, b):
    return a.labels == b.labels and np.array_equal(a.values, b.values, equal_nan=True)


def test_values_are_frozen_and_labels_checked():
    scores = cube()
    with pytest.raises(ValueError, match="read-only"):
        scores.values[0, 0, 0] = 1
    with pytest.raises(sr.InputError, match="two runs are named 'a'"):
        cube(runs=("a", "b", "a"))
    with pytest.raises(sr.InputError, match="do not fit"):
        cube(topics=("1",))
    with pytest.raises(sr.InputError, match="'team' has 1 entries for 3 runs"):
        cube(run_info={"team": ("X",)})


def test_select_keeps_order_and_information():
    part = cube().select(runs=["c", "a"], measures="RR")
    assert part.labels == (("RR",), ("c", "a"), ("1", "2"))
    assert part.run_info == {"team": ("Y", "X")}
    assert np.array_equal(part.values[0], cube().values[1][[2, 0]])
    with pytest.raises(sr.UnknownNameError, match="unknown measure 'ap': did you mean 'AP'"):
        cube().select(measures="ap")
    with pytest.raises(sr.InputError, match="name one of the measures AP, RR"):
        cube().matrix()


def test_mean_leaves_missing_cells_out():
    values = np.array([[[1.0, np.nan, 3.0], [np.nan] * 3]])
    scores = sr.Scores(measures=("m",), runs=("a", "b"), topics=("1", "2", "3"), values=values)
    assert scores.mean()[0, 0] == 2.0
    assert np.isnan(scores.mean()[0, 1])
    assert "4 missing" in repr(scores)


@pytest.mark.parametrize("name", ["s.csv", "s.parquet"])
def test_files_hold_every_bit(tmp_path, name):
    values = np.random.default_rng(0).random((2, 3, 2))
    values[0, 1, 1] = np.nan
    scores = cube(values=values)
    sr.write_scores(scores, tmp_path / name)
    again = sr.read_scores(tmp_path / name)
    assert same(scores, again)
    if name.endswith("parquet"):
        assert again.run_info == scores.run_info
        assert again.meta["seed"] == 5


def test_parquet_remembers_the_hashes_of_its_files(tmp_path, write):
    qrels = write("q.txt", "1 0 d 1\n")
    run = write("r.run", "1 Q0 d 1 1 tag\n")
    sr.write_scores(sr.evaluate(run, qrels), tmp_path / "s.parquet")
    meta = sr.read_scores(tmp_path / "s.parquet").meta
    assert meta["sha256"] == {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in (qrels, run)
    }
    assert meta["settings"]["missing"] == "zero"


def test_several_wide_files_make_a_cube(write):
    files = {
        "AP": write("ap.csv", "topic,a,b\n1,0.1,0.2\n2,0.3,0.4\n"),
        "my own (x=1)": write("own.csv", "topic\ta\tb\n1\t1\t2\n3\t3\t4\n"),
    }
    scores = sr.read_scores(files)
    assert scores.labels == (("AP", "my own (x=1)"), ("a", "b"), ("1", "2", "3"))
    assert np.isnan(scores.matrix("AP")[:, 2]).all()
    assert scores.matrix("my own (x=1)")[:, 2].tolist() == [3.0, 4.0]


def test_pyterrier_columns(write, tmp_path):
    text = "name,qid,measure,value\nbm25,1,map,0.5\nbm25,2,map,0.25\n"
    scores = sr.read_scores(write("pt.csv", text))
    assert scores.labels == (("map",), ("bm25",), ("1", "2"))
    table = pa.table({"name": ["bm25"], "qid": [7], "measure": ["map"], "value": [0.5]})
    pq.write_table(table, tmp_path / "pt.parquet")
    assert sr.read_scores(tmp_path / "pt.parquet").topics == ("7",)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("topic,a\n1,high\n", "bad.csv:2: expected a score, got 'high'"),
        ("topic,a\n1,inf\n", "bad.csv:2: expected a score"),
        ("topic,a,b\n1,2,3\n\n2,3\n", "bad.csv:4: expected 3 columns, got 2"),
        ("topic,a\n", "bad.csv:1: empty"),
        ("", "bad.csv:1: expected a header"),
        ("topic,a,a\n1,2,3\n", "two runs are named 'a'"),
        ("measure,run,topic,value\nAP,a,1,.5\nAP,a,1,.6\n", "bad.csv:3: a second value for AP"),
        ("measure,run,topic,value\nAP,a\n", "bad.csv:2: expected 4 columns, got 2"),
        ("measure,run,topic,value\n", "bad.csv:1: empty"),
    ],
)
def test_defects_name_their_line(write, text, complaint):
    with pytest.raises(sr.FormatError, match=complaint):
        sr.read_scores(write("bad.csv", text))


def test_joining_unites_and_refuses_contradictions():
    left = cube().select(runs=["a", "b"])
    right = cube().select(runs=["c", "b"], measures="AP")
    joined = sr.join_scores(left, right)
    assert joined.runs == ("a", "b", "c")
    assert np.isnan(joined.matrix("RR")[2]).all()
    assert joined.run_info == {"team": ("X", "X", "Y")}
    assert joined.meta == {"seed": 5}
    with pytest.raises(sr.InputError, match="disagree about AP / a / 1"):
        sr.join_scores(cube(), cube(values=cube().values + 1))
    with pytest.raises(sr.InputError, match="disagree about team of run 'a'"):
        sr.join_scores(cube(), cube(run_info={"team": ("Z", "X", "Y")}))


def test_frames_are_long():
    frame = cube().to_frame()
    assert list(frame.columns) == ["measure", "run", "topic", "value"]
    assert frame.query("measure == 'RR' and run == 'c' and topic == '2'")["value"].item() == 11 / 7


def test_a_measure_is_taken_by_its_name():
    one = cube()["RR"]
    assert (one.measures, one.runs, one.run_info) == (("RR",), cube().runs, cube().run_info)
    np.testing.assert_array_equal(one.matrix(), cube().matrix("RR"))
    assert cube()[["RR", "AP"]].measures == ("RR", "AP")
    with pytest.raises(sr.UnknownNameError, match="unknown measure 'Rr': did you mean 'RR'"):
        cube()["Rr"]
    with pytest.raises(TypeError, match="not iterable"):
        iter(cube())
    assert cube().to_pandas().equals(cube().to_frame())


def test_a_failed_write_leaves_nothing(tmp_path):
    with pytest.raises(sr.InputError, match="the folder .* does not exist"):
        sr.write_scores(cube(), tmp_path / "nowhere" / "s.csv")
    with pytest.raises(sr.InputError, match="a wide file holds one measure"):
        sr.write_scores(cube(), tmp_path / "s.csv", wide=True)
    with pytest.raises(sr.UnknownNameError, match="'.xlsx'"):
        sr.write_scores(cube(), tmp_path / "s.xlsx")
    assert list(tmp_path.iterdir()) == []


NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8).map(str.strip),
    min_size=1,
    max_size=4,
    unique=True,
).filter(all)


@pytest.mark.filterwarnings("ignore:.*under two names|.*scores of .* are")
@settings(max_examples=60, deadline=None, derandomize=True)
@given(NAMES, NAMES, NAMES, st.data())
def test_any_names_survive_csv_and_parquet(tmp_path_factory, measures, runs, topics, data):
    size = len(measures) * len(runs) * len(topics)
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    flat = data.draw(st.lists(numbers, min_size=size, max_size=size))
    values = np.array(flat).reshape(len(measures), len(runs), len(topics))
    scores = sr.Scores(measures=measures, runs=runs, topics=topics, values=values)
    folder = tmp_path_factory.mktemp("names")
    for name in ("s.csv", "s.parquet"):
        sr.write_scores(scores, folder / name)
        assert same(scores, sr.read_scores(folder / name))
