"""Probabilistic automata from texts of the process calculus CCS_p (`.ccsp`)."""

from __future__ import annotations

import re

from bisimdist.errors import ModelError
from bisimdist.models.pa import PA

# A definition, or one of the words that begin a statement and that no colon follows, as it would in YAML.
_BEGINNING = re.compile(
    r"(?:\s|#[^\n]*(?:\n|$))*(?:[A-Z][A-Za-z0-9_]*\s*(?:\([^()]{0,1000}\)\s*)?=|(?:main|pairs)[\s(]+[^\s:(]"
    r"|limit\s+[0-9]+\s*;)"
)


def looks_like_ccsp(text: str) -> bool:
    r"""Tell whether a text begins as one of CCS_p does, and no JSON or YAML model.

    >>> looks_like_ccsp("# a coin\nX = a.0;"), looks_like_ccsp("kind: pa")
    (True, False)
    """
    return _BEGINNING.match(text) is not None


def automaton_from_ccsp(text: str, *, state_limit: int | None = None) -> PA:
    """Return the automaton that a text of CCS_p stands for.

    ``state_limit``: how many states there may be; by default what the text says, or 50 000.

    >>> automaton_from_ccsp("X = a.X; pairs X, a.X;").states
    ('X', 'a.X')
    """
    # Reading the calculus takes imports that no other format needs, one of them from this package.
    from bisimdist.models.ccs.parser import parse_specification, statement_positions  # noqa: PLC0415
    from bisimdist.models.ccs.semantics import automaton  # noqa: PLC0415
    from bisimdist.models.ccs.specification import growing_definition  # noqa: PLC0415

    specification = parse_specification(text)
    try:
        return automaton(specification, state_limit=state_limit)
    except ModelError as error:
        positions = statement_positions(text)
        name = growing_definition(specification.definitions)
        message = error.message
        if error.place.startswith("the definition of "):
            name = error.place.removeprefix("the definition of ")
        elif name is not None:
            message += f" ({name[:40]} calls itself beside others or under a restriction)"
        line, column = positions.get(name or "", positions[""])
        place = f"column {column}, {error.place}" if error.place else f"column {column}"
        raise ModelError(message, place=place, line=line) from None
