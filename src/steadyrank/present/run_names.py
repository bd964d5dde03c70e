"""Names of runs as outputs show them: without what all share, and without their middle.

Files of a track have names of sixty characters of which fifty are the same. What is left out is
said once in a legend; hovering over a name on a page tells the whole of it, CSV and JSON have it.
Numbers never depend on it: studies know runs by their own names.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any

LONGEST = 28
"""Characters of a name; of a longer one the middle is left out."""

SHORT = 20
"""Characters up to which all names are shown as they are."""

LEAST_COMMON = 4
"""Characters that all names must share before any is left out."""

_WORD = re.compile(r"[A-Za-z]{1,11}|[\d.,]+")
"""What a sentence may hold without meaning a run."""

_ENDS_WORD = re.compile(r"[^0-9A-Za-z]")


@dataclass(frozen=True)
class RunNames:
    """What a page shows for the names of runs, where that is not the name itself."""

    shown: Mapping[str, str] = field(default_factory=dict)
    prefix: str = ""
    """With which all names begin, and which is left out."""
    suffix: str = ""
    words: frozenset[str] = frozenset()
    """Other words of the page, such as measures, that a run may be named like."""
    whole: Mapping[str, str] = field(default_factory=dict)
    """What hovering tells of a name that somebody chose: the one in the files."""

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Longer names first: one may be the beginning of another.
        names = sorted(self._in_sentences, key=lambda name: (-len(name), name))
        either = "|".join(map(re.escape, names)) or "(?!)"
        return re.compile(rf"(?<!\w)(?:{either})(?!\w)")

    @cached_property
    def _in_sentences(self) -> list[str]:
        """Names that cannot be taken for a word or a number of a sentence."""
        return [name for name in self.shown if not (_WORD.fullmatch(name) or name in self.words)]

    @cached_property
    def _shortest(self) -> int:
        return min(map(len, self._in_sentences), default=sys.maxsize)

    def parts(self, text: str) -> Iterator[tuple[str, str]]:
        """Pieces of a text as the page shows it, each with the name that it stands for, if any."""
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
        """What hovering over a run's name tells."""
        return self.whole.get(name, name)

    def text(self, text: str) -> str:
        """The text with names as the page shows them."""
        return "".join(piece for piece, _ in self.parts(text))

    def cell(self, text: str) -> str:
        """The same where the text may be a name and nothing else."""
        return self.shown.get(text) or self.text(text)

    def legend(self, where: str = "hover over a name to see it in full") -> str:
        """What is done to names, in a sentence, and where the whole of them is; else nothing."""
        left_out = [
            f"“{part}” at the {end}"
            for part, end in ((self.prefix, "start"), (self.suffix, "end"))
            if part
        ]
        if left_out:
            without = f"Names of runs are shown without {' and '.join(left_out)}"
            return f"{without}; {where}."
        if any("…" in short for short in self.shown.values()):
            return f"Long names of runs are shortened in the middle; {where}."
        return ""


def run_names(
    names: Sequence[str], chosen: Mapping[str, str] | None = None, words: Collection[str] = ()
) -> RunNames:
    """What to show for these names: as `chosen`, or without what all have in common.

    `words` are others that sentences hold, such as measures: a name that looks like one of them, or
    like any word, is whole there. `chosen` has names that runs have already, and those in files.

    >>> names = run_names(["trec28_bm25_title.run", "trec28_dense_title.run"])
    >>> list(names.shown.values())
    ['bm25', 'dense']
    >>> names.text("trec28_dense_title.run leads.")
    'dense leads.'
    """
    if chosen:
        # The runs are called so everywhere: what is shown is the name itself.
        return RunNames({n: n for n in chosen}, words=frozenset(words), whole=chosen)
    if max(map(len, names), default=0) <= SHORT:
        return RunNames(words=frozenset(words))
    prefix, suffix = common_parts(names)
    stripped = [name[len(prefix) : len(name) - len(suffix)] for name in names]
    short = elided(stripped)
    shown = {name: text for name, text in zip(names, short, strict=True) if text != name}
    return RunNames(shown, prefix, suffix, frozenset(words))


def common_parts(names: Sequence[str]) -> tuple[str, str]:
    """What all names begin and end with, up to the last character that is no letter or digit.

    Nothing where it is short, or where a name would be left with nothing; a name that would be left
    with a number keeps the word before it.

    >>> common_parts(["run_a.gz", "run_b.gz"]), common_parts(["bm25", "bm25f"])
    (('run_', '.gz'), ('', ''))
    """
    if len(names) < 2:
        return "", ""
    prefix = _whole_words(_same_start(names))
    rest = [name[len(prefix) :] for name in names]
    suffix = _whole_words(_same_start([name[::-1] for name in rest]))[::-1]
    if any(part.removesuffix(suffix).isdigit() for part in rest):
        # A number is no name in a sentence: the word before it stays.
        prefix = _whole_words(prefix[:-1])
        rest = [name[len(prefix) :] for name in names]
    if len(prefix) + len(suffix) < LEAST_COMMON or min(map(len, rest)) <= len(suffix):
        return "", ""
    return prefix, suffix


def _same_start(names: Sequence[str]) -> str:
    """What all names begin with: the first and the last in order differ soonest."""
    first, last = min(names), max(names)
    return "".join(
        letter
        for letter, _ in takewhile(lambda two: two[0] == two[1], zip(first, last, strict=False))
    )


def _whole_words(text: str) -> str:
    """The text up to its last character that ends a word: run_1 and run_12 keep their numbers."""
    ends = [match.end() for match in _ENDS_WORD.finditer(text)]
    return text[: ends[-1]] if ends else ""


def elided(names: Sequence[str], longest: int = LONGEST) -> list[str]:
    """Names of at most so many characters: long ones without their middle, no two alike.

    Of names that have the same start and end, what follows their common start is kept instead.

    >>> elided(["reranker_large_seed_1_of_a_track", "reranker_small_seed_1_of_a_track"], 16)
    ['rera…r_large_se…', 'rera…r_small_se…']
    """
    half = longest // 2
    short = [
        name if len(name) <= longest else f"{name[: half - 1]}…{name[-half:]}" for name in names
    ]
    alike: dict[str, list[int]] = {}
    for place, text in enumerate(short):
        alike.setdefault(text, []).append(place)
    for places in alike.values():
        group = [names[place] for place in places]
        if len(set(group)) > 1:
            start = max(longest // 4, len(_same_start(group)) - 2)
            for place, name in zip(places, group, strict=True):
                rest = name[start : start + longest - longest // 4 - 2]
                short[place] = f"{name[: longest // 4]}…{rest}…"
    met = Counter(zip(short, names, strict=True))
    texts = Counter(text for text, _ in met)
    return [text if texts[text] == 1 else name for text, name in zip(short, names, strict=True)]


_AS_THEY_ARE = RunNames()
_SHOWN: ContextVar[RunNames] = ContextVar("names that figures show", default=_AS_THEY_ARE)


@contextmanager
def shown_as(names: RunNames) -> Iterator[None]:
    """Figures and tables that are made inside show names of runs in this way."""
    token = _SHOWN.set(names)
    try:
        yield
    finally:
        _SHOWN.reset(token)


def names_shown() -> RunNames:
    """What figures and tables show for names at the moment."""
    return _SHOWN.get()


def name_in_figure(text: str) -> str:
    """A name, or a text with names, as figures show it at the moment."""
    return _SHOWN.get().cell(text)


def names_of(subject: Any, chosen: Collection[str] = ()) -> RunNames:
    """What to show for the runs of a result, or of the first of several; `chosen` names stay."""
    several = getattr(subject, "results", subject)
    result = several[0] if isinstance(several, (tuple, list)) and several else subject
    runs = [getattr(run, "run", run) for run in getattr(result, "runs", ())]
    return run_names([run for run in runs if isinstance(run, str) and run not in chosen])
