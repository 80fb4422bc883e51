"""Launches on many of the host's threads, from many threads of a program at once."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tile
import tile.language as tl
import tile.sim
from tile.backends import parse_target

sys.path.append(__file__.rpartition("/sim/")[0] + "/runtime")
from threads import run_threads

HOST_THREADS = 8


@tile.jit
def work(x, out, total, B: tl.constexpr):
    """Shared memory, barriers, and an atomic."""
    pid = tl.program_id(0)
    o = tl.arange(0, B)
    v = tl.load(x + pid * B + o)
    tl.store(out + pid * B + o, tl.cumsum(v, 0))
    tl.atomic_add(total, tl.sum(v, 0))


def assembly(target: str) -> tuple[str, dict]:
    """The text that the simulator runs, and how it is launched."""
    parsed = parse_target(target)
    stage = "ptx" if parsed.backend == "cuda" else "amdgcn"
    source = tile.compiler.ASTSource(
        work, {"x": "*i32", "out": "*i32", "total": "*i32"}, {"B": 256}
    )
    kernel = tile.compile(source, target=parsed, stop_at=stage)
    return kernel.asm[stage], {
        "block": 4 * parsed.warp_size, "dynamic_shared": kernel.shared, "threads": HOST_THREADS,
    }  # fmt: skip


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942", "hip:gfx1100"])
@pytest.mark.parametrize("deterministic", [False, True])
def test_launches_side_by_side(target, deterministic):
    text, how = assembly(target)

    def launch(seed: int) -> None:
        x = np.random.default_rng(seed).integers(0, 99, (24, 256)).astype(np.int32)
        for _ in range(2):
            out, total = np.full_like(x, -1), np.zeros(1, np.int32)
            report = tile.sim.launch(
                text, "work", 24, args=[x, out, total], deterministic=deterministic, **how
            )  # fmt: skip
            assert report.ok
            np.testing.assert_array_equal(out, np.cumsum(x, 1))
            assert total[0] == x.sum()

    run_threads(launch, range(4))


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx942"])
def test_findings_of_many_threads(target):
    """Each thread of the host finds what it runs, and the report has it in order."""
    text, how = assembly(target)

    def launch(seed: int) -> None:
        x = np.zeros((24, 256), np.int32)
        out, total = np.zeros((12, 256), np.int32), np.zeros(1, np.int32)
        report = tile.sim.launch(
            text, "work", 24, args=[x, out, total], raise_on_finding=False, **how
        )  # fmt: skip
        assert not report.ok and report.messages

    run_threads(launch, range(4))


def test_a_text_is_loaded_by_many_threads():
    text, how = assembly("cuda:90")
    tile.sim.launcher.load.cache_clear()

    def launch(seed: int) -> None:
        own = text.replace("work", f"work{seed % 2}")
        x = np.zeros((2, 256), np.int32)
        out, total = np.zeros_like(x), np.zeros(1, np.int32)
        assert tile.sim.launch(own, f"work{seed % 2}", 2, args=[x, out, total], **how).ok

    run_threads(launch, range(8))
