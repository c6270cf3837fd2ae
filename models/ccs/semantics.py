"""The operational semantics of CCS_p: from a specification to a finite probabilistic automaton, on the fly.

States are terms up to a few laws: ``|`` is associative, ``P | 0 = P = 0 | P``, and ``(nu a) 0 = 0``; and
``(nu a) (nu b) P`` and ``(nu a, b) P`` are two ways to write one term. Nothing else is identified:
``P | Q`` and ``Q | P`` are two states. By these laws no context makes two different terms equal, so a
distribution keeps the size of its support in every context, on which distances that match supports by
bijections depend. On request there are no laws at all: the rules to the letter.

Source: XCL14 Figure 2, XCL14 Proposition 4.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.models.ccs.naming import StateNames
from bisimdist.models.ccs.normal import LAWS, LITERAL, Instances, Laws
from bisimdist.models.ccs.specification import DEFAULT_STATE_LIMIT, Definition, Specification
from bisimdist.models.ccs.syntax import (
    TAU,
    Action,
    Call,
    Parallel,
    Prefix,
    Probabilistic,
    Restriction,
    Sum,
    Term,
)
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import NEVER, Deadline

MAX_COMPONENTS = 200  # how many components and restrictions one state may have

MAX_ENTRIES = 30_000_000
"""How large all transitions may be together, so that an automaton takes bounded memory."""

MAX_ENTRIES_OF_ONE = 2_000_000
"""How large the transitions of one process may be, so that hopeless texts are refused soon."""

Step = tuple[Action, tuple[tuple[Term, fmpq], ...]]
"""A transition of a term: the action, and the successors, each once, with their probabilities."""


class Semantics:
    """The rules of the calculus, applied to one term after the other; what is derived is kept."""

    def __init__(self, definitions: Sequence[Definition] = (), laws: Laws = LAWS) -> None:
        self._laws = laws
        self._instances = Instances(definitions, laws)
        self._steps: dict[Term, tuple[Step, ...]] = {}
        self._sizes: dict[Term, int] = {}
        # One object for each term that is reached, so that most comparisons end at once.
        self._terms: dict[Term, Term] = {}
        self._entries = 0

    def steps(self, term: Term) -> tuple[Step, ...]:
        """Return the transitions of a term in normal form, each once.

        Raises ModelError if they are too many to be written down, or a call captures a name.

        >>> from bisimdist.models.ccs.parser import parse_term
        >>> rules = Semantics()
        >>> for action, successors in rules.steps(parse_term("(nu a) (a.b.0 | ~a.0 | ~b.0)")):
        ...     print(action, *successors)
        ~b (<Restriction (nu a) (a.b.0 | ~a.0)>, 1)
        tau (<Restriction (nu a) (b.0 | ~b.0)>, 1)
        """
        known = self._steps
        waiting: list[tuple[Term, tuple[Term, ...] | None]] = [(term, None)]
        while waiting:
            current, premises = waiting.pop()
            if current in known:
                continue
            if premises is None:
                premises = self._premises(current)
                missing = [premise for premise in premises if premise not in known]
                if missing:
                    waiting.append((current, premises))
                    waiting.extend((premise, None) for premise in missing)
                    continue
            # Most distributions are certain: hashing a rational costs more than all the rest.
            different: dict[Hashable, Step] = {}
            derivations = 0
            for action, derived in self._derived(current, premises):
                derivations += _entries(derived)
                _check_entries(derivations, MAX_ENTRIES_OF_ONE, "one process")
                successors = tuple([(self._terms.setdefault(term, term), mu) for term, mu in derived])
                key = (action, successors[0][0] if len(successors) == 1 else successors)
                different.setdefault(key, (action, successors))
            known[current] = tuple(different.values())
            self._entries += sum(_entries(successors) for _, successors in known[current])
            _check_entries(self._entries, MAX_ENTRIES, "the processes")
        return known[term]

    def size(self, term: Term) -> int:
        """Return how many components and restrictions a term in normal form has."""
        known = self._sizes
        waiting = [term]
        while waiting:
            current = waiting[-1]
            if not isinstance(current, Parallel | Restriction):
                known[current] = 1
                waiting.pop()
                continue
            missing = [part for part in current.children() if part not in known]
            if missing:
                waiting += missing
                continue
            own = len(current.names) if isinstance(current, Restriction) else 0
            known[current] = own + sum(known[part] for part in current.children())
            waiting.pop()
        return known[term]

    def _premises(self, term: Term) -> tuple[Term, ...]:
        """Return the terms whose transitions those of a term are made of."""
        match term:
            case Sum(parts=parts):
                return tuple(self._laws.normal_form(part) for part in parts)
            case Parallel(parts=parts):
                return parts
            case Restriction(body=body):
                return (body,)
            case Call():
                return (self._instances.body(term),)
        return ()

    def _derived(self, term: Term, premises: tuple[Term, ...]) -> Iterator[Step]:
        match term:
            case Prefix(action=action, body=body):  # ACT
                yield action, ((self._laws.normal_form(body), fmpq(1)),)
            case Probabilistic(branches=branches):  # PROB
                mass: dict[Term, fmpq] = {}
                for probability, part in branches:
                    if probability != 0:
                        target = self._laws.normal_form(part)
                        mass[target] = mass.get(target, fmpq(0)) + probability
                yield TAU, tuple(mass.items())
            case Sum() | Call():  # SUM, and a call does what its definition does
                for premise in premises:
                    yield from self._steps[premise]
            case Restriction(names=names):  # RES
                for action, successors in self._steps[premises[0]]:
                    if action.silent or action.name not in names:
                        yield (
                            action,
                            tuple((self._laws.restrict(names, target), mu) for target, mu in successors),
                        )
            case Parallel():  # PAR, COM
                yield from self._interleaved(premises)
                yield from self._synchronised(premises)

    def _interleaved(self, parts: tuple[Term, ...]) -> Iterator[Step]:
        for at, part in enumerate(parts):
            before, after = parts[:at], parts[at + 1 :]
            for action, successors in self._steps[part]:
                yield (
                    action,
                    tuple((self._laws.placed(before, target, after), mu) for target, mu in successors),
                )

    def _synchronised(self, parts: tuple[Term, ...]) -> Iterator[Step]:
        offers: dict[Action, list[tuple[int, Term]]] = {}
        for at, part in enumerate(parts):
            own: list[tuple[Action, Term]] = []
            for action, successors in self._steps[part]:
                if action.silent:
                    continue
                # A visible action comes from a prefix, whose successor is certain.
                target = successors[0][0]
                own.append((action, target))
                for other, its_target in offers.get(action.complement, ()):
                    moved = (*parts[:other], its_target, *parts[other + 1 : at], target, *parts[at + 1 :])
                    yield TAU, ((self._laws.parallel(moved), fmpq(1)),)
            for action, target in own:
                offers.setdefault(action, []).append((at, target))


def _entries(successors: tuple[tuple[Term, fmpq], ...]) -> int:
    return sum(len(target.parts) if isinstance(target, Parallel) else 1 for target, _ in successors)


def _check_entries(found: int, limit: int, whose: str) -> None:
    if found > limit:
        raise ModelError(
            f"the transitions of {whose} have more than the {limit} entries allowed; "
            "expected fewer processes side by side"
        )


def automaton(
    specification: Specification, *, state_limit: int | None = None, deadline: Deadline = NEVER
) -> PA:
    """Return the automaton of a specification: all that can be reached from where it starts.

    ``specification``: the definitions, and where to start.
    ``state_limit``: how many states there may be; None for what the specification says, or else 50 000.
    returns: states are named by their terms (long ones by their beginnings and a number), in the order in
        which they are first reached, breadth first; those that the specification starts from come first.
    Raises ModelError if the states are more than the limit, or one of them has grown beyond all measure.

    >>> from bisimdist.models.ccs.parser import parse_specification
    >>> model = automaton(parse_specification("X = 1/3: a.X (+) 2/3: 0;"))
    >>> model.states
    ('X', 'a.X', '0')
    """
    limit = state_limit or specification.state_limit or DEFAULT_STATE_LIMIT
    laws = LITERAL if specification.literal else LAWS
    rules = Semantics(specification.definitions, laws)
    position: dict[Term, int] = {}
    states: list[Term] = []

    def index(term: Term) -> int:
        found = position.setdefault(term, len(states))
        if found == len(states):
            if found >= limit:
                raise ModelError(
                    f"there are more than {limit} states, which is the limit; expected a finite automaton "
                    "(where it is, allow more: limit N; in the text, or metric --state-limit N)",
                    place=_place(states[-1]),
                )
            if rules.size(term) > MAX_COMPONENTS:
                raise ModelError(
                    f"a process grows beyond {MAX_COMPONENTS} components; expected a finite automaton",
                    place=_place(states[-1]) if states else "",
                )
            states.append(term)
        return found

    for start in specification.starts():
        index(laws.normal_form(start))
    transitions: list[Transition] = []
    done = 0
    while done < len(states):
        if done % 256 == 0:
            deadline.check()
        # Steps that differ in the order of their branches alone are one transition.
        found: dict[Hashable, Transition] = {}
        for action, successors in rules.steps(states[done]):
            row = tuple(sorted([(index(target), probability) for target, probability in successors]))
            key = (action, row[0][0] if len(row) == 1 else row)
            found.setdefault(key, Transition(done, str(action), row))
        transitions += found.values()
        done += 1
    names = StateNames()
    pairs = tuple((index(laws.normal_form(s)), index(laws.normal_form(t))) for s, t in specification.pairs)
    return PA(
        tuple(names.name(term, number) for number, term in enumerate(states)), tuple(transitions), pairs
    )


def _place(term: Term) -> str:
    return f"after the state {StateNames().name(term, 0).removesuffix(' #0')}"
