"""Launches that do not end (`TILE_LAUNCH_TIMEOUT`), on a GPU that is not there."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile import knobs
from tile.backends.hangs import waits_in
from tile.errors import DriverError

pytestmark = sim_only


@tile.jit
def total(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + offsets)))  # waits


@tile.jit
def copy(x, out, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets))


def line_of(comment: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"# {comment}"))


@pytest.fixture
def limited(gpu, monkeypatch):
    monkeypatch.setattr(knobs.runtime, "launch_timeout", 1)
    yield gpu
    gpu.library.fake_stay_busy(0)


@pytest.fixture
def arrays(gpu):
    return gpu.tensor(0x1000, tl.float32), gpu.tensor(0x2000, tl.float32)


def test_a_launch_that_ends_in_time_is_none(limited, arrays):
    limited.library.fake_stay_busy(50)
    launches = limited.record(2)
    total[(3,)](*arrays, BLOCK=1024)
    assert len(launches) == 1


def test_the_message_says_what_is_known(limited, arrays):
    limited.library.fake_stay_busy(-1)
    began = time.monotonic()
    with pytest.raises(DriverError) as error:
        total[(3, 2)](*arrays, BLOCK=1024)
    assert 1 <= time.monotonic() - began < 30
    said = str(error.value)
    assert "`total` did not end within 1 s: grid (3, 2, 1), 4 warps, target cuda:90" in said
    assert f"a barrier, {__file__}:{line_of('waits')}" in said and "tile debug" in said
    with pytest.raises(DriverError, match="wait for nobody, so a loop may be endless"):
        copy[(1,)](*arrays, BLOCK=128)


def test_each_launch_is_watched(limited, arrays):
    """The first one, and those that the dispatcher makes."""
    for _ in range(3):
        copy[(1,)](*arrays, BLOCK=128)
    limited.library.fake_stay_busy(-1)
    with pytest.raises(DriverError, match="did not end"):
        copy[(1,)](*arrays, BLOCK=128)


def test_nobody_waits_for_what_is_captured(limited, arrays):
    limited.library.fake_set_streams(0, 1)
    limited.library.fake_stay_busy(-1)
    try:
        copy[(1,)](*arrays, BLOCK=128)
    finally:
        limited.library.fake_set_streams(0, 0)


def test_without_the_setting_nobody_waits(gpu, arrays):
    gpu.library.fake_stay_busy(-1)
    try:
        copy[(1,)](*arrays, BLOCK=128)
    finally:
        gpu.library.fake_stay_busy(0)


def test_places_of_waits():
    ptx = """
.file 1 "/a" "k.py"
.loc 1 7 3
mbarrier.try_wait.parity.shared::cta.b64 p, [%r1], %r2;
bar.sync 0; // mbarrier.try_wait
.loc 1 9 3
ld.global.acquire.gpu.b32 %r1, [%rd1];
st.global.b32 [%rd1], %r1;
"""
    assert waits_in(ptx) == [
        ("/a/k.py", 7, "an mbarrier"),
        ("/a/k.py", 7, "a barrier"),
        ("/a/k.py", 9, "memory that others write"),
    ]
