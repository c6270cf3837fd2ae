"""A smaller chain that is nearly the same, with a proof of how nearly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.conversion import PRISM_FILES, paths_of
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import LOSS, OUTPUT
from bisimdist.faces.asked.question import Group, Plain, Question, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.distances.minimise.ask import MinimiseAnswer
    from bisimdist.models.lmc import LMC
    from bisimdist.progress import Limits

FORMATS = {
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".umb": "umb",
    ".drn": "drn",
    ".tra": "prism",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimise(Question["MinimiseAnswer"]):
    """Merge states of a chain, with a proof that the loss stays below a bound.

    The loss is the distance (bd for alpha = 1) of each state of a pair from its representative. Delta at
    alpha changes by at most (1 + alpha) times as much. MODEL is a file, '-' for standard input, or
    example:NAME[,key=value...].
    """

    command = "minimise"
    group = Group.TOOLS
    example = "example:figure1 --loss 1/5"
    options = (
        LOSS,
        OUTPUT.but(help="The file of the smaller model (.json, .yaml, .umb, .drn, .tra)."),
        options.PAIR,
        options.TIMEOUT,
        options.MEMORY,
        options.CERTIFICATE,
        options.JSON,
    )

    model: LMC
    pairs: tuple[tuple[str, str], ...] | None
    loss: fmpq

    @classmethod
    def read(cls, given: Given) -> Minimise:
        loss, output = given[LOSS], given[OUTPUT]
        if loss is None:
            raise UsageError("say how much may be lost with --loss X, a number from 0 to 1")
        if output is not None and PurePath(output).suffix.lower() not in FORMATS:
            raise UsageError(f"-o {output}: expected a file name that ends in {', '.join(FORMATS)}")
        model = given.chain()
        return cls(model=model, pairs=given.pairs(model) if model.pairs else None, loss=loss)

    def ask(self, limits: Limits) -> MinimiseAnswer:
        from bisimdist.distances.minimise.ask import minimise

        return self.put(minimise, limits)

    def unknown(self, reason: str) -> Plain:
        known = {"merged": len(self.model), "loss": "0", "classes": [[name] for name in self.model.states]}
        data = {**self.frame(), **known, "status": "limit"}
        return replace(nothing_known(self.frame(), (), {}), data=data)

    def content(
        self, option: Option[Any], path: str, answer: MinimiseAnswer
    ) -> str | bytes | Iterator[bytes]:
        if option.name != OUTPUT.name:
            return super(Minimise, self).content(option, path, answer)
        from bisimdist.faces.asked.conversion import texts_of

        suffix = PurePath(path).suffix.lower()
        several = suffix[1:] in PRISM_FILES
        written = texts_of(answer.smaller, "prism" if several else FORMATS[suffix], path)
        return written[suffix[1:] if several else ""]

    def places(self, given: Given) -> list[tuple[Option[Any], str]]:
        named = super(Minimise, self).places(given)
        formats = ((option, path, FORMATS.get(PurePath(path).suffix.lower(), "")) for option, path in named)
        return [
            (option, file)
            for option, path, format in formats
            for file in (paths_of(path, format) if option.name == OUTPUT.name else [path])
        ]
