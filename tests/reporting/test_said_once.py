"""A page says each thing once, briefly, and nothing that it says elsewhere otherwise."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest
from report_cases import ALL_CASES, Made

from steadyrank.reporting.run import report_text
from steadyrank.studies.registry import studies_by_place

LONGEST_VERDICT = 80
LONGEST = 110

LONGER = {
    "judges.answer": 130,
    "plan.topics": 130,
    "topics.needed": 115,
    "instances.clearest": 115,
    "simulate.tau": 115,
    "holes.rejected": 120,
}
"""Findings that are longer, and how long: none may join them."""


@pytest.fixture(params=ALL_CASES)
def made(request, reports) -> Made:
    return reports(request.param)


def besides_names(made: Made, text: str) -> str:
    """A text without names of runs, systems, datasets and measures."""
    scores = made.result.results.get("evaluate")
    found = made.result.results.get("datasets")
    names = [] if scores is None else [*scores.runs, *scores.measures]
    names += [] if scores is None else map(str, scores.run_info.get("system", ()))
    names += [] if found is None else [*found.runs, *found.datasets]
    either = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", "", text)


# Each thing once


def test_no_finding_is_twice_on_the_page_or_in_its_json(made):
    ids = Counter(one.id for one in made.result.findings)
    assert [id for id, n in ids.items() if n > 1] == []
    said = json.loads(report_text(made.result, "json"))["findings"]
    assert [one["id"] for one in said] == list(ids)
    assert (
        [one["text"] for one in said]
        == made.result.sentences
        == list(dict.fromkeys(made.result.sentences))
    )
    assert all(set(one) == {"id", "text", "values"} for one in said)


def test_no_sentence_is_twice_on_the_page(made):
    """But for captions: a table is copied with its own."""
    texts = Counter(
        sentence
        for block in made.page.blocks()
        for sentence in re.split(r"(?<=[.?!]) (?=[A-Z≥])", block)
        if sentence.endswith(".")
    )
    captions = " ".join(node.text() for node in made.page.main.all("p", class_="caption"))
    assert [text for text, n in texts.items() if n > 1 and text not in captions] == []


def test_values_hold_no_missing_number_where_a_sentence_states_one(made):
    for one in made.result.findings:
        assert not re.search(r"\b(nan|inf)\b|\bNone\b(?! of)", one.text), one
        assert one.text.endswith("."), one


# Briefly


def test_the_verdict_is_short(made):
    assert 10 < len(besides_names(made, made.page.verdict)) <= LONGEST_VERDICT, made.page.verdict


def test_findings_are_short(made):
    too_long = {
        one.id: one.text
        for one in made.result.findings
        if len(besides_names(made, one.text)) > LONGER.get(one.id, LONGEST)
    }
    assert too_long == {}


# Without contradiction


def test_what_was_examined_is_not_said_not_to_be(made):
    """Nothing with a section or a bar is among what was not examined, and the other way round."""
    page = made.page
    for study in studies_by_place():
        varies = study.part.varies.lower()
        if varies and study.name in page.sections:
            assert varies not in page.not_examined, study.name
    named = re.sub(r"\([^)]*\)", "", page.not_examined.removeprefix("Not examined:"))
    for what in filter(None, (part.strip(" .") for part in named.split(","))):
        known = [s for s in studies_by_place() if s.is_command]
        (study,) = [s for s in known if s.part.varies.lower() == what]
        assert study.name in made.result.left_out
        assert any(page.main.all("li", id=study.name)), "the reason is on the page"


def test_all_places_count_the_same_runs_that_could_be_first(made):
    values = [one.values for one in made.result.findings if one.id.endswith(".verdict")]
    firsts = {one.id: one.values for one in made.result.findings if one.id.endswith(".first")}
    for verdict in values:
        study = made.result.findings[0].id.partition(".")[0]
        assert verdict["could_be_first"] == len(firsts[f"{study}.first"]["runs"])
        stated = re.findall(r"(\d+) of (?:the best )?(\d+)", made.page.verdict)
        assert stated in ([], [(str(verdict["could_be_first"]), str(verdict["n_rows"]))])


def test_settings_do_not_deny_the_correction(made):
    """What was not given is not called "none", which is a correction of its own."""
    settings = {row["setting"]: row["value"] for row in made.page.tables["settings"]}
    assert settings["correction"] == "not given"
    for result in made.result.results.get("compare", ()):
        assert result.correction != "none"


def test_no_error_is_said_to_be_zero(made):
    """Where it is not known, nothing stands behind the figure."""
    assert not re.search(r"±\s*0(\.0+)?\b(?![.\d])", made.page.root.text(("script", "style")))


def test_every_page_has_a_verdict_and_a_board(made):
    assert made.page.verdict.endswith(".")
    assert made.page.line.endswith(".")
    assert made.page.board
    assert made.result.page.description == made.result.page.first.verdict
