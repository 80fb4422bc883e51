"""HIP programs that clang compiles here, each as it should be and with two mistakes planted."""

from __future__ import annotations

import mmap
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from asmlib import WAVE

import tile.sim

SOURCE = Path(__file__).parent / "hip_programs.hip"
CLANG = shutil.which("clang", path="/usr/lib/llvm-22/bin") or shutil.which("clang-22")
TARGETS = ("gfx942", "gfx1100", "gfx1201")
pytestmark = pytest.mark.skipif(CLANG is None, reason="needs clang")
f32, u32 = np.float32, np.uint32


@cache
def assembly(target: str, mistake: int) -> str:
    assert CLANG is not None
    options = f"-x hip --offload-arch={target} --offload-device-only -nogpuinc -nogpulib -O2"
    command = [CLANG, *options.split(), f"-DMISTAKE={mistake}", "-S", str(SOURCE), "-o", "-"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def launch(text: str, entry: str, grid, block, args, **options) -> tile.sim.Report:
    return tile.sim.launch(text, entry, grid, block, args, raise_on_finding=False, **options)


def kinds(report: tile.sim.Report) -> set[str]:
    return {finding["kind"] for finding in report.to_dict()["findings"]}


def small(shape, seed: int = 0) -> np.ndarray:
    """Whole numbers, of which sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(f32)


# Of each program: what it is launched with, and what must come of its arguments; for a target.
Case = tuple[tuple, tuple, list, dict, Callable[[list], bool]]


def matmul(target: str) -> Case:
    a, b = small((40, 37)), small((37, 24), 1)
    return (2, 3), (16, 16), [a, b, np.zeros((40, 24), f32), 40, 24, 37], {}, (
        lambda args: (args[2] == a @ b).all()
    )  # fmt: skip


def transpose(target: str) -> Case:
    x = small((64, 64))
    return (2, 2), (32, 8), [x, np.zeros_like(x), 64], {}, lambda args: (args[1] == x.T).all()


def reduce(target: str) -> Case:
    x = small(1500)
    return (2,), (256,), [x, np.zeros(1, f32), 1500], {}, lambda args: args[1][0] == x.sum()


def scan(target: str) -> Case:
    x = np.arange(512, dtype=u32) * u32(2654435761)
    want = x.reshape(2, 256).cumsum(1, dtype=u32).ravel()
    return (2,), (256,), [x, np.zeros_like(x)], {}, lambda args: (args[1] == want).all()


def histogram(target: str) -> Case:
    x = np.random.default_rng(2).integers(0, 32, 700).astype(u32)
    want = np.bincount(x, minlength=32)
    return (1,), (128,), [x, np.zeros(32, u32), 700], {}, lambda args: (args[1] == want).all()


def sort(target: str) -> Case:
    x = np.random.default_rng(3).integers(-1000, 1000, 256).astype(np.int32)
    want = np.sort(x)
    return (1,), (256,), [x], {}, lambda args: (args[0] == want).all()


def stencil(target: str) -> Case:
    x = small(500)
    around = np.pad(x, 1)
    want = (around[:-2] + x + around[2:]) / 4
    return (2,), (256,), [x, np.zeros_like(x), 500], {}, lambda args: (args[1] == want).all()


def last_block(target: str) -> Case:
    x = small(256)
    args = [x, np.zeros(4, f32), np.zeros(1, u32), np.zeros(1, f32)]
    return (4,), (64,), args, {}, lambda args: args[3][0] == x.sum()


def scale4(target: str) -> Case:
    x = small(1000)
    return (2,), (64,), [x, np.zeros_like(x), 3.0, 1000], {}, (
        lambda args: (args[1] == 3 * x).all()
    )  # fmt: skip


def largest(target: str) -> Case:
    x = np.abs(small(300))
    return (2,), (160,), [x, np.zeros(1, f32), 300], {}, lambda args: args[1][0] == x.max()


def matrix(target: str) -> Case:
    a, b = small((16, 16)).astype(np.float16), small((16, 16), 1).astype(np.float16)
    want = a.astype(f32) @ b.astype(f32)
    return (1,), (2 * WAVE.get(target, 32),), [a, b, np.zeros((16, 16), f32)], {}, (
        lambda args: (args[2] == want).all()
    )  # fmt: skip


def rows(target: str) -> Case:
    x = small((8, 100))
    waves = 128 // WAVE.get(target, 32)
    return (8 // waves,), (128,), [x, np.zeros(8, f32), 100], {"dynamic_shared": 512}, (
        lambda args: (args[1] == x.sum(1)).all()
    )  # fmt: skip


# What the two mistakes of each are.
PROGRAMS = {
    matmul: ("race", "out-of-bounds"),
    transpose: ("race", "out-of-bounds"),
    reduce: ("race", "uninitialized"),
    scan: ("race", "out-of-bounds"),
    histogram: ("uninitialized", "race"),
    sort: ("race", "race"),
    stencil: ("uninitialized", "out-of-bounds"),
    last_block: ("race", "race"),
    scale4: ("out-of-bounds", "out-of-bounds"),
    largest: ("race", "out-of-bounds"),
    matrix: ("race", "uninitialized"),
    rows: ("race", "out-of-bounds"),
}


def alone(array: np.ndarray) -> np.ndarray:
    """A copy behind which nothing else lies, so that who reads on there is found."""
    copy = np.frombuffer(mmap.mmap(-1, array.nbytes + mmap.PAGESIZE), array.dtype, array.size)
    copy[:] = array.ravel()
    return copy.reshape(array.shape)


def make_case(program: Callable[[str], Case], target: str) -> Case:
    grid, block, args, options, is_right = program(target)
    args = [alone(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    return grid, block, args, options, is_right


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program, target):
    name = program.__name__
    for seed in (None, 5):
        grid, block, args, options, is_right = make_case(program, target)
        text = assembly(target, 0)
        report = launch(text, name, grid, block, args, schedule_seed=seed, **options)
        assert report.ok and is_right(args), str(report)
    for mistake, kind in enumerate(PROGRAMS[program], 1):
        grid, block, args, options, _ = make_case(program, target)
        report = launch(assembly(target, mistake), name, grid, block, args, **options)
        assert kind in kinds(report), (mistake, str(report))


# A wait whose registers an earlier one has waited for, by another way to it.
NEEDLESS = {("gfx1201", "transpose"): 1, ("gfx1201", "last_block"): 2}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "program", [transpose, scan, stencil, last_block], ids=lambda p: p.__name__
)
def test_waits(program, target):
    """Each wait that clang wrote is missed when it is not there: before registers are read, and,
    where a block says that it has written, before it says so."""
    name, lines = program.__name__, assembly(target, 0).split("\n")
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"{name}:"))
    end = next(i for i in range(begin, len(lines)) if ".section" in lines[i])
    waits = [i for i in range(begin, end)
             if re.match(r"\ts_wait(cnt|cnt_vscnt|_\w+cnt) ", lines[i])]  # fmt: skip
    assert len(waits) > 3
    missed = []
    for wait in waits:
        text = "\n".join([*lines[:wait], "\ts_nop 0", *lines[wait + 1 :]])
        grid, block, args, options, _ = program(target)
        if not kinds(launch(text, name, grid, block, args, **options)):
            missed.append((wait, lines[wait]))
    assert len(missed) == NEEDLESS.get((target, name), 0), missed


@pytest.mark.parametrize("target", TARGETS)
def test_counters(target):
    """Of a transposition of 64 x 64 floats by four blocks, and of a product of 16 x 16."""
    text, wave = assembly(target, 0), WAVE.get(target, 32)
    grid, block, args, _, _ = transpose(target)
    for name, lost in (("transpose", 0), ("transpose_in_conflict", 31)):
        report = launch(text, name, grid, block, args).to_dict()
        counters = report["counters"]
        # Lanes 0 to 31 read a column: rows of 32 floats begin at one bank.
        assert counters["bank_conflicts"] == 4 * 32 * lost
        assert counters["shared_requests"] == 4 * 2 * 32
        assert counters["global_load_sectors"] == counters["global_store_sectors"] == 64 * 64 // 8
        assert counters["shared_load_bytes"] == counters["global_store_bytes"] == 64 * 64 * 4
        assert counters["barriers"] == 4 * 256 // wave
        rate = {"gfx942": 5.3e12, "gfx1100": 0.96e12, "gfx1201": 0.64e12}[target]
        assert report["roofline"]["bound"] == "memory" or (lost and target == "gfx942")
        assert report["roofline"]["memory"] == pytest.approx(2 * 64 * 64 * 4 / rate)
    grid, block, args, _, _ = matrix(target)
    counters = launch(text, "matrix", grid, block, args).to_dict()["counters"]
    assert counters["tensor_flops"] == 2 * 16**3
    assert counters["by_class"]["tensor"] == {"warp": 1, "lane": wave}
