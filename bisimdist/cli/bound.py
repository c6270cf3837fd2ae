"""``bisimdist bound``: an upper bound on delta by a bisimilarity distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.analysis.answer import DISTANCES, DistanceAnswer, PairBound, Status, ThresholdAnswer
from bisimdist.cli.engine import load_engine
from bisimdist.cli.failure import ExitCode, note
from bisimdist.cli.numbers import alpha_number, numbered, positive_number, seconds, unit_number
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.proof import write_proof
from bisimdist.cli.source import named_pairs, read_model
from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.logarithm import alpha_below
from bisimdist.exact.rational import format_rational
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline
from bisimdist.report.distances import answer_report, common_status, pair_data, threshold_report

__all__ = ["run_bound"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """What was asked, read and validated."""

    model: LMC
    original: LMC
    alpha: fmpq
    epsilon: fmpq | None
    distance: str
    names: tuple[tuple[str, str], ...]
    pairs: tuple[tuple[str, str], ...]
    precision: fmpq | None
    deadline: Deadline
    jobs: int

    @property
    def shown_epsilon(self) -> str | None:
        return None if self.epsilon is None else format_rational(self.epsilon)

    def data(self) -> dict[str, object]:
        """Return what the JSON answers of this question begin with."""
        data: dict[str, object] = {
            "command": "bound",
            "model": {"digest": self.model.digest(), "states": len(self.model)},
        }
        if self.model is not self.original:
            data["quotient_of"] = {"digest": self.original.digest(), "states": len(self.original)}
        if self.epsilon is not None:
            data["epsilon"] = format_rational(self.epsilon)
        data["alpha"] = format_rational(self.alpha)
        if self.epsilon is not None:
            data["alpha_rounded"] = "down"
        data["distance"] = self.distance
        return data


def run_bound(
    model: str,
    *,
    alpha: str | None = None,
    epsilon: str | None = None,
    distance: str = "bd",
    pairs: Sequence[tuple[str, str]] = (),
    precision: str | None = None,
    threshold: str | None = None,
    jobs: int = 1,
    timeout: str | None = None,
    certificate: str | None = None,
    merge_bisimilar: bool = False,
    as_json: bool = False,
) -> int:
    """Compute bounds on a distance, print them, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    alpha, epsilon
        One of the two, as an exact number; epsilon stands for alpha = e**epsilon, rounded down.
    distance
        Which distance.
    pairs
        Pairs of states by name; without any, those of the model.
    precision
        How far apart the bounds may be; None asks for the distance itself.
    threshold
        Asks only whether the distance is at most this number.
    jobs
        How many threads may work at once.
    timeout
        After how many seconds to stop with what is known by then.
    certificate
        Where to write the proof.
    merge_bisimilar
        Whether to compute the distance of the bisimilarity quotient instead.
    as_json
        Whether to print one JSON object.

    Raises
    ------
    BisimdistError
        Where the input is not usable; nothing is printed then.
    """
    deadline = Deadline.after(seconds("--timeout", timeout))
    exact_alpha, exact_epsilon = _skew(alpha, epsilon)
    theta = unit_number("--threshold", threshold)
    wanted = positive_number("--precision", precision)
    if distance not in DISTANCES:
        raise UsageError(f"--distance {distance}: no such distance; expected {' or '.join(DISTANCES)}")
    if theta is not None and wanted is not None:
        raise UsageError("--precision and --threshold were both given; a threshold is decided exactly")
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: expected at least 1")
    chain = read_model(model)
    names = named_pairs(chain, pairs)
    if theta is not None and certificate is not None and len(names) > 1:
        raise UsageError("--certificate with --threshold takes one pair; choose it with --pair")
    merged, merged_names = _merged(chain, names) if merge_bisimilar else (chain, names)
    question = _Question(
        model=merged,
        original=chain,
        alpha=exact_alpha,
        epsilon=exact_epsilon,
        distance=distance,
        names=names,
        pairs=merged_names,
        precision=wanted,
        deadline=deadline,
        jobs=jobs,
    )
    with OutputFile(certificate, option="--certificate") as proof:
        if theta is None:
            return _answer_distance(question, proof, as_json=as_json)
        return _answer_threshold(question, theta, proof, as_json=as_json)


def _skew(alpha: str | None, epsilon: str | None) -> tuple[fmpq, fmpq | None]:
    if (alpha is None) == (epsilon is None):
        given = "neither" if alpha is None else "both"
        raise UsageError(f"{given} of --alpha and --epsilon given; expected one of them")
    if epsilon is None:
        return alpha_number("--alpha", alpha), None
    value = numbered("--epsilon", epsilon)
    return alpha_below(value), value


def _merged(chain: LMC, names: Sequence[tuple[str, str]]) -> tuple[LMC, tuple[tuple[str, str], ...]]:
    merged, classes = quotient(chain)
    note(f"bisimilar states are merged: {len(chain)} states, {len(merged)} classes")

    def representative(name: str) -> str:
        return merged.states[classes[chain.index(name)]]

    return merged, tuple((representative(s), representative(t)) for s, t in names)


def _trivial(pair: tuple[str, str]) -> PairBound:
    return PairBound(*pair, upper=fmpq(1), lower=fmpq(0), exact=False)


def _answer_distance(question: _Question, proof: OutputFile, *, as_json: bool) -> int:
    try:
        with shown_progress() as progress:
            answer = load_engine().bound(
                question.model,
                question.alpha,
                distance=question.distance,
                pairs=question.pairs,
                precision=question.precision,
                deadline=question.deadline,
                jobs=question.jobs,
                progress=progress,
            )
    except (LimitError, KeyboardInterrupt) as error:
        note(f"stopped: {str(error) or 'interrupted'}")
        answer = DistanceAnswer(
            model=question.model,
            alpha=question.alpha,
            distance=question.distance,
            pairs=tuple(_trivial(pair) for pair in question.pairs),
            status=Status.LIMIT,
            method="nothing was computed",
        )
    if as_json:
        data = question.data()
        data["pairs"] = [
            pair_data(pair, answer.distance, name)
            for pair, name in zip(answer.pairs, question.names, strict=True)
        ]
        data["status"] = answer.status.value
        emit_data(data)
    else:
        emit_report(answer_report(answer, question.names, epsilon=question.shown_epsilon))
    written = write_proof(answer, proof)  # after the answer, which nobody should have to wait for
    return ExitCode.UNDECIDED if answer.status is Status.LIMIT or not written else ExitCode.ANSWERED


def _decide(question: _Question, pair: tuple[str, str], theta: fmpq) -> ThresholdAnswer:
    try:
        with shown_progress() as progress:
            return load_engine().bd_threshold(
                question.model,
                question.alpha,
                *pair,
                theta,
                distance=question.distance,
                deadline=question.deadline,
                jobs=question.jobs,
                progress=progress,
            )
    except (LimitError, KeyboardInterrupt) as error:
        note(f"stopped: {str(error) or 'interrupted'}")
        bound = _trivial(pair)
        return ThresholdAnswer(
            model=question.model,
            alpha=question.alpha,
            distance=question.distance,
            threshold=theta,
            holds=bound.bracket.at_most(theta),
            bound=bound,
            status=Status.LIMIT,
            method="nothing was computed",
        )


def _answer_threshold(question: _Question, theta: fmpq, proof: OutputFile, *, as_json: bool) -> int:
    answers = [_decide(question, pair, theta) for pair in question.pairs]
    verdicts = [answer.verdict for answer in answers]
    written = write_proof(answers[0], proof)
    verdict = next((word for word in ("violated", "unknown") if word in verdicts), "holds")
    if as_json:
        data = question.data()
        data["threshold"] = format_rational(theta)
        data["verdict"] = verdict
        data["pairs"] = [
            {**pair_data(answer.bound, answer.distance, name), "verdict": word}
            for answer, name, word in zip(answers, question.names, verdicts, strict=True)
        ]
        data["status"] = common_status([answer.status for answer in answers]).value
        emit_data(data)
    else:
        emit_report(threshold_report(answers, question.names, verdicts, epsilon=question.shown_epsilon))
    if verdict == "violated":
        return ExitCode.VIOLATED
    return ExitCode.ANSWERED if verdict == "holds" and written else ExitCode.UNDECIDED
