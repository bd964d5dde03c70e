"""Krovetz's stemmer: endings go if what is left is a word of its dictionary.

R. Krovetz, Viewing morphology as an inference process, SIGIR 1993, doi:10.1145/160688.160718. The
rules are those of the Lemur project's implementation, and the dictionary is its dictionary: head
words, exceptions (head words that -ed and -ing are not reduced to), and words that have a root,
such as italian and italy. A step yields the words to look up, in order; the last one is the
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
    for step in _STEPS:
        if word in roots:
            break
        forms = list(_forms(step, word) if isinstance(step, str) else step(word))
        word = next((form for form in forms if form in roots), forms[-1])
    return roots.get(word, word)


def _vowels(word: str) -> list[bool]:
    """Return which letters are vowels: y is one behind a letter that is none of aeiou."""
    pairs = zip("a" + word, word, strict=False)
    return [c in "aeiou" or (c == "y" and before not in "aeiou") for before, c in pairs]


def _undoubled(word: str) -> list[str]:
    """Return a word that ends in the same consonant twice with one of them, or nothing."""
    is_doubled = word[-1:] == word[-2:-1] and word and not _vowels(word)[-1]
    return [word[:-1]] if is_doubled else []


def _plural(word: str) -> Iterator[str]:
    if word.endswith("ies") and len(word) > 3:
        yield word[:-1]
        yield word[:-3] + "y"
    elif word.endswith("es") and len(word) > 2:
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
        yield from _inflected(word[:-2], word if word.startswith("un") else word[:-1])
    else:
        yield word


def _progressive(word: str) -> Iterator[str]:
    stem = word[:-3]
    if len(word) > 5 and word.endswith("ing") and any(_vowels(stem)):
        has_two = len(stem) > 1 and not any(_vowels(stem)[-2:])
        yield from _inflected(stem, stem if has_two else stem + "e")
    else:
        yield word


def _inflected(stem: str, default: str) -> Iterator[str]:
    """Yield what a word that lost -ed or -ing may come from."""
    roots, exceptions = _dictionary()
    if stem + "e" in roots and stem + "e" not in exceptions:
        yield stem + "e"
        return
    yield stem
    single = _undoubled(stem)
    yield from [*single, stem] if single else [default]


def _er_and_or(word: str) -> Iterator[str]:
    stem = word[:-2]
    if word.endswith("izer") and len(word) > 4:
        yield word[:-1]
        return
    if word.endswith(("er", "or")):
        yield from _undoubled(stem)
        if stem.endswith("i"):
            yield stem[:-1] + "y"
        if stem.endswith("e"):
            yield stem[:-1]
        yield stem + "e" if stem.endswith("i") else word[:-1]
        yield stem
        yield stem + "e"
    yield word


_STEPS: tuple[Callable[[str], Iterator[str]] | str, ...] = (
    _plural,
    _past,
    _progressive,
    "ity: - -e il>le. iv>ive. -.",
    "ness: i>y. -.",
    "ization: -ize. ition: -e ation: -ate -e - ication: -y ion: -e -",
    _er_and_or,
    "ly: -le - ab>able. i>y -.",
    "al: - = -e -um ic> ic>y ic>ic. i>",
    "ive: - -e at>e at> -ion",
    "ize: - = -e",
    "ment: -",
    "ble: a> a>= a>e a>ate i> i>= i>e i>ate",
    "ism: -.",
    "ic: -ical -y -e -",
    "ncy: e>ent a>ant e>ence. a>ance.",
    "nce: e>e a>e e> a>",
)
"""What a word is looked up as, step by step. Behind an ending, `-x` puts x in its place, `=` takes
one of two equal consonants before it, and `y>x` applies to what ends in y before it. A full stop
accepts the form even if the dictionary lacks it."""


@functools.cache
def _rules(step: str) -> tuple[tuple[str, tuple[tuple[str, str, bool], ...]], ...]:
    """Return the endings of a step, each with (what is before it, what replaces both, accepted)."""
    endings: list[tuple[str, list[tuple[str, str, bool]]]] = []
    for part in step.split():
        if part.endswith(":"):
            endings.append((part[:-1], []))
        else:
            form, accepted = part.rstrip("."), part.endswith(".")
            before, _, new = form.rpartition(">") if ">" in form else ("", "", form.lstrip("-"))
            endings[-1][1].append((before, new, accepted))
    return tuple((ending, tuple(rules)) for ending, rules in endings)


def _forms(step: str, word: str) -> Iterator[str]:
    """Yield the forms of a word by the rules of a step, up to the first that is accepted."""
    for ending, rules in _rules(step):
        if not word.endswith(ending) or len(word) == len(ending):
            continue
        stem = word.removesuffix(ending)
        for before, new, accepted in rules:
            if stem.endswith(before):
                rest = stem.removesuffix(before)
                yield from _undoubled(rest) if new == "=" else [rest + new]
                if accepted:
                    return
    yield word
