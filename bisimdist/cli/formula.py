"""``bisimdist formula``: what a state can do, as a formula."""

from __future__ import annotations

from bisimdist.analysis.formulae import mimicking_formula
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_text
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import read_automaton
from bisimdist.errors import UsageError
from bisimdist.progress import Deadline
from bisimdist.report.formulae import mimicking_data

__all__ = ["run_formula"]


def run_formula(
    model: str,
    *,
    state: str | None = None,
    depth: int | None = None,
    unicode: bool = False,
    state_limit: int | None = None,
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Print the formula that mimics a state, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    state
        The name of the state.
    depth
        For how many steps; without it, for ever.
    unicode
        Whether to use the signs of the papers.
    state_limit
        How many states the automaton of a CCS_p text may have.
    timeout
        After how many seconds to give up.
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
    if state is None:
        raise UsageError("--state was not given; expected the name of a state")
    if depth is not None and depth < 0:
        raise UsageError(f"--depth {depth}: expected a natural number")
    automaton = read_automaton(model, state_limit=state_limit)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = mimicking_formula(automaton, state, depth, deadline=deadline, progress=progress)
        if as_json:
            identity = {"digest": automaton.digest(), "states": len(automaton)}
            emit_data({"command": "formula", "model": identity, **mimicking_data(answer)})
        else:
            emit_text(answer.text(unicode=unicode) + "\n")
        return ExitCode.ANSWERED if write_proof(answer, proof) else ExitCode.UNDECIDED
