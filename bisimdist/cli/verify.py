"""``bisimdist verify``: does a budget hold for every observation sequence of a length."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.hmm import ENGINES, verify
from bisimdist.analysis.hmm_answer import Verdict
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import numbered, seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import read_hmm
from bisimdist.errors import UsageError
from bisimdist.exact.rational import format_rational
from bisimdist.progress import Deadline
from bisimdist.report.hmm import verdict_data, verdict_report

__all__ = ["run_verify"]

CODES = {
    Verdict.HOLDS: ExitCode.ANSWERED,
    Verdict.VIOLATED: ExitCode.VIOLATED,
    Verdict.UNKNOWN: ExitCode.UNDECIDED,
}


def run_verify(
    model: str,
    *,
    length: int,
    ratio: str | None = None,
    epsilon: str | None = None,
    up_to: bool = False,
    engine: str = "auto",
    pairs: Sequence[tuple[str, str]] = (),
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Decide a budget, print the verdicts, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    length, up_to
        The length of the sequences, and whether shorter ones count too.
    ratio, epsilon
        One of the two, as an exact number.
    engine
        ``auto``, ``exact``, ``smt`` or ``both``.
    pairs
        Pairs of distributions by name; without any, those of the model.
    timeout
        After how many seconds to stop; what is not decided by then is unknown.
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
    if (ratio is None) == (epsilon is None):
        given = "neither" if ratio is None else "both"
        raise UsageError(f"{given} of --ratio and --epsilon given; expected one of them")
    budget = None if ratio is None else numbered("--ratio", ratio)
    exponent = None if epsilon is None else numbered("--epsilon", epsilon)
    if engine not in ENGINES:
        raise UsageError(f"--engine {engine}: no such engine; there is {', '.join(ENGINES)}")
    found = read_hmm(model)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = verify(
                found,
                budget,
                epsilon=exponent,
                length=length,
                up_to=up_to,
                pairs=pairs or None,
                engine=engine,
                deadline=deadline,
                progress=progress,
            )
        written = write_proof(answer, proof)
    if as_json:
        data: dict[str, object] = {
            "command": "verify",
            "model": {"digest": found.digest(), "states": len(found)},
            "length": length,
            "up_to": up_to,
        }
        if answer.ratio is not None:
            data["ratio"] = format_rational(answer.ratio)
        if answer.epsilon is not None:
            data["epsilon"] = format_rational(answer.epsilon)
        data["verdict"] = answer.verdict.value
        data["pairs"] = [verdict_data(pair) for pair in answer.pairs]
        emit_data(data)
    else:
        emit_report(verdict_report(answer))
    code = CODES[answer.verdict]
    return ExitCode.UNDECIDED if code == ExitCode.ANSWERED and not written else code
