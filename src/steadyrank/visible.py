"""Escaping of hidden characters, for terminals, error messages, tables, pages and figures.

A name may contain terminal commands, line breaks, marks that reverse the direction of writing, or
parts of a character. They are shown as `\\x1b` or `\\u202e`, and a byte that is not UTF-8 (a
surrogate in Python) as `\\xe9`.
"""

from __future__ import annotations

import re
import unicodedata

# Controls, line and paragraph separators, marks of the direction of writing, and surrogates.
_ALL = "\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
HIDDEN = re.compile(f"[{_ALL}]")
# The codes that `spelled` writes, and no others.
_CODE = (
    "x(?:[01][0-9a-f]|7f|[89a-f][0-9a-f])"
    "|u(?:00[89][0-9a-f]|061c|200[ef]|202[89a-e]|206[6-9]|d[89a-f][0-9a-f]{2})"
)
_HIDDEN_BUT_TAB = re.compile(f"(?!\t)[{_ALL}]")
# Bold and its end, which tables for terminals have, or any hidden character.
_STYLED = re.compile(rf"\x1b\[[01]m|{_HIDDEN_BUT_TAB.pattern}")
_TO_SPELL = re.compile(rf"(\\*)({_HIDDEN_BUT_TAB.pattern})|(\\+)(?={_CODE})")
_SPELLED = re.compile(rf"(\\+)({_CODE})")
LONGEST_MESSAGE = 2000


def visible(text: str) -> str:
    """Return the text with hidden characters escaped; line breaks stay.

    >>> print(visible("a\\x1b[2Jb\\udce9"))
    a\\x1b[2Jb\\xe9
    """
    return HIDDEN.sub(lambda match: spelled(match[0]), text)


def escaped(text: str) -> str:
    """Return the text with hidden characters and line breaks escaped.

    >>> print(escaped("a\\nb"))
    a\\nb
    """
    return visible(text).replace("\n", "\\n")


def reversible(text: str) -> str:
    """Escape hidden characters except tabs such that `restored` returns the original text.

    Backslashes of the text before something that looks like a code are doubled.

    >>> print(reversible("caf\\udce9"), reversible("caf\\\\xe9"))
    caf\\xe9 caf\\\\xe9
    """
    return _TO_SPELL.sub(
        lambda match: 2 * match[1] + spelled(match[2]) if match[2] else 2 * match[3], text
    )


def restored(text: str) -> str:
    """Return the text from which `reversible` made this one.

    >>> [restored(reversible(text)) for text in ("a\\x1b", "a\\\\x1b", "a\\\\\\x1b")]
    ['a\\x1b', 'a\\\\x1b', 'a\\\\\\x1b']
    """
    return _SPELLED.sub(_restored, text)


def _restored(match: re.Match[str]) -> str:
    backslashes, code = match[1], match[2]
    number = int(code[1:], 16)
    character = chr(number + 0xDC00 if code[0] == "x" and number >= 0x80 else number)
    kept = backslashes[: len(backslashes) // 2]
    return kept + (character if len(backslashes) % 2 else code)


def is_hidden(text: str) -> bool:
    """Return whether `reversible` escapes any character of the text."""
    return _HIDDEN_BUT_TAB.search(text) is not None


def for_terminal(text: str, *, styled: bool = False) -> str:
    """Escape hidden characters in lines for a terminal; if `styled`, bold stays."""
    pattern = _STYLED if styled else _HIDDEN_BUT_TAB
    return pattern.sub(lambda match: match[0] if len(match[0]) > 1 else spelled(match[0]), text)


def one_line(message: object) -> str:
    """Return a message as one line of limited length.

    >>> one_line("no such file:\\n a\\x1b")
    'no such file: a\\\\x1b'
    """
    line = escaped(" ".join(str(message).split()))
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:LONGEST_MESSAGE]} …"


def in_ascii(character: str) -> str:
    """Return a similar ASCII text for a character, or a question mark.

    >>> "".join(map(in_ascii, "−é…±語"))
    '-e...+-?'
    """
    if character in _LOOK_ALIKES:
        return _LOOK_ALIKES[character]
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or "?"


_LOOK_ALIKES = dict.fromkeys("−–—─━", "-") | {"│": "|", "±": "+-", "×": "x", "·": "."}
_LOOK_ALIKES |= {"≤": "<=", "≥": ">=", "†": "+", "∞": "inf"}


def spelled(character: str) -> str:
    """Return a hidden character as `\\x1b` or `\\u202e`, a byte that is not UTF-8 as `\\xe9`."""
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
