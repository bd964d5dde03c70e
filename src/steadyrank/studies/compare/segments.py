"""Segments of the topics in `compare`: who beats whom in each, and does the segment matter?

The comparisons of all segments are one family. Whether a run's lead depends on the segment is a
test of its own: a difference that is significant in one segment and not in another shows nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steadyrank.data.order import order_by_name
from steadyrank.data.scores import Scores, topic_column
from steadyrank.errors import InputError
from steadyrank.stats.segments import Interaction, segment_interaction
from steadyrank.studies.compare.clustering import topic_design
from steadyrank.studies.compare.result import SIMULTANEOUS, CompareResult
from steadyrank.studies.compare.tested import Settings
from steadyrank.studies.compare.testing import compared_segments


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Segments:
    """The comparisons in each segment, and the test of segment × run."""

    by: str
    """The column of the topics' information."""
    names: tuple[str, ...]
    results: tuple[CompareResult, ...]
    """One per segment; all of their comparisons were corrected together."""
    interaction: Interaction

    @property
    def tested(self) -> tuple[str, ...]:
        """The segments with enough topics for the test of segment × run."""
        return tuple(self.names[place] for place in self.interaction.tested)

    def interaction_rows(self) -> list[dict[str, Any]]:
        """One dictionary per run and tested segment, as in JSON."""
        test = self.interaction
        return [
            {
                "run": run,
                "segment": segment,
                "deviation": float(test.deviation[r, s]),
                "statistic": float(test.statistic[r, s]),
                "pvalue_adjusted": float(test.pvalue[r, s]),
            }
            for s, segment in enumerate(self.tested)
            for r, run in enumerate(self.results[0].runs)
        ]


def check_segments(settings: Settings) -> None:
    """Refuse tests that hold for the pairs of one segment only."""
    if settings.test in SIMULTANEOUS:
        raise InputError(
            f"test {settings.test} is simultaneous for the pairs of one segment: for a family "
            "of all segments use test t or randomization"
        )


def with_segments(
    result: CompareResult, scores: Scores, by: str, settings: Settings
) -> CompareResult:
    """The result with the comparisons in each segment of a column; topics in order."""
    column = np.array(topic_column(scores, by), object)
    found = sorted(set(column))
    names = [found[place] for place in order_by_name(found)]
    alone = scores.select(measures=result.measure)
    parts = {
        name: alone.select(topics=[scores.topics[t] for t in np.flatnonzero(column == name)])
        for name in names
    }
    codes = np.array([names.index(name) for name in column])
    interaction = segment_interaction(
        alone.matrix(), codes, topic_design(scores), **settings.resampling
    )
    segments = Segments(
        by=by,
        names=tuple(names),
        results=tuple(compared_segments(parts, settings)),
        interaction=interaction,
    )
    return replace(result, segments=segments)
