"""A whole dot for sm_100: ragged sizes, several schedules, what overlaps in its timeline."""

from __future__ import annotations

import blackwell_kernels
import numpy as np
import pytest


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("m,n,k", [(128, 128, 64), (130, 160, 72), (256, 224, 520)])
def test_product(m, n, k, seed):
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal((rows, k)).astype(np.float16) for rows in (m, n))
    c = np.full((m, n), np.nan, np.float32)
    blackwell_kernels.launch_product(blackwell_kernels.product(), a, b, c, schedule_seed=seed)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32).T, atol=1e-3)


def test_copies_run_ahead_of_products():
    a, b = (np.ones((128, 512), np.float16) for _ in range(2))
    c = np.zeros((128, 128), np.float32)
    report = blackwell_kernels.launch_product(blackwell_kernels.product(), a, b, c, timelines=1)
    events = [e for e in report.timeline()["traceEvents"] if e["ph"] == "X"]
    by_name = {}
    for e in sorted(events, key=lambda e: e["ts"]):
        by_name.setdefault(e["name"], []).append(e)
    copies, products = by_name["bulk copy"], by_name["tcgen05.mma"]
    assert len(copies) == 16 and len(products) == 32 and len(by_name["tcgen05.commit"]) == 9
    # The ring has four stages: the ninth copy waits until the first four dots are done.
    assert copies[2]["ts"] < products[0]["ts"]
    assert copies[8]["ts"] >= products[3]["ts"] + products[3]["dur"]
    assert report.counters["tensor_flops"] == 2 * 128 * 128 * 512
