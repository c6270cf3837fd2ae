"""Programs whose random bits somebody bends: chains in intervals (Santha and Vazirani).

Every bit is one with a probability of (1-g)/2 to (1+g)/2 that may depend on all that came before. See
docs/theory/coins.md.
"""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import ModelError, UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.models.intervals import IntervalChain, IntervalRow
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.states import Drawing

BITS = {("bits", 1), ("below", 2), ("flip", 1, 2)}
"""What asks for one fair bit: getrandbits(1), randrange(2) or a choice of two, flip(1/2)."""

DRAW = "draw"
_HALF, _ONE = fmpq(1, 2), fmpq(1)


def refuse_other_draws(exploration: Exploration) -> None:
    """Refuse a program that draws anything but fair bits: what its draws are made of would not be known.

    Raises UsageError, naming the line and what it asks for.
    """
    for number, node in enumerate(exploration.nodes):
        if isinstance(node, Drawing) and node.request.count > 1 and node.request.key not in BITS:
            line = exploration.place(number)[1]
            asked = ", ".join(map(str, node.request.key[1:]))
            raise UsageError(
                f"line {line} draws {node.request.key[0]}({asked}), and only single bits can be biased; "
                "expected bits: getrandbits(1), randrange(2), a choice of two, or flip(1/2)"
            )


def bent(chain: ProgramChain, gain: fmpq, *, seen: bool) -> IntervalChain:
    """Return the chains in which every bit of a program is bent.

    chain: the chain of a program that draws bits, with its draws observed.
    gain: by how much bits are bent: from 0 to 1.
    seen: whether an observer sees that a draw happens; otherwise only the output is seen, and the program has
        to draw at most so many bits whatever these are.
    Raises UsageError if the gain is out of range. Raises ModelError if draws are not seen, and may go on for
        ever.
    """
    if not 0 <= gain <= 1:
        raise UsageError(f"the coins are biased by {format_rational(gain)}; expected a number from 0 to 1")
    low, high = (1 - gain) / 2, (1 + gain) / 2
    rows = tuple(tuple((t, low, high) if p == _HALF else (t, p, p) for t, p in row) for row in chain.rows)
    program = chain.provenance()
    if seen:
        return IntervalChain(chain.states, chain.labels, rows, chain.pairs, program=program)
    return _Unseen(chain, low, high).model(program and {**program, "observe": "output"})


class _Unseen:
    """The chain of the output alone: silent steps until no run draws any more."""

    def __init__(self, chain: ProgramChain, low: fmpq, high: fmpq) -> None:
        self.chain, self.low, self.high = chain, low, high
        self.order = self._order()
        self.outputs: dict[int, frozenset[int]] = {}
        self.left: dict[int, int] = {}
        for state in self.order:
            after = self.after(state)
            ends = [self.outputs[t] for t in after] or [frozenset({state})]
            self.outputs[state] = frozenset().union(*ends)
            # with two outputs or one nothing has to be remembered but how likely they are
            short = len(self.outputs[state]) <= 2
            self.left[state] = 0 if not after else 1 if short else 1 + max(self.left[t] for t in after)

    def after(self, state: int) -> list[int]:
        """Return the successors; none of an output."""
        row = self.chain.rows[state]
        return [] if row == ((state, _ONE),) else [target for target, _ in row]

    def _order(self) -> list[int]:
        """Return the states, each after those that it leads to."""
        order: list[int] = []
        state_of: dict[int, int] = {}  # 1: on the way, 2: done
        stack = [(state, False) for pair in self.chain.pairs for state in pair]
        while stack:
            state, left = stack.pop()
            if left:
                state_of[state] = 2
                order.append(state)
            elif state_of.get(state) is None:
                state_of[state] = 1
                stack.append((state, True))
                for target in self.after(state):
                    if state_of.get(target) == 1:
                        raise ModelError(
                            "it may draw for ever, and an observer does not see how long; expected a program "
                            "that ends after so many draws, or --observe draws",
                            place=self.chain.states[state],
                        )
                    stack.append((target, False))
        return order

    def likely(self, state: int, output: int) -> tuple[fmpq, fmpq]:
        """Return the least and the largest probability of an output, one of at most two."""
        known: dict[int, tuple[fmpq, fmpq]] = {}
        for place in self.order:
            after = self.after(place)
            if not after:
                known[place] = (_ONE, _ONE) if place == output else (fmpq(0), fmpq(0))
            elif len(after) == 1:
                known[place] = known[after[0]]
            else:
                a, b = after
                least, most = sorted((known[a][0], known[b][0])), sorted((known[a][1], known[b][1]))
                known[place] = (
                    self.high * least[0] + self.low * least[1],
                    self.low * most[0] + self.high * most[1],
                )
            if place == state:
                return known[place]
        raise AssertionError  # pragma: no cover  (every state is in the order)

    def row(self, state: int) -> list[tuple[int, fmpq, fmpq]]:
        """Return what follows a state that still draws."""
        if len(self.outputs[state]) <= 2:
            return [(output, *self.likely(state, output)) for output in sorted(self.outputs[state])]
        return [(t, self.low, self.high) if p == _HALF else (t, p, p) for t, p in self.chain.rows[state]]

    def model(self, program: dict[str, object]) -> IntervalChain:
        """Return the chain: states by how many steps are left; outputs wait for the last run."""
        starts = {state for pair in self.chain.pairs for state in pair}
        last = max(self.left[state] for state in starts)
        layer: dict[tuple[int, int], int] = {}
        names: list[str] = []
        labels: list[str] = []
        found: list[IntervalRow] = []

        def place(state: int, left: int) -> int:
            if (state, left) not in layer:
                layer[state, left] = len(names)
                start = left == last and state in starts
                name = self.chain.states[state]
                names.append(name if start or not left else f"{name} @{left}")
                labels.append(DRAW if left and not start else self.chain.labels[state])
                found.append(())
                waiting.append((state, left))
            return layer[state, left]

        waiting: list[tuple[int, int]] = []
        for state in sorted(starts):
            place(state, last)
        for state, left in waiting:
            row = self.row(state) if self.left[state] else [(state, _ONE, _ONE)]
            entries = [(place(t, max(0, left - 1)), below, above) for t, below, above in row]
            found[layer[state, left]] = tuple(sorted(entries, key=lambda entry: entry[0]))
        pairs = tuple((layer[s, last], layer[t, last]) for s, t in self.chain.pairs)
        return IntervalChain(tuple(names), tuple(labels), tuple(found), pairs, program=program)
