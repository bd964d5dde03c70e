"""Commands with options at random: done, or one line; never a traceback, never half a file."""

from __future__ import annotations

import csv
import io
import json
import shutil

import pytest

from fuzz.command_cases import ONCE, case, check_answer, run_case, write_files
from fuzz.mutants import BUDGET
from steadyrank import cli

pytestmark = pytest.mark.slow

SHARE = {command: 1 if command in ONCE else 4 for command in cli.commands()}


def never(constant: str) -> None:
    raise AssertionError(f"{constant} in JSON")


def check_output(words: list[str], out: str) -> None:
    """What is printed is what the format says: JSON without NaN, CSV with equal rows."""
    form = words[-words[::-1].index("--format")] if "--format" in words else "table"
    if form == "json":
        json.loads(out, parse_constant=never)
    elif form == "csv":
        rows = list(csv.reader(io.StringIO(out, newline="")))
        assert len({len(row) for row in rows}) <= 1


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize("command", cli.commands())
def test_commands_answer_whatever_they_are_given(tmp_path, files, capsys, monkeypatch, command):
    def found() -> str:
        raise

    monkeypatch.setattr(cli, "_keep_traceback", found)
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "place"
    codes = []
    for number in range(max(1, int(BUDGET * 0.03) * SHARE[command] // sum(SHARE.values()))):
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        words = case(command, number, files, place)
        try:
            codes.append(run_case(words))
            out, err = capsys.readouterr()
            check_answer(codes[-1], err)
            if codes[-1] == 0 and "-o" not in words:
                check_output(words, out)
            assert not list(place.rglob(".out*")), "a temporary file was left"
        except BaseException as error:
            error.add_note(f"case {number}: {words}")
            raise
    assert 2 in codes
    if command not in ONCE:
        assert 0 in codes
