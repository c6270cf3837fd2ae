"""Formulae as a graph in which equal formulae have the same number.

A formula is a number; what it is made of has smaller numbers. A conjunction is a set without ``T``, two
negations cancel, and equal parts of a formula about distributions are one part. Conjunctions in conjunctions
stay where they are: to flatten them could take much more memory than the text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any

__all__ = ["ANYTHING", "TOP", "FormulaGraph"]

TOP = 0
"""``T``, which every state satisfies."""

ANYTHING = 1
"""``T`` as a formula about distributions."""


class FormulaGraph:
    """Formulae by number.

    ``nodes[n]`` is one of ``("T",)``, ``("*",)`` (anything), ``("X", name)``, ``("!", n)``,
    ``("&", (n, ...))``, ``("<", action, n)`` and ``("+", ((n, weight), ...))``. ``depth[n]`` is how deep
    modalities are nested in it, ``open[n]`` says whether a variable occurs in it.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.depth: list[int] = []
        self.open: list[bool] = []
        self._numbers: dict[Hashable, int] = {}
        self._number(("T",), ())
        self._number(("*",), ())

    def _number(self, node: tuple[Any, ...], inside: Iterable[int]) -> int:
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = len(self.nodes)
            parts = list(inside)
            self.nodes.append(node)
            self.depth.append(max((self.depth[n] for n in parts), default=0) + (node[0] == "<"))
            self.open.append(node[0] == "X" or any(self.open[n] for n in parts))
        return found

    def inside(self, number: int) -> tuple[int, ...]:
        """Return what a formula is made of."""
        node = self.nodes[number]
        match node[0]:
            case "!":
                return (node[1],)
            case "<":
                return (node[2],)
            case "&":
                return tuple(node[1])
            case "+":
                return tuple(part for part, _ in node[1])
            case _:
                return ()

    def about_distributions(self, number: int) -> bool:
        """Tell whether a formula is about distributions."""
        return self.nodes[number][0] in "*+"

    def variable(self, name: str) -> int:
        """Return a variable."""
        return self._number(("X", name), ())

    def negation(self, operand: int) -> int:
        """Return the negation of a formula."""
        node = self.nodes[operand]
        if node[0] == "!":
            return int(node[1])
        return self._number(("!", operand), (operand,))

    def conjunction(self, operands: Iterable[int]) -> int:
        """Return the conjunction of formulae, ``T`` if there is none."""
        members = set(operands)
        members.discard(TOP)
        if len(members) < 2:
            return members.pop() if members else TOP
        ordered = tuple(sorted(members))
        return self._number(("&", ordered), ordered)

    def diamond(self, action: str, target: int) -> int:
        """Return ``<action>`` before a formula about distributions."""
        return self._number(("<", action, target), (target,))

    def mixture(self, parts: Iterable[tuple[Fraction, int]]) -> int:
        """Return the formula about distributions that has these parts."""
        weights: dict[int, Fraction] = {}
        for weight, part in parts:
            weights[part] = weights[part] + weight if part in weights else weight
        return self._number(("+", tuple(sorted(weights.items()))), weights)
