"""A kernel's signature, as text and as structures of values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..errors import SemanticError, TileError
from ..language.descriptor import tensor_descriptor_type
from ..language.dtypes import block_type, dtype, int32, int64, str_to_type
from ..runtime import descriptors
from .flatten import Constant, Sequence_


def structure_of(spec: Any, constant: Any = None) -> Any:
    """The structure of the parameter that a signature entry stands for."""
    if isinstance(spec, (tuple, list)):
        constants = constant if isinstance(constant, (tuple, list)) else [None] * len(spec)
        return Sequence_(
            type(spec) if hasattr(spec, "_fields") else tuple,
            tuple(structure_of(s, c) for s, c in zip(spec, constants, strict=False)),
        )
    if isinstance(spec, dtype):
        return spec
    if spec == "constexpr":
        return Constant(constant)
    if not isinstance(spec, str):
        raise SemanticError(f"a signature has type names, not {spec!r}")
    if descriptors.is_descriptor(spec):
        return _descriptor(spec)
    return str_to_type(spec)


def _descriptor(spec: str) -> Any:
    """``tensordesc<fp16[64, 64]>``: a descriptor made on the host."""
    name, shape = descriptors.parse(spec)
    block = block_type(str_to_type(name), shape)
    rank = descriptors.pixel_rank(spec) or len(shape)
    if layout := descriptors.layout_of(spec):
        from ..experimental.gluon.language import _layouts
        from ..experimental.gluon.language.nvidia.hopper import tma

        of_blocks = _layouts.parse(layout)
        kind: Any = tma.tensor_descriptor_type
        if descriptors.pixel_rank(spec) > 0:
            kind = tma.tensor_descriptor_im2col_type
        elif not isinstance(of_blocks, _layouts.NVMMASharedLayout):
            from ..experimental.gluon.language.amd.cdna5 import tdm

            kind = tdm.tensor_descriptor_type
        return kind(block, (int32,) * rank, (int64,) * rank, of_blocks)
    return tensor_descriptor_type(block, (int32,) * rank, (int64,) * rank)


def normalize_constants(constants: dict[Any, Any], names: list[str]) -> dict[tuple[int, ...], Any]:
    """Keys constants by the path to them: (index,) or (index, item, ...)."""
    result = {}
    for key, value in (constants or {}).items():
        if isinstance(key, str):
            if key not in names:
                raise SemanticError(f"the constant `{key}` is not a parameter of the kernel")
            key = (names.index(key),)
        elif isinstance(key, int):
            key = (key,)
        elif isinstance(key[0], str) and key[0] in names:
            key = (names.index(key[0]), *key[1:])
        result[tuple(key)] = value
    return result


def _with_our_bool(spec: Any) -> Any:
    """A description in which `u1`, as Triton calls the type of True, is `i1`."""
    if isinstance(spec, tuple):
        items = map(_with_our_bool, spec)
        return type(spec)(*items) if hasattr(spec, "_fields") else tuple(items)
    return "i1" if spec == "u1" else spec


def normalize_signature(
    signature: Mapping[Any, Any] | str,
    constants: dict[tuple[int, ...], Any],
    kernel: str,
    names: list[str],
) -> dict[str, Any]:
    """The types by name, in the order of the parameters, with those of constants."""
    if isinstance(signature, str):
        types = [text.strip() for text in signature.split(",")]
        # Older programs leave out the constants.
        given = [i for i in range(len(names)) if (i,) not in constants]
        if len(types) == len(names):
            given = list(range(len(names)))
        if len(types) != len(given):
            raise TileError(f"`{kernel}` has {len(given)} parameters, the signature {signature!r}")
        signature = dict(zip(given, types, strict=True))
    found: dict[str, Any] = {}
    for key, spec in signature.items():
        if isinstance(key, int) and 0 <= key < len(names):
            key = names[key]
        if key not in names:
            raise TileError(f"the signature names `{key}`, which is not a parameter of `{kernel}`")
        found[key] = _with_our_bool(spec)
    for path in constants:
        if len(path) == 1:
            found.setdefault(names[path[0]], "constexpr")
    return {name: found[name] for name in names if name in found}


def attribute_hints(
    attrs: dict[Any, Any], names: list[str], constants: Collection[tuple[int, ...]] = ()
) -> dict[str, dict[str, int]]:
    """The attributes of parameters: name -> {"tt.divisibility": 16, ...}. Constants have none:
    programs take texts among them for descriptions."""
    hints: dict[str, dict[str, int]] = {}
    for key, values in (attrs or {}).items():
        if isinstance(key, str):
            name = key
        else:
            path = (key,) if isinstance(key, int) else tuple(key)
            if path in constants:
                continue
            first = path[0] if isinstance(path[0], str) else names[path[0]]
            name = first + "".join(f".{i}" for i in path[1:])
        found = hints.setdefault(name, {})
        items: Iterable = values.items() if isinstance(values, dict) else values
        for attribute, value in items:
            found[attribute] = int(value)
    return {name: found for name, found in hints.items() if found}
