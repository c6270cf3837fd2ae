"""The distance of formulae, by recursion over pairs of formulae of the graph, each pair once.

Source: CCP18 Definition 22, CCP18 Lemma 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from flint import fmpq

from bisimdist.distances.engine.liftings import Lifting
from bisimdist.errors import UsageError
from bisimdist.exact.scale import Value, larger, smaller
from bisimdist.logic.engine.formula import (
    TOP,
    Diamond,
    DistributionFormula,
    Mixture,
    Negation,
    StateFormula,
    conjuncts,
    mixture,
)
from bisimdist.progress import NEVER, Deadline

Pair = tuple[StateFormula, StateFormula]

CERTAIN = mixture([(1, TOP)])


class _MissingPair(Exception):  # noqa: N818
    """A lifting asks for a distance that is not known yet."""

    def __init__(self, first: StateFormula, second: StateFormula) -> None:
        self.pair: Pair = (first, second)
        super().__init__()


def _compared(ours: Sequence[StateFormula], theirs: Sequence[StateFormula]) -> Iterator[Pair]:
    """Yield the pairs of conjuncts that matter: alike in kind and action, and not both on both sides.

    All others are at the diameter, or one of them is at distance zero from itself.
    """
    shared = set(ours).intersection(theirs)
    diamonds, negations = _by_action(theirs)
    negated = [other for group in negations.values() for other in group]
    for one in ours:
        others: Iterable[StateFormula] = ()
        match one:
            case Diamond(action=action):
                others = diamonds.get(action, ())
            case Negation(operand=Diamond(action=action)):
                others = (*negations.get(action, ()), *negations.get(None, ()))
            case Negation():
                others = negated
        for other in others:
            if one not in shared or other not in shared:
                yield one, other


Groups = dict[str | None, list[StateFormula]]


def _by_action(literals: Sequence[StateFormula]) -> tuple[Groups, Groups]:
    """Return the diamonds and the negations by action; None for negations of something else."""
    diamonds: Groups = {}
    negations: Groups = {}
    for literal in literals:
        match literal:
            case Diamond(action=action):
                diamonds.setdefault(action, []).append(literal)
            case Negation(operand=Diamond(action=action)):
                negations.setdefault(action, []).append(literal)
            case Negation():
                negations.setdefault(None, []).append(literal)
    return diamonds, negations


class FormulaDistance:
    """Distances of formulae for one lifting; what is found is remembered.

    ``D(T, T) = 0``; ``D(!p, !q) = D(p, q)``; ``D(<a>psi, <a>psi')`` is the discounted lifting of D;
    conjunctions are compared as sets of conjuncts, by the Hausdorff distance (a formula that is no
    conjunction is the set of itself, ``T`` the empty set); in all other cases it is the diameter, which is
    also the Hausdorff distance of the empty set and another one. ``<a>T`` is taken as ``<a>(1 T)``,
    of which it is a notation where no mass is missing.

    ``lifting``: additive or multiplicative, with its discount. Multiplicative distances are given as e to
        them.
    ``up``: where a multiplicative discount makes a value irrational: whether to round it up (else down).

    >>> from bisimdist.distances.engine.liftings import AdditiveLifting
    >>> from bisimdist.logic.engine.formula_parser import parse_formula
    >>> distance = FormulaDistance(AdditiveLifting(fmpq(9, 10)))
    >>> distance.between(parse_formula("<a>(1/2 <b>T + 1/2 !<b>T)"), parse_formula("<a><b>T"))
    9/20
    """

    def __init__(self, lifting: Lifting, *, up: bool = True, deadline: Deadline = NEVER) -> None:
        self.lifting = lifting
        self.up = up
        self.deadline = deadline
        self._found: dict[Pair, Value] = {}
        self._number: dict[StateFormula, int] = {}
        self._formulae: list[StateFormula] = []
        self._rows: dict[DistributionFormula, Mapping[int, fmpq]] = {}

    def between(self, first: StateFormula, second: StateFormula) -> Value:
        """Return the distance of two formulae; None is infinity."""
        if first.open or second.open:
            raise UsageError("the formula has variables; expected one without")
        stack: list[tuple[Pair, Iterator[Pair]]] = []
        self._enter(stack, (first, second))
        while stack:
            pair, rest = stack[-1]
            needed = next((below for below in rest if not self._known(below)), None)
            if needed is not None:
                self._enter(stack, needed)
                continue
            self.deadline.check()
            try:
                value = self._hausdorff(*pair)
            except _MissingPair as missing:
                # Some liftings look at states of the same side, to explain an infinite value.
                self._enter(stack, missing.pair)
                continue
            stack.pop()
            self._put(pair, value)
        return self._value(first, second)

    def _enter(self, stack: list[tuple[Pair, Iterator[Pair]]], pair: Pair) -> None:
        if not self._known(pair):
            stack.append((pair, iter(self._needed(*pair))))

    def _known(self, pair: Pair) -> bool:
        return pair[0] is pair[1] or pair in self._found

    def _put(self, pair: Pair, value: Value) -> None:
        self._found[pair] = value
        self._found[pair[1], pair[0]] = value

    def _value(self, first: StateFormula, second: StateFormula) -> Value:
        if first is second:
            return self.lifting.zero
        if (first, second) not in self._found:
            raise _MissingPair(first, second)
        return self._found[first, second]

    def _masses(self, target: DistributionFormula) -> Mapping[int, fmpq]:
        """Return a mixture as a sub-distribution on the numbers of formulae; ``T`` is the mixture ``1 T``."""
        found = self._rows.get(target)
        if found is None:
            entries = {}
            for weight, part in target.parts if isinstance(target, Mixture) else CERTAIN.parts:
                if part not in self._number:
                    self._number[part] = len(self._formulae)
                    self._formulae.append(part)
                entries[self._number[part]] = weight
            found = self._rows[target] = entries
        return found

    def _needed(self, first: StateFormula, second: StateFormula) -> Iterable[Pair]:
        """Return the pairs whose distance the distance of a pair rests on."""
        for one, other in _compared(conjuncts(first), conjuncts(second)):
            match one, other:
                case Negation(operand=p), Negation(operand=q):
                    yield p, q
                case Diamond(target=m), Diamond(target=n):
                    for i, j in self.lifting.needed(self._masses(m), self._masses(n)):
                        yield self._formulae[i], self._formulae[j]

    def _hausdorff(self, first: StateFormula, second: StateFormula) -> Value:
        ours, theirs = conjuncts(first), conjuncts(second)
        if not ours or not theirs:
            return self.lifting.top
        nearest: dict[StateFormula, Value] = dict.fromkeys(set(ours) ^ set(theirs), self.lifting.top)
        for one, other in _compared(ours, theirs):
            value = self._literals(one, other)
            for literal in (one, other):
                if literal in nearest:
                    nearest[literal] = smaller(nearest[literal], value)
        result: Value = self.lifting.zero
        for value in nearest.values():
            result = larger(result, value)
        return result

    def _literals(self, one: StateFormula, other: StateFormula) -> Value:
        match one, other:
            case Negation(operand=p), Negation(operand=q):
                return self._value(p, q)
            case Diamond(action=a, target=m), Diamond(action=b, target=n) if a == b:
                value = self.lifting.lift(
                    self._masses(m),
                    self._masses(n),
                    lambda i, j: self._value(self._formulae[i], self._formulae[j]),
                    deadline=self.deadline,
                )
                return self.lifting.discounted(value, up=self.up)
            case _:
                return self.lifting.top
