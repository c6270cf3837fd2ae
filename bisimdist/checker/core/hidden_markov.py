"""The hidden Markov model of a certificate: reading, validation, digest, and forward probabilities."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from bisimdist.checker.core.polynomials import (
    Box,
    Polynomial,
    Quotient,
    add,
    multiply,
    names_and_box,
    read_factors,
    read_quotient,
    shown_sign,
    value,
)
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    integer,
    item,
    items,
    model_number,
    record,
    shown,
)
from bisimdist.checker.core.words import Masses, WholeRow, whole_row

__all__ = [
    "HiddenMarkov",
    "NumericMarkov",
    "QuotientRow",
    "Row",
    "embedded_model",
    "read_hidden_markov",
    "read_length",
]

MAX_LENGTH = 100_000
"""How many observations a claim may be about."""

QuotientRow = Mapping[str, Quotient]
Row = Mapping[str, Fraction]


@dataclass(frozen=True)
class NumericMarkov:
    """A model with numbers for entries; rows hold positive probabilities only."""

    observations: tuple[str, ...]
    emissions: Mapping[str, Row]
    rows: Mapping[str, Row]
    distributions: Mapping[str, Row]

    def distribution(self, name: str) -> Row:
        """Return an information state."""
        if name not in self.distributions:
            raise RuleViolation(f"H3: {shown(name)} is no distribution of the model")
        return self.distributions[name]

    @cached_property
    def _moves(self) -> dict[str, WholeRow[str]]:
        return {state: whole_row(row) for state, row in self.rows.items()}

    @cached_property
    def _sights(self) -> dict[str, dict[str, WholeRow[str]]]:
        return {
            symbol: {s: whole_row({s: p}) for s, p in self.seen(symbol).items()}
            for symbol in self.observations
        }

    def along(self, start: Row, word: Iterable[str], *, moved: bool = False) -> Masses[str]:
        """Return the masses of the states after a sequence of observations has been made.

        There is a transition between two observations, and before the first one if that is asked.
        """
        masses = Masses.of(start)
        for step, symbol in enumerate(word):
            if step or moved:
                masses = masses.after(self._moves.get)
            masses = masses.after(self._sights.get(symbol, {}).get)
        return masses

    def moved(self, masses: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the masses one transition later."""
        result: dict[str, Fraction] = {}
        for state, mass in masses.items():
            for target, p in self.rows[state].items():
                result[target] = result.get(target, Fraction(0)) + mass * p
        return result

    def seen(self, symbol: str) -> dict[str, Fraction]:
        """Return by state the probability of an observation."""
        return {s: row[symbol] for s, row in self.emissions.items() if symbol in row}

    def before(self, symbol: str, function: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return by state the probability of an observation followed by what a function stands for."""
        result = {}
        for state, row in self.rows.items():
            if symbol in self.emissions[state]:
                later = sum((p * function.get(t, Fraction(0)) for t, p in row.items()), Fraction(0))
                if later:
                    result[state] = self.emissions[state][symbol] * later
        return result

    def reachable(self, starts: Iterable[str]) -> set[str]:
        """Return the states that can be entered from some states, these included."""
        found = set(starts)
        stack = list(found)
        while stack:
            for target in self.rows[stack.pop()]:
                if target not in found:
                    found.add(target)
                    stack.append(target)
        return found


@dataclass(frozen=True)
class HiddenMarkov:
    """A model whose entries are quotients of polynomials over the parameters."""

    names: tuple[str, ...]
    box: Box
    observations: tuple[str, ...]
    emissions: Mapping[str, QuotientRow]
    rows: Mapping[str, QuotientRow]
    distributions: Mapping[str, QuotientRow]

    def at(self, point: Sequence[Fraction]) -> NumericMarkov:
        """Return the model at a point of the box of the parameters; its rows have been checked."""
        if any(not low < x < high for x, (low, high) in zip(point, self.box, strict=True)):
            raise RuleViolation("H4: a parameter is outside its interval")

        def fixed(table: Mapping[str, QuotientRow]) -> dict[str, Row]:
            return {name: _fixed(row, point, name) for name, row in table.items()}

        return NumericMarkov(
            self.observations, fixed(self.emissions), fixed(self.rows), fixed(self.distributions)
        )

    def numeric(self) -> NumericMarkov:
        """Return the model, no entry of which may depend on a parameter."""
        tables = (self.emissions, self.rows, self.distributions)
        entries = (entry for table in tables for row in table.values() for entry in row.values())
        if any(any(powers) for entry in entries for part in entry for powers in part):
            raise RuleViolation("H4: the model has parameters")
        return self.at([(low + high) / 2 for low, high in self.box])

    def check_distributions(self, factors: Sequence[Polynomial] = ()) -> None:
        """Check that every row is a distribution, for all values of the parameters inside the box.

        What sign an entry has may be seen from its factors, which a certificate may name.
        """
        for table in (self.emissions, self.rows, self.distributions):
            for name, row in table.items():
                if row:
                    _check_row(row, self.box, name, factors)


def _fixed(row: QuotientRow, point: Sequence[Fraction], name: str) -> Row:
    result = {}
    for target, (above, below) in row.items():
        divisor = value(below, point)
        if divisor == 0:
            raise RuleViolation(f"H2: an entry of {shown(name)} divides by zero")
        if number := value(above, point) / divisor:
            result[target] = number
    return result


def _check_row(row: QuotientRow, box: Box, name: str, factors: Sequence[Polynomial]) -> None:
    total: Quotient = {}, {(0,) * len(box): Fraction(1)}
    for above, below in row.values():
        if shown_sign(above, box, factors) * shown_sign(below, box, factors) != 1:
            raise RuleViolation(f"H2: an entry of {shown(name)} is not shown to be a probability")
        if total[1] == below:
            total = add(total[0], above), below
        else:
            total = (
                add(multiply(total[0], below), multiply(above, total[1])),
                multiply(total[1], below),
            )
    if total[0] != total[1]:
        raise RuleViolation(f"H2: the entries of {shown(name)} do not sum to 1")


def read_hidden_markov(document: object) -> HiddenMarkov:
    """Make the model from plain data of kind ``hmm``; rows may still be no distributions.

    Raises
    ------
    MalformedCertificate
        If the data do not have the shape of a model.
    RuleViolation
        If a name is used that is not declared.
    """
    data = record(
        document,
        "the model",
        ("kind", "observations", "states", "transitions", "distributions"),
        ("parameters", "pairs"),
    )
    if data["kind"] != "hmm":
        raise MalformedCertificate(f"the model's kind is {shown(data['kind'])}; expected 'hmm'")
    parameters = {}
    for name, ends in _table(data.get("parameters", {}), "the parameters").items():
        two = [
            model_number(end, f"parameter {shown(name)}") for end in items(ends, f"parameter {shown(name)}")
        ]
        if len(two) != 2 or not two[0] < two[1]:
            raise MalformedCertificate(f"parameter {shown(name)} has no open interval")
        parameters[name] = (two[0], two[1])
    names, box = names_and_box(parameters)
    observations = tuple(item(x, "an observation") for x in items(data["observations"], "the observations"))
    states = _table(data["states"], "the states")
    emissions = {s: _row(row, names, observations, s) for s, row in states.items()}
    given = _table(data["transitions"], "the transitions")
    for name in given:
        if name not in states:
            raise RuleViolation(f"H1: there are transitions for {shown(name)}, which is no state")
    rows = {s: _row(given.get(s, {}), names, states, s) for s in states}
    distributions = {
        d: _row(row, names, states, d)
        for d, row in _table(data["distributions"], "the distributions").items()
    }
    if not all(emissions.values()) or not all(distributions.values()):
        raise RuleViolation("H1: a state or a distribution is missing or empty")
    if not all(rows[name] for name in given):
        raise RuleViolation("H1: a row of transitions is empty or zero")
    return HiddenMarkov(tuple(names), box, observations, emissions, rows, distributions)


def _table(value_: object, where: str) -> dict[str, object]:
    if not isinstance(value_, dict):
        raise MalformedCertificate(f"{where} are {shown(value_)}; expected an object")
    return value_


def _row(row: object, names: Sequence[str], known: Iterable[str], name: str) -> QuotientRow:
    known = set(known)
    result: dict[str, Quotient] = {}
    for target, entry in _table(row, f"the row of {shown(name)}").items():
        if target not in known:
            raise RuleViolation(f"H1: the row of {shown(name)} names {shown(target)}, which does not exist")
        read = read_quotient(entry, names, f"an entry of {shown(name)}")
        if read[0]:
            result[target] = read
    return result


def read_length(value: object) -> int:
    """Read how many observations a claim is about."""
    length = integer(value, "the length")
    if not 1 <= length <= MAX_LENGTH:
        raise MalformedCertificate(f"the length is {shown(length)}; expected 1 to {MAX_LENGTH}")
    return length


def embedded_model(document: Mapping[str, object], given: object | None) -> HiddenMarkov:
    """Return the model of a certificate, checked against its digest and against a given model.

    Raises
    ------
    RuleViolation
        If the digest is another one, the given model is, or the model is none.
    """
    model = read_hidden_markov(document["model"])
    text = json.dumps(document["model"], sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    if document["digest"] != "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest():
        raise RuleViolation("G3: the digest is not that of the embedded model")
    if given is not None and not _same(model, read_hidden_markov(given)):
        raise RuleViolation("G2: the certificate is about another model than the one that is given")
    model.check_distributions(read_factors(document.get("factors", []), len(model.names)))
    return model


def _same(one: HiddenMarkov, two: HiddenMarkov) -> bool:
    if (one.names, list(one.box), set(one.observations)) != (two.names, list(two.box), set(two.observations)):
        return False
    return all(
        a.keys() == b.keys()
        and all(a[n].keys() == b[n].keys() and all(_equal(a[n][t], b[n][t]) for t in a[n]) for n in a)
        for a, b in (
            (one.emissions, two.emissions),
            (one.rows, two.rows),
            (one.distributions, two.distributions),
        )
    )


def _equal(one: Quotient, two: Quotient) -> bool:
    left: Polynomial = multiply(one[0], two[1])
    return left == multiply(two[0], one[1])
