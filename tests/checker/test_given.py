"""Model files beside a certificate: what the project refuses to read, the checker refuses as well."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.checker.__main__ import main
from bisimdist.errors import BisimdistError
from bisimdist.models.io import parse_model
from tests.checker.corpus import FOLDER

Document = dict[str, Any]

CERTIFICATES = {
    "lmc": "with-its-model",
    "intervals": "nature/distance-intervals",
    "interactive": "interactive-with-its-model",
    "pa": "metric/metric-am",
    "hmm": "hmm-budget/exact-two",
    "parameters": "parametric/pieces",
}
"""By kind of model a certificate about one."""

MALFORMED = sorted((Path(__file__).parents[1] / "models" / "malformed").glob("*.json"))


def certificate(kind: str) -> bytes:
    return (FOLDER / "correct" / f"{CERTIFICATES[kind]}.json").read_bytes()


def model(kind: str) -> Document:
    result: Document = json.loads(certificate(kind))["model"]
    return result


def refused_by_the_project(text: bytes) -> bool:
    try:
        parse_model(text, format="json")
    except BisimdistError:
        return True
    return False


def refused_by_the_checker(kind: str, text: bytes) -> bool:
    """Tell whether it is malformed, as the certificate is not."""
    try:
        check_certificate(certificate(kind), text)
    except MalformedCertificate:
        return True
    return False


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(part, (*path, key))


def changed(document: Document, path: tuple[Any, ...], change: Callable[[Any], Any]) -> Any:
    if not path:
        return change(document)
    result = copy.deepcopy(document)
    inside: Any = result
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = change(inside[path[-1]])
    return result


CHANGES: dict[str, Callable[[Any], Any]] = {
    "number": lambda _: 1,
    "decimal": lambda _: 0.5,
    "true": lambda _: True,
    "null": lambda _: None,
    "text": lambda _: "no such text",
    "list": lambda value: [value],
    "interval": lambda value: [value, value],
    "object": lambda value: {"s": value},
    "nothing": lambda value: type(value)(),
    "another key": lambda value: value | {"another": "x"} if isinstance(value, dict) else value,
    "one more": lambda value: [*value, *value[:1]] if isinstance(value, list) else value,
}

ADDED: dict[str, Document] = {
    "$schema": {"$schema": "model.schema.json"},
    "a number for $schema": {"$schema": 1},
    "pairs": {"pairs": [["s", "t"]]},
    "no pairs": {"pairs": []},
    "numbers for pairs": {"pairs": [[1, 2]]},
    "pairs of others": {"pairs": [["s", "nowhere"]]},
    "pairs from others": {"pairs": [["nowhere", "s"]]},
    "pairs of three": {"pairs": [["s", "t", "s"]]},
    "pairs that are none": {"pairs": "s t"},
    "program": {"program": {"function": "f"}},
    "confidence": {"confidence": "0.99"},
    "bare confidence": {"confidence": 0.99},
    "too much confidence": {"confidence": 1},
    "no confidence": {"confidence": 0},
    "confidence that is no number": {"confidence": "much"},
    "comment": {"comment": "x"},
    "no parameters": {"parameters": {}},
    "a parameter that cannot be named": {"parameters": {"1p": ["0", "1"]}},
    "a parameter without interval": {"parameters": {"p": "1"}},
    "a parameter of one value": {"parameters": {"p": ["1/2", "1/2"]}},
    "an interval the wrong way round": {"parameters": {"p": ["1", "0"]}},
    "half a character": {"program": {"function": "\ud800"}},
}


def cases(kind: str) -> Iterator[tuple[str, bytes]]:
    document = model(kind)
    for path in places(document):
        for name, change in CHANGES.items():
            yield f"{name} at {path}", json.dumps(changed(document, path, change)).encode()
        if path:
            gone = changed(document, path[:-1], partial(without, key=path[-1]))
            yield f"without {path}", json.dumps(gone).encode()
    for name, more in ADDED.items():
        yield name, json.dumps(document | more).encode()
    text = json.dumps(document)
    yield "twice", text.replace('"kind":', '"kind": "lmc", "kind":').encode()
    yield "not UTF-8", text.encode().replace(b'"kind"', b'"k\xffind"')
    yield "empty", b""
    yield "infinity", json.dumps(document | {"program": float("inf")}).encode()


def without(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return {name: part for name, part in value.items() if name != key}
    return [part for number, part in enumerate(value) if number != key]


@pytest.mark.parametrize("kind", CERTIFICATES)
def test_what_the_project_refuses_the_checker_refuses(kind: str) -> None:
    wrong, refused = [], 0
    for name, text in cases(kind):
        if refused_by_the_project(text):
            refused += 1
            if not refused_by_the_checker(kind, text):
                wrong.append(name)
    assert wrong == []
    assert refused > 50


@pytest.mark.parametrize("kind", CERTIFICATES)
def test_what_the_project_reads_as_the_same_model_is_accepted(kind: str) -> None:
    same = ["$schema", "no pairs", *(["program"] if kind in {"lmc", "interactive"} else [])]
    found = dict(cases(kind))
    for name in same:
        assert not refused_by_the_project(found[name])
        assert check_certificate(certificate(kind), found[name]).valid


@pytest.mark.parametrize("path", MALFORMED, ids=lambda path: path.stem)
def test_malformed_files_are_refused(path: Path) -> None:
    assert refused_by_the_project(path.read_bytes())
    for kind in CERTIFICATES:
        try:
            assert not check_certificate(certificate(kind), path.read_bytes()).valid
        except MalformedCertificate:
            continue


def test_the_command_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proof, given = tmp_path / "c.json", tmp_path / "m.json"
    proof.write_bytes(certificate("lmc"))
    for more in ({"comment": "x"}, {"states": dict.fromkeys(model("lmc")["states"], 1)}):
        given.write_text(json.dumps(model("lmc") | more), encoding="utf-8")
        assert main([str(proof), str(given)]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert "model file: " in err
