"""What was given on the command line, or in its place: the values of options, and the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import permutations
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

from bisimdist.errors import UsageError
from bisimdist.faces.asked.option import Option
from bisimdist.faces.asked.options import (
    ALL_PAIRS,
    CERTIFICATE,
    COINS,
    INPUT,
    INPUT_FORMAT,
    OBSERVE,
    PAIR,
    PRISM_LABELS,
    STATE_LIMIT,
    TIMEOUT,
)
from bisimdist.faces.asked.reading_options import (
    AGAINST,
    AGAINST_CONSTANTS,
    CHOICES,
    CONSTANTS,
    ENCLOSE,
    HIDE_SILENT,
    INITIAL_PAIRS,
    LABEL,
    MODEL_OPTIONS,
    OBSERVE_ACTIONS,
    OBSERVE_LABELS,
    OBSERVE_REWARDS,
    OBSERVE_VARIABLES,
    PROPERTIES,
    RATIONALISE,
    RESOLVE,
)
from bisimdist.models.all_pairs import AllPairs

if TYPE_CHECKING:
    from bisimdist.faces.asked.source import Note
    from bisimdist.models.hmm import HMM
    from bisimdist.models.interactive import Interactive
    from bisimdist.models.intervals import IntervalChain
    from bisimdist.models.io.reading import Reading
    from bisimdist.models.kinds import AnyModel, KnownModel
    from bisimdist.models.lmc import LMC
    from bisimdist.models.pa import PA
    from bisimdist.models.parametric import ParametricChain
    from bisimdist.programs.chain import ProgramChain, ProgramInteractive

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Given:
    """The values of the options of one command, and of its argument."""

    values: Mapping[str, Any]
    note: Note  # told what a user should know of how the input was taken
    options: tuple[Option[Any], ...] = ()  # those that the command has

    def __getitem__(self, option: Option[T]) -> T:
        return option.read(option.flag, self.values.get(option.name, option.default))

    def without(self, options: Sequence[Option[Any]]) -> Given:
        """Return the same without the values of some options."""
        names = {option.name for option in options}
        return replace(self, values={key: value for key, value in self.values.items() if key not in names})

    def fields(self, question: type[Any]) -> dict[str, Any]:
        """Return the values of the options that a question has fields for; which pairs, the model says."""
        wanted = {field.name for field in fields(question)} - {"pairs"}
        return {option.name: self[option] for option in self.options if option.name in wanted}

    @property
    def argument(self) -> str:
        """MODEL, or what stands in its place."""
        given = self.values["argument"]
        return str(given[-1] if isinstance(given, tuple) else given)

    def refuse_both(self, one: Option[Any], other: Option[Any]) -> None:
        """Refuse two options that have no part in each other."""
        if self.values.get(one.name) is not None and self.values.get(other.name) is not None:
            raise UsageError(f"{one.flag} and {other.flag} were both given; expected one of them")

    def typed(self) -> list[str]:
        """Return the words that give the argument and the options again; files to be written are left out."""
        words = [*self.before, self.argument]
        for option in {option.name: option for option in (*MODEL_OPTIONS, *self.options)}.values():
            value = self.values.get(option.name)
            if option.writes or value in (None, False, (), option.default):
                continue
            for part in value if option.repeatable else (value,):
                parts = () if part is True else part if option.parts > 1 else (part,)
                words += [option.flag, *map(str, parts)]
        return words

    @property
    def before(self) -> tuple[str, ...]:
        """What stands before MODEL."""
        given = self.values["argument"]
        return given[:-1] if isinstance(given, tuple) else ()

    @property
    def wants_proof(self) -> bool:
        """Whether the proof of the answer is to be written."""
        return self[CERTIFICATE] is not None

    @property
    def source(self) -> str:
        """What errors call the model."""
        from bisimdist.faces.asked.source import source_name

        return source_name(self.argument)

    def inputs(self, *, model: bool) -> list[str | int]:
        """Return the files that are read, by path or descriptor: those of a model, then of options."""
        from bisimdist.faces.asked.source import STANDARD_INPUT, files_of_model

        files: list[str | int] = list(files_of_model(self.argument, self[INPUT_FORMAT])) if model else []
        if model and self.argument == STANDARD_INPUT:
            files.append(0)
        values = ((option, self.values.get(option.name)) for option in self.options)
        found = (option.file_of(value) for option, value in values if isinstance(value, str))
        other = self[AGAINST]
        if model and other is not None:
            files += files_of_model(other, self[INPUT_FORMAT])
        files += [file for name in self.before for file in files_of_model(name)]
        files += self[PROPERTIES]
        return [*files, *(path for path in found if path is not None)]

    def any_model(self, *, cuts: bool = False) -> AnyModel:
        """Return the model, whatever its kind; with `cuts` runs of a program may be cut off."""
        from bisimdist.faces.asked.program_source import (
            coined_model,
            is_program,
            refuse_program_options,
            refuse_reading_options,
        )
        from bisimdist.faces.asked.source import read_any_model

        other = self[AGAINST]
        names = (self.argument,) if other is None else (self.argument, other)
        programs = sum(map(is_program, names))
        if not programs:
            refuse_program_options(self)
        elif programs == len(names):
            refuse_reading_options(self)
        if other is None:
            if programs:
                gain = self[COINS]
                return self._program(cuts=cuts) if gain is None else coined_model(self, gain)
            return read_any_model(self.argument, self._reading(self[PAIR]), format=self[INPUT_FORMAT])
        from bisimdist.models.against import side_by_side
        from bisimdist.programs.against import programs_side_by_side
        from bisimdist.programs.chain import ProgramChain, ProgramInteractive

        one, two = (self._half(k, name, cuts=cuts and programs == 2) for k, name in enumerate(names))
        kinds = ProgramChain | ProgramInteractive
        if isinstance(one, kinds) and isinstance(two, kinds):
            return programs_side_by_side(one, two)
        return side_by_side(one, two)

    def _half(self, k: int, name: str, *, cuts: bool) -> AnyModel:
        """Return the first or the second of two models; its pairs are its own states, each with itself."""
        from bisimdist.faces.asked.program_source import is_program
        from bisimdist.faces.asked.source import read_any_model

        if is_program(name):
            return self._program(cuts=cuts, half=(k, name))
        reading = self._reading(tuple((pair[k], pair[k]) for pair in self[PAIR]))
        if k == 1:
            own = self[AGAINST_CONSTANTS]
            reading = replace(reading, constants={**reading.constants, **own}, shared=not own)
        return read_any_model(name, reading, format=self[INPUT_FORMAT])

    def _program(self, **how: Any) -> ProgramChain | ProgramInteractive:
        """Return the model of a program; a note says so where it never returns."""
        from bisimdist.faces.asked.program_source import program_model
        from bisimdist.programs.program.answer import raised_remarks

        model = program_model(self, **how)
        for line in raised_remarks(model, [model.states[s] for pair in model.pairs for s in pair]):
            self.note(line)
        return model

    def known_model(self) -> KnownModel:
        """Return the model, whatever its kind, but one whose probabilities are known."""
        from bisimdist.faces.asked.source import unfit
        from bisimdist.models.intervals import IntervalChain
        from bisimdist.models.parametric import ParametricChain

        found = self.any_model()
        if isinstance(found, IntervalChain | ParametricChain):
            raise unfit(found, self.source, "a model whose probabilities are known")
        return found

    def _reading(self, pairs: tuple[tuple[str, str], ...]) -> Reading:
        """Return how a file is to be taken."""
        from bisimdist.models.io.reading import Reading

        return Reading(
            state_limit=self[STATE_LIMIT],
            prism_labels=self[PRISM_LABELS],
            pairs=pairs,
            constants=self[CONSTANTS],
            observe_variables=self[OBSERVE_VARIABLES],
            observe_labels=self[OBSERVE_LABELS],
            labels=self[LABEL],
            properties=self[PROPERTIES],
            hide_silent=self[HIDE_SILENT],
            initial_pairs=self[INITIAL_PAIRS] if self[AGAINST] is None else "self",
            choices=self[CHOICES],
            resolve=self[RESOLVE],
            observe_time=self.values.get(OBSERVE.name) == "time",
            observe_ticks=self.values.get(OBSERVE.name) == "ticks",
            observe_rewards=self[OBSERVE_REWARDS],
            observe_actions=self[OBSERVE_ACTIONS],
            rationalise=self[RATIONALISE],
            enclose=self[ENCLOSE],
            seconds=self[TIMEOUT],
            note=self.note,
        )

    def chain(self) -> LMC:
        """Return the model, which has to be a Markov chain or stand for one."""
        from bisimdist.faces.asked.source import as_chain

        return as_chain(self.any_model(), self.source, self.note)

    def system(self) -> LMC | Interactive:
        """Return the model, which has to be interactive, or a Markov chain, or stand for one."""
        from bisimdist.faces.asked.source import as_system

        return as_system(self.any_model(), self.source, self.note)

    def rough_system(self) -> LMC | Interactive | IntervalChain:
        """Return the model: its probabilities need not be known, and runs of a program may be cut off."""
        from bisimdist.faces.asked.source import as_system
        from bisimdist.models.intervals import IntervalChain
        from bisimdist.reductions.routes import refuse_unfit

        found = self.any_model(cuts=True)
        said = {o.name for o in self.options if self.values.get(o.name) not in (None, o.default)}
        refuse_unfit(found, said)
        return found if isinstance(found, IntervalChain) else as_system(found, self.source, self.note)

    def automaton(self, *, fully_probabilistic: bool = False) -> PA:
        """Return the model, which has to be an automaton or a chain, perhaps one without choices."""
        from bisimdist.faces.asked.source import as_automaton

        return as_automaton(self.any_model(), self.source, self.note, fully_probabilistic=fully_probabilistic)

    def hmm(self) -> HMM:
        """Return the model, which has to be a hidden Markov model."""
        from bisimdist.faces.asked.source import as_hmm

        return as_hmm(self.any_model(), self.source)

    def pairs(
        self, model: LMC | PA | Interactive | IntervalChain | ParametricChain, *, directed: bool = False
    ) -> tuple[tuple[str, str], ...]:
        """Return the pairs of the model, which are those that were asked for where some were."""
        if directed and self._all_pairs():
            self._refuse_program(model)
            return tuple(permutations(model.states, 2))
        return tuple(self.pairs_unmade(model))

    def pairs_unmade(
        self, model: LMC | PA | Interactive | IntervalChain | ParametricChain
    ) -> Sequence[tuple[str, str]]:
        """Return the same pairs, all of which are made only where somebody looks at them."""
        if self._all_pairs():
            self._refuse_program(model)
            return AllPairs(model.states)
        if not model.pairs:
            raise self._missing(model.states)
        return tuple((model.states[s], model.states[t]) for s, t in model.pairs)

    @staticmethod
    def _refuse_program(model: object) -> None:
        from bisimdist.programs.chain import ProgramChain, ProgramInteractive

        if isinstance(model, ProgramChain | ProgramInteractive):
            raise UsageError("--all-pairs: not all states of a program are inputs; use --neighbours all")

    def distributions(self, model: HMM) -> tuple[tuple[str, str], ...]:
        """Return the pairs of distributions of a model: those that were asked for, where some were."""
        names = [name for name, _ in model.distributions]
        pairs = tuple(AllPairs(names)) if self._all_pairs() else model.pairs
        if not pairs:
            raise self._missing(names)
        return pairs

    def _missing(self, names: Sequence[str]) -> UsageError:
        """Return what is said where a model has no pairs: with an option to copy."""
        pair = " ".join(map(quote, (*names, *names)[:2]))
        every = ", or --all-pairs" if ALL_PAIRS in self.options else ""
        if self.values.get(INPUT.name):
            return UsageError("one --input was given; give another to compare it with, or states by --pair")
        return UsageError(
            f"{self.source}: the model has no pairs of its own; say what to compare, "
            f"such as --pair {pair}{every}"
        )

    def _all_pairs(self) -> bool:
        if not self[ALL_PAIRS]:
            return False
        if self.values.get(PAIR.name):
            raise UsageError("--pair and --all-pairs both say which pairs; expected one of them")
        return True
