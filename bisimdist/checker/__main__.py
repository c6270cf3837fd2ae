"""``python -m bisimdist.checker CERTIFICATE [MODEL.json]``: print claims and verdict.

It ends with 0 if the certificate is valid, 1 if it is not, 2 if it is malformed or cannot be read, and 3 if
the checker itself was stopped or failed, or could not print, which says nothing about the certificate. With
``--timeout SECONDS`` and ``--memory MIB`` it is stopped by limits, which a document has in any case.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from errno import EFBIG
from functools import cache
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from bisimdist.checker.core.program import origin
from bisimdist.checker.core.reading import MalformedCertificate, shown, text_of
from bisimdist.checker.core.shape import CheckReport, Claim
from bisimdist.checker.limits import LimitReached, allowed, read_seconds, read_size, within
from bisimdist.checker.verdict import MAGIC, check_certificate

MAX_MEBIBYTES = 1024  # how large a file may be

USAGE = "usage: python -m bisimdist.checker [--timeout SECONDS] [--memory MIB] CERTIFICATE [MODEL.json]\n"

OPTIONS: Mapping[str, tuple[str, Callable[[str], float | int | None]]] = {
    "--timeout": ("timeout", read_seconds),
    "--memory": ("memory", read_size),
}  # by option the limit that it sets, and what reads it


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


def checked(
    name: str,
    *model: str,
    timeout: float | None = None,
    memory: int | None = None,
    end: Callable[[str], None] | None = None,
) -> CheckReport:
    """Check a certificate, perhaps about a model file; one with compact tables is read while it is checked.

    Nothing is read twice, as what comes through a pipe cannot be. The limits are those of the size of what
    is read, if they are not said; `end` is told of them where the process has to be ended.
    """
    with ExitStack() as stack:
        file, *others = (stack.enter_context(Path(path).open("rb")) for path in (name, *model))
        compact = file.peek(len(MAGIC)).startswith(MAGIC)
        text = file if compact else content(file)
        models = [content(other) for other in others]
        size = os.fstat(file.fileno()).st_size if isinstance(text, BufferedReader) else len(text)
        stack.enter_context(within(*allowed(size + sum(map(len, models)), timeout, memory), end))
        return check_certificate(text, *models)


def arranged(arguments: Sequence[str]) -> tuple[list[str], dict[str, Any]] | None:
    """Return the files that are named, and the limits; None if the arguments are others."""
    files, limits = [], dict[str, Any]()
    rest = iter(arguments)
    for argument in rest:
        option, equals, text = argument.partition("=")
        if option not in OPTIONS:
            files.append(argument)
            continue
        name, read = OPTIONS[option]
        value = read(text if equals else next(rest, ""))
        if value is None or name in limits:
            return None
        limits[name] = value
    wrong = any(name.startswith("--") for name in files)
    return (files, limits) if len(files) in (1, 2) and not wrong else None


def hint(*names: str) -> str:
    """Say what to do where a file is YAML, which is not read here."""
    found = [name for name in names if name.lower().endswith((".yaml", ".yml"))]
    how = " (a model in YAML has to be written as JSON first: bisimdist show {} -o model.json)"
    return how.format(ascii(found[0])[1:-1]) if found else ""


def main(arguments: list[str]) -> int:
    """Check the certificate that is named; return the exit code."""
    out, err = sys.stdout, sys.stderr
    found = arranged(arguments)
    if found is None:
        err.write(USAGE)
        return 2
    arguments, limits = found

    def end(said: str) -> None:
        out.flush()
        err.write(f"{ascii(arguments[0])[1:-1]}: not checked: {said}\n")
        err.flush()

    try:
        report = checked(*arguments, **limits, end=end)
    except LimitReached as error:
        end(str(error))
        return 3
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
    for line in origin(report.program) if report.program is not None else ():
        out.write(f"{line}\n")
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
