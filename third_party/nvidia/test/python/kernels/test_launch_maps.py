"""Tensor maps that launches make of arguments alone, for loads that programs write by pointers."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import itertools
import operator
import pathlib
import re

import numpy as np
import pytest
from reference import poisoned, random, sim_only

import tile
import tile.language as tl
from tile import _C
from tile.backends import find_backend
from tile.compiler import ASTSource
from tile.runtime.overlap import OPTION
from tile.tools.tensor_descriptor import TensorDescriptor

pytestmark = sim_only
ROOT = pathlib.Path(__file__).resolve().parents[5]


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


def copies(kernel) -> int:
    return len(re.findall(r"ttnvgpu\.async_tma_copy_global_to_local", kernel.asm["ttgir"]))


def maps(kernel) -> list[dict]:
    """The maps of a kernel that launches make of its arguments."""
    return [m for m in kernel._metadata["tensor_maps"] if m.get("code")]


def is_of_launch(kernel) -> bool:
    """All that is copied, with no memory for maps."""
    made = len(maps(kernel))
    return made > 0 and copies(kernel) > 0 and not kernel._metadata.get("global_scratch_size")


@pytest.fixture(scope="module")
def attention():
    spec = importlib.util.spec_from_file_location("attention", ROOT / "examples" / "attention.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def attend(attention, length, size, blocks, causal=False, heads=2, seed=8, **options):
    rng = np.random.default_rng(seed)
    q, k, v = rng.standard_normal((3, heads, length, size)).astype(np.float16)
    out = poisoned(q.shape, "fp16")
    kernel = attention.attention(
        q, k, v, out, causal, bm=blocks[0], bn=blocks[1], **{"num_stages": 2, **options}
    )
    wanted = attention.reference(q, k, v, causal)
    np.testing.assert_allclose(out.astype(np.float64), wanted, rtol=2e-2, atol=2e-3)
    return kernel


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("length", [64, 128, 150, 256, 200])
def test_attention(attention, length, causal):
    """Without warps of their own: one map for keys and one for values, for each loop."""
    kernel = attend(attention, length, 64, (64, 64), causal)
    assert is_of_launch(kernel)
    assert "ttg.warp_specialize(" not in kernel.asm["ttgir"]


@pytest.mark.parametrize("causal", [False, True])
def test_attention_with_warps_for_copies(attention, causal):
    kernel = attend(attention, 320, 128, (128, 128), causal, num_warps=8)
    assert is_of_launch(kernel) and "ttg.warp_specialize(" in kernel.asm["ttgir"]


def test_other_arguments_at_each_launch(attention):
    """One kernel; each launch has other addresses, lengths and numbers of heads."""
    kernels = {
        id(attend(attention, length, 64, (64, 64), heads=heads, seed=seed))
        for seed, (length, heads) in enumerate([(144, 2), (208, 1), (144, 3), (400, 2), (144, 2)])
    }
    assert len(kernels) == 1


def test_the_same_arguments_with_other_contents(attention):
    rng = np.random.default_rng(3)
    q, k, v = rng.standard_normal((3, 1, 128, 64)).astype(np.float16)
    for _ in range(3):
        k[:], v[:] = rng.standard_normal((2, 1, 128, 64))
        out = poisoned(q.shape, "fp16")
        assert is_of_launch(attention.attention(q, k, v, out, bm=64, bn=64, num_stages=2))
        wanted = attention.reference(q, k, v, False)
        np.testing.assert_allclose(out.astype(np.float64), wanted, rtol=2e-2, atol=2e-3)


@pytest.mark.parametrize(
    "options", [{"num_stages": 1}, {"raise_pointers": False}, {"tma": False}, {OPTION: True}]
)
def test_kernels_without(attention, options):
    kernel = attend(attention, 128, 64, (64, 64), **options)
    assert not maps(kernel) and copies(kernel) == 0


# Addresses.

#: What stands in a kernel for the first element of a program's tile, and NumPy's value of it.
#: `b`: a multiple of 16 elements, `S`: the distance of rows, `p`, `q`: the numbers of the program.
#: Whether the launch makes the descriptor; programs make others.
ORIGINS = {
    "0": True,
    "b": True,
    "b * 3 + 32": True,
    "p * b": True,
    "p * b + q * S": True,
    "p * b + q * S * 8": True,
    "p * (b + S)": True,
    "p * 64 + q * b * 2": True,
    "(p + q) * S": True,
    "p // 2 * b + p % 2 * S + q * 16": True,
    "p * q * S": False,
    "p * 8 * b + tl.load(n_ptr) * S": False,
    "tl.where(p > 1, b, 0)": False,
    "p * p * 16": False,
}
#: Where tiles end, along rows and columns.
BOUNDS = ("", "(i + t < R)", "(t + i <= R - 1) & (j < C)", "(j < C)")

KERNEL = """
import tile
import tile.language as tl


@tile.jit
def kernel(x_ptr, eye_ptr, out_ptr, n_ptr, last, b, S, R, C):
    p, q = tl.program_id(0), tl.program_id(1)
    i, j = tl.arange(0, 64)[:, None], tl.arange(0, 64)[None, :]
    eye = tl.load(eye_ptr + i * 64 + j)
    acc = tl.zeros((64, 64), tl.float32)
    for t in range(0, last, 64):
        x = tl.load(x_ptr + {origin} + (i + t) * S + j{mask})
        acc = tl.dot(x, eye, acc)
    tl.store(out_ptr + (q * 3 + p) * 4096 + i * 64 + j, acc)
"""


def make_kernel(tmp_path, name, **parts):
    path = tmp_path / f"{name}.py"
    path.write_text(KERNEL.format(**parts))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def expected_tiles(x, origin, bound, n, last, b, s, rows, columns):
    result = np.zeros((6, 64, 64))
    scope = {"tl": type("tl", (), {"load": staticmethod(lambda v: v[0]), "where": np.where})}
    i, j = np.arange(64)[:, None], np.arange(64)[None, :]
    for q, p in itertools.product(range(2), range(3)):
        at = int(eval(origin, {**scope, "p": p, "q": q, "b": b, "S": s, "n_ptr": n}))
        for t in range(0, last, 64):
            index = at + (i + t) * s + j
            names = {"i": i, "j": j, "t": t, "R": rows, "C": columns}
            keep = np.broadcast_to(eval(bound, names) if bound else True, (64, 64))
            result[q * 3 + p] += np.where(keep, x[np.where(keep, index, 0)], 0)
    return result


@pytest.mark.parametrize("origin", ORIGINS)
def test_where_programs_begin(origin, tmp_path, monkeypatch):
    """All bounds; each kernel with two lengths, distances of rows and origins."""
    monkeypatch.setenv("TILE_RAISE_POINTERS", "1")
    x, eye = random((60_000,), "fp16", 5), np.eye(64, dtype=np.float16)
    n = np.array([3], np.int32)
    for number, bound in enumerate(BOUNDS):
        mask = f", mask={bound}, other=0.0" if bound else ""
        kernel = make_kernel(tmp_path, f"kernel{number}", origin=f"({origin})", mask=mask)
        for last, b, s, rows, columns in ((128, 1600, 80, 90, 48), (192, 160, 64, 130, 64)):
            out = poisoned((6, 64, 64), "fp32")
            compiled = kernel[(3, 2)](x, eye, out, n, last, b, s, rows, columns)
            wanted = expected_tiles(x, origin, bound, n, last, b, s, rows, columns)
            np.testing.assert_allclose(out, wanted, rtol=1e-3, atol=1e-2)
            assert copies(compiled) > 0
            assert is_of_launch(compiled) == ORIGINS[origin]


@tile.jit
def matmul(a_ptr, b_ptr, c_ptr, K, sa, sb, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    z = tl.program_id(0)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        a = tl.load(a_ptr + z * B * sa + i * sa + k + j, mask=k + j < K, other=0.0)
        b = tl.load(b_ptr + (k + i) * sb + j, mask=k + i < K, other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + z * B * B + i * B + j, acc)


def multiply(k, step=None, stride_b=64, launch=None, **options):
    """`step`: from row to row of a, in elements; rows are all the same one for 0."""
    step = k if step is None else step
    data = random((128 * max(abs(step), k) + k,), "fp16", 1)
    b, out = random((k, stride_b), "fp16", 2), poisoned((128, 64), "fp32")
    first = -127 * step if step < 0 else 0
    rows = np.stack([data[first + r * step :][:k] for r in range(128)])
    launch = launch or matmul[(2,)]
    with tile.sim.reachable(data):
        kernel = launch(data[first:], b, out, k, step, stride_b, 64, **options)
    wanted = rows.astype(np.float64) @ b[:, :64].astype(np.float64)
    np.testing.assert_allclose(out, wanted, rtol=1e-2, atol=0.1)
    return kernel


def test_arguments_that_no_map_describes(monkeypatch):
    """Rows that are all the same one: the kernel without maps runs then, and only then. Of rows
    that go backwards, the compiler knows."""
    monkeypatch.setenv("TILE_RAISE_POINTERS", "1")
    assert [len(maps(multiply(96, step))) for step in (None, 0, 112, -96, None, 0)] == [
        2, 0, 2, 1, 2, 0,
    ]  # fmt: skip
    # The same by a kernel that was compiled before.
    kernel = multiply(96)
    for step in (None, 0, 112, 0):
        assert multiply(96, step, launch=kernel[(2,)]) is kernel
    assert len(kernel.variants) == 1 and not maps(kernel.variants[0])


def test_distances_that_are_no_multiples(monkeypatch):
    """Then the kernel is another one."""
    monkeypatch.setenv("TILE_RAISE_POINTERS", "1")
    assert len(maps(multiply(96, stride_b=68))) == 1
    assert len(maps(multiply(96, stride_b=80))) == 2


@tile.jit(do_not_specialize=["sa"])
def unspecialized(a_ptr, b_ptr, c_ptr, K, sa, sb, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    z = tl.program_id(0)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        a = tl.load(a_ptr + z * B * sa + i * sa + k + j, mask=k + j < K, other=0.0)
        b = tl.load(b_ptr + (k + i) * sb + j, mask=k + i < K, other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + z * B * B + i * B + j, acc)


def test_strides_that_nobody_knows(monkeypatch):
    monkeypatch.setenv("TILE_RAISE_POINTERS", "1")
    kernels = [multiply(96, step, launch=unspecialized[(2,)]) for step in (96, 97, 100, 0)]
    assert len(set(map(id, kernels))) == 1 and len(maps(kernels[0])) == 1


def test_who_launches(attention):
    """Kernels that others launch have no maps that others know nothing of."""
    signature = {"q_ptr": "*fp16", "k_ptr": "*fp16", "v_ptr": "*fp16", "out_ptr": "*fp16",
                 "scale": "fp32", "L": "i32"}  # fmt: skip
    constants = {"D": 64, "BM": 64, "BN": 64, "CAUSAL": False, "EVEN": True, "SPECIALIZED": False}
    source = ASTSource(
        attention.attention_kernel, {**signature, **dict.fromkeys(constants, "constexpr")},
        constants, {(i,): [("tt.divisibility", 16)] for i in (0, 1, 2, 3, 5)},
    )  # fmt: skip
    h100 = tile.GPUTarget("cuda", 90, 32)
    ours, others = (
        tile.compile(source, target=h100, options={"num_stages": 2, **more}, stop_at="ptx")
        for more in ({}, {OPTION: True})
    )
    assert len(maps(ours)) == 2 and not maps(others)
    backend = find_backend(h100)
    assert backend.without_tensor_maps(ours) == {"launch_maps": False}
    assert backend.without_tensor_maps(others) == {"tma": False}


@tile.jit
def beside_others(pair, desc, x_ptr, steps, scale: tl.constexpr, out, B: tl.constexpr):
    """A tuple and a descriptor stand in front of the pointer; the program makes one, too."""
    p = tl.program_id(0)
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    made = tl.make_tensor_descriptor(pair[0], [3 * B * pair[1], B], [B, 1], [B, B])
    acc = tl.zeros((B, B), tl.float32)
    for t in range(0, steps):
        x = tl.load(x_ptr + p * steps * B * B + (t * B + i) * B + j)
        y = desc.load([t * B, 0])
        z = made.load([(p * pair[1] + t) * B, 0])
        acc = tl.dot(x, y, acc) * scale
        acc = tl.dot(x, z, acc)
    out.store([p * B, 0], acc)


@pytest.mark.parametrize("steps", [2, 3])
def test_other_descriptors_beside(steps, monkeypatch):
    monkeypatch.setenv("TILE_RAISE_POINTERS", "1")
    x, z = (random((3, steps, 64, 64), "fp16", seed) for seed in (1, 3))
    y, out = random((steps * 64, 64), "fp16", 2), poisoned((3 * 64, 64), "fp32")
    kernel = beside_others[(3,)](
        (z, steps), TensorDescriptor(y, y.shape, [64, 1], [64, 64]), x, steps, 0.5,
        TensorDescriptor(out, out.shape, [64, 1], [64, 64]), 64,
    )  # fmt: skip
    wanted = np.zeros((3, 64, 64))
    for t in range(steps):
        left = x[:, t].astype(np.float64)
        wanted = (wanted + left @ y[t * 64 : t * 64 + 64]) * 0.5 + left @ z[:, t]
    np.testing.assert_allclose(out.reshape(3, 64, 64), wanted, rtol=1e-2, atol=0.1)
    assert len(maps(kernel)) == 2 and len(kernel._metadata["tensor_maps"]) == 4
    assert is_of_launch(kernel)


# Descriptors that the program asks for.


@tile.jit
def by_descriptors(
    a_ptr, b_ptr, c_ptr, M, N, K, sa, first, PADDING: tl.constexpr, OF_PROGRAM: tl.constexpr,
):  # fmt: skip
    """Sums and products of arguments, in 32 bits and in 64."""
    rows = M + tl.program_id(2) if OF_PROGRAM else M
    a = tl.make_tensor_descriptor(
        a_ptr + first * 16 - 16, [rows, K], [sa, 1], [64, 32], padding_option=PADDING
    )
    b = tl.make_tensor_descriptor(b_ptr, [K, N], [N.to(tl.int64), 1], [32, 64])
    m, n = tl.program_id(0) * 64, tl.program_id(1) * 64
    acc = tl.zeros((64, 64), tl.float32)
    for k in range(0, K, 32):
        acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
    i, j = m + tl.arange(0, 64)[:, None], n + tl.arange(0, 64)[None, :]
    tl.store(c_ptr + i * N + j, acc, mask=(i < M) & (j < N))


def multiply_by_descriptors(sizes, step=None, padding="zero", of_program=False, launch=None):
    m, n, k = sizes
    step = k if step is None else step
    data = random((32 + m * max(step, k) + k,), "fp16", 1)
    b, out = random((k, n), "fp16", 2), poisoned((m, n), "fp32")
    rows = np.stack([data[32 + r * step :][:k] for r in range(m)])
    launch = launch or by_descriptors[(tile.cdiv(m, 64), tile.cdiv(n, 64))]
    kernel = launch(data, b, out, m, n, k, step, 3, padding, of_program)
    wanted = rows.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(out, wanted, rtol=1e-2, atol=0.1)
    return kernel


def test_descriptors_of_programs():
    """Launches make those of arguments alone. A map that adds NaNs, or is of a program's number, is
    made by programs."""
    kernels = [multiply_by_descriptors(s) for s in ((144, 80, 96), (64, 64, 32), (80, 208, 240))]
    assert all(map(is_of_launch, kernels)) and len(set(map(id, kernels))) == 1
    for options, made in (({"padding": "nan"}, 1), ({"of_program": True}, 1)):
        kernel = multiply_by_descriptors((80, 64, 96), **options)
        assert len(maps(kernel)) == made and kernel._metadata["global_scratch_size"]


def test_descriptors_that_no_launch_makes():
    """Rows that are all the same one: programs make the descriptor then."""
    made = [multiply_by_descriptors((80, 64, 96), step) for step in (None, 0, 112, 0)]
    assert [is_of_launch(kernel) for kernel in made] == [True, False, True, False]
    kernel = made[0]
    for step in (0, None, 0):
        launch = kernel[(2, 1)]
        assert multiply_by_descriptors((80, 64, 96), step, launch=launch) is kernel
    assert [len(maps(k)) for k in kernel.variants] == [0]


# The two that compute parts of maps.

#: Types of parameters, and the bits that a map's code says of each.
TYPES = {"*fp16": 64, "i64": 64, "u64": 64, "i32": 32, "u32": 32, "i16": 16, "u8": 8}
ENCODE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_uint64,
    ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64), ctypes.c_void_p,
    ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int,
)  # fmt: skip


def random_code(rng, rank: int):
    """Steps over one parameter of each type. In the end all sizes and strides are positive, and
    some of the programs are still refused."""
    code = [(0, i, bits) for i, bits in enumerate(TYPES.values())]
    for _ in range(12):
        code.append((1, int(rng.integers(-(2**40), 2**40)) >> int(rng.integers(40)), 0))
        first, second = (int(x) for x in rng.integers(len(code), size=2))
        step = int(rng.integers(2, 8))
        code.append((step, first, (8, 16, 32, 64)[second % 4] if step == 7 else second))
    parts = [int(rng.integers(len(code)))]
    code += [(1, 1, 0), (1, 2**30, 0)]
    one, most = len(code) - 2, len(code) - 1
    for _ in range(2 * rank):
        code.append((5, int(rng.integers(most)), most))
        if rng.random() < 0.97:
            code.append((6, len(code) - 1, one))
        parts.append(len(code) - 1)
    return code, parts


def wrapped(value: int, bits: int) -> int:
    """The last bits of a number, with a sign."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def computed(code, values: list[int]) -> list[int]:
    """What steps compute, on numbers of Python."""
    binary = [operator.add, operator.sub, operator.mul, min, max]
    known: list[int] = []
    for step, first, second in code:
        if step == 0:
            known.append(wrapped(values[first], second))
        elif step == 1:
            known.append(first)
        elif step == 7:
            known.append(wrapped(known[first], second))
        else:
            known.append(wrapped(binary[step - 2](known[first], known[second]), 64))
    return known


def test_parts_of_random_steps():
    """What launches through the driver compute, and the simulator, is what Python does."""
    find_backend(tile.GPUTarget("cuda", 90, 32))  # Imports what the backend has.
    module = importlib.import_module("tile.backends.nvidia.tensor_maps")
    rng = np.random.default_rng(11)
    seen: list = []

    @ENCODE
    def encode(map_, kind, rank, base, shape, strides, *others):
        seen.append((base, list(shape[:rank]), list(strides[: rank - 1])))
        return 0

    def address(function):
        return ctypes.cast(function, ctypes.c_void_p).value

    refused = 0
    for _ in range(400):
        rank = int(rng.integers(1, 6))
        code, parts = random_code(rng, rank)
        # One element has 16 bytes here, so that no size is refused for what it is a multiple of.
        facts = {"code": code, "parts": parts, "box": [1] * rank}
        slot = _C.launch.TensorMapSlot(0, 6, 16, 0, [1] * rank, False, 1, code, parts)
        launch = _C.launch.PackedLaunch(
            list(TYPES), 1, 1, 32, 0, 1, [], lambda value: value,
            _C.launch.TensorMaps(address(encode), 0, len(TYPES), [slot]),
        )  # fmt: skip
        for _ in range(3):
            values = []
            for ty in TYPES:
                bits = TYPES[ty]
                low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if ty[0] == "i" else (0, 2**bits)
                near = int(rng.choice([low, high - 1, 0, 1, 16, 4096]))
                values.append(near if low <= near < high else 0)
            del seen[:]
            has_map = launch.has_tensor_maps(tuple(values))
            wanted = module.computed_parts(facts, values)
            known = computed(code, values)
            base, *rest = (known[step] for step in parts)
            assert (wanted.base, [*wanted.shape, *wanted.strides]) == (base % 2**64, rest)
            sizes = [*wanted.shape, *wanted.strides]
            assert has_map == (min(sizes) >= 1)
            refused += not has_map
            if seen:  # It may be that of the launch before.
                strides = [16 * s for s in wanted.strides[::-1][1:]]
                assert seen == [(wanted.base, wanted.shape[::-1], strides)]
            else:
                assert not has_map or launch.has_tensor_maps(tuple(values))
    assert 20 < refused < 1000
