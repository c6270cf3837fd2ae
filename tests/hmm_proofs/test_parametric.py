from __future__ import annotations

from itertools import product

import pytest
from flint import fmpq

from bisimdist.budgets.engine.parametric import prove_for_all
from bisimdist.errors import ModelError, UsageError
from bisimdist.exact.bernstein import Sign, bernstein_coefficients
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import independent_disease, noisy_max_diseases
from bisimdist.progress import Deadline, Limits
from tests.hmm_proofs.random_models import brute_probability, random_hmm


def test_independent_disease_holds_for_every_probability() -> None:
    """Liu, Wang, Zhang: independent disease with unknown p, at the budget of the mechanism."""
    model = independent_disease()
    answer = prove_for_all(model, model.pairs[0], 2, 1)
    assert (answer.verdict, answer.ways, answer.certified) == ("holds", ("bernstein",), True)
    tight = prove_for_all(model, model.pairs[0], "199/100", 1)
    assert tight.verdict == "violated"


def test_improved_noisy_max_holds_for_all_probabilities() -> None:
    """Liu, Wang, Zhang, Noisy Max with diseases A, B, C: proved by the coefficients of one box."""
    model = noisy_max_diseases(secret="member")
    answer = prove_for_all(model, model.pairs[0], 2, 1)
    assert answer.verdict == "holds"
    assert answer.statistics == {"polynomials": 6, "boxes": 6, "coefficients": 6 * 18}
    inequalities = [p.monomials for p in answer.polynomials if p.sign is Sign.NONNEGATIVE]
    for monomials in inequalities:
        # without taking common factors out, each has the degrees (4, 2, 2)
        coefficients = bernstein_coefficients(monomials, model.box, (4, 2, 2))
        assert len(coefficients) == 45
        assert min(coefficients) >= 0


def test_contagious_disease_gives_parameters_that_violate() -> None:
    model = noisy_max_diseases(prior="contagious")
    answer = prove_for_all(model, model.pairs[0], 2, 1)
    assert answer.verdict == "violated"
    found = answer.violation
    assert found is not None
    fixed = model.at(found.parameters)
    word = tuple(model.observation(name) for name in found.word)
    one, two = (brute_probability(fixed, name, word) for name in model.pairs[0])
    assert (one, two) == found.probabilities
    assert one > 2 * two or two > 2 * one


def test_parameters_in_transitions_and_observations_are_cleared() -> None:
    model = HMM.from_mappings(
        {"s": {"x": "1/(1+p)", "y": "p/(1+p)"}, "t": {"x": "p/(1+p)", "y": "1/(1+p)"}},
        {"s": {"s": "q/(1+q)", "t": "1/(1+q)"}, "t": {"t": 1}},
        {"pi": {"s": "p/(p+q)", "t": "q/(p+q)"}, "tau": {"t": 1}},
        parameters={"p": ("1/2", 1), "q": (0, 1)},
    )
    for length in (1, 2, 3):
        answer = prove_for_all(model, ("pi", "tau"), 2**length, length)
        assert answer.verdict == "holds"
        for p, q in product(("5/8", "7/8"), ("1/8", "3/4")):
            fixed = model.at({"p": p, "q": q})
            for word in product(range(2), repeat=length):
                one, two = (brute_probability(fixed, name, word) for name in ("pi", "tau"))
                assert one <= 2**length * two
                assert two <= 2**length * one


@pytest.mark.parametrize("seed", range(12))
def test_models_without_parameters_agree_with_enumeration(seed: int) -> None:
    model = random_hmm(seed, end=0.2)
    for ratio in (fmpq(11, 10), fmpq(3, 2), fmpq(3)):
        answer = prove_for_all(model, ("pi", "tau"), ratio, 2) if any(model.rows) else None
        if answer is None:
            continue
        words = product(range(2), repeat=2)
        pairs = [[brute_probability(model, name, word) for name in ("pi", "tau")] for word in words]
        assert answer.holds == all(a <= ratio * b and b <= ratio * a for a, b in pairs)


def test_a_touching_zero_is_confirmed_by_z3_alone_and_has_no_certificate() -> None:
    """A square factor would be taken out; a sum of two squares is none."""
    touching = "((p-1/3)^2+(q-1/3)^2)/2"
    model = HMM.from_mappings(
        {"s": {"x": 1}, "t": {"y": 1}, "u": {"x": "1/2", "y": "1/2"}},
        {},
        {"pi": {"u": 1}, "tau": {"s": f"1/4+{touching}", "t": f"3/4-({touching})"}},
        parameters={"p": (0, 1), "q": (0, 1)},
    )
    answer = prove_for_all(model, ("pi", "tau"), 2, 1, max_boxes=64)
    assert answer.verdict == "holds"
    assert answer.ways == ("bernstein", "z3")
    assert not answer.certified
    assert prove_for_all(model, ("pi", "tau"), 2, 1, max_boxes=64, solver=False).verdict == "unknown"


def test_vacuous_and_senseless_questions_are_refused() -> None:
    model = independent_disease()
    with pytest.raises(UsageError, match="mean nothing"):
        prove_for_all(model, model.pairs[0], 2, 2)
    with pytest.raises(UsageError, match="at least 1"):
        prove_for_all(model, model.pairs[0], "1/2", 1)
    with pytest.raises(UsageError, match="length"):
        prove_for_all(model, model.pairs[0], 2, 0)
    with pytest.raises(ModelError):
        prove_for_all(model, ("nobody", "nothing"), 2, 1)


def test_a_limit_leaves_the_question_open() -> None:
    model = noisy_max_diseases(secret="member")
    answer = prove_for_all(model, model.pairs[0], 2, 1, limits=Limits(deadline=Deadline.after(0)))
    assert answer.holds is None
