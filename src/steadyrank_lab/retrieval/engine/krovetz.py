"""Krovetz's stemmer: endings go if what is left is a word of its dictionary.

R. Krovetz, Viewing morphology as an inference process, SIGIR 1993, doi:10.1145/160688.160718. The
rules are those of the Lemur project's implementation, and the dictionary is its dictionary: head
words, exceptions (head words that -ed and -ing are not reduced to), and words that have a root,
such as italian and italy. A step's rules yield the words to look up, in order; the last one is the
default, whether or not the dictionary has it.
"""

from __future__ import annotations

import functools
import lzma
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

_STEMMED = re.compile("[a-z]{3,22}")


@functools.cache
def _dictionary() -> tuple[Mapping[str, str], frozenset[str]]:
    """Return the root of each word of the dictionary, and the exceptions."""
    lines = lzma.decompress((Path(__file__).parent / "krovetz.txt.xz").read_bytes())
    roots, exceptions = {}, set()
    for line in lines.decode().splitlines():
        word, _, root = line.rstrip("!").partition(" ")
        roots[word] = root or word
        if line.endswith("!"):
            exceptions.add(word)
    return roots, frozenset(exceptions)


@functools.lru_cache(maxsize=1 << 17)
def krovetz(word: str) -> str:
    """Return the stem of a word in lower case; words that are not 3 to 22 letters stay.

    >>> [krovetz(word) for word in ("utilities", "running", "italians", "microcoding", "2nd")]
    ['utility', 'running', 'italy', 'microcode', '2nd']
    """
    if not _STEMMED.fullmatch(word):
        return word
    roots, _ = _dictionary()
    for ending, rule in _STEPS:
        if word in roots:
            break
        if _ends(word, ending):
            candidates = list(rule(word.removesuffix(ending)))
            word = next((each for each in candidates if each in roots), candidates[-1])
    return roots.get(word, word)


def _vowels(word: str) -> list[bool]:
    """Return which letters are vowels: y is one behind a letter that is none of aeiou."""
    pairs = zip("a" + word, word, strict=False)
    return [c in "aeiou" or (c == "y" and before not in "aeiou") for before, c in pairs]


def _undoubled(word: str) -> list[str]:
    """Return a word that ends in the same consonant twice with one of them, or nothing."""
    is_doubled = word[-1:] == word[-2:-1] and word and not _vowels(word)[-1]
    return [word[:-1]] if is_doubled else []


def _ends(word: str, ending: str) -> bool:
    return len(word) > len(ending) and word.endswith(ending)


def _plural(word: str) -> Iterator[str]:
    if _ends(word, "ies"):
        yield word[:-1]
        yield word[:-3] + "y"
    elif _ends(word, "es"):
        if len(word) > 3 and not word.endswith("sses"):
            yield word[:-1]
        yield word[:-2]
        yield word[:-1]
    elif len(word) > 3 and word[-1] == "s" and not word.endswith(("ss", "ous")):
        yield word[:-1]
    else:
        yield word


def _past(word: str) -> Iterator[str]:
    if len(word) > 4 and word.endswith("ied"):
        yield word[:-1]
        yield word[:-3] + "y"
    elif len(word) > 4 and word.endswith("ed") and any(_vowels(word[:-2])):
        default = [word] if word.startswith("un") else [word[:-1]]
        yield from _inflected(word[:-2], default)
    else:
        yield word


def _progressive(word: str) -> Iterator[str]:
    stem = word[:-3]
    if len(word) > 5 and word.endswith("ing") and any(_vowels(stem)):
        has_two = len(stem) > 1 and not any(_vowels(stem)[-2:])
        yield from _inflected(stem, [stem if has_two else stem + "e"])
    else:
        yield word


def _inflected(stem: str, default: list[str]) -> Iterator[str]:
    """Yield what a word that lost -ed or -ing may come from."""
    roots, exceptions = _dictionary()
    if stem + "e" in roots and stem + "e" not in exceptions:
        yield stem + "e"
        return
    yield stem
    single = _undoubled(stem)
    yield from [*single, stem] if single else default


def _ity(stem: str) -> Iterator[str]:
    yield stem
    yield stem + "e"
    if stem.endswith("il"):
        yield stem[:-2] + "le"
    else:
        yield stem + "e" if stem.endswith("iv") else stem


def _ness(stem: str) -> Iterator[str]:
    yield stem[:-1] + "y" if stem.endswith("i") else stem


def _ion(word: str) -> Iterator[str]:
    if _ends(word, "ization"):
        yield word[:-5] + "e"
        return
    if _ends(word, "ition"):
        yield word[:-5] + "e"
    if _ends(word, "ation"):
        yield word[:-3] + "e"
        yield word[:-5] + "e"
        yield word[:-5]
    if _ends(word, "ication"):
        yield word[:-7] + "y"
    if _ends(word, "ion"):
        yield word[:-3] + "e"
        yield word[:-3]
    yield word


def _er_and_or(word: str) -> Iterator[str]:
    stem = word[:-2]
    if _ends(word, "izer"):
        yield word[:-1]
        return
    if _ends(word, "er") or _ends(word, "or"):
        yield from _undoubled(stem)
        if stem.endswith("i"):
            yield stem[:-1] + "y"
        if stem.endswith("e"):
            yield stem[:-1]
        yield stem + "e" if stem.endswith("i") else word[:-1]
        yield stem
        yield stem + "e"
    yield word


def _ly(stem: str) -> Iterator[str]:
    yield stem + "le"
    yield stem
    if stem.endswith("ab"):
        yield stem + "le"
        return
    if stem.endswith("i"):
        yield stem[:-1] + "y"
    yield stem


def _al(stem: str) -> Iterator[str]:
    yield stem
    yield from _undoubled(stem)
    yield stem + "e"
    yield stem + "um"
    if stem.endswith("ic"):
        yield stem[:-2]
        yield stem[:-2] + "y"
        yield stem
        return
    if stem.endswith("i"):
        yield stem[:-1]
    yield stem + "al"


def _ive(stem: str) -> Iterator[str]:
    yield stem
    yield stem + "e"
    if stem.endswith("at"):
        yield stem[:-2] + "e"
        yield stem[:-2]
    yield stem + "ion"
    yield stem + "ive"


def _ize(stem: str) -> Iterator[str]:
    yield stem
    yield from _undoubled(stem)
    yield stem + "e"
    yield stem + "ize"


def _ment(stem: str) -> Iterator[str]:
    yield stem
    yield stem + "ment"


def _ble(stem: str) -> Iterator[str]:
    if stem[-1] in "ai":
        base = stem[:-1]
        yield base
        yield from _undoubled(base)
        yield base + "e"
        yield base + "ate"
    yield stem + "ble"


def _ism(stem: str) -> Iterator[str]:
    yield stem


def _ic(stem: str) -> Iterator[str]:
    yield stem + "ical"
    yield stem + "y"
    yield stem + "e"
    yield stem
    yield stem + "ic"


def _ncy(stem: str) -> Iterator[str]:
    if stem[-1] in "ea":
        yield stem + "nt"
        yield stem + "nce"
    else:
        yield stem + "ncy"


def _nce(stem: str) -> Iterator[str]:
    if stem[-1] in "ea":
        yield stem[:-1] + "e"
        yield stem[:-1]
    yield stem + "nce"


_STEPS: tuple[tuple[str, Callable[[str], Iterator[str]]], ...] = (
    ("", _plural),
    ("", _past),
    ("", _progressive),
    ("ity", _ity),
    ("ness", _ness),
    ("", _ion),
    ("", _er_and_or),
    ("ly", _ly),
    ("al", _al),
    ("ive", _ive),
    ("ize", _ize),
    ("ment", _ment),
    ("ble", _ble),
    ("ism", _ism),
    ("ic", _ic),
    ("ncy", _ncy),
    ("nce", _nce),
)
"""Each ending, and the rule for what is before it; rules without an ending take the whole word."""
