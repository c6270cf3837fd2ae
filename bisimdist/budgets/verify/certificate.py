"""Certificates of kind ``hmm-budget``: budgets of hidden Markov models at a length.

The format is specified in ``docs/certificates/hmm.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from flint import fmpq

from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import integer_text, rational_text
from bisimdist.faces.written.polynomials import factors_data, parts_of
from bisimdist.models.hmm import HMM
from bisimdist.traces.engine.integers import IntegerModel
from bisimdist.traces.engine.search import DirectedProof

NO_PARAMETERS: Mapping[str, fmpq] = MappingProxyType({})


def budget_claim(  # noqa: PLR0913
    model: HMM,
    pair: tuple[str, str],
    ratio: fmpq | None,
    measured: tuple[Sequence[str], tuple[fmpq, fmpq]] | None,
    parameters: Mapping[str, fmpq] = NO_PARAMETERS,
    *,
    holds: bool = True,
) -> Document:
    """Return one claim of a certificate.

    ratio: the budget; None stands for infinity.
    measured: a sequence with its two probabilities: one that exceeds the ratio, or, where the claim is an
        exact least ratio, one that attains it. None where there is none.
    parameters: values of the parameters, where they matter.
    holds: whether the claim is that no sequence exceeds the ratio, in either direction.
    """
    data: Document = {
        "from": pair[0],
        "to": pair[1],
        "ratio": "inf" if ratio is None else rational_text(ratio),
        "holds": holds,
    }
    if measured is not None:
        word, probabilities = measured
        data["word"] = list(word)
        data["probabilities"] = [rational_text(value) for value in probabilities]
        values = {p.name: (p.low + p.high) / 2 for p in model.parameters} | dict(parameters)
        data["parameters"] = {name: rational_text(value) for name, value in values.items()}
    return data


def factors_of_entries(model: HMM) -> Document:
    """Return the factors that show the entries of a model to be probabilities, where any has more than one.

    Names of an object of plain data: ``{}``, or ``{"factors": [...]}`` with polynomials as certificates write
    them.
    """
    tables = (model.emissions, model.rows, [row for _, row in model.distributions])
    found = factors_data(parts_of(entry for table in tables for row in table for _, entry in row))
    return {"factors": found} if found else {}


def budget_certificate(
    model: HMM, length: int, *, up_to: bool, claims: Sequence[Document], proofs: Iterable[DirectedProof]
) -> Document:
    """Return a certificate: for each direction of each claim that holds a proof for a ratio of at most that.

    length, up_to: the length of the sequences, and whether shorter ones count too.
    claims: what is claimed (`budget_claim`).
    """
    return document(
        "hmm-budget",
        model,
        **factors_of_entries(model),
        length=str(length),
        up_to=up_to,
        claims=list(claims),
        proofs=[_directed(model, length, up_to, proof) for proof in proofs],
    )


def _directed(model: HMM, length: int, up_to: bool, proof: DirectedProof) -> Document:
    resolved = IntegerModel.from_model(model, length, up_to=up_to)
    scale = resolved.scale
    first, second = (resolved.start(model.distribution(name)) for name in (proof.first, proof.second))
    top = proof.proof.layers[0][0]
    start = next(
        ((first[s] - proof.ratio * second[s]) / value for s, value in enumerate(top) if value), fmpq(0)
    )
    layers = [
        [
            {model.states[state]: integer_text(value) for state, value in enumerate(vector) if value}
            for vector in layer
        ]
        for layer in proof.proof.layers
    ]
    covers = []
    for layer in proof.proof.covers:
        rows = []
        for row in layer:
            entries = {}
            for symbol, cover in enumerate(row):
                if cover is not None:
                    factor = fmpq(cover[1], cover[2]) / scale
                    entries[model.observations[symbol]] = [str(cover[0]), rational_text(factor)]
            rows.append(entries)
        covers.append(rows)
    return {
        "from": proof.first,
        "to": proof.second,
        "ratio": rational_text(proof.ratio),
        "start": rational_text(start),
        "layers": layers,
        "covers": covers,
    }
