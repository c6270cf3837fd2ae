"""``bisimdist satisfies``: which states satisfy a formula."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bisimdist.analysis.formulae import satisfying
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import seconds
from bisimdist.cli.output import emit_data, emit_report
from bisimdist.cli.source import read_automaton
from bisimdist.errors import ModelError, UsageError
from bisimdist.logic.equations import EquationSystem
from bisimdist.logic.formula_parser import parse_system
from bisimdist.progress import Deadline
from bisimdist.report.formulae import satisfaction_data, satisfaction_report

__all__ = ["run_satisfies"]

MAX_BYTES = 256 * 2**20


def run_satisfies(
    model: str,
    *,
    formula: str | None = None,
    states: Sequence[str] = (),
    state_limit: int | None = None,
    timeout: str | None = None,
    as_json: bool = False,
) -> int:
    """Print which states satisfy a formula, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    formula
        The formula, or ``@FILE``.
    states
        The names of states: then it is asked whether all of them satisfy it.
    state_limit
        How many states the automaton of a CCS_p text may have.
    timeout
        After how many seconds to give up.
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
    answer = satisfying(automaton, meant if meant.equations else meant.root, deadline=deadline)
    if as_json:
        identity = {"digest": automaton.digest(), "states": len(automaton)}
        emit_data({"command": "satisfies", "model": identity, **satisfaction_data(answer, states)})
    else:
        emit_report(satisfaction_report(answer, states))
    return ExitCode.ANSWERED if all(map(answer.holds, states)) else ExitCode.VIOLATED


def _read(formula: str) -> EquationSystem:
    if not formula.startswith("@"):
        try:
            return parse_system(formula)
        except ModelError as error:
            raise error.with_source("--formula") from None
    path = formula[1:]
    try:
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ModelError(f"the file is larger than the {MAX_BYTES // 2**20} MiB allowed", source=path)
        return parse_system(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ModelError(f"byte {error.start} is not UTF-8; expected a formula", source=path) from None
    except ModelError as error:
        raise error.with_source(path) from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise ModelError(f"the file cannot be read ({reason}); expected a formula", source=path) from None
