"""Short documents that ask for much, and honest ones with long numbers."""

from __future__ import annotations

import hashlib
import json
import time
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from flint import fmpq

from bisimdist.automata.generalised.ask import generalised_metric
from bisimdist.automata.metric.ask import metric
from bisimdist.checker import MalformedCertificate, check_certificate, verdict
from bisimdist.checker.__main__ import main
from bisimdist.checker.core import bernstein, polynomials, reading
from bisimdist.checker.core.automaton import read_automaton
from bisimdist.logic.satisfaction.ask import satisfying
from bisimdist.models.pa import PA, Transition
from tests.checker.corpus import FOLDER
from tests.speed import leeway

Document = dict[str, Any]


def document(name: str) -> Document:
    result: Document = json.loads((FOLDER / "correct" / f"{name}.json").read_bytes())
    return result


def about(document: Document) -> str:
    """Write a document about its model as it was changed."""
    text = json.dumps(document["model"], sort_keys=True, separators=(",", ":"))
    return json.dumps(document | {"digest": "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()})


def parametric(**changes: object) -> str:
    result = document("hmm-parametric/hmm-parametric")
    result["claims"][0]["length"] = changes.pop("length", "1")
    result["model"] |= changes
    return about(result)


LOOPS = {"s": {"s": "1"}, "t": {"t": "1"}}
THREE = {name: ["0", "1"] for name in "pqr"}
POWER = "(1+p+q+r)^100/4^100"


def pumped(symbols: int) -> str:
    result = document("hmm-no-budget/hmm-no-budget")
    emissions = {"s": {"x": "1234567/9999999", "y": "8765432/9999999"}, "t": {"x": "1/3", "y": "2/3"}}
    result["model"] |= {"states": emissions, "transitions": LOOPS}
    result["pump"] |= {"prefix": ["x"], "cycle": ["x"] * symbols, "suffix": []}
    result["pump"] |= {"below": {"s": "1234567/9999999"}, "above": {"t": "1/3"}, "counting": ["t"]}
    result["pump"] |= {"fast": "1", "slow": "0"}
    return about(result)


@pytest.mark.parametrize(
    "text",
    [
        parametric(length="100000", transitions=LOOPS),
        parametric(
            parameters=THREE, distributions={"pi": {"s": POWER, "t": f"1-{POWER}"}, "tau": {"t": "1"}}
        ),
        parametric(distributions={"pi": {"s": "((((1+p)^200)^200)^200)^200"}, "tau": {"t": "1"}}),
        parametric(distributions={"pi": {"s": "(((2^200)^200)^200)^200"}, "tau": {"t": "1"}}),
        json.dumps(
            document("mechanism-budget/mechanism-geometric")
            | {"mechanism": {"kind": "geometric", "levels": "300", "noise": "1/0x" + "f" * 3000}}
        ),
    ],
    ids=["length", "power", "tower", "number", "mechanism"],
)
def test_more_work_than_the_limit_is_malformed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(text) < 10_000
    monkeypatch.setattr(reading, "MAX_WORK", reading.MAX_WORK // 100)
    with pytest.raises(MalformedCertificate, match="more work than a certificate may"):
        check_certificate(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            parametric(length="1000000000", transitions=LOOPS),
            "is 1000000000; expected 1 to 100000",
        ),
        (parametric(distributions={"pi": {"s": "((1+p^9+1/3*p^90)^9)^250"}, "tau": {"t": "1"}}), "more work"),
        (parametric(distributions={"pi": {"s": "1/(((1+p)^99)^99)^99"}, "tau": {"t": "1"}}), "more work"),
        (parametric(distributions={"pi": {"s": "((3^200)^200)^200"}, "tau": {"t": "1"}}), "more work"),
    ],
    ids=["length", "many terms", "denominator", "long"],
)
def test_what_cannot_be_afforded_is_not_begun(text: str, words: str) -> None:
    begun = time.process_time()
    with pytest.raises(MalformedCertificate, match=words):
        check_certificate(text)
    assert time.process_time() - begun < 2 * leeway()


def rounds(number: int) -> str:
    result = document("rounds/delta-rounds")
    result["reduced"][0]["steps"][0]["rounds"] = number
    return json.dumps(result)


def distinct(length: str) -> str:
    result = document("hmm-parametric/tight")
    result["claims"][0]["length"] = length
    return json.dumps(result)


def refined(states: int, alpha: str) -> str:
    """Speak of one pair of a class of many, so that there is a shortcut."""
    result = document("at-two")
    labels = {f"a{k}": "a" for k in range(states)} | {"v": "b", "w": "c"}
    half = {"v": "1/2", "w": "1/2"}
    rows = {name: half if label == "a" else {name: "1"} for name, label in labels.items()}
    result["model"] |= {"states": labels, "transitions": rows}
    lower = {"pair": ["a0", "a2"], "value": "1/2", "witness": {"a0": "1/2"}}
    claim = {"from": "a0", "to": "a1", "upper": "1"}
    result |= {"alpha": alpha, "claims": [claim], "upper": {"pairs": []}, "lower": {"pairs": [lower]}}
    return about(result)


@pytest.mark.parametrize(
    "text",
    [
        parametric(length="100000", transitions=LOOPS),
        distinct("300"),
        rounds(99_999),
        refined(100, "0x1" + "0" * 5000),
    ],
    ids=["length", "distinct masses", "rounds", "powers of alpha"],
)
def test_a_short_document_takes_seconds(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LEAST_WORK", reading.LEAST_WORK // 10)
    begun = time.process_time()
    with pytest.raises(MalformedCertificate, match="more work than a certificate may"):
        check_certificate(text)
    assert time.process_time() - begun < 2 * leeway()


def given_up(count: int) -> str:
    """Give up masses at one state that have no factor in common."""
    result = document("at-two")
    parts = [["s", f"1/0x{(1 << 1200) + 2 * k + 1:x}"] for k in range(count)]
    empty: Document = {"moves": [], "given_up": []}
    entry = {"pair": ["s", "t"], "value": "1", "forward": {**empty, "given_up": parts}, "backward": empty}
    return json.dumps(result | {"upper": {"pairs": [entry]}})


def above(states: int, unit: int = 10**15) -> str:
    """Refer from state to state, so that every potential is longer by an alpha."""
    result = document("at-two")
    named = [f"w{k}" for k in range(states)]
    result["model"]["states"] |= dict.fromkeys(named, "w")
    result["model"]["transitions"] |= {name: {name: "1"} for name in named}
    witness: dict[str, object] = {named[0]: "0"}
    witness |= {name: ["above", before] for before, name in pairwise(named)}
    entry = {"pair": ["s", "t"], "value": "1/2", "witness": witness}
    return about(result | {"alpha": f"{unit + 1}/{unit}", "lower": {"pairs": [entry]}})


def path(states: int) -> str:
    """Follow states that are told apart one after the other."""
    result = document("trace-metric/additive-visible-end")
    named = [f"w{k}" for k in range(states)]
    result["model"]["states"] += named
    result["model"]["transitions"] += [
        {"from": one, "action": "w", "to": {other: "1"}} for one, other in pairwise(named)
    ]
    return json.dumps(result | {"digest": read_automaton(result["model"]).digest()})


@pytest.mark.parametrize("text", [given_up(200), above(400), path(400)], ids=["sum", "potentials", "path"])
def test_work_of_all_kinds_is_counted(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LEAST_WORK", 10**7)
    monkeypatch.setattr(reading, "WORK_OF_A_BYTE", 0)
    monkeypatch.setattr(reading, "WORK_OF_EVERY_BYTE", 0)
    with pytest.raises(MalformedCertificate, match="more work than a certificate may"):
        check_certificate(text)


def test_a_potential_of_nothing_is_compared_over_a_long_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    text = above(60, 10**300)
    for name, value in {"LEAST_WORK": 4 * 10**8, "WORK_OF_A_BYTE": 0, "WORK_OF_EVERY_BYTE": 0}.items():
        monkeypatch.setattr(reading, name, value)
    with pytest.raises(MalformedCertificate, match="more work than a certificate may"):
        check_certificate(text)


def test_a_class_of_thousands_takes_little() -> None:
    begun = time.process_time()
    assert "L6" in check_certificate(refined(3000, "3/2")).reason
    assert time.process_time() - begun < 2 * leeway()


def test_arithmetic_stays_counted() -> None:
    one = reading.Counted(3, 7)
    made = (one + 1, 1 + one, 1 - one, one * one, Fraction(2) / one, -one, abs(-one), one**3, sum([one, one]))
    assert all(type(number) is reading.Counted for number in made)
    assert list(map(str, made)) == ["10/7", "10/7", "4/7", "9/49", "14/3", "-3/7", "3/7", "27/343", "6/7"]
    assert one.__add__("x") is NotImplemented  # type: ignore[operator]


def test_a_long_document_may_ask_for_more() -> None:
    allowed = []
    for size in (0, 10_000, 10**6, 10**9):
        with reading.limited(size):
            left = reading._left.get()
            assert left is not None
            allowed.append(tuple(left))
    assert allowed == [
        (4 * 10**9, 2**30),
        (45 * 10**8, 2**30 + 10**7),
        (3 * 10**10, 2**30 + 10**9),
        (2 * 10**13, 2**30 + 10**12),
    ]


def test_a_table_without_a_denominator_has_no_more_than_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three values over 8, which has four bits; then three potentials over 4 at most."""
    text = json.dumps(document("beside"))
    monkeypatch.setattr(reading, "HELD_FOR_A_BYTE", 0)
    monkeypatch.setattr(reading, "LEAST_HELD", 18)
    assert check_certificate(text).valid
    monkeypatch.setattr(reading, "LEAST_HELD", 17)
    with pytest.raises(MalformedCertificate, match="more memory than a certificate may"):
        check_certificate(text)


def test_a_length_that_is_too_long_to_write_down_is_malformed() -> None:
    with pytest.raises(MalformedCertificate, match="expected 1 to 100000"):
        check_certificate(parametric(length="0x" + "f" * 7000))


@pytest.mark.parametrize(
    ("base", "exponent", "terms"), [("1/3+p+p^9", 60, 513), ("1-2*p*q", 40, 41), ("0", 9, 0), ("3/7", 256, 1)]
)
def test_what_a_power_costs_is_known_before(base: str, exponent: int, terms: int) -> None:
    names = ["p", "q"]
    known = polynomials._power_work(polynomials.read_quotient(base, names, "")[0], exponent)
    with reading.limited(0):
        power, _ = polynomials.read_quotient(f"({base})^{exponent}", names, "")
        left = reading._left.get()
    assert left is not None
    spent = reading.LEAST_WORK - left[0]
    assert len(power) == terms
    ones = exponent * reading.fraction_work(2)  # for the denominator
    assert known <= 1.8 * spent
    assert spent - ones <= 1.1 * known + 10**6


def test_a_long_word_is_followed_in_integers() -> None:
    """Each symbol makes the masses 23 bits longer; in lowest terms at each step this takes minutes."""
    report = check_certificate(pumped(4000))
    assert "U4" in report.reason


def test_the_limit_is_one_for_all_parts_of_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    several = document("hmm-several/hmm-several")
    monkeypatch.setattr(reading, "MAX_WORK", 10**7)
    monkeypatch.setattr(reading, "WORK_OF_EVERY_BYTE", 0)
    assert check_certificate(json.dumps(several)).valid
    several["parts"] *= 100
    with pytest.raises(MalformedCertificate, match="more work"):
        check_certificate(json.dumps(several))
    assert check_certificate(json.dumps(document("hmm-several/hmm-several"))).valid


def long_automaton() -> PA:
    """Return an automaton whose probabilities have 2,200 digits, and their quotients 4,300."""
    thirds = fmpq(7**2600, 3 * 7**2600 + 1), fmpq(10**2149 - 1, 3 * 10**2149)
    rows = [((2, third), (3, 1 - third)) for third in thirds]
    steps = [(0, "a", rows[0]), (1, "a", rows[1]), (2, "b", rows[0]), (3, "c", ((3, fmpq(1)),))]
    return PA(("s", "t", "u", "v"), tuple(Transition(*step) for step in steps), pairs=((0, 1),))


@pytest.mark.parametrize("kind", ["accumulative", "amortised", "multiplicative", "additive"])
def test_honest_long_numbers_are_read(kind: str) -> None:
    """Quotients of probabilities of 2,200 digits are longer than an interpreter turns into text."""
    ask: Any = generalised_metric if kind in ("multiplicative", "additive") else metric
    text = json.dumps(ask(long_automaton(), kind).certificate())
    report = check_certificate(text, json.dumps(long_automaton().canonical()))
    assert report.valid, report.reason
    assert report.plain_claims()


def test_a_recursive_formula_may_have_an_equation_that_is_not_used() -> None:
    answer = satisfying(long_automaton(), "rec X = <b>X; Y = T in X")
    assert check_certificate(json.dumps(answer.certificate())).valid


@pytest.mark.parametrize("error", [IndexError("x"), MemoryError(), KeyboardInterrupt(), RecursionError()])
def test_a_fault_of_the_checker_is_no_verdict(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(verdict, "_check", failing)
    path = str(FOLDER / "correct" / "figure1-alpha-one.json")
    assert main([path]) == (2 if isinstance(error, RecursionError) else 3)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


class _Owner:
    """What holds no memory of its own."""


def test_memory_is_counted_as_long_as_its_owner_lives() -> None:
    owner = _Owner()
    reading.hold_for(owner, 2 * reading.LONG)  # where nothing is counted, nothing is taken
    with reading.limited(0):
        left = reading.remaining()
        assert left is not None
        before = left[1]
        reading.hold_for(owner, reading.LONG)
        assert left[1] == before
        reading.hold_for(owner, reading.LONG + 1)
        assert left[1] == before - reading.LONG - 1
        del owner
        assert left[1] == before


@pytest.mark.parametrize("over", [0, 1])
def test_long_numbers_take_memory_and_short_ones_none(over: int) -> None:
    half = reading.LONG // 2
    with reading.limited(0):
        left = reading.remaining()
        assert left is not None
        before = left[1]
        number = reading.Counted(Fraction(1 << half - 1, (1 << half + over) - 1)) * 1
        assert before - left[1] == over * (reading.LONG + 1)
        power = reading.Counted(2) ** (half + over)
        assert before - left[1] == over * (reading.LONG + 1 + 2 * (reading.LONG + 2))
        del number, power
        assert left[1] == before


def test_bernstein_coefficients_take_memory_as_long_as_they_live() -> None:
    with reading.limited(0):
        left = reading.remaining()
        assert left is not None
        before = left[1]
        entries = [Fraction(-(1 << reading.LONG - 1)), Fraction(1)]
        coefficients = bernstein.Bernstein((2,), entries)
        assert before - left[1] == 2 * (reading.ENTRY + 2 * reading.LONG)
        del coefficients
        assert left[1] == before
