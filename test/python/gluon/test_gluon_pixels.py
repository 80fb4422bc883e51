"""Copies of pixels: the im2col mode of the copy engine."""

from __future__ import annotations

import random

import numpy as np
import pytest
from addresses import pointers
from reference import poisoned, sim_only, tf32
from reference import random as values

import tile
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col

pytestmark = [sim_only, pytest.mark.parametrize("target", ["cuda:90"], indirect=True)]


def pixels_of(x, start, offsets, count, channels, lower, upper, steps, fill):
    """What a copy reads, pixel by pixel."""
    inner = range(1, x.ndim - 1)
    last = {d: x.shape[d] - 1 + upper[d - 1] for d in inner}
    at = list(start[:-1])
    rows = []
    for _ in range(count):
        place = [at[0], *(at[d] + offsets[d - 1] for d in inner)]
        row = np.full(channels, fill, x.dtype)
        if all(0 <= p < n for p, n in zip(place, x.shape[:-1], strict=True)):
            for i, c in enumerate(range(start[-1], start[-1] + channels)):
                if 0 <= c < x.shape[-1]:
                    row[i] = x[(*place, c)]
        rows.append(row)
        for d in reversed(inner):
            at[d] += steps[d]
            if at[d] <= last[d]:
                break
            at[d] = lower[d - 1]
        else:
            at[0] += 1
    return np.stack(rows)


@gluon.jit
def copy_pixels(desc, out_ptr, start, offsets, LAYOUT: gl.constexpr, MULTICAST: gl.constexpr):
    P: gl.constexpr = desc.block_shape[0]
    C: gl.constexpr = desc.block_shape[1]
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.expect(bar, desc.nbytes_per_cta)
    tma.async_load_im2col(desc, start, offsets, bar, buffer, multicast=MULTICAST)
    mbarrier.wait(bar, 0)
    mbarrier.invalidate(bar)
    gl.store(pointers(out_ptr, P, C, LAYOUT), buffer.load(LAYOUT))


def draw(seed):
    """A tensor, a descriptor's arguments, and a copy."""
    rng = random.Random(f"{seed} pixels")
    rank = rng.choice((3, 4, 4, 5))
    dtype = rng.choice(("fp16", "fp32", "u8", "i32"))
    size = {"fp16": 2, "fp32": 4, "u8": 1, "i32": 4}[dtype]
    shape = [rng.randint(1, 3), *(rng.randint(1, 9) for _ in range(rank - 2))]
    shape.append(16 // size * rng.randint(1, 9))
    swizzle = rng.choice((0, 32, 64, 128))
    pixels = rng.choice((8, 16, 32, 64, 128))
    channels = max(swizzle, 16) // size * rng.choice((1, 2, 4) if pixels < 128 else (1,))
    lower = [rng.randint(-3, 2) for _ in range(rank - 2)]
    upper = [rng.randint(max(-3, low - n + 1), 3)
             for n, low in zip(shape[1:-1], lower, strict=True)]  # fmt: skip
    steps = [1, *(rng.choice((1, 1, 2, 3)) for _ in range(rank - 2)), 1]
    start = [rng.randint(0, shape[0] - 1)]
    start += [rng.randint(low, n - 1 + up)
              for n, low, up in zip(shape[1:-1], lower, upper, strict=True)]  # fmt: skip
    start.append(16 // size * rng.randint(0, shape[-1] // (16 // size)))
    offsets = [rng.randint(0, 3) for _ in range(rank - 2)]
    return dtype, size, shape, [pixels, channels], swizzle, lower, upper, steps, start, offsets


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_random_copy(seed, interpreted, target, monkeypatch):
    if interpreted:
        monkeypatch.setenv("TILE_INTERPRET", "1")
    dtype, size, shape, block, swizzle, lower, upper, steps, start, offsets = draw(seed)
    nan = dtype.startswith("fp") and seed % 2
    rounds = dtype == "fp32" and seed % 3 > 0
    x = values(tuple(shape), dtype, seed)
    out = poisoned(tuple(block), dtype)
    layout = gl.NVMMASharedLayout(swizzle, 8 * size, rank=2)
    desc = TensorDescriptorIm2Col.from_tensor(
        x, block, layout, padding="nan" if nan else "zero", element_strides=steps,
        pixel_box_lower_corner=lower, pixel_box_upper_corner=upper, round_f32_to_tf32=rounds,
    )  # fmt: skip
    registers = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
    kernel = copy_pixels[(1,)](desc, out, tuple(start), tuple(offsets), registers, False)
    fill = np.nan if nan else 0
    expected = pixels_of(x, start, offsets, *block, lower, upper, steps, fill)
    np.testing.assert_array_equal(out, tf32(expected) if rounds else expected)
    if not interpreted:
        assert f"{len(shape)}d.shared::cluster.global.im2col." in kernel.asm["ptx"]


@pytest.mark.parametrize("num_ctas", [2, 4])
@pytest.mark.parametrize("step,multicast", [([0, 0], True), ([0, 0], False), ([0, 1], False)])
@pytest.mark.parametrize("channels", [32, 64, 128])
def test_copies_of_several_blocks(channels, step, multicast, num_ctas, target):
    """Blocks share the channels, or divide them."""
    bases = [[s << i for s in step] for i in range(num_ctas.bit_length() - 1)]
    x, out = values((2, 6, 5, 256), "fp16", 5), poisoned((32, channels), "fp16")
    layout = gl.NVMMASharedLayout(0 if any(step) else 32, 16, rank=2, cga_layout=bases)
    desc = TensorDescriptorIm2Col.from_tensor(
        x, [32, channels], layout, pixel_box_lower_corner=[-1, -1], pixel_box_upper_corner=[-1, 0]
    )
    registers = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0], cga_layout=bases)
    kernel = copy_pixels[(1,)](
        desc, out, (0, 2, -1, 64), (1, 2), registers, multicast, num_ctas=num_ctas
    )
    expected = pixels_of(
        x, (0, 2, -1, 64), (1, 2), 32, channels, [-1, -1], [-1, 0], [1, 1, 1, 1], 0
    )
    np.testing.assert_array_equal(out, expected)
    found = ".im2col.mbarrier::complete_tx::bytes.multicast::cluster" in kernel.asm["ptx"]
    assert found == multicast


def test_no_pixels_for_some_blocks(target):
    """The walk from pixel to pixel cannot begin in the middle."""
    layout = gl.NVMMASharedLayout(32, 16, rank=2, cga_layout=[[1, 0]])
    desc = TensorDescriptorIm2Col.from_tensor(values((1, 4, 4, 16), "fp16", 1), [16, 16], layout)
    registers = gl.BlockedLayout([1, 1], [2, 16], [4, 1], [1, 0], cga_layout=[[1, 0]])
    with pytest.raises(TileError, match="each block of a cluster gets all pixels"):
        copy_pixels[(1,)](
            desc, poisoned((16, 16), "fp16"), (0, 0, 0, 0), (0, 0), registers, False, num_ctas=2
        )


@gluon.jit
def wrong(desc, WAY: gl.constexpr):
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    if WAY == "offsets":
        tma.async_load_im2col(desc, [0, 0, 0, 0], [0], bar, buffer)
    elif WAY == "coordinates":
        tma.async_load_im2col(desc, [0, 0, 0], [0, 0], bar, buffer)
    elif WAY == "load":
        tma.async_load(desc, [0, 0], bar, buffer)
    elif WAY == "store":
        tma.async_store(desc, [0, 0], buffer)
    else:
        tma.async_load_im2col(desc, [0, 0], [], bar, buffer)


@pytest.mark.parametrize(
    "way,message",
    [
        ("offsets", "1 offsets for the 2 dimensions between"),
        ("coordinates", "3 coordinates for 4 dimensions"),
        ("load", "made for copies of pixels: async_load_im2col takes it"),
        ("store", "made for copies of pixels"),
        ("blocks", "made for copies of blocks: async_load takes it"),
    ],
)
def test_message(way, message, target):
    x, layout = values((1, 4, 4, 16), "fp16", 1), gl.NVMMASharedLayout(32, 16, rank=2)
    desc = TensorDescriptorIm2Col.from_tensor(x, [16, 16], layout)
    if way == "blocks":
        desc = TensorDescriptor.from_tensor(x.reshape(16, 16), [16, 16], layout)
    with pytest.raises(TileError, match=message):
        wrong[(1,)](desc, way)


@pytest.mark.parametrize(
    "shape,block,more,message",
    [
        ((4, 16), [16, 16], {}, "3 to 5 dimensions, not 2"),
        ((1, 4, 4, 16), [1, 4, 4, 16], {}, r"is \[pixels, channels\]"),
        ((1, 4, 4, 16), [2048, 16], {}, "1 to 1024 pixels, not 2048"),
        ((1, 4, 4, 16), [16, 16], {"element_strides": [1, 9, 1, 1]}, "from 1 to 8"),
        ((1, 4, 4, 16), [16, 16], {"pixel_box_lower_corner": [-129, 0]}, "from -128 to 127"),
        ((1, 4, 4, 16), [16, 16], {"pixel_box_upper_corner": [0]}, "has 2 numbers"),
        ((1, 4, 4, 16), [16, 16], {"pixel_box_lower_corner": [4, 0]}, "is empty"),
    ],
)
def test_descriptors_of_the_host(shape, block, more, message, target):
    layout = gl.NVMMASharedLayout(32, 16, rank=2)
    with pytest.raises(TileError, match=message):
        TensorDescriptorIm2Col.from_tensor(poisoned(shape, "fp16"), block, layout, **more)


#: As Triton prints such a program once its layouts are decided: the descriptor is still one of
#: pixels.
FOREIGN = """
#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#shared1 = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32, "ttng.two-ctas" = false} {
  tt.func public @foreign(%desc: !ttng.tensordesc_im2col<32x64xf16, #shared>, %out: !tt.ptr<f16> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %true = arith.constant true
    %c0_i32 = arith.constant 0 : i32
    %c1_i16 = arith.constant 1 : i16
    %buffer = ttg.local_alloc : () -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    %bar = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.init_barrier %bar, 1 : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.barrier_expect %bar, 4096, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.async_tma_copy_global_to_local %desc[%c0_i32, %c0_i32, %c0_i32, %c0_i32] offsets = [%c1_i16, %c1_i16] %buffer, %bar, %true : !ttng.tensordesc_im2col<32x64xf16, #shared>, !ttg.memdesc<1xi64, #shared1, #smem, mutable> -> !ttg.memdesc<32x64xf16, #shared, #smem, mutable>
    ttng.wait_barrier %bar, %c0_i32, %true : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    ttng.inval_barrier %bar : !ttg.memdesc<1xi64, #shared1, #smem, mutable>
    %rows = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>>
    %columns = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %0 = tt.expand_dims %rows {axis = 1 : i32} : tensor<32xi32, #ttg.slice<{dim = 1, parent = #blocked}>> -> tensor<32x1xi32, #blocked>
    %cst = arith.constant dense<64> : tensor<32x1xi32, #blocked>
    %1 = arith.muli %0, %cst : tensor<32x1xi32, #blocked>
    %2 = tt.expand_dims %columns {axis = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %3 = tt.broadcast %1 : tensor<32x1xi32, #blocked> -> tensor<32x64xi32, #blocked>
    %4 = tt.broadcast %2 : tensor<1x64xi32, #blocked> -> tensor<32x64xi32, #blocked>
    %5 = arith.addi %3, %4 : tensor<32x64xi32, #blocked>
    %6 = tt.splat %out : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>, #blocked>
    %7 = tt.addptr %6, %5 : tensor<32x64x!tt.ptr<f16>, #blocked>, tensor<32x64xi32, #blocked>
    %8 = ttg.local_load %buffer : !ttg.memdesc<32x64xf16, #shared, #smem, mutable> -> tensor<32x64xf16, #blocked>
    tt.store %7, %8 : tensor<32x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}
"""  # noqa: E501


def test_text_of_others(target, tmp_path):
    """The kernel takes the address of a map, as it does for other descriptors in such a text."""
    path = tmp_path / "foreign.ttgir"
    path.write_text(FOREIGN)
    kernel = tile.compile(str(path), target=tile.GPUTarget("cuda", 90, 32))
    x, out = values((2, 5, 6, 64), "fp16", 1), poisoned((32, 64), "fp16")
    lower, upper = [-1, 0], [-2, -1]
    bytes_of_map = tile.sim.tensormap.im2col_tensor_map(
        x.ctypes.data, "f16", x.shape[::-1], [s for s in x.strides[::-1][1:]], lower[::-1],
        upper[::-1], 64, 32, swizzle=128,
    )  # fmt: skip
    memory = np.zeros(256, np.uint8)
    tensor_map = memory[-memory.ctypes.data % 64 :][:128]
    tensor_map[:] = np.frombuffer(bytes_of_map, np.uint8)
    shared = kernel.metadata.shared
    report = tile.sim.launch(
        kernel.asm["ptx"], "foreign", 1, 128, [tensor_map, out], allocations=[x],
        dynamic_shared=shared,
    )  # fmt: skip
    assert report.ok
    expected = pixels_of(x, [0, 0, 0, 0], [1, 1], 32, 64, lower, upper, [1] * 4, 0)
    np.testing.assert_array_equal(out, expected)
