"""`Leaderboard`: one number for every run and dataset, and what is known about the datasets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from steadyrank.data.directions import (
    Direction,
    checked_directions,
    is_lower,
    one_direction,
    rankable,
    set_by_hand,
)
from steadyrank.data.order import order_by_name, scores_in_order
from steadyrank.data.scores import (
    Scores,
    check_scores,
    distinct_labels,
    mean_of_present,
    measure_of,
    own_numbers,
)
from steadyrank.errors import InputError, arg, unknown_name, warn
from steadyrank.words import counted, some


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Leaderboard:
    """A table `values[run, dataset]`; NaN where there is no score.

    Parameters
    ----------
    runs, datasets : sequences of str
        Names down and across.
    values : array, [run, dataset]
    types : sequence of str, optional
        The type of each dataset, such as Retrieval or STS; empty where nothing is known.
    topic_scores : mapping, optional
        Of datasets whose topics are known, the scores [run, topic] behind the column, NaN where
        missing.
    directions : mapping, optional
        Of datasets whose scores are better if "lower", or whose names say so wrongly: the
        direction, as in `Scores`.

    Examples
    --------
    >>> import steadyrank as sr
    >>> values = [[0.5, 0.1], [0.4, 0.2]]
    >>> table = sr.Leaderboard(runs=["a", "b"], datasets=["x", "y"], values=values)
    >>> table.values.mean(axis=1).round(2).tolist(), table.has_topics
    ([0.3, 0.3], False)
    """

    runs: tuple[str, ...]
    datasets: tuple[str, ...]
    values: np.ndarray
    types: tuple[str, ...] = ()
    topic_scores: Mapping[str, np.ndarray] = field(default_factory=dict)
    directions: Mapping[str, Direction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for what in ("runs", "datasets"):
            object.__setattr__(self, what, distinct_labels(what, getattr(self, what)))
        values = own_numbers(self.values)
        if values.shape != (len(self.runs), len(self.datasets)):
            raise InputError(
                f"values of shape {values.shape} do not fit {len(self.runs)} runs and "
                f"{len(self.datasets)} datasets"
            )
        check_scores(values)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "types", tuple(str(kind) for kind in self.types))
        if self.types and len(self.types) != len(self.datasets):
            raise InputError(f"{len(self.types)} types for {len(self.datasets)} datasets")
        ways = checked_directions(self.datasets, self.directions)
        object.__setattr__(self, "directions", ways)

    def __repr__(self) -> str:
        missing = int(np.isnan(self.values).sum())
        note = f", {missing} missing" if missing else ""
        return f"<Leaderboard: {len(self.runs)} runs × {len(self.datasets)} datasets{note}>"

    @property
    def has_topics(self) -> bool:
        """Whether the scores of topics are known for every dataset."""
        return bool(self.datasets) and all(name in self.topic_scores for name in self.datasets)

    def take(
        self, *, runs: Sequence[int] | None = None, datasets: Sequence[int] | None = None
    ) -> Leaderboard:
        """The rows and columns at these places, in their order."""
        rows = np.arange(len(self.runs)) if runs is None else np.asarray(runs, int)
        columns = np.arange(len(self.datasets)) if datasets is None else np.asarray(datasets, int)
        kept = {self.datasets[k] for k in columns}
        return Leaderboard(
            runs=tuple(self.runs[i] for i in rows),
            datasets=tuple(self.datasets[k] for k in columns),
            values=self.values[np.ix_(rows, columns)],
            types=tuple(self.types[k] for k in columns) if self.types else (),
            topic_scores={
                name: scores[rows] for name, scores in self.topic_scores.items() if name in kept
            },
            directions=self.directions,
        )

    @property
    def lower_is_better(self) -> bool:
        """Whether lower is better in all datasets; an error that names two that differ."""
        return one_direction(self.directions, "datasets") == "lower"

    def is_lower_better(self, dataset: str) -> bool:
        """Whether lower is better in one dataset; an error if it has no direction to rank by."""
        return is_lower(dataset, self.directions[dataset])

    def directed(
        self, *, lower: str | Iterable[str] = (), higher: str | Iterable[str] = ()
    ) -> Leaderboard:
        """Return the table with these datasets as lower-is-better, or as higher-is-better."""
        return replace(self, directions=set_by_hand(self.directions, lower, higher, "dataset"))

    def ranked(self) -> Leaderboard:
        """The datasets that can be ranked by; a warning names the others."""
        kept = [self.datasets.index(name) for name in rankable(self.directions)]
        return self if len(kept) == len(self.datasets) else self.take(datasets=kept)

    def one_way(self) -> Leaderboard:
        """Return the datasets of the most common direction; a warning names the others.

        Scores of opposite directions cannot be averaged.
        """
        table = self.ranked()
        lower = np.array([table.is_lower_better(name) for name in table.datasets])
        if 2 * lower.sum() == len(lower):
            one_direction(table.directions, "datasets")
        kept = lower == (2 * lower.sum() > len(lower))
        if kept.all():
            return table
        way, other = ("lower", "higher") if kept[lower].any() else ("higher", "lower")
        names = [name for name, is_kept in zip(table.datasets, kept, strict=True) if not is_kept]
        warn(
            f"{counted(len(names), 'dataset')} where {other} is better left out of the mean, as "
            f"the others are better if {way}: {some(names)}"
        )
        return table.take(datasets=np.flatnonzero(kept).tolist())

    def oriented(self) -> Leaderboard:
        """Return the table with higher as better: with the other sign where lower is better."""
        if not self.lower_is_better:
            return self
        return replace(
            self,
            values=0.0 - self.values,
            topic_scores={name: 0.0 - scores for name, scores in self.topic_scores.items()},
            directions=dict.fromkeys(self.datasets, "higher"),
        )

    def with_types(self, types: Mapping[str, str]) -> Leaderboard:
        """Return the table with the type of each dataset, by name."""
        lacking = [name for name in self.datasets if name not in types]
        if len(lacking) == len(self.datasets) and lacking:
            raise unknown_name("dataset", lacking[0], types, where="in the types")
        if lacking:
            raise InputError(f"no type is given for dataset {lacking[0]!r}: add its row")
        return replace(self, types=tuple(types[name] for name in self.datasets))

    def in_order(self) -> Leaderboard:
        """Runs and datasets by name: their order in the files changes no number."""
        rows, columns = order_by_name(self.runs), order_by_name(self.datasets)
        return self.take(runs=rows.tolist(), datasets=columns.tolist())

    def as_scores(self, measure: str = "score") -> Scores:
        """Return the numbers with datasets as topics."""
        return Scores(
            measures=(measure,),
            runs=self.runs,
            topics=self.datasets,
            values=self.values[np.newaxis],
            directions={measure: one_direction(self.directions, "datasets")},
        )


def leaderboard_from_collections(
    collections: Mapping[str, Scores], *, measure: str | None = None
) -> Leaderboard:
    """A table of means from the scores of several collections, runs matched by name."""
    if not collections:
        raise InputError("no collections were named")
    names = {name: _system_names(name, scores) for name, scores in collections.items()}
    runs = dict.fromkeys(run for column in names.values() for run in column)
    rows = {run: row for row, run in enumerate(runs)}
    topic_scores, directions = {}, {}
    for name, scores in collections.items():
        directions[str(name)] = scores.directions[measure_of(scores, measure)]
        matrix = scores_in_order(scores).matrix(measure)
        topic_scores[str(name)] = np.full((len(runs), matrix.shape[1]), np.nan)
        topic_scores[str(name)][[rows[run] for run in names[name]]] = matrix
    return Leaderboard(
        runs=tuple(runs),
        datasets=tuple(topic_scores),
        values=np.stack([mean_of_present(scores) for scores in topic_scores.values()], axis=1),
        topic_scores=topic_scores,
        directions=directions,
    )


def _system_names(collection: str, scores: Scores) -> tuple[str, ...]:
    """What matches the runs of a collection with those of others."""
    names = scores.run_info.get("system", scores.runs)
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(
            f"two runs of {collection} are system {twice!r}: match runs by another part of their "
            f"names with {arg('system_from=')}"
        )
    return tuple(names)
