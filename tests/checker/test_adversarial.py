"""Documents that try to slip something past the rules, one trick at a time."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import pytest

from bisimdist.checker import CheckReport, MalformedCertificate, check_certificate
from tests.checker.brute import Document, digest, tiny


def chain(distance: str, alpha: str = "2") -> Document:
    """Return a correct certificate: the states s and t differ in u and v, which differ in x and y."""
    return tiny(
        {"s": "a", "t": "a", "u": "b", "v": "b", "x": "c", "y": "d"},
        {
            "s": {"u": "1"},
            "t": {"v": "1"},
            "u": {"x": "1/2", "y": "1/2"},
            "v": {"x": "1/8", "y": "7/8"},
        },
        alpha,
        ordered=distance == "lbd",
    ).certificate()


BOTH = pytest.mark.parametrize("distance", ["bd", "lbd"])


def checked(document: Any) -> CheckReport:
    return check_certificate(json.dumps(document))


def claiming(document: Document, source: str, target: str, **bounds: str) -> Document:
    return document | {"claims": [{"from": source, "to": target, **bounds}]}


@BOTH
@pytest.mark.parametrize(
    ("bounds", "valid"),
    [
        ({"upper": "1", "lower": "0"}, True),
        ({"upper": "1/4", "lower": "1/4"}, True),
        ({"upper": "1/5", "lower": "1/3"}, False),
        ({"upper": "1/3", "lower": "1/2"}, False),
        ({"upper": "1", "lower": "-1"}, False),
        ({"upper": "-1"}, False),
        ({"upper": "2"}, False),
        ({"upper": "0x1" + "0" * 9000}, False),
    ],
)
def test_claims(distance: str, bounds: dict[str, str], valid: bool) -> None:
    assert checked(claiming(chain(distance), "u", "v", **bounds)).valid == valid


@BOTH
@pytest.mark.parametrize(
    ("source", "target", "truth"), [("u", "u", "0"), ("s", "u", "1"), ("x", "y", "1"), ("y", "x", "1")]
)
def test_claims_that_need_no_entry(distance: str, source: str, target: str, truth: str) -> None:
    document = chain(distance)
    assert checked(claiming(document, source, target, upper=truth, lower=truth)).valid
    wrong = {"upper": "1", "lower": "1/9"} if truth == "0" else {"upper": "8/9"}
    assert not checked(claiming(document, source, target, **wrong)).valid


@BOTH
@pytest.mark.parametrize("alpha", ["1/2", "0", "-2", "-0x2", "999999999999/1000000000000"])
def test_alpha_below_one(distance: str, alpha: str) -> None:
    report = checked(chain(distance) | {"alpha": alpha})
    assert (report.valid, report.reason[:2]) == (False, "G4")


@BOTH
@pytest.mark.parametrize("table", ["upper", "lower"])
@pytest.mark.parametrize(
    "pair", [["s", "u"], ["x", "y"], ["s", "s"], ["s", "nobody"], ["s", "S"], ["\uff53", "t"]]
)
def test_entries_for_pairs_that_have_none(distance: str, table: str, pair: list[str]) -> None:
    document = chain(distance)
    document[table]["pairs"].append(document[table]["pairs"][0] | {"pair": pair})
    report = checked(document)
    assert not report.valid
    assert f" {table[0].upper()}1" in report.reason


@BOTH
@pytest.mark.parametrize("look_alike", ["\u0455", "s\u200b", "s ", " s", "s\u0301", "\u017f", "S", ""])
def test_states_that_look_alike_are_different_states(distance: str, look_alike: str) -> None:
    document = chain(distance)
    report = checked(claiming(document, look_alike, "t", upper="1"))
    assert "no state of the model" in report.reason
    assert report.reason.isascii()
    assert report.reason.isprintable()
    model = json.dumps(document["model"] | {"states": document["model"]["states"] | {look_alike: "a"}})
    with pytest.raises(MalformedCertificate, match="do not sum to 1"):
        check_certificate(json.dumps(document), model)
    renamed = json.loads(json.dumps(document["model"]).replace('"s":', json.dumps(look_alike) + ":"))
    assert check_certificate(json.dumps(document), json.dumps(renamed)).reason.startswith("G2")


@BOTH
def test_a_model_that_is_not_the_one_of_the_digest(distance: str) -> None:
    document = chain(distance)
    for change in ({"kind": "lmc"}, {"states": document["model"]["states"] | {"s": "b", "t": "b"}}):
        mutant = copy.deepcopy(document)
        mutant["model"] |= change
        assert checked(mutant).valid == (change == {"kind": "lmc"})


@BOTH
@pytest.mark.parametrize("witness", [{}, {"x": "0"}, {"x": "0", "y": "0"}, {"x": ["above", "x"]}, {"y": "1"}])
def test_witnesses_that_prove_nothing(distance: str, witness: Document) -> None:
    document = chain(distance)
    for entry in document["lower"]["pairs"]:
        mutant = copy.deepcopy(document)
        place = next(e for e in mutant["lower"]["pairs"] if e["pair"] == entry["pair"])
        place["witness"] = witness
        report = checked(mutant)
        assert not report.valid
        assert any(rule in report.reason for rule in ("L2", "L3", "L6"))


@BOTH
@pytest.mark.parametrize(
    "rank", [10**3999, 10**4000, 0, -1, True, "1", None, 1.5, [1]], ids=lambda rank: f"{rank}"[:9]
)
def test_ranks(distance: str, rank: object) -> None:
    document = chain(distance)
    entry = next(e for e in document["lower"]["pairs"] if set(e["pair"]) == {"s", "t"})
    assert entry["rank"] == 2
    entry["rank"] = "RANK"
    text = json.dumps(document).replace('"RANK"', json.dumps(rank))
    if rank == 10**3999:
        assert check_certificate(text).valid
    else:
        with pytest.raises(MalformedCertificate):
            check_certificate(text)


@BOTH
@pytest.mark.parametrize("value", ["-1/4", "-0x1", "3/2", "0x2"])
def test_values_outside_of_the_interval(distance: str, value: str) -> None:
    for table in ("upper", "lower"):
        document = chain(distance)
        document[table]["pairs"][0]["value"] = value
        assert f"{table[0].upper()}1" in checked(document).reason


@BOTH
def test_negative_masses_and_flows_in_circles(distance: str) -> None:
    """Nothing is gained by moving masses back, by amounts of nothing, or by moves that cancel out."""
    for moves, given_up in (
        ([["u", "v", "1"], ["v", "u", "-1/2"]], []),
        ([["u", "v", "1"]], [["u", "-1/4"]]),
        ([["u", "v", "0"]], [["u", "1"]]),
        ([["u", "u", "1"]], []),
        ([["u", "v", "1/3"], ["v", "u", "1/3"], ["u", "v", "1/3"]], []),
    ):
        document = chain(distance)
        entry = next(e for e in document["upper"]["pairs"] if e["pair"] == ["s", "t"])
        entry["forward"] = {"moves": moves, "given_up": given_up}
        report = checked(document)
        assert not report.valid
        assert any(rule in report.reason for rule in ("U2", "U3"))


@pytest.mark.parametrize("place", ["model", "claims", "upper", "alpha", "digest", "distance"])
def test_a_key_that_occurs_twice(place: str) -> None:
    document = chain("lbd")
    text = json.dumps(document)
    twice = text[:-1] + f", {json.dumps(place)}: {json.dumps(document[place])}}}"
    with pytest.raises(MalformedCertificate, match="occurs twice"):
        check_certificate(twice)
    escaped = text[:-1] + f', "\\u{ord(place[0]):04x}{place[1:]}": {json.dumps(document[place])}}}'
    with pytest.raises(MalformedCertificate, match="occurs twice"):
        check_certificate(escaped)


def test_halves_of_characters_are_refused_where_no_file_could_hold_them() -> None:
    """Two halves side by side would have the digest of the whole character, but be another name."""
    whole = "\U0001f600"
    model = {"kind": "lmc", "states": {"NAME": "a"}, "transitions": {"NAME": {"NAME": "1"}}}
    document = claiming(chain("bd"), "NAME", "NAME", upper="0") | {
        "model": model,
        "digest": digest(json.loads(json.dumps(model).replace("NAME", whole))),
        "upper": {"pairs": []},
        "lower": {"pairs": []},
    }
    text = json.dumps(document)
    assert check_certificate(text.replace("NAME", whole)).valid
    assert check_certificate(text.replace("NAME", "\\ud83d\\ude00")).valid
    with pytest.raises(MalformedCertificate):
        check_certificate(text.replace("NAME", "\\ud83d\ude00"))


@BOTH
def test_a_table_over_a_common_denominator(distance: str) -> None:
    document = chain(distance)
    for table in ("upper", "lower"):
        for entry in document[table]["pairs"]:
            entry["value"] = str(Fraction(entry["value"]) * 8)
        document[table]["denominator"] = "8"
    assert checked(document).valid
    for wrong in ("0", "-8", "0x0", "1/2", "8.0", 8, None):
        document["upper"]["denominator"] = wrong
        with pytest.raises(MalformedCertificate):
            checked(document)
