"""Readers of battles: rows of two models and which of them won."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from steadyrank.data.battles import Battles
from steadyrank.data.forms.form import Source
from steadyrank.data.read.sources import open_bytes
from steadyrank.data.read.tables import arrow_table, is_missing, read_csv
from steadyrank.errors import InputError, unknown_column, warn
from steadyrank.words import counted

ROLES = ("model_a", "model_b", "winner", "prompt", "judge")
"""What `--column ROLE=NAME` may name; numbers of both answers may be named as well."""

_WINNERS = {"model_a": 1.0, "model_b": 0.0, "a": 1.0, "b": 0.0, "1": 1.0, "2": 0.0}
_WINNERS |= dict.fromkeys(("draw", "both_bad", "bothbad", "0.5"), 0.5)
_KAGGLE = {"winner_model_a": 1.0, "winner_model_b": 0.0, "winner_tie": 0.5}
_GAMES = {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.5, "B=A": 0.5, "B>A": 0.0, "B>>A": 0.0}
_SIDE = re.compile(r"(?P<what>.+)_(?P<side>[ab])")
_PROMPTS = ("prompt", "question_id", "prompt_id", "conversation_pair_id", "uid", "id")
_JUDGES = ("judge", "voter", "visitor_id", "annotator", "user")

Columns = dict[str, Sequence[Any]]
Fail = Callable[[str, int], InputError]
"""From a message and the place of a row to the error."""


def battles(source: Source) -> Iterator[Battles]:
    """Rows of `model_a, model_b, winner`, of an arena, MT-bench or a table of one's own."""
    lines, columns = _columns(source)
    yield from _told(source, *_made(columns, source.columns, _failing(source, lines)))


def comparia(source: Source) -> Iterator[Battles]:
    """Votes of ComparIA: `chosen_model_name` is empty where `both_equal` is true."""
    lines, columns = _columns(source)
    for name in ("both_equal", "chosen_model_name"):
        columns.setdefault(name, [""] * len(lines))
    equal = [str(value).casefold() in ("true", "1", "t") for value in columns["both_equal"]]
    columns["winner"] = [
        "tie" if tied else chosen
        for tied, chosen in zip(equal, columns["chosen_model_name"], strict=True)
    ]
    names = {"model_a": "model_a_name", "model_b": "model_b_name", **source.columns}
    yield from _told(source, *_made(columns, names, _failing(source, lines)))


def arena_hard(source: Source) -> Iterator[Battles]:
    """Judgments of arena-hard: two games per record, the baseline first in the first of them."""
    lines, rows = [], []
    for line, row in source.lines:
        baseline = str(row.get("baseline") or "gpt-4-0314")
        model = source.id_of(row, "model", line)
        for place, game in enumerate(source.need(row, "games", list, line)):
            score = source.record(game, f"game {place + 1}", line).get("score")
            outcome = None if score is None else _GAMES.get(str(score).strip("[] "))
            if score is not None and outcome is None:
                raise source.error(f"expected a verdict such as A>B, got {str(score)[:40]!r}", line)
            winner = {None: "", 1.0: "model_a", 0.0: "model_b", 0.5: "tie"}[outcome]
            sides = (model, baseline) if place % 2 else (baseline, model)
            prompt = next((row[name] for name in _PROMPTS if row.get(name)), "")
            rows.append((*sides, winner, prompt, row.get("judge") or ""))
            lines.append(line)
    columns: Columns = dict(zip(ROLES, zip(*rows, strict=True), strict=False))
    yield from _told(source, *_made(columns, {}, _failing(source, lines), "no verdict"))


def alpaca_eval(source: Source) -> Iterator[Battles]:
    """Annotations of AlpacaEval: a preference from 1 (the baseline) to 2 (the model)."""
    lines, rows = [], []
    for line, row in source.lines:
        value = source.number(row.get("preference"), line, "preference")
        sides = [source.id_of(row, f"generator_{side}", line) for side in "12"]
        winner = "" if math.isnan(value) else "model_a" if value < 1.5 else "model_b"
        winner = "tie" if value in (0, 1.5) else winner
        rows.append((*sides, winner, row.get("instruction", ""), row.get("annotator", "")))
        lines.append(line)
    columns: Columns = dict(zip(ROLES, zip(*rows, strict=True), strict=False))
    yield from _told(source, *_made(columns, {}, _failing(source, lines), "no preference"))


def battles_of_columns(where: str, columns: Columns, names: Mapping[str, str]) -> Battles:
    """Return the battles of columns by their names; `names` says which have other ones."""
    found, notes = _made(
        columns, names, lambda message, row: InputError(f"{where}, row {row}: {message}")
    )
    for note in notes:
        warn(note)
    return found


def _columns(source: Source) -> tuple[Sequence[int | None], Columns]:
    if source.kind == "csv":
        (_, header), *rows = read_csv(source.path)
        cells = itertools.zip_longest(*(row for _, row in rows), fillvalue="")
        return [line for line, _ in rows], dict(
            zip([h.strip() for h in header], cells, strict=False)
        )
    if source.kind == "parquet":
        with open_bytes(source.path) as stream:
            table = arrow_table(source.path, stream)
        return range(1, len(table) + 1), {n: table[n].to_pylist() for n in table.column_names}
    keys = {name: None for _, row in source.lines for name in row}
    return [line for line, _ in source.lines], {
        name: [row.get(name) for _, row in source.lines] for name in keys
    }


def _failing(source: Source, lines: Sequence[int | None]) -> Fail:
    return lambda message, row: source.error(message, lines[row])


def _told(source: Source, found: Battles, notes: list[str]) -> Iterator[Battles]:
    source.found.notes += notes
    yield found


def _made(
    columns: Columns, names: Mapping[str, str], fail: Fail, open_words: str = "no winner"
) -> tuple[Battles, list[str]]:
    """Return the battles of columns that have a winner, and what was left out."""
    columns = dict(columns)
    for role, name in names.items():
        if name not in columns:
            raise unknown_column(name, "battles", columns)
        columns[role] = columns[name]
    for role in ROLES[:2]:
        if role not in columns:
            raise unknown_column(role, "battles", columns)
    a, b = (_models(columns[role], role, fail) for role in ROLES[:2])
    outcome = _outcomes(columns, a, b, fail)
    is_open = np.isnan(outcome)
    own = np.fromiter((x == y for x, y in zip(a, b, strict=True)), bool, len(a)) & ~is_open
    kept = ~is_open & ~own
    notes = [
        f"{counted(n, 'battle')} {why} left out"
        for n, why in (
            (int(is_open.sum()), f"with {open_words}"),
            (int(own.sum()), "of a model with itself"),
        )
        if n
    ]
    if not kept.any():
        raise fail("no battle of two models has a winner", 0)
    chosen = kept.tolist()

    def rows(column: Sequence[Any]) -> Sequence[Any]:
        return column if kept.all() else [*itertools.compress(column, chosen)]

    def named(role: str, aliases: tuple[str, ...]) -> Sequence[str]:
        found = [role] if role in names else [n for n in aliases if n in columns]
        texts = (_texts(columns[name]) for name in found)
        return rows(next((own for own in texts if any(own)), ()))

    return (
        Battles.from_rows(
            rows(a),
            rows(b),
            outcome[kept],
            prompt=named("prompt", _PROMPTS),
            judge=named("judge", _JUDGES),
            covariates=dict(_numbers(columns, kept)),
        ),
        notes,
    )


def _models(column: Sequence[Any], role: str, fail: Fail) -> list[str]:
    for row, value in enumerate(column):
        if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
            raise fail(f"expected the name of a model as {role}, got {value!r}", row)
    return [*map(str, column)]


def _outcomes(columns: Columns, a: list[str], b: list[str], fail: Fail) -> np.ndarray:
    if "winner" not in columns and _KAGGLE.keys() <= columns.keys():  # one of three columns is 1
        flags = np.array([[str(x) in ("1", "1.0", "True") for x in columns[n]] for n in _KAGGLE])
        found = np.array([*_KAGGLE.values()])[flags.argmax(axis=0)]
        return np.where(flags.sum(axis=0) == 1, found, np.nan)
    if "winner" not in columns:
        raise unknown_column("winner", "battles", columns)
    winner = ["" if x is None or x != x else str(x).strip() for x in columns["winner"]]
    known = {text: _meaning(text) for text in set(winner)}
    outcome = np.array([known[text] for text in winner], np.float64)
    # A model may be called "a" or "1": its name comes first.
    first, second = (
        np.fromiter(map(str.__eq__, winner, side), bool, len(winner)) for side in (a, b)
    )
    outcome = np.where(first, 1.0, np.where(second, 0.0, outcome))
    unknown = np.isinf(outcome)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise fail(
            f"expected model_a, model_b, tie or the name of a model as winner, got "
            f"{winner[row][:40]!r}",
            row,
        )
    return np.asarray(outcome)


def _meaning(text: str) -> float:
    """Return the outcome that a text means; NaN for none, infinity if it is not known."""
    plain = text.casefold().removesuffix(".0")
    if plain.startswith("tie") or plain.startswith("both"):
        return 0.5
    return math.nan if is_missing(plain) or plain == "error" else _WINNERS.get(plain, math.inf)


def _texts(column: Sequence[Any]) -> Sequence[str]:
    return column if all(map(_is_text, column)) else [_text(value) for value in column]


def _is_text(value: Any) -> bool:
    return type(value) is str


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, (list, tuple)) and all(map(_is_text, value)):
        return "/".join(value)
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _numbers(columns: Columns, kept: np.ndarray) -> Iterator[tuple[str, tuple[np.ndarray, ...]]]:
    """Numbers that rows have of both sides, such as length_a and length_b."""
    for name in columns:
        match = _SIDE.fullmatch(name)
        if match is None or match["side"] == "b" or match["what"] in ("model", "winner_model"):
            continue
        sides = [columns[name], columns.get(f"{match['what']}_b", ("",))]
        try:
            first, second = (
                np.array([math.nan if x is None or x == "" else float(x) for x in side])[kept]
                for side in sides
            )
        except (TypeError, ValueError, IndexError):
            continue
        yield match["what"], (first, second)
