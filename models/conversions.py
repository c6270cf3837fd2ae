"""Models of one kind made from models of another, each with a statement of what stays the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from flint import fmpq

from bisimdist.errors import ModelError, UsageError
from bisimdist.models.ends import Ends, completed
from bisimdist.models.entries import SparseRow
from bisimdist.models.interactive import chain_as_interactive, interactive_as_automaton
from bisimdist.models.kinds import HMM, LMC, PA, AnyModel, Interactive, IntervalChain, ParametricChain
from bisimdist.models.model import check_model
from bisimdist.models.pa import action_labelled_lmc, chain_as_automaton, free_name
from bisimdist.models.transform import reached_hidden_states

_CLASSES = {"lmc": LMC, "pa": PA, "hmm": HMM, "interactive": Interactive}
KINDS = tuple(_CLASSES)

_UNCHANGED = "nothing is converted: the model is of this kind already"
_CHAIN_TO_AUTOMATON = (
    "kept: the probability of every trace from every state, delta, bisimilarity, and the additive metric "
    "with discount 1, which is bd for alpha = 1"
)
_AUTOMATON_TO_CHAIN = (
    "kept: the probability of every sequence of actions from every state, bisimilarity, and the additive "
    "metrics; the chain shows how a run ends, where traces of the automaton show only that it has ended: so "
    "delta and the multiplicative metric of the chain are upper bounds, and the same where all probabilities "
    "sum to one"
)
_HMM_TO_CHAIN = (
    "kept: the probability of every observation sequence from every start distribution, and delta; "
    "the trace begins with one more label, and a sequence that ends shows a label for ever after"
)
_AUTOMATON_TO_HMM = (
    "kept: the probability of every sequence of actions from every state of a pair (without pairs, from "
    "every state); the observations are the actions, and then how a run ends, where traces of the automaton "
    "show only that it has ended: so delta is an upper bound, and the same where all probabilities sum to one"
)
_UNFOLDED = "each observation is a step of its own, after a step that draws the hidden state"
_CHAIN_TO_INTERACTIVE = "kept: delta and its distances; there is one action, step"
_INTERACTIVE_TO_AUTOMATON = (
    "kept: bisimilarity, and at alpha = 1 the distance, which is the additive metric; actions say label and "
    "action, and a scheduler sees the state, which an analyst does not"
)
_CHAIN_TO_HMM = (
    "kept: the probability of every trace from every state of a pair (without pairs, from every state), "
    "and delta; the observations are the labels"
)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted model and what it has in common with the original, one line for each step.

    Parameters
    ----------
    model
        The model.
    preserved
        What is the same in both, by steps.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.convert(chain, "pa").model.fully_probabilistic
    True
    """

    model: AnyModel
    preserved: tuple[str, ...]

    def _repr_html_(self) -> str:
        kind = {
            LMC: "labelled Markov chain",
            PA: "probabilistic automaton",
            HMM: "hidden Markov model",
            Interactive: "interactive model",
        }
        lines = "".join(f"<li>{escape(line)}</li>" for line in self.preserved)
        return f"<p>{kind[type(self.model)]} of {len(self.model.states)} states</p><ul>{lines}</ul>"


def convert(model: AnyModel, to: str, *, unfold: bool = False) -> Conversion:
    """Return a model of the kind that is asked for, with the pairs of the original.

    Parameters
    ----------
    model
        The model.
    to
        ``lmc``, ``pa``, ``hmm`` or ``interactive``.
    unfold
        For hidden Markov models: see `hmm_as_lmc`.

    Returns
    -------
    Conversion
        The model with what the conversion preserves.

    Raises
    ------
    UsageError
        If there is no such kind, or nothing to unfold.
    ModelError
        If the model has no counterpart of that kind: a hidden Markov model with parameters, or an automaton
        with a state that has several transitions.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a"}, {"s": {"s": 1}}, [("s", "s")])
    >>> convert(chain, "hmm").model.distributions
    (('s', ((0, 1),)),)
    """
    check_model(model)
    if to not in KINDS:
        raise UsageError(f"--to {to}: no such kind of model; expected lmc, pa, hmm or interactive")
    if unfold and not (isinstance(model, HMM) and to != "hmm"):
        raise UsageError("--unfold is about hidden Markov models that become chains or automata")
    if isinstance(model, _CLASSES[to]):
        return Conversion(model, (_UNCHANGED,))
    if isinstance(model, IntervalChain | ParametricChain):
        raise _somebody_chooses(model)
    if isinstance(model, Interactive):
        if to != "pa":
            raise _somebody_chooses(model)
        return Conversion(interactive_as_automaton(model), (_INTERACTIVE_TO_AUTOMATON,))
    chain, said = _as_chain(model, unfold=unfold)
    if to == "pa":  # what a hidden Markov model and its chain have in common, their automaton has too
        return Conversion(chain_as_automaton(chain), said or (_CHAIN_TO_AUTOMATON,))
    if to == "interactive":
        return Conversion(chain_as_interactive(chain), (*said, _CHAIN_TO_INTERACTIVE))
    if to == "hmm":
        return Conversion(lmc_as_hmm(chain), (_AUTOMATON_TO_HMM if said else _CHAIN_TO_HMM,))
    return Conversion(chain, said)


def _as_chain(model: LMC | PA | HMM, *, unfold: bool) -> tuple[LMC, tuple[str, ...]]:
    """Return the chain between two kinds, and what it has in common with the model."""
    if isinstance(model, HMM):
        return hmm_as_lmc(model, unfold=unfold), (_HMM_TO_CHAIN, *([_UNFOLDED] if unfold else []))
    if isinstance(model, PA):
        return action_labelled_lmc(model), (_AUTOMATON_TO_CHAIN,)
    return model, ()


def hmm_as_lmc(model: HMM, *, unfold: bool = False) -> LMC:
    r"""Return a chain whose traces are the observation sequences of a hidden Markov model.

    Each information state becomes a start state of its name, labelled ``(start)``. The state that has made
    the observation x in s is called by the JSON array of the two and labelled x. Where s has no row, it leads
    to a state ``(end)`` of that label, which is never left. A reserved name that the model uses itself is
    primed until it is free. Hidden states that no information state reaches are left out.

    Preserved: for every information state :math:`\pi` and observations :math:`w = x_1 \dots x_k`, the
    probability of w is that of the traces of the start state that begin with ``(start)`` and w (unfolded:
    with ``(step)`` before each observation); the probability that the sequence is w and ends there is that of
    the traces that go on with ``(end)``. Events correspond one to one, so delta of every pair is the same for
    every alpha, and so is the least ratio of the probabilities of sequences of any length. The two forms
    have the same delta, but their bisimilarity distances may differ: each bounds delta.

    ``model``: the model; its entries are numbers.
    ``unfold``: draw the hidden state and its observation in two steps: a state s, labelled ``(step)``, and
        then the observation. There are more states, and fewer transitions where there are many observations.

    >>> model = HMM.from_mappings({"s": {"x": "1/3", "y": "2/3"}}, {"s": {"s": 1}}, {"pi": {"s": 1}})
    >>> hmm_as_lmc(model).canonical()["transitions"]["pi"]
    {'["s", "x"]': '1/3', '["s", "y"]': '2/3'}
    >>> hmm_as_lmc(model, unfold=True).canonical()["transitions"]["pi"]
    {'s': '1'}
    """
    if model.parametric:
        raise ModelError(
            "the hidden Markov model has entries that depend on parameters; expected numbers "
            f"(give values to {', '.join(model.parameter_names)})"
        )
    return LMC.from_mappings(*_Unrolling(model, unfold=unfold).mappings())


@dataclass(frozen=True, slots=True)
class RoughHMM:
    """A hidden Markov model with intervals in place of probabilities, as it is read."""

    states: tuple[str, ...]
    observations: tuple[str, ...]
    emissions: tuple[Any, ...]
    rows: tuple[Any, ...]
    distributions: tuple[tuple[str, Any], ...]
    pairs: tuple[tuple[str, str], ...]

    def chain(self) -> IntervalChain:
        """Return the chain in intervals whose traces are what is observed (`hmm_as_lmc`, unfolded)."""
        return IntervalChain.from_mappings(*_Unrolling(self, unfold=True).mappings())


def observed_chain(model: AnyModel) -> LMC:
    """Return the chain whose traces are what an observer of a model sees, how its runs end included.

    A chain is returned as it is. Of a hidden Markov model the states of a pair are information states
    (`hmm_as_lmc`), of an automaton its states (`bisimdist.models.pa.action_labelled_lmc`). Where an automaton
    has missing mass and states without transitions both, an observer sees that a run has ended, not in which
    way (`bisimdist.models.ends`). So delta of the chain is that of the model.

    >>> from bisimdist.models.pa import Transition
    >>> automaton = PA(("s", "t"), (Transition(0, "a", ((1, fmpq(1, 2)),)),))
    >>> observed_chain(automaton).labels
    ('a', '(end)', '(end)', '(stop)')
    """
    if isinstance(model, LMC):
        return model
    if isinstance(model, HMM):
        return hmm_as_lmc(model)
    if isinstance(model, Interactive | IntervalChain | ParametricChain):
        raise _somebody_chooses(model)
    check_model(model)
    stops = len({step.source for step in model.transitions}) < len(model)
    halts = any(sum((p for _, p in step.row), fmpq(0)) != 1 for step in model.transitions)
    return action_labelled_lmc(completed(model, Ends.VISIBLE) if stops and halts else model)


def _somebody_chooses(model: Interactive | IntervalChain | ParametricChain) -> ModelError:
    if isinstance(model, ParametricChain):
        return model.unset()
    if isinstance(model, IntervalChain):
        return ModelError(
            "the probabilities are only known to lie in intervals; expected a model without any"
        )
    return ModelError("in an interactive model (kind interactive) an analyst chooses; expected another kind")


class _Unrolling:
    """Makes the chain of a hidden Markov model from names."""

    def __init__(self, model: HMM | RoughHMM, *, unfold: bool) -> None:
        self.model = model
        self.unfold = unfold
        self.reached = reached_hidden_states(model, [s for _, row in model.distributions for s, _ in row])
        symbols = frozenset(model.observations)
        self.start_label, self.end_label, self.step_label = (
            free_name(name, symbols) for name in ("(start)", "(end)", "(step)")
        )
        taken = {name for name, _ in model.distributions}
        self.made: dict[tuple[int, int], str] = {}
        self.hidden: dict[int, str] = {}
        for s in self.reached:
            if unfold:
                self.hidden[s] = free_name(model.states[s], taken)
                taken.add(self.hidden[s])
            for x, _ in model.emissions[s]:
                name = json.dumps([model.states[s], model.observations[x]], ensure_ascii=False)
                self.made[s, x] = free_name(name, taken)
                taken.add(self.made[s, x])
        self.end = free_name("(end)", taken)

    def mappings(self) -> tuple[Mapping[str, str], Mapping[str, Mapping[str, Any]], Any]:
        """Return labels, rows and pairs of the chain."""
        model = self.model
        labels: dict[str, str] = {}
        rows: dict[str, Mapping[str, Any]] = {}
        for name, row in model.distributions:
            labels[name] = self.start_label
            rows[name] = self._spread(row)
        for s in self.reached:
            if self.unfold:
                labels[self.hidden[s]] = self.step_label
                rows[self.hidden[s]] = {self.made[s, x]: p for x, p in model.emissions[s]}
            for x, _ in model.emissions[s]:
                labels[self.made[s, x]] = model.observations[x]
                rows[self.made[s, x]] = self._spread(model.rows[s]) or {self.end: fmpq(1)}
        if any(not model.rows[s] for s in self.reached):
            labels[self.end] = self.end_label
            rows[self.end] = {self.end: fmpq(1)}
        return labels, rows, model.pairs

    def _spread(self, row: SparseRow) -> dict[str, Any]:
        if self.unfold:
            return {self.hidden[s]: p for s, p in row}
        return {
            self.made[s, x]: p * seen
            for s, p in _numbers(row)
            for x, seen in _numbers(self.model.emissions[s])
        }


def lmc_as_hmm(chain: LMC) -> HMM:
    """Return a hidden Markov model in which each state of a chain makes its label as its observation.

    Each state that occurs in a pair becomes an information state of its name, which is in that state for
    certain; in a chain without pairs every state does.

    Preserved: the probability of observing w from the information state of s is that of the traces of s
    that begin with w. So delta of every pair is the same for every alpha, as is the least ratio of the
    probabilities of traces of any length. The chain that `hmm_as_lmc` makes of the result has a state
    ``["s", "a"]`` for each state s with the label a, and such states are bisimilar there if and only if they
    are in the original.

    returns: with the states and the pairs of the chain, and its labels as observations.

    >>> chain = LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"t": 1}, "t": {"t": 1}}, [("s", "t")])
    >>> lmc_as_hmm(chain).emissions, lmc_as_hmm(chain).pairs
    ((((0, 1),), ((1, 1),)), (('s', 't'),))
    """
    observations = tuple(dict.fromkeys(chain.whole().labels))
    symbol = {label: index for index, label in enumerate(observations)}
    chosen = sorted({state for pair in chain.pairs for state in pair}) or range(len(chain))
    return HMM(
        chain.states,
        observations,
        tuple(((symbol[label], fmpq(1)),) for label in chain.labels),
        chain.rows,
        tuple((chain.states[s], ((s, fmpq(1)),)) for s in chosen),
        tuple((chain.states[s], chain.states[t]) for s, t in chain.pairs),
    )


def _numbers(row: SparseRow) -> Iterable[tuple[int, fmpq]]:
    return ((index, entry) for index, entry in row if isinstance(entry, fmpq))
