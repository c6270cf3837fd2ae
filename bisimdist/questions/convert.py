"""A model of another kind that has the same behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import ModelError, UsageError
from bisimdist.questions import options
from bisimdist.questions.conversion import WritingModel, chosen_format
from bisimdist.questions.given import Given
from bisimdist.questions.options import OUTPUT, OUTPUT_FORMAT, TARGET_KIND, UNFOLD
from bisimdist.questions.question import Group

if TYPE_CHECKING:
    from bisimdist.models.kinds import AnyModel

__all__ = ["Convert"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Convert(WritingModel):
    """Make a chain, an automaton, a hidden Markov model or an interactive model of another model.

    What is preserved is said on standard error; the pairs are kept.
    """

    command = "convert"
    group = Group.TOOLS
    options = (TARGET_KIND, OUTPUT_FORMAT, OUTPUT, UNFOLD, options.STATE_LIMIT, options.JSON)

    to: str
    unfold: bool
    source: str

    @classmethod
    def read(cls, given: Given) -> Convert:
        to = given[TARGET_KIND]
        if to is None:
            raise UsageError("say which kind of model with --to: lmc, pa, hmm or interactive")
        chosen = chosen_format(given)
        return cls(
            model=given.any_model(),
            format=chosen,
            output=given[OUTPUT],
            to=to,
            unfold=given[UNFOLD],
            source=given.source,
        )

    def made(self) -> tuple[AnyModel, tuple[str, ...]]:
        from bisimdist.models.conversions import convert

        try:
            conversion = convert(self.model, self.to, unfold=self.unfold)
        except ModelError as error:
            raise error.with_source(self.source) from None
        return conversion.model, tuple(conversion.preserved)
