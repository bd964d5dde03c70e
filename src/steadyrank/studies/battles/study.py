"""`battles`: who wins pairwise comparisons, and would other prompts or judges change it?

For anyone who runs an arena, has a language model compare two answers, collects preference
judgments or interleaves two rankings: strengths of the models, the ranks that each may have, and
how much of the verdict depends on the prompts, the judges and the order of the answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtr

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.any_file import read_battles
from steadyrank.errors import check_choice, check_count
from steadyrank.stats.battles.estimate import (
    POSITION,
    Cluster,
    Estimate,
    circles,
    estimated,
    other_fits,
)
from steadyrank.stats.battles.model import Ties, next_pairs, win_probability, win_rates
from steadyrank.stats.facets.pairs import FEWEST_JUDGES
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.pairs.family import Family, family_of
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.run_means import share_turned
from steadyrank.studies.battles.result import BattlesResult, Effect, Judging


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
