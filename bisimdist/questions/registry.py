"""All questions: what the command line offers, in the order of its help."""

from __future__ import annotations

from typing import Any

from bisimdist.questions.bound import Bound
from bisimdist.questions.budget import Budget
from bisimdist.questions.compare import Compare
from bisimdist.questions.crosscheck import Crosscheck
from bisimdist.questions.delta import Delta
from bisimdist.questions.epsilon import Epsilon
from bisimdist.questions.equivalence import Equivalence
from bisimdist.questions.explain import Explain
from bisimdist.questions.formula import MimickingFormula
from bisimdist.questions.metric import Metric
from bisimdist.questions.profile import Profile
from bisimdist.questions.prove import Prove
from bisimdist.questions.question import Question
from bisimdist.questions.satisfies import Satisfies
from bisimdist.questions.verify import Verify

__all__ = ["QUESTIONS"]

QUESTIONS: tuple[type[Question[Any]], ...] = (
    Bound,
    Compare,
    Delta,
    Profile,
    Metric,
    Equivalence,
    Explain,
    MimickingFormula,
    Satisfies,
    Verify,
    Epsilon,
    Prove,
    Budget,
    Crosscheck,
)
