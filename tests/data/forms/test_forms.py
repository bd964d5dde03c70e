"""Every form gives the means that plain Python computes, and says what is wrong with a file."""

from __future__ import annotations

import json
import shutil
import zipfile

import made
import numpy as np
import pyarrow as pa
import pytest

import steadyrank as sr
from steadyrank.data.facets import averaged_facets
from steadyrank.data.forms.reading import read_forms, read_parts

pytestmark = pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")


def means(scores):
    own = averaged_facets(scores)
    found = own.mean()
    return {
        (measure, run): found[i, j]
        for i, measure in enumerate(own.measures)
        for j, run in enumerate(own.runs)
    }


@pytest.mark.parametrize("make", made.SCORE_FORMS, ids=lambda make: make.__name__)
def test_means_are_those_of_plain_python(tmp_path, make):
    expected = make(tmp_path)
    found = means(sr.read_scores(tmp_path))
    for key, value in expected.items():
        assert found[key] == pytest.approx(value), key


@pytest.mark.parametrize(("make", "name"), made.BATTLE_FORMS)
def test_battles_have_the_win_rates_of_plain_python(tmp_path, make, name):
    found = read_forms([make(tmp_path / name)]).data
    rates = dict(zip(found.models, found.win_rates(), strict=True))
    assert rates == pytest.approx(made.win_rates())


def test_rows_without_provider_and_prompt_are_named_by_their_file(tmp_path):
    rows = [{"vars": {"q": k}, "success": k == 1, "promptIdx": 0} for k in range(2)]
    assert sr.read_scores(made.lines(tmp_path / "night.jsonl", rows)).runs == ("night.jsonl",)


def test_arena_hard_swaps_the_second_game(tmp_path):
    games = [{"score": "A>>B"}, {"score": "A>B"}]
    rows = [{"model": "m", "baseline": "base", "uid": "1", "judge": "j", "games": games}]
    rows += [{**rows[0], "uid": "2", "games": [{"score": None}, {"score": "A=B"}]}]
    with pytest.warns(sr.SteadyrankWarning, match="1 battle with no verdict left out"):
        found = read_forms([made.lines(tmp_path / "m.jsonl", rows)]).data
    rates = dict(zip(found.models, found.win_rates(), strict=True))
    # base won once as A, m won once as A, and one game was a tie.
    assert rates == {"base": 0.5, "m": 0.5}
    assert [found.models[i] for i in found.a] == ["base", "m", "m"]


def test_files_say_which_way_is_better(tmp_path):
    for make, name in ((made.lm_eval, "edit_distance"), (made.every_eval_ever, "set")):
        make(tmp_path / make.__name__)
        assert lower_in(tmp_path / make.__name__) == {name}
    made.deepeval(tmp_path / "d")
    assert lower_in(tmp_path / "d") == {"Bias"}


def lower_in(path):
    found = sr.read_scores(path).directions
    return {name for name, way in found.items() if way == "lower"}


def test_samples_of_zstd_are_read(tmp_path):
    """As Inspect writes them since 2026: Python's own zipfile has no zstd before 3.14."""
    samples = [made.inspect_sample(k, 1, "C") for k in range(3)]
    plain = made.write_eval(
        tmp_path / "plain", made.inspect_header("m"), samples, zipfile.ZIP_STORED
    )
    path = tmp_path / "m.eval"
    codec = pa.Codec("zstd")
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as new:
        for info in old.infolist():
            new.writestr(info.filename, codec.compress(old.read(info)).to_pybytes())
    content = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = content.find(mark)
        while place >= 0:
            content[place + offset : place + offset + 2] = (93).to_bytes(2, "little")
            place = content.find(mark, place + 4)
    path.write_bytes(content)
    assert means(sr.read_scores(path)) == {("match", "m"): 1.0}


def test_other_settings_make_other_runs(tmp_path):
    for heat, value in ((0, "C"), (1, "I")):
        header = made.inspect_header("m", task_args={"heat": heat})
        made.write_eval(tmp_path / f"{heat}.eval", header, [made.inspect_sample(1, 1, value)])
    runs = sr.read_scores(tmp_path).runs
    assert runs == ('m (task_args={"heat": 0})', 'm (task_args={"heat": 1})')
    header = made.inspect_header("m", task_args={"heat": 0})
    made.write_eval(tmp_path / "1.eval", header, [made.inspect_sample(1, 1, "I")])
    with pytest.warns(sr.SteadyrankWarning, match="different runs of the same name"):
        assert sr.read_scores(tmp_path).runs == ("0.eval", "1.eval")
    shutil.copy(tmp_path / "0.eval", tmp_path / "1.eval")
    assert sr.read_scores(tmp_path).runs == ("m",)


def test_the_grader_of_a_log_is_the_judge(tmp_path):
    """The same model graded by two others is one run with two judges."""
    for judge, value in (("x", "C"), ("y", "I")):
        header = made.inspect_header("m", model_roles={"grader": {"model": judge}})
        samples = [made.inspect_sample(k, 1, value) for k in range(3)]
        made.write_eval(tmp_path / f"{judge}.eval", header, samples)
    scores = sr.read_scores(tmp_path)
    assert (scores.run_info["system"], scores.run_info["judge"]) == (("m", "m"), ("x", "y"))
    assert means(scores) == {("match", "m"): 0.5}


def test_numbers_and_texts_are_two_samples(tmp_path):
    samples = [made.inspect_sample(1, 1, "C"), made.inspect_sample("1", 1, "I")]
    value = made.inspect_header("m") | {"samples": samples}
    scores = sr.read_scores(made.whole(tmp_path / "a.json", value))
    assert scores.topics == ("set/1", 'set/"1"')
    assert scores.values.ravel().tolist() == [1, 0]


def test_failed_and_invalidated_samples_have_no_score(tmp_path):
    samples = [made.inspect_sample(k, 1, "C") for k in range(3)]
    samples[1]["error"] = {"message": "x"}
    samples[2]["invalidation"] = {"author": "x"}
    value = made.inspect_header("m") | {"samples": samples}
    with pytest.warns(sr.SteadyrankWarning) as told:
        scores = sr.read_scores(made.whole(tmp_path / "a.json", value))
    assert scores.topics == ("set/0",)
    said = " ".join(str(one.message) for one in told)
    assert "1 of 3 samples ended in an error" in said
    assert "1 of 3 samples are invalidated" in said


def test_a_reducer_is_a_measure_of_its_own(tmp_path):
    """The mean of epochs and pass_at_2 may order models in two ways: both are there."""
    samples = [made.inspect_sample(1, e, v) for e, v in ((1, "C"), (2, "I"))]
    reductions = [
        {"scorer": "match", "reducer": name, "samples": [{"sample_id": 1, "value": value}]}
        for name, value in (("pass_at_2", 1.0), ("mean", 0.5))
    ]
    value = made.inspect_header("m") | {"samples": samples, "reductions": reductions}
    scores = sr.read_scores(made.whole(tmp_path / "a.json", value))
    assert means(scores) == {("match", "m"): 0.5, ("match/pass_at_2", "m"): 1.0}


def test_tasks_are_never_averaged_together(tmp_path):
    for task, value in (("one", 1), ("two", 0)):
        rows = [{"doc_id": k, "metrics": ["acc"], "acc": value} for k in range(2)]
        made.lines(tmp_path / "m" / f"samples_{task}_2026-01-01T00-00-00.jsonl", rows)
    scores = sr.read_scores(tmp_path)
    assert means(scores) == {("one/acc", "m"): 1.0, ("two/acc", "m"): 0.0}
    assert scores.topic_info["dataset"] == ("one", "one", "two", "two")


def test_a_log_likelihood_is_not_called_perplexity_and_pairs_are_named(tmp_path):
    rows = [
        {"doc_id": k, "metrics": ["perplexity", "f1"], "perplexity": -2.0, "f1": [0, 1]}
        for k in range(2)
    ]
    path = made.lines(tmp_path / "samples.jsonl", rows)
    with pytest.warns(sr.SteadyrankWarning, match="omitted: f1, which have no value per sample"):
        found = read_forms([path])
    assert found.data.measures == ("log_likelihood",)
    assert found.data.directions == {"log_likelihood": "higher"}


def test_means_of_datasets_are_a_leaderboard(tmp_path):
    for model, shift in (("org__a", 0.0), ("org__b", 0.1)):
        for k, task in enumerate(("NQ", "FiQA")):
            entry = {"hf_subset": "default", "main_score": 0.5 + shift + k / 10}
            value = {"task_name": task, "mteb_version": "1", "scores": {"test": [entry]}}
            made.whole(tmp_path / model / "rev" / f"{task}.json", value)
    board = read_forms([tmp_path]).data
    assert board.runs == ("org/a", "org/b")
    np.testing.assert_allclose(board.values, [[0.6, 0.5], [0.7, 0.6]])
    with pytest.raises(sr.InputError, match="steadyrank datasets PATH"):
        sr.read_scores(tmp_path)


def test_averages_of_an_aggregate_are_left_out(tmp_path):
    names = ["Multi Set", "Multi Set Easy", "Arabic", "Bengali"]
    results = [{"evaluation_name": n, "score_details": {"score": 0.5}} for n in names]
    value = {"schema_version": "0.1.0", "evaluation_id": "multi-set/m/1", "model_info": {"id": "m"}}
    path = made.whole(tmp_path / "a.json", value | {"evaluation_results": results})
    with pytest.warns(sr.SteadyrankWarning, match="means of the other evaluations: Multi Set"):
        assert read_forms([path]).data.datasets == ("Arabic", "Bengali")


def test_ratings_are_judgments(tmp_path):
    ratings = [{"doc_id": "d1", "rating": 2.0}, {"doc_id": "d2", "rating": None}]
    queries = [{"query_text": "q", "ratings": ratings}]
    path = made.whole(tmp_path / "case.json", {"case_name": "c", "queries": queries})
    assert read_forms([path]).data.judgments("q") == {"d1": 2}
    ratings = [{"docId": "d1", "rating": "0.9"}, {"docId": "d2", "rating": "0.0"}]
    value = {"name": "j", "judgmentRatings": [{"query": "q", "ratings": ratings}]}
    path = made.whole(tmp_path / "judgments.json", value)
    with pytest.warns(sr.SteadyrankWarning, match="fractions, which are taken times 10"):
        assert read_forms([path]).data.judgments("q") == {"d1": 9, "d2": 0}


def cut(path):
    path.write_bytes(path.read_bytes()[: len(path.read_bytes()) * 2 // 3])


def emptied(path):
    path.write_bytes(b"")


def renamed(path):
    """Every name in the file becomes another one, as after a change of schema."""
    content = path.read_bytes()
    for name in (b"score", b"samples", b"metrics", b"stats", b"nuggets", b"value", b"id"):
        content = content.replace(b'"' + name + b'"', b'"x_' + name + b'"')
    path.write_bytes(content)


def spoilt(path):
    content = path.read_bytes()
    for number in (b": 1,", b": 1}", b": 0.5", b"\t1\n", b" 1\n"):
        content = content.replace(number, number.replace(b"1", b'"x"').replace(b"0.5", b"[[]]"))
    path.write_bytes(content)


def noise(path):
    path.write_bytes(bytes(range(256)) * 4)


WARTS = (cut, emptied, renamed, spoilt, noise)


@pytest.mark.parametrize("wart", WARTS, ids=lambda wart: wart.__name__)
@pytest.mark.parametrize("make", made.SCORE_FORMS, ids=lambda make: make.__name__)
def test_a_file_that_is_nearly_of_a_form_is_named(tmp_path, make, wart):
    """It is read, or one line says which file is wrong: no traceback, whatever the bytes."""
    make(tmp_path)
    first = min(path for path in tmp_path.rglob("*") if path.is_file())
    wart(first)
    for source in (first, tmp_path):
        said = str(tmp_path)
        try:
            sr.read_scores(source)
        except sr.InputError as error:
            said = str(error)
        assert "\n" not in said
        assert str(tmp_path) in said


def test_errors_name_the_form_the_field_and_the_remedy(tmp_path):
    cases = {
        '{"version": 2, "eval": {"model": "m"}, "samples": [{"id": 1, "epo': "if the file was cut",
        '{"schema_version": "0.4.0", "sample_id": "1", "model_id": "m"}\n': "schema 0.4.0 should",
        '{"testCases": 5}': "DeepEval test runs: expected a list as 'testCases', got 5",
        '{"query_doc_pairs": [5]}': "Quepid ratings: expected an object as a query, got 5",
        '{"model_a": "x", "model_b": "y", "winner": "z"}\n': "expected model_a, model_b, tie",
    }
    for text, message in cases.items():
        path = tmp_path / "a.json"
        path.write_text(text)
        with pytest.raises(sr.FormatError, match="a.json") as told:
            read_forms([path])
        assert message in str(told.value)


def without(row, name):
    return {key: value for key, value in row.items() if key != name}


MT_BENCH = {"question_id": 1, "model": "m", "judge": ["j", "s"], "score": 3, "turn": 1}
NEARLY = {
    "looks like MT-bench answers without 'score'": [without(MT_BENCH, "score")] * 2,
    ":2: MT-bench answers: expected a score as 'score', which is not there": [
        MT_BENCH,
        without(MT_BENCH, "score"),
    ],
    ":2: MT-bench answers: expected a name as 'model', which is not there": [
        MT_BENCH,
        without(MT_BENCH, "model"),
    ],
    "looks like lm-evaluation-harness samples without 'doc_id'": [
        {"metrics": ["acc"], "acc": 1, "filter": "none", "target": "x"}
    ]
    * 2,
    "looks like nuggetizer assignments without 'nuggets'": [
        {"qid": 1, "query": "q", "run_id": "r", "answer_text": []}
    ]
    * 2,
}


@pytest.mark.parametrize("message", NEARLY)
def test_a_record_that_lacks_a_field_is_named_with_it(tmp_path, message):
    path = made.lines(tmp_path / "a.jsonl", NEARLY[message])
    with pytest.raises(sr.FormatError, match="a.jsonl") as told:
        sr.read(path)
    assert message in str(told.value)


def test_files_that_end_early_are_named_with_their_form(tmp_path):
    path = made.lines(tmp_path / "a.jsonl", [MT_BENCH] * 3)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(sr.FormatError, match=":3: MT-bench answers: not a JSON object.*copy it"):
        sr.read(path)
    path.write_text("user_input,response,exact_match\nq1,a,1\nq2\n")
    with pytest.raises(sr.FormatError, match=":3: ragas results: expected 3 columns, got 1.*copy"):
        sr.read(path)
    path.write_text("user_input,response,exact_match\n")
    with pytest.raises(sr.FormatError, match="empty: no scores of single topics"):
        sr.read(path)
    for content in ("", "{}", "[]"):
        path.write_text(content)
        with pytest.raises(sr.FormatError, match="empty"):
            sr.read(path)


def test_a_form_can_be_named(tmp_path):
    made.autojudge_tot(tmp_path)
    assert sr.read_scores(tmp_path / "tot.txt", form="autojudge").measures == ("SCORE",)
    with pytest.raises(sr.InputError, match="unknown form 'inspekt': did you mean 'inspect'?"):
        sr.read_scores(tmp_path / "tot.txt", form="inspekt")


def test_runs_and_judgments_have_none_of_the_forms(tmp_path):
    texts = {
        "a.run": "q1 Q0 d1 1 0.5 x\nq1 Q0 d2 2 0.4 x\nq2 Q0 d1 1 0.5 x\n",
        "a.qrels": "q1 0 d1 1\nq2 0 d1 0\n",
        "a.csv": "measure,run,topic,value\nAP,a,1,0.5\n",
        "a.json": json.dumps({"q1": {"d1": 1}}),
        "a.jsonl": '{"qid": "q1", "docno": "d1", "score": 0.5}\n',
        "a.tsv": "topic\ta\tb\n1\t0.5\t0.2\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        assert read_parts([tmp_path / name]) == [], name
