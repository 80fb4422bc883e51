"""Sources, IR and stages, as libraries read and replace them."""

from __future__ import annotations

import numpy as np
import pytest
from reference import poisoned, random, sim_only
from scaling import SIGNATURE, compiled, scale_kernel

import tile
import tile.language as tl
from tile.backends import GPUTarget
from tile.compiler import ASTSource, make_backend


def test_source_begins_with_the_definition():
    assert scale_kernel.src.startswith("def scale_kernel(x_ptr")
    assert scale_kernel.raw_src[0].startswith("@tile.jit")
    assert scale_kernel.repr(None) == "scale_kernel"
    assert scale_kernel.get_capture_scope()["tl"] is tl


def test_walking_the_ir_finds_what_is_stored_to():
    context = tile._C.ir.Context()
    source = ASTSource(scale_kernel, SIGNATURE, {"BLOCK": 64})
    target = GPUTarget("cuda", 90, 32)
    backend = tile.compiler.make_backend(target)
    module = source.make_ir(backend.parse_options({}), context)
    assert module.verify() is True
    names, stored, arguments, order = [], [], {}, []

    def visit(op):
        names.append(op.get_name())
        for i in range(op.get_num_regions()):
            order.append(op.get_region(i).id())
        block = op.get_block()
        if op.get_name() == "tt.store":
            stored.append(op.get_operand(0))
        if block is not None and block.get_parent() is not None and not arguments:
            arguments.update(
                {block.get_argument(i).id(): i for i in range(block.get_num_arguments())}
            )

    module.walk(visit)
    assert names[-1] == "builtin.module" and names.index("tt.store") < names.index("tt.func")
    assert len(stored) == 1 and len(set(arguments.values())) == 4
    pointer = stored[0]
    while pointer.id() not in arguments:
        pointer = pointer.owner.get_operand(0)
    assert arguments[pointer.id()] == 1


@sim_only
def test_another_source():
    """As programs do that derive kernels from one another, by their text."""

    def plus(x_ptr, out_ptr, n, value, BLOCK: tl.constexpr = 64):
        pass

    kernel, out = tile.jit(plus), poisoned(100, "fp32")
    x = random((100,), "fp32")
    for operator, expected in (("+", x + 2), ("*", x * 2)):
        kernel._unsafe_update_src(
            f"""
            def plus(x_ptr, out_ptr, n, value, BLOCK: tl.constexpr = 64):
                i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
                x = tl.load(x_ptr + i, mask=i < n)
                tl.store(out_ptr + i, x {operator} value, mask=i < n)
            """
        )
        assert f"x {operator} value" in kernel.src and f"x {operator} value" in kernel.raw_src[3]
        kernel[(2,)](x, out, 100, 2.0)
        assert np.array_equal(out, expected)
    key = kernel.cache_key
    kernel._unsafe_update_src("def plus(x_ptr, out_ptr, n, value, BLOCK):\n    unknown(1)\n")
    assert kernel.cache_key != key
    with pytest.raises(tile.TileError) as caught:
        kernel[(2,)](x, out, 100, 2.0)
    assert "source of plus" in str(caught.value) and "    unknown(1)" in str(caught.value)


def test_stages_hook(monkeypatch):
    """A hook may replace stages; its own key is part of kernels' keys."""
    seen = []

    def hook(backend=None, stages=None, options=None, language=None, capability=None):
        if stages is None:
            return ("a hook", 1)
        seen.append((list(stages), options.num_warps, capability))
        before = stages["ttir"]

        def ttir(module, metadata):
            seen.append("ttir")
            return before(module, metadata)

        stages["ttir"] = ttir
        return None

    plain = compiled()
    monkeypatch.setattr(tile.knobs.runtime, "add_stages_inspection_hook", hook)
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    hooked = compiled()
    assert seen == [(["ttir", "ttgir", "llir", "ptx", "cubin"], 4, 90), "ttir"]
    assert hooked.hash != plain.hash and hooked.asm["ptx"] == plain.asm["ptx"]


@tile.jit
def ten_more(out):
    tl.store(out, tl.load(out) + 10)


def test_launches_hear_of_a_hook():
    """The kernel that a launch finds compiled is that of the hook that is set then, or of none."""

    def adds(number):
        def hook(backend=None, stages=None, options=None, language=None, capability=None):
            if stages is None:
                return number
            before = stages["ttir"]

            def ttir(module, metadata):
                text = str(before(module, metadata))
                assert "constant 10 :" in text
                edited = text.replace("constant 10 :", f"constant {number} :")
                return type(module).parse(edited, module.context)

            stages["ttir"] = ttir
            return None

        return hook

    out = np.zeros(1, np.int32)
    for hook, sum in ((None, 10), (adds(100), 110), (adds(1000), 1110), (None, 1120)):
        with tile.knobs.runtime.scope():
            if hook is not None:
                tile.knobs.runtime.add_stages_inspection_hook = hook
            ten_more[(1,)](out)
        assert out[0] == sum


def test_modules_are_made_with_the_arguments_of_releases():
    backend = make_backend(GPUTarget("cuda", 90, 32))
    source = ASTSource(scale_kernel, SIGNATURE, {"BLOCK": 64})
    options = backend.parse_options({})
    alone = source.make_ir(options, tile._C.ir.Context())
    given = source.make_ir(GPUTarget("cuda", 90, 32), options, {}, {}, tile._C.ir.Context())
    assert str(alone) == str(given)


@tile.constexpr_function
def twice(n):
    return n * 2


@tile.constexpr_function
def thrice(n):
    return n * 3


def test_hashes_can_be_computed_again():
    was = scale_kernel.hash
    scale_kernel.hash = None
    assert scale_kernel.hash == was == scale_kernel.cache_key
    with pytest.raises(tile.TileError, match="computed, and not set"):
        scale_kernel.hash = "another"
    assert twice.cache_key != thrice.cache_key


BY_HAND = {
    ("cuda", 90, 32): ("make_ttir", "make_ttgir", "make_llir", "make_ptx"),
    ("cuda", 100, 32): ("make_ttir", "make_ttgir", "make_llir", "make_ptx"),
    ("hip", "gfx942", 64): ("make_ttir", "make_ttgir", "make_llir", "make_amdgcn"),
}


@tile.jit
def shifted_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Each block needs what the one before has stored, if the output lies behind the input."""
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n)
        tl.debug_barrier()
        tl.store(out_ptr + i, x + 1, mask=i < n)
        tl.debug_barrier()


@sim_only
@pytest.mark.parametrize("n", [1, 300])
@pytest.mark.parametrize("target", BY_HAND)
def test_stages_that_a_program_calls(target, n):
    """As jax-triton compiles: on empty metadata, with options and capability by position. Its
    launches compare no arguments, so those may overlap."""
    from tile.compat.additions.compiler.code_generator import ast_to_ttir

    backend = make_backend(GPUTarget(*target))
    options = backend.parse_options({"num_warps": 2, "optimize_epilogue": False})
    signature = {"x_ptr": "*i32", "out_ptr": "*i32", "n": "i32", "BLOCK": "constexpr"}
    source = ASTSource(shifted_kernel, signature, {"BLOCK": 64}, {(0,): [["tt.divisibility", 16]]})
    context = tile._C.ir.Context()
    made = ast_to_ttir(shifted_kernel, source, options=options, codegen_fns={}, context=context,
                       module_map=backend.get_module_map())  # fmt: skip
    metadata, behind = {}, (target[1],) if target[0] == "cuda" else ()
    for name in BY_HAND[target]:
        made = getattr(backend, name)(made, metadata, options, *behind)
    assert metadata["name"] == "shifted_kernel" and metadata["num_warps"] == 2
    assert metadata["disjoint_arguments"] == [] and metadata.get("tmem_size", 0) == 0
    memory = random((n + 64,), "i32") % 1000
    memory = memory.astype(np.int32)
    expected = memory.copy()
    for start in range(0, n, 64):
        end = min(start + 64, n)
        expected[start + 64 : end + 64] = expected[start:end] + 1
    threads = 2 * target[2]
    tile.sim.launch(made, metadata["name"], 1, threads, [memory, memory[64:], n],
                    dynamic_shared=metadata["shared"])  # fmt: skip
    assert np.array_equal(memory, expected)


def test_stages_of_another_target():
    backend = make_backend(GPUTarget("cuda", 90, 32))
    options = backend.parse_options({})
    module = ASTSource(scale_kernel, SIGNATURE, {"BLOCK": 64}).make_ir(
        options, tile._C.ir.Context()
    )
    with pytest.raises(tile.TileError, match="compiles for cuda:90, not for 80"):
        backend.make_ttir(module, {}, options, 80)
