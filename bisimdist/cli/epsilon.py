"""``bisimdist epsilon``: the exact least budget for all observation sequences of a length."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.hmm import epsilon
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import read_hmm
from bisimdist.progress import Deadline
from bisimdist.report.hmm import budget_data, budget_report

__all__ = ["run_epsilon"]


def run_epsilon(
    model: str,
    *,
    length: int,
    up_to: bool = False,
    pairs: Sequence[tuple[str, str]] = (),
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Compute least budgets, print them, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    length, up_to
        The length of the sequences, and whether shorter ones count too.
    pairs
        Pairs of distributions by name; without any, those of the model.
    timeout
        After how many seconds to stop with a lower bound.
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
    found = read_hmm(model)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = epsilon(
                found,
                length=length,
                up_to=up_to,
                pairs=pairs or None,
                deadline=deadline,
                progress=progress,
            )
        written = write_proof(answer, proof)
    if as_json:
        emit_data(
            {
                "command": "epsilon",
                "model": {"digest": found.digest(), "states": len(found)},
                "length": length,
                "up_to": up_to,
                "pairs": [budget_data(pair) for pair in answer.pairs],
            }
        )
    else:
        emit_report(budget_report(answer))
    return ExitCode.ANSWERED if answer.exact and written else ExitCode.UNDECIDED
