"""Scales that are packed in memory as tcgen05.cp copies them: 512 bytes have four scales of 128
rows. They go from shared memory to tensor memory, through no registers."""

from __future__ import annotations

import re
import sys

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned, sim_only
from test_dot_scaled import operand
from test_specialized_tensor_memory import partitions

import tile
import tile.language as tl
from tile.backends import backends
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only

#: Of a kind: the format of elements, how many share a scale, and a step along K.
KINDS = {
    "mxfp8": ("e4m3", 32, 128),
    "mxfp8-e5m2": ("e5m2", 32, 128),
    "mxfp4": ("e2m1", 32, 256),
    "nvfp4": ("e2m1", 16, 128),
}


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> None:
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", getattr(request, "param", "cuda:100"))


@tile.jit
def unpack(x, ROWS: tl.constexpr, GROUPS: tl.constexpr):
    tiles = x.reshape(ROWS // 128, GROUPS // 4, 32, 4, 4)
    return tiles.trans(0, 3, 2, 1, 4).reshape(ROWS, GROUPS)


@tile.jit
def step(a, b, a_scale, b_scale, acc, i, j, k, A: tl.constexpr, B: tl.constexpr,
         GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    PACK_A: tl.constexpr = 2 if A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if B == "e2m1" else 1
    x = a.load([i, k // PACK_A])
    y = b.load([j, k // PACK_B])
    x_scale = a_scale.load([0, i // 128, k // GROUP // 4, 0, 0])
    y_scale = b_scale.load([0, j // 128, k // GROUP // 4, 0, 0])
    return tl.dot_scaled(
        x, unpack(x_scale, BM, BK // GROUP), A, y.T, unpack(y_scale, BN, BK // GROUP), B, acc
    )


@tile.jit
def one_tile(
    a, b, a_scale, b_scale, c, M, N, K, A: tl.constexpr, B: tl.constexpr, GROUP: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    columns = tl.cdiv(N, BN)
    for t in range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0)):
        i, j = t // columns * BM, t % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in tl.range(0, K, BK, warp_specialize=SPECIALIZE):
            acc = step(a, b, a_scale, b_scale, acc, i, j, k, A, B, GROUP, BM, BN, BK)
        c.store([i, j], acc)


@tile.jit
def tiles(
    a, b, a_scale, b_scale, c, M, N, K, A: tl.constexpr, B: tl.constexpr, GROUP: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPECIALIZE: tl.constexpr,
):  # fmt: skip
    columns = tl.cdiv(N, BN)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0),
                      warp_specialize=SPECIALIZE):  # fmt: skip
        i, j = t // columns * BM, t % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = step(a, b, a_scale, b_scale, acc, i, j, k, A, B, GROUP, BM, BN, BK)
        c.store([i, j], acc)


def pack(scales: np.ndarray) -> np.ndarray:
    """Rows of no tensor have scales that are no numbers."""
    rows, groups = (-(-n // size) * size for n, size in zip(scales.shape, (128, 4), strict=True))
    whole = np.full((rows, groups), 0x38, np.uint8).view(scales.dtype)
    whole.view(np.uint8)[scales.shape[0] :] = 0xFF
    whole[: scales.shape[0], : scales.shape[1]] = scales
    packed = whole.reshape(rows // 128, 4, 32, groups // 4, 4).transpose(0, 3, 2, 1, 4)
    return np.ascontiguousarray(packed).reshape(1, rows // 128, groups // 4, 2, 256)


def make(kinds, m: int, n: int, k: int, seed: int = 1):
    """Elements and scales of both operands, and the values of the matrices."""
    rng = np.random.default_rng(seed)
    elements, scales, values = [], [], []
    for rows, kind in ((m, kinds[0]), (n, kinds[1])):
        format, group, _ = KINDS[kind]
        bits, numbers = operand(format, rows, k, 1, True, seed + len(values))
        if group == 16:
            scale = rng.uniform(0.25, 4, (rows, k // group)).astype(ml_dtypes.float8_e4m3fn)
            factor = scale.astype(np.float64)
        else:
            scale = rng.integers(122, 132, (rows, k // group)).astype(np.uint8)
            factor = 2.0 ** (scale.astype(int) - 127)
        elements.append(bits)
        scales.append(scale)
        values.append(numbers * np.repeat(factor, group, 1))
    return elements, scales, values


def multiply(
    kinds, sizes, block, *, kernel=tiles, programs=1, specialize=False, strict=True, **options
):
    m, n, k = sizes
    bm, bn, bk = block
    elements, scales, values = make(kinds, m, n, k)
    formats = [KINDS[kind][0] for kind in kinds]
    group = KINDS[kinds[0]][1]
    descs = []
    for x, rows, format in zip(elements, (bm, bn), formats, strict=True):
        given = (
            x
            if format == "e2m1"
            else tile.reinterpret(x, {"e4m3": tl.float8e4nv, "e5m2": tl.float8e5}[format])
        )
        descs.append(
            TensorDescriptor.from_tensor(given, [rows, bk // (2 if format == "e2m1" else 1)])
        )
    for x, rows in zip(scales, (bm, bn), strict=True):
        packed = pack(x)
        given = packed if group == 32 else tile.reinterpret(packed.view(np.uint8), tl.float8e4nv)
        descs.append(
            TensorDescriptor.from_tensor(given, [1, rows // 128, bk // group // 4, 2, 256])
        )
    exact = values[0] @ values[1].T
    size = np.abs(values[0]) @ np.abs(values[1]).T
    out = poisoned((m, n), "fp32")
    given = (
        *descs, TensorDescriptor.from_tensor(out, [bm, bn]), m, n, k, *formats, group, bm, bn, bk,
        specialize,
    )  # fmt: skip
    compiled = kernel[(programs,)](*given, **options)
    # Multiplications are exact in fp32.
    assert (np.abs(out - exact) <= size * 1e-5 + 1e-6).all()
    if strict:
        # Not all agree that a copy comes behind the dots that read what it overwrites.
        out[:] = poisoned((m, n), "fp32")
        report = kernel.simulate(
            *given, grid=(programs,), assumptions=["tensor-copies-wait"], **options
        )
        assert report.ok, report
        assert (np.abs(out - exact) <= size * 1e-5 + 1e-6).all()
    return compiled


def copies(kernel) -> int:
    """How many instructions copy scales; none go through registers."""
    ptx, ttgir = kernel.asm["ptx"], kernel.asm["ttgir"]
    assert "block_scale" in ptx
    assert not re.search(r"tmem_(alloc|store) %.*scales", ttgir)
    return len(re.findall(r"tcgen05\.cp\.cta_group::1\.32x128b\.warpx4", ptx))


SAME = [(kind, kind) for kind in KINDS]


@pytest.mark.parametrize("kinds", [*SAME, ("mxfp8", "mxfp4"), ("mxfp4", "mxfp8-e5m2")])
@pytest.mark.parametrize("specialize", [False, True])
def test_kinds(kinds, specialize):
    """Ragged in each dimension, several tiles for a program."""
    bk = min(KINDS[kind][2] for kind in kinds)
    # 4-bit elements beside 8-bit ones are copied 128 at a time.
    rest = 128 if kinds[0] != kinds[1] else 32
    kernel = multiply(
        kinds, (200, 136, 2 * bk + rest), (128, 128, bk), specialize_warps=specialize, num_stages=3
    )
    assert copies(kernel) > 0
    assert partitions(kernel) == ([1, 1] if specialize else [])


@pytest.mark.parametrize("kernel", [one_tile, tiles])
@pytest.mark.parametrize("specialize", [False, True])
@pytest.mark.parametrize("stages", [1, 2, 4])
def test_any_order(kernel, specialize, stages, monkeypatch):
    """Copies and dots that complete as late as they may, warps that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    compiled = multiply(
        ("mxfp8", "mxfp8"), (256, 136, 5 * 128), (128, 128, 128), kernel=kernel,
        specialize=specialize, specialize_warps=specialize, num_stages=stages,
    )  # fmt: skip
    assert copies(compiled) > 0
    assert bool(partitions(compiled)) == specialize


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("programs", [1, 3])
def test_tiles_of_any_length(steps, programs):
    """Tiles without dots, and more programs than tiles, too."""
    multiply(("nvfp4", "nvfp4"), (256, 136, 128 * steps + 32 * (steps == 0)), (128, 128, 128),
             programs=programs)  # fmt: skip


def sums(kernel) -> list[int]:
    return [int(n) for n in re.findall(r"memdesc<(\d+)x\d+x\d+xf32, #tmem", kernel.asm["ttgir"])]


@pytest.mark.parametrize(
    ("kind", "block", "expected"),
    [
        ("mxfp4", (128, 256, 128), 1),
        ("nvfp4", (128, 128, 256), 2),
        ("mxfp8", (128, 128, 128), 2),
        ("mxfp4", (256, 128, 128), 1),
    ],
)
@pytest.mark.parametrize("warps", [4, 8])
def test_sizes(kind, block, expected, warps):
    """Sums get what scales leave of 512 columns."""
    bm, bn, bk = block
    kernel = multiply(
        (kind, kind), (bm + 40, bn + 24, 3 * bk), block, specialize=True, num_warps=warps,
        num_stages=3,
    )  # fmt: skip
    assert copies(kernel) > 0 and partitions(kernel) == [1, 1]
    assert set(sums(kernel)) == {expected}


@tile.jit
def by_pointers(
    a, b, a_scale, b_scale, c, N, K, STEPS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    """Scales are loaded as rows of bytes, one for each 512 of them."""
    i, j = tl.program_id(0), tl.program_id(1)
    groups: tl.constexpr = BK // 128
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    tile_, byte = tl.arange(0, groups), tl.arange(0, 512)
    acc = tl.zeros((BM, BN), tl.float32)
    for t in tl.range(0, STEPS, num_stages=STAGES):
        x = tl.load(a + (i * BM + m)[:, None] * K + (t * BK + k)[None, :])
        y = tl.load(b + (j * BN + n)[None, :] * K + (t * BK + k)[:, None])
        at = (t * groups + tile_)[:, None] * 512 + byte[None, :]
        x_scale = tl.load(a_scale + i * (K // 128) * 512 + at)
        y_scale = tl.load(b_scale + j * (K // 128) * 512 + at)
        acc = tl.dot_scaled(x, unpack(x_scale, BM, BK // 32), "e4m3", y,
                            unpack(y_scale, BN, BK // 32), "e4m3", acc)  # fmt: skip
    at = (i * BM + m)[:, None] * N + (j * BN + n)[None, :]
    tl.store(c + at, acc)


@pytest.mark.parametrize("stages", [1, 2, 3])
@pytest.mark.parametrize("bk", [128, 256])
def test_pointers(stages, bk, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    run_by_pointers(stages, bk)


def run_by_pointers(stages: int, bk: int, **options) -> None:
    m, n, k = 256, 128, 3 * bk
    elements, scales, values = make(("mxfp8", "mxfp8"), m, n, k)
    out = poisoned((m, n), "fp32")
    kernel = by_pointers[(m // 128, n // 128)](
        *(tile.reinterpret(x, tl.float8e4nv) for x in elements), *map(pack, scales), out, n, k, 3,
        128, 128, bk, stages, **options,
    )  # fmt: skip
    assert copies(kernel) > 0
    np.testing.assert_allclose(out, values[0] @ values[1].T, rtol=1e-5, atol=1e-2)


@tile.jit
def gated(a, b, c, a_scale, b_scale, c_scale, out, K, BM: tl.constexpr, BN: tl.constexpr,
          BK: tl.constexpr):  # fmt: skip
    """Two dots with the same scales of A."""
    acc, gate = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = a.load([0, k])
        x_scale = unpack(a_scale.load([0, 0, k // 128, 0, 0]), BM, BK // 32)
        y_scale = unpack(b_scale.load([0, 0, k // 128, 0, 0]), BN, BK // 32)
        z_scale = unpack(c_scale.load([0, 0, k // 128, 0, 0]), BN, BK // 32)
        acc = tl.dot_scaled(x, x_scale, "e4m3", b.load([0, k]).T, y_scale, "e4m3", acc)
        gate = tl.dot_scaled(x, x_scale, "e4m3", c.load([0, k]).T, z_scale, "e4m3", gate)
    out.store([0, 0], acc - gate)


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_shared_scales(stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    m, n, k = 128, 128, 512
    (a, b), (a_scale, b_scale), (x, y) = make(("mxfp8", "mxfp8"), m, n, k)
    (_, c), (_, c_scale), (_, z) = make(("mxfp8", "mxfp8"), m, n, k, seed=7)
    out = poisoned((m, n), "fp32")
    elements = [
        TensorDescriptor.from_tensor(tile.reinterpret(v, tl.float8e4nv), [128, 128])
        for v in (a, b, c)
    ]
    packed = [
        TensorDescriptor.from_tensor(pack(s), [1, 1, 1, 2, 256])
        for s in (a_scale, b_scale, c_scale)
    ]
    kernel = gated[(1,)](
        *elements, *packed, TensorDescriptor.from_tensor(out, [m, n]), k, m, n, 128,
        num_stages=stages,
    )  # fmt: skip
    assert copies(kernel) > 0
    np.testing.assert_allclose(out, x @ (y - z).T, rtol=1e-5, atol=2e-2)


@tile.jit
def kept(a, b, a_scale, b_scale, out, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The scales of B are the same in each step."""
    y_scale = unpack(b_scale.load([0, 0, 0, 0, 0]), BN, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x_scale = unpack(a_scale.load([0, 0, k // 128, 0, 0]), BM, BK // 32)
        acc = tl.dot_scaled(a.load([0, k]), x_scale, "e4m3", b.load([0, k]).T, y_scale, "e4m3", acc)
    out.store([0, 0], acc)


def test_scales_of_all_steps(monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    m, n, k = 128, 128, 512
    (a, b), (a_scale, b_scale), (x, _) = make(("mxfp8", "mxfp8"), m, n, k)
    b_scale = b_scale[:, :4]
    y = operand("e4m3", n, k, 1, True, 2)[1] * np.repeat(
        np.tile(2.0 ** (b_scale.astype(int) - 127), 4), 32, 1
    )
    out = poisoned((m, n), "fp32")
    kernel = kept[(1,)](
        *(TensorDescriptor.from_tensor(tile.reinterpret(v, tl.float8e4nv), [128, 128])
          for v in (a, b)),
        *(TensorDescriptor.from_tensor(pack(s), [1, 1, 1, 2, 256]) for s in (a_scale, b_scale)),
        TensorDescriptor.from_tensor(out, [m, n]), k, m, n, 128,
    )  # fmt: skip
    assert "tcgen05.cp" in kernel.asm["ptx"] and "block_scale" in kernel.asm["ptx"]
    np.testing.assert_allclose(out, x @ y.T, rtol=1e-5, atol=2e-2)


@tile.jit
def turned(a, b, a_scale, out, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           ORDER: tl.constexpr):  # fmt: skip
    """Scales in another order: they go through registers."""
    s = a_scale.load([0, 0, 0, 0, 0]).reshape(1, 1, 32, 4, 4).trans(*ORDER).reshape(BM, BK // 32)
    acc = tl.dot_scaled(a.load([0, 0]), s, "e4m3", b.load([0, 0]).T, None, "e4m3")
    out.store([0, 0], acc)


@pytest.mark.parametrize("order", [(0, 2, 3, 1, 4), (0, 4, 2, 1, 3), (0, 3, 2, 1, 4)])
def test_other_orders(order):
    (a, b), _, _ = make(("mxfp8", "mxfp8"), 128, 64, 128)
    x, y = (operand("e4m3", rows, 128, 1, True, seed)[1] for rows, seed in ((128, 1), (64, 2)))
    bits = np.random.default_rng(5).integers(122, 132, (1, 1, 1, 2, 256)).astype(np.uint8)
    scale = bits.reshape(1, 1, 32, 4, 4).transpose(order).reshape(128, 4)
    out = poisoned((128, 64), "fp32")
    blocks = ((a, 128), (b, 64))
    kernel = turned[(1,)](
        *(TensorDescriptor.from_tensor(tile.reinterpret(v, tl.float8e4nv), [rows, 128])
          for v, rows in blocks),
        TensorDescriptor.from_tensor(bits, [1, 1, 1, 2, 256]),
        TensorDescriptor.from_tensor(out, [128, 64]), 128, 64, 128, order,
    )  # fmt: skip
    assert ("tcgen05.cp" in kernel.asm["ptx"]) == (order == (0, 3, 2, 1, 4))
    factor = np.repeat(2.0 ** (scale.astype(int) - 127), 32, 1)
    np.testing.assert_allclose(out, (x * factor) @ y.T, rtol=1e-5, atol=1e-2)


@pytest.mark.parametrize("seed", range(10))
def test_random_configurations(seed, monkeypatch):
    """Whatever is chosen, warps and tensor cores agree on it."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    chance = np.random.default_rng(2000 + seed)
    kind = chance.choice(list(KINDS))
    bm, bn = chance.choice([(128, 128), (256, 128), (128, 256)])
    bk = KINDS[kind][2] if chance.integers(2) else 128
    steps = int(chance.integers(1, 5))
    multiply(
        (kind, kind), (int(chance.integers(1, 2 * bm)), 16 * int(chance.integers(1, 20)),
                       steps * bk - 32 * int(chance.integers(0, 2))),
        (int(bm), int(bn), bk), kernel=chance.choice([one_tile, tiles]),
        programs=int(chance.integers(1, 3)), specialize=bool(chance.integers(2)),
        num_warps=int(chance.choice([4, 8])), num_stages=int(chance.integers(1, 4)),
    )  # fmt: skip


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
def test_machine_code(target):
    """ptxas assembles it."""
    tools = sys.modules[backends()["nvidia"].__module__].tools
    if tools.ptxas_path() is None:
        pytest.skip("needs ptxas")
    kernel = multiply(("mxfp8", "mxfp8"), (128, 128, 128), (128, 128, 128))
    assert copies(kernel) > 0
    assert kernel.asm["cubin"][:4] == b"\x7fELF"


WAIT = r"\{ \.reg \.pred complete; WAIT: mbarrier\.try_wait[^}]*\}"
MISTAKES = {
    "scales of all steps in one place": (
        r"shl\.b32 \s*(%r\d+), %r\d+, 2;(?=\s+add\.s32\s+%r\d+, %r\d+, \1;"
        r"(?:(?!elect)[\s\S])*elect[^}]*tcgen05\.cp)",
        r"mov.b32 \1, 0;",
    ),
    "nobody waits for scales": (WAIT + r"(?=(?:(?!try_wait)[\s\S]){0,2000}?tcgen05\.cp)", ""),
    "scales are filled while they are read": (
        WAIT + r"(?=(?:(?!try_wait)[\s\S]){0,1000}?expect_tx)",
        "",
    ),
    "nobody copies scales": (r"tcgen05\.cp\S+ \[%r\d+\], %rd\d+;", ""),
}


def with_mistake(mistake: tuple[str, str], run) -> None:
    pattern, instead = mistake

    def edited(text: str) -> str:
        text, count = re.subn(pattern, instead, text)
        assert count >= 1
        return text

    def hook(backend=None, stages=None, options=None, language=None, arch=None):
        if stages is None:
            return pattern
        make = stages["ptx"]
        stages["ptx"] = lambda source, metadata: edited(make(source, metadata))
        return None

    # What was compiled without the mistake is not compiled again.
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        with pytest.raises(tile.sim.SimulationError):
            run()


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_planted_mistakes(mistake, monkeypatch):
    """The simulator finds what goes wrong without a part of the protocol."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    with_mistake(
        MISTAKES[mistake],
        lambda: multiply(
            ("mxfp8", "mxfp8"), (256, 128, 8 * 128), (128, 128, 128), specialize=True,
            num_stages=3,
        ),
    )  # fmt: skip


def test_planted_mistake_of_threads(monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    with_mistake((r"fence\.proxy\.async\S*;", ""), lambda: run_by_pointers(1, 128, num_warps=8))
