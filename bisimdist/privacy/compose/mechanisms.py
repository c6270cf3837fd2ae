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
    NOTHING,
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
MOST_STEPS = 10**5  # of a sensitivity on the integers
Spec = dict[str, Any]


Laws = tuple[Law, "Law | None"]
"""What dominates a mechanism, and what it dominates: the same law, unless only an upper bound is known."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """One mechanism of a list."""

    spec: Spec  # what it is, as plain data with numbers in lowest terms: the same text is the same mechanism
    laws: Laws = field(compare=False)  # where the first of two neighbours has the record
    # those of the other direction; None where it is the same
    back: Laws | None = field(default=None, compare=False)
    # by a rate and a law of it: that of a Poisson sample at the rate where one record is replaced; None where
    # that is not known
    exchanged: Callable[[fmpq, Law], Law] | None = field(default=thinned, compare=False)
    runs: int = 1  # how often it runs

    def losses(self, direction: str) -> tuple[Law, Law | None, int]:
        """Return its laws in a direction, and how often it runs."""
        laws = self.laws if self.back is None or direction in {"remove", "replace"} else self.back
        return (*laws, self.runs)


def _each(made: Callable[[Law], Law], laws: Laws) -> Laws:
    """Return what becomes of two laws, which stay one where they are one."""
    law, below = laws
    other = made(law)
    return other, None if below is None else other if below is law else made(below)


def _directed(spec: Spec, laws: Laws) -> Mechanism:
    """Return a mechanism of which the other direction differs."""
    return Mechanism(spec, laws, _each(swapped, laws))


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
        if isinstance(one.laws[0], Smooth) and one.laws[0].variance is not None:
            variance += one.runs * one.laws[0].variance
            continue
        text = json.dumps(one.spec, sort_keys=True)
        runs[text] = runs.get(text, 0) + one.runs
        first.setdefault(text, one)
    found = [replace(one, runs=runs[text]) for text, one in sorted(first.items())]
    if variance:
        law = gaussian(variance)
        found.insert(0, Mechanism({"gaussian": {"variance": format_rational(variance)}}, (law, law)))
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
    times = _Fields({"times": given.pop("times", 1)}, place, relation, read)
    kinds = [key for key in given if key in _KINDS]
    if len(kinds) != 1:
        unknown = next((str(key) for key in given if key not in _KINDS), "")
        some = (
            f"there is no mechanism {unknown[:40]!r}"
            if unknown and not kinds
            else "it names no one mechanism"
        )
        raise ModelError(f"{some}; expected one of {', '.join(_KINDS)}", place=place)
    kind = kinds[0]
    fields = _Fields(given, f"{place}: {kind}", relation, read)
    found = _KINDS[kind](fields if kind in {"model", "program"} else fields.under(kind), kind)
    return replace(found, runs=times.whole("times", most=MOST_RUNS) * found.runs)


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

    def number(
        self, key: str, holds: Callable[[fmpq], bool | fmpq], expected: str, default: Any = None
    ) -> fmpq:
        value = self.take(key, default)
        try:
            found = to_fmpq(value)
        except BisimdistError as error:
            raise self.fail(f"{key}: {error}") from None
        if not holds(found):
            raise self.fail(f"{key} is {str(value)[:40]}; expected {expected}")
        return found

    def truth(self, options: int = 2) -> fmpq:
        least = fmpq(1, options)
        return self.number("truth", lambda t: least <= t <= 1, f"a probability from {least} to 1")

    def whole(self, key: str, default: Any = None, least: int = 1, most: int = 10**9) -> int:
        expected = f"a whole number from {least} to {most}"
        return int(self.number(key, lambda n: n.q == 1 and least <= n <= most, expected, default).p)

    def done(self, kind: str, **said: fmpq | int | str | Spec) -> Spec:
        """Return the specification of what was taken; other keys are refused."""
        if self.given:
            unknown = str(next(iter(self.given)))[:40]
            raise self.fail(f"the key {unknown!r} is unknown; expected {', '.join(said)}")
        return {kind: {key: value if isinstance(value, dict) else str(value) for key, value in said.items()}}


def _private(rate: fmpq | None, epsilon: fmpq, delta: fmpq = NOTHING) -> Law:
    return AtomsAt(lambda _: atoms.private(epsilon, delta, rate))


def _discrete_laplace(rate: fmpq | None, scale: fmpq, moved: fmpq) -> Law:
    return AtomsAt(lambda _: atoms.discrete_laplace(scale, int(moved.p), rate))


def _discrete_gaussian(rate: fmpq | None, sigma: fmpq, moved: fmpq) -> Law:
    return AtomsAt(lambda digits: atoms.discrete_gaussian(sigma**2, int(moved.p), digits, rate), finite=False)


_POSITIVE = (lambda value: value > 0, "a number above 0")
_STEPS = (lambda n: n.q == 1 and 1 <= n <= MOST_STEPS, f"a whole number from 1 to {MOST_STEPS}", 1)
_RANGES: Mapping[str, tuple[Any, ...]] = {
    "sigma": _POSITIVE,
    "scale": _POSITIVE,
    "sensitivity": (*_POSITIVE, 1),
    "epsilon": (lambda epsilon: epsilon >= 0, "at least 0"),
    "delta": (lambda delta: 0 <= delta <= 1, "a number from 0 to 1"),
    "q": (lambda rate: 0 < rate <= 1, "a probability above 0 and at most 1"),
}
"""By parameter what holds of it, also in words, and perhaps a default."""

_PLAIN: Mapping[str, tuple[str, Callable[..., Law]]] = {
    "gaussian": ("sigma sensitivity", lambda rate, sigma, moved: gaussian((moved / sigma) ** 2, rate)),
    "laplace": ("scale sensitivity", lambda rate, scale, moved: laplace(moved / scale, rate)),
    "discrete-gaussian": ("sigma sensitivity", _discrete_gaussian),
    "discrete-laplace": ("scale sensitivity", _discrete_laplace),
    "pure": ("epsilon", _private),
    "approximate": ("epsilon delta", _private),
}
"""By kind its parameters; its law by them, after the rate if one record of a sample is replaced."""


def _plain(fields: _Fields, kind: str) -> Mechanism:
    names, made = _PLAIN[kind]
    ranges = {**_RANGES, "sensitivity": _STEPS} if kind.startswith("discrete") else _RANGES
    said = {name: fields.number(name, *ranges[name]) for name in names.split()}
    spec, law = fields.done(kind, **said), made(None, *said.values())
    return Mechanism(spec, (law, law), exchanged=lambda rate, _: made(rate, *said.values()))


def _randomised_response(fields: _Fields, kind: str) -> Mechanism:
    options = fields.whole("options", 2, least=2, most=10**6)
    truth = fields.truth(options)
    law = AtomsAt(lambda _: atoms.randomised_response(truth, options))
    return Mechanism(fields.done(kind, truth=truth, options=options), (law, law))


def _subsampled(fields: _Fields, kind: str) -> Mechanism:
    rate = fields.number("q", *_RANGES["q"])
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
        return _directed(spec, _each(lambda law: mixed(rate, law), inner.laws))
    again = inner.exchanged if sampling == "poisson" else None
    if sampling == "poisson" and again is None:
        raise fields.fail(
            "a sample without replacement of a Poisson sample, where one record is replaced: how a sample of"
            " one record less differs is not known; expected one way of sampling"
        )

    def made(laws: Laws) -> Laws:
        if again is not None:
            return _each(lambda law: again(rate, law), laws)
        return replaced(rate, laws[0]), None if laws[1] is None else mixed(rate, laws[1])

    # a sample of a sample: what is thinned is thinned again
    twice = again if again is None or again is thinned else lambda q, law: again(q * rate, law)
    return Mechanism(spec, made(inner.laws), None if inner.back is None else made(inner.back), twice)


def _shuffled(fields: _Fields, kind: str) -> Mechanism:
    users = fields.whole("n", most=10**7)
    inner = fields.take("of")
    if isinstance(inner, str):
        inner = {inner: {"truth": fields.take("truth")}}
    if not isinstance(inner, Mapping) or list(inner) != ["randomised-response"]:
        raise fields.fail("of: expected randomised-response, such as {randomised-response: {truth: 3/4}}")
    answer = _Fields(inner, f"{fields.place}: of", fields.relation, fields.read).under("randomised-response")
    truth = answer.truth()
    if truth == 1:
        raise answer.fail("truth is 1: the answers are not random; expected less than 1")
    answer.whole("options", 2, least=2, most=2)
    spec = fields.done(kind, n=users, of=answer.done("randomised-response", truth=truth))
    law = AtomsAt(lambda digits: atoms.shuffled(users, truth, digits, above=True), finite=False)
    below = AtomsAt(lambda digits: atoms.shuffled(users, truth, digits, above=False), finite=False)
    return Mechanism(spec, (law, below))


def _dpsgd(fields: _Fields, kind: str) -> Mechanism:
    steps = fields.whole("steps", most=MOST_RUNS)
    sigma, rate = fields.take("sigma"), fields.take("q")
    fields.done(kind)
    inner = {"subsampled": {"q": rate, "of": {"gaussian": {"sigma": sigma}}}, "times": steps}
    return read_mechanism(inner, fields.relation, 0, fields.read)


def _system(fields: _Fields, kind: str) -> Mechanism:
    try:
        spec, law, exact = (losses_of_model if kind == "model" else losses_of_program)(
            fields.given, fields.read
        )
    except ModelError as error:
        place = f"{fields.place}: {error.place}".rstrip(": ")
        raise ModelError(error.message, place=place, source=error.source) from None
    except BisimdistError as error:
        raise fields.fail(str(error)) from None
    upper = AtomsAt(lambda _: law)
    return _directed({kind: spec}, (upper, upper if exact else None))


_KINDS: Mapping[str, Callable[[_Fields, str], Mechanism]] = {
    **dict.fromkeys(("gaussian", "laplace", "discrete-gaussian", "discrete-laplace"), _plain),
    "randomised-response": _randomised_response,
    "pure": _plain,
    "approximate": _plain,
    "subsampled": _subsampled,
    "shuffled": _shuffled,
    "dpsgd": _dpsgd,
    "model": _system,
    "program": _system,
}
