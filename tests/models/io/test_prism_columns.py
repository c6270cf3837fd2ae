"""The columns of PRISM's explicit files: actions, rates, intervals, observations; rewards beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.io import load_model, parse_model, read_prism
from bisimdist.models.io.prism import looks_like_prism
from bisimdist.models.io.reading import Reading
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.privacy.delta.ask import delta
from tests.strategies import lmcs

LABELS = '0="init" 1="end"\n0: 0\n1: 1\n'


@given(lmcs())
def test_rates_become_jumps(chain: LMC) -> None:
    """Every row with a rate of its own: the jumps are the chain, and the rates what they were."""
    lines = [f"{s} {t} {p * (s + 2)}" for s, row in enumerate(chain.rows) for t, p in row]
    text = "\n".join([f"{len(chain)} {len(lines)}", *lines])
    model = read_prism(text, '0="init"\n0: 0\n', reading=Reading(observe_time=True))
    assert isinstance(model, LMC)
    assert model.rows == chain.rows
    assert list(model.labels) == [f"exit rate={s + 2}" for s in range(len(chain))]


def test_a_rate_above_1_makes_a_ctmc() -> None:
    said: list[str] = []
    model = read_prism("2 3\n0 0 1\n0 1 3\n1 1 1/2\n", LABELS, reading=Reading(note=said.append))
    assert isinstance(model, LMC)
    assert model.rows == (((0, fmpq(1, 4)), (1, fmpq(3, 4))), ((1, fmpq(1)),))
    assert said == ["the numbers are rates: a CTMC is taken as the chain of its jumps"]


@given(lmcs(), st.integers(1, 4))
def test_a_uniform_chain_jumps_as_before(chain: LMC, factor: int) -> None:
    """Without self-loops the chain of the ticks is that of the jumps, and each state waits as long."""
    rates = [fmpq(1 + (factor * s) % 5) for s in range(len(chain))]
    lines = [f"{s} {t} {p * rates[s]}" for s, row in enumerate(chain.rows) for t, p in row]
    text = "\n".join([f"{len(chain)} {len(lines)}", *lines])
    model = read_prism(text, '0="init"\n0: 0\n', reading=Reading(observe_ticks=True))
    assert isinstance(model, LMC)
    timed = any(p * rate > 1 for rate, row in zip(rates, chain.rows, strict=True) for _, p in row)
    if timed or any(rate != 1 for rate in rates):
        most = max(rates)
        assert {label.split("=")[-1] for label in model.labels} == {str(most)}
        for s, row in enumerate(model.rows):
            moves = {t: p for t, p in chain.rows[s] if t != s}
            assert {t: p * most for t, p in row if t != s} == {t: p * rates[s] for t, p in moves.items()}


@pytest.mark.parametrize(("slow", "fast"), [(1, 2), (2, 3), (1, 10)])
def test_ticks_show_at_least_what_times_show(slow: int, fast: int) -> None:
    """The total variation of two exponential laws is below delta of the ticks."""
    r = fast / slow
    times = r ** (-1 / (r - 1)) - r ** (-r / (r - 1))
    found = []
    for clock in (fast, 4 * fast):
        text = f"4 4\n0 2 {slow}\n1 2 {fast}\n2 2 {fast}\n3 3 {clock}\n"
        reading = Reading(observe_ticks=True, pairs=[("#0", "#1")])
        model = read_prism(text, '0="init" 1="end" 2="x"\n0: 0\n2: 1\n3: 2\n', reading=reading)
        upper = fmpq(delta(model, 1, gap="1/1000").pairs[0].upper)
        found.append(int(upper.p) / int(upper.q))
    assert times <= found[1] + 1e-9
    assert found[1] <= found[0] + 1e-3


def test_actions_of_chains() -> None:
    text = "2 3\n0 0 0.5 toss\n0 1 0.5 toss\n1 1 1\n"
    plain, shown = (read_prism(text, LABELS, reading=Reading(observe_actions=see)) for see in (False, True))
    assert isinstance(plain, LMC) and isinstance(shown, LMC)
    assert (plain.labels, shown.labels) == (("", "end"), ("toss", "end"))


def test_intervals() -> None:
    text = "2 3\n0 0 [0.1,0.5]\n0 1 [ .5, 0.9 ]\n1 1 1\n"
    model = read_prism(text, LABELS)
    assert isinstance(model, IntervalChain)
    assert model.rows[0] == ((0, fmpq(1, 10), fmpq(1, 2)), (1, fmpq(1, 2), fmpq(9, 10)))
    assert model.rows[1] == ((1, fmpq(1), fmpq(1)),)
    with pytest.raises(UsageError, match="intervals already"):
        read_prism(text, LABELS, reading=Reading(enclose=True))


def test_pomdps() -> None:
    text = "3 4 6 2\n0 0 1 0.5 1\n0 0 2 0.5 1 go\n0 1 0 1 0\n1 0 0 1 0\n2 0 2 1/2 1\n2 0 0 1/2 0\n"
    text = text.replace("0 0 1 0.5 1\n", "0 0 1 0.5 1 go\n")
    model = read_prism(text, LABELS)
    assert isinstance(model, PA)
    assert {step.action for step in model.transitions} == {
        "observation=0 [go]",
        "observation=0",
        "observation=1",
    }
    other = read_prism(text, LABELS, reading=Reading(observe_labels=("end",)))
    assert isinstance(other, PA)
    assert {step.action for step in other.transitions} == {"go", "", "end"}


def test_the_observation_of_an_initial_state_that_nobody_enters() -> None:
    """The example of a POMDP in PRISM's manual, cut short."""
    text = "3 4 5 2\n- - 0 - 1\n0 0 1 0.5 0 toss\n0 0 2 0.5 0 toss\n0 1 1 1 0\n1 0 1 1 0\n2 0 2 1 0\n"
    model = read_prism(text, LABELS)
    assert isinstance(model, PA)
    assert [step.action for step in model.transitions] == [
        "observation=1 [toss]",
        "observation=1",
        "observation=0",
        "observation=0",
    ]
    assert looks_like_prism(text.encode())
    for old, new, said in (
        ("- - 0 - 1\n", "", "state 0: no transition leads there"),
        ("- - 0 - 1", "- - 0 - x", "expected the number of an observation"),
        ("- - 0 - 1", "- - 9 - 1", "line 2: found '9'"),
        ("- - 0 - 1", "- 0 1", "expected the observation of a state such as - - 0 - 1"),
        ("- - 0 - 1", "- - 1 - 1", "state 1: the state has another observation before"),
    ):
        with pytest.raises(ModelError, match=said):
            read_prism(text.replace(old, new), LABELS)


def test_rows_in_one_line() -> None:
    """The examples of PRISM's manual: a chain and a decision process by rows, and one by one."""
    for one, other in (
        (
            "3 5\n0 1 0.5\n0 2 0.5\n1 0 0.25\n1 2 0.75\n2 2 1\n",
            "3 5\n0 0.5:1 0.5:2\n1 0.25:0 .75:2\n2 1:2\n",
        ),
        (
            "3 4 6\n0 0 1 1 a\n1 0 0 0.5 c\n1 0 2 0.5 c\n1 1 0 0.7 b\n1 1 1 0.3 b\n2 0 2 1\n",
            "3 4 6\n0 1:1 a\n1 0.5:0 0.5:2 c\n1 0.7:0 0.3:1 b\n2 1:2\n",
        ),
        ("2 3\n0 0 [0.1,0.5]\n0 1 [0.5,0.9]\n1 1 1\n", "2 3\n0 [0.1,0.5]:0 [ 0.5, 0.9]:1\n1 1:1\n"),
    ):
        assert read_prism(other, LABELS) == read_prism(one, LABELS)
        assert looks_like_prism(other.encode())
    with pytest.raises(ModelError, match=r":2: found '0 0.5:1 a 0.5:2'; expected a row such as"):
        read_prism("3 4\n0 0.5:1 a 0.5:2\n1 1:1\n2 1:2\n", LABELS, source="m.tra")


INTERVAL_MDP = "3 3 5\n0 0 1 [0.1,0.5] a\n0 0 2 [0.5,0.9] a\n1 0 1 1/2 a\n1 0 2 1/2 a\n2 0 2 1\n"
ENDS = '0="end"\n2: 0\n'


def test_decision_processes_in_intervals_need_somebody_who_chooses() -> None:
    text = "2 3 4\n0 0 0 [0.1,0.5]\n0 0 1 [0.5,0.9]\n0 1 1 1\n1 0 1 1\n"
    with pytest.raises(UsageError, match="expected --choices interactive, where an analyst chooses"):
        read_prism(text, LABELS)
    with pytest.raises(UsageError, match="rows of intervals have no mean; expected --observe-actions"):
        read_prism(text, LABELS, reading=Reading(resolve="uniform"))
    with pytest.raises(UsageError, match="expected no --hide-silent"):
        read_prism(text, LABELS, reading=Reading(hide_silent=True))
    single = read_prism(text.replace("2 3 4", "2 2 3").replace("0 1 1 1\n", ""), LABELS)
    assert isinstance(single, IntervalChain)


def test_decision_processes_in_intervals_are_asked_by_an_analyst() -> None:
    asked = read_prism(INTERVAL_MDP, ENDS, reading=Reading(choices="interactive", pairs=[("#0", "#1")]))
    document = """
        {kind: interactive, states: {'0': '', '1': '', '2': end}, pairs: [['0', '1']], transitions: {
        '0': {a: {'1': [0.1, 0.5], '2': [0.5, 0.9]}}, '1': {a: {'1': 1/2, '2': 1/2}}, '2': {'0': {'2': 1}}}}
    """
    assert asked == parse_model(document)
    assert isinstance(asked, Interactive)
    least = delta(asked, 1).pairs[0].lower
    for p in (fmpq(1, 10), fmpq(3, 10), fmpq(1, 2)):  # whichever chain it is
        rows = {"0": {"1": p, "2": 1 - p}, "1": {"1": "1/2", "2": "1/2"}, "2": {"2": 1}}
        chain = LMC.from_mappings({"0": "", "1": "", "2": "end"}, rows, [("0", "1")])
        assert delta(chain, 1).pairs[0].upper <= least


def test_choices_of_decision_processes_in_intervals_are_drawn_and_seen() -> None:
    text = INTERVAL_MDP.replace("3 3 5", "3 4 6") + "0 1 2 1 b\n"
    drawn = read_prism(text, ENDS, reading=Reading(resolve="uniform", observe_actions=True))
    assert isinstance(drawn, IntervalChain)
    assert drawn.labels == ("", "", "end", "[a]", "[b]", "[a]", "[0]")
    assert drawn.rows[0] == ((3, fmpq(1, 2), fmpq(1, 2)), (4, fmpq(1, 2), fmpq(1, 2)))
    assert drawn.rows[3] == ((1, fmpq(1, 10), fmpq(1, 2)), (2, fmpq(1, 2), fmpq(9, 10)))


def test_rewards_of_transitions(tmp_path: Path) -> None:
    (tmp_path / "a.tra").write_text("2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n")
    (tmp_path / "a.lab").write_text(LABELS)
    (tmp_path / "a.srew").write_text('# Reward structure: "r"\n2 1\n1 2.5\n')
    rewards = '# Reward structure: "r"\n# Transition rewards\n2 3\n0 0 2\n0 1 2\n1 1 1/2\n'
    (tmp_path / "a.trew").write_text(rewards)
    model = load_model(tmp_path / "a.tra", kind=LMC, observe_rewards=("r",))
    assert model.labels == ("reward r=2", "end,reward r=3")
    for old, new, said in (
        ("0 1 2\n", "0 1 3\n", "a.trew: state 0: the rewards of its transitions differ"),
        ("2 3\n0 0 2\n", "2 2\n", "a.trew: state 0: the rewards of its transitions differ"),
        ("2 3\n", "2 4\n", "4 rewards are announced and 3 follow"),
        ("2 3\n", "3 3\n", "expected the numbers of states \\(2\\) and of rewards"),
        ("1 1 1/2", "1 0 1/2", "a.trew:6: state 1: .* expected a transition of the .tra file, once"),
        ("1 1 1/2", "0 1 2", "a.trew:6: state 0: .* expected a transition of the .tra file, once"),
        ("1 1 1/2", "1 1", "a.trew:6: found '1 1'"),
    ):
        (tmp_path / "a.trew").write_text(rewards.replace(old, new))
        with pytest.raises(ModelError, match=said):
            load_model(tmp_path / "a.tra", observe_rewards=("r",))
    (tmp_path / "b.tra").write_text("2 3 4\n0 0 0 0.5\n0 0 1 0.5\n0 1 1 1\n1 0 1 1\n")
    (tmp_path / "b.trew").write_text("2 3 3\n0 0 0 2\n0 0 1 2\n0 1 1 2\n")
    process = load_model(tmp_path / "b.tra", kind=PA, observe_rewards=("reward",))
    assert [step.action for step in process.transitions] == [
        "reward reward=2",
        "reward reward=2",
        "reward reward=0",
    ]


def test_rewards_beside(tmp_path: Path) -> None:
    (tmp_path / "a.tra").write_text("2 3\n0 0 0.5\n0 1 0.5\n1 1 1\n")
    (tmp_path / "a.lab").write_text(LABELS)
    (tmp_path / "a.srew").write_text('# Reward structure "steps"\n# State rewards\n2 1\n1 2.5\n')
    model = load_model(tmp_path / "a.tra", kind=LMC, observe_rewards=("steps",))
    assert model.labels == ("reward steps=0", "end,reward steps=5/2")
    with pytest.raises(UsageError, match="no rewards 'cost'"):
        load_model(tmp_path / "a.tra", observe_rewards=("cost",))
    for wrong, said in (
        ("3 1\n1 2\n", "a.srew:1: the first line is"),
        ("2 2\n1 2\n", "2 rewards are announced and 1 follow"),
        ("2 1\n1 -2\n", "a.srew:2: state 1: "),
        ("2 2\n1 2\n1 3\n", "given twice"),
        ("2 1\n1 2 3\n", "a.srew:2: found"),
    ):
        (tmp_path / "a.srew").write_text(wrong)
        with pytest.raises(ModelError) as caught:
            load_model(tmp_path / "a.tra", observe_rewards=("steps", "reward"))
        assert said in str(caught.value)
