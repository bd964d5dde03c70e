"""Numbers and codes in as few letters as a page's script can read back.

Scores of a hundred runs on a thousand topics are most of a page if they are written out. Rounded to
the digits that are shown they are small whole numbers, and stand here as bytes, in base64.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np


def packed_codes(codes: np.ndarray, n_codes: int) -> dict[str, Any]:
    """Whole numbers below `n_codes`, in as few bytes each as will do; there are up to 2**32.

    >>> packed_codes(np.array([0, 1, 255]), 256)
    {'bytes': 1, 'codes': 'AAH/'}
    """
    width = next(width for width in (1, 2, 4) if n_codes <= 256**width)
    written = np.asarray(codes).astype(f"<u{width}").tobytes()
    return {"bytes": width, "codes": base64.b64encode(written).decode()}


def packed_numbers(values: np.ndarray, digits: int) -> dict[str, Any]:
    """Numbers, row after row, to so many decimals: as codes above the least, 0 where missing.

    Numbers of too wide a range are written out.

    >>> packed_numbers(np.array([[0.25, np.nan], [0.5, 0.25]]), 2)
    {'digits': 2, 'least': 25, 'bytes': 1, 'codes': 'AQAaAQ=='}
    >>> packed_numbers(np.array([[0.5, 1e30]]), 1)
    {'digits': 1, 'values': [0.5, 1e+30]}
    """
    flat = np.asarray(values, np.float64).ravel()
    known = np.isfinite(flat)
    if not _fit(flat[known], digits):
        written = [value if math.isfinite(value) else None for value in flat.tolist()]
        return {"digits": digits, "values": written}
    units = np.rint(flat[known] * 10**digits)
    least = int(units.min()) if len(units) else 0
    codes = np.zeros(len(flat), np.int64)
    codes[known] = units.astype(np.int64) - least + 1
    return {"digits": digits, "least": least, **packed_codes(codes, int(codes.max(initial=0)) + 1)}


def _fit(values: np.ndarray, digits: int) -> bool:
    """Whether whole numbers of four bytes, counted from the least, can stand for the numbers."""
    if not len(values):
        return True
    return bool(np.abs(values).max() < 2.0**52 / 10**digits) and bool(
        values.max() - values.min() < (2**32 - 3) / 10**digits
    )
