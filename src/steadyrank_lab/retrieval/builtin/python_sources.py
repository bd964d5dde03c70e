"""What Python modules define and pass on, read from their source files without running them.

For anyone who wants docstrings under the names that users write: a definition in a private module
is followed through `from … import …`, `import *` and `__all__` to the public modules that offer it.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LARGEST = 4_000_000
"""Bytes of a source file; beyond that it is generated data, not documentation."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef
# These say that the whole object is deprecated; others, such as pandas'
# deprecate_nonkeyword_arguments, are about single arguments.
_DEPRECATING = {"deprecated", "_deprecated", "deprecate", "_deprecate"}
_NOT_DOCUMENTED = {"overload", "setter", "deleter"}
_ACCESSORS = {"Accessor", "CachedAccessor"}
_DOC_WRITERS = {"doc", "Appender", "Substitution"}

MAKER = "_gen"
"""How scipy.stats ends the names of classes that make the one object that users know."""


@dataclass(slots=True, kw_only=True, eq=False)
class Definition:
    """A function, a class or a property."""

    name: str
    module: str
    doc: str | None
    deprecated: bool
    arguments: ast.arguments | None
    """Of a function or method; None for classes and properties."""
    is_templated: bool = False
    """Whether a decorator writes the docstring, from templates."""
    is_class: bool = False
    bases: tuple[str, ...] = ()
    members: dict[str, Definition] = field(default_factory=dict)
    accessors: dict[str, str] = field(default_factory=dict)
    """Attributes that stand for an object of another class, such as `str` of pandas' Series."""


Origin = Definition | tuple[str, str] | None
"""A definition; or, from a module without a source, the module and the name there; or nothing."""


@dataclass(slots=True, kw_only=True, eq=False)
class Module:
    """A source file: what it defines, what it imports, and what it offers to `import *`."""

    name: str
    is_package: bool
    doc: str | None = None
    definitions: dict[str, Definition] = field(default_factory=dict)
    links: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Imported names: from which module, and their name there (empty for the module itself)."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Names that are set to another name, `a = b` or `a = b.c`."""
    makers: dict[str, str] = field(default_factory=dict)
    """Names that are set to an object that a call made, `a = b(…)`."""
    stars: list[str] = field(default_factory=list)
    exported: list[str] | None = None
    """`__all__`; None where there is none, or where it is computed."""
    has_all: bool = False
    lists_all: bool = False
    """Whether `__all__` is made from all names that there are, `[… for … in dir()]`."""
    deleted: set[str] = field(default_factory=set)


def parse_module(name: str, path: Path) -> Module | None:
    """A module from its source; None where the file cannot be read as Python."""
    try:
        if path.stat().st_size > LARGEST:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in other people's strings
            tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    module = Module(
        name=name, is_package=path.name == "__init__.py", doc=ast.get_docstring(tree, clean=False)
    )
    for statement in tree.body:
        _read(statement, module)
    return module


def _read(statement: ast.stmt, module: Module, *, only_new: bool = False) -> None:
    """Take in one statement; in a second branch, only names that the first left undefined."""
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        if not (only_new and statement.name in module.definitions):
            definition = _definition(statement, module.name)
            if definition is not None:
                module.definitions[definition.name] = definition
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        _read_import(statement, module, only_new=only_new)
    elif isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
        _read_assignment(statement, module)
    elif isinstance(statement, ast.Expr):
        _read_call(statement.value, module)
    elif isinstance(statement, ast.Delete):
        module.deleted.update(map(_dotted, statement.targets))
    else:
        for first, block in _blocks(statement):
            for inner in block:
                _read(inner, module, only_new=only_new or not first)


def _blocks(statement: ast.stmt) -> Iterator[tuple[bool, Sequence[ast.stmt]]]:
    """The branches of a compound statement; whether each is what runs as a rule."""
    if isinstance(statement, ast.If):
        yield True, statement.body
        yield False, statement.orelse
    elif isinstance(statement, ast.Try):
        yield True, [*statement.body, *statement.orelse]
        for handler in statement.handlers:
            yield False, handler.body
    elif isinstance(statement, ast.With):
        yield True, statement.body


def _definition(node: _Function | ast.ClassDef, module: str) -> Definition | None:
    decorators = {_last(_dotted(decorator)) for decorator in node.decorator_list}
    if decorators & _NOT_DOCUMENTED:
        return None
    definition = Definition(
        name=node.name,
        module=module,
        doc=ast.get_docstring(node, clean=False),
        deprecated=bool(decorators & _DEPRECATING),
        arguments=None,
        is_templated=bool(decorators & _DOC_WRITERS),
    )
    if isinstance(node, ast.ClassDef):
        definition.is_class = True
        definition.bases = tuple(filter(None, map(_dotted, node.bases)))
        for statement in node.body:
            _read_member(statement, definition)
    elif not any(name.endswith("property") for name in decorators):
        definition.arguments = node.args
    return definition


def _read_member(statement: ast.stmt, owner: Definition) -> None:
    if isinstance(statement, (*_FUNCTIONS, ast.ClassDef)):
        definition = _definition(statement, owner.module)
        if definition is not None:
            owner.members[definition.name] = definition
    elif isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
        call = statement.value
        if _last(_dotted(call)) in _ACCESSORS and len(call.args) == 2:
            for target in statement.targets:
                owner.accessors[_dotted(target)] = _dotted(call.args[1])
    else:
        for _, block in _blocks(statement):
            for inner in block:
                _read_member(inner, owner)


def _dotted(node: ast.expr) -> str:
    """`a.b.c` of an expression or of what it calls; empty for anything else."""
    if isinstance(node, ast.Call):
        return _dotted(node.func)
    if isinstance(node, ast.Subscript):  # Generic[T]
        return _dotted(node.value)
    if isinstance(node, ast.Attribute):
        owner = _dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""


def _last(dotted: str) -> str:
    return dotted.rpartition(".")[2]


def _read_import(statement: ast.Import | ast.ImportFrom, module: Module, *, only_new: bool) -> None:
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            name = alias.asname or alias.name.partition(".")[0]
            module.links.setdefault(name, (alias.name if alias.asname else name, ""))
        return
    home = _absolute(statement, module)
    for alias in statement.names:
        name = alias.asname or alias.name
        if alias.name == "*":
            module.stars.append(home)
        elif not (only_new and name in module.links):
            module.links[name] = (home, alias.name)


def _absolute(statement: ast.ImportFrom, module: Module) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.name.split(".")
    if not module.is_package:
        parts = parts[:-1]
    parts = parts[: len(parts) - statement.level + 1]
    return ".".join([*parts, statement.module] if statement.module else parts)


def _read_assignment(statement: ast.Assign | ast.AugAssign | ast.AnnAssign, module: Module) -> None:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    value = statement.value
    for target in targets:
        if not isinstance(target, ast.Name) or value is None:
            continue
        if target.id == "__all__":
            module.has_all = True
            module.lists_all |= isinstance(value, ast.ListComp)
            literal = _strings(value)
            if isinstance(statement, ast.AugAssign) and literal is not None:
                literal = None if module.exported is None else [*module.exported, *literal]
            module.exported = literal
        elif isinstance(value, ast.Call):
            module.makers[target.id] = _dotted(value)
        elif dotted := _dotted(value):
            module.aliases[target.id] = dotted


def _read_call(call: ast.expr, module: Module) -> None:
    """`__all__.append(…)`, `__all__.extend(…)` and `extend_all(…)`."""
    if not isinstance(call, ast.Call) or module.exported is None or len(call.args) != 1:
        return
    method = _dotted(call.func)
    if method == "extend_all":  # numpy's, by what another module offers
        more = None
    elif method == "__all__.append":
        more = _strings(ast.List(elts=call.args))
    elif method == "__all__.extend":
        more = _strings(call.args[0])
    else:
        return
    module.exported = None if more is None else [*module.exported, *more]


def _strings(node: ast.expr) -> list[str] | None:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _strings(node.left), _strings(node.right)
        return None if left is None or right is None else [*left, *right]
    if not isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return None
    values = [element.value for element in node.elts if isinstance(element, ast.Constant)]
    texts = [value for value in values if isinstance(value, str)]
    return texts if len(texts) == len(node.elts) else None


@dataclass(slots=True, eq=False)
class Library:
    """Source files by module name, parsed when they are first asked for."""

    files: dict[str, Path]
    ask: Callable[[str], Iterable[str]]
    """What a module without a source offers to `import *`."""
    _parsed: dict[str, Module | None] = field(default_factory=dict)
    _offers: dict[str, dict[str, None]] = field(default_factory=dict)
    _origins: dict[tuple[str, str], Origin] = field(default_factory=dict)

    def module(self, name: str) -> Module | None:
        """A module, if its source is there and is Python."""
        if name not in self._parsed:
            path = self.files.get(name)
            self._parsed[name] = None if path is None else parse_module(name, path)
        return self._parsed[name]

    def offered(self, name: str) -> dict[str, None]:
        """What `from name import *` brings, in order (a dictionary as an ordered set)."""
        if name in self._offers:
            return self._offers[name]
        self._offers[name] = {}  # for circles of stars
        module = self.module(name)
        if module is None:
            offers = {} if name in self.files else dict.fromkeys(self.ask(name))
        elif module.exported is not None:
            offers = dict.fromkeys(module.exported)
        else:
            own: list[Iterable[str]] = [module.definitions, module.aliases, module.makers]
            # A private module that computes its `__all__` lists what it makes, not what it uses.
            if module.lists_all or not (module.has_all and _last(name).startswith("_")):
                own.append(module.links)
            every = dict.fromkeys(name for names in own for name in names)
            for star in module.stars:
                every |= self.offered(star)
            hidden = module.deleted
            offers = {n: None for n in every if not n.startswith("_") and n not in hidden}
        self._offers[name] = offers
        return offers

    def find(self, home: str, name: str) -> Origin:
        """What `name` is in the module `home`."""
        key = (home, name)
        if key not in self._origins:
            self._origins[key] = None  # for circles of imports
            self._origins[key] = self._find(home, name)
        return self._origins[key]

    def _find(self, home: str, name: str) -> Origin:
        module = self.module(home)
        if module is None:
            return None if home in self.files else (home, name)
        if name in module.definitions:
            return module.definitions[name]
        if name in module.links:
            source, original = module.links[name]
            is_module = not original or f"{source}.{original}" in self.files
            return None if is_module else self.find(source, original)
        if name in module.aliases:
            return self.look_up(home, module.aliases[name])
        if name in module.makers:
            called = self.look_up(home, module.makers[name])
            is_maker = isinstance(called, Definition) and called.name == f"{name}{MAKER}"
            return called if is_maker else None
        return self._find_in_stars(module, name)

    def _find_in_stars(self, module: Module, name: str) -> Origin:
        for star in module.stars:
            if name in self.offered(star):
                return self.find(star, name)
        # A computed `__all__` may say less than there is when it is read.
        origins = (self.find(star, name) for star in module.stars if star in self.files)
        return next((origin for origin in origins if origin is not None), None)

    def look_up(self, home: str, dotted: str) -> Origin:
        """What a name such as `Base` or `package.module.Base` stands for inside a module."""
        first, _, rest = dotted.partition(".")
        if not rest:
            return self.find(home, first)
        module = self.module(home)
        if module is None:
            return None
        source, original = module.links.get(first, ("", ""))
        if original:
            source = f"{source}.{original}"
        owner, _, name = f"{source}.{rest}".rpartition(".")
        if source and (owner in self.files or not original):
            return self.find(owner, name)
        maker = module.makers.get(first, first)
        held = self.find(home, maker) if "." not in maker else None
        return held.members.get(rest) if isinstance(held, Definition) else None
