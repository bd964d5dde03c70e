"""Runs and judgments in the forms of other tools, written by these tools where they can."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import steadyrank as sr

RUNS = {"301": {"d1": 2.0, "d2": 3.5, "é": -1e-7}, "302": {"d9": 0.25, "d10": 1e300}}
GRADES = {"301": {"d1": 2, "d2": 0}, "302": {"d10": 1}}
TREC = "".join(
    f"{topic} Q0 {document} 1 {score!r} tag\n"
    for topic, documents in RUNS.items()
    for document, score in documents.items()
)
BEIR = "query-id\tcorpus-id\tscore\n301\td1\t2\n301\td2\t0\n302\td10\t1\n"


def rows(run):
    return {topic: dict(run.ranking(topic)) for topic in run.topics}


def judged(qrels):
    return {topic: qrels.judgments(topic) for topic in qrels.topics}


def zstd(data: bytes) -> bytes:
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as stream:
        stream.write(data)
    return out.getvalue().to_pybytes()


PACKERS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress, ".zst": zstd}


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("text", [TREC, json.dumps(RUNS)])
def test_packed_files_are_read_as_plain_ones(tmp_path, suffix, text):
    path = tmp_path / f"a.run{suffix}"
    path.write_bytes(PACKERS[suffix](text.encode()))
    assert rows(sr.read_run(path)) == RUNS
    assert sr.read_run(path, name_from="file").name == "a.run"


@pytest.mark.parametrize("suffix", PACKERS)
def test_broken_packing_is_named(tmp_path, suffix):
    path = tmp_path / f"a.run{suffix}"
    packed = PACKERS[suffix](np.random.default_rng(0).bytes(1 << 18).hex().encode())
    name = {".gz": "gzip", ".xz": "xz", ".bz2": "bzip2", ".zst": "zstd"}[suffix]
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(sr.FormatError, match=rf"a.run{suffix}: broken {name} data"):
        sr.read_run(path)
    flipped = bytearray(packed)
    flipped[len(packed) // 2] ^= 255
    path.write_bytes(flipped)
    with pytest.raises(sr.FormatError, match=f"a.run{suffix}"):  # zstd may have no checksum
        sr.read_run(path)


@pytest.mark.parametrize("text", [BEIR, BEIR.replace("\n", "\r\n"), "\ufeff" + BEIR, BEIR[25:]])
def test_qrels_of_three_columns_with_and_without_beirs_header(write, text):
    assert judged(sr.read_qrels(write("test.tsv", text))) == GRADES


def test_a_header_behind_comments_and_the_lines_of_defects(write):
    path = write("test.tsv", "# BEIR\n\n" + BEIR)
    assert judged(sr.read_qrels(path)) == GRADES
    for text, message in (
        (BEIR + "302\td10\t2\n", r":5: document 'd10' is judged twice .*\(first on line 4\)"),
        (BEIR + "302\td10\n", r":5: expected 3 fields \(topic document grade\), got 2"),
        (BEIR + "302\t0\td10\t1\n", ":5: expected 3 fields .*, got 4"),
        (BEIR + "302\td11\t0.5\n", ":5: expected a whole number from -5 to 100 as grade"),
        (BEIR + "302\td11\tx\n", ":5: expected a number as grade, got 'x'"),
        ("query-id\tcorpus-id\tscore\n", ": empty"),
    ):
        with pytest.raises(sr.FormatError, match="test.tsv" + message):
            sr.read_qrels(write("test.tsv", text))


def test_nested_json_of_beir_and_pytrec_eval(tmp_path):
    """The file of ranx is read where ranx is tested: test_foreign.py."""
    path = tmp_path / "run.json"
    for indent in (None, 2):
        path.write_text(json.dumps(RUNS, indent=indent))
        assert rows(sr.read_run(path)) == RUNS
        path.write_text(json.dumps(RUNS, indent=indent, ensure_ascii=False))
        assert rows(sr.read_run(path)) == RUNS
    assert sr.read_run(path).name == "run.json"
    path.write_text(json.dumps(GRADES))
    assert judged(sr.read_qrels(path)) == GRADES


def test_json_files_score_as_pytrec_eval_scores_their_content(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(RUNS))
    (tmp_path / "qrels.json").write_text(json.dumps(GRADES))
    scores = sr.evaluate(tmp_path / "run.json", tmp_path / "qrels.json", ["AP", "nDCG@10"])
    witness = pytrec_eval.RelevanceEvaluator(GRADES, {"map", "ndcg_cut.10"}).evaluate(RUNS)
    for measure, name in (("AP", "map"), ("nDCG@10", "ndcg_cut_10")):
        expected = [witness[topic][name] for topic in scores.topics]
        np.testing.assert_allclose(scores.matrix(measure)[0], expected, rtol=1e-12)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**25), 10**25)


@settings(deadline=None)
@given(
    st.dictionaries(names, st.dictionaries(names, numbers, min_size=1), min_size=1), st.booleans()
)
def test_any_json_run_reads_as_json_does(tmp_path_factory, rankings, ascii_only):
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(rankings, ensure_ascii=ascii_only), encoding="utf-8")
    expected = {t: {d: float(s) for d, s in ds.items()} for t, ds in rankings.items()}
    assert rows(sr.read_run(path)) == expected


BAD_JSON = [
    ('{"1": {"d": 1}', ":1: not JSON: Expecting ',' delimiter at column 15"),
    ('{"1": {"d": 1,\n"e" 2}}', ":2: not JSON: Expecting ':' delimiter at column 5"),
    ('{"1": {"d": 1}}\n{"2": {"d": 1}}', ":2: not JSON: Extra data"),
    ('{"1": {"e": NaN}}', r": expected a number as score, got nan \(document 'e' of topic '1'\)"),
    ('{"1": {"e": "2"}}', ": expected a number as score, got '2'"),
    ('{"1": {"d": true}}', ": expected a number as score, got True"),
    ('{"1": {"d": 1},\n"2": ["d"]}', r": expected {document: score}, got a list for topic '2'"),
    ('[{"1": {"d": 1}}]', r": expected one JSON object, .*, got a list"),
    ('{"a": {"1": {"d": 1}}}', ": expected a number .* got an object: give a file for each run"),
    ('{"1": {"d": 1},\n"1": {"e": 1}}', ": topic '1' occurs twice"),
    ('{"1": {"d": 1,\n"d": 2}}', ": document 'd' occurs twice in topic '1': remove one"),
    ('{"1": {"": 1}}', ": expected a name as document"),
    ('{"": {"d": 1}}', ": expected a name as topic"),
    ('{"1": {"\\ud800": 1}}', ": the document .* is not valid text"),
    ('{"1": {}}', ": empty: no topic has a document"),
    ("{\n}", ": empty: no topics"),
    ('{"1": ' * 100_000, ": not JSON"),
]


@pytest.mark.parametrize(("text", "message"), BAD_JSON)
def test_bad_json_is_named_by_file_and_line(write, text, message):
    with pytest.raises(sr.FormatError, match="bad.json" + message) as told:
        sr.read_run(write("bad.json", text))
    assert "\n" not in str(told.value)


def test_json_has_the_same_choices_about_duplicates_and_oddities(write):
    path = write("a.json", '{"1": {"d": 1, "d": 2, "e": Infinity}}')
    with pytest.warns(sr.SteadyrankWarning, match="1 repeated document dropped|1 infinite score "):
        run = sr.read_run(path, duplicates="best")
    assert rows(run) == {"1": {"e": float("inf"), "d": 2.0}}
    with pytest.raises(sr.FormatError, match="a.json: expected a whole number from"):
        sr.read_qrels(write("a.json", '{"1": {"d": 1,\n"e": 0.5}}'))
    with pytest.raises(sr.FormatError, match="a.json: document 'd' is judged twice"):
        sr.read_qrels(write("a.json", '{"1": {"d": 1,\n"d": 2}}'))


MARCO = "1\td1\t1\n1\td2\t2\n1\td3\t3\n2\td1\t1\n"


def test_runs_of_three_columns_hold_ranks_or_scores(write):
    ranked = {"1": ["d1", "d2", "d3"], "2": ["d1"]}
    for text in (MARCO, "qid\tdocid\trank\n" + MARCO, MARCO.replace("\t", " ")):
        run = sr.read_run(write("a.tsv", text))
        assert {topic: [d for d, _ in run.ranking(topic)] for topic in run.topics} == ranked
        assert run.name == "a.tsv"
    scored = {"1": ["d3", "d2", "d1"], "2": ["d1"]}
    fractions = MARCO.replace("3\n", "3.5\n")
    for text in (fractions, "qid docid score\n" + MARCO, "".join(MARCO.splitlines(True)[2::-1])):
        run = sr.read_run(write("a.tsv", text))
        assert [d for d, _ in run.ranking("1")] == scored["1"]
    for text in (MARCO + "1\td4\t6\n", "1 d1 2\n1 d2 1\n1 d3 3\n", "1 d1 7\n1 d2 9\n"):
        with pytest.raises(sr.FormatError, match="a.tsv:1: the third column may hold ranks or"):
            sr.read_run(write("a.tsv", text))
    with pytest.raises(sr.FormatError, match=r"a.tsv:5: expected 3 fields .*, got 6"):
        sr.read_run(write("a.tsv", MARCO + "1 Q0 d 1 2 x\n"))


def test_ranks_beyond_a_chunk_are_ranks(write):
    text = "".join(f"{t}\tdocument-{d:07d}\t{d}\n" for t in (1, 2) for d in range(1, 60_001))
    run = sr.read_run(write("a.tsv", text))
    assert run.ranking("2")[0] == ("document-0000001", -1.0)
    assert len(run) == 120_000


METADATA = """# ir_metadata.start
# schema version: 0.1
# actor:
#   team: IRLab
#   fields:
#   - ir
#   - "nlp"
# method:
#   automatic: true
#   retrieval:
#     - method: bm25   # first stage
#       b: 0.4
#     - method: rm3
# research goal:
#   venue: {name: SIGIR}
#   text: |
#     many words
# ir_metadata.end
# afterwards: nothing
"""


def test_what_ir_metadata_says_is_run_information(write):
    path = write("a.run", METADATA + TREC)
    info = sr.read_run(path).info
    assert info["team"] == "IRLab"
    assert info["schema version"] == "0.1"
    assert info["actor.fields"] == "ir, nlp"
    assert info["method.automatic"] == "true"
    assert info["method.retrieval.method"] == "bm25, rm3"
    assert "afterwards" not in info
    scores = sr.evaluate(path, GRADES, "AP")
    assert scores.run_info["team"] == ("IRLab",)
    assert sr.evaluate(path, GRADES, "AP", team_from="^(.)").run_info["team"] == ("t",)
    assert sr.read_run(write("b.run", TREC)).info == {}


def test_several_runs_in_one_table_are_warned_of(write, tmp_path):
    line = '{{"qid": "1", "docno": "d{0}", "score": {0}, "run": "r{0}"}}\n'
    path = write("a.jsonl", "".join(line.format(k) for k in (1, 2, 3)))
    with pytest.warns(sr.SteadyrankWarning, match="2 rows whose run differs from the first"):
        assert sr.read_run(path).name == "r1"
    frame = {"qid": ["1", "1"], "docno": ["a", "b"], "score": [1.0, 2.0], "run": ["x", "y"]}
    pq.write_table(pa.table(frame), tmp_path / "a.parquet")
    with pytest.warns(sr.SteadyrankWarning, match="1 row whose run differs from the first"):
        assert sr.read_run(tmp_path / "a.parquet").name == "x"


HEADER = ["qid", "Q0", "docno", "rank", "score"]


def test_every_form_gives_the_same_scores(write):
    fields = [line.split() for line in TREC.splitlines()]
    paths = [
        write("a.run", TREC),
        write("a.json", json.dumps(RUNS)),
        write("a.tsv", "".join(f"{f[0]}\t{f[2]}\t{f[4]}\n" for f in fields)),
        write("a.csv", "".join(f"{f[0]},{f[2]},{f[4]}\n" for f in [HEADER, *fields])),
    ]
    qrels = [write("q.tsv", BEIR), write("q.json", json.dumps(GRADES))]
    qrels.append(write("q.csv", BEIR.replace("\t", ",")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        means = {
            sr.evaluate(path, judgments, "AP", rel=1).mean()[0, 0]
            for path in paths
            for judgments in (*qrels, GRADES)
        }
    assert len(means) == 1


HEADERS = {
    "qid,docno,score": ("qid", "docno", "score"),
    "Query-ID,Corpus-ID,Score": ("Query-ID", "Corpus-ID", "Score"),
    "score,topic,document": ("topic", "document", "score"),
}


def frame_of(names, values=RUNS):
    import pandas as pd

    rows = [(t, d, v) for t, documents in values.items() for d, v in documents.items()]
    return pd.DataFrame(rows, columns=list(names))


@pytest.mark.parametrize("separator", [",", "\t", ";"])
@pytest.mark.parametrize("header", HEADERS)
def test_a_frame_that_pandas_wrote_is_a_run(tmp_path, header, separator):
    frame = frame_of(HEADERS[header])[header.split(",")]
    frame.insert(1, "rank", range(len(frame)))
    frame["name"] = "bm25"
    frame.to_csv(tmp_path / "run.csv", sep=separator)  # with pandas' index, which has no name
    run = sr.read_run(tmp_path / "run.csv")
    assert (run.name, rows(run)) == ("bm25", RUNS)
    assert sr.read_run(tmp_path / "run.csv", name_from="file").name == "run.csv"


@pytest.mark.parametrize("grade", ["relevance", "label"])
@pytest.mark.parametrize("suffix", ["", *PACKERS])
def test_a_frame_that_pandas_wrote_holds_judgments(tmp_path, grade, suffix):
    text = frame_of(("query_id", "doc_id", grade), GRADES).to_csv(index=False)
    path = tmp_path / f"qrels.csv{suffix}"
    path.write_bytes(PACKERS.get(suffix, bytes)(b"\xef\xbb\xbf" + text.encode()))
    assert judged(sr.read_qrels(path)) == GRADES


def is_plain(name):
    """Whether CSV can hold a name: blanks around it and marks are not part of names."""
    return name == name.strip() and not set("\ufeff\r") & set(name)


names = st.text(st.characters(codec="utf-8"), min_size=1).filter(is_plain)


@settings(deadline=None)
@given(st.dictionaries(names, st.floats(-9, 9), min_size=1))
def test_any_names_survive_csv(tmp_path_factory, documents):
    """Cells are quoted, whatever they hold: commas, quotes, newlines."""
    path = tmp_path_factory.mktemp("csv") / "run.csv"
    lines = ['"' + d.replace('"', '""') + f'",{s!r}' for d, s in documents.items()]
    text = "qid,docno,score\r\n" + "".join(f"1,{x}\r\n" for x in lines)
    path.write_text(text, encoding="utf-8", newline="")
    assert rows(sr.read_run(path)) == {"1": documents}


def test_ranks_of_csv_stand_in_for_scores(write):
    run = sr.read_run(write("run.csv", "qid,docno,rank\n1,b,2\n1,a,1\n"))
    assert run.ranking("1") == [("a", -1.0), ("b", -2.0)]


CSV = "qid,docno,score"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{CSV}\n1,a,x\n", ":2: expected a number as score, got x"),
        (f"{CSV}\n1,a,1\n1,b\n", ":3: expected 3 columns, got 2"),
        (f"{CSV}\n1,a,nan\n", ":2: expected a number as score, got nan"),
        (f"{CSV}\n1,,1\n", ":2: expected a name as document, got ''"),
        (f'{CSV}\n1,"a,1\n', ":2: not CSV: unexpected end of data"),
        (f'{CSV}\n1,a,1\n1,"b\nb",1\n1,a,2\n', ":5: document 'a' occurs twice .*first on line 2"),
        ("qid,docno\n1,a\n", ":1: expected a column 'score', got qid, docno"),
        (f"{CSV}\n", ": empty: no rows"),
        ("1,a,0.5\n1,b,0.4\n", ":1: expected a header such as qid,docno,score, got '1,a,0.5'"),
        (f"{CSV},score\n1,a,1,2\n", ":1: two columns are named 'score'"),
        (f"{CSV},doc_id\n1,a,1,b\n", ":2: columns 'doc_id' and 'docno' name one thing, and differ"),
    ],
)
def test_what_is_wrong_with_csv_is_named(write, text, message):
    with pytest.raises(sr.FormatError, match=message):
        sr.read_run(write("run.csv", text))


@pytest.mark.parametrize(
    "text", ["301 d1 L2\n301 d2 L0\n302 d10 L1\n", "301 0 d1 L2\n301 0 d2 L0\n302 0 d10 L1\n"]
)
def test_grades_of_ntcir_are_numbers(write, text):
    assert judged(sr.read_qrels(write("qrels.txt", text))) == GRADES


def test_only_judgments_have_grades_of_ntcir(write):
    with pytest.raises(sr.FormatError, match="expected a number as score, got 'L2'"):
        sr.read_run(write("a.run", "301 Q0 d1 1 L2 tag\n"))
    with pytest.raises(sr.FormatError, match="expected a number as grade, got 'Lx'"):
        sr.read_qrels(write("qrels.txt", "301 0 d1 L2\n301 0 d2 Lx\n"))
