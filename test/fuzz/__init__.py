"""Random kernels: valid programs of the language, run in two ways that must agree."""

# ruff: noqa: F401, I001
# Each module registers what it produces. The order decides which program a seed has, so it is the
# same whichever module is imported first.
from . import memory
from . import buffers, collective, control, counters, elementwise, extras, floats, formulas
from . import (
    functions,
    indices,
    matrix,
    ordering,
    parts,
    replicas,
    scaled,
    warps,
    pipelines,
    shapes,
    strided,
)
