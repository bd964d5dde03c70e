"""Small files in the schemas of evaluation tools, of our own making, and what they hold.

Every maker writes files below a folder and returns what plain Python expects of them: the mean
over topics, of the means of a topic's answers, by measure and run.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from statistics import fmean

SCORES = {"alpha": [1, 0, 1, 1], "beta": [0, 0, 1, 0.5]}


def lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def whole(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.StringIO()
    writer = csv.DictWriter(text, [*rows[0]])
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue())
    return path


def expected(measure):
    return {(measure, run): fmean(own) for run, own in SCORES.items()}


def every_eval_ever(root):
    for run, own in SCORES.items():
        rows = [
            {
                "schema_version": "0.3.0",
                "evaluation_id": f"set/{run}/1",
                "model_id": run,
                "evaluation_name": "set",
                "evaluation_result_id": None,
                "sample_id": str(k),
                "sample_hash": f"h{k}",
                "evaluation": {"score": value, "is_correct": value == 1},
                "error": None,
            }
            for k, value in enumerate(own)
        ]
        lines(root / run / "x_samples.jsonl", rows)
        config = {"lower_is_better": True}
        results = [{"evaluation_name": "set", "metric_config": config}]
        results[0]["score_details"] = {"score": 0.5}
        about = {"schema_version": "0.3.0", "model_info": {"id": run}}
        whole(root / run / "x.json", about | {"evaluation_results": results})
    return expected("set")


def inspect_sample(k, epoch, value):
    return {"id": k, "epoch": epoch, "scores": {"match": {"value": value, "answer": "x"}}}


def inspect_header(run, **more):
    about = {"task": "set", "model": run, "task_args": {}} | more
    return {"version": 2, "status": "success", "eval": about}


def inspect(root):
    letters = {1: "C", 0: "I", 0.5: "P"}
    for run, own in SCORES.items():
        samples = [inspect_sample(k, e, letters[v]) for e in (1, 2) for k, v in enumerate(own)]
        write_eval(root / f"{run}.eval", inspect_header(run), samples)
    return expected("match")


def write_eval(path, header, samples, packing=zipfile.ZIP_DEFLATED):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", packing) as archive:
        for sample in samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, json.dumps(sample))
        archive.writestr("header.json", json.dumps(header))
    return path


def inspect_json(root):
    for run, own in SCORES.items():
        samples = [inspect_sample(k, 1, value) for k, value in enumerate(own)]
        whole(root / f"{run}.json", inspect_header(run) | {"samples": samples})
    return expected("match")


def lm_eval(root):
    stamp = "2026-01-01T00-00-00.1"
    for run, own in SCORES.items():
        rows = [
            {"doc_id": k, "filter": "none", "metrics": ["edit_distance"], "edit_distance": value}
            for k, value in enumerate(own)
        ]
        lines(root / run / f"samples_set_{stamp}.jsonl", rows)
        ways = {"set": {"edit_distance": False}}
        about = {"results": {"set": {"edit_distance,none": 1.0}}, "higher_is_better": ways}
        whole(root / run / f"results_{stamp}.json", about | {"n-shot": {"set": 0}})
    return expected("edit_distance")


def helm(root):
    for run, own in SCORES.items():
        folder = root / f"task:x=1,model={run}"
        stats = [
            {
                "instance_id": f"id{k}",
                "train_trial_index": 0,
                "stats": [
                    {"name": {"name": "exact_match", "split": "test"}, "count": 1, "sum": value},
                    {"name": {"name": "num_output_tokens", "split": "test"}, "count": 1, "sum": 9},
                ],
            }
            for k, value in enumerate(own)
        ]
        whole(folder / "per_instance_stats.json", stats)
        whole(folder / "run_spec.json", {"adapter_spec": {"model": run}})
        whole(folder / "stats.json", [])
    return expected("exact_match")


def promptfoo_rows():
    for run, own in SCORES.items():
        for k, value in enumerate(own):
            yield {
                "promptIdx": 0,
                "prompt": {"label": "What?"},
                "provider": {"id": "file://p.js", "label": run},
                "vars": {"q": k},
                "score": value,
                "success": value == 1,
                "namedScores": {},
                "gradingResult": {},
            }


def promptfoo(root):
    whole(
        root / "out.json",
        {"evalId": "e", "results": {"version": 3, "results": [*promptfoo_rows()]}},
    )
    return expected("score")


def promptfoo_v4(root):
    whole(root / "out.json", {"evalId": "e", "config": {}, "results": [*promptfoo_rows()]})
    return expected("score")


def promptfoo_lines(root):
    lines(root / "out.jsonl", promptfoo_rows())
    return expected("score")


def promptfoo_v1(root):
    rows = [
        {"prompt": {"display": run}, "vars": {"q": k}, "success": value == 1, "response": {}}
        for run, own in SCORES.items()
        for k, value in enumerate(own)
    ]
    whole(root / "out.json", {"version": 1, "results": rows, "stats": {}, "table": {}})
    return {("success", f"[{run}]"): fmean(v == 1 for v in own) for run, own in SCORES.items()}


def deepeval(root):
    for run, own in SCORES.items():
        cases = [
            {
                "name": f"test_case_{k}",
                "input": f"q{k}",
                "metricsData": [
                    {"name": "Bias", "threshold": 0.75, "success": value <= 0.75, "score": value}
                ],
            }
            for k, value in enumerate(own)
        ]
        whole(root / f"{run}.json", {"testCases": cases, "identifier": run, "hyperparameters": {}})
    return expected("Bias")


def deepeval_wrapped(root):
    deepeval(root / "x")
    for run in SCORES:
        path = root / "x" / f"{run}.json"
        whole(path, {"testRunData": json.loads(path.read_text())})
    return expected("Bias")


def ragas(root):
    for run, own in SCORES.items():
        rows = [
            {"user_input": f"q{k}, is it?", "response": "x", "rouge_score(mode=f)": value}
            for k, value in enumerate(own)
        ]
        table(root / f"{run}.csv", rows)
    return {("rouge_score(mode=f)", f"{run}.csv"): fmean(own) for run, own in SCORES.items()}


def ragas_columns(root):
    for run, own in SCORES.items():
        columns = {
            "user_input": {k: f"q{k}" for k in range(4)},
            "response": dict.fromkeys(range(4)),
        }
        whole(root / f"{run}.json", columns | {"faithfulness": dict(enumerate(own))})
    return {("faithfulness", f"{run}.json"): fmean(own) for run, own in SCORES.items()}


def mt_bench(root):
    rows = [
        {"question_id": k, "model": run, "judge": ["gpt", "v1"], "score": value, "turn": 1}
        for run, own in SCORES.items()
        for k, value in enumerate(own)
    ]
    lost = {"question_id": 9, "model": "alpha", "judge": ["gpt", "v1"], "score": -1, "turn": 1}
    lines(root / "single.jsonl", [*rows, lost])
    return expected("turn 1")


def nuggetizer(root):
    """Two nuggets per topic, one of them vital: what is supported decides the scores."""
    how = {1: "support", 0: "not_support", 0.5: "partial_support"}
    for run, own in SCORES.items():
        rows = [
            {
                "qid": f"2024-{k}",
                "run_id": run,
                "nuggets": [
                    {"text": "a", "importance": "vital", "assignment": how[value]},
                    {"text": "b", "importance": "okay", "assignment": "not_support"},
                ],
            }
            for k, value in enumerate(own)
        ]
        lines(root / f"assignments_{run}.jsonl", rows)
    strict = {run: fmean(value == 1 for value in own) for run, own in SCORES.items()}
    halved = {("all_score", run): fmean(own) / 2 for run, own in SCORES.items()}
    return (
        expected("vital_score") | halved | {("strict_vital_score", r): v for r, v in strict.items()}
    )


def nugget_metrics(root):
    for run, own in SCORES.items():
        rows = [{"qid": k, "strict_vital_score": value} for k, value in enumerate(own)]
        mean = {"qid": "all", "strict_vital_score": 99}
        lines(root / f"metrics_{run}.jsonl", [*rows, mean])
    return expected("strict_vital_score")


def quepid_snapshot(root):
    for run, own in SCORES.items():
        scores = [{"query_id": 7 + k, "score": value} for k, value in enumerate(own)]
        queries = [{"query_id": 7 + k, "query_text": f"q{k}"} for k in range(len(own))]
        value = {"name": run, "scores": scores, "queries": queries, "docs": {}}
        whole(root / f"{run}.json", value | {"scorer": {"name": "nDCG@10"}})
    return expected("nDCG@10")


def opensearch(root):
    rows = [
        {
            "searchConfigurationId": run,
            "searchText": f"q{k}",
            "judgmentList": "j",
            "metrics": [{"metric": "NDCG@5", "value": value}],
        }
        for run, own in SCORES.items()
        for k, value in enumerate(own)
    ]
    whole(root / "found.json", {"took": 1, "hits": {"hits": [{"_source": row} for row in rows]}})
    return expected("NDCG@5")


def autojudge_tot(root):
    rows = [
        f"{run}\tSCORE\t{300 + k}\t{value}"
        for run, own in SCORES.items()
        for k, value in enumerate(own)
    ]
    root.mkdir(parents=True, exist_ok=True)
    (root / "tot.txt").write_text("\n".join([*rows, "alpha\tSCORE\tall\t9"]))
    return expected("SCORE")


def autojudge_columns(root):
    rows = [
        f"{run}  leaf{k} SCORE {value}"
        for run, own in SCORES.items()
        for k, value in enumerate(own)
    ]
    root.mkdir(parents=True, exist_ok=True)
    (root / "e.txt").write_text("\n".join(["run_id query_id measure value", *rows]))
    return expected("SCORE")


def autojudge_ranking(root):
    rows = [
        f"{k} Q0 {run} 0 {own[k]} {measure}"
        for measure in ("SCORE", "LENGTH")
        for k in range(4)
        for run, own in SCORES.items()
    ]
    root.mkdir(parents=True, exist_ok=True)
    (root / "e.ranking").write_text("\n".join(rows))
    return expected("SCORE")


def autojudge_lines(root):
    rows = [
        {"run_id": run, "topic_id": str(k), "measure": "SCORE", "value": value}
        for run, own in SCORES.items()
        for k, value in enumerate(own)
    ]
    lines(root / "s.jsonl", [*rows, {**rows[0], "topic_id": "all", "value": 9}])
    return expected("SCORE")


SCORE_FORMS = (
    *(every_eval_ever, inspect, inspect_json, lm_eval, helm, promptfoo, promptfoo_v4),
    *(promptfoo_lines, promptfoo_v1, deepeval, deepeval_wrapped, ragas, ragas_columns, mt_bench),
    *(nuggetizer, nugget_metrics, quepid_snapshot, opensearch, autojudge_tot, autojudge_columns),
    *(autojudge_ranking, autojudge_lines),
)

WINS = [("x", "y", 1), ("y", "x", 0.5), ("x", "z", 0), ("z", "y", 1), ("y", "z", 0)]
WORDS = {1: "model_a", 0: "model_b", 0.5: "tie (bothbad)"}


def arena(path):
    rows = [
        {"question_id": k, "model_a": a, "model_b": b, "winner": WORDS[won], "judge": "j"}
        for k, (a, b, won) in enumerate(WINS)
    ]
    return (lines if path.suffix == ".jsonl" else table if path.suffix == ".csv" else whole)(
        path, rows
    )


def kaggle(path):
    flags = ("winner_model_a", "winner_model_b", "winner_tie")
    rows = [
        {"id": k, "model_a": a, "model_b": b}
        | {name: int(won == own) for name, own in zip(flags, (1, 0, 0.5), strict=True)}
        for k, (a, b, won) in enumerate(WINS)
    ]
    return table(path, rows)


def comparia(path):
    rows = [
        {
            "model_a_name": a,
            "model_b_name": b,
            "chosen_model_name": {1: a, 0: b, 0.5: ""}[won],
            "both_equal": str(won == 0.5).lower(),
            "visitor_id": "v",
        }
        for a, b, won in WINS
    ]
    return table(path, rows)


def alpaca(path):
    rows = [
        {
            "instruction": f"q{k}",
            "generator_1": a,
            "generator_2": b,
            "preference": {1: 1, 0: 2, 0.5: 1.5}[won],
        }
        for k, (a, b, won) in enumerate(WINS)
    ]
    return whole(path, [*rows, {**rows[0], "preference": None}])


def win_rates():
    won, n = {}, {}
    for a, b, outcome in WINS:
        for name, value in ((a, outcome), (b, 1 - outcome)):
            won[name] = won.get(name, 0) + value
            n[name] = n.get(name, 0) + 1
    return {name: won[name] / n[name] for name in sorted(won)}


BATTLE_FORMS = (
    *((arena, name) for name in ("b.csv", "b.jsonl", "b.json")),
    *((kaggle, "k.csv"), (comparia, "c.csv"), (alpaca, "annotations.json")),
)
