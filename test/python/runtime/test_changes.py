"""What changes behind the back of compiled kernels."""

from __future__ import annotations

import pytest
from reference import sim_only

import tile
import tile.language as tl

pytestmark = sim_only


def test_a_global_that_changes(gpu):
    namespace = {"tile": tile, "tl": tl, "N": tl.constexpr(4)}
    text = "@tile.jit\ndef inner(p):\n    tl.store(p, N)\n@tile.jit\ndef kernel(p):\n    inner(p)\n"
    import linecache

    linecache.cache["<globals>"] = (len(text), None, text.splitlines(True), "<globals>")
    exec(compile(text, "<globals>", "exec"), namespace)
    kernel, p = namespace["kernel"], gpu.tensor(0x1000, tl.int32)
    kernel[(1,)](p)
    namespace["N"] = tl.constexpr(4)  # The same: nothing to complain about.
    kernel[(1,)](p)
    namespace["N"] = tl.constexpr(5)
    with pytest.raises(tile.TileError, match=r"the global variable `N`: N has changed .* to .*5"):
        kernel[(1,)](p)


class Config:
    N = 4


@tile.jit
def configured(p):
    tl.store(p, Config.N)


def test_an_attribute_that_changes(gpu, monkeypatch):
    p = gpu.tensor(0x1000, tl.int32)
    for _ in range(3):
        configured[(1,)](p)
    with monkeypatch.context() as patch:
        patch.setattr(Config, "N", 5)
        with pytest.raises(tile.TileError, match=r"`Config.N`: Config.N has changed since .* to 5"):
            configured[(1,)](p)
    configured[(1,)](p)


def test_a_closure_that_changes(gpu):
    n = tl.constexpr(4)

    @tile.jit
    def kernel(p):
        tl.store(p, n)

    p = gpu.tensor(0x1000, tl.int32)
    for _ in range(3):
        kernel[(1,)](p)
    n = tl.constexpr(5)
    with pytest.raises(
        tile.TileError, match=r"the variable `n` of the function around it: n has .* to .*5"
    ):
        kernel[(1,)](p)


def test_references_cost_no_python(gpu, monkeypatch):
    p = gpu.tensor(0x1000, tl.int32)
    configured[(1,)](p)
    monkeypatch.setattr(type(configured.launcher()), "run", None)
    for _ in range(3):
        configured[(1,)](p)
