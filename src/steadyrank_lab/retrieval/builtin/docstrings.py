"""Docstrings of Python's standard library, numpy, scipy, pandas and matplotlib, as documents.

A text collection that is there wherever steadyrank is: each public function, class, method and
module is a document under the name that its users write. Source files are read, not run; what is
compiled, such as numpy's ufuncs, has its docstring only as an object, and is asked for it.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import importlib
import importlib.util
import inspect
import re
import sys
import sysconfig
import types
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from steadyrank.compute.executors import Progress
from steadyrank_lab.retrieval.builtin.python_sources import MAKER, Definition, Library

PACKAGES = ("numpy", "scipy", "pandas", "matplotlib")
STANDARD = "python"
"""The package that the standard library's documents are counted under."""

_FEWEST_WORDS = 5
# Left out: tests, demonstrations, tools of the interpreter, modules that not every Python brings,
# and those that newer versions have dropped, so that the names are the same almost everywhere.
_LEFT_OUT_NAMES = """
    aifc antigravity asynchat asyncore audioop binhex cgi cgitb chunk crypt curses distutils
    encodings ensurepip genericpath idlelib imghdr imp lib2to3 mailcap msilib msvcrt nis nntplib
    nt ntpath nturl2path ossaudiodev pipes posix pydoc_data readline smtpd sndhdr spwd sre_compile
    sre_constants sre_parse sunau telnetlib test this tkinter turtle turtledemo uu winreg winsound
    xdrlib xxlimited xxlimited_35 xxsubtype numpy.compat numpy.conftest numpy.core numpy.distutils
    numpy.f2py numpy.version scipy.conftest scipy.misc scipy.version matplotlib.pylab
    matplotlib.sphinxext matplotlib.testing
"""
_LEFT_OUT = set(_LEFT_OUT_NAMES.split())
_TESTS = {"tests", "test", "testutils", "conftest"}
# pandas says which modules are public; below pandas.core and pandas.io, names tell nothing.
_PANDAS = re.compile(
    r"pandas(\.(api(\..*)?|arrays|errors|plotting|testing|tseries(\.\w+)?|io\.formats\.style))?"
)
_PREFERRED = ("pandas.DataFrame.", "pandas.Series.")
_KNOWN_AS = {"posixpath": "os.path"}


class DocstringDocument(NamedTuple):
    """A public object: its name, name and signature, and what its docstring says."""

    id: str
    title: str
    text: str


def extract_docstrings(*, progress: Progress | None = None) -> list[DocstringDocument]:
    """All documents, by name; `progress` is told modules."""
    files = _standard_files()
    for package in PACKAGES:
        files |= package_files(package)
    return documents_of(files, progress=progress)


def documents_of(
    files: dict[str, Path], *, progress: Progress | None = None
) -> list[DocstringDocument]:
    """The documents of the public modules among source files {module: path}."""
    tops = {name.partition(".")[0] for name in files}

    def ask(module: str) -> Iterable[str]:
        return asked_names(module) if any(_belongs(module, top) for top in tops) else ()

    return _distinct(_entries(Library(files, ask), progress))


def package_files(package: str) -> dict[str, Path]:
    """The source files of an installed package, by module; the package is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return {}
    return folder_files(Path(spec.origin).parent, package)


def folder_files(folder: Path, package: str) -> dict[str, Path]:
    """The source files below a package's folder, by module; without its tests."""
    files = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if _TESTS.isdisjoint(parts):
            own = parts[:-1] if parts[-1] == "__init__" else parts
            files[".".join((package, *own) if package else own)] = path
    return files


def _standard_files() -> dict[str, Path]:
    folder = Path(sysconfig.get_path("stdlib"))
    files: dict[str, Path] = {}
    for name in sorted(sys.stdlib_module_names - _LEFT_OUT):
        if (folder / f"{name}.py").is_file():
            files[name] = folder / f"{name}.py"
        elif (folder / name / "__init__.py").is_file():
            files |= folder_files(folder / name, name)
    return files


def _is_public(module: str) -> bool:
    parts = module.split(".")
    if any(part.startswith("_") for part in parts) or not _TESTS.isdisjoint(parts):
        return False
    if any(".".join(parts[:n]) in _LEFT_OUT for n in range(1, len(parts) + 1)):
        return False
    return parts[0] != "pandas" or _PANDAS.fullmatch(module) is not None


def _entries(library: Library, progress: Progress | None) -> Iterator[Entry]:
    public = sorted(name for name in library.files if _is_public(name))
    names: dict[int, tuple[str, Definition]] = {}
    compiled: dict[tuple[str, str], str] = {}
    for done, home in enumerate(public):
        module = library.module(home)
        known_as = _KNOWN_AS.get(home, home)
        if module is not None and module.doc and not is_deprecated(module.doc):
            yield Entry(known_as, "", module.doc)
        for name, origin in _public_names(library, home):
            public_name = f"{known_as}.{name}"
            if isinstance(origin, Definition):
                best = names.get(id(origin))
                if best is None or _rank(public_name, origin) < _rank(best[0], origin):
                    names[id(origin)] = (public_name, origin)
            else:
                best_name = compiled.get(origin)
                if best_name is None or _asked_rank(public_name, origin) < _asked_rank(
                    best_name, origin
                ):
                    compiled[origin] = public_name
        if progress is not None:
            progress(done + 1, len(public) + 1)
    # A private class may be known under a public one's attribute, such as pandas.Series.str.
    for name, origin in names.values():
        yield from _documented(library, name, origin, names)
    if not sys.stdlib_module_names.isdisjoint(library.files):
        yield from compiled_standard(compiled, _LEFT_OUT)
    yield from compiled_entries(compiled)
    if progress is not None:
        progress(len(public) + 1, len(public) + 1)


def _order(name: str) -> tuple[int, int, int, str]:
    """Which of two names of the same thing is the one to know it by: the smaller."""
    rank = next((n for n, prefix in enumerate(_PREFERRED) if name.startswith(prefix)), 2)
    return name.count("."), rank, len(name), name


def _rank(name: str, definition: Definition) -> tuple[Any, ...]:
    """A name's order; before it, whether the definition is in the package that offers it."""
    home = name.rpartition(".")[0]
    return not f"{definition.module}.".startswith(f"{home}."), _order(name)


def _asked_rank(name: str, origin: tuple[str, str]) -> tuple[Any, ...]:
    """A name's order; before it, whether the module is the compiled one's own: struct, _struct."""
    return name.rpartition(".")[0] != origin[0].lstrip("_"), _order(name)


def _public_names(
    library: Library, home: str
) -> Iterator[tuple[str, Definition | tuple[str, str]]]:
    """What a public module offers of its own or of its package's private parts."""
    module = library.module(home)
    if module is None:
        return
    top = home.partition(".")[0]
    passes_on = module.is_package or module.has_all
    private = (star for star in module.stars if not _is_public(star))
    starred = {name for star in private for name in library.offered(star)}
    for name in library.offered(home):
        own = passes_on or name in module.definitions or name in starred
        if name.startswith("_") or name.endswith(MAKER) or not own:
            continue
        origin = library.find(home, name)
        if origin is None:
            continue
        source = origin.module if isinstance(origin, Definition) else origin[0]
        if _belongs(source, top):
            yield name, origin


def _belongs(module: str, top: str) -> bool:
    """Whether a module is part of a package, or a private one of the standard library."""
    first = module.partition(".")[0]
    if first == top:
        return True
    is_standard = top in sys.stdlib_module_names and first in sys.stdlib_module_names
    return is_standard and (first.startswith("_") or first in {"posix", "nt"})


def _documented(
    library: Library,
    name: str,
    definition: Definition,
    names: dict[int, tuple[str, Definition]],
    seen: frozenset[int] = frozenset(),
) -> Iterator[Entry]:
    """A definition and, of a class, its public members and those of its private bases."""
    templated = definition.is_templated and name.startswith("pandas.")
    doc = (asked_doc(name) if templated else None) or definition.doc
    if definition.deprecated or (doc and is_deprecated(doc)) or id(definition) in seen:
        return
    if doc:
        yield Entry(name, _signature(definition), doc)
    if not definition.is_class:
        return
    seen = seen | {id(definition)}
    for member in _members(library, definition, names).values():
        if not member.name.startswith("_"):
            yield from _documented(library, f"{name}.{member.name}", member, names, seen)
    for owner in _lineage(library, definition, names):
        for attribute, of_class in owner.accessors.items():
            target = library.look_up(owner.module, of_class)
            if isinstance(target, Definition) and not attribute.startswith("_"):
                yield from _documented(library, f"{name}.{attribute}", target, names, seen)


def _members(
    library: Library, definition: Definition, names: dict[int, tuple[str, Definition]]
) -> dict[str, Definition]:
    members: dict[str, Definition] = {}
    for owner in _lineage(library, definition, names):
        for name, member in owner.members.items():
            members.setdefault(name, member)
    return members


def _lineage(
    library: Library, definition: Definition, names: dict[int, tuple[str, Definition]]
) -> list[Definition]:
    """A class and the bases that have no public name of their own, nearest first."""
    lineage, ahead = [definition], [definition]
    while ahead:
        owner = ahead.pop(0)
        for base in owner.bases:
            held = library.look_up(owner.module, base)
            if not isinstance(held, Definition) or not held.is_class or id(held) in names:
                continue
            if not any(held is other for other in lineage):
                lineage.append(held)
                ahead.append(held)
    return lineage


def _signature(definition: Definition) -> str:
    arguments = definition.arguments
    if definition.is_class:
        constructor = definition.members.get("__init__")
        arguments = None if constructor is None else constructor.arguments
    if arguments is None:
        return ""
    return f"({ast.unparse(_bare(arguments))})"


def _bare(arguments: ast.arguments) -> ast.arguments:
    """Arguments without annotations, and without self or cls."""
    bare = copy.copy(arguments)
    for kind in ("posonlyargs", "args", "kwonlyargs"):
        kept = [ast.arg(arg=argument.arg) for argument in getattr(arguments, kind)]
        setattr(bare, kind, kept)
    for kind in ("vararg", "kwarg"):
        argument = getattr(arguments, kind)
        setattr(bare, kind, None if argument is None else ast.arg(arg=argument.arg))
    first = bare.posonlyargs or bare.args
    if first and first[0].arg in ("self", "cls"):
        del first[0]
        n_positional = len(bare.posonlyargs) + len(bare.args)
        bare.defaults = bare.defaults[-n_positional:] if n_positional else []
    return bare


def _distinct(entries: Iterable[Entry]) -> list[DocstringDocument]:
    """Documents by name; of several that say the same, the one with the shortest name."""
    best: dict[bytes, DocstringDocument] = {}
    for entry in entries:
        text = inspect.cleandoc(entry.doc)
        words = text.split()
        if len(words) < _FEWEST_WORDS:
            continue
        same = hashlib.blake2b(" ".join(words).lower().encode("utf-8", "replace")).digest()
        document = DocstringDocument(entry.name, entry.name + entry.signature, text)
        if same not in best or _order(entry.name) < _order(best[same].id):
            best[same] = document
    by_name: dict[str, DocstringDocument] = {}
    for document in best.values():
        held = by_name.get(document.id)
        if held is None or len(document.text) > len(held.text):
            by_name[document.id] = document
    return [by_name[name] for name in sorted(by_name)]


_HOOKS = {"breakpointhook", "displayhook", "excepthook", "unraisablehook"}


class Entry(NamedTuple):
    """Something documented: its public name, its signature, and its docstring as it stands."""

    name: str
    signature: str
    doc: str


def is_deprecated(doc: str) -> bool:
    """Whether a docstring says that the whole object is to be given up."""
    text = inspect.cleandoc(doc)
    return re.search(r"^\.\. deprecated::|\A\W*deprecated\b", text, re.I | re.M) is not None


def asked_names(module: str) -> list[str]:
    """What a compiled module offers to `import *`."""
    held = _imported(module)
    names = getattr(held, "__all__", None) or [n for n in dir(held) if not n.startswith("_")]
    return [name for name in names if isinstance(name, str)]


def asked_doc(name: str) -> str | None:
    """The docstring of an object, by its public name."""
    top, *attributes = name.split(".")
    held = _imported(top)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attribute in attributes:
            held = getattr(held, attribute, None)
    doc = None if held is None else getattr(held, "__doc__", None)
    return doc if isinstance(doc, str) else None


def _imported(module: str) -> Any:
    """A compiled module, or None where this machine has none such."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except Exception:  # whatever stops a module that is not ours, its names are just not there
        return None


def compiled_standard(wanted: dict[tuple[str, str], str], left_out: set[str]) -> Iterator[Entry]:
    """Compiled public modules of the standard library, such as math; their names into `wanted`."""
    folder = Path(sysconfig.get_path("stdlib"))
    for name in sorted(sys.stdlib_module_names - left_out):
        has_source = (folder / f"{name}.py").is_file() or (folder / name).is_dir()
        held = None if name.startswith("_") or has_source else _imported(name)
        if held is None:
            continue
        yield from _described(held, name)
        for attribute in asked_names(name):
            wanted.setdefault((name, attribute), f"{name}.{attribute}".removeprefix("builtins."))


def compiled_entries(wanted: dict[tuple[str, str], str]) -> Iterator[Entry]:
    """What objects say, {(module, name): public name}, and what members of classes say."""
    for (module, attribute), name in wanted.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            held = getattr(_imported(module), attribute, None)
        if not callable(held) or _is_changing(held, module, attribute):
            continue
        yield from _described(held, name)
        if isinstance(held, type):
            for member_name, member in _class_members(held).items():
                yield from _described(member, f"{name}.{member_name}")


def _is_changing(held: Any, module: str, name: str) -> bool:
    """What programs put in place of the interpreter's own, and the exceptions among the builtins,
    which say next to nothing.
    """
    if module == "sys" and name in _HOOKS:
        return True
    if module != "builtins":
        return False
    is_error = isinstance(held, type) and issubclass(held, BaseException)
    return is_error or not isinstance(held, (type, types.BuiltinFunctionType))


def _class_members(held: type) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for owner in held.__mro__:
        if owner is held or owner.__name__.startswith("_"):
            for name, member in vars(owner).items():
                if not name.startswith("_"):
                    members.setdefault(name, member)
    return members


def _described(held: Any, name: str) -> Iterator[Entry]:
    doc = getattr(held, "__doc__", None)
    # An object without a docstring of its own shows that of its class.
    if not isinstance(doc, str) or doc == getattr(type(held), "__doc__", None):
        return
    if not is_deprecated(doc):
        yield Entry(name, _asked_signature(held), doc)


def _asked_signature(held: Any) -> str:
    signature = getattr(held, "__text_signature__", None) or ""
    return re.sub(r"\(\$\w+(, /)?(, )?", "(", signature)
