"""``bisimdist trace``: how far apart the probabilities of one trace can be, by quotient or by difference."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.trace_metric import TRACE_KINDS, trace_metric
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import named_pairs, read_automaton
from bisimdist.errors import UsageError
from bisimdist.progress import Deadline
from bisimdist.questions.numbers import numbered, seconds
from bisimdist.report.ends import ends_data
from bisimdist.report.trace_metric import trace_bound_data, trace_report, verdict_word

__all__ = ["run_trace"]


def run_trace(
    model: str,
    *,
    kind: str = "multiplicative",
    pairs: Sequence[tuple[str, str]] = (),
    length: int | None = None,
    threshold: str | None = None,
    ends: str = "visible",
    state_limit: int | None = None,
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Compute the trace metric, print the answer, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    kind
        ``multiplicative`` or ``additive``.
    pairs
        Pairs of states by name; without any, those of the model.
    length
        The longest trace that counts; all of them without it.
    threshold
        Ask whether the distance is at most this: for the additive kind, weak anonymity.
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
    if kind not in TRACE_KINDS:
        raise UsageError(f"--kind {kind}: there is no such metric; expected {' or '.join(TRACE_KINDS)}")
    if length is not None and length < 0:
        raise UsageError(f"--length {length}: expected at least 0")
    epsilon = None if threshold is None else numbered("--threshold", threshold)
    if epsilon is not None and epsilon < 0:
        raise UsageError(f"--threshold {threshold}: expected at least 0")
    deadline = Deadline.after(seconds("--timeout", timeout))
    automaton = read_automaton(model, state_limit=state_limit, fully_probabilistic=True)
    names = named_pairs(automaton, pairs)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = trace_metric(
                automaton,
                kind,
                pairs=names,
                length=length,
                ends=ends,
                deadline=deadline,
                progress=progress,
            )
        written = write_proof(answer, proof)
    if as_json:
        data: dict[str, object] = {
            "command": "trace",
            "model": {"digest": automaton.digest(), "states": len(automaton)},
            "kind": kind,
            "length": length,
            **ends_data(answer.completed),
        }
        verdicts = [None if epsilon is None else pair.at_most(epsilon) for pair in answer.pairs]
        if epsilon is not None:
            data["threshold"] = str(epsilon)
            data["verdict"] = verdict_word(_joint(verdicts))
        data["pairs"] = [trace_bound_data(pair, epsilon) for pair in answer.pairs]
        data["status"] = answer.status.value
        emit_data(data)
    else:
        emit_report(trace_report(answer, epsilon))
    if epsilon is not None:
        joint = _joint([pair.at_most(epsilon) for pair in answer.pairs])
        if joint is False:
            return ExitCode.VIOLATED
        return ExitCode.ANSWERED if joint and written else ExitCode.UNDECIDED
    done = all(pair.exact for pair in answer.pairs)
    return ExitCode.ANSWERED if done and written else ExitCode.UNDECIDED


def _joint(verdicts: Sequence[bool | None]) -> bool | None:
    return False if False in verdicts else None if None in verdicts else True
