"""The functions being generated: their names, scopes and sources."""

from __future__ import annotations

import builtins
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..errors import SemanticError
from ..hints import closest
from ..language import values
from ..language.dtypes import dtype
from ..runtime.jit import constexpr_function
from .declared_constants import DeclaredConstant
from .errors import SourceRange, node_place


def symbol_name(name: str) -> str:
    """A name as assembly takes it: Python's may have letters of any language."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)


@dataclass
class Source:
    """A parsed function: where it is, and what it sees besides its locals."""

    name: str
    file: str
    globals: dict[str, Any]
    nonlocals: Mapping[str, Any] = field(default_factory=dict)
    #: True for functions of tile's own library, which errors do not show.
    internal: bool = False
    #: Where its `def` is in the file.
    begin: tuple[int, int] = (0, 0)


class Loop:
    """A loop while its body is generated, and the variables that tell how a
    jump at run time leaves it."""

    def __init__(self, node: Any, unrolled: bool, branches: int) -> None:
        self.node = node
        self.unrolled = unrolled
        #: The open branches around the loop: with no more, a jump is static.
        self.branches = branches
        place = f"{node.lineno}:{node.col_offset}"
        #: Whether the loop goes on.
        self.going = f"<going {place}>"
        #: Whether the function returned, and what.
        self.returned = f"<returned {place}>"
        self.result = f"<result {place}>"
        #: Whether an iteration has a `return` that is generated.
        self.returns = False


class Block(Loop):
    """An `if` while it is generated without what follows it: jumps set variables,
    as in a loop of one iteration, and are taken behind it."""

    def __init__(self, node: Any, branches: int) -> None:
        super().__init__(node, True, branches)
        place = f"{node.lineno}:{node.col_offset}"
        self.broke = f"<broke {place}>"
        self.continued = f"<continued {place}>"


@dataclass
class Frame:
    """One activation of a function while it is generated."""

    source: Source
    scope: dict[str, Any]
    function: Any = None
    #: The structures of the arguments, to recognise recursion.
    signature: Any = None
    #: The innermost loop that is being generated.
    loop: Loop | None = None
    #: How many run-time branches are open.
    branches: int = 0
    #: How many copies of the code behind the open branches are generated.
    copies: int = 1
    #: The node that last assigned each name.
    origins: dict[str, Any] = field(default_factory=dict)
    #: The variables of the comprehensions that are being generated.
    comprehended: list[dict[str, Any]] = field(default_factory=list)
    #: The call that is being generated, in frames other than the last.
    call: Any = None
    #: The names that are declared tl.constexpr, but have a run-time value.
    declared: dict[str, DeclaredConstant] = field(default_factory=dict)

    def place(self, node: Any) -> SourceRange | None:
        if node is None:
            return None
        place = node_place(node, self.source.file, self.source.name)
        return place and replace(place, begin=self.source.begin)


class Undefined:
    """A name that has a value on some paths only."""

    def __init__(self, why: str) -> None:
        self.why = why


class Deferred(Undefined):
    """A value that is generated where it is read, if it is."""

    def __init__(self, why: str, make: Callable[[], Any]) -> None:
        super().__init__(why)
        self.make = make


_MISSING = object()


def _is_constexpr_annotation(annotation: Any) -> bool:
    if annotation is values.constexpr:
        return True
    return isinstance(annotation, str) and annotation.split(".")[-1] == "constexpr"


def plain(value: Any) -> Any:
    """The value of a constant. A Python function that was made one runs while
    kernels are compiled, like a @constexpr_function."""
    if not isinstance(value, values.constexpr):
        return value
    value = value.value
    return constexpr_function(value) if isinstance(value, types.FunctionType) else value


def check_global(name: str, value: Any, scope: dict[str, Any], allow_any: bool) -> Any:
    """A global as kernels may see it; refuses those that could change."""
    if isinstance(value, values.constexpr):
        return plain(value)
    if isinstance(
        value, (types.ModuleType, type, dtype, types.FunctionType, types.BuiltinFunctionType)
    ):
        return value
    if values.is_builtin(value) or getattr(value, "__tile_callable__", False) or value is None:
        return value
    if getattr(value, "__tile_global__", False):
        return value
    if _is_constexpr_annotation(scope.get("__annotations__", {}).get(name)):
        return value
    if callable(value) and getattr(value, "__module__", "").split(".")[0] in ("tile", "enum"):
        return value
    import enum

    if isinstance(value, enum.Enum):
        return value
    if allow_any:
        return value
    raise SemanticError(
        f"Cannot access global variable `{name}`: it is not a constant, and a kernel is compiled "
        "once and would not see it change; "
        f"declare it `{name} = tl.constexpr(...)` or pass it as an argument"
    )


def lookup(frame: Frame, name: str, allow_any: bool) -> tuple[str, Any]:
    """Finds a name; returns where ("local", "global", ...) and its value."""
    value = frame.scope.get(name, _MISSING)
    if value is not _MISSING:
        if isinstance(value, Deferred):
            return "local", value.make()
        if isinstance(value, Undefined):
            raise SemanticError(f"`{name}` may be undefined here: {value.why}")
        return "local", value
    source = frame.source
    if name in source.nonlocals:
        return "closure", check_global(name, source.nonlocals[name], {}, allow_any)
    if name in source.globals:
        return "global", check_global(name, source.globals[name], source.globals, allow_any)
    value = getattr(builtins, name, _MISSING)
    if value is not _MISSING:
        return "builtin", value
    known = [*frame.scope, *source.nonlocals, *source.globals, *vars(builtins)]
    raise SemanticError(f"`{name}` is not defined{closest(name, known)}")
