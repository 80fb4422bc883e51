"""Kernels on NVSHMEM's device functions, as torch's `_nvshmem_triton` calls them. A library in
LLVM IR stands in for NVSHMEM's; each rank is a GPU of the simulator."""

from __future__ import annotations

import numpy as np
import pytest
from reference import on_nvidia, sim_only

import tile
import tile.language as tl
from tile.compat.additions.language import core

pytestmark = [
    sim_only,
    pytest.mark.skipif(not on_nvidia(), reason="kernels for AMD are linked with nothing"),
]

#: NVSHMEM's signatures: addresses are pointers, some functions give nothing, others 64 bits.
LIBRARY = """
@bases = internal addrspace(1) constant [{world} x i64] [{bases}]

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)

define i32 @nvshmem_my_pe() {{
  ret i32 {rank}
}}
define i32 @nvshmem_n_pes() {{
  ret i32 {world}
}}
define void @nvshmem_fence() {{
  fence seq_cst
  ret void
}}

define internal ptr @on_pe(ptr %here, i32 %pe) {{
  %mine.at = getelementptr [{world} x i64], ptr addrspace(1) @bases, i32 0, i32 {rank}
  %mine = load i64, ptr addrspace(1) %mine.at
  %their.at = getelementptr [{world} x i64], ptr addrspace(1) @bases, i32 0, i32 %pe
  %theirs = load i64, ptr addrspace(1) %their.at
  %distance = sub i64 %theirs, %mine
  %there = getelementptr i8, ptr %here, i64 %distance
  ret ptr %there
}}

define void @nvshmemx_putmem_block(ptr %to, ptr %from, i64 %bytes, i32 %pe) {{
entry:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %there = call ptr @on_pe(ptr %to, i32 %pe)
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %first = zext i32 %thread to i64
  %step = zext i32 %threads to i64
  br label %head
head:
  %i = phi i64 [ %first, %entry ], [ %next, %copy ]
  %more = icmp ult i64 %i, %bytes
  br i1 %more, label %copy, label %done
copy:
  %source = getelementptr i8, ptr %from, i64 %i
  %target = getelementptr i8, ptr %there, i64 %i
  %byte = load i8, ptr %source
  store i8 %byte, ptr %target
  %next = add i64 %i, %step
  br label %head
done:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret void
}}

define void @nvshmemx_signal_op(ptr %signal, i64 %value, i32 %op, i32 %pe) {{
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %is.first = icmp eq i32 %thread, 0
  br i1 %is.first, label %send, label %done
send:
  %there = call ptr @on_pe(ptr %signal, i32 %pe)
  call void asm sideeffect "red.release.sys.add.u64 [$0], $1;", "l,l,~{{memory}}"(
    ptr %there, i64 %value)
  br label %done
done:
  ret void
}}

define i64 @nvshmem_signal_wait_until(ptr %signal, i32 %compare, i64 %value) {{
entry:
  br label %look
look:
  %found = load atomic i64, ptr %signal acquire, align 8
  %ready = icmp uge i64 %found, %value
  br i1 %ready, label %done, label %look
done:
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ret i64 %found
}}
"""
I32, I64, U64 = core.dtype("int32"), core.dtype("int64"), core.dtype("uint64")


def call(name, arguments, types, semantic, pure=False):
    return core.extern_elementwise(
        "", "", arguments, {types: (name, I32)}, is_pure=pure, _semantic=semantic
    )


@core.extern
def my_pe(_semantic=None):
    return call("nvshmem_my_pe", [], (), _semantic, True)


@core.extern
def n_pes(_semantic=None):
    return call("nvshmem_n_pes", [], (), _semantic, True)


@core.extern
def fence(_semantic=None):
    return call("nvshmem_fence", [], (), _semantic)


@core.extern
def put(to, source, size, pe, _semantic=None):
    types = (I64, I64, I64, I32)
    return call("nvshmemx_putmem_block", [to, source, size, pe], types, _semantic)


@core.extern
def signal_op(signal, value, op, pe, _semantic=None):
    types = (I64, I64, I32, I32)
    return call("nvshmemx_signal_op", [signal, value, op, pe], types, _semantic)


@core.extern
def wait_until(signal, compare, value, _semantic=None):
    return call("nvshmem_signal_wait_until", [signal, compare, value], (I64, I32, I64), _semantic)


@tile.jit
def ring(symmetric, signal, out_ptr, n, SIGNALS: tl.constexpr, N: tl.constexpr):
    """Each rank puts the first half of its memory into the second half of the next one's."""
    next_pe = (my_pe() + 1) % n_pes()
    put((symmetric + N).to(tl.int64), symmetric.to(tl.int64), n.to(tl.int64) * 4, next_pe)
    fence()
    if SIGNALS:
        one = tl.full([], 1, tl.int64)
        signal_op(signal.to(tl.int64), one, 9, next_pe)
        seen = wait_until(signal.to(tl.int64), 3, one)
    else:
        seen = 1
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(symmetric + N + i, mask=i < n, other=-1) + seen - 1)
    tl.store(out_ptr + N, my_pe() * 100 + n_pes())


def run_ring(world, tmp_path, signals=True, n=60):
    heaps = [np.zeros(2 * 64 + 2, np.int32) for _ in range(world)]
    for rank, heap in enumerate(heaps):
        heap[:64] = np.arange(64) + 1000 * rank
    out = [np.full(65, -7, np.int32) for _ in range(world)]
    bases = ", ".join(f"i64 {heap.ctypes.data}" for heap in heaps)
    with tile.sim.reachable(*heaps), tile.sim.launch_group() as group:
        for rank in range(world):
            library = tmp_path / f"nvshmem{rank}.ll"
            library.write_text(LIBRARY.format(rank=rank, world=world, bases=bases))
            signal = heaps[rank][128:].view(np.int64)
            ring[(1,)](
                heaps[rank], signal, out[rank], n, SIGNALS=signals, N=64,
                extern_libs={"libnvshmem_device": str(library)},
            )  # fmt: skip
    return group, out


@pytest.mark.parametrize("world", [2, 3])
def test_a_ring(world, tmp_path):
    _, out = run_ring(world, tmp_path)
    for rank in range(world):
        expected = np.arange(64) + 1000 * ((rank - 1) % world)
        expected[60:] = -1
        np.testing.assert_array_equal(out[rank][:64], expected)
        assert out[rank][64] == rank * 100 + world


def test_a_missing_signal_is_a_race(tmp_path):
    with pytest.raises(tile.sim.SimulationError, match="race") as caught:
        run_ring(2, tmp_path, signals=False)
    assert "GPU 0" in str(caught.value) and "GPU 1" in str(caught.value)


@tile.jit
def calls_otherwise(out_ptr):
    put(out_ptr.to(tl.int64), out_ptr.to(tl.int64), tl.full([], 4, tl.int64), 0)


def test_types_that_do_not_fit(tmp_path):
    library = tmp_path / "other.ll"
    library.write_text(
        "define void @nvshmemx_putmem_block(ptr %a, ptr %b, i32 %n, i32 %p) {\n  ret void\n}\n"
    )
    message = (
        r"the library's function 'nvshmemx_putmem_block' has the type void \(ptr, ptr, i32, i32\), "
        r"and the kernel calls it by i32 \(i64, i64, i64, i32\)"
    )
    with pytest.raises(tile.TileError, match=message):
        calls_otherwise[(1,)](np.zeros(4, np.int32), extern_libs={"other": str(library)})
