"""What the front end writes for GPUs that tile has no code generator for, and texts as Triton
spells them."""

from __future__ import annotations

import itertools

import pytest

import tile
from tile import _C
from tile.backends import GPUTarget, find_backend
from tile.compat.spelling import as_triton, respell
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import cdna5
from tile.experimental.gluon.language.amd.cdna5 import make_partitioned_dot_layouts
from tile.experimental.gluon.language.nvidia import blackwell, hopper
from tile.experimental.gluon.language.nvidia.blackwell import clc, mbarrier, tma

BLOCKED = gl.constexpr(gl.BlockedLayout([1, 64], [32, 1], [4, 1], [0, 1]))
TMEM = gl.constexpr(blackwell.TensorMemoryLayout([128, 128], 1))
SCALES = gl.constexpr(blackwell.TensorMemoryScalesLayout())
SHARED = gl.constexpr(gl.NVMMASharedLayout(128, 16))
BYTES = gl.constexpr(gl.NVMMASharedLayout(128, 8))


def module_of(fn, signature=None, target="cuda:100", constants=None, **options):
    backend, _, arch = target.partition(":")
    gpu = GPUTarget(backend, int(arch) if backend == "cuda" else arch, 32)
    parsed = find_backend(gpu).parse_options(options)
    constants = constants or {}
    signature = {**(signature or {}), **dict.fromkeys(constants, "constexpr")}
    return GluonSource(fn, signature, constants).make_ir(parsed, _C.ir.Context())


GluonSource = gluon.GluonASTSource


def text_of(fn, signature=None, **options) -> str:
    """The text, which is read back to the same one."""
    module = module_of(fn, signature, **options)
    text = as_triton(module)
    assert as_triton(_C.ir.Module.parse(text, _C.ir.Context())) == text
    return text


@gluon.jit
def tensor_memory():
    a = gl.full([128, 128], 0, gl.float32, BLOCKED)
    buffer = blackwell.allocate_tensor_memory(gl.float32, [128, 128], TMEM, a)
    buffer.store(buffer.load(BLOCKED), gl.sum(gl.sum(a, 1), 0) > 0)
    buffers = blackwell.allocate_tensor_memory(gl.float32, [2, 128, 128], TMEM)
    x, largest = buffers.index(1).load_max()
    gl.static_assert(largest.shape == [128])
    gl.static_assert(x.type.layout == buffer.get_reg_layout())
    buffers.index(0).store(x)
    as_halves = buffer.reinterpret(gl.float16, layout=blackwell.TensorMemoryLayout([128, 128], 2))
    gl.static_assert(as_halves.dtype == gl.float16)


def test_tensor_memory():
    text = text_of(tensor_memory)
    for what in ("tmem_alloc", "tmem_load", "tmem_store", "redOp = #ttng.redOp<max>"):
        assert what in text
    assert "ttnvgpu" not in text


@gluon.jit
def dots():
    a = gl.allocate_shared_memory(gl.float16, [128, 64], SHARED)
    b = gl.allocate_shared_memory(gl.float16, [64, 128], SHARED)
    acc = blackwell.allocate_tensor_memory(gl.float32, [128, 128], TMEM)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=blackwell.tcgen05_mma_barrier_count([a, b], False, False))
    blackwell.tcgen05_mma(a, b, acc, use_acc=False)
    blackwell.tcgen05_mma(a, b, acc, mbarriers=[bar], mbarrier_preds=[True])
    p = gl.allocate_shared_memory(gl.float8e5, [128, 128], BYTES)
    scales = blackwell.allocate_tensor_memory(gl.int8, [128, 4], SCALES)
    blackwell.tcgen05_mma_scaled(p, p.permute([1, 0]), acc, scales, scales, "e5m2", "e5m2")
    blackwell.tcgen05_commit(bar)
    mbarrier.wait(bar, 0)


def test_dots():
    text = text_of(dots)
    assert text.count("ttng.tc_gen5_mma ") == 2 and text.count("{is_async}") == 1
    assert "lhs = e5m2 rhs = e5m2" in text and "ttng.tc_gen5_commit" in text


@gluon.jit
def rows_and_launches(desc, x_ptr):
    rows = gl.arange(
        0, 32, layout=gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0]))
    )
    buffer = gl.allocate_shared_memory(desc.dtype, [32, 64], desc.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    tma.async_gather(desc, rows, 8, bar, buffer)
    tma.async_scatter(desc, rows, 8, buffer)
    answer = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    clc.try_cancel(answer, bar)
    found = clc.load_result(answer)
    if found.is_canceled():
        gl.store(x_ptr, found.program_id(1))


ROWS_SIGNATURE = {
    "desc": f"tensordesc<fp16[1, 64],{gl.NVMMASharedLayout(128, 16)!r}>",
    "x_ptr": "*i32",
}


def test_rows_and_launches():
    layout = gl.NVMMASharedLayout.get_default_for([1, 64], gl.float16)
    assert layout.rank == 2
    text = text_of(rows_and_launches, ROWS_SIGNATURE)
    for name in ("async_tma_gather", "async_tma_scatter", "clc_try_cancel", "clc_get_program_id"):
        assert name in text


def test_what_has_no_code_generator_says_so():
    """One sentence with its place, and no crash."""
    source = GluonSource(rows_and_launches, ROWS_SIGNATURE)
    with pytest.raises(tile.CompilationError) as error:
        tile.compile(source, target=GPUTarget("cuda", 90, 32))
    assert "cannot be compiled for this target" in str(error.value)
    assert "test_gluon_front_end.py" in str(error.value)


@gluon.jit
def wrong_layout():
    blackwell.allocate_tensor_memory(gl.float32, [128, 128], SHARED)


@gluon.jit
def wrong_rows():
    blackwell.allocate_tensor_memory(
        gl.float32, [128, 128], blackwell.TensorMemoryLayout([96, 128], 1)
    )


@gluon.jit
def scales_are_not_read():
    blackwell.allocate_tensor_memory(gl.int8, [128, 4], SCALES).load(BLOCKED)


@gluon.jit
def unknown_barriers():
    a = gl.allocate_shared_memory(gl.float16, [128, 128], SHARED)
    acc = blackwell.allocate_tensor_memory(gl.float32, [128, 128], TMEM)
    blackwell.tcgen05_mma(a, a, acc, mbarriers=[a])


@pytest.mark.parametrize(
    "fn,message",
    [
        (wrong_layout, "a buffer has a layout of tensor memory"),
        (wrong_rows, "powers of two"),
        (scales_are_not_read, "scales in tensor memory cannot be read"),
        (unknown_barriers, "takes a barrier"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)
def test_mistakes(fn, message):
    with pytest.raises(tile.CompilationError, match=message):
        module_of(fn)


# Layouts.


def covered(layout, rows: int, columns: int) -> bool:
    """Whether the instructions of a WMMA layout reach each tile once."""
    bases = [*(layout.reg_bases or []), *layout.warp_bases]
    found = set()
    for bits in itertools.product((0, 1), repeat=len(bases)):
        place = [0, 0]
        for bit, basis in zip(bits, bases, strict=True):
            place = [p ^ (step if bit else 0) for p, step in zip(place, basis, strict=True)]
        found.add(tuple(place))
    return found == set(itertools.product(range(rows), range(columns)))


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("block", [(64, 64), (128, 256), (256, 128)])
@pytest.mark.parametrize("groups", [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_partitions_of_lds(warps, transposed, block, groups):
    (m, n), instr = block, [32, 16, 128]
    slices = [extent // count for extent, count in zip(block, groups, strict=True)]
    extents = instr[1::-1] if transposed else instr[:2]
    tiles = [part // extent for part, extent in zip(slices, extents, strict=True)]
    a = gl.PaddedSharedLayout.with_identity_for([[128, 8]], [m, 64], [1, 0])
    b = gl.PaddedSharedLayout.with_identity_for([[n, 8]], [64, n], [1, 0])
    how = {"slice_m": slices[0], "slice_n": slices[1], "transposed": transposed}
    if tiles[0] < 4 or tiles[1] < 2:
        with pytest.raises(tile.TileError, match="at least 4 x 2 instructions"):
            make_partitioned_dot_layouts(m, n, a, b, warps, instr, **how)
        return
    left, right, acc = make_partitioned_dot_layouts(m, n, a, b, warps, instr, **how)
    assert left.shape == [m, 64] and right.shape == [64, n]
    assert (left.num_groups, right.num_groups) == groups
    assert covered(acc, *tiles)
    # Two warps that differ in the first bit read from both halves of both operands.
    assert acc.warp_bases[0] == [tiles[0] // 2, tiles[1] // 2]


@pytest.mark.parametrize("index", [0, 1])
@pytest.mark.parametrize("dtype,width", [(gl.float16, 8), (gl.float8e4nv, 16)])
@pytest.mark.parametrize("instr", [16, 32])
@pytest.mark.parametrize("rows,k", [(128, 64), (64, 64), (128, 128), (256, 32), (32, 256)])
def test_padded_layouts_have_no_conflicts(index, dtype, width, instr, rows, k):
    depth = {16: 32, 32: 16}[instr] * 16 // dtype.primitive_bitwidth
    mfma = gl.amd.AMDMFMALayout(4, [instr, instr, depth], True, [2, 2])
    layout = gl.DotOperandLayout(index, mfma, width)
    shape = [k, rows] if index else [rows, k]
    padded = gl.amd.cdna4.compute_efficient_padded_shared_layout(layout, shape, dtype)
    places = {tuple(b) for b in padded.offset_bases}
    assert len(places) == len(padded.offset_bases) == (rows * k).bit_length() - 1
    plain = gl.SwizzledSharedLayout(1, 1, 1, [0, 1] if index else [1, 0])
    tensor = gl.distributed_type(dtype, shape, layout)
    count = [
        gl.bank_conflicts(tensor, gl.shared_memory_descriptor_type(dtype, shape, of, shape))
        for of in (padded, plain)
    ]
    assert count[0] <= count[1]


def test_no_padded_layout_is_known():
    mfma = gl.amd.AMDMFMALayout(4, [16, 16, 32], True, [2, 2])
    find = gl.amd.cdna4.compute_efficient_padded_shared_layout
    assert find(gl.DotOperandLayout(0, mfma, 2), [128, 64], gl.float16) is None
    assert find(gl.DotOperandLayout(0, mfma, 8), [128, 64], gl.float32) is None
    assert find(gl.DotOperandLayout(0, mfma, 8), [128, 64], gl.float16, False) is None


# Texts.


@gluon.jit
def barriers(desc):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    mbarrier.expect(bar, desc.nbytes_per_cta)
    tma.async_load(desc, [0, 0], bar, buffer)
    mbarrier.wait(bar, 0)
    gl.barrier()
    tma.async_store(desc, [0, 0], buffer)
    hopper.tma.store_wait(0)
    hopper.tma.store_wait(0, read_only=False)


def test_texts_as_triton_spells_them():
    signature = {"desc": f"tensordesc<fp16[64, 64],{gl.NVMMASharedLayout(128, 16)!r}>"}
    text = as_triton(module_of(barriers, signature, target="cuda:90"))
    assert "%arg0: !tt.tensordesc<64x64xf16, #shared>" in text
    assert "ttng.async_tma_store_wait {pendings = 0 : i32, read_only}" in text
    assert "ttng.async_tma_store_wait {pendings = 0 : i32}\n" in text
    assert "ttg.barrier" in text and "loc(" not in text and "%buffer" not in text


def test_facts_of_parameters_that_triton_does_not_know():
    ours = "tt.max = 1073741823 : i32, tt.non_negative = 1 : i32"
    aligned = "tt.divisibility = 16 : i32"
    block = "%arg0: !tt.tensordesc<16x64xf16, #shared>"
    line = (
        f"  tt.func public @k({block} {{{aligned}, tt.zero_padded = 1 : i32}}, "
        f"%arg1: i32 {{{ours}}}, %arg2: !tt.ptr<f32> {{{aligned}}}, "
        f"%arg3: i32 {{{aligned}, {ours}}}) attributes {{a = 1}} {{"
    )
    assert respell(line) == (
        f"  tt.func public @k({block}, %arg1: i32, %arg2: !tt.ptr<f32> {{{aligned}}}, "
        f"%arg3: i32 {{{aligned}}}) attributes {{a = 1}} {{"
    )


def test_modules_have_such_texts_under_the_switch():
    from tile.compat.triton._C.libtriton import ir

    module = module_of(tensor_memory)
    assert isinstance(module, ir.module)
    assert module.str_nodebug() == as_triton(module)


def test_warps_of_layouts():
    from tile.compat.additions.experimental.gluon.language._layouts import (
        bases_per_dim,
        warps_per_cta,
    )

    blocked = gl.BlockedLayout([1, 4], [8, 4], [2, 4], [1, 0])
    for layout in (blocked, gl.SliceLayout(1, blocked), gl.DotOperandLayout(0, blocked, 0)):
        assert warps_per_cta(layout, [64, 64]) == [2, 4]
    linear = gl.to_linear_layout(blocked, [64, 64])
    assert warps_per_cta(linear, [64, 64]) == [2, 4]
    assert warps_per_cta(gl.amd.AMDWMMALayout(1, True, [[0, 1], [0, 2]]), [64, 64]) == [1, 4]
    assert bases_per_dim([[32, 0], [0, 2], [0, 0]], 2) == [2, 2]
    assert bases_per_dim([[32, 0], [0, 2], [0, 0]], 2, skip_broadcast=False) == [2, 4]


@gluon.jit
def copies_of_gfx1250(x_ptr, y_ptr, n):
    L: gl.constexpr = gl.BlockedLayout([4], [32], [4], [0])
    i = gl.arange(0, 512, layout=L)
    buffer = gl.allocate_shared_memory(gl.float32, [512], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    bar = gl.allocate_shared_memory(gl.int64, [1], cdna5.mbarrier.MBarrierLayout())
    cdna5.mbarrier.init(bar, count=1)
    cdna5.async_copy.global_to_shared(buffer, x_ptr + i, i < n, other=0.0)
    cdna5.async_copy.mbarrier_arrive(bar)
    phase = cdna5.mbarrier.arrive(bar)
    cdna5.mbarrier.wait(bar, phase)
    cdna5.async_copy.shared_to_global(y_ptr + i, buffer, i < n)
    cdna5.async_copy.commit_group()
    cdna5.async_copy.wait_group(0)


def test_copies_of_gfx1250():
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32"}
    text = text_of(copies_of_gfx1250, signature, target="hip:gfx1250")
    for name in (
        "init_barrier", "arrive_barrier", "wait_barrier", "async_copy_local_to_global",
        "async_copy_mbarrier_arrive",
    ):  # fmt: skip
        assert f"amdg.{name}" in text
