"""Names of runs as outputs show them: without common parts, and shortened.

Runs of a track may have names of sixty characters of which fifty are equal. A legend says what is
left out; tooltips of a page, CSV and JSON have the full names. Studies use the full names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

LONGEST = 28
"""Number of characters of a name; a longer one shows the words that few names have."""

SHORT = 20
"""Number of characters up to which names are shown unchanged."""

LEAST_COMMON = 4
"""Number of common characters from which on they are left out."""

_WORD = re.compile(r"[A-Za-z]{1,11}|[\d.,]+")
"""Words and numbers that a sentence may contain without naming a run."""

_ENDS_WORD = re.compile(r"[^0-9A-Za-z]")


@dataclass(frozen=True)
class RunNames:
    """The names of runs as outputs show them."""

    shown: Mapping[str, str] = field(default_factory=dict)
    """Name to what is shown, for names that are not shown unchanged."""
    prefix: str = ""
    """The common beginning of all names, which is left out."""
    suffix: str = ""
    words: frozenset[str] = frozenset()
    """Other words of the page, such as measures, which are not names of runs in sentences."""
    whole: Mapping[str, str] = field(default_factory=dict)
    """Name that the user chose to the name in the files, which tooltips show."""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Longer names first: one may be the beginning of another.
        names = sorted(self._in_sentences, key=lambda name: (-len(name), name))
        either = "|".join(map(re.escape, names)) or "(?!)"
        return re.compile(rf"(?<!\w)(?:{either})(?!\w)")

    @cached_property
    def _in_sentences(self) -> list[str]:
        """Names that cannot be mistaken for a word or a number of a sentence."""
        return [name for name in self.shown if not (_WORD.fullmatch(name) or name in self.words)]

    @cached_property
    def _shortest(self) -> int:
        return min(map(len, self._in_sentences), default=sys.maxsize)

    def parts(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield pieces of a text as the page shows it, each with the full name, if it is one."""
        if not self.shown or len(text) < self._shortest:
            yield text, ""
            return
        end = 0
        for match in self._pattern.finditer(text):
            if match.start() > end:
                yield text[end : match.start()], ""
            yield self.shown[match.group()], self.told(match.group())
            end = match.end()
        if end < len(text):
            yield text[end:], ""

    def told(self, name: str) -> str:
        """Return the tooltip of a run's name."""
        return self.whole.get(name, name)

    def text(self, text: str) -> str:
        """Return the text with names as the page shows them."""
        return "".join(piece for piece, _ in self.parts(text))

    def cell(self, text: str) -> str:
        """Return the text with names as shown; the text may be a name."""
        return self.shown.get(text) or self.text(text)

    def legend(self, where: str = "hover over a name to see it in full") -> str:
        """Return a sentence about how names are shown; nothing if they are unchanged."""
        left_out = [
            f"“{part}” at the {end}"
            for part, end in ((self.prefix, "start"), (self.suffix, "end"))
            if part
        ]
        if left_out:
            without = f"Names of runs are shown without {' and '.join(left_out)}"
            return f"{without}; {where}."
        if any(short != name for name, short in self.shown.items()):
            return f"Long names of runs are shortened; {where}."
        return ""


def run_names(
    names: Sequence[str], chosen: Mapping[str, str] | None = None, words: Collection[str] = ()
) -> RunNames:
    """Return what to show for these names: without their common parts, or as `chosen`.

    `words` are other words in sentences, such as measures: a name that equals one of them, or looks
    like a word, is not changed in sentences. `chosen` maps the names to those in the files.

    >>> names = run_names(["trec28_bm25_title.run", "trec28_dense_title.run"])
    >>> list(names.shown.values())
    ['bm25', 'dense']
    >>> names.text("trec28_dense_title.run leads.")
    'dense leads.'
    """
    if chosen:
        return RunNames({n: n for n in chosen}, words=frozenset(words), whole=chosen)
    if max(map(len, names), default=0) <= SHORT:
        return RunNames(words=frozenset(words))
    prefix, suffix = common_parts(names)
    stripped = [name[len(prefix) : len(name) - len(suffix)] for name in names]
    short = elided(stripped)
    shown = {name: text for name, text in zip(names, short, strict=True) if text != name}
    return RunNames(shown, prefix, suffix, frozenset(words))


def common_parts(names: Sequence[str]) -> tuple[str, str]:
    """Return the common beginning and end of all names, in whole words.

    They are empty if they are short, or if nothing of a name would remain; if only a number of a
    name would remain, the word before it is kept.

    >>> common_parts(["run_a.gz", "run_b.gz"]), common_parts(["bm25", "bm25f"])
    (('run_', '.gz'), ('', ''))
    """
    if len(names) < 2:
        return "", ""
    prefix = _whole_words(_same_start(names))
    rest = [name[len(prefix) :] for name in names]
    suffix = _whole_words(_same_start([name[::-1] for name in rest]))[::-1]
    if any(part.removesuffix(suffix).isdigit() for part in rest):
        # A number alone is no name in a sentence.
        prefix = _whole_words(prefix[:-1])
        rest = [name[len(prefix) :] for name in names]
    if len(prefix) + len(suffix) < LEAST_COMMON or min(map(len, rest)) <= len(suffix):
        return "", ""
    return prefix, suffix


def _same_start(names: Sequence[str]) -> str:
    """Return the common beginning, which is that of the first and the last name in order."""
    first, last = min(names), max(names)
    return "".join(
        letter
        for letter, _ in takewhile(lambda two: two[0] == two[1], zip(first, last, strict=False))
    )


def _whole_words(text: str) -> str:
    """Return the text up to the end of its last word, so that run_1 and run_12 keep numbers."""
    ends = [match.end() for match in _ENDS_WORD.finditer(text)]
    return text[: ends[-1]] if ends else ""


def elided(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Shorten names to at most `longest` characters; different names stay different.

    A name keeps its beginning, and of the rest what follows the part that all long names share.

    >>> elided(["reranker_large_seed_1_of_a_track", "reranker_small_seed_2_of_a_track"], 20)
    ['rera…large_seed_1_o…', 'rera…small_seed_2_o…']
    """
    half = longest // 2
    short = [
        name if len(name) <= longest else f"{name[: longest - half - 1]}…{name[-half:]}"
        for name in names
    ]
    for places in _alike(short, names):
        begin = longest // 5
        start = max(begin, len(_same_start([names[place] for place in places])))
        for place in places:
            rest = names[place][start : start + longest - begin - 2]
            short[place] = f"{names[place][:begin]}…{rest}…"
    whole = {place for places in _alike(short, names) for place in places}
    return [names[place] if place in whole else text for place, text in enumerate(short)]


def _alike(short: Sequence[str], names: Sequence[str]) -> list[list[int]]:
    """Return the places of different names that look equal."""
    groups: dict[str, list[int]] = {}
    for place, text in enumerate(short):
        groups.setdefault(text, []).append(place)
    return [places for places in groups.values() if len({names[place] for place in places}) > 1]


_AS_THEY_ARE = RunNames()
_SHOWN: ContextVar[RunNames] = ContextVar("names that figures show", default=_AS_THEY_ARE)


@contextmanager
def shown_as(names: RunNames) -> Iterator[None]:
    """Show names of runs in this way in figures and tables that are made inside."""
    token = _SHOWN.set(names)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def names_shown() -> RunNames:
    """Return the names that figures and tables currently show."""
    return _SHOWN.get()


def name_in_figure(text: str) -> str:
    """Return a name, or a text with names, as figures currently show it."""
    return _SHOWN.get().cell(text)


def names_of(subject: Any, chosen: Collection[str] = ()) -> RunNames:
    """Return the names to show for a result, or for the first of several; `chosen` names stay."""
    several = getattr(subject, "results", subject)
    result = several[0] if isinstance(several, (tuple, list)) and several else subject
    runs = [getattr(run, "run", run) for run in getattr(result, "runs", ())]
    return run_names([run for run in runs if isinstance(run, str) and run not in chosen])
