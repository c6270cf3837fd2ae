"""``bisimdist traces``: the formulae of the trace logic that a state satisfies."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.answer import Status
from bisimdist.analysis.trace_logic import (
    LIMIT,
    TraceSatisfactionsAnswer,
    satisfies_trace_formulae,
    trace_formulae,
)
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import read_automaton
from bisimdist.errors import ModelError, UsageError
from bisimdist.logic.linear import TraceFormula
from bisimdist.logic.linear_parser import parse_trace_formula
from bisimdist.models.pa import PA
from bisimdist.progress import Deadline
from bisimdist.questions.numbers import seconds
from bisimdist.report.trace_logic import (
    formulae_data,
    formulae_report,
    satisfactions_data,
    satisfactions_report,
)

__all__ = ["run_traces"]

WRITING = 4e-7
"""How many seconds it takes to write an action as JSON, about."""


def run_traces(
    model: str,
    *,
    state: str | None = None,
    depth: int | None = None,
    formulae: Sequence[str] = (),
    limit: int | None = None,
    ends: str = "visible",
    state_limit: int | None = None,
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """List the formulae of a state or check some, print the answer, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    state
        The name of the state.
    depth
        How many actions formulae may have; any number by default.
    formulae
        Formulae as texts: then it is asked whether the state satisfies all of them.
    limit
        How many formulae to list at most.
    ends
        ``visible`` or ``hidden``: whether an observer sees that a run has ended.
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
    if state is None:
        raise UsageError("--state was not given; expected the name of a state")
    for option, number, least in (
        ("--depth", depth, 0),
        ("--limit", limit, 0),
        ("--state-limit", state_limit, 1),
    ):
        if number is not None and number < least:
            raise UsageError(f"{option} {number}: expected at least {least}")
    if formulae and (depth is not None or limit is not None):
        raise UsageError("--formula is checked by itself; --depth and --limit do not apply")
    deadline = Deadline.after(seconds("--timeout", timeout))
    meant = [_read(text) for text in formulae]
    automaton = read_automaton(model, state_limit=state_limit, fully_probabilistic=True)
    with OutputFile(certificate, option="--certificate") as proof:
        if meant:
            answered = satisfies_trace_formulae(automaton, state, meant, ends=ends)
            return _report_check(automaton, answered, proof, as_json=as_json)
        answer = trace_formulae(
            automaton,
            state,
            depth,
            LIMIT if limit is None else limit,
            ends=ends,
            deadline=deadline,
            writing=WRITING if as_json or certificate is not None else 0.0,
        )
        if as_json:
            emit_data({"command": "traces", "model": _identity(automaton), **formulae_data(answer)})
        else:
            emit_report(formulae_report(answer))
        written = write_proof(answer, proof)
    return ExitCode.ANSWERED if answer.status is Status.EXACT and written else ExitCode.UNDECIDED


def _identity(automaton: PA) -> dict[str, object]:
    return {"digest": automaton.digest(), "states": len(automaton)}


def _read(text: str) -> TraceFormula:
    try:
        return parse_trace_formula(text)
    except ModelError as error:
        raise error.with_source("--formula") from None


def _report_check(
    automaton: PA, answer: TraceSatisfactionsAnswer, proof: OutputFile, *, as_json: bool
) -> int:
    if as_json:
        emit_data({"command": "traces", "model": _identity(automaton), **satisfactions_data(answer)})
    else:
        emit_report(satisfactions_report(answer))
    written = write_proof(answer, proof)
    if not answer:
        return ExitCode.VIOLATED
    return ExitCode.ANSWERED if written else ExitCode.UNDECIDED
