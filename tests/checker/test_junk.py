"""Every place of correct certificates holds junk once: refused, or the same claim, never a crash.

Places are alike if they differ in names of states and in numbers of entries only. One of those that
are alike is tried, and all of them by the slow tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from bisimdist.checker import CheckReport, MalformedCertificate, check_certificate
from tests.checker.corpus import Entry, entries

JUNK: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**6,
    [],
    ["x"],
    [[]],
    {},
    {"x": "1"},
    "",
    "0",
    "-1",
    "inf",
    "x",
    "1/0",
)
"""Wrong in most places: of another type, empty, negative, infinite, or unknown."""

SAID = {"claims", "parts", "alpha", "discount", "distance", "metric", "length", "up_to", "mechanism"}
"""What a claim is made of: where it changes, the claim is another one."""


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Yield every container with a key of it, and the whole path."""
    for key, child in node.items() if isinstance(node, dict) else enumerate(node):
        yield node, (*path, key)
        if isinstance(child, dict | list):
            yield from places(child, (*path, key))


def shape(document: Any) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    """Return a place of each shape in a document: entries of a list, and names of states are one."""
    names = {name for key in ("states", "distributions") for name in document.get("model", {}).get(key, ())}
    return {
        tuple("*" if isinstance(key, int) or key in names else key for key in place): place
        for _, place in places(document)
    }


def chosen() -> list[tuple[Entry, list[tuple[Any, ...]]]]:
    """Return so many correct certificates that every shape occurs, each with a place of each that is new."""
    seen: set[tuple[Any, ...]] = set()
    result = []
    documents = [entry for entry in entries("correct") if entry.path.suffix == ".json"]
    for entry in sorted(documents, key=lambda entry: len(entry.texts()[0])):
        document = json.loads(entry.path.read_bytes())
        found = {(document.get("kind"), *name): place for name, place in shape(document).items()}
        if new := [place for name, place in found.items() if name not in seen]:
            seen |= found.keys()
            result.append((entry, new))
    return result


LONG = 4000
"""A check of a certificate of more bytes takes too long to be made a thousand times."""

CORRECT = [
    pytest.param(entry, some, id=entry.name + (", everywhere" if some is None else ""), marks=marks)
    for entry, new in chosen()
    for some, marks in (
        (new, [pytest.mark.slow] * (entry.path.stat().st_size > LONG)),
        (None, [pytest.mark.slow]),
    )
]


def tried(document: Any, some: list[tuple[Any, ...]] | None) -> list[tuple[Any, tuple[Any, ...]]]:
    """Return the containers and places that are tried: some of them, or all."""
    return [(node, place) for node, place in places(document) if some is None or place in some]


def verdict(document: Any) -> CheckReport | None:
    """Return what is said of a document, None if it is malformed."""
    try:
        return check_certificate(json.dumps(document))
    except MalformedCertificate as error:
        assert str(error)
        return None


@pytest.mark.parametrize(("entry", "some"), CORRECT)
def test_junk_anywhere_is_refused_or_says_the_same(entry: Entry, some: list[tuple[Any, ...]] | None) -> None:
    document = json.loads(entry.path.read_bytes())
    claims = check_certificate(entry.path.read_bytes()).plain_claims()
    for node, place in tried(document, some):
        kept = node[place[-1]]
        for junk in JUNK:
            node[place[-1]] = junk
            report = verdict(document)
            if report is not None and report.valid and place[0] not in SAID:
                assert report.plain_claims() == claims, place
        node[place[-1]] = kept
    assert check_certificate(entry.path.read_bytes()).valid


@pytest.mark.parametrize(("entry", "some"), CORRECT)
def test_a_key_or_an_entry_less_or_twice_is_no_crash(
    entry: Entry, some: list[tuple[Any, ...]] | None
) -> None:
    document = json.loads(entry.path.read_bytes())
    for node, place in tried(document, some):
        if isinstance(node, dict):
            kept = dict(node)
            del node[place[-1]]
            verdict(document)
            node["another"] = kept[place[-1]]
            verdict(document)
            node.clear()
            node.update(kept)
        else:
            entries = list(node)
            del node[place[-1]]
            verdict(document)
            node[:] = [*entries, entries[place[-1]]]
            verdict(document)
            node[:] = entries
