"""Every public name says what it takes, what it returns, and shows how it is used; no type is left out."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
from importlib import import_module
from itertools import pairwise
from typing import Any, get_args, get_type_hints

import pytest

from bisimdist.lazily import public_names
from tests.docs.markdown import ROOT

HOMES = public_names()
NAMES = sorted(HOMES)
REFERENCE = (ROOT / "docs/reference/python.md").read_text()


def public(name: str) -> Any:
    return inspect.unwrap(getattr(import_module(HOMES[name]), name))


def sections(thing: Any) -> set[str]:
    lines = (inspect.getdoc(thing) or "").splitlines()
    return {line for line, below in pairwise(lines) if line and set(below) == {"-"}}


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_is_documented(name: str) -> None:
    thing = public(name)
    assert inspect.isclass(thing) or inspect.isfunction(thing)
    said, text = sections(thing), inspect.getdoc(thing) or ""
    assert ">>> " in text, "an example that runs"
    assert "+SKIP" not in text
    if inspect.isfunction(thing):
        assert "return" in thing.__annotations__
        assert said & {"Returns", "Yields"}
        assert not inspect.signature(thing).parameters or "Parameters" in said
        assert all(p.annotation is not p.empty for p in inspect.signature(thing).parameters.values())
    elif dataclasses.is_dataclass(thing) and any(field.init for field in dataclasses.fields(thing)):
        assert "Parameters" in said


def test_the_reference_names_what_is_public_and_its_package() -> None:
    """A row lists names of the package itself, then those of others after the name of each."""
    table = REFERENCE.partition("| --- | --- |\n")[2].partition("\n\n")[0]
    listed: dict[str, str] = {}
    for row in table.splitlines():
        home = "bisimdist"
        for name in re.findall(r"`([\w.]+)`", re.sub(r"\([^()]*\)", "", row)):
            if name.startswith("bisimdist."):
                home = name
            else:
                listed[name] = home
    errors = dict.fromkeys(("NumberTypeError", "StoppedError"), "bisimdist.errors")
    assert listed == HOMES | errors, "name it in docs/reference/python.md"


def results(hint: Any) -> list[type]:
    found = [hint] if inspect.isclass(hint) and hint.__module__.startswith("bisimdist") else []
    return found + [part for argument in get_args(hint) for part in results(argument)]


def test_what_public_functions_return_is_public() -> None:
    known = {getattr(import_module(HOMES[name]), name) for name in NAMES}
    missing = {
        f"{name} returns {part.__name__}"
        for name in NAMES
        if inspect.isfunction(public(name))
        for part in results(get_type_hints(public(name))["return"])
        if part not in known and not issubclass(part, enum.Enum)
    }
    assert not missing
