"""Barriers in shared memory that count arrivals and bytes, phase after phase."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tile.errors import InterpreterError
from tile.interpreter.buffers import Buffer
from tile.interpreter.numbers import scalar_of
from tile.interpreter.registry import operation


class Barrier:
    """One barrier, and the copies that will arrive at it."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.missing = count
        self.bytes = 0
        self.phase = 0
        self.copies: list[tuple[Callable[[], None], int]] = []

    def arrive(self, count: int) -> None:
        if count > self.missing:
            self.progress()  # Copies need not be waited for to be done.
        if count > self.missing:
            raise InterpreterError(
                f"{count} arrivals at a barrier whose phase {self.phase} lacks {self.missing} of "
                f"{self.count}: a phase got more arrivals than mbarrier.init said"
            )
        self.missing -= count
        self._advance()

    def expect(self, size: int) -> None:
        self.bytes += size
        self.arrive(1)

    def add_copy(self, copy: Callable[[], None], size: int) -> None:
        self.copies.append((copy, size))

    def expect_copies(self, copies: list[Callable[[], None]], arrivals: int) -> None:
        """Copies of threads, which arrive when these are done."""

        def finish() -> None:
            for copy in copies:
                copy()
            if arrivals:
                self.arrive(arrivals)

        self.copies.append((finish, 0))

    def progress(self) -> None:
        """Finishes the copies of this phase: those that came first."""
        phase = self.phase
        while self.copies and self.phase == phase:
            copy, size = self.copies.pop(0)
            copy()
            self.bytes -= size
            self._advance()

    def _advance(self) -> None:
        if not self.missing and not self.bytes and not self._has_free_copies():
            self.phase += 1
            self.missing = self.count

    def _has_free_copies(self) -> bool:
        """Whether threads' copies, which no bytes count, are under way."""
        return any(not size for _, size in self.copies)

    def has_ended(self, parity: int) -> bool:
        """Whether the phase of this parity is over."""
        if self.phase & 1 != parity:
            return True
        self.progress()
        return self.phase & 1 != parity

    def state(self) -> str:
        lacks = []
        if self.missing:
            lacks.append(f"{self.missing} of {self.count} arrivals")
        if self.bytes:
            lacks.append(f"{self.bytes} bytes of copies")
        return f"phase {self.phase} lacks {' and '.join(lacks) or 'nothing'}"


def _key(buffer: Buffer) -> int:
    return int(buffer.places.reshape(-1)[0])


def barrier_of(buffer: Buffer) -> Barrier:
    found = buffer.barriers.get(_key(buffer))
    if found is None:
        raise InterpreterError("this barrier was not made by mbarrier.init, or ended before")
    return found


@operation("ttnvgpu.init_barrier")
def _init(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if not b.phantom:
        operands[0].barriers[_key(operands[0])] = Barrier(attributes["count"])


@operation("ttnvgpu.inval_barrier")
def _invalidate(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if b.phantom:
        return
    if barrier_of(operands[0]).copies:
        raise InterpreterError("a barrier ends while copies that arrive at it are under way")
    del operands[0].barriers[_key(operands[0])]


@operation("ttnvgpu.barrier_expect")
def _expect(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if not b.phantom and operands[1]:
        barrier_of(operands[0]).expect(attributes["size"])


@operation("ttnvgpu.arrive_barrier")
def _arrive(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if not b.phantom and (len(operands) == 1 or operands[1]):
        barrier_of(operands[0]).arrive(attributes["count"])


@operation("ttnvgpu.wait_barrier")
def _wait(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    has_pred = attributes["operandSegmentSizes"][2]
    if b.phantom or (has_pred and not operands[2]):
        return
    barrier, parity = barrier_of(operands[0]), scalar_of(operands[1]) & 1
    b.wait_until(
        lambda: barrier.has_ended(parity),
        lambda: f"a phase of parity {parity} of a barrier, whose {barrier.state()}",
    )
