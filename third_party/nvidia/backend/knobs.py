"""The settings of the NVIDIA backend: ``tile.knobs.nvidia``."""

from __future__ import annotations

from tile.settings import Group, Knob, flag, text


class NvidiaKnobs(Group):
    cuobjdump = text("TRITON_CUOBJDUMP_PATH", None, "cuobjdump, which prints machine code.")
    nvdisasm = text("TRITON_NVDISASM_PATH", None, "nvdisasm, which prints machine code.")
    ptxas = text("TRITON_PTXAS_PATH", None, "The ptxas to use.")
    ptxas_blackwell = text("TRITON_PTXAS_BLACKWELL_PATH", None, "The ptxas to use from sm_100 on.")
    tma = flag("TILE_TMA", True, "Let bulk tensor copies serve descriptors.", in_key=True)
    tensor_memory = flag(
        "TILE_TENSOR_MEMORY", True, "Let dots add up in tensor memory.", in_key=True
    )
    specialize_warps = flag(
        "TILE_SPECIALIZE_WARPS",
        True,
        "Give loops over tiles warps for copies and dots, where it pays.",
        in_key=True,
    )
    raise_pointers = flag(
        "TILE_RAISE_POINTERS",
        None,
        "Let bulk tensor copies load operands of dots in loops that programs load by pointers. "
        "Unset: where it pays.",
        in_key=True,
    )
    dump_nvptx = flag("NVPTX_ENABLE_DUMP", False, "Print the PTX of each kernel.")
    disable_ptxas_opt = flag("DISABLE_PTXAS_OPT", False, "ptxas does not optimise.", in_key=True)
    ptxas_options = text("PTXAS_OPTIONS", None, "Further options of ptxas.", in_key=True)
    mock_ptx_version = Knob(
        "TRITON_MOCK_PTX_VERSION", None, int, "A number such as 83 for PTX 8.3.", in_key=True
    )
    dump_ptxas_log = flag("TRITON_DUMP_PTXAS_LOG", False, "Print what ptxas says.")
    libdevice_path = text("TRITON_LIBDEVICE_PATH", None, "libdevice.10.bc.")
    libcuda_path = text("TRITON_LIBCUDA_PATH", None, "The driver's library.")


KNOBS = NvidiaKnobs()
