"""The first screen: verdicts that are short and true, shares that swap, tiles and cautions."""

from __future__ import annotations

import functools
import itertools
import re
from types import SimpleNamespace

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.present.page import Tile
from steadyrank.present.view import Finding
from steadyrank.reporting.page import first_screen, fronts_of, said_first
from steadyrank.stats.run_means import SAME_MEAN
from steadyrank.studies.agree.view import swap_share as swapped_by_measures
from steadyrank.studies.check.view import PART as CHECK
from steadyrank.studies.compare.findings import lead, verdict
from steadyrank.studies.holes.view import PART as HOLES
from steadyrank.studies.holes.view import reversed_by_judgments
from steadyrank.studies.instances.view import reversed_by_instances
from steadyrank.studies.judges.view import PART as JUDGES
from steadyrank.studies.judges.view import swap_share as swapped_by_judges
from steadyrank.studies.material import Material, Settings
from steadyrank.studies.part import Findings, Front
from steadyrank.studies.simulate.view import PART as SIMULATE


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
    "three clearly share it": scores_of(0.9, 0.9, 0.9, 0.3, 0.3),
    "one clear winner": scores_of(0.3, 0.9, 0.5, 0.4),
    "one rival": scores_of(0.700, 0.701, 0.3, 0.2),
    "near ties": many(18, 0.002),
    "some rivals": many(18, 0.03),
    "129 runs": many(129, 0.04),
    "one broken run": broken(9),
}

OPTIONS = {
    "max-t": {},
    "uncorrected": {"correction": "none"},
    "of many": {},
    "baseline": {"baseline": "run0"},
    "systems": {"by": "system"},
}


@functools.cache
def compared(case, how="max-t"):
    scores = CASES[case]
    if how == "systems":
        # Each run once more, a little different, makes a system of two.
        again = np.concatenate([scores.values, scores.values], axis=1)
        again[:, len(scores.runs) :] += np.random.default_rng(1).normal(0, 1e-3, again.shape[2])
        names = [*scores.runs, *(f"{run}_2" for run in scores.runs)]
        scores = sr.Scores(measures=["AP"], runs=names, topics=scores.topics, values=again)
        scores = scores.with_run_info(system=[f"sys{i}" for i in range(again.shape[1] // 2)] * 2)
    return sr.compare(scores, **OPTIONS[how])


# Verdicts


@pytest.mark.parametrize("case", CASES)
def test_a_verdict_says_what_the_tests_decided(case):
    result = compared(case)
    found = verdict(result)
    best = float(np.nanmax(result.mean))
    firsts = np.flatnonzero(best - result.mean <= SAME_MEAN)
    could = int(result.could_be_first.sum())
    assert found.values["leaders"] == [result.runs[run] for run in firsts]
    assert found.values["could_be_first"] == could >= len(firsts)
    assert found.values["n_rows"] == len(result.runs)
    counts = [int(n) for n in re.findall(r"\b(\d+)(?= of| runs)", found.text)]
    assert counts in ([], [could, len(result.runs)], [len(result.runs)])
    if len(firsts) == len(result.runs):
        assert found.text.endswith("have the same mean AP.")
    elif len(firsts) > 1:
        assert "share the best mean" in found.text
        assert ("no other" in found.text) == (could == len(firsts))
    elif len(result.runs) == 2:
        assert ("leads, but is not significantly better" in found.text) != result.significant[0]
    else:
        assert found.text.startswith(f"{result.runs[firsts[0]]} leads")
        assert ("no other of the" in found.text) == (could == 1)
        assert ("any of the" in found.text) == (could == len(result.runs))


def test_sentences_of_single_cases():
    said = {case: verdict(compared(case)).text for case in CASES}
    assert said["two apart"] == "run0 is significantly better than run1."
    assert said["two close"] == "run1 leads, but is not significantly better than run0."
    assert said["two equal"] == "run0 and run1 have the same mean AP."
    assert said["all equal"] == "All four runs have the same mean AP."
    assert said["two share the first place"] == (
        "run0 and run1 share the best mean; with 95% confidence no other could be first."
    )
    assert said["three share the first place"] == (
        "Three runs share the best mean; 4 of 5 runs could be first."
    )
    assert said["one clear winner"] == (
        "run1 leads; with 95% confidence no other of the 4 runs could be first."
    )
    assert said["one rival"] == "run1 leads, but 2 of 4 runs could be first."
    assert said["near ties"].endswith("leads, but any of the 18 runs could be first.")
    uncorrected = verdict(compared("one clear winner", "uncorrected")).text
    assert uncorrected == "run1 leads; by these tests no other of the 4 runs could be first."


def test_scores_in_another_order_share_the_first_place():
    """They add up to a sum that differs in its last digits."""
    values = np.round(np.random.default_rng(3).random(40), 1)
    scores = sr.Scores(
        measures=["P@10"],
        runs=["A", "B", "C"],
        topics=range(40),
        values=[[values, values[::-1], values - 0.5]],
    )
    found = verdict(sr.compare(scores))
    assert found.values["leaders"] == ["A", "B"]
    assert found.text.startswith("A and B share the best mean; ")


def test_a_run_without_any_score_stands_nowhere():
    values = np.array(scores_of(0.5, 0.9, 0.3).values)
    values[0, 2] = np.nan
    result = sr.compare(
        sr.Scores(measures=["AP"], runs=["A", "B", "C"], topics=range(30), values=values)
    )
    assert verdict(result).values["n_rows"] == 2
    assert verdict(result).text == "B is significantly better than A."
    assert lead(result).values["b"] == "A"


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ((0.5, 0.9), "run1 is significantly better than run0."),
        ((0.5, 0.2), "run1 is significantly worse than run0."),
        ((0.5, 0.501), "run1 is not significantly different from run0."),
        ((0.5, 0.501, 0.499), "None of 2 other runs is significantly different from run0."),
        (
            (0.5, 0.9, 0.8, 0.2, 0.501),
            "2 of 4 other runs are significantly better than run0, 1 significantly worse.",
        ),
        (
            (0.5, 0.2, 0.501),
            "None of 2 other runs is significantly better than run0, 1 significantly worse.",
        ),
        (
            (0.5, 0.9, 0.501),
            "1 of 2 other runs is significantly better than run0, none is significantly worse.",
        ),
    ],
)
def test_a_baseline_is_what_runs_are_compared_with(means, said):
    result = sr.compare(scores_of(*means), baseline="run0")
    found = verdict(result)
    assert found.text == said
    assert found.values["n_better"] == int((result.difference[result.significant] > 0).sum())
    assert "run0" in lead(result).text or lead(result).values["a"] == "run0"


# Putting offers together


def findings_of(scores, why_not=None, settings=None, **results):
    return Findings(
        material=Material(scores=scores, settings=settings or Settings()),
        results={"evaluate": scores, "compare": (sr.compare(scores),), **results},
        why_not=why_not or {},
        warnings={},
    )


def test_studies_that_are_missing_are_not_spoken_of():
    findings = findings_of(scores_of(0.9, 0.3))
    fronts = fronts_of(findings)
    assert [one.id for one in said_first(fronts)] == [
        *("compare.verdict", "compare.lead", "compare.fragility", "compare.detectable")
    ]
    screen = first_screen(findings, fronts)
    assert (screen.bars, screen.not_examined) == ((), "")


def test_the_last_verdict_counts_and_shares_stand_largest_first():
    def finding(id, **values):
        return Finding(id, f"{id}.", values)

    fronts = {
        "compare": Front(verdict=finding("compare.verdict"), line=finding("compare.lead")),
        "topics": Front(
            swap=finding("topics.swap", share=0.1), tiles=(Tile(id="t", figure="1", text="one"),)
        ),
        "simulate": Front(swap=finding("simulate.swap", share=0.3)),
        "agree": Front(swap=finding("agree.swap", share=float("nan"))),
        "holes": Front(swap=finding("holes.swap", share=0.0002)),
        "datasets": Front(verdict=finding("datasets.verdict"), cautions=(finding("d.caution"),)),
    }
    screen = first_screen(findings_of(scores_of(0.9, 0.3)), fronts)
    assert (screen.verdict, screen.line) == ("datasets.verdict.", "")
    assert [(bar.link, bar.text) for bar in screen.bars] == [
        ("simulate", "30%"),
        ("topics", "10%"),
        ("holes", "< 1%"),
    ]
    assert [one.id for one in said_first(fronts)] == [
        *("datasets.verdict", "d.caution", "simulate.swap", "topics.swap", "holes.swap", "t")
    ]


def test_what_was_not_examined_is_named_with_an_option_that_helps(tmp_path, drawn_nowhere):
    """But where the data suffice and the time does not, no option of the study's own helps."""
    scores = scores_of(0.9, 0.5, 0.3)
    lacking = {"judges": "none", "agree": "one", "simulate": "scores", "instances": "unknown"}
    screen = first_screen(findings_of(scores, lacking), {})
    assert screen.not_examined == (
        "Not examined: other documents (runs instead of scores), other measures (-m twice), "
        "other instances (--system-from), other judges (add a column judge with two more judges)."
    )
    named = scores.with_run_info(system=["a", "a", "b"])
    short = first_screen(findings_of(named, {"instances": "longer than the budget"}), {})
    assert short.not_examined == "Not examined: other instances."


def test_files_that_would_make_results_wrong_come_first():
    good = SimpleNamespace(findings=())
    wrong = SimpleNamespace(level="wrong", where="r1", what="no topic of the qrels")
    assert CHECK.front(good, None).cautions == ()
    scores = scores_of(0.9, 0.3)
    for found, more in ((wrong,), ""), ((wrong, wrong), " (and one more)"):
        check = SimpleNamespace(findings=found)
        screen = first_screen(f := findings_of(scores, check=check), fronts_of(f))
        text = f"Results may be wrong: r1: no topic of the qrels{more}."
        assert screen.cautions == (text,)


# Shares of pairs that swap


def test_shares_are_the_studies_own_figures():
    scores = scores_of(0.52, 0.5, 0.48, 0.45, 0.4, 0.38, noise=0.1, measures=("AP", "RR"))
    topics = sr.topics(scores, measure="AP", n_trials=20)
    agree = sr.agree(scores, n_samples=10, topic_sizes=[10, 20], system_sizes=[3, 5])
    simulated = SimpleNamespace(
        measure="AP", runs=scores.runs, prediction=SimpleNamespace(swap_share=0.9), n_samples=10
    )
    findings = findings_of(scores, topics=topics, agree=agree, simulate=simulated)
    findings.results["compare"] = (sr.compare(scores, measure="AP"),)
    fronts = fronts_of(findings)
    known = {name: front.swap.values["share"] for name, front in fronts.items() if front.swap}
    assert known["topics"] == pytest.approx(topics.expected_reversal.mean())
    assert known["simulate"] == 0.9
    first, second = scores.mean()
    gaps = [(first[a] - first[b]) * (second[a] - second[b]) for a in range(6) for b in range(a)]
    assert known["agree"] == pytest.approx(np.mean(np.array(gaps) < 0))
    assert known["agree"] == swapped_by_measures(scores)
    bars = first_screen(findings, fronts).bars
    assert (bars[0].about, bars[0].text) == ("Other documents", "90%")
    two = SimpleNamespace(runs=("A", "B"), prediction=simulated.prediction, n_samples=10)
    assert SIMULATE.front(two, None).swap.text == (
        "In a second collection the two runs change their order with probability 90%."
    )


def test_judgments_reverse_a_pair_by_the_completions_against_it():
    pairs = [
        SimpleNamespace(difference=0.1, sign_share=0.8),
        SimpleNamespace(difference=-0.1, sign_share=0.3),
        SimpleNamespace(difference=0.0, sign_share=0.5),
        SimpleNamespace(difference=0.1, sign_share=None),
    ]
    holes = SimpleNamespace(pairs=pairs, runs=list("abcd"))
    np.testing.assert_allclose(reversed_by_judgments(holes), [0.2, 0.3, np.nan, np.nan])
    assert HOLES.front(holes, None).swap.values["share"] == pytest.approx(0.25)


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


def test_judges_reverse_the_pairs_that_they_order_otherwise():
    human = SimpleNamespace(difference=np.array([0.1, 0.2, 0.1, 0.0]))
    others = [np.array([-0.1, 0.2, 0.0, 0.1]), np.array([0.1, 0.1, 0.1, -0.1])]
    judges = [SimpleNamespace(on_human_topics=SimpleNamespace(difference=d)) for d in others]
    result = SimpleNamespace(human=human, judges=judges, runs=list("abcd"))
    # One pair and a tie of three by the first judge, none by the second.
    assert swapped_by_judges(result) == pytest.approx((1.5 / 3 + 0) / 2)
    assert JUDGES.front(result, None).swap.values["share"] == swapped_by_judges(result)


# Tiles


def test_tiles_are_what_these_topics_show_and_what_would_settle_the_lead():
    scores = many(18, 0.01)
    result, topics = sr.compare(scores), sr.topics(scores, n_trials=20)
    tiles = {
        tile.id: tile
        for front in fronts_of(findings_of(scores, topics=topics)).values()
        for tile in front.tiles
    }
    assert tiles["compare.significant"].figure == f"{result.significant.mean():.0%}"
    assert tiles["compare.significant"].text == "of 153 pairs differ significantly"
    smallest = float(np.sqrt(np.mean(result.smallest_difference**2)))
    assert tiles["compare.detectable"].figure == f"{smallest:.3f}"
    (row,) = topics.told([topics.pair(result.order[0], result.order[1])])
    assert row["topics_assured"] > row["topics_needed_interval"][0]
    assert tiles["topics.needed"].figure == f"{row['topics_assured']:,}"
    assert tiles["topics.needed"].values["topics_assured"] == row["topics_assured"]
    clear = fronts_of(findings_of(s := scores_of(0.9, 0.3), topics=sr.topics(s, n_trials=10)))
    assert clear["topics"].tiles == (), "nothing is left to settle"
