"""The kernels of examples/multi_gpu.py on several GPUs, checked, and beside NCCL.

    TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NCCL_NVLS_ENABLE=0 \
        torchrun --standalone --nproc-per-node 2 bench/multi_gpu.py [--quick]

Prints a line of JSON for each row. Memory is torch's symmetric memory. A time is the longest of all
ranks' medians; each launch begins together on all of them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric

import tile

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))
from multi_gpu import all_to_all, gather_matmul, one_shot_all_reduce, two_shot_all_reduce

Run = Callable[[], object]


class Rank:
    """This process: its GPU, and memory that all ranks reach."""

    def __init__(self) -> None:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        self.device = torch.device("cuda", torch.cuda.current_device())
        dist.init_process_group("nccl", device_id=self.device)
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.together = torch.zeros(1, device=self.device)

    def shared(self, *shape: int, dtype: torch.dtype = torch.bfloat16):
        """A tensor, and the addresses of all ranks' tensors and of their signal pads."""
        mine = symmetric.empty(*shape, dtype=dtype, device=self.device)
        handle = symmetric.rendezvous(mine, dist.group.WORLD)
        addresses = [
            torch.tensor(list(pointers), dtype=torch.int64, device=self.device)
            for pointers in (handle.buffer_ptrs, handle.signal_pad_ptrs)
        ]
        return mine, *addresses, handle

    def time_us(self, run: Run, repeats: int) -> float:
        """The median of what launches take, on the slowest rank."""
        for _ in range(5):
            run()
        times = []
        for _ in range(repeats):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            dist.all_reduce(self.together)
            torch.cuda._sleep(300_000)
            start.record()
            run()
            end.record()
            end.synchronize()
            times.append(start.elapsed_time(end) * 1e3)
        slowest = torch.tensor([statistics.median(times)], device=self.device)
        dist.all_reduce(slowest, dist.ReduceOp.MAX)
        return float(slowest)

    def row(self, name: str, forms: dict[str, Run], check: Callable[[str], bool], n: int) -> None:
        """Runs each form some times, checks it, and measures it."""
        line: dict[str, object] = {"row": name}
        for form, run in forms.items():
            right = torch.tensor([int(check(form))], device=self.device)
            dist.all_reduce(right, dist.ReduceOp.MIN)
            line[form] = round(self.time_us(run, n), 2) if right.item() else "wrong"
        if self.rank == 0:
            print(json.dumps(line), flush=True)


def close(out: torch.Tensor, want: torch.Tensor) -> bool:
    error = (out.double() - want.double()).norm() / want.double().norm()
    return bool(error < 5e-3)


def all_reduce_row(me: Rank, n: int, repeats: int) -> None:
    mine, buffers, pads, _ = me.shared(n)
    source = torch.randn(n, device=me.device).to(torch.bfloat16)
    want = source.float()
    dist.all_reduce(want)
    out = torch.empty_like(source)
    nccl = source.clone()

    def one_shot(programs: int = 64) -> torch.Tensor:
        one_shot_all_reduce[(programs,)](
            buffers, pads, out, n, me.rank, WORLD=me.world, BLOCK=4096, num_warps=16
        )
        return out

    def two_shot(programs: int = 64) -> torch.Tensor:
        two_shot_all_reduce[(programs,)](
            buffers, pads, mine, n, me.rank, WORLD=me.world, BLOCK=4096, num_warps=16
        )
        return mine

    def library() -> torch.Tensor:
        dist.all_reduce(nccl)
        return nccl

    runs = {"one_shot_us": one_shot, "two_shot_us": two_shot, "nccl_us": library}

    def check(form: str) -> bool:
        mine.copy_(source)
        nccl.copy_(source)
        out.fill_(float("nan"))
        torch.cuda.synchronize()
        dist.barrier()
        return close(runs[form](), want)

    me.row(f"all-reduce {n * 2} bytes", runs, check, repeats)


def all_to_all_row(me: Rank, n: int, repeats: int) -> None:
    mine, buffers, pads, _ = me.shared(me.world, n)
    source = torch.randn(me.world, n, device=me.device).to(torch.bfloat16)
    out, want = torch.empty_like(source), torch.empty_like(source)
    dist.all_to_all_single(want, source)
    mine.copy_(source)

    def ours() -> torch.Tensor:
        all_to_all[(64,)](buffers, pads, out, n, me.rank, WORLD=me.world, BLOCK=4096, num_warps=16)
        return out

    def library() -> torch.Tensor:
        dist.all_to_all_single(out, source)
        return out

    runs = {"tile_us": ours, "nccl_us": library}

    def check(form: str) -> bool:
        out.fill_(float("nan"))
        torch.cuda.synchronize()
        dist.barrier()
        return torch.equal(runs[form](), want)

    me.row(f"all-to-all {me.world * n * 2} bytes", runs, check, repeats)


def gather_matmul_row(me: Rank, m: int, n: int, k: int, repeats: int) -> None:
    a, shares, pads, _ = me.shared(m, k)
    a.copy_(torch.randn(m, k, device=me.device) / k**0.5)
    b = torch.randn(k, n, device=me.device).to(torch.bfloat16)
    gathered = torch.empty(me.world * m, k, device=me.device, dtype=torch.bfloat16)
    c = torch.empty(me.world * m, n, device=me.device, dtype=torch.bfloat16)
    ready = torch.zeros(me.world, device=me.device, dtype=torch.int32)

    def ours() -> torch.Tensor:
        ready.zero_()
        tiles = me.world * (m // 128) * tile.cdiv(n, 256)
        gather_matmul[(16 + tiles,)](
            shares, pads, a, gathered, ready, b, c, m, n, k, me.rank, WORLD=me.world,
            COPIERS=16, BM=128, BN=256, BK=64, BLOCK=8192, num_warps=8, num_stages=3,
        )  # fmt: skip
        return c

    def library() -> torch.Tensor:
        dist.all_gather_into_tensor(gathered, a)
        torch.mm(gathered, b, out=c)
        return c

    want = library().clone()
    runs = {"tile_us": ours, "nccl_and_cublas_us": library}

    def check(form: str) -> bool:
        c.fill_(float("nan"))
        gathered.fill_(float("nan"))
        torch.cuda.synchronize()
        dist.barrier()
        return close(runs[form](), want)

    me.row(f"all-gather and product, {me.world * m} x {n} x {k}", runs, check, repeats)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few sizes and repeats")
    quick = parser.parse_args().quick
    me = Rank()
    torch.manual_seed(me.rank)
    repeats = 20 if quick else 60
    sizes = (1 << 13, 1 << 22) if quick else (1 << 12, 1 << 15, 1 << 18, 1 << 21, 1 << 24, 1 << 26)
    for n in sizes:
        # No multiple of a block.
        all_reduce_row(me, n + 32, repeats)
    for n in sizes[:-1]:
        all_to_all_row(me, n + 32, repeats)
    for m, n, k in ((2048, 4096, 4096),) if quick else ((2048, 4096, 4096), (4096, 8192, 8192)):
        gather_matmul_row(me, m, n, k, repeats)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
