"""Formulae of the full logic of probabilistic automata, as a graph in which equal formulae are one object.

State formulae are ``T | !phi | phi & ... & phi | <a>psi``, distribution formulae ``T | (+) r_i phi_i``. They
are made by the functions of this module alone, which bring them into canonical form:

- a conjunction is a set: nested ones are flattened, ``T`` is dropped, what is said twice is said once;
- ``!!phi`` is ``phi``;
- in ``(+) r_i phi_i`` equal parts are merged, their weights added.

Two formulae have the same canonical form exactly if they are the same object, so that comparing them takes no
time, and what occurs in many places is stored once. Nothing here recurses: a formula may be as deep as memory
allows.

Source: CCP18 Definition 17, CCP18 Definition 19, CCP18 Definition 20.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any, NoReturn, TypeVar
from weakref import WeakValueDictionary

from flint import fmpq

from bisimdist.errors import NumberError
from bisimdist.exact.rational import ExactNumber, shorten_rational, to_fmpq

ONE = fmpq(1)
Order = tuple[int, str, int, bytes]


class Node:
    """A formula of either sort; equal ones are one object, and no attribute changes."""

    __slots__ = ("__weakref__", "depth", "open", "order")

    depth: int  # how deep modalities are nested
    order: Order  # where the formula stands among others when it is printed; the same in every run
    open: bool  # whether a variable occurs in it

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a formula does not change: {name} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a formula does not change: {name} cannot be deleted")

    def __copy__(self) -> Node:
        return self

    def __deepcopy__(self, memo: object) -> Node:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # As text: pickling the graph itself would recurse.
        from bisimdist.logic.engine.formula_parser import parse_node  # noqa: PLC0415

        return parse_node, (str(self),)

    def __str__(self) -> str:
        from bisimdist.logic.engine.formula_printer import formula_text  # noqa: PLC0415

        return formula_text(self)

    def __repr__(self) -> str:
        text = str(self) if formula_size(self) <= 30 else f"{formula_size(self)} nodes, depth {self.depth}"
        return f"<{type(self).__name__} {text}>"


class StateFormula(Node):
    """A formula about states.

    Examples
    --------
    >>> import bisimdist
    >>> str(bisimdist.logic.parse_formula("<a>T & !<b>T"))
    '<a>T & !<b>T'
    """

    __slots__ = ()


class DistributionFormula(Node):
    """A formula about sub-distributions.

    Examples
    --------
    >>> import bisimdist
    >>> str(bisimdist.logic.parse_distribution_formula("(1/2 <a>T + 1/2 T)"))
    '(1/2 <a>T + 1/2 T)'
    """

    __slots__ = ()


class Top(StateFormula):
    """``T``, which every state satisfies."""

    __slots__ = ()

    def __reduce__(self) -> str:  # type: ignore[override]
        return "TOP"


class Variable(StateFormula):
    """A variable, which the equations of a system define."""

    __slots__ = ("name",)
    name: str


class Negation(StateFormula):
    """``!phi``."""

    __slots__ = ("operand",)
    operand: StateFormula


class Conjunction(StateFormula):
    """``phi & ... & phi``, of at least two operands, in their order."""

    __slots__ = ("operands",)
    operands: tuple[StateFormula, ...]


class Diamond(StateFormula):
    """``<a>psi``: some transition of this action leads to a sub-distribution that satisfies psi."""

    __slots__ = ("action", "target")
    action: str
    target: DistributionFormula


class Anything(DistributionFormula):
    """``T`` as a formula about sub-distributions: every one satisfies it, whatever its mass."""

    __slots__ = ()

    def __reduce__(self) -> str:  # type: ignore[override]
        return "ANYTHING"


class Mixture(DistributionFormula):
    """``r1 phi1 + ... + rk phik``: the sub-distribution splits into parts of these masses.

    The supports of the parts satisfy the formulae. The sum of the weights, at most one, is the mass.
    """

    __slots__ = ("mass", "parts")
    parts: tuple[tuple[fmpq, StateFormula], ...]
    mass: fmpq


Made = TypeVar("Made", bound=Node)
_table: WeakValueDictionary[tuple[object, ...], Any] = WeakValueDictionary()


def _made(kind: type[Made], key: tuple[object, ...], order: Order, **attributes: object) -> Made:
    """Make a node and enter it into the table."""
    node = kind.__new__(kind)
    put = object.__setattr__
    put(node, "order", order)
    for name, value in attributes.items():
        put(node, name, value)
    # Another thread may have been faster: the one in the table counts.
    found: Made = _table.setdefault(key, node)
    return found


def _digest(*parts: bytes) -> bytes:
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(b"%d:" % len(part))
        state.update(part)
    return state.digest()


TOP = _made(Top, ("T",), (9, "", 0, b""), depth=0, open=False)  # ``T``

ANYTHING = _made(Anything, ("anything",), (0, "", 0, b"*"), depth=0, open=False)
"""``T`` as a formula about sub-distributions."""


def variable(name: str) -> Variable:
    """Return the variable of a name; `EquationSystem` gives it a meaning."""
    key = ("X", name)
    found: Variable | None = _table.get(key)
    if found is None:
        order = (2, name, 0, _digest(b"X", name.encode()))
        found = _made(Variable, key, order, name=name, depth=0, open=True)
    return found


def negation(formula: StateFormula) -> StateFormula:
    """Return ``!formula``.

    >>> negation(negation(TOP)) is TOP
    True
    """
    if isinstance(formula, Negation):
        return formula.operand
    key = ("!", formula)
    found: Negation | None = _table.get(key)
    if found is None:
        _, action, depth, digest = formula.order
        order = (3, action, depth, _digest(b"!", digest))
        found = _made(Negation, key, order, operand=formula, depth=depth, open=formula.open)
    return found


def conjuncts(formula: StateFormula) -> tuple[StateFormula, ...]:
    """Return what a formula is the conjunction of; nothing for ``T``."""
    if isinstance(formula, Conjunction):
        return formula.operands
    return () if formula is TOP else (formula,)


def _order(node: Node) -> Order:
    return node.order


def conjunction(formulae: Iterable[StateFormula]) -> StateFormula:
    """Return the conjunction of formulae, ``T`` if there is none.

    >>> str(conjunction([enabled("b"), TOP, enabled("a"), enabled("b")]))
    '<a>T & <b>T'
    """
    unique: dict[StateFormula, None] = {}
    for formula in formulae:
        if isinstance(formula, Conjunction):
            unique.update(dict.fromkeys(formula.operands))
        elif formula is not TOP:
            unique[formula] = None
    if not unique:
        return TOP
    if len(unique) == 1:
        return next(iter(unique))
    operands = tuple(sorted(unique, key=_order))
    key = ("&", operands)
    found: Conjunction | None = _table.get(key)
    if found is None:
        depth = max(operand.depth for operand in operands)
        order = (4, "", depth, _digest(b"&", *(operand.order[3] for operand in operands)))
        is_open = any(operand.open for operand in operands)
        found = _made(Conjunction, key, order, operands=operands, depth=depth, open=is_open)
    return found


def diamond(action: str, target: DistributionFormula) -> Diamond:
    """Return ``<action>target``."""
    key = ("<", action, target)
    found: Diamond | None = _table.get(key)
    if found is None:
        depth = target.depth + 1
        order = (1, action, depth, _digest(b"<", action.encode(), target.order[3]))
        found = _made(Diamond, key, order, action=action, target=target, depth=depth, open=target.open)
    return found


def enabled(action: str) -> Diamond:
    """Return ``<action>T``: the action can be performed, whatever mass survives it."""
    return diamond(action, ANYTHING)


def mixture(parts: Iterable[tuple[ExactNumber, StateFormula]]) -> Mixture:
    """Return ``r1 phi1 + ... + rk phik``.

    Raises NumberError if a weight is not positive, or they sum to more than one.

    >>> half = fmpq(1, 2)
    >>> mixture([(half, TOP), (half, TOP)]) is mixture([(1, TOP)])
    True
    """
    weights: dict[StateFormula, fmpq] = {}
    mass = fmpq(0)
    for number, formula in parts:
        weight = to_fmpq(number)
        if weight <= 0:
            raise NumberError(f"the weight {shorten_rational(weight)} is not positive")
        weights[formula] = weights[formula] + weight if formula in weights else weight
        mass += weight
    if mass > 1:
        raise NumberError(f"the weights sum to {shorten_rational(mass)}; expected at most 1")
    ordered = sorted(weights, key=_order)
    # Weights as text: hashing that is faster than hashing rationals.
    key = ("+", *ordered, *(str(weights[formula]) for formula in ordered))
    found: Mixture | None = _table.get(key)
    if found is None:
        depth = max((formula.depth for formula in weights), default=0)
        entries = tuple((weights[formula], formula) for formula in ordered)
        written = [str(weight).encode() + b" " + formula.order[3] for weight, formula in entries]
        order = (5, "", depth, _digest(b"+", *written))
        is_open = any(formula.open for formula in weights)
        found = _made(Mixture, key, order, parts=entries, mass=mass, depth=depth, open=is_open)
    return found


def children(node: Node) -> tuple[Node, ...]:
    """Return the formulae that a formula is made of, in their order."""
    match node:
        case Diamond(target=target):
            return (target,)
        case Mixture(parts=parts):
            return tuple(part for _, part in parts)
        case Conjunction(operands=operands):
            return operands
        case Negation(operand=operand):
            return (operand,)
        case _:
            return ()


def postorder(*roots: Node) -> Iterator[Node]:
    """Yield every formula that occurs in the roots, once, after all that it is made of."""
    seen: set[Node] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        stack: list[tuple[Node, Iterator[Node]]] = [(root, iter(children(root)))]
        while stack:
            node, rest = stack[-1]
            child = next((below for below in rest if below not in seen), None)
            if child is None:
                stack.pop()
                yield node
            else:
                seen.add(child)
                stack.append((child, iter(children(child))))


def formula_size(*roots: Node) -> int:
    """Return how many formulae occur in the roots, those that occur in several places counted once."""
    return sum(1 for _ in postorder(*roots))
