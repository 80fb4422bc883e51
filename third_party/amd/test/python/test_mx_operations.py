"""Operations of the `amdg` dialect on operands in MX formats, and waits, executed."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from test_dot_scaled import run as run_product

import tile
import tile.sim

WAVES = {"gfx90a": 64, "gfx942": 64, "gfx950": 64, "gfx1100": 32, "gfx1201": 32}
#: Layouts of results of matrix products, the parents of operands.
PARENTS = {
    "gfx90a": "#ttg.amd_mfma<{version = 2, warpsPerCTA = [2, 1], instrShape = [16, 16, 16], isTransposed = true}>",  # noqa: E501
    "gfx942": "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 1], instrShape = [16, 16, 16], isTransposed = true}>",  # noqa: E501
    "gfx950": "#ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 1], instrShape = [16, 16, 32], isTransposed = true}>",  # noqa: E501
    "gfx1100": "#ttg.amd_wmma<{version = 1, isTranspose = true, warpsPerCTA = [2, 1]}>",
    "gfx1201": "#ttg.amd_wmma<{version = 2, isTranspose = true, warpsPerCTA = [2, 1]}>",
}
TYPES = {
    "i8": np.uint8, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip
FORMATS = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "e2m1": "i8"}
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)
E2M1 = np.concatenate([E2M1, -E2M1])


def addresses(name: str, rows: int, columns: int) -> str:
    """Where the elements of a matrix are, row by row."""
    row, column = f"tensor<{rows}x1xi32, #blocked>", f"tensor<1x{columns}xi32, #blocked>"
    whole = f"tensor<{rows}x{columns}xi32, #blocked>"
    line, across = f"tensor<{rows}xi32, #rows>", f"tensor<{columns}xi32, #columns>"
    return f"""
    %{name}_r = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : {line}
    %{name}_c = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : {across}
    %{name}_r1 = tt.expand_dims %{name}_r {{axis = 1 : i32}} : {line} -> {row}
    %{name}_c1 = tt.expand_dims %{name}_c {{axis = 0 : i32}} : {across} -> {column}
    %{name}_n = arith.constant dense<{columns}> : {row}
    %{name}_r2 = arith.muli %{name}_r1, %{name}_n : {row}
    %{name}_r3 = tt.broadcast %{name}_r2 : {row} -> {whole}
    %{name}_c3 = tt.broadcast %{name}_c1 : {column} -> {whole}
    %{name}_at = arith.addi %{name}_r3, %{name}_c3 : {whole}"""


def run(processor: str, operands: list[tuple[str, np.ndarray, str]], body: str, out: np.ndarray,
        element: str, tmp_path) -> None:  # fmt: skip
    """Loads operands (element type, bits, layout) as %v0, %v1, ..., and stores %result."""
    wave = WAVES[processor]
    lines, parameters = [], []
    for i, (kind, bits, layout) in enumerate(operands):
        shape = f"{bits.shape[0]}x{bits.shape[1]}x{kind}"
        parameters.append(f"%p{i}: !tt.ptr<{kind}>")
        lines.append(addresses(f"a{i}", *bits.shape))
        lines.append(f"    %l{i} = amdg.buffer_load %p{i}[%a{i}_at] : tensor<{shape}, #blocked>")
        lines.append(
            f"    %v{i} = ttg.convert_layout %l{i} : tensor<{shape}, #blocked> -> "
            f"tensor<{shape}, {layout}>"
        )
    stored = f"tensor<{out.shape[0]}x{out.shape[1]}x{element}, #blocked>"
    text = f"""
#blocked = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [{wave // 4}, 4], warpsPerCTA = [2, 1], order = [1, 0]}}>
#rows = #ttg.slice<{{dim = 1, parent = #blocked}}>
#columns = #ttg.slice<{{dim = 0, parent = #blocked}}>
#mma = {PARENTS[processor]}
#left = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = 8}}>
#right = #ttg.dot_op<{{opIdx = 1, parent = #mma, kWidth = 8}}>
#across = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}}>
#along = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "hip:{processor}", "ttg.threads-per-warp" = {wave} : i32}} {{
  tt.func public @kernel({", ".join(parameters)}, %out: !tt.ptr<{element}>) {{{"".join(f"{chr(10)}{line}" for line in lines)}
{addresses("out", *out.shape)}
{body}
    amdg.buffer_store %result, %out[%out_at] : {stored}
    tt.return
  }}
}}
"""  # noqa: E501
    path = tmp_path / "kernel.ttgir"
    path.write_text(text)
    target = tile.GPUTarget("hip", processor, wave)
    kernel = tile.compile(str(path), target=target, stop_at="amdgcn")
    arrays = [np.ascontiguousarray(bits) for _, bits, _ in operands]
    tile.sim.launch(
        kernel.asm["amdgcn"], "kernel", 1, 2 * wave, [*arrays, out],
        dynamic_shared=kernel.metadata.shared,
    )  # fmt: skip


def encode(kind: str, shape: tuple[int, int], axis: int):
    """Bits of random numbers (of e2m1, of pairs along `axis`), and the numbers."""
    rng = np.random.default_rng(shape[0] + axis)
    if kind == "e2m1":
        codes = rng.integers(0, 16, shape).astype(np.uint8)
        pairs = [codes[axis * (slice(None),) + (slice(i, None, 2),)] for i in (0, 1)]
        return pairs[0] | pairs[1] << 4, E2M1[codes]
    numbers = rng.standard_normal(shape).astype(TYPES[FORMATS[kind]])
    return numbers, numbers.astype(np.float32)


def back(shape: tuple[int, int], element: str, layout: str) -> str:
    kind = f"tensor<{shape[0]}x{shape[1]}x{element}"
    return f"    %result = ttg.convert_layout %wide : {kind}, {layout}> -> {kind}, #blocked>"


@pytest.mark.parametrize("processor", WAVES)
@pytest.mark.parametrize(
    ("kind", "element", "scales"),
    [("e2m1", "bf16", "bf16"), ("e4m3", "f16", "bf16"), ("e5m2", "f32", "i8")],
)
def test_scaled_upcast(processor, kind, element, scales, tmp_path):
    bits, numbers = encode(kind, (32, 64), 1)
    exponents = np.random.default_rng(1).integers(-6, 7, (32, 64))
    factors = (2.0**exponents).astype(np.float32)
    scale = (exponents + 127).astype(np.uint8) if scales == "i8" else factors.astype(TYPES["bf16"])
    name, attribute = ("fp4", " {axis = 1 : i32}") if kind == "e2m1" else ("fp8", "")
    body = (
        f"    %wide = amdg.scaled_upcast_{name} %v0 scale %v1{attribute} : "
        f"tensor<32x{bits.shape[1]}x{FORMATS[kind]}, #left>, tensor<32x64x{scales}, #left> -> "
        f"tensor<32x64x{element}, #left>\n" + back((32, 64), element, "#left")
    )
    out = np.zeros((32, 64), TYPES[element])
    operands = [(FORMATS[kind], bits, "#left"), (scales, scale, "#left")]
    run(processor, operands, body, out, element, tmp_path)
    assert (out == (numbers * factors).astype(TYPES[element])).all()


@pytest.mark.sweep
@pytest.mark.parametrize("processor", WAVES)
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("kind", "element", "given"),
    [("e2m1", "f16", "i8"), ("e4m3", "bf16", "f8E4M3FN"), ("e5m2", "bf16", "i8")],
)
def test_upcast_mxfp(processor, side, kind, element, given, tmp_path):
    axis, shape = (1, (32, 64)) if side == "left" else (0, (64, 32))
    bits, numbers = encode(kind, shape, axis)
    scale = np.random.default_rng(2).integers(121, 134, (32, 2)).astype(np.uint8)
    factors = np.repeat(2.0 ** (scale.astype(np.float32) - 127), 32, 1)
    scale[3, 1], factors[3, 32:] = 255, np.nan
    body = (
        f"    %wide = amdg.upcast_mxfp %v0, %v1 fp_type = {kind} {{fastMath = false}} : "
        f"tensor<{bits.shape[0]}x{bits.shape[1]}x{given}, #{side}>, tensor<32x2xi8, #blocked> -> "
        f"tensor<{shape[0]}x{shape[1]}x{element}, #{side}>\n" + back(shape, element, f"#{side}")
    )
    out = np.zeros(shape, TYPES[element])
    operands = [(given, bits.view(TYPES[given]), f"#{side}"), ("i8", scale, "#blocked")]
    run(processor, operands, body, out, element, tmp_path)
    expected = (numbers * (factors if side == "left" else factors.T)).astype(TYPES[element])
    assert np.array_equal(out.astype(np.float32), expected.astype(np.float32), equal_nan=True)


@pytest.mark.parametrize("processor", WAVES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_packed_across(processor, side, tmp_path):
    """Halves of bytes that are neighbours along M or N become neighbours along K."""
    halves = np.random.default_rng(4).integers(0, 16, (64, 64)).astype(np.uint8)  # [K, N]
    given = halves[:, ::2] | halves[:, 1::2] << 4
    expected = halves[::2] | halves[1::2] << 4
    order = "#along"
    if side == "left":
        given, expected, order = given.T, expected.T, "#across"
    (m, n), (k, columns) = given.shape, expected.shape
    buffer = f"!ttg.memdesc<{m}x{n}xi8, {order}, #smem, mutable>"
    body = f"""
    %m = ttg.local_alloc %v0 : (tensor<{m}x{n}xi8, #blocked>) -> {buffer}
    %wide = amdg.local_load_packed_tranposed %m : {buffer} -> tensor<{k}x{columns}xi8, #{side}>
""" + back(expected.shape, "i8", f"#{side}")
    out = np.zeros(expected.shape, np.uint8)
    run(processor, [("i8", given, "#blocked")], body, out, "i8", tmp_path)
    assert (out == expected).all()


@pytest.mark.parametrize("processor", WAVES)
def test_stores_from_lds_and_counters(processor, tmp_path):
    x = np.random.default_rng(5).integers(0, 256, (32, 32)).astype(np.uint8)
    mask = x > 99
    # gfx11 has no instruction for stores that LLVM gives.
    stores = "" if processor == "gfx1100" else " store(0)"
    buffer = "!ttg.memdesc<32x32xi8, #along, #smem, mutable>"
    body = f"""
    %m = ttg.local_alloc %v0 : (tensor<32x32xi8, #blocked>) -> {buffer}
    amdg.memory_counter_wait load(0){stores} ds(0)
    %b = tt.splat %p1 : !tt.ptr<i8> -> tensor<32x32x!tt.ptr<i8>, #blocked>
    %q = tt.addptr %b, %a1_at : tensor<32x32x!tt.ptr<i8>, #blocked>, tensor<32x32xi32, #blocked>
    %limit = arith.constant dense<99> : tensor<32x32xi8, #blocked>
    %mask = arith.cmpi ugt, %v0, %limit : tensor<32x32xi8, #blocked>
    %t = amdg.async_copy_local_to_global %m, %q mask %mask : {buffer} -> tensor<32x32x!tt.ptr<i8>, #blocked>
    %w = amdg.async_wait %t {{num_inst = 0 : i32}}
    %result = arith.addi %v1, %v1 : tensor<32x32xi8, #blocked>
"""  # noqa: E501
    before, out = np.full((32, 32), 7, np.uint8), np.zeros((32, 32), np.uint8)
    copied = before.copy()
    run(processor, [("i8", x, "#blocked"), ("i8", copied, "#blocked")], body, out, "i8", tmp_path)
    assert (out == 14).all() and (copied == np.where(mask, x, before)).all()


@pytest.mark.parametrize("processor", [name for name in WAVES if name != "gfx950"])
@pytest.mark.parametrize(("left", "right"), [("e2m1", "e4m3"), ("e5m2", "e2m1"), ("e4m3", "bf16")])
def test_products_with_scales(processor, left, right, monkeypatch):
    """Without an instruction for them, against the same oracle as elsewhere."""
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", f"hip:{processor}")
    kernel = run_product(left, right, b_scaled=right != "bf16")
    assert re.search(r"v_(mfma|wmma)_f32_\w*bf16", kernel.asm["amdgcn"])
