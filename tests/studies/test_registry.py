"""One folder and one line make a study: page, first screen, JSON, `plot` and `--help` have it."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.reporting.run import report_text
from steadyrank.studies import registry
from steadyrank.studies.plotting import alt_text
from steadyrank.studies.registry import Study

ROOT = Path(__file__).parents[2]

SECTION = """
from dataclasses import dataclass

from steadyrank.present.cells import name, table, whole
from steadyrank.present.page import Tile
from steadyrank.present.view import Finding
from steadyrank.studies.part import Body, Drawing, Front, Part, Samples


@dataclass(frozen=True)
class ToyResult:
    tosses: tuple


def body(result, findings):
    heads = sum(result.tosses)
    n_runs = len(findings.material.scores.runs)
    text = f"{heads} of {len(result.tosses)} coins for {n_runs} runs show heads."
    return Body(
        answer=(Finding("toy.heads", text, {"heads": heads}), Finding("toy.swap", "Again.")),
        figures=(Drawing("toy-bars", "Coins.", result, "bars"),),
        tables=(table("toy-coins", "Heads.", ["coin", "heads"], [[name("all"), whole(heads)]]),),
        notes=("Coins are fair.",),
    )


def front(result, findings):
    return Front(
        swap=Finding("toy.swap", "A coin turns every pair of runs.", {"share": 1.0}),
        cautions=(Finding("toy.edge", "One coin stands on its edge."),),
        tiles=(Tile(id="toy.coins", figure="10", text="coins", values={"coins": 10}),),
    )


def of_two(panel, result, findings):
    panel.add("By coin", "{a} and {b}: {coin}", coin=["heads"] * len(panel.pairs))


PART = Part(
    title="Toys",
    question="Does a coin agree?",
    means="Heads agree.",
    means_not="Coins do not know.",
    body=body,
    run=lambda job: ToyResult(tosses=(1, 0) * (job.n_samples // 2)),
    why_not=lambda material: "" if len(material.scores.runs) > 2 else "two runs need no coin",
    samples=Samples(noun="tosses", fast=2, full=10),
    front=front,
    varies="Other coins",
    examine=lambda material: "--coin",
    of_two=of_two,
)
"""

PLOTS = """
from steadyrank.present.figures import Plot


def draw_bars(result, ax):
    ax.bar([0, 1], [result.tosses.count(0), result.tosses.count(1)])


PLOTS = {
    "ToyResult": {
        "bars": Plot(draw_bars, lambda result: (3.0, 2.0), lambda result: "Bars of coins.")
    }
}
"""

TOY = Study("toy", "would a coin say the same?", folder="toy_study")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The study's folder, and its line in the list."""
    folder = tmp_path / "toy_study"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "view.py").write_text(SECTION)
    (folder / "plots.py").write_text(PLOTS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "STUDIES", (*registry.STUDIES, TOY))
    yield tmp_path
    for module in [name for name in sys.modules if name.startswith("toy_study")]:
        del sys.modules[module]


def scores_of(n_runs):
    values = np.random.default_rng(0).random((1, n_runs, 20))
    return sr.Scores(
        measures=["AP"], runs=[f"r{i}" for i in range(n_runs)], topics=range(20), values=values
    )


def test_a_study_is_a_folder_and_a_line_on_the_page(toy, tmp_path, drawn_only):
    drawn_only("toy")
    result = sr.report(scores=scores_of(3), out=tmp_path / "r.html", budget="1m")
    assert list(result.results)[-1] == "toy"
    assert result.n_samples["toy"] == 10
    places = [section.id for section in result.page.sections]
    assert places[-3:] == ["judges", "toy", "check"]
    section = result.page.sections[places.index("toy")]
    assert section.answer == ("5 of 10 coins for 3 runs show heads.",), "what was said is left out"
    assert section.means == "Heads agree. Coins are fair."
    assert [figure.alt for figure in section.figures] == ["Bars of coins."]
    first = result.page.first
    bar = first.bars[0]
    assert (bar.about, bar.share, bar.link) == ("Other coins", 1.0, "toy")
    assert (first.tiles[-1].text, first.cautions) == ("coins", ("One coin stands on its edge.",))
    assert first.verdict.startswith("r"), "who has no verdict leaves it to others"
    assert result.page.pairs.text("{coin}", 0, 1) == "heads"
    page = (tmp_path / "r.html").read_text("utf-8")
    for text in ("Does a coin agree?", "10 tosses", '<a href="#toy">Other coins</a>'):
        assert text in page
    told = json.loads(report_text(result, "json"))
    own = {one["id"]: one for one in told["findings"] if one["id"].startswith("toy.")}
    assert list(own) == ["toy.edge", "toy.swap", "toy.coins", "toy.heads"]
    assert own["toy.swap"]["values"] == {"share": 1.0}
    assert "Pairs of runs that swap: other coins 100%" in report_text(result, "table")


def test_it_says_why_not(toy, tmp_path, drawn_nowhere):
    result = sr.report(scores=scores_of(2), out=tmp_path / "r.html", n_samples=2)
    assert result.left_out["toy"] == "two runs need no coin"
    assert "other coins (--coin)" in result.page.first.not_examined
    assert result.page.first.bars_note == "probability that the two swap"
    assert "two runs need no coin" in (tmp_path / "r.html").read_text("utf-8")


def test_it_is_drawn(toy):
    result = importlib.import_module("toy_study.view").ToyResult(tosses=(1, 0, 0))
    (ax,) = sr.plot(result).axes
    assert [bar.get_height() for bar in ax.patches] == [2, 1]
    assert alt_text(result) == "Bars of coins."
    with pytest.raises(sr.InputError, match="'bars'"):
        sr.plot(result, kind="bras")


def test_the_command_line_lists_it_without_importing_it(toy):
    """In a process of its own: the list of commands is made as the command starts."""
    program = (
        "import sys; from steadyrank.studies import registry; "
        "registry.STUDIES += (registry.Study('toy', 'would a coin say the same?', "
        "folder='toy_study'),); from steadyrank.cli import run; run(['--help']); "
        "loaded = [name for name in sys.modules if name.startswith(('toy_study', 'numpy'))]; "
        "print('loaded', loaded)"
    )
    path = os.pathsep.join([str(toy), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert "toy         would a coin say the same?" in done.stdout
    assert "loaded []" in done.stdout


@pytest.mark.parametrize("study", registry.studies_by_place(), ids=lambda study: study.name)
def test_every_study_describes_its_part(study):
    part = study.part
    for words in (study.question, part.title, part.question, part.means, part.means_not):
        assert words
    assert part.question.endswith("?")
    assert bool(part.varies) <= (study.turn != registry.LAST), "what has a bar has its turn"
    for kinds in study.plots.values():
        assert kinds


def test_every_folder_is_in_the_list_and_in_the_contract():
    studies = ROOT / "src" / "steadyrank" / "studies"
    folders = {path.parent.name for path in studies.glob("*/__init__.py")}
    homes = {study.home.rpartition(".")[2] for study in registry.STUDIES}
    assert homes == folders
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (independent,) = (c for c in contracts["contracts"] if c["type"] == "independence")
    assert {name.rpartition(".")[2] for name in independent["modules"]} == folders
