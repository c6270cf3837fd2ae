"""Python functions as flowcharts over integers: for all inputs, and lists of any length.

Every run of the function is a run of the flowchart. What is known while the tree is read, such as None, truth
values and texts, is worked out: a loop becomes a place for each combination of these that it is entered with.
"""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import FunctionType
from typing import Any

from bisimdist.errors import LimitError
from bisimdist.models.flowchart import Flowchart, Step
from bisimdist.programs import source
from bisimdist.programs.flowchart_conditions import cond, number, tested
from bisimdist.programs.flowchart_guard import guard
from bisimdist.programs.flowchart_lists import parts, stored, tell, twice
from bisimdist.programs.flowchart_loops import comprehension, loop
from bisimdist.programs.flowchart_mends import draws_in, mend
from bisimdist.programs.flowchart_sources import digests, is_listed, live, trees, used
from bisimdist.programs.flowchart_values import (
    Bracketed,
    Env,
    Known,
    Listed,
    Ranged,
    Slot,
    Then,
    ThenValue,
    Told,
    Value,
    Ways,
    added,
    lists_in,
    signature,
)
from bisimdist.programs.loading import loaded
from bisimdist.programs.texts import RAISES, text_of

MOST_STEPS = 20_000
MOST_CALLS = 8


@dataclass
class Builder:
    """Makes the flowchart of one function."""

    function: FunctionType
    file: str
    length: int | None
    places: dict[str, Step] = field(default_factory=dict)
    variables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    parameters: list[str] = field(default_factory=list)
    steps: int = 0
    names: dict[Any, str] = field(default_factory=dict)
    offset: int = 0
    spaces: dict[str, dict[str, Any]] = field(default_factory=dict)
    globals: list[dict[str, Any]] = field(default_factory=list)
    asked: dict[str, Any] = field(default_factory=dict)
    kept: list[ast.AST] = field(default_factory=list)  # trees, so that no two have one identity
    looks_back: bool = False  # whether some list is asked for its last element

    def refuse(self, node: ast.AST, what: str) -> LimitError:
        line = getattr(node, "lineno", 1) + self.offset
        return LimitError(f"{self.file}:{line}: {what}")

    def enter(self, prefix: str, node: ast.AST, function: FunctionType, tree: ast.FunctionDef) -> None:
        """Take note of what names mean in a function."""
        code, arguments = function.__code__, tree.args
        odd = arguments.vararg or arguments.kwarg or arguments.posonlyargs or tree.decorator_list
        if odd or code.co_freevars or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE):
            raise self.refuse(node, f"{function.__name__} is no plain function: it cannot be followed")
        own = dict.fromkeys((*code.co_varnames, *code.co_cellvars), source)
        self.spaces[prefix] = {**function.__globals__, **own}
        self.kept.append(tree)
        self.looks_back |= "[-1]" in ast.unparse(tree)
        if all(space is not function.__globals__ for space in self.globals):
            self.globals.append(function.__globals__)

    def step(self, **parts: Any) -> Step:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise LimitError(f"{self.file}: the function has more than {MOST_STEPS} ways through it")
        return {key.rstrip("_"): part for key, part in parts.items()}

    def place(self, node: ast.AST, kind: str, env: Env, make: Then) -> Step:
        """Go to the place for what is known here, and make it if there is none yet."""
        key = (node.lineno if hasattr(node, "lineno") else 0, id(node), kind, signature(env))
        if key not in self.names:
            line = getattr(node, "lineno", 1) + self.offset
            same = sum(1 for other in self.names.values() if other.startswith(f"line {line}"))
            name = f"line {line}" + (f" ({same + 1})" if same else "")
            self.names[key] = name
            self.variables[name] = tuple(sorted({v.name for v in env.values() if isinstance(v, Slot)}))
            self.lines[name] = line
            self.places[name] = make(env)
        return self.step(go=self.names[key])

    def block(self, body: Sequence[ast.stmt], env: Env, then: Then, ways: Ways) -> Step:
        if not body:
            return then(env)
        first, rest = body[0], body[1:]
        method = getattr(self, f"do_{type(first).__name__}", None)
        if method is None:
            raise self.refuse(first, f"a {type(first).__name__} statement cannot be followed: {mend(first)}")
        following: Then = lambda after: self.block(rest, after, then, ways)  # noqa: E731
        if isinstance(first, ast.If | ast.For | ast.While) and any(map(draws_in, rest)):
            step: Step = method(first, env, lambda e: self.place(first, "then", e, following), ways)
        else:
            step = method(first, env, following, ways)
        return step

    def do_Pass(self, node: ast.Pass, env: Env, then: Then, ways: Ways) -> Step:
        return then(env)

    def do_Break(self, node: ast.Break, env: Env, then: Then, ways: Ways) -> Step:
        assert ways.broken is not None
        return ways.broken(env)

    def do_Continue(self, node: ast.Continue, env: Env, then: Then, ways: Ways) -> Step:
        assert ways.continued is not None
        return ways.continued(env)

    def do_Return(self, node: ast.Return, env: Env, then: Then, ways: Ways) -> Step:
        if node.value is None:
            return ways.returned(Known(None), env)
        return self.value(node.value, env, ways.returned, ways)

    def do_Raise(self, node: ast.Raise, env: Env, then: Then, ways: Ways) -> Step:
        error, arguments = node.exc, []
        if isinstance(error, ast.Call):
            arguments = [a.value for a in error.args if isinstance(a, ast.Constant)]
            if error.keywords or len(arguments) < len(error.args):
                raise self.refuse(node, "only an exception with constant arguments can be followed")
            error = error.func
        name = error.id if isinstance(error, ast.Name) and error.id not in env else ""
        kind = None if name in self.space(ways) else getattr(builtins, name, None)
        if node.cause or not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise self.refuse(node, "only exceptions of Python's own can be followed")
        try:
            return self.step(return_=[RAISES + text_of(kind(*arguments))])
        except TypeError as made:
            raise self.refuse(node, str(made)) from None

    def do_Assert(self, node: ast.Assert, env: Env, then: Then, ways: Ways) -> Step:
        if node.msg is not None and not isinstance(node.msg, ast.Constant):
            raise self.refuse(node, "only an assertion with a constant text can be followed")
        error = AssertionError() if node.msg is None else AssertionError(node.msg.value)
        failed = self.step(return_=[RAISES + text_of(error)])
        return cond(self, node.test, env, then, lambda _: failed, ways)

    def do_Expr(self, node: ast.Expr, env: Env, then: Then, ways: Ways) -> Step:
        call = node.value
        if isinstance(call, ast.Constant):
            return then(env)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
            if call.keywords:
                raise self.refuse(node, "append takes one element")
            owner = env.get(call.func.value.id) if isinstance(call.func.value, ast.Name) else None
            if isinstance(owner, Told) and call.func.attr == "append":
                told = owner
                return self.value(call.args[0], env, lambda v, e: tell(self, node, told, v, e, then), ways)
        return self.value(call, env, lambda _, after: then(after), ways)

    def do_AnnAssign(self, node: ast.AnnAssign, env: Env, then: Then, ways: Ways) -> Step:
        if node.value is None:
            return then(env)
        return self.value(node.value, env, lambda v, e: self.assign(node.target, v, e, then, ways), ways)

    def do_Assign(self, node: ast.Assign, env: Env, then: Then, ways: Ways) -> Step:
        def assigned(targets: Sequence[ast.expr], value: Value, now: Env) -> Step:
            if not targets:
                return then(now)
            return self.assign(targets[0], value, now, lambda e: assigned(targets[1:], value, e), ways)

        def made(value: Value, now: Env) -> Step:
            if len(node.targets) > 1 and Told("", "") in lists_in(value):
                raise self.refuse(node, "a list has two names")
            return assigned(node.targets, value, now)

        return self.value(node.value, env, made, ways)

    def do_AugAssign(self, node: ast.AugAssign, env: Env, then: Then, ways: Ways) -> Step:
        if not isinstance(node.target, ast.Name):
            raise self.refuse(node, "only variables can be changed")
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        whole = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        return self.value(whole, env, lambda v, e: self.assign(node.target, v, e, then, ways), ways)

    def assign(  # noqa: PLR0912
        self, target: ast.expr, value: Value, env: Env, then: Then, ways: Ways
    ) -> Step:
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple):
            if isinstance(value, Bracketed):
                value = value.parts
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise self.refuse(target, "a tuple of another length")
            pairs = list(zip(target.elts, value, strict=True))
        after: dict[str, Value] = dict(env)
        changes: dict[str, dict[str, int]] = {}
        names = {ast.unparse(name) for name, _ in pairs}
        outside = {told for n, v in env.items() for told in lists_in(v) if n not in names}
        for name, part in pairs:
            if not isinstance(name, ast.Name):
                raise self.refuse(target, "only variables can be changed")
            old = env.get(name.id)
            if isinstance(old, Slot) and old.fixed:
                raise self.refuse(target, f"{name.id} is changed inside its own loop")
            if isinstance(part, dict):
                slot = Slot(self.slot_name(ways.prefix + name.id))
                changes[slot.name], after[name.id] = part, slot
            elif part == Told("", ""):
                fresh = Told(f"len({ways.prefix}{name.id})", f"trues({ways.prefix}{name.id})")
                if fresh in outside:
                    raise self.refuse(target, "a list is made anew while another name holds it")
                changes |= {fresh.length: {}, fresh.trues: {}}
                after.pop(fresh.last, None)
                after |= {name.id: fresh, fresh.length: Slot(fresh.length), fresh.trues: Slot(fresh.trues)}
            elif isinstance(part, Ranged):
                raise self.refuse(target, "a range can be followed only in a loop")
            elif part != old and twice(part, old, outside, alone=len(pairs) == 1):
                raise self.refuse(target, "a list has two names")
            else:
                after[name.id] = stored(self, part, ways.prefix + name.id, after, changes)
        step = then(after)
        for made in (slot for slot in changes if slot.startswith("len(")):
            step = self.step(tell=f"new {made}", then=step)
        return self.step(set=changes, then=step) if changes else step

    def slot_name(self, name: str) -> str:
        """Return the name of a variable: a parameter that is changed is another one."""
        return f"{name} here" if name in self.parameters else name

    def space(self, ways: Ways) -> dict[str, Any]:
        """Return what the names mean that a function does not set."""
        return self.spaces[ways.prefix]

    def do_If(self, node: ast.If, env: Env, then: Then, ways: Ways) -> Step:
        return cond(
            self,
            node.test,
            env,
            lambda e: self.block(node.body, e, then, ways),
            lambda e: self.block(node.orelse, e, then, ways),
            ways,
        )

    def do_While(self, node: ast.While, env: Env, then: Then, ways: Ways) -> Step:
        if node.orelse:
            raise self.refuse(node, "leave the else of the loop out")

        def again(now: Env) -> Step:
            return self.place(node, "while", now, head)

        def head(now: Env) -> Step:
            inner = replace(ways, broken=then, continued=again)
            return cond(self, node.test, now, lambda e: self.block(node.body, e, again, inner), then, ways)

        return again(env)

    def do_For(self, node: ast.For, env: Env, then: Then, ways: Ways) -> Step:
        if node.orelse:
            raise self.refuse(node, "leave the else of the loop out")
        return self.value(
            node.iter, env, lambda v, e: loop(self, node, node.target, v, node.body, e, then, ways), ways
        )

    def value(self, node: ast.expr, env: Env, then: ThenValue, ways: Ways) -> Step:
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is None:
            raise self.refuse(node, f"{ast.unparse(node)[:60]!r} cannot be followed: {mend(node)}")
        step: Step = method(node, env, then, ways)
        return step

    def of_Constant(self, node: ast.Constant, env: Env, then: ThenValue, ways: Ways) -> Step:
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return then(added({}, {"": node.value}), env)
        if not isinstance(node.value, bool | str | None):
            raise self.refuse(node, f"{ast.unparse(node)} cannot be followed for all inputs")
        return then(Known(node.value), env)

    def of_Name(self, node: ast.Name, env: Env, then: ThenValue, ways: Ways) -> Step:
        if node.id in env:
            value = env[node.id]
            return then({value.name: 1} if isinstance(value, Slot) else value, env)
        found = self.space(ways).get(node.id, source)
        if isinstance(found, bool | str | Fraction | None):
            return then(Known(found), env)
        if isinstance(found, int):
            return then(added({}, {"": found}), env)
        raise self.refuse(node, f"{node.id} may be used before it has a value, or is no number")

    def of_Tuple(self, node: ast.Tuple, env: Env, then: ThenValue, ways: Ways) -> Step:
        return self.several(node.elts, env, lambda values, e: then(tuple(values), e), ways)

    def of_List(self, node: ast.List, env: Env, then: ThenValue, ways: Ways) -> Step:
        if not node.elts:
            return then(Told("", ""), env)
        return self.several(node.elts, env, lambda values, e: then(Bracketed(tuple(values)), e), ways)

    def several(
        self,
        nodes: Sequence[ast.expr],
        env: Env,
        then: Callable[[list[Value], Env], Step],
        ways: Ways,
        done: tuple[Value, ...] = (),
    ) -> Step:
        if not nodes:
            return then(list(done), env)
        return self.value(
            nodes[0], env, lambda v, e: self.several(nodes[1:], e, then, ways, (*done, v)), ways
        )

    def of_UnaryOp(self, node: ast.UnaryOp, env: Env, then: ThenValue, ways: Ways) -> Step:
        if isinstance(node.op, ast.Not):
            return self.truth(node, env, then, ways)
        if isinstance(node.op, ast.Invert):
            raise self.refuse(node, "~ cannot be followed for all inputs")
        zero = ast.copy_location(ast.Constant(0), node)
        op: ast.operator = ast.Sub() if isinstance(node.op, ast.USub) else ast.Add()
        return self.of_BinOp(ast.copy_location(ast.BinOp(zero, op, node.operand), node), env, then, ways)

    def of_BinOp(self, node: ast.BinOp, env: Env, then: ThenValue, ways: Ways) -> Step:
        def made(values: list[Value], after: Env) -> Step:
            one, two = (number(value) for value in values)
            if isinstance(one, dict) and isinstance(two, dict):
                if isinstance(node.op, ast.Add | ast.Sub):
                    return then(added(one, two, 1 if isinstance(node.op, ast.Add) else -1), after)
                if isinstance(node.op, ast.Mult) and not (any(one) and any(two)):
                    factor, form = (two, one) if any(one) else (one, two)
                    return then(added({}, form, factor.get("", 0)), after)
            what = f"{ast.unparse(node)[:60]!r} is not linear in what the inputs change"
            raise self.refuse(node, f"{what}: {mend(node.op)}")

        return self.several([node.left, node.right], env, made, ways)

    def truth(self, node: ast.expr, env: Env, then: ThenValue, ways: Ways) -> Step:
        yes, no = (lambda e: then(Known(True), e)), (lambda e: then(Known(False), e))
        return cond(self, node, env, yes, no, ways)

    of_Compare = truth

    def of_BoolOp(self, node: ast.BoolOp, env: Env, then: ThenValue, ways: Ways) -> Step:
        first, rest = node.values[0], node.values[1:]
        if not rest:
            return self.value(first, env, then, ways)
        more = ast.copy_location(ast.BoolOp(node.op, rest), node)

        def made(value: Value, now: Env) -> Step:
            ways_on: list[Then] = [lambda e: self.value(more, e, then, ways), lambda e: then(value, e)]
            yes, no = ways_on if isinstance(node.op, ast.And) else ways_on[::-1]
            return tested(self, node, value, now, yes, no)

        return self.value(first, env, made, ways)

    def of_IfExp(self, node: ast.IfExp, env: Env, then: ThenValue, ways: Ways) -> Step:
        return cond(
            self,
            node.test,
            env,
            lambda e: self.value(node.body, e, then, ways),
            lambda e: self.value(node.orelse, e, then, ways),
            ways,
        )

    def of_Subscript(self, node: ast.Subscript, env: Env, then: ThenValue, ways: Ways) -> Step:
        if isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Name):
            owner, index = env.get(node.value.id), env.get(node.slice.id)
            if isinstance(owner, Listed) and isinstance(index, Slot) and "place of line " in index.name:
                element = index.name.replace("place of line ", "element of line ")
                if element in {v.name for v in env.values() if isinstance(v, Slot)}:
                    return then({element: 1}, env)
        if isinstance(node.value, ast.Name) and isinstance(owner := env.get(node.value.id), Told):
            if ast.unparse(node.slice) == "-1" and owner.last in env:
                return then(env[owner.last], env)
            raise self.refuse(node, "only the last truth value of a list that grows is known, by [-1]")
        raise self.refuse(node, "an element of the input is known only in a loop over it; use for")

    def of_ListComp(self, node: ast.ListComp, env: Env, then: ThenValue, ways: Ways) -> Step:
        return comprehension(self, node, env, then, ways)

    def of_Call(self, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
        from bisimdist.programs.flowchart_calls import called

        return called(self, node, env, then, ways)


def flowchart(
    function: Callable[..., Any] | str,
    *,
    neighbours: str = "one",
    length: int | None = None,
    domain: Sequence[int] | None = None,
) -> Flowchart:
    """Return the flowchart of a function: of all its inputs, and of lists of any length if none is given.

    Raises LimitError where a statement cannot be followed, and ModelError if there is no such function.
    """
    found, program, fixed = loaded(function, free=True)
    file = found.__code__.co_filename
    tree, offset = trees(found, program)
    builder = Builder(found, file, length, offset=offset)
    builder.enter("", tree, found, tree)
    env: dict[str, Value] = {}
    subject = ""
    for parameter in inspect.signature(found).parameters.values():
        if not env:
            subject = parameter.name
            env[subject] = Listed()
            continue
        given = fixed.get(parameter.name, parameter.default)
        if parameter.name == "rng":
            env["rng"] = Known(source)
        elif given is inspect.Parameter.empty:
            builder.parameters.append(parameter.name)
            env[parameter.name] = {parameter.name: 1}
        elif isinstance(given, int) and not isinstance(given, bool):
            env[parameter.name] = added({}, {"": given})
        else:
            env[parameter.name] = Known(given)

    def returned(value: Value, _: Env) -> Step:
        return builder.step(return_=parts(builder, tree, value))

    ways = Ways(returned)

    def whole(now: Env) -> Step:
        return builder.block(tree.body, now, lambda e: returned(Known(None), e), ways)

    listed = is_listed(tree, subject)
    try:
        if listed:
            builder.places["start"] = whole(env)
        else:
            inside = builder.place(tree, "input", {**env, subject: Slot(subject)}, whole)
            builder.places["start"] = builder.step(read=subject, first=True, then=inside)
    except RecursionError:
        raise builder.refuse(tree, "the function has too many ways through it") from None
    builder.variables["start"] = ()
    builder.lines["start"] = tree.lineno + offset
    bases, integers = used(builder.places)
    if bases & integers:
        raise LimitError(f"{file}:{tree.lineno + offset}: the ratio of noise is used as an integer, too")
    numbers = sorted(domain or ())
    origin = {"function": found.__qualname__, "observe": "output", "sources": digests(found, program)}
    chart = Flowchart(
        parameters=tuple(builder.parameters),
        neighbours=neighbours,
        low=numbers[0] if numbers else None,
        high=numbers[-1] if numbers else None,
        places=builder.places,
        variables=live(builder.places, builder.variables),
        origin=origin,
        lines=builder.lines,
    )
    keywords = {name: value for name, value in fixed.items() if name != subject}
    if "rng" in env:
        keywords["rng"] = source
    guard(chart, found, keywords, builder.asked, length=length, listed=listed, spaces=list(builder.globals))
    return chart
