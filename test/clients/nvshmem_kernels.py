"""NVSHMEM's own device library, through torch's functions for Triton's users, in the simulator.

Each rank is a simulated GPU. NVSHMEM's library for the host would fill in the state that its device
functions read: who this rank is, and where the symmetric memory of each rank lies. Here this driver
fills it in, for ranks that reach each other's memory. `test/gpu/nvshmem.py` is the same on GPUs.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import triton
import triton.language as tl
from cases import Case
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import tile.sim

PACKAGE = "nvidia-nvshmem-cu12"
nvshmem = importlib.import_module("torch.distributed._symmetric_memory._nvshmem_triton")

#: Of `nvshmemi_device_host_state_v1` of version 3.8: its size, and where what follows the ranks is.
_SIZE, _HEAP_BASE = 848, 40
_STATE = re.compile(rf"(nvshmemi_device_state_d\[{_SIZE}\]);")
_WARPS = 4


def configure(device: str) -> None:
    pass


@triton.jit
def names_kernel(out_ptr):
    tl.store(out_ptr, nvshmem.my_pe())
    tl.store(out_ptr + 1, nvshmem.n_pes())


@triton.jit
def put_kernel(to, source, n, pe):
    nvshmem.put(to, source, n, pe)
    nvshmem.quiet()


@triton.jit
def get_kernel(to, source, n, pe):
    nvshmem.get(to, source, n, pe)


@triton.jit
def get_nbi_kernel(to, source, n, pe):
    nvshmem.get_nbi(to, source, n, pe)
    nvshmem.quiet()


@triton.jit
def signal_kernel(to, source, signal, size, value, to_pe):
    """Puts, and signals; waits for the signal of the other neighbour."""
    nvshmem.putmem_signal_block(to, source, size, signal, value, 9, to_pe)
    nvshmem.signal_wait_until(signal, 0, value)


#: The types of the parameters of each.
_SIGNATURES = {
    names_kernel: {"out_ptr": "*i32"},
    put_kernel: {"to": "*fp32", "source": "*fp32", "n": "i32", "pe": "i32"},
    get_kernel: {"to": "*fp32", "source": "*fp32", "n": "i32", "pe": "i32"},
    get_nbi_kernel: {"to": "*fp32", "source": "*fp32", "n": "i32", "pe": "i32"},
    signal_kernel: {
        "to": "*fp32", "source": "*fp32", "signal": "*i64", "size": "i32", "value": "i32",
        "to_pe": "i32",
    },
}  # fmt: skip


def _library() -> str:
    """NVSHMEM's device functions for Hopper, as LLVM's bitcode."""
    files = importlib.metadata.files(PACKAGE) or []
    (found,) = (f for f in files if f.name == "libnvshmem_device_sm_90.bc")
    return str(Path(found.locate()))


@functools.cache
def _compiled(kernel: Any) -> str:
    source = ASTSource(fn=kernel, signature=_SIGNATURES[kernel], constexprs={})
    options = {"extern_libs": {"libnvshmem_device": _library()}, "num_warps": _WARPS}
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options).asm["ptx"]


class Ranks:
    """The symmetric memory of some ranks: 1024 numbers, and 1024 zeros."""

    def __init__(self, world: int) -> None:
        self.world = world
        self.heaps = [np.zeros(2048, np.float32) for _ in range(world)]
        for rank, heap in enumerate(self.heaps):
            heap[:1024] = np.arange(1024) + 10000 * rank
        #: Where the memory of each rank is, as all of them see it.
        self.table = np.array([heap.ctypes.data for heap in self.heaps], np.uint64)

    def text(self, ptx: str, rank: int) -> str:
        """The kernel with the state of one rank."""
        state = bytearray(_SIZE)
        struct.pack_into("<5i", state, 0, (1 << 16) + _SIZE, rank, self.world, rank, self.world)
        heap = self.heaps[rank]
        table = self.table.ctypes.data
        struct.pack_into("<3Q", state, _HEAP_BASE, heap.ctypes.data, heap.nbytes, table)
        written, count = _STATE.subn(rf"\1 = {{{', '.join(map(str, state))}}};", ptx)
        assert count == 1, "the state of NVSHMEM has another size: this is not version 3.8"
        return written

    def run(self, kernel: Any, arguments: Callable[[int], list[Any]]) -> None:
        """One launch on each rank, all at once."""
        ptx = _compiled(kernel)
        with tile.sim.launch_group():
            for rank in range(self.world):
                tile.sim.launch(
                    self.text(ptx, rank), kernel.__name__, 1, 32 * _WARPS, arguments(rank),
                    allocations=[*self.heaps, self.table],
                )  # fmt: skip


def _names(world: int) -> Callable[[], None]:
    def run() -> None:
        ranks = Ranks(world)
        out = [np.full(2, -1, np.int32) for _ in range(world)]
        ranks.run(names_kernel, lambda rank: [out[rank]])
        assert [o.tolist() for o in out] == [[rank, world] for rank in range(world)]

    return run


def _copies(kernel: Any, world: int, step: int, n: int) -> Callable[[], None]:
    """Each rank copies to or from the next one; what arrives is of the one `step` ranks away."""

    def run() -> None:
        ranks = Ranks(world)
        halves = [(heap[1024:], heap[:1024]) for heap in ranks.heaps]
        ranks.run(kernel, lambda rank: [*halves[rank], n, (rank + 1) % world])
        _check(ranks, step, n)

    return run


def _signals(world: int, n: int) -> Callable[[], None]:
    def run() -> None:
        ranks = Ranks(world)
        flags = [heap[2040:].view(np.int64) for heap in ranks.heaps]
        ranks.run(
            signal_kernel,
            lambda rank: [
                ranks.heaps[rank][1024:], ranks.heaps[rank][:1024], flags[rank], 4 * n, 7,
                (rank + 1) % world,
            ],
        )  # fmt: skip
        assert [int(flag[0]) for flag in flags] == [7] * world
        for flag in flags:
            flag[0] = 0
        _check(ranks, -1, n)

    return run


def _check(ranks: Ranks, step: int, n: int) -> None:
    for rank, heap in enumerate(ranks.heaps):
        expected = np.zeros(1024, np.float32)
        expected[:n] = np.arange(n) + 10000 * ((rank + step) % ranks.world)
        np.testing.assert_array_equal(heap[1024:], expected)


def cases(device: str) -> list[Case]:
    runs = {
        "names": _names(3),
        "put": _copies(put_kernel, 2, -1, 1000),
        "put_on_four_ranks": _copies(put_kernel, 4, -1, 77),
        "get": _copies(get_kernel, 3, 1, 1001),
        "get_nbi": _copies(get_nbi_kernel, 2, 1, 512),
        "signal": _signals(2, 1000),
        "signal_on_three_ranks": _signals(3, 33),
    }
    return [Case(name, run, devices=("cpu",)) for name, run in runs.items()]
