"""Certificates of kind ``hmm-budget``: budgets of hidden Markov models at a length.

The rules are named H (the model), W (words) and L (layers) as in ``docs/certificates/hmm.md``; why they prove
the claims is in ``docs/theory/hmm.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.hidden_markov import AboutMarkov, HiddenMarkov, NumericMarkov, read_length
from bisimdist.checker.core.reading import (
    ENTRY,
    LOOK,
    MalformedCertificate,
    Mass,
    RuleViolation,
    hold,
    integer,
    item,
    rational,
    shown,
    spend,
)
from bisimdist.checker.core.shape import (
    Between,
    Bound,
    CheckReport,
    bound,
    flag,
    judged,
    key,
    listed,
    named,
    row,
)

Vector = Mapping[str, int | Fraction]
Cover = tuple[int, Fraction]


class _Claim(Between):
    """That a ratio holds, perhaps attained by a word, or that a word exceeds it."""

    ratio: Bound = key(bound)
    holds: bool = key(flag)
    word: list[str] | None = key(listed(item), default=None)
    probabilities: tuple[Fraction, Fraction] | None = key(row(rational, rational), default=None)
    parameters: Mapping[str, Fraction] | None = key(named(rational), default=None)

    def __post_init__(self) -> None:
        """Demand all of a word, or nothing where the ratio holds."""
        given = [part is not None for part in (self.word, self.probabilities, self.parameters)]
        if any(all_of(given)) != all(all_of(given)) or not (self.holds or any(all_of(given))):
            raise MalformedCertificate(f"{self.where} has no word with its probabilities and parameters")


class _Proof(Between):
    """Layers of vectors, each with what covers what follows: a vector of the next layer, times a factor."""

    ratio: Fraction = key(rational)
    start: Fraction = key(rational)
    layers: list[list[Vector]] = key(listed(listed(named(integer))))
    covers: list[list[Mapping[str, Cover]]] = key(listed(listed(named(row(integer, rational)))))


class _Document(AboutMarkov):
    length: int = key(read_length)
    up_to: bool = key(flag)
    proofs: list[_Proof] = key(listed(_Proof.read, "proof"))
    factors: Any = key(listed(lambda value, _: value), default_factory=list)


class _Frame:
    """What all claims of a certificate share."""

    def __init__(self, whole: _Document, model: HiddenMarkov) -> None:
        self.model, self.length, self.up_to = model, whole.length, whole.up_to


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``hmm-budget``."""
    whole = _Document.whole(document)
    claims = [_Claim.read(claim, f"claim {n}") for n, claim in counted(enumerate(whole.claims, 1))]

    def check() -> None:
        frame = _Frame(whole, whole.embedded(model, whole.factors))
        proved = _proved(frame, whole.proofs)
        for claim in counted(claims):
            _check_claim(frame, claim, proved, claim.where)

    length = {"length": str(whole.length), "up_to": whole.up_to}
    return judged(({**claim, **length} for claim in counted(whole.claims)), check)


def _check_claim(
    frame: _Frame, claim: _Claim, proved: Mapping[tuple[str, str], Fraction], where: str
) -> None:
    """Check one claim against the words and what the proofs have shown."""
    first, second, ratio = claim.source, claim.target, claim.ratio
    if claim.word is not None and claim.parameters is not None:
        _check_word(frame, claim, claim.word, claim.parameters)
    if not claim.holds:
        return
    if ratio is None:
        if claim.word is None:
            raise RuleViolation(f"{where}: L5: an infinite ratio is claimed without a word")
        return
    for pair in ((first, second), (second, first)):
        if pair not in proved or proved[pair] > ratio:
            raise RuleViolation(
                f"{where}: L5: there is no proof from {shown(pair[0])} to {shown(pair[1])} for the ratio"
            )


def _check_word(frame: _Frame, claim: _Claim, word: list[str], parameters: Mapping[str, Fraction]) -> None:
    where, ratio = claim.where, claim.ratio
    if not word or (len(word) > frame.length if frame.up_to else len(word) != frame.length):
        raise RuleViolation(f"{where}: W1: the word has {len(word)} observations")
    if set(all_of(parameters)) != set(all_of(frame.model.names)):
        raise RuleViolation(f"{where}: W2: the parameters are not those of the model")
    model = frame.model.at([parameters[name] for name in counted(frame.model.names)])
    sides = (model.distribution(name) for name in (claim.source, claim.target))
    found = tuple(model.along(side, word).total() for side in counted(sides))
    if found != claim.probabilities:
        raise RuleViolation(f"{where}: W3: the word has other probabilities")
    low, high = sorted(all_of(found))
    if claim.holds:
        attained = high == ratio * low and high > 0 if ratio is not None else low == 0 < high
        if not attained:
            raise RuleViolation(f"{where}: W4: the word does not attain the ratio")
    elif ratio is None or not high > ratio * low:
        raise RuleViolation(f"{where}: W5: the word does not exceed the ratio")


def _proved(frame: _Frame, proofs: list[_Proof]) -> dict[tuple[str, str], Fraction]:
    """Check every proof; return the least ratio that is proved for each direction."""
    result: dict[tuple[str, str], Fraction] = {}
    if not proofs:
        return result
    model = frame.model.numeric()
    for proof in counted(proofs):  # at first: nothing below is longer than the document
        layers, covers = len(proof.layers), len(proof.covers)
        if layers != frame.length or covers != frame.length - 1:
            raise RuleViolation(f"{proof.where}: L1: there are {layers} layers and {covers} layers of covers")
    live = _live(model, frame)
    for proof in counted(proofs):
        _check_layers(model, frame, live, proof)
        pair = proof.source, proof.target
        result[pair] = min(result.get(pair, proof.ratio), proof.ratio)
    return result


def _live(model: NumericMarkov, frame: _Frame) -> list[set[str]]:
    """Return for each position the states from which the rest of a word that counts can be made."""
    everything = set(all_of(model.emissions))
    if frame.up_to:
        return [everything] * frame.length
    live = [everything]
    spend(LOOK * sum(all_of(map(len, (everything, *model.rows.values())))) * frame.length)
    hold(ENTRY * len(everything) * frame.length)
    for _ in counted(range(frame.length - 1)):
        live.append({s for s, row in counted(model.rows.items()) if not live[-1].isdisjoint(row)})
    live.reverse()
    return live


def _below(vector: Vector, bound: Vector, factor: Mass, states: set[str]) -> bool:
    """Tell whether a vector is at most a multiple of another one, on some states."""
    zero = Fraction(0)
    return all(vector.get(s, zero) <= factor * bound.get(s, zero) for s in counted(states))


def _check_layers(model: NumericMarkov, frame: _Frame, live: list[set[str]], proof: _Proof) -> None:
    layers, covers, where = proof.layers, proof.covers, proof.where
    if not layers[0]:
        raise RuleViolation(f"{where}: L1: the first layer is empty")
    ratio = Mass.of(proof.ratio, f"{where}: L1: the ratio")
    factor = Mass.of(proof.start, f"{where}: L2: the start")
    first, second = (model.distribution(name) for name in (proof.source, proof.target))
    if live[0].isdisjoint((*first, *second)):
        raise RuleViolation(f"{where}: L6: no sequence of the length is possible")
    start = {
        s: first.get(s, Fraction(0)) - ratio * second.get(s, Fraction(0)) for s in counted((*first, *second))
    }
    if not _below(start, layers[0][0], factor, live[0]):
        raise RuleViolation(f"{where}: L2: the start is not below the first vector")
    for position, layer in counted(enumerate(layers)):
        following = None if position == frame.length - 1 else (layers[position + 1], covers[position])
        if following is not None and len(following[1]) != len(layer):
            raise RuleViolation(f"{where}: L1: layer {position} has {len(following[1])} rows of covers")
        for number, vector in counted(enumerate(layer)):
            for symbol in counted(model.made(vector)):
                place = f"{where}: layer {position}, vector {number}, observation {shown(symbol)}"
                masses = {
                    s: mass * model.emissions[s][symbol]
                    for s, mass in counted(vector.items())
                    if s in model.emissions and symbol in model.emissions[s]
                }
                if (following is None or frame.up_to) and sum(all_of(masses.values())) > 0:
                    raise RuleViolation(f"{place}: L3: the total is positive")
                if following is not None:
                    _check_cover(
                        model.moved(masses),
                        following[0],
                        following[1][number].get(symbol),
                        live[position + 1],
                        place,
                    )


def _check_cover(moved: Vector, layer: list[Vector], cover: Cover | None, live: set[str], place: str) -> None:
    if cover is None:
        if any(value > 0 for state, value in counted(moved.items()) if state in live):
            raise RuleViolation(f"{place}: L4: a successor with a positive entry has no cover")
        return
    index, factor = cover[0], Mass.of(cover[1], f"{place}: L4: the factor")
    if not 0 <= index < len(layer) or not _below(moved, layer[index], factor, live):
        raise RuleViolation(f"{place}: L4: the successor is not below its cover")
