"""``bisimdist equivalence``: which states give every trace the same probability."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.answer import Status
from bisimdist.analysis.trace_logic import trace_equivalence
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import named_pairs, read_automaton
from bisimdist.progress import Deadline
from bisimdist.report.trace_logic import equivalence_data, equivalence_report

__all__ = ["run_equivalence"]

VERDICTS = {True: "holds", False: "violated", None: "unknown"}


def run_equivalence(
    model: str,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    state_limit: int | None = None,
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Decide trace equivalence, print the answer, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    pairs
        Pairs of states by name; without any, those of the model.
    state_limit
        How many states the automaton of a CCS_p text may have.
    timeout
        After how many seconds to stop with what is known by then.
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
    automaton = read_automaton(model, state_limit=state_limit, fully_probabilistic=True)
    names = named_pairs(automaton, pairs)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = trace_equivalence(automaton, names, deadline=deadline, progress=progress)
        if as_json:
            emit_data(
                {
                    "command": "equivalence",
                    "model": {"digest": automaton.digest(), "states": len(automaton)},
                    "verdict": VERDICTS[answer.equivalent],
                    "pairs": [equivalence_data(pair) for pair in answer.pairs],
                    "status": answer.status.value,
                }
            )
        else:
            emit_report(equivalence_report(answer))
        written = write_proof(answer, proof)
    if answer.equivalent is False:
        return ExitCode.VIOLATED
    return ExitCode.ANSWERED if answer.status is Status.EXACT and written else ExitCode.UNDECIDED
