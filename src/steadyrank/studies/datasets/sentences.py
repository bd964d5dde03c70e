"""What `datasets` found, in sentences: for terminals and pages alike."""

from __future__ import annotations

import math

from steadyrank.studies.datasets.gaps import lacking_words
from steadyrank.studies.datasets.pair import DatasetPair
from steadyrank.studies.datasets.result import DRAWN, DatasetsResult
from steadyrank.words import chance, counted, some

NOTICEABLE = 0.05
"""Correlation of datasets within types from which on a sentence says so."""


def answer(result: DatasetsResult, digits: int = 4) -> list[str]:
    """What is missing, who could be first, how many pairs differ, and the two best."""
    sentences = [gap_words(result), few_words(result), result.first_words(), share_words(result)]
    sentences.append(alike_words(result))
    if result.pair is not None:
        sentences.append(pair_words(result.pair, digits))
    sentences.append(influence_words(result))
    return [sentence for sentence in sentences if sentence]


def gap_words(result: DatasetsResult) -> str:
    """Which runs lack most, and what was done about it; empty where nothing is missing."""
    if not result.gap_rows:
        return ""
    total = len(result.datasets) + len(result.left_out)
    start = lacking_words(result.gap_rows, len(result.runs), total)
    if result.gaps == "zero":
        return f"{start}; a missing score counts as 0."
    if result.gaps == "pairwise":
        return (
            f"{start}; every two runs are compared on the datasets that both have, and ranked by "
            "least-squares means."
        )
    return f"{start}; runs are compared on the {len(result.datasets)} that every run has."


def few_words(result: DatasetsResult) -> str:
    """That nothing could be shown at all, where that is so."""
    if result.can_be_significant:
        return ""
    what = "types of datasets" if result.drawn == "types" else "datasets"
    return (
        f"With {result.n_units} {what} there are {counted(result.n_patterns, 'sign pattern')}, too "
        f"few for any difference to be significant at alpha {result.alpha:g}."
    )


def share_words(result: DatasetsResult) -> str:
    """How many pairs, and how many neighbours, differ significantly."""
    neighbours = len(result.runs) - 1
    alike = result.adjacent_not_told_apart
    return (
        f"About {DRAWN[result.drawn]}: {result.told_apart_share:.0%} of "
        f"{counted(len(result.pairs), 'pair', form=',')} of runs differ significantly; of "
        f"{counted(neighbours, 'pair', form=',')} of neighbours in the ranking, {alike:,} "
        f"{'does' if alike == 1 else 'do'} not."
    )


def alike_words(result: DatasetsResult) -> str:
    """That datasets of a type resemble each other, where decisions take them for independent."""
    if result.drawn not in ("datasets", "both") or not result.type_correlation > NOTICEABLE:
        return ""
    return (
        "Datasets of one type resemble each other (intraclass correlation "
        f"{result.type_correlation:.2f}): if other types could have been chosen as well, these "
        "decisions are overconfident; those that resample whole types are not."
    )


def pair_words(pair: DatasetPair, digits: int = 4) -> str:
    """By how much two runs differ, and on the next dataset."""
    wins, ties, losses = pair.wins
    (low, high), (least, most) = pair.interval, pair.prediction_interval
    form = f"+.{digits}f"
    tied = f", ties on {ties}" if ties else ""
    return (
        f"{pair.a} − {pair.b}: {pair.difference:{form}} [{low:{form}}, {high:{form}}] on average "
        f"over datasets, and [{least:{form}}, {most:{form}}] on the next dataset "
        f"({1 - pair.alpha:.0%} intervals, for this pair alone); {pair.a} is better on {wins}, "
        f"worse on {losses} of {counted(len(pair.datasets), 'dataset')}{tied}. {_verdict(pair)}"
    )


def _verdict(pair: DatasetPair) -> str:
    posterior = pair.posterior
    likely = (
        f"By Bayesian signed ranks {pair.a} is practically better with probability "
        f"{chance(posterior.first)}, {pair.b} with {chance(posterior.second)}, and the two are "
        f"practically equal, within ±{posterior.rope:g}, with {chance(posterior.equivalent)}."
    )
    if pair.significant:
        return f"Among all pairs they differ significantly. {likely}"
    return f"Among all pairs they do not differ significantly; {needed_words(pair)}. {likely}"


def needed_words(pair: DatasetPair) -> str:
    """How many datasets would settle it."""
    low, high = pair.datasets_needed_interval
    if math.isnan(low) or math.isinf(low):
        return "no number of datasets would settle it"
    if math.isinf(high):
        return (
            f"it requires at least {low:,.0f} datasets like these, and perhaps no number suffices"
        )
    about = f"it requires about {pair.datasets_needed:,.0f} datasets like these"
    return f"{about} ({low:,.0f} to {high:,.0f})"


def influence_words(result: DatasetsResult) -> str:
    """Which dataset carries the ranking most, and whose removal changes the leader."""
    if not result.influence or math.isnan(result.influence[0].tau):
        return ""
    first = result.influence[0]
    leader = result.runs[result.order[0]]
    others = [row.dataset for row in result.influence if row.leader != leader]
    changed = (
        f"another run than {leader} leads without any one of {some(others)}"
        if others
        else f"{leader} still leads without any one of them"
    )
    return (
        f"The dataset that carries the ranking most is {first.dataset} (tau without it "
        f"{first.tau:.3f}); {changed}."
    )
