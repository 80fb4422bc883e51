"""A kernel as an operator of torch, `torch.ops.tile_examples.swiglu`: with gradients, and inside of
`torch.compile`. On CPU tensors it runs in the simulator.

    python examples/torch_op.py
"""

from __future__ import annotations

import torch

import tile
import tile.language as tl


@tile.jit
def swiglu_kernel(gate_ptr, up_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(gate_ptr + i, mask=i < n).to(tl.float32)
    up = tl.load(up_ptr + i, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, gate * tl.sigmoid(gate) * up, mask=i < n)


@tile.jit
def swiglu_backward_kernel(
    grad_ptr, gate_ptr, up_ptr, grad_gate_ptr, grad_up_ptr, n, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    grad = tl.load(grad_ptr + i, mask=i < n).to(tl.float32)
    gate = tl.load(gate_ptr + i, mask=i < n).to(tl.float32)
    up = tl.load(up_ptr + i, mask=i < n).to(tl.float32)
    s = tl.sigmoid(gate)
    tl.store(grad_gate_ptr + i, grad * up * s * (1 + gate * (1 - s)), mask=i < n)
    tl.store(grad_up_ptr + i, grad * gate * s, mask=i < n)


def _grid(n: int, block: int) -> tuple[int]:
    return (tile.cdiv(n, block),)


@torch.library.custom_op("tile_examples::swiglu", mutates_args=())
def swiglu(gate: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
    """silu(gate) * up"""
    gate, up = gate.contiguous(), up.contiguous()
    out = torch.empty_like(gate)
    swiglu_kernel[_grid(out.numel(), 256)](gate, up, out, out.numel(), BLOCK=256)
    return out


@torch.library.custom_op("tile_examples::swiglu_backward", mutates_args=())
def swiglu_backward(
    grad: torch.Tensor, gate: torch.Tensor, up: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    grad, gate, up = grad.contiguous(), gate.contiguous(), up.contiguous()
    n = grad.numel()
    results = torch.empty_like(gate), torch.empty_like(up)
    swiglu_backward_kernel[_grid(n, 256)](grad, gate, up, *results, n, BLOCK=256)
    return results


# What torch.compile needs to know: the results' shapes, without running anything.
swiglu.register_fake(lambda gate, up: torch.empty_like(gate, memory_format=torch.contiguous_format))
swiglu_backward.register_fake(
    lambda grad, gate, up: tuple(
        torch.empty_like(x, memory_format=torch.contiguous_format) for x in (gate, up)
    )
)
swiglu.register_autograd(
    lambda ctx, grad: torch.ops.tile_examples.swiglu_backward(grad, *ctx.saved_tensors),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
)


def main() -> None:
    device = "cuda" if tile.runtime.driver.active.name == "cuda" else "cpu"
    gate, up = (torch.randn(37, 50, device=device, requires_grad=True) for _ in range(2))
    expected = torch.nn.functional.silu(gate) * up
    expected_grads = torch.autograd.grad(expected.sin().sum(), (gate, up))
    torch.library.opcheck(torch.ops.tile_examples.swiglu.default, (gate, up))
    compiled = torch.compile(torch.ops.tile_examples.swiglu, fullgraph=True, backend="aot_eager")
    for name, function in (("eager", torch.ops.tile_examples.swiglu), ("compiled", compiled)):
        out = function(gate, up)
        torch.testing.assert_close(out, expected)
        torch.testing.assert_close(torch.autograd.grad(out.sin().sum(), (gate, up)), expected_grads)
        print(f"ok   torch.ops.tile_examples.swiglu, {name}, and its gradients")


if __name__ == "__main__":
    main()
