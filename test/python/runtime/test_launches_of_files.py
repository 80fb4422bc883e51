"""Launches of kernels that were compiled from files of IR."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random

import tile
import tile.language as tl
from tile.compiler import IRSource
from tile.errors import TileError

pytestmark = pytest.mark.every_target


@tile.jit
def scale(x_ptr, out_ptr, n, factor, shift, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    tl.store(out_ptr + o, x * factor + shift, mask=o < n)


@tile.jit
def nothing_but_a_descriptor(desc):
    desc.store([0], tl.zeros((16,), tl.float32))


def again(kernel, stage, folder):
    file = folder / f"again.{stage}"
    file.write_text(kernel.asm[stage])
    return tile.compile(str(file))


@pytest.mark.sweep
@pytest.mark.simulator  # On a GPU, kernels of files take its memory, and no NumPy arrays.
@pytest.mark.parametrize("stage", ["ttir", "ttgir"])
@pytest.mark.parametrize("dtype", ["fp32", "fp64", "i32", "i8", "i64"])
def test_a_launch(stage, dtype, machine, tmp_path):
    n = 150
    x, out = random(n, dtype), poisoned(n, dtype)
    factor, shift = (0.5, -1.25) if dtype.startswith("f") else (3, -5)
    kernel = scale[(3,)](x, out, n, factor, shift, BLOCK=64)
    other = poisoned(n, dtype)
    found = again(kernel, stage, tmp_path)
    found[(3, 1, 1)](x, other, n, factor, shift)
    assert np.array_equal(out, other)
    other[:] = 0
    found[3](x, other, n, shift=shift, factor=factor)
    assert np.array_equal(out, other)
    assert np.allclose(out, (x * factor + shift).astype(x.dtype), rtol=1e-6)


def test_what_a_file_says_of_its_parameters(tmp_path):
    file = tmp_path / "k.ttir"
    file.write_text(
        "tt.func public @k(%a: !tt.ptr<f8E5M2> {tt.divisibility = 16 : i32}, %b: !tt.ptr<bf16, 1>,"
        " %arg2: i1, %d-e: i64, %f: f64) {\n tt.return\n}\n"
    )
    assert IRSource(file).name == "@k"
    assert IRSource(file).signature == {0: "*f8E5M2", 1: "*bf16", 2: "i1", 3: "i64", 4: "f64"}
    assert IRSource(file).parameters == {
        "a": "*fp8e5", "b": "*bf16", "arg2": "i1", "d-e": "i64", "f": "fp64",
    }  # fmt: skip
    file.write_text(
        "tt.func public @k(%a: !tt.ptr<i8> {tt.nv_tma_desc = 1 : i32}, %b: i32, "
        "%c: !tt.ptr<i8> {tt.divisibility = 16 : i32, tt.nv_tma_desc = 1 : i32}) {\n tt.return\n}\n"
    )
    assert IRSource(file).signature == {0: "nvTmaDesc", 1: "i32", 2: "nvTmaDesc"}
    file.write_text("tt.func public @k() {\n tt.return\n}\n")
    assert IRSource(file).parameters == IRSource(file).signature == {}


@pytest.mark.simulator  # On a GPU, kernels of files take its memory, and no NumPy arrays.
def test_a_function_without_a_visibility_is_the_kernel(machine, tmp_path):
    """MLIR prints no visibility of public functions. There is one of them."""

    def function(head):
        return (
            f"tt.func {head}(%p: !tt.ptr<i32>) {{\n  %c = arith.constant {ord(head[-1])} : i32\n"
            "  tt.store %p, %c : !tt.ptr<i32>\n  tt.return\n}\n"
        )

    file = tmp_path / "k.ttir"
    for heads in (["@a"], ["private @b", "@a"], ["@a", "private @b"], ["private @b", "public @a"]):
        file.write_text("".join(map(function, heads)))
        assert IRSource(file).name == "@a"
        assert IRSource(file).signature == {0: "*i32"}
        out = poisoned(1, "i32")
        tile.compile(str(file))[(1, 1, 1)](out)
        assert out[0] == ord("a")
    file.write_text(function("private @b"))
    with pytest.raises(TileError, match="contains no kernel"):
        IRSource(file)


def test_launches_that_are_wrong(machine, tmp_path):
    x, out = random(64, "fp32"), poisoned(64, "fp32")
    kernel = again(scale[(1,)](x, out, 64, 2.0, 1.0, BLOCK=64), "ttir", tmp_path)
    with pytest.raises(tile.TileError, match="`scale` lacks the parameter `shift`"):
        kernel[(1,)](x, out, 64, 2.0)
    with pytest.raises(tile.TileError, match="`scale` has no parameter `BLOCK`"):
        kernel[(1,)](x, out, 64, 2.0, 1.0, BLOCK=64)
    with pytest.raises(tile.TileError, match="`scale` has 5 parameters, not 6"):
        kernel[(1,)](x, out, 64, 2.0, 1.0, 64)
    with pytest.raises(tile.TileError, match="has 1 to 3 dimensions, not 4"):
        kernel[(1, 1, 1, 1)](x, out, 64, 2.0, 1.0)


@pytest.mark.parametrize("stage", ["ttir", "last"])
def test_files_that_do_not_say_their_parameters(stage, machine, tmp_path):
    source = tile.compiler.ASTSource(nothing_but_a_descriptor, {"desc": "tensordesc<fp32[16]>"})
    kernel = tile.compile(source)
    if stage == "last":
        stage = "ptx" if "ptx" in kernel.asm else "amdgcn"
    with pytest.raises(tile.TileError, match="does not say its parameters"):
        again(kernel, stage, tmp_path)[(1,)](random(16, "fp32"))
