"""What wheels bring because glibc 2.28 lacks it (cmake/OldGlibc.c), and the library without code
that they are linked against (scripts/glibc_stubs.py)."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CLANG = "/usr/lib/llvm-22/bin/clang"
sys.path.insert(0, str(ROOT / "scripts"))

pytestmark = pytest.mark.skipif(not shutil.which(CLANG), reason="no compiler of the project")


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("glibc") / "old.so"
    source = ROOT / "cmake" / "OldGlibc.c"
    command = [CLANG, "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", str(source), "-o", path]
    subprocess.run([*command, "-DTILE_OLD_GLIBC_TEST"], check=True)
    return ctypes.CDLL(str(path))


def test_random_numbers_differ(library):
    library.tile_arc4random.restype = ctypes.c_uint32
    assert len({library.tile_arc4random() for _ in range(100)}) > 95


def test_threads_may_be_many(library):
    assert ctypes.c_char.in_dll(library, "tile___libc_single_threaded").value == b"\0"


class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "abcdefghij"]


def test_memory_in_use(library):
    library.tile_mallinfo2.restype = Info
    glibc = ctypes.CDLL("libc.so.6").mallinfo2
    glibc.restype = Info
    ours, its = library.tile_mallinfo2(), glibc()
    for name in ("a", "d", "e"):  # What does not change from call to call.
        assert getattr(ours, name) == getattr(its, name)


class Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_int64), ("nanoseconds", ctypes.c_long)]


@pytest.mark.parametrize("clock", [time.CLOCK_MONOTONIC, time.CLOCK_REALTIME])
@pytest.mark.parametrize("wait", [0.15, 0.0, -5.0])
def test_waits_end_by_any_clock(library, clock, wait):
    pthread = ctypes.CDLL("libc.so.6")
    condition, mutex = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    pthread.pthread_mutex_lock(mutex)
    start = time.monotonic()
    at = time.clock_gettime_ns(clock) + int(wait * 1e9)
    end = Time(at // 10**9, at % 10**9)
    result = library.tile_pthread_cond_clockwait(condition, mutex, clock, ctypes.byref(end))
    assert result == 110  # ETIMEDOUT
    assert time.monotonic() - start >= max(wait, 0) - 0.01
    pthread.pthread_mutex_unlock(mutex)


def test_the_end_before_the_calendar_began(library):
    condition, mutex = ctypes.create_string_buffer(64), ctypes.create_string_buffer(64)
    end = Time(-(2**40), 0)
    assert (
        library.tile_pthread_cond_clockwait(
            condition, mutex, time.CLOCK_MONOTONIC, ctypes.byref(end)
        )
        == 110
    )


def test_a_stub_has_the_symbols_up_to_a_version(tmp_path):
    import glibc_stubs

    system = Path("/lib/x86_64-linux-gnu/libm.so.6")
    if not system.exists():
        pytest.skip("another machine")
    library = tmp_path / "libm.so.6"
    shutil.copy(system, library)
    # exp has a version of 2.2.5 and one of 2.29.
    assert glibc_stubs.symbols(library, (99,))["exp"][0] == "2.29"
    before = glibc_stubs.symbols(library, (2, 28))
    assert before["exp"][0] == "2.2.5"
    glibc_stubs.replace(library, (2, 28), "x86_64-linux-gnu", tmp_path)
    assert glibc_stubs.symbols(library, (99,)) == before
    program = tmp_path / "program.c"
    program.write_text("double exp(double); double call(double x) { return exp(x); }")
    user = tmp_path / "user.so"
    linker = "-fuse-ld=/usr/lib/llvm-22/bin/ld.lld"
    subprocess.run([CLANG, linker, "-shared", "-fPIC", program, library, "-o", user], check=True)
    shown = subprocess.run(
        ["/usr/lib/llvm-22/bin/llvm-objdump", "-T", user], capture_output=True, text=True
    ).stdout
    assert "GLIBC_2.2.5 exp" in shown.replace("(", "").replace(")", "")
