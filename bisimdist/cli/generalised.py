"""``bisimdist metric --kind additive`` or ``multiplicative``: the generalised bisimilarity metrics."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.generalised import generalised_metric
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import numbered, positive_number
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.models.pa import PA
from bisimdist.progress import Deadline
from bisimdist.report.generalised import generalised_data, generalised_report

__all__ = ["run_generalised"]


def run_generalised(
    automaton: PA,
    names: Sequence[tuple[str, str]],
    *,
    kind: str,
    discount: str | None = None,
    precision: str | None = None,
    deadline: Deadline,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Compute a generalised metric of an automaton, print the answer, and return the exit code.

    Parameters
    ----------
    automaton
        The automaton.
    names
        The pairs of states.
    kind
        ``additive`` or ``multiplicative``.
    discount
        The factor of a step, by default 1.
    precision
        How far apart bounds may be; by default exact values are wanted.
    deadline
        When to stop with what is known by then.
    certificate
        Where to write the proof.
    as_json
        Whether to print one JSON object.

    Raises
    ------
    BisimdistError
        Where the input is not usable; nothing is printed then.
    """
    factor = fmpq(1) if discount is None else numbered("--discount", discount)
    if not 0 < factor <= 1:
        raise UsageError(f"--discount {discount}: expected more than 0 and at most 1")
    wanted = positive_number("--precision", precision)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = generalised_metric(
                automaton,
                kind,
                discount=factor,
                pairs=names,
                precision=wanted,
                deadline=deadline,
                progress=progress,
            )
        written = write_proof(answer, proof)
    if as_json:
        emit_data(
            {
                "command": "metric",
                "model": {"digest": automaton.digest(), "states": len(automaton)},
                "kind": kind,
                "discount": format_rational(answer.discount),
                "pairs": [
                    generalised_data(bound, name) for bound, name in zip(answer.pairs, names, strict=True)
                ],
                "status": answer.status.value,
            }
        )
    else:
        emit_report(generalised_report(answer, names))
    decided = answer.status in (Status.EXACT, Status.BRACKET)
    return ExitCode.ANSWERED if decided and written else ExitCode.UNDECIDED
