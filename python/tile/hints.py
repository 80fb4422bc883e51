"""What a message says to write, where a name is not there or means something else."""

from __future__ import annotations

from collections.abc import Iterable

#: Methods of arrays elsewhere, and what takes their place on a block.
_OF_BLOCKS = {
    "astype": "use `x.to(dtype)`",
    "float": "use `x.to(tl.float32)`",
    "half": "use `x.to(tl.float16)`",
    "int": "use `x.to(tl.int32)`",
    "mean": "use `tl.sum(x, axis) / n`",
    "std": "compute it with `tl.sum`",
    "var": "compute it with `tl.sum`",
    "clip": "use `tl.clamp(x, low, high)`",
    "clamp": "use `tl.clamp(x, low, high)`",
    "pow": "use `libdevice.pow(x, y)`, from tl.extra",
    "tanh": "use `libdevice.tanh(x)`, from tl.extra",
    "size": "use `x.numel`",
    "flatten": "use `tl.reshape(x, [x.numel])`",
    "squeeze": "use `tl.squeeze(x, axis)`",
    "unsqueeze": "use `tl.expand_dims(x, axis)`",
    "repeat": "use `tl.broadcast_to(x, shape)`",
    "dot": "use `tl.dot(a, b)`",
}

#: The same for pointers.
_OF_POINTERS = {
    name: "a pointer does not know the sizes of its array; pass them as arguments"
    for name in ("size", "stride", "strides", "dim", "itemsize", "nbytes")
}

#: Functions elsewhere, and what takes their place in `tl`.
_OF_LANGUAGE = {
    "relu": "use `tl.maximum(x, 0)`",
    "gelu": "compute it with `libdevice.erf`, from tl.extra",
    "silu": "use `x * tl.sigmoid(x)`",
    "tanh": "use `libdevice.tanh`, from tl.extra",
    "pow": "use `libdevice.pow`, from tl.extra",
    "mean": "use `tl.sum(x, axis) / n`",
    "ones": "use `tl.full(shape, 1, dtype)`",
    "ones_like": "use `tl.full(x.shape, 1, x.dtype)`",
    "empty": "use `tl.zeros(shape, dtype)`",
    "matmul": "use `tl.dot(a, b)`",
    "mm": "use `tl.dot(a, b)`",
    "concatenate": "use `tl.cat(a, b)`",
    "concat": "use `tl.cat(a, b)`",
    "stack": "use `tl.join(a, b)`",
    "transpose": "use `tl.trans(x)`",
    "power": "use `libdevice.pow`, from tl.extra",
    "round": "use `libdevice.rint`, from tl.extra",
    "float": "use `tl.float32`",
    "int": "use `tl.int32`",
    "bool": "use `tl.int1`",
    "double": "use `tl.float64`",
    "half": "use `tl.float16`",
    "syncthreads": "use `tl.debug_barrier()`",
    "thread_id": "a program works on blocks; use `tl.arange` for the elements",
    "block_id": "use `tl.program_id(axis)`",
    "printf": "use `tl.device_print(text, value)`",
    "print": "use `tl.device_print(text, value)`",
}


def closest(name: str, names: Iterable[str]) -> str:
    """The end of a message about a name that nothing has, if another is like it."""
    import difflib  # Not part of what `import tile` costs.

    found = difflib.get_close_matches(name, [n for n in names if not n.startswith("_")], 1, 0.75)
    return f"; did you mean `{found[0]}`?" if found else ""


def for_member(name: str, names: Iterable[str], is_pointer: bool) -> str:
    """The same about a method or attribute of a value in a kernel."""
    known = _OF_POINTERS if is_pointer else _OF_BLOCKS
    return f"; {known[name]}" if name in known else closest(name, names)


def for_function(name: str, names: Iterable[str]) -> str:
    """The same about a name in `tl`."""
    return f"; {_OF_LANGUAGE[name]}" if name in _OF_LANGUAGE else closest(name, names)
