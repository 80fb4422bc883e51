"""Options of a compile that leave the results as they are: each may be given with any program."""

from __future__ import annotations

import random
from typing import Any

Options = tuple[tuple[str, Any], ...]

#: Assertions are checked; integers wrap all the same.
DEBUG: Options = (("debug", True), ("sanitize_overflow", False))

#: Of all targets.
ALL: tuple[Options, ...] = (
    DEBUG,
    (("enable_fp_fusion", False),),
    (("opt_level", 1),),
    (("check_replicas", True),),
    (("check_replicas", True),),
)
NVIDIA: tuple[Options, ...] = (
    *ALL,
    (("opt_level", 0),),
    (("prefetch", True),),
    (("tma", False),),
    (("raise_pointers", True),),
    (("raise_pointers", False),),
    (("maxnreg", 96),),
    (("maxnreg", 255),),
    (("launch_pdl", True),),
    (("default_dot_input_precision", "ieee"),),
    (("default_dot_input_precision", "tf32x3"),),
    (("max_num_imprecise_acc_default", 32),),
)
AMD: tuple[Options, ...] = (
    *ALL,
    (("matrix_instr_nonkdim", 4),),
    (("matrix_instr_nonkdim", 16),),
    (("matrix_instr_nonkdim", 32),),
    (("kpack", 2),),
    (("use_async_copy", True),),
    (("use_block_pingpong", True),),
    (("use_async_copy", True), ("use_block_pingpong", True)),
    (("schedule_hint", "attention"),),
    (("schedule_hint", "memory-bound-attention"),),
    (("waves_per_eu", 2),),
)

#: Of the machines that have it, half of the programs add up in tensor memory.
TENSOR_MEMORY = ("cuda:100", "cuda:103", "cuda:110")

#: Of those that have it, a part of the programs goes on with others.
LAUNCH_CONTROL = (*TENSOR_MEMORY, "cuda:120", "cuda:121")


def choose_options(seed: int, machine: str, source: str = "") -> Options:
    """The options of the program of a seed on a machine: most have none, a few have two; those with
    assertions mostly check them."""
    chance = random.Random(seed * 104729 + 2)
    count = chance.choice((0, 0, 0, 1, 1, 2))
    known = AMD if machine.startswith("hip:") else NVIDIA
    chosen = chance.sample(known, count)
    if "assert " in source or "device_assert" in source:
        chosen += [DEBUG] * (chance.random() < 0.7)
    if machine in TENSOR_MEMORY and chance.random() < 0.5:
        chosen.append((("tensor_memory", True),))
    if machine in LAUNCH_CONTROL and chance.random() < 0.3:
        chosen.append((("clc", True),))
    return tuple(dict(o for options in chosen for o in options).items())
