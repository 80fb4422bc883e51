"""Kernels of `tile.language` as source with explicit layouts, for all arguments; and functions with
all that they need as one module."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import textwrap

import numpy as np
import pytest
from reference import poisoned
from reference import random as values
from test_gluon_examples import close
from test_to_gluon import example

import tile
import tile.language as tl
from tile.tools.triton_to_gluon_translator import (
    TranslatorTarget,
    convert_triton_to_gluon,
    slice_kernel,
)
from tile.tools.triton_to_gluon_translator.slice_kernel import SliceError

machines = pytest.mark.parametrize(
    "target", ["cuda:80", "cuda:90", "hip:gfx942", "hip:gfx1100"], indirect=True
)


@pytest.fixture
def translate(tmp_path):
    """The kernel of a translated module."""

    def load(kernel):
        path = tmp_path / "translated.py"
        path.write_text(convert_triton_to_gluon([kernel], TranslatorTarget.GENERIC))
        spec = importlib.util.spec_from_file_location(f"translated_{id(tmp_path)}", path)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return getattr(module, kernel.__name__)

    return load


@machines
def test_softmax(target, translate):
    module = example("softmax")
    x, out = values((5, 300), "fp32", 1), poisoned((5, 300), "fp32")
    kernel = translate(module.softmax_kernel)
    assert kernel.is_gluon()
    kernel[(5,)](out, x, 300, 300, 300, BLOCK=512)
    expected = module.reference(x)
    close(out, expected, np.linalg.norm(expected))


@machines
def test_transpose(target, translate):
    x, out = values((70, 50), "fp32", 2), poisoned((50, 70), "fp32")
    kernel = translate(example("transpose").transpose_kernel)
    kernel[(3, 2)](x, out, 70, 50, BM=32, BN=32)
    np.testing.assert_array_equal(out, x.T)


@machines
@pytest.mark.parametrize("dtype", ["fp16", "fp32"])
def test_matmul(target, dtype, translate):
    m, n, k = 50, 40, 70
    a, b = values((m, k), dtype, 3), values((k, n), dtype, 4)
    c = poisoned((m, n), dtype)
    module = example("matmul")
    kernel = translate(module.matmul_kernel)
    given = {"BM": 32, "BN": 32, "BK": 32, "GROUP_M": 2}
    kernel[(4,)](a, b, c, m, n, k, k, 1, n, 1, n, 1, **given)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    close(c, expected, np.linalg.norm(expected))


SCALE = tl.constexpr(3)


@tile.jit
def scaled(x, factor):
    return x * factor + SCALE


@tile.jit(noinline=True)
def outer(x, y):
    return x[:, None] * 10 + y[None, :]


@tile.jit
def shapes_kernel(x_ptr, y_ptr, z_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    table = scaled(outer(x, i), 2)
    turned = table.T.reshape(N, N).trans()
    tl.store(y_ptr + i[:, None] * N + i[None, :], turned)
    best, at = tl.max(table, axis=1), tl.argmax(table, axis=0)
    pair = tl.join(best, at)
    left, right = tl.split(pair)
    total = tl.cumsum(left, 0) + right + tl.zeros([N], tl.int32)
    for k in tl.range(0, 3, num_stages=2):
        total += tl.where(i % 2 == 0, k, tl.full([N], 1, tl.int32))
    tl.store(z_ptr + i, total + tl.sum(x, axis=0))


@machines
def test_shapes_and_functions(target, translate):
    n = 32
    x = np.random.default_rng(5).integers(-9, 9, n).astype(np.int32)
    y, z = poisoned((n, n), "i32"), poisoned(n, "i32")
    translate(shapes_kernel)[(1,)](x, y, z, n)
    i = np.arange(n)
    table = (x[:, None] * 10 + i[None, :]) * 2 + 3
    np.testing.assert_array_equal(y, table)
    total = np.cumsum(table.max(1)) + table.argmax(0) + np.where(i % 2 == 0, 3, 3) + x.sum()
    np.testing.assert_array_equal(z, total)


@tile.jit
def random_kernel(y_ptr, seed):
    i = tl.arange(0, 128)
    tl.store(y_ptr + i, tl.rand(seed, i))


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
def test_functions_of_the_library_are_translated(target, translate):
    y, expected = poisoned(128, "fp32"), poisoned(128, "fp32")
    random_kernel[(1,)](expected, 7)
    translate(random_kernel)[(1,)](y, 7)
    np.testing.assert_array_equal(y, expected)


@tile.jit
def block_kernel(x_ptr):
    block = tl.make_block_ptr(x_ptr, (8,), (1,), (0,), (8,), (0,))
    tl.store(block, tl.load(block) + 1)


@tile.jit
def descriptor_kernel(x, y):
    y.store([0, 0], x.load([0, 0]))


@pytest.mark.parametrize(
    "kernel,message",
    [
        (block_kernel, "the language with layouts has no name for tl.make_block_ptr"),
        (descriptor_kernel, "the translation has no descriptors and block pointers"),
    ],
)
def test_what_is_refused(kernel, message):
    with pytest.raises(SliceError, match=message):
        convert_triton_to_gluon([kernel], TranslatorTarget.SM90)


def test_targets():
    assert TranslatorTarget("sm90") is TranslatorTarget.SM90
    assert TranslatorTarget("gfx942") is TranslatorTarget.GFX942
    assert TranslatorTarget.SM100.is_nvidia and not TranslatorTarget.GFX950.is_nvidia


# Slices.


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Writes modules of a package; returns its name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(**modules: str) -> str:
        name = f"sliced_{len(list(tmp_path.iterdir()))}_{tmp_path.name}".replace("-", "_")
        folder = tmp_path / name
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        for module, text in modules.items():
            (folder / f"{module}.py").write_text(textwrap.dedent(text))
        importlib.invalidate_caches()
        return name

    return make


def test_a_slice_runs_alone(package):
    name = package(
        numbers="""
            import math
            LIMIT = 40
            def top(values):
                return min(math.prod(values), LIMIT)
        """,
        kernels="""
            from .numbers import top as largest
            from . import numbers
            def top(x):
                return x + 1
            def kernel(values):
                from .numbers import LIMIT
                return top(largest(values)) + LIMIT + numbers.LIMIT
            def unused():
                raise AssertionError
        """,
    )
    text = slice_kernel([f"{name}.kernels:kernel"], [])
    assert "unused" not in text and name not in text
    space: dict = {}
    exec(text, space)
    assert space["kernel"]([3, 5]) == 15 + 1 + 40 + 40
    assert space["kernel"]([30, 5]) == 40 + 1 + 40 + 40


def test_what_cannot_be_written_down(package):
    name = package(
        kernels="""
            TABLE = {1: object()}
            def kernel():
                return TABLE
        """
    )
    with pytest.raises(SliceError, match=r"`TABLE` is .* which cannot be written down"):
        slice_kernel([f"{name}.kernels:kernel"], [])
    with pytest.raises(SliceError, match="a function is named as module:name"):
        slice_kernel([name], [])
