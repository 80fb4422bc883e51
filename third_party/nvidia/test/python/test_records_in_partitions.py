"""Records of the profiler where warps go ways of their own: partitions, persistent loops."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import poisoned, sim_only

import tile
import tile.language as tl
import tile.profiler as proton
import tile.profiler.language as pl
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import mbarrier

pytestmark = [pytest.mark.usefixtures("own_settings"), sim_only]


@pytest.fixture(autouse=True)
def target(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")
    yield
    proton.finalize()


def record(path: Path, run: Any, mode: str = "default") -> dict[int, list[str]]:
    """The scopes of each warp of block 0, in the order in which they began."""
    session = proton.start(str(path), data="trace", backend="instrumentation", mode=mode)
    run()
    proton.finalize(session)
    events = json.loads(path.with_suffix(".chrome_trace").read_text())["traceEvents"]
    found: dict[int, list[str]] = {}
    for e in events:
        if str(e["pid"]).endswith(" CTA0"):
            warp = int(e["tid"].removeprefix("warp "))
            # What begins in one warp and ends in another one is there twice.
            if not e.get("flow_in"):
                found.setdefault(warp, []).append(e["name"])
    return found


@gluon.jit
def producer(x, buffer, ready, empty, steps, N: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    i = gl.arange(0, N, layout=LAYOUT)
    for k in range(steps):
        mbarrier.wait(empty, (k & 1) ^ 1)
        with pl.scope("write"):
            buffer.store(gl.load(x + k * N + i))
        if k % 2 == 0:
            with pl.scope("even"):
                pass
        mbarrier.arrive(ready)


@gluon.jit
def consumer(y, buffer, ready, empty, steps, N: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    i = gl.arange(0, N, layout=LAYOUT)
    for k in range(steps):
        pl.enter_scope("wait")
        mbarrier.wait(ready, k & 1)
        pl.exit_scope("wait")
        gl.store(y + k * N + i, buffer.load(LAYOUT) * 2)
        mbarrier.arrive(empty)


@gluon.jit
def partitions(x, y, steps, N: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [N], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready, empty = mbarrier.allocate_mbarrier(), mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(empty, count=1)
    with pl.scope("all"):
        gl.warp_specialize(
            [
                (consumer, (y, buffer, ready, empty, steps, N)),
                (producer, (x, buffer, ready, empty, steps, N)),
            ],
            [2],
            [40],
        )


@pytest.mark.parametrize("kind", ["shared", "global"])
@pytest.mark.parametrize("strategy", ["circular", "flush"])
@pytest.mark.parametrize("steps", [0, 5, 40])
def test_each_partition_has_its_records(
    steps: int, strategy: str, kind: str, tmp_path: Path
) -> None:
    x = np.arange(max(1, steps) * 256, dtype=np.int32)
    y = poisoned(x.size, "i32")
    expected = x * 2 if steps else y.copy()
    found = record(
        tmp_path / "p",
        lambda: partitions[(1,)](x, y, steps, 256),
        f"default:buffer_type={kind}:buffer_strategy={strategy}",
    )
    np.testing.assert_array_equal(y, expected)
    written = [n for k in range(steps) for n in ["write"] + ["even"] * (k % 2 == 0)]
    # Warps of partitions may be rounded up to a group: the rest record nothing.
    assert {w: n for w, n in found.items() if n} == {
        **{w: ["all"] + ["wait"] * steps for w in range(4)},
        **({w: written for w in (4, 5)} if steps else {}),
    }


@gluon.jit
def sends(buffer, ready, event, steps, N: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    for k in range(steps):
        pl.start_event(event)
        mbarrier.wait(ready.index(0), (k & 1) ^ 1)
        buffer.store(gl.full([N], 1, gl.int32, LAYOUT) * k)
        mbarrier.arrive(ready.index(1))


@gluon.jit
def receives(y, buffer, ready, event, steps, N: gl.constexpr):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [gl.num_warps()], [0])
    own = pl.allocate_event("own")
    i = gl.arange(0, N, layout=LAYOUT)
    pl.record_event(own, True)
    for k in range(steps):
        mbarrier.wait(ready.index(1), k & 1)
        gl.store(y + k * N + i, buffer.load(LAYOUT))
        pl.end_event(event)
        pl.record_event(own, False)
        pl.record_event(own, True)
        mbarrier.arrive(ready.index(0))


@gluon.jit
def handed_over(y, steps, N: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.int32, [N], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(ready.index(0), count=1)
    mbarrier.init(ready.index(1), count=1)
    event = pl.allocate_event("copy")
    gl.warp_specialize(
        [
            (receives, (y, buffer, ready, event, steps, N)),
            (sends, (buffer, ready, event, steps, N)),
        ],
        [2],
        [40],
    )


@pytest.mark.parametrize("steps", [0, 1, 9])
def test_events_go_from_one_partition_to_another(steps: int, tmp_path: Path) -> None:
    y = poisoned(max(1, steps) * 256, "i32")
    expected = np.repeat(np.arange(steps, dtype=np.int32), 256) if steps else y.copy()
    found = record(tmp_path / "p", lambda: handed_over[(1,)](y, steps, 256))
    np.testing.assert_array_equal(y, expected)
    wanted = {w: ["own"] * steps for w in range(4)} | {4: ["copy"] * steps}
    assert {w: n for w, n in found.items() if n} == (wanted if steps else {})


@tile.jit
def persistent(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b_desc = tl.make_tensor_descriptor(b_ptr, [K, N], [N, 1], [BK, BN])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * columns
    for t in tl.range(tl.program_id(0), tiles, tl.num_programs(0), warp_specialize=True):
        i, j = t // columns * BM, t % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        with pl.scope("products"):
            for k in range(0, tl.cdiv(K, BK)):
                acc = tl.dot(a_desc.load([i, k * BK]), b_desc.load([k * BK, j]), acc)
        if t % 2 == 1:
            with pl.scope("odd"):
                acc += 1.0
        with pl.scope("store"):
            c_desc.store([i, j], acc.to(tl.float16))


@pytest.mark.parametrize("granularity", ["warp", "warp_group"])
def test_persistent_loops_stay_aligned(granularity: str, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    m, n, k = 200, 200, 136
    a = random.integers(-3, 3, (m, k)).astype(np.float16)
    b = random.integers(-3, 3, (k, n)).astype(np.float16)
    c = poisoned((m, n), "fp16")

    def launch() -> Any:
        return persistent[(3,)](a, b, c, m, n, k, BM=64, BN=64, BK=64, num_warps=4)

    kernels = [launch()]
    c = poisoned((m, n), "fp16")
    mode = f"default:granularity={granularity}"
    found = record(tmp_path / "p", lambda: kernels.append(launch()), mode)
    # It is the same kernel that records: divided among warps, with as many barriers.
    assert all("ttg.warp_specialize" in kernel.asm["ttgir"] for kernel in kernels)
    assert len({kernel.asm["ptx"].count("bar.sync") for kernel in kernels}) == 1
    expected = a.astype(np.float32) @ b.astype(np.float32)
    tiles = np.add.outer(np.arange(m) // 64 * 4, np.arange(n) // 64)
    np.testing.assert_array_equal(c, (expected + tiles % 2).astype(np.float16))
    wanted = [name for t in range(0, 16, 3) for name in ["products", *["odd"] * (t % 2), "store"]]
    assert found[0] == wanted
    for names in found.values():
        assert Counter(names) in (Counter(wanted), Counter())


@tile.jit(noinline=True)
def called(x):
    with pl.scope("inside"):
        return_value = tl.load(x)
    return return_value


@tile.jit
def calls(x, out):
    tl.store(out, called(x))


def test_functions_that_are_called_cannot_record(tmp_path: Path) -> None:
    x, out = np.zeros(1, np.float32), np.zeros(1, np.float32)
    with pytest.raises(TileError, match="cannot record: let it be inlined"):
        record(tmp_path / "p", lambda: calls[(1,)](x, out))
