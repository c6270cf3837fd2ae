"""What the readers of the model kinds expect of a document, each with the error for what is there instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from flint import fmpq

from bisimdist.errors import ModelError, NumberError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.exact.rational import parse_rational, shorten_rational
from bisimdist.models.io.document import ListNode, MapNode, Node, Scalar, ScalarKind

MAX_NUMBER_BITS = 1 << 31
"""How many bits the numbers of one file may take together: `1e-9999` is short to write, but not to hold."""


def error_at(node: Node, message: str, place: str) -> ModelError:
    """Return an error about a node of a row, for `sparse_row`."""
    return node.error(message, place)


def expect_map(node: Node, place: str, expected: str) -> MapNode:
    """Return the node if it is a mapping."""
    if isinstance(node, MapNode):
        return node
    raise node.unexpected(expected, place)


def expect_list(node: Node, place: str, expected: str) -> ListNode:
    """Return the node if it is a list."""
    if isinstance(node, ListNode):
        return node
    raise node.unexpected(expected, place)


def expect_text(node: Node, place: str, expected: str) -> str:
    """Return the text of a node: in JSON a string, in YAML any scalar that is not empty."""
    if isinstance(node, Scalar) and node.kind is ScalarKind.TEXT:
        return node.text
    raise node.unexpected(expected, place)


def expect_number(node: Node, place: str, expected: str = "an exact number") -> fmpq:
    """Return the exact number that a scalar writes."""
    if not isinstance(node, Scalar) or node.kind in {ScalarKind.WORD, ScalarKind.NOTHING}:
        raise node.unexpected(expected, place)
    try:
        return parse_rational(node.text)
    except NumberError as error:
        raise node.error(str(error), place) from None


def check_keys(node: MapNode, place: str, *, required: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Refuse keys that are unknown or missing."""
    allowed = (*required, *optional)
    for key, value in node.entries.items():
        if key not in allowed:
            raise value.error(f"the key {key!r} is unknown; expected {', '.join(allowed)}", place)
    for key in required:
        if key not in node.entries:
            raise node.error(f"the key {key!r} is missing; expected {', '.join(allowed)}", place)


def expect_name_pairs(
    node: Node | None, known: Collection[str], kind: str, example: str = "[s, t]"
) -> tuple[tuple[str, str], ...]:
    """Return the pairs of names that a file lists; none where it has none."""
    if node is None:
        return ()
    pairs = []
    for number, entry in enumerate(
        expect_list(node, "pairs", f"a list of pairs of {kind}s, such as [{example}]").items, start=1
    ):
        place = f"pair number {number}"
        names = expect_list(entry, place, f"a list of two {kind}s, such as {example}").items
        if len(names) != 2:
            raise entry.error(
                f"the pair has {len(names)} entries; expected two {kind}s, such as {example}", place
            )
        first, second = (_known_name(name, place, known, kind) for name in names)
        pairs.append((first, second))
    return tuple(pairs)


def expect_pairs(node: Node | None, position: dict[str, int]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of states of a model as pairs of indices; errors are those of `expect_name_pairs`."""
    return tuple((position[s], position[t]) for s, t in expect_name_pairs(node, position, "state"))


def _known_name(node: Node, place: str, known: Collection[str], kind: str) -> str:
    name = expect_text(node, place, f"the name of a {kind}")
    if name not in known:
        raise node.error(f"{name!r} is not a declared {kind}", place)
    return name


def with_line(error: ModelError, lines: Iterable[tuple[str, int]]) -> ModelError:
    """Return the error of a model, which knows places only, with the line of its place.

    ``lines``: places and the lines where they are; the first that fits counts.
    """
    for place, line in lines:
        if ModelError("", place=place).place == error.place:
            return ModelError(error.message, place=error.place, line=line)
    return error


def only_chains(node: Node) -> str:
    """Return what to say of an interval that stands where there is none."""
    pair = isinstance(node, ListNode) and len(node.items) == 2
    return (
        " (intervals are there for chains, hidden Markov models and interactive models, without parameters)"
        if pair
        else ""
    )


class ProbabilityReader:
    """Reads the probabilities of one file, each text once, and keeps their joint size within bounds.

    With a rationaliser decimals are taken for doubles. Rates and rewards are not bounded by 1.
    """

    def __init__(self, rationaliser: Rationaliser | None = None, *, bounded: bool = True) -> None:
        self._bounded = bounded
        self._parse = parse_rational if rationaliser is None else rationaliser.of_text
        self._known: dict[str, fmpq] = {}
        self._bits = 0

    def from_node(self, node: Node, place: str) -> fmpq:
        """Return the probability that a scalar writes."""
        if not isinstance(node, Scalar) or node.kind in {ScalarKind.WORD, ScalarKind.NOTHING}:
            raise node.unexpected(f"an exact number such as 3/5 or 0.6{only_chains(node)}", place)
        return self.from_text(node.text, place, node.line)

    def from_text(self, text: str, place: str, line: int) -> fmpq:
        """Return the probability that a text writes."""
        known = self._known.get(text)
        if known is not None:
            return known
        try:
            value = self._parse(text)
        except NumberError as error:
            raise ModelError(str(error), place=place, line=line) from None
        if value < 0 or (self._bounded and value > 1):
            raise ModelError(
                f"the probability is {shorten_rational(value)}; expected a number in [0, 1]"
                if self._bounded
                else f"the number is {shorten_rational(value)}; expected one that is not negative",
                place=place,
                line=line,
            )
        self._bits += value.p.bit_length() + value.q.bit_length()
        if self._bits > MAX_NUMBER_BITS:
            raise ModelError(
                f"the numbers of the file take more than the {MAX_NUMBER_BITS} bits allowed",
                place=place,
                line=line,
            )
        self._known[text] = value
        return value
