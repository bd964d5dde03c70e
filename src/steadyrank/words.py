"""Numbers in sentences, for whoever reads a warning, an error or a caption."""

from __future__ import annotations


def by_number(number: int, one: str, many: str) -> str:
    """The words for one, or for any other number.

    >>> f"1 of 3 topics {by_number(1, 'has', 'have')} no relevant document"
    '1 of 3 topics has no relevant document'
    """
    return one if number == 1 else many


def level_words(alpha: float, comparisons: int = 1) -> str:
    """A level of significance, and over how many comparisons it is kept.

    >>> level_words(0.05), level_words(0.05, 153)
    ('alpha 0.05', 'alpha 0.05 over 153 comparisons')
    """
    return f"alpha {alpha:g}" + (f" over {comparisons:,} comparisons" if comparisons > 1 else "")


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what it counts; `many` where an s at the end does not do.

    >>> counted(1, "run"), counted(0, "run"), counted(1326, "run")
    ('1 run', '0 runs', '1326 runs')
    >>> counted(1, "run lacks", "runs lack"), counted(2, "run lacks", "runs lack")
    ('1 run lacks', '2 runs lack')
    """
    return f"{number} {by_number(number, one, many or one + 's')}"
