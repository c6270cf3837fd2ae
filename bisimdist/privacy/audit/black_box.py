"""Where the outputs come from that an audit counts: files, a function of Python, a command that prints."""

from __future__ import annotations

import importlib.util
import inspect
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout, suppress
from copy import deepcopy
from itertools import islice
from pathlib import Path
from threading import Timer
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.programs.control import Outside
from bisimdist.programs.source import ExactRandom
from bisimdist.programs.texts import RAISES, literal, text_of
from bisimdist.progress import NEVER, Deadline

LONGEST = 1 << 20  # how many bytes a line may have


def outputs_of_file(path: str) -> Iterator[str]:
    """Yield the lines of a file.

    Raises UsageError if it cannot be read, or a line is empty, too long or no text.
    """
    try:
        with Path(path).open("rb") as file:
            yield from _lines(iter(lambda: file.readline(LONGEST + 1), b""), path)
    except OSError as error:
        raise UsageError(
            f"{path}: the samples cannot be read ({error.strerror}); expected a file with an output a line"
        ) from None


def _lines(lines: Iterable[bytes], name: str) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST:
            raise UsageError(f"{name}: line {number} is longer than the {LONGEST} bytes allowed")
        try:
            text = line.decode().strip()
        except UnicodeDecodeError:
            raise UsageError(f"{name}: line {number} is no UTF-8 text; expected an output") from None
        if not text:
            raise UsageError(f"{name}: line {number} is empty; expected an output")
        yield text


def outputs_of_command(command: str, state: str, samples: int, deadline: Deadline = NEVER) -> Iterator[str]:
    """Yield what a command prints, a line an output; it is run again until there are enough.

    command: the command; the name of the state replaces ``{}`` in it, or is put behind it.
    Raises UsageError if it cannot be run, fails, or prints nothing.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{command[:60]}: this is no command ({error})") from None
    words = [word.replace("{}", state) for word in words] if "{}" in command else [*words, state]
    left = samples
    while left > 0:
        found = 0
        for line in islice(_lines(_printed(words, deadline), shlex.join(words)[:60]), left):
            found += 1
            yield line
        if not found:
            raise UsageError(f"{shlex.join(words)[:60]} printed nothing; expected a line an output")
        left -= found


def _printed(words: list[str], deadline: Deadline) -> Iterator[bytes]:
    name = shlex.join(words)[:60]
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    except OSError as error:
        raise UsageError(
            f"{name}: it cannot be run ({error.strerror}); expected FILE.py:FUNCTION or a command that "
            "prints an output a line"
        ) from None
    output = process.stdout
    moment = deadline.moment
    alarm = None if moment is None else Timer(max(0.0, moment - time.monotonic()), process.kill)
    try:
        if alarm is not None:
            alarm.start()
        if output is not None:
            yield from iter(lambda: output.readline(LONGEST + 1), b"")
        code = process.wait()
        deadline.check()
        if code != 0:
            raise UsageError(f"{name} ended with exit code {code}; expected 0")
    finally:
        if alarm is not None:
            alarm.cancel()
        if output is not None:
            output.close()
        if process.poll() is None:
            process.kill()
            process.wait()


def outputs_of_module(
    named: str, state: str, samples: int, given: tuple[Sequence[str], Sequence[str], str | None]
) -> Iterator[str]:
    """Yield what an exported function of a WebAssembly module returns, run again and again by wasmtime.

    named: ``FILE.wasm:FUNCTION``.
    state: the input: a Python literal.
    given: the arguments behind the input, the imports that draw, and how a list lies in memory.
    Raises UsageError if there is no such function, or it takes something else, or a run fails.
    """
    from bisimdist.programs.wasm.running import module_runs  # noqa: PLC0415 - an extra

    try:
        value = literal(state)
    except ValueError:
        raise UsageError(f"{state[:60]}: expected an integer, or a list, as input of {named}") from None
    run = module_runs(named, *given)
    for _ in range(samples):
        yield _text(run(value))


def outputs_of_function(named: str, state: str, samples: int) -> Iterator[str]:
    """Yield what a function of Python returns, called again and again.

    named: ``FILE.py:FUNCTION``. The function takes the input and, as ``rng``, a random source.
    state: the input: a Python literal, or else a text.
    Raises UsageError if there is no such function, or it takes something else.
    """
    function = _function(named)
    try:
        value = literal(state)
    except ValueError:
        value = state
    source = ExactRandom()
    try:
        parameters = inspect.signature(function).parameters
        keywords = {"rng": source} if "rng" in parameters else {}
        inspect.signature(function).bind(state, **keywords)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{named}: {error}; expected a function of the input, and of rng") from None
    for _ in range(samples):
        with redirect_stdout(sys.stderr):
            yield _output(function, deepcopy(value), keywords)


def _output(function: Callable[..., Any], value: object, keywords: dict[str, Any]) -> str:
    try:
        result = function(value, **keywords)
    except Exception as error:
        return RAISES + _text(error)
    return _text(result)


def _text(value: object) -> str:
    if not isinstance(value, str):
        with suppress(Outside):
            return text_of(value)
    return str(value)  # also of a float: as it is printed


def _function(named: str) -> Callable[..., Any]:
    file, _, name = named.rpartition(":")
    path = Path(file)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"{file}: there is no such file; expected FILE.py:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    folder = str(path.absolute().parent)
    sys.path.insert(0, folder)  # the modules beside it, as Python itself does
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{file}: importing it fails with {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    function = getattr(module, name, None)
    if not callable(function):
        raise UsageError(f"{file}: there is no function {name!r}")
    found: Callable[..., Any] = function
    return found
