"""Checks certificates of kind ``trace-metric``: bounds on the multiplicative and the additive trace metric.

The rules, with names T1 and so on, are those of ``docs/certificates/trace-metric.md``; why they prove what is
claimed is in ``docs/theory/trace-metric.md``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from importlib import import_module
from typing import Any

from bisimdist.checker.core.automaton import Automaton, about_automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.ends import WithEnds, completed
from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, integer, item, items, shown
from bisimdist.checker.core.shape import BetweenBounds, CheckReport, Shape, key, listed, one_of, raw
from bisimdist.checker.core.trace_chain import TraceChain


class _Trace(Shape):
    """A trace that proves a lower bound."""

    type: str = key(raw)
    word: list[str] = key(listed(item))


class _Document(WithEnds):
    metric: str = key(one_of("multiplicative", "additive"))
    length: str = key(item)
    claims: list[BetweenBounds] = key(listed(BetweenBounds.read, "claim"))
    lower: list[Any] = key(items)
    upper: list[Any] = key(items)
    combination: Any = key(raw, default=None)

    @property
    def most(self) -> int | None:
        """How long a trace may be that counts; None for any length."""
        return None if self.length == "all" else integer(self.length, "the length")

    def claimed(self, claim: BetweenBounds) -> dict[str, object]:
        keys = ("metric", "quantity", "from", "to", "length", "lower", "upper")
        quantity = "distance" if self.metric == "additive" else "e^distance"
        what = {"metric": self.metric, "quantity": quantity, "length": self.length}
        return dict.fromkeys(keys) | what | claim.data()


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``trace-metric``."""
    whole = _Document.whole(document)
    if whole.most is not None and whole.most < 0:
        raise MalformedCertificate("the length is negative")
    if not len(whole.lower) == len(whole.upper) == len(whole.claims):
        raise MalformedCertificate("expected as many proofs of either side as claims")

    def check(automaton: Automaton) -> None:
        known = set(all_of(automaton.states))
        for name in (state for claim in counted(whole.claims) for state in (claim.source, claim.target)):
            if name not in known:
                raise RuleViolation(f"T2: a claim names {shown(name)}, which is no state")
        chain = TraceChain.of(completed(automaton, whole.ends))
        if "combination" in document:
            chain = chain.combined(whole.combination)
        prove = _additive if whole.metric == "additive" else _multiplicative
        for claim, lower, upper in counted(zip(whole.claims, whole.lower, whole.upper, strict=True)):
            sides = chain.state(claim.source, "a claim"), chain.state(claim.target, "a claim")
            prove(chain, sides, claim, (lower, upper), whole.most)

    said = (whole.said(whole.claimed(claim)) for claim in counted(whole.claims))
    return about_automaton(whole, model, ("T2", "T2"), said, check)


def _probabilities(
    chain: TraceChain, sides: Iterable[int], proof: object, length: int | None
) -> list[Fraction]:
    word = _Trace.read(proof, "a lower proof").word
    if length is not None and len(word) > length:
        raise RuleViolation("T4: the trace is longer than what counts")
    return [
        sum(all_of(chain.along({side: Fraction(1)}, word).values()), Fraction(0)) for side in counted(sides)
    ]


def _multiplicative(
    chain: TraceChain,
    sides: tuple[int, int],
    claim: BetweenBounds,
    proofs: tuple[Any, Any],
    length: int | None,
) -> None:
    lower, upper = proofs
    kind = lower.get("type") if isinstance(lower, dict) else None
    if kind in ("loop", "drift"):
        if length is not None:
            raise RuleViolation("T5: a loop says nothing about traces of bounded length")
        _rule("infinite").check_infinite(chain, sides, kind, lower)
    elif kind == "trace":
        low, high = sorted(all_of(_probabilities(chain, sides, lower, length)))
        if high == 0 or (claim.lower is None and low != 0):
            raise RuleViolation("T4: the trace does not prove an infinite quotient")
        if claim.lower is not None and claim.lower * low > high:
            raise RuleViolation("T4: the quotient of the trace is less than the lower bound")
    else:
        raise MalformedCertificate(f"a lower proof is of type {shown(kind)}; expected trace, loop or drift")
    if claim.upper is not None:
        _rule("ratio").check_ratio(chain, sides, claim.upper, upper, length)


def _additive(
    chain: TraceChain,
    sides: tuple[int, int],
    claim: BetweenBounds,
    proofs: tuple[Any, Any],
    length: int | None,
) -> None:
    if claim.lower is None or claim.upper is None:
        raise RuleViolation("T4: an additive bound is infinite")
    lower, upper = proofs
    if not isinstance(lower, dict) or lower.get("type") != "trace":
        raise MalformedCertificate("a lower proof of the additive metric is not a trace")
    one, other = _probabilities(chain, sides, lower, length)
    if claim.lower > abs(one - other):
        raise RuleViolation("T4: the difference of the trace is less than the lower bound")
    _rule("difference").check_difference(chain, sides, claim.upper, upper, length)


def _rule(name: str) -> Any:
    """Return the rules of one sort of proofs, which no other claim opens."""
    return import_module(f"bisimdist.checker.claims.trace_{name}")
