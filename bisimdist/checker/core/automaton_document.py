"""What certificates have in common that hold nothing but an automaton and claims about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from bisimdist.checker.core.automaton import Automaton, given_automaton, read_automaton
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, item, items, record, shown

__all__ = ["judged", "numbered_claims", "read_depth", "read_depth_or_null"]

KEYS = ("format", "version", "kind", "model", "digest", "claims")
_DEPTH = re.compile("0|[1-9][0-9]{0,8}")


def numbered_claims(
    document: dict[str, object], optional: tuple[str, ...] = (), required: tuple[str, ...] = ()
) -> list[tuple[str, Any]]:
    """Return the claims, each with how errors speak of it; some more keys may or must be there.

    Raises
    ------
    MalformedCertificate
        If the document has other keys.
    """
    record(document, "the certificate", (*KEYS, *required), optional)
    return [(f"claim {n}", claim) for n, claim in enumerate(items(document["claims"], "the claims"), 1)]


def judged(
    document: dict[str, object],
    model: object | None,
    rules: str,
    claims: Iterable[Mapping[str, object]],
    check: Callable[[Automaton], None],
) -> OtherReport:
    """Return the verdict on a document whose claims are these.

    Parameters
    ----------
    document, model
        The certificate, and the model that is given beside.
    rules
        The letter before the numbers of its rules; 2 and 3 are about the digests.
    claims
        The claims as plain data.
    check
        Raises `RuleViolation` where the automaton does not have what is claimed.

    Raises
    ------
    MalformedCertificate
        If the automaton or the model does not have the shape of one.
    """
    data = tuple(claims)
    given = None if model is None else given_automaton(model)
    try:
        automaton = read_automaton(document["model"])
        if document["digest"] != automaton.digest():
            raise RuleViolation(f"{rules}2: the digest is not that of the embedded model")
        if given is not None and given.digest() != automaton.digest():
            raise RuleViolation(
                f"{rules}3: the certificate is about another model than the one that is given"
            )
        check(automaton)
    except RuleViolation as violation:
        return OtherReport(False, data, str(violation))
    return OtherReport(True, data)


def read_depth(value: object, where: str) -> int:
    """Return a depth."""
    text = item(value, where)
    if not _DEPTH.fullmatch(text):
        raise MalformedCertificate(f"{where}: the depth is {shown(text)}; expected a natural number")
    return int(text)


def read_depth_or_null(value: object, where: str) -> int | None:
    """Return a depth; None for any."""
    return None if value is None else read_depth(value, where)
