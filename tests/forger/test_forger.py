"""The checker accepts no forgery that a solver or chance comes up with; without one of its rules it does."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bisimdist.checker import check_certificate
from bisimdist.checker.core.reading import Skew
from tests.certificates.test_tables import switchable
from tests.checker.mutation import checker
from tests.forger.filed import filed, tightened
from tests.forger.forge import Attack, Lie, attack, lies, number_places
from tests.forger.logic import logic_lies
from tests.forger.raid import Raid, raid
from tests.forger.symbols import Ending, Explorer, Symbol
from tests.forger.templates import KINDS, Template, templates
from tests.forger.weakened import weakened

INCORRECT = Path(__file__).parents[1] / "certificates" / "incorrect"


def raided(seed: int, count: int, chances: int, seconds: float) -> Raid:
    done = Raid(seed)
    for number in range(count):
        raid(done, number, chances=chances, seconds=seconds)
    assert not done.forged, done.table()
    assert not done.crashes, done.table()
    return done


def test_no_forgery_in_a_short_raid() -> None:
    done = raided(21, 6, 3, 0.3)
    assert sum(done.chanced.values()) > 50
    assert any(name.endswith(": unsat") for name in done.solved)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [22, 23])
def test_no_forgery_in_a_raid(seed: int) -> None:
    done = raided(seed, 110, 50, 5.0)
    assert sum(done.chanced.values()) > 4000


def first_forgery(kind: str, first: int) -> Attack | None:
    for number in range(first, first + 40):
        for template in templates(3, number, (kind,)):
            for lie in lies(template):
                found = attack(template, lie, template.document, random.Random(number), seconds=1.0)
                if found.forgery is not None:
                    return found
    return None


QUICK = (
    ("amortised", "claims.metric", "M10", 16),
    ("amortised", "claims.metric", "M11", 1),
    ("generalised", "claims.generalised_upper", "Q7", 1),
    ("traces", "claims.trace_ratio", "T8", 0),
)
"""Kinds of certificates, modules and rules of the checker, numbers of models that show it quickly."""
RULES = (
    ("distances", "core.tables", "U3"),
    ("distances", "core.tables", "U4"),
    ("distances", "claims.distance", "L6"),
    ("delta", "claims.delta", "D5: the upper bound is less than what"),
    ("generalised", "claims.generalised_lower", "an answer is not shown to cost the value"),
)


def deceive(kind: str, module: str, rule: str, first: int = 0) -> None:
    with weakened(module, rule):
        found = first_forgery(kind, first)
    assert found is not None
    assert found.forgery is not None
    report = check_certificate(json.dumps(found.forgery))
    assert not report.valid
    assert rule in report.reason


@pytest.mark.parametrize(("kind", "module", "rule", "first"), QUICK)
def test_a_weaker_checker_is_deceived(kind: str, module: str, rule: str, first: int) -> None:
    deceive(kind, module, rule, first)


FORMS = (
    ("metric", "M3", "another-model", "lower", "1"),
    ("metric", "M4", "upper-below-one-amortised", "upper", "1"),
    ("metric", "M7", "too-small", "upper", "3/2"),
    ("metric", "M8", "too-large", "lower", "3/2"),
    ("mechanism-budget", "M3", "not-attained", "ratio", "2"),
    ("mechanism-budget", "M4", "more-elsewhere-first", "ratio", "4"),
    ("hmm-all-lengths", "F4", "factor-too-small", "ratio", "5/2"),
    ("hmm-budget", "W4", "not-attained", "ratio", "68/27"),
    ("trace-metric", "T9", "less-by-a-negative-move", "upper", "2"),
    ("delta", "D6", "cost", "upper", "1/2"),
)
"""Kinds and rules, files that only these stop, a bound of their claims, and what nothing beyond is true."""


@pytest.mark.parametrize(("kind", "rule", "name", "bound", "truth"), FORMS)
def test_without_a_rule_numbers_are_found_for_a_form_that_it_stops(
    kind: str, rule: str, name: str, bound: str, truth: str
) -> None:
    path = INCORRECT / kind / f"{rule}-{name}.json"
    document = json.loads(path.read_bytes())
    given = path.with_suffix(".model")
    model = given.read_text() if given.exists() else None
    above = bound == "lower" or name == "not-attained"
    lie = Lie(("claims", 0, bound), above, Fraction(truth))
    template = Template(kind, path.stem, document, None, None)
    with checker(switchable()):
        weaker: Any = import_module("bisimdist.checker.core.reading")
        weaker.RuleViolation.off = rule
        tries = (
            attack(template, lie, document, random.Random(0), model=model, only_claim=only_claim)
            for only_claim in (False, True)
        )
        forgery = next((found.forgery for found in tries if found.forgery is not None), None)
    assert forgery is not None
    report = check_certificate(json.dumps(forgery), model)
    assert not report.valid
    assert rule in report.reason


def test_a_ceiling_of_any_alpha_would_deceive(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an empty ceiling and a move into what is to be carried away, any alpha below 1 is a forgery."""
    (template,) = (tightened(t) for t in filed() if t.source == "delta-ceiling-complement")
    document = json.loads(json.dumps(template.document))
    document["ceiling"] |= {"bounds": [], "upper": {"pairs": []}}
    for node in document["nodes"]:
        for move in node.get("bound", {}).get("moves", []):
            move[:2] = reversed(move[:2])
    (upper, *_) = lies(template)
    assert attack(template, upper, document, random.Random(0)).outcome.ending is Ending.UNSAT
    with monkeypatch.context() as patch:
        patch.setattr(Skew, "holds", staticmethod(lambda number: True))
        found = attack(template, upper, document, random.Random(0))
    assert found.forgery is not None
    report = check_certificate(json.dumps(found.forgery))
    assert not report.valid
    assert report.reason.startswith("D6: 'alpha' of the ceiling")


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "module", "rule"), RULES)
def test_other_weaker_checkers_are_deceived(kind: str, module: str, rule: str) -> None:
    deceive(kind, module, rule)


@pytest.mark.parametrize("kind", ["generalised", "layers", "traces"])
def test_numbers_for_a_true_claim_are_found(kind: str) -> None:
    endings = []
    for number in range(3):
        for template in templates(2, number, (kind,)):
            for lie in lies(template)[:1]:
                truth = replace(lie, limit=Fraction(-1) if lie.above else Fraction(10**9))
                endings.append(attack(template, truth, template.document, random.Random(1)).outcome.ending)
    assert Ending.SAT in endings


def test_lies_about_formulae_are_refused() -> None:
    said: dict[str, set[str]] = {}
    for number in range(6):
        for kind, document in logic_lies(3, number):
            report = check_certificate(json.dumps(document))
            assert not report.valid, document["claims"]
            said.setdefault(kind, set()).add(report.reason[:2])
    assert {"bisimilar", "told apart", "satisfaction", "mimicking", "equivalent"} <= set(said)
    assert all(rule[1].isdigit() for rules in said.values() for rule in rules), said


def test_every_kind_has_certificates() -> None:
    found = {template.kind for number in range(22) for template in templates(5, number)}
    assert len(found) >= len(KINDS) + 3, found
    (template, *_) = templates(2, 2, ("distances",))
    assert ("claims", 0, "upper") in number_places(template.document)


def test_symbols_count_as_fractions() -> None:
    explorer = Explorer()

    def judge() -> bool:
        x = explorer.input("x")
        assert isinstance(x, Symbol)
        y = 2 * x + Fraction(1, 3) - 1
        return bool(abs(y) > x and Fraction(1) < y and y / 2 != 7 and x**2 <= 9)

    found = explorer.search(judge, lambda: explorer.input("x").expression > 2)
    assert found.ending is Ending.SAT
    assert 2 < found.values["x"] <= 3
    nothing = explorer.search(judge, lambda: explorer.input("x").expression > 4)
    assert nothing.ending is Ending.UNSAT


def test_a_raid_goes_on_where_it_stopped(tmp_path: Path) -> None:
    done = Raid(4)
    raid(done, 0, chances=3, solver=False)
    done.save(tmp_path / "state.json")
    again = Raid.load(tmp_path / "state.json")
    assert again == done
    assert again.following == 1
    assert "all" in again.table()
