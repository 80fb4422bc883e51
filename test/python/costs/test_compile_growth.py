"""A kernel of so many times the code compiles in about so many times as long.

The code of each stage is counted, which shows what a stage writes too much. Processor times of four
sizes show what is searched again and again. Neither says how fast a compile is.
"""

from __future__ import annotations

import math
import re
import time

import pytest

import tile
import tile.language as tl
from tile.compiler import ASTSource

TARGETS = {
    "cuda:80": tile.GPUTarget("cuda", 80, 32),
    "cuda:90": tile.GPUTarget("cuda", 90, 32),
    "hip:gfx942": tile.GPUTarget("hip", "gfx942", 64),
    "hip:gfx1100": tile.GPUTarget("hip", "gfx1100", 32),
}


@tile.jit
def sorts(x, out, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    for s in tl.static_range(COUNT):
        tl.store(out + s * N + i, tl.sort(tl.load(x + s * N + i)))


@tile.jit
def chained_sorts(x, out, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    for s in tl.static_range(COUNT):
        v = tl.sort(v) + tl.load(x + s * N + i)
    tl.store(out + i, v)


@tile.jit
def scans(x, out, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    for s in tl.static_range(COUNT):
        v = tl.load(x + s * N + i)
        tl.store(out + s * N + i, tl.cumsum(v, 0) - tl.max(v, 0))


@tile.jit
def branches(x, out, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    for s in tl.static_range(COUNT):
        if tl.sum(v, 0) > s:
            v += tl.load(x + s * N + i)
        tl.store(out + s * N + i, v)


@tile.jit
def loops(x, out, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    for s in tl.static_range(COUNT):
        v = tl.zeros([N], tl.float32)
        for k in range(100):
            v += tl.load(x + (s + k) * N + i)
        tl.store(out + s * N + i, v)


@tile.jit
def products(x, out, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    v = tl.load(x + i)
    for s in tl.static_range(COUNT):
        v = tl.dot(v.to(tl.float16), tl.load(x + s * N + i).to(tl.float16))
    tl.store(out + i, v)


@tile.jit
def turns(x, out, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    v = tl.load(x + i)
    for s in tl.static_range(COUNT):
        v = tl.trans(v) + tl.load(x + s * N + i)
        tl.store(out + s * N + i, v)


@tile.jit
def sums(x, out, COUNT: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N * 256)
    v = tl.load(x + i)
    for s in tl.static_range(COUNT):
        v = v * 0.5 + s
    tl.store(out + i, v)


KERNELS = (sorts, chained_sorts, scans, branches, loops, products, turns)


def compile_with(kernel, target: str, count: int):
    source = ASTSource(kernel, {"x": "*fp32", "out": "*fp32"}, {"COUNT": count, "N": 64})
    stage = "ptx" if target.startswith("cuda") else "amdgcn"
    return tile.compile(source, TARGETS[target], {"num_warps": 4}, stop_at=stage)


def code(text: str) -> int:
    """Lines that are no comment, no label and no empty line."""
    lines = (line.strip() for line in text.splitlines())
    return sum(bool(line) and not line.startswith((";", "//", "#", ".", "$")) for line in lines)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_the_code_of_each_stage_grows_with_the_kernel(kernel, target):
    counts = (4, 8, 16)
    texts = [compile_with(kernel, target, count).asm for count in counts]
    for stage in texts[0]:
        few, more, most = (code(compiled[stage]) for compiled in texts)
        assert most - more <= 2.3 * (more - few) + 20, (stage, few, more, most)


@tile.jit
def odd_scan(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]
    i = i * C + tl.arange(0, C)[None, None, :]
    least, where = tl.cummin(tl.load(x + i), None, return_indices=True)
    tl.store(out + i, least + where)


def test_elements_of_odd_extents_are_gathered_once():
    """A scan over all dimensions reshapes a tensor to one dimension and back. Each piece of the
    operand was gathered from by itself before. 826 elements on one wave were 136 gathers and 25,000
    instructions, which kept LLVM's register allocator busy for minutes."""
    shape = (2, 7, 59)
    source = ASTSource(odd_scan, {"x": "*i32", "out": "*i32"}, dict(zip("ABC", shape, strict=True)))
    compiled = tile.compile(source, TARGETS["hip:gfx942"], {"num_warps": 1}, stop_at="llir").asm
    pieces = math.prod(extent.bit_count() for extent in shape)
    whole = math.prod(shape).bit_count()
    assert compiled["ttir"].count("tt.gather") <= 2 * pieces + 2 * whole
    assert code(compiled["llir"]) < 8000


def processor_time(kernel, target: str, count: int) -> float:
    before = time.process_time()
    compile_with(kernel, target, count)
    return time.process_time() - before


@pytest.mark.slow
@pytest.mark.parametrize("target", ("cuda:80", "hip:gfx942"))
@pytest.mark.parametrize(
    "kernel", (sorts, chained_sorts, scans), ids=lambda kernel: kernel.__name__
)
def test_the_time_of_a_compile_grows_with_the_kernel(kernel, target, monkeypatch):
    """Sixteen times as long is quadratic. Before that was mended, sorts took 10.7 and more."""
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    compile_with(kernel, target, 4)
    for _ in range(3):  # The clock counts the caches that other processes empty.
        few, many = (processor_time(kernel, target, count) for count in (64, 256))
        if many < 7 * few:
            break
    else:
        raise AssertionError(f"{many / few:.1f} times as long for four times as much")


@pytest.mark.parametrize("kernel", (sorts, scans, turns), ids=lambda kernel: kernel.__name__)
def test_addresses_of_a_kernel_stay_constants(kernel):
    """To make instructions of them takes LLVM the square of a block's size. Only functions that
    kernels call need that."""
    text = compile_with(kernel, "hip:gfx1100", 2).asm["llir"]
    assert "addrspace(3) @global_smem, i32" in text
    assert re.search(r"getelementptr[ \w]*\(.*@global_smem", text)


def test_blocks_that_are_too_large_are_not_packed(monkeypatch, capfd):
    """LLVM's SLPVectorizer takes the square of a block's size."""
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "packing")
    small = compile_with(sums, "hip:gfx942", 8)
    assert "tile-too-large-to-pack" not in small.asm["llir"] and not capfd.readouterr().err
    large = compile_with(sums, "hip:gfx942", 160)
    assert "tile-too-large-to-pack" in large.asm["llir"]
    assert "instructions in a row, too many to pack" in capfd.readouterr().err
