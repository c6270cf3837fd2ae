"""What is asked of automata, and of processes and chains as automata."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction

from flint import fmpq

from bisimdist.automata.generalised.ask import generalised_metric
from bisimdist.automata.metric.ask import metric
from bisimdist.logic.engine.formula import (
    ANYTHING,
    TOP,
    StateFormula,
    conjunction,
    diamond,
    mixture,
    negation,
)
from bisimdist.logic.explanation.ask import explain
from bisimdist.logic.formula.ask import mimicking_formula
from bisimdist.logic.satisfaction.ask import satisfying
from bisimdist.logic.traces.ask import satisfies_trace_formulae, trace_formulae
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, chain_as_automaton
from bisimdist.traces.equivalence.ask import trace_equivalence
from bisimdist.traces.secrets.ask import secret_privacy
from bisimdist.traces.trace.ask import trace_metric
from tests.campaign.desk import Desk, Question
from tests.logic.formula_reference import holds, k_step_classes
from tests.reference.generalised_kleene import iterate
from tests.reference.metric_brute_force import TooManyTriples, metric_by_relations
from tests.words.trace_reference import enumerated, long_probability

__all__ = ["QUESTIONS", "automaton_of_desk", "random_formula"]

LENGTH = 4
CAP = Fraction(64)
MOST_TRIPLES = 120
ROUNDOFF = 1e-6
MOST_STATES = 12
"""On larger automata the definition of satisfaction takes too long on trees of formulae."""


def automaton_of_desk(desk: Desk) -> PA | None:
    """Return the model as an automaton, if it can be read as one."""
    if isinstance(desk.model, LMC):
        return chain_as_automaton(desk.model)
    return desk.model if isinstance(desk.model, PA) else None


def _probabilistic(desk: Desk) -> PA | None:
    automaton = automaton_of_desk(desk)
    return automaton if automaton is not None and automaton.fully_probabilistic else None


def _metric(desk: Desk) -> None:
    automaton = automaton_of_desk(desk)
    if automaton is None:
        return
    kinds = desk.source.choice((("accumulative",), ("amortised",), ("amortised", "accumulative")))
    for kind in kinds:
        answer = metric(automaton, kind, deadline=desk.deadline)
        desk.proved(answer, automaton)
        (pair,) = answer.pairs
        desk.note(kind, pair.lower, pair.upper)
        s, t = automaton.pairs[0]
        try:
            value = metric_by_relations(automaton, kind, s, t, CAP, limit=MOST_TRIPLES)
        except TooManyTriples:
            continue
        if value is None:
            capped = fmpq(int(CAP))
            desk.require(
                pair.upper is None or pair.upper > capped, f"{kind}: {pair.upper}, no relation up to {CAP}"
            )
        else:
            exact = fmpq(value.numerator, value.denominator)
            desk.between(pair.lower, exact, pair.upper, f"{kind} by relations")
    desk.ordered("amortised", "accumulative")


def _generalised(desk: Desk) -> None:
    automaton = automaton_of_desk(desk)
    if automaton is None:
        return
    kind = desk.source.choice(("additive", "multiplicative"))
    discount = desk.source.choice(("1", "1", "1/2")) if kind == "additive" else "1"
    answer = generalised_metric(automaton, kind, discount=discount, deadline=desk.deadline)
    desk.proved(answer, automaton)
    (pair,) = answer.pairs
    desk.note(f"{kind} metric, discount {discount}", pair.lower, pair.upper)
    if discount == "1" and kind == "multiplicative":
        desk.ordered("multiplicative metric, discount 1", "accumulative")


def _generalised_iterated(desk: Desk) -> None:
    """Hold the generalised metrics against rounds of their definition in doubles."""
    automaton = automaton_of_desk(desk)
    if automaton is None or len(automaton) > 6:
        return
    for kind in ("additive", "multiplicative"):
        (pair,) = generalised_metric(automaton, kind, deadline=desk.deadline).pairs
        s, t = automaton.pairs[0]
        rough = iterate(automaton, 3, additive=kind == "additive")[s][t]
        if pair.upper is not None:
            top = float(pair.upper) + ROUNDOFF * (1 + abs(float(pair.upper)))
            # Solvers of doubles give up on coefficients of very different sizes.
            if not math.isnan(rough) and rough < 1e6:
                desk.require(rough <= top, f"{kind} metric {pair.upper}, after three rounds {rough}")


def _explain(desk: Desk) -> None:
    automaton = automaton_of_desk(desk)
    if automaton is None:
        return
    answer = explain(automaton, deadline=desk.deadline)
    (found,) = answer.pairs
    if found.bisimilar is None:
        return
    desk.proved(answer, automaton)
    s, t = automaton.pairs[0]
    classes = k_step_classes(automaton, len(automaton))
    desk.require(found.bisimilar == (classes[s] == classes[t]), f"bisimilar: {found.bisimilar}")
    if found.formula is not None and (found.depth or 0) <= 3:
        desk.require(holds(automaton, s, found.formula), "the first state satisfies the formula")
        desk.require(not holds(automaton, t, found.formula), "the second state does not")
    if found.bisimilar:
        for kind in ("additive metric, discount 1", "delta"):
            if kind in desk.known:
                desk.at_most(desk.known[kind][0], fmpq(0), f"{kind} of bisimilar states")


def _traces(desk: Desk) -> None:
    automaton = _probabilistic(desk)
    if automaton is None:
        return
    s, t = automaton.pairs[0]
    ends = desk.source.choice(("visible", "hidden"))
    ratio, difference = enumerated(automaton, s, t, LENGTH, ends=ends == "visible")
    kind, value = desk.source.choice((("multiplicative", ratio), ("additive", difference)))
    answer = trace_metric(automaton, kind, ends=ends, deadline=desk.deadline)
    desk.proved(answer, automaton)
    (pair,) = answer.pairs
    desk.note(f"{kind} trace metric, ends {ends}", pair.lower, pair.upper)
    desk.at_most(value, pair.upper, f"{kind} trace metric of short traces, ends {ends}")
    if desk.source.random() < 0.3:
        cut = trace_metric(automaton, kind, ends=ends, length=LENGTH, deadline=desk.deadline)
        desk.proved(cut, automaton)
        (short,) = cut.pairs
        desk.between(short.lower, value, short.upper, f"{kind} trace metric to a length, ends {ends}")
    desk.ordered("multiplicative trace metric, ends hidden", "multiplicative metric, discount 1")
    desk.ordered("multiplicative trace metric, ends hidden", "amortised")


def _equivalence(desk: Desk) -> None:
    automaton = _probabilistic(desk)
    if automaton is None:
        return
    answer = trace_equivalence(automaton, deadline=desk.deadline)
    (found,) = answer.pairs
    if found.equivalent is None:
        return
    desk.proved(answer, automaton)
    s, t = automaton.pairs[0]
    _, difference = enumerated(automaton, s, t, 6)
    if found.equivalent:
        desk.at_most(difference, fmpq(0), "the difference of trace equivalent states")
    elif found.least and found.trace is not None and len(found.trace) <= 6:
        desk.require(difference > 0, "short traces tell the states apart")


def _secrets(desk: Desk) -> None:
    automaton = _probabilistic(desk)
    if automaton is None:
        return
    secrets = {str(k): state for k, state in enumerate(automaton.states[:3])}
    if len(secrets) < 2:
        return
    kind = desk.source.choice(("multiplicative", "additive"))
    answer = secret_privacy(automaton, secrets, kind=kind, deadline=desk.deadline)
    desk.proved(answer, automaton)
    pairs = [(a, b) for k, a in enumerate(automaton.states[:3]) for b in automaton.states[k + 1 : 3]]
    direct = trace_metric(automaton, kind, pairs=pairs, deadline=desk.deadline)
    best = {frozenset(names): bound for names, bound in zip(pairs, direct.pairs, strict=True)}
    for pair in answer.pairs:
        bound = best[frozenset((secrets[str(pair.first)], secrets[str(pair.second)]))]
        desk.at_most(pair.bound.lower, bound.upper, "secrets and trace metric")
        desk.at_most(bound.lower, pair.bound.upper, "trace metric and secrets")


def random_formula(source: random.Random, actions: list[str], depth: int) -> StateFormula:
    choice = source.randrange(6) if depth else source.randrange(2)
    if choice == 0:
        return TOP
    if choice == 1:
        return diamond(source.choice(actions), ANYTHING)
    if choice == 2:
        return negation(random_formula(source, actions, depth - 1))
    if choice == 3:
        return conjunction([random_formula(source, actions, depth - 1) for _ in range(source.randint(1, 3))])
    shares = [source.randint(1, 3) for _ in range(source.randint(1, 3))]
    parts = [(fmpq(share, sum(shares)), random_formula(source, actions, depth - 1)) for share in shares]
    return diamond(source.choice(actions), mixture(parts))


def _satisfies(desk: Desk) -> None:
    automaton = automaton_of_desk(desk)
    if automaton is None or not automaton.transitions:
        return
    formula = random_formula(desk.source, sorted({step.action for step in automaton.transitions}), 3)
    answer = satisfying(automaton, formula, deadline=desk.deadline)
    desk.proved(answer, automaton)
    if len(automaton) > MOST_STATES:
        return
    by_definition = {name for s, name in enumerate(automaton.states) if holds(automaton, s, formula)}
    desk.require(set(answer.states) == by_definition, f"{formula}: {answer.states}, not {by_definition}")


def _mimicking(desk: Desk) -> None:
    automaton = automaton_of_desk(desk)
    if automaton is None:
        return
    s, t = automaton.pairs[0]
    depth = desk.source.choice((1, 2, None))
    answer = mimicking_formula(automaton, automaton.states[s], depth, deadline=desk.deadline)
    desk.proved(answer, automaton)
    found = satisfying(automaton, answer.formula, deadline=desk.deadline).states
    classes = k_step_classes(automaton, len(automaton) if depth is None else depth)
    desk.require(automaton.states[s] in found, "a state satisfies its formula")
    if classes[s] == classes[t]:
        desk.require(automaton.states[t] in found, "so does one that is alike")


def _trace_logic(desk: Desk) -> None:
    automaton = _probabilistic(desk)
    if automaton is None:
        return
    s = automaton.pairs[0][0]
    answer = trace_formulae(automaton, automaton.states[s], 4, 40, deadline=desk.deadline)
    desk.proved(answer, automaton)
    asked = []
    for formula in answer.formulae:
        actions = formula.linear.actions
        value = long_probability(automaton, s, actions)
        desk.require(formula.probability == value, f"{formula} has probability {value}")
        words = "".join(f"<{json.dumps(action)}>" for action in actions)
        asked.append(f"{formula.probability + desk.source.choice((0, 0, fmpq(-1, 10**20)))} {words}T")
    if asked:
        chosen = asked[-3:]
        if any(text.startswith("-") for text in chosen):
            return
        found = satisfies_trace_formulae(automaton, automaton.states[s], chosen)
        desk.proved(found, automaton)


AUTOMATA = ("pa", "ccs", "lmc")
QUESTIONS = (
    Question("metric", AUTOMATA, 3, _metric, "metric MODEL --kind amortised"),
    Question("generalised metric", AUTOMATA, 2, _generalised, "metric MODEL --kind additive"),
    Question(
        "generalised by iteration", AUTOMATA, 200, _generalised_iterated, "metric MODEL --kind multiplicative"
    ),
    Question("explain", AUTOMATA, 3, _explain, "logic explain MODEL"),
    Question("trace", AUTOMATA, 2, _traces, "trace MODEL"),
    Question("equivalence", AUTOMATA, 3, _equivalence, "equivalence MODEL"),
    Question("secrets", AUTOMATA, 20, _secrets, "secrets MODEL"),
    Question("satisfies", AUTOMATA, 5, _satisfies, "logic satisfies MODEL"),
    Question("formula", AUTOMATA, 10, _mimicking, "logic formula MODEL"),
    Question("traces", AUTOMATA, 10, _trace_logic, "logic traces MODEL"),
)
