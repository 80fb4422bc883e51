"""What a debugger shows, as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiler.errors import source_place
from .breakpoints import Watchpoint
from .session import FINDING, PAUSE, PLACE, POSITION, STEP, WATCH
from .stop import Frame, Stop, Waiting, masked
from .variables import Variable

_REASONS = {
    STEP: "", PLACE: "", POSITION: "", PAUSE: "paused", WATCH: "memory changed",
    FINDING: "something was found",
}  # fmt: skip
#: Of a tensor, where nobody asks for more.
_MOST_ELEMENTS = 64


def who(stop: Stop) -> str:
    if stop.marks.list or (stop.frames and stop.frames[0].file.endswith(".py")):
        text = f"program {stop.program}"
        if stop.kernel.cluster > 1:
            text += f", block {stop.rank} of its cluster"
    else:
        text = f"block {stop.cta}"
    partition = stop.marks.partition_of(stop.warp)
    text += f", warp {stop.warp}"
    return text + (f" ({partition})" if partition else "")


def where(frame: Frame) -> str:
    return f"{frame.file or 'assembly'}:{frame.line} in {frame.function}"


def source_line(frame: Frame, text: str) -> str:
    """The line of the source, or of the assembly."""
    if not frame.file:
        lines = text.splitlines()
        return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""
    return source_place(frame.file, frame.line, frame.column).text.strip()


def headline(stop: Stop) -> str:
    """Why it stopped and where."""
    said = []
    for number in stop.hit:
        said.append(stop.session.debugger.breakpoints[number].describe())
    if stop.reason == WATCH and stop.changed is not None:
        said.append(changed(stop))
    elif stop.reason == FINDING:
        said += [error for error in stop.report().errors[-1:]]
    elif _REASONS[stop.reason]:
        said.append(_REASONS[stop.reason])
    elif stop.event == 1:
        said.append("the launch begins")
    said += stop.notes
    if not stop.frames:
        said.append(f"{who(stop)} has ended")
        return "\n".join(said)
    frame = stop.frames[0]
    said.append(f"{who(stop)}, event {stop.event}, {where(frame)}")
    line = source_line(frame, stop.kernel.text)
    return "\n".join([*said, f"{frame.line:5}  {line}"])


def changed(stop: Stop) -> str:
    watches = [w for w in stop.session.debugger.watches.values() if w.enabled]
    watch = watches[stop.changed or 0]
    before = np.frombuffer(stop.native.before, watch.dtype)
    after = np.frombuffer(read_watch(stop, watch), watch.dtype)
    differs = [
        i for i in range(before.size) if before[i : i + 1].tobytes() != after[i : i + 1].tobytes()
    ]
    shown = ", ".join(f"[{i}] {before[i]} -> {after[i]}" for i in differs[:4])
    more = f" and {len(differs) - 4} more" if len(differs) > 4 else ""
    return f"watch {watch.number}, {watch.expression}: {shown}{more}"


def read_watch(stop: Stop, watch: Watchpoint) -> bytes:
    import ctypes

    if watch.block < 0:
        return ctypes.string_at(watch.address, watch.size)
    rank = watch.block - (stop.block_number - stop.rank)
    return stop.shared(rank)[watch.address : watch.address + watch.size]


def frames(stop: Stop) -> str:
    return "\n".join(f"#{i}  {where(frame)}" for i, frame in enumerate(stop.frames))


def variable(stop: Stop, it: Variable, most: int = _MOST_ELEMENTS) -> str:
    """A variable with its value."""
    if it.shape is None:
        if it.value is None:
            return f"{it.name} = (the threads that are up to date do not have it)"
        if it.is_pointer:
            return f"{it.name} = {pointer(stop, int(it.value))}"
        note = "  (threads hold different values)" if it.differs is not None else ""
        return f"{it.name} = {it.value!s}{note}"
    shape = ", ".join(map(str, it.shape))
    text = f"{it.name}: {it.type}[{shape}] = {array(stop, it, most)}"
    notes = []
    if it.missing is not None and it.missing.any():
        notes.append(f"{int(it.missing.sum())} of its elements are not assigned yet (--)")
    if it.differs is not None and it.differs.any():
        notes.append(f"threads hold different values of {int(it.differs.sum())} of its elements")
    if it.mask is not None:
        notes.append(f"the mask of its load switched {int((~it.mask).sum())} of them off")
    return "\n".join([text, *(f"    {note}" for note in notes)])


def array(stop: Stop, it: Variable, most: int) -> str:
    value: Any = masked(it)
    if it.is_pointer:
        value = np.vectorize(lambda address: pointer(stop, int(address)), otypes=[object])(value)
    return np.array2string(
        value, threshold=most, edgeitems=4, separator=", ",
        formatter={"object": str} if it.is_pointer else None,
    )  # fmt: skip


def pointer(stop: Stop, address: int) -> str:
    """An address: the element of the argument that it is in."""
    for name in stop.kernel.arguments:
        memory = stop.array(name)
        if memory is None or not memory.size or not memory.flags.c_contiguous:
            continue
        offset = address - memory.__array_interface__["data"][0]
        if 0 <= offset < memory.nbytes:
            index = np.unravel_index(offset // memory.itemsize, memory.shape or (1,))
            rest = offset % memory.itemsize
            text = ", ".join(str(int(i)) for i in index)
            return f"&{name}[{text}]" + (f" + {rest} bytes" if rest else "")
    return f"0x{address:x}"


def waits(found: list[Waiting]) -> str:
    """Who waits for whom: warps that are at the same place and wait for the same are one line."""
    groups: dict[tuple, list[Waiting]] = {}
    for one in found:
        key = (one.block, one.partition, one.file, one.line, one.assembly, one.waits_for)
        groups.setdefault(key, []).append(one)
    lines = []
    for (block, partition, file, line, assembly, waiting), those in groups.items():
        warps = ", ".join(str(w) for w in sorted({one.warp for one in those}))
        text = f"warp {warps}" if len(those) == 1 else f"warps {warps}"
        if partition:
            text += f" ({partition})"
        if block:
            text = f"block {block}, {text}"
        place = f"{file}:{line}" if file else f"assembly line {assembly}"
        state = f"waits for {waiting}" if waiting else f"goes on with {those[0].instruction}"
        lines.append(f"{text} at {place} (assembly line {assembly}): {state}")
    return "\n".join(lines) or "all warps have ended"


def barriers(stop: Stop) -> str:
    lines = []
    waiting = stop.waits()
    for rank, offset, phase, pending, expected, count in stop.native.mbarriers():
        name = _shared_name(stop, offset)
        text = (
            f"mbarrier at shared 0x{offset:x}{name}: phase {phase}, {pending} of {expected} "
            f"arrivals and {count} bytes pending"
        )
        if rank:
            text = f"block {rank}: {text}"
        for one in waiting:
            if one.mbarrier is not None and one.mbarrier[:2] == (rank, offset):
                text += f"\n    warp {one.warp} waits for the end of phase {one.mbarrier[2]}"
        lines.append(text)
    for rank, number, arrived, expected in stop.native.barriers():
        lines.append(f"barrier {number} of block {rank}: {arrived} of {expected} threads arrived")
    return "\n".join(lines) or "no barrier is in use"


def _shared_name(stop: Stop, offset: int) -> str:
    for name, start, size in stop.native.shared_names():
        if size and start <= offset < start + size:
            return f" ({name} + {offset - start})"
    return ""


def shared(stop: Stop, dtype: str, start: int, count: int | None) -> str:
    """Shared memory, by rows of 16 bytes."""
    data = stop.shared()
    if not data:
        return "the block has no shared memory"
    size = np.dtype(dtype).itemsize
    end = len(data) if count is None else min(len(data), start + count * size)
    rows = []
    per_row = max(1, 32 // size)
    values = np.frombuffer(data[start : start + (end - start) // size * size], dtype)
    for first in range(0, values.size, per_row):
        row = " ".join(str(v) for v in values[first : first + per_row])
        rows.append(f"0x{start + first * size:05x}  {row}")
        if len(rows) >= 64:
            rows.append("...")
            break
    return "\n".join(rows)


def holders(stop: Stop, it: Variable, index: tuple[int, ...]) -> str:
    """Which threads have an element, and in which registers."""
    lines = []
    for one in stop.captures.holders(it, index):
        thread = one.warp * stop.native.wave_lanes + one.lane
        text = f"thread {thread} (warp {one.warp}, lane {one.lane})"
        if stop.kernel.cluster > 1:
            text = f"block {one.block}, {text}"
        lines.append(f"{text}: {one.register}, when it was assigned")
    return "\n".join(lines) or "no thread has it"
