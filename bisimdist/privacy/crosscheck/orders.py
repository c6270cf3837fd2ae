"""What must be at most what: the orders between measures, as data.

Every order is a theorem; the proofs are in ``docs/theory/crosscheck.md``, under the heading that
`Order.proof` names. Measures of one scale are compared as they are; between scales, functions of them are.

Source: CMP18 Lemma 2, XCL14 Lemma 3, CCP18 Proposition 1, CCP18 Theorem 5, CCP18 Proposition 6.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace

from flint import fmpq

from bisimdist.exact.scale import Value
from bisimdist.faces.shown.standing import Measure, Scale, Standing, relate
from bisimdist.privacy.crosscheck.subject import Fact
from bisimdist.privacy.engine.divergence import logarithm

ONE = fmpq(1)


@dataclass(frozen=True, slots=True)
class Link:
    """A map from the numbers of a measure to those of another scale that keeps their order."""

    text: str  # what is compared, with ``{}`` for the measure
    apply: Callable[[Value, Scale, fmpq], Value]  # called with a value, the scale of the measure, and alpha


def _told_apart(value: Value, scale: Scale, _: fmpq) -> Value:
    return fmpq(int(value is None or value > scale.least))


def _above_alpha(value: Value, _: Scale, alpha: fmpq) -> Value:
    return fmpq(int(value is None or value > alpha))


def _needed_ratio(value: Value, _: Scale, alpha: fmpq) -> Value:
    """Return the least ratio of two runs whose delta is the value: the inverse of (r - alpha)/(r + 1)."""
    if value is None or value >= 1:
        return None
    return ONE if value <= 0 else (alpha + value) / (1 - value)


def _needed_ratio_at_one(value: Value, scale: Scale, _: fmpq) -> Value:
    return _needed_ratio(value, scale, ONE)


def _ratio_of_difference(value: Value, _: Scale, __: fmpq) -> Value:
    return None if value is None or value >= 1 else 1 / (1 - value)


def _left_of_total_variation(value: Value, _: Scale, alpha: fmpq) -> Value:
    return value if value is None else max(fmpq(0), 1 - alpha * (1 - value))


def _one_more(value: Value, _: Scale, __: fmpq) -> Value:
    return None if value is None else 1 + value


def _pinsker(value: Value, _: Scale, __: fmpq) -> Value:
    return None if value is None else 2 * value**2


def _on_two_events(value: Value, _: Scale, __: fmpq) -> Value:
    return None if value is None else 4 * value**2


def _squared(value: Value, _: Scale, __: fmpq) -> Value:
    return None if value is None else value**2


def _le_cam(value: Value, _: Scale, __: fmpq) -> Value:
    return None if value is None else value * (2 - value)


def _doubled(value: Value, _: Scale, __: fmpq) -> Value:
    return None if value is None else 2 * value


def _logarithm(value: Value, _: Scale, __: fmpq) -> Value:
    """Return the logarithm, rounded up: it stands on the larger side."""
    return None if value is None else logarithm(value)[1]


def _from_renyi(value: Value, _: Scale, alpha: fmpq) -> Value:
    return None if value is None else value / (4 * alpha)


APART = Link("{} tells apart", _told_apart)
ABOVE = Link("{} > alpha", _above_alpha)
NEEDED = Link("(alpha + {0})/(1 - {0})", _needed_ratio)
NEEDED_AT_ONE = Link("(1 + {0})/(1 - {0})", _needed_ratio_at_one)
DIFFERENCE = Link("1/(1 - {})", _ratio_of_difference)
LEFT = Link("1 - alpha (1 - {})", _left_of_total_variation)
ONE_MORE = Link("1 + {}", _one_more)
PINSKER = Link("2 {}^2", _pinsker)
TWO_EVENTS = Link("4 {}^2", _on_two_events)
SQUARED = Link("{}^2", _squared)
LE_CAM = Link("{0} (2 - {0})", _le_cam)
DOUBLED = Link("2 {}", _doubled)
LOGARITHM = Link("ln {}", _logarithm)
FROM_RENYI = Link("{}/(4 alpha)", _from_renyi)


@dataclass(frozen=True, slots=True)
class Order:
    """One measure is at most another, or a function of one at most a function of the other."""

    # smaller and larger: the names of the measures; ``sequences`` stands for the trace metric that the
    # sequences of the hidden Markov model belong to
    smaller: str
    larger: str
    reason: str  # why, in a few words
    proof: str  # the heading of the proof
    needs: frozenset[str] = frozenset()  # what must hold of the pair
    below: Link | None = None  # below and above: what is compared instead of the measures themselves
    above: Link | None = None


def _equal(first: str, second: str, reason: str, proof: str) -> tuple[Order, Order]:
    return Order(first, second, reason, proof), Order(second, first, reason, proof)


def _kernel(kernel: str, measure: str, reason: str) -> tuple[Order, Order]:
    return (
        Order(kernel, measure, reason, "kernels", above=APART),
        Order(measure, kernel, reason, "kernels", below=APART),
    )


FULL = frozenset({Fact.FULL})
ONE_END = frozenset({Fact.ONE_END})
ASKED = frozenset({Fact.ASKED})

ORDER: tuple[tuple[str, str], ...] = (
    ("delta", "lbd_quotient"),
    ("lbd_quotient", "lbd"),
    ("lbd_quotient", "bd_quotient"),
    ("lbd", "greatest"),
    ("greatest", "lbd"),
    ("lbd", "bd"),
    ("bd_quotient", "bd"),
)  # what is at most what, always (docs/theory/delta.md)

RATIOS: tuple[Order, ...] = (
    Order("epsilon", "sequences", "sequences up to a length are some of all traces", "engines"),
    *_equal("epsilon", "tv_x_length", "two engines, one number", "engines"),
    *_equal("smt", "epsilon", "two engines, one number", "engines"),
    *_equal("all_lengths", "sequences", "two engines, one number", "engines"),
    Order("tv_x_hidden", "tv_x", "some traces of all", "ends"),
    Order("tv_x_hidden", "l_x", "a trace is a test", "ratios"),
    Order("tv_x_hidden", "m_A", "the budget of a run bounds its ratio", "ratios"),
    Order("tv_x_hidden", "m_A_quotient", "bisimilar states have the same traces", "ratios"),
    Order("tv_x", "l_x", "a trace is a test", "ends", FULL),
    Order("tv_x", "m_A", "the budget of a run bounds its ratio", "ends", FULL),
    Order("tv_x", "m_A_quotient", "bisimilar states have the same traces", "ends", FULL),
    Order("m_A", "m_D", "costs may cancel", "ratios"),
    Order("m_A_quotient", "m_D_quotient", "costs may cancel", "ratios"),
    Order("l_x", "m_D", "a bijection is a coupling", "ratios"),
    Order("l_x_depth", "l_x", "a formula of K steps is one of all formulae", "ratios"),
    Order("tv_x_length", "l_x_depth", "a trace of K steps is a test of K steps", "ratios", FULL),
    Order("l_x", "m_D_quotient", "a bijection is a coupling; bisimilar states are at distance 0", "ratios"),
)

PROBABILITIES: tuple[Order, ...] = (
    Order("tv", "delta_1", "a trace is an event", "probabilities"),
    Order("delta_1", "lbd_1", "couplings bound events", "probabilities"),
    *_equal("lbd_1", "bd_1", "at alpha = 1 both directions agree", "probabilities"),
    *_equal("bd_solver", "bd", "two solvers, one number", "engines"),
    *_equal("bd_1", "d_plus", "two engines, one number", "probabilities"),
    Order("d_half", "d_plus", "discounting makes smaller", "probabilities"),
    Order("d_plus_depth", "d_plus", "a formula of K steps is one of all formulae", "probabilities"),
    *(Order(low, high, "the order of compare", "probabilities") for low, high in ORDER),
    Order("delta", "delta_1", "delta falls as alpha grows", "probabilities"),
    Order("gain", "delta", "a sequence is an event", "probabilities"),
    Order("gain_trace", "delta", "a trace is an event", "probabilities"),
    Order("delta_1", "delta", "one event, two values of alpha", "probabilities", below=LEFT),
)

LINKS: tuple[Order, ...] = (
    Order("delta", "tv_x", "pure privacy bounds delta", "links", ONE_END, below=NEEDED),
    Order("delta_1", "tv_x", "pure privacy bounds total variation", "links", ONE_END, below=NEEDED_AT_ONE),
    Order("tv", "tv_x", "a difference needs a ratio", "links", below=DIFFERENCE),
    Order("tv_x", "delta", "a ratio above alpha is an event", "links", below=ABOVE, above=APART),
    Order("l_x", "bd_quotient", "bd = 0 is a table of factors", "links", below=ABOVE, above=APART),
)

ANALYSTS: tuple[Order, ...] = (
    Order("fixed", "delta_rounds", "a sequence of actions is an analyst", "analysts"),
    Order("delta_rounds", "delta", "an analyst may stop", "analysts"),
    *(
        Order(name, metric, "the ratio of all events bounds delta", "analysts", ASKED, below=link)
        for metric in ("l_x", "m_A", "m_A_quotient")
        for name, link in (("delta", NEEDED), ("delta_1", NEEDED_AT_ONE))
    ),
)

LEAKAGES: tuple[Order, ...] = (
    *_equal("chi2", "chi2_profile", "the divergence is an integral over delta", "leakages"),
    *_equal("kl", "kl_profile", "the divergence is an integral over delta", "leakages"),
    Order("kl_length", "kl", "data processing: who sees less learns less", "leakages"),
    Order("delta_1", "min_entropy", "a guess is an event", "leakages", below=ONE_MORE),
    Order("min_entropy", "delta_1", "a guess is an event", "leakages", above=ONE_MORE),
    Order("min_entropy", "tv_x", "a guess gains no more than the ratio", "leakages", ONE_END),
    Order("renyi_2", "tv_x", "Rényi's divergences rise to the largest loss", "leakages", ONE_END),
    Order("hellinger", "delta_1", "Le Cam", "leakages"),
    Order("delta_1", "hellinger", "Le Cam", "leakages", below=SQUARED, above=LE_CAM),
    Order("delta_1", "kl", "Pinsker", "leakages", below=PINSKER),
    Order("hellinger", "kl", "Rényi's divergences rise with their order", "leakages", below=DOUBLED),
    Order("kl", "renyi_2", "Rényi's divergences rise with their order", "leakages", above=LOGARITHM),
    Order("kl", "chi2", "ln(1 + x) is at most x", "leakages"),
    Order("delta_1", "chi2", "data processing to one event", "leakages", below=TWO_EVENTS),
    Order("delta", "renyi_2", "from Rényi to delta", "leakages", above=FROM_RENYI),
)

KERNELS: tuple[Order, ...] = (
    Order("traces_differ", "not_bisimilar", "bisimilar states have the same traces", "kernels"),
    *_kernel("not_bisimilar", "d_plus", "the kernel is bisimilarity"),
    *_kernel("not_bisimilar", "d_half", "the kernel is bisimilarity"),
    *_kernel("not_bisimilar", "bd_1", "the kernel is bisimilarity"),
    *_kernel("not_bisimilar", "l_x", "the kernel is bisimilarity"),
    Order("not_bisimilar", "m_A", "ratio 1 is a bijection that keeps everything", "kernels", above=APART),
    Order("m_A", "m_D", "one kernel", "kernels", below=APART, above=APART),
    Order("m_D", "m_A", "one kernel", "kernels", below=APART, above=APART),
    *_kernel("traces_differ", "tv", "the kernel is trace equivalence"),
    *_kernel("traces_differ", "tv_x", "the kernel is trace equivalence"),
    Order("traces_differ", "delta_1", "a trace is an event", "kernels", above=APART),
    Order("delta_1", "traces_differ", "traces determine events", "kernels", ONE_END, below=APART),
)

ORDERS = (*RATIOS, *PROBABILITIES, *LINKS, *ANALYSTS, *LEAKAGES, *KERNELS)  # all orders


def order_list(facts: frozenset[str], aliases: Mapping[str, str]) -> tuple[Order, ...]:
    """Return the orders that hold of a pair, without those that say nothing.

    aliases: names of measures that are the same as another measure of this pair.
    """
    result: dict[tuple[str, str, Link | None, Link | None], Order] = {}
    for order in ORDERS:
        low, high = (aliases.get(name, name) for name in (order.smaller, order.larger))
        if low != high and order.needs <= facts:
            renamed = replace(order, smaller=low, larger=high)
            result.setdefault((low, high, order.below, order.above), renamed)
    return tuple(result.values())


def through_missing(orders: Sequence[Order], known: Container[str]) -> tuple[Order, ...]:
    """Return the orders between known measures that follow from orders through measures that are not known.

    >>> chain = (Order("a", "b", "", ""), Order("b", "c", "", ""))
    >>> [(order.smaller, order.larger) for order in through_missing(chain, {"a", "c"})]
    [('a', 'c')]
    """
    above: dict[str, set[str]] = {}
    for order in orders:
        if order.below is None and order.above is None:
            above.setdefault(order.smaller, set()).add(order.larger)
    present = {(order.smaller, order.larger) for order in orders}
    result = []
    for start in sorted(above):
        if start not in known:
            continue
        seen = {name for name in above[start] if name not in known}
        waiting = sorted(seen)
        while waiting:
            middle = waiting.pop()
            for name in sorted(above.get(middle, ())):
                if name not in known and name not in seen:
                    seen.add(name)
                    waiting.append(name)
                elif name in known and name != start and (start, name) not in present:
                    present.add((start, name))
                    result.append(Order(start, name, f"through {middle}, which is not known", "transitivity"))
    return tuple(result)


def standings_of(
    measures: Mapping[str, Measure], orders: tuple[Order, ...], alpha: fmpq
) -> tuple[Standing, ...]:
    """Return how measures stand, for every order between two of them."""
    result = []
    for order in (*orders, *through_missing(orders, measures)):
        if order.smaller in measures and order.larger in measures:
            low, high = measures[order.smaller], measures[order.larger]
            pairs = tuple(zip(_seen(low, order.below, alpha), _seen(high, order.above, alpha), strict=False))
            both = low.directions is not None and high.directions is not None
            result.append(
                Standing(
                    order.smaller,
                    order.larger,
                    relate(pairs if both else pairs[:1]),
                    order.reason,
                    "" if order.below is None else order.below.text.format(order.smaller),
                    "" if order.above is None else order.above.text.format(order.larger),
                )
            )
    return tuple(result)


def _seen(measure: Measure, link: Link | None, alpha: fmpq) -> tuple[tuple[Value, Value], ...]:
    if link is None:
        return measure.through(lambda value: value)
    return measure.through(lambda value: link.apply(value, measure.scale, alpha))
