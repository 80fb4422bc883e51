"""What is read from machine code of waits for memory, and what is chosen by it."""

from __future__ import annotations

import sys

import pytest

import tile
import tile.language as tl
from tile import _C
from tile.backends import backends, parse_target
from tile.compiler import ASTSource

occupancy = sys.modules[backends()["nvidia"].__module__].occupancy
latency = occupancy.latency
HOPPER = _C.targets.lookup("cuda:90")
needs_ptxas = pytest.mark.skipif(occupancy.tools.ptxas_path() is None, reason="needs ptxas")


def _compile(arch: int, body: str) -> bytes:
    ptx = f"""
.version 8.0
.target sm_{arch}
.address_size 64
.visible .entry kernel(.param .u64 p) .reqntid 32
{{
  .reg .b64 %a;
  .reg .b32 %r<64>;
  ld.param.b64 %a, [p];
  {body}
  st.global.b64 [%a], %a;
  ret;
}}
"""
    return occupancy.tools.run_ptxas(ptx, arch, "")[0]


@needs_ptxas
@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_loads_that_need_each_other(arch, count):
    walk = latency.walk_through(_compile(arch, "ld.global.b64 %a, [%a];\n" * count))
    assert walk.trips == count
    assert 0 <= walk.alone - count * latency._MEMORY < 400


@needs_ptxas
@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("count", [1, 4, 16])
def test_loads_that_are_under_way_together(arch, count):
    loads = "".join(f"ld.global.b32 %r{i}, [%a+{4096 * i}];\n" for i in range(count))
    stores = "".join(f"st.global.b32 [%a+{4096 * i + 4}], %r{i};\n" for i in range(count))
    walk = latency.walk_through(_compile(arch, loads + stores))
    assert 1 <= walk.trips <= 2
    assert 0 <= walk.alone - latency._MEMORY < 400


def test_what_is_no_machine_code():
    assert latency.walk_through(b"128\n") == latency.Walk(0, 0, 0)


@tile.jit
def gelu_and_mul(x_ptr, out_ptr, columns: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = x_ptr + tl.program_id(0) * columns * 2
    mask = at < columns
    gate = tl.load(row + at, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(row + columns + at, mask=mask, other=0.0).to(tl.float32)
    gate = 0.5 * (1.0 + tl.erf(gate * 0.7071067811865475)) * gate
    out = up * gate.to(x_ptr.dtype.element_ty)
    tl.store(out_ptr + tl.program_id(0) * columns + at, out, mask=mask)


def _compile_gelu(warps: int) -> str:
    types = {"x_ptr": "*bf16", "out_ptr": "*bf16"}
    constants = {"columns": 14336, "BLOCK": 16384}
    attributes = {(i,): [["tt.divisibility", 16]] for i in range(2)}
    source = ASTSource(gelu_and_mul, types, constants, attributes)
    return tile.compile(source, parse_target("cuda:90"), {"num_warps": warps}, stop_at="ptx").asm[
        "ptx"
    ]


@needs_ptxas
def test_a_block_less_for_loads_that_wait_for_each_other():
    """Three blocks of eight warps start their loads one by one, two start many at once."""
    ptx = _compile_gelu(8)
    cubin, usage = occupancy.assemble(ptx, HOPPER, 8, 0)
    plain, taken = occupancy.tools.run_ptxas(ptx, 90, "")
    if occupancy.resident_blocks(HOPPER, taken["n_regs"], 8, 0) < 3:
        pytest.skip("this ptxas takes the registers anyway")
    assert usage["register_limit"] == 128 and not usage.get("n_spills")
    assert latency.walk_through(cubin).alone < latency.walk_through(plain).alone / 2
