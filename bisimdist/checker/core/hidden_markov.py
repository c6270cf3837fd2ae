"""The hidden Markov model of a certificate: reading, validation, digest, and forward probabilities."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from bisimdist.checker.core.bernstein import shown_sign
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.partition import reached, summed
from bisimdist.checker.core.polynomials import (
    Box,
    Polynomial,
    Quotient,
    multiply,
    plus,
    read_factors,
    read_quotient,
    value,
)
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    digest_of,
    integer,
    item,
    mapping,
    model_number,
    of_model_file,
    shown,
)
from bisimdist.checker.core.shape import Between, Shape, key, listed, named, one_of, raw, row
from bisimdist.checker.core.words import Masses, WholeRow, whole_row

MAX_LENGTH = 100_000  # how many observations a claim may be about

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
        return {state: whole_row(row) for state, row in counted(self.rows.items())}

    @cached_property
    def _sights(self) -> dict[str, dict[str, WholeRow[str]]]:
        return {
            symbol: {s: whole_row({s: p}) for s, p in counted(makers.items())}
            for symbol, makers in counted(self.makers.items())
        }

    @cached_property
    def makers(self) -> dict[str, dict[str, Fraction]]:
        """By observation the states that make it, with probabilities; none that no state makes."""
        result: dict[str, dict[str, Fraction]] = {}
        for state, entries in counted(self.emissions.items()):
            for symbol, p in counted(entries.items()):
                result.setdefault(symbol, {})[state] = p
        return result

    def made(self, states: Iterable[str]) -> list[str]:
        """Return the observations that some states make."""
        found: dict[str, None] = {}
        for state in counted(states):
            found |= dict.fromkeys(all_of(self.emissions.get(state, {})))
        return list(all_of(found))

    def along(self, start: Row, word: Iterable[str], *, moved: bool = False) -> Masses[str]:
        """Return the masses of the states after a sequence of observations has been made.

        There is a transition between two observations, and before the first one if that is asked.
        """
        masses = Masses.of(start)
        for step, symbol in counted(enumerate(word)):
            if step or moved:
                masses = masses.after(self._moves.get)
            masses = masses.after(self._sights.get(symbol, {}).get)
        return masses

    def moved(self, masses: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return the masses one transition later."""
        return summed(
            (target, mass * p)
            for state, mass in counted(masses.items())
            for target, p in counted(self.rows[state].items())
        )

    def before(self, symbol: str, function: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Return by state the probability of an observation followed by what a function stands for."""
        result = {}
        for state, seen in counted(self.makers.get(symbol, {}).items()):
            following = self.rows.get(state, {})
            later = sum(
                (p * function.get(t, Fraction(0)) for t, p in counted(following.items())), Fraction(0)
            )
            if later:
                result[state] = seen * later
        return result

    def reachable(self, starts: Iterable[str]) -> set[str]:
        """Return the states that can be entered from some states, these included."""
        return set(all_of(reached(starts, self.rows.__getitem__)))


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
        if any(not low < x < high for x, (low, high) in counted(zip(point, self.box, strict=True))):
            raise RuleViolation("H4: a parameter is outside its interval")

        def fixed(table: Mapping[str, QuotientRow]) -> dict[str, Row]:
            return {name: fixed_row(row, point, name) for name, row in counted(table.items())}

        return NumericMarkov(
            self.observations, fixed(self.emissions), fixed(self.rows), fixed(self.distributions)
        )

    def numeric(self) -> NumericMarkov:
        """Return the model, no entry of which may depend on a parameter."""
        tables = (self.emissions, self.rows, self.distributions)
        entries = (
            entry
            for table in counted(tables)
            for row in counted(table.values())
            for entry in counted(row.values())
        )
        if any(
            any(all_of(powers))
            for entry in counted(entries)
            for part in counted(entry)
            for powers in counted(part)
        ):
            raise RuleViolation("H4: the model has parameters")
        return self.at([(low + high) / 2 for low, high in counted(self.box)])

    def check_distributions(self, factors: Sequence[Polynomial] = ()) -> None:
        """Check that every row is a distribution, for all values of the parameters inside the box.

        What sign an entry has may be seen from its factors, which a certificate may name.
        """
        for table in (self.emissions, self.rows, self.distributions):
            for name, entries in counted(table.items()):
                if entries:
                    check_row(entries, self.box, name, factors)


def fixed_row(row: QuotientRow, point: Sequence[Fraction], name: str) -> Row:
    """Return a row at a point."""
    result = {}
    for target, (above, below) in counted(row.items()):
        divisor = value(below, point)
        if divisor == 0:
            raise RuleViolation(f"H2: an entry of {shown(name)} divides by zero")
        if number := value(above, point) / divisor:
            result[target] = number
    return result


def check_row(row: QuotientRow, box: Box, name: str, factors: Sequence[Polynomial]) -> None:
    """Check that a row is a distribution, for all values of the parameters inside the box."""
    total: Quotient = {}, {(0,) * len(box): Fraction(1)}
    for above, below in counted(row.values()):
        if shown_sign(above, box, factors) * shown_sign(below, box, factors) != 1:
            raise RuleViolation(f"H2: an entry of {shown(name)} is not shown to be a probability")
        total = plus(total, (above, below))
    if total[0] != total[1]:
        raise RuleViolation(f"H2: the entries of {shown(name)} do not sum to 1")


class _Model(Shape):
    kind: str = key(one_of("hmm"))
    parameters: Mapping[str, tuple[Fraction, Fraction]] = key(
        named(row(model_number, model_number)), default_factory=dict
    )
    observations: list[str] = key(listed(item))
    states: Mapping[str, Any] = key(mapping)
    transitions: Mapping[str, Any] = key(mapping)
    distributions: Mapping[str, Any] = key(mapping)
    pairs: Any = key(raw, default=None)


def read_hidden_markov(document: object) -> HiddenMarkov:
    """Make the model from plain data of kind ``hmm``; rows may still be no distributions."""
    data = _Model.read(document, "the model")
    for name, (low, high) in counted(data.parameters.items()):
        if not low < high:
            raise MalformedCertificate(f"parameter {shown(name)} has no open interval")
    names, states = sorted(all_of(data.parameters)), data.states
    box = [data.parameters[name] for name in counted(names)]
    seen = set(all_of(data.observations))
    emissions = {s: quotient_row(entries, names, seen, s) for s, entries in counted(states.items())}
    for name in counted(data.transitions):
        if name not in states:
            raise RuleViolation(f"H1: there are transitions for {shown(name)}, which is no state")
    rows = {s: quotient_row(data.transitions.get(s, {}), names, states, s) for s in counted(states)}
    distributions = {
        d: quotient_row(entries, names, states, d) for d, entries in counted(data.distributions.items())
    }
    if not all(all_of(emissions.values())) or not all(all_of(distributions.values())):
        raise RuleViolation("H1: a state or a distribution is missing or empty")
    if not all(rows[name] for name in counted(data.transitions)):
        raise RuleViolation("H1: a row of transitions is empty or zero")
    return HiddenMarkov(
        tuple(all_of(names)), box, tuple(all_of(data.observations)), emissions, rows, distributions
    )


def quotient_row(entries: object, names: Sequence[str], known: Container[str], name: str) -> QuotientRow:
    """Read a row of expressions."""
    result: dict[str, Quotient] = {}
    for target, entry in counted(mapping(entries, f"the row of {shown(name)}").items()):
        if target not in known:
            raise RuleViolation(f"H1: the row of {shown(name)} names {shown(target)}, which does not exist")
        read = read_quotient(entry, names, f"an entry of {shown(name)}")
        if read[0]:
            result[target] = read
    return result


def read_length(value: object, where: str) -> int:
    """Read how many observations a claim is about."""
    length = integer(value, where)
    if not 1 <= length <= MAX_LENGTH:
        raise MalformedCertificate(f"{where} is {shown(length)}; expected 1 to {MAX_LENGTH}")
    return length


class AboutMarkov(Shape):
    """A certificate about a hidden Markov model."""

    model: Any = key(raw)
    digest: Any = key(raw)
    claims: Any = key(listed(raw))

    def embedded(self, given: object | None, factors: object = ()) -> HiddenMarkov:
        """Return the model, checked against its digest and against a given model."""
        model = read_hidden_markov(self.model)
        if self.digest != digest_of(self.model):
            raise RuleViolation("G3: the digest is not that of the embedded model")
        known = read_factors(factors, len(model.names)) if factors else ()
        if given is not None:
            with of_model_file():
                other = read_hidden_markov(given)
                if not (same := _same(model, other)):
                    other.check_distributions(known)
            if not same:
                raise RuleViolation("G2: the certificate is about another model than the one that is given")
        model.check_distributions(known)
        return model


def one_claim(claims: Sequence[object], verdict: str, ratio: str = "") -> tuple[str, str, str]:
    """Return the states and the ratio of the one claim of a certificate about all lengths."""
    if len(claims) != 1:
        raise MalformedCertificate(f"there are {len(claims)} claims; expected one")
    claim = _AllLengths.read(claims[0], "the claim")
    if claim.verdict != verdict or claim.ratio != (ratio or claim.ratio):
        raise MalformedCertificate(
            f"the claim is {claim.verdict} at {shown(claim.ratio)}; expected {verdict}"
        )
    return claim.source, claim.target, claim.ratio


class _AllLengths(Between):
    ratio: str = key(item)
    verdict: str = key(item)
    length: str = key(one_of("all"))


def _same(one: HiddenMarkov, two: HiddenMarkov) -> bool:
    if (one.names, list(all_of(one.box)), set(all_of(one.observations))) != (
        two.names,
        list(all_of(two.box)),
        set(all_of(two.observations)),
    ):
        return False
    return all(
        same_rows(a, b)
        for a, b in (
            (one.emissions, two.emissions),
            (one.rows, two.rows),
            (one.distributions, two.distributions),
        )
    )


def same_rows(a: Mapping[str, QuotientRow], b: Mapping[str, QuotientRow]) -> bool:
    """Tell whether the rows of two models are the same functions."""
    return a.keys() == b.keys() and all(
        a[n].keys() == b[n].keys() and all(_equal(a[n][t], b[n][t]) for t in counted(a[n]))
        for n in counted(a)
    )


def _equal(one: Quotient, two: Quotient) -> bool:
    left: Polynomial = multiply(one[0], two[1])
    return left == multiply(two[0], one[1])
