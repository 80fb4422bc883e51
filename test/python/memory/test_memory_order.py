"""What is read early, late or twice must be what the program says: loops with pointers of unknown
origin, divisions beyond the last iteration, volatile reads."""

from __future__ import annotations

import numpy as np
import pytest
from reference import on_nvidia, sim_only

import tile
import tile.language as tl

B = 128


@tile.jit
def doubling(x_ptr, rounds, steps, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    # The pointers live in a while loop; each tile comes from the one before.
    source = x_ptr + tl.arange(0, BLOCK)
    target = source + BLOCK
    done = 0
    while done < rounds:
        for _ in tl.range(0, steps, num_stages=STAGES):
            tl.store(target, tl.load(source) * 2)
            source += BLOCK
            target += BLOCK
        done += 1


@pytest.mark.parametrize("stages", [1, 2, 3, 5])
@pytest.mark.parametrize("rounds,steps", [(1, 6), (2, 3), (3, 0)])
def test_pointers_that_a_while_loop_carries(rounds, steps, stages):
    n = rounds * steps
    x = np.random.default_rng(n).integers(-9, 9, (n + 1, B)).astype(np.int32)
    want = x[0] * 2 ** np.arange(n + 1)[:, None]
    doubling[(1,)](x, rounds, steps, BLOCK=B, STAGES=stages)
    np.testing.assert_array_equal(x, want)


@tile.jit
def quotients(x_ptr, out_ptr, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    # In the iteration behind the last the divisor would be zero, in a branch and outside of one.
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=tl.int32)
    for i in tl.range(0, n, num_stages=STAGES):
        row = (n * 3) // (n - i)
        if i % 2 == 0:
            row += (n * 5) % (n - i)
        total += tl.load(x_ptr + row * BLOCK + lanes)
    tl.store(out_ptr + lanes, total)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 9])
def test_divisors_that_are_zero_behind_the_last_iteration(n, stages):
    x = np.random.default_rng(n).integers(-1000, 1000, (4 * n + 8, B)).astype(np.int32)
    out = np.full(B, -1, np.int32)
    kernel = quotients[(1,)](x, out, n, BLOCK=B, STAGES=stages)
    rows = [(n * 3) // (n - i) + ((n * 5) % (n - i) if i % 2 == 0 else 0) for i in range(n)]
    np.testing.assert_array_equal(out, x[rows].sum(axis=0))
    # A single iteration is no loop.
    if on_nvidia():
        assert ("async_copy" in kernel.asm["ttgir"]) == (stages > 1 and n > 1)


@tile.jit
def locked_sum(lock_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    # Each program adds what it finds, and leaves something for the next to find.
    lanes = tl.arange(0, BLOCK)
    for i in tl.range(0, n, num_stages=STAGES):
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
        x = tl.load(x_ptr + lanes)
        tl.debug_barrier()
        tl.store(x_ptr + lanes, x + i + 1)
        tl.atomic_xchg(lock_ptr, 0)
    tl.store(out_ptr + lanes, n)


@pytest.mark.parametrize("stages", [1, 3])
def test_loads_behind_a_lock(stages):
    programs, n = 4, 5
    lock, x, out = np.zeros(1, np.int32), np.zeros(B, np.int32), np.zeros(B, np.int32)
    locked_sum[(programs,)](lock, x, out, n, BLOCK=B, STAGES=stages)
    np.testing.assert_array_equal(x, np.full(B, programs * n * (n + 1) // 2))


@tile.jit
def ticketed(ticket_ptr, x_ptr, seen_ptr, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    # Program 0 publishes one tile after the other; program 1 reads what is published.
    lanes = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        for i in range(n):
            tl.store(x_ptr + i * BLOCK + lanes, lanes + i + 1)
            tl.atomic_add(ticket_ptr, 1, sem="release")
    else:
        wrong = tl.zeros((BLOCK,), dtype=tl.int32)
        for i in tl.range(0, n, num_stages=STAGES):
            published = tl.atomic_add(ticket_ptr, 0, sem="acquire")
            x = tl.load(x_ptr + i * BLOCK + lanes)
            wrong += ((x != lanes + i + 1) & (i < published)).to(tl.int32)
        tl.store(seen_ptr + lanes, wrong)


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_loads_behind_an_acquire(stages):
    n = 12
    ticket, x = np.zeros(1, np.int32), np.full((n, B), -7, np.int32)
    wrong = np.full(B, -1, np.int32)
    kernel = ticketed[(2,)](ticket, x, wrong, n, BLOCK=B, STAGES=stages)
    np.testing.assert_array_equal(wrong, 0)
    assert "async_copy" not in kernel.asm["ttgir"]


@tile.jit
def racing(flag_ptr, out_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    # Program 0 changes the flag all the time; all threads of the others see the same value.
    lanes = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        for i in range(n):
            tl.atomic_xchg(flag_ptr + tl.arange(0, 4), tl.full((4,), 0, tl.int32) + i)
            tl.debug_barrier()
    else:
        differ = tl.zeros((BLOCK,), dtype=tl.int32)
        for _ in range(n):
            if KIND == "scalar":
                seen = tl.load(flag_ptr, volatile=True)
            else:
                seen = tl.max(tl.load(flag_ptr + tl.arange(0, 4), volatile=True), axis=0)
            mine = tl.zeros((BLOCK,), dtype=tl.int32) + seen
            differ += (tl.max(mine, axis=0) != tl.min(mine, axis=0)).to(tl.int32)
            if seen > n // 2:  # A barrier that all threads reach, or none.
                tl.debug_barrier()
        tl.store(out_ptr + lanes, differ)


@pytest.mark.parametrize("kind", ["scalar", "tensor"])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_threads_agree_on_what_they_saw(kind, num_warps):
    flag, out = np.zeros(4, np.int32), np.full(B, -1, np.int32)
    racing[(3,)](flag, out, 40, BLOCK=B, KIND=kind, num_warps=num_warps)
    np.testing.assert_array_equal(out, 0)


@tile.jit
def overwritten_count(count_ptr, out_ptr, BLOCK: tl.constexpr, ATOMIC: tl.constexpr):
    # Every warp loads the scalar; no warp may see what one of them writes then.
    n = tl.load(count_ptr)
    if ATOMIC:
        tl.atomic_add(count_ptr, 1)
    else:
        tl.store(count_ptr, n + 1)
    sums = tl.arange(0, BLOCK)
    for _ in range(n):
        sums = tl.cumsum(sums, 0)
    tl.store(out_ptr + tl.arange(0, BLOCK), sums + n)


@tile.jit
def overwritten_block(x_ptr, out_ptr):
    i = tl.arange(0, 16)
    x = tl.load(x_ptr + i)
    tl.store(x_ptr + i, -x)
    tl.store(out_ptr + i[:, None] * 16 + i[None, :], x[:, None] * 100 + x[None, :])
    turned = tl.reshape(tl.trans(tl.reshape(x, [4, 4])), [16])
    tl.store(out_ptr + 256 + i, turned)


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("atomic", [False, True])
def test_a_scalar_that_is_overwritten(num_warps, atomic):
    count, out = np.full(1, 3, np.int32), np.zeros(B, np.int32)
    overwritten_count[(1,)](count, out, BLOCK=B, ATOMIC=atomic, num_warps=num_warps)
    assert count[0] == 4
    want = np.arange(B, dtype=np.int32)
    for _ in range(3):
        want = np.cumsum(want, dtype=np.int32)
    np.testing.assert_array_equal(out, want + 3)


@pytest.mark.parametrize("num_warps", [1, 4, 8])
def test_a_block_that_is_overwritten(num_warps):
    x, out = np.arange(5, 21, dtype=np.int32), np.zeros(272, np.int32)
    overwritten_block[(1,)](x, out, num_warps=num_warps)
    want = np.arange(5, 21)
    np.testing.assert_array_equal(x, -want)
    np.testing.assert_array_equal(out[:256].reshape(16, 16), want[:, None] * 100 + want)
    np.testing.assert_array_equal(out[256:], want.reshape(4, 4).T.ravel())


@tile.jit
def guarded_read(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    small = tl.load(x_ptr + tl.arange(0, 8), mask=tl.arange(0, 8) < limit, other=77, volatile=True)
    one = tl.load(x_ptr + limit, mask=limit < 4, other=-5, volatile=True)
    tl.store(out_ptr + lanes, tl.sum(small, axis=0) + one + lanes * 0)


@pytest.mark.parametrize("limit", [0, 3, 4, 8])
def test_masked_volatile_reads(limit):
    x, out = np.arange(3, 11, dtype=np.int32), np.zeros(B, np.int32)
    guarded_read[(1,)](x, out, limit, BLOCK=B)
    small = np.where(np.arange(8) < limit, x, 77).sum()
    np.testing.assert_array_equal(out, small + (x[limit] if limit < 4 else -5))


@sim_only
def test_one_thread_reads_a_volatile_scalar():
    @tile.jit
    def kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
        tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr, volatile=True))

    x, out = np.full(1, 9, np.int32), np.zeros(B, np.int32)
    report = kernel.simulate(x, out, grid=(1,), BLOCK=B)
    np.testing.assert_array_equal(out, 9)
    assert report.counters["global_load_bytes"] == 4


@tile.jit
def powers(p, n):
    i = 0
    while i < n:
        tl.store(p + 1, tl.load(p) * 2)
        p += 1
        i += 1


@tile.jit
def counted_powers(p, n):
    for _ in tl.range(0, n, num_stages=3):
        x = tl.load(p)
        p += 1
        tl.store(p, x + x)


@pytest.mark.parametrize("kernel", [powers, counted_powers])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_scalars_that_come_from_the_iteration_before(kernel, num_warps):
    x = np.array([1, 0, 0, 0, 0, 0, 0], np.int32)
    kernel[(1,)](x, 6, num_warps=num_warps)
    assert x.tolist() == [1, 2, 4, 8, 16, 32, 64]


@tile.jit
def scalars_and_blocks(p, out, n, FEW: tl.constexpr, MANY: tl.constexpr):
    many = tl.arange(0, MANY)
    for i in range(n):
        tl.store(p + many, many + i)
        tl.store(p + MANY - 1, i)  # Another thread than that of the block's element.
        tl.store(p + tl.arange(0, FEW), tl.load(p + MANY - 1) + 1)
        few = tl.load(p + FEW - 1 - tl.arange(0, FEW))
        tl.atomic_add(p + 1, 2)
        tl.store(out + i * MANY + many, tl.load(p + many) + tl.sum(few, 0))


@pytest.mark.parametrize("num_warps", [1, 4, 8])
@pytest.mark.parametrize("few", [2, 16])
def test_scalars_are_ordered_with_blocks(num_warps, few):
    n, many = 3, 512
    p, out = np.zeros(many, np.int32), np.zeros((n, many), np.int32)
    scalars_and_blocks[(1,)](p, out, n, FEW=few, MANY=many, num_warps=num_warps)
    for i in range(n):
        row = np.arange(many) + i
        row[-1] = i
        row[:few] = i + 1
        total = row[:few].sum()
        row[1] += 2
        np.testing.assert_array_equal(out[i], row + total)


@tile.jit
def other_threads(p, q, out, first, HOW: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    # `q` is aligned as `p + first` is not: loads of both go to threads in fours.
    x = tl.load(p + first + i) + tl.load(q + i)
    if HOW == "store":
        tl.store(p + first + i, i)
    elif HOW == "add":
        tl.atomic_add(p + first + i, i, sem="relaxed")
    elif HOW == "both":
        tl.atomic_add(p + first + i, i, sem="relaxed")
        x += tl.load(p + first + i) + tl.load(q + i)
    elif HOW == "transposed":
        j = tl.arange(0, 32)
        tl.store(p + first + j[:, None] + 32 * j[None, :], j[:, None] + 32 * j[None, :])
    tl.store(out + i, x)


@pytest.mark.parametrize("how", ["store", "add", "both", "transposed"])
def test_blocks_of_which_other_threads_have_the_elements(how):
    n = 1024
    p, q = np.arange(n + 3, dtype=np.int32), np.arange(n, dtype=np.int32)
    out = np.zeros(n, np.int32)
    other_threads[(1,)](p, q, out, 3, HOW=how, N=n)
    before, i = np.arange(3, n + 3), np.arange(n)
    after = i if how in ("store", "transposed") else before + i
    np.testing.assert_array_equal(p[3:], after)
    np.testing.assert_array_equal(out, before + i + (after + i if how == "both" else 0))


@tile.jit(noinline=True)
def write_all(p, value, MANY: tl.constexpr):
    tl.store(p + tl.arange(0, MANY), value + tl.arange(0, MANY))


@tile.jit(noinline=True)
def read_one(p, at):
    return tl.load(p + at)


@tile.jit
def through_functions(p, out, n, MANY: tl.constexpr):
    for i in range(n):
        write_all(p, i, MANY)
        tl.store(out + i, tl.load(p + MANY - 1) + read_one(p, 300))
        tl.store(p + 300, i * 10)
        tl.store(out + n + i, read_one(p, 300))


def test_scalars_and_blocks_of_functions():
    n, many = 3, 512
    p, out = np.zeros(many, np.int32), np.zeros(2 * n, np.int32)
    through_functions[(1,)](p, out, n, MANY=many)
    assert out.tolist() == [811 + 2 * i for i in range(n)] + [10 * i for i in range(n)]


@sim_only
@pytest.mark.parametrize("options", [{"schedule_seed": 5}, {"schedules": 3}])
def test_scalars_are_ordered_under_other_schedules(options):
    x = np.array([1, 0, 0, 0, 0, 0, 0], np.int32)
    assert powers.simulate(x, 6, grid=(1,), **options).ok
    assert x.tolist() == [1, 2, 4, 8, 16, 32, 64]
    with pytest.raises(tile.TileError, match="schedules must be a number from 1"):
        powers.simulate(x, 6, grid=(1,), schedules=0)


@tile.jit
def kept(x_ptr, out_ptr, wanted, n, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """What is used in a branch only was read before the place got another value."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if HOW == "masked":
        tl.store(x_ptr + i, 7.0, mask=i < n)
    elif HOW == "hinted":
        tl.store(x_ptr + i, 7.0, cache_modifier=".cs")
    elif HOW == "added":
        tl.atomic_add(x_ptr + i, 7.0)
    else:
        tl.atomic_xchg(x_ptr + i, 7.0, mask=i < n, sem="relaxed")
    if wanted > 3:
        tl.store(out_ptr + i, x)


@pytest.mark.every_target
@pytest.mark.parametrize("how", ["masked", "hinted", "added", "exchanged"])
def test_loads_stay_before_what_writes(how):
    x, out = np.arange(B, dtype=np.float32), np.zeros(B, np.float32)
    kept[(1,)](x, out, 4, B, how, BLOCK=B)
    np.testing.assert_array_equal(out, np.arange(B))
    np.testing.assert_array_equal(x, 7 + (np.arange(B) if how == "added" else 0))
