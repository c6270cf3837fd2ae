"""What all answers share: they show themselves, and prove themselves on demand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, ClassVar, NoReturn

from flint import fmpq

from bisimdist.errors import BisimdistError, UsageError
from bisimdist.exact.number import Numbers
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.answer import FORMAT, identity
from bisimdist.faces.shown.ends import ends_data
from bisimdist.faces.shown.frames import to_pandas
from bisimdist.faces.shown.matrix import Matrix
from bisimdist.faces.shown.pair_plot import draw_pairs
from bisimdist.faces.shown.pair_table import Row, csv_of_pairs
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.streams import json_parts
from bisimdist.faces.shown.tables import Report, plain_text
from bisimdist.models.ends import Completed, Ends

LINES = 12  # how many lines of an answer are printed where somebody looks at it

ASKED = (
    "alpha epsilon distance kind discount parameter over maximise at_most ratio length up_to state threshold"
)
"""What the JSON object says of a question before its answer, in this order."""

CertificateMaker = Callable[..., dict[str, object]]


def _plain(value: object) -> str | int | None:
    """Return a number or a word as JSON has it, and None for anything else."""
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, fmpq):
        return format_rational(value)
    return value if isinstance(value, str | int) else None


def no_certificate(*_: object) -> dict[str, object]:
    """Raise UsageError: what stands in place of a proof where there is none."""
    raise UsageError("this answer carries no certificate: nothing was decided")


class OnDemand:
    """A proof that is written when somebody asks, or when the answer goes to another process."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __call__(self, *about: Any) -> Any:
        return self.make(*about)

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            return OnDemand, (partial(dict, self.make()),)
        except BisimdistError:
            return OnDemand, (no_certificate,)


def no_parts(*_: object) -> NoReturn:
    """Raise UsageError: what stands in place of compact tables where there is none."""
    raise UsageError("this answer carries no compact tables, or is a copy from another process")


class OnlyHere(OnDemand):
    """A proof in parts, which stays in its process."""

    def __reduce__(self) -> tuple[Any, ...]:
        return OnlyHere, (no_parts,)


class Shown(Numbers, ABC):
    """An answer that shows itself, as plain data and to a person."""

    __slots__ = ()

    command: ClassVar[str]
    """The command whose question it answers."""
    symmetric: ClassVar[bool] = True
    """Whether what is said of a pair holds for its other direction."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Have dataclasses print what a person reads, and no model in full."""
        super().__init_subclass__(**more)
        if "__repr__" not in vars(cls):
            cls.__repr__ = Shown._shown  # type: ignore[method-assign, assignment]

    def data(self) -> dict[str, object]:
        """Return what the JSON object says beside the question: what each pair does, and the status."""
        return said(self, "pairs status" if getattr(self, "status", None) else "pairs")

    @abstractmethod
    def report(self) -> Report:
        """Return the answer for a person."""

    def to_dict(self) -> dict[str, object]:
        """Return what ``--json`` prints: plain data, exact numbers as texts.

        The model is named by its digest, and what was asked is there as far as the answer remembers it.
        """
        return self._whole(self.data())

    def _whole(self, said: dict[str, object]) -> dict[str, object]:
        return {"command": self.command, **self._asked(), **said, **FORMAT}

    def _asked(self) -> dict[str, object]:
        model = getattr(self, "model", None)
        named = {} if model is None else {"model": identity(model)}
        said = {name: _plain(getattr(self, name, None)) for name in ASKED.split()}
        return {**named, **{name: value for name, value in said.items() if value is not None}}

    def to_json(self) -> str:
        """Return the same as the text of a JSON object."""
        return "".join(json_parts(self._whole(self._unmade())))

    def _unmade(self) -> dict[str, object]:
        """Return `data`, of which parts that are long may be made where they are written."""
        return self.data()

    def to_frame(self) -> Any:
        """Return the answer as a table of pandas (`bisimdist.faces.to_pandas`).

        Raises
        ------
        UsageError
            If pandas is not installed.
        """
        return to_pandas(self)

    def matrix(self, bound: str = "upper") -> Matrix:
        """Return the numbers of all pairs as a square table: exact, and for NumPy.

        Parameters
        ----------
        bound
            ``"upper"`` or ``"lower"``.

        Raises
        ------
        UsageError
            If the answer has no number for each pair.
        """
        return Matrix.of_pairs(self._rows(), symmetric=self.symmetric, bound=bound)

    def plot(self) -> Any:
        """Draw the numbers of the pairs; of more than 60 the largest, which the title says.

        Returns
        -------
        matplotlib.figure.Figure
            The picture; a notebook shows it.

        Raises
        ------
        UsageError
            If matplotlib is not installed, or the answer has no number for each pair.
        """
        return draw_pairs(self._rows(), self.report().heading)

    def csv(self) -> str:
        """Return what ``--csv`` writes: a row for each pair, exact numbers as in JSON."""
        return csv_of_pairs(self._rows())

    def _rows(self) -> Sequence[Row]:
        data: dict[str, Any] = self._unmade()
        if "pairs" not in data:
            raise UsageError(f"a {type(self).__name__} has no pairs")
        rows: Sequence[Row] = data["pairs"]
        return rows

    def _shown(self) -> str:
        lines = plain_text(self.report()).splitlines()
        more = [f"... {len(lines) - LINES} more lines"] if len(lines) > LINES else []
        return "\n".join([f"<{type(self).__name__}>", *lines[:LINES], *more])

    def picture(self) -> str:
        """Return what stands behind the answer as an SVG; empty where there is nothing to draw."""
        return ""

    def _repr_html_(self) -> str:
        return self.report().html() + self.picture()

    def _repr_svg_(self) -> str | None:
        return self.picture() or None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved(Numbers):
    """An answer that can prove itself.

    ``make_certificate``: writes the proof when it is asked for; most askers never do.
    """

    make_certificate: CertificateMaker = field(default=no_certificate, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "make_certificate", OnDemand(self.make_certificate))

    def certificate(self) -> dict[str, object]:
        """Return the proof of the answer, as plain data that ``json.dumps`` writes."""
        return self.make_certificate()


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutTraces(Shown, Proved):
    """An answer that rests on probabilities of traces.

    ``completed``: the automaton as the observer sees it.
    """

    completed: Completed = field(repr=False, compare=False)

    def data(self) -> dict[str, object]:
        return {**ends_data(self.completed), **Shown.data(self)}

    @property
    def ends(self) -> Ends:
        """Whether the observer sees that a run has ended."""
        return self.completed.ends

    @property
    def missing(self) -> bool:
        """Whether mass is missing in what the states that were asked about reach."""
        return self.completed.missing
