"""A function as blocks of plain code, each of which ends in a jump, a branch, an answer or a call."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from bisimdist.programs.liveness import Live, assigned_surely


@dataclass(eq=False)
class Jump:
    """Goes on with another block."""

    target: Block


@dataclass(eq=False)
class Branch:
    """Goes on with one of two blocks."""

    test: ast.expr
    yes: Block
    no: Block


@dataclass(eq=False)
class Leave:
    """Returns from the function; without a value, what is there does so itself."""

    value: ast.expr | None


@dataclass(eq=False)
class Invoke:
    """Calls what may draw, and goes on with a block that finds the value under a name."""

    result: str
    function: ast.expr
    arguments: list[ast.expr]
    keywords: list[ast.keyword]
    then: Block
    line: int

    def parts(self) -> list[ast.expr]:
        return [self.function, *self.arguments, *(keyword.value for keyword in self.keywords)]


@dataclass(eq=False)
class Block:
    """Statements without a draw, in order, and how they end."""

    handler: Block | None = None  # the block that takes over where one of them raises an exception
    caught: str = ""  # the name under which a handler finds the exception
    body: list[ast.stmt] = field(default_factory=list)
    end: Jump | Branch | Leave | Invoke | None = None
    live: frozenset[str] = frozenset()

    def successors(self) -> list[Block]:
        """Return the blocks that may come next, but for the handler."""
        match self.end:
            case Jump(target):
                return [target]
            case Branch(_, yes, no):
                return [yes, no]
            case Invoke(then=then):
                return [then]
            case _:
                return []


@dataclass(frozen=True)
class Flow:
    """The blocks of a function and what was found out about them."""

    blocks: tuple[Block, ...]  # all that can be reached, the first one first
    doubtful: frozenset[str]  # variables that may have no value where a state remembers them


def analyse(first: Block, variables: set[str], given: set[str]) -> Flow:
    """Find the live variables of every block, and which of them may be without a value."""
    blocks = _reached(first)
    live = Live(variables)
    changed = True
    while changed:
        changed = False
        for block in reversed(blocks):
            found = _before(block, live)
            if found != block.live:
                block.live = found
                changed = True
    return Flow(tuple(blocks), _doubtful(blocks, given))


def _reached(first: Block) -> list[Block]:
    found: dict[Block, None] = {}
    stack = [first]
    while stack:
        block = stack.pop()
        if block in found:
            continue
        found[block] = None
        stack.extend(reversed(block.successors()))
        if block.handler is not None:
            stack.append(block.handler)
    return list(found)


def _before(block: Block, live: Live) -> frozenset[str]:
    after: frozenset[str] = frozenset()
    match block.end:
        case Jump(target):
            after = target.live
        case Branch(test, yes, no):
            after = yes.live | no.live | live.loads(test)
        case Leave(value):
            after = live.loads(value)
        case Invoke(result=result, then=then) as end:
            after = (then.live - {result}).union(*(live.loads(part) for part in end.parts()))
    before = live.before(block.body, after)
    if block.handler is not None:
        before |= block.handler.live - {block.handler.caught}
    return before - {block.caught} if block.caught else before


def _doubtful(blocks: list[Block], given: set[str]) -> frozenset[str]:
    surely: dict[Block, frozenset[str] | None] = dict.fromkeys(blocks)
    surely[blocks[0]] = frozenset(given)
    work = [blocks[0]]
    while work:
        block = work.pop()
        known = surely[block] or frozenset()
        if block.caught:
            known |= {block.caught}
        after = assigned_surely(block.body, known)
        reached = [(then, after) for then in block.successors()]
        if isinstance(block.end, Invoke):
            reached = [(block.end.then, after | {block.end.result})]
        if block.handler is not None:
            reached.append((block.handler, known & after))
        for then, names in reached:
            old = surely[then]
            new = names if old is None else old & names
            if new != old:
                surely[then] = new
                work.append(then)
    return frozenset().union(*(block.live - (surely[block] or frozenset()) for block in blocks))
