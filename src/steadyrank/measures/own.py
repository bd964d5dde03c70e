"""Register a plain function of the ranked and the judged grades as a measure.

A function that Numba can compile runs as fast as the built-in measures; any other runs
as Python. Its name works wherever the name of a measure does.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from steadyrank.compute.kernels import specialised
from steadyrank.errors import InputError
from steadyrank.measures.kinds import Kind
from steadyrank.measures.names import Measure, add_kind, is_taken

Function = Callable[[np.ndarray, np.ndarray], float]

_FUNCTIONS: dict[str, Function] = {}


def register_measure(name: str, function: Function) -> Measure:
    """Register a function of grades as a measure, and return the measure.

    Parameters
    ----------
    name : str
        `name@k` passes only the top k documents. Registering a name again replaces the function.
    function : callable
        Takes `ranked`, the grades of the returned documents in rank order, 0 for unjudged ones, and
        `judged`, the grades of all judged documents of the topic, best first. Both are integer
        arrays, which it must not change. It is not called for topics that a run lacks or that have
        no relevant document.

    Returns
    -------
    Measure
        Accepted wherever the name of a measure is.

    Examples
    --------
    >>> import steadyrank as sr
    >>> def first_is_best(ranked, judged):
    ...     return 1.0 if len(ranked) > 0 and ranked[0] == judged[0] else 0.0
    >>> sr.register_measure("FirstIsBest", first_is_best)
    FirstIsBest
    >>> qrels = sr.qrels_from_dict({"1": {"a": 1, "b": 2}})
    >>> run = sr.run_from_dict({"1": {"a": 0.5, "b": 0.7}}, name="mine")
    >>> sr.evaluate(run, qrels, "FirstIsBest").values.item()
    1.0
    """
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z]\w*", name):
        raise InputError(f"a measure's name is a letter, then letters and digits, got {name!r}")
    if is_taken(name) and name not in _FUNCTIONS:
        raise InputError(f"{name!r} is a measure of steadyrank: choose another name")
    if not callable(function):
        raise InputError(f"{name}: expected a function of (ranked, judged), got {function!r}")
    add_kind(name, Kind(parameters={}, says="your own"))
    _FUNCTIONS[name] = function
    return Measure(name)


def own_function(name: str) -> Function | None:
    """Return the registered function of this name, or None."""
    return _FUNCTIONS.get(name)


def _score_dense(entries, lengths, ideal_lists, cutoff, no_relevant, missing, buffer, out):
    """Call the global `one_topic` on the ranked grades of every topic, written to `buffer`."""
    blocks, ranks, grades = entries
    ideal_blocks, ideal = ideal_lists
    for t in range(len(lengths)):
        judged = ideal[ideal_blocks[t] : ideal_blocks[t + 1]]
        if len(judged) == 0 or judged[0] < 1:
            out[t] = no_relevant
        elif lengths[t] < 0:
            out[t] = missing
        else:
            depth = min(lengths[t], cutoff)
            buffer[:depth] = 0
            for i in range(blocks[t], blocks[t + 1]):
                if ranks[i] <= depth:
                    buffer[ranks[i] - 1] = grades[i]
            # The judgments are shared by all runs: the function gets a copy.
            out[t] = one_topic(buffer[:depth], judged.copy())  # noqa: F821


@functools.lru_cache(maxsize=64)
def _loop(function: Function) -> Callable[..., None]:
    compiled = _compiled(function)
    if compiled is None:
        as_number = lambda ranked, judged: float(function(ranked, judged))  # noqa: E731
        how, one_topic = (lambda loop: loop), as_number
    else:
        how, one_topic = numba.njit(nogil=True), compiled
    loop: Callable[..., None] = specialised(_score_dense, "score_own", how=how, one_topic=one_topic)
    return loop


def _compiled(function: Function) -> Any:
    """Return the compiled function, or None if Numba cannot compile it to return a number."""
    grades = numba.types.Array(numba.types.int32, 1, "C")
    try:
        is_compiled = hasattr(function, "py_func")
        compiled: Any = function if is_compiled else numba.njit(nogil=True)(function)
        compiled.compile((grades, grades))
    except Exception:  # whatever the reason, Python can still run it
        return None
    (overload,) = list(compiled.overloads.values())[-1:]
    return compiled if isinstance(overload.signature.return_type, numba.types.Number) else None


def score_own(
    function: Function,
    measure: Measure,
    entries: tuple[np.ndarray, np.ndarray, np.ndarray],
    lengths: np.ndarray,
    ideal: tuple[np.ndarray, np.ndarray],
    no_relevant: float,
    missing: float,
    out: np.ndarray,
) -> None:
    """Score every topic by the user's function; `entries` are blocks, ranks and grades."""
    buffer = np.zeros(max(0, int(lengths.max(initial=0))), np.int32)
    cutoff = measure.cutoff or np.iinfo(np.int64).max
    try:
        _loop(function)(entries, lengths, ideal, cutoff, no_relevant, missing, buffer, out)
    except Exception as error:
        raise InputError(
            f"measure {measure} failed: {type(error).__name__}: {error}: "
            "it must turn (ranked, judged) into a number"
        ) from error
