"""The least epsilon of d_X-privacy or weak anonymity over a set of secrets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.question import Group, Question, Settled

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits
    from bisimdist.traces.secrets.answer import SecretPrivacyAnswer
    from bisimdist.traces.secrets.distances import Secret, Table
    from bisimdist.traces.trace.events import Of


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretPrivacy(Question["SecretPrivacyAnswer"]):
    """Compute the least epsilon of d_X-privacy over a whole set of secrets.

    The multiplicative trace metric of any two secrets is at most epsilon times their distance. --kind
    additive takes the additive trace metric instead; --kind additive --of sets is weak anonymity for the
    discrete distance. Without --secret the states of the model's pairs are the secrets.
    """

    command = "secrets"
    tabled = "listed"
    group = Group.TRACES
    example = "example:randomised-response-pa"
    options = (
        options.SECRET_DISTANCE,
        options.TRACE_KIND,
        options.TRACES_OR_SETS,
        options.THRESHOLD.but(help="Decide whether the system is EPS d_X-private."),
        options.SECRETS,
        options.EVERY_PAIR,
        options.ENDS,
        options.TIMEOUT,
        options.CERTIFICATE,
        options.JSON,
    )
    sources = ("CCP18 Definition 5", "CCP18 Theorem 2", "CCP18 Definition 10")

    model: PA
    secrets: Mapping[Secret, str]
    distance: str | Table
    kind: str
    of: Of
    threshold: fmpq | None
    every_pair: bool
    ends: str

    @classmethod
    def read(cls, given: Given) -> SecretPrivacy:
        said = given.fields(cls)
        model = given.automaton(fully_probabilistic=True)
        distance, states = _distances(given[options.SECRET_DISTANCE])
        return cls(
            model=model,
            **{**said, "secrets": _secrets(given, model, states), "distance": distance},
        )

    def ask(self, limits: Limits) -> SecretPrivacyAnswer:
        from bisimdist.traces.secrets.ask import secret_privacy

        return self.put(secret_privacy, limits)

    def notes(self, answer: SecretPrivacyAnswer) -> list[str]:
        names = answer.distances.secrets
        return [
            f"the table is no metric: the distance of {names[x]} and {names[z]} is more than by way of "
            f"{names[y]}; the least epsilon is that of the table as it is"
            for x, y, z in answer.distances.triangles
        ]

    def settled(self, answer: SecretPrivacyAnswer) -> Settled:
        if self.threshold is not None:
            return answer.holds
        return True if answer.exact else None


def _distances(name: str) -> tuple[str | Table, Mapping[Secret, str] | None]:
    """Return the distances, and the states of the secrets where a table says them."""
    if name in options.SECRET_DISTANCES:
        return name, None
    from bisimdist.traces.secrets.file import load_secret_table

    table = load_secret_table(name)
    return table.distances, table.states


def _secrets(given: Given, model: PA, states: Mapping[Secret, str] | None) -> Mapping[Secret, str]:
    """Return the secrets with their states: those given, else those of the table, else those of the pairs."""
    result: dict[Secret, str] = {}
    for secret, state in given[options.SECRETS]:
        if secret in result:
            raise UsageError(f"--secret {secret}: the secret is given twice")
        result[secret] = state
    if result:
        return result
    if states is not None:
        return states
    if not model.pairs:
        raise UsageError("the model has no pairs; say which secrets there are with --secret NAME STATE")
    names = model.states
    return {names[s]: names[s] for s in sorted({s for pair in model.pairs for s in pair})}
