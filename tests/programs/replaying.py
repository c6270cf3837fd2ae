"""What tests of replayed programs share: the exact law of a function that is written into a file."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.front import explore

UNIT = Fraction(1, 2**53)
"""What one double of `random` weighs."""


def law_of(chain: ProgramChain, name: str) -> dict[str, Fraction]:
    return {chain.labels[k]: Fraction(int(p.p), int(p.q)) for k, p in chain.rows[chain.index(name)]}


def written(tmp_path: Path, text: str) -> str:
    file = tmp_path / "program.py"
    file.write_text(text)
    return str(file)


def law(tmp_path: Path, text: str, value: Any = 0, **options: Any) -> dict[str, Fraction]:
    chain = explore(f"{written(tmp_path, text)}:f", [value], **{"replays": 100, **options})
    assert chain.origin.replayed is not None
    return law_of(chain, repr(value))
