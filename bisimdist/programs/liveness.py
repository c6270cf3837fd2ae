"""Which variables a state has to remember: backward data flow over statements and blocks."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

Names = frozenset[str]
_NONE: Names = frozenset()


def _loads(node: ast.AST | None) -> Names:
    if node is None:
        return _NONE
    return frozenset(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)
    )


def _stores(node: ast.AST) -> Names:
    """Return the names that a target surely binds (or unbinds)."""
    if isinstance(node, ast.Name):
        return frozenset((node.id,))
    if isinstance(node, ast.Tuple | ast.List):
        return frozenset().union(*(_stores(item) for item in node.elts))
    if isinstance(node, ast.Starred):
        return _stores(node.value)
    return _NONE


def _target_loads(node: ast.AST) -> Names:
    """Return the names that a target reads: of an item or attribute that is set."""
    if isinstance(node, ast.Name):
        return _NONE
    if isinstance(node, ast.Tuple | ast.List):
        return frozenset().union(*(_target_loads(item) for item in node.elts))
    if isinstance(node, ast.Starred):
        return _target_loads(node.value)
    return _loads(node)


@dataclass(frozen=True)
class _Exits:
    """What is live where ``break`` and ``continue`` lead."""

    at_break: Names = _NONE
    at_continue: Names = _NONE


class Live:
    """Live variables before statements."""

    def __init__(self, tracked: Iterable[str]) -> None:
        self.tracked = frozenset(tracked)

    def loads(self, node: ast.AST | None) -> Names:
        """Return the tracked variables that an expression reads."""
        return _loads(node) & self.tracked

    def before(self, body: Sequence[ast.stmt], after: Names, exits: _Exits | None = None) -> Names:
        """Return what is live before statements, given what is live after them."""
        live = after
        for statement in reversed(body):
            live = self._one(statement, live, exits or _Exits())
        return live & self.tracked

    def _one(self, node: ast.stmt, after: Names, exits: _Exits) -> Names:  # noqa: PLR0911, PLR0912
        match node:
            case ast.Assign():
                killed = frozenset().union(*(_stores(target) for target in node.targets))
                read = frozenset().union(*(_target_loads(target) for target in node.targets))
                return (after - killed) | read | _loads(node.value)
            case ast.AnnAssign():
                if node.value is None:
                    return after
                return (after - _stores(node.target)) | _target_loads(node.target) | _loads(node.value)
            case ast.AugAssign():
                return after | _loads(node.value) | _loads(node.target) | _stores(node.target)
            case ast.Return() | ast.Raise():
                return _loads(node)
            case ast.Break():
                return exits.at_break
            case ast.Continue():
                return exits.at_continue
            case ast.If():
                both = self.before(node.body, after, exits) | self.before(node.orelse, after, exits)
                return both | _loads(node.test)
            case ast.While() | ast.For():
                return self._loop(node, after, exits)
            case ast.Try():
                rest = self.before(node.finalbody, after, exits)
                caught: Names = _NONE
                for handler in node.handlers:
                    inside = self.before(handler.body, rest, exits) - {handler.name or ""}
                    caught |= inside | _loads(handler.type)
                body = self.before([*node.body, *node.orelse], rest, exits)
                return body | caught | rest
            case ast.Match():
                cases: Names = after | _loads(node.subject)
                for case in node.cases:
                    cases |= self.before(case.body, after, exits) | _loads(case.pattern) | _loads(case.guard)
                return cases
            case _:
                return after | _loads(node)

    def _loop(self, node: ast.While | ast.For, after: Names, exits: _Exits) -> Names:
        end = self.before(node.orelse, after, exits)
        head = end
        while True:
            body = self.before(node.body, head, _Exits(after, head))
            if isinstance(node, ast.While):
                found = head | body | _loads(node.test)
            else:
                found = head | (body - _stores(node.target)) | _target_loads(node.target)
            if found == head:
                return head if isinstance(node, ast.While) else head | _loads(node.iter)
            head = found


def assigned_surely(body: Sequence[ast.stmt], names: Names) -> Names:
    """Return variables that have a value after statements, given those before; not all of them."""
    for node in body:
        match node:
            case ast.Assign():
                names |= frozenset().union(*(_stores(target) for target in node.targets))
            case ast.AnnAssign() if node.value is not None:
                names |= _stores(node.target)
            case ast.If():
                names = assigned_surely(node.body, names) & assigned_surely(node.orelse, names)
            case _:
                gone = (part.targets for part in ast.walk(node) if isinstance(part, ast.Delete))
                names -= frozenset().union(*(_stores(target) for targets in gone for target in targets))
    return names
