"""Terms of CCS_p.

Terms may be as deep as memory allows (a chain of a hundred thousand prefixes is one): equality, hashing and
everything else that walks a term keeps its own stack.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.exact.rational import shorten_rational
from bisimdist.models.labelled import MAX_ROW_BITS

ACTION_NAME = re.compile(r"[a-z_][A-Za-z0-9_]*")
PROCESS_NAME = re.compile(r"[A-Z][A-Za-z0-9_]*")
KEYWORDS = frozenset({"limit", "main", "nu", "pairs", "tau"})


def check_action_name(name: str) -> None:
    """Refuse what is no name of an action."""
    if not ACTION_NAME.fullmatch(name) or name in KEYWORDS:
        raise ModelError(
            f"{name[:40]!r} is no name of an action; expected a lower-case letter or _, then letters, digits "
            f"and _, and none of {', '.join(sorted(KEYWORDS))}"
        )


def check_process_name(name: str) -> None:
    """Refuse what is no name of a process."""
    if not PROCESS_NAME.fullmatch(name):
        raise ModelError(
            f"{name[:40]!r} is no name of a process; "
            "expected an upper-case letter, then letters, digits and _"
        )


@dataclass(frozen=True, slots=True)
class Action:
    """What a prefix does: ``a``, its co-action ``~a``, or the silent ``tau``.

    ``name``: the name of the channel; ``"tau"`` for the silent action.
    ``co``: whether this is the co-action; the silent action has none.

    >>> str(Action("a").complement)
    '~a'
    """

    name: str
    co: bool = False

    def __post_init__(self) -> None:
        if self.name == "tau":
            if self.co:
                raise ModelError("tau has no co-action; expected tau or the name of an action")
            return
        check_action_name(self.name)

    @property
    def silent(self) -> bool:
        """Whether this is tau."""
        return self.name == "tau"

    @property
    def complement(self) -> Action:
        """The action that synchronises with this one; tau has none and is returned itself."""
        return self if self.silent else Action(self.name, not self.co)

    def __str__(self) -> str:
        return f"~{self.name}" if self.co else self.name


TAU = Action("tau")  # the silent action


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Term:
    """A term of the calculus; equal terms are those that are written alike.

    The hash is taken from those of the parts when the term is made, so that hashing costs nothing later.
    """

    _hash: int = field(init=False)

    level: ClassVar[int] = 4  # how tightly the outermost operator binds; 4 for what never needs parentheses

    def _seal(self) -> None:
        parts = [part._hash for part in self.children()]
        object.__setattr__(self, "_hash", hash((type(self).__name__, self.data(), *parts)))

    def children(self) -> tuple[Term, ...]:
        """Return the parts of the term that are terms."""
        return ()

    def data(self) -> Hashable:
        """Return what the term consists of beside its children."""
        return None

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Term):
            return NotImplemented
        if self is other:
            return True
        stack: list[tuple[Term, Term]] = [(self, other)]
        while stack:
            left, right = stack.pop()
            ours, theirs = left.children(), right.children()
            if (
                type(left) is not type(right)
                or left._hash != right._hash
                or left.data() != right.data()
                or len(ours) != len(theirs)
            ):
                return False
            stack += [pair for pair in zip(ours, theirs, strict=True) if pair[0] is not pair[1]]
        return True

    def __str__(self) -> str:
        from bisimdist.models.ccs.printer import format_term  # noqa: PLC0415 - the printer needs the terms

        return format_term(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nil(Term):
    """The process ``0``, which does nothing."""

    def __post_init__(self) -> None:
        self._seal()


NIL = Nil()  # the process that does nothing


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Prefix(Term):
    """``a.P``: does `action`, then behaves like `body`."""

    action: Action
    body: Term

    level: ClassVar[int] = 3

    def __post_init__(self) -> None:
        self._seal()

    def children(self) -> tuple[Term, ...]:
        """Return the body."""
        return (self.body,)

    def data(self) -> Hashable:
        """Return the action."""
        return self.action


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Probabilistic(Term):
    """``p: P (+) q: Q (+) ...``: chooses a branch at random, silently.

    ``branches``: probabilities, which sum to one, and terms; at least one. A branch of probability 0 is never
        chosen.
    Raises ModelError if the probabilities are negative or do not sum to one.
    """

    branches: tuple[tuple[fmpq, Term], ...]

    level: ClassVar[int] = 0

    def __post_init__(self) -> None:
        total = fmpq(0)
        for probability, _ in self.branches:
            if probability < 0:
                raise ModelError(
                    f"the probability is {shorten_rational(probability)}; expected a number in [0, 1]"
                )
            total += probability
            if total.q.bit_length() > MAX_ROW_BITS:
                raise ModelError(
                    f"the common denominator of the probabilities is longer than the {MAX_ROW_BITS} bits "
                    "allowed"
                )
        if total != 1:
            raise ModelError(f"the probabilities sum to {shorten_rational(total)}; expected 1")
        self._seal()

    def children(self) -> tuple[Term, ...]:
        """Return the terms of the branches."""
        return tuple(term for _, term in self.branches)

    def data(self) -> Hashable:
        """Return the probabilities."""
        return tuple(probability for probability, _ in self.branches)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Several(Term):
    parts: tuple[Term, ...]

    called: ClassVar[str]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise ModelError(f"a {self.called} has {len(self.parts)} part; expected at least two")
        self._seal()

    def children(self) -> tuple[Term, ...]:
        """Return the parts."""
        return self.parts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sum(_Several):
    """``P + Q + ...``: behaves like one of the `parts`, at least two; the environment chooses."""

    level: ClassVar[int] = 1
    called = "sum"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Parallel(_Several):
    """``P | Q | ...``: the `parts`, at least two, side by side; co-actions synchronise into tau."""

    level: ClassVar[int] = 2
    called = "parallel composition"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Restriction(Term):
    """``(nu a, b) P``: behaves like `body`, but does neither `names` nor their co-actions."""

    names: tuple[str, ...]
    body: Term

    level: ClassVar[int] = 3

    def __post_init__(self) -> None:
        if not self.names:
            raise ModelError("a restriction names no action; expected at least one, such as (nu a) P")
        for name in self.names:
            check_action_name(name)
        self._seal()

    def children(self) -> tuple[Term, ...]:
        """Return the body."""
        return (self.body,)

    def data(self) -> Hashable:
        """Return the names."""
        return self.names


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Call(Term):
    """``X`` or ``X(a, b)``: behaves like the definition of `name`, with `arguments` for its parameters."""

    name: str
    arguments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_process_name(self.name)
        for argument in self.arguments:
            check_action_name(argument)
        self._seal()

    def data(self) -> Hashable:
        """Return the name and the arguments."""
        return (self.name, self.arguments)


def subterms(term: Term) -> Iterator[Term]:
    """Iterate over a term and everything in it, outermost and leftmost first."""
    stack = [term]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children()))
