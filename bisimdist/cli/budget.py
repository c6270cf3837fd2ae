"""``bisimdist budget``: the exact budget of a built-in mechanism over all neighbouring inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bisimdist.analysis.hmm_proofs import mechanism_budget
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import EXAMPLE_PREFIX
from bisimdist.errors import UsageError
from bisimdist.hmm.budget import QueryFamily, geometric_family, noisy_max_family
from bisimdist.models.library.parameters import Choice, Integer, Rational
from bisimdist.progress import Deadline
from bisimdist.report.hmm_proofs import mechanism_data, mechanism_report

__all__ = ["run_budget"]

Parameter = Choice | Integer | Rational


def _noisy_max(values: dict[str, Any]) -> QueryFamily:
    ties = "first" if values["variant"] == "naive" else "uniform"
    return noisy_max_family(values["n"], alpha=values["alpha"], levels=values["levels"], ties=ties)


def _geometric(values: dict[str, Any]) -> QueryFamily:
    return geometric_family(alpha=values["alpha"], levels=values["levels"])


_NOISE = Rational("alpha", "1/2")
_LEVELS = Integer("levels", 3, 2, 200)
_ADJACENCY = Choice("adjacency", "all", ("all", "one"))
_MECHANISMS: dict[str, tuple[tuple[Parameter, ...], Callable[[dict[str, Any]], QueryFamily]]] = {
    "noisy-max": (
        (
            Choice("variant", "improved", ("naive", "improved")),
            Integer("n", 3, 1, 12),
            Integer("levels", 3, 2, 10),
            _NOISE,
            _ADJACENCY,
        ),
        _noisy_max,
    ),
    "geometric": ((_LEVELS, _NOISE, _ADJACENCY), _geometric),
}


def run_budget(
    mechanism: str,
    *,
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Compute the exact budget of a mechanism, print it, and return the exit code.

    Parameters
    ----------
    mechanism
        ``noisy-max`` or ``geometric`` with settings, as in ``noisy-max,n=5,variant=naive``.
    timeout
        After how many seconds to stop.
    certificate
        Where to write what the checker needs to look at all pairs again.
    as_json
        Whether to print one JSON object.

    Raises
    ------
    BisimdistError
        Where the input is not usable, or the time is over.
    """
    deadline = Deadline.after(seconds("--timeout", timeout))
    family, adjacency = _read(mechanism.removeprefix(EXAMPLE_PREFIX))
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = mechanism_budget(family, adjacency, deadline=deadline, progress=progress)
        written = write_proof(answer, proof)
    if as_json:
        emit_data({"command": "budget", **mechanism_data(answer)})
    else:
        emit_report(mechanism_report(answer))
    return ExitCode.ANSWERED if written else ExitCode.UNDECIDED


def _read(text: str) -> tuple[QueryFamily, str]:
    """Return the mechanism and the adjacency that a text asks for."""
    name, *settings = (part.strip() for part in text.split(","))
    if name not in _MECHANISMS:
        raise UsageError(f"there is no mechanism {name[:40]!r}; there are {', '.join(_MECHANISMS)}")
    parameters, build = _MECHANISMS[name]
    known = {parameter.name: parameter for parameter in parameters}
    values: dict[str, Any] = {parameter.name: parameter.default for parameter in parameters}
    given: set[str] = set()
    for setting in settings:
        key, _, value = (part.strip() for part in setting.partition("="))
        if key not in known or key in given:
            raise UsageError(
                f"{name}: {setting[:40]!r} is not usable; expected each once: {', '.join(known)}"
            )
        given.add(key)
        try:
            values[key] = known[key].read(value)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from error
    return build(values), values["adjacency"]
