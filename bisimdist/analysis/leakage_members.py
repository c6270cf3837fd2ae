"""What chains in given intervals leak: upper bounds of one answer with lower ones of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bisimdist.analysis.answer import together
from bisimdist.analysis.leakage_answer import LeakageAnswer
from bisimdist.analysis.leakage_bounds import LeakageBound
from bisimdist.analysis.members import best_member, open_rows
from bisimdist.certificates.frame import Document
from bisimdist.exact.rational import format_rational
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.lmc import LMC
from bisimdist.models.worlds import Worlds
from bisimdist.progress import Deadline

__all__ = ["between", "of_members"]


def of_members(
    above: LeakageAnswer,
    worlds: Worlds,
    picked: Sequence[str],
    ask: Callable[[LMC, LeakageBound], LeakageBound],
    deadline: Deadline,
) -> LeakageAnswer:
    """Return bounds on the largest leakage of a chain in the intervals, and name one behind those from below.

    Parameters
    ----------
    above
        What leaks where nature, in one world, picks anew after every trace: at least as much.
    worlds
        The model that it asks.
    picked
        What it picks there.
    ask
        Bounds what one chain leaks.
    deadline
        When to stop; one chain is looked at anyway.
    """
    pairs = []
    for bound in above.pairs:
        chain, found = best_member(
            worlds, picked, partial(_turned, ask, bound), _more, partial(_reaches, bound), deadline
        )
        rows = open_rows(worlds.chain, chain)
        pairs.append(replace(bound, lower=found.lower, unending=found.unending, member=rows))
    status = above.status.of_bounds(exact=all(pair.exact for pair in pairs))
    return replace(above, pairs=tuple(pairs), status=status)


def between(model: IntervalChain, above: LeakageAnswer, below: LeakageAnswer) -> LeakageAnswer:
    """Return the upper bounds and the proof of one answer with the lower bounds of another.

    The proof is about a chain that leaks more, of which it claims nothing from below.
    """
    least = above.measure.least

    def proof() -> Document:
        document: dict[str, Any] = above.certificate()
        if least is not None:
            document["claims"] = [{**claim, "lower": format_rational(least)} for claim in document["claims"]]
        return document

    pairs = tuple(
        replace(high, lower=low.lower, unending=low.unending, member=low.member)
        for high, low in zip(above.pairs, below.pairs, strict=True)
    )
    status = together((above.status, below.status), exact=all(pair.exact for pair in pairs))
    return replace(above, model=model, pairs=pairs, status=status, make_certificate=proof)


def _turned(
    ask: Callable[[LMC, LeakageBound], LeakageBound], bound: LeakageBound, chain: LMC
) -> LeakageBound:
    return ask(chain, bound)


def _more(best: LeakageBound, other: LeakageBound) -> bool:
    """Tell whether the second of two is more."""
    return best.lower is not None and (other.lower is None or other.lower > best.lower)


def _reaches(most: LeakageBound, best: LeakageBound) -> bool:
    """Tell whether nothing can be more."""
    return best.lower is None or (most.upper is not None and best.lower >= most.upper)
