"""One family of decisions about rows of values: who beats whom, and which ranks each may have.

The rows are ranked by their means over units, such as strengths of models over prompts. The rule is
that of `compare`: corrected t, max-t by sign flips of units, and each row's own comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Unpack

import numpy as np

from steadyrank.data.scores import position
from steadyrank.stats.pairs import decisions
from steadyrank.stats.pairs.max_t import MaxT, max_t, max_t_level
from steadyrank.stats.pairs.result import all_pairs, pairs_with
from steadyrank.stats.pairs.sign_flips import Flips
from steadyrank.stats.pairs.tests import paired_t
from steadyrank.stats.run_means import in_order, ranks_of


class Lead(NamedTuple):
    """The best row against the next, by the comparisons of the next row alone."""

    first: int
    second: int
    difference: float
    interval: np.ndarray
    """[2]; 0 is outside exactly where `significant`, where the next row could not be first."""
    significant: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Family(decisions.Placed):
    """Decisions about all pairs of rows (`runs`), or about all rows and a baseline."""

    runs: tuple[str, ...]
    alpha: float
    baseline: str | None
    values: np.ndarray
    """[row, unit]: the values of which all decisions are made."""
    rank: np.ndarray
    order: list[int]
    """Places of the rows, the best first; equal ones in the order of their names."""
    own: decisions.OwnDecisions | None
    """What each row's own comparisons decide about it; None with a baseline."""
    rank_set_simultaneous: np.ndarray
    """[row, 2]: the ranks that the decisions about all pairs leave to the rows."""
    letters: tuple[str, ...]
    """Rows that share a letter are not significantly different; empty with a baseline."""
    lead: Lead | None
    """The two best rows; None with a baseline."""
    pairs: np.ndarray
    """[pair, 2]: places of the two rows."""
    difference: np.ndarray
    interval: np.ndarray
    """[pair, 2]; 0 is outside exactly where `significant`. NaN where a limit is not bounded."""
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    significant: np.ndarray
    comparison_alpha: float
    """Level of one comparison that the first step of the correction amounts to."""
    n_patterns: int
    """Sign patterns behind the null distribution; 0 for two rows, which have Student's."""
    exact: bool
    """Whether these are all sign patterns."""
    seed: int

    def parts(self) -> dict[str, Any]:
        """Return the fields by name, for a result that has more of them."""
        return {field.name: getattr(self, field.name) for field in fields(Family)}

    def pair_rows(self, **columns: np.ndarray) -> Iterator[dict[str, Any]]:
        """Return one dictionary per pair, with more columns in front."""
        keys = ("difference", "interval", "pvalue", "pvalue_adjusted", "significant")
        columns |= {key: getattr(self, key) for key in keys}
        names, values = np.array(self.runs, object), [own.tolist() for own in columns.values()]
        for row in zip(*names[self.pairs].T.tolist(), *values, strict=True):
            yield dict(zip(("a", "b", *columns), row, strict=True))

    def method_words(self) -> str:
        """How pairs were decided."""
        if not self.n_patterns:
            return "corrected t"
        flips = "all sign patterns" if self.exact else f"{self.n_patterns:,} sign flips"
        against = f"all against {self.baseline}" if self.baseline else "all pairs"
        return f"corrected t, max-t over {len(self.pairs):,} comparisons, {against}, {flips}"


def family_of(
    values: np.ndarray, names: Sequence[str], baseline: str | None = None, **flips: Unpack[Flips]
) -> Family:
    """Return the decisions about rows of values [row, unit] without gaps.

    >>> values = np.random.default_rng(1).normal(size=(3, 40)) + [[0], [0], [2]]
    >>> family_of(values, "abc", n_samples=200).rank_set.tolist()
    [[2, 3], [2, 3], [1, 1]]
    """
    m, alpha, means = len(names), flips.get("alpha", 0.05), values.mean(axis=1)
    pairs = all_pairs(m) if baseline is None else pairs_with(m, position(baseline, names, "model"))
    order = in_order(means, names)
    leads = [] if baseline is not None else [(order[0], order[1])]
    together, tests = max_t(values, pairs, leads=leads, **flips), paired_t(values, pairs)
    direction = np.sign(tests.difference)
    claimed = decisions.claims_of(direction, pairs, together.pvalue, means, alpha)
    by_row = decisions.own_claims(direction, pairs, together.own, means, alpha)
    own = decisions.own_decisions(pairs, by_row, means, order)
    wins = decisions.beaten(m, pairs, claimed)
    limits = tests.difference[:, None] + together.width * [-1.0, 1.0]
    letters = decisions.compact_letters(wins | wins.T, np.array(order)) if leads else ()
    return Family(
        runs=tuple(names),
        alpha=alpha,
        baseline=baseline,
        values=values,
        rank=ranks_of(means),
        order=order,
        own=own if leads else None,
        rank_set_simultaneous=decisions.rank_sets(wins),
        letters=tuple(letters or ()),
        lead=lead_of(means, leads[0], together, own) if leads else None,
        pairs=pairs,
        difference=tests.difference,
        interval=decisions.agreeing_intervals(limits, claimed, math.inf),
        pvalue=tests.pvalue,
        pvalue_adjusted=together.pvalue,
        significant=claimed != 0,
        comparison_alpha=max_t_level(tests.n, together.critical, alpha),
        n_patterns=together.n_patterns,
        exact=together.exact,
        seed=flips.get("seed", 0),
    )


def lead_of(
    means: np.ndarray, two: tuple[int, int], together: MaxT, own: decisions.OwnDecisions
) -> Lead:
    """Return the two best rows, with limits that agree with whether the second could be first."""
    first, second = two
    difference = float(means[first] - means[second])
    limits = difference + together.lead_width[0] * [-1.0, 1.0]
    significant = not own.could_be_first[second]
    agreed = decisions.agreeing_intervals(limits[None], np.array([int(significant)]), math.inf)[0]
    return Lead(first, second, difference, agreed, significant)
