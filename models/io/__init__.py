"""Reading and writing model files: JSON, YAML, PRISM's explicit files, and drawings.

One file a format. A text becomes a document whose nodes know their line, the document a model; numbers are
read as decimals or fractions as they stand. What does not make a model is refused with its place and with
what was expected.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bisimdist.models.io.dot import write_dot as write_dot
    from bisimdist.models.io.drn_writer import write_drn as write_drn
    from bisimdist.models.io.layout import write_model as write_model
    from bisimdist.models.io.load import load_automaton as load_automaton
    from bisimdist.models.io.load import load_chain as load_chain
    from bisimdist.models.io.load import load_hmm as load_hmm
    from bisimdist.models.io.load import load_model as load_model
    from bisimdist.models.io.load import parse_model as parse_model
    from bisimdist.models.io.prism import read_prism as read_prism
    from bisimdist.models.io.prism_writer import write_prism as write_prism
    from bisimdist.models.io.reading import Reading as Reading
    from bisimdist.models.io.svg import write_svg as write_svg
    from bisimdist.models.io.umb import write_umb as write_umb

__all__ = [
    "Reading",
    "load_automaton",
    "load_chain",
    "load_hmm",
    "load_model",
    "parse_model",
    "read_prism",
    "write_dot",
    "write_drn",
    "write_model",
    "write_prism",
    "write_svg",
    "write_umb",
]

_HOMES = {
    "Reading": "reading",
    "load_automaton": "load",
    "load_chain": "load",
    "load_hmm": "load",
    "load_model": "load",
    "parse_model": "load",
    "read_prism": "prism",
    "write_dot": "dot",
    "write_drn": "drn_writer",
    "write_model": "layout",
    "write_prism": "prism_writer",
    "write_svg": "svg",
    "write_umb": "umb",
}  # the formats are loaded when they are used: an example or a program needs none


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"bisimdist.models.io.{_HOMES[name]}"), name)
