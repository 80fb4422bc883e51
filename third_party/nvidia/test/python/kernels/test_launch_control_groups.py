"""Groups of warps that go on with other programs (`clc=True`). They stay, and take programs from
each other. So the end of one program overlaps the copies and dots of the next."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_block_pairs import is_pair
from test_specialized_tensor_memory import partitions, sums

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only

ASKS = "clusterlaunchcontrol.try_cancel"


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> str:
    name = getattr(request, "param", "cuda:100")
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", name)
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    return name


def stays(kernel) -> bool:
    """Whether groups of warps are made once, and run loops over programs."""
    text = kernel.asm["ttgir"]
    groups = text.index("ttg.warp_specialize")
    return ASKS in kernel.asm["ptx"] and "scf.while" not in text[:groups]


def integers(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Sums of what they multiply to are exact."""
    return np.random.default_rng(seed).integers(-2, 3, shape).astype(np.float16)


@tile.jit
def block_number():
    """That of the block that runs this program, whoever was to run it."""
    return tl.inline_asm_elementwise(
        "mov.u32 $0, %ctaid.x;", "=r", [], dtype=tl.int32, is_pure=True, pack=1
    )


@tile.jit
def product(
    a, b, out, counts, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    AXES: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    """The sum of a part of K, for each part."""
    columns = tl.cdiv(N, BN)
    if AXES == 1:
        part, i, j = 0, tl.program_id(0) // columns, tl.program_id(0) % columns
        steps = tl.cdiv(K, BK)
    elif AXES == 2:
        part, i, j = 0, tl.program_id(0), tl.program_id(1)
        steps = tl.cdiv(K, BK)
    else:
        part, i, j = tl.program_id(1), tl.program_id(2), tl.program_id(0)
        steps = tl.cdiv(tl.cdiv(K, BK), tl.num_programs(1))
    acc = tl.zeros((BM, BN), tl.float32)
    first = part * steps
    for k in tl.range(first, first + steps, warp_specialize=SPECIALIZE):
        acc = tl.dot(a.load([i * BM, k * BK]), b.load([k * BK, j * BN]), acc)
    rows, cols = i * BM + tl.arange(0, BM), j * BN + tl.arange(0, BN)
    at = out + part * M * N + rows[:, None] * N + cols[None, :]
    tl.store(at, acc, (rows[:, None] < M) & (cols[None, :] < N))
    tl.atomic_add(counts + (part * tl.cdiv(M, BM) + i) * columns + j, 1, sem="relaxed")


def multiply(sizes, tiles, axes=2, parts=1, specialize=False, **options):
    (m, n, k), (bm, bn, bk) = sizes, tiles
    a, b = integers((m, k), 1), integers((k, n), 2)
    out = poisoned((parts, m, n), "fp32")
    rows, columns = tile.cdiv(m, bm), tile.cdiv(n, bn)
    counts = np.zeros((parts, rows, columns), np.int32)
    grid = {1: (rows * columns,), 2: (rows, columns), 3: (columns, parts, rows)}[axes]
    kernel = product[grid](
        *(TensorDescriptor.from_tensor(x, s) for x, s in ((a, [bm, bk]), (b, [bk, bn]))),
        out, counts, m, n, k, *tiles, axes, specialize, clc=True, **options,
    )  # fmt: skip
    np.testing.assert_array_equal(counts, 1)
    depth = tile.cdiv(tile.cdiv(k, bk), parts) * bk
    for part in range(parts):
        here = slice(part * depth, (part + 1) * depth)
        expected = a[:, here].astype(np.float64) @ b[here].astype(np.float64)
        np.testing.assert_array_equal(out[part], expected)
    return kernel


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
@pytest.mark.parametrize(("axes", "parts"), [(1, 1), (2, 1), (3, 2), (3, 3)])
def test_grids(target, axes, parts):
    """One tile is multiplied while another one is stored: two sums. Edges are ragged."""
    kernel = multiply((400, 200, 264), (128, 64, 32), axes, parts)
    assert stays(kernel) and partitions(kernel) == [1, 1] and sums(kernel) == [2]


@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("sizes", [(1, 8, 8), (128, 64, 32), (130, 72, 40), (700, 328, 64)])
def test_sizes(sizes, specialize):
    """One program, a few, and many."""
    kernel = multiply(sizes, (128, 64, 32), specialize=specialize)
    assert stays(kernel) and partitions(kernel) == [1, 1]


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("stages", [1, 2, 4])
def test_stages(warps, stages):
    kernel = multiply(
        (400, 200, 136), (128, 64, 32), specialize=True, num_warps=warps, num_stages=stages
    )
    assert stays(kernel) and partitions(kernel) == [1, 1]


def test_any_order(monkeypatch):
    """Answers that arrive as late as they may, warps that run far ahead, questions that fail."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "16")
    kernel = multiply((600, 200, 96), (128, 64, 32), specialize=True)
    assert stays(kernel)


@pytest.mark.parametrize("specialize", [False, True])
def test_pairs(specialize):
    """Both blocks of a pair go on with the programs that the first one asked for."""
    kernel = multiply(
        (600, 304, 136), (256, 128, 64), specialize=specialize, num_ctas=2, num_warps=4
    )
    assert is_pair(kernel) and stays(kernel) and partitions(kernel) == [1, 1]


def test_under_the_sanitizer():
    """Under it no dot adds up in tensor memory, so one group of warps runs all programs. What
    answers write is among the copies that it watches."""
    kernel = multiply((300, 136, 64), (128, 64, 32), specialize=True, instrumentation_mode="consan")
    assert ASKS in kernel.asm["ptx"] and "ttg.warp_specialize" not in kernel.asm["ttgir"]


@tile.jit
def owners(a, b, out, blocks, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, 0]), acc)
    out.store([i * BM, 0], acc)
    tl.store(blocks + i, block_number())


@pytest.mark.parametrize("programs", [1, 2, 7, 40])
def test_programs_are_taken(programs, monkeypatch):
    """Fewer blocks start than there are programs. Each block keeps its tile's order."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "1")
    bm, bn, bk, k = 128, 64, 32, 96
    a, b = integers((programs * bm, k), 1), integers((k, bn), 2)
    out, blocks = poisoned((programs * bm, bn), "fp32"), np.full(programs, -1, np.int32)
    shapes = ((a, [bm, bk]), (b, [bk, bn]), (out, [bm, bn]))
    kernel = owners[(programs,)](
        *(TensorDescriptor.from_tensor(x, s) for x, s in shapes), blocks, k, bm, bn, bk, clc=True
    )
    assert stays(kernel) and partitions(kernel) == [1, 1]
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))
    assert (blocks >= 0).all() and (blocks <= np.arange(programs)).all()
    if programs > 2:
        assert len(np.unique(blocks)) < programs


@tile.jit
def with_bias(a, b, bias, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The end of a tile loads, too: that of the next program is not known early."""
    i, j = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, j * BN]), acc)
    cols = j * BN + tl.arange(0, BN)
    acc += tl.load(bias + cols, cols < N, 0)[None, :]
    out.store([i * BM, j * BN], acc)


@pytest.mark.parametrize("stages", [2, 3])
def test_loads_of_the_end(stages):
    (m, n, k), (bm, bn, bk) = (400, 200, 136), (128, 64, 32)
    a, b, bias = integers((m, k), 1), integers((k, n), 2), random((n,), "fp32", 3)
    out = poisoned((m, n), "fp32")
    shapes = ((a, [bm, bk]), (b, [bk, bn]), (out, [bm, bn]))
    descs = [TensorDescriptor.from_tensor(x, s) for x, s in shapes]
    kernel = with_bias[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        descs[0], descs[1], bias, descs[2], m, n, k, bm, bn, bk, clc=True, num_stages=stages
    )
    assert stays(kernel) and partitions(kernel) == [1, 1]
    expected = a.astype(np.float32) @ b.astype(np.float32) + bias
    np.testing.assert_array_equal(out, expected)


@tile.jit
def made_here(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    """Descriptors are the same for all programs: they are made once."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    i, j = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, j * BN]), acc)
    c.store([i * BM, j * BN], acc)


@pytest.mark.parametrize(("blocks", "tiles"), [(1, (128, 128, 64)), (2, (256, 128, 64))])
def test_descriptors_that_are_made(blocks, tiles):
    (m, n, k), (bm, bn, _) = (600, 264, 136), tiles
    a, b, out = integers((m, k), 1), integers((k, n), 2), poisoned((m, n), "fp32")
    kernel = made_here[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, b, out, m, n, k, *tiles, num_ctas=blocks, clc=True
    )
    assert stays(kernel) and partitions(kernel) == [1, 1]
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))


@tile.jit
def own_descriptor(
    a, b, out, sizes, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):  # fmt: skip
    """A descriptor of the rows of each program."""
    i = tl.program_id(0)
    rows = tl.make_tensor_descriptor(a + i * BM * K, [tl.load(sizes + i), K], [K, 1], [BM, BK])
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(rows.load([0, k]), b.load([k, 0]), acc)
    out.store([i * BM, 0], acc)


@pytest.mark.parametrize("steps", [1, 3, 8])
def test_descriptors_of_programs(steps, monkeypatch):
    """Copies of the program before are done when a map is made again."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    programs, bm, bn, bk = 7, 128, 64, 32
    k = steps * bk
    a, b = integers((programs * bm, k), 1), integers((k, bn), 2)
    sizes = np.array([128, 5, 0, 77, 128, 1, 64], np.int32)
    out = poisoned((programs * bm, bn), "fp32")
    descs = [TensorDescriptor.from_tensor(x, s) for x, s in ((b, [bk, bn]), (out, [bm, bn]))]
    kernel = own_descriptor[(programs,)](a, descs[0], descs[1], sizes, k, bm, bn, bk, clc=True)
    assert stays(kernel) and partitions(kernel) == [1, 1]
    rows = a.astype(np.float64).reshape(programs, bm, k)
    rows[np.arange(bm) >= sizes[:, None]] = 0
    np.testing.assert_array_equal(out.reshape(programs, bm, bn), rows @ b.astype(np.float64))


@tile.jit
def by_pointers(a_ptr, b_ptr, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Four warps copy."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols, ks = tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        left = K - k
        a = tl.load(a_ptr + rows[:, None] * K + k + ks[None, :],
                    (rows[:, None] < M) & (ks[None, :] < left), 0)  # fmt: skip
        b = tl.load(b_ptr + (k + ks[:, None]) * N + cols[None, :],
                    (ks[:, None] < left) & (cols[None, :] < N), 0)  # fmt: skip
        acc = tl.dot(a, b, acc)
    at = out + rows[:, None] * N + cols[None, :]
    tl.store(at, acc, (rows[:, None] < M) & (cols[None, :] < N))


@pytest.mark.parametrize("warps", [4, 8])
def test_pointers(warps):
    (m, n, k), (bm, bn, bk) = (300, 136, 104), (128, 64, 32)
    a, b, out = integers((m, k), 1), integers((k, n), 2), poisoned((m, n), "fp32")
    kernel = by_pointers[(tile.cdiv(m, bm), tile.cdiv(n, bn))](
        a, b, out, m, n, k, bm, bn, bk, clc=True, num_warps=warps
    )
    assert stays(kernel) and partitions(kernel) == [4, 1]
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))


@tile.jit
def attention(
    q_desc, k_desc, v_desc, out_desc, scale, L, D: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr,
):  # fmt: skip
    """Causal: programs take longer from one to the next. Threads take part between the dots, so
    only copies have warps of their own."""
    start = tl.program_id(0) * BM
    rows = start + tl.arange(0, BM)
    q = q_desc.load([start, 0])
    m = tl.full([BM], -1.0e30, tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for begin in tl.range(0, tl.minimum(L, start + BM), BN, warp_specialize=True):
        scores = tl.dot(q, k_desc.load([begin, 0]).T) * (scale * 1.4426950408889634)
        cols = begin + tl.arange(0, BN)
        scores = tl.where(rows[:, None] >= cols[None, :], scores, -1.0e30)
        m_new = tl.maximum(m, tl.max(scores, 1))
        p = tl.math.exp2(scores - m_new[:, None])
        alpha = tl.math.exp2(m - m_new)
        total = total * alpha + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), v_desc.load([begin, 0]), acc * alpha[:, None])
        m = m_new
    out_desc.store([start, 0], (acc / total[:, None]).to(tl.float16))


@pytest.mark.parametrize(("warps", "stages"), [(4, 2), (8, 3)])
def test_attention(warps, stages):
    d, bm, bn, length = 64, 128, 32, 700
    q, k, v = (random((length, d), "fp16", seed) for seed in (1, 2, 3))
    out = poisoned((length, d), "fp16")
    shapes = ((q, [bm, d]), (k, [bn, d]), (v, [bn, d]), (out, [bm, d]))
    kernel = attention[(tile.cdiv(length, bm),)](
        *(TensorDescriptor.from_tensor(x, s) for x, s in shapes), d**-0.5, length, d, bm, bn,
        num_warps=warps, num_stages=stages, clc=True,
    )  # fmt: skip
    # With one group, other warps correct its sums.
    assert stays(kernel) and partitions(kernel) == ([1, 4] if warps == 4 else [1])
    wide = [t.astype(np.float64) for t in (q, k, v)]
    scores = np.where(np.tri(length, dtype=bool), wide[0] @ wide[1].T * d**-0.5, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    expected = p / p.sum(-1, keepdims=True) @ wide[2]
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=4e-3, atol=4e-3)


@tile.jit
def two_loops(a, b, c, out, STEPS, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A sum of each loop. Programs have different numbers of steps, some none."""
    i = tl.program_id(0)
    first, second = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, i % STEPS, warp_specialize=True):
        first = tl.dot(a.load([i * BM, k * BK]), b.load([k * BK, 0]), first)
    for k in tl.range(0, STEPS, warp_specialize=True):
        second = tl.dot(a.load([i * BM, k * BK]), c.load([k * BK, 0]), second)
    rows, cols = i * BM + tl.arange(0, BM), tl.arange(0, BN)
    at = out + rows[:, None] * (2 * BN) + cols[None, :]
    tl.store(at, first)
    tl.store(at + BN, second)


@pytest.mark.parametrize(("stages", "bn"), [(1, 64), (3, 64), (2, 256)])
def test_two_loops(stages, bn):
    """There are 512 columns: two of each sum, or one. Then the next tile waits for its end."""
    bm, bk, programs, steps = 128, 32, 7, 3
    a, b, c = (
        integers(shape, seed)
        for seed, shape in enumerate(((programs * bm, steps * bk), *[(steps * bk, bn)] * 2))
    )
    out = poisoned((programs * bm, 2 * bn), "fp32")
    shapes = ((a, [bm, bk]), (b, [bk, bn]), (c, [bk, bn]))
    kernel = two_loops[(programs,)](
        *(TensorDescriptor.from_tensor(x, s) for x, s in shapes), out, steps, bm, bn, bk,
        num_stages=stages, num_warps=4 if bn == 64 else 8, clc=True,
    )  # fmt: skip
    assert stays(kernel) and partitions(kernel) == [1, 1]
    assert sums(kernel) == [2 if bn == 64 else 1] * 2
    wide = [x.astype(np.float64) for x in (a, b, c)]
    for i in range(programs):
        rows, depth = slice(i * bm, (i + 1) * bm), i % steps * bk
        np.testing.assert_array_equal(out[rows, :bn], wide[0][rows, :depth] @ wide[1][:depth])
    np.testing.assert_array_equal(out[:, bn:], wide[0] @ wide[2])


@tile.jit
def told(a, b, out, count, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A program says at its end that it is done."""
    i = tl.program_id(0)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, 0]), acc)
    out.store([i * BM, 0], acc)
    tl.atomic_add(count, 1)


@pytest.mark.parametrize("programs", [1, 5, 9])
def test_programs_that_tell(programs, monkeypatch):
    """Nothing of another program waits for what a program acquires at its end."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    bm, bn, bk, k = 128, 64, 32, 96
    a, b = integers((programs * bm, k), 1), integers((k, bn), 2)
    out, count = poisoned((programs * bm, bn), "fp32"), np.zeros(1, np.int32)
    shapes = ((a, [bm, bk]), (b, [bk, bn]), (out, [bm, bn]))
    descs = [TensorDescriptor.from_tensor(x, s) for x, s in shapes]
    kernel = told[(programs,)](*descs, count, k, bm, bn, bk, clc=True)
    assert stays(kernel) and partitions(kernel) == [1, 1]
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))
    assert count[0] == programs


@tile.jit
def told_first(a, b, out, count, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """What a program reads, somebody may have told it before."""
    i = tl.program_id(0)
    tl.atomic_add(count, 1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([i * BM, k]), b.load([k, 0]), acc)
    out.store([i * BM, 0], acc)


@tile.jit
def under_a_condition(a, b, out, count, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0)
    if i < tl.load(count):
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([i * BM, k]), b.load([k, 0]), acc)
        out.store([i * BM, 0], acc)


@pytest.mark.parametrize(
    ("kernel", "why"),
    [
        (told_first, "nothing may be read ahead of 'tt.atomic_rmw' in the loop"),
        (under_a_condition, "the loop runs under a condition, or in another loop"),
    ],
)
def test_programs_that_do_not_overlap(kernel, why, monkeypatch, capfd):
    """They are right all the same, and a remark says why."""
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "triton-nvidia-.*")
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    programs, bm, bn, bk, k = 5, 128, 64, 32, 96
    a, b = integers((programs * bm, k), 1), integers((k, bn), 2)
    out, count = poisoned((programs * bm, bn), "fp32"), np.full(1, programs, np.int32)
    shapes = ((a, [bm, bk]), (b, [bk, bn]), (out, [bm, bn]))
    descs = [TensorDescriptor.from_tensor(x, s) for x, s in shapes]
    compiled = kernel[(programs,)](*descs, count, k, bm, bn, bk, clc=True)
    assert ASKS in compiled.asm["ptx"] and partitions(compiled) == []
    assert why in capfd.readouterr().err
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64))
    assert count[0] == (2 * programs if kernel is told_first else programs)
