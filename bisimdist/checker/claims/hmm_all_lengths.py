"""Certificates of kind ``hmm-all-lengths``: a budget for observation sequences of every length.

The rules are named H, I, F and K as in ``docs/certificates/hmm-proofs.md``; why they prove the claims is in
``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any

from bisimdist.checker.core.counting import counted, joined
from bisimdist.checker.core.hidden_markov import AboutMarkov, NumericMarkov, Row, one_claim
from bisimdist.checker.core.partition import lumped
from bisimdist.checker.core.reading import (
    ENTRY,
    Amount,
    MalformedCertificate,
    Mass,
    RuleViolation,
    Skew,
    choice,
    hold,
    integer,
    item,
    mapping,
    rational,
    shown,
)
from bisimdist.checker.core.shape import CheckReport, Shape, judged, key, listed, named, raw, read_frame, row

FIRST, SECOND, END = '["first"]', '["second"]', '["end"]'
_ZERO = Fraction(0)

Function = Mapping[str, Fraction]
Pair = tuple[str, str]
Moves = list[tuple[str, str, Amount]]
FUNCTION = named(Mass.by("I1"))
COUPLINGS = named(listed(row(item, item, Amount.by("F1"))))


class _Cone(Shape):
    type: str = key(raw)
    generators: list[Function] = key(listed(FUNCTION))
    starts: Mapping[str, Any] = key(mapping)
    steps: list[Mapping[str, Any]] = key(listed(mapping))


class _Factor(Shape):
    pair: Pair = key(row(item, item))
    factor: Skew = key(Skew.by("F3"))
    moves: Mapping[str, Moves] = key(COUPLINGS)


class _Factors(Shape):
    type: str = key(raw)
    table: list[_Factor] = key(listed(_Factor.read))
    forward: Mapping[str, Moves] = key(COUPLINGS)
    backward: Mapping[str, Moves] = key(COUPLINGS)


class _Coupling(Shape):
    type: str = key(raw)
    chain: dict[str, object] = key(mapping)
    merged: Mapping[str, str] = key(named(item))


class _Document(AboutMarkov):
    invariant: Any = key(raw)


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``hmm-all-lengths``."""
    whole = _Document.whole(document)
    one, two, text = one_claim(whole.claims, "holds")
    ratio = rational(text, "the ratio")
    checks = {"cone": _check_cone, "factors": _check_factors, "coupling": _check_coupling}
    kind = whole.invariant.get("type") if isinstance(whole.invariant, dict) else None
    kind = choice(kind, "the invariant's type", checks)

    def check() -> None:
        numbers = whole.embedded(model).numeric()
        sides = numbers.distribution(one), numbers.distribution(two)
        checks[kind](numbers, sides, Skew.of(ratio, "H5: the ratio"), whole.invariant)

    return judged(whole.claims, check)


def _expectation(masses: Row, function: Function) -> Fraction:
    return sum((p * function.get(s, _ZERO) for s, p in counted(masses.items())), _ZERO)


def _check_cone(
    model: NumericMarkov, sides: tuple[Row, Row], ratio: Skew, invariant: Mapping[str, Any]
) -> None:
    cone = _Cone.read(invariant, "the invariant")
    states = model.reachable((*sides[0], *sides[1]))
    generators, starts, steps = cone.generators, cone.starts, cone.steps
    if len(steps) != len(generators):
        raise MalformedCertificate("expected combinations for every generator")
    for symbol, wanted in counted(model.makers.items()):
        _check_combination(generators, starts.get(symbol, {}), wanted, states, f"I2: start {shown(symbol)}")
        for number, (generator, entry) in counted(enumerate(zip(generators, steps, strict=True))):
            where = f"I3: step {shown(symbol)} of generator {number}"
            later = model.before(symbol, generator)
            _check_combination(generators, entry.get(symbol, {}), later, states, where)
    for number, generator in counted(enumerate(generators)):
        one, two = (_expectation(side, generator) for side in counted(sides))
        if one > ratio * two or two > ratio * one:
            raise RuleViolation(f"I4: generator {number} breaks the inequality")


def _check_combination(
    generators: Sequence[Function], entry: object, wanted: Function, states: set[str], where: str
) -> None:
    """Check that a function is a nonnegative combination of generators, on the states that matter."""
    total: dict[str, Fraction] = {}
    for name, amount in counted(FUNCTION(entry, where).items()):
        number = integer(name, where)
        if not 0 <= number < len(generators):
            raise MalformedCertificate(f"{where} names generator {number}, which does not exist")
        for state, value in counted(generators[number].items()):
            total[state] = total.get(state, _ZERO) + amount * value
    if any(total.get(s, _ZERO) != wanted.get(s, _ZERO) for s in counted({**total, **wanted}) if s in states):
        raise RuleViolation(f"{where}: the combination is another function")


def _cost(left: Row, right: Row, moves: Moves, table: Mapping[Pair, Skew], where: str) -> Fraction:
    """Return the least t that a coupling proves: left is at most t times right."""
    sent: dict[str, Fraction] = {}
    arrived: dict[str, Fraction] = {}
    for k, m, amount in counted(moves):
        if k != m and (k, m) not in table:
            raise RuleViolation(f"F2: {where} moves mass between two states without a factor")
        sent[k] = sent.get(k, _ZERO) + amount
        arrived[m] = arrived.get(m, _ZERO) + amount * (Fraction(1) if k == m else table[k, m])
    if any(sent.get(k, _ZERO) < mass for k, mass in counted(left.items())):
        raise RuleViolation(f"F2: {where} leaves mass behind")
    worst = _ZERO
    for state, mass in counted(arrived.items()):
        if not right.get(state):
            raise RuleViolation(f"F2: {where} brings mass to where there is none")
        worst = max(worst, mass / right[state])
    return worst


def _check_factors(
    model: NumericMarkov, sides: tuple[Row, Row], ratio: Skew, invariant: Mapping[str, Any]
) -> None:
    data = _Factors.read(invariant, "the invariant")
    for couplings in counted((data.forward, data.backward, *(entry.moves for entry in counted(data.table)))):
        for symbol, part in counted(couplings.items()):
            if len({(k, m) for k, m, _ in counted(part)}) != len(part):
                raise RuleViolation(f"F1: a coupling for {shown(symbol)} has a move that is listed twice")
    table: dict[Pair, Skew] = {}
    moves: dict[Pair, Mapping[str, Moves]] = {}
    for entry in counted(data.table):
        i, j = entry.pair
        if i not in model.emissions or j not in model.emissions or i == j or (i, j) in table:
            raise RuleViolation("F1: the table has a pair of equal or unknown states, or one twice")
        table[i, j], moves[i, j] = entry.factor, entry.moves
    for (i, j), factor in counted(table.items()):
        where = f"the coupling of {shown(i)} and {shown(j)}"
        for symbol, (left, right) in counted(_observed(model, model.rows[i], model.rows[j]).items()):
            if _cost(left, right, moves[i, j].get(symbol, []), table, where) > factor:
                raise RuleViolation(f"F4: {where}: the factor is too small for {shown(symbol)}")
    ways = ("forward", data.forward, *sides), ("backward", data.backward, sides[1], sides[0])
    for name, couplings, start, other in counted(ways):
        for symbol, (left, right) in counted(_observed(model, start, other).items()):
            if _cost(left, right, couplings.get(symbol, []), table, f"the coupling {name}") > ratio:
                raise RuleViolation(f"F5: the coupling {name} proves only a larger ratio")


def _observed(model: NumericMarkov, one: Row, two: Row) -> Mapping[str, tuple[Row, Row]]:
    """Return for each observation what it makes of two vectors of masses."""
    result: dict[str, tuple[dict[str, Fraction], dict[str, Fraction]]] = {}
    for k, side in enumerate((one, two)):
        for state, mass in counted(side.items()):
            for symbol, seen in counted(model.emissions[state].items()):
                result.setdefault(symbol, ({}, {}))[k][state] = mass * seen
    return result


def _check_coupling(
    model: NumericMarkov, sides: tuple[Row, Row], ratio: Skew, invariant: Mapping[str, Any]
) -> None:
    data = _Coupling.read(invariant, "the invariant")
    if "kind" in data.chain:
        raise MalformedCertificate("the chain's certificate has a kind; expected one of a distance")
    labels, rows = _as_chain(model, sides)
    distances = import_module("bisimdist.checker.claims.distance")
    report: CheckReport = distances.check_document(read_frame(data.chain))
    if not report.valid:
        raise RuleViolation(f"K2: the chain's certificate is not valid: {report.reason}")
    chain = import_module("bisimdist.checker.core.chain").read_chain(data.chain["model"])
    image = {state: data.merged.get(state, state) for state in counted(labels)}
    for state, target in counted(image.items()):
        if chain.labels.get(target) != labels[state]:
            raise RuleViolation(f"K1: {shown(state)} is merged with a state of another label, or none")
        if lumped(rows[state], image) != chain.rows[target]:
            raise RuleViolation(f"K1: {shown(state)} moves otherwise than the state that it is merged with")
    pair = image[FIRST], image[SECOND]
    if pair[0] == pair[1]:
        return
    for claim in counted(report.claims):
        about = claim.source, claim.target, claim.distance, claim.alpha
        if about == (*pair, "bd", ratio) and claim.upper == 0:  # lbd would speak of one direction only
            return
    raise RuleViolation("K3: the chain's certificate does not claim distance 0 at this ratio")


def _as_chain(
    model: NumericMarkov, sides: tuple[Row, Row]
) -> tuple[dict[str, str], dict[str, dict[str, Fraction]]]:
    """Return the labels and rows of the chain whose traces are the observation sequences."""
    labels = {FIRST: "start", SECOND: "start"}
    label = cache(json.dumps)
    rows: dict[str, dict[str, Fraction]] = {}

    names = {
        state: {symbol: joined(json.dumps([state, symbol])) for symbol in counted(model.emissions[state])}
        for state in counted(model.reachable((*sides[0], *sides[1])))
    }

    def spread(masses: Row) -> dict[str, Fraction]:
        hold(5 * ENTRY * sum(len(names[s]) for s in counted(masses)))
        return {
            names[s][symbol]: p * seen
            for s, p in counted(masses.items())
            for symbol, seen in counted(model.emissions[s].items())
        }

    for name, side in zip((FIRST, SECOND), sides, strict=True):
        rows[name] = spread(side)
    for state, own in counted(names.items()):
        following = spread(model.rows[state])
        if not following:
            following = rows[END] = {END: Fraction(1)}
            labels[END] = "end"
        for symbol, name in counted(own.items()):
            labels[name] = label(symbol)
            rows[name] = following
    return labels, rows
