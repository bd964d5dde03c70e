"""Runs and judgments in every form they come in, and every defect's treatment."""

from __future__ import annotations

import gzip
import json
import math
import pickle
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steadyrank as sr

RUN = "301 Q0 d1 1 2.5 tag\n301 Q0 d2 2 1.5 tag\n302 Q0 d9 1 7 tag\n"
EXPECTED = {"301": [("d1", 2.5), ("d2", 1.5)], "302": [("d9", 7.0)]}


def rankings(run):
    return {topic: run.ranking(topic) for topic in run.topics}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.run", RUN),
        ("packed.run.gz", RUN),
        ("packed-by-content-not-by-name.run", gzip.compress(RUN.encode(), mtime=0)),
        ("tabs.run", RUN.replace(" ", "\t")),
        ("mixed.run", RUN.replace(" ", " \t  ")),
        ("leading-blanks.run", "".join("  " + line + "\n" for line in RUN.splitlines())),
        ("crlf.run", RUN.replace("\n", "\r\n")),
        ("no-last-newline.run", RUN.rstrip("\n")),
        ("comments.run", "# made by hand\n\n" + RUN + "   # end\n\n"),
        ("byte-order-mark.run", b"\xef\xbb\xbf" + RUN.encode()),
        ("unsorted.run", "".join(reversed(RUN.splitlines(keepends=True)))),
        ("trailing-blanks.run", RUN.replace("\n", "  \n")),
        ("form-feeds.run", RUN.replace(" ", "\v").replace("\n", "\f\n")),
    ],
)
def test_text_with_its_warts_reads_the_same(write, name, content):
    run = sr.read_run(write(name, content))
    assert run.name == "tag"
    assert rankings(run) == EXPECTED


def test_lines_longer_than_the_fast_path_and_than_a_chunk(write, monkeypatch):
    monkeypatch.setattr("steadyrank.data.read.trec.CHUNK", 200)
    ids = ["x" * n for n in (1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 5000)]
    lines = [f"topic-with-a-long-name Q0 {d} 1 {i}.5 tag" for i, d in enumerate(ids)]
    run = sr.read_run(write("long.run", "\n".join(lines)))
    expected = [(d, i + 0.5) for i, d in enumerate(ids)][::-1]
    assert run.ranking("topic-with-a-long-name") == expected


def test_ties_go_to_the_larger_id_as_bytes_whatever_the_rank_says(write):
    text = "1 Q0 a 1 5 t\n1 Q0 B 2 5 t\n1 Q0 é 3 5 t\n1 Q0 ab 4 5 t\n1 Q0 a1 5 9 t\n"
    run = sr.read_run(write("ties.run", text))
    assert [document for document, _ in run.ranking("1")] == ["a1", "é", "ab", "a", "B"]


def test_all_tied_in_file_order_is_sorted(write):
    ids = [f"d{i:04d}" for i in np.random.default_rng(0).permutation(3000)]
    run = sr.read_run(write("tied.run", "\n".join(f"1 Q0 {d} 0 0 t" for d in ids)))
    assert [document for document, _ in run.ranking("1")] == sorted(ids, reverse=True)


NUMBERS = (
    "1 -1.5 +2 .5 5. 1e-5 1E+22 0.1 123456789012345678901234567890 1.7976931348623157e308 5e-324 "
    "2.2250738585072011e-308 0.30000000000000004 9007199254740993 1e23 -0.0 00012.50 1e-400 "
    "8.589973e9"
)


@pytest.mark.parametrize("text", NUMBERS.split())
def test_numbers_are_exact(write, text):
    run = sr.read_run(write("number.run", f"1 Q0 d 1 {text} t\n"))
    assert run.scores[0] == float(text)
    assert np.signbit(run.scores[0]) == np.signbit(float(text))


def test_random_numbers_are_exact(write):
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    values = np.concatenate(
        [bits[np.isfinite(bits)], rng.random(3000), rng.normal(0, 1e5, 3000).round(6)]
    )
    text = "\n".join(f"{i} Q0 d 1 {float(v)!r} t" for i, v in enumerate(values))
    assert np.array_equal(sr.read_run(write("many.run", text)).scores, values)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (RUN + "301 Q0 d3 3 1.0\n", "bad.run:4: expected 6 fields .*, got 5"),
        ("301\n", "bad.run:1: expected 6 fields .*, got 1"),
        ("# c\n\n" + RUN + "302 Q0 d3 3 high tag\n", "bad.run:6: expected a number .*'high'"),
        (RUN + "302 Q0 d3 3 1_000 tag\n", "bad.run:4: expected a number .*'1_000'"),
        (RUN + "302 Q0 d3 3 0x10 tag\n", "bad.run:4: expected a number"),
        (RUN + "302 Q0 d3 3 1e tag\n", "bad.run:4: expected a number"),
        (RUN + "302 Q0 d3 3 nan tag\n", "bad.run:4: the score is NaN"),
        (RUN + "301 Q0 d1 3 1 tag\n", r"bad.run:4: document 'd1' occurs twice .*first on line 1"),
        (RUN.encode() + b"302 Q0 d\x003 3 1 tag\n", "bad.run:4: a control character"),
        (RUN.encode() + b"\x00" * 100, "bad.run:4: a control character"),
        (bytes(range(256)) * 4, "bad.run:1: "),
        (RUN.replace("\n", "\r"), "bad.run:1: a carriage return inside a line"),
        ("", "bad.run: empty"),
        ("# only a comment\n\n", "bad.run: empty"),
        (b"PK\x03\x04rest", "zip archive: unpack"),
        (b"\xfd7zXZ\x00rest", "broken xz"),
        (b"\xff\xfe3\x000\x00", "UTF-16"),
        (gzip.compress(RUN.encode() * 100, mtime=0)[:-20], "broken gzip"),
        (gzip.compress(RUN.encode(), mtime=0)[:12] + b"junk" * 9, "broken gzip"),
        (b"PAR1 and then nothing", "broken Parquet"),
        ('{"query_id": "1", "doc_id": "d"}\n', "bad.run:1: expected a column 'score'"),
        ('{"query_id": "1", "doc_id": "d", "score": "x"}\n', "bad.run:1: expected a number"),
        ('{"query_id": "1", "doc_id": "d", "score": NaN}\n', "bad.run:1: expected a number"),
        ('{"query_id": "1", "doc_id": "d", "score": 1' + "0" * 400 + "}", "bad.run:1: expected a"),
        ('{"query_id": "1", "doc_id": "d", "score": 1}\n{"query', "bad.run:2: not a JSON object"),
    ],
)
def test_defects_name_file_line_and_remedy(write, content, complaint):
    path = write("bad.run", content)
    with pytest.raises(sr.FormatError, match=complaint):
        sr.read_run(path)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("1 0 d1 1\n1 0 d1\n", "bad.qrels:2: expected 4 fields .*, got 3"),
        ("1 0 d1 1\n1 0 d2 1.5\n", "bad.qrels:2: expected a whole number from.*1.5"),
        ("1 0 d1 1\n\n1 0 d2 99999\n", "bad.qrels:3: expected a whole number"),
        ("1 0 d1 high\n", "bad.qrels:1: expected a number as grade"),
        ("1 0 d1 1\n2 0 d1 0\n1 0 d1 0\n", "bad.qrels:3: .*judged twice.*first on line 1"),
        ("", "bad.qrels: empty"),
        ('{"qid": 1, "docno": "d", "label": 1e999}', "bad.qrels:1: expected a whole number"),
        ('{"qid": 1, "docno": "d", "label": 0.5}', "bad.qrels:1: expected a whole number"),
    ],
)
def test_defects_of_judgments(write, content, complaint):
    with pytest.raises(sr.FormatError, match=complaint):
        sr.read_qrels(write("bad.qrels", content))


def test_a_run_is_not_taken_for_judgments(write):
    """Its ranks would be grades: two runs and no judgments gave scores, with a warning only."""
    with pytest.raises(sr.FormatError, match=r"expected judgments .* got a run \(topic Q0 "):
        sr.read_qrels(write("first.run", RUN))
    judgments = write("long.qrels", "301 0 d1 1 0.5 pooled\n301 Q0 d2 0\n")
    with pytest.warns(sr.SteadyrankWarning, match="1 line with more fields"):
        assert sr.read_qrels(judgments).topics == ("301",)


def test_long_lines_other_tags_and_infinite_scores_are_counted(write):
    text = RUN + "302 Q0 d3 3 -inf tag extra words\n302 Q0 d4 4 Infinity other\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run = sr.read_run(write("odd.run", text))
    told = "\n".join(str(w.message) for w in caught)
    assert "1 line with more fields than expected" in told
    assert "1 line whose tag differs" in told
    assert "2 infinite scores" in told
    assert [d for d, _ in run.ranking("302")] == ["d4", "d9", "d3"]


def test_agreeing_double_judgments_are_counted(write):
    path = write("twice.qrels", "1 0 d1 1\n1 0 d1 1\n1 0 d2 0\n")
    with pytest.warns(sr.SteadyrankWarning, match="1 judgment repeated with the same grade"):
        qrels = sr.read_qrels(path)
    assert qrels.judgments("1") == {"d1": 1, "d2": 0}


def test_whole_floats_and_negative_grades_are_grades(write):
    qrels = sr.read_qrels(write("q.txt", "1 0 a -2\r\n1 0 b 1.0\r\n1 0 c 3\r\n"))
    assert qrels.judgments("1") == {"a": -2, "b": 1, "c": 3}
    assert qrels.max_grade == 3


@pytest.mark.parametrize(("keep", "score"), [("first", 2.0), ("best", 8.0)])
def test_duplicates_can_be_repaired(write, keep, score):
    text = "1 Q0 d1 1 2 t\n1 Q0 d2 2 5 t\n1 Q0 d1 3 8 t\n1 Q0 d1 4 3 t\n2 Q0 d1 1 1 t\n"
    with pytest.warns(sr.SteadyrankWarning, match="2 repeated documents dropped"):
        run = sr.read_run(write("dup.run", text), duplicates=keep)
    assert dict(run.ranking("1")) == {"d1": score, "d2": 5.0}
    assert run.ranking("2") == [("d1", 1.0)]


def test_a_duplicate_far_away_in_a_long_topic_is_found(write):
    lines = [f"1 Q0 d{i} 0 {i} t" for i in range(30_000)] + ["1 Q0 d17 0 5 t"]
    with pytest.raises(sr.FormatError, match=r"x.run:30001: document 'd17'.*first on line 18"):
        sr.read_run(write("x.run", "\n".join(lines)))


@pytest.mark.parametrize("names", [("query_id", "doc_id", "score"), ("qid", "docno", "score")])
def test_tables_read_like_text(tmp_path, write, names):
    rows = [("301", "d2", 1.5), ("302", "d9", 7.0), ("301", "d1", 2.5)]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    pq.write_table(pa.table(columns), tmp_path / "mine.parquet")
    lines = "\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    for path in (tmp_path / "mine.parquet", write("mine.jsonl.gz", lines)):
        run = sr.read_run(path)
        assert rankings(run) == EXPECTED
        assert run.name == path.name.removesuffix(".gz")


def test_files_globs_folders_and_names(write, tmp_path):
    write("runs/b.run.gz", RUN.replace("tag", "beta"))
    write("runs/a.run", RUN.replace("tag", "alpha"))
    write("runs/.hidden", "not a run")
    folder = tmp_path / "runs"
    assert [run.name for run in sr.read_runs(folder)] == ["alpha", "beta"]
    assert [run.name for run in sr.read_runs(str(folder / "*.gz"))] == ["beta"]
    both = sr.read_runs([folder / "b.run.gz", folder], name_from="file", team_from=r"^(\w)\.")
    assert [(run.name, run.info["team"]) for run in both] == [("b.run", "b"), ("a.run", "a")]
    with pytest.raises(sr.InputError, match="no such file"):
        sr.read_runs(folder / "c.run")
    with pytest.raises(sr.InputError, match="no file matches"):
        sr.read_runs(str(folder / "*.zip"))


def test_runs_that_share_a_tag_are_named_by_their_files(write, tmp_path):
    write("one/a.run", RUN)
    write("one/b.run.gz", RUN)
    write("one/c.run", RUN.replace("tag", "other"))
    with pytest.warns(sr.SteadyrankWarning) as told:
        runs = sr.read_runs(tmp_path / "one")
    (message,) = [str(warning.message) for warning in told]
    assert message == (
        "2 runs have the same names as others (first 'tag', of a.run and b.run): they are "
        "named by their files"
    )
    assert [run.name for run in runs] == ["a.run", "b.run", "other"]
    assert [run.name for run in sr.read_runs(runs, name_from="file")] == ["a.run", "b.run", "c.run"]


def test_files_of_one_name_are_told_apart_by_their_folders(write, tmp_path):
    paths = [write(name, RUN) for name in ("x/1/a.run", "y/1/a.run", "y/2/b.run")]
    with pytest.warns(sr.SteadyrankWarning, match="3 runs have the same names"):
        assert [run.name for run in sr.read_runs(paths)] == ["x/1/a.run", "y/1/a.run", "b.run"]
    named = sr.read_runs(paths[:2], name_from="file")
    assert [run.name for run in named] == ["x/1/a.run", "y/1/a.run"]


def test_run_information(write):
    paths = [write("a.run", RUN.replace("tag", "a")), write("b.run", RUN.replace("tag", "b"))]
    info = write("info.csv", "run,team,stemmer\na,X,porter\nb,Y,none\n")
    runs = sr.read_runs(paths, run_info=info)
    assert [run.info for run in runs] == [
        {"team": "X", "stemmer": "porter"},
        {"team": "Y", "stemmer": "none"},
    ]
    with pytest.raises(sr.FormatError, match="expected a column 'run'"):
        list(sr.read_runs(paths, run_info=write("bad.csv", "name,team\na,X\n")))
    with pytest.raises(sr.FormatError, match="short.csv:3: expected 2 columns, got 1"):
        list(sr.read_runs(paths, run_info=write("short.csv", "run,team\na,X\nb\n")))
    with pytest.raises(sr.InputError, match="has no group"):
        list(sr.read_runs(paths, team_from="^."))
    with pytest.raises(sr.InputError, match="not a regular expression"):
        list(sr.read_runs(paths, team_from="("))


def test_the_first_bad_file_is_named_however_threads_run(write):
    paths = [write(f"{i:02d}.run", RUN.replace("tag", f"t{i}")) for i in range(20)]
    for i in (7, 11, 15):
        write(f"{i:02d}.run", "oops\n")
    for jobs in (1, 2, 4):
        with pytest.raises(sr.FormatError, match="07.run:1"):
            sr.read_runs(paths).map(repr, jobs=jobs)
    with pytest.raises(sr.FormatError, match="07.run:1"):
        list(sr.read_runs(paths))


def test_ids_that_are_not_utf8_pass_through(write):
    run = sr.read_run(write("latin.run", "1 Q0 caf\xe9 1 1 t\n".encode("latin-1")))
    ((document, _),) = run.ranking("1")
    assert document.encode("utf-8", "surrogateescape") == b"caf\xe9"


def test_errors_travel_between_processes():
    error = sr.FormatError("a.run", "broken", 7)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.line) == ("a.run:7: broken", "a.run", 7)


@pytest.mark.parametrize(
    ("rankings", "complaint"),
    [
        ({"1": {7: 1.0}}, "expected text as document id, got 7"),
        ({"1": {"d": "x"}}, "expected a number as score, got 'x'"),
        ({"1": {"d": None}}, "expected a number as score|NaN"),
        ({"1": {"d": float("nan")}}, "NaN"),
        ({"1": {"\ud800": 1.0}}, "not valid text"),
    ],
)
def test_dictionaries_that_are_no_runs_are_refused(rankings, complaint):
    with pytest.raises(sr.InputError, match=complaint):
        sr.run_from_dict(rankings, name="r")


def test_parquet_is_read_in_pieces_and_errors_name_the_row(tmp_path, monkeypatch):
    monkeypatch.setattr("steadyrank.data.read.tables.PIECE", 7)
    n = 50
    columns = {
        "query_id": [str(row % 3) for row in range(n)],
        "doc_id": list(range(n)),
        "score": [float(row) for row in range(n)],
        "run": [None, ""] + ["mine"] * (n - 4) + ["other", None],
    }
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table(columns), whole, row_group_size=20)
    with pytest.warns(sr.SteadyrankWarning, match="1 row"):
        run = sr.read_run(whole)
    assert (run.name, run.topics) == ("mine", ("0", "1", "2"))
    assert run.ranking("2") == [(str(row), float(row)) for row in range(47, 0, -3)]
    wrong = {"query_id": "", "doc_id": None, "score": math.nan}
    for column, value in wrong.items():
        cells = [*columns[column][:30], value, *columns[column][31:]]
        pq.write_table(pa.table({**columns, column: cells}), tmp_path / "wrong.parquet")
        with pytest.raises(sr.FormatError, match="wrong.parquet:31: expected a n"):
            sr.read_run(tmp_path / "wrong.parquet")


def test_names_of_runs_in_parquet_that_are_no_text_are_refused(tmp_path):
    names = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xff"]).buffers())
    table = pa.table({"query_id": ["1"], "doc_id": ["d"], "score": [1.0], "run": names})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    for read in (sr.read_run, lambda path: sr.read_runs([path])[0]):
        with pytest.raises(sr.FormatError, match="broken Parquet data"):
            read(path)


def test_parquet_with_fewer_rows_than_it_says_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"query_id": ["1"], "doc_id": ["d"], "score": [1.0]}), path)
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: iter(()))
    with pytest.raises(sr.FormatError, match=r"broken Parquet data \(0 of 1 rows are there\)"):
        sr.read_run(path)
