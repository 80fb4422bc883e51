"""Layout conversions, executed: every element arrives, whatever the two layouts are."""

from __future__ import annotations

import random

import numpy as np
import pytest

import tile.sim
from tile import _C

DTYPES = {"i8": np.int8, "f16": np.float16, "i32": np.int32, "f32": np.float32, "i64": np.int64}


def random_linear(rng: random.Random, shape: tuple[int, int], warps: int) -> str:
    """Some linear encoding: the bits of the tensor, dealt out to registers, lanes and warps."""
    bits = [[1 << i, 0] for i in range(shape[0].bit_length() - 1)]
    bits += [[0, 1 << i] for i in range(shape[1].bit_length() - 1)]
    warp_bits = warps.bit_length() - 1
    register_bits = max(0, len(bits) - 5 - warp_bits) + rng.randrange(2)
    bits += [[0, 0]] * (register_bits + 5 + warp_bits - len(bits))
    rng.shuffle(bits)
    # Swizzle now and then: a bit that also moves another one.
    if rng.random() < 0.3:
        a, b = rng.sample(range(len(bits)), 2)
        if any(bits[a]) and any(bits[b]):
            bits[a] = [x ^ y for x, y in zip(bits[a], bits[b], strict=True)]
    register, lane, warp = bits[:register_bits], bits[register_bits:][:5], bits[register_bits + 5 :]
    return f"#ttg.linear<{{register = {register}, lane = {lane}, warp = {warp}, block = []}}>"


def blocked(size: list[int], threads: list[int], warps: list[int], order: list[int]) -> str:
    return (
        f"#ttg.blocked<{{sizePerThread = {size}, threadsPerWarp = {threads}, "
        f"warpsPerCTA = {warps}, order = {order}}}>"
    )


def mma(warps: list[int]) -> str:
    return (
        "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
        f"warpsPerCTA = {warps}, instrShape = [16, 8]}}>"
    )


#: The addresses of all elements; `<x>` is the encoding, `<x0>` and `<x1>` its slices.
OFFSETS = """
    %xr = tt.make_range {end = ROWS : i32, start = 0 : i32} : tensor<ROWSxi32, <x1>>
    %xc = tt.make_range {end = COLS : i32, start = 0 : i32} : tensor<COLSxi32, <x0>>
    %xr1 = tt.expand_dims %xr {axis = 1 : i32} : tensor<ROWSxi32, <x1>> -> tensor<ROWSx1xi32, <x>>
    %xc1 = tt.expand_dims %xc {axis = 0 : i32} : tensor<COLSxi32, <x0>> -> tensor<1xCOLSxi32, <x>>
    %xw = arith.constant dense<COLS> : tensor<ROWSx1xi32, <x>>
    %xr2 = arith.muli %xr1, %xw : tensor<ROWSx1xi32, <x>>
    %xr3 = tt.broadcast %xr2 : tensor<ROWSx1xi32, <x>> -> tensor<ROWSxCOLSxi32, <x>>
    %xc3 = tt.broadcast %xc1 : tensor<1xCOLSxi32, <x>> -> tensor<ROWSxCOLSxi32, <x>>
    %xo = arith.addi %xr3, %xc3 : tensor<ROWSxCOLSxi32, <x>>
    %xs = tt.splat %pX : PTR -> tensor<ROWSxCOLSxPTR, <x>>
    %xp = tt.addptr %xs, %xo : tensor<ROWSxCOLSxPTR, <x>>, tensor<ROWSxCOLSxi32, <x>>
"""

KERNEL = """
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = WARPS : i32,
                   ttg.target = "cuda:80", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%pa: PTR {tt.divisibility = 16 : i32},
                    %pb: PTR {tt.divisibility = 16 : i32}) {
    OFFSETS_A
    OFFSETS_B
    %v = tt.load %ap : tensor<ROWSxCOLSxPTR, <a>>
    %u = ttg.convert_layout %v : tensor<ROWSxCOLSxDTYPE, <a>> -> tensor<ROWSxCOLSxDTYPE, <b>>
    tt.store %bp, %u : tensor<ROWSxCOLSxPTR, <b>>
    tt.return
  }
}
"""


def kernel(shape: tuple[int, int], src: str, dst: str, dtype: str, warps: int) -> str:
    """Loads a matrix in layout `src`, converts it, stores it in layout `dst`."""
    text = KERNEL
    for name in "ab":
        offsets = OFFSETS.replace("<x", f"<{name}").replace("%x", f"%{name}")
        text = text.replace(f"OFFSETS_{name.upper()}", offsets.replace("%pX", f"%p{name}"))
    for name, encoding in (("a", src), ("b", dst)):
        text = text.replace(f"<{name}>", encoding)
        for dim in "01":
            text = text.replace(
                f"<{name}{dim}>", f"#ttg.slice<{{dim = {dim}, parent = {encoding}}}>"
            )
    text = text.replace("PTR", f"!tt.ptr<{dtype}>").replace("DTYPE", dtype)
    text = text.replace("ROWS", str(shape[0])).replace("COLS", str(shape[1]))
    return text.replace("WARPS", str(warps))


def convert(shape: tuple[int, int], src: str, dst: str, dtype: str, warps: int) -> tile.sim.Report:
    """Runs the conversion on the simulator with all checks, and compares."""
    context = _C.ir.Context()
    module = _C.ir.Module.parse(kernel(shape, src, dst, dtype, warps), context)
    _C.passes.PassManager.parse("tile-nvidia-llir", context).run(module)
    info = _C.llvm.kernel_info(module)
    options = _C.llvm.PTXOptions()
    options.compute_capability = 80
    ptx = _C.llvm.emit_ptx(_C.llvm.translate_to_llvm(module, options), context, options)
    x = np.random.default_rng(0).integers(-100, 100, shape).astype(DTYPES[dtype])
    y = np.zeros_like(x)
    report = tile.sim.launch(ptx, "k", 1, 32 * warps, [x, y], dynamic_shared=info["shared"])
    np.testing.assert_array_equal(x, y)
    return report


@pytest.mark.parametrize("seed", range(24))
def test_random_layouts(seed: int) -> None:
    rng = random.Random(seed)
    warps = rng.choice([1, 1, 2, 4])
    shape = (1 << rng.randrange(1, 6), 1 << rng.randrange(1, 6))
    dtype = rng.choice(list(DTYPES))
    src, dst = random_linear(rng, shape, warps), random_linear(rng, shape, warps)
    convert(shape, src, dst, dtype, warps)


ROWS = blocked([1, 4], [4, 8], [4, 1], [1, 0])
COLUMNS = blocked([4, 1], [8, 4], [1, 4], [0, 1])


@pytest.mark.parametrize("dtype", list(DTYPES))
@pytest.mark.parametrize(
    ("src", "dst"),
    [(ROWS, COLUMNS), (COLUMNS, ROWS), (mma([2, 2]), ROWS), (COLUMNS, mma([4, 1]))],
    ids=["rows-columns", "columns-rows", "mma-rows", "columns-mma"],
)
def test_no_bank_conflicts(src: str, dst: str, dtype: str) -> None:
    report = convert((64, 64), src, dst, dtype, 4)
    assert report.counters["bank_conflicts"] == 0


def test_exchange_with_neighbours_needs_no_memory() -> None:
    # Two columns per thread against two rows per thread: one shuffle each.
    src = blocked([1, 2], [16, 2], [1, 1], [1, 0])
    dst = blocked([2, 1], [8, 4], [1, 1], [1, 0])
    report = convert((16, 4), src, dst, "f32", 1)
    assert report.counters["shared_requests"] == 0


def test_large_conversion_takes_turns() -> None:
    # 128 KiB of elements through 32 KiB of memory.
    src, dst = blocked([1, 4], [4, 8], [4, 1], [1, 0]), mma([2, 2])
    context = _C.ir.Context()
    module = _C.ir.Module.parse(kernel((128, 256), src, dst, "f32", 4), context)
    _C.passes.PassManager.parse("tile-nvidia-llir", context).run(module)
    assert _C.llvm.kernel_info(module)["shared"] == 32 * 1024
    convert((128, 256), src, dst, "f32", 4)
