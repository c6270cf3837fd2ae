"""Reading and writing model files: JSON, YAML, PRISM's explicit files, and DOT for drawing."""

from bisimdist.models.io.dot import write_dot
from bisimdist.models.io.layout import write_model
from bisimdist.models.io.load import load_model, parse_model
from bisimdist.models.io.prism import read_prism, write_prism

__all__ = ["load_model", "parse_model", "read_prism", "write_dot", "write_model", "write_prism"]
