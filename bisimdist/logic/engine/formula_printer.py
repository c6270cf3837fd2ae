"""Formulae as text, with ``let`` definitions for what occurs in several places.

The text is as long as the graph is large, up to a factor, and `bisimdist.logic.engine.formula_parser` reads
it back to the same formula.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from flint import fmpq

from bisimdist.exact.rational import format_rational
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula import (
    TOP,
    Conjunction,
    Diamond,
    Mixture,
    Negation,
    Node,
    StateFormula,
    Variable,
    children,
    postorder,
)

NAME = r"[^\W\d]\w*'*"  # a name of a definition or of a variable
PLAIN_ACTION = r"[\w.~'-]+"  # an action that needs no quotes

KEYWORDS = frozenset({"T", "let", "rec", "in"})

_plain = re.compile(PLAIN_ACTION)
ONE = fmpq(1)


@dataclass(frozen=True, slots=True)
class _Signs:
    top: str
    negation: str
    both: str
    plus: str
    left: str
    right: str


_ASCII = _Signs("T", "!", " & ", " + ", "<", ">")
_UNICODE = _Signs("\u22a4", "¬", " ∧ ", " ⊕ ", "⟨", "⟩")


@lru_cache(maxsize=4096)
def action_text(action: str) -> str:
    """Return an action as it stands between ``<`` and ``>``, in quotes where it needs them.

    >>> action_text("a"), action_text("ask again")
    ('a', '"ask again"')
    """
    return action if _plain.fullmatch(action) else json.dumps(action)


def formula_text(formula: Node, *, unicode: bool = False) -> str:
    """Return a formula as text that the parser reads back to the same formula.

    Parameters
    ----------
    formula
        The formula.
    unicode
        Whether to use the signs of the papers.

    Examples
    --------
    >>> from bisimdist.logic.engine.formula import conjunction, enabled, mixture, diamond, negation
    >>> step = diamond("a", mixture([("1/2", enabled("b")), ("1/2", negation(enabled("c")))]))
    >>> print(formula_text(conjunction([step, negation(enabled("d"))])))
    <a>(1/2 <b>T + 1/2 !<c>T) & !<d>T
    >>> print(formula_text(step, unicode=True))
    ⟨a⟩(1/2 ⟨b⟩⊤ ⊕ 1/2 ¬⟨c⟩⊤)
    """  # noqa: RUF002
    writer = _Writer(_UNICODE if unicode else _ASCII, [formula])
    return "".join([*writer.definitions(), *writer.body(formula)])


def system_text(system: EquationSystem, *, unicode: bool = False) -> str:
    """Return a recursive formula as text: ``rec`` and its equations, ``in`` and what is meant.

    >>> from bisimdist.logic.engine.formula import diamond, mixture, variable
    >>> again = diamond("a", mixture([("1/2", variable("X"))]))
    >>> print(system_text(EquationSystem(variable("X"), (("X", again),))))
    rec X = <a>(1/2 X) in X
    """
    sides = [side for _, side in system.equations]
    writer = _Writer(
        _UNICODE if unicode else _ASCII, [*sides, system.root], {name for name, _ in system.equations}
    )
    result = writer.definitions()
    if system.equations:
        single = len(system.equations) == 1
        result.append("rec " if single else "rec\n  ")
        for number, (name, side) in enumerate(system.equations):
            if number:
                result.append(";\n  ")
            result.append(f"{name} = ")
            result += writer.body(side)
        result.append(" in " if single else "\nin ")
    result += writer.body(system.root)
    return "".join(result)


def _small(node: Node) -> bool:
    """Whether a formula is no longer than a name for it."""
    while isinstance(node, Negation):
        node = node.operand
    if isinstance(node, Diamond):
        node = node.target
    return all(child is TOP for child in children(node))


def _lone(node: Node) -> StateFormula | None:
    """Return the part of a mixture that is written as ``<a>phi``, without weight; None of all else."""
    if isinstance(node, Mixture) and len(node.parts) == 1:
        ((weight, part),) = node.parts
        if weight == ONE and part is not TOP:
            return part
    return None


class _Writer:
    """Writes some formulae with definitions in common."""

    def __init__(self, signs: _Signs, roots: Iterable[Node], taken: Iterable[str] = ()) -> None:
        self.signs = signs
        self.names: dict[Node, str] = {}
        nodes = list(postorder(*roots))
        uses: dict[Node, int] = dict.fromkeys(nodes, 0)
        for node in nodes:
            for child in children(node):
                uses[child] += 1
        for root in roots:
            uses[root] += 1
        for node in reversed(nodes):
            # <a>phi stands for <a>(1 phi): it is phi that gets a name, if any.
            if _lone(node) is not None:
                uses[children(node)[0]] += uses[node] - 1
        used = {node.name for node in nodes if isinstance(node, Variable)}.union(taken)
        number = 0
        self.shared: list[Node] = []
        for node in nodes:
            if uses[node] > 1 and not _small(node) and _lone(node) is None:
                number += 1
                while f"x{number}" in used:
                    number += 1
                self.names[node] = f"x{number}"
                self.shared.append(node)

    def definitions(self) -> list[str]:
        if not self.shared:
            return []
        result = ["let\n  "]
        for number, node in enumerate(self.shared):
            if number:
                result.append(";\n  ")
            result.append(f"{self.names[node]} = ")
            result += self.body(node, head=True)
        result.append("\nin ")
        return result

    def body(self, formula: Node, *, head: bool = False) -> list[str]:
        """Return the pieces of a formula; with `head` it is written out even if it has a name."""
        result: list[str] = []
        stack: list[str | tuple[Node, bool]] = []
        if head:
            stack += reversed(self._pieces(formula, unary=False))
        else:
            stack.append((formula, False))
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                result.append(item)
            elif item[0] in self.names:
                result.append(self.names[item[0]])
            else:
                stack += reversed(self._pieces(item[0], unary=item[1]))
        return result

    def _pieces(self, node: Node, *, unary: bool) -> list[str | tuple[Node, bool]]:
        signs = self.signs
        match node:
            case Variable(name=name):
                return [name]
            case Negation(operand=operand):
                return [signs.negation, (operand, True)]
            case Conjunction(operands=operands):
                inside: list[str | tuple[Node, bool]] = []
                for operand in operands:
                    inside += [signs.both, (operand, True)]
                return ["(", *inside[1:], ")"] if unary else inside[1:]
            case Diamond(action=action, target=target):
                return [f"{signs.left}{action_text(action)}{signs.right}", *self._target(target)]
            case Mixture(parts=parts):
                return ["(", *self._parts(parts), ")"]
            case _:
                return [signs.top]

    def _parts(self, parts: tuple[tuple[fmpq, StateFormula], ...]) -> list[str | tuple[Node, bool]]:
        pieces: list[str | tuple[Node, bool]] = []
        for weight, part in parts:
            pieces += [self.signs.plus, f"{format_rational(weight)} ", (part, True)]
        return pieces[1:]

    def _target(self, target: Node) -> list[str | tuple[Node, bool]]:
        """Return what follows ``<a>``: ``<a>phi`` stands for ``<a>(1 phi)``, but for ``T``."""
        return [(_lone(target) or target, True)]
