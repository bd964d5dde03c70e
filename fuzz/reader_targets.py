"""Every reader of files as a target for mutants, each with its witness."""

from __future__ import annotations

import html
import io
import json
import math
import re
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import steadyrank as sr
from fuzz.mutants import Target, csv_rows, plain_number, raw, unpacked
from steadyrank.compute.stores import SETTINGS, open_store
from steadyrank.data.read.run_info import describe_runs
from steadyrank.retrieval.engine.collections import read_collection
from steadyrank.retrieval.engine.stop_lists import stop_words
from steadyrank.retrieval.engine.topics import read_topics

LONG = b"measure,run,topic,value\n" + b"".join(
    b"%s,run%d,%d,0.%d%d5\n" % (m, r, t, r, t)
    for m in (b"AP", b'"nDCG(gains=(0,1))@10"')
    for r in (1, 2)
    for t in (301, 302)
)
WIDE = b"topic,a,b,c\n301,0.5,0.25,\n302,nan,1,0\n303,1e-3,.5,0.125\n"
LONGS = (LONG, LONG.replace(b"\n", b"\r\n"), LONG.replace(b",run1", b",=run1"))
WIDES = (WIDE, WIDE.replace(b",", b"\t"), WIDE.replace(b",", b";"), b"\xef\xbb\xbf" + WIDE)
INFO = b"run,team,system,stop list\nr1,A,s1,x\nr2,A,s2,\nr3,B,s1,y\n"
JSON_RUN = b"".join(
    b'{"query_id": "%d", "doc_id": "d%d", "score": %d.5, "relevance": %d, "run": "r"}\n'
    % (t, d, d, d % 3)
    for t in (1, 2)
    for d in range(4)
)
TAB_TOPICS = b"query_id\ttext\n301\tinternational organized crime\n302\tpoliomyelitis\n"
TREC_TOPICS = b"".join(
    b"<top>\n<num> Number: %d\n<title> crime %d\n\n<desc> Description:\nWho?\n<narr> Narrative:\n"
    b"All.\n</top>\n\n" % (t, t)
    for t in (301, 302, 303)
)
JSON_DOCS = b"".join(
    b'{"id": "d%d", "title": "one %d", "text": "caf\\u00e9 and <b> tea"}\n' % (d, d)
    for d in range(5)
)
SGML_DOCS = b"".join(
    b"<DOC>\n<DOCNO> FT-%d </DOCNO>\n<HEADLINE>Tea &amp; caf\xe9</HEADLINE>\n<TEXT>\nand <b>more"
    b"</b> &#233;\n</TEXT>\n</DOC>\n" % d
    for d in range(4)
)


@cache
def parquet(**columns: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({key: list(values) for key, values in columns.items()}), out)
    return out.getvalue()


def parquet_of(frame: dict[str, Any]) -> bytes:
    return parquet(**{key: tuple(values) for key, values in frame.items()})


PARQUET_SCORES = parquet_of(
    {
        "measure": ["AP"] * 4,
        "run": ["a", "a", "b", "b"],
        "topic": ["1", "2"] * 2,
        "value": [0.5, 0.25, None, 1.0],
    }
)
PARQUET_RUN = parquet_of(
    {
        "query_id": ["1", "1", "2"],
        "doc_id": ["d1", "d2", "d1"],
        "score": [1.0, 2.0, 3.0],
        "relevance": [0, 1, 2],
    }
)


def text_of(path: Path) -> str:
    return unpacked(path).decode("utf-8", "surrogateescape")


def plain_scores(
    path: Path, runs_in_rows: bool, numbered: bool
) -> dict[tuple[str, str, str], float]:
    """Cells of a CSV file of scores by (measure, run, topic); rows may be `numbered`."""
    text = text_of(path)
    first = re.split("[\r\n]", text, maxsplit=1)[0]
    bare = re.sub('"[^"]*"?', "", first)
    delimiter = next((d for d in ",\t;" if d in bare), ",")
    header, *rows = csv_rows(text, delimiter)
    rows = [row for row in rows if any(row)]
    roles = {
        "measure": ("measure", "metric"),
        "run": ("run", "name", "system"),
        "topic": ("topic", "qid", "query_id", "q_id"),
        "value": ("value", "score"),
    }
    lower = [name.lower() for name in header]
    places = {
        role: next((lower.index(n) for n in names if n in lower), None)
        for role, names in roles.items()
    }
    if None not in places.values():
        named = [(*(row[places[role]] for role in roles),) for row in rows]
        cells = [((m, r, t), v) for m, r, t, v in named]
        names = [name for key, _ in cells for name in key]
    else:
        if numbered:
            word = "run" if runs_in_rows else ""
            header = ["", *header]
            rows = [[f"{word}{place}", *row] for place, row in enumerate(rows, start=1)]
        across = [name.strip(" \t") for name in header[1:]]
        wide = [(row[0], name, v) for row in rows for name, v in zip(across, row[1:], strict=True)]
        cells = [(("score", d, a) if runs_in_rows else ("score", a, d), v) for d, a, v in wide]
        names = [*across, *(row[0] for row in rows)]
    found = {key: plain_number(value) for key, value in cells}
    assert len(found) == len(cells)
    if not any(FORMULA.match(name) and not NUMBER.fullmatch(name) for name in names):
        found = {tuple(map(undone, key)): value for key, value in found.items()}
    return found


FORMULA = re.compile("[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-](?:inf|nan)?")


def undone(name: str) -> str:
    return name[1:] if re.match(f"'+{FORMULA.pattern}", name) else name


def same_cells(scores: sr.Scores, cells: dict[tuple[str, str, str], float]) -> None:
    """Every cell that is there has its value, and there are no others."""
    present = dict(cells)
    for m, measure in enumerate(scores.measures):
        for r, run in enumerate(scores.runs):
            for t, topic in enumerate(scores.topics):
                value = scores.values[m, r, t]
                expected = present.pop((measure, run, topic), float("nan"))
                assert value == expected or (math.isnan(value) and math.isnan(expected))
    assert not present


def check_scores(path: Path, runs_in_rows: bool = False) -> None:
    scores = sr.read_scores(path, runs_in_rows=runs_in_rows)
    same_cells(scores, plain_scores(path, runs_in_rows, "numbered" in scores.meta))
    assert all(name for labels in scores.labels for name in labels)
    again = path.with_name("again.csv")
    sr.write_scores(scores, again)
    assert sr.read_scores(again).labels == scores.labels


def check_rows(path: Path) -> None:
    check_scores(path, runs_in_rows=True)


def check_parquet_scores(path: Path) -> None:
    scores = sr.read_scores(path)
    assert all(name for labels in scores.labels for name in labels)
    assert not np.isinf(scores.values).any()
    for labels in scores.labels:
        for name in labels:
            raw(name)


def check_run_info(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = describe_runs(["r1", "r2", "r3"], run_info=path)
    header, *rows = csv_rows(text_of(path), ",")
    rows = [row for row in rows if any(row)]
    names = [*header, *(field for row in rows for field in row)]
    change = str if any(FORMULA.match(n) and not NUMBER.fullmatch(n) for n in names) else undone
    place = [change(name) for name in header].index("run")
    expected = {}
    for row in rows:
        fields = {change(key): change(value) for key, value in zip(header, row, strict=True)}
        assert fields.pop("run") == change(row[place])
        assert change(row[place]) not in expected
        expected[change(row[place])] = fields
    assert found == {name: expected.get(name, {}) for name in ("r1", "r2", "r3")}


def json_rows(path: Path) -> list[dict[str, Any]]:
    lines = unpacked(path).split(b"\n")
    return [
        json.loads(line) for line in lines if line.strip() and not line.strip().startswith(b"#")
    ]


def is_json(path: Path) -> bool:
    return unpacked(path)[:4096].lstrip().startswith(b"{")


def pick(row: dict[str, Any], *names: str) -> Any:
    lower = {key.lower(): value for key, value in row.items()}
    return next(lower[name] for name in names if name in lower)


def check_table_run(path: Path) -> None:
    run = sr.read_run(path)
    found = sorted((raw(t), raw(d), s) for t in run.topics for d, s in run.ranking(t))
    if is_json(path):
        rows = json_rows(path)
        expected = [
            (
                raw(str(pick(row, "query_id", "qid", "q_id", "topic", "query"))),
                raw(str(pick(row, "doc_id", "docno", "docid", "did", "document"))),
                float(pick(row, "score", "sim")),
            )
            for row in rows
        ]
        assert found == sorted(expected)
    assert all(t and d and not math.isnan(s) for t, d, s in found)


def check_table_qrels(path: Path) -> None:
    qrels = sr.read_qrels(path)
    found = {(raw(t), raw(d), g) for t in qrels.topics for d, g in qrels.judgments(t).items()}
    if is_json(path):
        expected = {
            (
                raw(str(pick(row, "query_id", "qid", "q_id", "topic", "query"))),
                raw(str(pick(row, "doc_id", "docno", "docid", "did", "document"))),
                float(pick(row, "relevance", "rel", "label", "grade", "score")),
            )
            for row in json_rows(path)
        }
        assert found == expected


def decoded(path: Path) -> str:
    data = unpacked(path)
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        # The reader looks for the mark in the text, which is no UTF-8 here.
        with_mark = path.read_bytes()[:3] == b"\xef\xbb\xbf"
        return ("ï»¿" * with_mark + data.decode("latin-1")).replace("\r\n", "\n")


def check_topics(path: Path) -> None:
    topics = read_topics(path)
    assert topics
    assert all(name and title for name, title in topics.items())
    text = decoded(path)
    if not any(line.strip().lower().startswith("<top>") for line in text.split("\n")):
        lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
        pairs = [tuple(part.strip() for part in line.split("\t", 1)) for line in lines]
        if (
            text.split("\n")[0] == lines[0]
            and pairs[0][0].lower() in HEADS[0]
            and (pairs[0][1].lower() in HEADS[1])
        ):
            pairs = pairs[1:]
        assert list(topics.items()) == pairs
    else:
        assert len(topics) == text.lower().count("<top>")
        for name, title in topics.items():
            assert len(name.split()) == 1
            assert " ".join(title.split()) == title
        longer = read_topics(path, fields=["title", "desc", "narr"])
        assert list(longer) == list(topics)


HEADS = (("query_id", "qid", "q_id", "topic", "query"), ("text", "query", "title"))


def check_documents(path: Path) -> None:
    documents = list(read_collection(path))
    assert len({document.id for document in documents}) == len(documents) > 0
    for document in documents:
        raw(document.id)
    if is_json(path):
        assert [tuple(document) for document in documents] == list(
            map(plain_document, json_rows_all(path))
        )
    else:
        assert [tuple(document) for document in documents] == plain_sgml(unpacked(path))


def json_rows_all(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in unpacked(path).split(b"\n") if line.strip()]


def plain_document(row: dict[str, Any]) -> tuple[str, str]:
    ids = (row.get(key) for key in ("id", "_id", "doc_id", "docno", "docid", "did", "document"))
    name = next(v for v in ids if isinstance(v, (str, int)) and not isinstance(v, bool))
    title = row.get("title") or ""
    text = next((row[key] or "" for key in ("text", "contents", "body") if key in row), "")
    return str(name), f"{title} {text}" if title else text


def plain_sgml(data: bytes) -> list[tuple[str, str]]:
    """Documents found by cutting at tags, one after the other."""
    found = []
    for piece in re.split(rb"</doc[ \t\n\r\f\v]*>", data, flags=re.I)[:-1]:
        opened = re.search(rb"<doc\b[^<>]*>", piece, re.I)
        if opened is None:
            continue
        content = piece[opened.end() :]
        name = re.search(rb"<docno\s*>(.*?)</docno\s*>", content, re.I | re.S)
        text = re.sub(rb"<(docno|docid|dochdr)\s*>.*?</\1\s*>", b" ", content, flags=re.I | re.S)
        text = re.sub(r"</?[A-Za-z!?][^<>]*>", " ", as_text(text))
        text = re.sub(r"&#[0-9]{4000,};?", "\N{REPLACEMENT CHARACTER}", text)  # no number to Python
        found.append((as_text(name[1]).strip(), html.unescape(text)))
    return found


def as_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def check_stop_list(path: Path) -> None:
    """Every word is made of letters that follow each other in the file."""
    words = stop_words(str(path))
    letters = re.sub("[^a-z0-9]", "", as_text(unpacked(path)).lower())
    assert words
    assert all(word and word in letters for word in words if word.isascii())


def check_folder(path: Path) -> None:
    """The mutant as one of two text files in a folder."""
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        folder = Path(place)
        (folder / "a.txt").write_text("plain words")
        (folder / "b.txt").write_bytes(path.read_bytes())
        documents = list(read_collection(folder))
        assert documents[0] == ("a", "plain words")
        assert documents[1:] == [("b", as_text(unpacked(path)))]


ARRAYS = {"values": np.arange(6.0).reshape(2, 3), "lacking": np.arange(2)}
SETTING = {"seed": 1, "data": "abc"}


@cache
def stored(part: str) -> bytes:
    with tempfile.TemporaryDirectory() as place:
        store = open_store(Path(place) / "s", SETTING)
        store.save("one", ARRAYS)
        return (Path(place) / "s" / part).read_bytes()


def check_block(path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        folder = Path(place)
        (folder / SETTINGS).write_bytes(stored(SETTINGS))
        (folder / "one.block").write_bytes(path.read_bytes())
        kept = open_store(folder, SETTING).load("one")
        assert kept is not None
        assert path.read_bytes() == stored("one.block")
        assert all(np.array_equal(kept[key], ARRAYS[key]) for key in ARRAYS)


def check_settings(path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        folder = Path(place)
        short = path.read_bytes().replace(b"[" * 900, b"[").replace(b"9" * 900, b"9")
        (folder / SETTINGS).write_bytes(short)
        open_store(folder, SETTING)
        assert json.loads(path.read_bytes()) == json.loads(stored(SETTINGS))


CSV_MORSELS = (
    b'"',
    b'""',
    b'"a,b"',
    b'"a\nb"',
    b"measure",
    b"run",
    b"topic",
    b"value",
    b"qid",
    b"name",
    b"Value",
    b"score",
    b"0.5",
    b"",
    b",,,",
    b'"=x"',
    b"=cmd|' /C calc'!A0",
    b"''=x",
    b" a ",
    b"topic;a;b\n1;2;3\n",
    b"AP,run1,301,0.1\n",
    b"NaN",
    b"NULL",
    b"-0.5",
    b"+.5",
    b"team",
)
JSON_MORSELS = (
    b"null",
    b"[]",
    b"{}",
    b"true",
    b'"\\ud800"',
    b'"\\udc80"',
    b'"\\u0000"',
    b'"\\u001b[2J"',
    b'""',
    b"1e400",
    b"-1",
    b"1.0",
    b'"id"',
    b'"text"',
    b'"title"',
    b'"query_id"',
    b'"qid"',
    b'{"a": 1}\n',
    b'{"query_id": "1", "doc_id": "d1", "score": 1, "relevance": 1}\n',
    b"NaN",
    b"Infinity",
    b'"run"',
    b'"tag"',
    b'"a b"',
    b'"\\n"',
    b":",
    b",",
)
SGML_MORSELS = (
    b"<DOC>",
    b"</DOC>",
    b"<DOCNO>",
    b"</DOCNO>",
    b"<DOCID> 1 </DOCID>",
    b"<doc ",
    b"<!-- ",
    b"<?",
    b"&amp;",
    b"&#233;",
    b"&#xffffffff;",
    b"&#0;",
    b"&#" + b"9" * 5000 + b";",
    b"&lt;DOC&gt;",
    b"<top>",
    b"</top>",
    b"<num>",
    b"<title>",
    b"<desc>",
    b"<narr>",
    b"Number:",
    b"301",
    b"<a" * 40,
    b"\n" * 60,
    b"\t",
)

TARGETS = {
    target.name: target
    for target in (
        Target(
            name="scores-long",
            seeds=LONGS,
            morsels=CSV_MORSELS,
            check=check_scores,
            separators=b"\n,",
        ),
        Target(
            name="scores-wide",
            seeds=WIDES,
            morsels=CSV_MORSELS,
            check=check_scores,
            separators=b"\n,",
        ),
        Target(
            name="scores-rows",
            seeds=(WIDE,),
            morsels=CSV_MORSELS,
            check=check_rows,
            separators=b"\n,",
        ),
        Target(
            name="scores-parquet",
            seeds=(PARQUET_SCORES,),
            morsels=(b"PAR1", PARQUET_RUN[-200:]),
            check=check_parquet_scores,
            separators=b"\x00\x15",
            often_refused=0.995,
        ),
        Target(
            name="run-info",
            seeds=(INFO,),
            morsels=CSV_MORSELS,
            check=check_run_info,
            separators=b"\n,",
        ),
        Target(
            name="runs-jsonl",
            seeds=(JSON_RUN,),
            morsels=JSON_MORSELS,
            check=check_table_run,
            separators=b"\n,:",
        ),
        Target(
            name="qrels-jsonl",
            seeds=(JSON_RUN,),
            morsels=JSON_MORSELS,
            check=check_table_qrels,
            separators=b"\n,:",
        ),
        Target(
            name="runs-parquet",
            seeds=(PARQUET_RUN,),
            morsels=(b"PAR1", PARQUET_SCORES[-200:]),
            check=check_table_run,
            separators=b"\x00\x15",
            often_refused=0.995,
        ),
        Target(
            name="qrels-parquet",
            seeds=(PARQUET_RUN,),
            morsels=(b"PAR1", PARQUET_SCORES[-200:]),
            check=check_table_qrels,
            separators=b"\x00\x15",
            often_refused=0.995,
        ),
        Target(
            name="topics",
            seeds=(TAB_TOPICS, TREC_TOPICS, TREC_TOPICS.lower()),
            morsels=SGML_MORSELS,
            check=check_topics,
            separators=b"\n\t<",
        ),
        Target(
            name="documents-jsonl",
            seeds=(JSON_DOCS,),
            morsels=JSON_MORSELS,
            check=check_documents,
            separators=b"\n,:",
        ),
        Target(
            name="documents-sgml",
            seeds=(SGML_DOCS, b"<FILE>\n" + SGML_DOCS + b"</FILE>\n"),
            morsels=SGML_MORSELS,
            check=check_documents,
            separators=b"\n<",
        ),
        Target(
            name="documents-folder",
            seeds=(b"some words", SGML_DOCS),
            morsels=SGML_MORSELS,
            check=check_folder,
        ),
        Target(
            name="stop-lists",
            seeds=(b"the\na | article\n# no\n<w>of</w>\n",),
            morsels=SGML_MORSELS,
            check=check_stop_list,
        ),
        Target(
            name="store-block",
            seeds=(stored("one.block"),),
            morsels=(b"PK\x03\x04", b"NUMPY"),
            check=check_block,
            packed=False,
            separators=b"\x00",
            often_refused=1.0,
        ),
        Target(
            name="store-settings",
            seeds=(stored(SETTINGS),),
            morsels=JSON_MORSELS,
            check=check_settings,
            packed=False,
            separators=b"\n,:",
            often_refused=1.0,
        ),
    )
}
