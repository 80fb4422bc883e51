"""Sanitizers on a GPU: TILE_DRIVER=cuda python3 -m pytest test/gpu

A failed assertion ends the use of the GPU by a process: each planted mistake runs in its own one.
The same kernels run in the simulator in test/python/instrumentation/test_memcheck.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(os.environ.get("TILE_DRIVER") != "cuda", reason="needs a GPU")
PRIME = 2**31 - 1
PROGRAM = Path(__file__).with_name("sanitized.py")


#: Explicit programs with mistakes that `consan` finds, by the kind. Without it, some of them hang.
PLANTED = [
    ("copy_not_waited_for", "async-race"), ("copy_not_committed", "async-race"),
    ("bulk_copy_not_waited_for", "async-race"), ("wrong_phase", "deadlock|async-race"),
    ("too_few_bytes", "deadlock"), ("too_many_bytes", "deadlock"),
    ("barrier_not_initialised", "mbarrier-misuse"), ("source_of_a_store_written", "async-race"),
    ("sum_not_waited_for", "async-race"), ("ring_not_empty", "race|deadlock"),
    ("waits_for_nobody", "deadlock"),
]  # fmt: skip


@pytest.mark.parametrize("what, kinds", PLANTED)
def test_consan(what: str, kinds: str) -> None:
    if torch.cuda.get_device_capability()[0] != 9:
        pytest.skip("the kernels are for Hopper")
    clean = run("consan", what, "right")
    assert clean.returncode == 0, clean.stderr
    planted = run("consan", what, "wrong")
    assert planted.returncode != 0
    assert re.search(rf"Assertion `({kinds}): ", planted.stderr), planted.stderr
    assert "test_gluon_planted.py" in planted.stderr


def run(mode: str, what: str, count: int | str) -> subprocess.CompletedProcess:
    environment = {**os.environ, "TRITON_INSTRUMENTATION_MODE": mode}
    command = [sys.executable, str(PROGRAM), what, str(count)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "what, words",
    [
        ("load", "a load"), ("store", "a store"), ("atomic", "an atomic operation"),
        ("in a loop", "a store"), ("matmul", "a load"),
    ],
)  # fmt: skip
def test_memcheck(what: str, words: str) -> None:
    """All 1024 elements may be used; the next one is memory of torch's, and nothing faults."""
    clean = run("memcheck", what, 1024)
    assert clean.returncode == 0, clean.stderr
    assert "Assertion" not in clean.stderr
    planted = run("memcheck", what, 1025)
    assert planted.returncode != 0
    assert f"out of bounds: {words} through `x`" in planted.stderr, planted.stderr
    assert PROGRAM.name in planted.stderr and "block: [" in planted.stderr
    assert run("", what, 1025).returncode == 0, "it would have been found anyway"


def test_overflow() -> None:
    """The largest number and one more."""
    assert run("", "overflow", 1024).returncode == 0
    planted = run("", "overflow", 1025)
    assert planted.returncode != 0
    assert "integer overflow: the result of + does not fit in int32" in planted.stderr


@pytest.mark.parametrize("block, warps", [(32, 1), (64, 4), (128, 8)])
def test_fpsan(block: int, warps: int) -> None:
    """Sums of rows in blocks of any size are those of Python's integers."""
    from sanitized import row_sums

    import tile

    x = torch.randn((5, 1000), device="cuda")
    out = torch.zeros(5, device="cuda")
    tile.knobs.compilation.instrumentation_mode = "fpsan"
    try:
        row_sums[(5,)](x, out, 1000, BLOCK=block, num_warps=warps)
    finally:
        del tile.knobs.compilation.instrumentation_mode
    bits = x.view(torch.int32).cpu().long() & 0xFFFFFFFF
    expected = [sum(row) % PRIME for row in bits.tolist()]
    assert [v % PRIME for v in out.view(torch.int32).cpu().tolist()] == expected
