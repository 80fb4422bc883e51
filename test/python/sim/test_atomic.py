# ruff: noqa: E501  (PTX text reads better unbroken)
"""atom and red: every operation, type and space, lane after lane as plain Python does it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from ptxlib import EDGES, HEADER, width

import tile.sim
from tile.errors import TileError

rng = np.random.default_rng(3)
PLACES = 4
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


def integer(kind, bits):
    size = width(kind) * 8
    return bits - (1 << size) if kind[0] == "s" and bits >> (size - 1) else bits


def lanes_of(kind, bits):
    """The elements of one value as floats."""
    scalar = FLOATS[kind.removesuffix("x2")]
    size = np.dtype(scalar).itemsize * 8
    count = width(kind) * 8 // size
    return [
        np.array(bits >> size * i & ((1 << size) - 1), f"u{size // 8}").view(scalar)[()]
        for i in range(count)
    ]


def bits_of(kind, values):
    scalar = FLOATS[kind.removesuffix("x2")]
    size = np.dtype(scalar).itemsize * 8
    return sum(int(np.array(v, scalar).view(f"u{size // 8}")) << size * i for i, v in enumerate(values))  # fmt: skip


def reference(op, kind, old, b, c):
    """The new bits of one location."""
    mask = (1 << width(kind) * 8) - 1
    if kind.removesuffix("x2") in FLOATS and op != "exch":
        pairs = zip(lanes_of(kind, old), lanes_of(kind, b), strict=True)
        if op == "add":
            wide = np.float64 if kind == "f64" else np.float32
            return bits_of(kind, [wide(x) + wide(y) for x, y in pairs])
        pick = min if op == "min" else max
        return bits_of(kind, [pick(x, y) for x, y in pairs])
    x, y = integer(kind, old), integer(kind, b)
    return {
        "and": x & y,
        "or": x | y,
        "xor": x ^ y,
        "cas": c if old == b else old,
        "exch": b,
        "add": x + y,
        "inc": 0 if old >= b else old + 1,
        "dec": b if old == 0 or old > b else old - 1,
        "min": min(x, y),
        "max": max(x, y),
    }[op] & mask


def values(kind, count):
    size = width(kind)
    if kind.removesuffix("x2") in FLOATS:
        scalar = FLOATS[kind.removesuffix("x2")]
        per = size // np.dtype(scalar).itemsize
        return rng.integers(-40, 40, count * per).astype(scalar).view(f"u{size}")
    if size == 16:
        return rng.integers(0, 3, (count, 2)).astype(np.uint64)
    out = rng.integers(0, 1 << 62, count).astype(f"u{size}")
    edges = np.array(EDGES[size * 8], np.uint64).astype(f"u{size}")
    out[::2] = rng.choice(edges, len(out[::2]))
    return out


def kernel(instruction, kind, space, keep):
    size = width(kind)
    address = {"global": "%m", "generic": "%m", "shared": "%s"}[space]
    # The memory is copied to shared memory and back where that is the space.
    stage = f"""
  ld.global.b{size * 8} %v, [%m]; setp.lt.u32 %p, %l, {PLACES}; @%p st.shared.b{size * 8} [%s], %v; bar.sync 0;"""
    unstage = f"bar.sync 0; @%p ld.shared.b{size * 8} %v, [%s]; @%p st.global.b{size * 8} [%m], %v;"
    copies = space == "shared"
    return f"""{HEADER}
.visible .entry op(.param .u64 mem, .param .u64 b, .param .u64 c, .param .u64 out)
{{
  .reg .b{size * 8} %v, %b, %c, %d; .reg .b64 %m, %q; .reg .b32 %l, %i, %s; .reg .pred %p;
  .shared .align 16 .b8 buffer[{PLACES * size}];
  mov.u32 %l, %laneid; and.b32 %i, %l, {PLACES - 1};
  ld.param.u64 %m, [mem]; mad.wide.u32 %m, %i, {size}, %m;
  mov.u32 %s, buffer; mad.lo.u32 %s, %i, {size}, %s;
  ld.param.u64 %q, [b]; mad.wide.u32 %q, %l, {size}, %q; ld.global.b{size * 8} %b, [%q];
  ld.param.u64 %q, [c]; mad.wide.u32 %q, %l, {size}, %q; ld.global.b{size * 8} %c, [%q];
  {stage if copies else ""}
  {instruction.format(a=address, b="%b", c="%c", d="%d")}
  {unstage if copies else ""}
  ld.param.u64 %q, [out]; mad.wide.u32 %q, %l, {size}, %q;
  {f"st.global.b{size * 8} [%q], %d;" if keep else ""}
  ret;
}}
"""


CASES = [
    *[(op, kind) for op in ("and", "or", "xor") for kind in ("b32", "b64")],
    *[("cas", kind) for kind in ("b16", "b32", "b64", "b128")],
    *[("exch", kind) for kind in ("b32", "b64", "b128")],
    *[("add", kind) for kind in ("u32", "s32", "u64", "f32", "f64", "f16", "bf16", "f16x2", "bf16x2")],
    ("inc", "u32"), ("dec", "u32"),
    *[(op, kind) for op in ("min", "max") for kind in ("u32", "s32", "u64", "s64")],
]  # fmt: skip
SCOPES = ["", ".relaxed.gpu", ".acquire.cta", ".release.sys", ".acq_rel.cluster"]


def run_case(op, kind, space, is_red, scope=""):
    size = width(kind)
    memory, b, c = values(kind, PLACES), values(kind, 32), values(kind, 32)
    if op == "cas":
        # Some comparisons must succeed.
        b[::3] = memory[np.arange(32)[::3] % PLACES]
    want, olds = memory.copy(), np.zeros_like(b)
    rounds = (
        kind in ("b64", "u64", "s64", "f64") and space == "shared" and op not in ("cas", "exch")
    )

    def number(v):
        return int(v) if np.ndim(v) == 0 else int(v[0]) | int(v[1]) << 64

    def store(array, at, v):
        array[at] = v if array.ndim == 1 else (v & (1 << 64) - 1, v >> 64)

    def update(lane):
        at = lane % PLACES
        olds[lane] = want[at]
        store(want, at, reference(op, kind, number(want[at]), number(b[lane]), number(c[lane])))
        return want[at].tobytes() != olds[lane].tobytes()

    lanes = range(32)
    if rounds and not is_red:
        # ptxas' loop: who changes nothing is done; then the lowest of each half warp, if nobody came before.
        while lanes:
            seen, left = want.copy(), list(lanes)
            for lane in lanes if op in ("min", "max") else ():
                at = lane % PLACES
                if reference(op, kind, number(seen[at]), number(b[lane]), 0) == number(seen[at]):
                    olds[lane] = seen[at]
                    left.remove(lane)
            for half in (0, 1):
                for at in range(PLACES):
                    here = [x for x in left if x // 16 == half and x % PLACES == at]
                    if here and want[at] == seen[at]:
                        update(here[0])
                        left.remove(here[0])
            lanes = left
    elif kind == "b16":
        # A swap of the word around it, again if its other half has changed.
        known = {lane: want.copy() for lane in lanes}
        while lanes:
            again = []
            for lane in lanes:
                if known[lane][lane % PLACES ^ 1] == want[lane % PLACES ^ 1]:
                    update(lane)
                else:
                    known[lane] = want.copy()
                    again.append(lane)
            lanes = again
    else:
        for lane in lanes:
            update(lane)
    where = {"global": ".global", "shared": ".shared", "generic": ""}[space]
    ftz = ".noftz" if kind[:3] in ("f16", "bf1") else ""
    compare = ", {c}" if op == "cas" else ""
    if is_red:
        text = f"red{scope}{where}.{op}{ftz}.{kind} [{{a}}], {{b}};"
    else:
        text = f"atom{scope}{where}.{op}{ftz}.{kind} {{d}}, [{{a}}], {{b}}{compare};"
    out = np.zeros_like(b)
    assert size * 32 == out.nbytes
    report = tile.sim.launch(kernel(text, kind, space, not is_red), "op", 1, 32, [memory, b, c, out], check="async,barriers")  # fmt: skip
    assert (memory == want).all()
    assert is_red or (out == olds).all()
    assert report.counters["atomics"] == 32


@pytest.mark.parametrize("space", ["global", "shared", "generic"])
@pytest.mark.parametrize(("op", "kind"), CASES, ids=[f"{o}_{k}" for o, k in CASES])
def test_atom_and_red(op, kind, space):
    run_case(op, kind, space, False)
    if op not in ("cas", "exch"):
        run_case(op, kind, space, True)


@pytest.mark.parametrize("scope", SCOPES)
def test_scopes_change_nothing(scope):
    for op, kind in [("add", "u32"), ("cas", "b64"), ("max", "s32"), ("add", "f16x2")]:
        run_case(op, kind, "global", False, scope)


@pytest.mark.parametrize(("count", "kind"), [(2, "f32"), (4, "f32"), (2, "f16"), (8, "f16"), (4, "bf16"), (4, "f16x2")])  # fmt: skip
@pytest.mark.parametrize("op", ["add", "min", "max"])
def test_vectors(op, count, kind):
    if kind == "f32" and op != "add":
        pytest.skip("vectors of f32 can only be added")
    size = width(kind)
    memory, b = values(kind, count), values(kind, 32 * count).reshape(32, count)
    want, olds = memory.copy(), np.zeros_like(b)
    for lane in range(32):
        olds[lane] = want
        for v in range(count):
            want[v] = reference(op, kind, int(want[v]), int(b[lane, v]), 0)
    operands = [f"%b{i}" for i in range(count)]
    ftz = ".noftz" if kind != "f32" else ""
    bits = size * 8

    def text(results):
        head = "atom" if results else "red"
        result = f"{{{', '.join(results)}}}, " if results else ""
        load = "\n".join(f"ld.global.b{bits} %b{i}, [%q+{i * size}];" for i in range(count))
        back = "\n".join(f"st.global.b{bits} [%q+{i * size}], {r};" for i, r in enumerate(results))
        return f"""{HEADER}
.visible .entry op(.param .u64 mem, .param .u64 b, .param .u64 out)
{{
  .reg .b{bits} %b<8>; .reg .b{bits} %d<8>; .reg .b64 %m, %q; .reg .b32 %l;
  mov.u32 %l, %laneid; ld.param.u64 %m, [mem];
  ld.param.u64 %q, [b]; mad.wide.u32 %q, %l, {size * count}, %q; {load}
  {head}.global.v{count}.{kind}.{op}{ftz} {result}[%m], {{{", ".join(operands)}}};
  ld.param.u64 %q, [out]; mad.wide.u32 %q, %l, {size * count}, %q; {back}
  ret;
}}
"""

    # Results may be in registers of other elements' operands.
    for results in ([f"%d{i}" for i in range(count)], operands[::-1], []):
        got, out = memory.copy(), np.zeros_like(b)
        tile.sim.launch(text(results), "op", 1, 32, [got, b, out])
        assert (got == want).all()
        assert not results or (out == olds).all()


def test_f32_adds_in_global_memory_flush_denormals():
    """As the hardware does: in global memory, not in shared."""
    for space, want in (("global", 0), ("shared", 2)):
        memory = np.array([1, 0, 0, 0], np.uint32)
        b = np.zeros(32, np.uint32)
        b[0] = 1
        text = kernel(f"atom.{space}.add.f32 {{d}}, [{{a}}], {{b}};", "b32", space, True)
        tile.sim.launch(text, "op", 1, 32, [memory, b, b.copy(), np.zeros(32, np.uint32)], check="none")  # fmt: skip
        assert memory[0] == want


def test_ctas_do_not_lose_updates():
    text = f"""{HEADER}
.visible .entry op(.param .u64 sum, .param .u64 seen)
{{
  .reg .b32 %r<4>; .reg .b64 %a<4>;
  ld.param.u64 %a0, [sum]; ld.param.u64 %a1, [seen];
  red.global.add.u32 [%a0], 1;
  atom.global.add.u32 %r0, [%a0+4], 1; mad.wide.u32 %a1, %r0, 4, %a1; red.global.add.u32 [%a1], 1;
  ret;
}}
"""
    sums, seen = np.zeros(2, np.uint32), np.zeros(64 * 50, np.uint32)
    tile.sim.launch(text, "op", 50, 64, [sums, seen])
    assert (sums == 3200).all() and (seen == 1).all()


@pytest.mark.parametrize(
    ("text", "ordered"),
    [
        ("red.global.add.u32 [%a0], 1;", False),
        # Compilers leave results that nobody reads to ptxas.
        ("atom.acq_rel.gpu.global.add.u32 %r0, [%a0], 1;", False),
        ("atom.global.max.s64 %a1, [%a0], %a2; red.global.max.s64 [%a0], 3;", False),
        ("atom.global.add.u32 %r0, [%a0], 1; st.global.u32 [%a0+8], %r1;", False),
        (
            "atom.global.add.u32 %r0, [%a0], 1; mul.lo.u32 %r0, %r0, 7; red.global.xor.b32 [%a0+8], %r0;",
            True,
        ),
        ("atom.global.add.u32 %r0, [%a0], 1; add.u32 %r1, %r0, 1;", True),
        ("{ .reg .b32 %r0; atom.global.add.u32 %r0, [%a0], 1; add.u32 %r1, %r0, 1; }", True),
        ("atom.global.add.f32 %f0, [%a0], 0f3F800000;", True),
        ("red.global.add.f32 [%a0], 0f3F800000;", True),
        ("atom.global.exch.b32 %r0, [%a0], 1;", True),
        ("red.global.inc.u32 [%a0], 7;", True),
        ("red.global.add.u32 [%a0], 1; red.global.max.u32 [%a0], 7;", True),
        ("ld.acquire.gpu.global.u32 %r0, [%a0];", True),
        ("atom.shared.add.u32 %r0, [place], 1; add.u32 %r1, %r0, 1;", False),
    ],
)
def test_results_do_not_depend_on_host_threads(text, ordered):
    ptx = f"""{HEADER}.visible .entry op(.param .u64 out)
{{
.reg .b32 %r<4>; .reg .b64 %a<4>; .reg .f32 %f<2>; .shared .u32 place;
ld.param.u64 %a0, [out]; mov.u32 %r1, 5; mov.u64 %a2, 7;
{text}
ret;
}}
"""
    results = []
    for threads, deterministic in ((1, True), (3, True), (0, True), (3, ordered)):
        out = np.zeros(8, np.uint32)
        report = tile.sim.launch(ptx, "op", 64, 32, [out], check="none", threads=threads, deterministic=deterministic)  # fmt: skip
        results.append(out)
        assert report.to_dict()["threads"] == threads or not threads
    assert all((out == results[0]).all() for out in results)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("atom.global.frob.u32 %r1, [%rd1], %r2;", "needs an operation"),
        (
            "atom.global.cas.L2::cache_hint.b32 %r1, [%rd1], %r2, %r3, %rd2;",
            "atom.cas has no .L2::cache_hint",
        ),
        ("atom.global.and.f32 %f1, [%rd1], %f1;", "type .f32 is not allowed"),
        ("atom.global.inc.u64 %rd2, [%rd1], %rd3;", "type .u64 is not allowed"),
        ("atom.global.add.u32 %r1, [%rd1];", "expected 3 operands, found 2"),
        ("red.global.cas.b32 [%rd1], %r1, %r2;", "no .cas"),
        ("atom.global.v8.f32.add {%f1}, [%rd1], {%f1};", "type .f32 is not allowed"),
    ],
)
def test_bad_forms(text, message):
    registers = ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;"
    with pytest.raises(TileError, match=message):
        tile.sim.load(f"{HEADER}.visible .entry op() {{ {registers}\n{text} ret; }}")
