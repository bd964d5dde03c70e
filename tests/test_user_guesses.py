"""What users of other tools type before they read the help: it works, or the error says how.

Of trec_eval, pytrec_eval, ir_measures, ranx, PyTerrier, MTEB, pandas, statsmodels and
Elasticsearch: commands with their options, calls in Python, and files. A guess with an answer must
fail with one line that holds it; one without must work.
"""

from __future__ import annotations

import gzip
import shlex

import numpy as np
import pytest

import steadyrank as sr
from steadyrank import cli

COMMANDS = {
    # trec_eval
    "trec_eval qrels.txt runs/bm25.run": "",
    "evaluate -m ndcg_cut_10 qrels.txt runs/bm25.run": "",
    "evaluate -J qrels.txt runs/bm25.run": "judged_only=True",
    "evaluate runs/bm25.run qrels.txt": "swapped?",
    "evaluate -c -q -m map -m P.5,10 qrels.txt runs/bm25.run": "",
    "evaluate -m all_trec qrels.txt runs/bm25.run": "unknown measure 'all_trec'",
    # ir_measures
    "evaluate qrels.txt runs/bm25.run -m AP,nDCG@10,P@5": "",
    "evaluate qrels.txt runs/bm25.run AP nDCG@10": "no such file",
    "evaluate qrels.txt runs/bm25.run -m 'AP nDCG@10'": "",
    # ranx
    "compare qrels.txt runs --stat-test fisher --n-permutations 100": "",
    "compare qrels.txt runs --metrics ndcg@10 --threads 2 --output-format csv": "",
    # PyTerrier
    "compare qrels.txt runs --baseline 0": "unknown run '0'",
    "compare qrels.txt runs --baseline BM25": "did you mean 'bm25'?",
    "compare qrels.txt runs -m map --filter-by-qrels": "No such option",
    "compare qrels.txt splade=runs/splade.run bm25=runs/bm25.run": "",
    "evaluate qrels.txt splade=splade.run.gz": "",
    # MTEB and leaderboards
    "mteb leaderboard.csv": "",
    # Elasticsearch and search engineers
    "gate qrels.txt runs/bm25.run runs/splade.run -m nDCG@10=0.2": "",
    "gate qrels.txt runs/bm25.run runs/splade.run": "--margin",
    "gate --scores scores.csv bm25 splade -m AP=0.2": "",
    "gate --scores scores.csv -m AP=0.2": "BASELINE CANDIDATE",
    "ab-test qrels.txt runs": "unknown command 'ab-test'",
    "evaluate qrels.csv.gz run.csv": "",
    "evaluate qrels.txt run.tsv": "",
    "evaluate ntcir.txt runs": "",
    "compare --scores bm25.nev --scores splade.nev -m Q": "",
    "gate qrels.txt old=runs/bm25.run new=runs/splade.run --margin 0.2": "",
    "compare qrels.txt runs --baseline bm25.run": "",
    "compare qrels.txt runs --baseline runs/bm25.run": "",
    "compare qrels.txt runs --control bm25": "",
    # pandas, statsmodels, and any other command line
    "evaluate qrels.txt runs --output out.csv": "",
    "evaluate qrels.txt runs -o out.xlsx": "name a file that ends in",
    "compare qrels.txt runs --verbose": "No such option",
    "compare --qrels qrels.txt --runs runs": "",
    "compare --scores bm25.txt --scores scores.csv -m map": "",
    "compare --scores scores.csv --topic-info topics.csv --by orgin": "did you mean 'origin'?",
    "evaluate --scores bm25.txt -m map": "",
    "plan --scores scores.csv --test t": "",
    "plan --scores scores.csv --power 0.9": "--power",
    "validate qrels.txt runs": "",
    "judges qrels.txt runs --judge gpt=second.txt --samples 99": "",
    "reproduce sakai": "sakai2016",
    "help": "--help",
}
"""A command line, and what the error must say; nothing where it works."""

CALLS = {
    # trec_eval and pytrec_eval
    "sr.evaluate('runs/bm25.run', 'qrels.txt', {'map', 'ndcg'})": "",
    "sr.evaluate({'q1': {'d1': 1.0}}, {'q1': {'d1': 1}}, 'map')": "",
    # ir_measures
    "sr.evaluate('qrels.txt', 'runs/bm25.run', ['AP', 'P@5'])": "",
    "sr.evaluate('runs', 'runs')": "swapped?",
    "sr.evaluate('qrels.txt', 'qrels.txt')": "got 4, as judgments have",
    "sr.evaluate('runs', 'qrels.txt', measure='AP')": "",
    # ranx
    "sr.compare('qrels.txt', 'runs', ['mrr', 'ndcg@10'])": "",
    "sr.compare('runs', 'qrels.txt', metrics=['mrr'])": "did you mean measures?",
    "sr.compare('runs', 'qrels.txt', stat_test='t')": "did you mean test?",
    "sr.compare('runs', 'qrels.txt').to_dataframe()": "no attribute 'to_dataframe'",
    "sr.Run({'q1': {'d1': 1.0}})": "`sr.as_run(...)` makes one",
    "sr.read_run('runs/bm25.run').rename('BM25')": "",
    "sr.evaluate({'BM25': 'runs/bm25.run', 'SPLADE': 'splade.run.gz'}, 'qrels.txt')": "",
    "sr.evaluate(['BM25=runs/bm25.run'], 'qrels.txt', 'map,ndcg')": "",
    "sr.read_qrels('qrels.csv.gz')": "",
    # PyTerrier
    "sr.compare(sr.evaluate('runs', 'qrels.txt', 'AP').to_frame())": "",
    "sr.compare('runs', 'qrels.txt', baseline=0)": "unknown run '0'",
    # MTEB
    "sr.read_leaderboard('leaderboard.csv')": "",
    # pandas and statsmodels
    "sr.compare(pd.read_csv('scores.csv'))": "",
    "sr.compare(pd.read_csv('wide.csv', index_col='topic'))": "",
    "sr.compare(pd.read_csv('scores.csv').pivot(index='topic', columns='run', values='value'))": "",
    "sr.compare(pd.read_csv('wide.csv'), 'AP')": "",
    "sr.compare(pd.read_csv('wide.csv', index_col='topic').to_numpy().T)": "",
    "sr.compare(pd.read_csv('wide.csv', index_col='topic').to_numpy().T.tolist())": "",
    "sr.compare(dict(pd.read_csv('wide.csv', index_col='topic')))": "",
    "sr.compare(pa.Table.from_pandas(pd.read_csv('wide.csv')))": "",
    "sr.compare([0.1, 0.5, 0.3, 0.4], [0.2, 0.6, 0.5, 0.5])": "",
    "sr.Scores.from_frame(pd.read_csv('wide.csv'), measure='AP').mean()": "",
    "sr.evaluate(sr.run_from_frame(pd.read_csv('run.csv')), 'qrels.txt')": "",
    "sr.datasets(pd.read_csv('leaderboard.csv').set_index('model'))": "",
    "(sr.read('wide.csv').mean(), sr.read('qrels.txt').topics, sr.read('runs'))": "",
    "sr.stability('wide.csv', measure='AP')": "",
    "sr.plan('scores.csv', rng=1)": "it draws no random numbers",
    "sr.compare('scores.csv', test='ttest')": "",
    "sr.evaluate('runs', 'qrels.txt', 'AP').summary()": "",
    "sr.plan('scores.csv', test='anova')": "",
    "sr.plan('scores.csv', test='wilcoxon')": "unknown test 'wilcoxon'",
    "sr.read_run('run.csv')": "",
    "sr.report(pd.read_csv('scores.csv'), out='page.html', budget='1s')": "",
    "sr.report('scores.csv', out='page.html', quick=True)": "unexpected keyword argument 'quick'",
    # Elasticsearch and search engineers
    "sr.gate('qrels.txt', 'runs/bm25.run', 'runs/splade.run', margin=0.2)": "",
    "sr.gate('runs/bm25.run', 'runs/splade.run', 'qrels.txt', 'AP', margin=0.2)": "",
    "sr.gate(pd.read_csv('old.csv'), pd.read_csv('new.csv'), 'AP', margin=0.2)": "",
    "sr.judges('qrels.txt', 'runs', {'gpt': 'second.txt'}, n_samples=99)": "",
}
"""An expression, and what the error must say; nothing where it works."""

N_TOPICS = 12


def _ranking(seed):
    """Scores of ten documents on every topic: {topic: {document: score}}."""
    scores = np.random.default_rng(seed).random((N_TOPICS, 10)).round(4)
    return {
        f"q{t + 1}": {f"d{i}": float(x) for i, x in enumerate(row)} for t, row in enumerate(scores)
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A student's folder: judgments, runs, scores in several forms, a leaderboard."""
    root = tmp_path_factory.mktemp("guesses")
    write_folder(root)
    return root


def write_folder(root):
    topics = [f"q{t + 1}" for t in range(N_TOPICS)]
    grades = {q: {f"d{i}": (i * i + t) % 3 for i in range(8)} for t, q in enumerate(topics)}
    sr.write_qrels(sr.qrels_from_dict(grades), root / "qrels.txt")
    other = {
        q: {d: max(0, g - (i + 1) % 2) for i, (d, g) in enumerate(own.items())}
        for q, own in grades.items()
    }
    sr.write_qrels(sr.qrels_from_dict(other), root / "second.txt")
    (root / "runs").mkdir()
    for seed, name in enumerate(("bm25", "splade", "dense")):
        run = sr.run_from_dict(_ranking(seed), name=name)
        sr.write_run(run, root / "runs" / f"{name}.run")
    packed = gzip.compress((root / "runs" / "splade.run").read_bytes())
    (root / "splade.run.gz").write_bytes(packed)
    scores = sr.evaluate(root / "runs", root / "qrels.txt", "AP")
    sr.write_scores(scores, root / "scores.csv")
    sr.write_scores(scores, root / "wide.csv", wide=True)
    for file, name in (("old", "bm25"), ("new", "splade")):
        sr.write_scores(scores.select(runs=name), root / f"{file}.csv")
    per_topic = scores.select(runs="bm25").values[0, 0]
    lines = [f"map\t{q}\t{x:.4f}" for q, x in zip(scores.topics, per_topic, strict=True)]
    (root / "bm25.txt").write_text("\n".join([*lines, f"map\tall\t{per_topic.mean():.4f}"]) + "\n")
    origins = [f"{q},{'web' if t % 2 else 'log'}" for t, q in enumerate(topics)]
    (root / "topics.csv").write_text("\n".join(["topic,origin", *origins]) + "\n")
    rng = np.random.default_rng(7)
    board = [",".join([f"model{m}", *(f"{x:.3f}" for x in rng.random(9))]) for m in range(6)]
    header = ",".join(["model", *(f"task{k}" for k in range(9))])
    (root / "leaderboard.csv").write_text("\n".join([header, *board]) + "\n")
    rows = [f"{q},{d},{s}" for q, own in _ranking(0).items() for d, s in own.items()]
    (root / "run.csv").write_text("\n".join(["qid,docno,score", *rows]) + "\n")
    rows = [f"{q},{d},{g}" for q, own in grades.items() for d, g in own.items()]
    (root / "qrels.csv").write_text("\n".join(["query_id,doc_id,relevance", *rows]) + "\n")

    packed = gzip.compress((root / "qrels.csv").read_bytes())
    (root / "qrels.csv.gz").write_bytes(packed)
    (root / "run.tsv").write_text((root / "run.csv").read_text().replace(",", "\t"))
    lines = [f"{q} {d} L{g}\n" for q, own in grades.items() for d, g in own.items()]
    (root / "ntcir.txt").write_text("".join(lines))
    for name, values in (("bm25", per_topic), ("splade", per_topic[::-1])):
        lines = [
            f"{q} # r1=1\n{q} Q-measure= {x:.4f}\n" for q, x in zip(topics, values, strict=True)
        ]
        (root / f"{name}.nev").write_text("".join(lines))
    (root / "names.tsv").write_text("bm25\tBM25\nsplade.run\tSPLADE\n")


def _guess(typed, answer):
    return pytest.param(typed, answer, id=typed)


@pytest.fixture(autouse=True)
def at_home(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.mark.parametrize(("typed", "answer"), [_guess(*one) for one in COMMANDS.items()])
def test_a_command_works_or_is_answered(typed, answer, capsys):
    code = cli.run(shlex.split(typed))
    out, err = capsys.readouterr()
    if not answer:
        assert code in (0, 3, 4), err  # a gate may also fail, or be undecided
        assert out or "-o" in typed
        return
    assert code == 2, out
    assert answer in err
    assert err.count("\n") == 1


@pytest.mark.filterwarnings("ignore::steadyrank.SteadyrankWarning")
@pytest.mark.parametrize(("typed", "answer"), [_guess(*one) for one in CALLS.items()])
def test_a_call_works_or_is_answered(typed, answer):
    import pandas as pd
    import pyarrow as pa

    names = {"sr": sr, "pd": pd, "pa": pa}
    names |= dict.fromkeys(("qrel", "qrels", "run", "topics"))
    if not answer:
        eval(typed, names)
        return
    with pytest.raises((sr.SteadyrankError, AttributeError, TypeError)) as told:
        eval(typed, names)
    assert answer in str(told.value)
