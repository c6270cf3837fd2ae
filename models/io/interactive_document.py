"""Interactive models from documents (`kind: interactive`)."""

from __future__ import annotations

from bisimdist.errors import ModelError
from bisimdist.models.interactive import Interactive, Moves, action_place
from bisimdist.models.io.document import MapNode, Node
from bisimdist.models.io.expect import ProbabilityReader, check_keys, expect_map, expect_pairs, with_line
from bisimdist.models.io.lmc_document import labelled_states, places_of_states, row_from_map, rows_by_state
from bisimdist.models.labelled import Row

__all__ = ["interactive_from_document"]


def interactive_from_document(root: MapNode) -> Interactive:
    """Return the interactive model that a document describes.

    Raises
    ------
    ModelError
        With place and line, where the document describes none.
    """
    check_keys(root, "", required=("kind", "states", "transitions"), optional=("pairs", "program"))
    names, labels = labelled_states(root)
    position = {name: index for index, name in enumerate(names)}
    numbers = ProbabilityReader()
    moves: list[Moves] = [()] * len(names)
    found = rows_by_state(root, position, "{s: {X: {t: 1/2, u: 1/2}}}")
    places = []
    for name, node in found:
        offered = expect_map(node, f"state {name!r}", "a mapping from actions to rows, such as {X: {t: 1}}")
        places += [(action_place(name, action), row.line) for action, row in offered.entries.items()]
        moves[position[name]] = tuple(
            (action, _row(row, action_place(name, action), position, numbers))
            for action, row in offered.entries.items()
        )
    pairs = expect_pairs(root.entries.get("pairs"), position)
    try:
        return Interactive(names, labels, tuple(moves), pairs)
    except ModelError as error:
        raise with_line(error, [*places, *places_of_states(root, found)]) from None


def _row(node: Node, place: str, position: dict[str, int], numbers: ProbabilityReader) -> Row:
    row = expect_map(node, place, "a mapping from states to probabilities, such as {t: 1/2, u: 1/2}")
    return row_from_map(row, position, place, numbers)
