"""Result types of operations: a table, as users of the language know them."""

from __future__ import annotations

import pytest
from frontend import make_module

import tile
import tile.language as tl

pytestmark = pytest.mark.every_target

TYPES = "i1 i8 u8 i16 i32 u32 i64 fp16 bf16 fp32 fp64".split()

#: Rows: the type of x; columns: that of y, in the order of TYPES. "-": refused.
SUM = """
i1   i8   u8   i16  i32  u32  i64  fp16 fp32 fp32 fp64
i8   i8   u8   i16  i32  u32  i64  fp16 fp32 fp32 fp64
u8   u8   u8   i16  i32  u32  i64  fp16 fp32 fp32 fp64
i16  i16  i16  i16  i32  u32  i64  fp16 fp32 fp32 fp64
i32  i32  i32  i32  i32  u32  i64  fp16 fp32 fp32 fp64
u32  u32  u32  u32  u32  u32  i64  fp16 fp32 fp32 fp64
i64  i64  i64  i64  i64  i64  i64  fp16 fp32 fp32 fp64
fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp16 fp32 fp64
fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp16 bf16 fp32 fp64
fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64
"""

#: Rows: the type of x; columns: that of y, in the order of TYPES. "-": refused.
SHIFT = """
i1   i8   u8   i16  i32  u32  i64  -    -    -    -
i8   i8   u8   i16  i32  u32  i64  -    -    -    -
u8   u8   u8   i16  i32  u32  i64  -    -    -    -
i16  i16  i16  i16  i32  u32  i64  -    -    -    -
i32  i32  i32  i32  i32  u32  i64  -    -    -    -
u32  u32  u32  u32  u32  u32  i64  -    -    -    -
i64  i64  i64  i64  i64  i64  i64  -    -    -    -
-    -    -    -    -    -    -    -    -    -    -
-    -    -    -    -    -    -    -    -    -    -
-    -    -    -    -    -    -    -    -    -    -
-    -    -    -    -    -    -    -    -    -    -
"""

#: Rows: the type of x; columns: that of y, in the order of TYPES. "-": refused.
REMAINDER = """
i1   -    u8   -    -    u32  -    fp32 fp32 fp32 fp64
-    i8   -    i16  i32  -    i64  fp32 fp32 fp32 fp64
u8   -    u8   -    -    u32  -    fp32 fp32 fp32 fp64
-    i16  -    i16  i32  -    i64  fp32 fp32 fp32 fp64
-    i32  -    i32  i32  -    i64  fp32 fp32 fp32 fp64
u32  -    u32  -    -    u32  -    fp32 fp32 fp32 fp64
-    i64  -    i64  i64  -    i64  fp32 fp32 fp32 fp64
fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64
fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64 fp64
"""

#: The type of an expression of x, for each type of x.
UNARY = {
    "x + 1": "i32 i8 u8 i16 i32 u32 i64 fp16 bf16 fp32 fp64",
    "x * 2.0": "fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp16 bf16 fp32 fp64",
    "x / 2": "fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64",
    "x + True": "i1 i8 u8 i16 i32 u32 i64 fp16 bf16 fp32 fp64",
    "x + 2**40": "i64 - - - - - i64 fp16 bf16 fp32 fp64",
    "tl.sum(x, 0)": "u32 i32 u32 i32 i32 u32 i64 fp16 bf16 fp32 fp64",
    "tl.max(x, 0)": "i32 i32 i32 i32 i32 u32 i64 fp32 fp32 fp32 fp64",
    "tl.argmax(x, 0)": "i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32",
    "tl.cumsum(x, 0)": "u32 i32 u32 i32 i32 u32 i64 fp16 fp32 fp32 fp64",
    "tl.cumprod(x, 0)": "u32 i32 u32 i32 i32 u32 i64 fp16 fp32 fp32 fp64",
    "tl.maximum(x, 1)": "i32 i32 i32 i32 i32 u32 i64 fp16 fp32 fp32 fp64",
    "tl.maximum(x, 1.5)": "fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp64",
    "tl.where(x > 0, x, 1.5)": "fp32 fp32 fp32 fp32 fp32 fp32 fp32 fp16 bf16 fp32 fp64",
    "tl.max(x, 0, return_indices=True)[0]": "i1 i8 u8 i16 i32 u32 i64 fp16 fp32 fp32 fp64",
    "tl.topk(x, 4)": "i32 i32 i32 i32 i32 u32 i64 fp32 fp32 fp32 fp64",
    "tl.cdiv(x, 3)": "i32 i8 u8 i16 i32 u32 i64 - - - -",
}


def type_of(expression: str, x: str, y: str, tmp_path) -> str:
    """The type of an expression of blocks x and y; "-" if it is refused."""
    import importlib.util

    path = tmp_path / "kernel.py"
    path.write_text(
        "import tile\nimport tile.language as tl\n\n\n@tile.jit\ndef kernel(p, q, seen: "
        "tl.constexpr):\n"
        "    x = tl.load(p + tl.arange(0, 16))\n    y = tl.load(q + tl.arange(0, 16))\n"
        f"    seen.append(({expression}).dtype.mangle())\n"
    )
    spec = importlib.util.spec_from_file_location("kernel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seen: list[str] = []
    try:
        make_module(module.kernel, {"p": "*" + x, "q": "*" + y}, {"seen": seen})
    except tile.CompilationError as error:
        assert error.__cause__ is None
        return "-"
    return seen[0]


@pytest.mark.parametrize(
    ("expression", "table"), [("x + y", SUM), ("x >> y", SHIFT), ("x % y", REMAINDER)]
)
def test_pairs(expression, table, tmp_path):
    rows = [line.split() for line in table.strip().splitlines()]
    actual = [[type_of(expression, x, y, tmp_path) for y in TYPES] for x in TYPES]
    assert actual == rows


@pytest.mark.parametrize("expression", UNARY)
def test_single_operands(expression, tmp_path):
    actual = [type_of(expression, x, x, tmp_path) for x in TYPES]
    assert " ".join(actual) == UNARY[expression]


def test_constants_take_the_smallest_type():
    from tile.language.promotion import constant_type

    assert [constant_type(v) for v in (True, 1, -(2**31), 2**31, 2**32, 2**63, 1.5, 1e300)] == [
        tl.int1, tl.int32, tl.int32, tl.uint32, tl.int64, tl.uint64, tl.float32, tl.float64,
    ]  # fmt: skip
