"""Compiles and runs every example kernel against NumPy, on the GPU or in the simulator."""

from __future__ import annotations

import argmax
import attention
import attention_backward
import batched_matmul
import chain
import decode_attention
import descriptor_matmul
import experts
import grouped_matmul
import layernorm
import linear
import matmul
import quantised_matmul
import softmax
import split_matmul
import strided_copy
import transpose
import vector_add
from device import run_examples

EXAMPLES = (
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
    decode_attention,
    quantised_matmul,
    experts,
    chain,
)


if __name__ == "__main__":
    run_examples(*(example.main for example in EXAMPLES))
