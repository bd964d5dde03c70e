"""By which measure do more pairs of runs differ significantly? Sakai's discriminative power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steadyrank.compute.random import Rng, seed_from
from steadyrank.measures.arguments import data_first
from steadyrank.measures.scored import scores_of
from steadyrank.notebook import Exhibit, shown_by
from steadyrank.studies.compare.result import CompareResult, Test
from steadyrank.words import counted

if TYPE_CHECKING:
    import pandas as pd
from steadyrank.studies.compare.correcting import CompareSettings
from steadyrank.studies.compare.study import compare_each

DEFAULT_TEST: Test = "randomized-tukey"
"""In Python and on the command line: all pairs at once, without assuming normality."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by("studies.compare.audit_view:POWER.text", listed=True)
class DiscriminativePower(Exhibit):
    """How many pairs of runs a measure separates: Sakai's curve of sorted p-values.

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=3, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, "AP", no_relevant="skip")
    >>> power, = sr.discriminative_power(scores, test="t")
    >>> power.measure, len(power.pvalues)
    ('AP', 3)
    """

    measure: str
    share: float
    """Share of the pairs whose p-value is at most alpha."""
    needed_difference: float
    """The smallest mean difference above which every pair was significant."""
    pvalues: np.ndarray
    """p-values of all pairs, from the largest down."""
    test: Test
    alpha: float
    seed: int = 0

    def caption(self) -> str:
        """How many pairs differ significantly by the measure, by which test."""
        return (
            f"{self.measure}, {self.share:.1%} of {counted(len(self.pvalues), 'pair')} differ "
            f"significantly by the {self.test} test, alpha {self.alpha:g}"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row: the measure, the share of significant pairs and the difference needed."""
        import pandas as pd

        keys = ("measure", "share", "needed_difference")
        return pd.DataFrame([{key: getattr(self, key) for key in keys}])


@data_first
def discriminative_power(
    scores: Any,
    qrels: Any = None,
    measures: Sequence[str] | None = None,
    *,
    test: Test = DEFAULT_TEST,
    alpha: float = 0.05,
    n_samples: int = 10_000,
    jobs: int | None = None,
    rng: Rng = 0,
) -> list[DiscriminativePower]:
    """Compare measures by how many pairs of the same runs on the same topics they separate.

    A measure that separates more is more sensitive, not more right. Uncorrected p-values, or the
    simultaneous ones of a Tukey test.

    Parameters
    ----------
    scores, qrels : Scores, or runs and judgments
        Runs and judgments as `evaluate` takes them.
    measures : sequence of str, optional
        All of the scores, or of runs AP (nDCG@10 where judgments are graded), unless given.
    test : str
        As in `compare`.
    alpha : float
        Level of the tests.
    n_samples : int
        Of the resampling tests.
    jobs, rng : optional
        Threads; a seed, a `Generator` or None.

    Returns
    -------
    list of DiscriminativePower
        One per measure: the share of pairs that differ significantly, and the sorted p-values.

    References
    ----------
    - Sakai (2006). Evaluating evaluation metrics based on the bootstrap. SIGIR.
      doi:10.1145/1148170.1148261

    Examples
    --------
    >>> import steadyrank as sr
    >>> track = sr.simulated_track(n_teams=4, runs_per_team=1, n_topics=20, depth=50, pool_depth=25)
    >>> scores = sr.evaluate(track.runs, track.complete, ["AP", "P@10"], no_relevant="skip")
    >>> [power.measure for power in sr.discriminative_power(scores, test="t")]
    ['AP', 'P@10']
    """
    settings = CompareSettings(
        test=test,
        correction="none",
        alpha=alpha,
        n_samples=n_samples,
        jobs=jobs,
        seed=seed_from(rng),
    )
    chosen = scores_of(scores, qrels, measures, jobs=jobs)
    return [_power(result) for result in compare_each(chosen, settings, by="run")]


def _power(result: CompareResult) -> DiscriminativePower:
    missed = np.abs(result.difference[~result.significant])
    return DiscriminativePower(
        measure=result.measure,
        share=result.significant_share,
        needed_difference=float(missed.max(initial=0.0)),
        pvalues=np.sort(result.pvalue)[::-1],
        test=result.test,
        alpha=result.alpha,
        seed=result.seed,
    )
