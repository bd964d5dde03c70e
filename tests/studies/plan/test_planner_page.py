"""`planner_page` and `plan --page`: one file, whole or not at all, with the plan's own numbers."""

from __future__ import annotations

import json
import re
import shlex

import pytest

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.errors import InputError


def data_of(text: str) -> dict:
    return json.loads(re.search(r'id="page-data">(.*?)</script>', text, re.S)[1])


def test_a_page_without_data(tmp_path, capsys):
    page = tmp_path / "planner.html"
    assert run(["plan", "--page", str(page)]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == (f"The page: {page}\n", "")
    text = page.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "Content-Security-Policy" in text
    assert "unsafe" not in text
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert page.stat().st_size < 700_000
    assert (
        page.read_bytes()
        == sr.planner_page(
            out=tmp_path / "again.html", command="steadyrank plan --page planner.html"
        ).read_bytes()
    )


def test_a_page_of_a_plan_opens_with_it_and_can_be_made_again(tmp_path, capsys):
    page = tmp_path / "planner.html"
    asked = "plan --variance 0.114 --minimum-difference 0.15 --systems 10 --topics 77"
    assert run([*shlex.split(asked), "--page", str(page)]) == 0
    assert "0.114" in capsys.readouterr().out
    text = page.read_text("utf-8")
    power = sr.plan(variance=0.114, minimum_difference=0.15, systems=10, n_topics=77).plans[0].power
    assert f'<td class="n" data-v="{100 * power:.1f}">{100 * power:.1f}%</td>' in text
    assert "one-way ANOVA of 10 systems" in text
    command = re.search(r"<code>(steadyrank plan .*?)</code>", text)[1]
    again = shlex.split(command)[1:]
    again[again.index("--page") + 1] = str(tmp_path / "again.html")
    assert run([*again, "--quiet"]) == 0
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_budgets_stand_in_the_fields(tmp_path):
    result = sr.plan(
        variance=0.04,
        method="ttest",
        minimum_difference=0.1,
        documents_per_topic=80,
        minutes_per_document=1.5,
    )
    text = sr.planner_page(result, out=tmp_path / "a.html").read_text("utf-8")
    assert 'data-key="documents" min="0" step="1" value="80"' in text
    assert 'data-key="minutes" min="0" step="0.1" value="1.5"' in text


@pytest.mark.parametrize("method", ["anova", "interval", "ttest"])
def test_every_method_has_a_page(tmp_path, method):
    text = sr.planner_page(out=tmp_path / "a.html", method=method, n_topics=33).read_text("utf-8")
    slider = data_of(text)["sliders"]["plan-slider"]
    assert 33 in slider["values"]
    keys = [readout["key"] for readout in slider["readouts"]]
    assert ("width" in keys) == (method != "anova")


def test_names_of_measures_are_escaped(tmp_path):
    result = sr.plan(variance={"</script><b>": 0.1}, minimum_difference=0.1, systems=3)
    text = sr.planner_page(result, out=tmp_path / "a.html").read_text("utf-8")
    assert "</script><b>" not in text


def test_what_cannot_be_is_refused_and_leaves_the_file(tmp_path, capsys):
    page = tmp_path / "planner.html"
    page.write_text("before")
    for wrong, what in [
        (["--comparisons", "3"], "--comparisons"),
        (["--width", "0.1"], "--width"),
        (["--pool-depth", "10"], "--pool-depth"),
        (["--documents-per-topic", "AP=10"], "--documents-per-topic"),
        (["--alpha", "2"], "alpha"),
        (["--systems", "1"], "systems"),
        (["--cluster-from", "(.)"], "--cluster-from"),
        (["--minutes-per-document", "0"], "minutes per document"),
        (["--format", "json"], "--format"),
        (["--plot", str(tmp_path / "plan.svg")], "--plot"),
        (["-o", str(page), "--variance", "0.1", "--topics", "50", "--systems", "3"], "two files"),
    ]:
        assert run(["plan", "--page", str(page), *wrong]) == 2
        assert what in capsys.readouterr().err
    assert run(["plan", "--page", str(tmp_path / "none" / "planner.html")]) == 2
    assert page.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["planner.html"]
    with pytest.raises(InputError, match="this is a folder"):
        sr.planner_page(out=tmp_path)
