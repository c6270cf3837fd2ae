"""Leakages of chains that are only known roughly, against brute force and chains inside."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from math import inf, isclose, log, sqrt

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.errors import UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.intervals import IntervalChain, vertices
from bisimdist.models.io import write_model
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import NATURES
from bisimdist.privacy.leakage.answer import LeakageAnswer
from bisimdist.privacy.leakage.ask import leakage
from tests.privacy.test_intervals import leaves_choice, members, plain
from tests.reference.nature import most_seen
from tests.strategies import interval_chains

INFINITE = Fraction(10**30)
"""Stands for infinity where a reference adds up."""


def power(order: int) -> Callable[[Fraction, Fraction], Fraction]:
    return lambda x, y: Fraction(0) if not x else x**order / y ** (order - 1) if y else INFINITE


def relative(x: Fraction, y: Fraction) -> Fraction:
    return Fraction(0) if not x else Fraction(float(x) * log(x / y)) if y else INFINITE


PHI: dict[str, tuple[Callable[[Fraction, Fraction], Fraction], Callable[[float], float]]] = {
    "tv": (lambda x, y: max(Fraction(0), x - y), lambda v: v),
    "chi2": (power(2), lambda v: v - 1),
    "renyi:3": (power(3), lambda v: v),
    "kl": (relative, lambda v: v),
    "hellinger": (lambda x, y: -Fraction(sqrt(float(x) * float(y))), lambda v: 2 + 2 * v),
    "bayes": (max, lambda v: v),
}


def proved(answer: LeakageAnswer) -> None:
    report = check_certificate(json.dumps(answer.certificate()), write_model(answer.model, "json"))
    assert report.valid, report.reason


def most(answer: LeakageAnswer) -> float:
    upper = answer.pairs[0].upper
    return inf if upper is None else float(plain(upper))


@settings(deadline=None, max_examples=25)
@given(interval_chains(cyclic=False), st.sampled_from(sorted(PHI)))
def test_leakage_is_what_the_worst_nature_brings_about(chain: IntervalChain, measure: str) -> None:
    answer = leakage(chain, measure)
    (pair,) = answer.pairs
    mass = Fraction(1, 2) if measure == "bayes" else Fraction(1)
    phi, transformed = PHI[measure]
    sought = most_seen(chain, phi, (0, mass), (1, mass))
    if sought > INFINITE / 2:
        assert pair.lower is None and pair.upper is None
    else:
        assert pair.lower is not None and pair.upper is not None
        expected = transformed(float(sought))
        assert isclose(float(plain(pair.lower)), expected, rel_tol=1e-9, abs_tol=1e-9)
        assert isclose(float(plain(pair.upper)), expected, rel_tol=1e-9, abs_tol=1e-9)
        assert answer.status is Status.EXACT or measure in {"kl", "hellinger"}
    proved(answer)


@settings(deadline=None, max_examples=25)
@given(interval_chains(cyclic=False), st.sampled_from([*sorted(PHI), "min-entropy"]), st.data())
def test_every_chain_inside_leaks_no_more(chain: IntervalChain, measure: str, data: st.DataObject) -> None:
    assume(leaves_choice(chain))
    apart, fixed = (leakage(chain, measure, nature=nature) for nature in NATURES)
    (pair,) = fixed.pairs
    assert most(fixed) <= most(apart) + 1e-12
    assert pair.upper is None or (pair.lower is not None and pair.lower <= pair.upper)
    proved(fixed)
    for _ in range(3):
        inside = leakage(data.draw(members(chain)), measure).pairs[0]
        assert pair.upper is None or (inside.lower is not None and inside.lower <= pair.upper)
    assert pair.member is not None
    rows = {name: pair.member.get(name) for name in chain.states}
    named = LMC.from_mappings(
        dict(zip(chain.states, chain.labels, strict=True)),
        {
            name: rows[name] or {chain.states[t]: low for t, low, _ in chain.rows[state]}
            for state, name in enumerate(chain.states)
        },
        [("s0", "s1")],
    )
    assert leakage(named, measure).pairs[0].lower == pair.lower


@settings(deadline=None, max_examples=20)
@given(interval_chains(cyclic=False), st.sampled_from(sorted(PHI)), st.sampled_from(NATURES))
def test_wider_intervals_leak_no_less(chain: IntervalChain, measure: str, nature: str) -> None:
    eighth = fmpq(1, 8)
    rows = tuple(
        tuple((t, max(fmpq(0), low - eighth), min(fmpq(1), high + eighth)) for t, low, high in row)
        for row in chain.rows
    )
    wider = IntervalChain(chain.states, chain.labels, rows, chain.pairs)
    assert most(leakage(chain, measure, nature=nature)) <= most(leakage(wider, measure, nature=nature)) + 1e-9


@settings(deadline=None, max_examples=15)
@given(interval_chains(), st.sampled_from(sorted(PHI)))
def test_intervals_without_choice_leak_what_the_chain_does(chain: IntervalChain, measure: str) -> None:
    first = [sorted(vertices(row))[0] for row in chain.rows]
    rough = IntervalChain(
        chain.states, chain.labels, tuple(tuple((t, p, p) for t, p in row) for row in first), chain.pairs
    )
    known = LMC(chain.states, chain.labels, tuple(first), chain.pairs)
    one, other = (json.dumps(leakage(model, measure, gap="1/100").certificate()) for model in (rough, known))
    assert one == other


@settings(deadline=None, max_examples=10)
@given(interval_chains(1), st.sampled_from(["tv", "hellinger", "bayes", "kl", "chi2"]), st.data())
def test_leakages_on_cycles_are_proved(chain: IntervalChain, measure: str, data: st.DataObject) -> None:
    answer = leakage(chain, measure, gap="1/20")
    proved(answer)
    (pair,) = answer.pairs
    inside = leakage(data.draw(members(chain)), measure, gap="1/20").pairs[0]
    assert pair.upper is None or (inside.lower is not None and inside.lower <= pair.upper)


def test_more_secrets_than_worlds_are_refused() -> None:
    chain = IntervalChain.from_mappings(
        {"s": "a", "t": "a", "u": "a", "y": "y", "n": "n"},
        {
            "s": {"y": ["1/2", "3/4"], "n": ["1/4", "1/2"]},
            "t": {"y": ["1/4", "1/2"], "n": ["1/2", "3/4"]},
            "u": {"n": 1},
            "y": {"y": 1},
            "n": {"n": 1},
        },
    )
    with pytest.raises(UsageError, match="3 secrets are as many worlds"):
        leakage(chain, "bayes", secrets=["s", "t", "u"])
    answer = leakage(chain, "bayes", secrets=["s", "t", "u"], nature="fixed")
    assert (answer.pairs[0].lower, answer.pairs[0].upper) == (fmpq(7, 12), fmpq(7, 12))
    proved(answer)
    same = leakage(chain, "bayes", secrets=["s", "t"], gains=None).pairs[0]
    assert same.upper == fmpq(3, 4)
