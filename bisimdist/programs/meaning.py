"""What the names and values of a module mean inside the machine."""

from __future__ import annotations

import ast
import builtins
import functools
from fractions import Fraction
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from bisimdist.errors import ModelError
from bisimdist.programs.heap import attributes
from bisimdist.programs.helpers import Ticker
from bisimdist.programs.instrument import STEP
from bisimdist.programs.loading import Missing
from bisimdist.programs.machine_source import SOURCE, DrawMethod, LibraryMethod, refused_method
from bisimdist.programs.objects import Closure, constant
from bisimdist.programs.sources import Sources
from bisimdist.programs.texts import text_of
from bisimdist.programs.unit import UNKNOWN
from bisimdist.programs.vocabulary import (
    BUILTINS,
    MODULES,
    RANDOM_MODULES,
    builtin_refusal,
    module_refusal,
    source_value,
)

if TYPE_CHECKING:
    from bisimdist.programs.unit import Unit

_IMMUTABLE = (int, str, bool, bytes, range, Fraction, frozenset, type(None), type(Ellipsis), slice)


class Meanings:
    """Knows what a program may refer to, and keeps it for generated code."""

    def __init__(
        self, sources: Sources, ticker: Ticker, space: dict[str, Any], constants: dict[int, Any]
    ) -> None:
        self.sources = sources
        self.space = space
        self._constants = constants
        self._snapshots: dict[int, str] = {}
        self._names: dict[int, str] = {}
        self._converted: dict[int, tuple[Any, Any]] = {}
        self._numbered: list[object] = []
        self._builtins = {**BUILTINS, STEP: ticker.step}

    def refuse(self, node: ast.AST, unit: Unit, what: str, instead: str) -> NoReturn:
        """Refuse a part of the program. Raises ModelError: always."""
        line = getattr(node, "lineno", None) or getattr(unit.node, "lineno", None)
        raise ModelError(f"{what}; {instead}", source=unit.file, line=line, place=f"in {unit.name}")

    def function_value(self, value: FunctionType, node: ast.AST, unit: Unit) -> Any:
        """Return what a function of the module is inside the machine."""
        raise NotImplementedError

    # values

    def keep(self, value: object) -> str:
        """Make a value known to generated code; return its name there."""
        name = self._names.get(id(value))
        if name is None:
            name = f".g{len(self._numbered)}"
            self._names[id(value)] = name
            self._numbered.append(value)
            self.space[name] = value
        return name

    def alias(self, value: Any, node: ast.AST, unit: Unit) -> str:
        """Return the name under which generated code finds a value of the module."""
        return self.keep(self.convert(value, node, unit))

    def convert(self, value: Any, node: ast.AST, unit: Unit) -> Any:
        """Return what a value of a module is inside the machine."""
        if value is self._builtins[STEP]:
            return value
        known = self._converted.get(id(value))
        if known is None:
            known = value, constant(value, lambda item: self._convert(item, node, unit))
            self._converted[id(value)] = known
        return known[1]

    def _convert(self, value: Any, node: ast.AST, unit: Unit) -> Any:  # noqa: PLR0911, PLR0912
        if type(value) in _IMMUTABLE or isinstance(value, DrawMethod | LibraryMethod | Closure):
            return value
        if isinstance(value, float | complex):
            self.refuse(
                node, unit, f"the value {value!r} is a {type(value).__name__}", f"write Fraction('{value}')"
            )
        if isinstance(value, Missing):
            self.refuse(
                node,
                unit,
                f"it uses {value.name}, which comes from elsewhere and is not explored",
                "leave it out, or write it beside the program",
            )
        try:
            random, meant = source_value(value)
        except KeyError:
            self.refuse(node, unit, *refused_method(getattr(value, "__name__", "?")))
        if random:
            return meant
        if id(value) in _ALLOWED:
            return _ALLOWED[id(value)]
        value = unwrapped(value)
        if isinstance(value, FunctionType):
            return self.function_value(value, node, unit)
        if isinstance(value, ModuleType):
            if value in RANDOM_MODULES:
                return SOURCE
            self.refuse(
                node, unit, f"the module {value.__name__} is used as a value", "name what is taken from it"
            )
        if isinstance(value, type):
            return self._class_value(value, node, unit)
        if isinstance(value, functools.partial | MethodType):
            self.refuse(
                node, unit, f"it uses a {type(value).__name__} object of the module", "write a function"
            )
        if self.sources.is_ours(type(value)) or type(value).__module__ in (
            "enum",
            "bisimdist.programs.vocabulary",
        ):
            if id(value) not in self._constants:
                self._constants[id(value)] = value
                self._snapshots[id(value)] = text_of(attributes(value))
            return value
        self.refuse(
            node,
            unit,
            f"it uses a {type(value).__module__}.{type(value).__qualname__}",
            "only numbers, texts, containers and plain objects have a meaning here",
        )
        return None

    def _class_value(self, value: type, node: ast.AST, unit: Unit) -> Any:
        if not self.sources.is_ours(value):
            what = f"it uses {value.__module__}.{value.__qualname__}"
            self.refuse(node, unit, what, "only exact, repeatable computation has a meaning here")
        return value

    def snapshots(self) -> list[tuple[Any, str]]:
        """Return the objects of the module that are used, each with what it was like at first."""
        return [(self._constants[key], text) for key, text in self._snapshots.items()]

    # names

    def builtin(self, name: str, node: ast.AST, unit: Unit) -> Any:
        """Return what a name means that is not defined in the module."""
        if name.startswith("."):
            return UNKNOWN
        if name in self._builtins:
            return self._builtins[name]
        self.refuse(node, unit, *builtin_refusal(name))
        return None

    def attribute(self, base: Any, node: ast.Attribute, unit: Unit) -> Any:
        """Return an attribute of a module or class, or `UNKNOWN` for those of other values."""
        if isinstance(base, Missing):
            return getattr(base, node.attr)
        if isinstance(base, ModuleType):
            return self._module_attribute(base, node, unit)
        if isinstance(base, type) and self.sources.is_ours(base):
            found = base.__dict__.get(node.attr, UNKNOWN)
            if isinstance(found, staticmethod):
                return found.__func__
            return found if isinstance(found, FunctionType) else UNKNOWN
        return UNKNOWN

    def _module_attribute(self, base: ModuleType, node: ast.Attribute, unit: Unit) -> Any:
        if base in MODULES:
            if node.attr in MODULES[base]:
                return MODULES[base][node.attr]
            self.refuse(node, unit, *module_refusal(base, node.attr))
        if base in RANDOM_MODULES:
            found = getattr(base, node.attr, None)
            if found is None:
                self.refuse(node, unit, *module_refusal(base, node.attr))
            return found
        if self.sources.is_module_of_program(base):
            if not hasattr(base, node.attr):
                self.refuse(node, unit, f"{base.__name__} has no {node.attr!r}", "define it there")
            return getattr(base, node.attr)
        self.refuse(node, unit, *module_refusal(base, node.attr))
        return None

    def imported(self, node: ast.Import | ast.ImportFrom, unit: Unit) -> dict[str, Any]:
        """Return what an import inside a function gives."""
        return self.sources.imported(node, unit.space)


def unwrapped(value: Any) -> Any:
    """Return the function behind a cache, which changes nothing but the time."""
    if type(value).__name__ == "_lru_cache_wrapper":
        return value.__wrapped__
    return value


_ALLOWED: dict[int, Any] = {id(value): value for value in BUILTINS.values()}
for _module, _names in MODULES.items():
    for _name, _value in _names.items():
        _ALLOWED[id(getattr(_module, _name, _value))] = _value
        _ALLOWED[id(_value)] = _value
for _name, _value in BUILTINS.items():
    _ALLOWED.setdefault(id(getattr(builtins, _name, _value)), _value)
del _module, _names, _name, _value
