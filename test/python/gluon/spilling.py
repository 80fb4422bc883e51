"""A program that spills more than 4 KB for each thread: LLVM has no room for an offset
(`spill-offsets` among its faults), so the kernel is refused. Random programs found it."""

from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import AMDWMMALayout
from tile.experimental.gluon.language.amd.cdna4 import async_copy as lds


@gluon.jit
def places(M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, LAYOUT))
    return rows[:, None] * N + columns[None, :]


@gluon.jit
def kernel(x, o0, o1, n, trips):
    L1: gl.constexpr = gl.DistributedLinearLayout(
        reg_bases=[[1, 0], [0, 8], [16, 0], [4, 0], [0, 16]],
        lane_bases=[[0, 2], [8, 0], [0, 4], [32, 0], [0, 1]],
        warp_bases=[[2, 0]],
        block_bases=[],
        shape=[64, 32],
    )
    t2 = gl.load(x + 0 + places(64, 32, L1))
    gl.store(o0 + places(64, 32, t2.type.layout), t2)
    L9: gl.constexpr = gl.PaddedSharedLayout(
        interval_padding_pairs=[[16, 4]],
        offset_bases=[
            [1, 0],
            [2, 0],
            [4, 0],
            [8, 0],
            [16, 0],
            [32, 0],
            [0, 1],
            [0, 2],
            [0, 4],
            [0, 8],
            [0, 16],
        ],
        cga_layout=[],
        shape=[64, 32],
    )
    b10 = gl.allocate_shared_memory(gl.int64, [2, 64, 32], L9).index(1 + n - 1000)
    L11: gl.constexpr = AMDWMMALayout(
        version=1,
        transposed=True,
        warp_bases=[[0, 1]],
        reg_bases=[],
        instr_shape=[16, 16, 16],
        cga_layout=[],
        rank=2,
    )
    b10.store(gl.load(x + 16 + places(64, 32, L11)))
    L13: gl.constexpr = gl.DistributedLinearLayout(
        reg_bases=[[32, 0], [0, 1], [4, 0], [8, 0], [0, 2]],
        lane_bases=[[2, 0], [1, 0], [0, 8], [0, 16], [16, 0]],
        warp_bases=[[0, 4]],
        block_bases=[],
        shape=[64, 32],
    )
    lds.global_load_to_shared(b10, x + 16 + places(64, 32, L13))
    lds.commit_group()
    lds.wait_group(1)
    lds.commit_group()
    lds.wait_group(0)
    L19: gl.constexpr = gl.SliceLayout(
        dim=2,
        parent=gl.BlockedLayout(
            size_per_thread=[4, 2, 1],
            threads_per_warp=[1, 2, 16],
            warps_per_cta=[1, 1, 2],
            order=[0, 1, 2],
            cga_layout=[],
        ),
    )
    t20 = b10.load(L19)
    gl.store(o1 + places(64, 32, t20.type.layout), t20)
