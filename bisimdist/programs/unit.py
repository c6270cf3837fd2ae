"""One function on its way through the compiler: its names, and what they mean."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bisimdist.programs.instrument import STEP
from bisimdist.programs.syntax import bound_names, free_names, parameters, same_scope

if TYPE_CHECKING:
    from bisimdist.programs.compiler import Compiler

UNKNOWN = object()  # what is known of a value that only running the program shows


@dataclass(eq=False)
class Unit:
    """A function and the scope that it stands in."""

    compiler: Compiler  # who compiles it
    node: ast.FunctionDef | ast.Lambda  # its tree
    file: str  # file and name: where it stands, and what it is called
    name: str
    space: dict[str, Any]  # the names of its module
    owner: type | None = None  # the class that it is a method of, where it is one
    outer: Unit | None = None  # the function that it is defined in, where it is
    # variables of functions around it that are done, with their values
    fixed: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements; of a lambda, that it returns its value."""
        if isinstance(self.node, ast.Lambda):
            return [ast.copy_location(ast.Return(self.node.body), self.node.body)]
        return self.node.body

    @cached_property
    def generates(self) -> bool:
        """Whether calling it makes a generator."""
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in same_scope(self.body))

    @cached_property
    def parameters(self) -> list[str]:
        return parameters(self.node.args)

    @cached_property
    def imports(self) -> dict[str, Any]:
        """Modules and what is imported inside the function, which is known beforehand."""
        found: dict[str, Any] = {}
        for node in same_scope(self.body):
            if isinstance(node, ast.Import | ast.ImportFrom):
                found.update(self.compiler.imported(node, self))
        return found

    @cached_property
    def locals(self) -> set[str]:
        """The variables of the function's own scope."""
        return (set(self.parameters) | bound_names(self.body)) - set(self.imports)

    @cached_property
    def taken(self) -> tuple[str, ...]:
        """The variables of functions around it that it uses, in alphabetical order."""
        if self.outer is None:
            return ()
        names = self.outer.locals | set(self.outer.taken)
        return tuple(sorted((free_names(self.node) - set(self.imports)) & names))

    @cached_property
    def nested(self) -> list[ast.FunctionDef | ast.Lambda]:
        """The functions that are made while it runs."""
        return [
            node
            for node in same_scope(self.body)
            if isinstance(node, ast.FunctionDef | ast.Lambda) and node not in self.callbacks
        ]

    @cached_property
    def callbacks(self) -> set[ast.Lambda]:
        """Lambdas that are handed to built-in functions at once."""
        return {
            value
            for node in same_scope(self.body)
            if isinstance(node, ast.Call)
            for value in (*node.args, *(keyword.value for keyword in node.keywords))
            if isinstance(value, ast.Lambda) and self.compiler.takes_callback(node, value, self)
        }

    @cached_property
    def cells(self) -> set[str]:
        """The variables that it shares with functions inside or around it and that may change."""
        inner: set[str] = set()
        for node in self.nested:
            inner |= free_names(node)
        shared = (inner & self.locals) | set(self.taken)
        return {name for name in shared if not self._stays(name)}

    def _stays(self, name: str) -> bool:
        """Tell whether a variable is a parameter that nobody assigns to."""
        if name not in self.locals and self.outer is not None:
            return self.outer._stays(name)
        return name in self.parameters and name not in self._assigned

    @cached_property
    def _assigned(self) -> set[str]:
        """What is assigned to in the body, or by functions inside."""
        inner = (node for part in self.body for node in ast.walk(part) if isinstance(node, ast.Nonlocal))
        return bound_names(self.body).union(*(node.names for node in inner))

    def known(self, node: ast.expr) -> Any:
        """Return the value of a name or attribute that is the same whenever it is read, or `UNKNOWN`."""
        if isinstance(node, ast.Name):
            if node.id in self.locals or node.id in self.taken:
                return UNKNOWN
            return self.global_value(node.id, node)
        if isinstance(node, ast.Attribute):
            base = self.known(node.value)
            return UNKNOWN if base is UNKNOWN else self.compiler.attribute(base, node, self)
        return UNKNOWN

    def global_value(self, name: str, node: ast.AST) -> Any:
        """Return what a name means that is no variable of a function."""
        around: Unit | None = self
        while around is not None:
            if name in around.imports:
                return around.imports[name]
            if name in around.fixed:
                return around.fixed[name]
            around = around.outer
        if name in self.space and name != STEP:
            return self.space[name]
        return self.compiler.builtin(name, node, self)

    def is_variable(self, name: str) -> bool:
        """Tell whether a name is a variable, of this function or of one around it."""
        return name in self.locals or name in self.taken
