"""The report: same bytes for the same data, every study that the data support, and why not."""

from __future__ import annotations

import hashlib
import html
import re
import socket

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.present.page import Page
from steadyrank.reporting import page as report_page
from steadyrank.studies import registry
from steadyrank.studies.material import Material, Settings
from steadyrank.studies.part import Findings

STUDIES = (
    *("check", "compare", "systems", "stability", "plan", "topics", "simulate", "instances"),
    *("components", "agree", "pools", "judges", "holes"),
)


VARIED = {"topics", "simulate", "agree", "instances", "judges"}
"""Of what the studies vary, that for which they have a share of pairs that swap here."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Eight runs, two instances of each of four systems, one a team, which make a 2 x 2 grid.

    The last run lacks a topic.
    """
    root = tmp_path_factory.mktemp("track")
    track = sr.simulated_track(
        n_teams=4, runs_per_team=1, n_instances=2, n_topics=12, depth=40, pool_depth=20
    )
    (root / "runs").mkdir()
    rows = ["run,team,system,stemmer,model\n"]
    for place, run in enumerate(track.runs):
        system = place // 2
        sr.write_run(run, root / "runs" / f"{run.name}.run")
        rows.append(
            f"{run.name},{run.info['team']},{run.info['system']},{'ab'[system % 2]},"
            f"{'xy'[system // 2]}\n"
        )
    last = root / "runs" / f"{track.runs[-1].name}.run"
    lines = last.read_text().splitlines(keepends=True)
    last.write_text("".join(line for line in lines if not line.startswith("312 ")))
    (root / "info.csv").write_text("".join(rows))
    sr.write_qrels(track.qrels, root / "qrels.txt")
    lines = (root / "qrels.txt").read_text().splitlines()
    other = [line if place % 9 else f"{line[:-1]}1" for place, line in enumerate(lines)]
    (root / "other.txt").write_text("\n".join(other) + "\n")
    return root


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    values = rng.random((2, 6, 30)) * 0.2 + rng.random((6, 1)) * 0.3 + rng.random(30) * 0.3
    return sr.Scores(
        measures=("AP", "RR"),
        runs=[f"r{i}" for i in range(6)],
        topics=[f"t{i}" for i in range(30)],
        values=values,
    )


MEASURES = ("AP", "nDCG@10", "P@10")


def made(folder, out, **options):
    return sr.report(
        [folder / "runs"],
        folder / "qrels.txt",
        out=out,
        run_info=folder / "info.csv",
        judges={"other": folder / "other.txt"},
        **{"measures": MEASURES, "n_samples": 60, "no_relevant": "skip", **options},
    )


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    """A report with every study, and its bytes."""
    out = tmp_path_factory.mktemp("page") / "report.html"
    with pytest.warns(sr.SteadyrankWarning):
        result = made(folder, out, jobs=1)
    return result, out.read_bytes()


def plain(text):
    """The words of a page, without its tags."""
    return html.unescape(re.sub("<[^>]*>", "", text))


def section(result, study):
    return next(each for each in result.page.sections if each.id == study)


def test_every_study_has_its_section_with_answer_figures_and_tables(whole):
    result, content = whole
    unasked = {"battles", "datasets", "graders", "answers"}
    assert set(result.left_out) == unasked, "they take tables of their own"
    assert set(result.results) == {"evaluate", *STUDIES}
    assert [each.id for each in result.page.sections] == [
        study.name
        for study in registry.studies_by_place()
        if study.name not in ("graders", "answers")  # which take grades
    ]
    for each in result.page.sections:
        if each.id in ("battles", "datasets"):
            continue
        assert each.answer, each.id
        assert each.tables, each.id
        assert each.means, each.id
        assert each.means_not, each.id
        assert not each.why_not, each.id
        if each.id not in ("check", "systems"):
            assert each.figures, each.id
    text = content.decode()
    in_sections = sum(len(each.figures) for each in result.page.sections)
    first = result.page.first
    assert text.count("<svg") == in_sections + len(first.board.rows) + len(first.bars)
    assert {bar.link for bar in first.bars} == VARIED
    assert first.not_examined == "Not examined: other datasets (report --datasets TABLE)."
    assert len(content) < 3_000_000


def test_the_same_data_give_the_same_bytes_for_any_jobs(whole, folder, tmp_path):
    result, content = whole
    out = tmp_path / "another-name.html"
    with pytest.warns(sr.SteadyrankWarning):
        again = made(folder, out, jobs=2)
    assert out.read_bytes() == content
    assert again.findings == result.findings
    assert again.path == out


def test_results_are_the_studies_own(whole):
    result, _ = whole
    scores = result.results["evaluate"]
    expected = sr.compare(scores, measure="AP", by="run")
    main = result.results["compare"][0]
    np.testing.assert_array_equal(main.pvalue_adjusted, expected.pvalue_adjusted)
    assert [each.measure for each in result.results["compare"]] == list(scores.measures)
    assert result.results["simulate"].n_samples == result.n_samples["simulate"] == 60
    assert result.results["topics"].n_trials == 60
    assert result.results["components"].factors == ("stemmer", "model")
    assert len(result.results["instances"].comparisons) == 6
    assert result.results["pools"].teams == ("team1", "team2", "team3", "team4")


def test_the_first_screen_is_the_first_of_the_findings(whole):
    result, content = whole
    first, words = result.page.first, plain(content.decode())
    leading = [first.verdict, first.line, *first.cautions]
    assert result.sentences[: len(leading)] == leading
    for sentence in (*leading, first.not_examined, *(tile.text for tile in first.tiles)):
        assert sentence in words
    assert str(result) == "\n".join(result.sentences)
    rows = [{"id": one.id, "finding": one.text} for one in result.findings]
    assert result.to_frame().to_dict("records") == rows
    assert f"{len(result.results)} studies" in repr(result)


def test_tables_show_the_numbers_and_sort_by_all_digits(whole):
    result, _ = whole
    scores = result.results["evaluate"]
    board = section(result, "evaluate").tables[0]
    order = np.argsort(-scores.mean()[0], kind="stable")
    assert [row[1].text for row in board.rows] == [scores.runs[run] for run in order]
    assert [row[2].text for row in board.rows] == [scores.run_info["team"][run] for run in order]
    assert [row[3].value for row in board.rows] == scores.mean()[0][order].tolist()
    assert board.rows[0][3].text == f"{scores.mean()[0].max():.4f}"


def test_provenance_has_hashes_versions_settings_and_samples(whole, folder):
    result, content = whole
    files, samples, settings, versions = result.page.provenance
    assert len(files.rows) == 11
    there = {path.name: path for path in folder.rglob("*")}
    for row in files.rows:
        data = there[row[1].text].read_bytes()
        assert row[2].value == len(data)
        assert row[3].text == hashlib.sha256(data).hexdigest()
    assert [row[0].text for row in files.rows][:2] == ["qrels", "run"]
    assert {row[0].text: row[2].text for row in samples.rows}["simulate"] == "60 collections"
    shown = {row[0].text: row[1].text for row in settings.rows}
    assert shown["no relevant"] == "skip"
    assert shown["seed"] == "0"
    assert {row[0].text for row in versions.rows} == {
        *("steadyrank", "Python", "numpy", "scipy", "numba", "matplotlib")
    }
    text = content.decode()
    assert socket.gethostname() not in text
    assert not re.search(r"20\d\d-\d\d-\d\dT", text)


def test_what_studies_warn_about_stands_in_their_sections(scores, tmp_path, drawn_nowhere):
    values = np.array(scores.values)
    values[0, 0, 0] = np.nan
    odd = sr.Scores(measures=scores.measures, runs=scores.runs, topics=scores.topics, values=values)
    result = sr.report(scores=odd, out=tmp_path / "r.html", n_samples=20)
    assert any("1 of 30 topics" in each for each in section(result, "topics").warnings)
    assert section(result, "compare").warnings == ()


def test_what_is_odd_about_the_data_is_told_once_the_page_is_there(folder, tmp_path, drawn_nowhere):
    out = tmp_path / "r.html"
    with pytest.warns(sr.SteadyrankWarning) as told:
        result = sr.report(
            folder / "runs", folder / "qrels.txt", out=out, measures="P@5", n_samples=5
        )
    said = [str(each.message) for each in told]
    assert len(set(said)) == len(said)
    assert section(result, "evaluate").warnings == tuple(said)
    with pytest.raises(sr.SteadyrankWarning):
        sr.report(
            folder / "runs",
            folder / "qrels.txt",
            out=tmp_path / "s.html",
            measures="P@5",
            n_samples=5,
        )
    assert (tmp_path / "s.html").exists()


def test_scores_alone_give_what_they_can_and_say_why_not(scores, tmp_path, drawn_nowhere):
    result = sr.report(scores=scores, out=tmp_path / "r.html", n_samples=20)
    assert set(result.results) == {"evaluate", "compare", "stability", "plan", "topics", "agree"}
    why = {each.id: each.why_not for each in result.page.sections if each.why_not}
    assert why.items() <= result.left_out.items()
    unasked = {"systems", "graders", "answers"}
    assert set(result.left_out) - set(why) == unasked, "which no command asks for"
    assert why["simulate"] == "requires runs; a table of scores was given"
    assert "there are no files" in why["check"]
    assert why["pools"] == "requires the runs and the judgments; a table of scores was given"
    assert "--system-from" in why["instances"]
    assert "--run-info" in why["components"]
    text = plain((tmp_path / "r.html").read_text("utf-8"))
    for reason in why.values():
        assert reason in text


@pytest.mark.parametrize(
    ("select", "info", "study", "reason"),
    [
        ({"measures": "AP"}, {}, "agree", "one measure only: name a second with -m"),
        ({"runs": ["r0", "r1", "r2"]}, {}, "agree", "3 runs only"),
        ({}, {"system": list("abcdef")}, "instances", "every system has one run"),
        ({}, {"system": ["s"] * 6}, "instances", "all runs are instances of one system"),
        (
            {},
            {"stemmer": list("aaabbb"), "model": list("xyxxyx")},
            "components",
            "the columns stemmer, model do not make a full grid",
        ),
        ({}, {"stemmer": list("aaaabb")}, "components", "the columns stemmer do not make"),
        ({}, {"stemmer": [*"aaabb", ""]}, "components", "the components of the runs are not known"),
    ],
)
def test_what_data_lack_is_said(scores, tmp_path, drawn_nowhere, select, info, study, reason):
    some = scores.select(**select)
    result = sr.report(scores=some.with_run_info(**info), out=tmp_path / "r.html", n_samples=20)
    assert reason in result.left_out[study]
    assert section(result, study).why_not == result.left_out[study]


def test_a_study_that_fails_on_the_data_is_left_out_with_its_reason(tmp_path, drawn_nowhere):
    values = np.full((2, 5, 10), 0.5)
    values[0] = np.random.default_rng(0).random((5, 10))
    flat = sr.Scores(measures=("AP", "same"), runs=list("abcde"), topics=range(10), values=values)
    result = sr.report(scores=flat, out=tmp_path / "r.html", n_samples=10)
    assert "same gives every system the same mean" in result.left_out["agree"]
    assert "every score is the same" in result.left_out["stability"]
    assert "compare" in result.results


def test_files_of_scores_are_read_and_named(scores, tmp_path, drawn_nowhere):
    long, wide = tmp_path / "long.csv", tmp_path / "ap.csv"
    sr.write_scores(scores, long)
    sr.write_scores(scores.select(measures="AP"), wide, wide=True)
    by_file = sr.report(scores=long, out=tmp_path / "a.html", measures=["RR", "AP"], n_samples=10)
    assert by_file.results["evaluate"].measures == ("RR", "AP")
    named = sr.report(scores={"mine": wide}, out=tmp_path / "b.html", n_samples=10)
    assert named.results["evaluate"].measures == ("mine",)
    assert named.page.provenance[0].rows[0][0].text == "scores of mine"
    alone = sr.report(scores=wide, out=tmp_path / "c.html", measures="AP", n_samples=10)
    assert alone.results["evaluate"].measures == ("AP",)


@pytest.mark.parametrize(("memory", "most"), [(1 << 30, 1), (0, 6)])
def test_every_run_is_read_once_or_once_per_step_where_memory_is_short(
    folder, whole, tmp_path, drawn_nowhere, opened_files, monkeypatch, memory, most
):
    monkeypatch.setattr("steadyrank.data.read.runs.MOST_KEPT", memory)
    with opened_files() as opened, pytest.warns(sr.SteadyrankWarning):
        again = made(folder, tmp_path / "again.html")
    # Once more for the first line, whose tag another run may have.
    assert {opened[str(path)] for path in (folder / "runs").iterdir()} == {most + 1}
    assert set(again.results) == set(whole[0].results), (
        "evaluate twice, check, simulate, holes, pools"
    )
    assert again.page.provenance[0] == whole[0].page.provenance[0], "the same hashes"


def test_a_report_of_runs_that_say_how_they_are_read(folder, whole, tmp_path, drawn_nowhere):
    runs = sr.read_runs(folder / "runs", run_info=folder / "info.csv")
    with pytest.warns(sr.SteadyrankWarning):
        again = sr.report(
            runs,
            folder / "qrels.txt",
            judges={"other": folder / "other.txt"},
            out=tmp_path / "again.html",
            measures=MEASURES,
            n_samples=60,
            no_relevant="skip",
        )
    assert again.page.provenance == whole[0].page.provenance
    assert again.findings == whole[0].findings


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": "soon"}, "such as 45s"),
        ({"alpha": 0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"delta": -1.0}, "delta"),
        ({"minimum_difference": 0}, "minimum_difference"),
        ({"pool_depth": 0}, "pool_depth"),
        ({"n_samples": 1}, "n_samples"),
        ({"measures": "nDGC"}, "nDGC"),
        ({"qrels": "somewhere"}, "either runs and qrels or scores"),
        ({"scores": None}, "give runs and qrels, or scores"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(scores, tmp_path, options, message):
    out = tmp_path / "r.html"
    with pytest.raises(sr.InputError, match=message):
        sr.report(**{"scores": scores, "out": out, **options})
    assert not out.exists()


def test_too_little_to_compare_is_refused(scores, tmp_path):
    for part, message in (
        (scores.select(runs="r0"), "at least two are required, got 1"),
        (scores.select(topics="t0"), "at least two topics are required, got 1"),
    ):
        with pytest.raises(sr.InputError, match=message):
            sr.report(scores=part, out=tmp_path / "r.html")
    nothing = sr.Scores(
        measures=["AP"], runs=["a", "b"], topics=[1, 2], values=np.full((1, 2, 2), np.nan)
    )
    with pytest.raises(sr.InputError, match="fewer than two runs have a score by AP"):
        sr.report(scores=nothing, out=tmp_path / "r.html")


def test_the_place_is_checked_before_anything_is_read(tmp_path):
    with pytest.raises(sr.InputError, match="does not exist: create it first"):
        sr.report("no runs", "no qrels", out=tmp_path / "no" / "r.html")
    with pytest.raises(sr.InputError, match="this is a folder"):
        sr.report("no runs", "no qrels", out=tmp_path)


def test_many_runs_and_topics_make_no_heavy_page(tmp_path):
    """The sections that grow: heat maps are dropped, pairs are cut, and the captions say so."""
    rng = np.random.default_rng(0)
    values = rng.random((1, 90, 300)) * 0.3 + rng.random((1, 90, 1)) * 0.5
    many = sr.Scores(
        measures=["AP"], runs=[f"r{i}" for i in range(90)], topics=range(300), values=values
    )
    findings = Findings(
        material=Material(scores=many, settings=Settings()),
        results={"evaluate": many, "compare": (sr.compare(many),)},
        why_not={},
        warnings={},
    )
    board, pairs = sections = [
        report_page.make_section(study, findings, study.part.body(result, findings))
        for study in registry.studies_by_place()
        if study.name in ("evaluate", "compare")
        for result in [findings.results.get(study.name)]
    ]
    assert [each.id for each in board.figures] == ["ranks"]
    assert "pairs-map" not in [each.id for each in pairs.figures]
    listed = pairs.tables[0]
    assert len(listed.rows) == 45 + 80
    assert "lists the other 3,880" in listed.caption
    page = Page(title="t", subtitle="", lead=(), sections=tuple(sections))
    from steadyrank.present.page import page_html

    assert len(page_html(page)) < 4_000_000


@pytest.mark.filterwarnings("ignore:The 20 topics form")
def test_judges_and_answers_have_their_bars(tmp_path, drawn_nowhere):
    scores = sr.simulated_facets(n_systems=4, n_topics=20, n_judges=3, n_answers=2, rng=1)
    result = sr.report(scores=scores, out=tmp_path / "r.html", n_samples=20)
    bars = {bar.about: bar.share for bar in result.page.first.bars}
    shares = result.results["graders"][0].swaps
    assert bars.keys() == {"Other judges", "Other answers", "Other topics"}
    assert (bars["Other judges"], bars["Other answers"]) == (shares["judges"], shares["answers"])
    assert result.results["compare"][0].test == "mixed"
    clustered = scores.with_topic_info(cluster=[f"c{i // 2}" for i in range(20)])
    again = sr.report(scores=clustered, out=tmp_path / "r.html", n_samples=20)
    compared = again.results["compare"][0]
    assert (compared.judges_fixed, compared.n_clusters) == (True, 10)
