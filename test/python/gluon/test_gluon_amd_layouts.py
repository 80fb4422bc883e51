"""Parts of tensors, layouts and stages of waves, on AMD's GPUs."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest
from addresses import pointers
from amd_machines import LANES, every, matrix, offsets_of
from reference import poisoned
from reference import random as values

from tile.errors import TileError
from tile.experimental import gluon
from tile.experimental.gluon import language as gl
from tile.experimental.gluon.language.amd import (
    AMDMFMALayout,
    AMDWMMALayout,
)

# Parts of tensors.


@gluon.jit
def parts(x_ptr, y_ptr, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr):
    x = gl.load(pointers(x_ptr, 2 * M, 2 * N, LAYOUT))
    for i in gl.static_range(2):
        for j in gl.static_range(2):
            part = gl.amd.slice(x, [M, N], [i * M, j * N])
            gl.store(pointers(y_ptr + (2 * j + i) * M * N, M, N, LAYOUT), part)


@every
def test_slice(target):
    layout = matrix(target)
    m, n = 4 * (LANES[target] // 8), 32
    x, y = values((2 * m, 2 * n), "fp32", 8), poisoned((4, m, n), "fp32")
    parts[(1,)](x, y, m, n, layout)
    want = [x[i * m :][:m, j * n :][:, :n] for j in range(2) for i in range(2)]
    np.testing.assert_array_equal(y, np.stack(want))


@gluon.jit
def bad_slice(x_ptr, LAYOUT: gl.constexpr):
    x = gl.load(pointers(x_ptr, 64, 64, LAYOUT))
    gl.store(pointers(x_ptr, 16, 64, LAYOUT), gl.amd.slice(x, [16, 64], [8, 0]))


@every
def test_slices_begin_at_multiples(target):
    with pytest.raises(TileError, match="begins at multiples of its shape"):
        bad_slice[(1,)](poisoned((64, 64), "fp32"), matrix(target))


# Layouts.


@pytest.mark.parametrize(
    "layout",
    [
        AMDMFMALayout(3, [32, 32, 8], True, [2, 2]),
        AMDMFMALayout(4, [16, 16, 32], False, [4, 1], tiles_per_warp=[1, 2]),
        AMDMFMALayout(3, [16, 16, 4], False, [1, 2], element_bitwidth=64),
        AMDWMMALayout(1, True, [[0, 1], [1, 0]]),
        AMDWMMALayout(2, False, [[0, 2], [2, 0]], [[0, 1], [1, 0]]),
    ],
)
def test_layouts_are_read_as_they_are_printed(layout):
    from tile.experimental.gluon.language._syntax import layout_of

    assert layout_of(layout.mlir, [64, 64]) == layout
    assert hash(layout_of(layout.mlir, [64, 64])) == hash(layout)
    assert type(layout)(**{
        name: getattr(layout, name) for name in layout.__dataclass_fields__
    }) == layout  # fmt: skip
    assert layout.format_hardware_view([64, 64]) and layout._repr_svg_()


@pytest.mark.parametrize(
    "make,message",
    [
        (lambda: AMDMFMALayout(5, [32, 32, 8], True, [2, 2]), "is 1 to 4, not 5"),
        (lambda: AMDMFMALayout(3, [32, 32], True, [2, 2]), r"instr_shape is \[M, N, K\]"),
        (lambda: AMDMFMALayout(3, [32, 32, 8], True, [3, 2]), "has powers of two, not 3"),
        (lambda: AMDMFMALayout(3, [32, 32, 8], True, [2, 2], 16), "is 32 or 64, not 16"),
        (lambda: AMDWMMALayout(4, True, [[0, 1]]), "is 1 to 3, not 4"),
        (lambda: AMDWMMALayout(1, True, [[0, 1, 0]]), "has 2 entries"),
    ],
)
def test_layouts_that_are_none(make, message):
    with pytest.raises(TileError, match=message):
        make()


# Stages of waves.


@gluon.jit
def stages(x_ptr, y_ptr, n, M: gl.constexpr, N: gl.constexpr, LAYOUT: gl.constexpr,
           BUFFER: gl.constexpr, PRIORITY: gl.constexpr):  # fmt: skip
    at = offsets_of(M, N, LAYOUT)
    buffers = gl.allocate_shared_memory(gl.float32, [2, M, N], BUFFER)
    acc = gl.zeros([M, N], gl.float32, LAYOUT)
    for i in range(n):
        with gl.amd.warp_pipeline_stage("load", priority=PRIORITY):
            buffers.index(i % 2).store(gl.load(x_ptr + i * M * N + at))
        with gl.amd.warp_pipeline_stage("compute"):
            acc = acc * 2 + buffers.index(i % 2).load(LAYOUT)
    gl.store(y_ptr + at, acc)


@every
@pytest.mark.parametrize("priority", [None, 3])
@pytest.mark.parametrize("num_warps", [4, 8])
def test_stages_of_waves(target, priority, num_warps):
    x, y = values((5, 32, 64), "i8", 2).astype(np.float32), poisoned((32, 64), "fp32")
    layout = gl.BlockedLayout([1, 4], [LANES[target] // 8, 8], [num_warps, 1], [1, 0])
    buffer = gl.SwizzledSharedLayout(4, 1, 4, [1, 0])
    kernel = stages[(1,)](x, y, 5, 32, 64, layout, buffer, priority, num_warps=num_warps)
    expected = np.zeros((32, 64), np.float32)
    for part in x:
        expected = expected * 2 + part
    np.testing.assert_array_equal(y, expected)
    assert kernel.asm["ttgir"].count("rocdl.sched.barrier") == 2
    found = re.findall(r"s_setprio (\d)", kernel.asm["amdgcn"])
    assert sorted(found) == ([] if priority is None else ["0", "3"])


@gluon.jit
def refused_stage(KIND: gl.constexpr):
    if KIND == "label":
        with gl.amd.warp_pipeline_stage(3):
            pass
    else:
        with gl.amd.warp_pipeline_stage("load", priority=4):
            pass


@pytest.mark.parametrize(
    "kind,message",
    [
        ("label", "label of warp_pipeline_stage is a str, not 3"),
        ("priority", "priority of warp_pipeline_stage is from 0 to 3, not 4"),
    ],
)
def test_refused_stages(kind, message):
    with pytest.raises(TileError, match=message):
        refused_stage[(1,)](kind)


# Bytes that change registers.


@gluon.jit
def reorder(
    x_ptr, y_ptr, z_ptr, M: gl.constexpr, N: gl.constexpr, FROM: gl.constexpr, TO: gl.constexpr,
    SHARED: gl.constexpr,
):  # fmt: skip
    x = gl.convert_layout(gl.load(pointers(x_ptr, M, N, FROM)), TO)
    gl.store(pointers(y_ptr, M, N, TO), x)
    buffer = gl.allocate_shared_memory(x_ptr.dtype.element_ty, [M, N], SHARED, x)
    gl.store(pointers(z_ptr, M, N, FROM), buffer.load(FROM))


def registers_in_any_order(rng):
    """Of eight times eight elements, in two layouts; some registers hold copies."""
    bases = [[1 << b, 0] for b in range(3)] + [[0, 1 << b] for b in range(3)]
    for _ in range(2):
        order = rng.sample(bases, len(bases))
        for _ in range(rng.choice([0, 0, 1])):
            order.insert(rng.randrange(len(order) + 1), [0, 0])
        yield order


@every
@pytest.mark.parametrize("seed", range(12))
def test_bytes_change_registers(seed, target):
    rng = random.Random(f"{seed} bytes")
    lanes = LANES[target].bit_length() - 1
    shape = [8, 8 << lanes]
    before, after = (
        gl.DistributedLinearLayout(order, [[0, 8 << b] for b in range(lanes)], [], [], shape)
        for order in registers_in_any_order(rng)
    )
    x = values(shape, "i8", seed)
    y, z = poisoned(shape, "i8"), poisoned(shape, "i8")
    shared = gl.SwizzledSharedLayout(1, 1, 1, rng.choice([[0, 1], [1, 0]]))
    kernel = reorder[(1,)](x, y, z, *shape, before, after, shared, num_warps=1)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(z, x)
    # A word is made of whole bytes of others.
    keeps = before.reg_bases[:2] == after.reg_bases[:2]
    assert keeps or "v_perm_b32" in kernel.asm["amdgcn"]
