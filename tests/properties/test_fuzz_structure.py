"""Whatever names there are, what is written reads back; a wrong cell is refused with its line."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import steadyrank as sr
from fuzz.mutants import BUDGET, csv_rows
from fuzz.reader_targets import FORMULA, NUMBER
from steadyrank.data.read.run_info import describe_runs
from steadyrank.data.table_rules import is_summary
from steadyrank.present.table import Table, text_rows, to_csv
from steadyrank_lab.retrieval.engine.collections import read_collection

pytestmark = pytest.mark.slow

examples = settings(
    max_examples=max(10, BUDGET // 75),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)

NASTY = "=+-@'\"\t\r\n,;|<>&$%#\\{}~^_ \x00\x1b\x85\u2028\u202e\uff1d\udce9é日0a1.x"
names = st.text(st.sampled_from(NASTY) | st.characters(codec="utf-8"), min_size=1, max_size=6)
bare = names.map(str.strip).filter(lambda name: bool(name) and not is_summary(name))
"""As tables hold them: blanks around names go, and summaries are left out."""


@st.composite
def scores(draw: st.DrawFn, each: st.SearchStrategy[str] = bare, measures: int = 2) -> sr.Scores:
    labels = [
        draw(st.lists(each, min_size=1, max_size=most, unique=True)) for most in (measures, 3, 3)
    ]
    size = [len(names) for names in labels]
    floats = st.floats(allow_infinity=False)
    values = draw(st.lists(floats, min_size=int(np.prod(size)), max_size=int(np.prod(size))))
    measures_, runs, topics = map(tuple, labels)
    return sr.Scores(
        measures=measures_, runs=runs, topics=topics, values=np.array(values).reshape(size)
    )


def read(path: Path, **how: str) -> sr.Scores:
    """One name in two spellings is warned of, which is not the matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        return sr.read_scores(path, **how)


def same(found: sr.Scores, expected: sr.Scores) -> bool:
    return found.labels == expected.labels and np.array_equal(
        found.values, expected.values, equal_nan=True
    )


def formula_names(run: str) -> sr.Scores:
    return sr.Scores(
        measures=("=m",), runs=(run, "'" + run), topics=("-1", "-t"), values=np.ones((1, 2, 2))
    )


@examples
@given(scores())
@example(formula_names("=x"))
@example(formula_names("'=x"))
@example(formula_names("'"))
def test_long_files_read_back(cube: sr.Scores) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "scores.csv"
        sr.write_scores(cube, path)
        assert same(read(path), cube)
        written = csv_rows(path.read_bytes().decode("utf-8", "surrogateescape"), ",")
        for cell in (cell for row in written for cell in row[:3]):
            assert NUMBER.fullmatch(cell) or not FORMULA.match(cell)


@examples
@given(scores(bare, measures=1))
@example(formula_names("=x"))
def test_wide_files_read_back(cube: sr.Scores) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "scores.csv"
        sr.write_scores(cube, path, wide=True)
        try:
            again = read(path, measure=cube.measures[0])
        except sr.InputError:
            # `topic,metric,run,value`: a wide file whose runs are the columns of a long one.
            assert {"value", "score"} & {run.lower() for run in cube.runs}
            return
        assert same(again, cube)


@examples
@given(scores())
def test_parquet_reads_back(cube: sr.Scores) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "scores.parquet"
        sr.write_scores(cube, path)
        assert same(read(path), cube)


@examples
@given(scores(), st.data())
def test_a_wrong_cell_is_refused_with_its_line(cube: sr.Scores, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "scores.csv"
        plain = sr.Scores(
            measures=tuple(f"m{i}" for i in range(len(cube.measures))),
            runs=tuple(f"r{i}" for i in range(len(cube.runs))),
            topics=tuple(f"t{i}" for i in range(len(cube.topics))),
            values=cube.values,
        )
        sr.write_scores(plain, path)
        lines = path.read_text().splitlines()
        row = data.draw(st.integers(1, len(lines) - 1))
        wrong = data.draw(st.sampled_from(["x", "1_0", "inf", "-inf", "1e309", "1 2", "=1", "0x1"]))
        lines[row] = lines[row].rpartition(",")[0] + "," + wrong
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(sr.FormatError, match=rf"scores.csv:{row + 1}: expected a score"):
            sr.read_scores(path)


@examples
@given(st.lists(names, min_size=1, max_size=4, unique=True), st.data())
def test_run_information_reads_back(runs: list[str], data: st.DataObject) -> None:
    teams = [data.draw(names) for _ in runs]
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("error")
        path = Path(place) / "run-info.csv"
        table = Table(header=["run", "team"], rows=text_rows(zip(runs, teams, strict=True)))
        path.write_bytes(to_csv(table).encode("utf-8", "surrogateescape"))
        found = describe_runs(runs, run_info=path)
        assert found == {r: {"team": t} for r, t in zip(runs, teams, strict=True)}


@examples
@given(st.dictionaries(names, st.text(max_size=20), min_size=1, max_size=5))
def test_documents_are_read_as_they_are(documents: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "docs.jsonl"
        lines = [json.dumps({"id": key, "text": text}) for key, text in documents.items()]
        path.write_text("\n".join(lines) + "\n")
        usable = all(key.split() == [key] for key in documents)
        try:
            found = {document.id: document.text for document in read_collection(path)}
        except sr.InputError:
            assert not usable
        else:
            assert found == documents
