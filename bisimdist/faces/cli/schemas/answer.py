"""The schema of answers: a field means the same wherever it stands, so that one table says them all."""

from __future__ import annotations

from typing import Any

from bisimdist.faces.asked.registry import HOMES, question_of
from bisimdist.faces.shown.answer import FORMAT, Status

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
        "action adjacency analyst backend budget choice clause command contradiction default description "
        "digest distance end ends engine expected explanation first formula found from function kind larger "
        "maximise measure method metric model_verdict name nature note observe of "
        "number orders output over paper parameter place printed quantity reason run scale seconds sets "
        "schema second smaller state text ties values verdict versions way what why assumed",
    ),
    (
        FLAG,
        "any_order bisimilar complete equivalent exact fully_probabilistic holds interrupted irreducible "
        "missing_mass agrees recursive robust satisfied trace_decided up_to valid violated",
    ),
    (
        COUNT,
        "actions bisimilarity_classes checked count degree "
        "inside merged intervals labels largest_component line "
        "longest neighbours observations outputs pairs_asked places sampled seed asked rounds rows runs "
        "saved size strongly_connected_components triples unexamined version vertices",
    ),
    (
        NUMBER,
        "at_most claimed confidence discount factor high loss "
        "grid lenient_value low moved probability steps threshold value",
    ),
    (BOUND, "at_least attained before optimum ratio ratio_at_least"),
    (
        WORD,
        "commands cycle errors facts notes papers pieces prefix satisfying screen secrets suffix trace ways "
        "word",
    ),
    (_list(NUMBER), "cut growth interval prior probabilities range"),
    (
        FIELDS,
        "chain coarser enough infinite jump model not_enough program pump replay quotient_of repeated tested "
        "verdicts",
    ),
    (
        _list(FIELDS),
        "apart breaks claim engines examples formulae lines measures parting points scheduler statements "
        "rounded violations without_clip",
    ),
    (INTERVAL, "divergence enclosure p_value"),
    (_list(_list(NUMBER)), "losses trade_off"),
    (
        ANYTHING,
        "answer attestation counterexample elements event exponents first_observations following for_all "
        "history left_out levels counts law only outcomes mechanism member noise pair "
        "parameters polynomial queries relation row sources splitting statistics supplied traces triple "
        "witness all_schedulers",
    ),
)  # fields that are one thing everywhere, by what they are

SEVERAL: dict[str, Schema] = {
    "alpha": _any(NUMBER, FIELDS, _list(NUMBER)),
    "alpha_rounded": _any(TEXT, {"type": "object"}),
    "at": _any(NUMBER, {"type": "object"}),
    "bound": FIELDS,
    "classes": _any(COUNT, _list(WORD)),
    "compared": _any(COUNT, WORD),
    "delta": _any(NUMBER, FIELDS),
    "depth": _any(COUNT, NUMBER),
    "difference": _any(BOUND, FIELDS, {"type": "null"}),
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
    "schedulers": _any(TEXT, {"type": "array"}),
    "states": _any(COUNT, WORD, _list(FIELDS)),
    "status": {"enum": [*(status.value for status in Status), "supported"]},
    "to": _any(TEXT, {"type": "object"}),
    "transitions": _any(COUNT, _list(FIELDS)),
    "worst": _any(FIELDS, _list(WORD)),
    "zcdp": _any(NUMBER, FIELDS),
}  # fields that are one of several things


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
