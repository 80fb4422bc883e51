"""The compiler refuses what docs/limits.md says; the figures of docs/gallery.md are measured."""

from __future__ import annotations

import re

import numpy as np
import pytest
from pages import DOCS, ROOT, settings_of_a_newcomer
from reference import sim_only
from test_examples import EXAMPLES
from test_python_subset import compiled

import tile
import tile.language as tl

pytestmark = sim_only


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("z = tl.zeros((2048, 1024), tl.float32)", "more than the limit of 1048576"),
        ("z = tl.sort(x.reshape(8, 8), dim=0)", "last dimension"),
        ("z = tl.dot(m.to(tl.int32), m.to(tl.int32))", "takes int8"),
        ("z = recursive(x)", "recursion"),
    ],
)
def test_a_limit_of_the_language(body, message, tmp_path, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    with pytest.raises(tile.CompilationError, match=message):
        compiled(body, tmp_path)


@tile.jit
def store_kernel(p, n, BLOCK: tl.constexpr):
    tl.store(p + tl.arange(0, BLOCK), 1.0)


@pytest.mark.parametrize(
    ("grid", "argument", "options", "message"),
    [
        ((1, 1, 1, 1), 1, {}, "1 to 3 dimensions"),
        ((1,), 1, {"num_warps": 3}, "power of 2 up to 32"),
        ((1,), 1, {"num_warps": 64}, "out of resource: threads"),
        ((1,), [1, 2], {}, "a list cannot be an argument"),
        ((1,), "text", {}, "a str cannot be an argument"),
        ((1,), np.zeros(4, np.complex64), {}, "complex64"),
    ],
)
def test_a_limit_of_launches(grid, argument, options, message, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    with pytest.raises(tile.TileError, match=message):
        store_kernel[grid](np.zeros(64, np.float32), argument, BLOCK=64, **options)


def test_the_figures_of_the_gallery_are_measured():
    gallery = (DOCS / "gallery.md").read_text()
    results = (ROOT / "bench" / "RESULTS.md").read_text()
    figures = re.findall(r": (\d+) (?:GB/s|TFLOP/s) \(\w+ (\d+)\)", gallery)
    assert len(figures) == 9
    missing = [n for pair in figures for n in pair if not re.search(rf"\b{n}\b", results)]
    assert missing == []


def test_the_gallery_has_every_example():
    gallery = (DOCS / "gallery.md").read_text()
    examples = {example.name for example in EXAMPLES if example.parent.name == "examples"}
    examples = (examples | {"torch_op.py"}) - {"empty.py"}
    assert [name for name in sorted(examples) if f"examples/{name}" not in gallery] == []
