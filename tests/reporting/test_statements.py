"""No two statements of a page contradict each other: values of findings, tables, marks, bars.

Everything is read off the written page and the values behind its sentences. The cases are those in
which statements used to part ways: near ties, runs that lack topics, one broken run, a hundred
runs, two, three, one measure and four; and the built-in collection.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from report_cases import OF_SCORES, Made, leaderboard, scores_of
from written import WrittenPage, field_of, pair_of

import steadyrank as sr
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.planning.variance import pair_df
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.compare.view import compare_text, describe
from steadyrank.studies.datasets.view import VIEW as DATASETS
from steadyrank.words import count_or_share, roughly

ALPHA = 0.05

Rows = list[dict[str, str]]


def numbers(text: str) -> list[float]:
    ends = text.removeprefix("'").split(" to ")  # quoted, lest a spreadsheet computes it
    return [math.nan if end == "–" else float(end) for end in ends]


def significant(row: dict[str, str]) -> bool:
    return excludes_zero(numbers(row["95% interval"]))


def excludes_zero(interval: Sequence[float]) -> bool:
    """NaN is a limit that the tests do not bound, or that the measure's range cuts."""
    low, high = interval
    return low > 0 or high < 0


def pair_rows(page: WrittenPage) -> dict[frozenset[str], dict[str, str]]:
    return {frozenset((row["better"], row["other"])): row for row in page.tables["pairs"]}


def measure_of(board: Rows) -> str:
    return list(board[0])[3 if "team" in board[0] else 2]


def assert_consistent(made: Made) -> None:
    board = made.page.tables["leaderboard"]
    assert_page_says_what_was_found(made)
    assert_pairs_agree(made, board)
    assert_verdict_is_that_of_the_tables(made, board)
    assert_lead_is_that_of_the_pairs(made, board)
    assert_board_is_the_head_of_the_leaderboard(made, board)
    assert_bars_are_the_studies_own(made, board)
    assert_tiles_are_those_of_the_tables(made, board)
    assert_topics_are_counted_once(made.page)
    assert_the_panel_of_two_runs_agrees(made.page, board)


def assert_page_says_what_was_found(made: Made) -> None:
    """Verdict, line and cautions are findings, and the rest stands in the sections."""
    page, texts = made.page, [one.text for one in made.result.findings]
    # Below the verdict the lead, and what both rest on most, where that decides.
    first = next(n for n in (2, 3) if page.line == "".join(texts[1:n]))
    assert page.verdict == texts[0]
    assert page.cautions == texts[first : first + len(page.cautions)]
    swaps = {made.finding(f"{bar.link}.swap").text for bar in page.bars}
    tiles = {f"{figure} {text}." for figure, text in page.tiles}
    in_sections = {text for section in page.sections for text in page.found(section)}
    assert {*texts[:first], *page.cautions, *swaps, *tiles} | in_sections == set(texts)
    assert len(in_sections) + len(swaps) + len(tiles) + len(page.cautions) + first == len(texts)


def assert_pairs_agree(made: Made, board: Rows) -> None:
    """Intervals, corrected p-values, letters and counts are one family; ranks may tell more."""
    page, measure = made.page, measure_of(board)
    by_run = {row["run"]: row for row in board}
    beats: dict[str, set[str]] = {row["run"]: set() for row in board}
    for row in page.tables["pairs"]:
        better, other = by_run[row["better"]], by_run[row["other"]]
        assert float(better[measure]) >= float(other[measure])
        if significant(row):
            assert float(row.get("p adjusted", row.get("p"))) <= ALPHA
            assert float(row["difference"]) > 0
            assert float(better[measure]) > float(other[measure])
            beats[row["better"]].add(row["other"])
        if "group" in better:
            assert bool(set(better["group"]) & set(other["group"])) != significant(row)
    n_marked = sum(map(significant, page.tables["pairs"]))
    shown = page.html.partition('id="pairs"')[2].partition("</table>")[0]
    assert shown.count('<sup class="narrow">*</sup>') == n_marked
    assert ("* significant." in shown) == (n_marked > 0)
    n_pairs = len(board) * (len(board) - 1) // 2
    whole = len(page.tables["pairs"]) == n_pairs
    for row in board:
        low, high = (int(end) for end in numbers(row["ranks"]))
        assert low <= int(float(row[""])) <= high
        n_better = int(float(row["better than"]))
        assert high <= len(board) - n_better, "what all pairs claim, own comparisons claim too"
        if whole:
            assert low >= 1 + sum(row["run"] in beaten for beaten in beats.values())
            assert n_better == len(beats[row["run"]])
    assert_tiers_never_fall(board)
    values = made.finding("compare.significant").values
    assert values["n_pairs"] == n_pairs
    if whole:
        assert values["n_significant"] == n_marked


def assert_tiers_never_fall(board: Rows) -> None:
    """Down the table; runs that could be first are all in the first."""
    tiers = [int(float(row["tier"])) for row in board]
    assert tiers[0] == 1
    assert set(np.diff(tiers)) <= {0, 1}
    could = [numbers(row["ranks"])[0] == 1 for row in board]
    assert {tier for tier, is_first in zip(tiers, could, strict=True) if is_first} == {1}


def assert_verdict_is_that_of_the_tables(made: Made, board: Rows) -> None:
    """Who leads, and how many could be first: in verdict, leaderboard, section and ranks."""
    page, verdict = made.page, made.finding("compare.verdict").values
    means = {row["run"]: float(row[measure_of(board)]) for row in board}
    best = max(means.values())
    assert set(verdict["leaders"]) == {run for run, m in means.items() if best - m <= SAME_MEAN}
    assert verdict["leaders"][0] == board[0]["run"]
    assert (verdict["n_rows"], verdict["measure"]) == (len(board), measure_of(board))
    first = made.finding("compare.first").values
    assert verdict["could_be_first"] == len(first["runs"])
    of_ranks = {row["run"] for row in board if numbers(row["ranks"])[0] == 1}
    assert set(verdict["leaders"]) <= set(first["runs"]) == of_ranks
    pairs = pair_rows(page)
    with_leader = {run: pairs[frozenset((board[0]["run"], run))] for run in list(means)[1:]}
    assert of_ranks <= {board[0]["run"], *(r for r, row in with_leader.items() if not_worse(row))}
    stated = [int(n.replace(",", "")) for n in re.findall(r" ([\d,]+) (?:of|runs)\b", page.verdict)]
    assert set(stated) <= {len(first["runs"]), len(board)}
    if len(board) == 2:
        (row,) = with_leader.values()
        assert ("is significantly better" in page.verdict) == significant(row)


def not_worse(row: dict[str, str]) -> bool:
    return not significant(row)


def assert_lead_is_that_of_the_pairs(made: Made, board: Rows) -> None:
    lead, row = made.finding("compare.lead").values, pair_rows(made.page)
    assert [lead["a"], lead["b"]] == [one["run"] for one in board[:2]]
    row = row[frozenset((lead["a"], lead["b"]))]
    assert lead["difference"] == pytest.approx(float(row["difference"]))
    # Decided among the second run's own comparisons, of which all pairs claim no more.
    assert lead["significant"] == excludes_zero(lead["interval"])
    assert lead["significant"] >= significant(row)
    could = made.finding("compare.first").values["runs"]
    assert lead["significant"] != (lead["b"] in could)
    if ("no other" in made.page.verdict) or len(could) == 1:
        assert lead["interval"][0] > 0
    is_at_odds = lead["significant"] and not significant(row)
    assert is_at_odds == ("compare.lead_of_all" in made.said)
    means = [float(one[measure_of(board)]) for one in board[:2]]
    text = made.finding("compare.lead").text
    assert made.page.line.startswith(text)
    is_of_means = lead["difference"] == pytest.approx(means[0] - means[1])
    assert is_of_means != ("shared topics" in made.page.line)
    told = [float(n) for n in re.findall(r"[+-]?\d\.\d{3}\b", text.replace("−", "-"))]
    shown = [*means, lead["difference"], *lead["interval"]]
    finite = [value for value in shown if math.isfinite(value)]
    assert told == pytest.approx(finite, abs=5.01e-4)
    assert "significant" not in made.page.line, "of which family, one could not know"


def assert_board_is_the_head_of_the_leaderboard(made: Made, board: Rows) -> None:
    rows, measure = made.page.board, measure_of(board)
    assert len(rows) == min(10, len(board))
    for shown, row in zip(rows, board, strict=False):
        low, high = (int(end) for end in numbers(row["ranks"]))
        assert (shown["name"], shown["rank"]) == (row["run"], row[""])
        assert shown["ranks"] == f"{low}–{high}"
        assert float(shown[measure]) == pytest.approx(float(row[measure]), abs=5.01e-4)
        assert int(shown["tier"]) == int(float(row["tier"]))


def assert_bars_are_the_studies_own(made: Made, board: Rows) -> None:
    """Shares of pairs that swap, each computed here by another way where the page has the data."""
    shares = {bar.link: made.finding(f"{bar.link}.swap").values["share"] for bar in made.page.bars}
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert [bar.is_largest for bar in made.page.bars] == [True] + [False] * (len(shares) - 1)
    for bar in made.page.bars:
        share = shares[bar.link]
        assert bar.text == (f"{share:.0%}" if share >= 0.005 else "< 1%")
        assert bar.link in made.page.sections
        assert bar.about.lower() not in made.page.not_examined
    others = list(board[0])[list(board[0]).index("ranks") :]
    measures = [name for name in others if name in made.result.results["evaluate"].measures]
    if "agree" in shares:
        turned = [share_turned(board, measure_of(board), other) for other in measures]
        assert shares["agree"] == pytest.approx(np.mean(turned))
    topics = made.result.results["topics"]
    has_order = np.abs(topics.variances.difference) > SAME_MEAN
    assert shares["topics"] == pytest.approx(topics.expected_reversal[has_order].mean())
    if "simulate" in shares:
        assert shares["simulate"] == made.result.results["simulate"].prediction.swap_share
    assert set(shares) == {"topics", "agree", "simulate", "holes"} & set(shares)


def share_turned(board: Rows, one: str, other: str) -> float:
    gaps = np.array(
        [
            [float(a[measure]) - float(b[measure]) for measure in (one, other)]
            for a, b in itertools.combinations(board, 2)
        ]
    )
    gaps = gaps[np.abs(gaps[:, 0]) > SAME_MEAN]
    turned = np.where(np.abs(gaps[:, 1]) <= SAME_MEAN, 0.5, gaps[:, 0] * gaps[:, 1] < 0)
    return float(turned.mean())


def assert_tiles_are_those_of_the_tables(made: Made, board: Rows) -> None:
    tiles = {text: figure for figure, text in made.page.tiles}
    n_pairs = len(board) * (len(board) - 1) // 2
    if n_pairs > 1:
        found = made.finding("compare.significant").values["n_significant"]
        differ = "differs" if found == 1 and count_or_share(1, n_pairs) == "1" else "differ"
        figure = tiles.pop(f"of {n_pairs:,} pairs {differ} significantly")
        assert figure == count_or_share(found, n_pairs)
    result = made.result.results["compare"][0]
    smallest = made.finding("compare.detectable").values["difference"]
    assert smallest == pytest.approx(float(np.sqrt(np.nanmean(result.smallest_difference**2))))
    first = neighbours(made.page)[0]
    for text, figure in tiles.items():
        if "who is first" in text:
            carried = made.finding("compare.fragility").values
            assert int(digits(figure)) == carried["n"] == len(carried["topics"])
            assert carried["rival"] in text
            assert_carried(made, board[0]["run"], carried)
        elif text.startswith("topics to separate"):
            needed = made.finding("topics.needed").values
            assert {needed["a"], needed["b"]} == {first["run"], first["next"]}
            assert digits(figure) == digits(first["topics needed"].partition("[")[0])
            assert f"there are {len(made.result.results['evaluate'].topics)}" in text
        else:
            assert figure == f"{smallest:.3f}"
    lead = made.finding("compare.lead").values
    assert not (lead["significant"] and "topics.needed" in made.said)


def assert_carried(made: Made, leader: str, carried: dict[str, Any]) -> None:
    """Without these topics the rival is level or above, and without any fewer of them it is not."""
    scores = made.result.results["evaluate"]
    rows = [scores.runs.index(run) for run in (leader, carried["rival"])]
    gaps = scores.values[0][rows[0]] - scores.values[0][rows[1]]
    out = [scores.topics.index(topic) for topic in carried["topics"]]
    assert np.nansum(np.delete(gaps, out)) <= 1e-9
    for kept in out:
        assert np.nansum(np.delete(gaps, [t for t in out if t != kept])) > 0


def digits(text: str) -> str:
    return "".join(re.findall(r"\d", text))


def neighbours(page: WrittenPage) -> Rows:
    """Every run with the next; the last has none."""
    *rows, last = page.tables["topic-neighbours"]
    assert last["next"] == "–"
    assert [row["next"] for row in rows] == [row["run"] for row in [*rows[1:], last]]
    return rows


def assert_topics_are_counted_once(page: WrittenPage) -> None:
    """What is significant needs no topics, and what is not needs some."""
    decided = pair_rows(page)
    for row in neighbours(page):
        pair = frozenset((row["run"], row["next"]))
        if pair in decided:
            assert (row["topics needed"] == "0") == significant(decided[pair])


def assert_the_panel_of_two_runs_agrees(page: WrittenPage, board: Rows) -> None:
    """Decisions, differences, intervals and numbers of topics of a pair are those of the tables."""
    panel = page.pairs
    assert panel["names"] == [row["run"] for row in board]
    for row in page.tables["pairs"]:
        pair = pair_of(panel, row["better"], row["other"])
        decision = field_of(panel, "decision", pair)
        assert ("is significantly better than" in decision) == significant(row)
        ends = numbers(
            " to ".join(field_of(panel, end, pair).replace("−", "-") for end in ("low", "high"))
        )
        assert ends == pytest.approx(numbers(row["95% interval"]), abs=5.1e-5, nan_ok=True)
        assert field_of(panel, "wins", pair) == row["W/T/L"].partition("/")[0]
    for row in neighbours(page):
        pair = pair_of(panel, row["run"], row["next"])
        said = field_of(panel, "needed", pair)
        if said.startswith("none"):
            assert row["topics needed"] == "0"
            continue
        low = re.findall(r"[\d,]+", said.partition("(")[0].partition(" for ")[0])
        stated = re.findall(r"[\d,]+", row["topics needed"])
        assert list(map(digits, low)) == list(map(digits, stated[: len(low)]))
        reversed_here = field_of(panel, "reversed", pair)
        assert reversed_here == roughly(float(row["reversed"]))
    for row in page.tables.get("documents-neighbours", ()):
        if row["same order"]:
            said = field_of(panel, "kept", pair_of(panel, row["better"], row["next"]))
            kept, (likely,) = float(row["same order"]), re.findall(r"[\d.]+", said)
            assert abs(kept - float(likely) / 100) < 0.021


@pytest.mark.parametrize("case", OF_SCORES)
def test_no_two_statements_contradict_each_other(case, reports):
    assert_consistent(reports(case))


def test_no_two_statements_of_the_demo_contradict_each_other(reports):
    """With the studies that need runs."""
    made = reports("demo")
    assert_consistent(made)
    assert {bar.link for bar in made.page.bars} >= {"topics", "simulate", "agree"}
    swap = made.finding("simulate.reversal").values
    first = made.page.tables["documents-neighbours"][0]
    assert (swap["a"], swap["b"]) == (first["better"], first["next"])
    assert swap["share"] == pytest.approx(1 - float(first["same order"]))


@pytest.mark.parametrize("case", ["systems of apart", "systems of gaps"])
def test_of_systems_all_statements_are_about_systems(case, reports):
    made = reports(case)
    verdict, first = (made.finding(f"systems.{key}").values for key in ("verdict", "first"))
    board = made.page.tables["systems-board"]
    assert verdict["could_be_first"] == len(first["runs"])
    assert verdict["n_rows"] == len(board) == len(made.page.board) == 4
    (result,) = [made.result.results["systems"]]
    assert verdict["leaders"] == [result.runs[result.order[0]]]
    assert [row["name"] for row in made.page.board] == [result.runs[run] for run in result.order]
    lead = made.finding("systems.lead").values
    assert [lead["a"], lead["b"]] == [row["name"] for row in made.page.board[:2]]
    if "instances.systems" in made.said:
        assert made.finding("instances.systems").values["best"] == verdict["leaders"][0]
    assert "compare.verdict" not in made.said
    assert [bar.link for bar in made.page.bars].count("instances") == 1


def test_with_a_baseline_all_statements_are_about_it(reports):
    made = reports("baseline")
    values, against = made.finding("compare.significant").values, made.page.tables["leaderboard"]
    decided = [row["against the baseline"] for row in against]
    assert values["n_better"] == decided.count("better")
    assert values["n_worse"] == decided.count("worse")
    assert values["n_pairs"] == len(decided) - 1
    (own,) = [row["run"] for row in against if row["against the baseline"] == "baseline"]
    assert own in made.page.verdict
    lead, needed = (made.finding(id).values for id in ("compare.lead", "topics.needed"))
    assert own in (lead["a"], lead["b"])
    assert {lead["a"], lead["b"]} == {needed["a"], needed["b"]}
    assert {row["name"]: row["against the baseline"] for row in made.page.board} == {
        row["run"]: row["against the baseline"] for row in against
    }


def test_of_datasets_all_statements_agree(reports):
    made = reports("datasets")
    board = made.page.tables["dataset-leaderboard"]
    verdict = made.finding("datasets.verdict").values
    result = made.result.results["datasets"]
    assert verdict["leaders"] == [board[0]["run"]] == [made.page.board[0]["name"]]
    assert verdict["could_be_first"] == len(made.finding("datasets.first").values["runs"])
    assert verdict["could_be_first"] == sum(row["could be first"] == "yes" for row in board)
    assert verdict["n_rows"] == len(board) == 30
    assert [row["name"] for row in made.page.board] == [row["run"] for row in board[:10]]
    lead = made.finding("datasets.lead").values
    assert (lead["a"], lead["b"]) == (board[0]["run"], board[1]["run"])
    assert lead["difference"] == pytest.approx(result.value[result.order[:2]] @ [1, -1])
    assert lead["significant"] == (lead["interval"][0] > 0)
    assert lead["significant"] != (lead["b"] in made.finding("datasets.first").values["runs"])
    assert {bar.link for bar in made.page.bars} == {"datasets"}
    tiles = {text: figure for figure, text in made.page.tiles}
    share = float(result.significant.mean())
    assert tiles["of 435 pairs differ significantly"] == f"{share:.0%}"
    assert "topics" not in made.page.sections


@pytest.mark.parametrize("case", ["close", "apart", "hundred"])
def test_one_level_serves_all_statements_about_a_pair(case, reports):
    """What a difference requires and what these topics detect is for one critical value."""
    made = reports(case)
    results = made.result.results
    level = results["compare"][0].comparison_alpha
    assert level > ALPHA / len(results["compare"][0].pairs), "max-t is not Bonferroni"
    assert results["topics"].comparison_alpha == level
    assert results["plan"].demands.comparison_alpha == level
    assert "detectable with these" not in made.page.tables["plan-measures"][0]
    # One detectable difference, and one number of topics for the first two: never a lower end.
    compared, topics = results["compare"][0], results["topics"]
    (plan,) = [each for each in results["plan"].plans if each.measure == compared.measure]
    detected = results["plan"].demands.smallest_difference(
        plan.difference_variance / 2, compared.n_topics
    )
    assert made.finding("compare.detectable").values["difference"] == pytest.approx(detected)
    (row,) = topics.told([topics.pair(*(topics.runs.index(run) for run in topics.leaders))])
    if not row["significant"]:
        values = made.finding("topics.needed").values
        assert (
            values["topics_assured"] == row["topics_assured"] > values["topics_needed_interval"][0]
        )
        z = np.subtract(
            *results["evaluate"].matrix(topics.measure)[
                [compared.runs.index(row[name]) for name in "ab"]
            ]
        )
        asked = {"variance_df": pair_df(z[None])[0], "alpha": level, "corrected": True}
        needed = needed_topics(z.mean(), z.var(ddof=1), 2.0, **asked)
        assert row["topics_assured"] == needed.assured


def test_a_page_says_where_its_decisions_claim_too_much(tmp_path, drawn_nowhere):
    """Half of the runs gain much on few topics: with equal means they seem worse on the others."""
    rng = np.random.default_rng(3)
    values = 0.3 + rng.normal(0, 0.01, (12, 20))
    values[::2] += rng.exponential(0.1, (6, 20)) ** 2 * 8
    scores = sr.Scores(
        measures=["AP"], runs=[f"r{i}" for i in range(12)], topics=range(20), values=[values]
    )
    shares = {}
    for correction in ("maxt", "holm"):
        out = tmp_path / f"{correction}.html"
        made = sr.report(scores=scores, correction=correction, out=out, n_samples=50)
        (compared,) = made.results["compare"]
        audit = compared.audit
        assert audit.nominal == ALPHA
        assert audit.all_equal is None, "no track has equal runs"
        level = ALPHA + 2 * audit.tiers_equal.standard_error
        exceeds = audit.tiers_equal.share > level
        assert not audit.observed.exceeds(ALPHA)
        said = f"report a difference in {audit.tiers_equal.share:.0%} of experiments"
        page = WrittenPage(out)
        assert any(said in caution for caution in page.cautions) == exceeds
        assert not any(said in text for text in page.found("compare")), "once is enough"
        shares[correction] = audit.tiers_equal.share
    assert max(shares.values()) > 0.08


def test_a_page_says_first_that_scores_are_missing(reports):
    made, scores = reports("gaps"), scores_of("gaps")
    missing = int(np.isnan(scores.values[0]).sum())
    assert made.finding("compare.gaps").values == {"n_missing": missing}
    assert made.page.cautions[0].startswith(f"{missing} of 270 scores are missing")
    # The run with the easy topics has the best mean of its own, and is not the leader.
    assert np.argmax(scores.mean()[0]) == 4
    assert made.finding("compare.verdict").values["leaders"] != [scores.runs[4]]


def test_a_broken_run_carries_no_statement_about_the_others(reports):
    page = reports("broken").page
    last = page.tables["leaderboard"][-1]
    assert last["run"].startswith("run2_")
    assert last["ranks"] == "9 to 9"
    assert any("run2_" in text for text in page.found("stability"))
    first = [page.verdict, page.line, *page.cautions]
    assert not any("run2_" in text for text in first)


# What `compare` and `datasets` say of order, on all kinds of data, before any page is made of it


def table_of(values: np.ndarray, **topic_info: Any) -> sr.Scores:
    n_runs, n_topics = values.shape
    runs, topics = [f"r{r}" for r in range(n_runs)], [f"t{t}" for t in range(n_topics)]
    scores = sr.Scores(measures=["AP"], runs=runs, topics=topics, values=[values])
    return scores.with_topic_info(**topic_info) if topic_info else scores


def noisy(n_runs: int, n_topics: int, spread: float = 0.05, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    means = 0.4 + rng.normal(0, spread, (n_runs, 1)) + 0.2 * rng.beta(1, 3, n_topics)
    return np.clip(means + rng.normal(0, 0.08, (n_runs, n_topics)), 0.0, 1.0)


def track_scores(measure: str) -> sr.Scores:
    track = sr.simulated_track(
        n_teams=5, runs_per_team=3, n_topics=21, depth=50, pool_depth=20, rng=1
    )
    return sr.evaluate(track.runs, track.qrels, measure, no_relevant="skip")


def near_copies() -> np.ndarray:
    values = noisy(6, 25)
    rng = np.random.default_rng(5)
    return np.clip(np.concatenate([values, values + rng.normal(1e-4, 1e-4, values.shape)]), 0, 1)


def rare_gains() -> np.ndarray:
    rng = np.random.default_rng(2)
    values = 0.3 + rng.normal(0, 0.01, (9, 30))
    values[::2] += (rng.random((5, 30)) < 0.1) * 0.6
    return values


def constant_apart() -> np.ndarray:
    """A difference without any variance, and one that is no difference."""
    values = noisy(5, 20)
    values[1], values[2] = values[0] - 0.01, values[0]
    return values


def large_and_few() -> np.ndarray:
    """Few topics on which scores lie as far apart as they can: limits reach beyond the range."""
    rng = np.random.default_rng(6)
    return np.concatenate([rng.beta(9, 1, (2, 6)), rng.beta(1, 9, (2, 6)), rng.random((2, 6))])


ORDERED = {
    **{f"report: {case}": lambda case=case: first_measure(scores_of(case)) for case in OF_SCORES},
    **{f"track: {name}": lambda name=name: track_scores(name) for name in ("AP", "P@10", "RR")},
    "all alike": lambda: first_measure(scores_of("equal")),
    "4 topics": lambda: table_of(noisy(5, 4, 0.2)),
    "5 topics": lambda: table_of(noisy(5, 5, 0.2)),
    "6 topics": lambda: table_of(large_and_few()),
    "near copies": lambda: table_of(near_copies()),
    "rare gains": lambda: table_of(rare_gains()),
    "constant": lambda: table_of(constant_apart()),
    "shares": lambda: table_of((noisy(6, 40, 0.2) > 0.5).astype(float)),
    "per cent": lambda: table_of(100 * noisy(6, 12, 0.2)),
    "two": lambda: table_of(noisy(2, 12, 0.1)),
    "clusters": lambda: table_of(noisy(6, 36), cluster=[t // 3 for t in range(36)]),
    "weights": lambda: table_of(noisy(6, 30), weight=[1 + t % 4 for t in range(30)]),
}
METHODS = {
    "sound": {},
    "paper": {"mode": "paper"},
    "holm": {"correction": "holm"},
    "wilcoxon": {"test": "wilcoxon"},
    "uncorrected": {"correction": "none"},
}


def first_measure(scores: sr.Scores) -> sr.Scores:
    return scores.select(measures=scores.measures[:1])


def methods_of(case: str) -> list[str]:
    none = ("wilcoxon", "paper") if case in ("clusters", "weights") else ()
    return [method for method in METHODS if method not in none]


def ordered_by(case: str, method: str, **options: Any) -> sr.CompareResult:
    scores = ORDERED[case]()
    if method not in methods_of(case):
        pytest.skip("clusters and weights have no such test")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        return sr.compare(scores, **METHODS[method], **options, n_samples=499)


def assert_order_is_one(runs: Rows, significant: np.ndarray, intervals: np.ndarray, lead) -> None:
    """`runs` have the keys of the JSON and stand in the order of the table."""
    assert not np.isinf(intervals).any()
    for one, (low, high) in zip(significant, intervals, strict=True):
        # A rank test may claim what no limit of its own shows: the limit is not bounded then.
        assert one or not excludes_zero((low, high))
        assert not (one and low <= 0.0 <= high)
    for row in runs:
        (low, high), (least, most) = row["rank_set"], row["rank_set_simultaneous"]
        assert least <= low <= row["rank"] <= high <= most
        assert row["could_be_first"] == (low == 1)
        if row["could_be_first"]:
            assert row["tier"] == 1
    assert runs[0]["could_be_first"]
    assert set(np.diff([row["tier"] for row in runs])) <= {0, 1}, "tiers never fall"
    assert not np.isinf(lead.interval).any()
    assert bool(lead.significant) == excludes_zero(lead.interval)
    if sum(row["could_be_first"] for row in runs) == 1:
        assert lead.interval[0] > 0, "no other could be first, and an interval that contains 0"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", ORDERED)
def test_all_that_is_said_of_order_is_one_order(case, method):
    result = ordered_by(case, method)
    rows = result.run_rows()
    assert_order_is_one(
        [rows[run] for run in result.order], result.significant, result.interval, result.lead
    )
    if method != "wilcoxon":
        assert result.significant.tolist() == [excludes_zero(ends) for ends in result.interval]
    second = result.runs[result.lead.second]
    assert result.lead.significant != rows[result.runs.index(second)]["could_be_first"]
    if case != "per cent":
        for limits in (result.interval, result.lead.interval):
            assert np.nanmax(np.abs(limits), initial=0.0) <= 1.0, "scores lie between 0 and 1"


@pytest.mark.parametrize("case", ORDERED)
def test_pairs_as_written_have_no_stand_in_for_a_missing_limit(case):
    """No infinite limit, and no number so small that nobody computed it."""
    result = ordered_by(case, "sound")
    written = json.loads(compare_text(result, "json"))["pairs"]
    table = list(csv.DictReader(io.StringIO(compare_text(result, "csv"))))
    assert len(written) == len(table) == len(result.pairs)
    for pair, row, ends in zip(written, table, result.interval, strict=True):
        told = [pair["interval"], [row["interval_low"], row["interval_high"]]]
        for low, high in told:
            shown = [math.nan if end in (None, "") else float(end) for end in (low, high)]
            np.testing.assert_array_equal(shown, ends)
        cut = [bool(pair["lower_cut"]), bool(pair["upper_cut"])]
        assert cut == [row["lower_cut"] == "True", row["upper_cut"] == "True"]
        if pair["flag"] != "too_few_topics":
            assert cut == np.isnan(ends).tolist()
        figures = [value for value in pair.values() if isinstance(value, float)]
        for value in (*figures, *filter(None, pair["interval"])):
            assert value == 0.0 or abs(value) > 1e-300


@pytest.mark.parametrize("case", sorted({*ORDERED} - {"two"}))
def test_with_a_baseline_nothing_is_said_of_runs_that_were_not_compared(case):
    baseline = ORDERED[case]().runs[1]
    result = ordered_by(case, "sound", baseline=baseline)
    assert (result.own, result.lead) == (None, None)
    written = json.loads(compare_text(result, "json"))
    for row in written["runs"]:
        for key in ("rank_set", "rank_set_simultaneous", "could_be_first", "tier", "group"):
            assert row[key] is None, key
    said = {finding["id"] for finding in written["findings"]}
    assert not said & {"compare.first", "compare.lead_of_all", "compare.ranks"}
    assert [excludes_zero(ends) for ends in result.interval] == result.significant.tolist()


@pytest.mark.parametrize("case", ["report: apart", "two", "clusters", "weights"])
def test_two_methods_never_share_a_caption(case):
    methods = methods_of(case)
    results = [ordered_by(case, method) for method in methods]
    captions = [one.caption() for one in results]
    described = [describe(one) for one in results]
    objects = [json.dumps(json.loads(compare_text(one, "json"))["method"]) for one in results]
    for texts in (captions, objects, described):
        shared = [pair for pair in itertools.combinations(methods, 2) if same(texts, methods, pair)]
        # Of one comparison there is nothing to correct: these are one method then.
        students = ("paper", "holm", "uncorrected") if case == "two" else ()
        assert set(shared) <= {*itertools.combinations(students, 2)}, texts


def same(texts: list[str], methods: list[str], pair: tuple[str, str]) -> bool:
    return texts[methods.index(pair[0])] == texts[methods.index(pair[1])]


TABLES = {
    "complete": {},
    "few": {"n_datasets": 5},
    "types": {"drawn": "types", "n_datasets": 12},
    "gaps": {"gaps": "pairwise"},
    "borda": {"aggregate": "borda"},
    "wins": {"aggregate": "wins"},
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("n_runs", [5, 30])
def test_a_leaderboard_over_datasets_has_one_order(n_runs, kind):
    options = dict(TABLES[kind])
    frame = leaderboard(n_runs, options.pop("n_datasets", 12))
    if kind == "gaps":
        frame = frame.mask(np.random.default_rng(1).random(frame.shape) < 0.08)
    if options.get("drawn") == "types":
        options["types"] = {name: f"type{k % 6}" for k, name in enumerate(frame.columns)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        result = sr.datasets(frame, n_samples=499, **options)
    written = DATASETS.json(result)
    runs = result.rows()
    for row in runs:
        (low, high), (least, most) = row["rank_set"], row["rank_set_simultaneous"]
        assert least <= low <= row["rank"] <= high <= most
        assert row["could_be_first"] == (low == 1)
        assert row["tier"] == 1 or not row["could_be_first"]
    assert runs[0]["could_be_first"]
    assert set(np.diff([row["tier"] for row in runs])) <= {0, 1}
    lead, firsts = result.lead, result.first_names()
    assert lead.significant == excludes_zero(lead.interval)
    assert lead.significant != (result.runs[lead.second] in firsts)
    assert not np.isinf(lead.interval).any()
    assert written["could_be_first"] == firsts
    assert len(firsts) > 1 or lead.interval[0] > 0
