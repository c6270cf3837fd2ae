"""A program as it is: its file is imported by Python, with everything that it imports."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.programs.loading import NO_SOURCE, SourceText
from bisimdist.programs.replay.catching import Caught
from bisimdist.programs.replay.sources import given_source


class Asks(ModelError):  # noqa: N818 - what it says of the program
    """A program that asks an analyst, which is not replayed."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A function, and the files that it comes from."""

    function: Callable[..., Any]
    files: Mapping[str, str] = field(default_factory=dict)  # by path of a file its digest
    versions: Mapping[str, str] = field(default_factory=dict)  # by package its version


@contextmanager
def imported(function: Callable[..., Any] | str, caught: Caught) -> Iterator[Loaded]:
    """Import a program for a while. Raises ModelError if it cannot be imported, or has no such function."""
    if not isinstance(function, str):
        module = sys.modules.get(getattr(function, "__module__", ""))
        caught.scan({getattr(function, "__module__", "")})
        file = getattr(module, "__file__", None)
        if file is not None and not Path(file).is_file():  # as "<stdin>" is none
            raise ModelError(NO_SOURCE, source=file)
        files = {} if file is None else {file: _digest(Path(file))}
        yield Loaded(function, files, _versions(map(Path, files)))
        return
    name, _, wanted = function.rpartition(":")
    path = Path(name).absolute()
    SourceText.read(path, name)
    before, ways, bytecode = set(sys.modules), list(sys.path), sys.dont_write_bytecode
    sys.path.insert(0, str(path.parent))
    sys.dont_write_bytecode = True
    importlib.invalidate_caches()
    try:
        module = _module(path, name)
        caught.scan(set(sys.modules) - before)
        found = getattr(module, wanted, None)
        if not callable(found):
            there = sorted(key for key, value in vars(module).items() if inspect.isfunction(value))
            raise ModelError(
                f"there is no function {wanted!r}; expected one of {', '.join(there[:20]) or 'none'}",
                source=name,
            )
        files = {name: _digest(path)}
        for key in set(sys.modules) - before:
            file = getattr(sys.modules[key], "__file__", None)
            if file is not None and Path(file).is_relative_to(path.parent) and Path(file) != path:
                files[str(Path(name).parent / Path(file).relative_to(path.parent))] = _digest(Path(file))
        yield Loaded(found, files, _versions(map(Path, files)))
    finally:
        sys.path[:] = ways
        sys.dont_write_bytecode = bytecode
        for key in set(sys.modules) - before:
            file = getattr(sys.modules[key], "__file__", None)
            if file is not None and Path(file).is_relative_to(path.parent):
                del sys.modules[key]


def _module(path: Path, name: str) -> Any:
    key = path.stem if path.stem not in sys.modules else f"program {path.stem}"
    spec = importlib.util.spec_from_file_location(key, path)
    if spec is None or spec.loader is None:
        raise ModelError("Python does not import this file", source=name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except ModelError:
        raise
    except (Exception, SystemExit) as error:
        line, trace = None, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == str(path):
                line = trace.tb_lineno
            trace = trace.tb_next
        raise ModelError(
            f"importing it fails with {type(error).__name__}: {error}", source=name, line=line
        ) from None
    return module


def _digest(path: Path) -> str:
    return "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()


def _versions(files: Iterator[Path]) -> dict[str, str]:
    """Return the versions of what files import, and of what runs them."""
    tops = {"numpy"} & set(sys.modules)
    for file in files:
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                tops |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                tops.add(node.module.split(".")[0])
    found = {"python": platform.python_version(), "libc": "-".join(platform.libc_ver()) or platform.system()}
    for top in sorted(tops):
        version = getattr(sys.modules.get(top), "__version__", None)
        if isinstance(version, str) and top != "bisimdist":
            found[top] = version
    return found


def bound_call(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return the function with everything that is given beside the input.

    Raises ModelError if it does not take one input, and defaults for the rest.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return function
    positional = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        inspect.Parameter.VAR_POSITIONAL,
    )
    name = getattr(function, "__qualname__", "the function")
    code = getattr(inspect.unwrap(function), "__code__", None)
    file, line = ("", None) if code is None else (code.co_filename, code.co_firstlineno)
    if not parameters or parameters[0].kind not in positional or parameters[0].name == "rng":
        raise ModelError(
            "the function has no parameter for the input; write it first",
            source=file,
            line=line,
            place=f"in {name}",
        )
    for parameter in parameters[1:]:
        if parameter.name == "analyst":
            raise Asks("a program that asks an analyst is compiled only", source=file, line=line)
        variable = parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if not variable and parameter.default is inspect.Parameter.empty and parameter.name != "rng":
            raise ModelError(
                f"the parameter {parameter.name!r} has no default; give it one (the first parameter is the "
                "input, one named rng the random source)",
                source=file,
                line=line,
                place=f"in {name}",
            )
    if not any(parameter.name == "rng" for parameter in parameters[1:]):
        return function
    return functools.partial(_with_rng, function)


def _with_rng(function: Callable[..., Any], value: Any) -> Any:
    return function(value, rng=given_source(function))
