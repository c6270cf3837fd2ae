"""Distances of all states at once: exact, as floats, and drawn as a tree and as a map."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import dist
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import fmpq

from bisimdist.drawing import fitted
from bisimdist.errors import UsageError
from bisimdist.exact.doubles import as_double
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.pair_table import Row, is_ratio, number_of, text_of
from bisimdist.faces.shown.pictures import figure_class, saved
from bisimdist.faces.shown.tables import html_table

if TYPE_CHECKING:
    import numpy

SHOWN = 20  # of so many states a notebook shows the entries
NAMED = 60  # of so many states the names are drawn,
LONGEST = 28  # up to so many letters of each; of states that are too close for that, one
ROW = 0.2  # how high a leaf of the tree is, in inches
Entry: TypeAlias = Exact | None  # None is infinity


@dataclass(frozen=True, slots=True)
class Matrix(Numbers):
    """The numbers of pairs of states as a square table.

    Parameters
    ----------
    names
        The states (or distributions), in the order of rows and columns.
    entries
        By row the exact numbers; None is infinity.
    asked
        By row whether there is an answer about the pair: where not, the entry counts for nothing.
    ratios
        Whether the numbers are ratios; the floats are their logarithms then.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> matrix = bisimdist.bound(chain, 1, pairs=[("s0", "s1"), ("s0", "s2"), ("s1", "s2")]).matrix()
    >>> matrix.names, matrix.entries[0]
    (('s0', 's1', 's2'), (0, 1/5, 1))
    >>> matrix.to_numpy().shape
    (3, 3)
    """

    names: tuple[str, ...]
    entries: tuple[tuple[Entry, ...], ...]
    asked: tuple[tuple[bool, ...], ...]
    ratios: bool = False

    @classmethod
    def of_pairs(cls, pairs: Sequence[Row], *, symmetric: bool = True, bound: str = "upper") -> Matrix:
        """Make the matrix of what a JSON object says of pairs.

        Parameters
        ----------
        pairs
            The pairs.
        symmetric
            Whether a pair says the same of the other direction, where nothing else does.
        bound
            ``"upper"`` or ``"lower"``.

        Raises
        ------
        UsageError
            If there are no numbers.
        """
        if not pairs:
            raise UsageError("the answer has no pairs")
        value = cache(number_of)
        said = [(pair["from"], pair["to"], value(text_of(pair, bound))) for pair in pairs]
        names = tuple(dict.fromkeys(name for *ends, _ in said for name in ends))
        at = {name: k for k, name in enumerate(names)}
        ratios = is_ratio(pairs[0])
        found: dict[tuple[int, int], Entry] = {(k, k): fmpq(int(ratios)) for k in range(len(names))}
        if symmetric:
            found |= {(at[t], at[s]): number for s, t, number in said}
        found |= {(at[s], at[t]): number for s, t, number in said}
        every = range(len(names))
        return cls(
            names,
            tuple(tuple(found.get((s, t), fmpq(0)) for t in every) for s in every),
            tuple(tuple((s, t) in found for t in every) for s in every),
            ratios,
        )

    def __repr__(self) -> str:
        return f"<Matrix of {len(self.names)} states, {sum(map(sum, self.asked))} entries>"

    def _repr_html_(self) -> str:
        rows = zip(self.names, self.entries, self.asked, strict=True)
        shown = [(name, *map(_text, row[:SHOWN], asked[:SHOWN])) for name, row, asked in rows]
        caption = repr(self)[1:-1] + (f", of which {SHOWN} are shown" if len(self.names) > SHOWN else "")
        return html_table(caption, ("", *self.names[:SHOWN]), shown[:SHOWN])

    @property
    def complete(self) -> bool:
        """Whether every pair was asked."""
        return all(map(all, self.asked))

    def to_numpy(self) -> numpy.ndarray[Any, Any]:
        """Return the nearest doubles, of ratios their logarithms; nan where nothing was asked."""
        import numpy as np  # noqa: PLC0415  (small questions wait for no large library)

        rows = zip(self.entries, self.asked, strict=True)
        table = [[_double(v) if there else np.nan for v, there in zip(*row, strict=True)] for row in rows]
        numbers = np.array(table, dtype=float)
        return np.log(numbers) if self.ratios else numbers

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return `to_numpy`, so that NumPy takes the matrix as it is."""
        del copy
        return self.to_numpy() if dtype is None else self.to_numpy().astype(dtype)

    def csv(self) -> str:
        """Return the exact numbers as CSV, named by row and column; empty where nothing was asked."""
        drawn = io.StringIO()
        writer = csv.writer(drawn, lineterminator="\n")
        writer.writerow(["", *self.names])
        for name, row, asked in zip(self.names, self.entries, self.asked, strict=True):
            writer.writerow([name, *map(_text, row, asked)])
        return drawn.getvalue()

    def content(self, path: str) -> str | bytes:
        """Return what belongs into a file, by its extension: exact CSV, doubles of NumPy, or a picture.

        Raises
        ------
        UsageError
            For a picture, if matplotlib is not installed, or some pair was not asked.
        """
        suffix = PurePath(path).suffix.lower()
        if suffix == ".csv":
            return self.csv()
        if suffix != ".npy":
            return saved(self.plot(), path)
        import numpy as np  # noqa: PLC0415

        drawn = io.BytesIO()
        np.save(drawn, self.to_numpy())
        return drawn.getvalue()

    def plot(self) -> Any:
        """Draw which states are close: a tree of clusters, and the states as points of a plane.

        Clusters are joined by average distance; the map is classical multidimensional scaling. Both are made
        of doubles, for the eye: infinity is drawn as twice the largest finite distance.

        Returns
        -------
        matplotlib.figure.Figure
            Two panels.

        Raises
        ------
        UsageError
            If matplotlib is not installed, or some pair was not asked.
        """
        few = len(self.names) <= NAMED
        height = max(4.8, ROW * len(self.names)) if few else 4.8
        figure = figure_class()(figsize=(11, height), layout="constrained")
        if not self.complete or len(self.names) < 2:
            raise UsageError(
                "some pairs were not asked; a picture needs those of all states: --all-pairs, or in Python "
                "pairs=list(itertools.combinations(model.states, 2))"
            )
        import numpy as np  # noqa: PLC0415
        from scipy.cluster.hierarchy import dendrogram, linkage  # noqa: PLC0415
        from scipy.spatial.distance import squareform  # noqa: PLC0415

        numbers = self.to_numpy()
        finite = numbers[np.isfinite(numbers)].max()
        far = np.where(np.isfinite(numbers), numbers, 2 * finite or 1.0)
        far = (far + far.T) / 2
        tree, plane = figure.subplots(1, 2)
        joined = linkage(squareform(far, checks=False), "average")
        labels = [fitted(name, LONGEST) for name in self.names]
        dendrogram(joined, labels=labels, orientation="right", ax=tree, no_labels=not few)
        tree.set_xlabel("epsilon" if self.ratios else "distance")
        tree.set_title("close in the tree: joined by average distance", fontsize="medium")
        x, y = _plane(far)
        plane.scatter(x, y, s=14, color="#1f4e9c")
        plane.set_title("close on the map: hard to tell apart", fontsize="medium")
        plane.set_aspect("equal", adjustable="datalim")
        if few:
            figure.draw_without_rendering()  # texts have a size once there is a layout
            _name_points(plane, labels, x, y)
        return figure


def _plane(distances: Any) -> Any:
    """Return coordinates in two dimensions: classical multidimensional scaling."""
    import numpy as np  # noqa: PLC0415

    squares = distances**2
    centred = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    return (vectors * np.sqrt(np.maximum(values, 0)))[:, [-1, -2]].T


def _name_points(plane: Any, names: Sequence[str], x: Any, y: Any) -> None:
    """Write names beside points; of those whose texts would overlap one, and how many more there are."""
    middle = (min(x) + max(x)) / 2
    written: list[tuple[Any, list[str]]] = []
    for name, *point in zip(names, x, y, strict=True):
        side = {"xytext": (-3, 3), "ha": "right"} if point[0] > middle else {"xytext": (3, 3)}
        reserved = f"{name} and {len(names)} more"
        text = plane.annotate(reserved, point, textcoords="offset points", fontsize="small", **side)
        box = text.get_window_extent().padded(1)
        near = [(dist(point, t.xy), known) for t, known in written if box.overlaps(t.get_window_extent())]
        if near:
            min(near)[1].append(name)
            text.remove()
        else:
            written.append((text, [name]))
    for text, known in written:
        text.set_text(known[0] + (f" and {len(known) - 1} more" if known[1:] else ""))


def _double(value: Entry) -> float:
    return float("inf") if value is None else as_double(value)


def _text(value: Entry, asked: bool) -> str:
    if not asked:
        return ""
    return "inf" if value is None else format_rational(value)
