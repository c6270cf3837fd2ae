"""What counts as one output of a program that runs as it is."""
# ruff: noqa: E501 - programs in one line each

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from bisimdist.programs.texts import labels_of
from tests.programs.replaying import UNIT, law


def test_an_exception_is_an_output(tmp_path: Path) -> None:
    found = law(tmp_path, "import math\ndef f(x, rng):\n    return int(math.log(rng.random()) / 40)\n")
    assert found == {"raise ValueError": UNIT, "0": 1 - UNIT}
    found = law(tmp_path, "import sys\ndef f(x, rng):\n    return 0 if rng.random() < 0.5 else sys.exit(3)\n")
    assert found == {"raise SystemExit": Fraction(1, 2), "0": Fraction(1, 2)}


def test_equal_outputs_are_one_unless_types_are_seen(tmp_path: Path) -> None:
    text = "import numpy as np\ndef f(x, rng):\n    u = rng.random()\n    return 0 if u < 0.25 else False if u < 0.5 else np.int64(1) if u < 0.75 else 1.0\n"
    assert law(tmp_path, text) == {"0": Fraction(1, 2), "1": Fraction(1, 2)}
    assert set(law(tmp_path, text, observe="type")) == {"0", "False", "1", "1.0"}
    alike = (
        "collections.Counter({1: 1, 0: 2}), {0: 2, 1: 1}",
        "P(1, 2), (1, 2)",
        "{0, 1}, frozenset([1, 0])",
        "range(0), range(5, 5)",
        "range(0, 5, 2), range(0, 6, 2)",
        "np.complex128(1j), 1j",
    )
    head = "import collections, numpy as np\nP = collections.namedtuple('P', 'a b')\ndef f(x, rng):\n"
    for values in alike:
        text = f"{head}    return ({values})[int(rng.random() * 2)]\n"
        assert [*law(tmp_path, text).values()] == [1], values


@pytest.mark.parametrize("bounds", ["0, 1", "0, a_max=1", "min=0, max=1", "None, 1", "max=1"])
def test_integers_of_any_size_are_clipped(tmp_path: Path, bounds: str) -> None:
    """`numpy.clip` takes them, and `numpy.maximum` does not."""
    head = "import numpy as np\ndef f(x, rng):\n    k = rng.randrange(4)\n"
    text = f"{head}    y = 2 ** (k + 62)\n    return k if np.clip(y, {bounds}) == 1 else 4\n"
    assert law(tmp_path, text) == {str(k): Fraction(1, 4) for k in range(4)}


def test_labels_share_what_is_equal() -> None:
    labels = labels_of(
        [
            ("True", "1"),
            ("1", "1"),
            ("False", "0"),
            ("raise E(1)", "raise E(1)"),
            ("raise E(2)", "raise E(2)"),
        ]
    )
    assert [*labels.values()] == ["1", "1", "False", "raise E(1)", "raise E(2)"]
