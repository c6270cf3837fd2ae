"""What all answers can do in Python, one of each kind."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import bisimdist as b
from bisimdist.checker import check_certificate
from bisimdist.faces.cli.main import run


def example(name: str) -> Any:
    return b.build_any_example(name)


ANSWERS: dict[str, Callable[[], Any]] = {
    "bound": lambda: b.bound(example("figure1"), 2),
    "delta": lambda: b.delta(example("figure1"), 2),
    "delta of an analyst": lambda: b.delta(example("two-questions"), 2, rounds=2),
    "metric": lambda: b.metric(example("pin-checking"), "amortised"),
    "generalised metric": lambda: b.automata.generalised_metric(example("pin-checking")),
    "trace metric": lambda: b.trace_metric(example("randomised-response-pa")),
    "trace equivalence": lambda: b.traces.trace_equivalence(example("randomised-response-pa")),
    "verify": lambda: b.verify(example("geometric"), ratio=2, length=1),
    "all lengths": lambda: b.budgets.for_all_lengths(example("contagious-disease"), ratio=4),
    "explain": lambda: b.logic.explain(example("pin-checking")),
    "leakage": lambda: b.leakage(example("figure1"), "kl"),
    "satisfying": lambda: b.logic.satisfying(example("pin-checking"), "<a1>T"),
    "profile": lambda: b.profile(example("figure1"), points=3),
    "compare": lambda: b.compare(example("figure1"), 2),
    "crosscheck": lambda: b.crosscheck(example("figure1"), length=1),
}


COMMANDS = {
    "bound": "bound example:figure1 --alpha 2",
    "delta": "delta example:figure1 --alpha 2",
    "metric": "metric example:pin-checking --kind amortised",
    "generalised metric": "metric example:pin-checking --kind additive",
    "trace equivalence": "equivalence example:randomised-response-pa",
    "verify": "verify example:geometric --ratio 2 --length 1",
    "explain": "logic explain example:pin-checking",
    "leakage": "leakage example:figure1 --measure kl",
    "satisfying": "logic satisfies example:pin-checking --formula <a1>T",
    "profile": "profile example:figure1 --points 3",
    "compare": "compare example:figure1 --alpha 2",
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer(kind: str) -> None:
    answer = ANSWERS[kind]()
    data = answer.to_dict()
    assert json.loads(answer.to_json()) == json.loads(json.dumps(data))
    assert data["command"] and answer.data().items() <= data.items()
    again = pickle.loads(pickle.dumps(answer))
    assert again.data() == answer.data()
    assert repr(again) == repr(answer)
    assert 1 < len(repr(answer).splitlines()) <= 14
    if hasattr(answer, "certificate"):
        assert again.certificate() == answer.certificate()
        assert check_certificate(json.dumps(again.certificate()).encode()).valid


@pytest.mark.parametrize("kind", COMMANDS)
def test_an_answer_is_what_the_command_prints(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*COMMANDS[kind].split(), "--json"]) in {0, 1}
    assert json.loads(capsys.readouterr().out) == json.loads(ANSWERS[kind]().to_json())
