"""The history of a project's gates, kept in a folder.

The folder has the scores of the first baseline and one line per gate. Each candidate is compared
with its baseline, which is the gate, and with the first baseline, which detects losses in many
small steps. The k-th of these tests has the level alpha 6 / (pi² k²), divided by the number of
measures. The levels sum to alpha, so that a false alarm has probability alpha over any number of
gates.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from steadyrank.compute.files import locked, source_date, write_whole
from steadyrank.data.order import scores_in_order
from steadyrank.data.read.score_files import read_scores
from steadyrank.data.read.sources import PathLike
from steadyrank.data.scores import Scores, cluster_codes, topic_weights
from steadyrank.data.write import write_scores
from steadyrank.errors import FormatError, InputError
from steadyrank.present.json import picked, to_json
from steadyrank.stats.pairs.result import TOO_FEW
from steadyrank.stats.pairs.topic_design import MeanDifference, mean_difference, reach_of
from steadyrank.studies.gate.fits import mixed_difference
from steadyrank.studies.gate.inputs import Pair
from steadyrank.studies.gate.result import EXIT_CODES, GateHistory, GateResult

LINES, FIRST, LOCK = "history.jsonl", "first.parquet", ".lock"
"""Files in the folder: one line per gate, and the scores of the first baseline."""


def spent_level(alpha: float, night: int) -> float:
    """Return the level of the test of one night, from 1 on; all levels sum to alpha.

    >>> round(spent_level(0.05, 1), 4), round(sum(spent_level(0.05, k) for k in range(1, 9999)), 4)
    (0.0304, 0.05)
    """
    return alpha * 6.0 / (math.pi * night) ** 2


def read_history(folder: PathLike) -> GateHistory:
    """Return the gates that a folder keeps."""
    gates = _read_lines(Path(folder) / LINES)
    if not gates:
        raise InputError(f"{folder}: no gates are recorded here: name the folder of a history")
    return GateHistory(folder=str(folder), gates=tuple(gates))


@contextlib.contextmanager
def recorded(folder: PathLike, pair: Pair, result: GateResult) -> Iterator[GateHistory]:
    """Yield the history with this gate, which is kept if the block ends without an error.

    Other gates of the folder wait until then, so that no line is lost.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{place}: this is a file: name a folder to hold the history") from None
    with locked(place / LOCK):
        gates = _read_lines(place / LINES)
        is_new = not gates or not (place / FIRST).exists()
        if is_new:
            meta = {"judgments": _judgments(pair.scores)}
            meta |= {"judges": list(pair.judges)} if pair.judges else {}
            first = replace(pair.sides[0], run_info={}, meta=meta)
        else:
            first = scores_in_order(read_scores(place / FIRST))
        _check_first(first, pair, place)
        level = spent_level(result.alpha, len(gates) + 1)
        gates.append(_line(first, pair, result, level))
        yield GateHistory(folder=str(place), gates=tuple(gates))
        if is_new:
            write_scores(first, place / FIRST)
        write_whole(place / LINES, "".join(map(to_json, gates)))


def _judgments(scores: Scores) -> Any:
    """Return the SHA-256 of the candidate's judgments; None if they were not a file."""
    meta = scores.meta["candidate"]
    return meta["sha256"].get(meta.get("qrels"))


def _check_first(first: Scores, pair: Pair, folder: Path) -> None:
    before, now = first.meta.get("judgments"), _judgments(pair.scores)
    changed = before is not None and now is not None and before != now
    # The level of other judges would be mistaken for a drift.
    by_others = tuple(first.meta.get("judges", pair.judges)) != pair.judges
    if changed or by_others or first.topics != pair.scores.topics:
        what = "judgments" if changed else "judges" if by_others else "topics"
        raise InputError(
            f"{folder}: this history began with different {what}: name another folder to start "
            "a new one"
        )


def _line(first: Scores, pair: Pair, result: GateResult, level: float) -> dict[str, Any]:
    now = source_date() or datetime.now(UTC)  # reproducible builds set the time
    return {
        "date": now.isoformat(timespec="seconds"),
        **picked(result, "baseline candidate"),
        "sha256": _digest(pair.scores),
        **picked(result, "verdict alpha"),
        "level": level,
        "measures": [
            picked(row, "measure margin difference verdict")
            | {"interval": list(row.interval)}
            | ({"lower_is_better": True} if row.lower_is_better else {})
            | _total(first, pair, row.measure, level / len(result.measures))
            for row in result.measures
        ],
    }


def _total(first: Scores, pair: Pair, measure: str, level: float) -> dict[str, Any]:
    """Return the difference from the first baseline; None for a measure that the latter lacks.

    If one of the two has several runs, runs are random in addition to topics.
    """
    if measure not in first.measures:
        return {"total": None, "total_interval": None}
    before, now = first.matrix(measure), pair.sides[1].matrix(measure)
    reach = reach_of(np.concatenate([before, now]))
    if len(before) > 1 or len(now) > 1:
        fit: MeanDifference = mixed_difference((before, now), reach)
    else:
        fit = mean_difference(
            (now - before)[0],
            clusters=cluster_codes(pair.scores),
            weights=topic_weights(pair.scores),
            reach=reach,
        )
    if fit.flag == TOO_FEW:
        return {"total": None, "total_interval": None}
    return {"total": fit.mean, "total_interval": list(fit.interval(level))}


def _digest(scores: Scores) -> str:
    """Return the SHA-256 of the candidate's file, or of its scores."""
    meta = scores.meta["candidate"]
    name = meta.get("files", {}).get("candidate")
    if name in meta["sha256"]:
        return str(meta["sha256"][name])
    return hashlib.sha256(np.ascontiguousarray(scores.values[:, 1]).tobytes()).hexdigest()


def _read_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    if not path.is_file():
        raise InputError(f"{path}: this must be a plain file: remove it")
    gates = []
    for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1):
        try:
            gate = json.loads(line)
            _check_line(gate)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise FormatError(
                path, "this line is not an entry of a gate: restore or remove it", number
            ) from None
        gates.append(gate)
    return gates


def _check_line(gate: dict[str, Any]) -> None:
    """Raise an error of Python if a line is not as `_line` writes it."""
    datetime.fromisoformat(gate["date"])
    texts = [gate["baseline"], gate["candidate"], gate["sha256"]]
    numbers, measures = [gate["alpha"], gate["level"]], gate["measures"]
    for row in measures:
        texts.append(row["measure"])
        low, high = row["interval"]
        numbers += [row["margin"], row["difference"], *(n for n in (low, high) if n is not None)]
        if row["total"] is not None:
            low, high = row["total_interval"]
            numbers += [row["total"], low, high]
    verdicts = [gate["verdict"], *(row.get("verdict", "pass") for row in measures)]
    are_known = all(verdict in EXIT_CODES for verdict in verdicts) and type(measures) is list
    is_typed = all(type(t) is str for t in texts) and all(type(n) in (int, float) for n in numbers)
    if not (measures and are_known and is_typed):
        raise ValueError
