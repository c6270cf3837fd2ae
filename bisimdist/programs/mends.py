"""What to write in place of a comparison of a random float with a constant: an exact coin."""

from __future__ import annotations

import ast
from collections.abc import Callable
from fractions import Fraction

_HEADS = (ast.Lt, ast.LtE)
_TAILS = (ast.Gt, ast.GtE)


def coin_of(node: ast.AST, constant: Callable[[str], object]) -> tuple[str, str] | None:
    """Return what is wrong with ``rng.random() < 0.75``, and the coin to write instead; None of other code.

    node: any part of a program.
    constant: returns what a name means in the module, or None.

    >>> coin_of(ast.parse("rng.random() < 0.75", mode="eval").body, {}.get)[1]
    "write rng.flip('3/4')"
    >>> coin_of(ast.parse("P <= random.random()", mode="eval").body, {"P": 0.1}.get)[1]
    "write not rng.flip('1/10'), with a parameter rng"
    """
    if not isinstance(node, ast.Compare) or not isinstance(node.ops[0], _HEADS + _TAILS) or len(node.ops) > 1:
        return None
    drawn, against, heads = node.left, node.comparators[0], isinstance(node.ops[0], _HEADS)
    if not _draws(drawn):
        drawn, against, heads = against, drawn, not heads
    chance = constant(against.id) if isinstance(against, ast.Name) else getattr(against, "value", None)
    if not _draws(drawn) or not isinstance(chance, float) or not 0 <= chance <= 1:
        return None
    owner = ast.unparse(drawn).removesuffix("random()").removesuffix(".")
    plain = owner.isidentifier() and owner != "random"
    missing = "" if plain else ", with a parameter rng"
    coin = f"{'' if heads else 'not '}{owner if plain else 'rng'}.flip('{Fraction(str(chance))}')"
    return f"it compares floats: {ast.unparse(node)}", f"write {coin}{missing}"


def _draws(node: ast.expr) -> bool:
    """Tell whether it is a call of ``random()``, of whatever source."""
    return isinstance(node, ast.Call) and not node.args and ast.unparse(node.func).endswith("random")
