"""Calls of functions that are known by name, written out where they stand: they need no frame."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from bisimdist.programs.blocks import Block
from bisimdist.programs.code import Places
from bisimdist.programs.flatten import Flattener
from bisimdist.programs.liveness import Live
from bisimdist.programs.native import refuse_forms
from bisimdist.programs.renaming import renamed_function
from bisimdist.programs.sources import LINES
from bisimdist.programs.syntax import assign, bound_names, load, same_scope
from bisimdist.programs.unit import Unit

if TYPE_CHECKING:
    from bisimdist.programs.compiler import Compiler

MOST_DEEP = 8  # so many functions are written into each other at most

MOST_STATEMENTS = 200  # so many statements are written into one function at most

_OUTSIDE = (ast.FunctionDef, ast.ClassDef, ast.Nonlocal, ast.Delete, ast.With)


@dataclass(frozen=True, slots=True)
class _Handed:
    """A lambda that is handed to a function which does nothing but call it."""

    node: ast.Lambda
    by: Inliner


@dataclass(frozen=True, slots=True)
class _Callee:
    """What is called: its unit, by parameter what it is given, and defaults; and who handed it over."""

    unit: Unit
    given: dict[str, ast.expr]
    defaults: dict[str, Any]
    by: Inliner | None = None


class Inliner(Flattener):
    """Makes blocks of a function, and of functions that it calls among them.

    A function is written in whose variables all have a value before they are read, whatever an earlier call
    left in them, and that neither calls itself nor makes functions with a name.

    compiler, unit: who compiles, and which function.
    """

    def __init__(self, compiler: Compiler, unit: Unit) -> None:
        super().__init__(compiler, unit)
        self._chain: tuple[ast.AST, ...] = (unit.node,)
        self._root = unit
        self._called_at: tuple[int, Places] | None = None
        self._handed: dict[str, _Handed] = {}
        self._left = [MOST_STATEMENTS]
        self._result = ""
        self._last: ast.expr | None = None
        self._around_all: Block | None = None
        self._after: Block | None = None

    def value(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Name) and node.id in self._handed:
            handed = self._handed[node.id]
            return handed.by.closure(handed.node)
        return super().value(node)

    def place(self, node: ast.AST) -> tuple[int, Places]:
        line = getattr(node, "lineno", 0) % LINES
        if self._called_at is None:
            return line, ()
        if node is self._last:  # it takes the place of who calls it
            return self._called_at
        return self._called_at[0], ((self.unit.file, line), *self._called_at[1])

    def _return(self, node: ast.Return) -> None:
        self._last = node.value if self.handler is self._around_all else None
        super()._return(node)

    def leave(self, value: ast.expr, node: ast.AST) -> None:
        if self._after is None:
            super().leave(value, node)
        else:
            self.emit(assign(self._result, value), node)
            self.jump(self._after)

    def written_in(self, node: ast.Call) -> ast.expr | None:
        found = self._callee(node)
        inner = None if found is None else self._within(found, node)
        if found is None or inner is None:
            return None
        names = dict(zip(found.unit.parameters, inner.unit.parameters, strict=True))
        given = {}
        for name, value in found.given.items():
            if isinstance(value, ast.Lambda) and not _has_defaults(value) and _only_called(found.unit, name):
                inner._handed[names[name]] = _Handed(value, self)
            elif not isinstance(value, ast.Name) or value.id != names[name]:
                given[names[name]] = value
        for name, value in zip(given, self.sequence(list(given.values())), strict=True):
            self.emit(assign(name, value), node)
        for name, default in found.defaults.items():
            self.emit(assign(names[name], inner.native.value(default, inner.unit.node)), node)
        inner.current, inner.handler, inner._around_all = self.current, self.handler, self.handler
        inner._after, inner._result = self.block(), self.temporary()
        inner.run()
        self.current = inner._after
        return load(inner._result)

    def _callee(self, node: ast.Call) -> _Callee | None:
        """Return what is called, where it can be written in."""
        by, defaults = None, {}
        if isinstance(node.func, ast.Name) and node.func.id in self._handed:
            handed = self._handed[node.func.id]
            by = handed.by
            unit: Unit | None = self.compiler.unit_of_node(handed.node, by.unit)
        else:
            value = self.compiler.called(node, self.unit)
            if not isinstance(value, FunctionType):
                return None
            unit = self.compiler.unit_of(value)
            if unit is None or not self.compiler.draws(unit):
                return None
            defaults = _defaults_of(value, unit.node.args)
        if unit is None or unit.node in self._chain or len(self._chain) > MOST_DEEP:
            return None
        given = _bound(unit.node.args, node, defaults)
        if given is None or not self._simple(unit):
            return None
        missing = {name: defaults[name] for name in unit.parameters if name not in given}
        return _Callee(unit, given, missing, by)

    def _simple(self, unit: Unit) -> bool:
        """Tell whether a function can be written into others."""
        if unit.generates:
            return False
        for part in same_scope(unit.body):
            if isinstance(part, _OUTSIDE):
                return False
            if isinstance(part, ast.Call):
                called = self.compiler.called(part, unit)
                if isinstance(called, FunctionType) and self.compiler.unit_of(called) is unit:
                    return False
        return not Live(unit.locals - set(unit.parameters)).before(unit.body, frozenset())

    def _within(self, found: _Callee, node: ast.Call) -> Inliner | None:
        """Return what writes a function in, under names that nothing else has."""
        unit = found.unit
        count = sum(isinstance(part, ast.stmt) for inner in unit.body for part in ast.walk(inner))
        if count > self._left[0]:
            return None
        fresh = {name: f".i{len(self.temporaries)}.{name}" for name in unit.locals}
        names = fresh | {
            name: value.id
            for name, value in found.given.items()
            if isinstance(value, ast.Name) and unit.stays(name) and self.unit.stays(value.id)
        }
        tree = renamed_function(unit.node, names)
        if found.by is None and unit.file != self._root.file:
            ast.increment_lineno(tree, self.compiler.sources.first_line(unit.file))
        own = Unit(self.compiler, tree, unit.file, unit.name, unit.space, unit.owner, unit.outer, unit.fixed)
        made = Inliner(self.compiler, own)
        if any(_returns_within(part) and not made.suspends(part) for part in same_scope(own.body)):
            return None
        refuse_forms(self.compiler, unit)
        self.compiler.sources.used(unit.file)
        self._left[0] -= count
        self.temporaries += fresh.values()
        made.temporaries, made._left, made._root = self.temporaries, self._left, self._root
        made._chain, made._called_at = (*self._chain, unit.node), self.place(node)
        made.returns_on = True
        if found.by is not None:
            made._handed.update(found.by._handed)
        return made


def _has_defaults(node: ast.Lambda) -> bool:
    return bool(node.args.defaults or node.args.kw_defaults)


def _returns_within(node: ast.AST) -> bool:
    """Tell whether a loop that hands out items returns from the function."""
    return isinstance(node, ast.For) and any(isinstance(part, ast.Return) for part in ast.walk(node))


def _only_called(unit: Unit, name: str) -> bool:
    """Tell whether a function does nothing with a parameter but call it."""
    if name in bound_names(unit.body):
        return False
    called = {id(node.func) for node in same_scope(unit.body) if isinstance(node, ast.Call)}
    return all(
        id(node) in called
        for part in unit.body
        for node in ast.walk(part)
        if isinstance(node, ast.Name) and node.id == name
    )


def _defaults_of(function: FunctionType, arguments: ast.arguments) -> dict[str, Any]:
    names = [part.arg for part in (*arguments.posonlyargs, *arguments.args)]
    values = function.__defaults__ or ()
    return {
        **dict(zip(names[len(names) - len(values) :], values, strict=True)),
        **(function.__kwdefaults__ or {}),
    }


def _bound(
    arguments: ast.arguments, node: ast.Call, defaults: Mapping[str, Any]
) -> dict[str, ast.expr] | None:
    """Return by parameter what a call gives, in order; None where that is not plain, or is an error."""
    if arguments.vararg or arguments.kwarg or any(isinstance(part, ast.Starred) for part in node.args):
        return None
    first = [part.arg for part in arguments.posonlyargs]
    named = [part.arg for part in arguments.args]
    if len(node.args) > len(first) + len(named):
        return None
    given = dict(zip([*first, *named], node.args, strict=False))
    keywords = {*named, *(part.arg for part in arguments.kwonlyargs)}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in given or keyword.arg not in keywords:
            return None
        given[keyword.arg] = keyword.value
    whole = {*first, *keywords} <= given.keys() | defaults.keys()
    return given if whole else None
