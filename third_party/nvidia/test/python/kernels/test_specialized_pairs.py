"""Loops over tiles whose dots two blocks multiply together.

Each block has warps that copy. One warp of the first block starts the dots of both. Threads of both
blocks store their rows.
"""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from test_block_pairs import is_pair
from test_matmul_sweep import KINDS
from test_persistent_products import multiply as multiply_flattened
from test_specialized_loops import multiply as multiply_by_pointers
from test_specialized_loops import multiply_by_descriptors
from test_specialized_tensor_memory import partitions, sums
from test_tma import multiply

import tile
import tile.language as tl
from tile.backends import backends
from tile.tools.tensor_descriptor import TensorDescriptor

#: An H100 or H200 has none of this.
pytestmark = sim_only


@pytest.fixture(autouse=True)
def target(request, monkeypatch) -> None:
    monkeypatch.setenv("TILE_DRIVER", "sim")
    monkeypatch.setenv("TILE_SIM_TARGET", getattr(request, "param", "cuda:100"))


def check(kernel, copies: int = 1) -> None:
    """One thread of a pair starts dots. Copies of both blocks arrive where it waits."""
    assert is_pair(kernel) and partitions(kernel) == [copies, 1]
    assert "cta_group::2.shared::cluster.global" in kernel.asm["ptx"]


CASES = [
    *(("fp16", (ta, tb)) for ta in (0, 1) for tb in (0, 1)),
    *((name, (0, 1)) for name in ("tf32", "int8", "e4m3")), ("bf16", (0, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "transposed"), CASES)
@pytest.mark.parametrize("warps", [4, 8])
def test_types(name, transposed, warps):
    """Ragged in each dimension, several tiles for a program."""
    bk = {2: 64, 4: 32, 1: 128}[np.dtype(KINDS[name][0]).itemsize]
    kernel = multiply(
        name, (528, 144, 2 * bk + 16), (256, 128, bk), tuple(map(bool, transposed)), programs=2,
        num_warps=warps, num_stages=3, num_ctas=2,
    )  # fmt: skip
    check(kernel)
    assert sums(kernel) == [2]


@pytest.mark.parametrize("target", ["cuda:103", "cuda:110"], indirect=True)
def test_targets(target):
    check(multiply("fp16", (272, 144, 80), (256, 128, 64), num_ctas=2))


@pytest.mark.parametrize("steps", [0, 1, 3])
@pytest.mark.parametrize("programs", [1, 3, 9])
def test_tiles_of_any_length(steps, programs):
    """Tiles without dots, and more programs than tiles, too."""
    multiply("fp16", (528, 144, 64 * steps), (256, 128, 64), programs=programs, num_ctas=2)


@pytest.mark.parametrize("run", [multiply, multiply_flattened])
@pytest.mark.parametrize(("warps", "stages"), [(4, 2), (8, 3)])
def test_any_order(run, warps, stages, monkeypatch):
    """Copies and dots that complete as late as they may, blocks that run far ahead: one result."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
    kernel = run(
        "fp16", (520, 136, 200), (256, 128, 64), programs=1, num_warps=warps, num_stages=stages,
        num_ctas=2,
    )  # fmt: skip
    check(kernel)


@pytest.mark.parametrize(
    ("tiles", "warps", "expected"),
    [((256, 256, 64), 4, 2), ((256, 256, 32), 8, 2), ((512, 128, 64), 8, 2)],
)
def test_sizes(tiles, warps, expected):
    bm, bn, bk = tiles
    kernel = multiply_by_descriptors(
        "bf16", (bm + 16, bn + 48, 2 * bk + 16), tiles, programs=1, num_warps=warps, num_stages=2,
        num_ctas=2,
    )  # fmt: skip
    check(kernel)
    assert sums(kernel) == [expected]


@pytest.mark.parametrize("flatten", [False, True])
def test_who_asks(flatten, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "3")
    check(
        multiply_by_descriptors(
            "fp16", (400, 144, 80), (256, 128, 64), False, flatten, num_stages=3, num_ctas=2
        )
    )


def test_who_does_not_want_it():
    sizes = (272, 144, 80), (256, 128, 64)
    kernel = multiply("fp16", *sizes, specialize_warps=False, num_ctas=2)
    assert is_pair(kernel) and partitions(kernel) == []


@tile.jit
def one_loop(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Threads start the dots here, and other warps copy."""
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, K, BK, warp_specialize=True):
        acc = tl.dot(a.load([i, k]), b.load([k, j]), acc)
    c.store([i, j], acc)


@tile.jit
def continued(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The sum goes on from tile to tile."""
    acc = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, 2, warp_specialize=True):
        for k in range(i * BK, K, 2 * BK):
            acc = tl.dot(a.load([0, k]), b.load([k, 0]), acc)
    c.store([0, 0], acc)


@pytest.mark.parametrize("kernel", [one_loop, continued])
@pytest.mark.parametrize("stages", [1, 3])
def test_dots_that_stay_with_the_threads(kernel, stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "6")
    m, n, k = 256, 128, 64 * 5
    a, b, out = random((m, k), "fp16", 1), random((k, n), "fp16", 2), poisoned((m, n), "fp32")
    blocks = ((a, [m, 64]), (b, [64, n]), (out, [m, n]))
    compiled = kernel[(1, 1)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), k, m, n, 64,
        num_stages=stages, num_ctas=2,
    )  # fmt: skip
    assert is_pair(compiled) and partitions(compiled) == [1]
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=0.1)


@tile.jit
def gated(a, b, c, out, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Two sums of a tile, and a tile of numbers that threads add."""
    columns = tl.cdiv(N, BN)
    for t in tl.range(
        tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0), warp_specialize=True
    ):
        i, j = t // columns * BM, t % columns * BN
        acc, gate = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = a.load([i, k])
            acc = tl.dot(x, b.load([k, j]), acc)
            gate = tl.dot(x, c.load([k, j]), gate)
        out.store([i, j], tl.where(gate > 0, acc, acc * 0.25))


@pytest.mark.parametrize("stages", [2, 3])
def test_two_sums(stages, monkeypatch):
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    m, n, k = 600, 200, 136
    a, b, c = (random(s, "fp16", i) for i, s in enumerate(((m, k), (k, n), (k, n)), 1))
    out = poisoned((m, n), "fp32")
    blocks = ((a, [256, 64]), (b, [64, 128]), (c, [64, 128]), (out, [256, 128]))
    kernel = gated[(2,)](
        *(TensorDescriptor.from_tensor(x, block) for x, block in blocks), m, n, k, 256, 128, 64,
        num_stages=stages, num_warps=8, num_ctas=2,
    )  # fmt: skip
    check(kernel)
    wide = [x.astype(np.float64) for x in (a, b, c)]
    gate, sums_ = wide[0] @ wide[2], wide[0] @ wide[1]
    sure = np.abs(gate) > 1e-2
    expected = np.where(gate > 0, sums_, sums_ / 4)
    np.testing.assert_allclose(out[sure], expected[sure], rtol=1e-3, atol=0.05)


@pytest.mark.parametrize("seed", range(10))
def test_random_configurations(seed, monkeypatch):
    """Whatever is chosen, blocks, warps and tensor cores agree on it."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "2")
    chance = np.random.default_rng(1000 + seed)
    name = chance.choice(["fp16", "bf16", "tf32", "int8", "e4m3", "e5m2"])
    size = np.dtype(KINDS[name][0]).itemsize
    bm, bn = chance.choice([(256, 64), (256, 128), (512, 64), (512, 128)])
    bk = chance.choice([64, 128]) // size
    sizes = [int(chance.integers(1, 3 * extent)) for extent in (bm, bn)]
    run = chance.choice([multiply, multiply_by_descriptors])
    run(
        name, (*sizes, int(chance.integers(1, 4 * bk))), (int(bm), int(bn), int(bk)),
        **({} if run is multiply_by_descriptors else {"programs": int(chance.integers(1, 3))}),
        num_warps=int(chance.choice([4, 8])), num_stages=int(chance.integers(1, 5)), num_ctas=2,
    )  # fmt: skip


@pytest.mark.parametrize("stages", [2, 5])
@pytest.mark.parametrize("sizes", [(528, 144, 104), (256, 128, 32), (1, 8, 8)])
def test_short_dots(sizes, stages, monkeypatch):
    """Too short for a barrier of the cluster in front of each. Warps that copy need none."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "4")
    kernel = multiply_by_descriptors(
        "fp16", sizes, (256, 128, 32), flatten=False, num_stages=stages, num_ctas=2
    )
    check(kernel)


def test_pointers_of_a_pair(monkeypatch, capfd):
    """Threads that copy cannot arrive in the other block: the loop stays as it is, and says so."""
    monkeypatch.setenv("MLIR_ENABLE_REMARK", "tritongpu-partition-scheduling")
    kernel = multiply_by_pointers(
        "fp16", (272, 144, 80), (256, 128, 64), num_warps=8, num_stages=2, num_ctas=2
    )
    assert is_pair(kernel) and partitions(kernel) == []
    assert "other warps of a cluster load through descriptors alone" in capfd.readouterr().err


@pytest.mark.parametrize("target", ["cuda:100", "cuda:103", "cuda:110"], indirect=True)
def test_machine_code(target):
    """ptxas assembles it."""
    tools = sys.modules[backends()["nvidia"].__module__].tools
    if tools.ptxas_path() is None:
        pytest.skip("needs ptxas")
    kernel = multiply("fp16", (256, 128, 64), (256, 128, 64), num_ctas=2)
    check(kernel)
    assert kernel.asm["cubin"][:4] == b"\x7fELF"


MISTAKES = {
    "copies of the second block arrive at home": (
        r"(mapa\.shared::cluster\.u32 %r\d+, %r\d+, )%r\d+;(?=[\s\S]{0,2000}?cp\.async\.bulk)",
        r"\1 %cluster_ctarank;",
    ),
    "one block alone hears of the end": (
        r"(tcgen05\.commit\S*)\.multicast::cluster(\.b64 \[\S+\]), \S+;",
        r"\1\2;",
    ),
    "sums are handed back to the own block": (
        r"mapa\.shared::cluster\.u32 there, (\S+), \S+; mbarrier\.arrive\.release",
        r"mapa.shared::cluster.u32 there, \1, %cluster_ctarank; mbarrier.arrive.release",
    ),
    "the blocks do not meet at the end": (
        r"@%p\d+ mbarrier\.arrive\.shared::cluster\.b64 _, \[there\][^;]*;",
        "",
    ),
}


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_planted_mistakes(mistake, monkeypatch):
    """The simulator finds what goes wrong without a part of the protocol."""
    monkeypatch.setenv("TILE_SIM_SCHEDULES", "8")
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
    with tile.knobs.runtime.scope():
        tile.knobs.runtime.add_stages_inspection_hook = hook
        with pytest.raises(tile.sim.SimulationError):
            multiply("fp16", (520, 264, 264), (256, 128, 64), programs=1, num_stages=2, num_ctas=2)
