"""Can a collection still separate its best runs? By its topics, and by its assessors."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import steadyrank as sr
from steadyrank.cli import run
from steadyrank.stats.planning.design import t_power
from steadyrank.studies.stability.view import VIEW


def close_scores(n_topics=30, n_runs=8, step=0.02, seed=1):
    rng = np.random.default_rng(seed)
    values = rng.normal(0.5, 0.1, (n_runs, n_topics)) + rng.normal(0, 0.2, n_topics)
    return sr.Scores(
        measures=["AP"],
        runs=[f"run{i}" for i in range(n_runs)],
        topics=range(n_topics),
        values=[values - step * np.arange(n_runs)[:, None]],
    )


def corrected_limit(alpha, n):
    """Standard errors beyond which `compare` claims a difference without skewness."""
    c = stats.t.isf(alpha / 2, n - 1)
    against = 2 * np.sqrt(6 * (n - 2) / (n * (n + 1) * (n + 3)))
    return c + against * (2 * c * c + 1) / 6


@pytest.mark.parametrize("seed", range(4))
def test_pairs_that_a_t_test_would_separate_by_the_noncentral_t_distribution(seed):
    scores = close_scores(seed=seed)
    compared, found = sr.compare(scores), sr.stability(scores).separation
    assert set(found.runs) == set(np.array(compared.runs)[compared.could_be_first])
    assert found.comparison_alpha == pytest.approx(compared.comparison_alpha)
    n, effects = len(scores.topics), []
    limit = corrected_limit(found.comparison_alpha, n)
    n_separable = 0
    for a, b in itertools.combinations(found.runs, 2):
        gaps = scores.matrix()[scores.runs.index(a)] - scores.matrix()[scores.runs.index(b)]
        effects.append(abs(gaps.mean()) / gaps.std(ddof=1))
        shift = np.sqrt(n) * effects[-1]
        power = stats.nct.sf(limit, n - 1, shift) + stats.nct.cdf(-limit, n - 1, shift)
        n_separable += power >= 0.8
    assert (found.n_pairs, found.n_separable) == (len(effects), n_separable)
    half = np.sort(effects)[len(effects) // 2]
    powers = []
    for more in (found.topics_needed - 1, found.topics_needed):
        limit = corrected_limit(found.comparison_alpha, more)
        powers.append(stats.nct.sf(limit, more - 1, np.sqrt(more) * half))
    assert powers[0] < 0.8 <= powers[1]


def test_pairs_that_are_separated_although_nothing_is_claimed():
    """By decisions that leave all runs in the race, as those of few samples do."""
    scores = close_scores(step=0.05)
    made = sr.compare(scores, correction="none")
    all_ranks = np.tile([1, len(made.runs)], (len(made.runs), 1))
    open_race = replace(made, own=replace(made.own, rank_set=all_ranks))
    found = sr.stability(scores, decided=open_race).separation
    power = t_power(made.difference, made.effects.sd, len(scores.topics), 0.05)
    assert 0 < found.n_separable == (power >= 0.8).sum() < found.n_pairs == len(made.pairs)


def test_one_run_that_could_be_first_and_two_runs():
    alone = sr.stability(close_scores(step=0.5))
    assert alone.separation.runs == ("run0",)
    assert np.isnan(alone.separation.share)
    texts = {finding.id: finding.text for finding in VIEW.findings([alone])}
    assert texts["stability.separation"].startswith("Only run0 could be first")
    two = close_scores(n_runs=2, step=0.03)
    assert sr.stability(two).separation.n_pairs == (not sr.compare(two).significant[0])
    assert sr.stability(two, alpha=None).separation is None


def test_decisions_that_were_made_elsewhere():
    scores = close_scores()
    given = sr.compare(scores, test="wilcoxon", correction="bonferroni")
    found = sr.stability(scores, decided=given).separation
    assert set(found.runs) == set(np.array(given.runs)[given.could_be_first])
    assert found.comparison_alpha == given.comparison_alpha
    assert sr.stability(scores, decided=sr.compare(scores, baseline="run3")).separation is None


def assessed(seed=3, n_topics=6, noise=0.3):
    """Runs, judgments, and those of an assessor who sees some documents otherwise."""
    rng = np.random.default_rng(seed)
    topics = [str(t) for t in range(n_topics)]
    documents = [f"d{i}" for i in range(6)]
    first = {t: {d: int(i < 3) for i, d in enumerate(documents)} for t in topics}
    second = {t: {d: int(g != (rng.random() < noise)) for d, g in first[t].items()} for t in topics}
    runs = {}
    for r, error in enumerate((0.0, 0.3, 3.0)):
        runs[f"r{r}"] = {
            t: {d: first[t][d] + error * rng.normal() for d in documents} for t in topics
        }
    return runs, first, second


def average_precision(order, relevant):
    hits = np.cumsum([d in relevant for d in order])
    ranks = np.arange(1, len(order) + 1)
    return sum(h / r for d, h, r in zip(order, hits, ranks, strict=True) if d in relevant) / len(
        relevant
    )


@pytest.mark.parametrize("noise", [0.0, 0.3, 0.5])
def test_the_assessors_order_is_a_run_whose_ties_are_averaged(noise):
    runs, first, second = assessed(noise=noise)
    result = sr.stability(runs, first, measure="AP", judges={"second": second})
    (found,) = result.assessors
    by_topic = []
    for topic, grades in second.items():
        relevant = {d for d, g in first[topic].items() if g}
        orders = [
            order
            for order in itertools.permutations(grades)
            if all(grades[x] >= grades[y] for x, y in itertools.pairwise(order))
        ]
        by_topic.append(np.mean([average_precision(order, relevant) for order in orders]))
    assert found.mean == pytest.approx(np.mean(by_topic))
    scores = sr.evaluate(runs, first, "AP")
    means = dict(zip(scores.runs, scores.mean()[0], strict=True))
    above = [name for name, mean in means.items() if mean > found.mean + 1e-12]
    assert set(found.above) == set(above)
    assert (found.rank, found.n_runs, found.n_topics) == (1 + len(above), 3, 6)
    if noise == 0.0:
        assert found.mean == 1.0
        return
    tests = [stats.ttest_rel(row, by_topic) for row in scores.matrix("AP")]
    rejected = multipletests([test.pvalue for test in tests], method="holm")[0]
    shown = {
        name
        for name, test, is_rejected in zip(scores.runs, tests, rejected, strict=True)
        if is_rejected and test.statistic > 0
    }
    assert set(found.significantly_above) == shown
    ids = [finding.id for finding in VIEW.findings([result])]
    assert ("stability.expired" in ids) == bool(shown)
    assert ("stability.assessor" in ids) == (not shown)


@pytest.mark.filterwarnings("ignore:.*negative estimates")
def test_an_assessor_who_judged_some_of_the_topics():
    runs, first, second = assessed()
    some = {topic: second[topic] for topic in ("1", "3", "4")}
    (found,) = sr.stability(runs, first, judges={"some": some}).assessors
    everything = sr.evaluate(runs, first, "AP").select(topics=list(some))
    means = everything.matrix("AP").mean(axis=1)
    assert found.n_topics == 3
    assert found.rank == 1 + (means > found.mean + 1e-12).sum()
    with pytest.raises(sr.InputError, match="judge one judged 1 of the 6 topics"):
        sr.stability(runs, first, judges={"one": {"1": second["1"]}})
    with pytest.raises(sr.InputError, match="Twist has no known mean over the orders"):
        sr.stability(runs, first, measure="Twist", judges={"second": second})
    with pytest.raises(sr.InputError, match="judges require qrels"):
        sr.stability(sr.evaluate(runs, first, "AP"), judges={"second": second})


def written(folder):
    """Files of twenty topics: two runs that follow the first assessor, one that does not."""
    runs, first, second = assessed(n_topics=20, noise=0.5)
    for name, qrels in (("first", first), ("second", second)):
        lines = [f"{t} 0 {d} {g}" for t, grades in qrels.items() for d, g in grades.items()]
        (folder / f"{name}.qrels").write_text("\n".join(lines) + "\n", "utf-8")
    for name, lists in runs.items():
        lines = [
            f"{t} Q0 {d} 0 {s:.6f} {name}" for t, docs in lists.items() for d, s in docs.items()
        ]
        (folder / f"{name}.run").write_text("\n".join(lines) + "\n", "utf-8")
    return [str(folder / "first.qrels"), *(str(folder / f"{name}.run") for name in runs)]


def test_the_command_and_the_page_say_that_a_collection_has_expired(tmp_path, capsys):
    files, judge = written(tmp_path), f"second={tmp_path / 'second.qrels'}"
    assert run(["stability", *files, "-m", "AP", "--judge", judge, "--format", "json"]) == 0
    (own,) = json.loads(capsys.readouterr().out)["assessors"]
    assert own["judge"] == "second"
    assert {"r0", "r1"} <= set(own["significantly_above"]) <= set(own["above"])
    page = tmp_path / "report.html"
    arguments = [*files, "-m", "AP", "--judge", judge, "--out", str(page), "--budget", "1s"]
    assert run(["report", *arguments, "--quiet"]) == 0
    said = f"these judgments cannot separate {len(own['significantly_above'])} of 3 runs"
    assert said in page.read_text("utf-8")
    assert "could be first" in page.read_text("utf-8")


def test_scores_alone_have_no_assessor(tmp_path, capsys):
    (tmp_path / "scores.csv").write_text("topic,a,b\n1,.5,.4\n2,.3,.4\n", "utf-8")
    scores = str(tmp_path / "scores.csv")
    assert run(["stability", "--scores", scores, "--judge", scores]) == 2
    assert "--judge requires QRELS RUN..." in capsys.readouterr().err
