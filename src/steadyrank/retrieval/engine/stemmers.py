"""Six ways to bring the forms of a word together, by name, over a whole vocabulary at once.

Porter's and Snowball's English stemmers are PyStemmer's, Krovetz's is the package KrovetzStemmer's
(extra `steadyrank[krovetz]`: it needs a C++ compiler). Lovins' and the weak Porter stemmer, which
is Porter's first step alone, are this package's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from steadyrank.errors import MachineError, unknown_name
from steadyrank.retrieval.engine.lovins import lovins

_KROVETZ = re.compile("[a-z]{3,22}")  # of longer words the library would overrun its buffer


def stem_words(words: Iterable[str], stemmer: str) -> list[str]:
    """The stem of each word.

    >>> words = ["generalizations", "running", "ponies"]
    >>> stem_words(words, "porter"), stem_words(words, "weakporter")
    (['gener', 'run', 'poni'], ['generalization', 'run', 'poni'])
    >>> stem_words(words, "english"), stem_words(words, "lovins")
    (['general', 'run', 'poni'], ['general', 'run', 'pon'])
    """
    if stemmer not in STEMMERS:
        raise unknown_name("stemmer", stemmer, STEMMERS)
    words = list(words)
    stems = STEMMERS[stemmer](words)
    return [stem or word for stem, word in zip(stems, words, strict=True)]


def _snowball(algorithm: str) -> Callable[[list[str]], list[str]]:
    def stems(words: list[str]) -> list[str]:
        import Stemmer

        return list(Stemmer.Stemmer(algorithm, 0).stemWords(words))

    return stems


def _krovetz(words: list[str]) -> list[str]:
    try:
        from krovetzstemmer import Stemmer
    except ImportError:
        raise MachineError(
            "the Krovetz stemmer needs the package KrovetzStemmer and a C++ compiler to build "
            "it: pip install 'steadyrank[krovetz]', or omit it"
        ) from None
    stem = Stemmer().stem
    return [stem(word) if _KROVETZ.fullmatch(word) else word for word in words]


def weak_porter(word: str) -> str:
    """Step 1 of Porter's stemmer: plurals, -ed and -ing, and a last y.

    M. F. Porter, An algorithm for suffix stripping, Program 14 (1980),
    doi:10.1108/eb046814. Words of two letters stay, as in his own implementation.

    >>> [weak_porter(word) for word in ("caresses", "agreed", "hopping", "filing", "happy")]
    ['caress', 'agree', 'hop', 'file', 'happi']
    """
    if len(word) < 3:
        return word
    word = _past_and_progressive(_singular(word))
    if word.endswith("y") and "v" in _letters(word[:-1]):
        return word[:-1] + "i"
    return word


def _singular(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past_and_progressive(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if "vc" in _letters(word[:-3]) else word
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem != word:
            return _mended(stem) if "v" in _letters(stem) else word
    return word


def _mended(stem: str) -> str:
    """A stem that lost -ed or -ing, with the e that went too, or one of two consonants."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    letters = _letters(stem)
    if letters.endswith("c") and stem[-2:-1] == stem[-1] and stem[-1] not in "lsz":
        return stem[:-1]
    ends_cvc = letters.endswith("cvc") and stem[-1] not in "wxy"
    return stem + "e" if ends_cvc and len(re.findall("v+c+", letters)) == 1 else stem


def _letters(stem: str) -> str:
    """c for each consonant and v for each vowel; y is a vowel behind a consonant."""
    kinds: list[str] = []
    for letter in stem:
        is_vowel = letter in "aeiou" or (letter == "y" and kinds[-1:] == ["c"])
        kinds.append("v" if is_vowel else "c")
    return "".join(kinds)


STEMMERS: Mapping[str, Callable[[list[str]], list[str]]] = MappingProxyType(
    {
        "none": list,
        "porter": _snowball("porter"),
        "english": _snowball("english"),
        "krovetz": _krovetz,
        "lovins": lambda words: list(map(lovins, words)),
        "weakporter": lambda words: list(map(weak_porter, words)),
    }
)
