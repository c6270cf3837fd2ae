"""The proved checker as a script for browsers, in Node.js: the verdicts of the Python checker; integers."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from math import gcd, isqrt
from pathlib import Path
from typing import Any

import pytest

from tests.formal.test_proved_checker import FORMAL, compare

__all__ = ["compare"]

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")

CALCULATOR = """
const caml_jsbytes_of_string = x => x, caml_string_of_jsbytes = x => x, caml_failwith = x => { throw x; };
const caml_call_gen = null;
SOURCE
const read = text => bisimdist_of_big(BigInt(text));
const call = ([name, ...given]) => {
  const apply = eval("bisimdist_z_" + name);
  const found = apply(...given.map(x => typeof x == "string" ? read(x) : x));
  if (typeof found == "number" ? found !== (found | 0) || Object.is(found, -0)
      : found.big >= -(2n ** 31n) && found.big < 2n ** 31n) throw "not as it has to be: " + name + given;
  return bisimdist_big(found).toString();
};
console.log(JSON.stringify(JSON.parse(require("fs").readFileSync(0)).map(call)));
"""


def test_every_file_and_its_mutants(compare: Any) -> None:
    cases = list(compare.corpus())
    bases = [json.loads(case.text) for case in cases if "malformed" not in case.group]
    bases = [document for document in bases if document.get("kind") in compare.COVERED]
    cases.extend(compare.mutants(bases, 400, 2))
    assert compare.compare(cases, compare.IN_NODE) == 0


def test_integers(tmp_path: Path) -> None:
    """They are those of Python, near every border between representations."""
    chance = random.Random(0)
    borders = [0, 1, 2**15, 2**16, 2**30, 2**31, 2**32, 2**52, 2**53, 2**62, 2**63, 2**64, 10**40, 2**900]
    numbers = [sign * border + step for border in borders for sign in (1, -1) for step in (-2, -1, 0, 1)]
    numbers += [chance.getrandbits(chance.randint(1, 300)) * chance.choice((1, -1)) for _ in range(100)]
    asked, expected = [], []
    for _ in range(6000):
        x, y, k = chance.choice(numbers), chance.choice(numbers), chance.choice((0, 1, 2, 31, 32, 53, 100))
        for name, given, value in (
            ("add", (x, y), x + y),
            ("sub", (x, y), x - y),
            ("mul", (x, y), x * y),
            ("gcd", (x, y), gcd(x, y)),
            ("neg", (x,), -x),
            ("compare", (x, y), (x > y) - (x < y)),
            ("compare", (x, x), 0),
            ("is_odd", (x,), x % 2),
            ("numbits", (x,), x.bit_length()),
            ("sqrt", (abs(x),), isqrt(abs(x))),
        ):
            asked.append([name, *map(str, given)])
            expected.append(str(value))
        if y:
            asked.append(["divexact", str(x * y), str(y)])
            expected.append(str(x))
        for name, value in (("shift_left", x << k), ("shift_right", x >> k)):
            asked.append([name, str(x), k])  # type: ignore[list-item]
            expected.append(str(value))
    script = tmp_path / "calculator.js"
    source = (FORMAL / "browser" / "integers.js").read_text(encoding="utf-8")
    script.write_text(CALCULATOR.replace("SOURCE", source), encoding="utf-8")
    done = subprocess.run(
        ["node", script], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    wrong = [
        (question, got) for question, got, value in zip(asked, found, expected, strict=True) if got != value
    ]
    assert not wrong, wrong[:3]


@pytest.mark.skipif(shutil.which("js_of_ocaml") is None, reason="js_of_ocaml is not installed")
@pytest.mark.skipif(not (FORMAL / "build" / "extracted.ml").exists(), reason="formal/check was not run")
def test_the_script_is_what_the_proofs_give() -> None:
    done = subprocess.run(["make", "-C", FORMAL, "browser"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
