"""TREC files out: what was written reads back, to the last bit and byte."""

from __future__ import annotations

import gzip
import math
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import steadyrank as sr
from steadyrank import InputError, Qrels, Run, SteadyrankWarning, read_qrels, read_run
from steadyrank.data.ids import make_ids
from steadyrank.data.qrels import qrels_from_dict
from steadyrank.data.read import sources
from steadyrank.data.read.streams import BOM, PACKINGS
from steadyrank.data.run import run_from_dict
from steadyrank.data.write import MISTAKEN, qrels_text, run_text, write_qrels, write_run

RUN = run_from_dict({"q1": {"d1": 0.1, "d2": 2.0}, "q2": {"d9": -1e-300}}, name="bm25")
QRELS = qrels_from_dict({"q1": {"d1": 1, "d2": -2}, "q2": {"d8": 0}})
examples = settings(derandomize=True, deadline=None, max_examples=60)


def rows(held: Run | Qrels) -> list[Any]:
    values = held.scores if isinstance(held, Run) else held.grades
    documents = [held.documents.raw(row) for row in range(len(held))]
    return [held.topics, held.blocks.tolist(), documents, values.tobytes()]


def plain_text(run: Run) -> bytes:
    """The lines as Python joins them, scores by `repr`: the witness of the kernel."""
    scores = list(map(repr, run.scores.tolist()))
    lines = []
    for topic, (first, stop) in zip(run.topics, pairwise(run.blocks.tolist()), strict=True):
        for row in range(first, stop):
            rest = f" {row - first + 1} {scores[row]} {run.name}\n"
            lines += [
                f"{topic} Q0 ".encode("utf-8", "surrogateescape"),
                run.documents.raw(row),
                rest.encode("utf-8", "surrogateescape"),
            ]
    return b"".join(lines)


def run_of_scores(scores: Any, blocks: Any = None) -> Run:
    """A run whose scores stand as given, in one topic or in blocks."""
    values = np.asarray(scores)
    bounds = np.array([0, len(values)] if blocks is None else blocks)
    return Run(
        name="bm25",
        topics=tuple(f"t{i}" for i in range(len(bounds) - 1)),
        blocks=bounds,
        documents=make_ids(f"d{i}" for i in range(len(values))),
        scores=values,
    )


def test_the_lines() -> None:
    assert run_text(RUN).decode().splitlines() == [
        "q1 Q0 d2 1 2.0 bm25",
        "q1 Q0 d1 2 0.1 bm25",
        "q2 Q0 d9 1 -1e-300 bm25",
    ]
    assert qrels_text(QRELS).decode().splitlines() == ["q1 0 d1 1", "q1 0 d2 -2", "q2 0 d8 0"]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_files_read_back(tmp_path: Path, suffix: str) -> None:
    write_run(RUN, tmp_path / f"a.run{suffix}")
    write_qrels(QRELS, str(tmp_path / f"qrels{suffix}"))
    back = read_run(tmp_path / f"a.run{suffix}")
    assert rows(back) == rows(RUN)
    assert back.name == "bm25"
    assert rows(read_qrels(tmp_path / f"qrels{suffix}")) == rows(QRELS)
    packed = (tmp_path / f"a.run{suffix}").read_bytes()
    assert (gzip.decompress(packed) if suffix else packed) == run_text(RUN)


def test_the_same_run_makes_the_same_bytes(tmp_path: Path, monkeypatch: Any) -> None:
    write_run(RUN, tmp_path / "a.gz")
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_run(RUN, tmp_path / "b.gz")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_other_readers_agree(tmp_path: Path) -> None:
    write_run(RUN, tmp_path / "a.run")
    write_qrels(QRELS, tmp_path / "qrels")
    with open(tmp_path / "a.run") as stream:
        assert pytrec_eval.parse_run(stream) == {t: dict(RUN.ranking(t)) for t in RUN.topics}
    with open(tmp_path / "qrels") as stream:
        assert pytrec_eval.parse_qrel(stream) == {t: QRELS.judgments(t) for t in QRELS.topics}


def test_infinite_scores_read_back(tmp_path: Path) -> None:
    run = run_from_dict({"q": {"a": math.inf, "b": -math.inf, "c": 5e-324, "d": -0.0}}, name="x")
    write_run(run, tmp_path / "a.run")
    with pytest.warns(SteadyrankWarning, match="2 infinite scores"):
        assert rows(read_run(tmp_path / "a.run")) == rows(run)


def test_a_topic_without_documents(tmp_path: Path) -> None:
    run = run_from_dict({"q1": {}, "q2": {"d": 1.0}}, name="x")
    with pytest.warns(SteadyrankWarning, match="run 'x': 1 topic without documents leaves no"):
        write_run(run, tmp_path / "a.run")
    assert read_run(tmp_path / "a.run").topics == ("q2",)
    with pytest.raises(InputError, match="topic 'q1' has no judgments"):
        write_qrels(qrels_from_dict({"q1": {}, "q2": {"d": 1}}), tmp_path / "qrels")


@pytest.mark.parametrize(
    ("rankings", "name", "message"),
    [
        ({"q": {"d": 1.0}}, "my run", "its name has white space or a.*run.rename"),
        ({"q": {"d": 1.0}}, "", "its name is empty"),
        ({"q 1": {"d": 1.0}}, "x", "topic 'q 1' has white space .* TREC text cannot hold"),
        ({"q\n": {"d": 1.0}}, "x", "topic 'q.n' has white space"),
        ({"": {"d": 1.0}}, "x", "topic '' is empty"),
        ({"q": {"d\0": 1.0}}, "x", "white space or a control character"),
        ({"#1": {"d": 1.0}}, "x", "topic '#1' would read back as a comment"),
        ({"{1}": {"d": 1.0}}, "x", r"topic '\{1\}' would make the file look like JSON lines"),
        ({"BZh9": {"d": 1.0}}, "x", "would make the file look like bzip2"),
        ({"\ufeffq": {"d": 1.0}}, "x", "would make the file look like a byte-order mark"),
        ({"p": {"d": 1.0}, "q": {"d": 1, "e\tf": 2}}, "x", "document 'e.tf' of topic 'q' has whi"),
        ({"p": {"d": 1.0}, "q": {"": 1.0}}, "x", "document '' of topic 'q' is empty"),
        ({}, "x", "run 'x': empty: there is nothing to write"),
        ({"q": {}}, "x", "empty: there is nothing to write"),
    ],
)
def test_what_trec_text_cannot_hold(tmp_path: Path, rankings: Any, name: str, message: str) -> None:
    path = tmp_path / "a.run"
    path.write_text("as it was\n")
    with pytest.raises(InputError, match=message):
        write_run(run_from_dict(rankings, name=name), path)
    assert path.read_text() == "as it was\n"
    assert list(tmp_path.iterdir()) == [path]


def test_what_the_readers_mistake_is_known() -> None:
    starts = (*sources._UNREADABLE, *(packing.magic for packing in PACKINGS))
    others = {start for start in starts if min(start) > 0x20}
    assert {BOM, sources._PARQUET, *others} <= set(MISTAKEN)


def test_what_was_read_can_be_written(write: Callable[..., Path], tmp_path: Path) -> None:
    path = write("a.run", b"1\tQ0 caf\xe9 9 1e2 x\n# note\n1 Q0 \xc3\xa9 1 +.5 x\r\n0 Q0 a 1 2 x\n")
    run = read_run(path)
    write_run(run, tmp_path / "b.run")
    assert (tmp_path / "b.run").read_bytes() == (
        b"1 Q0 caf\xe9 1 100.0 x\n1 Q0 \xc3\xa9 2 0.5 x\n0 Q0 a 1 2.0 x\n"
    )
    assert rows(read_run(tmp_path / "b.run")) == rows(run)


fields = st.binary(min_size=1, max_size=6).map(
    lambda raw: bytes(byte | 0x21 if byte <= 0x20 else byte for byte in raw).decode(
        "utf-8", "surrogateescape"
    )
)
topics = fields.filter(
    lambda name: not name.encode("utf-8", "surrogateescape").startswith((b"#", *MISTAKEN))
)


@examples
@given(
    rankings=st.dictionaries(
        topics, st.dictionaries(fields, st.floats(allow_nan=False), min_size=1), min_size=1
    ),
    name=fields,
)
def test_any_run_reads_back(tmp_path_factory: Any, rankings: Any, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.run"
    run = run_from_dict(rankings, name=name)
    write_run(run, path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*infinite score", SteadyrankWarning)
        back = read_run(path)
    assert back.name == name
    assert rows(back) == rows(run)
    assert run_text(run) == plain_text(run)


@examples
@given(
    judgments=st.dictionaries(
        topics, st.dictionaries(fields, st.integers(-5, 100), min_size=1), min_size=1
    )
)
def test_any_qrels_read_back(tmp_path_factory: Any, judgments: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.qrels.gz"
    qrels = qrels_from_dict(judgments)
    write_qrels(qrels, path)
    assert rows(read_qrels(path)) == rows(qrels)


def hard_floats() -> np.ndarray:
    """Powers of two and ten with their neighbours, where spacing or digits change; any bits."""
    rng = np.random.default_rng(8)
    powers = np.concatenate(
        [
            np.ldexp(1.0, np.arange(-1074, 1024)),
            [float(f"{digits}e{power}") for digits in (1, 5, 9) for power in range(-323, 308)],
        ]
    )
    bits = rng.integers(0, 1 << 64, 60_000, dtype=np.uint64).view(np.float64)
    subnormal = rng.integers(0, 1 << 52, 5_000, dtype=np.uint64).view(np.float64)
    decimals = rng.integers(0, 10**17, 40_000) / 10.0 ** rng.integers(0, 23, 40_000)
    whole = rng.integers(-(10**18), 10**18, 20_000).astype(float)
    singles = rng.gumbel(10, 3, 20_000).astype(np.float32).astype(float)
    near = [powers, -powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf)]
    return np.concatenate([*near, bits, subnormal, decimals, whole, singles])


def test_every_float_is_spelled_as_python_does() -> None:
    run = run_of_scores(hard_floats())
    assert run_text(run) == plain_text(run)


def test_ranks_and_blocks_are_those_of_plain_python() -> None:
    scores = np.random.default_rng(0).normal(size=1213)
    run = run_of_scores(scores, [0, 9, 9, 19, 19, 1118, 1213, 1213])
    assert run_text(run) == plain_text(run)
    for other in (scores.astype(np.float32), scores[::-1], np.broadcast_to(0.5, 1213)):
        run = run_of_scores(other)
        assert run_text(run) == plain_text(run)


def test_grades_keep_their_judges_in_csv(tmp_path):
    scores = sr.simulated_facets(n_systems=3, n_topics=5, rng=1)
    sr.write_scores(scores, tmp_path / "grades.csv")
    read = sr.read_scores(tmp_path / "grades.csv")
    assert (read.runs, read.run_info) == (scores.runs, scores.run_info)
    np.testing.assert_array_equal(read.values, scores.values)
