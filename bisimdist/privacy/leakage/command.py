"""What traces leak: divergences of pairs, vulnerabilities of secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.nature import AboutNature
from bisimdist.faces.asked.options import BOTH, LEAKAGE, LEAKAGE_SECRETS, PRIOR, gains_file
from bisimdist.faces.asked.question import Group, Plain, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.models.intervals import IntervalChain
    from bisimdist.models.lmc import LMC
    from bisimdist.privacy.leakage.answer import LeakageAnswer
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Leakage(AboutNature["LeakageAnswer"]):
    """Bound from both sides how much traces leak, by one of several measures.

    tv, chi2, kl, hellinger (squared) and renyi:BETA are divergences from the first state of a pair to the
    second. bayes, min-entropy and g:FILE say how well an adversary who sees a trace can guess a secret with a
    known prior. For an interactive model give the fixed questions of the analyst, by --ask or --strategy.
    """

    command = "leakage"
    tabled = "directed"
    group = Group.DELTA
    example = "example:random,states=5 --measure hellinger --pair s0 s1 --gap 1/100"
    options = (
        LEAKAGE,
        options.PAIR,
        BOTH,
        LEAKAGE_SECRETS,
        PRIOR,
        options.ASK,
        options.STRATEGY,
        options.NATURE,
        options.GAP,
        options.TIMEOUT,
        options.MEMORY,
        options.CERTIFICATE,
        options.JSON,
    )

    model: LMC | IntervalChain
    measure: str
    gains: Mapping[str, Mapping[str, fmpq]] | None
    pairs: tuple[tuple[str, str], ...]
    both: bool
    secrets: tuple[str, ...]
    prior: tuple[fmpq, ...]
    gap: fmpq | None
    nature: str = "each-step"

    @classmethod
    def read(cls, given: Given) -> Leakage:
        from bisimdist.models.io.gains import load_gains
        from bisimdist.privacy.leakage.measures import read_measure

        said, secrets = given.fields(cls), given[LEAKAGE_SECRETS]
        text = said["measure"]
        if text is None:
            raise UsageError(
                "say which measure with --measure: tv, chi2, kl, hellinger, renyi:BETA, bayes, "
                "min-entropy or g:FILE"
            )
        path = gains_file(text)
        gains = None if path is None else load_gains(path)
        read_measure(text, gains)
        chosen = given[options.PAIR]
        if secrets and chosen:
            raise UsageError("--secret and --pair both say what is compared; expected one of them")
        model = _observed(given, secrets, text)
        for name in secrets:
            model.index(name)
        return cls(
            model=model,
            gains=gains,
            pairs=() if secrets else given.pairs(model, directed=True),
            secrets=secrets,
            **said,
        )

    def ask(self, limits: Limits) -> LeakageAnswer:
        from bisimdist.privacy.leakage.ask import leakage

        return self.put(
            leakage, limits, pairs=self.pairs or None, secrets=self.secrets or None, prior=self.prior or None
        )

    def unknown(self, reason: str) -> Plain:
        from bisimdist.privacy.leakage.measures import read_measure

        measure = read_measure(self.measure, self.gains)
        bounds = {"lower": str(measure.least or 0), "upper": str(measure.most or "inf")}
        return nothing_known(
            self.frame(),
            self.pairs or [(self.secrets[0], self.secrets[-1])],
            {"measure": measure.shown, "exact": False, **bounds},
        )


def _observed(given: Given, secrets: Sequence[str], measure: str) -> LMC | IntervalChain:
    """Return the chain of what is seen, by an analyst of an interactive model too."""
    from bisimdist.models.interactive import Interactive
    from bisimdist.programs.chain import ProgramChain, ProgramInteractive
    from bisimdist.reductions.chain import straight

    model = given.rough_system()
    if given.wants_proof:
        for step in straight(model)[1]:
            step.check_provable(measure)
    actions, path = given[options.ASK], given[options.STRATEGY]
    if not isinstance(model, Interactive):
        if actions or path is not None:
            raise UsageError("--ask and --strategy are about interactive models; this one is a chain")
        return model
    if bool(actions) == (path is not None):
        raise UsageError("the model is interactive: say what is asked, with --ask ACTIONS or --strategy FILE")
    from bisimdist.models.analyst import Strategy, asked_chain
    from bisimdist.models.io.strategy import load_strategy

    strategy = Strategy.in_turn(actions) if path is None else load_strategy(path)
    seen = asked_chain(model, strategy, secrets)
    if not isinstance(model, ProgramInteractive):
        return seen
    return ProgramChain(seen.states, seen.labels, seen.rows, seen.pairs, model.origin)
