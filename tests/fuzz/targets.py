"""Every reader as a function of bytes, that may refuse them in its own words and do nothing else."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.errors import BisimdistError
from bisimdist.logic.engine.formula_parser import parse_distribution_formula, parse_formula
from bisimdist.logic.engine.linear_parser import parse_trace_formula
from bisimdist.models.expression import parse_expression
from bisimdist.models.io import parse_model, read_prism, write_model
from bisimdist.traces.secrets.file import load_secret_table
from tests.campaign.draw import draw

__all__ = ["TARGETS", "Target"]

TESTS = Path(__file__).parents[1]
PARTS = b"\n%%\n"
"""What separates the files of a PRISM model."""
STATES = 300


@dataclass(frozen=True, slots=True)
class Target:
    """A reader.

    Parameters
    ----------
    read
        Reads bytes. It may raise errors of `refusals`, and no others.
    refusals
        Its own errors.
    seeds
        Yields texts to begin with.
    tokens
        Words that matter to it.
    longest
        How many bytes an input may have.
    """

    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...]
    seeds: Callable[[], Iterator[bytes]]
    tokens: tuple[str, ...] = ()
    longest: int = 2000

    def __call__(self, data: bytes) -> bool:
        """Read bytes and tell whether they were taken; whatever is neither is raised."""
        try:
            self.read(data)
        except self.refusals as error:
            if "\n" in str(error):
                raise AssertionError(f"an error of more than one line: {error}") from error
            return False
        return True


def _files(pattern: str, *folders: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for folder in folders:
            for path in sorted((TESTS / folder).rglob(pattern)):
                if path.is_file() and path.stat().st_size < 4000:
                    yield path.read_bytes()

    return seeds


def _drawn(name: str, pattern: str, *kinds: str) -> Callable[[], Iterator[bytes]]:
    def seeds() -> Iterator[bytes]:
        for number in range(6 * len(kinds)):
            case = draw(1, number, kinds)
            text = case.text
            yield (write_model(parse_model(text), name) if name == "yaml" else text).encode()
        yield from _files(pattern, "models/valid", "models/malformed")()

    return seeds


def _texts(*texts: str) -> Callable[[], Iterator[bytes]]:
    return lambda: iter(text.encode() for text in texts)


def _text(data: bytes) -> str:
    """Return bytes as the text that a command line or a program could hand over."""
    return data.decode("utf-8", errors="replace")


def _model(name: str | None) -> Callable[[bytes], object]:
    """Read a format; without a name the one that the content says."""
    limit = STATES if name in {"ccsp", None} else None
    return lambda data: parse_model(data, format=name, state_limit=limit)


def _prism(data: bytes) -> object:
    transitions, _, rest = data.partition(PARTS)
    labels, _, states = rest.partition(PARTS)
    return read_prism(_text(transitions), _text(labels), _text(states) if states else None)


def _prism_seeds() -> Iterator[bytes]:
    for folder in ("models/valid", "models/malformed"):
        for path in sorted((TESTS / folder).rglob("*.tra")):
            beside = path.with_suffix(".lab")
            yield path.read_bytes() + PARTS + (beside.read_bytes() if beside.exists() else b"")
    labels = b'0="init" 1="a" 2="b"\n0: 0 1\n1: 1\n2: 2\n'
    yield PARTS.join((b"3 4\n0 1 0.5\n0 2 0.5\n1 1 1\n2 2 1\n", labels, b"(x)\n0:(0)\n1:(1)\n2:(2)\n"))


def _secrets(data: bytes) -> object:
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(data)
        file.flush()
        return load_secret_table(file.name)


def _certificate(data: bytes) -> object:
    return check_certificate(data)


def _certificate_and_model(data: bytes) -> object:
    certificate, _, model = data.partition(PARTS)
    return check_certificate(certificate, model)


def _certificate_seeds() -> Iterator[bytes]:
    yield from _files("*.json", "certificates/correct", "certificates/incorrect", "certificates/malformed")()


def _both_seeds() -> Iterator[bytes]:
    for text in _files("*.json", "certificates/correct")():
        document = json.loads(text)
        if "model" in document:
            yield text + PARTS + json.dumps(document["model"]).encode()


MODEL_WORDS = ("kind", "lmc", "pa", "hmm", "states", "transitions", "pairs", "observations", "parameters")
DOCUMENTS = ("lmc", "pa", "hmm", "parametric")
OWN = (BisimdistError,)

TARGETS: Mapping[str, Target] = {
    "json": Target(_model("json"), OWN, _drawn("json", "*.json", *DOCUMENTS), MODEL_WORDS),
    "yaml": Target(_model("yaml"), OWN, _drawn("yaml", "*.yaml", *DOCUMENTS), MODEL_WORDS),
    "content": Target(
        _model(None), OWN, _files("*.*", "models/valid", "models/malformed", "models/io"), MODEL_WORDS
    ),
    "prism": Target(_prism, OWN, _prism_seeds, ("init", "deadlock")),
    "ccsp": Target(
        _model("ccsp"),
        OWN,
        _drawn("ccsp", "*.ccsp", "ccs"),
        ("main", "pairs", "limit", "tau", "(nu a)", "(+)", "1/2:"),
        400,
    ),
    "formula": Target(
        lambda data: parse_formula(_text(data)),
        OWN,
        _texts(
            "T",
            "!<a>T & <b>(1/2 <a>T + 1/2 !T)",
            "rec X = <a>X; Y = !X in X",
            "let x = <a>T; m = (1 x) in <b>m",
            "\u27e8a\u27e9(\u22a4)",
        ),
        ("let", "rec", "in", "<a>", "1/2", "\u2295", "\u00ac", "\u2227"),
        400,
    ),
    "distribution formula": Target(
        lambda data: parse_distribution_formula(_text(data)),
        OWN,
        _texts("(1/2 <a>T + 1/2 T)", "let x = T in (1 x)", "()"),
        ("let", "in", "<a>", "1/2", "\u2295"),
        400,
    ),
    "trace formula": Target(
        lambda data: parse_trace_formula(_text(data)),
        OWN,
        _texts('3/4 <tau><tau><"no, no">T', "<a>T", "T", "0.5 \u27e8a\u27e9\u22a4"),
        ("<a>", '<"', "\\u00", "1e-9"),
        300,
    ),
    "expression": Target(
        lambda data: parse_expression(_text(data), ("p", "q")),
        OWN,
        _texts("1-(1-p)^2", "(p*q+1/2)/(1+p+q)^3", "2e-1*p", "-q"),
        ("^", "/", "(1-p)", "p*q"),
        200,
    ),
    "secrets": Target(
        _secrets,
        OWN,
        _texts('[["x", "y", 1]]', '{"distances": [["x", "y", "1/2"]], "secrets": {"x": "s0", "y": "s1"}}'),
        ("distances", "secrets"),
        300,
    ),
    "certificate": Target(
        _certificate, (MalformedCertificate,), _certificate_seeds, ("kind", "claims", "upper", "lower"), 4000
    ),
    "certificate and model": Target(_certificate_and_model, (MalformedCertificate,), _both_seeds, (), 4000),
}
