"""A kernel for tests of what libraries do with kernels."""

from __future__ import annotations

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compiler import ASTSource


@tile.jit
def scale_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * factor, mask=offsets < n)


SIGNATURE = {
    "x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "factor": "fp32", "BLOCK": "constexpr",
}  # fmt: skip


def compiled(**attrs):
    source = ASTSource(scale_kernel, SIGNATURE, {"BLOCK": 64}, {(0,): [["tt.divisibility", 16]]})
    return tile.compile(source, target=GPUTarget("cuda", 90, 32), stop_at="ptx")
