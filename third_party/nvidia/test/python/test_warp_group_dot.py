"""wgmma on operands in every layout that a matrix descriptor describes, and in registers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
import pytest
from reference import poisoned
from test_convert_layout import blocked
from test_shared_encodings import nvmma

import tile.sim
from tile import _C


@dataclass(frozen=True)
class Kind:
    """Element types of a dot, as the IR and as NumPy name them."""

    a: str
    b: str
    d: str
    numpy_a: type
    numpy_b: type
    numpy_d: str
    tolerance: float

    @property
    def bits(self) -> int:
        return np.dtype(self.numpy_a).itemsize * 8


E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
KINDS = {
    "f16": Kind("f16", "f16", "f32", np.float16, np.float16, "fp32", 1e-3),
    "f16-f16": Kind("f16", "f16", "f16", np.float16, np.float16, "fp16", 3e-2),
    "bf16": Kind("bf16", "bf16", "f32", ml_dtypes.bfloat16, ml_dtypes.bfloat16, "fp32", 1e-3),
    "tf32": Kind("f32", "f32", "f32", np.float32, np.float32, "fp32", 2e-2),
    "e4m3": Kind("f8E4M3FN", "f8E4M3FN", "f32", E4M3, E4M3, "fp32", 1e-3),
    "e5m2": Kind("f8E5M2", "f8E5M2", "f32", E5M2, E5M2, "fp32", 1e-3),
    "e4m3-e5m2": Kind("f8E4M3FN", "f8E5M2", "f32", E4M3, E5M2, "fp32", 1e-3),
    "e5m2-e4m3": Kind("f8E5M2", "f8E4M3FN", "f32", E5M2, E4M3, "fp32", 1e-3),
    "i8": Kind("i8", "i8", "i32", np.int8, np.int8, "i32", 0),
}


@dataclass(frozen=True)
class Case:
    """One dot, and where its operands are."""

    m: int
    n: int
    k: int
    warps: tuple[int, int] = (4, 1)
    instr_n: int | None = None
    #: Swizzles; columns first in memory; None for A in registers.
    a_width: int | None = 128
    b_width: int = 128
    a_transposed: bool = False
    b_transposed: bool = False
    #: The buffer is made the other way round and turned by a view.
    turned: bool = False
    #: "sum": of C and the dot; "zero": C is a constant; "flag": C where the argument says so.
    start: str = "sum"
    is_async: bool = False
    #: The product of the lower right quarter of larger buffers.
    sliced: bool = False
    imprecise: int = 2**30

    @property
    def num_warps(self) -> int:
        return self.warps[0] * self.warps[1]


def tensor_at(name: str, shape: tuple[int, int], element: str, layout: str) -> str:
    """IR for the pointers of a row-major matrix, as %name.p."""
    rows, columns = shape

    def index(dim: int, size: int) -> str:
        flat = f"tensor<{size}xi32, #ttg.slice<{{dim = {1 - dim}, parent = {layout}}}>>"
        one = f"tensor<{rows if dim == 0 else 1}x{columns if dim == 1 else 1}xi32, {layout}>"
        return f"""
    %{name}.i{dim} = tt.make_range {{end = {size} : i32, start = 0 : i32}} : {flat}
    %{name}.j{dim} = tt.expand_dims %{name}.i{dim} {{axis = {1 - dim} : i32}} : {flat} -> {one}
    %{name}.w{dim} = arith.constant dense<{columns if dim == 0 else 1}> : {one}
    %{name}.k{dim} = arith.muli %{name}.j{dim}, %{name}.w{dim} : {one}
    %{name}.o{dim} = tt.broadcast %{name}.k{dim} : {one} -> {whole}
"""

    whole = f"tensor<{rows}x{columns}xi32, {layout}>"
    pointers = f"tensor<{rows}x{columns}x!tt.ptr<{element}>, {layout}>"
    return f"""{index(0, rows)}{index(1, columns)}
    %{name}.o = arith.addi %{name}.o0, %{name}.o1 : {whole}
    %{name}.b = tt.splat %{name} : !tt.ptr<{element}> -> {pointers}
    %{name}.p = tt.addptr %{name}.b, %{name}.o : {pointers}, {whole}
"""


def memdesc(shape: tuple[int, int], element: str, encoding: str, whole: str = "") -> str:
    return f"!ttg.memdesc<{shape[0]}x{shape[1]}x{element}, {encoding}, #smem{whole}>"


def operand(name: str, shape: tuple[int, int], element: str, encoding: str, turned: bool) -> str:
    """IR that brings a matrix into shared memory, as %name.m."""
    tensor = f"tensor<{shape[0]}x{shape[1]}x{element}, #wide>"
    pointers = f"tensor<{shape[0]}x{shape[1]}x!tt.ptr<{element}>, #wide>"
    buffer = memdesc(shape, element, encoding)
    text = tensor_at(name, shape, element, "#wide")
    text += f"    %{name}.v = tt.load %{name}.p : {pointers}\n"
    if not turned:
        return text + f"    %{name}.m = ttg.local_alloc %{name}.v : ({tensor}) -> {buffer}\n"
    other = tensor.replace(f"<{shape[0]}x{shape[1]}x", f"<{shape[1]}x{shape[0]}x")
    other = other.replace("#wide", "#tall")
    flipped = "false" if "transposed = true" in encoding else "true"
    inside = memdesc(
        shape[::-1], element, re.sub("transposed = [a-z]*", f"transposed = {flipped}", encoding)
    )
    order = "{order = array<i32: 1, 0>}"
    return f"""{text}
    %{name}.t = tt.trans %{name}.v {order} : {tensor} -> {other}
    %{name}.i = ttg.local_alloc %{name}.t : ({other}) -> {inside}
    %{name}.m = ttg.memdesc_trans %{name}.i {order} : {inside} -> {buffer}
"""


def header(kind: Kind, case: Case) -> str:
    instr_n = case.instr_n or min(256, case.n // case.warps[1])
    align = "{tt.divisibility = 16 : i32}"
    attributes = (
        f'"ttg.num-warps" = {case.num_warps} : i32, "ttg.num-ctas" = 1 : i32, '
        '"ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"'
    )
    pointers = ", ".join(
        f"%{name}: !tt.ptr<{element}> {align}"
        for name, element in (("a", kind.a), ("b", kind.b), ("d", kind.d))
    )
    return f"""
#wide = {blocked([1, 8], [8, 4], [case.num_warps, 1], [1, 0])}
#tall = {blocked([8, 1], [4, 8], [1, case.num_warps], [0, 1])}
#mma = #ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = {list(case.warps)},
    instrShape = [16, {instr_n}, {256 // kind.bits}]}}>
#dot = #ttg.dot_op<{{opIdx = 0, parent = #mma, kWidth = {32 // kind.bits}}}>
#smem = #ttg.shared_memory
module attributes {{{attributes}}} {{
  tt.func public @k({pointers}, %flag: i32) {{
"""


def kernel(kind: Kind, case: Case) -> str:
    m, n, k = case.m, case.n, case.k
    scale = 2 if case.sliced else 1
    a_shape, b_shape = (m * scale, k * scale), (k * scale, n * scale)
    a_buffer = nvmma(case.a_width or 0, kind.bits, case.a_transposed)
    b_buffer = nvmma(case.b_width, kind.bits, case.b_transposed)
    d = f"tensor<{m}x{n}x{kind.d}, #mma>"

    text = header(kind, case) + operand("b", b_shape, kind.b, b_buffer, case.turned)
    if case.a_width is None:
        tensor = f"tensor<{m}x{k}x{kind.a}, "
        text += tensor_at("a", a_shape, kind.a, "#wide")
        text += f"""
    %a.v = tt.load %a.p : tensor<{m}x{k}x!tt.ptr<{kind.a}>, #wide>
    %x = ttg.convert_layout %a.v : {tensor}#wide> -> {tensor}#dot>
"""
        x, a_type = "%x", f"{tensor}#dot>"
    else:
        text += operand("a", a_shape, kind.a, a_buffer, case.turned)
        x, a_type = "%a.m", memdesc((m, k), kind.a, a_buffer)
    y, b_type = "%b.m", memdesc((k, n), kind.b, b_buffer)
    if case.sliced:
        x, y = "%x", "%y"
        whole_a, whole_b = memdesc(a_shape, kind.a, a_buffer), memdesc(b_shape, kind.b, b_buffer)
        a_type = memdesc((m, k), kind.a, a_buffer, f", {a_shape[0]}x{a_shape[1]}")
        b_type = memdesc((k, n), kind.b, b_buffer, f", {b_shape[0]}x{b_shape[1]}")
        text += f"""
    %x = ttg.memdesc_subslice %a.m[{m}, {k}] : {whole_a} -> {a_type}
    %y = ttg.memdesc_subslice %b.m[{k}, {n}] : {whole_b} -> {b_type}
"""
    text += tensor_at("d", (m, n), kind.d, "#mma")
    pointers = f"tensor<{m}x{n}x!tt.ptr<{kind.d}>, #mma>"
    if case.start == "zero":
        zero = "0" if kind.d == "i32" else "0.0"
        text += f"    %c = arith.constant dense<{zero}> : {d}\n"
    else:
        text += f"    %c = tt.load %d.p : {pointers}\n"
    use = ""
    if case.start == "flag":
        text += "    %none = arith.constant 0 : i32\n    %use = arith.cmpi ne, %flag, %none : i32\n"
        use = ", %use"
    dot = (
        f"ttnvgpu.warp_group_dot {x}, {y}, %c{use} {{inputPrecision = 0 : i32, "
        f"maxNumImpreciseAcc = {case.imprecise} : i32, isAsync = {str(case.is_async).lower()}}} : "
        f"{a_type} * {b_type} -> {d}"
    )
    if case.is_async:
        text += f"    %started = {dot}\n"
        text += f"    %sum = ttnvgpu.warp_group_dot_wait %started {{pendings = 0 : i32}} : {d}\n"
    else:
        text += f"    %sum = {dot}\n"
    return text + f"    tt.store %d.p, %sum : {pointers}\n    tt.return\n  }}\n}}\n"


def compile_ir(text: str) -> tuple[str, dict]:
    context = _C.ir.Context()
    module = _C.ir.Module.parse(text, context)
    _C.passes.PassManager.parse("triton-nvidia-gpu-fence-insertion", context).run(module)
    _C.passes.PassManager.parse("tile-nvidia-llir", context).run(module)
    info = _C.llvm.kernel_info(module)
    options = _C.llvm.PTXOptions()
    options.compute_capability = 90
    ptx = _C.llvm.emit_ptx(_C.llvm.translate_to_llvm(module, options), context, options)
    return ptx, info


def random_matrix(shape: tuple[int, int], dtype: type, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if dtype is np.int8:
        return rng.integers(-128, 128, shape).astype(np.int8)
    return rng.standard_normal(shape).astype(dtype)


def check(kind: Kind, case: Case, flag: int = 1) -> str:
    ptx, info = compile_ir(kernel(kind, case))
    scale = 2 if case.sliced else 1
    a = random_matrix((case.m * scale, case.k * scale), kind.numpy_a, 1)
    b = random_matrix((case.k * scale, case.n * scale), kind.numpy_b, 2)
    if case.start == "zero":
        out = poisoned((case.m, case.n), kind.numpy_d)
    else:
        dtype = {"fp32": np.float32, "fp16": np.float16, "i32": np.int8}[kind.numpy_d]
        out = random_matrix((case.m, case.n), dtype, 3)
        out = out.astype(poisoned((1,), kind.numpy_d).dtype)
    x = a[case.m * (scale - 1) :, case.k * (scale - 1) :].astype(np.float64)
    y = b[case.k * (scale - 1) :, case.n * (scale - 1) :].astype(np.float64)
    expected = x @ y
    if case.start == "sum" or (case.start == "flag" and flag):
        expected = expected + out.astype(np.float64)

    def raw(matrix: np.ndarray) -> np.ndarray:
        return matrix.view(np.uint8) if matrix.dtype.itemsize == 1 else matrix

    tile.sim.launch(
        ptx, "k", 1, 32 * case.num_warps, [raw(a), raw(b), out, flag],
        dynamic_shared=info["shared"],
    )  # fmt: skip
    if kind.tolerance:
        np.testing.assert_allclose(
            out.astype(np.float64), expected,
            rtol=kind.tolerance, atol=kind.tolerance * np.sqrt(case.k),
        )  # fmt: skip
    else:
        np.testing.assert_array_equal(out, expected)
    return ptx


def k_of(kind: Kind, steps: int) -> int:
    return steps * 256 // kind.bits


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [0, 32, 64, 128])
def test_types_and_swizzles(kind, width):
    of = KINDS[kind]
    k = k_of(of, max(1, width // 32))
    ptx = check(of, Case(64, 32, k, a_width=width, b_width=width, b_transposed=True))
    names = {"f8E4M3FN": "e4m3", "f8E5M2": "e5m2", "f32": "tf32", "i8": "s8"}
    assert f".{names.get(of.a, of.a)}.{names.get(of.b, of.b)} " in ptx


# What is first in memory is M (of A) or N (of B) where the layout of A is transposed and that of B
# is not: 16-bit types only.
@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("width", [0, 32, 64, 128])
@pytest.mark.parametrize(
    ("a_transposed", "b_transposed"), [(True, True), (False, False), (True, False)]
)
def test_transposed(kind, width, a_transposed, b_transposed):
    case = Case(64, 64, 64, a_width=width, b_width=width)
    case = replace(case, a_transposed=a_transposed, b_transposed=b_transposed)
    check(KINDS[kind], case)
    check(KINDS[kind], replace(case, turned=True))
    check(KINDS[kind], replace(case, m=128, n=128))


@pytest.mark.parametrize("n", [8, 16, 64, 128, 256])
@pytest.mark.parametrize("b_transposed", [False, True])
def test_widths(n, b_transposed):
    width = min(128, 2 * n)
    if width < 32:
        width = 0
    case = Case(64, n, 32, a_width=64, b_width=64 if b_transposed else width)
    check(KINDS["f16"], replace(case, b_transposed=b_transposed, start="zero"))


# Warps along M and along N, more than one instruction for each in both directions.
@pytest.mark.parametrize(
    ("m", "n", "warps", "instr_n"),
    [
        (128, 64, (4, 1), 64), (128, 64, (8, 1), 64), (64, 128, (4, 2), 64),
        (256, 32, (8, 1), 32), (128, 128, (8, 2), 64), (64, 128, (4, 1), 32),
        (128, 128, (4, 2), 32), (64, 16, (8, 1), 16),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["f16", "i8"])
def test_warps_and_instructions(m, n, warps, instr_n, kind):
    of = KINDS[kind]
    case = Case(m, n, k_of(of, 2), warps, instr_n, 64, 64, b_transposed=True)
    check(of, case)
    check(of, replace(case, a_width=None))


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", ["sum", "zero", "flag"])
@pytest.mark.parametrize("a_width", [64, None])
def test_accumulators(kind, start, a_width):
    of = KINDS[kind]
    case = Case(64, 16, k_of(of, 4), a_width=a_width, b_width=128, b_transposed=True, start=start)
    for flag in (0, 1) if start == "flag" else (1,):
        check(of, case, flag)
        check(of, replace(case, is_async=True), flag)


# The first element of a view is not where its buffer starts.
@pytest.mark.sweep
@pytest.mark.parametrize(("a_transposed", "b_transposed"), [(False, True), (True, False)])
@pytest.mark.parametrize("width", [0, 32, 64, 128])
def test_views(width, a_transposed, b_transposed):
    case = Case(64, 64, 32, a_width=width, b_width=width, sliced=True)
    check(KINDS["f16"], replace(case, a_transposed=a_transposed, b_transposed=b_transposed))


# Every so many products of fp8 go to the accumulator in full precision.
@pytest.mark.parametrize("imprecise", [0, 32, 64, 128])
@pytest.mark.parametrize("start", ["sum", "zero", "flag"])
def test_partial_sums(imprecise, start):
    case = Case(64, 16, 128, b_transposed=True, start=start, imprecise=imprecise)
    for flag in (0, 1) if start == "flag" else (1,):
        ptx = check(KINDS["e4m3"], case, flag)
    chains = {0: 4, 32: 4, 64: 2, 128: 1}[imprecise]
    assert ptx.count("wgmma.commit_group") == chains


@pytest.mark.parametrize(
    ("case", "kind", "reason"),
    [
        (
            Case(64, 16, 32, a_width=32, b_width=32, a_transposed=True, b_transposed=True),
            "i8",
            "layout of a",
        ),
        (Case(64, 128, 32, a_width=32), "i8", "layout of b"),
    ],
)
def test_refused(case, kind, reason):
    with pytest.raises(_C.ir.MLIRError, match="warp_group_dot") as raised:
        compile_ir(kernel(KINDS[kind], case))
    assert reason in str(raised.value.diagnostics)
