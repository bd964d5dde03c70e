"""Readers of what tools leave that evaluate language models: a sample is a topic, a model a run.

Every function reads one form and yields a `Cell` per score. Samples that ended in an error, or
that somebody invalidated, have no score.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from steadyrank.data.forms.form import NO_SCORES, NUMBERED, Cell, Record, Source
from steadyrank.data.read.json_files import describe
from steadyrank.errors import FormatError
from steadyrank.words import counted, some

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0}
_LETTERS |= {"false": 0.0}
"""Inspect's verdicts; the values are Inspect's own."""

_SAMPLES = re.compile(r"samples_(.+?)(?:_(\d{4}-\d\d-\d\dT[\d.:-]+))?\.\w+")
"""The name of a file of lm-evaluation-harness: the task, and when it was written."""

_WRONG_WAY_ROUND = {"ter": True, "perplexity": False}
"""Whether lower is better, for measures where lm-eval's `higher_is_better` is wrong: `ter`
is an error rate, and the perplexity of a single sample is its log-likelihood."""

_BOOKKEEPING = re.compile(
    r"num_.*|.*_tokens|inference_.*|training_.*|finish_reason_.*|prompt_truncated|max_prob"
    r"|batch_size|predicted_index|.*_runtime|estimated_num_.*|observed_.*"
)
"""Names of HELM's statistics that are not scores."""

_DEEPEVAL_LOWER = {"bias", "toxicity", "hallucination", "misuse"}


def every_eval_ever(source: Source) -> Iterator[Cell]:
    """Every Eval Ever's samples: one line per model, sample and evaluation."""
    rows = []
    for line, row in source.lines:
        version = row.get("schema_version")
        found = source.need(
            row,
            "evaluation",
            dict,
            line,
            remedy=f"schema {version} should have it; give a file *_samples.jsonl",
        )
        name = source.id_of(row, "evaluation_name", line)
        if row.get("evaluation_result_id") and "/" not in str(row["evaluation_result_id"]):
            name = str(row["evaluation_result_id"])
        value = found.get("score", found.get("is_correct"))
        rows.append((line, row, name, None if row.get("error") else value))
    names = {name for _, _, name, _ in rows}
    task = os.path.commonpath(names) if names and not any(n.startswith("/") for n in names) else ""
    hashes: dict[tuple[str, str], object] = {}
    for line, row, name, value in rows:
        run, topic = source.id_of(row, "model_id", line), source.id_of(row, "sample_id", line)
        known = hashes.setdefault((name, topic), row.get("sample_hash"))
        if known != row.get("sample_hash"):
            message = f"sample {topic!r} of {name} has two sample_hash: name samples apart"
            raise source.error(message, line)
        number = source.number(value, line, "evaluation.score")
        yield Cell(name, run, topic, number, line, task or name, NUMBERED)
    _every_eval_ever_directions(source, names)


def _every_eval_ever_directions(source: Source, names: set[str]) -> None:
    """Note which evaluations are lower-is-better according to the aggregate of the samples."""
    beside = Path(str(source.path).replace("_samples.jsonl", ".json"))
    if beside == source.path or not beside.is_file():
        return
    for result in _results(Source(beside)):
        name, config = str(result.get("evaluation_name")), result.get("metric_config")
        if name in names and isinstance(config, dict):
            source.found.directions[name] = config.get("lower_is_better") is True


def _results(source: Source) -> list[dict[str, Any]]:
    remedy = "the schemas 0.1 to 0.3 have it; convert the file again"
    listed = source.need(source.value, "evaluation_results", list, remedy=remedy)
    return [source.record(row, f"evaluation_results[{i}]") for i, row in enumerate(listed)]


def every_eval_ever_aggregate(source: Source) -> Iterator[Cell]:
    """Every Eval Ever's results of one model: one score per dataset, without those that sum up."""
    run = source.id_of(source.need(source.value, "model_info", dict), "id")
    results = {source.id_of(row, "evaluation_name"): row for row in _results(source)}
    own = re.sub(r"\W+", " ", str(source.value.get("evaluation_id")).partition("/")[0]).casefold()
    sums = [
        name
        for name in results
        if re.sub(r"\W+", " ", name).casefold().startswith(own) or name == "Score"
    ]
    if sums and len(results) - len(sums) > 1:
        source.found.notes.append(f"omitted as means of the other evaluations: {some(sums)}")
        results = {name: row for name, row in results.items() if name not in sums}
    for name, row in results.items():
        details = source.need(row, "score_details", dict)
        value = source.number(details.get("score"), where="score_details.score")
        config = row.get("metric_config")
        if isinstance(config, dict):
            source.found.directions[name] = config.get("lower_is_better") is True
        yield Cell("score", run, "", value, None, name)


def inspect_log(source: Source) -> Iterator[Cell]:
    """Logs of Inspect, `.eval` or JSON: a measure per scorer, an answer per epoch."""
    header, samples = _inspect_parts(source)
    about = source.need(header, "eval", dict)
    run, task = str(about.get("model") or ""), str(about.get("task") or "")
    roles = about.get("model_roles")
    roles = dict(roles) if isinstance(roles, Mapping) else {}
    grader = roles.pop("grader", None)  # who is the judge, and no setting of the run
    judge = str((grader.get("model") if isinstance(grader, Mapping) else grader) or "")
    settings = {**about, "model_roles": roles}
    for key in ("task_args", "model_args", "model_roles", "model_generate_config", "task_version"):
        source.found.settings[key] = json.dumps(settings.get(key) or {}, sort_keys=True)
    texts = {sample["id"] for _, sample in samples if isinstance(sample.get("id"), str)}
    taken = {str(sample["id"]) for _, sample in samples if isinstance(sample.get("id"), int)}
    lost: Counter[str] = Counter()
    if not any(sample.get("scores") for _, sample in samples):
        failed = header.get("status", "started") in ("error", "cancelled", "started")
        remedy = "retry the evaluation" if failed else "run `inspect score` on the log first"
        raise source.error(f"no sample has a score: {remedy}", code=NO_SCORES)
    for where, sample in samples:
        topic = source.id_of(sample, "id")
        if topic in texts & taken and isinstance(sample["id"], str):
            topic = f'"{topic}"'  # 1 and "1" are two samples.
        if sample.get("error") or sample.get("invalidation"):
            lost["ended in an error" if sample.get("error") else "are invalidated"] += 1
            continue
        scores = sample.get("scores")
        for measure, value in _inspect_values(scores if isinstance(scores, dict) else {}):
            number = source.number(
                _LETTERS.get(value, value) if isinstance(value, str) else value, None, where
            )
            epoch = str(sample.get("epoch", ""))
            yield Cell(measure, run, topic, number, None, task, epoch, judge)
    for cell in _inspect_reductions(source, header, run, task):
        yield replace(cell, judge=judge)
    for why, n in lost.items():
        source.found.notes.append(f"{n} of {counted(len(samples), 'sample')} {why}: retry the log")
    if header.get("status", "success") != "success":
        ended = f"ended with status {header['status']!r} after {counted(len(samples), 'sample')}"
        source.found.notes.append(f"the evaluation {ended}: retry the log")
    if header.get("invalidated") is True:
        source.found.notes.append("the log is marked as invalidated")


def _inspect_parts(source: Source) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    without = "a log without samples: log the samples, or give the log that holds them"
    if source.kind == "zip":
        name = "header.json" if "header.json" in source.members else "_journal/start.json"
        header = source.record(source.member(name), name)
        if name != "header.json":
            source.found.notes.append("the evaluation did not end: its samples so far were read")
        found = [(own, source.member(own)) for own in source.members if own.startswith("samples/")]
        if "reductions.json" in source.members:
            header = {**header, "reductions": source.member("reductions.json")}
    else:
        header = source.record(source.value)
        listed = header.get("samples")
        if not isinstance(listed, list):
            raise source.error(without)
        found = [(f"in sample {i}", sample) for i, sample in enumerate(listed, start=1)]
    if not found:
        raise source.error(without)
    samples = []
    for where, sample in found:
        if not isinstance(sample, dict) or "id" not in sample:
            raise source.error(f"expected an object with an id {where}, got {describe(sample)}")
        samples.append((where, sample))
    return header, samples


def _inspect_values(scores: Record) -> Iterator[tuple[str, Any]]:
    """The measures of a sample: each scorer, or each member of what it found."""
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else None
        if isinstance(value, dict):
            yield from ((f"{scorer}/{name}", own) for name, own in value.items())
        elif not isinstance(value, list):
            yield scorer, value


def _inspect_reductions(source: Source, header: Record, run: str, task: str) -> Iterator[Cell]:
    """What a log's own reducers make of the epochs, other than the mean: one value per sample."""
    reductions = header.get("reductions")
    for reduction in reductions if isinstance(reductions, list) else []:
        reducer = source.record(reduction, "a reduction").get("reducer")
        if not isinstance(reducer, str) or reducer == "mean":
            continue
        for sample in source.need(reduction, "samples", list):
            scorer = f"{reduction.get('scorer')}"
            topic = str(source.record(sample, "a reduced sample").get("sample_id", ""))
            for measure, value in _inspect_values({scorer: sample}):
                if not topic:
                    continue
                number = source.number(
                    _LETTERS.get(value, value) if isinstance(value, str) else value
                )
                yield Cell(f"{measure}/{reducer}", run, topic, number, None, task, "1")


def lm_eval(source: Source) -> Iterator[Cell]:
    """Samples of lm-evaluation-harness; directions come from `results_*.json` in their folder."""
    named = _SAMPLES.fullmatch(source.name)
    task = named[1] if named else ""
    about = _lm_eval_results(source, named[2] if named else None)
    folder = source.path.absolute().parent.name if named else source.name
    higher = about.get("higher_is_better")
    higher = higher.get(task) if isinstance(higher, dict) else None
    pairs: dict[str, None] = {}
    n_all, last = 0, source.lines[-1][0] if source.lines else None
    for line, row in source.lines:
        topic = source.id_of(row, "doc_id", line)
        metrics = row.get("metrics")
        metrics = [m for m in metrics if isinstance(m, str)] if isinstance(metrics, list) else []
        chosen = row.get("filter")
        suffix = "" if chosen in ("none", None) else f",{chosen}"
        n_found = 0
        for metric in metrics:
            value = row.get(metric)
            if isinstance(value, (list, dict)):
                pairs[metric] = None
                continue
            name = ("log_likelihood" if metric == "perplexity" else metric) + suffix
            if metric in _WRONG_WAY_ROUND:
                source.found.directions[name] = _WRONG_WAY_ROUND[metric]
            elif isinstance(higher, dict) and isinstance(higher.get(metric), bool):
                source.found.directions[name] = not higher[metric]
            if metric in row:
                n_found += 1
                yield Cell(name, folder, topic, source.number(value, line), line, task, NUMBERED)
        n_all += n_found
        if not n_found and not (pairs and (n_all or line != last)):
            got = json.dumps(row.get("metrics"))[:80]
            message = f"expected metrics with a number for this sample, got {got}"
            raise source.error(message, line)
    if pairs:
        message = "have no value per sample, only one for the task (results_*.json)"
        source.found.notes.append(f"omitted: {some([*pairs])}, which {message}")


def _lm_eval_results(source: Source, stamp: str | None) -> dict[str, Any]:
    beside = source.path.parent / f"results_{stamp}.json"
    if stamp is None or not beside.is_file():
        return {}
    try:
        value = Source(beside).value
    except FormatError as error:
        source.found.notes.append(f"{error}: measures have the direction of their names")
        return {}
    if not isinstance(value, dict):
        return {}
    for key in ("config", "configs", "n-shot"):
        own = value.get(key)
        if isinstance(own, dict) and key == "config":
            source.found.settings["model_args"] = json.dumps(own.get("model_args"))
        elif isinstance(own, dict):
            task = own.get((_SAMPLES.fullmatch(source.name) or [""] * 2)[1])
            number = task.get("num_fewshot") if isinstance(task, dict) else task
            source.found.settings["num_fewshot"] = json.dumps(number)
    return value


def lm_eval_results(source: Source) -> Iterator[Cell]:
    """Results of lm-evaluation-harness: every measure of every task."""
    value = source.record(source.value)
    run = str(value.get("model_name") or source.path.absolute().parent.name)
    higher = value.get("higher_is_better")
    for task, scores in source.need(value, "results", dict).items():
        ways = higher.get(task) if isinstance(higher, dict) else None
        for name, score in source.record(scores, task).items():
            metric = name.partition(",")[0]
            if "," not in name or metric.endswith("_stderr") or isinstance(score, str):
                continue
            if isinstance(ways, dict) and isinstance(ways.get(metric), bool) and metric != "ter":
                source.found.directions[name] = not ways[metric]
            yield Cell(name, run, "", source.number(score, None, name), None, task)


def helm(source: Source) -> Iterator[Cell]:
    """HELM's `per_instance_stats.json`; `run_spec.json` in its folder names the model."""
    folder = source.path.absolute().parent
    named = re.search(r"(?:^|[,:])model=([^,]+)", folder.name)
    run, spec = named[1] if named else "", folder / "run_spec.json"
    if spec.is_file():
        about = Source(spec)
        adapter = about.need(about.value, "adapter_spec", dict)
        run = str(adapter.get("model") or adapter.get("model_deployment") or run)
    run = run or folder.name
    task = re.sub(r",?model(_deployment)?=[^,]*", "", folder.name).rstrip(":,")
    rows = [(place, row) for place, (_, row) in enumerate(source.lines, start=1)]
    stats = []
    for place, row in rows:
        topic = source.id_of(row, "instance_id")
        for stat in source.need(row, "stats", list):
            name = source.need(source.record(stat, f"a stat of entry {place}"), "name", dict)
            if not _BOOKKEEPING.fullmatch(str(name.get("name"))):
                stats.append((topic, str(row.get("train_trial_index", "")), name, stat))
    splits = Counter(str(name.get("split")) for _, _, name, _ in stats)
    main = "test" if "test" in splits else next(iter(splits), "")
    for topic, trial, name, stat in stats:
        changed = name.get("perturbation")
        measure = source.id_of(name, "name")
        if name.get("split") is not None and name["split"] != main:
            measure += f" ({name['split']})"
        if isinstance(changed, dict):
            measure += f" ({changed.get('name', 'perturbed')})"
        count, total = source.number(stat.get("count")), source.number(stat.get("sum"))
        value = total / count if count > 0 else math.nan
        yield Cell(measure, run, topic, value, None, task, trial or NUMBERED)
    if len(splits) > 1:
        source.found.notes.append(f"measures without a split in their name are of {main!r}")


def promptfoo(source: Source) -> Iterator[Cell]:
    """promptfoo's results, versions 1 to 4, JSON or JSON lines: a topic is a set of variables."""
    rows: list[tuple[int | None, dict[str, Any]]]
    if "promptIdx" in source.keys:
        rows = source.lines
    else:
        results = source.value.get("results")
        listed = results.get("results") if isinstance(results, dict) else results
        if not isinstance(listed, list):
            raise source.error(f"expected a list as 'results', got {describe(listed)}")
        rows = [(None, source.record(row, f"result {i}")) for i, row in enumerate(listed, start=1)]
    named = [(line, row, *_promptfoo_names(source, row, line)) for line, row in rows]
    prompts: dict[str, set[str]] = {}
    for _, _, provider, prompt, _ in named:
        prompts.setdefault(provider, set()).add(prompt)
    n_errors = 0
    for line, row, provider, prompt, topic in named:
        several = any(len(own) > 1 for own in prompts.values()) or not provider
        # Where neither is there, the file names the run.
        run = " ".join(filter(None, [provider, f"[{prompt}]" if several and prompt else ""]))
        failed = row.get("failureReason") == 2 or (row.get("error") and "gradingResult" not in row)
        scores: dict[str, Any] = {"score": row.get("score", row.get("success"))}
        scores |= {"success": row["success"]} if "success" in row else {}
        own = row.get("namedScores")
        scores |= own if isinstance(own, dict) else {}
        source.found.directions |= dict.fromkeys(scores, False)
        n_errors += bool(failed)
        for name, value in scores.items():
            number = math.nan if failed else source.number(value, line, name)
            yield Cell(name, run, topic, number, line, "", NUMBERED)
    if n_errors:
        source.found.notes.append(
            f"{n_errors} of {counted(len(rows), 'result')} ended in an error and have no score"
        )


def _promptfoo_names(source: Source, row: Record, line: int | None) -> tuple[str, str, str]:
    provider, prompt, given = row.get("provider"), row.get("prompt"), row.get("vars")
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    if isinstance(prompt, dict):
        prompt = prompt.get("label") or prompt.get("display") or prompt.get("raw")
    if given is None and isinstance(row.get("testCase"), dict):
        given = row["testCase"].get("vars")
    if not isinstance(given, dict):
        raise source.error(f"expected an object as 'vars', got {describe(given)}", line)
    topic = json.dumps(given, sort_keys=True, ensure_ascii=False, default=str)
    return str(provider or ""), str(prompt or ""), topic


def promptfoo_csv(source: Source) -> Iterator[Cell]:
    """Refuses promptfoo's CSV, which rounds scores and repeats the names of columns."""
    raise source.error("its CSV rounds scores to two digits: promptfoo export eval ID -o FILE.json")


def deepeval(source: Source) -> Iterator[Cell]:
    """DeepEval's test runs, also those wrapped in `testRunData`."""
    value = source.record(source.value)
    value = value["testRunData"] if isinstance(value.get("testRunData"), dict) else value
    settings = value.get("hyperparameters")
    model = settings.get("model") if isinstance(settings, Mapping) else None
    run = str(value.get("identifier") or model or source.name)
    source.found.settings["hyperparameters"] = json.dumps(settings, sort_keys=True)
    ways: dict[str, set[bool]] = {}
    for place, case in enumerate(source.need(value, "testCases", list), start=1):
        topic = source.id_of(source.record(case, f"test case {place}"), "input")
        metrics = case.get("metricsData")
        for metric in metrics if isinstance(metrics, list) else []:
            name = source.id_of(source.record(metric, "a metric"), "name")
            score, limit = source.number(metric.get("score"), None, name), metric.get("threshold")
            if metric.get("error"):
                score = math.nan
            if isinstance(limit, (int, float)) and (score < limit or score > limit):
                ways.setdefault(name, set()).add((score < limit) == (metric.get("success") is True))
            judge = metric.get("evaluationModel")
            judged = judge if isinstance(judge, str) else ""
            yield Cell(name, run, topic, score, None, "", NUMBERED, judged)
    for name, seen in ways.items():
        plain = name.casefold().removesuffix(" [geval]")
        if seen in ({True}, {False}) or plain != name.casefold():
            source.found.directions[name] = seen == {True}
        elif plain in _DEEPEVAL_LOWER:
            source.found.directions[name] = True


_RAGAS_INPUTS = {"user_input", "retrieved_contexts", "reference_contexts", "response", "reference"}
_RAGAS_INPUTS |= {"question", "contexts", "answer", "ground_truth", "ground_truths", "", "rubrics"}
_RAGAS_INPUTS |= {"multi_responses", "rubric", "index", "Unnamed: 0", "retrieved_context_ids"}


def ragas(source: Source) -> Iterator[Cell]:
    """A table of ragas, CSV or JSON: a topic is a question; equally many rows of each are answers.

    If some questions occur more often than others, every row is a topic, as in the means
    that ragas prints.
    """
    found = _ragas_rows(source)
    key = "question" if any("question" in row for _, row in found) else "user_input"
    rows = [(line, source.id_of(row, key, line), row) for line, row in found]
    counts, seen = Counter(topic for _, topic, _ in rows), Counter[str]()
    is_even = len({*counts.values()}) <= 1
    for line, topic, row in rows:
        seen[topic] += 1
        name = topic if is_even or seen[topic] == 1 else f"{topic} ({seen[topic]})"
        for measure, value in row.items():
            if measure not in _RAGAS_INPUTS and not isinstance(value, (list, dict)):
                number = source.number(value, line, measure)
                yield Cell(measure, source.name, name, number, line, "", NUMBERED)
    if not is_even:
        n = sum(count > 1 for count in counts.values())
        stand = counted(n, "question stands", "questions stand")
        source.found.notes.append(f"{stand} there more than once: each row counts as a sample")


def _ragas_rows(source: Source) -> list[tuple[int | None, dict[str, Any]]]:
    value = source.value if source.kind == "json" else None
    if not isinstance(value, dict):
        return source.lines
    columns = {name: source.record(column, name) for name, column in value.items()}
    places = next(iter(columns.values()), {})
    return [(None, {name: own.get(place) for name, own in columns.items()}) for place in places]


def mt_bench(source: Source) -> Iterator[Cell]:
    """MT-bench's judgments of single answers; a score of -1 could not be parsed and is missing."""
    n_lost = 0
    for line, row in source.lines:
        judge = row.get("judge")
        judge = str((judge[0] if isinstance(judge, list) and judge else judge) or "")
        value = source.score_of(row, "score", line)
        n_lost += value == -1
        measure = f"turn {row['turn']}" if "turn" in row else "score"
        topic, run = source.id_of(row, "question_id", line), source.id_of(row, "model", line)
        value = math.nan if value == -1 else value
        yield Cell(measure, run, topic, value, line, "", NUMBERED, judge)
    if n_lost:
        source.found.notes.append(f"{counted(n_lost, 'score')} of -1 count as missing")
