"""Arguments of kernels: bound to parameters, told apart, and taken apart for the driver."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from . import descriptors
from . import specialize as sp
from .dependencies import constant_key
from .references import is_editable


def make_binder(fn: Any) -> Callable:
    """A function with the kernel's parameters that returns all arguments, and
    the options among the keywords. Python itself then binds and complains."""
    parameters = []
    namespace: dict[str, Any] = {}
    for i, p in enumerate(fn.params):
        if p.is_keyword_only and "*" not in parameters:
            parameters.append("*")
        if p.default is inspect.Parameter.empty:
            parameters.append(p.name)
        else:
            namespace[f"_d{i}"] = p.default
            parameters.append(f"{p.name}=_d{i}")
    arguments = "".join(p.name + ", " for p in fn.params)
    text = (
        f"def {fn.__name__}({', '.join([*parameters, '**_options'])}):\n"
        f"    return ({arguments}), _options\n"
    )
    exec(compile(text, f"<arguments of {fn.__name__}>", "exec"), namespace)
    return namespace[fn.__name__]


#: How a parameter's arguments are told apart.
VALUE, UNALIGNED, TYPE_ONLY, CONSTANT = range(4)


def mode_of(parameter: Any) -> int:
    """Which of these a parameter asks for."""
    if parameter.is_constexpr:
        return CONSTANT
    if not parameter.do_not_specialize_on_alignment:
        return VALUE
    return TYPE_ONLY if parameter.do_not_specialize else UNALIGNED


SPECIALIZE = {
    VALUE: sp.specialize,
    UNALIGNED: sp.specialize_without_alignment,
    TYPE_ONLY: sp.specialize_type_only,
}


def constant_in_key(value: Any) -> Any:
    """A constant as part of a key: hashable, and equal only to its like."""
    if is_editable(value, constant=True):
        return constant_key(value)
    try:
        hash(value)
    except TypeError:
        if isinstance(value, (list, tuple)):
            return tuple(map(constant_in_key, value))
        return repr(value)
    if isinstance(value, (tuple, float)):
        return (repr(value), value)
    return value


def plain(value: Any) -> Any:
    from ..language.values import plain_number, unwrap

    return plain_number(unwrap(value))


def take_apart(spec: Any, value: Any, result: list[Any]) -> None:
    """Adds what a launch passes for a value, whose description is `spec`."""
    if isinstance(spec, tuple):
        for s, v in zip(spec, value, strict=False):
            take_apart(s, v, result)
    elif descriptors.is_descriptor(spec):
        result += descriptors.types(spec) if value is spec else descriptors.values(value)
    elif spec != "constexpr":
        result.append(value)


def note_passed(spec: Any, flags: list[bool]) -> None:
    """Adds, for each part of an argument, whether a kernel takes it."""
    if isinstance(spec, tuple):
        for item in spec:
            note_passed(item, flags)
    elif descriptors.is_descriptor(spec):
        flags += [True] * len(descriptors.types(spec))
    else:
        flags.append(spec != "constexpr")


def runtime_parameters(kernel: Any) -> dict[str, str]:
    """The names and types of what a launch passes, tuples and descriptors taken
    apart."""
    parameters: dict[str, str] = {}
    for name, spec in kernel.signature.items():
        types: list[str] = []
        take_apart(spec, spec, types)
        for i, ty in enumerate(types):
            part = f"{name}[{i}]" if isinstance(spec, tuple) or i > 0 else name
            parameters[part] = ty.replace("*k", "*")
    return parameters
