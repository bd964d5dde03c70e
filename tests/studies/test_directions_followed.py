"""Where lower is better, every study puts the run with the lowest scores first.

Decisions are those about the same scores with the other sign; numbers keep the sign of the file.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steadyrank as sr
from steadyrank import cli

TOPICS = [f"q{k}" for k in range(30)]
RUNS = ("bad", "good", "mid")


def errors_of_runs(measure="wer"):
    """Error rates: `good` makes the fewest errors, `bad` the most."""
    rng = np.random.default_rng(1)
    base = 0.2 * rng.random(30) + 0.05 * rng.random((3, 30))
    values = base + np.array([0.3, 0.05, 0.1])[:, None]
    return sr.Scores(measures=[measure], runs=RUNS, topics=TOPICS, values=values[None])


def accuracies():
    """The same scores with the other sign, under a name where higher is better."""
    scores = errors_of_runs()
    return replace(scores, measures=("acc",), values=-scores.values, directions={})


def gate(scores, candidate, **more):
    sides = [scores.select(runs=name) for name in ("mid", candidate)]
    return sr.gate(*sides, **{"margin": 0.02} | more)


@pytest.mark.parametrize(
    "options", [{}, {"sequential": True, "margin": 0.1}, {"guard_breakage": True}]
)
def test_the_gate_fails_more_errors_and_passes_fewer(options):
    assert gate(errors_of_runs(), "good", **options).verdict == "pass"
    assert gate(errors_of_runs(), "bad", **options).verdict == "fail"


def test_the_gate_mirrors_that_of_scores_with_the_other_sign(tmp_path):
    found = gate(errors_of_runs(), "bad", history=tmp_path / "wer")
    other = gate(accuracies(), "bad", history=tmp_path / "acc")
    (row,), (mirrored,) = found.measures, other.measures
    assert row.difference == -mirrored.difference > 0
    assert row.interval == (-mirrored.interval.high, -mirrored.interval.low)
    assert row.losses[0].difference == -mirrored.losses[0].difference > 0
    assert row.pvalue_fail == mirrored.pvalue_fail
    assert "worse, by more than the margin" in str(found)
    assert "lower is better by wer" in str(found)
    assert [row["measure"] for row in found.history.drifted()] == ["wer"]
    assert gate(errors_of_runs(), "good", history=tmp_path / "new").history.drifted() == []


def test_a_rebuild_shows_the_sign_of_the_file():
    scores = errors_of_runs()
    builds = scores.select(runs=["good", "mid"]).with_run_info(system=["s", "s"])
    row = sr.gate(builds, scores.select(runs="bad"), rebuild=True, margin=None).measures[0]
    assert row.difference > 0 < row.baseline < row.candidate


def board(name, sign=1.0):
    rng = np.random.default_rng(2)
    values = sign * (0.1 * np.arange(4)[:, None] + 0.1 * rng.random((4, 10)))
    datasets = [f"s{k}/{name}" for k in range(10)]
    return sr.Leaderboard(runs=list("wxyz"), datasets=datasets, values=values)


def test_datasets_put_the_lowest_errors_first():
    found, other = sr.datasets(board("wer")), sr.datasets(board("acc", -1.0))
    assert [found.runs[i] for i in found.order] == ["w", "x", "y", "z"]
    assert found.rank.tolist() == other.rank.tolist()
    assert found.value.tolist() == (-other.value).tolist()
    assert found.interval.tolist() == (-other.interval[:, ::-1]).tolist()
    assert found.lead.difference == -other.lead.difference < 0
    assert found.pair.wins == other.pair.wins
    assert found.pair.interval == (-other.pair.interval.high, -other.pair.interval.low)
    assert "w leads" in str(found)
    assert "mean score (lower is better)" in str(found)


def test_borda_points_of_errors_count_from_the_highest():
    found = sr.datasets(board("wer"), aggregate="borda")
    assert found.value.tolist() == [3, 2, 1, 0]
    with pytest.raises(sr.InputError, match="makes a missing score the best"):
        sr.datasets(board("wer"), gaps="zero")


BOARD = (("x", ".5", 1), ("y", ".4", 100), ("z", ".3", 200))


def test_a_cost_among_scores_changes_no_leader(tmp_path):
    path = tmp_path / "table.csv"
    names = [f"s{k}" for k in range(6)]
    rows = [f"{run},{','.join([score] * 6)},{cost}" for run, score, cost in BOARD]
    path.write_text("\n".join([",".join(["model", *names, "CO2 cost"]), *rows]) + "\n")
    with pytest.warns(sr.SteadyrankWarning, match="left out of the mean.*CO2 cost"):
        found = sr.datasets(path)
    assert found.datasets == tuple(names)
    assert found.first_names()[0] == "x"


def test_topics_follow():
    assert "good" in str(sr.topics(errors_of_runs())).partition("falls")[0]


def test_agreement_of_two_directions_is_that_of_the_rankings():
    both = sr.join_scores(errors_of_runs(), accuracies())
    found = sr.agree(both, topic_sizes=[10], system_sizes=[3], n_samples=2)
    assert found.tau.ravel().tolist() == [1.0, 1.0]


def test_options_say_the_direction(tmp_path, capsys):
    path = tmp_path / "x.csv"
    sr.write_scores(errors_of_runs("gap"), path)
    for options, first in (([], "bad"), (["--lower-is-better", "gap"], "good")):
        assert cli.run(["compare", str(path), *options]) == 0
        assert capsys.readouterr().out.startswith(f"{first} leads")
    assert cli.run(["compare", str(path), "--lower-is-better", "gaps"]) == 2
    assert "did you mean 'gap'?" in capsys.readouterr().err
    sides = ["gate", "--scores", str(path), "mid", "good", "--margin", "0.02"]
    assert cli.run(sides) == 3
    assert cli.run([*sides, "--lower-is-better", "gap"]) == 0
    capsys.readouterr()
    assert sr.read_scores(path, lower_is_better="gap").directions == {"gap": "lower"}
    table = tmp_path / "table.csv"
    table.write_text("model,a,b,c\nx,1,2,3\ny,2,3,4\nz,3,4,5\n")
    names = [word for name in "abc" for word in ("--lower-is-better", name)]
    assert cli.run(["datasets", str(table), *names]) == 0
    assert capsys.readouterr().out.partition("leads")[0].endswith("x ")


def test_a_plan_is_about_the_two_lowest_error_rates():
    plans = [
        sr.plan(scores, measures=scores.measures[0]) for scores in (errors_of_runs(), accuracies())
    ]
    first = [plan.differences[0] for plan in plans]
    assert first[0].topics == first[1].topics
    assert first[0].runs == first[1].runs == ("good", "mid")


def test_studies_that_cannot_turn_a_measure_refuse_it():
    scores = errors_of_runs()
    systems = scores.with_run_info(system=("bad", "good", "good"))
    with pytest.raises(sr.InputError, match="instances requires a measure where higher is better"):
        sr.instances(systems, a="good", b="bad")
    with pytest.raises(sr.InputError, match="judges requires a measure where higher is better"):
        sr.judges(scores, {"copy": scores})
