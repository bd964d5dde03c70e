"""What `battles` returns: strengths of models, and decisions about all pairs of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from steadyrank._version import __version__
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.battles.estimate import Circles, JudgeFit
from steadyrank.stats.battles.model import Ties
from steadyrank.stats.facets.pairs import OtherJudges
from steadyrank.stats.pairs.family import Family
from steadyrank.words import listed, number_word

Judging = Literal["unknown", "fixed", "panel", "voters"]
"""Whether judges are unknown, just those here, a sample who each judged everything, or voters."""

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

    @property
    def worth(self) -> str:
        """The estimate with its standard error, in words."""
        return f"{self.estimate:+.3f} (s.e. {self.standard_error:.3f})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.battles.view:VIEW.text")
class BattlesResult(Family, Framed):
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

    ties: Ties
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
    n: np.ndarray
    """Number of battles between the two models of each pair."""
    win_share: np.ndarray
    """Observed share of these battles that the first model won; NaN without any."""
    residual: np.ndarray
    """Standardised difference of the observed from the expected number of wins; NaN without any."""
    difference_error: np.ndarray
    difference_error_independent: np.ndarray
    """Standard errors of the differences if battles were independent."""
    win_probability: np.ndarray
    position: Effect | None
    controls: tuple[Effect, ...]
    other_judges: OtherJudges | None
    """What holds for other judges, where three or more judges each judged everything."""
    by_judge: tuple[JudgeFit, ...]
    fit: Circles
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
    other_leaders: dict[str, tuple[str, str]]
    """The strongest model by both ways of fitting, by what is changed."""
    simultaneous: bool = False
    """Whether tables show the ranks that hold for all models at once."""

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The position, where it is controlled for, and the controls."""
        return (*([self.position] if self.position else []), *self.controls)

    @property
    def design_ratio(self) -> float:
        """How many times the standard errors of independent battles the errors are."""
        squares = np.square(self.difference_error_independent).mean()
        return float(np.sqrt(np.square(self.difference_error).mean() / squares))

    @property
    def by_judges(self) -> str:
        """Return the judges in words: ", by gpt-4 alone", ", by these four"; empty for voters."""
        if self.judging in ("unknown", "voters"):
            return ""
        if len(self.judges) == 1:
            return f", by {self.judges[0]} alone"
        return f", by these {number_word(len(self.judges))} judges"

    @property
    def units(self) -> str:
        """What was drawn: "prompts", "prompts or voters", "voters", "battles"."""
        nouns = ("prompt", "voter", "battle")
        return " or ".join(f"{noun}s" for noun in nouns if noun in self.drawn)

    def controlled(self, before: str) -> str:
        """What was controlled for, behind some words; empty without controls."""
        return f"{before}{listed([own.name for own in self.effects])}" if self.effects else ""

    def caption(self) -> str:
        """Model, method, level, sizes and version."""
        penalty = ", Firth's penalty" if self.is_penalised else ""
        return (
            f"Log odds of the Bradley–Terry model, {TIES[self.ties]}"
            f"{self.controlled(', controlled for ')}{penalty}; errors over {self.drawn}; "
            f"{self.method_words()}; alpha {self.alpha:g}; {self.n_battles:,} battles; steadyrank "
            f"{__version__}."
        )

    def run_rows(self) -> Iterator[dict[str, Any]]:
        """One dictionary per model, the strongest first, with the keys that the JSON output has."""
        others = self.other_judges
        for i in self.order:
            yield {
                "run": self.runs[i],
                "strength": float(self.strength[i]),
                "standard_error": float(self.standard_error[i]),
                "win_rate": float(self.win_rate[i]),
                **self.place_row(i),
                "n_different": int(self.n_different[i]),
                "battles": int(self.n_fought[i]),
                "rank_set_other_judges": None if others is None else others.rank_set[i].tolist(),
                "could_be_first_other_judges": None
                if others is None
                else bool(others.could_be_first[i]),
            }

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per pair, with the keys that the JSON output has."""
        keys = ("n", "win_probability", "win_share", "residual")
        columns = {key: getattr(self, key) for key in keys}
        columns["standard_error"] = self.difference_error
        columns["standard_error_independent"] = self.difference_error_independent
        if self.other_judges is not None:
            columns["standard_error_other_judges"] = self.other_judges.standard_error
            columns["significant_other_judges"] = self.other_judges.significant
        return list(self.pair_rows(**columns))
