"""The provider for ir_measures: the same values as pytrec_eval's, and its fallbacks untouched."""

# Witness: ir-measures 0.4.3 with pytrec-eval-terrier 0.5.11. numpy 2.4.6 draws the data.

from __future__ import annotations

import math
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import ir_measures

import steadyrank.ir_measures as drop_in

m = ir_measures


def odd_collection(seed, n_topics=30):
    """Heavy ties, scores that 32 bits do not tell apart, negative grades, topics of one side."""
    rng = np.random.default_rng(seed)
    pool = [f"d{i}" for i in range(60)] + [f"é{i}" for i in range(20)]
    judgments, rankings = {}, {}
    for t in range(n_topics):
        grades = ([-1, 0, 0, 1, 2, 3], [0, 0], [1, 2], [-2, 1])[t % 4]
        picked = rng.permutation(pool)[: rng.integers(1, 50)].tolist()
        judgments[f"q{t}"] = {d: int(rng.choice(grades)) for d in picked}
        judgments[f"q{t}"][picked[0]] = max(grades)
        depth = int(rng.choice([1, 3, 60]))
        scores = rng.integers(1, 5, depth) / 8 + rng.integers(0, 3, depth) * 1e-12
        if t % 6 != 5:
            documents = rng.permutation(pool)[:depth].tolist()
            rankings[f"q{t}"] = dict(zip(documents, scores.tolist(), strict=True))
    rankings["nobody judged"] = {"d1": 1.0}
    return judgments, rankings


TAKEN = [
    m.AP,
    m.AP(rel=2) @ 10,
    m.AP(judged_only=True),
    m.nDCG,
    m.nDCG @ 10,
    m.nDCG(judged_only=True) @ 5,
    m.P @ 5,
    m.P(rel=3, judged_only=True) @ 10,
    m.R @ 20,
    m.RR,
    m.RR(rel=2),
    m.Rprec,
    m.Success @ 3,
    m.Bpref,
    m.Bpref(rel=2),
    m.infAP,
    m.IPrec @ 0.0,
    m.IPrec(rel=2) @ 0.35,
    m.SetP,
    m.SetRelP,
    m.SetR,
    m.SetF,
    m.SetF(beta=0.5, rel=2),
    m.SetAP,
    m.NumRet,
    m.NumRelRet,
    m.NumRet(rel=2),
    m.NumRel,
]
LEFT = [
    m.RR @ 10,
    m.Judged @ 10,
    m.Compat,
    m.nDCG(gains={0: 0, 1: 2, 2: 3}) @ 5,
    m.IPrec @ 0.123,
    m.NumQ,
    m.ERR @ 10,
    m.nDCG(dcg="exp-log2") @ 10,
    m.alpha_nDCG @ 10,
]


def by_topic(metrics):
    return {(str(metric.measure), metric.query_id): metric.value for metric in metrics}


def same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for key, value in theirs.items():
        if math.isnan(value):
            continue  # IPrec of a condensed list without documents: 0 / 0 there
        assert ours[key] == pytest.approx(value, rel=0, abs=1e-12), key


@pytest.mark.parametrize("measure", TAKEN, ids=str)
def test_the_provider_gives_the_values_of_pytrec_eval(measure):
    assert drop_in.steadyrank.supports(measure)
    for seed in range(3):
        judgments, rankings = odd_collection(seed)
        ours = by_topic(drop_in.steadyrank.iter_calc([measure], judgments, rankings))
        same(ours, by_topic(ir_measures.pytrec_eval.iter_calc([measure], judgments, rankings)))


@pytest.mark.parametrize("measure", LEFT, ids=str)
def test_other_measures_stay_with_their_providers(measure):
    assert not drop_in.steadyrank.supports(measure)


def test_the_default_pipeline_uses_it_and_falls_back():
    judgments, rankings = odd_collection(4)
    measures = [m.AP, m.nDCG @ 10, m.RR @ 10, m.Judged @ 5]
    evaluator = ir_measures.evaluator(measures, judgments)
    assert {type(part).__module__ for part in evaluator.evaluators} == {
        "steadyrank.ir_measures",
        "ir_measures.providers.judged_provider",
        "ir_measures.providers.msmarco_provider",
    }
    ours = by_topic(evaluator.iter_calc(rankings))
    theirs = {}
    for measure in measures:
        first = next(
            provider
            for provider in ir_measures.DefaultPipeline.providers
            if provider is not drop_in.steadyrank and provider.supports(measure)
        )
        theirs |= by_topic(first.iter_calc([measure], judgments, rankings))
    same(ours, {key: value for key, value in theirs.items() if key in ours})
    assert len(ours) == len(theirs)


def test_aggregates_sum_counts_and_average_the_rest():
    judgments, rankings = odd_collection(5)
    measures = [m.AP, m.NumRet, m.NumRel, m.Bpref]
    ours = ir_measures.calc_aggregate(measures, judgments, rankings)
    theirs = ir_measures.pytrec_eval.calc_aggregate(measures, judgments, rankings)
    assert ours == pytest.approx(theirs, abs=1e-12)
    aggregate, per_topic = ir_measures.calc([m.AP], judgments, rankings)
    assert aggregate[m.AP] == pytest.approx(np.mean([metric.value for metric in per_topic]))


def test_frames_and_records_are_taken():
    judgments, rankings = odd_collection(6)
    qrels = [m.Qrel(t, d, g) for t, grades in judgments.items() for d, g in grades.items()]
    run = [m.ScoredDoc(t, d, s) for t, scores in rankings.items() for d, s in scores.items()]
    expected = ir_measures.pytrec_eval.calc_aggregate([m.AP], judgments, rankings)
    assert ir_measures.calc_aggregate([m.AP], qrels, run) == pytest.approx(expected)
    frames = (pd.DataFrame(qrels), pd.DataFrame(run))
    assert ir_measures.calc_aggregate([m.AP], *frames) == pytest.approx(expected)


def test_what_kills_pytrec_eval_scores_zero():
    scores = by_topic(ir_measures.iter_calc([m.AP, m.Bpref], {"1": {"a": -3}}, {"1": {"a": 1.0}}))
    assert set(scores.values()) == {0.0}


def test_no_run_and_no_common_topic():
    assert ir_measures.calc_aggregate([m.AP], {"1": {"a": 1}}, {}) == {m.AP: 0.0}
    assert ir_measures.calc_aggregate([m.AP], {"1": {"a": 1}}, {"2": {"a": 1.0}}) == {m.AP: 0.0}


def test_its_names_are_those_of_ir_measures():
    assert drop_in.nDCG is ir_measures.nDCG
    assert drop_in.calc_aggregate == ir_measures.calc_aggregate
    with pytest.raises(AttributeError, match="no attribute 'nDGC'"):
        _ = drop_in.nDGC


def test_importing_twice_registers_once():
    code = (
        "import importlib, warnings; warnings.simplefilter('ignore')\n"
        "import ir_measures, steadyrank.ir_measures as s\n"
        "importlib.reload(s)\n"
        "names = [p.NAME for p in ir_measures.DefaultPipeline.providers]\n"
        "print(names.count('steadyrank'), names.index('steadyrank') < names.index('pytrec_eval'))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["1", "True"]
