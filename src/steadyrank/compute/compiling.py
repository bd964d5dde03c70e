"""Numba's way from Python to machine code, shortened where it repeats itself; the code is the same.

A first command waits for compiling, and most of that is not LLVM but Numba's own Python: the same
operator is resolved for the same types hundreds of times, a function's variables are counted anew
after each of thirty passes, and a third of the passes look for what no kernel has (closures,
`with`, loops over literals). While a kernel of steadyrank is compiled, and only then, what has been
found once is remembered.

This rests on private parts of Numba, and is imported for the versions that `numba_cache` names.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import base, compiler, ir, targetconfig, types
from numba.core.compiler_machinery import PassManager

_NEEDLESS = frozenset(
    {
        "AnnotateTypes",
        "DumpParforDiagnostics",
        "FindLiterallyCalls",
        "InlineClosureLikes",
        "InlineInlinables",
        "LiteralPropagationSubPipelinePass",
        "LiteralUnroll",
        "MakeFunctionToJitFunction",
        "RewriteDynamicRaises",
        "WithLifting",
    }
)


class _Passes(PassManager):
    """Passes without a look over the function after each: those that are left keep its blocks."""

    _ENFORCING = False


class QuickCompiler(compiler.Compiler):
    """Numba's compiler, less the passes that find nothing in kernels."""

    needless = _NEEDLESS

    def define_pipelines(self) -> list[Any]:
        """The passes that are left."""
        numbas_own: Any = super()
        return [_shortened(passes, self.needless) for passes in numbas_own.define_pipelines()]


class LeanCompiler(QuickCompiler):
    """The same, for kernels that have no array expressions that could be fused."""

    needless = _NEEDLESS | {"NopythonRewrites"}


def _shortened(passes: Any, needless: frozenset[str], kind: Any = _Passes) -> Any:
    shorter = kind(passes.pipeline_name)
    for step, why in passes.passes:
        if step.__name__ not in needless:
            shorter.add_pass(step, why)
    shorter.finalize()
    return shorter


def compiler_for(options: dict[str, Any]) -> type[QuickCompiler]:
    """The compiler for a kernel's options: one that makes no arrays has no array expressions."""
    return QuickCompiler if options.get("_nrt", True) else LeanCompiler


def compile_quickly(dispatcher: Any) -> None:
    """Have a kernel compiled with what is remembered from others."""
    numbas_own = dispatcher._compiler.compile

    def compile_with_memory(args: Any, return_type: Any) -> Any:
        with remembering():
            return numbas_own(args, return_type)

    dispatcher._compiler.compile = compile_with_memory


_DEPTH = [0]


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """Replace what Numba does over and over; it compiles one kernel, with its parts, at a time."""
    _DEPTH[0] += 1
    try:
        with contextlib.ExitStack() as replaced:
            if _DEPTH[0] == 1:
                for owner, name, replacement in _REPLACEMENTS:
                    replaced.enter_context(_replaced(owner, name, replacement))
            yield
    finally:
        _DEPTH[0] -= 1


@contextlib.contextmanager
def _replaced(owner: Any, name: str, replacement: Callable[[Any], Any]) -> Iterator[None]:
    numbas_own = vars(owner).get(name)
    if numbas_own is None:
        yield
        return
    setattr(owner, name, replacement(numbas_own))
    try:
        yield
    finally:
        setattr(owner, name, numbas_own)


_SIGNATURES: dict[Any, Any] = {}
_PLAIN = (types.Number, types.Boolean, types.Array, types.IntegerLiteral)


def _remembered_signatures(resolve: Any) -> Any:
    """Resolve an operator once for the same numbers and arrays."""

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not all(isinstance(kind, _PLAIN) for kind in args):
            return resolve(self, context, args, kws)
        key = context, self.key, args
        if key in _SIGNATURES:
            signature = _SIGNATURES[key]
            self._impl_keys[signature.args] = self.typing_key
            return signature
        signature = resolve(self, context, args, kws)
        # What is compiled for a call depends on options too; what Numba has ready does not.
        if self._impl_keys.get(signature.args) is self.typing_key:
            _SIGNATURES[key] = signature
        return signature

    return get_call_type


_SIZES: dict[Any, int] = {}


def _remembered_sizes(sizeof: Any) -> Any:
    def get_abi_sizeof(self: Any, kind: Any) -> int:
        if kind not in _SIZES:
            _SIZES[kind] = sizeof(self, kind)
        return _SIZES[kind]

    return get_abi_sizeof


def _quick_hash(numbas_own: Any) -> Any:
    # Numba hashes the options' names, which are those of the class.
    return lambda self: hash(type(self))


def _quick_equality(numbas_own: Any) -> Any:
    """Most options that are compared are the same ones."""

    def are_equal(self: Any, other: Any) -> Any:
        same = type(self) is type(other) and self._values == other._values
        return same or numbas_own(self, other)

    return are_equal


_NO_VARIABLES = frozenset({ir.Loc, str, int, bool, type(None)})


def _quick_variables(numbas_own: Any) -> Any:
    """List the variables of a statement without a call for each of its fields that has none."""

    def list_variables(self: Any, value: Any) -> Any:
        if type(value) is not dict:
            return numbas_own(self, value)
        variables: list[Any] = []
        for part in value.values():
            if type(part) is ir.Var:
                variables.append(part)
            elif type(part) not in _NO_VARIABLES:
                variables.extend(numbas_own(self, part))
        return variables

    return list_variables


_REPLACEMENTS: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (types.BaseFunction, "get_call_type", _remembered_signatures),
    (base.BaseContext, "get_abi_sizeof", _remembered_sizes),
    (targetconfig.TargetConfig, "__hash__", _quick_hash),
    (targetconfig.TargetConfig, "__eq__", _quick_equality),
    (ir.Inst, "_rec_list_vars", _quick_variables),
)
