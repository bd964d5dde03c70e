"""What `battles` returns: strengths of models, and decisions about all pairs of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from steadyrank._version import __version__
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.battles.judges import JudgeFit, OtherJudges
from steadyrank.stats.battles.model import Ties
from steadyrank.stats.battles.planning import Transitivity
from steadyrank.stats.pairs.decisions import OwnDecisions
from steadyrank.words import counted, listed, number_word

Judging = Literal["unknown", "fixed", "panel", "voters"]
"""Whether judges are unknown, just those here, a sample who each judged everything, or voters."""

MOST_NAMED = 3
"""Judges that a sentence names."""

TIES = {"half": "ties as half wins", "davidson": "Davidson's model of ties"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What the model controls for: the first place, or a difference of lengths."""

    name: str
    estimate: float
    """Log odds in favour of the first model, per standard deviation of the difference."""
    standard_error: float
    pvalue: float
    run: str
    """The model whose strength the control changes most."""
    moved: float
    """Change of this model's strength."""


class BattleLead(NamedTuple):
    """The best model against the next, by the comparisons of the next model alone."""

    first: int
    second: int
    difference: float
    interval: np.ndarray
    """[2]; 0 is outside exactly where `significant`, where the next model could not be first."""
    significant: bool
    win_probability: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.battles.view:VIEW.text")
class BattlesResult(Framed):
    """What `battles` found: arrays with one entry per model (`runs`), and per pair.

    `significant`, `interval` and `pvalue_adjusted` express one family of decisions about all pairs;
    `rank_set`, `could_be_first`, `tier` and `lead` those of each model's own comparisons.

    Examples
    --------
    >>> import steadyrank as sr
    >>> result = sr.battles(sr.simulated_battles(3, 60, spread=2.0))
    >>> result.runs, result.rank.tolist(), result.could_be_first.tolist()
    (('m1', 'm2', 'm3'), [1, 2, 3], [True, False, False])
    """

    runs: tuple[str, ...]
    ties: Ties
    alpha: float
    baseline: str | None
    n_battles: int
    n_ties: int
    n_prompts: int
    judges: tuple[str, ...]
    judging: Judging
    drawn: str
    """What was drawn, counted, such as "80 prompts"."""
    strength: np.ndarray
    """Log odds; they sum to 0."""
    standard_error: np.ndarray
    win_rate: np.ndarray
    """Share of wins against an average opponent, ties as half of one."""
    n_fought: np.ndarray
    """Number of battles of each model."""
    rank: np.ndarray
    order: list[int]
    """Places of the models, the strongest first."""
    own: OwnDecisions | None
    """What each model's own comparisons decide about it; None with a baseline."""
    rank_set_simultaneous: np.ndarray
    """[model, 2]: the ranks that the decisions about all pairs leave to the models."""
    letters: tuple[str, ...]
    """Models that share a letter are not significantly different; empty with a baseline."""
    lead: BattleLead | None
    """The two strongest models; None with a baseline."""
    pairs: np.ndarray
    """[pair, 2]: places of the two models."""
    n: np.ndarray
    """Number of battles between the two."""
    win_share: np.ndarray
    """Observed share of these battles that the first model won; NaN without any."""
    residual: np.ndarray
    """Standardised difference of the observed from the expected number of wins; NaN without any."""
    difference: np.ndarray
    difference_error: np.ndarray
    difference_error_independent: np.ndarray
    """Standard errors if battles were independent."""
    interval: np.ndarray
    """[pair, 2]; NaN where a limit is not bounded."""
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    win_probability: np.ndarray
    comparison_alpha: float
    """Level of one comparison that the first step of the correction amounts to."""
    n_patterns: int
    exact: bool
    seed: int
    position: Effect | None
    controls: tuple[Effect, ...]
    other_judges: OtherJudges | None
    """What holds for other judges, where three or more judges each judged everything."""
    by_judge: tuple[JudgeFit, ...]
    fit: Transitivity
    is_penalised: bool
    others: tuple[tuple[str, ...], ...]
    """Groups of models that no battle connects with those here."""
    topics_needed: float
    """Prompts that separate the two strongest models with power 0.8; infinite where none do."""
    topics_assured: float
    """Prompts that do so with 80% assurance."""
    next_battles: tuple[tuple[str, str, str], ...]
    """The first and the second model, and the prompt, of the battles to run next."""
    turned: dict[str, float]
    """Share of the pairs that another way of fitting orders otherwise, by what is changed."""
    values: np.ndarray
    """[model, unit]: pseudo-values, of which all decisions are made."""
    simultaneous: bool = False
    """Whether tables show the ranks that hold for all models at once."""

    @property
    def rank_set(self) -> np.ndarray:
        """[model, 2]: the ranks that its own comparisons leave to each; 0 with a baseline."""
        return np.zeros((len(self.runs), 2), int) if self.own is None else self.own.rank_set

    @property
    def could_be_first(self) -> np.ndarray:
        """Which models' rank sets begin at 1."""
        return np.asarray(self.rank_set[:, 0] == 1)

    @property
    def tier(self) -> np.ndarray:
        """1 for the strongest and those down to the last that it does not beat, and so on."""
        return np.zeros(len(self.runs), int) if self.own is None else self.own.tier

    @property
    def n_different(self) -> np.ndarray:
        """Number of models that each model differs from significantly."""
        return np.bincount(self.pairs[self.significant].ravel(), minlength=len(self.runs))

    @property
    def design_ratio(self) -> float:
        """How many times the standard errors of independent battles the errors are."""
        squares = np.square(self.difference_error_independent).mean()
        return float(np.sqrt(np.square(self.difference_error).mean() / squares))

    @property
    def by_judges(self) -> str:
        """Whose view it is: " by gpt-4 alone", " by these four judges"; empty for voters."""
        if self.judging in ("unknown", "voters"):
            return ""
        if len(self.judges) == 1:
            return f", by {self.judges[0]} alone"
        return f", by these {number_word(len(self.judges))} judges"

    def method_words(self) -> str:
        """How pairs were decided."""
        if not self.n_patterns:
            return f"corrected t over {self.drawn}"
        flips = "all sign patterns" if self.exact else f"{self.n_patterns:,} sign flips"
        against = f"all models against {self.baseline}" if self.baseline else "all pairs"
        return (
            f"corrected t, max-t over {counted(len(self.pairs), 'comparison', form=',')}, "
            f"{against}, {flips}"
        )

    def caption(self) -> str:
        """Model, method, level, sizes and version."""
        controls = [*(["position"] if self.position else []), *(own.name for own in self.controls)]
        controlled = f", controlled for {listed(controls)}" if controls else ""
        penalty = ", Firth's penalty" if self.is_penalised else ""
        return (
            f"Log odds of the Bradley–Terry model, {TIES[self.ties]}{controlled}{penalty}; errors "
            f"over {self.drawn}; {self.method_words()}; alpha {self.alpha:g}; "
            f"{counted(self.n_battles, 'battle', form=',')}; steadyrank {__version__}."
        )

    def run_rows(self) -> list[dict[str, Any]]:
        """One dictionary per model, the strongest first, with the keys that the JSON output has."""
        others, keys = self.other_judges, ("rank_set", "rank_set_simultaneous")
        is_known = self.own is not None
        sets = {key: getattr(self, key).tolist() for key in keys}
        rows = []
        for i in self.order:
            rows.append(
                {
                    "run": self.runs[i],
                    "strength": float(self.strength[i]),
                    "standard_error": float(self.standard_error[i]),
                    "win_rate": float(self.win_rate[i]),
                    "rank": int(self.rank[i]),
                    **{key: sets[key][i] if is_known else None for key in keys},
                    "could_be_first": bool(self.could_be_first[i]) if is_known else None,
                    "tier": int(self.tier[i]) or None,
                    "group": self.letters[i] if self.letters else None,
                    "battles": int(self.n_fought[i]),
                    "n_different": int(self.n_different[i]),
                    "rank_set_other_judges": None
                    if others is None
                    else others.own.rank_set[i].tolist(),
                    "could_be_first_other_judges": None
                    if others is None
                    else bool(others.own.could_be_first[i]),
                }
            )
        return rows

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per pair, with the keys that the JSON output has."""
        names, others = np.array(self.runs, object), self.other_judges
        columns = {
            "n": self.n,
            "difference": self.difference,
            "standard_error": self.difference_error,
            "standard_error_independent": self.difference_error_independent,
            "interval": self.interval,
            "pvalue": self.pvalue,
            "pvalue_adjusted": self.pvalue_adjusted,
            "significant": self.significant,
            "win_probability": self.win_probability,
            "win_share": self.win_share,
            "residual": self.residual,
        }
        if others is not None:
            columns |= {
                "standard_error_other_judges": others.standard_error,
                "significant_other_judges": others.significant,
            }
        values = [column.tolist() for column in columns.values()]
        return [
            dict(zip(("a", "b", *columns), row, strict=True))
            for row in zip(*names[self.pairs].T.tolist(), *values, strict=True)
        ]
