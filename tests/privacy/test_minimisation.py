"""Smaller chains: what is lost, held against the chain that was given."""

from __future__ import annotations

import json

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.minimise.ask import minimise
from bisimdist.errors import UsageError
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.lmc import LMC
from bisimdist.models.transform import disjoint_union
from bisimdist.privacy.delta.ask import delta
from tests.strategies import alphas, lmcs

LOSSES = st.sampled_from([fmpq(0), fmpq(1, 10), fmpq(1, 3), fmpq(1)])


@settings(deadline=None, max_examples=25)
@given(lmcs(max_states=5), LOSSES, alphas())
def test_what_is_lost_is_no_more_than_is_said(chain: LMC, most: fmpq, alpha: fmpq) -> None:
    answer = minimise(chain, most)
    assert answer.loss <= most
    assert len(answer.smaller) <= len(quotient(chain)[0])
    both = disjoint_union(chain, answer.smaller, prefixes=("a:", "b:"))
    pairs = [(f"a:{state}", f"b:{answer.classes[state]}") for state in answer.states]
    assert max(pair.upper for pair in bound(both, 1, pairs=pairs).pairs) <= answer.loss
    report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid, report.reason
    first, last = answer.states[0], answer.states[-1]
    before = delta(chain, alpha, pairs=[(first, last)], gap="1/100")
    after = delta(answer.smaller, alpha, pairs=[(answer.classes[first], answer.classes[last])], gap="1/100")
    assert before.lower <= after.upper + (1 + alpha) * answer.loss
    assert after.lower <= before.upper + (1 + alpha) * answer.loss


@settings(deadline=None, max_examples=12)
@given(lmcs(max_states=5))
def test_more_loss_merges_no_less(chain: LMC) -> None:
    sizes = [len(minimise(chain, loss).smaller) for loss in (0, "1/10", 1)]
    assert sizes[0] == len(quotient(chain)[0])
    assert sizes == sorted(sizes, reverse=True)


def test_the_two_states_of_the_first_figure() -> None:
    answer = minimise(figure1(), "1/5")
    assert (len(answer.smaller), answer.loss) == (3, fmpq(1, 5))
    assert answer.members() == {"s0": ["s0", "s1"], "s2": ["s2"], "s3": ["s3"]}
    assert answer.smaller.pairs == ((0, 0),)
    assert len(minimise(figure1(), "19/100").smaller) == 4


def test_a_loss_is_a_distance() -> None:
    with pytest.raises(UsageError, match="the loss is 2; expected a number from 0 to 1"):
        minimise(figure1(), 2)
