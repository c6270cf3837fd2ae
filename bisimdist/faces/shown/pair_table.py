"""The pairs of an answer as rows: the largest of them, and CSV; made of what its JSON object says of each."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.rational import to_fmpq
from bisimdist.faces.shown.tables import Report

Row = Mapping[str, Any]  # what the JSON object says of one pair


def is_ratio(pair: Row) -> bool:
    """Tell whether the numbers of a pair are ratios, whose logarithms are distances."""
    return "ratio" in pair


def number_of(text: str | None) -> fmpq | None:
    """Return the number that a field says; None is infinity, or that nothing is known."""
    return None if text in {None, "inf"} else to_fmpq(str(text))


def text_of(pair: Row, bound: str = "upper") -> str | None:
    """Return the bound of a pair as JSON has it."""
    found = bound if bound in pair else "ratio"
    if found not in pair:
        raise UsageError("the answer has no number for each pair: there is no largest one, and no matrix")
    text: str | None = pair[found]
    return text


def value_of(pair: Row, bound: str = "upper") -> fmpq | None:
    """Return the bound of a pair; None is infinity, or that nothing is known.

    >>> value_of({"from": "s", "to": "t", "ratio": "9/4", "lower": "2"})
    9/4
    """
    return number_of(text_of(pair, bound))


@runtime_checkable
class Ranked(Protocol):
    """Pairs that know which are the largest, though they are not made."""

    def largest(self, most: int) -> Sequence[int] | None:
        """Return the places of so many; None where each has to be looked at."""


def largest(pairs: Sequence[Row], most: int) -> Sequence[int]:
    """Return the places of so many pairs with the largest upper bounds, the largest first."""

    def size(pair: Row) -> tuple[bool, fmpq]:
        value = value_of(pair)
        return value is None, value or fmpq(0)

    places = pairs.largest(most) if isinstance(pairs, Ranked) else None
    if places is None:
        sizes = list(map(size, pairs))
        places = sorted(range(len(sizes)), key=sizes.__getitem__, reverse=True)[:most]
    return places


def only(report: Report, places: Sequence[int], of: Sequence[Row]) -> Report:
    """Return a report that speaks of some of its pairs alone, in their order."""
    pairs = [of[k] for k in places]
    names = [(pair["from"], pair["to"]) for pair in pairs]
    rows = [row for name in names for row in report.rows if row[:2] == name]
    left_out = tuple(f"({', '.join(name)})" for name in {(p["from"], p["to"]) for p in of}.difference(names))
    remarks = [remark for remark in report.remarks if not (left_out and remark.startswith(left_out))]
    kept = replace(report, rows=tuple(rows), remarks=tuple(remarks))
    return said_to_be_largest(kept, len(pairs), len(of))


def said_to_be_largest(report: Report, count: int, of: int) -> Report:
    """Return a report that says that it is about the largest of so many pairs."""
    said = f"These are the largest {count} of {of} pairs."
    return replace(report, remarks=(said, *report.remarks))


def _flat(pair: Row) -> Iterator[dict[str, object]]:
    """Yield the rows of a pair: one for each of its measures, if it has several."""
    said = {name: value for name, value in pair.items() if name not in {"measures", "order"}}
    for measure in pair.get("measures", [{}]):
        yield {**said, **measure}


def csv_of_pairs(pairs: Iterable[Row]) -> str:
    """Return a table of all pairs, exact numbers as in JSON; what is no single value is JSON itself.

    >>> print(csv_of_pairs([{"from": "s", "to": "t", "upper": "1/4", "witness": ["a", "b"]}]), end="")
    from,to,upper,witness
    s,t,1/4,"[""a"", ""b""]"
    """
    rows = [row for pair in pairs for row in _flat(pair)]
    heads = list(dict.fromkeys(name for row in rows for name in row))
    drawn = io.StringIO()
    writer = csv.writer(drawn, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(row.get(name)) for name in heads] for row in rows)
    return drawn.getvalue()


def _cell(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)
