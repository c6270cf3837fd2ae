"""Digests of models that somebody has changed, and of what steps make of them."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

from bisimdist.checker.core import reading
from bisimdist.checker.core.chain import Chain, read_asked
from bisimdist.checker.core.partition import lumped
from bisimdist.checker.core.worlds import read_intervals
from bisimdist.checker.steps import STEPS

__all__ = ["redigested"]

Document = dict[str, Any]


def redigested(document: Document) -> None:
    """Write the digests of a certificate about a chain or an interactive model, as far as it is one."""
    parts = [part["steps"] for part in document.get("reduced", ())]
    rough = any(steps and STEPS[steps[0]["name"]].endswith(("nature", "member", "widen")) for steps in parts)
    plain: Any = reading.decode(json.dumps(document["model"]), numbers=False)
    chain: Chain = read_intervals(plain) if rough else read_asked(plain)
    document["digest"] = chain.digest()
    for steps in parts:
        here = chain
        for step in steps:
            step["before"] = step["after"] = here.digest()
            with suppress(reading.RuleViolation, KeyError):
                here = _after(step, here)
                step["after"] = here.digest()


def _after(step: Document, chain: Chain) -> Chain:
    """Return what a step makes of a chain; where states may not be merged, what would be left of them."""
    if step["name"] != "quotient":
        made: Chain = import_module(STEPS[step["name"]]).Step.read(step, "it").way(chain).chain
        return made
    classes = step["classes"]
    stands = {state: classes.get(state, state) for state in chain.labels}
    arms = {
        action: {state: lumped(row, stands) for state, row in rows.items() if state not in classes}
        for action, rows in chain.arms.items()
    }
    labels = {state: label for state, label in chain.labels.items() if state not in classes}
    return replace(chain, labels=labels, arms=arms)
