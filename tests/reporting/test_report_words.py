"""The answer in words: each case that a leaderboard can be in, and its grammar."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from steadyrank.reporting.card import make_card
from steadyrank.reporting.headline import (
    files_words,
    measures_words,
    reversal_words,
    settle_words,
    standing,
    topics_share,
    topics_to_settle,
    verdict_words,
)

import steadyrank as sr
from steadyrank.studies.compare.view import first
from steadyrank.studies.instances.view import systems_words
from steadyrank.studies.simulate.result import documents_share
from steadyrank.studies.topics.result import needed_words
from steadyrank.words import chance, counted, some


def scores_of(*means, noise=0.05, n_topics=30, names=None, measures=("AP",), seed=0):
    """Runs whose means are as given, exactly, with independent noise around topics' difficulty."""
    rng = np.random.default_rng(seed)
    difficulty = rng.normal(0, 0.1, n_topics)
    values = rng.normal(0, noise, (len(means), n_topics))
    values += np.array(means)[:, None] - values.mean(axis=1, keepdims=True)
    values += difficulty - difficulty.mean()
    runs = names or [chr(65 + place) for place in range(len(means))]
    return sr.Scores(
        measures=measures,
        runs=runs,
        topics=range(n_topics),
        values=np.repeat(values[None], len(measures), axis=0),
    )


def compared(*means, **options):
    return sr.compare(scores_of(*means, **options), measure="AP")


def test_a_clear_winner_is_better_than_all_others():
    words = verdict_words(compared(0.3, 0.9, 0.5, 0.4))
    assert words.startswith(
        "B leads by mean AP (0.9000) and is significantly better than all three others (paired t "
        "tests, max-t correction over 6 comparisons, alpha 0.05)"
    )


def test_only_the_best_of_very_many_are_compared_and_it_is_said():
    assert verdict_words(compared(0.3, 0.9, 0.5), 400).endswith(
        "alpha 0.05, among the best 3 of 400 runs)."
    )


def test_two_runs_beat_each_other_or_do_not():
    assert verdict_words(compared(0.3, 0.9)) == (
        "B (0.9000) is significantly better than A (0.3000) by mean AP (paired t test, alpha 0.05)."
    )
    assert verdict_words(compared(0.500, 0.501)) == (
        "B leads by mean AP (0.5010), but is not significantly better than A (0.5000) "
        "(paired t test, alpha 0.05)."
    )


def test_a_tie_of_the_top_names_its_runs_and_who_is_below():
    words = verdict_words(compared(0.700, 0.701, 0.702, 0.3, 0.2))
    assert (
        "but the top three (C, B and A) are statistically indistinguishable; C is significantly "
        "better than the other two" in words
    )
    words = verdict_words(compared(0.700, 0.701, 0.702, 0.3))
    assert "C is significantly better than the remaining one" in words


def test_nobody_is_better():
    words = verdict_words(compared(0.500, 0.501, 0.502))
    assert "is not significantly better than any of the two others" in words


def test_the_best_of_many_is_expected_to_do_less_well():
    rng = np.random.default_rng(7)
    result = compared(*(0.5 + rng.normal(0, 0.05, 20)), noise=0.3)
    leader = result.order[0]
    expected = result.expected_mean[leader]
    assert expected < result.mean[leader] - 0.002
    said = f"({result.mean[leader]:.4f}; about {expected:.3f} to be expected on new topics)"
    assert said in verdict_words(result)
    assert "expected" not in verdict_words(compared(0.5, 0.51))


def test_runs_that_share_the_first_place_are_spoken_of_together():
    words = verdict_words(compared(0.9, 0.9, 0.5, 0.4))
    assert words.startswith(
        "A and B share the best mean AP (0.9000); the two others are significantly worse than both"
    )
    words = verdict_words(compared(0.9, 0.9, 0.9, 0.899, 0.3))
    assert "A, B and C share the best mean AP (0.9000" in words
    assert "; one of the two others is significantly worse than all of them" in words
    assert "but is not" not in words
    # The same scores in another order add up to a sum that differs in its last digits.
    values = np.round(np.random.default_rng(3).random(40), 1)
    scores = sr.Scores(
        measures=["P@10", "AP"],
        runs=["A", "B", "C"],
        topics=range(40),
        values=[[values, values[::-1], values - 0.5], [values, values[::-1] + 0.01, values - 0.5]],
    )
    result = sr.compare(scores, measure="P@10")
    assert verdict_words(result).startswith("A and B share the best mean P@10")
    assert reversal_words(result, None, sr.topics(scores, measure="P@10", n_trials=10)) == ""
    assert measures_words(scores) == "B is first by both measures."


def test_who_could_be_first():
    assert first(compared(0.3, 0.9, 0.5)).text == (
        "With 95% confidence B is the best of these runs."
    )
    assert first(compared(0.700, 0.701, 0.702, 0.3)).text == (
        "With 95% confidence the best run is one of three: C, B and A."
    )
    assert first(compared(0.500, 0.501)).text.endswith("no run can be ruled out as the best.")
    uncorrected = sr.compare(scores_of(0.3, 0.9, 0.5), correction="none")
    assert first(uncorrected).text == "By these tests B is the best of these runs."


def decided(*apart):
    """Four runs from A, the best, to D; the pairs named differ significantly."""
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    return SimpleNamespace(
        runs=("A", "B", "C", "D"),
        mean=np.array([0.6, 0.5, 0.4, 0.3]),
        pairs=np.array(pairs),
        significant=np.array(["ABCD"[a] + "ABCD"[b] in apart for a, b in pairs]),
        measure="AP",
        alpha=0.05,
        order=[0, 1, 2, 3],
        expected_mean=np.full(4, np.nan),
        mean_interval=np.zeros((4, 2)),
        correction="maxt",
        test="t",
        baseline=None,
    )


def test_a_group_that_is_no_tie_is_not_called_the_top():
    gap = decided("AC")
    assert standing(gap).group == ("A", "B", "D")
    assert not standing(gap).is_tie
    said = "is not significantly better than B and D; it is significantly better than the"
    assert f"{said} remaining one" in verdict_words(gap)
    chain = decided("AD", "BC")
    assert standing(chain).group == ("A", "B", "C")
    assert not standing(chain).is_tie
    assert standing(decided("AD")).is_tie
    top = "the top three (A, B and C) are statistically indistinguishable"
    assert top in verdict_words(decided("AD"))


def test_equal_means_have_no_order_to_keep():
    scores = scores_of(0.5, 0.5, noise=0.0)
    result = sr.compare(scores, measure="AP")
    assert verdict_words(result) == "A and B have the same mean AP (0.5000)."
    assert reversal_words(result, None, sr.topics(scores, n_trials=10)) == ""
    assert settle_words(result, sr.topics(scores, n_trials=10)) == (
        "No number of topics separates A from B: their means are equal."
    )


def test_a_run_without_any_score_stands_nowhere():
    values = np.array(scores_of(0.5, 0.9, 0.3).values)
    values[0, 2] = np.nan
    result = sr.compare(
        sr.Scores(measures=["AP"], runs=["A", "B", "C"], topics=range(30), values=values)
    )
    assert standing(result).order == ("B", "A")
    assert "C" not in verdict_words(result)


def simulated(share, measure="AP"):
    """As much of a simulation as the words need: how likely the first run is above the second."""
    above = np.array([[np.nan, share], [1 - share, np.nan]])
    return SimpleNamespace(runs=("A", "B"), above=above, measure=measure, n_samples=100)


def test_chances_say_of_what_they_are():
    scores = scores_of(0.52, 0.50, noise=0.04)
    result, topics = sr.compare(scores, measure="AP"), sr.topics(scores, n_trials=10)
    words = reversal_words(result, simulated(0.97), topics)
    kept = 1 - topics.predictive[0]
    assert words == (
        "B comes out above A with probability 3% in a second document collection and with "
        f"probability {1 - kept:.0%} in a second experiment on 30 other topics."
    )
    assert topics_share(topics, "A", "B") == pytest.approx(kept)
    assert topics_share(topics, "B", "A") == pytest.approx(1 - kept)
    by_another_measure = reversal_words(result, simulated(0.97, "P@10"), topics)
    assert "collection" not in by_another_measure
    assert by_another_measure.startswith("B comes out above A with probability")


def test_studies_that_are_missing_are_not_spoken_of():
    result = compared(0.9, 0.3)
    assert reversal_words(result, None, None) == ""
    assert settle_words(result, None) == ""
    only = reversal_words(result, simulated(1.0), None)
    assert only == (
        "B comes out above A with probability less than 1% in a second document collection."
    )
    scores = scores_of(0.9, 0.3)
    card = make_card({"evaluate": scores, "compare": (sr.compare(scores),)})
    assert card.verdict == "A is significantly better than B by mean AP."
    assert [fact.about for fact in card.facts] == ["Could be first", "What these topics resolve"]


def test_the_second_of_many_is_called_so():
    scores = scores_of(0.9, 0.5, 0.3)
    words = reversal_words(sr.compare(scores), None, sr.topics(scores, n_trials=10))
    assert words.startswith("B, the second, comes out above A with probability less than 0.1%")


def test_a_chance_in_other_documents_has_a_direction():
    result = simulated(0.75)
    assert documents_share(result, "A", "B") == 0.75
    assert documents_share(result, "B", "A") == 0.25
    assert documents_share(result, "A", "C") is None
    assert documents_share(simulated(np.nan), "A", "B") is None


def test_topics_to_settle_have_the_power_they_promise():
    """Against a simulation of 4,000 t tests: power 0.8 within 0.03, 4.7 of its standard errors."""
    scores = scores_of(0.53, 0.50, noise=0.05)
    topics = sr.topics(scores, n_trials=10, comparisons=10)
    row = topics_to_settle(topics, "A", "B")
    n = row["topics_needed"]
    sd = float(np.sqrt(topics.variances.variance[0]))
    z = np.random.default_rng(1).normal(0.03, sd, (4000, n))
    t = z.mean(axis=1) / (z.std(axis=1, ddof=1) / np.sqrt(n))
    from scipy.stats import t as student

    assert (np.abs(t) > student.ppf(1 - 0.005 / 2, n - 1)).mean() == pytest.approx(0.8, abs=0.03)
    assert topics_to_settle(topics, "B", "A") == row


def test_what_settles_a_tie_is_said_with_its_assumption():
    scores = scores_of(0.51, 0.505, 0.50, 0.2, noise=0.05)
    result, topics = sr.compare(scores), sr.topics(scores, n_trials=10)
    words = settle_words(result, topics)
    first = topics_to_settle(topics, "A", "B")
    assert words.startswith(
        "To separate A from B, a paired t test with power 0.8 at alpha 0.05 over 6 comparisons "
        f"requires {needed_words(first)}; there are 30."
    )
    low = first["topics_needed_interval"][0]
    assert f"requires at least {low:,} topics (95% confidence); there are 30." in words
    assert settle_words(compared(0.9, 0.3), sr.topics(scores_of(0.9, 0.3), n_trials=10)) == ""


def test_a_pair_that_only_the_correction_keeps_together_is_planned_at_the_corrected_level():
    rng = np.random.default_rng(3)
    close = [0.6, 0.6 - 0.036] + [0.2 + 0.001 * k for k in range(38)]
    scores = scores_of(
        *close,
        noise=0.042,
        n_topics=25,
        names=[f"r{k}" for k in range(40)],
        seed=int(rng.integers(100)),
    )
    result, topics = sr.compare(scores), sr.topics(scores, n_trials=10)
    row = topics_to_settle(topics, "r0", "r1")
    assert not result.significant[0]
    assert row["topics_needed"] > 25, "the number alone would be below what there is"
    low, high = row["topics_needed_interval"]
    assert low < row["topics_needed"] < high
    assert settle_words(result, topics) == (
        "To separate r0 from r1, a paired t test with power 0.8 at alpha 0.05 over 780 comparisons "
        f"requires {row['topics_needed']} topics (95% interval {low:,} to {high:,}); there are 25."
    )


def test_measures_agree_or_disagree_about_the_first():
    both = scores_of(0.9, 0.3, measures=("AP", "RR"))
    assert measures_words(both) == "A is first by both measures."
    assert measures_words(scores_of(0.9, 0.3, measures=("AP", "RR", "P"))) == (
        "A is first by all three measures."
    )
    assert measures_words(scores_of(0.9, 0.3)) == ""
    values = np.array(both.values)
    values[1] = values[1][::-1]
    other = sr.Scores(measures=both.measures, runs=both.runs, topics=both.topics, values=values)
    assert measures_words(other) == (
        "The measures disagree about the first place: A is first by AP, B by RR."
    )
    values = np.array([[[0.9], [0.9], [0.1]], [[0.1], [0.1], [0.9]]])
    tied = sr.Scores(measures=["AP", "RR"], runs="ABC", topics=["1"], values=values)
    assert measures_words(tied) == (
        "The measures disagree about the first place: A and B are first by AP, C by RR."
    )


def test_systems_are_spoken_of_by_all_their_instances():
    scores = scores_of(0.80, 0.81, 0.30, 0.31, names=["a1", "a2", "b1", "b2"])
    table = sr.instances(
        scores.with_run_info(system=["a", "a", "b", "b"]),
        posterior=False,
        n_samples=50,
        samples_per_instance=50,
    )
    assert systems_words(table) == (
        "Of the systems, a has the best mean AP over its instances; it is shown to be better than "
        "b by a mixed model of topics and instances."
    )


def test_instances_of_one_system_are_not_held_against_each_other():
    scores = scores_of(0.80, 0.79, 0.30, 0.31, names=["a1", "a2", "b1", "b2"])
    scores = scores.with_run_info(system=["a", "a", "b", "b"])
    table = sr.instances(scores, posterior=False, n_samples=50, samples_per_instance=50)
    results = {
        "evaluate": scores,
        "compare": (sr.compare(scores, by="run"),),
        "instances": table,
        "topics": sr.topics(scores, n_trials=10),
    }
    card = make_card(results)
    assert card.verdict == systems_words(table, tested=False)
    assert card.facts[0].text.startswith("a1 leads by mean AP")
    assert "Chance of a reversal" not in [fact.about for fact in card.facts]
    other = scores.with_run_info(system=["a", "b", "a", "b"])
    said = {fact.about: fact.text for fact in make_card({**results, "evaluate": other}).facts}
    assert said["Chance of a reversal"].startswith("a2, the second, comes out above a1")


def test_files_that_would_make_results_wrong_come_first():
    good = SimpleNamespace(findings=())
    wrong = SimpleNamespace(level="wrong", where="r1", what="no topic of the qrels")
    assert files_words(None) == files_words(good) == ""
    assert files_words(SimpleNamespace(findings=(wrong,))) == (
        "Check the files first, as results may be wrong: r1: no topic of the qrels."
    )
    assert "(and one more)" in files_words(SimpleNamespace(findings=(wrong, wrong)))
    scores = scores_of(0.9, 0.3)
    card = make_card(
        {
            "evaluate": scores,
            "compare": (sr.compare(scores),),
            "check": SimpleNamespace(findings=(wrong,)),
        }
    )
    assert card.sentences[0].startswith("Check the files first")


def test_numbers_are_rounded_to_what_they_are_known_to():
    assert [counted(n, "topic", form=",") for n in (0, 1, 2, 1000)] == [
        "0 topics",
        "1 topic",
        "2 topics",
        "1,000 topics",
    ]
    assert some(["a", "b", "c", "d", "e"]) == "a, b, c, d and e"
    assert some(["a", "b", "c", "d", "e", "f"]) == "a, b, c, d and 2 others"
    for share in np.linspace(0, 1, 1001):
        shown = chance(share)
        assert "100%" not in shown
        assert shown != "0%"
