"""The public language of Triton 3.9 is here: every name, and the parameters of every function."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import tile
import tile.language as tl
from tile.compat.unbuilt import Unbuilt

LINES = [
    line
    for line in Path(__file__).with_name("language_3_9.txt").read_text().splitlines()
    if not line.startswith("#")
]
#: What is not in tile, and why.
ABSENT = {
    "dtype.to_ir": "it takes the builder of Triton's front end",
    "dtype.codegen_name": "the same",
}


@pytest.fixture(scope="module", autouse=True)
def switch():
    """Names that only programs written for Triton use are there with the switch."""
    from tile import compat

    was = compat.installed()
    compat.install()
    import triton.language  # noqa: F401

    yield
    if not was:
        compat.uninstall()


ROOTS = {
    "tl": tl, "tensor": tl.tensor, "dtype": tl.dtype, "tensor_descriptor": tl.tensor_descriptor,
}  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_name_and_parameters(line):
    path, _, rest = line.partition("(")
    if path in ABSENT:
        pytest.skip(ABSENT[path])
    root, *names = path.split(".")
    value = ROOTS[root]
    for name in names:
        value = getattr(value, name, None)
        assert value is not None and not isinstance(value, Unbuilt), f"{path} is missing"
    if not rest:
        return
    signature = inspect.signature(getattr(value, "fn", value))
    ours = signature.parameters.values()
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in ours):
        return
    wanted = [p for p in rest.rstrip(")").split(", ") if p]
    assert [p for p in wanted if p not in signature.parameters] == []
    # Programs give them by position, too.
    assert [p for p in signature.parameters if p in wanted] == wanted


def test_no_line_is_twice():
    assert len(LINES) == len(set(LINES)) and len(LINES) > 400
    assert tile.__name__ == "tile"
