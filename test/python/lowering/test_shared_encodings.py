"""Tensors through buffers of every shared encoding, by vectors and by matrices."""

from __future__ import annotations

import numpy as np
import pytest
import test_convert_layout as ir

import tile.sim
from tile import _C

ROWS = ir.blocked([1, 8], [4, 8], [4, 1], [1, 0])
COLUMNS = ir.blocked([8, 1], [8, 4], [1, 4], [0, 1])
MMA = ir.mma([4, 1])


def nvmma(width: int, bits: int, transposed: bool = False) -> str:
    return (
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = {width}, transposed = "
        f"{str(transposed).lower()}, elementBitWidth = {bits}}}>"
    )


def swizzled(vec: int, per_phase: int, max_phase: int, order: list[int]) -> str:
    return (
        f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, "
        f"order = {order}}}>"
    )


def run(src: str, memory: str, dst: str, dtype: str, target: str) -> tuple[str, tile.sim.Report]:
    """Stores a matrix in layout `src` to a buffer and loads it in layout `dst`."""
    shape = (64, 64)
    text = ir.kernel(shape, src, dst, dtype, 4).replace("cuda:80", f"cuda:{target}")
    tensor, buffer = f"tensor<64x64x{dtype}", f"!ttg.memdesc<64x64x{dtype}, {memory}"
    space = "#ttg.shared_memory"
    text = text.replace(
        f"%u = ttg.convert_layout %v : {tensor}, {src}> -> {tensor}, {dst}>",
        f"%m = ttg.local_alloc %v : ({tensor}, {src}>) -> {buffer}, {space}>\n"
        f"    %u = ttg.local_load %m : {buffer}, {space}> -> {tensor}, {dst}>",
    )
    assert "local_alloc" in text
    context = _C.ir.Context()
    module = _C.ir.Module.parse(text, context)
    _C.passes.PassManager.parse("tile-nvidia-llir", context).run(module)
    info = _C.llvm.kernel_info(module)
    options = _C.llvm.PTXOptions()
    options.compute_capability = int(target)
    ptx = _C.llvm.emit_ptx(_C.llvm.translate_to_llvm(module, options), context, options)
    x = np.random.default_rng(0).integers(-100, 100, shape).astype(ir.DTYPES[dtype])
    y = np.zeros_like(x)
    report = tile.sim.launch(ptx, "k", 1, 128, [x, y], dynamic_shared=info["shared"])
    np.testing.assert_array_equal(x, y)
    return ptx, report


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["80", "90"])
@pytest.mark.parametrize("width", [0, 32, 64, 128])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("src", "dst"), [(ROWS, COLUMNS), (MMA, ROWS), (COLUMNS, MMA)])
def test_nvmma(src, dst, width, transposed, target):
    run(src, nvmma(width, 16, transposed), dst, "f16", target)
    if not transposed and width <= 64:  # Rows of bytes are shorter.
        run(src, nvmma(width, 8), dst, "i8", target)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", ["i8", "f16", "f32", "i64"])
@pytest.mark.parametrize("order", [[1, 0], [0, 1]])
@pytest.mark.parametrize("target", ["80", "90"])
def test_swizzled(dtype, order, target):
    for memory in (swizzled(1, 1, 1, order), swizzled(8, 1, 8, order), swizzled(4, 2, 4, order)):
        run(MMA, memory, COLUMNS, dtype, target)
        run(ROWS, memory, MMA, dtype, target)


@pytest.mark.parametrize("order", [[1, 0], [0, 1]])
def test_stmatrix_saves_instructions(order):
    memory = swizzled(8, 1, 8, order)
    before, with_stores = run(MMA, memory, ROWS, "f16", "80")
    after, with_matrices = run(MMA, memory, ROWS, "f16", "90")
    assert "stmatrix" not in before
    assert ("stmatrix.sync.aligned.m8n8.x4" + (".trans" if order == [0, 1] else "")) in after
    counters, fewer = with_stores.counters, with_matrices.counters
    assert fewer["bank_conflicts"] <= counters["bank_conflicts"]
    assert fewer["shared_requests"] < counters["shared_requests"]


def bytes_across(rng: np.random.Generator) -> str:
    """Lanes by one row of a matrix, a register by eight, anything else by columns or by 16 rows."""
    rest = [[0, 1 << i] for i in range(6)] + [[16, 0], [32, 0]]
    rng.shuffle(rest)
    registers = [[8, 0], *rest[4:]]
    rng.shuffle(registers)
    lanes = [*rest[:2], [1, 0], [2, 0], [4, 0]]
    names = ("register", "lane", "warp", "block")
    bases = zip(names, (registers, lanes, rest[2:4], []), strict=True)
    lists = ((name, [list(map(int, basis)) for basis in group]) for name, group in bases)
    return f"#ttg.linear<{{{', '.join(f'{name} = {group}' for name, group in lists)}}}>"


@pytest.mark.parametrize("seed", range(12))
def test_bytes_go_across_by_matrices(seed):
    """Where bytes of a column lie together, and threads have those of two columns."""
    rng = np.random.default_rng(seed)
    layout = bytes_across(rng)
    memory = [nvmma(32, 8, True), nvmma(64, 8, True), swizzled(16, 2, 4, [0, 1])][seed % 3]
    target = ["100", "103", "110", "120"][seed % 4]
    stored, fewer = run(layout, memory, COLUMNS, "i8", target)
    assert "stmatrix.sync.aligned.m16n8" in stored and ".trans.shared.b8" in stored
    loaded, _ = run(COLUMNS, memory, layout, "i8", target)
    assert "ldmatrix.sync.aligned.m16n16" in loaded and ".trans.shared.b8" in loaded
    # Those before move each byte by itself.
    without, counters = run(layout, memory, COLUMNS, "i8", "90")
    assert "stmatrix" not in without
    assert fewer.counters["shared_requests"] < counters.counters["shared_requests"]
