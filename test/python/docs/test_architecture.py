"""The excerpts of docs/architecture.md are what the compiler makes of the kernel on that page."""

from __future__ import annotations

import re

import numpy as np
import pytest
from pages import ROOT

PAGE = (ROOT / "docs/architecture.md").read_text()
#: By the language of their fences: the kernel, and an excerpt of each stage.
BLOCKS = dict(re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.M | re.S))
STAGES = [name for name in BLOCKS if name != "python"]


def normal(line: str) -> str:
    """Without locations, numbers of values and registers, and numbers of layouts."""
    line = re.sub(r" loc\(.*\)$|, !dbg !\d+", "", line)
    line = re.sub(r"[%][\w.$]+(?:#\d+)?|(?<=\[)%\w+", "%", line)
    line = re.sub(r"(#(?!ttg)[a-z]+)\d+\b", r"\1", line)
    return " ".join(line.split())


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    source = folder / "matmul_of_the_page.py"
    source.write_text("import tile\nimport tile.language as tl\n\n\n" + BLOCKS["python"])
    space: dict = {}
    exec(compile(source.read_text(), str(source), "exec"), space)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILE_SIM_TARGET", "cuda:80")
        a, b = (np.random.default_rng(i).standard_normal((64, 64)) for i in range(2))
        a, b = a.astype(np.float16), b.astype(np.float16)
        c = np.full((64, 64), np.nan, np.float16)
        made = space["matmul"][(1, 1)](a, b, c, 64, 64, 64, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=0.1)
    return made


def test_the_page_shows_every_stage():
    assert STAGES == ["ttir", "ttgir", "llir", "ptx"]
    assert all(8 <= len(BLOCKS[stage].splitlines()) <= 12 for stage in STAGES)


@pytest.mark.nvidia("the page shows PTX")
@pytest.mark.parametrize("stage", STAGES)
def test_excerpts(kernel, stage):
    """The lines come in this order. One that ends with `...` begins a line of the compiler's."""
    lines = iter([normal(line) for line in kernel.asm[stage].splitlines()])
    for shown in BLOCKS[stage].splitlines():
        expected = normal(shown)
        if expected.endswith("..."):
            start = expected.removesuffix("...").rstrip()
            found = any(line.startswith(start) for line in lines)
        else:
            found = expected in lines
        assert found, f"docs/architecture.md: `{stage}` has no more such a line: {shown}"
