"""A report in a real browser: two runs are picked, rows filtered, sections folded and printed."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.present.pair_panel import DIGITS

playwright = pytest.importorskip(
    "playwright.sync_api", reason="Playwright is not installed: pip install 'steadyrank[test]'"
)

N_RUNS = 30
Open = Callable[..., Any]


@pytest.fixture
def open_report(open_tab: Open, report: sr.ReportResult) -> Open:
    wide = {"width": 1280, "height": 900}
    return functools.partial(open_tab, report.path.resolve().as_uri(), viewport=wide)


def text_of(page: Any, selector: str) -> str:
    return str(page.locator(selector).text_content())


def facts(page: Any) -> dict[str, str]:
    rows = page.locator("#page-pair-facts > div")
    return dict(rows.evaluate_all("all => all.map(e => [...e.children].map(c => c.textContent))"))


def bars(page: Any) -> list[str]:
    titles = page.locator("#page-pair-chart rect title")
    return [str(title) for title in titles.all_text_contents()]


def address(a: str, b: str) -> str:
    return f"#pair={quote(a, safe='')},{quote(b, safe='')}"


def shown(report: sr.ReportResult, text: str) -> str:
    return report.page.names.text(text)


def test_the_leader_and_the_second_are_picked_at_first(
    open_report: Open, report: sr.ReportResult
) -> None:
    page, panel = open_report(), report.page.pairs
    answer = shown(report, panel.text("{decision}", 0, 1))
    assert text_of(page, "#page-pair-answer") == f"{answer}."
    assert list(facts(page)) == [row.about for row in panel.rows]


def test_an_address_picks_two_runs_and_all_is_what_the_library_says(
    open_report: Open, report: sr.ReportResult
) -> None:
    panel = report.page.pairs
    page = open_report()
    for a, b in itertools.islice(itertools.combinations(range(0, N_RUNS, 7), 2), 6):
        # In either order: the better run stands first.
        page.evaluate(f"location.hash = {address(panel.names[b], panel.names[a])!r}")
        answer = shown(report, panel.text("{decision}", a, b))
        playwright.expect(page.locator("#page-pair-answer")).to_have_text(f"{answer}.")
        expected = {row.about: shown(report, panel.text(row.template, a, b)) for row in panel.rows}
        assert facts(page) == expected


def test_bars_are_the_differences_by_topic_and_count_the_wins(
    open_report: Open, report: sr.ReportResult
) -> None:
    panel = report.page.pairs
    a, b = 2, 17
    page = open_report(address(panel.names[a], panel.names[b]))
    gaps = np.round(panel.scores[a] - panel.scores[b], DIGITS)
    drawn = [title.removeprefix("topic ").split(": ") for title in bars(page)]
    by_topic = {topic: float(gap.partition(",")[0].replace("−", "-")) for topic, gap in drawn}
    assert by_topic == pytest.approx(dict(zip(panel.topics, gaps.tolist(), strict=True)))
    figures = list(by_topic.values())
    assert figures == sorted(figures, reverse=True)
    carriers = [gap.endswith(", carries the lead") for _, gap in drawn]
    n_carriers = int(panel.fields["carry"][panel.place(a, b)])
    assert carriers == [place < n_carriers for place in range(len(drawn))]
    wins = int(panel.fields["wins"][panel.place(a, b)])
    losses = int(panel.fields["losses"][panel.place(a, b)])
    assert (sum(gap > 0 for gap in figures), sum(gap < 0 for gap in figures)) == (wins, losses)


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")  # what knows no clusters
def test_bars_of_clusters_that_carry_the_lead(open_tab: Open, tmp_path: Any) -> None:
    rng = np.random.default_rng(4)
    values = np.round(rng.random((4, 24)), DIGITS) + np.array([[0.3], [0.2], [0.1], [0.0]])
    scores = sr.Scores(
        measures=["AP"],
        runs=["a", "b", "c", "d"],
        topics=[f"t{i}" for i in range(24)],
        values=[values],
    )
    info = "".join(f"t{i},{'abcdefgh'[i % 8]}\n" for i in range(24))
    (tmp_path / "info.csv").write_text(f"topic,cluster\n{info}", "utf-8")
    made = sr.report(
        scores=scores, topic_info=tmp_path / "info.csv", out=tmp_path / "page.html", budget="1s"
    )
    compared = made.results["compare"][0]
    page = open_tab((tmp_path / "page.html").resolve().as_uri())
    for place, (a, b) in enumerate(compared.pairs.tolist()):
        page.evaluate(f"location.hash = {address(compared.runs[a], compared.runs[b])!r}")
        playwright.expect(page.locator("#page-pair-caption")).to_contain_text(
            f"{compared.runs[a]} less" if compared.mean[a] > compared.mean[b] else "less"
        )
        dark = [title for title in bars(page) if title.endswith(", carries the lead")]
        named = {title.removeprefix("topic ").partition(":")[0] for title in dark}
        assert named == set(compared.carrying_topics(place))


def test_selects_work_by_keyboard_and_the_address_follows(
    open_report: Open, report: sr.ReportResult
) -> None:
    panel, page = report.page.pairs, open_report("#page-pair")
    second = page.get_by_label("and", exact=True)
    second.focus()
    page.keyboard.press("ArrowDown")
    assert second.input_value() == "2"
    assert page.evaluate("location.hash") == address(panel.names[0], panel.names[2])
    second.select_option("0")
    assert text_of(page, "#page-pair-answer") == "Pick two different runs."


def test_two_clicks_in_the_leaderboard_pick_two_runs(
    open_report: Open, report: sr.ReportResult
) -> None:
    panel, page = report.page.pairs, open_report("#leaderboard")
    buttons = page.locator("#leaderboard button.pick")
    assert buttons.count() == N_RUNS
    buttons.nth(3).click()
    assert "pick another run" in text_of(page, "#leaderboard .status")
    buttons.nth(8).press("Enter")
    assert page.evaluate("location.hash") == address(panel.names[3], panel.names[8])
    answer = shown(report, panel.text("{decision}", 3, 8))
    assert text_of(page, "#page-pair-answer") == f"{answer}."


def test_a_pair_is_copied_as_a_sentence_and_as_latex(
    open_report: Open, report: sr.ReportResult
) -> None:
    panel = report.page.pairs
    options = {"permissions": ["clipboard-read", "clipboard-write"]}
    page = open_report(address(panel.names[1], panel.names[20]), **options)
    page.get_by_role("button", name="Copy sentence").click()
    playwright.expect(page.locator("#page-pair .status")).to_have_text("Copied.")
    sentence = page.evaluate("navigator.clipboard.readText()")
    assert sentence == panel.text(panel.sentence, 1, 20)
    page.locator("[data-pair-copy=latexSentence]").click()
    for _ in range(1000):  # copying takes its time, and the page's policy forbids waiting inside
        latex = page.evaluate("navigator.clipboard.readText()")
        if latex != sentence:
            break
    assert r"rerank\_\&\_fuse.trec" in latex
    assert "−" not in latex
    assert re.search(r"difference \$[+-][\d.]+\$, 95\\% interval \$\[", latex)


def test_a_team_is_filtered_and_the_best_of_each_is_shown(open_report: Open) -> None:
    page = open_report("#leaderboard")
    teams = page.locator("#leaderboard tbody tr:visible > :nth-child(3)")
    assert teams.count() == 25
    page.locator("#leaderboard select").select_option("team 3")
    assert teams.all_text_contents() == ["team 3"] * (N_RUNS // 5)
    assert text_of(page, "#leaderboard .status") == f"{N_RUNS // 5} of {N_RUNS} rows"
    page.locator("#leaderboard select").select_option("all")
    page.get_by_label("Best per team").check()
    assert sorted(teams.all_text_contents()) == [f"team {i}" for i in range(5)]
    page.get_by_label("Best per team").uncheck()
    page.locator("#leaderboard input[type=search]").fill("full_ranking_07")
    assert teams.count() == 1, "what is left out of a name can be searched for"


def test_names_are_short_and_hovering_tells_the_whole(open_report: Open) -> None:
    page = open_report("#leaderboard")
    best = page.locator("#leaderboard button.pick").first
    assert re.fullmatch(r"ranking_\d\d", str(best.text_content()))
    best.hover()
    assert text_of(page, "#page-tip").startswith("input.dl2019_passage_full_ranking_")
    assert "shown without" in text_of(page, ".legend")


def test_sections_fold_and_the_address_keeps_the_place(open_report: Open) -> None:
    page = open_report()
    assert page.locator("section.fold > details[open]").count() == 0
    assert page.locator("#compare .found").is_visible(), "what was found is seen without a click"
    assert not page.locator("#pairs").is_visible()
    page.locator("#compare > details > summary").press("Enter")
    assert page.locator("#pairs").is_visible()
    assert page.evaluate("location.hash") == "#compare"
    means = page.locator("#compare .meaning").last
    assert not means.locator("p").first.is_visible()
    means.locator("summary").click()
    assert means.locator("p").first.is_visible()
    assert page.evaluate("location.hash") == "#compare", "a fold without an id has no address"
    again = open_report("#topic-levels")
    assert again.locator("#topic-levels").is_visible(), "a link into a section opens it"
    again.get_by_role("link", name="Other measures").click()
    playwright.expect(again.locator("#agree > details")).to_have_attribute("open", "")


def test_what_the_data_do_not_answer_is_a_line_with_its_option(open_report: Open) -> None:
    page = open_report()
    assert page.locator("section#judges").count() == 0
    assert "add a column judge" in text_of(page, "#page-else #judges")


def test_print_shows_what_is_open_and_the_answer_on_the_first_sheet(open_report: Open) -> None:
    page = open_report()
    page.locator("#evaluate > details > summary").click()
    page.emulate_media(media="print")
    assert not page.locator("#pairs").is_visible(), "folded sections stay folded"
    assert page.locator("#leaderboard tbody tr").last.is_visible(), "no row is folded on paper"
    assert not page.locator("#page-pair").is_visible(), "nobody picked a pair"
    tiles = page.locator(".tiles").bounding_box()
    assert tiles["y"] + tiles["height"] < 1123, "a sheet of paper at 96 dots per inch"
    sheets = len(re.findall(rb"/Type\s*/Page\b", page.pdf()))
    assert sheets <= 12


def test_a_phone_shows_everything_and_a_pair_without_scrolling_sideways(open_report: Open) -> None:
    page = open_report(viewport={"width": 390, "height": 844})
    for fold in page.locator("summary").all():
        if fold.locator("..").get_attribute("open") is None:
            fold.click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("#page-pair select").first.bounding_box()["width"] <= 358
    assert page.locator("#page-pair-chart rect").first.is_visible()


def test_without_scripts_sections_can_be_opened(open_report: Open) -> None:
    page = open_report(java_script_enabled=False)
    assert page.locator("#page-verdict").is_visible()
    page.locator("#compare > details > summary").click()
    assert page.locator("#pairs tbody tr").last.is_visible(), "no row is folded"
    assert not page.locator("#page-pair").is_visible()
    assert not page.get_by_role("link", name="Compare two").is_visible()
