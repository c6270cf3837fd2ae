"""Which states of a probabilistic automaton satisfy a formula.

Every formula of the graph is looked at once, those that it is made of first. A set of states is an integer,
bit s standing for state s, and so is a set of transitions.

Source: CCP18 Definition 18.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.logic.engine.equations import EquationSystem, variables_of
from bisimdist.logic.engine.formula import (
    Anything,
    Conjunction,
    Diamond,
    DistributionFormula,
    Mixture,
    Negation,
    Node,
    StateFormula,
    Variable,
    children,
)
from bisimdist.logic.engine.splitting import bits, splits, splitting
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import NEVER, Deadline

CHECK_EVERY = 256

Parts = tuple[tuple[fmpq, StateFormula, Mapping[int, fmpq]], ...]
"""For each part of a formula about distributions its weight, its formula, and the mass from each state."""


@dataclass(frozen=True, slots=True)
class Splitting:
    """Why a state satisfies ``<a>psi``."""

    transition: Transition
    # for each part of psi its weight, its formula, and the mass that it takes from each successor; empty
    # where psi is ``T``
    parts: Parts


class ModelChecker:
    """Finds the states that satisfy formulae, and remembers what it found.

    >>> from bisimdist.logic.engine.formula_parser import parse_formula
    >>> steps = (Transition(0, "a", ((1, fmpq(1, 2)), (2, fmpq(1, 2)))), Transition(1, "b", ((2, fmpq(1)),)))
    >>> checker = ModelChecker(PA(("s", "t", "u"), steps))
    >>> bin(checker.states(parse_formula("<a>(1/2 <b>T + 1/2 !<b>T)")))
    '0b1'
    """

    def __init__(self, automaton: PA, deadline: Deadline = NEVER) -> None:
        self.automaton = automaton
        self.deadline = deadline
        self.every = (1 << len(automaton)) - 1
        self._found: dict[Node, int] = {}
        self._leading: list[int] = [0] * len(automaton)  # state: the transitions that may lead to it
        self._steps: dict[str, int] = {}  # action: its transitions
        self._mass: dict[fmpq, int] = {}  # mass: the transitions of this mass
        self._touched: dict[int, int] = {}
        self._solved: dict[tuple[str, tuple[tuple[fmpq, int], ...]], int] = {}
        for number, step in enumerate(automaton.transitions):
            bit = 1 << number
            for target, _ in step.row:
                self._leading[target] |= bit
            self._steps[step.action] = self._steps.get(step.action, 0) | bit
            mass = sum((p for _, p in step.row), fmpq(0))
            self._mass[mass] = self._mass.get(mass, 0) | bit

    def states(self, formula: StateFormula) -> int:
        """Return the set of states that satisfy a formula without variables, bit s standing for state s."""
        self._close(formula)
        return self._found[formula]

    def transitions(self, formula: DistributionFormula) -> int:
        """Return the set of transitions whose sub-distributions satisfy a formula without variables.

        Bit n stands for transition n of the automaton.

        >>> from bisimdist.logic.engine.formula_parser import parse_distribution_formula
        >>> half = fmpq(1, 2)
        >>> steps = (Transition(0, "a", ((1, half), (2, half))), Transition(1, "b", ((0, half), (2, half))))
        >>> checker = ModelChecker(PA(("s", "t", "u"), steps))
        >>> bin(checker.transitions(parse_distribution_formula("(1/3 <b>T + 2/3 T)")))
        '0b1'
        """
        self._close(formula)
        if not isinstance(formula, Mixture):
            return (1 << len(self.automaton.transitions)) - 1
        parts = tuple((weight, self._found[part]) for weight, part in formula.parts)
        result = 0
        for action in self._steps:
            result |= self._transitions(action, parts)
        return result

    def parts(self, row: Row, formula: DistributionFormula) -> Parts | None:
        """Return how a sub-distribution splits as a formula without variables says; None if it does not.

        ``row``: states with positive masses, which sum to at most one.
        ``formula``: the formula; ``T`` has no parts.

        >>> from bisimdist.logic.engine.formula_parser import parse_distribution_formula
        >>> checker = ModelChecker(PA(("s", "t"), (Transition(0, "a", ((1, fmpq(1)),)),)))
        >>> row, psi = ((0, fmpq(1, 2)), (1, fmpq(1, 3))), parse_distribution_formula("(1/3 <a>T + 1/2 T)")
        >>> [(str(part), dict(masses)) for _, part, masses in checker.parts(row, psi)]
        [('<a>T', {0: 1/3}), ('T', {0: 1/6, 1: 1/3})]
        """
        self._close(formula)
        if not isinstance(formula, Mixture):
            return ()
        found = splitting(row, [(weight, self._found[part]) for weight, part in formula.parts])
        if found is None:
            return None
        pieces = zip(formula.parts, found, strict=True)
        return tuple((weight, part, masses) for (weight, part), masses in pieces)

    def _close(self, formula: Node) -> None:
        """Find the states for all that a formula without variables is made of."""
        if formula.open:
            name = min(variables_of(formula))
            raise UsageError(f"the variable {name} has no equation; expected a formula without variables")
        self._evaluate(formula, self._found, {})

    def satisfies(self, state: int, formula: StateFormula) -> bool:
        """Tell whether a state satisfies a formula without variables."""
        return bool(self.states(formula) >> state & 1)

    def solution(self, system: EquationSystem) -> tuple[int, Mapping[str, int]]:
        """Return the states that satisfy a recursive formula, and the greatest solution of its equations."""
        sides = dict(system.equations)
        readers: dict[str, list[str]] = {name: [] for name in sides}
        for name, side in sides.items():
            for used in sorted(variables_of(side)):
                readers[used].append(name)
        values = dict.fromkeys(sides, self.every)
        stale = dict.fromkeys(sides)
        while stale:
            self.deadline.check()
            changed = []
            for name in stale:
                value = self._open(sides[name], {}, values)
                if value != values[name]:
                    changed.append((name, value))
            values.update(changed)
            stale = dict.fromkeys(reader for name, _ in changed for reader in readers[name])
        return self._open(system.root, {}, values), values

    def _open(self, formula: StateFormula, known: dict[Node, int], values: Mapping[str, int]) -> int:
        self._evaluate(formula, known, values)
        return known[formula] if formula.open else self._found[formula]

    def _evaluate(self, root: Node, known: dict[Node, int], values: Mapping[str, int]) -> None:
        """Find the states for a formula and all that it is made of; `known` is for those with variables."""
        closed = self._found
        stack: list[Node] = [root]
        rounds = 0
        while stack:
            node = stack[-1]
            table = known if node.open else closed
            if node in table:
                stack.pop()
                continue
            missing = [child for child in children(node) if child not in (known if child.open else closed)]
            if missing:
                stack += missing
                continue
            stack.pop()
            rounds += 1
            if rounds % CHECK_EVERY == 0:
                self.deadline.check()
            table[node] = self._judged(node, known, values)

    def _judged(self, node: Node, known: Mapping[Node, int], values: Mapping[str, int]) -> int:  # noqa: PLR0911
        """Return the states for a formula when those of its parts are known (0: about distributions)."""

        def value(part: Node) -> int:
            return known[part] if part.open else self._found[part]

        match node:
            case Variable(name=name):
                return values[name]
            case Negation(operand=operand):
                return self.every & ~value(operand)
            case Conjunction(operands=operands):
                result = self.every
                for operand in operands:
                    result &= value(operand)
                return result
            case Diamond(action=action, target=Mixture(parts=parts)):
                steps = self._transitions(action, tuple((weight, value(part)) for weight, part in parts))
                return self._sources(steps)
            case Diamond(action=action):
                return self._sources(self._steps.get(action, 0))
            case Mixture() | Anything():
                return 0
            case _:
                return self.every

    def _sources(self, steps: int) -> int:
        result = 0
        for number in bits(steps):
            result |= 1 << self.automaton.transitions[number].source
        return result

    def _touching(self, members: int) -> int:
        """Return the transitions that may lead into a set."""
        found = self._touched.get(members)
        if found is None:
            found = 0
            for state in bits(members):
                found |= self._leading[state]
            self._touched[members] = found
        return found

    def _transitions(self, action: str, parts: tuple[tuple[fmpq, int], ...]) -> int:
        """Return the transitions with an action whose sub-distributions split as the parts say."""
        merged: dict[int, fmpq] = {}
        for weight, members in parts:
            merged[members] = merged[members] + weight if members in merged else weight
        key = (action, tuple((weight, members) for members, weight in sorted(merged.items())))
        found = self._solved.get(key)
        if found is not None:
            return found
        # Necessary, and quickly tested for all transitions at once: the mass, and that no part is in vain
        # and no successor without a part.
        steps = self._steps.get(action, 0) & self._mass.get(sum(merged.values(), fmpq(0)), 0)
        covered = 0
        for members in merged:
            covered |= members
            if steps:
                steps &= self._touching(members)
        if steps and covered != self.every:
            steps &= ~self._touching(self.every & ~covered)
        if len(merged) > 1:
            rest = steps
            for number in bits(rest):
                self.deadline.check()
                if not splits(self.automaton.transitions[number].row, key[1]):
                    steps ^= 1 << number
        self._solved[key] = steps
        return steps

    def witness(self, state: int, formula: StateFormula) -> Splitting | None:
        """Return a transition that shows that a state satisfies ``<a>psi``, and how it splits, or None."""
        if not isinstance(formula, Diamond):
            raise UsageError("only a formula <a>(...) is witnessed by a transition")
        for step in self.automaton.transitions:
            if step.source != state or step.action != formula.action:
                continue
            found = self.parts(step.row, formula.target)
            if found is not None:
                return Splitting(step, found)
        return None
