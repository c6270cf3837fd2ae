"""Specifications of CCS_p: definitions, with the processes to start from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bisimdist.errors import ModelError
from bisimdist.models.ccs.syntax import (
    Call,
    Parallel,
    Restriction,
    Sum,
    Term,
    check_action_name,
    check_process_name,
    subterms,
)
from bisimdist.models.reach import all_reached

DEFAULT_STATE_LIMIT = 50_000  # how many states an automaton may have where nothing else is said


@dataclass(frozen=True, slots=True)
class Definition:
    """``X(a, b) = P``: what a name stands for."""

    name: str
    parameters: tuple[str, ...]  # names of actions, all different, which a call replaces
    body: Term

    def __post_init__(self) -> None:
        check_process_name(self.name)
        for parameter in self.parameters:
            check_action_name(parameter)
        if len(set(self.parameters)) != len(self.parameters):
            twice = next(p for i, p in enumerate(self.parameters) if p in self.parameters[:i])
            raise ModelError(
                f"the parameter {twice!r} is written twice; expected different parameters",
                place=f"the definition of {self.name}",
            )


@dataclass(frozen=True, slots=True)
class Specification:
    """What a `.ccsp` text says, validated when it is made.

    ``main``: the processes to start from, beside those of the pairs.
    ``state_limit``: how many states the automaton may have; None for the default of 50 000.
    ``literal``: whether the rules are taken to the letter, so that no two different terms are one state.
    Raises ModelError if a name is defined twice or not at all, a call has another number of arguments than
    its definition has parameters, a definition calls itself before it has done anything (unguarded
    recursion), or there is nothing to start from.
    """

    definitions: tuple[Definition, ...]
    main: tuple[Term, ...] = ()
    pairs: tuple[tuple[Term, Term], ...] = ()
    state_limit: int | None = None
    literal: bool = False

    def __post_init__(self) -> None:
        arities: dict[str, int] = {}
        for definition in self.definitions:
            if definition.name in arities:
                raise ModelError(
                    f"{definition.name} is defined twice; expected one definition of each name",
                    place=f"the definition of {definition.name}",
                )
            arities[definition.name] = len(definition.parameters)
        for definition in self.definitions:
            _check_calls(definition.body, arities, f"the definition of {definition.name}")
        for term in self.main:
            _check_calls(term, arities, "main")
        for number, pair in enumerate(self.pairs, start=1):
            for term in pair:
                _check_calls(term, arities, f"pair number {number}")
        if self.state_limit is not None and self.state_limit < 1:
            raise ModelError(f"the limit is {self.state_limit} states; expected at least 1")
        circle = unguarded_circle(self.definitions)
        if circle:
            raise ModelError(unguarded_message(circle), place=f"the definition of {circle[0]}")
        if not self.starts():
            raise ModelError("there is no process to start from; expected main, pairs or a definition")

    def starts(self) -> tuple[Term, ...]:
        """Return where the automaton begins: main and the pairs, or else every definition without parameters.

        Each term comes once, main first.
        """
        terms = list(self.main)
        for pair in self.pairs:
            terms += pair
        if not terms:
            terms = [Call(definition.name) for definition in self.definitions if not definition.parameters]
        return tuple(dict.fromkeys(terms))

    def __str__(self) -> str:
        from bisimdist.models.ccs.printer import format_specification  # noqa: PLC0415 - as in Term

        return format_specification(self)


def undefined_message(name: str) -> str:
    """Return what is wrong with a call of a name that has no definition."""
    return f"{name[:40]} is not defined; expected the name of a definition"


def arity_message(name: str, given: int, expected: int) -> str:
    """Return what is wrong with a call that has another number of arguments than its definition."""
    return f"{name} is called with {given} arguments; expected {expected}, as many as its parameters"


def _check_calls(term: Term, arities: dict[str, int], place: str) -> None:
    for part in subterms(term):
        if isinstance(part, Call):
            if part.name not in arities:
                raise ModelError(undefined_message(part.name), place=place)
            if len(part.arguments) != arities[part.name]:
                raise ModelError(
                    arity_message(part.name, len(part.arguments), arities[part.name]), place=place
                )


def _unguarded_calls(term: Term) -> Iterator[str]:
    """Iterate over the names that are called before anything has been done."""
    stack = [term]
    while stack:
        current = stack.pop()
        if isinstance(current, Call):
            yield current.name
        elif isinstance(current, Sum | Parallel | Restriction):
            stack.extend(reversed(current.children()))


def unguarded_circle(definitions: Iterable[Definition]) -> tuple[str, ...]:
    """Return names that call each other in a circle before anything has been done; empty if there are none.

    Only the names count: that a parameter might break the circle is not considered, and cannot.
    """
    calls = {
        definition.name: tuple(dict.fromkeys(_unguarded_calls(definition.body))) for definition in definitions
    }
    finished: set[str] = set()
    for root in calls:
        path: list[str] = []
        on_path: set[str] = set()
        waiting = [iter((root,))]
        while waiting:
            name = next(waiting[-1], None)
            if name is None:
                waiting.pop()
                if path:
                    done = path.pop()
                    on_path.discard(done)
                    finished.add(done)
                continue
            if name in on_path:
                return tuple(path[path.index(name) :])
            if name in finished or name not in calls:
                continue
            path.append(name)
            on_path.add(name)
            waiting.append(iter(calls[name]))
    return ()


def growing_definition(definitions: Iterable[Definition]) -> str | None:
    """Return the name of a definition that calls itself beside others or under a restriction, if any does.

    Without one the automaton is finite: calls replace one another, and the rest only gets shorter. With one
    it may be finite or not.
    """
    calls: dict[str, list[tuple[str, bool]]] = {}
    for definition in definitions:
        found = calls[definition.name] = []
        stack: list[tuple[Term, bool]] = [(definition.body, False)]
        while stack:
            term, beside = stack.pop()
            if isinstance(term, Call):
                found.append((term.name, beside))
            beside = beside or isinstance(term, Parallel | Restriction)
            stack += [(part, beside) for part in reversed(term.children())]

    def after(name: str) -> list[str]:
        return [other for other, _ in calls[name]]

    for name, called in calls.items():
        if name in all_reached((other for other, beside in called if beside), after):
            return name
    return None


def unguarded_message(circle: tuple[str, ...]) -> str:
    """Return what is wrong with a circle of unguarded calls."""
    shown = [*circle, circle[0]] if len(circle) <= 5 else [*circle[:4], "...", circle[0]]
    return (
        f"the definition is not guarded: {' calls '.join(shown)} before any action; "
        "expected a prefix or a probabilistic choice on the way"
    )
