"""Which combinations of parameters `make test` leaves to `make test-all`."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from machines import SWEEPS, color, lost_by


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
        if color(item(marks, {"target": target}, **params), 2) == 0:
            kept.append((kind, w, case, target))
    assert len(kept) == len(kinds) * len(warps) * len(cases) * 3 // 2
    pairs = {(a, b) for a, b, _, _ in kept}, {(b, d) for _, b, _, d in kept}
    assert [len(p) for p in pairs] == [len(kinds) * len(warps), len(warps) * 3]
    assert {c for _, _, c, _ in kept} == set(cases)


def test_two_parameters_make_a_chequerboard():
    marks = [("a", "wxyz"), ("b", range(3))]
    board = ["".join(".#"[color(item(marks, {}, a=a, b=b), 2)] for b in range(3)) for a in "wxyz"]
    assert board == [".#.", "#.#", ".#.", "#.#"]


@pytest.mark.parametrize("colors", [3, 4])
def test_more_colors_keep_every_pair_of_values_where_there_are_three_parameters(colors):
    marks = [("a", range(4)), ("b", "wxyz"), ("c", range(5, 9))]
    all_of_them = list(itertools.product(range(4), "wxyz", range(5, 9)))
    kept = [(a, b, c) for a, b, c in all_of_them
            if color(item(marks, {}, a=a, b=b, c=c), colors) == 0]  # fmt: skip
    assert abs(len(kept) - len(all_of_them) / colors) <= 2
    for first, second in itertools.combinations(range(3), 2):
        assert len({(one[first], one[second]) for one in kept}) == 16


def swept(colors, *sizes):
    """A sweep over so many values of each parameter."""
    places = itertools.product(*map(range, sizes))
    return [(dict(zip("abcde", p, strict=False)), sum(p) % colors == 0) for p in places]


@pytest.mark.parametrize(
    ("colors", "sizes", "lost"),
    [
        (2, (4, 4, 2), 0),
        (3, (4, 4, 3), 0),
        (3, (2, 2, 2, 2), 0),
        # The third parameter has too few values: a third of the pairs of the others is lost.
        (3, (3, 3, 2), 3),
        (4, (2, 2, 2), 9),
        (2, (4, 4, 1), 0),
        (3, (2, 1, 1), 0),
        # Of two parameters some pairs have to go, but no value.
        (2, (5, 7), 0),
        (4, (4, 3), 1),
    ],
)
def test_what_a_sweep_loses(colors, sizes, lost):
    assert len(lost_by(swept(colors, *sizes))) == lost


def test_seeds_are_samples():
    sweep = [({"seed": a, "b": b, "c": c}, (a + b + c) % 4 == 0)
             for a, b, c in itertools.product(range(8), range(2), range(2))]  # fmt: skip
    assert lost_by(sweep) == set()
    renamed = [({"a": place["seed"], "b": place["b"], "c": place["c"]}, k) for place, k in sweep]
    assert lost_by(renamed) != set()


def test_no_sweep_of_the_suite_loses_a_pair_of_values(request):
    """Of all tests that this run of pytest found."""
    lost = {name: lost_by(sweep) for name, sweep in request.config.stash[SWEEPS].items()}
    assert {name: sorted(what) for name, what in lost.items() if what} == {}
