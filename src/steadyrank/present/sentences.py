"""Numbers and names as a report's sentences have them."""

from __future__ import annotations

from collections.abc import Sequence

from steadyrank.present.anova import listed

MOST_NAMES = 4
"""Names in a sentence; of more, the first and how many others."""

_NUMBERS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def number_word(n: int) -> str:
    """Small numbers as words.

    >>> number_word(3), number_word(40), number_word(1200)
    ('three', '40', '1,200')
    """
    return _NUMBERS[n] if n < len(_NUMBERS) else f"{n:,}"


def counted(n: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "topic"), counted(1200, "run")
    ('1 topic', '1,200 runs')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def some(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names in a row, cut where they are many.

    >>> some(["a", "b"]), some(["a", "b", "c", "d", "e", "f"], 3)
    ('a and b', 'a, b, c and 3 others')
    """
    if len(names) <= most + 1:
        return listed(list(names))
    return listed([*names[:most], f"{len(names) - most:,} others"])


def chance(share: float) -> str:
    """A probability in percent: whole, but for the ends, which are never quite reached.

    >>> [chance(share) for share in (0.5, 0.943, 0.9962, 0.99999, 1.0, 0.004, 0.0)]
    ['50%', '94%', '99.6%', 'more than 99.9%', 'more than 99.9%', '0.4%', 'less than 0.1%']
    """
    if share > 0.9990:
        return "more than 99.9%"
    if share < 0.0010:
        return "less than 0.1%"
    return f"{share:.1%}" if share >= 0.985 or share < 0.015 else f"{share:.0%}"
