"""Writes proofs about hidden Markov models as plain data (docs/certificates/hmm-proofs.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from bisimdist.budgets.engine.budget import BudgetResult
from bisimdist.budgets.engine.cone import Cone
from bisimdist.budgets.engine.multiplicative import Factors, Moves
from bisimdist.budgets.engine.parametric import ParametricProof
from bisimdist.budgets.verify.certificate import factors_of_entries
from bisimdist.distances.bound.certificate import CLAIM_DIGITS
from bisimdist.errors import UsageError
from bisimdist.exact.bernstein import Leaf, Sign
from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import rational_text
from bisimdist.faces.written.polynomials import polynomial_data, tree_data
from bisimdist.models.hmm import HMM
from bisimdist.traces.engine.numeric import NumericModel
from bisimdist.traces.engine.refutation import Impossible, Pump

MAX_PAIRS = 3_000_000  # more pairs of neighbours the checker does not look at


def _frame(kind: str, model: HMM, claim: Document) -> Document:
    return document(kind, model, claims=[claim], **factors_of_entries(model))


def _claimed(value: fmpq) -> str:
    return rational_text(value, digits=CLAIM_DIGITS)


def parametric_certificate(answer: ParametricProof) -> Document:
    """Return the certificate of a verdict about all parameter values.

    Raises UsageError if the verdict is not decided, or rests on a solver's word.
    """
    if answer.holds is None:
        raise UsageError("nothing was decided, so there is no proof to write")
    claim: Document = {
        "from": answer.pair[0],
        "to": answer.pair[1],
        "ratio": _claimed(answer.ratio),
        "length": str(answer.length),
        "verdict": answer.verdict,
    }
    if answer.violation is not None:
        claim["counterexample"] = list(answer.violation.word)
        claim["parameters"] = {n: _claimed(v) for n, v in answer.violation.parameters.items()}
        claim["probabilities"] = [_claimed(p) for p in answer.violation.probabilities]
        return _frame("hmm-parametric", answer.model, claim)
    if not answer.certified:
        raise UsageError("only the solver Z3 confirms the answer, so there is no proof to write")
    result = _frame("hmm-parametric", answer.model, claim)
    names = answer.model.parameter_names
    denominators = []
    for monomials in answer.denominators:
        found = (p.proof for p in answer.polynomials if p.sign is Sign.POSITIVE and p.monomials == monomials)
        tree = next(found, None) or Leaf()  # a constant needs no proof of its own
        denominators.append({"polynomial": polynomial_data(monomials), "proof": tree_data(tree, names)})
    result["denominators"] = denominators
    result["proofs"] = [
        {"polynomial": polynomial_data(p.monomials), "proof": tree_data(p.proof, names)}
        for p in answer.polynomials
        if p.sign is Sign.NONNEGATIVE and p.proof is not None and not isinstance(p.proof, Leaf)
    ]
    return result


def invariant_certificate(model: HMM, pair: tuple[str, str], ratio: fmpq, invariant: Document) -> Document:
    """Return the certificate of a budget for all lengths that rests on an invariant."""
    claim: Document = {
        "from": pair[0],
        "to": pair[1],
        "ratio": _claimed(ratio),
        "length": "all",
        "verdict": "holds",
    }
    return {**_frame("hmm-all-lengths", model, claim), "invariant": invariant}


def _function(numeric: NumericModel, values: Sequence[fmpq]) -> Document:
    return {
        numeric.model.states[state]: rational_text(value)
        for state, value in zip(numeric.states, values, strict=True)
        if value
    }


def _combination(found: Mapping[int, fmpq]) -> Document:
    return {str(place): rational_text(amount) for place, amount in found.items()}


def cone_invariant(numeric: NumericModel, cone: Cone) -> Document:
    """Return a closed cone as plain data."""
    symbols = numeric.model.observations
    steps: list[Document] = [{} for _ in cone.generators]
    for (place, symbol), found in cone.steps.items():
        if found:
            steps[place][symbols[symbol]] = _combination(found)
    return {
        "type": "cone",
        "generators": [_function(numeric, generator) for generator in cone.generators],
        "starts": {symbols[symbol]: _combination(found) for symbol, found in cone.starts.items() if found},
        "steps": steps,
    }


def factors_invariant(numeric: NumericModel, factors: Factors) -> Document:
    """Return a table of factors as plain data."""
    names = [numeric.model.states[state] for state in numeric.states]

    def moves(found: Moves) -> Document:
        return {
            numeric.model.observations[symbol]: [
                [names[k], names[m], rational_text(amount)] for (k, m), amount in sorted(coupling.items())
            ]
            for symbol, coupling in found.items()
        }

    return {
        "type": "factors",
        "table": [
            {"pair": [names[i], names[j]], "factor": rational_text(r), "moves": moves(factors.moves[i, j])}
            for (i, j), r in sorted(factors.table.items())
        ],
        "forward": moves(factors.forward),
        "backward": moves(factors.backward),
    }


def coupling_invariant(chain_certificate: Document, merged: Mapping[str, str]) -> Document:
    """Return a skewed coupling of cost zero as plain data.

    chain_certificate: the certificate that a distance is zero.
    merged: for each state of the chain that was merged with another one the name of that.
    """
    return {"type": "coupling", "chain": chain_certificate, "merged": dict(merged)}


def pump_certificate(numeric: NumericModel, pair: tuple[str, str], found: Pump | Impossible) -> Document:
    """Return the certificate that no budget holds for all lengths."""
    symbols, states = numeric.model.observations, numeric.model.states
    claim: Document = {"from": pair[0], "to": pair[1], "ratio": "any", "length": "all", "verdict": "violated"}
    result = _frame("hmm-no-budget", numeric.model, claim)
    if isinstance(found, Impossible):
        result["pump"] = {
            "type": "impossible",
            "swapped": found.swapped,
            "word": [symbols[symbol] for symbol in found.word],
        }
        return result

    def vector(masses: Mapping[int, fmpq]) -> Document:
        return {states[numeric.states[s]]: rational_text(mass) for s, mass in masses.items() if mass}

    # states that the pair cannot reach do not count; they are left out, and lead nowhere that counts only
    # if nothing leads from them into a counting state, so all states that do are counted too
    counting = _closed(numeric, found)
    result["pump"] = {
        "type": "pump",
        "swapped": found.swapped,
        "prefix": [symbols[symbol] for symbol in found.prefix],
        "cycle": [symbols[symbol] for symbol in found.cycle],
        "suffix": [symbols[symbol] for symbol in found.suffix],
        "fast": rational_text(found.fast),
        "slow": rational_text(found.slow),
        "below": vector(found.below),
        "above": vector(found.above),
        "counting": [states[s] for s in sorted(counting)],
    }
    return result


def _closed(numeric: NumericModel, found: Pump) -> set[int]:
    """Return the counting states of the whole model: unreachable states, with mass zero, all count."""
    known = set(numeric.states)
    counting = {numeric.states[s] for s in found.counting}
    return counting | {s for s in range(len(numeric.model)) if s not in known}


def several_certificate(parts: Sequence[Document]) -> Document:
    """Return one certificate that holds several ones about one model.

    parts: at least one certificate; one alone is returned as it is.
    """
    if len(parts) == 1:
        return dict(parts[0])
    shared = ("format", "version", "model", "digest")
    return {
        **{key: parts[0][key] for key in shared},
        "kind": "hmm-several",
        "parts": [{key: value for key, value in part.items() if key not in shared} for part in parts],
    }


def mechanism_certificate(result: BudgetResult) -> Document:
    """Return the certificate of the exact budget of a built-in mechanism.

    Raises UsageError if the mechanism is none that the checker knows, or has too many pairs of neighbours for
    it.
    """
    if not result.family.description:
        raise UsageError(f"{result.family.name} is no built-in mechanism, so there is no proof to write")
    if result.pairs > MAX_PAIRS:
        raise UsageError(
            f"the checker looks at every pair of neighbours, at most {MAX_PAIRS}; here are {result.pairs}"
        )
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "mechanism-budget",
        "mechanism": dict(result.family.description),
        "claims": [
            {
                "adjacency": result.adjacency.value,
                "ratio": "inf" if result.ratio is None else _claimed(result.ratio),
                "pair": [[str(x) for x in results] for results in result.pair],
                "answer": result.answer,
                "probabilities": [_claimed(p) for p in result.probabilities],
            }
        ],
    }
