"""Readers of what tools leave that evaluate search: scores by topic, judgments, leaderboards.

Lines of the topic `all` hold summaries, which are left out. trec_eval -q prints measure, topic and
value, and names its run in a line `runid`; ir_measures --by_query prints topic, measure and value,
and so does NTCIREVAL, with an equals sign behind the measure. JSON comes from pytrec_eval and
Elasticsearch's _rank_eval.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from steadyrank.data.forms.form import NUMBERED, Cell, Grade, Recognises, Source, numbers_in
from steadyrank.data.interop.tables import check_name
from steadyrank.data.read.json_files import describe
from steadyrank.data.read.tables import is_missing
from steadyrank.data.scores import plain_value
from steadyrank.words import counted

_ANY_MEASURE = re.compile(r"[A-Za-z]\w*(\(.*\))?(@[\d.]+)?")

_ROLES = (("run_id", "run"), ("query_id", "topic_id", "topic", "qid"), ("measure",), ("value",))
_HEADER = {name for names in _ROLES for name in names}


def _is_value(text: str) -> bool:
    return plain_value(text) is not None or is_missing(text)


def autojudge_order(rows: Sequence[Sequence[str]]) -> tuple[int, int, int, int] | None:
    """The places of run, topic, measure and value in AutoJudge's rows; None for other rows."""
    widths = {len(row) for row in rows}
    if widths == {6}:
        # As a run, but no document has a rank, and every topic has the same documents.
        found: dict[tuple[str, str], set[str]] = {}
        for row in rows:
            found.setdefault((row[0], row[5]), set()).add(row[2])
        is_ranking = all(row[1] == "Q0" and row[3] == "0" and _is_value(row[4]) for row in rows)
        alike = len({*map(frozenset, [*found.values()][:-1])}) == 1
        return (2, 0, 5, 4) if is_ranking and alike else None
    if widths != {4}:
        return None
    header = [name.casefold() for name in rows[0]]
    if {*header} <= _HEADER:
        places = [
            next((header.index(name) for name in names if name in header), -1) for names in _ROLES
        ]
        return None if -1 in places else (places[0], places[1], places[2], places[3])
    kinds = [{row[place] for row in rows} for place in (1, 2)]
    if kinds[0] <= {"0", "Q0", "q0"} or not all(_is_value(row[3]) for row in rows):
        return None  # judgments
    named = [all(map(_ANY_MEASURE.fullmatch, kind)) for kind in kinds]
    if not any(named):
        return None
    is_tot = SUMMARY in kinds[1] or (SUMMARY not in kinds[0] and not named[1])
    if all(named) and SUMMARY not in kinds[0] | kinds[1]:
        is_tot = len(kinds[0]) <= len(kinds[1])
    return (0, 2, 1, 3) if is_tot else (0, 1, 2, 3)


def autojudge(source: Source) -> Iterator[Cell]:
    """AutoJudge's text: `tot`, the columns of ir_measures with the run in front, or `ranking`."""
    width = len(source.first_fields[0]) if source.first_fields else 4
    for line, row in source.fields:
        if len(row) != width:
            raise source.error(f"expected {width} columns, got {len(row)}", line)
    found = autojudge_order([row for _, row in source.fields])
    run, topic, measure, value = found or ((2, 0, 5, 4) if width == 6 else (0, 2, 1, 3))
    for line, row in source.fields:
        if {name.casefold() for name in row} <= _HEADER and len(row) == 4:
            continue
        if row[topic] != SUMMARY:
            yield Cell(row[measure], row[run], row[topic], source.number(row[value], line), line)


def autojudge_lines(source: Source) -> Iterator[Cell]:
    """AutoJudge's JSON lines."""
    for line, row in source.lines:
        run, topic, measure = (
            source.id_of(row, key, line) for key in ("run_id", "topic_id", "measure")
        )
        if topic != SUMMARY:
            yield Cell(measure, run, topic, source.score_of(row, "value", line), line)


def nuggets(source: Source) -> Iterator[Cell]:
    """nuggetizer's assignments: the scores that it computes of how nuggets are supported."""
    for line, row in source.lines:
        found = source.need(row, "nuggets", list, line)
        values: dict[str, list[float]] = {}
        for nugget in found:
            how = source.id_of(source.record(nugget, "a nugget", line), "assignment", line)
            full, part = float(how == "support"), 0.5 * (how == "partial_support")
            vital = nugget.get("importance") == "vital"
            for kind in ("vital", "all")[not vital :]:
                values.setdefault(f"strict_{kind}_score", []).append(full)
                values.setdefault(f"{kind}_score", []).append(full + part)
        topic, run = source.id_of(row, "qid", line), source.id_of(row, "run_id", line)
        for name in sorted(values, key=_NUGGET_SCORES.index):
            own = values[name]
            yield Cell(name, run, topic, sum(own) / len(own), line)


_NUGGET_SCORES = ("strict_vital_score", "strict_all_score", "vital_score", "all_score")


def nugget_metrics(source: Source) -> Iterator[Cell]:
    """nuggetizer's metrics: the file names the run."""
    run = re.sub(r"^(metrics|scores)_|\.jsonl?$", "", source.name)
    for line, row in source.lines:
        topic = source.id_of(row, "qid", line)
        if topic != SUMMARY:
            for name, value in numbers_in(row, but=("qid", "query")):
                yield Cell(name, run, topic, source.number(value, line), line)


def quepid_snapshot(source: Source) -> Iterator[Cell]:
    """A snapshot of Quepid: the score of each query by the case's scorer."""
    value = source.record(source.value)
    queries = value.get("queries")
    texts = {
        str(query.get("query_id", query.get("id"))): str(query["query_text"])
        for query in (queries if isinstance(queries, list) else [])
        if isinstance(query, dict) and "query_text" in query
    }
    scorer = value.get("scorer")
    measure = scorer.get("name") if isinstance(scorer, dict) else None
    for place, row in enumerate(source.need(value, "scores", list), start=1):
        topic = source.id_of(source.record(row, f"score {place}"), "query_id")
        number = source.score_of(row, "score")
        run = source.id_of(value, "name")
        yield Cell(str(measure or "score"), run, texts.get(topic, topic), number)


def quepid_ratings(source: Source) -> Iterator[Grade]:
    """A book or a case of Quepid: who rated which document how; ratings put off are left out."""
    value, n_open = source.record(source.value), 0
    pairs = value.get("query_doc_pairs", value.get("queries"))
    for pair in pairs if isinstance(pairs, list) else []:
        topic = source.id_of(source.record(pair, "a query"), "query_text")
        for rating in pair.get("judgements", pair.get("ratings")) or []:
            source.record(rating, "a rating")
            document = source.id_of(pair if "doc_id" in pair else rating, "doc_id")
            if rating.get("rating") is None:
                n_open += 1
                continue
            grade = source.number(rating["rating"], None, f"rating of {document}")
            yield Grade(topic, document, grade, str(rating.get("user_email") or ""))
    if n_open:
        source.found.notes.append(f"{counted(n_open, 'rating')} without a grade left out")


def opensearch_judgments(source: Source) -> Iterator[Grade]:
    """Judgments of OpenSearch's search relevance workbench."""
    value = source.record(source.value)
    value = value["_source"] if isinstance(value.get("_source"), dict) else value
    for query in source.need(value, "judgmentRatings", list):
        topic = source.id_of(source.record(query, "a query"), "query")
        for rating in source.need(query, "ratings", list):
            document = source.id_of(source.record(rating, "a rating"), "docId")
            grade = source.number(rating.get("rating"), None, f"rating of {document}")
            yield Grade(topic, document, grade)


def opensearch_results(source: Source) -> Iterator[Cell]:
    """Evaluation results of OpenSearch's workbench: documents of an index, or a search for them."""
    rows: list[Any] = [row for _, row in source.lines]
    if "hits" in rows[0]:
        rows = source.need(source.need(rows[0], "hits", dict), "hits", list)
    for row in rows:
        own = source.record(row, "a result")
        own = own["_source"] if isinstance(own.get("_source"), dict) else own
        topic, run = source.id_of(own, "searchText"), source.id_of(own, "searchConfigurationId")
        judge = own.get("judgmentList", own.get("judgmentIds"))
        judge = "/".join(map(str, judge)) if isinstance(judge, list) else str(judge or "")
        for metric in source.need(own, "metrics", list):
            name = source.id_of(source.record(metric, "a metric"), "metric")
            value = source.score_of(metric, "value")
            yield Cell(name, run, topic, value, None, "", NUMBERED, judge)


def mteb(source: Source) -> Iterator[Cell]:
    """One MTEB result, `model/revision/task.json`: a measure per split, a topic per subset."""
    folder, task = source.path.absolute().parent.parent, source.path.stem
    if (own := source.record(source.value).get("task_name")) != task:
        message = f"the file is named after another task than its task_name, {own!r}: rename it"
        raise source.error(message)
    source.found.directions["main_score"] = False
    scores = source.need(source.value, "scores", dict)
    for split in scores:
        taken: set[str] = set()
        for entry in source.need(scores, split, list):
            subset = str(source.record(entry, f"a subset of {split}").get("hf_subset", "default"))
            if entry.get("main_score") is None:
                continue
            value = source.number(entry["main_score"], None, "main_score")
            if subset in taken:
                raise source.error(f"two scores of subset {subset!r}: keep one")
            taken.add(subset)
            if value == value:
                yield Cell(split, folder.name.replace("__", "/"), subset, value, None, task)


def leaderboard_of_means(source: Source) -> Iterator[Cell]:
    """Refuses a leaderboard of one number per model, of which no error can be estimated."""
    raise source.error(
        "one score per model says nothing about its error: give the judgments behind it "
        "(model_judgment/*/*.jsonl) to `steadyrank battles`"
    )


def companion(source: Source) -> Iterator[Cell]:
    """Refuse a file that another form reads together with its files, or without scores."""
    instead = {
        "run_spec.json": "per_instance_stats.json",
        "scenario.json": "per_instance_stats.json",
        "stats.json": "per_instance_stats.json",
    }.get(source.path.name, "the results themselves")
    raise source.error(f"holds no scores of single samples: give {instead}")


SUMMARY = "all"

_TEXTS = ("runid", "relstring")
"""What trec_eval prints in addition to numbers."""

_TREC_EVAL_NAME = re.compile(
    r"runid|relstring|num_\w+|(gm_)?(map|bpref)|map_cut_\d+|Rprec(_mult_[\d.]+)?|recip_rank"
    r"|iprec_at_recall_[\d.]+|(relative_)?P_\d+|recall_\d+|infAP|utility|11pt_avg|binG|G"
    r"|R?ndcg|ndcg_(rel|cut_\d+)|success_\d+|set_\w+|rbp(_resid)?|unj_\d+|yaap|prefs_\w+"
)

_MEASURE_NAME = re.compile(
    r"(P|R|AP|RR|MAP|MRR|Rprec|Bpref|infAP|IPrec|n?DCG|s?DCG|n?ERR|ERR_IA|nERR_IA|RBP|n?RBP|NRBP"
    r"|nNRBP|INST|INSQ|BPM|SDCG|NERR\d+|Accuracy|Compat|Judged|Success|Set[PRF]|SetAP|SetRelP"
    r"|Num(Q|Ret|Rel|RelRet)|alpha_n?DCG|α_n?DCG|[AP]P?_IA|STREC)(\(.*\))?(@[\d.]+)?",
    re.IGNORECASE,
)
"""The measures of ir_measures."""

_NTCIR_NAMES = {"Q-measure": "Q", "P-plus": "Pplus", "Hit": "Success"}
"""NTCIREVAL's names of measures that have another name here."""


def is_printed_by(tool: str) -> Recognises:
    """Recognises what a tool prints by its first line."""
    return lambda source: _tool(next(iter(source.first_fields), [])) == tool


def _tool(first: list[str]) -> str:
    if first[1:2] == ["#"] or (len(first) == 3 and first[1].endswith("=")):
        return "NTCIREVAL"
    if len(first) != 3:
        return ""
    name, other, value = first
    is_number = _is_value(value)
    if _TREC_EVAL_NAME.fullmatch(name) and (is_number or name in _TEXTS):
        return "trec_eval"
    if is_number and other == SUMMARY:
        return "trec_eval"
    is_measure = is_number and _MEASURE_NAME.fullmatch(other) and not is_missing(other)
    return "ir_measures" if is_measure else ""


def trec_eval(source: Source) -> Iterator[Cell]:
    """Scores that `trec_eval -q` prints; a line `runid`, behind its block, names the run."""
    cells: list[Cell] = []
    ended, run = False, ""
    for line, (measure, topic, value) in _rows(source, ("measure", "topic", "value")):
        if topic == SUMMARY:
            ended = True
            run = value if measure == "runid" else run
            continue
        if ended:
            yield from (replace(cell, run=run) for cell in cells)
            cells, ended, run = [], False, ""
        if measure not in _TEXTS:
            cells.append(Cell(measure, "", topic, source.number(value, line), line))
    yield from (replace(cell, run=run) for cell in cells)
    _refuse_summaries(source, "trec_eval with -q")


def ir_measures(source: Source) -> Iterator[Cell]:
    """Scores that `ir_measures --by_query` prints."""
    for line, (topic, measure, value) in _rows(source, ("topic", "measure", "value")):
        if topic != SUMMARY:
            yield Cell(measure, "", topic, source.number(value, line), line)
    _refuse_summaries(source, "ir_measures with --by_query")


def ntcireval(source: Source) -> Iterator[Cell]:
    """Scores that NTCIREVAL prints; lines with a hash count documents."""
    for line, (topic, printed, value) in _rows(source, ("topic", "measure", "value")):
        name, at, cutoff = printed.removesuffix("=").partition("@")
        measure = _NTCIR_NAMES.get(name, name) + at + cutoff.lstrip("0")
        if topic != SUMMARY:
            yield Cell(measure, "", topic, source.number(value, line), line)


def _rows(source: Source, roles: tuple[str, str, str]) -> Iterator[tuple[int, list[str]]]:
    for line, fields in source.fields:
        if fields[1:2] == ["#"]:
            continue
        if len(fields) != 3:
            expected = f"{roles[0]}, {roles[1]} and {roles[2]}"
            raise source.error(f"expected {expected}, got {len(fields)} fields", line)
        if "" in fields[:2]:
            empty = roles[fields.index("")]
            raise source.error(f"expected the name of a {empty}, got an empty field", line)
        yield line, fields


def _refuse_summaries(source: Source, call: str) -> None:
    if all(SUMMARY in fields for _, fields in source.fields):
        raise source.error(f"holds only summaries: run {call}")


def pytrec_eval(source: Source) -> Iterator[Cell]:
    """Cells of {topic: {measure: value}}, or of {run: {topic: {measure: value}}}."""
    value = source.value
    if not isinstance(value, dict):
        expected = "one JSON object, {topic: {measure: value}}"
        raise source.error(f"expected {expected}, got {describe(value)}")
    inner = next((row for row in value.values() if isinstance(row, dict) and row), {})
    by_run = any(isinstance(cells, dict) for cells in inner.values())
    runs = value if by_run else {"": value}
    for topics in runs.values():
        if isinstance(topics, dict):
            _check_measures(source, topics)
    for run, topics in runs.items():
        within = f"run {run!r}" if run else "the file"
        for topic, cells in _members(source, topics, "topic", f" in {within}"):
            for measure, cell in _members(source, cells, "measure", f" for topic {topic[:40]!r}"):
                where = f"{measure[:40]} of topic {topic[:40]!r}"
                yield Cell(measure, run, topic, source.number(cell, None, where))


def _check_measures(source: Source, topics: dict[str, Any]) -> None:
    rows = [row for row in topics.values() if isinstance(row, dict)]
    names = [name for row in rows for name in row]
    known = any(_TREC_EVAL_NAME.fullmatch(n) or _MEASURE_NAME.fullmatch(n) for n in names)
    if not known and any(row.keys() != rows[0].keys() for row in rows):
        message = "topics hold different names, as documents of a run do: is this a run? Of scores"
        raise source.error(f"{message}, give every topic the same measures, null if missing")


def _members(source: Source, value: Any, what: str, where: str) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, dict):
        inside = "{topic: {measure: value}}" if what == "topic" else "{measure: value}"
        raise source.error(f"expected {inside}, got {describe(value)}{where}")
    for name, inner in value.items():
        check_name(source.path, what, name, None)
        yield name, inner


def rank_eval(source: Source) -> Iterator[Cell]:
    """Answers of Elasticsearch's _rank_eval: a request is a topic; its details name the metric."""
    details = source.need(source.value, "details", dict)
    for topic, answer in _members(source, details, "topic", " in the details"):
        if not isinstance(answer, dict) or "metric_score" not in answer:
            got = f"{describe(answer)} for request {topic[:40]!r}"
            raise source.error(f"expected an object with a metric_score, got {got}")
        metric = answer.get("metric_details")
        name = next(iter(metric), None) if isinstance(metric, dict) else None
        value = source.number(answer["metric_score"], None, f"of request {topic[:40]!r}")
        yield Cell(source.measure or name or "metric_score", "", topic, value)
    failures = source.value.get("failures")
    if isinstance(failures, dict) and failures:
        there = counted(len(details.keys() | failures.keys()), "request")
        failed = f"{len(failures)} of {there} failed (first {next(iter(failures))!r})"
        source.found.notes.append(f"{failed}: send them again")
