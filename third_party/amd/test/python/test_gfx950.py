"""What gfx950 has beyond gfx942, executed."""

from __future__ import annotations

import re

import pytest
from test_dot_scaled import run


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "hip:gfx950")


def matrix_instructions(kernel) -> set[str]:
    return set(re.findall(r"v_mfma_\w+", kernel.asm["amdgcn"]))


@pytest.mark.parametrize(
    ("left", "right"),
    [("e4m3", "e4m3"), ("e5m2", "e2m1"), ("e2m1", "e4m3"), ("e2m1", "e2m1"), ("e4m3", "e5m2")],
)
def test_scaled_products(left, right):
    for rows, name in ((32, "32x32x64"), (16, "16x16x128")):
        kernel = run(left, right, m=64, n=32, k=256, matrix_instr_nonkdim=rows)
        assert matrix_instructions(kernel) == {f"v_mfma_scale_f32_{name}_f8f6f4"}


@pytest.mark.parametrize(
    ("m", "n", "k", "warps"), [(16, 16, 128, 1), (16, 64, 128, 4), (128, 32, 64, 8)]
)
def test_sizes_of_scaled_products(m, n, k, warps):
    kernel = run("e4m3", "e2m1", m=m, n=n, k=k, num_warps=warps)
    assert all("mfma_scale" in name for name in matrix_instructions(kernel))


@pytest.mark.parametrize(("a_scaled", "b_scaled"), [(True, False), (False, True), (False, False)])
def test_missing_scales(a_scaled, b_scaled):
    kernel = run("e4m3", "e5m2", a_scaled, b_scaled, m=32, n=32, k=128)
    assert matrix_instructions(kernel) <= {
        "v_mfma_scale_f32_32x32x64_f8f6f4", "v_mfma_f32_32x32x64_f8f6f4"
    }  # fmt: skip


def test_what_no_instruction_scales_becomes_a_plain_product():
    # Too short, too wide, or packed along the rows.
    for kernel in (
        run("e4m3", "e4m3", m=16, n=16, k=32),
        run("e4m3", "bf16", b_scaled=False),
        run("e2m1", "e2m1", pack=False, m=32, n=32, k=128),
    ):
        assert not any("f8f6f4" in name for name in matrix_instructions(kernel))
