"""`Scores`: a number for every measure, run and topic, and what is known of runs and topics."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from steadyrank.data.directions import (
    Direction,
    checked_directions,
    is_lower,
    rankable,
    set_by_hand,
)
from steadyrank.data.provenance import check_joined
from steadyrank.errors import InputError, arg, check_choice, unknown_column, unknown_name, warn
from steadyrank.notebook import Exhibit, made_frame, shown_by
from steadyrank.words import counted

if TYPE_CHECKING:
    import pandas as pd

AXES = ("measure", "run", "topic")

LARGEST_SCORE, SMALLEST_SHARE = 1e100, 1e-100
"""Squares of larger scores would be infinite, and of smaller shares of the largest weight 0."""


def check_scores(values: np.ndarray) -> None:
    """Refuse what no measure is, and what no variance can be computed of."""
    if (np.abs(values) > LARGEST_SCORE).any():
        raise InputError(f"a score is beyond ±{LARGEST_SCORE:g}: are these scores of a measure?")


def distinct_labels(what: str, given: Iterable[Any]) -> tuple[str, ...]:
    """Names as text, of which no two are the same."""
    labels = tuple(map(str, given))
    if len(set(labels)) != len(labels):
        raise InputError(f"two {what} are named {Counter(labels).most_common(1)[0][0]!r}")
    return labels


def own_numbers(values: Any) -> np.ndarray:
    """Return numbers as read-only float64; None is missing, text an error.

    >>> own_numbers([0.5, None]), own_numbers([0, 1]).flags.writeable
    (array([0.5, nan]), False)
    """
    if isinstance(values, np.ndarray) and values.dtype == np.float64:
        if values.flags.owndata and values.flags.c_contiguous and not values.flags.writeable:
            return values
        numbers = np.array(values, order="C")
    else:
        numbers = _converted(values)
    numbers.flags.writeable = False
    return numbers


def _converted(values: Any) -> np.ndarray:
    try:
        found = np.asarray(values)
        if found.dtype == object:
            texts = (value for value in found.flat if isinstance(value, (str, bytes)))
            found = np.asarray(next(texts, 0.0)) if found.size else found
        if found.dtype.kind not in "biufO":
            raise ValueError
        return np.array(values, np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{arg('values')} must be numbers, in rows of one length: convert text, and leave NaN "
            "or None where a score is missing"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.evaluate.view:scores_text")
class Scores(Exhibit):
    """A cube `values[measure, run, topic]`; NaN where there is no score.

    `run_info` holds named columns about the runs, one entry per run: `team`, `system`,
    a grid's factors. `topic_info` holds those about the topics, one entry per topic: `cluster`
    (variations of one need, turns of one session), `weight` (traffic), and columns that cut the
    topics into segments. `meta` says where the scores come from. `directions` says of each measure
    whether it is better if "higher" or "lower" ("neither", "unknown"); where it says nothing, the
    measure's name does.

    Examples
    --------
    >>> import steadyrank as sr
    >>> values = [[[0.5], [0.4]]]
    >>> scores = sr.Scores(measures=["AP"], runs=["a", "b"], topics=["301"], values=values)
    >>> scores.mean().tolist(), scores.matrix("AP").shape
    ([[0.5, 0.4]], (2, 1))
    """

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    topics: tuple[str, ...]
    values: np.ndarray
    run_info: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    topic_info: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    directions: Mapping[str, Direction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for axis, given in zip(AXES, self.labels, strict=True):
            if not isinstance(given, Iterable):
                raise InputError(f"expected the names of the {axis}s, got {given!r}")
            object.__setattr__(self, f"{axis}s", distinct_labels(f"{axis}s", given))
        values = own_numbers(self.values)
        if values.shape != tuple(len(labels) for labels in self.labels):
            raise InputError(
                f"values of shape {values.shape} do not fit {len(self.measures)} measures, "
                f"{len(self.runs)} runs and {len(self.topics)} topics"
            )
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "meta", dict(self.meta))
        object.__setattr__(self, "run_info", _checked_info(self.run_info, self.runs, "run"))
        object.__setattr__(self, "topic_info", _checked_info(self.topic_info, self.topics, "topic"))
        ways = checked_directions(self.measures, self.directions)
        object.__setattr__(self, "directions", ways)

    @classmethod
    def from_frame(cls, frame: Any, *, measure: str | None = None) -> Scores:
        """Return the scores in a frame, long or wide, as `as_scores` reads it.

        `measure` names the measure where no column does.

        >>> import pandas as pd
        >>> frame = pd.DataFrame({"topic": ["1", "2"], "a": [0.1, 0.3], "b": [0.2, 0.6]})
        >>> Scores.from_frame(frame, measure="AP").runs
        ('a', 'b')
        """
        read = import_module("steadyrank.data.interop.objects").as_scores
        scores: Scores = read(frame, measure=measure)
        return scores

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """The names along the three axes."""
        return self.measures, self.runs, self.topics

    def __repr__(self) -> str:
        missing = int(np.isnan(self.values).sum())
        note = f", {missing} missing" if missing else ""
        return (
            f"<Scores: {counted(len(self.measures), 'measure')} × {counted(len(self.runs), 'run')} "
            f"× {counted(len(self.topics), 'topic')}{note}>"
        )

    def matrix(self, measure: str | None = None) -> np.ndarray:
        """Scores [run, topic] of one measure; the name may be left out if there is only one."""
        if measure is None:
            if len(self.measures) != 1:
                raise InputError(f"name one of the measures {', '.join(self.measures)}")
            return np.asarray(self.values[0])
        return np.asarray(self.values[position(str(measure), self.measures, "measure")])

    def select(
        self,
        *,
        measures: str | Iterable[str] | None = None,
        runs: str | Iterable[str] | None = None,
        topics: str | Iterable[str] | None = None,
    ) -> Scores:
        """The part of the cube with these names, in their order."""
        picked = []
        for axis, labels, names in zip(AXES, self.labels, (measures, runs, topics), strict=True):
            names = [names] if isinstance(names, str) else labels if names is None else names
            places = {name: place for place, name in enumerate(labels)}
            rows = [
                places[n] if n in places else position(n, labels, axis) for n in map(str, names)
            ]
            picked.append(np.array(rows, int))
        return replace(
            self,
            measures=tuple(self.measures[i] for i in picked[0]),
            runs=tuple(self.runs[i] for i in picked[1]),
            topics=tuple(self.topics[i] for i in picked[2]),
            values=self.values[np.ix_(*picked)],
            run_info=_picked_info(self.run_info, picked[1]),
            topic_info=_picked_info(self.topic_info, picked[2]),
        )

    def __getitem__(self, measures: str | Iterable[str]) -> Scores:
        """The scores of one measure or several: `scores["AP"]` is what any study takes."""
        return self.select(measures=measures)

    __iter__: ClassVar[None] = None
    """A cube has no one order to go through."""

    def mean(self) -> np.ndarray:
        """Mean over the topics that have a score: [measure, run]; NaN where none has.

        Weighted where the topics have a weight.

        >>> scores = Scores(measures=["AP"], runs=["a"], topics=["1", "2"], values=[[[0.1, 0.5]]])
        >>> scores.mean().round(2).tolist(), scores.with_topic_info(weight=[3, 1]).mean().tolist()
        ([[0.3]], [[0.2]])
        """
        if "weight" not in self.topic_info:
            return mean_of_present(self.values)
        return weighted_mean(self.values, topic_weights(self))

    def lower_is_better(self, measure: str | None = None) -> bool:
        """Whether lower is better; an error if the measure has no direction to rank by.

        >>> scores = Scores(measures=["wer"], runs=["a"], topics=["1"], values=[[[0.1]]])
        >>> scores.lower_is_better(), scores.directed(higher="wer").lower_is_better("wer")
        (True, False)
        """
        name = measure_of(self, measure)
        return is_lower(name, self.directions[name])

    def directed(
        self, *, lower: str | Iterable[str] = (), higher: str | Iterable[str] = ()
    ) -> Scores:
        """Return the scores with these measures as lower-is-better, or as higher-is-better."""
        if not (lower or higher):
            return self
        return replace(self, directions=set_by_hand(self.directions, lower, higher))

    def oriented(self) -> Scores:
        """Return the scores with higher as better: with the other sign where lower is better.

        >>> scores = Scores(measures=["wer"], runs=["a"], topics=["1"], values=[[[0.1]]])
        >>> scores.oriented().values.tolist()
        [[[-0.1]]]
        """
        lower = np.array([self.lower_is_better(measure) for measure in self.measures])
        if not lower.any():
            return self
        values = np.where(lower[:, None, None], 0.0 - self.values, self.values)
        return replace(self, values=values, directions=dict.fromkeys(self.measures, "higher"))

    def check_higher(self, measure: str, study: str) -> None:
        """Raise an error if a study that requires higher-is-better measures has another one."""
        if self.directions[measure] == "lower":
            raise InputError(
                f"{study} requires a measure where higher is better, and by {measure} lower is "
                f"better: negate its values, or say --higher-is-better {measure} if that is wrong"
            )

    def ranked(self) -> Scores:
        """The scores of the measures that can be ranked by; a warning names the others."""
        kept = rankable(self.directions)
        return self if len(kept) == len(self.measures) else self.select(measures=kept)

    def with_run_info(self, /, **columns: Sequence[str]) -> Scores:
        """Return the scores with columns about the runs added or replaced."""
        added = {key: tuple(column) for key, column in columns.items()}
        return replace(self, run_info={**self.run_info, **added})

    def with_topic_info(self, /, **columns: Sequence[object]) -> Scores:
        """Return the scores with columns about the topics added or replaced.

        >>> scores = Scores(measures=["AP"], runs=["a"], topics=["1", "2"], values=[[[0.1, 0.2]]])
        >>> scores.with_topic_info(cluster=["x", "x"]).select(topics=["2"]).topic_info
        {'cluster': ('x',)}
        """
        added = {key: tuple(map(str, column)) for key, column in columns.items()}
        return replace(self, topic_info={**self.topic_info, **added})

    def to_frame(self) -> pd.DataFrame:
        """Long form: columns measure, run, topic, value, one row per cell."""
        n_measures, n_runs, n_topics = self.values.shape
        return made_frame(
            {
                "measure": np.repeat(np.array(self.measures, object), n_runs * n_topics),
                "run": np.tile(np.repeat(np.array(self.runs, object), n_topics), n_measures),
                "topic": np.tile(np.array(self.topics, object), n_measures * n_runs),
                "value": self.values.ravel(),
            }
        )

    to_pandas = to_frame


def factors_from_names(scores: Scores, pattern: str) -> tuple[Scores, tuple[str, ...]]:
    """The scores with factors from the runs' names, and the names of these factors.

    In a pattern such as 'stop_stemmer_model_…' words name the factors, "…" or "*" matches any
    text, and all else itself; a regular expression with named groups works as well. A run whose
    name does not match has no levels.

    >>> one = Scores(measures=["m"], runs=["smart_porter_bm25_x"], topics=["1"], values=[[[1.0]]])
    >>> factors_from_names(one, "stop_stemmer_model_…")[0].run_info
    {'stop': ('smart',), 'stemmer': ('porter',), 'model': ('bm25',)}
    """
    given = pattern
    if "(?P<" not in pattern:
        known = {"…": ".*", "...": ".*", "*": ".*"}
        parts = re.findall(r"[^\W\d_][^\W_]*|…|\.\.\.|.", pattern)
        pattern = "".join(
            f"(?P<{part}>.+?)" if part[0].isalpha() else known.get(part, re.escape(part))
            for part in parts
        )
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise InputError(f"{given!r} is not a pattern of factors: {error}") from None
    matches = [compiled.fullmatch(run) for run in scores.runs]
    names = tuple(compiled.groupindex)
    if not names or not any(matches):
        raise InputError(
            f"{given!r} must name factors and match the runs' names, such as {scores.runs[0]!r}"
        )
    columns = {name: [match[name] if match else "" for match in matches] for name in names}
    return scores.with_run_info(**columns), names


def with_factors(
    scores: Scores,
    factors: str | Sequence[str] | None,
    factors_from: str | None = None,
    *,
    has_gaps: bool = False,
) -> tuple[Scores, tuple[str, ...]]:
    """The scores, and the columns that name components of their runs."""
    if factors_from is not None:
        scores, found = factors_from_names(scores, factors_from)
        factors = factors or found
    names = (factors,) if isinstance(factors, str) else tuple(factors or ())
    if not names or len(set(names)) < len(names):
        raise InputError(
            f"give at least one factor, each once, got {', '.join(names) or 'none'}: use "
            f"{arg('factors=')} or {arg('factors_from=')}"
        )
    if not scores.run_info:
        raise InputError(
            "there is no information about the runs: give a table of their components with "
            f"{arg('run_info=')}, or a pattern of their names with {arg('factors_from=')}"
        )
    for name in names:
        check_choice("factor", name, scores.run_info)
        column = scores.run_info[name]
        if "" in column and not (has_gaps and any(column)):
            run = scores.runs[column.index("")]
            raise InputError(f"run {run!r} has no {name}: fill it in, or omit the run")
    return scores, names


def factor_levels(scores: Scores, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Factor to its levels, of which each must have two."""
    levels = {name: tuple(dict.fromkeys(filter(None, scores.run_info[name]))) for name in names}
    for name, own in levels.items():
        if len(own) < 2:
            raise InputError(f"every run has the same {name} ({own[0]!r}): leave the factor out")
    return levels


def mean_of_present(values: np.ndarray) -> np.ndarray:
    """Mean over the last axis, missing values left out; NaN where none is there."""
    present = ~np.isnan(values)
    counts = present.sum(axis=-1)
    totals = np.where(present, values, 0.0).sum(axis=-1)
    means = np.full(counts.shape, np.nan)
    np.divide(totals, counts, out=means, where=counts > 0)
    return means


def weighted_mean(values: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """As `mean_of_present`, weighted where there are weights."""
    if weights is None:
        return mean_of_present(values)
    present = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        total = (np.where(present, values, 0.0) * weights).sum(axis=-1)
        return np.asarray(total / (present * weights).sum(axis=-1))


def _checked_info(
    info: Mapping[str, Sequence[str]], labels: Sequence[str], axis: str
) -> dict[str, tuple[str, ...]]:
    if not isinstance(info, Mapping):
        raise InputError(f"{axis}_info must map names of columns to columns, got {info!r}")
    columns = {name: tuple(map(str, column)) for name, column in info.items()}
    for name, column in columns.items():
        if len(column) != len(labels):
            raise InputError(
                f"{axis}_info column {name!r} has {len(column)} entries for {len(labels)} {axis}s"
            )
    return columns


def _picked_info(
    info: Mapping[str, tuple[str, ...]], places: Sequence[int] | np.ndarray
) -> dict[str, tuple[str, ...]]:
    return {name: tuple(column[place] for place in places) for name, column in info.items()}


def position(name: str, labels: Sequence[str], axis: str) -> int:
    """Where a name stands among the labels of an axis; an error that suggests if nowhere."""
    try:
        return labels.index(name)
    except ValueError:
        raise unknown_name(axis, name, labels) from None


def measure_of(scores: Scores, measure: str | None) -> str:
    """The name of a measure of the scores; it may be left out if there is only one."""
    scores.matrix(measure)
    return scores.measures[0] if measure is None else str(measure)


def scores_from_cells(
    measures: Iterable[str],
    runs: Iterable[str],
    topics: Iterable[str],
    values: Iterable[float],
    *,
    facets: Mapping[str, Sequence[str]] | None = None,
    **options: Any,
) -> Scores:
    """A cube from long columns; names keep their order of appearance, absent cells are NaN."""
    info: dict[str, dict[str, str]] = {}
    if facets:
        # Facets are made of scores, and scores may come with facets.
        from steadyrank.data.facets import faceted_runs

        bare = [[str(name).strip() for name in own] for own in (runs, topics, *facets.values())]
        runs, info = faceted_runs(bare[0], bare[1], dict(zip(facets, bare[2:], strict=True)))
        topics = bare[1]
    codes: list[np.ndarray] = []
    labels: list[tuple[str, ...]] = []
    for column in (measures, runs, topics):
        index: dict[str, int] = {}
        codes.append(np.array([index.setdefault(str(name), len(index)) for name in column], int))
        labels.append(tuple(index))
    scores = scores_from_codes(labels, codes, np.fromiter(values, np.float64), **options)
    columns = dict.fromkeys(name for row in info.values() for name in row)
    return scores.with_run_info(
        **{name: [info[run][name] for run in scores.runs] for name in columns}
    )


def scores_from_codes(
    labels: Sequence[tuple[str, ...]],
    codes: Sequence[np.ndarray],
    values: np.ndarray,
    **options: Any,
) -> Scores:
    """A cube from long columns of places in the labels of measures, runs and topics."""
    labels, codes = zip(*map(_trimmed, AXES, labels, codes), strict=True)
    flat = (
        np.ravel_multi_index(tuple(codes), tuple(map(len, labels))) if len(codes[0]) else codes[0]
    )
    cube = np.full(tuple(map(len, labels)), np.nan)
    taken = np.zeros(cube.size, bool)
    taken[flat] = True
    if np.count_nonzero(taken) < len(flat):
        order = np.argsort(flat, kind="stable")
        row = int(order[1:][np.diff(flat[order]) == 0].min())
        cell = [labels[axis][codes[axis][row]] for axis in range(3)]
        raise CellError(row, f"a second value for {' / '.join(cell)}: keep one")
    cube.reshape(-1)[flat] = values
    return Scores(measures=labels[0], runs=labels[1], topics=labels[2], values=cube, **options)


def _trimmed(
    axis: str, names: Sequence[str], codes: np.ndarray
) -> tuple[tuple[str, ...], np.ndarray]:
    bare = [name.strip() for name in names]
    if "" in bare:
        row = int(np.argmax(codes == bare.index("")))
        raise CellError(row, f"expected the name of a {axis}, got blanks")
    places = {name: place for place, name in enumerate(dict.fromkeys(bare))}
    if len(places) < len(bare):
        codes = np.array([places[name] for name in bare])[codes]
    return tuple(places), codes


class CellError(InputError):
    """A cell of the cube is given twice, or has no name; the reader adds the file and its line."""

    def __init__(self, row: int, message: str):
        self.row = row
        super().__init__(message)


class Disagreement(InputError):
    """Scores to join differ in a cell, or in what they say about a run or topic."""


def join_scores(*parts: Scores) -> Scores:
    """One cube from several: the union of their measures, runs and topics.

    Parameters
    ----------
    *parts : Scores
        Cells that no part has are NaN; cells that two parts have must agree. Parts that share a
        measure and a topic must come from the same judgments, evaluated with the same settings, as
        far as they say so in `meta`.

    Returns
    -------
    Scores
        All cells of all parts.

    Examples
    --------
    >>> import numpy as np, steadyrank as sr
    >>> one = sr.Scores(measures=["AP"], runs=["a"], topics=["1"], values=np.full((1, 1, 1), 0.5))
    >>> two = sr.Scores(measures=["AP"], runs=["b"], topics=["1"], values=np.full((1, 1, 1), 0.3))
    >>> sr.join_scores(one, two).runs
    ('a', 'b')
    """
    if not parts:
        raise InputError("no scores to join")
    check_joined(parts)
    directions: dict[str, Direction] = {}
    for part in parts:
        for name, way in part.directions.items():
            known = directions.get(name, "unknown")
            if way != known and "unknown" not in (way, known):
                both = f"{arg('lower_is_better=')} or {arg('higher_is_better=')}"
                raise Disagreement(
                    f"the scores to join disagree about the direction of {name}: give {both}"
                )
            directions[name] = known if way == "unknown" else way
    labels = [
        tuple(dict.fromkeys(name for part in parts for name in part.labels[axis]))
        for axis in range(3)
    ]
    index = [{name: i for i, name in enumerate(names)} for names in labels]
    cube = np.full(tuple(map(len, labels)), np.nan)
    for part in parts:
        place = np.ix_(*([index[axis][name] for name in part.labels[axis]] for axis in range(3)))
        there = cube[place]
        clash = ~np.isnan(there) & ~np.isnan(part.values) & (there != part.values)
        if clash.any():
            cell = np.argwhere(clash)[0]
            named = " / ".join(part.labels[axis][cell[axis]] for axis in range(3))
            raise Disagreement(f"the scores to join disagree about {named}")
        cube[place] = np.where(np.isnan(part.values), there, part.values)
    return Scores(
        measures=labels[0],
        runs=labels[1],
        topics=labels[2],
        values=cube,
        run_info=_join_info(parts, labels[1], "run"),
        topic_info=_join_info(parts, labels[2], "topic"),
        meta=_join_meta(parts),
        directions=directions,
    )


def _join_info(
    parts: Sequence[Scores], names: tuple[str, ...], axis: str
) -> dict[str, tuple[str, ...]]:
    columns: dict[str, dict[str, str]] = {}
    for part in parts:
        for key, column in getattr(part, f"{axis}_info").items():
            known = columns.setdefault(key, {})
            for name, value in zip(getattr(part, f"{axis}s"), column, strict=True):
                if known.setdefault(name, value) != value:
                    raise Disagreement(
                        f"the scores to join disagree about {key} of {axis} {name!r}"
                    )
    return {key: tuple(known.get(name, "") for name in names) for key, known in columns.items()}


def _join_meta(parts: Sequence[Scores]) -> dict[str, Any]:
    metas = [dict(part.meta) for part in parts if part.meta] or [{}]
    return metas[0] if all(meta == metas[0] for meta in metas) else {"joined": metas}


def plain_value(text: str) -> float | None:
    """Return the number in a text, or None; Python reads 31_1 as 311, but it is a name."""
    try:
        value = float(text) if "_" not in text else np.inf
    except ValueError:
        return None
    return None if np.isinf(value) else value


def topic_column(scores: Scores, name: str) -> tuple[str, ...]:
    """A column about the topics, complete, or an error that says what to do."""
    if name not in scores.topic_info:
        if not scores.topic_info:
            raise InputError(
                f"{name!r} requires information about the topics: give a table with a column "
                f"topic ({arg('topic_info=')})"
            )
        raise unknown_column(name, "topic information", scores.topic_info)
    column = scores.topic_info[name]
    if "" in column:
        raise InputError(f"topic {scores.topics[column.index('')]!r} has no {name}: fill it in")
    return column


def cluster_codes(scores: Scores) -> np.ndarray | None:
    """Return the cluster of each topic as a number, 0, 1, …; None if topics have none."""
    if "cluster" not in scores.topic_info:
        return None
    return np.unique(topic_column(scores, "cluster"), return_inverse=True)[1]


def topic_weights(scores: Scores) -> np.ndarray | None:
    """Return the weight of each topic; None if topics have none."""
    if "weight" not in scores.topic_info:
        return None
    texts = topic_column(scores, "weight")
    known = map(plain_value, texts)
    weights = np.array([math.nan if value is None else value for value in known])
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(wrong):
        raise InputError(
            f"topic {scores.topics[wrong[0]]!r} has the weight {texts[wrong[0]]!r}: expected a "
            "number of at least 0"
        )
    if not weights.any():
        raise InputError("all topics have the weight 0: give some of them a positive weight")
    return _of_fair_size(weights, scores.topics)


def _of_fair_size(weights: np.ndarray, topics: Sequence[str]) -> np.ndarray:
    """Weights whose sums and squares are numbers: only their ratios count."""
    largest = weights.max()
    lost = np.flatnonzero((weights > 0.0) & (weights / largest < SMALLEST_SHARE))
    if len(lost):
        raise InputError(
            f"topic {topics[lost[0]]!r} has the weight {weights[lost[0]]:g}, the largest is "
            f"{largest:g}: give it 0, or at least {SMALLEST_SHARE:g} of the largest"
        )
    is_fair = SMALLEST_SHARE < largest < 1.0 / SMALLEST_SHARE
    return weights if is_fair else weights / largest


def of_some_weight(scores: Scores) -> Scores:
    """The scores of the topics whose weight is above 0, with a warning about the others."""
    weights = topic_weights(scores)
    if weights is None or (weights > 0.0).all():
        return scores
    has, have = "topic has weight 0 and takes", "topics have weight 0 and take"
    without = counted(int((weights == 0.0).sum()), has, have)
    warn(f"{without} no part in the comparisons", stacklevel=5)
    kept = [topic for topic, weight in zip(scores.topics, weights, strict=True) if weight > 0.0]
    return scores.select(topics=kept)
