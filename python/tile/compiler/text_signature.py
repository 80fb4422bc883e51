"""The parameters of a kernel in a file of IR, by name."""

from __future__ import annotations

import re

from ..backends.stages import KERNEL_OF_MODULE

#: Types of elements, as signatures name them.
_TYPES = {
    "f16": "fp16", "bf16": "bf16", "f32": "fp32", "f64": "fp64", "f8E4M3FN": "fp8e4nv",
    "f8E5M2": "fp8e5", "f8E4M3FNUZ": "fp8e4b8", "f8E5M2FNUZ": "fp8e5b16",
    **{f"i{bits}": f"i{bits}" for bits in (1, 8, 16, 32, 64)},
}  # fmt: skip
_FUNCTION = re.compile(KERNEL_OF_MODULE + r"[\w$.]+\"?\s*\(")
_DESCRIPTOR = re.compile(r"\btt\.nv_tma_desc\b")
_PARAMETER = re.compile(r"%([\w$.-]+)\s*:\s*(!tt\.ptr<(\w+)(?:,\s*\d+)?>|\w+)")


def _list_of_parameters(text: str) -> str | None:
    """What is between the parentheses of the kernel; None if there is no kernel."""
    begin = _FUNCTION.search(text)
    if begin is None:
        return None
    depth = 1
    for at in range(begin.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if not depth:
            return text[begin.end() : at]
    return None


def signature_of(text: str) -> dict[str, str] | None:
    """The names and types of the parameters; None where a type is none of a launch, such as a
    descriptor's, which is several arguments."""
    inside = _list_of_parameters(text)
    if inside is None:
        return None
    signature: dict[str, str] = {}
    count = len(re.findall(r"%[\w$.-]+\s*:", inside))
    for name, plain, pointee in _PARAMETER.findall(inside):
        element = _TYPES.get(pointee or plain)
        if element is None:
            return None
        signature[name] = f"*{element}" if pointee else element
    return signature if len(signature) == count else None


def words_of_signature(text: str) -> list[str]:
    """The types of the parameters as Triton calls those of a file: in the words of the IR, but
    `nvTmaDesc` for what is marked as the descriptor of a copy."""
    words = [words_of_ir(name) for name in (signature_of(text) or {}).values()]
    inside = _list_of_parameters(text) or ""
    ends = [found.start() for found in _PARAMETER.finditer(inside)] + [len(inside)]
    for i in range(len(words)):
        if _DESCRIPTOR.search(inside, ends[i], ends[i + 1]):
            words[i] = "nvTmaDesc"
    return words


_WORDS = {name: word for word, name in _TYPES.items()}


def words_of_ir(name: str) -> str:
    """A type of a signature as the IR names it: `*f32` of `*fp32`."""
    return "*" + _WORDS[name[1:]] if name.startswith("*") else _WORDS[name]
