"""Scenarios: who knows what beforehand, which secrets there are, and what is published."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from flint import fmpq

from bisimdist.errors import Located, ModelError, NumberError, UsageError
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.entries import EntryText, read_entry
from bisimdist.models.hmm import HMM
from bisimdist.models.mechanisms.mechanism import Mechanism, Result, result_name
from bisimdist.models.polynomial import Entry, RationalFunction, format_entry

DataSet = tuple[int | str, ...]  # one entry for each person or question


def product_prior(
    marginals: Sequence[Mapping[int | str, EntryText]], parameters: Sequence[str] = ()
) -> dict[DataSet, Entry]:
    """Return the prior under which the entries of a data set are independent.

    ``marginals``: for each position the distribution of its entry; expressions over the parameters are
        allowed.
    ``parameters``: the names of the parameters.
    returns: the probability of each data set.
    Raises NumberError if an expression cannot be read.

    >>> product_prior([{0: "1-p", 1: "p"}, {0: "1/2", 1: "1/2"}], ["p"])[1, 0]
    RationalFunction('1/2*p')
    """
    names = sorted(parameters)
    read = [{value: read_entry(text, names) for value, text in row.items()} for row in marginals]
    prior: dict[DataSet, Entry] = {}
    for chosen in product(*(row.items() for row in read)):
        chance: Entry = fmpq(1)
        for _, entry in chosen:
            chance = chance * entry
        if chance:
            prior[tuple(value for value, _ in chosen)] = chance
    return prior


@dataclass(frozen=True, slots=True)
class Scenario:
    """A Pufferfish scenario for a mechanism that answers once.

    ``priors``: by name what somebody may know beforehand: a distribution of data sets, whose probabilities
        may be expressions over the parameters.
    ``secrets``: by name predicates on data sets.
    ``query``: what is asked of a data set.
    ``mechanism``: what answers for the result of the query.
    ``parameters``: for each parameter the ends of its open interval.
    Sources: Kifer, Machanavajjhala, "Pufferfish: A framework for mathematical privacy definitions", ACM
    Transactions on Database Systems 39, 2014; LWZ22, Section 4.

    >>> from bisimdist.models.mechanisms import geometric_mechanism
    >>> scenario = Scenario(
    ...     priors={"independent": product_prior([{0: "1-p", 1: "p"}] * 2, ["p"])},
    ...     secrets={"sick": lambda d: d[0] == 1, "healthy": lambda d: d[0] == 0},
    ...     pairs=(("sick", "healthy"),),
    ...     query=sum,
    ...     mechanism=geometric_mechanism("1/2", 3),
    ...     parameters={"p": (0, 1)},
    ... )
    >>> scenario.model().distribution("independent|sick")
    ((1, RationalFunction('-p + 1')), (2, RationalFunction('p')))
    """

    priors: Mapping[str, Mapping[DataSet, EntryText]]
    secrets: Mapping[str, Callable[[DataSet], bool]]
    pairs: tuple[tuple[str, str], ...]
    query: Callable[[DataSet], Result]
    mechanism: Mechanism
    parameters: Mapping[str, tuple[ExactNumber, ExactNumber]] | None = None

    def model(self) -> HMM:
        """Return the model whose states are the query results, with a pair for each prior and secret pair.

        The distribution ``prior|secret`` is the prior conditioned on the secret. A pair of which one secret
        is impossible under a prior is left out for that prior, as the definition says; a secret of
        probability zero would make every comparison vacuous.

        Raises ModelError if a prior is no distribution, or its probabilities cannot be read.
        """
        names = sorted(self.parameters or {})
        for pair in self.pairs:
            for name in pair:
                if name not in self.secrets:
                    raise UsageError(
                        f"the pair ({', '.join(pair)}) names the secret {name!r}, which is not declared"
                    )
        conditioned: dict[str, dict[str, EntryText]] = {}
        pairs = []
        results: dict[str, Result] = {}
        for label, prior in self.priors.items():
            table = self._read(label, prior, names)
            for data in table:
                result = self.query(data)
                results.setdefault(result_name(result), result)
            for pair in self.pairs:
                given = [self._given(table, secret) for secret in pair]
                if not all(given):
                    continue
                both = (f"{label}|{pair[0]}", f"{label}|{pair[1]}")
                conditioned.update(zip(both, given, strict=True))
                pairs.append(both)
        if not pairs:
            raise UsageError("under every prior one secret of each pair is impossible; nothing is to compare")
        order = sorted(results, key=lambda name: (len(name), name))
        answers: dict[str, dict[str, EntryText]] = {
            name: dict(self.mechanism.answer(results[name])) for name in order
        }
        return HMM.from_mappings(
            answers,
            {},
            conditioned,
            observations=self.mechanism.answers,
            pairs=pairs,
            parameters=self.parameters,
        )

    def _read(
        self, label: str, prior: Mapping[DataSet, EntryText], names: Sequence[str]
    ) -> dict[DataSet, Entry]:
        table: dict[DataSet, Entry] = {}
        total: Entry = fmpq(0)
        for data, text in prior.items():
            with Located(place=f"prior {label!r}, data set {data!r}"):
                entry = read_entry(text, names)
                if isinstance(entry, fmpq) and entry < 0:
                    raise NumberError(f"the probability is {entry}; expected at least 0")
            if entry:
                table[data] = entry
            total = total + entry
        if total != 1:
            raise ModelError(
                f"the probabilities sum to {format_entry(total)}; expected 1", place=f"prior {label!r}"
            )
        return table

    def _given(self, table: Mapping[DataSet, Entry], secret: str) -> dict[str, EntryText]:
        """Return the distribution of the query result given the secret; empty where that is impossible."""
        holds = [data for data in table if self.secrets[secret](data)]
        total = _total(table[data] for data in holds)
        if not total:
            return {}
        shares: dict[str, Entry] = {}
        for data in holds:
            name = result_name(self.query(data))
            shares[name] = shares.get(name, fmpq(0)) + table[data]
        return {name: _quotient(share, total) for name, share in shares.items()}


def _total(entries: Iterable[Entry]) -> Entry:
    total: Entry = fmpq(0)
    for entry in entries:
        total = total + entry
    return total


def _quotient(share: Entry, total: Entry) -> EntryText:
    quotient = share / total
    if isinstance(quotient, RationalFunction) and quotient.constant is not None:
        return quotient.constant
    return quotient
