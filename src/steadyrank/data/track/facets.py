"""`simulated_facets`: graded answers of which all variance components are known.

For anyone who wants to see whether intervals over judges hold what they promise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.scores import Scores
from steadyrank.errors import bad_value, check_count, check_number, unknown_name

COMPONENTS: Mapping[str, tuple[float, str]] = {
    "system": (0.05, "s"),
    "topic": (0.07, "t"),
    "judge": (0.36, "j"),
    "system:topic": (0.08, "st"),
    "answer": (0.03, "sta"),
    "system:judge": (0.06, "sj"),
    "topic:judge": (0.18, "tj"),
    "system:topic:judge": (0.2, "stj"),
    "answer:judge": (0.08, "staj"),
    "residual": (0.2, "stajd"),
}
"""Variances, much as five language models graded summaries of news, and axes of the effects."""


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
        The true means of the systems, instead of random ones.
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
    numbers = (n_systems, n_topics, n_answers, n_judges, n_draws)
    sizes = dict(zip("stajd", numbers, strict=True))
    for name, size in zip(
        ("systems", "topics", "answers", "judges", "draws"), numbers, strict=True
    ):
        check_count(f"the number of {name}", size)
    for name in components or ():
        if name not in COMPONENTS:
            raise unknown_name("component", name, COMPONENTS)
    if not 0.0 <= check_number("missing", missing) < 1.0:
        raise bad_value("missing", "be a share of at least 0 and below 1", missing)
    seed = seed_from(rng)
    stream = np.random.default_rng(seed)
    truth = {name: own[0] for name, own in COMPONENTS.items()} | dict(components or {})
    values = np.full(numbers, 3.0)
    for name, (_, axes) in COMPONENTS.items():
        shape = [size if axis in axes else 1 for axis, size in sizes.items()]
        effects = stream.normal(size=shape) * np.sqrt(truth[name])
        if name == "system" and means is not None:
            effects = np.reshape(np.asarray(means, float) - 3.0, shape)
        values = values + effects
    values[stream.random(values.shape) < missing] = np.nan
    places = np.indices((n_systems, n_answers, n_judges, n_draws)).reshape(4, -1)
    letters = {"system": "s", "answer": "", "judge": "j", "draw": ""}
    columns = {
        name: tuple(f"{letter}{place + 1}" for place in own)
        for (name, letter), own in zip(letters.items(), places, strict=True)
        if name == "system" or own.any()
    }
    return Scores(
        measures=("grade",),
        runs=tuple("/".join(parts) for parts in zip(*columns.values(), strict=True)),
        topics=tuple(f"t{topic + 1}" for topic in range(n_topics)),
        values=values.transpose(0, 2, 3, 4, 1).reshape(1, -1, n_topics),
        run_info=columns,
        meta={"components": truth, "seed": seed},
    )
