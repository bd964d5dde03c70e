"""`holes` as a whole: estimates, tests, the prior that is checked, and what to judge next."""

import itertools
import json
import math
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import steadyrank as sr
from steadyrank.cli import holes as cli_holes
from steadyrank.data.read.run_files import judgments_of
from steadyrank.measures.holes.lists import read_lists
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.holes.completions import rubin_pvalues
from steadyrank.studies.holes.prior import check_prior, make_pool
from steadyrank.studies.holes.view import VIEW, ask_text

UNCHECKED = pytest.mark.filterwarnings("ignore:the imputed intervals are unchecked")
"""Few of the runs were pooled, and intervals are not what the test is about."""


@pytest.fixture(scope="module")
def track():
    """Two of three runs of each team were not pooled: a quarter of their top 10 is unjudged."""
    return sr.simulated_track(
        n_teams=12, runs_per_team=3, n_topics=40, depth=60, pool_depth=10, pooled_per_team=1, rng=5
    )


@pytest.fixture(scope="module")
def result(track):
    return sr.holes(track.runs, track.qrels, measure="nDCG@10", n_samples=300, ask=20)


def test_estimates_are_those_of_evaluate(track, result):
    usual, condensed = sr.evaluate(
        track.runs, track.qrels, ["nDCG@10", "nDCG(judged_only=True)@10"]
    ).mean()
    judged = sr.evaluate(track.runs, track.qrels, "Judged@10").mean()[0]
    assert [row.score for row in result.runs] == pytest.approx(usual, abs=1e-14)
    assert [row.judged_only for row in result.runs] == pytest.approx(condensed, abs=1e-14)
    assert [1 - row.unjudged_share for row in result.runs] == pytest.approx(judged, abs=1e-12)
    for row in result.runs:
        assert row.lowest - 1e-12 <= row.score <= row.highest + 1e-12
        assert row.lowest <= row.imputed_interval.low <= row.imputed <= row.imputed_interval.high
        assert row.imputed_interval.high <= row.highest


def test_pvalues_without_holes_are_scipys(track, result):
    scores = sr.evaluate(track.runs, track.qrels, "nDCG@10").values[0]
    for (a, b), pair in itertools.islice(
        zip(all_pairs(len(track.runs)), result.pairs, strict=True), 0, None, 37
    ):
        assert pair.pvalue == pytest.approx(stats.ttest_rel(scores[a], scores[b]).pvalue, rel=1e-9)
        assert pair.difference == pytest.approx(scores[a].mean() - scores[b].mean(), abs=1e-14)


def test_rubins_rules():
    """As `mice::pool` 3.16 computes them (barnard.rubin), transcribed step by step."""
    rng = np.random.default_rng(1)
    estimates, within, n = rng.normal(0.1, 0.03, (20, 1)), np.array([0.002]), 50
    m, between = 20, estimates[:, 0].var(ddof=1)
    total = within[0] + (1 + 1 / m) * between
    lambda_ = (1 + 1 / m) * between / total
    df_old = (m - 1) / lambda_**2
    df_observed = (49 + 1) / (49 + 3) * 49 * (1 - lambda_)
    df = df_old * df_observed / (df_old + df_observed)
    expected = 2 * stats.t.sf(abs(estimates.mean()) / math.sqrt(total), df)
    assert rubin_pvalues(estimates, within, n)[0] == pytest.approx(expected, rel=1e-10)


def test_without_holes_nothing_moves():
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "c": 2}, "3": {"a": 1}}
    runs = {
        "x": {t: {"a": 2.0} for t in qrels},
        "y": {"1": {"b": 1.0}, "2": {"c": 1.0}, "3": {"a": 1.0}},
    }
    for measure in ("nDCG@10", "AP", "P@5", "RBP", "RR", "ERR@10"):
        found = sr.holes(runs, qrels, measure=measure)
        assert found.n_holes == 0
        for row in found.runs:
            assert row.lowest == pytest.approx(row.score, abs=1e-14)
            assert row.highest == pytest.approx(row.score, abs=1e-14)


def test_shared_documents_cancel():
    """Two runs with the same unjudged document at the same rank cannot differ by it."""
    qrels = {"1": {"a": 1, "b": 1}}
    runs = {"x": {"1": {"new": 3.0, "a": 2.0}}, "y": {"1": {"new": 3.0, "c": 2.0, "b": 1.0}}}
    found = sr.holes(runs, qrels, measure="P@1", n_samples=0)
    assert [row.highest for row in found.runs] == [1.0, 1.0]
    assert (found.pairs[0].lowest, found.pairs[0].highest) == (0.0, 0.0)
    assert not found.pairs[0].decided


def test_residual_of_rbp():
    """(1 - p) times the sum of p^(rank - 1) over unjudged ranks (Moffat & Zobel 2008)."""
    qrels = {"1": {"a": 1, "b": 0}}
    runs = {"x": {"1": {"n1": 4.0, "a": 3.0, "n2": 2.0, "b": 1.0}}}
    (row,) = sr.holes(runs, qrels, measure="RBP(p=0.8)", n_samples=0).runs
    assert row.highest - row.lowest == pytest.approx(0.2 * (1 + 0.8**2), abs=1e-15)
    assert row.lowest == row.score == pytest.approx(0.2 * 0.8, abs=1e-15)


@UNCHECKED
def test_random_completions_of_a_track_stay_within_bounds(track):
    """Plain loop: 15 completions of all unjudged documents that any run retrieves, at any rank."""
    runs, topics = list(track.runs)[:8], track.qrels.topics
    judged = {topic: track.qrels.judgments(topic) for topic in topics}
    holes = [
        (topic, document)
        for topic in topics
        for document in sorted({d for run in runs for d, _ in run.ranking(topic)})
        if document not in judged[topic]
    ]
    measures = ["nDCG@10", "AP", "RBP", "ERR@10"]
    found = [sr.holes(runs, track.qrels, measure=m, n_samples=0) for m in measures]
    rng, pairs = np.random.default_rng(2), all_pairs(len(runs))
    for share in np.linspace(0.01, 0.9, 15):
        complete = {topic: dict(by) for topic, by in judged.items()}
        for (topic, document), u in zip(holes, rng.random(len(holes)), strict=True):
            complete[topic][document] = 0 if u > share else 1 + int(rng.random() < 0.4)
        means = sr.evaluate(runs, complete, measures).mean()
        for one, mean in zip(found, means, strict=True):
            assert all(
                row.lowest - 1e-12 <= value <= row.highest + 1e-12
                for row, value in zip(one.runs, mean, strict=True)
            )
            for pair, (a, b) in zip(one.pairs, pairs, strict=True):
                assert pair.lowest - 1e-12 <= mean[a] - mean[b] <= pair.highest + 1e-12


def test_the_prior_is_calibrated_on_hidden_documents(result):
    """Within three standard errors, and better than Fröbe et al.'s two priors."""
    check = result.prior
    assert not check.failure
    assert check.n_hidden > 300
    assert abs(check.predicted - check.observed) < 3 * check.standard_error + 0.01
    assert check.log_loss < min(check.log_loss_run, check.log_loss_pool)
    for part in check.bins:
        error = math.sqrt(max(part.predicted * (1 - part.predicted), 0.01) / part.n)
        assert abs(part.predicted - part.observed) < 5 * error


@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_imputed_scores_are_closer_than_zero_and_condensed(track, measure):
    """Complete judgments are known: mean absolute error over all runs."""
    found = sr.holes(track.runs, track.qrels, measure=measure, n_samples=200)
    truth = sr.evaluate(track.runs, track.complete, measure).mean()[0]
    error = {
        kind: np.abs([getattr(row, kind) for row in found.runs] - truth).mean()
        for kind in ("score", "judged_only", "imputed")
    }
    assert error["imputed"] < 0.8 * error["score"]
    assert error["imputed"] < 0.5 * error["judged_only"]
    held = [
        row.imputed_interval.low <= value <= row.imputed_interval.high
        for row, value in zip(found.runs, truth, strict=True)
    ]
    assert np.mean(held) > 0.7  # runs share holes: one track is about one trial


def test_a_prior_that_cannot_be_checked_is_refused():
    qrels = {str(t): {"a": 1, "b": 0} for t in range(5)}
    runs = {
        "x": {t: {"a": 2.0, "new": 1.0} for t in qrels},
        "y": {t: {"b": 2.0, "a": 1.0} for t in qrels},
    }
    with pytest.warns(sr.SteadyrankWarning, match="the prior was rejected, as only 5 judged"):
        found = sr.holes(runs, qrels, measure="P@2")
    assert found.runs[0].imputed is None
    assert found.pairs[0].pvalue_imputed is None
    assert json.loads(VIEW.text(found, "json"))["runs"][0]["imputed_interval"] is None
    rejected = {finding.id: finding for finding in VIEW.findings(found)}["holes.rejected"]
    assert rejected.values == {"n_hidden": found.prior.n_hidden}
    assert rejected.text in str(found)


def test_a_prior_that_misses_is_refused(track):
    """Grades of what single runs have are turned round: what is learnt of some misleads others."""
    judged = judgments_of(track.qrels)
    lists = read_lists(track.runs, judged, depth=10)
    pool, holes = make_pool(lists)
    rng = np.random.default_rng(0)
    odd = pool.is_unique & (pool.owner % 10 < 5)
    grade = np.where(odd, 1 + rng.integers(0, 2, len(odd)), pool.grade)
    grade = np.where(pool.is_unique & ~odd, 0, grade)
    prior, check = check_prior(pool._replace(grade=grade), holes, lists, judged.max_grade)
    assert prior is None
    assert check.failure


def test_documents_to_judge_by_hand():
    """Values of a small case from the definition: |w_A - w_B| × spread, over undecided pairs."""
    qrels = {"1": {"a": 1, "b": 0}}
    runs = {"x": {"1": {"n1": 3.0, "a": 2.0}}, "y": {"1": {"n2": 3.0, "n1": 2.0, "a": 1.0}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SteadyrankWarning)
        found = sr.holes(runs, qrels, measure="RBP(p=0.5)", ask=5)
    weight = {"n1": abs(0.5 - 0.25), "n2": 0.5}
    expected = {document: w * 0.5 for document, w in weight.items()}  # a chance of 1/2: spread 1/2
    assert {asked.document: asked.value for asked in found.ask} == pytest.approx(expected)
    assert [asked.document for asked in found.ask] == ["n2", "n1"]


def test_judgments_are_fed_back(track, result):
    """What was asked and answered is a hole no more, and bounds only narrow."""
    answers = {}
    for asked in result.ask:
        grades = track.complete.judgments(asked.topic)
        answers.setdefault(asked.topic, {})[asked.document] = grades.get(asked.document, 0)
    after = sr.holes(track.runs, track.qrels, measure="nDCG@10", more=answers, n_samples=0)
    assert after.n_holes == result.n_holes - len(result.ask)
    for before, now in zip(result.runs, after.runs, strict=True):
        assert before.lowest - 1e-12 <= now.lowest <= now.highest <= before.highest + 1e-12
    assert after.n_decided >= result.n_decided


def test_contrary_judgments_are_refused(track):
    topic = track.qrels.topics[0]
    document, grade = next(iter(track.qrels.judgments(topic).items()))
    with pytest.raises(sr.InputError, match="judged twice"):
        sr.holes(track.runs, track.qrels, more={topic: {document: grade + 1}})


def judgments_until_settled(track, runs, share, order_of, batch=40):
    """Judge batch by batch until a share of the pairs is settled: how many judgments it takes."""
    answers, n = {}, 0
    while True:
        found = sr.holes(
            runs, track.qrels, more=answers or None, ask=batch, n_samples=100, measure="nDCG@10"
        )
        settled = [pair.decided or not 0.05 < pair.sign_share < 0.95 for pair in found.pairs]
        if np.mean(settled) >= share or found.n_holes == 0:
            return n
        for topic, document in order_of(found, answers)[:batch]:
            grades = track.complete.judgments(topic)
            answers.setdefault(topic, {})[document] = grades.get(document, 0)
            n += 1


@pytest.mark.slow
@UNCHECKED
def test_asking_takes_fewer_judgments_than_pooling_by_depth():
    """Ten systems that are close to each other, until 96% of their pairs are settled."""
    track = sr.simulated_track(
        n_teams=12,
        runs_per_team=3,
        n_topics=40,
        depth=60,
        pool_depth=10,
        pooled_per_team=1,
        model=sr.TrackModel(team=0.03, system=0.03),
        rng=5,
    )
    runs = [run for run in track.runs if run.name not in track.pooled][:10]

    def by_value(found, answers):
        return [(asked.topic, asked.document) for asked in found.ask]

    def by_depth(found, answers):
        return [
            (topic, document)
            for rank in range(10)
            for topic in track.qrels.topics
            for document in dict.fromkeys(run.ranking(topic)[rank][0] for run in runs)
            if document not in track.qrels.judgments(topic)
            and document not in answers.get(topic, {})
        ]

    asked = judgments_until_settled(track, runs, 0.96, by_value)
    pooled = judgments_until_settled(track, runs, 0.96, by_depth)
    assert asked <= 0.8 * pooled


@UNCHECKED
def test_numbers_do_not_depend_on_threads_or_the_order_of_runs(track):
    runs = list(track.runs)[:9]
    one = sr.holes(runs, track.qrels, n_samples=60, jobs=1, rng=4)
    other = sr.holes(runs[::-1], track.qrels, n_samples=60, jobs=3, rng=4)
    by_name = {row.run: row for row in other.runs}
    for row in one.runs:
        assert by_name[row.run].imputed == pytest.approx(row.imputed, abs=1e-12)
        assert by_name[row.run].highest == pytest.approx(row.highest, abs=1e-12)
    again = sr.holes(runs, track.qrels, n_samples=60, jobs=3, rng=4)
    assert VIEW.json(again) == VIEW.json(one)


def test_tables_say_it(result):
    assert "exact bounds over grades 0 to 2" in str(result)
    found = {finding.id: finding.values for finding in VIEW.findings(result)}
    assert list(found) == [
        f"holes.{one}" for one in ("decided", "leader", "checked", "fragility", "prior")
    ]
    assert found["holes.decided"] == {
        "n_holes": result.n_holes,
        "n_decided": sum(pair.lowest * pair.highest > 0 for pair in result.pairs),
        "bounds": "exact",
        "n_pairs": len(result.pairs),
    }
    lines = ask_text(result).splitlines()
    assert lines[0] == "topic\tdocument\tvalue"
    assert len(lines) == 21
    values = [float(line.split("\t")[2]) for line in lines[1:]]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("Bpref", "Bpref has no bounds over missing judgments"),
        ("nDCG(judged_only=True)@10", "remove judged_only"),
    ],
)
def test_measures_without_bounds(track, measure, message):
    with pytest.raises(sr.InputError, match=message):
        sr.holes(track.runs, track.qrels, measure=measure)


def test_the_command(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 a 1\n")
    (tmp_path / "x").write_text("1 Q0 a 1 3 x\n1 Q0 n 2 2 x\n2 Q0 n 1 2 x\n")
    (tmp_path / "y").write_text("1 Q0 m 1 3 y\n1 Q0 a 2 2 y\n2 Q0 a 1 2 y\n")
    files = [str(tmp_path / name) for name in ("qrels", "x", "y")]
    ran = CliRunner().invoke(cli_holes.command, [*files, "-m", "P@2", "--format", "json"])
    assert ran.exit_code == 0, ran.output
    shown = json.loads(ran.stdout)
    assert shown["bounds"] == "exact"
    assert shown["runs"][0]["highest"] == 0.75
    asked = tmp_path / "judge-me.tsv"
    words = [*files, "-m", "P@2", "--ask", "2"]
    ran = CliRunner().invoke(cli_holes.command, [*words, "-o", str(asked), "--quiet"])
    assert ran.exit_code == 0, ran.output
    first, *rest = asked.read_text().splitlines()
    assert first == "topic\tdocument\tvalue"
    assert len(rest) == 2


# Holes filled by a language model and corrected by people: `holes`, then `judges`


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
