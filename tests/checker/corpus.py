"""The files of ``tests/certificates``: what each is, and what stands beside it.

A certificate of another kind than distances lies in a folder that has the name of the kind. ``NAME.model``
beside ``NAME.json`` is the model file that is given with it. ``NAME.compact`` is one with compact tables,
in the folder ``compact``. In ``incorrect``, a name begins with the rule
that refuses the file, and ``falsehoods.txt`` of the folder says in one line for each file what it claims
falsely.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "certificates"
OUTCOMES = {"correct": "valid", "incorrect": "not valid", "malformed": "malformed"}


@dataclass(frozen=True)
class Entry:
    """A certificate of the corpus, and the model that is given with it if there is one."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.relative_to(FOLDER).with_suffix("").as_posix()

    @property
    def expected(self) -> str:
        return OUTCOMES[self.name.partition("/")[0]]

    @property
    def rule(self) -> str:
        return self.path.stem.split("-")[0]

    def texts(self) -> tuple[bytes, ...]:
        model = self.path.with_suffix(".model")
        return (self.path.read_bytes(), *([model.read_bytes()] if model.exists() else []))


def entries(folder: str) -> list[Entry]:
    """Return all files of ``correct``, ``incorrect`` or ``malformed``, those of all kinds."""
    return [Entry(path) for path in listed(FOLDER / folder)]


def listed(folder: Path) -> list[Path]:
    """Return the certificates in a folder and below."""
    return sorted(path for path in folder.rglob("*") if path.suffix in {".json", ".compact"})


def falsehoods(folder: Path) -> Mapping[str, str]:
    """Return by file what the certificates of a folder claim falsely."""
    lines = (folder / "falsehoods.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(": ") for line in lines if line)
    return {name: text for name, _, text in pairs}
