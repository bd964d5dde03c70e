"""What `compare` says and shows: each finding once, the same tables in print and in a notebook."""

from __future__ import annotations

import json

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.studies.compare.view import VIEW, compare_text


def scores_of(n_runs=5, gap=0.02, seed=1, missing=0, binary=False, measures=("AP",)):
    rng = np.random.default_rng(seed)
    shape = (len(measures), n_runs, 40)
    values = 0.4 + gap * np.arange(n_runs)[:, None] + rng.normal(0, 0.08, shape)
    if binary:
        values = (values > 0.45).astype(float)
    values[:, 0, :missing] = np.nan
    runs = [f"run{r}" for r in range(n_runs)]
    return sr.Scores(measures=measures, runs=runs, topics=range(40), values=values)


CASES = {
    "pairs": (scores_of(), {}),
    "baseline": (scores_of(), {"baseline": "run1"}),
    "gaps": (scores_of(missing=7), {}),
    "shares": (scores_of(binary=True), {}),
    "holm": (scores_of(), {"correction": "holm"}),
    "uncorrected": (scores_of(), {"correction": "none"}),
    "two": (scores_of(2), {}),
    "many": (scores_of(14), {}),
    "several": (scores_of(measures=("AP", "RR")), {}),
    "segments": (scores_of().with_topic_info(kind=["x", "y"] * 20), {"by": "kind"}),
}


@pytest.mark.parametrize("case", CASES)
def test_findings_are_short_and_said_once(case):
    scores, options = CASES[case]
    result = sr.compare(scores, n_samples=300, **options)
    found = json.loads(compare_text(result, "json"))["findings"]
    ids = [finding["id"] for finding in found]
    assert len(set(ids)) == len(ids)
    assert "compare.significant" in ids
    assert ("compare.verdict" in ids) == ("baseline" not in options)
    assert all(len(finding["text"]) <= 110 for finding in found)
    text = str(result)
    for finding in found[:3]:
        assert text.count(finding["text"]) == 1
    # Captions stand between tables: two lines at 100 columns, the table of a paper aside.
    captions = [line for line in text.split("\n") if line[:1] not in ("", " ")][len(found[:3]) :]
    assert case == "several" or max(map(len, captions)) <= 200


def test_values_are_those_of_the_result():
    result = sr.compare(CASES["baseline"][0], baseline="run1")
    found = {finding.id: finding.values for finding in VIEW.findings([result])}
    ahead = result.difference[result.significant] > 0
    assert found["compare.significant"] == {
        "n_significant": int(result.significant.sum()),
        "n_pairs": 4,
        "n_uncorrected": int((result.pvalue <= 0.05).sum()),
        "n_better": int(ahead.sum()),
        "n_worse": int((~ahead).sum()),
    }
    known = found["compare.detectable"]
    assert known["difference"] == pytest.approx(np.sqrt(np.mean(result.smallest_difference**2)))
    assert known["largest_missed"] == np.abs(result.difference[~result.significant]).max()
    result = sr.compare(CASES["baseline"][0])
    found = {finding.id: finding.values for finding in VIEW.findings([result])}
    firsts = [run for run, first in zip(result.runs, result.could_be_first, strict=True) if first]
    assert sorted(found["compare.verdict"]["runs"]) == sorted(firsts)


@pytest.mark.parametrize("case", ["pairs", "baseline", "shares", "segments"])
def test_a_notebook_shows_what_print_shows(case):
    scores, options = CASES[case]
    result = sr.compare(scores, n_samples=300, **options)
    tables = VIEW.made([result])
    html, text = result._repr_html_(), str(result)
    assert html.count("<table>") == len(tables)
    for table in tables:
        for title in table.header:
            assert f">{title}</th>".replace("−", "&#8722;") in html
            assert title in text
    assert "difference" in html
    assert "95% interval" in html


def test_a_terminal_lists_few_pairs_and_a_page_more():
    result = sr.compare(CASES["many"][0], n_samples=300)
    ids = [table.id for table in VIEW.made([result])]
    assert ids == ["compare-runs"]
    on_page = {table.id: table for table in VIEW.made([result], page=True)}
    assert len(on_page["pairs"].rows) == 91
