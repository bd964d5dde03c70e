"""What a word is: letters, digits and their marks, in lower case; all else separates.

Text becomes bytes in which blanks lie between words, so that all later work is done on bytes.
ASCII text, by far the most, takes a single pass through a table.

Words that an index leaves out: six lists by name, or a file of one's own. Lucene's, Snowball's and
SMART's are those of the grid of points (Ferro & Silvello, 2016); the package python-rake carries
the longer ones. Indri's and Terrier's are in no package: Fox's and Ranks NL's take their places.
"""

from __future__ import annotations

import functools
import importlib
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from steadyrank.data.read.sources import open_bytes
from steadyrank.data.read.streams import is_readable
from steadyrank.errors import FormatError, InputError, unknown_name

# Bytes beyond ASCII pass unchanged: what is a letter there was decided before.
_ASCII = bytes(
    code if code >= 0x80 else ord(chr(code).lower()) if chr(code).isalnum() else ord(" ")
    for code in range(256)
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_ZERO_WIDTH_SPACE = "\u200b"


def plain_words(text: str) -> bytes:
    """Return the words of a text as UTF-8, blanks between them and perhaps around them.

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
    """Return the words of a text, in order.

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
    """Return a stretch beyond ASCII with blanks for all that is not part of a word."""
    out = []
    for character in stretch:
        category = unicodedata.category(character)
        if category == "Cf" and character != _ZERO_WIDTH_SPACE:
            continue
        in_word = character.isalnum() or (in_word and category.startswith("M"))
        out.append(character if in_word else " ")
    return "".join(out).lower()


_LUCENE = """a an and are as at be but by for if in into is it no not of on or such that the their
    then there these they this to was will with"""

# Ranks NL's short list is Snowball's, word by word.
_PACKAGED = {
    "snowball": "RanksNLStoplist",
    "smart": "SmartStopList",
    "fox": "FoxStopList",
    "ranksnl": "RanksNLLongStopList",
}

STOP_LISTS = ("none", "lucene", "snowball", "smart", "fox", "ranksnl")

_COMMENT = re.compile(r"[|#].*")
_TAG = re.compile(r"<[^<>]*>")


def stop_words(stop_list: str) -> frozenset[str]:
    """Return the words of a list: one of STOP_LISTS, or a file.

    A file has words between blanks or line ends; `#` and `|` start a comment, tags (as in Indri's
    parameter files) are skipped. An entry that is not one word of this package's, such as
    `can't`, can never meet one and counts for nothing.

    >>> len(stop_words("lucene")), "the" in stop_words("smart"), len(stop_words("none"))
    (33, True, 0)
    >>> stop_words("snowbal")
    Traceback (most recent call last):
        ...
    steadyrank.errors.UnknownNameError: unknown stop list 'snowbal': did you mean 'snowball'?
    """
    if stop_list in STOP_LISTS:
        return _named(stop_list)
    path = Path(stop_list)
    if is_readable(path):
        return _read_stop_list(path)
    if len(path.parts) > 1 or path.suffix:
        raise InputError(f"{path}: no such stop list: name a file, or {', '.join(STOP_LISTS)}")
    raise unknown_name("stop list", stop_list, STOP_LISTS)


@functools.cache
def _named(stop_list: str) -> frozenset[str]:
    if stop_list == "none":
        return frozenset()
    if stop_list == "lucene":
        return _usable(_LUCENE.split())
    module = importlib.import_module(f"RAKE.stoplists.{_PACKAGED[stop_list]}")
    return _usable(" ".join(module.wordlist).split())


def _usable(entries: Iterable[str]) -> frozenset[str]:
    split = (split_words(entry) for entry in entries)
    return frozenset(words[0] for words in split if len(words) == 1)


def _read_stop_list(path: Path) -> frozenset[str]:
    with open_bytes(path) as stream:
        lines = decoded(stream.read()).removeprefix("\ufeff").splitlines()
    words = _usable(
        entry for line in lines for entry in _TAG.sub(" ", _COMMENT.sub("", line)).split()
    )
    if not words:
        raise FormatError(path, "holds no words: expected one per line")
    return words
