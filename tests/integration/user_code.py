"""What somebody writes who embeds the package: it runs, and passes ``mypy --strict`` outside this tree."""
# ruff: noqa: SIM300, T201

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import bisimdist
from bisimdist import LMC
from bisimdist.exact import Exact
from bisimdist.faces import PairBound
from bisimdist.privacy import DeltaAnswer

LIMIT = Fraction(1, 20)


def leaking(model: LMC, alpha: Fraction) -> dict[str, Fraction]:
    """Return the pairs above the limit, with their bounds as Python's own numbers."""
    answer = bisimdist.bound(model, alpha)
    return {f"{p.source}, {p.target}": Fraction(p.upper) for p in answer.pairs if p.upper > LIMIT}


def worst(pairs: Sequence[PairBound]) -> Exact:
    return max(pair.upper for pair in pairs)


def compare(pair: PairBound) -> list[bool]:
    bound = pair.upper
    one: int = bound.denominator // bound.denominator
    return [
        bound <= LIMIT,
        bound < one,
        bound >= Decimal("0.1"),
        bound == Fraction(1, 5),
        LIMIT <= bound,
        Decimal(1) > bound,
        0 < bound,
    ]


def sums(answer: DeltaAnswer) -> Fraction:
    total = Exact(0)
    for pair in answer.pairs:
        total += pair.upper
    half = total / 2 + Fraction(1, 2) - 1 * total
    print(f"{half:.3f}", float(half), round(float(half), 2), int(half // 1))
    return Fraction(half)


def store(answer: DeltaAnswer, path: Path) -> object:
    path.write_text(answer.to_json(), encoding="utf-8")
    return json.loads(path.read_text(encoding="utf-8"))["pairs"]


def whole(path: Path) -> None:
    chain = bisimdist.load_model(path, kind=LMC)
    distances = bisimdist.bound(chain, "5/4", progress=told, deadline=bisimdist.Deadline.after(60))
    print(leaking(chain, Fraction(5, 4)), worst(distances.pairs), compare(distances.pairs[0]))
    answer = bisimdist.delta(chain, epsilon="1/4")
    print(answer.status.value, sums(answer), answer.worst.lower < answer.worst.upper)
    curve = bisimdist.profile(chain, points=3)
    print([(Fraction(point.alpha), point.upper - point.lower) for point in curve.points])
    print(Fraction(bisimdist.exact.alpha_below("1/2")) < 2, store(answer, path.with_suffix(".answer.json")))
    leak = bisimdist.leakage(chain, "kl").pairs[0]
    print(leak.upper is None or leak.upper < 1)


def told(stage: str, done: int, total: int | None) -> None:
    print(stage, done, total)


if __name__ == "__main__":
    whole(Path("model.yaml"))
