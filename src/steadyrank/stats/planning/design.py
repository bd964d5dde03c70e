"""How many topics does a given power or interval require, and what does a number of topics detect?

For building a test collection (Sakai & Shang, EVIA 2016): m systems are compared by their range,
the difference between the best and the worst, by one-way ANOVA; two systems by t tests or
intervals. Exact by the noncentral F distribution, or by the published approximations of Nagata.

Also the power of a paired t test, and the smallest difference that it detects, to report if no
difference is significant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from steadyrank.errors import InputError, arg, bad_value
from steadyrank.stats.inputs import check_open_unit
from steadyrank.stats.pairs.corrected_t import adverse, corrected_reach

MOST_TOPICS = 10**15
"""Largest number of topics: floating point does not represent all whole numbers beyond 2^53."""

SMALLEST_BETA = 1e-9
"""Smallest beta: powers closer to 1 are not computed to enough digits."""

HALVINGS = 64
"""Steps of a bisection to the last digits of a float."""

ENDLESS = 1e12
"""Degrees of freedom from which those of the error count as infinite."""

LARGE_NONCENTRALITY = 1e9
"""Noncentrality from which the relative variation of the numerator of F, below 1e-4, is ignored."""

NAGATA = {
    (0.01, 0.10): (10.439, 5.213),
    (0.01, 0.20): (7.736, 4.551),
    (0.05, 0.10): (7.049, 4.244),
    (0.05, 0.20): (4.860, 3.584),
}
"""(alpha, beta) to the c0 and c1 of the noncentrality c0 + c1 sqrt(m - 1)."""


def whole_size(size: ArrayLike, least: float = 1.0) -> np.ndarray:
    """Return sizes rounded up, at least `least`, ignoring rounding errors above a whole number.

    >>> whole_size([0.2, 4.0000000000000009, 4.1]).tolist()
    [1.0, 4.0, 5.0]
    """
    return np.asarray(np.maximum(least, np.ceil(np.asarray(size) * (1.0 - 1e-12))))


def fewest(is_enough: Callable[[int], bool], *, guess: float, least: int, most: int) -> int | None:
    """Return the smallest number from `least` to `most` that is enough, if every larger one is.

    By exponential search from a guess, then bisection; None if not even `most` is enough.

    >>> fewest(lambda n: n * n > 50, guess=100, least=2, most=1000)
    8
    """
    high = int(min(max(guess, least), most))
    step = max(1, high // 64)
    low = high
    while not is_enough(high):
        if high >= most:
            return None
        low, high, step = high, min(high + step, most), 2 * step
    while low >= high:
        low = max(high - step, least - 1)
        if low >= least and is_enough(low):
            low, high, step = low, low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def f_power(noncentrality: ArrayLike, df1: Any, df2: Any, alpha: Any = 0.05) -> np.ndarray:
    """Return the probability that an F test at level alpha rejects, given the noncentrality."""
    shift, df2 = np.asarray(noncentrality, np.float64), np.minimum(df2, ENDLESS)
    # Computed from the lower tail, where small alphas keep their digits.
    critical = 1.0 / special.fdtri(df2, df1, alpha)
    far = special.gammainc(0.5 * df2, 0.5 * df2 * (shift + df1) / (df1 * critical))
    near = 1.0 - special.ncfdtr(df1, df2, np.minimum(shift, LARGE_NONCENTRALITY), critical)
    power = np.where(shift > LARGE_NONCENTRALITY, far, near)
    return np.asarray(np.where(shift == 0.0, alpha, power))


def noncentrality_for_power(power: float, df1: Any, df2: Any, alpha: Any = 0.05) -> np.ndarray:
    """Return the smallest noncentrality at which F tests have this power, which is above alpha.

    With infinite df2 the test is chi-square.
    """

    def is_short(root: np.ndarray) -> np.ndarray:
        return np.asarray(f_power(np.square(root), df1, df2, alpha) < power)

    high = np.full(np.broadcast_shapes(*map(np.shape, (df1, df2, alpha))), 8.0)
    while (short := is_short(high)).any():
        high = np.where(short, 2.0 * high, high)
    low = np.zeros_like(high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        short = is_short(middle)
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.asarray(np.square(high))


FEWEST_CORRECTED = 5
"""Fewest topics for which the corrected test can be significant."""


def corrected_level(alpha: float, n: ArrayLike) -> np.ndarray:
    """Return the level of Student's test of n topics that is equivalent to the corrected test.

    A limit of the corrected t test, used by `compare`, is c + G (2 c² + 1) / 6 standard errors away
    instead of Student's quantile c (`stats.pairs.corrected_t`), with the G of differences without
    skewness. 0 below five topics.

    >>> corrected_level(0.05, [4, 50, np.inf]).round(4).tolist()
    [0.0, 0.0366, 0.05]
    """
    size = np.minimum(np.asarray(n, np.float64), ENDLESS)
    df = np.maximum(size, FEWEST_CORRECTED) - 1.0
    c = -special.stdtrit(df, 0.5 * alpha)
    reach = corrected_reach(c, adverse(np.zeros_like(size), size))
    level = np.where(size < ENDLESS, 2.0 * special.stdtr(df, -reach), alpha)
    return np.where(size < FEWEST_CORRECTED, 0.0, level)


def t_power(difference: ArrayLike, sd: ArrayLike, n: ArrayLike, alpha: float = 0.05) -> np.ndarray:
    """Return the power of a two-sided paired t test of n topics, given the true mean difference.

    `sd` is that of the differences by topic; n may be real. Its square is an F test with the
    noncentrality n (difference / sd)². NaN for n < 2 or a missing argument; if sd is 0 it is 1, or
    0 for a difference of 0.
    """
    check_open_unit("alpha", alpha)
    shift, spread, size = (
        np.asarray(values, dtype=np.float64) for values in np.broadcast_arrays(difference, sd, n)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        found = f_power(size * np.square(shift / spread), 1, size - 1.0, alpha)
    power = np.where(spread == 0.0, shift != 0.0, found)
    return np.where((size >= 2.0) & ~np.isnan(shift + spread), power, np.nan)


def smallest_difference(
    sd: ArrayLike, n: ArrayLike, *, alpha: float = 0.05, power: float = 0.8, corrected: bool = False
) -> np.ndarray:
    """Return the mean difference that a two-sided paired t test detects with this power.

    `sd` is that of the differences by topic. With `corrected` for the test of `compare`, infinite
    below five topics. 0 if power is at most alpha, NaN for n < 2 or a missing argument. Sakai 2016,
    doi:10.1007/s10791-015-9273-z.
    """
    check_open_unit("alpha", alpha)
    check_open_unit("power", power)
    spread, size = (np.asarray(values, dtype=np.float64) for values in np.broadcast_arrays(sd, n))
    sizes, place = np.unique(size, return_inverse=True)
    effects = np.where(sizes >= 2.0, 0.0, np.nan)
    if power > alpha:
        level = corrected_level(alpha, sizes) if corrected else np.full(len(sizes), alpha)
        effects[(sizes >= 2.0) & (level == 0.0)] = np.inf
        some = (sizes >= 2.0) & (level > 0.0)
        needed = noncentrality_for_power(power, 1, sizes[some] - 1.0, level[some])
        effects[some] = np.sqrt(needed / sizes[some])
    effect = effects[place.reshape(size.shape)]
    # If no difference can be significant, neither can one without variance.
    endless = np.isinf(effect) & (spread == 0.0)
    return np.where(endless, np.inf, np.where(endless, 1.0, spread) * effect)


def detectable(smallest: ArrayLike) -> float:
    """Return the detectable difference of a table, from those of its pairs: root mean square.

    A pair with the mean variance detects it, as in `plan` for the same runs. NaN if none is known.

    >>> round(detectable(smallest_difference([0.1, 0.2], 50)), 4)
    0.0639
    >>> round(float(smallest_difference((0.5 * (0.1**2 + 0.2**2)) ** 0.5, 50)), 4)
    0.0639
    """
    values = np.asarray(smallest, np.float64)
    known = values[~np.isnan(values)]
    return math.sqrt(float(np.square(known).mean())) if len(known) else math.nan


def range_power(
    difference: float,
    variance: float,
    n: float,
    *,
    systems: int = 2,
    paired: bool = False,
    alpha: float = 0.05,
    corrected: bool = False,
) -> float:
    """Return the power of n topics if the best and worst of m systems differ by `difference`.

    lambda = n difference² / (2 variance): the least favourable case, two systems half the
    difference above and below the mean and the others at the mean. One-way ANOVA has m - 1 and
    m (n - 1) degrees of freedom, and `variance` is that of a system's scores over topics. With
    `paired`, all systems share the topics: (m - 1)(n - 1), and `variance` is the residual of the
    two-way layout; for two systems this is the paired t test, and the residual is half the variance
    of differences; with `corrected` the corrected test. Sakai and Shang 2016, section 3.
    """
    level = float(corrected_level(alpha, n)) if corrected else alpha
    if level == 0.0:
        return 0.0
    shift = n * (difference * difference) / (2.0 * variance)
    return float(f_power(shift, systems - 1, error_df(n, systems, paired), level))


def error_df(n: float, systems: int, paired: bool) -> float:
    """Return degrees of freedom of the error of n topics; of the two-way layout if `paired`."""
    return (systems - 1 if paired else systems) * (n - 1.0)


def topics_for_range(
    difference: float,
    variance: float,
    *,
    systems: int = 2,
    paired: bool = False,
    alpha: float = 0.05,
    beta: float = 0.2,
    corrected: bool = False,
) -> int:
    """Return the smallest n >= 2 with range_power(difference, variance, n) >= 1 - beta."""
    check_rates(alpha, beta)
    asked = {"systems": systems, "paired": paired, "alpha": alpha, "corrected": corrected}

    def enough(n: int) -> bool:
        return range_power(difference, variance, n, **asked) >= 1.0 - beta  # type: ignore[arg-type]

    scale = nagata("ttest", alpha=alpha, beta=beta).scale + 7.2 * (math.sqrt(systems - 1) - 1.0)
    return _smallest_size(enough, scale * (variance / difference / difference))


def smallest_range(
    variance: float,
    n: float,
    *,
    systems: int = 2,
    paired: bool = False,
    alpha: float = 0.05,
    beta: float = 0.2,
    corrected: bool = False,
) -> float:
    """Return the difference between best and worst that n topics detect with power 1 - beta."""
    check_rates(alpha, beta)
    level = float(corrected_level(alpha, n)) if corrected else alpha
    if level == 0.0:
        return math.inf
    df2 = error_df(n, systems, paired)
    needed = float(noncentrality_for_power(1.0 - beta, systems - 1, df2, level))
    return math.sqrt(2.0 * needed * variance / n)


def expected_width(variance: float, n: float, *, paired: bool = True, alpha: float = 0.05) -> float:
    """Return the expected full width of the 1 - alpha interval of the difference of two means.

    2 t E[S] sqrt(2 / n), E[S] = sqrt(2 variance / df) Gamma((df + 1) / 2) / Gamma(df / 2), t the
    critical value; df is n - 1 if `paired`, where `variance` is half the variance of differences,
    and 2 (n - 1) otherwise. Sakai 2016, doi:10.1007/s10791-015-9273-z.
    """
    df = error_df(n, 2, paired)
    critical = -float(special.stdtrit(df, alpha / 2))
    return 2.0 * critical * _expected_sd(df) * math.sqrt(2.0 * variance / n)


def _expected_sd(df: float) -> float:
    """Return E[S] / sigma; by Stirling's series for large df, where logarithms of Gamma cancel."""
    x = df / 2.0
    if x > 500.0:
        return 1.0 - 1.0 / (8.0 * x) + 1.0 / (128.0 * x**2) + 5.0 / (1024.0 * x**3)
    return math.exp(math.lgamma(x + 0.5) - math.lgamma(x)) / math.sqrt(x)


def topics_for_width(
    width: float, variance: float, *, paired: bool = True, alpha: float = 0.05
) -> int:
    """Return the smallest n >= 2 with expected_width(variance, n) <= width."""
    check_open_unit("alpha", alpha)

    def enough(n: int) -> bool:
        return expected_width(variance, n, paired=paired, alpha=alpha) <= width

    guess = nagata("interval", alpha=alpha).scale * (variance / width / width)
    return _smallest_size(enough, guess)


def _smallest_size(enough: Callable[[int], bool], guess: float) -> int:
    found = fewest(enough, guess=guess, least=2, most=MOST_TOPICS)
    if found is None:
        raise _too_many()
    return found


class NagataFormula(NamedTuple):
    """A published approximation: scale * variance / size² + surplus topics.

    The size is a difference or the width of an interval; `variance` as in `range_power`.
    """

    scale: float
    surplus: float = 0.0

    def topics(self, size: float, variance: float) -> int:
        """Return the number of topics for a size, rounded up, at least 2."""
        topics = self.scale * (variance / size / size) + self.surplus
        if topics > MOST_TOPICS:
            raise _too_many()
        return int(whole_size(topics, 2.0))

    def size(self, variance: float, n: float) -> float:
        """Return the size for which the formula gives n topics; NaN if there is none."""
        left = n - self.surplus
        return math.sqrt(self.scale * variance / left) if left > 0.0 else math.nan


def nagata(
    method: str, *, alpha: float = 0.05, beta: float = 0.2, systems: int = 2, paired: bool = True
) -> NagataFormula:
    """Return the published approximation for "anova", "ttest" or "interval".

    - anova: 2 lambda variance / difference², lambda = c0 + c1 sqrt(m - 1), published only for four
      pairs of alpha and beta; within 1 % of the limit of many topics from m = 5 on.
    - ttest: (z sd / difference)² + z_alpha²/2 paired, sd that of differences, and
      2 (z sd / difference)² + z_alpha²/4 for each system unpaired, with z the sum of the upper
      alpha/2 and beta points of the normal law.
    - interval: 8 z_alpha² variance / width², the start of the published search.

    Reference: Nagata 2003; the pair .05, .20 by Sakai and Shang 2016, Table 3.
    """
    upper = -float(special.ndtri(check_open_unit("alpha", alpha) / 2))
    if method == "interval":
        return NagataFormula(8.0 * upper**2)
    if method == "ttest":
        check_rates(alpha, beta)
        z = upper - float(special.ndtri(beta))
        return NagataFormula(2.0 * z * z, upper**2 / (2.0 if paired else 4.0))
    for (known_alpha, known_beta), (c0, c1) in NAGATA.items():
        if math.isclose(alpha, known_alpha) and math.isclose(beta, known_beta):
            return NagataFormula(2.0 * (c0 + c1 * math.sqrt(systems - 1)))
    pairs = ", ".join(f"{a:g}/{b:g}" for a, b in NAGATA)
    raise InputError(
        f"nagata has no published coefficients for alpha {alpha:g} and beta {beta:g} (only for "
        f"{pairs}): use {arg('formula', 'exact')}, which holds for any"
    )


def _too_many() -> InputError:
    return InputError(
        f"more than {MOST_TOPICS:.0e} topics would be required: plan for a larger difference or "
        "width, or check the variance"
    )


def check_rates(alpha: float, beta: float) -> None:
    """Check that both are between 0 and 1, and that the power exceeds the level."""
    check_open_unit("alpha", alpha)
    check_open_unit("beta", beta)
    if beta < SMALLEST_BETA:
        raise bad_value("beta", f"be at least {SMALLEST_BETA}", beta)
    if 1.0 - beta <= alpha:
        raise InputError(
            f"{arg('beta')} {beta:g} means a power of {1.0 - beta:g}, no more "
            f"than alpha {alpha:g}: use a smaller beta, such as 0.2"
        )
