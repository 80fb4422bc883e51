# ruff: noqa: E501  (PTX text reads better unbroken)
"""Builds small PTX kernels around single instructions and runs them on the simulator."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

import tile.sim

HEADER = ".version 8.8\n.target sm_90a\n.address_size 64\n"
_LATER = re.compile(
    r"\.f32x2|tcgen05\.|st\.bulk|st\.async\.release|\.cp_mask|redux\.sync\.\w+(\.abs)?(\.NaN)?\.f32|\.v8\.|\.v4\.[a-z]64|\.v2\.b128"
)


def header_for(text: str) -> str:
    """A header whose target has what the text uses."""
    return HEADER.replace("sm_90a", "sm_100a") if _LATER.search(text) else HEADER


# Register type and memory suffix for each operand type.
_WIDTH = {"8": 1, "16": 2, "32": 4, "64": 8, "128": 16}


def width(kind: str) -> int:
    """Bytes of a scalar or packed PTX type."""
    if kind == "pred":
        return 4
    if kind.endswith("x2"):
        return 2 * width(kind[:-2])
    return {"bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1}.get(kind) or _WIDTH[kind.lstrip("busfx")]


def elementwise_ptx(text: str, result: str, operands: Sequence[str]) -> str:
    """A kernel in which every thread runs `text` on its own operands.

    `text` names the operands {0}, {1}, ... and the result {d}; predicates are stored as 0 or 1.
    """
    lines = [
        header_for(text),
        ".visible .entry op(" + ", ".join(f".param .u64 p{i}" for i in range(len(operands) + 1)),
    ]
    lines.append(", .param .u32 n)\n{")
    lines.append(
        ".reg .pred %guard, %pd, %p<8>; .reg .b32 %t<8>; .reg .b64 %a<16>; .reg .b32 %w<4>; .reg .b64 %q<4>; .reg .b16 %h<4>;"
    )
    lines.append(".reg .b32 %thread, %cta, %dim, %i, %n, %pw;")
    lines.append(
        "mov.u32 %thread, %tid.x; mov.u32 %cta, %ctaid.x; mov.u32 %dim, %ntid.x; mad.lo.u32 %i, %cta, %dim, %thread;"
    )
    lines.append("ld.param.u32 %n, [n]; setp.ge.u32 %guard, %i, %n; @%guard bra DONE;")
    names = []
    for index, kind in enumerate(operands):
        size = width(kind)
        bits = max(16, size * 8)
        lines.append(f".reg .b{bits} %x{index};")
        lines.append(
            f"ld.param.u64 %a{index}, [p{index + 1}]; mad.wide.u32 %a{index}, %i, {size}, %a{index};"
        )
        if kind == "pred":
            lines.append(
                f"ld.global.b32 %t{index}, [%a{index}]; setp.ne.u32 %p{index}, %t{index}, 0;"
            )
            names.append(f"%p{index}")
        else:
            lines.append(f"ld.global.b{size * 8} %x{index}, [%a{index}];")
            names.append(f"%x{index}")
    size = width(result)
    lines.append(f".reg .b{max(16, size * 8)} %out;")
    lines.append(text.format(*names, d="%pd" if result == "pred" else "%out"))
    lines.append(f"ld.param.u64 %a15, [p0]; mad.wide.u32 %a15, %i, {size}, %a15;")
    if result == "pred":
        lines.append("selp.u32 %pw, 1, 0, %pd; st.global.b32 [%a15], %pw;")
    else:
        lines.append(f"st.global.b{size * 8} [%a15], %out;")
    lines.append("DONE: ret;\n}")
    return "\n".join(lines)


def elementwise(text: str, result: str, operands: Sequence[tuple[str, np.ndarray]]) -> np.ndarray:
    """Run `text` on arrays (any dtype of the right size); the result comes back as unsigned bits."""
    count = len(operands[0][1])
    out = np.zeros(count, np.dtype(f"u{width(result)}"))
    ptx = elementwise_ptx(text, result, [kind for kind, _ in operands])
    arrays = [np.ascontiguousarray(a) for _, a in operands]
    for (kind, _), a in zip(operands, arrays, strict=True):
        assert a.dtype.itemsize == width(kind), (kind, a.dtype)
    tile.sim.launch(ptx, "op", (count + 63) // 64, 64, [out, *arrays, count])
    return out


EDGES = {
    8: [0, 1, 2, 0x7F, 0x80, 0x81, 0xFF, 0x0F],
    16: [0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x00FF, 0xFF00],
    32: [0, 1, 2, 31, 32, 33, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFF, 0x10000],
    64: [
        0,
        1,
        2,
        63,
        64,
        65,
        (1 << 63) - 1,
        1 << 63,
        (1 << 63) + 1,
        (1 << 64) - 1,
        0xFFFFFFFF,
        1 << 32,
    ],
}


def integers(bits: int, count: int, operands: int, seed: int = 0) -> list[np.ndarray]:
    """Random bit patterns, with all pairs of edge values in front."""
    rng = np.random.default_rng(seed)
    edges = EDGES[bits]
    pairs = [(a, b) for a in edges for b in edges]
    total = len(pairs) + count
    out = []
    for index in range(operands):
        values = rng.integers(0, 1 << bits, total, dtype=np.uint64, endpoint=False) if bits < 64 else rng.integers(
            0, (1 << 64) - 1, total, dtype=np.uint64, endpoint=True)  # fmt: skip
        column = [p[index] if index < 2 else edges[i % len(edges)] for i, p in enumerate(pairs)]
        values[: len(pairs)] = np.array(column, np.uint64)
        out.append(values.astype(np.dtype(f"u{bits // 8}")))
    return out


def floats32(count: int, operands: int, seed: int = 0, scale: float = 30.0) -> list[np.ndarray]:
    """Random floats of many magnitudes, with all pairs of special values in front."""
    rng = np.random.default_rng(seed)
    special = np.array(
        [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754944e-38, 1.1754942e-38, 3.4028235e38, -3.4028235e38, 0.5, 2.0, 1.5],
        np.float32,
    )  # fmt: skip
    n = len(special)
    out = []
    for index in range(operands):
        values = (
            rng.standard_normal(n * n + count) * np.exp(rng.uniform(-scale, scale, n * n + count))
        ).astype(np.float32)
        values[: n * n] = (
            np.repeat(special, n)
            if index == 0
            else np.tile(special, n)
            if index == 1
            else np.resize(special[::-1], n * n)
        )
        out.append(values)
    return out


def same_bits_or_nan(got: np.ndarray, want: np.ndarray, dtype: type) -> None:
    """Equal bit for bit, except that any NaN equals any NaN."""
    got = got.view(dtype)
    want = want.astype(dtype) if want.dtype != dtype else want
    bits = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bad = (got.view(bits) != want.view(bits)) & ~(
        np.isnan(got.astype(np.float64)) & np.isnan(want.astype(np.float64))
    )
    assert not bad.any(), (
        f"{bad.sum()} differ, first at {bad.argmax()}: got {got[bad][:4]}, want {want[bad][:4]}"
    )
