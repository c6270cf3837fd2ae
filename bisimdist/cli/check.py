"""``bisimdist check``: does a certificate prove what it claims."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

from flint import fmpq, fmpz

from bisimdist.checker import CheckReport, Claim, MalformedCertificate, check_certificate
from bisimdist.cli.failure import ExitCode, note
from bisimdist.cli.output import emit_data, emit_report
from bisimdist.cli.source import EXAMPLE_PREFIX, STANDARD_INPUT, read_any_model, read_model, standard_input
from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.models.lmc import LMC
from bisimdist.report.numbers import at_least, at_most, short_rational
from bisimdist.report.tables import Report

__all__ = ["run_check"]

MAX_BYTES = 1 << 30
"""How large a certificate may be."""


def run_check(certificate: str, model: str | None = None, *, as_json: bool = False) -> int:
    """Check a certificate, print the verdict, and return the exit code.

    Parameters
    ----------
    certificate
        A file, or ``-`` for standard input.
    model
        The model that the certificate has to be about; None leaves that to the reader of the digest.
    as_json
        Whether to print one JSON object.

    Raises
    ------
    BisimdistError
        If the certificate or the model cannot be read as one.
    """
    if certificate == STANDARD_INPUT and model == STANDARD_INPUT:
        raise UsageError("certificate and model cannot both come from standard input")
    text = _certificate_text(certificate)
    model_text = None if model is None else _model_text(model)
    try:
        report = check_certificate(text, model_text)
    except MalformedCertificate as error:
        raise UsageError(f"{certificate}: {error}") from error
    if as_json:
        emit_data(_data(report))
    else:
        emit_report(_report(report, certificate))
    return ExitCode.ANSWERED if report.valid else ExitCode.VIOLATED


def _certificate_text(certificate: str) -> bytes:
    if certificate == STANDARD_INPUT:
        return standard_input(MAX_BYTES)
    try:
        with Path(certificate).open("rb") as file:
            text = file.read(MAX_BYTES + 1)
    except ValueError as error:
        raise UsageError(f"{certificate}: this names no file ({error})") from error
    if len(text) > MAX_BYTES:
        raise UsageError(f"{certificate}: the file is larger than the {MAX_BYTES // 2**20} MiB allowed")
    return text


def _model_text(model: str) -> str | bytes:
    """Return the model as the JSON text that the checker reads with its own parser."""
    is_json_file = PurePath(model).suffix.lower() == ".json" and not model.startswith(EXAMPLE_PREFIX)
    # Read here as well, for errors that name file and line; the checker still sees the file itself.
    if is_json_file and isinstance(read_any_model(model), LMC):
        return Path(model).read_bytes()
    text = json.dumps(read_model(model).canonical())
    note(f"{model}: read by bisimdist itself, since the checker reads models in JSON only")
    return text


def _data(report: CheckReport) -> dict[str, object]:
    return {
        "command": "check",
        "valid": report.valid,
        "claim": [_claim_data(claim) for claim in report.claims],
        "reason": report.reason,
    }


def _exact(numerator: int, denominator: int) -> fmpq:
    return fmpq(fmpz(numerator), fmpz(denominator))


def _claim_data(claim: Claim) -> dict[str, object]:
    return {
        "from": claim.source,
        "to": claim.target,
        "distance": claim.distance,
        "alpha": format_rational(_exact(claim.alpha.numerator, claim.alpha.denominator)),
        "upper": format_rational(_exact(claim.upper.numerator, claim.upper.denominator)),
        "lower": None
        if claim.lower is None
        else format_rational(_exact(claim.lower.numerator, claim.lower.denominator)),
        "exact": claim.exact,
    }


def _report(report: CheckReport, name: str) -> Report:
    rows = []
    for claim in report.claims:
        upper = _exact(claim.upper.numerator, claim.upper.denominator)
        alpha = short_rational(_exact(claim.alpha.numerator, claim.alpha.denominator))
        lower = (
            "none"
            if claim.lower is None
            else at_least(_exact(claim.lower.numerator, claim.lower.denominator))
        )
        rows.append((claim.source, claim.target, claim.distance, alpha, lower, at_most(upper)))
    verdict = "The certificate is valid: it proves every claim."
    if not report.valid:
        verdict = f"The certificate is NOT valid, nothing is proved: {report.reason}"
    return Report(
        heading=f"{name}: claims",
        columns=("from", "to", "distance", "alpha", "lower bound", "upper bound"),
        rows=tuple(rows),
        remarks=(verdict,),
    )
