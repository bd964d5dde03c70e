"""Mutated leaderboards, types, MTEB results, topic weights and grades of judges.

Parquet is also written from columns of any type, in several row groups, as broken bytes are
nearly always refused before a cell is read.
"""

from __future__ import annotations

import io
import json
import math
import re
import tempfile
import zlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import steadyrank as sr
from fuzz.mutants import Target, csv_rows, raw
from fuzz.reader_targets import CSV, FORMULA, JSON, NUMBER, parquet, table, text_of, undone
from steadyrank.cli.judges import named_files
from steadyrank.data.read.leaderboards import read_leaderboard, read_types
from steadyrank.data.read.run_info import describe_topics
from steadyrank.data.scores import cluster_codes, topic_weights

BOARD = b"model,task,type,score\n" + b"".join(
    b"m%d,t%d,%s,%d.%d\n" % (m, t, b"RS"[t % 2 :][:1], 40 + 3 * m, t)
    for m in range(3)
    for t in range(4)
)
BY_TOPIC = b"run,dataset,topic,value\n" + b"".join(
    b"r%d,d%d,q%d,0.%d%d\n" % (r, d, q, r, q) for r in (1, 2) for d in (1, 2) for q in (1, 2, 3)
)
WIDE_BOARD = b"Model,Average,a,b,c\nx,50,40.5%,60,\ny,45,-,45,n/a\nz,1,2,3,4\n"
TURNED = b"task;x;y\na;0.5;0.25\nb;;1\n"
TYPES = b"dataset,type\na,R\nb,S\nc,S\n"
RESULT = json.dumps(
    {
        "task_name": "a",
        "dataset_revision": "x",
        "scores": {
            "test": [
                {"hf_subset": "default", "main_score": 0.5, "languages": ["eng"]},
                {"hf_subset": "de", "main_score": 0.25},
            ],
            "dev": [{"hf_subset": "default", "main_score": 0.1}],
        },
    }
).encode()
TOPIC_INFO = b"topic,cluster,weight,kind\n301,a,1,x\n302,a,0.5,y\n303,b,2e0,\n"

MISSING = {"", "nan", "na", "n/a", "null", "none", "-", "–", "—"}
AVERAGE = re.compile(
    r"(?i)(avg|average|mean|overall|total|rank|borda|#)\b.*|.*\b(avg|average|mean)"
)
ROLES = (
    ("run", "model", "model_name", "system", "method", "name"),
    ("dataset", "task", "task_name", "collection", "benchmark"),
    ("value", "score", "main_score"),
)


def plain_cells(path: Path, delimiter: str | None = None) -> list[list[str]]:
    """Return rows of a CSV file of names and numbers, without guarding apostrophes."""
    text = text_of(path)
    bare = re.sub('"[^"]*"?', "", re.split("[\r\n]", text, maxsplit=1)[0])
    chosen = delimiter or next((d for d in ",\t;" if d in bare), ",")
    header, *rows = csv_rows(text, chosen)
    rows = [header, *(row for row in rows if any(row))]
    if any(FORMULA.match(n) and not NUMBER.fullmatch(n) for row in rows for n in row):
        return rows
    return [[undone(name) for name in row] for row in rows]


def plain_score(text: str) -> float:
    text = text.strip()
    assert "_" not in text or text.lower() in MISSING
    return math.nan if text.lower() in MISSING else float(text.removesuffix("%"))


def plain_board(path: Path) -> dict[tuple[str, str], list[float]]:
    """Return the scores of each run and dataset, several with topics."""
    header, *rows = plain_cells(path)
    header = [name.strip() for name in header]
    lower = [name.lower() for name in header]
    places = [next((lower.index(n) for n in names if n in lower), None) for names in ROLES]
    cells: dict[tuple[str, str], list[float]] = {}
    if None not in places:
        run, dataset, value = places
        for key in {
            (row[run].strip(), row[dataset].strip(), _topic_of(row, lower), row[value].strip())
            for row in rows
        }:
            cells.setdefault(key[:2], []).append(plain_score(key[3]))
        return cells
    for row in rows:
        for name, text in zip(header[1:], row[1:], strict=True):
            if not AVERAGE.fullmatch(name):
                key = (row[0].strip(), name)
                cells[key[::-1] if lower[0] in ROLES[1] else key] = [plain_score(text)]
    return cells


def _topic_of(row: list[str], header: list[str]) -> str:
    place = next((header.index(n) for n in ("topic", "qid", "query_id", "q_id") if n in header), -1)
    return row[place].strip() if place >= 0 else ""


def check_leaderboard(path: Path) -> None:
    board = read_leaderboard(path)
    expected = {}
    for key, values in plain_board(path).items():
        known = [value for value in values if not math.isnan(value)]
        if known:
            expected[key] = sum(known) / len(known)
    found = {
        (run, dataset): board.values[r, d]
        for r, run in enumerate(board.runs)
        for d, dataset in enumerate(board.datasets)
        if not math.isnan(board.values[r, d])
    }
    assert found.keys() == expected.keys()
    assert all(math.isclose(found[key], expected[key], rel_tol=1e-12) for key in found)
    assert len(board.types) in (0, len(board.datasets))


def check_board_table(path: Path) -> None:
    board = read_leaderboard(path)
    assert all(board.runs)
    assert all(board.datasets)
    assert not np.isinf(board.values).any()


def check_types(path: Path) -> None:
    types = read_types(path)
    header, *rows = plain_cells(path)
    lower = [name.strip().lower() for name in header]
    name = next(lower.index(n) for n in ROLES[1] if n in lower)
    kind = next(lower.index(n) for n in ("type", "task_type", "category") if n in lower)
    assert types == {row[name].strip(): row[kind].strip() for row in rows}


def check_mteb(path: Path) -> None:
    """Write the mutant as one of two results of a model, with another model's."""
    with tempfile.TemporaryDirectory(dir=path.parent) as place:
        for model, task, data in (
            ("m__1", "a", path.read_bytes()),
            ("m__1", "b", RESULT.replace(b'"a"', b'"b"')),
            ("m__2", "a", RESULT),
        ):
            folder = Path(place) / model / "rev"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{task}.json").write_bytes(data)
        board = read_leaderboard(Path(place))
    text = path.read_bytes().decode("utf-8", "surrogateescape").lstrip("\ufeff")
    try:
        content = json.loads(text)
        scores = content["scores"] if content["task_name"] == "a" else {}
    except (ValueError, LookupError, TypeError, RecursionError):
        return  # of no known form, and therefore left out
    named = [
        (str(entry.get("hf_subset", "default")), entry["main_score"])
        for entry in scores.get("test", ())
        if entry.get("main_score") is not None
    ]
    assert len(dict(named)) == len(named)
    shared = {name for name, value in named if value == value} & {"default", "de"}
    assert board.runs == ("m/1", "m/2") or (named and not shared)
    if shared and all(isinstance(value, (int, float)) for _, value in named):
        mean = sum(float(dict(named)[name]) for name in shared) / len(shared)
        if math.isfinite(mean):
            assert math.isclose(board.values[0, board.datasets.index("a")], mean)


SCORES = sr.Scores(
    measures=["AP"], runs=["r"], topics=["301", "302", "303"], values=[[[0.1, 0.2, 0.4]]]
)


def check_topic_info(path: Path) -> None:
    scores = describe_topics(SCORES, topic_info=path)
    header, *rows = plain_cells(path, ",")
    place = header.index("topic")
    by_topic = {row[place]: dict(zip(header, row, strict=True)) for row in rows}
    assert len(by_topic) == len(rows)
    for name in (name for name in header if name != "topic"):
        expected = tuple(by_topic[topic][name] for topic in SCORES.topics)
        assert scores.topic_info[name] == expected
    weights = topic_weights(scores)
    if weights is not None:
        assert weights.tolist() == [float(by_topic[t]["weight"]) for t in SCORES.topics]
        assert not any("_" in by_topic[t]["weight"] for t in SCORES.topics)
    codes = cluster_codes(scores)
    if codes is not None:
        names = [by_topic[topic]["cluster"] for topic in SCORES.topics]
        assert all((names[i] == names[j]) == (codes[i] == codes[j]) for i in (0, 1) for j in (1, 2))


def check_judge_files(path: Path) -> None:
    given = path.read_bytes().decode("utf-8", "surrogateescape").split("\n")
    files = named_files("--judge", given)
    # A file without a name is named by its path.
    for text, (name, file) in zip(given, files.items(), strict=True):
        assert text == f"{name}={file}" or (text == file and name)


NAMES: Sequence[Sequence[Any]] = (
    ("a", "b", "c"),
    ("301", "é", "x" * 70),
    (1, 2, 3),
    ("a", None, "b"),
    ("a", "", "b"),
    (0.5, 1.0),
    (True, False),
    (b"a", b"\xff"),
    (["a"], ["b"]),
    ("a\x00b", "\x1b[2J", " a "),
)
NUMBERS: Sequence[Sequence[Any]] = (
    (0.5, 1.5, 2.0),
    (0, 1, 2),
    (0, 1, -1),
    (1, None),
    (math.nan, 1.0),
    (math.inf, -math.inf),
    ("1", "2"),
    (True, False),
    (2**40, 1),
    (1e308, 5e-324),
    (0.0, -0.0),
)
KINDS = (None, None, pa.large_string(), pa.int8(), pa.float32(), pa.float16(), pa.binary())


def made_table(rng: np.random.Generator) -> tuple[bytes, dict[str, list[Any]]]:
    """Return a Parquet file with columns of any type, and its content."""

    def some(pools: Sequence[Sequence[Any]], n: int, usual: int) -> list[Any]:
        pool = pools[usual if rng.random() < 0.75 else int(rng.integers(len(pools)))]
        return [pool[i] for i in rng.integers(len(pool), size=n)]

    n = int(rng.integers(0, 40))
    documents: list[Any] = [f"d{d}" for d in range(n)]
    if rng.random() < 0.1:
        documents = some(NAMES, n, 2)
    columns = {
        str(rng.choice(["query_id", "qid", "Topic"])): some(NAMES, n, 0),
        str(rng.choice(["doc_id", "docno"])): documents,
        "score": some(NUMBERS, n, 0),
        "relevance": some(NUMBERS, n, 1),
    }
    if rng.random() < 0.3:
        columns["run"] = some(NAMES, n, 0)
    arrays = {}
    for name, cells in columns.items():
        kind = KINDS[rng.integers(len(KINDS))] if rng.random() < 0.3 else None
        try:
            arrays[name] = pa.array(cells, kind)
        except (pa.ArrowException, OverflowError, TypeError):
            arrays[name] = pa.array(cells)
        # Arrow writes no dictionaries of lists, nor of nothing at all.
        plain = not (pa.types.is_list(arrays[name].type) or pa.types.is_null(arrays[name].type))
        if rng.random() < 0.2 and plain:
            arrays[name] = arrays[name].dictionary_encode()
        columns[name] = arrays[name].to_pylist()
    out = io.BytesIO()
    size = int(rng.integers(1, 50))
    codec = str(rng.choice(["snappy", "zstd", "gzip", "none"]))
    pq.write_table(pa.table(arrays), out, row_group_size=size, compression=codec)
    return out.getvalue(), columns


def check_made_table(path: Path, value: str) -> None:
    """Check a table made from the mutant's bytes, read as a run or as judgments."""
    rng = np.random.default_rng(zlib.crc32(path.read_bytes()))
    data, columns = made_table(rng)
    path.write_bytes(data)
    topics, documents, *_ = columns.values()
    if value == "score":
        run = sr.read_run(path)
        found = {(t, d, s) for t in run.topics for d, s in run.ranking(t)}
    else:
        qrels = sr.read_qrels(path)
        found = {(t, d, g) for t in qrels.topics for d, g in qrels.judgments(t).items()}
    rows = list(zip(topics, documents, columns[value], strict=True))
    for topic, document, number in rows:
        assert {type(topic), type(document)} <= {str, int}
        assert "" not in (topic, document)
        assert type(number) in (int, float)
    assert found == {(str(t), str(d), float(s)) for t, d, s in rows}
    for name in {str(name) for row in rows for name in row[:2]}:
        raw(name)


GRADES = {
    "morsels": (b"0=0", b"=", b",", b":", b"a:", b"1=", b"99999999999=1", b"-1=0"),
    "packed": False,
}
MADE = {"morsels": (b"x",), "packed": False, "often_refused": 0.9}

TARGETS = {
    target.name: target
    for target in (
        Target(
            name="leaderboards",
            seeds=(BOARD, BY_TOPIC, WIDE_BOARD, TURNED),
            check=check_leaderboard,
            **CSV,
        ),
        Target(
            name="leaderboards-parquet",
            check=check_board_table,
            **table(
                parquet(model=[*"aabb"], task=["x", "y"] * 2, score=[0.5, 0.25, None, 1.0]),
                parquet(model=["a", "b"], x=[0.5, 0.25]),
            ),
        ),
        Target(name="dataset-types", seeds=(TYPES,), check=check_types, **CSV),
        Target(name="mteb-results", seeds=(RESULT,), check=check_mteb, packed=False, **JSON),
        Target(name="topic-info", seeds=(TOPIC_INFO,), check=check_topic_info, **CSV),
        Target(
            name="judge-files",
            seeds=(b"gpt=a.qrels\nb=c=d", b"a=b"),
            check=check_judge_files,
            separators=b"\n=",
            **GRADES,
        ),
        Target(
            name="runs-made-parquet",
            seeds=(b"0", b"1", b"4"),
            check=partial(check_made_table, value="score"),
            **MADE,
        ),
        Target(
            name="qrels-made-parquet",
            seeds=(b"0", b"1", b"4"),
            check=partial(check_made_table, value="relevance"),
            **MADE,
        ),
    )
}
