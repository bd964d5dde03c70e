"""Mutated files through the readers: an error that names a line, or a result; never a crash.

5,000 files by default; STEADYRANK_FUZZ=200000 for the long mode. Mutant number i depends on
i alone, so a failure's number is all it takes to see it again.
"""

from __future__ import annotations

import gzip
import os
import re
import warnings

import numpy as np
import pytest

import steadyrank as sr
from fuzz.line_targets import MORSELS, SEEDS, check_qrels, check_run
from fuzz.mutants import disturb_bytes

pytestmark = pytest.mark.slow

N_FILES = int(os.environ.get("STEADYRANK_FUZZ", "5000"))
N_SLICES = 5


def mutant(number: int) -> bytes:
    rng = np.random.default_rng([20, number])
    data = bytearray(SEEDS[rng.integers(len(SEEDS))])
    for _ in range(rng.integers(1, 6)):
        disturb_bytes(data, rng, MORSELS)
    if rng.random() < 0.1:
        packed = bytearray(gzip.compress(bytes(data), 1, mtime=0))
        if rng.random() < 0.5:
            packed[rng.integers(len(packed))] ^= 1 << int(rng.integers(8))
        data = packed
    return bytes(data)


@pytest.mark.parametrize("part", range(N_SLICES))
def test_mutated_files_give_a_named_error_or_a_result(tmp_path, part):
    path = tmp_path / "mutant"
    named = re.compile(re.escape(str(path)) + r"(:\d+)?: ")
    n_read, n_files = 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(part, N_FILES, N_SLICES):
            path.write_bytes(mutant(number))
            is_read = False
            for check in (check_run, check_qrels):
                try:
                    check(path)
                    is_read = True
                except Exception as error:
                    told = isinstance(error, sr.FormatError) and named.match(str(error))
                    if not told:
                        raise AssertionError(f"mutant {number}: {error!r}") from error
            n_read, n_files = n_read + is_read, n_files + 1
    # As a run or as judgments, hardly ever as both: reading and refusing must both be common, or
    # the fuzzing proves nothing.
    assert 0.1 < n_read / n_files < 0.9
