"""The pictures of case studies are those of their code, and their commands work."""

from __future__ import annotations

import importlib.util
import re
import shlex
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import steadyrank as sr
from steadyrank.cli import run

DOCS = Path(__file__).parents[2] / "docs"
SAMPLES = {
    "compare": ["--samples", "50"],
    "simulate": ["--samples", "50"],
    "topics": ["--trials", "50"],
    "agree": ["--samples", "20"],
    "pools": ["--trials", "2"],
    "instances": ["--samples", "50", "--samples-per-instance", "10", "--no-posterior"],
}
"""Options that make commands fast."""


def load_cases():
    spec = importlib.util.spec_from_file_location("make_cases", DOCS / "make_cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cases = load_cases()
STUDIES = [page for page in cases.PAGES if page.stem != "index"]
NAMES = [page.stem for page in STUDIES]


def test_every_picture_is_there_and_shown_once():
    shown = [path for page in cases.PAGES for path in cases.pictures(page.read_text("utf-8"))]
    links = [
        link
        for page in cases.PAGES
        for link in re.findall(r"!\[.*\]\((.*)\)", page.read_text("utf-8"))
    ]
    assert links == [f"../{path}" for path in shown], "a picture that the script does not see"
    kept = [f"images/cases/{path.name}" for path in (DOCS / "images" / "cases").iterdir()]
    assert sorted(shown) == sorted(kept), "run: python docs/make_cases.py"
    for page in STUDIES:
        assert cases.pictures(page.read_text("utf-8")), page.name


def test_pictures_are_small_and_say_what_the_page_says():
    for page in STUDIES:
        for path, alt in cases.pictures(page.read_text("utf-8")).items():
            drawing = ElementTree.parse(DOCS / path).getroot()
            assert drawing.get("aria-label") == alt, "run: python docs/make_cases.py"
            assert (DOCS / path).stat().st_size < 50_000, path


def test_the_pictures_of_a_study_are_drawn_again(tmp_path):
    page = DOCS / "cases" / "reranker.md"
    made = cases.make(page, tmp_path)
    shown = cases.pictures(page.read_text("utf-8"))
    assert [path.relative_to(tmp_path).as_posix() for path in made] == list(shown)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a small track, and runs with the names of the page on seeds."""
    made = tmp_path_factory.mktemp("cases")
    sizes = {"n_topics": 25, "depth": 100, "pool_depth": 15}
    sr.simulated_track(n_teams=4, runs_per_team=2, **sizes).write(made / "task")
    track = sr.simulated_track(n_teams=3, runs_per_team=1, n_instances=3, **sizes)
    systems = {"team1-s1": "bm25", "team2-s1": "large", "team3-s1": "small"}
    (made / "seeds" / "runs").mkdir(parents=True)
    sr.write_qrels(track.complete, made / "seeds" / "qrels.txt")
    for each in track.runs:
        system, seed = systems[each.info["system"]], each.name[-1]
        if system != "bm25" or seed == "1":
            name = system if system == "bm25" else f"{system}-seed{seed}"
            sr.write_run(each.rename(name), made / "seeds" / "runs" / f"{name}.run")
    return made


@pytest.mark.parametrize("page", STUDIES, ids=NAMES)
def test_commands_of_a_study_work(page, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder / ("seeds" if page.stem == "reranker" else "task"))
    tried = page.read_text("utf-8").split("\n## Try it on your own data\n")[1]
    lines = re.findall(r"^steadyrank (.*)$", tried, re.MULTILINE)
    assert len(lines) >= 5
    for line in lines:
        name, *words = shlex.split(line, comments=True)
        code = run([name, *words, *SAMPLES.get(name, []), "--quiet"])
        assert code == 0, (line, capsys.readouterr().err)
        printed = capsys.readouterr().out
        assert printed or "-o" in words, line
