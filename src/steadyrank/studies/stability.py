"""`stability`: how stable is this collection, and how many topics would make it so?

Generalizability theory (Brennan 2001; Urbano, Marrero & Martín, SIGIR 2013), the second opinion on
topic set sizes: a G-study splits the scores' variance into systems, topics and the rest, a D-study
says how well n topics rank the systems (E rho²) and measure them (Phi).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steadyrank._version import __version__
from steadyrank.data.scores import Scores, position
from steadyrank.errors import InputError
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.variance import VarianceComponents, topics_for, variance_components
from steadyrank.studies.demands import check_number

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.8, 0.9, 0.95)
"""Stability to plan for, unless told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficients:
    """The D-study of one number of topics."""

    topics: int
    e_rho2: float
    e_rho2_interval: tuple[float, float]
    phi: float
    phi_interval: tuple[float, float]

    def row(self) -> dict[str, Any]:
        """The keys of the JSON output."""
        return {
            "topics": self.topics,
            "e_rho2": self.e_rho2,
            "e_rho2_interval": self.e_rho2_interval,
            "phi": self.phi,
            "phi_interval": self.phi_interval,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicsNeeded:
    """Topics for a level of stability; infinite where no number reaches it."""

    level: float
    e_rho2: float
    e_rho2_interval: tuple[float, float]
    phi: float
    phi_interval: tuple[float, float]

    def row(self) -> dict[str, Any]:
        """The keys of the JSON output."""
        return {
            "level": self.level,
            "e_rho2": self.e_rho2,
            "phi": self.phi,
            "e_rho2_interval": self.e_rho2_interval,
            "phi_interval": self.phi_interval,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StabilityResult:
    """What `stability` found on one measure."""

    measure: str
    components: VarianceComponents
    """The G-study."""
    confidence: float
    coefficients: tuple[Coefficients, ...]
    """The D-study: first the collection's own number of topics, then those asked about."""
    topics_needed: tuple[TopicsNeeded, ...]

    @property
    def e_rho2(self) -> float:
        """Relative stability of the collection as it is."""
        return self.coefficients[0].e_rho2

    @property
    def phi(self) -> float:
        """Absolute stability of the collection as it is."""
        return self.coefficients[0].phi

    @property
    def variance_share(self) -> dict[str, float]:
        """Each component over their sum."""
        total = sum(self.components.variance.values())
        return {name: value / total for name, value in self.components.variance.items()}

    def caption(self) -> str:
        """What a table of this result must say: sizes, model, intervals, version."""
        g = self.components
        dropped = f" ({g.n_dropped} dropped)" if g.n_dropped else ""
        return (
            f"{self.measure}, {g.n_systems} systems × {g.n_topics} topics{dropped}, both random; "
            f"{self.confidence:.0%} intervals, by Feldt for E rho² and by Arteaga et al. for Phi; "
            f"steadyrank {__version__}."
        )

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a number of topics: the D-study."""
        return [{"measure": self.measure, **found.row()} for found in self.coefficients]

    def to_frame(self) -> pd.DataFrame:
        """The D-study, one row a number of topics."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False, float_format="{:.4g}".format))


def stability(
    scores: Scores,
    *,
    measure: str | None = None,
    topics: Sequence[int] = (),
    levels: Sequence[float] = LEVELS,
    confidence: float = 0.95,
) -> StabilityResult:
    """G-study and D-study of one measure, systems and topics crossed.

    E rho² = system / (system + residual / n): how well n topics keep the systems' order. Phi =
    system / (system + (topic + residual) / n): how well they keep the scores themselves.
    `topics`: other numbers of topics to look at; `levels`: of stability to find topics for.

    Systems and topics both count as random samples: the answer is about other systems like these.
    Close systems make it low although each score is known well. Intervals assume normal effects.
    Topics that some run lacks are left out.

    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=4, runs_per_team=2, n_topics=30, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> result = stability(scores, levels=[0.95])
    >>> list(result.components.variance)
    ['system', 'topic', 'residual']
    """
    name = _measure(scores, measure)
    check_open_unit("confidence", confidence)
    for level in levels:
        check_open_unit("level", check_number("level", level))
    sizes = [_check_size(size) for size in topics]
    g = variance_components(scores.matrix(name))
    if not any(g.mean_squares.values()):
        raise InputError(f"{name}: every score is the same: there is no variance to split")
    return StabilityResult(
        measure=name,
        components=g,
        confidence=confidence,
        coefficients=tuple(_coefficients(g, n, confidence) for n in [g.n_topics, *sizes]),
        topics_needed=tuple(_needed(g, level, confidence) for level in levels),
    )


def _measure(scores: Scores, measure: str | None) -> str:
    if measure is None:
        scores.matrix()
        return scores.measures[0]
    position(str(measure), scores.measures, "measure")
    return str(measure)


def _check_size(size: Any) -> int:
    if check_number("topics", size) != math.floor(size) or not size >= 1:
        raise InputError(f"topics must be whole numbers from 1 on, got {size!r}")
    return int(size)


def _coefficients(g: VarianceComponents, n_topics: int, confidence: float) -> Coefficients:
    return Coefficients(
        topics=n_topics,
        e_rho2=g.e_rho2(n_topics),
        e_rho2_interval=g.e_rho2_interval(n_topics, confidence),
        phi=g.phi(n_topics),
        phi_interval=g.phi_interval(n_topics, confidence),
    )


def _needed(g: VarianceComponents, level: float, confidence: float) -> TopicsNeeded:
    """The larger the ratio of variances, the fewer topics: limits change places."""
    relative, absolute = (
        g.relative_ratio_interval(confidence),
        g.absolute_ratio_interval(confidence),
    )
    return TopicsNeeded(
        level=level,
        e_rho2=g.topics_for_e_rho2(level),
        e_rho2_interval=(topics_for(relative[1], level), topics_for(relative[0], level)),
        phi=g.topics_for_phi(level),
        phi_interval=(topics_for(absolute[1], level), topics_for(absolute[0], level)),
    )
