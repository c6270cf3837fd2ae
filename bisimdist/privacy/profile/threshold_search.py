"""The least epsilon for a wanted delta: exactly from finitely many losses, elsewhere by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.exact.simplest import simplest_between
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import EACH_STEP, known_or_rough
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.profile.ask import all_losses
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.reductions.chain import straight

DIGITS = 10
NARROWEST = fmpq(1, 2**30)  # where a bisection ends at the latest


@dataclass(frozen=True, slots=True)
class LeastAlpha(Numbers):
    """Where delta falls to a threshold: delta > threshold at `above`, delta <= threshold at `enough`.

    Parameters
    ----------
    threshold
        The threshold.
    above
        An alpha that is not enough; None where there is none, or none was found.
    enough
        An alpha that is enough; None where none was found.
    exact
        Whether `enough` is the least alpha itself.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.privacy.least_alpha(chain, "1/10").enough
    5/4
    """

    threshold: Exact
    above: Exact | None
    enough: Exact | None
    exact: bool

    def data(self) -> dict[str, object]:
        """Return the two sides as plain data."""

        def shown(alpha: fmpq | None) -> dict[str, object] | None:
            if alpha is None:
                return None
            return {"ratio": format_rational(alpha), "epsilon": list(log_enclosure(alpha, DIGITS))}

        return {
            "threshold": format_rational(self.threshold),
            "not_enough": shown(self.above),
            "enough": shown(self.enough),
            "exact": self.exact,
        }

    def __str__(self) -> str:
        theta = format_rational(self.threshold)
        if self.enough is None:
            if self.exact:
                return f"No epsilon brings delta down to {theta}."
            return f"Which epsilon brings delta down to {theta} was not decided within the limits."
        at_most = f"ln({short_rational(self.enough)}) <= {log_enclosure(self.enough)[1]}"
        if self.exact:
            return f"The least epsilon with delta <= {theta} is {at_most}."
        if self.above is None:
            return f"delta <= {theta} holds for epsilon = {at_most}."
        lower = log_enclosure(self.above)[0]
        return f"The least epsilon with delta <= {theta} lies above {lower} and is at most {at_most}."


@interruptible
def least_alpha(  # noqa: PLR0913
    model: AnyModel,
    threshold: ExactNumber,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    precision: ExactNumber = "1e-6",
    runs: int = 1,
    rounds: int | None = None,
    nature: str = EACH_STEP,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> LeastAlpha:
    """Find the least alpha = e^epsilon for which delta is at most a threshold.

    Where the losses are finitely many it is computed exactly; otherwise by bisection on short rationals, each
    step of which is decided by certified bounds.

    Parameters
    ----------
    model, pairs, runs, rounds, nature, deadline, memory, progress
        As for `profile`.
    threshold
        From 0 to 1.
    precision
        How far apart, relative to alpha - 1, the two sides of the bisection may stay.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    LeastAlpha
        An alpha that is enough, one that is not, and whether they are as close as can be.

    Raises
    ------
    UsageError
        If a number is out of range.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> str(least_alpha(figure1(), "1/10").enough)
    '5/4'
    """
    system = known_or_rough(model)
    theta, width = to_fmpq(threshold), to_fmpq(precision)
    if not 0 <= theta <= 1:
        raise UsageError(f"the threshold is {format_rational(theta)}; expected a number from 0 to 1")
    if width <= 0:
        raise UsageError(f"the precision is {format_rational(width)}; expected a positive number")
    asked = asked_states(system, pairs)
    losses = None
    inner, steps = straight(system)
    if isinstance(inner, LMC) and all(step.trivial for step in steps):
        losses = all_losses(inner, asked, runs, deadline)
    if losses is not None:
        found = [one.least_alpha(theta) for one in losses]
        if any(alpha is None for alpha in found):
            return LeastAlpha(theta, None, None, True)
        least = max(alpha for alpha in found if alpha is not None)
        return LeastAlpha(theta, None, least, True)
    if runs > 1:
        raise UsageError("several runs need finitely many losses, which this chain does not have")
    names = tuple((system.states[s], system.states[t]) for s, t in asked)

    def decide(alpha: fmpq) -> bool | None:
        gap = fmpq(1, 16)
        while gap > theta * fmpq(1, 10**6) / 4 or gap > fmpq(1, 10**9):
            answer = delta(
                system,
                alpha,
                pairs=names,
                gap=gap,
                worst=True,
                rounds=rounds,
                nature=nature,
                deadline=deadline,
                memory=memory,
                progress=progress,
            )
            if answer.upper <= theta:
                return True
            if answer.lower > theta:
                return False
            if answer.status is Status.LIMIT or answer.lower == answer.upper:
                return None
            gap /= 64
        return None

    return _bisected(decide, theta, width)


def _bisected(decide: Callable[[fmpq], bool | None], theta: fmpq, width: fmpq) -> LeastAlpha:
    first = decide(fmpq(1))
    if first:
        return LeastAlpha(theta, None, fmpq(1), True)
    # a tie at alpha = 1 may stay open for ever, and just above it be decided at once
    above = None if first is None else fmpq(1)
    low, step = fmpq(1), fmpq(1, 1024)
    enough = None
    while enough is None and step <= 2**40:
        verdict = decide(1 + step)
        if verdict:
            enough = 1 + step
        elif verdict is None:
            return LeastAlpha(theta, above, None, False)
        else:
            above = low = 1 + step
            step *= 4
    if enough is None:
        return LeastAlpha(theta, above, None, False)
    while enough - low > max(width * (enough - 1), NARROWEST):
        quarter = (enough - low) / 4
        middle = simplest_between(low + quarter, enough - quarter)
        verdict = decide(middle)
        if verdict is None:
            break
        if verdict:
            enough = middle
        else:
            above = low = middle
    return LeastAlpha(theta, above, enough, False)
