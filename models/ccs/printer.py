"""From terms to text that reads back as the same terms.

Precedence, from tight to loose: prefix and restriction, ``|``, ``+``, ``(+)``. Parentheses stand where a
part binds no tighter than the operator around it, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bisimdist.exact.rational import format_rational
from bisimdist.models.ccs.specification import Specification
from bisimdist.models.ccs.syntax import Call, Nil, Parallel, Prefix, Probabilistic, Restriction, Sum, Term

WIDTH = 100  # how long a line may be before a definition is broken into several


def layout(term: Term) -> list[str | tuple[Term, int]]:
    """Return the pieces of a term: texts, and children with the level that they must at least have.

    A child of a lower level needs parentheses.
    """
    pieces: list[str | tuple[Term, int]] = []
    match term:
        case Nil():
            pieces = ["0"]
        case Call(name=name, arguments=arguments):
            pieces = [f"{name}({', '.join(arguments)})" if arguments else name]
        case Prefix(action=action, body=body):
            pieces = [f"{action}.", (body, Prefix.level)]
        case Restriction(names=names, body=body):
            pieces = [f"(nu {', '.join(names)}) ", (body, Restriction.level)]
        case Parallel(parts=parts):
            pieces = _separated(((part, Parallel.level + 1) for part in parts), " | ")
        case Sum(parts=parts):
            pieces = _separated(((part, Sum.level + 1) for part in parts), " + ")
        case Probabilistic(branches=branches):
            for number, (probability, part) in enumerate(branches):
                separator = " (+) " if number else ""
                pieces += [f"{separator}{format_rational(probability)}: ", (part, Probabilistic.level + 1)]
        case _:
            raise TypeError(f"{type(term).__name__} is no term that can be written")
    return pieces


def _separated(parts: Iterable[tuple[Term, int]], separator: str) -> list[str | tuple[Term, int]]:
    pieces: list[str | tuple[Term, int]] = []
    for part in parts:
        if pieces:
            pieces.append(separator)
        pieces.append(part)
    return pieces


def format_term(term: Term) -> str:
    """Write a term on one line.

    >>> from bisimdist.models.ccs.parser import parse_term
    >>> format_term(parse_term("((a.0)|(nu b)(X+Y))"))
    'a.0 | (nu b) (X + Y)'
    """
    texts: list[str] = []
    stack: list[str | tuple[Term, int]] = [(term, 0)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            texts.append(piece)
            continue
        part, level = piece
        if part.level < level:
            texts.append("(")
            stack.append(")")
        stack.extend(reversed(layout(part)))
    return "".join(texts)


def format_specification(specification: Specification) -> str:
    r"""Write a specification, one definition after the other, long ones with a line for each operand.

    >>> from bisimdist.models.ccs.parser import parse_specification
    >>> format_specification(parse_specification("main X;X=a.X;"))
    'X = a.X;\nmain X;\n'
    """
    texts = []
    for definition in specification.definitions:
        parameters = f"({', '.join(definition.parameters)})" if definition.parameters else ""
        texts.append(_statement(f"{definition.name}{parameters} = ", definition.body))
    if specification.main:
        texts.append(f"main {', '.join(map(format_term, specification.main))};\n")
    texts += [f"pairs {first}, {second};\n" for first, second in specification.pairs]
    if specification.state_limit is not None:
        texts.append(f"limit {specification.state_limit};\n")
    if specification.literal:
        texts.append("rules literal;\n")
    return "".join(texts)


def _statement(head: str, term: Term) -> str:
    line = f"{head}{format_term(term)};\n"
    pieces = layout(term)
    if len(line) <= WIDTH or len(pieces) <= 2:
        return line
    return f"{head.rstrip()}\n" + _lines(pieces) + ";\n"


def _lines(pieces: Sequence[str | tuple[Term, int]]) -> str:
    texts = []
    for piece in pieces:
        if isinstance(piece, str):
            texts.append("\n  " + piece.lstrip() if piece.startswith(" ") else piece)
            continue
        part, level = piece
        texts.append(f"({part})" if part.level < level else format_term(part))
    return "  " + "".join(texts)
