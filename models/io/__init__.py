"""Reading and writing model files: JSON, YAML, PRISM's explicit files, and drawings.

One file a format. A text becomes a document whose nodes know their line, the document a model; numbers are
read as decimals or fractions as they stand. What does not make a model is refused with its place and with
what was expected.
"""

from __future__ import annotations

from bisimdist.lazily import exported

__getattr__, __dir__, __all__ = exported(__name__, __file__)
