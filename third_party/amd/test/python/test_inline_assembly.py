"""Inline assembly of AMD GPUs with its constraints, and what `tl.extra.hip` has."""

from __future__ import annotations

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.language.extra import hip

rng = np.random.default_rng(8)


@pytest.fixture(params=["hip:gfx942", "hip:gfx1100", "hip:gfx1201"])
def target(request, monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", request.param)
    return request.param


@tile.jit
def registers(x, y, n, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    shifted = tl.inline_asm_elementwise(
        "v_lshl_add_u32 $0, $1, 3, $2", "=v,v,v", [a, b], dtype=tl.int32, is_pure=True, pack=1
    )
    # A value that is the same in all lanes may come in a scalar register.
    scaled = tl.inline_asm_elementwise(
        "v_mul_lo_u32 $0, $1, $2", "=v,v,s", [shifted, n], dtype=tl.int32, is_pure=True, pack=1
    )
    low, high = tl.inline_asm_elementwise(
        "v_and_b32 $0, 0xffff, $2\nv_lshrrev_b32 $1, 16, $2", "=&v,=&v,v", [scaled],
        dtype=(tl.int32, tl.int32), is_pure=True, pack=1,
    )  # fmt: skip
    tl.store(out + i, low)
    tl.store(out + BLOCK + i, high)


def test_registers(target):
    x, y = rng.integers(0, 1000, (2, 256)).astype(np.int32)
    out = np.zeros(512, np.int32)
    registers[(1,)](x, y, 77, out, BLOCK=256)
    expected = (x * 8 + y) * 77
    assert (out[:256] == expected & 0xFFFF).all() and (out[256:] == expected >> 16).all()


@tile.jit
def packed(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.inline_asm_elementwise(
        "v_pk_fma_f16 $0, $1, $2, $1", "=v,v,v", [tl.load(x + i), tl.load(y + i)],
        dtype=tl.float16, is_pure=True, pack=2,
    )  # fmt: skip
    tl.store(out + i, v)


def test_two_halves_share_a_register(target):
    x, y = rng.integers(-8, 8, (2, 512)).astype(np.float16)
    out = np.zeros_like(x)
    packed[(1,)](x, y, out, BLOCK=512)
    assert (out == x * y + x).all()


@tile.jit
def wide(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.inline_asm_elementwise(
        "v_lshlrev_b64 $0, 5, $1", "=v,v", [tl.load(x + i)], dtype=tl.int64, is_pure=True, pack=1
    )
    tl.store(out + i, v)


def test_pairs_of_registers(target):
    x = rng.integers(0, 1 << 40, 128)
    out = np.zeros_like(x)
    wide[(1,)](x, out, BLOCK=128)
    assert (out == x << 5).all()


@tile.jit
def wrong(x, CODE: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.inline_asm_elementwise(CODE, "=v,v", [tl.load(x + i)], tl.int32, is_pure=True, pack=1)
    tl.store(x + i, v)


def test_what_is_no_assembly_is_refused_at_its_line(target):
    x = np.zeros(64, np.int32)
    with pytest.raises(tile.CompilationError, match=r"mov\.b32") as caught:
        wrong[(1,)](x, CODE="mov.b32 $0, $1;")
    assert "v = tl.inline_asm_elementwise" in str(caught.value)
    kernel = wrong.warmup(x, CODE="v_not_b32 $0, $1 oops", grid=(1,))
    with pytest.raises(tile.CompilationError, match="oops") as caught:
        _ = kernel.asm["hsaco"]
    assert "v = tl.inline_asm_elementwise" in str(caught.value)


@tile.jit
def facts(times, numbers, n):
    before = hip.memrealtime()
    for k in range(n):
        tl.atomic_add(numbers, k)
    tl.store(times, before)
    tl.store(times + 1, hip.memrealtime())
    tl.store(numbers + 1, hip.smid())
    tl.store(numbers + 2, hip.num_threads() * 100 + hip.num_warps())


@pytest.mark.parametrize("way", ["compiled", "interpreted"])
def test_facts(target, way, monkeypatch):
    monkeypatch.setenv("TILE_INTERPRET", str(int(way == "interpreted")))
    times, numbers = np.zeros(2, np.int64), np.zeros(3, np.int32)
    facts[(1,)](times, numbers, 9, num_warps=2)
    width = 64 if target == "hip:gfx942" else 32
    assert 0 < times[0] < times[1] if way == "compiled" else times[0] <= times[1]
    assert numbers.tolist() == [36, 0, 200 * width + 2]


def test_the_code_assembles_everywhere():
    from tile.compiler import ASTSource

    source = ASTSource(facts, {"times": "*i64", "numbers": "*i32", "n": "i32"}, {})
    for target in tile._C.targets.known("hip"):
        on = tile.GPUTarget("hip", target.processor, target.wave_size)
        assert tile.compile(source, target=on).asm["hsaco"][:4] == b"\x7fELF"
