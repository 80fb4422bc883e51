"""Expressions of Python, evaluated to constants and tensors."""

from __future__ import annotations

import ast
import inspect
import operator
from collections.abc import Callable, Mapping
from enum import Enum, EnumMeta
from typing import Any

from .. import hints
from ..errors import SemanticError, TileError
from ..language import arithmetic, indexing
from ..language.conversion import to_bool
from ..language.promotion import is_constant, to_tensor
from ..language.values import TypesInText, describe, is_member, one, tensor
from .assigned import assigned_names
from .chains import bits_between
from .flatten import is_sequence
from .frames import plain
from .functions import BoundFunction, LocalFunction, is_callable_function, is_method

_BINARY = {
    ast.Add: (arithmetic.add, operator.add, "__add__"),
    ast.Sub: (arithmetic.sub, operator.sub, "__sub__"),
    ast.Mult: (arithmetic.mul, operator.mul, "__mul__"),
    ast.Div: (arithmetic.truediv, operator.truediv, "__truediv__"),
    ast.FloorDiv: (arithmetic.floordiv, operator.floordiv, "__floordiv__"),
    ast.Mod: (arithmetic.mod, operator.mod, "__mod__"),
    ast.Pow: (None, operator.pow, "__pow__"),
    ast.LShift: (arithmetic.shl, operator.lshift, "__lshift__"),
    ast.RShift: (arithmetic.shr, operator.rshift, "__rshift__"),
    ast.BitAnd: (arithmetic.bitand, operator.and_, "__and__"),
    ast.BitOr: (arithmetic.bitor, operator.or_, "__or__"),
    ast.BitXor: (arithmetic.bitxor, operator.xor, "__xor__"),
}
_COMPARE = {
    ast.Eq: (arithmetic.eq, operator.eq),
    ast.NotEq: (arithmetic.ne, operator.ne),
    ast.Lt: (arithmetic.lt, operator.lt),
    ast.LtE: (arithmetic.le, operator.le),
    ast.Gt: (arithmetic.gt, operator.gt),
    ast.GtE: (arithmetic.ge, operator.ge),
}
#: Methods that compare, and those of the right operand that do it the other way round.
_COMPARING = {
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
}
_UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}


def evaluated(operation: Callable[..., Any], *operands: Any) -> Any:
    """What Python makes of constants. Its errors are those of the kernel."""
    try:
        return operation(*operands)
    except SemanticError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = str(error.args[-1]) if error.args else type(error).__name__
        raise SemanticError(
            f"there is no key {said!r}" if isinstance(error, KeyError) else said
        ) from None


def is_in(value: Any, items: Any, equal: Callable[[Any, Any], Any]) -> Any:
    """`value in items`: of scalars that are known at run time, whether an item is equal."""
    if isinstance(items, tensor):
        raise SemanticError("`in` looks into tuples, not into a tensor; use tl.max(x == value)")
    if not isinstance(value, tensor) and not (
        is_sequence(items) and any(isinstance(item, tensor) for item in items)
    ):
        return evaluated(operator.contains, items, value)
    if not is_sequence(items) and not isinstance(items, (dict, range)):
        raise SemanticError(f"`in` looks into tuples of numbers, not into {one(items)}")
    if isinstance(value, tensor) and value.type.is_block():
        raise SemanticError(
            f"`in` looks for a scalar, not for a block ({value.type}); use (x == 1) | (x == 2)"
        )
    found: Any = False
    for item in items:
        part = equal(value, item)
        if isinstance(found, tensor) or isinstance(part, tensor):
            found = arithmetic.logical_or(found, part)
        elif part:
            return True
    return found


def no_attribute(owner: Any, name: str, in_library: bool = False) -> str:
    """What is said of a name that a value, a module or another object does not have. A function of
    the library that asks for it was given something else than a tensor."""
    if in_library:
        return f"expected a number or a tensor, not {describe(owner)}"
    if isinstance(owner, tensor):
        if name == "value":
            return "a run-time value has no .value: it is not known at compile time"
        hint = hints.for_member(name, dir(tensor), owner.dtype.is_ptr())
        return f"{one(owner)} has no attribute `{name}`{hint}"
    if hasattr(owner, "__spec__"):
        is_language = owner.__name__ == "tile.language"
        find = hints.for_function if is_language else hints.closest
        return f"module `{owner.__name__}` has no attribute `{name}`{find(name, vars(owner))}"
    if isinstance(owner, EnumMeta):
        hint = hints.closest(name, owner.__members__)
        return f"an enumeration has no member `{name}`{hint}"
    said = f"{one(owner)} has no attribute `{name}`"
    return f"{said}: it is no tensor" if is_sequence(owner) and hasattr(tensor, name) else said


class Expressions:
    """The expression half of the code generator."""

    def visit_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def visit_Name(self, node: ast.Name) -> Any:
        return self.lookup(node.id)

    def visit_Tuple(self, node: ast.Tuple) -> tuple:
        return tuple(self.visit_items(node.elts))

    def visit_List(self, node: ast.List) -> list:
        return self.visit_items(node.elts)

    def visit_items(self, nodes: list[ast.expr]) -> list:
        items: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                items.extend(evaluated(iter, self.visit(node.value)))
            else:
                items.append(self.visit(node))
        return items

    def visit_Dict(self, node: ast.Dict) -> dict:
        result: dict = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:  # `**other`
                result.update(self.mapping(value))
            else:
                evaluated(operator.setitem, result, self.visit(key), self.visit(value))
        return result

    def mapping(self, node: ast.expr) -> dict:
        """What is taken apart by `**`."""
        value = self.visit(node)
        if not isinstance(value, Mapping):
            raise SemanticError(f"`**` takes a dictionary, not {one(value)}")
        return dict(value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.visit(node.value)
        self.assign(node.target, value)
        return value

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.visit(node.value)
        self.at(node)
        name = node.attr
        if is_constant(owner) and is_member(name):
            owner = to_tensor(owner)  # What an assigned number is when it is asked.
        if isinstance(owner, tensor):
            member = getattr(tensor, name, None)
            if member is None or name.startswith("_"):
                raise SemanticError(no_attribute(owner, name))
            if is_callable_function(member):
                return BoundFunction(member, owner)
            return getattr(owner, name)
        if name == "value" and not hasattr(owner, "value"):
            return owner  # A constant is its own constexpr.
        if isinstance(owner, BoundFunction):
            owner = owner.function
        found = inspect.getattr_static(type(owner), name, None)
        if isinstance(found, property) and is_callable_function(found.fget):
            return self.call_function(found.fget, [owner], {})
        try:
            value = getattr(owner, name)
        except AttributeError as error:
            if isinstance(error, TileError):  # A name that says why it is not there.
                raise SemanticError(str(error)) from None
            internal = self.frame.source.internal
            raise SemanticError(no_attribute(owner, name, internal)) from None
        if is_method(getattr(type(owner), name, None)) and not isinstance(owner, type):
            return BoundFunction(getattr(type(owner), name), owner)
        return plain(value)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self.visit(node.operand)
        self.at(node)
        if isinstance(node.op, ast.Not):
            if isinstance(value, tensor):
                return arithmetic.logical_not(value)
            return not value
        custom = self.operator_method(value, _UNARY[type(node.op)])
        if custom is not None:
            return self.call_function(custom, [], {})
        if not isinstance(value, tensor):
            method = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}[
                type(node.op)
            ]
            return evaluated(method, value)
        if isinstance(node.op, ast.USub):
            return arithmetic.neg(value)
        if isinstance(node.op, ast.Invert):
            return arithmetic.invert(value)
        return value

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        lhs, rhs = self.visit(node.left), self.visit(node.right)
        self.at(node)
        return self.binary(type(node.op), lhs, rhs)

    def binary(self, op: type[ast.operator], lhs: Any, rhs: Any) -> Any:
        if op not in _BINARY:
            arithmetic.refuse_matmul()
        on_tensors, on_constants, method = _BINARY[op]
        if isinstance(lhs, tensor) or isinstance(rhs, tensor):
            for value in (lhs, rhs):
                if is_sequence(value):
                    raise SemanticError(
                        f"no arithmetic between a tensor and a {type(value).__name__}"
                    )
        custom = self.custom_operator(lhs, rhs, method, f"__r{method[2:]}")
        if custom is not None:
            return self.call_function(*custom, {})
        if isinstance(lhs, tensor) or isinstance(rhs, tensor):
            if on_tensors is None:
                arithmetic.refuse_power()
            return on_tensors(lhs, rhs)
        try:
            return on_constants(lhs, rhs)
        except ZeroDivisionError:
            raise SemanticError("division by zero in a constant expression") from None
        except TypeError as error:
            # "unsupported operand type(s) for +", and what Python calls the operands.
            what, colon, _ = str(error).partition(":")
            said = f"{what}:" if colon else "no such operation between"
            raise SemanticError(f"{said} {describe(lhs)} and {describe(rhs)}") from None
        except (OverflowError, ValueError) as error:
            raise SemanticError(f"{error.args[-1]} in a constant expression") from None

    def custom_operator(self, lhs: Any, rhs: Any, method: str, reflected: str) -> Any:
        """What aggregates define for an operator: of the left operand, or else of the right one; as
        a function and its arguments."""
        custom = self.operator_method(lhs, method)
        if custom is not None:
            return custom, [rhs]
        custom = self.operator_method(rhs, reflected)
        return None if custom is None else (custom, [lhs])

    def operator_method(self, owner: Any, method: str) -> Any:
        """An operator that a user's aggregate defines as a jit function."""
        if isinstance(owner, (tensor, int, float, str, tuple, list)):
            return None
        member = getattr(type(owner), method, None)
        return BoundFunction(member, owner) if is_callable_function(member) else None

    def visit_Compare(self, node: ast.Compare) -> Any:
        lhs = self.visit(node.left)
        unwanted = bits_between(node)
        result: Any = True
        for op, right in zip(node.ops, node.comparators, strict=False):
            rhs = self.visit(right)
            self.at(node)
            if unwanted and (isinstance(lhs, tensor) or isinstance(rhs, tensor)):
                raise SemanticError(unwanted)
            part = self.compare(type(op), lhs, rhs)
            if result is True:
                result = part
            elif isinstance(result, tensor) or isinstance(part, tensor):
                result = arithmetic.logical_and(result, part)
            else:
                result = result and part
            if result is False:
                return False
            lhs = rhs
        return result

    def compare(self, op: type[ast.cmpop], lhs: Any, rhs: Any) -> Any:
        if op in (ast.Is, ast.IsNot):
            if isinstance(lhs, (int, float)) and isinstance(rhs, (int, float)):
                equal = type(lhs) is type(rhs) and lhs == rhs
            else:
                equal = lhs is rhs
            return equal if op is ast.Is else not equal
        if op in (ast.In, ast.NotIn):
            found = is_in(lhs, rhs, lambda a, b: self.compare(ast.Eq, a, b))
            if op is ast.In:
                return found
            return arithmetic.logical_not(found) if isinstance(found, tensor) else not found
        on_tensors, on_constants = _COMPARE[op]
        custom = self.custom_operator(lhs, rhs, *_COMPARING[op])
        if custom is not None:
            return self.call_function(*custom, {})
        if isinstance(lhs, tensor) or isinstance(rhs, tensor):
            other = rhs if isinstance(lhs, tensor) else lhs
            pointers = any(isinstance(v, tensor) and v.dtype.is_ptr() for v in (lhs, rhs))
            if (
                not isinstance(other, tensor)
                and not is_constant(other)
                and not (other is None and pointers)
            ):
                if op is ast.Eq:
                    return False
                if op is ast.NotEq:
                    return True
            return on_tensors(lhs, rhs)
        if is_sequence(lhs) and is_sequence(rhs) and op in (ast.Eq, ast.NotEq):
            return self.compare_sequences(lhs, rhs, op is ast.Eq)
        return evaluated(on_constants, lhs, rhs)

    def compare_sequences(self, lhs: Any, rhs: Any, equal: bool) -> Any:
        if len(lhs) != len(rhs):
            return not equal
        result: Any = True
        for a, b in zip(lhs, rhs, strict=False):
            part = self.compare(ast.Eq, a, b)
            if isinstance(result, tensor) or isinstance(part, tensor):
                result = arithmetic.logical_and(result, part)
            else:
                result = result and part
        if equal:
            return result
        return arithmetic.logical_not(result) if isinstance(result, tensor) else not result

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        is_and = isinstance(node.op, ast.And)
        result: Any = None
        for i, operand in enumerate(node.values):
            value = self.visit(operand)
            if i == 0:
                result = value
            elif isinstance(result, tensor):
                if isinstance(value, tensor) or is_constant(value):
                    self.at(node)
                    result = (arithmetic.logical_and if is_and else arithmetic.logical_or)(
                        result, value
                    )
                else:
                    raise SemanticError(
                        f"`and` and `or` take numbers and tensors, not {describe(value)}"
                    )
            else:
                result = value  # The constant before it did not decide.
            if not isinstance(result, tensor) and bool(result) != is_and:
                return result
        return result

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        condition = self.visit(node.test)
        if not isinstance(condition, tensor):
            return self.visit(node.body if condition else node.orelse)
        self.at(node.test)
        if condition.type.is_block():
            raise SemanticError(
                f"the condition of `if ... else` is a block ({condition.type}); use tl.where to "
                "choose element by element"
            )
        return self.choose(
            to_bool(condition),
            lambda: self.visit(node.body),
            lambda: self.visit(node.orelse),
            assigned_names([node.body, node.orelse]),
        )

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        owner = self.visit(node.value)
        index = self.visit(node.slice)
        self.at(node)
        if is_callable_function(owner):
            raise SemanticError(
                f"a kernel cannot launch another; call it directly: {owner.__name__}(...)"
            )
        if isinstance(owner, tensor):
            return indexing.index(owner, index)
        if is_sequence(owner):
            if isinstance(index, tensor):
                what = "list" if isinstance(owner, list) else "tuple"
                raise SemanticError(
                    f"a {what} is indexed with constants, not with a run-time value"
                )
            try:
                item = owner[index]
            except IndexError:
                why = "" if len(owner) else f"; {hints.NO_SIZES}"
                raise SemanticError(
                    f"index {index} is out of range for {len(owner)} items{why}"
                ) from None
            except (TypeError, ValueError) as error:
                raise SemanticError(str(error)) from None
            return item
        method = self.operator_method(owner, "__getitem__")
        if method is not None:
            return self.call_function(method, [index], {})
        try:
            return owner[self._key(owner, index, node.slice)]
        except (TypeError, KeyError, IndexError) as error:
            why = f"there is no key {error}" if isinstance(error, KeyError) else str(error)
            raise SemanticError(f"cannot index {one(owner)}: {why}") from None

    def _key(self, owner: Any, index: Any, node: ast.expr) -> Any:
        """The key of a dict. In Triton, `x.value` of a constant `x` is the value that was passed.
        Here it is what Python says: of a member of an enumeration, its number. A dict of members
        takes both."""
        if isinstance(owner, dict) and isinstance(node, ast.Attribute) and node.attr == "value":
            passed = self.lookup(node.value.id) if isinstance(node.value, ast.Name) else None
            if isinstance(passed, Enum) and passed in owner:
                return passed
        return index

    def visit_Slice(self, node: ast.Slice) -> slice:
        bounds = (node.lower, node.upper, node.step)
        return slice(*[self.visit(b) if b is not None else None for b in bounds])

    def visit_JoinedStr(self, node: ast.JoinedStr) -> str:
        parts = [self.visit(v) for v in node.values]
        text = "".join(map(str, parts))
        return TypesInText(text) if any(isinstance(p, TypesInText) for p in parts) else text

    def visit_FormattedValue(self, node: ast.FormattedValue) -> str:
        value = self.visit(node.value)
        convert = {115: str, 114: repr, 97: ascii}.get(node.conversion)
        if isinstance(value, tensor):
            return TypesInText(value)
        if convert is not None:
            value = convert(value)
        spec = self.visit(node.format_spec) if node.format_spec else ""
        return evaluated(format, value, spec)

    def visit_Lambda(self, node: ast.Lambda) -> LocalFunction:
        body = ast.copy_location(ast.Return(node.body), node.body)
        return LocalFunction("<lambda>", node.args, [body], self.frame, self.visit)

    def visit_ListComp(self, node: ast.ListComp) -> list:
        return list(self.comprehension(node.elt, node.generators))

    def visit_DictComp(self, node: ast.DictComp) -> dict:
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        return dict(self.comprehension(pair, node.generators))

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> tuple:
        return tuple(self.comprehension(node.elt, node.generators))

    def comprehension(self, element: ast.expr, generators: list[ast.comprehension]) -> list:
        if not generators:
            return [self.visit(element)]
        first, rest = generators[0], generators[1:]
        items = self.visit(first.iter)
        if isinstance(items, tensor):
            raise SemanticError(
                "a comprehension iterates over constants and tuples, not over a tensor"
            )
        names = assigned_names([first.target])
        saved = {name: self.scope[name] for name in names if name in self.scope}
        own: dict[str, Any] = {}
        self.frame.comprehended.append(own)
        result: list[Any] = []
        for item in self.static_items(items):
            self.assign(first.target, item)
            own.update({name: self.scope[name] for name in names})
            conditions = [self.visit(c) for c in first.ifs]
            if any(isinstance(c, tensor) for c in conditions):
                raise SemanticError("a comprehension's condition must be constant")
            if all(conditions):
                result.extend(self.comprehension(element, rest))
        self.frame.comprehended.pop()
        # What a walrus assigned stays.
        for name in names:
            self.scope.pop(name, None)
            if name in saved:
                self.scope[name] = saved[name]
        return result

    def check_ignored(self, node: ast.Call, function: Any) -> None:
        """Refuses a call whose result nobody takes, if its function asks for that."""
        function = function.function if isinstance(function, BoundFunction) else function
        why = getattr(function, "__tile_must_use__", False)
        if why:
            end = f" {why}" if isinstance(why, str) else ""
            raise SemanticError(f"The result of {ast.unparse(node.func)} is not being used.{end}")

    def visit_Call(self, node: ast.Call) -> Any:
        function = self.visit(node.func)
        arguments = self.visit_items(node.args)
        keywords: dict[str, Any] = {}
        for keyword in node.keywords:
            given = (
                self.mapping(keyword.value)
                if keyword.arg is None
                else {keyword.arg: self.visit(keyword.value)}
            )
            if twice := keywords.keys() & given.keys():
                raise SemanticError(f"the call gives the argument `{min(twice)}` twice")
            keywords.update(given)
        self.at(node)
        if node is self.ignored:
            self.check_ignored(node, function)
        frame = self.frame
        saved, frame.call = frame.call, node
        result = self.call_function(function, arguments, keywords)
        frame.call = saved
        return result
