"""Certificates of kind ``hmm-no-budget``: no budget holds for sequences of all lengths.

The rules are named H and U as in ``docs/certificates/hmm-proofs.md``; why they prove the claims is in
``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.hidden_markov import NumericMarkov, Row, embedded_model
from bisimdist.checker.core.quantities import Mass
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    item,
    items,
    record,
    shown,
)

__all__ = ["check_document"]

FRAME = ("format", "version", "kind", "model", "digest", "claims", "pump")
PUMP = ("type", "swapped", "prefix", "cycle", "suffix", "fast", "slow", "below", "above", "counting")
_ZERO = Fraction(0)


def check_document(document: dict[str, object], model: object | None = None) -> OtherReport:
    """Check a certificate of kind ``hmm-no-budget``.

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
    if len(claims) != 1 or [claims[0][k] for k in ("ratio", "verdict", "length")] != [
        "any",
        "violated",
        "all",
    ]:
        raise MalformedCertificate("expected one claim: verdict 'violated', ratio 'any', length 'all'")
    pump = data["pump"]
    kind = pump.get("type") if isinstance(pump, dict) else None
    kind = choice(kind, "the pump's type", ("pump", "impossible"))
    data["pump"] = record(pump, "the pump", PUMP if kind == "pump" else ("type", "swapped", "word"))
    if not isinstance(data["pump"]["swapped"], bool):
        raise MalformedCertificate("'swapped' is neither true nor false")
    names = [item(claims[0][key], "a claim") for key in ("from", "to")]
    try:
        numbers = embedded_model(data, model).numeric()
        if data["pump"]["swapped"]:
            names.reverse()
        sides = numbers.distribution(names[0]), numbers.distribution(names[1])
        if kind == "pump":
            _check_pump(numbers, sides, data["pump"])
        else:
            _check_impossible(numbers, sides, data["pump"])
    except RuleViolation as violation:
        return OtherReport(False, claims, str(violation))
    return OtherReport(True, claims)


def _word(entry: object, where: str, *, empty: bool = False) -> list[str]:
    word = [item(symbol, where) for symbol in items(entry, where)]
    if not word and not empty:
        raise MalformedCertificate(f"{where} is empty")
    return word


def _vector(entry: object, model: NumericMarkov, where: str) -> dict[str, Mass]:
    if not isinstance(entry, dict):
        raise MalformedCertificate(f"{where} is {shown(entry)}; expected an object")
    for name in entry:
        if name not in model.rows:
            raise RuleViolation(f"U1: {where} names {shown(name)}, which is no state")
    return {name: Mass.by("U1")(number, where) for name, number in entry.items()}


def _check_impossible(model: NumericMarkov, sides: tuple[Row, Row], data: Mapping[str, Any]) -> None:
    word = _word(data["word"], "the word")
    one, two = (model.along(side, word).parts for side in sides)
    if two or not one:
        raise RuleViolation("U7: the word is not possible on one side only")


def _check_pump(model: NumericMarkov, sides: tuple[Row, Row], data: Mapping[str, Any]) -> None:
    prefix, cycle = _word(data["prefix"], "the prefix"), _word(data["cycle"], "the cycle")
    suffix = _word(data["suffix"], "the suffix", empty=True)
    fast, slow = (Mass.by("U2")(data[key], f"the {key} factor") for key in ("fast", "slow"))
    if slow >= fast:
        raise RuleViolation("U2: the fast factor is not larger than the slow one")
    below = _vector(data["below"], model, "the lower vector")
    above = _vector(data["above"], model, "the upper vector")
    counting = {item(s, "a counting state") for s in items(data["counting"], "the counting states")}
    first, second = (model.along(side, prefix).fractions() for side in sides)
    for state, mass in below.items():
        if mass > first.get(state, _ZERO):
            raise RuleViolation("U3: the lower vector is above the probable side after the prefix")
    after = model.along(below, cycle, moved=True).fractions()
    if any(after.get(s, _ZERO) < fast * mass for s, mass in below.items()):
        raise RuleViolation("U4: one round of the cycle leaves less than the fast factor")
    for state in counting:
        if second.get(state, _ZERO) > above.get(state, _ZERO):
            raise RuleViolation("U5: the upper vector is below the other side after the prefix")
    after = model.along(above, cycle, moved=True).fractions()  # what does not count leads nowhere that does
    if any(mass > slow * above.get(s, _ZERO) for s, mass in after.items() if s in counting):
        raise RuleViolation("U5: one round of the cycle leaves more than the slow factor")
    _check_suffix(model, cycle, suffix, counting, {s for s, mass in below.items() if mass})


def _check_suffix(
    model: NumericMarkov, cycle: Sequence[str], suffix: Sequence[str], counting: set[str], fast: set[str]
) -> None:
    """Check that nothing but the counting states counts, and that the fast states do."""
    one = Fraction(1)
    for state in model.rows:
        if state in counting:
            continue
        if not counting.isdisjoint(model.along({state: one}, cycle, moved=True).parts):
            raise RuleViolation("U6: the cycle leads into a counting state from another state")
        if model.along({state: one}, suffix, moved=True).parts:
            raise RuleViolation("U6: the suffix is possible outside of the counting states")
    if not model.along(dict.fromkeys(fast, one), suffix, moved=True).parts:
        raise RuleViolation("U7: the suffix is impossible where the lower vector is positive")
