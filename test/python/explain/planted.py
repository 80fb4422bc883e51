"""Kernels that are slow for one reason, each with a twin that is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import tile
import tile.language as tl
from tile.backends import find_backend
from tile.experimental import gluon
from tile.experimental.gluon import language as gl


def random(*shape: int, dtype=np.float32) -> np.ndarray:
    return np.random.default_rng(38).standard_normal(shape).astype(dtype)


@tile.jit
def strided(x_ptr, out_ptr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets * STEP)  # strided
    tl.store(out_ptr + offsets, x)


def run_strided(step: int) -> None:
    strided[(4,)](random(4096), np.empty(512, np.float32), STEP=step, BLOCK=128)


@gluon.jit
def through_shared(in_ptr, out_ptr, N: gl.constexpr, LAYOUT: gl.constexpr, SHARED: gl.constexpr):
    rows = gl.arange(0, N, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, LAYOUT))
    places = rows[:, None] * N + columns[None, :]
    buffer = gl.allocate_shared_memory(in_ptr.dtype.element_ty, [N, N], SHARED)
    buffer.store(gl.load(in_ptr + places))
    y = buffer.permute((1, 0)).load(LAYOUT)  # conflicts
    gl.store(out_ptr + places, y)


def run_through_shared(phases: int) -> None:
    layout = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    shared = gl.SwizzledSharedLayout(1, 1, phases, [1, 0])
    through_shared[(1,)](random(32, 32), np.empty((32, 32), np.float32), 32, layout, shared)


@tile.jit
def masked(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)  # masked
    tl.store(out_ptr + offsets, x)


def run_masked(n: int) -> None:
    masked[(4,)](random(512), np.empty(512, np.float32), n, BLOCK=128)


@tile.jit
def product(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    rows, columns = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    for k in range(0, K, N):
        ks = k + tl.arange(0, N)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])  # by pointers
        b = tl.load(b_ptr + ks[:, None] * N + columns[None, :])
        acc = tl.dot(a, b, acc, input_precision="ieee")  # dot
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc)


@tile.jit
def product_by_descriptors(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    a_tiles = tl.make_tensor_descriptor(a_ptr, [N, K], [K, 1], [N, N])
    b_tiles = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [N, N])
    acc = tl.zeros((N, N), tl.float32)
    for k in range(0, K, N):
        acc = tl.dot(a_tiles.load([0, k]), b_tiles.load([k, 0]), acc)
    rows, columns = tl.arange(0, N), tl.arange(0, N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc)


@tile.jit
def specialized_product(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr):
    rows, columns = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    for k in tl.range(0, K, N, warp_specialize=True):
        ks = k + tl.arange(0, N)
        a = tl.load(a_ptr + rows[:, None] * K + ks[None, :])
        b = tl.load(b_ptr + ks[:, None] * N + columns[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], acc)


def run_product(kernel, dtype) -> None:
    a, b = random(64, 128, dtype=dtype), random(128, 64, dtype=dtype)
    kernel[(1,)](a, b, np.empty((64, 64), np.float32), 128, N=64)


@tile.jit
def chases(a_ptr, c_ptr, K, CHASES: tl.constexpr, N: tl.constexpr):
    rows, columns = tl.arange(0, N), tl.arange(0, N)
    acc = tl.zeros((N, N), tl.float32)
    places = rows[:, None] * N + columns[None, :]
    for _ in range(K):  # chases
        a = tl.load(a_ptr + places)
        acc = tl.dot(a, a, acc)
        a_ptr += tl.max(tl.max(a, 0), 0).to(tl.int32) * 16 if CHASES else 16
    tl.store(c_ptr + places, acc)


def run_chases(chase: bool) -> None:
    a = np.zeros((128, 64), np.float16)
    chases[(1,)](a, np.empty((64, 64), np.float32), 3, CHASES=chase, N=64)


@tile.jit
def many_values(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    y = x - tl.max(x, 0)
    tl.store(out_ptr + offsets, x * tl.sum(y * x, 0) + y)


def run_many_values(block: int, **options) -> None:
    many_values[(1,)](random(block), np.empty(block, np.float32), BLOCK=block, **options)


@tile.jit
def short(out_ptr):
    tl.store(out_ptr + tl.program_id(0), 1.0)


def wave() -> int:
    """How many blocks of four warps fill the GPU: each multiprocessor holds 12 or 16."""
    active = tile.runtime.driver.active
    facts = find_backend(active.get_current_target()).facts
    blocks = facts.max_threads_per_sm // 128
    return blocks * active.device_properties(0)["multiprocessor_count"]


def run_grid(blocks: int) -> None:
    short[(blocks,)](np.empty(blocks, np.float32))


@tile.jit
def divides(x_ptr, out_ptr, steps, width, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(steps):
        index = i * BLOCK + offsets
        row = index // (WIDTH if WIDTH else width)  # divides
        total += tl.load(x_ptr + row)
    tl.store(out_ptr + offsets, total)


@tile.jit
def divides_for_each_tile(x_ptr, out_ptr, tiles, steps, width, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    for tile_id in range(tiles):
        row, column = tile_id // width, tile_id % width
        total = tl.zeros((BLOCK,), tl.float32)
        for i in range(steps):
            total += tl.load(x_ptr + row * 8 + column * 4 + i)
        tl.store(out_ptr + tile_id * BLOCK + offsets, total)


def run_divides_for_each_tile() -> None:
    out = np.empty(512, np.float32)
    divides_for_each_tile[(1,)](random(64), out, 4, 3, 2, BLOCK=128)


def run_divides(constant: int) -> None:
    divides[(1,)](random(64), np.empty(128, np.float32), 4, 10, WIDTH=constant, BLOCK=128)


@dataclass(frozen=True)
class Pair:
    kind: str
    slow: Callable[[], None]
    twin: Callable[[], None]
    #: A comment on the line that is slow; empty where it is the whole kernel.
    line: str = ""


PAIRS = (
    Pair("uncoalesced-access", lambda: run_strided(8), lambda: run_strided(1), "# strided"),
    Pair("single-elements", lambda: run_strided(3), lambda: run_strided(1), "# strided"),
    Pair("bank-conflicts", lambda: run_through_shared(1), lambda: run_through_shared(32),
         "# conflicts"),
    Pair("mask-not-needed", lambda: run_masked(512), lambda: run_masked(500), "# masked"),
    Pair("no-tensor-core", lambda: run_product(product, np.float32),
         lambda: run_product(product, np.float16), "# dot"),
    Pair("no-tma", lambda: run_product(product, np.float16),
         lambda: run_product(product_by_descriptors, np.float16), "# by pointers"),
    Pair("serialised-waits", lambda: run_chases(True), lambda: run_chases(False), "# chases"),
    Pair("spills", lambda: run_many_values(8192, maxnreg=40), lambda: run_many_values(8192)),
    Pair("low-occupancy", lambda: run_many_values(32768), lambda: run_many_values(1024)),
    Pair("tail-wave", lambda: run_grid(wave() + 40), lambda: run_grid(wave())),
    Pair("division-in-loop", lambda: run_divides(0), lambda: run_divides(10), "# divides"),
)  # fmt: skip
