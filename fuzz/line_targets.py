"""Mutated runs and judgments in lines of text, compared with `str.split`."""

from __future__ import annotations

import numpy as np

import steadyrank as sr
from fuzz.mutants import BARE, Target, raw

RUN = "".join(
    f"{t} Q0 doc-{d:03d} {d} {20 - d}.{d}5{t} tag\n" for t in range(301, 304) for d in range(8)
).encode()
QRELS = "".join(f"{t} 0 doc-{d:03d} {d % 3}\n" for t in range(301, 304) for d in range(8)).encode()
JSONL = b"".join(
    b'{"query_id": "%d", "doc_id": "d%d", "score": %d.5, "relevance": %d}\n' % (t, d, d, d % 3)
    for t in (1, 2)
    for d in range(4)
)
SEEDS = (
    *(RUN, RUN.replace(b"\n", b"\r\n"), RUN.replace(b" ", b"\t"), b"# c\n" + RUN),
    *(QRELS, QRELS.replace(b"\n", b" 0.5 pool\r\n"), QRELS.replace(b" ", b"\t"), b"# c\n" + QRELS),
    JSONL,
)
MORSELS = (
    *BARE,
    *b"1e-999 - . e 0x1 1_0 99999999999999999999999999 0.1234567890123456789012345".split(),
    *b'{ } " PAR1 \x1f\x8b'.split(),
    *(b"\x0b\x0c", b"\x85", b"x" * 70, b"y" * 9000),
    *(b"301 Q0 doc-001 1 5 tag\n", b"301 0 doc-001 2\n", "é".encode(), b"\x7f"),
    b'{"query_id": null, "doc_id": [], "score": {}}\n',
    *b"1e5 +5 --5 5e 5e+".split(),
)


def plain_rows(path, value):
    """Return the rows of TREC text by `str.split`, or None for other files.

    Lines of three columns have other targets.
    """
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b" or data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return None
    lines = [line.split() for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    rows = [fields for fields in lines if fields and not fields[0].startswith(b"#")]
    if rows and len(rows[0]) == 3:
        return None
    return [(row[0], row[2], float(row[value])) for row in rows]


def check_run(path):
    run = sr.read_run(path, name_from="file")
    rows = plain_rows(path, 4)
    if rows is not None:
        read = [(raw(t), raw(d), s) for t in run.topics for d, s in run.ranking(t)]
        assert sorted(read) == sorted(rows)
    assert run.blocks[0] == 0
    assert run.blocks[-1] == len(run) == len(run.documents)
    for topic in run.topics:
        ranking = run.ranking(topic)
        keys = [(s, raw(d)) for d, s in ranking]
        assert keys == sorted(keys, reverse=True)
        assert len({d for d, _ in ranking}) == len(ranking)
        assert not any(np.isnan(s) for _, s in ranking)


def check_qrels(path):
    qrels = sr.read_qrels(path)
    rows = plain_rows(path, 3)
    if rows is not None:
        read = [(raw(t), raw(d), g) for t in qrels.topics for d, g in qrels.judgments(t).items()]
        assert sorted(read) == sorted(set(rows))
    assert qrels.blocks[-1] == len(qrels.grades)
    for topic in qrels.topics:
        assert all(-5 <= grade <= 100 for grade in qrels.judgments(topic).values())


TARGETS = {
    name: Target(name=name, seeds=SEEDS, morsels=MORSELS, check=check, separators=b"\n ")
    for name, check in (("runs", check_run), ("qrels", check_qrels))
}
