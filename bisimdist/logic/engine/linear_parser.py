r"""From text to formulae of the trace logic, with errors at their column.

::

    text   = [number] {"<" action ">"} "T"          3/4 <tau><tau><yes>T
    action = word | quoted                          <"go, home">, with the escapes of JSON

The signs of the paper are read as well: angle brackets, and the sign of truth.
"""

from __future__ import annotations

from bisimdist.errors import NumberError
from bisimdist.exact.rational import parse_rational
from bisimdist.logic.engine.formula_tokens import action_of, tokens_of, unexpected
from bisimdist.logic.engine.linear import LinearFormula, ProbabilisticFormula, TraceFormula
from bisimdist.models.ccs.lexer import Kind, Positions

NEXT = "an action such as <a>, or T at the end"


def parse_trace_formula(text: str) -> TraceFormula:
    """Read a formula of either sort: with a number in front it is a probabilistic one.

    Parameters
    ----------
    text
        Such as ``3/4 <tau><tau><yes>T``; the number is exact (``3/4``, ``0.75``, ``75e-2``).

    Returns
    -------
    LinearFormula or ProbabilisticFormula
        The formula.

    Raises
    ------
    ModelError
        With line and column, where the text is no formula.

    Examples
    --------
    >>> print(parse_trace_formula("0.75 <tau> <'quoted'>T"))
    3/4 <tau><'quoted'>T
    >>> print(parse_trace_formula("<tau>T"))
    <tau>T
    >>> parse_trace_formula("3/4 <tau>")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    bisimdist.errors.ModelError: line 1: column 10: found the end of the text; expected ...
    """
    positions = Positions(text)
    tokens = tokens_of(text, positions)
    probability = None
    if tokens[0].kind is Kind.NUMBER:
        number = tokens.pop(0)
        try:
            probability = parse_rational(number.text)
            if not 0 <= probability <= 1:
                raise NumberError(f"the number is {number.text[:40]}; expected one from 0 to 1")
        except NumberError as error:
            raise positions.error(str(error), number.offset) from None
    count = next(place for place, token in enumerate(tokens) if token.kind is not Kind.MODALITY)
    actions = tuple(action_of(token, positions) for token in tokens[:count])
    if tokens[count].text != "T":
        raise unexpected(tokens[count], positions, NEXT)
    if tokens[count + 1].kind is not Kind.END:
        raise unexpected(tokens[count + 1], positions, "the end of the text after T")
    linear = LinearFormula(actions)
    return linear if probability is None else ProbabilisticFormula(probability, linear)


def parse_probabilistic_formula(text: str) -> ProbabilisticFormula:
    """Read a probabilistic formula.

    >>> parse_probabilistic_formula("1/2 <a>T").probability
    1/2
    """
    formula = parse_trace_formula(text)
    if isinstance(formula, LinearFormula):
        raise Positions(text).error("no number stands before the formula; expected one, such as 1/2", 0)
    return formula
