"""What formulae of the trace logic say of a state of a fully probabilistic automaton, all exactly.

``s |= Phi`` if the trace of Phi is possible from s, and ``s |= r Phi`` if moreover its probability is r. L(s)
is the set of all probabilistic formulae that s satisfies: one for each trace that is possible from s, so none
with probability 0.

Source: CCP18 Definition 3, CCP18 Definition 7, CCP18 Theorem 1, CCP18 Definition 8, CCP18 Definition 11,
CCP18 Lemma 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from flint import fmpq

from bisimdist.errors import ENDINGS, UsageError
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.scale import Scale, Value, larger, smaller
from bisimdist.logic.engine.linear import LinearFormula, ProbabilisticFormula, TraceFormula
from bisimdist.models.pa import PA
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.system import Vector, WordSystem, mass_of, point

ZERO = fmpq(0)
ONE = fmpq(1)

FormulaScale = Scale
"""How two probabilities are compared; what is the greatest is the distance of different linear parts."""


def formula_distance(
    first: ProbabilisticFormula,
    second: ProbabilisticFormula,
    scale: FormulaScale | str = FormulaScale.ADDITIVE,
) -> Value:
    """Return the syntactic distance of two formulae.

    Source: CCP18.

    Parameters
    ----------
    first, second
        The formulae.
    scale
        ``additive`` or ``multiplicative``.

    Returns
    -------
    fmpq or None
        The distance of the two numbers where the linear parts are equal, else the diameter; multiplicative
        distances are given by their ratio, None is infinity.

    Examples
    --------
    >>> from bisimdist.logic.engine.linear_parser import parse_probabilistic_formula as parse
    >>> formula_distance(parse("3/4 <a>T"), parse("1/4 <a>T"))
    1/2
    >>> formula_distance(parse("3/4 <a>T"), parse("1/4 <a>T"), "multiplicative")
    3
    >>> formula_distance(parse("3/4 <a>T"), parse("3/4 <b>T"))
    1
    """
    chosen = FormulaScale(scale)
    if first.linear != second.linear:
        return chosen.greatest
    return chosen.between(first.probability, second.probability)


def hausdorff_distance(
    first: Iterable[ProbabilisticFormula],
    second: Iterable[ProbabilisticFormula],
    scale: FormulaScale | str = FormulaScale.ADDITIVE,
) -> Value:
    """Return the Hausdorff lifting of the syntactic distance to finite sets of formulae.

    Two empty sets are at distance 0, an empty one and another one at the diameter.

    >>> from bisimdist.logic.engine.linear_parser import parse_probabilistic_formula as parse
    >>> hausdorff_distance([parse("1 T"), parse("1/2 <a>T")], [parse("1 T"), parse("1/3 <a>T")])
    1/6
    """
    chosen = FormulaScale(scale)
    one, two = _by_linear_part(first), _by_linear_part(second)
    result: Value = chosen.least
    for mine, other in ((one, two), (two, one)):
        for linear, numbers in mine.items():
            for x in numbers:
                nearest = chosen.greatest
                for y in other.get(linear, ()):
                    nearest = smaller(nearest, chosen.between(x, y))
                result = larger(result, nearest)
    return result


def _by_linear_part(formulae: Iterable[ProbabilisticFormula]) -> dict[LinearFormula, list[fmpq]]:
    result: dict[LinearFormula, list[fmpq]] = {}
    for formula in formulae:
        result.setdefault(formula.linear, []).append(formula.probability)
    return result


@dataclass(frozen=True, slots=True)
class LogicalDistances(Numbers):
    """Distances of two states by their formulae up to a depth.

    Parameters
    ----------
    strict
        The Hausdorff distance of L_k(s) and L_k(t), as it is defined.
    total_variation
        The same with the formulae of probability 0 added: sup over the traces w of length at most k of the
        distance of Pr(s, w) and Pr(t, w).
    witness
        A first trace that attains `total_variation`.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> bisimdist.logic.logical_distances(survey, ("s_y", "s_n"), 3).total_variation
    1/2
    """

    strict: Exact | None
    total_variation: Exact | None
    witness: tuple[str, ...]


@dataclass(slots=True)
class TraceSemantics:
    """The semantics of the trace logic on what some states of an automaton can reach.

    Bisimilar states are merged, and after a trace only the conditional distribution on states is kept (an
    *information state*) with the probability of the trace; equal information states are one object with one
    continuation.
    """

    automaton: PA
    starts: tuple[int, ...]
    chain: WordSystem = field(init=False)
    _asked: frozenset[int] = field(init=False, repr=False)
    _numbers: dict[Vector, int] = field(default_factory=dict, init=False, repr=False)
    _states: list[Vector] = field(default_factory=list, init=False, repr=False)
    _steps: dict[int, tuple[tuple[str, fmpq, int], ...]] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        self.chain = WordSystem.of(self.automaton, self.starts)
        self._asked = frozenset(self.starts)

    def _start(self, state: int) -> int:
        if state not in self._asked:
            raise UsageError(f"state {self.automaton.states[state]!r} was not asked about")
        return self._number(point(self.chain.class_of[state]))

    def _number(self, information: Vector) -> int:
        number = self._numbers.setdefault(information, len(self._states))
        if number == len(self._states):
            self._states.append(information)
        return number

    def steps(self, number: int) -> tuple[tuple[str, fmpq, int], ...]:
        """Return what an information state can do: action, its probability, the next information state."""
        if number not in self._steps:
            here = self._states[number]
            found = []
            for action, (after, scale) in sorted(self.chain.after(here).items()):
                share = scale * fmpq(mass_of(after), mass_of(here))
                found.append((action, share, self._number(after)))
            self._steps[number] = tuple(found)
        return self._steps[number]

    def probability(self, state: int, word: Iterable[str]) -> fmpq:
        """Return Pr(state, word): the probability to perform a trace."""
        number, result = self._start(state), ONE
        for action in word:
            for name, p, following in self.steps(number):
                if name == action:
                    number, result = following, result * p
                    break
            else:
                return ZERO
        return result

    def satisfies(self, state: int, formula: TraceFormula) -> bool:
        if isinstance(formula, LinearFormula):
            return bool(self.probability(state, formula.actions) != 0)
        found = self.probability(state, formula.linear.actions)
        return bool(found != 0 and found == formula.probability)

    def value(self, state: int, formula: TraceFormula, *, lenient: bool = False) -> fmpq:
        r"""Return the real-valued semantics: 1 less the distance of a formula from L(state).

        ``formula``: the formula. The value of a linear one, Phi, is that of ``1 Phi`` (CCP18 Proposition 4,
            before which it is said), hence the probability of its trace.
        ``lenient``: whether L(state) is to hold the formulae of probability 0 as well.
        returns: for ``r Phi`` the number 1 - \|r - Pr(state, Phi)\|, but 0 where Phi is not satisfied (not so
            if lenient).
        """
        linear = formula if isinstance(formula, LinearFormula) else formula.linear
        found = self.probability(state, linear.actions)
        if found == 0 and not lenient:
            return ZERO
        return found if isinstance(formula, LinearFormula) else ONE - abs(formula.probability - found)

    def formulae(
        self, state: int, depth: int | None = None, *, deadline: Deadline = NEVER
    ) -> Iterator[ProbabilisticFormula]:
        """Yield L(state) up to a depth one by one, shortest first and then alphabetically."""
        for word, probability in self._traces(self._start(state), depth, deadline):
            yield ProbabilisticFormula(probability, LinearFormula(word))

    def _traces(
        self, start: int, depth: int | None, deadline: Deadline
    ) -> Iterator[tuple[tuple[str, ...], fmpq]]:
        layer: list[tuple[tuple[str, ...], fmpq, int]] = [((), ONE, start)]
        yield (), ONE
        length = 0
        while layer and (depth is None or length < depth):
            length += 1
            following = []
            for word, probability, number in layer:
                deadline.check()
                for action, p, after in self.steps(number):
                    entry = ((*word, action), probability * p, after)
                    yield entry[0], entry[1]
                    following.append(entry)
            layer = following

    def count(self, state: int, depth: int, *, most: int = 500_000, deadline: Deadline = NEVER) -> int | None:
        """Return how many formulae L(state) has up to a depth, without listing them.

        ``most``: how many entries the information states may have that are looked at; None is returned where
            they have more.
        """
        current: Mapping[int, int] = {self._start(state): 1}
        total = 1
        for _ in range(depth):
            following: dict[int, int] = {}
            for number, traces in current.items():
                deadline.check()
                if number not in self._steps:
                    most -= len(self._states[number])
                    if most < 0:
                        return None
                for _, _, after in self.steps(number):
                    following[after] = following.get(after, 0) + traces
            if not following:
                break
            current = following
            total += sum(current.values())
        return total

    def longest(self, state: int) -> int | None:
        """Return the length of the longest trace of a state, None where there are traces of every length."""
        lengths: dict[int, int] = {}
        start = self.chain.class_of[state]
        stack = [(start, False)]
        path: set[int] = set()
        while stack:
            block, left = stack.pop()
            step = self.chain.steps[block]
            successors = [] if step is None else [target for target, _ in step[1]]
            if left:
                path.discard(block)
                lengths[block] = 1 + max(lengths[t] for t in successors) if successors else 0
            elif block not in lengths:
                if block in path:
                    return None
                path.add(block)
                stack.append((block, True))
                stack += [(target, False) for target in successors if target not in lengths]
        return lengths[start]

    def distances(
        self,
        first: int,
        second: int,
        depth: int,
        scale: FormulaScale | str = FormulaScale.ADDITIVE,
        *,
        deadline: Deadline = NEVER,
    ) -> LogicalDistances:
        """Return the distances of two states by all formulae up to a depth."""
        chosen = FormulaScale(scale)
        one = dict(self._traces(self._start(first), depth, deadline))
        two = dict(self._traces(self._start(second), depth, deadline))
        strict: Value = chosen.least
        best: Value = chosen.least
        witness: tuple[str, ...] = ()
        for word in sorted({**one, **two}, key=lambda word: (len(word), word)):
            x, y = one.get(word, ZERO), two.get(word, ZERO)
            here = chosen.between(x, y)
            strict = larger(strict, here if x != 0 and y != 0 else chosen.greatest)
            if best is not None and (here is None or here > best):
                best, witness = here, word
        return LogicalDistances(strict, best, witness)

    def first_formulae(
        self, state: int, depth: int | None, limit: int, *, deadline: Deadline = NEVER, writing: float = 0.0
    ) -> tuple[tuple[ProbabilisticFormula, ...], ProbabilisticFormula | None, bool]:
        """Return the first formulae, the next one if there is one, and whether there was time to look.

        So many seconds are kept for each action of what is found, and for every 64 bits of its number: all
        traces together may be much longer than they are many, and writing them longer than finding them.
        """
        found: list[ProbabilisticFormula] = []
        kept = 0.0
        try:
            for formula in islice(self.formulae(state, depth, deadline=deadline), limit + 1):
                found.append(formula)
                kept += writing * (len(formula.linear) + formula.probability.height_bits() / 64)
                deadline.earlier(kept).check()
        except ENDINGS:
            return tuple(found[:limit]), found[limit] if len(found) > limit else None, False
        return tuple(found[:limit]), found[limit] if len(found) > limit else None, True
