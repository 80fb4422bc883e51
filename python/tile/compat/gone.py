"""Names of older releases that are no more, and what to use in their place."""

from __future__ import annotations

_OPS = (
    "was taken out of Triton in 3.0: its kernels are examples now (examples/matmul.py, "
    "examples/attention.py), and the package triton_kernels has more"
)
_ATTRS = (
    "was taken out of Triton in 3.2: say what is known of parameters by position, as in "
    'attrs={(0,): [["tt.divisibility", 16]]}; launches find it by themselves'
)
GONE = {
    "triton.ops": _OPS,
    "triton.compiler.AttrsDescriptor": _ATTRS,
    "triton.compiler.compiler.AttrsDescriptor": _ATTRS,
    "triton.backends.compiler.AttrsDescriptor": _ATTRS,
}


def farewell(path: str) -> str | None:
    """What is to be said of a name that is gone; None of others."""
    for name, what in GONE.items():
        if path == name or path.startswith(name + "."):
            return f"{name} {what}"
    return None
