"""Readers of battles: rows of two models and which of them won."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from steadyrank.data.forms.form import Battle, Record, Source
from steadyrank.words import counted

_WINNERS = {"model_a": 1.0, "model_b": 0.0, "a": 1.0, "b": 0.0, "1": 1.0, "2": 0.0}
_GAMES = {"A>>B": 1.0, "A>B": 1.0, "A=B": 0.5, "B=A": 0.5, "B>A": 0.0, "B>>A": 0.0}
_SIDE = re.compile(r"(?P<what>.+)_(?P<side>[ab])")
_PROMPTS = ("prompt", "question_id", "prompt_id", "conversation_pair_id", "uid", "id")
_JUDGES = ("judge", "voter", "visitor_id", "annotator", "user")


def battles(source: Source) -> Iterator[Battle]:
    """Rows of `model_a, model_b, winner`, of an arena, MT-bench or a table of one's own."""
    n_open = 0
    for line, row in source.lines:
        outcome = _outcome(source, row, line)
        if math.isnan(outcome):
            n_open += 1
            continue
        a, b = (source.id_of(row, "model_" + side, line) for side in "ab")
        yield Battle(a, b, outcome, *_who(row), _lengths(source, row, line))
    _tell(source, n_open, "no winner")


def _tell(source: Source, n_open: int, why: str) -> None:
    if n_open:
        source.found.notes.append(f"{counted(n_open, 'battle')} with {why} left out")


def _outcome(source: Source, row: Record, line: int | None) -> float:
    """1, 0 or .5 by `winner`; NaN where nobody judged."""
    if "winner_model_a" in row:  # Kaggle's: one of three columns is 1
        flags = {1.0: "winner_model_a", 0.0: "winner_model_b", 0.5: "winner_tie"}
        won = [o for o, name in flags.items() if source.number(row.get(name), line) == 1]
        return won[0] if len(won) == 1 else math.nan
    text = str(row.get("winner") or "").strip()
    if text.casefold().startswith("tie") or text.casefold() in ("draw", "both_bad", "0.5"):
        return 0.5
    if text.casefold() in ("", "none", "nan", "error"):
        return math.nan
    known = _WINNERS | {str(row.get("model_a")): 1.0, str(row.get("model_b")): 0.0}
    if (found := known.get(text, known.get(text.casefold()))) is None:
        raise source.error(f"expected model_a, model_b or tie as winner, got {text[:40]!r}", line)
    return found


def _who(row: Record) -> tuple[str, str]:
    """The prompt and the judge of a battle; empty where nothing names them."""
    prompt = next((row[name] for name in _PROMPTS if row.get(name) not in (None, "")), "")
    judge = next((row[name] for name in _JUDGES if row.get(name) not in (None, "")), "")
    judge = "/".join(map(str, judge)) if isinstance(judge, list) else judge
    return prompt if isinstance(prompt, str) else json.dumps(prompt), str(judge)


def _lengths(source: Source, row: Record, line: int | None) -> tuple[tuple[str, float, float], ...]:
    """Numbers that a row has of both sides, such as length_a and length_b."""
    found: list[tuple[str, float, float]] = []
    for name in row:
        match = _SIDE.fullmatch(name)
        if match is None or match["side"] == "b" or match["what"] in ("model", "winner_model"):
            continue
        pair = [row[name], row.get(f"{match['what']}_b")]
        if all(_is_number(value) for value in pair):
            a, b = (source.number(value, line) for value in pair)
            found.append((match["what"], a, b))
    return tuple(found)


def _is_number(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip() == "" or re.fullmatch(r"[-+]?\d+(\.\d*)?", value.strip()) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def comparia(source: Source) -> Iterator[Battle]:
    """Votes of ComparIA: `chosen_model_name` is empty where `both_equal` is true."""
    n_open = 0
    for line, row in source.lines:
        a, b = (source.id_of(row, f"model_{side}_name", line) for side in "ab")
        chosen = str(row.get("chosen_model_name") or "").strip()
        if str(row.get("both_equal")).casefold() in ("true", "1", "t"):
            outcome = 0.5
        elif chosen in (a, b):
            outcome = float(chosen == a)
        elif not chosen:
            n_open += 1
            continue
        else:
            message = f"expected {a!r} or {b!r} as chosen_model_name, got {chosen[:40]!r}"
            raise source.error(message, line)
        yield Battle(a, b, outcome, *_who(row))
    _tell(source, n_open, "no vote")


def arena_hard(source: Source) -> Iterator[Battle]:
    """Judgments of arena-hard: two games per record, the baseline first in the first of them."""
    n_open = 0
    for line, row in source.lines:
        baseline = str(row.get("baseline") or "gpt-4-0314")
        model = source.id_of(row, "model", line)
        for place, game in enumerate(source.need(row, "games", list, line)):
            score = source.record(game, f"game {place + 1}", line).get("score")
            if score is None:
                n_open += 1
                continue
            outcome = _GAMES.get(str(score).strip("[] "))
            if outcome is None:
                raise source.error(f"expected a verdict such as A>B, got {str(score)[:40]!r}", line)
            a, b = (model, baseline) if place % 2 else (baseline, model)
            yield Battle(a, b, outcome, *_who(row))
    _tell(source, n_open, "no verdict")


def alpaca_eval(source: Source) -> Iterator[Battle]:
    """Annotations of AlpacaEval: a preference from 1 (the baseline) to 2 (the model)."""
    n_open = 0
    for line, row in source.lines:
        value = source.number(row.get("preference"), line, "preference")
        a, b = (source.id_of(row, f"generator_{side}", line) for side in "12")
        if math.isnan(value) or a == b:
            n_open += 1
            continue
        outcome = 0.5 if value in (0, 1.5) else float(value < 1.5)
        yield Battle(a, b, outcome, str(row.get("instruction", "")), str(row.get("annotator", "")))
    _tell(source, n_open, "no preference")
