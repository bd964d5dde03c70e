"""No two statements of a page contradict each other: words, tables, marks, ranks, intervals.

Everything is read off the written page: its sentences, and the data behind its tables. The cases
are those in which statements used to part ways: near ties, runs that lack topics, one broken run,
a hundred runs; and the built-in collection.
"""

from __future__ import annotations

import base64
import csv
import html
import json
import re
from dataclasses import dataclass
from io import StringIO
from typing import Any

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.words import number_word

ALPHA = 0.05
MEASURES = ("AP", "RR")


@dataclass(frozen=True)
class WrittenPage:
    """What a reader of the file has before him."""

    lead: str
    sections: dict[str, str]
    tables: dict[str, list[dict[str, str]]]
    shown_pairs: str
    """The table of pairs with its caption, as it is written."""
    pairs: dict[str, Any]


def read_page(path) -> WrittenPage:
    text = path.read_text("utf-8")
    data = json.loads(
        re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)[1]
    )
    tables = {}
    for name, parts in data["tables"].items():
        lines = parts["csv"]["head"] + "".join(parts["csv"]["rows"])
        tables[name] = list(csv.DictReader(StringIO(lines)))
    body = re.sub(r"<(script|style|svg|table)\b.*?</\1>", " ", text, flags=re.DOTALL)
    # Names are shown short; hovering tells the whole of them.
    body = re.sub(r'<span title="([^"]*)">[^<]*</span>', r"\1", body)
    sections = dict(re.findall(r'<section[^>]*id="([^"]+)"[^>]*>(.*?)</section>', body, re.DOTALL))
    lead = body[body.index("<main") : body.index("<nav")]
    return WrittenPage(
        lead=plain(lead),
        sections={k: plain(v) for k, v in sections.items()},
        tables=tables,
        shown_pairs=text.partition('id="pairs"')[2].partition("</table>")[0],
        pairs=data["pairs"],
    )


def plain(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split()).replace(" .", ".")


def scores_of(case: str) -> sr.Scores:
    rng = np.random.default_rng(8)
    n_runs, n_topics = (100, 25) if case == "hundred" else (9, 30)
    spread = {"close": 0.004, "hundred": 0.03}.get(case, 0.04)
    true = 0.4 + rng.normal(0, spread, (len(MEASURES), n_runs, 1))
    difficulty = rng.beta(1, 3, n_topics) * (1.0 if case == "gaps" else 0.3)
    values = true + rng.normal(0, 0.1, (n_runs, n_topics)) + difficulty
    if case == "gaps":
        values[:, rng.random((n_runs, n_topics)) < 0.15] = np.nan
        hard = np.argsort(np.nanmean(values[0], axis=0))[: n_topics // 2]
        values[:, 4, hard] = np.nan  # this run has the easy topics only
    if case == "broken":
        values[:, 2] = rng.random(n_topics) * 0.01
    return sr.Scores(
        measures=MEASURES,
        runs=[f"run{i}_with_a_name_as_long_as_those_of_a_real_track" for i in range(n_runs)],
        topics=[f"t{t:03}" for t in range(n_topics)],
        values=values,
    )


@pytest.fixture(params=["close", "apart", "gaps", "broken", "hundred"])
def page(request, tmp_path, drawn_nowhere):
    out = tmp_path / "report.html"
    sr.report(scores=scores_of(request.param), out=out, n_samples=200)
    return read_page(out)


@pytest.fixture
def demo_page(tmp_path, builtin_runs, builtin_collection, drawn_nowhere):
    """With the studies that need runs."""
    out = tmp_path / "report.html"
    sr.report(
        builtin_runs, builtin_collection.qrels, measures=["nDCG@10", "AP"], out=out, n_samples=50
    )
    return read_page(out)


def numbers(text: str) -> list[float]:
    ends = text.removeprefix("'").split(" to ")  # quoted, lest a spreadsheet computes it
    return [float(end.replace("−∞", "-inf").replace("∞", "inf")) for end in ends]


def assert_consistent(page: WrittenPage) -> None:
    board = page.tables["leaderboard"]
    assert_pairs_agree(page, board)
    assert_the_verdict_is_that_of_the_tables(page, board)
    assert_topics_are_counted_once(page)
    assert_chances_agree(page, board)
    assert_the_panel_of_two_runs_agrees(page, board)
    assert_the_card_is_that_of_the_tables(page, board)


def significant(row: dict[str, str]) -> bool:
    low, high = numbers(row["95% interval"])
    return low > 0 or high < 0


def assert_pairs_agree(page: WrittenPage, board: list[dict[str, str]]) -> None:
    """Intervals, corrected p-values, letters, counts and rank sets are one family."""
    by_run = {row["run"]: row for row in board}
    measure = list(board[0])[3 if "team" in board[0] else 2]
    beats: dict[str, set[str]] = {row["run"]: set() for row in board}
    for row in page.tables["pairs"]:
        better, other = by_run[row["better"]], by_run[row["other"]]
        assert float(better[measure]) >= float(other[measure])
        if significant(row):
            assert float(row["p corrected"]) <= ALPHA
            assert float(row["difference"]) > 0
            assert float(better[measure]) > float(other[measure])
            beats[row["better"]].add(row["other"])
        if "group" in better:
            assert bool(set(better["group"]) & set(other["group"])) != significant(row)
    n_marked = sum(map(significant, page.tables["pairs"]))
    assert page.shown_pairs.count('<sup class="narrow">*</sup>') == n_marked
    assert ("* significant." in page.shown_pairs) == (n_marked > 0)
    n_pairs = len(board) * (len(board) - 1) // 2
    whole = len(page.tables["pairs"]) == n_pairs
    for row in board:
        low, high = (int(end) for end in numbers(row["ranks"]))
        assert low <= int(float(row[""])) <= high
        assert low + len(board) - high - 1 == int(float(row["differs from"]))
        if whole:
            assert low == 1 + sum(row["run"] in beaten for beaten in beats.values())
            assert high == len(board) - len(beats[row["run"]])
    stated = re.search(r"([\d,]+) of [\d,]+ pairs \(", page.sections["compare"])
    if whole:
        assert (int(stated[1].replace(",", "")) if stated else 0) == n_marked
        shares = {row["measure"]: row for row in page.tables["discriminative-power"]}
        assert float(shares[measure]["significant pairs"]) == pytest.approx(n_marked / n_pairs)


def assert_the_verdict_is_that_of_the_tables(page: WrittenPage, board) -> None:
    leader = board[0]["run"]
    with_leader = [row for row in page.tables["pairs"] if row["better"] == leader]
    assert len(with_leader) == len(board) - 1
    not_worse = [row["other"] for row in with_leader if not significant(row)]
    for text in (page.lead, page.sections["evaluate"]):
        assert f"{leader} leads by mean" in text
        assert ("is significantly better than all" in text) == (not not_worse)
        assert ("is not significantly better than any" in text) == (
            len(not_worse) == len(board) - 1
        )
    assert_the_best_are_told_once(page, board, {leader, *not_worse})


def assert_the_best_are_told_once(page: WrittenPage, board, not_worse: set[str]) -> None:
    """The set of the best lies within the ranks that hold for all runs at once, and says so."""
    of_ranks = {row["run"] for row in board if numbers(row["ranks"])[0] == 1}
    told = []
    for text in (page.lead, page.sections["evaluate"]):
        if "no run can be ruled out as the best" in text:
            told.append(number_word(len(board)))
            assert len(of_ranks) == len(board)
            continue
        one = re.search(r"confidence (\S+) is the best of these runs", text)
        several = re.search(r"the best run is one of ([\w,]+): (\S+?),? ", text)
        first = one[1] if one else several[2]
        told.append(number_word(1) if one else several[1])
        assert first == board[0]["run"]
        which = re.search(r"All ranks at once leave ([\w,]+)\.", text)
        assert (which[1] if which else told[-1]) == number_word(len(of_ranks))
    assert len(set(told)) == 1
    assert of_ranks <= not_worse


def neighbours(page: WrittenPage) -> list[dict[str, str]]:
    """Every run with the next; the last has none."""
    *rows, last = page.tables["topic-neighbours"]
    assert last["next"] == "–"
    assert [row["next"] for row in rows] == [row["run"] for row in [*rows[1:], last]]
    return rows


def assert_topics_are_counted_once(page: WrittenPage) -> None:
    """Whoever asks what it takes to separate two runs is told one number on the whole page."""
    told: dict[frozenset[str], set[str]] = {}
    for row in neighbours(page):
        told.setdefault(frozenset((row["run"], row["next"])), set()).add(row["topics needed"])
    decided = {frozenset((row["better"], row["other"])): row for row in page.tables["pairs"]}
    for pair, answers in told.items():
        if pair in decided:
            # What is significant needs no topics, and what is not needs some.
            assert (answers == {"0"}) == significant(decided[pair])
    settled = page.tables.get("settle", [])
    for row in settled:
        told.setdefault(frozenset((row["leader"], row["rival"])), set()).add(row["topics needed"])
        assert not significant(decided[frozenset((row["leader"], row["rival"]))])
    assert all(len(answers) == 1 for answers in told.values())
    if not settled:
        return
    first = settled[0]
    answer = next(iter(told[frozenset((first["leader"], first["rival"]))]))
    sentence = re.search(r"To separate .*? requires (.*?); there are", page.lead)
    if sentence:
        stated = re.findall(r"at least [\d,]+|^[\d,]+", sentence[1])[0]
        assert answer.replace(",", "").startswith(stated.replace(",", "")) or (
            answer == stated.removeprefix("at least ").replace(",", "")
        )
        assert sentence[0].removesuffix("; there are") in page.sections["plan"]


def assert_chances_agree(page: WrittenPage, board) -> None:
    """The headline's chance is the table's, as selected, and of the ranking measure."""
    stated = re.search(
        r"(\S+), the second, comes out above \S+ (?:[^.]*? and )?with probability ([\d.]+)% in a "
        "second experiment",
        page.lead,
    )
    row = page.tables["topic-neighbours"][0]
    if stated is not None:
        assert stated[1] == row["next"] == board[1]["run"]
        kept = 1 - float(row["reversed"])
        if float(row["lead"]) < 0:
            kept = 1 - kept
        assert float(stated[2]) / 100 == pytest.approx(1 - kept, abs=0.0051)
    assert_documents_agree(page)
    if "cannot be simulated" in page.sections.get("simulate", ""):
        for mention in re.finditer("second document collection", page.lead):
            assert page.lead[mention.end() :].startswith(" (by ")


def assert_documents_agree(page: WrittenPage) -> None:
    """A pair swaps, and a run is first, in one kind of collection wherever that is said."""
    stated = re.search(
        r"with probability (less than )?([\d.]+)% in a second document collection", page.lead
    )
    assert "simulated document collections" not in page.lead
    if stated is not None:
        swap = 1 - float(page.tables["documents-neighbours"][0]["same order"])
        likely = float(stated[2]) / 100
        assert swap < likely if stated[1] else swap == pytest.approx(likely, abs=0.0051)
    for row in page.tables.get("documents-neighbours", ()):
        if row["same order"]:
            said = field(page.pairs, "kept", pair_of(page.pairs, row["better"], row["next"]))
            kept, (likely,) = float(row["same order"]), re.findall(r"[\d.]+", said)
            assert abs(kept - float(likely) / 100) < 0.021


def field(panel: dict[str, Any], key: str, pair: int) -> str:
    """A text of the panel, as the page's script reads it."""
    coded = panel["fields"][key]
    if "codes" not in coded:
        return coded["texts"][0]
    width = coded["bytes"]
    raw = base64.b64decode(coded["codes"])[width * pair : width * (pair + 1)]
    return coded["texts"][int.from_bytes(raw, "little")]


def pair_of(panel: dict[str, Any], one: str, other: str) -> int:
    a, b = sorted(panel["names"].index(run) for run in (one, other))
    return a * (2 * len(panel["names"]) - a - 1) // 2 + b - a - 1


def assert_the_panel_of_two_runs_agrees(page: WrittenPage, board) -> None:
    """Decisions, differences, intervals and numbers of topics of a pair are those of the tables."""
    panel = page.pairs
    assert panel["names"] == [row["run"] for row in board]
    for row in page.tables["pairs"]:
        pair = pair_of(panel, row["better"], row["other"])
        decision = field(panel, "decision", pair)
        assert ("is significantly better than" in decision) == significant(row)
        ends = [float(field(panel, end, pair).replace("−", "-")) for end in ("low", "high")]
        assert ends == pytest.approx(numbers(row["95% interval"]), abs=5.1e-5)
        assert int(field(panel, "wins", pair)) == int(float(row["wins"]))
    for row in neighbours(page):
        pair = pair_of(panel, row["run"], row["next"])
        said = field(panel, "needed", pair)
        if said.startswith("none"):
            assert row["topics needed"] == "0"
            continue
        low = re.findall(r"[\d,]+", said.partition("(")[0].partition(" for ")[0])
        stated = re.findall(r"[\d,]+", row["topics needed"])
        assert [text.replace(",", "") for text in low] == [
            text.replace(",", "") for text in stated[: len(low)]
        ]


def assert_the_card_is_that_of_the_tables(page: WrittenPage, board) -> None:
    """How many are not significantly worse, as the tables count."""
    rivals = re.search(r"not significantly better than ([\w,]+) of the ([\w,]+) others", page.lead)
    if rivals is not None:
        with_leader = [row for row in page.tables["pairs"] if row["better"] == board[0]["run"]]
        count = sum(not significant(row) for row in with_leader)
        others = len(board) - 1
        told = "any" if count == others else number_word(count)
        assert rivals.groups() == (told, number_word(others))


def test_no_two_statements_contradict_each_other(page):
    assert_consistent(page)


@pytest.mark.slow
def test_no_two_statements_of_the_demo_contradict_each_other(demo_page):
    assert_consistent(demo_page)
    assert "In a second collection the ranking by nDCG@10 has" in demo_page.sections["simulate"]
    assert "in a second document collection" in demo_page.lead


@pytest.mark.parametrize("case", ["close", "apart", "hundred"])
def test_one_level_serves_all_statements_about_a_pair(case, tmp_path, drawn_nowhere):
    """What a difference requires and what these topics detect is for one critical value."""
    out = tmp_path / "report.html"
    results = sr.report(scores=scores_of(case), out=out, n_samples=50).results
    level = results["compare"][0].comparison_alpha
    assert level > ALPHA / len(results["compare"][0].pairs), "max-t is not Bonferroni"
    assert results["topics"].comparison_alpha == level
    assert results["plan"].demands.comparison_alpha == level
    assert "detectable with these" not in read_page(out).tables["plan-measures"][0]


def test_a_page_says_where_its_decisions_claim_too_much(tmp_path, drawn_nowhere):
    """Half of the runs gain much on few topics: with equal means they seem worse on the others."""
    rng = np.random.default_rng(3)
    values = 0.3 + rng.normal(0, 0.01, (12, 20))
    values[::2] += rng.exponential(0.1, (6, 20)) ** 2 * 8
    scores = sr.Scores(
        measures=["AP"], runs=[f"r{i}" for i in range(12)], topics=range(20), values=[values]
    )
    claims = {}
    for correction in ("maxt", "holm"):
        out = tmp_path / f"{correction}.html"
        found = sr.report(scores=scores, correction=correction, out=out, n_samples=50)
        audit = found.results["compare"][0].audit
        assert audit.nominal == ALPHA
        said = f"claim something in {audit.any_claim:.0%} of experiments, not 5%"
        page = read_page(out)
        for text in (page.lead, page.sections["compare"]):
            assert (said in text) == (audit.any_claim > 0.08)
        claims[correction] = audit.any_claim
    assert max(claims.values()) > 0.08


def test_a_page_says_first_that_scores_are_missing(tmp_path, drawn_nowhere):
    out = tmp_path / "report.html"
    scores = scores_of("gaps")
    sr.report(scores=scores, out=out, n_samples=50)
    page = read_page(out)
    missing = int(np.isnan(scores.values[0]).sum())
    assert f"{missing} of 270 scores are missing" in page.lead
    assert page.lead.index("scores are missing") < page.lead.index("leads by mean")
    # The run with the easy topics has the best mean of its own, and is not the leader.
    assert np.argmax(scores.mean()[0]) == 4
    assert page.tables["leaderboard"][0]["run"] != scores.runs[4]


def test_a_broken_run_carries_no_statement_about_the_others(tmp_path, drawn_nowhere):
    out = tmp_path / "report.html"
    sr.report(scores=scores_of("broken"), out=out, n_samples=50)
    page = read_page(out)
    last = page.tables["leaderboard"][-1]
    assert last["run"].startswith("run2_")
    assert last["ranks"] == "9 to 9"
    assert "run2_" in page.sections["stability"]
