"""Results as JSON: one object, numbers unrounded, null where there is no number."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from steadyrank.data.scores import Scores


def scores_json(scores: Scores) -> dict[str, Any]:
    """The cube and its means, keyed by measure and run."""
    means = scores.mean().tolist()
    return {
        "measures": scores.measures,
        "runs": scores.runs,
        "topics": scores.topics,
        "values": scores.values,
        "mean": {
            measure: dict(zip(scores.runs, row, strict=True))
            for measure, row in zip(scores.measures, means, strict=True)
        },
        "run_info": scores.run_info,
        "topic_info": scores.topic_info,
        "meta": scores.meta,
    }


def picked(result: Any, keys: str) -> dict[str, Any]:
    """Some attributes of a result by their names, which are written in a row.

    >>> picked(1 + 2j, "real imag")
    {'real': 1.0, 'imag': 2.0}
    """
    return {key: getattr(result, key) for key in keys.split()}


def to_json(value: Any) -> str:
    """JSON text without NaN or infinity, which JSON does not know."""
    return json.dumps(_clean(value), ensure_ascii=False, allow_nan=False) + "\n"


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(item) for item in value]
    if isinstance(value, np.ndarray):
        return _clean(value.tolist())
    if isinstance(value, np.generic):
        return _clean(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
