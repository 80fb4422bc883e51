"""Products of a matrix of which two of each four neighbours are there: SMFMAC and SWMMAC."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from asmlib import WAVE, kernel, run
from test_amdgcn_gfx12 import OCP
from test_amdgcn_gfx950 import pack, results
from test_amdgcn_matrix import encode, multiply, spread

from tile.errors import TileError

u32 = np.uint32
NAMES = {
    "gfx942": """smfmac_f32_16x16x32_f16 smfmac_f32_32x32x16_f16 smfmac_f32_16x16x32_bf16
smfmac_f32_32x32x16_bf16 smfmac_i32_16x16x64_i8 smfmac_i32_32x32x32_i8 smfmac_f32_16x16x64_fp8_bf8
smfmac_f32_32x32x32_bf8_fp8""",
    "gfx950": """smfmac_f32_16x16x64_f16 smfmac_f32_32x32x32_bf16 smfmac_i32_16x16x128_i8
smfmac_i32_32x32x64_i8 smfmac_f32_16x16x128_fp8_bf8 smfmac_f32_32x32x64_bf8_fp8
smfmac_f32_16x16x32_f16 smfmac_f32_16x16x64_bf8_bf8""",
    "gfx1200": """swmmac_f32_16x16x32_f16 swmmac_f32_16x16x32_bf16 swmmac_f16_16x16x32_f16
swmmac_bf16_16x16x32_bf16 swmmac_i32_16x16x32_iu8 swmmac_i32_16x16x32_iu4 swmmac_i32_16x16x64_iu4
swmmac_f32_16x16x32_fp8_bf8 swmmac_f32_16x16x32_bf8_fp8""",
    "gfx1250": """swmmac_f32_16x16x64_f16 swmmac_bf16_16x16x64_bf16 swmmac_i32_16x16x128_iu8
swmmac_f32_16x16x128_fp8_bf8 swmmac_f16_16x16x128_bf8_fp8 swmmac_f16_16x16x32_f16""",
}
CASES = [(target, name) for target, names in NAMES.items() for name in names.split()]
BITS = {"f16": 16, "bf16": 16, "i8": 8, "iu8": 8, "iu4": 4, "fp8": 8, "bf8": 8}


def codes_of(shape: tuple[int, int], kind: str, target: str, rng) -> tuple[np.ndarray, np.ndarray]:
    """Bits of random elements, and their values."""
    if kind == "iu4":
        whole = rng.integers(-8, 8, shape)
        return whole & 15, whole.astype(np.float64)
    values = rng.standard_normal(shape)
    if kind in OCP and target != "gfx942":
        small = values.astype(np.float32).astype(OCP[kind])
        return small.view(np.uint8), small.astype(np.float64)
    return encode(values, "i8" if kind == "iu8" else kind)


@pytest.mark.parametrize(("target", "name"), CASES)
@pytest.mark.parametrize("chosen", [0, 1])
def test_sparse_products(target, name, chosen):
    family, result, shape, *kinds = name.split("_")
    m, _, k = (int(n) for n in shape.split("x"))
    wave = WAVE[target]
    rng = np.random.default_rng(len(name) + chosen)
    codes_a, stored = codes_of((m, k // 2), kinds[0], target, rng)
    codes_b, b = codes_of((k, m), kinds[-1], target, rng)
    # Two of each four neighbours, in order.
    pairs = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    index = pairs[rng.integers(0, 6, (m, k // 4))].reshape(m, k // 2)
    a = np.zeros((m, k))
    rows, s = np.meshgrid(np.arange(m), np.arange(k // 2), indexing="ij")
    a[rows, s // 2 * 4 + index] = stored

    each, bits = m * k // 2 // wave, BITS[kinds[0]]
    place_a = rows + m * (s // each), s % each
    by_lane = np.zeros((wave, each), np.int64)
    by_lane[place_a] = codes_a
    words_a = pack(by_lane, bits)
    j, p = np.meshgrid(np.arange(m), np.arange(k), indexing="ij")
    by_lane = np.zeros((wave, 2 * each), np.int64)
    by_lane[j + m * (p // (2 * each)), p % (2 * each)] = codes_b.T
    words_b = pack(by_lane, bits)

    # Sets of indices that are not chosen choose something else.
    sets = max(1, 16 // each)
    if chosen and sets == 1:
        return
    indices = rng.integers(0, 4, (wave, sets * each))
    place = place_a[0], place_a[1] + each * chosen
    indices[place] = index
    index_words = pack(indices, 2)

    dtype = {"i32": np.int32, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}[
        result
    ]
    lane, item = results(m)
    if family == "swmmac":
        i, j = np.meshgrid(np.arange(m), np.arange(m), indexing="ij")
        lane, item = j + 16 * (i // 8), i % 8
    c = (rng.standard_normal((m, m)) * 8).astype(dtype)
    bits_c = c.view(np.uint16) if c.dtype.itemsize == 2 else c
    words_c = spread(bits_c, lane, item, m * m // wave, wave)
    if family == "smfmac":
        suffix = f" abid:{chosen}" if chosen else ""
    else:
        suffix = f" index_key:{chosen}" if chosen else ""
        suffix += " neg_lo:[1,1,0]" if result == "i32" else ""
    third = "v30" if len(index_words) == 1 else "v[30:31]"
    others = {30 + w: np.ascontiguousarray(words) for w, words in enumerate(index_words)}
    out = multiply(
        f"v_{name}", words_a, words_b, words_c, target, suffix=suffix, third=third, others=others
    )
    got = np.ascontiguousarray(out.T).view(dtype)[lane, item].astype(np.float64)
    tolerance = {"f16": 4e-3, "bf16": 3e-2}.get(result, 1e-5)
    want = a @ b + c.astype(np.float64)
    assert np.allclose(got, want, rtol=tolerance, atol=tolerance * np.abs(want).max())


@pytest.mark.parametrize(
    ("target", "text"),
    [("gfx942", "v_smfmac_f32_16x16x64_f16 v[0:3], v[4:7], v[8:15], v16"),
     ("gfx1200", "v_swmmac_f32_16x16x64_f16 v[0:7], v[8:15], v[16:31], v32")],
)  # fmt: skip
def test_who_has_them(target, text):
    with pytest.raises(TileError, match="no such instruction"):
        run(kernel(text, [8], target), [np.zeros(1, u32)], 1, WAVE[target])
