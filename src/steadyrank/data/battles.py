"""`Battles`: which of two models won, battle by battle, and who compared them on which prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.scores import distinct_labels, own_numbers
from steadyrank.errors import InputError, check_choice, check_count, unknown_name, warn
from steadyrank.notebook import made_frame
from steadyrank.words import counted, some

if TYPE_CHECKING:
    import pandas as pd

OUTCOMES = (0.0, 0.5, 1.0)
"""The second model won, a tie, the first model won."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Battles:
    """One row per battle: the places of two models among `models`, and the outcome.

    Parameters
    ----------
    models : sequence of str
        The names of all models.
    a, b : arrays of int
        Position of the first and of the second model among `models`, per battle.
    outcome : array
        1 where `a` won, 0 where `b` won, 0.5 for a tie.
    prompt, judge : sequences of str
        Prompt and judge of each battle; empty if unknown.
    has_position : bool
        Whether `a` is the model that the judge saw first.
    covariates : mapping
        Name to two columns, the value of `a` and the value of `b` in each battle, such as the
        lengths of their answers; NaN where a value is missing.

    Examples
    --------
    >>> import steadyrank as sr
    >>> battles = sr.Battles.from_rows(["x", "y"], ["y", "x"], [1, 0.5], prompt=["p1", "p1"])
    >>> battles
    <Battles: 2 battles of 2 models on 1 prompt>
    >>> battles.win_rates().tolist()
    [0.75, 0.25]
    """

    models: tuple[str, ...]
    a: np.ndarray
    b: np.ndarray
    outcome: np.ndarray
    prompt: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    has_position: bool = True
    covariates: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own: dict[str, Any] = {"models": distinct_labels("models", self.models)}
        own |= {name: np.asarray(getattr(self, name), np.int64) for name in ("a", "b")}
        own["outcome"] = own_numbers(self.outcome)
        own |= {name: tuple(map(str, getattr(self, name))) for name in ("prompt", "judge")}
        own["covariates"] = {
            str(name): (own_numbers(first), own_numbers(second))
            for name, (first, second) in self.covariates.items()
        }
        own["meta"] = dict(self.meta)
        n = len(own["outcome"])
        columns = {name: own[name] for name in ("a", "b")}
        columns |= {name: own[name] for name in ("prompt", "judge") if own[name]}
        columns |= {name: part for name, pair in own["covariates"].items() for part in pair}
        for name, column in columns.items():
            if len(column) != n:
                raise InputError(f"{name} has {len(column)} entries for {counted(n, 'battle')}")
        places = np.concatenate([own["a"], own["b"]])
        if len(places) and not (places.min() >= 0 and places.max() < len(own["models"])):
            raise InputError(f"a and b must be places among {len(own['models'])} models, from 0")
        if (own["a"] == own["b"]).any():
            name = own["models"][own["a"][np.argmax(own["a"] == own["b"])]]
            raise InputError(f"a battle of {name!r} with itself: remove it")
        if not np.isin(own["outcome"], OUTCOMES).all():
            raise InputError("an outcome must be 1 (a won), 0 (b won) or 0.5 (a tie)")
        for name, value in own.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @classmethod
    def from_rows(
        cls, a: Sequence[Any], b: Sequence[Any], outcome: Iterable[float], **columns: Any
    ) -> Battles:
        """The battles of these pairs of names; other columns as in `Battles`."""
        first, second = [*map(str, a)], [*map(str, b)]
        places = {name: place for place, name in enumerate(sorted({*first, *second}))}
        return cls(
            models=tuple(places),
            a=np.array([places[name] for name in first], np.int64),
            b=np.array([places[name] for name in second], np.int64),
            outcome=np.array([*outcome], np.float64),
            **columns,
        )

    def __len__(self) -> int:
        return len(self.outcome)

    def __repr__(self) -> str:
        on = f" on {counted(len({*self.prompt}), 'prompt')}" if self.prompt else ""
        by = f" by {counted(len({*self.judge}), 'judge')}" if self.judge else ""
        models = counted(len(self.models), "model")
        return f"<Battles: {counted(len(self), 'battle')} of {models}{on}{by}>"

    def win_rates(self) -> np.ndarray:
        """The share of its battles that each model won, a tie as half a win; NaN without any."""
        n = len(self.models)
        won = np.bincount(self.a, self.outcome, n) + np.bincount(self.b, 1.0 - self.outcome, n)
        fought = np.bincount(self.a, minlength=n) + np.bincount(self.b, minlength=n)
        return np.asarray(np.divide(won, fought, out=np.full(n, np.nan), where=fought > 0))

    def codes(self, column: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """Return the places of the battles' prompts or judges among their names, and the names.

        Names are in order; there are none where the column is not known.
        """
        import pandas as pd

        labels = np.array(getattr(self, column), object)
        codes, names = pd.factorize(labels, sort=True)
        return codes.astype(np.int64), tuple(names)

    def on_new_prompts(self, pairs: Sequence[tuple[int, int]]) -> tuple[tuple[str, str, str], ...]:
        """Return pairs of models by their names, each with a prompt on which the two have not met.

        Prompts are taken in order. Empty where the two met on all of them, or where none are named:
        their battle then requires a new prompt.
        """
        codes, names = self.codes("prompt")
        sides = np.sort(np.stack([self.a, self.b], axis=1))
        left: dict[tuple[int, ...], Iterator[str]] = {}
        for pair in {(min(pair), max(pair)) for pair in pairs}:
            met = codes[(sides == pair).all(axis=1)] if len(codes) else codes
            left[pair] = iter(np.delete(np.array(names, object), np.unique(met)))
        return tuple(
            (self.models[a], self.models[b], next(left[min(a, b), max(a, b)], "")) for a, b in pairs
        )

    def take(self, rows: np.ndarray) -> Battles:
        """The battles at these places, or where a mask is true; the models stay."""
        kept = np.arange(len(self))[rows]
        own: dict[str, Any] = {name: getattr(self, name)[kept] for name in ("a", "b", "outcome")}
        for name in ("prompt", "judge"):
            column = getattr(self, name)
            own[name] = tuple(column[i] for i in kept) if column else ()
        own["covariates"] = {
            name: (first[kept], second[kept]) for name, (first, second) in self.covariates.items()
        }
        return replace(self, **own)

    def to_frame(self) -> pd.DataFrame:
        """One row per battle: model_a, model_b, outcome, and prompt, judge, covariates."""
        names = np.array(self.models, object)
        columns: dict[str, Any] = {"model_a": names[self.a], "model_b": names[self.b]}
        columns["outcome"] = self.outcome
        columns |= {name: list(own) for name in ("prompt", "judge") if (own := getattr(self, name))}
        for name, pair in self.covariates.items():
            columns |= {f"{name}_{side}": own for side, own in zip("ab", pair, strict=True)}
        return made_frame(columns)


def with_numbers(battles: Battles, names: Sequence[str]) -> Battles:
    """Return the battles that have these numbers of both models, with a line about the others."""
    known = np.ones(len(battles), bool)
    for name in names:
        if name not in battles.covariates:
            raise unknown_name("control", name, [*battles.covariates])
        known &= ~np.isnan(np.sum(battles.covariates[name], axis=0))
    if known.all():
        return battles
    lacking = counted(int((~known).sum()), "battle")
    warn(f"{lacking} without {' or '.join(names)} of both models left out")
    return battles.take(known)


def connected(a: np.ndarray, b: np.ndarray, n_models: int) -> list[np.ndarray]:
    """Return the groups of models that battles connect, the largest first, then by battles."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(a)), (a, b)), (n_models, n_models))
    n_groups, group = connected_components(links, directed=False)
    size, fought = np.bincount(group), np.bincount(group[a], minlength=n_groups)
    return [np.flatnonzero(group == one) for one in np.lexsort((-fought, -size))]


def largest_group(battles: Battles) -> tuple[Battles, tuple[tuple[str, ...], ...]]:
    """Return the battles of the largest group of models that battles connect, and the others."""
    if not len(battles):
        raise InputError("there are no battles")
    largest, *others = connected(battles.a, battles.b, len(battles.models))
    names = tuple(tuple(battles.models[i] for i in group) for group in others)
    if not others:
        return battles, ()
    place = np.full(len(battles.models), -1)
    place[largest] = np.arange(len(largest))
    kept = battles.take(place[battles.a] >= 0)
    said = [f"{some(group)} ({counted(len(group), 'model')})" for group in names if len(group) > 1]
    if alone := [group[0] for group in names if len(group) == 1]:
        said.append(f"{some(alone)} without a battle")
    warn(
        f"battles do not connect all models: the largest group, {counted(len(largest), 'model')}, "
        f"is ranked without {some(said)}"
    )
    models = tuple(battles.models[i] for i in largest)
    return replace(kept, models=models, a=place[kept.a], b=place[kept.b]), names


def joined(parts: Sequence[Battles]) -> Battles:
    """Return the battles of several files together, with the covariates that all of them have."""
    if len(parts) == 1:
        return parts[0]
    names = [np.array(part.models, object) for part in parts]
    columns: dict[str, Any] = {}
    for column in ("prompt", "judge"):
        held = [getattr(part, column) for part in parts]
        if any(held):
            columns[column] = [
                one
                for part, own in zip(parts, held, strict=True)
                for one in (own or ("",) * len(part))
            ]
    shared = set.intersection(*({*part.covariates} for part in parts))
    return Battles.from_rows(
        [name for own, part in zip(names, parts, strict=True) for name in own[part.a]],
        [name for own, part in zip(names, parts, strict=True) for name in own[part.b]],
        np.concatenate([part.outcome for part in parts]),
        covariates={
            name: tuple(
                np.concatenate([part.covariates[name][k] for part in parts]) for k in (0, 1)
            )
            for name in sorted(shared)
        },
        has_position=all(part.has_position for part in parts),
        **columns,
    )


Design = Literal["full", "star", "sparse"]


def simulated_battles(
    n_models: int = 5,
    n_prompts: int = 80,
    *,
    strengths: Sequence[float] | None = None,
    spread: float = 1.0,
    design: Design = "full",
    prompt_sd: float = 0.5,
    position: float = 0.0,
    n_judges: int = 0,
    judge_sd: float = 0.0,
    tie_share: float = 0.0,
    rng: Rng = 0,
) -> Battles:
    """Return battles of models with known strengths, `meta["strength"]`.

    Parameters
    ----------
    n_models, n_prompts : int
        Numbers of models, which are called m1, m2, …, and of prompts.
    strengths : sequence of float, optional
        Log odds; by default equally spaced from `spread` down to -`spread`.
    spread : float
        Strength of the first model.
    design : str
        "full": every pair in both orders on every prompt; "star": every model against the first one
        in both orders; "sparse": as many pairs per prompt as there are models, drawn at random.
    prompt_sd : float
        Standard deviation of what a prompt adds to the strength of each model.
    position : float
        Advantage of the first place in log odds.
    n_judges : int
        Number of judges, each of whom judges every battle; 0 leaves the judge unnamed.
    judge_sd : float
        Standard deviation of what a judge adds to the strength of each model.
    tie_share : float
        Share of the battles that end in a tie, whoever is stronger.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    Battles
        With the prompts p1, p2, … and the judges j1, j2, …

    Examples
    --------
    >>> import steadyrank as sr
    >>> sr.simulated_battles(3, 10)
    <Battles: 60 battles of 3 models on 10 prompts>
    """
    from scipy.special import expit  # slow to import, and only used here

    check_choice("design", design, get_args(Design))
    for name, value in (("n_models", n_models), ("n_prompts", n_prompts)):
        check_count(name, value, 2)
    seed = seed_from(rng)
    drawn = np.random.default_rng(seed)
    strength = np.linspace(spread, -spread, n_models) if strengths is None else strengths
    strength = np.asarray(strength, np.float64)
    if len(strength) != n_models:
        raise InputError(f"strengths has {len(strength)} entries for {counted(n_models, 'model')}")
    pairs = np.stack(np.triu_indices(n_models, 1), axis=1)
    if design == "star":
        pairs = pairs[pairs[:, 0] == 0]
    if design == "sparse":
        chosen = drawn.integers(0, len(pairs), (n_prompts, n_models))
        sides = pairs[chosen.ravel()]
        turned = drawn.random(len(sides)) < 0.5
        sides = np.where(turned[:, None], sides[:, ::-1], sides)
        prompt = np.repeat(np.arange(n_prompts), n_models)
    else:
        sides = np.tile(np.concatenate([pairs, pairs[:, ::-1]]), (n_prompts, 1))
        prompt = np.repeat(np.arange(n_prompts), 2 * len(pairs))
    times = max(1, n_judges)
    judge = np.tile(np.arange(times), len(sides))
    (a, b), prompt = np.repeat(sides, times, axis=0).T, np.repeat(prompt, times)
    on_prompt = prompt_sd * drawn.standard_normal((n_prompts, n_models))
    by_judge = judge_sd * drawn.standard_normal((times, n_models))
    own = [strength[x] + on_prompt[prompt, x] + by_judge[judge, x] for x in (a, b)]
    outcome = (drawn.random(len(a)) < expit(own[0] - own[1] + position)).astype(np.float64)
    outcome[drawn.random(len(a)) < tie_share] = 0.5
    models = tuple(f"m{k + 1}" for k in range(n_models))
    return Battles(
        models=models,
        a=a,
        b=b,
        outcome=outcome,
        prompt=tuple(f"p{k + 1}" for k in prompt.tolist()),
        judge=tuple(f"j{k + 1}" for k in judge.tolist()) if n_judges else (),
        meta={"strength": dict(zip(models, strength.tolist(), strict=True)), "seed": seed},
    )
