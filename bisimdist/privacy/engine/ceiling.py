"""Upper bounds on what a signed vector can gain, from upper bounds on pairs of states.

Let lv_alpha(i, j) <= d(i, j) for ordered pairs of states. For an event E the function f(i) = nu_i(E) obeys
0 <= f <= 1 and f(i) - alpha f(j) <= d(i, j), so that a coupling bounds sup_E c(E) by weak duality. The
complement of E is an event too and c(E) = |c| - c(complement), so that |c| plus a bound for -c is one for c.
See docs/theory/delta.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flint import fmpq

from bisimdist.distances.engine.flat_engine import FlatTables
from bisimdist.distances.engine.proof import Proof
from bisimdist.lp.program import Program
from bisimdist.lp.transport import solve_program
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.privacy.engine.measure import Ceilings
from bisimdist.privacy.engine.signed import Vector

PairBound = Callable[[int, int], fmpq]  # an upper bound on lv_alpha of an ordered pair of different states

FINEST = 256  # bounds on pairs with longer denominators are rounded up to so many binary places


@dataclass(frozen=True, slots=True)
class LeafCoupling:
    """A coupling that bounds a vector c from above: masses in the units of c."""

    complement: bool  # whether it is about -c, so that the bound is |c| plus its cost
    moves: Mapping[tuple[int, int], fmpq]  # ``{(i, j): w}``: w of the excess of i is moved to j
    given_up: Mapping[int, fmpq]  # ``{i: w}``: w of the excess of i is given up at cost 1


@dataclass(slots=True)
class Ceiling(Ceilings):
    """Bounds on ordered pairs as integers, and the transportation programs that use them."""

    alpha: fmpq  # the skew that the bounds are for
    classes: Sequence[int]  # the distinguishable class of every state: between classes every bound is 1
    one: int  # the unit of the bounds
    bound: Callable[[int, int], int]  # the bound on a pair, rounded up to the unit, as a multiple of it
    # returns what proves the bounds on some pairs, if it is the engine of bisimilarity distances
    prove: Callable[[Sequence[tuple[int, int]]], Proof] | None = None
    pairs: int = 0  # how many pairs the bounds are about
    _known: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def scale(self) -> int:
        """What the integers of `value` have to be divided by."""
        return int(self.alpha.p) * self.one

    def value(self, vector: Vector) -> int:
        """Return a bound on the value of a vector, times `scale`."""
        total = sum(value for _, value in vector)
        return min(self._cost(vector, 1), total * self.scale + self._cost(vector, -1))

    def at(self, vector: Vector) -> fmpq:
        """Return a bound on the value of a vector."""
        return fmpq(self.value(vector), self.scale)

    def coupling(self, vector: Vector) -> LeafCoupling:
        """Return the coupling behind `value`."""
        total = sum(value for _, value in vector)
        complement = total * self.scale + self._cost(vector, -1) < self._cost(vector, 1)
        sign = -1 if complement else 1
        p = int(self.alpha.p)
        moves: dict[tuple[int, int], fmpq] = {}
        given_up: dict[int, fmpq] = {}
        for program in self._programs(vector, sign):
            sources = len(program.sources)
            basis = solve_program(program, program.cells, self.one)
            for v, (above, flow) in enumerate(zip(basis.parent, basis.flow, strict=True)):
                if not flow:
                    continue
                mass = fmpq(flow, p)
                if v < sources:
                    if above < 0:
                        given_up[program.sources[v]] = mass
                    else:
                        moves[program.sources[v], program.sinks[above - sources]] = mass
                elif above >= 0:
                    moves[program.sources[above], program.sinks[v - sources]] = mass
        return LeafCoupling(complement, moves, given_up)

    def _programs(self, vector: Vector, sign: int) -> list[Program]:
        """Return one transportation program for each class with anything to move; ``cells`` holds costs."""
        p, q = int(self.alpha.p), int(self.alpha.q)
        blocks: dict[int, tuple[list[int], list[int], list[int], list[int]]] = {}
        for state, value in vector:
            sources, supply, sinks, capacity = blocks.setdefault(self.classes[state], ([], [], [], []))
            if value * sign > 0:
                sources.append(state)
                supply.append(p * abs(value))
            else:
                sinks.append(state)
                capacity.append(q * abs(value))
        return [
            Program(
                tuple(sources),
                tuple(sinks),
                tuple(supply),
                tuple(capacity),
                tuple(self._pair(i, j) for i in sources for j in sinks),
                1,
            )
            for sources, supply, sinks, capacity in blocks.values()
            if sources
        ]

    def _pair(self, i: int, j: int) -> int:
        found = self._known.get((i, j))
        if found is None:
            found = self._known[i, j] = self.bound(i, j)
        return found

    def _cost(self, vector: Vector, sign: int) -> int:
        return sum(_cheapest(program, self.one) for program in self._programs(vector, sign))


def _cheapest(program: Program, one: int) -> int:
    """Return the least cost of a program; one source or one sink is served greedily."""
    if not program.sinks:
        return sum(program.supply) * one
    if len(program.sources) == 1:
        left = program.supply[0]
        total = 0
        for cost, room in sorted(zip(program.cells, program.capacity, strict=True)):
            if cost >= one:
                break
            moved = min(left, room)
            total += moved * cost
            left -= moved
            if not left:
                return total
        return total + left * one
    if len(program.sinks) == 1:
        room = program.capacity[0]
        total = 0
        for cost, supply in sorted(zip(program.cells, program.supply, strict=True)):
            moved = min(supply, room)
            total += moved * cost + (supply - moved) * one
            room -= moved
        return total
    return solve_program(program, program.cells, one).cost(program, program.cells, one)


def ceiling_of(proof: Proof, *, rounded: bool = True) -> Ceiling:
    """Return the bounds that a proof about bd_alpha or lbd_alpha gives; pairs without a number count as 1.

    Bounds with long denominators are `rounded` up, unless somebody needs them as they are.
    """
    space = proof.question.functional.space
    values = proof.upper_values
    whole = int(values.denominator)
    one = whole if whole.bit_length() <= FINEST or not rounded else 1 << FINEST

    def bound(i: int, j: int) -> int:
        number = space.numbers.get((i, j))
        if number is None:
            return one
        numerator = int(values.numerators[number])
        return numerator if one == whole else -(-numerator * one // whole)

    return Ceiling(proof.question.alpha, space.classes, one, bound, lambda _: proof, len(space))


def ceiling_of_tables(tables: FlatTables) -> Ceiling:
    """Return the bounds that tables about many pairs give; their proof is written out when asked for."""
    layout = tables.layout
    one, place, kind = layout.one, layout.place, layout.chain.kind

    def bound(i: int, j: int) -> int:
        k, m = int(place[i]), int(place[j])
        return one if min(k, m) < 0 or kind[k] != kind[m] else int(tables.upper[layout.pair(i, j)])

    def prove(pairs: Sequence[tuple[int, int]]) -> Proof:
        return replace(tables, asked=tuple(pairs)).in_detail()

    classes = distinguishable_classes(tables.model)
    return Ceiling(tables.alpha, classes, one, bound, prove, layout.pairs)
