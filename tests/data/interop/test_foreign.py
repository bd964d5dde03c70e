"""What other tools hand over, and what they take: checked against the tools themselves."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from collections.abc import Iterator
from decimal import Decimal
from types import ModuleType
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from steadyrank import InputError, Qrels, Run, Scores, SteadyrankWarning, UnknownNameError
from steadyrank.data.frames import Tool, qrels_frame, run_frame
from steadyrank.data.interop.objects import as_qrels, as_run, as_scores, single_runs
from steadyrank.data.qrels import qrels_from_dict
from steadyrank.data.read.run_files import read_qrels
from steadyrank.data.read.runs import read_run, read_runs
from steadyrank.data.run import run_from_dict
from steadyrank.measures.evaluate import evaluate

RUN = {"q1": {"d1": 0.5, "d2": 2.0, "d3": 2.0}, "q2": {"d9": -1.5}}
QRELS = {"q1": {"d1": 1, "d2": 0, "d3": 2}, "q2": {"d8": 1}}
TOOLS: tuple[Tool, ...] = ("steadyrank", "ir_measures", "pyterrier", "ranx", "trectools")
examples = settings(derandomize=True, deadline=None, max_examples=60)


def quietly(name: str) -> ModuleType:
    """Import an optional library without the warnings of its imports."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name)


@pytest.fixture
def run() -> Run:
    return run_from_dict(RUN, name="bm25")


@pytest.fixture
def qrels() -> Qrels:
    return qrels_from_dict(QRELS)


def rows(held: Run | Qrels) -> list[Any]:
    values = held.scores if isinstance(held, Run) else held.grades
    return [held.topics, held.blocks.tolist(), held.documents.to_list(), values.tolist()]


def same(made: Run | Qrels, expected: Run | Qrels) -> bool:
    hashes = made.documents.hashes.tolist() == expected.documents.hashes.tolist()
    return type(made) is type(expected) and rows(made) == rows(expected) and hashes


def frame_of(contents: dict[str, dict[str, Any]], *columns: str) -> pd.DataFrame:
    cells = [(topic, doc, value) for topic, docs in contents.items() for doc, value in docs.items()]
    return pd.DataFrame(cells, columns=list(columns))


# Objects of steadyrank itself


# Tables


@pytest.mark.parametrize("columns", [("query", "docid", "score"), ("Topic", "Document", "Sim")])
def test_run_frames_under_each_tools_names(run: Run, columns: tuple[str, ...]) -> None:
    assert same(as_run(frame_of(RUN, *columns)), run)


def test_pyterrier_frames_have_other_columns_too(run: Run) -> None:
    frame = frame_of(RUN, "qid", "docno", "score")
    frame["docid"] = range(len(frame))
    frame["query"] = "what is asked"
    frame["rank"] = 0
    frame["text"] = None
    assert same(as_run(frame), run)


def text_as(kind: str) -> pd.DataFrame:
    frame = frame_of(RUN, "qid", "docno", "score")
    return frame.astype({"qid": kind, "docno": kind})


@pytest.mark.parametrize("kind", ["object", "category", "string", "string[pyarrow]"])
def test_text_of_every_type(run: Run, kind: str) -> None:
    assert same(as_run(text_as(kind)), run)


@pytest.mark.parametrize("kind", ["int64", "int32", "uint8", "Int64", "category", "int64[pyarrow]"])
def test_ids_that_are_numbers(kind: str) -> None:
    frame = pd.DataFrame({"qid": [7, 7, 12], "docno": [1, 2, 1], "score": [1, 2, 3]})
    made = as_run(frame.astype({"qid": kind, "docno": kind}))
    assert same(made, run_from_dict({"7": {"1": 1, "2": 2}, "12": {"1": 3}}, name="run"))


def test_ids_of_mixed_types_and_bytes() -> None:
    expected = run_from_dict({"7": {"a": 1}, "8": {"\udcff": 2}}, name="run")
    for topics in ([7, "8"], [b"7", 8], [b"7", "8"]):
        columns = {"qid": topics, "docno": ["a", b"\xff"], "score": [1.0, Decimal(2)]}
        assert same(as_run(pd.DataFrame(columns, dtype=object)), expected)


@pytest.mark.parametrize("kind", ["float16", "float32", "int64", "Float64", "object"])
def test_numbers_of_every_type(run: Run, kind: str) -> None:
    frame = frame_of(RUN, "qid", "docno", "score")
    frame["score"] = frame["score"] * 2
    doubled = {t: {d: 2 * s for d, s in docs.items()} for t, docs in RUN.items()}
    expected = run_from_dict(doubled, name="run")
    assert same(as_run(frame.astype({"score": kind})), expected)


def test_arrow_tables(run: Run, qrels: Qrels) -> None:
    table = pa.Table.from_pandas(frame_of(RUN, "query_id", "doc_id", "score"))
    assert same(as_run(pa.concat_tables([table[:2], table[2:]])), run)
    encoded = table.set_column(0, "query_id", table["query_id"].dictionary_encode())
    assert same(as_run(encoded), run)
    judged = pa.Table.from_pandas(frame_of(QRELS, "query_id", "doc_id", "relevance"))
    assert same(as_qrels(judged), qrels)


def test_polars_frames(run: Run, qrels: Qrels) -> None:
    pl = quietly("polars")
    frame = pl.DataFrame(frame_of(RUN, "qid", "docno", "score").to_dict("list"))
    assert same(as_run(frame), run)
    assert same(as_run(frame.with_columns(pl.col("qid").cast(pl.Categorical))), run)
    judged = pl.DataFrame(frame_of(QRELS, "qid", "docno", "label").to_dict("list"))
    assert same(as_qrels(judged), qrels)
    with pytest.raises(InputError, match=r"polars LazyFrame: collect\(\) it first"):
        as_run(frame.lazy())


def test_a_column_names_the_run() -> None:
    frame = frame_of(RUN, "query", "docid", "score").assign(system="bm25")
    assert as_run(frame).name == "bm25"
    assert as_run(frame, name="mine").name == "mine"


def test_a_frame_of_two_runs_is_refused() -> None:
    frame = frame_of(RUN, "query", "docid", "score")
    frame["system"] = ["a", "a", "b", "b"]
    with pytest.raises(InputError, match="its rows are of 'a' and other runs: give one .*name="):
        as_run(frame)
    assert as_run(frame, name="both").name == "both"


# Tables that are wrong


def test_missing_columns_are_listed() -> None:
    frame = frame_of(RUN, "qid", "docno", "weight")
    with pytest.raises(InputError, match="expected a column 'score', got qid, docno, weig"):
        as_run(frame)
    with pytest.raises(InputError, match="got no columns"):
        as_run(pd.DataFrame())


@pytest.mark.parametrize("grade", [1.5, math.nan, 2000, math.inf])
def test_grades_are_whole(grade: float) -> None:
    frame = frame_of({"q1": {"d1": 1.0, "d2": grade}}, "qid", "docno", "label")
    with pytest.raises(InputError, match="row 1: expected a .*number"):
        as_qrels(frame)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("qid", ["q", None], "row 1: expected a name as topic, got None"),
        ("qid", ["q", pd.NA], "row 1: expected a name as topic"),
        ("docno", ["", "d"], "row 0: expected a name as document, got ''"),
        ("qid", [301.0, 302.0], "row 0: expected a name as topic, got 301.0"),
        ("docno", [True, False], "row 0: expected a name as document, got True"),
        ("docno", ["a", ("b",)], "row 1: expected a name as document"),
        ("docno", ["a", "\ud800"], "row 1: .* is not valid text"),
        ("score", ["1.0", "2.0"], "row 0: expected a number as score, got '1.0'"),
        ("score", [True, False], "row 0: expected a number as score, got True"),
        ("score", [1.0, {}], "row 1: expected a number"),
        ("score", [1, 10**400], "row 1: expected a number"),
        ("score", [None, Decimal(1)], "row 0: expected a number as score, got None"),
    ],
)
def test_cells_of_the_wrong_type(column: str, values: list[Any], message: str) -> None:
    columns = {"qid": ["q", "q"], "docno": ["d", "e"], "score": [1.0, 2.0]} | {column: values}
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    with pytest.raises(InputError, match=message):
        as_run(frame)


def test_documents_that_repeat() -> None:
    frame = pd.DataFrame({"qid": 1, "docno": ["a", "b", "a"], "score": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="'a' occurs twice in topic '1'"):
        as_run(frame)
    with pytest.warns(SteadyrankWarning, match="pandas DataFrame: 1 repeated document dropped"):
        assert as_run(frame, duplicates="first").ranking("1") == [("b", 2.0), ("a", 1.0)]
    with pytest.raises(UnknownNameError, match="treat duplicates"):
        as_run(frame, duplicates="last")  # type: ignore[arg-type]


# Dictionaries and records


def test_nested_dictionaries(run: Run, qrels: Qrels) -> None:
    assert same(as_run(RUN), run)
    assert as_run(RUN).name == "run"
    assert same(as_qrels(QRELS), qrels)
    assert as_run({301: {7: np.float32(1.5)}}).ranking("301") == [("7", 1.5)]
    assert as_qrels({301: {"d": np.int64(2), "e": 1.0}}).judgments("301") == {"d": 2, "e": 1}


def test_a_topic_without_documents_stays() -> None:
    made = as_run({"q0": {}, "q1": {"d": 1.0}, "q2": {}})
    assert made.topics == ("q0", "q1", "q2")
    assert made.blocks.tolist() == [0, 0, 1, 1]
    assert len(as_run({"q": {}})) == 0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "dictionary: empty: no topics"),
        ({"d1": 1.0}, "expected {topic: {document: score}}, got float for topic 'd1'"),
        ({"q": {"d": None}}, "row 0: expected a number as score, got None"),
        ({"q": {"d": "1"}}, "row 0: expected a number as score, got '1'"),
        ({"q": {None: 1.0}}, "row 0: expected a name as document, got None"),
        ([], "list: empty: no rows"),
        ([("q", "d", 1.0)], "expected a Run, a pandas, polars or pyarrow table.*; got list"),
        ("bm25.run", "got 'bm25.run': read_run reads files"),
        (b"bm25.run", "got bytes"),
        (3, "got int"),
        (np.zeros(3), "got numpy ndarray"),
        (pd.Series([1.0]), "got pandas Series"),
        (pa.chunked_array([[1.0]]), "got pyarrow ChunkedArray"),
        (type("Delayed", (), {"compute": None})(), r"Delayed: compute\(\) it first"),
        (qrels_from_dict(QRELS), "got steadyrank Qrels"),
    ],
)
def test_what_is_no_run(source: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_run(source)


def scored() -> Iterator[ir_measures.ScoredDoc]:
    return (ir_measures.ScoredDoc(t, d, s) for t, docs in RUN.items() for d, s in docs.items())


def judged() -> Iterator[ir_measures.Qrel]:
    return (ir_measures.Qrel(t, d, g) for t, docs in QRELS.items() for d, g in docs.items())


def test_records_of_ir_measures(run: Run, qrels: Qrels) -> None:
    assert same(as_run(list(scored())), run)
    assert same(as_run(scored(), name="x"), run)
    assert same(as_qrels(judged()), qrels)
    with pytest.raises(InputError, match="ScoredDoc items: expected a column 'relevance'"):
        as_qrels(scored())
    with pytest.raises(InputError, match="row 1: expected a field 'query_id', got str"):
        as_run([*list(scored())[:1], "q2"])


def test_records_of_ir_datasets(run: Run, qrels: Qrels) -> None:
    formats = quietly("ir_datasets.formats")
    graded = [formats.TrecQrel(q.query_id, q.doc_id, q.relevance, "0") for q in judged()]
    assert same(as_qrels(graded), qrels)
    assert same(as_qrels([formats.GenericQrel(*record[:3]) for record in judged()]), qrels)
    assert same(as_run([formats.GenericScoredDoc(*record) for record in scored()]), run)


# Objects of other libraries


@pytest.fixture
def ranx(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """ranx with its typed dictionaries filled here: its own way takes half a minute to compile."""
    from numba import types
    from numba.typed import Dict

    library = quietly("ranx")

    def filled(topics: list[str], documents: list[np.ndarray], values: list[np.ndarray]) -> Dict:
        kind = types.float64 if values[0].dtype.kind == "f" else types.int64
        made = Dict.empty(types.unicode_type, types.DictType(types.unicode_type, kind))
        for topic, ids, of_ids in sorted(zip(topics, documents, values, strict=True)):
            made[topic] = Dict.empty(types.unicode_type, kind)
            for place in np.argsort(-of_ids, kind="stable"):
                made[topic][str(ids[place])] = of_ids[place]
        return made

    for module in ("run", "qrels"):
        for name, ours in (("TypedList", list), ("create_and_sort", filled)):
            monkeypatch.setattr(f"ranx.data_structures.{module}.{name}", ours)
    return library


@pytest.mark.slow
def test_ranx_takes_our_frames_and_gives_them_back(
    ranx: ModuleType, run: Run, qrels: Qrels
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Numba, while it compiles ranx
        theirs = ranx.Run.from_df(run_frame(run, columns="ranx"), name="bm25")
        judgments = ranx.Qrels.from_df(qrels_frame(qrels, columns="ranx"))
    made = as_run(theirs)
    assert made.name == "bm25"
    assert same(made, run)
    assert [as_qrels(judgments).judgments(topic) for topic in QRELS] == list(QRELS.values())
    assert [one for _, one in single_runs([theirs, run])] == [theirs, run]
    with pytest.raises(InputError, match="expected a Run.*; got ranx Qrels"):
        as_run(judgments)
    with pytest.raises(InputError, match="ranx Run: empty: no topics"):
        as_run(ranx.Run(name="nothing"))


def test_files_that_ranx_saves_are_read(ranx: ModuleType, tmp_path: Any) -> None:
    path = str(tmp_path / "saved.json")
    scores = {"301": {"d1": 2.0, "d2": 3.5, "é": -1e-7}, "302": {"d9": 0.25, "d0": 1e300}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranx.Run(scores).save(path)
        assert {topic: dict(read_run(path).ranking(topic)) for topic in scores} == scores
        ranx.Qrels(QRELS).save(path)
    read = read_qrels(path)
    assert {topic: read.judgments(topic) for topic in read.topics} == QRELS


def test_trectools(tmp_path: Any) -> None:
    trectools = quietly("trectools")
    numbered = {"301": RUN["q1"], "302": RUN["q2"]}
    run = run_from_dict(numbered, name="bm25")
    qrels = qrels_from_dict({"301": QRELS["q1"], "302": QRELS["q2"]})
    lines = [
        f"{t} Q0 {d} {rank} {s} bm25\n"
        for t in run.topics
        for rank, (d, s) in enumerate(run.ranking(t), 1)
    ]
    (tmp_path / "a.run").write_text("".join(lines))
    (tmp_path / "qrels").write_text(
        "".join(f"{t} 0 {d} {g}\n" for t in qrels.topics for d, g in qrels.judgments(t).items())
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = trectools.TrecRun(str(tmp_path / "a.run"))
        judgments = trectools.TrecQrel(str(tmp_path / "qrels"))
    assert as_run(theirs).name == "bm25"
    assert same(as_run(theirs), run)
    assert same(as_qrels(judgments), qrels)
    # trectools breaks ties the other way round, hence the sorting.
    pd.testing.assert_frame_equal(
        theirs.run_data.sort_values("rank").sort_values("query", kind="stable", ignore_index=True),
        run_frame(run, columns="trectools"),
    )
    pd.testing.assert_frame_equal(judgments.qrels_data, qrels_frame(qrels, columns="trectools"))
    with pytest.raises(InputError, match="expected a Run.*; got trectools TrecQrel"):
        as_run(judgments)
    with pytest.raises(InputError, match="trectools TrecRun: empty"):
        as_run(trectools.TrecRun())


def test_nothing_foreign_is_imported() -> None:
    code = (
        "import sys, steadyrank.data.interop.objects as f\n"
        "list(f.single_runs(['a.run'])), f.table_of(3)\n"
        "libraries = {'pandas', 'polars', 'pyarrow', 'ranx', 'ir_measures', 'trectools'}\n"
        "print(sorted(libraries & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Scores


def test_scores_of_ir_measures_are_ours(run: Run, qrels: Qrels) -> None:
    measures = [ir_measures.AP, ir_measures.nDCG @ 10, ir_measures.P @ 5]
    ours = evaluate(run, qrels, ["AP", "nDCG@10", "P@5"])
    theirs = as_scores(ir_measures.iter_calc(measures, list(judged()), list(scored())), name="bm25")
    theirs = theirs.select(measures=ours.measures, topics=ours.topics)
    assert theirs.runs == ("bm25",)
    np.testing.assert_allclose(theirs.values, ours.values, atol=1e-12)
    both = ir_measures.calc(measures, list(judged()), list(scored()))
    again = as_scores(both, name="bm25").select(measures=ours.measures, topics=ours.topics)
    np.testing.assert_allclose(again.values, ours.values, atol=1e-12)


def test_scores_of_pytrec_eval() -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(QRELS, {"map", "P_5"})
    given = evaluator.evaluate(RUN)
    made = as_scores(given, name="bm25")
    assert made.topics == ("q1", "q2")
    assert made.select(measures="map").matrix().tolist() == [[given[t]["map"] for t in QRELS]]
    two = as_scores({"a": given, "b": given})
    assert two.runs == ("a", "b")
    np.testing.assert_array_equal(two.values[:, 0], made.values[:, 0])
    assert as_scores({"a": given}, name="z").runs == ("z",)


def test_scores_of_a_pyterrier_experiment(run: Run, qrels: Qrels) -> None:
    pt = quietly("pyterrier")
    topics = pd.DataFrame({"qid": ["q1", "q2"], "query": ["one", "two"]})
    results = run_frame(run, columns="pyterrier")
    judgments = qrels_frame(qrels, columns="pyterrier")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        systems = [results, pt.Transformer.from_df(results)]
        frame, mean = (
            pt.Experiment(systems, topics, judgments, ["map", "P_5"], ["a", "b"], perquery=each)
            for each in (True, False)
        )
    made = as_scores(frame).select(measures=["map", "P_5"])
    assert made.runs == ("a", "b")
    ours = evaluate(run, qrels, ["AP", "P@5"])
    for position in range(2):
        np.testing.assert_allclose(made.values[:, position], ours.values[:, 0], atol=1e-12)
    with pytest.raises(InputError, match="perquery=True"):
        as_scores(mean)


def test_our_own_long_frames() -> None:
    cube = np.array([[[0.5, np.nan], [0.25, 1.0]]])
    scores = Scores(measures=("AP",), runs=("a", "b"), topics=("1", "2"), values=cube)
    made = as_scores(scores.to_frame())
    assert made.labels == scores.labels
    np.testing.assert_array_equal(made.values, cube)
    assert as_scores(scores) is scores
    arrow = as_scores(pa.Table.from_pandas(scores.to_frame()))
    np.testing.assert_array_equal(arrow.values, cube)


def test_a_frame_of_one_runs_scores_needs_its_name() -> None:
    frame = pd.DataFrame({"query_id": [1, 2], "measure": [ir_measures.AP] * 2, "value": [0.5, 1]})
    made = as_scores(frame, name="bm25")
    assert made.labels == (("AP",), ("bm25",), ("1", "2"))
    with pytest.raises(InputError, match="which run they belong to: say name="):
        as_scores(frame)
    named = as_scores(frame.assign(run="x"), name="bm25")
    assert named.runs == ("bm25",)
    with pytest.raises(InputError, match="one name, 'bm25', for 2 runs"):
        as_scores(frame.assign(run=["x", "y"]), name="bm25")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "empty: no scores"),
        ({"q": {"map": math.inf}}, "row 0: expected a score, got inf"),
        ({"q": 0.5}, "expected Scores"),
        ([], "empty: no rows"),
        ([0.5], "expected Scores, a pandas.*; got list"),
        (3, "got int"),
        ("scores.csv", "read_scores reads files"),
        (pd.DataFrame({"qid": [1], "measure": ["a"]}), "expected a column 'value'"),
        (pd.DataFrame({"qid": [], "measure": [], "value": []}), "empty: no scores"),
        (
            pd.DataFrame({"qid": [1, 1], "measure": ["a", "a"], "value": [1.0, 2.0]}),
            "a second value for a / bm25 / 1",
        ),
    ],
)
def test_what_is_no_scores(source: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_scores(source, name="bm25")


# One run or several


def test_one_run_or_several(run: Run) -> None:
    frame = frame_of(RUN, "qid", "docno", "score")
    for single in (run, RUN, frame, scored(), list(scored())):
        made = read_runs(single)
        assert len(made) == 1
        for _ in range(2):  # an iterator of records, too, can be gone through again
            assert same(made[0], run)
    assert list(single_runs("a.run")) == [(None, "a.run")]
    assert list(single_runs(["a.run", run])) == [(None, "a.run"), (None, run)]
    assert [one.name for one in read_runs({"x": frame, "y": RUN})] == ["x", "y"]
    assert [one.name for one in read_runs({"x": RUN, "y": RUN})] == ["x", "y"]
    assert list(single_runs([])) == []
    with pytest.raises(InputError, match="expected a Run"):
        read_runs(3)
    with pytest.raises(InputError, match="a.run: no such file"):
        read_runs({"x": "a.run"})


# Frames out


def test_columns_and_types(run: Run, qrels: Qrels) -> None:
    made = run_frame(run, columns="pyterrier")
    assert list(made) == ["qid", "docno", "score", "rank"]
    assert made["rank"].tolist() == [0, 1, 2, 0]
    assert made["docno"].tolist() == ["d3", "d2", "d1", "d9"]
    assert set(run_frame(run, columns="ranx").dtypes[:2]) == {np.dtype(object)}
    pd.testing.assert_frame_equal(run_frame(run), run.to_frame())
    pd.testing.assert_frame_equal(qrels_frame(qrels), qrels.to_frame())
    with pytest.raises(UnknownNameError, match="did you mean 'pyterrier'"):
        run_frame(run, columns="pytterier")  # type: ignore[arg-type]


def test_ir_measures_takes_our_frames(run: Run, qrels: Qrels) -> None:
    ours = run_frame(run, columns="ir_measures")
    judgments = qrels_frame(qrels, columns="ir_measures")
    value = ir_measures.calc_aggregate([ir_measures.AP], judgments, ours)[ir_measures.AP]
    assert value == pytest.approx(evaluate(run, qrels, "AP").mean()[0, 0])


def test_a_frame_cannot_hold_a_topic_without_judgments() -> None:
    with pytest.raises(InputError, match="topic 'q' has no judgments"):
        qrels_frame(qrels_from_dict({"q": {}}))
    assert len(run_frame(run_from_dict({"q": {}}, name="x"))) == 0


# Any bytes but none at all; what is not UTF-8 has its escapes in Python's text.
names = st.binary(min_size=1, max_size=5).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
plain = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
ids = st.one_of(plain, st.integers(0, 99).map(str), names)
scores_ = st.floats(allow_nan=False, allow_infinity=False)


@examples
@given(
    rankings=st.dictionaries(ids, st.dictionaries(ids, scores_, min_size=1), min_size=1),
    columns=st.sampled_from(TOOLS),
)
def test_runs_survive_every_tools_columns(rankings: Any, columns: Tool) -> None:
    run = run_from_dict(rankings, name="bm25")
    frame = run_frame(run, columns=columns)
    assert same(as_run(frame), run)
    assert as_run(frame, name="x").name == "x"
    assert same(as_run(rankings), run)


@examples
@given(cells=st.lists(st.tuples(plain, plain, scores_), unique_by=lambda c: c[:2], min_size=1))
def test_every_kind_of_table_gives_the_same_run(cells: Any) -> None:
    columns = dict(zip(("qid", "docno", "score"), map(list, zip(*cells, strict=True)), strict=True))
    frame = pd.DataFrame(columns)
    first = as_run(frame)
    assert same(as_run(frame.astype({"qid": "category", "docno": object})), first)
    assert same(as_run(pa.table(columns)), first)
    assert same(as_run([ir_measures.ScoredDoc(*cell) for cell in cells]), first)
    if "polars" in sys.modules:
        assert same(as_run(sys.modules["polars"].DataFrame(columns)), first)
