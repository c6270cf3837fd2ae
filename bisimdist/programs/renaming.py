"""Variables under other names, where code of one scope is written into another."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping
from typing import Any

from bisimdist.programs.syntax import bound_names, parameters


class _Rename(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        given = node.args
        given.defaults = [self.visit(part) for part in given.defaults]
        given.kw_defaults = [part and self.visit(part) for part in given.kw_defaults]
        node.body = _Rename(_without(self.names, parameters(given))).visit(node.body)
        return node

    def _comprehension(self, node: Any) -> Any:
        own = set().union(*(bound_names([part.target]) for part in node.generators))
        first = node.generators[0]
        first.iter = self.visit(first.iter)
        inner = _Rename(_without(self.names, own))
        for name, value in ast.iter_fields(node):
            if name != "generators":
                setattr(node, name, inner.visit(value))
        for part in node.generators:
            part.ifs = [inner.visit(test) for test in part.ifs]
            part.iter = part.iter if part is first else inner.visit(part.iter)
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.names:
            return ast.copy_location(ast.Name(self.names[node.id], node.ctx), node)
        return node

    def _binding(self, node: Any) -> Any:
        field = "rest" if isinstance(node, ast.MatchMapping) else "name"
        old = getattr(node, field)
        setattr(node, field, self.names.get(old, old))
        return self.generic_visit(node)

    visit_ExceptHandler = visit_MatchAs = visit_MatchStar = visit_MatchMapping = _binding


def _without(names: Mapping[str, str], own: Iterable[str]) -> dict[str, str]:
    kept = dict(names)
    for name in own:
        kept.pop(name, None)
    return kept


def renamed(node: Any, names: Mapping[str, str]) -> Any:
    """Return a copy of a node in which variables have other names."""
    return _Rename(names).visit(copy.deepcopy(node))
