"""What leaks of a simpler model as what leaks of the model: bounds and proofs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from bisimdist.faces.shown.answer import Status, together
from bisimdist.faces.written.reduced import joined_document, returned_document
from bisimdist.privacy.leakage.answer import LeakageAnswer
from bisimdist.privacy.leakage.bounds import LeakageBound
from bisimdist.reductions.claim import Above, Below, Claim
from bisimdist.reductions.step import Step

if TYPE_CHECKING:
    from bisimdist.privacy.leakage.ask import LeakageProblem

Document = dict[str, Any]


def claim_of(bound: LeakageBound) -> Claim:
    """Return bounds on a leakage as a claim."""
    return Claim(
        quantity=bound.measure.shown,
        states=bound.states,
        below=Below(bound.lower),
        above=Above(bound.upper),
        about=bound,
    )


def returned(asked: LeakageProblem, found: LeakageAnswer, step: Step) -> LeakageAnswer:
    """Return an answer about the simpler model of a step as one about the model (`Problem.back`)."""
    bounds = tuple(
        _returned(asked, states, bound, step) for states, bound in zip(asked.pairs, found.pairs, strict=True)
    )
    status = found.status
    if not step.trivial and step.beside(asked.pairs[0]).keys() == {"cut"}:
        wide = asked.gap is not None and any(_wide(bound, asked) for bound in bounds)
        status = Status.LIMIT if wide or step.unfinished else Status.BRACKET
    return replace(
        found,
        model=step.before,
        measure=asked.measure,
        pairs=bounds,
        status=status,
        make_certificate=partial(_certificate, asked, found, step),
    )


def _returned(
    asked: LeakageProblem, states: tuple[str, ...], bound: LeakageBound, step: Step
) -> LeakageBound:
    inside = replace(bound, states=states, measure=asked.measure)
    claim = step.back(claim_of(inside))
    lower = asked.measure.least if claim.below is None else claim.below.value
    upper = asked.measure.most if claim.above is None else claim.above.value
    coarser = None if bound.coarser is None else replace(bound.coarser, states=states)
    beside = {} if step.trivial else step.beside(states)
    return replace(inside, lower=lower, upper=upper, coarser=coarser, **beside)


def _wide(bound: LeakageBound, asked: LeakageProblem) -> bool:
    """Tell whether bounds are further apart than was asked."""
    if bound.lower is None or asked.gap is None:
        return False
    return bound.upper is None or bound.upper - bound.lower > asked.gap


def _certificate(asked: LeakageProblem, found: LeakageAnswer, step: Step) -> Document:
    step.check_provable(asked.measure.shown)
    return returned_document(found.certificate(), step, dict.fromkeys(asked.pairs))


def joined(
    above: LeakageAnswer, below: Sequence[tuple[LeakageAnswer, int]], *, proved: bool
) -> LeakageAnswer:
    """Return the upper bounds of one answer with the lower bounds of others (`Problem.joined`)."""
    lowers = [answer.pairs[number] for answer, number in below]
    pairs = tuple(
        replace(high, lower=low.lower, unending=low.unending, member=low.member)
        for high, low in zip(above.pairs, lowers, strict=True)
    )

    exact = all(pair.exact for pair in pairs)
    status = above.status.of_bounds(exact=exact)
    if not proved:
        status = together((above.status, *(answer.status for answer, _ in below)), exact=exact)
    proof = partial(joined_document, above, below, proved=proved)
    return replace(above, pairs=pairs, status=status, make_certificate=proof)
