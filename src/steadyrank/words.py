"""Texts of numbers and names in sentences and tables.

An unknown number is a dash; small p-values and probabilities are shown as less than a bound instead
of 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

MISSING = "–"
"""The text of an unknown number."""

MOST_NAMES = 4
"""Number of names that a sentence lists; the others are counted."""

_NUMBERS = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)

MILLION = 1_000_000
_MINUS = re.compile(r"(?<=[\s(\[])-(?=\.?\d)")


def weighted_words(effective: float | None) -> str:
    """Return the effective number of weighted topics, to follow their number.

    >>> "50 topics" + weighted_words(4.04)
    '50 topics, weighted (as many as 4.0 of equal weight)'
    """
    return "" if effective is None else f", weighted (as many as {effective:,.1f} of equal weight)"


def by_number(number: float, one: str, many: str) -> str:
    """Return the words for one, or those for any other number.

    >>> f"1 of 3 topics {by_number(1, 'has', 'have')} no relevant document"
    '1 of 3 topics has no relevant document'
    """
    return one if number == 1 else many


def counted(number: float, one: str, many: str | None = None, *, form: str = ",d") -> str:
    """Return a number and what it counts; `many` is the plural unless it is `one` with an s.

    >>> counted(1, "run"), counted(0, "run"), counted(1326, "run"), counted(2.5, "run", form=".3g")
    ('1 run', '0 runs', '1,326 runs', '2.5 runs')
    >>> counted(1, "run lacks", "runs lack"), counted(2, "run lacks", "runs lack")
    ('1 run lacks', '2 runs lack')
    """
    return f"{number:{form}} {by_number(number, one, many or one + 's')}"


def number_word(number: int) -> str:
    """Return small numbers as words.

    >>> number_word(3), number_word(40), number_word(1200)
    ('three', '40', '1,200')
    """
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"


def size(number: float) -> str:
    """Return the text of a required number, such as of topics, if it is at most a million.

    >>> size(254), size(8404), size(7_593_205)
    ('254', '8,404', 'more than a million')
    """
    return "more than a million" if number > MILLION else f"{number:,.0f}"


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Join parts of a sentence, the last one by "and" or another word.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def some(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """List names; of many names, the first ones and the number of others.

    >>> some(["a", "b"]), some(["a", "b", "c", "d", "e", "f"], 3)
    ('a and b', 'a, b, c and 3 others')
    """
    if len(names) <= most + 1:
        return listed(names)
    return listed([*names[:most], f"{len(names) - most:,} others"])


def best_words(
    names: Sequence[str], total: int, sure: str, *, most: int = MOST_NAMES, noun: str = "run"
) -> str:
    """Say which runs could be the best.

    >>> best_words(["a", "b"], 9, "With 95% confidence")
    'With 95% confidence the best run is one of two: a and b.'
    """
    if len(names) == total:
        return f"{sure} no {noun} can be ruled out as the best."
    if len(names) == 1:
        return f"{sure} {names[0]} is the best of these {noun}s."
    few = number_word(len(names))
    return f"{sure} the best {noun} is one of {few}: {some(names, most)}."


def level_words(alpha: float, comparisons: int = 1) -> str:
    """Return a level of significance, and the number of comparisons that it holds for.

    >>> level_words(0.05), level_words(0.05, 153)
    ('alpha 0.05', 'alpha 0.05 over 153 comparisons')
    """
    return f"alpha {alpha:g}" + (f" over {comparisons:,} comparisons" if comparisons > 1 else "")


def count_or_share(n: int, total: int, few: int = 20) -> str:
    """Return a number out of few, or a share of many.

    >>> count_or_share(0, 3), count_or_share(2, 3), count_or_share(94, 325)
    ('None', '2', '29%')
    """
    return f"{n / total:.0%}" if total >= few else f"{n}" if n else "None"


def percent(rate: float) -> str:
    """Return a rate in percent, with two digits.

    >>> percent(0.183), percent(0.0312), percent(0.0002)
    ('18%', '3.1%', 'less than 0.1%')
    """
    if rate < 0.001:
        return "less than 0.1%"
    return f"{rate:.0%}" if rate >= 0.0995 else f"{100 * rate:.2g}%"


def roughly(share: float) -> str:
    """Return a predicted share in percent, without decimals.

    >>> roughly(0.0912), roughly(0.004)
    ('about 9%', 'less than 1%')
    """
    return f"about {share:.0%}" if share >= 0.005 else "less than 1%"


def swap_words(
    share: float, n_rows: int, rows: str = "runs", said: Callable[[float], str] = percent
) -> str:
    """Say which share of pairs changes its order; of two rows, the probability that they swap.

    >>> swap_words(0.17, 9), swap_words(0.17, 2, said=roughly)
    ('17% of the pairs of runs change their order', 'the two runs swap with probability about 17%')
    """
    if n_rows == 2:
        return f"the two {rows} swap with probability {said(share)}"
    return f"{said(share)} of the pairs of {rows} change their order"


def chance(share: float, n_draws: int = 1000) -> str:
    """Return a probability in percent, which is never 0% or 100%.

    With fewer than 1,000 draws, the smallest known probability is that of one draw.

    >>> [chance(share) for share in (0.5, 0.943, 0.9962, 0.99999, 1.0, 0.004, 0.0)]
    ['50%', '94%', '99.6%', 'more than 99.9%', 'more than 99.9%', '0.4%', 'less than 0.1%']
    >>> chance(0.0, 100), chance(1.0, 200), chance(0.0, 20_000)
    ('less than 1%', 'more than 99.5%', 'less than 0.1%')
    """
    least = max(0.001, 1.0 / n_draws)
    if share > 1.0 - least:
        return f"more than {100 * (1.0 - least):.3g}%"
    if share < least:
        return f"less than {100 * least:.3g}%"
    return f"{share:.1%}" if share >= 0.985 or share < 0.015 else f"{share:.0%}"


def pvalue_words(value: float) -> str:
    """Return a p-value for a sentence, with two digits.

    >>> pvalue_words(0.0123), pvalue_words(1e-9)
    ('p = 0.012', 'p < 0.0001')
    """
    return "p < 0.0001" if value < 0.0001 else f"p = {value:.2g}"


def pvalue(value: float) -> str:
    """Return a p-value for a table, with four decimals.

    >>> [pvalue(p) for p in (0.25, 3.64e-85, float("nan"))]
    ['0.2500', '< 0.0001', '–']
    """
    if math.isnan(value):
        return MISSING
    return f"{value:.4f}" if value >= 1e-4 else "< 0.0001"


def figure(value: float | None, form: str, *, endless: str | None = None) -> str:
    """Return a number for a table; `endless` is the text of infinity.

    >>> figure(0.12345, ".4f"), figure(0.5, ".1%"), figure(float("nan"), ".4f"), figure(None, "d")
    ('0.1235', '50.0%', '–', '–')
    """
    if value is None or math.isnan(value):
        return MISSING
    return endless if endless is not None and math.isinf(value) else typeset(format(value, form))


def interval(ends: Sequence[float] | None, form: str, *, endless: str | None = None) -> str:
    """Return an interval for a table.

    >>> interval((0.0, 0.25), ".2f"), interval((51, math.inf), "d", endless="none")
    ('[0.00, 0.25]', '[51, none]')
    """
    if ends is None:
        return MISSING
    return f"[{', '.join(figure(end, form, endless=endless) for end in ends)}]"


def typeset(text: str) -> str:
    """Replace hyphens by minus signs in a text that consists of numbers.

    >>> typeset("[-0.01, +0.02]")
    '[−0.01, +0.02]'
    """
    return text.replace("-", "−")


def minus_signs(text: str) -> str:
    """Replace hyphens before numbers by minus signs in a sentence; hyphens in names stay.

    >>> minus_signs("tau = -0.07, from -.1 to 2; run-2 and -x")
    'tau = −0.07, from −.1 to 2; run-2 and -x'
    """
    return _MINUS.sub("−", text)


def exact(value: Any) -> str:
    """Return a value for CSV: a number with all digits, and nothing for a missing value.

    >>> exact(0.1), exact(12), exact(float("nan")), exact("AP")
    ('0.1', '12', '', 'AP')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def decimals_for(*values: float) -> str:
    """Return the format with at least two decimals that shows all digits of the numbers.

    >>> decimals_for(0.0, 0.01), decimals_for(0.005, 0.01), decimals_for(20.0, float("inf"))
    ('.2f', '.3f', '.2f')
    """
    exponents = [Decimal(f"{x:.12g}").as_tuple().exponent for x in values if math.isfinite(x)]
    return f".{max(2, *(-int(exponent) for exponent in exponents))}f"


def enough_digits(values: Iterable[float], least: int = 4) -> int:
    """Return the fewest decimals, from `least` to 6, with which different numbers look different.

    Numbers with the same six decimals count as equal.

    >>> enough_digits([0.25, 0.5]), enough_digits([0.25001, 0.25002]), enough_digits([0.2, 0.2], 3)
    (4, 5, 3)
    """
    known = [value for value in values if math.isfinite(value)]
    distinct = len({f"{value:z.6f}" for value in known})
    return next(
        d for d in range(least, 7) if d == 6 or len({f"{x:z.{d}f}" for x in known}) == distinct
    )


def filled(text: str, subject: Any) -> str:
    """Fill a text: `{name}` is an attribute of the subject, `{n_names}` the length of `names`.

    `{sure}` is the level of its intervals.

    >>> filled("slices of {n_args}, {args[0]} first", ValueError("red", "blue"))
    'slices of 2, red first'
    """
    return text.format_map(_Attributes(subject=subject))


class _Attributes(dict[str, Any]):
    """The values of placeholders."""

    def __missing__(self, key: str) -> Any:
        subject = self["subject"]
        if key == "sure":
            level = getattr(subject, "confidence", None)
            return f"{100.0 * (1.0 - subject.alpha if level is None else level):g}%"
        if key.startswith("n_") and not hasattr(subject, key):
            return len(getattr(subject, key[2:]))
        return getattr(subject, key)
