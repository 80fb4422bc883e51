# ruff: noqa: E501  (IR reads better unbroken)
"""Explicit partitions of warps: what they capture, how they synchronise, what they hand back."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from reference import poisoned
from test_warp_group_dot import compile_ir, tensor_at

import tile.sim

SHARED = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
BARRIER = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"
BAR = "!ttg.memdesc<1xi64, #bar, #smem, mutable>"
BARS = "!ttg.memdesc<2x1xi64, #bar, #smem, mutable>"
SLOT = "!ttg.memdesc<32x32xf32, #shared, #smem, mutable>"
RING = "!ttg.memdesc<2x32x32xf32, #shared, #smem, mutable>"


def rows(warps: int) -> str:
    """Warps below one another: sums of columns cross them."""
    return (
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], "
        f"warpsPerCTA = [{warps}, 1], order = [1, 0]}}>"
    )


def columns(warps: int) -> str:
    return (
        "#ttg.blocked<{sizePerThread = [2, 1], threadsPerWarp = [16, 2], "
        f"warpsPerCTA = [1, {warps}], order = [0, 1]}}>"
    )


def module(warps: int, arguments: str, body: str, layouts: dict[str, str]) -> str:
    named = "".join(f"#{name} = {text}\n" for name, text in layouts.items())
    return f"""{named}#smem = #ttg.shared_memory
#shared = {SHARED}
#bar = {BARRIER}
module attributes {{"ttg.num-warps" = {warps} : i32, "ttg.num-ctas" = 1 : i32, "ttg.threads-per-warp" = 32 : i32, ttg.target = "cuda:90"}} {{
  tt.func public @k({arguments}) {{
{body}
    tt.return
  }}
}}
"""


def launch(text: str, arguments: list, **options) -> str:
    ptx, info = compile_ir(text)
    for seed in range(4):
        tile.sim.launch(
            ptx, "k", options.get("grid", 1), 32 * info["num_warps"], arguments,
            dynamic_shared=info["shared"], schedule_seed=seed,
        )  # fmt: skip
    return ptx


def pointer(name: str) -> str:
    return f"%{name}: !tt.ptr<f32> {{tt.divisibility = 16 : i32}}"


def column_sums(name: str, source: str, layout: str, out: str) -> str:
    """A conversion and a reduction, both through scratch memory and barriers."""
    tensor = f"tensor<32x32xf32, #{layout}>"
    turned = f"tensor<32x32xf32, #{layout}t>"
    flat = f"tensor<32xf32, #ttg.slice<{{dim = 0, parent = #{layout}t}}>>"
    index = f"tensor<32xi32, #ttg.slice<{{dim = 0, parent = #{layout}t}}>>"
    pointers = f"tensor<32x!tt.ptr<f32>, #ttg.slice<{{dim = 0, parent = #{layout}t}}>>"
    return f"""
    {tensor_at(name, (32, 32), "f32", "#" + layout).replace(f"%{name} ", f"%{source} ")}
    %{name}.x = tt.load %{name}.p : tensor<32x32x!tt.ptr<f32>, #{layout}>
    %{name}.t = ttg.convert_layout %{name}.x : {tensor} -> {turned}
    %{name}.s = "tt.reduce"(%{name}.t) <{{axis = 0 : i32}}> ({{
    ^bb0(%{name}.l: f32, %{name}.r: f32):
      %{name}.a = arith.addf %{name}.l, %{name}.r : f32
      tt.reduce.return %{name}.a : f32
    }}) : ({turned}) -> {flat}
    %{name}.n = tt.make_range {{end = 32 : i32, start = 0 : i32}} : {index}
    %{name}.q = tt.splat %{out} : !tt.ptr<f32> -> {pointers}
    %{name}.w = tt.addptr %{name}.q, %{name}.n : {pointers}, {index}
    tt.store %{name}.w, %{name}.s : {pointers}
"""


@pytest.mark.parametrize(
    ("default", "partitions"),
    [(4, (4,)), (4, (1, 2)), (8, (4, 1)), (1, (1,)), (2, (4, 8)), (4, (2, 4, 1, 1))],
)
def test_groups_synchronise_by_themselves(default, partitions):
    """Each group converts a layout and sums columns; no barrier joins the warps of two."""
    warps = [default, *partitions]
    layouts = {f"b{i}": rows(w) for i, w in enumerate(warps)}
    layouts |= {f"b{i}t": columns(w) for i, w in enumerate(warps)}
    names = [f"{kind}{i}" for i in range(len(warps)) for kind in ("x", "y")]
    types = ", ".join("!tt.ptr<f32>" for _ in names)
    text = f"    ttg.warp_specialize({', '.join('%' + n for n in names)})\n    default {{\n"
    text += column_sums("d", "x0", "b0", "y0") + "      ttg.warp_yield\n    }\n"
    for i, count in enumerate(partitions, 1):
        arguments = ", ".join(f"%{n}p{i}: !tt.ptr<f32>" for n in names)
        text += f"    partition{i - 1}({arguments}) num_warps({count}) {{\n"
        text += column_sums(f"d{i}", f"x{i}p{i}", f"b{i}", f"y{i}p{i}")
        text += "      ttg.warp_return\n    }"
    text += f" : ({types}) -> ()\n"
    x = [np.random.default_rng(i).standard_normal((32, 32)).astype(np.float32) for i in range(9)]
    y = [poisoned(32, "fp32") for _ in warps]
    arguments = [v for i in range(len(warps)) for v in (x[i], y[i])]
    ptx = launch(module(default, ", ".join(map(pointer, names)), text, layouts), arguments)
    for i in range(len(warps)):
        np.testing.assert_allclose(y[i], x[i].sum(0), rtol=1e-5, atol=1e-5)
    # Captured arguments of the kernel are read as such.
    assert ptx.count("st.shared.b64") == 0


def ring(default: int, producer: int, copy: str, registers: str = "") -> str:
    """A producer fills two buffers in turn; the default warps sum up what they find there."""
    tensor = "tensor<32x32xf32, #b>"
    index = {
        "stage": "%s = arith.remui %i, %two : i32",
        "round": "%d = arith.divui %i, %two : i32\n      %ph = arith.remui %d, %two : i32",
    }
    at = f"""
      {index["stage"]}
      {index["round"]}
      %slot = ttg.memdesc_index %RING[%s] : {RING} -> {SLOT}
      %f = ttg.memdesc_index %FULL[%s] : {BARS} -> {BAR}
      %e = ttg.memdesc_index %EMPTY[%s] : {BARS} -> {BAR}"""

    def inside(suffix: str) -> str:
        result = at
        for name in ("RING", "FULL", "EMPTY"):
            result = result.replace(f"%{name}", f"%{name.lower()}{suffix}")
        return result

    if copy == "store":
        arrivals = 1
        fill = f"""
      %v = tt.load %src : tensor<32x32x!tt.ptr<f32>, #p>
      ttg.local_store %v, %slot : tensor<32x32xf32, #p> -> {SLOT}
      ttnvgpu.arrive_barrier %f, 1 : {BAR}"""
    else:
        arrivals = 32 * producer
        fill = f"""
      %v = ttg.async_copy_global_to_local %src, %slot : tensor<32x32x!tt.ptr<f32>, #p> -> {SLOT}
      ttnvgpu.async_copy_mbarrier_arrive %f {{noIncrement}} : {BAR}"""
    init = ""
    for name, count in (("full", arrivals), ("empty", 1)):
        for i in (0, 1):
            init += f"""
    %{name}{i} = ttg.memdesc_index %{name}[%c{i}] : {BARS} -> {BAR}
    ttnvgpu.init_barrier %{name}{i}, {count} : {BAR}"""
    body = f"""
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %size = arith.constant 1024 : i32
    %ring = ttg.local_alloc : () -> {RING}
    %full = ttg.local_alloc : () -> {BARS}
    %empty = ttg.local_alloc : () -> {BARS}{init}
    %n = tt.load %count : !tt.ptr<i32>
    %all = ttg.warp_specialize(%x, %ring, %full, %empty, %n) {registers}
    default {{
      %two = arith.constant 2 : i32
      %zero = arith.constant dense<0.0> : {tensor}
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> ({tensor}) : i32 {{{inside("")}
      ttnvgpu.wait_barrier %f, %ph : {BAR}
      %v = ttg.local_load %slot : {SLOT} -> {tensor}
      ttnvgpu.arrive_barrier %e, 1 : {BAR}
      %sum = arith.addf %acc, %v : {tensor}
      scf.yield %sum : {tensor}
      }}
      ttg.warp_yield %r : {tensor}
    }}
    partition0(%xp: !tt.ptr<f32>, %ringp: {RING}, %fullp: {BARS}, %emptyp: {BARS}, %np: i32) num_warps({producer}) {{
      %zerop = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %two = arith.constant 2 : i32
      %sizep = arith.constant 1024 : i32
      scf.for %i = %zerop to %np step %one : i32 {{{inside("p")}
      %other = arith.xori %ph, %one : i32
      ttnvgpu.wait_barrier %e, %other : {BAR}
      %off = arith.muli %i, %sizep : i32
      %here = tt.addptr %xp, %off : !tt.ptr<f32>, i32
      {tensor_at("here", (32, 32), "f32", "#p")}
      %src = tt.bitcast %here.p : tensor<32x32x!tt.ptr<f32>, #p> -> tensor<32x32x!tt.ptr<f32>, #p>{fill}
      }}
      ttg.warp_return
    }} : (!tt.ptr<f32>, {RING}, {BARS}, {BARS}, i32) -> {tensor}
    {tensor_at("y", (32, 32), "f32", "#b")}
    tt.store %y.p, %all : tensor<32x32x!tt.ptr<f32>, #b>"""
    arguments = f"{pointer('x')}, %count: !tt.ptr<i32>, {pointer('y')}"
    return module(default, arguments, body, {"b": rows(default), "p": rows(producer)})


@pytest.mark.sweep
@pytest.mark.parametrize("copy", ["store", "cp.async"])
@pytest.mark.parametrize(("default", "producer"), [(4, 4), (4, 1), (8, 4), (1, 2)])
@pytest.mark.parametrize("steps", [0, 1, 5])
def test_rings(default, producer, copy, steps):
    x = np.random.default_rng(1).standard_normal((max(1, steps), 32, 32)).astype(np.float32)
    y = poisoned((32, 32), "fp32")
    ptx = launch(ring(default, producer, copy), [x, np.array([steps], np.int32), y])
    np.testing.assert_allclose(y, x[:steps].sum(0), rtol=1e-5, atol=1e-5)
    assert ("cp.async.ca" in ptx or "cp.async.cg" in ptx) == (copy == "cp.async")


def test_registers():
    text = ring(8, 1, "store", "attributes {requestedRegisters = array<i32: 20>}")
    x = np.random.default_rng(1).standard_normal((3, 32, 32)).astype(np.float32)
    y = poisoned((32, 32), "fp32")
    ptx = launch(text, [x, np.array([3], np.int32), y])
    np.testing.assert_allclose(y, x.sum(0), rtol=1e-5, atol=1e-5)
    # A whole warp group gives: three of its warps have nothing else to do.
    assert re.search(r"\.reqntid\s+384", ptx) and ".maxnreg 168" in ptx
    assert "setmaxnreg.dec.sync.aligned.u32 24;" in ptx
    assert "setmaxnreg.inc.sync.aligned.u32 240;" in ptx
    # A kernel whose threads have all they can use already.
    text = text.replace('num-warps" = 8', 'num-warps" = 4').replace("[8, 1]", "[4, 1]")
    ptx = launch(text, [x, np.array([3], np.int32), y])
    assert "setmaxnreg" not in ptx


def test_again_and_again():
    """Operations in a loop, under a condition, and after one another; results that are captured."""
    store = """
      {at}
      %{n}.v = tt.splat %{value} : f32 -> tensor<32x32xf32, #{layout}>
      tt.store %{n}.p, %{n}.v : tensor<32x32x!tt.ptr<f32>, #{layout}>"""

    def fill(name: str, base: str, value: str, layout: str) -> str:
        at = tensor_at(name, (32, 32), "f32", "#" + layout).replace(f"%{name} ", f"%{base} ")
        return store.format(at=at, n=name, value=value, layout=layout)

    body = f"""
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %size = arith.constant 1024 : i32
    %start = arith.constant 1.0 : f32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%v = %start) -> (f32) : i32 {{
      %off = arith.muli %i, %size : i32
      %here = tt.addptr %x, %off : !tt.ptr<f32>, i32
      %next = ttg.warp_specialize(%here, %v)
      default {{
        %more = arith.addf %v, %v : f32
        ttg.warp_yield %more : f32
      }}
      partition0(%p: !tt.ptr<f32>, %w: f32) num_warps(2) {{
        {fill("a", "p", "w", "p")}
        ttg.warp_return
      }} : (!tt.ptr<f32>, f32) -> f32
      %m = arith.remui %i, %two : i32
      %odd = arith.cmpi ne, %m, %c0 : i32
      scf.if %odd {{
        ttg.warp_specialize(%y, %next, %off)
        default {{
          ttg.warp_yield
        }}
        partition0(%p: !tt.ptr<f32>, %w: f32, %o: i32) num_warps(1) {{
          %there = tt.addptr %p, %o : !tt.ptr<f32>, i32
          {fill("b", "there", "w", "q")}
          ttg.warp_return
        }} : (!tt.ptr<f32>, f32, i32) -> ()
      }}
      scf.yield %next : f32
    }}
    tt.store %z, %last : !tt.ptr<f32>"""
    arguments = f"{pointer('x')}, {pointer('y')}, {pointer('z')}, %n: i32"
    x, y, z = poisoned((5, 32, 32), "fp32"), poisoned((5, 32, 32), "fp32"), poisoned(1, "fp32")
    untouched = y[0].copy()
    launch(module(4, arguments, body, {"p": rows(2), "q": rows(1)}), [x, y, z, 5])
    for i in range(5):
        assert (x[i] == 2.0**i).all()
        if i % 2:
            assert (y[i] == 2.0 ** (i + 1)).all()
        else:
            np.testing.assert_array_equal(y[i].view(np.uint8), untouched.view(np.uint8))
    assert z[0] == 32


def test_nothing_is_used_after_it_is_gone():
    """In a process that overwrites what it frees (glibc's malloc does so)."""
    test = f"{__file__}::test_groups_synchronise_by_themselves[4-partitions1]"
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", test],
        env={**os.environ, "MALLOC_PERTURB_": "165"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
