"""What reading found odd, in words: counted, in the singular where there is one of them."""

from __future__ import annotations

from collections.abc import Mapping

from steadyrank.words import counted

LONG_LINES = "lines with more fields than expected, the rest ignored"
OTHER_TAGS = "lines whose tag differs from the first"
OTHER_RUNS = "rows whose run differs from the first"
INFINITE_SCORES = "infinite scores"
REPEATED_DOCUMENTS = "repeated documents dropped"
REPEATED_JUDGMENTS = "judgments repeated with the same grade"

_ONE: Mapping[str, str] = {
    LONG_LINES: "line with more fields than expected, the rest ignored",
    OTHER_TAGS: "line whose tag differs from the first",
    OTHER_RUNS: "row whose run differs from the first",
    INFINITE_SCORES: "infinite score",
    REPEATED_DOCUMENTS: "repeated document dropped",
    REPEATED_JUDGMENTS: "judgment repeated with the same grade",
}

_ADVICE: Mapping[str, str] = {
    OTHER_TAGS: "the first tag names the run",
    OTHER_RUNS: "the first one names the run",
    INFINITE_SCORES: "they rank first or last",
}


def counted_oddity(what: str, count: int) -> str:
    """How often something odd was seen.

    >>> counted_oddity(INFINITE_SCORES, 1), counted_oddity(INFINITE_SCORES, 2)
    ('1 infinite score', '2 infinite scores')
    """
    return counted(count, _ONE.get(what, what), what)


def oddity_warning(what: str, count: int) -> str:
    """The same, with what was done about it.

    >>> oddity_warning(INFINITE_SCORES, 2)
    '2 infinite scores (they rank first or last)'
    """
    advice = f" ({_ADVICE[what]})" if what in _ADVICE else ""
    return counted_oddity(what, count) + advice
