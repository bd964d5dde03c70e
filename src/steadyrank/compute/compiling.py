"""Numba's way from Python to machine code, shortened where it repeats itself or works for nobody.

A first command waits for compiling, and half of that is not LLVM but Numba's own Python: the same
operator is resolved for the same types hundreds of times, a function's variables are counted anew
after each of thirty passes, and a third of the passes look for what no kernel has (closures,
`with`, loops over literals). Numba's own functions and the parts of kernels get entrances, and
machine code, that nobody uses: a kernel has their instructions in its own code. While a kernel of
steadyrank is compiled, and only then, what has been found once is remembered, and the rest is left
out. A kernel without parts has the instructions that Numba gives it; one with parts is optimised
once, with all of them in it, where Numba would first optimise each part, with its own parts in it.

This rests on private parts of Numba, and is imported for the versions that `numba_cache` names.
"""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator
from typing import Any

from llvmlite.binding import ffi
from numba.core import base, codegen, compiler, cpu, ir, lowering, targetconfig, typeinfer, types
from numba.core.compiler_machinery import PassManager
from numba.core.environment import lookup_environment
from numba.core.typing import templates

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

    def _runPass(self, index: int, step: Any, state: Any) -> None:
        # Numba also times each pass, and describes it to whoever listens.
        step.analysis = self._analysis
        step.run_initialization(state)
        step.run_pass(state)
        step.run_finalizer(state)


_PIPELINES: dict[Any, list[Any]] = {}


class QuickCompiler(compiler.Compiler):
    """Numba's compiler, less the passes that find nothing in kernels."""

    needless = _NEEDLESS

    def define_pipelines(self) -> list[Any]:
        """The passes that are left; all kernels of one compiler have the same options."""
        kind = type(self)
        if kind not in _PIPELINES:
            numbas_own: Any = super()
            pipelines = numbas_own.define_pipelines()
            _PIPELINES[kind] = [_shortened(passes, self.needless) for passes in pipelines]
        return _PIPELINES[kind]


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
                replaced.enter_context(_nothing_collected())
                for owner, name, replacement in _REPLACEMENTS:
                    replaced.enter_context(_replaced(owner, name, replacement))
            yield
    finally:
        _DEPTH[0] -= 1


@contextlib.contextmanager
def _nothing_collected() -> Iterator[None]:
    """Leave Numba's cycles of objects until a kernel is compiled: a look for them visits all."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


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


_HANDED_DOWN = ("nrt", "fastmath", "error_model", "forceinline")
"""The options of a kernel that Numba also compiles its own functions with, where it calls them."""


def _remembered_functions(numbas_own: Any) -> Any:
    """Compile a function of Numba's own once for all kernels that hand the same options down."""

    def get_impl(self: Any, args: Any, kws: Any) -> Any:
        stack: Any = targetconfig.ConfigStack
        flags = stack.top_or_none()
        handed_down = tuple(str(getattr(flags, name, None)) for name in _HANDED_DOWN)
        key = self.context, tuple(args), tuple(kws.items()), handed_down
        if key in self._impl_cache:
            return self._impl_cache[key]
        return self._build_impl(key, args, kws)

    return get_impl


def _without_entrances(numbas_own: Any) -> Any:
    """Numba's own functions are called by kernels here, never from Python or C."""

    def get_jit_decorator(self: Any) -> Any:
        jit = numbas_own(self)
        return functools.partial(jit, no_cpython_wrapper=True, no_cfunc_wrapper=True)

    return get_jit_decorator


_ENTRANCES = ("_ZN7cpython", "cfunc.")


def _has_entrance(library: Any) -> bool:
    return any(
        function.name.startswith(_ENTRANCES) and not function.is_declaration
        for function in library._final_module.functions
    )


def _whole_kernels_only(numbas_own: Any) -> Any:
    """Optimise a kernel with its parts, once, and not each of these before, with its own parts."""

    def optimize_final_module(self: Any) -> None:
        if _has_entrance(self):
            numbas_own(self)

    return optimize_final_module


def _only_for_linking(numbas_own: Any) -> Any:
    """Make no machine code of what only kernels call: they have its instructions in their own."""

    def finalize_final_module(self: Any) -> None:
        if getattr(self, "_compiled_object", None) is not None or _has_entrance(self):
            numbas_own(self)
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    return finalize_final_module


def _as_it_is(numbas_own: Any) -> Any:
    """Keep what has no machine code as what LLVM makes it from."""

    def serialize(self: Any) -> Any:
        self._ensure_finalized()
        if self._compiled_object is None:
            return self.serialize_using_bitcode()
        return numbas_own(self)

    return serialize


def _where_there_is_code(numbas_own: Any) -> Any:
    def set_env(self: Any, name: str, environment: Any) -> None:
        if self._engine.is_symbol_defined(name):
            numbas_own(self, name, environment)

    return set_env


def _with_environments(numbas_own: Any) -> Any:
    """Give a kernel also the environments of the functions that became parts of its code."""

    environment_of: Any = lookup_environment

    def get_executable(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
        entrance = numbas_own(self, library, fndesc, env)
        for variable in library._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv"):
                environment = environment_of(variable.name)
                if environment is not None:
                    library.codegen.set_env(variable.name, environment)
        return entrance

    return get_executable


def _without_array_protocol(numbas_own: Any) -> Any:
    """An array is not made from anything else: Numba would search all that it knows each time."""

    def get_function(self: Any, function: Any, signature: Any, _firstcall: bool = True) -> Any:
        if function == "__array__" and isinstance(signature.args[0], types.Array):
            raise NotImplementedError  # So Numba says that it has none, and its callers go on.
        return numbas_own(self, function, signature, _firstcall)

    return get_function


_HAVE_LOC: dict[Any, bool] = {}


def _remembered_parameters(numbas_own: Any) -> Any:
    def has_loc(function: Any) -> bool:
        if function not in _HAVE_LOC:
            _HAVE_LOC[function] = numbas_own(function)
        return _HAVE_LOC[function]

    return has_loc


def _without_listeners(numbas_own: Any) -> Any:
    """Nobody listens when LLVM is called, which is ten thousand times."""
    return {
        "__enter__": lambda self: self._lock.acquire(),
        "__exit__": lambda self, *error: self._lock.release(),
    }[numbas_own.__name__]


def _without_error_context(numbas_own: Any) -> Any:
    """What goes wrong while a kernel is compiled has a traceback."""
    nothing = contextlib.nullcontext()
    return lambda *words, **more: nothing


_REPLACEMENTS: tuple[tuple[Any, str, Callable[[Any], Any]], ...] = (
    (types.BaseFunction, "get_call_type", _remembered_signatures),
    (base.BaseContext, "get_abi_sizeof", _remembered_sizes),
    (targetconfig.TargetConfig, "__hash__", _quick_hash),
    (targetconfig.TargetConfig, "__eq__", _quick_equality),
    (ir.Inst, "_rec_list_vars", _quick_variables),
    (templates._OverloadFunctionTemplate, "_get_impl", _remembered_functions),
    (templates._OverloadFunctionTemplate, "_get_jit_decorator", _without_entrances),
    (codegen.CPUCodeLibrary, "_optimize_final_module", _whole_kernels_only),
    (codegen.CPUCodeLibrary, "_finalize_final_module", _only_for_linking),
    (codegen.CPUCodeLibrary, "serialize_using_object_code", _as_it_is),
    (codegen.JITCPUCodegen, "set_env", _where_there_is_code),
    (cpu.CPUContext, "get_executable", _with_environments),
    (base.BaseContext, "get_function", _without_array_protocol),
    (base, "_has_loc", _remembered_parameters),
    (ffi._LLVMLock, "__enter__", _without_listeners),
    (ffi._LLVMLock, "__exit__", _without_listeners),
    (lowering, "new_error_context", _without_error_context),
    (typeinfer, "new_error_context", _without_error_context),
)
