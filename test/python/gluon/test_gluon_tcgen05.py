"""Dots of tcgen05 in explicit programs: shapes, types and layouts at random, against NumPy. All
numbers are small integers, so that sums are exact."""

from __future__ import annotations

import random
import sys

import ml_dtypes
import numpy as np
import pytest
from addresses import pointers
from reference import sim_only

import tile
from tile.backends import backends
from tile.backends.compiler import GPUTarget
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import (
    TensorMemoryLayout,
    TensorMemoryScalesLayout,
    allocate_tensor_memory,
    cluster,
    fence_async_shared,
    mbarrier,
    tcgen05_commit,
    tcgen05_mma,
    tcgen05_mma_barrier_count,
    tcgen05_mma_scaled,
    tma,
)
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

tools = sys.modules[backends()["nvidia"].__module__].tools
pytestmark = [
    sim_only,
    pytest.mark.parametrize("target", ["cuda:100"], indirect=True),
]

#: The type of A and B in kernels and in NumPy, bits of an element, the sums it has.
TYPES = {
    "f16": (gl.float16, np.float16, 16, ["f32", "f16"]),
    "bf16": (gl.bfloat16, ml_dtypes.bfloat16, 16, ["f32"]),
    "tf32": (gl.float32, np.float32, 32, ["f32"]),
    "e4m3": (gl.float8e4nv, ml_dtypes.float8_e4m3fn, 8, ["f32", "f16"]),
    "e5m2": (gl.float8e5, ml_dtypes.float8_e5m2, 8, ["f32"]),
    "s8": (gl.int8, np.int8, 8, ["i32"]),
    "u8": (gl.uint8, np.uint8, 8, ["i32"]),
}
#: Both operands of a dot are of one of these types, or of two of a group.
GROUPS = [("e4m3", "e5m2"), ("s8", "u8")]
SUMS = {
    "f32": (gl.float32, np.float32),
    "f16": (gl.float16, np.float16),
    "i32": (gl.int32, np.int32),
}
GRID = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


@gluon.jit
def product(
    a_ptr, b_ptr, c_ptr, first_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr,
    A: gl.constexpr, B: gl.constexpr, D: gl.constexpr, ACC: gl.constexpr, ADD: gl.constexpr,
    LEFT: gl.constexpr, OUT: gl.constexpr, GRID: gl.constexpr,
):  # fmt: skip
    """c = a @ b, or what `first` has in addition."""
    dtype: gl.constexpr = a_ptr.dtype.element_ty
    # With a layout of registers: A goes to tensor memory.
    if LEFT is None:
        sa = gl.allocate_shared_memory(dtype, [M, K], A, gl.load(pointers(a_ptr, M, K, GRID)))
    else:
        sa = allocate_tensor_memory(dtype, [M, K], A)
        sa.store(gl.load(pointers(a_ptr, M, K, LEFT)))
    b = gl.load(pointers(b_ptr, K, N, GRID))
    sb = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [K, N], B, b)
    acc = allocate_tensor_memory(D, [M, N], ACC)
    if ADD:
        acc.store(gl.load(pointers(first_ptr, M, N, OUT)))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared()
    tcgen05_mma(sa, sb, acc, use_acc=ADD)
    tcgen05_commit(done)
    mbarrier.wait(done, 0)
    mbarrier.invalidate(done)
    gl.store(pointers(c_ptr, M, N, OUT), acc.load(OUT))


def integers(rng, shape, dtype):
    if np.dtype(dtype).itemsize == 1 and np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    return rng.integers(-3, 4, shape).astype(dtype)


def given(array, dtype):
    return tile.reinterpret(array.view(np.uint8), dtype) if array.itemsize == 1 else array


def registers_of(dtype, shape, layout):
    """The layout of registers of the first instruction that loads the buffer."""
    from tile.experimental.gluon.language.nvidia import blackwell
    from tile.experimental.gluon.language.nvidia.blackwell._layouts import register_layout

    ty = blackwell.tensor_memory_descriptor_type(dtype, shape, layout, shape)
    for variant in ("32x32b", "16x32bx2", "16x64b", "16x128b", "16x256b"):
        try:
            return register_layout(ty, 4, variant)
        except tile.TileError as error:
            refused = error
    raise refused


def shared_layout(choose, rows, columns, bits, may_turn):
    """Any layout that a buffer of this shape may have."""
    turned = may_turn and choose.random() < 0.5
    length = (rows if turned else columns) * bits // 8
    widths = [w for w in (0, 32, 64, 128) if length >= max(w, 16)]
    return gl.NVMMASharedLayout(choose.choice(widths), bits, 2, turned)


def draw(seed):
    """A dot: its types, its shape, its layouts."""
    choose = random.Random(seed)
    left = choose.choice(list(TYPES))
    right = choose.choice(next((group for group in GROUPS if left in group), (left,)))
    bits = TYPES[left][2]
    d = choose.choice(TYPES[left][3])
    m = choose.choice([64, 128, 128, 256])
    block_m = 64 if m == 64 else choose.choice([64, 128, 128])
    n = choose.choice([16, 32, 64, 128])
    block_n = choose.choice([s for s in (16, 32, 64, 128) if s <= n])
    k = choose.choice([1, 2, 4]) * 256 // bits
    # Elements of 32 bits lie along K.
    a = shared_layout(choose, m, k, bits, bits != 32)
    if bits == 32:
        widths = [w for w in (0, 32, 64, 128) if k * 4 >= max(w, 16)]
        b = gl.NVMMASharedLayout(choose.choice(widths), bits, 2, True)
    else:
        b = shared_layout(choose, k, n, bits, True)
    if bits == 8 and b.transposed is False and block_n < 16:
        block_n = 16
    # A lies in blocks of as many rows as the sum.
    in_tensor_memory = choose.random() < 0.3
    if in_tensor_memory:
        a = TensorMemoryLayout([block_m, choose.choice([k, max(k // 2, 256 // bits)])], 1)
    acc = TensorMemoryLayout([block_m, block_n], 32 // (16 if d == "f16" else 32))
    return left, right, d, (m, n, k), a, b, acc, in_tensor_memory, choose.random() < 0.5


def check(seed, **options):
    left, right, d, (m, n, k), a_layout, b_layout, acc, in_tensor_memory, adds = draw(seed)
    rng = np.random.default_rng(seed)
    a, b = integers(rng, (m, k), TYPES[left][1]), integers(rng, (k, n), TYPES[right][1])
    first = integers(rng, (m, n), SUMS[d][1])
    expected = a.astype(np.float64) @ b.astype(np.float64)
    if adds:
        expected += first.astype(np.float64)
    c = np.empty((m, n), SUMS[d][1])
    c.view(np.uint8)[...] = 0xA5
    out = registers_of(SUMS[d][0], [m, n], acc)
    lanes = registers_of(TYPES[left][0], [m, k], a_layout) if in_tensor_memory else None
    report = product.simulate(
        given(a, TYPES[left][0]), given(b, TYPES[right][0]), c, first, m, n, k, a_layout, b_layout,
        SUMS[d][0], acc, adds, lanes, out, GRID, grid=(1,), **options,
    )  # fmt: skip
    assert report.ok, report.messages
    if seed % 3 == 0 and tools.ptxas_path() is not None:
        tools.run_ptxas(report.ptx, 100, None)
    np.testing.assert_array_equal(c.astype(np.float64), expected)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(60))
def test_random_dots(seed, target):
    check(seed, schedule_seed=seed)


@pytest.mark.parametrize("seed", range(100, 108))
def test_dots_with_every_fence(seed, target):
    """The manual asks for `tcgen05.fence` where hardware may not need it."""
    check(seed, assumptions=["tensor-fences"], schedule_seed=seed)


@pytest.mark.parametrize("in_tensor_memory", [False, True])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("right", ["s8", "u8"])
@pytest.mark.parametrize("left", ["s8", "u8"])
def test_signs_of_bytes(left, right, turned, in_tensor_memory, target):
    """Each pair of signs, with the numbers next to where they differ."""
    m, n, k = 128, 32, 64
    rng = np.random.default_rng(1)
    edges = np.array([0, 1, 127, 128, 254, 255], np.uint8)
    a, b = (
        rng.choice(edges, shape).view(TYPES[kind][1])
        for kind, shape in ((left, (m, k)), (right, (k, n)))
    )
    acc = TensorMemoryLayout([m, n], 1)
    a_layout = gl.NVMMASharedLayout(64, 8, 2)
    lanes = None
    if in_tensor_memory:
        a_layout = TensorMemoryLayout([m, k], 1)
        lanes = registers_of(TYPES[left][0], [m, k], a_layout)
    c = np.full((m, n), -1, np.int32)
    report = product.simulate(
        given(a, TYPES[left][0]), given(b, TYPES[right][0]), c, c, m, n, k, a_layout,
        gl.NVMMASharedLayout(32, 8, 2, turned), gl.int32, acc, False, lanes,
        registers_of(gl.int32, [m, n], acc), GRID, grid=(1,),
    )  # fmt: skip
    assert report.ok, report.messages
    np.testing.assert_array_equal(c, a.astype(np.int64) @ b.astype(np.int64))


SCALE_BITS = {"e8m0": (gl.uint8, 32), "e4m3": (gl.float8e4nv, 16)}
ELEMENTS = {"e4m3": gl.float8e4nv, "e5m2": gl.float8e5, "e2m1": gl.uint8}


@gluon.jit
def scaled_product(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr,
    AK: gl.constexpr, BK: gl.constexpr, GROUPS: gl.constexpr, A: gl.constexpr, B: gl.constexpr,
    ACC: gl.constexpr, A_SCALES: gl.constexpr, B_SCALES: gl.constexpr, OUT: gl.constexpr,
    GRID: gl.constexpr, LEFT: gl.constexpr, RIGHT: gl.constexpr, PARTS: gl.constexpr,
    DIM: gl.constexpr, HALF: gl.constexpr,
):  # fmt: skip
    """Dots of PARTS pieces along K, one after the other; B is given along K. The scales are all of
    a buffer, or half of one that is twice as large in dimension DIM."""
    acc = allocate_tensor_memory(gl.float32, [M, N], ACC)
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    sa = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [M, AK], A)
    sb = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [N, BK], B)
    dtype: gl.constexpr = a_scale_ptr.dtype.element_ty
    ROWS: gl.constexpr = 2 if DIM == 0 else 1
    COLUMNS: gl.constexpr = 2 if DIM == 1 else 1
    layout: gl.constexpr = TensorMemoryScalesLayout()
    a_scales = allocate_tensor_memory(dtype, [M * ROWS, GROUPS * COLUMNS], layout)
    b_scales = allocate_tensor_memory(dtype, [N * ROWS, GROUPS * COLUMNS], layout)
    if DIM == 0:
        a_scales, b_scales = a_scales.slice(HALF * M, M, 0), b_scales.slice(HALF * N, N, 0)
    if DIM == 1:
        a_scales = a_scales.slice(HALF * GROUPS, GROUPS)
        b_scales = b_scales.slice(HALF * GROUPS, GROUPS)
    for part in range(PARTS):
        sa.store(gl.load(pointers(a_ptr + part * M * AK, M, AK, GRID)))
        sb.store(gl.load(pointers(b_ptr + part * N * BK, N, BK, GRID)))
        a_scales.store(gl.load(pointers(a_scale_ptr + part * M * GROUPS, M, GROUPS, A_SCALES)))
        b_scales.store(gl.load(pointers(b_scale_ptr + part * N * GROUPS, N, GROUPS, B_SCALES)))
        fence_async_shared()
        tcgen05_mma_scaled(
            sa, sb.permute([1, 0]), acc, a_scales, b_scales, LEFT, RIGHT, use_acc=part > 0,
            mbarriers=[done],
        )  # fmt: skip
        mbarrier.wait(done, part & 1)
        gl.barrier()
    mbarrier.invalidate(done)
    gl.store(pointers(c_ptr, M, N, OUT), acc.load(OUT))


def draw_scaled(seed):
    """Formats, the type of scales, a shape, and how many pieces of it there are along K."""
    choose = random.Random(seed)
    left, right = (choose.choice(["e4m3", "e5m2", "e2m1"]) for _ in range(2))
    packed = left == right == "e2m1" and choose.random() < 0.7
    scale = "e4m3" if packed and choose.random() < 0.5 else "e8m0"
    m, n = choose.choice([128, 256]), choose.choice([16, 32, 64, 128])
    k = choose.choice([128, 256])
    return left, right, packed, scale, (m, n, k), choose.choice([1, 2, 3]), choose


def values_of(code, format):
    if format == "e2m1":
        code = np.stack([code & 15, code >> 4], -1).reshape(*code.shape[:-1], -1)
        return np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])[code & 7] * np.where(code & 8, -1, 1)
    kind = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}[format]
    return code.view(kind).astype(np.float64)


def scales_layout(rows, groups):
    registers = [[0, 1 << bit] for bit in range(groups.bit_length() - 1)]
    registers += [[32 << bit, 0] for bit in range((rows // 32).bit_length() - 1)]
    lanes = [[1 << bit if 1 << bit < rows else 0, 0] for bit in range(5)]
    return gl.DistributedLinearLayout(registers, lanes, [[0, 0], [0, 0]], [], [rows, groups])


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(40))
def test_random_scaled_dots(seed, target):
    left, right, packed, scale, (m, n, k), parts, choose = draw_scaled(seed)
    rng = np.random.default_rng(seed)
    scale_type, per_scale = SCALE_BITS[scale]
    operands, layouts, values, scales, stored = [], [], [], [], []
    for rows, format in ((m, left), (n, right)):
        is_fp4 = format == "e2m1"
        columns = k // 2 if is_fp4 else k
        padded = is_fp4 and not packed
        # What is padded has one layout.
        width = 128 if padded else choose.choice([w for w in (0, 32, 64, 128) if columns >= w])
        layouts.append(gl.NVMMASharedLayout(width, 8, 2, False, padded))
        codes = rng.integers(0, 256, (parts, rows, columns), np.uint8)
        if not is_fp4:
            codes &= 0xBF
        given_scales = (
            rng.integers(122, 132, (parts, rows, k // per_scale), np.uint8)
            if scale == "e8m0"
            else rng.integers(40, 80, (parts, rows, k // per_scale), np.uint8)
        )
        factor = (
            2.0 ** (given_scales.astype(int) - 127)
            if scale == "e8m0"
            else values_of(given_scales, "e4m3")
        )
        operands.append(given(codes, ELEMENTS[format]) if not is_fp4 else codes)
        scales.append(given_scales if scale == "e8m0" else given(given_scales, scale_type))
        values.append(values_of(codes, format) * np.repeat(factor, per_scale, -1))
        stored.append(columns)
    expected = sum(x @ y.T for x, y in zip(*values, strict=True))
    c = np.full((m, n), np.nan, np.float32)
    block_n = choose.choice([s for s in (16, 32, 64, 128) if s <= n and (s > 16 or s == n)])
    acc = TensorMemoryLayout([128, block_n], 1)
    groups = k // per_scale
    dim = (None, 0 if n >= 32 else None, 1)[seed % 3]
    report = scaled_product.simulate(
        *operands, *scales, c, m, n, *stored, groups, *layouts, acc, scales_layout(m, groups),
        scales_layout(n, groups), registers_of(gl.float32, [m, n], acc), GRID, left, right, parts,
        dim, seed // 3 % 2, grid=(1,), schedule_seed=seed,
    )  # fmt: skip
    assert report.ok, report.messages
    error = np.linalg.norm(c - expected) / np.linalg.norm(expected)
    assert error < 1e-5, error


# Blocks of a cluster that share an operand.


@gluon.jit
def start_step(a, b, sa, sb, ready, i, j, k, pred, SHARED: gl.constexpr):
    mbarrier.expect(ready, a.nbytes_per_cta + b.nbytes_per_cta, pred)
    tma.async_load(a, [i * a.block_shape[0], k * a.block_shape[1]], ready, sa, pred)
    tma.async_load(
        b, [k * b.block_shape[0], j * b.block_shape[1]], ready, sb, pred, multicast=SHARED
    )


@gluon.jit
def cluster_product(
    a, b, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, STAGES: gl.constexpr,
    ACC: gl.constexpr, OUT: gl.constexpr, COMMIT: gl.constexpr, MULTICAST: gl.constexpr,
):  # fmt: skip
    """One tile by a cluster. A slot is filled again when all that share its operands have
    multiplied; a barrier hears of all of them."""
    i, j = gl.program_id(0), gl.program_id(1)
    steps = gl.cdiv(K, a.block_shape[1])
    sa = gl.allocate_shared_memory(a.dtype, [STAGES, *a.block_shape], a.layout)
    sb = gl.allocate_shared_memory(b.dtype, [STAGES, *b.block_shape], b.layout)
    acc = allocate_tensor_memory(gl.float32, [M, N], ACC)
    ready = mbarrier.allocate_mbarrier(batch=STAGES)
    empty = mbarrier.allocate_mbarrier(batch=STAGES)
    COUNT: gl.constexpr = tcgen05_mma_barrier_count(
        [sa.index(0), sb.index(0)], MULTICAST, ACC.two_ctas
    )
    for s in gl.static_range(STAGES):
        mbarrier.init(ready.index(s), count=1)
        mbarrier.init(empty.index(s), count=COUNT)
    cluster.barrier()
    for s in gl.static_range(STAGES - 1):
        start_step(a, b, sa.index(s), sb.index(s), ready.index(s), i, j, s, s < steps, True)
    for k in range(steps):
        slot = k % STAGES
        mbarrier.wait(ready.index(slot), (k // STAGES) & 1)
        gl.barrier()
        if COMMIT:
            tcgen05_mma(sa.index(slot), sb.index(slot), acc, use_acc=k > 0)
            tcgen05_commit(
                empty.index(slot), descs=(sa.index(slot), sb.index(slot)) if MULTICAST else ()
            )
        else:
            tcgen05_mma(
                sa.index(slot), sb.index(slot), acc, use_acc=k > 0, multicast=MULTICAST,
                mbarriers=[empty.index(slot)],
            )  # fmt: skip
        ahead = k + STAGES - 1
        free = ahead % STAGES
        mbarrier.wait(empty.index(free), ((k - 1) // STAGES) & 1, k > 0)
        start_step(
            a, b, sa.index(free), sb.index(free), ready.index(free), i, j, ahead, ahead < steps,
            True,
        )  # fmt: skip
    last = steps - 1
    mbarrier.wait(empty.index(last % STAGES), (last // STAGES) & 1)
    # Another block must not end while this one still tells it of its dot.
    cluster.barrier()
    rows = i * M + gl.arange(0, M, layout=gl.SliceLayout(1, OUT))
    columns = j * N + gl.arange(0, N, layout=gl.SliceLayout(0, OUT))
    gl.store(c_ptr + rows[:, None] * (N * gl.num_programs(1)) + columns[None, :], acc.load(OUT))


def run_cluster(commit, multicast, seed):
    m, n, k, bk = 256, 64, 160, 32
    rng = np.random.default_rng(seed)
    a, b = integers(rng, (m, k), np.float16), integers(rng, (k, n), np.float16)
    c = np.full((m, n), np.nan, np.float32)
    descs = [
        TensorDescriptor.from_tensor(
            tensor, shape,
            gl.NVMMASharedLayout.get_default_for(shape, gl.float16, cga_layout=[basis]),
        )
        for tensor, shape, basis in ((a, [m, bk], [1, 0]), (b, [bk, n], [0, 0]))
    ]  # fmt: skip
    acc = TensorMemoryLayout([128, n], 1, cga_layout=[[1, 0]])
    registers = [[0, 1 << bit] for bit in range(n.bit_length() - 1)]
    lanes = [[1 << bit, 0] for bit in range(5)]
    out = gl.DistributedLinearLayout(registers, lanes, [[32, 0], [64, 0]], [[128, 0]], [m, n])
    report = cluster_product.simulate(
        *descs, c, m, n, k, 2, acc, out, commit, multicast, grid=(1, 1), num_ctas=2,
        schedule_seed=seed,
    )  # fmt: skip
    assert report.ok, report.messages
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("commit", [False, True])
def test_blocks_that_share_an_operand_hear_of_each_other(commit, seed, target):
    run_cluster(commit, True, seed)


@pytest.mark.parametrize("commit", [False, True])
def test_who_does_not_hear_overwrites_what_is_read(commit, target):
    found = set()
    for seed in range(8):
        try:
            run_cluster(commit, False, seed)
        except tile.sim.SimulationError as error:
            found |= {finding["kind"] for finding in error.report.findings}
        except AssertionError:
            found.add("wrong")
    assert found & {"async-race", "race", "mbarrier-misuse"}, found


# What the machine cannot do.


@gluon.jit
def dot_of(
    M: gl.constexpr, N: gl.constexpr, K: gl.constexpr, DTYPE: gl.constexpr, D: gl.constexpr,
    A: gl.constexpr, B: gl.constexpr, ACC: gl.constexpr,
):  # fmt: skip
    a = gl.allocate_shared_memory(DTYPE, [M, K], A)
    b = gl.allocate_shared_memory(DTYPE, [K, N], B)
    acc = allocate_tensor_memory(D, [M, N], ACC)
    tcgen05_mma(a, b, acc, use_acc=False)


WIDE = gl.NVMMASharedLayout(128, 32, 2)
REFUSED = {
    "words along N": (
        100, (128, 64, 32, gl.float32, gl.float32, WIDE, WIDE, TensorMemoryLayout([128, 64], 1)),
        "no matrix descriptor fits the layout of b",
    ),
    "integers": (
        103,
        (
            128, 64, 64, gl.int8, gl.int32, gl.NVMMASharedLayout(64, 8, 2),
            gl.NVMMASharedLayout(64, 8, 2), TensorMemoryLayout([128, 64], 1),
        ),
        "the target has no tcgen05.mma for integers",
    ),
    "packed sums": (
        100,
        (
            128, 64, 64, gl.float16, gl.float16, gl.NVMMASharedLayout(128, 16, 2),
            gl.NVMMASharedLayout(128, 16, 2), TensorMemoryLayout([128, 64], 1),
        ),
        "colStride must be 2",
    ),
    "no tensor memory": (
        120,
        (
            128, 64, 64, gl.float16, gl.float32, gl.NVMMASharedLayout(128, 16, 2),
            gl.NVMMASharedLayout(128, 16, 2), TensorMemoryLayout([128, 64], 1),
        ),
        "the target has no tensor memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_the_machine_cannot_do_is_said_once_with_its_place(what, target):
    arch, given_values, message = REFUSED[what]
    names = dot_of.arg_names
    source = gluon.GluonASTSource(
        dot_of, dict.fromkeys(names, "constexpr"),
        {(i,): value for i, value in enumerate(given_values)},
    )  # fmt: skip
    with pytest.raises(tile.CompilationError) as error:
        tile.compile(source, target=GPUTarget("cuda", arch, 32))
    assert message in str(error.value)
    assert str(error.value).count("error:") <= 1
    if what != "no tensor memory":
        assert "tcgen05_mma(a, b, acc, use_acc=False)" in str(error.value)


# Two blocks that multiply scaled operands together.


@gluon.jit
def scaled_pair(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr,
    K: gl.constexpr, A: gl.constexpr, B: gl.constexpr, ACC: gl.constexpr, A_SCALES: gl.constexpr,
    B_SCALES: gl.constexpr, A_OUT: gl.constexpr, B_OUT: gl.constexpr, OUT: gl.constexpr,
    GRID: gl.constexpr,
):  # fmt: skip
    """B is given along K. Each block has the scales of its rows of A, and all of those of B."""
    dtype: gl.constexpr = a_ptr.dtype.element_ty
    sa = gl.allocate_shared_memory(dtype, [M, K], A, gl.load(pointers(a_ptr, M, K, GRID)))
    sb = gl.allocate_shared_memory(dtype, [N, K], B, gl.load(pointers(b_ptr, N, K, GRID)))
    acc = allocate_tensor_memory(gl.float32, [M, N], ACC)
    a_scales = allocate_tensor_memory(gl.uint8, [M, K // 32], A_SCALES)
    b_scales = allocate_tensor_memory(gl.uint8, [N, K // 32], B_SCALES)
    a_scales.store(gl.load(pointers(a_scale_ptr, M, K // 32, A_OUT)))
    b_scales.store(gl.load(pointers(b_scale_ptr, N, K // 32, B_OUT)))
    done = mbarrier.allocate_mbarrier()
    mbarrier.init(done, count=1)
    fence_async_shared(cluster=True)
    cluster.barrier()
    tcgen05_mma_scaled(
        sa, sb.permute([1, 0]), acc, a_scales, b_scales, "e4m3", "e4m3", use_acc=False,
        mbarriers=[done],
    )  # fmt: skip
    mbarrier.wait(done, 0)
    gl.store(pointers(c_ptr, M, N, OUT), acc.load(OUT))


@pytest.mark.parametrize("seed", range(4))
def test_scaled_dots_of_two_blocks(seed, target):
    m, n, k = 256, 64, 128
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, 256, (rows, k), np.uint8) & 0xBF for rows in (m, n)]
    scales = [rng.integers(122, 132, (rows, k // 32), np.uint8) for rows in (m, n)]
    left, right = (
        values_of(code, "e4m3") * np.repeat(2.0 ** (scale.astype(int) - 127), 32, 1)
        for code, scale in zip(codes, scales, strict=True)
    )
    expected = left @ right.T
    c = np.full((m, n), np.nan, np.float32)
    halves = gl.NVMMASharedLayout(128, 8, 2, cga_layout=[[1, 0]])
    a_out, b_out = scales_layout(m // 2, k // 32), scales_layout(n, k // 32)
    a_out = gl.DistributedLinearLayout(
        a_out.reg_bases, a_out.lane_bases, a_out.warp_bases, [[m // 2, 0]], [m, k // 32]
    )
    b_out = gl.DistributedLinearLayout(
        b_out.reg_bases, b_out.lane_bases, b_out.warp_bases, [[0, 0]], [n, k // 32]
    )
    registers = [[0, 1 << bit] for bit in range(n.bit_length() - 1)]
    lanes = [[1 << bit, 0] for bit in range(5)]
    out = gl.DistributedLinearLayout(registers, lanes, [[32, 0], [64, 0]], [[m // 2, 0]], [m, n])
    grid = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[1, 0]])
    report = scaled_pair.simulate(
        *(given(code, gl.float8e4nv) for code in codes), *scales, c, m, n, k, halves, halves,
        TensorMemoryLayout([m // 2, n], 1, cga_layout=[[1, 0]], two_ctas=True),
        TensorMemoryScalesLayout(cga_layout=[[1, 0]]), TensorMemoryScalesLayout(), a_out, b_out,
        out, grid, grid=(1,), num_ctas=2, schedule_seed=seed,
    )  # fmt: skip
    assert report.ok, report.messages
    assert "tcgen05.mma.cta_group::2.kind::mxf8f6f4" in report.ptx
    error = np.linalg.norm(c - expected) / np.linalg.norm(expected)
    assert error < 1e-5, error
