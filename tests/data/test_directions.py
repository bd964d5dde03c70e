"""Directions of measures: by name, by hand, and through what is done with scores."""

import pickle

import numpy as np
import pytest

import steadyrank as sr
from steadyrank.data.directions import direction_of
from steadyrank.data.leaderboard import leaderboard_from_collections
from steadyrank.measures.names import KINDS

NAMES = {
    "lower": "edit_distance levenshtein_distance perplexity word_perplexity byte_perplexity "
    "bits_per_byte wer cer ter mae mse rmse mape loss log_loss nll brier brier_score ece "
    "ece_10_bin noise_sensitivity(mode=relevant) expected_max_toxicity toxic_frac "
    "latency max_toxicity_probability runtime cost CO2-Cost inference_runtime evaluation_time "
    "kg_co2_emissions task/edit_distance,none a/b/Brier-Score WER@5",
    "neither": "num_prompt_tokens prompt_tokens length rubric/length answer_length batch_size "
    "finish_reason_stop prompt_truncated max_prob nauc_ndcg_at_1_std sample_len",
    "unknown": "bias Toxicity hallucination judge/misuse",
    "higher": "logprob logprob_per_byte pii_leakage acc cost_awareness forecost power watcher "
    "toxicity_free loss_recovery lengths nDCG(dcg='exp-log2')@20 exact_match,strict-match",
}


@pytest.mark.parametrize(("way", "names"), NAMES.items())
def test_a_whole_name_says_the_direction(way, names):
    assert {name: direction_of(name) for name in names.split()} == dict.fromkeys(names.split(), way)


def test_all_measures_of_retrieval_are_higher():
    assert {direction_of(name) for name in KINDS} == {"higher"}
    assert direction_of("Bias [GEval]") == "higher"


def scores(*measures, runs=("a", "b"), **more):
    values = np.zeros((len(measures), len(runs), 3))
    return sr.Scores(measures=measures, runs=runs, topics=["1", "2", "3"], values=values, **more)


def test_directions_survive_what_is_done_with_scores():
    one = scores("x", "wer", "bias", directions={"x": "lower"})
    assert one.directions == {"x": "lower", "wer": "lower", "bias": "unknown"}
    assert one["x"].directions == {"x": "lower"}
    assert pickle.loads(pickle.dumps(one)).directions == one.directions
    by_hand = one.directed(lower="bias", higher=["wer"])
    assert by_hand.directions == {"x": "lower", "wer": "higher", "bias": "lower"}
    both = sr.join_scores(by_hand, scores("y", runs=["c"]))
    assert both.directions == {**by_hand.directions, "y": "higher"}


def test_what_cannot_be_ranked_is_left_out_with_a_line():
    one = scores("acc", "num_tokens", "bias")
    with pytest.warns(sr.SteadyrankWarning, match="num_tokens .*; bias .*lower_is_better"):
        assert one.ranked().measures == ("acc",)
    assert one.directed(lower="bias").lower_is_better("bias")
    for name in ("bias", "num_tokens"):
        with pytest.raises(sr.InputError, match=name) as told:
            one.lower_is_better(name)
        assert told.value.parameter == "lower_is_better"
        with pytest.raises(sr.InputError, match=name):
            one[name].ranked()


@pytest.mark.parametrize("way", [{"lower": "map"}, {"higher": ["map"]}])
def test_unknown_names_are_errors(way):
    with pytest.raises(sr.UnknownNameError, match="unknown measure 'map'"):
        scores("AP").directed(**way)


def test_contradictions_are_errors():
    with pytest.raises(sr.InputError, match="choose one"):
        scores("AP").directed(lower="AP", higher="AP")
    with pytest.raises(sr.UnknownNameError, match="direction"):
        scores("AP", directions={"AP": "up"})
    with pytest.raises(sr.InputError, match="direction of AP") as told:
        sr.join_scores(scores("AP").directed(lower="AP"), scores("AP", runs=["c"]))
    assert told.value.parameter == "lower_is_better"


def test_an_unknown_direction_gives_way_to_a_known_one():
    parts = scores("bias"), scores("bias", runs=["c"]).directed(lower="bias")
    for order in (parts, parts[::-1]):
        assert sr.join_scores(*order).directions == {"bias": "lower"}


def table(*datasets, **more):
    values = np.zeros((2, len(datasets)))
    return sr.Leaderboard(runs=["a", "b"], datasets=datasets, values=values, **more)


def test_datasets_have_directions_and_opposite_ones_are_never_averaged():
    board = table("NQ", "CO2 cost", "size", directions={"size": "neither"})
    assert board.directions == {"NQ": "higher", "CO2 cost": "lower", "size": "neither"}
    assert board.in_order().directions == board.directions
    assert board.is_lower_better("CO2 cost")
    assert not board.is_lower_better("NQ")
    with pytest.warns(sr.SteadyrankWarning, match="size"):
        ranked = board.ranked()
    with pytest.raises(sr.InputError, match="NQ is better if higher, CO2 cost if lower"):
        _ = ranked.lower_is_better
    with pytest.raises(sr.InputError, match="NQ .*CO2 cost"):
        ranked.as_scores()
    assert table("wer", "x").directed(lower="x").as_scores().directions == {"score": "lower"}
    with pytest.raises(sr.UnknownNameError, match="dataset"):
        board.directed(lower="co2")


def test_collections_have_the_direction_of_their_measure():
    parts = {"latency": scores("AP"), "NQ": scores("AP")}
    board = leaderboard_from_collections(parts)
    assert board.directions == {"latency": "higher", "NQ": "higher"}
