"""Quotients of fp32 and bf16 on AMD GPUs: a reciprocal, corrected, times the dividend."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from ulp import check_ulps

import tile
import tile.language as tl
from tile.backends.compiler import GPUTarget

N = 1 << 14
TARGETS = {"gfx942": 64, "gfx1100": 32, "gfx1201": 32}
# Where the reciprocal is scaled, and the ends of the format.
POWERS = [-149, -130, -126, -96, 0, 96, 126, 127]
BELOW = float(np.nextafter(np.float32(2.0**-96), np.float32(0)))
EDGES = np.array([0, 1.5, BELOW, 3.4028235e38, np.inf, np.nan, *np.exp2(POWERS)], np.float32)


@pytest.fixture(params=TARGETS, autouse=True)
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", f"hip:{request.param}")
    return request.param


@tile.jit
def divide(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i) / tl.load(y_ptr + i))


def quotients(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    out = np.zeros_like(x)
    divide[(N // 1024,)](x, y, out, BLOCK=1024)
    return out


def operands() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(7)
    edges = np.concatenate([EDGES, -EDGES])
    pairs = np.stack([a.ravel() for a in np.meshgrid(edges, edges)])
    bits = rng.integers(0, 1 << 32, (2, N), dtype=np.uint32).view(np.float32)
    near = bits.copy()
    near[1] = np.resize(edges, N)
    return {
        "edges": np.stack([np.resize(p, N) for p in pairs]),
        "any": bits,
        "by edges": near,
        "mantissas": rng.uniform(1, 2, (2, N)).astype(np.float32),
    }


@pytest.mark.parametrize("kind", operands())
def test_fp32_is_good_to_two_ulps(kind):
    x, y = operands()[kind]
    out = quotients(x, y)
    with np.errstate(all="ignore"):
        exact, rounded = x.astype(np.longdouble) / y.astype(np.longdouble), x / y
    # Zeros (with their signs), infinities and NaN are exact, denormals are kept.
    special = ~np.isfinite(rounded) | (exact == 0)
    np.testing.assert_array_equal(out[special], rounded[special])
    signed = ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(out)[signed], np.signbit(rounded)[signed])
    check_ulps(out[~special], exact[~special], 1.51, x[~special], y[~special])


def test_bf16_is_rounded_from_fp32():
    x, y = np.random.default_rng(8).uniform(0.1, 9, (2, N)).astype(ml_dtypes.bfloat16)
    out = quotients(x, y)
    exact = x.astype(np.float64) / y.astype(np.float64)
    # 8 bits, and what 2 ulps of 24 bits can move over the middle between two numbers.
    assert (np.abs(out.astype(np.float64) / exact - 1) <= 2.0**-8 * (1 + 2.0**-14)).all()


@tile.jit
def normalize(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x / tl.sum(x, 0))


def test_one_divisor_has_one_reciprocal(target):
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "BLOCK": "constexpr"}
    source = tile.compiler.ASTSource(normalize, signature, {"BLOCK": 4096})
    compiled = tile.compile(
        source, target=GPUTarget("hip", target, TARGETS[target]), options={"num_warps": 4}
    )
    assembly = compiled.asm["amdgcn"]
    assert len(re.findall(r"v_(?:s_)?rcp_f32", assembly)) == 1
    assert "v_div_" not in assembly


@tile.jit
def divide_by_moderate(x_ptr, i_ptr, y_ptr, h_ptr, out_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, x / tl.load(i_ptr + i).to(tl.float32))
    tl.store(out_ptr + N + i, x / tl.sqrt(tl.load(y_ptr + i)))
    tl.store(out_ptr + 2 * N + i, x / tl.load(h_ptr + i).to(tl.float32))


def test_divisors_of_known_magnitude_need_no_scale(target):
    """Integers up to 2^63, roots of anything, and fp16 with its denormals."""
    rng = np.random.default_rng(9)
    x = rng.integers(0, 1 << 32, N, dtype=np.uint32).view(np.float32)
    x[: len(EDGES)] = EDGES
    integers = rng.integers(-(1 << 63), 1 << 63, N) >> rng.integers(0, 64, N)
    integers[: 2 * len(EDGES)] = 0
    roots = np.abs(rng.integers(0, 1 << 32, N, dtype=np.uint32).view(np.float32))
    roots[::7] = np.resize(np.abs(EDGES[np.isfinite(EDGES)]), len(roots[::7]))
    halves = rng.integers(0, 1 << 16, N, dtype=np.uint16).view(np.float16)
    out = np.zeros(3 * N, np.float32)
    compiled = divide_by_moderate[(N // 1024,)](x, integers, roots, halves, out, N, BLOCK=1024)
    assert "0x6f800000" not in compiled.asm["amdgcn"]
    with np.errstate(all="ignore"):
        divisors = [integers.astype(np.float32), np.sqrt(roots), halves.astype(np.float32)]
        for quotient, y in zip(out.reshape(3, N), divisors, strict=True):
            exact, rounded = x.astype(np.longdouble) / y.astype(np.longdouble), x / y
            special = ~np.isfinite(rounded) | (exact == 0)
            np.testing.assert_array_equal(quotient[special], rounded[special])
            # The root itself is good to an ulp.
            check_ulps(quotient[~special], exact[~special], 2.51, x[~special], y[~special])
