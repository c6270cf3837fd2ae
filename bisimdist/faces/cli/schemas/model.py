"""The schema of model files: their keys; whether rows sum to 1 and names are declared, only reading says."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

NAME: Schema = {"type": ["string", "number", "boolean"]}
"""YAML takes 1, true and 2.5 for something else than texts; here they are names."""
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {
    "type": ["string", "number"],
    "pattern": r"^\s*\+?[0-9]+(\s*/\s*[0-9]+|(\.[0-9]+)?([eE][+-]?[0-9]+)?)\s*$",
    "minimum": 0,
}
ENTRY: Schema = {"type": ["string", "number"], "pattern": r"^[\s\w+*/^().-]+$"}
"""Numbers, and expressions over parameters."""
PROGRAM: Schema = {"description": "Where the model comes from; for people."}
PAIRS: Schema = {
    "type": "array",
    "items": {"type": "array", "items": NAME, "minItems": 2, "maxItems": 2},
    "description": "The pairs to compare, such as [[s, t]].",
}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _map(values: Schema, says: str = "") -> Schema:
    made = {"type": ["object", "null"], "additionalProperties": values}
    return {**made, "description": says} if says else made


def _list(items: Schema, says: str = "") -> Schema:
    return {"type": "array", "items": items, **({"description": says} if says else {})}


def _object(required: str, optional: Schema | None = None, **properties: Schema) -> Schema:
    known = {**properties, **(optional or {})}
    return {
        "type": "object",
        "required": required.split(),
        "properties": known,
        "additionalProperties": False,
    }


def _model(kind: str, says: str, required: str, **properties: Schema) -> Schema:
    made = _object(f"kind {required}", properties, kind={"const": kind, "description": says})
    made["properties"]["$schema"] = TEXT
    return made


ROW = _map(_ref("number"))
ENTRIES = _map(_ref("entry"))
ROUGH = _map({"anyOf": [_ref("entry"), _list(_ref("number"))]})
"""Of a row that may have intervals [lower, upper]."""
PARAMETERS = _map(_list(_ref("number")), "Open intervals, such as {p: [0, 1]}.")

KINDS: dict[str, Schema] = {
    "lmc": _model(
        "lmc",
        "A labelled Markov chain. An observer sees the labels of states.",
        "states transitions",
        states=_map(NAME, "By state its label."),
        transitions=_map(
            ROUGH, "For each state its successors, with probabilities or intervals [lower, upper]."
        ),
        pairs=PAIRS,
        confidence=_ref("number"),
        parameters=PARAMETERS,
        program=PROGRAM,
    ),
    "pa": _model(
        "pa",
        "A probabilistic automaton. An observer sees the actions of transitions.",
        "states transitions",
        states=_list(NAME),
        transitions=_list(_object("from action to", {"from": NAME, "tag": NAME}, action=NAME, to=ROW)),
        pairs=PAIRS,
    ),
    "interactive": _model(
        "interactive",
        "An interactive model. An analyst chooses an action after each label.",
        "states transitions",
        states=_map(NAME, "By state its label."),
        transitions=_map(_map(ROUGH), "For each state and action the successors, with their probabilities."),
        pairs=PAIRS,
        program=PROGRAM,
    ),
    "hmm": _model(
        "hmm",
        "A hidden Markov model; entries may be expressions over the parameters.",
        "observations states distributions",
        observations=_list(NAME),
        states=_map(ROUGH, "For each state the probabilities of its observations."),
        transitions=_map(ROUGH, "A state without a row ends the sequence."),
        distributions=_map(ROUGH, "Where a sequence may begin."),
        parameters=PARAMETERS,
        pairs=PAIRS,
    ),
    "mechanism": _model(
        "mechanism",
        "A mechanism, as a table of inputs and outputs.",
        "inputs adjacency",
        outputs=_list(NAME),
        inputs=_map({"anyOf": [ENTRIES, _list(_ref("number"))]}, "By input its row."),
        adjacency={"anyOf": [{"const": "all"}, PAIRS]},
    ),
    "scenario": _model(
        "scenario",
        "A Pufferfish scenario.",
        "priors secrets pairs mechanism",
        priors=_map(ENTRIES, "For each attacker the probabilities of data sets."),
        secrets=_map(_list(NAME), "For each secret the data sets that have it."),
        pairs=PAIRS,
        parameters=PARAMETERS,
        query=_map(NAME, "For each data set the input of the mechanism."),
        mechanism={"type": ["object", "string"]},
    ),
}


def schema() -> Schema:
    """Return the schema of model files."""
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": list(KINDS)}},
        "allOf": [
            {"if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]}, "then": model}
            for kind, model in KINDS.items()
        ],
        "$defs": {
            "number": {**NUMBER, "description": "An exact number, as you write it: 3/5, 0.6, 6e-1."},
            "entry": {
                **ENTRY,
                "description": "An exact number, as you write it: 3/5; or an expression over parameters.",
            },
        },
    }
