"""What an observer sees of the end of a run: the loss that missing mass hides from nobody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.automata.metric.ask import metric
from bisimdist.checker import check_certificate
from bisimdist.errors import UsageError
from bisimdist.faces.cli.main import run
from bisimdist.logic.traces.ask import satisfies_trace_formulae, trace_formulae
from bisimdist.models.ends import Completed, Ends, completed
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition
from bisimdist.traces.engine.graph import Effort
from bisimdist.traces.equivalence.ask import trace_equivalence
from bisimdist.traces.secrets.ask import secret_privacy
from bisimdist.traces.trace.answer import TraceBound
from bisimdist.traces.trace.ask import trace_metric, weak_anonymity
from tests.words.fully_probabilistic import all_traces, probability, random_automata
from tests.words.trace_reference import enumerated, fully_probabilistic

HALF, ONE = fmpq(1, 2), fmpq(1)
LIMITS = Effort(nodes=300, work=30_000)


def half_of_pin_checking(*, dead: bool = False) -> PA:
    """Return the protocol of FORTE 2014, Figure 1, where the password u1 is entered first; ``ok`` ends it."""
    low, high = fmpq(2, 5), fmpq(3, 5)
    steps = []
    for base, less, more in ((0, low, high), (5, high, low)):
        steps += [
            Transition(base, "a1", ((base + 1, less), (base + 4, more))),
            Transition(base + 1, "no", ((base + 2, ONE),)),
            Transition(base + 2, "a2", ((base + 3, more), (base + 4, less))),
            Transition(base + 3, "no", ((base, ONE),)),
            Transition(base + 4, "ok", ((10, ONE),) if dead else ()),
        ]
    names = tuple(f"{letter}{n}" for letter in "st" for n in range(1, 6))
    return PA((*names, "done") if dead else names, tuple(steps), ((0, 5),))


def bound(model: PA, kind: str, ends: Ends | str, *, length: int | None = None) -> TraceBound:
    return trace_metric(model, kind, length=length, ends=ends, limits=LIMITS).pairs[0]


@pytest.mark.parametrize("dead", [False, True])
@pytest.mark.parametrize("ends", Ends)
def test_example_1_loses_nine_quarters(dead: bool, ends: Ends) -> None:
    """FORTE 2014, Example 1: whether or not the run is said to go on to a dead state after ``ok``."""
    model = half_of_pin_checking(dead=dead)
    found = bound(model, "multiplicative", ends)
    assert found.exact
    assert found.upper == fmpq(9, 4) == metric(model, "amortised").pairs[0].upper
    assert found.witness == ("a1", "no", "a2", "ok")
    assert found.probabilities == (fmpq(4, 25), fmpq(9, 25))
    secrets = {"u1": "s1", "u2": "t1"}
    assert secret_privacy(model, secrets, threshold="0.5", ends=ends).verdict == "violated"
    assert secret_privacy(model, secrets, threshold="0.82", ends=ends).verdict == "holds"


def test_the_commands_say_what_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, proof = tmp_path / "a1.json", tmp_path / "proof.json"
    model = half_of_pin_checking()
    file.write_text(json.dumps({**model.canonical(), "pairs": [["s1", "t1"]]}))
    for command, *options in (
        ("trace",),
        ("secrets", "--threshold", "0.5"),
        ("equivalence",),
        ("logic traces", "--state", "s1", "--depth", "3"),
        ("logic traces", "--state", "s1", "--formula", '4/25 <a1><no><a2><ok><"(end)">T'),
    ):
        for ends in ("visible", "hidden"):
            arguments = [*command.split(), str(file), *options, "--ends", ends]
            run([*arguments, "--certificate", str(proof)])
            assert "Mass is missing" in capsys.readouterr().out
            document = json.loads(proof.read_text())
            assert document["ends"] == ("hidden" if command == "equivalence" else ends)
            assert run(["check", str(proof), str(file)]) == 0
            assert document["ends"] in capsys.readouterr().out
            run([*arguments, "--json"])
            data = json.loads(capsys.readouterr().out)
            assert (data["ends"], data["missing_mass"]) == (ends, True)
    assert run(["logic", "explain", str(file)]) == 0
    assert "Mass is missing" in capsys.readouterr().out
    run(["logic", "explain", str(file), "--json"])
    assert json.loads(capsys.readouterr().out)["missing_mass"] is True
    with pytest.raises(UsageError, match="visible or hidden"):
        trace_metric(model, ends="seen")


def test_the_built_in_protocol_ends_where_it_is_accepted_only() -> None:
    model = pin_checking()
    assert completed(model, Ends.HIDDEN) is model
    assert {model.states[s] for s in range(len(model))} - {
        model.states[step.source] for step in model.transitions
    } == {"done"}


# -------------------------------------------------------------------------------------- by the definition


@settings(max_examples=75)
@given(fully_probabilistic(), st.integers(0, 5), st.sampled_from(Ends))
def test_bounded_lengths_are_exact(drawn: PA, length: int, ends: Ends) -> None:
    ratio, difference = enumerated(drawn, 0, 1, length, ends=ends is Ends.VISIBLE)
    found = bound(drawn, "multiplicative", ends, length=length)
    assert found.exact
    assert found.upper == ratio
    found = bound(drawn, "additive", ends, length=length)
    assert found.exact
    assert found.upper == difference


@settings(max_examples=50)
@given(fully_probabilistic(), st.sampled_from(["multiplicative", "additive"]))
def test_visible_ends_are_one_more_action(drawn: PA, kind: str) -> None:
    """Written down as an automaton by hand, without missing mass; then nothing is left to be seen."""
    halt, over = len(drawn), len(drawn) + 1
    acting = {step.source for step in drawn.transitions}
    steps = [
        Transition(step.source, step.action, (*step.row, *([(halt, lost)] if lost else [])))
        for step in drawn.transitions
        for lost in [ONE - sum((p for _, p in step.row), fmpq(0))]
    ]
    steps += [Transition(s, "over", ((over, ONE),)) for s in range(over) if s not in acting]
    by_hand = PA((*drawn.states, "halt", "over"), tuple(steps), drawn.pairs)
    whole, whole_by_hand = bound(drawn, kind, "visible"), bound(by_hand, kind, "hidden")
    assert (whole.lower, whole.upper) == (whole_by_hand.lower, whole_by_hand.upper)
    assert whole.probabilities == whole_by_hand.probabilities
    hidden = bound(drawn, kind, "hidden")
    assert whole.upper is None or (hidden.lower is not None and hidden.lower <= whole.upper)


@settings(max_examples=50, deadline=None)
@given(random_automata(5))
def test_seeing_ends_makes_no_difference_to_equivalence(drawn: PA) -> None:
    differ = [
        probability(drawn, 0, word) != probability(drawn, 1, word)
        for word in all_traces(drawn, 2 * len(drawn) - 4, ends=True)
    ]
    verdicts = {trace_equivalence(drawn, [("s0", "s1")], ends=ends).pairs[0].equivalent for ends in Ends}
    assert len(verdicts) == 1
    assert not any(differ) or verdicts == {False}


@settings(max_examples=50, deadline=None)
@given(random_automata(4), st.sampled_from(Ends))
def test_certificates_of_either_kind_are_accepted(drawn: PA, ends: Ends) -> None:
    answers = [
        trace_metric(drawn, kind, pairs=[("s0", "s1")], ends=ends, limits=LIMITS)
        for kind in ("multiplicative", "additive")
    ]
    for answer in (
        *answers,
        trace_formulae(drawn, "s0", 3, ends=ends),
        satisfies_trace_formulae(drawn, "s0", ["1/2 <a>T", '<a><"(end)">T'], ends=ends),
        trace_equivalence(drawn, [("s0", "s1")], ends=ends),
    ):
        report = check_certificate(json.dumps(answer.certificate()), json.dumps(drawn.canonical()))
        assert report.valid, report.reason
        assert {claim["ends"] for claim in report.other_claims} == {answer.certificate()["ends"]}


# -------------------------------------------------------------------------------------------- certificates


def test_certificates_without_the_field_mean_what_they_meant() -> None:
    """They count a trace where it is performed and survived; the claim says so."""
    model = half_of_pin_checking()
    survived = PA(model.states, tuple(s for s in model.transitions if s.row), model.pairs)
    document = trace_metric(survived, ends="hidden").certificate()
    document |= {"model": model.canonical(), "digest": model.digest()}
    assert document["claims"][0]["upper"] == "3/2"  # type: ignore[index]
    assert not check_certificate(json.dumps(document), None).valid
    del document["ends"]
    report = check_certificate(json.dumps(document), None)
    assert report.valid, report.reason
    assert "survived" in str(report.other_claims[0]["ends"])


@pytest.mark.parametrize("forged", ["visible", "hidden"])
def test_less_loss_than_there_is_cannot_be_claimed(forged: str) -> None:
    model = half_of_pin_checking()
    document = trace_metric(model, ends="visible").certificate()
    document["ends"] = forged
    claim = document["claims"][0]  # type: ignore[index]
    for number in ("upper", "lower"):
        claim[number] = "3/2"
    assert not check_certificate(json.dumps(document), None).valid


def test_a_claim_about_a_state_that_is_added_is_refused() -> None:
    model = half_of_pin_checking()
    for answer, key in (
        (trace_metric(model), "from"),
        (trace_formulae(model, "s1", 2), "state"),
        (trace_equivalence(model), "from"),
    ):
        document = answer.certificate()
        document["claims"][0][key] = "(end)"  # type: ignore[index]
        report = check_certificate(json.dumps(document), None)
        assert not report.valid
        assert "is no state" in report.reason


def test_names_that_are_taken_are_primed() -> None:
    steps = (Transition(0, "(end)", ((0, HALF),)), Transition(1, "a", ((2, HALF),)))
    model = PA(("(end)", "s", "(ended)"), steps, ((0, 1),))
    found = Completed.of(model, "visible", [0, 1])
    assert found.symbol == "(end)'"
    assert found.automaton.states == ("(end)", "s", "(ended)", "(end)'", "(ended)'")
    answer = trace_metric(model)
    report = check_certificate(json.dumps(answer.certificate()), None)
    assert report.valid, report.reason


def test_weak_anonymity_sees_ends() -> None:
    """Both perform a for sure; then one run has ended, and the other may go on."""
    steps = (Transition(0, "a", ((2, HALF),)), Transition(1, "a", ()), Transition(2, "a", ((2, ONE),)))
    model = PA(("s", "t", "u"), steps, ((0, 1),))
    assert weak_anonymity(model, "1/2").verdict == "holds"
    refused = weak_anonymity(model, "0.49")
    assert refused.verdict == "violated"
    assert refused.answer.missing
    assert "an observer sees that" in refused._repr_html_()
