"""A launch that stands still: where, with which variables, and who waits for whom."""

from __future__ import annotations

import ast
import ctypes
import functools
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiler.assigned import assigned_names
from ..compiler.errors import is_python, lines_of, source_place
from ..errors import TileError
from .marks import Place, Scope
from .variables import Captures, Variable

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class Frame:
    """A function that is under way: the innermost comes first."""

    function: str
    file: str
    line: int
    column: int
    #: None where the kernel has no marks.
    scope: Scope | None
    #: The line of the assembly, of the innermost one.
    assembly: int


@dataclass(frozen=True)
class Waiting:
    """A warp, or some lanes of one: where it is, and what it waits for."""

    block: int
    warp: int
    lanes: int
    partition: str
    file: str
    line: int
    assembly: int
    instruction: str
    waits_for: str
    #: The block, the offset and the phase of the mbarrier.
    mbarrier: tuple[int, int, int] | None


class Stop:
    """What there is to see. It is valid until the launch goes on."""

    def __init__(
        self, session: Session, reason: int, hit: tuple[int, ...], changed: int | None
    ) -> None:
        self.session, self.reason, self.hit, self.changed = session, reason, hit, changed
        self.native, self.marks, self.kernel = session.native, session.marks, session.kernel
        self.event: int = self.native.now
        self.cta: tuple[int, int, int] = tuple(self.native.cta)
        self.block_number: int = self.native.cta_number
        #: The block in its cluster, and the warp that is looked at.
        self.rank: int = self.native.rank
        self.warp: int = self.native.warp
        self.notes: list[str] = []

    @property
    def program(self) -> tuple[int, int, int]:
        x, y, z = self.cta
        return (x // self.kernel.cluster, y, z)

    # Places.

    @cached_property
    def warps(self) -> list[tuple]:
        return self.native.warps()

    def _fragment(self) -> tuple | None:
        for rank, index, _, calls, fragments in self.warps:
            if (rank, index) == (self.rank, self.warp) and fragments:
                return (calls, fragments[0])
        return None

    @cached_property
    def frames(self) -> list[Frame]:
        """The functions that the warp is in."""
        found = self._fragment()
        if found is None:
            return []
        calls, (_, place, mark, *_) = found
        assembly, file, line, column, call_file, call_line, _ = place
        if under_way := self._under_way(calls, mark):
            return [f for call in under_way[::-1] for f in self._frames_of(call, assembly)]
        if self.marks.list:  # Nothing has begun yet.
            entry = next(
                (m.number for m in self.marks.list if m.facts.get("in") == self.kernel.name), 0
            )
            return self._frames_of(entry, assembly)
        if not file:
            return [Frame(self.kernel.name, "", assembly, 0, None, assembly)]
        name = _function_of(file, line) or self.kernel.name
        frames = [Frame(name, file, line, column, None, assembly)]
        if call_line:
            frames.append(Frame(self.kernel.name, call_file, call_line, 0, None, assembly))
        return frames

    def _under_way(self, calls: list[int], mark: int) -> list[int]:
        """The marks of the statements that are under way, the innermost last. One that is to begin
        counts."""
        known = self.marks.list
        if mark < 0 or known[mark].kind != "statement":
            return calls
        around = [known[call].scope[0] for call in calls]
        function = known[mark].scope[0]
        return [*(calls[: around.index(function)] if function in around else calls), mark]

    def _frames_of(self, mark: int, assembly: int) -> list[Frame]:
        function, _ = self.marks.list[mark].scope
        places: tuple[Place, ...] = self.marks.list[mark].places
        frames = []
        for i, (file, line, column) in enumerate(places):
            scope = (function, places[i + 1 :])
            name = self.marks.functions.get(scope) or _function_of(file, line)
            frames.append(Frame(name, file, line, column, scope, assembly))
        return frames

    @property
    def depth(self) -> int:
        found = self._fragment()
        calls = found[1][3] if found is not None and not self.marks.list else 0
        return len(self.frames) + calls

    # Variables.

    @cached_property
    def captures(self) -> Captures:
        warps = 1 + max((warp for _, warp, *_ in self.warps), default=0)
        return Captures(self.native, self.marks, self.kernel.cluster, warps)

    def names(self, frame: Frame) -> list[str]:
        return [] if frame.scope is None else self.captures.names(frame.scope)

    def variable(self, name: str, frame: Frame) -> Variable | None:
        """A variable by its name; a kernel without marks has its arguments alone."""
        if frame.scope is not None:
            return self.captures.find(frame.scope, name)
        if name in self.kernel.arguments:
            value = self.kernel.arguments[name]
            return Variable(name, type(value).__name__, value)
        return None

    def register(self, name: str) -> np.ndarray | None:
        """The bits of a register in each lane of the warp."""
        found = self.native.read_register(self.rank, self.warp, name)
        return np.array(found, np.uint64) if found else None

    def evaluate(self, expression: str, frame: Frame | None = None) -> Any:
        """The value of an expression of Python over the variables."""
        if frame is None and self.frames:
            frame = self.frames[0]
        return eval(compile(expression, "<expression>", "eval"), {}, _Names(self, frame))

    # Memory.

    def array(self, name: str) -> np.ndarray | None:
        """The memory of an argument."""
        return as_array(self.kernel.arguments.get(name))

    def shared(self, rank: int | None = None) -> bytes:
        return self.native.shared(self.rank if rank is None else rank)

    # Who waits for whom.

    def waits(self) -> list[Waiting]:
        found = []
        for rank, index, _, calls, fragments in self.warps:
            for lanes, place, mark, _, waits, what, mbarrier in fragments:
                assembly, file, line, *_, instruction = place
                under_way = self._under_way(calls, mark)
                if under_way and self.marks.list[under_way[-1]].places:
                    file, line, _ = self.marks.list[under_way[-1]].place
                found.append(
                    Waiting(
                        rank, index, lanes, self.marks.partition_of(index), file, line, assembly,
                        instruction, what if waits else "", mbarrier,
                    )
                )  # fmt: skip
        return found

    def report(self) -> Any:
        """What was found so far, as a report of the simulator."""
        from ..sim.report import Report

        report = Report(self.native.findings())
        report.ptx = self.kernel.text
        return report


class _Names(dict):
    """The names of an expression: variables of the frame, then of the functions around it,
    arguments, and what NumPy and Python have."""

    def __init__(self, stop: Stop, frame: Frame | None) -> None:
        import builtins

        super().__init__()
        self.stop, self.frame = stop, frame
        self.builtins = vars(builtins)

    def __missing__(self, name: str) -> Any:
        stop, frame = self.stop, self.frame
        if frame is not None:
            variable = stop.variable(name, frame)
            if variable is not None:
                if variable.is_pointer and variable.shape is None:
                    array = stop.array(name)
                    return variable.value if array is None else array
                return masked(variable)
            if frame.scope is not None and name in stop.marks.variables.get(frame.scope, {}):
                raise TileError(f"`{name}` has no value yet")
        if name == "np":
            return np
        if name == "program_id":
            return lambda axis: stop.program[axis]
        if name in stop.kernel.arguments:
            array = stop.array(name)
            return stop.kernel.arguments[name] if array is None else array
        if frame is not None and name in _assigned_in(frame.file, frame.line):
            if frame.scope is None:
                raise TileError(
                    f"`{name}`: the kernel was not compiled for the debugger, so its variables are "
                    "not known; registers are"
                )
            raise TileError(f"`{name}` is optimised away, or is no tensor, number or pointer")
        if name in self.builtins:
            return self.builtins[name]
        raise NameError(f"there is no variable `{name}` here")


def masked(variable: Variable) -> Any:
    """The value, without elements that are not there."""
    if variable.value is None:
        raise TileError(f"`{variable.name}` has no value in the threads that are up to date")
    if variable.missing is not None and variable.missing.any():
        return np.ma.masked_array(variable.value, variable.missing)
    return variable.value


def as_array(value: Any) -> np.ndarray | None:
    """An argument's memory as an array; None for what is none."""
    if type(value).__name__ == "TensorWrapper":
        return as_array(value.base)
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "data_ptr") and hasattr(value, "numpy"):
        try:
            return value.detach().numpy()
        except TypeError:  # Such as bfloat16.
            size = value.untyped_storage().nbytes()
            raw = (ctypes.c_uint8 * size).from_address(value.untyped_storage().data_ptr())
            return np.frombuffer(raw, np.uint8)
    if hasattr(value, "__array_interface__") and not isinstance(value, np.generic):
        return np.asarray(value)
    return None


@functools.lru_cache(maxsize=64)
def _assigned_in(file: str, line: int) -> frozenset[str]:
    """The parameters and variables of the function that a line is in."""
    if not is_python(file):
        return frozenset()
    try:
        tree = ast.parse("".join(lines_of(file)))
    except SyntaxError:
        return frozenset()
    found: frozenset[str] = frozenset()
    for node in ast.walk(tree):  # The innermost comes last.
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            parameters = [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
            found = frozenset([*parameters, *assigned_names(node.body)])
    return found


def _function_of(file: str, line: int) -> str:
    return source_place(file, line, 1).function if is_python(file) else ""
