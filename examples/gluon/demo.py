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
from device import Device, run_examples


def main(device: Device) -> None:
    target = device.driver.get_current_target()
    examples = [mfma_matmul] if target.backend == "hip" else [vector_add, transpose, async_matmul]
    if target.arch == 90:
        examples += [tma_copy, wgmma_matmul]
    for example in examples:
        example.main(device)


if __name__ == "__main__":
    run_examples(main)
