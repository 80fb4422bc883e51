"""Turns arrays and numbers into a launch of the simulator."""

from __future__ import annotations

import functools
import operator
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tile._C import launch as _launch
from tile._C import sim as _sim
from tile.compiler.assumptions import stated_pairs
from tile.errors import TileError
from tile.hints import closest
from tile.tracebacks import entry_point

from .group import run_or_add
from .prepared import PreparedLaunch, merge
from .report import Report
from .suppressions import Suppression, of_setting

_CHECKS = {
    "none": _sim.CHECK_NONE,
    "races": _sim.CHECK_RACES,
    "uninitialized": _sim.CHECK_UNINITIALIZED,
    "async": _sim.CHECK_ASYNC,
    "barriers": _sim.CHECK_BARRIERS,
    "global": _sim.CHECK_GLOBAL,
    "undefined": _sim.CHECK_UNDEFINED,
    "all": _sim.CHECK_ALL,
}

_INTEGER_FORMATS = {8: "B", 16: "H", 32: "I", 64: "Q"}


#: What no public text says of tensor memory, and the simulator can do in two ways.
ASSUMPTIONS: dict[str, int] = dict(_sim.ASSUMPTIONS)


#: Makes the debugger's session of a launch, or None. It gets by keywords: `name`, `text`,
#: `threads` of a block, `cluster` (blocks), `grid` (clusters) and `arguments` by name.
#: `tile.debugger` sets it.
DEBUGGING: Callable[..., Any] | None = None


def session_of(**launch: Any) -> Any:
    """The debugger's session of a launch that begins; None if it is not debugged."""
    return DEBUGGING(**launch) if DEBUGGING is not None else None


class SimulationError(TileError, RuntimeError):
    """The kernel did something wrong; `report` says what, and `said` what the kernel did. Programs
    expect a RuntimeError: on a GPU, torch raises one."""

    #: None behind a process.
    report: Report

    def __init__(self, report: Report, said: str = "") -> None:
        self.report = report
        super().__init__("\n" + "\n\n".join([*report.errors, *filter(None, [said])]))

    def __reduce__(self) -> tuple:
        # A report holds native state; the text travels.
        return (_from_text, (str(self),))


def _from_text(text: str) -> SimulationError:
    """An error of another process."""
    error = SimulationError.__new__(SimulationError, text)
    error.report = None  # type: ignore[assignment]
    return error


@functools.lru_cache(maxsize=256)
def load(ptx: str) -> Any:
    """Parse and decode PTX, or AMDGCN assembly. Modules are cached by their text.

    Raises TileError, naming the line, for text that is not valid, or holds an instruction that
    the simulator lacks.
    """
    try:
        return _sim.load(ptx, "<amdgcn>" if ".amdgcn_target" in ptx else "<ptx>")
    except ValueError as error:
        raise TileError(str(error)) from None
    except TypeError:
        # Half of a surrogate pair has no encoding.
        raise TileError("PTX is text") from None


def check_bits(check: str | Iterable[str]) -> int:
    """The checks of these names."""
    try:
        names = check.split(",") if isinstance(check, str) else list(check)
    except TypeError:
        raise TileError(f"check must be a name or several, not {check!r}") from None
    bits = 0
    for name in names:
        if not isinstance(name, str) or name.strip() not in _CHECKS:
            like = closest(name.strip(), _CHECKS) if isinstance(name, str) else ""
            raise TileError(f"unknown check '{name}'; expected {', '.join(_CHECKS)}{like}")
        bits |= _CHECKS[name.strip()]
    return bits


def _triple(value: int | Sequence[int], what: str) -> tuple[int, int, int]:
    try:
        # NumPy's integers are welcome; 1.5 is not.
        one = isinstance(value, (int, np.integer))
        values = (int(value),) if one else tuple(operator.index(v) for v in value)
    except TypeError:
        raise TileError(
            f"{what} must be an integer or up to three of them, not {value!r}"
        ) from None
    if not 1 <= len(values) <= 3:
        raise TileError(f"{what} must have one to three dimensions, not {len(values)}")
    if any(v < 1 or v > 0xFFFFFFFF for v in values):
        raise TileError(f"{what} {values} must be positive")
    return (*values, *(1,) * (3 - len(values)))  # type: ignore[return-value]


def _number(value: Any, what: str, least: int, most: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TileError(f"{what} must be an integer, not {value!r}") from None
    if not least <= number <= most:
        raise TileError(f"{what} must be from {least} to {most}, not {number}")
    return number


def _array(value: Any, what: str) -> np.ndarray:
    """An array of plain numbers; objects are pointers into Python."""
    try:
        array = value if isinstance(value, np.ndarray) else np.asarray(value)
    except (TypeError, ValueError) as error:
        raise TileError(f"{what} is not an array: {error}") from None
    if array.dtype.hasobject:
        raise TileError(f"{what} holds Python objects, which a kernel cannot read")
    return array


def _extent(array: np.ndarray) -> tuple[int, int]:
    """First byte and size of what an array covers, whatever its strides."""
    low = high = array.__array_interface__["data"][0]
    if array.size == 0:
        return low, 0
    for size, stride in zip(array.shape, array.strides, strict=True):
        if stride < 0:
            low += (size - 1) * stride
        else:
            high += (size - 1) * stride
    return low, high + array.itemsize - low


def array_shape(value: Any) -> tuple[int, str, int, list[int]] | None:
    """Address, element type, its bytes, and shape of an array or a CPU tensor without gaps, so that
    messages can name elements; None for everything else."""
    if hasattr(value, "is_contiguous"):  # A torch tensor.
        if not value.is_contiguous() or not value.ndim:
            return None
        kind = str(value.dtype).removeprefix("torch.")
        return value.data_ptr(), kind, value.element_size(), list(value.shape)
    interface = getattr(value, "__array_interface__", None)
    if interface is None or isinstance(value, np.generic):
        return None
    array = np.asarray(value)
    if not array.flags.c_contiguous or not array.ndim:
        return None
    return interface["data"][0], str(array.dtype), array.itemsize, list(array.shape)


def _pieces(array: np.ndarray, strict: bool) -> list[tuple[int, int]]:
    """What a kernel may touch of an array: all that lies between its first and last byte or, to be
    strict, its elements only, as runs without holes."""
    if not strict or array.size == 0:
        return [_extent(array)]
    # Dimensions that lie densely in one another form the run.
    axes = sorted(range(array.ndim), key=lambda axis: abs(array.strides[axis]))
    run = array.itemsize
    while axes and (array.shape[axes[0]] == 1 or abs(array.strides[axes[0]]) == run):
        run *= array.shape[axes.pop(0)]
    count = int(np.prod([array.shape[axis] for axis in axes], dtype=np.int64))
    if count > 1 << 16:
        raise TileError(f"strict_views: the view is in {count} pieces, more than {1 << 16}")
    starts = np.zeros(1, np.int64)
    for axis in axes:
        steps = np.arange(array.shape[axis], dtype=np.int64) * abs(array.strides[axis])
        starts = (starts[:, None] + steps).ravel()
    low = _extent(array)[0]
    return [(low + int(start), run) for start in starts]


def forbidden_ranges(
    pairs: Iterable[tuple[int, int]],
    params: Sequence[tuple[str, int]],
    spans: Sequence[tuple[int, int] | None],
) -> list[tuple[int, int, int, str, str]]:
    """For parameters (name, offset) with these memories (None if unknown): what accesses through
    each of a pair that was taken to be disjoint must not reach."""
    found = []
    for pair in pairs:
        for through, other in (pair, pair[::-1]):
            span = spans[other] if other < len(spans) and through < len(params) else None
            if span is not None and span[0] < span[1]:
                name, offset = params[through]
                found.append((offset, *span, name, params[other][0]))
    return found


def _pack_number(value: Any, name: str, kind: str, size: int) -> bytes:
    bits = size * 8
    if isinstance(value, (float, np.floating)) or (
        kind.startswith(("f", "bf")) and isinstance(value, (int, np.integer))
    ):
        if kind.startswith(("u", "s")):
            raise TileError(f"parameter '{name}' (.{kind}) does not take a float")
        try:
            float(value)
        except OverflowError:
            raise TileError(f"{value} does not fit into parameter '{name}' (.{kind})") from None
        if size == 8:
            return struct.pack("<d", float(value))
        if size == 4:
            return np.float32(value).tobytes()
        if size == 2:
            word = _launch.round_to_16_bits(float(value), kind == "bf16")
            return struct.pack("<H", word)
        raise TileError(f"parameter '{name}' (.{kind}) does not take a float")
    if isinstance(value, (np.complexfloating, np.datetime64, np.timedelta64)) or (
        isinstance(value, np.generic) and not isinstance(value, (np.integer, np.bool_))
    ):
        raise TileError(f"parameter '{name}' (.{kind}) does not take a {type(value).__name__}")
    value = int(value)
    if not -(1 << (bits - 1)) <= value < (1 << bits):
        raise TileError(f"{value} does not fit into parameter '{name}' (.{kind})")
    return struct.pack("<" + _INTEGER_FORMATS[bits], value & ((1 << bits) - 1))


def _pack(
    value: Any, param: tuple, allocations: list[tuple[int, int, str, bool]], strict: bool = False
) -> bytes:
    name, kind, _, size, is_array = param
    if value is None:
        if size != 8:
            raise TileError(f"parameter '{name}' (.{kind}) is not a pointer")
        return bytes(8)
    if isinstance(value, (bytes, bytearray, memoryview)) or (
        is_array and isinstance(value, np.ndarray)
    ):
        data = value.tobytes() if isinstance(value, np.ndarray) else bytes(value)
        if len(data) != size:
            raise TileError(f"parameter '{name}' has {size} bytes, {len(data)} were given")
        return data
    if isinstance(value, np.ndarray):
        value = _array(value, f"parameter '{name}'")
    if isinstance(value, np.ndarray) and value.ndim == 0 and size != 8:
        value = value.item()
    if isinstance(value, np.ndarray):
        if size != 8:
            raise TileError(f"parameter '{name}' (.{kind}) is not a pointer")
        for low, extent in _pieces(value, strict):
            allocations.append((low, extent, name, bool(value.flags.writeable)))
        return struct.pack("<Q", value.__array_interface__["data"][0])
    if hasattr(value, "__array_interface__") and not isinstance(value, np.generic):
        return _pack(_array(value, f"parameter '{name}'"), param, allocations, strict)
    if isinstance(value, (bool, int, float, np.generic)):
        if is_array or size not in (1, 2, 4, 8):
            raise TileError(f"parameter '{name}' has {size} bytes; give it as bytes")
        return _pack_number(value, name, kind, size)
    raise TileError(f"parameter '{name}' does not take a {type(value).__name__}")


@entry_point
def launch(
    ptx: str,
    entry: str,
    grid: int | Sequence[int],
    block: int | Sequence[int],
    args: Sequence[Any],
    *,
    cluster: int | Sequence[int] = (1, 1, 1),
    dynamic_shared: int = 0,
    check: str | Iterable[str] = "all",
    max_instructions: int | None = None,
    allocations: Sequence[np.ndarray] | Mapping[str, np.ndarray] = (),
    threads: int = 0,
    deterministic: bool = True,
    timelines: int = 0,
    suppressions: Sequence[Suppression] = (),
    schedule_seed: int | None = None,
    schedules: int | None = None,
    strict_views: bool = False,
    assumptions: Sequence[str] = (),
    raise_on_finding: bool = True,
) -> Report:
    """Run a kernel of a PTX module, or of AMDGCN assembly, on NumPy arrays, in place.

    Arrays are passed by address, and only the bytes they cover may be touched. Integers and floats
    take the parameter's declared type. None is a null pointer. Bytes fill a parameter that is a
    structure. `allocations` names further arrays that the kernel reaches through pointers in
    memory or tensor maps. With `strict_views`, what lies between the elements of an array that is
    not dense is out of bounds, too. `check` is "all", "none", or some of "races", "uninitialized",
    "async", "barriers", "global", "undefined"; bounds and alignment are always checked.
    `max_instructions` (warp instructions, 0 for no limit) ends an endless kernel; the default is
    TILE_SIM_MAX_INSTRUCTIONS, or 10^10.

    CTAs run on as many host threads as there are cores. Some could tell their order, by atomics or
    ordered accesses of global memory. With `deterministic` they wait for each other there. So the
    result is the same every time, on any number of threads.
    `report.timeline()` shows the warps of the first `timelines` clusters of CTAs.
    Findings that match `suppressions`, or the file TILE_SIM_SUPPRESSIONS, do not count; the report
    keeps them with their reason.

    A `schedule_seed` other than 0 runs warps in an order of its own and completes asynchronous work
    late. `schedules` runs the launch that many times, with that seed and those that follow. It is a
    finding if results differ. Defaults: TILE_SIM_SCHEDULE_SEED and TILE_SIM_SCHEDULES.

    In a `launch_group` the kernel runs behind the block, and the report is in the group's.

    `assumptions` names what the simulator is to do otherwise where no public text says what the
    hardware does: keys of `tile.sim.ASSUMPTIONS`.

    Raises SimulationError if the kernel did anything wrong, unless `raise_on_finding` is False, and
    TileError for a launch that cannot start.
    """
    if not isinstance(ptx, str):
        raise TileError(f"PTX is text, not a {type(ptx).__name__}")
    module = load(ptx)
    args, params = _arguments_of(module, entry, args)
    ranges: list[tuple[int, int, str, bool]] = []
    if not isinstance(allocations, (Mapping, Sequence)):
        raise TileError(f"allocations must be arrays, by name or in a list, not {allocations!r}")
    if not isinstance(allocations, Mapping):
        allocations = {f"allocation {i}": array for i, array in enumerate(allocations)}
        known = {}
    else:
        known = {id(array): name for name, array in allocations.items()}
    buffer = bytearray()
    for value, param in zip(args, params, strict=True):
        buffer += bytes(param[2] - len(buffer))
        first = len(ranges)
        buffer += _pack(value, param, ranges, strict_views)
        name = known.get(id(value)) or _shown(param[0], entry)
        ranges[first:] = [(low, size, name, writes) for low, size, _, writes in ranges[first:]]
    for name, value in allocations.items():
        array = _array(value, str(name))
        ranges.append((*_extent(array), name, bool(array.flags.writeable)))
    spans = [_extent(a) if isinstance(a, np.ndarray) else None for a in args]
    forbidden = forbidden_ranges(
        stated_pairs(ptx, entry),
        [(name, offset) for name, _, offset, *_ in params],
        [span and (span[0], span[0] + span[1]) for span in spans],
    )
    given = (*args, *allocations.values())
    arrays = [shape for value in given if (shape := array_shape(value))]
    blocks, threads_of_block = _triple(grid, "grid"), _triple(block, "block")
    session = session_of(
        name=entry,
        text=ptx,
        threads=int(np.prod(threads_of_block)),
        cluster=1,
        grid=blocks,
        arguments={
            **{_shown(param[0], entry): value for param, value in zip(params, args, strict=True)},
            **allocations,
        },
    )
    prepared = PreparedLaunch(
        module,
        entry,
        blocks,
        threads_of_block,
        bytes(buffer),
        merge(ranges),
        cluster=_triple(cluster, "cluster"),
        dynamic_shared=_number(dynamic_shared, "dynamic_shared", 0, 0xFFFFFFFF),
        checks=check_bits(check),
        max_instructions=max_instructions,
        threads=_number(threads, "threads", 0, 1024),
        deterministic=deterministic,
        arrays=arrays,
        schedule_seed=schedule_seed,
        schedules=schedules,
        timelines=timelines,
        forbidden=forbidden,
        assumptions=assumption_bits(assumptions),
        session=session,
        held=given,
    )
    return run_or_add(
        prepared, functools.partial(_finish, ptx, tuple(suppressions), raise_on_finding)
    )


def _finish(
    ptx: str, suppressions: Sequence[Suppression], raise_on_finding: bool, report: Report
) -> Report:
    report.ptx = ptx
    report.suppress([*suppressions, *of_setting()])
    if raise_on_finding and not report.ok:
        raise SimulationError(report)
    return report


def _arguments_of(module: Any, entry: str, args: Any) -> tuple[list[Any], list[tuple]]:
    """The arguments of a launch, and what the kernel takes: as many."""
    if entry not in module.entries:
        raise TileError(
            f"the module has no kernel '{entry}'; it has {', '.join(module.entries) or 'none'}"
            f"{closest(str(entry), module.entries)}"
        )
    params = module.params(entry)
    try:
        args = list(args)
    except TypeError:
        raise TileError(f"args must be a sequence, not {args!r}") from None
    if len(args) != len(params):
        takes = ", ".join(_described(param) for param in params)
        raise TileError(
            f"kernel '{_sim.demangle(entry)}' takes {len(params)} arguments, {len(args)} were given"
            + (f": it takes {takes}" if takes else "")
        )
    return args, params


def _described(param: tuple) -> str:
    name, kind, _, size, is_array = param
    return f"{name} ({size} bytes)" if is_array else f"{name} (.{kind})"


def _shown(name: str, entry: str) -> str:
    """A parameter as people know it: nvcc names those of C++ by their number."""
    number = name.removeprefix(f"{entry}_param_")
    return f"argument {number}" if number.isdigit() and entry.startswith("_Z") else name


def assumption_bits(names: Sequence[str]) -> int:
    bits = 0
    for name in (names,) if isinstance(names, str) else names:
        if name not in ASSUMPTIONS:
            raise TileError(f"unknown assumption {name!r}; known are {', '.join(ASSUMPTIONS)}")
        bits |= ASSUMPTIONS[name]
    return bits
