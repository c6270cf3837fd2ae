"""What a certificate does to a model before it proves anything: a file for each step.

A step says what it makes of a model, and what a claim about that says of the model before it. A claim whose
way back no step knows is not valid.
"""

from __future__ import annotations

__all__ = ["STEPS"]

STEPS: dict[str, str] = {
    "nature": "bisimdist.checker.steps.nature",
    "member": "bisimdist.checker.steps.member",
    "widen": "bisimdist.checker.steps.widen",
    "rounds": "bisimdist.checker.steps.rounds",
    "cut": "bisimdist.checker.steps.cut",
    "merge": "bisimdist.checker.steps.merge",
    "quotient": "bisimdist.checker.steps.quotient",
}  # by name the module of this package whose ``Step`` reads a step and takes it
