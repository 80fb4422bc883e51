"""Compiles and runs every example kernel against NumPy, on the GPU or in the simulator."""

from __future__ import annotations

import sys

import argmax
import attention
import attention_backward
import batched_matmul
import chain
import descriptor_matmul
import grouped_matmul
import layernorm
import linear
import matmul
import softmax
import split_matmul
import strided_copy
import transpose
import vector_add
from device import Device


def main() -> int:
    device = Device()
    print(f"driver: {device.driver.name}, target: {device.driver.get_current_target()}")
    examples = (
        vector_add,
        softmax,
        layernorm,
        transpose,
        argmax,
        strided_copy,
        matmul,
        descriptor_matmul,
        linear,
        batched_matmul,
        grouped_matmul,
        split_matmul,
        attention,
        attention_backward,
        chain,
    )
    for example in examples:
        example.main(device)
    return 1 if device.failures else 0


if __name__ == "__main__":
    sys.exit(main())
