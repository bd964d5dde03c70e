"""What studies take: scores, or runs and judgments as `evaluate` takes them."""

from __future__ import annotations

import inspect

import pytest

import steadyrank as sr
from steadyrank.studies.agree.study import MEASURES

OPTIONS = {
    "agree": {"topic_sizes": [5, 10], "system_sizes": [3, 5], "n_samples": 3},
    "audit_tests": {"n_trials": 5},
    "compare": {},
    "components": {"factors": "kind"},
    "instances": {"a": "team1-s1", "b": "team2-s1", "posterior": False, "n_samples": 20},
    "plan": {"minimum_difference": 0.1, "systems": 3},
    "stability": {},
    "topics": {"n_trials": 20},
}


def studies_of_scores():
    """Every public function whose data are scores, or runs and judgments."""
    functions = {name: getattr(sr, name) for name in sr.__all__}
    return {
        name
        for name, value in functions.items()
        if inspect.isfunction(value) and list(inspect.signature(value).parameters)[:1] == ["scores"]
    } - {"write_scores", "correlations"}


@pytest.fixture(scope="module")
def track(tmp_path_factory):
    """Runs with a column about them, and judgments."""
    folder = tmp_path_factory.mktemp("track")
    made = sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=12, depth=40, pool_depth=20)
    made.write(folder)
    names = [f"team{team}-s{run}" for team in (1, 2, 3) for run in (1, 2)]
    rows = [f"{name},{name},{name[-1]}" for name in names]
    (folder / "info.csv").write_text("\n".join(["run,system,kind", *rows]) + "\n")
    runs = sr.read_runs(folder / "runs", run_info=folder / "info.csv")
    return runs, sr.read_qrels(folder / "qrels.txt")


def test_every_study_of_scores_is_tried_here():
    assert studies_of_scores() == set(OPTIONS)


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
@pytest.mark.parametrize("name", OPTIONS)
def test_runs_and_judgments_are_evaluated(track, name):
    study, options = getattr(sr, name), OPTIONS[name]
    scores = sr.evaluate(*track, MEASURES if name == "agree" else "nDCG@10")
    assert text(study(*track, **options)) == text(study(scores, **options))


def text(result):
    return [str(one.to_frame().to_dict()) for one in (result if type(result) is list else [result])]


@pytest.mark.parametrize("name", OPTIONS)
def test_scores_with_judgments_and_runs_without_are_refused(track, name):
    study, options = getattr(sr, name), OPTIONS[name]
    runs, qrels = track
    with pytest.raises(sr.InputError, match="give either scores, or runs and qrels, not both"):
        study(sr.evaluate(runs, qrels, "AP"), qrels, **options)
    with pytest.raises(sr.InputError, match="pass either scores, or runs and qrels"):
        study(runs, **options)
