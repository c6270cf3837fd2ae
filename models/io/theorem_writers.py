"""The proof assistants that theorems are written for."""

from bisimdist.models.io.lean import write_lean
from bisimdist.models.io.rocq import write_rocq

WRITERS = {"lean": write_lean, "rocq": write_rocq}
