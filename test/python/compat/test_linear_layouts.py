"""`triton.tools.LinearLayout`, against plain arithmetic on bits."""

from __future__ import annotations

import itertools
import random

import pytest

from tile.compat.triton._C.libtriton.linear_layout import LinearLayout


def drawn(seed, in_dims=("a", "b"), out_dims=("x", "y"), invertible=False):
    """A random layout as bases and sizes."""
    rng = random.Random(seed)
    sizes = [rng.choice([1, 2, 4, 8]) for _ in out_dims]
    if invertible:
        # A random matrix of full rank: the unit vectors, mixed by adding one to another.
        units = [
            [1 << bit if d == dim else 0 for d in range(len(out_dims))]
            for dim, size in enumerate(sizes)
            for bit in range(size.bit_length() - 1)
        ]
        for _ in range(8 if len(units) > 1 else 0):
            i, j = rng.sample(range(len(units)), 2)
            units[i] = [p ^ q for p, q in zip(units[i], units[j], strict=True)]
        cut = rng.randint(0, len(units))
        images = [units[:cut], units[cut:]]
    else:
        images = [
            [[rng.randrange(size) for size in sizes] for _ in range(rng.randint(0, 3))]
            for _ in in_dims
        ]
    return list(zip(in_dims, images, strict=True)), list(out_dims), sizes


def by_hand(bases, out_dims, index):
    found = [0] * len(out_dims)
    for name, images in bases:
        for bit, image in enumerate(images):
            if index[name] >> bit & 1:
                found = [p ^ q for p, q in zip(found, image, strict=True)]
    return dict(zip(out_dims, found, strict=True))


def indices(bases):
    names = [name for name, _ in bases]
    ranges = [range(1 << len(images)) for _, images in bases]
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*ranges)]


@pytest.mark.parametrize("seed", range(30))
def test_random_layouts(seed):
    bases, outs, sizes = drawn(seed)
    layout = LinearLayout.from_bases(bases, outs, sizes, require_surjective=False)
    assert layout.bases == [(name, [list(i) for i in images]) for name, images in bases]
    assert layout.out_dims == list(zip(outs, sizes, strict=True))
    images = set()
    for index in indices(bases):
        expected = by_hand(bases, outs, index)
        assert layout.apply(index) == expected
        images.add(tuple(expected.values()))
    reached = len(images) == sizes[0] * sizes[1]
    assert layout.is_surjective() == reached
    assert layout.is_injective() == (len(images) == len(indices(bases)))
    # The matrix says the same: bit by bit, with the bits of the inputs in their order.
    matrix = layout.get_matrix_view()
    widths = [size.bit_length() - 1 for size in sizes]
    for index in indices(bases):
        bits = [index[name] >> bit & 1 for name, images in bases for bit in range(len(images))]
        rows = [sum(m * b for m, b in zip(row, bits, strict=True)) % 2 for row in matrix]
        values, at = [], 0
        for width in widths:
            values.append(sum(rows[at + bit] << bit for bit in range(width)))
            at += width
        assert dict(zip(outs, values, strict=True)) == by_hand(bases, outs, index)


@pytest.mark.parametrize("seed", range(20))
def test_inverses_and_compositions(seed):
    bases, outs, sizes = drawn(seed, invertible=True)
    layout = LinearLayout.from_bases(bases, outs, sizes)
    inverse = layout.invert()
    there_and_back = layout.compose(inverse)
    same = layout.invert_and_compose(layout)
    for index in indices(bases):
        assert inverse.apply(layout.apply(index)) == index
        assert there_and_back.apply(index) == index
        assert same.apply(index) == index
        assert layout.pseudoinvert().apply(layout.apply(index)) == index
    assert inverse.invert() == layout and hash(inverse.invert()) == hash(layout)


def test_small_ones():
    identity = LinearLayout.identity_1d(8, "i", "o")
    assert [identity.apply({"i": i})["o"] for i in range(8)] == list(range(8))
    strided = LinearLayout.strided_1d(4, 2, "i", "o")
    assert [strided.apply({"i": i})["o"] for i in range(4)] == [0, 2, 4, 6]
    assert strided.out_dims == [("o", 8)] and not strided.is_surjective()
    zeros = LinearLayout.zeros_1d(4, "i", "o")
    assert zeros.is_surjective() and not LinearLayout.zeros_1d(4, "i", "o", 4).is_surjective()
    product = identity * LinearLayout.identity_1d(4, "i", "o")
    assert product == LinearLayout.identity_1d(32, "i", "o")
    product *= LinearLayout.identity_1d(2, "j", "p")
    assert product.get_in_dim_names() == ["i", "j"] and product.get_out_dim_names() == ["o", "p"]
    assert product.num_in_dims == product.num_out_dims == 2
    assert "o" in str(product) and str(product) == repr(product)
    assert product != identity and identity != 3


def test_views():
    registers = [("register", [[1, 0]]), ("lane", [[0, 1]]), ("warp", []), ("block", [])]
    layout = LinearLayout.from_bases(registers, ["dim0", "dim1"])
    assert "T1:1" in layout.get_distributed_view(False)
    assert "(1, 1)" in layout.get_distributed_view(True)
    shared = LinearLayout.from_bases([("offset", [[0, 1], [1, 0]])], ["dim0", "dim1"])
    assert "3: (1, 1)" in shared.get_shared_view(True)
    assert "3" in shared.get_shared_view(False)


@pytest.mark.parametrize("make", [
    lambda: LinearLayout.identity_1d(3, "i", "o"),
    lambda: LinearLayout.strided_1d(4, 3, "i", "o"),
    lambda: LinearLayout.zeros_1d(0, "i", "o"),
    lambda: LinearLayout.zeros_1d(4, "i", "o").invert(),
    lambda: LinearLayout.from_bases([("a", [[3]])], ["o"]),
    lambda: LinearLayout.from_bases([("a", [[3]])], ["o"], None, False),
    lambda: LinearLayout.from_bases([("a", [[-1]])], ["o"]),
    lambda: LinearLayout.from_bases([("a", [[1, 0]])], ["o"]),
    lambda: LinearLayout.identity_1d(4, "a", "b").apply({}),
    lambda: LinearLayout.identity_1d(4, "a", "b").apply({"a": 4}),
    lambda: LinearLayout.identity_1d(4, "a", "b").compose(LinearLayout.identity_1d(2, "b", "c")),
    lambda: LinearLayout.identity_1d(4, "a", "b").get_shared_view(True),
])  # fmt: skip
def test_what_ends_the_process_elsewhere(make):
    with pytest.raises(ValueError):
        make()


def test_where_it_is_imported_from():
    from tile.compat.release import Release
    from tile.compat.triton._C.libtriton import linear_layout

    assert linear_layout.LinearLayout is LinearLayout
    home = Release.at_most("3.9").names("triton.tools")["LinearLayout"]
    assert home == "@triton._C.libtriton.linear_layout"
