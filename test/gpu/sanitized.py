"""Runs one kernel on `count` elements of a tensor that has 1024: sanitized.py WHAT COUNT

Or one of the explicit programs of test/python/gluon/test_gluon_planted.py, with its mistake or
without: sanitized.py WHAT wrong, sanitized.py WHAT right."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

import tile
import tile.language as tl


@tile.jit
def access(x, y, n, what: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if what == "load":
        tl.store(y + at, tl.load(x + at, at < n), at < n)
    elif what == "store":
        tl.store(x + at, 1.0, at < n)
    elif what == "atomic":
        tl.atomic_add(x + at, 1.0, at < n)
    elif what == "in a loop":
        for i in range(0, n):
            tl.store(x + i, 1.0)


@tile.jit
def product(x, y, n, BLOCK: tl.constexpr):
    """Of a matrix of 32 rows and 32 columns, of which `n` elements are used."""
    i, j = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(0, tl.cdiv(n, BLOCK), BLOCK):
        at = i[:, None] * BLOCK + first + j
        part = tl.load(x + at, at < n, other=0.0)
        total = tl.dot(part, part, total)
    tl.store(y + i[:, None] * BLOCK + j, total)


@tile.jit
def increase(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, tl.full((BLOCK,), 2**31 - 1 - 1024, tl.int32) + n)


@tile.jit
def row_sums(x, out, N, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, N, BLOCK):
        inside = first + at < N
        total += tl.load(x + tl.program_id(0) * N + first + at, inside, other=0.0)
    tl.store(out + tl.program_id(0), tl.sum(total, 0))


def run_planted(what: str, wrong: bool) -> None:
    """A kernel for Hopper."""
    tests = Path(__file__).resolve().parents[1] / "python"
    sys.path[:0] = [str(tests), str(tests / "gluon")]
    import test_gluon_planted as planted

    function, _, described = next(row for row in planted.PLANTED if row[0].__name__ == what)
    dtype = torch.int32 if what == "ring_not_empty" else torch.float16
    x, y = (torch.ones(shape, device="cuda", dtype=dtype) for shape in ((64, 64), (64, 128)))
    arguments: dict[str, tuple[Any, Any]] = {
        "x": (planted.descriptor(x), y), "y": (planted.descriptor(y), x),
    }  # fmt: skip
    function[(1,)](*arguments.get(described, (x, y)), wrong)
    torch.cuda.synchronize()


def main() -> None:
    what, count = sys.argv[1:]
    if count in ("right", "wrong"):
        run_planted(what, count == "wrong")
    else:
        run_on_elements(what, int(count))


def run_on_elements(what: str, count: int) -> None:
    # What lies behind it belongs to the same allocation of torch's.
    x, y = (torch.zeros(1024, device="cuda") for _ in range(2))
    behind = torch.zeros(1 << 16, device="cuda")
    if what == "overflow":
        increase[(1,)](behind.view(torch.int32), count, BLOCK=32, sanitize_overflow=True)
    elif what == "matmul":
        product[(1,)](x, y, count, BLOCK=32)
    else:
        access[(tile.cdiv(count, 256),)](x, behind, count, what, BLOCK=256)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
