"""Dots that two blocks of a cluster multiply together: each has half of the rows, and half of the
columns of the right operand."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_cluster_copies import MULTICAST, attention
from test_matmul_sweep import KINDS
from test_matmul_sweep import run as multiply_by_pointers
from test_persistent_products import multiply as multiply_flattened
from test_tma import multiply

import tile
import tile.language as tl
from tile.backends import backends
from tile.errors import CompilerToolError
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only

PAIR = "tcgen05.mma.cta_group::2"
ALONE = "tcgen05.mma.cta_group::1"


@pytest.fixture(autouse=True)
def simulated(monkeypatch):
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:100")


def is_pair(kernel) -> bool:
    ptx = kernel.asm["ptx"]
    assert "mma.sync" not in ptx and (PAIR in ptx) != (ALONE in ptx)
    return PAIR in ptx


CASES = [
    *(("fp16", (ta, tb)) for ta in (0, 1) for tb in (0, 1)),
    *((name, (0, 1)) for name in ("tf32", "int8", "e4m3")), ("bf16", (0, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "transposed"), CASES)
@pytest.mark.parametrize("warps", [4, 8])
def test_types(name, transposed, warps):
    """Ragged in each dimension, several tiles for a program."""
    bk = {2: 64, 4: 32, 1: 128}[np.dtype(KINDS[name][0]).itemsize]
    tiles, sizes = (256, 128, bk), (272, 144, 2 * bk + 16)
    turned = tuple(map(bool, transposed))
    kernel = multiply(name, sizes, tiles, turned, num_warps=warps, num_stages=3, num_ctas=2)
    assert is_pair(kernel) and MULTICAST not in kernel.asm["ptx"].replace(
        "shared::cluster.multicast::cluster.b64", ""
    )


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_stages(stages, steps):
    assert is_pair(
        multiply("fp16", (256, 128, 64 * steps), (256, 128, 64), num_stages=stages, num_ctas=2)
    )


@pytest.mark.parametrize(
    ("tiles", "warps"), [((256, 256, 64), 4), ((256, 256, 32), 8), ((512, 128, 32), 8)]
)
def test_tiles(tiles, warps):
    bm, bn, bk = tiles
    sizes = (bm + 16, bn + 48, 2 * bk + 16)
    assert is_pair(multiply("bf16", sizes, tiles, num_warps=warps, num_stages=2, num_ctas=2))


@pytest.mark.parametrize("transposed", [(False, False), (True, True)])
@pytest.mark.parametrize("name", ["fp16", "e4m3"])
@pytest.mark.parametrize("stages", [1, 3])
def test_pointers(name, transposed, stages, monkeypatch):
    """Threads of both blocks copy what the dots read."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    multiply_by_pointers(
        name, (300, 140, 200), (256, 128, 64), transposed, num_stages=stages, num_warps=8,
        num_ctas=2,
    )  # fmt: skip


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize("warps", [4, 8])
def test_any_order(stages, warps, monkeypatch):
    """Copies and dots that complete as late as they may, blocks that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    kernel = multiply(
        "fp16", (520, 136, 200), (256, 128, 64), programs=1, num_warps=warps, num_stages=stages,
        num_ctas=2,
    )  # fmt: skip
    assert is_pair(kernel)


@pytest.mark.parametrize("programs", [1, 2])
def test_flattened(programs, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    kernel = multiply_flattened(
        "fp16", (520, 136, 192), (256, 128, 64), programs, num_stages=3, num_ctas=2
    )
    assert is_pair(kernel)


@pytest.mark.parametrize(("warps", "stages"), [(4, 2), (8, 3)])
def test_attention(warps, stages, monkeypatch):
    """The weights of a block are in its tensor memory, half of the keys and values in its shared
    memory."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    d, bm, bn, length = 128, 256, 128, 512
    q, k, v = (random((length, d), "fp16", seed) / 4 for seed in range(3))
    out = poisoned((d, length), "fp16")
    blocks = ((q, [bm, d]), (k, [bn, d]), (v, [bn, d]), (out, [d, bm]))
    kernel = attention[(length // bm,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), length, d, bm, bn,
        num_warps=warps, num_stages=stages, num_ctas=2,
    )  # fmt: skip
    assert is_pair(kernel)
    wide = [x.astype(np.float64) for x in (q, k, v)]
    weights = np.exp2(wide[0] @ wide[1].T)
    expected = (weights / weights.sum(1, keepdims=True)) @ wide[2]
    np.testing.assert_allclose(out.T.astype(np.float64), expected, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("seed", range(10))
def test_random_configurations(seed, monkeypatch):
    """Whatever is chosen, blocks and tensor cores agree on it."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    chance = np.random.default_rng(seed)
    name = chance.choice(["fp16", "bf16", "tf32", "int8", "e4m3", "e5m2"])
    size = np.dtype(KINDS[name][0]).itemsize
    bm, bn = chance.choice([(256, 64), (256, 128), (512, 64), (512, 128)])
    bk = chance.choice([64, 128]) // size
    turned = tuple(bool(t) for t in chance.integers(0, 2, 2))
    sizes = [int(chance.integers(1, 2 * extent)) for extent in (bm, bn)]
    multiply(
        name, (*sizes, int(chance.integers(1, 4 * bk))), (int(bm), int(bn), int(bk)), turned,
        programs=int(chance.integers(1, 3)), num_warps=int(chance.choice([4, 8])),
        num_stages=int(chance.integers(1, 5)), num_ctas=2,
    )  # fmt: skip


@tile.jit
def once(a_ptr, b_ptr, c_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + rows[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + columns[None, :]).to(tl.float16)
    at = rows[:, None] * N + columns[None, :]
    acc = tl.dot(a, b, tl.load(c_ptr + at))
    tl.store(out_ptr + at, tl.dot(a, b, acc))


def test_no_loop(monkeypatch):
    """A sum that starts from something, an operand that threads convert, no loop."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    m, n, k = 256, 128, 64
    a, b = random((m, k), "fp16", 1), random((k, n), "i8", 2) % 4
    c, out = random((m, n), "fp32", 3), poisoned((m, n), "fp32")
    kernel = once[(1,)](a, b.astype(np.int8), c, out, m, n, k, num_ctas=2)
    assert is_pair(kernel)
    expected = c + 2 * (a.astype(np.float64) @ b.astype(np.float64))
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(
    ("tiles", "why"),
    [
        ((128, 128, 64), "each block has fewer than 128 rows"),
        ((256, 64, 64), "half of a row of its right operand is no multiple of 128 bytes"),
        ((256, 128, 16), "a pair would take 256 cycles for it, and one block alone 128"),
    ],
)
def test_why_not(tiles, why, monkeypatch, capfd):
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "plan-block-pairs-nv")
    bm, bn, bk = tiles
    kernel = multiply("fp16", (bm, bn, 2 * bk), tiles, num_stages=2, num_ctas=2)
    assert not is_pair(kernel) and why in capfd.readouterr().err


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"])
def test_machine_code(target, monkeypatch):
    """ptxas assembles it, and pairs are in the instructions."""
    tools = sys.modules[backends()["nvidia"].__module__].tools
    if tools.ptxas_path() is None:
        pytest.skip("needs ptxas")
    monkeypatch.setenv("TILE_SIM_TARGET", target)
    kernel = multiply("fp16", (256, 128, 64), (256, 128, 64), num_ctas=2)
    assert is_pair(kernel) and kernel.asm["cubin"][:4] == b"\x7fELF"
    try:
        assert re.search(r"UTC\w*MMA\S*2CTA", kernel.asm["sass"])
    except CompilerToolError:
        pytest.skip("needs nvdisasm")


MISTAKES = {
    "the blocks do not meet before a dot": (
        r"barrier\.cluster\.arrive\.aligned;\s*barrier\.cluster\.wait\.aligned;"
        r"(?=(?:(?!barrier\.cluster)[\s\S])*?tcgen05\.mma)",
        "bar.sync 0;",
    ),
    "one block alone hears of the end": (
        r"(tcgen05\.commit\S*)\.multicast::cluster(\.b64 \[\S+\]), \S+;",
        r"\1\2;",
    ),
}


@pytest.mark.parametrize("mistake", list(MISTAKES))
@pytest.mark.parametrize("stages", [1, 3])
def test_planted_mistakes(mistake, stages):
    """The simulator finds what goes wrong without a part of the protocol."""
    pattern, instead = MISTAKES[mistake]

    def edited(text: str) -> str:
        text, count = re.subn(pattern, instead, text)
        assert count >= 1
        return text

    def hook(backend=None, stages=None, options=None, language=None, arch=None):
        if stages is None:
            return mistake
        make = stages["ptx"]
        stages["ptx"] = lambda source, metadata: edited(make(source, metadata))
        return None

    # What was compiled without the mistake is not compiled again.
    bn = 128 if mistake.startswith("one") else 256
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        with pytest.raises(tile.sim.SimulationError):
            multiply("fp16", (256, bn, 264), (256, bn, 64), num_stages=stages, num_ctas=2)
