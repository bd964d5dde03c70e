"""The effect of unjudged documents on the verdict of a gate.

A verdict is certain if it is the same within the bounds of `measures.holes`, in which a document
has one grade for both rankings. For different systems and deep rankings it rarely is. Grades are
then drawn from a logistic law in the logarithm of a document's best rank, fitted on the judged
documents of both rankings. Unjudged documents are relevant less often than judged ones, to an
unknown extent: the probabilities are multiplied by several ratios. A verdict that is the same for
all ratios holds; otherwise it is "holes".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from steadyrank.compute.random import block_stream
from steadyrank.data.qrels import Qrels
from steadyrank.data.run import Run
from steadyrank.data.scores import Scores
from steadyrank.errors import InputError
from steadyrank.measures.holes.bounds import Ask, difference_bounds, documents_to_judge
from steadyrank.measures.holes.lists import (
    HoledMeasure,
    Lists,
    by_document,
    find_lists,
    make_rankings,
    parse_holed,
)
from steadyrank.measures.names import parse_measures
from steadyrank.measures.scoring import prepare
from steadyrank.stats.logistic import rank_law
from steadyrank.stats.pairs.topic_design import MeanDifference
from steadyrank.studies.gate.fits import Fit, Part, verdicts_of
from steadyrank.studies.gate.result import Outlook, Verdict

RATIOS = (0.0, 0.1, 0.3, 1.0)
"""Factors of the probabilities of judged documents at the same rank."""

N_COMPLETIONS = 10
"""Number of completions for each ratio."""

N_BETWEEN = 64
"""Most steps from the lowest to the highest completion; fewer topics are steps of one topic."""

N_ASKED = 10


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasureHoles:
    """The unjudged documents of a measure, and the bounds of its differences."""

    lists: Lists
    measure: HoledMeasure | None
    """None if no bounds are known."""
    low: np.ndarray | None = None
    """[topic]: lowest candidate - baseline over all completions."""
    high: np.ndarray | None = None
    """[topic]: highest candidate - baseline over all completions."""
    is_exact: bool = True
    reach: np.ndarray | None = None
    """[document, grade from 1 on]: probability by the law at ratio 1; None without a law."""

    @property
    def n_unjudged(self) -> int:
        """Number of unjudged documents that one of the rankings has above the cutoff."""
        return self.lists.n_open

    @property
    def share(self) -> float:
        """Share of the baseline's documents above the cutoff that are unjudged."""
        return float(self.lists.unjudged_share[0])

    def relevant_share(self, ratio: float) -> float:
        """Return the expected share of relevant documents among the unjudged ones."""
        assert self.reach is not None
        assert self.measure is not None
        level = min(max(self.measure.level, 1), self.measure.top_grade)
        return ratio * float(self.reach[:, level - 1].mean()) if len(self.reach) else 0.0

    def completed(self, ratio: float, seed: int) -> Iterator[np.ndarray]:
        """Yield the differences [topic] of drawn completions."""
        assert self.reach is not None
        assert self.measure is not None
        recipe = self.measure.recipe
        rankings = make_rankings(self.lists, self.measure.top_grade)
        rankings = rankings if recipe.needs_all else rankings.countable()
        for number in range(N_COMPLETIONS):
            # All ratios use the same uniform numbers: a larger ratio adds relevant documents.
            uniform = block_stream(seed, "gate holes", number).random(len(self.reach))
            grades = (uniform[:, None] < ratio * self.reach).sum(axis=1).astype(np.int32)
            first, second = rankings.scores(recipe, grades)
            yield second - first

    def to_judge(self) -> tuple[Ask, ...]:
        """Return the documents whose grades can change the difference most."""
        if self.measure is None:
            return ()
        pair = np.array([[False, True], [True, False]])
        reach = np.full((self.lists.n_open, self.measure.top_grade), 0.5)
        if self.reach is not None:
            reach = np.mean(RATIOS) * self.reach
        return documents_to_judge(self.lists, self.measure, pair, reach, N_ASKED)


class Look(NamedTuple):
    """The verdict on one row, and its dependence on unjudged documents."""

    verdict: Verdict
    how: Literal["bounded", "prior", "not-relevant"] = "not-relevant"
    is_certain: bool = False
    sweep: tuple[Outlook, ...] = ()


def find_holes(runs: tuple[Run, Run], qrels: Qrels, scores: Scores) -> dict[str, MeasureHoles]:
    """Return the unjudged documents by measure; in `scores` they count as not relevant."""
    judged, lists, found = by_document(qrels), dict[int, Lists](), {}
    for name in scores.measures:
        (parsed,) = parse_measures(name)
        measure = None
        if parsed.name != "Judged":  # Judged@k does not depend on grades
            with contextlib.suppress(InputError):
                measure = parse_holed(parsed, judged.max_grade)
        depth = int(prepare(parsed, judged.max_grade).cutoff)
        if depth not in lists:
            lists[depth] = find_lists(runs, judged, depth=depth)
        found[name] = _bounded(lists[depth], measure, np.subtract(*scores.matrix(name)[::-1]))
    return found


def _bounded(lists: Lists, measure: HoledMeasure | None, differences: np.ndarray) -> MeasureHoles:
    if measure is None:
        known = differences if lists.n_open == 0 else None
        return MeasureHoles(lists=lists, measure=None, low=known, high=known)
    low, high, is_exact = difference_bounds(make_rankings(lists, measure.top_grade), measure)
    # The observed differences are a completion, also with rounding errors.
    return MeasureHoles(
        lists=lists,
        measure=measure,
        low=np.minimum(low, differences),
        high=np.maximum(high, differences),
        is_exact=is_exact,
        reach=rank_law(lists, measure.top_grade),
    )


def look_at(
    parts: Sequence[Part],
    fits: Sequence[Fit],
    holes: Mapping[str, MeasureHoles],
    *,
    alpha: float,
    seed: int,
) -> list[Look]:
    """Return the verdicts, and what unjudged documents could change about them."""
    own = verdicts_of(parts, fits, alpha)
    looks: list[Look] = []
    for part, verdict, is_certain in zip(
        parts, own, _certain(parts, fits, own, alpha), strict=True
    ):
        has_law = part.lowest is not None and holes[part.measure].reach is not None
        how: Any = "bounded" if is_certain else "prior" if has_law else "not-relevant"
        looks.append(Look(verdict, how, is_certain))
    return _swept(parts, fits, holes, looks, alpha, seed)


def _certain(
    parts: Sequence[Part], fits: Sequence[Fit], own: Sequence[Verdict], alpha: float
) -> list[bool]:
    """Return for each part whether its verdict is the same for all completions."""
    certain = [part.lowest is not None for part in parts]
    moving = [i for i, part in enumerate(parts) if part.moves]
    n_steps = min(N_BETWEEN, max(len(part.topics) for part in parts))
    for share in (0.0, 1.0, *np.linspace(0.0, 1.0, n_steps + 1)[1:-1]):
        if not any(certain[i] for i in moving):
            break
        there = list(fits)
        for i in moving:
            there[i] = parts[i].fit(parts[i].at(share))
        turned = zip(certain, own, verdicts_of(parts, there, alpha), strict=True)
        certain = [is_certain and verdict == other for is_certain, verdict, other in turned]
    return certain


def _swept(
    parts: Sequence[Part],
    fits: Sequence[Fit],
    holes: Mapping[str, MeasureHoles],
    looks: list[Look],
    alpha: float,
    seed: int,
) -> list[Look]:
    """Add the verdicts by the law at all ratios; a verdict is "holes" if these differ."""
    asked = [i for i, look in enumerate(looks) if look.how == "prior"]
    outlooks: list[list[Outlook]] = [[] for _ in parts]
    for ratio in RATIOS if asked else ():
        there, drawn = list(fits), dict[str, np.ndarray]()
        for i in asked if ratio else ():
            name = parts[i].measure
            if name not in drawn:
                drawn[name] = np.array(list(holes[name].completed(ratio, seed)))
            there[i] = _pooled(parts[i], drawn[name][:, parts[i].places])
        verdicts = verdicts_of(parts, there, alpha)
        for i in asked:
            share = holes[parts[i].measure].relevant_share(ratio)
            outlooks[i].append(Outlook(ratio, share, there[i].observed.mean, verdicts[i]))
    return [
        look._replace(
            verdict="holes" if len({one.verdict for one in outlook}) > 1 else look.verdict,
            sweep=tuple(outlook),
        )
        for look, outlook in zip(looks, outlooks, strict=True)
    ]


def _pooled(part: Part, completions: np.ndarray) -> Fit:
    """Return the pooled fit of several completions [completion, topic]."""
    differences = np.where(np.isnan(part.scores).any(axis=0), np.nan, completions)
    if part.order is not None:  # limits at every look require a single sequence
        return part.fit(differences.mean(axis=0))
    fits = [part.fit(row) for row in differences]
    return replace(
        fits[0],
        observed=_by_rubin([fit.observed for fit in fits]),
        guarded=_by_rubin([fit.guarded for fit in fits]),
    )


def _by_rubin(fits: Sequence[MeanDifference]) -> MeanDifference:
    """Pool by Rubin's rules: variance within completions plus (1 + 1 / B) times that between."""
    varied = [fit for fit in fits if not fit.flag] or fits[:1]
    means = np.array([fit.mean for fit in fits])
    between = (1.0 + 1.0 / len(fits)) * float(means.var(ddof=1))
    return replace(
        varied[0],
        mean=float(means.mean()),
        variance=float(np.mean([fit.variance for fit in fits])) + between,
        skewness=float(np.mean([fit.skewness for fit in varied])),
    )
