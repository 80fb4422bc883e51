"""FlagGems: its operators by their names, without their dispatcher."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .inputs import Make, call, normal, uniform, whole


def rows() -> dict[str, Make]:
    import gems as client

    client.configure("cuda")
    import flag_gems

    known = set(dir(flag_gems.ops))
    half = torch.float16

    def matrix(*more: Any, rows: int = 8192, columns: int = 8192, dtype: Any = half) -> Callable:
        return lambda: (normal(rows, columns, dtype=dtype), *more)

    def two(rows: int = 8192, columns: int = 8192) -> tuple:
        return normal(rows, columns, dtype=half), normal(rows, columns, dtype=half)

    def pair(m: int, n: int, k: int) -> Callable:
        return lambda: (normal(m, k, dtype=half), normal(k, n, dtype=half))

    operations: dict[str, Callable] = {
        **dict.fromkeys(
            ("abs", "exp", "gelu", "silu", "relu", "sigmoid", "tanh", "erf", "rsqrt", "cos",
             "sin", "isnan", "neg", "reciprocal", "log", "softplus", "elu", "nan_to_num"),
            matrix(),
        ),
        **dict.fromkeys(
            ("add", "mul", "true_divide", "maximum", "eq", "lt", "sub", "minimum", "logaddexp"), two
        ),
        "pow_tensor_scalar": matrix(2.5), "clamp": matrix(-0.5, 0.7), "glu": matrix(),
        "where_self": lambda: (normal(8192, 8192) > 0, *two()),
        "masked_fill": lambda: (normal(8192, 8192, dtype=half), normal(8192, 8192) > 0, 2.0),
        "addcmul": lambda: (*two(), normal(8192, 8192, dtype=half)),
        "sum": matrix(), "mean": matrix(), "max": matrix(), "amax": matrix([1]),
        "all": lambda: (normal(8192, 8192) > -9,), "any": lambda: (normal(8192, 8192) > 9,),
        "sum_dim": matrix([1]), "mean_dim": matrix([1]), "max_dim": matrix(1),
        "min_dim": matrix(1), "argmax": matrix(1), "argmin": matrix(1),
        "var_mean": matrix([1]), "vector_norm": matrix(2, [1]), "count_nonzero": matrix(1),
        "softmax": matrix(1), "log_softmax": matrix(1),
        "layer_norm": lambda: (
            normal(8192, 4096, dtype=half), (4096,), normal(4096, dtype=half),
            normal(4096, dtype=half), 1e-5),
        "group_norm": lambda: (
            normal(32, 320, 4096, dtype=half), normal(320, dtype=half), normal(320, dtype=half),
            32, 320, 4096, 32, 1e-5),
        "rms_norm": lambda: (
            normal(8192, 4096, dtype=half), (4096,), normal(4096, dtype=half), 1e-5),
        "mse_loss": two,
        "cumsum": matrix(1, rows=4096), "cummax": matrix(1, rows=2048),
        "sort": matrix(1, rows=2048, columns=4096), "topk": matrix(8, rows=8192, columns=1024),
        "flip": matrix([1]), "roll": matrix(3, 1), "tril": matrix(1), "triu": matrix(-1),
        "cat": lambda: (two(8192, 4096), 1), "stack": lambda: (two(8192, 4096), 1),
        "tile": matrix((2, 2), rows=4096, columns=4096),
        "gather": lambda: (normal(8192, 8192, dtype=half), 1, whole(0, 8192, 8192, 4096)),
        "index_select": lambda: (normal(16384, 8192, dtype=half), 0, whole(0, 16384, 8192)),
        "embedding": lambda: (normal(32000, 4096, dtype=half), whole(0, 32000, 16384)),
        "scatter": lambda: (
            normal(8192, 4096, dtype=half), 1, whole(0, 4096, 8192, 1024),
            normal(8192, 1024, dtype=half)),
        "mm": pair(4096, 4096, 4096), "addmm": lambda: (
            normal(4096, dtype=half), *pair(4096, 4096, 4096)()),
        "bmm": lambda: (
            normal(32, 2048, 128, dtype=half), normal(32, 128, 2048, dtype=half)),
        "mv": lambda: (normal(8192, 8192, dtype=half), normal(8192, dtype=half)),
        "outer": lambda: (normal(8192, dtype=half), normal(8192, dtype=half)),
        "dot": lambda: (normal(1 << 26, dtype=half), normal(1 << 26, dtype=half)),
        "dropout": matrix(0.1, True),
        "rand": lambda: ((8192, 8192),), "randn": lambda: ((8192, 8192),),
        "full": lambda: ((8192, 8192), 1.0),
        "log10": lambda: (uniform(8192, 8192) + 0.1,),
    }  # fmt: skip

    def start(name: str, make: Callable) -> Make:
        def begin() -> Callable:
            kwargs = {"device": "cuda"} if name in ("rand", "randn", "full") else {}
            return call(getattr(flag_gems.ops, name), *make(), **kwargs)

        return begin

    return {name: start(name, make) for name, make in operations.items() if name in known}
