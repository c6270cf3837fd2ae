"""The tutorial "add a reduction" in CONTRIBUTING: its code runs, and its step is proved."""

from __future__ import annotations

import json
import re
import sys
import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import bisimdist
from bisimdist import UsageError, check_certificate, delta
from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import RuleViolation, item
from bisimdist.checker.core.shape import key, named
from bisimdist.checker.steps import STEPS
from bisimdist.checker.steps.step import StepShape, Way
from bisimdist.faces.written.reduced import returned_document
from bisimdist.models.lmc import LMC
from bisimdist.reductions.step import Step

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
ABOUT = PAGE.partition("**…a reduction.**")[2].partition("**…a question.**")[0]
REDUCTION, RULE = re.findall(r"```python\n(.*?)```", ABOUT, re.DOTALL)


def made(name: str, code: str, names: dict[str, Any]) -> Any:
    module = types.ModuleType(name)
    module.__dict__.update(names)
    sys.modules[name] = module
    exec(code, module.__dict__)
    return module


def test_the_tutorial_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "dataclass": dataclass,
        "replace": replace,
        "Step": Step,
        "ClassVar": ClassVar,
        "LMC": LMC,
        "Mapping": Mapping,
        "UsageError": UsageError,
    }
    reduction = made("relabel_reduction", REDUCTION, given)
    rule = {"StepShape": StepShape, "Way": Way, "Chain": Chain, "RuleViolation": RuleViolation}
    helpers = {"key": key, "named": named, "item": item, "all_of": all_of, "counted": counted}
    made("relabel_rule", RULE, {**rule, **helpers, "Mapping": Mapping, "replace": replace})
    monkeypatch.setitem(STEPS, "relabel", "relabel_rule")
    chain = bisimdist.build_example("figure1")
    table = {label: f"seen {label}" for label in chain.labels}
    step = reduction.relabelled(chain, table)
    found = delta(step.model, "11/10")
    document = returned_document(found.certificate(), step, [("s0", "s1")])
    report = check_certificate(json.dumps(document), json.dumps(chain.canonical()))
    assert report.valid, report.reason
    assert report.plain_claims()[0]["upper"] == "4/25"
    forged = json.loads(json.dumps(document))
    forged["reduced"][0]["steps"][0]["labels"] = dict.fromkeys(table, "seen")
    assert "B1" in check_certificate(json.dumps(forged)).reason
    with pytest.raises(UsageError):
        reduction.relabelled(chain, dict.fromkeys(table, "seen"))
