"""Finished blocks of a long study, kept in a folder, so that it takes up where it stopped.

A block is a file of arrays, written whole or not at all, with a checksum over its bytes, its name
and the settings that made it. The folder says which these are; other settings are refused rather
than mixed. Several processes may use one store at once.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.compute.files import check_still_there, is_unfinished, sweep, write_whole
from steadyrank.errors import FormatError

FORMAT = "steadyrank store 2"
SETTINGS = "settings.json"
_DIGEST = 32

_refused = partial(FormatError, code="place")

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of finished blocks, all made with the same settings."""

    folder: Path
    key: bytes
    """A digest of the settings: what other settings made has other checksums."""

    def save(self, name: str, arrays: Arrays) -> None:
        """Keep one block."""
        if any(np.asarray(array).dtype.hasobject for array in arrays.values()):
            raise ValueError(f"{name}: arrays of objects would be pickled")
        buffer = io.BytesIO()
        named: dict[str, Any] = dict(arrays)  # `allow_pickle` is one more array to NumPy 1.26
        np.savez(buffer, **named)
        data = buffer.getvalue()
        path = self.folder / f"{name}.block"
        check_still_there(self.folder)
        write_whole(path, self._checksum(name, data) + data)

    def has(self, name: str) -> bool:
        """Whether a block was kept, whatever its bytes."""
        return (self.folder / f"{name}.block").exists()

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        """A block that was kept, or None; one whose bytes have changed is an error."""
        path = self.folder / f"{name}.block"
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        data = content[_DIGEST:]
        if self._checksum(name, data) != content[:_DIGEST]:
            raise _refused(
                path,
                "its checksum does not match: the file was damaged, changed or "
                "written by another study; delete it, and the block is computed again",
            )
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as block:
                return {key: block[key] for key in block.files}
        except ValueError:  # The checksum is no signature: whoever can write here can forge one.
            raise _refused(
                path, "holds something other than arrays: do not use this store"
            ) from None

    def _checksum(self, name: str, data: bytes) -> bytes:
        digest = hashlib.blake2b(name.encode() + b"\0", key=self.key, digest_size=_DIGEST)
        digest.update(data)
        return digest.digest()


def open_store(folder: str | os.PathLike[str], settings: Mapping[str, Any]) -> Store:
    """The store in `folder`, made if it is not there; refused if other settings made it.

    `settings` are what the blocks depend on, as plain JSON values; a digest of the data
    belongs among them.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise _refused(path, "a store must be a folder, and this is a file") from None
    sweep(path)
    ours = {"format": FORMAT, **json.loads(json.dumps(dict(settings)))}
    text = json.dumps(ours, indent=1, sort_keys=True) + "\n"
    place = path / SETTINGS
    if not place.exists():
        _check_empty(path)
        # Another process may be as far: the first one's settings stay, and both read them.
        write_whole(place, text, new=True)
    try:
        theirs = json.loads(place.read_text("utf-8"))
    except (ValueError, RecursionError):  # not UTF-8, not JSON, or nested without end
        raise _refused(
            place, "does not hold the settings of a store: name another folder"
        ) from None
    _check_same(path, ours, theirs)
    return Store(path, hashlib.blake2b(text.encode(), digest_size=_DIGEST).digest())


def _check_empty(path: Path) -> None:
    """Refuse a folder in which something lies, unless it has just become a store."""
    others = [entry.name for entry in path.iterdir() if not is_unfinished(entry.name)]
    if others and not (path / SETTINGS).exists():
        raise _refused(path, "the folder is neither empty nor a store: name a new one")


def _check_same(path: Path, ours: dict[str, Any], theirs: Any) -> None:
    if not isinstance(theirs, dict) or theirs.get("format") != FORMAT:
        raise _refused(path, "is not a store of this version of steadyrank: name another folder")
    for key in [*ours, *theirs]:
        if ours.get(key) != theirs.get(key):
            raise _refused(
                path,
                f"was made with different settings ({key}: {_short(theirs.get(key))} "
                f"there, {_short(ours.get(key))} here): name another folder",
            )


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."
