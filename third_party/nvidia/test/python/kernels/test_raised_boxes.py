"""Random tiles of a matrix, by pointers and through descriptors that the compiler makes of them: a
load gives the elements that its text says. NumPy computes the text for every element."""

from __future__ import annotations

import importlib.util
import random
import re
from typing import Any

import numpy as np
import pytest
from reference import sim_only

#: An H100 or H200 runs other programs by the same passes.
pytestmark = sim_only

#: Each iteration stores its tile, times a matrix of ones on the diagonal.
KERNEL = """
import tile
import tile.language as tl


@tile.jit
def kernel(x_ptr, eye_ptr, out_ptr, first, last, R, C, S, base, STEP: tl.constexpr):
    pid = tl.program_id(0)
    i, j = tl.arange(0, {m})[:, None], tl.arange(0, {k})[None, :]
    eye = tl.load(eye_ptr + tl.arange(0, {k})[:, None] * {k} + j)
    out = out_ptr + pid * 8 * {m} * {k} + i * {k} + j
    {before}
    for t in tl.range(first, last, STEP{options}):
        x = tl.load({pointer}{mask})
        tl.store(out, tl.dot(x, eye))
        out += {m} * {k}
        {after}
"""


class Tile:
    """What a seed makes: a program, and its text as NumPy computes it."""

    def __init__(self, seed: int) -> None:
        self.rng = g = random.Random(seed)
        self.m, self.k = g.choice((16, 64)), g.choice((16, 32))
        self.step = g.choice((1, 2, 16, 32))
        self.turned = g.random() < 0.4
        slow, fast = ("j", "i") if self.turned else ("i", "j")
        #: How the counter goes on: along rows, along columns, or both.
        by_rows = g.choice(("", f" + t * {g.choice((1, 1, 2, 3))}"))
        by_columns = g.choice(("", "", f" + t * {g.choice((1, 8, 16))}"))
        own = g.choice(("", " + pid * 16", " + pid * 5"))
        rows, columns = f"({slow}{own}{by_rows})", f"({fast}{by_columns})"
        if not by_rows and g.random() < 0.4:
            rows = f"({rows} % R)"
        self.stride = g.choice(("S", "S", "S", "64", "72", "65"))
        origin = g.choice(("", " + base", " + pid * 64"))
        self.address = f"{rows} * {self.stride} + {columns}{origin}"
        conditions = [
            g.choice((f"({rows} < R)", f"(R > {rows})", f"({rows} <= R - 1)", f"({rows} >= 0)")),
            g.choice((f"({columns} < C)", f"(C - ({columns}) > 0)", f"({columns} <= C - 8)")),
        ]
        self.mask = " & ".join(g.sample(conditions, g.choice((0, 1, 1, 2))))
        self.options = g.choice(("", "", ", num_stages=2", ", warp_specialize=True"))
        self.moves = g.random() < 0.5

    def source(self) -> str:
        before = after = ""
        pointer = f"x_ptr + {self.address}"
        if self.moves:
            # The first tile, and then by how much the next one is further on.
            def at(t: str) -> str:
                return re.sub(r"\bt\b", t, self.address)

            before = f"p = x_ptr + {at('first')}"
            after = f"p += ({at('(t + STEP)')}) - ({at('t')})" if "t *" in self.address else ""
            pointer = "p"
        return KERNEL.format(
            m=self.m, k=self.k, before=before, after=after, pointer=pointer,
            mask=f", mask={self.mask}, other=0.0" if self.mask else "", options=self.options,
        )  # fmt: skip

    def launch(self) -> dict[str, Any]:
        """Numbers of a launch, among them rows of distance zero, and matrices that are empty."""
        g = self.rng
        first = g.choice((0, 0, 16, 3))
        trips = g.choice((0, 1, 2, 5, 8))
        return {
            "first": first, "last": max(0, first + trips * self.step - g.choice((0, 0, 1))),
            "R": g.choice((1, 7, 16, 64, 200)), "C": g.choice((0, 8, 16, 24, 64, 13)),
            "S": g.choice((0, 64, 64, 80, 256, 33)), "base": g.choice((0, 8, 64, 3)),
        }  # fmt: skip

    def compute(self, numbers: dict[str, Any], programs: int) -> tuple[np.ndarray, np.ndarray]:
        """Addresses and masks of all programs, iterations, rows and columns."""
        counters = np.arange(numbers["first"], numbers["last"], self.step)
        shape = (programs, len(counters), self.m, self.k)
        places = {
            **numbers, "pid": np.arange(programs).reshape(-1, 1, 1, 1),
            "t": counters.reshape(1, -1, 1, 1), "i": np.arange(self.m).reshape(-1, 1),
            "j": np.arange(self.k),
        }  # fmt: skip
        address, mask = eval(self.address, {}, places), eval(self.mask or "i >= 0", {}, places)
        return np.broadcast_to(address, shape), np.broadcast_to(mask, shape)


def check(seed: int, folder: Any, options: dict[str, Any]) -> list[bool]:
    """Runs some launches; returns of which loads went through descriptors."""
    tile = Tile(seed)
    path = folder / f"boxes_{seed}.py"
    path.write_text(tile.source())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    raised, programs = [], 2
    for _ in range(3):
        numbers = tile.launch()
        address, mask = tile.compute(numbers, programs)
        size = max(int(address[mask].max(initial=0)) + 1, 16)
        x = np.random.default_rng(seed).integers(-8, 9, size).astype(np.float16)
        eye = np.eye(tile.k, dtype=np.float16)
        out = np.full((programs, 8, tile.m, tile.k), np.nan, np.float32)
        expected = out.copy()
        values = np.where(mask, x[np.where(mask, address, 0)], np.float16(0))
        expected[:, : values.shape[1]] = values
        kernel = module.kernel[(programs,)](x, eye, out, **numbers, STEP=tile.step, **options)
        np.testing.assert_array_equal(out, expected, err_msg=f"{seed}: {numbers}\n{tile.source()}")
        raised.append("ttnvgpu.async_tma_copy_global_to_local" in kernel.asm["ttgir"])
    return raised


@pytest.fixture(autouse=True)
def target(monkeypatch):
    monkeypatch.setenv("TILE_SIM_TARGET", "cuda:90")


@pytest.mark.parametrize("first", range(0, 80, 10))
def test_random_tiles(first, tmp_path):
    raised = []
    for seed in range(first, first + 10):
        raised += check(seed, tmp_path, {"raise_pointers": True})
    assert any(raised) and not all(raised)
