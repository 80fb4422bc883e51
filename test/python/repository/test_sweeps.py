"""Which combinations of parameters `make test` leaves to `make test-all`."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from machines import is_black


def item(marks, fixtures, **params):
    """A test with these parameters, as pytest describes one."""
    # Of parameters that the test itself has, pytest numbers the combinations.
    indices = {name: 7 for name in params} | fixtures
    return SimpleNamespace(
        callspec=SimpleNamespace(indices=indices, params=params),
        iter_markers=lambda name: [pytest.mark.parametrize(*m).mark for m in marks],
    )


def test_every_value_stays_with_half_of_the_others():
    kinds = [np.float16, "i8", ("a", "b"), 4]
    warps = range(1, 6)
    cases = [((64,), 1), ((64,), 2), ((2, 4), 1)]
    listed = [cases[0], pytest.param(*cases[1], id="marked"), cases[2]]
    marks = [("kind", kinds), ("warps", warps), ("shape, k", listed)]
    kept = []
    for kind, w, case, target in itertools.product(kinds, warps, cases, range(3)):
        params = {"kind": kind, "warps": w, "shape": case[0], "k": case[1]}
        if not is_black(item(marks, {"target": target}, **params)):
            kept.append((kind, w, case, target))
    assert len(kept) == len(kinds) * len(warps) * len(cases) * 3 // 2
    pairs = {(a, b) for a, b, _, _ in kept}, {(b, d) for _, b, _, d in kept}
    assert [len(p) for p in pairs] == [len(kinds) * len(warps), len(warps) * 3]
    assert {c for _, _, c, _ in kept} == set(cases)


def test_two_parameters_make_a_chequerboard():
    marks = [("a", "wxyz"), ("b", range(3))]
    board = ["".join(".#"[is_black(item(marks, {}, a=a, b=b))] for b in range(3)) for a in "wxyz"]
    assert board == [".#.", "#.#", ".#.", "#.#"]
