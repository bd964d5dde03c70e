"""A folder of MTEB results as it is: model/revision/task.json, several revisions and subsets.

A score of a task is the mean of its subsets' main scores on one split. Models differ in which
subsets they were run on, and a mean over whatever is there would compare different things: only
subsets that every model of a task has are taken, unless some are named.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.data.leaderboard import Leaderboard
from steadyrank.data.read.json_files import value_of
from steadyrank.data.read.limits import BOM
from steadyrank.data.read.score_tools import cell_value
from steadyrank.data.read.sources import open_bytes
from steadyrank.errors import FormatError, InputError, warn
from steadyrank.words import counted, some

SPLITS = ("test", "dev", "validation", "train")
"""Of the splits that most models have of a task, the first of these is scored."""

LAST_REVISIONS = ("external", "no_revision_available")
"""Scores that were reported elsewhere count only where no revision was run."""

_META = "model_meta.json"

_BROKEN = (
    *(ValueError, LookupError, TypeError, AttributeError),
    *(StopIteration, RecursionError, OverflowError),
)
"""What Python raises for JSON of another shape, or with a whole number that no float holds."""

Subsets = Mapping[str, float]
"""Name of a subset to its main score."""

Splits = Mapping[str, Subsets]
"""Name of a split to the scores of its subsets."""


def read_mteb_results(folder: Path, *, subsets: Sequence[str] = ()) -> Leaderboard:
    """One row per model, one column per task; main scores of the test split.

    Of several revisions the one with the most tasks comes first; the others add the tasks that it
    lacks, and scores reported elsewhere ("external") come last.
    """
    # A clone of the results' repository has them in a folder of its own.
    inside = folder / "results" if (folder / "results").is_dir() else folder
    models = {path.name.replace("__", "/"): _tasks_of(path) for path in sorted(_folders(inside))}
    models = {name: tasks for name, tasks in models.items() if tasks}
    if not models:
        raise InputError(f"{folder}: no MTEB results: expected model/revision/task.json")
    tasks = sorted({task for scored in models.values() for task in scored})
    columns = {task: _column(task, _on_one_split(task, models), subsets) for task in tasks}
    named = [task for task in tasks if columns[task] is not None]
    if not named:
        raise InputError(f"{folder}: no task has a subset {' or '.join(subsets)}")
    if len(named) < len(tasks):
        lacking = [task for task in tasks if columns[task] is None]
        warn(
            f"{folder}: omitted for lack of the subsets that are used: {some(lacking)}",
            stacklevel=5,
        )
    values = np.array([[(columns[task] or {}).get(m, np.nan) for task in named] for m in models])
    return Leaderboard(runs=tuple(models), datasets=tuple(named), values=values)


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")]


def _on_one_split(task: str, models: Mapping[str, Mapping[str, Splits]]) -> dict[str, Subsets]:
    """Model to the scores of one split, that most models have; who lacks it lacks the task."""
    # A file without any score is no reason to take the task from other models.
    scored = {
        model: {split: subsets for split, subsets in tasks[task].items() if subsets}
        for model, tasks in models.items()
        if task in tasks
    }
    numbers = Counter(split for splits in scored.values() for split in splits)
    if not numbers:
        return {}
    places = {name: place for place, name in enumerate(SPLITS)}
    chosen = min(numbers, key=lambda name: (-numbers[name], places.get(name, len(SPLITS)), name))
    others = [model for model, splits in scored.items() if splits and chosen not in splits]
    if others:
        lacking = counted(len(others), "model lacks", "models lack")
        warn(
            f"{task}: {lacking} the split {chosen!r}, and therefore the task: {some(others)}",
            stacklevel=5,
        )
    return {model: splits[chosen] for model, splits in scored.items() if chosen in splits}


def _tasks_of(model: Path) -> dict[str, Splits]:
    """The scores of a model by task, revisions in the order in which they count."""
    revisions = {path: sorted(path.glob("*.json")) for path in _folders(model)}
    order = sorted(
        revisions, key=lambda path: (path.name in LAST_REVISIONS, -len(revisions[path]), path.name)
    )
    tasks: dict[str, Splits] = {}
    for revision in order:
        for path in revisions[revision]:
            if path.name != _META and path.stem not in tasks:
                tasks[path.stem] = _splits_of(path)
    return tasks


def _splits_of(path: Path) -> Splits:
    with open_bytes(path) as stream:
        content = value_of(path, stream.read().removeprefix(BOM))
    try:
        splits: dict[str, Any] = content["scores"]
        number = partial(cell_value, path, line=None, where=" as main_score", may_be_truth=False)
        scored = {
            split: [
                (str(entry.get("hf_subset", "default")), number(entry["main_score"]))
                for entry in entries
                if entry.get("main_score") is not None
            ]
            for split, entries in splits.items()
        }
        next(iter(scored))
    except _BROKEN:
        raise FormatError(path, "not an MTEB result: expected scores with a main_score") from None
    return {split: _distinct(path, subsets) for split, subsets in scored.items()}


def _distinct(path: Path, scored: Sequence[tuple[str, float]]) -> Subsets:
    """The scores by their subsets, of which each has one; NaN is none, as null is."""
    subsets = dict(scored)
    if len(subsets) < len(scored):
        twice = Counter(name for name, _ in scored).most_common(1)[0][0]
        raise FormatError(path, f"two scores of subset {twice!r}: keep one")
    return {name: score for name, score in subsets.items() if not math.isnan(score)}


def _column(
    task: str, scored: Mapping[str, Subsets], named: Sequence[str]
) -> dict[str, float] | None:
    """Model to score on one task; None where the subsets that count are not there."""
    if not scored:
        return None
    kinds = {frozenset(subsets) for subsets in scored.values()}
    shared = frozenset.intersection(*kinds)
    if named:
        shared = frozenset().union(*kinds) & set(named)
    elif len(kinds) > 1 and shared:
        warn(
            f"{task}: models have different subsets; only those that all models have are used: "
            f"{some(sorted(shared))}",
            stacklevel=5,
        )
    if not shared:
        return None
    complete = {model: s for model, s in scored.items() if shared <= set(s)}
    if len(complete) < len(scored):
        lacking = counted(len(scored) - len(complete), "model lacks", "models lack")
        warn(f"{task}: {lacking} a subset that is used, and therefore the task", stacklevel=5)
    return {
        model: float(np.mean([subsets[name] for name in sorted(shared)]))
        for model, subsets in complete.items()
    }
