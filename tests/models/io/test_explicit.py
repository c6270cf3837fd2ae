"""Models of other tools: what is observed of them, how states are named, and silent steps left out."""

from __future__ import annotations

from itertools import combinations
from math import ulp
from pathlib import Path
from typing import Any

import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

from bisimdist import LMC, PA, ModelError, UsageError, delta, load_model, parse_model
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.io.explicit import Choice, Explicit, observed
from bisimdist.models.io.prism import read_prism
from bisimdist.models.io.reading import Reading
from bisimdist.models.io.silent import without_silent_steps
from tests.strategies import lmcs

ONE, HALF = fmpq(1), fmpq(1, 2)
MDP = {
    "tra": "3 4 5\n0 0 1 0.5 toss\n0 0 2 0.5 toss\n0 1 2 1 skip\n1 0 1 1\n2 0 2 1\n",
    "lab": '0="init" 1="deadlock" 2="heads" 3="on"\n0: 0\n1: 2 3\n2: 3\n',
    "sta": "(s,b)\n0:(0,true)\n1:(1,false)\n2:(2,false)\n",
}


@pytest.fixture
def mdp(tmp_path: Path) -> Path:
    for suffix, text in MDP.items():
        (tmp_path / f"model.{suffix}").write_text(text)
    return tmp_path / "model.tra"


def walk(**more: Any) -> Explicit:
    """Return a chain 0 -> 1, 2; 1 -> 1; 2 -> 0, 2 with two variables and two labels."""
    rows = (((1, HALF), (2, HALF)), ((1, ONE),), ((0, HALF), (2, HALF)))
    return Explicit(
        names=("0,a", "1,b", "2,b"),
        choices=tuple((Choice("", row),) for row in rows),
        propositions={"init": frozenset({0, 2}), "up": frozenset({0, 1}), "left": frozenset({1})},
        variables={"x": ("0", "1", "2"), "y": ("a", "b", "b")},
        initial=(0, 2),
        **more,
    )


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ({}, ("up", "left,up", "")),
        ({"prism_labels": True}, ("init,up", "left,up", "init")),
        ({"observe_labels": ["left"]}, ("", "left", "")),
        ({"observe_labels": ["init"]}, ("init", "", "init")),
        ({"observe_variables": ["y"]}, ("y=a", "y=b", "y=b")),
        ({"observe_variables": ["y", "x"]}, ("y=a,x=0", "y=b,x=1", "y=b,x=2")),
        ({"observe_variables": ["y"], "observe_labels": ["up"]}, ("up,y=a", "up,y=b", "y=b")),
    ],
)
def test_what_is_observed(options: dict[str, Any], labels: tuple[str, ...]) -> None:
    assert observed(walk(), Reading(**options)).labels == labels  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "state"),
    [("1,b", 1), ("(1,b)", 1), ("#2", 2), ("x=1", 1), ("y=b & x=2", 2), ("left", 1), ("y=b", 2)],
)
def test_how_a_state_is_named(text: str, state: int) -> None:
    assert walk().state(text) == state  # of the two with y=b the initial one


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("up", None),
        ("nowhere", "there is no such state; expected the name of one of 3, such as '0,a'"),
        ("#3", "numbered from #0 to #2"),
        ("#" + "9" * 30, "numbered from #0 to #2"),
        ("z=1", "there is no variable 'z'; expected one of x, y"),
        ("x=7", "0 states have this valuation; expected one"),
        ("init", "2 states carry this label: '0,a', '2,b'; expected one"),
    ],
)
def test_how_no_state_is_named(text: str, expected: str | None) -> None:
    if expected is None:
        assert walk().state(text) == 0
        return
    with pytest.raises(ModelError, match=expected):
        walk().state(text)


def test_pairs_of_initial_states() -> None:
    model = walk()
    assert observed(model, Reading()).pairs == ((0, 2),)
    assert observed(model, Reading(pairs=[("x=1", "#0")])).pairs == ((1, 0),)
    four = Explicit(
        names=tuple("abcd"), choices=((Choice("", ((0, ONE),)),),) * 4, initial=(0, 1, 3), propositions={}
    )
    assert observed(four, Reading()).pairs == ((0, 1), (0, 3))
    assert observed(four, Reading(initial_pairs="all")).pairs == tuple(combinations((0, 1, 3), 2))
    with pytest.raises(UsageError, match="initial pairs are 'none'; expected first or all"):
        Reading(initial_pairs="none")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"observe_variables": ["z"]}, "the model has no variable 'z'; expected some of x, y"),
        ({"observe_labels": ["z"]}, "the model has no label 'z'; expected some of init, up, left"),
        ({"choices": "interactive"}, "there is no choice in this model"),
    ],
)
def test_what_cannot_be_observed(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        observed(walk(), Reading(**options))


def test_an_mdp_is_an_automaton(mdp: Path) -> None:
    model = load_model(mdp)
    assert isinstance(model, PA)
    assert model.states == ("0,true", "1,false", "2,false")
    steps = [(step.source, step.action, dict(step.row)) for step in model.transitions]
    assert steps == [
        (0, "toss", {1: HALF, 2: HALF}),
        (0, "skip", {2: ONE}),
        (1, "heads,on", {1: ONE}),
        (2, "on", {2: ONE}),
    ]
    seen = load_model(mdp, observe_variables=["b"], pairs=[("b=true", "heads")])
    assert isinstance(seen, PA)
    assert seen.pairs == ((0, 1),)
    assert [step.action for step in seen.transitions] == [
        "b=true [toss]",
        "b=true [skip]",
        "b=false",
        "b=false",
    ]


def test_an_mdp_is_interactive_where_asked(mdp: Path) -> None:
    mdp.write_text(MDP["tra"].replace("1 0 1 1\n2 0 2 1", "1 0 1 1 stay\n2 0 2 1 stay"))
    model = load_model(mdp, choices="interactive")
    assert isinstance(model, Interactive)
    assert [[action for action, _ in moves] for moves in model.moves] == [
        ["toss", "skip"],
        ["stay"],
        ["stay"],
    ]
    assert model.labels == ("", "heads,on", "on")


def test_choices_without_names_of_their_own_are_numbered() -> None:
    rows = (((1, ONE),), ((0, ONE),), ((0, HALF), (1, HALF)))
    choices = (
        tuple(map(Choice, ("a", "b", "c"), rows)),
        tuple(map(Choice, ("a", "", "a"), rows)),
        (Choice("", rows[0]),),
    )
    notes: list[str] = []
    reading = Reading(choices="interactive", note=notes.append)
    seen = {name: frozenset({state}) for state, name in enumerate("stu")}
    explicit = Explicit(names=tuple("stu"), choices=choices, nondeterministic=True, propositions=seen)
    model = observed(explicit, reading)
    assert isinstance(model, Interactive)
    assert [[action for action, _ in moves] for moves in model.moves] == [
        ["a", "b", "c"],
        ["0 a", "1", "2 a"],
        ["0"],
    ]
    assert [row for _, row in model.moves[1]] == list(rows)
    assert notes == ["the choices of 2 states are numbered from 0, for their actions have no or equal names"]


@pytest.mark.parametrize(
    ("suffix", "old", "new", "expected"),
    [
        ("tra", "3 4 5", "3 3 5", "3 choices are announced and 4 follow"),
        ("tra", "2 0.5 toss", "2 0.5 throw", ":3: state 0: the choice has another action before"),
        ("tra", "0 1 2 1 skip", "0 1 2", ":4: found '0 1 2'; expected a transition such as 0 0 1 0.5 action"),
        ("tra", "0 1 2 1 skip", "0 x 2 1", ":4: found 'x'; expected the number of a choice"),
        ("tra", "1 0 1 1", "1 0 1 1.5", ":5: transition 1 -> 1: the probability is 3/2"),
        ("tra", "0.5 toss\n0 0 2 0.5", "0.5 toss\n0 0 2 0.6", ":2: .* the probabilities sum to 11/10"),
        ("sta", "1:(1,false)", "1:(1)", ".sta:3: state 1: the state has 1 values; expected 2"),
    ],
)
def test_what_makes_no_mdp(mdp: Path, suffix: str, old: str, new: str, expected: str) -> None:
    assert old in MDP[suffix]
    mdp.with_suffix(f".{suffix}").write_text(MDP[suffix].replace(old, new))
    with pytest.raises(ModelError, match=expected):
        load_model(mdp)


def test_doubles_are_enclosed_in_chains_only(mdp: Path) -> None:
    with pytest.raises(UsageError, match="decision process whose probabilities are intervals"):
        load_model(mdp, enclose=True)


def test_silent_steps_are_not_for_analysts(mdp: Path) -> None:
    assert isinstance(load_model(mdp, hide_silent=True), PA)
    with pytest.raises(UsageError, match="silent steps are not left out of interactive models"):
        load_model(mdp, hide_silent=True, choices="interactive")


def test_choices_are_numbered_for_schedulers(tmp_path: Path) -> None:
    (tmp_path / "m.lab").write_text('0="init" 1="a"\n0: 0\n1: 1\n')
    path = tmp_path / "m.tra"
    path.write_text("2 5 5\n0 0 1 1\n0 1 0 1\n1 0 0 1 go\n1 1 1 1 go\n1 2 1 1 stop\n")
    model = load_model(path)
    assert isinstance(model, PA)
    assert [step.action for step in model.transitions] == ["", "", "a [go]", "a [go]", "a [stop]"]
    assert [step.tag for step in model.transitions] == ["0", "1", "a [0 go]", "a [1 go]", "a [2 stop]"]


def test_choices_are_drawn_and_seen(mdp: Path) -> None:
    drawn = load_model(mdp, resolve="uniform", observe_actions=True)
    assert isinstance(drawn, LMC)
    half = fmpq(1, 2)
    assert drawn.states == ("0,true", "1,false", "2,false", *(f"{s}" for s in drawn.states[3:]))
    chosen = [[(drawn.labels[t], p) for t, p in row] for row in drawn.rows[:3]]
    assert chosen == [[("[toss]", half), ("[skip]", half)], [("[0]", 1)], [("[0]", 1)]]
    automaton = load_model(mdp)
    assert isinstance(automaton, PA)
    assert list(drawn.rows[3:]) == [step.row for step in automaton.transitions]
    with pytest.raises(UsageError, match="nobody makes them"):
        load_model(mdp, resolve="uniform", choices="interactive")


def test_doubles_are_refused_unless_rationalised(tmp_path: Path) -> None:
    (tmp_path / "m.lab").write_text('0="init" 1="deadlock"\n0: 0\n')
    path = tmp_path / "m.tra"
    third = "0.3333333333333333"
    path.write_text(f"3 5\n0 0 {third}\n0 1 {third}\n0 2 {third}\n1 1 1\n2 2 1\n")
    with pytest.raises(ModelError, match=r"m.tra:2: state '0': the probabilities sum to 9999999999999999/1"):
        load_model(path)
    said: list[str] = []
    model = load_model(path, rationalise=True, note=said.append)
    assert isinstance(model, LMC)
    assert model.rows[0] == tuple((target, fmpq(1, 3)) for target in range(3))
    assert said == [
        "1 different doubles became the simplest rational within one unit in the last place, such as "
        "0.3333333333333333 -> 1/3; none moved by more than 3.3e-17"
    ]
    path.write_text("2 3\n0 0 0.333\n0 1 0.666\n1 1 1\n")
    with pytest.raises(ModelError, match="the probabilities sum to 999/1000"):
        load_model(path, rationalise=True)


def test_doubles_are_enclosed(tmp_path: Path) -> None:
    (tmp_path / "m.lab").write_text('0="init" 1="deadlock"\n0: 0\n')
    path = tmp_path / "m.tra"
    path.write_text("3 4\n0 0 0.1234567890123456\n0 1 0.8765432109876544\n1 1 1\n2 2 1\n")
    with pytest.raises(ModelError, match="the probabilities sum to"):
        load_model(path, rationalise=True)  # no simple rationals are meant
    said: list[str] = []
    model = load_model(path, enclose=True, note=said.append)
    assert isinstance(model, IntervalChain)
    first, second = model.rows[0]
    for (_, low, high), double in ((first, 0.1234567890123456), (second, 0.8765432109876544)):
        exact, unit = (fmpq(*float(x).as_integer_ratio()) for x in (double, ulp(double)))
        assert exact - unit <= low < high <= exact + unit
    assert first[1] + second[2] == first[2] + second[1] == 1  # as narrow as a sum of one makes them
    assert model.rows[1] == ((1, 1, 1),)
    assert said == ["3 different doubles became intervals of one unit in the last place on either side"]
    path.write_text("2 3\n0 0 0.333\n0 1 0.666\n1 1 1\n")
    with pytest.raises(ModelError, match="expected intervals from which a sum of 1 can be chosen"):
        load_model(path, enclose=True)


@given(st.lists(st.floats(0.001, 1), min_size=2, max_size=5), st.data())
def test_reals_that_round_to_doubles_are_enclosed(weights: list[float], data: st.DataObject) -> None:
    meant = [fmpq(*w.as_integer_ratio()) for w in weights]
    meant = [w / sum(meant, fmpq(0)) for w in meant]
    size = len(meant)
    rows = [f"0 {k + 1} {int(p.p) / int(p.q)!r}" for k, p in enumerate(meant)]
    loops = [f"{k + 1} {k + 1} 1" for k in range(size)]
    text = "\n".join([f"{size + 1} {2 * size}", *rows, *loops])
    chain = read_prism(text, '0="init"\n0: 0\n', reading=Reading(enclose=True))
    assert isinstance(chain, IntervalChain)
    chain.member(
        [tuple((k + 1, p) for k, p in enumerate(meant)), *(((k + 1, fmpq(1)),) for k in range(size))]
    )


def _changes(chain: LMC, state: int) -> dict[int, fmpq]:
    """Return by state the probability that a run shows another label there first; by dense linear algebra."""
    region = [s for s in range(len(chain)) if chain.labels[s] == chain.labels[state]]
    leaving = {s for s in region if any(t not in region for t, _ in chain.rows[s])}
    while True:
        more = {s for s in region if any(t in leaving for t, _ in chain.rows[s])} | leaving
        if more == leaving:
            break
        leaving = more
    if state not in leaving:
        return {}
    inner = sorted(leaving)
    place = {s: k for k, s in enumerate(inner)}
    outer = [t for t in range(len(chain)) if t not in region]
    system = fmpq_mat(len(inner), len(inner))
    right = fmpq_mat(len(inner), len(outer))
    for s, k in place.items():
        system[k, k] += 1
        for t, p in chain.rows[s]:
            if t in place:
                system[k, place[t]] -= p
            elif t not in region:
                right[k, outer.index(t)] += p
    solved = system.solve(right)
    row = place[state]
    return {t: solved[row, k] for k, t in enumerate(outer) if solved[row, k] != 0}


@given(lmcs(), st.data())
def test_silent_steps_are_left_out_exactly(chain: LMC, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(chain) - 1))
    found = without_silent_steps(chain, [start, *(s for pair in chain.pairs for s in pair)])
    for name, label, row in zip(found.states, found.labels, found.rows, strict=True):
        if name not in chain.states:
            assert name.rstrip("'") == f"({label} for ever)"
            continue
        state = chain.index(name)
        changes = {chain.index(found.states[t]): p for t, p in row if found.labels[t] != label}
        assert changes == _changes(chain, state)
        assert chain.labels[state] == label
        rest = [t for t, _ in row if found.labels[t] == label]
        assert (sum(changes.values(), fmpq(0)) == 1) == (not rest)
        assert all(found.rows[t] == ((t, ONE),) for t in rest)


def test_waiting_is_not_seen() -> None:
    rows: dict[str, dict[str, Any]] = {
        "s": {"s": "1/2", "e": "1/2"},
        "t": {"w": 1},
        "w": {"e": 1},
        "e": {"e": 1},
    }
    chain = LMC.from_mappings({"s": "a", "t": "a", "w": "a", "e": "b"}, rows, [("s", "t")])
    assert delta(chain, 1).lower > 0
    assert delta(without_silent_steps(chain), 1).upper == 0


def test_staying_for_ever_is_seen() -> None:
    rows: dict[str, dict[str, Any]] = {
        "s": {"d": "1/2", "e": "1/2"},
        "t": {"e": 1},
        "d": {"d": 1},
        "e": {"e": 1},
    }
    chain = LMC.from_mappings({"s": "a", "t": "a", "d": "a", "e": "b"}, rows, [("s", "t"), ("s", "d")])
    bare = without_silent_steps(chain)
    assert [str(pair.upper) for pair in delta(bare, 1).pairs] == ["1/2", "1/2"]
    assert "(a for ever)" in bare.states


def test_other_formats_know_nothing_of_this() -> None:
    text = "{kind: lmc, states: {s: a, t: a}, transitions: {s: {s: 1}, t: {t: 1}}}"
    for options in (
        {"observe_variables": ["x"]},
        {"choices": "interactive"},
        {"rationalise": True},
        {"enclose": True},
    ):
        with pytest.raises(UsageError, match=r"this is for models in the formats .*prism.*, not yaml"):
            parse_model(text, **options)
    with pytest.raises(UsageError, match="constants: the model has no parameters"):
        parse_model(text, constants={"N": 1})
    assert parse_model(text, pairs=[("s", "#1")]).pairs == ((0, 1),)
    with pytest.raises(ModelError, match="there is no such state"):
        parse_model(text, pairs=[("s", "#2")])
    waiting = "{kind: lmc, states: {s: a, t: a, u: b}, transitions: {s: {t: 1}, t: {u: 1}, u: {u: 1}}}"
    assert parse_model(waiting, pairs=[("s", "t")], hide_silent=True).states == ("s", "t", "u")
    automaton = "{kind: pa, states: [s], transitions: [{from: s, action: a, to: {s: 1}}]}"
    assert parse_model(automaton, hide_silent=True) == parse_model(automaton)
    hidden = (
        "{kind: hmm, observations: [x], states: {s: {x: 1}}, transitions: {}, distributions: {p: {s: 1}}}"
    )
    with pytest.raises(UsageError, match="silent steps are left out of Markov chains and automata"):
        parse_model(hidden, hide_silent=True)
    with pytest.raises(TypeError, match="unexpected keyword"):
        parse_model(text, colour="red")
