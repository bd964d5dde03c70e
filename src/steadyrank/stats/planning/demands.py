"""The specification of a plan: its method, error rates and formulas.

It converts a variance into a number of topics, for one-way ANOVA of m systems, and for t tests and
intervals of two (Sakai & Shang, EVIA 2016).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

from steadyrank.errors import (
    InputError,
    arg,
    bad_value,
    check_choice,
    check_count,
    check_number,
    warn,
)
from steadyrank.stats.planning import design

Method = Literal["anova", "ttest", "interval"]
Formula = Literal["exact", "nagata", "corrected"]
"""Exact power of the published tests, the published approximations, or exact power of the paired t
test of `compare`, which allows for skewed differences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demands:
    """A method with all its arguments except a variance.

    If `paired`, the variance is half that of differences.
    """

    method: Method
    formula: Formula
    alpha: float
    beta: float
    systems: int
    paired: bool
    """Always false for one-way ANOVA."""
    minimum_difference: float | None
    width: float | None
    comparisons: int = 1
    """Number of comparisons that share alpha, by Bonferroni's bound; 1 for ANOVA."""
    level: float | None = None
    """Level of a single comparison, if not Bonferroni's."""

    @property
    def comparison_alpha(self) -> float:
        """Level of a single comparison."""
        return self.level or self.alpha / self.comparisons

    def topics(self, variance: float) -> int:
        """Return the number of topics needed."""
        size = _wanted(self.width if self.method == "interval" else self.minimum_difference)
        if self.formula == "nagata":
            return self._nagata().topics(size, variance)
        if self.method == "interval":
            level = self.comparison_alpha
            return design.topics_for_width(size, variance, paired=self.paired, alpha=level)
        return design.topics_for_range(size, variance, **self._layout(), **self._rates())

    def power(self, variance: float, n_topics: float) -> float:
        """Return the exact power of n topics; NaN without a minimum difference."""
        if self.minimum_difference is None:
            return math.nan
        return design.range_power(
            self.minimum_difference,
            variance,
            n_topics,
            alpha=self.comparison_alpha,
            **self._layout(),
        )

    def smallest_difference(self, variance: float, n_topics: float) -> float:
        """Return the difference that n topics detect with power 1 - beta."""
        if self.formula == "nagata" and self.method != "interval":
            return self._nagata().size(variance, n_topics)
        return design.smallest_range(variance, n_topics, **self._layout(), **self._rates())

    def expected_width(self, variance: float, n_topics: float) -> float:
        """Return the expected width of the interval of a difference; NaN for ANOVA."""
        if self.method == "anova":
            return math.nan
        return design.expected_width(
            variance, n_topics, paired=self.paired, alpha=self.comparison_alpha
        )

    def _nagata(self) -> design.NagataFormula:
        rates = self._rates()
        return design.nagata(self.method, systems=self.systems, paired=self.paired, **rates)

    def _layout(self) -> dict[str, Any]:
        is_corrected = self.formula == "corrected"
        return {"systems": self.systems, "paired": self.paired, "corrected": is_corrected}

    def _rates(self) -> dict[str, Any]:
        return {"alpha": self.comparison_alpha, "beta": self.beta}


def _wanted(value: float | None) -> float:
    if value is None:
        raise InputError(
            "a number of topics requires a minimum difference, or a width for intervals"
        )
    return value


def check_demands(
    *,
    method: Any = "anova",
    formula: Any = "exact",
    alpha: Any = 0.05,
    beta: Any = 0.2,
    systems: Any = None,
    paired: Any = None,
    minimum_difference: Any = None,
    width: Any = None,
    topics: Any = None,
) -> Demands:
    """Return valid demands; with `topics`, a minimum difference or width is optional."""
    check_choice("method", method, get_args(Method))
    check_choice("formula", formula, get_args(Formula))
    design.check_rates(check_number("alpha", alpha), check_number("beta", beta))
    if method == "anova" and paired is not None:
        raise InputError(
            "paired and unpaired are for the t test and for intervals: one-way ANOVA has no pairs"
        )
    if method != "interval" and width is not None:
        raise InputError(f"a width is planned by method interval, not by {method}")
    if formula == "corrected" and (method != "ttest" or paired is False):
        raise InputError("the corrected formula is for paired t tests: use exact for other designs")
    _check_aim(method, minimum_difference, width, topics)
    return Demands(
        method=method,
        formula=formula,
        alpha=float(alpha),
        beta=float(beta),
        systems=_check_systems(method, systems),
        paired=method != "anova" and paired is not False,
        minimum_difference=minimum_difference,
        width=width,
    )


def _check_aim(method: str, minimum_difference: Any, width: Any, topics: Any) -> None:
    """Check a difference or a width, above 0; neither is required if `topics` are given."""
    if topics is not None:
        check_count("n_topics", topics, least=2)
    if minimum_difference is not None:
        check_positive("minimum_difference", minimum_difference)
    if width is not None:
        check_positive("width", width)
    if topics is not None:
        return
    if method == "interval" and width is None:
        raise InputError(
            f"specify the width of intervals, as {arg('width=')}, such as 0.1, or "
            f"{arg('n_topics=')} to see the width of intervals for a number of topics"
        )
    if method != "interval" and minimum_difference is None:
        raise InputError(
            f"specify the minimum difference to detect, as {arg('minimum_difference=')}, "
            f"such as 0.05, or {arg('n_topics=')} to see what a number of topics can detect"
        )


def _check_systems(method: str, systems: Any) -> int:
    if method == "anova":
        if systems is None:
            raise InputError(
                f"specify the number of systems that ANOVA will compare, as {arg('systems=')}, "
                f"such as 10; for two systems use {arg('method', 'ttest')}"
            )
        return check_count("systems", systems, least=2)
    if systems not in (None, 2):
        warn(
            f"{systems} systems are ignored: {method} is for two; use anova for more", stacklevel=5
        )
    return 2


def check_positive(name: str, value: Any) -> float:
    """Return a finite number above 0."""
    if not 0.0 < check_number(name, value) < math.inf:
        raise bad_value(name, "be a number above 0", value)
    return float(value)
