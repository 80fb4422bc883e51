"""Records in kernels: the backend `instrumentation`, on the simulator of each kind of machine."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import machines
import numpy as np
import pytest

import tile
import tile.language as tl
import tile.profiler as proton
import tile.profiler.language as pl
from tile import knobs
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import mbarrier
from tile.profiler.core.in_kernel import decode
from tile.profiler.core.sums import Times, of_rows, of_units

pytestmark = [
    pytest.mark.usefixtures("own_settings"),
    pytest.mark.simulator,
    pytest.mark.skipif(machines.interpreting(), reason="the interpreter records nothing"),
]

TARGETS = ["cuda:80", "cuda:90", *machines.AMD_TARGETS]
WARPS = 8
#: For each granularity the warps that record, of 8.
GRANULARITIES = {
    "cta": [0], "warp": list(range(8)), "warp_2": [0, 2, 4, 6], "warp_4": [0, 4], "warp_8": [0],
    "warp_group": [0, 4], "warp_group_2": [0], "warp_group_4": [0], "warp_group_8": [0],
}  # fmt: skip
BUFFERS = list(itertools.product(("shared", "global"), ("circular", "flush")))


@pytest.fixture(autouse=True)
def _no_session_is_left() -> Iterator[None]:
    yield
    proton.finalize()


@tile.jit
def sums(x, out, n, steps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    pl.enter_scope("all")
    for step in range(steps):
        with pl.scope("load"):
            part = tl.load(x + step * BLOCK + at, mask=step * BLOCK + at < n, other=0.0)
        if step % 3 == tl.program_id(0) % 3:
            with pl.scope("third"):
                total += part
        total += part
    pl.exit_scope("all")
    tl.store(out + tl.program_id(0) * BLOCK + at, total)


def launch(steps: int = 7, blocks: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Runs `sums`, and checks what it computed; returns the kernel and its grid."""
    random = np.random.default_rng(seed)
    n = steps * 512 - 13
    x = random.integers(-9, 9, n).astype(np.float32)
    out = np.full((blocks, 512), np.nan, np.float32)
    kernel = sums[(blocks,)](x, out, n, steps, BLOCK=512, num_warps=WARPS)
    parts = np.pad(x, (0, steps * 512 - n)).reshape(steps, 512)
    for block in range(blocks):
        expected = parts.sum(0) + parts[[s for s in range(steps) if s % 3 == block % 3]].sum(0)
        np.testing.assert_array_equal(out[block], expected)
    return kernel


def wanted(block: int, steps: int = 7) -> list[str]:
    """The scopes of a block in the order in which they are entered."""
    names = ["all"]
    for step in range(steps):
        names += ["load"] + ["third"] * (step % 3 == block % 3)
    return names


def profile(path: Path, mode: str, **how: Any) -> tuple[Any, list[dict[str, Any]]]:
    """The kernel, and the events of its scopes."""
    session = proton.start(str(path), data="trace", backend="instrumentation", mode=mode)
    kernel = launch(**how)
    proton.finalize(session)
    events = json.loads(path.with_suffix(".chrome_trace").read_text())["traceEvents"]
    return kernel, events


def by_warp(events: list[dict[str, Any]]) -> dict[tuple[int, int], list[dict[str, Any]]]:
    """The scopes of each warp of each block, in the order in which they were entered."""
    found: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for event in events:
        place = re.match(r"sums Core\d+ CTA(\d+)", str(event["pid"]))
        if place:
            warp = int(event["tid"].removeprefix("warp "))
            found.setdefault((int(place[1]), warp), []).append(event)
    return found


def check_nested(events: list[dict[str, Any]]) -> None:
    """Scopes of one warp lie one after the other, or in each other."""
    for one, other in itertools.combinations(events, 2):
        a, b = (one["ts"], one["ts"] + one["dur"]), (other["ts"], other["ts"] + other["dur"])
        apart = a[1] <= b[0] + 1e-9 or b[1] <= a[0] + 1e-9
        inside = (a[0] <= b[0] and b[1] <= a[1]) or (b[0] <= a[0] and a[1] <= b[1])
        assert apart or inside, (one, other)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_every_granularity(
    target: str, granularity: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.run_on(target, monkeypatch)
    _, events = profile(tmp_path / "p", f"default:granularity={granularity}")
    found = by_warp(events)
    assert sorted(found) == [(b, w) for b in range(3) for w in GRANULARITIES[granularity]]
    for (block, _), scopes in found.items():
        assert [e["name"] for e in scopes] == wanted(block)
        check_nested(scopes)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind, strategy", BUFFERS)
@pytest.mark.parametrize("optimizations", ["", "clock32,time_shift", "sched_stores,sched_barriers"])
def test_every_buffer(
    target: str, kind: str, strategy: str, optimizations: str, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Also where a buffer has less room than there are records: the last or the first are kept."""
    machines.run_on(target, monkeypatch)
    mode = f"default:buffer_type={kind}:buffer_strategy={strategy}:optimizations={optimizations}"
    steps, room = 61, 64
    record = 8 if "clock32" in optimizations else 16
    _, events = profile(
        tmp_path / "p", f"{mode}:buffer_size={room * record * WARPS}", steps=steps, seed=3
    )
    found = by_warp(events)
    assert len(found) == 3 * WARPS
    for (block, _), scopes in found.items():
        names = wanted(block, steps)[1:]  # What is around all has lost a half.
        # All but `all` are 2 records each, and come one after the other.
        if strategy == "flush":
            assert [e["name"] for e in scopes] == names[: (room - 1) // 2]
        else:
            assert [e["name"] for e in scopes] == names[-((room - 1) // 2) :]
        assert all(e["args"]["lost"] == 2 * len(names) + 2 - room for e in scopes)
        check_nested(scopes)


@tile.jit
def around_nothing(out, rounds):
    for _ in range(rounds):
        with pl.scope("nothing"):
            pass
    tl.store(out, rounds)


@pytest.mark.parametrize("kind, strategy", BUFFERS)
@pytest.mark.parametrize("clock", ["", "clock32,"])
def test_what_a_record_costs_is_taken_off(
    clock: str, kind: str, strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the latency model, which has no noise: of a scope around nothing little remains."""
    machines.run_on("cuda:90", monkeypatch)
    mode = f"default:buffer_type={kind}:buffer_strategy={strategy}:buffer_size=16384"
    cycles = {}
    for shift in ("", "time_shift"):
        session = proton.start(
            str(tmp_path / f"p{shift}"), backend="instrumentation",
            mode=f"{mode}:optimizations={clock}{shift}",
        )  # fmt: skip
        around_nothing[(1,)](np.zeros(1, np.int32), 20)
        proton.finalize(session)
        root = json.loads((tmp_path / f"p{shift}.hatchet").read_text())[0]
        (nothing,) = root["children"][0]["children"]
        assert nothing["metrics"]["count"] == 20 * 4
        cycles[shift] = nothing["metrics"]["cycles"] / (20 * 4)
    assert cycles["time_shift"] < 0.4 * cycles[""]


@pytest.mark.parametrize("target", TARGETS)
def test_selected_warps_record(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.run_on(target, monkeypatch)
    mode = "default:sampling_strategy=selective:sampling_options=1,6"
    assert sorted(by_warp(profile(tmp_path / "p", mode)[1])) == [
        (b, w) for b in range(3) for w in (1, 6)
    ]


def test_scopes_know_their_lines_and_what_is_around(tmp_path: Path) -> None:
    _, events = profile(tmp_path / "p", "default")
    lines = Path(__file__).read_text().splitlines()
    for event in by_warp(events)[0, 0]:
        file, _, line = event["args"]["source"].rpartition(":")
        assert Path(file) == Path(__file__)
        assert f'"{event["name"]}"' in lines[int(line) - 1]
    paths = {e["name"]: e["args"]["scopes"] for e in by_warp(events)[0, 0]}
    assert paths == {"load": ["all", "load"], "third": ["all", "third"], "all": ["all"]}


def test_tree_has_scopes_below_the_kernel(tmp_path: Path) -> None:
    session = proton.start(str(tmp_path / "p"), backend="instrumentation")
    with proton.scope("outer"):
        launch()
    proton.finalize(session)
    root = json.loads((tmp_path / "p.hatchet").read_text())[0]
    outer = root["children"][0]
    kernel = outer["children"][0]
    assert (outer["frame"]["name"], kernel["frame"]["name"]) == ("outer", "sums")
    (around,) = kernel["children"]
    scopes = [around, *around["children"]]
    counts = {c["frame"]["name"]: c["metrics"]["count"] for c in scopes}
    per_block = sum((Counter(wanted(b)) for b in range(3)), Counter())
    assert counts == {name: count * WARPS for name, count in per_block.items()}
    assert all(c["metrics"]["cycles"] > 0 for c in scopes)
    (path := tmp_path / "t").mkdir()
    _, events = profile(path / "p", "default")
    # What is inside of a scope is not counted in it again.
    whole = sum(e["args"]["cycles"] for e in events if e["name"] == "all")
    assert sum(c["metrics"]["cycles"] for c in scopes) == whole


@pytest.mark.parametrize("target", TARGETS)
def test_nothing_is_in_kernels_without_a_session(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text is the same before, after, while it is paused, and as if there were no scopes."""
    machines.run_on(target, monkeypatch)
    stage = "ptx" if target.startswith("cuda") else "amdgcn"
    before = launch().asm[stage]
    session = proton.start(str(tmp_path / "p"), backend="instrumentation")
    recording = launch()
    assert recording.metadata.profile_scratch_size > 0
    assert recording.asm[stage] != before
    proton.deactivate(session)
    paused = launch()
    assert paused.metadata.profile_scratch_size == 0
    assert paused.asm[stage] == before
    proton.activate(session)
    assert launch().asm[stage] == recording.asm[stage]
    proton.finalize(session)
    assert launch().asm[stage] == before
    assert knobs.compilation.instrumentation_mode == ""


def test_the_setting_makes_kernels_record(monkeypatch: pytest.MonkeyPatch) -> None:
    launch()
    monkeypatch.setenv("TRITON_INSTRUMENTATION_MODE", "default:granularity=cta")
    assert launch().metadata.records["units"] == 1
    monkeypatch.delenv("TRITON_INSTRUMENTATION_MODE")
    assert launch().metadata.profile_scratch_size == 0


def test_two_backends_at_once_record_each_launch_once(tmp_path: Path) -> None:
    for backend in ("simulator", "instrumentation"):
        proton.start(str(tmp_path / backend), backend=backend)
    launch()
    proton.finalize()
    for backend, scopes in (("simulator", 0), ("instrumentation", 1)):
        root = json.loads((tmp_path / f"{backend}.hatchet").read_text())[0]
        (kernel,) = root["children"]
        assert kernel["metrics"]["count"] == 1 and len(kernel["children"]) == scopes


@tile.jit
def products(a, b, out, K, BLOCK: tl.constexpr, BLOCK_K: tl.constexpr):
    i, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, K, BLOCK_K):
        with pl.scope("step"):
            left = tl.load(a + i[:, None] * K + first + k[None, :])
            right = tl.load(b + (first + k[:, None]) * BLOCK + i[None, :])
            total = tl.dot(left, right, total)
    with pl.scope("store"):
        tl.store(out + i[:, None] * BLOCK + i[None, :], total)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "mode, kind", [("default", "shared"), ("default", "global"), ("mma", "shared")]
)
def test_kernels_with_products_and_buffers_of_their_own(
    target: str, mode: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.run_on(target, monkeypatch)
    random = np.random.default_rng(1)
    a = random.integers(-4, 4, (64, 256)).astype(np.float16)
    b = random.integers(-4, 4, (256, 64)).astype(np.float16)
    out = np.full((64, 64), np.nan, np.float32)
    session = proton.start(
        str(tmp_path / "p"), backend="instrumentation", mode=f"{mode}:buffer_type={kind}"
    )
    products[(1,)](a, b, out, 256, BLOCK=64, BLOCK_K=32, num_warps=4)
    proton.finalize(session)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))
    kernel = json.loads((tmp_path / "p.hatchet").read_text())[0]["children"][0]
    below = [*kernel["children"], *(d for c in kernel["children"] for d in c["children"])]
    counts = {c["frame"]["name"]: c["metrics"]["count"] for c in below}
    assert counts["store"] == 4 and counts["step"] == 8 * 4
    # Products of a pipelined loop are copied with it.
    assert counts.get("mma", 0) == (8 * 4 if mode == "mma" else 0)


@pytest.mark.parametrize(
    "mode, message",
    [
        ("default:buffer_size=64", "too small"),
        ("default:buffer_size=1000000", "buffer_type=global"),
        ("default:sampling_strategy=selective:sampling_options=8", "there is no 'warp' 8"),
        ("default:sampling_strategy=selective", "no warp is chosen"),
    ],
)
def test_what_cannot_be_is_an_error_at_a_scope(mode: str, message: str, tmp_path: Path) -> None:
    proton.start(str(tmp_path / "p"), backend="instrumentation", mode=mode)
    with pytest.raises(TileError, match=message) as caught:
        launch()
    assert 'enter_scope("all")' in str(caught.value)


def test_modes_that_it_lacks_are_refused(tmp_path: Path) -> None:
    for mode in ("pcsampling", "periodic_flushing"):
        with pytest.raises(TileError, match="has no mode"):
            proton.start(str(tmp_path / "p"), backend="instrumentation", mode=mode)


@tile.jit
def leaves(x, n):
    for i in range(n):
        with pl.scope("a"):
            if tl.load(x + i) > 0:
                break


@tile.jit
def enters_a_number(x):
    with tl.load(x):
        pass


@tile.jit
def entered_by_number(x):
    pl.enter_scope(3)


def test_scopes_are_left_where_they_were_entered() -> None:
    x = np.zeros(4, np.float32)
    with pytest.raises(TileError, match="a `break` cannot leave a `with`"):
        leaves[(1,)](x, 4)
    with pytest.raises(TileError, match="`with` cannot be used in kernels, but for scopes"):
        enters_a_number[(1,)](x)
    with pytest.raises(TileError, match="the name of a scope is a text"):
        entered_by_number[(1,)](x)


@pytest.mark.parametrize("seed", range(20))
def test_decoding_is_what_was_written(seed: int) -> None:
    """Random scopes of random warps, in memory as kernels write it, for every layout."""
    random = np.random.default_rng(seed)
    names = [
        {"name": name, "start": start, "event": False, "file": "f.py", "line": i}
        for i, (name, start) in enumerate(itertools.product("abc", (True, False)))
    ]
    size, units = int(random.choice([8, 16])), int(random.integers(1, 4))
    capacity, keeps_first = int(random.choice([32, 64])), bool(random.integers(2))
    described = {
        "units": units, "unit_bytes": 64 + capacity * size, "record_bytes": size,
        "header_bytes": 64, "capacity": capacity, "nanoseconds": 10, "keeps_first": keeps_first,
        "records": names,
    }  # fmt: skip
    memory = np.zeros((2 * units, described["unit_bytes"]), np.uint8)
    expected = []
    for unit in memory:
        clock = int(random.integers(1 << 31, 1 << 34))
        began, made, entered, ended = clock, [], [], []
        for _ in range(int(random.integers(0, 70))):
            clock += int(random.integers(0, 1 << 31))
            if entered and random.random() < 0.5:
                which, start, at = entered.pop()
                ended.append(("abc"[which], start, clock - start, at, len(made)))
                made.append((2 * which + 1, clock))
            else:
                which = int(random.integers(3))
                entered.append((which, clock, len(made)))
                made.append((2 * which, clock))
        low = 0 if keeps_first else max(0, len(made) - capacity)
        kept = range(low, min(len(made), low + capacity))
        # Records that are lost would be gaps of the clock: they need all of its bits.
        if size == 8 and low:
            made, ended, kept = [], [], range(0)
        unit[:16] = np.array([5, 0, 0, 0], np.uint32).view(np.uint8)
        unit[16:56] = np.array([began, 7, clock, 9, 9], np.uint64).view(np.uint8)
        unit[56:64] = np.array([len(made), 0], np.uint32).view(np.uint8)
        for position in kept:
            which, cycles = made[position]
            words = (
                [which, cycles & 0xFFFFFFFF]
                if size == 8
                else [which, 0, cycles & 0xFFFFFFFF, cycles >> 32]
            )
            at = 64 + position % capacity * size
            unit[at : at + size] = np.array(words, np.uint32).view(np.uint8)
        expected.append([e[:3] for e in ended if e[3] in kept and e[4] in kept])
    decoded = decode(described, memory)
    assert [[(s.name, s.begin, s.cycles) for s in unit.spans] for unit in decoded] == expected
    assert all(unit.nanoseconds == 20 and unit.warp == 5 for unit in decoded)
    assert of_rows(described, memory) == of_units(decoded)
    assert Times.of_rows(described, memory) == Times.of_units(decoded)


PROGRAM = """
import numpy as np
import tile.profiler as proton
import test_profiler_records

with proton.scope("outer"):
    test_profiler_records.launch()
"""


def test_one_timeline(tmp_path: Path) -> None:
    """Scopes and launches of the host, scopes of warps, and what warps wait for."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    name = str(tmp_path / "p")
    command = [sys.executable, "-m", "tile", "profile", "--timeline", "-n", name, str(program)]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    events = json.loads((tmp_path / "p.chrome_trace").read_text())["traceEvents"]
    assert {"scope", "kernel", "sums", "flow"} <= {e.get("cat") for e in events}
    assert len(by_warp(events)) == 3 * WARPS
    names = {e["name"] for e in events}
    assert {"outer", "load", "third"} <= names and any(n.startswith("wait: ") for n in names)
    (kernel,) = [e for e in events if e.get("cat") == "kernel"]
    inside = [e for e in events if e.get("cat") == "sums"]
    assert min(e["ts"] for e in inside) >= kernel["ts"]


@tile.jit
def persistent(x, out, tiles, rows, BLOCK: tl.constexpr):
    """Blocks that go through tiles; which scopes they enter depends on the tile."""
    for number in range(tl.program_id(0), tiles, tl.num_programs(0)):
        with pl.scope("tile"):
            if number % 2 == 0:
                with pl.scope("even"):
                    total = tl.zeros((BLOCK,), tl.float32)
                    for row in range(number % (rows + 1)):
                        with pl.scope("row"):
                            total += tl.load(x + row * BLOCK + tl.arange(0, BLOCK))
                tl.store(out + number * BLOCK + tl.arange(0, BLOCK), total)
            elif number % 3 == 0:
                pl.enter_scope("third")
                tl.store(out + number * BLOCK + tl.arange(0, BLOCK), 3.0)
                pl.exit_scope("third")


@pytest.mark.parametrize("target", TARGETS)
def test_records_of_persistent_kernels_stay_aligned(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.run_on(target, monkeypatch)
    tiles, rows, blocks = 13, 3, 4
    x = np.arange(rows * 128, dtype=np.float32)
    out = np.zeros(tiles * 128, np.float32)
    session = proton.start(str(tmp_path / "p"), data="trace", backend="instrumentation")
    persistent[(blocks,)](x, out, tiles, rows, BLOCK=128, num_warps=4)
    proton.finalize(session)
    found: dict[tuple[int, str], list[str]] = {}
    for event in json.loads((tmp_path / "p.chrome_trace").read_text())["traceEvents"]:
        if place := re.match(r"persistent Core\d+ CTA(\d+)", str(event["pid"])):
            found.setdefault((int(place[1]), event["tid"]), []).append(event["name"])
    assert len(found) == blocks * 4
    for (block, _), names in found.items():
        expected = []
        for number in range(block, tiles, blocks):
            expected.append("tile")
            if number % 2 == 0:
                expected += ["even", *["row"] * (number % (rows + 1))]
            elif number % 3 == 0:
                expected.append("third")
        assert names == expected


@gluon.jit
def produce(x, ring, ready, empty, steps):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [1], [0])
    for k in range(steps):
        with pl.scope("wait"):
            mbarrier.wait(empty, (k + 1) & 1)
        if k % 2 == 1:
            with pl.scope("odd"):
                ring.store(gl.load(x + k * 128 + gl.arange(0, 128, layout=LAYOUT)))
        else:
            ring.store(gl.load(x + k * 128 + gl.arange(0, 128, layout=LAYOUT)))
        mbarrier.arrive(ready)


@gluon.jit
def consume(out, ring, ready, empty, steps):
    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    for k in range(steps):
        mbarrier.wait(ready, k & 1)
        with pl.scope("take"):
            value = ring.load(LAYOUT)
        gl.store(out + k * 128 + gl.arange(0, 128, layout=LAYOUT), value)
        mbarrier.arrive(empty)


@gluon.jit
def specialised(x, out, steps):
    ring = gl.allocate_shared_memory(gl.int32, [128], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    ready, empty = mbarrier.allocate_mbarrier(), mbarrier.allocate_mbarrier()
    mbarrier.init(ready, count=1)
    mbarrier.init(empty, count=1)
    gl.warp_specialize(
        [(consume, (out, ring, ready, empty, steps)), (produce, (x, ring, ready, empty, steps))],
        [1],
    )


def test_records_of_specialised_kernels_stay_aligned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warps of each partition have its scopes, and no other's."""
    machines.run_on("cuda:90", monkeypatch)
    pl.enable_semantic("gluon")
    steps = 5
    x, out = np.arange(steps * 128, dtype=np.int32), np.zeros(steps * 128, np.int32)
    session = proton.start(str(tmp_path / "p"), data="trace", backend="instrumentation")
    specialised[(2,)](x, out, steps, num_warps=4)
    proton.finalize(session)
    np.testing.assert_array_equal(out, x)
    found: dict[tuple[str, str], list[str]] = {}
    for event in json.loads((tmp_path / "p.chrome_trace").read_text())["traceEvents"]:
        if str(event["pid"]).startswith("specialised"):
            found.setdefault((event["pid"], event["tid"]), []).append(event["name"])
    assert len(found) == 2 * 5
    for (_, warp), names in found.items():
        if warp == "warp 4":
            assert names == [n for k in range(steps) for n in ("wait", *["odd"] * (k % 2))]
        else:
            assert names == ["take"] * steps
