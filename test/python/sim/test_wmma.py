# ruff: noqa: E501  (PTX text reads better unbroken)
"""nvcuda::wmma as nvcc compiles it (test/unit/Simulator/ptx/wmma.cu), against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptxlib import HEADER
from test_ptx_programs import ptx as source

import tile.sim
from tile.errors import TileError

PTX = source("wmma")
rng = np.random.default_rng(11)


def run(entry, *args, grid=1, **options):
    return tile.sim.launch(PTX, entry, grid, 32, args, **options)


def test_f16_through_shared_memory():
    m, n, k = 32, 48, 64
    a, b = rng.standard_normal((m, k)).astype(np.float16), rng.standard_normal((k, n)).astype(np.float16)  # fmt: skip
    c = rng.standard_normal((m, n)).astype(np.float32)
    want = 2 * (a.astype(np.float64) @ b.astype(np.float64) + c)
    report = run("wmma_f16", a, b, c, m, n, k, grid=(n // 16, m // 16))
    np.testing.assert_allclose(c, want, rtol=1e-6, atol=1e-5)
    assert report.counters["tensor_flops"] == 2 * m * n * k


def test_f16_result_in_half():
    k = 48
    a, b = (rng.integers(-4, 5, s).astype(np.float16) for s in ((32, k), (8, k)))
    c = np.zeros((32, 8), np.float16)
    run("wmma_f16_col", a, b, c, k)
    # Sums of small integers are exact in half precision.
    assert (c == (a.astype(np.int64) @ b.T.astype(np.int64)).astype(np.float16)).all()


def test_s8_column_major_a():
    k = 64
    a, b = rng.integers(-128, 128, (k, 8)), rng.integers(-128, 128, (k, 32))
    # A's tiles of 16 columns, each column by column with 16 elements between columns.
    stored = np.zeros((k, 16), np.int8)
    stored[:, :8] = a
    c = np.zeros((8, 32), np.int32)
    run("wmma_s8", stored, b.astype(np.int8), c, k)
    assert (c == a.T @ b).all()


def test_tf32_rounds_its_operands_and_stores_by_column():
    k = 24
    a, b = rng.standard_normal((2, 16, k)).astype(np.float32)
    c = np.zeros((16, 16), np.float32)
    run("wmma_tf32", a, b, c, k)

    def tf32(x):
        # cvt.rna: to nearest, ties away from zero.
        return ((x.view(np.uint32) + 0x1000) & 0xFFFFE000).view(np.float32).astype(np.float64)

    np.testing.assert_allclose(c.T, tf32(a) @ tf32(b).T, rtol=1e-6, atol=1e-6)


def test_bf16():
    a, b = rng.standard_normal((2, 16, 16)).astype(ml_dtypes.bfloat16)
    c = np.zeros((16, 16), np.float32)
    run("wmma_bf16", a, b, c)
    np.testing.assert_allclose(
        c, a.astype(np.float64) @ b.astype(np.float64).T, rtol=1e-6, atol=1e-6
    )


def test_f64():
    a, b = rng.standard_normal((2, 8, 4))
    c = rng.standard_normal((8, 8))
    want = a @ b.T + c
    run("wmma_f64", a, b, c)
    np.testing.assert_allclose(c, want, rtol=1e-14, atol=1e-14)


def test_single_bits():
    a, b = rng.integers(0, 2, (2, 8, 128)).astype(np.uint8)
    c = np.zeros((8, 8), np.int32)
    words = [np.packbits(x, axis=1, bitorder="little").view(np.uint32).copy() for x in (a, b)]
    run("wmma_bits", *words, c)
    assert (c == a.astype(np.int32) @ b.T.astype(np.int32)).all()


def test_u4():
    a, b = rng.integers(0, 16, (2, 8, 32)).astype(np.uint8)
    c = np.zeros((8, 8), np.int32)
    run("wmma_u4", *[x[:, ::2] | x[:, 1::2] << 4 for x in (a, b)], c)
    assert (c == a.astype(np.int32) @ b.T.astype(np.int32)).all()


SHAPES = [(16, 16, 16), (8, 32, 16), (32, 8, 16)]


@pytest.mark.parametrize("layouts", ["row.row", "row.col", "col.row", "col.col"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: "m{}n{}k{}".format(*s))
@pytest.mark.parametrize("kind", ["f16", "bf16", "s8", "u8"])
def test_every_shape_and_layout(kind, shape, layouts):
    m, n, k = shape
    name = f"m{m}n{n}k{k}"
    la, lb = layouts.split(".")
    dtype = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "s8": np.int8, "u8": np.uint8}[kind]
    low = 0 if kind == "u8" else -9
    a, b = rng.integers(low, 10, (m, k)), rng.integers(low, 10, (k, n))
    per = 2 if kind in ("f16", "bf16") else 4
    na, nb = (8, 8) if kind == "f16" else (m * k // 32 // per, n * k // 32 // per)
    types = "f32.f32" if kind == "f16" else f"{'f32' if per == 2 else 's32'}.{kind}.{kind}.{'f32' if per == 2 else 's32'}"  # fmt: skip
    acc = "f32" if per == 2 else "s32"

    def names(prefix, count):
        return "{" + ", ".join(f"%{prefix}{i}" for i in range(count)) + "}"

    ptx = f"""{HEADER}
.visible .entry op(.param .u64 a, .param .u64 b, .param .u64 c)
{{
  .reg .b64 %p<3>; .reg .b32 %a<8>; .reg .b32 %b<8>; .reg .b32 %c<8>; .reg .b32 %z;
  ld.param.u64 %p0, [a]; ld.param.u64 %p1, [b]; ld.param.u64 %p2, [c]; mov.b32 %z, 0;
  wmma.load.a.sync.aligned.{la}.{name}.global.{kind} {names("a", na)}, [%p0];
  wmma.load.b.sync.aligned.{lb}.{name}.global.{kind} {names("b", nb)}, [%p1];
  wmma.mma.sync.aligned.{la}.{lb}.{name}.{types} {names("c", 8)}, {names("a", na)}, {names("b", nb)}, {{%z, %z, %z, %z, %z, %z, %z, %z}};
  wmma.store.d.sync.aligned.row.{name}.global.{acc} [%p2], {names("c", 8)};
  ret;
}}
"""
    c = np.zeros((m, n), np.float32 if per == 2 else np.int32)
    stored = [np.ascontiguousarray(x if layout == "row" else x.T).astype(dtype) for x, layout in ((a, la), (b, lb))]  # fmt: skip
    tile.sim.launch(ptx, "op", 1, 32, [*stored, c])
    assert (c == a @ b).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wmma.load.a.sync.aligned.row.m16n16k8.f16 {%r0}, [%p];", "do not go together"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0}, [%p];", "expected 8 registers"),
        ("wmma.load.a.sync.aligned.col.m8n8k32.u4 {%r0}, [%p];", "sub-byte"),
        ("wmma.load.a.sync.aligned.m16n16k16.f16 {%r0}, [%p];", "needs .row or .col"),
        ("wmma.store.d.sync.aligned.row.m8n8k32.s32 [%p], {%r0, 1};", "expected registers"),
        ("wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0}, {%r0}, {%r0}, {%r0};", "do not go together"),
        ("wmma.fill.sync.aligned {%r0};", "unknown operation"),
    ],
)  # fmt: skip
def test_bad_forms_are_errors_of_their_line(text, message):
    ptx = f"{HEADER}.visible .entry op()\n{{\n.reg .b64 %p; .reg .b32 %r<8>;\n{text}\nret;\n}}\n"
    with pytest.raises(TileError, match=message) as error:
        tile.sim.load(ptx)
    assert ":7:" in str(error.value)


def test_needs_the_whole_warp():
    a = np.zeros((16, 16), ml_dtypes.bfloat16)
    with pytest.raises(tile.sim.SimulationError, match="needs all 32 lanes"):
        tile.sim.launch(PTX, "wmma_bf16", 1, 31, [a, a, np.zeros((16, 16), np.float32)])
