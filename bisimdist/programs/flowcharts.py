"""Python functions as flowcharts over integers: for all inputs, and lists of any length.

Every run of the function is a run of the flowchart. What is known while the tree is read, such as None, truth
values and texts, is worked out: a loop becomes a place for each combination of these that it is entered with.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import FunctionType
from typing import Any

from bisimdist.errors import LimitError, UsageError
from bisimdist.models.flowchart import Flowchart, Step
from bisimdist.programs import source
from bisimdist.programs.flowchart_values import (
    Known,
    Listed,
    Ranged,
    Slot,
    Told,
    Value,
    added,
    signature,
)
from bisimdist.programs.loading import loaded
from bisimdist.programs.noise_ratio import Ratios, power_of

MOST_STEPS = 20_000
MOST_CALLS = 8
LAWS = {"two_sided_geometric": "two-sided", "geometric": "one-sided", "flip": "coin"}

Env = Mapping[str, Value]
Then = Callable[[Env], Step]
ThenValue = Callable[[Value, Env], Step]


@dataclass(frozen=True)
class Ways:
    """Where control goes on from inside a function or a loop."""

    returned: ThenValue
    prefix: str = ""
    depth: int = 0
    broken: Then | None = None
    continued: Then | None = None
    reading: bool = False  # whether a loop over the input is going on


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

    # statements

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
        elif isinstance(value, dict):  # numbers may be equal to True
            changes[told.trues] = {}
        step = self.step(set=changes, then=then(env))
        for part in reversed(self.parts(node, value)):
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
            return ["the list"]
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
            else:
                after[name.id] = part
        step = then(after)
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
            inner = Ways(ways.returned, ways.prefix, ways.depth, then, again, ways.reading)
            return self.cond(node.test, now, lambda e: self.block(node.body, e, again, inner), then, ways)

        return again(env)

    def do_For(self, node: ast.For, env: Env, then: Then, ways: Ways) -> Step:
        if node.orelse:
            raise self.refuse(node, "leave the else of the loop out")
        return self.value(
            node.iter, env, lambda v, e: self.loop(node, node.target, v, node.body, e, then, ways), ways
        )

    def loop(  # noqa: PLR0913
        self,
        node: ast.AST,
        target: ast.expr,
        over: Value,
        body: Sequence[ast.stmt] | Callable[[Env, Then, Ways], Step],
        env: Env,
        then: Then,
        ways: Ways,
    ) -> Step:
        """Go through the input or through a range of integers."""
        if isinstance(over, Listed):
            over = Ranged({}, None, ("element",))
        if not isinstance(over, Ranged):
            raise self.refuse(node, "a loop goes over the input, its places, or a range")
        line = getattr(node, "lineno", 1)
        if over.length is None and ways.reading:
            raise self.refuse(node, "a loop over the input inside of another one cannot be followed")
        public = all(name in self.parameters for name in over.first if name)
        place = Slot(f"{ways.prefix}place of line {line + self.offset}", fixed=True, common=public)
        element = Slot(f"{ways.prefix}element of line {line + self.offset}", fixed=True)
        names = list(target.elts) if isinstance(target, ast.Tuple) else [target]
        bound = {"place": place, "element": element}
        if len(names) != len(over.gives) or not all(isinstance(name, ast.Name) for name in names):
            raise self.refuse(node, "the loop takes one name for each part of what it goes over")
        given: dict[str, Value] = {
            name.id: bound[part]  # type: ignore[attr-defined]
            for name, part in zip(names, over.gives, strict=True)
        }
        reads = over.length is None
        hidden = {f"place {line}": place, **({f"element {line}": element} if reads else {})}

        def left(now: Env) -> Step:
            kept = {n: v for n, v in now.items() if n not in hidden}
            for name, slot in given.items():
                if kept.get(name) == slot:
                    del kept[name]
            return then(kept)

        def again(now: Env) -> Step:
            return following(now, first=False)

        def following(now: Env, *, first: bool, count: int = 0) -> Step:
            if first and not reads:
                start = {place.name: over.first}
                made = self.place(node, "range", {**now, **hidden, **given}, ranged)
                return self.step(set=start, then=made)
            if not reads:
                made = self.place(node, "range", {**now, **hidden, **given}, ranged)
                return self.step(set={place.name: added({place.name: 1}, {"": 1})}, then=made)
            if self.length is not None:
                count = 0 if first else now[f"count {line}"].value + 1  # type: ignore[union-attr]
                if count == self.length:
                    return left({n: v for n, v in now.items() if n != f"count {line}"})
                now = {**now, f"count {line}": Known(count)}
            inside = self.place(node, "for", {**now, **hidden, **given}, inner)
            step = self.step(read=element.name, first=first, then=inside)
            index = over.first if first else added({place.name: 1}, {"": 1})
            step = self.step(set={place.name: index}, then=step)
            if self.length is not None:
                return step
            return self.step(choose=f"more elements in line {line + self.offset}", then=step, else_=left(now))

        def broken(now: Env) -> Step:
            return left({n: v for n, v in now.items() if n != f"count {line}"})

        def inner(now: Env) -> Step:
            inside = Ways(ways.returned, ways.prefix, ways.depth, broken, again, reads or ways.reading)
            if callable(body):
                return body(now, again, inside)
            return self.block(body, now, again, inside)

        def ranged(now: Env) -> Step:
            assert over.length is not None
            still = added(added(over.length, {place.name: 1}, -1), {"": 1}, -1)
            return self.step(if_=still, then=inner(now), else_=left(now))

        return following(env, first=True)

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

    def compared(  # noqa: PLR0913
        self, node: ast.Compare, at: int, left: Value, env: Env, yes: Then, no: Then, ways: Ways
    ) -> Step:
        last = at == len(node.ops) - 1

        def both(right: Value, after: Env) -> Step:
            go = yes if last else (lambda e: self.compared(node, at + 1, right, e, yes, no, ways))
            return self.branch(node, node.ops[at], left, right, lambda: go(after), lambda: no(after))

        return self.value(node.comparators[at], env, both, ways)

    def branch(  # noqa: PLR0913
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
        left, right = self.number(left), self.number(right)
        if isinstance(op, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) and None in (left, right):
            return no()  # a number is nothing else
        if left is None or right is None:
            raise self.refuse(node, "a comparison that cannot be followed for all inputs")
        assert isinstance(left, dict)
        assert isinstance(right, dict)
        difference = added(left, right, -1)
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

    # expressions

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

    def comprehension(self, node: Any, env: Env, then: ThenValue, ways: Ways) -> Step:
        made = node.generators[0]
        if len(node.generators) != 1 or made.ifs:
            raise self.refuse(node, "a comprehension of one loop without conditions is followed")
        told = Told(f"len(line {node.lineno})", f"trues(line {node.lineno})")
        inside = {**env, told.length: Slot(told.length), told.trues: Slot(told.trues)}

        def body(now: Env, again: Then, inner: Ways) -> Step:
            return self.value(node.elt, now, lambda v, e: self.tell(node, told, v, e, again), inner)

        def looped(over: Value, now: Env) -> Step:
            return self.loop(node, made.target, over, body, now, lambda e: then(told, e), ways)

        start = self.value(made.iter, inside, looped, ways)
        return self.step(set={told.length: {}, told.trues: {}}, then=start)

    of_ListComp = of_GeneratorExp = comprehension

    # calls: see below
    def of_Call(self, node: ast.Call, env: Env, then: ThenValue, ways: Ways) -> Step:
        from bisimdist.programs.flowchart_calls import called

        return called(self, node, env, then, ways)

    def draw(self, node: ast.Call, law: str, env: Env, then: ThenValue, ways: Ways) -> Step:
        """Draw noise, or toss a coin."""
        arguments = [*node.args, *(word.value for word in node.keywords)]
        if len(arguments) != 1:
            raise self.refuse(node, "noise with one argument, its ratio, is followed: clipped noise is not")
        try:
            if law == "coin":
                chance = self.constant(arguments[0], env, ways)
                if chance is None or not 0 < Fraction(chance) < 1:
                    raise ValueError("the probability of the coin is no number strictly between 0 and 1")
                odds = Fraction(chance) / (1 - Fraction(chance))
                base, weight = power_of(min(odds, 1 / odds)) if odds != 1 else ("1/2", {})
            else:
                base, weight = Ratios(
                    lambda part: self.constant(part, env, ways),
                    lambda part: self.known_form(part, env),
                    lambda part: self.symbol(part, env),
                ).read(arguments[0])
        except ValueError as error:
            raise self.refuse(node, str(error)) from None
        name = f"{ways.prefix}noise of line {node.lineno + self.offset}, {node.col_offset}"
        after = then({name: 1}, env)
        return self.step(draw=name, law=law, base=base, weight=weight, then=after)

    def constant(self, node: ast.expr, env: Env, ways: Ways) -> Any:
        """Return what an expression is at compile time: a number, or None."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int | str):
            return Fraction(node.value) if isinstance(node.value, str) else node.value
        if isinstance(node, ast.Name):
            value = env.get(node.id)
            if isinstance(value, Known) and isinstance(value.value, str | Fraction):
                return Fraction(value.value)
            if isinstance(value, dict) and not any(value):
                return value.get("", 0)
            found = None if value is not None else self.function.__globals__.get(node.id)
            return (
                Fraction(found)
                if isinstance(found, str | Fraction)
                else found
                if isinstance(found, int)
                else None
            )
        if isinstance(node, ast.BinOp):
            one, two = self.constant(node.left, env, ways), self.constant(node.right, env, ways)
            if one is None or two is None:
                return None
            works: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
                ast.Mult: lambda a, b: a * b,
                ast.Add: lambda a, b: a + b,
                ast.Sub: lambda a, b: a - b,
                ast.Div: lambda a, b: Fraction(a) / b,
                ast.Pow: lambda a, b: a ** int(b) if abs(b) < 1000 else None,
            }
            return works[type(node.op)](one, two) if type(node.op) in works else None
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Fraction":
            parts = [self.constant(part, env, ways) for part in node.args]
            return None if None in parts or not parts else Fraction(parts[0]) / (parts[1] if parts[1:] else 1)
        return None

    def known_form(self, node: ast.expr, env: Env) -> dict[str, int] | None:
        """Return an expression of parameters and numbers as a form."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return added({}, {"": node.value})
        if isinstance(node, ast.Name):
            value = env.get(node.id)
            shared = isinstance(value, dict) and all(name in self.parameters for name in value if name)
            return value if shared else None  # type: ignore[return-value]
        if isinstance(node, ast.BinOp):
            one, two = self.known_form(node.left, env), self.known_form(node.right, env)
            if one is None or two is None:
                return None
            if isinstance(node.op, ast.Add | ast.Sub):
                return added(one, two, 1 if isinstance(node.op, ast.Add) else -1)
            if isinstance(node.op, ast.Mult) and not (any(one) and any(two)):
                factor, form = (two, one) if any(one) else (one, two)
                return added({}, form, factor.get("", 0))
        return None

    def symbol(self, node: ast.expr, env: Env) -> str | None:
        if isinstance(node, ast.Name) and node.id in self.parameters:
            value = env.get(node.id)
            return node.id if value == {node.id: 1} else None
        return None


def _tree(function: FunctionType) -> tuple[ast.FunctionDef, int]:
    lines, first = inspect.getsourcelines(function)
    found = ast.parse(textwrap.dedent("".join(lines))).body[0]
    if not isinstance(found, ast.FunctionDef):
        raise UsageError(f"{function.__qualname__} is no plain function")
    return found, first - 1


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
    whole = lambda now: builder.block(tree.body, now, lambda e: returned(Known(None), e), ways)  # noqa: E731
    if _is_listed(tree, subject):
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


def _is_listed(tree: ast.FunctionDef, name: str) -> bool:
    """Tell whether the input is gone through, or looked into."""
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.For | ast.comprehension):
            parts = [node.iter]
        elif isinstance(node, ast.Subscript):
            parts = [node.value]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("len", "sum", "enumerate", "tuple", "list")
        ):
            parts = list(node.args)
        if any(isinstance(part, ast.Name) and part.id == name for part in parts):
            return True
        if any(
            isinstance(p, ast.Call) and any(isinstance(a, ast.Name) and a.id == name for a in p.args)
            for p in parts
        ):
            return True
    return False


def live(places: Mapping[str, Step], variables: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return the variables of places that are read later on."""
    needed: dict[str, frozenset[str]] = dict.fromkeys(places, frozenset())

    def reads(step: Step) -> frozenset[str]:
        after: frozenset[str] = frozenset()
        for branch in ("then", "else"):
            if branch in step:
                after |= reads(step[branch])
        if "go" in step:
            return needed[step["go"]]
        if "set" in step:
            kept = {name: form for name, form in step["set"].items() if name in after}
            return (after - step["set"].keys()) | {name for form in kept.values() for name in form}
        after -= {step.get("draw"), step.get("read")}
        forms = [step[kind] for kind in ("if", "tell") if kind in step] + list(step.get("return", ()))
        return after | {name for form in forms if isinstance(form, Mapping) for name in form}

    while (found := {name: reads(step) for name, step in places.items()}) != needed:
        needed = found
    return {name: tuple(v for v in known if v in needed[name]) for name, known in variables.items()}


def trees(function: FunctionType, program: Any) -> tuple[ast.FunctionDef, int]:
    """Return the tree of a function, and how many lines stand before it."""
    if program is None:
        return _tree(function)
    for text in program.texts.values():
        for node in ast.walk(text.tree):
            if (
                isinstance(node, ast.FunctionDef)
                and node.name == function.__name__
                and text.name == function.__code__.co_filename
                and node.lineno >= function.__code__.co_firstlineno
            ):
                return node, 0
    raise UsageError(f"{function.__qualname__} is no plain function of its file")


def digests(function: FunctionType, program: Any) -> dict[str, str]:
    """Return the digests of the sources by file."""
    if program is not None:
        return {text.name: text.digest for text in program.texts.values()}
    from pathlib import Path

    from bisimdist.programs.loading import SourceText

    path = Path(function.__code__.co_filename)
    return {path.name: SourceText.read(path, path.name).digest}
