"""Calls: of jit functions, of the language's builtins, of Python's."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import re
import sys
import traceback
import types
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from .. import hints
from ..errors import SemanticError
from ..language import arithmetic, program
from ..language import math as tl_math
from ..language.dtypes import dtype
from ..language.values import (
    constexpr,
    constexpr_type,
    describe,
    is_builtin,
    one,
    tensor,
    tl_tuple,
    unwrap,
)
from ..runtime.depth import allow_depth
from .declared_constants import (
    DeclaredConstant,
    argument_of,
    has_run_time_value,
    in_words,
    named_in,
)
from .flatten import flat_types, flatten, is_sequence, structure, unflatten
from .foreign import call_foreign_builtin, is_foreign_builtin
from .frames import Frame, symbol_name

_MAX_DEPTH = 200
#: Functions of Python that kernels may call on constants.
_PURE_BUILTINS = {
    bin, callable, chr, divmod, hash, hex, issubclass, oct, ord, pow, round, sorted,
}  # fmt: skip


def refuse_plain(name: str) -> NoReturn:
    """Says that kernels do not call functions that nobody compiles."""
    raise SemanticError(
        f"`{name}` is a plain Python function: decorate it with @tile.jit to call it from a "
        "kernel, or with @tile.constexpr_function to run it on constants while compiling"
    )


def wrong_call(error: Exception, function: Any) -> str:
    """What Python says of a call that does not fit, with the keyword that was perhaps meant."""
    said = str(error).replace(".__init__()", "()")
    unknown = re.search(r"unexpected keyword argument '(\w+)'", said)
    if unknown is None:
        return said
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):  # Some functions in C say nothing.
        return said
    return said + hints.closest(unknown[1], names)


def is_plain(function: Any) -> bool:
    """A function of Python that kernels cannot call."""
    return (
        isinstance(function, types.FunctionType)
        and not is_builtin(function)
        and not is_foreign_builtin(function)
        and not hasattr(function, "__tile_construct__")
        and function not in _PYTHON_BUILTINS
    )


def is_compiled(function: Any) -> bool:
    """Whether a call has a meaning of its own in kernels: of jit functions, of constructors and
    the like, and of Python's functions that are replaced."""
    if (
        getattr(function, "__tile_callable__", False)
        or is_callable_function(function)
        or hasattr(function, "__tile_construct__")
        or getattr(function, "__tile_constexpr_function__", False)
        or is_foreign_builtin(function)
    ):
        return True
    try:
        return function in _PYTHON_BUILTINS
    except TypeError:  # Not hashable.
        return False


class BoundFunction:
    """A jit function as a method of a value."""

    __tile_callable__ = True

    def __init__(self, function: Any, owner: Any) -> None:
        self.function = function
        self.owner = owner


class LocalFunction:
    """A lambda or a function defined inside a kernel. Its defaults have their values from there;
    other names have those of when it is called."""

    __tile_callable__ = True

    def __init__(
        self,
        name: str,
        arguments: ast.arguments,
        body: list[ast.stmt],
        frame: Frame,
        visit: Callable[[ast.expr], Any],
    ) -> None:
        self.name = name
        self.arguments = arguments
        self.body = body
        self.frame = frame
        #: Those of comprehensions around it, which have the last value when these have ended.
        self.comprehended = list(frame.comprehended)
        positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        last = positional[len(positional) - len(arguments.defaults) :]
        given = [*zip(last, arguments.defaults, strict=True)]
        given += zip([a.arg for a in arguments.kwonlyargs], arguments.kw_defaults, strict=True)
        self.defaults = {name: visit(node) for name, node in given if node is not None}


def is_callable_function(value: Any) -> bool:
    """True for functions that are generated, not called: @jit ones."""
    return getattr(value, "__tile_jit__", False)


def is_method(value: Any) -> bool:
    """True for functions that are given their aggregate, though they are no functions of Python."""
    return is_callable_function(value) or getattr(value, "__tile_constexpr_function__", False)


def _has_tensor(value: Any) -> bool:
    if isinstance(value, tensor):
        return True
    return is_sequence(value) and any(map(_has_tensor, value))


def _isinstance(value: Any, cls: Any) -> bool:
    classes = cls if isinstance(cls, tuple) else (cls,)
    if constexpr in classes and not isinstance(value, tensor) and not is_sequence(value):
        return True
    if tl_tuple in classes and isinstance(value, (tuple, list)):
        return True
    return isinstance(value, tuple(c for c in classes if c is not constexpr))


def _fold(function: Any, combine: Any) -> Any:
    """min or max: of constants as Python does, else element by element."""

    def call(*values: Any) -> Any:
        if len(values) == 1 and isinstance(values[0], tensor):
            iter(values[0])  # Says what to use for all elements of a block.
        items = list(values[0]) if len(values) == 1 and is_sequence(values[0]) else list(values)
        if not any(isinstance(v, tensor) for v in items):
            return function(items)
        result = items[0]
        for value in items[1:]:
            result = combine(result, value)
        return result

    return call


def _sum(values: Any, start: Any = 0) -> Any:
    result = start
    for value in values:
        known = not isinstance(result, tensor) and not isinstance(value, tensor)
        result = result + value if known else arithmetic.add(result, value)
    return result


def _int(value: Any = 0) -> Any:
    if isinstance(value, tensor):
        raise SemanticError("int() works on constants; use .to(tl.int32) for run-time values")
    return int(value)


def _float(value: Any = 0.0) -> Any:
    if isinstance(value, tensor):
        raise SemanticError("float() works on constants; use .to(tl.float32) for run-time values")
    return float(value)


def _bool(value: Any = False) -> Any:
    if isinstance(value, tensor):
        return arithmetic.logical_not(arithmetic.logical_not(value))
    return bool(value)


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    try:
        return getattr(owner, name, *default)
    except AttributeError:
        from .expressions import no_attribute

        raise SemanticError(no_attribute(owner, name)) from None


def _all(values: Any) -> Any:
    """all(): of scalars that are known at run time, too."""
    return _combined(values, arithmetic.logical_and, False)


def _any(values: Any) -> Any:
    return _combined(values, arithmetic.logical_or, True)


def _combined(values: Any, combine: Any, decisive: bool) -> Any:
    result: Any = not decisive
    for value in values:
        if isinstance(value, tensor) or isinstance(result, tensor):
            result = combine(result, value)
        elif bool(value) is decisive:
            return decisive
    return result


def _print(*values: Any, **keywords: Any) -> None:
    if keywords:
        raise SemanticError(
            f"print in a kernel takes values alone, and no `{next(iter(keywords))}`: each program "
            "prints lines of its own"
        )
    prefix, *rest = values if values and isinstance(values[0], str) else ("", *values)
    program.device_print(prefix, *rest)


_PYTHON_BUILTINS: dict[Any, Any] = {
    builtins.range: program.range,
    builtins.abs: lambda x: tl_math.abs(x) if isinstance(x, tensor) else abs(x),
    builtins.min: _fold(builtins.min, arithmetic.minimum),
    builtins.max: _fold(builtins.max, arithmetic.maximum),
    builtins.sum: _sum,
    builtins.len: len,
    builtins.isinstance: _isinstance,
    builtins.print: _print,
    builtins.int: _int,
    builtins.float: _float,
    builtins.bool: _bool,
    builtins.tuple: lambda items=(): tuple(items),
    builtins.list: lambda items=(): list(items),
    builtins.zip: lambda *items: list(zip(*items, strict=False)),
    builtins.enumerate: lambda items, start=0: list(enumerate(items, start)),
    builtins.reversed: lambda items: list(reversed(items)),
    builtins.getattr: _getattr,
    builtins.hasattr: hasattr,
    builtins.type: lambda x: x.type if isinstance(x, tensor) else type(x),
    builtins.str: str,
    builtins.repr: repr,
    builtins.slice: builtins.slice,
    builtins.all: _all,
    builtins.any: _any,
    constexpr: lambda x: unwrap(x),
    constexpr_type: constexpr_type,
}


def _constants_only(function: Any) -> str:
    """The message about a function of Python's that got a run-time value."""
    name, owner = function.__name__, function.__self__
    message = f"`{name}` works on constants only"
    if isinstance(owner, list):
        return f"{message}; a tuple holds run-time values: items = items + (value,)"
    if owner is math and getattr(tl_math, name, None) is not None:
        return f"{message}; use tl.{name} for run-time values"
    return f"{message}{hints.for_builtin(name)}" if owner is builtins else message


def may_call(function: Any) -> bool:
    """Whether kernels may call a function of Python that is not replaced by one of theirs."""
    if is_builtin(function) or isinstance(function, type):
        return True
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.BuiltinFunctionType):
        # Methods of constants, and functions that only compute.
        return (
            not isinstance(owner, types.ModuleType) or owner is math or function in _PURE_BUILTINS
        )
    if isinstance(function, types.MethodType):
        return (
            is_builtin(function.__func__)
            or isinstance(owner, (tensor, dtype, tuple, list, str, type))
            or hasattr(owner, "__tile_structure__")
        )
    module = getattr(function, "__module__", None) or ""
    return module == math.__name__


def refuse_call(function: Any) -> NoReturn:
    """Says why kernels do not call this, and what to call."""
    name = getattr(function, "__name__", describe(function))
    if type(function).__name__ == "GridLaunch":
        raise SemanticError("a kernel cannot launch another; call it directly: kernel(...)")
    if not callable(function):
        raise SemanticError(f"{one(function)} cannot be called")
    if hasattr(function, "__code__"):
        refuse_plain(name)
    # Of a library, and nobody compiles it: NumPy's `ufunc`s and the like.
    library = (getattr(function, "__module__", None) or type(function).__module__).split(".")[0]
    of = "" if library in ("builtins", "_io") else f" of {library}"
    language = sys.modules["tile.language"]
    if getattr(language, name, None) is not None:
        raise SemanticError(f"`{name}`{of} is not for kernels; use tl.{name}")
    hint = hints.for_function(name, ()) or hints.for_builtin(name)
    raise SemanticError(f"`{name}`{of} is not for kernels{hint}")


def check_constants(function: Any, arguments: Iterable[Any]) -> None:
    """Refuses run-time values for a function that Python runs while a kernel is compiled."""
    if isinstance(function, types.BuiltinFunctionType) and any(map(_has_tensor, arguments)):
        raise SemanticError(_constants_only(function))


class Functions:
    """The call half of the code generator."""

    def call_function(self, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Calls anything that a kernel may call."""
        if isinstance(function, BoundFunction):
            return self.call_function(function.function, [function.owner, *arguments], keywords)
        if is_callable_function(function):
            return self.call_jit(function, arguments, keywords)
        if function is builtins.breakpoint:
            raise SemanticError(
                "breakpoint() stops interpreted kernels only: run this one with TILE_INTERPRET=1, "
                "or as kernel.interpret(..., grid=...)"
            )
        if isinstance(function, LocalFunction):
            return self.call_local(function, arguments, keywords)
        construct = getattr(function, "__tile_construct__", None)
        if construct is not None:
            if isinstance(function, type):
                return construct(self, arguments, keywords)
            member = inspect.getattr_static(type(function), "__call__", None)
            if not is_callable_function(member):
                raise SemanticError(f"{one(function)} cannot be called: it has no `__call__`")
            return self.call_jit(member, [function, *arguments], keywords)
        if getattr(function, "__tile_constexpr_function__", False):
            return self.call_constant(function.fn, arguments, keywords)
        if is_foreign_builtin(function):
            return call_foreign_builtin(function, arguments, keywords)
        try:
            replacement = _PYTHON_BUILTINS.get(function)
        except TypeError:  # Not hashable.
            replacement = None
        if replacement is not None:
            function = replacement
        elif not may_call(function):
            refuse_call(function)
        else:
            check_constants(function, arguments)
            if function is map or function is filter:
                arguments = [self.as_python(value) for value in arguments]
            if isinstance(function, types.BuiltinFunctionType):
                keywords = {name: self.as_python(value) for name, value in keywords.items()}
        return self.call_python(function, arguments, keywords)

    def as_python(self, value: Any) -> Any:
        """A function of the kernel as one that Python calls, such as the key of `sorted`."""
        if isinstance(value, LocalFunction) or is_callable_function(value):
            return lambda *arguments: self.call_function(value, list(arguments), {})
        return value

    def call_python(self, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        try:
            return unwrap(function(*arguments, **keywords))
        except (TypeError, ValueError, ZeroDivisionError, OverflowError) as error:
            # A wrong call is the user's. A TypeError from deeper down in the language is not.
            depth = len(list(traceback.walk_tb(error.__traceback__)))
            if depth <= 2 or not is_builtin(function):
                raise SemanticError(wrong_call(error, function)) from None
            raise

    def call_constant(self, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Calls a @constexpr_function, which must not see run-time values."""
        for value in (*arguments, *keywords.values()):
            if isinstance(value, tensor):
                raise SemanticError(
                    f"`{function.__name__}` is a constexpr_function: its arguments must be "
                    f"constants, not {value.type}"
                )
        try:
            return unwrap(
                function(*map(unwrap, arguments), **{k: unwrap(v) for k, v in keywords.items()})
            )
        except SemanticError:
            raise
        except Exception as error:
            raise SemanticError(
                f"`{function.__name__}` raised {type(error).__name__}: {error}"
            ) from None

    def bind(self, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a jit function, each with its value."""
        try:
            bound = function.python_signature.bind(*arguments, **keywords)
        except TypeError as error:
            said = wrong_call(error, function)
            raise SemanticError(f"`{function.__name__}`: {said}") from None
        bound.apply_defaults()
        scope: dict[str, Any] = {}
        for name, parameter in function.python_signature.parameters.items():
            value = unwrap(bound.arguments[name])
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                value = tuple(value)
            scope[name] = value
        return scope

    def call_jit(self, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        scope = self.bind(function, arguments, keywords)
        signature = tuple(structure(v) for v in scope.values())
        for frame in self.frames:
            if frame.function is function and frame.signature == signature:
                raise SemanticError(
                    f"`{function.__name__}` calls itself; recursion is not supported in kernels"
                )
        if len(self.frames) > _MAX_DEPTH:
            raise SemanticError(
                f"calls nest more than {_MAX_DEPTH} deep; recursion is not supported in kernels"
            )
        parsed = function.parse()
        # A call of the kernel takes many of Python's.
        allow_depth(parsed.depth + 10 * len(self.frames))
        self.dependencies.add(function)
        frame = Frame(parsed.source, scope, function, signature)
        if any(has_run_time_value(scope[name]) for name in function.constexpr_names):
            frame.declared = self.declared_parameters(function, scope, len(arguments))
        if self.is_outlined(function):
            return self.call_outlined(function, frame)
        return self.inline(frame, parsed.body, scope)

    def declared_parameters(
        self, function: Any, scope: dict[str, Any], count: int
    ) -> dict[str, DeclaredConstant]:
        """The constants among the parameters that get run-time values, of `count` arguments."""
        found: dict[str, DeclaredConstant] = {}
        for index, name in enumerate(scope):
            if name in function.constexpr_names and has_run_time_value(scope[name]):
                node = argument_of(self.frame.call, index, name, count)
                before = None if node is None else named_in(node, self.frame.declared)
                found[name] = before or DeclaredConstant(
                    name, in_words(scope[name]), function.__name__, tuple(self.places(node))
                )
        return found

    def is_outlined(self, function: Any) -> bool:
        return function.noinline

    def outlined_key(self, function: Any, frame: Frame) -> tuple:
        """What a function is generated once for."""
        return (function, tuple(frame.scope), frame.signature)

    def outlined_attributes(self, function: Any) -> dict[str, Any]:
        """What is on such a function, beside its name and type."""
        return {"noinline": self.builder.bool_attr(True)}

    def outlined_name(self, function: Any, frame: Frame) -> str:
        """The symbol of a function that is called; it is unique."""
        return symbol_name(f"{function.__name__}__{len(self.outlined)}")

    def inline(self, frame: Frame, body: list[ast.stmt], parameters: Iterable[str]) -> Any:
        """Generates a function's body in place of the call."""
        self.builder.push_call()
        self.frames.append(frame)
        try:
            self.mark_entry(body, parameters)
            outcome = self.run(body)
        finally:
            self.frames.pop()
            self.builder.pop_call()
        return outcome.value if outcome is not None else None

    def call_local(
        self, function: LocalFunction, arguments: list[Any], keywords: dict[str, Any]
    ) -> Any:
        scope = dict(function.frame.scope)
        for variables in function.comprehended:
            scope.update(variables)
        values = self.bind_local(function, arguments, keywords)
        scope.update(values)
        signature = tuple(structure(v) for v in values.values())
        if any(f.function is function and f.signature == signature for f in self.frames):
            raise SemanticError(
                f"`{function.name}` calls itself; recursion is not supported in kernels"
            )
        frame = Frame(function.frame.source, scope, function, signature)
        frame.declared = {n: d for n, d in function.frame.declared.items() if n not in values}
        return self.inline(frame, function.body, values)

    def bind_local(
        self, function: LocalFunction, arguments: list[Any], keywords: dict[str, Any]
    ) -> dict[str, Any]:
        """The parameters of a function inside a kernel, each with its value."""
        spec = function.arguments
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        if len(arguments) > len(names) and spec.vararg is None:
            raise SemanticError(
                f"`{function.name}` takes {len(names)} arguments, but got {len(arguments)}"
            )
        values = dict(zip(names, arguments, strict=False))
        known = {*names, *(a.arg for a in spec.kwonlyargs)}
        rest = {name: value for name, value in keywords.items() if name not in known}
        if rest and spec.kwarg is None:
            raise SemanticError(f"`{function.name}` has no argument `{next(iter(rest))}`")
        for name in known & keywords.keys():
            if name in values:
                raise SemanticError(f"`{function.name}` got the argument `{name}` twice")
            values[name] = keywords[name]
        values = {**function.defaults, **values}
        missing = [n for n in (*names, *(a.arg for a in spec.kwonlyargs)) if n not in values]
        if missing:
            raise SemanticError(f"`{function.name}` needs the argument `{missing[0]}`")
        if spec.vararg is not None:
            values[spec.vararg.arg] = tuple(arguments[len(names) :])
        if spec.kwarg is not None:
            values[spec.kwarg.arg] = rest
        return values

    def call_outlined(self, function: Any, frame: Frame) -> Any:
        """Calls a noinline function, generating it once per signature."""
        b = self.builder
        values = frame.scope
        handles: list[Any] = []
        flatten(tuple(values.values()), handles)
        key = self.outlined_key(function, frame)
        known = self.outlined.get(key)
        if known is None:
            known = self.outlined[key] = self.outline(function, frame)
        symbol, result = known
        types_: list[dtype] = []
        flat_types(result, types_)
        results = b.create(
            "tt.call", handles, {"callee": b.symbol_attr(symbol)}, [b.type(t) for t in types_]
        )
        return unflatten(result, iter(results))

    def outline(self, function: Any, frame: Frame) -> tuple[str, Any]:
        b = self.builder
        argument_types: list[dtype] = []
        for shape in frame.signature:
            flat_types(shape, argument_types)
        saved, saved_loc = b.insertion_point, b.loc
        region = b.region([b.type(t) for t in argument_types])
        block = region.blocks[0]
        b.insert_at_end(block)
        arguments = iter(block.arguments)
        frame.scope = {
            n: unflatten(s, arguments) for n, s in zip(frame.scope, frame.signature, strict=False)
        }
        self.frames.append(frame)
        try:
            body = function.parse().body
            self.mark_entry(body, frame.scope)
            outcome = self.run(body)
            value = outcome.value if outcome is not None else None
            results: list[Any] = []
            flatten(value, results)
            shape = structure(value)
            b.create("tt.return", results, None, ())
        finally:
            self.frames.pop()
        result_types: list[dtype] = []
        flat_types(shape, result_types)
        symbol = self.outlined_name(function, frame)
        b.insert_at_end(self.module.body)
        b.create("tt.func", (), {
            "sym_name": b.str_attr(symbol),
            "sym_visibility": b.str_attr("private"),
            "function_type": b.type_attr(
                b.function_type(
                    [b.type(t) for t in argument_types], [b.type(t) for t in result_types]
                )
            ),
            **self.outlined_attributes(function),
        }, (), (region,))  # fmt: skip
        b.insertion_point = saved
        b.loc = saved_loc
        return symbol, shape
