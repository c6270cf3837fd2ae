"""What is asked of labelled Markov chains."""

from __future__ import annotations

from itertools import combinations, pairwise

from flint import fmpq

from bisimdist.distances.bound.ask import bd_threshold, bound
from bisimdist.faces.shown.answer import Status
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, action_labelled_lmc
from bisimdist.privacy.compare.ask import compare
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.profile.ask import profile
from bisimdist.privacy.profile.threshold_search import least_alpha
from tests.campaign.desk import Desk, Question
from tests.reference.acyclic_bd import acyclic_bd
from tests.reference.kleene import iterate_above, iterate_below
from tests.reference.traces import true_delta

__all__ = ["QUESTIONS", "chain_of"]

LENGTH = 5
ROUNDS = 4


def chain_of(desk: Desk) -> LMC | None:
    """Return the model as a chain, if it is one."""
    if isinstance(desk.model, PA):
        return action_labelled_lmc(desk.model) if desk.model.fully_probabilistic else None
    return desk.model if isinstance(desk.model, LMC) else None


def _distance(desk: Desk) -> None:
    chain = chain_of(desk)
    if chain is None:
        return
    small = len(chain) <= 4
    pairs = list(combinations(chain.states, 2)) if small else None
    kind = desk.source.choice(("bd", "bd", "lbd"))
    precision = desk.source.choice((None, None, None, "1/1000"))
    answer = bound(chain, desk.alpha, distance=kind, pairs=pairs, precision=precision, deadline=desk.deadline)
    desk.proved(answer, chain)
    s, t = chain.pairs[0]
    for pair in answer.pairs:
        desk.note(f"{kind} {pair.source} {pair.target}", pair.lower, pair.upper)
        if {pair.source, pair.target} == {chain.states[s], chain.states[t]}:
            desk.note(kind, pair.lower, pair.upper)


def _delta(desk: Desk) -> None:
    chain = chain_of(desk)
    if chain is None:
        return
    worst = desk.source.random() < 0.2
    answer = delta(chain, desk.alpha, worst=worst, deadline=desk.deadline)
    desk.proved(answer, chain)
    if worst:
        return
    (pair,) = answer.pairs
    desk.note("delta", pair.lower, pair.upper)
    desk.ordered("delta", "bd")
    s, t = chain.pairs[0]
    cut = true_delta(chain, s, t, desk.alpha, LENGTH)
    desk.at_most(cut, pair.upper, "delta of short traces")
    if _ends(chain):
        longest = len(chain) + 1
        desk.between(
            pair.lower, true_delta(chain, s, t, desk.alpha, longest), pair.upper, "delta by enumeration"
        )


def _ends(chain: LMC) -> bool:
    """Tell whether every transition leads to a later state, but for the loops of final ones."""
    return all(
        row == ((k, fmpq(1)),) or all(target > k for target, _ in row) for k, row in enumerate(chain.rows)
    )


def _iterated(desk: Desk) -> None:
    """Hold bd against iterations of its definition, and against its exact value where there are no cycles."""
    chain = chain_of(desk)
    if chain is None:
        return
    answer = bound(chain, desk.alpha, pairs=list(combinations(chain.states, 2)), deadline=desk.deadline)
    below = iterate_below(chain, desk.alpha, ROUNDS)
    above = iterate_above(chain, desk.alpha, ROUNDS)
    exact = acyclic_bd(chain, desk.alpha) if _ends(chain) else None
    for pair in answer.pairs:
        i, j = sorted((chain.index(pair.source), chain.index(pair.target)))
        desk.at_most(below[i][j], pair.upper, "iterates of bd from below")
        desk.at_most(pair.lower, above[i][j], "iterates of bd from above")
        if exact is not None:
            desk.between(pair.lower, exact[i, j], pair.upper, "bd by iteration to the end")


def _threshold(desk: Desk) -> None:
    chain = chain_of(desk)
    if chain is None:
        return
    (pair,) = bound(chain, desk.alpha, deadline=desk.deadline).pairs
    steps = (fmpq(0), fmpq(1, 10**30), fmpq(-1, 10**30), fmpq(1, 3), fmpq(-1, 3))
    for step in desk.source.sample(steps, 2):
        theta = pair.upper + step
        if not 0 <= theta <= 1:
            continue
        answer = bd_threshold(chain, desk.alpha, pair.source, pair.target, theta, deadline=desk.deadline)
        desk.proved(answer, chain)
        if answer.holds is not None and pair.exact:
            desk.require(answer.holds == (step >= 0), f"bd <= {theta} is {answer.holds}, bd is {pair.upper}")


def _quotient(desk: Desk) -> None:
    """Merging bisimilar states keeps delta and does not raise bd."""
    chain = chain_of(desk)
    if chain is None:
        return
    smaller, places = quotient(chain)
    s, t = chain.pairs[0]
    before = delta(chain, desk.alpha, deadline=desk.deadline).pairs[0]
    if places[s] == places[t]:
        desk.require(before.lower == 0, f"delta of bisimilar states is at least {before.lower}")
        return
    after = delta(smaller, desk.alpha, deadline=desk.deadline).pairs[0]
    desk.note("delta", before.lower, before.upper)
    desk.note("delta", after.lower, after.upper)


def _profile(desk: Desk) -> None:
    chain = chain_of(desk)
    if chain is None:
        return
    alphas = sorted({fmpq(1), fmpq(2), desk.alpha, desk.alpha + fmpq(1, 2**60)})
    points = profile(chain, alphas=alphas, deadline=desk.deadline).points
    for point in points:
        answer = delta(chain, point.alpha, worst=True, deadline=desk.deadline)
        for pair in answer.pairs:
            desk.at_most(pair.lower, point.upper, f"delta and the profile at {point.alpha}")
    for one, other in pairwise(points):
        desk.at_most(other.lower, one.upper, "the profile falls")


def _least_alpha(desk: Desk) -> None:
    chain = chain_of(desk)
    if chain is None:
        return
    theta = desk.source.choice((fmpq(0), fmpq(1, 10**6), fmpq(1, 10), fmpq(1, 2)))
    found = least_alpha(chain, theta, deadline=desk.deadline)
    if found.enough is not None:
        (pair,) = delta(chain, found.enough, deadline=desk.deadline).pairs
        desk.at_most(pair.lower, theta, f"delta at the least alpha {found.enough}")
    if found.above is not None and found.above >= 1:
        (pair,) = delta(chain, found.above, deadline=desk.deadline).pairs
        desk.require(pair.upper >= theta, f"delta below the least alpha, at {found.above}: {pair.upper}")


def _compare(desk: Desk) -> None:
    chain = chain_of(desk)
    if chain is None:
        return
    for found in compare(chain, desk.alpha, deadline=desk.deadline):
        desk.require(not found.violated, f"compare: {found.measures}")


def _tight(desk: Desk) -> None:
    """Tell brackets and exact answers to the same question apart only by their width."""
    chain = chain_of(desk)
    if chain is None:
        return
    exact = bound(chain, desk.alpha, deadline=desk.deadline)
    rough = bound(chain, desk.alpha, precision="1/100", deadline=desk.deadline)
    desk.proved(rough, chain)
    for one, other in zip(exact.pairs, rough.pairs, strict=True):
        desk.at_most(one.lower, other.upper, "exact and bracket")
        desk.at_most(other.lower, one.upper, "bracket and exact")
        if rough.status is Status.BRACKET:
            desk.at_most(other.upper - other.lower, fmpq(1, 100), "the width of a bracket")


CHAINS = ("lmc", "pa", "ccs")
QUESTIONS = (
    Question("bound", CHAINS, 1, _distance, "bound MODEL --alpha ALPHA"),
    Question("delta", CHAINS, 1, _delta, "delta MODEL --alpha ALPHA"),
    Question("bd by iteration", CHAINS, 30, _iterated, "bound MODEL --alpha ALPHA"),
    Question("bound --threshold", CHAINS, 12, _threshold, "bound MODEL --alpha ALPHA --threshold 1/2"),
    Question("bound --precision", CHAINS, 12, _tight, "bound MODEL --alpha ALPHA --precision 1/100"),
    Question("quotient", CHAINS, 30, _quotient, "bound MODEL --alpha ALPHA --quotient"),
    Question("profile", CHAINS, 40, _profile, "profile MODEL --alpha ALPHA"),
    Question("least alpha", CHAINS, 40, _least_alpha, "profile MODEL --threshold 1/10"),
    Question("compare", CHAINS, 40, _compare, "compare MODEL --alpha ALPHA"),
)
