"""How long is the answer? Three lines before a table, two below it, each thing once.

Of every command that is shown by a view, on its own data and on runs with names of sixty
characters.
"""

from __future__ import annotations

import json
import re
from importlib.util import find_spec

import pytest
from test_coverage import SHOWN, data  # noqa: F401 a fixture

from steadyrank.cli import run

COLUMNS = 100
MOST_BEFORE, MOST_BELOW = 3, 2
LONGEST = 130
"""Characters of a finding: some 110, and a name or two."""

VIEWED = [
    place
    for place, line in enumerate(SHOWN)
    if find_spec(f"steadyrank.studies.{line[0]}.view")
    and not (line[0] == "compare" and "--samples" in line)  # the table of a paper, with its caption
]
ENDING = "_passages_of_a_track_with_a_name_of_sixty_characters.run"


def printed(capsys, arguments, form):
    capsys.readouterr()
    assert run([*arguments, "--format", form, "--quiet"]) == 0
    return capsys.readouterr().out


def lines_of(text: str) -> int:
    """Lines of a terminal of a hundred columns."""
    return sum(-(-len(line) // COLUMNS) or 1 for line in text.split("\n"))


@pytest.fixture(params=["plain", "long"])
def arguments_of(request, data, tmp_path):  # noqa: F811
    """The arguments of a command, as they are or with long names for the runs."""
    if request.param == "plain":
        return lambda line: [part.format(data=data) for part in line]
    for path in sorted((data / "runs").iterdir()):
        body = path.read_text("utf-8").splitlines()
        tag = f"{body[0].split()[-1]}{ENDING}"
        lines = "\n".join(" ".join([*line.split()[:-1], tag]) for line in body) + "\n"
        (tmp_path / path.name).write_text(lines, "utf-8")

    def renamed(line):
        # Files about runs know these by their own names.
        others = [part for part in line if part.endswith(".csv")]
        runs = data / "runs" if others else tmp_path
        return [str(runs) if part == "{data}/runs" else part.format(data=data) for part in line]

    return renamed


@pytest.mark.parametrize("place", VIEWED, ids=lambda k: f"{k}-{SHOWN[k][0]}")
def test_a_command_is_brief_and_says_each_thing_once(place, arguments_of, capsys):
    line = SHOWN[place]
    arguments = arguments_of(line)
    shown = printed(capsys, arguments, "table")
    parts = re.split(r"\n\n+", shown.strip("\n"))
    is_table = ["──" in part for part in parts]
    before = parts[: is_table.index(True)]
    assert sum(map(lines_of, before)) <= MOST_BEFORE + 2, "\n".join(before)
    assert sum(part.count("\n") + 1 for part in before) <= MOST_BEFORE
    for part, table in zip(parts, is_table, strict=True):
        if not table and part not in before:
            assert lines_of(part) <= MOST_BELOW, part
    findings = json.loads(printed(capsys, arguments, "json")).get("findings", [])
    ids = [finding["id"] for finding in findings]
    assert len(set(ids)) == len(ids)
    studies = ("audit.", "compare.") if "--audit" in line else (f"{line[0]}.",)
    assert all(finding["id"].startswith(studies) for finding in findings)
    texts = [finding["text"].replace(ENDING, "") for finding in findings]
    assert max(map(len, texts), default=0) <= LONGEST
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert shown.count(text) <= 1
