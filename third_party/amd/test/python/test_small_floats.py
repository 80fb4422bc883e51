"""8-bit floats: conversions by hardware are those of ml_dtypes, except that they saturate."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tile
import tile.language as tl

rng = np.random.default_rng(11)

#: Formats by the processor that converts them.
CASES = [
    ("gfx942", tl.float8e4b8, ml_dtypes.float8_e4m3fnuz, "fp8"),
    ("gfx942", tl.float8e5b16, ml_dtypes.float8_e5m2fnuz, "bf8"),
    ("gfx950", tl.float8e4nv, ml_dtypes.float8_e4m3fn, "fp8"),
    ("gfx950", tl.float8e5, ml_dtypes.float8_e5m2, "bf8"),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def case(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", f"hip:{request.param[0]}")
    return request.param[1:]


@tile.jit
def widen(x, out, format: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    small = tl.load(x + i).to(format, bitcast=True)
    tl.store(out + i, small.to(out.dtype.element_ty))


@pytest.mark.parametrize("to", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_every_number_widens(case, to):
    format, like, name = case
    x = np.arange(256).astype(np.uint8)
    out = np.zeros(256, to)
    kernel = widen[(1,)](x, out, format, N=256)
    assert f"v_cvt_pk_f32_{name}" in kernel.asm["amdgcn"]
    expected = x.view(like).astype(np.float64)
    found = out.astype(np.float64)
    assert ((found == expected) | (np.isnan(found) & np.isnan(expected))).all()


@tile.jit
def narrow(x, out, format: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + i, tl.load(x + i).to(format).to(tl.uint8, bitcast=True))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_rounding_and_saturation(case, kind):
    format, like, name = case
    numbers = np.arange(256).astype(np.uint8).view(like).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    # Half-way between neighbours, next to that, and far beyond the greatest.
    halves = (numbers[:-1] + numbers[1:]) / 2
    x = np.concatenate([numbers, halves, halves * (1 + 2**-9), halves * (1 - 2**-9)])
    x = np.concatenate(
        [x, rng.standard_normal(600) * 50, [1e4, -1e4, 6e4, -6e4, np.inf, -np.inf, np.nan]]
    )
    x = np.resize(x.astype(kind), 2048)
    out = np.zeros(2048, np.uint8)
    kernel = narrow[(4,)](x, out, format, N=512)
    assert f"v_cvt_pk_{name}_f32" in kernel.asm["amdgcn"]
    found = out.view(like).astype(np.float64)
    greatest = numbers[-1]
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.clip(x.astype(np.float64), -greatest, greatest).astype(like)
    expected = expected.astype(np.float64)
    assert ((found == expected) | (np.isnan(found) & np.isnan(expected))).all()
