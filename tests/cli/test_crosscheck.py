"""``bisimdist crosscheck``."""

from __future__ import annotations

import json
import re
import signal
import time
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path

import pytest
from flint import fmpq

from bisimdist.errors import Interruption
from bisimdist.faces.shown.standing import Measure, Scale
from bisimdist.privacy.crosscheck.ask import crosscheck
from bisimdist.privacy.crosscheck.measures import SOURCES, Source, Task
from tests.cli.conftest import Command
from tests.speed import leeway

VOID = {"meta", "rect", "line", "br"}


class Checker(HTMLParser):
    """Checks that tags are nested, and that nothing is loaded from anywhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {name for name, _ in attrs} & {"src", "href", "onload", "onclick"}
        assert tag not in {"script", "link", "img", "iframe"}
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read_page(path: Path) -> Checker:
    checker = Checker()
    text = path.read_text(encoding="utf-8")
    checker.feed(text)
    checker.close()
    assert not checker.open
    assert not re.search(r"url\(|@import|https?:(?!//www.w3.org/2000/svg)", text)  # a name, not an address
    return checker


def test_json(command: Command) -> None:
    ended = command("crosscheck", "example:figure1", "--alpha", "11/10", "--length", "3", "--json")
    assert ended.code == 0
    answer = json.loads(ended.out)
    assert answer["command"] == "crosscheck"
    assert answer["model"]["kind"] == "lmc"
    assert (answer["alpha"], answer["length"], answer["violated"]) == ("11/10", 3, False)
    (pair,) = answer["pairs"]
    values = {measure["name"]: measure for measure in pair["measures"]}
    assert (values["delta"]["lower"], values["delta"]["upper"]) == ("4/25", "4/25")
    assert values["bd_1"]["upper"] == "1/5"
    assert values["m_D"] == {
        "name": "m_D",
        "scale": "ratio",
        "lower": "3/2",
        "upper": "3/2",
        "exact": True,
        "epsilon": ["0.40546", "0.40547"],
    }
    assert values["smt"]["lower"] == values["smt"]["upper"] == "3/2"
    orders = {(order["smaller"], order["larger"]): order["relation"] for order in pair["order"]}
    assert orders["delta", "delta_1"] == "<"
    assert orders["m_A", "m_D"] == "="
    assert pair["left_out"]["tv_x_hidden"] == "no run ends: it is tv_x"


def test_text(command: Command) -> None:
    ended = command("crosscheck", "example:figure1", "--pair", "s0", "s1", "--pair", "s2", "s3")
    assert ended.code == 0
    assert "(s0, s1) gap: delta < delta_1 (+ 1/25)" in ended.out
    assert "(s2, s3)" in ended.out
    assert "ERROR" not in ended.out


def test_a_nondeterministic_automaton(command: Command) -> None:
    ended = command("crosscheck", "example:pin-checking", "--json")
    assert ended.code == 0
    (pair,) = json.loads(ended.out)["pairs"]
    assert {"m_A", "m_D", "not_bisimilar"} <= {measure["name"] for measure in pair["measures"]}
    assert pair["left_out"]["delta"] == "the automaton is nondeterministic"


def fake(name: str, value: fmpq) -> tuple[Source, ...]:
    """Return all sources, but one measure always says the same."""

    def run(task: Task) -> Iterator[Measure]:
        del task
        scale = Scale.RATIO if name == "m_D" else Scale.ADDITIVE
        yield Measure(name, value, value, scale=scale)

    wrong = Source((name,), lambda _: "", run)
    return tuple(wrong if source.names == (name,) else source for source in SOURCES)


@pytest.mark.parametrize(
    ("name", "value", "order"),
    [
        ("bd", fmpq(1, 100), "lbd is above bd"),
        ("m_D", fmpq(11, 10), "m_A is above m_D"),
        ("delta_1", fmpq(1, 1000), "delta is above delta_1"),
    ],
)
def test_a_planted_error_is_found(  # noqa: PLR0917
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: fmpq, order: str
) -> None:
    monkeypatch.setattr(
        "bisimdist.privacy.crosscheck.ask.crosscheck", partial(crosscheck, sources=fake(name, value))
    )
    page = tmp_path / "page.html"
    ended = command("crosscheck", "example:figure1", "--html", page)
    assert ended.code == 1
    assert f"ERROR of this program: {order}" in ended.out
    assert order in "".join(read_page(page).text)


def test_page(command: Command, tmp_path: Path) -> None:
    model, page = tmp_path / "model.json", tmp_path / "page.html"
    states = {'<b>"&': "a", "t": "a", "u": "b", "v": "c"}
    rows = {'<b>"&': {"u": "3/5", "v": "2/5"}, "t": {"u": "2/5", "v": "3/5"}, "u": {"u": 1}, "v": {"v": 1}}
    model.write_text(
        json.dumps({"kind": "lmc", "states": states, "transitions": rows, "pairs": [['<b>"&', "t"]]})
    )
    assert command("crosscheck", model, "--html", page).code == 0
    checker = read_page(page)
    assert checker.seen.count("svg") == 3
    assert "b" in checker.seen  # names of measures, not the state
    assert any('<b>"&, t' in text for text in checker.text)
    assert "prefers-color-scheme: dark" in page.read_text()
    assert any("No order is violated" in text for text in checker.text)


def test_nothing_decided(command: Command) -> None:
    ended = command("crosscheck", "example:dining-cryptographers-pa,n=3", "--timeout", "0")
    assert ended.code in {0, 3}
    assert "left out" in ended.out


def test_pairs_share_the_time(command: Command) -> None:
    pairs = [word for k in range(0, 8, 2) for word in ("--pair", f"s{k}", f"s{k + 1}")]
    command("crosscheck", "example:figure1")  # what takes time to load
    begun = time.process_time()
    ended = command("crosscheck", "example:random,states=30,successors=6", *pairs, "--timeout", "4", "--json")
    assert time.process_time() - begun < 4 + leeway()
    assert all(pair["measures"] for pair in json.loads(ended.out)["pairs"])


def test_an_interruption_prints_what_is_known(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def swallowed(_: Task) -> Iterator[Measure]:
        try:
            signal.raise_signal(signal.SIGINT)
        except Interruption:
            yield Measure("m_D", fmpq(1), fmpq(2), scale=Scale.RATIO)

    sources = (SOURCES[0], Source(("m_D",), lambda _: "", swallowed), *SOURCES[3:])
    monkeypatch.setattr("bisimdist.privacy.crosscheck.ask.crosscheck", partial(crosscheck, sources=sources))
    ended = command("crosscheck", "example:figure1")
    assert ended.code == 3
    assert "1 to 2" in ended.out
    assert "interrupted" in ended.out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("example:figure1", "--alpha", "0.5"), "alpha"),
        (("example:figure1", "--length", "0"), "length"),
        (("example:figure1", "--pair", "s0", "nowhere"), "no such state"),
        (("example:independent-disease",), "parameters"),
        (("example:figure1", "--state-limit", "0"), "--state-limit"),
        (("example:figure1", "--html", "/nowhere/at/all.html"), "--html"),
    ],
)
def test_bad_input(command: Command, arguments: tuple[str, ...], text: str) -> None:
    ended = command("crosscheck", *arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert text in ended.err
    assert len(ended.err.splitlines()) == 1


def test_no_pairs(command: Command, tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_text(json.dumps({"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": 1}}}))
    ended = command("crosscheck", model)
    assert ended.code == 2
    assert "no pairs of its own" in ended.err
    same = command("crosscheck", model, "--pair", "s", "s", "--json")
    assert same.code == 0
    (pair,) = json.loads(same.out)["pairs"]
    assert all(measure["lower"] == measure["upper"] for measure in pair["measures"])
