"""Reading and writing model files: JSON, YAML, PRISM's explicit files, and DOT for drawing.

One file a format. A text becomes a document whose nodes know their line, the document a model; numbers are
read as decimals or fractions as they stand. What does not make a model is refused with its place and with
what was expected.
"""

from bisimdist.models.io.dot import write_dot
from bisimdist.models.io.layout import write_model
from bisimdist.models.io.load import load_model, parse_model
from bisimdist.models.io.prism import read_prism
from bisimdist.models.io.prism_writer import write_prism
from bisimdist.models.io.reading import Reading
from bisimdist.models.io.umb import write_umb

__all__ = [
    "Reading",
    "load_model",
    "parse_model",
    "read_prism",
    "write_dot",
    "write_model",
    "write_prism",
    "write_umb",
]
