"""Audits: how often they are wrong, what they find, and whose samples are those of the model."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from flint import fmpq

from bisimdist import audit, check_certificate, delta, explore, parse_model
from bisimdist.errors import LimitError, UsageError
from bisimdist.models.lmc import LMC
from bisimdist.privacy import distinguisher
from bisimdist.privacy.audit.black_box import outputs_of_command, outputs_of_file, outputs_of_function
from bisimdist.progress import Deadline

RESPONSE = """
kind: lmc
states: {s: start, t: start, yes: yes, no: no}
transitions: {s: {yes: 3/4, no: 1/4}, t: {yes: 1/4, no: 3/4}, yes: {yes: 1}, no: {no: 1}}
pairs: [[s, t]]
"""
WALK = """
kind: lmc
states: {s: a, t: a, u: b, v: b, w: c, x: d}
transitions:
  s: {u: 9/10, v: 1/10}
  t: {u: 1/10, v: 9/10}
  u: {w: 1}
  v: {x: 1}
  w: {w: 1}
  x: {x: 1}
pairs: [[s, t]]
"""
HERE = Path(__file__).parent


def model(text: str = RESPONSE) -> LMC:
    found = parse_model(text, source="model.yaml")
    assert isinstance(found, LMC)
    return found


def answers(chance: float, count: int, seed: int = 0) -> list[str]:
    source = random.Random(seed)
    return ["yes" if source.random() < chance else "no" for _ in range(count)]


def test_lower_bounds_are_wrong_as_seldom_as_the_confidence_says() -> None:
    found = distinguisher(model(), 2)
    truth, wrong = delta(model(), 2).lower, 0
    for seed in range(400):
        seen = audit(found, answers(0.75, 150, 2 * seed), answers(0.25, 150, 2 * seed + 1), confidence="3/4")
        wrong += seen.lower > truth
    assert 0 < wrong <= 100  # 17 here: two tails of 1/8 each that are seldom both bad


def test_the_model_is_contradicted_by_its_own_samples_as_seldom() -> None:
    found = distinguisher(model(), 2)
    wrong = sum(
        audit(
            found, answers(0.75, 150, 2 * k), answers(0.25, 150, 2 * k + 1), confidence="3/4"
        ).model_contradicted
        for k in range(400)
    )
    assert 0 < wrong <= 100


def test_a_violation_is_found_and_sized() -> None:
    seen = audit(distinguisher(model(), 2), answers(0.9, 5000), answers(0.1, 5000, 1))
    assert seen.violated
    assert seen.model_contradicted
    assert fmpq(65, 100) < seen.lower < fmpq(7, 10)  # of 9/10 - 2 * 1/10
    assert seen.claim == fmpq(1, 4)


def test_where_delta_is_zero_there_is_an_event_still() -> None:
    found = distinguisher(model(), 3)
    assert found.pair.upper == 0
    assert audit(found, answers(0.9, 2000), answers(0.1, 2000, 1)).violated
    assert not audit(found, answers(0.75, 2000), answers(0.25, 2000, 1)).violated


def test_nothing_is_said_of_states_that_are_alike() -> None:
    same = model(RESPONSE.replace("[[s, t]]", "[[s, s]]"))
    seen = audit(distinguisher(same, 1), answers(0.9, 2000), answers(0.1, 2000, 1))
    assert not seen.violated
    assert seen.model_contradicted


def test_the_claim_may_be_another_than_that_of_the_model() -> None:
    found = distinguisher(model(), 2)
    samples = answers(0.75, 5000), answers(0.25, 5000, 1)
    assert not audit(found, *samples).violated
    assert audit(found, *samples, claim="3/20").violated


def test_an_output_that_the_model_never_shows_contradicts_it() -> None:
    seen = audit(distinguisher(model(), 2), ["yes", "perhaps"], ["no"])
    assert [side.contradiction for side in seen.sides] == ["the model never shows perhaps", ""]


@pytest.mark.parametrize(
    ("first", "second"), [("b c", "b d"), ('["b", "c"]', '["b", "d"]'), ("b c c", "b d d")]
)
def test_outputs_may_be_several_labels(first: str, second: str) -> None:
    seen = audit(distinguisher(model(WALK), 2), [first] * 950 + [second] * 50, [first] * 50 + [second] * 950)
    assert [side.inside for side in seen.sides] == [950, 50]
    assert seen.violated
    assert [bool(side.contradiction) for side in seen.sides] == [True, True]  # 95 and 5 in 100, not 90 and 10


def test_an_output_that_ends_before_the_event_is_decided_is_not_in_it() -> None:
    seen = audit(distinguisher(model(WALK), 2), ["b"] * 100, ["b"] * 100)
    assert [side.inside for side in seen.sides] == [0, 0]


def geometric(x: int, rng: random.Random) -> int:
    while rng.randrange(2):
        x += 1
    return x


def word(x: int, rng: random.Random) -> str:
    return "abc"[x + rng.randrange(2)]


def test_runs_that_are_cut_off_are_allowed_for() -> None:
    found = distinguisher(explore(geometric, [0, 1], cut="1/8"), 1)
    source = random.Random(5)
    samples = [[str(geometric(x, source)) for _ in range(2000)] for x in (0, 1)]
    assert not audit(found, *samples).model_contradicted
    assert audit(found, ["0"] * 2000, samples[1]).model_contradicted


def test_texts_are_outputs_as_they_are_printed() -> None:
    found = distinguisher(explore(word, [0, 1]), 1)
    for a, c in (("a", "c"), ("'a'", "'c'")):
        assert audit(found, [a] * 100, [c] * 100).violated


def test_the_event_is_that_of_a_proof() -> None:
    seen = audit(distinguisher(model(), 2), ["yes"], ["no"])
    assert check_certificate(json.dumps(seen.certificate())).valid


def test_epsilon_is_rounded_so_that_a_violation_is_one() -> None:
    found = distinguisher(model(), epsilon="7/10")
    seen = audit(found, answers(0.9, 3000), answers(0.1, 3000, 1))
    assert found.answer.alpha_lower > fmpq(20137, 10000)
    assert seen.violated


@pytest.mark.parametrize("confidence", [0, 1, "3/2"])
def test_a_confidence_lies_between_zero_and_one(confidence: object) -> None:
    with pytest.raises(UsageError, match="confidence"):
        audit(distinguisher(model(), 2), ["yes"], ["no"], confidence=confidence)


def test_a_pair_has_to_be_named_where_there_are_several() -> None:
    several = model(RESPONSE.replace("[[s, t]]", "[[s, t], [t, s]]"))
    with pytest.raises(UsageError, match="2 pairs"):
        distinguisher(several, 2)
    assert distinguisher(several, 2, pair=("t", "s")).pair.source == "t"


def test_samples_are_needed() -> None:
    with pytest.raises(UsageError, match="no output for t"):
        audit(distinguisher(model(), 2), ["yes"], [])
    with pytest.raises(LimitError):
        audit(distinguisher(model(), 2), ["yes"], ["no"], deadline=Deadline.after(0))


# where outputs come from


@pytest.mark.parametrize(
    ("content", "what"),
    [(b"yes\n\nno\n", "line 2 is empty"), (b"\xff\n", "no UTF-8"), (b"x" * (1 << 21), "longer than")],
)
def test_lines_that_are_no_outputs_are_refused(tmp_path: Path, content: bytes, what: str) -> None:
    (tmp_path / "samples").write_bytes(content)
    with pytest.raises(UsageError, match=what):
        list(outputs_of_file(str(tmp_path / "samples")))


def test_a_function_is_called_with_a_literal_or_a_text(tmp_path: Path) -> None:
    file = tmp_path / "box.py"
    file.write_text(
        "import beside\n"
        "def shown(x, rng): print('noise'); return beside.twice(x) if rng.randrange(1) == 0 else None\n"
        "def failing(x): raise ValueError(x)\n"
        "def half(x): return x / 2\n"
        "def many(x, y, rng): return x\n"
    )
    (tmp_path / "beside.py").write_text("def twice(x): return 2 * x\n")
    assert list(outputs_of_function(f"{file}:shown", "[1]", 2)) == ["[1, 1]", "[1, 1]"]
    assert list(outputs_of_function(f"{file}:shown", "s t", 1)) == ["s ts t"]
    assert list(outputs_of_function(f"{file}:failing", "1", 1)) == ["raise ValueError(1)"]
    assert list(outputs_of_function(f"{file}:half", "1", 1)) == ["0.5"]
    for name, what in (("many", "'y'"), ("none", "no function"), ("beside", "no function")):
        with pytest.raises(UsageError, match=what):
            list(outputs_of_function(f"{file}:{name}", "1", 1))


def test_a_command_is_run_until_there_are_enough() -> None:
    assert list(outputs_of_command("printf '%s\\n' a {} c", "s 0", 4)) == ["a", "s 0", "c", "a"]
    assert list(outputs_of_command("echo -n x", "1", 2)) == ["x 1", "x 1"]
    assert len(list(outputs_of_command("yes", "1", 1000))) == 1000
    for command, what in (("true", "printed nothing"), ("false", "exit code 1"), ("./none", "cannot be run")):
        with pytest.raises(UsageError, match=what):
            list(outputs_of_command(command, "1", 1))
    with pytest.raises(LimitError):
        list(outputs_of_command("sleep 60{}", "1", 1, Deadline.after(0.2)))
