"""Compiles and runs every example kernel against NumPy, on the GPU or in the simulator."""

from __future__ import annotations

import sys

import argmax
import matmul
import softmax
import strided_copy
import transpose
import vector_add
from device import Device


def main() -> int:
    device = Device()
    print(f"driver: {device.driver.name}, target: {device.driver.get_current_target()}")
    for example in (vector_add, softmax, transpose, argmax, strided_copy, matmul):
        example.main(device)
    return 1 if device.failures else 0


if __name__ == "__main__":
    sys.exit(main())
