"""What somebody in a notebook types first, with data as they have it: the share that works."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import steadyrank as sr

GUESSES = """
sr.read('scores.csv')
sr.read('qrels.txt').topics
sr.read('runs')
sr.read('runs/a.run')
sr.read('run.csv')
sr.read('log.jsonl').runs
sr.read('*.jsonl').measures
sr.compare('scores.csv')
sr.compare('wide.csv')
sr.compare('log.jsonl')
sr.compare('.', form='inspect')
sr.compare(M)
sr.compare(M.T)
sr.compare(list(M))
sr.compare(M[0], M[1])
sr.compare({'a': M[0], 'b': M[1]})
sr.compare({'a': wide['a'], 'b': wide['b']})
sr.compare(wide['a'], wide['b'])
sr.compare(a=M[0], b=M[1])
sr.compare(wide)
sr.compare(wide.reset_index())
sr.compare(wide.T)
sr.compare(long)
sr.compare(long.rename(columns={'run': 'model', 'topic': 'query', 'value': 'score'}))
sr.compare(long.rename(columns={'run': 'system', 'topic': 'qid', 'value': 'ndcg'}))
sr.compare(long, 'AP')
sr.compare(metrics)
sr.compare(pl.from_pandas(long))
sr.compare(sr.Scores.from_frame(wide))
sr.compare(runs, qrels)
sr.compare(runs_frame, qrels)
sr.compare(pl.from_pandas(runs_frame), qrels)
sr.evaluate(runs_frame, qrels_frame, 'nDCG@10').to_frame()
sr.evaluate(sr.run_from_frame(runs_frame[runs_frame['run'] == 'a']), qrels)
sr.as_run(runs_frame[runs_frame['run'] == 'b'])
sr.Scores.from_frame(long)
sr.Scores.from_frame(wide, measure='AP').mean()
sr.Scores(M)
sr.compare(wide).pvalues
sr.gate(wide[['a']], wide[['b']], margin=0.5).passed
sr.gate(sr.Scores.from_frame(wide[['a']]), sr.Scores.from_frame(wide[['b']]), margin=0.5).passed
sr.datasets(board)
sr.stability(wide)
""".strip().splitlines()


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("notebook")
    matrix = rng.random((3, 20)).round(3)
    topics = [f"q{k}" for k in range(20)]
    wide = pd.DataFrame(matrix.T, index=pd.Index(topics, name="topic"), columns=list("abc"))
    long = wide.reset_index().melt("topic", var_name="run")
    rows = [
        (topic, f"d{k}", float(rng.random()), run)
        for run in "ab"
        for topic in topics
        for k in range(5)
    ]
    runs_frame = pd.DataFrame(rows, columns=["query", "doc", "score", "run"])
    qrels = {topic: {f"d{k}": k % 2 for k in range(5)} for topic in topics}
    judged = [(topic, doc, grade) for topic, own in qrels.items() for doc, grade in own.items()]
    wide.to_csv(folder / "wide.csv")
    long.to_csv(folder / "scores.csv", index=False)
    runs = {
        name: {q: dict(zip(own["doc"], own["score"], strict=True)) for q, own in f.groupby("query")}
        for name, f in runs_frame.groupby("run")
    }
    (folder / "runs").mkdir()
    for name, run in runs.items():
        sr.write_run(sr.run_from_dict(run, name=name), folder / "runs" / f"{name}.run")
    sr.write_qrels(sr.qrels_from_dict(qrels), folder / "qrels.txt")
    first = runs_frame[runs_frame["run"] == "a"][["query", "doc", "score"]]
    first.rename(columns={"query": "qid", "doc": "docno"}).to_csv(folder / "run.csv", index=False)
    line = '{{"run_id": "{}", "topic_id": "{}", "measure": "M", "value": {}}}\n'
    cells = zip(long["run"], long["topic"], long["value"], strict=True)
    (folder / "log.jsonl").write_text("".join(line.format(*cell) for cell in cells))
    metrics = long.rename(columns={"topic": "qid", "value": "map"}).assign(ndcg=rng.random(60))
    board = pd.DataFrame(rng.random((4, 8)), columns=[f"set{k}" for k in range(8)])
    board.insert(0, "model", list("wxyz"))
    given = {"M": matrix, "wide": wide, "long": long, "runs": runs, "qrels": qrels}
    given |= {"runs_frame": runs_frame, "metrics": metrics, "board": board}
    given["qrels_frame"] = pd.DataFrame(judged, columns=["query", "doc", "relevance"])
    return folder, given | {"sr": sr, "pd": pd, "pl": pl, "np": np}


@pytest.fixture(scope="module")
def outcomes(names):
    folder, given = names
    found = {}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.chdir(folder)
        warnings.simplefilter("ignore")
        for guess in GUESSES:
            try:
                eval(guess, dict(given))
                found[guess] = None
            except Exception as error:
                found[guess] = error
    return found


def test_most_first_guesses_work(outcomes):
    worked = sum(error is None for error in outcomes.values())
    assert worked / len(outcomes) >= 0.85, [own for own, error in outcomes.items() if error]


def test_those_that_fail_say_what_to_do(outcomes):
    for guess, error in outcomes.items():
        assert error is None or isinstance(error, (sr.InputError, AttributeError, TypeError)), guess
