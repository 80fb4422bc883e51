"""The executor that runs IR between passes (test/lib/Reference): operations against NumPy, and
what it must find. See docs/howto/fuzz.md."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from reference import sim_only

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from fuzz import cli, runner
from fuzz.program import Argument, Config, Program
from fuzz.validate import TOOL, Output, execute, validate

pytestmark = [
    sim_only,
    pytest.mark.skipif(not TOOL.exists(), reason="the build has no tile-reference"),
]

HEADER = "import tile\nimport tile.language as tl\n\n"


def program(body: str, arguments: tuple, grid: tuple = (1,), target: int = 90) -> Program:
    names = ", ".join(a.name for a in arguments)
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    functions, _, rest = lines.rpartition("    ---\n")
    functions = "".join(line[4:] + "\n" for line in functions.splitlines())
    source = f"{HEADER}{functions}\n@tile.jit\ndef kernel({names}):\n{rest}"
    return Program(1, source, arguments, grid, Config(target, 4, 3))


def check(made: Program) -> None:
    """All versions compute what the interpreter and NumPy do."""
    report = validate(made)
    assert report.is_whole, report
    assert not report.undefined and report.versions > 2
    runner.compare(made, report.outputs, runner.interpreted(made, made.kernel()), "test")
    runner.check_known(made, report.outputs)


# Operations.

#: Of `x` and `y`, arrays of a type, and what NumPy says of them.
ELEMENTWISE = {
    "i32": [
        ("x + y", "x0 + x1"), ("x - y", "x0 - x1"), ("x * y", "x0 * x1"),
        ("x & y", "x0 & x1"), ("x | y", "x0 | x1"), ("x ^ y", "x0 ^ x1"), ("~x", "~x0"),
        ("x << (y & 31)", "x0 << (x1 & 31)"), ("x >> (y & 31)", "x0 >> (x1 & 31)"),
        ("x // (y | 1)", "np.trunc(x0 / (x1 | 1).astype(np.float64))"),
        ("x % (y | 1)", "np.fmod(x0, x1 | 1)"),
        ("tl.where(x < y, x, y + 1)", "np.where(x0 < x1, x0, x1 + 1)"),
        ("tl.maximum(x, y)", "np.maximum(x0, x1)"), ("tl.minimum(x, y)", "np.minimum(x0, x1)"),
        ("tl.abs(x)", "np.abs(x0)"), ("x.to(tl.int8).to(tl.int32)", "x0.astype('i1')"),
        ("tl.umulhi(x, y)", "(x0.astype('u4').astype('u8') * x1.astype('u4')) >> 32"),
        ("x.to(tl.float32).to(tl.int32)", "x0.astype('f4').astype('f8').clip(-2**31, 2**31 - 1)"),
        ("(x.to(tl.uint32, bitcast=True) >> 3).to(tl.int32, bitcast=True)",
         "(x0.view('u4') >> 3).view('i4')"),
        ("x.to(tl.float16).to(tl.int16, bitcast=True).to(tl.int32)",
         "x0.astype('f2').view('i2')"),
    ],
    "fp32": [
        ("x + y", "x0 + x1"), ("x - y", "x0 - x1"), ("x * y", "x0 * x1"), ("-x", "-x0"),
        ("tl.div_rn(x, y)", "x0 / x1"), ("tl.sqrt_rn(tl.abs(x))", "np.sqrt(np.abs(x0))"),
        ("tl.floor(x)", "np.floor(x0)"), ("tl.ceil(x)", "np.ceil(x0)"),
        ("tl.maximum(x, y)", "np.fmax(x0, x1)"), ("tl.minimum(x, y)", "np.fmin(x0, x1)"),
        ("tl.where(x >= y, x, 2.0)", "np.where(x0 >= x1, x0, 2)"),
        ("tl.clamp(x, -1.0, 1.0)", "np.clip(x0, -1, 1)"),
        ("x.to(tl.float16).to(tl.float32)", "x0.astype('f2')"),
        ("x.to(tl.bfloat16).to(tl.float32)",
         "(x0.view('u4') + 0x7fff + (x0.view('u4') >> 16 & 1) & 0xffff0000).view('f4')"),
        ("x.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True)", "x0"),
        ("tl.fma(x, y, x)", "(x0.astype('f8') * x1 + x0).astype('f4')"),
    ],
}  # fmt: skip

#: Of arrays `a`, 16 by 32, and `b`, 32: the shape of the result, and what it is.
SHAPES = [
    ("tl.trans(a)", (32, 16), "x0.reshape(16, 32).T"),
    ("tl.reshape(a, [8, 64])", (8, 64), "x0"),
    ("tl.permute(tl.reshape(a, [4, 4, 32]), [2, 0, 1])", (32, 4, 4),
     "x0.reshape(4, 4, 32).transpose(2, 0, 1)"),
    ("a + b[None, :]", (16, 32), "x0.reshape(16, 32) + x1"),
    ("tl.join(a, a + 1)", (16, 32, 2), "np.stack([x0.reshape(16, 32)] * 2, -1) + [0, 1]"),
    ("tl.split(tl.reshape(a, [16, 16, 2]))[1]", (16, 16), "x0[1::2]"),
    ("tl.sum(a, 0)", (32,), "x0.reshape(16, 32).sum(0)"),
    ("tl.sum(a, 1)", (16,), "x0.reshape(16, 32).sum(1)"),
    ("tl.max(a, 1)", (16,), "x0.reshape(16, 32).max(1)"),
    ("tl.argmin(a, 0)", (32,), "x0.reshape(16, 32).argmin(0)"),
    ("tl.cumsum(a, 1)", (16, 32), "x0.reshape(16, 32).cumsum(1)"),
    ("tl.cumsum(a, 0, reverse=True)", (16, 32), "x0.reshape(16, 32)[::-1].cumsum(0)[::-1]"),
    ("tl.gather(a, a & 15, 0)", (16, 32),
     "np.take_along_axis(x0.reshape(16, 32), x0.reshape(16, 32) & 15, 0)"),
    ("tl.histogram(b & 7, 8)", (8,), "np.bincount(x1 & 7, minlength=8)"),
    ("tl.sort(b)", (32,), "np.sort(x1)"),
    # Not commutative: the last that is not zero.
    ("tl.reduce(a, 1, last)", (16,),
     "[([v for v in row if v] or [0])[-1] for row in x0.reshape(16, 32) & 1 * x0.reshape(16, 32)]"),
]  # fmt: skip

LAST = "@tile.jit\ndef last(x, y):\n    return tl.where(y != 0, y, x)\n\n---\n"


@pytest.mark.parametrize("type", ELEMENTWISE)
def test_elementwise_operations(type):
    flavour = {"flavour": "full"} if type == "i32" else {"flavour": "wild"}
    # The least integers have no quotient by -1, and no absolute value.
    if type == "i32":
        flavour = {"flavour": "index", "low": -(2**31) + 1, "high": 2**31 - 1}
    arguments = [Argument(f"x{i}", "input", type, 64, **flavour) for i in range(2)]
    body = ["r = tl.arange(0, 64)", "x = tl.load(x0 + r)", "y = tl.load(x1 + r)"]
    for i, (expression, known) in enumerate(ELEMENTWISE[type]):
        arguments.append(Argument(f"o{i}", "output", type, 64, "poison", known=known))
        body.append(f"tl.store(o{i} + r, {expression})")
    check(program("\n".join(body), tuple(arguments)))


@pytest.mark.parametrize(("expression", "shape", "known"), SHAPES, ids=[s[0] for s in SHAPES])
def test_operations_on_shapes(expression, shape, known):
    size = int(np.prod(shape))
    if "last" in expression:
        known = "[([v for v in row if v] or [0])[-1] for row in x0.reshape(16, 32)]"
    arguments = (
        Argument("x0", "input", "i32", 512, "small", low=0, high=3 if "last" in expression else 99),
        Argument("x1", "input", "i32", 32, "small", low=-50, high=50),
        Argument("o0", "output", "i32", size, "poison", known=known),
    )
    indices = " + ".join(
        f"tl.arange(0, {n})[{', '.join(':' if i == d else 'None' for i in range(len(shape)))}]"
        f" * {int(np.prod(shape[d + 1 :]))}"
        for d, n in enumerate(shape)
    )
    body = (
        f"{LAST}a = tl.load(x0 + tl.arange(0, 16)[:, None] * 32 + tl.arange(0, 32)[None, :])\n"
        f"b = tl.load(x1 + tl.arange(0, 32))\ntl.store(o0 + {indices}, {expression})"
    )
    check(program(body, arguments))


@pytest.mark.parametrize("target", [80, 90])
@pytest.mark.parametrize("type", ["fp16", "bf16", "fp32", "fp64", "i8", "fp8e5"])
def test_products_in_loops(type, target):
    small = {"flavour": "small", "low": -2, "high": 2}
    exact = small if type == "i8" else {**small, "flavour": "exact"}
    result = {"i8": "i32", "fp64": "fp64"}.get(type, "fp32")
    wide = {"i32": "'i4'", "fp64": "'f8'"}.get(result, "'f4'")
    product = f"x0.astype({wide}).reshape(64, 128) @ x1.astype({wide}).reshape(128, 64)"
    arguments = (
        Argument("x0", "input", type, 64 * 128, **exact),
        Argument("x1", "input", type, 128 * 64, **exact),
        Argument("o0", "output", result, 64 * 64, "poison", known=product),
    )
    zero = {"i32": "int32", "fp64": "float64"}.get(result, "float32")
    check(program(
        f"r = tl.arange(0, 64)\nk = tl.arange(0, 32)\nacc = tl.zeros([64, 64], tl.{zero})\n"
        "for i in range(0, 128, 32):\n"
        "    a = tl.load(x0 + r[:, None] * 128 + i + k[None, :])\n"
        "    b = tl.load(x1 + (i + k)[:, None] * 64 + r[None, :])\n"
        "    acc = tl.dot(a, b, acc)\n"
        "tl.store(o0 + r[:, None] * 64 + r[None, :], acc)",
        arguments, target=target,
    ))  # fmt: skip


def test_memory():
    """Masks, block pointers, descriptors, atomics, programs of a grid."""
    arguments = (
        Argument("x0", "input", "i32", 48 * 40, "small", low=-99, high=99),
        Argument("o0", "output", "i32", 64 * 64, "poison",
                 known="np.pad(x0.reshape(48, 40), ((0, 16), (0, 24)))"),
        Argument("o1", "output", "i32", 48 * 40, "poison", known="x0 + 1"),
        Argument("o2", "output", "i32", 40, "zero", known="x0.reshape(48, 40).sum(0)"),
        Argument("o3", "output", "i32", 48 * 40, "poison", known="x0 * 2"),
    )  # fmt: skip
    check(program(
        "i = tl.program_id(0) * 32\nj = tl.program_id(1) * 32\nr = tl.arange(0, 32)\n"
        "p = tl.make_block_ptr(x0, [48, 40], [40, 1], [i, 0], [32, 32], [1, 0])\n"
        "v = tl.load(tl.advance(p, [0, j]), boundary_check=(0, 1), padding_option='zero')\n"
        "tl.store(o0 + (i + r)[:, None] * 64 + (j + r)[None, :], v)\n"
        "d = tl.make_tensor_descriptor(x0, [48, 40], [40, 1], [32, 32])\n"
        "e = tl.make_tensor_descriptor(o1, [48, 40], [40, 1], [32, 32])\n"
        "e.store([i, j], d.load([i, j]) + 1)\n"
        "m = ((i + r)[:, None] < 48) & ((j + r)[None, :] < 40)\n"
        "at = (i + r)[:, None] * 40 + (j + r)[None, :]\n"
        "w = tl.load(x0 + at, mask=m, other=0)\n"
        "tl.atomic_add(o2 + j + r, tl.sum(w, 0), mask=j + r < 40)\n"
        "tl.store(o3 + at, w * 2, mask=m)",
        arguments, grid=(2, 2),
    ))  # fmt: skip


# What is asynchronous.

TTGIR = """#b = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#s = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                   ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %true = arith.constant true
  %ones = arith.constant dense<1> : tensor<128xi32, #b>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #b>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #b>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<128x!tt.ptr<i32>, #b>
  %p = tt.addptr %xs, %r : tensor<128x!tt.ptr<i32>, #b>, tensor<128xi32, #b>
  %q = tt.addptr %os, %r : tensor<128x!tt.ptr<i32>, #b>, tensor<128xi32, #b>
  %buf = ttg.local_alloc : () -> !ttg.memdesc<128xi32, #s, #smem, mutable>
"""  # noqa: E501

COPY = "ttg.async_copy_global_to_local %p, %buf : tensor<128x!tt.ptr<i32>, #b> -> <128xi32, #s, #smem, mutable>"  # noqa: E501
LOAD = "ttg.local_load %buf : !ttg.memdesc<128xi32, #s, #smem, mutable> -> tensor<128xi32, #b>"
STORE = "tt.store %q, %v : tensor<128x!tt.ptr<i32>, #b>"
OVERWRITE = "tt.store %p, %ones : tensor<128x!tt.ptr<i32>, #b>"
GOOD = f"%t = {COPY}\n%g = ttg.async_commit_group tokens %t\n%w = ttg.async_wait %g {{num = 0 : i32}}\n%v = {LOAD}\n{STORE}"  # noqa: E501


def run_ir(body: str, passes: tuple = ()):
    x = np.arange(100, 228, dtype=np.int32)
    o = np.full(128, -1, np.int32)
    text = f"{TTGIR}{body}\ntt.return\n}}\n}}\n"
    addresses = [x.ctypes.data, o.ctypes.data]
    return execute(text, list(passes), [x, o], addresses, [Output("o", o, "i32")]), o


def test_a_copy_is_there_after_its_wait():
    report, o = run_ir(GOOD)
    assert report.is_whole and not report.undefined, report
    assert (o == np.arange(100, 228)).all()


BUFFER = "!ttg.memdesc<128xi32, #s, #smem, mutable>"


@pytest.mark.parametrize(("old", "new"), [
    ("num = 0", "num = 1"),
    # The group of the copy is the last one.
    (f"%t = {COPY}",
     f"%f = ttg.async_commit_group\n%t = {COPY}\n%e = ttg.async_wait {{num = 1 : i32}}"),
    # Its source changes while it is under way.
    ("%w =", f"{OVERWRITE}\n%w ="),
    # So does its buffer.
    ("%w =", f"ttg.local_store %ones, %buf : tensor<128xi32, #b> -> {BUFFER}\n%w ="),
], ids=["waits for none", "waits for another", "source changes", "buffer changes"])  # fmt: skip
def test_a_copy_that_is_not_waited_for_is_undefined(old, new):
    body = GOOD.replace(old, new)
    if "%e" in new:
        body = body.replace("num = 0", "num = 1")
    report, _ = run_ir(body)
    assert report.status == "finished" and report.undefined == {"o": 128}, report


BARRIER = "!ttg.memdesc<1xi64, #s, #smem, mutable>"


def specialized(default: str, partition: str) -> str:
    """A partition that fills the buffer, and says so to the others."""
    return f"""
  %bar = ttg.local_alloc : () -> {BARRIER}
  ttnvgpu.init_barrier %bar, 1 : {BARRIER}
  ttg.warp_specialize(%p, %buf, %bar)
  default {{
    {default}
    %v = {LOAD}
    {STORE}
    ttg.warp_yield
  }}
  partition0(%from: tensor<128x!tt.ptr<i32>, #b>, %to: !ttg.memdesc<128xi32, #s, #smem, mutable>,
             %full: {BARRIER}) num_warps(4) {{
    %l = tt.load %from : tensor<128x!tt.ptr<i32>, #b>
    ttg.local_store %l, %to : tensor<128xi32, #b> -> !ttg.memdesc<128xi32, #s, #smem, mutable>
    {partition}
    ttg.warp_return
  }} : (tensor<128x!tt.ptr<i32>, #b>, !ttg.memdesc<128xi32, #s, #smem, mutable>, {BARRIER}) -> ()"""


def test_partitions_wait_for_each_other():
    arrive = f"ttnvgpu.arrive_barrier %full, 1 : {BARRIER}"
    wait = f"ttnvgpu.wait_barrier %bar, %zero : {BARRIER}"
    report, o = run_ir(specialized(wait, arrive))
    assert report.is_whole and not report.undefined, report
    assert (o == np.arange(100, 228)).all()
    report, _ = run_ir(specialized(wait, ""))
    assert report.status == "fault" and "all wait for each other" in report.why
    report, _ = run_ir(specialized(wait, f"{arrive}\n{arrive}\n{arrive}"))
    assert report.is_whole, report  # Phases 0, 1 and 2 have ended: that of parity 0 has.
    report, _ = run_ir(specialized(wait, f"{arrive}\n{arrive}"))
    assert report.status == "fault"
    # Who is early reads what is not there: each side is, once.
    mistake = "test-plant-bug{kind=drop-barrier-wait}"
    report, _ = run_ir(specialized(wait, arrive), (mistake,))
    assert report.guilty == "test-plant-bug" and "undefined" in report.difference
    report, _ = run_ir(specialized(wait, arrive.replace("1 :", "2 :")))
    assert report.status == "fault" and "more arrivals" in report.why


def test_each_arrival_waits_for_all_copies_before_it():
    """Two barriers for copies: one that is waited for has all that began before its arrival."""
    arrivals = "".join(
        f"%b{i} = ttg.local_alloc : () -> {BARRIER}\nttnvgpu.init_barrier %b{i}, 128 : {BARRIER}\n"
        for i in range(2)
    )
    first = f"ttnvgpu.async_copy_mbarrier_arrive %b0 {{noIncrement}} : {BARRIER}\n"
    body = (
        f"{arrivals}%t = {COPY}\n{first}{first.replace('%b0', '%b1')}"
        f"ttnvgpu.wait_barrier %b1, %zero : {BARRIER}\n%v = {LOAD}\n{STORE}"
    )
    report, o = run_ir(body)
    assert report.is_whole and not report.undefined, report
    assert (o == np.arange(100, 228)).all()
    # An arrival before the copy says nothing of it.
    report, _ = run_ir(body.replace(first, "").replace(f"%t = {COPY}\n", f"{first}%t = {COPY}\n")
                       .replace("wait_barrier %b1", "wait_barrier %b0"))  # fmt: skip
    assert report.status == "finished" and report.undefined == {"o": 128}, report


@pytest.mark.parametrize(("body", "why"), [
    (f"%two = ttg.local_alloc : () -> !ttg.memdesc<2x128xi32, #s, #smem, mutable>\n%i = arith.subi "
     "%zero, %one : i32\n%u = ttg.memdesc_index %two[%i] : !ttg.memdesc<2x128xi32, #s, #smem, "
     f"mutable> -> {BUFFER}\n%v = ttg.local_load %u : {BUFFER} -> tensor<128xi32, #b>",
     "a buffer that is not there"),
    ("%c = arith.constant dense<4096> : tensor<128xi32, #b>\n"
     "%far = tt.addptr %p, %c : tensor<128x!tt.ptr<i32>, #b>, tensor<128xi32, #b>\n"
     "%v = tt.load %far : tensor<128x!tt.ptr<i32>, #b>", "outside of all arrays"),
    (f"%v = {LOAD}\n%s = \"tt.reduce\"(%v) <{{axis = 0 : i32}}> ({{\n^bb0(%a: i32, %b: i32):\n"
     "  %m = arith.maxsi %a, %b : i32\n  tt.reduce.return %m : i32\n"
     "}) : (tensor<128xi32, #b>) -> i32\n"
     "%c = arith.cmpi eq, %s, %zero : i32\nscf.if %c {\n}", "condition is undefined"),
    (f"ttnvgpu.wait_barrier %bar, %zero : {BARRIER}", "nobody has initialised"),
    (f"%u = ub.poison : {BUFFER}\n%v = ttg.local_load %u : {BUFFER} -> tensor<128xi32, #b>",
     "undefined view"),
])  # fmt: skip
def test_faults_are_found(body, why):
    report, _ = run_ir(f"%bar = ttg.local_alloc : () -> {BARRIER}\n{body}")
    assert report.status == "fault" and why in report.why, report


def test_unknown_operations_are_counted():
    """What they compute is undefined; what does not follow from it is compared all the same."""
    report, o = run_ir(
        GOOD.replace(STORE, f"%u = math.atan %f : tensor<128xf32, #b>\n{STORE}").replace(
            "%t =", "%f = arith.sitofp %ones : tensor<128xi32, #b> to tensor<128xf32, #b>\n%t =", 1
        )
    )
    assert report.status == "finished" and report.skipped == {"math.atan": 1}
    assert report.partial == 1 and not report.is_whole
    assert (o == np.arange(100, 228)).all()


# Mistakes of passes.


def tiles(size: int, name: str, **flavour) -> Argument:
    return Argument(name, "input", "fp16", 4096 * size, "exact", low=-2, high=2, **flavour)


OFFSETS = "r = tl.arange(0, 64)\nat = r[:, None] * 64 + r[None, :]\n"
PRODUCTS = (
    OFFSETS + "acc = tl.zeros([64, 64], tl.float32)\n"
    "for t in tl.range(0, 8{marked}):\n"
    "    a = tl.load(x0 + t * 4096 + at)\n    b = tl.load(x1 + t * 4096 + at)\n"
    "    acc = tl.dot(a, b, acc)\n"
    "tl.store(o0 + at, acc - tl.load(x1 + at).to(tl.float32), mask=at < 4000)\n"
)
ROUND_TRIP = (
    OFFSETS + "d = tl.make_tensor_descriptor(o0, [64, 64], [64, 1], [64, 64])\n"
    "for t in range(2):\n"
    "    d.store([0, 0], tl.load(x0 + t * 4096 + at))\n"
    "    tl.store(x1 + at, tl.load(x1 + at) + d.load([0, 0]))\n"
)
ROTATED = (
    OFFSETS
    + "a = tl.load(x0 + at)\nb = tl.load(x1 + at)\nfor t in range(3):\n    a, b = b, a + b\n"
    "tl.store(o0 + at, a)\n"
)
OUT = Argument("o0", "output", "fp32", 4096, "poison")
HALF = Argument("o0", "output", "fp16", 4096, "poison")
PLAIN = PRODUCTS.replace("{marked}", "")
MARKED = PRODUCTS.replace("{marked}", ", warp_specialize=True")

#: A mistake, and a program in which it matters.
MISTAKES = [
    ("loosen-product-wait", PLAIN, (tiles(8, "x0"), tiles(8, "x1"), OUT)),
    ("loosen-copy-wait", PLAIN, (tiles(8, "x0"), tiles(8, "x1"), OUT)),
    ("use-first-slot", PLAIN, (tiles(8, "x0"), tiles(8, "x1"), OUT)),
    ("skip-iteration", PLAIN, (tiles(8, "x0"), tiles(8, "x1"), OUT)),
    ("drop-mask", PLAIN, (tiles(8, "x0"), tiles(8, "x1"), OUT)),
    ("swap-operands", PLAIN, (tiles(8, "x0"), tiles(8, "x1"), OUT)),
    ("drop-barrier-wait", MARKED, (tiles(8, "x0"), tiles(8, "x1"), OUT)),
    ("drop-arrival", MARKED, (tiles(8, "x0"), tiles(8, "x1"), OUT)),
    ("drop-store-wait", ROUND_TRIP, (tiles(2, "x0"), tiles(1, "x1"), HALF)),
    ("swap-yields", ROTATED, (tiles(1, "x0"), tiles(1, "x1"), HALF)),
    ("hoist-load", OFFSETS + "tl.store(o0 + at, tl.load(x0 + at))\n"
     "tl.store(x1 + at, tl.load(o0 + at))\n", (tiles(1, "x0"), tiles(1, "x1"), HALF)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "body", "arguments"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_mistakes_of_passes_are_found_and_named(kind, body, arguments):
    made = program(body, arguments)
    right = validate(made)
    assert right.is_whole and not right.undefined, right
    wrong = set()
    for percent in (0, 40, 64, 70):  # One of several places.
        mistake = f"test-plant-bug{{kind={kind} percent={percent}}}"
        report = validate(made, more=(mistake,))
        assert report.versions > right.versions, "nothing was changed"
        wrong.add((report.status, report.guilty))
    assert ("different", "test-plant-bug") in wrong


def test_most_mistakes_in_random_programs_are_found():
    """Those in what is not executed, or makes no difference, cannot be."""
    found = planted = 0
    for seed in range(8):
        made = cli.program_of(seed, "", "validate-products")
        whole = validate(made)
        for kind in ("skip-iteration", "drop-mask", "loosen-copy-wait"):
            report = validate(made, more=(f"test-plant-bug{{kind={kind}}}",))
            if whole.is_whole and report.versions > whole.versions:
                planted += 1
                found += report.guilty == "test-plant-bug"
    assert planted > 8 and found > 0.5 * planted, (found, planted)


# Random programs.


@pytest.mark.parametrize(("mode", "target", "first", "count"), [
    ("validate", "", 0, 20), ("validate", "hip:gfx942", 100, 10),
    ("validate", "hip:gfx1100", 200, 10),
    ("validate-products", "", 0, 12), ("validate-passes", "", 0, 12),
    pytest.param("validate", "", 1000, 300, marks=pytest.mark.slow),
    pytest.param("validate-products", "", 1000, 200, marks=pytest.mark.slow),
    pytest.param("validate-passes", "", 1000, 300, marks=pytest.mark.slow),
])  # fmt: skip
def test_results_stay_the_same_between_passes(mode, target, first, count):
    failures, outcomes = cli.run_chunk(first, count, mode, target=target)
    assert not failures, "\n".join(
        f"seed {f['seed']}: {f['kind']}: {f['message'][:500]}" for f in failures
    )
    assert len(outcomes) == count
    whole = sum(outcome["proves"] for outcome in outcomes)
    # Gathers and scatters in shared memory are not executed between passes.
    assert whole >= 0.85 * count
