"""Reductions in random layouts: of elements in their order, and the same number for every thread.

Every thread stores its copy of a result. A branch or an address that one copy decides would differ
if the copies did.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

import tile
import tile.sim

MACHINES = {
    "cuda:80": ("cuda", 80, 32, "ptx"),
    "cuda:90": ("cuda", 90, 32, "ptx"),
    "hip:gfx942": ("hip", "gfx942", 64, "amdgcn"),
    "hip:gfx1100": ("hip", "gfx1100", 32, "amdgcn"),
}
NUMPY = {"i32": np.int32, "i64": np.int64, "f16": np.float16, "f32": np.float32, "f64": np.float64}

#: What combines two elements: the types of the operands, and the body of the region, in which `%a`
#: and `%b` come before `%c` and `%d`.
AFFINE = (
    ("i32", "i32"),
    """
      %p = arith.muli %a, %c : i32
      %q = arith.muli %b, %c : i32
      %r = arith.addi %q, %d : i32
      tt.reduce.return %p, %r : i32, i32""",
)
LAST = (
    ("i64", "i32"),
    """
      %isset = arith.cmpi ne, %d, %zero : i32
      %p = arith.select %isset, %c, %a : i64
      %q = arith.select %isset, %d, %b : i32
      tt.reduce.return %p, %q : i64, i32""",
)
TWO_SUMS = (
    ("i32", "f32"),
    """
      %p = arith.addi %a, %c : i32
      %q = arith.addf %b, %d : f32
      tt.reduce.return %p, %q : i32, f32""",
)


def single(type: str, operation: str) -> tuple[tuple[str], str]:
    body = f"""
      %p = arith.{operation} %a, %c : {type}
      tt.reduce.return %p : {type}"""
    return (type,), body


SUMS = [single(type, "addf") for type in ("f16", "f32", "f64")]
EXTREMES = [
    single(type, name)
    for type in ("f16", "f32", "f64")
    for name in ("maxnumf", "minnumf", "maximumf", "minimumf")
]
INTEGERS = [single("i32", name) for name in ("addi", "xori", "maxsi", "minui", "muli")]


def deal(rng: random.Random, shape: tuple[int, ...], wave: int, warps: int) -> str:
    """Some linear encoding: the bits of the tensor, dealt out to registers, lanes and warps; some
    of these have no bit, and sometimes one moves two."""
    rank = len(shape)
    bits = [
        [int(d == dim) << i for d in range(rank)]
        for dim, extent in enumerate(shape)
        for i in range(extent.bit_length() - 1)
    ]
    lane_bits, warp_bits = wave.bit_length() - 1, warps.bit_length() - 1
    register_bits = max(0, len(bits) - lane_bits - warp_bits) + rng.randrange(3)
    bits += [[0] * rank] * (register_bits + lane_bits + warp_bits - len(bits))
    if rng.random() < 0.7:  # In the order of the axis here and there, as most layouts are.
        rng.shuffle(bits)
    if rng.random() < 0.2:
        a, b = rng.sample(range(len(bits)), 2)
        if any(bits[a]) and any(bits[b]):
            bits[a] = [x ^ y for x, y in zip(bits[a], bits[b], strict=True)]
    register, rest = bits[:register_bits], bits[register_bits:]
    lane, warp = rest[:lane_bits], rest[lane_bits:]
    return f"#ttg.linear<{{register = {register}, lane = {lane}, warp = {warp}, block = []}}>"


def elements(shape: tuple[int, ...]) -> str:
    """The number of each element of a block in layout `#L`, row by row, as `%at`."""
    if len(shape) == 1:
        return f"%at = tt.make_range {{end = {shape[0]} : i32, start = 0 : i32}} : TILE<i32>\n"
    rows, columns = shape
    return f"""
    %er = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32, #S1>
    %ec = tt.make_range {{end = {columns} : i32, start = 0 : i32}} : tensor<{columns}xi32, #S0>
    %er1 = tt.expand_dims %er {{axis = 1 : i32}}
      : tensor<{rows}xi32, #S1> -> tensor<{rows}x1xi32, #L>
    %ec1 = tt.expand_dims %ec {{axis = 0 : i32}}
      : tensor<{columns}xi32, #S0> -> tensor<1x{columns}xi32, #L>
    %ew = arith.constant dense<{columns}> : tensor<{rows}x1xi32, #L>
    %er2 = arith.muli %er1, %ew : tensor<{rows}x1xi32, #L>
    %er3 = tt.broadcast %er2 : tensor<{rows}x1xi32, #L> -> TILE<i32>
    %ec3 = tt.broadcast %ec1 : tensor<1x{columns}xi32, #L> -> TILE<i32>
    %at = arith.addi %er3, %ec3 : TILE<i32>
"""


def copies(shape: tuple[int, ...], axis: int, type: str, k: int, threads: int) -> str:
    """Stores every copy of the result `%r<k>`: where a thread has elements of the row that was
    reduced or, of a scalar, for each thread."""
    if len(shape) == 1:
        return f"""
    %s{k} = tt.splat %r{k} : {type} -> tensor<{threads}x{type}, #T>
    %p{k} = tt.splat %out{k} : !tt.ptr<{type}> -> tensor<{threads}x!tt.ptr<{type}>, #T>
    %q{k} = tt.addptr %p{k}, %t : tensor<{threads}x!tt.ptr<{type}>, #T>, tensor<{threads}xi32, #T>
    tt.store %q{k}, %s{k} : tensor<{threads}x!tt.ptr<{type}>, #T>
"""
    rest = shape[1 - axis]
    kept = f"1x{rest}" if axis == 0 else f"{rest}x1"
    return f"""
    %e{k} = tt.expand_dims %r{k} {{axis = {axis} : i32}}
      : tensor<{rest}x{type}, #S{axis}> -> tensor<{kept}x{type}, #L>
    %s{k} = tt.broadcast %e{k} : tensor<{kept}x{type}, #L> -> TILE<{type}>
    %p{k} = tt.splat %out{k} : !tt.ptr<{type}> -> TILE<!tt.ptr<{type}>>
    %q{k} = tt.addptr %p{k}, %at : TILE<!tt.ptr<{type}>>, TILE<i32>
    tt.store %q{k}, %s{k} : TILE<!tt.ptr<{type}>>
"""


def kernel(
    machine: str, layout: str, shape: tuple[int, ...], axis: int, warps: int, combine, scaled: bool
) -> str:
    """Loads a block for each operand, multiplies floats by a constant if `scaled`, reduces."""
    types, body = combine
    wave = MACHINES[machine][2]
    threads = wave * warps
    text = elements(shape)
    for k, type in enumerate(types):
        text += f"""
    %x{k} = tt.splat %in{k} : !tt.ptr<{type}> -> TILE<!tt.ptr<{type}>>
    %y{k} = tt.addptr %x{k}, %at : TILE<!tt.ptr<{type}>>, TILE<i32>
    %z{k} = tt.load %y{k} : TILE<!tt.ptr<{type}>>
"""
        if scaled and type[0] == "f":
            text += f"""
    %f{k} = arith.constant dense<0.73> : TILE<{type}>
    %v{k} = arith.mulf %z{k}, %f{k} : TILE<{type}>
"""
        else:
            text = text.replace(f"%z{k}", f"%v{k}")
    results = ", ".join(f"%r{k}" for k in range(len(types)))
    names = list(zip("ab", types, strict=False)) + list(zip("cd", types, strict=False))
    rest = shape[:axis] + shape[axis + 1 :]
    out = [f"tensor<{rest[0]}x{t}, #S{axis}>" if rest else t for t in types]
    text += f"""
    %zero = arith.constant 0 : i32
    {results} = "tt.reduce"({", ".join(f"%v{k}" for k in range(len(types)))})
      <{{axis = {axis} : i32}}> ({{
      ^bb0({", ".join(f"%{n}: {t}" for n, t in names)}):{body}
    }}) : ({", ".join(f"TILE<{t}>" for t in types)}) -> ({", ".join(out)})
"""
    if len(shape) == 1:
        text += f"""
    %t = tt.make_range {{end = {threads} : i32, start = 0 : i32}} : tensor<{threads}xi32, #T>
"""
    text += "".join(copies(shape, axis, type, k, threads) for k, type in enumerate(types))
    for type in {*types, "i32", *(f"!tt.ptr<{t}>" for t in types)}:
        extents = "x".join(map(str, shape))
        text = text.replace(f"TILE<{type}>", f"tensor<{extents}x{type}, #L>")
    parameters = [f"%in{k}: !tt.ptr<{t}>" for k, t in enumerate(types)]
    parameters += [f"%out{k}: !tt.ptr<{t}>" for k, t in enumerate(types)]
    one_each = (
        f"#ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [{wave}], "
        f"warpsPerCTA = [{warps}], order = [0]}}>"
    )
    slices = "".join(
        f"#S{d} = #ttg.slice<{{dim = {d}, parent = #L}}>\n" for d in range(len(shape)) if rest
    )
    return f"""
#L = {layout}
{slices}#T = {one_each}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32,
                    ttg.target = "{machine}", "ttg.threads-per-warp" = {wave} : i32}} {{
  tt.func public @k({", ".join(parameters)}) {{
{text}
    tt.return
  }}
}}
"""


def reduce_copies(tmp_path, machine, shape, axis, warps, layout, combine, inputs, scaled=False):
    """The copies of each result: an array whose first dimension is along them."""
    backend, name, wave, stage = MACHINES[machine]
    path = tmp_path / "kernel.ttgir"
    path.write_text(kernel(machine, layout, shape, axis, warps, combine, scaled))
    compiled = tile.compile(str(path), target=tile.GPUTarget(backend, name, wave), stop_at=stage)
    threads = wave * warps
    kinds = [NUMPY[type] for type in combine[0]]
    outputs = [np.zeros(shape if len(shape) > 1 else threads, kind) for kind in kinds]
    arguments = [*inputs, *outputs]
    shared = compiled.metadata.shared
    tile.sim.launch(compiled.asm[stage], "k", 1, threads, arguments, dynamic_shared=shared)
    return [np.moveaxis(out, axis, 0) for out in outputs]


def same(copies: np.ndarray) -> np.ndarray:
    """What all copies are, bit for bit."""
    bits = copies.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[copies.itemsize])
    np.testing.assert_array_equal(bits, np.broadcast_to(bits[:1], bits.shape))
    return copies[0]


def cases(seed: int):
    rng = random.Random(seed)
    machine = list(MACHINES)[seed % 4]
    warps = rng.choice((1, 2, 4, 8, 16))
    # Often as many elements as lanes, so that what is exchanged first is what was computed last.
    shape = rng.choice([(2 ** rng.randint(1, 11),), (2 ** rng.randint(3, 6),)])
    if rng.random() < 0.5:
        shape = (2 ** rng.randint(0, 5), 2 ** rng.randint(1, 6))
    axis = rng.randrange(len(shape))
    if shape[axis] == 1:
        axis = 1 - axis
    return rng, machine, shape, axis, warps, deal(rng, shape, MACHINES[machine][2], warps)


def in_order(seed: int, tmp_path) -> None:
    rng, machine, shape, axis, warps, layout = cases(seed)
    combine = rng.choice((AFFINE, LAST))
    chance = np.random.default_rng(seed)
    x = chance.integers(-3, 4, shape).astype(NUMPY[combine[0][0]])
    y = chance.integers(-5, 6, shape).astype(np.int32)
    if combine is LAST:
        y *= chance.random(shape) < 2 / shape[axis]
        x = np.arange(x.size).reshape(shape).astype(x.dtype)
    outputs = reduce_copies(tmp_path, machine, shape, axis, warps, layout, combine, [x, y])
    x, y = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 0)
    p, q = x[0], y[0]
    with np.errstate(over="ignore"):
        for c, d in zip(x[1:], y[1:], strict=True):
            if combine is AFFINE:
                p, q = p * c, q * c + d
            else:
                p, q = np.where(d != 0, c, p), np.where(d != 0, d, q)
    found = [same(out) for out in outputs]
    np.testing.assert_array_equal(found[0], p, f"{machine}, {warps} warps, {shape}, {layout}")
    np.testing.assert_array_equal(found[1], q, f"{machine}, {warps} warps, {shape}, {layout}")


def one_number(seed: int, tmp_path) -> None:
    rng, machine, shape, axis, warps, layout = cases(seed)
    combine = rng.choice((*SUMS, *EXTREMES, *INTEGERS, TWO_SUMS, *SUMS))
    chance = np.random.default_rng(seed)
    inputs = []
    for type in combine[0]:
        x = chance.standard_normal(shape) if type[0] == "f" else chance.integers(-99, 99, shape)
        inputs.append(x.astype(NUMPY[type]))
    special = combine in EXTREMES and rng.random() < 0.5
    if special:
        # NaN of several signs and payloads, and zeros of both signs.
        x = inputs[0]
        bits = x.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[x.itemsize])
        quiet = np.array(np.nan, x.dtype).view(bits.dtype)
        sign = np.array(-0.0, x.dtype).view(bits.dtype)
        payload = chance.integers(0, 16, shape).astype(bits.dtype)
        at = chance.random(shape)
        bits[at < 0.5] = quiet | payload[at < 0.5]
        bits[at < 0.25] |= sign
        bits[at > 0.9] = 0
        bits[at > 0.95] = sign
    scaled = rng.random() < 0.7
    outputs = reduce_copies(tmp_path, machine, shape, axis, warps, layout, combine, inputs, scaled)
    found = [same(out) for out in outputs]
    for x, out, type in zip(inputs, found, combine[0], strict=True):
        if type[0] != "f" or "addf" not in combine[1]:
            continue
        want = (x.astype(np.float64) * (0.73 if scaled else 1)).sum(axis)
        error = {"f16": 1e-2, "f32": 1e-5, "f64": 1e-12}[type] * shape[axis]
        np.testing.assert_allclose(out.astype(np.float64), want, atol=error)


@pytest.mark.nvidia("machines are chosen by the test")
@pytest.mark.parametrize("seed", range(40))
def test_elements_are_combined_in_order(seed, tmp_path):
    in_order(seed, tmp_path)


@pytest.mark.nvidia("machines are chosen by the test")
@pytest.mark.parametrize("seed", range(1000, 1040))
def test_all_copies_are_one_number(seed, tmp_path):
    one_number(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.nvidia("machines are chosen by the test")
@pytest.mark.parametrize("seed", range(100, 400))
def test_many(seed, tmp_path):
    in_order(seed, tmp_path)
    one_number(seed, tmp_path)
