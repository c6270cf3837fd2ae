"""Certificates of kind ``hmm-all-lengths``: a budget for observation sequences of every length.

The rules are named H, I, F and K as in ``docs/certificates/hmm-proofs.md``; why they prove the claims is in
``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.chain import read_chain
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.hidden_markov import NumericMarkov, Row, embedded_model
from bisimdist.checker.core.quantities import Amount, Mass, Skew
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    integer,
    item,
    items,
    rational,
    record,
    shown,
    strings,
)
from bisimdist.checker.verdict import check_certificate

__all__ = ["check_document"]

FRAME = ("format", "version", "kind", "model", "digest", "claims", "invariant")
FIRST, SECOND, END = '["first"]', '["second"]', '["end"]'
_ZERO = Fraction(0)

Function = Mapping[str, Fraction]
Pair = tuple[str, str]


def check_document(document: dict[str, object], model: object | None = None) -> OtherReport:
    """Check a certificate of kind ``hmm-all-lengths``.

    Parameters
    ----------
    document
        The certificate, decoded.
    model
        The model that it has to be about; None for any.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate.
    """
    data = record(document, "the certificate", FRAME)
    claims = tuple(
        record(claim, "a claim", ("from", "to", "ratio", "verdict", "length"))
        for claim in items(data["claims"], "the claims")
    )
    if len(claims) != 1 or claims[0]["verdict"] != "holds" or claims[0]["length"] != "all":
        raise MalformedCertificate("expected one claim, with verdict 'holds' and length 'all'")
    claim = claims[0]
    pair = item(claim["from"], "a claim"), item(claim["to"], "a claim")
    ratio = rational(claim["ratio"], "a ratio")
    invariant = data["invariant"]
    checks = {"cone": _check_cone, "factors": _check_factors, "coupling": _check_coupling}
    kind = choice(
        invariant.get("type") if isinstance(invariant, dict) else None, "the invariant's type", checks
    )
    try:
        numbers = embedded_model(data, model).numeric()
        sides = numbers.distribution(pair[0]), numbers.distribution(pair[1])
        checks[kind](numbers, sides, Skew.of(ratio, "H5: the ratio"), invariant)
    except RuleViolation as violation:
        return OtherReport(False, claims, str(violation))
    return OtherReport(True, claims)


def _expectation(masses: Row, function: Function) -> Fraction:
    return sum((p * function.get(s, _ZERO) for s, p in masses.items()), _ZERO)


def _number_table(entry: object, where: str) -> dict[str, Mass]:
    if not isinstance(entry, dict):
        raise MalformedCertificate(f"{where} is {shown(entry)}; expected an object")
    return {name: Mass.by("I1")(number, where) for name, number in entry.items()}


def _check_cone(
    model: NumericMarkov, sides: tuple[Row, Row], ratio: Skew, invariant: Mapping[str, Any]
) -> None:
    data = record(invariant, "the invariant", ("type", "generators", "starts", "steps"))
    states = model.reachable((*sides[0], *sides[1]))
    generators = [
        _number_table(entry, f"generator {n}")
        for n, entry in enumerate(items(data["generators"], "the generators"))
    ]
    starts, steps = data["starts"], items(data["steps"], "the steps")
    if len(steps) != len(generators) or not isinstance(starts, dict):
        raise MalformedCertificate("expected combinations for every generator and for the start")
    for symbol in model.observations:
        wanted = model.seen(symbol)
        _check_combination(generators, starts.get(symbol, {}), wanted, states, f"I2: start {shown(symbol)}")
        for number, (generator, entry) in enumerate(zip(generators, steps, strict=True)):
            where = f"I3: step {shown(symbol)} of generator {number}"
            if not isinstance(entry, dict):
                raise MalformedCertificate(f"{where} is no object")
            wanted = model.before(symbol, generator)
            _check_combination(generators, entry.get(symbol, {}), wanted, states, where)
    for number, generator in enumerate(generators):
        one, two = (_expectation(side, generator) for side in sides)
        if one > ratio * two or two > ratio * one:
            raise RuleViolation(f"I4: generator {number} breaks the inequality")


def _check_combination(
    generators: Sequence[Function], entry: object, wanted: Function, states: set[str], where: str
) -> None:
    """Check that a function is a nonnegative combination of generators, on the states that matter."""
    total: dict[str, Fraction] = {}
    for key, amount in _number_table(entry, where).items():
        number = integer(key, where)
        if not 0 <= number < len(generators):
            raise MalformedCertificate(f"{where} names generator {number}, which does not exist")
        for state, value in generators[number].items():
            total[state] = total.get(state, _ZERO) + amount * value
    if any(total.get(s, _ZERO) != wanted.get(s, _ZERO) for s in states):
        raise RuleViolation(f"{where}: the combination is another function")


def _moves(entry: object, where: str) -> dict[Pair, Amount]:
    result: dict[Pair, Amount] = {}
    for move in items(entry, where):
        k, m, amount = strings(move, where, 3)
        if (k, m) in result:
            raise RuleViolation(f"F1: {where} has a move that is listed twice")
        result[k, m] = Amount.by("F1")(amount, where)
    return result


def _cost(
    left: Row, right: Row, moves: Mapping[Pair, Amount], table: Mapping[Pair, Skew], where: str
) -> Fraction:
    """Return the least t that a coupling proves: left is at most t times right."""
    sent: dict[str, Fraction] = {}
    arrived: dict[str, Fraction] = {}
    for (k, m), amount in moves.items():
        if k != m and (k, m) not in table:
            raise RuleViolation(f"F2: {where} moves mass between two states without a factor")
        sent[k] = sent.get(k, _ZERO) + amount
        arrived[m] = arrived.get(m, _ZERO) + amount * (Fraction(1) if k == m else table[k, m])
    if any(sent.get(k, _ZERO) < mass for k, mass in left.items()):
        raise RuleViolation(f"F2: {where} leaves mass behind")
    worst = _ZERO
    for state, mass in arrived.items():
        if not right.get(state):
            raise RuleViolation(f"F2: {where} brings mass to where there is none")
        worst = max(worst, mass / right[state])
    return worst


def _check_factors(
    model: NumericMarkov, sides: tuple[Row, Row], ratio: Skew, invariant: Mapping[str, Any]
) -> None:
    data = record(invariant, "the invariant", ("type", "table", "forward", "backward"))
    table: dict[Pair, Skew] = {}
    moves: dict[Pair, dict[str, dict[Pair, Amount]]] = {}
    for entry in items(data["table"], "the table"):
        row = record(entry, "an entry of the table", ("pair", "factor", "moves"))
        i, j = strings(row["pair"], "a pair", 2)
        if i not in model.emissions or j not in model.emissions or i == j or (i, j) in table:
            raise RuleViolation("F1: the table has a pair of equal or unknown states, or one twice")
        table[i, j] = Skew.by("F3")(row["factor"], "a factor")
        moves[i, j] = _couplings(row["moves"], "the couplings of a pair")
    for (i, j), factor in table.items():
        where = f"the coupling of {shown(i)} and {shown(j)}"
        for symbol, (left, right) in _observed(model, model.rows[i], model.rows[j]).items():
            if _cost(left, right, moves[i, j].get(symbol, {}), table, where) > factor:
                raise RuleViolation(f"F4: {where}: the factor is too small for {shown(symbol)}")
    for key, start, other in (("forward", *sides), ("backward", sides[1], sides[0])):
        couplings = _couplings(data[key], f"the couplings {key}")
        for symbol, (left, right) in _observed(model, start, other).items():
            if _cost(left, right, couplings.get(symbol, {}), table, f"the coupling {key}") > ratio:
                raise RuleViolation(f"F5: the coupling {key} proves only a larger ratio")


def _couplings(entry: object, where: str) -> dict[str, dict[Pair, Amount]]:
    if not isinstance(entry, dict):
        raise MalformedCertificate(f"{where} are {shown(entry)}; expected an object")
    return {symbol: _moves(moves, where) for symbol, moves in entry.items()}


def _observed(model: NumericMarkov, one: Row, two: Row) -> dict[str, tuple[Row, Row]]:
    """Return for each observation what it makes of two vectors of masses."""
    result: dict[str, tuple[Row, Row]] = {}
    for symbol in model.observations:
        left, right = (
            {s: mass * model.emissions[s][symbol] for s, mass in side.items() if symbol in model.emissions[s]}
            for side in (one, two)
        )
        result[symbol] = left, right
    return result


def _check_coupling(
    model: NumericMarkov, sides: tuple[Row, Row], ratio: Skew, invariant: Mapping[str, Any]
) -> None:
    data = record(invariant, "the invariant", ("type", "chain", "merged"))
    document, merged = data["chain"], data["merged"]
    if not isinstance(document, dict) or not isinstance(merged, dict):
        raise MalformedCertificate("expected two objects, the chain's certificate and the merged states")
    if "kind" in document:
        raise MalformedCertificate("the chain's certificate has a kind; expected one of a distance")
    labels, rows = _as_chain(model, sides)
    try:
        text = json.dumps(document)
    except ValueError as error:  # a bare integer of thousands of digits
        raise MalformedCertificate("the chain's certificate has an integer that is too long") from error
    report = check_certificate(text)
    if not report.valid:
        raise RuleViolation(f"K2: the chain's certificate is not valid: {report.reason}")
    chain = read_chain(document["model"])
    image = {state: item(merged.get(state, state), "a merged state") for state in labels}
    for state, target in image.items():
        if chain.labels.get(target) != labels[state]:
            raise RuleViolation(f"K1: {shown(state)} is merged with a state of another label, or none")
        row: dict[str, Fraction] = {}
        for successor, p in rows[state].items():
            row[image[successor]] = row.get(image[successor], _ZERO) + p
        if row != chain.rows[target]:
            raise RuleViolation(f"K1: {shown(state)} moves otherwise than the state that it is merged with")
    pair = image[FIRST], image[SECOND]
    if pair[0] == pair[1]:
        return
    for claim in report.claims:
        about = claim.source, claim.target, claim.distance, claim.alpha
        if about == (*pair, "bd", ratio) and claim.upper == 0:  # lbd would speak of one direction only
            return
    raise RuleViolation("K3: the chain's certificate does not claim distance 0 at this ratio")


def _as_chain(
    model: NumericMarkov, sides: tuple[Row, Row]
) -> tuple[dict[str, str], dict[str, dict[str, Fraction]]]:
    """Return the labels and rows of the chain whose traces are the observation sequences."""
    labels = {FIRST: "start", SECOND: "start"}
    rows: dict[str, dict[str, Fraction]] = {}

    def spread(masses: Row) -> dict[str, Fraction]:
        return {
            json.dumps([s, symbol]): p * seen
            for s, p in masses.items()
            for symbol, seen in model.emissions[s].items()
        }

    for name, side in zip((FIRST, SECOND), sides, strict=True):
        rows[name] = spread(side)
    for state in model.reachable((*sides[0], *sides[1])):
        for symbol in model.emissions[state]:
            name = json.dumps([state, symbol])
            labels[name] = json.dumps(symbol)
            rows[name] = spread(model.rows[state])
            if not rows[name]:
                rows[name] = rows[END] = {END: Fraction(1)}
                labels[END] = "end"
    return labels, rows
