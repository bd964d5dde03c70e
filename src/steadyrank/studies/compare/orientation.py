"""Measures where lower is better: tested with the other sign, shown with the file's."""

from __future__ import annotations

from dataclasses import replace

from steadyrank.studies.compare.result import CompareResult

SIGNED_STATISTICS = ("t", "welch", "randomization", "bootstrap", "mixed")
"""Tests whose statistic has the sign of the difference; other tests count or rank."""


def with_sign_of_file(result: CompareResult) -> CompareResult:
    """Return a result of scores with the other sign as one of the scores themselves.

    Decisions, ranks, letters, wins and losses stay: they say which run is better.
    """
    effects, segments = result.effects, result.segments
    if segments is not None:
        test = segments.interaction
        segments = replace(
            segments,
            results=tuple(map(with_sign_of_file, segments.results)),
            interaction=replace(test, deviation=-test.deviation, statistic=-test.statistic),
        )
    lead = result.lead
    if lead is not None:
        lead = lead._replace(difference=-lead.difference, interval=-lead.interval[::-1])
    is_signed = result.test in SIGNED_STATISTICS
    return replace(
        result,
        lower_is_better=True,
        pair_means=-result.pair_means,
        difference=-result.difference,
        interval=-result.interval[:, ::-1],
        statistic=-result.statistic if is_signed else result.statistic,
        effects=replace(
            effects,
            difference=-effects.difference,
            paired_d=-effects.paired_d,
            hedges_g=-effects.hedges_g,
            residual_d=-effects.residual_d,
            cliffs_delta=-effects.cliffs_delta,
        ),
        mean=-result.mean,
        mean_interval=-result.mean_interval[:, ::-1],
        expected_mean=-result.expected_mean,
        scores=-result.scores,
        lead=lead,
        segments=segments,
    )
