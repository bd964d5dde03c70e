"""The table of forms, which form a file has, and scores, leaderboards and battles made of files.

What a file is, its content says. `--form NAME` says it where the content does not. Files of one
command are read together: cells of the same run and measure on the same sample must agree, unless
the files say that their runs had other settings, which then become part of the runs' names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.battles import Battles, joined
from steadyrank.data.directions import Direction, direction_of
from steadyrank.data.forms import evaluations as llm
from steadyrank.data.forms import pairs, search
from steadyrank.data.forms.form import NO_SCORES, Cell, Form, Grade, Source
from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.order import places_by_name
from steadyrank.data.qrels import Qrels, qrels_from_dict
from steadyrank.data.read.sources import PathLike, base_name, matching_files
from steadyrank.data.read.streams import is_readable
from steadyrank.data.scores import CellError, Scores, mean_of_present, scores_from_cells
from steadyrank.data.table_rules import is_average, tell, tidy_scores
from steadyrank.errors import FormatError, InputError, arg, check_choice, warn
from steadyrank.words import counted, listed, some


class _Has:
    """Recognises a file whose first record has all names of one of these alternatives.

    Names behind a bar are typical of the tool: they tell what a file is that lacks one of them.
    """

    def __init__(self, *alternatives: str, kinds: Sequence[str] = ("json", "json lines")):
        self.wanted = [set(names.partition("|")[0].split()) for names in alternatives]
        self.typical = {name for names in alternatives for name in names.split()} - {"|"}
        self.kinds = kinds

    def __call__(self, source: Source) -> bool:
        return source.kind in self.kinds and any(source.keys >= own for own in self.wanted)

    def lacking(self, source: Source) -> set[str]:
        """The names that a file lacks which is nearly of this form; empty of any other."""
        if source.kind not in self.kinds or len(source.keys & self.typical) < _TELLING:
            return set()
        return min((own - source.keys for own in self.wanted), key=len)


_TELLING = 3
"""Typical names that tell what a file is although it lacks others."""


def _is_inspect(source: Source) -> bool:
    if source.kind == "zip":
        return source.keys >= {"header.json"} or source.keys >= {"_journal"}
    return _Has("version eval | plan", "eval status | results stats samples")(source)


def _is_promptfoo_csv(source: Source) -> bool:
    return source.kind == "csv" and any(re.match(r"\[.+\] ", name) for name in source.header)


def _is_companion(source: Source) -> bool:
    return source.path.name in _COMPANIONS or source.keys == {"properties"}


_COMPANIONS = (
    *("run_spec.json", "scenario.json", "scenario_state.json", "stats.json"),
    "model_meta.json",
)
_ANY = ("json", "json lines", "csv")
_TABLE = (*_ANY, "parquet")
_RAGAS = (
    "user_input response | reference",
    "user_input retrieved_contexts | reference_contexts",
    "question contexts | answer ground_truth",
)
_PROMPTFOO = ("results evalId | config shareableUrl metadata", "results table | stats version")
_EEE = "every-eval-ever"

_SEARCH = ("run", "topic")

# fmt: off
FORMS = (
    Form(_EEE, "Every Eval Ever samples", "scores", _Has("schema_version sample_id",
         "evaluation_name model_id | sample_hash evaluation"), llm.every_eval_ever),
    Form(f"{_EEE}-aggregate", "Every Eval Ever results", "means",
         _Has("evaluation_results | evaluation_id retrieved_timestamp",
         "schema_version model_info"), llm.every_eval_ever_aggregate),
    Form("inspect", "Inspect logs", "scores", _is_inspect, llm.inspect_log, answer="epoch"),
    Form("lm-eval", "lm-evaluation-harness samples", "scores",
         _Has("doc_id metrics | filter doc_hash target", "doc_id resps | arguments"), llm.lm_eval),
    Form("lm-eval-results", "lm-evaluation-harness results", "means", _Has("results configs",
         "results n-shot", "results higher_is_better"), llm.lm_eval_results),
    Form("helm", "HELM runs", "scores", _Has("instance_id stats | train_trial_index"), llm.helm),
    Form("promptfoo", "promptfoo results", "scores", _Has(*_PROMPTFOO,
         "promptIdx vars | provider namedScores", "promptIdx testCase"), llm.promptfoo),
    Form("promptfoo-csv", "promptfoo", "scores", _is_promptfoo_csv, llm.promptfoo_csv),
    Form("deepeval", "DeepEval test runs", "scores",
         _Has("testCases | metricsScores testPassed testFailed", "testRunData"), llm.deepeval),
    Form("ragas", "ragas results", "scores", _Has(*_RAGAS, kinds=_ANY), llm.ragas),
    Form("mt-bench", "MT-bench answers", "scores",
         _Has("question_id model judge score | turn user_prompt judgment tstamp"), llm.mt_bench),
    Form("nuggetizer", "nuggetizer assignments", "scores",
         _Has("qid nuggets | run_id query answer_text"), search.nuggets, *_SEARCH),
    Form("nuggetizer-metrics", "nuggetizer metrics", "scores",
         _Has("qid strict_vital_score | vital_score all_score", "qid strict_all_score"),
         search.nugget_metrics, *_SEARCH),
    Form("quepid-snapshot", "Quepid snapshots", "scores",
         _Has("scores docs name | has_snapshot_file time", "scores queries name"),
         search.quepid_snapshot, *_SEARCH),
    Form("quepid", "Quepid ratings", "judgments", _Has("query_doc_pairs | book_id",
         "case_name queries | scorer options owner_email"), search.quepid_ratings),
    Form("opensearch-judgments", "OpenSearch judgments", "judgments",
         _Has("judgmentRatings | name description type"), search.opensearch_judgments),
    Form("opensearch", "OpenSearch evaluation results", "scores",
         _Has("searchConfigurationId metrics", "hits took"), search.opensearch_results, *_SEARCH),
    Form("mteb", "MTEB results", "means", _Has("task_name scores | mteb_version dataset_revision"),
         search.mteb),
    Form("arena-hard", "arena-hard judgments", "battles", _Has("games model | uid judge baseline"),
         pairs.arena_hard),
    Form("comparia", "ComparIA votes", "battles",
         _Has("model_a_name model_b_name chosen_model_name", kinds=_TABLE), pairs.comparia),
    Form("alpaca-eval", "AlpacaEval annotations", "battles",
         _Has("generator_1 generator_2 preference | output_1 output_2"), pairs.alpaca_eval),
    Form("battles", "battles", "battles", _Has("model_a model_b winner",
         "model_a model_b winner_model_a", kinds=_TABLE), pairs.battles),
    Form("arena-hard-leaderboard", "arena-hard leaderboard", "means", _Has("model score CI",
         kinds=_ANY), search.leaderboard_of_means),
    Form("companion", "a file of settings", "means", _is_companion, search.companion),
    Form("autojudge", "AutoJudge scores", "scores",
         lambda source: search.autojudge_order(source.first_fields) is not None,
         search.autojudge, *_SEARCH),
    Form("trec-eval", "trec_eval scores", "scores", search.is_printed_by("trec_eval"),
         search.trec_eval, *_SEARCH),
    Form("ir-measures", "ir_measures scores", "scores", search.is_printed_by("ir_measures"),
         search.ir_measures, *_SEARCH),
    Form("ntcireval", "NTCIREVAL scores", "scores", search.is_printed_by("NTCIREVAL"),
         search.ntcireval, *_SEARCH),
    Form("rank-eval", "_rank_eval answers", "scores", _Has("metric_score details | failures"),
         search.rank_eval, *_SEARCH),
    Form("pytrec-eval", "pytrec_eval scores", "scores", lambda source: False, search.pytrec_eval,
         *_SEARCH),
    Form("autojudge-lines", "AutoJudge scores", "scores", _Has("run_id topic_id measure | value"),
         search.autojudge_lines, *_SEARCH),
)
# fmt: on
"""The more telling first; files of none of these are tables, runs or judgments."""

NO_NAME = "score"
"""The measure of files that do not name it: the dataset's name tells its direction."""

BY_NAME = {form.name: form for form in FORMS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What files hold, and what is said of them in one line."""

    data: Scores | Leaderboard | Battles | Qrels
    said: str
    where: str

    @property
    def leaderboard(self) -> Leaderboard:
        """The table of runs by datasets; an error for judgments and battles."""
        if isinstance(self.data, Leaderboard):
            return self.data
        raise InputError(f"{self.where}: {self.said}: expected scores of runs on datasets")

    @property
    def scores(self) -> Scores:
        """The scores; an error with the right command for other data."""
        if isinstance(self.data, Scores):
            return self.data
        how = {
            Leaderboard: "holds one score per model and dataset: steadyrank datasets PATH",
            Battles: "holds battles of pairs of models: steadyrank battles PATH",
        }
        instead = how.get(type(self.data), "holds judgments: give runs as well, QRELS RUN...")
        raise InputError(f"{self.where}: {self.said}, which {instead}")


def form_of(source: Source, form: str | None = None) -> Form | None:
    """Return the form of a file, by its content or by name; None if it has none."""
    if form is not None:
        check_choice("form", form, BY_NAME)
        source.form = BY_NAME[form]
    elif is_readable(source.path) and not source.path.is_dir():
        source.form = next((own for own in FORMS if own.recognises(source)), None)
    return source.form


def files_below(path: Path) -> list[Path]:
    """Return the files at a path, in a folder and its folders, or that match a pattern."""
    if path.is_dir():
        return sorted(
            own
            for own in path.rglob("*")
            if own.is_file()
            and not any(part.startswith(".") for part in own.relative_to(path).parts)
        )
    if is_readable(path) or path.exists():
        return [path]
    found = matching_files(path) if any(mark in str(path) for mark in "*?[") else []
    if not found:
        raise InputError(f"{path}: no such file")
    return [own for inner in found for own in (files_below(inner) if inner.is_dir() else [inner])]


@dataclass(frozen=True, slots=True)
class Part:
    """One file: where it is, its form, and what its reader yielded."""

    source: Source
    form: Form
    rows: tuple[Any, ...]


def read_parts(
    paths: Iterable[PathLike],
    form: str | None = None,
    measure: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> list[Part]:
    """What the files below these paths hold; those that hold none of the forms are left out."""
    found: list[tuple[Source, Form]] = []
    others: list[str] = []
    for path in map(Path, paths):
        files = files_below(path)
        for source in (Source(own, measure, columns) for own in files):
            known = form_of(source, form)
            if known is not None and (len(files) == 1 or known.name != "companion"):
                found.append((source, known))
            elif known is None:
                others.append(str(path) if len(files) == 1 else source.path.name)
    if not found:
        if form is None and len(others) == 1:
            _refuse_nearly(source)
        return []
    if alone := [name for name in others if name in map(str, paths)]:
        titles = listed(list(dict.fromkeys(own.title for _, own in found)))
        raise InputError(f"{alone[0]} has another form than the others ({titles}): read it alone")
    kinds = {own.holds for _, own in found}
    if len(kinds - {"means"}) > 1:
        first = {own.holds: f"{source.path.name} ({own.title})" for source, own in found}
        held = listed([f"{kind} in {name}" for kind, name in first.items()])
        raise InputError(f"the files hold different things, {held}: give those of one kind")
    if "means" in kinds and len(kinds) > 1:
        found = [own for own in found if own[1].holds != "means"]
    if others:
        warn(f"{counted(len(others), 'file holds', 'files hold')} no scores: {some(others)}")
    parts = []
    for source, own in found:
        try:
            parts.append(Part(source, own, tuple(own.read(source))))
        except FormatError as error:
            if error.code != NO_SCORES or len(found) == 1:
                raise
            warn(f"{error}; left out")
    if not parts:
        raise found[0][0].error("no file has a score")
    return parts


def _refuse_nearly(source: Source) -> None:
    if not is_readable(source.path) or source.path.is_dir():
        return
    for form in FORMS:
        has = form.recognises
        if isinstance(has, _Has) and (lacking := has.lacking(source)):
            names = listed([repr(name) for name in sorted(lacking)])
            message = f"looks like {form.title} without {names}"
            raise FormatError(source.path, f"{message}: give the file as the tool wrote it")


def read_forms(
    paths: Sequence[PathLike],
    *,
    form: str | None = None,
    measure: str | None = None,
    by_dataset: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Reading | None:
    """Return what the files hold together; None if none of them has a form of the table."""
    parts = read_parts(paths, form or ("battles" if columns else None), measure, columns)
    if not parts:
        return None
    where = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and others"
    noted: dict[str, list[Path]] = {}
    for part in parts:
        for note in part.source.found.notes:
            noted.setdefault(note, []).append(part.source.path)
    for note, files in noted.items():
        tell(files[0] if len(files) == 1 else f"{counted(len(files), 'file')} of {where}", note)
    titles = listed(list(dict.fromkeys(part.form.title for part in parts)))
    kind = parts[0].form.holds
    if kind == "battles":
        data: Any = joined([row for part in parts for row in part.rows])
        held = f"{data!r}"[10:-1]
    elif kind == "judgments":
        data = _judgments(where, [row for part in parts for row in part.rows])
        held = f"{data!r}".partition(": ")[2][:-1]
    elif kind == "means" or by_dataset:
        data = leaderboard_of(parts, measure)
        held = f"{counted(len(data.runs), 'model')}, {counted(len(data.datasets), 'dataset')}"
    else:
        cells = cells_of(parts)
        data = scores_of(where, cells, directions_in(where, parts))
        held = _said_of(cells, parts[0].form)
    return Reading(data=data, said=f"read as {titles}: {held}", where=where)


def directions_in(where: object, parts: Sequence[Part]) -> dict[str, Direction]:
    """The direction of each measure, or dataset of means, of which a file says one."""
    found: dict[str, Direction] = {}
    for part in parts:
        for name, lower in part.source.found.directions.items():
            way: Direction = "lower" if lower else "higher"
            if found.setdefault(name, way) != way:
                both = f"{arg('lower_is_better=')} or {arg('higher_is_better=')}"
                raise InputError(f"{where}: files disagree about the direction of {name}: {both}")
    return found


def _said_of(cells: Sequence[Cell], form: Form) -> str:
    counts = [counted(len({cell.run for cell in cells}), form.run)]
    if len(tasks := {cell.dataset for cell in cells}) > 1:
        counts.append(counted(len(tasks), "task"))
    counts.append(counted(len({(cell.dataset, cell.topic) for cell in cells}), form.topic))
    answers = {cell.answer for cell in cells}
    if len(answers) > 1:
        counts.append(counted(len(answers), form.answer))
    if len(judges := {cell.judge for cell in cells} - {""}) > 1:
        counts.append(counted(len(judges), "judge"))
    return ", ".join(counts)


def cells_of(parts: Sequence[Part]) -> list[Cell]:
    """Return the cells of all files, with distinct names of runs and repeated cells numbered."""
    named = []
    for part in parts:
        own = _numbered([replace(c, run=c.run or part.source.name) for c in part.rows])
        if not own:
            raise FormatError(part.source.path, "empty: no scores of single topics")
        named.append(own)
    names = _names_apart(parts, named)
    cells: dict[Cell, None] = {}
    for place, own in enumerate(named):
        # A file that is given twice, or two files of one run, count each cell once.
        cells |= {
            replace(
                c, run=names.get((place, c.run), c.run), line=c.line if len(parts) == 1 else None
            ): None
            for c in own
        }
    if all(cell.answer in (None, "1") for cell in cells):
        return [replace(cell, answer=None) for cell in cells]
    return [replace(cell, answer=cell.answer or "1") for cell in cells]


def _numbered(cells: Sequence[Cell]) -> list[Cell]:
    """Cells that may repeat, numbered where no label tells them apart."""
    seen: dict[tuple[str, ...], list[str]] = {}
    made = []
    for cell in cells:
        if cell.answer is not None:
            key = (cell.measure, cell.run, cell.dataset, cell.topic, cell.judge)
            given = seen.setdefault(key, [])
            label = cell.answer if cell.answer and cell.answer not in given else ""
            given.append(label or str(len(given) + 1))
            cell = replace(cell, answer=given[-1])
        made.append(cell)
    if all(len(given) == 1 for given in seen.values()):
        return [cell if cell.answer is None else replace(cell, answer="1") for cell in made]
    return made


def _names_apart(parts: Sequence[Part], named: Sequence[list[Cell]]) -> dict[tuple[int, str], str]:
    """New names, by file and run, for runs of one name whose cells on the same sample differ."""
    by_run: dict[str, dict[int, dict[tuple[Any, ...], float]]] = {}
    for place, cells in enumerate(named):
        for cell in cells:
            key = (cell.measure, cell.dataset, cell.topic, cell.answer, cell.judge)
            by_run.setdefault(cell.run, {}).setdefault(place, {})[key] = cell.value
    names: dict[tuple[int, str], str] = {}
    for run, files in by_run.items():
        groups = _alike(parts, files)
        if len(groups) < 2:
            continue
        settings = [parts[own[0]].source.found.settings for own in groups]
        differing = [
            key
            for key in dict.fromkeys(key for own in settings for key in own)
            if len({own.get(key) for own in settings}) > 1
        ]
        shown = [", ".join(f"{key}={own.get(key)}" for key in differing) for own in settings]
        labels = [f"{run} ({how[:80]})" for how in shown]
        if len(set(labels)) < len(groups) or not differing:
            labels = [base_name(parts[own[0]].source.path) for own in groups]
            if len(set(labels)) < len(groups):
                labels = [str(parts[own[0]].source.path) for own in groups]
            warn(
                f"{counted(len(groups), 'file')} hold different runs of the same name (first "
                f"{run!r}, of {labels[0]} and {labels[1]}): they are named by their files"
            )
        for own, label in zip(groups, labels, strict=True):
            names |= {(place, run): label for place in own}
    return names


def _alike(
    parts: Sequence[Part], files: dict[int, dict[tuple[Any, ...], float]]
) -> list[list[int]]:
    """Files of one run in groups that agree in all cells that they share, and in settings."""
    groups: list[tuple[list[int], dict[tuple[Any, ...], float]]] = []
    for place, cells in files.items():
        for members, known in groups:
            shared = known.keys() & cells.keys()
            same = all(known[k] == cells[k] or known[k] != known[k] for k in shared)
            settings = [parts[i].source.found.settings for i in (place, members[0])]
            if same and (not shared or settings[0] == settings[1]):
                members.append(place)
                known |= cells
                break
        else:
            groups.append(([place], dict(cells)))
    return [members for members, _ in groups]


def scores_of(where: str, cells: Sequence[Cell], directions: Mapping[str, Direction]) -> Scores:
    """The cube of all cells; a measure that several tasks have is one measure per task."""
    tasks: dict[str, set[str]] = {}
    for cell in cells:
        tasks.setdefault(cell.measure, set()).add(cell.dataset)

    def measure(name: str, task: str) -> str:
        return f"{task}/{name}" if len(tasks[name]) > 1 and task else name

    judged = all(cell.judge for cell in cells)
    answered = any(cell.answer is not None for cell in cells)
    facets = {"judge": [cell.judge for cell in cells]} if judged else {}
    facets |= {"answer": [cell.answer or "1" for cell in cells]} if answered else {}
    try:
        scores = scores_from_cells(
            [measure(cell.measure, cell.dataset) for cell in cells],
            [cell.run for cell in cells],
            [f"{cell.dataset}/{cell.topic}" if cell.dataset else cell.topic for cell in cells],
            [cell.value for cell in cells],
            facets=facets,
            meta={"source": where},
            directions={
                measure(name, task): way
                for name, way in directions.items()
                for task in tasks.get(name, ())
            },
        )
    except CellError as error:
        raise FormatError(where, str(error), cells[error.row].line) from None
    if any(cell.dataset for cell in cells):
        dataset = {f"{cell.dataset}/{cell.topic}": cell.dataset for cell in cells}
        scores = scores.with_topic_info(
            dataset=[dataset.get(topic, "") for topic in map(str, scores.topics)]
        )
    return tidy_scores(where, scores)


def leaderboard_of(parts: Sequence[Part], measure: str | None = None) -> Leaderboard:
    """Return the table of runs by datasets: means as they are, or over the samples of each dataset.

    Samples have several measures: `measure` names one; without it, each dataset has its first one
    that is better if higher, else its first that is better if lower.
    """
    if parts[0].form.holds == "means":
        cells = mteb_means([part for part in parts if part.form.name == "mteb"])
        cells += [cell for part in parts if part.form.name != "mteb" for cell in part.rows]
    else:
        cells = cells_of(parts)
    marked = directions_in(parts[0].source.path, parts)
    ways: dict[str, dict[str, Direction]] = {}
    for cell in cells:
        if measure in (None, cell.measure):
            name = cell.dataset if cell.measure == NO_NAME else cell.measure
            way = marked.get(cell.dataset) or marked.get(cell.measure) or direction_of(name)
            ways.setdefault(cell.dataset, {}).setdefault(cell.measure, way)
    if lacking := sorted({cell.dataset for cell in cells} - ways.keys()):
        n = counted(len(lacking), "dataset")
        warn(f"{n} left out for lack of the measure: {some(lacking)}")
    order = ("higher", "lower", "unknown", "neither")
    first = {task: min(own, key=lambda m: order.index(own[m])) for task, own in ways.items()}
    kept = [cell for cell in cells if first.get(cell.dataset) == cell.measure]
    summed = sorted({cell.dataset for cell in kept if is_average(cell.dataset)})
    if summed and len(summed) < len(first):
        warn(f"omitted as summaries of other datasets: {some(summed)}")
        kept = [cell for cell in kept if cell.dataset not in summed]
    directions = {_dataset(task): ways[task][name] for task, name in first.items()}
    return leaderboard_from_cells(parts[0].source.path, kept, directions)


def _dataset(name: str) -> str:
    return name or "all samples"


def leaderboard_from_cells(
    where: object,
    cells: Sequence[Cell],
    directions: Mapping[str, Direction],
    types: Mapping[str, str] | None = None,
) -> Leaderboard:
    """A table of means over the topics of each dataset, and over several answers to one."""
    runs = {name: i for i, name in enumerate(dict.fromkeys(cell.run for cell in cells))}
    answers: dict[str, dict[tuple[str, str], list[float]]] = {}
    for cell in cells:
        own = answers.setdefault(_dataset(cell.dataset), {})
        own.setdefault((cell.run, cell.topic), []).append(cell.value)
    tables: dict[str, np.ndarray] = {}
    for dataset, found in answers.items():
        topics = list(dict.fromkeys(topic for _, topic in found))
        places = dict(zip(topics, places_by_name(topics).tolist(), strict=True))
        table = tables[dataset] = np.full((len(runs), len(topics)), np.nan)
        for (run, topic), values in found.items():
            if topic == "" and len({*values}) > 1:
                raise InputError(f"two scores of {run} on {dataset}: give one file of them")
            table[runs[run], places[topic]] = mean_of_present(np.array(values))
    if not tables:
        raise InputError(f"{where}: no dataset has a score by the measure")
    has_topics = any(cell.topic for cell in cells)
    return Leaderboard(
        runs=tuple(runs),
        datasets=tuple(tables),
        values=np.stack([mean_of_present(table) for table in tables.values()], axis=1),
        types=tuple(types[name] for name in tables) if types and any(types.values()) else (),
        topic_scores=tables if has_topics else {},
        directions=directions,
    )


SPLITS = ("test", "dev", "validation", "train")
"""Order of preference among the splits of an MTEB task that most models have."""

LAST_REVISIONS = ("external", "no_revision_available")
"""Scores that were reported elsewhere count only where no revision was run."""


def mteb_means(parts: Sequence[Part]) -> list[Cell]:
    """The score of each model on each MTEB task: a mean over the subsets that all models have.

    The revision of a model with the most tasks counts first, and scores reported elsewhere last;
    the split is the one that most models have.
    """
    homes = [part.source.path.absolute().parent for part in parts]
    n_tasks = Counter(homes)
    order = sorted(
        range(len(parts)),
        key=lambda k: (homes[k].name in LAST_REVISIONS, -n_tasks[homes[k]], homes[k].name),
    )
    # task: model: split: subset: score
    scored: dict[str, dict[Path, dict[str, dict[str, float]]]] = {}
    for k in order:
        of_task = scored.setdefault(parts[k].source.path.stem, {})
        if homes[k].parent not in of_task:
            splits = of_task[homes[k].parent] = {}
            for cell in parts[k].rows:
                splits.setdefault(cell.measure, {})[cell.topic] = cell.value
    made, without = [], []
    for task, by_model in sorted(scored.items()):
        means = _task_means(task, {model: own for model, own in by_model.items() if own})
        made += [
            Cell("main_score", model.name.replace("__", "/"), "", mean, None, task)
            for model, mean in means.items()
        ]
        without += [] if means else [task]
    if without:
        warn(f"omitted for lack of subsets that all models have: {some(without)}")
    return sorted(made, key=lambda cell: cell.run)


def _task_means(task: str, scored: Mapping[Path, dict[str, dict[str, float]]]) -> dict[Path, float]:
    """The means over the subsets that all models of the task's main split have; none without."""
    numbers = Counter(split for splits in scored.values() for split in splits)
    if not numbers:
        return {}
    places = {name: place for place, name in enumerate(SPLITS)}
    main = min(numbers, key=lambda name: (-numbers[name], places.get(name, len(SPLITS)), name))
    if others := [model.name for model, splits in scored.items() if main not in splits]:
        lacking = counted(len(others), "model lacks", "models lack")
        warn(f"{task}: {lacking} the split {main!r}, and therefore the task: {some(others)}")
    own = {model: splits[main] for model, splits in scored.items() if main in splits}
    shared = sorted(set.intersection(*map(set, own.values())))
    if shared and len({*map(frozenset, own.values())}) > 1:
        what = "models have different subsets; only those that all models have are used"
        warn(f"{task}: {what}: {some(shared)}")
    if not shared:
        return {}
    return {model: float(np.mean([of[name] for name in shared])) for model, of in own.items()}


def _judgments(where: str, grades: Sequence[Grade]) -> Qrels:
    """Judgments with whole grades: means over raters, and fractions times 10 or 100."""
    found: dict[str, dict[str, list[float]]] = {}
    for grade in grades:
        if grade.value == grade.value:
            own = found.setdefault(grade.topic, {})
            own.setdefault(grade.document, []).append(grade.value)
    means = {t: {d: sum(v) / len(v) for d, v in own.items()} for t, own in found.items()}
    flat = np.array([value for own in means.values() for value in own.values()])
    if not len(flat):
        raise FormatError(where, "empty: no document has a grade")
    scales = (1, 10, 100)
    near = [scale for scale in scales if np.allclose(flat * scale, np.round(flat * scale))]
    scale = next(iter(near), scales[-1])
    raters = Counter(grade.judge for grade in grades)
    if len(raters) > 1:
        tell(where, f"grades are means over {counted(len(raters), 'rater')}")
    if scale > 1:
        tell(where, f"grades are fractions, which are taken times {scale}")
    return qrels_from_dict(
        {t: {d: round(value * scale) for d, value in own.items()} for t, own in means.items()}
    )
