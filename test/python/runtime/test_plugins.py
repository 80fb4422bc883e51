"""Passes, dialects and operations of plugins. The example is built against this build's headers, as
somebody else would build it."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import tile
import tile.language as tl
import tile.plugins
from tile.runtime.cache.lock import exclusive

CHECKOUT = Path(__file__).resolve().parents[3]
BUILD = CHECKOUT / "build"
CONFIG = BUILD / "lib/cmake/tile"
PLUGIN = BUILD / "example-plugin/tile-example-plugin.so"

square = tile.plugins.operation("example.square")


@pytest.fixture(scope="module")
def plugin():
    if not CONFIG.exists() or shutil.which("cmake") is None:
        pytest.skip("tile is not built here")
    folder = [str(CHECKOUT / "examples/plugin"), "-B", str(PLUGIN.parent)]
    with exclusive("tile-example-plugin"):
        for command in (["-S", *folder, f"-DTile_DIR={CONFIG}"], ["--build", folder[2]]):
            subprocess.run(["cmake", *command], check=True, capture_output=True)
    return PLUGIN


@tile.jit
def squares(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, square(x), mask=i < n)


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_operation_in_kernel(plugin, dtype):
    tile.plugins.load(plugin)
    n = 777
    x = np.random.default_rng(3).integers(-1000, 1000, n).astype(dtype)
    out = np.full(n, 7, dtype)
    kernel = squares[(4,)](x, out, n, BLOCK=256, insert_passes="ttir-start:example-lower")
    np.testing.assert_array_equal(out, x * x)
    assert "example" not in kernel.asm["ttir"]


def test_operation_without_lowering(plugin):
    tile.plugins.load(plugin)
    x = np.zeros(8, np.float32)
    with pytest.raises(tile.TileError, match=r"example\.square"):
        squares[(1,)](x, x.copy(), 8, BLOCK=8)


@pytest.mark.parametrize(
    "point",
    ["ttir-start", "ttir-end", "layouts-start", "loops-start", "copies-start", "copies-end"],
)
def test_points_of_a_compile(plugin, point):
    tile.plugins.load(plugin)
    x = np.arange(8, dtype=np.float32)
    passes = f"{point}:example-count-accesses,ttir-start:example-lower"
    kernel = squares[(1,)](x, x.copy(), 8, BLOCK=8, insert_passes=passes)
    assert "example.loads = 1" in kernel.asm["ttgir"]


def test_environment(plugin, tmp_path):
    program = textwrap.dedent("""
        import numpy as np, tile, tile.language as tl
        @tile.jit
        def copy(x_ptr, out_ptr):
            i = tl.arange(0, 8)
            tl.store(out_ptr + i, tl.load(x_ptr + i))
        x = np.arange(8.0)
        print(copy[(1,)](x, x.copy()).asm["ttgir"])
    """)
    (tmp_path / "program.py").write_text(program)
    environment = {
        **os.environ, "TRITON_PLUGIN_PATHS": f"{plugin}{os.pathsep}",
        "TILE_INSERT_PASSES": "copies-end:example-count-accesses",
    }  # fmt: skip
    run = subprocess.run(
        [sys.executable, tmp_path / "program.py"], env=environment, capture_output=True, text=True
    )
    assert "example.stores = 1" in run.stdout, run.stderr


def test_unknown_point_and_pass(plugin):
    x = np.zeros(8, np.float32)
    with pytest.raises(tile.TileError, match="'nowhere' is no extension point"):
        squares[(1,)](x, x.copy(), 8, BLOCK=8, insert_passes="nowhere:cse")
    with pytest.raises(tile.TileError, match="cannot insert 'no-such-pass' at ttir-end"):
        squares[(1,)](x, x.copy(), 8, BLOCK=8, insert_passes="ttir-end:no-such-pass")


def test_what_is_no_plugin(plugin, tmp_path):
    with pytest.raises(tile.TileError, match="cannot read the plugin"):
        tile.plugins.load(tmp_path / "missing.so")
    (tmp_path / "text.so").write_text("no library")
    with pytest.raises(tile.TileError, match=r"text\.so"):
        tile.plugins.load(tmp_path / "text.so")
