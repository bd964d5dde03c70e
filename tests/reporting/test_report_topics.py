"""Topics on the page of a report: one number of them for one question, clusters and segments."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace

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


LONG = "a segment whose name is sixty characters long, number {:>4} ..."


def scores_with(sizes, n_runs=3):
    rng = np.random.default_rng(0)
    n = sum(sizes)
    values = rng.uniform(0.2, 0.7, (1, 1, n)) + rng.normal(0, 0.08, (1, n_runs, n))
    values[0, 1] = values[0, 0] + rng.normal(0, 1e-4, n)  # a near tie
    return sr.Scores(
        measures=["AP"],
        runs=[f"run{r}" for r in range(n_runs)],
        topics=[f"q{t}" for t in range(n)],
        values=values,
    ).with_topic_info(
        kind=np.repeat([LONG.format(s) for s in range(len(sizes))], sizes),
        cluster=[t // 2 for t in range(n)],
        weight=np.arange(1, n + 1),
    )


@pytest.mark.parametrize(
    "sizes", [(12, 12), (20, 1), tuple([3] * 40)], ids=["two", "one topic", "40 segments"]
)
def test_the_page_has_segments_whatever_they_are(sizes, tmp_path, drawn_nowhere):
    page = tmp_path / "r.html"
    with pytest.warns(sr.SteadyrankWarning) as warned:
        result = sr.report(scores=scores_with(sizes), by="kind", out=page, n_samples=50)
    text = page.read_text()
    assert 'id="segment-pairs"' in text
    assert LONG.format(0) in text
    segments = result.results["compare"][0].segments
    assert len(segments.names) == len(sizes)
    notes = [str(warning.message) for warning in warned]
    assert any("weights, which a report does not use" in note for note in notes)
    assert any("clusters: the sections on pairs of runs" in note for note in notes)
    assert result.results["compare"][0].effective_topics is None
    assert result.results["topics"].n_clusters == -(-sum(sizes) // 2)


def test_significant_pairs_are_marked(tmp_path, drawn_nowhere):
    scores = scores_with((12, 12))
    values = scores.values.copy()
    values[0, 2, :12] += 0.3
    scores = replace(scores, values=values)
    page = tmp_path / "r.html"
    with pytest.warns(sr.SteadyrankWarning):
        result = sr.report(scores=scores, by="kind", out=page, n_samples=50)
    significant = [own.significant.sum() for own in result.results["compare"][0].segments.results]
    assert significant == [2, 0]
    table = page.read_text().partition('id="segment-pairs"')[2].partition("</table>")[0]
    assert table.count('<sup class="narrow">*</sup>') == 2


def test_the_page_names_the_file_and_refuses_what_it_does_not_hold(tmp_path, drawn_nowhere):
    scores = scores_with((8, 8))
    info = tmp_path / "topics.csv"
    info.write_text(
        "topic,kind\n" + "".join(f"{t},k{i % 2}\n" for i, t in enumerate(scores.topics))
    )
    plain = sr.Scores(measures=["AP"], runs=scores.runs, topics=scores.topics, values=scores.values)
    page = tmp_path / "r.html"
    sr.report(scores=plain, topic_info=info, by="kind", out=page, n_samples=50)
    assert "topic information" in page.read_text()
    with pytest.raises(sr.UnknownNameError, match="did you mean 'kind'"):
        sr.report(scores=plain, topic_info=info, by="kinds", out=page)
    with pytest.raises(sr.InputError, match="requires information about the topics"):
        sr.report(scores=plain, by="kind", out=page)
