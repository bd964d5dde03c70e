"""One grammar for all studies: data first, in either order, then measures; one meaning per word."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
from steadyrank.guesses import ABSENT
from steadyrank.measures.arguments import names_measures

NAMES = ("bm25", "splade", "dense")

RUNS_AND_SCORES = {
    "agree": {"topic_sizes": [5], "system_sizes": [3], "n_samples": 3, "measures": ["AP", "RR"]},
    "audit_tests": {"n_trials": 5},
    "compare": {"n_samples": 50},
    "components": {"factors": "kind"},
    "instances": {"posterior": False, "n_samples": 20, "a": "bm25", "b": "splade"},
    "plan": {},
    "stability": {},
    "topics": {"n_trials": 20},
}
"""Studies of scores, or of runs and judgments, with what makes them short."""

FROM_RUN_INFO = ("agree", "components", "instances")
"""Those that a frame of one measure, which says nothing about its runs, does not support."""

RUNS_ALONE = {
    "check": {},
    "evaluate": {},
    "holes": {"n_samples": 20},
    "pools": {"n_trials": 2},
    "simulate": {"n_samples": 20},
}

pytestmark = pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")


def signature(name):
    return inspect.signature(getattr(sr, name)).parameters


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Three runs of three teams, judgments, and what is known about the runs."""
    root = tmp_path_factory.mktemp("grammar")
    rng = np.random.default_rng(1)
    topics = [f"q{t}" for t in range(12)]
    grades = {q: {f"d{i}": int(rng.random() < 0.4) for i in range(20)} for q in topics}
    sr.write_qrels(sr.qrels_from_dict(grades), root / "qrels.txt")
    (root / "runs").mkdir()
    for seed, name in enumerate(NAMES):
        noise = np.random.default_rng(seed).random((12, 20))
        ranking = {
            q: {d: grades[q][d] * 0.2 + float(noise[t, i]) for i, d in enumerate(grades[q])}
            for t, q in enumerate(topics)
        }
        sr.write_run(sr.run_from_dict(ranking, name=name), root / "runs" / f"{name}.run")
    rows = [f"{name},{name},{name},{name}" for name in NAMES]
    (root / "info.csv").write_text("\n".join(["run,team,system,kind", *rows]) + "\n")
    return root


@pytest.fixture
def data(home, monkeypatch):
    monkeypatch.chdir(home)
    return sr.read_runs("runs", run_info="info.csv"), sr.read_qrels("qrels.txt")


def said(result):
    """All numbers of a result, as text."""
    results = result if type(result) is list else [result]
    return [str(one.to_frame().to_dict()) for one in results]


WORDS = ("measure", "measures", "test", "alpha", "baseline", "rng")


@pytest.mark.parametrize("name", ["agree", "check", "datasets", "evaluate", "holes", "stability"])
def test_words_that_a_study_lacks_are_answered(name):
    for word in set(WORDS) & ABSENT.keys() - signature(name).keys():
        with pytest.raises(TypeError, match=f"{name}.. got .* {word!r}: it .*") as told:
            getattr(sr, name)(None, **{word: 1})
        assert ABSENT[word] in str(told.value)


# data in either order


@pytest.mark.parametrize("name", {**RUNS_AND_SCORES, **RUNS_ALONE})
def test_runs_and_judgments_are_taken_in_either_order(data, name):
    study = getattr(sr, name)
    options = {**RUNS_AND_SCORES, **RUNS_ALONE}[name]
    runs, qrels = data
    expected = said(study(runs, qrels, **options))
    assert said(study(qrels, runs, **options)) == expected
    assert said(study("qrels.txt", runs, **options)) == expected
    if name not in ("components", "instances", "pools"):  # they need what is known about runs
        assert said(study("qrels.txt", "runs", **options)) == expected
        assert said(study("qrels.txt", sorted(map(str, runs.files)), **options)) == said(
            study(sorted(map(str, runs.files)), "qrels.txt", **options)
        )


def test_gate_and_judges_take_the_order_of_the_command(data):
    pair = ["runs/bm25.run", "runs/dense.run"]
    gate = sr.gate(*pair, "qrels.txt", measures="AP", margin=0.3)
    assert said(sr.gate("qrels.txt", *pair, measures="AP", margin=0.3)) == said(gate)
    judges = sr.judges(*data, {"same": "qrels.txt"}, n_samples=99)
    assert said(sr.judges(data[1], data[0], {"same": "qrels.txt"}, n_samples=99)) == said(judges)


def test_named_arguments_are_what_they_are_named(data):
    with pytest.raises(sr.InputError):
        sr.evaluate(runs="qrels.txt", qrels="runs")


# measures


@pytest.mark.parametrize("name", [n for n in RUNS_AND_SCORES if n != "agree"])
@pytest.mark.parametrize("measure", ["nDCG@10", "ndcg_cut_10", sr.parse_measure("nDCG@10")])
def test_a_measure_is_given_by_position_or_by_either_word(data, name, measure):
    study, options = getattr(sr, name), RUNS_AND_SCORES[name]
    expected = said(study(*data, **options, measures=["nDCG@10"]))
    assert said(study(*data, measure, **options)) == expected
    assert said(study(*data, measure=measure, **options)) == expected
    assert said(study(*data, measures=[measure], **options)) == expected
    scores = sr.evaluate(*data, ["AP", "nDCG@10"])
    if measure != "ndcg_cut_10":  # of scores, names are labels
        assert said(study(scores, measure, **options)) == expected
        assert said(study(scores, measures=measure, **options)) == expected


@pytest.mark.parametrize("name", ["holes", "pools", "simulate", "evaluate"])
def test_studies_of_rankings_take_a_measure_by_position(data, name):
    study, options = getattr(sr, name), RUNS_ALONE[name]
    shown = [
        said(study(*data, *place, **options, **named))
        for place, named in ((("nDCG@10",), {}), ((), {"measure": "nDCG@10"}))
    ]
    assert shown[0] == shown[1]


@pytest.mark.parametrize("name", ["instances", "judges", "simulate", "stability", "topics"])
def test_several_measures_for_one_are_answered(name):
    with pytest.raises(sr.InputError, match=f"{name} takes one measure at a time, got AP, RR"):
        getattr(sr, name)(None, measures=["AP", "RR"])


def test_both_words_at_once_are_refused(data):
    for study in (sr.compare, sr.evaluate, sr.stability, sr.plan):
        with pytest.raises(sr.InputError, match="give either measure= or measures=, not both"):
            study(*data, measure="AP", measures=["AP"])


def test_what_names_measures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "AP").write_text("q1 0 d1 1\n")
    scores = sr.as_scores({"q1": {"mine": 1.0}}, name="a")
    assert names_measures(["RR", sr.parse_measure("P@5")])
    assert not names_measures("AP")  # a file of that name
    assert not names_measures("mine")
    assert names_measures("mine", scores)
    assert not names_measures([])
    assert not names_measures("x" * 5000)


# frames


def frames(scores):
    """The same scores of one measure in every form of table that people have."""
    polars = pytest.importorskip("polars")
    import pyarrow as pa

    long = scores.to_frame()
    wide = long.pivot(index="topic", columns="run", values="value")[list(scores.runs)]
    columns = wide.reset_index().rename_axis(columns=None)
    return {
        "long": long,
        "wide, topics in the index": wide,
        "wide, a column of topics": columns,
        "polars, long": polars.from_pandas(long),
        "polars, wide": polars.from_pandas(columns),
        "arrow, wide": pa.Table.from_pandas(columns, preserve_index=False),
    }


@pytest.mark.parametrize("name", [n for n in RUNS_AND_SCORES if n not in FROM_RUN_INFO])
def test_every_study_takes_long_and_wide_frames(data, name):
    study, options = getattr(sr, name), RUNS_AND_SCORES[name]
    scores = sr.evaluate(*data, "AP")
    plain = sr.Scores(
        measures=scores.measures, runs=scores.runs, topics=scores.topics, values=scores.values
    )
    expected = said(study(plain, "AP", **options))
    for form, frame in frames(scores).items():
        assert said(study(frame, "AP", **options)) == expected, form


def test_gate_and_judges_take_frames(data):
    scores = sr.evaluate(*data, "AP")
    by_run = {run: scores.select(runs=run) for run in NAMES}
    expected = sr.gate(by_run["bm25"], by_run["dense"], "AP", margin=0.3).to_frame()
    for place in (0, 2):
        old, new = (list(frames(by_run[run]).values())[place] for run in ("bm25", "dense"))
        shown = sr.gate(old, new, "AP", margin=0.3).to_frame()
        pd.testing.assert_frame_equal(shown, expected)
    judged = sr.judges(scores, {"same": scores}, n_samples=99)
    assert said(sr.judges(scores.to_frame(), {"same": scores.to_frame()}, n_samples=99)) == said(
        judged
    )


def test_a_frame_of_a_run_stays_a_run(data):
    runs, qrels = data
    frame = runs[0].to_frame()
    assert sr.evaluate(frame, qrels, "AP").mean() == sr.evaluate(runs[0], qrels, "AP").mean()
    numbered = frame.assign(doc_id=range(len(frame)))
    assert sr.evaluate(numbered, qrels, "AP").runs == ("run",)


def test_what_is_no_table_of_scores_is_left_alone():
    from steadyrank.data.interop.objects import scores_in_table

    nested = pd.DataFrame({"a": [1.0, 2.0]}, index=[["x", "y"], [1, 2]])
    words = pd.DataFrame({"topic": ["1"], "a": [0.5], "b": ["much"]})
    for source in (nested, words, pd.DataFrame({"topic": ["1"]}), None, "scores.csv", [0.5]):
        assert scores_in_table(source) is None


def test_a_frame_that_holds_no_scores_says_what_it_lacks():
    with pytest.raises(sr.InputError, match="perquery=True"):
        sr.compare(pd.DataFrame({"name": ["bm25"], "map": [0.3]}))


@pytest.mark.filterwarnings("always::steadyrank.SteadyrankWarning")
def test_a_warning_names_the_line_that_called_the_study(data):
    grades = {**{q: data[1].judgments(q) for q in data[1].topics}, "q99": {"d1": 1}}
    with pytest.warns(sr.SteadyrankWarning, match="lack judged topics") as told:
        sr.compare("runs", sr.qrels_from_dict(grades), "AP", n_samples=50)
    assert {warning.filename for warning in told} == {__file__}
