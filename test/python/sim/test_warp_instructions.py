# ruff: noqa: E501  (PTX text reads better unbroken)
"""shfl, vote, match, redux, elect, activemask, barriers with reductions: each lane against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from ptxlib import header_for

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(5)
FULL = 0xFFFFFFFF


def run(text, arrays, results, threads=32, **options):
    """Every thread loads one word of each array into %a, %b, ... and stores %x, %y, ..."""
    names, outs = "abcd"[: len(arrays)], "xyz"[:results]
    body = [".reg .b32 %a, %b, %c, %d, %x, %y, %z, %l, %t; .reg .b64 %q, %w, %v; .reg .pred %p<8>;"]
    body.append("mov.u32 %t, %tid.x; mov.u32 %l, %laneid; mov.b32 %x, 0; mov.b32 %y, 0; mov.b32 %z, 0;")  # fmt: skip
    for i, name in enumerate(names):
        body.append(f"ld.param.u64 %q, [p{i}]; mad.wide.u32 %q, %t, 4, %q; ld.global.b32 %{name}, [%q];")  # fmt: skip
    body.append(text)
    for i, name in enumerate(outs):
        body.append(f"ld.param.u64 %q, [p{i + len(names)}]; mad.wide.u32 %q, %t, 4, %q; st.global.b32 [%q], %{name};")  # fmt: skip
    params = ", ".join(f".param .u64 p{i}" for i in range(len(arrays) + results))
    ptx = (
        f"{header_for(str(body))}.visible .entry op({params})\n{{\n"
        + "\n".join(body)
        + "\nret;\n}\n"
    )
    out = [np.zeros(threads, np.uint32) for _ in range(results)]
    tile.sim.launch(ptx, "op", 1, threads, [*arrays, *out], max_instructions=100_000, **options)
    return out


def words(count=32, high=1 << 32):
    return rng.integers(0, high, count, dtype=np.uint64).astype(np.uint32)


#: Clamp values as compilers write them: whole warps and segments of 16, 8, 4, 2 lanes.
SEGMENTS = [0x1F, 0x00, 0x101F, 0x1000, 0x181F, 0x1800, 0x1C1F, 0x1E00, 0x0F, 0x1807]


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("clamp", SEGMENTS, ids=hex)
def test_shfl(mode, clamp):
    value, b = words(), words(high=40)
    got, valid = run(
        f"shfl.sync.{mode}.b32 %x|%p1, %a, %b, {clamp}, 0xffffffff; selp.b32 %y, 1, 0, %p1;",
        [value, b],
        2,
    )
    for lane in range(32):
        # The pseudo code of the ISA.
        bval, cval, mask = int(b[lane]) & 31, clamp & 31, clamp >> 8 & 31
        high, low = (lane & mask) | (cval & ~mask), lane & mask
        source = {
            "up": lane - bval,
            "down": lane + bval,
            "bfly": lane ^ bval,
            "idx": low | (bval & ~mask),
        }[mode]
        inside = source >= high if mode == "up" else source <= high
        assert valid[lane] == inside
        assert got[lane] == value[source if inside else lane]


def test_shfl_without_its_predicate_and_among_some_lanes():
    value = words()
    (got,) = run(
        "setp.lt.u32 %p1, %l, 12; @!%p1 bra SKIP; shfl.sync.bfly.b32 %x, %a, 3, 31, 0xfff; SKIP:",
        [value],
        1,
    )
    assert (got[:12] == value[np.arange(12) ^ 3]).all() and (got[12:] == 0).all()


@pytest.mark.parametrize("which", ["none", "all", "some", "one"])
def test_vote(which):
    flags = {"none": np.zeros(32), "all": np.ones(32), "some": words(high=2), "one": np.eye(32)[5]}
    p = flags[which].astype(np.uint32)
    for members in (FULL, 0x0000FFFF, 0x00FF00F0):
        lanes = [i for i in range(32) if members >> i & 1]
        guard = f"shr.b32 %c, {members}, %l; and.b32 %c, %c, 1; setp.eq.u32 %p7, %c, 0; @%p7 bra SKIP; setp.ne.u32 %p1, %a, 0;"
        for mode, want in [
            ("all", all(p[lanes])),
            ("any", any(p[lanes])),
            ("uni", len(set(p[lanes])) == 1),
        ]:
            text = (
                f"{guard} vote.sync.{mode}.pred %p2, %p1, {members}; selp.b32 %x, 1, 0, %p2; SKIP:"
            )
            (got,) = run(text, [p], 1)
            assert (got[lanes] == want).all() and got.sum() == want * len(lanes)
        text = f"{guard} vote.sync.ballot.b32 %x, %p1, {members}; vote.sync.ballot.b32 %y, !%p1, {members}; SKIP:"
        got, inverse = run(text, [p], 2)
        bits = sum(int(p[i]) << i for i in lanes)
        assert (got[lanes] == bits).all() and (inverse[lanes] == members & ~bits).all()


@pytest.mark.parametrize("bits", [32, 64])
def test_match(bits):
    value = words(high=5)
    # Doubles that differ in the upper word only.
    wide = "mov.b64 %w, {0, %a};" if bits == 64 else ""
    name = "%w" if bits == 64 else "%a"
    (got,) = run(f"{wide} match.any.sync.b{bits} %x, {name}, 0xffffffff;", [value], 1)
    assert (got == [sum(int(v == value[i]) << j for j, v in enumerate(value)) for i in range(32)]).all()  # fmt: skip
    for same in (value, np.full(32, 9, np.uint32)):
        got, all_same = run(
            f"{wide} match.all.sync.b{bits} %x|%p1, {name}, 0xffffffff; selp.b32 %y, 1, 0, %p1;",
            [same],
            2,
        )
        want = same is not value
        assert (got == (FULL if want else 0)).all() and (all_same == want).all()


@pytest.mark.parametrize("kind", ["add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"])  # fmt: skip
def test_redux(kind):
    op, dtype = kind.split(".")
    value = words()
    for members in (FULL, 0x7FFFFFFF, 0x3, 0x80000000):
        lanes = [i for i in range(32) if members >> i & 1]
        x = value[lanes].view(np.int32 if dtype == "s32" else np.uint32)
        want = {
            "add": lambda x: np.array(x.astype(np.int64).sum() & FULL),
            "min": np.min,
            "max": np.max,
            "and": np.bitwise_and.reduce,
            "or": np.bitwise_or.reduce,
            "xor": np.bitwise_xor.reduce,
        }[op](x)
        guard = (
            f"shr.b32 %c, {members}, %l; and.b32 %c, %c, 1; setp.eq.u32 %p7, %c, 0; @%p7 bra SKIP;"
        )
        (got,) = run(f"{guard} redux.sync.{kind} %x, %a, {members}; SKIP:", [value], 1)
        assert (got[lanes] == int(want) & FULL).all()


@pytest.mark.parametrize("suffix", ["", ".abs", ".NaN", ".abs.NaN"])
@pytest.mark.parametrize("op", ["min", "max"])
def test_redux_f32(op, suffix):
    for with_nan in (False, True):
        value = rng.standard_normal(32).astype(np.float32)
        value[3], value[4] = 0.0, -0.0
        if with_nan:
            value[7] = np.nan
        (got,) = run(f"redux.sync.{op}{suffix}.f32 %x, %a, 0xffffffff;", [value.view(np.uint32)], 1)
        x = np.abs(value) if ".abs" in suffix else value
        reduce = getattr(np, ("" if ".NaN" in suffix else "nan") + op)
        np.testing.assert_array_equal(got.view(np.float32), reduce(x))


def test_elect_and_activemask():
    text = """
    setp.lt.u32 %p1, %l, 7; @%p1 bra SKIP;
    elect.sync %x|%p2, 0xffffff80; selp.b32 %y, 1, 0, %p2; activemask.b32 %z;
    SKIP:
    """
    leader, elected, active = run(text, [], 3)
    assert (leader[7:] == 7).all() and elected.tolist() == [int(i == 7) for i in range(32)]
    assert (active[7:] == 0xFFFFFF80).all()


@pytest.mark.parametrize("threads", [32, 64, 96, 70])
def test_barrier_reductions(threads):
    p = words(threads, 2)
    text = "setp.ne.u32 %p1, %a, 0; bar.red.popc.u32 %x, 0, %p1; barrier.cta.red.and.aligned.pred %p2, 1, %p1; bar.red.or.pred %p3, 2, !%p1;"
    for values in (p, np.zeros_like(p), np.ones_like(p)):
        count, every, none = run(
            text + "selp.b32 %y, 1, 0, %p2; selp.b32 %z, 1, 0, %p3;", [values], 3, threads
        )
        assert (count == values.sum()).all()
        assert (every == values.all()).all() and (none == (1 - values).any()).all()


def test_barrier_with_a_thread_count():
    """The first two warps of three meet; the third never comes."""
    text = """
    .shared .align 4 .b8 s[256]; .reg .b32 %s, %m;
    setp.ge.u32 %p1, %t, 64; @%p1 bra DONE;
    mov.u32 %s, s; mad.lo.u32 %m, %t, 4, %s; st.shared.b32 [%m], %a; barrier.cta.sync 3, 64;
    xor.b32 %m, %t, 32; mad.lo.u32 %m, %m, 4, %s; ld.shared.b32 %x, [%m];
    DONE:
    """
    value = words(96)
    (got,) = run(text, [value], 1, 96)
    assert (got[:64] == value[np.arange(64) ^ 32]).all()


def test_fences_and_hints_have_no_effect():
    text = """
    membar.cta; membar.gl; membar.sys; fence.sc.cta; fence.acq_rel.gpu; fence.sc.sys; fence.acq_rel.cluster;
    fence.proxy.async; fence.proxy.async.shared::cta; fence.proxy.alias; fence.mbarrier_init.release.cluster;
    fence.proxy.tensormap::generic.release.gpu; nanosleep.u32 100; griddepcontrol.wait; griddepcontrol.launch_dependents;
    setmaxnreg.inc.sync.aligned.u32 232; setmaxnreg.dec.sync.aligned.u32 24; pmevent 1; bar.warp.sync 0xffffffff;
    barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
    mov.b32 %x, %a;
    """
    value = words()
    (got,) = run(text, [value], 1)
    assert (got == value).all()


def test_lanes_wait_for_each_other_wherever_they_come_from():
    """Both sides of a branch reach the shuffle by their own paths."""
    text = """
    setp.lt.u32 %p1, %l, 16; @%p1 bra LOW;
    add.u32 %b, %a, 1; bra MEET;
    LOW: mov.u32 %c, 0;
    LOOP: add.u32 %c, %c, 1; setp.lt.u32 %p2, %c, 50; @%p2 bra LOOP; add.u32 %b, %a, 2;
    MEET: shfl.sync.bfly.b32 %x, %b, 16, 31, 0xffffffff;
    """
    value = words(high=1000)
    (got,) = run(text, [value], 1)
    want = value + np.where(np.arange(32) < 16, 2, 1).astype(np.uint32)
    assert (got == want[np.arange(32) ^ 16]).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shfl.idx.b32 %x, %a, 0, 31;", "needs .sync"),
        ("shfl.sync.b32 %x, %a, 0, 31, -1;", "needs a mode"),
        ("shfl.sync.idx.b64 %w, %v, 0, 31, -1;", "needs a mode"),
        ("vote.ballot.b32 %x, %p1;", "needs .sync"),
        ("vote.sync.all.b32 %x, %p1, -1;", "needs .all"),
        ("match.any.sync.b16 %x, %a, -1;", "needs .any or .all"),
        ("redux.sync.add.u64 %w, %v, -1;", "not allowed|has type"),
        ("elect.sync %x, -1;", "needs d"),
        ("setmaxnreg.inc.sync.aligned.u32 25;", "multiple of 8"),
        ("griddepcontrol;", "needs .launch_dependents"),
        ("bar.red.popc.pred %p1, 0, %p2;", "needs .popc.u32"),
    ],
)
def test_bad_forms(text, message):
    with pytest.raises(TileError, match=message):
        run(text, [], 0)
