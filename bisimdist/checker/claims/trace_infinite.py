"""Checks that quotients of probabilities of traces have no bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.partition import reached, summed
from bisimdist.checker.core.reading import RuleViolation, item, rational
from bisimdist.checker.core.shape import Shape, flag, key, listed, named, raw, row
from bisimdist.checker.core.trace_chain import Masses, TraceChain, total

_ZERO = Fraction(0)
_ONE = Fraction(1)
_Vector = dict[str, Fraction]
_VECTOR = named(rational)


class _Loop(Shape):
    """A cycle that leads back to where it began."""

    type: str = key(raw)
    prefix: list[str] = key(listed(item))
    cycle: list[str] = key(listed(item))


class _Drift(_Loop):
    """Vectors that a cycle hands on to each other by a factor; with rates, those above the other side."""

    suffix: list[str] = key(listed(item))
    swapped: bool = key(flag)
    factor: Fraction = key(rational)
    below: list[_Vector] = key(listed(_VECTOR))
    above: list[tuple[Fraction, _Vector]] = key(listed(row(rational, _VECTOR)))


def check_infinite(chain: TraceChain, sides: tuple[int, int], kind: str, proof: object) -> None:
    """Check that the quotients of some traces from two classes have no bound."""
    where = f"the {kind}"
    if kind == "loop":
        _check_loop(chain, sides, _Loop.read(proof, where))
    else:
        _check_drift(chain, sides, _Drift.read(proof, where))


def _check_loop(chain: TraceChain, sides: tuple[int, int], loop: _Loop) -> None:
    factors = []
    for side in counted(sides):
        before = chain.along({side: _ONE}, loop.prefix)
        after = chain.along(before, loop.cycle)
        if not after or chain.key(before)[0] != chain.key(after)[0]:
            raise RuleViolation("T5: the loop does not lead back to where it began")
        factors.append(total(after) / total(before))
    if factors[0] == factors[1]:
        raise RuleViolation("T5: the loop does not change the quotient")


def _vector(chain: TraceChain, numbers: Mapping[str, Fraction], where: str) -> Masses:
    result: Masses = {}
    for name, mass in counted(numbers.items()):
        state = chain.state(name, where)
        if mass <= 0 or state in result:
            raise RuleViolation(f"T5: {where} is not positive, or names a state twice")
        result[state] = mass
    return result


def _check_drift(chain: TraceChain, sides: tuple[int, int], drift: _Drift) -> None:
    factor, cycle = drift.factor, drift.cycle
    below = [_vector(chain, vector, "'below'") for vector in counted(drift.below)]
    above = [(rate, _vector(chain, vector, "'above'")) for rate, vector in counted(drift.above)]
    if factor <= 0 or any(not 0 <= rate <= factor for rate, _ in counted(above)):
        raise RuleViolation("T5: a rate is not between 0 and the factor, or the factor is not positive")
    if sum(rate == factor for rate, _ in counted(above)) >= len(below):
        raise RuleViolation("T5: the other side drifts as much")
    one, other = reversed(sides) if drift.swapped else sides
    rich, poor = (chain.along({side: _ONE}, drift.prefix) for side in (one, other))
    _check_below(chain, rich, (factor, below), cycle)
    whole = _summed(vector for _, vector in counted(above))
    if any(poor.get(state, _ZERO) > mass for state, mass in counted(whole.items())):
        raise RuleViolation("T5: 'above' is below the other vector after the prefix")
    for number, (rate, vector) in counted(enumerate(above)):
        after = chain.along(vector, cycle)
        later = _summed(entry for _, entry in counted(above[number + 1 :]))
        for state in counted(whole):
            if after.get(state, _ZERO) > rate * vector.get(state, _ZERO) + later.get(state, _ZERO):
                raise RuleViolation("T5: one round of the cycle leaves more than it may")
    _check_ends(chain, poor, (below[-1], set(all_of(whole))), (cycle, drift.suffix))


def _check_below(
    chain: TraceChain, rich: Masses, vectors: tuple[Fraction, Sequence[Masses]], cycle: Sequence[str]
) -> None:
    """Check that a round multiplies vectors by the factor, and that each one is handed on to the next."""
    factor, below = vectors
    if any(mass > rich.get(state, _ZERO) for state, mass in counted(below[0].items())):
        raise RuleViolation("T5: 'below' is above the vector after the prefix")
    for vector, added in counted(zip(below, [*below[1:], {}], strict=True)):
        after = chain.along(vector, cycle)
        for state in counted({*vector, *added}):
            if after.get(state, _ZERO) < factor * vector.get(state, _ZERO) + added.get(state, _ZERO):
                raise RuleViolation("T5: one round of the cycle leaves less than it has to")


def _summed(vectors: Iterable[Masses]) -> Masses:
    return summed(entry for vector in counted(vectors) for entry in counted(vector.items()))


def _check_ends(
    chain: TraceChain,
    poor: Masses,
    bounds: tuple[Masses, set[int]],
    words: tuple[Sequence[str], Sequence[str]],
) -> None:
    """Check that the suffix is possible on the probable side, and elsewhere only from states with a bound."""
    (below, bounded), (cycle, suffix) = bounds, words
    if not chain.along(below, suffix):
        raise RuleViolation("T5: the suffix is not possible where 'below' is positive")
    after_rounds = reached(poor, lambda state: chain.along({state: _ONE}, cycle))
    outside = set(all_of(after_rounds)) - bounded
    if any(chain.along({state: _ONE}, suffix) for state in counted(outside)):
        raise RuleViolation("T5: the suffix is possible where nothing bounds the other side")
    if any(set(all_of(chain.along({state: _ONE}, cycle))) & bounded for state in counted(outside)):
        raise RuleViolation("T5: the cycle leads to 'above' from where nothing bounds the other side")
