"""What articles, reports and examples of older releases write, as it is typed there."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
from types import ModuleType

import numpy as np
import pytest
from reference import on_nvidia, poisoned, sim_only

import tile
from tile import compat

pytestmark = sim_only


@pytest.fixture(autouse=True)
def installed():
    compat.uninstall()
    compat.install()
    yield
    compat.uninstall()


_numbers = itertools.count()


def load(text: str, folder) -> ModuleType:
    """A module of this text."""
    path = folder / f"typed_{next(_numbers)}.py"
    path.write_text("import triton\nimport triton.language as tl\n" + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ADD = """
@triton.jit
def add_kernel(x, y, out, n, BLOCK_SIZE: tl.constexpr):
    o = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    tl.store(out + o, tl.load(x + o, mask=o < n) + tl.load(y + o, mask=o < n), mask=o < n)
"""
BY_NAME = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32"}
BY_POSITION = dict(enumerate(BY_NAME.values()))
TEXT = "*fp32, *fp32,*fp32,i32"


def check_add(kernel) -> None:
    x, y = np.arange(40, dtype=np.float32), np.ones(40, np.float32)
    out = poisoned(40, "fp32")
    kernel[(1, 1, 1)](x, y, out, 40, 64)
    np.testing.assert_array_equal(out, x + y)


@pytest.mark.sweep
@pytest.mark.parametrize("signature", [BY_NAME, BY_POSITION, TEXT, TEXT + ", constexpr"])
@pytest.mark.parametrize("key", ["BLOCK_SIZE", 4, (4,), ("BLOCK_SIZE",)])
@pytest.mark.parametrize("word", ["constants", "constexprs"])
def test_sources(signature, key, word, tmp_path):
    import triton

    kernel = load(ADD, tmp_path).add_kernel
    source = triton.compiler.ASTSource(fn=kernel, signature=signature, **{word: {key: 64}})
    compiled = triton.compile(source)
    assert list(compiled.signature) == [*BY_NAME, "BLOCK_SIZE"]
    check_add(compiled)


@pytest.mark.parametrize("key", ["x", 0, (0,), ("x",)])
def test_attributes_of_parameters(key, tmp_path):
    import triton

    kernel = load(ADD, tmp_path).add_kernel
    for attrs in ([["tt.divisibility", 16]], {"tt.divisibility": 16}):
        source = triton.compiler.ASTSource(kernel, BY_NAME, {"BLOCK_SIZE": 64}, {key: attrs})
        text = triton.compile(source, target=tile.backends.GPUTarget("cuda", 90, 32)).asm["ttir"]
        assert "%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}" in text.replace("_ptr", "")


def test_wrong_signatures(tmp_path):
    import triton

    kernel = load(ADD, tmp_path).add_kernel
    for signature, constants, message in (
        ("*fp32,*fp32", {"BLOCK_SIZE": 64}, "has 4 parameters, the signature"),
        ({**BY_NAME, "z": "i32"}, {"BLOCK_SIZE": 64}, "names `z`, which is not a parameter"),
        ({9: "i32"}, {"BLOCK_SIZE": 64}, "names `9`, which is not a parameter"),
        (BY_NAME, {"BLOK": 64}, "the constant `BLOK` is not a parameter"),
    ):
        with pytest.raises(tile.TileError, match=message):
            triton.compiler.ASTSource(kernel, signature, constants=constants)
    with pytest.raises(tile.TileError, match="two names of one argument"):
        triton.compiler.ASTSource(kernel, BY_NAME, {4: 64}, constants={4: 64})


def test_a_compile_of_triton_2(tmp_path):
    import triton

    kernel = load(ADD, tmp_path).add_kernel
    compiled = triton.compile(kernel, signature=TEXT, constants={"BLOCK_SIZE": 64}, num_warps=2)
    assert compiled.metadata.num_warps == 2
    check_add(compiled)


@pytest.mark.skipif(not on_nvidia(), reason="names NVIDIA's stages")
def test_the_names_of_stages(tmp_path, capsys):
    import triton

    kernel = load(ADD, tmp_path).add_kernel
    compiled = triton.compile(triton.compiler.ASTSource(kernel, BY_NAME, {"BLOCK_SIZE": 64}))
    print(compiled.asm.keys())
    said = capsys.readouterr().out
    assert said.startswith("dict_keys(['ttir', 'ttgir', 'llir', 'ptx'")
    assert "ptx" in compiled.asm and len(compiled.asm.keys()) == len(compiled.asm)


#: How older programs spell functions of the device library, and what NumPy calls them.
LIBRARY = [
    ("", "tl.libdevice.asin(v)", np.arcsin), ("", "tl.math.asin(v)", np.arcsin),
    ("", "tl.extra.libdevice.asin(v)", np.arcsin), ("", "tl.math.libdevice.asin(v)", np.arcsin),
    ("", "tl.extra.cuda.libdevice.asin(v)", np.arcsin), ("", "tl.math.tanh(v)", np.tanh),
    ("", "tl.math.exp(v)", np.exp), ("", "tl.math.log1p(v)", np.log1p),
    ("", "tl.math.pow(v, v)", lambda v: v**v), ("", "tl.math.fast_expf(v)", np.exp),
    ("", "tl.math.max(v, 0.5)", lambda v: np.maximum(v, 0.5)),
    ("", "tl.math.min(v, 0.5)", lambda v: np.minimum(v, 0.5)),
    ("", "tl.math.round(v)", np.round), ("", "tl.math.trunc(v)", np.trunc),
    ("", "tl.math.llrint(v)", np.rint), ("", "tl.math.isnan(v)", np.isnan),
    ("", "tl.libdevice.exp(v)", np.exp),
    ("from triton.language.math import tanh", "tanh(v)", np.tanh),
    ("from triton.language import libdevice", "libdevice.tanh(v)", np.tanh),
    ("import triton.language.libdevice as libdevice", "libdevice.tanh(v)", np.tanh),
    ("from triton.language.extra import libdevice", "libdevice.tanh(v)", np.tanh),
    ("from triton.language.extra.cuda import libdevice", "libdevice.tanh(v)", np.tanh),
    ("from triton.language.extra.cuda.libdevice import tanh", "tanh(v)", np.tanh),
]  # fmt: skip


@pytest.mark.parametrize(("first", "expression", "expected"), LIBRARY)
def test_the_device_library(first, expression, expected, tmp_path):
    kernel = load(
        f"{first}\n@triton.jit\ndef k(x, out, N: tl.constexpr):\n"
        "    o = tl.arange(0, N)\n    v = tl.load(x + o)\n"
        f"    tl.store(out + o, {expression})\n",
        tmp_path,
    ).k
    x = np.random.default_rng(3).random(64).astype(np.float32)
    out = poisoned(64, "fp32")
    kernel[(1,)](x, out, N=64)
    np.testing.assert_allclose(out, expected(x), rtol=2e-6, atol=1e-7)


def test_products_with_allow_tf32(tmp_path):
    kernel = load(
        "@triton.jit\ndef k(x, out, N: tl.constexpr, A: tl.constexpr):\n"
        "    o = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]\n"
        "    v = tl.load(x + o)\n    tl.store(out + o, tl.dot(v, v, allow_tf32=A))\n",
        tmp_path,
    ).k
    x = np.random.default_rng(3).random((32, 32)).astype(np.float32)
    for allowed, tolerance in ((False, 1e-5), (True, 1e-2)):
        out = np.zeros_like(x)
        kernel[(1,)](x, out, 32, allowed)
        np.testing.assert_allclose(out, x @ x, rtol=tolerance)


def test_devices_and_configurations():
    import triton
    import triton.runtime.jit

    device = triton.runtime.driver.active.get_current_device()
    assert triton.runtime.jit.get_current_device() == device
    assert "max_shared_mem" in triton.runtime.driver.utils.get_device_properties(device)
    config = triton.Config(
        {"BLOCK": 64}, num_warps=4, enable_warp_specialization=False, num_buffers_warp_spec=0,
        num_consumer_groups=0, reg_dec_producer=0, reg_inc_consumer=0,
    )  # fmt: skip
    assert config == triton.Config({"BLOCK": 64}, num_warps=4)
    with pytest.raises(TypeError, match="no keyword `num_warp`"):
        triton.Config({"BLOCK": 64}, num_warp=4)


@pytest.mark.parametrize(
    "module", ["triton.ops", "triton.ops.matmul", "triton.ops.flash_attention"]
)
def test_modules_that_are_gone(module):
    with pytest.raises(ModuleNotFoundError, match=r"examples/matmul\.py") as caught:
        importlib.import_module(module)
    assert caught.value.name == "triton.ops"


@pytest.mark.parametrize(
    "path", ["triton.compiler", "triton.compiler.compiler", "triton.backends.compiler", "triton"]
)
def test_names_that_are_gone(path):
    """`hasattr` tells releases apart, and an access says what to use."""
    module = importlib.import_module(path)
    name = "ops" if path == "triton" else "AttrsDescriptor"
    assert not hasattr(module, name)
    with pytest.raises(AttributeError, match="was taken out of Triton in 3"):
        getattr(module, name)


@pytest.mark.parametrize("groups", ["", ", warp_specialize=True"])
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90", "cuda:100", "hip:gfx942"])
def test_no_stages(target, groups, tmp_path, monkeypatch):
    """`num_stages=0`, as 1: nothing of a loop overlaps, and warps of their own have one buffer."""
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    kernel = load(
        "@triton.jit\ndef k(x, out, n, N: tl.constexpr, S: tl.constexpr):\n"
        "    o = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]\n"
        "    total = tl.zeros((N, N), tl.float32)\n"
        f"    for i in tl.range(0, n, num_stages=S{groups}):\n"
        "        v = tl.load(x + i * N * N + o)\n"
        "        total = tl.dot(v, v, total)\n"
        "    tl.store(out + o, total)\n",
        tmp_path,
    ).k
    x = np.random.default_rng(3).integers(-3, 3, (4, 32, 32)).astype(np.float16)
    for stages in (None, 0):
        out = np.zeros((32, 32), np.float32)
        compiled = kernel[(1,)](x, out, 4, 32, stages, num_stages=0)
        assert compiled.metadata.num_stages == 0
        np.testing.assert_array_equal(out, sum(a.astype(np.float32) @ a for a in x))
