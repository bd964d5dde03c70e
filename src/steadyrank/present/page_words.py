"""Words of a page: terms that are explained, and names of runs that are shown short.

The first mention of a term in a section tells what it means; a short name tells the whole of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING

from steadyrank.present.run_names import RunNames
from steadyrank.present.table import Cell
from steadyrank.visible import visible

if TYPE_CHECKING:
    from markupsafe import Markup

LONGEST_LINE = 24
"""Characters of a cell that stay on one line."""


def explainer(notes: Mapping[str, str], names: RunNames) -> Callable[[str, set[str]], Markup]:
    """Texts with the first mention of each term marked up; `seen` holds those already met.

    Names of runs are what the page shows for them, and hovering tells the whole name.
    """
    from markupsafe import Markup, escape

    terms = sorted((term for term in notes if term), key=lambda term: (-len(term), term))
    pattern = re.compile(
        r"(?<![\w@-])(?:" + "|".join(map(_term_pattern, terms)) + r")(?![\w@-])"
        if terms
        else "(?!)"
    )

    def explained(text: str, seen: set[str]) -> Markup:
        out = Markup()
        for piece, name in names.parts(visible(text)):
            whole = Markup('<span title="{}">{}</span>')
            out += whole.format(name, piece) if name else with_terms(piece, seen)
        return out

    def with_terms(text: str, seen: set[str]) -> Markup:
        end, out = 0, Markup()
        for match in pattern.finditer(text):
            term = terms[(match.lastindex or 1) - 1]
            if term in seen:
                continue
            seen.add(term)
            out += escape(text[end : match.start()])
            out += Markup('<abbr title="{}" tabindex="0">{}</abbr>').format(
                visible(notes[term]), match.group()
            )
            end = match.end()
        return out + escape(text[end:])

    return explained


def _term_pattern(term: str) -> str:
    """Words in any case and number; names and single letters as they are."""
    is_word = term.islower() and len(term) > 2
    return f"((?i:{re.escape(term)}s?))" if is_word else f"({re.escape(term)})"


def hoverer(names: RunNames) -> Callable[[Cell], str]:
    """What hovering over a cell tells: its own text, or the whole name that it stands for."""

    def hover(cell: Cell) -> str:
        if cell.hover or isinstance(cell.value, Real):
            return cell.hover
        return cell.text if cell.text in names.shown else ""

    return hover


def looker(names: RunNames) -> Callable[[Cell, bool], Markup]:
    """Figures stand to the right; only long texts may break, so that rows stay lines."""
    from markupsafe import Markup

    def look(cell: Cell, is_number: bool) -> Markup:
        is_long = len(names.cell(cell.text)) > LONGEST_LINE
        is_a = {"n": is_number, "long": is_long, "name": is_long and cell.text in names.shown}
        kinds = [kind for kind, holds in is_a.items() if holds]
        return Markup(' class="{}"').format(" ".join(kinds)) if kinds else Markup()

    return look
