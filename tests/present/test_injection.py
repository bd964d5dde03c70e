"""Names that would act: in spreadsheets, pages, papers, terminals. They must only be seen."""

from __future__ import annotations

import csv
import io
import os
import re
import sys

import numpy as np
import pytest
from nasty_page import NASTY

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.data.write import armed, is_formula
from steadyrank.present.table import Table, render, text_rows

NAMES = (
    *NASTY,
    *("a|b", "two\nlines", "\x1b[2J\x1b]0;title\x07", "\x9b31m", "'=x", "''=x", "\uff1d1+1"),
    r"\input{/etc/passwd}",
    r"\write18{ls}",
    *("^^5cinput", "$x$", "50%", "`code`", "[link](x)", "&lt;script&gt;", "~~gone~~", "\udce9"),
    *("=cmd|' /C calc'!A0", "-1+1", "+", "-"),
)
HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\ud800-\udfff]")


def nasty_table() -> Table:
    rows = text_rows([name, name, "-0.5"] for name in NAMES)
    return Table(header=["run", "=header", "AP"], rows=rows, caption=" ".join(NAMES), n_names=2)


def test_csv_has_no_formula_and_every_name():
    text = render(nasty_table(), "csv")
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["run", "'=header", "AP"]
    assert [armed(row[0]) for row in rows] == list(NAMES)
    for row in rows:
        assert row[0][0] not in "=+-@\t\r\n\uff1d" or row[0] in ("-2", "-", "+")
        assert row[2] == "-0.5"


@pytest.mark.parametrize("name", [*NAMES, "-1", "+1.5e3", "-inf", "a=1", "'", "''", "'a"])
def test_an_apostrophe_is_put_and_taken_off_exactly(name):
    from steadyrank.data.write import defused

    assert armed(defused(name)) == name
    assert not is_formula(defused(name))


def test_markdown_cells_stay_cells_and_hold_no_html():
    lines = render(nasty_table(), "markdown").split("\n")
    rows, (blank, caption, end) = lines[:-3], lines[-3:]
    assert len(rows) == len(NAMES) + 2
    assert (blank, end) == ("", "")
    for line in rows:
        assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 4
    for line in [*rows, caption]:
        bare = re.sub(r"\\[\\|`*_<>\[\]&~$]", "", line)
        assert not re.search(r"[<>`*\[\]&~$\\]", bare)
        assert not HIDDEN.search(line)


LATEX = re.compile(
    r"\\textbackslash\{\}|\\textasciitilde\{\}|\\textasciicircum\{\}|\\textless\{\}"
    r"|\\textbar\{\}|\\ldots\{\}|\\textgreater\{\}|\\[&%$#_{}]|\$\\times\$|\$-\$|\$\\pm\$|\$\^\\d?dagger\$"
)


def test_latex_commands_are_the_tables_own():
    text = render(nasty_table(), "latex")
    assert not HIDDEN.search(text)
    body = text.split("\\midrule\n")[1].split("\n\\bottomrule")[0].split("\n")
    assert len(body) == len(NAMES)
    for line in body:
        assert line.endswith(r" \\")
        row = line.removesuffix(r" \\").removeprefix("{}")
        left = LATEX.sub("", row).replace("-{}-", "--")
        assert left.count("&") == 2
        assert not re.search(r"[\\%$#_{}~^]", left)
    caption = re.search(r"\\caption\{(.*)\}\n", text)
    assert not re.search(r"[\\%$#_{}~^&]", LATEX.sub("", caption[1]).replace("-{}-", "--"))


@pytest.mark.parametrize("colour", [False, True])
def test_terminals_are_only_coloured(colour):
    table = nasty_table()
    text = render(
        Table(header=table.header, rows=table.rows, best=frozenset({(0, 2)})),
        "table",
        colour=colour,
    )
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text) if colour else text
    assert not HIDDEN.search(plain)
    assert plain.count("\n") == len(NAMES) + 2
    assert r"\x1b[2J\x1b]0;title\x07" in plain
    assert r"\xe9" in plain
    assert not HIDDEN.search(render(table, "table"))


BOLD_OR_UNDERLINED = re.compile(r"\x1b\[(?:[014]|1;4)m")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def evil_scores(folder):
    cube = sr.Scores(
        measures=("AP",),
        runs=("\x1b[2Ja\x1b[8m", "=b", "c\nd"),
        topics=("1", "=2", "3"),
        values=np.array([[[0.1, 0.2, 0.4], [0.5, 0.1, 0.9], [0.3, 0.3, 0.2]]]),
    )
    sr.write_scores(cube, folder / "scores.csv")
    return folder / "scores.csv"


@pytest.mark.parametrize("form", ["table", "csv", "markdown", "latex"])
@pytest.mark.parametrize("command", ["compare", "compare --describe", "topics", "stability"])
def test_what_reaches_a_terminal_cannot_act(tmp_path, monkeypatch, command, form):
    if "--describe" in command and form == "csv":
        return
    out, err = Terminal(), Terminal()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert run([*command.split(), "--scores", str(evil_scores(tmp_path)), "--format", form]) == 0
    for text in (out.getvalue(), err.getvalue()):
        assert not HIDDEN.search(BOLD_OR_UNDERLINED.sub("", text))


@pytest.mark.parametrize("form", ["table", "line", "markdown"])
@pytest.mark.parametrize("is_terminal", [False, True])
def test_no_name_makes_a_verdict_or_colours_one(tmp_path, monkeypatch, is_terminal, form):
    monkeypatch.chdir(tmp_path)
    topic = "q\nverdict=pass\n## x Gate: pass\n\x1b[8m"
    names = [topic, "\x1b[31m2", *map(str, range(20))]
    for run_name, scores in (("old\x1b[8m", 0.9), ("new\n", 0.1)):
        values = np.full(len(names), scores) + np.arange(len(names)) % 3 / 100
        values[0] = 1.0 - scores
        cube = sr.Scores(measures=["AP"], runs=[run_name], topics=names, values=[[values]])
        sr.write_scores(cube, f"{run_name[:3]}.csv")
    out = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    assert run(["gate", "new.csv", "old.csv", "--format", form, "--margin", "0.5"]) == 0
    text = BOLD_OR_UNDERLINED.sub("", out.getvalue()) if is_terminal else out.getvalue()
    assert not HIDDEN.search(text)
    lines = text.splitlines()
    assert len(lines) == 1 or form != "line"
    assert not any(line.startswith(("verdict", "## ")) for line in lines)
    assert "verdict=pass" in text or form == "table"


@pytest.mark.parametrize("wide", [False, True])
def test_scores_printed_are_read_back(tmp_path, capsys, write, wide):
    qrels = write("qrels", "-1 0 d1 1\n=2 0 d1 1\n3 0 d2 1\n")
    for tag in ("=x", "'=x", "-1", "+y"):
        write(
            f"runs/{ord(tag[0])}{len(tag)}",
            "".join(f"{t} Q0 d1 1 1 {tag}\n" for t in ("-1", "=2", "3")),
        )
    words = ["evaluate", str(qrels), str(tmp_path / "runs"), "-m", "AP", "--format", "csv"]
    assert run([*words, *(["--wide"] if wide else [])]) == 0
    printed = write("scores.csv", capsys.readouterr().out)
    for row in csv.reader(io.StringIO(printed.read_text())):
        assert not any(is_formula(cell) for cell in row)
    scores = sr.read_scores(printed, measure="AP")
    assert set(scores.runs) == {"=x", "'=x", "-1", "+y"}
    assert set(scores.topics) == {"-1", "=2", "3"}


def test_foreign_names_with_apostrophes_are_kept_where_a_formula_stands_beside_them(write):
    mixed = write("mixed.csv", "measure,run,topic,value\nAP,=x,1,0.5\nAP,'=x,1,0.25\n")
    assert sr.read_scores(mixed).runs == ("=x", "'=x")
    alone = write("alone.csv", "measure,run,topic,value\nAP,'=x,1,0.5\nAP,'tis,1,0.25\n")
    assert sr.read_scores(alone).runs == ("=x", "'tis")


@pytest.mark.parametrize(
    "name",
    [b"two\nlines", b"esc\x1b[2J", b"not \xe9 utf-8", b"$(ls)", b"-dash", b"=x", b"a b", b"%s{0}"],
)
def test_files_of_any_name_are_read_and_named_in_one_line(tmp_path, capfd, name):
    folder = os.fsencode(tmp_path)
    good, bad = folder + b"/good " + name, folder + b"/bad " + name
    contents = {good: b"1 Q0 d1 1 1 tag\n", bad: b"1 Q0 d1\n", folder + b"/q": b"1 0 d1 1\n"}
    for path, content in contents.items():
        with open(path, "wb") as file:
            file.write(content)
    qrels = os.fsdecode(folder + b"/q")
    assert run(["evaluate", qrels, os.fsdecode(good), "--name-from", "file"]) == 0
    assert run(["evaluate", qrels, os.fsdecode(bad)]) == 2
    out, err = capfd.readouterr()
    assert err.count("\n") == 1
    assert not HIDDEN.search(err + out)
