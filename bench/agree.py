"""Agreement of measures: steadyrank against scipy, NumPy and statsmodels.

    pip install -e '.[bench]' statsmodels && python -m bench.agree

The size of the published study: 8 measures, 1,326 systems, 149 topics; 7 topic sizes × 10 system
sizes × 100 samples × 28 pairs of measures, 196,000 correlations of each kind. Peers are timed on a
part of the work and scaled up; the table says so. Everything runs in this process on one core
(BLAS too), and ratios are of CPU time.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from bench._timing import report, seconds, taken
from steadyrank.stats.anova.balanced import anova
from steadyrank.stats.pairs.result import all_pairs
from steadyrank.studies.agree.correlations import (
    FACTORS,
    SYSTEM_SIZES,
    TOPIC_SIZES,
    sample_correlations,
)

warnings.simplefilter("ignore")

N_SAMPLES = 100


def make_scores(tied: bool) -> np.ndarray:
    """Return scores [measure, system, topic]; two measures have ties, as precision at 10."""
    rng = np.random.default_rng(0)
    quality = rng.normal(0, 1, (1326, 1)) + rng.normal(0, 1.5, (1326, 149))
    likeness = np.linspace(0.2, 2.0, 8)[:, None, None]
    values = stats.norm.cdf((quality + likeness * rng.normal(0, 1, (8, 1326, 149))) / 3)
    if tied:
        values[:2] = np.round(values[:2], 1)
    return values


def tau_ap_numpy(estimate: np.ndarray, reference: np.ndarray) -> float:
    """Return tau_AP by array operations; the ranking has no ties."""
    ranked = reference[np.argsort(-estimate)]
    above = np.tril(ranked[:, None] < ranked, -1).sum(axis=1)[1:]
    return float(2 * np.mean(above / np.arange(1, len(ranked))) - 1)


def tau_ap_loop(estimate: np.ndarray, reference: np.ndarray) -> float:
    """Return tau_AP by its formula, one rank at a time."""
    ranked = reference[np.argsort(-estimate)]
    total = 0.0
    for i in range(1, len(ranked)):
        total += np.sum(ranked[:i] > ranked[i]) / i
    return 2 * total / (len(ranked) - 1) - 1


def study(values: np.ndarray, n_timed: int) -> None:
    def whole() -> object:
        return sample_correlations(
            values, topic_sizes=TOPIC_SIZES, system_sizes=SYSTEM_SIZES, n_samples=N_SAMPLES, jobs=1
        )

    whole()
    ours = seconds(whole)
    rng = np.random.default_rng(1)
    spent = dict.fromkeys(("scipy", "numpy", "loop"), 0.0)
    pairs = all_pairs(len(values))
    n_each = len(TOPIC_SIZES) * N_SAMPLES * len(pairs)
    for size in SYSTEM_SIZES:
        drawn = [rng.permutation(1326)[:size] for _ in range(n_timed)]
        means = [values[:, each, :40].mean(axis=2).round(12) for each in drawn]
        chosen = [(m[a], m[b]) for m in means for a, b in pairs[rng.permutation(len(pairs))[:4]]]
        scale = n_each / len(chosen)
        spent["scipy"] += scale * seconds(lambda c=chosen: [stats.kendalltau(*ab) for ab in c], 1)
        for name, routine in (("numpy", tau_ap_numpy), ("loop", tau_ap_loop)):
            both = seconds(lambda c=chosen, f=routine: [(f(a, b), f(b, a)) for a, b in c], 1)
            spent[name] += scale * both
    timed = f"from {4 * n_timed} pairs a size"
    report(
        f"tau and both directions of tau_AP, {10 * n_each:,} pairs of rankings",
        ours,
        {
            f"scipy kendalltau, tau alone ({timed})": spent["scipy"],
            f"scipy and tau_AP by NumPy arrays ({timed})": spent["scipy"] + spent["numpy"],
            f"scipy and tau_AP rank by rank ({timed})": spent["scipy"] + spent["loop"],
        },
    )


def table(n_peer: int) -> None:
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(0)
    full = rng.random((28, 7, 10, N_SAMPLES)) + rng.random((28, 1, 1, 1))

    def ours(values: np.ndarray) -> object:
        return anova(values, factors=FACTORS, block="subject")

    ours(full)
    whole = seconds(lambda: [ours(full) for _ in range(50)]) / 50
    tracemalloc.start()
    ours(full)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"ANOVA of {full.size:,} observations: {1e3 * whole:.2f} ms, {peak / 1e6:.1f} MB beyond")
    part = np.ascontiguousarray(full[..., :n_peer])
    small = seconds(lambda: [ours(part) for _ in range(50)]) / 50
    cells = np.indices(part.shape).reshape(4, -1)
    frame = pd.DataFrame(dict(zip("ptsh", cells, strict=True))).assign(y=part.ravel())
    model = "y ~ C(h) + C(p) + C(t) + C(s) + C(p):C(t) + C(p):C(s) + C(t):C(s)"
    theirs, found = taken(lambda: anova_lm(ols(model, frame).fit()))
    expected = anova(part, factors=FACTORS, block="subject").source("measure_pair").ss
    assert np.isclose(found["sum_sq"]["C(p)"], expected)
    what = f"ANOVA of {part.size:,} observations ({n_peer} of the 100 samples)"
    report(what, small, {"statsmodels ols and anova_lm, the same observations": theirs})
    scaled = theirs * full.size / part.size
    print(
        f"    against all {full.size:,}, if its time grew only in proportion:"
        f" {scaled / whole:,.0f} x"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timed", type=int, default=10, help="samples a size for the peers")
    parser.add_argument("--samples", type=int, default=30, help="samples for statsmodels")
    arguments = parser.parse_args()
    with threadpool_limits(1):
        print("scores without ties")
        study(make_scores(tied=False), arguments.timed)
        print("two of eight measures in tenths")
        study(make_scores(tied=True), arguments.timed)
        table(arguments.samples)


if __name__ == "__main__":
    main()
