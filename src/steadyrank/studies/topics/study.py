"""`topics`: would other topics change the table? Error rates against the size of the topic set.

For whoever reports that one run beats another. Theory: the chance that two experiments contradict
each other (Lin & Hauptmann, SIGIR 2005) and, for an observed difference, that a second one reverses
it. Experiment: the rate at which disjoint sets of these topics do so, by the size of the difference
(Voorhees & Buckley, SIGIR 2002, doi:10.1145/564376.564432), and where its curve leads.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from steadyrank._version import __version__
from steadyrank.compute.executors import Progress
from steadyrank.compute.random import Rng, seed_from
from steadyrank.data.order import scores_in_order
from steadyrank.data.scores import Scores, measure_of, position
from steadyrank.errors import InputError, check_choice, warn
from steadyrank.measures.names import counts_documents
from steadyrank.measures.scored import scores_of
from steadyrank.notebook import Exhibit, frame_of, shown_by
from steadyrank.present.json import picked
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.stats.planning.demands import check_comparisons, check_number
from steadyrank.stats.planning.design import check_rates
from steadyrank.stats.planning.needed_topics import NeededTopics, needed_topics
from steadyrank.stats.planning.reversal import (
    PairVariances,
    approximate_error_rate,
    error_rate,
    pair_variances,
    predictive_rate,
)
from steadyrank.stats.run_means import adjusted_means
from steadyrank.stats.selection import expected_means, kept_order
from steadyrank.studies.topics.levels import Binning, TopicLevel, count_splits, topic_levels
from steadyrank.studies.topics.sentences import CONFIDENCE, pair_words
from steadyrank.words import by_number, counted, level_words

if TYPE_CHECKING:
    import pandas as pd


MOST_SIZES = 100
"""Of topic sets, unless sizes are given."""

_MOMENTS = "difference variance_a variance_b covariance variance"
_RATES = (
    "error_rate error_rate_independent approximation predictive predictive_limit expected_reversal"
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.topics.tables:topics_text")
class TopicsResult(Exhibit):
    """What `topics` found: arrays with one entry a pair, and levels of the difference."""

    measure: str
    runs: tuple[str, ...]
    mean: np.ndarray
    n_topics: int
    n_complete: int
    """Topics that every run has: the splits use no others."""
    n_trials: int
    target: float
    """A rate of reversals that is still called rare."""
    alpha: float
    beta: float
    comparisons: int
    """Over which `alpha` is kept: numbers of topics are for tests at `level`."""
    binning: Binning
    baseline: str | None
    seed: int
    pairs: np.ndarray
    """[pair, 2]: positions of the two runs."""
    variances: PairVariances
    error_rate: np.ndarray
    error_rate_independent: np.ndarray
    approximation: np.ndarray
    predictive: np.ndarray
    predictive_limit: np.ndarray
    """The predictive rate of a second experiment with endless topics: none has a smaller one."""
    expected_reversal: np.ndarray
    """The chance of a reversal, allowing for how the two were picked: by empirical Bayes over
    all runs (`steadyrank.stats.selection`); the predictive rate where there are two runs."""
    needed: NeededTopics
    """For a paired t test at `level` with power 1 - beta, with 95 % intervals."""
    sizes: tuple[int, ...]
    further_sizes: tuple[int, ...]
    """To which the fits are extrapolated."""
    levels: tuple[TopicLevel, ...]

    @property
    def n_dropped(self) -> int:
        """Topics that the splits leave out because some run lacks them."""
        return self.n_topics - self.n_complete

    @property
    def comparison_alpha(self) -> float:
        """Of a single comparison: alpha over the number of comparisons, Bonferroni's bound."""
        return self.alpha / self.comparisons

    @property
    def order(self) -> list[int]:
        """Positions of the runs, best mean first."""
        best_first = np.argsort(-np.nan_to_num(self.mean, nan=-np.inf), kind="stable")
        return [int(run) for run in best_first]

    @property
    def leaders(self) -> tuple[str, str]:
        """The best run and the second, or the baseline where that is neither."""
        first, second = (self.runs[run] for run in self.order[:2])
        return first, second if self.baseline in (None, first, second) else str(self.baseline)

    def sentence(self, a: str | None = None, b: str | None = None) -> str:
        """What a second experiment may do to two runs, in words; to the leaders unless named."""
        names = (a or self.leaders[0], b or self.leaders[1])
        one, other = (position(name, self.runs, "run") for name in names)
        pair = self.pair(one, other)
        (row,) = self.rows([pair])
        return pair_words(row, self.measure, self.test_words(), picked=a is None and b is None)

    def test_words(self) -> str:
        """The test that numbers of topics are for."""
        level = level_words(self.alpha, self.comparisons)
        return f"a paired t test with power {1.0 - self.beta:g} at {level}"

    def pair(self, one: int, other: int) -> int:
        """Which of the pairs two runs, by their positions, are, in either order."""
        first, second = min(one, other), max(one, other)
        if first != second and self.baseline is None:
            return first * (2 * len(self.runs) - first - 1) // 2 + second - first - 1
        places = np.flatnonzero((np.sort(self.pairs, axis=1) == (first, second)).all(axis=1))
        if not len(places):
            names = f"{self.runs[one]!r} and {self.runs[other]!r}"
            raise InputError(f"{names} are not a pair of this result")
        return int(places[0])

    def caption(self) -> str:
        """What a table of this result must say."""
        dropped = f" ({self.n_dropped} left out of the splits)" if self.n_dropped else ""
        return (
            f"{self.measure}, {counted(self.n_topics, 'topic')}{dropped}, "
            f"{counted(self.n_trials, 'split')}, seed "
            f"{self.seed}; steadyrank {__version__}."
        )

    def __repr__(self) -> str:
        return f"<TopicsResult: {counted(len(self.pairs), 'pair')}. {self.caption()}>"

    def rows(self, which: Sequence[int] | slice = slice(None)) -> list[dict[str, Any]]:
        """One dictionary a pair, with the keys that the JSON output has."""
        first, second = self.pairs[which].T
        # Without an upper end the number at the observed difference estimates nothing.
        known = np.where(np.isfinite(self.needed.high), self.needed.topics, np.nan)
        needed, low, high = (
            [int(size) if math.isfinite(size) else None for size in sizes[which].tolist()]
            for sizes in (known, self.needed.low, self.needed.high)
        )
        columns = {
            "a": [self.runs[run] for run in first],
            "b": [self.runs[run] for run in second],
            "n": self.variances.n[which].tolist(),
            "mean_a": self.mean[first].tolist(),
            "mean_b": self.mean[second].tolist(),
            **{key: x[which].tolist() for key, x in picked(self.variances, _MOMENTS).items()},
            **{key: rate[which].tolist() for key, rate in picked(self, _RATES).items()},
            "topics_needed": needed,
            "topics_needed_interval": list(zip(low, high, strict=True)),
            "flag": self.variances.flag[which].tolist(),
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def curves(self) -> list[dict[str, Any]]:
        """One dictionary for each level and size: the curves that the plot shows."""
        return [
            {
                **picked(level, "low high pairs"),
                "size": size,
                **{key: curve[s].item() for key, curve in level.curves.items()},
                "fitted": level.fit.b1 * math.exp(-level.fit.b2 * size) if level.fit else math.nan,
            }
            for level in self.levels
            for s, size in enumerate(self.sizes)
        ]

    def to_frame(self, kind: Literal["pairs", "levels"] = "pairs") -> pd.DataFrame:
        """One row a pair, or one row for each level and size."""
        check_choice("kind of frame", kind, ("pairs", "levels"))
        return frame_of(self.curves() if kind == "levels" else self.rows())


def topics(
    scores: Any,
    qrels: Any = None,
    *,
    measure: str | None = None,
    sizes: Sequence[int] | None = None,
    n_trials: int = 1000,
    target: float = 0.05,
    alpha: float = 0.05,
    beta: float = 0.2,
    comparisons: int | None = None,
    baseline: str | None = None,
    binning: Binning = "first",
    jobs: int | None = None,
    progress: Progress | None = None,
    rng: Rng = 0,
) -> TopicsResult:
    """Say how often other topics would put two runs the other way round.

    For every pair of runs: the error rate of its difference, with the variance of paired scores and
    with that of independent ones, its closed approximation, and the predictive rate, which is what
    may be said of an observed difference: with as many topics, and with any number (it does not
    go to 0, since the first experiment stays what it was). And the topics with which a paired t
    test shows the difference, with a 95 % interval (`steadyrank.stats.planning.needed_topics`).

    For levels of the difference, .01 wide: the variance, the same rates at each of `sizes`, and the
    empirical rate over random splits. One split serves all sizes: the first n topics of a random
    order against the last n, for n up to half the topics that every run has (larger sizes get
    theory only).

    Parameters
    ----------
    scores : Scores, or runs
        Scores, or runs as `evaluate` takes them, with `qrels`.
    qrels : object, optional
        Judgments, where runs are given.
    measure : str, optional
        Needed where the scores have several; AP of runs unless given.
    sizes : sequence of int, optional
        Of topic sets; 5, 10, … unless given.
    n_trials : int
        Random splits.
    target : float
        Pairs with a predictive rate above it are counted.
    alpha, beta : float
        The t test has power 1 - beta at the level that suffices for all comparisons together, alpha
        over `comparisons`.
    comparisons : int, optional
        The number of pairs unless given.
    baseline : str, optional
        Pair every run with this one only.
    binning : str
        A pair counts in the level of its difference in the "first" set; with "both" a second time
        with the sets exchanged.
    jobs : int, optional
        Threads.
    progress : callable, optional
        Is given (finished, total) blocks of splits.
    rng : int, Generator or None
        Seed; the same numbers for any `jobs`.

    Returns
    -------
    TopicsResult
        Per pair the rates and the topics needed (`rows()`, `to_frame()`), per level of the
        difference its curves (`levels`); `sentence(a, b)` says it in words.

    Notes
    -----
    Missing scores are left out pair by pair. Says nothing about other documents, judgments or
    random instances of the runs.

    With an observed difference d on n topics and the variance v of per-topic differences, the
    predictive rate is Phi(-|d| / sqrt(2 v / n)), and Phi(-|d| / sqrt(v / n)) however many topics
    the second experiment has.

    References
    ----------
    - Lin & Hauptmann (2005). Revisiting the effect of topic set size on retrieval error. SIGIR.
    - Voorhees & Buckley (2002). The effect of topic set size on retrieval experiment error. SIGIR.
      doi:10.1145/564376.564432

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=2, n_topics=40, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP")
    >>> result = sr.topics(scores, n_trials=200)
    >>> len(result.pairs), result.sizes
    (15, (4, 8, 12, 16, 20))
    """
    seed = seed_from(rng)
    scores = scores_of(scores, qrels, measure, jobs=jobs)
    name = _check(scores, measure, n_trials, baseline, binning)
    check_rates(check_number("alpha", alpha), check_number("beta", beta))
    if not 0.0 < check_number("target", target) < 0.5:
        raise InputError(f"target lies strictly between 0 and 0.5 (a coin's rate), got {target}")
    scores = scores_in_order(scores)
    matrix = scores.matrix(name)
    everyone = pair_variances(matrix, all_pairs(len(matrix)))
    complete = matrix[:, ~np.isnan(matrix).any(axis=0)]
    _warn_of_dropped(matrix.shape[1], complete.shape[1])
    _warn_of_counts(name)
    n = complete.shape[1] if complete.shape[1] > 1 else matrix.shape[1]
    chosen = default_sizes(n) if sizes is None else _check_sizes(sizes)
    further = tuple(sorted({n, 2 * n} | {size for size in chosen if 2 * size > n}))
    splits = count_splits(
        complete,
        chosen,
        n_trials=n_trials,
        binning=binning,
        jobs=jobs,
        progress=progress,
        seed=seed,
    )
    pairs, moments = all_pairs(len(matrix)), everyone
    if baseline is not None:
        base = position(baseline, scores.runs, "run")
        pairs = np.array([(run, base) for run in range(len(matrix)) if run != base])
        moments = pair_variances(matrix, pairs)
    difference, variance = moments.difference, moments.variance
    independent = moments.variance_a + moments.variance_b
    size = np.where(moments.n > 0, moments.n, np.nan)
    n_comparisons = len(pairs) if comparisons is None else check_comparisons(comparisons)
    return TopicsResult(
        measure=name,
        runs=scores.runs,
        mean=adjusted_means(matrix),
        n_topics=matrix.shape[1],
        n_complete=complete.shape[1],
        n_trials=n_trials,
        target=target,
        alpha=alpha,
        beta=beta,
        comparisons=n_comparisons,
        binning=binning,
        baseline=baseline,
        seed=seed,
        pairs=pairs,
        variances=moments,
        error_rate=error_rate(difference, variance, size),
        error_rate_independent=error_rate(difference, independent, size),
        approximation=approximate_error_rate(difference, variance, size),
        predictive=predictive_rate(difference, variance, size),
        predictive_limit=predictive_rate(difference, variance, size, math.inf),
        expected_reversal=_expected_reversal(matrix, pairs, difference),
        needed=needed_topics(
            difference,
            variance,
            size,
            alpha=alpha / n_comparisons,
            beta=beta,
            confidence=CONFIDENCE,
        ),
        sizes=chosen,
        further_sizes=further,
        levels=topic_levels(everyone, splits, chosen, further),
    )


def _expected_reversal(matrix: np.ndarray, pairs: np.ndarray, difference: np.ndarray) -> np.ndarray:
    """Chance that as many new topics put the two runs of a pair the other way round."""
    above = kept_order(matrix, pairs, expected_means(matrix))
    reversed_in = np.where(difference > 0.0, 1.0 - above, above)
    reversed_in[difference == 0.0] = 0.5
    reversed_in[np.isnan(difference)] = np.nan
    return reversed_in


def default_sizes(n_topics: int) -> tuple[int, ...]:
    """5, 10, … up to half the topics; of fewer than 50, in steps that still make five sizes.

    Of more than 1,000 topics, in larger steps of 5, 10, … that make a hundred sizes at most.

    >>> default_sizes(50), default_sizes(20), default_sizes(6)
    ((5, 10, 15, 20, 25), (2, 4, 6, 8, 10), (1, 2, 3))
    >>> default_sizes(100_000)[:3], len(default_sizes(100_000))
    ((500, 1000, 1500), 100)
    """
    half = n_topics // 2
    step = max(1, min(5, half // 5)) * max(1, math.ceil(half / 5 / MOST_SIZES))
    return tuple(range(step, half + 1, step))


def _check(scores: Scores, measure: Any, n_trials: Any, baseline: str | None, binning: Any) -> str:
    """Validate what comes without numbers; return the measure's name."""
    if not isinstance(n_trials, (int, np.integer)) or n_trials < 1:
        raise InputError(f"trials must be a whole number of at least 1, got {n_trials!r}")
    check_choice("binning", binning, get_args(Binning))
    if len(scores.runs) < 2:
        raise InputError("topics compares runs: give at least two")
    if len(scores.topics) < 2:
        raise InputError("one topic has no spread to learn from: give scores on at least two")
    if baseline is not None:
        position(baseline, scores.runs, "run")
    return measure_of(scores, measure)


def _check_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    try:
        whole = [operator.index(size) for size in sizes]
    except TypeError:
        raise InputError(f"sizes must be whole numbers of topics, got {sizes!r}") from None
    if not whole or min(whole) < 1:
        raise InputError(f"sizes must be numbers of topics of at least 1, got {sizes!r}")
    return tuple(sorted(set(whole)))


def _warn_of_dropped(n_topics: int, n_complete: int) -> None:
    if n_complete < 2:
        have = by_number(n_complete, "has", "have")
        whole = f"{n_complete} of {n_topics} topics"
        message = f"{whole} {have} scores of every run: there are no splits"
    elif n_complete < n_topics:
        dropped = n_topics - n_complete
        lack, them = by_number(dropped, "lacks", "lack"), by_number(dropped, "it", "them")
        message = (
            f"{dropped} of {n_topics} topics {lack} scores of some run: the splits leave {them} out"
        )
    else:
        return
    warn(message)


def _warn_of_counts(measure: str) -> None:
    if counts_documents(measure):
        warn(
            f"{measure} counts documents: the levels of the difference are bins of 0.01 up to "
            "0.20, made for scores up to 1"
        )
