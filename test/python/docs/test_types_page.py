"""The table of types of docs/numerics.md, and what it says of mixed operations."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from pages import DOCS, settings_of_a_newcomer
from reference import sim_only
from test_python_subset import compiled

import tile.language as tl
from tile.element_types import ELEMENT_TYPES

pytestmark = sim_only

SECTION = (DOCS / "numerics.md").read_text().split("## Types\n")[1].split("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in SECTION.splitlines()
    if line.startswith("| `tl.")
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_row_of_the_table(row):
    types, arrays, mantissa, largest = row
    names = [name.removeprefix("tl.") for name in re.findall(r"`([^`]+)`", types)]
    spelt = re.findall(r"`([^`]+)`", arrays) or [None] * len(names)
    for name, array in zip(names, spelt, strict=True):
        known = ELEMENT_TYPES[getattr(tl, name).name]
        if mantissa:
            assert known.mantissa_width == int(mantissa)
        if array and mantissa:
            finfo = ml_dtypes.finfo(getattr(ml_dtypes, array, None) or array)
            assert float(finfo.max) == pytest.approx(float(largest), rel=0.02)
        elif array:
            assert np.dtype(array).itemsize * 8 == max(known.bits, 8)


@pytest.mark.parametrize(
    ("sum_of_types", "expected"),
    [
        ("x.to(tl.float16) + x", "float32"),
        ("x.to(tl.float16) + i", "float16"),
        ("x.to(tl.float16) + x.to(tl.bfloat16)", "float16"),
        ("x.to(tl.bfloat16) + x.to(tl.float16)", "float16"),
        ("x.to(tl.float16) + 1.5", "float16"),
        ("i.to(tl.int8) + 1", "int8"),
        ("i + 1.5", "float32"),
        ("i / i", "float32"),
    ],
)
def test_a_mixed_operation(sum_of_types, expected, tmp_path, monkeypatch):
    settings_of_a_newcomer(monkeypatch)
    compiled(f"tl.static_assert(({sum_of_types}).dtype == tl.{expected})", tmp_path)
