"""What `tile` and `tile.testing` have for programs: sizes, time, comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from reference import sim_only

import tile


def test_cdiv_and_next_power_of_2():
    assert [tile.cdiv(n, 4) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert [tile.next_power_of_2(n) for n in (0, 1, 2, 3, 5, 1024, 1025)] == [
        1, 1, 2, 4, 8, 1024, 2048,
    ]  # fmt: skip


@sim_only
def test_do_bench_in_the_simulator():
    from tile.testing import do_bench

    calls = []
    assert do_bench(lambda: calls.append(1)) > 0
    assert calls
    assert len(do_bench(lambda: None, quantiles=(0.5, 0.2, 0.8))) == 3


def test_assert_close():
    from tile.testing import assert_close

    assert_close(np.array([1.0, 2.0]), np.array([1.0, 2.005]))
    with pytest.raises(AssertionError):
        assert_close(np.array([1.0, 2.0]), np.array([1.0, 2.5]))
