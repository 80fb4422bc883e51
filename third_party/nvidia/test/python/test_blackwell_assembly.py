"""ptxas assembles what is compiled for each GPU of the Blackwell generation: the programs of the
corpus, and the kernels that are measured."""

from __future__ import annotations

import re
import sys

import pytest
from corpus.programs import PROGRAMS
from measured import quality

import tile
from tile.backends import backends
from tile.backends.compiler import GPUTarget
from tile.compiler import ASTSource
from tile.errors import CompilerToolError, OutOfResources

TARGETS = [100, 103, 110, 120]

tools = sys.modules[backends()["nvidia"].__module__].tools
pytestmark = pytest.mark.skipif(tools.ptxas_path() is None, reason="needs ptxas")

cases, compiled = map(quality, ("cases", "compiled"))
#: By name: some are in several tables.
MEASURED = {
    case.name: case for case in (*cases.cases(), *cases.hopper_cases(), *cases.hopper_kernels())
}
#: One of each kind, for every run of the tests.
SAMPLE = {case.example: case.name for case in reversed(MEASURED.values())}.values()


def assemble(source: ASTSource, options: dict, target: int) -> None:
    """Dots of the targets with tensor memory have their sums there, and then not."""
    for tensor_memory in (False, True) if target < 120 else (False,):
        kernel = tile.compile(
            source,
            target=GPUTarget("cuda", target, 32),
            options={**options, "tensor_memory": tensor_memory},
        )
        assert kernel.asm["cubin"][:4] == b"\x7fELF"
        assert f".target sm_{target}a" in kernel.asm["ptx"]
        assert tensor_memory or "tcgen05" not in kernel.asm["ptx"]


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_corpus(name, target):
    fn, types, constants = PROGRAMS[name]
    names = [n for n in fn.arg_names if n not in constants]
    typed = dict(zip(names, types.split(), strict=True))
    signature = {n: t.removesuffix(":16") for n, t in typed.items()}
    signature |= dict.fromkeys(constants, "constexpr")
    attributes = {
        (fn.arg_names.index(n),): [["tt.divisibility", 16]]
        for n, t in typed.items()
        if t.endswith(":16")
    }
    assemble(ASTSource(fn, signature, constants, attributes), {}, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=[] if n in SAMPLE else [pytest.mark.slow]) for n in MEASURED],
)
def test_measured_kernels(name, target):
    case = MEASURED[name]
    source = compiled.source_of(case, GPUTarget("cuda", target, 32))
    try:
        assemble(source, case.options, target)
    except OutOfResources as error:
        # Blocks are tuned for sm_90, which has more than sm_120.
        assert target == 120 and "shared memory" in str(error)


@pytest.mark.parametrize("target", [100, 103, 110])
def test_the_tensor_core_is_in_the_machine_code(target):
    case = MEASURED[next(name for name in SAMPLE if "matmul" in name or "gemm" in name)]
    source = compiled.source_of(case, GPUTarget("cuda", target, 32))
    kernel = tile.compile(
        source,
        target=GPUTarget("cuda", target, 32),
        options={**case.options, "tensor_memory": True},
    )
    assert "tcgen05.mma" in kernel.asm["ptx"]
    try:
        assert re.search(r"UTC\w*MMA", kernel.asm["sass"])
    except CompilerToolError:
        pytest.skip("needs nvdisasm")
