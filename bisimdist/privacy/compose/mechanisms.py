"""Mechanisms as a list names them: read, validated, and turned into laws of the privacy loss."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from flint import fmpq

from bisimdist.errors import BisimdistError, ModelError
from bisimdist.exact.rational import format_rational, to_fmpq
from bisimdist.privacy.compose.engine import atoms
from bisimdist.privacy.compose.engine.laws import (
    AtomsAt,
    Law,
    Smooth,
    gaussian,
    laplace,
    mixed,
    replaced,
    swapped,
    thinned,
)
from bisimdist.privacy.compose.systems import losses_of_model, losses_of_program

RELATIONS: Mapping[str, tuple[str, ...]] = {
    "add-remove": ("remove", "add"),
    "remove": ("remove",),
    "add": ("add",),
    "replace": ("replace", "replace-swapped"),
}  # by neighbouring relation the directions in which a list is composed

MOST_RUNS = 10**9
MOST_SENSITIVITY = 10**5
Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One mechanism of a list."""

    spec: Spec  # what it is, as plain data with numbers in lowest terms: the same text is the same mechanism
    runs: int  # how often it runs
    law: Law = field(compare=False)  # what dominates it where the first of two neighbours has the record
    # what it dominates then: the same law, unless only an upper bound is known
    below: Law | None = field(compare=False)
    # both laws of the other direction; None where it is the same
    back: tuple[Law, Law | None] | None = field(default=None, compare=False)
    # by a rate and a law of it: that of a Poisson sample at the rate where one record is replaced; None where
    # that is not known
    exchanged: Callable[[fmpq, Law], Law] | None = field(default=thinned, compare=False)

    @property
    def text(self) -> str:
        """The mechanism as a text, which orders a list."""
        return json.dumps(self.spec, sort_keys=True)


def laws_of(mechanism: Mechanism, direction: str) -> tuple[Law, Law | None]:
    """Return what dominates a mechanism in a direction, and what it dominates."""
    if mechanism.back is None or direction in {"remove", "replace"}:
        return mechanism.law, mechanism.below
    return mechanism.back


Laws = tuple[Law, "Law | None"]


def _each(made: Callable[[Law], Law], laws: Laws) -> Laws:
    """Return what becomes of two laws, which stay one where they are one."""
    law, below = laws
    other = made(law)
    return other, None if below is None else other if below is law else made(below)


def _directed(spec: Spec, laws: Laws) -> Mechanism:
    """Return a mechanism of which the other direction differs."""
    return Mechanism(spec, 1, *laws, _each(swapped, laws))


def merged(mechanisms: Sequence[Mechanism]) -> list[Mechanism]:
    """Return the same list in a fixed order: equal mechanisms as one, all Gaussians as one run.

    >>> gaussian = {"gaussian": {"sigma": 10}, "times": 50}
    >>> [m.spec for m in merged([read_mechanism(gaussian, "add-remove", 1)] * 2)]
    [{'gaussian': {'variance': '1'}}]
    """
    runs: dict[str, int] = {}
    first: dict[str, Mechanism] = {}
    variance = fmpq(0)
    for one in mechanisms:
        if isinstance(one.law, Smooth) and one.law.variance is not None:
            variance += one.runs * one.law.variance
            continue
        runs[one.text] = runs.get(one.text, 0) + one.runs
        first.setdefault(one.text, one)
    found = [replace(one, runs=runs[text]) for text, one in sorted(first.items())]
    if variance:
        law = gaussian(variance)
        found.insert(0, Mechanism({"gaussian": {"variance": format_rational(variance)}}, 1, law, law))
    return found


def read_mechanism(entry: Any, relation: str, number: int, read: Callable[[str], str] = str) -> Mechanism:
    """Return the mechanism that an entry of a list names.

    entry: a mapping with one kind of mechanism, and beside it ``times``.
    relation: the neighbouring relation.
    number: which entry it is, for errors.
    read: returns where a file is that is named.
    Raises ModelError if there is no such mechanism; the error says which entry, and what was expected.
    """
    place = f"mechanism {number}"
    if not isinstance(entry, Mapping):
        raise ModelError("expected a mapping such as gaussian: {sigma: 1}", place=place)
    given = dict(entry)
    times = given.pop("times", 1)
    kinds = [key for key in given if key in _KINDS]
    if len(kinds) != 1:
        unknown = next((str(key) for key in given if key not in _KINDS), "")
        what = (
            f"there is no mechanism {unknown[:40]!r}"
            if unknown and not kinds
            else "it names no one mechanism"
        )
        raise ModelError(f"{what}; expected one of {', '.join(_KINDS)}", place=place)
    kind = kinds[0]
    fields = _Fields(given, f"{place}: {kind}", relation, read)
    found = _KINDS[kind](fields, kind)
    runs = _Fields({"times": times}, place, relation, read).whole("times", most=MOST_RUNS)
    return replace(found, runs=runs * found.runs)


class _Fields:
    """The keys of one mechanism, taken one after another."""

    def __init__(
        self, given: Mapping[str, Any], place: str, relation: str, read: Callable[[str], str]
    ) -> None:
        self.given, self.place, self.relation, self.read = dict(given), place, relation, read

    def fail(self, message: str) -> ModelError:
        return ModelError(message, place=self.place)

    def under(self, key: str) -> _Fields:
        """Return the fields inside of a key, which has to be all there is."""
        inner = self.take(key)
        if self.given:
            raise self.fail(f"the key {next(iter(self.given))!r} is unknown")
        if not isinstance(inner, Mapping):
            raise self.fail("expected a mapping of its parameters")
        return _Fields(inner, self.place, self.relation, self.read)

    def take(self, key: str, default: Any = None) -> Any:
        if key not in self.given and default is None:
            raise self.fail(f"the key {key!r} is missing")
        return self.given.pop(key, default)

    def number(self, key: str, holds: Callable[[fmpq], bool], expected: str, default: Any = None) -> fmpq:
        value = self.take(key, default)
        try:
            found = to_fmpq(value)
        except BisimdistError as error:
            raise self.fail(f"{key}: {error}") from None
        if not holds(found):
            raise self.fail(f"{key} is {str(value)[:40]}; expected {expected}")
        return found

    def positive(self, key: str, default: Any = None) -> fmpq:
        return self.number(key, lambda value: value > 0, "a number above 0", default)

    def whole(self, key: str, default: Any = None, least: int = 1, most: int = 10**9) -> int:
        found = self.number(
            key, lambda n: n.q == 1 and least <= n <= most, f"a whole number from {least} to {most}", default
        )
        return int(found.p)

    def done(self, kind: str, **said: fmpq | int | str | Spec) -> Spec:
        """Return the specification of what was taken; other keys are refused."""
        if self.given:
            raise self.fail(
                f"the key {str(next(iter(self.given)))[:40]!r} is unknown; expected {', '.join(said)}"
            )
        plain = {k: v if isinstance(v, dict) else str(v) for k, v in said.items()}
        return {kind: plain}


def _one(spec: Spec, law: Law, exchanged: Callable[[fmpq], Law] | None = None) -> Mechanism:
    return Mechanism(spec, 1, law, law, exchanged=thinned if exchanged is None else lambda q, _: exchanged(q))


def _discrete_gaussian(sigma: fmpq, moved: fmpq, rate: fmpq | None) -> Law:
    return AtomsAt(lambda digits: atoms.discrete_gaussian(sigma**2, int(moved.p), digits, rate), finite=False)


_NOISE: Mapping[str, tuple[str, Callable[[fmpq, fmpq, fmpq | None], Law]]] = {
    "gaussian": ("sigma", lambda sigma, moved, rate: gaussian((moved / sigma) ** 2, rate)),
    "laplace": ("scale", lambda scale, moved, rate: laplace(moved / scale, rate)),
    "discrete-gaussian": ("sigma", _discrete_gaussian),
    "discrete-laplace": (
        "scale",
        lambda scale, moved, rate: AtomsAt(lambda _: atoms.discrete_laplace(scale, int(moved.p), rate)),
    ),
}
"""By kind of noise its parameter; its law by that, the sensitivity, and the rate if one record of a sample is
replaced."""


def _noise(given: _Fields, kind: str) -> Mechanism:
    fields, (name, law) = given.under(kind), _NOISE[kind]
    size, moved = fields.positive(name), fields.positive("sensitivity", 1)
    if kind.startswith("discrete") and not (moved.q == 1 and moved <= MOST_SENSITIVITY):
        raise fields.fail(f"sensitivity is {moved}; expected a whole number from 1 to {MOST_SENSITIVITY}")
    spec = fields.done(kind, **{name: size, "sensitivity": moved})
    return _one(spec, law(size, moved, None), lambda rate: law(size, moved, rate))


def _truth(fields: _Fields, options: int = 2) -> fmpq:
    least = fmpq(1, options)
    return fields.number("truth", lambda t: least <= t <= 1, f"a probability from {least} to 1")


def _randomised_response(given: _Fields, kind: str) -> Mechanism:
    fields = given.under(kind)
    options = fields.whole("options", 2, least=2, most=10**6)
    truth = _truth(fields, options)
    law = AtomsAt(lambda _: atoms.randomised_response(truth, options))
    return _one(fields.done(kind, truth=truth, options=options), law)


def _pure(given: _Fields, kind: str) -> Mechanism:
    fields = given.under(kind)
    epsilon = fields.number("epsilon", lambda e: e >= 0, "at least 0")
    delta = fmpq(0)
    said = {"epsilon": epsilon}
    if kind == "approximate":
        delta = said["delta"] = fields.number("delta", lambda d: 0 <= d <= 1, "a number from 0 to 1")
    spec, law = fields.done(kind, **said), AtomsAt(lambda _: atoms.approximate(epsilon, delta))
    return _one(spec, law, lambda rate: AtomsAt(lambda _: atoms.exchanged_private(epsilon, delta, rate)))


def _subsampled(given: _Fields, kind: str) -> Mechanism:
    fields = given.under(kind)
    rate = fields.number("q", lambda q: 0 < q <= 1, "a probability above 0 and at most 1")
    sampling = str(fields.take("sampling", "poisson"))
    if sampling not in {"poisson", "without-replacement"}:
        raise fields.fail(f"sampling is {sampling[:40]!r}; expected poisson or without-replacement")
    # in a sample of a fixed size a record takes the place of another one
    relation = fields.relation if sampling == "poisson" else "replace"
    try:
        inner = read_mechanism(fields.take("of"), relation, 0, fields.read)
    except ModelError as error:
        raise fields.fail(f"of: {error.message}") from None
    if inner.runs != 1:
        raise fields.fail("what is subsampled runs once on a sample; expected times beside subsampled")
    spec = fields.done(kind, q=rate, sampling=sampling, of=inner.spec)
    if fields.relation != "replace":
        return _directed(spec, _each(lambda law: mixed(rate, law), (inner.law, inner.below)))
    twice: Callable[[fmpq, Law], Law] | None = None
    if sampling == "without-replacement":

        def made(laws: Laws) -> Laws:
            law, below = laws
            return replaced(rate, law), None if below is None else mixed(rate, below)
    elif inner.exchanged is None:
        raise fields.fail(
            "a sample without replacement of a Poisson sample, where one record is replaced: how a sample of"
            " one record less differs is not known; expected one way of sampling"
        )
    else:
        again = inner.exchanged
        # a sample of a sample: what is thinned is thinned again
        twice = again if again is thinned else lambda q, law: again(q * rate, law)

        def made(laws: Laws) -> Laws:
            return _each(lambda law: again(rate, law), laws)

    laws, back = made((inner.law, inner.below)), None if inner.back is None else made(inner.back)
    return Mechanism(spec, 1, *laws, back, twice)


def _shuffled(given: _Fields, kind: str) -> Mechanism:
    fields = given.under(kind)
    users = fields.whole("n", most=10**7)
    inner = fields.take("of")
    if isinstance(inner, str):
        inner = {inner: {"truth": fields.take("truth")}}
    if not isinstance(inner, Mapping) or list(inner) != ["randomised-response"]:
        raise fields.fail("of: expected randomised-response, such as {randomised-response: {truth: 3/4}}")
    answer = _Fields(inner, f"{fields.place}: of", fields.relation, fields.read).under("randomised-response")
    truth = _truth(answer)
    if truth == 1:
        raise answer.fail("truth is 1: the answers are not random; expected less than 1")
    answer.whole("options", 2, least=2, most=2)
    spec = fields.done(kind, n=users, of=answer.done("randomised-response", truth=truth))
    law = AtomsAt(lambda digits: atoms.shuffled_above(users, truth, digits), finite=False)
    below = AtomsAt(lambda digits: atoms.shuffled_below(users, truth, digits), finite=False)
    return Mechanism(spec, 1, law, below)


def _dpsgd(given: _Fields, kind: str) -> Mechanism:
    fields = given.under(kind)
    steps = fields.whole("steps", most=MOST_RUNS)
    sigma, rate = fields.take("sigma"), fields.take("q")
    fields.done(kind)
    inner = {"subsampled": {"q": rate, "of": {"gaussian": {"sigma": sigma}}}, "times": steps}
    return read_mechanism(inner, fields.relation, 0, fields.read)


def _system(given: _Fields, kind: str) -> Mechanism:
    make = losses_of_model if kind == "model" else losses_of_program
    try:
        found = make(given.given, given.read)
    except ModelError as error:
        raise ModelError(
            error.message, place=f"{given.place}: {error.place}".rstrip(": "), source=error.source
        ) from None
    except BisimdistError as error:
        raise given.fail(str(error)) from None
    upper = AtomsAt(lambda _: found.upper)
    lower = upper if found.exact else None
    return _directed({kind: found.spec}, (upper, lower))


_KINDS: Mapping[str, Callable[[_Fields, str], Mechanism]] = {
    **dict.fromkeys(_NOISE, _noise),
    "randomised-response": _randomised_response,
    "pure": _pure,
    "approximate": _pure,
    "subsampled": _subsampled,
    "shuffled": _shuffled,
    "dpsgd": _dpsgd,
    "model": _system,
    "program": _system,
}
