"""Lexical units: what a word becomes in an index, its stem or the n-grams within it.

Stems or n-grams, not both, as in the grid of points (Ferro & Silvello, 2016). An index needs only
the units that topics use, so that of the map from words to units only that part is kept.

Porter's and Snowball's English stemmers are PyStemmer's; `krovetz` has its module. The weak Porter
stemmer is Porter's first step alone. Lovins' stemmer removes one ending, the longest whose
condition holds, then respells the stem (J. B. Lovins, Development of a stemming algorithm,
Mechanical Translation and Computational Linguistics 11, 1968: 294 endings, 29 conditions on what
they leave, 35 transformations).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from steadyrank.errors import check_choice
from steadyrank_lab.retrieval.engine.krovetz import krovetz

# What must stand before an ending; two letters at least, always.
_CONDITIONS = """
    A:.. B:... C:.... D:..... E:.[^e] F:..[^e] G:..f H:.t|ll I:.[^oe] J:.[^ae] K:..[li]|u.e
    L:.[^uxs]|os M:.[^acem] N:[^s]..|.... O:.[li] P:.[^c] Q:..[^ln] R:.[nr] S:dr|[^t]t T:.s|[^o]t
    U:.[lmnr] V:.c W:.[^su] X:.[li]|u.e Y:in Z:.[^f] AA:.[dflt]|ph|th|er|or|es
    BB:...(?<!met)(?<!ryst) CC:.l
"""

_ENDINGS = {
    "A": """
        arizability antialness arisations arizations entialness antaneous antiality arisation
        arization ativeness entations entiality entialize entiation ionalness istically itousness
        izability izational ableness arizable entation entially eousness ibleness icalness ionalism
        ionality ionalize iousness izations lessness ability aically alities aristic arizing ateness
        atingly atively ativism encible entally entials entiate entness fulness ibility icalism
        icalist icality icalize icianry ination ingness ionally isation ishness istical iteness
        iveness ivistic ivities izement oidally ousness aceous alness ancial ancies ariser arized
        arizer atable atives efully encies encing ential entist eously ialist iality ialize ically
        icance icians icists ifully ionals ioning ionist iously istics lessly nesses oidism acies
        acity aical alist ality alize arial aries arily arize aroid ately ative ators atory ehood
        eless elity ement enced ences ental ently fully ially icant ician icide icism icist icity
        iedly ihood inate iness ional ioned ished istic ities itous ively ivity oidal oides otide
        ously able ably aric ates ator eful eity ence ency eous hood ials ians ible ibly ical iers
        iful ious ists less lily ness ogen ward wise yish acy aic ata ate ese ful ial ian ics ied
        ier ily ist ity ium ive oid ous ae ia ic is s' 's a e i o""",
    "B": """
        alistically izationally ationally alistic ational acious ancing ations aging alism anced
        ances arity ation ingly ages ally ance ancy ants atic ions isms ying age ant ism as ly y""",
    "C": "allically enting antic ented ent ish",
    "D": "ionate",
    "E": "eableness ariness elihood izable ature eness ening edly ened enly ely ene ery ed es",
    "F": "ization izers izing ized izer ary ize en",
    "G": "ication action",
    "H": "itic",
    "I": "ating idine ated",
    "J": "inism",
    "K": "arly",
    "L": "ides ide",
    "M": "ines ine",
    "N": "ings ing",
    "O": "ars",
    "P": "ies",
    "Q": "ion",
    "R": "one yl",
    "S": "on",
    "T": "or",
    "U": "um",
    "V": "us",
    "W": "s",
    "X": "ar",
    "Y": "early ealy eal ear",
    "Z": "eature",
    "AA": "ite",
    "BB": "allic als al",
    "CC": "inity",
}

_BEFORE = dict(pair.split(":") for pair in _CONDITIONS.split())
ENDINGS = {
    ending: re.compile(f"(?:{_BEFORE[condition]})$")
    for condition, endings in _ENDINGS.items()
    for ending in endings.split()
}
"""Each ending, and what must match before it."""

_LONGEST = max(map(len, ENDINGS))

_DOUBLES = frozenset(letter * 2 for letter in "bdglmnprst")

_TRANSFORMATIONS = """
    iev:ief uct:uc umpt:um rpt:rb urs:ur istr:ister metr:meter olv:olut ul:l bex:bic dex:dic
    pex:pic tex:tic ax:ac ex:ec ix:ic lux:luc uad:uas vad:vas cid:cis lid:lis erid:eris
    pand:pans end:ens ond:ons lud:lus rud:rus her:hes mit:mis ent:ens ert:ers et:es yt:ys yz:ys
"""
_RESPELLED = dict(pair.split(":") for pair in _TRANSFORMATIONS.split())
_NOT_AFTER = {"ul": "aoi", "end": "s", "her": "pt", "ent": "m", "et": "n"}
_SPELLINGS = re.compile(
    "|".join(
        f"(?<![{_NOT_AFTER[old]}]){old}$" if old in _NOT_AFTER else f"{old}$" for old in _RESPELLED
    )
)


def lovins(word: str) -> str:
    """Return the stem of a word in lower case.

    >>> [lovins(word) for word in ("nationally", "sitting", "matrix", "matrices", "rubbing")]
    ['nat', 'sit', 'matric', 'matric', 'rub']
    """
    stem = _without_ending(word)
    if stem[-2:] in _DOUBLES:
        stem = stem[:-1]
    return _SPELLINGS.sub(lambda match: _RESPELLED[match[0]], stem)


def _without_ending(word: str) -> str:
    for size in range(min(_LONGEST, len(word) - 2), 0, -1):
        condition = ENDINGS.get(word[-size:])
        if condition is not None and condition.search(word[:-size]):
            return word[:-size]
    return word


def stem_words(words: Iterable[str], stemmer: str) -> list[str]:
    """Return the stem of each word.

    >>> words = ["generalizations", "running", "ponies"]
    >>> stem_words(words, "porter"), stem_words(words, "weakporter")
    (['gener', 'run', 'poni'], ['generalization', 'run', 'poni'])
    >>> stem_words(words, "english"), stem_words(words, "lovins")
    (['general', 'run', 'poni'], ['general', 'run', 'pon'])
    """
    check_choice("stemmer", stemmer, STEMMERS)
    words = list(words)
    stems = STEMMERS[stemmer](words)
    return [stem or word for stem, word in zip(stems, words, strict=True)]


def _snowball(algorithm: str) -> Callable[[list[str]], list[str]]:
    def stems(words: list[str]) -> list[str]:
        import Stemmer

        return list(Stemmer.Stemmer(algorithm, 0).stemWords(words))

    return stems


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
    """Return a stem that lost -ed or -ing, with the e that went too, or one of two consonants."""
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
        "krovetz": lambda words: list(map(krovetz, words)),
        "lovins": lambda words: list(map(lovins, words)),
        "weakporter": lambda words: list(map(weak_porter, words)),
    }
)


GRAM_SIZES = range(4, 11)
UNITS = (*STEMMERS, *(f"{size}grams" for size in GRAM_SIZES))
"""Every lexical unit by name."""


def lexical_units(words: Sequence[str], unit: str) -> list[Sequence[str]]:
    """For each word, the units of it, in order; of stems there is one each.

    n-grams do not cross words; a word shorter than n is a unit.

    >>> [list(units) for units in lexical_units(["river", "bank"], "4grams")]
    [['rive', 'iver'], ['bank']]
    >>> [list(units) for units in lexical_units(["rivers", "sea"], "porter")]
    [['river'], ['sea']]
    """
    check_choice("lexical unit", unit, UNITS)
    if unit in STEMMERS:
        return [(stem,) for stem in stem_words(words, unit)]
    size = int(unit.removesuffix("grams"))
    return [[word[i : i + size] for i in range(max(len(word) - size, 0) + 1)] for word in words]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnitMap:
    """The words of a collection that have units of topics' words.

    Entry e says that unit[e] is number offset[e] among the units of word[e], from 0 on. `total` is
    the number of units of each word, those included that topics lack. `of_topics` has the units of
    the topics' words, in order.
    """

    units: tuple[str, ...]
    unit: np.ndarray
    word: np.ndarray
    offset: np.ndarray
    total: np.ndarray
    of_topics: Mapping[str, tuple[int, ...]]


@functools.lru_cache(maxsize=len(UNITS))
def map_units(words: tuple[str, ...], topic_words: frozenset[str], unit: str) -> UnitMap:
    """Return the units of a collection's words, as far as topics of these words can use them."""
    query_words = sorted(topic_words)
    asked = lexical_units(query_words, unit)
    units = sorted({form for group in asked for form in group})
    place = {form: i for i, form in enumerate(units)}
    groups = lexical_units(words, unit)
    entries = [
        (place[form], w, i)
        for w, group in enumerate(groups)
        for i, form in enumerate(group)
        if form in place
    ]
    unit_of, word_of, offset = np.array(entries, np.int32).reshape(-1, 3).T
    return UnitMap(
        units=tuple(units),
        unit=unit_of,
        word=word_of,
        offset=offset,
        total=np.fromiter(map(len, groups), np.int64, len(words)),
        of_topics={
            word: tuple(place[form] for form in group)
            for word, group in zip(query_words, asked, strict=True)
        },
    )
