"""C through LLVM's NVPTX back end (ptx/language.c), against the same code on the host."""

from __future__ import annotations

import numpy as np
import pytest
from test_ptx_programs import run

#: What the host computes for x[i] = i * 37 % 401 - 200.
EXPECTED = [
    -518536120, -518781431, -518774181, -518617518, -519022457, -505085988, 204288, 2423663,
    1093169, 1621148, 2251886, -516631160, -516774602, -519513840, -504092226, -503503102,
    -504633840, 574953, 4201030, 2310840, 13086321, 4314904, -514338559, -508758089, -505535965,
    -506924136, -503811194, -504842203, 1082114, 2334390, 3664143, 15135686, 6512896,
    -511184175, -507873475, -508684877, -516561319, -504016236, 126915, 1723139, 3398803,
    5152361, 6945230, 8845963, -530018206, -511599914, -507762272, -505686573, -504085676,
    479356, 2499459, 4599159, 6775754, 8991280, 11314866, -529511098, -419182957, -508543579,
    -506040358, -504017388, 969654, 3411970, 5915648, 8534192
]  # fmt: skip


@pytest.mark.parametrize("level", ["O0", "O2"])
def test_c_program(level):
    x = (np.arange(64) * 37 % 401 - 200).astype(np.int32)
    out, reals = np.zeros(64, np.int32), np.zeros(64)
    run(f"language_{level}", "k", 1, 64, x, out, reals)
    assert out.tolist() == EXPECTED
    v = x.astype(np.float64)
    want = np.sqrt(np.abs(v)) + (v * 0.5 + 1.25) + np.floor(v / 3) + np.minimum(v, 4)
    np.testing.assert_allclose(reals, want, rtol=1e-15)
