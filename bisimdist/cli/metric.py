"""``bisimdist metric``: the bisimulation metrics of a probabilistic automaton."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.answer import Status
from bisimdist.analysis.generalised import GENERALISED_KINDS
from bisimdist.analysis.metric import KINDS, metric
from bisimdist.bisimulation.relation import check_relation, load_relation
from bisimdist.bisimulation.strong import bisimilarity_quotient
from bisimdist.cli.failure import ExitCode, note
from bisimdist.cli.generalised import run_generalised
from bisimdist.cli.numbers import seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import named_pairs, read_automaton
from bisimdist.errors import UsageError
from bisimdist.models.pa import PA
from bisimdist.progress import Deadline
from bisimdist.report.metric import bound_data, metric_report, relation_data, relation_report

__all__ = ["run_metric"]

SIZES = "supports of different sizes"


def run_metric(
    model: str,
    *,
    kind: str | None = None,
    discount: str | None = None,
    precision: str | None = None,
    pairs: Sequence[tuple[str, str]] = (),
    relation: str | None = None,
    merge_bisimilar: bool = False,
    state_limit: int | None = None,
    timeout: str | None = None,
    certificate: str | None = None,
    as_json: bool = False,
) -> int:
    """Compute a bisimulation metric or check a relation, print the answer, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    kind
        ``accumulative``, ``amortised``, ``additive`` or ``multiplicative``.
    discount, precision
        The factor of a step, and how far apart bounds may be; for the last two kinds only.
    pairs
        Pairs of states by name; without any, those of the model.
    relation
        A file with a relation: then it is only checked whether that is a bisimulation.
    merge_bisimilar
        Whether to merge bisimilar states first.
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
    kind = _checked_kind(kind, discount, precision)
    deadline = Deadline.after(seconds("--timeout", timeout))
    automaton = read_automaton(model, state_limit=state_limit)
    if relation is not None:
        if kind in GENERALISED_KINDS:
            raise UsageError(f"--relation is for the kinds {' and '.join(KINDS)}, not for {kind}")
        if pairs or certificate is not None or merge_bisimilar:
            raise UsageError(
                "--relation is checked by itself; --pair, --quotient and --certificate do not apply"
            )
        return _check(automaton, kind, relation, as_json=as_json)
    names = named_pairs(automaton, pairs)
    if kind in GENERALISED_KINDS:
        if merge_bisimilar:
            note("--quotient changes nothing: bisimilar states are at distance 0, and merged anyway")
        return run_generalised(
            automaton,
            names,
            kind=kind,
            discount=discount,
            precision=precision,
            deadline=deadline,
            certificate=certificate,
            as_json=as_json,
        )
    asked, used = names, automaton
    if merge_bisimilar:
        used, classes = bisimilarity_quotient(automaton)
        note(f"bisimilar states are merged: {len(automaton)} states, {len(used)} classes")
        if certificate is not None:
            note("the certificate is about the merged automaton, each class named by its first state")
        asked = tuple(
            (used.states[classes[automaton.index(s)]], used.states[classes[automaton.index(t)]])
            for s, t in names
        )
    with OutputFile(certificate, option="--certificate") as proof:
        with shown_progress() as progress:
            answer = metric(used, kind, pairs=asked, deadline=deadline, progress=progress)
        written = write_proof(answer, proof)
    if not merge_bisimilar and any(bound.play and SIZES in bound.play.obstacle for bound in answer.pairs):
        note(
            "supports differ in size: --quotient merges bisimilar states first, which may help, and is sound "
            "since they give every trace the same probability"
        )
    if as_json:
        data: dict[str, object] = {
            "command": "metric",
            "model": {"digest": used.digest(), "states": len(used)},
        }
        if used is not automaton:
            data["quotient_of"] = {"digest": automaton.digest(), "states": len(automaton)}
        data["kind"] = kind
        data["pairs"] = [
            bound_data(used, bound, name) for bound, name in zip(answer.pairs, names, strict=True)
        ]
        data["status"] = answer.status.value
        emit_data(data)
    else:
        emit_report(metric_report(answer, names))
    return ExitCode.ANSWERED if answer.status is Status.EXACT and written else ExitCode.UNDECIDED


def _checked_kind(kind: str | None, discount: str | None, precision: str | None) -> str:
    if kind in GENERALISED_KINDS:
        return kind
    if kind not in KINDS:
        given = "was not given" if kind is None else f"{kind}: there is no such metric"
        raise UsageError(f"--kind {given}; expected {', '.join(KINDS)}, {' or '.join(GENERALISED_KINDS)}")
    for option, value in (("--discount", discount), ("--precision", precision)):
        if value is not None:
            raise UsageError(f"{option} is for the kinds {' and '.join(GENERALISED_KINDS)}, not for {kind}")
    return kind


def _check(automaton: PA, kind: str, file: str, *, as_json: bool) -> int:
    relation = load_relation(file, automaton)
    verdict = check_relation(automaton, kind, relation)
    if as_json:
        emit_data(relation_data(automaton, kind, relation, verdict))
    else:
        emit_report(relation_report(automaton, kind, relation, verdict))
    return ExitCode.ANSWERED if verdict.holds else ExitCode.VIOLATED
