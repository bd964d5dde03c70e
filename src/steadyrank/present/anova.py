"""ANOVA tables as papers print them.

The columns are those of Tables 1 and 2 of Ferro 2018. Effect sizes have the usual thresholds
(Cohen's, as in Rutherford 2011): 0.14 large, 0.06 medium, 0.01 small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from steadyrank.present.cells import signed
from steadyrank.present.table import Cell
from steadyrank.present.view import Col, Row


def anova_lines(subject: Any, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the rows of an ANOVA table with sources in words, without sources that have df = 0."""
    return [{**row, "source": source_words(row["source"])} for row in rows if row["df"]]


def _effect(row: Row) -> Cell:
    size = row["omega_squared"]
    return Cell("" if math.isnan(size) else effect_word(size))


ANOVA = (
    Col("source", form="name"),
    Col("ss", "SS"),
    Col("df", "DF", "count"),
    Col("ms", "MS"),
    Col("f", "F", lambda row: signed(row["f"], ",.2f"), "known"),
    Col("pvalue", "p", "pvalue", "known"),
    Col("omega_squared", "omega²"),
    Col(
        "omega_squared_interval",
        "{sure} interval",
        when="known",
        about="an interval that begins at 0 is compatible with no effect",
    ),
    Col("effect", form=_effect),
)
"""The columns of an ANOVA table as papers print it, over the rows that `anova_lines` makes."""


def effect_word(omega_squared: float) -> str:
    """Return the size of an effect, by omega squared.

    >>> [effect_word(size) for size in (0.2, 0.07, 0.02, 0.001)]
    ['large', 'medium', 'small', 'negligible']
    """
    for least, word in ((0.14, "large"), (0.06, "medium"), (0.01, "small")):
        if omega_squared >= least:
            return word
    return "negligible"


def source_words(source: str) -> str:
    """Return the name of a source in a table.

    >>> source_words("measure_pair:topic_size"), source_words("error(topic:model)")
    ('measure pair × topic size', 'error (topic × model)')
    """
    return source.replace("(", " (").replace(":", " × ").replace("_", " ")
