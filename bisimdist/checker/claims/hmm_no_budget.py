"""Certificates of kind ``hmm-no-budget``: no budget holds for sequences of all lengths.

The rules are named H and U as in ``docs/certificates/hmm-proofs.md``; why they prove the claims is in
``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.hidden_markov import AboutMarkov, NumericMarkov, Row, one_claim
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    Mass,
    RuleViolation,
    choice,
    item,
    rational,
    shown,
)
from bisimdist.checker.core.shape import CheckReport, Shape, flag, judged, key, listed, named, raw

_ZERO = Fraction(0)


def _word(value: object, where: str) -> list[str]:
    word = listed(item)(value, where)
    if not word:
        raise MalformedCertificate(f"{where} is empty")
    return word


class _Proof(Shape):
    type: str = key(raw)
    swapped: bool = key(flag)


class _Impossible(_Proof):
    """A word that is possible on one side only."""

    word: list[str] = key(_word)


class _Pump(_Proof):
    """A cycle that multiplies by more on one side than on the other."""

    prefix: list[str] = key(_word)
    cycle: list[str] = key(_word)
    suffix: list[str] = key(listed(item))
    fast: Fraction = key(rational)
    slow: Fraction = key(rational)
    below: Mapping[str, Fraction] = key(named(rational))
    above: Mapping[str, Fraction] = key(named(rational))
    counting: list[str] = key(listed(item))


class _Document(AboutMarkov):
    pump: Any = key(raw)


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``hmm-no-budget``."""
    whole = _Document.whole(document)
    one, two, _ = one_claim(whole.claims, "violated", "any")
    shapes: dict[str, type[_Proof]] = {"pump": _Pump, "impossible": _Impossible}
    kind = whole.pump.get("type") if isinstance(whole.pump, dict) else None
    proof = shapes[choice(kind, "the pump's type", shapes)].read(whole.pump, "the pump")

    def check() -> None:
        numbers = whole.embedded(model).numeric()
        sides = numbers.distribution(one), numbers.distribution(two)
        if proof.swapped:
            sides = sides[1], sides[0]
        if isinstance(proof, _Pump):
            _check_pump(numbers, sides, proof)
        elif isinstance(proof, _Impossible):
            _check_impossible(numbers, sides, proof.word)

    return judged(whole.claims, check)


def _vector(numbers: Mapping[str, Fraction], model: NumericMarkov, where: str) -> dict[str, Mass]:
    for name in counted(numbers):
        if name not in model.rows:
            raise RuleViolation(f"U1: {where} names {shown(name)}, which is no state")
    return {name: Mass.of(number, f"U1: {where}") for name, number in counted(numbers.items())}


def _check_impossible(model: NumericMarkov, sides: tuple[Row, Row], word: Sequence[str]) -> None:
    one, two = (model.along(side, word).parts for side in counted(sides))
    if two or not one:
        raise RuleViolation("U7: the word is not possible on one side only")


def _check_pump(model: NumericMarkov, sides: tuple[Row, Row], pump: _Pump) -> None:
    prefix, cycle, counting = pump.prefix, pump.cycle, set(all_of(pump.counting))
    fast, slow = Mass.of(pump.fast, "U2: the fast factor"), Mass.of(pump.slow, "U2: the slow factor")
    if slow >= fast:
        raise RuleViolation("U2: the fast factor is not larger than the slow one")
    below = _vector(pump.below, model, "the lower vector")
    above = _vector(pump.above, model, "the upper vector")
    first, second = (model.along(side, prefix).fractions() for side in counted(sides))
    for state, mass in counted(below.items()):
        if mass > first.get(state, _ZERO):
            raise RuleViolation("U3: the lower vector is above the probable side after the prefix")
    after = model.along(below, cycle, moved=True).fractions()
    if any(after.get(s, _ZERO) < fast * mass for s, mass in counted(below.items())):
        raise RuleViolation("U4: one round of the cycle leaves less than the fast factor")
    for state in counted(counting):
        if second.get(state, _ZERO) > above.get(state, _ZERO):
            raise RuleViolation("U5: the upper vector is below the other side after the prefix")
    after = model.along(above, cycle, moved=True).fractions()  # what does not count leads nowhere that does
    if any(mass > slow * above.get(s, _ZERO) for s, mass in counted(after.items()) if s in counting):
        raise RuleViolation("U5: one round of the cycle leaves more than the slow factor")
    _check_suffix(model, cycle, pump.suffix, counting, {s for s, mass in counted(below.items()) if mass})


def _check_suffix(
    model: NumericMarkov, cycle: Sequence[str], suffix: Sequence[str], counting: set[str], fast: set[str]
) -> None:
    """Check that nothing but the counting states counts, and that the fast states do."""
    one = Fraction(1)
    for state in counted(model.rows):
        if state in counting:
            continue
        if not counting.isdisjoint(model.along({state: one}, cycle, moved=True).parts):
            raise RuleViolation("U6: the cycle leads into a counting state from another state")
        if model.along({state: one}, suffix, moved=True).parts:
            raise RuleViolation("U6: the suffix is possible outside of the counting states")
    if not model.along(dict.fromkeys(fast, one), suffix, moved=True).parts:
        raise RuleViolation("U7: the suffix is impossible where the lower vector is positive")
