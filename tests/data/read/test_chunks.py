"""Files are read in chunks of lines: in small ones, the same scores or the same error as in one."""

from __future__ import annotations

import os
import random
import re
import warnings

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.data.ids import make_ids
from steadyrank.data.read import trec

MEASURES = ["AP", "nDCG@10", "P@5", "Rprec", "RR", "R@100"]
ALL_JUDGED = ["Bpref", "Judged@10"]
TOPICS = [f"{number}" for number in range(301, 313)]
SMALL = 512
"""Bytes of a chunk: topics and long lines do not fit into one."""

random_files = int(os.environ.get("STEADYRANK_FUZZ", "300"))


@pytest.fixture
def qrels(tmp_path):
    rng = random.Random(0)
    path = tmp_path / "qrels.txt"
    path.write_text(
        "".join(
            f"{topic} 0 {document} {rng.choice([-1, 0, 0, 1, 2])}\n"
            for topic in TOPICS
            for document in _documents(rng, 40)
        )
    )
    return sr.read_qrels(path)


def _documents(rng, n):
    names = [f"FT{number:03d}-{'x' * (number % 14)}{number}" for number in range(100)]
    return rng.sample(names, n)


def _score(rng, form, rank):
    value = 30.0 - rank * rng.choice([0.5, 0.5, 0.5, 0.0])
    if form == "negative":
        return f"{value - 40:.4f}"
    if form == "long":
        return repr(value + rng.random() * 1e-3)
    if form == "whole":
        return str(int(value * 10))
    if form == "mixed":
        return rng.choice([f"{value:.3f}", f"{value:e}", f"{value:.1f}", f"+{value:.2f}"])
    return f"{value:.6f}"


def run_text(
    seed,
    form="plain",
    *,
    in_order=True,
    separator=" ",
    tag="a-tag-of-some-length",
    prefix="",
    second="Q0",
):
    rng = random.Random(seed)
    topics = rng.sample([*TOPICS, "999", "1000"], 11)
    lines = []
    for topic in topics:
        block = []
        for rank, document in enumerate(_documents(rng, rng.randint(1, 50)), start=1):
            fields = (prefix + topic, second, document, str(rank), _score(rng, form, rank), tag)
            block.append(separator.join(fields))
        if not in_order:
            rng.shuffle(block)
        lines += block
    return "\n".join(lines) + "\n"


def outcome(path, qrels, **options):
    """Scores and what was said about them, or the error."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            scores = sr.evaluate(path, qrels, jobs=1, **options)
        except sr.SteadyrankError as error:
            return str(error)
    # Lines are compared with the first tag of their chunk: how many differ depends on its size.
    told = {re.sub(r"[0-9]+ lines? whose tag differs", "", str(one.message)) for one in said}
    return scores.values.tobytes(), scores.runs, scores.run_info, scores.meta, told


def both_ways(path, qrels, monkeypatch, **options):
    whole = outcome(path, qrels, **options)
    with monkeypatch.context() as patch:
        patch.setattr(trec, "CHUNK", SMALL)
        patch.setattr(trec, "_SPARE", [])
        return outcome(path, qrels, **options), whole


@pytest.mark.parametrize("form", ["plain", "negative", "long", "whole", "mixed"])
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("measures", [MEASURES, ALL_JUDGED])
def test_scores_are_the_same_in_small_chunks(
    tmp_path, qrels, monkeypatch, form, in_order, measures
):
    path = tmp_path / "a.run"
    for seed in range(5):
        path.write_text(run_text(seed, form, in_order=in_order))
        quick, whole = both_ways(path, qrels, monkeypatch, measures=measures)
        assert quick == whole
        assert isinstance(quick, tuple)


@pytest.mark.parametrize("prefix", ["", "2020-", "a-topic-of-bytes-"])
@pytest.mark.parametrize("second", ["0", "Q0", "seventeen-bytes-X"])
def test_topics_and_second_fields_of_any_length(tmp_path, monkeypatch, prefix, second):
    rng = random.Random(1)
    qrels = sr.qrels_from_dict(
        {
            prefix + topic: {name: rng.choice([0, 1]) for name in _documents(rng, 40)}
            for topic in TOPICS
        }
    )
    path = tmp_path / "a.run"
    path.write_text(run_text(3, prefix=prefix, second=second, tag="t"))
    quick, whole = both_ways(path, qrels, monkeypatch)
    assert quick == whole


ODD = {
    "comment": lambda lines: ["# team: x", *lines],
    "comment inside": lambda lines: [*lines[:9], "# x", *lines[9:]],
    "blank line": lambda lines: [*lines[:9], "", *lines[9:]],
    "carriage returns": lambda lines: [f"{line}\r" for line in lines],
    "byte-order mark": lambda lines: ["\ufeff" + lines[0], *lines[1:]],
    "tabs": lambda lines: [line.replace(" ", "\t", 3) for line in lines],
    "a topic longer than a chunk": lambda lines: [
        f"301 Q0 d{i} {i} {900 - i} t" for i in range(800)
    ],
    "two spaces": lambda lines: [lines[0].replace(" ", "  "), *lines[1:]],
    "seven fields": lambda lines: [*lines[:5], lines[5] + " more", *lines[6:]],
    "five fields": lambda lines: [*lines[:5], lines[5].rsplit(" ", 1)[0], *lines[6:]],
    "other tag": lambda lines: [*lines[:-1], lines[-1] + "x"],
    "other second field": lambda lines: [lines[0].replace("Q0", "Q1"), *lines[1:]],
    "a topic in two pieces": lambda lines: [*lines[1:], lines[0]],
    "a document twice": lambda lines: [lines[0], *lines],
    "infinite score": lambda lines: [_with_score(lines[0], "inf"), *lines[1:]],
    "NaN": lambda lines: [_with_score(lines[0], "nan"), *lines[1:]],
    "no number": lambda lines: [_with_score(lines[0], "1.2.3"), *lines[1:]],
    "letters in a number": lambda lines: [*lines[:7], _with_score(lines[7], "1x.123456")],
    "control character": lambda lines: [lines[0].replace("Q0", "Q\x01"), *lines[1:]],
    "control character in an id": lambda lines: [*lines[:7], lines[7].replace("FT", "F\x0b")],
    "control character for a blank": lambda lines: [*lines[:7], lines[7].replace(" ", "\x0c")],
    "carriage return in a line": lambda lines: [*lines[:7], lines[7].replace("FT", "F\r")],
    "null": lambda lines: [*lines[:7], lines[7].replace("FT", "F\x00"), *lines[8:]],
    "no rank": lambda lines: [*lines[:7], " ".join([*lines[7].split(" ")[:3], "", "1.5", "t"])],
    "a score of two": lambda lines: [*lines[:7], _with_score(lines[7], "1.5 0.5"), *lines[8:]],
    "no score": lambda lines: [*lines[:7], _with_score(lines[7], ""), *lines[8:]],
    "a tag alone": lambda lines: [*lines[:7], lines[7].rsplit(" ", 1)[1], *lines[8:]],
    "a short last line": lambda lines: [*lines, lines[-1][:9]],
    "many short lines": lambda lines: [lines[0], *["x"] * 5000],
    "empty": lambda lines: [],
}


def _with_score(line, score):
    fields = line.split(" ")
    return " ".join([*fields[:4], score, fields[5]])


@pytest.mark.parametrize("kind", ODD)
def test_what_is_odd_is_the_same_in_small_chunks(tmp_path, qrels, monkeypatch, kind):
    path = tmp_path / "a.run"
    text = "\n".join(ODD[kind](run_text(5).splitlines()))
    path.write_bytes((text + "\n" if text else text).encode())
    quick, whole = both_ways(path, qrels, monkeypatch, measures=MEASURES)
    assert quick == whole


def _mutated(rng, content):
    """Some bytes changed, removed, inserted, swapped or repeated, most of them in numbers."""
    content = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        place = rng.randrange(len(content))
        kind = rng.randrange(6)
        if kind == 0:
            content[place] = rng.choice(b" \t\n\r.-+eE0123456789#\x00\xff\xc3xQ")
        elif kind == 1:
            del content[place : place + rng.choice([1, 1, 2, 40])]
        elif kind == 2:
            content[place:place] = bytes(rng.choices(b" \t\n.-0123456789aZ", k=rng.randint(1, 9)))
        elif kind == 3:
            lines = content.split(b"\n")
            first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[first], lines[second] = lines[second], lines[first]
            content = bytearray(b"\n".join(lines))
        elif kind == 4:
            lines = content.split(b"\n")
            chosen = rng.randrange(len(lines))
            lines.insert(min(chosen + 1, len(lines)), lines[rng.randrange(len(lines))])
            content = bytearray(b"\n".join(lines))
        else:
            digits = [i for i, byte in enumerate(content) if 48 <= byte <= 57]
            content[rng.choice(digits)] = rng.choice(b"0123456789")
    return bytes(content)


def test_mutated_files_have_the_same_scores_or_the_same_error(tmp_path, qrels, monkeypatch):
    rng = random.Random(7)
    path = tmp_path / "a.run"
    for trial in range(random_files):
        form = rng.choice(["plain", "plain", "negative", "long", "mixed"])
        path.write_bytes(_mutated(rng, run_text(trial, form, in_order=rng.random() < 0.8).encode()))
        quick, whole = both_ways(path, qrels, monkeypatch, measures=MEASURES)
        assert quick == whole, trial


def test_no_two_ids_have_one_hash():
    names = {f"{'x' * length}{number}" for length in range(40) for number in range(1000)}
    assert len(np.unique(make_ids(sorted(names)).hashes)) == len(names)
