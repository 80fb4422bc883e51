"""The binding of linear layouts."""

from __future__ import annotations

import pytest

from tile._C import ir
from tile._C.layout import LinearLayout, conversion_kind, from_encoding, from_type

MMA = (
    "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], "
    "instrShape = [16, 8]}>"
)


def make(register: list, lane: list, warp: list | None = None) -> LinearLayout:
    bases = {"register": register, "lane": lane, "warp": warp or [], "block": []}
    return LinearLayout(bases, ["dim0"])


def test_construction_and_properties() -> None:
    layout = LinearLayout({"x": [[1, 0], [0, 1]], "y": [[0, 2]]}, {"a": 2, "b": 4})
    assert layout.in_dims == {"x": 4, "y": 2}
    assert layout.out_dims == {"a": 2, "b": 4}
    assert layout.bases == {"x": [(1, 0), (0, 1)], "y": [(0, 2)]}
    assert layout.is_invertible
    assert layout == LinearLayout(layout.bases, ["a", "b"])
    assert hash(layout) == hash(LinearLayout(layout.bases, ["a", "b"]))
    assert layout != "something else"
    assert " - y=1 -> (0, 2)" in str(layout)


def test_algebra() -> None:
    layout = LinearLayout({"x": [[2], [1]]}, {"a": 4})
    assert layout.apply({"x": 1}) == {"a": 2}
    inverse = layout.invert()
    assert layout.compose(inverse).bases == {"x": [(1,), (2,)]}
    assert layout.pseudoinvert() == inverse
    product = layout * layout
    assert product.out_dims == {"a": 16}
    assert product.apply({"x": 5}) == {"a": 10}
    assert layout.invert_and_compose(layout).bases == {"x": [(1,), (2,)]}


@pytest.mark.parametrize(
    ("bases", "out_dims", "message"),
    [
        ({"x": [[1]]}, {"a": 3}, "must be a positive power of two"),
        ({"x": [[4]]}, {"a": 4}, "has value 4 for out dim 'a' of size 4"),
        ({"x": [[1]]}, {"a": 4}, "reach only 2\\^1 of the 2\\^2 elements"),
        ({"x": [[1, 1]]}, ["a"], "has 2 values, but there are 1 out dims"),
    ],
)
def test_bad_bases(bases: dict, out_dims: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LinearLayout(bases, out_dims)


def test_bad_calls() -> None:
    layout = LinearLayout({"x": [[1], [0]]}, {"a": 2})
    with pytest.raises(ValueError, match="not invertible"):
        layout.invert()
    with pytest.raises(ValueError, match="index 4 of in dim 'x' is outside of its size 4"):
        layout.apply({"x": 4})
    with pytest.raises(ValueError, match="must name every in dim"):
        layout.apply({})
    with pytest.raises(ValueError, match="out dim 'a' does not fit"):
        layout.compose(layout)
    wide = LinearLayout({"x": [[1 << i] for i in range(20)]}, ["a"])
    with pytest.raises(ValueError, match="too large"):
        wide * wide


def test_encodings_and_types() -> None:
    context = ir.Context()
    layout = from_encoding(ir.Attribute.parse(MMA, context), [32, 16])
    assert layout.bases["lane"] == [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]
    assert layout == from_type(ir.Type.parse(f"tensor<32x16xf32, {MMA}>", context))
    with pytest.raises(ir.MLIRError, match="powers of two"):
        from_encoding(ir.Attribute.parse(MMA, context), [24, 16])


def test_conversion_kinds() -> None:
    a = make([[1]], [[2]], [[4]])
    assert conversion_kind(a, a) == "no-op"
    assert conversion_kind(make([[1], [8]], [[2]], [[4]]), make([[8], [1]], [[2]], [[4]])) == (
        "registers"
    )
    assert conversion_kind(a, make([[2]], [[1]], [[4]])) == "lanes"
    assert conversion_kind(a, make([[1]], [[4]], [[2]])) == "shared-memory"
    with pytest.raises(ValueError, match="same out dims"):
        conversion_kind(a, make([[1], [8]], [[2]], [[4]]))
