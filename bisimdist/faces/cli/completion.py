"""What the shell offers where a word is not complete: case studies, values of options, states of a model."""

# ruff: noqa: PLC0415  (the shell waits for this: what is not asked for is not loaded)

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from bisimdist.faces.asked.option import Option

EXAMPLE = "example:"
LARGEST = 1 << 20  # larger files are not read for the names of their states


def complete_model(_context: click.Context, _parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Offer files and case studies; behind a comma what the case study takes."""
    if not word.startswith(EXAMPLE):
        return [CompletionItem(word, type="file"), *_starting([EXAMPLE], word)]
    from bisimdist.models.library.registry import list_examples

    name, comma, settings = word.removeprefix(EXAMPLE).partition(",")
    infos = {info.name: info for info in list_examples()}
    if not comma:
        return _starting([EXAMPLE + known for known in infos], word)
    done = word[: len(word) - len(settings.rpartition(",")[2])]
    taken = infos[name].parameters if name in infos else ()
    return _starting([f"{done}{parameter.name}=" for parameter in taken], word)


def completer(option: Option[Any]) -> Any:
    """Return what completes the value of an option."""

    def complete(context: click.Context, _parameter: click.Parameter, word: str) -> list[CompletionItem]:
        if option.metavar.endswith("FILE"):
            return [CompletionItem(word, type="file")]
        if option.metavar in {"S", "S T", "PI TAU"}:
            return _starting(_states(context), word)
        return _starting(option.values, word)

    return complete


def _starting(words: Iterable[str], begun: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(begun)]


def _states(context: click.Context) -> list[str]:
    """Return the states of the model that stands on the command line; none where it cannot be read."""
    from bisimdist.models.hmm import HMM
    from bisimdist.models.io import load_model
    from bisimdist.models.library.registry import build_any_example

    # behind an option that is not complete click leaves the words as they are
    given = context.params.get("argument") or [arg for arg in context.args if not arg.startswith("-")][:1]
    name = given if isinstance(given, str) else "".join(given[-1:])
    try:
        if not name.startswith(EXAMPLE) and Path(name).stat().st_size > LARGEST:
            return []
        is_example = name.startswith(EXAMPLE)
        model = build_any_example(name.removeprefix(EXAMPLE)) if is_example else load_model(name)
    except Exception:
        return []  # the command itself will say what is wrong
    return [found for found, _ in model.distributions] if isinstance(model, HMM) else list(model.states)
