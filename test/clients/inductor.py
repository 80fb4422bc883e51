"""torch.compile: Inductor's kernels, forward and backward, against eager torch.

On CPU tensors Inductor is asked for the same kernels as on a GPU
(``cpu_backend = "triton"``); they run in the simulator.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import torch
from cases import Case, Inputs, check
from inductor_functions import Function, functions

PACKAGE = "torch"


def configure(device: str) -> None:
    """Settings under which every kernel is made here and now."""
    import torch._inductor.config as config

    config.cpu_backend = "triton"
    config.fallback_random = True
    if device == "cpu":
        # As on a GPU, where workers compile: kernels go to and fro between processes.
        config.compile_threads = 2
        config.fx_graph_cache = False
        # The simulator needs the time that it takes for a guess at the fastest.
        config.triton.autotune_pointwise = False
        config.max_autotune_gemm_backends = "TRITON"
        from torch._inductor.async_compile import AsyncCompile

        AsyncCompile.wait_pool_ready()


#: Whose gradients are compared too.
DIFFERENTIATED = """
gelu silu_mul where transcendentals sum_rows var_std logsumexp softmax cross_entropy layer_norm
rms_norm batch_norm group_norm cumsum embedding gather max_pool avg_pool interpolate linear_relu
attention index_select pad
""".split()
#: Half the compile is the front end's guess at sizes; these are compiled for any.
DYNAMIC = "add softmax sum_rows layer_norm transpose cumsum".split()


def _compare(function: Function, arguments: tuple, **how: Any) -> None:
    expected = function(*arguments)
    torch._dynamo.reset()
    found = torch.compile(function, fullgraph=True, **how)(*arguments)
    check(found, expected, 2e-3 if _narrow(arguments) else 1e-4)


def _narrow(arguments: tuple) -> bool:
    return any(a.dtype in (torch.float16, torch.bfloat16) for a in arguments)


def _gradients(function: Function, arguments: tuple) -> list[torch.Tensor]:
    inputs = [a.detach().clone() for a in arguments]
    wanted = [a.requires_grad_() for a in inputs if a.is_floating_point()]
    results = function(*inputs)
    results = results if isinstance(results, tuple) else (results,)
    total = torch.zeros((), device=inputs[0].device)
    for r in results:
        if r.is_floating_point():
            weights = torch.sin(torch.arange(r.numel(), device=r.device).reshape(r.shape))
            total = total + (r.float() * weights).sum()
    return list(torch.autograd.grad(total, wanted))


def _compare_gradients(function: Function, arguments: tuple) -> None:
    expected = _gradients(function, arguments)
    torch._dynamo.reset()
    found = _gradients(torch.compile(function, fullgraph=True), arguments)
    check(found, expected, 5e-3 if _narrow(arguments) else 5e-4)


def _compare_sizes(function: Function, make: Callable[[Inputs], tuple], device: str) -> None:
    """One compile for several sizes."""
    torch._dynamo.reset()
    compiled = torch.compile(function, dynamic=True)
    for cut in (0, 1, 3):
        arguments = tuple(a[: a.shape[0] - cut] if a.dim() > 1 else a for a in make(Inputs(device)))
        check(compiled(*arguments), function(*arguments), 1e-4)


def _products() -> dict[str, tuple[Function, Callable[[Inputs], tuple], dict]]:
    """What Inductor has templates for, with the choice among its configurations."""
    tune = {"options": {"max_autotune": True, "max_autotune_gemm_backends": "TRITON"}}
    half = torch.float16

    def mm(*shapes: tuple[int, ...]) -> Callable[[Inputs], tuple]:
        return lambda m: tuple(m.normal(*shape, dtype=half) * 0.2 for shape in shapes)

    return {
        "mm": (lambda a, b: a @ b, mm((96, 64), (64, 80)), tune),
        "mm_epilogue": (lambda a, b: torch.relu(a @ b) + 1, mm((128, 96), (96, 64)), tune),
        "mm_float32": (lambda a, b: a.float() @ b.float(), mm((64, 64), (64, 64)), tune),
        "addmm": (torch.addmm, mm((80,), (96, 64), (64, 80)), tune),
        "bmm": (torch.bmm, mm((3, 64, 48), (3, 48, 64)), tune),
        "conv": (
            lambda x, w: torch.nn.functional.conv2d(x, w, padding=1),
            mm((2, 16, 12, 12), (32, 16, 3, 3)),
            {"options": {"max_autotune": True, "max_autotune_conv_backends": "TRITON"}},
        ),
        "flex_attention": (
            _flex, lambda m: tuple(m.normal(2, 4, 256, 64, dtype=half) for _ in range(3)), {},
        ),
        "flex_attention_causal": (
            _causal_flex, lambda m: tuple(m.normal(1, 2, 256, 64, dtype=half) for _ in "qkv"), {},
        ),
    }  # fmt: skip


def _flex(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score - (i - j).abs() * 0.01)


def _causal_flex(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    mask = create_block_mask(
        lambda b, h, i, j: i >= j, None, None, q.shape[2], k.shape[2], q.device
    )
    return flex_attention(q, k, v, block_mask=mask)


def _compare_product(function: Function, arguments: tuple, how: dict) -> None:
    expected = function(*arguments)
    torch._dynamo.reset()
    check(torch.compile(function, **how)(*arguments), expected, 2e-2)


def _compare_cooperative(device: str) -> None:
    """A reduction that several programs share, waiting for one another."""
    x = Inputs(device).normal(3, 4000 if device == "cpu" else 40000)
    torch._dynamo.reset()
    compiled = torch.compile(
        lambda x: x.sum(1), options={"triton.force_cooperative_reductions": True}
    )
    check(compiled(x), x.sum(1), 1e-2)


def _replay(device: str) -> None:
    """Launches recorded in a CUDA graph."""
    x, w = Inputs(device).normal(64, 96), Inputs(device).normal(96)
    torch._dynamo.reset()

    def function(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.nn.functional.layer_norm(x, (96,), w), -1)

    compiled = torch.compile(function, mode="reduce-overhead")
    for step in range(4):
        check(compiled(x + step, w), function(x + step, w), 1e-4)


class _Exported(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.linear = torch.nn.LayerNorm(96), torch.nn.Linear(96, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(torch.relu(self.linear(self.norm(x))), -1).cumsum(-1)


def _export(device: str) -> None:
    """A model compiled ahead of time into a library that needs no Python: it has machine code."""
    model, x = _Exported().to(device).eval(), Inputs(device).normal(40, 96)
    with torch.no_grad():
        exported = torch.export.export(model, (x,))
        with tempfile.TemporaryDirectory() as folder:
            path = torch._inductor.aoti_compile_and_package(
                exported, package_path=f"{folder}/model.pt2"
            )
            check(torch._inductor.aoti_load_package(path)(x), model(x), 1e-3)


def _use_own_kernels(device: str) -> None:
    """Kernels of the user's inside of a compiled function, one of them autotuned."""
    import user_kernels

    make = Inputs(device)
    arguments = make.normal(300), make.normal(300)
    for name, (function, reference) in user_kernels.functions().items():
        torch._dynamo.reset()
        found = torch.compile(function)(*arguments)
        assert torch.allclose(found, reference(*arguments), atol=1e-5), name


def cases(device: str) -> list[Case]:
    result = [
        Case("own_kernels", lambda: _use_own_kernels(device)),
        Case("cooperative_reduction", lambda: _compare_cooperative(device)),
        Case("cuda_graph", lambda: _replay(device), ("cuda",)),
        Case("ahead_of_time", lambda: _export(device), ("cuda",), 200),
    ]
    for name, (function, make, how) in _products().items():
        result.append(
            Case(
                f"template:{name}",
                lambda f=function, m=make, h=how: _compare_product(f, m(Inputs(device)), h),
                ("cuda",),
                300,
            )
        )
    for name, (function, make) in functions().items():
        result.append(Case(name, lambda f=function, m=make: _compare(f, m(Inputs(device)))))
        if name in DIFFERENTIATED:
            result.append(
                Case(
                    f"{name}:backward",
                    lambda f=function, m=make: _compare_gradients(f, m(Inputs(device))),
                )
            )
        if name in DYNAMIC:
            result.append(
                Case(f"{name}:dynamic", lambda f=function, m=make: _compare_sizes(f, m, device))
            )
    return result
