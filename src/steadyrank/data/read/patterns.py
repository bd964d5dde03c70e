"""Files that a pattern stands for: as the shell finds them, in a bounded search.

Python's own `glob` walks a whole disk without a word, follows links in circles, and for `**/**`
walks it once per folder.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from steadyrank.errors import InputError, warn
from steadyrank.words import counted, some

MOST_ENTRIES = 1_000_000
"""Files and folders that are looked at for one pattern."""

MANY = 100_000
"""Entries after which the search says that it goes on, and files that are worth counting."""

MANY_FILES = 1_000


def is_pattern(path: Path) -> bool:
    """Whether a path has any of `*`, `?` and `[`."""
    return glob.has_magic(str(path))


def matching_files(pattern: Path) -> list[Path]:
    """The files that match, sorted by name, hidden ones only where the pattern has their dot."""
    parts = list(pattern.relative_to(pattern.anchor).parts)
    # `**/**` finds what `**` finds.
    parts = [
        part
        for place, part in enumerate(parts)
        if parts[place - 1 : place] != [part] or part != "**"
    ]
    search = _Search(pattern)
    found = sorted(set(search.below(Path(pattern.anchor), parts)))
    warn_of_links(pattern, found)
    matches = [path for path in found if path.is_file()]
    if len(matches) > MANY_FILES:
        warn(f"{pattern}: {counted(len(matches), 'file matches', 'files match')}")
    return matches


def warn_of_links(where: Path, paths: Iterable[Path]) -> None:
    """Warn of links that lead nowhere: a run would be missing without a word."""
    links = [path.name for path in paths if path.is_symlink() and not path.exists()]
    if links:
        number = counted(len(links), "link that leads", "links that lead")
        warn(f"{where}: {number} nowhere skipped ({some(links)}): mend or remove")


@dataclass(slots=True)
class _Search:
    """One walk through folders, which counts what it has seen."""

    pattern: Path
    seen: int = 0

    def below(self, folder: Path, parts: list[str]) -> Iterator[Path]:
        """What matches the rest of the pattern in a folder."""
        if not parts:
            yield folder
            return
        first, rest = parts[0], parts[1:]
        if first == "**":
            yield from self._at_any_depth(folder, rest)
        elif glob.has_magic(first):
            for entry in self._entries(folder, hidden=first.startswith(".")):
                if fnmatch.fnmatchcase(entry.name, first) and (not rest or entry.is_dir()):
                    yield from self.below(folder / entry.name, rest)
        elif os.path.lexists(folder / first):
            yield from self.below(folder / first, rest)

    def _at_any_depth(self, folder: Path, rest: list[str]) -> Iterator[Path]:
        """Folder by folder, links to folders last: one that was looked into leads in circles."""
        waiting, links = [folder], list[Path]()
        known: set[str] = set()
        while waiting or links:
            place = waiting.pop() if waiting else links.pop(links.index(min(links)))
            if (whole := os.path.realpath(place)) in known:
                continue
            known.add(whole)
            if rest:
                yield from self.below(place, rest)
            for entry in self._entries(place):
                if entry.is_dir():
                    (links if entry.is_symlink() else waiting).append(place / entry.name)
                elif not rest:
                    yield place / entry.name

    def _entries(self, folder: Path, *, hidden: bool = False) -> Iterator[os.DirEntry[str]]:
        try:
            listed = os.scandir(folder)
        except OSError:
            return  # As the shell does: what cannot be looked into holds nothing.
        with listed as entries:
            for entry in entries:
                self._count()
                if hidden or not entry.name.startswith("."):
                    yield entry

    def _count(self) -> None:
        self.seen += 1
        if self.seen == MANY:
            warn(f"{self.pattern}: {MANY:,} files and folders searched so far; the search goes on")
        if self.seen > MOST_ENTRIES:
            raise InputError(
                f"{self.pattern}: more than {MOST_ENTRIES:,} files and folders to search: name "
                "a folder closer to the files"
            )
