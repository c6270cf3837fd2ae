"""CCP18, Definitions 19 and 20: the greatest fixed point of the printed transformation relates all formulae.

A formula is TRUE, ("not", formula) or ("and", formulae); one that is no conjunction is read as one with itself
as the only member, as the text reads a conjunction of two.
"""

from itertools import product

TRUE = ("true",)
FORMULAE = [TRUE, ("not", TRUE), ("not", ("not", TRUE)), ("and", (TRUE, ("not", TRUE)))]


def members(formula):
    """Return the members of a conjunction."""
    return formula[1] if formula[0] == "and" else (formula,)


def stays(pair, relation):
    """Tell whether a pair is in E(R), by the clauses for equality, a bijection of members, and negation."""
    one, other = pair
    if one == other:
        return True
    mine, theirs = members(one), members(other)
    if len(mine) == len(theirs) and all(p in relation for p in zip(mine, theirs)):
        return True
    return one[0] == other[0] == "not" and (one[1], other[1]) in relation


literals = [formula for formula in FORMULAE if formula[0] != "and"]
everything = set(product(literals, repeat=2))
print(f"R relates all of {len(literals)} formulae; R is within E(R): {all(stays(p, everything) for p in everything)}")
print(f"so T and not T are related: {(TRUE, ('not', TRUE)) in everything}")
least = {(formula, formula) for formula in literals}
while (more := {p for p in everything if stays(p, least)}) != least and more > least:
    least = more
print(f"in the least fixed point they are: {(TRUE, ('not', TRUE)) in least}")
