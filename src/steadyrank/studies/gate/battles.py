"""Two models of an arena as two runs: what each prompt says about their shares of wins."""

from __future__ import annotations

import numpy as np

from steadyrank.data.battles import Battles
from steadyrank.data.scores import Scores, position
from steadyrank.errors import InputError
from steadyrank.stats.battles.estimate import estimated
from steadyrank.stats.battles.model import win_probability

MEASURE = "win rate"
"""The measure of the two models: the expected share of the battles between them that each wins."""

STEP = 1e-5
"""Difference of strengths over which the slope of the share is taken."""


def win_scores(battles: Battles, baseline: str, candidate: str) -> Scores:
    """Return the shares of wins of two models against each other, by prompt.

    A prompt's value is the expected share plus the first-order effect of the prompt, times the
    number of prompts: the mean is the share, and the spread gives its error. Position is controlled
    for where it varies, and battles with third models count as far as they compare the two.

    >>> from steadyrank.data.battles import simulated_battles
    >>> scores = win_scores(simulated_battles(2, 200, spread=0.3, rng=1), "m2", "m1")
    >>> scores.values.mean(axis=2).round(2).tolist()
    [[0.37, 0.63]]
    """
    for name in (baseline, candidate):
        position(name, battles.models, "model")
    found = estimated(battles)
    apart = [name for name in (baseline, candidate) if name not in found.names]
    if apart:
        raise InputError(f"battles do not connect {baseline} and {candidate}")
    old, new = (found.names.index(name) for name in (baseline, candidate))
    by_unit = found.pseudo.values[new] - found.pseudo.values[old]
    difference = found.fit.strength[new] - found.fit.strength[old]
    share, above = win_probability(np.array([difference, difference + STEP]), found.fit.log_nu)
    values = share + (above - share) / STEP * (by_unit - difference)
    numbers = tuple(str(k + 1) for k in range(len(by_unit)))
    drawn = (own for codes, own in (found.prompts, found.judges) if codes is found.first)
    return Scores(
        measures=(MEASURE,),
        runs=(baseline, candidate),
        topics=next((own for own in drawn if len(own) == len(by_unit)), numbers),
        values=np.stack([1.0 - values, values])[None],
    )
