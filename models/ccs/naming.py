"""Names of states: the term where it is short, else its beginning and the number of the state."""

from __future__ import annotations

from bisimdist.models.ccs.printer import layout
from bisimdist.models.ccs.syntax import Term

LONGEST_NAME = 100  # how long a term may be to be a name in full

BEGINNING = 80


class StateNames:
    """Writes terms as far as a name needs, each subterm once.

    The number is marked with ``#``, which is in no term, so names of different states are different.
    """

    def __init__(self) -> None:
        self._beginnings: dict[Term, str] = {}

    def name(self, term: Term, number: int) -> str:
        """Return the name of the state with a number.

        >>> from bisimdist.models.ccs.parser import parse_term
        >>> StateNames().name(parse_term("a.0"), 7)
        'a.0'
        >>> StateNames().name(parse_term("a." * 1000 + "0"), 7)[-11:]
        '.a.a.... #7'
        """
        text = self._beginning(term)
        return text if len(text) <= LONGEST_NAME else f"{text[:BEGINNING]}... #{number}"

    def _beginning(self, term: Term) -> str:
        """Return the text of a term, or the first characters of it if those are more than a name may have."""
        known = self._beginnings
        waiting = [term]
        while waiting:
            current = waiting[-1]
            if current in known:
                waiting.pop()
                continue
            missing = [part for part in current.children() if part not in known]
            if missing:
                waiting += missing
                continue
            text = ""
            for piece in layout(current):
                if isinstance(piece, str):
                    text += piece
                else:
                    part, level = piece
                    text += f"({known[part]})" if part.level < level else known[part]
                if len(text) > LONGEST_NAME:
                    text = text[: LONGEST_NAME + 1]
                    break
            known[current] = text
            waiting.pop()
        return known[term]
