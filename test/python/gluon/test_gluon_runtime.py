"""Explicit programs are compiled, cached, tuned and replayed as others are."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from machines import run_on
from reference import poisoned, sim_only
from reference import random as values

import tile
from tile.backends import GPUTarget
from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from tile.experimental.gluon.nvidia.hopper import TensorDescriptor

HOPPER = GPUTarget("cuda", 90, 32)
ONE = gl.BlockedLayout([1], [32], [4], [0])
FOUR = gl.BlockedLayout([4], [32], [4], [0])


@pytest.fixture(autouse=True)
def hopper(monkeypatch):
    run_on("cuda:90", monkeypatch)


@gluon.jit
def double(x_ptr, y_ptr, n, LAYOUT: gl.constexpr):
    i = gl.program_id(0) * 512 + gl.arange(0, 512, layout=LAYOUT)
    gl.store(y_ptr + i, gl.load(x_ptr + i, i < n) * 2, i < n)


def test_a_layout_is_part_of_the_key():
    x, y = values(500, "fp32", 1), poisoned(500, "fp32")
    first = double[(1,)](x, y, 500, ONE)
    assert double[(1,)](x, y, 500, gl.BlockedLayout([1], [32], [4], [0])) is first
    other = double[(1,)](x, y, 500, FOUR)
    assert other is not first and other.hash != first.hash
    assert "sizePerThread = [4]" in other.asm["glir"]
    np.testing.assert_array_equal(y, x * 2)


def test_stages():
    source = gluon.GluonASTSource(
        double, {"x_ptr": "*fp32", "y_ptr": "*fp32", "n": "i32", "LAYOUT": "constexpr"},
        {"LAYOUT": ONE},
    )  # fmt: skip
    kernel = tile.compile(source, target=HOPPER, options={"num_warps": 4})
    assert [s for s in kernel.asm if s != "cubin"] == ["glir", "ttgir", "llir", "ptx"]
    assert '"ttg.num-warps" = 4' in kernel.asm["glir"]
    with pytest.raises(TileError, match=r"there is no stage 'ttir'; the stages are glir, ttgir"):
        tile.compile(source, target=HOPPER, stop_at="ttir")


@pytest.mark.parametrize("stage", ["glir", "ttgir"])
def test_a_compile_starts_from_a_file(stage, tmp_path):
    x, y = values(512, "fp32", 2), poisoned(512, "fp32")
    kernel = double[(1,)](x, y, 512, ONE)
    path = tmp_path / f"double.{stage}"
    path.write_text(kernel.asm[stage])
    again = tile.compile(path, target=HOPPER)
    assert again.asm["ptx"] == kernel.asm["ptx"] and again.num_warps == 4


@sim_only
def test_what_a_module_says_is_part_of_the_key(tmp_path, monkeypatch):
    """A layout that a kernel reads from its module, and not as an argument."""
    text = (
        "from tile.experimental import gluon\n"
        "from tile.experimental.gluon import language as gl\n"
        "LAYOUT = gl.BlockedLayout([{size}], [32], [4], [0])\n"
        "@gluon.jit\n"
        "def fill(y):\n"
        "    i = gl.arange(0, 512, layout=LAYOUT)\n"
        "    gl.store(y + i, i)\n"
    )
    # The other process finds the package where this one did.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    keys = []
    for size in (1, 2, 1):
        path = tmp_path / f"of_{size}" / "kernels.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text.format(size=size))
        code = (
            f"import sys; sys.path.insert(0, {str(path.parent)!r})\n"
            "import numpy as np, kernels\n"
            "y = np.zeros(512, np.int32)\n"
            "k = kernels.fill[(1,)](y)\n"
            f"assert 'sizePerThread = [{size}]' in k.asm['glir'] and (y == np.arange(512)).all()\n"
            "print(kernels.fill.cache_key)"
        )
        keys.append(
            subprocess.run(
                [sys.executable, "-c", code],
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
    assert keys[0] == keys[2] != keys[1]


def test_warmup_and_launch_share_a_kernel():
    kernel = double.warmup(gl.float32, gl.float32, 500, ONE, grid=(1,))
    assert "ptx" in kernel.asm
    x, y = values(500, "fp32", 3), poisoned(500, "fp32")
    assert double[(1,)](x, y, 500, ONE).asm["ptx"] == kernel.asm["ptx"]


@tile.autotune(
    [tile.Config({"LAYOUT": ONE}), tile.Config({"LAYOUT": FOUR})],
    key=["n"],
    do_bench=lambda f, **_: (f(), 1.0)[1],
)
@gluon.jit
def tuned(x_ptr, y_ptr, n, LAYOUT: gl.constexpr):
    i = gl.arange(0, 512, layout=LAYOUT)
    gl.store(y_ptr + i, gl.load(x_ptr + i, i < n) + 1, i < n)


def test_autotune_chooses_between_layouts():
    x, y = values(300, "fp32", 4), poisoned(300, "fp32")
    tuned[(1,)](x, y, 300)
    np.testing.assert_array_equal(y, x + np.float32(1))
    assert tuned.best_config.kwargs["LAYOUT"] in (ONE, FOUR)


@gluon.jit
def block_copy(src, y_ptr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    buffer = gl.allocate_shared_memory(src.dtype, src.block_shape, src.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, src.nbytes_per_cta)
    tma.async_load(src, [0, 0], barrier, buffer)
    mbarrier.wait(barrier, 0)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, LAYOUT))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, LAYOUT))
    gl.store(y_ptr + rows[:, None] * N + columns[None, :], buffer.load(LAYOUT))
    # What the kernel asks the descriptor for, it gets beside the map.
    gl.store(y_ptr + M * N, (src.shape[0] * 1000 + src.shape[1]).to(y_ptr.dtype.element_ty))


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_descriptors_are_compiled_for_their_layout(padding):
    x = values((20, 24), "fp32", 5)
    grid = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])
    kernels = []
    for swizzle in (128, 32, 128):
        y = poisoned(32 * 32 + 1, "fp32")
        layout = gl.NVMMASharedLayout(swizzle, 32)
        desc = TensorDescriptor.from_tensor(x, [32, 32], layout, padding)
        kernels.append(block_copy[(1,)](desc, y, 32, 32, grid))
        expected = np.full((32, 32), 0 if padding == "zero" else np.nan, np.float32)
        expected[:20, :24] = x
        np.testing.assert_array_equal(y[:-1].reshape(32, 32), expected)
        assert y[-1] == 20024
    assert kernels[0] is kernels[2] is not kernels[1]
    assert (
        "tensordesc<fp32[32, 32],NVMMASharedLayout(swizzle_byte_width=128"
        in (kernels[0].signature["src"])
    )


@sim_only
def test_the_report_of_a_launch_has_names_and_lines_of_the_program():
    report = double.simulate(values(500, "fp32", 6), poisoned(500, "fp32"), 500, ONE, grid=(1,))
    assert report.ok
    short = values(100, "fp32", 7)
    with pytest.raises(tile.sim.SimulationError) as error:
        double[(1,)](short, poisoned(500, "fp32"), 500, ONE)
    line = double.fn.__code__.co_firstlineno + 3
    assert f'test_gluon_runtime.py", line {line}, in ' in str(error.value)
    assert "past the end of 'argument x_ptr'" in str(error.value)


def test_names_of_triton_lead_here():
    code = (
        "import tile.compat; tile.compat.install()\n"
        "from triton.experimental import gluon\n"
        "from triton.experimental.gluon import language as ttgl\n"
        "from triton.experimental.gluon.language.nvidia.hopper import tma, warpgroup_mma\n"
        "from triton.experimental.gluon.nvidia.hopper import TensorDescriptor\n"
        "from triton.experimental.gluon._runtime import GluonJITFunction\n"
        "import tile.experimental.gluon as here\n"
        "assert gluon.jit is here.jit and ttgl.load is here.language.load\n"
        "assert TensorDescriptor is here.nvidia.hopper.TensorDescriptor\n"
        "from triton.experimental.gluon.language.amd.gfx1250 import tdm\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_kernels_as_c(tmp_path):
    """Ahead of time, as other kernels."""
    from tile.aot import compile_kernel

    path = tmp_path / "kernels.py"
    path.write_text(
        "from tile.experimental import gluon\n"
        "from tile.experimental.gluon import language as gl\n"
        "@gluon.jit\n"
        "def fill(y, n, BLOCK: gl.constexpr):\n"
        "    LAYOUT: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])\n"
        "    i = gl.arange(0, BLOCK, layout=LAYOUT)\n"
        "    gl.store(y + i, i, i < n)\n"
    )
    files = compile_kernel(
        path, "fill", "*i32:16, i32, 256", grid="1, 1, 1", out_path=tmp_path / "fill",
        targets=["cuda:90"],
    )  # fmt: skip
    assert any("fill" in f.read_text() for f in files)
