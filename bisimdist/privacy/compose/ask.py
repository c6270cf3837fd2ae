"""Composition: bounds on delta and epsilon of a list of independent mechanisms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.exact.doubles import as_double
from bisimdist.exact.number import Exact
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.faces.shown.numbers import at_most
from bisimdist.privacy.compose.answer import Composition, DeltaPoint, EpsilonPoint
from bisimdist.privacy.compose.engine.accountant import Accountant, Terms
from bisimdist.privacy.compose.events import listed
from bisimdist.privacy.compose.mechanisms import RELATIONS, Mechanism, merged, read_mechanism
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["Composition", "DeltaPoint", "EpsilonPoint", "checked", "compose"]

LEAST_WIDTH = 1e-9


def compose(  # noqa: PLR0913
    mechanisms: Sequence[Any] | Any,
    *,
    relation: str = "add-remove",
    width: ExactNumber = "1/1000",
    read: Callable[[str], str] = str,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
) -> Composition:
    """Compose independent mechanisms: bound delta and epsilon of all of them together, proved on both sides.

    Parameters
    ----------
    mechanisms
        A list of mappings, each with one kind of mechanism and perhaps ``times``, such as
        ``{"gaussian": {"sigma": 10}, "times": 100}``; or a ``DpEvent`` of dp_accounting.
    relation
        ``"add-remove"`` (the worse of both directions), ``"remove"``, ``"add"`` or ``"replace"``.
    width
        How far apart the bounds may be, relative to them: more than 0.
    read
        Returns the path of a file that an entry names.
    deadline, memory, progress
        When to stop with the bounds that are proved, how many bytes to use at most, and whom to tell.

    Returns
    -------
    Composition
        It answers ``delta(epsilon)``, ``epsilon(delta)`` and ``curve()``, and proves its answers.

    Raises
    ------
    ModelError
        If an entry is no mechanism; the error says which.
    UsageError
        If there is no such relation, or the width is out of range.

    Notes
    -----
    The method, with proofs, is in ``docs/theory/composition.md``. From above it rests on the chord of each
    cell of the loss ([1]_, there in doubles), from below on post-processing.

    References
    ----------
    .. [1] Doroshenko, Ghazi, Kamath, Kumar, Manurangsi, "Connect the dots: tighter discrete approximations of
       privacy loss distributions", PoPETs 2022.

    Examples
    --------
    >>> both = compose([{"pure": {"epsilon": "1/10"}, "times": 3}, {"randomised-response": {"truth": "3/4"}}])
    >>> both.delta(2).upper
    0
    """
    given = checked(mechanisms, relation=relation, read=read)
    wide = to_fmpq(width)
    if not LEAST_WIDTH < as_double(wide) <= 1:
        raise UsageError(
            f"the width is {format_rational(wide)}; expected a number above {LEAST_WIDTH}, at most 1"
        )
    found = merged(given)
    names = RELATIONS[relation]
    if all(mechanism.back is None for mechanism in found):
        names = names[:1]
    losses = {name: [one.losses(name) for one in found] for name in names}
    terms = Terms(wide, deadline, progress, memory)
    notes = []
    for mechanism in found:
        kind = next(iter(mechanism.spec))
        if mechanism.laws[1] is None:
            notes.append(
                f"Of one {kind} an upper bound alone is known: the lower side counts it as no mechanism."
            )
        elif mechanism.laws[1] is not mechanism.laws[0]:
            notes.append(f"Of {kind} both sides are about different laws, so they need not come together.")
        said = mechanism.spec[kind]
        while "of" in said:
            said = next(iter(said["of"].values()))
        if "cut" in said:
            masses = " and ".join(at_most(to_fmpq(mass)) for mass in said["cut"])
            notes.append(
                f"Runs of a program are cut off with probabilities {masses}: the bounds allow for whatever"
                " they would do, so they need not come together; a smaller cut brings them closer."
            )
    return Composition(
        entries=given,
        mechanisms=found,
        relation=relation,
        width=Exact(wide),
        accountant=Accountant(losses, terms),
        notes=tuple(dict.fromkeys(notes)),
    )


def checked(
    mechanisms: Sequence[Any] | Any, *, relation: str = "add-remove", read: Callable[[str], str] = str
) -> list[Mechanism]:
    """Return the mechanisms of a list: what is not usable is refused, and nothing is computed.

    mechanisms, relation, read: as for `compose`.
    Raises ModelError or UsageError as `compose`.

    >>> [one.spec for one in checked([{"laplace": {"scale": 2}}])]
    [{'laplace': {'scale': '2', 'sensitivity': '1'}}]
    """
    if relation not in RELATIONS:
        raise UsageError(f"the relation is {relation[:40]!r}; expected {', '.join(RELATIONS)}")
    entries = listed(mechanisms, relation)
    if not entries:
        raise UsageError("the list has no mechanisms; expected at least one")
    return [read_mechanism(entry, relation, k, read) for k, entry in enumerate(entries, start=1)]
