"""What a kernel was compiled for, as text: another process compiles it from that ahead of its
first launch."""

from __future__ import annotations

import dataclasses
import importlib
import json
from typing import Any

from ..errors import TileError
from .jit import defined


class WrongData(TileError, RuntimeError):
    """A text that describes another kernel than the one it is given to."""


def _target(target: Any) -> dict[str, Any]:
    return dataclasses.asdict(target)


def _encode(value: Any) -> Any:
    """A value as JSON can hold it; TypeError for one that only this process knows."""
    from ..language.dtypes import dtype

    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):  # With its sign, and those that JSON lacks.
        return {"float": value.hex()}
    if isinstance(value, dtype):
        return {"dtype": str(value)}
    if type(value) in (tuple, list):
        return {type(value).__name__: [_encode(item) for item in value]}
    if getattr(type(value), "__tile_jit__", False):
        return {"function": [value.module, value.__qualname__]}
    raise TypeError(f"a {type(value).__name__} is no text")


def _decode(value: Any) -> Any:
    from ..language.dtypes import str_to_type

    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "float":
        return float.fromhex(content)
    if kind == "dtype":
        return str_to_type(content)
    if kind == "function":
        module, name = content
        found = find_function(module, name) or defined.get((module, name))
        if found is None:
            raise WrongData(f"Specialization data is for a function `{name}` of {module}")
        return found
    items = [_decode(item) for item in content]
    return tuple(items) if kind == "tuple" else items


def specialization_data(
    source: Any, target: Any, options: dict[str, Any], key: str | None
) -> str | None:
    """What `preload` takes; None where a constant has no text. The kernel's key in
    `device_caches` is part of it."""
    try:
        record = {
            "name": source.name,
            "hash": source.hash(),
            "key": key,
            "target": _target(target),
            "signature": {name: _encode(spec) for name, spec in source.signature.items()},
            "constants": [[_encode(k), _encode(v)] for k, v in source.constants.items()],
            "attrs": [[_encode(k), _encode(v)] for k, v in source.attrs.items()],
            "options": {name: _encode(value) for name, value in options.items()},
        }
    except TypeError:
        return None
    return json.dumps(record)


def find_function(module: str, name: str) -> Any:
    """The jit function of this name in a module; None if there is none."""
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    while found is not None and not getattr(found, "__tile_jit__", False):
        found = getattr(found, "fn", None)  # Of an autotuner, say.
    return found


def load(fn: Any, data: str, target: Any) -> tuple[Any, dict[str, Any], str | None]:
    """The source, the options and the key of a compile that `specialization_data` described."""
    from ..compiler import ASTSource

    record = json.loads(data)
    if record["name"] != fn.__name__:
        raise WrongData(
            f"Specialization data is for `{record['name']}`, and cannot preload `{fn.__name__}`"
        )
    if record["target"] != _target(target):
        raise WrongData(
            f"Specialization data is for {record['target']}; kernels are compiled for {target} now"
        )
    source = ASTSource(
        fn,
        {name: _decode(spec) for name, spec in record["signature"].items()},
        {_decode(key): _decode(value) for key, value in record["constants"]},
        {_decode(key): _decode(value) for key, value in record["attrs"]},
    )
    if source.hash() != record["hash"]:
        raise WrongData(f"`{fn.__name__}` is not what it was when this was written")
    options = {name: _decode(value) for name, value in record["options"].items()}
    return source, options, record["key"]
