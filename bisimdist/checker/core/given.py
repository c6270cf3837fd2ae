"""Model files: what has to be in one, whatever a certificate is about it."""

from __future__ import annotations

import json
import re

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    choice,
    item,
    mapping,
    model_number,
    record,
    shown,
)
from bisimdist.checker.core.shape import listed, row

KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "lmc": (("states", "transitions"), ("parameters", "program", "confidence")),
    "interactive": (("states", "transitions"), ("program",)),
    "pa": (("states", "transitions"), ()),
    "hmm": (("observations", "states", "distributions"), ("transitions", "parameters")),
}  # by kind the keys that are needed, and those that may be there; all have a kind, and may have pairs

PAIRS = listed(row(item, item), "pair")
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def check_given(value: object) -> dict[str, object]:
    """Return the document of a model file, without what is for editors only."""
    document = dict(all_of(mapping(value, "it")))
    if "$schema" in document:
        item(document.pop("$schema"), "'$schema'")
    kind = choice(document.get("kind"), "its kind", KEYS)
    required, optional = KEYS[kind]
    record(document, "it", ("kind", *required), (*optional, "pairs"))
    try:
        json.dumps(document, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise MalformedCertificate("a text in it holds half a character") from error
    names = document["distributions" if kind == "hmm" else "states"]
    known = names if isinstance(names, dict) else dict.fromkeys(listed(item)(names, "the states"))
    if "pairs" in document:
        for pair in counted(PAIRS(document["pairs"], "the pairs")):
            if pair[0] not in known or pair[1] not in known:
                raise MalformedCertificate(f"{shown(pair[0])}, {shown(pair[1])} are not both declared")
    if kind == "hmm":
        observations = listed(item, "observation")(document["observations"], "the observations")
        if len(set(all_of(observations))) < len(observations):
            raise MalformedCertificate("an observation is declared twice")
        if not (observations and document["states"] and names):
            raise MalformedCertificate("there is no observation, no state or no distribution")
    sure = model_number(document.get("confidence", "1/2"), "the confidence")
    if not 0 < sure < 1 or {"confidence", "parameters"} <= document.keys():
        raise MalformedCertificate("the confidence is not between 0 and 1, or there are parameters")
    if "parameters" in document:
        _check_parameters(document)
    return document


def _check_parameters(document: dict[str, object]) -> None:
    """Check names and intervals of parameters, beside which no probability lies in an interval of its own."""
    for name, ends in counted(mapping(document["parameters"], "the parameters").items()):
        low, high = row(model_number, model_number)(ends, f"the interval of {shown(name)}")
        if not _NAME.fullmatch(name) or low >= high:
            raise MalformedCertificate(f"the parameter {shown(name)} has no usable name or no interval")
    if document["kind"] == "lmc" and any(
        isinstance(entry, list)
        for state in counted(mapping(document["transitions"], "the transitions").values())
        for entry in counted(mapping(state, "a row").values())
    ):
        raise MalformedCertificate("there are parameters, and an interval beside them")
