"""What a message says to write, where a name is not there or means something else."""

from __future__ import annotations

import re
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
    "pow": "use `tl.math.pow(x, y)`",
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
    "pow": "use `tl.math.pow`",
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
    "power": "use `tl.math.pow`",
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

#: Python's own functions that work on constants, and what takes their place on a block.
_OF_PYTHON = {
    "round": "use `libdevice.rint`, from tl.extra, for run-time values",
    "pow": "use `tl.math.pow`, for run-time values",
    "divmod": "use `//` and `%` for run-time values",
    "sorted": "use `tl.sort` for run-time values",
    "all": "use `tl.all(x, axis)` for run-time values",
    "any": "use `tl.any(x, axis)` for run-time values",
    "map": "write a loop over `tl.static_range`",
    "open": "a kernel has no files; store results through pointers",
    "input": "a kernel reads what its pointers point to",
}

#: For an index into the shape of what has none.
NO_SIZES = (
    "the shape of a scalar or a pointer has no items; pass the sizes of an array as arguments"
)
#: For a store through an array that NumPy says is read-only.
WRITABLE = "pass an array that may be written, such as a copy"
#: For a block pointer that leaves its array.
BOUNDARY_CHECK = "name each dimension that may leave the array in `boundary_check`"


def mask(what: str) -> str:
    """For an access that leaves its array."""
    return f"mask the {what}: switch off the elements that are outside of the array"


#: For one that reaches no array at all.
REACHABLE = (
    "an array whose address the kernel has loaded is named by `with tile.sim.reachable(array):`"
)


#: Which page of docs/diagnostics explains a message, by what the message holds.
_PAGES = {
    "block-sizes": "elements, more than the limit of",
    "constants": "must be known at compile time|arange needs constants|is declared tl.const",
    "shapes": "do not fit together",
    "conditions": "^the condition of `(if|while|if ... else)` (must be a scalar|is a block)",
    "types": "a variable keeps its type through a loop|both branches must agree",
    "globals": "a kernel is compiled once and would not see it change|is a plain Python function:",
    "offsets": "this int32 offset overflows",
    "resources": "^out of resource: ",
    "race": "^race: ",
    "undefined-lanes": "^undefined-lanes: |masked load leaves undefined",
}


def more(message: str) -> str:
    """The last line of a message that a page explains: how to read that. Empty for others."""
    for page, pattern in _PAGES.items():
        if re.search(pattern, message):
            return f"\nmore: tile help {page}"
    return ""


def closest(name: str, names: Iterable[str]) -> str:
    """The end of a message about a name that nothing has, if another is like it."""
    import difflib  # Not part of what `import tile` costs.

    known = [n for n in names if not n.startswith("_")]
    found = [n for n in known if n.lower() == name.lower()]
    found = found or difflib.get_close_matches(name, known, 1, 0.75)
    return f"; did you mean `{found[0]}`?" if found else ""


def for_member(name: str, names: Iterable[str], is_pointer: bool) -> str:
    """The same about a method or attribute of a value in a kernel."""
    known = _OF_POINTERS if is_pointer else _OF_BLOCKS
    return f"; {known[name]}" if name in known else closest(name, names)


def for_function(name: str, names: Iterable[str]) -> str:
    """The same about a name in `tl`."""
    return f"; {_OF_LANGUAGE[name]}" if name in _OF_LANGUAGE else closest(name, names)


def for_builtin(name: str) -> str:
    """The same about a function of Python's own."""
    return f"; {_OF_PYTHON[name]}" if name in _OF_PYTHON else ""
