"""Memory: masks, block pointers, descriptors, atomics, pointers as values."""

from __future__ import annotations

import numpy as np
import pytest
from reference import DTYPES, close, on_nvidia, poisoned, random, sim_only

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways


@tile.jit
def options_kernel(x_ptr, out_ptr, n, N: tl.constexpr):
    offsets = tl.arange(0, N)
    mask = offsets < n
    a = tl.load(
        x_ptr + offsets, mask=mask, other=7.0, cache_modifier=".cg", eviction_policy="evict_first"
    )
    b = tl.load(x_ptr + offsets, mask=mask, other=1, volatile=True)
    c = tl.load(
        x_ptr + offsets, mask=mask, other=a, cache_modifier=".ca", eviction_policy="evict_last"
    )
    tl.store(out_ptr + offsets, a + b + c, cache_modifier=".wt", eviction_policy="evict_first")


def test_options_of_loads_and_stores():
    x, out = random(100, "fp32", 1), poisoned(128, "fp32")
    options_kernel[(1,)](x, out, 100, N=128)
    expected = np.full(128, 15, np.float32)
    expected[:100] = 3 * x
    close(out, expected, "fp32")


@tile.jit
def scalar_kernel(x_ptr, out_ptr, n):
    total = 0.0
    for i in range(n):
        total += tl.load(x_ptr + i)
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, tl.load(x_ptr, mask=n > 1000, other=5.0))


def test_scalar_access():
    x, out = random(10, "fp32", 2), poisoned(2, "fp32")
    scalar_kernel[(1,)](x, out, 10)
    close(out, [x.astype(np.float64).sum(), 5], "fp32", 10)


@tile.jit
def bool_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, ~x)


def test_booleans_are_bytes_in_memory():
    x = random(64, "i32", 3) > 0
    out = np.zeros(64, np.bool_)
    bool_kernel[(1,)](x, out, N=64)
    np.testing.assert_array_equal(out, ~x)


@tile.jit
def block_pointer_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    out = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        value = tl.load(x, boundary_check=(0, 1), padding_option="zero")
        tl.store(out, value * 2, boundary_check=(0, 1))
        x = tl.advance(x, (0, BN))
        out = out.advance((0, BN))


@pytest.mark.parametrize(("m", "n"), [(64, 64), (50, 33)])
def test_block_pointers(m, n):
    x, out = random((m, n), "fp16", 1), poisoned((m, n), "fp16")
    block_pointer_kernel[(tile.cdiv(m, 32),)](x, out, m, n, BM=32, BN=16)
    np.testing.assert_array_equal(out, x * 2)


@tile.jit
def descriptor_kernel(x_ptr, out_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BM, BN])
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    out.store([row, column], x.load([row, column]) + 1)


@sim_only
@pytest.mark.parametrize(("m", "n"), [(64, 64), (40, 48)])
def test_descriptors(m, n, monkeypatch):
    # Ampere has no tensor copies: descriptors become pointers and masks.
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:80")
    x, out = random((m, n), "fp16", 1), poisoned((m, n), "fp16")
    descriptor_kernel[(tile.cdiv(m, 32), tile.cdiv(n, 32))](x, out, m, n, BM=32, BN=32)
    np.testing.assert_array_equal(out, x + np.float16(1))


@tile.jit
def atomic_kernel(x_ptr, out_ptr, OP: tl.constexpr, N: tl.constexpr, BINS: tl.constexpr):
    offsets = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    OP(out_ptr + offsets % BINS, x)


ATOMICS = {
    tl.atomic_add: np.add, tl.atomic_max: np.maximum, tl.atomic_min: np.minimum,
    tl.atomic_and: np.bitwise_and, tl.atomic_or: np.bitwise_or, tl.atomic_xor: np.bitwise_xor,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["i32", "u32", "i64", "fp32"])
@pytest.mark.parametrize("op", ATOMICS, ids=lambda op: op.__name__)
def test_atomics(op, dtype):
    if dtype == "fp32" and op in (tl.atomic_and, tl.atomic_or, tl.atomic_xor):
        pytest.skip("bitwise operations take integers")
    x = random(512, dtype, 1)
    start = random(32, dtype, 2)
    out = start.copy()
    atomic_kernel[(2,)](x, out, OP=op, N=256, BINS=32)
    expected = start
    for part in x.reshape(-1, 32):
        expected = ATOMICS[op](expected, part)
    close(out, expected.astype(DTYPES[dtype]), dtype, 100)


@tile.jit
def counter_kernel(counter_ptr, seen_ptr, lock_ptr):
    ticket = tl.atomic_add(counter_ptr, 1)
    tl.store(seen_ptr + ticket, tl.program_id(0))
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(counter_ptr + 1, tl.load(counter_ptr + 1) + 10)
    tl.atomic_xchg(lock_ptr, 0)


def test_tickets_and_locks():
    counter, seen, lock = np.zeros(2, np.int32), poisoned(8, "i32"), np.zeros(1, np.int32)
    counter_kernel[(8,)](counter, seen, lock)
    assert counter.tolist() == [8, 80]
    assert sorted(seen.tolist()) == list(range(8))
    assert lock[0] == 0


@tile.jit
def pointer_table_kernel(table_ptr, out_ptr, n, N: tl.constexpr):
    offsets = tl.arange(0, N)
    for i in range(n):
        address = tl.load(table_ptr + i)
        pointer = address.to(tl.pointer_type(tl.float32))
        tl.store(out_ptr + i * N + offsets, tl.load(pointer + offsets))


@sim_only
@pytest.mark.compiled
def test_pointers_from_integers():
    base = random((3, 32), "fp32", 4)
    table = np.array([base[i].ctypes.data for i in (2, 0, 1)], np.int64)
    out = poisoned((3, 32), "fp32")
    import tile.sim

    kernel = pointer_table_kernel.warmup(table, out, 3, grid=(1,), N=32)
    text, block = (
        kernel.asm["ptx" if on_nvidia() else "amdgcn"],
        (4 * kernel.metadata.target.warp_size,),
    )
    tile.sim.launch(text, kernel.name, (1,), block, [table, out, 3], allocations=[base])
    np.testing.assert_array_equal(out, base[[2, 0, 1]])


@tile.jit
def out_of_bounds_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@sim_only
@pytest.mark.compiled
def test_the_simulator_reports_accesses_out_of_bounds():
    import tile.sim

    x, out = random(100, "fp32", 1), poisoned(128, "fp32")
    with pytest.raises(tile.sim.SimulationError) as caught:
        out_of_bounds_kernel[(1,)](x, out, N=128)
    assert "test_masks_and_pointers.py" in str(caught.value)


@tile.jit
def random_kernel(out_ptr, seed, N: tl.constexpr):
    offsets = tl.arange(0, N)
    a, b, c, d = tl.randint4x(seed, offsets)
    tl.store(out_ptr + offsets, a)
    tl.store(out_ptr + N + offsets, b)
    tl.store(out_ptr + 2 * N + offsets, c)
    tl.store(out_ptr + 3 * N + offsets, d)


def philox(seed: int, counters: np.ndarray, rounds: int = 10) -> np.ndarray:
    """Philox 4x32, from its definition."""
    mask = 0xFFFFFFFF
    result = []
    for counter in counters.tolist():
        c = [counter & mask, (counter >> 32) & mask, 0, 0]
        k = [seed & mask, (seed >> 32) & mask]
        for _ in range(rounds):
            p0, p1 = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
            c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & mask, (p0 >> 32) ^ c[3] ^ k[1], p0 & mask]
            k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
        result.append(c)
    return np.array(result, np.uint32).T


@pytest.mark.parametrize("seed", [0, 42, 2**40 + 3])
def test_random_integers_are_philox(seed):
    out = poisoned((4, 64), "u32")
    random_kernel[(1,)](out, seed, N=64)
    np.testing.assert_array_equal(out, philox(seed, np.arange(64)))


@tile.jit
def uniform_kernel(out_ptr, seed, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(out_ptr + offsets, tl.rand(seed, offsets))
    tl.store(out_ptr + N + offsets, tl.randn(seed, offsets))


def test_distributions():
    out = poisoned((2, 4096), "fp32")
    uniform_kernel[(1,)](out, 7, N=4096)
    assert 0 <= out[0].min() and out[0].max() < 1
    assert abs(out[0].mean() - 0.5) < 0.02
    assert abs(out[1].mean()) < 0.05 and abs(out[1].std() - 1) < 0.05


@tile.jit
def asm_kernel(x_ptr, out_ptr, N: tl.constexpr):
    offsets = tl.arange(0, N)
    x = tl.load(x_ptr + offsets)
    y = tl.inline_asm_elementwise(
        "shf.l.wrap.b32 $0, $1, $1, 7;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1
    )
    tl.store(out_ptr + offsets, y)


@pytest.mark.compiled
@pytest.mark.nvidia("its assembly is PTX")
def test_inline_assembly():
    x, out = random(128, "i32", 1), poisoned(128, "i32")
    asm_kernel[(1,)](x, out, N=128)
    bits = x.view(np.uint32)
    np.testing.assert_array_equal(out.view(np.uint32), (bits << 7) | (bits >> 25))
