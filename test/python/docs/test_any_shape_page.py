"""What docs/language.md says of blocks of any shape."""

from __future__ import annotations

import linecache

import numpy as np
import pytest
from pages import DOCS

import tile
import tile.language as tl

pytestmark = pytest.mark.both_ways

SECTION = (DOCS / "language.md").read_text().split("## Blocks of any shape")[1].split("\n## ")[0]


def test_the_example():
    code = SECTION.split("```python\n")[1].split("```")[0]
    # The front end reads a kernel's source again.
    linecache.cache["any_shape.py"] = (len(code), None, code.splitlines(True), "any_shape.py")
    names = {"tile": tile, "tl": tl, "__name__": "any_shape"}
    exec(compile(code, "any_shape.py", "exec"), names)
    x = np.random.default_rng(0).standard_normal((3, 768)).astype(np.float32)
    out = np.full_like(x, np.nan)
    names["softmax"][(3,)](x, out, COLUMNS=768)
    powers = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, powers / powers.sum(1, keepdims=True), rtol=1e-5)


@tile.jit
def counting_kernel(out_ptr, SHAPE: tl.constexpr):
    x = tl.full(SHAPE, 1, tl.int32)
    tl.store(out_ptr, x.numel)
    tl.store(out_ptr + 1, tl.sum(x))


@pytest.mark.parametrize("shape", [(96,), (12, 80), (1000,)])
def test_no_element_is_added(shape):
    out = np.zeros(2, np.int32)
    counting_kernel[(1,)](out, SHAPE=shape)
    assert out.tolist() == [np.prod(shape)] * 2
