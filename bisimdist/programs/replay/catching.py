"""Catch chance wherever a replayed program draws, and refuse files, clocks and the like by name."""

from __future__ import annotations

import builtins
import gc
import random
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np

from bisimdist.programs.control import Outside
from bisimdist.programs.replay.decision import known
from bisimdist.programs.replay.jax_sources import jax_functions
from bisimdist.programs.replay.lazy import Lazy, apply
from bisimdist.programs.replay.numpy_sources import numpy_functions
from bisimdist.programs.replay.octets import from_bytes
from bisimdist.programs.replay.rules import RULES
from bisimdist.programs.replay.sources import MATH, attributes, forget_seed, functions, note_seed, noted
from bisimdist.programs.replay.tape import current

_EVENTS = {
    "open": "files",
    "os.listdir": "files",
    "os.scandir": "files",
    "os.remove": "files",
    "os.rename": "files",
    "os.mkdir": "files",
    "shutil.rmtree": "files",
    "socket.connect": "network",
    "socket.getaddrinfo": "network",
    "socket.bind": "network",
    "urllib.Request": "network",
    "subprocess.Popen": "processes",
    "os.system": "processes",
    "os.exec": "processes",
    "os.fork": "processes",
    "os.posix_spawn": "processes",
}
_WHAT = {"files": "a file is opened", "network": "the network is used", "processes": "a process is started"}
_CLOCKS = (
    "time",
    "time_ns",
    "perf_counter",
    "perf_counter_ns",
    "monotonic",
    "monotonic_ns",
    "process_time",
    "localtime",
    "gmtime",
)
_LARGE = ("numpy", "scipy", "sklearn", "pandas", "bisimdist", "jax", "jaxlib", "torch", "flint")
"""Packages whose names are left as they are: what they do with doubles, they do in C."""


class _Watch:
    """Hears what Python does, and refuses what is not allowed; a hook stays for as long as Python runs."""

    def __init__(self) -> None:
        self.allowed: frozenset[str] = frozenset()
        self.modules: set[str] = set()
        """Those that came with the program; others read clocks for their own ends."""
        self.hooked = False

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if current.run is None:
            return
        kind = _EVENTS.get(event)
        if kind is None or kind in self.allowed or (kind == "files" and _imports()):
            return
        raise Outside(f"{_WHAT[kind]} ({event} {str(arguments[0])[:60]})", f"allow it with --allow {kind}")


_watch = _Watch()


def _imports() -> bool:
    """Tell whether Python itself opens a file: for an import, or to show a line of source."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib") or name.endswith(("linecache.py", "tokenize.py")):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _clock(original: Callable[..., Any], name: str) -> Callable[..., Any]:
    def read(*values: Any) -> Any:
        asked = current.run is not None and "clock" not in _watch.allowed and not values
        if asked and sys._getframe(1).f_globals.get("__name__", "") in _watch.modules:
            raise Outside(f"a clock is read (time.{name})", "allow it with --allow clock")
        return original(*values)

    return read


def _thread(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(*values: Any, **named: Any) -> Any:
        if current.run is not None and "threads" not in _watch.allowed:
            raise Outside("a thread is started", "allow it with --allow threads")
        return original(*values, **named)

    return start


def _told(original: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of C hear of numbers that depend on draws."""

    @wraps(original)
    def call(*values: Any, **named: Any) -> Any:
        for value in values:
            if type(value) is Lazy:
                if original in RULES:
                    return apply(original, *values)
                return original(*map(known, values), **named)
        return original(*values, **named)

    return call


def _standing(kind: Any, kinds: Mapping[Any, Any] | None = None) -> Any:
    """Return what stands for a type of numbers where modules name it: called, it leaves open what is open.

    ``kinds``: where the type of types is meant, what stands for which type.
    """

    class Meta(type):
        def __call__(cls, *values: Any, **named: Any) -> Any:
            if kinds is not None and len(values) == 1 and not named:
                found = values[0].__class__ if type(values[0]) is Lazy else type(values[0])
                return kinds.get(found, found)
            if len(values) == 1 and type(values[0]) is Lazy and current.run is not None:
                return apply(kind, values[0])
            return kind(*values, **named)

        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, kind)

        def __subclasscheck__(cls, other: type) -> bool:
            return issubclass(kind if other is stand else other, kind)

        def __eq__(cls, other: object) -> bool:
            return other is kind or other is stand

        def __hash__(cls) -> int:
            return hash(kind)

        def __getattr__(cls, name: str) -> Any:
            return from_bytes if name == "from_bytes" else getattr(kind, name)

    members = {"__doc__": kind.__doc__} | ({} if kind is type else {"dtype": np.dtype(kind)})
    stand = Meta(kind.__name__, (), members)
    return stand


class Caught:
    """Everything that is replaced, and what it was."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self.wanted: dict[int, Any] = {}
        self.kept: list[tuple[Any, str, Any]] = []
        self._alive: list[Any] = []
        self.jax = False
        self.stands = {name: _standing(getattr(builtins, name)) for name in ("float", "int")}
        _watch.allowed, _watch.modules = allowed, set()
        if not _watch.hooked:
            sys.addaudithook(_watch.hear)
            _watch.hooked = True
        pairs = [(one, _in_a_run(one, other)) for one, other in (*functions(), *numpy_functions())]
        pairs.append((random.seed, note_seed))
        pairs += [(one, _told(one)) for one in MATH]
        pairs += [(getattr(time, name), _clock(getattr(time, name), name)) for name in _CLOCKS]
        pairs.append((threading.Thread.start, _thread(threading.Thread.start)))
        real = np.random.mtrand._rand
        self.sources = real, next(other for one, other in pairs if one is real)
        self._want(pairs)

    def _want(self, pairs: Iterable[tuple[Any, Any]]) -> None:
        for one, other in pairs:
            self.wanted[id(one)] = other
            self._alive.append(one)

    def begin(self) -> None:
        """Replace methods of classes, and functions in the modules where they are defined."""
        for kind, name, value in attributes():
            self._set(kind, name, _in_a_run(getattr(kind, name), value))
        self._set(*noted())
        self._set(threading.Thread, "start", self.wanted[id(threading.Thread.start)])
        kinds = {getattr(builtins, name): stand for name, stand in self.stands.items()}
        for name in ("float32", "float64"):
            kinds[getattr(np, name)] = stand = _standing(getattr(np, name))
            self._set(np, name, stand)
        self.stands["type"] = _standing(type, kinds)
        self.scan()
        self._exchange(np.random.mtrand._rand)

    def scan(self, new: Collection[str] = ()) -> None:
        """Replace functions in all modules; in those that are new, what makes numbers as well."""
        _watch.modules.update(new)
        if not self.jax and "jax.random" in sys.modules:
            self.jax = True
            self._want((one, _in_a_run(one, other)) for one, other in jax_functions())
        for name, module in list(sys.modules.items()):
            space = getattr(module, "__dict__", None)
            top = name.split(".")[0]
            if space is None or top == "bisimdist":
                continue
            for key, value in list(space.items()):
                other = self.wanted.get(id(value))
                inner = name.startswith("numpy.random.") and isinstance(value, type)
                if other is not None and not inner:
                    self._set(module, key, other)
            if name in new and top not in _LARGE and top not in sys.stdlib_module_names:
                for key, stand in self.stands.items():
                    if key not in space:
                        self._set(module, key, stand)

    def _set(self, owner: Any, name: str, value: Any) -> None:
        missing = object()
        before = owner.__dict__.get(name, missing)
        self.kept.append((owner, name, None if before is missing else before))
        setattr(owner, name, value)

    def _exchange(self, now: Any) -> None:
        """Give objects that keep the common source of numpy, such as those of `scipy.stats`, another one."""
        other = self.sources[now is self.sources[0]]
        for holder in gc.get_referrers(other):
            space = holder if type(holder) is dict else getattr(holder, "__dict__", None)
            if type(space) is dict and space is not self.wanted:
                for key in [key for key, value in space.items() if value is other]:
                    space[key] = now

    def end(self) -> None:
        """Put everything back."""
        for owner, name, value in reversed(self.kept):
            if value is None:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
        self.kept.clear()
        self._exchange(np.random.mtrand._rand)
        forget_seed()


def _in_a_run(original: Any, other: Any) -> Any:
    """Return what does one thing in a run, and what it did before otherwise."""
    if isinstance(other, type) or not callable(other):
        return other
    if original is np.random.seed:  # a seed that is fixed at import counts, too
        real = np.random.mtrand._rand

        def seed_both(*seed: Any) -> None:
            real.seed(*seed)
            other(*seed)

        return seed_both

    @wraps(other)
    def call(*values: Any, **named: Any) -> Any:
        return (original if current.run is None else other)(*values, **named)

    return call


@contextmanager
def caught(allowed: frozenset[str] = frozenset()) -> Iterator[Caught]:
    """Catch chance inside."""
    work = Caught(allowed)
    work.begin()
    try:
        with np.errstate(all="ignore"):
            yield work
    finally:
        work.end()
        current.run = None
