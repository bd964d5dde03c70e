"""One question on a page has one number of topics, wherever it stands."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.stats.planning.needed_topics import MOST_SHOWN
from steadyrank.studies.topics.study import needed_figure


def leaderboard(lead, n_runs=18, n_topics=50):
    """Runs of which the first leads the second by `lead` and the rest by far; exact means."""
    rng = np.random.default_rng(2)
    noise = rng.normal(0.0, 0.07, (n_runs, n_topics))
    means = np.concatenate([[0.6, 0.6 - lead], np.linspace(0.3, 0.2, n_runs - 2)])
    values = means[:, None] + noise - noise.mean(axis=1, keepdims=True)
    return sr.Scores(
        measures=("AP",),
        runs=[f"r{place:02d}" for place in range(n_runs)],
        topics=[f"t{topic}" for topic in range(n_topics)],
        values=values[None],
    )


def embedded(path):
    """The rows of every table that the page embeds: {table: {(first, second name): cells}}."""
    text = path.read_text("utf-8")
    data = json.loads(html.unescape(re.search(r'id="page-data">(.*?)</script>', text, re.S)[1]))
    return {
        name: [re.sub(r" *\\\\\s*$", "", row).split(" & ") for row in table["latex"]["rows"]]
        for name, table in data["tables"].items()
    }


@pytest.mark.parametrize("lead", [0.001, 0.035])
def test_every_number_of_topics_for_the_leader_and_its_rival_is_the_same(
    lead, tmp_path, drawn_nowhere
):
    result = sr.report(
        scores=leaderboard(lead), out=tmp_path / "page.html", n_samples=20, budget="5m"
    )
    topics, compared = result.results["topics"], result.results["compare"][0]
    assert not compared.significant[0]
    (row,) = topics.told([topics.pair(0, 1)])
    assert topics.comparisons == len(compared.pairs) == 153
    tables = embedded(result.path)
    assert tables["topic-neighbours"][0][-1] == needed_figure(row)
    tiles = [tile.figure for tile in result.page.first.tiles if tile.id == "topics.needed"]
    is_reachable = row["topics_assured"] < MOST_SHOWN
    assert is_reachable == (lead == 0.035)
    assert tiles == [needed_figure(row)] * is_reachable, "nobody will make a million topics"
    assert row["topics_assured"] > 50, "never the lower end of an interval"
    assert (row["topics_needed"] is None) == (lead == 0.001), "with an interval, or a bound alone"


def test_every_number_of_topics_for_a_difference_that_matters_is_the_same(tmp_path, drawn_nowhere):
    result = sr.report(
        scores=leaderboard(0.01), out=tmp_path / "page.html", n_samples=20, budget="5m"
    )
    (plan,) = result.results["plan"].plans
    assert result.results["plan"].demands.comparisons == 153
    assert plan.is_by_differences
    low, high = plan.topics_interval
    (cells,) = embedded(result.path)["plan-measures"]
    section = next(section for section in result.page.sections if section.id == "plan")
    (table,) = [table for table in section.tables if table.id == "plan-measures"]
    shown = dict(zip(table.header, cells, strict=True))
    assert shown["topics"] == f"{plan.topics:,}"
    assert shown["95% interval (topics)"] == f"[{low:,}, {high:,}]"
    (said,) = [line for line in section.answer if "for 0.05 in AP" in line]
    assert said.startswith(
        f"{plan.topics_assured:,} topics will do with 80% assurance ({plan.topics:,}"
    )
    assert "power 0.8 over 153 comparisons" in said
    assert shown["topics (80% assurance)"] == f"{plan.topics_assured:,}"


def test_teams_left_out_do_not_answer_it_by_another_variance(tmp_path, drawn_nowhere):
    track = sr.simulated_track(n_teams=4, runs_per_team=2, n_topics=20, depth=40, pool_depth=20)
    folder = tmp_path / "track"
    folder.mkdir()
    track.write(folder)
    result = sr.report(
        [folder / "runs"],
        folder / "qrels.txt",
        out=tmp_path / "page.html",
        n_samples=20,
        run_info=folder / "run-info.csv",
    )
    assert all(cell.topics_needed is None for cell in result.results["pools"].leave_out)
    section = next(section for section in result.page.sections if section.id == "pools")
    assert not any("requires" in line or "asks for" in line for line in section.answer)
    (table,) = [table for table in section.tables if table.id == "leave-teams-out"]
    assert "topics" not in table.header
    assert "interval" not in table.header
