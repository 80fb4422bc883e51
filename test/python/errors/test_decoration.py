"""What cannot be a kernel is refused where it is decorated; what needs the interpreter says so."""

from __future__ import annotations

import functools
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tile
import tile.language as tl


def plain(x):
    tl.store(x, 1)


def logged(fn):
    @functools.wraps(fn)
    def call(*arguments):
        return fn(*arguments)

    return call


def test_jit_above_autotune():
    tuner = tile.autotune(configs=[tile.Config({})], key=[])(tile.jit(plain))
    with pytest.raises(tile.TileError, match=r"@tile.jit stands above @Autotuner.*other way"):
        tile.jit(tuner)


@pytest.mark.parametrize(
    "decorator", [tile.autotune(configs=[tile.Config({})], key=[]), tile.heuristics({})]
)
def test_decorators_of_kernels_without_one(decorator):
    """As where @tile.jit was written above them."""
    with pytest.raises(tile.TileError, match=r"put @tile.jit below it, next to the `def`"):
        decorator(plain)


def test_jit_twice():
    with pytest.raises(tile.TileError, match=r"@tile.jit stands above @JITFunction"):
        tile.jit(tile.jit(plain))


def test_lambdas():
    with pytest.raises(tile.TileError, match="defined with `def`, not lambdas"):
        tile.jit(lambda x: x)


def test_wrapped_functions():
    with pytest.raises(tile.TileError, match=r"`plain` is wrapped by another decorator"):
        tile.jit(logged(plain))


@tile.jit
def summed(*values):
    total = 0
    for value in values:
        total += value
    return total


@tile.jit
def calls_with_rest(out, n):
    tl.store(out, summed(n, 2, n))


@tile.jit
def with_rest(out, *rest):
    tl.store(out, summed(*rest))


@tile.jit
def with_options(out, **options):
    tl.store(out, 1)


def test_kernels_name_all_their_parameters():
    with pytest.raises(tile.TileError, match=r"`with_options` takes `\*\*options`") as found:
        with_options[(1,)](np.zeros(1, np.int32), more=1)
    assert "def with_options(out, **options):" in str(found.value)


@pytest.mark.parametrize("kernel", ["with_rest", "with_options"])
def test_what_decorators_know_to_be_a_kernel_names_its_parameters(kernel):
    fn = globals()[kernel]
    for decorator in (tile.autotune([tile.Config({})], key=[]), tile.heuristics({})):
        with pytest.raises(tile.TileError, match=rf"`{kernel}` takes `\*.*only functions"):
            decorator(fn)


def test_functions_may_take_any_number_but_kernels_may_not():
    out = np.zeros(1, np.int32)
    calls_with_rest[(1,)](out, 5)
    assert out[0] == 12
    with pytest.raises(tile.TileError, match=r"`with_rest` takes `\*rest`.*takes a tuple") as found:
        with_rest[(1,)](out, 1, 2)
    assert "def with_rest(out, *rest):" in str(found.value)


@tile.jit
def stopping(out):
    breakpoint()
    x = tl.load(out + tl.arange(0, 4))
    y = tl.where(x > 1, tl.exp(x), x.to(tl.float16).to(tl.float32))
    print(y)
    z = tl.sum(y, 0) + tl.max(y.to(tl.float8e5).to(tl.float32), 0)
    if z > 2:
        z = z * 2
    tl.store(out, z)


def test_breakpoint_in_a_compiled_kernel():
    with pytest.raises(tile.CompilationError, match=r"breakpoint\(\) stops interpreted") as found:
        stopping[(1,)](np.zeros(4, np.float32))
    assert "\n    breakpoint()\n    ^^^^^^^^^^^^" in str(found.value)


def test_steps_stay_in_the_kernel(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdin", io.StringIO("step\n" * 6 + "continue\n"))
    monkeypatch.setattr(sys, "stdout", out)
    stopping.interpret(np.arange(4, dtype=np.float32), grid=(1,))
    sys.settrace(None)
    places = re.findall(r"^(?:\(Pdb\) )*> (.+)\((\d+)\)", out.getvalue(), re.M)
    assert len(places) >= 6
    # Only imports, for which pytest has a hook, show anything else.
    assert {file for file, _ in places if "_pytest" not in file} == {__file__}


@tile.jit
def assembling(x, out):
    i = tl.arange(0, 32)
    y = tl.inline_asm_elementwise(
        "foo.bar.f32 $0, $1;", "=f,f", [tl.load(x + i)], dtype=tl.float32, is_pure=True, pack=1
    )
    tl.store(out + i, y)


@pytest.mark.nvidia("its assembly is PTX")
def test_wrong_assembly_is_shown_where_it_is_written():
    x = np.zeros(32, np.float32)
    with pytest.raises(tile.TileError, match="foo") as found:
        assembling[(1,)](x, x.copy())
    assert "in assembling\n    y = tl.inline_asm_elementwise(\n" in str(found.value)


BIN = Path(__file__).parents[3] / "build" / "bin"


@pytest.mark.parametrize("tool", ["tile-opt", "tile-lsp-server", "tile-reduce", "tile-sim"])
def test_tools_say_which_tile_they_are(tool):
    program = Path(os.environ.get("TILE_TOOLS", BIN)) / tool
    if not program.exists():
        pytest.skip(f"{tool} is not built")
    text = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    assert text.startswith(f"tile {tile.__version__}")
