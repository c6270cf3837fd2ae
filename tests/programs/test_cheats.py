"""Functions that try to trick the replay: each is refused with a line that says why, or answered exactly."""
# ruff: noqa: E501 - programs on one line

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from bisimdist.errors import ModelError
from bisimdist.programs.front import explore

HALF = Fraction(1, 2)
COIN = {"0": HALF, "1": HALF}

REFUSED = {
    "the hash of a text": "def f(x):\n    return hash('bisimulation') + random.getrandbits(1)\n",
    "the number of the process": "import os\ndef f(x):\n    return os.getpid() + random.getrandbits(1)\n",
    "the environment": (
        "import os\ndef f(x):\n    return os.environ.get('PYTHONHASHSEED') == '4711' and random.getrandbits(1)\n"
    ),
    "a clock in C": "import datetime\ndef f(x):\n    return datetime.datetime.now().microsecond + random.getrandbits(1)\n",
    "chance in C": (
        "import ctypes\nlibc = ctypes.CDLL(None)\n"
        "def f(x):\n    return libc.rand() % 1000 + random.getrandbits(1)\n"
    ),
    "a counter in a default": "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen) + random.getrandbits(1)\n",
    "a counter in a closure": (
        "def made():\n    count = 0\n    def f(x):\n        nonlocal count\n        count += 1\n"
        "        return count + random.getrandbits(1)\n    return f\nf = made()\n"
    ),
    "who is alive": (
        "import gc\nkept = []\ndef f(x):\n    kept.append([x])\n"
        "    return len(gc.get_referrers(kept[0])) + sum(o == [x] for o in kept) + random.getrandbits(1)\n"
    ),
}

EXACT = {
    "the type of a draw": (
        "def f(x):\n    kinds = type(random.random()), type(x), type(0.5), type(random.getrandbits(60)), type('')\n"
        "    return int(kinds == (float, int, float, int, str) and kinds[0] is float)\n",
        {"1": Fraction(1)},
    ),
    "a trace function": (
        "import sys\ndef f(x):\n    lines = []\n    old = sys.gettrace()\n"
        "    sys.settrace(lambda *a: lines.append(1))\n    coin = random.getrandbits(1)\n    sys.settrace(old)\n"
        "    return coin\n",
        COIN,
    ),
    "a weak reference": (
        "import weakref\nclass Thing: pass\ndef f(x):\n    thing = Thing()\n    seen = weakref.ref(thing)\n"
        "    del thing\n    return random.getrandbits(1) if seen() is None else 7\n",
        COIN,
    ),
    "another random": (
        "def f(x):\n    kept, random.random = random.random, lambda: 0.25\n    try:\n"
        "        return int(random.random() < 0.5)\n    finally:\n        random.random = kept\n",
        {"1": Fraction(1)},
    ),
    "a draw in a destructor": (
        "class Thing:\n    def __del__(self):\n        found.append(random.getrandbits(1))\n"
        "found = []\ndef f(x):\n    found.clear()\n    thing = Thing()\n    del thing\n    return found[0]\n",
        COIN,
    ),
    "an exception that is caught": (
        "def f(x):\n    try:\n        return 1 // random.getrandbits(1)\n    except BaseException:\n        return 0\n",
        COIN,
    ),
}


def law(folder: Path, text: str) -> dict[str, Fraction]:
    file = folder / "program.py"
    file.write_text("import random\n" + text)
    chain = explore(f"{file}:f", [0], gap="1/1000", replays=200)
    row = chain.rows[chain.index("0")]
    return {chain.labels[k]: Fraction(int(p.p), int(p.q)) for k, p in row}


@pytest.mark.parametrize("cheat", REFUSED)
def test_what_is_no_function_of_its_draws_is_refused(cheat: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as refused:
        law(tmp_path, REFUSED[cheat])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("cheat", EXACT)
def test_what_is_one_is_answered_exactly(cheat: str, tmp_path: Path) -> None:
    text, expected = EXACT[cheat]
    assert law(tmp_path, text) == expected
