"""Convolution on sm_90 as a matmul whose left operand nobody puts together: the copy engine reads
the pixels that a place of the filter needs. A ring of buffers is filled ahead of the dots."""

from __future__ import annotations

import itertools

import numpy as np

import tile
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import (
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col


@gluon.jit
def start_copies(x, w, sx, sw, ready, image, row, column, step, C, S: gl.constexpr, pred):
    """Has the channels of pixels copied, and the weights for them, at one place of the filter."""
    parts = gl.cdiv(C, x.block_shape[1])
    place, channel = step // parts, step % parts * x.block_shape[1]
    mbarrier.expect(ready, x.nbytes_per_cta + w.nbytes_per_cta, pred)
    tma.async_load_im2col(
        x, [image, row, column, channel], [place // S, place % S], ready, sx, pred
    )
    tma.async_load(w, [place, channel, gl.program_id(1) * w.block_shape[2]], ready, sw, pred)


@gluon.jit
def convolution_kernel(
    x, w, y_ptr, N, H, W, C, K, R: gl.constexpr, S: gl.constexpr, PAD: gl.constexpr,
    STAGES: gl.constexpr, MMA: gl.constexpr,
):  # fmt: skip
    PIXELS: gl.constexpr = x.block_shape[0]
    BC: gl.constexpr = x.block_shape[1]
    BK: gl.constexpr = w.block_shape[2]
    heights, widths = H + 2 * PAD - R + 1, W + 2 * PAD - S + 1
    first = gl.program_id(0) * PIXELS
    # The pixel under the first place of the filter, for the first pixel of the result.
    image, rest = first // (heights * widths), first % (heights * widths)
    row, column = rest // widths - PAD, rest % widths - PAD
    sx = gl.allocate_shared_memory(x.dtype, [STAGES, PIXELS, BC], x.layout)
    sw = gl.allocate_shared_memory(w.dtype, [STAGES, 1, BC, BK], w.layout)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
    steps = R * S * gl.cdiv(C, BC)
    for s in gl.static_range(STAGES - 1):
        start_copies(
            x, w, sx.index(s), sw.index(s), ready.index(s), image, row, column, s, C, S, s < steps
        )
    acc = warpgroup_mma_init(gl.zeros([PIXELS, BK], gl.float32, MMA))
    for k in range(steps):
        stage = k % STAGES
        mbarrier.wait(ready.index(stage), (k // STAGES) & 1)
        acc = warpgroup_mma(sx.index(stage), sw.index(stage).reshape([BC, BK]), acc, is_async=True)
        # All dots are done: the buffers of the last but one can be filled again.
        acc = warpgroup_mma_init(warpgroup_mma_wait(0, deps=(acc,)))
        ahead = k + STAGES - 1
        slot = ahead % STAGES
        start_copies(
            x, w, sx.index(slot), sw.index(slot), ready.index(slot), image, row, column, ahead, C,
            S, ahead < steps,
        )  # fmt: skip
    total = warpgroup_mma_wait(0, deps=(acc,))
    for s in gl.static_range(STAGES):
        mbarrier.invalidate(ready.index(s))
    pixels = first + gl.arange(0, PIXELS, layout=gl.SliceLayout(1, MMA))[:, None]
    channels = gl.program_id(1) * BK + gl.arange(0, BK, layout=gl.SliceLayout(0, MMA))[None, :]
    mask = (pixels < N * heights * widths) & (channels < K)
    gl.store(y_ptr + pixels * K + channels, total.to(y_ptr.dtype.element_ty), mask)


def arguments(x, w, y, pad, block, stages):
    """The arguments of a launch: x is [images, height, width, channels], w is [height, width,
    channels, channels of the result]."""
    (n, h, width, c), (r, s, _, k) = x.shape, w.shape
    pixels, bc, bk = block
    x_desc = TensorDescriptorIm2Col.from_tensor(
        x, [pixels, bc], gl.NVMMASharedLayout.get_default_for([pixels, bc], gl.float16),
        pixel_box_lower_corner=[-pad, -pad], pixel_box_upper_corner=[pad - r + 1, pad - s + 1],
    )  # fmt: skip
    w_desc = TensorDescriptor.from_tensor(
        w.reshape(r * s, c, k), [1, bc, bk],
        gl.NVMMASharedLayout.get_default_for([1, bc, bk], gl.float16),
    )  # fmt: skip
    mma = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, bk, 16])
    return x_desc, w_desc, y, n, h, width, c, k, r, s, pad, stages, mma


def convolve(x, w, y, pad: int = 1, block=(128, 64, 64), stages: int = 3):
    """A convolution of fp16 with steps of one; fills `y`, [images, height, width, channels]."""
    pixels, _, bk = block
    grid = (tile.cdiv(y.shape[0] * y.shape[1] * y.shape[2], pixels), tile.cdiv(y.shape[3], bk))
    return convolution_kernel[grid](*arguments(x, w, y, pad, block, stages))


def reference(x, w, pad: int):
    (_, h, width, _), (r, s, _, _) = x.shape, w.shape
    padded = np.pad(x.astype(np.float32), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    heights, widths = h + 2 * pad - r + 1, width + 2 * pad - s + 1
    return sum(
        padded[:, i : i + heights, j : j + widths] @ w[i, j].astype(np.float32)
        for i, j in itertools.product(range(r), range(s))
    )


def main(device) -> None:
    rng = np.random.default_rng(12)
    for shape, filters, pad in (
        ((2, 8, 7, 64), (3, 3, 64, 64), 1),
        ((1, 9, 9, 96), (3, 2, 96, 40), 0),
    ):
        x, w = (rng.standard_normal(s).astype(np.float16) for s in (shape, filters))
        expected = reference(x, w, pad)
        y = device.empty_like(expected)
        kernel = convolve(device.put(x), device.put(w), y, pad)
        device.check("convolution", kernel, device.get(y), expected)


if __name__ == "__main__":
    from demo import run_examples

    run_examples(main)
