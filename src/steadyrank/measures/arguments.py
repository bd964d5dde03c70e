"""Argument handling that all studies share.

Data come first: runs and judgments, also with the judgments first, or scores, also as a table of
pandas, polars or pyarrow. Measures follow, by position, as `measure=` or as `measures=`. An unknown
keyword raises an error that suggests the right one.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from steadyrank.data.interop.objects import holds_one_run, numbers_in, scores_in_table
from steadyrank.data.interop.tables import table_of
from steadyrank.data.read.any_file import GRADES, role_of_file
from steadyrank.data.read.runs import ReadingOptions
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, arg
from steadyrank.guesses import keyword_answer
from steadyrank.measures.names import Measure, is_foreign, parse_measure

P = ParamSpec("P")
Answer = TypeVar("Answer")

JUDGMENTS = ("qrels", "human")


def data_first(function: Callable[P, Answer]) -> Callable[P, Answer]:
    """Decorate a study so that it accepts data and measures in all ways described above."""
    parameters = inspect.signature(function).parameters
    places = [name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    judged = next((places.index(name) for name in JUDGMENTS if name in places), None)
    data = [] if judged is None else places[: judged + 1]
    word = next((name for name in ("measures", "measure") if name in parameters), None)
    known = {*parameters}
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        known |= ReadingOptions.__annotations__.keys()

    @wraps(function)
    def study(*args: P.args, **kwargs: P.kwargs) -> Answer:
        if len(args) > len(places) or kwargs.keys() & places[: len(args)]:
            return function(*args, **kwargs)  # raises Python's own error
        given = dict(zip(places, args, strict=False)) | kwargs
        if word is not None:
            _take_measures(given, word, data, known, function.__name__)
        for name in given.keys() - known:
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}"
                f"{keyword_answer(name, known)}"
            )
        label = None if word is None else label_of(given.get(word))
        if len(data) > 1:
            _take_columns(given, data)
        given |= {name: _read(given[name], label) for name in data if name in given}
        if data and len(args) >= len(data) and _are_judgments(given[data[0]]):
            values = [given[name] for name in data]
            given.update(zip(data, [*values[1:], values[0]], strict=True))
        return cast("Callable[..., Answer]", function)(**given)

    return study


def _take_measures(
    given: dict[str, Any], word: str, data: list[str], known: set[str], study: str
) -> None:
    """Move measures to the study's parameter for them, whichever way they were given."""
    named = [name for name in ("measure", "measures") if given.get(name) is not None]
    if len(named) == 2:
        raise InputError(f"give either {arg('measure=')} or {arg('measures=')}, not both")
    if not named and data and names_measures(given.get(data[-1]), given.get(data[0])):
        given[word] = given.pop(data[-1])
    elif named and named[0] not in known:
        given[word] = given.pop(named[0])
    if word == "measures" or given.get(word) is None:
        return
    names = _listed(given[word])
    if len(names) != 1:
        got = ", ".join(map(str, names)) or "none"
        raise InputError(f"{study} takes one measure at a time, got {got}: call it once for each")
    given[word] = names[0]
    is_evaluated = data[:1] == ["scores"] and given.get(data[-1]) is not None
    if is_evaluated and not isinstance(given["scores"], Scores):
        given[word] = str(parse_measure(names[0]))  # as `evaluate` labels it


def _listed(measures: Any) -> list[Any]:
    return [*measures] if isinstance(measures, list | tuple | set | frozenset) else [measures]


def names_measures(value: Any, data: Any = None) -> bool:
    """Return whether an argument names measures rather than judgments."""
    if isinstance(value, list | tuple | set | frozenset):
        return bool(value) and all(names_measures(item, data) for item in value)
    if not isinstance(value, str):
        return isinstance(value, Measure) or is_foreign(value)
    try:
        if Path(value).exists():
            return False
        parse_measure(value)
    except (InputError, OSError):  # OSError: too long for a file name
        return isinstance(data, Scores) and value in data.measures
    return True


def label_of(measures: Any) -> str | None:
    """Return the label of a wide table, which holds one measure without its name."""
    names = _listed(measures)
    return str(names[0]) if len(names) == 1 and isinstance(names[0], str | Measure) else None


def _read(value: Any, label: str | None) -> Any:
    """Return a table of scores, or a mapping of tables, as `Scores`; anything else unchanged."""
    if (scores := scores_in_table(value, label)) is not None:
        return scores
    if isinstance(value, Mapping) and not holds_one_run(value):
        return {name: _read(part, label) for name, part in value.items()}
    return value


def _take_columns(given: dict[str, Any], data: list[str]) -> None:
    """Join two columns of numbers, one per run, to the parameter for scores."""
    both = [given.get(name) for name in (data[0], data[-1])]
    if any(column is None or numbers_in(column) is None for column in both):
        return
    names = [str(getattr(column, "name", "")) for column in both]
    names = names if names[0] != names[1] else ["a", "b"]
    given[data[0]] = dict(zip(names, both, strict=True))
    del given[data[-1]]


def _are_judgments(source: Any) -> bool:
    """Return whether an argument is certain to be judgments, of any tool."""
    if isinstance(source, str | os.PathLike):
        return role_of_file(source) == "qrels"
    columns = () if (table := table_of(source)) is None else table.columns
    is_table = not GRADES.isdisjoint(str(name).lower() for name in columns)
    return is_table or type(source).__name__ in ("Qrels", "TrecQrel")  # of ranx and trectools, too
