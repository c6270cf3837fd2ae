"""Naming a program: its file is imported, and the modules beside it; what is foreign is left alone."""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from bisimdist.bounded import read_file
from bisimdist.errors import ModelError, UsageError
from bisimdist.programs.instrument import STEP
from bisimdist.programs.machine_source import ANALYST, SOURCE
from bisimdist.programs.vocabulary import MODULES, RANDOM_MODULES

MAX_BYTES = 4 * 2**20
NO_SOURCE = "the source of the function is not there; expected one that stands in a file"

GIVEN: Mapping[str, Any] = {"rng": SOURCE, "analyst": ANALYST}  # the parameters that are not inputs

KNOWN_MODULES = {module.__name__: module for module in (*MODULES, *RANDOM_MODULES)}
KNOWN_MODULES |= {
    name: importlib.import_module(name) for name in ("__future__", "abc", "collections.abc", "types")
}
KNOWN_MODULES["bisimdist"] = KNOWN_MODULES["bisimdist.programs"] = KNOWN_MODULES["bisimdist.programs.source"]


class Missing:
    """What stands for a module that was not imported, and for everything in it; using it does nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.name}.{name}")

    def __call__(self, *_: object, **__: object) -> Any:
        return Missing(f"{self.name}(...)")

    def __getitem__(self, _: object) -> Any:
        return Missing(f"{self.name}[...]")

    def __mro_entries__(self, _: object) -> tuple[type, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file of source: its tree, and the digest of its bytes."""

    name: str
    tree: ast.Module
    digest: str

    @classmethod
    def read(cls, path: Path, name: str) -> SourceText:
        """Read and parse a file. Raises ModelError if there is none, it is too large, or it is no Python."""
        try:
            content = read_file(path, expected="a Python file", most=MAX_BYTES)
        except ModelError as error:
            raise ModelError(error.message, source=name) from None
        try:
            tree = ast.parse(content, filename=name)
        except SyntaxError as error:
            raise ModelError(f"this is no Python: {error.msg}", source=name, line=error.lineno) from None
        except (ValueError, RecursionError, MemoryError) as error:
            raise ModelError(f"this is no Python: {error}", source=name) from None
        return cls(name, tree, "sha256:" + hashlib.sha256(content).hexdigest())


class _Imports(ast.NodeTransformer):
    """Makes every import of a module call us instead."""

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            whole = alias.name if alias.asname else alias.name.split(".")[0]
            made.append(self._assign(name, whole, None, node, also=alias.name))
        return made

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt] | ast.stmt:
        if node.module == "__future__":
            return node
        module = "." * node.level + (node.module or "")
        return [self._assign(alias.asname or alias.name, module, alias.name, node) for alias in node.names]

    def _assign(
        self, name: str, module: str, item: str | None, node: ast.stmt, also: str | None = None
    ) -> ast.stmt:
        parts = [ast.Constant(part) for part in (module, item, also)]
        value = ast.Call(ast.Name("__import_program__", ast.Load()), list(parts), [])
        target: ast.stmt = ast.Assign([ast.Name(name, ast.Store())], value)
        if item == "*":
            target = ast.Expr(ast.Call(ast.Name("__import_all__", ast.Load()), [parts[0]], []))
        return ast.fix_missing_locations(ast.copy_location(target, node))


@dataclass
class ProgramFile:
    """A file that was named as a program, with the modules beside it."""

    path: Path  # path and name: where it lies, and how it was called
    name: str
    # changes the tree of a file before it is run (to count steps); None leaves it
    instrument: ast.NodeTransformer | None = None
    modules: dict[str, ModuleType] = field(default_factory=dict)
    texts: dict[str, SourceText] = field(default_factory=dict)

    def load(self) -> ModuleType:
        """Import the file. Raises ModelError if it cannot be imported."""
        return self._module(self.path, self.name, self.path.stem)

    def _module(self, path: Path, name: str, key: str) -> ModuleType:
        text = SourceText.read(path, name)
        tree = text.tree
        if self.instrument is not None:
            tree = self.instrument.visit(tree)
            text = SourceText(text.name, tree, text.digest)
        self.texts[name] = text
        module = ModuleType(f"program {key}")
        module.__file__ = name
        self.modules[key] = module
        space: dict[str, Any] = module.__dict__
        space["__import_program__"] = self._import
        space[STEP] = lambda _: None
        space["__import_all__"] = lambda other: space.update(_public(self._import(other, None, None)))
        runnable = ast.fix_missing_locations(_Imports().visit(copy.deepcopy(tree)))
        sys.modules[module.__name__] = module  # classes look their module up while they are made
        try:
            exec(compile(runnable, name, "exec", dont_inherit=True), space)
        except ModelError:
            raise
        except Exception as error:
            line = _line_of(error, name)
            raise ModelError(
                f"importing it fails with {type(error).__name__}: {error}", source=name, line=line
            ) from None
        finally:
            sys.modules.pop(module.__name__, None)
        return module

    def _import(self, module: str, item: str | None, also: str | None) -> Any:
        found = self._find(also or module)
        if also is not None and also != module:
            found = self._find(module)
        if item is None:
            return found
        if isinstance(found, Missing):
            return getattr(found, item)
        if hasattr(found, item):
            return getattr(found, item)
        return self._find(f"{module}.{item}" if not module.endswith(".") else module + item)

    def _find(self, module: str) -> Any:
        plain = module.lstrip(".")
        if plain in self.modules:
            return self.modules[plain]
        beside = self.path.parent.joinpath(*plain.split("."))
        for path in (beside.with_suffix(".py"), beside / "__init__.py"):
            if plain and path.is_file():
                name = str(Path(self.name).parent / path.relative_to(self.path.parent))
                return self._module(path, name, plain)
        if beside.is_dir() and plain:
            package = ModuleType(plain)
            self.modules[plain] = package
            return package
        return KNOWN_MODULES.get(plain) or Missing(plain)


def _public(module: Any) -> dict[str, Any]:
    if isinstance(module, Missing):
        return {}
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return {name: getattr(module, name) for name in names}


def _line_of(error: BaseException, name: str) -> int | None:
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == name:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def load_program(argument: str, *, instrument: ast.NodeTransformer | None = None) -> tuple[ProgramFile, Any]:
    """Return the file and the function that ``FILE.py:FUNCTION`` names."""
    name, _, function = argument.rpartition(":")
    if not name or not function.isidentifier():
        raise ModelError("expected FILE.py:FUNCTION", source=argument)
    path = Path(name)
    program = ProgramFile(path.absolute(), name, instrument)
    limit = sys.getrecursionlimit()
    try:
        module = program.load()
    finally:
        sys.setrecursionlimit(limit)
    found = getattr(module, function, None)
    if found is None or isinstance(found, Missing) or not callable(found):
        there = sorted(
            key
            for key, value in vars(module).items()
            if type(value).__name__ == "function" and not key.startswith("__")
        )
        raise ModelError(
            f"there is no function {function!r}; expected one of {', '.join(there[:20]) or 'none'}",
            source=name,
        )
    return program, found


def loaded(
    function: Callable[..., Any] | str, instrument: ast.NodeTransformer | None = None, *, free: bool = False
) -> tuple[FunctionType, ProgramFile | None, dict[str, Any]]:
    """Return a function, its file where one was named, and the arguments that are fixed.

    free: whether parameters without a default may stand for any value.
    """
    program = None
    keywords: dict[str, Any] = {}
    found: Any = function
    if isinstance(function, str | os.PathLike):
        program, found = load_program(str(function), instrument=instrument)
    while isinstance(found, functools.partial):
        if found.args:
            raise UsageError("the partial function fixes arguments by position; fix them by name")
        keywords = {**found.keywords, **keywords}
        found = found.func
    found = inspect.unwrap(found) if type(found).__name__ == "_lru_cache_wrapper" else found
    if not isinstance(found, FunctionType):
        raise UsageError(f"{function!r} is a {type(found).__name__}; expected a Python function")
    _check_parameters(found, keywords, free=free)
    return found, program, keywords


def _check_parameters(function: FunctionType, keywords: Mapping[str, Any], *, free: bool) -> None:
    signature = inspect.signature(function)
    file, line = function.__code__.co_filename, function.__code__.co_firstlineno
    place = f"in {function.__qualname__}"
    parameters = list(signature.parameters.values())
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or parameters[0].kind not in positional or parameters[0].name in GIVEN:
        raise ModelError(
            "the function has no parameter for the input; write it first", source=file, line=line, place=place
        )
    for parameter in parameters[1:]:
        variable = parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        given = free or parameter.name in GIVEN or parameter.name in keywords
        if not variable and not given and parameter.default is inspect.Parameter.empty:
            raise ModelError(
                f"the parameter {parameter.name!r} has no default; give it one (the first parameter is the "
                "input, one named rng the random source, one named analyst who asks)",
                source=file,
                line=line,
                place=place,
            )
