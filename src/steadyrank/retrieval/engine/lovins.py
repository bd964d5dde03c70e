"""Lovins' stemmer: one ending goes, the longest whose condition holds, then the stem is respelled.

J. B. Lovins, Development of a stemming algorithm, Mechanical Translation and Computational
Linguistics 11 (1968): 294 endings, 29 conditions on what they leave, 35 transformations.
"""

from __future__ import annotations

import re

# What must stand before an ending; two letters at least, always.
_CONDITIONS = {
    "A": "..",
    "B": "...",
    "C": "....",
    "D": ".....",
    "E": ".[^e]",
    "F": "..[^e]",
    "G": "..f",
    "H": ".t|ll",
    "I": ".[^oe]",
    "J": ".[^ae]",
    "K": "..[li]|u.e",
    "L": ".[^uxs]|os",
    "M": ".[^acem]",
    "N": "[^s]..|....",
    "O": ".[li]",
    "P": ".[^c]",
    "Q": "..[^ln]",
    "R": ".[nr]",
    "S": "dr|[^t]t",
    "T": ".s|[^o]t",
    "U": ".[lmnr]",
    "V": ".c",
    "W": ".[^su]",
    "X": ".[li]|u.e",
    "Y": "in",
    "Z": ".[^f]",
    "AA": ".[dflt]|ph|th|er|or|es",
    "BB": "...(?<!met)(?<!ryst)",
    "CC": ".l",
}

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

ENDINGS = {
    ending: re.compile(f"(?:{_CONDITIONS[condition]})$")
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
    """The stem of a word in lower case.

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
