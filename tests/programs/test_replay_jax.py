"""Floats of 32 bits from jax.random: all values of a draw, by the functions of the library themselves."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from bisimdist.errors import ModelError
from bisimdist.faces.cli.main import run
from tests.programs.replaying import law, written

pytestmark = pytest.mark.extra("jax")

HEAD = "import secrets\nimport jax\n"
KEY = "jax.random.key(secrets.randbits(32))"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_normal_value_in_32_bits_is_an_exact_rational(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{HEAD}def f(x):\n    return x + jax.random.normal({KEY})\n"
    program = ["program", f"{written(tmp_path, text)}:f", "--input", "0", "--input", "1"]
    assert run([*program, "--alpha", "27183/10000", "--json"]) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    assert pair["lower"] == pair["upper"] == "3729097/4194304"


def test_the_values_are_those_of_the_library_for_its_own_keys() -> None:
    import jax  # noqa: PLC0415 - an extra
    import numpy as np  # noqa: PLC0415

    from bisimdist.programs.replay.jax_sources import SAMPLED, _maker  # noqa: PLC0415

    for name in SAMPLED:
        function = getattr(jax.random, name)
        make = _maker(name, function, ())
        for seed in range(10):
            key = jax.random.key(seed)
            bits = int(jax.random.bits(key, (), dtype=np.uint32)) >> 9
            place = (1 << 23) - 1 - bits if name == "laplace" else bits  # it falls where the bits grow
            assert np.float32(function(key)) == make(place)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return jax.random.normal(jax.random.key(0)) < 0", "a seed is fixed"),
        ("return jax.random.normal(FIXED) < 0", "a seed is fixed"),
        ("return jax.random.normal(jax.random.key(secrets.randbits(8))) < 0", "a seed is fixed"),
        (f"key = {KEY}\n    return jax.random.normal(key) < jax.random.normal(key)", "used twice"),
        (f"return jax.random.gamma({KEY}, 1.0) < 0", "not followed"),
    ],
)
def test_what_is_not_uniform_is_refused(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        law(tmp_path, f"{HEAD}FIXED = jax.random.key(5)\ndef f(x):\n    {body}\n")


def test_keys_that_are_split_are_independent(tmp_path: Path) -> None:
    text = (
        f"{HEAD}def f(x):\n    one, two = jax.random.split({KEY})\n"
        "    return [bool(jax.random.uniform(key) < 0.25) for key in (one, two)]\n"
    )
    found = law(tmp_path, text)
    assert found["[True, True]"] == Fraction(1, 16)
