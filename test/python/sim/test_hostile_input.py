# ruff: noqa: E501  (PTX text reads better unbroken)
"""Arguments that make no sense are one TileError; launches that the host cannot hold end well."""

from __future__ import annotations

import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
from ptxlib import HEADER

import tile.sim
from tile.errors import TileError

PTX = HEADER + ".visible .entry k(.param .u64 p, .param .u32 n, .param .f32 f) { ret; }\n"
GOOD = {"ptx": PTX, "entry": "k", "grid": 1, "block": 32, "args": [None, 1, 1.0]}


class Odd:
    """Says that it is an array, and is none."""

    @property
    def __array_interface__(self):
        return {"version": 3, "shape": (4,), "typestr": "nonsense", "data": (0, False)}


@pytest.mark.parametrize("change", [
    {"ptx": None}, {"ptx": 5}, {"ptx": b"text"}, {"ptx": "\udc80"}, {"ptx": PTX.replace("ret", "r\u00e9t")}, {"ptx": PTX + "\ud800"},
    {"entry": None}, {"entry": 3}, {"entry": "nothing"},
    {"grid": None}, {"grid": 0}, {"grid": -1}, {"grid": 1.5}, {"grid": "8"}, {"grid": (1, 2, 3, 4)}, {"grid": 1 << 40}, {"grid": (1, None)},
    {"block": 0}, {"block": 2048}, {"block": object()}, {"cluster": 0}, {"cluster": 32}, {"cluster": "a"},
    {"args": None}, {"args": 5}, {"args": []}, {"args": [1, 2, 3, 4]},
    {"args": [np.array([object()]), 1, 1.0]}, {"args": [np.array(["text"], object), 1, 1.0]}, {"args": [Odd(), 1, 1.0]}, {"args": [object(), 1, 1.0]},
    {"args": [None, None, 1.0]}, {"args": [None, "1", 1.0]}, {"args": [None, 1 << 40, 1.0]}, {"args": [None, 1.5, 1.0]}, {"args": [None, 1, 1 << 2000]}, {"args": [None, 1, 1j]},
    {"args": [None, np.complex64(1), 1.0]}, {"args": [None, np.datetime64("2020-01-01"), 1.0]}, {"args": [None, 1, np.datetime64("NaT")]}, {"args": [None, np.str_("a"), 1.0]}, {"args": [b"short", 1, 1.0]}, {"args": [None, 1, ml_dtypes.bfloat16]},
    {"dynamic_shared": -1}, {"dynamic_shared": 1.5}, {"dynamic_shared": "1"}, {"dynamic_shared": 1 << 40}, {"dynamic_shared": 1 << 30},
    {"check": 5}, {"check": None}, {"check": "every"}, {"check": [1]}, {"check": ["races", None]},
    {"threads": -1}, {"threads": "2"}, {"threads": 1 << 40}, {"max_instructions": "x"}, {"max_instructions": -1},
    {"allocations": [object()]}, {"allocations": [np.array([None])]}, {"allocations": 5},
    {"schedules": 0}, {"schedule_seed": "x"}, {"schedule_seed": 1 << 70},
], ids=lambda change: next(iter(change)))  # fmt: skip
def test_one_clear_error(change):
    with pytest.raises(TileError) as info:
        tile.sim.launch(**(GOOD | change))
    assert str(info.value)


def test_good_arguments():
    assert tile.sim.launch(**GOOD).ok
    for number in (np.int8(3), np.uint32(7), np.bool_(True), True, np.array(5)):
        assert tile.sim.launch(**(GOOD | {"args": [None, number, np.float16(2)]})).ok


def test_a_character_that_is_not_ascii_has_a_place():
    with pytest.raises(TileError, match=r"<ptx>:4:\d+: error: a character that is not ASCII"):
        tile.sim.load(PTX.replace("ret", "r\u00e9t"))
    assert tile.sim.load(PTX.replace("{ ret", "{ // \u00e9\n ret")).entries == ["k"]


def test_local_memory_has_an_end():
    """Frames beyond what a thread may have on hardware."""
    text = """
.func f(.reg .u32 depth) { .reg .pred %p; .reg .u32 %d; .local .align 4 .b8 mine[BYTES]; .reg .u64 %a;
st.local.u32 [mine], depth; setp.eq.u32 %p, depth, 0; @%p ret; sub.u32 %d, depth, 1; call f, (%d); ret; }
.visible .entry k(.param .u32 n) { .reg .u32 %n; ld.param.u32 %n, [n]; call f, (%n); ret; }
"""
    for size, depth, good in ((8192, 20, True), (8192, 100, False), (262144, 1, True), (262160, 1, False), (16, 900, True), (16, 2000, False)):  # fmt: skip
        report = tile.sim.launch(HEADER + text.replace("BYTES", str(size)), "k", 1, 32, [depth], raise_on_finding=False)  # fmt: skip
        assert report.ok == good, report.messages
        if not good:
            assert report.findings[0]["kind"] == "stack-overflow"
    with pytest.raises(TileError, match="does not fit into local memory"):
        tile.sim.load(HEADER + text.replace("BYTES", "600000"))


def test_registers_of_a_block():
    text = HEADER + ".visible .entry k() .maxnreg 128 { ret; }"
    assert tile.sim.launch(text, "k", 1, 512, []).ok
    with pytest.raises(TileError, match="too many for blocks of 1024 threads"):
        tile.sim.launch(text, "k", 1, 1024, [])


def test_a_host_that_has_no_threads_to_give():
    """Fewer threads than asked for do the work."""
    code = f"""
import resource, tile.sim
text = {(HEADER + ".visible .entry k() { ret; }")!r}
tile.sim.launch(text, "k", 2000, 32, [], threads=2)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)
report = tile.sim.launch(text, "k", 2000, 32, [], threads=1000)
assert report.ok and 1 <= report.to_dict()["threads"] < 1000, report.to_dict()["threads"]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
