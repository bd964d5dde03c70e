"""Finished blocks of a long study, kept in a folder, so that it takes up where it stopped.

A block is a file of arrays with a checksum over its bytes, written whole or not at all. The
folder says which settings made it; other settings are refused rather than mixed.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.compute.files import write_whole
from steadyrank.errors import InputError

FORMAT = "steadyrank store 1"
SETTINGS = "settings.json"
_DIGEST = 32

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of finished blocks, all made with the same settings."""

    folder: Path

    def save(self, name: str, arrays: Arrays) -> None:
        """Keep one block."""
        buffer = io.BytesIO()
        np.savez(buffer, allow_pickle=False, **dict(arrays))
        data = buffer.getvalue()
        write_whole(self.folder / f"{name}.block", _digest(data) + data)

    def load(self, name: str) -> dict[str, np.ndarray] | None:
        """A block that was kept, or None; one whose bytes have changed is an error."""
        path = self.folder / f"{name}.block"
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        data = content[_DIGEST:]
        if _digest(data) != content[:_DIGEST]:
            raise InputError(
                f"{path}: its checksum does not match, the file was damaged or changed: "
                "delete it to have this block computed again"
            )
        with np.load(io.BytesIO(data), allow_pickle=False) as block:
            return {key: block[key] for key in block.files}


def open_store(folder: str | os.PathLike[str], settings: Mapping[str, Any]) -> Store:
    """The store in `folder`, made if it is not there; refused if other settings made it.

    `settings` are what the blocks depend on, as plain JSON values; a digest of the data
    belongs among them.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{path}: a store is a folder, and this is a file") from None
    ours = {"format": FORMAT, **json.loads(json.dumps(dict(settings)))}
    place = path / SETTINGS
    try:
        theirs = json.loads(place.read_text("utf-8"))
    except FileNotFoundError:
        if any(path.iterdir()):
            raise InputError(
                f"{path}: the folder is not empty and holds no store: name a new one"
            ) from None
        write_whole(place, json.dumps(ours, indent=1, sort_keys=True) + "\n")
        return Store(path)
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise InputError(f"{place}: is not a store's settings: name another folder") from None
    _check_same(path, ours, theirs)
    return Store(path)


def _check_same(path: Path, ours: dict[str, Any], theirs: Any) -> None:
    if not isinstance(theirs, dict) or theirs.get("format") != FORMAT:
        raise InputError(f"{path}: is not a store of this version: name another folder")
    for key in [*ours, *theirs]:
        if ours.get(key) != theirs.get(key):
            raise InputError(
                f"{path}: was made with other settings ({key}: {_short(theirs.get(key))} there, "
                f"{_short(ours.get(key))} here): name another folder"
            )


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()
