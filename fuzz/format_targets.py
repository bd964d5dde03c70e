"""Mutated files of other tools, compared with Python's `json` and `str.split`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

import steadyrank as sr
from fuzz.line_targets import MORSELS
from fuzz.mutants import Target, raw, unpacked
from fuzz.reader_targets import JSON

NESTED = json.dumps({str(t): {f"d{d}": d % 3 for d in range(5)} for t in (1, 2, 3)}).encode()
BEIR = b"query-id\tcorpus-id\tscore\n" + b"".join(
    b"%d\tdoc-%03d\t%d\n" % (t, d, d % 3) for t in (301, 302) for d in range(8)
)
RANKS = b"".join(b"%d\tdoc-%03d\t%d\n" % (t, d, d) for t in (301, 302) for d in range(1, 9))
TREC_EVAL = b"".join(
    b"%-22s\t%d\t0.%d%d00\n" % (m, t, t, t) for t in (1, 2) for m in (b"map", b"P_5")
) + b"".join(b"%-22s\tall\t%s\n" % pair for pair in ((b"runid", b"r"), (b"map", b"0.1500")))
IR_MEASURES = b"".join(b"%d\t%s\t0.%d5\n" % (t, m, t) for t in (1, 2) for m in (b"AP", b"P@5"))
PYTREC_EVAL = json.dumps({str(t): {"map": 0.25 * t, "P_5": 0.2} for t in (1, 2, 3)}).encode()
RANK_EVAL = json.dumps(
    {
        "metric_score": 0.4,
        "details": {f"q{t}": {"metric_score": 0.1 * t, "unrated_docs": []} for t in (1, 2)},
        "failures": {},
    }
).encode()
INSPECT = json.dumps(
    {
        "version": 2,
        "eval": {"model": "m"},
        "samples": [{"id": k, "scores": {"match": {"value": "C"}}} for k in (1, 2)],
    }
).encode()
SAMPLES = b"".join(
    b'{"doc_id": %d, "doc": {}, "filter": "none", "metrics": ["acc"], "acc": %d.0}\n' % (k, k % 2)
    for k in range(4)
)
LONG_LINES = b"".join(
    b'{"query_id": "%d", "measure": "AP", "value": 0.%d}\n' % (t, t) for t in (1, 2, 3)
)
METADATA = (
    b"# ir_metadata.start\n# actor:\n#   team: A\n# method:\n#   - x\n# ir_metadata.end\n"
    b"1 Q0 d1 1 2.5 tag\n1 Q0 d2 2 1.5 tag\n"
)
NESTED_MORSELS = (
    *JSON["morsels"],
    b'{"1": {"d": 1}}',
    b'"d1": 1',
    b"Infinity",
    b"-",
    b"01",
    b"1e5",
)
LINE_MORSELS = (*MORSELS, b"all", b"runid", b"map", b"AP", b"1\tAP\t0.5\n", b"map\t1\t0.5\n")


def is_nested(path: Path) -> bool:
    """Return whether a file is a JSON object of objects of numbers."""
    try:
        value = json.loads(unpacked(path).decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and all(isinstance(row, dict) for row in value.values())


def plain_nested(path: Path) -> list[tuple[bytes, bytes, float]]:
    """Return the rows of nested JSON by Python's `json`, including duplicates."""
    text = unpacked(path).decode("utf-8", "surrogateescape")
    topics = json.loads(text, object_pairs_hook=list, parse_int=float)
    return [(raw(t), raw(d), float(s)) for t, documents in topics for d, s in documents]


def check_nested_run(path: Path) -> None:
    run = sr.read_run(path)
    found = [(raw(t), raw(d), s) for t in run.topics for d, s in run.ranking(t)]
    if is_nested(path):
        assert sorted(found) == sorted(plain_nested(path))
    assert all(t and d and not math.isnan(s) for t, d, s in found)


def check_nested_qrels(path: Path) -> None:
    qrels = sr.read_qrels(path)
    found = {(raw(t), raw(d), g) for t in qrels.topics for d, g in qrels.judgments(t).items()}
    if is_nested(path):
        assert found == set(plain_nested(path))


def three_columns(path: Path) -> list[list[bytes]] | None:
    """Return the rows of a file of three columns, or None for other files."""
    data = unpacked(path)
    if data.lstrip()[:1] in (b"{", b"[") or data.startswith(b"PAR1"):
        return None
    rows = [line.split() for line in data.split(b"\n")]
    rows = [row for row in rows if row and not row[0].startswith(b"#")]
    return rows if rows and len(rows[0]) == 3 else None


def check_short_qrels(path: Path) -> None:
    qrels = sr.read_qrels(path)
    rows = three_columns(path)
    if rows is None:
        return
    if rows[0][0].lower().startswith(b"q") and not rows[0][2][-1:].isdigit():
        rows = rows[1:]
    found = {(raw(t), raw(d), g) for t in qrels.topics for d, g in qrels.judgments(t).items()}
    assert found == {(t, d, float(g)) for t, d, g in rows}


def check_short_run(path: Path) -> None:
    run = sr.read_run(path)
    rows = three_columns(path)
    found = sorted((raw(t), raw(d), s) for t in run.topics for d, s in run.ranking(t))
    if rows is None or not found:
        return
    for sign in (1.0, -1.0):
        if found == sorted((t, d, sign * float(s)) for t, d, s in rows):
            return
    raise AssertionError("neither the ranks nor the scores of the file")


def check_metadata(path: Path) -> None:
    run = sr.read_run(path)
    assert all(name and value for name, value in run.info.items())


def check_tool_scores(path: Path) -> None:
    scores = sr.read_scores(path)
    assert all(name for labels in scores.labels for name in labels)
    assert not np.isinf(scores.values).any()
    for labels in scores.labels:
        for name in labels:
            raw(name)


TARGETS = {
    target.name: target
    for target in (
        Target(
            name="runs-json",
            seeds=(NESTED, json.dumps(json.loads(NESTED), indent=1).encode()),
            morsels=NESTED_MORSELS,
            check=check_nested_run,
            separators=b",:}",
        ),
        Target(
            name="qrels-json",
            seeds=(NESTED,),
            morsels=NESTED_MORSELS,
            check=check_nested_qrels,
            separators=b",:}",
        ),
        Target(
            name="qrels-three-columns",
            seeds=(BEIR, BEIR.replace(b"\n", b"\r\n"), BEIR[25:]),
            morsels=tuple(LINE_MORSELS),
            check=check_short_qrels,
            separators=b"\n\t",
        ),
        Target(
            name="runs-three-columns",
            seeds=(RANKS, RANKS.replace(b"\t1\n", b"\t1.5\n")),
            morsels=tuple(LINE_MORSELS),
            check=check_short_run,
            separators=b"\n\t",
        ),
        Target(
            name="runs-metadata",
            seeds=(METADATA,),
            morsels=tuple(LINE_MORSELS),
            check=check_metadata,
            separators=b"\n:",
        ),
        Target(
            name="scores-lines",
            seeds=(TREC_EVAL, IR_MEASURES),
            morsels=tuple(LINE_MORSELS),
            check=check_tool_scores,
            separators=b"\n\t",
        ),
        Target(
            name="scores-json",
            seeds=(PYTREC_EVAL, RANK_EVAL, INSPECT),
            morsels=NESTED_MORSELS,
            check=check_tool_scores,
            separators=b",:}",
            often_refused=0.98,
        ),
        Target(
            name="scores-json-lines",
            seeds=(SAMPLES, LONG_LINES),
            morsels=NESTED_MORSELS,
            check=check_tool_scores,
            separators=b"\n,:",
        ),
    )
}
