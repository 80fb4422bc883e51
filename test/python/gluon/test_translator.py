"""Kernels of `tile.language` as source with explicit layouts, for all arguments; and functions with
all that they need as one module."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import random
import sys
import textwrap

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned
from reference import random as values
from test_gluon_examples import close
from test_to_gluon import example

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor
from tile.tools.triton_to_gluon_translator import (
    TranslatorTarget,
    convert_triton_to_gluon,
    slice_kernel,
)
from tile.tools.triton_to_gluon_translator.nvidia_helpers import convert_host_descriptor
from tile.tools.triton_to_gluon_translator.ordered_set import ordered_set
from tile.tools.triton_to_gluon_translator.slice_kernel import (
    RewriteSpec,
    SliceError,
    get_reference,
)
from tile.tools.triton_to_gluon_translator.stable_toposort import stable_toposort

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


@tile.jit
def dimensions_kernel(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    row = tl.unsqueeze(x, 0)
    column = tl.unsqueeze(x, -1)
    tl.debug_barrier()
    both = tl.squeeze(tl.sum(row * 3 + column, axis=0, keep_dims=True), -2)
    pairs = tl.interleave(both, x)
    tl.store(out_ptr + tl.arange(0, 2 * N), pairs)
    rows = tl.interleave(row, row + 1)
    tl.store(out_ptr + 2 * N + tl.arange(0, 2 * N)[None, :], rows)


@machines
def test_dimensions_of_one_element(target, translate):
    x, out = values(32, "i32", 6) // 1024, poisoned(128, "i32")
    translate(dimensions_kernel)[(1,)](x, out, N=32)
    expected = np.concatenate(
        [
            np.stack([(x[None] * 3 + x[:, None]).sum(0), x], 1).ravel(),
            np.stack([x, x + 1], 1).ravel(),
        ]
    )
    np.testing.assert_array_equal(out, expected.astype(np.int32))


@tile.jit
def squeezes_too_much(x_ptr, N: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, N), tl.squeeze(tl.zeros([N, 2], tl.int32), 1))


def test_a_dimension_that_cannot_be_dropped(translate):
    with pytest.raises(tile.TileError, match="drops a dimension of one element, not of 2"):
        translate(squeezes_too_much)[(1,)](np.zeros(8, np.int32), N=8)


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


@pytest.mark.parametrize(
    "kernel,message",
    [
        (block_kernel, "the language with layouts has no name for tl.make_block_ptr"),
    ],
)
def test_what_is_refused(kernel, message):
    with pytest.raises(SliceError, match=message):
        convert_triton_to_gluon([kernel], TranslatorTarget.SM90)


@tile.jit
def copy_blocks(x, y, columns, BN: tl.constexpr):
    row = tl.program_id(0) * 16
    for j in range(0, columns, BN):
        y.store([row, j], x.load([row, j]) * 2)


@tile.jit
def made_kernel(x_ptr, y_ptr, M, N, BN: tl.constexpr, PADDING: tl.constexpr):
    """Also as an argument of a function, and under names for what is a method."""
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [16, BN], padding_option=PADDING)
    y = tl.make_tensor_descriptor(y_ptr, [M, N + BN], [N + BN, 1], [16, BN])
    copy_blocks(x, y, N, BN)
    row = tl.program_id(0) * 16
    behind = tl.load_tensor_descriptor(x, [row, N])
    tl.store_tensor_descriptor(y, [row, N], behind)


@machines
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_descriptors_of_the_kernel(target, padding, translate):
    x, y = values((40, 96), "fp32", 1), poisoned((40, 128), "fp32")
    translate(made_kernel)[(3,)](x, y, 40, 96, BN=32, PADDING=padding)
    np.testing.assert_array_equal(y[:, :96], x * 2)
    np.testing.assert_array_equal(y[:, 96:], 0.0 if padding == "zero" else np.nan)


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
@pytest.mark.parametrize("dtype", ["fp16", "fp32", "i32"])
def test_descriptors_of_the_host(target, dtype, translate):
    """They are copied by the TMA, as long as they are in the layout that they are given here."""
    x, y = values((40, 96), dtype, 2), poisoned((40, 96), dtype)
    descs = [convert_host_descriptor(TensorDescriptor.from_tensor(t, [16, 32])) for t in (x, y)]
    kernel = translate(copy_blocks)[(3,)](*descs, 96, BN=32)
    np.testing.assert_array_equal(y, x * 2)
    assert "cp.async.bulk.tensor" in kernel.asm["ptx"]


@tile.jit
def rows_kernel(x_ptr, at_ptr, y_ptr, M, N, B: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [M, N], [N, 1], [1, B])
    y = tl.make_tensor_descriptor(y_ptr, [M, N], [N, 1], [1, B])
    rows = tl.load(at_ptr + tl.arange(0, 16))
    found = x.gather(rows, 8)
    y.scatter(found + 1, rows, 8)


@machines
def test_rows_by_number(target, translate):
    x, y = values((20, 64), "i32", 3), np.zeros((20, 64), np.int32)
    rows = np.random.default_rng(1).permutation(20)[:16].astype(np.int32)
    translate(rows_kernel)[(1,)](x, rows, y, 20, 64, B=32)
    expected = np.zeros_like(y)
    expected[rows, 8:40] = x[rows, 8:40] + 1
    np.testing.assert_array_equal(y, expected)


@tile.jit
def scaled_kernel(
    a_ptr, sa_ptr, b_ptr, sb_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
    A: tl.constexpr, B: tl.constexpr, GROUP: tl.constexpr, K_PACK: tl.constexpr,
):  # fmt: skip
    am: tl.constexpr = M // 2 if A == "e2m1" and not K_PACK else M
    ak: tl.constexpr = K // 2 if A == "e2m1" and K_PACK else K
    bk: tl.constexpr = K // 2 if B == "e2m1" and K_PACK else K
    bn: tl.constexpr = N // 2 if B == "e2m1" and not K_PACK else N
    a = tl.load(a_ptr + tl.arange(0, am)[:, None] * ak + tl.arange(0, ak)[None, :])
    b = tl.load(b_ptr + tl.arange(0, bk)[:, None] * bn + tl.arange(0, bn)[None, :])
    groups = tl.arange(0, K // GROUP)[None, :]
    sa = tl.load(sa_ptr + tl.arange(0, M)[:, None] * (K // GROUP) + groups)
    sb = None if B == "bf16" else tl.load(
        sb_ptr + tl.arange(0, N)[:, None] * (K // GROUP) + groups)  # fmt: skip
    c = tl.dot_scaled(a, sa, A, b, sb, B, lhs_k_pack=K_PACK, rhs_k_pack=K_PACK)
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


def operand(rng, rows, columns, format, axis, k_pack):
    """An operand, and the numbers in it."""
    if format == "bf16":
        x = rng.integers(-4, 5, (rows, columns)).astype(ml_dtypes.bfloat16)
        return x, x.astype(np.float64)
    if format != "e2m1":
        kind = ml_dtypes.float8_e4m3fn if format == "e4m3" else ml_dtypes.float8_e5m2
        x = rng.integers(-4, 5, (rows, columns)).astype(kind)
        return x, x.astype(np.float64)
    codes = rng.integers(0, 16, (rows, columns)).astype(np.uint8)
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    along = axis if k_pack else 1 - axis
    low, high = (codes.take(range(i, codes.shape[along], 2), along) for i in (0, 1))
    number = table[codes & 7] * np.where(codes & 8, -1, 1)
    return (low | high << 4).astype(np.uint8), number


@machines
@pytest.mark.sweep
@pytest.mark.parametrize(
    "a,b", [("e4m3", "e5m2"), ("e2m1", "e2m1"), ("e2m1", "bf16"), ("e5m2", "e2m1")]
)
@pytest.mark.parametrize("k_pack,group", [(True, 32), (False, 16)])
def test_dots_with_scales(target, a, b, k_pack, group, translate):
    m, n, k = 32, 16, 64
    rng = np.random.default_rng(7)
    x, left = operand(rng, m, k, a, 1, k_pack)
    y, right = operand(rng, k, n, b, 0, k_pack)
    sa, sb = (rng.integers(124, 131, (r, k // group)).astype(np.uint8) for r in (m, n))
    left = left * np.repeat(2.0 ** (sa.astype(int) - 127), group, 1)
    if b != "bf16":
        right = right * np.repeat(2.0 ** (sb.astype(int) - 127), group, 1).T
    c = poisoned((m, n), "fp32")
    translate(scaled_kernel)[(1,)](x, sa, y, sb, c, m, n, k, a, b, group, k_pack)
    np.testing.assert_array_equal(c, left @ right)


@tile.jit
def threads_kernel(y_ptr):
    tl.store(y_ptr, tl.extra.cuda.num_threads())


@pytest.mark.parametrize("target", ["cuda:90"], indirect=True)
def test_threads_are_counted(target, translate):
    y = np.zeros(1, np.int32)
    translate(threads_kernel)[(1,)](y, num_warps=8)
    assert y[0] == 256


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


DECORATED = """
    def marked(fn=None, *, limit=None):
        return (lambda inner: inner) if fn is None else fn
    def noted(fn):
        fn.note = len(fn.__name__)
        return fn
    def above(fn):
        fn.is_above = True
        return fn
    def limit_of():
        return 3
    @above
    @marked(limit=limit_of())
    @noted
    def kernel(x: int) -> int:
        return x * TABLE["key"]
    TABLE = {"key": 7}
"""


def test_decorators_and_annotations_are_changed(package):
    name = package(kernels=DECORATED)
    module = importlib.import_module(f"{name}.kernels")

    def is_marked(context, cur_module, decorator):
        function = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = get_reference(context, cur_module, function)
        return found is not None and found[0] is module.marked

    def to_float(context, cur_module, annotation):
        return ast.Name("float") if ast.unparse(annotation) == "int" else None

    spec = RewriteSpec(ignored_decorator_matchers=[is_marked], annotation_rewriters=[to_float])
    text = slice_kernel([f"{name}.kernels:kernel"], [], rewrite_spec=spec)
    assert "@marked" not in text and "limit_of" not in text and "x: float" in text
    assert "@above" not in text
    space: dict = {}
    exec(text, space)
    assert space["kernel"](2) == 2 * 7 and space["kernel"].note == 6
    # It would get what `marked` makes.
    assert not hasattr(space["kernel"], "is_above")


def test_what_is_imported_and_what_is_not(package):
    name = package(
        numbers="def one():\n    return 1\ndef two():\n    return 2\n",
        others="def three():\n    return 3\n",
        kernels="""
            from .numbers import one, two
            from .others import three
            def kernel():
                return one() + two() + three()
        """,
    )
    path = f"{name}.kernels:kernel"
    text = slice_kernel([path], [f"{name}.others"], leaf_paths=[f"{name}.numbers:two"])
    assert f"from {name}.others import three" in text and f"from {name}.numbers import two" in text
    assert "def one()" in text and "def two()" not in text and "def three()" not in text
    text = slice_kernel([path], [name], include_below=[f"{name}.others", f"{name}.kernels"])
    assert "def three()" in text and f"from {name}.numbers import one" in text


def test_callees_come_first_and_values_keep_their_names(package):
    name = package(
        numbers="TABLE = {'key': 7}\ndef one():\n    return TABLE['key']\n",
        kernels="""
            import os.path
            from .numbers import TABLE as KNOWN, one
            from . import numbers
            def first():
                return one()
            def kernel():
                return os.path.join(str(first()), str(one()), str(KNOWN["key"]), numbers.one())
        """,
    )
    text = slice_kernel([f"{name}.kernels:kernel"], [])
    written = [line for line in text.splitlines() if line.startswith(("def ", "TABLE"))]
    assert written == ["TABLE = {'key': 7}", "def one():", "def first():", "def kernel():"]
    text = slice_kernel([f"{name}.kernels:kernel"], [f"{name}.numbers"])
    assert f"import {name}.numbers\n" in text and f"{name}.numbers.one()" in text


@pytest.mark.parametrize("seed", range(200))
def test_orders_of_graphs(seed):
    """Nodes stand before what they point to, and the nodes of a cycle together."""
    generator = random.Random(seed)
    nodes = generator.sample(range(100), generator.randint(1, 9))
    edges = {n: generator.choices(nodes, k=generator.randint(0, 2)) for n in nodes}
    graph = {n: ordered_set(children) for n, children in edges.items()}
    order = stable_toposort(graph)
    assert sorted(order) == sorted(nodes) and order == stable_toposort(graph)
    reached = {n: {n} for n in nodes}
    for _ in nodes:
        for n in nodes:
            reached[n] = reached[n].union(*(reached[c] for c in edges[n]))
    for n in nodes:
        cycle = [m for m in nodes if m in reached[n] and n in reached[m]]
        start = order.index(cycle[0])
        assert order[start : start + len(cycle)] == cycle
        assert all(order.index(n) < order.index(c) for c in edges[n] if c not in cycle)


def test_nodes_that_are_no_keys():
    assert stable_toposort({1: [2, 3], 2: [3]}) == [1, 2, 3]


def test_traces_are_refused():
    from tile.tools.triton_to_gluon_translator.slice_kernel import slice_kernel_from_trace

    with pytest.raises(SliceError, match="what its trace holds is described nowhere"):
        slice_kernel_from_trace("kernels:add", [{}], False, {})
