"""Programs for AMD GPUs, compiled and executed: `TILE_SIM_TARGET=hip:gfx942`."""

from __future__ import annotations

import re
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from exact import FORMATS

import tile
import tile.language as tl
from tile.backends import find_backend
from tile.errors import TileError
from tile.language.extra import libdevice

rng = np.random.default_rng(3)


@pytest.fixture(params=["hip:gfx942", "hip:gfx1100", "hip:gfx1201", "hip:gfx1250"], autouse=True)
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", request.param)
    return request.param


@tile.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


def test_add():
    x, y = rng.standard_normal((2, 3000)).astype(np.float32)
    out = np.zeros_like(x)
    add[(3,)](x, y, out, 3000, BLOCK=1024)
    assert (out == x + y).all()


@tile.jit
def softmax(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    mask = column < n
    v = tl.load(x + row * n + column, mask=mask, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * n + column, v / tl.sum(v, 0), mask=mask)


def test_softmax():
    x = rng.standard_normal((4, 1000)).astype(np.float32)
    out = np.zeros_like(x)
    softmax[(4,)](x, out, 1000, BLOCK=1024)
    e = np.exp(x.astype(np.float64))
    assert np.allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


@tile.jit
def product(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = tl.load(a + rm[:, None] * K + (k + rk)[None, :])
        right = tl.load(b + (k + rk)[:, None] * N + rn[None, :])
        sums = tl.dot(left, right, sums)
    tl.store(c + rm[:, None] * N + rn[None, :], sums)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_product(dtype):
    a, b = rng.standard_normal((64, 96)).astype(dtype), rng.standard_normal((96, 64)).astype(dtype)
    c = np.zeros((64, 64), np.float32)
    product[(2, 1)](a, b, c, 64, 96, BM=32, BN=64, BK=32)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    # fp32 is multiplied as tf32 where MFMA has that.
    assert np.linalg.norm(c - expected) < 1e-3 * np.linalg.norm(expected)


@tile.jit
def histogram(x, counts, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts + tl.load(x + i), 1)


def test_atomics():
    x = rng.integers(0, 32, 1024).astype(np.int32)
    counts = np.zeros(32, np.int32)
    histogram[(4,)](x, counts, BLOCK=256)
    assert (counts == np.bincount(x, minlength=32)).all()


@tile.jit
def prefix(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr, AXIS: tl.constexpr, R: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out + i, tl.cumsum(tl.load(x + i), AXIS, reverse=R))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("rows", "columns", "axis"), [(1, 512, 1), (64, 16, 0), (16, 64, 1)])
def test_scan(rows, columns, axis, reverse):
    x = rng.integers(-9, 9, (rows, columns)).astype(np.int32)
    out = np.zeros_like(x)
    prefix[(1,)](x, out, ROWS=rows, COLUMNS=columns, AXIS=axis, R=reverse)
    turned = np.flip(x, axis) if reverse else x
    expected = np.cumsum(turned, axis)
    assert (out == (np.flip(expected, axis) if reverse else expected)).all()


@tile.jit(noinline=True)
def scaled(x, factor):
    return x * factor + 1


@tile.jit
def calls(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, scaled(scaled(v, 3), v))


def test_calls():
    x = rng.integers(-999, 999, 512).astype(np.int32)
    out = np.zeros_like(x)
    calls[(1,)](x, out, BLOCK=512)
    assert (out == (x * 3 + 1) * x + 1).all()


@tile.jit
def to_bf16(x, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(tl.bfloat16))


@pytest.mark.parametrize("kind", [np.int32, np.uint32, np.int64, np.uint64])
def test_integers_become_bf16_by_one_rounding(kind):
    info = np.iinfo(kind)
    # Half-way between neighbours of bf16, and next to that by less than an f32 can tell.
    halves = [(256 + 2 * i + 1) << s for i in range(0, 128, 5) for s in range(info.bits - 10)]
    near = {h + d for h in halves for d in (-1, 0, 1)}
    numbers = sorted(n for m in near for n in {m, -m} if info.min <= n <= info.max)
    numbers += [info.min or 1, info.max]
    x = np.zeros(-(-len(numbers) // 256) * 256, kind)
    x[: len(numbers)] = numbers
    out = np.zeros(x.size, np.uint16)
    to_bf16[(x.size // 256,)](x, out.view(ml_dtypes.bfloat16), BLOCK=256)
    bf16 = FORMATS["bf16"]
    assert out[: len(numbers)].tolist() == [bf16.nearest(Fraction(n)) for n in numbers]


@tile.jit
def beyond(out):
    tl.store(out + 4, 1)


@pytest.mark.simulator
def test_findings_have_the_source_line():
    with pytest.raises(tile.sim.SimulationError, match=r"(?s)test_simulated\.py.*out-of-bounds"):
        beyond[(1,)](np.zeros(4, np.int32))


def test_unknown_targets(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx1")
    with pytest.raises(TileError, match="unknown target hip:gfx1: known ones are hip:gfx"):
        beyond[(1,)](np.zeros(5, np.int32))


def test_the_architecture_that_overrides_another_has_its_own_waves(monkeypatch):
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "gfx1100")
    target = tile.runtime.driver.active.get_current_target()
    assert target == tile.GPUTarget("hip", "gfx1100", 32)
    monkeypatch.setenv("TRITON_OVERRIDE_ARCH", "gfx1")
    with pytest.raises(TileError, match="unknown target hip:gfx1:"):
        beyond[(1,)](np.zeros(5, np.int32))


@tile.jit
def lengths(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, libdevice.rhypot(tl.load(x + i), tl.load(y + i)))


@tile.jit
def powers(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, libdevice.pow(tl.load(x + i), tl.load(y + i)))


@pytest.mark.parametrize("kernel", [lengths, powers])
def test_the_device_library_is_not_fused(kernel):
    """It takes errors of additions and multiplications apart, which are none when the two are
    one."""
    x, y = rng.uniform(0.1, 9, (2, 512))
    out = np.zeros_like(x)
    kernel[(1,)](x, y, out, BLOCK=512)
    x, y = x.astype(np.longdouble), y.astype(np.longdouble)
    exact = 1 / np.hypot(x, y) if kernel is lengths else x**y
    assert (np.abs(out - exact) <= 1.5 * np.spacing(exact.astype(np.float64))).all()


@tile.jit
def add_half(x):
    tl.atomic_add(x + 2, 1.5)


def test_atomics_of_16_bits_use_the_word_around_them():
    """Also where the other half of it is behind the last element."""
    x = np.array([1, 2, 3], np.float16)
    add_half[(4,)](x)
    assert x.tolist() == [1, 2, 9]


@tile.jit
def add_behind(x):
    tl.atomic_add(x + 3, 1.5)


@pytest.mark.simulator
def test_atomics_of_16_bits_behind_an_array():
    with pytest.raises(tile.sim.SimulationError, match="out-of-bounds"):
        add_behind[(1,)](np.zeros(2, np.float16))


@tile.jit
def many_registers(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(out + i, tl.cumsum(v, 0) + tl.sum(v, 0))
    tl.store(out + i, v, mask=v > 3)


@pytest.mark.parametrize("block, warps", [(256, 1), (2048, 2), (2048, 1), (4096, 2), (8192, 8)])
def test_occupancy_is_what_llvm_says(block, warps):
    x = np.zeros(block, np.int32)
    options = {"grid": (1,), "BLOCK": block, "num_warps": warps}
    text = many_registers.warmup(x, x.copy(), **options).asm["amdgcn"]
    report = many_registers.simulate(x, x.copy(), **options)
    assert report.occupancy["waves"] == int(re.search(r"; Occupancy: (\d+)", text)[1])


@tile.jit
def sort_and_add(x, n, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.sort(tl.load(x + i), descending=True)
    k = 0
    while k < n:
        v += tl.xor_sum(tl.full([2], k, tl.int32), None).to(tl.uint8)
        k += 1
    tl.store(out + i, v)


def test_lanes_exchange_constants():
    """In the first iteration the loop's counter is known, and LLVM's code for it was wrong."""
    x = rng.permutation(256)[:32].astype(np.uint8)
    out = np.zeros_like(x)
    kernel = sort_and_add[(1,)](x, 1, out, BLOCK=32, num_warps=1)
    assert (out == np.sort(x)[::-1]).all()
    exchanged = re.findall(r"call i32 @llvm.amdgcn.update.dpp.*", kernel.asm["llir"])
    assert exchanged and not [
        call for call in exchanged if re.search(r"i32 poison, i32 -?\d", call)
    ]


@tile.jit
def multiply(a, b):
    return a * b


@tile.jit
def product_of_all(x, out, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK)).to(tl.int64)
    tl.store(out, tl.reduce(v, 0, multiply))
    tl.store(out + 1, tl.reduce(v // 3, 0, multiply))


def test_factors_of_other_lanes(target):
    """LLVM wrote a product of 64 bits with DPP for gfx12, which no assembler knows."""
    x = rng.integers(3, 6, 32).astype(np.uint8)
    out = np.zeros(2, np.int64)
    kernel = product_of_all[(1,)](x, out, BLOCK=32, num_warps=1)
    want = np.multiply.reduce(x.astype(np.int64)), np.multiply.reduce(x.astype(np.int64) // 3)
    assert tuple(out) == want
    backend = find_backend(tile.GPUTarget(*target.split(":"), 32 if "gfx1" in target else 64))
    assert backend.make_hsaco(kernel.asm["amdgcn"], {}, options=backend.parse_options({}))


@tile.jit
def store_inner_product(a, b, out, n, N: tl.constexpr):
    """Stores all columns but the first, one place to the left, of the first n rows. Offsets that
    may be negative are none of a buffer: each lane branches around its store."""
    i = tl.arange(0, N)
    x = tl.load(a + i[:, None] * N + i[None, :])
    y = tl.load(b + i[:, None] * N + i[None, :])
    mask = (i[:, None] < n) & (i[None, :] >= 1)
    tl.store(out + i[:, None] + (i[None, :] - 1) * N, tl.dot(x, y), mask=mask)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int8, np.float32])
@pytest.mark.parametrize("num_warps", [1, 4, 8, 16])
def test_products_before_divergent_branches(target, dtype, num_warps):
    """On gfx1100 LLVM moved the dot into the branch around the store."""
    n = 16 if dtype != np.int8 else 32
    a, b = rng.integers(-3, 4, (2, n, n)).astype(dtype)
    exact = a.astype(np.int32) @ b.astype(np.int32)
    out = np.full((n, n), -99, np.int32 if dtype == np.int8 else np.float32)
    store_inner_product[(1,)](a, b, out, n - 3, N=n, num_warps=num_warps)
    want = np.full((n, n), -99)
    want[: n - 3, : n - 1] = exact[: n - 3, 1:]
    assert (out.T == want).all()


@tile.jit
def large(a, b):
    return tl.where((a > 5) | (b > 5), 6, 0).to(a.dtype)


@tile.jit
def has_large(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.reduce(tl.load(x + tl.arange(0, BLOCK)), 0, large))


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.float32])
def test_others_values_beside_constants(target, dtype):
    """On gfx1100 LLVM merged the exchange into a comparison with the constant, which is none that
    the GPU has."""
    for place in (None, 0, 37, 63):
        x, out = np.arange(64).astype(dtype) % dtype(6), np.zeros(1, dtype)
        if place is not None:
            x[place] = 6
        kernel = has_large[(1,)](x, out, BLOCK=64, num_warps=1)
        assert out[0] == (0 if place is None else 6)
    backend = find_backend(tile.GPUTarget(*target.split(":"), 32 if "gfx1" in target else 64))
    assert backend.make_hsaco(kernel.asm["amdgcn"], {}, options=backend.parse_options({}))
    if target.endswith("gfx1100") and dtype != np.float32:
        assert re.search(r"v_cmp_\w+_e64_dpp", kernel.asm["amdgcn"])


@tile.jit
def first_of_the_largest(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.argmax(tl.load(x + tl.arange(0, BLOCK)), 0))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("opt_level", [1, 2, 3])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16])
def test_narrow_values_of_others_at_each_level(target, dtype, opt_level):
    """On gfx1100 LLVM merged the exchange into the extension of the sign, whose constants are no
    operands of that instruction. At -O1 no later pass mended it."""
    x, out = rng.integers(1, 7, 64).astype(dtype), np.zeros(1, np.int32)
    kernel = first_of_the_largest[(1,)](x, out, BLOCK=64, num_warps=1, opt_level=opt_level)
    assert out[0] == np.argmax(x)
    backend = find_backend(tile.GPUTarget(*target.split(":"), 32 if "gfx1" in target else 64))
    assert backend.make_hsaco(kernel.asm["amdgcn"], {}, options=backend.parse_options({}))


@tile.jit
def exchange(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(x + i, 4)
    tl.store(out + i, v.to(tl.int32))


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_signed_loads_stay_before_stores(target, dtype):
    """All waves load what one of them overwrites; LLVM moved the load behind the store where it
    extends the sign as well."""
    x = rng.permutation(64)[:32].astype(dtype) - dtype(32)
    before, out = x.astype(np.int32), np.zeros(32, np.int32)
    kernel = exchange[(1,)](x, out, BLOCK=32, num_warps=4)
    assert (out == before).all() and (x == 4).all()
    memory = re.findall(r"^\s+(?:buffer|global)_(load|store)_", kernel.asm["amdgcn"], re.MULTILINE)
    assert memory == ["load", "store", "store"]


@tile.jit
def arrive(x, parts, arrivals, out, COUNT: tl.constexpr, BLOCK: tl.constexpr, LAST: tl.constexpr):
    pid, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(parts + pid, tl.sum(tl.load(x + pid * BLOCK + i)))
    tl.debug_barrier()
    before = tl.atomic_add(arrivals, 1, sem="acq_rel")
    if before == LAST:
        total = tl.sum(tl.load(parts + tl.arange(0, COUNT), cache_modifier=".cg"))
        tl.store(out, total)
        tl.store(arrivals, 0)


@pytest.mark.simulator
def test_the_last_block_begins_anew():
    """Who has seen by an atomic that all others have arrived may store to that place."""
    x = rng.integers(-9, 9, (4, 64)).astype(np.int32)
    parts, arrivals, out = (np.zeros(n, np.int32) for n in (4, 1, 1))
    arrive[(4,)](x, parts, arrivals, out, COUNT=4, BLOCK=64, LAST=3)
    assert out[0] == x.sum() and arrivals[0] == 0
    # Others are still to come where it was not the last.
    with pytest.raises(TileError, match="race"):
        arrive[(4,)](x, parts, arrivals, out, COUNT=4, BLOCK=64, LAST=2)


def test_the_roofline_is_of_such_a_gpu(target):
    x, y = rng.standard_normal((2, 1024)).astype(np.float32)
    report = add.simulate(x, y, np.zeros_like(x), 1024, grid=(1,), BLOCK=1024)
    gpu, rate = {
        "hip:gfx942": ("MI300X", 5.3e12),
        "hip:gfx1100": ("RX 7900 XTX", 0.96e12),
        "hip:gfx1201": ("RX 9070 XT", 0.64e12),
        "hip:gfx1250": ("MI355X", 8.0e12),
    }[target]
    assert report.roofline()["gpu"] == gpu
    assert report.roofline()["memory"] == pytest.approx(3 * 4 * 1024 / rate)
    assert f"{gpu} at least" in str(report) and "waves a SIMD unit" in str(report)
    assert report.roofline("H200")["gpu"] == "H200"


@tile.jit
def carries_mask(x, stop, w, any_ptr, out, N: tl.constexpr, R: tl.constexpr):
    lanes, many = tl.arange(0, N), tl.arange(0, 1024)
    flags = tl.load(x + lanes)
    stops = tl.load(stop + many, mask=many < 0, other=0)
    carried = flags ^ flags
    v = tl.load(w + lanes)
    for i in tl.range(0, R):
        if tl.reduce_or(stops.to(tl.int32), None) != 0:
            break
        v ^= (i - 715827882) % tl.where((v == 0) | (v == -1), -5, v)
        tl.store(any_ptr + i, tl.reduce_or(carried.to(tl.int32), None) != 0)
        carried = flags
    tl.store(out + lanes, v)


@tile.jit
def carries_mask_if_set(x, stop, w, any_ptr, out, N: tl.constexpr, R: tl.constexpr):
    lanes, many = tl.arange(0, N), tl.arange(0, 1024)
    flags = tl.load(x + lanes)
    stops = tl.load(stop + many, mask=many < 0, other=0)
    carried = flags ^ flags
    v = tl.load(w + lanes)
    for i in tl.range(0, R):
        if tl.reduce_or(stops.to(tl.int32), None) != 0:
            break
        v ^= (i - 715827882) % tl.where((v == 0) | (v == -1), -5, v)
        carries = tl.reduce_or(carried.to(tl.int32), None) != 0
        if carries:
            carried = flags
        tl.store(any_ptr + i, carries)
    tl.store(out + lanes, v)


@pytest.mark.parametrize(
    ("kernel", "found"), [(carries_mask, [0, 1, 1, 1, 1]), (carries_mask_if_set, [0, 0, 0, 0, 0])]
)
def test_masks_that_loops_carry(kernel, found):
    """LLVM merged the mask for the next iteration before it was computed."""
    x, stop = np.array([1, 0, 0, 1], bool), np.ones(1024, bool)
    w = rng.integers(-9, 9, 4).astype(np.int32)
    any_of, out = np.full(5, 7, np.int8), np.zeros(4, np.int32)
    kernel[(1,)](x, stop, w, any_of, out, N=4, R=5, num_warps=1)
    v = w.astype(np.int64)
    for i in range(5):
        v ^= np.fmod(i - 715827882, np.where((v == 0) | (v == -1), -5, v))
    np.testing.assert_array_equal(any_of, found)
    np.testing.assert_array_equal(out, v.astype(np.int32))
