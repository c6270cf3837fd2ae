"""What readers are fed where there is no fuzzer: texts cut, doubled and mixed by chance."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.targets import TARGETS

ROUNDS = {"yaml": 150, "certificate": 80, "certificate and model": 60}


def mangled(source: random.Random, seeds: list[bytes], tokens: tuple[str, ...]) -> bytes:
    data = bytearray(source.choice(seeds))
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(data) + 1)
        match source.randrange(6):
            case 0:
                del data[at : at + source.randint(1, 20)]
            case 1:
                data[at:at] = source.choice(tokens).encode() if tokens else b"9"
            case 2:
                data[at : at + 1] = bytes([source.randrange(256)])
            case 3:
                other = source.choice(seeds)
                start = source.randrange(len(other) + 1)
                data[at:at] = other[start : start + source.randint(1, 40)]
            case 4:
                data[at:at] = data[at : at + source.randint(1, 30)] * source.randint(1, 5)
            case 5:
                data[at:at] = source.choice(
                    (b"0", b"-1", b"1e9", b"1/0", b'"', b"{", b"]", b"(", b"\x00", b"\xf0")
                )
    return bytes(data)


@pytest.mark.parametrize("name", TARGETS)
def test_readers_take_bytes_or_refuse_them(name: str) -> None:
    target = TARGETS[name]
    source = random.Random(f"fuzz {name}")
    seeds = list(target.seeds())
    assert sum(target(seed) for seed in seeds) > 0
    refused = 0
    for _ in range(ROUNDS.get(name, 300)):
        data = mangled(source, seeds, target.tokens)
        try:
            refused += not target(data)
        except Exception as error:
            raise AssertionError(f"{name} does not refuse {data!r}: {error!r}") from error
    assert refused > 20
