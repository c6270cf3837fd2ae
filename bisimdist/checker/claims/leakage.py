"""Certificates of kind ``leakage``: two-sided bounds on what traces leak (docs/certificates/leakage.md).

The rules are named V1 to V7, D1, D9 and C1 as in the specification; why they prove the claims is in
``docs/theory/leakage.md``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.claims.leakage_graph import INFINITE, Claim, Document, LeakageGraph, Matrix
from bisimdist.checker.claims.leakage_measures import Affinity, Guess, Measure, Power, Relative
from bisimdist.checker.core.chain import Chain, given_chain, own_chain
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.information import RATIOS
from bisimdist.checker.core.partition import summed
from bisimdist.checker.core.reading import (
    Counted,
    MalformedCertificate,
    RuleViolation,
    common,
    shown,
    text_of,
)
from bisimdist.checker.core.shape import Bound, CheckReport, judged

_RENYI = re.compile("renyi:([2-9]|[1-9][0-9]{1,2}|1000)")
OF_SECRETS = ("bayes", "min-entropy", "g")

_ZERO, _ONE = Fraction(0), Fraction(1)
Row = Mapping[str, Fraction]
Gains = Mapping[str, Row]


@dataclass(frozen=True)
class _Said:
    """Which measure: its name, the order of Rényi's, and for ``g`` by guess what it gains."""

    name: str
    order: int
    gains: Gains | None
    text: str

    def measure(self) -> Measure:
        """Return what is summed up over traces."""
        if self.name in {"chi2", "renyi"}:
            return Power(self.order)
        return {"kl": Relative, "hellinger": Affinity}.get(self.name, Guess)()

    @property
    def most(self) -> Bound:
        return {"tv": _ONE, "hellinger": Fraction(2), "bayes": _ONE}.get(self.name)


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``leakage``."""
    whole = Document.whole(document)
    said = _said(whole)
    given = given_chain(model)
    claims = (_plain(claim, said) for claim in counted(whole.claims))
    return judged(claims, lambda: _check(whole, said, given))


def _said(whole: Document) -> _Said:
    text = whole.measure
    order = _RENYI.fullmatch(text)
    if order is None and text not in {"tv", "chi2", "kl", "hellinger", *OF_SECRETS}:
        raise MalformedCertificate(f"the measure is {shown(text)}, which is not known")
    if (text == "g") != (whole.gains is not None):
        raise MalformedCertificate("gains and the measure g go together")
    if whole.gains == {}:
        raise MalformedCertificate("there is no guess")
    return _Said("renyi" if order else text, int(order[1]) if order else 2, whole.gains, text)


def _plain(claim: Claim, said: _Said) -> dict[str, object]:
    about: dict[str, object] = {"states": claim.states}
    if claim.prior is None and len(claim.states) == 2:
        about = {"from": claim.states[0], "to": claim.states[1]}
    if claim.prior is not None:
        about["prior"] = [text_of(p) for p in counted(claim.prior)]
    if said.gains is not None:
        about["gains"] = {
            guess: {s: text_of(x) for s, x in counted(row.items())}
            for guess, row in counted(said.gains.items())
        }
    return {
        **about,
        "quantity": said.text,
        "lower": INFINITE if claim.lower is None else text_of(claim.lower),
        "upper": INFINITE if claim.upper is None else text_of(claim.upper),
        "exact": claim.lower == claim.upper,
    }


def _check(whole: Document, said: _Said, given: Chain | None) -> None:
    nodes, ratios, claims = whole.nodes(), RATIOS(whole.ratios, "the ratios"), whole.claims
    chain = own_chain(whole.model, whole.digest, given)
    width = 2 if said.name in {"chi2", "renyi", "kl", "hellinger"} else 1
    if said.name in {"bayes", "min-entropy"}:
        sizes = {len(claim.states) for claim in counted(claims)}
        if len(sizes) != 1:
            raise RuleViolation("V1: all claims of a certificate have as many secrets")
        width = sizes.pop() - 1
    if said.gains is not None:
        width = len(said.gains) - 1
    graph = LeakageGraph(chain, nodes, whole.cycles, ratios, said.measure(), width)
    graph.check_nodes()
    for claim in counted(claims):
        chain.known(claim.states, f"{claim.where}: V1")
        _check_claim(graph, said, claim)


def _check_claim(graph: LeakageGraph, said: _Said, claim: Claim) -> None:
    where = claim.where
    if (claim.prior is None) == (said.name in OF_SECRETS):
        raise RuleViolation(f"{where}: V1: secrets have a prior, and pairs have none")
    if claim.prior is None:
        if len(claim.states) != 2:
            raise RuleViolation(f"{where}: V1: expected a pair")
    elif (
        len(claim.prior) != len(claim.states)
        or sum(all_of(claim.prior)) != 1
        or any(p < 0 for p in counted(claim.prior))
    ):
        raise RuleViolation(f"{where}: V1: the prior is no distribution on the secrets")
    worlds = _worlds(said, claim)
    added = [summed(row) for row in counted(worlds)]
    before = max(sum((mass for _, mass in counted(row)), _ZERO) for row in counted(worlds))
    _check_lower(graph, said, claim.lower, added, before, where)
    _check_upper(graph, said, claim.upper, added, before, where)


def _check_lower(  # noqa: PLR0913, PLR0917
    graph: LeakageGraph, said: _Said, lower: Bound, worlds: Sequence[Row], before: Fraction, where: str
) -> None:
    total = _ZERO
    for offset, factor, part in counted(_parts(graph, worlds)):
        total += offset
        if not factor:
            continue
        node, seen = graph.node(part), graph.seen_at_least(part)
        below = None if node is None else node.lower
        if below == INFINITE or seen is None:
            return
        total += factor * (max(below, seen) if isinstance(below, Fraction) else seen)
    if lower is None or lower > _transformed(said, total, before):
        raise RuleViolation(f"{where}: C1: the lower bound is more than what the nodes prove")


def _check_upper(  # noqa: PLR0913, PLR0917
    graph: LeakageGraph, said: _Said, upper: Bound, worlds: Sequence[Row], before: Fraction, where: str
) -> None:
    if upper is None or (said.most is not None and upper >= said.most):
        return
    total = _ZERO
    for offset, factor, part in counted(_parts(graph, worlds)):
        total += offset
        if not factor:
            continue
        node = graph.node(part)
        above = None if node is None else node.upper
        if above is None:
            raise RuleViolation(f"{where}: C1: no node proves an upper bound")
        total += factor * above
    if upper < _transformed(said, total, before):
        raise RuleViolation(f"{where}: C1: the upper bound is less than what the nodes prove")


def _transformed(said: _Said, value: Fraction, before: Fraction) -> Fraction:
    if said.name == "chi2":
        return value - 1
    if said.name == "hellinger":
        return 2 + 2 * value
    return value / before if said.name == "min-entropy" else value


def _worlds(said: _Said, claim: Claim) -> list[list[tuple[str, Fraction]]]:
    """Return the rows that it starts from: a world each, or for every guess gains times the prior."""
    states = claim.states
    if said.name == "tv":
        return [[], [(states[0], _ONE), (states[1], -_ONE)]]
    if claim.prior is None:
        return [[(state, _ONE)] for state in counted(states)]
    secrets = list(all_of(zip(states, claim.prior, strict=True)))
    if said.gains is None:
        return [[(state, p)] for state, p in counted(secrets)]
    return [
        [(state, p * row.get(state, _ZERO)) for state, p in counted(secrets)]
        for row in counted(said.gains.values())
    ]


def _parts(graph: LeakageGraph, worlds: Sequence[Row]) -> Iterator[tuple[Fraction, Fraction, Matrix]]:
    """Yield (o, f, M) for every first label: the value of the whole is the sum of o + f V(M)."""
    labels = graph.chain.labels
    for label in {labels[state]: None for row in counted(worlds) for state in counted(row)}:
        states = sorted(
            {state for row in counted(worlds) for state in counted(row) if labels[state] == label}
        )
        rows = [[row.get(state, _ZERO) for state in counted(states)] for row in counted(worlds)]
        offset = _ZERO
        if isinstance(graph.measure, Guess):
            offset = sum(all_of(rows[0]), _ZERO)
            rows = [
                [x - first for x, first in counted(zip(row, rows[0], strict=True))]
                for row in counted(rows[1:])
            ]
        unit = common(x.denominator for row in counted(rows) for x in counted(row))
        whole = [[int(x * unit) for x in counted(row)] for row in counted(rows)]
        factor = Counted.ratio(math.gcd(*(x for row in counted(whole) for x in counted(row))), unit)
        if not factor:
            yield offset, _ZERO, {}
            continue
        columns = zip(*whole, strict=True)
        matrix = {
            s: [int(x / (factor * unit)) for x in counted(column)]
            for s, column in counted(zip(states, columns, strict=True))
        }
        yield (
            offset,
            factor,
            {state: column for state, column in counted(matrix.items()) if any(all_of(column))},
        )
