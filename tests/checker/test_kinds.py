"""Certificates of other kinds: which module judges them, and what becomes of its report."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bisimdist.checker import CheckReport, MalformedCertificate, check_certificate
from bisimdist.checker.__main__ import main
from bisimdist.checker.claims import KINDS

FRAME: dict[str, Any] = {"format": "bisimdist-certificate", "version": 1, "kind": "parity"}
CLAIM = {"from": "s\n", "number": "12", "even": True}


@pytest.fixture
def parity(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Register a kind that finds even numbers valid; return the models that it is given."""
    models: list[object] = []

    def check_document(document: dict[str, object], model: object) -> CheckReport:
        models.append(model)
        number = document.get("number")
        if number == "deep":
            return check_document(document, model)
        if number == "none":
            return CheckReport(True, ())
        if not isinstance(number, str):
            raise MalformedCertificate("there is no number")
        even = int(number) % 2 == 0
        reason = "" if even else "P1: the number is odd"
        return CheckReport(even, (), reason, other_claims=(CLAIM | {"number": number},))

    monkeypatch.setitem(sys.modules, "parity_module", SimpleNamespace(check_document=check_document))
    monkeypatch.setitem(KINDS, "parity", "parity_module")
    return models


def text(**changes: object) -> str:
    return json.dumps(FRAME | changes)


def test_the_verdict_is_that_of_the_module(parity: list[object]) -> None:
    report = check_certificate(text(number="12", digest="sha256:0"))
    assert (report.valid, report.reason, report.kind, report.claims) == (True, "", "parity", ())
    assert report.other_claims == report.plain_claims() == (CLAIM,)
    assert report.digest == "sha256:0"
    report = check_certificate(text(number="13"))
    assert (report.valid, report.reason, report.digest) == (False, "P1: the number is odd", None)
    assert report.other_claims[0]["number"] == "13"
    assert parity == [None, None]


def test_the_model_is_passed_on_decoded(parity: list[object]) -> None:
    given = b'{"kind": "lmc", "states": {}, "transitions": {}, "program": [0.1, 1e-1], "$schema": "x"}'
    check_certificate(text(number="12"), given)
    assert parity == [{"kind": "lmc", "states": {}, "transitions": {}, "program": ["0.1", "1e-1"]}]
    with pytest.raises(MalformedCertificate, match="model file: the key"):
        check_certificate(text(number="12"), '{"kind": "hmm", "kind": "hmm"}')


@pytest.mark.usefixtures("parity")
@pytest.mark.parametrize("kind", ["Parity", "", " parity", None, 1, ["parity"], {"parity": 1}, True])
def test_an_unknown_kind_names_those_that_are_known(kind: object) -> None:
    with pytest.raises(MalformedCertificate, match=r"this checker knows .*parity.*distances"):
        check_certificate(text(kind=kind))


@pytest.mark.usefixtures("parity")
@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": "1"},
        {"version": True},
        {"format": "other"},
        {"number": 3},
        {"number": "none"},
        {},
    ],
)
def test_malformed(changes: dict[str, object]) -> None:
    with pytest.raises(MalformedCertificate):
        check_certificate(text(**changes))


@pytest.mark.usefixtures("parity")
def test_nesting_beyond_the_stack_is_malformed() -> None:
    with pytest.raises(MalformedCertificate, match="nested too deeply"):
        check_certificate(text(number="deep"))


@pytest.mark.usefixtures("parity")
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c.json"
    for number, code in (("12", 0), ("13", 1)):
        path.write_text(text(number=number))
        assert main([str(path)]) == code
        out = capsys.readouterr().out
        word = "not proved" if code else "proved"
        assert out.startswith(f'{word}: parity: from "s\\n", number "{number}", even true\n')
    path.write_text(text())
    assert main([str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_every_registered_module_is_there() -> None:
    for name in KINDS.values():
        assert name.startswith("bisimdist.checker.")
        assert callable(import_module(name).check_document)
