"""What is asked of hidden Markov models, with parameters and without."""

from __future__ import annotations

from itertools import product

from flint import fmpq

from bisimdist.budgets.prove.ask import for_all_lengths
from bisimdist.budgets.verify.answer import Verdict
from bisimdist.budgets.verify.ask import epsilon, verify
from bisimdist.models.hmm import HMM
from tests.campaign.desk import Desk, Question, Value
from tests.hmm_proofs.random_models import brute_probability

__all__ = ["QUESTIONS", "enumerated", "possible"]

LENGTH = 3
STEP = fmpq(1, 2**60)
LONGEST = 6
"""Of longer sequences the sum over all runs takes too long."""


def _model(desk: Desk) -> HMM:
    assert isinstance(desk.model, HMM)
    return desk.model


def enumerated(model: HMM, length: int, up_to: bool) -> Value:
    """Return the largest ratio of all sequences, None where it is infinite, 1 where nothing is possible."""
    worst = fmpq(1)
    for size in range(1 if up_to else length, length + 1):
        for word in product(range(len(model.observations)), repeat=size):
            small, large = sorted(brute_probability(model, name, word) for name in ("pi", "tau"))
            if large and not small:
                return None
            if large:
                worst = max(worst, large / small)
    return worst


def _chance(model: HMM, name: str, word: tuple[str, ...]) -> fmpq:
    return brute_probability(model, name, tuple(model.observations.index(o) for o in word))


def possible(model: HMM, length: int) -> bool:
    """Tell whether any sequence is that long; no question about the others is answered."""
    reached = [{state for state, _ in model.distribution(name)} for name in ("pi", "tau")]
    for _ in range(length - 1):
        reached = [{target for state in states for target, _ in model.rows[state]} for states in reached]
    return any(reached)


def _epsilon(desk: Desk) -> None:
    model = _model(desk)
    length, up_to = desk.source.randint(1, LENGTH), desk.source.random() < 0.5
    if not possible(model, 1 if up_to else length):
        return
    answer = epsilon(model, length=length, up_to=up_to, deadline=desk.deadline)
    (found,) = answer.pairs
    value = enumerated(model, length, up_to)
    desk.between(found.at_least, value, found.ratio if found.exact else None, f"epsilon at {length}")
    if found.exact:
        desk.require(found.ratio == value, f"epsilon at {length}: {found.ratio}, by enumeration {value}")
    desk.proved(answer)
    desk.note(f"epsilon {length} {up_to}", value, value)
    ratio = fmpq(2) if value is None else value + desk.source.choice((fmpq(0), -STEP, STEP))
    if ratio >= 1:
        _decided(desk, model, ratio, length, up_to, value)


def _decided(desk: Desk, model: HMM, ratio: fmpq, length: int, up_to: bool, value: Value) -> None:  # noqa: PLR0917
    answer = verify(model, ratio, length=length, up_to=up_to, deadline=desk.deadline)
    (pair,) = answer.pairs
    if pair.verdict is Verdict.UNKNOWN:
        return
    holds = value is not None and value <= ratio
    desk.require(
        (pair.verdict is Verdict.HOLDS) == holds,
        f"{ratio} at {length} is {pair.verdict.value}, the budget is {value}",
    )
    desk.proved(answer)


def _solver(desk: Desk) -> None:
    model = _model(desk)
    if not possible(model, 2):
        return
    value = enumerated(model, 2, False)
    for ratio in [fmpq(2)] if value is None else [value, value - STEP]:
        if ratio < 1:
            continue
        (pair,) = verify(model, ratio, length=2, engine="smt", deadline=desk.deadline).pairs
        holds = value is not None and value <= ratio
        if pair.verdict is not Verdict.UNKNOWN:
            desk.require((pair.verdict is Verdict.HOLDS) == holds, f"smt: {ratio} is {pair.verdict.value}")


def _all_lengths(desk: Desk) -> None:
    model = _model(desk)
    ratio = desk.source.choice((None, None, fmpq(2), fmpq(int(desk.alpha.p), int(desk.alpha.q))))
    answer = for_all_lengths(model, ratio, deadline=desk.deadline)
    (found,) = answer.pairs
    value = enumerated(model, LENGTH, True)
    if found.proved is not None:
        desk.at_most(value, found.proved, "a budget for all lengths, and the least one for short ones")
    word = found.counterexample
    if word is not None and len(word) <= LONGEST and found.probabilities is not None:
        chances = tuple(_chance(model, name, word) for name in ("pi", "tau"))
        desk.require(chances == found.probabilities, f"the counterexample has probabilities {chances}")
    if ratio is not None and found.verdict is Verdict.HOLDS:
        desk.at_most(value, ratio, "a budget that holds for all lengths")
    if found.verdict is not Verdict.UNKNOWN:
        desk.proved(answer)


RATIOS = ("1", "3/2", "2", "4", "1000000")


def _parametric(desk: Desk) -> None:
    """Hold verdicts about all parameter values against those at some of them."""
    model = _model(desk)
    length = desk.source.randint(1, 2)
    if not possible(model, length):
        return
    ratio = fmpq(*map(int, (desk.source.choice(RATIOS) + "/1").split("/")[:2]))
    answer = verify(model, ratio, length=length, deadline=desk.deadline)
    (pair,) = answer.pairs
    if pair.verdict is Verdict.HOLDS:
        for _ in range(3):
            values = {
                parameter.name: parameter.low
                + (parameter.high - parameter.low)
                * desk.source.choice((fmpq(1, 2), STEP, 1 - STEP, fmpq(1, 3)))
                for parameter in model.parameters
            }
            value = enumerated(model.at(values), length, False)
            desk.at_most(value, ratio, f"a budget for all parameters, at {values}")
    if pair.verdict is Verdict.VIOLATED and pair.counterexample is not None:
        fixed = model.at(dict(pair.parameters)) if model.parametric else model
        chances = tuple(_chance(fixed, name, pair.counterexample) for name in ("pi", "tau"))
        desk.require(chances == pair.probabilities, f"the counterexample has probabilities {chances}")
        small, large = sorted(chances)
        desk.require(large > ratio * small, f"the counterexample has ratio {large} : {small}")
    if pair.verdict is not Verdict.UNKNOWN:
        desk.counts[f"parametric: {pair.verdict.value}"] += 1
        if "smt" not in pair.ways:
            desk.proved(answer)


QUESTIONS = (
    Question("epsilon, verify", ("hmm",), 1, _epsilon, "epsilon MODEL --length 3"),
    Question("prove", ("hmm",), 4, _all_lengths, "prove MODEL"),
    Question("verify --engine smt", ("hmm",), 40, _solver, "verify MODEL --length 2 --ratio 2 --engine smt"),
    Question("verify, parameters", ("parametric",), 1, _parametric, "verify MODEL --length 2 --ratio 2"),
)
