"""Certificates as the engine writes them: accepted as they are, refused as soon as they say more."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.distances.bound.ask import bd_threshold, bound
from bisimdist.faces.written.numbers import integer_text, rational_text
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from tests.fixpoint.chains import birth_death, swap
from tests.integration.certified import all_pairs, certified, check_answer, refusal
from tests.strategies import alphas, lmcs

PRECISIONS = ["1/2", "1/100", "1e-9", "1e-14", "1e-30"]


@settings(max_examples=40)
@given(lmcs(6), alphas(), st.sampled_from([None, *PRECISIONS]))
def test_every_answer_is_proved(chain: LMC, alpha: fmpq, precision: str | None) -> None:
    """Accepted, about the model that was given, and with the very bounds of the answer."""
    answer = certified(chain, alpha, precision=precision)
    if precision is not None:
        assert all(pair.upper - pair.lower <= fmpq(*_parts(precision)) for pair in answer.pairs)


def _parts(precision: str) -> tuple[int, int]:
    if "/" in precision:
        one, other = precision.split("/")
        return int(one), int(other)
    return 1, 10 ** -int(precision.removeprefix("1e"))


@settings(max_examples=20)
@given(lmcs(5), alphas(), st.fractions(0, 1, max_denominator=7))
def test_every_threshold_is_proved(chain: LMC, alpha: fmpq, theta: Any) -> None:
    check_answer(bd_threshold(chain, alpha, chain.states[0], chain.states[-1], theta))


def rationals(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the numbers of the tables stand: values, masses, potentials."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key not in {"pair", "denominator", "stuck"}:
                yield from rationals(value, (*path, key))
    elif isinstance(node, list):
        if node and node[0] not in ("above", "below"):
            last = isinstance(node[0], str)
            for index, value in enumerate(node):
                if not last or index == len(node) - 1:
                    yield from rationals(value, (*path, index))
    elif isinstance(node, str):
        yield path


def changed(certificate: Any, path: tuple[Any, ...], step: fmpq) -> Any:
    result = copy.deepcopy(certificate)
    *way, last = path
    node = result
    for key in way:
        node = node[key]
    node[last] = rational_text(_rational(node[last]) + step)
    return result


def _rational(text: str) -> fmpq:
    above, _, below = text.partition("/")
    return fmpq(int(above, 0), int(below or "1", 0))


CASES = {
    "cryptographers": (dining_cryptographers(2, "49/100"), "5001/5000", None),
    "a swap at alpha 1": (swap(1), "1", None),
    "a swap": (swap(1), "4/3", None),
    "detours": (random_lmc(7, 3, 2, seed=158, denominator=6, acyclic=True), "4/3", None),
    "a bracket": (swap(1), "4/3", "1/1000"),
    "a walk": (birth_death(4, fmpq(1, 3)), "3/2", None),
}


@pytest.mark.parametrize(("chain", "alpha", "precision"), CASES.values(), ids=CASES.keys())
def test_a_claim_of_one_unit_more_is_refused(chain: LMC, alpha: str, precision: str | None) -> None:
    """Upper bounds one unit in the hundredth decimal lower, lower bounds one higher."""
    unit = fmpq(1, 10**100)
    certificate = bound(chain, alpha, pairs=all_pairs(chain), precision=precision).certificate()
    assert refusal(certificate) == ""
    claims = certificate["claims"]
    assert isinstance(claims, list)
    for index in range(len(claims)):
        for key, step in (("upper", -unit), ("lower", unit)):
            assert "C1" in refusal(changed(certificate, ("claims", index, key), step))


@pytest.mark.parametrize(("chain", "alpha", "precision"), CASES.values(), ids=CASES.keys())
def test_a_number_of_an_exact_proof_cannot_be_changed_to_say_more(
    chain: LMC, alpha: str, precision: str | None
) -> None:
    """Lower a value of the upper table, raise one of the lower table, or move less mass: refused."""
    certificate: Any = bound(chain, alpha, pairs=all_pairs(chain), precision=precision).certificate()
    tested = 0
    for table, step in (("upper", -1), ("lower", 1)):
        for index, entry in enumerate(certificate[table]["pairs"]):
            if precision is None and not (table == "upper" and entry["value"] == "0"):
                assert refusal(changed(certificate, (table, "pairs", index, "value"), fmpq(step)))
                tested += 1
            if table == "upper":
                for direction in ("forward", "backward"):
                    for path in rationals(entry[direction], (table, "pairs", index, direction)):
                        assert "U" in refusal(changed(certificate, path, -fmpq(1, 10**100)))
                        tested += 1
    assert tested


@pytest.mark.parametrize("part", ["upper", "lower"])
def test_an_entry_cannot_be_left_out(part: str) -> None:
    certificate: Any = bound(swap(2), "4/3", pairs=[("s0", "s1")]).certificate()
    for index in range(len(certificate[part]["pairs"])):
        less = copy.deepcopy(certificate)
        del less[part]["pairs"][index]
        assert refusal(less)


def test_a_certificate_is_about_one_model() -> None:
    certificate = json.dumps(bound(swap(2), 1, pairs=[("s0", "s1")]).certificate())
    other = json.dumps(swap(2, fmpq(1, 3)).canonical())
    assert check_certificate(certificate, json.dumps(swap(2).canonical())).valid
    assert "G2" in check_certificate(certificate, other).reason


def test_another_alpha_is_refused() -> None:
    certificate = bound(swap(2), "4/3", pairs=[("s0", "s1")]).certificate()
    assert refusal(certificate | {"alpha": "1"})


def test_a_float_is_malformed() -> None:
    certificate: Any = bound(swap(2), "4/3", pairs=[("s0", "s1")]).certificate()
    certificate["claims"][0]["upper"] = 0.5
    with pytest.raises(MalformedCertificate):
        check_certificate(json.dumps(certificate))


@pytest.mark.parametrize("digits", [59, 60, 61, 3999, 4000, 4001, 4006, 4020])
def test_numbers_of_any_length_are_read_back(digits: int) -> None:
    """Claims are decimal up to 4000 digits, hexadecimal beyond: what the checker reads."""
    first, second = fmpq(1, 10 ** (digits // 2)), fmpq(1, 10 ** (digits - 1 - digits // 2))
    chain = LMC.from_mappings(
        {"s": "a", "t": "a", "x": "b", "y": "b", "c": "c", "o": "o"},
        {
            "s": {"x": first, "o": 1 - first},
            "t": {"y": first, "o": 1 - first},
            "x": {"c": second, "o": 1 - second},
            "y": {"o": 1},
            "c": {"c": 1},
            "o": {"o": 1},
        },
    )
    (pair,) = certified(chain, 1, [("s", "t")]).pairs
    assert pair.upper == first * second == fmpq(1, 10 ** (digits - 1))


@given(st.integers(), st.sampled_from([20, 60, 4000]))
def test_an_integer_is_decimal_only_where_it_is_short(value: int, digits: int) -> None:
    text = integer_text(value, digits=digits)
    assert int(text, 0) == value
    assert "0x" in text or len(text.lstrip("-")) <= digits
