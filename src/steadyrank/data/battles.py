"""`Battles`: which of two models won, battle by battle, and who compared them on which prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.data.scores import distinct_labels, own_numbers
from steadyrank.errors import InputError
from steadyrank.notebook import made_frame
from steadyrank.words import counted

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
        Of each battle, the places of the first and of the second model.
    outcome : array
        1 where `a` won, 0 where `b` won, 0.5 for a tie.
    prompt, judge : sequences of str
        Of each battle, the prompt and who compared the answers; empty where nothing is known.
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
