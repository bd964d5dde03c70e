"""Every form of an evaluation tool, mutated: what is read has names and no infinite numbers."""

from __future__ import annotations

import importlib.util
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import steadyrank as sr
from fuzz.format_targets import NESTED_MORSELS, check_tool_scores
from fuzz.line_targets import MORSELS
from fuzz.mutants import Target

_MADE = Path(__file__).parents[1] / "tests" / "data" / "forms" / "made.py"

_RATINGS = [{"doc_id": "d1", "rating": 2}, {"doc_id": "d2", "rating": None}]
_ENTRY = {"hf_subset": "default", "main_score": 0.5}
_EEE = {"schema_version": "0.3.0", "evaluation_id": "x/1", "model_info": {"id": "m"}}
_GAMES = [{"score": "A>>B"}, {"score": "B=A"}, {"score": None}]
WHOLE = (
    {"case_name": "c", "queries": [{"query_text": "q", "ratings": _RATINGS}]},
    {"query_doc_pairs": [{"query_text": "q", "doc_id": "d", "judgements": [{"rating": 1}]}]},
    {"judgmentRatings": [{"query": "q", "ratings": [{"docId": "d", "rating": "0.9"}]}]},
    {"task_name": "seed", "scores": {"test": [_ENTRY]}},  # the name of the file
    _EEE | {"evaluation_results": [{"evaluation_name": "s", "score_details": {"score": 0.5}}]},
    {"results": {"t": {"acc,none": 0.5}}, "configs": {}, "higher_is_better": {"t": {"acc": True}}},
    {"model": "m", "baseline": "b", "uid": "1", "judge": "j", "games": _GAMES},
)
"""Forms of judgments, of means, and of battles within games."""


def _seeds() -> Iterator[bytes]:
    """One small file of each form."""
    spec = importlib.util.spec_from_file_location("made", _MADE)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    with tempfile.TemporaryDirectory() as folder:
        for place, make in enumerate(made.SCORE_FORMS):
            make(Path(folder) / str(place))
        for make, name in made.BATTLE_FORMS:
            make(Path(folder) / "battles" / name)
        for path in sorted(Path(folder).rglob("*.*")):
            if path.name != "run_spec.json" and path.stat().st_size > 2:  # refused alone
                yield path.read_bytes()
    yield from (json.dumps(value).encode() for value in WHOLE)


def check_form(path: Path) -> None:
    found = sr.read(path)
    if isinstance(found, sr.Scores):
        check_tool_scores(path)
    elif isinstance(found, sr.Leaderboard):
        assert not np.isinf(found.values).any()
        assert all((*found.runs, *found.datasets))
    elif isinstance(found, sr.Battles):
        assert len(found) > 0
        assert all(found.models)


TARGETS = {
    "forms": Target(
        name="forms",
        seeds=tuple(dict.fromkeys(_seeds())),
        morsels=(*NESTED_MORSELS, *MORSELS, b'"score"', b'"model"', b"[]", b"{}"),
        check=check_form,
        separators=b"\n,:}",
        often_refused=0.98,
        share=3.0,
    )
}
