"""Dots of warp groups: they happen when the program waits for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tile.errors import InterpreterError
from tile.interpreter.buffers import Buffer
from tile.interpreter.collective import _dot, _unpack
from tile.interpreter.numbers import element_of
from tile.interpreter.registry import operation

#: The number of the format of 4 bits.
_E2M1 = 4


class Unfinished:
    """The sum that a dot will have."""

    def __init__(self, operands: Any, use: bool) -> None:
        self.operands = operands
        self.use = use
        self.value: np.ndarray | None = None

    def finish(self) -> None:
        a, b, acc = (finished(x) for x in self.operands)
        self.value = _dot(None, (a, b, acc if self.use else np.zeros_like(acc)), None, None)


def finished(value: Any) -> np.ndarray:
    """The elements of an operand."""
    if isinstance(value, Buffer):
        return value.load()
    if isinstance(value, Unfinished):
        assert value.value is not None, "products finish in order"
        return value.value
    return value


def check_finished(operands: Any) -> list[Any]:
    """The operands of another operation, none of which may be unfinished."""
    result = []
    for value in operands:
        if isinstance(value, Unfinished):
            if value.value is None:
                raise InterpreterError(
                    "the sum of a product is read before warpgroup_mma_wait has waited for it"
                )
            value = value.value
        result.append(value)
    return result


#: Operations that take what is unfinished.
ASYNCHRONOUS = ("ttnvgpu.warp_group_dot", "ttnvgpu.warp_group_dot_wait")


@operation("ttnvgpu.warp_group_dot")
def _product(b: Any, operands: Any, attributes: Any, types: Any) -> Any:
    if b.phantom:
        return np.zeros(types[0].shape, finished_type(operands[2]))
    product = Unfinished(operands[:3], len(operands) == 3 or bool(operands[3]))
    b.products.append(product)
    if attributes["isAsync"]:
        return product
    wait_for_products(b, 0)
    return product.value


def finished_type(acc: Any) -> np.dtype:
    while isinstance(acc, Unfinished):
        acc = acc.operands[2]
    return acc.dtype


def wait_for_products(b: Any, count: int) -> None:
    done = b.products[: max(0, len(b.products) - count)]
    b.products = b.products[len(done) :]
    for product in done:
        product.finish()


@operation("ttnvgpu.warp_group_dot_wait")
def _wait(b: Any, operands: Any, attributes: Any, types: Any) -> list[Any]:
    if b.phantom:
        return list(operands)
    wait_for_products(b, attributes["pendings"])
    return [x.value if isinstance(x, Unfinished) and x.value is not None else x for x in operands]


@operation("ttg.fp4_to_fp")
def _widen(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return _unpack(operands[0], _E2M1, attributes["axis"]).astype(element_of(types[0]))
