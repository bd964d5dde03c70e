"""What print and a notebook show: every result as a table, and no name as markup."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from steadyrank.notebook import Framed, shown_by
from steadyrank.present.json import to_json
from steadyrank.present.run_names import names_of, shown_as
from steadyrank.present.view import Finding
from steadyrank.studies.compare.view import compare_text
from steadyrank.studies.registry import all_plots
from steadyrank.studies.stability.view import VIEW as STABILITY
from steadyrank_lab.papers.model import Claim, Exhibit

NASTY = "<script>alert('run')</script>"
FACTOR = f"{NASTY}model"

WITHOUT_TABLE = {"Battles", "Qrels", "Run"}
"""Data, not results: a notebook shows them by their `repr`."""


def classes_with_frames() -> dict[str, type]:
    """Return every class of the package with `to_frame`, inherited or not."""
    found = {}
    for module in pkgutil.walk_packages(sr.__path__, "steadyrank."):
        if module.name.endswith("__main__"):
            continue
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and hasattr(value, "to_frame"):
                found[value.__name__] = value
    own = {name: kind for name, kind in found.items() if kind.__module__.startswith("steadyrank.")}
    return {name: kind for name, kind in own.items() if kind is not Framed}


@pytest.fixture(scope="module")
def scores():
    """Return a grid of two systems with three instances each and unusual names."""
    rng = np.random.default_rng(5)
    runs = [f"{NASTY}{i}" for i in range(6)]
    return sr.Scores(
        measures=["AP", f"{NASTY}measure"],
        runs=runs,
        topics=[f"{NASTY}{t}" for t in range(12)],
        values=rng.random((2, 6, 12)),
        run_info={
            "system": [f"{NASTY}a"] * 3 + ["b"] * 3,
            "stemmer": [f"{NASTY}x", "y"] * 3,
            FACTOR: ["1", "2", "2", "1", "3", "3"],
        },
    )


@pytest.fixture(scope="module")
def results(scores, tmp_path_factory):
    """Return one result of every class, by name."""
    runs = [
        sr.run_from_dict(
            {t: {f"d{d}": float(d * (r + int(t)) % 7) for d in range(8)} for t in "123"},
            name=f"{NASTY}{r}",
        )
        for r in range(4)
    ]
    qrels = sr.qrels_from_dict({t: {"d1": 1, "d2": 0, "d3": 1} for t in "123"})
    one, two = scores.run_info["system"][0], "b"
    plain = scores.with_run_info(system=[f"{NASTY}{i}" for i in range(6)])
    grid = sr.components(scores, factors=["stemmer", FACTOR], measure="AP")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        found = [
            scores,
            sr.compare(scores, measure="AP"),
            sr.simulate(runs, qrels, n_samples=20),
            sr.topics(scores, measure="AP", n_trials=20),
            sr.agree(scores, topic_sizes=[4, 6], system_sizes=[3, 5], n_samples=5),
            grid,
            grid.anova,
            sr.instances(scores, a=one, b=two, measure="AP", posterior=False, n_samples=50),
            sr.instances(plain, b=f"{NASTY}0", measure="AP", posterior=False, n_samples=50),
            sr.plan(scores, minimum_difference=0.2, systems=3),
            sr.pools(runs, qrels, measures="AP", n_trials=2, team_from="(.*)", pool_depth=3),
            sr.stability(scores, measure="AP"),
            sr.stability(sr.simulated_facets(n_systems=4, n_topics=12, n_judges=3)),
            sr.judges(scores, {f"{NASTY}j": scores}, measure="AP", n_samples=50),
            sr.datasets(leaderboard(), n_samples=50),
            sr.battles(battles(), n_samples=50, next_battles=2),
            sr.holes(runs, qrels, measure="P@5", n_samples=20),
        ]
        store = tmp_path_factory.mktemp("store")
        found.append(sr.simulate(runs, qrels, n_samples=20, part=(1, 2), store=store))
    folder = tmp_path_factory.mktemp("runs")
    sides = (scores.select(runs=name) for name in scores.runs[:2])
    gate = sr.gate(*sides, measures="AP", margin=0.9, history=folder / "gates")
    found += [gate, gate.history]
    made = sr.write_grid(
        {"d1": "river banks", "d2": "old banks"},
        {"1": "banks"},
        stop_lists=["none"],
        lexical=["none"],
        models=["BM25"],
        out=folder / "made",
    )
    found += [
        sr.check(runs, qrels),
        sr.compare(scores, n_samples=200, by="run"),
        sr.audit_tests(scores, measure="AP", n_trials=10),
        sr.kendall_tau([3, 1, 2], [3, 2, 1]),
        reproduction(),
    ]
    report = sr.ReportResult(
        page=None,
        path=folder / "page.html",
        command="steadyrank report",
        findings=(Finding("toy.first", f"{NASTY} is first."),),
        results={},
        left_out={},
        n_samples={},
        seed=0,
    )
    found += [made, report]
    return {type(result).__name__: result for result in found}


def leaderboard():
    rng = np.random.default_rng(8)
    scores = {f"{NASTY}{task}": rng.random(4) for task in range(6)}
    return pd.DataFrame({"model": [f"{NASTY}{run}" for run in range(4)]} | scores)


def battles():
    found = sr.simulated_battles(3, 10, n_judges=3, tie_share=0.1, position=0.2)
    return replace(
        found,
        models=[f"{NASTY}{k}" for k in range(3)],
        judge=[f"{NASTY}{name}" for name in found.judge],
    )


def reproduction():
    claims = (Claim(text=f"{NASTY} holds", holds=True), Claim(text="fails", holds=False))
    exhibit = Exhibit(id="table-1", title="A table", claims=claims)
    return sr.Reproduction(paper="p", reference="P.", data="d", exhibits=(exhibit,))


def test_every_result_with_a_frame_has_a_table_of_its_own(results):
    frames = classes_with_frames()
    without = {name for name, kind in frames.items() if not hasattr(kind, "_repr_html_")}
    assert without == WITHOUT_TABLE
    assert set(frames) - without - set(results) == set()


def returned_classes() -> dict[str, type]:
    """Every class of the package that a public function returns, alone or in a list."""
    found: dict[str, type] = {}
    for name in sr.__all__:
        value = getattr(sr, name)
        if inspect.isfunction(value):
            pending = [typing.get_type_hints(value, globalns=_names(value)).get("return")]
            while pending:
                kind = pending.pop()
                pending += typing.get_args(kind)
                if isinstance(kind, type) and kind.__module__.startswith("steadyrank."):
                    found[kind.__name__] = kind
    return found


def _names(function):
    """The names of a function's module, and those that it imports for annotations alone."""
    from concurrent.futures import Executor

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    return {
        "Executor": Executor,
        "Axes": Axes,
        "Figure": Figure,
        **vars(inspect.getmodule(function)),
    }


def test_an_interval_has_two_ends_and_is_a_list_in_json(results):
    low, high = interval = sr.Interval(0.1, 0.3)
    assert (low, high) == (interval.low, interval.high) == (0.1, 0.3)
    assert to_json({"interval": interval}) == '{"interval": [0.1, 0.3]}\n'
    intervals = (
        results["InstancesResult"].interval,
        results["InstancesResult"].equivalence.interval,
        results["PlanResult"].plans[0].topics_interval,
        results["StabilityResult"].coefficients[0].phi_interval,
        results["SimulateResult"].rank_correlation.interval,
        results["PoolsResult"].references[0].variance_interval,
        *results["AgreeResult"].limits.values(),
        results["JudgesResult"].of().worth.interval,
    )
    assert {type(each) for each in intervals} == {sr.Interval}


DATA = {
    "Run",
    "Runs",
    "Qrels",
    "Measure",
    "BuiltinCollection",
    "SimulatedTrack",
    "Leaderboard",
    "Battles",
}
"""Not results: one line says what they are."""


NUMBERS = {"RankCorrelation"}
"""Results that are a number, and how it was found."""


def test_every_class_that_a_public_function_returns_is_public():
    assert len(returned_classes()) > 20
    assert set(returned_classes()) - set(sr.__all__) == set()


def test_every_result_of_a_public_function_prints_as_a_table(results):
    assert set(returned_classes()) - DATA - set(results) == set()
    for name, result in results.items():
        printed, line = str(result), repr(result)
        assert "array(" not in printed, name
        assert f"{name}(" not in printed, name
        shown, _, _ = printed.partition("\nNames of runs are shown without")
        assert len(shown.split("\n")) <= 60, name
        assert line.startswith("<"), name
        assert "\n" not in line, name
        assert "array(" not in line, name
        assert len(line) < 400, name


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
def test_printing_shows_what_the_command_prints(scores):
    result = sr.compare(scores, measure="AP")
    with shown_as(names_of(result)):
        assert str(result) == compare_text(result, "table").rstrip("\n")
    stable = sr.stability(scores, measure="AP")
    assert str(stable) == STABILITY.text([stable], "table").rstrip("\n")


def test_tables_hold_names_as_text(results):
    for name, result in results.items():
        if name in NUMBERS:
            continue
        shown = result._repr_html_()
        assert ("<caption" if name != "ReportResult" else "<p") in shown, name
        assert "<script" not in shown, name
        assert "script>" not in shown, name
        text = result.to_frame().to_string()
        if NASTY in text:
            # Where long names are shortened to their words, the first character goes.
            assert "script&gt;" in shown, name


def test_frames_hold_a_scalar_in_every_cell(results):
    for name, result in results.items():
        if name in NUMBERS:
            continue
        frame = result.to_frame()
        assert len(frame), name
        for column in frame.columns:
            odd = {
                type(cell) for cell in frame[column] if cell is not None and not np.isscalar(cell)
            }
            assert not odd, (name, column)
        ends = {str(column) for column in frame.columns if str(column).endswith("interval")}
        assert not ends, name


def test_every_result_goes_into_a_paper(results):
    for name, result in results.items():
        if name in NUMBERS:
            continue
        latex = result.to_latex()
        assert latex.startswith("\\begin{table"), name
        assert latex.rstrip().endswith(("\\end{table}", "\\end{table*}")), name
        assert "\\caption{" in latex, name
        assert "\n| ---" in result.to_markdown() or result.to_markdown().startswith("<"), name
        assert "<caption" in result.to_html(), name


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_result_that_has_a_figure_draws_it(results):
    drawn = all_plots()
    for name, result in results.items():
        if name in drawn or hasattr(result, "first_result"):
            assert result.plot().axes, name
        elif name not in NUMBERS:
            with pytest.raises(sr.InputError, match="there is no plot of a "):
                result.plot()


def test_rows_and_a_caption_are_enough():
    @dataclass(frozen=True, slots=True, kw_only=True)
    @shown_by()
    class Found(Framed):
        best: str

        def caption(self):
            return "What was found."

        def rows(self):
            interval = sr.Interval(0.1, 0.3)
            return [{"run": self.best, "interval": interval, "p": {"t": 0.5}, "trials": (1, 2, 3)}]

    result = Found(best="bm25")
    assert list(result.to_frame()) == ["run", "interval_low", "interval_high", "p_t"]
    assert repr(result) == "<Found: What was found.>"
    assert str(result).splitlines()[0].split() == ["run", "interval_low", "interval_high", "p_t"]
    assert result.to_markdown().startswith("| run | interval\\_low |")
    assert "What was found.</caption>" in result._repr_html_()
    assert result.to_latex().startswith("\\begin{table}")
    with pytest.raises(sr.InputError, match="there is no plot of a Found"):
        result.plot()
