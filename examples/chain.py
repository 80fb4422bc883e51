"""A chain of small kernels, of which each may start while the one before it ends."""

from __future__ import annotations

import numpy as np

import tile
import tile.language as tl
from tile.language.extra.cuda import gdc_launch_dependents, gdc_wait


@tile.jit
def step_kernel(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr, EARLY: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    if EARLY:
        # The next one may start at once: it waits here until this one has ended.
        gdc_launch_dependents()
        gdc_wait()
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x * factor + 1, mask=mask)


def run(x, y, steps: int, early: bool, block: int = 1024, **options):
    """``steps`` times ``x * 0.5 + 1``, from x to y and back again: what was launched last, and
    where that wrote."""
    n, kernel = x.shape[0], None
    options = {"launch_pdl": True, **options} if early else options
    for _ in range(steps):
        kernel = step_kernel[(tile.cdiv(n, block),)](
            x, y, n, 0.5, BLOCK=block, EARLY=early, **options
        )
        x, y = y, x
    return kernel, x


def main(device) -> None:
    values = np.random.default_rng(0).standard_normal(10_000).astype(np.float32)
    target = device.driver.get_current_target()
    for early in (False, True):
        if early and (target.backend != "cuda" or target.arch < 90):
            continue
        x, y = device.put(values), device.empty_like(values)
        kernel, out = run(x, y, 3, early)
        device.check(
            "early chain" if early else "chain", kernel, device.get(out), values / 8 + 1.75
        )


if __name__ == "__main__":
    from device import run_examples

    run_examples(main)
