"""From battles to strengths: controls, clusters of battles, and judges.

Battles do not always connect all models, show the advantage of the first place, or name prompts and
voters. What is done about each of these is said in a warning of one line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

import numpy as np

from steadyrank.compute.executors import one_blas_thread
from steadyrank.data.battles import Battles, largest_group, with_numbers
from steadyrank.errors import InputError, arg, check_choice, warn
from steadyrank.stats.battles.model import (
    MOST_JUDGES,
    Design,
    Fit,
    PseudoValues,
    Ties,
    fit,
    is_identified,
    is_separated,
    judged_values,
    judges_everything,
    pseudo_values,
)
from steadyrank.stats.facets.pairs import OtherJudges, for_other_judges
from steadyrank.stats.pairs.family import Family
from steadyrank.words import counted, some

Cluster = Literal["prompt", "voter"]

POSITION = "position"
"""The name of the covariate that is 1 in every battle."""

FEWEST_VOTERS = 10
"""Judges from which on they count as voters that are drawn, unless each of them judged everything:
fewer give no idea of how voters differ."""


Coded = tuple[np.ndarray, tuple[str, ...]]
"""The place of each battle's prompt or judge among the names, and the names."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeFit:
    """What the battles of one judge say."""

    judge: str
    n_battles: int
    strength: np.ndarray
    """Strength of each model in log odds, by this judge alone."""
    coefficient: np.ndarray
    """Coefficient of each covariate."""
    standard_error: np.ndarray
    """Standard error of each coefficient."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """Strengths of models that battles connect, with their pseudo-values by prompt or voter."""

    battles: Battles
    """The battles that were used."""
    fit: Fit
    ties: Ties
    covariates: tuple[str, ...]
    """The names of what the model controls for."""
    pseudo: PseudoValues
    first: np.ndarray
    """The cluster of each battle: its prompt, its voter, or the battle itself."""
    prompts: Coded
    judges: Coded
    is_panel: bool
    """Whether several judges each judged everything."""
    drawn: str
    """What was drawn, counted, such as "80 prompts"."""
    others: tuple[tuple[str, ...], ...] = ()
    """Groups of models that no battle connects with those here."""

    @property
    def names(self) -> tuple[str, ...]:
        """The models."""
        return self.battles.models

    def without(self, *names: str) -> Fit:
        """Return the fit that does not control for these covariates."""
        kept = [k for k, name in enumerate(self.covariates) if name not in names]
        design = self.fit.design
        design = replace(design, covariates=design.covariates[:, kept])
        return fit(design, self.ties)

    def by_judge(self) -> Iterator[JudgeFit]:
        """Return the fit of each judge whose battles suffice, with the same covariates."""
        (codes, names), whole = self.judges, self.fit.design
        for place, judge in enumerate(names if len(names) <= MOST_JUDGES else ()):
            rows = np.flatnonzero(codes == place)
            columns = {
                key: getattr(whole, key)[rows] for key in ("a", "b", "outcome", "covariates")
            }
            design = Design(n_models=whole.n_models, **columns)
            if not (design.is_connected and is_identified(design)):
                continue
            with contextlib.suppress(InputError):  # where it does not settle
                own, clusters = fit(design), np.unique(self.first[rows], return_inverse=True)[1]
                yield JudgeFit(
                    judge=judge,
                    n_battles=len(rows),
                    strength=own.strength,
                    coefficient=own.coefficient,
                    standard_error=np.sqrt(np.diag(own.covariance(clusters))[design.n_models :]),
                )

    def other_judges(self, family: Family) -> OtherJudges:
        """Return what holds for other judges, where each judge judged everything."""
        cells = judged_values(self.fit, self.prompts[0], self.judges[0])
        return for_other_judges(cells.transpose(0, 2, 1), family)


def other_fits(estimate: Estimate) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return strengths by two ways of fitting that differ in one thing, by what that is.

    "controls" compares no controls with position and all numbers of the answers controlled for,
    "ties" half wins with Davidson's model. What these battles do not have is left out.
    """
    battles, design = estimate.battles, estimate.fit.design
    known = [
        name
        for name, sides in battles.covariates.items()
        if not np.isnan(sides).any() and (sides[0] != sides[1]).any()
    ]
    names, columns = _covariates(battles, POSITION in estimate.covariates, known)
    every, none = (replace(design, covariates=z) for z in (columns, columns[:, :0]))
    found = {}
    if names and is_identified(every):
        both = fit(none, estimate.ties).strength, fit(every, estimate.ties).strength
        found[" and ".join(names)] = both
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
    `cluster` the clusters: prompts, voters or both; by default both where they repeat.
    """
    check_choice("treatment of ties", ties, get_args(Ties))
    used, others = largest_group(with_numbers(battles, control))
    design, covariates = _design(used, position, control)
    found = fit(design, ties)
    if found.is_penalised:
        _warn_of_penalty(used, is_separated(design), covariates)
    prompts, judges = used.codes("prompt"), used.codes("judge")
    is_panel = len(judges[1]) > 1 < len(prompts[1])
    is_panel = is_panel and judges_everything(found, prompts[0], judges[0])
    first, second, drawn = _clusters(len(used), prompts, judges, cluster, is_panel)
    return Estimate(
        battles=used,
        fit=found,
        ties=ties,
        covariates=covariates,
        pseudo=pseudo_values(found, first, second),
        first=first,
        prompts=prompts,
        judges=judges,
        is_panel=is_panel,
        drawn=drawn,
        others=others,
    )


def _design(
    battles: Battles, position: bool | None, control: Sequence[str]
) -> tuple[Design, tuple[str, ...]]:
    """Return the battles as arrays, with covariates that they can separate from strengths."""
    wanted = _in_both_orders(battles) if position is None else position
    names, columns = _covariates(battles, wanted, control)
    design = Design(
        n_models=len(battles.models),
        a=battles.a,
        b=battles.b,
        outcome=battles.outcome,
        covariates=columns,
    )
    if not wanted and position is None and battles.has_position:
        warn(
            "no pair of models fought in both orders: the advantage of the first place cannot be "
            "separated from the strengths and is not controlled for"
        )
    if not is_identified(design):
        raise InputError(
            f"these battles cannot tell {' and '.join(names)} apart from the strengths: omit "
            f"{arg('position')} or {arg('control')}"
        )
    return design, names


def _in_both_orders(battles: Battles) -> bool:
    """Return whether the order is known, and some pair of models fought in both orders."""
    a, b, m = battles.a, battles.b, len(battles.models)
    return battles.has_position and bool(np.isin(a * m + b, b * m + a).any())


def _covariates(
    battles: Battles, position: bool, control: Sequence[str]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the names of covariates, and their columns [battle, covariate]."""
    columns = {POSITION: np.ones(len(battles))} if position else {}
    columns |= {name: _difference(battles, name) for name in control}
    return tuple(columns), np.stack([np.empty(len(battles)), *columns.values()], axis=1)[:, 1:]


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
        given = " and ".join(covariates)
        warn(f"given {given}, some pairs always end alike: Firth's penalty keeps estimates finite")
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
    n: int, prompt: Coded, judge: Coded, wanted: Sequence[Cluster], is_panel: bool
) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Return the clusters of n battles, the second ones where there are two ways, and words."""
    sizes: dict[str, int] = {"prompt": len(prompt[1]), "voter": len(judge[1])}
    for one in wanted:
        check_choice("cluster", one, get_args(Cluster))
        if sizes[one] < 2:
            raise InputError(
                f"{arg('cluster', one)} requires at least two {one}s, got {sizes[one]}: name the "
                "column that has them"
            )
    prompts, voters = sizes.values()
    usual = {"prompt": 1 < prompts < n, "voter": FEWEST_VOTERS <= voters < n and not is_panel}
    codes = {"prompt": prompt[0], "voter": judge[0]}
    # Units are the fewer of the two: Student's law and the flips then have their number.
    chosen = sorted(
        (what for what in codes if (what in wanted if wanted else usual[what])),
        key=lambda what: sizes[what],
    )
    if not chosen:
        few = {0: "no prompts are named", 1: "all battles are on one prompt"}
        why = few.get(prompts, "each prompt has one battle")
        more = ", and each voter one vote" if voters == n > 1 else ""
        warn(f"{why}{more}: standard errors are those of independent battles")
        return np.arange(n), None, counted(n, "battle")
    if len(chosen) == 1 and voters == n > 1 and prompts > 1:
        warn(f"each of {voters:,} voters has one vote: errors are clustered by prompt alone")
    words = " and ".join(counted(sizes[what], what) for what in chosen)
    first, *second = (codes[what] for what in chosen)
    return first, second[0] if second else None, words


MOST_SIMULATED = 200
"""Largest number of models for which comparisons are simulated."""


class Circles(NamedTuple):
    """Triples of models that beat each other in a circle."""

    intransitive_triples: int
    """Circles among majorities of comparisons."""
    expected: float
    """Their mean number if one line of strengths holds and comparisons are independent."""
    pvalue: float
    """(1 + simulations with at least as many) / (1 + simulations)."""


def circles(
    won: np.ndarray,
    fought: np.ndarray,
    chance: np.ndarray,
    *,
    rng: np.random.Generator,
    n_samples: int = 199,
) -> Circles:
    """Return the circles of majorities, compared with those of simulated comparisons.

    All are [first, second]: comparisons that the first model won, a tie as half of one, all of
    them, and the mean chance that the first wins. Of more than MOST_SIMULATED models none are
    simulated.
    """
    observed = _circles(won, fought)
    if len(won) > MOST_SIMULATED:
        return Circles(observed, np.nan, np.nan)
    with one_blas_thread():
        drawn = [_circles(rng.binomial(fought, chance), fought) for _ in range(n_samples)]
    as_many = sum(one >= observed for one in drawn)
    return Circles(observed, float(np.mean(drawn)), (1 + as_many) / (1 + n_samples))


def _circles(won: np.ndarray, fought: np.ndarray) -> int:
    """Return the directed triangles of "won the majority of their comparisons"."""
    wins = won + (fought - won).T
    beats = (2.0 * wins > fought + fought.T + 1e-9).astype(np.float32)
    return round(float(np.einsum("ij,ji->", beats @ beats, beats)) / 3.0)
