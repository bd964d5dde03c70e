"""Mixed models of whole arrays, whose axes are the factors."""

from __future__ import annotations

import numpy as np

from steadyrank.stats.mixed.fit import MixedModel


def of_array(values, *, axes, random, fixed=None):
    """The model of an array: a term is an axis or a tuple of axes; `fixed` is an axis of two."""
    values = np.asarray(values)
    index = dict(zip(axes, np.indices(values.shape).reshape(values.ndim, -1), strict=True))

    def labels(term):
        return index[term] if isinstance(term, str) else tuple(index[axis] for axis in term)

    return MixedModel(
        values.reshape(-1),
        random={name: labels(term) for name, term in random.items()},
        fixed=None if fixed is None else index[fixed] == 0,
    )
