"""The traces that tell all classes apart, found at once, are those that each pair has by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings

from bisimdist.checker import check_certificate
from bisimdist.errors import UsageError
from bisimdist.faces.shown.streams import json_parts
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import Deadline
from bisimdist.traces.classes.apart import Apart, told_apart
from bisimdist.traces.classes.command import Grouped
from bisimdist.traces.engine import partings
from bisimdist.traces.engine.system import WordSystem
from bisimdist.traces.equivalence.ask import trace_classes, trace_equivalence
from tests.strategies import lmcs

EXAMPLE = "random,states=12,successors=3,labels=2,seed=1"


def one_by_one(automaton: PA, classes: tuple[tuple[str, ...], ...]) -> list[dict[str, object]]:
    pairs = list(combinations((members[0] for members in classes), 2))
    return [verdict.data() for verdict in trace_equivalence(automaton, pairs).pairs] if pairs else []


def said(apart: Apart) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads("".join(apart.json()))
    return found


@settings(max_examples=25)
@given(chain=lmcs(6))
def test_they_are_those_of_each_pair(chain: LMC) -> None:
    automaton = automaton_of(chain)
    classes = trace_classes(automaton)
    apart = told_apart(automaton, classes)
    expected = one_by_one(automaton, classes)
    assert said(apart) == expected
    assert apart.status.value == "exact"
    neighbours = {(a[0], b[0]) for a, b in pairwise(classes)}
    shown = [verdict.data() for verdict in apart.neighbours()]
    assert shown == [pair for pair in expected if (pair["from"], pair["to"]) in neighbours]


@settings(max_examples=25)
@given(chain=lmcs(6))
def test_primes_that_divide_differences(chain: LMC) -> None:
    """Small ones make different things look equal; the traces are the least ones all the same."""
    automaton = automaton_of(chain)
    classes = trace_classes(automaton)

    def small(system: WordSystem) -> Iterator[int]:
        denominators = {int(p.q) for step in system.steps if step is not None for _, p in step[1]}
        primes = (p for p in range(2, 2000) if all(p % d for d in range(2, p)))
        return (p for p in primes if all(q % p for q in denominators))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partings, "primes", small)
        found = said(told_apart(automaton, classes))
    assert found == one_by_one(automaton, classes)


class _Steps(Deadline):
    """A deadline that passes when it was looked at so often."""

    left_over = 0

    def passed(self) -> bool:
        type(self).left_over -= 1
        return type(self).left_over < 0


def test_what_is_known_when_the_time_is_over() -> None:
    automaton = automaton_of(build_example(EXAMPLE))
    classes = trace_classes(automaton)
    expected = one_by_one(automaton, classes)
    lengths = set()
    for looks in range(40):
        _Steps.left_over = looks
        apart = told_apart(automaton, classes, deadline=_Steps())
        text = "".join(json_parts(Grouped(classes, apart).data()))
        found = json.loads(text)
        pairs = found["apart"]
        lengths.add(len(pairs))
        assert found["status"] == ("exact" if pairs == expected else "limit")
        if apart.partings.words:
            assert check_certificate("".join(json_parts(apart.certificate()))).valid
        else:
            with pytest.raises(UsageError, match="nothing was decided"):
                apart.certificate()
        for pair in pairs:
            assert pair["probabilities"][0] != pair["probabilities"][1]
            assert not pair["least"] or pair in expected
        if apart.partings.words:
            assert check_certificate("".join(json_parts(apart.certificate()))).valid
        else:
            with pytest.raises(UsageError, match="nothing was decided"):
                apart.certificate()
    assert {0, len(expected)} <= lengths
    assert len(lengths) > 2


def test_no_trace_is_the_least_where_primes_run_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partings, "primes", lambda chain: iter(()))
    automaton = automaton_of(build_example(EXAMPLE))
    apart = told_apart(automaton, trace_classes(automaton))
    assert (apart.status.value, said(apart)) == ("limit", [])


def test_nothing_of_many_pairs_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partings, "KEPT", 20)
    automaton = automaton_of(build_example(EXAMPLE))
    classes = trace_classes(automaton)
    apart = told_apart(automaton, classes)
    assert said(apart) == one_by_one(automaton, classes)
    assert len(apart.partings._known) * len(apart.partings.chain) <= 20 + len(apart.partings.chain)
