"""What models of every kind share: how they are printed and drawn, and that they are of one kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, cast

from bisimdist.errors import UsageError

if TYPE_CHECKING:
    from bisimdist.models.kinds import AnyModel


class WrongKindError(UsageError, AttributeError):
    """A model of one kind was given where another one is needed.

    Examples
    --------
    >>> import bisimdist
    >>> issubclass(bisimdist.models.WrongKindError, bisimdist.UsageError)
    True
    """


KINDS = {
    "LMC": ("a labelled Markov chain", "lmc", ("labels", "rows", "index", "whole", "arms")),
    "PA": ("a probabilistic automaton", "pa", ("transitions", "index", "fully_probabilistic")),
    "HMM": ("a hidden Markov model", "hmm", ("distribution", "distributions", "observations", "emissions")),
    "IntervalChain": ("a chain whose probabilities lie in intervals", "lmc", ()),
    "ParametricChain": ("a chain with parameters", "lmc", ("parameter_names",)),
    "Interactive": ("an interactive model", "interactive", ("moves", "actions")),
}  # by class what it is called, the name for `bisimdist.convert`, and what such a model is asked for first


def check_model(model: object) -> None:
    """Refuse what is no model, such as the name of a file."""
    if not isinstance(model, Model):
        how = f"; bisimdist.load_model({model[:40]!r}) reads one" if isinstance(model, str) else ""
        raise WrongKindError(f"expected a model, not an object of type {type(model).__name__}{how}")


GLANCE = 40  # how many states and steps of a model are drawn where somebody looks at it; a file has more


def called(kind: type) -> str:
    """Say what models of a class are called."""
    own = [KINDS[base.__name__][0] for base in kind.__mro__ if base.__name__ in KINDS]
    return own[0] if own else f"a {kind.__name__}"


class Model:
    """A model that shows itself, and says what it is where another kind is needed."""

    __slots__ = ()

    def __repr__(self) -> str:
        model = cast("AnyModel", self)
        states, pairs = len(model), len(model.pairs)
        return f"<{type(self).__name__}: {states} state{'s'[: states != 1]}, {pairs} pair{'s'[: pairs != 1]}>"

    def _repr_svg_(self) -> str:
        from bisimdist.models.io.svg import write_svg  # noqa: PLC0415 (the models are below their formats)

        return write_svg(cast("AnyModel", self), limit=GLANCE)

    if not TYPE_CHECKING:  # for attributes that are not there

        def __getattr__(self, name: str) -> NoReturn:
            for expected, kind, attributes in KINDS.values():
                if name in attributes:
                    raise WrongKindError(
                        f"this is {called(type(self))}; expected {expected}: where that is possible, "
                        f"bisimdist.convert(model, {kind!r}).model makes one"
                    )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
