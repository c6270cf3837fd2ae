"""The words of the subset: which built-in functions and modules a program may use."""

from __future__ import annotations

import bisect
import builtins
import collections
import copy
import dataclasses
import enum
import fractions
import functools
import heapq
import itertools
import math
import numbers
import operator
import random
import secrets
import string
import typing
from types import ModuleType
from typing import Any

from bisimdist.programs import source
from bisimdist.programs.helpers import checked, is_kind, over, shown, type_of
from bisimdist.programs.machine_source import DRAWS, LIBRARY, OBSERVE, SOURCE, SourceClass, refused_method

_EXCEPTIONS = {
    name: value
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, Exception)
}
_AS_THEY_ARE = (
    "abs all any bool bytes callable chr dict divmod frozenset hasattr int issubclass len object ord pow "
    "range round set slice sum staticmethod classmethod property super NotImplemented Ellipsis"
)

BUILTINS: dict[str, Any] = {
    **{name: getattr(builtins, name) for name in _AS_THEY_ARE.split()},
    **_EXCEPTIONS,
    **{function.__name__: checked(function, over) for function in (enumerate, filter, map, reversed, zip)},
    "list": list,
    "tuple": tuple,
    "next": next,
    "sorted": checked(sorted, over, keyed=True),
    "min": checked(min, over, keyed=True),
    "max": checked(max, over, keyed=True),
    "str": str,
    "repr": checked(repr, shown),
    "format": checked(format, shown),
    "bin": bin,
    "hex": hex,
    "oct": oct,
    "isinstance": is_kind,
    "type": type_of,
    "True": True,
    "False": False,
    "None": None,
    "__name__": "program",
    **{name: DRAWS[name] for name in source.OWN_DRAWS},
    "observe": OBSERVE,
}  # what a name means that the module of a program does not define

_INSTEAD = {
    "float": "use Fraction",
    "complex": "use Fraction",
    "print": "return what is to be seen, or announce it with observe(...)",
    "input": "make it a parameter",
    "open": "pass the contents as an argument",
    "hash": "compare the values themselves",
    "id": "compare the values themselves",
    "iter": "write a for loop",
    "getattr": "write the attribute out",
    "setattr": "write the attribute out",
    "eval": "write the expression out",
    "exec": "write the statements out",
}


def builtin_refusal(name: str) -> tuple[str, str]:
    """Return what is wrong with a built-in name, and what to write instead."""
    if not hasattr(builtins, name):
        return f"the name {name!r} is not defined", "define it in the module, or make it a parameter"
    return f"it uses {name}", _INSTEAD.get(
        name, "leave it out: only exact, repeatable computation has a meaning here"
    )


def _some(module: ModuleType, names: str) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names.split()}


MODULES: dict[ModuleType, dict[str, Any]] = {
    math: _some(math, "gcd lcm isqrt comb perm factorial floor ceil trunc prod inf"),
    fractions: _some(fractions, "Fraction"),
    itertools: {
        name: checked(getattr(itertools, name), over)
        for name in [
            "product",
            "combinations",
            "permutations",
            "combinations_with_replacement",
            "accumulate",
            "pairwise",
            "zip_longest",
            "islice",
            "takewhile",
            "dropwhile",
            "starmap",
            "compress",
            "groupby",
        ]
    }
    | {"chain": itertools.chain},
    functools: {"reduce": checked(functools.reduce, over), "partial": functools.partial},
    operator: {name: value for name, value in vars(operator).items() if not name.startswith("_")},
    collections: _some(collections, "Counter defaultdict deque namedtuple OrderedDict"),
    copy: _some(copy, "copy deepcopy"),
    dataclasses: _some(dataclasses, "replace field dataclass astuple asdict"),
    enum: _some(enum, "Enum IntEnum auto Flag IntFlag"),
    bisect: _some(bisect, "bisect bisect_left bisect_right insort insort_left insort_right"),
    heapq: _some(heapq, "heappush heappop heapify heapreplace heappushpop nlargest nsmallest"),
    string: {name: value for name, value in vars(string).items() if isinstance(value, str)},
    numbers: _some(numbers, "Number Complex Real Rational Integral"),
    typing: {name: value for name, value in vars(typing).items() if not name.startswith("_")},
    source: {**{name: DRAWS[name] for name in source.OWN_DRAWS}, "observe": OBSERVE},
}  # by module, what may be used of it
del MODULES[math]["inf"]
MODULES[operator].pop("truediv", None)

RANDOM_MODULES = (random, secrets)
_SOURCE_CLASSES = (random.Random, random.SystemRandom, secrets.SystemRandom, source.ExactRandom)


def source_value(value: Any) -> tuple[bool, Any]:
    """Return whether a value belongs to Python's random modules, and what it is inside the machine.

    Raises KeyError if there is nothing like it inside the machine; the key is its name.
    """
    if isinstance(value, type) and value in _SOURCE_CLASSES:
        return True, SourceClass(value)
    if isinstance(value, random.Random):
        return True, SOURCE
    module = getattr(value, "__module__", None)
    if module in ("random", "secrets") and callable(value):
        name = value.__name__
        return True, DRAWS.get(name) or LIBRARY[name]
    owner = getattr(value, "__self__", None)
    if isinstance(owner, random.Random):
        name = value.__name__
        return True, DRAWS.get(name) or LIBRARY[name]
    if module == source.__name__ and getattr(value, "__name__", "") in MODULES[source]:
        return True, MODULES[source][value.__name__]
    return False, None


def module_refusal(module: ModuleType, name: str) -> tuple[str, str]:
    """Return what is wrong with an attribute of a module, and what to write instead."""
    if module in RANDOM_MODULES:
        return refused_method(name)
    if module is math:
        return f"math.{name} is not exact", "compute with Fraction and integers"
    known = MODULES.get(module)
    what = f"it uses {module.__name__}.{name}"
    if known is None:
        return (
            what,
            "only exact, repeatable computation has a meaning here: pass what it gives as an argument",
        )
    return what, f"of {module.__name__} there are {', '.join(sorted(known)[:12])}"
