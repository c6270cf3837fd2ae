"""Privacy claims as tests: `assert_private` fails where a mechanism does not keep its promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import alpha_below, log_enclosure
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.faces.shown.numbers import at_least, at_most
from bisimdist.models.worlds import EACH_STEP
from bisimdist.privacy.delta.ask import delta as true_delta
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.front import DEFAULT_GAP, explored
from bisimdist.programs.ratios import least_alpha
from bisimdist.programs.request import Request
from bisimdist.progress import Deadline, Limits

if TYPE_CHECKING:
    from bisimdist.privacy.delta.answer import DeltaAnswer

Pair = tuple[Any, Any]

EXAMPLES = 25
"""So many pairs of neighbours a hypothesis strategy gives."""


PAGE = 20.0
"""How many seconds the parts of a page beside the bounds may take."""


class NotPrivate(AssertionError):  # noqa: N818 - what it says of the mechanism
    """A mechanism leaks more than is claimed.

    Attributes
    ----------
    answer
        The bounds on delta for the pair, with the event, as `bisimdist.delta` returns them.
    mechanism
        What the mechanism is called.
    """

    def __init__(self, reason: str, *, answer: DeltaAnswer, mechanism: str) -> None:
        super().__init__(reason)
        self.answer = answer
        self.mechanism = mechanism

    def page(self, reproduce: str) -> str:
        """Return a page about the pair with its proof, as ``bisimdist report --with-proof`` writes it.

        Parts beside the bounds that take longer than some twenty seconds are left out.

        Parameters
        ----------
        reproduce
            The command that fails.
        """
        from bisimdist.privacy.report.page import decision, decision_page  # noqa: PLC0415 - it loads much

        worst = self.answer.worst
        pairs = [(worst.source, worst.target)]
        limits = Limits(deadline=Deadline.after(PAGE))
        found = decision(
            self.answer.model, self.answer, pairs=pairs, limits=limits, rounds=None, nature=EACH_STEP
        )
        found = replace(found, carry=True)
        return decision_page(found, self.answer.report(), named=self.mechanism, reproduce=reproduce)


def assert_private(  # noqa: PLR0913
    mechanism: Callable[..., Any] | str,
    *,
    neighbours: Iterable[Pair] | Any,
    epsilon: ExactNumber | None = None,
    alpha: ExactNumber | None = None,
    delta: ExactNumber = 0,
    examples: int = EXAMPLES,
    timeout: float | None = None,
    observe: str = "output",
    allow: Iterable[str] = (),
) -> None:
    """Assert that a mechanism is (epsilon, delta)-differentially private for pairs of neighbouring inputs.

    Parameters
    ----------
    mechanism
        The function, of one input; or ``FILE.py:FUNCTION``.
    neighbours
        The pairs, or a hypothesis strategy that draws them. Both directions of a pair are tested.
    epsilon, alpha
        The claim: one of them, as an exact number or a text such as ``"1.1"``; alpha stands for e^epsilon.
    delta
        The delta of the claim.
    examples
        How many pairs a strategy draws.
    timeout
        Seconds for each pair; by default no limit.
    observe
        What an observer sees, as for `bisimdist.explore`.
    allow
        What a program may do beside computing, such as ``"clock"``.

    Raises
    ------
    NotPrivate
        If the claim is wrong, or was not decided within the limit.

    Examples
    --------
    >>> import random
    >>> def respond(x):
    ...     return x if random.random() < 0.75 else 1 - x
    >>> assert_private(respond, neighbours=[(0, 1)], alpha=3)
    >>> assert_private(respond, neighbours=[(0, 1)], alpha="2.9")
    Traceback (most recent call last):
        ...
    bisimdist.testing.NotPrivate: respond is not private for the inputs 0 and 1 at alpha = 2.9: ...
    """
    if (epsilon is None) == (alpha is None):
        raise UsageError("expected one of epsilon and alpha")
    claimed = to_fmpq(delta)

    def check(pair: Pair) -> None:
        _check(mechanism, pair, epsilon, alpha, claimed, timeout, observe, frozenset(allow))

    if hasattr(neighbours, "example") and hasattr(neighbours, "map"):
        strategy: Any = neighbours
        from hypothesis import HealthCheck, given, settings  # noqa: PLC0415 - an extra

        settings(
            max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None
        )(given(strategy)(check))()  # type: ignore[no-untyped-call]
        return
    pairs = list(neighbours)
    if not pairs or not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in pairs):
        raise UsageError(f"neighbours={neighbours!r}: expected pairs of inputs, such as [(0, 1)]")
    for pair in pairs:
        check(pair)


def _check(  # noqa: PLR0913, PLR0917
    mechanism: Callable[..., Any] | str,
    pair: Pair,
    epsilon: ExactNumber | None,
    alpha: ExactNumber | None,
    claimed: fmpq,
    timeout: float | None,
    observe: str,
    allowed: frozenset[str],
) -> None:
    names = [repr(value) for value in pair]
    if names[0] == names[1]:
        return
    least = to_fmpq(alpha) if alpha is not None else alpha_below(to_fmpq(epsilon))
    deadline = Deadline.after(timeout)
    request = Request(
        observe, gap=DEFAULT_GAP / 2, alpha=least, deadline=deadline, patient=False, allowed=allowed
    )
    chain = explored(mechanism, dict(zip(names, pair, strict=True)), request)
    if not isinstance(chain, ProgramChain):
        raise UsageError("the mechanism asks an analyst; expected one that returns an output")
    answer = true_delta(chain, alpha, epsilon=epsilon, deadline=deadline)
    if answer.lower <= claimed < answer.upper:  # perhaps only because e^epsilon is rounded
        near = {"gap": answer.upper - answer.lower, "threshold": claimed}
        answer = true_delta(chain, alpha, epsilon=epsilon, deadline=deadline, **near)
    if answer.upper <= claimed:
        return
    said = f"alpha = {alpha}" if alpha is not None else f"epsilon = {epsilon}"
    called = mechanism if isinstance(mechanism, str) else getattr(mechanism, "__qualname__", str(mechanism))
    reason = _reason(called, chain, answer, names, said, claimed)
    raise NotPrivate(reason, answer=answer, mechanism=called)


def _reason(  # noqa: PLR0913, PLR0917
    called: str,
    chain: ProgramChain,
    answer: DeltaAnswer,
    names: list[str],
    said: str,
    claimed: fmpq,
) -> str:
    about = f"the inputs {names[0]} and {names[1]} at {said}"
    if answer.lower <= claimed:
        return (
            f"it is not decided whether {called} is private for {about}: delta lies between "
            f"{at_least(answer.lower)} and {at_most(answer.upper)}, and {claimed} is claimed"
        )
    lines = [
        f"{called} is not private for {about}: delta is at least {at_least(answer.lower)}, not {claimed}"
    ]
    worst = answer.worst
    found = worst.witness_in_time()
    if found is not None:
        event = _outputs(found.event.data())
        lines.append(
            f"  the outputs {event} have probability {at_least(found.probability_from)} from {found.source} "
            f"and {at_most(found.probability_to)} from {found.target}"
        )
    for parting in chain.origin.partings.get((worst.source, worst.target), ())[:2]:
        lines.append(f"  {parting.file or 'in the function'}: {parting.text}")
    alpha = least_alpha(chain, worst.source, worst.target, claimed)
    lines.append(
        "  no epsilon would hold with this delta"
        if alpha is None
        else f"  the least epsilon that holds with this delta is {log_enclosure(alpha)[1]}"
    )
    return "\n".join(lines)


def _outputs(event: Mapping[str, Any]) -> str:
    labels = [label for node in event["nodes"] for label, goal in node.items() if goal == "accept"]
    return ", ".join(labels[:6]) + (f" and {len(labels) - 6} more" if len(labels) > 6 else "")
