"""Arguments that share memory: kernels that take them to be disjoint have a variant that does
not, which launches choose where they meet."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from reference import sim_only

import tile
import tile.language as tl
import tile.sim
from tile.backends import GPUTarget
from tile.runtime import overlap

BLOCK = 128


@tile.jit
def running(x_ptr, y_ptr, n, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    # y[i + 1] = x[i] * 2 + 1, tile by tile: x[i] may be what was just written.
    lanes = tl.arange(0, BLOCK)
    for i in tl.range(0, n, num_stages=STAGES):
        value = tl.load(x_ptr + i * BLOCK + lanes)
        tl.store(y_ptr + (i + 1) * BLOCK + lanes, value * 2 + 1)


def reference(x: np.ndarray, y: np.ndarray, n: int) -> None:
    for i in range(n):
        y[(i + 1) * BLOCK : (i + 2) * BLOCK] = x[i * BLOCK : (i + 1) * BLOCK] * 2 + 1


def fresh(n: int) -> np.ndarray:
    return np.random.default_rng(n).integers(-5, 5, ((n + 1) * BLOCK,)).astype(np.int32)


@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_one_array_passed_twice(n, stages):
    x = fresh(n)
    want = x.copy()
    reference(want, want, n)
    running[(1,)](x, x, n, BLOCK=BLOCK, STAGES=stages)
    np.testing.assert_array_equal(x, want)


@pytest.mark.parametrize("shift", [-2, -1, 0, 1, 2, 6, 7, 8])
def test_views_of_one_array(shift):
    n, stages = 6, 3
    memory = np.random.default_rng(shift + 9).integers(-5, 5, (40 * BLOCK,)).astype(np.int32)
    want = memory.copy()

    def views(a):
        first = 10 * BLOCK
        second = first + shift * BLOCK
        return a[first : first + (n + 1) * BLOCK], a[second : second + (n + 1) * BLOCK]

    reference(*views(want), n)
    running[(1,)](*views(memory), n, BLOCK=BLOCK, STAGES=stages)
    np.testing.assert_array_equal(memory, want)


@tile.jit
def replicated(x_ptr, y_ptr, n, SIZE: tl.constexpr):
    # Each thread loads an element of its own, or one that others load, too; one thread stores it.
    i = 0
    lanes = tl.arange(0, SIZE)
    while i < n:
        value = tl.load(x_ptr + i * SIZE + lanes)
        tl.store(y_ptr + i * SIZE + lanes, value * 2 + 1)
        i += 1


@tile.jit
def scalars(x_ptr, y_ptr, n):
    i = 0
    while i < n:
        tl.store(y_ptr + i, tl.load(x_ptr + i) * 2 + 1)
        i += 1


@pytest.mark.parametrize("shift", [-1, 0, 1, 2])
@pytest.mark.parametrize("size", [1, 2, 16, 64, 128, 512])
def test_what_all_threads_load_and_one_stores(size, shift):
    n = 5
    memory = np.random.default_rng(size).integers(-5, 5, (9 * size,)).astype(np.int32)
    want = memory.copy()
    x, y = (memory[f * size : (f + n) * size] for f in (1, 1 + shift))
    for i in range(n):
        start = (1 + shift + i) * size
        want[start : start + size] = want[(1 + i) * size : (2 + i) * size] * 2 + 1
    if size == 1:
        scalars[(1,)](x, y, n)
    else:
        replicated[(1,)](x, y, n, SIZE=size)
    np.testing.assert_array_equal(memory, want)


@pytest.mark.nvidia("asynchronous copies show what is pipelined")
def test_disjoint_arguments_are_pipelined_and_others_are_not():
    n = 5
    x, y = fresh(n), fresh(n + 1)[: (n + 1) * BLOCK]
    want = y.copy()
    reference(x, want, n)
    kernel = running[(1,)](x, y, n, BLOCK=BLOCK, STAGES=3)
    np.testing.assert_array_equal(y, want)
    assert "async_copy" in kernel.asm["ttgir"]
    assert kernel.metadata.disjoint_arguments == [0, 1]

    plain = running[(1,)](x, y, n, BLOCK=BLOCK, STAGES=3, overlapping_arguments=True)
    assert "async_copy" not in plain.asm["ttgir"]
    assert plain.metadata.disjoint_arguments == []


def test_kernels_that_assume_nothing_note_nothing():
    @tile.jit
    def copy(x_ptr, y_ptr, BLOCK: tl.constexpr):
        lanes = tl.arange(0, BLOCK)
        tl.store(y_ptr + lanes, tl.load(x_ptr + lanes))

    x = fresh(1)
    kernel = copy[(1,)](x, x, BLOCK=BLOCK)
    assert kernel.metadata.disjoint_arguments == []


def test_kernels_that_others_launch_assume_nothing():
    """Nobody compares the arguments of Inductor's launches."""
    from tile.compat import triton

    signature = {"x_ptr": "*i32", "y_ptr": "*i32", "n": "i32"}
    constants = {"BLOCK": BLOCK, "STAGES": 3}
    source = tile.compiler.ASTSource(
        running, {**signature, **dict.fromkeys(constants, "constexpr")}, constants,
        {(i,): [["tt.divisibility", 16]] for i in range(2)},
    )  # fmt: skip
    target = GPUTarget("cuda", 90, 32)
    assert tile.compile(source, target).metadata.disjoint_arguments == [0, 1]
    kernel = triton.compile(source, target=target, options={"num_warps": 4})
    assert kernel.metadata.disjoint_arguments == [] and "async_copy" not in kernel.asm["ttgir"]
    # Who launches it knows that they do not overlap.
    options = {"overlapping_arguments": False}
    kernel = triton.compile(source, target=target, options=options)
    assert kernel.metadata.disjoint_arguments == [0, 1] and "async_copy" in kernel.asm["ttgir"]
    if tile.runtime.driver.active.get_current_target() == target:
        x = fresh(6)
        with pytest.raises(tile.TileError, match="arguments of `running` overlap"):
            kernel[(1, 1, 1)](x[BLOCK:], x, 5, BLOCK, 3)


def test_a_variant_is_compiled_once(monkeypatch):
    compiled = []
    kernel = SimpleNamespace(name="k", _metadata={"disjoint_arguments": [0, 2]})

    def launch(*args, **kwargs):
        return 0

    def variant():
        compiled.append(1)
        return lambda *args, **kwargs: compiled.append(2)

    run = overlap.checked(kernel, launch, variant, lambda address: None, lambda *a: None)
    x = np.zeros(8)
    run(1, 1, 1, 0, (x, x, np.zeros(8)))
    assert compiled == []
    for _ in range(2):
        run(1, 1, 1, 0, (x, 3, x[4:]))
    assert compiled == [1, 2, 2]


class Interface:
    """An array of which only the interface is known."""

    def __init__(self, array: np.ndarray) -> None:
        self.__array_interface__ = array.__array_interface__


def test_extents():
    x = np.zeros((4, 6), np.float32)
    at = x.ctypes.data
    assert overlap.extent(x) == (at, at + 96)
    assert overlap.extent(x[::-1]) == (at, at + 96)
    assert overlap.extent(x[:, 2]) == (at + 8, at + 8 + 3 * 24 + 4)
    low, high = overlap.extent(x[1:1])
    assert low == high
    assert overlap.extent(None) == (0, 0)
    assert overlap.extent(at) is None
    assert overlap.extent(tile.reinterpret(x, tl.int32)) == (at, at + 96)
    assert overlap.extent(Interface(x[1:])) == (at + 24, at + 96)
    assert overlap.extent(Interface(x[:, 1:3])) == (at + 4, at + 4 + 3 * 24 + 8)


def test_extents_of_tensors():
    torch = pytest.importorskip("torch")
    x = torch.zeros((4, 6), dtype=torch.float16)
    at = x.data_ptr()
    assert overlap.extent(x) == (at, at + 48)
    assert overlap.extent(x.t()[2:]) == (at + 4, at + 48)
    assert overlap.extent(x[1]) == (at + 12, at + 24)


def test_unknown_extents_are_compared_by_allocation():
    x, y = np.zeros(8), np.zeros(8)

    def allocation(address):
        for array in (x, y):
            low = array.ctypes.data
            if low <= address < low + array.nbytes:
                return low, low + array.nbytes
        return None

    first, last = x.ctypes.data, x.ctypes.data + 56
    assert overlap.may_meet(first, last, allocation)
    assert overlap.may_meet(x[:1], last, allocation)
    assert not overlap.may_meet(first, y.ctypes.data, allocation)
    assert overlap.may_meet(first, 1, allocation)
    assert not overlap.may_meet(first, None, allocation)


@tile.jit
def chained(x_ptr, y_ptr, n, SIZE: tl.constexpr, STAGES: tl.constexpr):
    # Dots are pipelined on every target.
    rows = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    y = tl.load(y_ptr + rows)
    for i in tl.range(0, n, num_stages=STAGES):
        x = tl.load(x_ptr + i * SIZE * SIZE + rows)
        product = tl.dot(x, y).to(tl.float16)
        tl.store(y_ptr + (i + 1) * SIZE * SIZE + rows, product)


#: Kernels with what they are launched with, and the elements that an iteration takes of x.
MEETING = [
    pytest.param(running, {"BLOCK": BLOCK, "STAGES": 3}, BLOCK, np.int32,
                 marks=pytest.mark.nvidia("loops without products are pipelined there alone")),
    pytest.param(chained, {"SIZE": 32, "STAGES": 3}, 1024, np.float16),
    pytest.param(replicated, {"SIZE": 16}, 16, np.int32),
]  # fmt: skip


@sim_only
@pytest.mark.every_target
@pytest.mark.parametrize(("kernel", "constants", "size", "dtype"), MEETING)
def test_the_simulator_reports_arguments_that_meet_all_the_same(
    kernel, constants, size, dtype, machine
):
    """Beyond what a launch compares: an access may leave its argument for another one."""
    n = 4
    memory = np.zeros(12 * size, dtype)
    x, y = memory[: 2 * size], memory[2 * size : 8 * size]
    with pytest.raises(tile.TileError, match=r"overlapping-arguments.*'x_ptr' reaches 'y_ptr'"):
        kernel[(1,)](x, y, n, **constants)
    # What no argument has is nobody's; neither is a compile that assumes nothing at fault.
    kernel[(1,)](memory[: 5 * size], memory[6 * size :], n, **constants)
    kernel[(1,)](x, y, n, **constants, overlapping_arguments=True)


@tile.jit
def chosen(x_ptr, y_ptr, n, flag, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    source = x_ptr
    for i in tl.range(0, n, num_stages=3):
        value = tl.load(source + lanes)
        tl.store(y_ptr + (i + 1) * BLOCK + lanes, value + 1)
        source += BLOCK * flag


BY_HAND = [
    *MEETING,
    pytest.param(chosen, {"BLOCK": BLOCK}, BLOCK, np.int32, marks=MEETING[0].marks),
]


@sim_only
@pytest.mark.every_target
@pytest.mark.parametrize(("kernel", "constants", "size", "dtype"), BY_HAND)
def test_the_simulator_reports_texts_that_are_launched_by_hand(
    kernel, constants, size, dtype, machine
):
    n = 3
    space = np.zeros(16 * size, dtype)
    x, y = space[: 7 * size], space[8 * size :]
    arguments = (n, 2) if kernel is chosen else (n,)
    compiled = kernel[(1,)](x, y, *arguments, **constants)
    target = compiled.metadata.target
    text = compiled.asm["ptx" if target.backend == "cuda" else "amdgcn"]

    def findings(first: np.ndarray, second: np.ndarray) -> list[str]:
        args = [first, second, *arguments]
        params = tile.sim.load(text).params(compiled.name)
        args += [None] * (len(params) - len(args))
        threads = compiled.metadata.num_warps * target.warp_size
        return tile.sim.launch(
            text, compiled.name, 1, threads, args, raise_on_finding=False,
            dynamic_shared=compiled.metadata.shared,
        ).messages  # fmt: skip

    assert findings(x, y) == []
    assert any("overlapping-arguments: " in m for m in findings(y, y))
