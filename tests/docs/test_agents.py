"""Guides for agents name every command and exit code, and show the JSON that commands print."""

from __future__ import annotations

import json
import re
import shlex

import pytest

from steadyrank.cli import commands, run
from tests.docs.test_documentation import DOCS, FENCE, PAGES, ROOT, script

GUIDE = DOCS / "agents.md"
CODES = {"0", "1", "2", "3", "4", "130"}


@pytest.fixture(scope="module")
def llms():
    return script(DOCS / "make_llms.py")


def section(name):
    return GUIDE.read_text().split(f"## {name}\n")[1].split("\n## ")[0]


def column(number):
    """Return one column of the guide's table of questions."""
    rows = re.findall(r"^\| (.+) \|$", section("Calling it"), re.MULTILINE)
    return " ".join(row.split(" | ")[number] for row in rows)


def test_the_guide_names_every_command_and_exit_code():
    assert set(re.findall(r"`([a-z]+)`", column(1))) == set(commands())
    assert set(re.findall(r"^\| (\d+) \|", section("Exit codes"), re.MULTILINE)) == CODES
    short = (ROOT / "AGENTS.md").read_text()
    told = re.search(r"Exit codes: (.*?)\. Do not", short, re.DOTALL)[1]
    assert set(re.findall(r"(?:^|; )(\d+) ", " ".join(told.split()))) == CODES


def test_keys_of_the_guide_are_those_of_the_reference():
    known = (DOCS / "json.md").read_text()
    for path in re.findall(r"`([^`]+)`", column(2)):
        for key in re.split(r"(?:\[\])?\.", path.removesuffix("[]")):
            assert f"`{key}`" in known, path


def holds(shown, found, where=""):
    """Check that shown keys, first elements and rounded numbers are found."""
    if isinstance(shown, dict):
        for key, value in shown.items():
            holds(value, found[key], f"{where}.{key}")
    elif isinstance(shown, list):
        for i, value in enumerate(shown):
            holds(value, found[i], f"{where}[{i}]")
    elif isinstance(shown, float):
        assert found == pytest.approx(shown, abs=5.1e-5), where
    else:
        assert found == shown, where


def test_the_json_of_the_guide_is_what_the_commands_print(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    printed, compared = "", 0
    for _, kind, code in FENCE.findall(GUIDE.read_text()):
        if kind == "json":
            holds(json.loads(code), json.loads(printed))
            compared += 1
        for line in code.splitlines() if kind == "sh" else []:
            words = shlex.split(line)
            if words[0] == "printf":
                (tmp_path / words[3]).write_text(words[1].replace("\\n", "\n"))
                continue
            assert run(words[1:]) == (4 if words[1] == "gate" else 0)
            printed = capsys.readouterr().out
    assert compared == 3


def test_lists_for_agents_have_every_page(llms, tmp_path):
    llms.write(tmp_path)
    index, full = ((tmp_path / name).read_text() for name in ("llms.txt", "llms-full.txt"))
    assert index.startswith("# steadyrank\n\n> ")
    assert "(agents.html): For programs" in index
    pages = [page for page in PAGES if DOCS in page.parents]
    names = re.findall(r"^<!-- (\S+\.md) -->$", full, re.MULTILINE)
    assert sorted(names) == sorted(page.relative_to(DOCS).as_posix() for page in pages)
    assert "{toctree}" not in full
    assert all(f"{command} " in full for command in commands())
    for target in re.findall(r"\]\((\S+)\.html\)", index):
        assert (DOCS / f"{target}.md").exists(), target
