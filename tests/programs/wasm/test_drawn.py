"""Values that stand for many: whatever is computed of a draw, its law is that of all draws one by one."""

from __future__ import annotations

import struct
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimdist
from bisimdist.errors import LimitError, ModelError
from bisimdist.programs.request import Request
from bisimdist.programs.wasm.chance import Chance, Sampler
from bisimdist.programs.wasm.door import explored_module
from bisimdist.programs.wasm.drawn import Drawn, drawn_of
from bisimdist.programs.wasm.exploring import CompiledExploration, _weighed
from bisimdist.programs.wasm.leaves import Split, Variable
from bisimdist.programs.wasm.machine import Machine
from bisimdist.programs.wasm.module import Module
from bisimdist.programs.wasm.states import NOTHING
from bisimdist.progress import Deadline
from tests.programs.wasm.assembly import RANDOM, assembled, call, chain_of, get, i64, law_of, law_of_graph

FOLDER = Path(bisimdist.__file__).parent / "models/library/programs/wasm"
TWO = {"add": 0x7C, "sub": 0x7D, "mul": 0x7E, "and": 0x83, "or": 0x84, "xor": 0x85}
SHIFTS = {"shl": 0x86, "shr_s": 0x87, "shr_u": 0x88, "rotl": 0x89, "rotr": 0x8A}
DIVISIONS = {"div_s": 0x7F, "div_u": 0x80, "rem_s": 0x81, "rem_u": 0x82}
TESTS = (0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58, 0x59, 0x5A)
WIDER = b"\xad"

numbers = st.one_of(
    st.integers(-4, 300),
    st.sampled_from(
        [255, 256, 0x7FFFFFFFFFFFFFFF, -0x8000000000000000, 0xAAAA, 1 << 40, (1 << 56) + 5, -256]
    ),
)


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> bytes:  # noqa: PLR0911
    """Code that computes a number of 64 bits of variable 0."""
    kind = draw(st.integers(0, 7)) if depth else draw(st.integers(0, 1))
    if kind == 0:
        return get(0)
    if kind == 1:
        return i64(draw(numbers))
    one = draw(expressions(depth - 1))
    if kind in {2, 3}:
        return one + draw(expressions(depth - 1)) + bytes([draw(st.sampled_from(list(TWO.values())))])
    if kind == 4:
        return one + i64(draw(st.integers(0, 70))) + bytes([draw(st.sampled_from(list(SHIFTS.values())))])
    if kind == 5:
        by = draw(st.integers(1, 40))
        return one + i64(by) + bytes([draw(st.sampled_from(list(DIVISIONS.values())))])
    if kind == 6:
        return one + bytes([draw(st.sampled_from([0x79, 0x7A, 0x7B]))])
    two = draw(expressions(depth - 1))
    test = draw(expressions(depth - 1)) + draw(expressions(depth - 1)) + bytes([draw(st.sampled_from(TESTS))])
    return one + two + test + b"\x1b"


DRAWN = call(0) + WIDER + b"\x21\0"
KIND = ((), ("i64",))


def _machine(code: bytes, bits: int) -> Machine:
    module = assembled({"f": (KIND, ("i64",), code)}, imports=[RANDOM[8]])
    return Machine(Sampler(Module.of(module, "drawn.wasm"), 1, {0: Chance("env.rnd8", bits)}))


def _nothing(*_: object) -> list[int]:
    return []


def _explored(machine: Machine) -> dict[Any, fmpq]:
    graph = CompiledExploration(machine)  # type: ignore[arg-type]
    graph.start("0", _nothing, [], {})
    assert graph.explore()
    return law_of_graph(graph, "0")


@given(expressions())
def test_one_draw(code: bytes) -> None:
    machine = _machine(DRAWN + code, 8)
    outcome: Any = machine.start(_nothing, [])
    wanted = Counter(machine.follow(outcome.state, k, NOTHING).value for k in range(256))  # type: ignore[union-attr]
    assert _explored(machine) == {value: fmpq(count, 256) for value, count in wanted.items()}


FLOATS = st.sampled_from([1.0, -1.0, 0.5, 1 / 256, 0.1, 3.0, -7.25, 1e-3, 1e10, -0.0])


def _f64(value: float) -> bytes:
    return b"\x44" + struct.pack("<d", value)


@given(
    st.sampled_from([0.0, 1.0, -300.0, 0.25, -3.5]),
    st.sampled_from([1.0, -0.125, 0.1, 2.0**-1030]),
    expressions(),
)
def test_bits_of_a_float(more: float, times: float, code: bytes) -> None:
    """What logarithms do: they divide the bits of a float into its exponent and its leading digits."""
    bits = get(0) + b"\xba" + _f64(more) + b"\xa0" + _f64(times) + b"\xa2\xbd\x21\0"
    machine = _machine(DRAWN + bits + code, 8)
    outcome: Any = machine.start(_nothing, [])
    wanted = Counter(machine.follow(outcome.state, k, NOTHING).value for k in range(256))  # type: ignore[union-attr]
    assert _explored(machine) == {value: fmpq(count, 256) for value, count in wanted.items()}


@st.composite
def floats(draw: st.DrawFn, depth: int = 4) -> bytes:  # noqa: PLR0911
    """Code that computes a float of what was drawn."""
    kind = draw(st.integers(0, 11)) if depth else draw(st.integers(0, 3))
    if kind == 0:
        return _f64(draw(FLOATS))
    if kind <= 3:
        return get(draw(st.integers(0, 1))) + bytes([draw(st.sampled_from([0xB9, 0xBA, 0xBF]))])
    one = draw(floats(depth - 1))
    if kind <= 7:
        return one + draw(floats(depth - 1)) + bytes([draw(st.integers(0xA0, 0xA6))])
    if kind == 8:
        return one + b"\x22\2" + get(2) + bytes([draw(st.sampled_from([0xA1, 0xA2, 0xA4]))])
    if kind == 9:
        return one + b"\xbd" + draw(st.sampled_from([b"", i64((1 << 63) - 1) + b"\x83"])) + b"\xbf"
    if kind == 10:
        return one + b"\xb6\xbb"
    return one + bytes([draw(st.integers(0x99, 0x9F))])


@given(floats(), st.one_of(st.sampled_from([b"\xfc\6", b"\xbd" + i64(50) + b"\x88"]), floats(2)))
def test_floats(code: bytes, last: bytes) -> None:
    """Floats that draws stand behind are divided where a comparison, their whole part or bits change."""
    scaled = i64(1 << 59) + b"\x7e\x21\0" + get(0) + i64(5) + b"\x87\x21\0"
    if last[0] not in b"\xbd\xfc":
        last += b"\x63" + WIDER
    code = DRAWN + get(0) + b"\x21\1" + DRAWN + get(0) + scaled + code + last
    module = assembled({"f": (KIND, ("i64", "i64", "f64"), code)}, imports=[RANDOM[8]])
    machine = Machine(Sampler(Module.of(module, "drawn.wasm"), 1, {0: Chance("env.rnd8", 4)}))
    begin: Any = machine.start(_nothing, [])
    wanted: Counter[Any] = Counter()
    for k in range(16):
        middle: Any = machine.follow(begin.state, k, NOTHING)
        wanted.update(machine.follow(middle.state, j, NOTHING).value for j in range(16))  # type: ignore[union-attr]
    assert _explored(machine) == {value: fmpq(count, 256) for value, count in wanted.items()}


_HEAD = b"\x22\2" + get(1) + b"\xa0" + get(1) + b"\xa1"
_LOST = b"\x22\2" + get(2) + get(1) + b"\xa0\xa1"


def _split(times: float, part: bytes, bound: float) -> bytes:
    """Return code that compares a part of the double on the stack, which a large multiple splits."""
    return b"\x22\2" + _f64(times) + b"\xa2\x21\1" + get(2) + part + _f64(bound) + b"\x63" + WIDER


@given(
    st.sampled_from([-300.0, -100.0, 0.0, 0.25, 4096.5]),
    st.sampled_from([2.0**27, -(2.0**50), 3 * 2.0**51, 2.0**53, 2.0**55, 0.1]),
    st.sampled_from([_HEAD, _LOST]),
    st.one_of(st.sampled_from([0.0, -0.0, 0.25, 1e-17]), st.floats(-2, 2)),
)
def test_doubles_that_are_split(more: float, times: float, part: bytes, bound: float) -> None:
    """What is left of a sum differs from a term by its rounding only."""
    code = DRAWN + get(0) + b"\xba" + _f64(more) + b"\xa0" + _f64(1 / 256) + b"\xa2"
    module = assembled(
        {"f": (KIND, ("i64", "f64", "f64"), code + _split(times, part, bound))}, imports=[RANDOM[8]]
    )
    machine = Machine(Sampler(Module.of(module, "drawn.wasm"), 1, {0: Chance("env.rnd8", 8)}))
    begin: Any = machine.start(_nothing, [])
    wanted = Counter(machine.follow(begin.state, k, NOTHING).value for k in range(256))  # type: ignore[union-attr]
    assert _explored(machine) == {value: fmpq(count, 256) for value, count in wanted.items()}


def test_splitting_a_uniform_double_takes_few_runs() -> None:
    """As logarithms of C libraries do near 1: the upper half of the digits of ``u - 1`` is compared."""
    code = call(0) + i64(11) + b"\x88\xba" + _f64(2.0**-53) + b"\xa2" + _f64(1.0) + b"\xa1"
    code += _split(2.0**27, _HEAD, -0.3)
    module = assembled({"f": (KIND, ("i64", "f64", "f64"), code)}, imports=[RANDOM[64]])
    machine = Machine(Sampler(Module.of(module, "drawn.wasm"), 1, {0: Chance("env.rnd64", 64)}))
    graph = CompiledExploration(machine)  # type: ignore[arg-type]
    graph.start("0", _nothing, [], {})
    assert graph.explore()
    law = law_of_graph(graph, "0")
    assert graph.runs < 1000
    assert abs(law[1] - fmpq(7, 10)) < fmpq(1, 2**26)


def test_sums_that_coincide_become_one_state() -> None:
    """Six draws of two bits are added up: the runs grow with the number of sums, not with that of draws."""
    turn = get(1) + call(0) + i64(3) + b"\x83\x7c\x21\1"
    module = assembled({"f": (KIND, ("i64", "i64"), 6 * turn + get(1))}, imports=[RANDOM[64]])
    sampler = Sampler(Module.of(module, "drawn.wasm"), 1, {0: Chance("env.rnd64", 64)})
    graph = CompiledExploration(Machine(sampler))  # type: ignore[arg-type]
    graph.start("0", _nothing, [], {})
    assert graph.explore()
    wanted = Counter(sum(values) for values in product(range(4), repeat=6))
    assert law_of_graph(graph, "0") == {value: fmpq(count, 4**6) for value, count in wanted.items()}
    assert graph.runs < 1000


def test_a_float_that_is_returned(tmp_path: Path) -> None:
    """Ten values of a uniform double that is rounded down: ten parts, and zero has no sign."""
    uniform = call(0) + i64(11) + b"\x88\xba" + _f64(2.0**-53) + b"\xa2"
    code = uniform + _f64(10.0) + b"\xa2\x9c"
    module = assembled({"f": ((("i32",), ("f64",)), (), code)}, imports=[RANDOM[64]])
    law = law_of(chain_of(tmp_path, module, "f", [0, 1]), "0")
    assert sorted(law) == [f"{k}.0" for k in range(10)]
    size, tenth = 2**53, 900719925474099
    assert law["0.0"] == fmpq(tenth + 1, size)


@given(expressions(2), expressions(2))
def test_two_draws(first: bytes, second: bytes) -> None:
    """What was drawn first may still be open when something else is drawn."""
    shown = i64(15) + b"\x83"
    code = DRAWN + first + i64(31) + b"\x83" + DRAWN + second + b"\x7c" + shown
    machine = _machine(code, 4)
    begin: Any = machine.start(_nothing, [])
    wanted: Counter[int] = Counter()
    for k in range(16):
        middle: Any = machine.follow(begin.state, k, NOTHING)
        wanted.update(machine.follow(middle.state, j, NOTHING).value for j in range(16))  # type: ignore[union-attr]
    assert _explored(machine) == {value: fmpq(count, 256) for value, count in wanted.items()}


def test_remainders_of_64_bits(tmp_path: Path) -> None:
    code = call(0) + i64(10) + b"\x82" + get(0) + b"\x7c"
    module = assembled({"f": ((("i64",), ("i64",)), (), code)}, imports=[RANDOM[64]])
    law = law_of(chain_of(tmp_path, module, "f", [0, 1]), "0")
    size = 2**64
    wanted = {str(k): fmpq(size // 10 + (k < size % 10), size) for k in range(10)}
    assert law == wanted


@pytest.mark.parametrize("bound", [3, 10, 1000])
def test_the_high_half_of_a_product(tmp_path: Path, bound: int) -> None:
    """Multiply a draw of 32 bits by a bound, and shift: as many draws for each number as there are."""
    code = call(0) + WIDER + i64(bound) + b"\x7e" + i64(32) + b"\x88" + get(0) + b"\x7c"
    module = assembled({"f": ((("i64",), ("i64",)), (), code)}, imports=[RANDOM[32]])
    law = law_of(chain_of(tmp_path, module, "f", [0, 1]), "0")
    size = 2**32
    marks = [-(-k * size // bound) for k in range(bound + 1)]
    assert law == {str(k): fmpq(marks[k + 1] - marks[k], size) for k in range(bound)}


@st.composite
def comparisons(draw: st.DrawFn) -> bytes:
    """Code that compares what was drawn first with what was drawn then, also shifted by a little."""
    first, second = draw(st.permutations([1, 2]))
    shift = i64(draw(st.integers(-2, 2))) + b"\x7c"
    one, two = get(first) + shift, get(second)
    if draw(st.booleans()):  # as floats, that nothing rounds
        scaled = _f64(draw(st.sampled_from([0.125, 3.0, -2.0]))) + b"\xa2" + _f64(1.5) + b"\xa0"
        code = one + b"\xb9" + scaled + two + b"\xb9" + scaled + bytes([draw(st.integers(0x61, 0x66))])
    else:
        code = one + two + bytes([draw(st.sampled_from(TESTS))])
    return code + WIDER


@settings(max_examples=20)
@given(comparisons(), comparisons(), st.one_of(comparisons(), expressions(1)), st.integers(1, 2))
def test_two_draws_are_compared(first: bytes, second: bytes, third: bytes, kept: int) -> None:
    """Comparisons of two draws that are still open keep them open, and their law is exact."""
    third = get(kept) + b"\x21\0" + third
    code = DRAWN + get(0) + b"\x21\1" + DRAWN + get(0) + b"\x21\2"
    code += first + i64(10) + b"\x7e" + second + b"\x7c" + i64(10) + b"\x7e" + third + b"\x7c"
    module = assembled({"f": (KIND, ("i64", "i64", "i64"), code)}, imports=[RANDOM[8]])
    machine = Machine(Sampler(Module.of(module, "drawn.wasm"), 1, {0: Chance("env.rnd8", 4)}))
    begin: Any = machine.start(_nothing, [])
    wanted: Counter[int] = Counter()
    for k in range(16):
        middle: Any = machine.follow(begin.state, k, NOTHING)
        wanted.update(machine.follow(middle.state, j, NOTHING).value for j in range(16))  # type: ignore[union-attr]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bisimdist.programs.wasm.drawn._FEW_POINTS", 2)
        assert _explored(machine) == {value: fmpq(count, 256) for value, count in wanted.items()}


@given(st.data())
def test_parts_of_compared_leaves(data: st.DataObject) -> None:
    """However leaves are compared and divided, the parts are a partition, and know how large they are."""
    parts: list[tuple[Variable, ...]] = [((0, ((1, 6), (6, 2))), (3, ((2, 6),)))]
    for _ in range(data.draw(st.integers(1, 6))):
        part = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
        values = [drawn_of(variable, number) for number, variable in enumerate(part)]
        leaves = [leaf for value in values if isinstance(value, Drawn) for leaf in value.terms]
        free = [leaf for leaf in leaves if leaf.pair < 0]
        pairs = [(one, two) for one in free for two in free if one is not two and one.high == two.high]
        if not leaves:
            parts.append(part)
        elif data.draw(st.booleans()) and pairs:
            one, two = data.draw(st.sampled_from(pairs))
            parts += Split(one, other=two).parts(part)
        else:
            leaf = data.draw(st.sampled_from(leaves))
            cut = data.draw(st.integers(1, leaf.high))
            parts += Split(leaf, () if cut == 1 else (cut,), 2 if cut == 1 else 0).parts(part)
    found = [_points(part) for part in parts]
    assert [weight for _, weight, *_ in _weighed(parts)] == list(map(len, found))
    wanted = [(number, 3 + 2 * other) for number in range(12) for other in range(6)]
    assert sorted(point for points in found for point in points) == wanted


def _points(part: tuple[Variable, ...]) -> list[tuple[int, ...]]:
    """Return all values that the variables of a part may have together."""
    places = [(number, leaf) for number, (_, leaves) in enumerate(part) for leaf in leaves]
    found = []
    for chosen in product(*(range((leaf[2:] or leaf[1:])[0]) for _, leaf in places)):
        ordered: dict[int, list[tuple[int, int]]] = {}
        for (_, leaf), value in zip(places, chosen, strict=True):
            if len(leaf) > 2:
                ordered.setdefault(leaf[4], []).append((leaf[3], value))
        if all(
            sorted([a, b]) == sorted([a, b], key=lambda pair: pair[1]) and (a[1] == b[1]) == (a[0] == 0)
            for a, b in ordered.values()
        ):
            point = [const for const, _ in part]
            for (number, leaf), value in zip(places, chosen, strict=True):
                point[number] += leaf[0] * value
            found.append(tuple(point))
    return found


def test_two_uniform_doubles_are_compared(tmp_path: Path) -> None:
    uniform = call(0) + i64(11) + b"\x88\xba" + _f64(2.0**-53) + b"\xa2"
    module = assembled({"f": ((("i32",), ("i32",)), (), uniform + uniform + b"\x63")}, imports=[RANDOM[64]])
    law = law_of(chain_of(tmp_path, module, "f", [0, 1]), "0")
    assert law == {"1": fmpq(2**53 - 1, 2**54), "0": fmpq(2**53 + 1, 2**54)}


def test_the_time_limit_holds_within_a_draw(tmp_path: Path) -> None:
    """A product of two open draws is told apart value by value."""
    low = call(0) + i64(255) + b"\x83"
    code = low + low + b"\x7e" + i64(12345) + b"\x54"
    module = assembled({"f": ((("i32",), ("i32",)), (), code)}, imports=[RANDOM[64]])
    checked = []

    class Late(Deadline):
        def check(self) -> None:
            checked.append(self)
            if len(checked) > 30:
                raise LimitError("the time limit was reached")

    path = tmp_path / "late.wasm"
    path.write_bytes(module)
    with pytest.raises(LimitError):
        explored_module(f"{path}:f", {"0": 0, "1": 1}, Request(chances=("env.rnd64",), deadline=Late()))
    assert len(checked) == 31


def test_the_guard_leaves_time_for_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = assembled({"f": ((("i32",), ("i32",)), (), call(0) + get(0) + b"\x6a")}, imports=[RANDOM[8]])
    ends = []

    def guard(*_: object, deadline: Deadline, **__: object) -> None:
        ends.append(deadline)

    monkeypatch.setattr("bisimdist.programs.wasm.door.guard", guard)
    limit = Deadline.after(36_000)
    path = tmp_path / "guarded.wasm"
    path.write_bytes(module)
    explored_module(f"{path}:f", {"0": 0, "1": 1}, Request(chances=("env.rnd8",), deadline=limit))
    assert limit.moment is not None
    assert ends[0].moment is not None
    assert ends[0].moment < limit.moment - 3600


def test_what_was_compared_and_is_kept_is_refused(tmp_path: Path) -> None:
    draw = call(0) + b"\x22\0" + get(1) + b"\x54" + get(0) + b"\x21\1" + get(2) + b"\x6a\x21\2"
    module = assembled({"f": ((("i64",), ("i32",)), ("i64", "i32"), 3 * draw + get(2))}, imports=[RANDOM[64]])
    with pytest.raises(ModelError, match="values that the program tells apart"):
        chain_of(tmp_path, module, "f", [0, 1])


def test_a_divisor_that_changes_from_draw_to_draw(tmp_path: Path) -> None:
    """Bernoulli trials with chances 1, 1/2, 1/3, …: how a draw was divided before does not help the next."""
    again = b"\x0c\1"
    turn = call(0) + get(1) + b"\x82\x50\x04\x40" + get(1) + i64(1) + b"\x7c\x21\1" + again
    code = i64(1) + b"\x21\1" + b"\x03\x40" + turn + b"\x0b\x0b" + get(1) + b"\xa7"
    module = assembled({"f": ((("i32",), ("i32",)), ("i64",), code)}, imports=[RANDOM[64]])
    law: dict[str, fmpq] = law_of(chain_of(tmp_path, module, "f", [0, 1], cut=fmpq(1, 10**24)), "0")
    assert sum(law.values(), fmpq(0)) == 1
    chance = fmpq(1)
    for divisor in range(2, 20):
        chance *= fmpq(-(-(2**64) // (divisor - 1)), 2**64)
        missing = chance * (1 - fmpq(-(-(2**64) // divisor), 2**64)) - law[str(divisor)]
        assert 0 <= missing <= law["cut"] < fmpq(1, 10**24)


def test_a_run_ends_with_all_values_of_what_it_returns() -> None:
    graph = CompiledExploration(_machine(DRAWN + get(0) + i64(3) + b"\x7e" + i64(7) + b"\x7c", 8))  # type: ignore[arg-type]
    graph.start("0", _nothing, [], {})
    assert graph.explore()
    assert law_of_graph(graph, "0") == {7 + 3 * k: fmpq(1, 256) for k in range(256)}
    assert graph.runs == 1
