"""``bisimdist check``: does a certificate prove what it claims."""

from __future__ import annotations

import contextlib
import functools
import json
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

from flint import fmpq, fmpz

from bisimdist.bounded import open_file, read_file
from bisimdist.checker import CheckReport, Claim, MalformedCertificate, check_certificate
from bisimdist.checker.core.reading import rational, text_of
from bisimdist.checker.rules.all_claims import AllClaims
from bisimdist.checker.verdict import MAGIC
from bisimdist.cli.failure import ExitCode, note, note_with_answer
from bisimdist.cli.output import emit_data, emit_report
from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.questions.given import Given
from bisimdist.questions.options import INPUT_FORMAT
from bisimdist.report.numbers import at_least, at_most, short_rational
from bisimdist.report.tables import Report, beginning, not_shown

if TYPE_CHECKING:
    from bisimdist.models.kinds import AnyModel

__all__ = ["run_check"]

MAX_BYTES = 1 << 30
"""How large a certificate may be."""

MAX_CELL = 80
"""How many characters of a text a person is shown."""

NUMBERS = {"lower": at_least, "upper": at_most, "alpha": short_rational, "ratio": short_rational}
"""How a person is shown the numbers in claims of other kinds."""

STANDARD_INPUT = "-"


def run_check(
    certificate: str,
    model: str | None = None,
    *,
    as_json: bool = False,
    checker: str | None = None,
    **options: Any,
) -> int:
    """Check a certificate, print the verdict, and return the exit code.

    Parameters
    ----------
    certificate
        A file, or ``-`` for standard input.
    model
        The model that the certificate has to be about; None leaves that to the reader of the digest.
    as_json
        Whether to print one JSON object.
    checker
        ``"formal"`` for the verdict of the checker that is extracted from machine-checked proofs.
    options
        How the model is read: the values of `READING_OPTIONS`.

    Raises
    ------
    BisimdistError
        If the certificate or the model cannot be read as one.
    """
    if certificate == STANDARD_INPUT and model == STANDARD_INPUT:
        raise UsageError("certificate and model cannot both come from standard input")
    given = Given({"argument": model, **options}, note_with_answer)
    with contextlib.ExitStack() as stack:
        compact = stack.enter_context(_compact(certificate))
        text = _certificate_text(certificate) if compact is None else _head(compact)
        model_text = None if model is None else _model_text(given, model, text)
        try:
            report = check_certificate(compact or text, model_text)
        except MalformedCertificate as error:
            raise UsageError(f"{certificate}: {error}") from error
    if checker is not None:
        from bisimdist.cli.proved import judged  # noqa: PLC0415

        report = judged(report, text if compact is None else MAGIC, model_text)
    if as_json:
        emit_data(_data(report))
    else:
        emit_report(_report(report, certificate))
    return ExitCode.ANSWERED if report.valid else ExitCode.VIOLATED


@contextlib.contextmanager
def _compact(certificate: str) -> Iterator[BinaryIO | None]:
    """Give the file of a certificate in format 2, which is read while it is checked, or else None."""
    if certificate == STANDARD_INPUT or not Path(certificate).is_file():
        yield None
        return
    with open_file(certificate, expected="a certificate") as file:
        compact = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        yield file if compact else None


def _head(file: BinaryIO) -> bytes:
    """Return what a certificate in format 2 says in JSON before its tables."""
    file.readline()
    head = file.readline(MAX_BYTES)
    file.seek(0)
    return head


def _certificate_text(certificate: str) -> bytes:
    if certificate == STANDARD_INPUT:
        from bisimdist.questions.source import standard_input  # noqa: PLC0415

        return standard_input(MAX_BYTES)
    return read_file(certificate, expected="a certificate", most=MAX_BYTES)


def _model_text(given: Given, model: str, certificate: bytes) -> str | bytes:
    """Return the model as the JSON text that the checker reads with its own parser."""
    # Imported here: a certificate that is checked alone needs no models, and is checked sooner.
    from bisimdist.models.hmm import HMM  # noqa: PLC0415
    from bisimdist.models.interactive import Interactive  # noqa: PLC0415
    from bisimdist.models.intervals import IntervalChain  # noqa: PLC0415
    from bisimdist.models.io import write_model  # noqa: PLC0415
    from bisimdist.models.lmc import LMC  # noqa: PLC0415
    from bisimdist.models.pa import PA  # noqa: PLC0415
    from bisimdist.models.parametric import ParametricChain  # noqa: PLC0415
    from bisimdist.questions.program_source import is_program  # noqa: PLC0415
    from bisimdist.questions.source import as_chain  # noqa: PLC0415

    kinds = {"lmc": LMC | IntervalChain | ParametricChain, "pa": PA, "hmm": HMM, "interactive": Interactive}
    named_json = given[INPUT_FORMAT] == "json" or PurePath(model).suffix.lower() == ".json"
    is_json_file = named_json and given[INPUT_FORMAT] in {None, "json"} and Path(model).is_file()
    document = _document(certificate)
    kind = _model_kind(document)
    # Read here as well, for errors that name file and line; the checker still sees the file itself.
    if is_json_file:
        read = given.any_model()
        tagged = isinstance(read, PA) and any(step.tag is not None for step in read.transitions)
        if isinstance(read, kinds.get(kind, LMC)) and not tagged:
            return Path(model).read_bytes()
    # A fully probabilistic automaton may stand for its chain.
    found = _program(given, document) if is_program(model) else given.any_model()
    if kind == "lmc" and isinstance(found, Interactive):
        raise UsageError(
            f"{model} is interactive, and the certificate about what one strategy sees of it; check it alone"
        )
    if kind == "lmc" and not isinstance(found, IntervalChain | ParametricChain):
        found = as_chain(found, given.source, given.note)
    how = "explored" if is_program(model) else "read"
    note(f"{model}: {how} by bisimdist itself, since the checker reads models in JSON only, without tags")
    return json.dumps(found.canonical()) if isinstance(found, PA) else write_model(found, "json")


def _document(certificate: bytes) -> Any:
    """Return what a certificate says, or None; whether it is one is for the checker to say."""
    try:
        return json.loads(certificate)
    except (ValueError, RecursionError):
        return None


def _model_kind(document: Any) -> str:
    """Return which kind of model a certificate is about."""
    return str(_part(document, "model", "kind") or _part(document, "proof", "model", "kind") or "lmc")


def _part(document: Any, *keys: str) -> Any:
    """Return what stands somewhere in a certificate, or None."""
    try:
        return functools.reduce(operator.getitem, keys, document)
    except (LookupError, TypeError):
        return None


def _starts(model: Any) -> tuple[str, ...]:
    """Return the states of a model, as plain data, in which a program has not begun yet: its inputs."""
    from bisimdist.programs.chain import START  # noqa: PLC0415

    states, steps = _part(model, "states"), _part(model, "transitions")
    if isinstance(states, dict):
        return tuple(name for name, label in states.items() if label == START)
    if isinstance(steps, list):  # of an automaton
        return tuple(str(_part(step, "from")) for step in steps if _part(step, "action") == START)
    return ()


def _program(given: Given, document: Any) -> AnyModel:
    """Explore a program as it was for a certificate, as far as the options do not say otherwise."""
    from bisimdist.models.intervals import IntervalChain  # noqa: PLC0415
    from bisimdist.models.lmc import LMC  # noqa: PLC0415
    from bisimdist.programs.chain import ProgramChain, ProgramInteractive  # noqa: PLC0415
    from bisimdist.questions.options import ALPHA, INPUT, OBSERVE  # noqa: PLC0415

    inside = ("proof",) if _part(document, "proof", "model") else ()
    model = _part(document, *inside, "model")
    said = _part(document, "program") or {}
    alpha = _part(document, *inside, "alpha", "lower") or _part(document, *inside, "alpha")
    values = dict(given.values)
    if not values.get(INPUT.name):
        values[INPUT.name] = _starts(model)
    values[OBSERVE.name] = values.get(OBSERVE.name) or said.get("observe")
    with contextlib.suppress(MalformedCertificate):  # the cut of a program without end depends on it
        values[ALPHA.name] = format_rational(_exact(rational(alpha, "alpha")))
    found = replace(given, values=values).any_model(cuts=True)
    now: Any = {}
    if isinstance(found, ProgramChain | ProgramInteractive | IntervalChain):
        now = found.provenance().get("sources", {})
    before = said.get("sources", {})
    for name, digest in before.items():
        if now.get(name) != digest:
            given.note(f"{name} is another one than that of which the certificate was made")
    same = before and now == before and _part(model, "kind") == found.canonical()["kind"]
    if same and found.digest() != _part(document, *inside, "digest"):
        given.note(
            "the source is the same, and another model comes of it: give --input, --cut, --gap, --cost and "
            "--coins as they were"
        )
    if isinstance(found, ProgramChain):  # also where runs are cut off
        return LMC(found.states, found.labels, found.rows, found.pairs)
    return found


def _data(report: CheckReport) -> dict[str, object]:
    digest: dict[str, object] = {}
    if report.digest is not None:
        about = {"kind": report.model_kind, "digest": report.digest}
        digest = {"digest": report.digest, "model": about}
    return {
        "command": "check",
        "valid": report.valid,
        "kind": report.kind,
        "claim": _All(report.claims)
        if isinstance(report.claims, AllClaims)
        else [*(_claim_data(claim) for claim in report.claims), *map(dict, report.other_claims)],
        "reason": report.reason,
        **digest,
    }


class _All:
    """Claims about all pairs, which write themselves."""

    def __init__(self, claims: AllClaims) -> None:
        self.claims = claims

    def json(self) -> Iterator[str]:
        """Yield the list of `_claim_data` of them."""
        name = functools.cache(json.dumps)
        shared = f'"distance": "{self.claims.distance}", "alpha": {name(text_of(self.claims.alpha))}'
        before = "["
        for s, t, upper, lower in self.claims.texts():
            bounds = (
                f'"upper": "{upper}", "lower": "{lower}", "exact": {"true" if upper == lower else "false"}'
            )
            yield f'{before}{{"from": {name(s)}, "to": {name(t)}, {shared}, {bounds}}}'
            before = ", "
        yield "]"


def _exact(number: Fraction) -> fmpq:
    return fmpq(fmpz(number.numerator), fmpz(number.denominator))


def _claim_data(claim: Claim) -> dict[str, object]:
    return {
        "from": claim.source,
        "to": claim.target,
        "distance": claim.distance,
        "alpha": format_rational(_exact(claim.alpha)),
        "upper": format_rational(_exact(claim.upper)),
        "lower": None if claim.lower is None else format_rational(_exact(claim.lower)),
        "exact": claim.exact,
        **({} if claim.nature is None else {"nature": claim.nature}),
    }


def _report(report: CheckReport, name: str) -> Report:
    other, claims = report.other_claims, report.claims
    columns, rows = _other_table(beginning(other)) if other else _table(beginning(claims))
    verdict = "The certificate is valid: it proves every claim."
    if not report.valid:
        verdict = f"The certificate is NOT valid, nothing is proved: {report.reason}"
    about = f"What it is about: {report.model_kind}, digest {report.digest}."
    remarks = [verdict] if report.digest is None else [verdict, about]
    remarks += not_shown(len(other or claims), "claims", "--json has all")
    return Report(heading=f"{name}: claims", columns=columns, rows=rows, remarks=tuple(remarks))


def _table(claims: Sequence[Claim]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    rows = tuple(
        (
            _shortened(claim.source),
            _shortened(claim.target),
            claim.distance if claim.nature is None else f"{claim.distance}, nature {claim.nature}",
            short_rational(_exact(claim.alpha)),
            "none" if claim.lower is None else at_least(_exact(claim.lower)),
            at_most(_exact(claim.upper)),
        )
        for claim in claims
    )
    return ("from", "to", "distance", "alpha", "lower bound", "upper bound"), rows


def _other_table(
    claims: Sequence[Mapping[str, object]],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Show claims of whatever kind: a column for each of their keys."""
    columns = tuple(dict.fromkeys(key for claim in claims for key in claim))
    return columns, tuple(
        tuple(_cell(key, claim[key]) if key in claim else "" for key in columns) for claim in claims
    )


def _cell(key: str, value: object) -> str:
    if isinstance(value, dict):
        return _shortened(", ".join(f"{name} {entry}" for name, entry in value.items()))
    if not isinstance(value, str):
        return _shortened(json.dumps(value))
    if key in NUMBERS:
        with contextlib.suppress(MalformedCertificate):
            return NUMBERS[key](_exact(rational(value, key)))
    return _shortened(value)


def _shortened(text: str) -> str:
    """Show a text; a long one by its ends and a digest, so that different ones look different."""
    if len(text) <= MAX_CELL:
        return text
    digest = sha256(text.encode()).hexdigest()[:12]
    return f"{text[: MAX_CELL - 20]}…{text[-20:]} ({len(text)} characters, #{digest}, all in --json)"
