"""The event of a proof held against samples of the real thing: how likely it is there, with confidence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.binomial import binomial_interval, tail_at_most
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.lmc import LMC
from bisimdist.privacy.audit.answer import Audit, Distinguisher, Side
from bisimdist.privacy.delta.ask import delta
from bisimdist.privacy.engine.event import ACCEPT, REJECT, Event
from bisimdist.programs.chain import CUT, ProgramChain
from bisimdist.programs.outcomes import class_labels, is_of_class
from bisimdist.progress import NEVER, Deadline, Progress, silent

DEFAULT_CONFIDENCE = fmpq(99, 100)

SMALLER = tuple(fmpq(numerator, 8) for numerator in (7, 6, 5, 4, 3, 2, 1, 0))
"""Where delta is 0 no event gains anything; then alpha - 1 is shortened until one does."""

EVERY = 1_000


def distinguisher(  # noqa: PLR0913
    model: LMC,
    alpha: ExactNumber | None = None,
    *,
    epsilon: ExactNumber | None = None,
    pair: tuple[str, str] | None = None,
    gap: ExactNumber | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
) -> Distinguisher:
    """Return the event behind the lower bound on delta of a pair.

    Parameters
    ----------
    model, alpha, epsilon, gap, deadline, memory, progress
        As for `bisimdist.delta`.
    pair
        The states; by default the only pair of the model.

    Returns
    -------
    Distinguisher
        The event, with which `audit` compares samples.

    Raises
    ------
    UsageError
        If the model has not exactly one pair and none is named.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> bisimdist.privacy.distinguisher(chain, "11/10").pair
    DeltaBound(source='s0', target='s1', lower=4/25, upper=4/25, cut=None)
    """
    if pair is None and len(model.pairs) != 1:
        raise UsageError(f"the model has {len(model.pairs)} pairs; name the one that is sampled (--pair S T)")
    pairs = None if pair is None else (pair,)
    limits = {"gap": gap, "deadline": deadline, "memory": memory, "progress": progress}
    answer = delta(model, alpha, epsilon=epsilon, pairs=pairs, **limits)  # type: ignore[arg-type]
    found = answer
    for part in (*SMALLER, None):
        witness = found.pairs[0].witness
        if witness.event.root != REJECT:
            return Distinguisher(
                answer=answer, event=witness.event, swapped=witness.source != answer.pairs[0].source
            )
        if part is None or answer.alpha_upper == 1:
            break
        found = delta(model, 1 + (answer.alpha_upper - 1) * part, pairs=pairs, **limits)  # type: ignore[arg-type]
    return Distinguisher(answer=answer, event=None, swapped=False)


def audit(  # noqa: PLR0913
    found: Distinguisher,
    first: Iterable[str],
    second: Iterable[str],
    *,
    claim: ExactNumber | None = None,
    confidence: ExactNumber = DEFAULT_CONFIDENCE,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Audit:
    """Test independent outputs of an implementation against an event that was fixed beforehand.

    Parameters
    ----------
    found
        The event.
    first, second
        Outputs for the first and for the second state of the pair, each as a text: a label, or several
        with spaces between them or as a JSON list; without the label of the state itself. The last label is
        taken to be repeated.
    claim
        The claimed delta; by default the upper bound on delta of the model.
    confidence
        The least probability with which the lower bound holds.
    deadline, progress
        When to give up, and who is told.

    Returns
    -------
    Audit
        A lower bound on delta of the sampled implementation, at the alpha of the lower bound on delta of the
        model.

    Raises
    ------
    UsageError
        If the confidence is not between 0 and 1, or there is no output.
    LimitError
        If the deadline passes.

    Examples
    --------
    >>> from flint import fmpq
    >>> from bisimdist.models.library.registry import build_example
    >>> found = distinguisher(build_example("figure1"), "11/10")
    >>> seen = audit(found, ["b"] * 900 + ["c"] * 100, ["b"] * 400 + ["c"] * 600)
    >>> seen.violated, seen.model_contradicted, fmpq(38, 100) < seen.lower < fmpq(46, 100)
    (True, True, True)

    Notes
    -----
    The proof is in ``docs/audit.md``.
    """
    sure = to_fmpq(confidence)
    if not 0 < sure < 1:
        raise UsageError(f"the confidence is {sure}; expected a number strictly between 0 and 1")
    chain, pair = found.answer.model, found.pair
    names = (pair.source, pair.target)
    counts = [
        _counted(outputs, name, deadline, progress)
        for name, outputs in zip(names, (first, second), strict=True)
    ]
    if not isinstance(chain, LMC):
        raise UsageError("an audit samples without an analyst; expected a model without actions")
    reader = _Reader(chain, found.event)
    inside = [
        sum(n for output, n in count.items() if reader.inside(name, output))
        for name, count in zip(names, counts, strict=True)
    ]
    totals = [sum(count.values()) for count in counts]
    sides = [
        Side(
            name=name,
            outputs=totals[k],
            inside=inside[k],
            interval=binomial_interval(inside[k], totals[k], 1 - sure),
            contradiction=_contradiction(found, reader, name, counts[k], inside[k], (1 - sure) / 2),
        )
        for k, name in enumerate(names)
    ]
    more, less = reversed(sides) if found.swapped else sides
    gain = more.interval[0] - found.answer.alpha_lower * less.interval[1]
    return Audit(
        distinguisher=found,
        claim=pair.upper if claim is None else to_fmpq(claim),
        confidence=sure,
        lower=max(fmpq(0), gain),
        sides=(sides[0], sides[1]),
    )


def _counted(outputs: Iterable[str], name: str, deadline: Deadline, progress: Progress) -> Counter[str]:
    count: Counter[str] = Counter()
    for number, output in enumerate(outputs):
        if number % EVERY == 0:
            deadline.check()
            progress(f"outputs for {name}", number, None)
        count[output] += 1
    if not count:
        raise UsageError(f"there is no output for {name}; expected at least one")
    return count


class _Reader:
    """Reads outputs as traces of a chain."""

    def __init__(self, chain: LMC, event: Event | None) -> None:
        self.chain = chain
        self.event = event
        self.labels = set(chain.labels)
        self.classes = class_labels(self.labels) if isinstance(chain, ProgramChain) else []

    def trace(self, name: str, output: str) -> list[str]:
        """Return the labels that an output stands for, that of the state first."""
        return [self.chain.labels[self.chain.index(name)], *self._labels(output)]

    def _labels(self, output: str) -> list[str]:
        for text in (output, repr(output), f"{output}/1"):  # of programs: 'a' is printed as a, 3/1 as 3
            if text in self.labels:
                return [text]
            of_class = next((label for label in self.classes if is_of_class(text, label)), None)
            if of_class is not None:
                return [of_class]
        if output.startswith("["):
            try:
                found = json.loads(output)
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, list) and found and all(isinstance(label, str) for label in found):
                return found
        return output.split() or [output]

    def inside(self, name: str, output: str) -> bool:
        if self.event is None:
            return False
        nodes, here = self.event.nodes, self.event.root
        trace = self.trace(name, output)
        for label in (*trace, *(trace[-1:] * len(nodes))):
            if here < 0:
                break
            here = nodes[here].get(label, REJECT)
        return here == ACCEPT

    def possible(self, name: str, output: str) -> bool:
        """Tell whether some run of the model shows what an output says."""
        chain = self.chain
        here = {chain.index(name)}
        for label in self.trace(name, output)[1:]:
            here = {
                target for state in here for target, _ in chain.rows[state] if chain.labels[target] == label
            }
        return bool(here)

    def outputs(self, name: str) -> Iterator[tuple[str, fmpq]]:
        """Yield what may be seen after a state, with its probability, if nothing else is seen."""
        chain = self.chain
        row = chain.rows[chain.index(name)]
        if all(chain.rows[target] == ((target, 1),) for target, _ in row):
            found: dict[str, fmpq] = {}
            for target, p in row:
                found[chain.labels[target]] = found.get(chain.labels[target], fmpq(0)) + p
            yield from ((label, p) for label, p in found.items() if not (label == CUT and self.cut(name)))

    def cut(self, name: str) -> fmpq:
        """Return how likely a run is one of those of which nothing is known."""
        return self.chain.cut_from(name) if isinstance(self.chain, ProgramChain) else fmpq(0)


def _contradiction(  # noqa: PLR0913, PLR0917
    found: Distinguisher, reader: _Reader, name: str, count: Counter[str], inside: int, risk: fmpq
) -> str:
    """Say why the model does not make such outputs: one is impossible, or comes too often or too seldom."""
    cut = reader.cut(name)
    if not cut:
        strange = next((output for output in count if not reader.possible(name, output)), None)
        if strange is not None:
            return f"the model never shows {strange[:60]}"
    seen: Counter[str] = Counter()
    for output, n in count.items():
        seen[reader.trace(name, output)[1]] += n
    tested = [("the event", inside, found.probability(name))] if found.event is not None else []
    tested += [(label, seen[label], p) for label, p in reader.outputs(name)]
    total = sum(count.values())
    for what, n, p in tested:
        for k, chance in ((n, p + cut), (total - n, 1 - p + cut)):  # too often; too seldom
            if k and tail_at_most(k, total, chance, risk / (2 * len(tested))):
                return f"{what} comes {n} times in {total}"
    return ""
