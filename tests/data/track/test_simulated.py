"""The simulated track: reproducible bytes, pools that add up, and moments that fit the model.

Seeds are fixed, so nothing here flickers; the false-alarm rates say how likely a band
would be missed by a correct model if the seed, or numpy's streams, changed.
"""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.data.track.simulated import (
    SimulatedTrack,
    TrackDesign,
    TrackModel,
    draw_latents,
    simulated_track,
)

SMALL = {"n_teams": 4, "runs_per_team": 2, "n_topics": 6, "depth": 100, "pool_depth": 20}


@pytest.fixture(scope="module")
def small() -> SimulatedTrack:
    return simulated_track(**SMALL)


@pytest.fixture(scope="module")
def partly_pooled() -> SimulatedTrack:
    return simulated_track(**SMALL, n_instances=2, pooled_per_team=1, rng=5)


@pytest.fixture(scope="module")
def default() -> SimulatedTrack:
    return simulated_track()


def digest(track: SimulatedTrack) -> str:
    state = hashlib.sha256(json.dumps(track.truth.to_dict()).encode())
    for run in track.runs:
        state.update(run.name.encode() + run.documents.data.tobytes() + run.scores.tobytes())
    for qrels in (track.qrels, track.complete):
        state.update(qrels.documents.data.tobytes() + qrels.grades.tobytes())
    state.update(track.contributors.tobytes())
    return state.hexdigest()


def mean_scores(track: SimulatedTrack, qrels: sr.Qrels) -> np.ndarray:
    return sr.evaluate(track.runs, qrels, ["AP"]).matrix().mean(axis=1)


def within(estimate: float, expected: float, standard_error: float, width: float = 4.0) -> bool:
    """Inside `width` standard errors: false alarms about 1 in 10,000 at the default of 4."""
    return abs(estimate - expected) < width * standard_error


# The same bytes


def test_same_seed_same_bytes(small):
    assert digest(simulated_track(**SMALL)) == digest(small)
    assert digest(simulated_track(**SMALL, rng=1)) != digest(small)
    assert small.seed == 0
    drawn = simulated_track(**SMALL, rng=np.random.default_rng(0))
    assert digest(simulated_track(**SMALL, rng=drawn.seed)) == digest(drawn)


def test_more_topics_leave_the_first_as_they_are(small):
    longer = simulated_track(**{**SMALL, "n_topics": 8})
    for topic in small.qrels.topics:
        assert longer.qrels.judgments(topic) == small.qrels.judgments(topic)
        assert longer.runs[3].ranking(topic) == small.runs[3].ranking(topic)
    assert np.array_equal(longer.truth.signals[:, :6], small.truth.signals)


# Shape


def test_sizes_and_names(small):
    assert repr(small).startswith("<SimulatedTrack: 8 runs of 4 teams, 6 topics, ")
    assert not small.truth.instance_effects.any(), "a system with one run is deterministic"
    assert len(small.runs) == 8
    assert small.teams == ("team1", "team2", "team3", "team4")
    assert small.truth.systems[:3] == ("team1-s1", "team1-s2", "team2-s1")
    for run in small.runs:
        assert run.topics == small.qrels.topics == small.truth.topics
        assert np.diff(run.blocks).tolist() == [100] * 6
        assert run.info == {"team": run.name.split("-")[0], "system": run.name}
    assert small.contributors.shape == (len(small.qrels), 4)
    assert set(small.qrels.grades.tolist()) == {0, 1, 2}
    assert small.pooled == tuple(run.name for run in small.runs)


def test_instances_share_their_system(partly_pooled):
    runs = partly_pooled.runs
    assert [run.info["system"] for run in runs[:4]] == ["team1-s1"] * 2 + ["team1-s2"] * 2
    assert [run.name for run in runs[:2]] == ["team1-s1-i1", "team1-s1-i2"]
    assert partly_pooled.truth.instance_effects.shape == (8, 2)
    assert runs[0].ranking("301") != runs[1].ranking("301")


def test_scores_come_on_different_scales_and_tie(small):
    lows = np.array([run.scores.min() for run in small.runs])
    highs = np.array([run.scores.max() for run in small.runs])
    assert ((lows > 1) & (highs > 10)).sum() == 2  # term weights
    assert ((lows > 0) & (highs < 1)).sum() == 2  # cosines
    assert (highs < 0).sum() >= 2  # log-probabilities, and logits where no topic is easy
    assert (lows < -3).sum() == 2  # logits
    ties = [(np.diff(run.scores) == 0).sum() for run in small.runs]
    assert sum(ties) > 0


# The pool


def pool_of(track: SimulatedTrack, topic: str, depth: int) -> dict[str, set[str]]:
    """Who contributed each document, from the runs' rankings alone."""
    found: dict[str, set[str]] = {}
    for run in track.runs:
        if run.name in track.pooled:
            for document, _ in run.ranking(topic)[:depth]:
                found.setdefault(document, set()).add(run.info["team"])
    return found


@pytest.mark.parametrize("which", ["small", "partly_pooled"])
def test_judged_is_what_the_pooled_runs_contributed(which, request):
    track = request.getfixturevalue(which)
    teams = np.array(track.teams)
    for t, topic in enumerate(track.qrels.topics):
        rows = slice(track.qrels.blocks[t], track.qrels.blocks[t + 1])
        documents = track.qrels.judgments(topic)
        contributed = [set(teams[row]) for row in track.contributors[rows]]
        assert dict(zip(documents, contributed, strict=True)) == pool_of(track, topic, 20)


def test_pooled_grades_are_the_true_grades(small):
    for t, topic in enumerate(small.complete.topics):
        truth = small.complete.judgments(topic)
        assert len(truth) == small.truth.n_relevant[t]
        for document, grade in small.qrels.judgments(topic).items():
            assert grade == truth.get(document, 0)


def test_teams_overlap(default):
    # Pools of real tracks hold about a quarter of the documents that went into them.
    overlap = len(default.qrels) / (len(default.runs) * 100 * len(default.qrels.topics))
    assert 0.15 < overlap < 0.4
    assert (default.contributors.sum(axis=1) > 1).mean() > 0.4


# Files


def test_files_read_back_exactly(tmp_path, partly_pooled):
    partly_pooled.write(tmp_path / "track")
    root = tmp_path / "track"
    runs = sr.read_runs(root / "runs", run_info=root / "run-info.csv")
    assert len(runs) == len(partly_pooled.runs)
    by_name = {run.name: run for run in runs}
    for run in partly_pooled.runs:
        again = by_name[run.name]
        assert again.topics == run.topics
        assert again.info == run.info
        assert np.array_equal(again.scores, run.scores)
        assert again.documents.to_list() == run.documents.to_list()
    for name, qrels in (("qrels", partly_pooled.qrels), ("complete-qrels", partly_pooled.complete)):
        again = sr.read_qrels(root / f"{name}.txt")
        assert again.topics == qrels.topics
        assert np.array_equal(again.grades, qrels.grades)
        assert again.documents.to_list() == qrels.documents.to_list()


def test_a_folder_with_other_runs_is_refused(tmp_path, small):
    small.write(tmp_path)
    small.write(tmp_path)
    (tmp_path / "runs" / "stranger.run").write_text("")
    with pytest.raises(sr.InputError, match=r"stranger\.run"):
        small.write(tmp_path)


# Moments


def test_effects_have_their_variances():
    # The mean square of n normal variables has relative standard error sqrt(2 / n); six
    # bands of 4 standard errors give a false alarm in about 1 of 1500 seeds.
    track = simulated_track(
        n_teams=300, runs_per_team=2, n_topics=3, n_instances=2, depth=10, pool_depth=5, rng=11
    )
    truth, model = track.truth, track.truth.model
    for effects, variance in (
        (truth.team_effects, model.team),
        (truth.system_effects, model.system),
        (truth.instance_effects, model.instance),
    ):
        error = variance * math.sqrt(2 / effects.size)
        assert within(float((effects**2).mean()), variance, error)
    instances, systems, teams = interactions(track)
    for squares, variance in (
        (instances, model.instance_topic),
        (systems, model.system_topic + model.instance_topic / 2),
        (teams, model.team_topic + model.system_topic / 2 + model.instance_topic / 4),
    ):
        assert within(float(squares.mean()), variance, variance * math.sqrt(2 / squares.size))


def interactions(track: SimulatedTrack) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Squared contrasts of the signals: within systems, within teams, between teams."""
    truth = track.truth
    left = truth.signals - truth.model.signal + truth.difficulties
    left -= (truth.effects[:, None] + truth.instance_effects).reshape(-1, 1)
    cells = left.reshape(*truth.design.shape, -1)
    instances = (cells[:, :, 0] - cells[:, :, 1]) ** 2 / 2
    systems = cells.mean(axis=2)
    return instances, (systems[:, 0] - systems[:, 1]) ** 2 / 2, systems.mean(axis=1) ** 2


def test_topics_have_their_distribution():
    # Bands of 4 standard errors, normal and median of a log-normal: false alarms together
    # below 1 in 5000. The number of relevant documents is heavy-tailed: of 400 topics 3.5 %
    # should have 400 or more and 0.7 % the least possible, 3.
    track = simulated_track(n_teams=2, runs_per_team=1, n_topics=400, rng=12)
    truth, model = track.truth, track.truth.model
    variance_error = model.topic * math.sqrt(2 / 400)
    assert within(float((truth.difficulties**2).mean()), model.topic, variance_error)
    median_error = math.sqrt(math.pi / 2 / 400) * 1.15
    assert within(
        math.log(np.median(truth.n_relevant)), math.log(model.relevant_median), median_error
    )
    highly, total = (track.complete.grades == 2).sum(), truth.n_relevant.sum()
    assert within(highly / total, 0.25, math.sqrt(0.25 * 0.75 / total))
    assert truth.n_relevant.min() == 3
    assert (truth.n_relevant >= 400).sum() >= 3


def test_document_noise_is_shared_as_the_model_says():
    # 5 standard errors of a correlation: false alarms below 1 in 10^5.
    n_documents = 20_000
    design = TrackDesign(
        n_teams=2,
        runs_per_team=2,
        n_topics=1,
        depth=10,
        pool_depth=5,
        n_instances=2,
        pooled_per_team=2,
        n_candidates=n_documents,
    )
    grades = np.zeros(n_documents, np.int32)
    grades[0] = 1
    signals = np.zeros(design.shape)
    latents = draw_latents(design, grades, signals, np.random.default_rng(13))
    found = np.corrcoef(latents.reshape(8, -1)[:, 1:])
    for other, expected in ((1, 0.95), (2, 0.7), (4, 0.5)):  # instance, system, team
        error = (1 - expected**2) / math.sqrt(n_documents)
        assert within(found[0, other], expected, error, 5)
    assert within(latents[0, 0, 0, 1:].std(), 1.0, math.sqrt(0.5 / n_documents), 5)


def test_without_system_variance_all_systems_are_equal():
    track = simulated_track(**SMALL, model=TrackModel(team=0, system=0))
    assert not track.truth.effects.any()


def test_a_default_track_resembles_real_ones(default):
    # Over 20 seeds: mean .261 (sd .024), shares of system .12 (.04), topic .63 (.065) and
    # residual .26 (.03). Bands of about five of these sd: false alarms below 1 in 10^4.
    scores = sr.evaluate(default.runs, default.qrels, ["AP"]).matrix()
    system, topic, residual = variance_shares(scores)
    assert 0.14 < scores.mean() < 0.38
    assert system < 0.32
    assert 0.3 < topic < 0.95
    assert 0.1 < residual < 0.42
    assert np.corrcoef(default.truth.effects, scores.mean(axis=1))[0, 1] > 0.9
    assert np.median(scores) < scores.mean()
    # Judgments that miss relevant documents flatter the runs, on average.
    assert mean_scores(default, default.complete).mean() < scores.mean()


def variance_shares(scores: np.ndarray) -> np.ndarray:
    """Shares of system, topic and residual in a two-way analysis of variance."""
    n_runs, n_topics = scores.shape
    runs, topics = scores.mean(axis=1, keepdims=True), scores.mean(axis=0, keepdims=True)
    left = scores - runs - topics + scores.mean()
    residual = (left**2).sum() / ((n_runs - 1) * (n_topics - 1))
    system = runs.var(ddof=1) - residual / n_topics
    topic = topics.var(ddof=1) - residual / n_runs
    parts = np.array([system, topic, residual])
    return parts / parts.sum()


def test_runs_of_a_team_are_alike(default):
    scores = sr.evaluate(default.runs, default.qrels, ["AP"]).matrix()
    alike = np.corrcoef(scores)
    teams = np.arange(60) // 3
    same = (teams[:, None] == teams) & ~np.eye(60, dtype=bool)
    assert alike[same].mean() > alike[teams[:, None] != teams].mean() + 0.05


# Arguments


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("n_teams", 0),
        ("runs_per_team", 0),
        ("n_topics", -1),
        ("depth", 0),
        ("depth", None),
        ("depth", 2.5),
        ("pool_depth", 101),
        ("n_instances", 0),
        ("pooled_per_team", 3),
        ("n_candidates", 99),
        ("n_candidates", 2_000_000),
        ("model", "default"),
        ("rng", -1),
        ("rng", "seed"),
    ],
)
def test_a_bad_argument_is_named(argument, value):
    with pytest.raises(sr.InputError, match=argument):
        simulated_track(**{**SMALL, argument: value})


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("team", -0.1),
        ("instance_topic", -1),
        ("signal", math.nan),
        ("relevant_median", -1),
        ("topic", "large"),
    ],
)
def test_a_bad_parameter_is_named(parameter, value):
    with pytest.raises(sr.InputError, match=parameter):
        TrackModel(**{parameter: value})
