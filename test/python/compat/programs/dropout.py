"""Dropout whose mask is computed again from a seed instead of being kept."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def _seeded_dropout(
    x_ptr,
    output_ptr,
    n_elements,
    p,
    seed,
    BLOCK_SIZE: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    random = tl.rand(seed, offsets)
    x_keep = random > p
    output = tl.where(x_keep, x / (1 - p), 0.0)
    tl.store(output_ptr + offsets, output, mask=mask)


def seeded_dropout(x, p, seed):
    output = np.empty_like(x)
    n_elements = x.size
    grid = lambda meta: (triton.cdiv(n_elements, meta["BLOCK_SIZE"]),)  # noqa: E731
    _seeded_dropout[grid](x, output, n_elements, p, seed, BLOCK_SIZE=1024)
    return output


x = np.random.default_rng(0).standard_normal(3000).astype(np.float32)
first, again, other = (seeded_dropout(x, 0.5, seed=s) for s in (123, 123, 512))
np.testing.assert_array_equal(first, again)
kept = first != 0
assert 0.45 < kept.mean() < 0.55
assert (kept != (other != 0)).any()
np.testing.assert_allclose(first[kept], x[kept] * 2)
