"""Mechanisms as a list names them: read, validated, and turned into laws of the privacy loss."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from flint import fmpq

from bisimdist.errors import BisimdistError, ModelError, UsageError
from bisimdist.exact.rational import format_rational, to_fmpq
from bisimdist.privacy.compose.engine import atoms
from bisimdist.privacy.compose.engine.laws import (
    NOTHING,
    UNKNOWN,
    Atoms,
    AtomsAt,
    Law,
    gaussian,
    laplace,
    thinned,
)
from bisimdist.privacy.compose.engine.rough import Factor
from bisimdist.privacy.compose.systems import SYSTEMS

RELATIONS = ("add-remove", "remove", "add", "replace")
BOTH = {"add-remove": ("remove", "add"), "replace": ("replace", "replace-swapped")}
"""By neighbouring relation the directions in which a list is composed; of others it is one."""

MOST_RUNS = 10**9
MOST_STEPS = 10**5  # of a sensitivity on the integers
Spec = dict[str, Any]

Laws = tuple[Law, Law]
"""What dominates a mechanism, and what it dominates: often the same law."""


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

    def losses(self, direction: str) -> Factor:
        """Return its laws in a direction."""
        laws = self.laws if self.back is None or direction in {"remove", "replace"} else self.back
        return Factor(*laws, self.runs)


def _each(made: Callable[[Law], Law], laws: Laws) -> Laws:
    """Return what becomes of two laws, which stay one where they are one, and unknown where they are that."""
    law, below = laws
    other = made(law)
    return other, other if below is law else below if below is UNKNOWN else made(below)


def _directed(spec: Spec, laws: Laws) -> Mechanism:
    """Return a mechanism of which the other direction differs."""
    return Mechanism(spec, laws, _each(lambda law: law.swapped(), laws))


def merged(mechanisms: Sequence[Mechanism]) -> list[Mechanism]:
    """Return the same list in a fixed order: equal mechanisms as one, all Gaussians as one run.

    >>> gaussian = {"gaussian": {"sigma": 10}, "times": 50}
    >>> [m.spec for m in merged([read_mechanism(gaussian, "add-remove", "")] * 2)]
    [{'gaussian': {'variance': '1'}}]
    """
    variance = sum((one.runs * one.laws[0].variance for one in mechanisms), NOTHING)
    law, found = gaussian(variance), dict[str, Mechanism]()
    for one in (other for other in mechanisms if not other.laws[0].variance):
        text = json.dumps(one.spec, sort_keys=True)
        found[text] = replace(one, runs=one.runs + found[text].runs) if text in found else one
    together = Mechanism({"gaussian": {"variance": format_rational(variance)}}, (law, law))
    return [*([together] if variance else []), *(found[text] for text in sorted(found))]


def read_mechanism(entry: Any, relation: str, place: str, read: Callable[[str], str] = str) -> Mechanism:
    """Return the mechanism that an entry of a list names.

    entry: a mapping with one kind of mechanism, and beside it ``times``; or a mechanism that was read before.
    relation: the neighbouring relation.
    place: what errors call it.
    read: returns where a file is that is named.
    Raises ModelError if there is no such mechanism; the error says which entry, and what was expected.
    """
    if isinstance(entry, Mechanism):
        return entry
    fields = _Fields({}, relation, read)
    try:
        fields.given = _mapping(entry, "such as gaussian: {sigma: 1}")
        times = fields.number(*_whole("times", 1, 1, MOST_RUNS))
        kinds = [key for key in fields.given if key in _KINDS]
        if len(kinds) != 1:
            unknown = (f"there is no mechanism {str(key)[:40]!r}" for key in fields.given if not kinds)
            said = next(unknown, "it names no one mechanism")
            raise UsageError(f"{said}; expected one of {', '.join(_KINDS)}")
        (fields.kind,) = kinds
        if fields.kind not in {"model", "program"}:
            inner = fields.take(fields.kind)
            fields.only("times")
            fields.given = _mapping(inner, "of its parameters")
        found = _KINDS[fields.kind](fields)
    except BisimdistError as error:
        raise ModelError(str(error), place=": ".join(filter(None, (place, fields.kind)))) from None
    return replace(found, runs=int(times) * found.runs)


def _mapping(given: Any, expected: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"expected a mapping {expected}")
    return dict(given)


@dataclass(slots=True)
class _Fields:
    """The keys of one mechanism, taken one after another."""

    given: dict[str, Any]
    relation: str
    read: Callable[[str], str]
    kind: str = ""

    def take(self, key: str, default: Any = None) -> Any:
        if key not in self.given and default is None:
            raise UsageError(f"the key {key!r} is missing")
        return self.given.pop(key, default)

    def number(self, key: str, holds: Callable[[fmpq], bool], expected: str, default: Any = None) -> fmpq:
        """Return a number of which something holds, which is said in words, too."""
        value = self.take(key, default)
        try:
            found = to_fmpq(value)
        except BisimdistError as error:
            raise UsageError(f"{key}: {error}") from None
        if not holds(found):
            raise UsageError(f"{key} is {str(value)[:40]}; expected {expected}")
        return found

    def mechanism(self, entry: Any, relation: str) -> Mechanism:
        """Return the mechanism inside of this one, which runs once."""
        found = read_mechanism(entry, relation, "of", self.read)
        if found.runs != 1:
            raise UsageError(f"what is {self.kind} runs once; expected times beside {self.kind}")
        return found

    def only(self, *expected: str) -> None:
        """Refuse keys that nobody has taken."""
        if self.given:
            unknown = str(next(iter(self.given)))[:40]
            raise UsageError(f"the key {unknown!r} is unknown; expected {', '.join(expected)}")

    def done(self, **said: fmpq | int | str | Spec) -> Spec:
        """Return the specification of what was taken; other keys are refused."""
        self.only(*said)
        texts = {key: value if isinstance(value, dict) else str(value) for key, value in said.items()}
        return {self.kind: texts}


Parameter = tuple[Any, ...]
"""The name of a number, what holds of it, also in words, and perhaps a default."""


def _whole(key: str, default: Any, least: int, most: int) -> Parameter:
    expected = f"a whole number from {least} to {most}"
    return key, lambda number: number.q == 1 and least <= number <= most, expected, default


_POSITIVE: Parameter = (lambda value: value > 0, "a number above 0")
_SIGMA, _SCALE, _MOVED = ("sigma", *_POSITIVE), ("scale", *_POSITIVE), ("sensitivity", *_POSITIVE, 1)
_STEPS = _whole("sensitivity", 1, 1, MOST_STEPS)
_EPSILON: Parameter = ("epsilon", lambda epsilon: epsilon >= 0, "at least 0")
_DELTA: Parameter = ("delta", lambda delta: 0 <= delta <= 1, "a number from 0 to 1")
_RATE: Parameter = ("q", lambda rate: 0 < rate <= 1, "a probability above 0 and at most 1")


def _by(made: Callable[..., Law], *parameters: Parameter) -> Callable[[_Fields], Mechanism]:
    """Return how to read a mechanism.

    made: its law by the parameters, after the rate if one record of a sample is replaced.
    """

    def mechanism(fields: _Fields) -> Mechanism:
        said = {parameter[0]: fields.number(*parameter) for parameter in parameters}
        spec, law = fields.done(**said), made(None, *said.values())
        return Mechanism(spec, (law, law), exchanged=lambda rate, _: made(rate, *said.values()))

    return mechanism


def _atoms(made: Callable[..., Atoms], finite: bool = True) -> Callable[..., Law]:
    """Return the law of atoms by a rate and parameters; the atoms are made by the digits, and these."""
    return lambda *said: AtomsAt(lambda digits: made(digits, *said), finite)


def _randomised_response(fields: _Fields) -> Mechanism:
    options = fields.number(*_whole("options", 2, 2, 10**6))
    expected = f"a probability from {1 / options} to 1"
    truth = fields.number("truth", lambda truth: 1 / options <= truth <= 1, expected)
    law = AtomsAt(lambda _: atoms.randomised_response(truth, options))
    return Mechanism(fields.done(truth=truth, options=options), (law, law))


def _subsampled(fields: _Fields) -> Mechanism:
    rate, sampling = fields.number(*_RATE), str(fields.take("sampling", "poisson"))
    if sampling not in {"poisson", "without-replacement"}:
        raise UsageError(f"sampling is {sampling[:40]!r}; expected poisson or without-replacement")
    # in a sample of a fixed size a record takes the place of another one
    inner = fields.mechanism(fields.take("of"), fields.relation if sampling == "poisson" else "replace")
    spec = fields.done(q=rate, sampling=sampling, of=inner.spec)
    if fields.relation != "replace":
        return _directed(spec, _each(lambda law: law.mixed(rate), inner.laws))
    again = inner.exchanged if sampling == "poisson" else None
    if sampling == "poisson" and again is None:
        raise UsageError(
            "a sample without replacement of a Poisson sample, where one record is replaced: how a sample of"
            " one record less differs is not known; expected one way of sampling"
        )

    def made(laws: Laws) -> Laws:
        if again is not None:
            return _each(lambda law: again(rate, law), laws)
        return laws[0].replaced(rate), _each(lambda law: law.mixed(rate), laws)[1]

    # a sample of a sample: what is thinned is thinned again
    twice = again if again in {None, thinned} else lambda q, law: again(q * rate, law)
    return Mechanism(spec, made(inner.laws), inner.back and made(inner.back), twice)


def _shuffled(fields: _Fields) -> Mechanism:
    users, inner = fields.number(*_whole("n", None, 1, 10**7)), fields.take("of")
    if isinstance(inner, str):
        inner = {inner: {"truth": fields.take("truth")}}
    ((kind, said),) = fields.mechanism(inner, fields.relation).spec.items()
    if kind != "randomised-response" or said["options"] != "2" or said["truth"] == "1":
        raise UsageError("of: expected randomised-response with two options and a truth of less than 1")
    spec = fields.done(n=users, of={kind: {"truth": said["truth"]}})
    made = partial(atoms.shuffled, int(users), to_fmpq(said["truth"]))
    law, below = (AtomsAt(partial(made, above=above), finite=False) for above in (True, False))
    return Mechanism(spec, (law, below))


def _dpsgd(fields: _Fields) -> Mechanism:
    steps = fields.number(*_whole("steps", None, 1, MOST_RUNS))
    sigma, rate = fields.take("sigma"), fields.take("q")
    fields.only("sigma", "q", "steps")
    inner = {"subsampled": {"q": rate, "of": {"gaussian": {"sigma": sigma}}}, "times": steps}
    return read_mechanism(inner, fields.relation, "", fields.read)


def _system(fields: _Fields) -> Mechanism:
    losses, keys = SYSTEMS[fields.kind]
    said = [fields.given.pop(key, None) for key in keys]
    fields.only(*keys)
    spec, law, exact = losses(fields.read, *said)
    upper = AtomsAt(lambda _: law)
    return _directed({fields.kind: spec}, (upper, upper if exact else UNKNOWN))


_KINDS: Mapping[str, Callable[[_Fields], Mechanism]] = {
    "gaussian": _by(lambda rate, sigma, moved: gaussian((moved / sigma) ** 2, rate), _SIGMA, _MOVED),
    "laplace": _by(lambda rate, scale, moved: laplace(moved / scale, rate), _SCALE, _MOVED),
    "discrete-gaussian": _by(_atoms(atoms.discrete_gaussian, finite=False), _SIGMA, _STEPS),
    "discrete-laplace": _by(_atoms(atoms.discrete_laplace), _SCALE, _STEPS),
    "randomised-response": _randomised_response,
    "pure": _by(_atoms(atoms.private), _EPSILON),
    "approximate": _by(_atoms(atoms.private), _EPSILON, _DELTA),
    "subsampled": _subsampled,
    "shuffled": _shuffled,
    "dpsgd": _dpsgd,
    "model": _system,
    "program": _system,
}
