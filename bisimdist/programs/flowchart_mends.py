"""What is not followed in a function for all inputs, and how to write it instead."""

from __future__ import annotations

import ast

LAWS = {"two_sided_geometric": "two-sided", "geometric": "one-sided", "flip": "coin"}

_MENDS = {
    "Add": "a list grows by append",
    "Dict": "return a tuple or a list",
    "DictComp": "return a tuple or a list",
    "FunctionDef": "define that function outside of this one",
    "FloorDiv": "divide what is released, outside of the function: that costs nothing",
    "Div": "divide what is released, outside of the function: that costs nothing",
    "GeneratorExp": "write a loop over the input",
    "Import": "import it outside of this function",
    "ImportFrom": "import it outside of this function",
    "JoinedStr": "return numbers, and make texts of them outside of the function",
    "Mult": "multiply by numbers only",
    "NamedExpr": "assign in a line before",
    "Set": "return a tuple or a list",
    "Try": "leave it out, and let exceptions pass",
    "With": "leave it out",
}


def mend(node: ast.AST) -> str:
    """Return how to write something instead."""
    return _MENDS.get(type(node).__name__, "write it with loops, comparisons, sums and append")


def draws_in(node: ast.AST) -> bool:
    """Tell whether noise is drawn in a part of a function itself."""
    names = (
        part.attr if isinstance(part, ast.Attribute) else getattr(part, "id", "") for part in ast.walk(node)
    )
    return not LAWS.keys().isdisjoint(names)
