"""A crowd and a file in chunks, as chains of numbers and with parameters."""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.library.networks import crowd, retransmission
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.lmc import LMC
from bisimdist.models.parametric import ParametricChain
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.synthesise.ask import delta_for_all, delta_over, synthesise


@pytest.mark.parametrize(("members", "corrupt"), [(3, 1), (5, 2), (7, 1)])
def test_who_is_seen_in_a_crowd_solves_the_equations_of_its_steps(members: int, corrupt: int) -> None:
    forward = fmpq(2, 3)
    chain = crowd(members, corrupt, forward)
    assert isinstance(chain, LMC)
    honest = range(members - corrupt)
    seen = [{chain.states[t]: p for t, p in chain.rows[i]} for i in honest]
    for i in honest:
        for j in honest:
            later = sum((seen[k][f"seen{j}"] for k in honest), fmpq(0))
            own = fmpq(corrupt, members) if i == j else 0
            assert seen[i][f"seen{j}"] == own + forward / members * later


def test_a_parameter_stands_for_the_number() -> None:
    for build in (crowd, retransmission):
        model = build(3, 1, "q")
        assert isinstance(model, ParametricChain)
        assert model.at({"q": "1/3"}) == build(3, 1, "1/3")
    assert build_any_example("crowd,members=3,forward=1/3") == crowd(3, 1, "1/3")
    with pytest.raises(UsageError, match="1 of 3 members are honest; expected at least two"):
        crowd(3, 2)


def test_delta_of_a_file_in_chunks() -> None:
    model = retransmission(2, 2)
    assert isinstance(model, ParametricChain)
    (pair,) = delta_over(model, 1).pairs
    for p in (fmpq(1, 5), fmpq(1, 2), fmpq(9, 10)):
        s = 1 - (1 - p) ** 3
        assert pair.pieces.at(p) == s**2 * (1 - s)
        assert delta(model.at({"p": p}), 1).pairs[0].upper == s**2 * (1 - s)
    largest = fmpq(4, 27)  # where s is 2/3
    assert delta_for_all(model, 1, largest + fmpq(1, 1000)).pairs[0].holds
    assert delta_for_all(model, 1, largest - fmpq(1, 1000)).pairs[0].holds is False


def test_how_often_a_crowd_has_to_forward() -> None:
    model = crowd(5, 1)
    assert isinstance(model, ParametricChain)
    (pair,) = synthesise(model, 2, "-p", "1/20").pairs
    assert pair.best.lower == pair.best.upper == fmpq(-15, 16)
