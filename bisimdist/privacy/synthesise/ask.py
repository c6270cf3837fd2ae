"""Delta of chains with parameters: as a function of one of them, for all values in a box, and at its best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from flint import fmpq, fmpq_mpoly

from bisimdist.distances.engine.question import checked_alpha
from bisimdist.errors import LimitError, Located, UsageError
from bisimdist.exact.bernstein import Box, prove_sign
from bisimdist.exact.rational import ExactNumber, shorten_rational, to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.entries import read_entry
from bisimdist.models.parametric import ParametricChain
from bisimdist.models.polynomial import RationalFunction, monomials_of, parameter_ring
from bisimdist.models.positivity import Sign, sign_on_box
from bisimdist.models.roots import factors_of, isolated
from bisimdist.privacy.engine.best import Best, best_of
from bisimdist.privacy.engine.best_boxes import best_in_box
from bisimdist.privacy.engine.parametric import Gains, ParametricGraph
from bisimdist.privacy.engine.pieces import Pieces, pieces_of
from bisimdist.privacy.synthesise.answer import (
    BestAnswer,
    BestPair,
    BoxAnswer,
    BoxPair,
    PiecesAnswer,
    PiecesPair,
)
from bisimdist.privacy.synthesise.boxes import proved_by_boxes
from bisimdist.privacy.synthesise.certificate import Claim, best_claim, box_claim, pieces_claim, sign_trees
from bisimdist.progress import NEVER, Deadline, Progress, silent

DEFAULT_GAP = fmpq(1, 10**9)  # how far apart bounds on a best value may be if nobody says otherwise

ROUGH_GAP = fmpq(1, 1000)  # the same for faces, where there are several parameters

MAX_BOXES = 20_000

Ends = tuple[ExactNumber, ExactNumber]
Pairs = Sequence[tuple[str, str]]


@interruptible
def delta_over(  # noqa: PLR0913
    model: ParametricChain,
    alpha: ExactNumber,
    *,
    interval: Ends | None = None,
    pairs: Pairs | None = None,
    deadline: Deadline = NEVER,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> PiecesAnswer:
    """Return delta of pairs of states as a function of the one parameter of a chain, exactly.

    Parameters
    ----------
    model
        A chain with one parameter, on which runs of the pairs come to rest.
    alpha
        The skew.
    interval
        Which values of the parameter to look at; by default all.
    pairs
        Pairs of names of states; by default those of the model.
    deadline, on_interrupt
        As everywhere.

    Returns
    -------
    PiecesAnswer
        For each pair the pieces, with the breaks between them.

    Raises
    ------
    UsageError
        If there is more than one parameter, the interval is not usable, or runs go on for ever.
    LimitError
        If the deadline passes.

    Examples
    --------
    >>> from bisimdist.models.library.dining_cryptographers import parametric_cryptographers
    >>> (pair,) = delta_over(parametric_cryptographers(2), 1).pairs
    >>> [str(piece) for piece in pair.pieces.merged().values]
    ['4*p^2 - 4*p + 1']

    Notes
    -----
    The proofs are in ``docs/theory/parameters.md``.
    """
    skew = checked_alpha(to_fmpq(alpha))
    name = only_parameter(model)
    ((low, high),) = box_of(model, {} if interval is None else {name: interval})
    graph = ParametricGraph(model)
    found = []
    for s, t in asked_states(model, pairs):
        both = graph.gains(skew, s, t, deadline=deadline)
        pieces = pieces_of(both, low, high)
        names = model.states[s], model.states[t]
        terms = tuple(term for gains in both for term in gains.terms)
        found.append(PiecesPair(*names, pieces, partial(pieces_claim, names, pieces, terms)))
    return PiecesAnswer(model=model, alpha=skew, interval=(low, high), pairs=tuple(found))


@interruptible
def delta_for_all(  # noqa: PLR0913
    model: ParametricChain,
    alpha: ExactNumber,
    threshold: ExactNumber,
    *,
    box: Mapping[str, Ends] | None = None,
    distance: str = "delta",
    pairs: Pairs | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> BoxAnswer:
    """Decide whether delta, or the distance bd, is at most a threshold for all values of the parameters.

    Parameters
    ----------
    model
        A chain with parameters.
    alpha
        The skew.
    threshold
        The threshold.
    box
        For each parameter the two ends of an interval; by default all of its values.
    distance
        ``"delta"`` or ``"bd"``.
    pairs
        Pairs of names of states; by default those of the model.
    deadline
        When to give up; pairs that are not decided by then are unknown.
    progress, on_interrupt
        As for `bisimdist.bound`.

    Returns
    -------
    BoxAnswer
        For each pair whether it holds, with a point that violates it if not.

    Raises
    ------
    UsageError
        If the box is not within the intervals of the parameters.

    Examples
    --------
    >>> from bisimdist.models.library.dining_cryptographers import parametric_cryptographers
    >>> ring = parametric_cryptographers(3)
    >>> answer = delta_for_all(ring, 1, "1/4", box={"p": ("1/4", "3/4")})
    >>> answer.pairs[0].holds
    True
    >>> delta_for_all(ring, 1, "1/4").pairs[0].at
    {'p': 1/8}

    Notes
    -----
    The proofs are in ``docs/theory/parameters.md``.
    """
    skew, level = checked_alpha(to_fmpq(alpha)), to_fmpq(threshold)
    if distance not in {"delta", "bd"}:
        raise UsageError(f"the distance is {distance!r}; expected delta or bd")
    whole = box_of(model, box or {})
    graph = ParametricGraph(model)
    found = []
    for s, t in asked_states(model, pairs):
        pair = model.states[s], model.states[t]
        try:
            both = graph.gains(skew, s, t, deadline=deadline) if distance == "delta" else None
        except UsageError:  # no finite sum of polynomials
            both = None
        except LimitError:
            found.append(BoxPair(*pair, None, None, None))
            continue
        if both is not None:
            found.append(_by_gains(model, pair, both, level, whole, deadline))
            continue
        verdict = proved_by_boxes(model, pair, skew, level, whole, distance, deadline, progress)
        claim = partial(box_claim, pair, model.parameter_names, whole, level, verdict.at, verdict.proof)
        found.append(BoxPair(*pair, verdict.holds, verdict.at, verdict.value, claim))
    return BoxAnswer(
        model=model, alpha=skew, threshold=level, box=whole, distance=distance, pairs=tuple(found)
    )


def _by_gains(  # noqa: PLR0913, PLR0917
    model: ParametricChain,
    pair: tuple[str, str],
    both: tuple[Gains, Gains],
    level: fmpq,
    box: Box,
    deadline: Deadline,
) -> BoxPair:
    """Decide by what the best events gain: the level less all positive parts is not negative."""
    names = model.parameter_names
    cuts: list[fmpq] = []
    if len(names) == 1:
        # where delta touches the level, or a term is zero, cutting elsewhere does not end
        pieces = pieces_of(both, *box[0])
        excess = [value.numerator - level * value.denominator for value in pieces.values]
        known = {str(f): f for polynomial in excess for f, _ in factors_of(polynomial)}
        known |= {str(root.polynomial): root.polynomial for root in pieces.breaks}
        cuts = [root.low for root in isolated(known.values(), *box[0]) if root.rational]
        if _touches(excess, box[0]) and _nowhere_more(pieces, excess):
            return BoxPair(*pair, True, None, None, _unproved)
    proofs = []
    for gains in both:
        result = prove_sign(
            monomials_of(level * gains.denominator),
            box,
            minus=[monomials_of(term) for term in gains.terms],
            cuts=cuts,
            max_boxes=MAX_BOXES,
            deadline=deadline,
        )
        if result.point is not None:
            at = dict(zip(names, result.point, strict=True))
            value = max(side.at(result.point) for side in both)
            return BoxPair(*pair, False, at, value, partial(box_claim, pair, names, box, level, at, None))
        if result.proof is None:
            return BoxPair(*pair, None, None, None)
        proofs.append(result.proof)
    trees = sign_trees(proofs, names)
    return BoxPair(*pair, True, None, None, partial(box_claim, pair, names, box, level, None, trees))


def _touches(excess: Sequence[fmpq_mpoly], interval: tuple[fmpq, fmpq]) -> bool:
    """Tell whether a polynomial has a zero of even multiplicity that is not rational: no cut hits it."""
    even = [factor for polynomial in excess for factor, k in factors_of(polynomial) if k % 2 == 0]
    return any(not root.rational for root in isolated(even, *interval))


def _nowhere_more(pieces: Pieces, excess: Sequence[fmpq_mpoly]) -> bool:
    """Tell whether what a function lacks to a level is positive on no piece, where squares are taken out."""
    starts = [pieces.low, *(root.low for root in pieces.breaks)]
    ends = [*(root.high for root in pieces.breaks), pieces.high]
    fine = {Sign.NEGATIVE, Sign.NOT_POSITIVE, Sign.ZERO}
    signs = (sign_on_box(part, ((low, high),)) for part, low, high in zip(excess, starts, ends, strict=True))
    return all(sign in fine for sign in signs)


def _unproved() -> Claim:
    raise UsageError(
        "the threshold is attained at a number that is not rational, where no proof by coefficients ends; a "
        "threshold that is a little larger has one"
    )


@interruptible
def synthesise(  # noqa: PLR0913
    model: ParametricChain,
    alpha: ExactNumber,
    maximise: str,
    at_most: ExactNumber,
    *,
    interval: Ends | None = None,
    box: Mapping[str, Ends] | None = None,
    gap: ExactNumber = DEFAULT_GAP,
    pairs: Pairs | None = None,
    deadline: Deadline = NEVER,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> BestAnswer:
    """Find the largest value of an expression over the parameter for which delta is at most a number.

    Parameters
    ----------
    model
        A chain with parameters, on which runs of the pairs come to rest.
    alpha
        The skew.
    maximise
        The expression.
    at_most
        The number.
    interval, box
        Which values of the parameter are allowed, or of each of several parameters; by default all.
    gap
        How far apart the bounds on the best value may be.
    pairs
        Pairs of names of states, each for itself; by default those of the model.
    deadline, on_interrupt
        As everywhere.

    Returns
    -------
    BestAnswer
        For each pair bounds on the best value, and a value of the parameter that attains the lower one.

    Raises
    ------
    UsageError
        If the interval or the expression is not usable, or runs go on for ever.
    LimitError
        If the deadline passes before anything is known.

    Examples
    --------
    >>> from bisimdist.models.library.dining_cryptographers import parametric_cryptographers
    >>> (pair,) = synthesise(parametric_cryptographers(4), 1, "(1-2*p)^2", "1/100", gap="1/1000").pairs
    >>> pair.polynomial
    '50*x^2 - 150*x + 1'

    Notes
    -----
    The proofs are in ``docs/theory/parameters.md``.
    """
    skew, level, width = checked_alpha(to_fmpq(alpha)), to_fmpq(at_most), to_fmpq(gap)
    if len(model.parameters) > 1:
        if interval is not None:
            raise UsageError("the model has several parameters; expected box= in place of an interval")
        whole = box_of(model, box or {})
        return _best_of_several(model, (skew, level, width), maximise, whole, pairs, deadline)
    name = only_parameter(model)
    interval = (box or {}).get(name, interval)
    expression = _expression(maximise, (name,))
    ((low, high),) = box_of(model, {} if interval is None else {name: interval})
    graph = ParametricGraph(model)
    found = []
    for s, t in asked_states(model, pairs):
        both = graph.gains(skew, s, t, deadline=deadline)
        pieces = pieces_of(both, low, high)
        best = best_of(both, pieces, expression, level, width, inside=model.box[0], deadline=deadline)
        pair = model.states[s], model.states[t]
        used = (expression.numerator, expression.denominator, *(t for gains in both for t in gains.terms))
        claim = (*best_claim(pair, pieces, str(expression), level, best), used)
        found.append(BestPair(*pair, best, _solved_by(expression, best), partial(_itself, claim)))
    widest = max(pair.best.width for pair in found)
    status = Status.LIMIT if widest > width else Status.BRACKET if widest else Status.EXACT
    return BestAnswer(
        model=model, alpha=skew, maximise=maximise, at_most=level, pairs=tuple(found), status=status
    )


def _best_of_several(  # noqa: PLR0913, PLR0917
    model: ParametricChain,
    numbers: tuple[fmpq, fmpq, fmpq],
    maximise: str,
    box: Box,
    pairs: Pairs | None,
    deadline: Deadline,
) -> BestAnswer:
    """Return bounds on the best values over several parameters, box by box."""
    skew, level, width = numbers
    names = model.parameter_names
    expression = _expression(maximise, names)
    graph = ParametricGraph(model)
    found = []
    for s, t in asked_states(model, pairs):
        both = graph.gains(skew, s, t, deadline=deadline)
        best = best_in_box(both, expression, level, width, box, deadline=deadline)
        at = None if best.at is None else dict(zip(names, best.at, strict=True))
        bounds = Best(best.lower, best.upper, None, None)
        found.append(BestPair(model.states[s], model.states[t], bounds, None, _of_one, at))
    near = all(
        pair.best.upper is None or (pair.best.lower is not None and pair.best.width <= width)
        for pair in found
    )
    status = Status.BRACKET if near else Status.LIMIT
    return BestAnswer(
        model=model, alpha=skew, maximise=maximise, at_most=level, pairs=tuple(found), status=status
    )


def _expression(text: str, names: Sequence[str]) -> RationalFunction:
    """Return what is to be large, also where it is a number."""
    with Located(place="the expression to maximise"):
        entry = read_entry(text, names)
    if isinstance(entry, RationalFunction):
        return entry
    return RationalFunction.of(parameter_ring(names).constant(entry))


def _of_one() -> Claim:
    raise UsageError(
        "best values have certificates where there is one parameter; --set gives values to others"
    )


def only_parameter(model: ParametricChain) -> str:
    """Return the one parameter of a chain. Raises UsageError if there are more."""
    name, *more = model.parameter_names
    if more:
        raise UsageError(
            f"the model has the parameters {', '.join(model.parameter_names)}; expected one: give values to "
            f"the others, such as --set {more[0]}=1/3"
        )
    return name


def box_of(model: ParametricChain, ends: Mapping[str, Ends]) -> Box:
    """Return an interval for each parameter: the one that is given, else all of its values.

    Raises UsageError if there is no such parameter, or the interval is none within that of the model.
    """
    for name in ends:
        if name not in model.parameter_names:
            raise UsageError(
                f"the model has no parameter {name!r}; expected {' or '.join(model.parameter_names)}"
            )
    found = []
    for parameter in model.parameters:
        low, high = map(to_fmpq, ends.get(parameter.name, (parameter.low, parameter.high)))
        if not parameter.low <= low < high <= parameter.high:
            whole = f"{shorten_rational(parameter.low)} to {shorten_rational(parameter.high)}"
            raise UsageError(
                f"{parameter.name} in [{shorten_rational(low)}, {shorten_rational(high)}]: expected a first "
                f"end below the second, both from {whole}"
            )
        found.append((low, high))
    return tuple(found)


def _solved_by(expression: RationalFunction, best: Best) -> str | None:
    """Return the irreducible polynomial that the best value is a zero of, where that is found."""
    if best.root is None or best.lower is None:
        return None
    ring = parameter_ring(("p", "x"))
    p, x = ring.gens()

    def moved(polynomial: fmpq_mpoly) -> fmpq_mpoly:
        return polynomial.compose(p, ctx=ring)

    value = moved(expression.numerator) - x * moved(expression.denominator)
    found = []
    for factor, _ in factors_of(moved(best.root.polynomial).resultant(value, "p")):
        alone = factor.compose(parameter_ring(("x",)).constant(0), *parameter_ring(("x",)).gens())
        if alone(best.lower) * alone(best.upper) <= 0:
            found.append(str(alone))
    return found[0] if len(found) == 1 else None


def _itself(claim: Claim) -> Claim:
    return claim
