"""The schema of answers: a field means the same wherever it stands, so that one table says them all."""

from __future__ import annotations

from typing import Any

from bisimdist.analysis.answer import FORMAT, Status
from bisimdist.questions.registry import HOMES, question_of

__all__ = ["schema"]

Schema = dict[str, Any]

ANYTHING: Schema = {}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "string", "pattern": r"^-?\d+(/\d+)?$", "description": "Exact, in lowest terms."}
DECIMAL: Schema = {"type": "string", "pattern": r"^(-?\d+(\.\d+)?(e-?\d+)?|-?inf)$"}
NOTHING: Schema = {"type": "null"}
FIELDS: Schema = {"$ref": "#/$defs/fields"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _any(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


BOUND = _any(NUMBER, {"const": "inf"})
INTERVAL = {**_list(DECIMAL), "minItems": 2, "maxItems": 2, "description": "Encloses it, on both sides."}
WORD = _list(TEXT)
PAIR: Schema = {
    **FIELDS,
    "required": ["from", "to"],
    "properties": {"lower": _any(BOUND, NOTHING), "upper": _any(BOUND, NOTHING)},
}

NAMED: tuple[tuple[Schema, str], ...] = (
    (
        TEXT,
        "action adjacency analyst backend choice clause command contradiction default description digest "
        "distance end ends expected explanation first formula from function kind larger maximise "
        "measure method metric model_verdict name nature note observe "
        "orders output over parameter quantity reason scale "
        "schema second smaller state text ties verdict what",
    ),
    (
        FLAG,
        "any_order bisimilar complete equivalent exact fully_probabilistic holds interrupted irreducible "
        "missing_mass recursive robust satisfied trace_decided up_to valid violated",
    ),
    (
        COUNT,
        "actions bisimilarity_classes count degree inside merged intervals labels largest_component line "
        "longest neighbours observations outputs pairs_asked places rounds rows runs saved size "
        "strongly_connected_components triples unexamined version vertices",
    ),
    (
        NUMBER,
        "at_most confidence delta discount factor high loss "
        "lenient_value low moved probability steps threshold value",
    ),
    (
        BOUND,
        "at_least attained before difference optimum ratio ratio_at_least",
    ),
    (
        WORD,
        "cycle errors facts papers pieces prefix satisfying screen secrets suffix trace ways word",
    ),
    (
        _list(NUMBER),
        "cut growth interval prior probabilities range",
    ),
    (
        FIELDS,
        "chain coarser enough infinite jump model not_enough program pump quotient_of repeated",
    ),
    (
        _list(FIELDS),
        "apart breaks claim examples formulae lines measures parting points scheduler violations "
        "without_clip",
    ),
    (
        INTERVAL,
        "divergence enclosure",
    ),
    (
        _list(_list(NUMBER)),
        "losses trade_off",
    ),
    (
        ANYTHING,
        "answer counterexample event following for_all history left_out levels mechanism member "
        "noise pair "
        "parameters polynomial queries relation row sources splitting statistics traces triple witness",
    ),
)
"""Fields that are one thing everywhere, by what they are."""

SEVERAL: dict[str, Schema] = {
    "alpha": _any(NUMBER, FIELDS, _list(NUMBER)),
    "alpha_rounded": _any(TEXT, {"type": "object"}),
    "at": _any(NUMBER, {"type": "object"}),
    "classes": _any(COUNT, _list(WORD)),
    "compared": _any(COUNT, WORD),
    "depth": _any(COUNT, NUMBER),
    "directions": _list(_any(FIELDS, _list(BOUND))),
    "distributions": _any(COUNT, FIELDS),
    "epsilon": _any(INTERVAL, BOUND),
    "inputs": _list(_any(TEXT, _list({"type": "integer"}))),
    "least": _any(FLAG, FIELDS),
    "length": _any(COUNT, TEXT),
    "lower": _any(BOUND, DECIMAL, FIELDS, {"enum": ["up", "down"]}),
    "upper": _any(BOUND, DECIMAL, FIELDS, {"enum": ["up", "down"]}),
    "order": _any(COUNT, _list(FIELDS)),
    "pairs": _list(_any(PAIR, {**WORD, "minItems": 2, "maxItems": 2})),
    "renyi": _any(NUMBER, _list(FIELDS)),
    "samples": {"type": "object"},
    "states": _any(COUNT, WORD, _list(FIELDS)),
    "status": {"enum": [*(status.value for status in Status), "supported"]},
    "to": _any(TEXT, {"type": "object"}),
    "transitions": _any(COUNT, _list(FIELDS)),
    "worst": _any(FIELDS, _list(WORD)),
    "zcdp": _any(NUMBER, FIELDS),
}
"""Fields that are one of several things."""


def _asked(command: str) -> Schema:
    """Return what the answers to the question of a command have at the least."""
    least: Schema = {}
    if command == "check":
        least = {"valid": FLAG, "claim": _list(FIELDS)}
    elif question_of(command).tabled:
        least = {"pairs": _list(PAIR)}
    said = {"required": list(least), "properties": least}
    return {"if": {"properties": {"command": {"const": command}}}, "then": said}


def schema() -> Schema:
    """Return the schema of answers; a field may be null, and one that is not known is refused."""
    known = {name: said for said, names in NAMED for name in names.split()} | SEVERAL
    fields = {name: said if said == ANYTHING else _any(said, NOTHING) for name, said in sorted(known.items())}
    commands = [*HOMES, "check"]
    return {
        **FIELDS,
        "required": ["command", *FORMAT],
        "properties": {
            "command": {"enum": commands},
            **{name: {"const": value} for name, value in FORMAT.items()},
        },
        "allOf": [said for said in map(_asked, commands) if said["then"]["required"]],
        "$defs": {"fields": {"type": "object", "properties": fields, "additionalProperties": False}},
    }
