"""The careful t by its definition, one list of draws at a time: what kernels are held against."""

from __future__ import annotations

import math

import numpy as np


def hall(t, g, n):
    root = math.sqrt(n)
    return t + g * t**2 / (3 * root) + g**2 * t**3 / (27 * n) + g / (6 * root)


def lowered(t, g, n):
    """t*, given t, the skewness g of n draws and their number."""
    size, g = abs(t), math.copysign(1.0, t) * g
    return max(0.0, min(size, hall(size, g, n), hall(size, g - 1.5 * math.sqrt(6 / n), n)))


def careful(z):
    """t* of differences z, first minus second."""
    z = np.asarray(z, float)
    e = z - z.mean()
    t = z.mean() / (z.std(ddof=1) / math.sqrt(len(z)))
    return lowered(t, np.mean(e**3) / np.mean(e**2) ** 1.5, len(z))
