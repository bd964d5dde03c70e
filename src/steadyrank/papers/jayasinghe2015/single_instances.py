"""What do the instances of a system say one by one, on anyone's scores?

Counts and means behind Figures 6 to 8 of Jayasinghe et al. (2015, doi:10.1016/j.ipm.2015.06.005),
as functions with results to plot. `steadyrank.papers.jayasinghe2015.pitfalls` has the paper's own
simulation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steadyrank.errors import InputError
from steadyrank.notebook import Exhibit, shown_by
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs.tests import paired_t

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class Contradictions(Exhibit):
    """Figure 7: instances that differ significantly from a baseline, by direction.

    Examples
    --------
    >>> import numpy as np
    >>> from steadyrank import papers
    >>> baseline = np.array([0.2, 0.3, 0.5, 0.4])
    >>> sampled = baseline[None] + [[0.1, 0.12, 0.1, 0.1]]
    >>> counts = papers.contradictions({"sampled": sampled}, baseline)
    >>> counts.systems, counts.better.tolist()
    (('sampled',), [[1, 1]])
    """

    systems: tuple[str, ...]
    alphas: tuple[float, ...]
    better: np.ndarray
    worse: np.ndarray
    """Numbers of instances, [system, alpha]."""
    n_instances: np.ndarray
    """[system]: with at least two topics in common with the baseline."""

    @property
    def disagreement(self) -> np.ndarray:
        """Chance that two instances lead to different conclusions, [system, alpha]."""
        whole = self.n_instances[:, None]
        none = whole - self.better - self.worse
        pairs = sum(counts * (counts - 1) for counts in (self.better, self.worse, none))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(1.0 - pairs / (whole * (whole - 1)))

    def caption(self) -> str:
        """What is counted."""
        return (
            "Instances that are significantly better or worse than the baseline, by paired t tests"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per system and alpha."""
        import pandas as pd

        return pd.DataFrame(
            {
                "system": np.repeat(np.array(self.systems, object), len(self.alphas)),
                "alpha": np.tile(self.alphas, len(self.systems)),
                "instances": np.repeat(self.n_instances, len(self.alphas)),
                "better": self.better.ravel(),
                "worse": self.worse.ravel(),
                "disagreement": self.disagreement.ravel(),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
@shown_by()
class InstanceSpread(Exhibit):
    """Figures 6 and 8: how instances' means, and each topic's scores, vary between instances.

    Examples
    --------
    >>> import numpy as np
    >>> from steadyrank import papers
    >>> spread = papers.instance_spread({"sampled": np.array([[0.2, 0.4], [0.3, 0.8]])})
    >>> spread.systems, spread.means[0].round(2).tolist()
    (('sampled',), [0.3, 0.55])
    """

    systems: tuple[str, ...]
    means: tuple[np.ndarray, ...]
    """Of each system: the mean over topics of each instance."""
    topics: np.ndarray
    """[system, topic, 5]: least, quartiles and largest score over instances."""

    def caption(self) -> str:
        """What varies."""
        return f"Means of instances over {self.topics.shape[1]} topics"

    def to_frame(self) -> pd.DataFrame:
        """One row per system: how the means of its instances spread."""
        import pandas as pd

        return pd.DataFrame(
            {
                "system": system,
                "instances": len(means),
                "mean": float(means.mean()),
                "sd": float(means.std(ddof=1)) if len(means) > 1 else np.nan,
                "least": float(means.min()),
                "largest": float(means.max()),
            }
            for system, means in zip(self.systems, self.means, strict=True)
        )


def contradictions(
    systems: Mapping[str, np.ndarray],
    baseline: np.ndarray,
    *,
    alphas: Sequence[float] = (0.1, 0.05),
) -> Contradictions:
    """Figure 7: paired t tests of each instance of each system against one baseline, counted.

    Parameters
    ----------
    systems : mapping of str to array
        Scores [instance, topic] by system; NaN where missing.
    baseline : array
        Scores [topic].
    alphas : sequence of float
        Levels of the tests.

    Returns
    -------
    Contradictions
        How many instances are significantly better and worse than the baseline, per system and
        level.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> baseline = np.array([0.2, 0.3, 0.5, 0.4])
    >>> shifts = [[-0.1, -0.1, -0.12, -0.1], [0.1, -0.1, 0.1, -0.1], [0.1, 0.12, 0.1, 0.1]]
    >>> counts = contradictions({"sampled": baseline + np.array(shifts)}, baseline)
    >>> counts.worse.tolist(), counts.better.tolist(), counts.disagreement.tolist()
    ([[1, 1]], [[1, 1]], [[1.0, 1.0]])
    """
    for alpha in alphas:
        check_open_unit("alpha", alpha)
    better, worse = np.zeros((2, len(systems), len(alphas)), np.int64)
    n_instances = np.zeros(len(systems), np.int64)
    for place, scores in enumerate(systems.values()):
        rows = np.vstack([scores, baseline])
        pairs = np.stack([np.arange(len(scores)), np.full(len(scores), len(scores))], axis=1)
        test = paired_t(rows, pairs)
        n_instances[place] = (test.n > 1).sum()
        for k, alpha in enumerate(alphas):
            significant = test.pvalue < alpha
            better[place, k] = (significant & (test.difference > 0.0)).sum()
            worse[place, k] = (significant & (test.difference < 0.0)).sum()
    return Contradictions(
        systems=tuple(systems),
        alphas=tuple(alphas),
        better=better,
        worse=worse,
        n_instances=n_instances,
    )


def instance_spread(systems: Mapping[str, np.ndarray]) -> InstanceSpread:
    """Figures 6 and 8: means of instances, and the range of each topic's scores over instances.

    Parameters
    ----------
    systems : mapping of str to array
        Scores [instance, topic] by system; NaN where missing.

    Returns
    -------
    InstanceSpread
        Per system, the spread of its instances on every topic.

    References
    ----------
    - Jayasinghe, Webber, Sanderson, Dharmasena & Culpepper (2015). Statistical comparisons of non-
      deterministic IR systems using two dimensional variance. IP&M. doi:10.1016/j.ipm.2015.06.005

    Examples
    --------
    >>> instance_spread({"sampled": np.array([[0.2, 0.4], [0.3, 0.8]])}).means[0].round(2).tolist()
    [0.3, 0.55]
    """
    for name, scores in systems.items():
        if np.isnan(scores).all(axis=0).any() or np.isnan(scores).all(axis=1).any():
            raise InputError(f"{name}: an instance or a topic has no score at all; leave it out")
    ranges = [np.nanquantile(y, [0.0, 0.25, 0.5, 0.75, 1.0], axis=0).T for y in systems.values()]
    return InstanceSpread(
        systems=tuple(systems),
        means=tuple(np.nanmean(scores, axis=1) for scores in systems.values()),
        topics=np.array(ranges),
    )
