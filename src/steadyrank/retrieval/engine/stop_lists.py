"""Words that an index leaves out: six lists by name, or a file of one's own.

Lucene's, Snowball's and SMART's are those of the grid of points (Ferro & Silvello, 2016); the
package python-rake carries the longer ones. Indri's and Terrier's are in no package: Fox's and
Ranks NL's take their places, and a file can be named instead.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable
from pathlib import Path

from steadyrank.data.read.sources import open_bytes
from steadyrank.data.read.streams import is_readable
from steadyrank.errors import FormatError, InputError, unknown_name
from steadyrank.retrieval.engine.tokens import decoded, split_words

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
    """The words of a list: one of STOP_LISTS, or a file.

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
        return _read(path)
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


def _read(path: Path) -> frozenset[str]:
    with open_bytes(path) as stream:
        lines = decoded(stream.read()).removeprefix("\ufeff").splitlines()
    words = _usable(
        entry for line in lines for entry in _TAG.sub(" ", _COMMENT.sub("", line)).split()
    )
    if not words:
        raise FormatError(path, "holds no words: expected one per line")
    return words
