"""PTX under the compatibility switch: the same program, spelled as Triton spells it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compiler import ASTSource

SIGNATURE = {
    "x": "*fp32", "old": "*fp32", "count": "*i32", "SEM": "constexpr", "SCOPE": "constexpr",
}  # fmt: skip


@tile.jit
def atomic_kernel(x, old, count, SEM: tl.constexpr, SCOPE: tl.constexpr):
    offsets = tl.arange(0, 64)
    tl.store(old + offsets, tl.atomic_add(x + offsets, 1.0, sem=SEM, scope=SCOPE))
    tl.atomic_max(count + offsets, offsets, sem=SEM, scope=SCOPE)
    tl.atomic_cas(count + offsets, offsets, 5, sem=SEM, scope=SCOPE)


def compiled(sem: str, scope: str, stop_at: str):
    source = ASTSource(atomic_kernel, SIGNATURE, {"SEM": sem, "SCOPE": scope})
    return tile.compile(source, target=GPUTarget("cuda", 90, 32), stop_at=stop_at).asm


@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
def test_atomic_operations(sem, scope, monkeypatch):
    monkeypatch.delenv("TILE_COMPAT", raising=False)
    plain = compiled(sem, scope, "ptx")["ptx"]
    monkeypatch.setenv("TILE_COMPAT", "1")
    spelled = compiled(sem, scope, "ptx")["ptx"]
    assert f".global.{scope}.{sem}.add.f32" in spelled
    assert f"atom.global.{sem}.{scope}.cas.b32" in spelled
    assert spelled != plain
    words = [sorted(re.split(r"[.\s]", line)) for line in plain.splitlines()]
    assert words == [sorted(re.split(r"[.\s]", line)) for line in spelled.splitlines()]


@pytest.mark.parametrize("sem", ["relaxed", "acq_rel"])
def test_the_simulator_and_ptxas_read_it(sem, monkeypatch):
    monkeypatch.setenv("TILE_COMPAT", "1")
    x = np.random.default_rng(1).standard_normal(64).astype(np.float32)
    sums, old, count = x.copy(), np.full(64, 9e9, np.float32), np.full(64, -1, np.int32)
    atomic_kernel[(1,)](sums, old, count, sem, "gpu")
    assert (old == x).all() and (sums == x + 1).all() and (count == 5).all()
    if tile.compiler.make_backend(GPUTarget("cuda", 90, 32)).has_tools_for("cubin"):
        assert compiled(sem, "gpu", "cubin")["cubin"]
