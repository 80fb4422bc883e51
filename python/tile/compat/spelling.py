"""A module's text as Triton spells it, for programs that compare it."""

from __future__ import annotations

import re
from typing import Any

from tile import _C

_RULES: list[tuple[re.Pattern[str], Any]] = [
    (re.compile(r"\bttnvgpu\."), "ttng."),
    (re.compile(r"\bgpu\.barrier\b"), "ttg.barrier local|global_read|global_write"),
    # The block of a descriptor is no tensor there.
    (re.compile(r"!tt\.tensordesc<tensor<([^<>]*(?:<[^<>]*>[^<>]*)*)>>"), r"!tt.tensordesc<\1>"),
    (re.compile(r"(tt\.make_tensor_descriptor .* : <[^>]*>, )<tensor<(.*)>>"), r"\1<\2>"),
    # Stores that still read are the default here, those that still write there.
    (re.compile(r"(async_tma_store_wait \{)complete, (pendings = \d+ : i32)\}"), r"\1\2!}"),
    (re.compile(r"(async_tma_store_wait \{pendings = \d+ : i32)\}"), r"\1, read_only}"),
    (re.compile(r"(async_tma_store_wait \{pendings = \d+ : i32)!\}"), r"\1}"),
    (re.compile(r"(async_tdm_copy_global_to_local .* into %\w+) barrier = "), r"\1, barrier = "),
]

#: What is known of parameters here, and has no name there.
_OWN_FACTS = re.compile(
    r"tt\.(?:max|non_negative|zero_padded|round_f32_to_tf32) = \d+ : i(?:32|64)(?:, )?"
)
_FACTS = re.compile(r"(%\w+: (!tt\.tensordesc<.*?>|[^,{}()]+)) \{([^{}]*)\}")


def _parameter(match: re.Match[str]) -> str:
    # Descriptors have none at all.
    known = "" if match[2].startswith("!tt.tensordesc") else _OWN_FACTS.sub("", match[3])
    known = known.removesuffix(", ")
    return f"{match[1]} {{{known}}}" if known else match[1]


def _parameters(line: str) -> str:
    return _FACTS.sub(_parameter, line) if line.lstrip().startswith("tt.func public") else line


_SPLIT = re.compile(
    r"(#ttng\.tensor_memory(?:_scales)?_encoding<[^>]*?)CTASplit([MN]) = (\d+)(?=[,>])"
)


def _split(match: re.Match[str]) -> str:
    """Blocks along one dimension of tensor memory, as bases."""
    bases = [1 << bit for bit in range(int(match[3]).bit_length() - 1)]
    pairs = [[b, 0] if match[2] == "M" else [0, b] for b in bases]
    return f"{match[1]}CGALayout = {pairs}"


_WMMA = re.compile(r"warpsPerCTA = \[(\d+), (\d+)\](?:, tilesPerWarp = \[(\d+), (\d+)\])?")


def _bases(extents: list[int], steps: list[int]) -> str:
    """The bases of a grid whose last dimension counts fastest."""
    found = []
    for dim in reversed(range(len(extents))):
        for bit in range(extents[dim].bit_length() - 1):
            found.append([steps[dim] << bit if d == dim else 0 for d in range(len(extents))])
    return str(found)


def _wmma_grid(match: re.Match[str]) -> str:
    warps = [int(match[1]), int(match[2])]
    tiles = [int(match[3] or 1), int(match[4] or 1)]
    parts = []
    if tiles != [1, 1]:
        parts.append(f"register = {_bases(tiles, [1, 1])}")
    if warps != [1, 1]:
        parts.append(f"warp = {_bases(warps, tiles)}")
    return f"ctaLayout = {{{', '.join(parts)}}}"


def _wmma(line: str) -> str:
    return _WMMA.sub(_wmma_grid, line) if "#ttg.amd_wmma<" in line else line


def respell(module: str) -> str:
    """The text of a module, with what Triton calls by other names."""
    for pattern, text in _RULES:
        module = pattern.sub(text, module)
    module = "\n".join(
        line if "CTASplitM" in line and "CTASplitN" in line else _SPLIT.sub(_split, line)
        for line in module.split("\n")
    )
    return "\n".join(_parameters(_wmma(line)) for line in module.split("\n"))


def as_triton(module: Any) -> str:
    """The text of a module without locations and without the names of variables."""
    return respell(str(_C.ir.Module.parse(str(module), _C.ir.Context())).rstrip("\n") + "\n")
