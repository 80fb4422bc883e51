"""Two instructions issued at once (VOPD), each operation in both places, against NumPy."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import numpy as np
import pytest
from asmlib import for_target, lanes
from instruction_set import LLVM_MC

import tile

u32, u64, f32, f16 = np.uint32, np.uint64, np.float32, np.float16
TARGETS = ("gfx1100", "gfx1200")


def exact(function: Callable) -> Callable:
    """Of integers in floats, which fp64 multiplies exactly: rounded once."""

    def rounded(*words: np.ndarray) -> np.ndarray:
        wide = [w.view(f32).astype(np.float64) for w in words]
        return function(*wide).astype(f32).view(u32)

    return rounded


def dot(a: np.ndarray, b: np.ndarray, old: np.ndarray) -> np.ndarray:
    x, y = (w.view(f16).reshape(-1, 2).astype(np.float64) for w in (a, b))
    return ((x * y).sum(1) + old.view(f32)).astype(f32).view(u32)


#: name: (what follows the result, what it gives of both operands and the old result).
FLOATS = {
    "mul_f32": ("{0}, {1}", exact(lambda a, b, old: a * b)),
    "add_f32": ("{0}, {1}", exact(lambda a, b, old: a + b)),
    "sub_f32": ("{0}, {1}", exact(lambda a, b, old: a - b)),
    "subrev_f32": ("{0}, {1}", exact(lambda a, b, old: b - a)),
    "max_f32": ("{0}, {1}", exact(lambda a, b, old: np.maximum(a, b))),
    "min_f32": ("{0}, {1}", exact(lambda a, b, old: np.minimum(a, b))),
    "mul_dx9_zero_f32": ("{0}, {1}", exact(lambda a, b, old: a * b)),
    "fmac_f32": ("{0}, {1}", exact(lambda a, b, old: a * b + old)),
    "fmaak_f32": ("{0}, {1}, 0x42280000", exact(lambda a, b, old: a * b + 42)),
    "fmamk_f32": ("{0}, 0x42280000, {1}", exact(lambda a, b, old: a * 42 + b)),
}
OTHERS = {
    "mov_b32": ("{0}", lambda a, b, old: a),
    # VCC has the lower bit of the first operand of the other place.
    "cndmask_b32": ("{0}, {1}", None),
    "dot2acc_f32_f16": ("{0}, {1}", dot),
}
#: Those that only the second place has.
SECOND = {
    "add_nc_u32": ("{0}, {1}", lambda a, b, old: a + b),
    "lshlrev_b32": ("{0}, {1}", lambda a, b, old: b << (a & u32(31))),
    "and_b32": ("{0}, {1}", lambda a, b, old: a & b),
}
FIRST = FLOATS | OTHERS
SEVERAL = FIRST | SECOND
#: Each operation once in each place.
PAIRS = [
    *zip(FIRST, [*SEVERAL][3 : 3 + len(FIRST)], strict=True),
    *zip([*FIRST, *FIRST][5 : 5 + len(SEVERAL)], SEVERAL, strict=True),
]


def operands(name: str, seed: int) -> list[np.ndarray]:
    """Two operands, and what the result holds before."""
    rng = np.random.default_rng(seed)
    if name in FLOATS:
        return list(rng.integers(-(2**22), 2**22, (3, 64)).astype(f32).view(u32))
    if name == "dot2acc_f32_f16":
        halves = rng.integers(-200, 200, (2, 128)).astype(f16)
        old = rng.integers(-(2**20), 2**20, 64).astype(f32).view(u32)
        return [*halves.view(u32), old]
    return list(rng.integers(0, 2**32, (3, 64), dtype=u32))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_each_operation_in_each_place(first, second, target):
    a, b, old = operands(first, 1)
    c, d, old2 = operands(second, 2)
    # The registers of both places are in different banks.
    text = (
        f"v_dual_{first} v40, " + SEVERAL[first][0].format("v5", "v4")
        + f" :: v_dual_{second} v41, " + SEVERAL[second][0].format("v6", "v7")
    )  # fmt: skip
    assembles(text, target)
    moves = zip((5, 4, 6, 7), ("{0}", "{1}", "{2}", "{3}"), strict=True)
    setup = "\n".join(f"v_mov_b32 v{to}, {of}" for to, of in moves)
    setup += "\nv_and_b32 v8, 1, {2}\nv_cmp_eq_u32 vcc_lo, 1, v8\n"
    words = (old.astype(u64) | old2.astype(u64) << u64(32)).astype(u64)
    got = lanes(setup + text, [a, b, c, d], 2, target, start=words)
    chosen = (c & u32(1)).astype(bool)
    for name, x, y, before, result in (
        (first, a, b, old, got.astype(u32)),
        (second, c, d, old2, (got >> u64(32)).astype(u32)),
    ):
        function = SEVERAL[name][1]
        want = np.where(chosen, y, x) if function is None else function(x, y, before)
        assert (result == want).all(), name


def assembles(text: str, target: str) -> None:
    """What LLVM would not assemble shows nothing."""
    if LLVM_MC:
        subprocess.run(
            [LLVM_MC, "-arch=amdgcn", f"-mcpu={target}", "-mattr=+wavefrontsize32"],
            input=for_target(text, target), text=True, check=True, capture_output=True,
        )  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "pair", [("v40, v6", "v41, v40"), ("v40, v41", "v41, v6")], ids=["second", "first"]
)
def test_both_read_before_either_writes(pair, target):
    a, b, c = operands("mov_b32", 3)
    text = "v_mov_b32 v40, {0}\nv_mov_b32 v41, {1}\nv_mov_b32 v6, {2}\n"
    dual = f"v_dual_mov_b32 {pair[0]} :: v_dual_mov_b32 {pair[1]}"
    assembles(dual, target)
    got = lanes(text + dual, [a, b, c], 2, target)
    low, high = (c, a) if pair[0] == "v40, v6" else (b, c)
    assert (got == (low.astype(u64) | high.astype(u64) << u64(32))).all()


@pytest.mark.parametrize("target", TARGETS)
def test_registers_that_change_places_are_refused(target):
    with pytest.raises(tile.TileError, match="both halves of a dual instruction read what"):
        lanes("v_dual_mov_b32 v40, v41 :: v_dual_mov_b32 v41, v40", [np.zeros(4, u32)], 2, target)


@pytest.mark.parametrize("target", TARGETS)
def test_zero_times_anything(target):
    zero = np.zeros(64, f32)
    x = np.resize(np.array([np.inf, -np.inf, np.nan, 3, -0.0], f32), 64)
    text = (
        "v_mov_b32 v4, {0}\nv_mov_b32 v5, {1}\nv_mov_b32 v6, {0}\nv_mov_b32 v7, {1}\n"
        "v_dual_mul_dx9_zero_f32 v40, v4, v5 :: v_dual_mul_dx9_zero_f32 v41, v7, v6"
    )
    assert (lanes(text, [zero, x], 2, target) == 0).all()
