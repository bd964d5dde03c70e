"""The paper cites what its bibliography has, and its figures and numbers are the project's own."""

from __future__ import annotations

import re

import pytest

from tests.docs.test_documentation import ROOT, script

PAPER = ROOT / "paper"
TEXT = (PAPER / "paper.md").read_text("utf-8")
ENTRIES = dict(
    re.findall(r"^@\w+\{(\w+),\n(.*?)^\}", (PAPER / "paper.bib").read_text("utf-8"), re.M | re.S)
)
TOOLS = {"vangysel2018", "macavaney2022", "bassani2022", "macdonald2021", "muennighoff2023"}
"""Papers about other programs; the others are behind the code, which names them."""


@pytest.fixture(scope="module")
def figures():
    return script(PAPER / "make_figures.py")


def test_every_citation_resolves_and_every_entry_is_cited():
    cited = set(re.findall(r"@(\w+)", TEXT.split("---\n", 2)[2]))
    assert cited == set(ENTRIES)
    for key, fields in ENTRIES.items():
        found = dict(re.findall(r"^  (\w+) = \{(.*)\}", fields, re.MULTILINE))
        assert {"author", "title", "year"} <= set(found), key
        assert key.endswith(found["year"]), key


def test_references_are_those_of_the_code():
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md")]
    written = "\n".join(path.read_text("utf-8") for path in sources)
    for key, fields in ENTRIES.items():
        known = re.search(r"(?:doi|eprint) = \{(.+)\}", fields)
        if known and key not in TOOLS:
            assert known[1] in written, key


def test_numbers_are_those_of_the_documentation():
    pages = ("levels.md", "coverage.md", "accuracy.md", "howto/leaderboard.md")
    counts = sorted((ROOT / "docs" / "evidence").glob("*.csv"))
    pages = [*(ROOT / "docs" / page for page in pages), *counts]
    documented = "\n".join(page.read_text("utf-8") for page in pages)
    known = set(re.findall(r"(?<!\d)0?(\.\d{2,3})\b", documented))
    evidence = TEXT.split("# Evidence")[1].split("# Limitations")[0]
    numbers = re.findall(r"(?<!\d)\.\d{2,3}\b", evidence)
    assert len(numbers) > 10
    # The ends of a column of three digits are quoted with two.
    known |= {f"{float(number):.2f}".lstrip("0") for number in known}
    assert set(numbers) <= known


def test_figures_are_made_by_the_script(figures, tmp_path):
    figures.make(tmp_path)
    named = re.findall(r"\]\(figures/(\w+)\.png\)", TEXT)
    assert sorted(named) == sorted(figures.FIGURES)
    for name in named:
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
        assert (PAPER / "figures" / f"{name}.png").stat().st_size < 150_000


def test_captions_are_true(figures):
    result, true_rank = figures.simulated()
    assert len(result.runs) == 20
    assert result.n_topics == 50
    low, high = result.rank_set.T
    assert (low <= true_rank).all()
    assert (true_rank <= high).all()
    assert (result.rank != true_rank).any()
    rows = figures.level_rows(figures.LEVELS.read_text("utf-8"))
    assert len(rows) == 45
    real = [rates for name, _, rates in rows if name[0].isupper()]
    assert len(real) == 30
    flips, ours, holm = ([rates[column] for rates in real] for column in range(3))
    assert (min(flips), max(flips), max(ours), min(holm), max(holm)) == (
        0.075, 0.375, 0.115, 0.03, 0.24
    )  # fmt: skip
