"""Compiles and runs every example with explicit layouts that the machine has the instructions for,
on the GPU or in the simulator."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import async_matmul
import mfma_matmul
import tma_copy
import transpose
import vector_add
import wgmma_matmul
from device import Device


def main() -> int:
    device = Device()
    target = device.driver.get_current_target()
    print(f"driver: {device.driver.name}, target: {target}")
    if target.backend == "hip":
        examples = [mfma_matmul]
    else:
        examples = [vector_add, transpose, async_matmul]
    if target.arch == 90:
        examples += [tma_copy, wgmma_matmul]
    for example in examples:
        example.main(device)
    return 1 if device.failures else 0


if __name__ == "__main__":
    sys.exit(main())
