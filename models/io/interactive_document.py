"""Interactive models from documents (`kind: interactive`)."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.errors import ModelError
from bisimdist.models.contested import contested
from bisimdist.models.interactive import Interactive, Moves, action_place
from bisimdist.models.intervals import IntervalRow
from bisimdist.models.io.document import MapNode, Node
from bisimdist.models.io.expect import ProbabilityReader, check_keys, expect_map, expect_pairs, with_line
from bisimdist.models.io.interval_document import any_interval, interval_row
from bisimdist.models.io.lmc_document import labelled_states, places_of_states, row_from_map, rows_by_state


def interactive_from_document(root: MapNode) -> Interactive:
    """Return the interactive model that a document describes; with intervals that of analyst and nature."""
    check_keys(root, "", required=("kind", "states", "transitions"), optional=("pairs", "program"))
    names, labels = labelled_states(root)
    position = {name: index for index, name in enumerate(names)}
    numbers = ProbabilityReader()
    moves: list[Moves] = [()] * len(names)
    found = rows_by_state(root, position, "{s: {X: {t: 1/2, u: 1/2}}}")
    places = []
    rows_of = [(row for row in node.entries.values()) for _, node in found if isinstance(node, MapNode)]
    rough = any(map(any_interval, rows_of))
    offered_rows: list[Sequence[tuple[str, IntervalRow]]] = [()] * len(names)
    for name, node in found:
        offered = expect_map(node, f"state {name!r}", "a mapping from actions to rows, such as {X: {t: 1}}")
        places += [(action_place(name, action), row.line) for action, row in offered.entries.items()]
        if rough:
            offered_rows[position[name]] = [
                (action, interval_row(_map(row, place), position, place, numbers))
                for action, row in offered.entries.items()
                for place in [action_place(name, action)]
            ]
            continue
        moves[position[name]] = tuple(
            (action, row_from_map(_map(row, place), position, place, numbers))
            for action, row in offered.entries.items()
            for place in [action_place(name, action)]
        )
    pairs = expect_pairs(root.entries.get("pairs"), position)
    try:
        if rough:
            return contested(names, labels, offered_rows, pairs)
        return Interactive(names, labels, tuple(moves), pairs)
    except ModelError as error:
        raise with_line(error, [*places, *places_of_states(root, found)]) from None


def _map(node: Node, place: str) -> MapNode:
    return expect_map(node, place, "a mapping from states to probabilities, such as {t: 1/2, u: 1/2}")
