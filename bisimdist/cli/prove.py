"""``bisimdist prove``: budgets of hidden Markov models for observation sequences of every length."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.hmm_answer import Verdict
from bisimdist.analysis.hmm_proofs import for_all_lengths
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import alpha_number, numbered, seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import read_hmm
from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.progress import Deadline
from bisimdist.report.hmm_proofs import length_data, length_report

__all__ = ["run_prove"]

CODES = {
    Verdict.HOLDS: ExitCode.ANSWERED,
    Verdict.VIOLATED: ExitCode.VIOLATED,
    Verdict.UNKNOWN: ExitCode.UNDECIDED,
}


def run_prove(
    model: str,
    *,
    ratio: str | None = None,
    epsilon: str | None = None,
    method: str = "auto",
    pairs: Sequence[tuple[str, str]] = (),
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Look for a proof or a refutation for all lengths, print it, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    ratio, epsilon
        The budget C, or E for e**E, as an exact number; without either any budget will do, and the best one
        found is printed.
    method
        ``auto``, ``cone``, ``factors`` or ``coupling``.
    pairs
        Pairs of distributions by name; without any, those of the model.
    timeout
        After how many seconds to stop.
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
    if ratio is not None and epsilon is not None:
        raise UsageError("both of --ratio and --epsilon given; expected one of them, or none")
    budget = None if ratio is None else alpha_number("--ratio", ratio)
    exponent = None if epsilon is None else numbered("--epsilon", epsilon)
    found = read_hmm(model)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = for_all_lengths(
                found,
                budget,
                epsilon=exponent,
                pairs=pairs or None,
                method=method,
                deadline=deadline,
                progress=progress,
            )
        written = write_proof(answer, proof)
    if as_json:
        emit_data(
            {
                "command": "prove",
                "model": {"digest": found.digest(), "states": len(found)},
                "length": "all",
                "ratio": None if budget is None else format_rational(budget),
                **({} if exponent is None else {"epsilon": format_rational(exponent)}),
                "verdict": answer.verdict.value,
                "pairs": [length_data(pair) for pair in answer.pairs],
            }
        )
    else:
        emit_report(length_report(answer))
    code = CODES[answer.verdict]
    return ExitCode.UNDECIDED if code == ExitCode.ANSWERED and not written else code
