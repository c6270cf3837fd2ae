"""The certificates in tests/certificates: a file there is a test of what its folder is called.

The name of an incorrect certificate begins with the rule that must refuse it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bisimdist.checker import MalformedCertificate, check_certificate

FOLDER = Path(__file__).parent.parent / "certificates"


def files(kind: str) -> list[Path]:
    return sorted((FOLDER / kind).glob("*.json"))


def test_there_are_files_of_every_kind() -> None:
    assert all(len(files(kind)) >= 10 for kind in ("correct", "incorrect", "malformed"))


@pytest.mark.parametrize("path", files("correct"), ids=lambda path: path.stem)
def test_correct(path: Path) -> None:
    report = check_certificate(path.read_bytes())
    assert report.reason == ""
    assert report.valid
    assert report.claims


@pytest.mark.parametrize("path", files("incorrect"), ids=lambda path: path.stem)
def test_incorrect(path: Path) -> None:
    report = check_certificate(path.read_bytes())
    assert not report.valid
    assert path.stem.split("-")[0] in report.reason.replace(":", " ").split()


@pytest.mark.parametrize("path", files("malformed"), ids=lambda path: path.stem)
def test_malformed(path: Path) -> None:
    with pytest.raises(MalformedCertificate) as caught:
        check_certificate(path.read_bytes())
    message = str(caught.value)
    assert message
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 400
