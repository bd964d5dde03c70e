"""Mutated files, and what every reader must do with them.

A mutant depends on its target's name and its number alone, so a failure's number is all it takes
to see it again. What a reader accepts is compared with a parse by plain means, where there is one.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import signal
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import steadyrank as sr

PATIENCE = 20
"""Processor seconds after which a case counts as hanging."""

WAITING = 30
"""Ratio of the wall-clock limit to the limit of processor time."""

BUDGET = int(os.environ.get("STEADYRANK_FUZZ", "20000"))
"""Total number of mutants in the tests."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A reader with its good files and its check."""

    name: str
    seeds: tuple[bytes, ...]
    morsels: tuple[bytes, ...]
    """Tokens with a meaning for this reader."""
    check: Callable[[Path], None]
    """Reads the file and checks the result; raises what the reader raises."""
    separators: bytes = b"\n"
    packed: bool = True
    """Whether the reader reads gzip."""
    often_refused: float = 0.97
    """Largest share of refusals; above it the mutants test little."""
    share: float = 1.0
    """Cases of this target per case of another."""


BARE = (
    *(b"\n", b"\r", b"\r\n", b"\x00", b" ", b"\t", b"#", b"\xff\xfe", b"\xef\xbb\xbf"),
    *b"nan inf -inf 1e999".split(),
)
"""Tokens that are invalid in text files or as numbers."""

ANYWHERE = (
    *BARE,
    *b"-1e-999 - . 0x1 1_0".split(),
    *(b"9" * 30, b"9" * 400, b"9" * 5000),
    *b"{ } \" ' PAR1 \x1f\x8b".split(b" "),
    *(b"\x0b\x0c", b"\x85", b"\xc2\x85", b"\xe2\x80\xa8", b"x" * 70, b"y" * 9000, "é".encode()),
    *b"\x7f \x1b[31m =1+1 @x '=x , ; < > & \\".split(),
    *(b"[" * 3000, b"\xed\xa0\x80", b"\xf0\x9f\x92\xa9"),
    *b"null true -0 +5".split(),
)


def mutant(target: Target, number: int) -> bytes:
    """Return mutant `number` of a target."""
    rng = np.random.default_rng([zlib.crc32(target.name.encode()), number])
    data = bytearray(target.seeds[rng.integers(len(target.seeds))])
    for _ in range(rng.integers(1, 6)):
        if rng.random() < 0.5:
            disturb_bytes(data, rng, target.morsels + ANYWHERE)
        else:
            _disturb_parts(data, rng, target)
    if target.packed and rng.random() < 0.05:
        data = bytearray(gzip.compress(bytes(data), 1, mtime=0))
        if rng.random() < 0.5:
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    return bytes(data)


def disturb_bytes(data: bytearray, rng: np.random.Generator, morsels: Sequence[bytes]) -> None:
    """Return data with one mutation: insertion, deletion, duplication, flip or truncation."""
    at = int(rng.integers(len(data) + 1))
    until = min(len(data), at + int(rng.integers(0, 30)))
    kind = rng.integers(6)
    if kind == 0:
        data[at:at] = morsels[rng.integers(len(morsels))]
    elif kind == 1:
        data[at:until] = b""
    elif kind == 2:
        data[at:until] = rng.bytes(int(rng.integers(0, 12)))
    elif kind == 3:
        data[at:at] = data[at:until]
    elif kind == 4 and at < len(data):
        data[at] ^= 1 << int(rng.integers(8))
    else:
        del data[at:]


def _disturb_parts(data: bytearray, rng: np.random.Generator, target: Target) -> None:
    """Return data with whole lines or fields duplicated, removed, moved or replaced."""
    separator = target.separators[(place := int(rng.integers(len(target.separators)))) : place + 1]
    parts = bytes(data).split(separator)
    one, other = (int(place) for place in rng.integers(len(parts), size=2))
    kind = rng.integers(5)
    if kind == 0:
        parts.insert(other, parts[one])
    elif kind == 1:
        del parts[one]
    elif kind == 2:
        parts[one], parts[other] = parts[other], parts[one]
    else:
        tokens = target.morsels if kind == 3 else ANYWHERE
        parts[one] = tokens[rng.integers(len(tokens))]
    data[:] = separator.join(parts)


class Hang(BaseException):
    """Error of a case that took too long; not an `Exception`."""


@contextlib.contextmanager
def limited(seconds: int = PATIENCE) -> Iterator[None]:
    """Raise an error after this number of processor seconds, if the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: Any) -> None:
        raise Hang(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, ring), signal.signal(signal.SIGPROF, ring)
    signal.alarm(WAITING * seconds)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGALRM, before[0])
        signal.signal(signal.SIGPROF, before[1])


def outcome(target: Target, data: bytes, path: Path, seconds: int = PATIENCE) -> str:
    """Return `read` or `refused`; other outcomes are errors of the reader."""
    path.write_bytes(data)
    try:
        with limited(seconds):
            target.check(path)
    except sr.InputError:
        return "refused"
    return "read"


# What files say, by plain means


def raw(text: str) -> bytes:
    """Return the bytes from which a name was read."""
    return text.encode("utf-8", "surrogateescape")


def unpacked(path: Path) -> bytes:
    """Return the file's bytes without gzip and byte-order mark."""
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        with gzip.open(io.BytesIO(data)) as stream:
            data = stream.read()
    return data.removeprefix(b"\xef\xbb\xbf")


def csv_rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the rows of RFC 4180 CSV, character by character."""
    rows: list[list[str]] = []
    fields: list[str] = []
    field, quoted, place = "", False, 0
    while place < len(text):
        character = text[place]
        if quoted:
            if character != '"':
                field += character
            elif text[place + 1 : place + 2] == '"':
                field, place = field + '"', place + 1
            else:
                quoted = False
        elif character == '"' and not field:
            quoted = True
        elif character == delimiter:
            fields, field = [*fields, field], ""
        elif character in "\r\n":
            place += text[place : place + 2] == "\r\n"
            rows, fields, field = [*rows, [*fields, field]], [], ""
        else:
            field += character
        place += 1
    return [*rows, [*fields, field]] if fields or field else rows


def plain_number(text: str) -> float | None:
    """Return a score, NaN if missing, or None if the text is not a score."""
    text = text.strip()
    if text.lower() in ("", "nan", "+nan", "-nan", "na", "null", "none"):
        return float("nan")
    return float(text)
