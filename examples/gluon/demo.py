"""Compiles and runs every example with explicit layouts that the machine has the instructions for,
on the GPU or in the simulator."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(1, str(Path(__file__).resolve().parent.parent))

import async_matmul
import cluster_matmul
import convolution
import experts_matmul
import group_matmul
import mfma_matmul
import persistent_matmul
import pingpong_attention
import pingpong_backward
import split_k_matmul
import tcgen05_attention
import tcgen05_experts
import tcgen05_matmul
import tcgen05_pair_matmul
import tcgen05_persistent
import tcgen05_scaled
import tma_copy
import transpose
import vector_add
import wgmma_matmul
import wmma_attention
from device import Device
from device import run_examples as run_examples


def main(device: Device) -> None:
    target = device.driver.get_current_target()
    if target.backend == "hip":
        is_rdna = not str(target.arch).startswith("gfx9")
        examples = [wmma_attention] if is_rdna else [mfma_matmul]
    else:
        examples = [vector_add, transpose, async_matmul, experts_matmul]
    if target.arch == 90:
        examples += [
            tma_copy, wgmma_matmul, persistent_matmul, group_matmul, cluster_matmul,
            split_k_matmul, convolution, pingpong_attention, pingpong_backward,
        ]  # fmt: skip
    if target.arch in (100, 103, 110):
        examples += [
            tcgen05_matmul, tcgen05_persistent, tcgen05_pair_matmul, tcgen05_scaled,
            tcgen05_experts, tcgen05_attention,
        ]  # fmt: skip
    for example in examples:
        example.main(device)


if __name__ == "__main__":
    run_examples(main)
