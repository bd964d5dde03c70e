"""From battles to strengths: what the model controls for, and what was drawn.

Whoever reads battles has the same questions: which models can be compared at all, whether the
first place is an advantage that these battles show, and whether prompts or voters say the same
thing more than once. What was done about it is said in a warning of one line each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from steadyrank.data.battles import Battles
from steadyrank.errors import InputError, arg, check_choice, unknown_name, warn
from steadyrank.stats.battles.clusters import PseudoValues, judges_everything, pseudo_values
from steadyrank.stats.battles.model import (
    Design,
    Fit,
    Ties,
    fit,
    groups_of,
    is_identified,
    is_separated,
)
from steadyrank.words import counted, some

Cluster = Literal["prompt", "voter"]

POSITION = "position"
"""The name of the covariate that is 1 in every battle."""

FEWEST_VOTERS = 10
"""Judges from which on they count as voters that are drawn, unless each of them judged everything:
fewer give no idea of how voters differ."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """Strengths of models that battles connect, and how they vary with what was drawn."""

    battles: Battles
    """The battles that were used."""
    fit: Fit
    covariates: tuple[str, ...]
    """The names of what the model controls for."""
    pseudo: PseudoValues
    first: np.ndarray
    """The cluster of each battle: its prompt, its voter, or the battle itself."""
    second: np.ndarray | None
    """The voter of each battle where errors are clustered in two ways."""
    drawn: str
    """What was drawn, counted, such as "80 prompts"."""
    others: tuple[tuple[str, ...], ...] = ()
    """Groups of models that no battle connects with those here."""

    @property
    def names(self) -> tuple[str, ...]:
        """The models."""
        return self.battles.models

    @property
    def unit_names(self) -> tuple[str, ...]:
        """The names of the units of the pseudo-values: prompts, voters, or their numbers."""
        n = self.pseudo.values.shape[1]
        for column in ("prompt", "judge"):
            codes, names = self.battles.codes(column)
            if len(names) == n and (codes == self.first).all():
                return names
        return tuple(str(k + 1) for k in range(n))

    @property
    def coefficient_error(self) -> np.ndarray:
        """The standard error of each coefficient."""
        m = len(self.names)
        return np.asarray(np.sqrt(np.diag(self.pseudo.covariance)[m:]))

    def without(self, *names: str) -> Fit:
        """Return the fit that does not control for these covariates."""
        kept = [k for k, name in enumerate(self.covariates) if name not in names]
        design = self.fit.design
        design = replace(design, covariates=design.covariates[:, kept])
        return fit(design, self.ties)

    @property
    def ties(self) -> Ties:
        """How ties were treated."""
        return "half" if self.fit.tie_score is None else "davidson"


def other_fits(estimate: Estimate) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return strengths by two ways of fitting that differ in one thing, by what that is.

    "controls" compares no controls with position and all numbers of the answers controlled for,
    "ties" half wins with Davidson's model. What these battles do not have is left out.
    """
    battles, design = estimate.battles, estimate.fit.design
    found = {}
    known = [
        name
        for name, sides in battles.covariates.items()
        if not np.isnan(sides).any() and (sides[0] != sides[1]).any()
    ]
    columns = {name: _difference(battles, name) for name in known}
    if POSITION in estimate.covariates:
        columns = {POSITION: np.ones(len(battles)), **columns}
    every = replace(design, covariates=_stacked(columns, len(battles)))
    if columns and is_identified(every):
        none = replace(design, covariates=_stacked({}, len(battles)))
        both = fit(none, estimate.ties).strength, fit(every, estimate.ties).strength
        found[" and ".join(columns)] = both
    if (design.outcome == 0.5).any() and not estimate.fit.is_penalised:
        found["ties"] = fit(design).strength, fit(design, "davidson").strength
    return found


def estimated(
    battles: Battles,
    *,
    ties: Ties = "half",
    position: bool | None = None,
    control: Sequence[str] = (),
    cluster: Sequence[Cluster] = (),
) -> Estimate:
    """Return the strengths of the largest group of models that battles connect.

    `position` controls for the advantage of the first place; by default where the order of the
    models is known and the battles tell it apart. `control` names covariates of the battles, and
    `cluster` what was drawn, prompts, voters or both; by default both where they repeat.
    """
    check_choice("treatment of ties", ties, get_args(Ties))
    used, others = _connected(_with_values(battles, control))
    design, covariates = _design(used, position, control)
    found = fit(design, ties)
    if found.is_penalised:
        _warn_of_penalty(used, is_separated(design), covariates)
    first, second, drawn = _clusters(used, cluster)
    return Estimate(
        battles=used,
        fit=found,
        covariates=covariates,
        pseudo=pseudo_values(found, first, second),
        first=first,
        second=second,
        drawn=drawn,
        others=others,
    )


def _with_values(battles: Battles, control: Sequence[str]) -> Battles:
    """Return the battles that have a value of both models for every control."""
    for name in control:
        if name not in battles.covariates:
            raise unknown_name("control", name, [*battles.covariates])
    known = np.ones(len(battles), bool)
    for name in control:
        known &= ~np.isnan(np.sum(battles.covariates[name], axis=0))
    if not known.all():
        lacking = counted(int((~known).sum()), "battle")
        warn(f"{lacking} without {' or '.join(control)} of both models left out")
    return battles if known.all() else battles.take(known)


def _connected(battles: Battles) -> tuple[Battles, tuple[tuple[str, ...], ...]]:
    """Return the battles of the largest group of models, and the names of the other groups."""
    if not len(battles):
        raise InputError("there are no battles")
    z = np.empty((len(battles), 0))
    largest, *others = groups_of(
        Design(
            n_models=len(battles.models),
            a=battles.a,
            b=battles.b,
            outcome=battles.outcome,
            covariates=z,
        )
    )
    names = tuple(tuple(battles.models[i] for i in group) for group in others)
    if not others:
        return battles, ()
    place = np.full(len(battles.models), -1)
    place[largest] = np.arange(len(largest))
    rows = np.flatnonzero(place[battles.a] >= 0)
    kept = battles.take(rows)
    fought = [group for group in names if len(group) > 1]
    alone = [group[0] for group in names if len(group) == 1]
    said = [f"{some(group)} ({counted(len(group), 'model')})" for group in fought]
    if alone:
        said.append(f"{some(alone)} without a battle")
    warn(
        f"battles do not connect all models: the largest group, {counted(len(largest), 'model')}, "
        f"is ranked without {some(said)}"
    )
    models = tuple(battles.models[i] for i in largest)
    return replace(kept, models=models, a=place[kept.a], b=place[kept.b]), names


def _design(
    battles: Battles, position: bool | None, control: Sequence[str]
) -> tuple[Design, tuple[str, ...]]:
    """Return the battles as arrays with the covariates that they can tell apart."""
    columns = {name: _difference(battles, name) for name in control}
    if position or (position is None and battles.has_position):
        columns = {POSITION: np.ones(len(battles)), **columns}
    design = Design(
        n_models=len(battles.models),
        a=battles.a,
        b=battles.b,
        outcome=battles.outcome,
        covariates=_stacked(columns, len(battles)),
    )
    if is_identified(design):
        return design, tuple(columns)
    if position is None and POSITION in columns:
        del columns[POSITION]
        design = replace(design, covariates=_stacked(columns, len(battles)))
        if is_identified(design):
            warn(
                "no pair of models fought in both orders: the advantage of the first place cannot "
                "be separated from the strengths and is not controlled for"
            )
            return design, tuple(columns)
    raise InputError(
        f"these battles cannot tell {' and '.join(columns)} apart from the strengths: omit "
        f"{arg('position')} or {arg('control')}"
    )


def _stacked(columns: dict[str, np.ndarray], n: int) -> np.ndarray:
    return np.stack([*columns.values()], axis=1) if columns else np.empty((n, 0))


def _difference(battles: Battles, name: str) -> np.ndarray:
    """Return a control as a standardised difference, of logarithms where no value is negative."""
    first, second = battles.covariates[name]
    if min(first.min(), second.min()) >= 0.0:
        first, second = np.log1p(first), np.log1p(second)
    off = first - second
    spread = float(np.sqrt(np.square(off).mean()))
    if spread == 0.0:
        raise InputError(f"{name} is the same for both models in every battle: omit it")
    return np.asarray(off / spread)


def _warn_of_penalty(battles: Battles, is_apart: bool, covariates: tuple[str, ...]) -> None:
    if not is_apart:
        what = " or ".join(covariates)
        warn(f"{what} decides every battle: Firth's penalty keeps its coefficient finite")
        return
    rates = battles.win_rates()
    said = [
        f"{some([battles.models[i] for i in np.flatnonzero(rates == rate)])} never {what}"
        for rate, what in ((1.0, "lost"), (0.0, "won"))
        if (rates == rate).any()
    ]
    who = " and ".join(said) or "a group of models never lost to the others"
    warn(f"{who}: Firth's penalty keeps the strengths finite")


def _clusters(
    battles: Battles, wanted: Sequence[Cluster]
) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Return the clusters of the battles, the second ones where there are two ways, and words."""
    for one in wanted:
        check_choice("cluster", one, get_args(Cluster))
    n = len(battles)
    known = {name: battles.codes(name) for name in ("prompt", "judge")}
    prompts, voters = (len(names) for _, names in known.values())
    for what, column in (("prompt", "prompt"), ("voter", "judge")):
        if what in wanted and len(known[column][1]) < 2:
            raise InputError(
                f"{arg('cluster', what)} requires at least two {what}s, got "
                f"{len(known[column][1])}: name the column that has them"
            )
    by_prompt = "prompt" in wanted or (not wanted and 1 < prompts < n)
    by_voter = "voter" in wanted or (not wanted and FEWEST_VOTERS <= voters < n)
    if by_voter and not wanted and prompts > 1:
        by_voter = not judges_everything(known["prompt"][0], known["judge"][0])
    chosen = [
        (known[column][0], size, what)
        for is_chosen, column, size, what in (
            (by_prompt, "prompt", prompts, "prompt"),
            (by_voter, "judge", voters, "voter"),
        )
        if is_chosen
    ]
    if not chosen:
        _warn_of_no_clusters(prompts, voters, n)
        return np.arange(n), None, counted(n, "battle")
    if len(chosen) == 1 and voters == n > 1 and prompts > 1:
        warn(f"each of {voters:,} voters has one vote: errors are clustered by prompt alone")
    # Units are the fewer of the two: Student's law and the flips then have their number.
    chosen.sort(key=lambda own: own[1])
    words = " and ".join(counted(size, what) for _, size, what in chosen)
    return chosen[0][0], chosen[1][0] if len(chosen) > 1 else None, words


def _warn_of_no_clusters(prompts: int, voters: int, n: int) -> None:
    why = {0: "no prompts are named", 1: "all battles are on one prompt"}.get(
        prompts, "each prompt has one battle"
    )
    more = ", and each voter one vote" if voters == n > 1 else ""
    warn(f"{why}{more}: standard errors are those of independent battles")
