"""Where the functions of a program stand: their trees, their classes, and the digests of their files."""

from __future__ import annotations

import ast
import hashlib
import linecache
import sys
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.programs import draws_library
from bisimdist.programs.loading import KNOWN_MODULES, NO_SOURCE, Missing, ProgramFile

Found = tuple[ast.FunctionDef | ast.Lambda, str, type | None]
"""The tree of a function, the file that it stands in, and the class that it is a method of."""

_LIBRARY = draws_library.__file__ or ""


class Sources:
    """Finds the trees of functions.

    function: the function that is explored.
    program: the file that was named, where one was; otherwise the function is taken as it was imported.
    instrument: changes trees before they are compiled (to count steps).
    """

    def __init__(
        self,
        function: FunctionType,
        program: ProgramFile | None = None,
        instrument: ast.NodeTransformer | None = None,
    ) -> None:
        self.function = function
        self.program = program
        self._instrument = instrument
        self.digests: dict[str, str] = {}
        self._trees: dict[str, tuple[ast.Module, str] | None] = {}
        self._nodes: dict[str, dict[int, list[ast.FunctionDef | ast.Lambda]]] = {}
        self._root = Path(function.__code__.co_filename).absolute().parent

    def used(self, file: str) -> None:
        """Remember that something of a file was compiled."""
        if file != _LIBRARY:
            tree = self._tree(file)
            self.digests[file] = "" if tree is None else tree[1]

    def _tree(self, file: str) -> tuple[ast.Module, str] | None:
        if file not in self._trees:
            self._trees[file] = self._read(file)
        return self._trees[file]

    def _read(self, file: str) -> tuple[ast.Module, str] | None:
        if self.program is not None and file in self.program.texts:
            text = self.program.texts[file]
            return text.tree, text.digest
        lines = linecache.getlines(file)
        if not lines:
            return None
        content = "".join(lines)
        try:
            tree = ast.parse(content, filename=file)
        except SyntaxError:
            return None
        if self._instrument is not None and file != _LIBRARY:
            tree = self._instrument.visit(tree)
        return tree, "sha256:" + hashlib.sha256(content.encode()).hexdigest()

    def _is_our_file(self, file: str) -> bool:
        if self.program is not None:
            return file in self.program.texts
        if file == self.function.__code__.co_filename:
            return True
        return Path(file).is_file() and Path(file).absolute().is_relative_to(self._root)

    @cached_property
    def _all_nodes(self) -> list[ast.AST]:
        """All nodes of the files of the program."""
        if self.program is not None:
            trees = [text.tree for text in self.program.texts.values()]
        else:
            files = {space.get("__file__") for space in self.spaces()} | {self.function.__code__.co_filename}
            trees = [found[0] for file in files if file and (found := self._tree(file)) is not None]
        return [node for tree in trees for node in ast.walk(tree)]

    @cached_property
    def generates(self) -> bool:
        """Whether there is a generator in any file of the program."""
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in self._all_nodes)

    def find(self, function: FunctionType) -> Found | None:
        """Return the tree of a function; None if it is not part of the program.

        Raises ModelError if it is, but there is no source.
        """
        code = function.__code__
        file = code.co_filename
        if file != _LIBRARY and not self._is_our_file(file):
            return None
        tree = self._tree(file)
        node = None if tree is None else self._node(file, tree[0], code)
        if node is None:
            raise ModelError(NO_SOURCE, source=file, place=f"in {function.__qualname__}")
        return node, file, self._owner(function)

    def _node(self, file: str, tree: ast.Module, code: CodeType) -> ast.FunctionDef | ast.Lambda | None:
        if file not in self._nodes:
            places: dict[int, list[ast.FunctionDef | ast.Lambda]] = {}
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef):
                    first = min([node.lineno, *(part.lineno for part in node.decorator_list)])
                    places.setdefault(first, []).append(node)
                elif isinstance(node, ast.Lambda):
                    places.setdefault(node.lineno, []).append(node)
            self._nodes[file] = places
        found = self._nodes[file].get(code.co_firstlineno, [])
        if code.co_name == "<lambda>":
            lambdas = [node for node in found if isinstance(node, ast.Lambda)]
            return next((node for node in lambdas if len(lambdas) == 1 or _covers(node, code)), None)
        return next(
            (node for node in found if isinstance(node, ast.FunctionDef) and node.name == code.co_name), None
        )

    def _owner(self, function: FunctionType) -> type | None:
        path = function.__qualname__.split(".")[:-1]
        if not path or "<locals>" in path:
            return None
        found: Any = function.__globals__.get(path[0])
        for name in path[1:]:
            found = getattr(found, name, None)
        return found if isinstance(found, type) else None

    # modules and classes

    def is_module_of_program(self, module: ModuleType) -> bool:
        """Tell whether a module lies beside the program."""
        if self.program is not None:
            return any(module is known for known in self.program.modules.values())
        file = getattr(module, "__file__", None)
        return file is not None and self._is_our_file(file)

    def is_ours(self, kind: type) -> bool:
        """Tell whether a class is defined by the program."""
        if self.program is not None:
            return kind.__module__.startswith("program ")
        if kind.__module__ == self.function.__module__:
            return True
        module = sys.modules.get(kind.__module__)
        return module is not None and self.is_module_of_program(module)

    def has_init(self, kind: type) -> bool:
        """Tell whether making an object runs code that is written in the program."""
        return self._is_our_function(getattr(kind, "__init__", None))

    def _is_our_function(self, value: Any) -> bool:
        return isinstance(value, FunctionType) and self._is_our_file(value.__code__.co_filename)

    def spaces(self) -> list[dict[str, Any]]:
        """Return the names of all modules of the program."""
        return self._spaces

    @cached_property
    def methods(self) -> frozenset[str]:
        """The names of all methods of classes of the program."""
        classes = (node for node in self._all_nodes if isinstance(node, ast.ClassDef))
        names = {part.name for node in classes for part in node.body if isinstance(part, ast.FunctionDef)}
        for kind in (kind for space in self._spaces for value in space.values() for kind in _classes(value)):
            if self.is_ours(kind):
                names.update(name for name, part in vars(kind).items() if self._is_our_function(part))
        return frozenset(names)

    @cached_property
    def _spaces(self) -> list[dict[str, Any]]:
        if self.program is not None:
            return [vars(module) for module in self.program.modules.values()]
        spaces = {id(self.function.__globals__): self.function.__globals__}
        stack = [self.function.__globals__]
        while stack:
            for value in list(stack.pop().values()):
                space = None
                if isinstance(value, ModuleType) and self.is_module_of_program(value):
                    space = vars(value)
                elif isinstance(value, FunctionType) and self._is_our_file(value.__code__.co_filename):
                    space = value.__globals__
                if space is not None and id(space) not in spaces:
                    spaces[id(space)] = space
                    stack.append(space)
        return list(spaces.values())

    def imported(self, node: ast.Import | ast.ImportFrom, space: dict[str, Any]) -> dict[str, Any]:
        """Return what an import inside a function binds."""
        find = space.get("__import_program__", self._imported)
        if isinstance(node, ast.Import):
            return {
                alias.asname or alias.name.split(".")[0]: find(
                    alias.name if alias.asname else alias.name.split(".")[0], None, alias.name
                )
                for alias in node.names
            }
        module = "." * node.level + (node.module or "")
        return {alias.asname or alias.name: find(module, alias.name, None) for alias in node.names}

    def _imported(self, module: str, item: str | None, _: str | None) -> Any:
        found: Any = KNOWN_MODULES.get(module)
        if found is None:
            loaded = sys.modules.get(module)
            ours = loaded is not None and self.is_module_of_program(loaded)
            found = loaded if ours else Missing(module)
        return found if item is None else getattr(found, item)


def _classes(value: Any) -> tuple[type, ...]:
    return value.__mro__ if isinstance(value, type) else ()


def _covers(node: ast.Lambda, code: CodeType) -> bool:
    """Tell whether the instructions of a code lie inside a lambda."""
    body = node.body
    start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    places = [
        (line, column, last, last_column)
        for line, last, column, last_column in code.co_positions()
        if None not in (line, column, last, last_column)
    ]
    inner = [place for place in places if place[:2] != place[2:]]
    return all(start <= (a or 0, b or 0) and (c or 0, d or 0) <= end for a, b, c, d in inner)
