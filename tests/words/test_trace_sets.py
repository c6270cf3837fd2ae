"""The additive trace metric of sets of traces: total variation, held against enumeration."""

from __future__ import annotations

import json

import pytest
from flint import fmpq
from hypothesis import given, settings

from bisimdist.checker import check_certificate
from bisimdist.errors import UsageError
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline
from bisimdist.traces.secrets.ask import secret_privacy
from bisimdist.traces.trace.ask import trace_metric, weak_anonymity
from tests.words.fully_probabilistic import END
from tests.words.trace_reference import fully_probabilistic, traces

QUARTER, ONE = fmpq(1, 4), fmpq(1)


def disjoint(outputs: int = 4) -> PA:
    """Return two secrets that have no output in common."""
    names = ["s", "t", "end"]
    steps = []
    for start, letters in enumerate(("abcd"[:outputs], "efgh"[:outputs])):
        row = []
        for letter in letters:
            row.append((len(names), fmpq(1, outputs)))
            steps.append(Transition(len(names), letter, ((2, ONE),)))
            names.append(letter)
        steps.append(Transition(start, "ask", tuple(row)))
    return PA(tuple(names), tuple(steps), ((0, 1),))


def total_variation(automaton: PA, s: int, t: int) -> fmpq:
    """Return half of what the whole runs of an acyclic automaton differ by."""
    found = traces(automaton, s, t, len(automaton) + 1).items()
    return sum((abs(p - q) for word, (p, q) in found if word[-1:] == (END,)), fmpq(0)) / 2


@settings(max_examples=30, deadline=None)
@given(fully_probabilistic(6, cyclic=False))
def test_sets_are_total_variation(drawn: PA) -> None:
    answer = trace_metric(drawn, "additive", of="sets")
    (found,) = answer.pairs
    assert found.exact
    assert found.upper == total_variation(drawn, 0, 1)
    assert abs(found.probabilities[0] - found.probabilities[1]) == found.lower
    (single,) = trace_metric(drawn, "additive").pairs
    assert single.upper is not None
    assert single.upper <= found.upper


def test_two_secrets_without_a_common_output() -> None:
    """No single trace differs by more than 1/4, and a set of traces tells the secrets apart for sure."""
    answer = trace_metric(disjoint(), "additive", threshold="1/4")
    assert (answer.pairs[0].upper, answer.at_most("1/4")) == (QUARTER, True)
    assert (answer.verdict_of("traces"), answer.verdict_of("sets")) == (True, False)
    assert answer.data()["verdicts"] == {"traces": "holds", "sets": "violated"}
    sets = trace_metric(disjoint(), "additive", of="sets", threshold="1/4")
    assert (sets.pairs[0].lower, sets.pairs[0].probabilities) == (ONE, (ONE, 0))
    assert (sets.verdict_of("traces"), sets.verdict_of("sets")) == (True, False)
    assert check_certificate(json.dumps(sets.certificate())).valid
    assert "<svg" in sets.picture()
    assert list(sets.pairs[0].data())[-2:] == ["witness", "probabilities"]


def test_weak_anonymity_is_about_sets() -> None:
    refused = weak_anonymity(disjoint(), "1/4")
    assert refused.verdict == "violated"
    assert (refused.violated[0].witness, refused.violated[0].upper) == ((), ONE)
    assert "a set of 4 traces has the probabilities 1 and 0" in refused._repr_html_()
    assert check_certificate(json.dumps(refused.certificate())).valid
    assert weak_anonymity(disjoint(), 1).verdict == "holds"
    by_one = weak_anonymity(disjoint(), "1/5")
    assert (by_one.violated[0].witness, by_one.answer.other) == (("ask", "a"), None)


def test_of_secrets_both_are_decided() -> None:
    secrets = {"x": "s", "y": "t"}
    answer = secret_privacy(disjoint(), secrets, kind="additive", threshold="1/4")
    assert (answer.title, answer.verdict) == (
        "additive trace metric of single traces, over all secrets",
        "holds",
    )
    assert answer.data()["verdicts"] == {"traces": "holds", "sets": "violated"}
    answer = secret_privacy(disjoint(), secrets, kind="additive", of="sets")
    assert (answer.title, answer.upper.epsilon()) == ("weak anonymity of all secrets", ("1", "1"))
    assert check_certificate(json.dumps(answer.certificate())).valid
    table = secret_privacy(disjoint(), secrets, {("x", "y"): 2}, kind="additive", of="sets", threshold="1/2")
    assert table.data()["verdicts"] == {"traces": "holds", "sets": "holds"}
    assert not any("anonymity" in line for line in table.both_remarks())


def test_what_is_not_compared_in_sets_is_refused() -> None:
    with pytest.raises(UsageError, match="additive"):
        trace_metric(disjoint(), of="sets")
    with pytest.raises(UsageError, match="all lengths"):
        trace_metric(disjoint(), "additive", of="sets", length=3)
    with pytest.raises(UsageError, match="ended"):
        trace_metric(disjoint(), "additive", of="sets", ends="hidden")
    with pytest.raises(UsageError, match="'traces' or 'sets'"):
        trace_metric(disjoint(), "additive", of="words")  # type: ignore[arg-type]


def test_without_time_nothing_is_claimed() -> None:
    answer = trace_metric(disjoint(), "additive", threshold="1/4", deadline=Deadline.after(0))
    assert answer.data()["verdicts"] == {"traces": "unknown", "sets": "unknown"}
    shorter = trace_metric(disjoint(), "additive", threshold="1/4", length=2)
    assert shorter.data()["verdicts"] == {"traces": "holds", "sets": "unknown"}
