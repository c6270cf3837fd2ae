"""Programs that the compiler does not take: they run as they are, over all ways in which draws may fall."""
# ruff: noqa: E501 - programs in one line each

from __future__ import annotations

import io
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bisimdist.errors import ModelError
from bisimdist.faces.cli.main import run
from bisimdist.programs.front import explore
from bisimdist.programs.inputs import literal_inputs
from bisimdist.programs.replay.attainable import unattainable
from bisimdist.programs.replay.catching import caught
from bisimdist.programs.replay.door import replayed
from bisimdist.programs.replay.numpy_sources import RandomState
from bisimdist.programs.replay.search import Search, once
from bisimdist.programs.replay.tape import Played, Run
from bisimdist.programs.request import Request
from bisimdist.programs.texts import same_text
from tests.programs.replaying import UNIT, law, law_of, written


def asked(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert run([*map(str, arguments), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


# doubles


@pytest.mark.parametrize(("p", "share"), [("0.25", Fraction(1, 4)), ("0.1", 900719925474100 * UNIT)])
def test_a_double_is_compared_to_the_last_bit(tmp_path: Path, p: str, share: Fraction) -> None:
    found = law(tmp_path, f"def f(x, rng):\n    return x if rng.random() < {p} else 1 - x\n")
    assert found["0"] == share
    assert found["1"] == 1 - found["0"]


ROUNDED: dict[str, Callable[[float], Any]] = {
    "math.floor(math.log(1 - u) / -1)": lambda u: math.floor(math.log(1 - u) / -1),
    "round(0 - math.copysign(1.0, u - 0.5) * math.log(1 - 2 * abs(u - 0.5)), 1)": lambda u: round(
        0 - math.copysign(1.0, u - 0.5) * math.log(1 - 2 * abs(u - 0.5)), 1
    ),
    "int(u * 10) % 3": lambda u: int(u * 10) % 3,
    "math.ceil(math.exp(u)) // 2": lambda u: math.ceil(math.exp(u)) // 2,
    "int((u * 7 - 3) ** 2)": lambda u: int((u * 7 - 3) ** 2),
    "max(-9, min(9, round(math.tan(math.pi * (u - 0.5)))))": lambda u: max(
        -9, min(9, round(math.tan(math.pi * (u - 0.5))))
    ),
    "max(-9, min(9, math.floor(math.tan(u * 6))))": lambda u: max(-9, min(9, math.floor(math.tan(u * 6)))),
    "round(math.sin(u * 6), 1)": lambda u: round(math.sin(u * 6), 1),
    "int(float(np.round(np.sqrt(u) * 4)))": lambda u: int(float(np.round(np.sqrt(u) * 4))),
}


@pytest.mark.parametrize("expression", ROUNDED)
def test_ranges_of_a_draw_are_those_of_the_function_itself(tmp_path: Path, expression: str) -> None:
    """At the ends of each range of k, and beside them, the function is what the range says."""
    file = written(
        tmp_path,
        f"import math\nimport numpy as np\ndef f(x, rng):\n    u = rng.random()\n    return {expression}\n",
    )
    found = law_of(explore(f"{file}:f", [0], replays=200), "0")
    counted: Counter[str] = Counter()
    with np.errstate(all="ignore"):
        for k in range(0, 2**53, 2**41 + 1):
            try:
                counted[same_text(ROUNDED[expression](k * 2.0**-53))] += 1
            except ValueError as error:
                counted[f"raise {type(error).__name__}"] += 1
    assert sum(found.values()) == 1
    alike = {
        same_text(float(label)) if not label.startswith("raise") else label: p for label, p in found.items()
    }
    total = sum(counted.values())
    for label, count in counted.items():
        assert abs(float(alike[label]) - count / total) < 0.002


# sources of chance


SOURCES: dict[str, tuple[str, dict[str, Fraction]]] = {
    "choices": ("import random\ndef f(x):\n    return random.choices([0, 1], weights=[1, 3])[0]\n", {"0": Fraction(1, 4), "1": Fraction(3, 4)}),
    "shuffle": ("import random\ndef f(x):\n    a = [1.5, 2.5, 3.5]\n    random.shuffle(a)\n    return a[0]\n", dict.fromkeys(("1.5", "2.5", "3.5"), Fraction(1, 3))),
    "sample": ("import random\ndef f(x):\n    return 0.5 + sum(random.sample(range(3), 2))\n", dict.fromkeys(("1.5", "2.5", "3.5"), Fraction(1, 3))),
    "secrets": ("import secrets\ndef f(x):\n    return secrets.randbelow(3) / 2\n", dict.fromkeys(("0.0", "0.5", "1.0"), Fraction(1, 3))),
    "urandom": ("import os\ndef f(x):\n    return os.urandom(1)[0] // 64 / 2\n", dict.fromkeys(("0.0", "0.5", "1.0", "1.5"), Fraction(1, 4))),
    "uuid": ("import uuid\ndef f(x):\n    return (uuid.uuid4().int >> 126) / 2\n", dict.fromkeys(("0.0", "0.5", "1.0", "1.5"), Fraction(1, 4))),
    "system": ("import random\nr = random.SystemRandom()\ndef f(x):\n    return r.randint(1, 2) / 2\n", dict.fromkeys(("0.5", "1.0"), Fraction(1, 2))),
    "numpy integers": ("import numpy as np\ndef f(x):\n    return int(np.random.default_rng().integers(3))\n", dict.fromkeys("012", Fraction(1, 3))),
    "numpy choice": ("import numpy as np\ndef f(x, rng: np.random.Generator):\n    return str(rng.choice(['a', 'b'], p=[0.25, 0.75]))\n", {"'a'": Fraction(1, 4), "'b'": Fraction(3, 4)}),
    "numpy permutation": ("import numpy as np\ndef f(x):\n    return tuple(int(k) for k in np.random.permutation(2))\n", dict.fromkeys(("(0, 1)", "(1, 0)"), Fraction(1, 2))),
    "numpy rand": ("from numpy.random import rand\ndef f(x):\n    return int(rand() * 4)\n", dict.fromkeys("0123", Fraction(1, 4))),
    "numpy array": ("import numpy as np\ndef f(x):\n    return int(np.sum(np.random.default_rng().random(2) < 0.5))\n", {"0": Fraction(1, 4), "1": Fraction(1, 2), "2": Fraction(1, 4)}),
    "a method by what is called": ("def f(x, rng):\n    return int(rng.integers(2))\n", dict.fromkeys("01", Fraction(1, 2))),
    "our draws": ("def f(x, rng):\n    return 0.5 if rng.flip('1/3') else rng.pick({1.5: '1/2', 2.5: '1/2'})\n", dict.fromkeys(("0.5", "1.5", "2.5"), Fraction(1, 3))),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_chance_is_caught_where_the_code_draws(tmp_path: Path, name: str) -> None:
    text, wanted = SOURCES[name]
    assert law(tmp_path, text) == wanted


@pytest.mark.parametrize("seed", range(40))
def test_numpy_draws_as_its_published_algorithms(seed: int) -> None:
    """With the same uniform double, numpy itself has the same value to the last bit."""
    state = np.random.RandomState(seed)
    u = state.random_sample()

    def own(name: str, *values: float) -> float:
        state.seed(seed)
        return float(getattr(state, name)(*values))

    draws = [int(u * 2**53)]
    for name, values in (("laplace", (1.0, 2.0)), ("gumbel", ()), ("logistic", ()), ("exponential", (3.0,)), ("geometric", (0.01,)), ("geometric", (0.5,)), ("binomial", (7, 0.3)), ("uniform", (2.0, 5.0))):  # fmt: skip
        assert _played(name, values, draws) == own(name, *values), name


def _played(name: str, values: tuple[float, ...], draws: list[int]) -> float:
    shift = 1 if name in {"laplace", "gumbel", "logistic"} else 0  # these draw again where the double is 0
    found = once(Played([draws[0] - shift]), lambda: getattr(RandomState(), name)(*values))
    return float(found)


def test_a_normal_value_of_generator_has_the_law_that_is_meant(tmp_path: Path) -> None:
    file = written(tmp_path, "def f(x, rng):\n    return rng.normal(0, 2) < 1\n")
    chain = explore(f"{file}:f", [0], gap="1e-9")
    assert chain.origin.replayed is not None
    assert chain.origin.replayed.assumed
    assert abs(float(law_of(chain, "0")["True"]) - 0.6914624612740131) < 1e-12


# noise that is added up


def test_sums_of_noise_have_the_convolved_law(tmp_path: Path) -> None:
    text = "def f(x, rng):\n    return x + rng.two_sided_geometric('1/2') - rng.two_sided_geometric('1/2')\n"
    found = law(tmp_path, text, gap="1e-9")

    def mass(z: int) -> Fraction:
        return Fraction(1, 3) * Fraction(1, 2) ** abs(z)

    for value in (-3, 0, 4):
        wanted = sum(mass(k) * mass(value - k) for k in range(-80, 81))
        assert abs(found[str(value)] - wanted) < Fraction(1, 10**20)


def test_sums_of_rounded_doubles_are_exact(tmp_path: Path) -> None:
    one = "def f(x, rng):\n    return round(rng.random() * 3)\n"
    two = "def f(x, rng):\n    return round(rng.random() * 3) + round(rng.random() * 3)\n"
    single, double = law(tmp_path, one), law(tmp_path, two)
    for value in range(7):
        assert double[str(value)] == sum(
            single[str(k)] * single[str(value - k)] for k in range(4) if 0 <= value - k < 4
        )


def test_a_sum_of_doubles_is_bracketed(tmp_path: Path) -> None:
    chain = explore(
        f"{written(tmp_path, 'def f(x, rng):    return int(rng.random() + rng.random())')}:f",
        [0],
        gap="1/100",
    )
    found, cut = law_of(chain, "0"), float(chain.cut[0])
    assert 0 < cut < 0.01
    assert abs(float(found["0"]) - 0.5) <= cut


# what programs do beside


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def f(x, rng):\n    open('/etc/hostname').read()\n    return rng.random() < 0.5\n", "--allow files"),
        ("import time\ndef f(x, rng):\n    time.time()\n    return rng.random() < 0.5\n", "--allow clock"),
        ("import socket\ndef f(x, rng):\n    socket.create_connection(('127.0.0.1', 9))\n    return 0.5\n", "--allow network"),
        ("import subprocess\ndef f(x, rng):\n    subprocess.run(['true'])\n    return 0.5\n", "--allow processes"),
        ("import threading\ndef f(x, rng):\n    threading.Thread(target=print).start()\n    return 0.5\n", "--allow threads"),
        ("def f(x):\n    x = [x]\n    x.append(x)\n    return x\n", "nested too deep, or in itself"),
        ("n = [0]\ndef f(x, rng):\n    n[0] += 1\n    return n[0] + (rng.random() < 0.5)\n", "a global"),
        ("def f(x, rng):\n    return list('abcdefgh') and tuple({*'abcdefgh'}) if rng.random() < 0.5 else 1\n", "order of a set"),
        ("def f(x, rng):\n    return id(object()) if rng.random() < 0.5 else id(x)\n", "an address"),
        ("import numpy as np\ndef f(x):\n    return np.random.default_rng().standard_t(2)\n", "standard_t"),
    ],
    ids=("file", "clock", "network", "process", "thread", "itself", "global", "set", "address", "unknown"),
)  # fmt: skip
def test_what_is_not_a_function_of_input_and_draws_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        explore(f"{written(tmp_path, text)}:f", [0, 1])


def test_a_clock_may_be_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(
        tmp_path,
        "import time\ndef f(x, rng):\n    time.time()\n    return x if rng.random() < 0.5 else 1 - x\n",
    )
    question = ("program", f"{file}:f", "--input", 0, "--input", 1, "--alpha", 1)
    assert run([*map(str, question)]) == 2
    capsys.readouterr()
    assert asked(capsys, *question, "--allow", "clock")["pairs"][0]["upper"] == "0"


def test_everything_is_put_back() -> None:
    before = (
        random.random,
        math.log,
        np.float64,
        np.random.laplace,
        random.Random.random,
        "float" in globals(),
    )
    assert explore(_half, [0, 1]).origin.replayed is not None
    assert before == (
        random.random,
        math.log,
        np.float64,
        np.random.laplace,
        random.Random.random,
        "float" in globals(),
    )


def _half(x: int) -> int:
    return x if random.random() < 0.5 else 1 - x


def test_draws_and_announcements_are_seen(tmp_path: Path) -> None:
    text = (
        "from bisimdist.programs import observe\n"
        "def f(x, rng):\n    while rng.random() < 0.5:\n        observe(0.5)\n    return 1\n"
    )
    file = written(tmp_path, text)
    assert explore(f"{file}:f", [0], observe="draws", cut="1/8").labels.count("draw") >= 3
    assert "observe 0.5" in explore(f"{file}:f", [0], observe="trace", cut="1/8").labels


# the command line


def test_the_answer_says_which_way_was_taken_and_is_proved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], all_runs: int
) -> None:
    file = written(tmp_path, "def f(x, rng):\n    return x + int(rng.random() * 3)\n")
    proof = tmp_path / "proof.json"
    found = asked(
        capsys,
        "program",
        f"{file}:f",
        "--input",
        0,
        "--input",
        1,
        "--alpha",
        2,
        "--law",
        "--certificate",
        proof,
    )
    pair = found["pairs"][0]
    assert (pair["only"], pair["outcomes"]) == ({"from": ["0"], "to": ["3"]}, {"from": 3, "to": 3})
    assert Fraction(pair["law"]["from"]["0"]) == Fraction(math.ceil(2**53 / 3), 2**53)
    assert (found["program"]["way"], found["program"]["checked"]) == ("replay", all_runs)
    assert "rng.randrange" in found["program"]["why"]
    assert run(["check", str(proof)]) == 0
    out = capsys.readouterr().out
    assert "run as it is" in out.lower()
    assert "numpy" in out
    assert run(["check", str(proof), f"{file}:f"]) == 0


def test_what_is_compiled_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "def f(x, rng):\n    return x + rng.randrange(3)\n")
    found = asked(capsys, "delta", f"{file}:f", "--input", 0, "--input", 1, "--alpha", 2)
    assert found["pairs"][0]["outcomes"] == {"from": 3, "to": 3}
    assert "law" not in found["pairs"][0]


LAPLACE = """
import math
def f(x, rng):
    u = rng.random() - 0.5
    return x - math.copysign(1.0, u) * math.log(1 - 2 * abs(u))
"""


@pytest.mark.parametrize("gap", [(), ("--gap", "1e-9")], ids=("default", "given"))
def test_a_gap_that_is_not_reached_is_not_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], gap: tuple[str, ...]
) -> None:
    """Released floats have too many values: what is certified is printed, with exit code 3."""
    file = written(tmp_path, "def f(x, rng):\n    return x if rng.random() < 0.875 else rng.random()\n")
    asked_for = ["program", f"{file}:f", "--input", "0", "--input", "1", "--alpha", "2", *gap, "--json"]
    assert run(asked_for) == 3
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "limit"
    assert Fraction(answer["pairs"][0]["lower"]) == Fraction(1, 2)
    assert answer["pairs"][0]["upper"] == "1"


def test_what_was_read_from_standard_input_has_no_source(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = ModuleType("typed")
    typed.__file__ = "<stdin>"
    monkeypatch.setitem(sys.modules, "typed", typed)
    exec(compile("def f(x, rng):\n    return x\n", "<stdin>", "exec"), typed.__dict__)
    with pytest.raises(ModelError, match=r"<stdin>.* expected one that stands in a file"):
        explore(typed.f, [0, 1])


def test_a_search_that_ends_says_how_it_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, "def f(x, rng):\n    return round(x + rng.gauss(0, 1))\n")
    assert run(["program", f"{file}:f", "--input", "0", "--input", "1", "--alpha", "2"]) == 3
    said = capsys.readouterr().out
    assert "--gap G lets it go on" in said
    assert "round it with --round G" in said


@pytest.mark.parametrize(
    "test", ["rng.randrange(3) > x", "rng.random() > 0.5 + x"], ids=("compiled", "replayed")
)
def test_where_one_run_raises(tmp_path: Path, capsys: pytest.CaptureFixture[str], test: str) -> None:
    file = written(tmp_path, f"def f(x, rng):\n    if {test}:\n        raise ValueError\n    return 5\n")
    run(["program", f"{file}:f", "--input", "0", "--input", "1", "--alpha", "2"])
    assert re.search(r"one run raises ValueError\S* and the other returns 5", capsys.readouterr().out)


def test_floats_are_rounded_to_grids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, LAPLACE)
    question = ("program", f"{file}:f", "--input", 0, "--input", 1, "--alpha", "27183/10000")
    found = asked(capsys, *question, "--round", "2^-2", "--round", "1/16")["rounded"]
    assert [row["grid"] for row in found] == ["1/4", "1/16"]
    assert all(0 < Fraction(row["lower"]) <= Fraction(row["upper"]) < Fraction(1, 10**12) for row in found)


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is drawn from the system be the same every time."""
    drawn = io.BytesIO(random.Random(1).randbytes(1_000_000))
    monkeypatch.setattr("bisimdist.programs.replay.attainable._system_bytes", drawn.read)


@pytest.mark.usefixtures("seeded")
def test_outputs_that_the_other_cannot_produce_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, LAPLACE)
    found = asked(
        capsys,
        "audit",
        f"{file}:f",
        "--input",
        0,
        "--input",
        1,
        "--attainable",
        "--samples",
        500,
        "--confidence",
        "0.99",
    )
    assert 0.65 < Fraction(found["pairs"][0]["lower"]) < 0.8
    assert found["confidence"] == "99/100"


@pytest.mark.usefixtures("seeded")
def test_what_can_be_produced_is_never_counted(tmp_path: Path) -> None:
    """Every output of the same input can be produced; an injective map of few draws is exact."""
    same = unattainable(f"{written(tmp_path, LAPLACE)}:f", literal_inputs(["0", "0"]), 200, Request())
    assert [count.outside for count in same] == [0, 0]
    other = written(tmp_path, "def f(x, rng):\n    return rng.random() + x\n")
    counts = unattainable(f"{other}:f", literal_inputs(["0", "1"]), 200, Request())
    assert counts[0].outside == 200


FLOAT32 = """
import numpy as np
def f(x, rng: np.random.Generator):
    u = rng.random(dtype=np.float32) - np.float32(0.5)
    return np.float32(x) - np.sign(u) * np.log(1 - 2 * np.abs(u))
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_textbook_laplace_in_32_bits_is_an_exact_rational(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, FLOAT32)
    question = ("program", f"{file}:f", "--input", 0, "--input", 1, "--alpha", "27183/10000")
    pair = asked(capsys, *question)["pairs"][0]
    assert pair["exact"]
    assert round(float(Fraction(pair["upper"])), 3) == 0.791
    grids = [part for k in (20, 14, 10, 6) for part in ("--round", f"2^-{k}")]
    deltas = [Fraction(row["upper"]) for row in asked(capsys, *question, *grids)["rounded"]]
    assert deltas == sorted(deltas, reverse=True)
    assert deltas[-1] < Fraction(1, 10**4)


# diffprivlib


GEOMETRIC = "from diffprivlib.mechanisms import Geometric\ndef f(x):\n    return Geometric(epsilon=1.0).randomise(x)\n"


def test_diffprivlib_s_geometric_unmodified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("diffprivlib")
    file = written(tmp_path, GEOMETRIC)
    found = asked(
        capsys, "program", f"{file}:f", "--input", 0, "--input", 1, "--alpha", "27183/10000", "--law"
    )
    pair = found["pairs"][0]
    assert pair["outcomes"] == {"from": 74, "to": 74}
    assert pair["only"]["from"] == ["-36"]
    assert pair["law"]["from"]["raise OverflowError"] == f"1/{2**53}"
    assert pair["ratio"] == "inf"
    assert 0 < Fraction(pair["upper"]) < Fraction(2, 10**15)


# the machinery


def test_replays_are_quick() -> None:
    def ten(rng: random.Random) -> int:
        total = 0
        for k in range(10):
            if rng.random() < 0.5:
                total += 1 << k
        return total

    with caught():
        search = Search(lambda: ten(random.Random()))
        search.work(20_000)
    assert search.done
    assert search.replays == 1024
    assert len(search.ends) == 1024
    assert search.missing == 0


def test_a_mistake_of_ours_is_no_exception_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    def toss(x: int, rng: random.Random) -> object:
        return {0: 1}[x] if x else rng.getrandbits(1)

    chain = replayed(toss, literal_inputs(["1"]), Request("output", replays=0), (), "")
    assert law_of(chain, "1") == {"raise KeyError": 1}
    wrong = replayed(
        lambda x, rng: rng.pick([x]), literal_inputs(["1"]), Request("output", replays=0), (), ""
    )
    assert law_of(wrong, "1") == {"raise AttributeError": 1}
    monkeypatch.delattr(Run, "coin")
    with pytest.raises(AttributeError, match="coin"):
        replayed(toss, literal_inputs(["0"]), Request("output", replays=0), (), "")


@pytest.mark.usefixtures("seeded")
def test_a_mistake_of_ours_counts_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be enclosed for such a reason is not what cannot be produced."""

    def mistaken(*_: object) -> None:
        none: Any = None
        none.low  # noqa: B018

    file = written(tmp_path, LAPLACE)
    monkeypatch.setattr("bisimdist.programs.replay.attainable.enclosure", mistaken)
    monkeypatch.setattr("bisimdist.programs.replay.node.OURS", str(Path(__file__).parent))
    with pytest.raises(AttributeError, match="low"):
        unattainable(f"{file}:f", literal_inputs(["0", "0"]), 10, Request())


def test_a_range_without_end_is_divided() -> None:
    chain = replayed(_noisy, literal_inputs(["0"]), Request("output", gap=None, cut=None, replays=50), (), "")
    assert law_of(chain, "0")["True"] == Fraction(1, 6)


def _noisy(x: int, rng: Any) -> bool:
    return bool(x + rng.two_sided_geometric("1/2") > 1)
