"""Certificates about programs, and forgeries of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

from bisimdist import LMC, check_certificate, delta, explore, parse_model, write_model
from bisimdist.errors import UsageError
from bisimdist.models import quotient
from bisimdist.models.conversions import lmc_as_hmm
from bisimdist.models.pa import chain_as_automaton
from bisimdist.programs.chain import ProgramChain
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

Document = dict[str, Any]


def geometric(x: int, rng: Any) -> int:
    while rng.randrange(3):
        x += 1
    return x


def coin(x: int, rng: Any) -> int:
    return x + int(rng.randrange(2))


def document(cut: str | None = "1/1000", alpha: int = 2) -> Document:
    chain = explore(geometric, [0, 1], cut=cut) if cut else explore(start=[0], step=lambda n: None, label=str)
    return delta(chain, alpha).certificate()


def valid(forged: Document) -> bool:
    return check_certificate(json.dumps(forged)).valid


def test_a_cut_program_is_proved() -> None:
    found = check_certificate(json.dumps(document()))
    assert found.valid
    assert found.kind == "delta"
    claim = found.plain_claims()[0]
    # P(0 + k) = (1/3) (2/3)^k against the same shifted by one: all that is gained at alpha 2 is gained at 0
    assert Fraction(str(claim["lower"])) <= Fraction(1, 3) <= Fraction(str(claim["upper"]))
    assert Fraction(str(claim["upper"])) - Fraction(str(claim["lower"])) < Fraction(1, 100)


def test_the_interval_contains_delta_whatever_the_cut() -> None:
    for cut in ("1/10", "1/100", "1/100000"):
        for alpha in (1, 2, 3):
            pair = delta(explore(geometric, [0, 1], cut=cut), alpha).pairs[0]
            assert pair.lower <= fmpq(1, 3) <= pair.upper
            assert pair.cut is not None
            # from 0 one draw more is followed: the states of the run from 1 are reached a draw later
            assert pair.cut == (fmpq(2, 3) ** (_depth(cut) + 1), fmpq(2, 3) ** _depth(cut))


def _depth(cut: str) -> int:
    """Return how many draws are followed from a start: as long as a path has at least that probability."""
    depth = 0
    while Fraction(2, 3) ** depth >= Fraction(cut):
        depth += 1
    return depth


def lower_more(d: Document) -> None:
    d["claims"][0]["lower"] = str(Fraction(d["claims"][0]["lower"]) + Fraction(1, 10**9))


def upper_less(d: Document) -> None:
    d["claims"][0]["upper"] = str(Fraction(d["claims"][0]["upper"]) - Fraction(1, 10**9))


def upper_above_one(d: Document) -> None:
    d["claims"][0]["upper"] = "2"


def lower_negative(d: Document) -> None:
    d["claims"][0]["lower"] = "-1"


def other_pair(d: Document) -> None:
    d["claims"][0]["from"] = "1"


def cut(d: Document) -> Document:
    step: Document = d["reduced"][0]["steps"][0]
    return step


def no_masses(d: Document) -> None:
    cut(d)["cut"] = {}


def less_mass(d: Document) -> None:
    cut(d)["cut"]["0"] = "0"


def mass_of_the_end(d: Document) -> None:
    cut(d)["cut"]["cut"] = "1/2"


def negative_mass(d: Document) -> None:
    cut(d)["cut"]["return 0"] = "-1"


def mass_of_nothing(d: Document) -> None:
    cut(d)["cut"]["nowhere"] = "1"


def other_digest(d: Document) -> None:
    d["digest"] = "sha256:0"


def broken_proof(d: Document) -> None:
    d["reduced"][0]["proof"]["claims"][0]["upper"] = "0"


def smaller_alpha(d: Document) -> None:
    d["reduced"][0]["proof"]["alpha"] = {"lower": "1/2", "upper": "1/2"}


FORGERIES: list[Callable[[Document], None]] = [
    lower_more,
    upper_less,
    upper_above_one,
    lower_negative,
    other_pair,
    no_masses,
    less_mass,
    mass_of_the_end,
    negative_mass,
    mass_of_nothing,
    other_digest,
    broken_proof,
    smaller_alpha,
]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__)
def test_forgeries_are_refused(forge: Callable[[Document], None]) -> None:
    forged = document()
    assert valid(forged)
    forge(forged)
    assert not valid(forged)


@pytest.mark.parametrize("key", ["claims", "digest", "model"])
def test_what_is_missing_is_malformed(key: str) -> None:
    forged = document()
    del forged[key]
    with pytest.raises(ValueError, match="certificate"):
        valid(forged)


def test_the_digest_of_the_source_is_in_the_certificate() -> None:
    sources = document()["program"]["sources"]
    assert list(sources) == ["test_certificate.py"]
    assert sources["test_certificate.py"].startswith("sha256:")


def test_other_questions_refuse_a_program_that_was_cut() -> None:
    chain = explore(geometric, [0, 1], cut="1/100")
    assert isinstance(chain, ProgramChain)
    assert isinstance(chain, LMC)
    for ask in (
        lambda: chain_as_automaton(chain),
        lambda: lmc_as_hmm(chain),
        lambda: quotient(chain),
        lambda: write_model(chain, "json"),
        lambda: write_model(chain, "yaml"),
    ):
        with pytest.raises(UsageError, match="cut off"):
            ask()


@pytest.mark.parametrize("format", ["json", "yaml"])
def test_the_digest_of_the_source_is_in_a_model_file_as_well(format: str) -> None:
    chain = explore(coin, [0, 1])
    text = write_model(chain, format)
    assert chain.origin.sources["test_certificate.py"] in text
    read = parse_model(text, format=format)
    assert isinstance(read, LMC)
    assert read.digest() == chain.digest()
    assert check_certificate(json.dumps(delta(chain, 2).certificate()), write_model(chain, "json")).valid


PROGRAMS = """
def early(x, rng):
    k = 0
    while k < 3 and rng.randrange(2):
        k += 1
    return x + k

def endless(x, rng):
    while rng.randrange(3):
        x += 1
    return x

def asked(x, rng, analyst):
    for _ in range(2):
        which = analyst.choose(["a", "b"])
        analyst.tell(x if rng.flip("3/4" if which == "a" else "5/8") else 1 - x)
"""


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("early", ("--alpha", "2")),
        ("early", ("--alpha", "2", "--observe", "draws")),
        ("endless", ("--epsilon", "1/3")),
        ("asked", ("--alpha", "2")),
    ],
)
def test_a_certificate_is_checked_against_the_program(
    name: str,
    options: tuple[str, ...],
    command: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    file, proof = tmp_path / "programs.py", str(tmp_path / "proof.json")
    file.write_text(PROGRAMS)
    ended = command(
        "delta", f"{file}:{name}", "--input", "0", "--input", "1", *options, "--certificate", proof
    )
    assert ended.code == 0
    sources = json.loads(Path(proof).read_text())["program"]["sources"]
    assert sources == {"programs.py": "sha256:" + sha256(PROGRAMS.encode()).hexdigest()}
    checked = command("check", proof, f"{file}:{name}")
    assert checked.code == 0
    assert "another one" not in checked.err
    file.write_text(PROGRAMS + "# the same\n")
    checked = command("check", proof, f"{file}:{name}")
    assert checked.code == 0
    assert "programs.py is not the file from which the certificate was made" in checked.err
    assert command("check", proof, f"{file}:{name}", "--input", "0", "--input", "2").code == 1
    file.write_text(
        PROGRAMS.replace("range(2", "range(3").replace("range(3)", "range(4)").replace("/4", "/5")
    )
    assert command("check", proof, f"{file}:{name}").code == 1


@pytest.mark.parametrize(
    "asked",
    [
        ("delta", "asked", "--alpha", "2", "--rounds", "2"),
        ("delta", "asked", "--alpha", "2", "--rounds", "2", "--fixed"),
        ("bound", "asked", "--alpha", "2"),
        ("bound", "early", "--alpha", "2"),
        ("bound", "early", "--alpha", "2", "--certificate-format", "compact"),
        ("leakage", "early", "--measure", "tv"),
        ("trace", "early"),
        ("metric", "early", "--kind", "additive"),
        ("delta", "early", "--alpha", "2", "--coins", "1/3"),
        ("bound", "early", "--alpha", "2", "--coins", "1/3", "--observe", "draws"),
    ],
)
def test_every_certificate_of_a_program_names_its_source(
    asked: tuple[str, ...],
    command: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    question, name, *options = asked
    file, proof = tmp_path / "programs.py", str(tmp_path / "proof")
    file.write_text(PROGRAMS)
    given = (f"{file}:{name}", "--input", "0", "--input", "1", *options, "--certificate", proof)
    assert command(question, *given).code == 0
    assert command("check", proof).code == 0
    again = (f"{file}:{name}", *(options[2:4] if "--coins" in options else ()))
    checked = command("check", proof, *again)
    assert checked.code == 0
    assert "another" not in checked.err
    file.write_text(PROGRAMS + "# the same\n")
    checked = command("check", proof, *again)
    assert checked.code == 0
    assert "programs.py is not the file from which the certificate was made" in checked.err


@pytest.mark.parametrize(
    ("name", "options"),
    [("early", ("--coins", "1/3")), ("endless", ("--cut", "1/1000"))],
)
def test_a_check_says_which_options_may_be_missing(
    name: str,
    options: tuple[str, ...],
    command: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    file, proof = tmp_path / "programs.py", tmp_path / "proof.json"
    file.write_text(PROGRAMS)
    asked = ("--input", "0", "--input", "1", "--alpha", "2", *options, "--certificate", str(proof))
    command("delta", f"{file}:{name}", *asked)
    checked = command("check", proof, f"{file}:{name}")
    assert checked.code == 1
    assert "give --input, --cut, --gap, --cost and --coins as they were" in checked.err
    checked = command("check", proof, f"{file}:{name}", *options)
    assert checked.code == 0
    assert "as they were" not in checked.err


def test_what_one_strategy_sees_is_proved_of_the_program_that_was_asked(
    command: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    file, proof = tmp_path / "programs.py", tmp_path / "proof.json"
    file.write_text(PROGRAMS.replace('["a", "b"]', "[(0, 1), (1, 0)]").replace('"a"', "(0, 1)"))
    given = ("--input", "0", "--input", "1", "--measure", "tv", "--certificate", proof)
    assert command("leakage", f"{file}:asked", *given, "--ask", "(0, 1),(1, 0)").code == 0
    assert json.loads(proof.read_text())["program"]["sources"].keys() == {"programs.py"}
    assert command("check", proof).code == 0
    checked = command("check", proof, f"{file}:asked")
    assert checked.code == 2
    assert "check it alone" in checked.err
