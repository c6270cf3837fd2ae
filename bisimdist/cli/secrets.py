"""``bisimdist secrets``: the least epsilon of d_X-privacy or weak anonymity over a set of secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bisimdist.analysis.secret_distances import DISTANCE_NAMES, Secret, Table
from bisimdist.analysis.secret_file import load_secret_table
from bisimdist.analysis.secrets import SecretPrivacyAnswer, secret_privacy
from bisimdist.analysis.trace_metric import TRACE_KINDS
from bisimdist.cli.failure import ExitCode, note
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import read_automaton
from bisimdist.errors import UsageError
from bisimdist.models.pa import PA
from bisimdist.progress import Deadline
from bisimdist.questions.numbers import numbered, seconds
from bisimdist.report.secrets import secrets_data, secrets_report

__all__ = ["run_secrets"]


def run_secrets(
    model: str,
    *,
    distance: str = "discrete",
    kind: str = "multiplicative",
    threshold: str | None = None,
    secrets: Sequence[tuple[str, str]] = (),
    ends: str = "visible",
    every_pair: bool = False,
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Compute the least epsilon, or decide whether one is enough, print that, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    distance
        ``discrete``, ``hamming``, ``absolute``, or a file with a table of distances.
    kind
        ``multiplicative`` for d_X-privacy, ``additive`` for the additive metric, such as weak anonymity.
    threshold
        Ask whether this epsilon is enough.
    secrets
        Secrets with their states; without any those of the table or, by name, the states of the model's
        pairs.
    ends
        ``visible`` or ``hidden``: whether an observer sees that a run has ended.
    every_pair
        Whether to look at all pairs, also those that follow from others.
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
    epsilon = None if threshold is None else numbered("--threshold", threshold)
    if epsilon is not None and epsilon < 0:
        raise UsageError(f"--threshold {threshold}: expected at least 0")
    deadline = Deadline.after(seconds("--timeout", timeout))
    automaton = read_automaton(model, fully_probabilistic=True)
    table: str | Table = distance
    states: Mapping[Secret, str] | None = None
    if distance not in DISTANCE_NAMES:
        if "." not in distance:
            raise UsageError(
                f"--distance {distance}: expected {', '.join(DISTANCE_NAMES)}, or a file with a table"
            )
        loaded = load_secret_table(distance)
        table, states = loaded.distances, loaded.states
    chosen = _secrets(automaton, secrets, states)
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = secret_privacy(
                automaton,
                chosen,
                table,
                kind=kind,
                threshold=epsilon,
                every_pair=every_pair,
                ends=ends,
                deadline=deadline,
                progress=progress,
            )
        _warn(answer)
        written = write_proof(answer, proof)
    if as_json:
        emit_data(secrets_data(answer))
    else:
        emit_report(secrets_report(answer))
    if epsilon is not None and answer.holds is False:
        return ExitCode.VIOLATED
    done = answer.exact if epsilon is None else answer.holds
    return ExitCode.ANSWERED if done and written else ExitCode.UNDECIDED


def _secrets(
    automaton: PA, given: Sequence[tuple[str, str]], states: Mapping[Secret, str] | None
) -> Mapping[Secret, str]:
    if given:
        result: dict[Secret, str] = {}
        for secret, state in given:
            if secret in result:
                raise UsageError(f"--secret {secret}: the secret is given twice")
            result[secret] = state
        return result
    if states is not None:
        return states
    if not automaton.pairs:
        raise UsageError("the model has no pairs; say which secrets there are with --secret NAME STATE")
    names = automaton.states
    return {names[s]: names[s] for s in sorted({s for pair in automaton.pairs for s in pair})}


def _warn(answer: SecretPrivacyAnswer) -> None:
    distances = answer.distances
    for x, y, z in distances.triangles:
        first, middle, last = (distances.secrets[n] for n in (x, y, z))
        note(
            f"the table is no metric: the distance of {first} and {last} is more than by way of {middle}; "
            "the least epsilon is that of the table as it is"
        )
