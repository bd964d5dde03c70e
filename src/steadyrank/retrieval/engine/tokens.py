"""What a word is: letters, digits and their marks, in lower case; all else separates.

Text becomes bytes in which blanks lie between words, so that all later work is done on bytes.
ASCII text, by far the most, takes a single pass through a table.
"""

from __future__ import annotations

import functools
import re
import unicodedata

# Bytes beyond ASCII pass unchanged: what is a letter there was decided before.
_ASCII = bytes(
    code if code >= 0x80 else ord(chr(code).lower()) if chr(code).isalnum() else ord(" ")
    for code in range(256)
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_ZERO_WIDTH_SPACE = "\u200b"


def plain_words(text: str) -> bytes:
    """The words of a text as UTF-8, blanks between them and perhaps around them.

    Beyond ASCII, accents are composed with their letters (NFC), marks that stay apart belong to
    the letter before them, and invisible characters such as soft hyphens vanish.

    >>> plain_words("The café's 2nd-best T_shirts").decode().split()
    ['the', 'café', 's', '2nd', 'best', 't', 'shirts']
    """
    if not text.isascii():
        text = _BEYOND_ASCII.sub(_settled, unicodedata.normalize("NFC", text))
    # Half of a surrogate pair, which broken JSON may hold, becomes "?", which separates.
    return text.encode("utf-8", "replace").translate(_ASCII)


def decoded(raw: bytes) -> str:
    """Text in UTF-8, or else in Latin-1, as the first collections are."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def split_words(text: str) -> list[str]:
    """The words of a text, in order.

    >>> split_words("Naïve Bayes, naively")
    ['naïve', 'bayes', 'naively']
    """
    return [word.decode() for word in plain_words(text).split(b" ") if word]


def _settled(match: re.Match[str]) -> str:
    stretch = match[0]
    if stretch.isalnum():
        return stretch.lower()
    before = match.string[match.start() - 1 : match.start()]
    return _settle(stretch, before.isalnum())


@functools.lru_cache(maxsize=4096)
def _settle(stretch: str, in_word: bool) -> str:
    """A stretch beyond ASCII with blanks for all that is not part of a word."""
    out = []
    for character in stretch:
        category = unicodedata.category(character)
        if category == "Cf" and character != _ZERO_WIDTH_SPACE:
            continue
        in_word = character.isalnum() or (in_word and category.startswith("M"))
        out.append(character if in_word else " ")
    return "".join(out).lower()
