"""Numbers, models, the digest, the command line, and the independence of the checker."""

from __future__ import annotations

import json
import operator
import os
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.checker import CheckReport, Claim, MalformedCertificate, check_certificate
from bisimdist.checker.__main__ import main
from bisimdist.checker.core.chain import read_chain
from bisimdist.checker.core.reading import Counted, decimal_text, integer, model_number, rational, text_of
from bisimdist.models.lmc import LMC
from tests.checker.brute import digest, random_tiny

FOLDER = Path(__file__).parent.parent / "certificates"
FIGURE1 = FOLDER / "correct" / "figure1-alpha-one.json"
MODEL = """{"kind": "lmc", "states": {"s3": "c", "s0": "a", "s1": "a", "s2": "b"}, "pairs": [["s0", "s1"]],
 "transitions": {"s0": {"s2": 0.6, "s3": "2/5"}, "s1": {"s2": "4e-1", "s3": "60/100", "s0": 0},
 "s2": {"s2": 1}, "s3": {"s3": 1.0}}}"""


@pytest.mark.parametrize(
    ("text", "value"),
    [("0", 0), ("12", 12), ("-7", -7), ("0x1f", 31), ("-0xFF", -255)],
)
def test_integers(text: str, value: int) -> None:
    assert integer(text, "n") == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "+1",
        "01",
        "-0",
        "1 ",
        " 1",
        "1\n",
        "1_0",
        "1.0",
        "1e3",
        "0x",
        "x1",
        "0X1",
        "٣",
        "9" * 4001,
        "00",
        "-0x",
        "--1",
        "-+1",
        "0x1_0",
        "0x 1",
        "\u00a01",
        "1\u200b",
        "\uff11",
        "0b1",
        "0o7",
        "0x-1",
        "²",
    ],
)
def test_what_is_no_integer(text: str) -> None:
    with pytest.raises(MalformedCertificate):
        integer(text, "n")


def test_the_longest_decimal_integer() -> None:
    assert integer("9" * 4000, "n") == 10**4000 - 1
    assert integer("0x" + "f" * 50_000, "n") == 16**50_000 - 1


def test_rationals() -> None:
    assert rational("0x10/0x20", "r") == Fraction(1, 2)
    assert rational("-3/6", "r") == Fraction(-1, 2)
    for text in (
        "1/0",
        "1/-2",
        "1/",
        "/2",
        "1/2/3",
        "1 / 2",
        "0.5",
        "1/0x0",
        "1/-0x1",
        "½",
        "1\u20442",
        "/",
        "",
    ):
        with pytest.raises(MalformedCertificate):
            rational(text, "r")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3/5", "3/5"),
        ("0.6", "3/5"),
        ("6e-1", "3/5"),
        ("1", "1"),
        (" +6.0E-01 ", "3/5"),
        ("3 / 5", "3/5"),
        ("0", "0"),
    ],
)
def test_probabilities_are_read_as_written(text: str, value: str) -> None:
    assert model_number(text, "p") == Fraction(value)


@pytest.mark.parametrize(
    "text", [".5", "1.", "1e", "nan", "1/0", "1e99999", "1e10000", "1e-9999", "0x1", "1/2/3", "1e1e1"]
)
def test_what_is_no_probability(text: str) -> None:
    with pytest.raises(MalformedCertificate):
        model_number(text, "p")


def test_numbers_are_written_back() -> None:
    assert text_of(Fraction(6, 4)) == "3/2"
    assert text_of(Fraction(-3)) == "-3"
    long = Fraction(10**5000 + 1, 10**5000)
    assert rational(text_of(long), "r") == long


@pytest.mark.parametrize("number", [0, 7, -7, 10**500 - 1, 10**500, -(10**1000), 10**1499 + 3, 7**4700])
def test_decimal_numbers_are_written_in_pieces(number: int) -> None:
    assert decimal_text(number) == str(number)
    assert integer(decimal_text(number), "n") == number


def test_a_low_limit_of_digits_changes_nothing() -> None:
    """Models, digests, claims and refusals with integers of 4000 digits, under the lowest limit there is."""
    numerator, denominator = 10**3998 + 1, 10**3999 + 7
    model = {
        "kind": "lmc",
        "states": {"s": "a", "t": "b"},
        "transitions": {
            "s": {"s": f"{numerator}/{denominator}", "t": f"{denominator - numerator}/{denominator}"},
            "t": {"t": "1"},
        },
    }
    document = {
        "format": "bisimdist-certificate",
        "version": 1,
        "model": model,
        "digest": digest(model),
        "distance": "lbd",
        "alpha": f"{denominator}/{numerator}",
        "claims": [{"from": "s", "to": "t", "upper": "1", "lower": f"{numerator}/{denominator}"}],
        "upper": {"pairs": []},
    }
    texts = [json.dumps(document), json.dumps(document | {"version": 10**3999})]
    texts.append(json.dumps(document).replace('"pairs": []', f'"pairs": [{"9" * 4000}]'))
    texts.append(json.dumps(document).replace('"lbd"', "9" * 4001))
    code = """
import json, sys
from bisimdist.checker import MalformedCertificate, check_certificate
texts = json.load(sys.stdin)
model = json.dumps(json.loads(texts[0])["model"])
for text in texts:
    try:
        report = check_certificate(text, model)
        print(report.valid, report.claims[0].as_dict()["lower"])
    except MalformedCertificate as error:
        print("malformed:", error)
"""
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(texts),
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONINTMAXSTRDIGITS": limit},
        ).stdout
        for limit in ("640", "4300", "0")
    ]
    lines = said[0].splitlines()
    assert lines[0] == f"True {numerator}/{denominator}"
    assert [line.split(":")[0] for line in lines[1:]] == ["malformed"] * 3
    assert said[0] == said[1] == said[2]


def test_the_limit_of_the_interpreter_stays_as_it_is() -> None:
    before = sys.get_int_max_str_digits()
    check_certificate((FOLDER / "correct" / "cycle-skewed-hexadecimal.json").read_bytes())
    assert sys.get_int_max_str_digits() == before


@pytest.mark.parametrize("seed", range(20))
def test_the_digest_is_that_of_the_models(seed: int) -> None:
    model = random_tiny(seed).model()
    chain = LMC.from_mappings(model["states"], model["transitions"])
    assert read_chain(model).digest() == chain.digest() == digest(model)


def test_the_digest_of_names_that_are_not_ascii() -> None:
    model: dict[str, Any] = {
        "kind": "lmc",
        "states": {'ä\n"': "ß", "\U0001f600": "", "": "a"},
        "transitions": {
            'ä\n"': {"": "0.50", "\U0001f600": "1/2"},
            "": {"": "1"},
            "\U0001f600": {"": "1", "\U0001f600": "0"},
        },
    }
    chain = LMC.from_mappings(model["states"], model["transitions"])
    assert read_chain(model).digest() == chain.digest()


def test_the_same_model_written_otherwise() -> None:
    assert check_certificate(FIGURE1.read_bytes(), MODEL).valid
    assert check_certificate(FIGURE1.read_text(), MODEL.encode()).valid


@pytest.mark.parametrize(
    ("old", "new"),
    [("0.6", "0.5"), ('"s2": "b"', '"s2": "d"'), ('"s2": "b"', '"s2": "b", "s4": "b"'), ("s2", "s5")],
)
def test_another_model(old: str, new: str) -> None:
    text = MODEL.replace(old, new).replace('"2/5"', '"1/2"' if new == "0.5" else '"2/5"')
    text = text.replace(
        '"transitions": {', '"transitions": {"s4": {"s4": 1}, ' if "s4" in new else '"transitions": {'
    )
    report = check_certificate(FIGURE1.read_bytes(), text)
    assert not report.valid
    assert report.reason.startswith("G2")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        MODEL.replace("lmc", "pa"),
        MODEL.replace("0.6", "0.60000001"),
        MODEL.replace("0.6", "NaN"),
        MODEL.replace("0.6", "1e999999999"),
        MODEL.replace("0.6", "null"),
        MODEL.replace("0.6", "-0.6"),
        MODEL.replace('"s3": "c"', '"s0": "c"'),
        MODEL.replace('"s3": "2/5"', '"s2": "2/5"'),
        MODEL.replace('"s3": "2/5"', '"s9": "2/5"'),
        MODEL.replace('"s3": "c", ', ""),
    ],
)
def test_a_model_file_that_is_none(text: str) -> None:
    with pytest.raises(MalformedCertificate, match=r"^model file: "):
        check_certificate(FIGURE1.read_bytes(), text)


def test_a_decimal_is_never_a_binary_float() -> None:
    text = (
        '{"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": 1.00000000000000000000000000001}}}'
    )
    with pytest.raises(MalformedCertificate, match="do not sum to 1"):
        check_certificate(FIGURE1.read_bytes(), text)


def test_claims_say_what_they_are_about() -> None:
    report = check_certificate(FIGURE1.read_bytes())
    fifth = Fraction(1, 5)
    assert report.claims[0] == Claim("s0", "s1", "bd", Fraction(1), fifth, fifth)
    assert report.claims[0].as_dict() == {
        "from": "s0",
        "to": "s1",
        "distance": "bd",
        "alpha": "1",
        "upper": "1/5",
        "lower": "1/5",
        "exact": True,
    }
    assert not Claim("s", "t", "bd", Fraction(2), fifth).exact
    assert "lower" not in Claim("s", "t", "bd", Fraction(2), fifth).as_dict()
    assert CheckReport(True, report.claims, digest=report.digest, model_kind="lmc") == report
    assert report.plain_claims() == tuple(claim.as_dict() for claim in report.claims)
    assert (report.kind, report.other_claims) == ("distance", ())
    assert report.digest == json.loads(FIGURE1.read_bytes())["digest"]


def test_classes_of_states_that_are_surely_told_apart() -> None:
    """Two rounds are needed: first x and y differ by label, then u and v, then s and t."""
    model = {
        "kind": "lmc",
        "states": {"s": "a", "t": "a", "u": "b", "v": "b", "x": "c", "y": "d", "r": "a"},
        "transitions": {
            "s": {"u": "1"},
            "t": {"v": "1"},
            "u": {"x": "1"},
            "v": {"y": "1"},
            "x": {"x": "1"},
            "y": {"y": "1"},
            "r": {"u": "1/2", "x": "1/2"},
        },
    }
    assert sorted(map(sorted, read_chain(model).classes())) == [["r", "s"], ["t"], ["u"], ["v"], ["x"], ["y"]]
    text = json.dumps(
        {
            "format": "bisimdist-certificate",
            "version": 1,
            "model": model,
            "digest": digest(model),
            "distance": "bd",
            "alpha": "7",
            "claims": [{"from": "s", "to": "t", "upper": "1", "lower": "1"}],
            "upper": {"pairs": []},
        }
    )
    assert check_certificate(text).valid


def test_a_text_with_a_byte_order_mark_is_malformed() -> None:
    with pytest.raises(MalformedCertificate):
        check_certificate(b"\xef\xbb\xbf" + FIGURE1.read_bytes())


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_text(MODEL)
    assert main([str(FIGURE1)]) == 0
    out = capsys.readouterr().out
    assert "proved: bd('s0', 's1') at alpha = 1 is exactly 1/5\n" in out
    assert main([str(FIGURE1), str(model)]) == 0
    assert main([str(FOLDER / "correct" / "upper-only.json")]) == 0
    assert "is at most" in capsys.readouterr().out
    assert main([str(FOLDER / "incorrect" / "G3-digest.json")]) == 1
    out = capsys.readouterr().out
    assert "not valid: G3" in out
    assert "not proved" in out
    for bad in (
        [],
        ["a", "b", "c"],
        [str(tmp_path)],
        ["nowhere.json"],
        [str(FOLDER / "malformed" / "binary.json")],
    ):
        assert main(bad) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1


def test_importing_the_checker_loads_nothing_else_of_ours_and_no_other_package() -> None:
    code = (
        "import sys; before = set(sys.modules); import bisimdist.checker, bisimdist.checker.__main__; "
        "print('\\n'.join(sorted(set(sys.modules) - before)))"
    )
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("COV_", "COVERAGE"))
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    )
    loaded = done.stdout.split()
    ours = {name for name in loaded if name.split(".")[0] == "bisimdist"}
    assert ours == {"bisimdist"} | {name for name in ours if name.split(".")[:2] == ["bisimdist", "checker"]}
    assert {name.split(".")[0] for name in loaded} <= set(sys.stdlib_module_names) | {"bisimdist"}


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a file without end")
def test_a_file_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("bisimdist.checker.__main__.MAX_MEBIBYTES", 2)
    for arguments in (["/dev/zero"], [str(FIGURE1), "/dev/zero"]):
        assert main(arguments) == 2
        assert capsys.readouterr() == ("", "/dev/zero: the file is larger than the 2 MiB allowed\n")
    file = tmp_path / "certificate.json"
    for spaces, code in ((2 << 20, 0), ((2 << 20) + 1, 2)):
        file.write_bytes(FIGURE1.read_bytes().rstrip().ljust(spaces))
        assert main([str(file)]) == code


def test_the_checker_as_a_module() -> None:
    command = [sys.executable, "-m", "bisimdist.checker"]
    done = subprocess.run([*command, str(FIGURE1)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    bad = subprocess.run(
        [*command, str(FOLDER / "malformed" / "nested.json")], capture_output=True, text=True, check=False
    )
    assert bad.returncode == 2
    assert bad.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("redirection", "name", "code"),
    [
        (">&-", FIGURE1, 3),
        (">/dev/full", FIGURE1, 3),
        (">&- 2>&-", FIGURE1, 3),
        ("2>&-", FOLDER / "malformed" / "nested.json", 3),
        ("2>/dev/full", FOLDER / "malformed" / "nested.json", 3),
        ("2>&-", FIGURE1, 0),
    ],
)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_what_cannot_be_printed_is_no_verdict(redirection: str, name: Path, code: int) -> None:
    line = f'"$0" -m bisimdist.checker "$1" {redirection}'
    done = subprocess.run(
        ["/bin/sh", "-c", line, sys.executable, str(name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, "")


def test_a_model_in_yaml_is_told_from_one_that_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    proof = FOLDER / "correct" / "bracket-strict.json"
    for name, said in (("m.yaml", True), ("m.YML", True), ("m.json", False)):
        (tmp_path / name).write_text("kind: lmc\n")
        assert main([str(proof), str(tmp_path / name)]) == 2
        assert (f"bisimdist show {tmp_path / name} -o model.json" in capsys.readouterr().err) is said


@given(st.fractions(), st.fractions())
def test_numbers_that_count_themselves_are_fractions(one: Fraction, other: Fraction) -> None:
    names = ["add", "sub", "mul", "lt", "le", "gt", "ge", "eq", *(["truediv"] if other else [])]
    firsts: list[Fraction | int] = [one, Counted(one), 3]
    seconds: list[Fraction | int] = [other, Counted(other), 7]
    for first, second in product(firsts, seconds):
        if Counted not in {type(first), type(second)}:
            continue
        for work in (getattr(operator, name) for name in names):
            found, wanted = work(first, second), work(Fraction(first), Fraction(second))
            assert found == wanted
            assert hash(found) == hash(wanted)
            assert str(found) == str(wanted)
            assert type(found) is (bool if isinstance(wanted, bool) else Counted)
    assert (-Counted(one), abs(Counted(one)), Counted(one) ** 3) == (-one, abs(one), one**3)
