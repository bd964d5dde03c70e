"""Numba's way shortened: the same machine code, and Numba as it was before and after."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core.codegen import CPUCodeLibrary

from steadyrank.compute import compiling, kernels, numba_cache


def plain_loops(values, codes, out):
    """Loops, branches, and words, of which most kernels are made."""
    total, best = 0.0, -1
    for i in range(len(values)):
        if values[i] > 0.5 and codes[i] & 3 != 0:
            total += values[i] / (i + 1)
            best = max(best, i)
        else:
            j = i
            while j > 0 and out[j - 1] < values[i]:
                out[j] = out[j - 1]
                j -= 1
            out[j] = values[i]
    return total * np.sqrt(total) + best


def array_expressions(values, codes, out):
    """Arrays made and fused, for which `kernel` is there."""
    weights = np.zeros(len(values)) + 1.0
    out[:] = values * weights - codes
    return (out**2).sum() + np.cumsum(values)[-1]


def machine_code(dispatcher):
    """The instructions, without the names that Numba counts up."""
    (text,) = dispatcher.inspect_asm().values()
    names = sorted(set(re.findall(r"_ZN\w+", text)), key=len, reverse=True)
    for name in names:
        text = text.replace(name, re.sub(r"B\d+v\d+|\d+v\d+", "", name)[:40])
    return re.findall(r"^\t[a-z]\w*.*$", text, re.MULTILINE)


def ours_and_numbas_own(function, how, options):
    """What two kernels of a function return and write, and the kernels."""
    kernels_of_function = how(function), numba.njit(**options)(function)
    answers = []
    for dispatcher in kernels_of_function:
        out = np.zeros(3)
        answers.append((dispatcher(np.array([0.3, 0.9, 0.7]), np.arange(3), out), out.tolist()))
    return kernels_of_function, answers


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize(
    ("how", "options"),
    [(kernels.lean_kernel, kernels._LEAN_OPTIONS), (kernels.kernel, kernels._OPTIONS)],
)
def test_the_machine_code_is_that_of_numbas_own_way(how, options):
    (ours, numbas_own), (answer, expected) = ours_and_numbas_own(plain_loops, how, options)
    assert issubclass(ours._compiler.pipeline_class, compiling.QuickCompiler)
    assert answer == expected
    assert len(machine_code(ours)) > 50
    assert machine_code(ours) == machine_code(numbas_own)


def test_array_expressions_give_the_same_numbers():
    _, (answer, expected) = ours_and_numbas_own(array_expressions, kernels.kernel, kernels._OPTIONS)
    assert answer == expected


@kernels.part
def _squared(value):
    return value * value


def calls_a_part(values, codes, out):
    """A part, and functions of Numba's own that have parts themselves."""
    total = 0.0
    for i in range(len(values)):
        out[i] = _squared(values[i])
        total += max(out[i], min(values[i], 0.5))
    return total + np.sort(values)[0] + np.zeros(3).sum()


def symbols(dispatcher):
    (result,) = dispatcher.overloads.values()
    return result.library._codegen._engine._defined_symbols


def test_a_part_has_no_machine_code_of_its_own_and_a_kernel_has_its_instructions():
    (ours, _), (answer, expected) = ours_and_numbas_own(
        calls_a_part, kernels.kernel, kernels._OPTIONS
    )
    assert answer == expected
    (part_of_it,) = _squared.overloads.values()
    # One that an earlier run of the tests has kept comes without even a place for it.
    assert getattr(part_of_it.library, "_compiled_object", None) is None
    (whole,) = ours.overloads.values()
    assert whole.library._compiled_object is not None
    assert part_of_it.fndesc.llvm_cpython_wrapper_name not in symbols(ours)


def test_a_kernel_is_optimised_once_with_its_parts_in_it(monkeypatch):
    optimise, optimised = CPUCodeLibrary._optimize_final_module, []

    def noting(library):
        optimised.append(library.name)
        optimise(library)

    monkeypatch.setattr(CPUCodeLibrary, "_optimize_final_module", noting)
    fresh = kernels.part(_squared.py_func)
    kernel = kernels.specialised(
        calls_a_part, "calls_a_fresh_part", how=kernels.kernel, _squared=fresh
    )
    kernel(np.array([0.3, 0.9]), np.arange(2), np.zeros(2))
    assert fresh.overloads
    assert optimised == ["calls_a_fresh_part"]


def test_a_part_that_was_kept_serves_a_kernel_of_another_process(tmp_path):
    (tmp_path / "kept_kernels.py").write_text(KEPT)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)]),
    }
    for kernel, n_loaded in (("once", 0), ("twice", 1), ("twice", 0)):
        answer = f"kept.{kernel}(3), sum(kept.added.stats.cache_hits.values())"
        words = [sys.executable, "-c", f"import kept_kernels as kept; print({answer})"]
        made = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
        assert made.stdout.split() == ["4" if kernel == "once" else "5", str(n_loaded)]


KEPT = """
from steadyrank.compute.kernels import lean_kernel, part

@part
def added(x):
    return x + 1

@lean_kernel
def once(x):
    return added(x)

@lean_kernel
def twice(x):
    return added(added(x))
"""


def test_numba_compiles_its_own_functions_for_others_as_before():
    """What was compiled for a kernel, without entrances, is not handed to other functions."""
    kernels.kernel(calls_a_part)(np.ones(3), np.arange(3), np.zeros(3))

    @numba.njit(error_model="numpy", nogil=True)
    def others_own(values):
        return np.sort(values)[0] + max(values[0], values[1])

    assert others_own(np.array([3.0, 2.0])) == 5.0


def test_the_collector_rests_while_a_kernel_compiles_and_only_then():
    assert gc.isenabled()
    with compiling.remembering():
        assert not gc.isenabled()
        with compiling.remembering():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with compiling.remembering():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def numbas_own_parts():
    return [vars(owner)[name] for owner, name, _ in compiling._REPLACEMENTS]


def test_numba_is_as_it_was_after_a_kernel_also_one_that_fails():
    before = numbas_own_parts()
    with compiling.remembering():
        assert all(a is not b for a, b in zip(before, numbas_own_parts(), strict=True))
        with compiling.remembering():
            pass
        assert all(a is not b for a, b in zip(before, numbas_own_parts(), strict=True))
    assert numbas_own_parts() == before
    with pytest.raises(numba.TypingError):
        kernels.kernel(lambda x: x.nothing)(1)
    assert numbas_own_parts() == before
    assert compiling._DEPTH == [0]


def test_a_part_that_numba_no_longer_has_is_not_put_there(monkeypatch):
    class Empty:
        pass

    monkeypatch.setattr(compiling, "_REPLACEMENTS", ((Empty, "gone", lambda own: own),))
    with compiling.remembering():
        assert not hasattr(Empty, "gone")


@pytest.mark.parametrize("version", ["0.60.9", "1.0"])
def test_another_version_compiles_its_own_way(monkeypatch, version):
    monkeypatch.setattr(numba, "__version__", version)
    dispatcher = numba_cache.compiled(plain_loops, {})
    assert not issubclass(dispatcher._compiler.pipeline_class, compiling.QuickCompiler)
    assert "compile" not in vars(dispatcher._compiler)
