"""Everything that steadyrank raises or warns about on purpose.

SteadyrankError
├── InputError            the caller can mend it: exit code 2
│   ├── FormatError       a file's content, with its line where there is one
│   └── UnknownNameError  a measure, run, topic or option that does not exist
└── MachineError          disk, memory, a missing extra: exit code 1

SteadyrankWarning         counted oddities that do not stop the work
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping


class SteadyrankError(Exception):
    """Base of every error that steadyrank raises on purpose."""


class InputError(SteadyrankError):
    """Something the caller gave is wrong, and the message says what to do."""


class FormatError(InputError):
    """A file does not hold what it should; printed as ``file:line: what, got, remedy``."""

    def __init__(self, path: str | os.PathLike[str], message: str, line: int | None = None):
        self.path = os.fspath(path)
        self.line = line
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: {message}")

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions cross process and cluster borders by pickling, which would
        # otherwise call __init__ with the finished message alone.
        return (_restore_format_error, (self.path, str(self), self.line))


def _restore_format_error(path: str, text: str, line: int | None) -> FormatError:
    error = FormatError(path, "", line)
    error.args = (text,)
    return error


class UnknownNameError(InputError):
    """A name that is not among those that exist; suggests the nearest."""


class MachineError(SteadyrankError):
    """The machine failed us: disk, memory, or a package that is not installed."""


class SteadyrankWarning(UserWarning):
    """Something odd was counted; results stand, but read the line."""


def unknown_name(
    kind: str, name: str, known: Iterable[str], guesses: Mapping[str, str] | None = None
) -> UnknownNameError:
    """An error for a name that is not among `known`, with the nearest spelling.

    `guesses` has names of other tools, in small letters, and what they are here.

    >>> print(unknown_name("measure", "nDGC", ["nDCG", "AP"]))
    unknown measure 'nDGC': did you mean 'nDCG'?
    """
    names = list(known)
    guessed = (guesses or {}).get(name.lower())
    near = [guessed] if guessed else difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if not near:
        by_lower = {other.lower(): other for other in names}
        near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.6)
        near = [by_lower[spelling] for spelling in near]
    if near:
        return UnknownNameError(f"unknown {kind} {name!r}: did you mean {near[0]!r}?")
    some = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return UnknownNameError(f"unknown {kind} {name!r}: there are {some or 'none'}")
