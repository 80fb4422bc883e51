"""What LLVM gets wrong where a kernel spills very much is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tile.errors import TileError


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["hip:gfx1100"], indirect=True)
def test_a_spill_without_an_offset(target):
    from spilling import kernel

    arrays = [np.zeros(128 * 128 + 64, np.int64) for _ in kernel.arg_names[:-2]]
    with pytest.raises(TileError, match=r"'spill-offsets' among its faults"):
        kernel.warmup(*arrays, 1000, 2, grid=(1,), num_warps=2)
