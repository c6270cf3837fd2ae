"""Making an honest certificate lie: by Z3, which looks for numbers, and by chance."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from importlib import import_module
from typing import Any

import z3

from tests.forger.symbols import MARK, Ending, Explorer, Outcome, symbolic_reading
from tests.forger.templates import Document, Template

__all__ = ["Attack", "Lie", "attack", "lie_by_chance", "lies", "number_places"]

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*|0x[0-9a-fA-F]+)(?:/(?:[1-9][0-9]*|0x[0-9a-fA-F]+))?")
KEPT = {
    *("model", "digest", "format", "version", "kind", "distance", "discount", "from", "to", "word", "length"),
    *("counterexample", "merged", "direction", "event", "pair", "type", "mechanism", "answer", "adjacency"),
    *("metric", "common", "stuck", "vector", "action", "parameters", "maximise", "parameter", "factors"),
    *("cells", "range", "for_all", "at_most"),
}
"""What is not a number, or says what the claim is about."""

SYMBOLS = (6, 12, 24)
"""How many numbers Z3 is to find; the others stay as they are."""

Place = tuple[str | int, ...]


def _fraction(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(int(above, 0), int(below, 0) if below else 1)


def number_places(document: Document) -> list[Place]:
    """Return where the numbers of a certificate stand that can be forged."""
    found: list[Place] = []
    for key, part in document.items():
        if key not in {*KEPT, "alpha", "up_to"}:
            found += _places(part, (key,))
    return found


def _places(part: object, place: Place) -> Iterator[Place]:
    if isinstance(part, str) and NUMBER.fullmatch(part):
        is_index = "covers" in place and place[-1] == 0 and isinstance(place[-2], str)
        if not is_index:
            yield place
    elif isinstance(part, list):
        for number, entry in enumerate(part):
            yield from _places(entry, (*place, number))
    elif isinstance(part, dict):
        for key, entry in part.items():
            if key not in KEPT:
                yield from _places(entry, (*place, key))


def at(document: Any, place: Place) -> Any:
    """Return what stands at a place."""
    for step in place:
        document = document[step]
    return document


def put(document: Any, place: Place, value: object) -> None:
    """Write something at a place."""
    at(document, place[:-1])[place[-1]] = value


@dataclass(frozen=True, slots=True)
class Lie:
    """A way in which the claim of a certificate is false: a number beyond what is true.

    Parameters
    ----------
    place
        Where the claimed number stands; None where the claim is false whatever the numbers are.
    above
        Whether the number claims too much by being large.
    limit
        What it must be beyond; None where any number is false.
    """

    place: Place | None
    above: bool
    limit: Fraction | None

    def holds(self, number: Any) -> Any:
        """Return whether the number (of Z3, or a fraction) makes the claim false."""
        if self.limit is None:
            return z3.BoolVal(True) if z3.is_expr(number) else True
        limit = z3.RatVal(self.limit.numerator, self.limit.denominator) if z3.is_expr(number) else self.limit
        return number > limit if self.above else number < limit


def lies(template: Template) -> list[Lie]:
    """Return the ways in which the claim can be made false."""
    (claim,) = template.document["claims"]
    found = []
    if template.kind in {"no budget", "robust"}:
        return [Lie(None, False, None)]
    if claim.get("holds", True) is False or claim.get("verdict", "holds") != "holds":
        return []
    for key in ("upper", "ratio"):
        if key in claim:
            found.append(Lie(("claims", 0, key), False, template.low))
    if claim.get("lower") is not None and template.high is not None:
        found.append(Lie(("claims", 0, "lower"), True, template.high))
    return found


@dataclass(slots=True)
class Attack:
    """What came of an attack.

    Parameters
    ----------
    kind
        The kind of the certificate.
    outcome
        What Z3 said.
    forgery
        The certificate, where the checker accepts it although its claim is false.
    crashes
        Errors of the checker that are none of its verdicts.
    """

    kind: str
    outcome: Outcome
    forgery: Document | None = None
    crashes: list[str] = field(default_factory=list)


def attack(
    template: Template,
    lie: Lie,
    document: Document,
    source: random.Random,
    *,
    seconds: float = 5.0,
    model: str | None = None,
    only_claim: bool = False,
) -> Attack:
    """Let Z3 look for numbers with which a certificate of this structure proves a lie, about a model."""
    checker: Any = import_module("bisimdist.checker")  # perhaps one that a test has changed
    explorer = Explorer(seconds=seconds)
    places = [] if only_claim else number_places(document)
    if lie.place is not None and lie.place not in places:
        places.append(lie.place)
    chosen = source.sample(places, min(len(places), source.choice(SYMBOLS)))
    if lie.place is not None and lie.place not in chosen:
        chosen.append(lie.place)
    blank: Document = json.loads(json.dumps(document))
    for number, place in enumerate(chosen):
        put(blank, place, f"{MARK}x{number}")
    text = json.dumps(blank)

    def judge() -> bool:
        try:
            return bool(checker.check_certificate(text, model).valid)
        except checker.MalformedCertificate:
            return False
        except Exception:  # of the checker, or because a symbol is no number: its numbers will tell
            return True

    def wanted() -> Any:
        if lie.place is None:
            return z3.BoolVal(True)
        return lie.holds(explorer.input(f"x{chosen.index(lie.place)}").expression)

    with symbolic_reading(explorer):
        outcome = explorer.search(judge, wanted)
    result = Attack(template.kind, outcome)
    if outcome.ending is Ending.SAT:
        forged = _written(blank, chosen, outcome)
        try:
            if checker.check_certificate(json.dumps(forged), model).valid:
                result.forgery = forged
                return result
        except checker.MalformedCertificate:
            pass
        except Exception as error:  # the checker has no other errors
            result.crashes.append(f"{type(error).__name__}: {error}")
        result.outcome = Outcome(Ending.UNKNOWN, paths=outcome.paths, reason="refused after all")
    return result


def _written(blank: Document, chosen: list[Place], outcome: Outcome) -> Document:
    forged: Document = json.loads(json.dumps(blank))
    for number, place in enumerate(chosen):
        put(forged, place, str(outcome.values.get(f"x{number}", Fraction(0))))
    for proof in forged.get("proofs", ()):
        if "layers" in proof:
            _make_whole(proof)
    return forged


def _make_whole(proof: Document) -> None:
    """Multiply the vectors of a proof by what makes them integers; `start` is relative to them."""
    vectors = [vector for layer in proof["layers"] for vector in layer]
    scale = math.lcm(*(_fraction(value).denominator for vector in vectors for value in vector.values()))
    for vector in vectors:
        vector.update({state: str(_fraction(value) * scale) for state, value in vector.items()})
    proof["start"] = str(_fraction(proof["start"]) / scale)


STEPS = (Fraction(1, 10**9), Fraction(1, 1000), Fraction(1, 3), Fraction(1))


def lie_by_chance(template: Template, document: Document, source: random.Random) -> Document | None:
    """Return a certificate with a false claim and some numbers changed, None where no claim can be false."""
    ways = lies(template)
    if not ways:
        return None
    lie = source.choice(ways)
    changed: Document = json.loads(json.dumps(document))
    for place in source.sample(places := number_places(document), min(len(places), source.randint(0, 4))):
        put(changed, place, str(_moved(_fraction(at(document, place)), source)))
    if lie.place is not None:
        honest = at(document, lie.place)
        limit = (
            lie.limit if lie.limit is not None else (_fraction(honest) if honest != "inf" else Fraction(2))
        )
        step = source.choice(STEPS)
        value = limit + step if lie.above else limit - step
        put(changed, lie.place, str(value))
    return changed


def _moved(number: Fraction, source: random.Random) -> Fraction:
    ways: list[Callable[[], Fraction]] = [
        lambda: number + source.choice(STEPS),
        lambda: number - source.choice(STEPS),
        lambda: -number,
        lambda: Fraction(0),
        lambda: number * 2,
        lambda: number / 2,
        lambda: source.choice((Fraction(1), Fraction(-1), Fraction(-(10**6)), Fraction(10**6))),
    ]
    return source.choice(ways)()
