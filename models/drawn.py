"""What models of every kind show of themselves: a line where they are printed, a picture in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from bisimdist.models.kinds import AnyModel

__all__ = ["Drawn"]


class Drawn:
    """A model that shows itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        model = cast("AnyModel", self)
        states, pairs = len(model), len(model.pairs)
        return f"<{type(self).__name__}: {states} state{'s'[: states != 1]}, {pairs} pair{'s'[: pairs != 1]}>"

    def _repr_svg_(self) -> str:
        from bisimdist.models.io.svg import write_svg  # noqa: PLC0415 (the models are below their formats)

        return write_svg(cast("AnyModel", self))
