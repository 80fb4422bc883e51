"""Layouts from the attributes that IR has: the way back from `Layout.mlir`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from . import _amd_layouts as amd
from . import _layouts as ll

_TOKEN = re.compile(r"\s*(#[\w.]+|-?\d+|[A-Za-z_]\w*|:\+|.)")


class _Reader:
    """Reads ``#ttg.name<{key = value, ...}>`` into names, dictionaries and lists."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if expected is not None and token != expected:
            raise ValueError(f"expected {expected!r}, found {token!r}")
        self.at += 1
        return token

    def value(self) -> Any:
        token = self.take()
        if token.startswith("#"):
            return self.attribute(token)
        if token == "[":
            return self.items("]", self.value)
        if token in ("true", "false"):
            return token == "true"
        value = int(token)
        if self.peek() == ":+":
            self.take()
            return [value, int(self.take())]
        return value

    def items(self, end: str, read: Any) -> list[Any]:
        found = []
        while self.peek() != end:
            found.append(read())
            if self.peek() == ",":
                self.take()
        self.take(end)
        return found

    def pair(self) -> tuple[str, Any]:
        key = self.take()
        self.take("=")
        return key, self.value()

    def attribute(self, name: str) -> tuple[str, dict[str, Any]]:
        """The name of an attribute, and its parameters; lists without a key are `pads`."""
        parameters: dict[str, Any] = {}
        if self.peek() != "<":
            return name, parameters
        self.take("<")
        while self.peek() != ">":
            if self.peek() == "{":
                self.take()
                parameters.update(self.items("}", self.pair))
            elif self.peek() == "[":
                parameters["pads"] = self.value()
            else:
                key, value = self.pair()
                parameters[key] = value
            if self.peek() == ",":
                self.take()
        self.take(">")
        return name, parameters


def _blocked(p: dict[str, Any], shape: Sequence[int]) -> Any:
    cga = p.get("CGALayout", [])
    return ll.BlockedLayout(
        p["sizePerThread"], p["threadsPerWarp"], p["warpsPerCTA"], p["order"], cga
    )


def _slice(p: dict[str, Any], shape: Sequence[int]) -> Any:
    dim = p["dim"]
    return ll.SliceLayout(dim, _build(p["parent"], [*shape[:dim], 1, *shape[dim:]]))


def _linear(p: dict[str, Any], shape: Sequence[int]) -> Any:
    return ll.DistributedLinearLayout(p["register"], p["lane"], p["warp"], p["block"], list(shape))


def _dot_operand(p: dict[str, Any], shape: Sequence[int]) -> Any:
    return ll.DotOperandLayout(p["opIdx"], _build(p["parent"], shape), p.get("kWidth", 0))


def _mma(p: dict[str, Any], shape: Sequence[int]) -> Any:
    return ll.NVMMADistributedLayout(
        [p["versionMajor"], p["versionMinor"]], p["warpsPerCTA"], p["instrShape"],
        p.get("CGALayout", []),
    )  # fmt: skip


def _mfma(p: dict[str, Any], shape: Sequence[int]) -> Any:
    return amd.AMDMFMALayout(
        p["version"], p["instrShape"], p["isTransposed"], p["warpsPerCTA"],
        p.get("elementBitWidth"), p.get("tilesPerWarp"), p.get("CGALayout", []),
    )  # fmt: skip


def _wmma(p: dict[str, Any], shape: Sequence[int]) -> Any:
    warps = p["warpsPerCTA"]
    return amd.wmma_of_grid(
        p["version"], p["isTranspose"], warps, p.get("tilesPerWarp", [1] * len(warps)),
        p.get("instrShape", [16, 16, 16]), p.get("CGALayout", []),
    )  # fmt: skip


def _nvmma_shared(p: dict[str, Any], shape: Sequence[int]) -> Any:
    cga = p.get("CGALayout", [])
    rank = p.get("rank", len(cga[0]) if cga else 2)
    return ll.NVMMASharedLayout(
        p["swizzlingByteWidth"], p["elementBitWidth"], rank, p["transposed"],
        p.get("fp4Padded", False), cga,
    )  # fmt: skip


def _swizzled(p: dict[str, Any], shape: Sequence[int]) -> Any:
    return ll.SwizzledSharedLayout(
        p["vec"], p["perPhase"], p["maxPhase"], p["order"], p.get("CGALayout", [])
    )


def _padded(p: dict[str, Any], shape: Sequence[int]) -> Any:
    if "order" in p:
        return ll.PaddedSharedLayout.with_identity_for(p["pads"], p["shape"], p["order"])
    # IR has steps of elements, layouts have steps of what one block has.
    parts = [min((b[d] for b in p["block"] if b[d]), default=1) for d in range(len(shape))]
    blocks = [[step // e for step, e in zip(b, parts, strict=True)] for b in p["block"]]
    return ll.PaddedSharedLayout(p["pads"], p["offset"], blocks, list(shape))


def _shared_linear(p: dict[str, Any], shape: Sequence[int]) -> Any:
    return ll.SharedLinearLayout(p["offset"], p.get("block", []), p.get("alignment", 16))


_BUILDERS = {
    "#gluon.auto_encoding": lambda p, shape: ll.AutoLayout(),
    "#gluon.coalesced_encoding": lambda p, shape: ll.CoalescedLayout(),
    "#ttg.blocked": _blocked,
    "#ttg.slice": _slice,
    "#ttg.linear": _linear,
    "#ttg.dot_op": _dot_operand,
    "#ttg.nvidia_mma": _mma,
    "#ttg.amd_mfma": _mfma,
    "#ttg.amd_wmma": _wmma,
    "#ttg.nvmma_shared": _nvmma_shared,
    "#ttg.swizzled_shared": _swizzled,
    "#ttg.padded_shared": _padded,
    "#ttg.shared_linear": _shared_linear,
}


def _build(parsed: tuple[str, dict[str, Any]], shape: Sequence[int]) -> Any:
    name, parameters = parsed
    if name not in _BUILDERS:
        raise ValueError(f"no layout of the language is {name}")
    return _BUILDERS[name](parameters, shape)


def layout_of(text: str, shape: Sequence[int]) -> Any:
    """The layout that an attribute of a tensor (or buffer) of this shape stands for."""
    reader = _Reader(text)
    return _build(reader.attribute(reader.take()), shape)
