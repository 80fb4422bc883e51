"""Which variant of a kernel is launched where arguments may share memory, and what looks."""

from __future__ import annotations

import random
import sys

import pytest
from reference import sim_only

import tile
import tile.language as tl
from tile.runtime import overlap

pytestmark = sim_only


@tile.jit
def move(a, b, count):
    i = tl.arange(0, 128)
    for k in tl.range(0, count, num_stages=3):
        tl.store(b + k * 128 + i, tl.load(a + k * 128 + i))


@pytest.fixture
def viewed(gpu):
    """The class of tensors that C reads."""
    return sys.modules[gpu.tensor.__module__].Viewed


@pytest.fixture
def functions(gpu):
    """What was launched, one after the other."""
    seen = []
    gpu.on_launch(lambda config, function, parameters: seen.append(function))
    return seen


def test_comparing_costs_no_python(gpu, viewed):
    x, y = viewed(0x1000, tl.float32), viewed(0x2000, tl.float32)
    move[(1,)](x, y, 0)
    gpu.on_launch(None)
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append((event, frame.f_code.co_name)))
    move[(1,)](x, y, 0)
    apart = len(calls)
    move[(1,)](x, x, 0)
    first = len(calls)
    move[(1,)](x, x, 0)
    sys.setprofile(None)
    names = [name for event, name in calls[:first] if event == "call"]
    assert "may_meet" in names
    # The variant is there then.
    assert "call" not in {event for event, name in calls[:apart] + calls[first:]}


def byte_range(address: int, rows: int, columns: int, pitch: int, size: int) -> tuple[int, int]:
    places = [r * pitch + c for r in (0, rows - 1) for c in (0, columns - 1)]
    if rows == 0 or columns == 0:
        return address, address
    return address + min(places) * size, address + (max(places) + 1) * size


def test_extents_of_every_kind(viewed, functions):
    """The variant is chosen exactly where the bytes between first and last meet."""
    generator = random.Random(0)
    low, high = viewed(0x1000, tl.float32), viewed(0x80000, tl.float32)
    move[(1,)](low, high, 0)
    move[(1,)](low, low, 0)
    usual, variant = functions
    assert usual != variant
    met = 0
    for _ in range(400):
        tensors, ranges = [], []
        for _ in range(2):
            address = 0x10000 + 16 * generator.randrange(20)
            extents = generator.randrange(4), generator.randrange(9), generator.randrange(-20, 20)
            tensors.append(viewed(address, tl.float32, 0, *extents))
            ranges.append(byte_range(address, *extents, 4))
        (start, end), (other_start, other_end) = ranges
        meet = start < other_end and other_start < end
        move[(1,)](*tensors, 0)
        assert functions[-1] == (variant if meet else usual), ranges
        met += meet
    assert 50 < met < 350, met


def test_arguments_that_do_not_tell_are_compared_by_allocation(gpu, viewed, functions):
    """In Python: the driver of this GPU has allocations of 4 KB."""
    plain = gpu.tensor
    for first, second in ((plain, plain), (plain, viewed), (viewed, plain)):
        for address in (0x2000, 0x1800, 0x2000, 0x1FF0):
            move[(1,)](first(0x1000, tl.float32), second(address, tl.float32), 0)
        usual, variant, again, last = functions
        assert usual == again and variant == last and usual != variant
        functions.clear()


def test_what_the_dispatcher_may_call():
    assert overlap.direct(print) == (print, [])
