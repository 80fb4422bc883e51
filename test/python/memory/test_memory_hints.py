"""Hints about memory: what they become, and that no value changes."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from frontend import refusal

import tile
import tile.language as tl

pytestmark = [pytest.mark.both_ways, pytest.mark.every_target]

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "memory-hints.md"


@tile.jit
def asks(x_ptr, out_ptr, n, MASKED: tl.constexpr):
    i = tl.arange(0, 64)
    total = tl.zeros([64], tl.float32)
    for k in range(n):
        # Beyond the end of the array, too: nothing is accessed.
        if MASKED:
            tl.prefetch(x_ptr + (k + 8) * 64 + i * 1024, mask=i < k)
        else:
            tl.prefetch(x_ptr + (k + 8) * 64 + i * 1024)
        tl.prefetch(x_ptr + k)
        total += tl.load(x_ptr + k * 64 + i)
    tl.store(out_ptr + i, total)


@pytest.mark.parametrize("masked", [False, True])
def test_values_stay(masked):
    x = np.random.default_rng(1).integers(-9, 9, (7, 64)).astype(np.float32)
    out = np.full(64, np.nan, np.float32)
    asks[(1,)](x, out, 7, MASKED=masked)
    np.testing.assert_array_equal(out, x.sum(0))


@tile.jit
def product(a_ptr, b_ptr, c_ptr, K, ASK: tl.constexpr):
    r = tl.arange(0, 64)
    acc = tl.zeros([64, 64], tl.float32)
    for k in range(0, K, 64):
        a = tl.load(a_ptr + r[:, None] * K + k + r[None, :])
        b = tl.load(b_ptr + (k + r[:, None]) * 64 + r[None, :])
        if ASK:
            tl.prefetch(a_ptr + r * K + k + 512, mask=r < 60)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + r[:, None] * 64 + r[None, :], acc)


def compiled(ask: bool, target: tile.GPUTarget):
    signature = {
        "a_ptr": "*fp16",
        "b_ptr": "*fp16",
        "c_ptr": "*fp32",
        "K": "i32",
        "ASK": "constexpr",
    }
    facts = {n: {"tt.divisibility": 16} for n in ("a_ptr", "b_ptr", "c_ptr", "K")}
    source = tile.compiler.ASTSource(product, signature, {"ASK": ask}, facts)
    return tile.compile(source, target)


@pytest.mark.compiled
@pytest.mark.nvidia("looks at PTX")
@pytest.mark.parametrize("arch", [80, 90])
def test_loads_of_later_iterations_still_begin_early(arch):
    texts = [compiled(ask, tile.GPUTarget("cuda", arch, 32)).asm["ptx"] for ask in (False, True)]
    copies = [text.count("cp.async.c") for text in texts]
    assert copies[0] == copies[1] > 0
    assert [text.count("prefetch.global.L2") for text in texts] == [0, 1]


@pytest.mark.compiled
@pytest.mark.parametrize("gpu", [("gfx942", 64), ("gfx1100", 32)])
def test_a_remark_says_once_what_a_target_lacks(gpu, monkeypatch, capfd):
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "front-end")
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    compiled(True, tile.GPUTarget("hip", *gpu))
    said = capfd.readouterr().err
    assert said.count("no-prefetch: this GPU has no instruction that asks for memory") == 1
    assert "tl.prefetch(a_ptr + r * K" in said


@tile.jit
def blocks(x_ptr, out_ptr, CACHE: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [64, 64], [64, 1], [16, 16])
    value = x.load([16, 32], eviction_policy="evict_last", cache_modifier=CACHE)
    r = tl.arange(0, 16)
    tl.store(out_ptr + r[:, None] * 16 + r[None, :], value)


@pytest.mark.parametrize("cache", ["", ".ca", ".cg", ".cs"])
def test_hints_of_descriptors(cache, machine):
    x = np.random.default_rng(2).random((64, 64)).astype(np.float32)
    out = np.zeros((16, 16), np.float32)
    kernel = blocks[(1,)](x, out, CACHE=cache)
    np.testing.assert_array_equal(out, x[16:32, 32:48])
    if machine == "compiled" and tile.runtime.driver.active.get_current_target().arch == 80:
        wanted = rf"ld\.global{re.escape(cache)}" if cache else r"L1::evict_last\.L2::cache_hint"
        assert re.search(wanted, kernel.asm["ptx"])


#: What an atomic operation of each kind becomes in PTX, with a place for the hint.
ATOMICS = {
    "add": r"\.add{hint}\.u32",
    "xchg": r"\.exch{hint}\.b32",
    "and": r"\.and{hint}\.b32",
    "or": r"\.or{hint}\.b32",
    "xor": r"\.xor{hint}\.b32",
    "max": r"\.max{hint}\.s32",
    "min": r"\.min{hint}\.s32",
    "cas": r"\.cas{hint}\.b32",
    "float": r"\.add{hint}(\.v\d)?\.f32",
    "half": r"\.add\.noftz{hint}(\.v\d)?\.f16",
}


@tile.jit
def atomics(p, out_ptr, KIND: tl.constexpr, POLICY: tl.constexpr, USED: tl.constexpr):
    i = tl.arange(0, 256)
    if KIND == "add" or KIND == "float" or KIND == "half":
        old = tl.atomic_add(p + i, i, eviction_policy=POLICY, sem="relaxed")
    elif KIND == "xchg":
        old = tl.atomic_xchg(p + i, i, eviction_policy=POLICY)
    elif KIND == "and":
        old = tl.atomic_and(p + i, i, eviction_policy=POLICY)
    elif KIND == "or":
        old = tl.atomic_or(p + i, i, eviction_policy=POLICY)
    elif KIND == "xor":
        old = tl.atomic_xor(p + i, i, eviction_policy=POLICY)
    elif KIND == "max":
        old = tl.atomic_max(p + i, i, eviction_policy=POLICY)
    elif KIND == "min":
        old = tl.atomic_min(p + i, i, eviction_policy=POLICY)
    else:
        old = tl.atomic_cas(p + i, i * 0 + 100, i, eviction_policy=POLICY)
    if USED:
        tl.store(out_ptr + i, old)


UPDATES = {
    "add": np.add, "xchg": lambda old, i: i, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "max": np.maximum, "min": np.minimum,
    "cas": lambda old, i: np.where(old == 100, i, old), "float": np.add, "half": np.add,
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("kind", ATOMICS)
def test_hints_of_atomic_operations(kind, used, machine):
    dtype = {"float": np.float32, "half": np.float16}.get(kind, np.int32)
    i = np.arange(256).astype(dtype)
    for policy in ("", "evict_first", "evict_last"):
        p = np.full(256, 100, dtype)
        out = np.full(256, -1, dtype)
        kernel = atomics[(1,)](p, out, KIND=kind, POLICY=policy, USED=used)
        np.testing.assert_array_equal(p, UPDATES[kind](np.full(256, 100, dtype), i))
        if used:
            assert (out == 100).all()
        if machine != "compiled" or "ptx" not in kernel.asm:
            continue
        target = tile.runtime.driver.active.get_current_target()
        obeys = policy and target.arch >= 80 and kind != "cas"  # PTX has no such hint on cas.
        hint = r"\.L2::cache_hint" if obeys else ""
        assert re.search(ATOMICS[kind].replace("{hint}", hint), kernel.asm["ptx"])
        policies = re.findall(r"createpolicy\.fractional\.L2::(\w+)", kernel.asm["ptx"])
        assert set(policies) == ({policy} if hint else set())


@tile.jit
def updated_blocks(x_ptr, POLICY: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [64, 64], [64, 1], [16, 32])
    x.store([16, 32], tl.full([16, 32], 3.0, tl.float32), eviction_policy=POLICY)
    x.atomic_add([32, 32], tl.full([16, 32], 2.0, tl.float32), eviction_policy=POLICY)


@pytest.mark.parametrize("policy", ["", "evict_first", "evict_last"])
def test_hints_of_stores_by_descriptors(policy, machine):
    x = np.ones((64, 64), np.float32)
    kernel = updated_blocks[(1,)](x, POLICY=policy)
    want = np.ones((64, 64), np.float32)
    want[16:32, 32:], want[32:48, 32:] = 3, 3
    np.testing.assert_array_equal(x, want)
    if machine == "compiled" and "ptx" in kernel.asm:
        target = tile.runtime.driver.active.get_current_target()
        lines = [
            line for line in kernel.asm["ptx"].splitlines()
            if re.search(r"st\.global|red\.|cp\.(reduce\.)?async\.bulk\.tensor", line)
        ]  # fmt: skip
        assert lines
        for line in lines:
            assert ("cache_hint" in line) == bool(policy and target.arch >= 80), line


@tile.jit
def every_access(p, q, VOID: tl.constexpr):
    i = tl.arange(0, 64)
    tl.store(q + i, tl.load(p + i, cache_modifier=".cg", eviction_policy="evict_last"))
    tl.store(q + i, tl.load(p + i, eviction_policy="evict_last"), cache_modifier=".wb")
    tl.atomic_add(q + i, 1, eviction_policy="evict_first")
    tl.atomic_add(q + i, 1, eviction_policy="evict_first")
    tl.atomic_cas(q + i, 1, 2, eviction_policy="evict_first")


@pytest.mark.compiled
@pytest.mark.parametrize("gpu", [("hip", "gfx942", 64), ("hip", "gfx1100", 32), ("cuda", 75, 32)])
def test_hints_without_effect_are_remarks(gpu, monkeypatch, capfd):
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "front-end")
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    signature = {"p": "*i32", "q": "*i32", "VOID": "constexpr"}
    source = tile.compiler.ASTSource(every_access, signature, {"VOID": 0})
    tile.compile(source, tile.GPUTarget(*gpu))
    said = re.findall(r"hint-without-effect: (.* GPU)", capfd.readouterr().err)
    if gpu[0] == "cuda":
        assert said == [
            f"'evict_first' on {what} has no effect on this GPU"
            for what in ("an atomic operation", "a compare-and-swap")
        ]
    else:
        assert said == [
            f"'{hint}' on {what} has no effect on this GPU"
            for hint, what in (
                (".cg", "a load"), ("evict_last", "a load"), (".wb", "a store"),
                ("evict_first", "an atomic operation"), ("evict_first", "a compare-and-swap"),
            )
        ]  # fmt: skip


@tile.jit
def wrong(p, n, CASE: tl.constexpr):
    if CASE == "number":
        tl.prefetch(n)
    elif CASE == "mask":
        tl.prefetch(p, mask=tl.arange(0, 4) < n)
    elif CASE == "condition":
        tl.prefetch(p, mask=n)
    else:
        tl.prefetch(tl.make_block_ptr(p, [8], [1], [0], [2], [0]))


REFUSED = {
    "number": "prefetch takes a pointer or a block of pointers, not int32",
    "mask": "prefetch has a scalar pointer, but a block as mask",
    "condition": "the mask must be a condition (int1), not int32; compare it with something",
    "block": "prefetch takes pointers, not a block pointer",
}


@pytest.mark.compiled
@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    assert REFUSED[case] in str(refusal(wrong, {"p": "*fp32", "n": "i32"}, {"CASE": case}))


def test_the_program_of_the_page(tmp_path):
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    file = tmp_path / "program.py"
    file.write_text(code)
    runpy.run_path(str(file))
