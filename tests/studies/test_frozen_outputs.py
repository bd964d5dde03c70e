"""What every study command prints: keys and headers stay, texts are brief, numbers read well.

JSON may gain keys, CSV none. `STEADYRANK_FREEZE=1 pytest -n0 tests/studies/test_frozen_outputs.py`
writes the kept file anew, for a change that is meant.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from test_coverage import SHOWN, data  # noqa: F401 a fixture

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.present.view import View

KEPT = Path(__file__).parents[1] / "golden" / "outputs.json"

COLUMNS = 100
MOST_BEFORE, MOST_BELOW = 3, 2
LONGEST = 130
"""Characters of a finding: some 110, and a name or two."""

NOUNS = (
    "topics|runs|systems|pairs|comparisons|splits|samples|trials|teams|measures|instances|levels"
)
ODD_NUMBERS = re.compile(
    rf"(?<![\d,.–-])1 ({NOUNS})\b|\b\d{{4,}} (?:simulated |judged )?({NOUNS}|collections)\b"
    r"|\d{1,3}(,\d{3}){2,}|\bp (= |, )?0\.0000\b"
)
"""One of many, no separator, absurd sizes, and p-values of 0."""


def keys_of(value, path=""):
    """Paths of all keys, whatever stands in lists counting once."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}.{key}"
            yield from keys_of(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from keys_of(item, f"{path}[]")


def printed(capsys, arguments, *more):
    capsys.readouterr()
    assert run([*arguments, *more, "--quiet"]) == 0
    return capsys.readouterr().out


def lines_of(text):
    """Lines of a terminal of a hundred columns."""
    return sum(-(-len(line) // COLUMNS) or 1 for line in text.split("\n"))


def twins(view, subject):
    """Pairs of tables, on a page or in a terminal, of which the first adds nothing."""
    for page in (True, False):
        cells = {
            table.id: [{cell.text for cell in row} - {"–", ""} for row in table.rows]
            for table in view.made(subject, page=page)
        }
        for one, rows in cells.items():
            for other, beside in cells.items():
                if one != other and all(any(row <= each for each in beside) for row in rows):
                    yield one, other


@pytest.mark.parametrize("place", range(len(SHOWN)), ids=lambda k: f"{k}-{SHOWN[k][0]}")
def test_keys_are_as_kept_and_text_is_brief(place, data, capsys, monkeypatch):  # noqa: F811
    arguments = [part.format(data=data) for part in SHOWN[place]]
    shown, as_json = [], View.json

    def kept_json(view, subject, **options):
        shown.append((view, subject))
        return as_json(view, subject, **options)

    monkeypatch.setattr(View, "json", kept_json)
    told = json.loads(printed(capsys, arguments, "--json"))
    has_csv = "--audit" not in arguments
    found = {
        "json": sorted(set(keys_of(told))),
        "csv": printed(capsys, arguments, "--csv").partition("\n")[0] if has_csv else None,
    }
    name = f"{place} {' '.join(SHOWN[place])}"
    kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    if os.environ.get("STEADYRANK_FREEZE"):
        kept[name] = found
        KEPT.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    assert not set(kept[name]["json"]) - set(found["json"]), "keys that other programs read"
    assert found["csv"] == kept[name]["csv"]
    assert [pair for view, subject in shown for pair in twins(view, subject)] == []
    if place:
        assert_brief(SHOWN[place], told.get("findings", []), printed(capsys, arguments))


def assert_brief(line, findings, shown):
    """Three lines before a table, two below it, each thing once."""
    parts = re.split(r"\n\n+", shown.strip("\n"))
    is_table = ["──" in part for part in parts]
    before = parts[: is_table.index(True)]
    assert sum(part.count("\n") + 1 for part in before) <= MOST_BEFORE
    is_paper = line[0] == "compare" and "--samples" in line  # a paper's table, with its caption
    for part, table in zip(parts, is_table, strict=True):
        if not table and part not in before and not is_paper:
            assert lines_of(part) <= MOST_BELOW, part
    assert ODD_NUMBERS.search(shown) is None
    studies = ("audit.", "compare.") if "--audit" in line else (f"{line[0]}.",)
    ids, texts = ([one[key] for one in findings] for key in ("id", "text"))
    assert all(id.startswith(studies) for id in ids)
    assert len(set(ids)) == len(ids)
    assert len(set(texts)) == len(texts)
    assert max(map(len, texts), default=0) <= LONGEST
    assert all(shown.count(text) <= 1 for text in texts)


@pytest.mark.parametrize("name", ["compare", "instances", "judges", "datasets", "plan"])
def test_a_paragraph_for_a_paper_ends_every_text(name, data, capsys):  # noqa: F811
    line = next(line for line in SHOWN if line[0] == name)
    arguments = [*(part.format(data=data) for part in line), "--describe"]
    paragraph = json.loads(printed(capsys, arguments, "--json"))["description"]
    assert paragraph.endswith(f" [steadyrank {sr.__version__}]")
    assert 100 < len(paragraph) < 1200
    for form in ("table", "markdown"):
        text = printed(capsys, arguments, "--format", form)
        assert text.rstrip().endswith(f"[steadyrank {sr.__version__}]")
    assert run([*arguments, "--csv"]) == 2
    assert "--describe has no place in CSV" in capsys.readouterr().err


def test_a_paragraph_says_what_was_found(data):  # noqa: F811
    scores = sr.evaluate(data / "runs", data / "qrels.txt", "AP")
    result = sr.compare(scores)
    said = result.describe()
    assert f"{len(result.runs)} runs by mean AP on {result.n_topics} topics" in said
    assert f"has the highest mean AP ({result.mean.max():.4f})" in said
    assert "Mogstad" in said
    with pytest.raises(sr.InputError, match="no paragraph for a paper"):
        sr.stability(scores).describe()
