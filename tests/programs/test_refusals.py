"""Programs that the compiler does not take: it names the line, what is there, and what to write instead."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bisimdist.errors import BisimdistError, ModelError, UsageError
from bisimdist.faces.cli.main import run
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.front import compiled, explore, inputs_and_pairs
from bisimdist.programs.guard import _Guard
from bisimdist.programs.loading import load_program
from bisimdist.programs.machine import Machine
from bisimdist.programs.machine_source import SOURCE
from bisimdist.programs.request import Request
from bisimdist.programs.sources import Sources

# by name: the file, in which "# here" marks the line that is named, and a part of what is said
REFUSED: dict[str, tuple[str, str]] = {
    "float constant": ("def f(x, rng):\n    return x + 0.5  # here\n", "Fraction('0.5')"),
    "float result": ("def f(x, rng):\n    return x / 2  # here\n", "Fraction(a, b)"),
    "math.exp": ("import math\ndef f(x, rng):\n    return math.exp(x)  # here\n", "not exact"),
    "float call": ("def f(x, rng):\n    return float(x)  # here\n", "use Fraction"),
    "negative power": ("def f(x, rng):\n    return 2 ** (x - 1)  # here\n", "Fraction(a) ** b"),
    "random": ("def f(x, rng):\n    return rng.random() < x  # here\n", "rng.flip"),
    "random and a constant": (
        "def f(x, rng):\n    return x if rng.random() < 0.75 else not x  # here\n",
        "write rng.flip('3/4')",
    ),
    "random and a constant of the module": (
        "import random\nC = 0.1\ndef f(x):\n    if C < random.random():  # here\n        return x\n",
        "write not rng.flip('1/10'), with a parameter rng",
    ),
    "gauss": ("def f(x, rng):\n    return rng.gauss(0, 1)  # here\n", "draw with"),
    "uniform of floats": ("def f(x, rng):\n    return rng.uniform(0, 1) < x  # here\n", "uniform(n)"),
    "choices": ("def f(x, rng):\n    return rng.choices([1, 2])  # here\n", "for _ in range(k)"),
    "seeded": (
        "import random\ndef f(x):\n    return random.Random(3).randrange(2)  # here\n",
        "made from a seed",
    ),
    "module random": ("import random\ndef f(x):\n    return random.random()  # here\n", "random"),
    "print": ("def f(x, rng):\n    print(x)  # here\n    return rng.randrange(2)\n", "observe"),
    "open": ("def f(x, rng):\n    return open('a').read()  # here\n", "pass the contents"),
    "input": ("def f(x, rng):\n    return input()  # here\n", "parameter"),
    "clock": (
        "import time\ndef f(x, rng):\n    return time.time()  # here\n",
        "time.time, which comes from elsewhere",
    ),
    "environment": ("import os\ndef f(x, rng):\n    return os.environ['A']  # here\n", "os.environ"),
    "thread": (
        "import threading\ndef f(x, rng):\n    threading.Thread(target=f).start()  # here\n",
        "threading",
    ),
    "foreign module": ("import numpy as np\ndef f(x, rng):\n    return np.zeros(x)  # here\n", "numpy"),
    "global": ("n = 0\ndef f(x, rng):\n    global n  # here\n    n = x\n    return n\n", "global"),
    "changed list": (
        "seen = []\ndef f(x, rng):\n    seen.append(x)  # here\n    return x\n",
        "of the module is changed",
    ),
    "changed dictionary": (
        "cache = {}\ndef f(x, rng):\n    cache[x] = 1  # here\n    return x\n",
        "of the module is changed",
    ),
    "changed object": (
        "class C:\n    n = 0\nc = C()\ndef f(x, rng):\n    c.m = rng.randrange(2)\n    return x\n",
        "of the module, a C, is changed",
    ),
    "set order": ("def f(x, rng):\n    return [y for y in {x, 'a'}]  # here\n", "sorted("),
    "set to list": ("def f(x, rng):\n    return list({x, 'a'})  # here\n", "sorted("),
    "set pop": ("def f(x, rng):\n    return {x, 1}.pop()  # here\n", "min("),
    "set as text": ("def f(x, rng):\n    return str({x, 1})  # here\n", "sorted("),
    "hash": ("def f(x, rng):\n    return hash('a') % 2  # here\n", "compare the values"),
    "identity": ("def f(x, rng):\n    return id(x)  # here\n", "compare the values"),
    "eval": ("def f(x, rng):\n    return eval('x')  # here\n", "write the expression"),
    "getattr": ("def f(x, rng):\n    return getattr(rng, 'randrange')(2)  # here\n", "attribute"),
    "unknown name": ("def f(x, rng):\n    return xx  # here\n", "not defined"),
    "generator returns": (
        "def g(rng):\n    yield rng.randrange(2)\n    return 1  # here\n"
        "def f(x, rng):\n    return list(g(rng))\n",
        "returns a value",
    ),
    "generator cleans up": (
        "def g(rng):\n    try:  # here\n        yield rng.randrange(2)\n    finally:\n        pass\n"
        "def f(x, rng):\n    return list(g(rng))\n",
        "cleans up",
    ),
    "generator closed": (
        "def g(rng):\n    yield rng.randrange(2)\ndef f(x, rng):\n    return g(rng).close()  # here\n",
        "for loop",
    ),
    "generator thrown into": (
        "def g(rng):\n    yield rng.randrange(2)\ndef f(x, rng):\n    g(rng).throw(KeyError)  # here\n",
        "for loop",
    ),
    "next in built-in code": (
        "def g(rng):\n    yield rng.randrange(2)\ndef f(x, rng):\n    list(map(next, [g(rng)]))  # here\n",
        "write the loop out",
    ),
    "generator in built-in code": (
        "def g(rng):\n    yield rng.randrange(2)\n"
        "def f(x, rng):\n    return dict(enumerate(g(rng)))  # here\n",
        "write the loop out",
    ),
    "generator without draws": (
        "def g():\n    yield 1\ndef f(x, rng):\n    for y in g():  # here\n        rng.randrange(2)\n",
        "write list(...)",
    ),
    "with a file": (
        "def f(x, rng):\n    with open(x) as y:  # here\n        return rng.randrange(2)\n",
        "open",
    ),
    "async": ("def f(x, rng):\n    async def g():  # here\n        pass\n    return x\n", "async"),
    "class that takes a variable": (
        "def f(x, rng):\n    class C:\n        def g(self):  # here\n            return x\n"
        "    return C().g()\n",
        "in the module",
    ),
    "callback draws": (
        "def f(x, rng):\n    return sorted([1, 2], key=lambda k: rng.randrange(2))  # here\n",
        "write the loop out",
    ),
    "never ends": ("def f(x, rng):\n    while True:  # here\n        x += 1\n", "without a draw"),
    "recurses for ever": ("def f(x, rng):\n    return 1 + f(x + 1, rng)  # here\n", "nested"),
    "recurses and draws": ("def f(x, rng):\n    return rng.randrange(1) + f(x, rng)  # here\n", "nested"),
    "allocates": ("def f(x, rng):\n    a = [0]\n    while True:\n        a = a + a  # here\n", "items"),
    "large numbers": ("def f(x, rng):\n    a = 3\n    while True:\n        a = a * a  # here\n", "bits"),
    "large power": ("def f(x, rng):\n    return 10 ** 10 ** 10  # here\n", "bits"),
    "large range": ("def f(x, rng):\n    return rng.randrange(10 ** 9) % 7  # here\n", "1000000000 values"),
    "no default": ("def f(x, y, rng):  # here\n    return x\n", "'y' has no default"),
    "no input": ("def f(rng):  # here\n    return 1\n", "no parameter for the input"),
    "returns a function": ("def f(x, rng):\n    return lambda: x\n", "returned"),
    "match on classes": (
        "def f(x, rng):\n    match x:\n        case int():  # here\n            return 1\n",
        "isinstance",
    ),
    "foreign method": ("import re\ndef f(x, rng):\n    return re.match('a', 'b')  # here\n", "re.match"),
    "dunder": ("def f(x, rng):\n    return x.__class__  # here\n", "__class__"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_outside_is_refused_with_its_line(name: str, tmp_path: Path) -> None:
    text, said = REFUSED[name]
    file = tmp_path / "program.py"
    file.write_text(text)
    line = next((k for k, part in enumerate(text.splitlines(), 1) if "# here" in part), None)
    with pytest.raises(ModelError) as caught:
        compiled(f"{file}:f", *inputs_and_pairs([0, 1]), Request("output", states=3000))
    assert said in str(caught.value)
    if line is not None:
        assert caught.value.line == line
        assert caught.value.source == str(file)


def test_a_refusal_is_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "program.py"
    file.write_text("def f(x, rng):\n    while True:\n        x += 1\n")
    assert run(["program", f"{file}:f", "--input", "0", "--input", "1", "--alpha", "2"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"{file}:2:" in err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--alpha", "2"], "--input"),
        (["--input", "0", "--alpha", "2"], "--pair"),
        (["--input", "0", "--input", "0", "--alpha", "2"], "twice"),
        (["--input", "0.5", "--input", "1", "--alpha", "2"], "float"),
        (["--input", "f(", "--input", "1", "--alpha", "2"], "literal"),
        (["--input", "1/0", "--input", "1", "--alpha", "2"], "literal"),
        (["--input", "0.1/2", "--input", "1", "--alpha", "2"], "literal"),
        (["--input", "Fraction(0.1)", "--input", "1", "--alpha", "2"], "literal"),
        (["--input", "Fraction(1, denominator=2)", "--input", "1", "--alpha", "2"], "literal"),
        (["--input", "0", "--input", "1", "--alpha", "2", "--observe", "everything"], "output, draws"),
        (["--input", "0", "--input", "1", "--alpha", "2", "--cut", "2"], "--cut"),
        (["--input", "0", "--input", "1", "--alpha", "2", "--cost", "If=1"], "observe='steps'"),
        (["--input", "0", "--input", "1", "--alpha", "2", "--observe", "steps", "--cost", "If"], "KIND=N"),
        (
            ["--input", "0", "--input", "1", "--alpha", "2", "--observe", "steps", "--cost", "I=1"],
            "statement",
        ),
        (["--input", "0", "--input", "1", "--alpha", "2", "--pair", "0", "7"], "7"),
    ],
)
def test_options_are_checked(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "program.py"
    file.write_text("def f(x, rng):\n    return x + rng.randrange(2)\n")
    assert run(["program", f"{file}:f", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_program_is_never_read_as_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "program.py"
    file.write_text("raise SystemExit('executed')\n")
    assert run(["show", str(file)]) == 2
    assert "executed" not in capsys.readouterr().err
    assert run(["delta", "example:figure1", "--alpha", "2", "--input", "0"]) == 2


def test_the_api_says_what_it_expects() -> None:
    with pytest.raises(UsageError, match="expected a function"):
        explore()
    with pytest.raises(ModelError, match="sum to 1/2"):
        explore(start=0, step=lambda n: {n + 1: "1/2"}, label=str)
    with pytest.raises(UsageError, match="no input"):
        explore(lambda x, rng: x, [])
    with pytest.raises(UsageError, match="Python function"):
        explore(len, [1])
    with pytest.raises(BisimdistError, match="twice"):
        explore(lambda x, rng: x, [2, 2])


def test_an_import_that_fails_and_that_nothing_needs_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "import no_such_module.sub as missing\nfrom no_such import thing\nlogger = missing.get('x')\n"
        "@thing.decorator\ndef g(x):\n    return missing.y(x)\n\n"
        "def f(x, rng):\n    return x + rng.randrange(2)\n"
    )
    assert len(explore(f"{file}:f", [0, 1])) == 5


def test_a_function_of_another_file_is_named_with_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text(
        "#\n" * 4 + "def half(n, rng):\n    return n / (1 + rng.randrange(2))\n"
    )
    file = tmp_path / "program.py"
    file.write_text("from beside import half\n\ndef f(x, rng):\n    return half(x, rng) + rng.randrange(2)\n")
    with pytest.raises(ModelError, match=r"beside\.py:6: the quotient of two integers"):
        compiled(f"{file}:f", *inputs_and_pairs([0, 1]), Request("output"))


def test_a_file_without_a_function_is_answered_with_those_that_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "survey.py"
    path.write_text("import random\ndef _inner():\n    pass\ndef told(x, rng):\n    return x\n")
    assert run(["program", str(path), "--input", "0", "--input", "1", "--alpha", "1"]) == 2
    assert f"such as {path}:told" in capsys.readouterr().err
    assert run(["program", str(tmp_path / "none.py"), "--input", "0", "--input", "1", "--alpha", "1"]) == 2
    assert "such as" not in capsys.readouterr().err


def test_what_allocates_without_bound_is_replayed_within_limits(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "def f(x, rng):\n    kept = []\n    while True:\n        kept.append([rng.randrange(2)] * 30000)\n"
    )
    chain = explore(f"{file}:f", [0, 1], cut="1/4", replays=4)
    assert isinstance(chain, ProgramChain)
    program, function = load_program(f"{file}:f")
    machine = Machine(Sources(function, program))
    work = _Guard(machine, function, lambda: (0,), {"rng": SOURCE})
    assert 1 < len(work.random(Random(0)).script) < 10
