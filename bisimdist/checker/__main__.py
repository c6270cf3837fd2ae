"""``python -m bisimdist.checker CERTIFICATE [MODEL.json]``: print claims and verdict.

It ends with 0 if the certificate is valid, 1 if it is not, 2 if it is malformed or cannot be read, and 3 if
the checker itself was stopped or failed, or could not print, which says nothing about the certificate.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from errno import EFBIG
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from bisimdist.checker.core.reading import MalformedCertificate, shown, text_of
from bisimdist.checker.core.shape import CheckReport, Claim
from bisimdist.checker.verdict import MAGIC, check_certificate

MAX_MEBIBYTES = 1024
"""How large a file may be."""


def sentence(claim: Claim) -> str:
    """Say what a claim about a distance says."""
    name = f"{claim.distance}({shown(claim.source)}, {shown(claim.target)}) at alpha = {text_of(claim.alpha)}"
    name += "" if claim.nature is None else f", nature {claim.nature},"
    return f"{name} {between(text_of(claim.upper), None if claim.lower is None else text_of(claim.lower))}"


def between(upper: str, lower: str | None) -> str:
    """Say which bounds a number has."""
    if lower == upper:
        return f"is exactly {upper}"
    return f"is at most {upper}" if lower is None else f"is at most {upper} and at least {lower}"


def sentences(claims: Any) -> Iterator[str]:
    """Say what claims about distances say; of those about all pairs there may be very many."""
    if isinstance(claims, tuple):
        yield from map(sentence, claims)
        return
    name = cache(shown)
    alpha = text_of(claims.alpha)
    for s, t, upper, lower in claims.texts():
        yield f"{claims.distance}({name(s)}, {name(t)}) at alpha = {alpha} {between(upper, lower)}"


def listed(claim: Mapping[str, object]) -> str:
    """List what a claim of another kind says, in printable ASCII characters."""
    return ", ".join(f"{ascii(key)[1:-1]} {json.dumps(value)}" for key, value in claim.items())


def content(file: BinaryIO) -> bytes:
    """Read a file: part by part, since one read of all it may hold would take the memory for that at once."""
    parts = list(islice(iter(lambda: file.read(1 << 20), b""), MAX_MEBIBYTES + 1))
    if len(parts) > MAX_MEBIBYTES:
        raise OSError(EFBIG, f"the file is larger than the {MAX_MEBIBYTES} MiB allowed", file.name)
    return b"".join(parts)


def checked(name: str, *model: str) -> CheckReport:
    """Check a certificate, perhaps about a model file; one in format 2 is read while it is checked.

    Nothing is read twice, as what comes through a pipe cannot be.
    """
    with ExitStack() as stack:
        file, *others = (stack.enter_context(Path(path).open("rb")) for path in (name, *model))
        compact = file.peek(len(MAGIC)).startswith(MAGIC)
        return check_certificate(file if compact else content(file), *map(content, others))


def hint(*names: str) -> str:
    """Say what to do where a file is YAML, which is not read here."""
    found = [name for name in names if name.lower().endswith((".yaml", ".yml"))]
    how = " (a model in YAML has to be written as JSON first: bisimdist show {} -o model.json)"
    return how.format(ascii(found[0])[1:-1]) if found else ""


def main(arguments: list[str]) -> int:
    """Check the certificate that is named; return the exit code."""
    out, err = sys.stdout, sys.stderr
    if len(arguments) not in (1, 2):
        err.write("usage: python -m bisimdist.checker CERTIFICATE [MODEL.json]\n")
        return 2
    try:
        report = checked(*arguments)
    except MalformedCertificate as error:
        err.write(f"{ascii(arguments[0])[1:-1]}: {error}{hint(*arguments)}\n")
        return 2
    except OSError as error:
        err.write(f"{ascii(error.filename or arguments[0])[1:-1]}: {error.strerror}\n")
        return 2
    except (KeyboardInterrupt, MemoryError, Exception) as error:  # a traceback would end with 1: not valid
        err.write(f"{ascii(arguments[0])[1:-1]}: not checked: {type(error).__name__} {shown(str(error))}\n")
        return 3
    verdict = "proved" if report.valid else "not proved"
    for said in sentences(report.claims):
        out.write(f"{verdict}: {said}\n")
    for other in report.other_claims:
        out.write(f"{verdict}: {report.kind}: {listed(other)}\n")
    if report.valid and report.digest is not None:
        out.write(f"about: {shown(report.model_kind)}, {ascii(report.digest)[1:-1]}\n")
    if not report.valid:
        out.write(f"not valid: {report.reason}\n")
    return 0 if report.valid else 1


def run(arguments: list[str]) -> int:
    """Do the same where a stream may be closed or full: then nobody has read the verdict."""
    try:
        code = main(arguments)
        sys.stdout.flush()
    except (AttributeError, OSError):  # a closed stream is None
        sys.stdout = sys.stderr = None  # else Python fails once more at its end
        return 3
    return code


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
