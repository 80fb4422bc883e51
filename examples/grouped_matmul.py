"""Products of groups of rows with a matrix for each group, as mixtures of experts need them."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.tools.tensor_descriptor import TensorDescriptor


@tile.jit
def grouped_kernel(
    a, b, c_ptr, ends_ptr, GROUPS, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    MAX_GROUPS: tl.constexpr,
):  # fmt: skip
    # Which group this program's rows are in: groups are cut into blocks of BM rows.
    groups = tl.arange(0, MAX_GROUPS)
    ends = tl.load(ends_ptr + groups, mask=groups < GROUPS, other=0)
    begins = tl.load(ends_ptr + groups - 1, mask=(groups > 0) & (groups < GROUPS), other=0)
    blocks = tl.cdiv(ends - begins, BM)
    blocks_to_end = tl.cumsum(blocks)
    grid_n = tl.cdiv(N, BN)
    # Neighbours share the matrix of their group.
    most = tl.num_programs(0) // grid_n
    block, j = tl.program_id(0) % most, tl.program_id(0) // most
    group = tl.sum((blocks_to_end <= block).to(tl.int32))
    if group < GROUPS:
        chosen = groups == group
        first_block = tl.sum(tl.where(chosen, blocks_to_end - blocks, 0))
        row = tl.sum(tl.where(chosen, begins, 0)) + (block - first_block) * BM
        end = tl.sum(tl.where(chosen, ends, 0))
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = a.load([row, k])
            y = b.load([group, k, j * BN]).reshape(BK, BN)
            acc = tl.dot(x, y, acc)
        # The last block of a group ends where the next begins.
        rows, columns = row + tl.arange(0, BM), j * BN + tl.arange(0, BN)
        c_ptrs = c_ptr + rows[:, None].to(tl.int64) * N + columns[None, :]
        mask = (rows[:, None] < end) & (columns[None, :] < N)
        tl.store(c_ptrs, acc.to(c_ptr.dtype.element_ty), mask=mask)


def matmul(a, b, c, ends, bm=64, bn=64, bk=32, **options):
    """``c[begin:end] = a[begin:end] @ b[i]`` for contiguous tensors; ``ends[i]`` is where
    group ``i`` ends, and the next begins."""
    groups, k, n = b.shape
    # Every group may have a block that is not full.
    blocks = tile.cdiv(a.shape[0], bm) + groups - 1
    a = TensorDescriptor.from_tensor(a, [bm, bk])
    b = TensorDescriptor.from_tensor(b, [1, bk, bn])
    return grouped_kernel[(blocks * tile.cdiv(n, bn),)](
        a, b, c, ends, groups, n, k, BM=bm, BN=bn, BK=bk,
        MAX_GROUPS=tile.next_power_of_2(groups), **options,
    )  # fmt: skip


def main(device) -> None:
    rng = np.random.default_rng(19)
    n, k = 136, 40
    ends = np.array([70, 70, 75, 203], np.int32)
    a = rng.standard_normal((ends[-1], k)).astype(np.float16)
    b = rng.standard_normal((len(ends), k, n)).astype(np.float16)
    c = device.empty_like(np.empty((ends[-1], n), np.float16))
    kernel = matmul(device.put(a), device.put(b), c, device.put(ends))
    expected = np.concatenate(
        [rows.astype(np.float64) @ b[i] for i, rows in enumerate(np.split(a, ends[:-1]))]
    )
    device.check("grouped_matmul", kernel, device.get(c), expected)


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
