"""The certificates in tests/certificates: a file there is a test of what its folder is called.

The name of an incorrect certificate begins with the rule that must refuse it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.faces.cli.main import run
from tests.checker.corpus import FOLDER, Entry, entries, falsehoods, listed

KINDS = sorted(path for path in (FOLDER / "incorrect").iterdir() if path.is_dir())


def test_there_are_files_of_every_kind() -> None:
    assert all(len(entries(folder)) >= 10 for folder in ("correct", "incorrect", "malformed"))


@pytest.mark.parametrize("entry", entries("correct"), ids=lambda entry: entry.name)
def test_correct(entry: Entry) -> None:
    report = check_certificate(*entry.texts())
    assert report.reason == ""
    assert report.valid
    assert report.plain_claims()


@pytest.mark.parametrize("entry", entries("incorrect"), ids=lambda entry: entry.name)
def test_incorrect(entry: Entry) -> None:
    report = check_certificate(*entry.texts())
    assert not report.valid
    assert entry.rule in report.reason.replace(":", " ").split()


@pytest.mark.parametrize("entry", entries("malformed"), ids=lambda entry: entry.name)
def test_malformed(entry: Entry) -> None:
    with pytest.raises(MalformedCertificate) as caught:
        check_certificate(*entry.texts())
    message = str(caught.value)
    assert message
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 400


@pytest.mark.parametrize("folder", KINDS, ids=lambda folder: folder.name)
def test_one_line_says_what_a_forgery_claims_falsely(folder: Path) -> None:
    said = falsehoods(folder)
    assert sorted(said) == sorted(path.stem for path in listed(folder))
    assert all(said.values())


@pytest.mark.parametrize(
    "path", sorted((FOLDER / "malformed").rglob("earlier-*")), ids=lambda path: path.stem
)
def test_a_certificate_of_an_earlier_layout_is_called_that(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(path)]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert said.err.count("\n") == 1
    assert "an earlier version wrote this certificate" in said.err
    assert "run its command with --certificate" in said.err


def test_there_are_certificates_of_earlier_layouts() -> None:
    assert len(list((FOLDER / "malformed").rglob("earlier-*"))) == 6
