"""What JSON and CSV say of pairs, made where somebody looks at it, and written without being made."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, overload

from bisimdist.faces.shown.pair_bounds import PART, Names, PairBound, PairBounds
from bisimdist.faces.shown.pair_table import csv_of_pairs
from bisimdist.models.all_pairs import AllPairs

Row = dict[str, object]


class PairRows(Sequence[Row]):
    """A row for each pair of an answer."""

    def __init__(
        self,
        pairs: Sequence[PairBound],
        distance: str,
        names: Names,
        more: Sequence[Mapping[str, object]] = (),
    ) -> None:
        self.pairs, self.distance, self.names, self.more = pairs, distance, names, more

    def __len__(self) -> int:
        return len(self.pairs)

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        more = self.more[index] if self.more else {}
        return {**self.pairs[index].data(self.distance, self.names[index]), **more}

    def __iter__(self) -> Iterator[Row]:
        if self._alike:
            for part, lower, upper in self._texts(str):
                for (s, t), low, high in zip(part, lower, upper, strict=True):
                    ends = {"from": s, "to": t, "upper": high, "exact": low == high}
                    yield {**ends, "distance": self.distance, "lower": low}
            return
        for k, (pair, names) in enumerate(zip(self.pairs, self.names, strict=True)):
            yield {**pair.data(self.distance, names), **(self.more[k] if self.more else {})}

    def largest(self, most: int) -> list[int] | None:
        """Return the places of so many largest upper bounds; None where each has to be looked at."""
        return self.pairs.largest(most) if isinstance(self.pairs, PairBounds) else None

    def json(self) -> Iterator[str]:
        """Yield the text of the list of all rows, part by part."""
        yield "["
        comma = ""
        for part in self._json():
            if part:
                yield comma + ", ".join(part)
                comma = ", "
        yield "]"

    def _json(self) -> Iterator[list[str]]:
        if not self._alike:
            rows = iter(self)
            while part := [json.dumps(row) for row in islice(rows, PART)]:
                yield part
            return
        end = f'"distance": {json.dumps(self.distance)}, "lower": '
        for names, lower, upper in self._texts(json.dumps):
            yield [
                f'{{"from": {s}, "to": {t}, "upper": "{high}", '
                f'"exact": {"true" if low == high else "false"}, {end}"{low}"}}'
                for (s, t), low, high in zip(names, lower, upper, strict=True)
            ]

    def csv(self) -> Iterator[bytes]:
        """Yield the table of all rows, part by part."""
        if not self._alike:
            yield csv_of_pairs(self).encode()
            return
        yield b"from,to,upper,exact,distance,lower\n"
        for names, lower, upper in self._texts(_csv_cell):
            rows = zip(names, lower, upper, strict=True)
            yield "".join(
                f"{s},{t},{high},{'true' if low == high else 'false'},{self.distance},{low}\n"
                for (s, t), low, high in rows
            ).encode()

    @property
    def _alike(self) -> bool:
        """Whether all rows have the same fields: names, two bounds, and nothing more."""
        return isinstance(self.pairs, PairBounds) and not self.more and not self.pairs.known.directed

    def _texts(
        self, written: Callable[[str], str]
    ) -> Iterator[tuple[list[tuple[str, str]], list[str], list[str]]]:
        """Yield names, as they are written, and bounds of many pairs at a time."""
        assert isinstance(self.pairs, PairBounds)
        cell = cache(written)
        if isinstance(self.names, AllPairs):
            names = iter(AllPairs(list(map(cell, self.names.of))))
        else:
            names = ((cell(s), cell(t)) for s, t in self.names)
        for lower, upper in self.pairs.texts():
            yield list(islice(names, len(upper))), lower, upper


def _csv_cell(text: str) -> str:
    cell = io.StringIO()
    csv.writer(cell, lineterminator="\n").writerow([text, ""])  # nothing, alone, would be quoted
    return cell.getvalue().removesuffix(",\n")
