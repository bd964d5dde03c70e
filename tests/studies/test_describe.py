"""A paragraph for a paper: what was compared and how, what was found, and nothing else."""

from __future__ import annotations

import json

import pytest
from test_coverage import SHOWN, data  # noqa: F401 a fixture

import steadyrank as sr
from steadyrank.cli import run

DESCRIBED = ("compare", "instances", "judges", "datasets", "plan")
LINES = {name: next(line for line in SHOWN if line[0] == name) for name in DESCRIBED}


def printed(capsys, *arguments):
    capsys.readouterr()
    assert run([*arguments, "--quiet"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_paragraph_ends_every_text(name, data, capsys):  # noqa: F811
    arguments = [part.format(data=data) for part in LINES[name]]
    shown = json.loads(printed(capsys, *arguments, "--describe", "--format", "json"))
    paragraph = shown["description"]
    assert paragraph.endswith(f" [steadyrank {sr.__version__}]")
    assert 100 < len(paragraph) < 1200
    for form in ("table", "markdown"):
        text = printed(capsys, *arguments, "--describe", "--format", form)
        assert text.rstrip().endswith(f"[steadyrank {sr.__version__}]")
        assert text.startswith(printed(capsys, *arguments, "--format", form).rstrip("\n"))
    assert "description" not in json.loads(printed(capsys, *arguments, "--format", "json"))
    assert run([*arguments, "--describe", "--format", "csv"]) == 2
    assert "--describe has no place in CSV" in capsys.readouterr().err


def test_a_paragraph_says_what_was_found(data):  # noqa: F811
    scores = sr.evaluate(data / "runs", data / "qrels.txt", "AP")
    result = sr.compare(scores)
    said = result.describe()
    n = int(result.significant.sum())
    assert f"{len(result.runs)} runs by mean AP on {result.n_topics} topics" in said
    assert (f"{n} of {len(result.pairs)} pairs" if n else "None of the") in said
    assert f"has the highest mean AP ({result.mean.max():.4f})" in said
    assert "Mogstad" in said
    assert "Holm, 1979" in sr.compare(scores, correction="holm").describe()
    with pytest.raises(sr.InputError, match="no paragraph for a paper"):
        sr.stability(scores).describe()
