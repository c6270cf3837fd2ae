"""Models as other tools keep them: states with valuations and propositions, choices with actions.

A reader of a format of another tool makes an `Explicit`; `observed` makes a chain, an automaton or an
interactive model of it, by what an observer is said to see.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple, TypeVar

from flint import fmpq, fmpz

from bisimdist.errors import ModelError, UsageError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.models.contested import contested
from bisimdist.models.entries import Parameter
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain, IntervalRow
from bisimdist.models.io.observations import OWN_LABELS, Scope, observations
from bisimdist.models.io.properties import Properties
from bisimdist.models.io.reading import Reading
from bisimdist.models.io.silent import without_silent_steps
from bisimdist.models.io.silent_choices import without_silent_choices
from bisimdist.models.kinds import AnyModel, with_pairs
from bisimdist.models.labelled import Row
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition, free_name
from bisimdist.models.parametric import ParametricChain

__all__ = ["OWN_LABELS", "RATE", "REWARD", "Choice", "Explicit", "observed", "taken"]

M = TypeVar("M", bound=AnyModel)

RATE, REWARD = "exit rate", "reward"  # columns that no variable can be called as

LISTED = 5  # how many names an error lists


class Choice(NamedTuple):
    """One choice of a state: its action, which may be empty, and the successors."""

    action: str
    row: Row


def exit_rate(row: Row) -> fmpq:
    """Return the rate at which a state of a CTMC is left."""
    return sum((rate for _, rate in row), fmpq(0))


def jumps(rows: Sequence[Row]) -> list[Row]:
    """Return where the states of a CTMC go when they are left; a rate of one total makes one object.

    >>> jumps([((0, fmpq(1)), (1, fmpq(3)))])
    [((0, 1/4), (1, 3/4))]
    """
    known: dict[tuple[int, ...], dict[int, fmpq]] = {}
    by_total: dict[tuple[fmpz, fmpz], dict[int, fmpq]] = {}
    found = []
    for row in rows:
        key = tuple([id(rate) for _, rate in row])  # the rows keep them alive
        if key not in known:
            total = exit_rate(row)
            known[key] = by_total.setdefault((total.p, total.q), {})
            known[key].update((id(rate), rate / total) for _, rate in row if id(rate) not in known[key])
        shares = known[key]
        found.append(tuple((target, shares[id(rate)]) for target, rate in row))
    return found


def uniform(rows: Sequence[Row]) -> list[Row]:
    """Return rows of rates with self-loops that give all states the largest exit rate: the same process.

    >>> uniform([((1, fmpq(1)),), ((0, fmpq(3)), (1, fmpq(1)))])
    [((0, 3), (1, 1)), ((0, 3), (1, 1))]
    """
    rates = list(map(exit_rate, rows))
    most = max(rates, default=fmpq(0))
    made = []
    for state, (row, rate) in enumerate(zip(rows, rates, strict=True)):
        entries = dict(row)
        if rate != most:
            entries[state] = entries.get(state, fmpq(0)) + most - rate
        made.append(tuple(sorted(entries.items())))
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Explicit:
    """A model of another tool."""

    names: tuple[str, ...]
    choices: tuple[tuple[Choice, ...], ...]
    # whether states may have several choices, and actions count; else each state has one
    nondeterministic: bool = False
    numbered: bool = True  # whether a scheduler sees numbers where actions do not tell choices apart
    # by label the states that carry it
    propositions: Mapping[str, frozenset[int]] = field(default_factory=dict)
    own: frozenset[str] = OWN_LABELS  # the labels that the tool itself declares
    # by variable its value in every state, as a text
    variables: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # by constant or formula its expression, as a text
    meanings: Mapping[str, str] = field(default_factory=dict)
    properties: Properties | None = None  # of the model itself, if an observer sees what they speak of
    # shown and valued: the labels and the variables that are seen whatever a reading says
    shown: frozenset[str] = frozenset()
    valued: tuple[str, ...] = ()
    initial: tuple[int, ...] = ()  # the initial states, ascending
    neighbours: tuple[tuple[int, int], ...] = ()  # pairs that the file itself names, by index
    # over which constants the probabilities are expressions; each is between 0 and 1
    parameters: tuple[str, ...] = ()
    # by probability the ends of the interval that it stands for, where it does
    around: Mapping[fmpq, tuple[fmpq, fmpq]] = field(default_factory=dict)

    def with_observations(self, reading: Reading) -> Explicit:
        """Return the model with the labels that a reading adds, by expressions or property files."""
        scope = Scope(self.variables, self.propositions, self.meanings)
        added = observations(reading, scope, len(self.names), self.properties)
        return replace(
            self,
            propositions={**self.propositions, **added.labels},
            variables={**self.variables, **added.values},
            shown=frozenset(added.labels),
            valued=(*self.valued, *added.values),
        )

    def state(self, text: str) -> int:
        """Return the state that a text means: by its name, ``#number``, a valuation or a label.

        Of several with that valuation or label it is the initial one.
        """
        if text in self.names:
            return self.names.index(text)
        inner = text.strip()
        if inner.startswith("(") and inner.endswith(")") and inner[1:-1] in self.names:
            return self.names.index(inner[1:-1])
        place = f"state {text!r}"
        if inner.startswith("#") and inner[1:].isdecimal():
            return _numbered(inner, len(self.names), place)
        if "=" in inner:
            found, what = self._valued(inner, place), "have this valuation"
        elif inner in self.propositions:
            found, what = sorted(self.propositions[inner]), "carry this label"
        else:
            raise ModelError(
                f"there is no such state; expected the name of one of {len(self.names)}, such as "
                f"{self.names[0]!r}, '#0', a valuation such as 'x=1,y=0' or a label that one state has",
                place=place,
            )
        if len(found) > 1 and len(first := sorted({*found}.intersection(self.initial))) == 1:
            return first[0]
        if len(found) != 1:
            few = ", ".join(repr(self.names[state]) for state in found[:LISTED])
            raise ModelError(
                f"{len(found)} states {what}{': ' if found else ''}{few}{', ...' * (len(found) > LISTED)}; "
                "expected one, or one initial state",
                place=place,
            )
        return found[0]

    def _valued(self, text: str, place: str) -> list[int]:
        """Return the states with a valuation such as ``x=1,y=0``."""
        found = list(range(len(self.names)))
        for part in text.replace("&", ",").split(","):
            name, _, value = (piece.strip() for piece in part.partition("="))
            if name not in self.variables:
                raise ModelError(
                    f"there is no variable {name!r}; expected one of {_few(self.variables)}", place=place
                )
            values = self.variables[name]
            found = [state for state in found if values[state] == value]
        return found

    def pairs(self, reading: Reading) -> tuple[tuple[int, int], ...]:
        """Return the neighbouring states: those that are asked for, else of the initial ones."""
        if reading.pairs:
            return tuple((self.state(s), self.state(t)) for s, t in reading.pairs)
        if self.neighbours and reading.initial_pairs == "first":
            return self.neighbours
        if reading.initial_pairs == "all":
            return tuple(combinations(self.initial, 2))
        if reading.initial_pairs == "self":
            return tuple((state, state) for state in self.initial)
        return tuple((self.initial[0], other) for other in self.initial[1:])

    def labels(self, reading: Reading) -> list[str]:
        """Return what an observer sees of each state, as a text.

        Raises UsageError if a variable or label is unknown.
        Raises ModelError if two different sights would be written alike.
        """
        variables, labels = reading.observe_variables, reading.observe_labels
        if labels is None:
            all_of_them = () if variables is not None else self.propositions
            labels = [name for name in all_of_them if reading.prism_labels or name not in self.own]
        for what, wanted, known in (
            ("label", labels, self.propositions),
            ("variable", variables or (), self.variables),
        ):
            for name in wanted:
                if name not in known:
                    raise UsageError(f"the model has no {what} {name!r}; expected some of {_few(known)}")
        chosen = sorted({*labels, *self.shown})
        columns = [(name, self.variables[name]) for name in dict.fromkeys((*(variables or ()), *self.valued))]
        states = range(len(self.names))
        carried = (map(self.propositions[name].__contains__, states) for name in chosen)
        sights = list(zip(*carried, *(values for _, values in columns), strict=True)) or [()] * len(states)
        written: dict[tuple[bool | str, ...], str] = {}
        meaning: dict[str, tuple[str, ...]] = {}
        for sight in dict.fromkeys(sights):
            shown = [name for name, there in zip(chosen, sight, strict=False) if there]
            shown += [
                f"{name}={value}" for (name, _), value in zip(columns, sight[len(chosen) :], strict=True)
            ]
            written[sight] = label = ",".join(shown)
            if meaning.setdefault(label, tuple(shown)) != tuple(shown):
                raise ModelError(
                    f"different sets of labels are both written {label!r}; expected labels without commas",
                    place=f"state {self.names[sights.index(sight)]}",
                )
        return list(map(written.__getitem__, sights))


def _few(names: Mapping[str, object]) -> str:
    shown = list(names)[: 4 * LISTED]
    return (", ".join(shown) + (", ..." if len(shown) < len(names) else "")) or "none, for it has none"


def _numbered(text: str, count: int, place: str) -> int:
    index = int(text[1:]) if len(text) < 20 else count
    if index >= count:
        raise ModelError(f"the states are numbered from #0 to #{count - 1}", place=place)
    return index


def observed(
    model: Explicit, reading: Reading, doubles: Rationaliser | None = None
) -> LMC | PA | Interactive | IntervalChain | ParametricChain:
    """Return what an observer sees of a model of another tool.

    A model in which every state has one choice becomes a chain of the labels of its states. With choices it
    becomes an automaton: an action is what is seen of the state and, in brackets, the action of the choice;
    or, where asked, an interactive model.

    ``doubles``: what put numbers in the place of doubles, where something did.
    Raises UsageError if the reading does not fit the model.
    Raises ModelError if the result is no model.
    """
    if reading.labels or reading.properties or model.properties:
        model = model.with_observations(reading)
    _check_fits(model, reading)
    model = _resolved(model, reading)
    labels = model.labels(reading)
    pairs = model.pairs(reading)
    if not model.parameters and reading.ends() and not reading.shared:
        raise UsageError(
            "constants: intervals are for real ones that a Markov chain leaves open; it has none"
        )
    if doubles is not None and reading.enclose:
        reading.note(
            f"{len(doubles.around)} different doubles became intervals of one unit in the last place on "
            "either side"
        )
        return _rough(model, reading, labels, pairs, doubles.around)
    if model.around:
        return _rough(model, reading, labels, pairs, model.around)
    if doubles is not None and doubles.changed:
        reading.note(doubles.remark())
    if not model.nondeterministic:
        if reading.observe_actions:
            labels = [
                _action(label, choices[0].action if choices else "")
                for label, choices in zip(labels, model.choices, strict=True)
            ]
        if reading.choices != "automaton":
            raise UsageError("there is no choice in this model; expected one, such as an MDP")
        rows = tuple(choices[0].row if choices else () for choices in model.choices)
        if not model.parameters:
            chain = LMC(model.names, tuple(labels), rows, pairs)
            return without_silent_steps(chain, model.initial) if reading.hide_silent else chain
        box = tuple(Parameter(name, fmpq(0), fmpq(1)) for name in model.parameters)
        open_chain = ParametricChain(model.names, tuple(labels), rows, box, pairs)
        if reading.hide_silent:
            open_chain = without_silent_steps(open_chain, model.initial)
        return _within(open_chain, reading)
    return _with_choices(model, reading, labels, pairs)


def _with_choices(
    model: Explicit, reading: Reading, labels: Sequence[str], pairs: tuple[tuple[int, int], ...]
) -> LMC | PA | Interactive:
    """Return a model in which somebody, or chance that is seen, makes choices."""
    if reading.resolve == "uniform":
        drawn = LMC(*_drawn(model, labels), pairs)
        return without_silent_steps(drawn, model.initial) if reading.hide_silent else drawn
    if reading.choices == "interactive":
        if reading.hide_silent:
            raise UsageError(
                "silent steps are not left out of interactive models; expected --choices automaton"
            )
        moves = tuple(tuple((c.action, c.row) for c in choices) for choices in _asked(model, reading))
        return Interactive(model.names, tuple(labels), moves, pairs)
    steps = (
        Transition(
            *(state, _action(label, choice.action), choice.row),
            tag=None if choice == tagged else _action(label, tagged.action),
        )
        for state, (label, choices) in enumerate(zip(labels, model.choices, strict=True))
        for choice, tagged in zip(
            choices, _with_numbers(choices) if model.numbered and len(choices) > 1 else choices, strict=True
        )
    )
    automaton = PA(model.names, tuple(steps), pairs)
    return without_silent_choices(automaton, model.initial) if reading.hide_silent else automaton


def _check_fits(model: Explicit, reading: Reading) -> None:
    """Refuse to show rates or rewards that a model does not have, and to make intervals of intervals."""
    if model.around and reading.enclose:
        raise UsageError("enclose: the probabilities of this model are intervals already")
    if (model.around or reading.enclose) and reading.resolve == "uniform" and not reading.observe_actions:
        raise UsageError("resolve: rows of intervals have no mean; expected --observe-actions beside it")
    if reading.observe_time and RATE not in model.valued:
        raise UsageError("observe time: the model has no rates; expected a CTMC that Storm builds")
    if reading.observe_time and reading.hide_silent:
        raise UsageError("observe time: steps that are left out take time too; expected no --hide-silent")
    for name in reading.observe_rewards:
        if f"{REWARD} {name}" not in model.valued:
            raise UsageError(f"observe rewards: the model has no rewards {name!r}")


def _resolved(model: Explicit, reading: Reading) -> Explicit:
    """Return a model without choices where each state has one, or where they are drawn at random."""
    if not model.nondeterministic:
        if reading.resolve == "uniform":
            raise UsageError("there is no choice in this model to resolve; expected one, such as an MDP")
        return model
    if reading.resolve == "uniform":
        if reading.choices != "automaton":
            raise UsageError("choices are drawn at random: nobody makes them")
        if reading.observe_actions:
            return model
        return replace(model, choices=tuple(map(_uniform, model.choices)), nondeterministic=False)
    if reading.choices == "automaton" and all(len(choices) == 1 for choices in model.choices):
        unseen = any(choices[0].action for choices in model.choices) and not reading.observe_actions
        more = "; its actions are not seen (--observe-actions shows them)" if unseen else ""
        reading.note(f"every state has one choice: the model is a Markov chain{more}")
        return replace(model, nondeterministic=False)
    return model


def _asked(model: Explicit, reading: Reading) -> tuple[tuple[Choice, ...], ...]:
    """Return the choices of an interactive model, each with an action of its own."""
    numbered = tuple(map(_with_numbers, model.choices))
    if count := sum(new != old for new, old in zip(numbered, model.choices, strict=True)):
        reading.note(
            f"the choices of {count} states are numbered from 0, for their actions have no or equal names"
        )
    return numbered


def _with_numbers(choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Return choices with their places before their actions, unless these tell them apart."""
    actions = {choice.action for choice in choices}
    if len(actions) == len(choices) and "" not in actions:
        return choices
    return tuple(
        choice._replace(action=f"{place} {choice.action}" if choice.action else str(place))
        for place, choice in enumerate(choices)
    )


def _uniform(choices: tuple[Choice, ...]) -> tuple[Choice, ...]:
    """Return one choice that is each of some with the same probability."""
    mass: dict[int, fmpq] = {}
    for choice in choices:
        for target, p in choice.row:
            mass[target] = mass.get(target, fmpq(0)) + p / len(choices)
    return (Choice("", tuple(sorted(mass.items()))),) if choices else ()


def _drawn(
    model: Explicit, labels: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[Row, ...]]:
    """Return names, labels and rows of a chain that draws choices and shows them in states of their own."""
    names, shown = list(model.names), list(labels)
    taken = set(names)
    before: list[Row] = []
    after: list[Row] = []
    for state, choices in enumerate(map(_with_numbers, model.choices)):
        first = len(names)
        for choice in choices:
            names.append(free_name(f"{model.names[state]} [{choice.action}]", taken))
            taken.add(names[-1])
            shown.append(f"[{choice.action}]")
        before.append(tuple((place, fmpq(1, len(choices))) for place in range(first, len(names))))
        after += [choice.row for choice in choices]
    return tuple(names), tuple(shown), (*before, *after)


def _rough(
    model: Explicit,
    reading: Reading,
    labels: Sequence[str],
    pairs: tuple[tuple[int, int], ...],
    around: Mapping[fmpq, tuple[fmpq, fmpq]],
) -> IntervalChain | Interactive:
    """Return what is seen of a model where some numbers stand for intervals."""

    def spread(row: Row) -> IntervalRow:
        return tuple((t, low, min(high, fmpq(1))) for t, p in row for low, high in [around.get(p, (p, p))])

    if reading.hide_silent:
        raise UsageError(
            "intervals are read in models all of whose steps are seen; expected no --hide-silent"
        )
    if not model.nondeterministic:
        rows = tuple(spread(choices[0].row) if choices else () for choices in model.choices)
        return IntervalChain(model.names, tuple(labels), rows, pairs)
    if reading.choices == "interactive":
        asked = [[(c.action, spread(c.row)) for c in choices] for choices in _asked(model, reading)]
        return contested(model.names, labels, asked, pairs)
    if reading.resolve == "uniform":
        names, shown, drawn = _drawn(model, labels)
        return IntervalChain(names, shown, tuple(map(spread, drawn)), pairs)
    raise UsageError(
        "this is a decision process whose probabilities are intervals; expected --choices interactive, where "
        "an analyst chooses and nature picks, or --resolve uniform --observe-actions"
    )


def taken(model: AnyModel, reading: Reading) -> AnyModel:
    """Return a model of a format of our own as it is to be taken: with other pairs, without silent steps.

    Raises UsageError if silent steps are to be left out of what is no chain and no automaton.
    """
    found = _settled(with_pairs(model, reading.pairs), reading)
    if reading.hide_silent and isinstance(found, PA):
        found = without_silent_choices(found)
    elif reading.hide_silent:
        if not isinstance(found, LMC | ParametricChain):
            raise UsageError(
                "silent steps are left out of Markov chains and automata; 'bisimdist convert' makes one"
            )
        found = without_silent_steps(found.whole())
    return _within(found, reading)


def _within(found: M, reading: Reading) -> M | IntervalChain | LMC:
    """Return a model with the intervals of its parameters that are given."""
    names = found.parameter_names if isinstance(found, ParametricChain) else ()
    ends = {name: both for name, both in reading.ends().items() if name in names or not reading.shared}
    if not ends:
        return found
    if not isinstance(found, ParametricChain):
        raise UsageError(
            "constants: intervals are for what a Markov chain leaves open; this is none; expected values"
        )
    return found.within(ends)


def _settled(model: AnyModel, reading: Reading) -> AnyModel:
    """Return a model with the values of what it leaves open."""
    if not isinstance(model, ParametricChain | HMM) or not model.parameters:
        if reading.constants and not reading.shared:
            raise UsageError("constants: the model has no parameters, and leaves nothing open")
        return model
    if isinstance(model, HMM):
        _within(model, reading)  # which it cannot be: intervals are refused before other values are missing
    wanted = {
        name: value
        for name, value in reading.constants.items()
        if not isinstance(value, tuple) and (name in model.parameter_names or not reading.shared)
    }
    return model.at(wanted) if wanted else model


def _action(label: str, action: str) -> str:
    return f"{label} [{action}]" if label and action else label or action
