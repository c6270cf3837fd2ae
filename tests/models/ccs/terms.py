"""Hypothesis strategies for terms of CCS_p, and the same semantics once more, written to be read."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq
from hypothesis import strategies as st

from bisimdist.models.ccs.specification import Definition
from bisimdist.models.ccs.syntax import (
    NIL,
    TAU,
    Action,
    Call,
    Nil,
    Parallel,
    Prefix,
    Probabilistic,
    Restriction,
    Sum,
    Term,
)
from bisimdist.models.pa import PA, Transition
from tests.strategies import weights

__all__ = ["CYCLES", "actions", "disjoint_union", "literal_automaton", "neighbours", "terms"]

NAMES = ("a", "b", "c")
CYCLES = (
    Definition("X", (), Prefix(Action("a"), Call("X"))),
    Definition(
        "Y",
        (),
        Probabilistic(
            ((fmpq(1, 3), Prefix(Action("b"), Call("Y"))), (fmpq(2, 3), Prefix(Action("a", True), NIL)))
        ),
    ),
    Definition("Z", ("c",), Prefix(Action("c"), Prefix(Action("b", True), Call("Z", ("c",))))),
)
"""Definitions that random terms may call; the state spaces stay finite, for none calls beside others."""


def actions() -> st.SearchStrategy[Action]:
    """Draw a visible action, a co-action or tau."""
    visible = st.builds(Action, st.sampled_from(NAMES), st.booleans())
    return st.one_of(visible, st.just(TAU))


@st.composite
def _probabilistic(draw: st.DrawFn, parts: st.SearchStrategy[Term]) -> Term:
    chosen = draw(st.lists(parts, min_size=1, max_size=3))
    return Probabilistic(tuple(zip(draw(weights(len(chosen))), chosen, strict=True)))


def _several(parts: st.SearchStrategy[Term]) -> st.SearchStrategy[tuple[Term, ...]]:
    return st.lists(parts, min_size=2, max_size=3).map(tuple)


def _restrictions(body: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2).map(tuple)
    return st.builds(Restriction, names, body)


def terms(*, calls: bool = True, max_leaves: int = 8) -> st.SearchStrategy[Term]:
    """Draw a term, which may call the definitions of `CYCLES`."""
    called = st.one_of(
        st.sampled_from([Call("X"), Call("Y")]), st.sampled_from(NAMES).map(lambda name: Call("Z", (name,)))
    )
    leaves = st.one_of(st.just(NIL), called) if calls else st.just(NIL)
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(Prefix, actions(), inner),
            _probabilistic(inner),
            _several(inner).map(Sum),
            _several(inner).map(Parallel),
            _restrictions(inner),
        ),
        max_leaves=max_leaves,
    )


@st.composite
def _coins(draw: st.DrawFn) -> tuple[Term, Term]:
    """Draw a choice between processes that can be told apart, with two distributions."""
    inner = draw(st.lists(terms(max_leaves=2), min_size=3, max_size=3))
    parts = [Prefix(Action(name), term) for name, term in zip(NAMES, inner, strict=True)]
    count = draw(st.integers(2, 3))
    one, two = (tuple(zip(draw(weights(count)), parts[:count], strict=True)) for _ in range(2))
    return Probabilistic(one), Probabilistic(two)


@st.composite
def neighbours(draw: st.DrawFn, *, max_leaves: int = 5) -> tuple[Term, Term]:
    """Draw two terms that differ in the probabilities of their choices alone, so that they are often near."""
    count = draw(st.integers(1, 2))
    leaves = st.one_of(_coins(), _coins(), terms(max_leaves=2).map(lambda term: (term, term)))
    pairs = draw(st.lists(leaves, min_size=count, max_size=count))
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    operator = draw(st.sampled_from([Sum, Parallel]))
    one, two = (terms_[0] if count == 1 else operator(tuple(terms_)) for terms_ in (first, second))
    for _ in range(draw(st.integers(0, max(0, max_leaves - 3)))):
        action, names = draw(actions()), (draw(st.sampled_from(NAMES)),)
        restricted = draw(st.booleans())
        one, two = (Restriction(names, term) if restricted else Prefix(action, term) for term in (one, two))
    return one, two


LiteralStep = tuple[Action, dict[Term, fmpq]]


# --- the rules, literally: terms are as they are written, composition is binary, everything is recursive


def _literal_steps(  # noqa: PLR0911
    term: Term, definitions: dict[str, Definition]
) -> list[LiteralStep]:
    match term:
        case Prefix(action=action, body=body):
            return [(action, {body: fmpq(1)})]
        case Probabilistic(branches=branches):
            mass: dict[Term, fmpq] = {}
            for probability, part in branches:
                mass[part] = mass.get(part, fmpq(0)) + probability
            return [(TAU, {part: probability for part, probability in mass.items() if probability != 0})]
        case Sum(parts=parts):
            return [step for part in parts for step in _literal_steps(part, definitions)]
        case Restriction(names=names, body=body):
            return [
                (action, {Restriction(names, target): p for target, p in mu.items()})
                for action, mu in _literal_steps(body, definitions)
                if action.name not in names
            ]
        case Call(name=name, arguments=arguments):
            definition = definitions[name]
            renaming = dict(zip(definition.parameters, arguments, strict=True))
            return _literal_steps(_renamed(definition.body, renaming), definitions)
        case Parallel(parts=parts):
            return _literal_parallel(parts, definitions)
    assert isinstance(term, Nil)
    return []


def _literal_parallel(parts: tuple[Term, ...], definitions: dict[str, Definition]) -> list[LiteralStep]:
    # (P | Q | R) is (P | (Q | R))
    left = parts[0]
    right = parts[1] if len(parts) == 2 else Parallel(parts[1:])
    ours, theirs = _literal_steps(left, definitions), _literal_steps(right, definitions)
    result: list[LiteralStep] = [
        (action, {Parallel((target, right)): p for target, p in mu.items()}) for action, mu in ours
    ]
    result += [(action, {Parallel((left, target)): p for target, p in mu.items()}) for action, mu in theirs]
    for action, mu in ours:
        for other, nu in theirs:
            if action.name != "tau" and other == Action(action.name, not action.co):
                (one,), (two,) = mu, nu
                result.append((TAU, {Parallel((one, two)): fmpq(1)}))
    return result


def _renamed(term: Term, renaming: dict[str, str]) -> Term:
    parts = [_renamed(part, renaming) for part in term.children()]
    match term:
        case Prefix(action=action):
            return Prefix(
                action if action.silent else Action(renaming.get(action.name, action.name), action.co),
                parts[0],
            )
        case Call(name=name, arguments=arguments):
            return Call(name, tuple(renaming.get(argument, argument) for argument in arguments))
        case Probabilistic(branches=branches):
            return Probabilistic(tuple((p, part) for (p, _), part in zip(branches, parts, strict=True)))
        case Nil():
            return term
    raise AssertionError("the definitions of these tests need no more")


def literal_automaton(
    starts: Sequence[Term], definitions: Sequence[Definition] = CYCLES, *, limit: int = 3000
) -> PA | None:
    """Return the automaton of terms by the rules alone, without any law; None if it grows beyond a limit."""
    known = {definition.name: definition for definition in definitions}
    states = list(dict.fromkeys(starts))
    position = {term: index for index, term in enumerate(states)}
    transitions = []
    for source, term in enumerate(states):  # grows
        for action, mu in _literal_steps(term, known):
            row = []
            for target, probability in mu.items():
                if target not in position:
                    position[target] = len(states)
                    states.append(target)
                row.append((position[target], probability))
            transitions.append(Transition(source, str(action), tuple(sorted(row))))
        if len(states) > limit:
            return None
    pairs = ((position[starts[0]], position[starts[-1]]),)
    return PA(tuple(str(index) for index in range(len(states))), tuple(transitions), pairs)


def disjoint_union(first: PA, second: PA) -> PA:
    """Put two automata side by side; the states of the second follow those of the first."""
    moved = tuple(
        Transition(
            step.source + len(first), step.action, tuple((target + len(first), p) for target, p in step.row)
        )
        for step in second.transitions
    )
    names = tuple(f"first {name}" for name in first.states) + tuple(
        f"second {name}" for name in second.states
    )
    return PA(names, first.transitions + moved)
