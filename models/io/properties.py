"""PRISM's property files: their labels, and the atoms of their formulas, as observations.

See the PRISM manual, "Property Specification".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bisimdist.bounded import decoded, read_file
from bisimdist.errors import ModelError
from bisimdist.models.io.predicates import Node, Parser

EXTENSIONS = (".props", ".pctl", ".csl", ".ltl", ".prctl", ".pltl")  # how the names of property files end

_DECLARED = re.compile(
    r"\b(?:formula|const(?:\s+(?:int|double|bool|rate|prob))?)\s+([A-Za-z_]\w*)\s*=\s*([^;]+);"
)
_OBSERVABLES = re.compile(r"\bobservables\b(.*?)\bendobservables\b", re.DOTALL)
_OBSERVABLE = re.compile(r"\bobservable\s*\"([^\"]+)\"\s*=\s*([^;]+);")
_COMMENT = re.compile(r"//[^\n]*")


@dataclass(frozen=True, slots=True)
class Properties:
    """What a property file makes visible."""

    expressions: Mapping[str, Node]  # by label or atom its expression; an atom is called as it is written
    constants: Mapping[str, str]  # by constant its expression
    left_out: tuple[str, ...] = ()  # what was not understood, as one line each


def declared(text: str) -> dict[str, str]:
    """Return the formulas of a model in PRISM's language, and its constants with a value, as texts.

    >>> declared("const int N = 3; formula full = x=N; // formula no = 1;")
    {'N': '3', 'full': 'x=N'}
    """
    return {found[1]: found[2].strip() for found in _DECLARED.finditer(_COMMENT.sub("", text))}


def observables(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return what a POMDP in PRISM's language shows: variables, and by name expressions.

    >>> observables('observables x, y endobservables observable "full" = z=3;')
    (('x', 'y'), {'full': 'z=3'})
    """
    plain = _COMMENT.sub("", text)
    names = [name.strip() for found in _OBSERVABLES.finditer(plain) for name in found[1].split(",")]
    return tuple(filter(None, names)), {found[1]: found[2].strip() for found in _OBSERVABLE.finditer(plain)}


def read_properties(text: str) -> Properties:
    """Return what the text of a property file makes visible.

    >>> found = read_properties('label "lost" = s=5; P=? [ F<=7 s=4 & !"lost" ]; R=? [ C<=3 ]')
    >>> list(found.expressions)
    ['lost', 's=4 & !"lost"']
    """
    parser = Parser(text, temporal=True)
    expressions: dict[str, Node] = {}
    constants: dict[str, str] = {}
    left_out = []
    while parser.kind:
        if parser.sign(";"):
            parser.advance()
            continue
        start = parser.start
        try:
            _take(parser, expressions, constants)
        except ModelError as error:
            line = text.count("\n", 0, start) + 1
            left_out.append(f"line {line} was left out: {error.message}")
            while parser.kind and not parser.sign(";") and "\n" not in text[start : parser.start]:
                parser.advance()
    return Properties(expressions, constants, tuple(left_out))


def _take(parser: Parser, expressions: dict[str, Node], constants: dict[str, str]) -> None:
    parser.depth = 0
    word = parser.advance() if parser.kind == "word" and parser.token in {"label", "const", "formula"} else ""
    if word == "label":
        if parser.kind != "label":
            raise ModelError(f"found {parser.token!r}; expected the name of a label in quotes")
        name = parser.advance()
        parser.take("=")
        expressions[name] = parser.expression()
        return
    if word:
        name = parser.advance()
        if word == "const" and name in {"int", "double", "bool"}:
            name = parser.advance()
        if parser.sign("="):
            parser.advance()
            constants[name] = parser.expression().text
        return
    if parser.kind == "label" and parser.text[parser.end :].lstrip().startswith(":"):
        parser.advance()
        parser.take(":")
    try:
        for atom in parser.expression().atoms():
            expressions.setdefault(atom.text, atom)
    except RecursionError:
        raise ModelError("the formula is nested too deeply") from None


def properties_of(path: str) -> Properties:
    """Return what a property file makes visible.

    Raises ModelError if the file cannot be read, or has nothing to observe.
    """
    found = read_properties(decoded(read_file(path, expected="a property file of PRISM")))
    if not found.expressions:
        why = f" ({found.left_out[0]})" if found.left_out else ""
        raise ModelError(f"there is no label and no atom in it{why}; expected some to observe", source=path)
    return found


def properties_beside(path: Path) -> tuple[Path, list[str]] | None:
    """Return a property file beside a model with what it makes visible, if there is one."""
    own = [path.with_suffix(suffix) for suffix in EXTENSIONS]
    try:
        others = sorted(file for file in path.parent.iterdir() if file.suffix.lower() in EXTENSIONS)
    except OSError:
        return None
    for file in (*own, *others):
        try:
            if file.is_file():
                return file, list(properties_of(str(file)).expressions)
        except ModelError:
            continue
    return None
