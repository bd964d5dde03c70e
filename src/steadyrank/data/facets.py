"""Scores with more than systems and topics: judges, answers, draws, one run for each combination.

A run of the cube is then one (system, judge, answer, draw), and `run_info` has these columns. An
answer belongs to a system and a topic: the second answer to one topic has nothing to do with the
second to another, so labels count within a topic only. Studies that know no facets work on means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from steadyrank.data.levels import Levels, check_separable, is_uneven, levels_of
from steadyrank.data.order import natural_key
from steadyrank.data.scores import Scores, join_scores, mean_of_present
from steadyrank.errors import InputError, warn
from steadyrank.words import listed, some

FACETS = ("judge", "answer", "draw")
"""Columns of long tables, and of `run_info`."""

NESTED = ("answer", "draw")
"""Facets whose labels count within a system and a topic; an empty label is valid."""

Columns = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True, eq=False)
class FacetCube:
    """Scores of one measure by all facets; those that are not there have one level."""

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    topics: tuple[str, ...]
    values: np.ndarray
    """[system, topic, answer, judge, draw], NaN where missing."""

    @cached_property
    def cells(self) -> np.ndarray:
        """[system, topic, judge]: means over answers and draws."""
        values = self.values.transpose(0, 1, 3, 2, 4)
        return mean_of_present(values.reshape(*values.shape[:3], -1))

    @cached_property
    def levels(self) -> Levels:
        """Levels of systems by judge; an error if systems and judges cannot be separated."""
        if np.isnan(self.cells).all():
            raise InputError("no answer has a grade")
        levels = levels_of(self.cells)
        check_separable(levels, self.systems, self.judges)
        return levels

    @property
    def matrix(self) -> np.ndarray:
        """[system, topic]: means over all facets.

        Where judges graded different answers, pseudo-values of the systems' levels: otherwise a
        system would gain by what a severe judge has not graded. Their means are the model's.
        """
        return mean_of_present(self.cells) if self.is_plain else self.levels.pseudo_values

    @cached_property
    def is_plain(self) -> bool:
        """Whether all judges graded the same answers."""
        return not is_uneven(self.cells) and not np.isnan(self.cells).all()

    @property
    def shown(self) -> np.ndarray:
        """As `matrix`, on the grades' scale: a missing grade is what the levels expect.

        Their means are the model's, too; their spread is not an error.
        """
        cells = self.cells
        if self.is_plain:
            return self.matrix
        levels, means = self.levels.mu, self.levels.means[:, None]
        expected = np.where(np.isnan(levels), means + mean_of_present((levels - means).T), levels)
        rest = cells - expected[:, None, :]
        of_topic = mean_of_present(np.moveaxis(rest, 1, 0).reshape(cells.shape[1], -1))
        filled = np.where(np.isnan(cells), expected[:, None, :] + of_topic[None, :, None], cells)
        return mean_of_present(filled)


def facets_of(scores: Scores) -> tuple[str, ...]:
    """The facets that the runs of these scores have."""
    info = scores.run_info
    return tuple(name for name in FACETS if "system" in info and any(info.get(name, ())))


def facet_cube(scores: Scores, measure: str, facets: Iterable[str] = FACETS) -> FacetCube:
    """The scores of one measure by these facets; other columns tell nothing apart."""
    n, chosen = len(scores.runs), [name for name in facets_of(scores) if name in set(facets)]
    columns = {"system": _systems(scores)}
    columns |= {name: scores.run_info[name] if name in chosen else ("",) * n for name in FACETS}
    labels = {name: sorted(set(own), key=natural_key) for name, own in columns.items()}
    labels["system"] = list(dict.fromkeys(columns["system"]))
    places = {name: {label: i for i, label in enumerate(own)} for name, own in labels.items()}
    order = ("system", "answer", "judge", "draw")
    keys = np.array([[places[name][label] for label in columns[name]] for name in order])
    _, first, counts = np.unique(keys, axis=1, return_index=True, return_counts=True)
    if (counts > 1).any():
        run = scores.runs[first[np.argmax(counts > 1)]]
        raise InputError(
            f"{run}: another run of its system has the same {' and '.join(chosen) or 'name'}: name "
            "the column that distinguishes them (judge, answer or draw)"
        )
    values = np.full((*(len(labels[name]) for name in order), len(scores.topics)), np.nan)
    values[tuple(keys)] = scores.matrix(measure)
    # Who graded by other measures alone is no judge of this one.
    graded = ~np.isnan(values).all(axis=(0, 1, 3, 4))
    if graded.any():
        values = values[:, :, graded]
        labels["judge"] = [name for name, own in zip(labels["judge"], graded, strict=True) if own]
    return FacetCube(
        systems=tuple(labels["system"]),
        judges=tuple(labels["judge"]),
        topics=scores.topics,
        values=np.ascontiguousarray(values.transpose(0, 4, 1, 2, 3)),
    )


def _systems(scores: Scores) -> tuple[str, ...]:
    named = scores.run_info.get("system", scores.runs)
    return tuple(own or run for own, run in zip(named, scores.runs, strict=True))


def averaged_facets(scores: Scores, *, shown: bool = False) -> Scores:
    """The scores of the systems, means over all facets; scores without facets stay as they are."""
    if not facets_of(scores):
        return scores
    scores = tidy_judges(scores)
    cubes = [facet_cube(scores, measure) for measure in scores.measures]
    last = dict(zip(_systems(scores), range(len(scores.runs)), strict=True))
    kept = {
        name: tuple(column[last[system]] for system in cubes[0].systems)
        for name, column in scores.run_info.items()
        if name not in (*FACETS, "system")
    }
    means = np.stack([cube.shown if shown else cube.matrix for cube in cubes])
    judges = [judge for judge in cubes[0].judges if judge]
    meta = dict(scores.meta) | ({"judges": judges} if judges else {})
    return replace(scores, runs=cubes[0].systems, values=means, run_info=kept, meta=meta)


def judges_words(judges: Sequence[str]) -> str:
    """Return whose view means over these judges are, if no study counts judges as a sample.

    >>> judges_words(["gpt"])
    'by gpt alone: whether other judges agree is unknown'
    """
    if len(judges) == 1:
        return f"by {judges[0]} alone: whether other judges agree is unknown"
    return f"about the judges {some(judges, 3)} alone, not about others like them"


def averaged_together(**sides: Scores) -> list[Scores]:
    """Means over facets of scores that came apart, whose judges are averaged over all of them."""
    judges = {name: "judge" in facets_of(own) for name, own in sides.items()}
    if not any(judges.values()):
        return [averaged_facets(own) for own in sides.values()]
    for name in (name for name, has in judges.items() if not has):
        raise InputError(f"the {name} has no column judge, the other has: add it, or remove both")
    # Names of systems may be the same on both sides; what they are to each other tells them apart.
    parts = [
        replace(own, runs=tuple(f"{name} {run}" for run in own.runs), meta={}).with_run_info(
            system=[f"{name} {system}" for system in own.run_info["system"]],
            side=[name] * len(own.runs),
        )
        for name, own in sides.items()
    ]
    joined = tidy_judges(join_scores(*parts))
    columns = {*zip(joined.run_info["judge"], joined.run_info["side"], strict=True)}
    by_side = {name: {judge for judge, side in columns if side == name} for name in sides}
    common = set.intersection(*by_side.values())
    if not common:
        held = " and ".join(f"the {n} by {some(sorted(own), 3)}" for n, own in by_side.items())
        raise InputError(f"no judge graded both: {held}. Have one judge grade both.")
    alone = sorted(set.union(*by_side.values()) - common, key=natural_key)
    if alone:
        warn(f"judges that graded one of the two alone are left out: {some(alone, 3)}")
    kept = zip(joined.runs, joined.run_info["judge"], strict=True)
    means = averaged_facets(joined.select(runs=[run for run, judge in kept if judge in common]))
    apart = []
    for name, own in sides.items():
        runs = [
            run
            for run, side in zip(means.runs, means.run_info["side"], strict=True)
            if side == name
        ]
        mean = means.select(runs=runs, topics=own.topics)
        about = {key: column for key, column in mean.run_info.items() if key != "side"}
        named = tuple(run.removeprefix(f"{name} ") for run in runs)
        meta = {**own.meta, "judges": mean.meta["judges"]}
        apart.append(replace(mean, runs=named, run_info=about, meta=meta))
    return apart


def tidy_judges(scores: Scores) -> Scores:
    """The scores with each judge once: under one spelling, and not with the same grades again."""
    if "judge" not in facets_of(scores):
        return scores
    names = scores.run_info["judge"]
    spelled: dict[str, dict[str, None]] = {}
    for name in names:
        spelled.setdefault(_bare(name), {})[name] = None
    several = [list(own) for own in spelled.values() if len(own) > 1]
    if several:
        warn(
            f"judges {listed(list(map(repr, several[0])))} are one: names differ in case or spacing"
        )
        chosen = [next(iter(spelled[_bare(name)])) for name in names]
        scores = _one_run_each(scores.with_run_info(judge=chosen))
    return _without_copies(scores)


def _bare(name: str) -> str:
    return "".join(name.split()).casefold()


def _one_run_each(scores: Scores) -> Scores:
    """One run of each system, judge, answer and draw, where several have its grades in parts."""
    rows: dict[tuple[str, ...], list[int]] = {}
    facets = ("system", *facets_of(scores))
    for place, key in enumerate(zip(*(scores.run_info[name] for name in facets), strict=True)):
        rows.setdefault(key, []).append(place)
    values = scores.values[:, [own[0] for own in rows.values()]].copy()
    for into, own in enumerate(rows.values()):
        for other in own[1:]:
            more = scores.values[:, other]
            if (~np.isnan(more) & ~np.isnan(values[:, into])).any():
                both = f"{scores.runs[own[0]]} and {scores.runs[other]}"
                raise InputError(f"{both} hold grades of the same answers: keep one")
            values[:, into] = np.where(np.isnan(more), values[:, into], more)
    first = [own[0] for own in rows.values()]
    info = {key: tuple(column[place] for place in first) for key, column in scores.run_info.items()}
    return replace(scores, runs=tuple(scores.runs[p] for p in first), values=values, run_info=info)


def _without_copies(scores: Scores) -> Scores:
    """The scores without judges whose grades are all those of another."""
    others = [name for name in facets_of(scores) if name != "judge"]
    keys = list(zip(*(scores.run_info[name] for name in ("system", *others)), strict=True))
    by_judge: dict[str, list[int]] = {}
    for place, judge in enumerate(scores.run_info["judge"]):
        by_judge.setdefault(judge, []).append(place)
    first: dict[Any, str] = {}
    copies = {}
    for judge, places in by_judge.items():
        ordered = sorted(places, key=keys.__getitem__)
        grades = (tuple(keys[p] for p in ordered), scores.values[:, ordered].tobytes())
        is_empty = np.isnan(scores.values[:, places]).all()
        if not is_empty and first.setdefault(grades, judge) != judge:
            copies[judge] = first[grades]
    if not copies:
        return scores
    copy, original = next(iter(copies.items()))
    warn(f"judges that gave the same grades everywhere count as one: {copy} is {original}")
    kept = zip(scores.runs, scores.run_info["judge"], strict=True)
    return scores.select(runs=[run for run, judge in kept if judge not in copies])


def faceted_runs(
    runs: Sequence[str], topics: Sequence[str], columns: Columns
) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Names of runs, one for each combination, and what `run_info` has to say about each."""
    known: dict[str, Sequence[str]] = {"system": runs}
    for name in FACETS:
        if name in columns:
            own, within = columns[name], list(zip(topics, *known.values(), strict=True))
            known[name] = _numbered_within(own, within) if name in NESTED else own
    combined = list(zip(*known.values(), strict=True))
    info = {"/".join(parts): dict(zip(known, parts, strict=True)) for parts in set(combined)}
    if len(info) < len(set(combined)):
        raise InputError("two combinations of run and facets have the same name: rename the runs")
    return ["/".join(parts) for parts in combined], info


def _numbered_within(labels: Sequence[str], within: Sequence[tuple[str, ...]]) -> Sequence[str]:
    """Labels as they are, or as numbers where more occur than any combination of `within` has."""
    found: dict[tuple[str, ...], set[str]] = {}
    for key, label in zip(within, labels, strict=True):
        found.setdefault(key, set()).add(label)
    every = set(labels)
    if max(map(len, found.values()), default=0) == len(every) and "" not in every:
        return labels
    numbers = {
        key: {label: str(i) for i, label in enumerate(sorted(own, key=natural_key), start=1)}
        for key, own in found.items()
    }
    return [numbers[key][label] for key, label in zip(within, labels, strict=True)]


def scores_by_judges(scores: Mapping[str, Scores]) -> Scores:
    """One cube of the same runs by several judges, each with its scores."""
    parts = [
        replace(own, runs=tuple(f"{run}/{judge}" for run in own.runs), meta={}).with_run_info(
            system=_systems(own), judge=[judge] * len(own.runs)
        )
        for judge, own in scores.items()
    ]
    return join_scores(*parts)
