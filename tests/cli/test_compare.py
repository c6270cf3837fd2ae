"""``bisimdist compare``."""

from __future__ import annotations

import json

import pytest
from flint import fmpq

from bisimdist.exact.number import Exact
from bisimdist.faces.shown.standing import Measure
from bisimdist.privacy.compare.ask import Compared
from tests.cli.conftest import Command
from tests.privacy.test_compare import comparison

RING = "example:dining-cryptographers"


def test_json(command: Command) -> None:
    ended = command("compare", RING, "--alpha", "1.0002", "--json")
    assert ended.code == 0
    answer = json.loads(ended.out)
    assert (answer["command"], answer["alpha"], answer["violated"]) == ("compare", "5001/5000", False)
    (pair,) = answer["pairs"]
    assert [measure["name"] for measure in pair["measures"]] == [
        *("delta", "lbd_quotient", "lbd", "greatest", "bd_quotient", "bd")
    ]
    first = pair["measures"][0]
    assert (first["lower"], first["upper"], first["exact"]) == (*["17501/50000000"] * 2, True)
    assert pair["measures"][2]["directions"] == [{"lower": "1/50", "upper": "1/50"}] * 2
    order = {(said["smaller"], said["larger"]): said["relation"] for said in pair["order"]}
    assert order["lbd_quotient", "lbd"] == "<"


def test_text(command: Command) -> None:
    ended = command("compare", "example:figure1", "--alpha", "1", "--pair", "s0", "s1", "--pair", "s2", "s3")
    assert ended.code == 0
    assert "(s0, s1) 7 of 7 orders hold; 0 strict gaps." in ended.out
    assert ended.out.count("s1  delta ") == ended.out.count("s3  delta ") == 1


def test_a_limit(command: Command) -> None:
    ended = command("compare", "example:dining-cryptographers,n=8", "--alpha", "1.0002", "--timeout", "0")
    assert ended.code == 3
    assert "left out: greatest: " in ended.out


def test_a_violated_order_is_an_error_of_the_program(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    half, third = fmpq(1, 2), fmpq(1, 3)
    wrong = comparison(Measure("lbd", half, half), Measure("bd", third, third))
    monkeypatch.setattr(
        "bisimdist.privacy.compare.ask.compare",
        lambda model, alpha, **_: Compared(model=model, alpha=Exact(alpha), pairs=(wrong,)),
    )
    ended = command("compare", "example:figure1", "--alpha", "1")
    assert ended.code == 1
    assert "ERROR of this program: lbd is above bd" in ended.out
    assert json.loads(command("compare", "example:figure1", "--alpha", "1", "--json").out)["violated"] is True


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ((), "--alpha"),
        (("--alpha", "1/2"), "at least 1"),
        (("--alpha", "2", "--pair", "s0", "nobody"), "nobody"),
        (("--alpha", "2", "--gap", "2"), "--gap"),
        (("--alpha", "2", "--memory", "0"), "--memory"),
    ],
)
def test_refused(command: Command, arguments: tuple[str, ...], word: str) -> None:
    command("compare", "example:figure1", *arguments).assert_refused(word)
