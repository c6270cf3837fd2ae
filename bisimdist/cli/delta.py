"""``bisimdist delta``: the true delta, certified from both sides."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.answer import Status
from bisimdist.analysis.delta import DeltaAnswer, delta
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import alpha_number, numbered, seconds, unit_number
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import named_pairs, read_model
from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.progress import Deadline
from bisimdist.report.delta import delta_data, delta_report

__all__ = ["memory_bytes", "run_delta"]

MEBIBYTE = 2**20


def memory_bytes(text: str | None) -> int | None:
    """Return how many bytes ``--memory`` allows, which is given in MiB."""
    if text is None:
        return None
    value = numbered("--memory", text)
    if value <= 0:
        raise UsageError(f"--memory {text[:40]}: expected a number of MiB above 0")
    return int((value * MEBIBYTE).floor())


def run_delta(
    model: str,
    *,
    alpha: str | None = None,
    epsilon: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    gap: str | None = None,
    worst: bool = False,
    timeout: str | None = None,
    memory: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Bound delta from both sides, print the bounds, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    alpha, epsilon
        One of the two, as an exact number.
    pairs
        Pairs of states by name; without any, those of the model.
    gap
        How narrow an interval has to be.
    worst
        Whether only the largest delta of all pairs matters.
    timeout, memory
        After how many seconds, and beyond how many MiB, to stop with what is known by then.
    certificate
        Where to write the proof.
    as_json
        Whether to print one JSON object.

    Raises
    ------
    BisimdistError
        Where the input is not usable; nothing is printed then.
    """
    deadline = Deadline.after(seconds("--timeout", timeout))
    if (alpha is None) == (epsilon is None):
        given = "neither" if alpha is None else "both"
        raise UsageError(f"{given} of --alpha and --epsilon given; expected one of them")
    skew = None if alpha is None else alpha_number("--alpha", alpha)
    level = None if epsilon is None else numbered("--epsilon", epsilon)
    wanted = unit_number("--gap", gap)
    room = memory_bytes(memory)
    chain = read_model(model)
    names = named_pairs(chain, pairs)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = delta(
                chain,
                skew,
                epsilon=level,
                pairs=names,
                gap=wanted,
                worst=worst,
                deadline=deadline,
                memory=room,
                progress=progress,
            )
        written = write_proof(answer, proof)
        shown = None if level is None else format_rational(level)
        if as_json:
            emit_data(_data(answer, shown))
        else:
            emit_report(delta_report(answer, epsilon=shown))
    return ExitCode.UNDECIDED if answer.status is Status.LIMIT or not written else ExitCode.ANSWERED


def _data(answer: DeltaAnswer, epsilon: str | None) -> dict[str, object]:
    data: dict[str, object] = {
        "command": "delta",
        "model": {"digest": answer.model.digest(), "states": len(answer.model)},
    }
    if epsilon is None:
        data["alpha"] = format_rational(answer.alpha_upper)
    else:
        data["epsilon"] = epsilon
        data["alpha"] = {
            "lower": format_rational(answer.alpha_lower),
            "upper": format_rational(answer.alpha_upper),
        }
        data["alpha_rounded"] = {"lower": "up", "upper": "down"}
    return {**data, **delta_data(answer)}
