"""Copies of chosen rows: gathered to a buffer, scattered from one."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, sim_only, tf32
from reference import random as values

import tile
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.blackwell import fence_async_shared, mbarrier, tma
from tile.experimental.gluon.nvidia.blackwell import TensorDescriptor

pytestmark = sim_only
all_targets = pytest.mark.parametrize(
    "target", ["cuda:100", "cuda:103", "cuda:110", "cuda:120"], indirect=True
)
#: Those that scatter, too.
targets = pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)


@gluon.jit
def gather(
    desc, rows_ptr, out_ptr, column, BYTES: gl.constexpr, COUNT: gl.constexpr, ROWS: gl.constexpr,
    OUT: gl.constexpr, WAIT: gl.constexpr,
):  # fmt: skip
    N: gl.constexpr = desc.block_shape[1]
    buffer = gl.allocate_shared_memory(desc.dtype, [COUNT, N], desc.layout)
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    first = gl.program_id(0) * COUNT
    rows = gl.load(rows_ptr + first + gl.arange(0, COUNT, layout=ROWS))
    mbarrier.expect(bar, BYTES)
    tma.async_gather(desc, rows, column, bar, buffer)
    if WAIT:
        mbarrier.wait(bar, 0)
    places = first + gl.arange(0, COUNT, layout=gl.SliceLayout(1, OUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, OUT))
    gl.store(out_ptr + places[:, None] * N + columns[None, :], buffer.load(OUT))


@gluon.jit
def scatter(
    desc, rows_ptr, x_ptr, column, COUNT: gl.constexpr, ROWS: gl.constexpr, OUT: gl.constexpr,
    EARLY: gl.constexpr,
):  # fmt: skip
    N: gl.constexpr = desc.block_shape[1]
    buffer = gl.allocate_shared_memory(desc.dtype, [COUNT, N], desc.layout)
    first = gl.program_id(0) * COUNT
    rows = gl.load(rows_ptr + first + gl.arange(0, COUNT, layout=ROWS))
    places = first + gl.arange(0, COUNT, layout=gl.SliceLayout(1, OUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, OUT))
    x = gl.load(x_ptr + places[:, None] * N + columns[None, :])
    buffer.store(x)
    fence_async_shared()
    tma.async_scatter(desc, rows, column, buffer)
    if EARLY:
        buffer.store(x)
    tma.store_wait(0)


def places_of_rows(count: int, warps: int, rng, blocks: list[int]) -> gl.DistributedLinearLayout:
    """Four neighbours to a thread, the others in any order over registers, lanes and warps."""
    bits = [[1 << b] for b in range(2, count.bit_length() - 1) if 1 << b not in blocks]
    rng.shuffle(bits)
    where = rng.integers(0, 3, len(bits))
    parts = [[bit for bit, w in zip(bits, where, strict=True) if w == part] for part in range(3)]
    room = warps.bit_length() - 1
    registers, lanes = [[1], [2], *parts[0], *parts[2][room:]], parts[1][:5]
    registers += parts[1][5:]
    inside = parts[2][:room]
    return gl.DistributedLinearLayout(
        registers, lanes + [[0]] * (5 - len(lanes)), inside + [[0]] * (room - len(inside)),
        [[b] for b in blocks], [count],
    )  # fmt: skip


def usual_places(warps: int) -> gl.SliceLayout:
    return gl.SliceLayout(0, gl.BlockedLayout([1, 4], [32, 1], [1, warps], [1, 0]))


class Case:
    """Random sizes, types, layouts and row numbers; some rows are outside of the matrix."""

    def __init__(self, seed: int, blocks: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.kind = str(rng.choice(["u8", "fp16", "bf16", "i32", "fp32"]))
        self.dtype = {
            "u8": gl.uint8, "fp16": gl.float16, "bf16": gl.bfloat16, "i32": gl.int32,
            "fp32": gl.float32,
        }[self.kind]  # fmt: skip
        bits = self.dtype.primitive_bitwidth
        swizzle = int(rng.choice([32, 64, 128]))
        self.width = swizzle * 8 // bits * int(rng.choice([1, 2, 4]))
        self.count = int(rng.choice([8, 16, 32, 64])) * blocks
        self.warps = int(rng.choice([1, 2, 4, 8]))
        self.programs = int(rng.integers(1, 3))
        self.shape = (int(rng.integers(1, 70)), 16 * int(rng.integers(1, 12)))
        self.column = 16 * int(rng.integers(0, self.shape[1] // 16))
        #: Blocks of a cluster divide rows, or hold the same.
        division, parts = [], 1
        for _ in range(blocks.bit_length() - 1):
            divides = bool(rng.integers(0, 2))
            division.append([parts if divides else 0, 0])
            parts *= 2 if divides else 1
        steps = [[self.count // parts * step[0], 0] for step in division]
        self.layout = gl.NVMMASharedLayout(swizzle, bits, cga_layout=division)
        self.rows_layout = (
            usual_places(self.warps)
            if blocks == 1 and rng.integers(0, 2)
            else places_of_rows(self.count, self.warps, rng, [s[0] for s in steps])
        )
        across = min(32, self.width // 4)
        self.out = gl.BlockedLayout(
            [1, 4], [32 // across, across], [self.warps, 1], [1, 0], cga_layout=division
        )
        self.matrix = values(self.shape, self.kind, seed)
        #: Whether gathers round to tf32; scatters do not.
        self.rounds = self.kind == "fp32" and seed % 2 == 0
        total = self.count * self.programs
        self.rng, self.total, self.blocks = rng, total, blocks

    def descriptor(self, matrix) -> TensorDescriptor:
        return TensorDescriptor.from_tensor(
            matrix, [1, self.width], self.layout, round_f32_to_tf32=self.rounds
        )

    @property
    def options(self) -> dict:
        return {"grid": (self.programs,), "num_warps": self.warps, "num_ctas": self.blocks}

    def gather(self, wait: bool = True, extra: int = 0, **options):
        rows = self.rng.integers(-3, self.shape[0] + 3, self.total).astype(np.int32)
        out = poisoned((self.total, self.width), self.kind)
        divided = sum(1 for step in self.layout.cga_layout if any(step))
        bytes = (self.count >> divided) * self.width * self.dtype.primitive_bitwidth // 8
        report = gather.simulate(
            self.descriptor(self.matrix), rows, out, self.column, bytes + extra, self.count,
            self.rows_layout, self.out, wait, **self.options, **options,
        )  # fmt: skip
        expected = np.zeros_like(out)
        inside = (rows >= 0) & (rows < self.shape[0])
        part = self.matrix[:, self.column : self.column + self.width]
        expected[inside, : part.shape[1]] = part[rows[inside]]
        if self.rounds:
            expected = tf32(expected)
        return report, out, expected

    def scatter(self, early: bool = False, **options):
        # Each row of the matrix once: which of two copies is the last, nobody knows.
        rows = np.arange(self.total, dtype=np.int32)
        self.rng.shuffle(rows)
        rows -= 3
        x = values((self.total, self.width), self.kind, 5)
        matrix = self.matrix.copy()
        report = scatter.simulate(
            self.descriptor(matrix), rows, x, self.column, self.count, self.rows_layout, self.out,
            early, **self.options, **options,
        )  # fmt: skip
        expected = self.matrix.copy()
        for row, value in zip(rows, x, strict=True):
            if 0 <= row < self.shape[0]:
                part = expected[row, self.column : self.column + self.width]
                part[:] = value[: part.size]
        return report, matrix, expected


@all_targets
@pytest.mark.parametrize("seed", range(12))
def test_gather(seed, target):
    report, out, expected = Case(seed).gather(schedule_seed=seed)
    assert report.ok, report.messages
    np.testing.assert_array_equal(out, expected)


@targets
@pytest.mark.parametrize("seed", range(12))
def test_scatter(seed, target):
    report, out, expected = Case(seed).scatter(schedule_seed=seed)
    assert report.ok, report.messages
    np.testing.assert_array_equal(out, expected)


@pytest.mark.sweep
@targets
@pytest.mark.parametrize("blocks", [2, 4])
@pytest.mark.parametrize("seed", range(6))
def test_blocks_of_a_cluster(seed, blocks, target):
    for run in (Case(seed, blocks).gather, Case(seed, blocks).scatter):
        report, out, expected = run(schedule_seed=seed)
        assert report.ok, report.messages
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("target", ["cuda:100"], indirect=True)
@pytest.mark.parametrize(
    "kinds,run",
    [
        ("async-race", lambda case, **how: case.gather(wait=False, **how)),
        ("deadlock", lambda case, **how: case.gather(extra=16, **how)),
        ("async-race", lambda case, **how: case.scatter(early=True, **how)),
    ],
)
def test_mistakes_are_found(kinds, run, target):
    found = set()
    for seed in range(8):
        try:
            run(Case(1), schedule_seed=seed)
        except tile.sim.SimulationError as error:
            found |= {finding["kind"] for finding in error.report.findings}
    assert found & set(kinds.split()), found


def refusal(run) -> str:
    with pytest.raises(TileError) as error:
        run()
    return str(error.value)


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
def test_earlier_machines_have_no_row_numbers(target):
    assert "takes no row numbers" in refusal(lambda: Case(1).gather())


@pytest.mark.parametrize("target", ["cuda:120"], indirect=True)
def test_a_machine_that_only_gathers(target):
    assert "takes no row numbers" in refusal(lambda: Case(1).scatter())


@pytest.mark.parametrize("target", ["cuda:100"], indirect=True)
def test_row_numbers_in_several_threads(target):
    case = Case(1)
    case.rows_layout = gl.BlockedLayout([2], [32], [case.warps], [0])
    assert "four neighbouring row numbers" in refusal(case.gather)
