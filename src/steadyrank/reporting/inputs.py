"""The input of a report: scores, and the runs and judgments behind them, if there are any.

Everything is read and checked before any study starts; warnings are kept for the page, and so are
the paths and hashes of files.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from steadyrank.data.battles import Battles
from steadyrank.data.facets import averaged_facets, facets_of, tidy_judges
from steadyrank.data.forms.reading import Reading, files_below, read_forms
from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.order import scores_in_order
from steadyrank.data.read.leaderboards import read_leaderboard
from steadyrank.data.read.run_files import judgments_of
from steadyrank.data.read.run_info import describe_scores, describe_topics, with_chosen_names
from steadyrank.data.read.runs import Runs
from steadyrank.data.read.score_files import read_scores
from steadyrank.data.read.streams import digest_of, is_readable, size_of
from steadyrank.data.scores import Scores, check_scores, cluster_codes, topic_column
from steadyrank.errors import InputError, SteadyrankWarning, unknown_column
from steadyrank.measures.check import check
from steadyrank.measures.evaluate import evaluate
from steadyrank.present.json import picked
from steadyrank.studies.judge_scores import evaluate_judge, scores_of_judges
from steadyrank.studies.material import Machine, Material, Settings, SourceFile
from steadyrank.words import counted


def read_material(
    runs: Runs | None,
    qrels: Any,
    *,
    scores: Any = None,
    datasets: Any = None,
    measures: Sequence[str] = (),
    judges: Mapping[str, Any] = MappingProxyType({}),
    settings: Settings,
    machine: Machine,
) -> Material:
    """Read, evaluate and check the data; refuse data on which no report is possible."""
    if datasets is not None:
        if not runs is qrels is scores is None:
            raise InputError("give either a table of datasets, or runs and qrels, or scores")
        if not settings.topic_info is settings.cluster_from is settings.by is None:
            raise InputError("a table of datasets has no topics: topic information does not apply")
        return _from_leaderboard(datasets, settings)
    if scores is not None:
        if runs is not None or qrels is not None:
            raise InputError("give either runs and qrels or scores, not both")
        if isinstance(scores, Battles):
            return _from_battles(scores, settings)
        read = _from_scores if isinstance(scores, Scores) else _from_files
        material = read(scores, measures, judges, settings)
        if material.battles is not None:
            return material
    elif runs is None or qrels is None:
        raise InputError("give runs and qrels, or scores")
    else:
        material = _from_runs(runs, qrels, measures, judges, settings, machine)
    material = with_topic_information(material)
    _check_size(material.scores)
    for column in (*settings.factors, *settings.instance_factors):
        if column not in material.scores.run_info:
            raise unknown_column(column, "run information", material.scores.run_info)
    return material


def _from_runs(
    runs: Runs,
    qrels: Any,
    measures: Sequence[str],
    judges: Mapping[str, Any],
    settings: Settings,
    machine: Machine,
) -> Material:
    # Four steps use the runs, and each file is read once.
    to_read = runs.keeping()
    if len(to_read) < 2:
        raise InputError(f"a report compares runs: at least two are required, got {len(to_read)}")
    with kept_warnings() as warned:
        is_file = isinstance(qrels, (str, os.PathLike))
        judged = judgments_of(qrels)
        options = picked(settings, "missing no_relevant ties") | picked(machine, "jobs scheduler")
        scores = evaluate(
            to_read,
            judged,
            tuple(measures) or None,
            rel=settings.rel,
            progress=machine.progress("runs evaluated"),
            **options,
        )
        others = [
            evaluate_judge(
                to_read,
                judged,
                name,
                judgments_of(source),
                measure=scores.measures[0],
                progress=machine.progress(f"runs evaluated by {name}"),
                **options,
            )
            for name, source in judges.items()
        ]
        looked_over = check(
            to_read, judged, jobs=machine.jobs, progress=machine.progress("runs checked")
        )
    files = [("run", path) for path in to_read.files]
    if is_file and is_readable(Path(qrels)):
        files.insert(0, ("qrels", Path(qrels)))
    files += [
        (f"judge {name}", Path(source))
        for name, source in judges.items()
        if isinstance(source, (str, os.PathLike)) and is_readable(Path(source))
    ]
    return Material(
        scores=scores,
        judge_scores={judge.name: judge.scores for judge in others},
        judge_qrels={judge.name: judge.qrels for judge in others if judge.qrels is not None},
        settings=settings,
        runs=to_read,
        own_names=to_read.own_names(),
        qrels=judged,
        check=looked_over,
        files=_hashed(files, settings, to_read.digests),
        warnings=tuple(warned),
    )


def _from_files(
    source: Any, measures: Sequence[str], judges: Mapping[str, Any], settings: Settings
) -> Material:
    """Return the material of files: of a tool, or tables of scores."""
    several = source if isinstance(source, (list, tuple)) else [source]
    # A wide file does not name its measure; a long one does.
    label = measures[0] if len(measures) == 1 else None
    found: Reading | None = None
    with kept_warnings() as warned:
        if isinstance(source, Mapping):
            files = [(f"scores of {name}", Path(path)) for name, path in source.items()]
        else:
            found = read_forms(several, form=settings.form, measure=label)
            files = [("scores", file) for path in several for file in files_below(Path(path))]
            source = source if found else [file for _, file in files]
        if found is None:
            data: Any = read_scores(source, measure=label, runs_in_rows=settings.runs_in_rows)
        else:
            data = found.data if isinstance(found.data, Leaderboard | Battles) else found.scores
    if isinstance(data, Battles):
        material = _from_battles(data, settings)
    elif isinstance(data, Leaderboard):
        material = _from_leaderboard(data, settings)
    else:
        material = _from_scores(data, measures, judges, settings)
    return replace(
        material,
        files=(*_hashed(files, Settings()), *material.files),
        warnings=(*warned, *material.warnings),
        read_as=found.said if found else "",
    )


def _from_scores(
    read: Scores, measures: Sequence[str], judges: Mapping[str, Any], settings: Settings
) -> Material:
    with kept_warnings() as warned:
        read = read.directed(lower=settings.lower_is_better, higher=settings.higher_is_better)
        if measures:
            read = read.select(measures=measures)
        read = scores_in_order(tidy_judges(describe_scores(read, **settings.reading.about)))
        graded, read = read if facets_of(read) else None, averaged_facets(read)
        others = scores_of_judges(read, judges, read.measures[0])[1] if judges else []
    names, before = settings.reading.names, read.runs
    read = with_chosen_names(read, names)
    return Material(
        scores=read,
        graded=None if graded is None else with_chosen_names(graded, names),
        settings=settings,
        judge_scores={judge.name: with_chosen_names(judge.scores, names) for judge in others},
        own_names=_changed(before, read.runs),
        files=_hashed([], settings),
        warnings=tuple(warned),
    )


def _from_leaderboard(table: Any, settings: Settings) -> Material:
    """Return the material of a table of scores by dataset."""
    sources = table if isinstance(table, (list, tuple)) else [table]
    paths = [Path(source) for source in sources if isinstance(source, (str, os.PathLike))]
    with kept_warnings() as odd:
        leaderboard = read_leaderboard(table).in_order()
        lower, higher = settings.lower_is_better, settings.higher_is_better
        leaderboard = leaderboard.directed(lower=lower, higher=higher).one_way()
    files = [file for path in paths for file in _files_in(path)]
    scores = with_chosen_names(leaderboard.as_scores(), settings.reading.names)
    return Material(
        scores=scores,
        settings=settings,
        leaderboard=replace(leaderboard, runs=scores.runs),
        own_names=_changed(leaderboard.runs, scores.runs),
        files=_hashed([("scores by dataset", file) for file in files], settings),
        warnings=tuple(odd),
    )


def _from_battles(battles: Battles, settings: Settings) -> Material:
    """Battles of pairs of models, with win rates for scores: no study of topics takes them."""
    rates = np.nan_to_num(battles.win_rates())[None, :, None]
    scores = Scores(
        measures=("win rate",), runs=battles.models, topics=("all battles",), values=rates
    )
    names = with_chosen_names(scores, settings.reading.names).runs
    return Material(
        scores=replace(scores, runs=names),
        battles=replace(battles, models=names),
        settings=settings,
        own_names=_changed(battles.models, names),
        files=_hashed([], settings),
    )


def _changed(before: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    return {name: own for own, name in zip(before, names, strict=True) if own != name}


def _files_in(path: Path) -> list[Path]:
    return sorted(path.rglob("*.json")) if path.is_dir() else [path]


def _check_size(scores: Scores) -> None:
    if len(scores.runs) < 2:
        raise InputError(
            f"a report compares runs: at least two are required, got {len(scores.runs)}"
        )
    if len(scores.topics) < 2:
        raise InputError(
            "a report generalises to other topics: at least two topics are required, got "
            f"{len(scores.topics)}"
        )
    if not scores.measures:
        raise InputError("no measure was given: name at least one")
    check_scores(scores.values)
    known = np.isfinite(scores.values[0]).any(axis=1)
    if known.sum() < 2:
        raise InputError(
            f"fewer than two runs have a score by {scores.measures[0]}: check the scores"
        )


def _hashed(
    files: Sequence[tuple[str, Path]],
    settings: Settings,
    digests: Mapping[Path, str] = MappingProxyType({}),
) -> tuple[SourceFile, ...]:
    """Return the files with their hashes, of which some are in `digests`."""
    named = [*files]
    for role, path in (
        ("run information", settings.reading.run_info),
        ("topic information", settings.topic_info),
    ):
        if path is not None:
            named.append((role, Path(path)))
    return tuple(source_file(role, path, digests.get(path)) for role, path in named)


def source_file(role: str, path: Path, digest: str | None = None) -> SourceFile:
    """Return a file as the page lists it; its hash is computed unless it is given."""
    return SourceFile(
        role=role, path=str(path), size=size_of(path), sha256=digest or digest_of(path)
    )


@contextmanager
def kept_warnings() -> Iterator[list[str]]:
    """Collect the warnings of steadyrank, without repetition; other warnings are raised again."""
    kept: list[str] = []
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("default")
        warnings.simplefilter("always", SteadyrankWarning)
        yield kept
    for warning in raised:
        if not issubclass(warning.category, SteadyrankWarning):
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
        elif str(warning.message) not in kept:
            kept.append(str(warning.message))


def with_topic_information(material: Material) -> Material:
    """Return the material with information about the topics, and notes for the reader."""
    settings = material.settings
    scores = describe_topics(
        material.scores, topic_info=settings.topic_info, cluster_from=settings.cluster_from
    )
    if settings.by is not None:
        topic_column(scores, settings.by)
    scores, notes = _without_weights(scores)
    codes = cluster_codes(scores)
    if codes is not None:
        clusters = counted(int(codes.max(initial=-1)) + 1, "cluster")
        notes.append(
            f"The {counted(len(scores.topics), 'topic')} form {clusters}: the sections on "
            "pairs of runs, other topics and planning account for them; all others treat "
            "topics as independent."
        )
    return replace(material, scores=scores, warnings=(*material.warnings, *notes))


def _without_weights(scores: Scores) -> tuple[Scores, list[str]]:
    """Return the scores without weights, so that all means of a page are of the same kind."""
    if "weight" not in scores.topic_info:
        return scores, []
    kept = {key: column for key, column in scores.topic_info.items() if key != "weight"}
    note = (
        "The topics have weights, which a report does not use: its means are unweighted. compare, "
        "topics and gate compute weighted means."
    )
    return replace(scores, topic_info=kept), [note]
