"""Sums of dots that a loop resets, moves from variable to variable, or uses late: nothing reads
or moves a sum before its dot is done."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned

import tile
import tile.language as tl

#: Type of the operands, of the sum.
KINDS = {
    "fp16": (np.float16, "fp32"),
    "fp16 in fp16": (np.float16, "fp16"),
    "tf32": (np.float32, "fp32"),
    "fp8": (ml_dtypes.float8_e5m2, "fp32"),
    "i8": (np.int8, "i32"),
}
ACCUMULATORS = {"fp32": tl.float32, "fp16": tl.float16, "i32": tl.int32}
M, N, K = 64, 64, 32


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")


def operands(kind: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Small whole numbers: all sums are exact."""
    generator = np.random.default_rng(count)
    dtype = KINDS[kind][0]
    return (
        generator.integers(-2, 3, (count, M, K)).astype(dtype),
        generator.integers(-2, 3, (count, K, N)).astype(dtype),
    )


def products(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    return [x.astype(np.float64) @ y.astype(np.float64) for x, y in zip(a, b, strict=True)]


@tile.jit
def load_a(a_ptr, t, M: tl.constexpr, K: tl.constexpr):
    return tl.load(a_ptr + t * M * K + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])


@tile.jit
def load_b(b_ptr, t, N: tl.constexpr, K: tl.constexpr):
    return tl.load(b_ptr + t * N * K + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])


@tile.jit
def write(out_ptr, t, x, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + t * M * N + at, x)


@tile.jit
def reset(
    a_ptr, b_ptr, out_ptr, last_ptr, steps, EVERY: tl.constexpr, START: tl.constexpr,
    STAGES: tl.constexpr, SPECIALIZE: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    K: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """The sum starts again after every so many iterations, and is used after the last one."""
    acc = tl.full([M, N], START, ACC)
    for t in tl.range(0, steps, num_stages=STAGES, warp_specialize=SPECIALIZE):
        acc = tl.dot(load_a(a_ptr, t, M, K), load_b(b_ptr, t, N, K), acc, out_dtype=ACC)
        if t % EVERY == EVERY - 1:
            write(out_ptr, t, acc, M, N)
            acc = tl.full([M, N], 0, ACC)
    write(last_ptr, 0, acc, M, N)


@pytest.mark.sweep
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize(
    ("kind", "steps", "every"),
    [*((kind, 5, 2) for kind in KINDS), *(("fp16", *n) for n in ((4, 2), (1, 1), (0, 2), (7, 3)))],
)
def test_a_sum_that_starts_again(kind, specialize, steps, every):
    a, b = operands(kind, max(steps, 1))
    acc = KINDS[kind][1]
    for start, stages in ((0, 3), (0, 1), (1, 3)):
        out, last = np.zeros((max(steps, 1), M, N), poisoned(1, acc).dtype), poisoned((M, N), acc)
        reset[(1,)](
            a, b, out, last, steps, every, start, stages, specialize, M, N, K,
            ACCUMULATORS[acc], num_warps=4,
        )  # fmt: skip
        expected, total = np.zeros(out.shape), np.full((M, N), float(start))
        for t, product in enumerate(products(a, b)[:steps]):
            total = total + product
            if t % every == every - 1:
                expected[t], total = total, np.zeros((M, N))
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(last, total)


@tile.jit
def reset_to(
    a_ptr, b_ptr, out_ptr, last_ptr, steps, HOW: tl.constexpr, STAGES: tl.constexpr,
    SPECIALIZE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """As `reset`, but the sum goes on from something else than zero."""
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    bias = (at % 7).to(ACC)
    acc = tl.full([M, N], 0, ACC)
    for t in tl.range(0, steps, num_stages=STAGES, warp_specialize=SPECIALIZE):
        acc = tl.dot(load_a(a_ptr, t, M, K), load_b(b_ptr, t, N, K), acc, out_dtype=ACC)
        if t % 2 == 1:
            if HOW == "scaled":
                acc = acc * 2
                write(out_ptr, t, acc, M, N)
            elif HOW == "scaled after":
                write(out_ptr, t, acc, M, N)
                acc = acc * 2 + 1
            elif HOW == "bias":
                write(out_ptr, t, acc, M, N)
                acc = bias
            else:
                acc = bias * t
    write(last_ptr, 0, acc, M, N)


@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *((kind, "scaled") for kind in KINDS),
        *(("fp16", how) for how in ("scaled after", "bias", "computed")),
    ],
)
def test_a_sum_that_goes_on_from_something_else(kind, specialize, how):
    steps = 5
    a, b = operands(kind, steps)
    acc = KINDS[kind][1]
    bias = (np.arange(M * N) % 7).reshape(M, N)
    for stages in (1, 3):
        out, last = np.zeros((steps, M, N), poisoned(1, acc).dtype), poisoned((M, N), acc)
        reset_to[(1,)](
            a, b, out, last, steps, how, stages, specialize, M, N, K,
            ACCUMULATORS[acc], num_warps=4,
        )  # fmt: skip
        expected, total = np.zeros(out.shape), np.zeros((M, N))
        for t, product in enumerate(products(a, b)):
            total = total + product
            if t % 2 == 1:
                if how == "scaled":
                    expected[t] = total = total * 2
                elif how == "scaled after":
                    expected[t], total = total, total * 2 + 1
                elif how == "bias":
                    expected[t], total = total, bias
                else:
                    total = bias * t
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(last, total)


#: What happens to x, y and z in an iteration, by the product of a and b.
ROTATIONS = {
    "swap": "x, y = y * -1, tl.dot(a, b, x, out_dtype=ACC)",
    "swap as it is": "x, y = y, tl.dot(a, b, x, out_dtype=ACC)",
    "rotate": "x, y, z = y + 1, z + 1, tl.dot(a, b, x, out_dtype=ACC)",
    "rotate as it is": "x, y, z = y, z, tl.dot(a, b, x, out_dtype=ACC)",
    "scaled": "s = tl.dot(a, b, x, out_dtype=ACC); x = y * -1; y = s",
    "kept": "y = x + 1; x = tl.dot(a, b, x, out_dtype=ACC)",
    "kept as it is": "y = x; x = tl.dot(a, b, x, out_dtype=ACC)",
    "crossed": "x, y = tl.dot(a, b, y, out_dtype=ACC), tl.dot(a, b, x, out_dtype=ACC)",
    "both": "x = tl.dot(a, b, x, out_dtype=ACC); y = tl.dot(a, b, y, out_dtype=ACC); x, y = y, x",
    "chain": "x = tl.dot(a, b, x, out_dtype=ACC); y = y - x; x = tl.dot(a, b, x, out_dtype=ACC)",
    "fork": "y = tl.dot(a, b, x, out_dtype=ACC); x = tl.dot(a, b, y, out_dtype=ACC)",
    "turned": "x = tl.dot(a, b, tl.trans(x), out_dtype=ACC)",
    "late": "s = tl.dot(a, b, y, out_dtype=ACC); z = z + y; y = x * -1; x = s",
    "late as it is": "s = tl.dot(a, b, y, out_dtype=ACC); z = z + y; y = x; x = s",
    "sum": "y = y + x; x = tl.dot(a, b, x * 1, out_dtype=ACC); z = z - y",
    "chosen": "s = tl.dot(a, b, x, out_dtype=ACC); x = tl.where(t % 2 == 0, s, y); y = s",
}
SOURCE = """
import tile
import tile.language as tl
from test_products_in_flight import load_a, load_b, write

@tile.jit
def kernel(a_ptr, b_ptr, out_ptr, steps, STAGES: tl.constexpr, SPECIALIZE: tl.constexpr,
           WHILE: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
           ACC: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = (at % 5).to(ACC)
    y = (at % 3).to(ACC)
    z = tl.zeros([M, N], ACC)
    if WHILE:
        t = 0
        while t < steps:
            a = load_a(a_ptr, t, M, K)
            b = load_b(b_ptr, t, N, K)
            {body}
            t += 1
    else:
        for t in tl.range(0, steps, num_stages=STAGES, warp_specialize=SPECIALIZE):
            a = load_a(a_ptr, t, M, K)
            b = load_b(b_ptr, t, N, K)
            {body}
    write(out_ptr, 0, x, M, N)
    write(out_ptr, 1, y, M, N)
    write(out_ptr, 2, z, M, N)
"""


class Reference:
    """The names of the language that rotations use, by NumPy."""

    dot = staticmethod(lambda a, b, acc, out_dtype: acc + a @ b)
    trans = staticmethod(np.transpose)
    where = staticmethod(np.where)


def rotated(how: str, a: np.ndarray, b: np.ndarray, steps: int) -> np.ndarray:
    at = np.arange(M * N).reshape(M, N)
    state = {"tl": Reference, "ACC": None, "x": at % 5 * 1.0, "y": at % 3 * 1.0, "z": at * 0.0}
    for t in range(steps):
        state |= {"a": a[t].astype(np.float64), "b": b[t].astype(np.float64), "t": t}
        exec(ROTATIONS[how], state)
    return np.stack([state["x"], state["y"], state["z"]])


#: Stages, specialised, a `while` loop, warps.
LOOPS = [(1, False, False, 4), (3, False, False, 4), (3, True, False, 8), (1, False, True, 4)]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *(("fp16", how) for how in ROTATIONS),
        *((kind, how) for kind in KINDS if kind != "fp16" for how in ("swap", "scaled", "crossed")),
    ],
)
def test_sums_that_change_places(kind, how, tmp_path, monkeypatch):
    path = tmp_path / "rotation.py"
    path.write_text(SOURCE.format(body=ROTATIONS[how]))
    namespace: dict = {"__name__": "rotation"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    # Sums of sums grow fast: few iterations keep them exact.
    steps = 3
    a, b = operands(kind, steps)
    acc = KINDS[kind][1]
    for stages, specialize, is_while, warps in LOOPS:
        out = poisoned((3, M, N), acc)
        namespace["kernel"][(1,)](
            a, b, out, steps, stages, specialize, is_while, M, N, K,
            ACCUMULATORS[acc], num_warps=warps,
        )  # fmt: skip
        np.testing.assert_array_equal(out, rotated(how, a, b, steps))


UNFINISHED = """
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1],
    instrShape = [16, 64, 16]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!buf = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>
!sum = tensor<64x64xf32, #mma>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90",
    "ttg.threads-per-warp" = 32 : i32} {
tt.func public @k(%p: !tt.ptr<f32>) {
  %at = tt.splat %p : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>, #mma>
  %zero = arith.constant dense<0.0> : !sum
  %a = ttg.local_alloc : () -> !buf
  %d = ttnvgpu.warp_group_dot %a, %a, %zero {inputPrecision = 0 : i32, isAsync = true}
      : !buf * !ttg.memdesc<64x64xf16, #shared, #smem, mutable> -> !sum
  %w = ttnvgpu.warp_group_dot_wait %d {pendings = 0 : i32} : !sum
  tt.store %at, SUM : tensor<64x64x!tt.ptr<f32>, #mma>
  tt.return
}
}
"""


def test_what_reads_a_sum_before_its_wait_is_refused(tmp_path):
    path = tmp_path / "k.ttgir"
    target = tile.GPUTarget("cuda", 90, 32)
    path.write_text(UNFINISHED.replace("SUM", "%w"))
    assert "wgmma" in tile.compile(str(path), target=target).asm["ptx"]
    path.write_text(UNFINISHED.replace("SUM", "%d"))
    with pytest.raises(tile.TileError, match="reads operand #1, the sum of a product that may"):
        tile.compile(str(path), target=target)
