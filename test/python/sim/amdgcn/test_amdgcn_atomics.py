"""Atomics of every operation, width and space, with and without a result, against NumPy's scalars:
the lanes of a wave update one place one after the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from asmlib import TARGETS, WAVE, kernel, run

#: Arithmetic of one type: what is there, and the lane's value.
INTEGERS: dict[str, Callable] = {
    "swap": lambda old, x: x,
    "add": lambda old, x: old + x,
    "sub": lambda old, x: old - x,
    "min": min,
    "max": max,
    "and": lambda old, x: old & x,
    "or": lambda old, x: old | x,
    "xor": lambda old, x: old ^ x,
    # Counts up to the value and then from 0; and down from it.
    "inc": lambda old, x: type(old)(0) if old >= x else old + type(old)(1),
    "dec": lambda old, x: x if old == 0 or old > x else old - type(old)(1),
}
TYPES = {"u32": np.uint32, "i32": np.int32, "u64": np.uint64, "i64": np.int64}
#: Operations, the type that they are of, and how gfx9 and the others name them in memory, and in
#: LDS; the same for 64 bits follows from the names.
NAMES = [
    ("swap", "u32", "swap", "swap_b32", None),
    ("add", "u32", "add", "add_u32", "add_u32"),
    ("sub", "u32", "sub", "sub_u32", "sub_u32"),
    ("min", "i32", "smin", "min_i32", "min_i32"),
    ("min", "u32", "umin", "min_u32", "min_u32"),
    ("max", "i32", "smax", "max_i32", "max_i32"),
    ("max", "u32", "umax", "max_u32", "max_u32"),
    ("and", "u32", "and", "and_b32", "and_b32"),
    ("or", "u32", "or", "or_b32", "or_b32"),
    ("xor", "u32", "xor", "xor_b32", "xor_b32"),
    ("inc", "u32", "inc", "inc_u32", "inc_u32"),
    ("dec", "u32", "dec", "dec_u32", "dec_u32"),
]


def values(kind: str, count: int) -> np.ndarray:
    """The place, and a value for each lane: small ones, so that counters turn, and large ones."""
    rng = np.random.default_rng(count)
    dtype = np.dtype(TYPES[kind])
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    wide = rng.integers(low, high, count + 1, dtype, endpoint=True)
    return np.where(rng.random(count + 1) < 0.5, wide, wide & dtype.type(3)).astype(dtype)


def body(instruction: str, words: int, target: str, space: str, loads: bool) -> str:
    """The place is at the third argument, or a copy of it in LDS. Each lane's value is in v[4:5],
    and the result, if there is one, in v[6:7]."""
    old = WAVE[target] == 64
    name = ("dword", "dwordx2")[words - 1] if old else ("b32", "b64")[words - 1]
    size = f"b{32 * words}"
    read, write = ("ds_read", "ds_write") if old else ("ds_load", "ds_store")
    value, result = ("v4", "v6") if words == 1 else ("v[4:5]", "v[6:7]")
    into_lds = f"""
	global_load_{name} {result}, v3, s[12:13]
	s_waitcnt vmcnt(0)
	{write}_{size} v3, {result}
	s_waitcnt lgkmcnt(0)"""
    from_lds = f"""
	{read}_{size} v[8:9], v3
	s_waitcnt lgkmcnt(0)
	v_readfirstlane_b32 s20, v8
	v_readfirstlane_b32 s21, v9
	v_mov_b32 v8, s20
	v_mov_b32 v9, s21
	global_store_{name} v3, v[8:9], s[12:13]"""
    if words == 1:
        from_lds = from_lds.replace("v[8:9]", "v8").replace("\tv_readfirstlane_b32 s21, v9\n", "")
        from_lds = from_lds.replace("\tv_mov_b32 v9, s21\n", "")
    clear = "v_mov_b32 v6, 0\n\tv_mov_b32 v7, 0"
    return f"""
	s_load_dwordx2 s[8:9], s[0:1], 0
	s_load_dwordx2 s[10:11], s[0:1], 8
	s_load_dwordx2 s[12:13], s[0:1], 16
	s_mov_b32 s14, 8
	s_mov_b32 s15, 0x{"27000" if old else "31016000"}
	v_lshlrev_b32 v1, {1 + words}, v0
	v_mov_b32 v3, 0
	s_waitcnt lgkmcnt(0)
	v_mov_b32 v10, s12
	v_mov_b32 v11, s13
	global_load_{name} {value}, v1, s[10:11]
	s_waitcnt vmcnt(0){into_lds if space == "ds" else ""}
	{clear}
	{instruction.format(value=value, result=result)}
	s_waitcnt vmcnt(0) & lgkmcnt(0)
	{"" if loads else clear}{from_lds if space == "ds" else ""}
	global_store_{name} v1, {result}, s[8:9]
"""


def instruction(space: str, name: str, loads: bool, target: str) -> str:
    flag = ("sc0" if WAVE[target] == 64 else "glc") if loads else ""
    result = "{result}, " if loads else ""
    if space == "global":
        return f"global_atomic_{name} {result}v3, {{value}}, s[12:13] {flag}"
    if space == "flat":
        return f"flat_atomic_{name} {result}v[10:11], {{value}} {flag}"
    if space == "buffer":
        # The result takes the value's place.
        move = "v_mov_b32 v6, v4\n\tv_mov_b32 v7, v5\n\t"
        return f"{move}buffer_atomic_{name} {{result}}, off, s[12:15], 0 {flag}"
    return f"ds_{name} {result}v3, {{value}}"


def names(space: str, wide: bool, loads: bool, target: str) -> list[tuple[str, str, str]]:
    """(operation, type, name) of all that a space has."""
    old, found = WAVE[target] == 64, []
    for operation, kind, gfx9, others, lds in NAMES:
        name = (lds or "") if space == "ds" else gfx9 if old else others
        if space == "ds" and lds is None:
            if not loads:
                continue
            name = "wrxchg_b32" if old else "storexchg_b32"
        if wide:
            kind = kind.replace("32", "64")
            name = name.replace("32", "64") if space == "ds" or not old else f"{name}_x2"
        if space == "ds" and loads:
            stem, _, size = name.rpartition("_")
            name = f"{stem}_rtn_{size}"
        found.append((operation, kind, name))
    return found


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("loads", [False, True], ids=["", "result"])
@pytest.mark.parametrize("wide", [False, True], ids=["32", "64"])
@pytest.mark.parametrize("space", ["global", "flat", "buffer", "ds"])
def test_integers(space, wide, loads, target):
    wave, words = WAVE[target], 1 + wide
    for operation, kind, name in names(space, wide, loads, target):
        place, *lanes = values(kind, wave)
        there, given = np.array([place]), np.array(lanes)
        out = np.zeros(wave, given.dtype)
        text = body(instruction(space, name, loads, target), words, target, space, loads)
        run(kernel(text, [8, 8, 8], target, lds=64), [out, given, there], 1, wave)
        value, want = place, []
        with np.errstate(over="ignore"):
            for x in lanes:
                want.append(value)
                value = INTEGERS[operation](value, x)
        assert there[0] == value, name
        if loads:
            assert out.tolist() == want, name


ALL = ("global", "flat", "buffer", "ds")
FLOAT_OPERATIONS: dict[str, Callable] = {
    "add": lambda a, b: a + b, "min": np.minimum, "max": np.maximum,
}  # fmt: skip
#: Of floats, for each target: the name in memory and LDS, and the spaces that have it.
FLOATS = {
    "gfx942": [
        ("add_f32", ALL), ("add_f64", ALL), ("min_f64", ALL), ("max_f64", ALL),
        ("min_f32", ["ds"]), ("max_f32", ["ds"]), ("pk_add_f16", ALL),
    ],
    "gfx1100": [
        ("add_f32", ALL), ("min_f32", ALL), ("max_f32", ALL), ("min_f64", ["ds"]),
        ("max_f64", ["ds"]),
    ],
    "gfx1200": [
        ("add_f32", ALL), ("min_num_f32", ALL), ("max_num_f32", ALL), ("min_num_f64", ["ds"]),
        ("max_num_f64", ["ds"]), ("pk_add_f16", ALL),
    ],
}  # fmt: skip


@pytest.mark.parametrize("loads", [False, True], ids=["", "result"])
@pytest.mark.parametrize(
    ("target", "name", "space"),
    [(t, name, space) for t, list_ in FLOATS.items() for name, spaces in list_ for space in spaces],
)
def test_floats(target, name, space, loads):
    """Of whole numbers, whose sums are exact."""
    wave = WAVE[target]
    dtype = {"64": np.float64, "32": np.float32, "16": np.float16}[name[-2:]]
    pairs = 2 if dtype == np.float16 else 1
    numbers = np.random.default_rng(5).integers(-9, 9, (wave + 1, pairs)).astype(dtype)
    operation = next(f for key, f in FLOAT_OPERATIONS.items() if key in name)
    want = [numbers[0]]
    for x in numbers[1:]:
        want.append(operation(want[-1], x))
    there, given, out = numbers[:1].copy(), numbers[1:].copy(), np.zeros((wave, pairs), dtype)
    if space == "ds" and loads:
        stem, _, kind = name.rpartition("_")
        name = f"{stem}_rtn_{kind}"
    words = 2 if dtype == np.float64 else 1
    text = body(instruction(space, name, loads, target), words, target, space, loads)
    run(kernel(text, [8, 8, 8], target, lds=64), [out, given, there], 1, wave)
    assert (there == want[-1]).all()
    assert not loads or (out == np.array(want[:-1])).all()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("wide", [False, True], ids=["32", "64"])
@pytest.mark.parametrize("space", ALL)
def test_compare_and_swap(space, wide, target):
    """Every lane finds the number of its own that the one before it left, but for one lane."""
    old, wave, words = WAVE[target] == 64, WAVE[target], 1 + wide
    dtype = np.uint64 if wide else np.uint32
    # Behind the new value what is compared.
    pair, at = f"v[14:{13 + 2 * words}]", 14 + words
    setup = f"""v_mov_b32 v15, 0
	v_mov_b32 v16, 0
	v_mov_b32 v17, 0
	v_add_u32 v14, 1, v0
	v_mov_b32 v{at}, v0
	v_mov_b32 v18, 99
	v_cmp_eq_u32 vcc, 7, v0
	v_cndmask_b32 v{at}, v{at}, v18, vcc
	"""
    flag = "sc0" if old else "glc"
    result = "{result}"
    name = "cmpswap" + (("_x2" if wide else "") if old else f"_b{32 * words}")
    if space == "ds":
        name = f"cmp{'st' if old else 'store'}_rtn_b{32 * words}"
        value, compared = ("v[14:15]", "v[16:17]") if wide else ("v14", "v15")
        # gfx9 has what is compared first.
        first, second = (compared, value) if old else (value, compared)
        text = f"ds_{name} {result}, v3, {first}, {second}"
    elif space == "global":
        text = f"global_atomic_{name} {result}, v3, {pair}, s[12:13] {flag}"
    elif space == "flat":
        text = f"flat_atomic_{name} {result}, v[10:11], {pair} {flag}"
    else:
        # The result takes the value's place.
        place = f"v[20:{19 + 2 * words}]"
        text = "".join(f"v_mov_b32 v{20 + i}, v{14 + i}\n" for i in range(2 * words))
        text += f"buffer_atomic_{name} {place}, off, s[12:15], 0 {flag}\ns_waitcnt vmcnt(0)\n"
        text += "".join(f"v_mov_b32 v{6 + i}, v{20 + i}\n" for i in range(words))
    there, out, given = np.zeros(1, dtype), np.zeros(wave, dtype), np.zeros(wave, dtype)
    code = body(setup + text, words, target, space, True)
    run(kernel(code, [8, 8, 8], target, lds=64), [out, given, there], 1, wave)
    # Lane 7 compares with what is not there, so those behind it find what it found.
    assert out.tolist() == [*range(8), *[7] * (wave - 8)]
    assert there[0] == 7
