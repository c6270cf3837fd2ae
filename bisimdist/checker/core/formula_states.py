"""Says which states, and which transitions, satisfy a formula.

A set of states is an integer, bit s standing for the state of number s, and so is a set of transitions.
Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush

from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.flow import place
from bisimdist.checker.core.formula_text import ANYTHING, FormulaGraph, Text, read_text
from bisimdist.checker.core.reading import (
    LOOK,
    OPERATION,
    MalformedCertificate,
    common,
    hold,
    product_work,
    spend,
)


@dataclass(frozen=True)
class States:
    """What is known of a state formula: who satisfies it, and how deep it is."""

    members: int
    depth: int


@dataclass(frozen=True)
class Step:
    """A transition, its states by number, its probabilities as integers over `unit`."""

    source: int
    targets: list[int]
    masses: list[int]
    unit: int


class FormulaReader:
    """Reads formulae over the states of an automaton and finds who satisfies them."""

    def __init__(self, automaton: Automaton) -> None:
        self.number = {state: n for n, state in counted(enumerate(automaton.states))}
        self.every = (1 << len(automaton.states)) - 1
        self.graph = FormulaGraph()
        self.steps: list[Step] = []
        self._leading = [0] * len(automaton.states)  # by state the transitions that may lead to it
        self._alike: dict[tuple[str, Fraction | None], int] = {}  # those of an action, and of a mass
        self._touched: dict[int, int] = {}
        for n, (source, action, row) in counted(enumerate(automaton.transitions)):
            targets = [self.number[target] for target in counted(row)]
            for target in counted(targets, LOOK + n // 30):
                hold(n - self._leading[target].bit_length())
                self._leading[target] |= 1 << n
            unit = common(p.denominator for p in counted(row.values()))
            masses = [p.numerator * (unit // p.denominator) for p in counted(row.values())]
            self.steps.append(Step(self.number[source], targets, masses, unit))
            for mass in (None, sum(all_of(row.values()), Fraction(0))):
                self._alike[action, mass] = self._alike.get((action, mass), 0) | 1 << n
        self.actions = {action for action, _ in counted(self._alike)}
        self._found: list[int] = []  # by formula who satisfies it; nothing of use where a variable occurs

    def read(self, text: str) -> States:
        """Return which states satisfy a formula without equations, and its modal depth."""
        found = read_text(self.graph, text)
        if found.equations:
            raise MalformedCertificate("the formula is recursive; expected one without equations")
        self._evaluate()
        return States(self._found[found.root], self.graph.depth[found.root])

    def satisfying(self, text: str) -> int:
        """Return which states satisfy a formula, recursive or not."""
        found = read_text(self.graph, text)
        self._evaluate()
        return self._solution(found)

    def transitions(self, text: str) -> int:
        """Return which transitions satisfy a formula about distributions."""
        root = read_text(self.graph, text, distributions=True).root
        self._evaluate()
        result = 0
        for action in counted(self.actions):
            result |= self._matching(action, root, self._found)
        return result

    def _evaluate(self) -> None:
        """Find who satisfies the formulae that were read last, those without variables."""
        for n in counted(range(len(self._found), len(self.graph.nodes))):
            hold(self.every.bit_length())
            self._found.append(0 if self.graph.open[n] else self._judged(n, self._found))

    def _judged(self, number: int, found: list[int] | dict[int, int]) -> int:
        """Return who satisfies a formula when that is known of its parts (about distributions: nothing)."""
        node = self.graph.nodes[number]
        spend(OPERATION + len(self.graph.inside(number)) * _digits(self.every))
        match node[0]:
            case "T":
                return self.every
            case "!":
                return self.every & ~found[node[1]]
            case "&":
                result = self.every
                for operand in counted(node[1]):
                    result &= found[operand]
                return result
            case "<":
                result = 0
                matching = self._matching(node[1], node[2], found)
                for n in counted(_members(matching), LOOK + _digits(self.every)):
                    result |= 1 << self.steps[n].source
                return result
            case _:
                return 0

    def _matching(self, action: str, target: int, found: list[int] | dict[int, int]) -> int:
        """Return the transitions of an action that satisfy a formula about distributions."""
        if target == ANYTHING:
            return self._alike.get((action, None), 0)
        parts = [(weight, found[part]) for part, weight in counted(self.graph.nodes[target][1])]
        result = self._alike.get((action, sum((weight for weight, _ in counted(parts)), Fraction(0))), 0)
        # No part is in vain, and no successor without a part: that is quickly seen of all at once.
        covered = 0
        for _, members in counted(parts):
            covered |= members
            if result:
                result &= self._touching(members)
        if result and covered != self.every:
            result &= ~self._touching(self.every & ~covered)
        if len(parts) > 1:
            for n in counted(_members(result), LOOK + len(self.steps) // 30):
                if not splits(self.steps[n], parts):
                    result ^= 1 << n
        return result

    def _touching(self, members: int) -> int:
        """Return the transitions that may lead into a set."""
        found = self._touched.get(members)
        if found is None:
            found = 0
            for state in counted(_members(members), LOOK + len(self.steps) // 30):
                found |= self._leading[state]
            hold(self.every.bit_length() + len(self.steps))
            self._touched[members] = found
        return found

    # -- recursive formulae

    def _solution(self, text: Text) -> int:
        """Return who satisfies a formula under the greatest solution of its equations.

        All sets are as large as possible first and become smaller, since no variable is under an odd number
        of negations; what they end in is the greatest solution.
        """
        graph = self.graph
        variables = {graph.variable(name): side for name, side in counted(text.equations.items())}
        cone = self._cone((text.root, *variables, *variables.values()))
        self._require_positive(variables.values())
        values = _Values(self._found)
        sides: dict[int, list[int]] = {}
        for variable, side in counted(variables.items()):
            sides.setdefault(side, []).append(variable)
        readers: dict[int, list[int]] = {}
        for n in counted(cone):
            values[n] = self.every if n in variables else self._judged(n, values)
            for part in counted(graph.inside(n)):
                readers.setdefault(part, []).append(n)
        waiting = set(all_of(variables))
        while waiting:
            spend(LOOK)
            changed = [x for x in counted(waiting) if values[variables[x]] != values[x]]
            values.update({x: values[variables[x]] for x in counted(changed)})
            waiting = {x for n in counted(changed) for x in counted(sides.get(n, ()))}
            heap = sorted({reader for x in counted(changed) for reader in counted(readers.get(x, ()))})
            seen = set(all_of(heap))
            while heap:
                spend(LOOK)
                n = heappop(heap)
                value = self._judged(n, values)
                if value != values[n] or graph.about_distributions(n):
                    values[n] = value
                    waiting.update(sides.get(n, ()))
                    for reader in counted(readers.get(n, ())):
                        if reader not in seen:
                            seen.add(reader)
                            heappush(heap, reader)
        return values[text.root]

    def _cone(self, roots: Iterable[int]) -> list[int]:
        """Return what some formulae are made of and variables occur in, parts first."""
        found = {n for n in counted(roots) if self.graph.open[n]}
        stack = list(all_of(found))
        while stack:
            spend(LOOK)
            for part in counted(self.graph.inside(stack.pop())):
                if self.graph.open[part] and part not in found:
                    found.add(part)
                    stack.append(part)
        return sorted(all_of(found))

    def _require_positive(self, sides: Iterable[int]) -> None:
        graph = self.graph
        seen: set[tuple[int, bool]] = set()
        stack = [(side, True) for side in counted(sides)]
        while stack:
            spend(LOOK)
            n, positive = stack.pop()
            if (n, positive) in seen or not graph.open[n]:
                continue
            seen.add((n, positive))
            kind = graph.nodes[n][0]
            if kind == "X" and not positive:
                raise MalformedCertificate("a variable is under an odd number of negations")
            stack += [(part, positive != (kind == "!")) for part in counted(graph.inside(n))]


class _Values(dict[int, int]):
    """Who satisfies formulae with variables for now; those without are looked up where they are known."""

    def __init__(self, found: list[int]) -> None:
        super().__init__()
        self.found = found

    def __missing__(self, number: int) -> int:
        return self.found[number]


def _digits(number: int) -> int:
    return number.bit_length() // 30


def _members(numbers: int) -> Iterator[int]:
    while numbers:
        spend(LOOK + 4 * _digits(numbers))
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest


def splits(step: Step, parts: list[tuple[Fraction, int]]) -> bool:
    """Tell whether a row is a sum of parts of these masses, each on its set; the masses add up already."""
    work = product_work(
        step.unit.bit_length(), max(weight.denominator for weight, _ in counted(parts)).bit_length()
    )
    spend(len(parts) * len(step.targets) * (LOOK + work))
    spend(len(parts) * len(step.targets) * (max(all_of(step.targets), default=0) // 30))
    ways = [
        [k for k, state in counted(enumerate(step.targets)) if members >> state & 1]
        for _, members in counted(parts)
    ]
    for (weight, _), places in counted(zip(parts, ways, strict=True)):
        # What fails mostly fails here: a part that finds too little mass even if it is alone.
        if sum(step.masses[k] for k in counted(places)) * weight.denominator < weight.numerator * step.unit:
            return False
    unit = common((step.unit, *(weight.denominator for weight, _ in counted(parts))))
    room = [mass * (unit // step.unit) for mass in counted(step.masses)]
    flow: list[dict[int, int]] = [{} for _ in counted(room)]  # by successor: from which part how much
    needs = [weight.numerator * (unit // weight.denominator) for weight, _ in counted(parts)]
    return all(place(part, need, ways, flow, room) for part, need in counted(enumerate(needs)))
