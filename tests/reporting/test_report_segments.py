"""Clusters and segments of the topics on the page of a report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steadyrank as sr

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
