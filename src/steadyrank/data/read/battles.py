"""Battles of pairs of models, from files of any known form, frames and objects."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from steadyrank.data.battles import Battles
from steadyrank.data.forms.pairs import Columns, battles_of_columns
from steadyrank.data.forms.reading import read_forms
from steadyrank.data.interop.tables import table_of
from steadyrank.errors import InputError


def read_battles(
    source: Any, *, columns: Mapping[str, str] | None = None, form: str | None = None
) -> Battles:
    """Return battles as they are, or those of a frame, of a file or of several.

    `columns` has the names of the columns for model_a, model_b, winner, prompt and judge.
    """
    if isinstance(source, Battles):
        return source
    table = table_of(source)
    if table is not None:
        held: Columns = {name: table.cells(k) for k, name in enumerate(table.header)}
        return battles_of_columns("the table", held, dict(columns or {}))
    paths = [source] if isinstance(source, (str, os.PathLike)) else [*source]
    found = read_forms(paths, form=form, columns=columns)
    if found is None or not isinstance(found.data, Battles):
        said = "" if found is None else f" {found.said}:"
        raise InputError(
            f"{paths[0]}:{said} expected battles, with columns model_a, model_b and winner; name "
            "others with columns"
        )
    return found.data
