"""The panel of two runs: every text is what the studies say of that pair."""

from __future__ import annotations

import itertools
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.present.pair_panel import PairPanel, aligned_pairs, packed
from steadyrank.reporting.page import two_runs
from steadyrank.studies.compare.page import MOST_PICKED
from steadyrank.studies.material import Material, Settings
from steadyrank.studies.part import Findings
from steadyrank.studies.simulate.view import PART as SIMULATE
from steadyrank.studies.topics.study import needed_figure
from steadyrank.words import chance, pvalue_words, roughly


def results_of(n_runs=7, n_topics=25, measures=("AP", "RR"), gaps=False, seed=4):
    rng = np.random.default_rng(seed)
    values = 0.4 + rng.normal(0, 0.06, (len(measures), n_runs, 1))
    values = values + rng.normal(0, 0.1, (len(measures), n_runs, n_topics))
    values[:, :, :3] = np.round(values[:, :, :3], 1)  # some ties
    if gaps:
        values[0, 2, :8] = np.nan
    scores = sr.Scores(
        measures=measures,
        runs=[f"r{(5 * i) % n_runs}, {{a}}" for i in range(n_runs)],
        topics=[f"t{t}" for t in range(n_topics)],
        values=values,
    )
    return {
        "evaluate": scores,
        "compare": tuple(sr.compare(scores, measure=measure) for measure in measures),
        "topics": sr.topics(scores, measure=measures[0], n_trials=10),
    }


def make_pairs(results):
    """The panel that a page has of these results."""
    material = Material(scores=results["evaluate"], settings=Settings())
    return two_runs(Findings(material=material, results=results, why_not={}, warnings={}))


@pytest.fixture(scope="module", params=[False, True], ids=["whole", "gaps"])
def results(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)  # of topics that a run lacks
        return results_of(gaps=request.param)


@pytest.fixture(scope="module")
def panel(results):
    return make_pairs(results)


def every_pair(panel):
    return itertools.combinations(range(len(panel.names)), 2)


def number(text):
    return float(text.replace("−", "-"))


def test_runs_stand_best_first(results, panel):
    main = results["compare"][0]
    assert panel.names == tuple(main.runs[run] for run in main.order)
    assert panel.topics == main.topics


def test_differences_intervals_and_decisions_are_those_of_compare(results, panel):
    main = results["compare"][0]
    rows = {(row["a"], row["b"]): row for row in main.rows()}
    for a, b in every_pair(panel):
        one, other, p = panel.names[a], panel.names[b], panel.place(a, b)
        row, sign = (rows[one, other], 1) if (one, other) in rows else (rows[other, one], -1)
        assert number(panel.fields["difference"][p]) == pytest.approx(
            sign * row["difference"], abs=5.1e-5
        )
        ends = [number(panel.fields[end][p]) for end in ("low", "high")]
        assert ends == pytest.approx(sorted(sign * end for end in row["interval"]), abs=5.1e-5)
        assert panel.fields["corrected"][p] == pvalue_words(row["pvalue_adjusted"])
        said = panel.text("{decision}", a, b)
        assert ("is significantly better than" in said) == row["significant"]
        wins, losses = (row["wins"], row["losses"])[::sign]
        assert panel.fields["wins"][p] == str(wins)
        assert panel.fields["losses"][p] == str(losses)
        assert panel.fields["ties"][p] == str(row["ties"])
        assert panel.fields["n"][p] == str(row["n"])


def test_scores_of_topics_give_differences_and_wins(results, panel):
    """What the page subtracts: whole numbers of the last decimal that is shown."""
    data = packed(panel, {})
    scores = np.array(data["scores"], float).reshape(panel.scores.shape)
    for a, b in every_pair(panel):
        units = scores[a] - scores[b]
        exact = panel.scores[a] - panel.scores[b]
        np.testing.assert_allclose(units / 1e4, exact, atol=1.01e-4)
        clear = np.abs(exact) > 1e-4
        np.testing.assert_array_equal(np.sign(units[clear]), np.sign(exact[clear]))


def test_reversals_and_topics_are_those_of_topics(results, panel):
    topics = results["topics"]
    for a, b in every_pair(panel):
        one, other = (topics.runs.index(panel.names[run]) for run in (a, b))
        (row,) = topics.told([topics.pair(one, other)])
        p = panel.place(a, b)
        assert panel.fields["reversed"][p] == roughly(row["expected_reversal"])
        needed = panel.fields["needed"][p]
        assert needed.startswith("none" if row["significant"] else f"{needed_figure(row)} for a")
        said = panel.text("{repeated}", a, b)
        assert said.endswith(f"reverses it with probability {roughly(row['expected_reversal'])}")


def test_equal_means_have_no_order_that_other_topics_reverse():
    values = np.random.default_rng(5).beta(2, 3, (4, 20))
    values[1] = values[0]
    scores = sr.Scores(measures=["AP"], runs="abcd", topics=range(20), values=[values])
    topics = sr.topics(scores, n_trials=10)
    panel = make_pairs({"evaluate": scores, "compare": (sr.compare(scores),), "topics": topics})
    a, b = panel.names.index("a"), panel.names.index("b")
    said = panel.text("{repeated}", min(a, b), max(a, b))
    assert said == "the means are equal: there is no order to reverse"
    others = [panel.text("{repeated}", *pair) for pair in every_pair(panel) if set(pair) != {a, b}]
    assert all("reverses it with probability" in words for words in others)


def test_other_measures_have_their_own_decisions(results, panel):
    other = results["compare"][1]
    rows = {frozenset((row["a"], row["b"])): row for row in other.rows()}
    for a, b in every_pair(panel):
        row = rows[frozenset((panel.names[a], panel.names[b]))]
        text = panel.fields["decided2"][panel.place(a, b)]
        assert text.startswith("significant") == row["significant"]
        assert pvalue_words(row["pvalue_adjusted"]) in text


def test_sentences_are_filled_and_names_are_left_alone(panel):
    said = panel.text(panel.sentence, 0, 1)
    assert panel.names[0] in said
    assert "corrected t, max-t over 21 comparisons" in said
    # A name that looks like a place for a name is no such place.
    assert set(re.findall(r"\{\w+\}", said)) <= {"{a}"}
    assert said.count("{a}") == 2


def test_pairs_that_a_study_does_not_have_are_marked():
    place, sign = aligned_pairs(["c", "a", "b"], ["a", "b"], np.array([[0, 1]]))
    assert place.tolist() == [-1, -1, 0]  # c-a, c-b, a-b
    assert sign.tolist() == [1.0, 1.0, 1.0]


def test_order_in_simulated_collections_is_that_of_its_section():
    above = np.random.default_rng(0).random((3, 3))
    result = SimpleNamespace(runs=("a", "b", "c"), above=above, measure="AP", n_samples=100)
    order = ["c", "x", "a", "b"]
    panel = PairPanel(
        names=tuple(order),
        measure="AP",
        topics=("1",),
        scores=np.zeros((4, 1)),
        sentence="",
        latex="",
    )
    SIMULATE.of_two(panel, result, None)
    for (one, other), said in zip(panel.pairs, panel.fields["kept"], strict=True):
        known = one in result.runs and other in result.runs
        place = [result.runs.index(run) for run in (one, other) if known]
        share = result.above[tuple(place)] if known else np.nan
        assert said == ("–" if np.isnan(share) else chance(float(share), 100))


@pytest.mark.parametrize("baseline", [None, "r199"])
def test_of_very_many_runs_the_best_and_the_baseline_can_be_picked(baseline):
    rng = np.random.default_rng(5)
    values = rng.random((200, 40)) * 0.1 + np.linspace(0.8, 0.1, 200)[:, None]
    scores = sr.Scores(
        measures=["AP"], runs=[f"r{i}" for i in range(200)], topics=range(40), values=[values]
    )
    compared = sr.compare(scores, baseline=baseline)
    panel = make_pairs({"evaluate": scores, "compare": (compared,)})
    best = [compared.runs[run] for run in compared.order[:MOST_PICKED]]
    rest = [] if baseline is None else [baseline]
    assert list(panel.names) == best + rest
    extra = " and the baseline" if rest else ""
    assert panel.omitted == f"Of 200 runs, the best {MOST_PICKED}{extra} can be picked."
    place = panel.place(0, len(panel.names) - 1)
    expected = scores.mean()[0][scores.runs.index(best[0])]
    other = scores.mean()[0][scores.runs.index(panel.names[-1])]
    assert panel.fields["difference"][place] == f"{expected - other:+.4f}"
    chosen = scores.select(runs=best)
    few = make_pairs({"evaluate": chosen, "compare": (sr.compare(chosen),)})
    assert few.omitted == ""
    assert len(few.names) == MOST_PICKED
