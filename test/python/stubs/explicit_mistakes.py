"""What a type checker must mark in programs with explicit layouts: the lines that end with
`# error`."""

from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import cdna3
from tile.experimental.gluon.language.nvidia.hopper import mbarrier, tma, warpgroup_mma


@gluon.jit
def kernel(x_ptr, desc, n, BLOCK: gl.constexpr):
    layout: gl.constexpr = gl.BlockedLayout([1], [32], [4])  # error
    right: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    offsets = gl.arange(0, BLOCK, layout=right)
    x = gl.load(x_ptr + offsets, masked=offsets < n)  # error
    y = gl.convert_layout(x, right, trivial=True)  # error
    buffer = gl.allocate_shared_memory(gl.float16, [BLOCK], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    buffer.write(y)  # error
    buffer.store(x, n)  # error
    buffer.index(0).store(x)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar)  # error
    mbarrier.wait(bar, 0)
    bar.arrive()  # error
    tma.async_load(desc, [0], bar)  # error
    tma.async_load(desc, [0], bar, buffer, multicast=True)
    gl.store(x_ptr, x, cache="x")  # error
    warpgroup_mma(buffer, buffer)  # error
    z = gl.zeros([BLOCK], gl.float31, right)  # error
    gl.sort(x)  # error
    cdna3.buffer_load(x_ptr)  # error
    gl.store(x_ptr + offsets, gl.exp(x) + z + layout)
