"""`Experiment` beside PyTerrier's own, on result frames and transformers that need no Java."""

# Witness: PyTerrier 1.1.2 with ir-measures 0.4.3, statsmodels 0.15.0, scipy 1.17.1.

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import steadyrank as sr
import steadyrank.pyterrier as sp

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pt = pytest.importorskip("pyterrier")
    import ir_measures

pytestmark = pytest.mark.filterwarnings("ignore")

MEASURES = ["map", "ndcg_cut_10", "P_5", "recip_rank", "bpref", "num_ret", "num_rel_ret"]


def odd_experiment(seed, n_systems=4, n_topics=25):
    """Result frames of systems that lack topics, tie, and retrieve what nobody judged."""
    rng = np.random.default_rng(seed)
    documents = [f"d{i}" for i in range(50)]
    qids = [str(100 + t) for t in range(n_topics)]
    topics = pd.DataFrame({"qid": qids, "query": [f"query {qid}" for qid in qids]})
    judged = [
        (qid, document, int(rng.choice([0, 0, 1, 2])))
        for qid in qids
        for document in rng.permutation(documents)[:20]
    ]
    qrels = pd.DataFrame(judged, columns=["qid", "docno", "label"])
    best = qrels.drop_duplicates("qid").index
    qrels.loc[best, "label"] = 1
    frames = []
    for system in range(n_systems):
        rows = []
        for qid in qids[: n_topics - system]:
            relevant = set(qrels[(qrels.qid == qid) & (qrels.label > 0)].docno)
            for document in rng.permutation(documents)[:30]:
                lift = 0.5 * system * (document in relevant)
                rows.append((qid, document, round(float(rng.normal() + lift), 1)))
        frame = pd.DataFrame(rows, columns=["qid", "docno", "score"])
        frame["rank"] = frame.groupby("qid")["score"].rank(ascending=False, method="first") - 1
        frames.append(frame)
    return frames, topics, qrels


def both(*arguments, **options):
    return sp.Experiment(*arguments, **options), pt.Experiment(*arguments, **options)


def assert_columns_agree(ours, theirs, **tolerance):
    for column in theirs:
        assert column in ours
        if theirs[column].dtype.kind in "fiu" or column.endswith((" +", " -")):
            np.testing.assert_allclose(
                ours[column].astype(float),
                theirs[column].astype(float),
                err_msg=column,
                **(tolerance or {"rtol": 0, "atol": 1e-12}),
            )
        else:
            assert ours[column].tolist() == theirs[column].tolist(), column


@pytest.mark.parametrize("seed", range(3))
def test_means_are_those_of_pyterrier(seed):
    frames, topics, qrels = odd_experiment(seed)
    names = ["a", "b", "c", "d"]
    ours, theirs = both(frames, topics, qrels, MEASURES, names=names)
    assert_columns_agree(ours, theirs)
    assert list(ours.columns)[: len(MEASURES) + 1] == ["name", *MEASURES]


@pytest.mark.parametrize("test", ["t", "wilcoxon"])
@pytest.mark.parametrize("correction", [None, "bonferroni", "holm", "hs", "fdr_bh"])
def test_a_baseline_gives_pyterrier_s_columns(correction, test):
    frames, topics, qrels = odd_experiment(5)
    options = {"names": list("abcd"), "baseline": 1, "correction": correction, "test": test}
    ours, theirs = both(frames, topics, qrels, ["map", "ndcg"], **options)
    assert_columns_agree(ours, theirs, rtol=1e-9, atol=1e-12)
    where = ours.columns.get_loc("map p-value")
    assert list(ours.columns[where + 1 : where + 3]) == ["map reject", "map p-value corrected"]
    assert (ours["map p-value corrected"].drop(1) >= ours["map p-value"].drop(1)).all()


def test_a_function_is_a_test():
    from scipy.stats import ttest_ind

    frames, topics, qrels = odd_experiment(6)
    ours, theirs = both(
        frames, topics, qrels, ["map"], names=list("abcd"), baseline=0, test=ttest_ind
    )
    assert_columns_agree(ours, theirs, rtol=1e-9, atol=1e-12)


def test_a_dictionary_names_systems_and_the_baseline():
    frames, topics, qrels = odd_experiment(7)
    systems = dict(zip("abcd", frames, strict=True))
    ours, theirs = both(systems, topics, qrels, ["map"], baseline="c", round=3)
    assert_columns_agree(ours, theirs, rtol=1e-9, atol=1e-12)
    assert np.isnan(ours["map p-value"][2])


def test_rounding_by_measure():
    frames, topics, qrels = odd_experiment(7)
    ours, theirs = both(
        frames, topics, qrels, ["map", "ndcg"], names=list("abcd"), round={"map": 2}
    )
    assert_columns_agree(ours, theirs)


def test_measures_of_ir_measures_and_families():
    m = ir_measures
    frames, topics, qrels = odd_experiment(8)
    metrics = [m.AP, m.nDCG @ 10, m.P(rel=2) @ 5, m.Bpref, "success", "iprec_at_recall"]
    ours, theirs = both(frames, topics, qrels, metrics, names=list("abcd"))
    assert_columns_agree(ours, theirs)
    assert "Success@1" in ours
    assert "IPrec@0.0" in ours


def test_a_measure_that_is_lacking_goes_to_ir_measures():
    frames, topics, qrels = odd_experiment(8)

    def first(judged, run):
        return float(run["doc_id"].iloc[0] == "d1")

    metrics = [ir_measures.AP, ir_measures.define_byquery(first, name="First")]
    ours, theirs = both(frames, topics, qrels, metrics, names=list("abcd"))
    assert_columns_agree(ours, theirs)


def test_every_topic():
    frames, topics, qrels = odd_experiment(9)
    qrels = qrels[qrels.qid != "103"]
    options = {"names": list("abcd"), "perquery": True}
    ours, theirs = both(frames, topics, qrels, ["map", "P_5"], **options)
    keys = ["name", "qid", "measure"]
    assert list(ours.columns) == list(theirs.columns)
    ours, theirs = (frame.sort_values(keys).reset_index(drop=True) for frame in (ours, theirs))
    pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, atol=1e-12)
    assert ours[ours.qid == "103"].value.isna().all()
    as_scores = sr.as_scores(
        sp.Experiment(frames, topics, qrels, ["map"], names=list("abcd"), perquery=True)
    )
    assert as_scores.runs == ("a", "b", "c", "d")


def test_both_and_dictionaries():
    frames, topics, qrels = odd_experiment(10)
    options = {"names": list("abcd"), "perquery": "both"}
    ours, theirs = both(frames, topics, qrels, ["map"], **options)
    assert_columns_agree(ours.averages, theirs.averages)
    assert len(ours.perquery) == len(theirs.perquery)
    ours, theirs = both(frames, topics, qrels, ["map"], names=list("abcd"), dataframe=False)
    assert {name: row["map"] for name, row in ours.items()} == pytest.approx(
        {name: row["map"] for name, row in theirs.items()}
    )
    options = {"names": list("abcd"), "dataframe": False, "perquery": True}
    ours, theirs = both(frames, topics, qrels, ["map"], **options)
    for system, by_topic in theirs.items():
        for qid, row in by_topic.items():
            assert ours[system][qid] == pytest.approx(row)


def test_transformers_and_functions_are_run():
    frames, topics, qrels = odd_experiment(11, n_systems=2)

    class Transformer:
        def transform(self, given):
            return frames[0][frames[0].qid.isin(set(given.qid))]

    by_transformer = sp.Experiment([Transformer()], topics, qrels, ["map", "mrt"])
    by_function = sp.Experiment([Transformer().transform], topics, qrels, ["map"], batch_size=4)
    plain = sp.Experiment([frames[0]], topics, qrels, ["map"])
    assert by_transformer["map"][0] == by_function["map"][0] == plain["map"][0]
    assert by_transformer["mrt"][0] > 0
    real = pt.Transformer.from_df(frames[0], uniform=True)
    ours, theirs = both([real, frames[1]], topics, qrels, ["map"], names=["a", "b"])
    assert_columns_agree(ours, theirs)


@pytest.mark.parametrize("options", [{"filter_by_qrels": True}, {"filter_by_topics": False}])
def test_topics_and_judgments_are_filtered_alike(options):
    frames, topics, qrels = odd_experiment(12)
    ours, theirs = both(
        frames, topics[:20], qrels[qrels.qid != "100"], ["map"], names=list("abcd"), **options
    )
    assert_columns_agree(ours, theirs)


def test_what_is_added_is_what_compare_says():
    frames, topics, qrels = odd_experiment(13)
    frame = sp.Experiment(frames, topics, qrels, ["map"], names=list("abcd"))
    scores = sr.evaluate(dict(zip("abcd", frames, strict=True)), qrels, "AP", ties="float32")
    result = sr.compare(scores)
    assert frame["map rank set"].tolist() == [f"{low}–{high}" for low, high in result.rank_set]
    np.testing.assert_allclose(frame[["map low", "map high"]], result.mean_interval, rtol=1e-12)
    against = sp.Experiment(frames, topics, qrels, ["map"], names=list("abcd"), baseline=0)
    result = sr.compare(scores, baseline="a", correction="holm")
    np.testing.assert_allclose(
        against["map p-value corrected"][1:], result.pvalue_adjusted, rtol=1e-12
    )
    # Those that were not compared with each other have no ranks among each other.
    assert against["map rank set"].tolist() == [None] * 4


def test_the_best_cells_are_marked():
    frames, topics, qrels = odd_experiment(13)
    style = sp.Experiment(
        frames, topics, qrels, ["map"], names=list("abcd"), baseline=0, highlight="bold"
    )
    assert "font-weight: bold" in style.to_html()


def test_files_serve_as_topics_and_judgments(tmp_path):
    frames, topics, qrels = odd_experiment(14)
    topics.to_csv(tmp_path / "topics.tsv", sep="\t", header=False, index=False)
    sr.write_qrels(sr.as_qrels(qrels), tmp_path / "qrels.txt")
    by_files = sp.Experiment(frames, tmp_path / "topics.tsv", tmp_path / "qrels.txt", ["map"])
    assert by_files["map"].tolist() == sp.Experiment(frames, topics, qrels, ["map"])["map"].tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"save_dir": "."}, "save_dir is not supported"),
        ({"names": ["a"]}, "4 systems and 1 names"),
        ({"baseline": 9}, "baseline 9: systems have places 0 to 3"),
        ({"baseline": "x"}, "baseline 'x'"),
        ({"correction": "holm"}, "requires a baseline"),
        ({"baseline": 0, "perquery": True}, "omit perquery or baseline"),
        ({"baseline": 0, "test": "z"}, "unknown test 'z'"),
        ({"highlight": "blink"}, "unknown highlight"),
        ({"eval_metrics": ["mapp"]}, "unknown measure 'mapp'"),
        ({"eval_metrics": []}, "no measure was named"),
    ],
)
def test_wrong_arguments_are_answered_in_words(options, message):
    frames, topics, qrels = odd_experiment(15)
    with pytest.raises(sr.InputError, match=message):
        sp.Experiment(frames, topics, qrels, **{"eval_metrics": ["map"], **options})


def test_no_common_topic():
    frames, topics, qrels = odd_experiment(15)
    with pytest.raises(sr.InputError, match="no qid in common"):
        sp.Experiment(frames, topics.assign(qid="q" + topics.qid), qrels, ["map"])
