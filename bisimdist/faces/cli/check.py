"""``bisimdist check``: does a certificate prove what it claims."""

from __future__ import annotations

import contextlib
import functools
import json
import operator
import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, BinaryIO

from flint import fmpq, fmpz

from bisimdist.bounded import open_file, read_file
from bisimdist.checker import CheckReport, Claim, MalformedCertificate, check_certificate
from bisimdist.checker.claims.all_claims import AllClaims
from bisimdist.checker.core.program import origin
from bisimdist.checker.core.reading import rational
from bisimdist.checker.limits import LimitReached, allowed, read_size, within
from bisimdist.checker.verdict import MAGIC
from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.numbers import seconds
from bisimdist.faces.asked.options import INPUT_FORMAT
from bisimdist.faces.asked.reading_options import AGAINST, CONSTANTS, HIDE_SILENT
from bisimdist.faces.cli.failure import ExitCode, note, note_with_answer
from bisimdist.faces.cli.output import OutputFile, emit, emit_data, emit_report
from bisimdist.faces.shown.numbers import at_least, at_most, short_rational
from bisimdist.faces.shown.tables import Report, beginning, not_shown

if TYPE_CHECKING:
    from bisimdist.models.kinds import AnyModel

MAX_BYTES = 1 << 30  # how large a certificate may be
MAX_CELL = 80  # how many characters of a text a person is shown

NUMBERS = {"lower": at_least, "upper": at_most, "alpha": short_rational, "ratio": short_rational}
"""How a person is shown the numbers in claims of other kinds."""

STANDARD_INPUT = "-"


def run_check(
    certificate: str,
    model: str | None = None,
    *,
    as_json: bool = False,
    checker: str | None = None,
    timeout: str | None = None,
    memory: str | None = None,
    attestation: str | None = None,
    key: str | None = None,
    **options: Any,
) -> int:
    """Check a certificate, print the verdict, and return the exit code.

    ``certificate``: a file, or ``-`` for standard input.
    ``model``: the model that the certificate has to be about; None leaves that to the reader of the digest.
    ``as_json``: whether to print one JSON object.
    ``checker``: ``"formal"`` for the verdict of the checker that is extracted from machine-checked proofs.
    ``timeout``, ``memory``: how many seconds the check may take, and how much memory, as they are written;
        None for what goes with the size of the files.
    ``attestation``, ``key``: the files of an attestation that has to hold, and of the public key of whoever
        signed it.
    ``options``: how the model is read: the values of `READING_OPTIONS`.
    """
    if (attestation is None) != (key is None):
        raise UsageError("--attestation FILE and --key KEY go together: the public key of the signer")
    if certificate == STANDARD_INPUT and model == STANDARD_INPUT:
        raise UsageError("certificate and model cannot both come from standard input")
    limits = seconds("--timeout", timeout), _size(memory)
    given = Given({"argument": model, **options}, note_with_answer)
    with contextlib.ExitStack() as stack:
        compact = stack.enter_context(_compact(certificate))
        text = _certificate_text(certificate) if compact is None else _head(compact)
        model_text = None if model is None else _model_text(given, model, text)
        size = len(text) if compact is None else os.fstat(compact.fileno()).st_size
        try:
            with within(*allowed(size + len(model_text or ""), *limits), _end):
                report = check_certificate(compact or text, model_text)
                if checker is not None:
                    from bisimdist.faces.cli.proved import judged  # noqa: PLC0415

                    report = judged(report, text if compact is None else MAGIC, model_text)
        except MalformedCertificate as error:
            raise UsageError(f"{certificate}: {error}") from error
        except LimitReached as error:
            raise LimitError(f"{certificate}: {error}; give --timeout or --memory for more") from None
    shown, data = _report(report, certificate), _data(report)
    holds = report.valid
    if attestation is not None and key is not None:
        from bisimdist.faces.cli.attest import verified  # noqa: PLC0415

        whole = text if compact is None else read_file(certificate, expected="a certificate", most=MAX_BYTES)
        found = verified(attestation, whole, data, key)
        holds = holds and found.holds
        shown, data = (
            replace(shown, remarks=(*shown.remarks, found.remark())),
            {**data, "attestation": found.data()},
        )
    if as_json:
        emit_data(data)
    else:
        emit_report(shown)
    return ExitCode.ANSWERED if holds else ExitCode.VIOLATED


def run_attest(certificate: str, *, key: str, output: str | None = None) -> int:
    """Check a certificate; if it is valid, write a signed statement that says so; return the exit code."""
    from bisimdist.faces.cli.attest import attested  # noqa: PLC0415

    text = _certificate_text(certificate)
    with OutputFile(output, option="--output") as file:
        try:
            with within(*allowed(len(text), None, None), _end):
                report = check_certificate(text)
        except MalformedCertificate as error:
            raise UsageError(f"{certificate}: {error}") from error
        except LimitReached as error:
            raise LimitError(f"{certificate}: {error}") from None
        if not report.valid:
            note(f"{certificate}: not valid, and nothing is signed: {report.reason}")
            return ExitCode.VIOLATED
        said = attested(text, certificate, _data(report), key)
        if output is None:
            emit(said)
        else:
            file.write(said)
    return ExitCode.ANSWERED


def _size(text: str | None) -> int | None:
    """Return how many bytes a limit of memory is."""
    found = None if text is None else read_size(text)
    if text is not None and not found:
        raise UsageError(f"--memory {text}: expected a size in MiB, or one such as 2G")
    return found


def _end(said: str) -> None:
    note(f"error: not decided: {said}")


@contextlib.contextmanager
def _compact(certificate: str) -> Iterator[BinaryIO | None]:
    """Give the file of a certificate with compact tables, which is read while it is checked, or else None."""
    if certificate == STANDARD_INPUT or not Path(certificate).is_file():
        yield None
        return
    with open_file(certificate, expected="a certificate") as file:
        compact = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        yield file if compact else None


def _head(file: BinaryIO) -> bytes:
    """Return what a certificate says in JSON before its compact tables."""
    file.readline()
    head = file.readline(MAX_BYTES)
    file.seek(0)
    return head


def _certificate_text(certificate: str) -> bytes:
    if certificate == STANDARD_INPUT:
        from bisimdist.faces.asked.source import standard_input  # noqa: PLC0415

        return standard_input(MAX_BYTES)
    return read_file(certificate, expected="a certificate", most=MAX_BYTES)


def _model_text(given: Given, model: str, certificate: bytes) -> str | bytes:
    """Return the model as the JSON text that the checker reads with its own parser."""
    # Imported here: a certificate that is checked alone needs no models, and is checked sooner.
    from bisimdist.faces.asked.program_source import is_program  # noqa: PLC0415
    from bisimdist.faces.asked.source import as_chain  # noqa: PLC0415
    from bisimdist.models.analyst import check_known  # noqa: PLC0415
    from bisimdist.models.hmm import HMM  # noqa: PLC0415
    from bisimdist.models.interactive import Interactive  # noqa: PLC0415
    from bisimdist.models.intervals import IntervalChain  # noqa: PLC0415
    from bisimdist.models.io import write_model  # noqa: PLC0415
    from bisimdist.models.lmc import LMC  # noqa: PLC0415
    from bisimdist.models.pa import PA  # noqa: PLC0415
    from bisimdist.models.parametric import ParametricChain  # noqa: PLC0415

    named_json = given[INPUT_FORMAT] == "json" or PurePath(model).suffix.lower() == ".json"
    changed = given[CONSTANTS] or given[HIDE_SILENT] or given[AGAINST]
    is_json_file = (
        named_json and given[INPUT_FORMAT] in {None, "json"} and not changed and Path(model).is_file()
    )
    document = _document(certificate)
    kind = _model_kind(document)
    # Read here as well, for errors that name file and line; the checker still sees the file itself.
    if is_json_file:
        read = given.any_model()
        tagged = isinstance(read, PA) and any(step.tag is not None for step in read.transitions)
        text = Path(model).read_bytes().removeprefix(BOM_UTF8)
        own = _document(text)
        settled = isinstance(read, LMC | HMM | Interactive) and _holds_lists(
            [_part(own, part) for part in ("states", "transitions", "distributions")]
        )
        if _part(own, "kind") == kind and not tagged and not settled:
            return text
    # A fully probabilistic automaton may stand for its chain.
    found = _program(given, document) if is_program(model) else given.any_model()
    claims = _part(document, "claims")
    if isinstance(claims, list) and any("fixed" in str(_part(claim, "quantity")) for claim in claims):
        check_known(found, "a sequence that is fixed beforehand would fix its picks, too")
    if kind == "lmc" and isinstance(found, Interactive):
        raise UsageError(
            f"{model} is interactive, and the certificate about what one strategy sees of it; check it alone"
        )
    known = kind == "lmc" and not isinstance(found, IntervalChain | ParametricChain)
    if known or (kind == "pa" and isinstance(found, HMM)):
        found = as_chain(found, given.source, given.note)
    how = "explored" if is_program(model) else "read"
    note(f"{model}: bisimdist itself {how} this model, because the checker reads plain JSON without options")
    return json.dumps(found.canonical()) if isinstance(found, PA) else write_model(found, "json")


def _document(certificate: bytes) -> Any:
    """Return what a certificate says, or None; whether it is one is for the checker to say."""
    try:
        return json.loads(certificate)
    except (ValueError, RecursionError):
        return None


def _holds_lists(parts: list[Any]) -> bool:
    """Tell whether a list stands anywhere in mappings: an interval that leaves no choice."""
    return any(
        isinstance(part, list) or (isinstance(part, dict) and _holds_lists(list(part.values())))
        for part in parts
    )


def _model_kind(document: Any) -> str:
    """Return which kind of model a certificate is about."""
    return str(_part(document, "model", "kind") or _part(document, "proof", "model", "kind") or "lmc")


def _part(document: Any, *keys: str | int) -> Any:
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
    from bisimdist.faces.asked.options import ALPHA, INPUT, OBSERVE  # noqa: PLC0415
    from bisimdist.models.intervals import IntervalChain  # noqa: PLC0415
    from bisimdist.models.lmc import LMC  # noqa: PLC0415
    from bisimdist.programs.chain import ProgramChain, ProgramInteractive  # noqa: PLC0415

    model, said = _part(document, "model"), _part(document, "program") or {}
    proof = _part(document, "reduced", 0, "proof") or document
    alpha = _part(proof, "alpha", "lower") or _part(proof, "alpha")
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
            given.note(f"{name} is not the file from which the certificate was made")
    same = before and now == before and _part(model, "kind") == found.canonical()["kind"]
    if same and found.digest() != _part(document, "digest"):
        given.note(
            "the source is the same, but its model is another one: give --input, --cut, --gap, --cost and "
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
    claims = report.claims
    # A short file may claim something of millions of pairs.
    said, left_out = claims, {}
    if isinstance(claims, AllClaims):
        said = beginning(claims)
        left_out = {"left_out": len(claims) - len(said)}
    return {
        "command": "check",
        "valid": report.valid,
        "kind": report.kind,
        "claim": [*(_claim_data(claim) for claim in said), *map(dict, report.other_claims)],
        **left_out,
        "reason": report.reason,
        **digest,
        **({} if report.program is None else {"program": report.program}),
    }


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
    if report.program is not None:
        remarks += [f"{line[:1].upper()}{line[1:]}." for line in origin(report.program)]
    has_all = "python -m bisimdist.checker prints all" if isinstance(claims, AllClaims) else "--json has all"
    remarks += not_shown(len(other or claims), "claims", has_all)
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
    if isinstance(value, dict) and key == "budget":  # by ratio of noise an exponent, a form over parameters
        exponents = {
            base: " + ".join(f"{n} {name}".rstrip() for name, n in e.items()) for base, e in value.items()
        }
        return _shortened(" ".join(f"({base})^-({text or 0})" for base, text in exponents.items()))
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
