"""Where kernels' machine code is kept between processes, and what happens when that goes wrong.

Numba writes a kernel's index before its code, under a number that earlier code may still have.
A process that is killed in between, a full disk, or another process at the same time would leave
an index that names code of other sources. Here code comes first, under a name of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile

_HARMLESS = (OSError, EOFError, pickle.UnpicklingError)


class KeptCode(IndexDataCacheFile):
    """The machine code of one kernel, for all types of arguments that it was called with."""

    def save(self, key: Any, data: Any) -> None:
        """Keep code, then say where it is; code of other sources goes."""
        kept = self._load_index()
        digest = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()
        name = self._data_name_pattern.replace("{number:d}", digest[:16])
        self._save_data(name, data)
        self._save_index({**kept, key: name})
        if not kept:
            self._remove_all_but(name)

    def _remove_all_but(self, name: str) -> None:
        folder = Path(self._cache_path)
        for path in folder.glob(self._data_name_pattern.replace("{number:d}", "*")):
            if path.name != name:
                path.unlink(missing_ok=True)


def keep_code(dispatcher: Any, stamp: str) -> None:
    """Keep a kernel's code as long as `stamp` stays the same; go on without where that fails."""
    cache = dispatcher._cache
    cache._cache_file = KeptCode(
        cache_path=cache._cache_path, filename_base=cache._impl.filename_base, source_stamp=stamp
    )
    cache._guard_against_spurious_io_errors = harmless


def harmless() -> contextlib.AbstractContextManager[None]:
    """Swallows what goes wrong when code cannot be kept, or was damaged: it is compiled anew."""
    return contextlib.suppress(*_HARMLESS)
