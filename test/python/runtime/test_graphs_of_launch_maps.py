"""Kernels for which launches make tensor maps, in CUDA graphs: a graph keeps the maps of the launch
that it has captured. The GPU, or one whose kernels run in the simulator."""

from __future__ import annotations

import os

import numpy as np
import pytest
from fake_gpu.simulated import SimulatedGPU

import tile
import tile.language as tl
from tile import _C, knobs

ON_GPU = os.environ["TILE_DRIVER"] == "cuda"
B = 64


@tile.jit
def matmul(a_ptr, b_ptr, c_ptr, K, sa, sb, B: tl.constexpr):
    i, j = tl.arange(0, B)[:, None], tl.arange(0, B)[None, :]
    z = tl.program_id(0)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        a = tl.load(a_ptr + z * B * sa + i * sa + k + j, mask=k + j < K, other=0.0)
        b = tl.load(b_ptr + (k + i) * sb + j, mask=k + i < K, other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + z * B * B + i * B + j, acc)


class Operands:
    """The operands and the result of a matmul, with sizes of their own."""

    def __init__(self, seed: int, blocks: int, k: int) -> None:
        draw = np.random.default_rng(seed)
        self.a = draw.standard_normal((blocks * B, k)).astype(np.float16)
        self.b = draw.standard_normal((k, B)).astype(np.float16)
        self.c = np.full((blocks * B, B), np.nan, np.float32)

    def on(self, device) -> Operands:
        self.there = [device(x) for x in (self.a, self.b, self.c)]
        return self

    def launch(self):
        k = self.a.shape[1]
        return matmul[(len(self.a) // B,)](*self.there, k, k, B, B)

    def check(self, c: np.ndarray) -> None:
        wanted = self.a.astype(np.float64) @ self.b.astype(np.float64)
        np.testing.assert_allclose(c, wanted, rtol=1e-2, atol=0.1)


def makes_maps(kernel) -> bool:
    return any(m.get("code") for m in kernel._metadata["tensor_maps"])


@pytest.fixture(autouse=True)
def raised(monkeypatch):
    monkeypatch.setenv("TILE_RAISE_POINTERS", "1")


#: Operands of launches that follow one another: other addresses, sizes and numbers of programs.
SIZES = [(2, 128), (1, 192), (3, 128), (2, 320), (1, 64)]


@pytest.mark.skipif(not ON_GPU, reason="needs a GPU")
class TestOnGPU:
    @pytest.fixture(autouse=True)
    def torch(self, monkeypatch):
        torch = pytest.importorskip("torch")
        if torch.cuda.get_device_capability()[0] < 9:
            pytest.skip("needs a copy engine for tensors")
        monkeypatch.setattr(tile.JITFunction, "__getitem__", _C.launch.subscript)
        return torch

    def test_a_replay_reads_what_is_there(self, torch):
        """After other contents, and after launches of the same kernel with other arguments."""
        first, *others = [
            Operands(i, *size).on(lambda x: torch.from_numpy(x).cuda())
            for i, size in enumerate(SIZES)
        ]
        assert makes_maps(first.launch())
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            first.launch()
        for seed, other in enumerate(others):
            other.launch()
            again = Operands(100 + seed, *SIZES[0])
            first.there[0].copy_(torch.from_numpy(again.a))
            first.there[1].copy_(torch.from_numpy(again.b))
            first.there[2].fill_(float("nan"))
            graph.replay()
            again.check(first.there[2].cpu().numpy())
            other.check(other.there[2].cpu().numpy())

    def test_launches_by_graphs(self, torch, monkeypatch):
        """`TILE_GRAPH_LAUNCHES`: each launch has maps of its own."""
        monkeypatch.setattr(knobs.runtime, "graph_launches", True)
        kernel = tile.JITFunction(matmul.fn)
        monkeypatch.setitem(globals(), "matmul", kernel)
        for i, size in enumerate(2 * SIZES):
            operands = Operands(i, *size).on(lambda x: torch.from_numpy(x).cuda())
            assert makes_maps(operands.launch())
            operands.check(operands.there[2].cpu().numpy())


@pytest.mark.skipif(ON_GPU, reason="a GPU that is not there stands for one")
class TestSimulated:
    @pytest.fixture
    def gpu(self, built):
        with SimulatedGPU(*built) as fake:
            yield fake

    def test_a_replay_reads_what_is_there(self, gpu):
        first, *others = [Operands(i, *size).on(gpu.to_device) for i, size in enumerate(SIZES[:3])]
        assert makes_maps(first.launch())
        first.check(first.c)
        graph = gpu.capture(first.launch)
        for seed, other in enumerate(others):
            other.launch()
            other.check(other.c)
            again = Operands(100 + seed, *SIZES[0])
            first.a[:], first.b[:], first.c[:] = again.a, again.b, np.nan
            graph.replay()
            again.check(first.c)
        assert all(report.ok for report in gpu.reports)

    def test_launches_by_graphs(self, gpu, monkeypatch):
        monkeypatch.setattr(knobs.runtime, "graph_launches", True)
        kernel = tile.JITFunction(matmul.fn)
        monkeypatch.setitem(globals(), "matmul", kernel)
        before = gpu.counter("graph_launches")
        for i, size in enumerate(SIZES):
            operands = Operands(i, *size).on(gpu.to_device)
            assert makes_maps(operands.launch())
            operands.check(operands.c)
        assert gpu.counter("graph_launches") - before == len(SIZES)
