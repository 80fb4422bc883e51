"""Builds small AMDGCN kernels around single instructions and runs them on the simulator."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

import tile.sim

TARGETS = ("gfx942", "gfx1100", "gfx1200")
WAVE = {
    "gfx90a": 64,
    "gfx942": 64,
    "gfx950": 64,
    "gfx1100": 32,
    "gfx1200": 32,
    "gfx1201": 32,
    "gfx1250": 32,
}

# What gfx11 calls what gfx9 does.
_NAMES = {
    "s_load_dwordx2": "s_load_b64",
    "s_load_dword": "s_load_b32",
    "global_load_dwordx4": "global_load_b128",
    "global_load_dwordx2": "global_load_b64",
    "global_load_dword": "global_load_b32",
    "global_store_dwordx4": "global_store_b128",
    "global_store_dwordx2": "global_store_b64",
    "global_store_dword": "global_store_b32",
    "scratch_load_dwordx2": "scratch_load_b64",
    "scratch_load_dword": "scratch_load_b32",
    "scratch_store_dword": "scratch_store_b32",
    "flat_load_dword": "flat_load_b32",
    "v_add_u32": "v_add_nc_u32",
    "ds_read_b": "ds_load_b",
    "ds_write_b": "ds_store_b",
}


# What gfx12 calls what gfx9 or gfx11 does.
_NAMES_OF_GFX12 = {
    r"\b(v_|v_dual_|v_pk_)(min|max)(3?)_(f16|f32|f64)\b": r"\1\2\3_num_\4",
    r"\bv_med3_(f16|f32)\b": r"v_med3_num_\1",
    r"\bs_(add|sub|addk)_([ui]32)\b": r"s_\1_co_\2",
    r"\bs_(add)c_u32\b": r"s_\1_co_ci_u32",
    r"\bs_(sub)b_u32\b": r"s_\1_co_ci_u32",
    r"\bs_barrier\b": "s_barrier_signal -1\ns_barrier_wait -1",
    r" glc\b": " th:TH_ATOMIC_RETURN",
    r"\b(ds|global_atomic|buffer_atomic)_(min|max)(_rtn)?_(f32|f64)\b": r"\1_\2_num\3_\4",
}


def _wait_of_gfx12(match: re.Match) -> str:
    """One counter for each kind of memory."""
    counters = {"vmcnt": ["loadcnt"], "lgkmcnt": ["dscnt", "kmcnt"]}
    return "\n".join(
        f"s_wait_{counter} {left}"
        for name, left in re.findall(r"(\w+)\((\w+)\)", match[0])
        for counter in counters[name]
    )


def for_target(text: str, target: str) -> str:
    """Text in gfx9's names, as `target` has them; `vcc` stands for all of a wave's lanes."""
    if WAVE[target] == 64:
        return text
    for old, new in _NAMES.items():
        text = text.replace(old, new)
    text = text.replace("vcc,", "vcc_lo,").replace("vcc\n", "vcc_lo\n")
    if target.startswith("gfx12"):
        text = re.sub(r"\bs_waitcnt( *&? *\w+\(\w+\))+", _wait_of_gfx12, text)
        for old, new in _NAMES_OF_GFX12.items():
            text = re.sub(old, new, text)
        # The ids of the workgroup come in registers of their own.
        ids = "s_mov_b32 s2, ttmp9\ns_and_b32 s3, ttmp7, 0xffff\ns_lshr_b32 s4, ttmp7, 16\n"
        text = ids + text
    return text


def kernel(
    body: str,
    args: Sequence[int],
    target: str = "gfx942",
    *,
    lds: int = 0,
    scratch: int = 0,
    ids: int = 0,
    directives: str = "",
) -> str:
    """A kernel `op` with arguments of the given sizes, whose address is in s[0:1]; s2, s3 and s4
    are the workgroup, v0 the work-item."""
    described, offset = [], 0
    for index, size in enumerate(args):
        offset += -offset % size
        kind = "global_buffer" if size == 8 else "by_value"
        described.append(
            f"      - .name: a{index}\n        .offset: {offset}\n        .size: {size}\n"
            f"        .value_kind: {kind}\n"
        )
        offset += size
    return f"""
	.amdgcn_target "amdgcn-amd-amdhsa--{target}"
	.text
	.globl op
	.p2align 8
	.type op,@function
op:
{for_target(body, target)}
	s_endpgm
	.section .rodata,"a",@progbits
	.amdhsa_kernel op
		.amdhsa_group_segment_fixed_size {lds}
		.amdhsa_private_segment_fixed_size {scratch}
		.amdhsa_kernarg_size {offset}
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_count 2
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 1
		.amdhsa_system_sgpr_workgroup_id_z 1
		.amdhsa_system_vgpr_workitem_id {ids}
		.amdhsa_next_free_vgpr 128
		.amdhsa_next_free_sgpr 96
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
{directives}
	.end_amdhsa_kernel
	.amdgpu_metadata
---
amdhsa.kernels:
  - .args:
{"".join(described)}    .name: op
    .symbol: op.kd
    .wavefront_size: {WAVE[target]}
amdhsa.target: amdgcn-amd-amdhsa--{target}
...
	.end_amdgpu_metadata
"""


def run(text: str, args: Sequence, grid=1, block: int = 64, **options) -> tile.sim.Report:
    return tile.sim.launch(text, "op", grid, block, args, **options)


def findings(text: str, args: Sequence, grid=1, block: int = 64, **options) -> list[str]:
    """Kinds of what was found."""
    report = run(text, args, grid, block, raise_on_finding=False, **options)
    return [f["kind"] for f in report.to_dict()["findings"]]


def _words(array: np.ndarray) -> int:
    return max(1, array.dtype.itemsize // 4)


def lanes(
    text: str,
    operands: Sequence[np.ndarray],
    result: int | str = 1,
    target: str = "gfx942",
    *,
    prologue: str = "",
    start: np.ndarray | None = None,
    directives: str = "",
) -> np.ndarray:
    """Run `text` in every lane on its own operands, which are 32-bit or 64-bit arrays (16-bit
    values in 32 bits). `text` names the operands {0}, {1}, ... and the result {d}, which has so
    many words, or is a "mask", one bit a lane. `start`: what the result holds before."""
    wave = WAVE[target]
    count = len(operands[0])
    padded = -(-count // wave) * wave
    words = 1 if result == "mask" else result
    arrays = [np.resize(np.ascontiguousarray(a), padded) for a in operands]
    out = np.zeros(padded, np.uint32 if words == 1 else np.uint64)
    if start is not None:
        arrays.append(np.resize(start, padded).astype(out.dtype))
    lines = [
        f"v_mov_b32 v1, {wave}",
        "v_mul_lo_u32 v1, s2, v1",
        "v_add_u32 v1, v1, v0",
        "v_lshlrev_b32 v2, 2, v1",
        "v_lshlrev_b32 v3, 3, v1",
    ]
    names = []
    for index in range(1 + len(arrays)):
        lines.append(f"s_load_dwordx2 s[{16 + 2 * index}:{17 + 2 * index}], s[0:1], {8 * index}")
    lines.append("s_waitcnt lgkmcnt(0)")
    for index, array in enumerate(arrays):
        n, at = _words(array), 10 + 4 * index
        register = f"v{at}" if n == 1 else f"v[{at}:{at + 1}]"
        if start is not None and index == len(arrays) - 1:
            register = "v40" if n == 1 else "v[40:41]"
        base = f"s[{18 + 2 * index}:{19 + 2 * index}]"
        load = "global_load_dword" + ("x2" if n == 2 else "")
        lines.append(f"{load} {register}, v{1 + n}, {base}")
        names.append(register)
    lines.append("s_waitcnt vmcnt(0)")
    lines.append(prologue)
    destination = "vcc" if result == "mask" else "v40" if words == 1 else "v[40:41]"
    lines.append(text.format(*names, d=destination))
    if result == "mask":
        lines.append("v_cndmask_b32 v40, 0, 1, vcc\n")
    store = "global_store_dword v2, v40" if words == 1 else "global_store_dwordx2 v3, v[40:41]"
    lines.append(f"{store}, s[16:17]")
    text = kernel("\n".join(lines), [8] * (1 + len(arrays)), target, directives=directives)
    run(text, [out, *arrays], padded // wave, wave)
    return out[:count]


EDGES32 = [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFF, 0x10000]


def integers(count: int, operands: int, bits: int = 32, seed: int = 0) -> list[np.ndarray]:
    """Random bit patterns with all pairs of edge values in front."""
    rng = np.random.default_rng(seed)
    edges = [e & ((1 << bits) - 1) for e in EDGES32]
    if bits == 64:
        edges += [(1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 32, 63, 64]
    pairs = [(a, b) for a in edges for b in edges]
    dtype = np.uint64 if bits == 64 else np.uint32
    out = []
    for index in range(operands):
        values = rng.integers(0, (1 << bits) - 1, len(pairs) + count, np.uint64, endpoint=True)
        for i, pair in enumerate(pairs):
            values[i] = pair[index] if index < 2 else edges[i % len(edges)]
        out.append(values.astype(dtype))
    return out


def floats(count: int, operands: int, dtype=np.float32, seed: int = 0) -> list[np.ndarray]:
    """Random numbers of many magnitudes, with all pairs of special values in front."""
    rng = np.random.default_rng(seed)
    info = np.finfo(dtype)
    special = np.array(
        [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, info.smallest_subnormal,
         -info.smallest_subnormal, info.tiny, info.max, -info.max, 0.5, 2.0, 1.5, -2.5],
        dtype,
    )  # fmt: skip
    n = len(special)
    scale = {2: 3.0, 4: 30.0, 8: 200.0}[np.dtype(dtype).itemsize]
    out = []
    for index in range(operands):
        with np.errstate(over="ignore"):
            values = (
                rng.standard_normal(n * n + count)
                * np.exp(rng.uniform(-scale, scale, n * n + count))
            ).astype(dtype)
        values[: n * n] = (
            np.repeat(special, n) if index == 0
            else np.tile(special, n) if index == 1
            else np.resize(special[::-1], n * n)
        )  # fmt: skip
        out.append(values)
    return out


def halves(values: np.ndarray) -> np.ndarray:
    """16-bit values in words, with rubbish above."""
    bits = values.view(np.uint16).astype(np.uint32)
    return bits | np.uint32(0xABCD0000)


def same(got: np.ndarray, want: np.ndarray, what: object = "") -> None:
    """Equal bit for bit, except that any NaN equals any NaN."""
    want = np.asarray(want)
    bits = np.dtype(f"u{want.dtype.itemsize}")
    bad = got.view(bits) != want.view(bits)
    if want.dtype.kind == "f":
        bad &= ~(np.isnan(got.view(want.dtype)) & np.isnan(want))
    assert not bad.any(), (
        f"{what}: {bad.sum()} differ, first at {bad.argmax()}: "
        f"got {got.view(want.dtype)[bad][:4]}, want {want[bad][:4]}"
    )
