"""From the functions of a program to code: which of them may draw, what their names mean, what is refused."""

from __future__ import annotations

import ast
import copy
import functools
from collections import Counter, defaultdict, deque, namedtuple
from collections.abc import Callable
from fractions import Fraction
from types import FunctionType, MethodType
from typing import Any

from bisimdist.models.reach import all_reached
from bisimdist.programs.blocks import analyse
from bisimdist.programs.code import Code
from bisimdist.programs.control import Outside
from bisimdist.programs.emit import Emitter, executed
from bisimdist.programs.flatten import Flattener
from bisimdist.programs.helpers import HELPERS, Ticker
from bisimdist.programs.machine_source import OBSERVE, DrawMethod, LibraryMethod
from bisimdist.programs.meaning import Meanings, unwrapped
from bisimdist.programs.native import HELPER_PREFIX, Native, refuse_forms
from bisimdist.programs.objects import NEXT, UNBOUND, YIELD, Cell, Closure, Thrown
from bisimdist.programs.sources import Sources
from bisimdist.programs.syntax import free_names
from bisimdist.programs.unit import UNKNOWN, Unit
from bisimdist.programs.vocabulary import BUILTINS, source_value

_PLAIN_TYPES = (list, dict, set, frozenset, tuple, str, bytes, int, range, Fraction)
_Named = namedtuple("_Named", ())
PLAIN_METHODS = frozenset(
    name for kind in (*_PLAIN_TYPES, Counter, defaultdict, deque, _Named) for name in dir(kind)
) - {"__init__"}


class Compiler(Meanings):
    """Compiles functions when they are asked for; keeps what generated code refers to."""

    def __init__(
        self, sources: Sources, ticker: Ticker, run: Callable[..., object], constants: dict[int, Any]
    ) -> None:
        space = {
            ".tick": ticker.tick,
            ".cell": Cell,
            ".unbound": UNBOUND,
            ".thrown": Thrown,
            ".type": type,
            ".tuple": tuple,
            ".list": list,
            ".set": set,
            ".dict": dict,
            ".isinstance": isinstance,
            ".Exception": Exception,
            ".closure": self._make_closure,
            ".yield": YIELD,
            ".next": NEXT,
            **{HELPER_PREFIX + name: function for name, function in HELPERS.items()},
        }
        super().__init__(sources, ticker, space, constants)
        self.sorted = BUILTINS["sorted"]
        self.run = run
        self._units: dict[Any, Unit] = {}
        self._codes: dict[Unit, Code] = {}
        self._draws: dict[Unit, bool] = {}
        self._classes: dict[ast.ClassDef, type] = {}

    def _make_closure(self, code: Code, cells: tuple[Cell, ...], defaults: tuple[object, ...]) -> Closure:
        return Closure(code, cells, defaults, self.run)

    # functions

    def unit_of(self, function: FunctionType) -> Unit | None:
        """Return the unit of a function of the program, or None if it is foreign."""
        key = function.__code__
        if key not in self._units:
            found = self.sources.find(function)
            if found is None:
                return None
            node, file, owner = found
            fixed = {}
            if function.__closure__:
                names = function.__code__.co_freevars
                fixed = {
                    name: cell.cell_contents for name, cell in zip(names, function.__closure__, strict=True)
                }
            self._units[key] = Unit(
                self, node, file, function.__qualname__, function.__globals__, owner, None, fixed
            )
        return self._units[key]

    def unit_of_node(self, node: ast.FunctionDef | ast.Lambda, outer: Unit) -> Unit:
        """Return the unit of a function inside another one."""
        if node not in self._units:
            name = getattr(node, "name", "<lambda>")
            self._units[node] = Unit(
                self, node, outer.file, f"{outer.name}.{name}", outer.space, outer.owner, outer
            )
        return self._units[node]

    def nested(self, node: ast.FunctionDef | ast.Lambda, outer: Unit) -> Code:
        """Return the code of a function inside another one."""
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            self.refuse(node, outer, "a function inside a function is decorated", "leave the decorator out")
        return self._compiled(self.unit_of_node(node, outer), drawing=True)

    def local_class(self, node: ast.ClassDef, unit: Unit) -> type:
        """Return a class that is defined inside a function: one for all calls, as it takes nothing from them.

        Raises ModelError if it does, or does more than define methods and constants.
        """
        if node not in self._classes:
            variables = unit.locals | set(unit.taken)
            for part in node.body:
                simple = isinstance(part, ast.FunctionDef | ast.Pass) or isinstance(
                    getattr(part, "value", None), ast.Constant | None
                )
                taken = free_names(part) if isinstance(part, ast.FunctionDef) else set()
                if not simple or taken & variables:
                    self.refuse(
                        part,
                        unit,
                        "a class inside a function has more than constants and methods of its own",
                        "define the class in the module",
                    )
            tree = ast.fix_missing_locations(ast.Module([copy.deepcopy(node)], []))
            made: dict[str, Any] = {}
            exec(compile(tree, unit.file, "exec", dont_inherit=True), unit.space, made)
            self._classes[node] = made[node.name]
        return self._classes[node]

    def code_of(self, function: FunctionType) -> Code:
        """Return the code of a function. Raises Outside if it is not part of the program."""
        unit = self.unit_of(function)
        if unit is None:
            raise Outside(
                f"it calls {function.__module__}.{function.__qualname__}, which is not part of the program",
                "write the function beside the program",
            )
        return self._compiled(unit, drawing=self.draws(unit), real=function)

    def draws(self, unit: Unit) -> bool:
        """Tell whether a function may draw, itself or through what it calls."""
        if unit not in self._draws:
            group: dict[Unit, None] = {}
            stack = [unit]
            found = False
            while stack and not found:
                member = stack.pop()
                if member in group:
                    continue
                group[member] = None
                if self._draws.get(member):
                    found = True
                    break
                dynamic, called = self._calls(member)
                found = dynamic
                stack.extend(called)
            if found:
                self._draws[unit] = True
            else:
                self._draws.update(dict.fromkeys(group, False))
        return self._draws[unit]

    def _calls(self, unit: Unit) -> tuple[bool, list[Unit]]:
        """Return whether a function draws or calls what is not known, and which functions it calls."""
        if unit.nested:
            return True, []
        called: list[Unit] = []
        for node in (inner for part in unit.body for inner in ast.walk(part)):
            if isinstance(node, ast.With):
                return True, []
            if not isinstance(node, ast.Call):
                continue
            value = self._called(node, unit)
            if isinstance(value, FunctionType):
                found = self.unit_of(value)
                if found is not None:
                    called.append(found)
                    continue
            if self.suspends(node, unit):
                return True, []
        return False, called

    def _called(self, node: ast.Call, unit: Unit) -> Any:
        if isinstance(node.func, ast.Name) and unit.is_variable(node.func.id):
            return UNKNOWN
        return unwrapped(unit.known(node.func))

    def suspends(self, node: ast.Call, unit: Unit) -> bool:
        """Tell whether a call may draw."""
        value = self._called(node, unit)
        if value is not UNKNOWN:
            return self._may_draw(value)
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            return name not in PLAIN_METHODS or name in self.sources.methods
        return True

    def _may_draw(self, value: Any) -> bool:
        if value is next:
            return self.sources.generates
        try:
            random, meant = source_value(value)
        except KeyError:
            return False
        if random:
            value = meant
        if isinstance(value, DrawMethod | LibraryMethod) or value is OBSERVE:
            return True
        if isinstance(value, FunctionType):
            found = self.unit_of(value)
            return found is not None and self.draws(found)
        if isinstance(value, type):
            return isinstance(getattr(value, "__init__", None), FunctionType) and self.sources.has_init(value)
        return isinstance(value, MethodType | functools.partial | Closure)

    def takes_callback(self, call: ast.Call, value: ast.Lambda, unit: Unit) -> bool:
        """Tell whether a lambda is handed to a built-in function, and draws nothing."""
        if self.suspends(call, unit):
            return False
        inner = self.unit_of_node(value, unit)
        return not any(
            isinstance(node, ast.Lambda | ast.NamedExpr)
            or (isinstance(node, ast.Call) and self.suspends(node, inner))
            for node in ast.walk(value.body)
        )

    # code

    def _compiled(self, unit: Unit, *, drawing: bool, real: FunctionType | None = None) -> Code:
        if unit in self._codes:
            return self._codes[unit]
        line = unit.node.lineno
        code = self._codes[unit] = Code(unit.name, unit.file, line, generates=unit.generates)
        self.sources.used(unit.file)
        refuse_forms(self, unit)
        if isinstance(unit.node, ast.FunctionDef) and real is None and unit.outer is None:
            self.refuse(unit.node, unit, "the function cannot be found again", "define it in the module")
        if drawing:
            self._draw_code(unit, code, real)
        else:
            self._native_code(unit, code, real)
        return code

    def _native_code(self, unit: Unit, code: Code, real: FunctionType | None) -> None:
        body = Native(self, unit, segmented=False).statements(copy.deepcopy(unit.body))
        function = self._function(unit, "native", copy.deepcopy(unit.node.args), body)
        self._give_defaults(function, real, unit)
        code.native = function

    def _draw_code(self, unit: Unit, code: Code, real: FunctionType | None) -> None:
        for inner in unit.nested:
            if isinstance(inner, ast.FunctionDef):
                self.unit_of_node(inner, unit)
        flattener = Flattener(self, unit)
        first = flattener.run()
        given = [*unit.taken, *unit.parameters]
        variables = unit.locals | set(unit.taken) | set(flattener.temporaries)
        for block_name in _caught_names(first):
            variables.add(block_name)
        flow = analyse(first, variables, set(given))
        code.bind = self._binder(unit, code, real)
        code.entry = Emitter(flow, code, self.keep, self.space).run(given)
        named = unit.node.args
        if not (unit.generates or named.vararg or named.kwarg or named.kwonlyargs):
            code.arity = len(unit.parameters)

    def _binder(self, unit: Unit, code: Code, real: FunctionType | None) -> Callable[..., tuple[Any, ...]]:
        arguments = copy.deepcopy(unit.node.args)
        body: list[ast.stmt] = []
        defaulted: list[str] = []
        if real is None:
            positional = [*arguments.posonlyargs, *arguments.args]
            count = len(arguments.defaults)
            defaulted = [part.arg for part in positional[len(positional) - count :]]
            defaulted += [
                part.arg
                for part, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
                if default is not None
            ]
            first = [ast.arg(f".d{k}") for k in range(len(defaulted))]
            arguments.posonlyargs = [*first, *arguments.posonlyargs]
            for k, name in enumerate(defaulted):
                missing = ast.Compare(
                    ast.Name(name, ast.Load()), [ast.Is()], [ast.Name(".unbound", ast.Load())]
                )
                given = ast.Assign([ast.Name(name, ast.Store())], ast.Name(f".d{k}", ast.Load()))
                body.append(ast.If(missing, [given], []))
        names = [ast.Name(name, ast.Load()) for name in unit.parameters]
        body.append(ast.Return(ast.Tuple(list(names), ast.Load())))
        function = self._function(unit, "bind", arguments, body)
        function.__name__ = function.__qualname__ = getattr(unit.node, "name", "<lambda>")
        if real is not None:
            self._give_defaults(function, real, unit)
        else:
            function.__defaults__ = (UNBOUND,) * len(unit.node.args.defaults)
            function.__kwdefaults__ = dict.fromkeys(defaulted[len(unit.node.args.defaults) :], UNBOUND)
        code.defaults = tuple(defaulted)
        return function

    def _give_defaults(self, function: FunctionType, real: FunctionType | None, unit: Unit) -> None:
        if real is None:
            return
        function.__name__ = function.__qualname__ = real.__name__
        if real.__defaults__:
            function.__defaults__ = tuple(self.convert(value, unit.node, unit) for value in real.__defaults__)
        if real.__kwdefaults__:
            function.__kwdefaults__ = {
                name: self.convert(value, unit.node, unit) for name, value in real.__kwdefaults__.items()
            }

    def _function(
        self, unit: Unit, name: str, arguments: ast.arguments, body: list[ast.stmt]
    ) -> FunctionType:
        arguments.defaults = []
        arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
        for part in ast.walk(arguments):
            if isinstance(part, ast.arg):
                part.annotation = None
        return executed(name, arguments, body, unit.file, unit.node.lineno, self.space)

    def function_value(self, value: FunctionType, node: ast.AST, unit: Unit) -> Any:
        """Return what a function of the module is inside the machine."""
        found = self.unit_of(value)
        if found is None:
            what = f"it uses {value.__module__}.{value.__qualname__}, which is not part of the program"
            self.refuse(node, unit, what, "write the function beside the program")
        if self.draws(found):
            code = self.code_of(value)
            return self._make_closure(code, (), ())
        return (
            _Later(self, value)
            if found in self._codes and self._codes[found].native is None
            else self.code_of(value).native
        )


class _Later:
    """A function that is still being compiled, because it calls itself."""

    def __init__(self, compiler: Compiler, function: FunctionType) -> None:
        self._compiler = compiler
        self._function = function

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        native = self._compiler.code_of(self._function).native
        return native(*arguments, **keywords) if native is not None else None


def _caught_names(first: Any) -> set[str]:
    def after(block: Any) -> list[Any]:
        return [*block.successors(), *([block.handler] if block.handler is not None else [])]

    return {block.caught for block in all_reached([first], after)} - {""}
