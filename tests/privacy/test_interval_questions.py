"""Profiles and comparisons of chains that are only known roughly: the worst that nature does."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.distances.bound.ask import bound
from bisimdist.faces.shown.standing import Relation
from bisimdist.models.conversions import observed_chain
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.worlds import NATURES
from bisimdist.privacy.compare.ask import compare
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.profile.ask import profile
from bisimdist.privacy.profile.threshold_search import least_alpha
from tests.privacy.test_intervals import leaves_choice, members, proved
from tests.strategies import alphas, interval_chains

RESPONDENT = IntervalChain.from_mappings(
    {"s": "ask", "t": "ask", "yes": "y", "no": "n"},
    {
        "s": {"yes": ["0.74", "0.76"], "no": ["0.24", "0.26"]},
        "t": {"yes": ["0.24", "0.26"], "no": ["0.74", "0.76"]},
        "yes": {"yes": 1},
        "no": {"no": 1},
    },
    [("s", "t")],
)


@settings(deadline=None, max_examples=15)
@given(interval_chains(1, cyclic=False), st.sampled_from(NATURES), st.data())
def test_a_profile_lies_above_those_of_all_chains_inside(
    chain: IntervalChain, nature: str, data: st.DataObject
) -> None:
    asked = ["1", "5/4", "3"]
    curve = profile(chain, alphas=asked, nature=nature)
    assert [(p.lower, p.upper) for p in curve.points] == [
        (found.lower, found.upper) for found in (delta(chain, alpha, nature=nature) for alpha in asked)
    ]
    inside = profile(data.draw(members(chain)), alphas=asked)
    assert all(mine.upper <= worst.upper for mine, worst in zip(inside.points, curve.points, strict=True))


@settings(deadline=None, max_examples=15)
@given(interval_chains(1, cyclic=False), alphas(), st.sampled_from(NATURES))
def test_measures_of_rough_chains_stand_as_they_have_to(
    chain: IntervalChain, alpha: fmpq, nature: str
) -> None:
    assume(leaves_choice(chain))
    (found,) = compare(chain, alpha, nature=nature)
    known = {measure.name: measure for measure in found.measures}
    assert known["delta"].upper == delta(chain, alpha, nature=nature).upper
    assert {(s.smaller, s.larger) for s in found.standings()} == {
        ("delta", "lbd"),
        ("lbd", "bd"),
        ("delta", "bd"),
    }
    assert all(s.relation is not Relation.VIOLATED for s in found.standings())


def test_the_least_level_of_a_rough_chain() -> None:
    found = least_alpha(RESPONDENT, "1/25")
    assert found.enough == 3 and found.above is not None and found.above < 3
    assert delta(RESPONDENT, 3).upper == fmpq(1, 25)


@pytest.mark.parametrize("name", [pytest.param("crowd", marks=pytest.mark.slow), "retransmission"])
def test_case_studies_whose_probabilities_are_known_to_a_hundredth(name: str) -> None:
    known = observed_chain(build_any_example(name))
    near = fmpq(1, 100)
    rows = tuple(
        tuple((t, max(fmpq(0), p - near), min(fmpq(1), p + near)) if p < 1 else (t, p, p) for t, p in row)
        for row in known.rows
    )
    rough = IntervalChain(known.states, known.labels, rows, known.pairs)
    exact = delta(known, "3/2").pairs[0]
    for nature in NATURES:
        answer = delta(rough, "3/2", nature=nature, gap="1/100")
        assert exact.upper < answer.pairs[0].upper <= exact.upper + fmpq(1, 10)
        proved(answer)
        assert answer.pairs[0].upper <= bound(rough, "3/2", nature=nature, precision="1e-6").pairs[0].upper
