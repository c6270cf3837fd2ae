"""The list of built-in examples, and the reading of ``NAME,key=value,…``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TypeVar

from bisimdist.errors import UsageError
from bisimdist.models.kinds import LMC, AnyModel
from bisimdist.models.library.parameters import Example, shown

Made = TypeVar("Made")

_HOMES: dict[str, tuple[str, ...]] = {
    "figure1": ("figure1",),
    "dining_cryptographers": ("dining-cryptographers",),
    "randomised_response": ("randomised-response",),
    "leaky_retry": ("leaky-retry",),
    "random_chain": ("random",),
    "pin_checking": ("pin-checking",),
    "dining_cryptographers_pa": ("dining-cryptographers-pa",),
    "randomised_response_pa": ("randomised-response-pa",),
    "counting_queries": ("counting-queries",),
    "interactive": ("two-questions", "randomised-responses", "coin-and-doors", "adaptive-above-threshold"),
    "mimicking": ("mimicking",),
    "networks": ("crowd", "retransmission"),
    "figure2": ("figure2",),
    "hidden_markov": (
        *("geometric", "contagious-disease", "independent-disease"),
        *("noisy-max", "noisy-max-diseases", "above-threshold"),
    ),
}  # by module of this package the names of its examples; a module is loaded when one of them is asked for
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def _example(name: str) -> Example:
    module = import_module(f"bisimdist.models.library.{_HOME_OF[name]}")
    examples: tuple[Example, ...] = getattr(module, "EXAMPLES", None) or (module.EXAMPLE,)
    return next(example for example in examples if example.name == name)


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A parameter of an example: its name, its default as it would be written, and what it may be."""

    name: str
    default: str
    expected: str


@dataclass(frozen=True, slots=True)
class ExampleInfo:
    """A built-in example: its name, one line about it, its parameters, and what it is in the papers.

    Parameters
    ----------
    name, description, parameters
        What it is called, what it is about, and what may be set.
    papers
        Where papers have it, as ``CMP18 Figure 1``.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.list_examples()[0].name
    'figure1'
    """

    name: str
    description: str
    parameters: tuple[ParameterInfo, ...]
    papers: tuple[str, ...] = ()


def list_examples() -> tuple[ExampleInfo, ...]:
    """Return the built-in examples, the simplest first.

    Returns
    -------
    tuple of ExampleInfo
        Names, descriptions and parameters.

    Examples
    --------
    >>> [info.name for info in list_examples()][:2]
    ['figure1', 'dining-cryptographers']
    """
    return tuple(
        ExampleInfo(
            example.name,
            example.description,
            tuple(ParameterInfo(p.name, p.default_text, p.expected) for p in example.parameters),
            example.papers,
        )
        for example in map(_example, _HOME_OF)
    )


def build_example(text: str) -> LMC:
    """Return the built-in Markov chain that a text names.

    Parameters
    ----------
    text
        ``NAME`` or ``NAME,key=value,…``: what follows ``example:`` on the command line.

    Returns
    -------
    LMC
        The chain.

    Raises
    ------
    UsageError
        As `build_any_example`, and if the example is a model of another kind.

    Examples
    --------
    >>> len(build_example("dining-cryptographers,n=2,bias=0.49"))
    17
    """
    model = build_any_example(text)
    if not isinstance(model, LMC):
        name = text.split(",", maxsplit=1)[0].strip()
        raise UsageError(f"example {name} is no Markov chain; expected one that is")
    return model


def build_any_example(text: str) -> AnyModel:
    """Return the example that a text names, whatever its kind.

    Parameters
    ----------
    text
        ``NAME`` or ``NAME,key=value,…``: what follows ``example:`` on the command line.

    Returns
    -------
    LMC, PA, HMM or Interactive
        The model, with its pairs.

    Raises
    ------
    UsageError
        If the name or a key is unknown, a key comes twice, or a value is not usable.

    Examples
    --------
    >>> len(build_any_example("geometric,levels=4"))
    4
    """
    example, values = _chosen(text)
    return _made(example.name, lambda: example.build(**values))


def example_as_text(text: str) -> str:
    """Return the example that a text asks for, written in the process calculus CCS_p.

    >>> print(example_as_text("dining-cryptographers-pa,n=2").splitlines()[-1])
    pairs Payer0, Payer1;
    """
    example, values = _chosen(text)
    if example.text is None:
        written = ", ".join(other.name for other in map(_example, _HOME_OF) if other.text is not None)
        raise UsageError(f"example {example.name} is not written in the process calculus; there is {written}")
    write = example.text
    return _made(example.name, lambda: write(**values))


def _chosen(text: str) -> tuple[Example, dict[str, object]]:
    """Return the example that is named, and the values of its parameters."""
    name, *settings = (part.strip() for part in text.split(","))
    if name not in _HOME_OF:
        raise UsageError(f"there is no example {shown(name)}; there are {', '.join(_HOME_OF)}")
    example = _example(name)
    values: dict[str, object] = {parameter.name: parameter.default for parameter in example.parameters}
    known = {parameter.name: parameter for parameter in example.parameters}
    given: set[str] = set()
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if key not in known or not equals:
            choice = ", ".join(f"{p.name}={p.default_text}" for p in example.parameters)
            expected = f"its parameters and their defaults are {choice}" if choice else "it has no parameters"
            raise UsageError(f"example {name} cannot be made with {shown(setting)}; {expected}")
        if key in given:
            raise UsageError(f"example {name}: {key} is given twice")
        given.add(key)
        try:
            values[key] = known[key].read(value)
        except UsageError as error:
            raise UsageError(f"example {name}: {error}") from error
    return example, values


def _made(name: str, make: Callable[[], Made]) -> Made:
    try:
        return make()
    except UsageError as error:
        raise UsageError(f"example {name}: {error}") from error
