"""TTIR of whole kernels, compared with what the IR is expected to be."""

from __future__ import annotations

import pytest
from frontend import make_module, operations, raw_ttir, ttir

import tile
import tile.language as tl


@tile.jit
def add_kernel(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(o_ptr + offsets, x + y, mask=mask)


ADD = """\
module {
  tt.func public @add_kernel(%x_ptr: !tt.ptr<f32> {tt.divisibility = 16 : i32}, \
%y_ptr: !tt.ptr<f32>, %o_ptr: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {
    %c1024_i32 = arith.constant 1024 : i32
    %0 = tt.get_program_id x : i32
    %1 = arith.muli %0, %c1024_i32 : i32
    %2 = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>
    %3 = tt.splat %1 : i32 -> tensor<1024xi32>
    %offsets = arith.addi %3, %2 : tensor<1024xi32>
    %4 = tt.splat %n : i32 -> tensor<1024xi32>
    %mask = arith.cmpi slt, %offsets, %4 : tensor<1024xi32>
    %5 = tt.splat %x_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %6 = tt.addptr %5, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %x = tt.load %6, %mask : tensor<1024x!tt.ptr<f32>>
    %7 = tt.splat %y_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %8 = tt.addptr %7, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %y = tt.load %8, %mask : tensor<1024x!tt.ptr<f32>>
    %9 = tt.splat %o_ptr : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
    %10 = tt.addptr %9, %offsets : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
    %11 = arith.addf %x, %y : tensor<1024xf32>
    tt.store %10, %11, %mask : tensor<1024x!tt.ptr<f32>>
    tt.return
  }
}
"""


def test_vector_add():
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32"}
    attrs = {"x_ptr": [("tt.divisibility", 16)]}
    assert ttir(add_kernel, signature, {"BLOCK": 1024}, attrs).strip() == ADD.strip()


@tile.jit
def softmax_kernel(x_ptr, o_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * stride + columns, mask=mask, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(o_ptr + row * stride + columns, e / tl.sum(e, axis=0), mask=mask)


def test_softmax_has_the_operations_it_needs():
    text = ttir(
        softmax_kernel,
        {"x_ptr": "*fp32", "o_ptr": "*fp32", "stride": "i32", "n": "i32"},
        {"BLOCK": 2048},
    )
    assert "arith.constant dense<0xFF800000> : tensor<2048xf32>" in text
    names = operations(text)
    assert names.count("tt.reduce") == 2
    assert names.count("arith.maxnumf") == 1
    assert names.count("tt.load") == names.count("tt.store") == 1
    # As many as the same kernel has elsewhere.
    assert len(names) <= 28


@tile.jit
def transpose_kernel(x_ptr, o_ptr, M, N, B: tl.constexpr):
    rm = tl.program_id(0) * B + tl.arange(0, B)
    rn = tl.program_id(1) * B + tl.arange(0, B)
    x = tl.load(x_ptr + rm[:, None] * N + rn[None, :], mask=(rm[:, None] < M) & (rn[None, :] < N))
    tl.store(
        o_ptr + rn[:, None] * M + rm[None, :],
        tl.trans(x),
        mask=(rn[:, None] < N) & (rm[None, :] < M),
    )


def test_transpose():
    text = ttir(
        transpose_kernel, {"x_ptr": "*fp32", "o_ptr": "*fp32", "M": "i32", "N": "i32"}, {"B": 64}
    )
    assert "tt.trans %x {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>" in text
    assert operations(text).count("tt.make_range") == 1


@tile.jit
def gemm_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, sa, sb, sc, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    a = a_ptr + rm[:, None] * sa + rk[None, :]
    b = b_ptr + rk[:, None] * sb + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, tl.cdiv(K, BK)):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK * sb
    mask = (rm[:, None] < M) & (rn[None, :] < N)
    tl.store(c_ptr + rm[:, None] * sc + rn[None, :], acc.to(tl.float16), mask=mask)


GEMM = {
    **dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16"),
    **dict.fromkeys("M N K sa sb sc".split(), "i32"),
}


def test_gemm():
    text = ttir(gemm_kernel, GEMM, {"BM": 128, "BN": 128, "BK": 32})
    assert (
        "inputPrecision = tf32 : tensor<128x32xf16> * tensor<32x128xf16> -> tensor<128x128xf32>"
        in text
    )
    names = operations(text)
    assert names.count("scf.for") == 1
    assert len(names) <= 65


def test_locations_name_file_line_and_column():
    module = make_module(add_kernel, {
        "x_ptr": "*fp32", "y_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32"
    }, {"BLOCK": 16})  # fmt: skip
    places = {}
    module.operation.walk(lambda op: places.setdefault(op.name, op.location.places))
    file, line, column = places["tt.store"][0]
    assert file == __file__
    source = add_kernel.fn.__code__
    assert line == source.co_firstlineno + 6
    assert column == 5


@tile.jit
def _scale(x, factor=2.0):
    return x * factor


@tile.jit
def _calls(p, n):
    tl.store(p, _scale(_scale(tl.load(p), factor=3.0)))


def test_calls_are_inlined_with_call_sites():
    module = make_module(_calls, {"p": "*fp32", "n": "i32"})
    places = []
    module.operation.walk(
        lambda op: places.append(op.location.places) if op.name == "arith.mulf" else None
    )
    assert [len(p) for p in places] == [2, 2]
    assert places[0][0][1] == _scale.fn.__code__.co_firstlineno + 2
    assert places[0][1][1] == _calls.fn.__code__.co_firstlineno + 2


@tile.jit(noinline=True)
def _swap(a, b):
    return b, a


@tile.jit
def _outlined(p, n):
    a, b = _swap(n, n + 1)
    c, d = _swap(a, b)
    tl.store(p, a + b + c + d)


def test_noinline_functions_are_called():
    text = raw_ttir(_outlined, {"p": "*i32", "n": "i32"})
    assert text.count("tt.func private") == 1
    assert text.count("tt.call @_swap__0") == 2


@pytest.mark.parametrize(
    ("spec", "printed"),
    [("*fp16", "!tt.ptr<f16>"), ("*bf16", "!tt.ptr<bf16>"), ("*fp8e5", "!tt.ptr<f8E5M2>"),
     ("*i1", "!tt.ptr<i1>"),
     ("i64", "i64"), ("u32", "i32"), ("fp64", "f64")],
)  # fmt: skip
def test_parameter_types(spec, printed):
    @tile.jit
    def nothing(p):
        pass

    assert f"%p: {printed})" in raw_ttir(nothing, {"p": spec})


@tile.jit
def _tuples(p, pair, n):
    a, (b, c) = pair
    for i in range(n):
        pair = (a, (b + i, c))
        b = pair[1][0]
    tl.store(p, a + b + c)


def test_tuples_as_parameters():
    text = raw_ttir(
        _tuples, {"p": "*i32", "pair": ("i32", ("i32", "constexpr")), "n": "i32"}, {(1, 1, 1): 5}
    )
    assert "(%p: !tt.ptr<i32>, %pair: i32, %pair_0: i32, %n: i32)" in text
