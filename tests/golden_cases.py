"""Figures of tests/golden: from R, trec_eval and the papers, each with its source and version."""

from __future__ import annotations

import json
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def golden(name: str) -> dict:
    """All that a golden file says."""
    return json.loads((FOLDER / f"{name}.json").read_text("utf-8"))


def golden_case(name: str) -> tuple[dict, dict, float]:
    """Inputs, expected results and tolerance of a golden file."""
    case = golden(name)
    return case["inputs"], case["expected"], case["tolerance"]
