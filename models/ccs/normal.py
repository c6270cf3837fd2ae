"""Terms as states: the laws that hold between them, and what a call stands for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bisimdist.errors import ModelError
from bisimdist.models.ccs.specification import Definition
from bisimdist.models.ccs.syntax import (
    NIL,
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


def parallel(parts: Iterable[Term]) -> Term:
    """Compose normal terms in parallel: nested compositions are merged, and ``0`` disappears.

    >>> from bisimdist.models.ccs.parser import parse_term
    >>> parallel([parse_term("a.0 | b.0"), NIL, parse_term("c.0")])
    <Parallel a.0 | b.0 | c.0>
    """
    merged: list[Term] = []
    for part in parts:
        if isinstance(part, Parallel):
            merged += part.parts
        elif not isinstance(part, Nil):
            merged.append(part)
    if len(merged) > 1:
        return Parallel(tuple(merged))
    return merged[0] if merged else NIL


def placed(before: tuple[Term, ...], part: Term, after: tuple[Term, ...]) -> Term:
    """Compose normal terms in parallel, of which only `part` may be ``0`` or a composition itself.

    This is `parallel`, but copies the many components that have not moved all at once.
    """
    if isinstance(part, Parallel):
        return Parallel(before + part.parts + after)
    parts = before + after if isinstance(part, Nil) else (*before, part, *after)
    if len(parts) > 1:
        return Parallel(parts)
    return parts[0] if parts else NIL


def restrict(names: tuple[str, ...], body: Term) -> Term:
    """Restrict a normal term: nested restrictions are merged, and ``0`` stays ``0``."""
    if isinstance(body, Nil):
        return NIL
    if isinstance(body, Restriction):
        return Restriction(names + body.names, body.body)
    return Restriction(names, body)


def _merged(term: Restriction) -> Restriction:
    """Return one restriction for a chain of them; one after the other would take quadratic time."""
    names: list[str] = []
    body: Term = term
    while isinstance(body, Restriction):
        names += body.names
        body = body.body
    return Restriction(tuple(names), body)


def rebuilt(term: Term, parts: Sequence[Term]) -> Term:
    """Return a term with other children, as many as it has."""
    match term:
        case Prefix(action=action):
            return Prefix(action, parts[0])
        case Restriction(names=names):
            return Restriction(names, parts[0])
        case Sum():
            return Sum(tuple(parts))
        case Parallel():
            return Parallel(tuple(parts))
        case Probabilistic(branches=branches):
            return Probabilistic(
                tuple((probability, part) for (probability, _), part in zip(branches, parts, strict=True))
            )
    return term


def normal_form(term: Term) -> Term:
    """Apply the laws to a term as far as its prefixes, choices and calls, which are left as they are.

    >>> from bisimdist.models.ccs.parser import parse_term
    >>> normal_form(parse_term("(nu a) (nu b) (0 | (a.0 | (b.(0 | 0) | X)) | 0)"))
    <Restriction (nu a, b) (a.0 | b.(0 | 0) | X)>
    """
    if not isinstance(term, Parallel | Restriction):
        return term
    done: list[Term] = []
    waiting: list[tuple[Term, bool]] = [(term, False)]
    while waiting:
        current, ready = waiting.pop()
        if not isinstance(current, Parallel | Restriction):
            done.append(current)
        elif not ready:
            if isinstance(current, Restriction):
                current = _merged(current)
            waiting.append((current, True))
            waiting.extend((part, False) for part in reversed(current.children()))
        elif isinstance(current, Restriction):
            done.append(restrict(current.names, done.pop()))
        else:
            parts = done[-len(current.parts) :]
            del done[-len(current.parts) :]
            done.append(parallel(parts))
    return done[0]


@dataclass(frozen=True, slots=True)
class Laws:
    """Which terms are one state: how a term is made a state, and how states are composed."""

    normal_form: Callable[[Term], Term]
    parallel: Callable[[Iterable[Term]], Term]
    placed: Callable[[tuple[Term, ...], Term, tuple[Term, ...]], Term]
    restrict: Callable[[tuple[str, ...], Term], Term]


LAWS = Laws(normal_form, parallel, placed, restrict)

LITERAL = Laws(
    lambda term: term,
    lambda parts: Parallel(tuple(parts)),
    lambda before, part, after: Parallel((*before, part, *after)),
    Restriction,
)  # no laws: the rules to the letter, where ``P | 0`` is another state than ``P``


class Instances:
    """What calls stand for: the bodies of definitions, with arguments for parameters."""

    def __init__(self, definitions: Iterable[Definition], laws: Laws = LAWS) -> None:
        self._laws = laws
        self._definitions = {definition.name: definition for definition in definitions}
        self._known: dict[Call, Term] = {}

    def body(self, call: Call) -> Term:
        """Return the state that a call stands for.

        Raises ModelError if an argument would be captured by a restriction in the definition.
        """
        known = self._known.get(call)
        if known is None:
            definition = self._definitions[call.name]
            body = definition.body
            if call.arguments != definition.parameters:
                body = _substituted(definition, dict(zip(definition.parameters, call.arguments, strict=True)))
            known = self._known[call] = self._laws.normal_form(body)
        return known


def _substituted(definition: Definition, renaming: Mapping[str, str]) -> Term:
    """Replace parameters; a restriction of a parameter's own name hides the parameter."""

    def name_of(name: str, env: Mapping[str, str], bound: frozenset[str]) -> str:
        new = env.get(name, name)
        if new != name and new in bound:
            raise ModelError(
                f"the argument {new} for {name} would be captured by (nu {new}); "
                "expected another name in the restriction or in the call",
                place=f"the definition of {definition.name}",
            )
        return new

    done: list[Term] = []
    waiting: list[tuple[Term, Mapping[str, str], frozenset[str], bool]] = [
        (definition.body, renaming, frozenset(), False)
    ]
    while waiting:
        term, env, bound, ready = waiting.pop()
        children = term.children()
        if not ready and children:
            waiting.append((term, env, bound, True))
            if isinstance(term, Restriction):
                env = {name: new for name, new in env.items() if name not in term.names}
                bound = bound | frozenset(term.names)
            waiting.extend((part, env, bound, False) for part in reversed(children))
            continue
        if isinstance(term, Call):
            done.append(Call(term.name, tuple(name_of(name, env, bound) for name in term.arguments)))
            continue
        parts = done[len(done) - len(children) :]
        del done[len(done) - len(children) :]
        if isinstance(term, Prefix) and not term.action.silent:
            done.append(Prefix(Action(name_of(term.action.name, env, bound), term.action.co), parts[0]))
        else:
            done.append(rebuilt(term, parts))
    return done[0]
