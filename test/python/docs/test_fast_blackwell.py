"""What the page about Blackwell says of the code that is made."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from pages import DOCS
from reference import sim_only

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compiler import ASTSource

pytestmark = sim_only

PAGE = (DOCS / "howto" / "fast-blackwell.md").read_text()
TARGETS = (100, 120)
ROWS = re.findall(
    r"^\| (\d+)x(\d+)x(\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", PAGE, re.M
)


@tile.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (start + k)[None, :])
        y = tl.load(b + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


def compiled(target: int, blocks, warps: int, stages: int):
    aligned = {(i,): [["tt.divisibility", 16]] for i in (0, 1, 2, 4, 5)}
    types = dict.fromkeys("abc", "*fp16") | dict.fromkeys("MNK", "i32")
    source = ASTSource(matmul, types, dict(zip(("BM", "BN", "BK"), blocks, strict=True)), aligned)
    options = {"num_warps": warps, "num_stages": stages}
    return tile.compile(source, target=GPUTarget("cuda", target, 32), options=options)


@pytest.mark.parametrize("target", TARGETS)
def test_matmuls_take_what_the_table_says(target):
    assert len(ROWS) == 4
    for row in ROWS:
        *blocks, warps, stages, shared_100, shared_120, on_100, on_120 = map(int, row)
        kernel = compiled(target, blocks, warps, stages)
        assert kernel.metadata.shared == (shared_100 if target == 100 else shared_120)
        ptx = kernel.asm["ptx"]
        assert "cp.async.cg" in ptx and "wgmma" not in ptx
        assert ("tcgen05.mma" in ptx, "mma.sync" in ptx) == (target == 100, target == 120)
        if kernel.asm.get("cubin"):  # Where ptxas is installed; its versions differ a little.
            expected = on_100 if target == 100 else on_120
            assert abs(kernel.n_regs - expected) <= 8 and kernel.n_spills == 0


@tile.jit
def scaled(a, scale, out):
    i, j = tl.arange(0, 128)[:, None], tl.arange(0, 128)[None, :]
    x = tl.load(a + i * 128 + j)
    s = tl.load(scale + i * 4 + tl.arange(0, 4)[None, :])
    tl.store(out + i * 128 + j, tl.dot_scaled(x, s, "e4m3", x, s, "e4m3"))


@pytest.mark.parametrize(("target", "what"), [(100, "tcgen05.mma"), (120, "mma.sync")])
def test_scaled_matmuls_have_an_instruction(target, what):
    types = {"a": "*fp8e4nv", "scale": "*u8", "out": "*fp32"}
    source = ASTSource(scaled, types, {})
    ptx = tile.compile(source, target=GPUTarget("cuda", target, 32)).asm["ptx"]
    assert any(what in line and "block_scale" in line for line in ptx.splitlines())


def aligned(count: int) -> np.ndarray:
    held = np.zeros(count * 4 + 64, np.uint8)
    start = -held.ctypes.data % 64
    return held[start : start + count * 4].view(np.float32)


def test_accesses_of_32_bytes_want_a_promise(tmp_path, monkeypatch):
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)
    path = tmp_path / "copy.py"
    path.write_text("import tile\nimport tile.language as tl\n\n\n" + code)
    names = {"__name__": "copy", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec"), names)
    kernel = SimpleNamespace(**names).copy
    x, out = aligned(4096), aligned(4096)
    x[:] = np.arange(4096)
    for target, access in (("cuda:90", "ld.global.v4.b32"), ("cuda:100", "ld.global.v4.b64")):
        monkeypatch.setenv("TILE_SIM_TARGET", target)
        out[:] = 0
        assert access in kernel[(2,)](x, out, BLOCK=2048).asm["ptx"]
        np.testing.assert_array_equal(out, x)


def test_limits_of_shared_memory():
    from tile._C import targets

    sizes = {t: targets.lookup(f"cuda:{t}").max_shared_memory for t in (90, 100, 103, 120, 121)}
    assert sizes == {90: 232448, 100: 232448, 103: 232448, 120: 101376, 121: 101376}
    assert "227 KB" in PAGE and "99 KB" in PAGE
