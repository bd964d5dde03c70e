"""Mutants through every reader: an error of ours, or what a plain parse finds; never a crash.

20,000 mutants and command lines in all by default; STEADYRANK_FUZZ=1000000 for the long mode, which
`python -m fuzz` runs in processes of limited memory.
"""

from __future__ import annotations

import warnings

import pytest

from fuzz.__main__ import COMPILING, all_targets
from fuzz.mutants import BUDGET, mutant, outcome

pytestmark = pytest.mark.slow

TARGETS = {name: target for name, target in all_targets().items() if name not in ("runs", "qrels")}
"""Runs and judgments as lines have tests of their own."""

EACH = int(BUDGET * 0.65) / sum(target.share for target in TARGETS.values())


@pytest.mark.parametrize("name", TARGETS)
def test_mutants_are_refused_or_read_right(tmp_path, name):
    target = TARGETS[name]
    outcomes = {"read": 0, "refused": 0}
    n_cases = max(1, int(EACH * target.share))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(n_cases):
            try:
                data = mutant(target, number)
                outcomes[outcome(target, data, tmp_path / "mutant", COMPILING)] += 1
            except BaseException as error:
                error.add_note(f"mutant {number} of {name}")
                raise
    # Both answers must be common, or the fuzzing proves little.
    assert outcomes["read"] > 0 or n_cases < 100
    assert outcomes["refused"] <= target.often_refused * n_cases or n_cases < 100


@pytest.mark.filterwarnings("ignore")  # a good file may be worth a warning
@pytest.mark.parametrize("name", TARGETS)
def test_good_files_are_read(tmp_path, name):
    target = TARGETS[name]
    for seed in target.seeds:
        assert outcome(target, seed, tmp_path / "seed", COMPILING) == "read"
