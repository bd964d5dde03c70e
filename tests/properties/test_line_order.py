"""Files with their lines in another order: every command prints the same bytes.

`tests/properties/test_invariances.py` asks the same of the library's studies.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import steadyrank as sr
from bench.invariances.cases import small_data, undrawn
from steadyrank import cli

FEW = ["--seed", "3", "--jobs", "1", "--quiet", "--format", "json"]
RUNS = ["{qrels}", "{runs}"]
INFORMED = [*RUNS, "--run-info", "{info}"]
SEARCH = ["{documents}", "--topics", "{queries}", "--qrels", "{searched}", "-m", "AP"]

COMMANDS = {
    "evaluate": ["evaluate", *RUNS],
    "compare": ["compare", *RUNS, "--test", "randomization", "--samples", "300"],
    "compare, scores": [
        *("compare", "--scores", "{scores}", "--test", "bootstrap", "--samples", "300")
    ],
    "simulate": ["simulate", *RUNS, "--samples", "50"],
    "judges": ["judges", *RUNS, "--judge", "same={qrels}", "-m", "AP", "--samples", "300"],
    "topics": ["topics", *RUNS, "--trials", "40"],
    "agree": [
        "agree",
        *RUNS,
        *("-m", "AP", "-m", "P@10", "--topic-sizes", "4,8", "--system-sizes", "4,7", "--samples"),
        "5",
    ],
    "components": ["components", *INFORMED, "--factors", "first,second"],
    "gate": ["gate", "{qrels}", "{runs}/team1-s1.run", "{runs}/team2-s1.run", "--margin", ".9"],
    "instances": [
        "instances",
        *INFORMED,
        *("--a", "x", "--b", "y", "--no-posterior", "--samples", "100", "--samples-per-instance"),
        "20",
    ],
    "datasets": ["datasets", "{scores}", "--gaps", "pairwise", "--samples", "300"],
    "datasets, collections": [
        *("datasets", "--collection", "one={qrels},{runs}", "--collection", "two={qrels},{runs}"),
        *("--drawn", "topics", "--samples", "300"),
    ],
    "plan": ["plan", *RUNS, "--minimum-difference", "0.1", "--systems", "3"],
    "stability": ["stability", *INFORMED],
    "holes": ["holes", *RUNS, "-m", "nDCG@20", "--samples", "20", "--ask", "5"],
    "pools": ["pools", *INFORMED, "--trials", "2", "--pilot-topics", "12,6"],
    "check": ["check", *RUNS],
    "report": ["report", *RUNS, "-m", "AP", "--samples", "2", "--out", "{folder}/report.html"],
    "grid": ["grid", *SEARCH, "--stop-lists", "none", "--lexical", "none", "--models", "BM25,PL2"],
    "shard": [
        "shard",
        *SEARCH,
        *("--shards", "3", "--sample-rate", "0.3", "--cluster-samples", "1", "--partitions", "1"),
        *("--csi", "2", "--sample", "0.5", "--top-shards", "2"),
    ],
}
NO_FILES = ("battles", "demo", "doctor", "reproduce")
"""Commands without runs and judgments; what `reproduce` is given goes to the studies above. The
tests of `battles` permute its rows."""

SUFFIXES = (".run", ".txt", ".csv", ".tsv", ".jsonl")
STAYS = {"check": ".run", "shard": ".jsonl"}
"""`check` tells of runs whose lines are in a strange order; `shard` draws documents by their place
in the collection."""


@pytest.fixture
def files(tmp_path):
    data = small_data()
    runs = tmp_path / "runs"
    runs.mkdir()
    for run in data.runs:
        sr.write_run(run, runs / f"{run.name}.run")
    sr.write_qrels(data.qrels, tmp_path / "qrels.txt")
    sr.write_qrels(data.searched, tmp_path / "searched.txt")
    sr.write_scores(data.scores.select(measures="AP"), tmp_path / "scores.csv", wide=True)
    columns = ("run", *data.scores.run_info)
    rows = zip(data.scores.runs, *data.scores.run_info.values(), strict=True)
    written = {
        "info.csv": "".join(",".join(row) + "\n" for row in [columns, *rows]),
        "queries.tsv": "".join(f"{t}\t{text}\n" for t, text in data.queries.items()),
        "documents.jsonl": "".join(
            json.dumps({"id": name, "text": text}) + "\n" for name, text in data.documents.items()
        ),
    }
    for name, text in written.items():
        (tmp_path / name).write_text(text)
    named = {path.stem: str(path) for path in tmp_path.iterdir()}
    return {**named, "folder": str(tmp_path)}


def shuffle_lines(path: Path, rng: np.random.Generator) -> None:
    """Put the lines of a file into another order, a header staying where it is."""
    lines = path.read_text().splitlines(keepends=True)
    head = 1 if path.suffix == ".csv" else 0
    order = rng.permutation(len(lines) - head) + head
    assert (np.diff(order) != 1).any()
    path.write_text("".join([*lines[:head], *(lines[place] for place in order)]))


def printed(words, files, capsys):
    with undrawn():
        code = cli.run([word.format(**files) for word in words] + FEW)
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_order_of_lines_changes_no_byte(name, files, capsys):
    words = COMMANDS[name]
    expected = printed(words, files, capsys)
    rng = np.random.default_rng(4)
    for path in sorted(Path(files["folder"]).rglob("*.*")):
        if path.suffix in SUFFIXES and path.suffix != STAYS.get(words[0]):
            shuffle_lines(path, rng)
    assert printed(words, files, capsys) == expected


def test_every_command_is_here_or_has_no_files():
    assert {words[0] for words in COMMANDS.values()} | {*NO_FILES} == {*cli.commands()}
