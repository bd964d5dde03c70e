"""`battles`: who wins pairwise comparisons, and would other prompts or judges change it?

For anyone who runs an arena, has a language model compare two answers, collects preference
judgments or interleaves two rankings: strengths of the models, the ranks that each may have, and
how much of the verdict depends on the prompts, the judges and the order of the answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import stdtr

from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.read.battles import read_battles
from steadyrank.data.scores import position as place_of
from steadyrank.errors import InputError, check_choice, check_count
from steadyrank.stats.battles.estimate import POSITION, Cluster, Estimate, estimated, other_fits
from steadyrank.stats.battles.judges import fits_by_judge, is_panel, other_judges
from steadyrank.stats.battles.model import Ties, win_probability, win_rates
from steadyrank.stats.battles.planning import next_pairs, prompts_for, transitivity
from steadyrank.stats.inputs import check_open_unit, check_samples
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.max_t import MaxT, max_t, max_t_level
from steadyrank.stats.pairs.result import all_pairs, pairs_with
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.planning.needed_topics import needed_topics
from steadyrank.stats.run_means import in_order, ranks_of, share_turned
from steadyrank.studies.battles.result import BattleLead, BattlesResult, Effect, Judging

N_SIMULATED = 999
"""Simulations behind the p-value of intransitive triples."""

MOST_SIMULATED = 200
"""Largest number of models for which these are simulated."""


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
    gives a pseudo-value per model. These take the place of scores by topic: all decisions are those
    of `compare`, corrected t with max-t by sign flips of prompts.

    Judges that each judged everything are a sample from three judges on: `other_judges` then adds
    their variance to that of the prompts. Strengths of models that never lose are kept finite by
    Firth's penalty. Models that no battle connects with the largest group are left out.

    Do not read strengths as probabilities for one prompt: they describe the average over prompts.
    With fewer than 40 prompts, claims are slightly more frequent than alpha where few pairs fought.

    References
    ----------
    - Bradley & Terry (1952). Rank analysis of incomplete block designs. Biometrika.
      doi:10.1093/biomet/39.3-4.324
    - Davidson (1970). On extending the Bradley–Terry model to accommodate ties in paired comparison
      experiments. JASA. doi:10.1080/01621459.1970.10481082
    - Cameron, Gelbach & Miller (2011). Robust inference with multiway clustering. JBES.
      doi:10.1198/jbes.2010.07136
    - Firth (1993). Bias reduction of maximum likelihood estimates. Biometrika.
      doi:10.1093/biomet/80.1.27

    Examples
    --------
    >>> import steadyrank as sr
    >>> result = sr.battles(sr.simulated_battles(4, 80, spread=1.0, rng=1))
    >>> result.runs[result.order[0]], result.tier.tolist()
    ('m1', [1, 2, 2, 3])
    """
    seed = seed_from(rng)
    check_open_unit("alpha", alpha)
    check_samples(n_samples)
    check_count("next_battles", next_battles, 0)
    for name in _names(fixed):
        check_choice("facet that can be fixed", name, ("judge",))
    given = read_battles(source, columns=columns, form=form)
    found = estimated(
        given, ties=ties, position=position, control=_names(control), cluster=_names(cluster)
    )
    m, names, strength = len(found.names), found.names, found.fit.strength
    if m < 2:
        raise InputError(f"battles compare models: at least two are required, got {m}")
    pairs = all_pairs(m) if baseline is None else pairs_with(m, place_of(baseline, names, "model"))
    order = in_order(strength, names)
    leads = [] if baseline is not None else [(order[0], order[1])]
    flips: Flips = {
        "alpha": alpha,
        "n_samples": n_samples,
        "seed": seed,
        "jobs": jobs,
        "progress": progress,
    }
    values = found.pseudo.values
    together = max_t(values, pairs, leads=leads, **flips)
    tests = paired_t(values, pairs)
    level = max_t_level(tests.n, together.critical, alpha)
    direction = np.sign(tests.difference)
    claimed = decisions.claims_of(direction, pairs, together.pvalue, strength, alpha)
    by_run = decisions.own_claims(direction, pairs, together.own, strength, alpha)
    own = decisions.own_decisions(pairs, by_run, strength, order)
    wins = decisions.beaten(m, pairs, claimed)
    limits = tests.difference[:, None] + together.width * [-1.0, 1.0]
    lead = _lead(found, leads, together, own) if leads else None
    needed = _needed(found, lead, level, alpha)
    codes, judges = found.battles.codes("judge")
    prompts, prompt_names = found.battles.codes("prompt")
    judging = _judging(found, prompts, codes, len(judges))
    is_random = judging == "panel" and "judge" not in _names(fixed) and baseline is None
    n, win_share, residual = _observed(found, pairs)
    undecided = pairs[claimed == 0] if (claimed == 0).any() else pairs
    chosen = next_pairs(found.fit, undecided, next_battles) if next_battles else []
    effects = _effects(found)
    return BattlesResult(
        runs=names,
        ties=ties,
        alpha=alpha,
        baseline=baseline,
        n_battles=len(found.battles),
        n_ties=int((found.battles.outcome == 0.5).sum()),
        n_prompts=len(prompt_names),
        judges=judges,
        judging=judging,
        drawn=found.drawn,
        strength=strength,
        standard_error=np.sqrt(np.diag(found.pseudo.covariance)[:m]),
        win_rate=win_rates(strength, found.fit.log_nu),
        n_fought=np.bincount(np.concatenate([found.battles.a, found.battles.b]), minlength=m),
        rank=ranks_of(strength),
        order=order,
        own=own if baseline is None else None,
        rank_set_simultaneous=decisions.rank_sets(wins),
        letters=_letters(wins, order) if baseline is None else (),
        lead=lead,
        pairs=pairs,
        n=n,
        win_share=win_share,
        residual=residual,
        difference=tests.difference,
        difference_error=_errors(found.pseudo.covariance, pairs),
        difference_error_independent=_errors(found.fit.inverse, pairs),
        interval=decisions.agreeing_intervals(limits, claimed, math.inf),
        pvalue=tests.pvalue,
        pvalue_adjusted=together.pvalue,
        significant=claimed != 0,
        win_probability=win_probability(tests.difference, found.fit.log_nu),
        comparison_alpha=level,
        n_patterns=together.n_patterns,
        exact=together.exact,
        seed=seed,
        position=next((own for own in effects if own.name == POSITION), None),
        controls=tuple(own for own in effects if own.name != POSITION),
        other_judges=other_judges(found, prompts, codes, alpha) if is_random else None,
        by_judge=tuple(fits_by_judge(found, codes, judges)) if judging != "voters" else (),
        fit=transitivity(
            found.fit,
            n_samples=N_SIMULATED if m <= MOST_SIMULATED else 0,
            rng=np.random.default_rng(seed),
        ),
        is_penalised=found.fit.is_penalised,
        others=found.others,
        topics_needed=needed[0],
        topics_assured=needed[1],
        next_battles=tuple(
            (names[a], names[b], prompt)
            for (a, b), prompt in zip(
                chosen, prompts_for(chosen, found.battles, prompts, prompt_names), strict=True
            )
        ),
        turned=_turned(found, pairs) if baseline is None else {},
        values=values,
    )


def _names(given: str | Sequence[str]) -> tuple[Any, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _judging(found: Estimate, prompts: np.ndarray, codes: np.ndarray, n_judges: int) -> Judging:
    """Return what judges are for these battles."""
    if not n_judges:
        return "unknown"
    if len(prompts) and is_panel(prompts, codes, n_judges):
        return "panel"
    return "voters" if "voter" in found.drawn or n_judges == len(codes) else "fixed"


def _lead(
    found: Estimate, leads: list[tuple[int, int]], together: MaxT, own: decisions.OwnDecisions
) -> BattleLead:
    """Return the best model and the next, by the next model's own comparisons."""
    first, second = leads[0]
    difference = float(found.fit.strength[first] - found.fit.strength[second])
    limits = difference + together.lead_width[0] * [-1.0, 1.0]
    significant = not own.could_be_first[second]
    agreed = decisions.agreeing_intervals(limits[None], np.array([int(significant)]), math.inf)[0]
    chance = float(win_probability(np.array(difference), found.fit.log_nu))
    return BattleLead(first, second, difference, agreed, significant, chance)


def _needed(
    found: Estimate, lead: BattleLead | None, level: float, alpha: float
) -> tuple[float, float]:
    """Return the prompts that separate the first two, and those with 80% assurance."""
    if lead is None:
        return math.nan, math.nan
    n = found.pseudo.n_clusters
    if n < 2:
        return math.inf, math.inf
    error = _errors(found.pseudo.covariance, np.array([[lead.first, lead.second]]))[0]
    needed = needed_topics(
        lead.difference,
        n * error**2,
        n,
        alpha=level or alpha,
        confidence=1.0 - alpha,
        variance_df=n - 1,
        corrected=True,
    )
    return float(needed.topics), float(needed.assured)


def _letters(wins: np.ndarray, order: list[int]) -> tuple[str, ...]:
    return tuple(decisions.compact_letters(wins | wins.T, np.array(order)) or ())


def _errors(covariance: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Return the standard errors of the differences of pairs."""
    a, b = pairs.T
    squares = np.diag(covariance)
    return np.asarray(np.sqrt(np.maximum(0.0, squares[a] + squares[b] - 2.0 * covariance[a, b])))


def _observed(found: Estimate, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the battles of each pair, the share that its first model won, and the residual."""
    design, m = found.fit.design, len(found.names)
    predictor = design.predictor(np.concatenate([found.fit.strength, found.fit.coefficient]))
    p = win_probability(predictor, found.fit.log_nu)
    cell = design.a * m + design.b
    fought, won, expected, spread = (
        np.bincount(cell, weights, m * m).reshape(m, m)
        for weights in (None, design.outcome, p, p * (1.0 - p))
    )
    a, b = pairs.T
    n = fought[a, b] + fought[b, a]
    wins = won[a, b] + fought[b, a] - won[b, a]
    off = wins - (expected[a, b] + fought[b, a] - expected[b, a])
    with np.errstate(divide="ignore", invalid="ignore"):
        return n.astype(int), wins / n, off / np.sqrt(spread[a, b] + spread[b, a])


def _effects(found: Estimate) -> list[Effect]:
    """Return the position and the controls, and which model each of them moves most."""
    made = []
    for k, name in enumerate(found.covariates):
        estimate, error = float(found.fit.coefficient[k]), float(found.coefficient_error[k])
        moved = found.fit.strength - found.without(name).strength
        most = int(np.argmax(np.abs(moved)))
        t = abs(estimate) / error if error > 0.0 else math.inf
        made.append(
            Effect(
                name=name,
                estimate=estimate,
                standard_error=error,
                pvalue=float(2.0 * stdtr(max(found.pseudo.n_clusters - 1, 1), -t)),
                run=found.names[most],
                moved=float(moved[most]),
            )
        )
    return made


def _turned(found: Estimate, pairs: np.ndarray) -> dict[str, float]:
    """Return the share of pairs that another way of fitting turns, by what it changes."""
    a, b = pairs.T
    return {
        name: share_turned(here[a] - here[b], there[a] - there[b])
        for name, (here, there) in other_fits(found).items()
    }
