"""Do intervals hold the truth as often as they say? `bench.coverage` asks this of all, often.

A band is where the number of intervals that hold the truth lies but for one case in a million if
the nominal level is right, by the exact binomial law; with fewer than a hundred bands the tests
together raise fewer than one false alarm in ten thousand. Seeds are fixed.
"""

from __future__ import annotations

import json
import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import steadyrank as sr
from bench.coverage.claims import Tally, measure
from bench.coverage.registry import EXPERIMENTS, NO_CLAIM, NO_FIELDS, claims, interval_fields
from bench.coverage.worlds import (
    AXES,
    components_of,
    flat_bank,
    fresh_collection,
    nested_components_of,
)
from steadyrank.cli import commands, run
from steadyrank.stats.anova.gstudy import layout_sums, variance_components

BUDGET = int(os.environ.get("STEADYRANK_CELLS", "1"))
"""Multiplies the trials of the slow tests."""

FALSE_ALARM = 1e-6

SHORT_FOR = {
    "TRACK": "{data}/qrels.txt {data}/runs",
    "SYSTEMS": "--system-from (team.)",
    "DEMANDS": "--minimum-difference 0.1 --systems 10",
    "THREE": "-m AP -m P@10 -m nDCG@10",
    "QUICK": "--samples 50 --samples-per-instance 10",
}
LINES = """
evaluate TRACK THREE
compare TRACK -m AP
compare TRACK THREE --samples 50
compare TRACK -m AP --audit
simulate TRACK --samples 20
topics TRACK -m AP --trials 100
agree TRACK THREE --topic-sizes 5,8,10 --system-sizes 5,6,8 --samples 5
components TRACK -m AP --run-info {data}/run-info.csv --factors team
instances TRACK -m AP SYSTEMS --a team1 --b team2 --draws 400 QUICK
instances TRACK -m AP SYSTEMS --b team2 --no-posterior QUICK
datasets {data}/leaderboard.csv --a r0 --b r1
holes TRACK -m P@20 --samples 20
plan TRACK THREE DEMANDS
plan TRACK THREE DEMANDS --topics 50
pools TRACK -m AP -m P@10 --run-info {data}/run-info.csv DEMANDS --trials 4
stability TRACK -m AP
stability TRACK -m AP SYSTEMS
judges {data}/people.txt {data}/runs --judge all={data}/qrels.txt -m AP --kin team1 --samples 99
stability --scores {data}/graded.csv --target 1 --cost topic=1
compare --scores {data}/graded.csv
"""
SHOWN = [
    [part for word in line.split() for part in SHORT_FOR.get(word, word).split()]
    for line in LINES.strip().splitlines()
]
"""Commands whose results have all that their JSON can have; nothing in them comes in twos."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("track")
    track = sr.simulated_track(
        n_teams=5, runs_per_team=3, n_topics=21, depth=50, pool_depth=10, rng=1
    )
    track.write(folder)
    lines = (folder / "qrels.txt").read_text().splitlines(keepends=True)
    people = [line for line in lines if int(line.split()[0]) % 2]
    (folder / "people.txt").write_text("".join(people))
    rows = [f"team{t}-s{c},team{t},{c}" for t in range(1, 6) for c in range(1, 4)]
    table = [f"r{i},{'' if i == 3 else 0.1},0.2{i},0.{i}3,0.1{i},0.{i}" for i in range(5)]
    (folder / "leaderboard.csv").write_text("\n".join(["run,a,b,c,d,e", *table]) + "\n")
    grades = [
        f"grade,s{s},t{t},j{j},{(7 * s + 5 * t + 3 * j + s * t * j) % 11}"
        for s, t, j in product(range(4), range(9), range(3))
    ]
    (folder / "graded.csv").write_text("\n".join(["measure,run,topic,judge,value", *grades]) + "\n")
    (folder / "copies.csv").write_text("\n".join(["run,system,copy", *rows]) + "\n")
    return folder


def test_every_interval_in_the_json_is_measured_or_said_to_claim_nothing(data, capsys):
    found = set()
    for line in SHOWN:
        asked = [part.format(data=data) for part in line]
        code = run([*asked, "--format", "json", "--quiet", "--jobs", "1"])
        captured = capsys.readouterr()
        assert code == 0, captured.err
        shown = json.loads(captured.out)
        shown.pop("findings", None)  # They hold numbers that other keys have.
        found |= interval_fields(line[0], shown)
    measured = {field for claim in claims() for field in claim.fields}
    # Below a field that claims nothing, keys may be the names of runs.
    by_reason = {
        reason: {field for field in found if f"{field} ".startswith(f"{reason} ")}
        for reason in NO_CLAIM
    }
    assert found - measured - set().union(*by_reason.values()) == set(), "measure it, or say why"
    gone = (measured - found) | {reason for reason, fields in by_reason.items() if not fields}
    assert gone == set(), "no longer in the JSON"
    assert not measured & set().union(*by_reason.values())


def test_every_command_is_looked_through_or_said_to_have_no_interval():
    assert {line[0] for line in SHOWN} | set(NO_FIELDS) == set(commands())
    assert not {line[0] for line in SHOWN} & set(NO_FIELDS)


def test_variances_of_a_population_are_those_of_the_mean_squares():
    bank = flat_bank("normal", False)[0]
    n_systems, n_topics = bank.shape
    truth, squares = components_of(bank), variance_components(bank).mean_squares
    lost = (n_systems - 1) / n_systems, (n_topics - 1) / n_topics
    assert truth["system"] == pytest.approx(squares["system"] * lost[0] / n_topics)
    assert truth["topic"] == pytest.approx(squares["topic"] * lost[1] / n_systems)
    assert truth["system_topic"] == pytest.approx(squares["residual"] * lost[0] * lost[1])


def test_variances_of_a_population_with_instances_add_up():
    bank = np.random.default_rng(3).random((4, 6, 5))
    truth = components_of(bank)
    ss = layout_sums(bank, {name: AXES[name] for name in truth}, "sti")
    assert [value * bank.size for value in truth.values()] == pytest.approx(ss)
    assert sum(nested_components_of(bank).values()) == pytest.approx(float(bank.var()))


def test_fresh_documents_leave_systems_as_good_as_they_were():
    rng = np.random.default_rng(4)
    changes = []
    for _ in range(60):
        track = sr.simulated_track(
            n_teams=2, runs_per_team=1, n_topics=5, depth=50, pool_depth=50, rng=rng
        )
        before = sr.evaluate(track.runs, track.complete, "AP").values[0]
        changes.append((fresh_collection(track.truth, rng) - before).mean())
    # Five standard errors: one false alarm in 500,000 by Student's law with 59 degrees of freedom.
    assert abs(np.mean(changes)) < 5 * stats.sem(changes)
    assert stats.sem(changes) < 0.01


def within_band(tally: Tally) -> bool:
    law = stats.binom(tally.trials, tally.claim.nominal)
    return bool(law.ppf(FALSE_ALARM / 2) <= tally.covered <= law.isf(FALSE_ALARM / 2))


ALL_STABLE = ("e_rho2", "phi", "e_rho2 topics", "phi topics")

HELD: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    (
        "judges, one at a time",
        "partial, 20 systems, 15 topics, 100 more by the judge",
        800,
        ("mean corrected", "difference corrected", "bias", "kappa", "kappa_weighted", "ac1"),
    ),
    (
        "judges, at once",
        "partial, 20 systems, 40 topics, 25 more by the judge",
        300,
        ("differences corrected",),
    ),
    ("differences", "track, 25 topics", 1000, ("t", "studentized", "mean")),
    ("simultaneous", "normal, 20 systems, 25 topics", 1000, ("tukey",)),
    (
        "other documents",
        "track, 10 systems, 10 topics",
        150,
        ("tau judged", "tau poisson", "rank shared"),
    ),
    ("topics to show", "normal, 25 topics", 1000, ("topics",)),
    ("agreement", "track, 20 systems, 25 topics, out of 50; half of the systems", 200, ("mean",)),
    ("levels", "normal, 6 systems, 25 topics", 500, ("none", "topic")),
    ("levels", "teams, 6 systems, 25 topics", 500, ("topic",)),
    ("taus of topic sets", "track, 20 systems, 25 topics", 500, ("bootstrap",)),
    ("pilots", "normal, 20 systems, 25 topics", 1000, ("variance",)),
    ("pilots", "track, 20 systems, 50 topics", 1000, ("residual",)),
    ("plans", "normal, 20 systems, 25 topics", 300, ("topics", "power")),
    ("stability", "normal, 20 systems, 25 topics", 1000, ALL_STABLE),
    ("stability with instances", "normal, 10 systems, 25 topics, 3 instances", 500, ALL_STABLE),
    ("varying systems", "track, 25 topics, 5 instances", 400, ("mixed", "equivalence")),
    (
        "varying components",
        "normal, 25 topics, 5 instances",
        200,
        ("hpd", "instance", "system_topic", "residual", "inflation"),
    ),
    (
        "left out teams",
        "track, 20 systems, 25 topics, 3 of 10 teams left out 10 times",
        300,
        ("mean", "topics"),
    ),
)
"""Experiment, a setting in which some of its claims hold, trials to ask for, these claims."""

SHORT: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    (
        "judges, one at a time",
        "partial, 20 systems, 15 topics, 400 more by the judge",
        500,
        ("mean alone", "difference alone"),
    ),
    ("levels", "teams, 6 systems, 25 topics", 500, ("none",)),
    (
        "stability with instances",
        "exponential, 10 systems, 25 topics, 3 instances",
        500,
        ("e_rho2", "phi"),
    ),
    ("varying components", "track, 25 topics, 5 instances", 110, ("residual",)),
)
"""Likewise, of claims that do not hold."""


CAUTIOUS: tuple[tuple[str, str, int, tuple[str, ...]], ...] = (
    ("differences", "track, 25 topics", 1000, ("corrected",)),
    ("close runs", "normal, 10 systems, 25 topics, 0 s.e. apart", 1000, ("ranks", "own", "first")),
    ("close runs", "normal, 30 systems, 25 topics, 0.1 s.e. apart", 500, ("own", "differences")),
    ("drivers", "track, 20 systems, 25 topics", 400, ("measure_pair", "topic_size")),
    ("drivers", "alike, 20 systems, 25 topics", 400, ("measure_pair", "topic_size")),
)
"""Likewise, of claims that hold more than they say: nothing may be short. Limits that are corrected
for a skewness two standard errors worse than the sample's are longer than symmetric scores need."""


def _tallies(name: str, setting: str, trials: int) -> dict[str, Tally]:
    experiment = EXPERIMENTS[name]
    (chosen,) = [each for each in experiment.settings if str(each) == setting]
    found = measure(name, experiment, chosen, trials=trials * BUDGET, full=False)
    by_claim = {claim: key for key, claim in experiment.claims.items()}
    return {by_claim[tally.claim]: tally for tally in found}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "setting", "trials", "held"), HELD)
def test_intervals_hold_what_they_claim_to(name, setting, trials, held):
    found = _tallies(name, setting, trials)
    assert {key: found[key].coverage for key in held if not within_band(found[key])} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "setting", "trials", "cautious"), CAUTIOUS)
def test_cautious_intervals_are_not_short(name, setting, trials, cautious):
    found = _tallies(name, setting, trials)
    assert {key: found[key].coverage for key in cautious if found[key].verdict == "short"} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "setting", "trials", "short"), SHORT)
def test_intervals_are_short_where_the_documentation_says_so(name, setting, trials, short):
    found = _tallies(name, setting, trials)
    assert {key: found[key].verdict for key in short} == dict.fromkeys(short, "short")
