"""All readers of files as targets, each with its witness."""

from __future__ import annotations

import html
import io
import json
import math
import re
import tempfile
import warnings
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import steadyrank as sr
from fuzz.mutants import Target, csv_rows, plain_number, raw, unpacked
from steadyrank.compute.stores import SETTINGS, open_store
from steadyrank.data.read.run_info import describe_runs
from steadyrank_lab.retrieval.engine.collections import read_collection
from steadyrank_lab.retrieval.engine.tokens import stop_words

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
ALL_TOPICS = (TAB_TOPICS, TREC_TOPICS, TREC_TOPICS.lower())
ALL_SGML = (SGML_DOCS, b"<FILE>\n" + SGML_DOCS + b"</FILE>\n")


def parquet(**columns: list[Any]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


PARQUET_SCORES = parquet(
    measure=["AP"] * 4, run=[*"aabb"], topic=["1", "2"] * 2, value=[0.5, 0.25, None, 1.0]
)
PARQUET_RUN = parquet(
    query_id=[*"112"], doc_id=["d1", "d2", "d1"], score=[1.0, 2.0, 3.0], relevance=[0, 1, 2]
)


def text_of(path: Path) -> str:
    return unpacked(path).decode("utf-8", "surrogateescape")


def plain_scores(
    path: Path, runs_in_rows: bool, numbered: bool
) -> dict[tuple[str, str, str], float]:
    """Return cells of a CSV file of scores by (measure, run, topic)."""
    text = text_of(path)
    first = re.split("[\r\n]", text, maxsplit=1)[0]
    bare = re.sub('"[^"]*"?', "", first)
    delimiter = next((d for d in ",\t;" if d in bare), ",")
    header, *rows = csv_rows(text, delimiter)
    header = [name.strip() for name in header]
    rows = [[cell.strip() for cell in row] for row in rows if any(row)]
    by_run = header[0].lower() in ("run", "runs", "system", "model", "method")
    named = [k for k, name in enumerate(header) if re.sub(r"[\W_]+", "", name).lower() == "topic"]
    is_even = len({len(row) for row in [header, *rows]}) == 1
    for row in [header, *rows] if named and is_even and not by_run else []:
        row.insert(0, row.pop(named[0]))
    runs_in_rows = runs_in_rows or by_run
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
        across = header[1:]
        wide = [(row[0], name, v) for row in rows for name, v in zip(across, row[1:], strict=True)]
        cells = [(("score", d, a) if runs_in_rows else ("score", a, d), v) for d, a, v in wide]
        names = [*across, *(row[0] for row in rows)]
    scores = {key: plain_number(value) for key, value in cells}
    assert len(scores) == len(cells)
    summary = re.compile("all|overall|[agh]?mean|average|avg[.]?", re.IGNORECASE)
    scores = {key: value for key, value in scores.items() if not summary.fullmatch(key[2])}
    if not any(FORMULA.match(name) and not NUMBER.fullmatch(name) for name in names):
        scores = {tuple(map(undone, key)): value for key, value in scores.items()}
    return scores


FORMULA = re.compile("[=+@\t\r\n\uff1d\uff0b\uff0d\uff20-]")
NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-](?:inf|nan)?")


def undone(name: str) -> str:
    return name[1:] if re.match(f"'+{FORMULA.pattern}", name) else name


def same_cells(scores: sr.Scores, cells: dict[tuple[str, str, str], float]) -> None:
    """Check that all cells have their values and no others exist."""
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


check_rows = partial(check_scores, runs_in_rows=True)


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
        described = describe_runs(["r1", "r2", "r3"], run_info=path)
    header, *rows = csv_rows(text_of(path), ",")
    rows = [row for row in rows if any(row)]
    names = [*header, *(field for row in rows for field in row)]
    change = str if any(FORMULA.match(n) and not NUMBER.fullmatch(n) for n in names) else undone
    place = [change(name) for name in header].index("run")
    expected = {}
    for row in rows:
        fields = {change(key): change(value) for key, value in zip(header, row, strict=True)}
        assert fields.pop("run") == change(row[place])
        fields.pop("" if not header[0] else "run", None)
        assert change(row[place]) not in expected
        expected[change(row[place])] = fields
    assert described == {name: expected.get(name, {}) for name in ("r1", "r2", "r3")}


DOCUMENT_NAMES = ("doc_id", "docno", "docid", "did", "document")


def json_rows(path: Path, *, comments: bool = True) -> list[dict[str, Any]]:
    """Return the objects of JSON lines, without comments."""
    lines = (line.strip() for line in unpacked(path).split(b"\n"))
    return [json.loads(line) for line in lines if line and not (comments and line[:1] == b"#")]


def is_json(path: Path) -> bool:
    return unpacked(path)[:4096].lstrip().startswith(b"{")


def pick(row: dict[str, Any], *names: str) -> Any:
    lower = {key.lower(): value for key, value in row.items()}
    return next(lower[name] for name in names if name in lower)


def plain_table(path: Path, *values: str) -> list[tuple[bytes, bytes, float]]:
    """Return topic, document and the value of the first known name in a line of JSON."""
    return [
        (
            raw(str(pick(row, "query_id", "qid", "q_id", "topic", "query"))),
            raw(str(pick(row, *DOCUMENT_NAMES))),
            float(pick(row, *values)),
        )
        for row in json_rows(path)
    ]


def check_table_run(path: Path) -> None:
    run = sr.read_run(path)
    read = sorted((raw(t), raw(d), s) for t in run.topics for d, s in run.ranking(t))
    if is_json(path):
        assert read == sorted(plain_table(path, "score", "sim"))
    assert all(t and d and not math.isnan(s) for t, d, s in read)


def check_table_qrels(path: Path) -> None:
    qrels = sr.read_qrels(path)
    read = {(raw(t), raw(d), g) for t in qrels.topics for d, g in qrels.judgments(t).items()}
    if is_json(path):
        assert read == {*plain_table(path, "relevance", "rel", "label", "grade", "score")}


def decoded(path: Path) -> str:
    data = unpacked(path)
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        # The reader looks for the mark in the text, which is no UTF-8 here.
        with_mark = path.read_bytes()[:3] == b"\xef\xbb\xbf"
        return ("ï»¿" * with_mark + data.decode("latin-1")).replace("\r\n", "\n")


def check_topics(path: Path) -> None:
    topics = sr.read_topics(path)
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


HEADS = (("query_id", "qid", "q_id", "topic", "query"), ("text", "query", "title"))


def check_documents(path: Path) -> None:
    documents = list(read_collection(path))
    assert len({document.id for document in documents}) == len(documents) > 0
    for document in documents:
        raw(document.id)
    if is_json(path):
        expected = [plain_document(row) for row in json_rows(path, comments=False)]
    else:
        expected = plain_sgml(unpacked(path))
    assert [tuple(document) for document in documents] == expected


def plain_document(row: dict[str, Any]) -> tuple[str, str]:
    ids = (row.get(key) for key in ("id", "_id", *DOCUMENT_NAMES))
    name = next(v for v in ids if isinstance(v, (str, int)) and not isinstance(v, bool))
    title = row.get("title") or ""
    text = next((row[key] or "" for key in ("text", "contents", "body") if key in row), "")
    return str(name), f"{title} {text}" if title else text


def plain_sgml(data: bytes) -> list[tuple[str, str]]:
    """Return documents by splitting at tags."""
    documents = []
    for piece in re.split(rb"</doc[ \t\n\r\f\v]*>", data, flags=re.I)[:-1]:
        opened = re.search(rb"<doc\b[^<>]*>", piece, re.I)
        if opened is None:
            continue
        content = piece[opened.end() :]
        name = re.search(rb"<docno\s*>(.*?)</docno\s*>", content, re.I | re.S)
        text = re.sub(rb"<(docno|docid|dochdr)\s*>.*?</\1\s*>", b" ", content, flags=re.I | re.S)
        text = re.sub(r"</?[A-Za-z!?][^<>]*>", " ", as_text(text))
        text = re.sub(r"&#[0-9]{4000,};?", "\N{REPLACEMENT CHARACTER}", text)  # no number to Python
        documents.append((as_text(name[1]).strip(), html.unescape(text)))
    return documents


def as_text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def check_stop_list(path: Path) -> None:
    """Check that each word consists of consecutive letters of the file."""
    words = stop_words(str(path))
    letters = re.sub("[^a-z0-9]", "", as_text(unpacked(path)).lower())
    assert words
    assert all(word and word in letters for word in words if word.isascii())


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


CSV = {
    "morsels": (
        *(b'"', b'""', b'"a,b"', b'"a\nb"'),
        *b"measure run topic value qid name Value score 0.5".split(),
        *(b"", b",,,", b'"=x"', b"=cmd|' /C calc'!A0", b"''=x", b" a "),
        *(b"topic;a;b\n1;2;3\n", b"AP,run1,301,0.1\n"),
        *b"NaN NULL -0.5 +.5 team".split(),
    ),
    "separators": b"\n,",
}
JSON = {
    "morsels": (
        *rb'null [] {} true "\ud800" "\udc80" "\u0000" "\u001b[2J" "" 1e400 -1 1.0'.split(),
        *b'"id" "text" "title" "query_id" "qid"'.split(),
        b'{"a": 1}\n',
        b'{"query_id": "1", "doc_id": "d1", "score": 1, "relevance": 1}\n',
        *(b"NaN", b"Infinity", b'"run"', b'"tag"', b'"a b"', rb'"\n"', b":", b","),
    ),
    "separators": b"\n,:",
}
SGML_MORSELS = (
    *(b"<DOC>", b"</DOC>", b"<DOCNO>", b"</DOCNO>", b"<DOCID> 1 </DOCID>", b"<doc ", b"<!-- "),
    *b"<? &amp; &#233; &#xffffffff; &#0;".split(),
    *(b"&#" + b"9" * 5000 + b";", b"&lt;DOC&gt;"),
    *b"<top> </top> <num> <title> <desc> <narr> Number: 301".split(),
    *(b"<a" * 40, b"\n" * 60, b"\t"),
)


def sgml(separators: bytes = b"\n") -> dict[str, Any]:
    return {"morsels": SGML_MORSELS, "separators": separators}


def table(seed: bytes, other: bytes) -> dict[str, Any]:
    """Return a Parquet file, with the end of another for mixing."""
    morsels = (b"PAR1", other[-200:])
    return {"seeds": (seed,), "morsels": morsels, "separators": b"\x00\x15", "often_refused": 0.999}


def kept(part: str) -> dict[str, Any]:
    """Check a file of a store, which accepts only the original."""
    return {"seeds": (stored(part),), "packed": False, "often_refused": 1.0}


RUN_TABLE = table(PARQUET_RUN, PARQUET_SCORES)
STOP_LIST = b"the\na | article\n# no\n<w>of</w>\n"
BLOCK = {"morsels": (b"PK\x03\x04", b"NUMPY"), "separators": b"\x00"}

TARGETS = {
    target.name: target
    for target in (
        Target(name="scores-long", seeds=LONGS, check=check_scores, **CSV),
        Target(name="scores-wide", seeds=WIDES, check=check_scores, **CSV),
        Target(
            name="scores-rows",
            seeds=(WIDE.replace(b"topic", b"run"),),
            check=partial(check_scores, runs_in_rows=True),
            **CSV,
        ),
        Target(
            name="scores-parquet", check=check_parquet_scores, **table(PARQUET_SCORES, PARQUET_RUN)
        ),
        Target(name="run-info", seeds=(INFO,), check=check_run_info, **CSV),
        Target(name="runs-jsonl", seeds=(JSON_RUN,), check=check_table_run, **JSON),
        Target(name="qrels-jsonl", seeds=(JSON_RUN,), check=check_table_qrels, **JSON),
        Target(name="runs-parquet", check=check_table_run, **RUN_TABLE),
        Target(name="qrels-parquet", check=check_table_qrels, **RUN_TABLE),
        Target(name="topics", seeds=ALL_TOPICS, check=check_topics, **sgml(b"\n\t<")),
        Target(name="documents-jsonl", seeds=(JSON_DOCS,), check=check_documents, **JSON),
        Target(name="documents-sgml", seeds=ALL_SGML, check=check_documents, **sgml(b"\n<")),
        Target(name="stop-lists", seeds=(STOP_LIST,), check=check_stop_list, **sgml()),
        Target(name="store-block", check=check_block, **BLOCK, **kept("one.block")),
        Target(name="store-settings", check=check_settings, **JSON, **kept(SETTINGS)),
    )
}
