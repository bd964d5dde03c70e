"""Characters that do not show, made to: for terminals, error messages and tables.

A name may hold anything that a file can: the start of a terminal's command, a line break in the
middle of a row, a mark that turns the writing around, half of a letter.
"""

from __future__ import annotations

import re
import unicodedata

# Controls, line and paragraph separators, marks that turn the direction of writing, and halves
# of surrogate pairs: none of them shows, and some hide what a name is.
_ALL = "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_HIDDEN = re.compile(f"[{_ALL}]")
_HIDDEN_IN_LINE = re.compile(f"[\n{_ALL}]")
# Colours and weights, which tables for terminals have, or else something that must not act.
_STYLE_OR_HIDDEN = re.compile(f"\x1b\\[[0-9;]*m|(?!\t)[{_ALL}]")
LONGEST_MESSAGE = 2000


def visible(text: str) -> str:
    """The text with U+FFFD for characters that cannot be seen or turn the writing around.

    >>> visible("a\\x00b") == "a\\N{REPLACEMENT CHARACTER}b"
    True
    """
    return _HIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def escaped(text: str) -> str:
    """The text in one line, with hidden characters as Python writes them; bytes as bytes.

    >>> print(escaped("a\\x1b[2Jb\\nc\\udce9"))
    a\\x1b[2Jb\\nc\\xe9
    """
    return _HIDDEN_IN_LINE.sub(lambda match: _spelled(match[0]), text)


def for_terminal(text: str) -> str:
    """Text of several lines that can do nothing to a terminal but colour it."""
    return _STYLE_OR_HIDDEN.sub(
        lambda match: match[0] if len(match[0]) > 1 else _spelled(match[0]), text
    )


def one_line(message: object) -> str:
    """A message as one line of decent length.

    >>> one_line("no such file:\\n a\\x1b")
    'no such file: a\\\\x1b'
    """
    line = escaped(" ".join(str(message).split()))
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]} …"


def in_ascii(character: str) -> str:
    """A character for a stream that has no such: what looks like it, or a question mark.

    >>> "".join(map(in_ascii, "−é…±語"))
    '-e...+-?'
    """
    if character in _LOOK_ALIKES:
        return _LOOK_ALIKES[character]
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or "?"


_LOOK_ALIKES = {
    "−": "-",
    "–": "-",
    "—": "-",
    "─": "-",
    "━": "-",
    "│": "|",
    "±": "+-",
    "×": "x",
    "·": ".",
    "≤": "<=",
    "≥": ">=",
    "†": "+",
    "∞": "inf",
}


def _spelled(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")
