"""`compare`: what the tests say about pairs, put together for people and programs."""

from __future__ import annotations

import functools
import json
import warnings

import numpy as np
import pytest
import scipy.stats

import steadyrank as sr
from steadyrank.cli import run as run_command
from steadyrank.stats.pairs.family import audit_family
from steadyrank.stats.pairs.max_t import max_t, max_t_pvalues
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.compare.view import compare_text, findings, pairs_text
from steadyrank.studies.compare.wording import SIMULTANEOUS

TESTS = ["t", "wilcoxon", "sign", "randomization", "bootstrap", "tukey", "randomized-tukey"]


def make_scores(n_runs=5, n_topics=30, seed=0, gap=0.03, measures=("AP",)):
    rng = np.random.default_rng(seed)
    topics = rng.beta(1, 3, n_topics)
    steps = gap * np.arange(n_runs)[:, None]
    values = [
        np.clip(topics + steps + rng.normal(0, 0.05, (n_runs, n_topics)), 0, 1) for _ in measures
    ]
    return sr.Scores(
        measures=measures,
        runs=[f"run{i}" for i in range(n_runs)],
        topics=[str(t) for t in range(n_topics)],
        values=np.stack(values),
    )


def test_the_t_test_of_every_pair_is_scipys():
    scores = make_scores()
    result = sr.compare(scores, correction="none")
    assert not result.is_corrected_t
    for row in result.rows():
        a, b = (scores.matrix()[scores.runs.index(row[key])] for key in "ab")
        theirs = scipy.stats.ttest_rel(a, b)
        assert row["pvalue"] == pytest.approx(theirs.pvalue, rel=1e-10)
        assert row["statistic"] == pytest.approx(theirs.statistic, rel=1e-10)
        low, high = theirs.confidence_interval(0.95)
        assert row["interval"] == [pytest.approx(low), pytest.approx(high)]
        assert row["difference"] == pytest.approx(np.mean(a - b))
        assert row["effect_size"] == pytest.approx(np.mean(a - b) / np.std(a - b, ddof=1))


@pytest.mark.parametrize("test", TESTS)
def test_every_test_finds_a_large_difference_and_not_the_identical_runs(test):
    base = make_scores(3, 40, gap=0.15).matrix()
    scores = sr.Scores(
        measures=("AP",),
        runs=("low", "middle", "high", "high again"),
        topics=[str(t) for t in range(40)],
        values=[np.vstack([base, base[2]])],
    )
    result = sr.compare(scores, test=test, n_samples=2000)
    by_pair = {(row["a"], row["b"]): row for row in result.rows()}
    assert by_pair["low", "high"]["significant"]
    assert by_pair["low", "high"]["difference"] < 0
    same = by_pair["high", "high again"]
    assert same["pvalue"] == pytest.approx(1.0)
    assert not same["significant"]
    expected = "maxt" if test == "t" else "none" if test in SIMULTANEOUS else "holm"
    assert result.correction == expected
    assert result.letters[2] == result.letters[3] != result.letters[0]


def test_a_baseline_makes_the_family_smaller():
    scores = make_scores()
    against = sr.compare(scores, baseline="run2")
    assert [row["a"] for row in against.rows()] == ["run0", "run1", "run3", "run4"]
    assert {row["b"] for row in against.rows()} == {"run2"}
    everything = sr.compare(scores)
    smaller = {row["a"]: row["pvalue_adjusted"] for row in against.rows()}
    larger = {row["a"]: row for row in everything.rows() if row["b"] == "run2"}
    assert all(smaller[a] <= row["pvalue_adjusted"] for a, row in larger.items())
    assert "against run2" in against.family
    assert against.letters == ()
    assert against.correction == "maxt"
    # Rivals were not compared with each other: they have no ranks, tiers or first places.
    assert against.own is None
    assert against.lead is None
    for row in against.run_rows():
        assert row["rank_set"] is row["rank_set_simultaneous"] is None
        assert row["could_be_first"] is row["tier"] is None


def test_missing_cells_are_left_out_of_pairs_or_of_everything():
    values = make_scores(3, 20).values.copy()
    values[0, 0, :4] = np.nan
    scores = sr.Scores(
        measures=("AP",), runs="abc", topics=[str(t) for t in range(20)], values=values
    )
    result = sr.compare(scores)
    assert result.n.tolist() == [16, 16, 20]
    tukey = sr.compare(scores, test="tukey")
    assert tukey.n.tolist() == [16, 16, 16]
    assert tukey.n_dropped == 4
    assert "(4 dropped)" in tukey.caption()


def found(result):
    """What the result says, by id."""
    return {finding.id: finding for finding in findings([result])}


def excludes_zero(interval):
    """NaN is a limit that is not bounded, or cut."""
    low, high = interval
    return low > 0 or high < 0


def assert_own_families_agree(result, wins):
    """Own ranks contain all that all pairs claim; first places, tiers and the lead are theirs."""
    low, high = result.rank_set.T
    inner, outer = 1 + wins.sum(axis=0), len(result.runs) - wins.sum(axis=1)
    assert ((inner <= low) & (high <= outer)).all(), "own sets lie inside simultaneous ones"
    np.testing.assert_array_equal(result.rank_set_simultaneous.T, [inner, outer])
    assert ((low <= result.rank) & (result.rank <= high)).all()
    np.testing.assert_array_equal(result.could_be_first, low == 1)
    assert result.could_be_first[np.nanargmax(result.mean)]
    assert (result.tier[result.could_be_first] == 1).all()
    down = result.tier[result.order]
    assert set(np.diff(down[down > 0])) <= {0, 1}
    assert result.lead.significant == excludes_zero(result.lead.interval)
    assert result.lead.significant != result.could_be_first[result.lead.second]


def assert_one_family(result):
    """Marks, intervals, letters, simultaneous ranks and means say the same."""
    wins = np.zeros((len(result.runs), len(result.runs)), bool)
    for (a, b), row in zip(result.pairs.tolist(), result.rows(), strict=True):
        assert row["significant"] == excludes_zero(row["interval"])
        assert not np.isinf(row["interval"]).any()
        assert row["mean_a"] - row["mean_b"] == pytest.approx(row["difference"], abs=1e-12)
        if row["significant"]:
            better, worse = (a, b) if result.mean[a] > result.mean[b] else (b, a)
            assert result.mean[better] > result.mean[worse]
            assert row["pvalue_adjusted"] <= result.alpha
            wins[better, worse] = True
        if result.letters:
            shared = set(result.letters[a]) & set(result.letters[b])
            assert bool(shared) != row["significant"]
    if result.baseline is None:
        assert_own_families_agree(result, wins)


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("case", ["close", "gaps", "broken", "skewed", "apart"])
def test_all_that_is_said_comes_from_one_family_of_decisions(test, case):
    gap = {"close": 0.004, "apart": 0.05}.get(case, 0.015)
    values = make_scores(7, 25, gap=gap, seed=3).values.copy()
    rng = np.random.default_rng(5)
    if case == "gaps":
        values[rng.random(values.shape) < 0.1] = np.nan
        values[0, 6, :15] = np.nan
    if case == "broken":
        values[0, 2] = 0.0
    if case == "skewed":
        values[0, 3, :2] -= 5.0
    scores = sr.Scores(measures=("AP",), runs="abcdefg", topics=range(25), values=values)
    for correction in ("none",) if test in SIMULTANEOUS else (None, "none", "bh", "bonferroni"):
        result = sr.compare(scores, test=test, correction=correction, n_samples=999, alpha=0.1)
        assert_one_family(result)
    assert_one_family(sr.compare(scores, test=test, baseline="c", n_samples=999))


def test_missing_topics_do_not_reverse_the_verdict():
    # A has the easy topics only, and loses on every one of them.
    rng = np.random.default_rng(1)
    difficulty = np.concatenate([np.full(20, 0.9), np.full(20, 0.2)])
    b = difficulty + rng.normal(0, 0.01, 40)
    a = np.where(np.arange(40) < 20, b - 0.05 + rng.normal(0, 0.01, 40), np.nan)
    scores = sr.Scores(measures=("AP",), runs=("A", "B"), topics=range(40), values=[[a, b]])
    assert scores.mean()[0, 0] > scores.mean()[0, 1]
    result = sr.compare(scores)
    assert result.mean[1] > result.mean[0]
    assert result.significant.tolist() == [True]
    assert result.rank.tolist() == [2, 1]
    assert result.interval[0, 1] < 0
    (row,) = result.rows()
    assert row["mean_a"] < row["mean_b"]
    assert found(result)["compare.gaps"].values == {"n_missing": 20}
    assert "20 of 80 scores are missing" in str(result)
    assert_one_family(result)


def test_runs_that_share_no_topics_are_not_decided():
    values = np.full((1, 3, 20), np.nan)
    rng = np.random.default_rng(2)
    values[0, :2, :10] = rng.normal(0.5, 0.01, (2, 10))
    values[0, 2, 10:] = rng.normal(0.9, 0.01, 10)
    scores = sr.Scores(measures=("AP",), runs="abc", topics=range(20), values=values)
    with pytest.warns(sr.SteadyrankWarning, match="c shares no topic with a"):
        result = sr.compare(scores)
    assert result.rank_set[2].tolist() == [1, 3]


def test_four_topics_are_too_few_and_it_is_said():
    """One of 2^4 patterns is 1/17 of what there is; one of 2^5 is 1/33, below .05."""
    with pytest.warns(sr.SteadyrankWarning, match="only 16 sign patterns"):
        result = sr.compare(make_scores(3, 4, gap=0.3))
    assert not result.significant.any()
    assert np.isnan(result.interval).all()
    assert result.rank_set.tolist() == [[1, 3]] * 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sr.compare(make_scores(3, 5, gap=0.3)).n_samples == 32


def test_maxt_is_for_t_tests():
    with pytest.raises(sr.InputError, match="use test t, or correction holm with test sign"):
        sr.compare(make_scores(), test="sign", correction="maxt")
    assert sr.compare(make_scores(), baseline="run0", correction="maxt").correction == "maxt"
    assert sr.compare(make_scores(2)).correction == "maxt"
    assert sr.compare(make_scores(2), mode="paper").correction == "holm"


def test_ties_are_counted_as_the_sign_test_counts_them():
    values = np.array([[[0.1 + 0.2, 0.5, 0.4], [0.3, 0.2, 0.1]]])  # .1 + .2 is not .3 in floats
    scores = sr.Scores(measures=("AP",), runs="ab", topics=range(3), values=values)
    (row,) = sr.compare(scores, test="sign").rows()
    assert (row["wins"], row["ties"], row["losses"]) == (2, 1, 0)
    assert row["statistic"] == 2


@pytest.mark.parametrize("n_topics", [1, 2])
@pytest.mark.parametrize("test", TESTS)
def test_one_or_two_topics_have_an_answer(test, n_topics):
    values = np.array([[[0.1, 0.4], [0.3, 0.5], [0.2, 0.9]]])[:, :, :n_topics]
    scores = sr.Scores(measures=("AP",), runs="abc", topics=["1", "2"][:n_topics], values=values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)  # that there are too few topics
        result = sr.compare(scores, test=test, n_samples=100)
    if n_topics == 1:
        assert not result.significant.any()
        assert set(result.flag) == {"too_few_topics"}
    else:
        assert np.isfinite(result.pvalue).all()


def test_too_few_samples_for_the_correction_are_told():
    with pytest.warns(sr.SteadyrankWarning, match="take more than 200 samples"):
        sr.compare(make_scores(), test="randomization", n_samples=150)
    with pytest.warns(sr.SteadyrankWarning, match="small enough but 0"):
        sr.compare(make_scores(), test="randomization", n_samples=150, mode="paper")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sr.compare(make_scores(), test="randomization", n_samples=150, correction="bh")
        sr.compare(make_scores(), test="randomized-tukey", n_samples=150)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"test": "tt"}, "unknown test 'tt'"),
        ({"correction": "hollm"}, "did you mean 'holm'"),
        ({"alpha": 1.5}, "alpha must be a number between 0 and 1"),
        ({"baseline": "run9"}, "unknown run 'run9'"),
        ({"measure": "ap"}, "did you mean 'AP'"),
        ({"n_samples": 0}, "n_samples must be a whole number of at least 1"),
        ({"mode": "both"}, "unknown mode"),
    ],
)
def test_wrong_choices_are_named(options, told):
    with pytest.raises(sr.InputError, match=told):
        sr.compare(make_scores(), **options)


def test_one_run_cannot_be_compared():
    with pytest.raises(sr.InputError, match="at least two runs"):
        sr.compare(make_scores(1))


@pytest.mark.parametrize("test", ["randomization", "bootstrap", "randomized-tukey"])
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(test):
    results = [
        sr.compare(make_scores(), test=test, n_samples=1000, jobs=jobs, rng=3) for jobs in (1, 2, 4)
    ]
    assert len({result.pvalue.tobytes() + result.interval.tobytes() for result in results}) == 1
    other = sr.compare(make_scores(), test=test, n_samples=1000, rng=4)
    assert other.pvalue.tobytes() != results[0].pvalue.tobytes()


def test_the_audit_finds_levels_that_hold():
    # 400 trials: a rate whose truth is .05 exceeds .05 + 4 errors (.094) once in 30,000.
    for n_topics in (15, 40):
        found = sr.audit_tests(make_scores(6, 40, gap=0.01), n_topics=n_topics, n_trials=400)
        assert all(row.exchangeable[0] < 0.094 for row in found.tests)
        assert found.tests[0].exchangeable[1] == pytest.approx(0.011, abs=0.006)
    with pytest.raises(sr.InputError, match="at least two runs and two topics"):
        sr.audit_tests(make_scores(1))


@pytest.fixture
def files(write):
    scores = make_scores()
    from steadyrank.data.write import wide_csv

    return write("ap.csv", wide_csv(scores)), scores


def call(capsys, *arguments):
    code = run_command([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_json_has_the_promised_keys(capsys, files):
    path, scores = files
    code, out, _ = call(capsys, "compare", "--scores", path, "-m", "AP", "--format", "json")
    result = json.loads(out)
    assert code == 0
    promised = {
        "measure test correction alpha n_topics significant_share": result,
        "a b n mean_a mean_b difference interval statistic pvalue pvalue_adjusted significant "
        "effect_size": result["pairs"][0],
        "run mean interval rank rank_set could_be_first group": result["runs"][0],
    }
    assert all({*keys.split()} <= {*given} for keys, given in promised.items())
    assert (result["measure"], result["test"], result["correction"]) == ("AP", "t", "maxt")
    assert len(result["pairs"]) == 10
    means = scores.mean()[0]
    assert result["pairs"][0]["mean_a"] == pytest.approx(means[0], rel=1e-14)
    share = np.mean([pair["significant"] for pair in result["pairs"]])
    assert result["significant_share"] == share


def test_tukey_puts_its_simultaneous_p_in_both(capsys, files):
    _, out, _ = call(capsys, "compare", "--scores", files[0], "--test", "tukey", "--format", "json")
    for pair in json.loads(out)["pairs"]:
        assert pair["pvalue"] == pair["pvalue_adjusted"]
        assert pair["statistic"] >= 0


def test_the_audit_prints_its_table(capsys, files, monkeypatch):
    monkeypatch.setattr("steadyrank.studies.compare.audit.RESAMPLES", 100)
    code, out, _ = call(capsys, "compare", "--scores", files[0], "--audit")
    assert code == 0
    assert "type I, exchangeable" in out
    assert "±" in out
    for truth in ("Means as observed: ", "Equal means within tiers: ", "All means equal: "):
        assert truth in out
    assert "Claims: t tests, max-t correction by sign flips." in " ".join(out.split())
    how = ("--correction", "holm", "--baseline", "run1", "--format", "json")
    code, out, _ = call(capsys, "compare", "--scores", files[0], "--audit", *how)
    shown = json.loads(out)
    assert (shown["audit"]["correction"], shown["correction"]) == ("holm", "holm")
    family = shown["audit"]["family"]
    truths = {"nominal", "observed", "tiers_equal", "all_equal"}
    assert set(family) == truths | {"any_claim", "n_experiments"}
    assert family["any_claim"] == family["all_equal"]["share"]
    assert family["tiers_equal"] is None, "no tiers with a baseline"
    assert shown["audit"]["tests"] == shown["tests"]
    assert len(shown["pairs"]) == len(shown["runs"]) - 1


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("measures", [["AP"], ["AP", "RR"]])
def test_pairs_in_pieces_are_those_of_the_whole(monkeypatch, form, measures):
    values = np.random.default_rng(3).random((len(measures), 5, 12)).round(2)
    topics = [f"t{t}" for t in range(12)]
    scores = sr.Scores(measures=measures, runs=[*"abcde"], topics=topics, values=values)
    scores = scores.with_topic_info(kind=["x", "y"] * 6)
    result = sr.compare(scores, by="kind")
    whole = compare_text(result, form)
    if form == "csv":
        assert whole == result.to_frame().to_csv(index=False, lineterminator="\n")
    monkeypatch.setattr("steadyrank.present.json.PART", 3)
    pieces = [*pairs_text(result, form)]
    assert len(pieces) > 4
    assert "".join(pieces) == whole


def test_a_constant_difference_has_its_word_and_equal_runs_stay_together():
    """A pair that differs by .0001 on every topic, and identical runs, among noisy ones.

    Student's t is infinite there; with the variance floor it is as small as the difference.
    """
    rng = np.random.default_rng(0)
    base = rng.beta(2, 3, 30)
    values = np.stack([base, base - 1e-4, base, rng.beta(2, 3, 30), rng.beta(2, 3, 30) * 0.4])
    values = np.concatenate([values, values[4:] * (1 + 1e-15)])
    scores = sr.Scores(measures=["AP"], runs="abcdef", topics=range(30), values=[values])
    for correction in ("maxt", "holm"):
        result = sr.compare(scores, correction=correction)
        flags = {frozenset((row["a"], row["b"])): row for row in result.rows()}
        assert flags[frozenset("ab")]["flag"] == "zero_variance"
        assert flags[frozenset("ab")]["significant"] == (correction == "holm")
        constant = found(result).get("compare.constant")
        assert (constant is None) == (correction == "maxt")
        assert constant is None or constant.values == {"n_pairs": 2}
        for one, other in ("ac", "ef"):
            assert flags[frozenset((one, other))]["flag"] == "no_difference"
            first, second = (result.runs.index(run) for run in (one, other))
            assert result.rank_set[first].tolist() == result.rank_set[second].tolist()
            assert result.letters[first] == result.letters[second]
            assert result.could_be_first[first] == result.could_be_first[second]
            for third in set("abcdef") - {one, other}:
                rows = [flags[frozenset((run, third))] for run in (one, other)]
                assert rows[0]["significant"] == rows[1]["significant"]
    assert "compare.constant" not in found(sr.compare(scores.select(runs=list("ade"))))


def test_t_tests_of_many_pairs_say_what_they_do_not_hold():
    said = "compare.skewness"
    scores = make_scores(6, 30)
    assert said in found(sr.compare(scores, correction="holm"))
    assert said not in found(sr.compare(scores))
    assert said not in found(sr.compare(scores, baseline="run0"))


def test_the_audit_counts_claims_of_the_whole_family(monkeypatch):
    """Half of the runs have rare large gains: flips of t claim what the corrected t does not."""
    rng = np.random.default_rng(2)
    values = rng.normal(0.3, 0.02, (12, 40))
    values[::2] += (rng.random((6, 40)) < 0.08) * 0.5
    matrix, pairs = values, all_pairs(12)
    one_tier = np.ones(12, int)
    careful, holm = (
        audit_family(matrix, pairs, correction=correction, tier=tier, n_experiments=400)
        for correction, tier in (("maxt", one_tier), ("holm", None))
    )
    with monkeypatch.context() as patch:
        flips = functools.partial(max_t_pvalues, careful=False)
        patch.setattr("steadyrank.stats.pairs.family.max_t_pvalues", flips)
        plain = audit_family(matrix, pairs, correction="maxt", n_experiments=400)
    assert (careful.nominal, careful.all_equal.n_experiments) == (0.05, 400)
    # One tier of all runs is the world of equal runs; and claims of a known direction are fewer.
    assert careful.tiers_equal == careful.all_equal
    assert careful.observed.share < careful.all_equal.share
    error = careful.all_equal.standard_error
    assert plain.all_equal.share > careful.all_equal.share + 2 * error
    assert (holm.tiers_equal, plain.tiers_equal) == (None, None)
    # A plain loop over whole comparisons, other topics: within four errors of each other.
    means = matrix.mean(axis=1)
    for truth, found in ((0.0 * means, careful.all_equal), (means, careful.observed)):
        wrong = []
        for k in range(200):
            drawn = (matrix - (means - truth)[:, None])[:, rng.integers(0, 40, 40)]
            claimed = max_t(drawn, pairs, n_samples=199, seed=k).pvalue <= 0.05
            ahead = np.sign(drawn.mean(axis=1) @ _signs(pairs)) * claimed
            wrong.append(((ahead != 0) & (ahead != np.sign(truth @ _signs(pairs)))).sum())
        share, per_experiment = np.mean(np.array(wrong) > 0), np.mean(wrong)
        assert abs(share - found.share) < 4 * np.hypot(found.standard_error, np.sqrt(0.25 / 200))
        spread = np.std(wrong) * np.sqrt(1 / 200 + 1 / 400)
        assert abs(per_experiment - found.false_claims) < 5 * spread + 0.01


def _signs(pairs):
    """[run, pair]: means @ signs are the differences of the pairs."""
    made = np.zeros((pairs.max() + 1, len(pairs)))
    made[pairs[:, 0], range(len(pairs))], made[pairs[:, 1], range(len(pairs))] = 1.0, -1.0
    return made


def test_the_error_of_an_audit_is_told_and_small():
    """Experiments are added until each share is known to .01, so that seeds agree about it."""
    matrix = np.random.default_rng(4).normal(size=(4, 30))
    found = [
        audit_family(matrix, all_pairs(4), correction="holm", seed=seed).all_equal
        for seed in range(4)
    ]
    shares = np.array([one.share for one in found])
    for one in found:
        binomial = np.sqrt(one.share * (1 - one.share) / one.n_experiments)
        assert binomial <= 0.01 + 1e-9
        assert one.standard_error == pytest.approx(binomial, abs=0.002)
        assert one.n_experiments >= 200
    assert np.ptp(shares) < 6 * 0.01
