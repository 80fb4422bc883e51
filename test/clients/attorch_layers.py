"""attorch's layers, forward and backward, each against torch's layer of the same name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pretend
import torch
import torch.nn.functional as F
from cases import Case, Inputs, check

PACKAGE = "attorch"

#: Activations, and what attorch calls them where another layer applies them.
_ACTIVATIONS = {
    "Sigmoid": "sigmoid", "LogSigmoid": "logsigmoid", "Tanh": "tanh", "ReLU": "relu",
    "GELU": "gelu", "SiLU": "silu", "ReLU6": "relu6", "Hardsigmoid": "hardsigmoid",
    "Hardtanh": "hardtanh", "Hardswish": "hardswish", "SELU": "selu", "Mish": "mish",
    "Softplus": "softplus", "Softsign": "softsign", "Tanhshrink": "tanhshrink",
    "LeakyReLU": "leaky_relu_0.01", "ELU": "elu_1", "CELU": "celu_1",
    "Hardshrink": "hardshrink_0.5", "Softshrink": "softshrink_0.5",
}  # fmt: skip


def configure(device: str) -> None:
    # It counts on zeros where masks of loads are off.
    os.environ["TILE_UNDEFINED_LANES"] = "0"
    if device == "cpu":
        pretend.a_gpu_is_there()
        pretend.its_tensors_are_here()


def _with_gradients(function: Callable, *inputs: torch.Tensor) -> list[torch.Tensor]:
    """What a function gives, and the gradients of its inputs."""
    leaves = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    out = function(*leaves)
    weights = torch.cos(torch.arange(out.numel(), device=out.device)).reshape(out.shape)
    (out * weights).sum().backward()
    return [out.detach(), *(x.grad for x in leaves if x.grad is not None)]


def _compare(layer: Any, other: Any, *inputs: torch.Tensor, tolerance: float = 1e-3) -> None:
    """Two layers with the same parameters: results, gradients of inputs and of parameters."""
    ours, theirs = _with_gradients(layer, *inputs), _with_gradients(other, *inputs)
    check(ours, theirs, tolerance)
    wanted = dict(other.named_parameters()) if isinstance(other, torch.nn.Module) else {}
    for name, parameter in wanted.items():
        grad = dict(layer.named_parameters())[name].grad
        # attorch keeps the weight of a linear layer transposed.
        check(grad if grad.shape == parameter.shape else grad.T, parameter.grad, tolerance)


def _activation(name: str) -> Callable[[str], None]:
    def run(device: str) -> None:
        import attorch

        x = 2 * Inputs(device).normal(7, 131)
        _compare(getattr(attorch, name)(), getattr(torch.nn, name)(), x)

    return run


def _same(device: str, name: str, *arguments: Any, **options: Any) -> tuple[Any, Any]:
    """The layer of attorch and that of torch, with torch's parameters."""
    import attorch

    activation = {"act_func": options.pop("act_func")} if "act_func" in options else {}
    placed = {} if name.startswith(("AvgPool", "Soft", "LogSoft")) else {"device": device}
    torch.manual_seed(0)
    other = getattr(torch.nn, name)(*arguments, **options, **placed)
    layer = getattr(attorch, name)(*arguments, **options, **activation, **placed)
    with torch.no_grad():
        for key, parameter in layer.named_parameters():
            value = dict(other.named_parameters())[key]
            parameter.copy_(value if name != "Linear" or key != "weight" else value.T)
    return layer, other


def _layer(shape: tuple[int, ...], name: str, *arguments: Any, **options: Any) -> Callable:
    def run(device: str) -> None:
        layer, other = _same(device, name, *arguments, **options)
        _compare(layer, other, Inputs(device).normal(*shape), tolerance=5e-3)

    return run


def _linear(device: str) -> None:
    layer, other = _same(device, "Linear", 70, 40, act_func="gelu")
    x = Inputs(device).normal(33, 70)
    ours = _with_gradients(layer, x)
    theirs = _with_gradients(lambda value: F.gelu(other(value)), x)
    check(ours, theirs, 2e-2)  # tf32
    check(layer.weight.grad.T, other.weight.grad, 2e-2)
    check(layer.bias.grad, other.bias.grad, 2e-2)


def _batch_norm(name: str, shape: tuple[int, ...]) -> Callable[[str], None]:
    def run(device: str) -> None:
        layer, other = _same(device, name, shape[1], act_func="silu")
        make = Inputs(device)
        x, residual = make.normal(*shape), make.normal(*shape)
        ours = _with_gradients(layer, x, residual)
        theirs = _with_gradients(lambda a, b: F.silu(other(a) + b), x, residual)
        check(ours, theirs, 2e-3)
        check((layer.weight.grad, layer.bias.grad), (other.weight.grad, other.bias.grad), 2e-3)
        check(layer.running_mean, other.running_mean, 1e-4)
        check(layer.running_var, other.running_var, 1e-4)

    return run


def _glu(activation: str) -> Callable[[str], None]:
    def run(device: str) -> None:
        import attorch

        def expected(value: torch.Tensor) -> torch.Tensor:
            a, b = value.chunk(2, dim=-1)
            return a * getattr(F, activation)(b)

        x = Inputs(device).normal(9, 200)
        _compare(attorch.GLU(act_func=activation), expected, x)

    return run


def _dropout(device: str) -> None:
    import attorch

    x = Inputs(device).normal(64, 100).requires_grad_()
    out = attorch.Dropout(0.25)(x)
    kept = out != 0
    assert 0.68 < kept.float().mean().item() < 0.82, "a quarter should be dropped"
    check(out.detach(), torch.where(kept, x / 0.75, 0).detach(), 1e-5)
    out.backward(torch.ones_like(out))
    check(x.grad, kept / 0.75, 1e-5)


def _loss(name: str, reduction: str) -> Callable[[str], None]:
    def run(device: str) -> None:
        import attorch

        make = Inputs(device)
        x, y = make.normal(5, 77), make.normal(5, 77)
        layer, other = (getattr(m, name)(reduction=reduction) for m in (attorch, torch.nn))
        _compare(layer, other, x, y)

    return run


def _likelihood(name: str, weighted: bool, **options: Any) -> Callable[[str], None]:
    def run(device: str) -> None:
        import attorch

        make = Inputs(device)
        x, target = make.normal(30, 77).log_softmax(1), make.integers(0, 77, 30)
        weight = make.uniform(77) if weighted else None
        layer, other = (getattr(m, name)(weight=weight, **options) for m in (attorch, torch.nn))
        _compare(lambda value: layer(value, target), lambda value: other(value, target), x)

    return run


def cases(device: str) -> list[Case]:
    runs: dict[str, Callable[[str], None]] = {name: _activation(name) for name in _ACTIVATIONS}
    runs |= {
        "linear": _linear,
        "conv1d": _layer((2, 6, 40), "Conv1d", 6, 10, 3, padding=1),
        "conv2d": _layer((2, 6, 9, 11), "Conv2d", 6, 10, (5, 3), stride=(1, 2), padding=1),
        "conv2d_groups": _layer((2, 8, 9, 9), "Conv2d", 8, 16, 3, groups=4, bias=False),
        "pool1d": _layer((3, 5, 40), "AvgPool1d", 3, 2, 1),
        "pool2d": _layer((2, 5, 13, 9), "AvgPool2d", 4, None, 2),
        "layer_norm": _layer((9, 300), "LayerNorm", 300),
        "layer_norm_without_weights": _layer((9, 300), "LayerNorm", 300, elementwise_affine=False),
        "rms_norm": _layer((9, 300), "RMSNorm", 300),
        "softmax": _layer((9, 300), "Softmax", dim=-1),
        "log_softmax": _layer((9, 300), "LogSoftmax", dim=-1),
        "softmin": _layer((9, 300), "Softmin", dim=-1),
        "batch_norm1d": _batch_norm("BatchNorm1d", (20, 6)),
        "batch_norm2d": _batch_norm("BatchNorm2d", (4, 6, 5, 7)),
        "glu_silu": _glu("silu"),
        "glu_gelu": _glu("gelu"),
        "dropout": _dropout,
        "l1": _loss("L1Loss", "mean"),
        "mse": _loss("MSELoss", "sum"),
        "huber": _loss("HuberLoss", "none"),
        "smooth_l1": _loss("SmoothL1Loss", "mean"),
        "nll": _likelihood("NLLLoss", False, reduction="none"),
        "nll_weighted": _likelihood("NLLLoss", True, reduction="mean"),
        "cross_entropy": _likelihood("CrossEntropyLoss", False),
        "cross_entropy_weighted": _likelihood("CrossEntropyLoss", True),
    }
    return [Case(name, lambda run=run: run(device)) for name, run in runs.items()]
