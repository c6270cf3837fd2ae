"""Counting steps: a call before every statement, in the source that plain Python runs as well."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from bisimdist.errors import UsageError

STEP = "__step__"


class Instrument(ast.NodeTransformer):
    """Puts a count of steps before every statement of every function.

    cost: the steps of a statement by the name of its kind; one where it has none.
    """

    def __init__(self, cost: Mapping[str, int] | None = None) -> None:
        self.cost = dict(cost or {})
        for kind, steps in self.cost.items():
            found = getattr(ast, kind, None)
            if not (isinstance(found, type) and issubclass(found, ast.stmt)):
                raise UsageError(f"the cost of {kind[:40]!r}: expected a kind of statement, such as Assign")
            if steps < 0:
                raise UsageError(f"the cost of {kind} is {steps}; expected at least 0")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.body = self._counted(node.body)
        return node

    def _counted(self, body: list[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            cost = self.cost.get(type(statement).__name__, 1)
            documents = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if cost and not documents and not isinstance(statement, ast.Nonlocal | ast.Global):
                call = ast.Call(ast.Name(STEP, ast.Load()), [ast.Constant(cost)], [])
                made.append(ast.copy_location(ast.Expr(call), statement))
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if (
                    isinstance(inner, list)
                    and inner
                    and not isinstance(statement, ast.FunctionDef | ast.ClassDef)
                ):
                    setattr(statement, name, self._counted(inner))
            for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
                part.body = self._counted(part.body)
            made.append(statement)
        return [ast.fix_missing_locations(part) for part in made]
