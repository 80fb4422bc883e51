"""Kernels on NVSHMEM's device functions, as torch offers them for Triton's users, on several GPUs.

    NVSHMEM_DISABLE_NVLS=1 torchrun --standalone --nproc-per-node 2 test/gpu/nvshmem.py

Needs a torch that was built with NVSHMEM, and its library in bitcode (the package
nvidia-nvshmem-cu13). Prints a line for each function, and ends with 1 if a result is wrong.
"""

from __future__ import annotations

import os
import sys

import tile.compat  # noqa: F401  # `import triton` is tile from here on.

# isort: split
import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric
import torch.distributed._symmetric_memory._nvshmem_triton as nvshmem
import triton
import triton.language as tl

N = 1000
#: As NVSHMEM numbers them.
SET, EQUAL = tl.constexpr(9), tl.constexpr(0)


@nvshmem.requires_nvshmem
@triton.jit
def names_kernel(out_ptr):
    tl.store(out_ptr, nvshmem.my_pe())
    tl.store(out_ptr + 1, nvshmem.n_pes())


@nvshmem.requires_nvshmem
@triton.jit
def put_kernel(to, source, n, pe):
    nvshmem.put(to, source, n, pe)
    nvshmem.quiet()


@nvshmem.requires_nvshmem
@triton.jit
def get_kernel(to, source, n, pe):
    nvshmem.get(to, source, n, pe)


@nvshmem.requires_nvshmem
@triton.jit
def signal_kernel(to, source, signal, size, value, to_pe):
    """Puts, and signals; waits for the signal of the other neighbour."""
    nvshmem.putmem_signal_block(to, source, size, signal, value, SET, to_pe)
    nvshmem.signal_wait_until(signal, EQUAL, value)


def main() -> int:
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    device = torch.device("cuda", torch.cuda.current_device())
    dist.init_process_group("nccl", device_id=device)
    symmetric.set_backend("NVSHMEM")
    rank, world = dist.get_rank(), dist.get_world_size()
    after, before = (rank + 1) % world, (rank - 1) % world
    failures = 0

    def shared(*values: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
        made = symmetric.empty(len(values), dtype=dtype, device=device)
        symmetric.rendezvous(made, dist.group.WORLD)
        made.copy_(torch.tensor(values, dtype=dtype))
        return made

    def check(name: str, found: torch.Tensor, wanted: torch.Tensor) -> None:
        nonlocal failures
        right = torch.tensor([int(torch.equal(found.cpu(), wanted))], device=device)
        dist.all_reduce(right, dist.ReduceOp.MIN)
        failures += 1 - int(right)
        if rank == 0:
            print(f"{'ok  ' if right else 'FAIL'} {name}", flush=True)

    def mine(of: int) -> torch.Tensor:
        return torch.arange(N, dtype=torch.int32) + 10_000 * of

    # NVSHMEM starts with the first of its memory; before, it cannot take kernels.
    out = shared(0, 0)
    names_kernel[(1,)](out)
    check("my_pe, n_pes", out, torch.tensor([rank, world], dtype=torch.int32))
    for name, kernel, peer, wanted in (
        ("put, quiet", put_kernel, after, before),
        ("get", get_kernel, after, after),
    ):
        source, to = shared(*mine(rank).tolist()), shared(*[0] * N)
        torch.cuda.synchronize()
        dist.barrier()
        kernel[(1,)](to, source, N, peer)
        torch.cuda.synchronize()
        dist.barrier()
        check(name, to, mine(wanted))
    source, to = shared(*mine(rank).tolist()), shared(*[0] * N)
    signal = shared(0, dtype=torch.int64)
    torch.cuda.synchronize()
    dist.barrier()
    signal_kernel[(1,)](to, source, signal, 4 * N, 77, after)
    torch.cuda.synchronize()
    check("putmem_signal_block, signal_wait_until", to, mine(before))
    dist.barrier()
    dist.destroy_process_group()
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
