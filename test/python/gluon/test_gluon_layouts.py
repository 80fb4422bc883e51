"""Layouts as values: equality, texts, views, and the places that they stand for, by enumeration."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest

from tile.errors import SemanticError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language import _inference, _layouts, _syntax
from tile.experimental.gluon.language.nvidia.hopper import mbarrier

BLOCKED = gl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0])
CUBE = gl.BlockedLayout([1, 1, 1], [2, 4, 4], [4, 1, 1], [2, 1, 0])
MMA = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
ALL = [
    gl.AutoLayout(),
    gl.CoalescedLayout(),
    BLOCKED,
    gl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0], [[1, 0]]),
    gl.SliceLayout(1, BLOCKED),
    gl.SliceLayout(0, gl.SliceLayout(2, CUBE)),
    gl.DistributedLinearLayout(
        [[0, 1]], [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], [[8, 0]], [], [16, 8]
    ),
    MMA,
    gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16]),
    gl.DotOperandLayout(0, MMA, 2),
    gl.DotOperandLayout(1, BLOCKED, 0),
    gl.NVMMASharedLayout(128, 16),
    gl.NVMMASharedLayout(64, 8, 3, True),
    gl.NVMMASharedLayout(32, 8, fp4_padded=True),
    gl.NVMMASharedLayout(128, 16, cga_layout=[[1, 0]]),
    gl.SwizzledSharedLayout(4, 2, 8, [1, 0]),
    gl.PaddedSharedLayout.with_identity_for([[32, 4], [256, 8]], [16, 32], [1, 0]),
    gl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 2]]),
    mbarrier.MBarrierLayout(),
]  # fmt: skip


@pytest.mark.parametrize("layout", ALL, ids=lambda v: type(v).__name__)
def test_a_layout_is_a_value(layout):
    twin = copy.deepcopy(layout)
    assert twin == layout and hash(twin) == hash(layout) and twin is not layout
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert isinstance(layout.mangle(), str) and layout.type.value == layout
    with pytest.raises(AttributeError):
        layout.order = [0, 1]
    assert [other for other in ALL if other == layout] == [layout]


@pytest.mark.parametrize("layout", ALL, ids=lambda v: type(v).__name__)
def test_ir_tells_the_layout(layout):
    """The attribute is read by the compiler, printed again, and leads back to an equal layout."""
    printed = str(_inference._attribute(layout))
    shape = [16, 8] if isinstance(layout, gl.DistributedLinearLayout) else [16, 32]
    assert _syntax.layout_of(printed, shape) == layout


def test_what_is_read_from_a_signature():
    for layout in ALL:
        if isinstance(layout, tuple(_layouts.NAMED.values())) and type(layout).__name__[0] != "M":
            assert _layouts.parse(repr(layout)) == layout
    for text in ("BlockedLayout([1])", "NVMMASharedLayout(", "exit()", "NVMMASharedLayout(a=1)"):
        with pytest.raises(SemanticError, match="is no layout of shared memory"):
            _layouts.parse(text)


# Who holds what, written down once more.


def blocked_holders(layout, shape):
    """For each element the (warp, lane, register) of a blocked layout, by counting."""
    rank = len(shape)
    per_warp = [s * t for s, t in zip(layout.size_per_thread, layout.threads_per_warp, strict=True)]
    per_block = [p * w for p, w in zip(per_warp, layout.warps_per_cta, strict=True)]

    def linear(position, extents, order):
        number, scale = 0, 1
        for d in order:
            number += position[d] * scale
            scale *= extents[d]
        return number

    found = {}
    repeats = [max(1, extent // p) for extent, p in zip(shape, per_block, strict=True)]
    per_thread = int(np.prod(layout.size_per_thread))
    for element in itertools.product(*map(range, shape)):
        size = layout.size_per_thread
        inner = [element[d] % size[d] for d in range(rank)]
        lane = [element[d] // size[d] % layout.threads_per_warp[d] for d in range(rank)]
        warp = [element[d] // per_warp[d] % layout.warps_per_cta[d] for d in range(rank)]
        again = [element[d] // per_block[d] for d in range(rank)]
        register = linear(inner, size, layout.order)
        register += per_thread * linear(again, repeats, layout.order)
        found[element] = (
            linear(warp, layout.warps_per_cta, layout.order),
            linear(lane, layout.threads_per_warp, layout.order),
            register,
        )
    return found


def place(bases, **index):
    element = None
    for name, value in index.items():
        for bit, image in enumerate(bases[name]):
            if element is None:
                element = [0] * len(image)
            if value >> bit & 1:
                element = [a ^ b for a, b in zip(element, image, strict=True)]
    return tuple(element)


@pytest.mark.parametrize("order", [[1, 0], [0, 1]])
@pytest.mark.parametrize("shape", [[16, 32], [32, 64], [64, 32]])
@pytest.mark.parametrize(
    "parts", [([1, 4], [4, 8], [2, 2]), ([2, 2], [32, 1], [1, 1]), ([4, 1], [2, 16], [4, 1])]
)
def test_blocked_layouts_by_counting(parts, shape, order):
    layout = gl.BlockedLayout(*parts, order)
    per_block = [a * b * c for a, b, c in zip(*parts, strict=True)]
    if any(p > extent for p, extent in zip(per_block, shape, strict=True)):
        pytest.skip("elements would have several holders")
    linear = gl.to_linear_layout(layout, shape)
    bases = {
        "register": linear.reg_bases,
        "lane": linear.lane_bases,
        "warp": linear.warp_bases,
    }
    for element, (warp, lane, register) in blocked_holders(layout, shape).items():
        assert place(bases, register=register, lane=lane, warp=warp) == element


@pytest.mark.parametrize("dim", [0, 1])
def test_a_slice_holds_what_its_parent_holds(dim):
    shape = [16, 32]
    parent = gl.to_linear_layout(BLOCKED, shape)
    rest = shape[:dim] + shape[dim + 1 :]
    found = gl.to_linear_layout(gl.SliceLayout(dim, BLOCKED), rest)
    for name in ("lane_bases", "warp_bases"):
        cut = [basis[:dim] + basis[dim + 1 :] for basis in getattr(parent, name)]
        assert getattr(found, name) == cut


@pytest.mark.parametrize("vec,per_phase,max_phase", [(1, 1, 1), (2, 1, 8), (4, 2, 4), (8, 1, 4)])
def test_swizzled_layouts_by_counting(vec, per_phase, max_phase):
    shape = [32, 32]
    layout = gl.SwizzledSharedLayout(vec, per_phase, max_phase, [1, 0])
    bases = {"offset": gl.to_linear_layout(layout, shape).offset_bases}
    for row, column in itertools.product(*map(range, shape)):
        group = (column // vec) ^ (row // per_phase % max_phase)
        offset = row * shape[1] + group * vec + column % vec
        assert place(bases, offset=offset) == (row, column)


def banks(shape, registers, offsets, lanes, bits, vec):
    """Accesses too many for each wavefront of the worst instruction of the first warp, counted
    lane by lane."""
    worst = 0
    for first in range(0, registers, vec):
        together = max(1, min(lanes, 32 * 4 * 8 // max(32, vec * bits)))
        count = 0
        for begin in range(0, lanes, together):
            words = {}
            for lane in range(begin, begin + together):
                byte = offsets(first, lane) * bits // 8
                for at in range(byte, byte + max(1, vec * bits // 8)):
                    words.setdefault(at // 4 % 32, set()).add(at // 4)
            count += max(map(len, words.values()))
        worst = max(worst, count)
    ideal = max(1, lanes * max(32, vec * bits) // (32 * 4 * 8))
    return -(-worst // ideal) - 1


@pytest.mark.parametrize("pad", [0, 1, 2, 4])
@pytest.mark.parametrize("order", [[1, 0], [0, 1]])
def test_conflicts_of_padded_buffers_by_counting(pad, order):
    """One element of four bytes a lane, along rows or along columns of a padded buffer."""
    shape = [64, 64]
    # No registers of a thread are neighbours: nothing is moved by vectors.
    threads, warps = ([1, 32], [4, 1]) if order == [1, 0] else ([32, 1], [1, 4])
    layout = gl.BlockedLayout([1, 1], threads, warps, order)
    if pad:
        shared = gl.PaddedSharedLayout.with_identity_for([[64, pad]], shape, [1, 0])
    else:
        shared = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    linear = gl.to_linear_layout(layout, shape)
    bases = {"register": linear.reg_bases, "lane": linear.lane_bases}

    def offset(register, lane):
        row, column = place(bases, register=register, lane=lane)
        flat = row * 64 + column
        return flat + flat // 64 * pad

    expected = banks(shape, 1 << len(linear.reg_bases), offset, 32, 32, 1)
    distributed = gl.distributed_type(gl.float32, shape, layout)
    buffer = gl.shared_memory_descriptor_type(gl.float32, shape, shared, shape)
    assert gl.bank_conflicts(distributed, buffer) == expected
    if order == [0, 1]:
        assert (expected == 0) == (pad == 1)


def test_views():
    layout = gl.BlockedLayout([1, 2], [2, 16], [1, 1], [1, 0])
    table = layout.format_tensor_view([2, 32])
    assert "T0:0" in table and "T31:1" in table and table.count("\n") == 4
    lanes = layout.format_hardware_view([2, 32])
    assert lanes.splitlines()[0] == "warp 0"
    assert lanes.splitlines()[2].split() == ["t0", "(0,", "0)", "(0,", "1)"]
    assert lanes.splitlines()[-1].split() == ["t31", "(1,", "30)", "(1,", "31)"]
    offsets = gl.SwizzledSharedLayout(1, 1, 2, [1, 0]).format_hardware_view([2, 2])
    assert offsets.splitlines() == ["0: (0, 0)", "1: (0, 1)", "2: (1, 1)", "3: (1, 0)"]
    assert BLOCKED._repr_svg_().startswith("<svg")


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda: gl.BlockedLayout([1], [32], [4], [0, 1]), "lists of one length"),
        (lambda: gl.BlockedLayout([3], [32], [4], [0]), "size_per_thread has powers of two, not 3"),
        (lambda: gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 1]), "order must be a permutation"),
        (lambda: gl.BlockedLayout([1], [32], [4], [0], [[1, 0]]), "each basis of cga_layout has 1"),
        (lambda: gl.BlockedLayout("abc", [32], [4], [0]), "size_per_thread is a list of integers"),
        (lambda: gl.SliceLayout(2, BLOCKED), "is from 0 to 1, not 2"),
        (lambda: gl.SliceLayout(0, gl.AutoLayout()), "must be decided, not left open"),
        (lambda: gl.SliceLayout(0, 3), "the parent of a SliceLayout is a layout, not 3"),
        (lambda: gl.DotOperandLayout(2, MMA, 2), "operand_index is 0 or 1, not 2"),
        (lambda: gl.NVMMASharedLayout(16, 16), "swizzle_byte_width is 0, 32, 64 or 128, not 16"),
        (lambda: gl.NVMMASharedLayout(64, 12), "element_bitwidth is 8, 16, 32 or 64, not 12"),
        (lambda: gl.SwizzledSharedLayout(3, 1, 1, [0]), "vec is a power of two, not 3"),
        (lambda: gl.PaddedSharedLayout([], [], [], []), "at least one \\[interval, padding\\]"),
        (lambda: gl.SharedLinearLayout([]), "at least one offset basis"),
        (lambda: gl.to_linear_layout(gl.AutoLayout(), [4]), "left open: nothing is known"),
        (lambda: gl.distributed_type(gl.int32, [4, 4], gl.SliceLayout(0, BLOCKED)),
         "has 2 dimensions, but its layout .* has 1"),
        (lambda: gl.shared_memory_descriptor_type(
            gl.int32, [4, 4, 4, 4], gl.NVMMASharedLayout(0, 32), [4, 4, 4, 4]),
         "a layout of 4 dimensions, or of 3 where the first counts buffers"),
    ],
)  # fmt: skip
def test_what_is_no_layout_says_why(make, message):
    with pytest.raises(SemanticError, match=message):
        make()


@pytest.mark.parametrize(
    "shape,dtype,width",
    [([64, 64], gl.float16, 128), ([64, 32], gl.float16, 64), ([64, 16], gl.float16, 32),
     ([64, 8], gl.float16, 0), ([4, 64], gl.float16, 0), ([64, 128], gl.int8, 128)],
)  # fmt: skip
def test_the_widest_swizzle_that_fits(shape, dtype, width):
    layout = gl.NVMMASharedLayout.get_default_for(shape, dtype)
    assert layout == gl.NVMMASharedLayout(width, dtype.primitive_bitwidth)
    turned = gl.NVMMASharedLayout.get_default_for(shape[::-1], dtype, transposed=True)
    assert turned.swizzle_byte_width == width and turned.transposed


@gluon.jit
def shows_a_layout(LAYOUT: gl.constexpr):
    x = gl.arange(0, 64, layout=LAYOUT)
    gl.static_assert(len(x.type.layout.format_tensor_view(x.shape)) > 64)
    gl.static_assert(LAYOUT.format_hardware_view([64]) != LAYOUT.format_tensor_view([64]))


def test_kernels_look_at_their_layouts():
    shows_a_layout.warmup(gl.BlockedLayout([1], [32], [4], [0]), grid=(1,))


@pytest.mark.parametrize(
    "layout",
    [
        gl.AutoLayout(),
        gl.CoalescedLayout(),
        gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 64], [1, 0]),
    ],
    ids=lambda layout: type(layout).__name__,
)
def test_layouts_without_a_table(layout):
    for show in (layout.format_tensor_view, layout.format_hardware_view):
        with pytest.raises(ValueError, match=f"{type(layout).__name__} cannot be visualized"):
            show([16, 64])


@gluon.jit
def converts(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, FROM: gl.constexpr, TO: gl.constexpr):
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, FROM))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, FROM))
    y = gl.convert_layout(gl.load(x_ptr + rows[:, None] * N + columns[None, :]), TO)
    rows = gl.arange(0, M, layout=gl.SliceLayout(1, TO))
    columns = gl.arange(0, N, layout=gl.SliceLayout(0, TO))
    gl.store(y_ptr + rows[:, None] * N + columns[None, :], y)


def mma(warps):
    return gl.NVMMADistributedLayout([3, 0], warps, [16, 32, 16])


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cuda:80", "cuda:90"], indirect=True)
@pytest.mark.parametrize(
    "layout",
    [
        mma([2, 2]), mma([1, 4]), gl.DotOperandLayout(0, mma([2, 2]), 2),
        gl.SliceLayout(0, mma([4, 1, 1])), gl.SliceLayout(1, mma([1, 4, 1])),
        gl.SliceLayout(2, mma([2, 1, 2])),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("shape", [(64, 64), (16, 128), (1, 64)])
def test_tensors_are_laid_out_as_sums_on_any_warps(shape, layout, target):
    """A dot needs groups of four warps along M; a tensor does not."""
    blocked = gl.BlockedLayout([1, 2], [8, 4], [2, 2], [1, 0])
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    for pair in ((blocked, layout), (layout, blocked)):
        y = np.full_like(x, -1)
        converts[(1,)](x, y, *shape, *pair)
        np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("blocks", [1, 2, 4, 8])
@pytest.mark.parametrize("dim", [0, 1])
def test_a_swizzle_fits_what_a_block_of_the_cluster_has(blocks, dim):
    """Each of so many blocks has a part along one dimension."""
    steps = [1 << bit for bit in range(blocks.bit_length() - 1)]
    cga = [[step if d == dim else 0 for d in range(2)] for step in steps]
    cga.append([0, 0])  # Twice as many blocks, which have the same.
    shape = [64, 256]
    layout = gl.NVMMASharedLayout.get_default_for(shape, gl.float16, cga_layout=cga)
    part = [e // blocks if d == dim else e for d, e in enumerate(shape)]
    alone = gl.NVMMASharedLayout.get_default_for(part, gl.float16)
    assert layout.swizzle_byte_width == alone.swizzle_byte_width > 0
