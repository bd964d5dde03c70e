"""Mutants through every reader: an error of ours, or what a plain parse finds; never a crash.

20,000 mutants and command lines in all by default; STEADYRANK_FUZZ=1000000 for the long mode, which
`python -m fuzz` runs in processes of limited memory.
"""

from __future__ import annotations

import warnings

import pytest

from fuzz import format_targets, reader_targets, stream_targets, text_targets
from fuzz.mutants import BUDGET, mutant, outcome

TARGETS = {
    **reader_targets.TARGETS,
    **format_targets.TARGETS,
    **stream_targets.TARGETS,
    **text_targets.TARGETS,
}
EACH = max(1, int(BUDGET * 0.65) // len(TARGETS))


@pytest.mark.parametrize("name", TARGETS)
def test_mutants_are_refused_or_read_right(tmp_path, name):
    target = TARGETS[name]
    outcomes = {"read": 0, "refused": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(EACH):
            try:
                outcomes[outcome(target, mutant(target, number), tmp_path / "mutant")] += 1
            except BaseException as error:
                error.add_note(f"mutant {number} of {name}")
                raise
    # Both answers must be common, or the fuzzing proves little.
    assert outcomes["read"] > 0
    assert outcomes["refused"] <= target.often_refused * EACH or EACH < 100


@pytest.mark.parametrize("name", TARGETS)
def test_good_files_are_read(tmp_path, name):
    target = TARGETS[name]
    for seed in target.seeds:
        assert outcome(target, seed, tmp_path / "seed") == "read"
