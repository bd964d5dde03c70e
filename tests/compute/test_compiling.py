"""Numba's way shortened: the same machine code, and Numba as it was before and after."""

from __future__ import annotations

import re

import numba
import numpy as np
import pytest

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
    return (out**2).sum() + np.sort(values)[0]


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
