"""`simulated_facets`: graded answers of which all variance components are known.

For anyone who wants to see whether intervals over judges hold what they promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError, check_count, check_number, unknown_name

COMPONENTS: Mapping[str, float] = {
    "system": 0.05,
    "topic": 0.07,
    "judge": 0.36,
    "system:topic": 0.08,
    "answer": 0.03,
    "system:judge": 0.06,
    "topic:judge": 0.18,
    "system:topic:judge": 0.2,
    "answer:judge": 0.08,
    "residual": 0.2,
}
"""Much as five language models graded summaries of news."""

_INDICES = {"system": "s", "topic": "t", "judge": "j", "answer": "sta", "residual": "stajd"}
"""Axes of a component, where they are not the first letters of its name."""


def simulated_facets(
    *,
    n_systems: int = 8,
    n_topics: int = 50,
    n_judges: int = 5,
    n_answers: int = 1,
    n_draws: int = 1,
    components: Mapping[str, float] | None = None,
    means: Sequence[float] | None = None,
    missing: float = 0.0,
    rng: Rng = 0,
) -> Scores:
    """Scores of systems on topics by judges, with answers and draws, normal effects.

    Parameters
    ----------
    n_systems, n_topics, n_judges, n_answers, n_draws : int
        How many of each.
    components : mapping, optional
        Variances that differ from the defaults: of `system`, `topic`, `judge`, `system:topic`,
        `answer`, `system:judge`, `topic:judge`, `system:topic:judge`, `answer:judge`, `residual`.
    means : sequence of float, optional
        The true means of the systems, in place of random ones.
    missing : float
        Share of the scores that are missing, at random.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Scores
        One measure, `grade`; `run_info` has system, judge, answer and draw, `meta` the truth.

    Examples
    --------
    >>> import steadyrank as sr
    >>> scores = sr.simulated_facets(n_systems=3, n_topics=10, n_judges=4, n_answers=2)
    >>> scores.values.shape, sorted(scores.run_info)
    ((1, 24, 10), ['answer', 'judge', 'system'])
    """
    sizes = {"s": n_systems, "t": n_topics, "a": n_answers, "j": n_judges, "d": n_draws}
    for name, size in sizes.items():
        check_count(f"the number of {_NAMES[name]}", size)
    for name in components or ():
        if name not in COMPONENTS:
            raise unknown_name("component", name, COMPONENTS)
    if not 0.0 <= check_number("missing", missing) < 1.0:
        raise InputError(f"missing must be a share of at least 0 and below 1, got {missing!r}")
    seed = seed_from(rng)
    stream = np.random.default_rng(seed)
    truth = {**COMPONENTS, **(components or {})}
    values = np.full(tuple(sizes.values()), 3.0)
    for name, variance in truth.items():
        drawn = stream.normal(size=_shape(name, sizes)) * np.sqrt(variance)
        if name == "system" and means is not None:
            drawn = np.reshape(np.asarray(means, float) - 3.0, _shape(name, sizes))
        values = values + drawn
    if missing:
        values[stream.random(values.shape) < missing] = np.nan
    return _as_scores(values, {"components": truth, "seed": seed})


_NAMES = {"s": "systems", "t": "topics", "a": "answers", "j": "judges", "d": "draws"}


def _shape(name: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    axes = _INDICES.get(name) or "".join(
        _INDICES.get(part, "") if part == "answer" else part[0] for part in name.split(":")
    )
    return tuple(size if axis in axes else 1 for axis, size in sizes.items())


def _as_scores(values: np.ndarray, meta: dict[str, Any]) -> Scores:
    """[system, topic, answer, judge, draw] as runs; facets of one level are left out."""
    n_systems, n_topics, *shape = values.shape
    places = np.indices((n_systems, *shape)).reshape(4, -1)
    letters = {"system": "s", "answer": "", "judge": "j", "draw": ""}
    columns = {
        name: tuple(f"{letter}{place + 1}" for place in own)
        for (name, letter), own in zip(letters.items(), places, strict=True)
        if name == "system" or len(set(own)) > 1
    }
    return Scores(
        measures=("grade",),
        runs=tuple("/".join(parts) for parts in zip(*columns.values(), strict=True)),
        topics=tuple(f"t{topic + 1}" for topic in range(n_topics)),
        values=values.transpose(0, 2, 3, 4, 1).reshape(1, -1, n_topics),
        run_info=columns,
        meta=meta,
    )
