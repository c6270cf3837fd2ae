"""Modules for tests, written as bytes: what a text would be, without a tool that reads texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from flint import fmpq

from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.machine import Ended
from bisimdist.programs.request import Request
from bisimdist.programs.wasm.door import explored_module

TYPES = {"i32": 0x7F, "i64": 0x7E, "f32": 0x7D, "f64": 0x7C}


def unsigned(value: int) -> bytes:
    """Return an unsigned LEB128 number."""
    made = bytearray()
    while True:
        value, low = value >> 7, value & 127
        if not value:
            return bytes([*made, low])
        made.append(low | 128)


def signed(value: int) -> bytes:
    """Return a signed LEB128 number."""
    made = bytearray()
    while True:
        low, value = value & 127, value >> 7
        if value == -(low >> 6):
            return bytes([*made, low])
        made.append(low | 128)


def i32(value: int) -> bytes:
    """Return the instruction that pushes a number of 32 bits."""
    return b"\x41" + signed(value)


def i64(value: int) -> bytes:
    """Return the instruction that pushes a number of 64 bits."""
    return b"\x42" + signed(value)


def get(index: int) -> bytes:
    """Return the instruction that pushes a variable."""
    return b"\x20" + unsigned(index)


def call(index: int) -> bytes:
    """Return the instruction that calls a function, imported ones first."""
    return b"\x10" + unsigned(index)


def _vector(items: Sequence[bytes]) -> bytes:
    return unsigned(len(items)) + b"".join(items)


def _name(text: str) -> bytes:
    return _vector([bytes([byte]) for byte in text.encode()])


def _section(number: int, content: bytes) -> bytes:
    return bytes([number]) + unsigned(len(content)) + content


Signature = tuple[Sequence[str], Sequence[str]]


def _signature(kind: Signature) -> bytes:
    return b"\x60" + b"".join(_vector([bytes([TYPES[name]]) for name in part]) for part in kind)


def assembled(
    functions: Mapping[str, tuple[Signature, Sequence[str], bytes]],
    *,
    imports: Sequence[tuple[str, str, Signature]] = (),
    pages: int = 0,
    data: Sequence[tuple[int | None, bytes]] = (),
    stack: int | None = None,
    table: Sequence[int] = (),
    start: int | None = None,
) -> bytes:
    """Return a module: by name functions with their type, the types of their variables, and their code."""
    types = [kind for _, _, kind in imports] + [kind for kind, _, _ in functions.values()]
    made = b"\0asm\x01\0\0\0" + _section(1, _vector([_signature(kind) for kind in types]))
    if imports:
        made += _section(
            2, _vector([_name(m) + _name(n) + b"\0" + unsigned(k) for k, (m, n, _) in enumerate(imports)])
        )
    made += _section(3, _vector([unsigned(len(imports) + k) for k in range(len(functions))]))
    if table:
        made += _section(4, _vector([b"\x70\0" + unsigned(len(table))]))
    if pages:
        made += _section(5, _vector([b"\0" + unsigned(pages)]))
    if stack is not None:
        made += _section(6, _vector([b"\x7f\x01" + i32(stack) + b"\x0b"]))
    made += _section(
        7, _vector([_name(name) + b"\0" + unsigned(len(imports) + k) for k, name in enumerate(functions)])
    )
    if start is not None:
        made += _section(8, unsigned(start))
    if table:
        made += _section(9, _vector([b"\0" + i32(0) + b"\x0b" + _vector([unsigned(k) for k in table])]))
    if any(at is None for at, _ in data):
        made += _section(12, unsigned(len(data)))
    bodies = []
    for _, variables, code in functions.values():
        body = _vector([b"\x01" + bytes([TYPES[name]]) for name in variables]) + code + b"\x0b"
        bodies.append(unsigned(len(body)) + body)
    made += _section(10, _vector(bodies))
    if data:
        made += _section(
            11,
            _vector(
                [
                    (b"\1" if at is None else b"\0" + i32(at) + b"\x0b") + _vector([bytes([b]) for b in part])
                    for at, part in data
                ]
            ),
        )
    return made


RANDOM = {
    8: ("env", "rnd8", ((), ("i32",))),
    32: ("env", "rnd32", ((), ("i32",))),
    64: ("env", "rnd64", ((), ("i64",))),
}


def chain_of(
    folder: Path, module: bytes, function: str, inputs: Sequence[int], **more: object
) -> ProgramChain:
    """Return the chain of a function of a module that draws from ``env``."""
    path = folder / "module.wasm"
    path.write_bytes(module)
    chances = tuple(
        name for name in ("env.rnd8", "env.rnd32", "env.rnd64") if name.split(".")[1].encode() in module
    )
    request = Request(chances=chances, replays=50, **more)  # type: ignore[arg-type]
    return explored_module(f"{path}:{function}", {str(k): k for k in inputs}, request)


def law_of(chain: ProgramChain, start: str) -> dict[str, object]:
    """Return how likely each output is."""
    return {chain.labels[target]: p for target, p in chain.rows[chain.index(start)]}


def law_of_graph(graph: Exploration, start: str) -> dict[object, fmpq]:
    """Return how likely each end is in a graph, which has no cycle, from one of its starts."""
    order: list[int] = []
    seen: set[int] = set()
    stack = [(graph.starts[start].target, False)]
    while stack:
        number, done = stack.pop()
        if done:
            order.append(number)
        elif number not in seen:
            seen.add(number)
            stack.append((number, True))
            stack += [(edge.target, False) for edge in graph.edges[number] or ()]
    chances = {graph.starts[start].target: fmpq(1)}
    law: dict[object, fmpq] = {}
    for number in reversed(order):
        node, chance = graph.nodes[number], chances.get(number, fmpq(0))
        if isinstance(node, Ended):
            law[node.value] = law.get(node.value, fmpq(0)) + chance
        for edge in graph.edges[number] or ():
            chances[edge.target] = chances.get(edge.target, fmpq(0)) + chance * edge.probability
    return law
