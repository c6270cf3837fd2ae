"""Every place of every correct certificate holds junk once: refused, or the same claim, never a crash."""

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


def shape(document: Any) -> set[tuple[Any, ...]]:
    """Return which places a document has, entries of a list and names of states taken as one."""
    names = {name for key in ("states", "distributions") for name in document.get("model", {}).get(key, ())}
    return {
        tuple("*" if isinstance(key, int) or key in names else key for key in place)
        for _, place in places(document)
    }


def chosen() -> list[Entry]:
    """Return so many correct certificates that every place occurs in one of them."""
    seen: set[tuple[Any, ...]] = set()
    result = []
    documents = [entry for entry in entries("correct") if entry.path.suffix == ".json"]
    for entry in sorted(documents, key=lambda entry: len(entry.texts()[0])):
        document = json.loads(entry.path.read_bytes())
        found = {(document.get("kind"), *place) for place in shape(document)}
        if not found <= seen:
            seen |= found
            result.append(entry)
    return result


LONG = 4000
"""Certificates of so many bytes have so many places that the two tests take a minute."""

CORRECT = [
    pytest.param(entry, id=entry.name, marks=[pytest.mark.slow] * (entry.path.stat().st_size > LONG))
    for entry in chosen()
]


def verdict(document: Any) -> CheckReport | None:
    """Return what is said of a document, None if it is malformed."""
    try:
        return check_certificate(json.dumps(document))
    except MalformedCertificate as error:
        assert str(error)
        return None


@pytest.mark.parametrize("entry", CORRECT)
def test_junk_anywhere_is_refused_or_says_the_same(entry: Entry) -> None:
    document = json.loads(entry.path.read_bytes())
    claims = check_certificate(entry.path.read_bytes()).plain_claims()
    for node, place in list(places(document)):
        kept = node[place[-1]]
        for junk in JUNK:
            node[place[-1]] = junk
            report = verdict(document)
            if report is not None and report.valid and place[0] not in SAID:
                assert report.plain_claims() == claims, place
        node[place[-1]] = kept
    assert check_certificate(entry.path.read_bytes()).valid


@pytest.mark.parametrize("entry", CORRECT)
def test_a_key_or_an_entry_less_or_twice_is_no_crash(entry: Entry) -> None:
    document = json.loads(entry.path.read_bytes())
    for node, place in list(places(document)):
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
