"""`instrumentation_mode="consan"`: races and misuse of buffers, mbarriers and asynchronous copies.

Kernels run in the simulator. Its own checks would find the same, and are switched off where a
mistake is planted: what is looked for is the message of the check in the kernel. Clean kernels run
with the simulator's checks, so that the checks in the kernel are themselves without a race.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import machines
import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.ampere import async_copy
from tile.experimental.gluon.language.nvidia.hopper import mbarrier, tma

sys.path.append(str(Path(__file__).parents[1] / "gluon"))
import test_gluon_mistakes as examples
import test_gluon_planted as planted

pytestmark = [
    sim_only,
    pytest.mark.skipif(machines.interpreting(), reason="the interpreter runs no passes"),
]


@pytest.fixture(autouse=True)
def checked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INSTRUMENTATION_MODE", "consan")
    if "target" in request.fixturenames:
        machines.run_on(request.getfixturevalue("target"), monkeypatch)


#: Kinds of mistakes that `consan` looks for.
LOOKED_FOR = {"async-race", "race", "deadlock", "mbarrier-misuse", "async-exit", "uninitialized"}


def findings(run: Any, *args: Any, **how: Any) -> dict[str, str]:
    """By kind, what the checks in a kernel say in several schedules."""
    found: dict[str, str] = {}
    for seed in range(32):
        if seed >= 8 and found:
            break
        try:
            run(*args, check="none", max_instructions=50_000_000, schedule_seed=seed, **how)
        except tile.sim.SimulationError as error:
            # Where another warp is first, the simulator stops it at an mbarrier that is none.
            said = re.search(r"assertion '([a-z-]+): ", str(error))
            if said:
                found.setdefault(said.group(1), str(error))
    return found


#: Mistakes of one warp among others are beyond `consan`: a group of warps counts as one.
BEYOND = {"out_of_bounds"}
KERNELS = [case for case in planted.PLANTED if case[0].__name__ not in BEYOND]
kernels = pytest.mark.parametrize(
    "function,kind,described", KERNELS, ids=[case[0].__name__ for case in KERNELS]
)
hopper = pytest.mark.parametrize("target", ["cuda:90"])


@hopper
@kernels
def test_a_planted_mistake_is_found(function, kind, described, target) -> None:
    found = findings(function.simulate, *planted.arguments(function, described), True, grid=(1,))
    # A wait that sees the phase before passes or hangs: nobody is going to end its own.
    kinds = (
        {kind, "deadlock"} if function in (planted.wrong_phase, planted.ring_not_empty) else {kind}
    )
    assert kinds & set(found) and set(found) <= LOOKED_FOR, found
    # It names a line of the kernel, or of one of its partitions.
    assert all(planted.lines_of(text) for text in found.values()), found


@hopper
@kernels
def test_its_twin_is_clean(function, kind, described, target) -> None:
    for seed in range(4):
        arguments = planted.arguments(function, described)
        report = function.simulate(*arguments, False, grid=(1,), schedule_seed=seed)
        assert report.ok, report.messages


#: Clusters are refused, and tensor memory is.
REFUSED = {
    "cluster_matmul", "split_k_matmul",
    *(name for name in examples.RUNS if name.startswith("tcgen05")),
}  # fmt: skip
EXAMPLES = [
    row
    for row in examples.PLANTED
    if row[0] not in REFUSED and set(row[1].split()) <= LOOKED_FOR and "gl.store" not in row[3]
]


@pytest.mark.sweep
@hopper
@pytest.mark.parametrize("row", EXAMPLES, ids=examples.named)
def test_a_mistake_in_an_example_is_found(row, target, tmp_path) -> None:
    example, _, text, mistake = row
    path = tmp_path / f"{example}.py"
    source = (examples.EXAMPLES / f"{example}.py").read_text()
    path.write_text(source.replace(text, mistake, 1))
    module = examples.load(path)
    found = findings(examples.RUNS[example], module)
    assert found and set(found) <= LOOKED_FOR, found
    # Examples take barriers and the like from each other.
    files = [file.name for file in examples.EXAMPLES.glob("*.py")]
    assert all(any(file in text for file in files) for text in found.values()), found


@hopper
@pytest.mark.parametrize("example", [name for name in examples.RUNS if name not in REFUSED])
def test_an_example_is_clean(example, target) -> None:
    module = examples.load(examples.EXAMPLES / f"{example}.py")
    for seed in range(2):
        examples.RUNS[example](module, schedule_seed=seed)


@tile.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k, (m[:, None] < M) & (k < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n, (k[:, None] < K) & (n < N), other=0.0)
        total = tl.dot(x, y, total)
    tl.store(c + m[:, None] * N + n, total, (m[:, None] < M) & (n < N))


@tile.jit
def product_by_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                           SPECIALIZE: tl.constexpr):  # fmt: skip
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for first in tl.range(0, K, BK, warp_specialize=SPECIALIZE):
        total = tl.dot(a.load([m, first]), b.load([first, n]), total)
    c.store([m, n], total.to(tl.float16))


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize(
    "target", ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx950", "hip:gfx1100"]
)
def test_loops_of_the_pipeliner_are_clean(
    target: str, stages: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copies ahead in loops; the result is that of the kernel without checks."""
    machines.run_on(target, monkeypatch)
    M, N, K = 70, 50, 150
    a, b = random((M, K), "fp16", 1), random((K, N), "fp16", 2)
    c, plain = poisoned((M, N), "fp32"), poisoned((M, N), "fp32")
    matmul[(2, 1)](a, b, c, M, N, K, BM=64, BN=64, BK=32, num_stages=stages)
    monkeypatch.delenv("TRITON_INSTRUMENTATION_MODE")
    matmul[(2, 1)](a, b, plain, M, N, K, BM=64, BN=64, BK=32, num_stages=stages)
    np.testing.assert_array_equal(c, plain)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=2e-2)


@pytest.mark.parametrize("specialize", [False, True])
@hopper
def test_loops_with_bulk_copies_are_clean(target, specialize: bool) -> None:
    from tile.tools.tensor_descriptor import TensorDescriptor

    a, b, c = (
        random((128, 160), "fp16", 1),
        random((160, 64), "fp16", 2),
        poisoned((128, 64), "fp16"),
    )
    described = [
        TensorDescriptor.from_tensor(x, block)
        for x, block in ((a, [64, 32]), (b, [32, 64]), (c, [64, 64]))
    ]
    kernel = product_by_descriptors[(2, 1)](
        *described, 160, BM=64, BN=64, BK=32, SPECIALIZE=specialize, num_stages=3
    )
    assert "tile_consan_transfer" in kernel.asm["ptx"]
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(c.astype(np.float32), expected, atol=5e-2, rtol=5e-3)


GRID = planted.GRID


@gluon.jit
def never_filled(x, y, WRONG: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float16, [64, 64], gl.NVMMASharedLayout(128, 16))
    if not WRONG:
        buffer.store(gl.load(x + planted.offsets(64, 64)))
    gl.store(y + planted.offsets(64, 64), buffer.load(GRID))


@gluon.jit
def initialised_twice(src, y, WRONG: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    if not WRONG:
        mbarrier.invalidate(barrier)
    mbarrier.init(barrier, count=1)
    mbarrier.arrive(barrier)
    mbarrier.wait(barrier, 0)


@gluon.jit
def too_many_arrivals(src, y, WRONG: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=2)
    mbarrier.arrive(barrier, count=3 if WRONG else 2)
    mbarrier.wait(barrier, 0)


@gluon.jit
def copy_at_the_end(src, y, WRONG: gl.constexpr):
    """The kernel ends while a copy writes its shared memory."""
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load(src, [0, 0], barrier, buffer)
    if not WRONG:
        mbarrier.wait(barrier, 0)


@gluon.jit
def store_at_the_end(dst, y, WRONG: gl.constexpr):
    """The kernel ends while a copy reads its shared memory."""
    buffer = gl.allocate_shared_memory(dst.dtype, dst.block_shape, dst.layout)
    buffer.store(gl.full([64, 64], 1.0, gl.float16, GRID))
    tma.async_store(dst, [0, 0], buffer)
    if not WRONG:
        tma.store_wait(0)


@gluon.jit
def used_after_the_end(src, y, WRONG: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.arrive(barrier)
    mbarrier.wait(barrier, 0)
    mbarrier.invalidate(barrier)
    if WRONG:
        mbarrier.arrive(barrier)


@gluon.jit
def parts(x, y, WRONG: gl.constexpr):
    """One half of a buffer is read while the other one is filled."""
    buffer = gl.allocate_shared_memory(gl.float16, [64, 128], gl.NVMMASharedLayout(64, 16))
    first, second = buffer.slice(0, 64, dim=1), buffer.slice(64, 64, dim=1)
    first.store(gl.full([64, 64], 1.0, gl.float16, GRID))
    async_copy.async_load(second, x + planted.offsets(64, 64))
    async_copy.commit_group()
    value = (second if WRONG else first).load(GRID)
    async_copy.wait_group(0)
    gl.store(y + planted.offsets(64, 64), value)


MORE = [
    (initialised_twice, "mbarrier-misuse", ""),
    (too_many_arrivals, "mbarrier-misuse", ""),
    (copy_at_the_end, "async-exit", "x"),
    (store_at_the_end, "async-exit", "y"),
    (used_after_the_end, "mbarrier-misuse", ""),
    (parts, "async-race", ""),
    (never_filled, "uninitialized", ""),
]


@hopper
@pytest.mark.parametrize("function,kind,described", MORE, ids=[row[0].__name__ for row in MORE])
def test_more_mistakes_and_twins(function, kind, described, target) -> None:
    x, y = random((64, 64), "fp16", 1), poisoned((64, 128), "fp16")
    arguments = {"x": (planted.descriptor(x), y), "y": (planted.descriptor(y), x)}
    given = arguments.get(described, (x, y))
    assert set(findings(function.simulate, *given, True, grid=(1,))) == {kind}
    report = function.simulate(*given, False, grid=(1,))
    assert report.ok, report.messages


@hopper
def test_clusters_are_refused(target) -> None:
    module = examples.load(examples.EXAMPLES / "cluster_matmul.py")
    with pytest.raises(TileError, match="for programs of one block, and not for clusters"):
        examples.cluster_matmul(module)


@hopper
def test_nothing_is_in_a_kernel_without_buffers(target, monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = random(200, "fp32", 5), poisoned(200, "fp32")
    module = examples.load(examples.EXAMPLES / "vector_add.py")
    layout = gl.BlockedLayout([2], [32], [4], [0])
    kernel = module.add_kernel[(1,)](x, x, out, 200, 256, layout)
    assert "tile_consan" not in kernel.asm["ptx"]
