"""FlagGems: its operators, called by their names, against torch's."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pretend
import torch
import torch.nn.functional as F
from cases import Case, Inputs, check

PACKAGE = "flag_gems"

Make = Callable[[Inputs], tuple]


def configure(device: str) -> None:
    os.environ.setdefault("GEMS_VENDOR", "nvidia")
    if device == "cpu":
        pretend.a_gpu_is_there()


def _same(*names: str, make: Make) -> dict[str, tuple[Callable, Make]]:
    """Operators that torch has under the same name."""
    found = {
        name: getattr(torch, name, None) or getattr(F, name.replace("_sig", "sig"), None)
        for name in names
    }
    return {name: (function, make) for name, function in found.items()}


def _operators() -> dict[str, tuple[Callable, Make]]:
    """Name: torch's function, and the arguments of both."""

    def one(m: Inputs) -> tuple:
        return (m.normal(13, 45),)

    def positive(m: Inputs) -> tuple:
        return (m.uniform(13, 45) * 0.9 + 0.05,)

    def two(m: Inputs) -> tuple:
        return m.normal(13, 45), m.normal(13, 45)

    def whole(m: Inputs) -> tuple:
        return m.integers(-50, 50, 13, 45, dtype=torch.int32), m.integers(
            1, 50, 13, 45, dtype=torch.int32
        )

    def along(*dims: Any) -> Make:
        return lambda m: (m.normal(13, 45), *dims)

    half = torch.float16
    return {
        **_same(
            "abs", "ceil", "cos", "erf", "exp", "exp2", "expm1", "neg", "relu", "round", "sigmoid",
            "silu", "sin", "tan", "tanh", "isfinite", "isinf", "isnan", "logical_not", "elu",
            "celu", "selu", "gelu", "softplus", "square", "log_sigmoid", make=one,
        ),
        **_same("log", "log10", "reciprocal", "rsqrt", "sqrt", "acos", "atan", make=positive),
        **_same(
            "add", "sub", "mul", "true_divide", "maximum", "minimum", "fmin", "eq", "ne", "lt",
            "le", "gt", "ge", "hypot", "logaddexp", "logical_and", "logical_or", "logical_xor",
            "copysign", "atan2", "isclose", "floor_divide", "remainder", make=two,
        ),
        "bitwise_and_tensor": (torch.bitwise_and, whole),
        "bitwise_or_tensor": (torch.bitwise_or, whole),
        "bitwise_not": (torch.bitwise_not, lambda m: whole(m)[:1]),
        "pow_tensor_scalar": (torch.pow, lambda m: (*positive(m), 2.5)),
        "clamp": (torch.clamp, along(-0.5, 0.7)),
        "where_self": (torch.where, lambda m: (m.normal(13, 45) > 0, *two(m))),
        "masked_fill": (torch.masked_fill, lambda m: (m.normal(9, 30), m.normal(9, 30) > 0, 2.0)),
        "lerp_scalar": (torch.lerp, lambda m: (*two(m), 0.3)),
        "addcmul": (torch.addcmul, lambda m: (*two(m), m.normal(13, 45))),
        "nan_to_num": (torch.nan_to_num, one),
        "glu": (F.glu, lambda m: (m.normal(9, 32),)),
        "prelu": (F.prelu, lambda m: (m.normal(9, 32), m.normal(1))),
        # Reductions.
        "sum": (torch.sum, one), "mean": (torch.mean, one), "max": (torch.max, one),
        "min": (torch.min, one), "prod": (torch.prod, lambda m: (m.uniform(40) + 0.5,)),
        "all": (torch.all, lambda m: (m.normal(9, 30) > -9,)),
        "any": (torch.any, lambda m: (m.normal(9, 30) > 2,)),
        "sum_dim": (torch.sum, along([1])),
        "mean_dim": (torch.mean, along([1])), "amax": (torch.amax, along([1])),
        "max_dim": (torch.max, along(1)), "min_dim": (torch.min, along(1)),
        "argmax": (torch.argmax, along(1)), "argmin": (torch.argmin, along(1)),
        "prod_dim": (torch.prod, lambda m: (m.uniform(9, 20) + 0.5, 1)),
        "var_mean": (torch.var_mean, along([1])),
        "vector_norm": (torch.linalg.vector_norm, along(2, [1])),
        "count_nonzero": (torch.count_nonzero, along(1)),
        # Normalisation.
        "softmax": (torch.softmax, along(1)), "log_softmax": (torch.log_softmax, along(1)),
        "layer_norm": (torch.native_layer_norm, lambda m: (
            m.normal(9, 48), (48,), m.normal(48), m.normal(48), 1e-5)),
        "group_norm": (torch.native_group_norm, lambda m: (
            m.normal(2, 8, 20), m.normal(8), m.normal(8), 2, 8, 20, 4, 1e-5)),
        "rms_norm": (F.rms_norm, lambda m: (m.normal(9, 48), (48,), m.normal(48), 1e-5)),
        "mse_loss": (F.mse_loss, two),
        # Scans, sorting, moving.
        "cumsum": (torch.cumsum, along(1)), "cummax": (torch.cummax, along(1)),
        "cummin": (torch.cummin, along(1)),
        "sort": (torch.sort, along(1)),
        "topk": (torch.topk, lambda m: (m.normal(7, 64), 5)),
        "flip": (torch.flip, along([1])), "roll": (torch.roll, along(3, 1)),
        "tril": (torch.tril, along(1)), "triu": (torch.triu, along(-1)),
        "cat": (torch.cat, lambda m: (two(m), 1)), "stack": (torch.stack, lambda m: (two(m), 1)),
        "tile": (torch.tile, along((2, 3))), "diag": (torch.diag, lambda m: (m.normal(17),)),
        "pad": (F.pad, along((1, 2))),
        "gather": (torch.gather, lambda m: (m.normal(9, 30), 1, m.integers(0, 30, 9, 8))),
        "index_select": (torch.index_select, lambda m: (m.normal(20, 9), 0, m.integers(0, 20, 7))),
        "embedding": (torch.embedding, lambda m: (m.normal(20, 16), m.integers(0, 20, 5))),
        "scatter": (torch.scatter, lambda m: (
            m.normal(9, 30), 1, m.integers(0, 30, 9, 1), m.normal(9, 1))),
        "one_hot": (F.one_hot, lambda m: (m.integers(0, 7, 20), 7)),
        "isin": (torch.isin, lambda m: (m.integers(0, 9, 30), m.integers(0, 9, 4))),
        # Dots.
        "mm": (torch.mm, lambda m: (m.normal(32, 32, dtype=half), m.normal(32, 48, dtype=half))),
        "addmm": (torch.addmm, lambda m: (
            m.normal(48, dtype=half), m.normal(32, 32, dtype=half), m.normal(32, 48, dtype=half))),
        "bmm": (torch.bmm, lambda m: (
            m.normal(2, 32, 32, dtype=half), m.normal(2, 32, 32, dtype=half))),
        "mv": (torch.mv, lambda m: (m.normal(20, 40), m.normal(40))),
        "outer": (torch.outer, lambda m: (m.normal(20), m.normal(30))),
        "dot": (torch.dot, lambda m: (m.normal(300), m.normal(300))),
        "kron": (torch.kron, lambda m: (m.normal(5, 6), m.normal(3, 4))),
    }  # fmt: skip


#: Whole autotuning runs in the simulator, and what asks for a GPU's memory.
ON_A_GPU = {
    "maximum",
    "minimum",
    "where_self",
    "prelu",
    "mm",
    "addmm",
    "bmm",
    "sort",
    "topk",
    "isin",
    "kron",
}


def _compare(name: str, reference: Callable, make: Make, device: str) -> None:
    import flag_gems

    ours = getattr(flag_gems.ops, name)
    found, expected = ours(*make(Inputs(device))), reference(*make(Inputs(device)))
    if name in ("layer_norm", "group_norm"):  # The statistics have shapes of their own.
        found, expected = found[0], expected[0]
    check(found, expected, 1e-2 if name in ("mm", "addmm", "bmm") else 1e-3)


def cases(device: str) -> list[Case]:
    import flag_gems

    known = set(dir(flag_gems.ops))
    return [
        Case(
            name,
            lambda n=name, r=reference, m=make: _compare(n, r, m, device),
            ("cuda",) if name in ON_A_GPU else ("cpu", "cuda"),
        )
        for name, (reference, make) in _operators().items()
        if name in known and make is not None
    ]
