"""What tables hold in addition to scores: every reader gives the answer that its form allows.

`READERS` × `WARTS` is one test. A cell says what comes of the wart: "=" reads as without it, in
silence; "! words" the same, with a warning; "+ words" reads as written, with a warning; "x words"
is refused; "name" keeps the name `caf\\xe9`; None: the form cannot hold such a thing.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steadyrank as sr

WARTS = (
    "summary row",
    "index column",
    "two columns for one thing",
    "per cent",
    "byte-order mark inside",
    "not UTF-8",
    "duplicate key",
)
NAME = "caf\udce9"
BOM = "\ufeff"
TWINS, SUMMARY, MARK = "name one thing, and differ", "summar", "a byte-order mark inside"
TOO_LARGE, SECOND, TWICE = "is at most 1", "a second value for", "occurs twice"

CELLS = {("AP", "a", "1"): 0.5, ("AP", "a", "2"): 0.25, ("AP", "b", "1"): 0.75}
CELLS |= {("AP", "b", "2"): 0.125}


def scores_of(source, **options):
    read = sr.as_scores if isinstance(source, (pd.DataFrame, dict)) else sr.read_scores
    scores = read(source, **options)
    names = itertools.product(*scores.labels)
    return {key: v for key, v in zip(names, scores.values.ravel(), strict=True) if v == v}


def board_of(source):
    table = sr.read_leaderboard(source)
    pairs = [(i, k) for i in range(len(table.runs)) for k in range(len(table.datasets))]
    return {(table.runs[i], table.datasets[k]): table.values[i, k] for i, k in pairs}


def ranking_of(source):
    read = sr.as_run if isinstance(source, (pd.DataFrame, dict)) else sr.read_run
    run = read(source)
    return {topic: dict(run.ranking(topic)) for topic in run.topics}


def grades_of(source):
    read = sr.as_qrels if isinstance(source, (pd.DataFrame, dict)) else sr.read_qrels
    qrels = read(source)
    return {topic: qrels.judgments(topic) for topic in qrels.topics}


# Long tables of any form: columns, and rows that a wart adds or changes.


def long_table(columns, rows, index=False, twin=None):
    """Named columns; `twin` repeats one of them under another name, with other cells."""
    table = {name: [row[k] for row in rows] for k, name in enumerate(columns)}
    if index:
        table = {"": list(range(len(rows))), **table}
    if twin:
        table[twin] = [f"{k}" for k in range(len(rows))]
    return table


def as_csv(table, mark=False):
    lines = [
        ",".join(table),
        *(",".join(map(str, row)) for row in zip(*table.values(), strict=True)),
    ]
    lines[-1] = BOM * mark + lines[-1]
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def as_json_lines(table, mark=False):
    rows = [
        json.dumps(dict(zip(table, row, strict=True)), ensure_ascii=False)
        for row in zip(*table.values(), strict=True)
    ]
    rows[-1] = BOM * mark + rows[-1]
    return "".join(f"{row}\n" for row in rows).encode("utf-8", "surrogateescape")


def as_parquet(table):
    out = io.BytesIO()
    columns = {}
    for name, cells in table.items():
        if NAME in cells:
            raw = pa.array([str(cell).encode("utf-8", "surrogateescape") for cell in cells])
            columns[name] = pa.Array.from_buffers(pa.string(), len(cells), raw.buffers())
        else:
            columns[name] = cells
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def as_frame(table):
    return pd.DataFrame(table, dtype=object)  # pandas' own text is UTF-8


FORMS = {"CSV": as_csv, "JSON lines": as_json_lines, "Parquet": as_parquet, "frame": as_frame}


def long_cases(read, columns, rows, form, *, summary, twin, percent, answers):
    """A source and an answer for each wart of a long table in one form."""
    make = FORMS[form]
    added = {
        "summary row": summary and long_table(columns, [*rows, *summary]),
        "index column": long_table(columns, rows, index=True),
        "two columns for one thing": long_table(columns, rows, twin=twin),
        "per cent": percent and long_table(columns, percent),
        "not UTF-8": long_table(columns, [tuple(NAME if c == "a" else c for c in r) for r in rows]),
        "duplicate key": long_table(columns, [*rows, rows[0]]),
    }
    cases = {wart: (make(table), answers[wart]) for wart, table in added.items() if table}
    if form in ("CSV", "JSON lines"):
        marked = make(long_table(columns, rows), mark=True)
        cases["byte-order mark inside"] = (marked, f"x {MARK}")
    if form == "JSON lines":
        cases["not UTF-8"] = (cases["not UTF-8"][0], "x not a JSON object")
        first = json.dumps(columns[0])
        repeated = make(long_table(columns, rows)).replace(b"{", f"{{{first}: 1, ".encode(), 1)
        cases["duplicate key"] = (repeated, f"x {TWICE}")
    if form == "Parquet":
        cases["not UTF-8"] = (cases["not UTF-8"][0], "x broken Parquet data")
    return read, make(long_table(columns, rows)), cases


LONG = [(*key, value) for key, value in CELLS.items()]
MEANS = [("AP", "a", "mean", 0.375), ("AP", "b", "mean", 0.4375)]
LONG_ANSWERS = {
    "summary row": f"! {SUMMARY}",
    "index column": "=",
    "two columns for one thing": f"x {TWINS}",
    "per cent": f"x {TOO_LARGE}",
    "not UTF-8": "name",
    "duplicate key": f"x {SECOND}",
}
BOARD = [("a", "x", 0.5), ("a", "y", 0.25), ("b", "x", 0.75), ("b", "y", 0.125)]
BOARD_MEANS = [("a", "Average", 0.375), ("b", "Average", 0.4375)]
RUN = [("1", "a", 2.0), ("1", "d", 1.0), ("2", "a", 3.0)]
ROW_ANSWERS = {**LONG_ANSWERS, "duplicate key": f"x {TWICE}"}


READERS = {
    f"scores, long, {form}": long_cases(
        scores_of,
        ("measure", "run", "topic", "value"),
        LONG,
        form,
        summary=MEANS,
        twin="qid",
        percent=[(m, r, t, v * 100 if r == "b" else v) for m, r, t, v in LONG],
        answers=LONG_ANSWERS,
    )
    for form in FORMS
}
READERS |= {
    f"leaderboard, long, {form}": long_cases(
        board_of,
        ("run", "dataset", "value"),
        BOARD,
        form,
        summary=BOARD_MEANS,
        twin="model",
        percent=[(r, d, f"{100 * v:g}%" if d == "x" else f"{v}") for r, d, v in BOARD],
        answers={
            **LONG_ANSWERS,
            "per cent": "x '50%' is in the same column as fractions such as 0.25",
            "duplicate key": "! 1 row repeats an earlier one",
        },
    )
    for form in ("CSV", "Parquet", "frame")
}
READERS |= {
    f"run, {form}": long_cases(
        ranking_of,
        ("query_id", "doc_id", "score"),
        RUN,
        form,
        summary=None,
        twin="docno",
        percent=None,
        answers=ROW_ANSWERS,
    )
    for form in ("JSON lines", "Parquet", "frame")
}
# All other forms: the clean text, and for each wart a text and its answer.


def texts(read, clean, summary, index, twins, percent, mark, name, key):
    def raw(text):
        return text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text

    given = zip(WARTS, (summary, index, twins, percent, mark, name, key), strict=True)
    return read, raw(clean), {wart: (raw(case[0]), case[1]) for wart, case in given if case}


WIDE = "topic,a,b\n1,0.5,0.75\n2,0.25,0.125\n"
ROWS = "run,1,2\na,0.5,0.25\nb,0.75,0.125\n"
NESTED = {"a": {"1": {"AP": 0.5}, "2": {"AP": 0.25}}, "b": {"1": {"AP": 0.75}, "2": {"AP": 0.125}}}
DOUBLED = json.dumps(NESTED).replace('"1": {"AP": 0.5}', '"1": {"AP": 0.5, "AP": 0.5}')
WITH_MEAN = {run: {**topics, "mean": {"AP": 0.4}} for run, topics in NESTED.items()}
IN_PERCENT = json.dumps(NESTED).replace("0.75", "75").replace("0.125", "12.5")
PRINTED = "map\t1\t0.5\nmap\t2\t0.25\n"
BOARD_WIDE = "model,x,y\na,0.5,0.25\nb,0.75,0.125\n"
TREC = "1 Q0 a 1 2.0 t\n1 Q0 d 2 1.0 t\n2 Q0 a 1 3.0 t\n"
QRELS = "1 0 a 1\n1 0 d 0\n2 0 a 2\n"
RUN_JSON = '{"1": {"a": 2, "d": 1}, "2": {"a": 3}}'


SAMPLES = "".join(
    f'{{"acc": {v}, "metrics": ["acc"], "doc_id": {k}}}\n' for k, v in ((0, 1), (1, 0))
)
RESULT = '{"task_name": "T", "dataset_revision": "x", "scores": {"test": [{"main_score": 0.5}]}}'


def results_of(path):
    """A result as that of one model on one task."""
    folder = path.with_name("results") / "m" / "r"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "T.json").write_bytes(path.read_bytes())
    return board_of(folder.parent.parent)


def before_last(text, start="\n", what=BOM):
    """The text with something behind its last but one line."""
    head, tail = text.rstrip("\n").rsplit(start, 1)
    return f"{head}{start}{what}{tail}\n"


READERS |= {
    "scores, wide": texts(
        lambda path: scores_of(path, measure="AP"),
        WIDE,
        (WIDE + "mean,0.375,0.4375\n", f"! {SUMMARY}"),
        (
            ",topic,a,b\n0,1,0.5,0.75\n1,2,0.25,0.125\n",
            "! is an index in addition to 'topic': omitted",
        ),
        ("topic,qid,a,b\n1,7,0.5,0.75\n2,8,0.25,0.125\n", f"x {TWINS}"),
        ("topic,a,b\n1,0.5,75\n2,0.25,12.5\n", f"x {TOO_LARGE}"),
        (before_last(WIDE), f"x :3: {MARK}"),
        (WIDE.replace("a", NAME), "name"),
        (WIDE.replace("b", "a"), "x two runs are named 'a'"),
    ),
    "scores, runs in rows": texts(
        lambda path: scores_of(path, measure="AP", runs_in_rows=True),
        ROWS,
        ("run,1,2,AVG\na,0.5,0.25,0.375\nb,0.75,0.125,0.4375\n", f"! {SUMMARY}"),
        (",run,1,2\n0,a,0.5,0.25\n1,b,0.75,0.125\n", "! is an index in addition to 'run': omitted"),
        ("run,system,1,2\na,s,0.5,0.25\nb,t,0.75,0.125\n", f"x {TWINS}"),
        ("run,1,2\na,0.5,0.25\nb,75,12.5\n", f"x {TOO_LARGE}"),
        (before_last(ROWS), f"x :3: {MARK}"),
        (ROWS.replace("a", NAME), "name"),
        (ROWS.replace("b", "a"), "x two runs are named 'a'"),
    ),
    "scores, nested JSON": texts(
        scores_of,
        json.dumps(NESTED),
        (json.dumps(WITH_MEAN), f"! {SUMMARY}"),
        *(None,) * 2,
        (IN_PERCENT, f"x {TOO_LARGE}"),
        (json.dumps(NESTED, indent=1).replace('\n "b"', f'\n{BOM} "b"'), "x not JSON"),
        (json.dumps(NESTED).replace('"a"', f'"{NAME}"'), "name"),
        (DOUBLED, f"x {TWICE}"),
    ),
    "scores, dictionary": (
        scores_of,
        NESTED,
        {
            "summary row": (WITH_MEAN, f"! {SUMMARY}"),
            "per cent": (json.loads(IN_PERCENT), f"x {TOO_LARGE}"),
            "not UTF-8": ({NAME: NESTED["a"], "b": NESTED["b"]}, "name"),
            "duplicate key": ({"a": {1: {"AP": 0.5}, "1": {"RR": 1.0}}}, "x is there twice"),
        },
    ),
    "trec_eval -q": texts(
        scores_of,
        PRINTED,
        (PRINTED + "map\tall\t0.375\n", "="),
        *(None,) * 2,
        (PRINTED.replace("0.25", "25"), "+ if they are per cent, divide"),
        (before_last(PRINTED), f"x :2: {MARK}"),
        (PRINTED.replace("\t1\t", f"\t{NAME}\t"), "name"),
        (PRINTED + PRINTED, f"x {SECOND}"),
    ),
    "leaderboard, wide": texts(
        board_of,
        BOARD_WIDE,
        ("model,x,Avg,y\na,0.5,0.375,0.25\nb,0.75,0.4375,0.125\n", f"! {SUMMARY}"),
        (
            ",model,x,y\n0,a,0.5,0.25\n1,b,0.75,0.125\n",
            "! is an index in addition to 'model': omitted",
        ),
        ("model,run,x,y\na,c,0.5,0.25\nb,d,0.75,0.125\n", f"x {TWINS}"),
        (BOARD_WIDE.replace("0.75", "5%"), "x '5%' is in the same column as fractions"),
        (before_last(BOARD_WIDE), f"x :3: {MARK}"),
        (BOARD_WIDE.replace("a,", f"{NAME},"), "name"),
        (BOARD_WIDE.replace("y", "x"), "x two datasets are named 'x'"),
    ),
    "run, TREC text": texts(
        ranking_of,
        TREC,
        *(None, None, None, None),
        (before_last(TREC), f"x :3: {MARK}"),
        (TREC.replace("1 Q0 a", f"1 Q0 {NAME}"), "name"),
        (TREC + "1 Q0 a 1 2.0 t\n", f"x {TWICE}"),
    ),
    "run, nested JSON": texts(
        ranking_of,
        RUN_JSON,
        *(None, None, None, None),
        (RUN_JSON.replace('"2"', f'{BOM}"2"'), "x not JSON"),
        (RUN_JSON.replace('"a"', f'"{NAME}"'), "name"),
        (RUN_JSON.replace('"2"', '"1"'), f"x {TWICE}"),
    ),
    "judgments, TREC text": texts(
        grades_of,
        QRELS,
        *(None, None, None, None),
        (before_last(QRELS), f"x :3: {MARK}"),
        (QRELS.replace("1 0 a", f"1 0 {NAME}"), "name"),
        (QRELS + "1 0 a 0\n", "x judged"),
    ),
    "samples of lm-eval-harness": texts(
        scores_of,
        SAMPLES,
        None,
        (SAMPLES.replace("{", '{"index": 7, '), "="),
        *(None,) * 2,
        (before_last(SAMPLES), f"x {MARK}"),
        (SAMPLES.replace("acc", NAME), "x not a JSON object"),
        (SAMPLES.replace('{"acc"', '{"doc_id": 3, "acc"'), f"x {TWICE}"),
    ),
    "MTEB results": texts(
        results_of,
        RESULT,
        *(None,) * 3,
        (RESULT.replace("0.5", '"50%"'), "x expected a score as main_score, got '50%'"),
        (RESULT.replace('"scores"', f'{BOM}"scores"'), "x not JSON"),
        (RESULT.replace('"x"', f'"{NAME}"'), "="),
        (RESULT.replace('"test"', '"test": [], "test"'), f"x {TWICE}"),
    ),
    "topics": texts(
        sr.read_topics,
        "1\tfirst\n2\tsecond\n",
        *(None, None, None, None),
        (f"1\tfirst\n{BOM}2\tsecond\n", f"x :2: {MARK}"),
        None,
        ("1\tfirst\n1\tsecond\n", "x twice"),
    ),
}


@pytest.mark.parametrize(
    ("reader", "wart"),
    [(reader, wart) for reader in READERS for wart in WARTS if wart in READERS[reader][2]],
)
def test_every_reader_answers_every_wart(tmp_path, reader, wart):
    read, clean, cases = READERS[reader]
    source, answer = cases[wart]

    def result(content):
        # Files have one name, as it may be that of the run.
        (tmp_path / "x").write_bytes(content if isinstance(content, bytes) else b"")
        return read(tmp_path / "x" if isinstance(content, bytes) else content)

    expected = result(clean)
    kind, _, words = answer.partition(" ")
    if kind == "x":
        with pytest.raises(sr.InputError) as raised:
            result(source)
        assert words in str(raised.value)
        assert "\n" not in str(raised.value)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = result(source)
    assert len(told) == (kind in "!+"), [str(warning.message) for warning in told]
    assert all(words in str(warning.message) for warning in told)
    if kind in "=!":
        assert found == expected
    if kind == "name":
        assert any(NAME in str(name) for name in names_in(found))


def names_in(found):
    """All names in nested dictionaries and their keys."""
    names = []
    for key, value in found.items():
        names += [*key] if isinstance(key, tuple) else [key]
        names += names_in(value) if isinstance(value, dict) else []
    return names


# One test for each item.


def test_failed_requests_are_counted(tmp_path):
    failures = {"q2": {"type": "x"}, "q3": {"type": "x"}}
    answer = {"metric_score": 0.5, "details": {"q1": {"metric_score": 0.5}}, "failures": failures}
    (tmp_path / "c.json").write_text(json.dumps(answer))
    with pytest.warns(sr.SteadyrankWarning, match="2 of 3 requests failed \\(first 'q2'\\)"):
        assert sr.read_scores(tmp_path / "c.json").topics == ("q1",)


@pytest.mark.parametrize("name", ["mean", "AVG"])
def test_summary_rows_and_columns_are_dropped(tmp_path, name):
    path = tmp_path / "x.csv"
    for text, options in (
        (f"{WIDE}{name},0.375,0.4375\n", {}),
        (f"run,1,2,{name}\na,0.5,0.25,0.375\nb,0.75,0.125,0.4375\n", {"runs_in_rows": True}),
    ):
        path.write_text(text)
        with pytest.warns(sr.SteadyrankWarning, match=f"1 topic is a summary and omitted: {name}$"):
            assert scores_of(path, measure="AP", **options) == CELLS
    path.write_text(f"topic,a,b,{name}\n1,0.5,0.75,0.625\n2,0.25,0.125,0.19\n")
    with pytest.warns(sr.SteadyrankWarning, match=f"1 run is a summary and omitted: {name}$"):
        assert scores_of(path, measure="AP") == CELLS
    path.write_text(f"topic,a,b,{name}\n1,0.5,0.75,0.9\n2,0.25,0.125,0.19\n")
    assert sr.read_scores(path).runs == ("a", "b", name)  # a run of that name
    path.write_text(f"measure,run,topic,value\nAP,a,{name},1\n")
    with pytest.raises(sr.FormatError, match="holds only summaries"):
        sr.read_scores(path)
    with pytest.warns(sr.SteadyrankWarning, match="1 run is a summary"):
        found = board_of(pd.DataFrame({"run": ["a", "b", name], "x": [0.5, 0.7, 0.6]}))
    assert set(found) == {("a", "x"), ("b", "x")}


def test_per_cent_beside_fractions(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("topic,a,b,c\n1,0.5,0.4,20\n2,0.25,0.3,31.5\n")
    with pytest.raises(
        sr.FormatError, match="scores of c are up to 31.5, but nDCG@10 is at most 1"
    ):
        sr.read_scores(path, measure="nDCG@10")
    with pytest.warns(
        sr.SteadyrankWarning, match="scores of c are up to 31.5, those of other runs"
    ):
        sr.read_scores(path, measure="gain")
    path.write_text("topic,a,b,c\n1,0.5,0.4,1.02\n2,0.25,0.3,0.4\n")
    with pytest.warns(sr.SteadyrankWarning, match="scores of c are up to 1.02, but nDCG@10 is at"):
        sr.read_scores(path, measure="nDCG@10")
    path.write_text("topic,a,b\n1,50,40\n2,25,30\n")
    with pytest.warns(sr.SteadyrankWarning, match="AP is at most 1: if they are per cent"):
        sr.read_scores(path, measure="AP")
    assert sr.read_scores(path, measure="gain").matrix().max() == 50
    path.write_text("model,x,y\na,5%,20\nb,40,3%\n")
    assert board_of(path)["b", "y"] == 3  # all of it is per cent
    path.write_text("model,x,y\na,5%,20\nb,0.4,3%\n")
    with pytest.raises(sr.FormatError, match="'5%' is in the same column as fractions such as 0.4"):
        board_of(path)


def test_an_index_or_a_length_among_the_runs_is_said(tmp_path):
    path = tmp_path / "x.csv"
    pd.DataFrame({"topic": ["301", "302"], "a": [0.5, 0.25]}).to_csv(path)
    with pytest.warns(sr.SteadyrankWarning, match="the first column, '', is an index"):
        assert sr.read_scores(path).topics == ("301", "302")
    path.write_text("topic,length,a,b\n1,3,0.5,0.75\n2,7,0.25,0.125\n")
    with pytest.warns(sr.SteadyrankWarning, match="scores of length are up to 7"):
        sr.read_scores(path)
    with pytest.raises(sr.FormatError, match="length are up to 7, but AP is at most 1"):
        sr.read_scores(path, measure="AP")
    frame = pd.DataFrame({"model": ["a", "b"], "x": [0.5, 0.25]}, index=[4, 2])
    with pytest.warns(sr.SteadyrankWarning, match="'', is an index in addition to 'model'"):
        assert board_of(frame) == {("a", "x"): 0.5, ("b", "x"): 0.25}


def test_names_are_trimmed(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("measure, run,topic ,value\nAP, a,1,0.5\nAP,a ,2,0.25\n")
    assert scores_of(path) == {("AP", "a", "1"): 0.5, ("AP", "a", "2"): 0.25}
    path.write_text("topic, a,b \n 1,0.5,0.75\n2 ,0.25,0.125\n")
    assert scores_of(path, measure="AP") == CELLS
    frame = pd.DataFrame({"measure": "AP", "run": [" a", "a "], "topic": 1, "value": 0.5})
    with pytest.raises(sr.InputError, match="a second value for AP / a / 1"):
        sr.as_scores(frame)
    path.write_text("measure,run,topic,value\nAP,a,1,0.5\nAP,' ',2,0.25\n".replace("'", '"'))
    with pytest.raises(sr.FormatError, match=":3: expected a name as run, got ''"):
        sr.read_scores(path)


@pytest.mark.parametrize(
    ("kind", "names", "shown"),
    [
        ("topic", ("01", "1"), "'01' = '1'"),
        ("topic", ("caf\u00e9", "cafe\u0301"), r"'caf\\xe9' = 'cafe\\u0301'"),
        ("run", ("caf\u00e9", "cafe\u0301"), r"'caf\\xe9' = 'cafe\\u0301'"),
        ("measure", ("map", "AP"), "'map' = 'AP'"),
        ("measure", ("ndcg_cut_10", "nDCG@10"), "'ndcg_cut_10' = 'nDCG@10'"),
    ],
)
def test_one_thing_under_two_names_is_one_warning(tmp_path, kind, names, shown):
    cells = [{"measure": "AP", "run": "a", "topic": "7", kind: name} for name in names]
    rows = [f"{c['measure']},{c['run']},{c['topic']},0.5\n" for c in cells]
    (tmp_path / "x.csv").write_text("measure,run,topic,value\n" + "".join(rows))
    with pytest.warns(sr.SteadyrankWarning, match=f"1 {kind} under two names .{shown}.") as told:
        sr.read_scores(tmp_path / "x.csv")
    assert len(told) == 1


def test_two_columns_that_are_equal_are_one(tmp_path):
    frame = pd.DataFrame({"qid": [1], "docno": ["d"], "doc_id": ["d"], "score": [1.0]})
    assert sr.as_run(frame).ranking("1") == [("d", 1.0)]
    frame.to_parquet(tmp_path / "x.parquet")
    assert sr.read_run(tmp_path / "x.parquet").ranking("1") == [("d", 1.0)]
    (tmp_path / "x.jsonl").write_text(frame.to_json(orient="records", lines=True))
    assert sr.read_run(tmp_path / "x.jsonl").ranking("1") == [("d", 1.0)]
    numbered = pd.DataFrame({"qid": [1], "docno": ["d"], "docid": [17], "score": [1.0]})
    assert sr.as_run(numbered).ranking("1") == [("d", 1.0)]  # PyTerrier's number of a document


@pytest.mark.parametrize(
    "values", [[[["x"]]], [[["0.5"]]], [[[1], [2, 3]]], [[[object()]]], [[[10**400]]], [[[1j]]]]
)
def test_values_of_text_are_refused(values):
    with pytest.raises(sr.InputError, match="values must be numbers"):
        sr.Scores(measures=["AP"], runs=["a"], topics=["1"], values=values)
    with pytest.raises(sr.InputError, match="values must be numbers"):
        sr.Leaderboard(runs=["a"], datasets=["x"], values=values[0])


def test_scores_that_are_none():
    scores = sr.Scores(measures=["AP"], runs=["a"], topics=["1"], values=[[[None]]])
    assert math.isnan(scores.values[0, 0, 0])
    for make, what in ((sr.run_from_dict, "score"), (sr.qrels_from_dict, "grade")):
        options = {"name": "a"} if what == "score" else {}
        for value in (None, "1"):
            with pytest.raises(sr.InputError, match=f"expected a number as {what}, got {value!r}"):
                make({"1": {"d": value}}, **options)
        for other in (None, ["d"], {"1": ["d"]}):
            with pytest.raises(sr.InputError, match="expected {topic: {document: " + what):
                make(other, **options)


def test_scores_copy_what_they_are_given():
    values, meta = np.full((1, 1, 2), 0.5), {"source": "x"}
    scores = sr.Scores(measures=["AP"], runs=["a"], topics=["1", "2"], values=values, meta=meta)
    values[:], meta["source"] = 0, "y"
    assert scores.values.tolist() == [[[0.5, 0.5]]]
    assert scores.meta == {"source": "x"}
    assert np.shares_memory(scores.values, scores.with_run_info(team=["t"]).values)
    with pytest.raises(ValueError, match="read-only"):
        scores.values[:] = 1


def test_polars_and_other_tables_in_datasets():
    rng = np.random.default_rng(1)
    columns = {f"d{k}": rng.random(3).tolist() for k in range(6)}
    frame = pd.DataFrame({"model": ["a", "b", "c"], **columns})
    expected = board_of(frame)
    for table in (pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        assert board_of(table) == expected
    assert sr.datasets(pl.from_pandas(frame)).runs == sr.datasets(frame).runs
    for wrong in (None, 3, np.zeros((2, 2)), b"x", [None]):
        with pytest.raises(sr.InputError, match="expected a file, a pandas, polars"):
            sr.read_leaderboard(wrong)


def test_topics_1_and_text_1_are_refused():
    twice = {1: {"d": 1}, "1": {"e": 2}}
    for make in (
        lambda x: sr.run_from_dict(x, name="a"),
        sr.qrels_from_dict,
        sr.as_run,
        sr.as_qrels,
    ):
        with pytest.raises(sr.InputError, match="topic 1 is there twice"):
            make(twice)
    with pytest.raises(sr.InputError, match="two topics are named '1'"):
        sr.Scores(measures=["AP"], runs=["a"], topics=[1, "1"], values=[[[1, 2]]])


def test_a_byte_order_mark_in_the_middle_of_a_run(write):
    path = write("a.run", "1 Q0 d 1 2 t\n\ufeff2 Q0 d 1 2 t\n")
    qrels = sr.qrels_from_dict({"1": {"d": 1}, "2": {"d": 1}})
    for _ in range(2):
        with pytest.raises(sr.FormatError, match=r"a\.run:2: a byte-order mark inside the file"):
            sr.evaluate(path, qrels, "AP")
    ahead = write("b.run", "\ufeff1 Q0 d 1 2 t\n2 Q0 d 1 2 t\n")
    assert sr.evaluate(ahead, qrels, "AP").mean().tolist() == [[1.0]]


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
def test_devices_without_end_are_refused_at_once(device):
    """An eighth of the memory was once filled from /dev/zero."""
    tracemalloc = pytest.importorskip("tracemalloc")
    tracemalloc.start()
    try:
        for read in (sr.read_run, sr.read_scores, sr.read_leaderboard):
            with pytest.raises(sr.FormatError, match="NUL bytes: neither text nor"):
                read(device)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_dangling_links_are_named(tmp_path, write):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "b.run").symlink_to("nowhere")
    (tmp_path / "runs" / "a.run").write_text("1 Q0 d 1 2 t\n")
    with pytest.raises(sr.InputError, match=r"b\.run: a link to nowhere, which is not there"):
        sr.read_run(tmp_path / "runs" / "b.run")
    for name in ("runs", "runs/*.run"):
        with pytest.warns(
            sr.SteadyrankWarning, match=r"1 link that leads nowhere skipped \(b\.run"
        ):
            assert len(sr.read_runs(str(tmp_path / name)).sources) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("P@0", "from 1 to 999,999,999, got 0"),
        ("P@-1", "from 1 to 999,999,999, got '-1'"),
        ("P@99999999999", "from 1 to 999,999,999, got '99999999999'"),
        ("P(cutoff=3)", "a cutoff follows an @: write P@3"),
    ],
)
def test_words_for_cutoffs(name, message):
    with pytest.raises(sr.InputError) as raised:
        sr.parse_measure(name)
    assert message in str(raised.value)
