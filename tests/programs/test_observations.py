"""What an observer sees: outputs, draws, bits, steps, announcements."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq

from bisimdist import delta, explore
from bisimdist.errors import UsageError
from bisimdist.faces.cli.main import run
from bisimdist.programs import observe
from bisimdist.programs.chain import ProgramChain

EARLY = """
def early(x, rng, n=3):
    sign = 1 if rng.randrange(2) else -1
    k = 0
    while k < n and rng.randrange(2):
        k += 1
    return x + sign * k

def steady(x, rng, n=3):
    sign = 1 if rng.randrange(2) else -1
    coins = [rng.randrange(2) for _ in range(n)]
    k = 0
    while k < n and coins[k]:
        k += 1
    return x + sign * k
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "noise.py").write_text(EARLY)
    return tmp_path / "noise.py"


@pytest.mark.parametrize(
    ("function", "seen", "wanted"),
    [
        ("early", "output", fmpq(5, 16)),
        ("early", "draws", fmpq(7, 8)),
        ("steady", "output", fmpq(5, 16)),
        ("steady", "draws", fmpq(5, 16)),
        ("steady", "bits", fmpq(5, 16)),
    ],
)
def test_drawing_early_gives_the_input_away(file: Path, function: str, seen: str, wanted: fmpq) -> None:
    pair = delta(explore(f"{file}:{function}", [0, 1], observe=seen), 2, gap="1e-8").pairs[0]
    assert pair.lower <= wanted <= pair.upper
    assert pair.upper - pair.lower <= fmpq(1, 10**8)
    if seen != "bits":  # of bits there may be any number: CPython draws again what is too large
        assert pair.exact


def traces(chain: ProgramChain, start: str, most: int = 30) -> dict[tuple[str, ...], Fraction]:
    """Return the probabilities of all sequences of labels up to the end."""
    found: dict[tuple[str, ...], Fraction] = {}
    work: list[tuple[int, tuple[str, ...], Fraction]] = [(chain.index(start), (), Fraction(1))]
    while work:
        state, seen, p = work.pop()
        row = chain.rows[state]
        if row == ((state, 1),):
            found[seen] = found.get(seen, Fraction(0)) + p
        elif len(seen) < most:
            for target, q in row:
                work.append((target, (*seen, chain.labels[target]), p * Fraction(int(q.p), int(q.q))))
    return found


def pin(guess: tuple[int, ...], rng: Any) -> bool:
    secret = [rng.randrange(2) for _ in range(2)]
    for ours, theirs in zip(secret, guess, strict=True):  # noqa: SIM110 - the early exit is the point
        if ours != theirs:
            return False
    return True


def test_steps_show_where_a_comparison_ends() -> None:
    chain = explore(pin, {"00": (0, 0)}, observe="steps")
    lengths = {len(trace) for trace, _ in traces(chain, "00").items() if trace[-1] == "False"}
    assert len(lengths) == 2
    free = explore(pin, {"00": (0, 0)}, observe="steps", cost={"If": 0, "For": 0, "Assign": 0, "Return": 0})
    assert {len(trace) for trace in traces(free, "00")} == {1}


def test_costs_of_steps_are_counted_by_hand(file: Path) -> None:
    # sign, k, while, return: four statements, and one for every turn
    chain = explore(f"{file}:early", [0], observe="steps")
    found = {(trace.count("step"), trace[-1]): p for trace, p in traces(chain, "0").items()}
    assert found[4, "0"] == Fraction(1, 2)
    assert found[7, "3"] == Fraction(1, 16)


def announcing(x: int, rng: Any) -> int:
    for _ in range(2):
        coin = rng.randrange(2)
        observe(coin + x)
        rng.randrange(3)
    return x * 0


def test_announcements_are_seen_in_order() -> None:
    chain = explore(announcing, [1], observe="trace")
    assert traces(chain, "1") == {
        (f"observe {a}", f"observe {b}", "0"): Fraction(1, 4) for a in (1, 2) for b in (1, 2)
    }
    both = explore(announcing, [1], observe="trace,draws")
    assert all(trace.count("draw") == 4 for trace in traces(both, "1"))
    assert len(explore(announcing, [1])) == 2


def test_bits_are_drawn_again_until_they_fit() -> None:
    chain = explore(lambda x, rng: rng.randrange(3) * 0 + x, [5], observe="bits")
    found = traces(chain, "5", 8)
    assert found["bit", "bit", "5"] == Fraction(3, 4)
    assert found["bit", "bit", "bit", "bit", "5"] == Fraction(3, 16)


def test_a_program_that_shows_nothing_any_more_runs_for_ever() -> None:
    def stuck(x: int, rng: Any) -> int:
        while x or rng.randrange(2):
            rng.randrange(2)
        return x

    chain = explore(stuck, [0, 1])
    assert traces(chain, "1") == {("runs for ever",): 1}
    assert delta(chain, 1).upper == 1


def test_exceptions_are_seen() -> None:
    def fails(x: int, rng: Any) -> int:
        if rng.randrange(2):
            raise ValueError(x)
        return 0

    assert traces(explore(fails, [3]), "3") == {
        ("raise ValueError",): Fraction(1, 2),
        ("0",): Fraction(1, 2),
    }


@pytest.mark.parametrize("seen", ["nothing", "draws,bits", ""])
def test_what_cannot_be_observed_is_refused(seen: str) -> None:
    with pytest.raises(UsageError):
        explore(fixed, [0, 1], observe=seen)


def fixed(x: int, rng: Any) -> int:
    return x


def growth(x: int, rng: Any) -> int:
    found = []
    while rng.randrange(2):
        found.append(1)
    return x


@pytest.mark.parametrize(("gap", "width"), [("1e-9", fmpq(1, 10**9)), ("1e-3", fmpq(1, 10**3))])
def test_a_gap_cuts_what_grows_without_bound(gap: str, width: fmpq) -> None:
    pair = delta(explore(growth, [0, 1], gap=gap), 2).pairs[0]
    assert pair.upper == 1
    assert pair.lower >= 1 - width


@pytest.mark.parametrize("make", [lambda: [1, 2], lambda: {"a": 1}, lambda: {1, 2}])
def test_arguments_may_be_changed(make: Callable[[], Any]) -> None:
    def change(value: Any, rng: Any) -> int:
        if rng.randrange(2):
            value.clear()
        return len(value)

    chain = explore(change, {"x": make()})
    assert set(traces(chain, "x")) == {("0",), (str(len(make())),)}


def test_costs_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "program.py"
    file.write_text("def f(x, rng):\n    if x:\n        y = rng.randrange(2)\n    return 0\n")
    asked = ["delta", f"{file}:f", "--input", "0", "--input", "1", "--alpha", "1", "--observe", "steps"]
    assert run([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["lower"] == "1"
    assert run([*asked, "--cost", "Assign=0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"][0]["upper"] == "0"


def rare(x: int, rng: Any) -> int:
    for k in range(50):
        if rng.randrange(2**64) < 2 ** (k + 8) + x:
            return k
    return -1


def test_a_huge_range_that_is_only_compared_is_not_listed() -> None:
    chain = explore(rare, [0, 1])
    first = [chain.rows[chain.index(name)] for name in "01"]
    assert [dict(row)[chain.index("return 0")] for row in first] == [fmpq(2**8, 2**64), fmpq(2**8 + 1, 2**64)]
    assert chain.origin.explored <= 151


def above(queries: Any, rng: Any) -> int:
    level = rng.randrange(4)
    for place, query in enumerate(queries):
        if query + rng.randrange(4) > level:
            return place
    for query in queries:
        level += rng.randrange(2)
        if query + rng.randrange(4) > level:
            return -1
    return -2


def late(queries: list[int], rng: random.Random) -> int:
    total = 0
    for query in queries:
        total += query * rng.randrange(2)
        if rng.randrange(2):
            return total
    return -1


def test_a_list_that_only_a_loop_has_is_no_more_than_what_is_left_of_it() -> None:
    several = [explore(late, {"a": [k, *[0] * 20], "b": [1 - k, *[0] * 20]}).origin.explored for k in (0, 1)]
    assert max(several) < 2 * 42 + 10  # and not twice as many: the rest of both is the same
    lists = explore(above, {"a": [0] * 20, "b": [0] * 19 + [1]})
    tuples = explore(above, {"a": (0,) * 20, "b": (0,) * 19 + (1,)})
    assert lists.digest() == tuples.digest()
    assert lists.origin.explored <= tuples.origin.explored + 10


def test_what_is_imported_inside_a_function_is_heard(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(
        "def f(x, rng):\n    from bisimdist.programs import observe\n"
        "    observe(rng.randrange(2) * x)\n    return 0\n"
    )
    assert delta(explore(f"{file}:f", [0, 1], observe="trace"), 1).upper == fmpq(1, 2)
