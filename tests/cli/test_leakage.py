"""The command `leakage`."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.cli.conftest import Command

CHAIN = {
    "kind": "lmc",
    "states": {"s": "a", "t": "a", "e": "b"},
    "transitions": {"s": {"s": "1/2", "e": "1/2"}, "t": {"t": "1/3", "e": "2/3"}, "e": {"e": 1}},
    "pairs": [["s", "t"]],
}


@pytest.fixture
def chain(tmp_path: Path) -> str:
    path = tmp_path / "chain.json"
    path.write_text(json.dumps(CHAIN))
    return str(path)


def answered(command: Command, *words: str) -> list[dict[str, object]]:
    ended = command("leakage", *words, "--json")
    assert ended.code == 0
    data = json.loads(ended.out)
    assert data["command"] == "leakage"
    pairs = data["pairs"]
    assert isinstance(pairs, list)
    return pairs


def test_the_fields_of_a_pair(command: Command, chain: str) -> None:
    there, back = answered(command, chain, "--measure", "chi2", "--both")
    common = {"measure": "chi2", "exact": True}
    assert there == {**common, "from": "s", "to": "t", "lower": "1/2", "upper": "1/2"}
    assert back == {**common, "from": "t", "to": "s", "lower": "1/7", "upper": "1/7"}


def test_logarithms_have_an_enclosure(command: Command, chain: str) -> None:
    (kl,) = answered(command, chain, "--measure", "kl")
    assert kl["enclosure"] == ["0.117783035656", "0.117783035657"]
    (renyi,) = answered(command, chain, "--measure", "renyi:2")
    assert (renyi["lower"], renyi["enclosure"]) == ("3/2", ["0.405465108108", "0.405465108109"])
    (infinite,) = answered(command, chain, "--measure", "renyi:3")
    assert (infinite["lower"], infinite["upper"], infinite["exact"]) == ("inf", "inf", True)
    assert infinite["infinite"] == {"trace": ["a"], "cycle": ["a"]}


def test_secrets_with_a_prior(command: Command, chain: str, tmp_path: Path) -> None:
    (bayes,) = answered(command, chain, "--measure", "bayes")
    assert bayes["lower"] == bayes["upper"] == "7/12"
    assert bayes["prior"] == ["1/2", "1/2"]
    secrets = ("--secret", "s", "--secret", "t", "--prior", "1/3,2/3")
    (entropy,) = answered(command, chain, "--measure", "min-entropy", *secrets)
    assert (entropy["lower"], entropy["before"], entropy["secrets"]) == ("443/432", "2/3", ["s", "t"])
    table = tmp_path / "gains.yaml"
    table.write_text("s: {s: 1}\nt: {t: 1}\neither: {s: 3/5, t: 3/5}\n")
    (guessed,) = answered(command, chain, "--measure", f"g:{table}")
    # 'either' is best after a b and a a b, and s from then on: 7/20 + 17/120 + 1/8
    assert guessed["lower"] == guessed["upper"] == "37/60"


def test_a_report_for_people(command: Command, chain: str) -> None:
    ended = command("leakage", chain, "--measure", "renyi:3")
    assert "infinite for (s, t): after a the sums grow without end with every round of a." in ended.out
    assert command("leakage", "example:figure1", "--measure", "kl", "--timeout", "0").code in {0, 3}


def test_the_renyi_curve_beside_the_profile(command: Command, tmp_path: Path) -> None:
    table = tmp_path / "curve.csv"
    ask = ("profile", "example:randomised-response", "--alpha", "2", "--renyi", "2,3", "--renyi", "8")
    data = json.loads(command(*ask, "--json", "--csv", str(table)).out)
    assert [entry["order"] for entry in data["renyi"]] == [2, 3, 8]
    assert (data["renyi"][0]["upper"], data["points"][0]["renyi"]) == ("7/3", "61/243")
    assert table.read_text().splitlines()[0].endswith(",renyi,zcdp")
    assert table.read_text().splitlines()[1].split(",")[-2] == "61/243"
    assert "from Rényi" in command(*ask).out
    # the divergence of Kullback and Leibler is ln(3)/2 = 0.5493: rho is no less, and no more here
    assert data["zcdp"] == {"lower": "0.549282531751", "upper": "0.549416633933", "orders": "all"}
    assert "rho-zCDP holds with rho = 0.549416633933" in command(*ask).out
    assert Fraction(1, 4) < Fraction(data["points"][0]["zcdp"]) < Fraction(2, 5)
    command(*ask, "--renyi", "1").assert_refused("--renyi 1", "integers from 2")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), ("--measure",)),
        (("--measure", "foo"), ("foo", "no such measure")),
        (("--measure", "renyi:x"), ("renyi:x", "integer order")),
        (("--measure", "g:missing.yaml"), ("missing.yaml",)),
        (("--measure", "bayes", "--prior", "1/2,1"), ("prior", "sum to 1")),
        (("--measure", "bayes", "--secret", "s", "--secret", "u"), ("u",)),
        (("--measure", "bayes", "--secret", "s", "--pair", "s", "t"), ("--secret", "--pair")),
        (("--measure", "kl", "--secret", "s", "--secret", "t"), ("pairs of states",)),
    ],
)
def test_what_is_refused(command: Command, chain: str, words: tuple[str, ...], said: tuple[str, ...]) -> None:
    command("leakage", chain, *words).assert_refused(*said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1]", "a mapping from guesses"),
        ("{}", "no guess"),
        ("x: 1", "guess 'x'"),
        ("x: {s: one}", "guess 'x', secret 's'"),
        ("x: {s: .inf}", "guess 'x', secret 's'"),
        ("x: {u: 1}", "'u', which is no secret"),
    ],
)
def test_tables_of_gains_that_are_refused(
    command: Command, chain: str, tmp_path: Path, text: str, said: str
) -> None:
    table = tmp_path / "gains.yaml"
    table.write_text(text)
    command("leakage", chain, "--measure", f"g:{table}").assert_refused(said)


def test_an_interactive_model_needs_somebody_who_asks(command: Command, tmp_path: Path) -> None:
    ask = ("example:two-questions", "--measure", "tv")
    (fixed,) = answered(command, *ask, "--ask", "X,Y,X")
    assert fixed["upper"] == "25/64"
    event = json.loads(command("delta", ask[0], "--alpha", "1", "--rounds", "3", "--json").out)
    path = tmp_path / "strategy.json"
    path.write_text(json.dumps(event["pairs"][0]["witness"]["event"]))
    (best,) = answered(command, *ask, "--strategy", str(path))
    assert best["upper"] == event["pairs"][0]["upper"]
    command("leakage", *ask).assert_refused("interactive", "--ask", "--strategy")
    command("leakage", *ask, "--ask", "X", "--strategy", str(path)).assert_refused("--ask", "--strategy")
    command("leakage", *ask, "--ask", "X,Z").assert_refused("'Z'")
    command("leakage", "example:figure1", "--measure", "tv", "--ask", "X").assert_refused("--ask")


SCENARIO = """kind: scenario
priors:
  even: {none: 1/4, first: 1/4, second: 1/4, both: 1/4}
  rare: {none: 9/16, first: 3/16, second: 3/16, both: 1/16}
secrets: {ill: [first, both], well: [none, second]}
pairs: [[ill, well]]
query: {none: 0, first: 1, second: 1, both: 2}
mechanism:
  0: {0: 2/3, 1: 1/6, 2: 1/6}
  1: {0: 1/3, 1: 1/3, 2: 1/3}
  2: {0: 1/6, 1: 1/6, 2: 2/3}
"""


def test_renyi_pufferfish(command: Command, tmp_path: Path) -> None:
    """Rényi's divergence of what is seen given one secret and given the other, for every prior."""
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    rows = [[Fraction(x, 6) for x in row] for row in ((4, 1, 1), (2, 2, 2), (1, 1, 4))]
    found = answered(command, str(path), "--measure", "renyi:3", "--both")
    assert len(found) == 4
    for entry in found:
        prior = Fraction(1, 2) if str(entry["from"]).startswith("even") else Fraction(1, 4)
        seen = {
            "ill": [prior * rows[2][k] + (1 - prior) * rows[1][k] for k in range(3)],
            "well": [prior * rows[1][k] + (1 - prior) * rows[0][k] for k in range(3)],
        }
        p, q = (seen[str(entry[end]).split("|")[1]] for end in ("from", "to"))
        total = sum(x**3 / y**2 for x, y in zip(p, q, strict=True))
        assert entry["lower"] == entry["upper"] == str(total)
    (bayes, *_) = answered(command, str(path), "--measure", "bayes")
    assert bayes["exact"]
