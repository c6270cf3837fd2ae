"""The measures of the cross-check: their names, symbols and scales, smaller ones first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bisimdist.faces.shown.standing import Scale
from bisimdist.privacy.crosscheck.leakages import LEAKAGES


@dataclass(frozen=True, slots=True)
class MeasureInfo:
    """What a measure is."""

    # a short name for a table or a diagram, with ``{K}`` for the length and ``{alpha}`` for the skew
    symbol: str
    title: str  # a few words about it
    scale: Scale  # what its numbers are


def _info(scale: Scale, **rows: tuple[str, str]) -> dict[str, MeasureInfo]:
    return {name: MeasureInfo(symbol, title, scale) for name, (symbol, title) in rows.items()}


MEASURES: Mapping[str, MeasureInfo] = (
    _info(
        Scale.RATIO,
        epsilon=("epsilon to {K}", "least budget of the sequences up to length {K}, by information states"),
        smt=("SMT to {K}", "the same by SMT: holds at the upper number, violated by a sequence at the lower"),
        tv_x_length=("tv_x to {K}", "trace metric of the traces up to length {K}"),
        all_lengths=("all lengths", "least budget of all lengths, by invariants and refutations"),
        tv_x_hidden=("tv_x, ends hidden", "trace metric of an observer who does not see the end of a run"),
        tv_x=("tv_x", "trace metric: the largest ratio of a trace"),
        l_x_depth=("l_x to {K}", "distance of the formulae that say what {K} steps can do"),
        l_x=("l_x", "logical distance, the multiplicative bisimilarity metric"),
        m_A=("m^A", "amortised bisimulation metric"),
        m_A_quotient=("m^A of the quotient", "amortised metric, bisimilar states merged"),
        m_D=("m^D", "accumulative bisimulation metric"),
        m_D_quotient=("m^D of the quotient", "accumulative metric, bisimilar states merged"),
        **LEAKAGES[Scale.RATIO],
    )
    | _info(
        Scale.ADDITIVE,
        gain=("gain", "p - alpha q of the sequence behind the budget"),
        gain_trace=("gain of a trace", "p - alpha q of the trace behind tv_x"),
        fixed=("fixed, {K} rounds", "delta of the best sequence of {K} actions that is fixed beforehand"),
        delta_rounds=("delta of {K} rounds", "gain of the best adaptive analyst in {K} rounds"),
        delta=("delta", "two-sided bound on the true delta at alpha = {alpha}"),
        lbd_quotient=("lbd of the quotient", "asymmetric distance, bisimilar states merged"),
        lbd=("lbd", "asymmetric distance at alpha = {alpha}"),
        greatest=("greatest", "greatest solution of the asymmetric equations"),
        bd_quotient=("bd of the quotient", "skewed bisimilarity distance, bisimilar states merged"),
        bd_solver=("bd by PuLP", "bd with couplings of another solver, confirmed exactly"),
        bd=("bd", "skewed bisimilarity distance at alpha = {alpha}"),
        tv=("tv", "additive trace metric: the largest difference of a trace"),
        delta_1=("delta_1", "total variation: delta at alpha = 1"),
        d_plus_depth=("d_1,+ to {K}", "distance of the formulae that say what {K} steps can do"),
        d_half=("d_1/2,+", "additive bisimilarity metric, discounted by 1/2"),
        lbd_1=("lbd_1", "asymmetric distance at alpha = 1"),
        bd_1=("bd_1", "bisimilarity distance at alpha = 1"),
        d_plus=("d_1,+", "additive bisimilarity metric"),
        **LEAKAGES[Scale.ADDITIVE],
    )
    | _info(Scale.DIVERGENCE, **LEAKAGES[Scale.DIVERGENCE])
    | _info(
        Scale.KERNEL,
        traces_differ=("traces differ", "1 if some trace has two probabilities, by linear algebra"),
        not_bisimilar=("not bisimilar", "1 if the states are not bisimilar, by partition refinement"),
    )
)  # all measures by name, smaller ones first
