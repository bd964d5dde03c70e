"""The kernels that look over documents that were read, for a first command (`compute.ahead`)."""

from __future__ import annotations

import numpy as np

from steadyrank.data.ids import PADDING, Ids
from steadyrank.data.order import rank_blocks, repeated_rows


def two_documents() -> tuple[Ids, np.ndarray]:
    """One document in each of two blocks, and the blocks."""
    blocks = np.arange(3)
    return Ids(np.zeros(2 + PADDING, np.uint8), blocks, np.ones(2, np.uint64)), blocks


def rank_two_documents() -> None:
    """Look for documents that repeat, and for blocks that are out of order; there are none."""
    documents, blocks = two_documents()
    repeated_rows(documents, blocks)
    rank_blocks(documents, np.ones(2), blocks)
