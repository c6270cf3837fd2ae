"""One question about a distance on its way: the best proof so far, whatever happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.distance_answer import PairBound
from bisimdist.certificates.writer import certificate_of, trivial_certificate
from bisimdist.errors import ENDINGS
from bisimdist.fixpoint.bracket_engine import prove_bracket
from bisimdist.fixpoint.exact_engine import approximate
from bisimdist.fixpoint.iteration import Approximation
from bisimdist.fixpoint.proof import Proof
from bisimdist.fixpoint.question import Question, prepare
from bisimdist.linear import SingularSystemError
from bisimdist.models.interactive import System
from bisimdist.progress import Deadline, Progress

__all__ = ["Pair", "Work"]

Pair = tuple[int, int]


@dataclass(slots=True)
class Work:
    """A question, its limits, and what is proved of it so far."""

    model: System
    distance: str
    alpha: fmpq
    asked: tuple[Pair, ...]
    deadline: Deadline
    jobs: int
    progress: Progress
    question: Question | None = None
    proof: Proof | None = None
    method: str = "no bound was proved"
    _bounds: tuple[PairBound, ...] | None = None

    @property
    def ordered(self) -> bool:
        """Whether the distance is asymmetric: then every pair is asked in both directions."""
        return self.distance == "lbd"

    def run(self, engine: Callable[[Work, Question, Approximation], Status]) -> Status:
        """Let an engine work; a limit or an interruption ends it, and what is proved stays."""
        try:
            self.progress("linear programs", 0, None)
            self.question = prepare(
                self.model,
                self.alpha,
                self.directed(),
                ordered=self.ordered,
                deadline=self.deadline,
                progress=self.progress,
            )
            guess = approximate(self.question, jobs=self.jobs, deadline=self.deadline, progress=self.progress)
            return engine(self, self.question, guess)
        except (*ENDINGS, SingularSystemError) as error:
            self.method += f"; {error}"
        return Status.LIMIT

    def directed(self) -> tuple[Pair, ...]:
        """Return the pairs that the engine is asked about."""
        if not self.ordered:
            return self.asked
        return tuple(dict.fromkeys(pair for s, t in self.asked for pair in ((s, t), (t, s))))

    def keep(self, proof: Proof, method: str) -> None:
        """Remember a better proof."""
        self.proof, self.method, self._bounds = proof, method, None

    def bracket(self, question: Question, guess: Approximation, width: fmpq) -> None:
        """Prove a bracket and keep it."""
        proof = prove_bracket(question, guess, width, deadline=self.deadline, progress=self.progress)
        self.keep(proof, "certified bracket: a pre-fixed and a post-fixed point in short rationals")

    def bounds(self) -> tuple[PairBound, ...]:
        """Return the best bounds known; of an asymmetric distance the larger of both directions."""
        if self._bounds is None:
            names = self.model.states
            result = []
            for s, t in self.asked:
                lower, upper = forth = self._best((s, t))
                ways = None
                if self.ordered:
                    back = self._best((t, s))
                    lower, upper = max(lower, back[0]), max(upper, back[1])
                    ways = forth, back
                result.append(PairBound(names[s], names[t], upper, lower, lower == upper, ways))
            self._bounds = tuple(result)
        return self._bounds

    def _best(self, pair: Pair) -> tuple[fmpq, fmpq]:
        if self.proof is not None:
            return self.proof.bounds(pair)
        return fmpq(0), fmpq(0 if pair[0] == pair[1] else 1)

    def certificate(self) -> dict[str, object]:
        """Write the proof of the bounds."""
        if self.proof is not None:
            return certificate_of(self.proof)
        bounds = [(pair, *reversed(self._best(pair))) for pair in self.directed()]
        return trivial_certificate(self.model, self.distance, self.alpha, bounds)

    def statistics(self) -> dict[str, int | str]:
        """Return counts of what the question came to."""
        if self.question is None:
            return {}
        return {
            "pairs": self.question.functional.size,
            "programs": len(self.question.functional.batch),
        }
