"""`battles`: who wins pairwise comparisons, and would other prompts or judges change it?

For anyone who runs an arena, has a language model compare two answers, collects preference
judgments or interleaves two rankings: strengths of the models, the ranks that each may have, and
how much of the verdict depends on the prompts, the judges and the order of the answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import stdtr

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.any_file import read_battles
from steadyrank.errors import check_choice, check_count
from steadyrank.notebook import Framed, shown_by
from steadyrank.stats.battles.estimate import (
    POSITION,
    Circles,
    Cluster,
    Estimate,
    JudgeFit,
    circles,
    estimated,
    other_fits,
)
from steadyrank.stats.battles.model import Ties, next_pairs, win_probability, win_rates
from steadyrank.stats.facets.pairs import FEWEST_JUDGES, OtherJudges
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.pairs.family import Family, family_of
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.run_means import share_turned
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


def battles(
    source: Any,
    *,
    ties: Ties = "half",
    position: bool | None = None,
    control: str | Sequence[str] = (),
    cluster: str | Sequence[Cluster] = (),
    fixed: str | Sequence[str] = (),
    baseline: str | None = None,
    columns: dict[str, str] | None = None,
    form: str | None = None,
    alpha: float = 0.05,
    next_battles: int = 0,
    n_samples: int = 10_000,
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> BattlesResult:
    """Rank models by pairwise comparisons, and say how far the ranking can be trusted.

    Parameters
    ----------
    source : Battles, DataFrame, path or paths
        One row per battle: two models and the winner, and any of prompt, judge and numbers of both
        answers such as `length_a` and `length_b`; or files of AlpacaEval, arena-hard, MT-bench, the
        Chatbot Arena and ComparIA.
    ties : str
        "half" counts a tie as half a win for each model; "davidson" gives ties a probability.
    position : bool, optional
        Whether to control for the advantage of the first place; by default where the order of the
        models is known and varies.
    control : str or sequence of str
        Numbers of both answers to control for, such as "length".
    cluster : str or sequence of str
        What was drawn: "prompt", "voter" or both. By default prompts, and voters where ten or more
        voted several times.
    fixed : str or sequence of str
        "judge" leaves out what would hold for other judges.
    baseline : str, optional
        Compare every model with this one only.
    columns : dict, optional
        The names of the file's columns, such as `{"winner": "vote"}`.
    form : str, optional
        As in `read`.
    alpha : float
        Error rate of the whole family of comparisons.
    next_battles : int
        Number of battles to propose for the undecided pairs.
    n_samples : int
        Number of sign patterns of the max-t correction.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Is given (finished, total) blocks of sign patterns.
    rng : int, Generator or None
        Seed.

    Returns
    -------
    BattlesResult
        Strengths with ranks and tiers, and differences of all pairs; `other_judges` has what holds
        for other judges, where three or more each judged everything.

    Notes
    -----
    logit P(a beats b) = theta_a - theta_b + gamma'z, where theta sums to 0 and z holds 1 for the
    first place and standardised differences of the controls. Errors are those over prompts, or over
    prompts and voters (sandwich covariances, G/(G - 1)). Each prompt's influence on the strengths
    gives a pseudo-value per model. They are used as scores by topic: all decisions are those of
    `compare`, corrected t with max-t by sign flips of prompts.

    Three or more judges that each judged everything are a sample: `other_judges` adds their
    variance to that of the prompts. Firth's penalty keeps the strengths of models that never lose
    finite. Models that no battle connects with the largest group are left out.

    Do not read strengths as probabilities for one prompt: they describe the average over prompts.

    References
    ----------
    - Bradley & Terry (1952). Rank analysis of incomplete block designs. Biometrika.
      doi:10.1093/biomet/39.3-4.324
    - Davidson (1970). On extending the Bradley–Terry model to accommodate ties in paired comparison
      experiments. JASA. doi:10.1080/01621459.1970.10481082

    Examples
    --------
    >>> import steadyrank as sr
    >>> result = sr.battles(sr.simulated_battles(4, 80, spread=1.0, rng=1))
    >>> result.runs[result.order[0]], result.tier.tolist()
    ('m1', [1, 2, 3, 4])
    """
    check_open_unit("alpha", alpha)
    check_samples(n_samples)
    check_count("next_battles", next_battles, 0)
    for name in _names(fixed):
        check_choice("facet that can be fixed", name, ("judge",))
    found = estimated(
        read_battles(source, columns=columns, form=form),
        ties=ties,
        position=position,
        control=_names(control),
        cluster=_names(cluster),
    )
    names, design, covariance = found.names, found.fit.design, found.pseudo.covariance
    flips: Flips = {
        "alpha": alpha,
        "n_samples": n_samples,
        "seed": seed_from(rng),
        "jobs": jobs,
        "progress": progress,
    }
    family = family_of(found.pseudo.values, names, baseline, **flips)
    pairs, log_nu = family.pairs, found.fit.log_nu
    judges = found.judges[1]
    judging = _judging(found, len(judges))
    is_sample = judging == "panel" and "judge" not in _names(fixed) and baseline is None
    undecided = pairs[~family.significant] if not family.significant.all() else pairs
    chosen = next_pairs(found.fit, undecided, next_battles)
    fights = _fights(found)
    effects = list(_effects(found))
    needed, others = _needed(found, family), other_fits(found)
    return BattlesResult(
        **family.parts(),
        ties=ties,
        n_battles=len(found.battles),
        n_ties=int((design.outcome == 0.5).sum()),
        n_prompts=len(found.prompts[1]),
        judges=judges,
        judging=judging,
        drawn=found.drawn,
        strength=found.fit.strength,
        standard_error=np.sqrt(np.diag(covariance)[: len(names)]),
        win_rate=win_rates(found.fit.strength, log_nu),
        n_fought=np.bincount(np.concatenate([design.a, design.b]), minlength=len(names)),
        **_observed(*fights, pairs),
        difference_error=_errors(covariance, pairs),
        difference_error_independent=_errors(found.fit.inverse, pairs),
        win_probability=win_probability(family.difference, log_nu),
        position=next((own for own in effects if own.name == POSITION), None),
        controls=tuple(own for own in effects if own.name != POSITION),
        other_judges=found.other_judges(family) if is_sample else None,
        by_judge=() if judging == "voters" else tuple(found.by_judge()),
        fit=circles(*fights, rng=np.random.default_rng(family.seed)),
        is_penalised=found.fit.is_penalised,
        others=found.others,
        topics_needed=needed[0],
        topics_assured=needed[1],
        next_battles=found.battles.on_new_prompts(chosen),
        turned={
            name: share_turned(*(own[pairs[:, 0]] - own[pairs[:, 1]] for own in both))
            for name, both in others.items()
        },
        other_leaders={
            name: (names[int(np.argmax(plain))], names[int(np.argmax(other))])
            for name, (plain, other) in others.items()
        },
    )


def _names(given: str | Sequence[str]) -> tuple[Any, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _judging(found: Estimate, n_judges: int) -> Judging:
    """Return what judges are for these battles."""
    if not n_judges:
        return "unknown"
    if found.is_panel and n_judges >= FEWEST_JUDGES:
        return "panel"
    return "voters" if "voter" in found.drawn or n_judges == len(found.battles) else "fixed"


def _needed(found: Estimate, family: Family) -> tuple[float, float]:
    """Return the prompts that separate the first two, and those with 80% assurance."""
    n, lead = found.pseudo.n_clusters, family.lead
    if lead is None or n < 2:
        return math.inf, math.inf
    error = _errors(found.pseudo.covariance, np.array([[lead.first, lead.second]]))[0]
    needed = needed_topics(
        lead.difference,
        n * error**2,
        n,
        alpha=family.comparison_alpha or family.alpha,
        variance_df=n - 1,
        corrected=True,
    )
    return float(needed.topics), float(needed.assured)


def _errors(covariance: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the standard errors of the differences of pairs."""
    a, b = pairs.T
    squares = np.diag(covariance)
    return np.asarray(np.sqrt(np.maximum(0.0, squares[a] + squares[b] - 2.0 * covariance[a, b])))


def _fights(found: Estimate) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return wins of the first model, battles and mean expected share, each [first, second]."""
    design, m = found.fit.design, len(found.names)
    p = win_probability(found.fit.predictor, found.fit.log_nu)
    fought, won, expected = (
        np.bincount(design.a * m + design.b, weights, m * m).reshape(m, m)
        for weights in (None, design.outcome, p)
    )
    return won, fought, expected / np.maximum(fought, 1)


def _observed(
    won: np.ndarray, fought: np.ndarray, p: np.ndarray, pairs: np.ndarray
) -> dict[str, Any]:
    """Return the battles of each pair, the share that its first model won, and the residual."""
    a, b = pairs.T
    n = fought[a, b] + fought[b, a]
    wins, usual = (own[a, b] + fought[b, a] - own[b, a] for own in (won, p * fought))
    spread = fought * p * (1.0 - p)
    with np.errstate(divide="ignore", invalid="ignore"):
        residual = (wins - usual) / np.sqrt(spread[a, b] + spread[b, a])
        return {"n": n.astype(int), "win_share": wins / n, "residual": residual}


def _effects(found: Estimate) -> Iterator[Effect]:
    """Return the position and the controls, and which model each of them moves most."""
    errors = np.sqrt(np.diag(found.pseudo.covariance)[len(found.names) :])
    for k, name in enumerate(found.covariates):
        estimate, error = float(found.fit.coefficient[k]), float(errors[k])
        moved = found.fit.strength - found.without(name).strength
        most = int(np.argmax(np.abs(moved)))
        t = abs(estimate) / error if error > 0.0 else math.inf
        yield Effect(
            name=name,
            estimate=estimate,
            standard_error=error,
            pvalue=float(2.0 * stdtr(max(found.pseudo.n_clusters - 1, 1), -t)),
            run=found.names[most],
            moved=float(moved[most]),
        )
