"""A model of another kind that has the same behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import Located, UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.conversion import WritingModel, chosen_format
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import OUTPUT, OUTPUT_FORMAT, TARGET_KIND, UNFOLD
from bisimdist.faces.asked.question import Group

if TYPE_CHECKING:
    from bisimdist.models.kinds import AnyModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Convert(WritingModel):
    """Convert a model into a chain, an automaton, a hidden Markov model or an interactive model.

    Standard error says what the conversion preserves; it keeps the pairs.
    """

    command = "convert"
    group = Group.TOOLS
    options = (TARGET_KIND, OUTPUT_FORMAT, OUTPUT, UNFOLD, options.TIMEOUT, options.JSON)

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

        with Located(source=self.source):
            conversion = convert(self.model, self.to, unfold=self.unfold)
        return conversion.model, tuple(conversion.preserved)
