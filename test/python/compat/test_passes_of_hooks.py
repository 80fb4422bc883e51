"""Passes that hooks around stages add, by the names of `triton._C.libtriton.passes`."""

from __future__ import annotations

import pytest

import tile
import tile.language as tl
from tile import _C, knobs
from tile.backends import GPUTarget
from tile.compat.triton._C.libtriton import amd, ir, nvidia, passes
from tile.compiler import ASTSource

GROUPS = {
    "common": passes.common, "convert": passes.convert, "gluon": passes.gluon,
    "ttir": passes.ttir, "ttgpuir": passes.ttgpuir, "nvws": nvidia.passes.nvws,
    "nvidia.ttgpuir": nvidia.passes.ttgpuir, "ttnvgpuir": nvidia.passes.ttnvgpuir,
    "amd.ttgpuir": amd.passes.ttgpuir,
}  # fmt: skip
#: Arguments that hooks give, by the options that they set.
ARGUMENTS = {
    "target": "cuda:90", "num-warps": 4, "threads-per-warp": 32, "num-ctas": 1, "num-stages": 3,
    "emu-tf32": True, "hoist-out-of-if": False, "hoist-layout-conversion": True,
    "dump-intermediate-steps": False, "compute-capability": 90, "ptx-version": 84,
    "arch-generation-name": "gfx942", "matrix-instruction-size": 16, "kPack": 1, "arch": "gfx942",
    "ftz": True, "allow-buffer-atomics": True, "analyze-small-tensor-ofst": False,
}  # fmt: skip
PASSES = [(group, name) for group, found in GROUPS.items() for name in dir(found)]


@pytest.mark.parametrize(("group", "name"), PASSES)
def test_each_is_a_pass_of_tile(group, name):
    _, *options = GROUPS[group]._passes[name]
    context = _C.ir.Context()
    pm = ir.pass_manager(context)
    for count in range(len(options) + 1):  # Programs of older releases give fewer.
        getattr(GROUPS[group], name)(pm, *[ARGUMENTS[o] for o in options[:count]])
    text = pm.get_pipeline_str().removeprefix("builtin.module(").removesuffix(")")
    assert text.count(",") == len(options)
    _C.passes.PassManager.parse(text, context)
    with pytest.raises(tile.TileError, match=f"{name} takes {len(options)} arguments"):
        getattr(GROUPS[group], name)(pm, *[1] * (len(options) + 1))


@tile.jit
def loop(out_ptr, n):
    for i in tl.range(0, n, loop_unroll_factor=2):
        tl.store(out_ptr + i, i)


def compiled(add) -> str:
    """The TTIR of the kernel whose stage a hook gives more passes."""

    def hook(self=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return repr(add), repr(add)

        def ttir(src, metadata):
            module = self.make_ttir(src, metadata, options, capability)
            pm = ir.pass_manager(module.context)
            assert pm.enable_debug() is False
            add(pm)
            pm.run(module, "make_ttir_plugin")
            return module

        stages["ttir"] = ttir
        return repr(add), repr(add)

    with knobs.runtime.scope():
        knobs.runtime.add_stages_inspection_hook = hook
        source = ASTSource(loop, {"out_ptr": "*i32", "n": "i32"})
        return tile.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ttir"]


def test_a_hook_runs_passes_behind_a_stage():
    def more(pm):
        passes.ttir.add_convert_to_ttgpuir(pm, "cuda:90", 4, 32, 1)

    plain = compiled(lambda pm: passes.common.add_cse(pm))
    assert plain.count("scf.for") == 2 and "ttg.num-warps" not in plain
    assert '"ttg.num-warps" = 4' in compiled(more)


def test_a_pass_that_fails():
    def wrong(pm):
        passes.ttir.add_convert_to_ttgpuir(pm, "cuda:90", 4, 16, 1)

    with pytest.raises(tile.TileError, match="threads"):
        compiled(wrong)


def test_what_is_no_pass_here():
    pm = ir.pass_manager(_C.ir.Context())
    with pytest.raises(AttributeError, match=r"ttgpuir.add_nothing is not built .* `add_pass\(pm"):
        passes.ttgpuir.add_nothing(pm)
    with pytest.raises(AttributeError, match="no library that was loaded has a pass `other-thing`"):
        passes.plugin.add_other_thing(pm)
    passes.add_pass(pm, "triton-combine,cse")
    assert pm.get_pipeline_str() == "builtin.module(triton-combine,cse)"
