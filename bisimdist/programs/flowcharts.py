"""Python functions as flowcharts over integers: for all inputs, and lists of any length.

Every run of the function is a run of the flowchart. What is known while the tree is read, such as None, truth
values and texts, is worked out: a loop becomes a place for each combination of these that it is entered with.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import FunctionType
from typing import Any

from bisimdist.errors import LimitError
from bisimdist.models.flowchart import Flowchart, Step
from bisimdist.programs import source
from bisimdist.programs.flowchart_loops import comprehension, loop
from bisimdist.programs.flowchart_sources import digests, is_listed, live, trees
from bisimdist.programs.flowchart_values import (
    Env,
    Known,
    Listed,
    Slot,
    Then,
    ThenValue,
    Told,
    Value,
    Ways,
    added,
    signature,
)
from bisimdist.programs.loading import loaded

MOST_STEPS = 20_000
MOST_CALLS = 8
LAWS = {"two_sided_geometric": "two-sided", "geometric": "one-sided", "flip": "coin"}


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

    def refuse(self, node: ast.AST, what: str) -> LimitError:
        line = getattr(node, "lineno", 1) + self.offset
        return LimitError(f"{self.file}:{line}: {what}")

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
            raise self.refuse(first, f"a {type(first).__name__} statement cannot be followed for all inputs")
        step: Step = method(first, env, lambda after: self.block(rest, after, then, ways), ways)
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
        return self.step(return_=[f"raised in line {node.lineno + self.offset}"])

    def do_Assert(self, node: ast.Assert, env: Env, then: Then, ways: Ways) -> Step:
        failed = self.step(return_=[f"raised in line {node.lineno + self.offset}"])
        return self.cond(node.test, env, then, lambda _: failed, ways)

    def do_Expr(self, node: ast.Expr, env: Env, then: Then, ways: Ways) -> Step:
        call = node.value
        if isinstance(call, ast.Constant):
            return then(env)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
            owner = env.get(call.func.value.id) if isinstance(call.func.value, ast.Name) else None
            if isinstance(owner, Told) and call.func.attr == "append":
                told = owner
                return self.value(call.args[0], env, lambda v, e: self.tell(node, told, v, e, then), ways)
        return self.value(call, env, lambda _, after: then(after), ways)

    def tell(self, node: ast.AST, told: Told, value: Value, env: Env, then: Then) -> Step:
        """Append to a list of which the observer sees every element."""
        changes = {told.length: added({told.length: 1}, {"": 1})}
        if value == Known(True):
            changes[told.trues] = added({told.trues: 1}, {"": 1})
        elif not isinstance(value, Known):  # a number may be 1, which is True: nothing is known any more
            env = {name: part for name, part in env.items() if name != told.trues}
        step = self.step(set=changes, then=then(env))
        for part in reversed([f"to {told.length}", *self.parts(node, value)]):
            step = self.step(tell=part, then=step)
        return step

    def parts(self, node: ast.AST, value: Value) -> list[Any]:
        """Return what an observer sees of a value."""
        if isinstance(value, dict):
            return [value]
        if isinstance(value, tuple):
            return [f"{len(value)} values", *(p for part in value for p in self.parts(node, part))]
        if isinstance(value, Known):
            return [repr(value.value)]
        if isinstance(value, Told):
            return [f"the list {value.length}"]
        raise self.refuse(node, "the observer sees something else than integers, texts and lists of them")

    def do_AnnAssign(self, node: ast.AnnAssign, env: Env, then: Then, ways: Ways) -> Step:
        if node.value is None:
            return then(env)
        return self.value(node.value, env, lambda v, e: self.assign(node.target, v, e, then, ways), ways)

    def do_Assign(self, node: ast.Assign, env: Env, then: Then, ways: Ways) -> Step:
        def assigned(targets: Sequence[ast.expr], value: Value, now: Env) -> Step:
            if not targets:
                return then(now)
            return self.assign(targets[0], value, now, lambda e: assigned(targets[1:], value, e), ways)

        return self.value(node.value, env, lambda v, e: assigned(node.targets, v, e), ways)

    def do_AugAssign(self, node: ast.AugAssign, env: Env, then: Then, ways: Ways) -> Step:
        if not isinstance(node.target, ast.Name):
            raise self.refuse(node, "only variables can be changed")
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        whole = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        return self.value(whole, env, lambda v, e: self.assign(node.target, v, e, then, ways), ways)

    def assign(self, target: ast.expr, value: Value, env: Env, then: Then, ways: Ways) -> Step:
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple):
            if not isinstance(value, tuple) or len(value) != len(target.elts):
                raise self.refuse(target, "a tuple of another length")
            pairs = list(zip(target.elts, value, strict=True))
        after, changes = dict(env), {}
        for name, part in pairs:
            if not isinstance(name, ast.Name):
                raise self.refuse(target, "only variables can be changed")
            old = env.get(name.id)
            if isinstance(old, Slot) and old.fixed:
                raise self.refuse(target, f"{name.id} is changed inside its own loop")
            if isinstance(part, dict):
                slot = Slot(ways.prefix + name.id)
                changes[slot.name], after[name.id] = part, slot
            elif part == Told("", ""):
                fresh = Told(f"len({ways.prefix}{name.id})", f"trues({ways.prefix}{name.id})")
                changes |= {fresh.length: {}, fresh.trues: {}}
                after |= {name.id: fresh, fresh.length: Slot(fresh.length), fresh.trues: Slot(fresh.trues)}
            elif isinstance(part, Told) and part in [v for n, v in env.items() if n != name.id]:
                raise self.refuse(target, "a list has two names")
            else:
                after[name.id] = part
        step = then(after)
        for made in (made for made in changes if made.startswith("len(")):
            step = self.step(tell=f"new {made}", then=step)
        return self.step(set=changes, then=step) if changes else step

    def do_If(self, node: ast.If, env: Env, then: Then, ways: Ways) -> Step:
        return self.cond(
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
            return self.cond(node.test, now, lambda e: self.block(node.body, e, again, inner), then, ways)

        return again(env)

    def do_For(self, node: ast.For, env: Env, then: Then, ways: Ways) -> Step:
        if node.orelse:
            raise self.refuse(node, "leave the else of the loop out")
        return self.value(
            node.iter, env, lambda v, e: loop(self, node, node.target, v, node.body, e, then, ways), ways
        )

    # conditions

    def cond(self, node: ast.expr, env: Env, yes: Then, no: Then, ways: Ways) -> Step:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.cond(node.operand, env, no, yes, ways)
        if isinstance(node, ast.BoolOp):
            first, rest = node.values[0], node.values[1:]
            if not rest:
                return self.cond(first, env, yes, no, ways)
            more = ast.copy_location(ast.BoolOp(node.op, rest), node)
            if isinstance(node.op, ast.And):
                return self.cond(first, env, lambda e: self.cond(more, e, yes, no, ways), no, ways)
            return self.cond(first, env, yes, lambda e: self.cond(more, e, yes, no, ways), ways)
        if isinstance(node, ast.Compare):
            if any(isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) for part in ast.walk(node)):
                return self.common(node, env, yes, no)
            return self.value(node.left, env, lambda v, e: self.compared(node, 0, v, e, yes, no, ways), ways)

        def tested(value: Value, after: Env) -> Step:
            if isinstance(value, Known):
                return yes(after) if value.value else no(after)
            if isinstance(value, dict):
                return self.equal(value, lambda: no(after), lambda: yes(after))
            raise self.refuse(node, "a truth value that cannot be followed for all inputs")

        return self.value(node, env, tested, ways)

    def common(self, node: ast.expr, env: Env, yes: Then, no: Then) -> Step:
        """Branch on something that is not linear, but the same in both runs."""
        for name in (part for part in ast.walk(node) if isinstance(part, ast.Name)):
            value = env.get(name.id)
            shared = isinstance(value, dict) and all(v in self.parameters for v in value if v)
            if not (shared or (isinstance(value, Slot) and value.common)):
                raise self.refuse(node, f"% of {name.id}, which neighbours need not have in common")
        text = f"line {node.lineno + self.offset}: {ast.unparse(node)}"
        return self.step(choose=text, then=yes(env), else_=no(env))

    def compared(
        self, node: ast.Compare, at: int, left: Value, env: Env, yes: Then, no: Then, ways: Ways
    ) -> Step:
        last = at == len(node.ops) - 1

        def both(right: Value, after: Env) -> Step:
            go = yes if last else (lambda e: self.compared(node, at + 1, right, e, yes, no, ways))
            return self.branch(node, node.ops[at], left, right, lambda: go(after), lambda: no(after))

        return self.value(node.comparators[at], env, both, ways)

    def branch(
        self,
        node: ast.AST,
        op: ast.cmpop,
        left: Value,
        right: Value,
        yes: Callable[[], Step],
        no: Callable[[], Step],
    ) -> Step:
        if isinstance(op, ast.IsNot | ast.NotEq):
            yes, no = no, yes
        if (
            isinstance(left, Known)
            and isinstance(right, Known)
            and not isinstance(op, ast.Lt | ast.Gt | ast.LtE | ast.GtE)
        ):
            return yes() if left.value == right.value else no()
        one, two = self.number(left), self.number(right)
        same = isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq)
        if same and (one is None) != (two is None) and isinstance(left if one is None else right, Known):
            return no()  # a number is nothing else
        unlike = isinstance(op, ast.Is | ast.IsNot) and isinstance(left, Known) != isinstance(right, Known)
        if one is None or two is None or unlike:
            raise self.refuse(node, "a comparison that cannot be followed for all inputs")
        assert isinstance(one, dict)
        assert isinstance(two, dict)
        difference = added(one, two, -1)
        if isinstance(op, ast.Eq | ast.NotEq):
            return self.equal(difference, yes, no)
        forms = {
            ast.GtE: difference,
            ast.Gt: added(difference, {"": 1}, -1),
            ast.LtE: added({}, difference, -1),
            ast.Lt: added(added({}, difference, -1), {"": 1}, -1),
        }
        if type(op) not in forms:
            raise self.refuse(node, "a comparison that cannot be followed for all inputs")
        return self.at_least(forms[type(op)], yes, no)

    @staticmethod
    def number(value: Value) -> Value | None:
        """Return a truth value as a number, too."""
        if isinstance(value, Known):
            return {"": int(value.value)} if isinstance(value.value, bool) else None
        return value if isinstance(value, dict) else None

    def at_least(self, form: dict[str, int], yes: Callable[[], Step], no: Callable[[], Step]) -> Step:
        if not any(form):
            return yes() if form.get("", 0) >= 0 else no()
        return self.step(if_=form, then=yes(), else_=no())

    def equal(self, form: dict[str, int], yes: Callable[[], Step], no: Callable[[], Step]) -> Step:
        return self.at_least(form, lambda: self.at_least(added({}, form, -1), yes, no), no)

    def value(self, node: ast.expr, env: Env, then: ThenValue, ways: Ways) -> Step:
        method = getattr(self, f"of_{type(node).__name__}", None)
        if method is None:
            raise self.refuse(node, f"{ast.unparse(node)[:60]!r} cannot be followed for all inputs")
        step: Step = method(node, env, then, ways)
        return step

    def of_Constant(self, node: ast.Constant, env: Env, then: ThenValue, ways: Ways) -> Step:
        if isinstance(node.value, int) and not isinstance(node.value, bool):
            return then(added({}, {"": node.value}), env)
        return then(Known(node.value), env)

    def of_Name(self, node: ast.Name, env: Env, then: ThenValue, ways: Ways) -> Step:
        if node.id in env:
            value = env[node.id]
            return then({value.name: 1} if isinstance(value, Slot) else value, env)
        found = self.global_of(node, ways)
        if isinstance(found, bool) or found is None or isinstance(found, str | Fraction):
            return then(Known(found), env)
        if isinstance(found, int):
            return then(added({}, {"": found}), env)
        raise self.refuse(node, f"{node.id} may be used before it has a value, or is no number")

    def global_of(self, node: ast.Name, ways: Ways) -> Any:
        space = self.spaces.get(ways.prefix, self.function.__globals__)
        if node.id not in space:
            raise self.refuse(node, f"{node.id} may be used before it has a value")
        return space[node.id]

    def of_Tuple(self, node: ast.Tuple | ast.List, env: Env, then: ThenValue, ways: Ways) -> Step:
        return self.several(node.elts, env, lambda values, e: then(tuple(values), e), ways)

    def of_List(self, node: ast.List, env: Env, then: ThenValue, ways: Ways) -> Step:
        if not node.elts:
            return then(Told("", ""), env)
        return self.of_Tuple(node, env, then, ways)

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
        zero = ast.copy_location(ast.Constant(0), node)
        op: ast.operator = ast.Sub() if isinstance(node.op, ast.USub) else ast.Add()
        return self.of_BinOp(ast.copy_location(ast.BinOp(zero, op, node.operand), node), env, then, ways)

    def of_BinOp(self, node: ast.BinOp, env: Env, then: ThenValue, ways: Ways) -> Step:
        def made(values: list[Value], after: Env) -> Step:
            one, two = (self.number(value) for value in values)
            if isinstance(one, dict) and isinstance(two, dict):
                if isinstance(node.op, ast.Add | ast.Sub):
                    return then(added(one, two, 1 if isinstance(node.op, ast.Add) else -1), after)
                if isinstance(node.op, ast.Mult) and not (any(one) and any(two)):
                    factor, form = (two, one) if any(one) else (one, two)
                    return then(added({}, form, factor.get("", 0)), after)
            raise self.refuse(node, f"{ast.unparse(node)[:60]!r} is not linear in what the inputs change")

        return self.several([node.left, node.right], env, made, ways)

    def truth(self, node: ast.expr, env: Env, then: ThenValue, ways: Ways) -> Step:
        yes, no = (lambda e: then(Known(True), e)), (lambda e: then(Known(False), e))
        return self.cond(node, env, yes, no, ways)

    of_Compare = of_BoolOp = truth

    def of_IfExp(self, node: ast.IfExp, env: Env, then: ThenValue, ways: Ways) -> Step:
        return self.cond(
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
        raise self.refuse(node, "an element of the input is known at the place of the loop only")

    def of_ListComp(self, node: ast.ListComp, env: Env, then: ThenValue, ways: Ways) -> Step:
        return comprehension(self, node, env, then, ways)

    def of_GeneratorExp(self, node: ast.GeneratorExp, env: Env, then: ThenValue, ways: Ways) -> Step:
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
    if tree.args.vararg or tree.args.kwarg:
        raise builder.refuse(tree, "parameters of any number cannot be followed")
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
        return builder.step(return_=builder.parts(tree, value))

    ways = Ways(returned)

    def whole(now: Env) -> Step:
        return builder.block(tree.body, now, lambda e: returned(Known(None), e), ways)

    if is_listed(tree, subject):
        builder.places["start"] = whole(env)
    else:
        slot = Slot(subject)
        inside = builder.place(tree, "input", {**env, subject: slot}, whole)
        builder.places["start"] = builder.step(read=subject, first=True, then=inside)
    builder.variables["start"] = ()
    builder.lines["start"] = tree.lineno + offset
    numbers = sorted(domain or ())
    origin = {"function": found.__qualname__, "observe": "output", "sources": digests(found, program)}
    return Flowchart(
        parameters=tuple(builder.parameters),
        neighbours=neighbours,
        low=numbers[0] if numbers else None,
        high=numbers[-1] if numbers else None,
        places=builder.places,
        variables=live(builder.places, builder.variables),
        origin=origin,
        lines=builder.lines,
    )
