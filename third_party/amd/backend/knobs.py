"""The settings of the AMD backend: ``tile.knobs.amd``."""

from __future__ import annotations

from tile.settings import Group, flag, foreign, text


class AmdKnobs(Group):
    use_buffer_ops = foreign("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = foreign("AMDGCN_USE_BUFFER_ATOMICS", True)
    buffer_ops_analyze_small_tensor_range = foreign("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE", False)
    dump_amdgcn = flag("AMDGCN_ENABLE_DUMP", False, "Print the assembly of each kernel.")
    libhip_path = text("TRITON_LIBHIP_PATH", None, "The library of AMD's run time.")
    #: None, which is off, where nobody said anything: programs tell the two apart.
    use_block_pingpong = flag(
        "TRITON_HIP_USE_BLOCK_PINGPONG", None,
        "Raise the priority of waves that multiply in programs of four, on gfx942.",
    )  # fmt: skip
    use_in_thread_transpose = foreign("TRITON_HIP_USE_IN_THREAD_TRANSPOSE", False)
    use_async_copy = flag(
        "TRITON_HIP_USE_ASYNC_COPY", False,
        "Load operands straight into LDS, on gfx950 and gfx1250.",
    )  # fmt: skip
    scalarize_packed_fops = foreign("AMDGCN_SCALARIZE_PACKED_FOPS", False)
    codegen_path = foreign("TRITON_AMD_CODEGEN_PATH")
    dump_mir = foreign("TRITON_DUMP_MIR")
    swap_mir = foreign("TRITON_SWAP_MIR")
    swap_mir_enable_misched = foreign("TRITON_SWAP_MIR_ENABLE_MISCHED", False)
    use_coexec_scheduler = foreign("TRITON_HIP_USE_COEXEC_SCHEDULER")
    use_expert_scheduling = foreign("TRITON_HIP_USE_EXPERT_SCHEDULING")


KNOBS = AmdKnobs()
