"""Accesses to buffers of AMD's GPUs."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from amd_machines import LANES, every, row
from reference import DTYPES, poisoned
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import (
    cdna3,
)


@gluon.jit
def buffer_copy(
    x_ptr, y_ptr, n, BLOCK: gl.constexpr, LAYOUT: gl.constexpr, OTHER: gl.constexpr,
    CACHE: gl.constexpr,
):  # fmt: skip
    base = gl.program_id(0) * BLOCK
    at = gl.arange(0, BLOCK, layout=LAYOUT)
    mask = base + at < n
    x = cdna3.buffer_load(x_ptr + base, at, mask=mask, other=OTHER, cache=CACHE)
    # Behind the end, what was loaded is stored, too.
    cdna3.buffer_store(x, y_ptr + base, at)


@every
@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", ["fp32", "fp16", "i8", "i64", "bool"])
@pytest.mark.parametrize("n", [1024, 1000, 513, 0])
@pytest.mark.parametrize("other,cache", [(None, None), (3, ".cg")])
def test_buffer_copy(other, cache, n, dtype, target):
    x = values(1024, "i8", 1) > 0 if dtype == "bool" else values(1024, dtype, 1)
    y = np.full_like(x, 1) if dtype == "bool" else poisoned(1024, dtype)
    other = 1 if dtype == "bool" and other else other
    kernel = buffer_copy[(2,)](x, y, n, 512, row(target), other, cache)
    np.testing.assert_array_equal(y, np.where(np.arange(1024) < n, x, other or 0).astype(x.dtype))
    assert "buffer_load" in kernel.asm["amdgcn"] and "buffer_store" in kernel.asm["amdgcn"]


@gluon.jit
def buffer_store_masked(y_ptr, n, LAYOUT: gl.constexpr):
    # The layout of the offsets is left open: it is that of the value.
    at = gl.arange(0, 512)
    value = gl.full([512], 7, gl.int32, LAYOUT)
    cdna3.buffer_store(value, y_ptr, at, mask=at < n)


@every
def test_open_layouts_of_offsets(target):
    y = poisoned(512, "i32")
    want = np.where(np.arange(512) < 300, 7, y)
    buffer_store_masked[(1,)](y, 300, row(target))
    np.testing.assert_array_equal(y, want)


@gluon.jit
def buffer_atomic(
    x_ptr, old_ptr, v_ptr, n, KIND: gl.constexpr, BLOCK: gl.constexpr, LAYOUT: gl.constexpr
):
    at = gl.arange(0, BLOCK, layout=LAYOUT)
    mask = at < n
    v = gl.load(v_ptr + at)
    gl.store(old_ptr + at, KIND(x_ptr, at, v, mask=mask), mask)


ATOMICS = {
    "add": np.add, "and": np.bitwise_and, "max": np.maximum, "min": np.minimum,
    "or": np.bitwise_or, "xchg": lambda x, v: v, "xor": np.bitwise_xor,
}  # fmt: skip


@every
@pytest.mark.sweep
@pytest.mark.parametrize("kind", ATOMICS)
@pytest.mark.parametrize("dtype", ["i32", "u32", "fp32"])
def test_buffer_atomics(dtype, kind, target):
    if dtype == "fp32" and kind not in ("add", "xchg"):
        return
    x, v, n = values(512, dtype, 1), values(512, dtype, 2), 417
    before, old = x.copy(), np.zeros_like(x)
    operation = getattr(cdna3, f"buffer_atomic_{kind}")
    buffer_atomic[(1,)](x, old, v, n, operation, 512, row(target))
    inside = np.arange(512) < n
    np.testing.assert_array_equal(x, np.where(inside, ATOMICS[kind](before, v), before))
    np.testing.assert_array_equal(old, np.where(inside, before, 0))


@gluon.jit
def scatter_add(x_ptr, i_ptr, LAYOUT: gl.constexpr):
    at = gl.arange(0, 512, layout=LAYOUT)
    cdna3.buffer_atomic_add(x_ptr, gl.load(i_ptr + at), 1, sem="relaxed", scope="cta")


@every
def test_atomics_at_one_place(target):
    at = np.abs(values(512, "i32", 3)) % 11
    x = np.zeros(16, np.int32)
    scatter_add[(1,)](x, at.astype(np.int32), row(target))
    np.testing.assert_array_equal(x, np.bincount(at, minlength=16))


@every
def test_compiles_start_from_the_text(target, tmp_path):
    import tile

    y = poisoned(512, "i32")
    kernel = buffer_store_masked[(1,)](y, 300, row(target))
    assert list(kernel.asm)[:3] == ["glir", "ttgir", "llir"]
    file = tmp_path / "kernel.glir"
    file.write_text(kernel.asm["glir"])
    backend, arch = target.split(":")
    again = tile.compile(str(file), target=tile.GPUTarget(backend, arch, LANES[target]))
    assert again.asm["amdgcn"] == kernel.asm["amdgcn"]


#: What has an instruction that adds two neighbours.
PAIRS = {
    ("hip:gfx942", "fp16"),
    *itertools.product(["hip:gfx950", "hip:gfx1200"], ["fp16", "bf16"]),
}


@every
@pytest.mark.parametrize("dtype", ["fp16", "bf16"])
@pytest.mark.parametrize("n", [416, 417])
def test_pairs_of_16_bit_floats(n, dtype, target):
    whole = [values(512, "i32", seed) % 50 for seed in (4, 5)]
    x, v = (w.astype(DTYPES[dtype]) for w in whole)
    before, old = x.copy(), np.zeros(512, DTYPES[dtype])
    launch = partial(buffer_atomic[(1,)], x, old, v, n, cdna3.buffer_atomic_add, 512, row(target))
    if (target, dtype) not in PAIRS or n % 2:
        with pytest.raises(TileError, match=r"no such buffer operation|in pairs that begin"):
            launch()
        return
    kernel = launch()
    inside = np.arange(512) < n
    total = np.where(inside, whole[0] + whole[1], whole[0])
    np.testing.assert_array_equal(x, total.astype(x.dtype))
    np.testing.assert_array_equal(old, np.where(inside, before, old * 0))
    name = "f16" if dtype == "fp16" else "bf16"
    assert f"buffer_atomic_pk_add_{name}" in kernel.asm["amdgcn"]
