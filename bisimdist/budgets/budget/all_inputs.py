"""The budget of a program for all its inputs, and for lists of any length: proved, or refuted by a pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, pairwise, product
from typing import Any

from flint import fmpq

from bisimdist.budgets.budget.program import ProgramBudget, program_budget
from bisimdist.budgets.engine.coupling import Uncoupled
from bisimdist.budgets.engine.coupling_proof import Prover, written_form
from bisimdist.budgets.engine.coupling_search import Found, best_coupling
from bisimdist.budgets.engine.halfspaces import Form
from bisimdist.errors import BisimdistError, LimitError, UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below, log_enclosure
from bisimdist.exact.rational import ExactNumber, format_rational, parse_rational, to_fmpq
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.written.frame import document
from bisimdist.models.flowchart import Flowchart
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.flowcharts import flowchart
from bisimdist.programs.front import compiled, inputs_and_pairs
from bisimdist.programs.inputs import inputs_of_size
from bisimdist.programs.loading import loaded
from bisimdist.programs.request import Request
from bisimdist.progress import NEVER, Deadline
from bisimdist.verdicts import Settled, verdict_word

NEIGHBOURS = {
    "all": "every element of the input may differ, by at most 1",
    "one": "one element of the input differs, by at most 1",
}
VALUES = (0, 1, 2)  # what parameters without a default are in small cases
MOST_CASES = 8
SMALL = 2  # of longer inputs only the parameters are looked at that were the worst before
MOST_SIZE = 4
MOST_INPUTS = 100
MOST_STATES = 2_000
CUT = fmpq(1, 4096)  # paths of small inputs with less probability are given up


@dataclass(frozen=True, kw_only=True)
class Attained:
    """The largest ratio among small inputs.

    ``parameters``: the values of the parameters without a default.
    ``size``: how many elements the inputs have.
    ``every``: whether these are all inputs of this size.
    """

    budget: ProgramBudget
    parameters: Mapping[str, int]
    size: int | None
    every: bool

    @property
    def ratio(self) -> fmpq | None:
        """The ratio; None where it is infinite."""
        return None if self.budget.ratio is None else self.budget.ratio.ratio

    @property
    def exact(self) -> bool:
        """Whether no run was given up: otherwise the ratio is at least that, and probabilities are parts."""
        return self.budget.ratio is None or self.budget.ratio.exact or self.ratio is None

    def data(self) -> dict[str, object]:
        one, two = self.budget.probabilities()
        return {
            "exact": self.exact,
            "inputs": list(self.budget.pair),
            "parameters": dict(self.parameters),
            "answer": None if self.budget.ratio is None else self.budget.ratio.output,
            "probabilities": [format_rational(one), format_rational(two)],
            "ratio": "inf" if self.ratio is None else format_rational(self.ratio),
        }

    def sentence(self) -> str:
        data: dict[str, Any] = self.data()
        given = "".join(f", {name} = {value}" for name, value in self.parameters.items())
        first, second = data["inputs"]
        least = "" if self.exact else "at least "
        return (
            f"The inputs {first} and {second}{given} give the answer {data['answer']} with probabilities "
            f"{' and '.join(data['probabilities'])}: the ratio is {least}{data['ratio']}."
        )


@dataclass(frozen=True, kw_only=True)
class AllInputsBudget(Shown):
    """The budget of a program for all inputs.

    Parameters
    ----------
    model
        The program as a flowchart.
    length
        How long the inputs are; None for any length.
    found
        The coupling behind the budget; None where none was found.
    why
        Why none was found, with the line.
    examples
        By size the largest ratio of small inputs that were looked at.
    wanted
        The budget that was asked about, from below and from above; None where the least one was asked.

    Examples
    --------
    >>> import bisimdist
    >>> from bisimdist.models.library.programs.any_length import noisy_max
    >>> bisimdist.budgets.all_inputs_budget(noisy_max, neighbours="all", examples=False).exponents
    {'1/2': '2'}
    """

    command = "budget"

    model: Flowchart
    length: int | None
    found: Found | None
    why: str
    examples: Sequence[Attained] = ()
    wanted: tuple[fmpq, fmpq] | None = None
    budget: Mapping[str, Form] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", {} if self.found is None else self.found.budget)

    @property
    def exponents(self) -> dict[str, str]:
        """By the ratio of noise its exponent, an expression of the parameters, without its sign."""
        return {base: _expression(form) for base, form in self.budget.items() if form}

    @property
    def attained(self) -> Attained | None:
        """The largest ratio of small inputs; None where none were looked at."""
        return max(self.examples, key=lambda found: (found.ratio is None, found.ratio), default=None)

    @property
    def ratio(self) -> fmpq | None:
        """The proved budget; None where there is none, or it depends on parameters."""
        return self.ratio_at({})

    def ratio_at(self, parameters: Mapping[str, int]) -> fmpq | None:
        """Return the proved budget for values of parameters; None where there is none, or one is missing."""
        names = {name for form in self.budget.values() for name in form if name}
        numeric = all(base[0].isdigit() for base in self.exponents)
        if self.found is None or names - parameters.keys() or not numeric:
            return None
        total = fmpq(1)
        for base in self.exponents:
            power = sum(int(v) * (parameters[name] if name else 1) for name, v in self.budget[base].items())
            total /= parse_rational(base) ** max(0, power)
        return total

    @property
    def interval(self) -> tuple[fmpq, fmpq] | None:
        """Between what the least budget lies, for the parameters of the pair with the largest ratio."""
        largest = self.attained
        most = None if largest is None else self.ratio_at(largest.parameters)
        if largest is None or largest.ratio is None or most is None:
            return None
        known = largest.every and largest.exact and self.length == largest.size
        return largest.ratio, largest.ratio if known else most

    @property
    def growth(self) -> list[fmpq] | None:
        """The largest ratios of 1, 2, 3 and so on elements, if none is proved and each exceeds the last."""
        ratios = [found.ratio for found in self.examples]
        known = [ratio for ratio in ratios if ratio is not None]
        if self.found is not None or self.length is not None or len(known) < MOST_SIZE:
            return None
        return known if all(one < two for one, two in pairwise(known)) else None

    @property
    def holds(self) -> Settled:
        """Whether the budget holds that was asked about; True if none was, and one is proved."""
        largest = self.attained
        if self.wanted is None:
            if self.found is not None:
                return True
            return False if largest is not None and largest.ratio is None else None
        if self.ratio is not None and self.ratio <= self.wanted[0]:
            return True
        if largest is not None and (largest.ratio is None or largest.ratio > self.wanted[1]):
            return False
        return None

    @property
    def status(self) -> Status:
        """How the work ended."""
        return Status.LIMIT if self.holds is None else Status.BRACKET

    def power(self) -> str:
        """Return the proved budget as an expression."""
        parts = [f"({base})^-({text})" for base, text in self.exponents.items()]
        return " ".join(parts) or "1"

    def data(self) -> dict[str, object]:
        ratio = self.ratio
        shown = None if self.attained is None else self.attained.data()
        lower = None if self.attained is None else self.attained.ratio
        return {
            "program": self.model.provenance(),
            "adjacency": self.model.neighbours,
            "length": "any" if self.length is None else self.length,
            "elements": [self.model.low, self.model.high],
            "verdict": verdict_word(self.holds),
            "budget": None if self.found is None else self.power(),
            "exponents": self.exponents,
            "ratio": None if ratio is None else format_rational(ratio),
            "epsilon": None if ratio is None else list(log_enclosure(ratio)),
            "exact": ratio is not None and ratio == lower,
            "attained": None if shown is None else shown["ratio"],
            **said(self, "interval growth"),
            "witness": shown,
            "reason": self.why or None,
            "status": self.status.value,
        }

    def report(self) -> Report:
        many = "of any length" if self.length is None else f"of length {self.length}"
        remarks: list[str] = []
        if self.wanted is not None:
            remarks.append(f"The budget {short_rational(self.wanted[0])}: {verdict_word(self.holds)}.")
        if self.found is None:
            remarks.append(f"No budget is proved: {self.why}.")
        else:
            ratio = self.ratio
            value = "" if ratio is None else f" = {format_rational(ratio)}"
            remarks.append(
                f"The budget {self.power()}{value} holds for all integer inputs {many}{self._elements()}."
            )
            if any(any(form) for form in self.budget.values()):
                remarks.append("An exponent below 0 counts as 0: the function then raises an exception.")
        remarks.append(f"Neighbours: {NEIGHBOURS[self.model.neighbours]}.")
        if self.attained is not None:
            if self.attained.ratio != 1:
                remarks.append(self.attained.sentence())
            remarks += self._tight(self.attained)
        return Report(heading=f"{self.model.origin['function']} for all inputs", remarks=tuple(remarks))

    def _elements(self) -> str:
        """Say between what the elements lie, where that is known."""
        if self.model.low is None or self.model.high is None:
            return ""
        return f" with elements from {self.model.low} to {self.model.high}"

    def _tight(self, largest: Attained) -> list[str]:
        """Say how far the proved budget is from the least one, or that the ratios grow."""
        growth, between = self.growth, self.interval
        if growth is not None:
            least = [short_rational(ratio).strip("[").partition(",")[0] for ratio in growth]
            return [
                f"No budget below {least[-1]} holds, and what is needed grows: for 1 to {len(least)} "
                f"elements it is at least {', '.join(least)}. What longer inputs need is not known."
            ]
        if between is None:
            return []
        if between[0] == 1 < between[1]:
            return []  # an example that tells nothing, such as runs that all raise an exception
        low, high = (short_rational(end) for end in between)
        given = [f"{name} = {value}" for name, value in largest.parameters.items()]
        if between[0] == self.ratio_at(largest.parameters):
            return [f"No smaller budget holds{' for ' if given else ''}{', '.join(given)}."]
        which = f"For {', '.join(given)} the least" if given else "The least"
        if between[0] == between[1]:
            return [f"{which} budget is {low}: lower than the proved one."]
        return [f"{which} budget lies between {low} and {high}."]

    def certificate(self) -> dict[str, object]:
        """Return the coupling with its proof.

        Raises
        ------
        UsageError
            If no budget is proved.
        """
        if self.found is None:
            raise UsageError("no budget is proved for all inputs, so there is no proof to write")
        claim = {"budget": {base: written_form(form) for base, form in self.budget.items()}}
        coupling = self.found.coupling
        waits = {} if coupling.plan.deferral is None else {"deferred": coupling.plan.deferral.written()}
        cells = Prover(coupling, self.budget).cells()
        return document("coupling", self.model, claims=[claim], **waits, cells=cells)


def _expression(form: Form) -> str:
    """Return a form as people write it."""
    parts = [(value, name) for name, value in sorted(form.items(), key=lambda part: (part[0] == "", part[0]))]
    made = ""
    for value, name in parts:
        sign = " - " if value < 0 else " + "
        size = str(abs(value)) if not name else name if abs(value) == 1 else f"{abs(value)} {name}"
        made += (sign if made else sign.strip(" +")) + size
    return made or "0"


def all_inputs_budget(  # noqa: PLR0913
    function: Callable[..., Any] | str,
    *,
    neighbours: str = "one",
    length: int | None = None,
    domain: Sequence[int] | None = None,
    alpha: ExactNumber | None = None,
    epsilon: ExactNumber | None = None,
    examples: bool = True,
    deadline: Deadline = NEVER,
) -> AllInputsBudget:
    """Return a budget of a program that holds for all integer inputs, of any length.

    Source: Barthe, Gaboardi, Grégoire, Hsu, Strub, "Proving Differential Privacy via Probabilistic
    Couplings", LICS 2016, Theorem 9 and Section 6; Wang, Ding, Kifer, Zhang, "CheckDP", CCS 2020, Section 3.

    Parameters
    ----------
    function
        The program, or ``FILE.py:FUNCTION``. Its first parameter is the input: an integer, or a list of
        integers. Parameters without a default stand for every integer, or for every ratio of noise.
    neighbours
        ``"one"``: one element of the input differs, by at most 1; ``"all"``: every one may.
    length
        How many elements the input has; None for any number.
    domain
        Between the least and the largest of these integers the elements are; by default anywhere.
    alpha, epsilon
        The budget to be proved or refuted; by default the least one that is found.
    examples
        Whether small inputs are looked at for a ratio that is attained.
    deadline
        As everywhere.

    Returns
    -------
    AllInputsBudget
        The budget with its proof, and the largest ratio of small inputs.

    Raises
    ------
    LimitError
        If a statement of the program cannot be followed; the message names the line.
    UsageError
        If the neighbours are named by another word.

    Examples
    --------
    >>> from bisimdist.models.library.programs.any_length import sparse_vector
    >>> all_inputs_budget(sparse_vector, neighbours="all", examples=False).power()
    '(1/2)^-(2 count + 2)'
    """
    if neighbours not in NEIGHBOURS:
        raise UsageError(f"neighbours {neighbours!r}: for all inputs they are one or all")
    wanted: tuple[fmpq, fmpq] | None = None
    if alpha is not None:
        wanted = to_fmpq(alpha), to_fmpq(alpha)
    elif epsilon is not None:
        wanted = fmpq(alpha_below(epsilon)), fmpq(alpha_above(epsilon))
    chart = flowchart(function, neighbours=neighbours, length=length, domain=domain)
    found, why = None, ""
    try:
        found = best_coupling(chart, deadline)
    except Uncoupled as error:
        line = chart.lines.get(error.place)
        why = f"{'' if line is None else f'line {line}: '}{error.why}"
    pairs = tuple(_largest(function, chart, length, domain, wanted, deadline)) if examples else ()
    return AllInputsBudget(model=chart, length=length, found=found, why=why, examples=pairs, wanted=wanted)


def _largest(  # noqa: PLR0913, PLR0917
    function: Callable[..., Any] | str,
    chart: Flowchart,
    length: int | None,
    domain: Sequence[int] | None,
    wanted: tuple[fmpq, fmpq] | None,
    deadline: Deadline,
) -> list[Attained]:
    """Return the largest ratio of small inputs by size, until one is larger than what was asked about."""
    plain, _, fixed = loaded(function, free=True)
    best: dict[int | None, Attained] = {}
    listed = "read" not in chart.places["start"]  # a single number is read at once
    sizes = [length] if length is not None else [1, 2, 3, MOST_SIZE]
    cases = list(islice(product(VALUES[1:] + VALUES[:1], repeat=len(chart.parameters)), MOST_CASES))
    for size in sizes if listed else [None]:
        inputs = _inputs(size, domain)
        every = domain is not None and not chart.parameters and len(inputs) < MOST_INPUTS
        for values in cases:
            given = dict(zip(chart.parameters, values, strict=True))
            try:
                if deadline.passed():
                    raise LimitError("the time is over")
                made = partial(plain, **{**fixed, **given})
                close = partial(_close, every=chart.neighbours == "all")
                request = Request("output", CUT, states=MOST_STATES, deadline=deadline)
                model = compiled(made, *inputs_and_pairs(inputs, neighbours=close), request)
                if not isinstance(model, ProgramChain):  # somebody asks, adaptively
                    return list(best.values())
                budget = program_budget(model, deadline=deadline)
            except LimitError:
                return list(best.values())
            except BisimdistError:  # such as noise that is added to noise
                continue
            found = Attained(budget=budget, parameters=given, size=size, every=every)
            ratio, known = found.ratio, best.get(size)
            if known is None or ratio is None or (known.ratio is not None and ratio > known.ratio):
                best[size] = found
            if ratio is None or (wanted is not None and ratio > wanted[1]):
                return list(best.values())
        if size in best and size == SMALL:
            cases = [tuple(best[size].parameters.values())]
    return list(best.values())


def _inputs(size: int | None, domain: Sequence[int] | None) -> list[Any]:
    values = list(domain or (0, 1))
    if size is None:
        return values
    return list(islice(inputs_of_size(values, size), MOST_INPUTS))


def _close(one: Any, other: Any, *, every: bool) -> bool:
    """Tell whether two inputs are neighbours."""
    if isinstance(one, int):
        return abs(one - int(other)) == 1
    apart: list[int] = [abs(x - y) for x, y in zip(one, other, strict=True)]
    return max(apart, default=0) == 1 and (every or sum(apart) == 1)
