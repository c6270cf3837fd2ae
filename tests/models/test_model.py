"""What models of every kind share."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

import bisimdist
from bisimdist import HMM, LMC, PA, Interactive, UsageError, build_any_example, load_model, write_model
from bisimdist.models import load_automaton, load_chain, load_hmm

EXAMPLES = {LMC: "figure1", PA: "pin-checking", HMM: "geometric", Interactive: "two-questions"}


@pytest.mark.parametrize(
    ("question", "kind", "named"),
    [
        (bisimdist.trace_metric, HMM, "pa"),
        (lambda model: bisimdist.verify(model, ratio=2, length=1), LMC, "hmm"),
        (bisimdist.models.quotient, PA, "lmc"),
    ],
)
def test_another_kind_is_needed(question: object, kind: type, named: str) -> None:
    assert callable(question)
    with pytest.raises(UsageError, match=rf"this is an? .*; expected an? .*convert\(model, '{named}'\)"):
        question(build_any_example(EXAMPLES[kind]))


@pytest.mark.parametrize(
    "question",
    [
        lambda model: bisimdist.bound(model, 2),
        lambda model: bisimdist.delta(model, 2),
        lambda model: bisimdist.metric(model, "accumulative"),
        lambda model: bisimdist.verify(model, ratio=2, length=1),
        lambda model: bisimdist.convert(model, "pa"),
    ],
    ids=("bound", "delta", "metric", "verify", "convert"),
)
def test_the_name_of_a_file_is_no_model(question: object) -> None:
    assert callable(question)
    with pytest.raises(UsageError, match=r"type str; bisimdist.load_model\('model.yaml'\) reads one"):
        question("model.yaml")


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_file_holds_one_kind(kind: type, tmp_path: Path) -> None:
    model = build_any_example(EXAMPLES[kind])
    path = tmp_path / "model.json"
    path.write_text(write_model(model, "json"))
    for wanted in EXAMPLES:
        if wanted is kind:
            assert load_model(path, kind=wanted) == model
        else:
            with pytest.raises(UsageError, match=r"model\.json holds an? .*; expected an? "):
                load_model(path, kind=wanted)
    for door, found in {load_chain: LMC, load_automaton: PA, load_hmm: HMM}.items():
        if found is kind:
            assert door(path) == model
        else:
            with pytest.raises(UsageError, match=r"model\.json holds an? .*; expected an? "):
                door(path)


@pytest.mark.parametrize("kind", EXAMPLES)
def test_what_is_not_there_is_no_attribute(kind: type) -> None:
    model = build_any_example(EXAMPLES[kind])
    assert not hasattr(model, "nothing")
    assert not hasattr(model, "__array__")
    assert copy.deepcopy(model) == pickle.loads(pickle.dumps(model)) == model
    assert repr(model).startswith(f"<{kind.__name__}: {len(model)} state")
