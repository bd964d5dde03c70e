"""One thread for products of matrices: how several split a sum may change its last bits."""

from __future__ import annotations

import functools
import sys
from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Looked for where modules have been imported since: that takes longer than many a fit."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Limit BLAS to one thread, in this process, for as long as a block of code lasts."""
    limit: AbstractContextManager[object] = _libraries(len(sys.modules)).limit(
        limits=1, user_api="blas"
    )
    return limit
