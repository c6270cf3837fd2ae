"""One pair of states in every form that a measure may ask for: automaton, chain, hidden Markov model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from flint import fmpq

from bisimdist.errors import LimitError, UsageError
from bisimdist.models.conversions import hmm_as_lmc, lmc_as_hmm
from bisimdist.models.ends import Ends, completed
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive, System, interactive_as_automaton
from bisimdist.models.kinds import KnownModel
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, action_labelled_lmc, chain_as_automaton
from bisimdist.models.transform import reached_part, restrict_to_reachable

M = TypeVar("M")


class Fact:
    """What an order or a measure may need to know about a pair (names, for sets of them)."""

    PROBABILISTIC = "fully probabilistic"  # no reachable state has two transitions
    FULL = "no mass is missing"  # all reachable distributions sum to one
    ONE_END = "runs end in one way"  # mass is missing, or a reachable state has no transition, but not both
    ENDLESS = "no run ends"
    """All reachable distributions sum to one, and every reachable state has a transition."""
    ASKED = "an analyst asks"  # the model is interactive


def _known(model: M | None) -> M:
    if model is None:
        raise LimitError("the automaton is nondeterministic")
    return model


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A pair of states with all that is reached from them."""

    kind: str  # what the model was: ``lmc``, ``pa``, ``hmm`` or ``interactive``
    source: str  # source and target: the names that were asked for
    target: str
    automaton: PA  # the automaton; its pair is the pair
    # the chain that shows the actions and how a run ends; None for a nondeterministic automaton
    chain: LMC | None
    hidden: HMM | None  # the hidden Markov model whose observation sequences are compared; None as above
    facts: frozenset[str]  # what holds of the pair
    asked: Interactive | None = None  # the interactive model, where an analyst asks

    @property
    def known_chain(self) -> LMC:
        """The chain. Raises LimitError if the automaton is nondeterministic, as the next ones do."""
        return _known(self.chain)

    @property
    def known_hidden(self) -> HMM:
        """The hidden Markov model."""
        return _known(self.hidden)

    @property
    def system(self) -> System:
        """What delta and the skewed distances are about."""
        return self.known_chain if self.asked is None else self.asked

    @property
    def pair(self) -> tuple[str, str]:
        """The names of the two states in the automaton."""
        s, t = self.automaton.pairs[0]
        return self.automaton.states[s], self.automaton.states[t]

    @property
    def same_sequences(self) -> Ends | None:
        """With which ends the traces of the automaton are the sequences of the hidden Markov model.

        A hidden Markov model of its own does not observe that a sequence has ended; that of a chain does, and
        in which way, so that there may be no such ends.
        """
        if self.kind == "hmm":
            return Ends.HIDDEN
        return Ends.VISIBLE if Fact.ONE_END in self.facts else None


def subject_of(model: KnownModel, source: str, target: str) -> Subject:
    """Return a pair in every form.

    source, target: the names of two states, or of two distributions of a hidden Markov model.
    Raises UsageError if the model has parameters. Raises ModelError if a name is unknown.
    """
    if isinstance(model, HMM):
        return _hidden(model, source, target)
    pair = (model.index(source), model.index(target))
    if isinstance(model, LMC):
        chain = LMC(model.states, model.labels, model.rows, (pair,))
        return _subject("lmc", (source, target), chain_as_automaton(chain), chain, None)
    if isinstance(model, Interactive):
        asked = replace(model, pairs=(pair,))
        return Subject(
            kind="interactive",
            source=source,
            target=target,
            automaton=reached_part(interactive_as_automaton(asked), pair),
            chain=None,
            hidden=None,
            facts=frozenset({Fact.ASKED}),
            asked=asked,
        )
    automaton = PA(model.states, model.transitions, (pair,))
    if not automaton.fully_probabilistic:
        automaton = reached_part(automaton, pair)
    shown = action_labelled_lmc(automaton) if automaton.fully_probabilistic else None
    return _subject("pa", (source, target), automaton, shown, None)


def _hidden(model: HMM, source: str, target: str) -> Subject:
    if model.parametric:
        raise UsageError(
            f"the model has the parameters {', '.join(model.parameter_names)}; expected one without "
            "(what holds for all their values is a question for verify)"
        )
    rows = tuple((name, model.distribution(name)) for name in dict.fromkeys((source, target)))
    own = HMM(model.states, model.observations, model.emissions, model.rows, rows, ((source, target),))
    chain = hmm_as_lmc(own)
    # After the end of a sequence the chain goes on for ever, with a label of its own; the automaton stops.
    ends = {s for s, row in enumerate(chain.rows) if row == ((s, fmpq(1)),)}
    ends = {s for s in ends if chain.labels[s] not in model.observations}
    whole = chain_as_automaton(chain)
    steps = tuple(step for step in whole.transitions if step.source not in ends)
    return _subject("hmm", (source, target), PA(whole.states, steps, chain.pairs), chain, model)


def _subject(
    kind: str, names: tuple[str, str], automaton: PA, chain: LMC | None, hidden: HMM | None
) -> Subject:
    if hidden is None and chain is not None:
        hidden = lmc_as_hmm(restrict_to_reachable(chain))
    return Subject(
        kind=kind,
        source=names[0],
        target=names[1],
        automaton=automaton,
        chain=chain,
        hidden=hidden,
        facts=_facts(automaton),
    )


def _facts(automaton: PA) -> frozenset[str]:
    part = reached_part(automaton, automaton.pairs[0])
    if not part.fully_probabilistic:
        return frozenset()
    facts = {Fact.PROBABILISTIC}
    full = completed(part, Ends.HIDDEN) is part
    acting = len(part.transitions) == len(part)
    if full or acting:
        facts.add(Fact.ONE_END)
    if full:
        facts.add(Fact.FULL)
    if full and acting:
        facts.add(Fact.ENDLESS)
    return frozenset(facts)
