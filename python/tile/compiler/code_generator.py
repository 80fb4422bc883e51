"""From the AST of a jit function to TTIR."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from .. import _C, knobs
from ..errors import SemanticError, StaticAssertionError, TileError, UnsupportedError
from ..language import state
from ..language.values import tensor
from ..runtime.depth import allow_depth
from .builder import IRBuilder
from .control_flow import ControlFlow
from .debug_marks import DebugMarks
from .declared_constants import DeclaredConstant, named_in, wants_constant
from .errors import (
    CompilationError,
    CompileTimeAssertionFailure,
    SourceRange,
    UnsupportedLanguageConstruct,
    from_diagnostics,
    render_places,
)
from .expressions import Expressions
from .flatten import flat_types, flatten, unflatten
from .frames import Frame, lookup
from .functions import Functions
from .loops import Loops
from .pipelines import missed
from .statements import Statements
from .while_loops import WhileLoops

_KINDS = {
    StaticAssertionError: CompileTimeAssertionFailure,
    UnsupportedError: UnsupportedLanguageConstruct,
}


class CodeGenerator(Expressions, Statements, ControlFlow, Loops, WhileLoops, Functions, DebugMarks):
    """Generates one kernel, and the functions it calls."""

    def __init__(
        self, context: Any, options: Any, builder_class: type[IRBuilder] = IRBuilder
    ) -> None:
        self.module = _C.ir.Module(context)
        self.builder = builder_class(self.module, options)
        self.frames: list[Frame] = []
        self.outlined: dict[Any, tuple[str, Any]] = {}
        #: The jit functions that the kernel calls.
        self.dependencies: set[Any] = set()
        #: The node to show in the next error, where it is not the one visited.
        self.blame: ast.AST | None = None
        #: Kinds of remarks that were made.
        self.remarked: set[tuple[str, str]] = set()
        self._visitors: dict[type, Callable] = {}
        self._line_info = not knobs.compilation.disable_line_info
        #: The expression that is a statement, whose value nobody takes.
        self.ignored: ast.expr | None = None
        self._debugging = knobs.compilation.front_end_debugging
        self._allow_any_global = knobs.compilation.allow_non_constexpr_globals

    # Names and places.

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def scope(self) -> dict[str, Any]:
        return self.frames[-1].scope

    def lookup(self, name: str) -> Any:
        _, value = lookup(self.frames[-1], name, self._allow_any_global)
        return value

    def at(self, node: ast.AST) -> None:
        """Gives the operations that follow the place of `node`."""
        if self._line_info:
            frame = self.frames[-1]
            self.builder.set_loc(frame.source.file, node.lineno, node.col_offset + 1)

    def remark(self, kind: str, message: str) -> None:
        """Says once, to those who ask for remarks, what the kernel asks for in vain."""
        node = self.frame.call
        if (kind, message) not in self.remarked and node is not None:
            self.remarked.add((kind, message))
            missed(
                "front-end", kind, message,
                [(self.frame.source.file, node.lineno, node.col_offset + 1)],
            )  # fmt: skip

    def name_value(self, value: tensor, name: str) -> None:
        value.handle.name(name)

    # Visiting, and errors.

    def visit(self, node: ast.AST) -> Any:
        kind = type(node)
        visitor = self._visitors.get(kind)
        if visitor is None:
            visitor = self._visitors[kind] = getattr(
                self, "visit_" + kind.__name__, self.unsupported
            )
        try:
            return visitor(node)
        except CompilationError:
            raise
        except Exception as error:
            shown = self.error(node, error)
            raise shown from self.cause(node, error, shown)

    def guard(self, node: ast.AST, body: Callable[[], Any]) -> Any:
        """Runs `body`, with `node` as the place of its errors."""
        try:
            return body()
        except CompilationError:
            raise
        except Exception as error:
            shown = self.error(node, error)
            raise shown from self.cause(node, error, shown)

    def cause(
        self, node: ast.AST, error: Exception, shown: CompilationError
    ) -> BaseException | None:
        """Our own errors hide our stack; a bug of ours keeps its traceback."""
        hidden = isinstance(error, (TileError, _C.ir.MLIRError, RecursionError))
        if not hidden or self._debugging:
            return error
        if not knobs.compat.enable or isinstance(error, StaticAssertionError):
            return None
        # Programs written for Triton look at the error of a called function, and at what it says.
        if len(shown.places) > 1:
            return type(shown)(shown.error_message, shown.places[1:], shown.notes)
        return error.with_traceback(None) if isinstance(node, ast.Call) else None

    def places(self, node: ast.AST | None) -> list[SourceRange]:
        """The place of a node of the innermost function, behind those of the calls."""
        places: list[SourceRange] = []
        for frame in self.frames:
            place = frame.place(node if frame is self.frames[-1] else frame.call)
            if place is not None and not frame.source.internal:
                places.append(place)
        return places

    def declared_in(self, node: ast.AST) -> DeclaredConstant | None:
        """What is declared a constant, is none, and is read by a node or, where that is of our
        library, by the call that led there."""
        for frame in reversed(self.frames):
            read = node if frame is self.frames[-1] else frame.call
            found = None if read is None else named_in(read, frame.declared)
            if found is not None or not frame.source.internal:
                return found
        return None

    def error(self, node: ast.AST, error: Exception) -> CompilationError:
        node, self.blame = self.blame or node, None
        places: Sequence[SourceRange] = self.places(node)
        kind = CompilationError
        notes: list[str] = []
        if isinstance(error, SemanticError):
            message, notes = str(error), list(error.notes)
            kind = _KINDS.get(type(error), kind)
            declared = self.declared_in(node)
            if declared is not None and wants_constant(message):
                wanted = "\n".join([message, *render_places(places[-1:])])
                notes.insert(0, f"a constant is needed here: {wanted}")
                message, places = declared.message, declared.places
            elif declared is not None:
                notes.append("\n".join([declared.message, *render_places(declared.places[-1:])]))
        elif isinstance(error, _C.ir.MLIRError):
            wrapped = from_diagnostics(error)
            message, notes = wrapped.error_message, list(wrapped.notes)
        elif isinstance(error, TileError):
            message = str(error)
        elif isinstance(error, RecursionError):
            message = "the kernel's calls or expressions nest too deeply"
        else:
            message = f"internal error of tile ({type(error).__name__}: {error}); please report it"
        return kind(message, places, notes)

    # The kernel.

    def kernel(
        self, function: Any, name: str, arguments: dict[str, Any], hints: dict[str, dict[str, int]]
    ) -> Any:
        """Generates the kernel: `arguments` maps each parameter to the
        structure of its value (a type, a tuple's, or a constant's)."""
        b = self.builder
        parsed = function.parse()
        allow_depth(parsed.depth)
        shapes = list(arguments.values())
        types: list[Any] = []
        for shape in shapes:
            flat_types(shape, types)
        frame = Frame(parsed.source, {}, function, tuple(shapes))
        self.frames.append(frame)
        try:
            with state.generating(b, self):
                self.at(parsed.node)
                self.generate_kernel(name, parsed, frame, arguments, types, hints)
        finally:
            self.frames.pop()
        try:
            self.module.verify()
        except _C.ir.MLIRError as error:
            raise from_diagnostics(error) from None
        return self.module

    def generate_kernel(
        self,
        name: str,
        parsed: Any,
        frame: Frame,
        arguments: dict[str, Any],
        types: list[Any],
        hints: dict,
    ) -> None:
        b = self.builder
        loc = b.loc
        region = b.region([b.type(t) for t in types])
        block = region.blocks[0]
        b.insert_at_end(block)
        b.known.extend(block.arguments)
        handles = iter(block.arguments)
        attributes: list[Any] = []
        for parameter, shape in arguments.items():
            value = unflatten(shape, handles)
            frame.scope[parameter] = value
            named: list[Any] = []
            flatten(value, named)
            for handle in named:
                handle.name(parameter)
            count: list[Any] = []
            flat_types(shape, count)
            for path in range(len(count)):
                found = hints.get(
                    parameter if isinstance(value, tensor) else f"{parameter}.{path}", {}
                )
                if "tt.non_negative" in found:
                    b.not_negative.append(named[path])
                attributes.append(
                    b.dict_attr({k: b.int_attr(64 if v >> 31 else 32, v) for k, v in found.items()})
                )
        self.mark_entry(parsed.body, arguments)
        self.run(parsed.body)
        b.loc = loc
        b.create("tt.return", (), None, ())
        b.insert_at_end(self.module.body)
        function = {
            "sym_name": b.str_attr(name),
            "sym_visibility": b.str_attr("public"),
            "function_type": b.type_attr(b.function_type([b.type(t) for t in types], [])),
            "noinline": b.bool_attr(False),
        }
        if attributes:
            function["arg_attrs"] = b.array_attr(attributes)
        b.create("tt.func", (), function, (), (region,))


def _function_place(parsed: Any) -> SourceRange:
    return SourceRange(
        parsed.source.file, parsed.node.lineno, parsed.node.col_offset, 0, parsed.source.name
    )
