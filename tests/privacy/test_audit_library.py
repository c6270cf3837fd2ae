"""Two releases of a public library of differential privacy, audited: the earlier one divides wrongly."""

from __future__ import annotations

import inspect
import shlex
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from bisimdist import explore
from bisimdist.models.library.programs import noise
from bisimdist.privacy.audit.ask import audit, distinguisher
from bisimdist.privacy.audit.black_box import outputs_of_command

WRONG, RIGHT = "0.11.1", "0.16.0"
SAMPLES = 60_000

SAMPLER = """
import sys
sys.path.insert(0, sys.argv[1])
import opendp.prelude as dp
from opendp.measurements import make_laplace
dp.enable_features("contrib")
noisy = make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), 3.0)
for _ in range(int(sys.argv[2])):
    print(noisy(int(sys.argv[3])))
"""

DIVISION = """
from math import gcd
def divided(p, k):
    g = gcd(p.numerator, k)
    return Fraction(p.numerator // g, (p.denominator // g) * k)

"""


def installed(release: str, folder: Path) -> str:
    """Install a release of the library and return a command that prints samples."""
    target = folder / release
    words = [sys.executable, "-m", "pip", "install", "-q", "--target", str(target), f"opendp=={release}"]
    try:
        subprocess.run(words, check=True, capture_output=True, timeout=300)
    except (OSError, subprocess.SubprocessError):
        pytest.skip("the library cannot be had")
    sampler = folder / "sampler.py"
    sampler.write_text(SAMPLER)
    return shlex.join([sys.executable, str(sampler), str(target), str(SAMPLES)])


@pytest.mark.slow
def test_a_release_that_divides_wrongly_is_told_from_one_that_does_not(tmp_path: Path) -> None:
    text = inspect.getsource(noise)
    step = "rng.flip(p / k)"
    assert step in text
    text = text.replace(step, "rng.flip(divided(p, k))").replace(
        "def bernoulli_exp", DIVISION + "def bernoulli_exp"
    )
    text += "\n\ndef three(x, rng):\n    return discrete_laplace(x, rng, 3)\n"
    (tmp_path / "wrong.py").write_text(text)
    chain = explore(f"{tmp_path}/wrong.py:three", [0, 1], cut="1e-10")
    found = distinguisher(chain, epsilon="1/3")
    verdicts = {}
    for release in (WRONG, RIGHT):
        command = installed(release, tmp_path)
        samples = [list(outputs_of_command(command, str(x), SAMPLES)) for x in (0, 1)]
        seen = audit(found, *samples, claim=Fraction(0), confidence="0.999")
        verdicts[release] = seen.violated, seen.model_contradicted
    assert verdicts == {WRONG: (True, False), RIGHT: (False, True)}
