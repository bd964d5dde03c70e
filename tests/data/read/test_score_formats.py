"""Scores as other tools print them, made by these tools where they can be installed."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

import steadyrank as sr
from steadyrank.data.facets import averaged_facets
from steadyrank.data.table_rules import is_summary

GRADES = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "c": 2}, "10": {"b": 1}}
RUN = {"1": {"a": 1.0, "b": 2.0}, "2": {"a": 3.0, "c": 1.0, "d": 2.0}, "10": {"b": 0.5}}
OTHER = {"1": {"a": 3.0, "b": 2.0}, "2": {"c": 3.0}, "10": {"a": 1.0, "b": 0.5}}


@pytest.fixture
def files(write):
    """Judgments and a run as TREC text."""
    write("qrels.txt", "".join(f"{t} 0 {d} {g}\n" for t, x in GRADES.items() for d, g in x.items()))
    lines = (f"{t} Q0 {d} 1 {s} one\n" for t, x in RUN.items() for d, s in x.items())
    return write("one.run", "".join(lines)).parent


def values(scores):
    """Cells by measure, run and topic, those without a score left out."""
    frame = scores.to_frame().dropna()
    return {(m, r, t): v for m, r, t, v in frame.itertuples(index=False)}


TREC_EVAL = """map                   \t1\t0.5000
relstring             \t1\t'01'
map                   \t2\t0.3333
runid                 \tall\tbm25
num_q                 \tall\t2
map                   \tall\t0.4167
"""


def test_what_trec_eval_prints_is_read(write):
    expected = {("map", "bm25", "1"): 0.5, ("map", "bm25", "2"): 0.3333}
    for text in (TREC_EVAL, TREC_EVAL.replace("\n", "\r\n"), "\ufeff" + TREC_EVAL):
        assert values(sr.read_scores(write("x.eval", text))) == expected
    unnamed = "".join(line for line in TREC_EVAL.splitlines(True) if "runid" not in line)
    assert sr.read_scores(write("x.eval", unnamed)).runs == ("x.eval",)
    both = TREC_EVAL + TREC_EVAL.replace("bm25", "dense").replace("0.5000", "0.6000")
    scores = sr.read_scores(write("x.eval", both))
    assert scores.runs == ("bm25", "dense")
    assert scores.values[0].tolist() == [[0.5, 0.3333], [0.6, 0.3333]]


def in_form(message):
    """The pattern of a message with the name of a form in front of what is wrong."""
    place, _, wrong = message.partition(": ")
    return f"{place}: .*{wrong}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TREC_EVAL + "map\t3\n", "x.eval:7: expected measure, topic and value, got 2 fields"),
        (TREC_EVAL + "map\t3\tx\n", "x.eval:7: expected a score, got 'x'"),
        (TREC_EVAL + "map\t\t1\n", "x.eval:7: expected the name of a topic, got an empty field"),
        (TREC_EVAL + "map\t3\tinf\n", "x.eval:7: expected a score, got 'inf'"),
        ("map\t1\t0.5\nmap\t1\t0.5\n", "x.eval:2: a second value for map / x.eval / 1"),
        ("map\tall\t0.5\n", "x.eval: holds only summaries: run trec_eval with -q"),
        ("all\tAP\t0.5\n", "x.eval: holds only summaries: run ir_measures with --by_query"),
        ("1\tAP\t0.5\n1\tAP\n", "x.eval:2: expected topic, measure and value, got 2 fields"),
    ],
)
def test_bad_lines_of_tools_are_named(write, text, message):
    with pytest.raises(sr.FormatError, match=in_form(message)):
        sr.read_scores(write("x.eval", text))


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_what_ir_measures_prints_is_read(files, form):
    command = [sys.executable, "-m", "ir_measures", files / "qrels.txt", files / "one.run"]
    options = ["AP P@5 nDCG@10", "-q", "-o", form, *(["-p", "-1"] if form == "tsv" else [])]
    made = subprocess.run([*command, *options], capture_output=True, text=True, check=True)
    path = files / f"one.{form}"
    path.write_text(made.stdout)
    scores = sr.read_scores(path)
    assert scores.runs == (f"one.{form}",)
    assert set(scores.topics) == set(GRADES)
    ours = sr.evaluate(files / "one.run", files / "qrels.txt", scores.measures)
    expected = ours.select(topics=scores.topics).values
    np.testing.assert_allclose(scores.values, expected, rtol=1e-12)


def test_the_dictionary_of_pytrec_eval_as_json(tmp_path):
    evaluator = pytrec_eval.RelevanceEvaluator(GRADES, {"map", "P.5"})
    found = evaluator.evaluate(RUN)
    path = tmp_path / "bm25.json"
    expected = {(m, "bm25.json", t): v for t, row in found.items() for m, v in row.items()}
    for indent in (None, 1):
        path.write_text(json.dumps(found, indent=indent))
        assert values(sr.read_scores(path)) == expected
    path.write_text(json.dumps({"a": found, "b": evaluator.evaluate(OTHER)}))
    assert sr.read_scores(path).runs == ("a", "b")


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
    lambda name: name == name.strip() and not is_summary(name)
)
cells = st.floats(0, 1) | st.integers(0, 9)
measures = st.sampled_from(["map", "P_5", "AP", "nDCG@10", "Success@1(rel=2)"]) | names
tables = st.lists(measures, min_size=1, unique=True).flatmap(
    lambda same: st.dictionaries(
        names, st.fixed_dictionaries(dict.fromkeys(same, cells)), min_size=1
    )
)


@pytest.mark.filterwarnings("ignore:.*under two names|.*is at most 1")
@settings(deadline=None)
@given(tables)
def test_any_dictionary_of_scores_reads_back(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(table))
    expected = {(m, "a.json", t): float(v) for t, row in table.items() for m, v in row.items()}
    assert values(sr.read_scores(path)) == expected


BAD_JSON = [
    ('{"1": {"map": 0.5,\n"map": 1}}', ": 'map' occurs twice in one object"),
    ('{"1": {"map": 0.5,\n"P": "x"}}', ": expected a score as P of topic '1', got 'x'"),
    ('{"1": {"map": Infinity}}', ": expected a score as map of topic '1', got inf"),
    ('{"1": {"map": 0.5}, "2": 1}', ": expected {measure: value}, got 1 for topic '2'"),
    ('{"1": {"map": 0.5}', ":1: not JSON"),
    ("[[1, 2]]", ": expected one JSON object, {topic: {measure: value}}, got a list"),
    ('{"1": {}}', ": empty"),
    ('{"metric_score": 1, "details": {"q": 5}}', ": expected an object with a metric_score"),
    ('{"version": 2, "eval": {"model": "m"}}', ": Inspect logs: a log without samples"),
    (
        '{"version": 2, "eval": {}, "samples": [{}]}',
        ": Inspect logs: expected an object with an id in sample 1",
    ),
    ('{"query_id": "1", "measure": "AP"}\n', ":1: expected a column 'value'"),
    (
        '{"doc_id": 0, "metrics": ["acc"], "acc": [1]}\n',
        ":1: lm-evaluation-harness samples: expected metrics with a number",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD_JSON)
def test_bad_json_of_scores_is_named(write, text, message):
    with pytest.raises(sr.FormatError, match="bad.json" + in_form(message)) as told:
        sr.read_scores(write("bad.json", text))
    assert "\n" not in str(told.value)


def rank_eval(score):
    """An answer of Elasticsearch's ranking evaluation API, in the form that its manual shows."""
    hit = {"hit": {"_index": "i", "_id": "a", "_score": 1.0}, "rating": None}
    inside = {"relevant_docs_retrieved": 6, "docs_retrieved": 10}
    detail = {
        "metric_score": score,
        "unrated_docs": [{"_index": "i", "_id": "a"}],
        "hits": [hit],
        "metric_details": {"precision": inside},
    }
    return {"metric_score": 0.4, "details": {"q1": detail, "q2": detail}, "failures": {}}


@pytest.mark.parametrize("indent", [None, 2])
def test_answers_of_rank_eval(tmp_path, indent):
    (tmp_path / "new.json").write_text(json.dumps(rank_eval(0.6), indent=indent))
    scores = sr.read_scores(tmp_path / "new.json")
    expected = {("precision", "new.json", "q1"): 0.6, ("precision", "new.json", "q2"): 0.6}
    assert values(scores) == expected
    assert sr.read_scores(tmp_path / "new.json", measure="P@10").measures == ("P@10",)


def inspect_log(model, verdicts):
    samples = [
        {"id": k, "epoch": epoch, "scores": {"match": {"value": verdict, "answer": "x"}}}
        for epoch in (1, 2)
        for k, verdict in enumerate(verdicts)
    ]
    return {"version": 2, "status": "success", "eval": {"model": model}, "samples": samples}


def test_logs_of_inspect(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log("openai/x", ["C", "I", "P", 0.25, True])))
    scores = sr.read_scores(path)
    assert (scores.measures, scores.runs) == (("match",), ("openai/x/1", "openai/x/2"))
    assert scores.run_info == {"system": ("openai/x",) * 2, "answer": ("1", "2")}
    assert scores.values[0].tolist() == [[1.0, 0.0, 0.5, 0.25, 1.0]] * 2
    assert averaged_facets(scores).runs == ("openai/x",)
    log = inspect_log("m", [{"f1": 0.5, "exact": 0}])
    log["samples"][1]["scores"]["match"]["value"] = {"f1": 1.0, "exact": 0}
    path.write_text(json.dumps(log, indent=2))
    expected = {("match/f1", "m", "0"): 0.75, ("match/exact", "m", "0"): 0.0}
    assert values(averaged_facets(sr.read_scores(path))) == expected


def test_samples_of_lm_eval_harness(tmp_path):
    paths = []
    for model, correct in (("org__a", 1.0), ("org__b", 0.0)):
        paths.append(tmp_path / model / "samples_gsm8k_2026-01-01T00-00-00.jsonl")
        paths[-1].parent.mkdir()
        rows = [
            {
                "doc_id": k,
                "doc": {"question": "?"},
                "filter": name,
                "metrics": ["exact_match"],
                "exact_match": correct,
            }
            for k in (0, 1)
            for name in ("strict-match", "none")
        ]
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = sr.read_scores(paths)
    assert scores.runs == ("org__a", "org__b")
    assert scores.measures == ("exact_match,strict-match", "exact_match")
    assert scores.matrix("exact_match").tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_files_of_one_run_are_joined_and_other_runs_of_its_name_kept_apart(write):
    first = write("a.eval", TREC_EVAL)
    more = write("b.eval", TREC_EVAL.replace("map", "bpref"))
    assert sr.read_scores([first, more]).runs == ("bm25",)
    other = write("c.eval", TREC_EVAL.replace("0.5000", "0.7500"))
    with pytest.warns(
        sr.SteadyrankWarning, match="2 files hold different runs of the same name"
    ) as told:
        scores = sr.read_scores([first, other])
    assert len(told) == 1
    assert scores.runs == ("a.eval", "c.eval")
    assert scores.values[0].tolist() == [[0.5, 0.3333], [0.75, 0.3333]]


def ntcireval(topic, q, cut):
    """Lines of one topic, in the form of ntcir_eval.c's printf."""
    head = f"{topic} # syslen=10 jrel=3 jnonrel=5\n{topic} # r1=1 rp=1\n"
    measures = {"RR=": 1.0, "Q-measure=": q, "NCUgu,BR=": 0.25, "P-plus=": 0.5}
    measures |= {"MSnDCG@0010=": cut, "Hit@0005=": 1.0}
    return head + "".join(f"{topic} {name:<21}{x:.4f}\n" for name, x in measures.items())


def test_what_ntcireval_prints_is_read(write):
    path = write("bm25.nev", ntcireval("0001", 0.5, 0.625) + ntcireval("0002", 0.25, 0.375))
    scores = sr.read_scores(path)
    assert scores.measures == ("RR", "Q", "NCUgu,BR", "Pplus", "MSnDCG@10", "Success@5")
    assert (scores.runs, scores.topics) == (("bm25.nev",), ("0001", "0002"))
    assert scores.select(measures=["Q", "MSnDCG@10"]).values.tolist() == [
        [[0.5, 0.25]],
        [[0.625, 0.375]],
    ]
