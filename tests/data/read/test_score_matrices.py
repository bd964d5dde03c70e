"""Wide score files: headings say what rows are, no cell does, and what is left open is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr

OPEN = r"the first heading, '{}', does not say what the rows are: name it 'topic', or 'run'"


def matrix(n_topics=20, n_runs=4, seed=0, digits=4):
    return np.random.default_rng(seed).random((n_topics, n_runs)).round(digits)


def text_of(values, header, first=None):
    """CSV of a matrix, with a column `first` in front of it where one is given."""
    rows = [[str(value) for value in row] for row in values.tolist()]
    if first is not None:
        rows = [[str(name), *row] for name, row in zip(first, rows, strict=True)]
    return "".join(",".join(line) + "\n" for line in [list(header), *rows])


@pytest.fixture
def read(write):
    """Reads a text as a score file; any warning fails the test."""
    return lambda text, **options: sr.read_scores(write("wide.csv", text), **options)


# Once read wrong without a word: a run or a topic was lost, or rows and columns exchanged.

REFUSED = {
    "a run of 0 and 1": "bm25,splade\n0,1\n1,1\n",
    "per cent beside fractions": "bm25,splade\n45,0.5\n30,0.2\n",
    "a run called no": "no,yes\n0.1,0.2\n0.3,0.4\n",
    "a run called query": "query,doc\n0.1,0.2\n0.3,0.4\n",
    "a header, not ir_measures' output": "AP\tk1\t2\nq1\t0.1\t0.2\n",
    "no header": "q1,0.1,0.4\nq2,0.3,0.2\n",
    "topics across": "x,q1,q2\nbm25,0.1,0.2\nsplade,0.3,0.4\n",
    "a matrix of a track": "AP,301,302,303\n1,0.0007,0.0036,0.1\n2,0.2,0.3,0.4\n",
    "numbers alone": "12,7,30\n4,9,22\n40,3,1\n",
}


@pytest.mark.parametrize("name", REFUSED)
def test_headings_that_leave_it_open_are_refused_with_the_ways_to_say_it(read, name):
    heading = REFUSED[name].replace("\t", ",").split(",")[0]
    with pytest.raises(sr.FormatError, match=r"wide.csv:1: " + OPEN.format(heading)) as told:
        read(REFUSED[name])
    assert "runs_in_rows=" in str(told.value)


def test_columns_named_by_numbers_under_a_blank_heading_are_refused(read):
    """Such a matrix was ranked as 249 runs: its columns were the topics."""
    text = ",301,302,303\nbm25,0.1,0.2,0.4\nsplade,0.3,0.4,0.1\n"
    with pytest.raises(sr.FormatError, match="'run' if the columns are topics, or 'topic' if they"):
        read(text)
    assert read("run" + text).runs == read(text, runs_in_rows=True).runs == ("bm25", "splade")
    assert read("topic" + text).runs == ("301", "302", "303")


def test_both_ways_to_say_it(read):
    text = REFUSED["topics across"]
    down = read(text, runs_in_rows=True)
    assert (down.runs, down.topics) == (("bm25", "splade"), ("q1", "q2"))
    assert read(text.replace("x,", "run,")).labels == down.labels
    across = read(text.replace("x,", "topic,"))
    assert (across.runs, across.topics) == (down.topics, down.runs)
    assert np.array_equal(across.matrix(), down.matrix().T)
    for number in ("12", "0.5"):
        with pytest.raises(sr.FormatError, match=OPEN.format(number)):
            read(text.replace("x,", f"{number},"), runs_in_rows=True)


def test_a_ranking_is_not_taken_for_scores(write):
    ranking = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 3.0}}
    path = write("run.json", json.dumps(ranking))
    with pytest.raises(sr.FormatError, match="as documents of a run do: is this a run?"):
        sr.read_scores(path)
    assert sr.read_run(path).topics == ("q1", "q2")
    same = {topic: {"faithful": 0.5, "short": 1} for topic in ranking}
    assert sr.read_scores(write("a.json", json.dumps(same))).measures == ("faithful", "short")


def test_a_run_is_not_taken_for_judgments(write):
    text = "qid,docno,score\n1,a,12\n1,b,3\n"
    for path in (
        write("a.csv", text),
        write("a.jsonl", '{"qid": "1", "docno": "a", "score": 12}\n'),
    ):
        with pytest.raises(sr.FormatError, match=r"expected a column 'relevance'.*is this a run\?"):
            sr.read_qrels(path)
    for grade in ("-6", "101", "0.5"):
        for name, line in (
            ("q.txt", f"1 0 d {grade}\n"),
            ("q.csv", f"qid,docno,rel\n1,d,{grade}\n"),
        ):
            with pytest.raises(sr.FormatError, match=r"from -5 to 100 as grade.*is this a run\?"):
                sr.read_qrels(write(name, line))
    beir = write("beir.tsv", "query-id\tcorpus-id\tscore\n1\td\t2\n")
    assert sr.read_qrels(beir).judgments("1") == {"d": 2}


# Headings that say it


HEADINGS = ["topic", "Topic", "TOPIC ID", "topic_id", "qid", "query-id", "", "#", "Unnamed: 0"]
TOPICS = {
    "TREC": range(301, 321),
    "unsorted": [301 + (7 * k) % 20 for k in range(20)],
    "from 0": range(20),
    "as pandas writes floats": [f"{k}.0" for k in range(301, 321)],
    "conversations": [f"{31 + k // 5}.{k % 5 + 1}" for k in range(20)],
    "underscores": [f"{31 + k // 5}_{k % 5 + 1}" for k in range(20)],
    "fractions": matrix()[:, 0],
    "words": [f"q{k}" for k in range(20)],
}


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_heading_is_believed_whatever_the_cells_hold(read, heading):
    for names in TOPICS.values():
        for values in (matrix(), matrix(digits=0), 100 * matrix()):
            scores = read(text_of(values, (heading, "a", "b", "c", "d"), names))
            assert scores.topics == tuple(map(str, names))
            assert np.array_equal(scores.matrix(), values.T)


def test_what_pandas_writes_reads_back(tmp_path):
    frame = pd.DataFrame(matrix(), columns=list("abcd"))
    for place, labels in enumerate([range(20), range(301, 321), map(str, range(20))]):
        frame.index = pd.Index(labels)
        path = tmp_path / f"{place}.csv"
        frame.to_csv(path)
        assert sr.read_scores(path).topics == tuple(map(str, frame.index))
    frame.to_csv(tmp_path / "bare.csv", index=False)
    with pytest.raises(sr.FormatError, match=OPEN.format("a")):
        sr.read_scores(tmp_path / "bare.csv")


@pytest.mark.parametrize("heading", ["run", "System", "model_name", "method", "run_id"])
def test_runs_in_rows_by_their_heading(read, heading):
    names = ["0.1", "0.2", "0.5", "0.05", "1.0"]
    scores = read(text_of(matrix(5), (heading, "301", "302", "303", "304"), names))
    assert scores.runs == tuple(names)
    with pytest.raises(sr.FormatError, match="name runs and topics: call the column of scores"):
        read(f"{heading},topic,AP,RR\na,1,0.5,0.6\n")


def test_long_tables_with_and_without_a_measure(read):
    text = "run,topic,value\na,1,0.5\nb,1,0.25\n"
    assert read(text).labels == (("score",), ("a", "b"), ("1",))
    assert read(text, measure="AP").measures == ("AP",)
    assert read("topic,measure,value\n1,AP,0.5\n").runs == ("wide.csv",)


# Several files


def test_a_list_of_files_is_joined(write):
    values = matrix(6)
    files = [
        write("first.csv", text_of(values[:3, :2], ("topic", "a", "b"), [1, 2, 3])),
        write("more-topics.csv", text_of(values[3:, :2], ("topic", "a", "b"), [4, 5, 6])),
        write("more-runs.csv", text_of(values[:, 2:], ("topic", "c", "d"), range(1, 7))),
    ]
    scores = sr.read_scores(files, measure="AP")
    assert scores.labels == (("AP",), ("a", "b", "c", "d"), tuple("123456"))
    assert np.array_equal(scores.matrix(), values.T)
    assert sr.read_scores([files[0]]).meta == {"source": str(files[0])}
    with pytest.raises(sr.InputError, match="no score files were named"):
        sr.read_scores([])


def test_files_that_disagree_are_refused_with_the_remedy(write):
    ap = write("ap.csv", "topic,a\n1,0.5\n")
    rr = write("rr.csv", "topic,a\n1,0.25\n")
    with pytest.raises(sr.InputError, match="disagree about score / a / 1: .*different measures"):
        sr.read_scores([ap, rr])
    assert sr.read_scores({"AP": ap, "RR": rr}).measures == ("AP", "RR")
