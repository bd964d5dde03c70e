"""The inner loop of the posterior: slice sampling of standard deviations on a balanced layout."""

from __future__ import annotations

import numpy as np

from steadyrank.compute.kernels import kernel, part

OUTWARD = 200
"""Steps that a slice may grow to each side."""


@part
def _log_density(state, layout, loads, prior_scale):
    last = state.size - 1
    residual = np.exp(2.0 * state[last])
    total = 0.0
    for stratum in range(layout.shape[0]):
        spread = loads[stratum, last] * residual
        for k in range(last):
            spread += loads[stratum, k] * state[k] * state[k]
        total -= 0.5 * (layout[stratum, 0] * np.log(spread) + layout[stratum, 1] / spread)
    for k in range(last):
        ratio = state[k] / prior_scale
        total -= np.log(1.0 + ratio * ratio)
    return total


@kernel
def slice_draws(generator, state, widths, layout, loads, prior_scale, updates, draws):
    """Advance `state` by `updates` random coordinates a draw, and write each draw.

    The state is s_1, …, s_K, signed, and log s_e. `layout` [stratum, 2] holds degrees of freedom
    and sums of squares; a stratum's eigenvalue is `loads` times the variances, residual last. Each
    update leaves the law exp(-deviance / 2) times half-Cauchy priors unchanged and is reversible,
    and so is their sequence, the coordinates being drawn independently (Neal 2003).
    """
    size = state.size
    for draw in range(draws.shape[0]):
        here = _log_density(state, layout, loads, prior_scale)
        for _ in range(updates):
            k = int(generator.random() * size)
            level = here - generator.standard_exponential()
            old = state[k]
            low = old - widths[k] * generator.random()
            high = low + widths[k]
            # Splitting the steps at random between both sides keeps the update reversible.
            left = int(OUTWARD * generator.random())
            right = OUTWARD - left
            state[k] = low
            while left > 0 and _log_density(state, layout, loads, prior_scale) > level:
                low -= widths[k]
                left -= 1
                state[k] = low
            state[k] = high
            while right > 0 and _log_density(state, layout, loads, prior_scale) > level:
                high += widths[k]
                right -= 1
                state[k] = high
            while True:
                state[k] = low + (high - low) * generator.random()
                here = _log_density(state, layout, loads, prior_scale)
                # The interval closes on the old value, at the latest where no density is known.
                if here >= level or state[k] == old:
                    break
                if state[k] < old:
                    low = state[k]
                else:
                    high = state[k]
        # Numba's assignment of a row brings in how it prints shapes that do not fit.
        for i in range(size):
            draws[draw, i] = state[i]
