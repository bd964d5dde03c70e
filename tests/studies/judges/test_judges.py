"""`judges`: what it says of judges whose errors are known, and what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.data.qrels import Qrels
from steadyrank.studies.judges.view import VIEW, paper_sentence

quiet = pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")


@pytest.fixture(scope="module")
def track():
    return sr.simulated_track(n_teams=4, runs_per_team=2, n_topics=48, depth=40, pool_depth=40)


def cut(qrels: Qrels, topics):
    return sr.qrels_from_dict({topic: qrels.judgments(topic) for topic in topics})


def regraded(qrels: Qrels, change, seed=0):
    """A judge who gives each grade as `change` says, from grade and random number."""
    rng = np.random.default_rng(seed)
    return sr.qrels_from_dict(
        {
            topic: {
                document: int(change(grade, rng.random()))
                for document, grade in qrels.judgments(topic).items()
            }
            for topic in qrels.topics
        }
    )


def generous(grade, chance):
    return min(2, grade + (chance < 0.3)) if chance < 0.9 else max(0, grade - 1)


@pytest.fixture(scope="module")
def people(track):
    return cut(track.qrels, track.qrels.topics[::4])


@pytest.fixture(scope="module")
def judge(track):
    return regraded(track.qrels, generous)


@pytest.fixture(scope="module")
def result(track, people, judge):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        return sr.judges(
            track.runs, people, {"model": judge}, n_samples=999, kin="team1", top=3, rng=1
        )


def test_means_are_those_of_evaluate_and_the_corrected_ones_of_the_formula(
    result, track, people, judge
):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        human = sr.evaluate(track.runs, people, "nDCG@10")
        model = sr.evaluate(track.runs, judge, "nDCG@10")
    assert result.runs == tuple(sorted(human.runs))
    order = [human.runs.index(run) for run in result.runs]
    assert result.human.mean == pytest.approx(human.mean()[0, order])
    one = result.of("model")
    assert one.alone.mean == pytest.approx(model.mean()[0, order])
    assert one.n_judge_topics == 36
    known = [model.topics.index(topic) for topic in human.topics]
    others = [t for t in range(48) if t not in known]
    values, lam = model.values[0][order], one.weight.value
    expected = lam * values[:, others].mean(axis=1)
    expected += (human.values[0][order] - lam * values[:, known]).mean(axis=1)
    assert one.corrected.mean == pytest.approx(expected, abs=1e-12)
    assert 0 < lam < 1
    assert one.width_ratio < 1


def test_human_alone_is_what_compare_says(result, track, people):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        scores = sr.evaluate(track.runs, people, "nDCG@10").select(runs=result.runs)
    compared = sr.compare(scores, n_samples=999, rng=1)
    assert result.human.pvalue_adjusted == pytest.approx(compared.pvalue_adjusted, abs=1e-12)
    assert result.human.rank_set.tolist() == compared.rank_set.tolist()
    assert result.human.interval == pytest.approx(compared.interval, abs=1e-10)


def test_decisions_rank_sets_and_intervals_are_one_family(result):
    one = result.of()
    for ranking in (result.human, one.corrected, one.alone):
        outside = (ranking.interval[:, 0] > 0) | (ranking.interval[:, 1] < 0)
        assert (outside == ranking.significant).all()
        assert (ranking.significant == (ranking.pvalue_adjusted <= result.alpha)).all()
        beaten = np.zeros(len(result.runs), int)
        for (a, b), claim in zip(result.pairs.tolist(), ranking.claimed.tolist(), strict=True):
            beaten[b if claim > 0 else a] += claim != 0
        # Ranks are of own comparisons, which claim all that these claim.
        assert (ranking.rank_set[:, 0] >= 1 + beaten).all()
        assert (ranking.could_be_first == (ranking.rank_set[:, 0] == 1)).all()
        assert ranking.could_be_first[ranking.order[0]]


def test_kappas_and_counts_are_those_of_all_pairs_of_grades(result, people, judge):
    first, second = [], []
    for topic in people.topics:
        for document, grade in people.judgments(topic).items():
            first.append(grade)
            second.append(judge.judgments(topic)[document])
    confusion = result.of().confusion
    assert confusion.n_documents == len(first) == confusion.counts.sum()
    kappa = confusion.coefficients["kappa"]
    assert kappa.value == pytest.approx(sr.cohen_kappa(first, second))
    weighted = sr.cohen_kappa(first, second, weights="quadratic")
    assert confusion.coefficients["kappa_weighted"].value == pytest.approx(weighted)
    assert kappa.interval.low < kappa.value < kappa.interval.high


def test_shares_of_decisions_are_counted_by_pairs(result):
    one = result.of()
    ours, theirs = one.on_human_topics.claimed, result.human.claimed
    chosen = ours != 0
    if chosen.any():
        assert one.unconfirmed_share == pytest.approx(np.mean(theirs[chosen] != ours[chosen]))
    alone = one.alone.claimed != 0
    assert one.lost_share == pytest.approx(
        np.mean(one.corrected.claimed[alone] != one.alone.claimed[alone])
    )


@quiet
def test_a_judge_with_people_s_own_grades_is_worth_all_its_topics(track, people):
    found = sr.judges(track.runs, people, {"same": track.qrels}, n_samples=199).of()
    assert found.worth.correlation == pytest.approx(1.0)
    assert found.tau.tau == 1.0
    assert found.bias.mean == found.bias.spread == 0.0
    assert found.confusion.coefficients["kappa"].value == 1.0
    assert found.opposite_share in (0.0,) or np.isnan(found.opposite_share)
    # n / (1 - N / (n + N)) = n + N
    assert found.worth.factor(12, 36) == pytest.approx(4.0)


@quiet
def test_two_groups_of_people_judge_each_other_and_nothing_is_corrected(track, people):
    second = regraded(people, generous, seed=5)
    found = sr.judges(track.runs, people, {"others": second}, n_samples=199)
    one = found.of("others")
    assert (one.n_judge_topics, one.weight.value) == (0, 0.0)
    assert one.corrected.mean.tolist() == found.human.mean.tolist()
    assert one.corrected.pvalue_adjusted.tolist() == found.human.pvalue_adjusted.tolist()
    assert np.isnan(one.pvalue_of_sample)
    corrected = said(found)["judges.corrected"]
    assert "nothing is corrected" in corrected.text
    assert corrected.values["n_significant"] == int(found.human.significant.sum())
    back = sr.judges(track.runs, second, {"people": people}, n_samples=199).of()
    assert back.confusion.counts.tolist() == one.confusion.counts.T.tolist()
    assert back.bias.by_run == pytest.approx(-one.bias.by_run)


@quiet
def test_several_judges_stand_side_by_side_and_each_as_alone(track, people, judge, result):
    both = sr.judges(
        track.runs,
        people,
        {"coin": regraded(track.qrels, lambda g, c: int(3 * c)), "model": judge},
        n_samples=999,
        kin="team1",
        top=3,
        rng=1,
    )
    assert [one.judge for one in both.judges] == ["coin", "model"]
    assert both.of("model").corrected.mean.tolist() == result.of().corrected.mean.tolist()
    coin = both.of("coin")
    assert abs(coin.confusion.coefficients["kappa"].value) < 0.1
    assert coin.worth.correlation < both.of("model").worth.correlation
    assert "coin" in VIEW.text(both, "table")
    with pytest.raises(sr.UnknownNameError, match="did you mean 'model'"):
        both.of("modle")


@quiet
def test_scores_made_elsewhere_serve_as_well(track, people, judge, result):
    human = sr.evaluate(track.runs, people, ["nDCG@10", "AP"])
    scores = sr.evaluate(track.runs, judge, ["AP", "nDCG@10"])
    found = sr.judges(
        human, {"model": scores}, measure="nDCG@10", n_samples=999, kin="team1", top=3, rng=1
    )
    shown, expected = (VIEW.json(each)["judges"][0] for each in (found, result))
    assert shown["confusion"] is None
    for key in ("lambda", "tau", "bias_mean", "lost_share", "runs", "pairs", "kin", "plan"):
        assert shown[key] == expected[key], key


@quiet
def test_grades_of_another_scale_are_said_to_differ(track, people):
    binary = regraded(track.qrels, lambda grade, chance: grade > 0)
    with pytest.warns(sr.SteadyrankWarning, match="scales differ"):
        found = sr.judges(track.runs, people, {"yes": binary}, n_samples=99).of()
    assert found.confusion.coefficients["kappa"] is None
    assert found.confusion.coefficients["kappa_relevant"].value == 1.0


def _refused(track, people):
    topics = people.topics
    names = {topic: people.judgments(topic) for topic in topics}
    other = {t: {f"x{d}": g for d, g in by.items()} for t, by in names.items()}
    flat = {t: dict.fromkeys(by, 1) for t, by in names.items()}
    few = cut(people, topics[:4])
    return {
        "lacks 2 of the 12 topics": (people, cut(people, topics[2:]), {}),
        "people judged 4 topics: a correction requires at least 5": (few, track.qrels, {}),
        "judge j gave all documents the grade 1": (people, sr.qrels_from_dict(flat), {}),
        "people gave all documents the grade 1": (sr.qrels_from_dict(flat), track.qrels, {}),
        "judged no document in common": (people, sr.qrels_from_dict(other), {}),
        "matches none of the 8 runs": (people, track.qrels, {"kin": "nobody"}),
        "matches all of the 8 runs": (people, track.qrels, {"kin": "team"}),
        "not a regular expression": (people, track.qrels, {"kin": "("}),
        "top must lie between 2 and the 8 runs": (people, track.qrels, {"top": 9}),
        "alpha must lie strictly between": (people, track.qrels, {"alpha": 1.5}),
        "width must be": (people, track.qrels, {"width": -1.0}),
    }


@quiet
@pytest.mark.parametrize("place", range(11))
def test_what_cannot_be_corrected_is_refused_in_one_line(track, people, place):
    message, (human, judge, options) = list(_refused(track, people).items())[place]
    with pytest.raises(sr.InputError) as raised:
        sr.judges(track.runs, human, {"j": judge}, n_samples=99, **options)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def scores_of(values, topics):
    runs = [f"r{i}" for i in range(len(values))]
    return sr.Scores(measures=["score"], runs=runs, topics=topics, values=[values])


def test_topics_that_are_no_random_sample_are_warned_of():
    rng = np.random.default_rng(2)
    values = rng.normal(0.5, 0.05, (3, 60)) + np.where(np.arange(60) < 15, 0.3, 0.0)
    human = scores_of(values[:, :15] + rng.normal(0, 0.01, (3, 15)), range(15))
    with pytest.warns(sr.SteadyrankWarning, match="do not look like a random sample"):
        found = sr.judges(human, {"j": scores_of(values, range(60))}, n_samples=99)
    assert found.of().pvalue_of_sample < 0.001


def test_a_judge_that_never_tells_runs_apart_is_said_to_be_of_no_use():
    rng = np.random.default_rng(3)
    human = scores_of(rng.random((3, 10)), range(10))
    same = np.tile(rng.random(40), (3, 1))
    with pytest.warns(sr.SteadyrankWarning, match="people's judgments are used alone"):
        found = sr.judges(human, {"flat": scores_of(same, range(40))}, n_samples=99)
    assert found.of().weight.value == 0.0
    assert found.of().corrected.mean.tolist() == found.human.mean.tolist()
    VIEW.json(found)


def test_missing_scores_leave_topics_out_for_all_and_a_broken_run_is_named():
    rng = np.random.default_rng(4)
    values = rng.random((3, 12))
    judge = scores_of(np.hstack([values, rng.random((3, 20))]), range(32))
    holes = values.copy()
    holes[1, [2, 5]] = np.nan
    found = sr.judges(scores_of(holes, range(12)), {"j": judge}, n_samples=99)
    assert (len(found.topics), found.n_dropped) == (10, 2)
    assert found.of().n_judge_topics == 20
    holes[1] = np.nan
    with pytest.raises(sr.InputError, match="r1 lacks the most; omit it"):
        sr.judges(scores_of(holes, range(12)), {"j": judge}, n_samples=99)


def test_scores_need_scores_of_the_same_runs():
    human = scores_of(np.random.default_rng(5).random((3, 8)), range(8))
    with pytest.raises(sr.InputError, match="has no scores of r2"):
        sr.judges(human, {"j": human.select(runs=["r0", "r1"])})
    with pytest.raises(sr.InputError, match="give a mapping of names"):
        sr.judges(human, human)
    with pytest.raises(sr.InputError, match="no judge was given"):
        sr.judges([], "qrels.txt")


def test_kin_near_takes_runs_about_as_good(track, people, judge):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        found = sr.judges(
            track.runs, people, {"m": judge}, kin="team[12]-", kin_near=True, n_samples=99
        )
    kin = found.of().kin
    means = dict(zip(found.runs, found.human.mean, strict=True))
    low, high = (end(means[run] for run in kin.runs) for end in (min, max))
    assert kin.others
    assert all(low <= means[run] <= high for run in kin.others)


def said(result):
    """What was found, by ids."""
    return {finding.id: finding for finding in VIEW.findings(result)}


def test_findings_have_their_counts(result):
    one, found = result.of(), said(result)
    kept = one.alone.significant & one.corrected.significant
    assert found["judges.answer"].values["n_usable"] == kept.sum()
    assert found["judges.corrected"].values == {
        "judge": "model",
        "about": "other",
        "lambda": one.weight.value,
        "n_pairs": 28,
        "n_significant": int(one.corrected.significant.sum()),
        "n_significant_by_people": int(result.human.significant.sum()),
    }
    first = found["judges.first"].values
    assert set(first["ruled_out"]) == set(first["first"]) - set(first["first_alone"])
    assert len(first["first"]) == one.corrected.could_be_first.sum()
    assert found["judges.kin"].values["pvalue"] == one.kin.test.pvalue
    assert "36 further topics" in paper_sentence(result, one)


def test_narrower_and_times_as_many_topics_are_one_ratio(result):
    one = result.of()
    ratios = one.corrected.half_width / result.human.half_width
    assert one.width_ratio == pytest.approx(np.median(ratios))
    assert (one.n_wider, one.largest_width_ratio) == ((ratios > 1).sum(), ratios.max())
    found = said(result)
    width, times = (found["judges.width"].values[key] for key in ("width_ratio", "topics_like"))
    assert times == pytest.approx(width**-2)
    told = VIEW.json(result)["judges"][0]
    assert told["topics_like"] == pytest.approx(told["width_ratio"] ** -2)


@quiet
def test_about_these_topics(track, people, judge, result):
    options = {"n_samples": 999, "kin": "team1", "top": 3, "rng": 1}
    these = sr.judges(track.runs, people, {"model": judge}, about="these", **options)
    one, other = these.of(), result.of()
    assert (these.about, these.population, result.about, result.population) == (
        "these",
        48,
        "other",
        None,
    )
    assert np.median(one.corrected.half_width) < 0.9 * np.median(other.corrected.half_width)
    shrunk = these.human.half_width / result.human.half_width
    assert shrunk == pytest.approx(np.full(28, np.sqrt(36 / 48)), rel=1e-9)
    assert these.human.mean == pytest.approx(result.human.mean)
    assert one.alone.pvalue == pytest.approx(other.alone.pvalue), "about other topics"
    # As many topics of people, out of 48, have intervals as narrow.
    n = these.topics_like(one) * 12
    assert (1 - n / 48) / n == pytest.approx(one.width_ratio**2 * (1 - 12 / 48) / 12)
    assert VIEW.json(these)["about"] == "these"
    for found, words in ((these, "these 48 topics"), (result, "other topics like these")):
        corrected = said(found)["judges.corrected"]
        assert words in corrected.text
        assert corrected.values["about"] == found.about
        assert f"about {words}" in found.caption()


@quiet
def test_judges_of_these_topics_share_them(track, people, judge):
    fewer = cut(judge, [topic for topic in judge.topics if topic not in judge.topics[1:9:4]])
    both = sr.judges(track.runs, people, {"all": judge, "most": fewer}, about="these", n_samples=99)
    assert (both.population, both.of("all").n_judge_topics) == (46, 34)
    alone = sr.judges(track.runs, people, {"most": fewer}, about="these", n_samples=99)
    assert alone.of("most").corrected.mean == pytest.approx(both.of("most").corrected.mean)
    with pytest.raises(sr.InputError, match="about these nothing is left to estimate: choose"):
        sr.judges(track.runs, people, {"same": cut(judge, people.topics)}, about="these")
    with pytest.raises(sr.InputError, match="unknown population 'those': did you mean 'these'"):
        sr.judges(track.runs, people, {"same": judge}, about="those")


def test_the_built_in_collection_s_two_passes_are_judges_of_each_other():
    collection = sr.builtin_collection()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        found = sr.judges(
            sr.builtin_runs(depth=20),
            collection.second_qrels,
            {"first": collection.qrels},
            measure="AP",
            n_samples=99,
        )
    assert found.of().confusion.coefficients["kappa"].value == pytest.approx(0.89, abs=0.01)
