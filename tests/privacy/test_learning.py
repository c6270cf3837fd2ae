"""Chains learned from runs: what was counted, and how often the true chain is inside."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from flint import fmpq

from bisimdist.errors import ModelError, UsageError
from bisimdist.exact.binomial import binomial_interval
from bisimdist.modelling.learn.ask import END, Run, learn, runs_of_csv
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.io import load_model
from bisimdist.privacy.delta.ask import delta
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

LABELS = {"s": "a", "t": "a", "y": "y", "n": "n"}
TRUE = {
    "s": {"s": fmpq(1, 2), "y": fmpq(3, 8), "n": fmpq(1, 8)},
    "t": {"y": fmpq(1, 4), "n": fmpq(3, 4)},
    "y": {END: fmpq(1)},
    "n": {END: fmpq(1)},
}


def drawn(generator: random.Random, count: int) -> list[Run]:
    """Draw runs of the true chain, from both states in turn."""
    runs: list[Run] = []
    for number in range(count):
        state, run = "st"[number % 2], []
        while state != END:
            run.append((state, LABELS[state]))
            (state,) = generator.choices(list(TRUE[state]), [float(p) for p in TRUE[state].values()])
        runs.append(run)
    return runs


def holds(model: IntervalChain) -> bool:
    """Tell whether the true chain is inside."""
    for name, row in TRUE.items():
        found = {model.states[t]: (low, high) for t, low, high in model.rows[model.index(name)]}
        if not all(name in found and found[name][0] <= p <= found[name][1] for name, p in row.items()):
            return False
    return True


def test_counts_become_intervals() -> None:
    runs = [[("s", "a"), ("y", "y")]] * 3 + [[("s", "a"), ("n", "n")]]
    model = learn(runs, "0.9", seen_only=True)
    assert model.states == ("s", "y", "n", END)
    assert model.labels == ("a", "y", "n", END)
    assert model.confidence == fmpq(9, 10)
    low, high = binomial_interval(3, 4, fmpq(1, 10) / 20)  # the only unknown row: 4 steps of risk 1/10
    assert model.rows[0] == ((1, low, high), (2, 1 - high, 1 - low))
    assert model.rows[1] == ((3, fmpq(1), fmpq(1)),)


def test_what_was_not_seen_may_be_possible() -> None:
    model = learn([[("s", "a"), ("y", "y")]] * 50, "0.9")
    targets = {model.states[t] for t, low, _ in model.rows[0]}
    assert targets == {"s", "y", END}
    assert all(low == 0 for t, low, _ in model.rows[0] if model.states[t] != "y")


def test_more_runs_make_narrower_intervals() -> None:
    generator = random.Random(5)
    few, many = (learn(drawn(generator, count), seen_only=True) for count in (100, 10_000))
    width = [max(high - low for row in model.rows for _, low, high in row) for model in (few, many)]
    assert width[1] < width[0] / 5
    assert holds(many)


@pytest.mark.slow
def test_the_true_chain_is_inside_as_often_as_is_said() -> None:
    generator = random.Random(11)
    gained = delta(learnt_truth(), 2, pairs=[("s", "t")]).upper
    inside = below = 0
    for _ in range(1000):
        model = learn(drawn(generator, 60), "0.95", seen_only=True)
        fits = holds(model)
        inside += fits
        below += delta(model, 2, pairs=[("s", "t")], gap="1/100").upper >= gained if fits else False
    assert inside >= 950
    assert below == inside


def learnt_truth() -> IntervalChain:
    """Return the true chain, as a model without any choice."""
    rows = {name: {t: str(p) for t, p in row.items()} for name, row in TRUE.items()}
    return IntervalChain.from_mappings({**LABELS, END: END}, {**rows, END: {END: "1"}})


def test_bad_runs_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no run"):
        learn([])
    with pytest.raises(UsageError, match="is seen with the labels 'a' and 'b'; a state has one label"):
        learn([[("s", "a"), ("s", "b")]])
    with pytest.raises(UsageError, match=r"expected a number between 0 and 1"):
        learn([[("s", "a")]], "1")
    with pytest.raises(ModelError, match="there is no column 'x'; expected one of a, b"):
        runs_of_csv("a,b\n1,2\n", "x")
    with pytest.raises(ModelError, match="the line is too short"):
        runs_of_csv("a,b\n1\n", "a", "b")


def test_the_command_writes_a_model_that_says_how_sure_it_is(command: Command, tmp_path: Path) -> None:  # noqa: F811
    table, model = tmp_path / "runs.csv", tmp_path / "model.yaml"
    table.write_text(
        "run,state,seen\n0,s,a\n0,y,y\n1,t,a\n1,n,n\n2,s,a\n2,n,n\n3,t,a\n3,y,y\n", encoding="utf-8"
    )
    columns = ("--observed-state", "state", "--label", "seen", "--run", "run", "--seen-only")
    assert command("learn", table, *columns, "-o", model).code == 0
    found = load_model(model)
    assert isinstance(found, IntervalChain)
    assert found.confidence == fmpq(99, 100)
    answer = command("delta", model, "--alpha", "2", "--pair", "s", "t")
    assert "with confidence 99/100 the true chain is within them" in answer.out
    assert (
        '"confidence": "99/100"' in command("bound", model, "--alpha", "2", "--pair", "s", "t", "--json").out
    )
    hidden = command("learn", table)
    assert hidden.code == 2
    assert "'bisimdist audit' compares samples with a model" in hidden.err
