"""Holes filled by a language model and corrected by people: `holes`, then `judges`, end to end."""

import numpy as np
import pytest

import steadyrank as sr


def completed(qrels, answers, topics):
    """The judgments of some topics, and the answers beside them."""
    return sr.qrels_from_dict(
        {topic: qrels.judgments(topic) | answers.get(topic, {}) for topic in topics}
    )


@pytest.fixture(scope="module")
def recipe():
    """Six runs that were not pooled; a model that finds 40% of the other documents relevant."""
    track = sr.simulated_track(
        n_teams=8, runs_per_team=3, n_topics=120, depth=30, pool_depth=10, pooled_per_team=1, rng=0
    )
    runs = [run for run in track.runs if run.name not in track.pooled][:6]
    holed = sr.holes(runs, track.qrels, measure="P@10", n_samples=0, ask=10**6)
    rng = np.random.default_rng(1)
    people, model = {}, {}
    for asked in holed.ask:
        grade = track.complete.judgments(asked.topic).get(asked.document, 0)
        people.setdefault(asked.topic, {})[asked.document] = grade
        guess = int(grade > 0 or rng.random() < 0.4)
        model.setdefault(asked.topic, {})[asked.document] = guess
    topics = track.qrels.topics
    sample = rng.choice(topics, 30, replace=False).tolist()
    return {
        "holed": holed,
        "runs": runs,
        "usual": track.qrels,
        "truth": completed(track.qrels, people, topics),
        "filled": completed(track.qrels, model, topics),
        "people": completed(track.qrels, people, sample),
    }


def test_all_that_is_asked_closes_all_holes(recipe):
    assert len(recipe["holed"].ask) == recipe["holed"].n_holes
    after = sr.holes(recipe["runs"], recipe["truth"], measure="P@10", n_samples=0)
    assert after.n_holes == 0


@pytest.mark.filterwarnings("ignore:1 of 120 topics has no relevant document")
def test_a_model_corrected_by_people_is_nearer_than_model_and_zero(recipe):
    """Mean absolute error of the runs' means, complete judgments being known: .068 filled by the
    model, .055 with holes as not relevant, .007 corrected.
    """
    runs, names = recipe["runs"], [run.name for run in recipe["runs"]]
    result = sr.judges(
        runs, recipe["people"], {"filled": recipe["filled"]}, measure="P@10", n_samples=200
    )
    corrected = result.of("filled").corrected
    places = [result.runs.index(name) for name in names]
    truth, usual, filled = (
        sr.evaluate(runs, recipe[which], "P@10").mean()[0] for which in ("truth", "usual", "filled")
    )
    error = np.abs(corrected.mean[places] - truth).mean()
    assert error < 0.3 * np.abs(filled - truth).mean()
    assert error < 0.3 * np.abs(usual - truth).mean()
    low, high = corrected.mean_interval[places].T
    assert ((low <= truth) & (truth <= high)).all()
