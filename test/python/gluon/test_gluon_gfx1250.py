"""gfx1250: what the front end writes for it, and that the compiler says what it has no code for."""

from __future__ import annotations

import numpy as np
import pytest
from test_gluon_front_end import module_of, text_of

import tile
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.amd.cdna5 import TensorDescriptor
from tile.experimental.gluon.language.amd import AMDWMMALayout, cdna5
from tile.experimental.gluon.language.amd.cdna5 import cluster, mbarrier, tdm

TARGET = "hip:gfx1250"
PADDED = gl.constexpr(gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 64], [1, 0]))
ROWS = gl.constexpr(gl.BlockedLayout([16, 1], [1, 32], [1, 4], [1, 0]))
POINTER = {"ptr": "*fp16", "n": "i32"}


@gluon.jit
def copies(ptr, n):
    desc = tdm.make_tensor_descriptor(ptr, (n, 128), (128, 1), (16, 64), PADDED)
    gl.static_assert(desc.block_shape == (16, 64))
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    bar = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    for i in range(2):
        tdm.async_load(desc, [i * 16, 0], buffer, pred=n > i, mbarrier=bar)
    moved = tdm.update_tensor_descriptor(desc, [16, 64], clamp_bounds=True)
    tdm.async_store(moved, src=buffer)
    tdm.prefetch(desc, [n, 0], n > 3)
    tdm.async_wait(1)


def test_copies():
    text = text_of(copies, POINTER, target=TARGET)
    for line in (
        "amdg.update_tensor_descriptor %0 add_offsets = [",
        "] pred = %",
        "amdg.async_tdm_copy_global_to_local %",
        "amdg.async_tdm_copy_local_to_global %",
        "amdg.tdm_prefetch %0[%arg1, %",
        "amdg.async_tdm_wait  {num = 1 : i32}",
        "!tt.tensordesc<16x64xf16, #shared",
    ):
        assert line in text, line


@gluon.jit
def rows_by_number(ptr, n):
    desc = tdm.make_tensor_descriptor(ptr, (n, 128), (128, 1), (16, 64), PADDED)
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    rows = gl.arange(0, 16, layout=gl.SliceLayout(1, ROWS))
    tdm.async_gather(desc, rows, buffer)
    tdm.async_scatter(desc, rows + 16, buffer)


def test_rows_by_number():
    text = text_of(rows_by_number, POINTER, target=TARGET)
    assert "amdg.async_tdm_gather %0[%2] to %1" in text
    assert "amdg.async_tdm_scatter %0[%" in text


@gluon.jit
def of_the_host(desc):
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    tdm.async_load(desc, [0, 2], buffer)
    gl.static_assert(desc.shape[0].dtype == gl.int32)


def test_a_descriptor_of_the_host():
    array = np.zeros((32, 128), np.float16)
    desc = TensorDescriptor.from_tensor(array, [16, 64], PADDED.value)
    assert desc.shape == [32, 128] and desc.layout == PADDED.value
    text = text_of(
        of_the_host, {"desc": f"tensordesc<fp16[16, 64],{PADDED.value!r}>"}, target=TARGET
    )
    assert "%arg0: !tt.tensordesc<16x64xf16, #shared" in text
    with pytest.raises(TileError, match="lie as a PaddedSharedLayout"):
        TensorDescriptor.from_tensor(array, [16, 64], gl.NVMMASharedLayout(128, 16))


@gluon.jit
def scaled(SCALE: gl.constexpr, M: gl.constexpr):
    ACC: gl.constexpr = AMDWMMALayout(3, True, [[0, 1], [1, 0]], [], [16, 16, 128])
    BYTES: gl.constexpr = AMDWMMALayout(3, True, [[0, 1], [1, 0]], [], [16, 16, 64])
    A: gl.constexpr = gl.DotOperandLayout(0, BYTES, 16)
    B: gl.constexpr = gl.DotOperandLayout(1, BYTES, 16)
    a, b = gl.full([M, 64], 0x11, gl.uint8, A), gl.full([64, 32], 0x22, gl.uint8, B)
    acc = gl.zeros([M, 32], gl.float32, ACC)
    if SCALE == "tensor":
        layout: gl.constexpr = cdna5.get_wmma_scale_layout(A, [M, 4])
        cdna5.wmma_scaled(a, gl.full([M, 4], 2, gl.uint8, layout), "e2m1", b, 3, "e2m1", acc)
    else:
        cdna5.wmma_scaled(a, None, "e2m1", b, None, "e2m1", acc)


@pytest.mark.parametrize("scale,value", [("tensor", 2), ("none", 127)])
@pytest.mark.parametrize("m", [32, 64])
def test_scaled(scale, value, m):
    text = text_of(scaled, constants={"SCALE": scale, "M": m}, target=TARGET)
    assert "lhs = e2m1 rhs = e2m1" in text and f"dense<{value}> : tensor<{m}x4xi8, #linear" in text


@pytest.mark.parametrize("operand,rows", [(0, [[0, 0], [16, 0]]), (1, [[16, 0], [0, 0]])])
@pytest.mark.parametrize("groups", [4, 8])
def test_the_layout_of_scales(operand, rows, groups):
    parent = AMDWMMALayout(3, True, [[0, 1], [1, 0]], [], [16, 16, 64])
    layout = cdna5.get_wmma_scale_layout(gl.DotOperandLayout(operand, parent, 16), [64, groups])
    assert layout.warp_bases == rows
    assert layout.lane_bases == [[1, 0], [2, 0], [4, 0], [8, 0], [0, 0]]
    # All scales are somewhere.
    bases = [*layout.reg_bases, *layout.lane_bases, *layout.warp_bases]
    found = {(0, 0)}
    for row, group in bases:
        found |= {(r ^ row, g ^ group) for r, g in found}
    assert found == {(r, g) for r in range(64) for g in range(groups)}


@gluon.jit
def wrong(ptr, n, KIND: gl.constexpr):
    desc = tdm.make_tensor_descriptor(ptr, (n, 128), (128, 1), (16, 64), PADDED)
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    if KIND == "offsets":
        tdm.async_load(desc, [0], buffer)
    elif KIND == "buffer":
        tdm.async_load(desc, [0, 0], desc)
    elif KIND == "descriptor":
        tdm.async_load(ptr, [0, 0], buffer)
    elif KIND == "layout":
        tdm.make_tensor_descriptor(ptr, (n, 128), (128, 1), (16, 64), gl.NVMMASharedLayout(128, 16))
    elif KIND == "fused":
        tdm.async_load_fused([(desc, buffer, 1)])
    elif KIND == "bounds":
        tdm.update_tensor_descriptor(desc, set_bounds=[1, 1])
    else:
        tdm.async_wait(n)


@pytest.mark.parametrize(
    "kind,message",
    [
        ("offsets", "1 entries for 2 dimensions"),
        ("buffer", "takes a buffer in LDS"),
        ("descriptor", "takes a tensor descriptor"),
        ("layout", "a PaddedSharedLayout or a SwizzledSharedLayout or a PartitionedSharedLayout"),
        ("fused", "tile has no IR for tdm.async_load_fused"),
        ("bounds", "tile has no IR for set_bounds"),
        ("wait", "takes a constant number"),
    ],
)
def test_mistakes(kind, message):
    with pytest.raises(tile.CompilationError, match=message):
        module_of(wrong, POINTER, constants={"KIND": kind}, target=TARGET)


@gluon.jit
def sanitized(OF: gl.constexpr):
    x = gl.full([128], 1.0, gl.float32, gl.BlockedLayout([1], [32], [4], [0]))
    if OF == "embed":
        gl.fpsan.embed(x)
    else:
        gl.fpsan.unembed(x, gl.float32)


@pytest.mark.parametrize("name", ["embed", "unembed"])
def test_integers_of_the_sanitizer(name):
    with pytest.raises(tile.CompilationError, match=f"tile has no code for fpsan.{name}"):
        module_of(sanitized, constants={"OF": name})


@gluon.jit
def waits():
    cluster.arrive()
    cluster.wait()


def compile_for(fn, target, signature=None, **options):
    source = gluon.GluonASTSource(fn, signature or {})
    backend, _, arch = target.partition(":")
    gpu = tile.GPUTarget(backend, int(arch) if backend == "cuda" else arch, 32)
    return tile.compile(source, target=gpu, options=options)


def test_programs_of_several_blocks():
    assert '"ttg.num-ctas" = 2' in text_of(waits, target=TARGET, num_ctas=2)
    with pytest.raises(TileError, match="no code for programs of several blocks on"):
        compile_for(waits, TARGET, num_ctas=2)


def test_copies_have_no_code():
    with pytest.raises(TileError, match=r"amdg\..* cannot be compiled for this target"):
        compile_for(rows_by_number, TARGET, POINTER)


@gluon.jit
def nothing():
    gl.static_assert(gl.num_warps() == 4)


def test_sm_107_has_no_code():
    assert 'ttg.target = "cuda:107"' in text_of(nothing, target="cuda:107")
    with pytest.raises(TileError, match="no code generator for cuda:107"):
        compile_for(nothing, "cuda:107")


@tile.jit
def plain(out):
    tile.language.store(out, 1)


def test_nor_for_kernels_without_layouts():
    source = tile.compiler.ASTSource(plain, {"out": "*i32"})
    with pytest.raises(TileError, match="no code generator for cuda:107"):
        tile.compile(source, target=tile.GPUTarget("cuda", 107, 32))
