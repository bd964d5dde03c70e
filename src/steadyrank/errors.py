"""Errors and warnings that steadyrank raises on purpose.

SteadyrankError
├── InputError            the caller can fix it: exit code 2
│   ├── FormatError       a file's content, with its line where there is one
│   └── UnknownNameError  a measure, run, topic or option that does not exist
└── MachineError          disk, memory, a missing extra: exit code 1

SteadyrankWarning         oddities that do not stop the work

A message marks the parameters that it names with `arg`: `str` shows their Python names, a command
shows its options. `code` classifies the message, for programs that handle it:

value           a parameter cannot have this value
conflict        two parameters exclude each other
required        a parameter is missing
unknown-name    no such measure, run, topic or choice
format          a file has other content
place           a folder, a file or an address cannot be used
input           anything else that the caller can fix
machine         disk, memory, a missing package
warning         any warning
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from numbers import Integral, Real

MARK = "\x1f"
"""Encloses a parameter in a message; a control character, so that names rarely contain it."""


def arg(name: str, value: str | None = None) -> str:
    """Mark a parameter in a message: `name`, `name=` if it should be given, or with a value.

    >>> print(InputError(f"{arg('n_samples')} is too small: give {arg('mode', 'paper')}"))
    n_samples is too small: give mode="paper"
    """
    return f"{MARK}{name}{MARK}" if value is None else f'{MARK}{name}="{value}"{MARK}'


class Message(BaseException):
    """The base of errors and warnings: a message that marks parameters, with a code."""

    code = "error"

    def __init__(self, message: str = "", *, code: str | None = None):
        super().__init__(message)
        if code is not None:
            self.code = code

    @property
    def parameter(self) -> str | None:
        """The parameter that the message names first, or None."""
        _, mark, rest = str(self.args[0]).partition(MARK)
        return rest.partition(MARK)[0].partition("=")[0] if mark else None

    def shown(self, parameter: Callable[[str], str] = str) -> str:
        """Return the message with every marked parameter as a function shows it."""
        parts = str(self.args[0]).split(MARK)
        parts[1::2] = map(parameter, parts[1::2])
        return "".join(parts)

    def __str__(self) -> str:
        return self.shown()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shown()!r})"


class SteadyrankError(Message, Exception):
    """Base of every error that steadyrank raises on purpose.

    `code` names the family of the message, `parameter` the first parameter that it names.

    Examples
    --------
    >>> import steadyrank as sr
    >>> try:
    ...     sr.parse_measure("nDGC@10")
    ... except sr.SteadyrankError as error:
    ...     print(error)
    unknown measure 'nDGC': did you mean 'nDCG'?
    """


class InputError(SteadyrankError):
    """Invalid input from the caller; the message says what to do.

    Examples
    --------
    >>> import steadyrank as sr
    >>> sr.plan(variance=0.1, minimum_difference=-1, systems=10)
    Traceback (most recent call last):
        ...
    steadyrank.errors.InputError: ...
    """

    code = "input"


class FormatError(InputError):
    """Invalid content of a file; printed as ``file:line: what, got, remedy``.

    Examples
    --------
    >>> import steadyrank as sr
    >>> print(sr.FormatError("a.run", "expected 6 fields, got 5", line=7))
    a.run:7: expected 6 fields, got 5
    """

    code = "format"

    def __init__(
        self,
        path: str | os.PathLike[str],
        message: str,
        line: int | None = None,
        *,
        code: str | None = None,
    ):
        self.path = os.fspath(path)
        self.line = line
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: {message}", code=code)

    def __reduce__(self) -> tuple[object, ...]:
        # Unpickling would otherwise call __init__ with the finished message alone.
        return (_restore_format_error, (self.path, self.args, self.line, self.code))


def _restore_format_error(
    path: str, args: tuple[str, ...], line: int | None, code: str
) -> FormatError:
    error = FormatError(path, "", line, code=code)
    error.args = args
    return error


class UnknownNameError(InputError):
    """An unknown name; the message suggests the nearest known one.

    Examples
    --------
    >>> import steadyrank as sr
    >>> sr.parse_measure("nDGC@10")
    Traceback (most recent call last):
        ...
    steadyrank.errors.UnknownNameError: unknown measure 'nDGC': did you mean 'nDCG'?
    """

    code = "unknown-name"


class MachineError(SteadyrankError):
    """The machine failed: disk, memory, or a package that is not installed.

    Examples
    --------
    >>> import steadyrank as sr
    >>> issubclass(sr.MachineError, sr.SteadyrankError), issubclass(sr.MachineError, sr.InputError)
    (True, False)
    """

    code = "machine"


class SteadyrankWarning(Message, UserWarning):
    """Something odd in the data; the results are valid, but read the message.

    Examples
    --------
    >>> import warnings
    >>> import steadyrank as sr
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", sr.SteadyrankWarning)
    ...     runs = sr.run_from_dict({"1": {"d1": 1.0}}, name="a")
    """

    code = "warning"


def unknown_name(
    kind: str,
    name: str,
    known: Iterable[str],
    guesses: Mapping[str, str] | None = None,
    *,
    where: str = "",
) -> UnknownNameError:
    """Return an error for a name that is not among `known`, with the nearest spelling.

    `guesses` has synonyms in lower case, with the known names; `where` ends the statement.

    >>> print(unknown_name("measure", "nDGC", ["nDCG", "AP"]))
    unknown measure 'nDGC': did you mean 'nDCG'?
    >>> print(unknown_name("topic", "7", ["301", "302"], where="in the qrels"))
    unknown topic '7' in the qrels: choose from 301, 302
    """
    names, name = list(known), str(name)
    near = (guesses or {}).get(name.lower()) or _nearest(name, names)
    choose = f"choose from {_some(names)}" if names else "there are none"
    remedy = f"did you mean {near!r}?" if near else choose
    return UnknownNameError(f"unknown {kind} {name!r}{f' {where}' if where else ''}: {remedy}")


def unknown_column(
    name: str, table: str, columns: Iterable[str], instead: Iterable[str] = ()
) -> UnknownNameError:
    """Return an error for a column that a table lacks, with its columns and the nearest one.

    `instead` has names that could be given instead of a column.

    >>> print(unknown_column("orgin", "topic information", ["cluster", "origin"]))
    there is no column 'orgin' in the topic information (cluster, origin): did you mean 'origin'?
    """
    names = list(columns)
    near = _nearest(name, [*names, *instead])
    question = f": did you mean {near!r}?" if near else ""
    there = f"{table} ({_some(names) or 'none was given'})"
    return UnknownNameError(f"there is no column {name!r} in the {there}{question}")


def _nearest(name: str, names: list[str]) -> str | None:
    """Return the most similar name, preferably in the same case."""
    if near := difflib.get_close_matches(name, names, n=1):
        return near[0]
    by_lower = {other.lower(): other for other in names}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None


def _some(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")


def warn(message: str, *, stacklevel: int = 4) -> None:
    """Warn, naming the first caller outside of steadyrank from `stacklevel` on as the source."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and (
        level < stacklevel or str(frame.f_globals.get("__name__")).startswith("steadyrank.")
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(SteadyrankWarning(message), stacklevel=level)


def bad_value(name: str, rule: str, got: object, remedy: str = "") -> InputError:
    """Return an error for an invalid value of a parameter.

    >>> print(bad_value("alpha", "lie between 0 and 1", 5, "give a level such as 0.05"))
    alpha must lie between 0 and 1, got 5: give a level such as 0.05
    """
    shown = repr(got) if isinstance(got, str) else str(got)
    end = f": {remedy}" if remedy else ""
    return InputError(f"{arg(name)} must {rule}, got {shown}{end}", code="value")


def check_number(name: str, value: object) -> float:
    """Return a number, or raise an error for other types; the caller checks the range.

    >>> check_number("alpha", 0.05)
    0.05
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise bad_value(name, "be a number", value, "give a number such as 0.05")
    return float(value)


def check_count(name: str, value: object, least: int = 1) -> int:
    """Return a whole number of at least `least`, or raise an error.

    >>> check_count("jobs", 2)
    2
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise bad_value(name, f"be a whole number of at least {least}", value)
    return int(value)


def check_pattern(name: str, pattern: str) -> re.Pattern[str]:
    """Return a compiled regular expression, or raise an error.

    >>> check_pattern("system_from", "^(.)").groups
    1
    """
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        told = f"{arg(name)} {pattern!r} is not a regular expression: {error}"
        raise InputError(told, code="value") from None


def check_choice(kind: str, value: object, choices: Collection[str]) -> None:
    """Raise an error for a value that is not among the choices.

    >>> check_choice("mode", "sound", ("sound", "paper"))
    """
    if value not in choices:
        raise unknown_name(kind, str(value), choices)
