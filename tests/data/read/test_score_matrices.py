"""Wide score files with and without names: no system and no topic is lost without a word."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steadyrank as sr

NUMBERED = r"holds scores, so no column names the topics: they are numbered 1 to {}; "


def matrix(n_topics=20, n_runs=4, seed=0, digits=4):
    return np.random.default_rng(seed).random((n_topics, n_runs)).round(digits)


def text_of(values, header=("bm25", "ql", "splade", "e5"), first=None, form=str):
    """CSV of a matrix, with a column `first` in front of it where one is given."""
    rows = [[form(value) for value in row] for row in values.tolist()]
    if first is not None:
        rows = [[str(name), *row] for name, row in zip(first, rows, strict=True)]
    lines = rows if header is None else [list(header), *rows]
    return "".join(",".join(line) + "\n" for line in lines)


@pytest.fixture
def read(write):
    """Reads a text as a score file; any warning fails the test."""
    return lambda text, **options: sr.read_scores(write("wide.csv", text), **options)


# Without a column of topics


def test_a_matrix_without_a_topic_column_keeps_its_first_system(read):
    values = matrix()
    with pytest.warns(sr.SteadyrankWarning, match=NUMBERED.format(20) + "if .* name it 'topic'"):
        scores = read(text_of(values), measure="AP")
    assert scores.runs == ("bm25", "ql", "splade", "e5")
    assert scores.topics == tuple(map(str, range(1, 21)))
    assert np.array_equal(scores.matrix(), values.T)
    assert scores.meta["numbered"] == "topics"


def test_naming_the_first_column_topic_says_otherwise(read):
    scores = read(text_of(matrix(), header=("topic", "ql", "splade", "e5")))
    assert scores.runs == ("ql", "splade", "e5")
    assert scores.topics[0] == str(matrix()[0, 0])


@pytest.mark.parametrize("digits", [0, 1])
def test_coarse_measures_are_recognised_too(read, digits):
    """Success@1 is 0 or 1 and P@10 has eleven values; R writes 1 for 1.0."""
    values = matrix(digits=digits)
    for form in (str, "{:g}".format):
        with pytest.warns(sr.SteadyrankWarning, match=NUMBERED.format(20)):
            scores = read(text_of(values, form=form))
        assert np.array_equal(scores.matrix(), values.T)


def test_a_first_system_of_equal_scores_is_recognised(read):
    values = matrix()
    values[:, 0] = 0
    with pytest.warns(sr.SteadyrankWarning, match=NUMBERED.format(20)):
        assert len(read(text_of(values)).runs) == 4


def test_missing_scores_of_the_first_system_stay_missing(read):
    values = matrix()
    values[[0, 5], 0] = np.nan
    for form in (str, lambda value: "" if np.isnan(value) else str(value)):
        with pytest.warns(sr.SteadyrankWarning, match=NUMBERED.format(20)):
            scores = read(text_of(values, form=form))
        assert np.isnan(scores.matrix()[0, [0, 5]]).all()
        assert np.isfinite(scores.matrix()).sum() == 78


def test_scores_beyond_one_are_recognised(read):
    """DCG, or percentages: the first system may be better than all others."""
    values = 20 * matrix()
    values[:, 0] += 5
    with pytest.warns(sr.SteadyrankWarning, match=NUMBERED.format(20)):
        assert np.array_equal(read(text_of(values)).matrix(), values.T)


@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(2, 8), st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_any_measure_from_0_to_1_reads_as_if_topics_were_numbered(tmp_path_factory, seed, n, m, d):
    folder = tmp_path_factory.mktemp("any")
    values = matrix(n, m, seed, d)
    header = [f"run{k}" for k in range(m)]
    (folder / "a.csv").write_text(text_of(values, header))
    (folder / "b.csv").write_text(text_of(values, ["topic", *header], range(1, n + 1)))
    with pytest.warns(sr.SteadyrankWarning, match=NUMBERED.format(n)):
        found = sr.read_scores(folder / "a.csv")
    expected = sr.read_scores(folder / "b.csv")
    assert found.labels == expected.labels
    assert np.array_equal(found.values, expected.values)


# With topics that are numbers


NUMBERS_OF_TOPICS = {
    "TREC": range(301, 321),
    "TREC, unsorted": [301 + (7 * k) % 20 for k in range(20)],
    "from 1": range(1, 21),
    "from 0": range(20),
    "as text": sorted(range(1, 21), key=str),
    "years": range(2001, 2021),
    "large": [1_037_798 + 977 * k for k in range(20)],
    "as pandas writes floats": [f"{k}.0" for k in range(301, 321)],
    "conversations": [f"{31 + k // 5}.{k % 5 + 1}" for k in range(20)],
    "underscores": [f"{31 + k // 5}_{k % 5 + 1}" for k in range(20)],
    "words": [f"q{k}" for k in range(20)],
}


@pytest.mark.parametrize("heading", ["AP", "bm25", "Anfrage", "topic", "", "Unnamed: 0"])
@pytest.mark.parametrize("kind", NUMBERS_OF_TOPICS)
def test_numbers_of_topics_stay_names(read, heading, kind):
    names = NUMBERS_OF_TOPICS[kind]
    for digits in (4, 0):
        values = matrix(digits=digits)
        scores = read(text_of(values, (heading, "a", "b", "c", "d"), names))
        assert scores.topics == tuple(map(str, names))
        assert np.array_equal(scores.matrix(), values.T)


@pytest.mark.parametrize("kind", ["TREC", "from 1", "from 0", "as text", "years", "words"])
def test_numbers_of_topics_stay_names_beside_counts(read, kind):
    """Of a measure that counts, such as retrieved documents, whose range holds the numbers."""
    values = np.random.default_rng(1).integers(0, 3000, (20, 4))
    names = NUMBERS_OF_TOPICS[kind]
    scores = read(text_of(values, ("num_ret", "a", "b", "c", "d"), names))
    assert scores.topics == tuple(map(str, names))


@pytest.mark.parametrize(
    "heading", ["Topic", "TOPIC ID", "topic_id", "qid", "Query", "query-id", "id", "#", "topic/run"]
)
def test_a_heading_is_believed(read, heading):
    scores = read(text_of(matrix()[:, 1:], (heading, "a", "b", "c"), matrix()[:, 0]))
    assert len(scores.runs) == 3


def test_what_pandas_writes_reads_back(tmp_path):
    frame = pd.DataFrame(matrix(), columns=list("abcd"))
    for place, labels in enumerate([range(20), range(301, 321), map(str, range(20))]):
        frame.index = pd.Index(labels)
        path = tmp_path / f"{place}.csv"
        frame.to_csv(path)
        assert sr.read_scores(path).topics == tuple(map(str, frame.index))
    frame.to_csv(tmp_path / "bare.csv", index=False)
    with pytest.warns(sr.SteadyrankWarning, match=NUMBERED.format(20)):
        assert sr.read_scores(tmp_path / "bare.csv").runs == tuple("abcd")


@pytest.mark.parametrize(
    ("first", "values"),
    [
        ([40, 7, 23, 11], np.array([[3, 9], [50, 8], [12, 41], [30, 2]])),
        ([1.5, 2.25, 3.5, 7.5], np.array([[3.5, 9], [5, 8.5], [1, 4], [3, 2]])),
        ([3, 4, 4, 9], np.array([[3, 9], [50, 8], [12, 41], [30, 2]])),
    ],
    ids=["counts unsorted", "fractions sorted", "sorted with one twice"],
)
def test_what_may_be_either_is_refused_with_the_remedy(read, first, values):
    text = text_of(values, ("x", "a", "b"), first)
    remedy = r"wide.csv:1: the first column, 'x', may hold topics or scores: name it 'topic' if"
    with pytest.raises(sr.FormatError, match=remedy):
        read(text)
    if len(set(first)) == len(first):
        assert read(text.replace("x,", "topic,", 1)).runs == ("a", "b")


# Runs in rows


def test_runs_in_rows_without_a_run_column_are_numbered(read):
    values = matrix(5, 30)
    topics = list(range(301, 331))
    message = "'301', holds scores, so no column names the runs: .* run1 to run5; .* 'run'"
    with pytest.warns(sr.SteadyrankWarning, match=message):
        scores = read(text_of(values, map(str, topics)), runs_in_rows=True)
    assert scores.runs == ("run1", "run2", "run3", "run4", "run5")
    assert scores.topics == tuple(map(str, topics))
    assert np.array_equal(scores.matrix(), values)


@pytest.mark.parametrize("heading", ["AP", "rate", "run"])
def test_runs_named_by_a_parameter_stay_names(read, heading):
    names = ["0.1", "0.2", "0.5", "0.05", "1.0"]
    header = (heading, "301", "302", "303", "304")
    scores = read(text_of(matrix(5), header, names), runs_in_rows=True)
    assert scores.runs == tuple(names)
    down = read(text_of(matrix(4, 5), ("topic", *names), range(301, 305)))
    assert down.runs == tuple(names)
    if heading != "run":
        assert read(text_of(matrix(4, 5), (heading, *names), range(301, 305))).runs == tuple(names)


def test_parameters_or_scores_is_a_question_for_the_user(read):
    text = text_of(matrix(3), ("k1", "q1", "q2", "q3", "q4"), ["0.1", "0.5", "0.9"])
    with pytest.raises(sr.FormatError, match="may hold runs or scores: name it 'run'"):
        read(text, runs_in_rows=True)


# Without a header


@pytest.mark.parametrize(
    "first", [None, range(301, 321), [f"q{k}" for k in range(20)]], ids=["bare", "TREC", "words"]
)
@pytest.mark.parametrize("runs_in_rows", [False, True])
def test_a_matrix_without_a_header_is_refused(read, first, runs_in_rows):
    text = text_of(matrix(), None, first)
    name = "run" if runs_in_rows else "topic"
    message = f"wide.csv:1: the first line holds scores, not the names of .* column '{name}'"
    with pytest.raises(sr.FormatError, match=message):
        read(text, runs_in_rows=runs_in_rows)


def test_counts_without_a_header_are_refused(read):
    with pytest.raises(sr.FormatError, match="first line holds scores"):
        read("12,7,30\n4,9,22\n40,3,1\n")


def test_numbers_of_topics_are_a_header(read):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = read(text_of(matrix(5, 3), ("303", "301", "302")), runs_in_rows=True)
    assert scores.topics == ("303", "301", "302")


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


@pytest.mark.filterwarnings("ignore:.*numbered")
def test_numbered_topics_match_only_as_many_numbered_ones(write):
    bare = write("ap.csv", text_of(matrix()))
    more = write("p10.csv", text_of(matrix(21, digits=1)))
    named = write("rr.csv", text_of(matrix(), ("topic", "bm25", "ql", "x", "y"), range(301, 321)))
    other = write("other.csv", text_of(matrix(seed=3)))
    assert len(sr.read_scores({"AP": bare, "RR": other}).topics) == 20
    for wrong in (more, named):
        with pytest.raises(sr.InputError, match="some lack a column that names the topics"):
            sr.read_scores({"AP": bare, "RR": wrong})
