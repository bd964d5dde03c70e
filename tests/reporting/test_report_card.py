"""The card: at most 25 words, at most two names, and true of every kind of leaderboard."""

from __future__ import annotations

import functools
import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest
from steadyrank.reporting.card import MOST_WORDS, make_card, verdict
from steadyrank.reporting.limits import (
    limit_words,
    limits,
    reversed_by_instances,
    reversed_by_judgments,
)

import steadyrank as sr
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.words import number_word


def scores_of(*means, noise=0.05, n_topics=30, measures=("AP",), seed=0):
    """Runs whose means are as given, exactly."""
    rng = np.random.default_rng(seed)
    values = rng.normal(0, noise, (len(measures), len(means), n_topics))
    values += np.array(means)[:, None] - values.mean(axis=2, keepdims=True)
    values += rng.normal(0, 0.1, n_topics)
    return sr.Scores(
        measures=measures,
        runs=[f"run{place}" for place in range(len(means))],
        topics=range(n_topics),
        values=values,
    )


def many(n, spread, seed=3):
    rng = np.random.default_rng(seed)
    return scores_of(*(0.5 + spread * rng.standard_normal(n)), seed=seed)


def broken(n):
    values = np.array(many(n, 0.02).values)
    values[0, n // 2] = 0.0
    return sr.Scores(
        measures=["AP"], runs=[f"run{i}" for i in range(n)], topics=range(30), values=values
    )


CASES = {
    "two apart": scores_of(0.9, 0.3),
    "two close": scores_of(0.500, 0.501),
    "two equal": scores_of(0.5, 0.5, noise=0.0),
    "all equal": scores_of(0.5, 0.5, 0.5, 0.5, noise=0.0),
    "two share the first place": scores_of(0.9, 0.9, 0.5, 0.4),
    "three share the first place": scores_of(0.9, 0.9, 0.9, 0.899, 0.3),
    "one clear winner": scores_of(0.3, 0.9, 0.5, 0.4),
    "one rival": scores_of(0.700, 0.701, 0.3, 0.2),
    "near ties": many(18, 0.002),
    "some rivals": many(18, 0.03),
    "129 runs": many(129, 0.04),
    "one broken run": broken(9),
}


@pytest.mark.parametrize("case", CASES)
def test_a_verdict_is_short_and_names_two_runs_at_most(case):
    result = compared(case)
    words = verdict(result, 500)
    assert len(words.split()) <= MOST_WORDS, words
    assert len(set(re.findall(r"run\d+", words))) <= 2, words


@pytest.mark.parametrize("case", CASES)
def test_a_verdict_says_what_the_tests_decided(case):
    result = compared(case)
    words = verdict(result)
    best = float(np.nanmax(result.mean))
    firsts = np.flatnonzero(best - result.mean <= SAME_MEAN)
    beaten = _beaten(result, firsts)
    n_others = len(result.runs) - len(firsts)
    if n_others == 0:
        assert words.endswith("have the same mean AP.")
        return
    first = result.runs[firsts[0]]
    not_worse = n_others - len(beaten)
    if len(firsts) > 1:
        assert "share the best mean AP; " in words
    elif not_worse == 0:
        assert f"{first} " in words
        assert "is significantly better than" in words
        assert "not significantly" not in words
    else:
        assert words.startswith(f"{first} leads by mean AP, but is not significantly better than ")
        if not_worse == n_others > 1:
            assert "any of the" in words
        elif not_worse > 1:
            assert numbers(words) == [not_worse, n_others]


def _beaten(result, firsts):
    """Runs that are significantly worse than every run in the first place."""
    pairs = {frozenset(pair) for pair in result.pairs[result.significant].tolist()}
    return [
        run
        for run in range(len(result.runs))
        if run not in firsts and all(frozenset((run, int(first))) in pairs for first in firsts)
    ]


def numbers(words):
    spelled = [number_word(number) for number in range(1, 13)]
    found = re.search(r"than (\S+) of the (\S+) others", words)
    return [
        spelled.index(word) + 1 if word in spelled else int(word.replace(",", ""))
        for word in found.groups()
    ]


def test_sentences_of_single_cases():
    said = {case: verdict(compared(case)) for case in CASES}
    assert said["two apart"] == "run0 is significantly better than run1 by mean AP."
    assert said["two close"] == "run1 leads by mean AP, but is not significantly better than run0."
    assert said["two equal"] == "run0 and run1 have the same mean AP."
    assert said["all equal"] == "Four runs have the same mean AP."
    assert said["two share the first place"] == (
        "run0 and run1 share the best mean AP; the two others are significantly worse than both."
    )
    assert said["three share the first place"] == (
        "Three runs share the best mean AP; one of the two others is significantly worse than all "
        "of them."
    )
    assert said["one clear winner"] == (
        "run1 leads by mean AP and is significantly better than all three others."
    )
    assert said["one rival"] == "run1 leads by mean AP, but is not significantly better than run0."
    assert verdict(sr.compare(CASES["one rival"]), 400).endswith("(best 4 of 400 runs).")


def test_one_run_is_refused(tmp_path):
    with pytest.raises(sr.SteadyrankError, match="at least two are required, got 1"):
        sr.report(scores=scores_of(0.5), out=tmp_path / "page.html")


@functools.cache
def compared(case):
    return sr.compare(CASES[case])


def card_of(scores, **more):
    return make_card({"evaluate": scores, "compare": (sr.compare(scores),), **more})


def test_a_card_says_who_could_be_first_what_reverses_it_and_what_is_resolved():
    scores = many(18, 0.01)
    result, topics = sr.compare(scores), sr.topics(scores, n_trials=20)
    said = {fact.about: fact.text for fact in card_of(scores, topics=topics).facts}
    firsts = int(result.could_be_first.sum())
    assert len(re.findall(r"run\d+", said["Could be first"])) <= 3 <= firsts
    second = result.runs[result.order[1]]
    assert said["Chance of a reversal"].startswith(f"{second}, the second, comes out above")
    smallest = float(np.nanmedian(result.smallest_difference))
    assert (
        f"Detectable difference (power 0.8, 153 comparisons, median): {smallest:.3f}"
        in said["What these topics resolve"]
    )
    assert said["What limits it most"].startswith("Topics, of what was examined: ")
    assert said["What limits it most"].endswith(
        "documents, missing judgments, judges, instances and measures were not examined."
    )


def test_a_broken_run_carries_no_card():
    card = card_of(broken(9))
    assert "run4" not in " ".join(card.sentences)


def test_cautions_come_first():
    values = np.array(many(5, 0.03).values)
    values[0, 0, 0] = np.nan
    scores = sr.Scores(measures=["AP"], runs=list("abcde"), topics=range(30), values=values)
    assert card_of(scores).sentences[0].startswith("1 of 150 scores are missing")


# What limits an evaluation most


def test_limits_are_the_studies_own_figures():
    scores = scores_of(0.52, 0.5, 0.48, 0.45, 0.4, 0.38, noise=0.1, measures=("AP", "RR"))
    topics = sr.topics(scores, measure="AP", n_trials=20)
    agree = sr.agree(scores, n_samples=10, topic_sizes=[10, 20], system_sizes=[3, 5])
    prediction = SimpleNamespace(swap_share=0.9)
    simulated = SimpleNamespace(measure="P@10", prediction=prediction, other_first=None)
    results = {
        "evaluate": scores,
        "compare": (sr.compare(scores, measure="AP"),),
        "topics": topics,
        "agree": agree,
        "simulate": simulated,
    }
    known = {limit.what: limit.share for limit in limits(results)}
    assert known["topics"] == pytest.approx(topics.expected_reversal.mean())
    assert known["documents"] == 0.9
    first, second = scores.mean()
    gaps = [(first[a] - first[b]) * (second[a] - second[b]) for a in range(6) for b in range(a)]
    assert known["measures"] == pytest.approx(np.mean(np.array(gaps) < 0))
    assert limit_words(results).startswith(
        "Documents: 90% of the pairs of runs change their order in a second document collection "
        "(by P@10), against "
    )


def test_judgments_reverse_a_pair_by_the_completions_against_it():
    pairs = [
        SimpleNamespace(difference=0.1, sign_share=0.8),
        SimpleNamespace(difference=-0.1, sign_share=0.3),
        SimpleNamespace(difference=0.0, sign_share=0.5),
        SimpleNamespace(difference=0.1, sign_share=None),
    ]
    shares = reversed_by_judgments(SimpleNamespace(pairs=pairs))
    np.testing.assert_allclose(shares, [0.2, 0.3, np.nan, np.nan])


def test_instances_reverse_systems_by_two_other_instances():
    """One fresh draw of both, against the plain count over all draws."""
    means = {"a": [0.6, 0.4, 0.55], "b": [0.5, 0.3], "c": [0.45], "d": [0.2]}
    systems = [system for system, own in means.items() for _ in own]
    scores = scores_of(*itertools.chain(*means.values())).with_run_info(system=systems)
    shares = []
    for one, other in itertools.combinations(means.values(), 2):
        if len(one) + len(other) == 2:
            continue
        draws = itertools.product(*(again(own) for own in (one, other)))
        shares.append(np.mean([(a - b) * (c - d) < 0 for (a, c), (b, d) in draws]))
    assert reversed_by_instances(scores) == pytest.approx(np.mean(shares))
    assert np.isnan(reversed_by_instances(scores_of(0.6, 0.4)))


def again(own):
    """An instance of a system, and another one; the same where it has no other."""
    return list(itertools.permutations(own, 2)) if len(own) > 1 else [(own[0], own[0])]


def test_two_runs_change_their_order_with_a_probability():
    scores = scores_of(0.52, 0.5, noise=0.1)
    topics = sr.topics(scores, measure="AP", n_trials=20)
    results = {"evaluate": scores, "compare": (sr.compare(scores),), "topics": topics}
    assert limit_words(results).startswith(
        "Topics, of what was examined: the two runs change their order with probability "
    )


def test_judges_reverse_the_pairs_that_they_order_otherwise():
    scores = scores_of(0.52, 0.5, 0.48, noise=0.1)
    human = SimpleNamespace(difference=np.array([0.1, 0.2, 0.1, 0.0]))
    others = [np.array([-0.1, 0.2, 0.0, 0.1]), np.array([0.1, 0.1, 0.1, -0.1])]
    judges = [SimpleNamespace(on_human_topics=SimpleNamespace(difference=d)) for d in others]
    results = {
        "evaluate": scores,
        "compare": (sr.compare(scores),),
        "judges": SimpleNamespace(human=human, judges=judges),
    }
    # One pair and a tie of three by the first judge, none by the second.
    (limit,) = limits(results)
    assert (limit.what, limit.share) == ("judges", pytest.approx((1.5 / 3 + 0) / 2))


def test_what_has_a_section_is_examined_though_it_has_no_figure():
    """Without imputed completions nothing is drawn, yet the section is on the page."""
    scores = scores_of(0.52, 0.5, 0.48, noise=0.1)
    pair = SimpleNamespace(difference=0.1, sign_share=None)
    holes = SimpleNamespace(measure="AP", pairs=[pair])
    topics = sr.topics(scores, measure="AP", n_trials=20)
    results = {
        "evaluate": scores,
        "compare": (sr.compare(scores),),
        "topics": topics,
        "holes": holes,
    }
    assert "documents, judges, instances and measures were not examined" in limit_words(results)


def test_a_card_says_who_else_is_first():
    scores = scores_of(0.52, 0.5, 0.48, noise=0.01)
    rows = [
        SimpleNamespace(run=run, score=score, imputed=imputed)
        for run, score, imputed in (("A", 0.52, 0.52), ("B", 0.5, 0.51), ("C", 0.48, 0.53))
    ]
    holes = SimpleNamespace(measure="AP", n_samples=9, runs=rows, pairs=[])
    simulated = SimpleNamespace(
        measure="AP", prediction=None, other_first="B", runs=(), above=np.empty((0, 0))
    )
    said = {fact.about: fact.text for fact in card_of(scores, simulate=simulated).facts}
    assert said["First otherwise"] == "B is first by simulated means."
    both = card_of(scores, simulate=simulated, holes=holes)
    said = {fact.about: fact.text for fact in both.facts}
    assert said["First otherwise"] == (
        "B is first by simulated means and C is first with imputed judgments."
    )
    by_another = SimpleNamespace(measure="RR", prediction=None, other_first="B", runs=())
    assert "First otherwise" not in {
        fact.about for fact in card_of(scores, simulate=by_another).facts
    }
