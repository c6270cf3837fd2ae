"""Change every number, name, direction and rank of correct certificates: what passes must still be true."""

from __future__ import annotations

import copy
import functools
import itertools
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest

from bisimdist.checker import CheckReport, MalformedCertificate, check_certificate
from tests.checker.brute import Document, Pair, Tiny, random_tiny

CORRECT = [  # of chains, which the slow truth is about
    path
    for path in sorted((Path(__file__).parent.parent / "certificates" / "correct").glob("*.json"))
    if (document := json.loads(path.read_bytes()))["model"]["kind"] == "lmc" and "nature" not in document
]
Path_ = tuple[str | int, ...]

HARMLESS = {
    "distance": "lbd is never more than bd, and the tables serve both",
    "alpha": "the claims are then about another alpha, and true for it",
    "claims.from": "another claim, which the tables prove as well",
    "claims.to": "another claim, which the tables prove as well",
    "claims.upper": "raised: a weaker claim",
    "claims.lower": "lowered: a weaker claim",
    "upper.denominator": "all values shrink or grow, and are still a pre-fixed point (all zero, say)",
    "upper.pairs.value": "raised: a weaker bound, where no other entry leans on it",
    "upper.pairs.pair": "the couplings serve the other pair too, or are turned round",
    "upper.pairs.forward.moves": "this direction costs less than the other: it has some to spare",
    "upper.pairs.backward.moves": "this direction costs less than the other: it has some to spare",
    "upper.pairs.forward.given_up": "this direction costs less than the other: it has some to spare",
    "upper.pairs.backward.given_up": "this direction costs less than the other: it has some to spare",
    "lower.denominator": "all values shrink, and are still a post-fixed point; no claim needs them",
    "lower.pairs.value": "lowered: a weaker bound, where no other entry leans on it",
    "lower.pairs.pair": "the witness serves the other pair or direction too",
    "lower.pairs.witness": "f is not unique, or is not needed in full",
    "lower.pairs.rank": "the order of the ranks is what matters, or less of it",
    "lower.pairs.progress.stuck": "another state is stuck as well",
    "lower.pairs.progress.common": "another successor is common as well",
    "lower.pairs.progress.classes": "y is not unique",
    "lower.pairs.progress.states": "y is not unique",
}
"""The kinds of places where a change may leave a proof a proof, and how; all else must be refused."""


def kind_of(path: Path_) -> str:
    names = [part for part in path if isinstance(part, str)]
    depth = 2 if names[0] in ("claims", "model") else 4 if "progress" in names or len(names) > 4 else 3
    if names[:3] in (["upper", "pairs", "forward"], ["upper", "pairs", "backward"]):
        depth = 4
    return ".".join(names[:depth])


def leaves(node: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(child, (*path, key))
    else:
        yield path, node


def replaced(document: Document, path: Path_, value: Any) -> Document:
    result = copy.deepcopy(document)
    node: Any = result
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return result


def renamed(document: Document, path: Path_, old: str, new: str) -> Document:
    result = copy.deepcopy(document)
    node: Any = result
    for key in path:
        node = node[key]
    content = {new if key == old else key: value for key, value in node.items() if key != new or old == new}
    node.clear()
    node.update(content)
    return result


def as_integer(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def nudged(text: str) -> list[str]:
    """Return the number one unit in the last place higher and lower, in decimal and hexadecimal."""
    above, slash, below = text.partition("/")
    numerator = as_integer(above)
    if numerator is None or (slash and as_integer(below) is None):
        return []
    long = numerator.bit_length() > 13000
    changed = [form(numerator + step) for step in (1, -1) for form in ((hex,) if long else (str, hex))]
    result = [f"{number}{slash}{below}" for number in changed]
    if slash:
        denominator = as_integer(below) or 0
        result += [f"{above}/{denominator + step}" for step in (1, -1) if denominator + step]
    return result


def mutations(document: Document) -> Iterator[tuple[Path_, Document]]:
    """Yield every document that differs in one number, name, relation, direction or coupling."""
    for path, leaf in leaves(document):
        for other in other_leaves(path, leaf, list(document["model"]["states"])):
            yield path, replaced(document, path, other)
    for where in ("upper", "lower"):
        for k, entry in enumerate(document.get(where, {}).get("pairs", [])):
            path = (where, "pairs", k)
            yield (*path, "pair"), replaced(document, (*path, "pair"), entry["pair"][::-1])
            if "backward" in entry:
                turned = entry | {"forward": entry["backward"], "backward": entry["forward"]}
                yield (*path, "pair"), replaced(document, path, turned)
    yield ("distance",), of_the_other_distance(document)
    yield from renamings(document)


def of_the_other_distance(document: Document) -> Document:
    """Make bd of lbd, or lbd of bd, and add or remove what the shape then asks for."""
    result = copy.deepcopy(document)
    result["distance"] = "lbd" if document["distance"] == "bd" else "bd"
    for entry in result["upper"]["pairs"]:
        if entry.pop("backward", None) is None:
            entry["backward"] = entry["forward"]
    return result


def other_leaves(path: Path_, leaf: Any, states: list[str]) -> list[Any]:
    if isinstance(leaf, int):
        return [leaf + 1, leaf - 1]
    others = nudged(leaf)
    if leaf in states:
        others += [other for other in states if other != leaf]
    if leaf in ("above", "below"):
        others.append("above" if leaf == "below" else "below")
    if path[0] in ("format", "digest", "distance") or path[:2] in (("model", "kind"), ("model", "states")):
        others.append(leaf[:-1] + ("0" if leaf[-1] != "0" else "1"))
    return others


def renamings(document: Document) -> Iterator[tuple[Path_, Document]]:
    """Yield every document in which one key that is a state is another state."""
    maps: list[Path_] = [("model", "states"), ("model", "transitions")]
    maps += [("model", "transitions", state) for state in document["model"]["transitions"]]
    for k, entry in enumerate(document.get("lower", {}).get("pairs", [])):
        maps.append(("lower", "pairs", k, "witness"))
        if "states" in entry.get("progress", {}):
            maps.append(("lower", "pairs", k, "progress", "states"))
    for path in maps:
        keys: Any = functools.reduce(lambda node, key: node[key], path, cast("Any", document))
        for old, new in itertools.product(keys, document["model"]["states"]):
            if old != new:
                yield path, renamed(document, path, old, new)


def number(text: str) -> Fraction:
    above, _, below = text.partition("/")
    return Fraction(int(above, 0), int(below or "1", 0))


@functools.cache
def truth(model: str, alpha: Fraction, distance: str) -> tuple[Tiny, dict[Pair, Fraction]]:
    data = json.loads(model)
    rows = {s: {t: Fraction(p) for t, p in row.items()} for s, row in data["transitions"].items()}
    chain = Tiny(data["states"], rows, alpha, ordered=distance == "lbd")
    return chain, chain.distance()


def assert_true(document: Document, report: CheckReport) -> None:
    """Compare all that a document says that was found valid with the distances themselves."""
    chain, distance = truth(json.dumps(document["model"]), number(document["alpha"]), document["distance"])
    for claim in report.claims:
        assert claim.distance == document["distance"]
        value = chain.at(distance, claim.source, claim.target)
        assert claim.upper >= value
        assert claim.lower is None or claim.lower <= value
    for where in ("upper", "lower"):
        table = document.get(where, {"pairs": []})
        for entry in table["pairs"]:
            bound = number(entry["value"]) / number(table.get("denominator", "1"))
            value = chain.at(distance, *entry["pair"])
            assert bound >= value if where == "upper" else bound <= value


def check_all_mutations(document: Document) -> None:
    original = check_certificate(json.dumps(document))
    assert original.valid
    assert_true(document, original)
    for path, mutant in mutations(document):
        if mutant == document:
            continue
        try:
            report = check_certificate(json.dumps(mutant))
        except MalformedCertificate:
            continue
        if not report.valid:
            assert report.reason
            continue
        kind = kind_of(path)
        assert kind in HARMLESS, (kind, path)
        assert_true(mutant, report)
        if kind.startswith(("claims", "alpha")):
            assert report.claims != original.claims or same_numbers(document, mutant)


def same_numbers(first: Document, second: Document) -> bool:
    """Return whether two documents differ in how a number is written only."""
    pairs = zip(leaves(first), leaves(second), strict=True)
    changed = [(a, b) for (_, a), (_, b) in pairs if a != b]
    return all(number(a) == number(b) for a, b in changed)


@pytest.mark.parametrize("path", CORRECT, ids=lambda path: path.stem)
def test_every_single_change_of_a_file(path: Path) -> None:
    check_all_mutations(json.loads(path.read_bytes()))


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("seed", range(1000, 1008))
def test_every_single_change_of_a_random_certificate(seed: int, ordered: bool) -> None:
    check_all_mutations(random_tiny(seed, ordered=ordered).certificate(seed=seed))


def test_one_unit_in_the_last_place_is_seen() -> None:
    """In an exact certificate no table value may move in the direction that claims more."""
    path = next(path for path in CORRECT if path.stem == "cycle-skewed-hexadecimal")
    document = json.loads(path.read_bytes())
    for where, step in (("upper", -1), ("lower", 1)):
        for k, entry in enumerate(document[where]["pairs"]):
            value = int(entry["value"], 16)
            assert value.bit_length() > 9000
            mutant = replaced(document, (where, "pairs", k, "value"), hex(value + step))
            assert not check_certificate(json.dumps(mutant)).valid


def rewrite(node: Any) -> Any:
    """Write all numbers outside the model in hexadecimal."""
    if isinstance(node, dict):
        return {key: child if key == "model" else rewrite(child) for key, child in node.items()}
    if isinstance(node, list):
        return [rewrite(child) for child in node]
    if isinstance(node, str) and nudged(node):
        return "/".join(hex(int(part, 0)) for part in node.split("/"))
    return node


@pytest.mark.parametrize("path", CORRECT, ids=lambda path: path.stem)
def test_hexadecimal_and_decimal_say_the_same(path: Path) -> None:
    document = json.loads(path.read_bytes())
    assert check_certificate(json.dumps(rewrite(document))) == check_certificate(path.read_text())


JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    2,
    "",
    "x",
    "0",
    "1",
    "-1/2",
    "1/0",
    "0x",
    "0xg",
    [],
    {},
    [[]],
    ["s0"],
    {"s0": "1"},
]
JUNK += [
    "9" * 4001,
    "0x" + "f" * 9000,
    "1/3",
    "s",
    "stuck",
    ["above", "s0"],
    [["s0", "1"]],
    "\ud800",
    "\u0661",
]


def scramble(document: Document, pick: random.Random) -> Document:
    """Change the structure at random: delete, replace, repeat, exchange, add."""
    result = copy.deepcopy(document)
    for _ in range(pick.randint(1, 3)):
        nodes: list[Any] = [result]
        for node in nodes:
            children = node.values() if isinstance(node, dict) else node
            nodes += [child for child in children if isinstance(child, dict | list)]
        node = pick.choice(nodes)
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            continue
        key, action = pick.choice(keys), pick.randint(0, 5)
        if action == 0:
            del node[key]
        elif action == 1:
            node[key] = copy.deepcopy(pick.choice(JUNK))
        elif action == 2:
            node[key] = copy.deepcopy(pick.choice(nodes))
        elif action == 3:
            other = pick.choice(keys)
            node[key], node[other] = node[other], node[key]
        elif isinstance(node, list):
            node.append(copy.deepcopy(node[key]))
        else:
            node[pick.choice(["s0", "s", "x", "rank", "progress", "comment"])] = copy.deepcopy(
                pick.choice(JUNK)
            )
    return result


@pytest.mark.parametrize("seed", range(20))
def test_scrambled_structure_never_crashes_and_never_lies(seed: int) -> None:
    pick = random.Random(seed)
    documents = [json.loads(path.read_bytes()) for path in CORRECT]
    for _ in range(150):
        mutant = scramble(pick.choice(documents), pick)
        try:
            report = check_certificate(json.dumps(mutant))
        except MalformedCertificate:
            continue
        if report.valid:
            assert_true(mutant, report)


@pytest.mark.parametrize("seed", range(5))
def test_scrambled_bytes_never_crash(seed: int) -> None:
    pick = random.Random(seed)
    for _ in range(200):
        text = bytearray(pick.choice(CORRECT[:4]).read_bytes())
        for _ in range(pick.randint(1, 4)):
            place = pick.randrange(len(text))
            text[place : place + pick.randint(0, 3)] = bytes(
                pick.choices(b'0123456789"{}[],:/-xe.\xff\\u', k=2)
            )
        try:
            report = check_certificate(bytes(text))
        except MalformedCertificate:
            continue
        if report.valid:
            assert_true(json.loads(bytes(text)), report)
