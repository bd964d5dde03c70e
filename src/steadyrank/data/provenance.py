"""Where scores come from: scores by other judgments or settings are not compared as if by the same.

Scores of `evaluate` know the file of the judgments and the settings; Parquet keeps the hashes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steadyrank.errors import InputError, arg

if TYPE_CHECKING:
    from steadyrank.data.scores import Scores

SETTINGS = ("no_relevant", "ties", "duplicates", "missing")
"""Settings of `evaluate` that must be the same."""


def file_hashes(meta: Mapping[str, Any]) -> dict[str, str]:
    """SHA-256 of the files that scores were computed from, where they still are."""
    names = [meta.get("qrels"), *meta.get("files", {}).values()]
    found = {}
    for name in dict.fromkeys(names):
        if name is not None and Path(name).is_file():
            with open(name, "rb") as stream:
                found[name] = hashlib.file_digest(stream, "sha256").hexdigest()
    return found


def with_hashes(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Where scores come from, with the hashes of their files; known ones are kept."""
    if "joined" in meta:
        return {**meta, "joined": list(map(with_hashes, meta["joined"]))}
    return {**meta, "sha256": meta.get("sha256") or file_hashes(meta)}


def check_joined(parts: Sequence[Scores]) -> None:
    """Refuse scores of one measure and topic that differ in their judgments or settings."""
    alike = {(part.measures, part.topics, repr(_origins(part))): part for part in parts}
    for first, second in combinations(alike.values(), 2):
        if {*first.measures} & {*second.measures} and {*first.topics} & {*second.topics}:
            check_alike(first, second, [f"run {part.runs[0]!r}" for part in (first, second)])


def check_alike(
    first: Scores, second: Scores, names: Sequence[str], settings: Sequence[str] = SETTINGS
) -> None:
    """Refuse scores by other judgments, or read in another way, as far as they say so."""
    for key in settings:
        old, new = (_values(scores, key) for scores in (first, second))
        if old and new and not old & new:
            raise InputError(
                f"{names[0]} was evaluated with {arg(key, min(old))}, {names[1]} with "
                f"{arg(key, min(new))}: evaluate both with the same settings"
            )
    before, now = (_judgments(scores) for scores in (first, second))
    if before and now and not before.keys() & now.keys():
        digest, file = min(before.items())
        raise InputError(
            f"{names[0]} was evaluated with different judgments ({file}, SHA-256 {digest[:12]}…) "
            f"from {names[1]} ({min(now)[:12]}…): evaluate it again"
        )


def _origins(scores: Scores) -> list[tuple[Any, ...]]:
    return [
        (meta.get("settings", {}), meta.get("qrels"), meta.get("sha256", {}).get(meta.get("qrels")))
        for meta in scores.meta.get("joined", [scores.meta])
    ]


def _values(scores: Scores, key: str) -> set[str]:
    """What a setting was; where missing topics were an error, none was missing."""
    found = {settings[key] for settings, _, _ in _origins(scores) if key in settings}
    return found - {"error"}


def _judgments(scores: Scores) -> dict[str, str]:
    """SHA-256 of the judgments behind scores and their files; none where they were no file."""
    known = (
        (file, digest or file_hashes({"qrels": file}).get(file))
        for _, file, digest in _origins(scores)
    )
    return {digest: file for file, digest in known if digest}
