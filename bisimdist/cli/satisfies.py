"""``bisimdist satisfies``: which states, or which transitions, satisfy a formula."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from bisimdist.analysis.formulae import (
    SatisfactionAnswer,
    TransitionsAnswer,
    satisfying,
    satisfying_transitions,
)
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import read_automaton
from bisimdist.errors import ModelError, UsageError
from bisimdist.logic.equations import EquationSystem
from bisimdist.logic.formula import DistributionFormula
from bisimdist.logic.formula_parser import parse_any_formula
from bisimdist.progress import Deadline
from bisimdist.report.formulae import (
    satisfaction_data,
    satisfaction_report,
    transitions_data,
    transitions_report,
)
from bisimdist.report.tables import Report

__all__ = ["run_satisfies"]

MAX_BYTES = 256 * 2**20


def run_satisfies(
    model: str,
    *,
    formula: str | None = None,
    states: Sequence[str] = (),
    state_limit: int | None = None,
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Print which states, or which transitions, satisfy a formula, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    formula
        The formula, or ``@FILE``; one about distributions asks for transitions.
    states
        The names of states: then it is asked whether all of them satisfy it, or have a transition that does.
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
    if formula is None:
        raise UsageError("--formula was not given; expected a formula such as '<a>T', or @FILE")
    meant = _read(formula)
    automaton = read_automaton(model, state_limit=state_limit)
    for name in states:
        automaton.index(name)
    with OutputFile(certificate, option="--certificate") as proof:
        if isinstance(meant, DistributionFormula):
            moves = satisfying_transitions(automaton, meant, deadline=deadline)
            shown = _Shown(moves, partial(transitions_data, moves), partial(transitions_report, moves))
        else:
            found = satisfying(automaton, meant if meant.equations else meant.root, deadline=deadline)
            shown = _Shown(found, partial(satisfaction_data, found), partial(satisfaction_report, found))
        if as_json:
            identity = {"digest": automaton.digest(), "states": len(automaton)}
            emit_data({"command": "satisfies", "model": identity, **shown.data(states)})
        else:
            emit_report(shown.report(states))
        written = write_proof(shown.answer, proof)
    if not all(map(shown.answer.holds, states)):
        return ExitCode.VIOLATED
    return ExitCode.ANSWERED if written else ExitCode.UNDECIDED


class _Shown(NamedTuple):
    """An answer, and what makes a JSON object and a report of it when it is known which states are meant."""

    answer: SatisfactionAnswer | TransitionsAnswer
    data: Callable[[Sequence[str]], dict[str, object]]
    report: Callable[[Sequence[str]], Report]


def _read(formula: str) -> EquationSystem | DistributionFormula:
    if not formula.startswith("@"):
        try:
            return parse_any_formula(formula)
        except ModelError as error:
            raise error.with_source("--formula") from None
    path = formula[1:]
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ModelError(f"the file is larger than the {MAX_BYTES // 2**20} MiB allowed", source=path)
        return parse_any_formula(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ModelError(f"byte {error.start} is not UTF-8; expected a formula", source=path) from None
    except ModelError as error:
        raise error.with_source(path) from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ModelError(f"the file cannot be read ({reason}); expected a formula", source=path) from None
